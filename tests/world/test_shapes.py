"""Shapes against a point-in-solid test that shares nothing with them, and a table of what cannot be."""

import math

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from gaitway.core import planar
from gaitway.core.errors import WorldError
from gaitway.world import Box, Cylinder, Polygon, Sphere, Stairs
from gaitway.world.footprint import core_geometry, drawn_geometry, united

SQUARE = ((0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0))
U = ((0.0, 0.0), (3.0, 0.0), (3.0, 3.0), (2.0, 3.0), (2.0, 1.0), (1.0, 1.0), (1.0, 3.0), (0.0, 3.0))
HOLE = ((1.0, 1.0), (2.0, 1.0), (2.0, 2.0), (1.0, 2.0))
number = st.floats(-5.0, 5.0)
length = st.floats(0.2, 4.0)
place = st.tuples(number, number)
POSES = st.tuples(number, number, st.floats(-7.0, 7.0))
SHAPES = st.one_of(
    st.builds(Box, place, st.tuples(length, length), length, number, number),
    st.builds(Cylinder, place, length, length, number),
    st.builds(Polygon, st.sampled_from([SQUARE, U, U[::-1]]), length, bottom=number),
    st.builds(Polygon, st.just(SQUARE), length, st.just((HOLE,)), number),
    st.builds(Sphere, place, length, number),
    st.builds(Stairs, place, length, st.integers(1, 6), length, length, number, number),
)


def crossings(ring, x, y):
    """Times that a ray to the right of (x, y) crosses a ring."""
    count = 0
    for (ax, ay), (bx, by) in zip(ring, ring[1:] + ring[:1], strict=True):
        if (ay > y) != (by > y) and x < ax + (y - ay) * (bx - ax) / (by - ay):
            count += 1
    return count


def local(shape, x, y):
    dx, dy = x - shape.center[0], y - shape.center[1]
    c, s = math.cos(shape.yaw), math.sin(shape.yaw)
    return c * dx + s * dy, c * dy - s * dx


def inside(shape, x, y, z):
    """Whether a point is in a shape, worked out from its description alone."""
    low, high = shape.heights
    if not low < z < high:
        return False
    match shape:
        case Box():
            u, v = local(shape, x, y)
            return abs(u) < shape.size[0] / 2 and abs(v) < shape.size[1] / 2
        case Cylinder():
            return math.dist((x, y), shape.center) < shape.radius
        case Sphere():
            return math.dist((x, y, z), (*shape.center, shape.bottom + shape.radius)) < shape.radius
        case Polygon():
            return sum(crossings(ring, x, y) for ring in (shape.points, *shape.holes)) % 2 == 1
        case Stairs():
            u, v = local(shape, x, y)
            step = math.floor(u / shape.run + shape.steps / 2)
            ok = 0 <= step < shape.steps and abs(v) < shape.width / 2
            return ok and z - shape.bottom < (step + 1) * shape.rise
    raise AssertionError(shape)


def away_from(footprint, points):
    """Signed distances; negative inside."""
    if footprint.empty:
        return np.full(len(points), np.inf)
    area, points = core_geometry(footprint), shapely.points(points)
    inner = shapely.distance(area.boundary, points) if area.area > 0.0 else 0.0
    return np.where(shapely.contains(area, points), -inner, shapely.distance(area, points)) - footprint.radius


@given(SHAPES, st.floats(-6.0, 8.0), st.floats(0.0, 4.0), st.integers(0, 2**31))
def test_footprint_is_what_the_solid_covers(shape, low, thick, seed):
    footprint = shape.footprint(low, low + thick)
    rng = np.random.default_rng(seed)
    x0, y0, x1, y1 = shape.footprint().bounds
    points = rng.uniform((x0 - 0.1, y0 - 0.1), (x1 + 0.1, y1 + 0.1), (60, 2))
    heights = low + thick * np.linspace(0.005, 0.995, 25)
    covered = np.array([any(inside(shape, x, y, z) for z in heights) for x, y in points])
    away = away_from(footprint, points)
    assert not covered[away > 1e-9].any()
    # Heights are tried in steps, so that a ball's or step's last slice may be missed by so much.
    if thick > 0.0 and not isinstance(shape, Sphere | Stairs):
        assert covered[(away < -1e-9) & (min(shape.heights[1], low + thick) - max(shape.heights[0], low) > 0.2)].all()


