"""What is kept of libraries on disk: found again it is the same to the last bit, and its key forgets no source."""

from __future__ import annotations

import ast
import math
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gaitway.behavior import obstacle_free_cost
from gaitway.behavior.obstacle_free_cost import ObstacleFreeCost
from gaitway.cast import generating
from gaitway.cast.catalog import load_cast
from gaitway.cast.horse.body import HorseStyle
from gaitway.core import cache, sources
from gaitway.core.errors import LibraryError
from gaitway.core.sources import source_files
from gaitway.library import Behavior, BehaviorGraph, Library, body_discs, reach
from gaitway.library.actions import action_table
from gaitway.library.storage import pack_library, unpack_library
from gaitway.motion import Clip, Skeleton
from gaitway.space.states import States
from gaitway.variation.learning import model_cache

SOURCE = Path(cache.__file__).parents[1]


def assert_same(one: Any, two: Any) -> None:
    """Equal in every bit, field by field; read-only as far as the first is."""
    if isinstance(one, np.ndarray):
        assert one.dtype == two.dtype and one.shape == two.shape and one.tobytes() == two.tobytes()
        assert one.flags.writeable == two.flags.writeable and two.flags.c_contiguous
    elif isinstance(one, Skeleton):
        assert one is two
    elif is_dataclass(one):
        assert type(one) is type(two)
        for field in fields(one):
            assert_same(getattr(one, field.name), getattr(two, field.name))
    elif hasattr(one, "keys"):
        assert list(one) == list(two)
        assert_same(list(one.values()), list(two.values()))
    elif isinstance(one, list | tuple):
        assert type(one) is type(two) and len(one) == len(two)
        for a, b in zip(one, two, strict=True):
            assert_same(a, b)
    else:
        assert one == two


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache in which everything is worth keeping, though somebody edits the sources meanwhile."""
    monkeypatch.setenv("GAITWAY_CACHE", str(tmp_path))
    monkeypatch.setattr(cache, "WORTH_KEEPING", 0.0)
    monkeypatch.setattr(sources, "_BEGAN", math.inf)
    return tmp_path


CASTS = {
    "person": {"style": "style-3", "seed": 5, "behaviors": ["stand", "walk_forward", "hurdle", "climb_up"]},
    "horse": {"style": 7, "takes": 2, "behaviors": ["stand", "start_gallop", "stop_gallop"]},
    "skateboarder": {"seed": 3, "behaviors": ["wait", "start", "stop", "jump"]},
}


def prepared(name: str) -> list[Any]:
    library = load_cast(name, **CASTS[name])
    table = action_table(library)
    free = ObstacleFreeCost.of(table, States.of(table), table.costs, 0.3)
    return [library, reach.reaches(library), body_discs.body_discs(library, table), free]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASTS)
def test_what_is_found_is_what_was_made(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GAITWAY_CACHE", "off")
    made = prepared(name)
    monkeypatch.setenv("GAITWAY_CACHE", str(folder))
    assert_same(made, prepared(name))
    assert sorted(e.name.split("-")[0] for e in folder.iterdir()) == [
        "body_discs",
        "cast",
        "obstacle_free_cost",
        "reaches",
    ]
    for module, maker in ((generating, "_generate"), (reach, "_measure"), (body_discs, "_cover")):
        monkeypatch.setattr(module, maker, None)
    monkeypatch.setattr(ObstacleFreeCost, "_computed", None)
    assert_same(made, prepared(name))


@pytest.mark.slow
def test_each_argument_is_another_library(folder: Path) -> None:
    requests: list[dict[str, Any]] = [
        {}, {"seed": 1}, {"takes": 3}, {"style": "style-1"}, {"style": HorseStyle(name="mine")},
        {"behaviors": ["stand"]}, {"behaviors": ["stand", "stop_gallop"]},
    ]  # fmt: skip
    for request in requests:
        load_cast("horse", **({"behaviors": ["start_gallop"], "takes": 2} | request))
    assert len(list(folder.iterdir())) == len(requests)
    load_cast("horse", takes=2, behaviors=["stop_gallop", "stand", "stand"])
    load_cast("horse", takes=2, behaviors=("start_gallop",), style="neutral", seed=np.int64(0))
    assert len(list(folder.iterdir())) == len(requests), "the same, said in other words"


class Limping(HorseStyle):
    """A class of somebody else's, who may have changed anything."""


