"""docs/map.md is true: every file and name that it names exists, and it leaves out no part of the papers."""

from __future__ import annotations

from pathlib import Path

import pytest

from gaitway.papers import PAPERS
from repo_tools import load_tool

paper_map = load_tool("paper_map")


def sections(numbers: str, before: str = "") -> list[str]:
    return [f"§{before}{number}" for number in numbers.split()]


def numbered(chapter: int, numbers: str, figures: int) -> list[str]:
    return [*sections(numbers, f"{chapter}."), *(f"Figure {chapter}.{n + 1}" for n in range(figures))]


PARTS = {
    "lau2009": [
        *numbered(3, "1 2 3 4 5 6 7", 5),
        *numbered(4, "1 2 2.1 2.2 2.3 3 4 5 6 7 7.1 7.2 7.3 7.4 8", 10),
        *numbered(5, "1 2 3 3.1 3.2 4 5 6 6.1 6.2 6.3 6.4 7 8", 9),
        "Figure 6.1",
        *(f"Algorithm {n}" for n in range(1, 7)),
        *(f"Table 4.{n}" for n in (1, 2, 3)),
        *(f"Equation 4.{n}" for n in (1, 2)),
        *(f"Equation 5.{n}" for n in range(1, 8)),
    ],
    "kovar2002": [
        *sections("1 2 3 3.1 3.2 3.3 3.4 4 4.1 4.2 4.3 5 5.1 5.2 6"),
        *(f"Figure {n}" for n in range(1, 9)),
        *("Equation 1", "Equations 2 to 4", "Equations 5 and 6", "Equation 7", "Equation 8", "Equation 9"),
        *(f"§5.3 {what}" for what in ("interactive control", "high-level keyframing", "motion dumping", "crowds")),
    ],
    "gleicher2003": [
        *sections("1 2 3 4 4.1 4.2 4.2.1 4.2.2 4.3 5 6"),
        *(f"Figure {n}" for n in range(1, 12)),
        *("Equation 1", "Equations 2 to 4", "Equation 5", "Appendix"),
    ],
}
"""Sections, algorithms, equations, tables and figures of the papers that gaitway implements."""
NOT_YET = (
    *("choi2011", "shapiro2007", "kallmann2003", "pettre2007", "sud2007-mang", "sud2007-aero"),
    *("esteves2006", "mora2008"),
)


def test_every_place_exists() -> None:
    wrong = paper_map.problems()
    assert not wrong, "\n".join([*wrong, "(python tools/paper_map.py --mend finds places that are not ambiguous)"])


@pytest.mark.parametrize("paper", PARTS)
def test_no_part_is_left_out(paper: str) -> None:
    listed = {row.part for row in paper_map.rows() if row.paper == paper}
    missing = [part for part in PARTS[paper] if part not in listed]
    assert not missing, f"add to docs/map.md under {paper}: {', '.join(missing)}"


def test_every_row_names_a_place_or_says_that_there_is_none() -> None:
    lines = paper_map.PAGE.read_text(encoding="utf-8").splitlines()
    silent = [
        f"docs/map.md:{row.line}: {row.part} names no file; write one, or 'text only'"
        for row in paper_map.rows()
        if row.paper
        and not row.places
        and not any(word in lines[row.line - 1] for word in ("text only", "not here yet"))
    ]
    assert not silent, "\n".join(silent)


def test_papers_that_are_run_again_appear() -> None:
    text = paper_map.PAGE.read_text(encoding="utf-8")
    files = {file for row in paper_map.rows() for file, _ in row.places}
    for name in PAPERS:
        assert f"`gaitway papers {name}`" in text, f"docs/map.md must say what `gaitway papers {name}` runs again"
        module = f"papers/{name.replace('-', '_').replace('.', '_')}.py"
        assert module in files, f"docs/map.md must say which part {module} runs again"


@pytest.mark.parametrize("paper", NOT_YET)
def test_papers_to_come_have_a_room(paper: str) -> None:
    rows = [line for line in paper_map.PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {paper} |")]
    assert rows and all("room `" in row for row in rows)


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A map of its own."""
    path = tmp_path / "map.md"
    monkeypatch.setattr(paper_map, "PAGE", path)
    return path


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("`tree/modell.py`: `Tree`", r"no src/gaitway/tree/modell.py; write .*tree/model.py"),
        ("`tree/modell.py`", r"no src/gaitway/tree/modell.py; write where it is now, or take the row out"),
        ("`tree/forest.py`: `Tree`", r"tree/forest.py has no 'Tree'; write tree/model.py"),
        ("`tree/model.py`: `Treee`", r"tree/model.py has no 'Treee'; write Tree or .*where it is now"),
        ("`tree/model.py`: `Tree.leaves_fall`", r"has no 'Tree.leaves_fall'"),
    ],
)
def test_wrong_places_are_told(page: Path, place: str, message: str) -> None:
    page.write_text(f"## lau2009\n\n| part | what | where |\n|---|---|---|\n| §4.2 | nodes | {place} |\n", "utf-8")
    (wrong,) = paper_map.problems()
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(wrong)
    assert wrong.startswith("docs/map.md:5: §4.2: ")


def test_moved_names_are_found_again(page: Path) -> None:
    row = "## a\n| part | where |\n|--|--|\n| §1 | `{}.py`: `exhaustive_tree`; `core/jit.py`: `kernel` |\n"
    page.write_text(row.format("tree/old"), encoding="utf-8")
    assert paper_map.problems()
    assert paper_map.mend() == 1
    assert paper_map.problems() == []
    assert page.read_text(encoding="utf-8") == row.format("tree/building/growing")
    page.write_text(row.format("world/old"), encoding="utf-8")
    assert paper_map.mend() == 0, "another room may have another thing of that name"
