"""Upper sides of triangles: the kernel and its grid against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.core.arrays import FloatArray
from gaitway.world.meshes import MeshShape
from gaitway.world.shapes import Box
from gaitway.world.standing import top
from gaitway.world.surface import join, surface
from gaitway.world.upper_sides import UpperSides


def plain(corners: FloatArray, points: FloatArray, near: FloatArray) -> FloatArray:
    """Return the height nearest to `near` of all triangles over each point, by barycentric coordinates."""
    a, b, c = np.moveaxis(corners, 1, 0)
    p = points[:, None]
    twice = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    v = ((p - a[:, :2])[..., 0] * (c - a)[:, 1] - (p - a[:, :2])[..., 1] * (c - a)[:, 0]) / twice
    w = ((b - a)[:, 0] * (p - a[:, :2])[..., 1] - (b - a)[:, 1] * (p - a[:, :2])[..., 0]) / twice
    z = a[:, 2] + v * (b - a)[:, 2] + w * (c - a)[:, 2]
    away = np.where((v >= 0.0) & (w >= 0.0) & (v + w <= 1.0), np.abs(z - near[:, None]), np.inf)
    best = np.argmin(away, axis=1)
    rows = np.arange(len(points))
    return np.where(np.isfinite(away[rows, best]), z[rows, best], -np.inf)


@pytest.mark.parametrize("offset", [0.0, 50_000.0])
def test_the_nearest_of_many_triangles(offset: float) -> None:
    rng = np.random.default_rng(3)
    corners = rng.uniform(0.0, 10.0, (300, 1, 3)) + rng.uniform(-1.5, 1.5, (300, 3, 3))
    corners[..., :2] += offset
    points, near = rng.uniform(-2.0, 12.0, (2000, 2)) + offset, rng.uniform(0.0, 10.0, 2000)
    found = UpperSides.of(corners).heights(points, near)
    expected = plain(corners, points, near)
    assert np.isfinite(expected).sum() > 800
    assert (np.isfinite(found) == np.isfinite(expected)).mean() > 0.999  # a point on an edge may fall to either side
    both = np.isfinite(found) & np.isfinite(expected)
    assert found[both] == pytest.approx(expected[both], abs=1e-5)


def test_a_mesh_with_two_storeys_is_stood_on_at_both() -> None:
    parts = [Box((0.0, 0.0), (4.0, 4.0), 0.2), Box((1.0, 0.0), (2.0, 4.0), 0.2, bottom=2.0)]
    mesh = MeshShape.of(*join([surface(part) for part in parts])).raised(1.0).placed((10.0, 5.0, np.pi / 2.0))
    points = np.array([[10.0, 6.0], [10.0, 6.0], [10.0, 4.0], [20.0, 5.0], [12.0, 7.0]])
    near = np.array([1.5, 3.0, 3.0, 0.0, 9.0])
    assert top(mesh, points, near).tolist() == pytest.approx([1.2, 3.2, 1.2, -np.inf, 3.2])
    assert top(mesh, points).tolist() == pytest.approx([3.2, 3.2, 1.2, -np.inf, 3.2])


def test_nothing_has_no_upper_side() -> None:
    assert UpperSides.of(np.empty((0, 3, 3))).heights(np.zeros((2, 2))).tolist() == [-np.inf, -np.inf]
