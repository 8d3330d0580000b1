"""Exact distances and free areas against brute force; sampling; edits and standing heights of worlds."""

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.core.errors import WorldError
from gaitway.world import (
    PASSABLE,
    Box,
    Cylinder,
    Footprint,
    Mover,
    Obstacle,
    Polygon,
    Sphere,
    Stairs,
    Terrain,
    World,
    exact,
)
from gaitway.world.meshes import MeshShape
from gaitway.world.sampling import sample_free
from gaitway.world.surface import surface

BOUNDS = (0.0, 0.0, 20.0, 15.0)


def some_world(seed, count=12):
    rng = np.random.default_rng(seed)
    things = []
    for _ in range(count):
        center = tuple(rng.uniform(1, 14, 2))
        box = Box(center, tuple(rng.uniform(0.3, 3.0, 2)), 2.0, rng.uniform(-3, 3))
        disc = Cylinder(center, rng.uniform(0.1, 3.0), 2.0)
        things.append(Obstacle([box, disc][int(rng.integers(2))], ["wall", "jump", PASSABLE][int(rng.integers(3))]))
    mover = Mover.of(Cylinder((0.0, 0.0), 0.7, 1.8), [0, 10], [[1, 1, 0], [15, 10, 0]])
    return World(BOUNDS, tuple(things), (mover,))


def plain_distance(obstacle, point):
    """Signed distance to a box or a disc, from its description."""
    shape = obstacle.shape
    off = np.subtract(point, shape.center)
    if isinstance(shape, Cylinder):
        return np.hypot(*off) - shape.radius
    c, s = np.cos(shape.yaw), np.sin(shape.yaw)
    q = np.abs([c * off[0] + s * off[1], c * off[1] - s * off[0]]) - np.array(shape.size) / 2
    return np.hypot(*np.maximum(q, 0.0)) + min(max(q), 0.0)


@pytest.mark.slow
@given(st.integers(0, 10**6), st.floats(0.0, 10.0))
def test_distances_are_exact(seed, time):
    world = some_world(seed)
    points = np.random.default_rng(seed).uniform(-2, 18, (7, 5, 2))
    for place in (world, world.at(time)):
        solid = [o for o in place.obstacles if o.kind != PASSABLE]
        expected = [[min((plain_distance(o, p) for o in solid), default=np.inf) for p in row] for row in points]
        assert exact.distance(place, points) == pytest.approx(np.array(expected), abs=1e-9)
    jumps = [o for o in world.obstacles if o.kind == "jump"]
    expected = [min((plain_distance(o, p) for o in jumps), default=np.inf) for p in points[0]]
    assert exact.distance(world, points[0], kinds={"jump"}) == pytest.approx(expected, abs=1e-9)


def test_only_what_is_between_the_heights_counts():
    world = World(BOUNDS, (Obstacle(Box((5, 5), (2, 2), 0.5, bottom=2.2)), Obstacle(Box((9, 5), (2, 2), 1.0))))
    assert exact.distance(world, (5.0, 5.0)) == -1.0
    assert exact.distance(world, (5.0, 5.0), high=2.0) == 3.0
    assert exact.distance(world, (5.0, 5.0), low=3.0) == np.inf


def test_holes_and_lines():
    ring = Polygon(((0, 0), (10, 0), (10, 10), (0, 10)), 1.0, (((2, 2), (8, 2), (8, 8), (2, 8)),))
    world = World(BOUNDS, (Obstacle(ring),))
    assert exact.distance(world, [(5, 5), (1, 5), (12, 5)]).tolist() == [3.0, -1.0, 2.0]
    line = Footprint.of_rings([[[0, 0], [4, 0]]], 0.5)
    assert exact.footprint_distance([line], [(2, 2), (2, 0), (6, 0)]).tolist() == [1.5, -0.5, 1.5]
    assert exact.footprint_distance([], np.zeros((3, 2))).tolist() == [np.inf] * 3


@given(st.integers(0, 10**6), st.floats(0.0, 0.8))
def test_free_area_is_free_and_not_much_smaller(seed, radius):
    world = some_world(seed)
    area = exact.free_area(world, radius)
    points = np.random.default_rng(seed).uniform((0, 0), (20, 15), (300, 2))
    x, y = points.T
    room = np.minimum.reduce([x, y, 20 - x, 15 - y, exact.distance(world, points)])
    inside = shapely.contains_xy(area, x, y)
    assert (room[inside] >= radius - 1e-9).all()
    assert inside[room > radius + 0.005 * (radius + 3.0)].all()


def test_no_room_for_the_fat():
    assert exact.free_area(World(BOUNDS), 7.5).is_empty
    assert exact.free_area(World(BOUNDS), 1.0).area == pytest.approx(18.0 * 13.0)
    with pytest.raises(WorldError, match="radius of -1"):
        exact.free_area(World(BOUNDS), -1.0)


