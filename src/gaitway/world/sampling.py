"""Random points in an area that keep a distance from each other, for the positions of a group."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import shapely

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import WorldError

_MISSES = 400
"""Number of failed throws in a row after which random placing gives up."""
_NO_SPACING = 1e-9
"""Spacing below which points may coincide [m]."""
_LATTICES = 12
"""Number of regular placings that are tried then."""
_MOST_LATTICE = 4_000_000
"""Greatest number of points of a lattice; bounds the memory."""
_MOST_UNUSABLE = 20_000
"""Number of unusable throws in a row after which random placing gives up."""

Usable = Callable[[FloatArray], BoolArray]
"""Function that tells which of some points (N, 2) may be taken; (N,)."""


def sample_free(
    area: shapely.Geometry,
    count: int,
    spacing: float,
    rng: np.random.Generator,
    usable: Usable | None = None,
) -> FloatArray:
    """Sample random points in an area, no two nearer than `spacing`.

    Points are thrown one by one, and where they find no room are thrown again. What is too crowded for that is placed
    on a turned triangular lattice.

    Args:
        area: polygons, such as of `exact.free_area`.
        count: number of points.
        spacing: least distance between two points [m].
        rng: random number generator; the same state gives the same points.
        usable: which points may be taken; None takes all. An area of a few corners with such a test is far faster than
            one with many holes.

    Returns:
        Points [m]; (count, 2), in random order.

    Raises:
        WorldError: if they do not fit; it says how many did.
    """
    if not (np.isfinite(spacing) and spacing >= 0.0):
        raise WorldError(f"a spacing of {spacing}; write 0 or more, in metres")
    corners = _triangles(area)
    if count > 0 and not len(corners):
        raise WorldError(f"no room for {count} of {count}: the area is empty or all of it is in the way")
    points = _thrown(corners, count, spacing, rng, usable)
    for _ in range(_LATTICES if len(points) < count else 0):
        regular = _lattice(area, spacing, rng)
        regular = regular if usable is None else regular[usable(regular)]
        points = max(points, regular, key=len)
    if count > 0 and not len(points):
        raise WorldError(f"no room for {count} of {count}: the area is empty or all of it is in the way")
    if len(points) < count:
        raise WorldError(
            f"no room for {count} with {spacing:g} m between them: {len(points)} fit; "
            "make the area larger, or the number or the radius smaller"
        )
    return points[rng.permutation(len(points))[:count]]


def _triangles(area: shapely.Geometry) -> FloatArray:
    """Return the triangles (T, 3, 2) that make up the polygons of an area."""
    parts = shapely.get_parts(shapely.constrained_delaunay_triangles(area))
    return np.asarray(shapely.get_coordinates(parts).reshape(-1, 4, 2)[:, :3])


def _uniform(corners: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
    a, b, c = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    if count == 0:
        return np.empty((0, 2))
    size = np.abs(b[:, 0] * c[:, 1] - b[:, 1] * c[:, 0])
    chosen = rng.choice(len(corners), count, p=size / size.sum())
    u, v = rng.random((2, count, 1))
    over = u + v > 1.0  # the other half of the parallelogram is folded back
    u, v = np.where(over, 1.0 - u, u), np.where(over, 1.0 - v, v)
    return np.asarray(a[chosen] + u * b[chosen] + v * c[chosen])


def _thrown(
    corners: FloatArray, count: int, spacing: float, rng: np.random.Generator, usable: Usable | None
) -> FloatArray:
    if spacing < _NO_SPACING and usable is None:
        return _uniform(corners, count, rng)
    spacing = max(spacing, _NO_SPACING)
    side = spacing / np.sqrt(2.0)  # a square of this side holds one point at most, and only two rows around it matter
    cells: dict[tuple[int, int], tuple[float, float]] = {}
    found: list[tuple[float, float]] = []
    misses = unusable = 0
    while len(found) < count and misses < _MISSES and unusable < _MOST_UNUSABLE:
        thrown = _uniform(corners, 2 * (count - len(found)) + 50, rng)
        kept = thrown if usable is None else thrown[usable(thrown)]
        unusable = 0 if len(kept) else unusable + len(thrown)
        for x, y in kept.tolist():
            i, j = int(x // side), int(y // side)
            around = (cells.get((i + m, j + n)) for m in range(-2, 3) for n in range(-2, 3))
            misses += 1
            if all(p is None or (p[0] - x) ** 2 + (p[1] - y) ** 2 >= spacing**2 for p in around):
                cells[i, j] = (x, y)
                found.append((x, y))
                misses = 0
            if len(found) == count or misses >= _MISSES:
                break
    return np.array(found).reshape(-1, 2)


def _lattice(area: shapely.Geometry, spacing: float, rng: np.random.Generator) -> FloatArray:
    """Return a triangular lattice, turned and shifted at random, as far as it lies in the area."""
    x0, y0, x1, y1 = area.bounds
    middle, reach = np.array([x0 + x1, y0 + y1]) / 2.0, np.hypot(x1 - x0, y1 - y0) / 2.0 + spacing
    step = spacing * (1.0 + 1e-9)
    rows = int(np.ceil(min(reach / (step * np.sqrt(0.75)), _MOST_LATTICE)))
    if (2 * rows + 1) ** 2 > _MOST_LATTICE:
        return np.empty((0, 2))
    j, i = (v.ravel() for v in np.mgrid[-rows : rows + 1, -rows : rows + 1])
    grid = np.stack([step * (i + 0.5 * (j % 2)), step * np.sqrt(0.75) * j], axis=1) + step * rng.random(2)
    turn = rng.choice([0.0, np.pi / 6.0, rng.uniform(0.0, np.pi / 3.0)])
    c, s = np.cos(turn), np.sin(turn)
    points = middle + grid @ np.array([[c, s], [-s, c]])
    return np.asarray(points[shapely.contains_xy(area, points[:, 0], points[:, 1])])
