"""The table of planted bugs fits the source: every edit can be made, and every test that it names is there."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from repo_tools import load_tool

mutants = load_tool("mutants")
draw_house = load_tool("draw_house")
EVERY = mutants.mutants()


def test_every_edit_can_be_made_and_every_test_is_there() -> None:
    assert len(EVERY) >= 100
    assert not (wrong := mutants.problems(EVERY)), "\n".join(wrong)


def test_every_room_has_bugs() -> None:
    rooms = {room for level in draw_house.levels() for room in level} - {*draw_house.HIDDEN, "demo"}
    assert {mutant.room for mutant in EVERY} == rooms


def test_the_table_of_the_page_is_that_of_the_tool() -> None:
    page = mutants.PAGE.read_text(encoding="utf-8")
    assert mutants.written(page, mutants.table(EVERY)) == page, "run: python tools/mutants.py --write"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"old": "no such text"}, "0 times"),
        ({"old": "import"}, "times; write text that is there once"),
        ({"file": "src/gaitway/nothing.py"}, "no file"),
        ({"room": "attic"}, "not in the room 'attic'"),
        ({"new": "def ("}, "leaves no Python"),
        ({"test": "tests/test_mutants.py::test_that_there_is_not"}, "no test"),
        ({"test": "tests/test_mutants.py"}, "no test"),
        ({"test": "tests/none.py::test_x"}, "no test"),
    ],
)
def test_what_does_not_fit_is_told(change: dict[str, str], said: str) -> None:
    (line,) = mutants.problems([replace(EVERY[0], **change)])
    assert said in line


def test_a_bug_that_changes_nothing_is_told() -> None:
    (line,) = mutants.problems([replace(EVERY[0], new=EVERY[0].old)])
    assert "changes nothing" in line


def small_tree(folder: Path) -> Path:
    """A tree of two modules, one of which calls a function of the other, and a test of it."""
    tree = folder / "base" / "gaitway"
    for name, text in {
        "pyproject.toml": "[tool.pytest.ini_options]\n",
        "src/gaitway/__init__.py": "",
        "src/gaitway/low.py": "def two() -> int:\n    return 2\n",
        "src/gaitway/high.py": "from gaitway.low import two\n\n\ndef four() -> int:\n    return 2 * two()\n",
        "src/gaitway/other.py": "",
        "tests/test_four.py": "from gaitway.high import four\n\n\ndef test_four():\n    assert four() == 4\n",
    }.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text, encoding="utf-8")
    for module in ("low", "high", "other"):
        (tree / "src/gaitway/__pycache__").mkdir(exist_ok=True)
        (tree / f"src/gaitway/__pycache__/{module}.kernel-1.py311.nbi").touch()
    return tree


@pytest.mark.slow
@pytest.mark.parametrize(
    ("new", "verdict"), [("return 3", "killed"), ("return 1 + 1", "survived"), ("retrun 2", "error")]
)
def test_bugs_are_planted_in_a_copy(tmp_path: Path, new: str, verdict: str) -> None:
    base = small_tree(tmp_path)
    bug = mutants.Mutant("low", "", "src/gaitway/low.py", "return 2", new, "tests/test_four.py::test_four")
    found = mutants.tried(bug, base, base.parent, 60.0)
    assert found.verdict == verdict, found
    assert (base / bug.file).read_text(encoding="utf-8").endswith("return 2\n"), "the tree itself stays as it is"
    assert len(list(base.rglob("*.nbi"))) == 3
    assert [p.name for p in base.parent.iterdir() if p != base] == []


def test_kernels_that_know_the_old_source_are_not_used(tmp_path: Path) -> None:
    base = small_tree(tmp_path)
    mutants.plant(mutants.Mutant("low", "", "src/gaitway/low.py", "return 2", "return 3", ""), base, base)
    assert [p.name for p in base.rglob("*.nbi")] == ["other.kernel-1.py311.nbi"]


def test_a_copy_has_all_files_of_the_repository(tmp_path: Path) -> None:
    mutants.copy_tree(tmp_path / "gaitway")
    listed = subprocess.run(["git", "ls-files", "src"], cwd=mutants.ROOT, capture_output=True, text=True, check=True)
    names = [name for name in listed.stdout.splitlines() if (mutants.ROOT / name).is_file()]
    assert len(names) > 400
    assert all((tmp_path / "gaitway" / name).read_bytes() == (mutants.ROOT / name).read_bytes() for name in names)
