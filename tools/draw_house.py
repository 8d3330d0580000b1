"""Draw the map of the package into CONTRIBUTING.md, from docs/house.toml and the docstrings of the package.

    python tools/draw_house.py            writes the map between the two marker lines
    python tools/draw_house.py --check    writes nothing; exit status 1 if the map is stale

Names and docstrings of the map must be exactly those of the package. Numbers of files and lines may be off by a tenth,
so that not every change of the code is a change of the map.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "gaitway"
HOUSE, PAGE = ROOT / "docs" / "house.toml", ROOT / "CONTRIBUTING.md"
BEGIN = "<!-- house: begin; written by tools/draw_house.py, do not edit -->"
END = "<!-- house: end -->"
STALE = "the map in CONTRIBUTING.md is stale; run: python tools/draw_house.py"
HIDDEN = ("_version", "__main__", "__init__")
"""Modules that the map leaves out: everybody knows what they are."""
TOLERANCE = 0.1
"""How far a number of the map may be off, as a part of the true number."""


def floors() -> list[dict[str, Any]]:
    """Return the floors from the ground up: their name, what they are about, and their levels of rooms."""
    with HOUSE.open("rb") as file:
        return list(tomllib.load(file)["floor"])


def levels() -> list[list[str]]:
    """Return the rooms of every level, from the ground up."""
    return [rooms for floor in floors() for rooms in floor["levels"]]


def house_map() -> str:
    """Return the map as Markdown, the top floor first."""
    lines = []
    for floor in reversed(floors()):
        lines += [f"**{floor['name']}**: {floor['about']}", "", "| room | files | lines | holds |", "|---|--:|--:|---|"]
        for room in (r for level in reversed(floor["levels"]) for r in level if r not in HIDDEN):
            lines += _rows(room)
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _rows(room: str) -> list[str]:
    """Rows of a room and of its sub-rooms."""
    if (SOURCE / f"{room}.py").is_file():
        return [_row(f"`{room}.py`", [SOURCE / f"{room}.py"], SOURCE / f"{room}.py")]
    folder = SOURCE / room
    rows = [_row(f"`{room}/`", list(folder.rglob("*.py")), folder / "__init__.py")]
    for package in sorted(p.parent for p in folder.glob("*/__init__.py")):
        rows.append(_row(f"· `{room}/{package.name}/`", list(package.rglob("*.py")), package / "__init__.py"))
    return rows


def _row(name: str, files: list[Path], described: Path) -> str:
    lines = sum(len(f.read_text(encoding="utf-8").splitlines()) for f in files)
    return f"| {name} | {len(files)} | {lines:,} | {about(described)} |"


def about(module: Path) -> str:
    """Return the first paragraph of a module's docstring on one line; empty if it has none."""
    text = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split())


def drawn() -> str:
    """Return CONTRIBUTING.md as it should be."""
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    return f"{before}{BEGIN}\n\n{house_map()}\n{END}{rest.split(END)[1]}"


def is_stale() -> bool:
    """Return whether CONTRIBUTING.md differs from what it should be by more than the tolerance of its numbers."""
    pattern = r"(?<=\| )[\d,]+(?= \|)"
    now, then = PAGE.read_text(encoding="utf-8"), drawn()
    if re.sub(pattern, "#", now) != re.sub(pattern, "#", then):
        return True
    pairs = zip(re.findall(pattern, now), re.findall(pattern, then), strict=True)
    return any(abs(_number(a) - _number(b)) > max(1.0, TOLERANCE * _number(b)) for a, b in pairs)


def _number(word: str) -> int:
    return int(word.replace(",", ""))


def main() -> None:
    """Write the map, or check it."""
    if "--check" in sys.argv[1:]:
        sys.exit(STALE if is_stale() else 0)
    PAGE.write_text(drawn(), encoding="utf-8")


if __name__ == "__main__":
    main()
