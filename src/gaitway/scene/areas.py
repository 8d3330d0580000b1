"""Points in areas of a scene: drawn at random, spread over a lattice, or spaced on a ring."""

from __future__ import annotations

import math

import numpy as np
import shapely

from gaitway.arrays import BoolArray, FloatArray
from gaitway.scene.model import AreaItem, CircleItem

Bounds = tuple[float, float, float, float]


def ring_points(ring: CircleItem, count: int) -> FloatArray:
    """Points (count, 2) evenly on a circle, the first at its +x end, counter-clockwise."""
    angle = 2.0 * np.pi * np.arange(count) / count
    return np.asarray(ring.center) + ring.radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def area_box(area: AreaItem) -> Bounds:
    """xmin, ymin, xmax, ymax [m] of an area."""
    if area.rectangle is not None:
        x0, y0, x1, y1 = area.rectangle
        return x0, y0, x1, y1
    if area.polygon is not None:
        corners = np.asarray(area.polygon)
        (x0, y0), (x1, y1) = corners.min(axis=0), corners.max(axis=0)
        return float(x0), float(y0), float(x1), float(y1)
    circle = area.circle or area.ring
    assert circle is not None
    (x, y), r = circle.center, circle.radius
    return x - r, y - r, x + r, y + r


def within_area(area: AreaItem, points: FloatArray) -> BoolArray:
    """Which of some points (N, 2) lie in an area; (N,)."""
    if area.circle is not None:
        off = points - np.asarray(area.circle.center)
        return np.asarray(np.hypot(off[:, 0], off[:, 1]) <= area.circle.radius)
    if area.polygon is not None:
        return np.asarray(shapely.contains_xy(shapely.Polygon(area.polygon), points[:, 0], points[:, 1]))
    return np.ones(len(points), dtype=np.bool_)


def shared_box(area: AreaItem, bounds: Bounds, margin: float) -> Bounds | None:
    """The part of an area's box that is inside bounds by a margin [m]; None if there is none."""
    a, b = area_box(area), bounds
    x0, y0 = max(a[0], b[0] + margin), max(a[1], b[1] + margin)
    x1, y1 = min(a[2], b[2] - margin), min(a[3], b[3] - margin)
    return (x0, y0, x1, y1) if x0 <= x1 and y0 <= y1 else None


def random_points(box: Bounds, count: int, rng: np.random.Generator) -> FloatArray:
    """Points (count, 2) anywhere in a box."""
    return rng.uniform((box[0], box[1]), (box[2], box[3]), (count, 2))


def lattice_points(box: Bounds, spacing: float, rng: np.random.Generator) -> FloatArray:
    """Points (N, 2) of a lattice of triangles, the densest way to place equal discs, in an order drawn at random."""
    row = spacing * math.sqrt(0.75)
    y = np.arange(box[1], box[3] + 1e-12, row)
    x = np.arange(box[0], box[2] + 1e-12, spacing)
    grid_x, grid_y = np.meshgrid(x, y)
    grid_x[1::2] += 0.5 * spacing
    points = np.stack([grid_x.ravel(), grid_y.ravel()], axis=-1)
    points = points[points[:, 0] <= box[2]]
    return points[rng.permutation(len(points))]
