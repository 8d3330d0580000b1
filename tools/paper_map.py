"""Check docs/map.md, which says for every part of the papers which file and function hold it.

    python tools/paper_map.py           says what is wrong with the map; exit status 1 if anything is
    python tools/paper_map.py --mend    writes new places for names that now stand in one other file of the same room

In the tables of the map, words in backquotes are places: a file under src/gaitway, then names that are in it, such as
`tree/model.py`: `Tree`, `Tree.nodes`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "gaitway"
PAGE = ROOT / "docs" / "map.md"


@dataclass(frozen=True)
class PaperRow:
    """A row of the map: a part of a paper, and where it is held."""

    line: int
    paper: str
    """Name of the paper, the first word of the heading above."""
    part: str
    """First column, such as "§3.4" or "Algorithm 1"."""
    places: tuple[tuple[str, str], ...]
    """Files, and names in them; an empty name is the file as a whole."""


def rows() -> list[PaperRow]:
    """Return all rows of the map."""
    found, paper = [], ""
    for number, line in enumerate(PAGE.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("## "):
            paper = line.split()[1]
        elif line.startswith("|") and not re.match(r"\|[ -]*\|", line.replace(":", "-")):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if cells[0] not in ("part", "paper"):
                found.append(PaperRow(number, paper, cells[0], tuple(_places(cells[-1]))))
    return found


def _places(cell: str) -> Iterator[tuple[str, str]]:
    file = ""
    for word in re.findall(r"`([^`]+)`", cell):
        if re.fullmatch(r"[\w/]+\.(py|yaml|toml)", word):
            file = word
            yield file, ""
        elif file and re.fullmatch(r"[A-Za-z_][\w.]*", word):
            yield file, word


def problems() -> list[str]:
    """Return what is wrong with the map: one line for each place that is not there, and what to write instead."""
    found = []
    for row in rows():
        for file, name in row.places:
            where = f"docs/map.md:{row.line}: {row.part}"
            if not (SOURCE / file).is_file():
                if not name:
                    same = [other for other in _sources() if Path(other).name == Path(file).name]
                    found.append(f"{where}: there is no src/gaitway/{file}; {_instead(same, row, file)}")
            elif name and name not in names_in(file):
                found.append(f"{where}: {file} has no '{name}'; {_instead(homes(name), row, file, name)}")
    return found


def _instead(files: list[str], row: PaperRow, file: str, name: str = "") -> str:
    if not files and not name:
        files = sorted({home for other, n in row.places if other == file and n for home in homes(n)})
    if files:
        return f"write {' or '.join(files)}"
    near = get_close_matches(name, names_in(file), 3, 0.5) if name else []
    return f"write {' or '.join(near)}, or where it is now" if near else "write where it is now, or take the row out"


@cache
def _sources() -> tuple[str, ...]:
    return tuple(sorted(str(f.relative_to(SOURCE)) for f in SOURCE.rglob("*.py")))


@cache
def names_in(file: str) -> frozenset[str]:
    """Return the functions, classes and constants of a file, and the members of its classes as "Class.member"."""
    found: set[str] = set()
    if file.endswith(".py"):
        tree = ast.parse((SOURCE / file).read_text(encoding="utf-8"))
        for node in tree.body:
            found |= set(_bound(node))
            if isinstance(node, ast.ClassDef):
                found |= {f"{node.name}.{name}" for member in node.body for name in _bound(member)}
    return frozenset(found)


def _bound(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    for target in targets:
        yield from (n.id for n in ast.walk(target) if isinstance(n, ast.Name))


@cache
def homes(name: str) -> list[str]:
    """Return the files that hold a name."""
    return [file for file in _sources() if name in names_in(file)]


def mend() -> int:
    """Rewrite places of names that now stand in one other file of the same room; return how many lines have changed."""
    lines, changed = PAGE.read_text(encoding="utf-8").splitlines(keepends=True), set()
    for row in rows():
        files = dict.fromkeys(file for file, _ in row.places)
        for file in files:
            names = [name for other, name in row.places if other == file and name]
            lost = [n for n in names if not (SOURCE / file).is_file() or n not in names_in(file)]
            new = set.intersection(*(set(homes(n)) for n in names)) if names else set()
            new = {other for other in new if other.split("/")[0] == file.split("/")[0]}  # short names occur everywhere
            if lost and len(new) == 1:
                lines[row.line - 1] = lines[row.line - 1].replace(f"`{file}`", f"`{new.pop()}`")
                changed.add(row.line)
    PAGE.write_text("".join(lines), encoding="utf-8")
    return len(changed)


def main() -> None:
    """Check the map, or mend it first."""
    if "--mend" in sys.argv[1:]:
        print(f"{mend()} lines mended")
    wrong = problems()
    print("\n".join(wrong) or "all places of docs/map.md exist")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
