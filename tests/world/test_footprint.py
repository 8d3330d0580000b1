"""Footprints: rings, moves, growth, and their exact geometry."""

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from gaitway.core import planar
from gaitway.core.errors import WorldError
from gaitway.world import Footprint
from gaitway.world.footprint import core_geometry, drawn_geometry

SQUARE = [[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]]
HOLE = [[1.0, 1.0], [2.0, 1.0], [2.0, 2.0], [1.0, 2.0]]


def test_rings_by_even_odd():
    assert core_geometry(Footprint.of_rings([SQUARE, HOLE])).area == pytest.approx(15.0)
    island = [[1.2, 1.2], [1.4, 1.2], [1.4, 1.4], [1.2, 1.4]]
    assert core_geometry(Footprint.of_rings([SQUARE, HOLE, island])).area == pytest.approx(15.04)
    apart = [[x + 10.0, y] for x, y in SQUARE]
    assert core_geometry(Footprint.of_rings([SQUARE, apart, HOLE])).area == pytest.approx(31.0)
    over = [[x + 2.0, y] for x, y in SQUARE]
    assert core_geometry(Footprint.of_rings([SQUARE, over])).area == pytest.approx(16.0)  # twice covered is out


def test_points_and_lines():
    both = core_geometry(Footprint.of_rings([[[0.0, 0.0]], [[2.0, 0.0], [2.0, 3.0]]]))
    assert both.area == 0.0
    assert both.length == pytest.approx(3.0)
    assert both.distance(shapely.Point(-1.0, 0.0)) == pytest.approx(1.0)
    assert core_geometry(Footprint.of_rings([])).is_empty


def test_drawn_rounding_is_inside_the_true_one_by_half_a_percent():
    disc = drawn_geometry(Footprint.of_rings([[[1.0, 1.0]]], 2.0))
    radii = np.hypot(*(shapely.get_coordinates(disc.boundary.segmentize(0.01)) - 1.0).T)
    assert radii.max() == pytest.approx(2.0)
    assert radii.min() == pytest.approx(2.0 * np.cos(np.pi / 32), rel=1e-4)


@given(st.tuples(*[st.floats(-5.0, 5.0)] * 3), st.floats(0.0, 3.0), st.floats(0.0, 2.0))
def test_grown_and_placed(pose, radius, by):
    footprint = Footprint.of_rings([SQUARE, HOLE], radius)
    moved = footprint.placed(pose).grown(by)
    assert moved.radius == radius + by
    assert moved.points == pytest.approx(planar.transform_points(pose, footprint.points))
    x0, y0, x1, y1 = moved.bounds
    assert drawn_geometry(moved).bounds == pytest.approx((x0, y0, x1, y1), abs=0.03)
    assert [len(ring) for ring in moved.rings] == [4, 4]


def test_nothing_has_no_bounds():
    nothing = Footprint.of_rings([])
    assert nothing.empty
    assert nothing.bounds == (np.inf, np.inf, -np.inf, -np.inf)
    assert nothing.placed((1.0, 2.0, 3.0)).empty


@pytest.mark.parametrize(
    ("points", "starts", "radius", "message"),
    [
        ([[0, 0]], [0], 0.0, "ring_starts"),
        ([[0, 0]], [0, 0, 1], 0.0, "ring_starts"),
        ([[0, 0]], [1, 1], 0.0, "ring_starts"),
        ([[0, 0, 0]], [0, 1], 0.0, "shape"),
        ([[0, np.nan]], [0, 1], 0.0, "not finite"),
        ([[0, 0]], [0, 1], -1.0, "radius -1.0 must be 0 or more"),
    ],
)
def test_bad_arrays(points, starts, radius, message):
    with pytest.raises(WorldError, match=message):
        Footprint(np.array(points, float), np.array(starts), radius)