FREE = exact.free_area(some_world(3), 0.3)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(0, 40), st.floats(0.0, 1.0))
def test_samples_keep_apart_within_the_area(seed, count, spacing):
    area = FREE
    points = sample_free(area, count, spacing, np.random.default_rng(seed))
    assert points.shape == (count, 2)
    assert shapely.dwithin(area, shapely.points(points), 1e-9).all()
    tree = shapely.STRtree(shapely.points(points))
    pairs = tree.query(tree.geometries, "dwithin", spacing * (1.0 - 1e-12)) if spacing > 1e-9 else np.zeros((2, count))
    assert pairs.shape[1] == count  # each with itself alone
    assert np.array_equal(points, sample_free(area, count, spacing, np.random.default_rng(seed)))


def test_crowded_areas_are_filled_regularly():
    square = shapely.box(0, 0, 10, 10)
    points = sample_free(square, 105, 1.0, np.random.default_rng(0))  # random placing stops at about 80
    assert shapely.STRtree(shapely.points(points)).query(shapely.points(points), "dwithin", 0.999).shape[1] == 105
    with pytest.raises(WorldError, match=r"no room for 200 with 1 m between them: 1[0-2]\d fit; make the area larger"):
        sample_free(square, 200, 1.0, np.random.default_rng(0))


def test_samples_are_even():
    halves = shapely.MultiPolygon([shapely.box(0, 0, 1, 1), shapely.box(5, 0, 8, 1)])
    points = sample_free(halves, 20000, 0.0, np.random.default_rng(1))
    assert (points[:, 0] < 2).mean() == pytest.approx(0.25, abs=0.02)
    assert points[points[:, 0] < 2].mean(axis=0) == pytest.approx([0.5, 0.5], abs=0.02)


def test_nowhere_to_sample():
    with pytest.raises(WorldError, match="the area is empty"):
        sample_free(shapely.Polygon(), 3, 1.0, np.random.default_rng(0))
    assert len(sample_free(shapely.Polygon(), 0, 1.0, np.random.default_rng(0))) == 0


def test_standing_height_is_the_highest_top():
    hills = Terrain.hills(BOUNDS, 0.2, 8.0)
    stairs, block = Stairs((5.0, 5.0), 2.0, 4, 0.2, 0.5, 0.3, 0.25), Box((10.0, 5.0), (2.0, 2.0), 0.9, 0.2)
    world = World(
        BOUNDS,
        (
            Obstacle(stairs, "stairs"),
            Obstacle(block, "climb"),
            Obstacle(Box((10.0, 5.0), (9.0, 9.0), 3.0), "wall"),
            Obstacle(Sphere((3.0, 10.0), 0.6, 0.1), "box"),
            Obstacle(MeshShape.of(*surface(Stairs((15.0, 10.0), 2.0, 3, 0.3, 0.4))), "box"),
        ),
        (Mover.of(Box((0, 0), (1, 1), 0.7), [0, 1], [[18, 2, 0], [18, 4, 0]], "box"),),
        hills,
    )
    points = np.random.default_rng(0).uniform((0, 0), (20, 15), (4000, 2))
    expected = hills.height(points)
    for number, step in enumerate(stairs.blocks()):
        on = np.array([plain_distance(Obstacle(step), p) <= 0 for p in points])
        expected[on] = np.maximum(expected[on], 0.25 + 0.2 * (number + 1))
    on = np.array([plain_distance(Obstacle(block), p) <= 0 for p in points])
    expected[on] = np.maximum(expected[on], 0.9)
    off = np.linalg.norm(points - (3.0, 10.0), axis=1)
    expected[off < 0.6] = np.maximum(expected, 0.7 + np.sqrt(np.maximum(0.36 - off**2, 0)))[off < 0.6]
    x, y = points.T
    tread = np.floor((x - 14.4) / 0.4)
    on = (tread >= 0) & (tread < 3) & (np.abs(y - 10) < 1)
    expected[on] = np.maximum(expected[on], 0.3 * (tread[on] + 1))
    assert world.standing_height(points) == pytest.approx(expected, abs=1e-6)
    assert world.standing_height((18.0, 3.0)) == pytest.approx(float(hills.height((18.0, 3.0))))
    assert world.at(0.5).standing_height((18.0, 3.0)) == pytest.approx(0.7)
    assert world.standing_height(points.reshape(40, 100, 2)).shape == (40, 100)


def test_edits_leave_the_rest_alone():
    world = some_world(1)
    other = Obstacle(Box((1, 1), (1, 1), 1.0))
    changed = world.replaced(3, other)
    assert changed.obstacles[3] is other
    assert all(a is b for k, (a, b) in enumerate(zip(changed.obstacles, world.obstacles, strict=True)) if k != 3)
    assert changed.movers is world.movers
    assert world.with_obstacle(other).obstacles == (*world.obstacles, other)
    assert world.without(0).obstacles == world.obstacles[1:]
    for edit in (lambda: world.replaced(12, other), lambda: world.without(-1)):
        with pytest.raises(WorldError, match="there are 12, counted from 0"):
            edit()
