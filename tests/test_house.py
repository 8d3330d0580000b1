"""The house stands: each floor imports only from floors below it, and every public name can be loaded."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

import gaitway

SOURCE = Path(gaitway.__file__).parent
# from the ground up; a module may import from its own room and from lower floors
FLOORS = (
    ("_version",),
    ("core",),
    ("planners",),
    ("motion", "world"),
    ("library",),
    ("cast",),
    ("scene", "take"),
    ("space",),
    ("performing",),
    ("behavior", "graphs"),
    ("capture",),
    ("variation",),
    ("tree",),
    ("live",),
    ("render",),
    ("audit", "export"),
    ("planning",),
    ("studio",),
    ("bench", "demo", "papers"),
    ("cli",),
    ("__main__", "__init__"),
)
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
ROOMS = (
    *(
        "motion",
        "world",
        "library",
        "scene",
        "take",
        "behavior",
        "tree",
        "live",
        "graphs",
        "variation",
        "render",
        "audit",
        "export",
        "papers",
        "bench",
    ),
)
"""Packages with public names of their own."""
MODULES = sorted(SOURCE.rglob("*.py"))


def room_of(module: Path) -> str:
    first = module.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


def imported_rooms(module: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "gaitway":
            parts = node.module.split(".")
            rooms |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            rooms |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("gaitway.")}
    return rooms


@pytest.mark.parametrize("module", MODULES, ids=lambda m: str(m.relative_to(SOURCE)))
def test_imports_point_downward(module: Path) -> None:
    room = room_of(module)
    assert room in FLOOR_OF, f"say on which floor '{room}' is"
    upward = {r for r in imported_rooms(module) - {room} if FLOOR_OF[r] >= FLOOR_OF[room]}
    assert not upward, f"{room} must not import {', '.join(sorted(upward))}"


@pytest.mark.parametrize(
    "package",
    ["gaitway", *(f"gaitway.{room}" for room in ROOMS)],
)
def test_public_names_exist(package: str) -> None:
    module = import_module(package)
    assert module.__all__
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
    assert len(module.__all__) == len(set(module.__all__)), "each once; ruff sees to their order"


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="load_clips"):
        _ = gaitway.load_clips  # type: ignore[attr-defined]
    assert "load_clip" in dir(gaitway)
