"""Tables 4.1 to 4.3 of the thesis, quickly: complete, sane, the same twice, and beside the thesis's numbers."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest
from PIL import Image

from gaitway.core.errors import GaitwayError
from gaitway.papers import PaperOptions, PaperTable, run_paper, save_paper
from gaitway.papers.lau_4_2 import BODIES, RANDOM
from gaitway.papers.lau_4_numbers import TABLE_1
from gaitway.papers.tables import Claim, kept
from gaitway.papers.walkers import nodes_of, walker

NAMES = ("lau-4.1", "lau-4.2", "lau-4.3")
QUICK = PaperOptions(quick=True)


@pytest.fixture(scope="module")
def tables() -> dict[str, PaperTable]:
    return {name: run_paper(name, options=QUICK) for name in NAMES}


def number(table: PaperTable, key: str = "here", **where: object) -> float:
    """The one number of a table that is meant."""
    (row,) = [row for row in table.data if all(row[k] == v for k, v in where.items())]
    return float(row[key])


@pytest.mark.slow
def test_claims_that_few_queries_can_show(tables: dict[str, PaperTable]) -> None:
    assert all(table.ok for table in tables.values())


@pytest.mark.slow
def test_growing(tables: dict[str, PaperTable]) -> None:
    table = tables["lau-4.1"]
    methods = {row["method"] for row in table.data}
    assert set(TABLE_1) <= methods
    assert {"SPST, stretch 1.5", "original PST, best k", "Erickson and LaValle"} <= methods
    sizes = (50, 25, 10, 5)
    for size in sizes:
        spst = {q: number(table, quantity=q, method="SPST", kilobytes=size) for q in ("success", "density")}
        other = {q: number(table, quantity=q, method="Green and Kelly", kilobytes=size) for q in spst}
        plain = number(table, quantity="success", method="original PST, k = 100", kilobytes=size)
        assert 0.0 < plain < spst["success"] <= 100.0
        assert spst["density"] < other["density"]
    ours, theirs = (
        sum(number(table, quantity="seconds", method=method, kilobytes=size) for size in sizes)
        for method in ("SPST", "Green and Kelly")
    )
    assert ours < theirs  # a tenth on a quiet machine
    shares = [number(table, quantity="success", method="SPST", kilobytes=size) for size in (50, 25, 10, 5)]
    assert shares == sorted(shares, reverse=True)
    assert number(table, "thesis", quantity="success", method="SPST", kilobytes=50) == 69.48
    for method in methods:
        assert number(table, quantity="cost", method=method, kilobytes=50) >= 99.99  # the exhaustive tree is the best


@pytest.mark.slow
def test_against_a_star(tables: dict[str, PaperTable]) -> None:
    table = tables["lau-4.2"]
    rows = {(row["case"], row["method"]): row for row in table.data}
    base, tree = rows[RANDOM, "A*"], rows[RANDOM, "SPST, 25 MB"]
    assert base["time"] == base["checks"] == base["cost"] == 100.0
    assert tree["success"] <= base["success"]
    assert tree["checks"] < 50.0
    assert tree["time"] < tree["with_mapping"]
    assert rows[RANDOM, "A*, weight 2"]["cost"] >= 99.0
    bodies = {method: row for (case, method), row in rows.items() if case == BODIES}
    assert bodies["portfolio"]["success"] >= bodies["A*"]["success"] - 0.5
    assert bodies["portfolio"]["success"] >= bodies["tree alone"]["success"]
    assert bodies["portfolio"]["cost"] >= 99.99
    trap = rows["C of 6 x 4 m: actual values, times in us, here/thesis", "A*"]
    assert trap["success"] == 100.0
    assert trap["cost_thesis"] == 786
    assert rows["C of 6 x 4 m, whole bodies", "portfolio"]["success"] == 100.0
    assert (tree["time_thesis"], tree["success_thesis"]) == (0.44, 93.63)


@pytest.mark.slow
def test_resolutions(tables: dict[str, PaperTable]) -> None:
    rows = [row for row in tables["lau-4.3"].data if row["method"] == "SPST, 25 MB"]
    assert [row["grid"] for row in rows] == ["270x270", "540x540", "1080x1080"]
    assert 2.0 * rows[0]["with_mapping_us"] < rows[2]["with_mapping_us"]  # 16 times as many cells are mapped
    assert all(row["us"] < row["with_mapping_us"] for row in rows)


@pytest.mark.slow
def test_the_same_queries_and_trees_again(tables: dict[str, PaperTable]) -> None:
    again = run_paper("lau-4.3", options=QUICK)
    other = run_paper("lau-4.3", options=PaperOptions(quick=True, seed=1))
    shares = [[row["success"] for row in table.data] for table in (tables["lau-4.3"], again, other)]
    assert shares[0] == shares[1]
    assert shares[0] != shares[2]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_rows_of_a_part_have_the_same_keys(name: str, tables: dict[str, PaperTable]) -> None:
    sections = tables[name].sections
    assert sum(len(rows) for _, rows in sections) == len(tables[name].rows)
    for _, rows in sections:
        assert len({tuple(row) for row in rows}) == 1
        # it fits a terminal of 80
        widths = [max(len(str(row[key])) for row in [*rows, {key: key}]) for key in rows[0]]
        assert sum(widths) + len(widths) <= 80


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_files(name: str, tables: dict[str, PaperTable], tmp_path: Path) -> None:
    written = save_paper(name, tables[name], tmp_path / "new" / "folder")
    assert all(path.is_file() for path in written)
    with written[0].open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(tables[name].data)
    assert [row["method"] for row in rows] == [row["method"] for row in tables[name].data]
    for path in written[1:]:
        picture = Image.open(path)
        assert picture.size[0] > 800
        assert len(picture.getcolors(1 << 24) or ()) > 50


@pytest.mark.slow
def test_another_cast() -> None:
    table = run_paper("lau-4.3", options=PaperOptions(library="skateboarder", quick=True))
    assert "skateboarder: 6 moves" in table.notes[0]
    assert all(row["success"] > 20.0 for row in table.data)


@pytest.mark.parametrize(("cast", "moves"), [("person", 8), ("skateboarder", 6), ("horse", 5)])
def test_walkers(cast: str, moves: int) -> None:
    who = walker(cast)
    assert len(who.moves) == moves
    assert math.isclose(who.scale, 1.0) == (cast == "person")


def test_sizes_are_the_thesis_s() -> None:
    assert [nodes_of(kilobytes) for kilobytes in (5, 250, 25_000, 50_000)] == [100, 5000, 500_000, 1_000_000]


def test_claims() -> None:
    ours, theirs = Claim("so", holds=False), Claim("such", holds=False, ours=False)
    assert not kept([ours])
    assert kept([theirs, Claim("so", holds=True)])
    assert ours.note == "DOES NOT HOLD: so" and theirs.note == "not so here, and not claimed: such"


def test_no_such_library() -> None:
    with pytest.raises(GaitwayError, match="no cast 'elephant'"):
        run_paper("lau-4.1", options=PaperOptions(library="elephant", quick=True))
