"""Distances that are looked up: never more than the true ones, and hardly less."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.cast.catalog import load_cast
from gaitway.core.arrays import FloatArray
from gaitway.core.jit import kernel
from gaitway.library.actions import action_table
from gaitway.library.body_discs import body_discs
from gaitway.space import _check_kernels, _distance_kernels, distances
from gaitway.space._distance_kernels import Squares
from gaitway.space.fields import OVERHANG, WorldFields
from gaitway.world.exact import footprint_distance
from gaitway.world.footprint import Footprint, Outlines
from gaitway.world.grid import GridSpec
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box, Cylinder, Polygon, Shape, Sphere
from gaitway.world.terrain import Terrain
from gaitway.world.world import World

BOUNDS = (0.0, 0.0, 10.0, 8.0)
KINDS = ("wall", "jump", "duck")
ROUNDING = 2e-5
"""Squares are kept in single precision [m]."""


def random_shape(rng: np.random.Generator) -> Shape:
    """Something of any form, partly beyond the bounds; many of them overlap."""
    (x, y), (a, b) = rng.uniform((-0.5, -0.5), (10.5, 8.5)).tolist(), rng.uniform(0.02, 2.0, 2).tolist()
    form = int(rng.integers(5))
    if form == 0:
        return Box((x, y), (a, b), 1.5)
    if form == 1:
        return Box((x, y), (2.0 * a, 0.1 * b), 1.5, float(rng.uniform(0.0, 3.0)))
    if form == 2:
        return Cylinder((x, y), 0.5 * a, 1.5)
    if form == 3:
        return Sphere((x, y), 0.5 * a)
    angles = np.sort(rng.uniform(0.0, 0.9, 7) + np.arange(7.0)) / 7.0 * 2.0 * np.pi
    ring = rng.uniform(0.6, 1.6, (7, 1)) * np.column_stack([np.cos(angles), np.sin(angles)])
    star = np.array([x, y]) + ring
    hole = np.array([x, y]) + 0.5 * ring
    return Polygon(tuple(map(tuple, star.tolist())), 1.5, (tuple(map(tuple, hole.tolist())),))


def random_world(rng: np.random.Generator, count: int) -> World:
    return World(BOUNDS, tuple(Obstacle(random_shape(rng), KINDS[k % 3]) for k in range(count)))


def outlines_of(world: World, kinds: tuple[str, ...] = KINDS) -> list[Footprint]:
    return [o.shape.footprint(0.05, 2.0) for o in world.obstacles if o.kind in kinds]


def true_distance(world: World, points: FloatArray, kinds: tuple[str, ...] = KINDS) -> FloatArray:
    """To the nearest obstacle of some kinds, or to where bodies may not lean out any farther; 0 inside."""
    x0, y0, x1, y1 = world.bounds
    x, y = points.T
    edge = np.minimum.reduce([x - x0, x1 - x, y - y0, y1 - y]) + OVERHANG
    return np.maximum(np.minimum(edge, footprint_distance(outlines_of(world, kinds), points)), 0.0)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10_000), cell=st.sampled_from([0.05, 0.08, 0.25]), count=st.integers(0, 12))
def test_never_too_much_and_not_far_too_little(seed: int, cell: float, count: int) -> None:
    rng = np.random.default_rng(seed)
    world = random_world(rng, count)
    fields = WorldFields.of(world, cell=cell)
    points = rng.uniform((-0.3, -0.3), (10.3, 8.3), (2000, 2))
    present = {o.kind for o in world.obstacles}
    for passing in (None, *(kind for kind in KINDS[1:] if kind in present)):
        got = fields.clearance(points, passing)
        true = true_distance(world, points, tuple(kind for kind in KINDS if kind != passing))
        less = math.sqrt(2.0) * cell
        assert (got <= true + ROUNDING).all()
        near = true < distances.NEAR - less
        assert (got >= true - np.where(near, less, 2.0 * less) - ROUNDING).all()


@pytest.mark.parametrize("yaw", [0.0, 0.3, math.pi / 4.0])
@pytest.mark.parametrize("cell", [0.05, 0.14])
def test_hardly_less_beside_a_straight_side(yaw: float, cell: float) -> None:
    fields = WorldFields.of(
        World((-9.0, -9.0, 9.0, 9.0), (Obstacle(Box((0.0, 0.0), (6.0, 2.0), 2.0, yaw)),)), cell=cell
    )
    rng = np.random.default_rng(3)
    along, away = rng.uniform(-2.5, 2.5, 3000), rng.uniform(0.02, distances.NEAR - 1.5 * cell, 3000)
    c, s = math.cos(yaw), math.sin(yaw)
    points = np.column_stack([c * along - s * (1.0 + away), s * along + c * (1.0 + away)])
    got = fields.clearance(points)
    beyond = away > cell  # nearer, some of the four middles lie inside
    assert (got <= away + ROUNDING).all()
    assert (got >= away - cell**2 / (8.0 * away) * (1.0 + (cell / away) ** 2) - ROUNDING)[beyond].all()
    assert (got[away > 0.2] > away[away > 0.2] - (0.002 if cell == 0.05 else 0.014)).all()


def test_exact_around_a_single_point() -> None:
    fields = WorldFields.of(World(BOUNDS, (Obstacle(Cylinder((5.013, 4.021), 1e-6, 2.0)),)), cell=0.05)
    points = np.array([5.013, 4.021]) + np.random.default_rng(0).uniform(-0.6, 0.6, (500, 2))
    np.testing.assert_allclose(fields.clearance(points), np.hypot(*(points - (5.013, 4.021)).T), atol=ROUNDING)


@pytest.mark.slow
@settings(max_examples=25, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10_000), cell=st.sampled_from([0.05, 0.11]))
def test_middles_are_exact(seed: int, cell: float) -> None:
    outlines = outlines_of(random_world(np.random.default_rng(seed), 6))
    spec = GridSpec((-0.2, -0.2), cell, (int(4.0 / cell), int(9.0 / cell)))
    got = np.sqrt(distances.near_squares(Outlines.of(outlines), spec))
    true = np.maximum(footprint_distance(outlines, spec.all_centers()), 0.0)
    np.testing.assert_allclose(got, np.minimum(true, distances.NEAR), atol=1e-6)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10_000))
def test_nearest_outline(seed: int) -> None:
    rng = np.random.default_rng(seed)
    outlines = outlines_of(random_world(rng, 7))
    points = rng.uniform((0.0, 0.0), (10.0, 8.0), (200, 2))
    points.setflags(write=False)
    which, away = np.full(len(points), -1), np.full(len(points), 3.0)
    _distance_kernels.nearest(*Outlines.of(outlines), points, which, away)
    each = np.stack([footprint_distance([outline], points) for outline in outlines])
    np.testing.assert_allclose(away, np.minimum(each.min(axis=0), 3.0), atol=1e-9)
    np.testing.assert_array_equal(which, np.where(away < 3.0, each.argmin(axis=0), -1))


def test_steep_ground_is_in_the_way() -> None:
    heights = np.zeros((9, 11))
    heights[:, 6:] = 1.0  # a step between x = 5 and 6
    world = World(BOUNDS, terrain=Terrain(heights, 1.0, (0.0, 0.0)))
    fields = WorldFields.of(world, cell=0.1, max_slope=0.5)
    x = np.linspace(1.0, 9.0, 81)
    got = fields.clearance(np.column_stack([x, np.full(81, 4.0)]))
    true = np.minimum(np.maximum(np.abs(x - 5.5) - 0.5, 0.0), np.minimum(x, 10.0 - x) + OVERHANG)
    assert (got <= true + ROUNDING).all()
    assert (got >= true - 0.3).all()
    assert WorldFields.of(world, cell=0.1).clearance([5.5, 4.0]) > 3.0


@kernel
def hits(
    discs: FloatArray, squares: Squares, place: FloatArray, poses: FloatArray, leave: float, out: FloatArray
) -> None:
    """The first disc that `static_hit` finds at each pose, and the distance that `clearance_at` finds."""
    for k in range(len(poses)):
        x, y, heading = poses[k, 0], poses[k, 1], poses[k, 2]
        c, s = math.cos(heading), math.sin(heading)
        out[k, 0] = _check_kernels.static_hit(discs, 0, len(discs), squares, place, 0, leave, x, y, c, s)
        out[k, 1] = _check_kernels.clearance_at(squares, place, 0, x, y)


def found_hits(fields: WorldFields, discs: FloatArray, poses: FloatArray, leave: float = 0.0) -> FloatArray:
    out = np.empty((len(poses), 2))
    poses.setflags(write=False)
    hits(discs, fields.arrays.squares, fields.arrays.place, poses, leave, out)
    return out


def test_kernels_look_up_as_numpy_does() -> None:
    rng = np.random.default_rng(8)
    fields = WorldFields.of(random_world(rng, 9), cell=0.1)
    discs = rng.uniform((-0.5, -0.5, 0.01), (0.5, 0.5, 0.4), (5, 3))
    discs.setflags(write=False)
    poses = rng.uniform((-0.5, -0.5, -3.0), (10.5, 8.5, 3.0), (3000, 3))
    for leave in (0.0, 0.2):
        got = found_hits(fields, discs, poses, leave)
        np.testing.assert_allclose(got[:, 1], fields.clearance(poses[:, :2]), atol=1e-9)
        c, s = np.cos(poses[:, 2, None]), np.sin(poses[:, 2, None])
        u, v = discs[:, 0], discs[:, 1]
        at = np.stack([poses[:, 0, None] + c * u - s * v, poses[:, 1, None] + s * u + c * v], axis=-1)
        near = fields.clearance(at) < discs[:, 2] - leave
        np.testing.assert_array_equal(got[:, 0], np.where(near.any(axis=1), near.argmax(axis=1), -1))


@pytest.mark.parametrize("yaw", [0.0, 0.4])
def test_a_person_walks_through_a_narrow_corridor(yaw: float) -> None:
    library = load_cast("person", behaviors=["walk_forward"])
    discs = body_discs(library, action_table(library)).static
    rng = np.random.default_rng(1)
    for width, free in ((0.85, True), (0.6, False)):
        for place in rng.uniform(-0.05, 0.05, (20, 2)):  # wherever the cells lie
            sides = [Box((0.0, side * 0.5 * (width + 0.2)), (6.0, 0.2), 2.5) for side in (-1, 1)]
            walls = tuple(Obstacle(box.placed((*place, yaw))) for box in sides)
            fields = WorldFields.of(World((-5.0, -5.0, 5.0, 5.0), walls))
            pose = np.array([[place[0] - math.cos(yaw), place[1] - math.sin(yaw), yaw]])
            assert (found_hits(fields, discs, pose)[0, 0] < 0) == free


@settings(max_examples=20, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10_000), radius=st.sampled_from([0.08, 0.3, 0.9]))
def test_whoever_has_room_is_in_a_roomy_cell(seed: int, radius: float) -> None:
    rng = np.random.default_rng(seed)
    world = random_world(rng, 8)
    fields = WorldFields.of(world)
    points = rng.uniform((0.0, 0.0), (10.0, 8.0), (2000, 2))
    row, column = fields.spec.cells(points[true_distance(world, points) >= radius]).T
    assert fields.roomy(radius)[0, row, column].all()
    row, column = fields.spec.cells(points[true_distance(world, points) == 0.0]).T
    assert not fields.roomy(radius)[0, row, column].any()
