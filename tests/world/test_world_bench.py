"""The benchmark of the grids runs, and its peers find what we find."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gaitway.bench import _timing, run_benches, world
from gaitway.world import GridSpec, Occupancy


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_timing, "_SHORTEST_TURN", 0.0)
    for name, value in {"CELLS": 120, "OBSTACLES": 12}.items():
        monkeypatch.setattr(world, name, value)


def test_the_table():
    (table,) = run_benches("world")
    assert len(table.rows) == 6
    assert all(row.ours.median > 0.0 for row in table.rows)
    assert "shapely" in table.machine
    json.dumps(table.as_dict())


def test_the_exact_peer_agrees():
    place = world._scene()
    spec = GridSpec.covering(place.bounds, world.CELL)
    grid = Occupancy(spec, world.RADIUS, kinds=("wall", "duck", "jump"))
    for obstacle in place.obstacles:
        grid.add(obstacle)
    ours = sum(grid.counts(kind).astype(int) for kind in grid.kinds)
    np.testing.assert_array_equal(world._by_shapely(place, spec), ours)
    # filling outlines whose arcs are cut short covers fewer cells
    filled = world._filled([world._outline(o.shape, spec) for o in place.obstacles], spec) > 0
    assert 0.8 < (filled & (ours > 0)).sum() / (ours > 0).sum() < 1.0
