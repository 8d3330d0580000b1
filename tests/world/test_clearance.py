"""Clearance against SciPy's distance transform, whole and after edits; components."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.core.errors import WorldError
from gaitway.world import Box, Cylinder, GridSpec, Obstacle, Occupancy, World
from gaitway.world.clearance import Clearance, Components

SPEC = GridSpec((0.0, 0.0), 0.2, (40, 55))


def twin(occupancy: Occupancy, reach: float = np.inf, bits: int = 0xFFFF) -> np.ndarray:
    """By SciPy."""
    covered = (occupancy.mask & bits) != 0
    if not covered.any():
        return np.full(covered.shape, reach)
    return np.minimum(scipy.ndimage.distance_transform_edt(~covered) * occupancy.spec.cell, reach)


discs = st.builds(
    lambda x, y, r, kind: Obstacle(Cylinder((x, y), r, 2.0), kind),
    st.floats(-2.0, 13.0),
    st.floats(-2.0, 10.0),
    st.sampled_from([0.01, 0.2, 1.0]),
    st.sampled_from(["wall", "jump"]),
)


@settings(max_examples=40)
@given(st.lists(discs, max_size=6), st.sampled_from([np.inf, 0.5, 1.33, 4.0]))
def test_distances_are_exact(many: list[Obstacle], reach: float):
    grid = Occupancy(SPEC, 0.0)
    for obstacle in many:
        grid.add(obstacle)
    np.testing.assert_allclose(Clearance(grid, reach).distances, twin(grid, reach), rtol=1e-6)
    only_walls = Clearance(grid, reach, passing=["jump"]).distances
    np.testing.assert_allclose(only_walls, twin(grid, reach, grid.bits("wall")), rtol=1e-6)


@settings(max_examples=40)
@given(st.lists(discs, min_size=1, max_size=5), st.lists(discs, min_size=1, max_size=3), st.sampled_from([0.7, np.inf]))
def test_updates_leave_what_computing_anew_gives(many: list[Obstacle], moves: list[Obstacle], reach: float):
    grid = Occupancy.of(World(SPEC.bounds, tuple(many)), SPEC, 0.1, kinds=("wall", "jump"))
    clearance = Clearance(grid, reach)
    for number, obstacle in enumerate(moves):
        before = clearance.distances.copy()
        window = clearance.update(grid.replace(number % len(many), obstacle))
        outside = np.ones(SPEC.shape, dtype=bool)
        outside[window.row : window.row_end, window.column : window.column_end] = False
        assert (before == clearance.distances)[outside].all()
    assert clearance.distances.tobytes() == Clearance(grid, reach).distances.tobytes()


def test_points():
    grid = Occupancy.of(World((0.0, 0.0, 10.0, 10.0)), 0.5, 0.0)
    grid.add(Obstacle(Box((5.2, 5.2), (0.1, 0.1), 2.0)))
    clearance = Clearance(grid)
    np.testing.assert_allclose(clearance.at([(5.2, 5.2), (7.2, 5.2), (8.2, 1.2), (-1.0, 5.0)]), [0.0, 2.0, 5.0, 0.0])
    assert not clearance.distances.flags.writeable
    with pytest.raises(WorldError, match="clearance reach 0"):
        Clearance(grid, 0.0)


def test_components():
    wall = Obstacle(Box((5.0, 5.0), (0.5, 12.0), 2.0))
    fence = Obstacle(Box((8.0, 5.0), (0.3, 12.0), 0.4), "jump")
    grid = Occupancy.of(World((0.0, 0.0, 10.0, 10.0), (wall, fence)), 0.25, 0.3)
    parts, jumping = Components.of(grid), Components.of(grid, passing=["jump"])
    assert parts.count == 3 and jumping.count == 2
    assert parts.at([(5.0, 5.0), (20.0, 5.0)]).tolist() == [0, 0]
    assert not parts.connected((6.5, 5.0), (9.0, 5.0)) and jumping.connected((6.5, 5.0), (9.0, 5.0))
    assert not jumping.connected((1.0, 1.0), (9.0, 9.0))
    assert not jumping.connected((5.0, 5.0), (1.0, 1.0))
    assert parts.connected((1.0, 1.0), (4.9, 5.0), tolerance=0.7)
    assert not parts.connected((1.0, 1.0), (4.9, 5.0), tolerance=0.3)
    assert not parts.connected((1.0, 1.0), (50.0, 5.0), tolerance=0.3)