def test_styles_of_other_classes_are_not_kept(folder: Path) -> None:
    load_cast("horse", style=Limping(), behaviors=["stand"])
    assert list(folder.iterdir()) == []


def test_errors_are_not_kept(folder: Path) -> None:
    for _ in range(2):
        with pytest.raises(LibraryError, match=r"no behaviour 'galop_forward'; did you mean 'gallop_forward"):
            load_cast("horse", behaviors=["galop_forward"])
    assert list(folder.iterdir()) == []


def test_discs_and_reaches_depend_on_the_clips(folder: Path) -> None:
    one = load_cast("skateboarder", behaviors=["jump"])
    clip = one.clips["jump"]
    higher = Clip(clip.skeleton, clip.root_positions + np.array([0.0, 0.0, 0.1]), clip.rotations, clip.fps, clip.name)
    two = Library(one.name, one.skeleton, {"jump": higher}, one.graph)
    assert reach.reaches(one)[0].half_width == reach.reaches(two)[0].half_width
    assert len(list(folder.glob("reaches*"))) == 2
    table = action_table(one)
    for library, margins in ((one, {}), (two, {}), (one, {"margin": 0.1}), (one, {"timed_margin": 0.1})):
        body_discs.body_discs(library, table, **margins)
    assert len(list(folder.glob("body_discs*"))) == 4


def test_every_part_of_a_library_is_packed() -> None:
    body = Skeleton(("root", "tip"), np.array([-1, 0]), np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.5]]))
    still = np.tile([1.0, 0.0, 0.0, 0.0], (3, 2, 1))
    clips = {
        "a": Clip(body, np.zeros((3, 3)), still, 30.0, "first", np.zeros((3, 0), np.bool_), ("slow", "tired")),
        "b": Clip(body, np.ones((2, 3)), still[:2], 59.94),
    }
    behaviors = (Behavior("one", ("a", "b"), "s", "t", "jump", 0.05, 2.5), Behavior("two", ("b",), "t", "s"))
    library = Library("sticks", body, clips, BehaviorGraph(behaviors, frozenset({("two", "one")})))
    assert_same(library, unpack_library(pack_library(library), body))
    empty = Library("nobody", body, {})
    assert_same(empty, unpack_library(pack_library(empty), body))


def test_a_library_that_passes_nothing_has_no_reaches(folder: Path) -> None:
    library = load_cast("horse", behaviors=["stand"])
    assert reach.reaches(library) == reach.reaches(library) == ()


def modules_behind(file: Path) -> set[Path]:
    """Files of this package that a module imports, for the names that it takes from them."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "gaitway":
            place = SOURCE.joinpath(*node.module.split(".")[1:])
            for name in (alias.name for alias in node.names):
                choices = (place / f"{name}.py", place / name / "__init__.py", place.with_suffix(".py"))
                found.add(next((choice for choice in choices if choice.is_file()), place / "__init__.py"))
    return found


@pytest.mark.parametrize(
    "module", [generating, reach, body_discs, obstacle_free_cost, model_cache], ids=lambda m: m.__name__
)
def test_no_source_is_forgotten(module: Any) -> None:
    """What the sources of a result import is among its sources, or a change of it would not be noticed."""
    sources = set(source_files((module.__name__,)))
    assert Path(module.__file__) in sources
    imported = {behind for file in sources if file.suffix == ".py" for behind in modules_behind(file)}
    assert not {str(file.relative_to(SOURCE)) for file in imported - sources}
