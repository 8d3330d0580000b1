"""What stands on what: shapes on terrain, and people on shapes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import shapely

from gaitway.core.arrays import FloatArray
from gaitway.world.footprint import core_geometry
from gaitway.world.shapes import Ball, Box, Cylinder, Polygon, Prism, Shape, Solid, TriangleMesh
from gaitway.world.terrain import Terrain

_TRIANGLES_AT_ONCE = 4_000_000
"""Pairs of triangle and point that are compared in one go; bounds the memory taken."""


def stood_on(shape: Shape, terrain: Terrain | None) -> Shape:
    """Return a shape described on level ground at 0, set onto terrain.

    All of it is raised by the ground's height at its centre. What begins at the ground (or below) is drawn down to the
    lowest ground under it as well, so that no gap shows downhill; what hangs above it keeps its underside.
    """
    if terrain is None:
        return shape
    whole = shape.footprint()
    x0, y0, x1, y1 = whole.bounds
    at = float(terrain.height(getattr(shape, "center", (0.5 * (x0 + x1), 0.5 * (y0 + y1)))))
    raised = shape.raised(at)
    if shape.heights[0] > 0.0:
        return raised
    return drawn_down(raised, min(terrain.extremes(whole)[0], raised.heights[0]))


def drawn_down(shape: Shape, bottom: float) -> Shape:
    """Return an upright shape with the same top and an underside at most at `bottom` [m]; other shapes unchanged."""
    if not isinstance(shape, Box | Cylinder | Polygon) or shape.bottom <= bottom:
        return shape
    return replace(shape, bottom=bottom, height=shape.heights[1] - bottom)


def top(shape: Shape, points: FloatArray, near: FloatArray | None = None) -> FloatArray:
    """Return the height of a shape's upper side [m] (N,) at points (N, 2); -inf where it is not.

    Of several upper sides above one another, as meshes have, the highest counts, or the nearest to heights (N,) [m].
    """
    own = shape.upper_side(points, near)
    if own is not None:
        return own
    tops = [_top(solid, points) for solid in shape.solids()]
    return np.asarray(np.max([np.full(len(points), -np.inf), *tops], axis=0))


def _top(solid: Solid, points: FloatArray) -> FloatArray:
    if isinstance(solid, Prism):
        x0, y0, x1, y1 = solid.footprint.bounds
        out = np.full(len(points), -np.inf)
        near = np.flatnonzero(((points >= (x0, y0)) & (points <= (x1, y1))).all(axis=1))
        if len(near):
            core, radius = core_geometry(solid.footprint), solid.footprint.radius
            out[near[shapely.dwithin(core, shapely.points(points[near]), radius)]] = solid.top
        return out
    if isinstance(solid, Ball):
        rest = solid.radius**2 - ((points - solid.center[:2]) ** 2).sum(axis=1)
        return np.where(rest >= 0.0, solid.center[2] + np.sqrt(np.maximum(rest, 0.0)), -np.inf)
    return _mesh_top(solid, points)


def _mesh_top(mesh: TriangleMesh, points: FloatArray) -> FloatArray:
    """Return the highest triangle over each point, by barycentric coordinates in plan."""
    corners = mesh.vertices[mesh.triangles]
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    twice = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    flat = np.abs(twice) > 1e-12  # upright ones are seen from above as lines, whose ends others share
    a, b, c, twice = a[flat], b[flat], c[flat], twice[flat]
    out = np.full(len(points), -np.inf)
    step = max(1, _TRIANGLES_AT_ONCE // max(len(a), 1))
    for start in range(0, len(points) if len(a) else 0, step):
        p = points[start : start + step, None]
        v = ((p[..., 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (p[..., 1] - a[:, 1]) * (c[:, 0] - a[:, 0])) / twice
        w = ((b[:, 0] - a[:, 0]) * (p[..., 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (p[..., 0] - a[:, 0])) / twice
        inside = (v >= -1e-9) & (w >= -1e-9) & (v + w <= 1.0 + 1e-9)
        z = a[:, 2] + v * (b[:, 2] - a[:, 2]) + w * (c[:, 2] - a[:, 2])
        out[start : start + step] = np.where(inside, z, -np.inf).max(axis=1)
    return out
