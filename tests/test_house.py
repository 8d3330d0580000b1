"""The house stands: rooms import only from lower levels, modules form no cycle, and every public name can be loaded."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import gaitway
from gaitway.library.actions import ActionTable
from gaitway.scene import Character
from gaitway.take import Take, Track
from repo_tools import load_tool

SOURCE = Path(gaitway.__file__).parent
draw_house = load_tool("draw_house")
LEVEL_OF = {room: number for number, rooms in enumerate(draw_house.levels()) for room in rooms}
MODULES = sorted(SOURCE.rglob("*.py"))
PUBLIC = sorted(
    ".".join(("gaitway", *init.parent.relative_to(SOURCE).parts))
    for init in SOURCE.rglob("__init__.py")
    if re.search(r"^(__all__|.*, __all__) =", init.read_text(encoding="utf-8"), re.MULTILINE)
)
"""Packages with public names of their own."""


def name_of(file: Path) -> str:
    parts = ("gaitway", *file.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {name_of(file): file for file in MODULES}


@cache
def imported(file: Path) -> frozenset[str]:
    """Modules of the package that a module imports, wherever in it; names that a package loads on first use too."""
    found = set()
    for source in (file, file.with_suffix(".pyi")):
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))) if source.is_file() else ():
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names if alias.name in NAMES}
            elif isinstance(node, ast.ImportFrom):
                package = name_of(file).split(".")
                package = package if file.name == "__init__.py" else package[:-1]
                base = package[: len(package) - node.level + 1] if node.level else []
                module = ".".join((*base, *(node.module or "").split("."))).rstrip(".")
                for alias in node.names:
                    whole = f"{module}.{alias.name}"
                    found |= {whole if whole in NAMES else module} & NAMES.keys()
    return frozenset(found)


def room_of(module: str) -> str:
    return [*module.split("."), "__init__"][1]


@pytest.mark.parametrize("name", NAMES)
def test_imports_point_downward(name: str) -> None:
    room = room_of(name)
    assert room in LEVEL_OF, f"say in docs/house.toml on which level '{room}' is"
    upward = {r for r in map(room_of, imported(NAMES[name])) if r != room and LEVEL_OF[r] >= LEVEL_OF[room]}
    assert not upward, f"{room} must not import {', '.join(sorted(upward))}: docs/house.toml has them no lower"


def test_no_cycles() -> None:
    numbers = {name: number for number, name in enumerate(NAMES)}
    edges = np.array([(numbers[a], numbers[b]) for a, file in NAMES.items() for b in imported(file) if a != b])
    graph = csr_array((np.ones(len(edges)), edges.T), shape=(len(NAMES), len(NAMES)))
    _, part = connected_components(graph, connection="strong")
    sizes = np.bincount(part)
    cycles = [[name for name in NAMES if part[numbers[name]] == p] for p in np.flatnonzero(sizes > 1)]
    assert not cycles, "modules that import one another: " + "; ".join(" <-> ".join(cycle) for cycle in cycles)


def test_every_room_of_the_list_exists() -> None:
    assert [room for room in LEVEL_OF if not ((SOURCE / room).is_dir() or (SOURCE / f"{room}.py").is_file())] == []
    assert len(LEVEL_OF) == sum(map(len, draw_house.levels())), "docs/house.toml lists a room twice"


@pytest.mark.parametrize("init", [f for f in MODULES if f.name == "__init__.py"], ids=name_of)
def test_every_room_has_a_line(init: Path) -> None:
    line = draw_house.about(init)
    assert line.endswith(".") and 15 < len(line) <= 160, (
        f"{init}: its docstring must begin with one sentence, not {line!r}"
    )


def test_the_map_is_up_to_date() -> None:
    assert not draw_house.is_stale(), draw_house.STALE


def test_a_stale_map_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "CONTRIBUTING.md"
    monkeypatch.setattr(draw_house, "PAGE", page)
    text = f"before\n{draw_house.BEGIN}\n\n{draw_house.house_map()}\n{draw_house.END}\nafter\n"
    page.write_text(text, encoding="utf-8")
    assert not draw_house.is_stale()
    page.write_text(text.replace("`core/`", "`cellar/`"), encoding="utf-8")
    assert draw_house.is_stale()
    files = sum(1 for _ in (SOURCE / "motion").rglob("*.py"))
    for count, stale in ((files, False), (files + 1, False), (2 * files, True)):
        page.write_text(text.replace(f"| `motion/` | {files} |", f"| `motion/` | {count} |"), encoding="utf-8")
        assert draw_house.is_stale() is stale
    monkeypatch.setattr(sys, "argv", ["draw_house.py"])
    draw_house.main()
    assert page.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("package", PUBLIC)
def test_public_names_exist(package: str) -> None:
    module = import_module(package)
    assert module.__all__
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
    assert len(module.__all__) == len(set(module.__all__)), "each once; ruff sees to their order"


@pytest.mark.parametrize("kind", [Character, Take, Track, ActionTable])
def test_what_has_many_values_takes_them_by_name(kind: type) -> None:
    assert {value.kind for value in inspect.signature(kind).parameters.values()} == {inspect.Parameter.KEYWORD_ONLY}


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="load_clips"):
        _ = gaitway.load_clips  # type: ignore[attr-defined]
    assert "load_clip" in dir(gaitway)
