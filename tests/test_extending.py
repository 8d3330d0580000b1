"""What can be added from outside the package, besides planners: estimates, costs and export formats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gaitway.behavior import BehaviorOptions, prepared_search, search, with_estimate
from gaitway.behavior._heuristic_kernels import estimate
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import GaitwayError, LibraryError
from gaitway.export import formats
from gaitway.export.formats import FORMATS, ExportFormat, choose_format, export_take
from gaitway.scene import scene_from_dict
from gaitway.scene.plan_options import Preparation
from gaitway.space.prepared import PreparedLibrary, planning_context
from gaitway.space.query import Query
from small_takes import walkers


def prepared(**plan: Any) -> PreparedLibrary:
    people = [{"name": "ann", "start": [2, 4, 0], "goal": [16, 4]}]
    scene = scene_from_dict(
        {"gaitway": 1, "library": "person", "bounds": [0, 0, 20, 8], "characters": people, "plan": plan}
    )
    return planning_context(scene.world).prepared(scene.characters[0])


QUERY = Query((2.0, 4.0, 0.0), (16.0, 4.0))


@pytest.mark.parametrize("names", [("distance",), ("distance", "route", "heading")])
def test_an_estimate_counts_where_it_is_the_largest(names: tuple[str, ...]) -> None:
    place = prepared()
    known = prepared_search(place, names).heuristics.arrays(QUERY.goal, QUERY.tolerance)

    def beyond(points: FloatArray) -> FloatArray:
        return np.where(points[:, 0] < 10.0, 1000.0 + points[:, 1], 0.0)

    more = with_estimate(known, place.fields, beyond)
    for x, y in ((3.0, 2.0), (9.0, 6.0)):
        assert estimate(x, y, 0.0, 0, more) == pytest.approx(1000.0 + y, abs=0.3)
    for x, y in ((11.0, 2.0), (15.0, 6.0)):
        assert estimate(x, y, 0.5, 0, more) == estimate(x, y, 0.5, 0, known)
    assert [a.dtype for a in more] == [a.dtype for a in known] and not any(a.flags.writeable for a in more)


def test_an_estimate_of_nothing_changes_no_plan() -> None:
    place = prepared()
    tools = prepared_search(place)
    known = tools.heuristics.arrays(QUERY.goal, QUERY.tolerance)
    same = with_estimate(known, place.fields, lambda points: np.zeros(len(points)))
    results = [search(tools.searcher, place.fields, QUERY, None, arrays) for arrays in (known, same)]
    assert results[0].plan == results[1].plan and results[0].expanded == results[1].expanded
    assert all((a == b).all() for a, b in zip(known, same, strict=True))


@pytest.mark.parametrize("wrong", [lambda p: np.zeros(3), lambda p: np.full(len(p), np.nan), lambda p: 1.0])
def test_estimates_must_be_numbers(wrong: Any) -> None:
    place = prepared()
    known = prepared_search(place).heuristics.arrays(QUERY.goal, QUERY.tolerance)
    with pytest.raises(GaitwayError, match="one finite number for each of"):
        with_estimate(known, place.fields, wrong)


def test_a_planner_asks_for_its_own_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = prepared().table
    monkeypatch.setattr(BehaviorOptions, "preparation", lambda self: Preparation(weights=(("walk_forward", 3.0),)))
    dear = prepared().table
    walking = dear.behavior == dear.index("walk_forward")
    np.testing.assert_allclose(dear.costs[walking], 3.0 * usual.costs[walking])
    np.testing.assert_array_equal(dear.costs[~walking], usual.costs[~walking])
    monkeypatch.setattr(BehaviorOptions, "preparation", lambda self: Preparation(weights=(("fly", 3.0),)))
    with pytest.raises(LibraryError, match="behaviour 'fly', which library 'person' does not have"):
        prepared()


def write_names(take: Any, path: Path, ending: str = "\n") -> None:
    """A format of one's own."""
    path.write_text("".join(name + ending for name in take.names), encoding="utf-8")


NAMES = ExportFormat(
    name="names",
    about="who is there",
    suffixes=(".names",),
    module=__name__,
    function="write_names",
    has_rate=False,
)


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The table of formats as it is, whatever a test adds to it."""
    before = dict(FORMATS)
    yield
    for name in set(FORMATS) - set(before):
        formats.unregister(name)


@pytest.mark.usefixtures("table")
def test_a_format_from_outside_writes_a_take(tmp_path: Path) -> None:
    formats.register(NAMES)
    formats.register(NAMES)  # the same again does no harm
    take = walkers(2)
    assert export_take(take, tmp_path / "who.names", ending=";") == [tmp_path / "who.names"]
    assert (tmp_path / "who.names").read_text() == "".join(f"{name};" for name in take.names)
    with pytest.raises(GaitwayError, match="there is a format 'names' already"):
        formats.register(replace(NAMES, about="other"))
    formats.unregister("names")
    with pytest.raises(GaitwayError, match=r"'\.names' is no known ending"):
        choose_format("who.names")


@pytest.mark.usefixtures("table")
def test_an_installed_format_is_found_by_its_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    point = metadata.EntryPoint("names", f"{__name__}:NAMES", formats.ENTRY_POINTS)
    monkeypatch.setattr(metadata.EntryPoint, "load", lambda self: NAMES)
    monkeypatch.setattr(formats, "entry_points", lambda group: [point])
    assert choose_format("x.names") is NAMES
    formats.unregister("names")
    monkeypatch.setattr(metadata.EntryPoint, "load", lambda self: 3)
    with pytest.raises(GaitwayError, match=r"entry point 'names' of gaitway.formats is 3; it must be an ExportFormat"):
        choose_format("x.names")
