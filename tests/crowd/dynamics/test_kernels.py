"""Kernels of a crowd against plain twins: distances of segments, linear programs, neighbours, walls."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.crowd.dynamics import _contact_kernels, _neighbor_kernels, _orca_kernels
from gaitway.crowd.dynamics._neighbor_kernels import WAITING
from gaitway.crowd.dynamics._people_kernels import PEOPLE, WX, WY
from gaitway.crowd.dynamics.options import CrowdOptions
from gaitway.crowd.dynamics.simulation import CrowdSimulation
from gaitway.crowd.dynamics.walls import WallHash, Walls
from gaitway.world import Cylinder, Obstacle, World

ANGLES, LENGTHS = st.floats(-3.2, 3.2), st.floats(0.0, 2.0)


@settings(max_examples=80, deadline=None)
@given(st.floats(-2.0, 2.0), st.floats(-2.0, 2.0), ANGLES, LENGTHS, ANGLES, LENGTHS)
def test_distances_of_segments_are_those_of_shapely(
    x: float, y: float, angle_a: float, a: float, angle_b: float, b: float
) -> None:
    way_a, way_b = (np.array([np.cos(v), np.sin(v)]) for v in (angle_a, angle_b))
    first = shapely.LineString([-a * way_a, a * way_a])
    second = shapely.LineString([(x, y) - b * way_b, (x, y) + b * way_b])
    _, _, found = _contact_kernels.between(x, y, *way_a, a, *way_b, b)
    if first.intersects(second):
        return  # axes that cross are apart by 0; which point is found does not matter
    # GEOS takes lines of no length for empty
    wanted = first.distance(second) if min(a, b) > 1e-6 else found
    np.testing.assert_allclose(found, wanted, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_the_best_velocity_keeps_all_lines_and_is_the_nearest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    angles = rng.uniform(-np.pi, np.pi, 5)
    ways = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    left = np.stack([-ways[:, 1], ways[:, 0]], axis=-1)
    lines = np.column_stack([-rng.uniform(0.05, 0.6, 5)[:, None] * left, ways])  # rest is allowed by all
    aim, out = rng.uniform(-1.2, 1.2, 2), np.zeros(2)
    assert _orca_kernels.on_lines(lines, 5, 1.5, *aim, False, out) == 5
    assert (((out - lines[:, :2]) * left).sum(axis=1) > -1e-5).all()
    grid = np.stack(np.meshgrid(*2 * (np.linspace(-1.5, 1.5, 121),)), axis=-1).reshape(-1, 2)
    allowed = ((grid[:, None] - lines[:, :2]) * left).sum(axis=-1).min(axis=1) >= 0.0
    allowed &= np.hypot(*grid.T) <= 1.5
    best = np.hypot(*(grid[allowed] - aim).T).min()
    assert np.hypot(*(out - aim)) <= best + 1e-6


def test_lines_that_are_the_same_up_to_rounding_do_not_exclude_one_another() -> None:
    lines = np.array([[0.0, -0.1, 1.0, 0.0], [1e-17, -0.1 + 1e-16, 1.0, 1e-17], [-0.1, 0.0, 0.1, -0.99498743710662]])
    out = np.zeros(2)
    assert _orca_kernels.on_lines(lines, 3, 1.5, -0.3, -1.0, False, out) == 3


def test_walls_of_a_world_are_exact() -> None:
    world = World((0.0, 0.0, 8.0, 6.0), (Obstacle(Cylinder((4.0, 3.0), 0.7, 2.0)),))
    walls = Walls.of(world)
    np.testing.assert_allclose(walls.depths([[4.0, 3.0], [5.0, 3.0], [0.2, 3.0]]), [-0.7, 0.3, 0.2], atol=1e-12)
    edges = walls.segments()
    assert edges.shape == (5, 6)  # a disc and four bounds
    table = WallHash.of(edges, walls.bounds, 1.0)
    rng = np.random.default_rng(0)
    for x, y in rng.uniform((0.0, 0.0), (8.0, 6.0), (50, 2)):
        cell = int(x * table.place[2]) * table.shape[1] + int(y * table.place[2])
        listed = set(table.entries[table.starts[cell] : table.starts[cell + 1]].tolist())
        along = (x, y) - edges[:, :2]
        t = np.clip((along * edges[:, 2:4]).sum(axis=1), -edges[:, 4], edges[:, 4])
        away = np.hypot(*(along - t[:, None] * edges[:, 2:4]).T) - edges[:, 5]
        assert set(np.flatnonzero(away <= 1.0).tolist()) <= listed


@pytest.mark.parametrize("people", [150, 900])
def test_neighbours_are_the_nearest_in_sight(people: int) -> None:
    rng = np.random.default_rng(1)
    crowd = CrowdSimulation(Walls.of_segments([], (0.0, 0.0, 12.0, 12.0)), CrowdOptions(sight=3.0, neighbors=6))
    crowd._positions = rng.uniform(-0.5, 12.5, (people, 2))  # some out of bounds, who are in the cells at the border
    order = crowd._sorted(np.arange(people))
    rows = np.zeros((people, PEOPLE))
    rows[:, :2] = crowd._positions[order]
    angles = rng.uniform(-np.pi, np.pi, people)
    rows[:, WX], rows[:, WY] = np.cos(angles), np.sin(angles)
    rows[::5, WX:] = 0.0  # these stand and look all around
    rows[1::5, WX:] = (1.0, 0.0)
    rows[2::5, WX:] = (0.0, -1.0)
    squares, near = np.empty(6), np.empty(6, np.int32)
    waiting, waiting_squares = np.empty(WAITING, np.int32), np.empty(WAITING)
    cell = 1.0 / float(crowd._hash.place[2])
    for i in range(0, people, 7):
        count = _neighbor_kernels.nearest_people(
            rows, i, crowd._starts, crowd._hash.place, *crowd._hash.shape, 3.0, cell, waiting, waiting_squares,
            squares, near,
        )  # fmt: skip
        to = rows[:, :2] - rows[i, :2]
        away = np.hypot(*to.T)
        away[i] = np.inf
        away[(away > 1.0) & (to @ rows[i, WX:] < 0.0)] = np.inf  # behind
        wanted = np.sort(away[away < 3.0])[:6]
        np.testing.assert_allclose(np.sqrt(squares[:count]), wanted)
        np.testing.assert_allclose(away[near[:count]], wanted)
