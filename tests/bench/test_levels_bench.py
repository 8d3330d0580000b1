"""The benchmark of walkable surfaces: its rows, and how answers are compared with those of Recast."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from gaitway.bench import levels
from gaitway.world.meshes import MeshShape
from gaitway.world.shapes import Box
from gaitway.world.surface import join, surface


def small() -> levels.Level:
    vertices, triangles = join([surface(Box((0.0, 0.0), (12.0, 8.0), 1.0)), surface(Box((0.0, 0.0), (1.0, 4.0), 4.0))])
    return levels.Level("a city", MeshShape.of(vertices, triangles), np.empty((0, 2, 3)))


def test_rows_without_recast(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(levels, "_city", small)
    monkeypatch.setenv("GAITWAY_RECAST", str(tmp_path))
    monkeypatch.setenv("GAITWAY_MESHES", str(tmp_path))
    (tmp_path / "floor.obj").write_text("v 0 0 0\nv 0 0 9\nv 9 0 9\nv 9 0 0\nf 1 2 3\nf 1 3 4\n", encoding="utf-8")
    (tmp_path / "floor_queries.txt").write_text("s\npf 1 0 1 8 0 8 0x3 0x0\n", encoding="utf-8")
    table = levels.run()
    assert [row.name for row in table.rows] == [
        "surface of a city, 24 triangles", "surface of a city, 24 triangles", "route on a city",
        "surface of floor.obj, 2 triangles", "route on floor.obj", "floors of floor.obj for people",
    ]  # fmt: skip
    assert all("not installed" in row.peer and row.theirs is None for row in table.rows[1:-1])
    assert "open spans" in table.notes[0] and len(table.notes) == 3
    assert table.notes[1] == ("floor.obj for people, cells of 0.05 m: 1 floors, 0 seams; 1 of 1 queries reached")


def test_agreement_with_recast_is_counted() -> None:
    answers = [{"reached": True, "length": 10.0}, {"reached": True, "length": 5.0}, {"reached": False, "length": 0.0}]
    line = levels._agreement(small(), [10.2, math.nan, math.nan], answers)
    assert line == (
        "a city: 2 of 3 queries with the same answer, 1 reached by both; length over Recast's: median 1.020, most 1.020"
    )