@given(SHAPES, st.floats(-6.0, 8.0))
def test_thin_slices_are_sections(shape, height):
    steps = [shape.bottom + i * shape.rise for i in range(shape.steps)] if isinstance(shape, Stairs) else []
    if min(abs(height - level) for level in [*shape.heights, *steps]) < 1e-9:
        return  # rounding decides on which side of a face this is
    footprint = shape.footprint(height, height)
    x0, y0, x1, y1 = shape.footprint().bounds
    points = np.random.default_rng(0).uniform((x0, y0), (x1, y1), (60, 2))
    for (x, y), distance in zip(points, away_from(footprint, points), strict=True):
        if abs(distance) > 1e-7:
            assert inside(shape, x, y, height) == (distance < 0.0)


@given(SHAPES, POSES, st.floats(-3.0, 3.0), st.floats(-6.0, 8.0), st.floats(0.0, 4.0))
def test_placed_and_raised_move_the_footprint(shape, pose, by, low, thick):
    before = shape.footprint(low, low + thick)
    bottom, top = shape.heights
    if min(abs(np.subtract.outer([bottom, top], [low, low + thick]).ravel())) < 1e-6 or isinstance(shape, Stairs):
        before, low, thick = shape.footprint(), -100.0, 200.0  # rounding decides whether it touches
    after = shape.placed(pose).raised(by).footprint(low + by, low + by + thick)
    expected = before.placed(pose)
    assert after.ring_starts.tolist() == expected.ring_starts.tolist()
    assert after.points == pytest.approx(expected.points, abs=1e-9)
    assert after.radius == pytest.approx(expected.radius, abs=1e-6)
    assert shape.raised(by).heights == pytest.approx((bottom + by, top + by))


@given(SHAPES, POSES, POSES)
def test_moves_compose(shape, a, b):
    twice = shape.placed(b).placed(a).footprint()
    once = shape.placed(planar.compose(a, b)).footprint()
    assert twice.points == pytest.approx(once.points, abs=1e-9)


@given(SHAPES)
def test_solids_fill_the_footprint(shape):
    total = united([drawn_geometry(s.footprint) for s in shape.solids() if hasattr(s, "footprint")])
    if not isinstance(shape, Sphere):
        assert drawn_geometry(shape.footprint()).symmetric_difference(total).area < 1e-8 * total.area


def test_nothing_between_heights_the_wrong_way_round():
    for shape in (Box((0, 0), (1, 1), 3.0), Sphere((0, 0), 1.0), Stairs((0, 0), 1.0, 5), Cylinder((0, 0), 1, 3.0)):
        assert shape.footprint(0.5, 0.4).empty
        assert not shape.footprint(0.4, 0.5).empty


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Polygon(((0, 0), (1, 1), (1, 0), (0, 1)), 1.0), r"crosses .* at \(0.5, 0.5\)"),
        (lambda: Polygon(((0, 0), (4, 0), (4, 4), (2, 0), (0, 4)), 1.0), "touches itself at"),
        (lambda: Polygon(((0, 0), (1, 1)), 1.0), "2 points; at least 3"),
        (lambda: Polygon(((0, 0), (1, 1), (2, 2)), 1.0), "no area: its 3 points lie on one line"),
        (lambda: Polygon(((0, 0), (1, 0), (1, 0), (0, 1)), 1.0), "point 2 .* repeats point 1"),
        (lambda: Polygon(((0, 0), (1, 0), (1, 1), (0, 0)), 1.0), "point 3 .* repeats point 0"),
        (lambda: Polygon(((0, 0), (np.nan, 0), (1, 1)), 1.0), "point 1 .* not finite"),
        (lambda: Polygon(SQUARE, 0.0), "height 0.0; write a number above 0"),
        (lambda: Polygon(SQUARE, 1.0, (((1, 1), (2, 1), (9, 9)),)), r"hole 0: point 2 \(9.0, 9.0\) lies outside"),
        (lambda: Polygon(SQUARE, 1.0, (HOLE, ((1.5, 1), (3, 1), (2, 3)))), "holes that overlap"),
        (lambda: Polygon(SQUARE, 1.0, (((1, 1), (2, 1)),)), "hole 0 has 2 points"),
        (lambda: Box((0, 0), (1, 0), 1.0), "size_y 0"),
        (lambda: Box((0, np.inf), (1, 1), 1.0), "not finite"),
        (lambda: Cylinder((0, 0), -1.0, 1.0), "radius -1.0"),
        (lambda: Sphere((0, 0), np.nan), "radius nan"),
        (lambda: Stairs((0, 0), 1.0, 10**9), "whole number up to"),
        (lambda: Stairs((0, 0), 1.0, 2.5), "whole number up to"),
    ],
)
def test_what_cannot_be_is_refused(make, message):
    with pytest.raises(WorldError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)
