"""Surfaces of shapes and of terrain as triangles, for pictures, exported files and exact body queries.

Vertices are shared only where a surface runs on smoothly: the two faces at a sharp edge have vertices of their own, so
that the mean of the triangles at a vertex is the right normal for shading. Welding equal vertices closes the surface.
"""

from __future__ import annotations

import numpy as np
import shapely

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import WorldError
from gaitway.world.footprint import drawn_geometry
from gaitway.world.shapes import Ball, Prism, Ramp, Shape, Stairs, TriangleMesh
from gaitway.world.terrain import Terrain

Surface = tuple[FloatArray, IntArray]
"""Vertices (V, 3) [m] and triangles (T, 3), anticlockwise seen from outside."""

MAX_TERRAIN_VERTICES = 4_000_000
"""More than any picture or file needs."""
_SMOOTH_TURN = np.cos(np.deg2rad(30.0))
"""Walls that meet at less than this turn are one round wall."""
_BALL_ROWS, _BALL_COLUMNS = 16, 32


def surface(shape: Shape) -> Surface:
    """Return the surface of a shape, closed (but for an open mesh) and facing outward.

    Round things are inscribed: cylinders have 32 sides, balls 32 by 16 facets.
    """
    if isinstance(shape, Stairs):
        return _stairs(shape)
    if isinstance(shape, Ramp):
        return _ramp(shape)
    parts = [_solid(solid) for solid in shape.solids()]
    return join(parts)


def terrain_surface(
    terrain: Terrain | None, bounds: tuple[float, float, float, float], cell: float | None = None
) -> Surface:
    """Return the ground within bounds (xmin, ymin, xmax, ymax) as a sheet that faces up.

    Args:
        terrain: the ground; None is level ground at height 0.
        bounds: bounds of the sheet: xmin, ymin, xmax, ymax [m].
        cell: distance between its vertices [m]; None takes the terrain's own corners and the bounds, so that the sheet
            has the terrain's height at all of them. (Inside a twisted cell two triangles are not quite its surface.)

    Raises:
        WorldError: if that would be more than `MAX_TERRAIN_VERTICES`.
    """
    if cell is not None and not cell > 0.0:
        raise WorldError(f"terrain surface with cell {cell}; write a length above 0 in metres")
    x, y = (_lines(terrain, bounds[axis], bounds[axis + 2], cell, axis) for axis in (0, 1))
    if len(x) * len(y) > MAX_TERRAIN_VERTICES:
        raise WorldError(
            f"terrain surface of {len(x)} by {len(y)} vertices; at most {MAX_TERRAIN_VERTICES} are possible, "
            "so give a larger cell"
        )
    points = np.stack(np.meshgrid(x, y), axis=-1)
    heights = np.zeros(points.shape[:2]) if terrain is None else terrain.height(points)
    vertices = np.concatenate([points, heights[..., None]], axis=-1).reshape(-1, 3)
    corner = np.arange(len(vertices)).reshape(len(y), len(x))
    a, b, c, d = corner[:-1, :-1], corner[:-1, 1:], corner[1:, 1:], corner[1:, :-1]
    return vertices, np.concatenate([np.stack(t, axis=-1).reshape(-1, 3) for t in ((a, b, c), (a, c, d))])


def join(parts: list[Surface]) -> Surface:
    """Return several surfaces as one, each with its own vertices."""
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    vertices = np.concatenate([np.empty((0, 3)), *(v for v, _ in parts)])
    triangles = [t + start for (_, t), start in zip(parts, starts, strict=False)]
    return vertices, np.concatenate([np.empty((0, 3), np.int64), *triangles])


def _lines(terrain: Terrain | None, low: float, high: float, cell: float | None, axis: int) -> FloatArray:
    """Return the coordinates of the vertices along one axis (0 is x)."""
    if cell is not None:
        count = max(int(np.ceil((high - low) / cell)), 1)
        return np.linspace(low, high, min(count, MAX_TERRAIN_VERTICES) + 1)
    if terrain is None:
        return np.array([low, high])
    own = terrain.origin[axis] + terrain.cell * np.arange(terrain.heights.shape[1 - axis])
    return np.unique(np.concatenate([[low], own[(own > low) & (own < high)], [high]]))


def _solid(solid: Prism | Ball | TriangleMesh) -> Surface:
    if isinstance(solid, Prism):
        outline = drawn_geometry(solid.footprint)
        return join([_extruded(p, solid.bottom, solid.top) for p in shapely.get_parts(outline) if p.area > 0.0])
    if isinstance(solid, Ball):
        vertices, triangles = _unit_ball()
        return solid.center + solid.radius * vertices, triangles
    return solid.vertices, solid.triangles


def _extruded(polygon: shapely.Polygon, bottom: float, top: float) -> Surface:
    """Return a polygon's prism along its third axis: two lids and a wall for each ring."""
    polygon = shapely.orient_polygons(polygon)  # so that walls on the right hand of holes, too, are outside
    flat = shapely.get_coordinates(shapely.get_parts(shapely.constrained_delaunay_triangles(polygon)))
    points, index = np.unique(flat.reshape(-1, 4, 2)[:, :3].reshape(-1, 2), axis=0, return_inverse=True)
    lid = index.reshape(-1, 3)
    a, b, c = (points[lid[:, k]] for k in range(3))
    twice = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    lid = np.where((twice < 0.0)[:, None], lid[:, ::-1], lid)
    lids = [(np.column_stack([points, np.full(len(points), z)]), t) for z, t in ((top, lid), (bottom, lid[:, ::-1]))]
    rings = [shapely.get_coordinates(ring)[:-1] for ring in (polygon.exterior, *polygon.interiors)]
    return join([*lids, *(_wall(ring, bottom, top) for ring in rings)])


def _wall(ring: FloatArray, bottom: float, top: float) -> Surface:
    """Return the upright quads along a closed ring (N, 2), whose outside is on the right."""
    count = len(ring)
    along = np.roll(ring, -1, axis=0) - ring
    along = along / np.linalg.norm(along, axis=1, keepdims=True)
    sharp = (along * np.roll(along, 1, axis=0)).sum(axis=1) < _SMOOTH_TURN  # at the start of each quad
    own = np.concatenate([np.arange(count), np.flatnonzero(sharp)])  # a sharp corner has a second column of vertices
    begin = np.arange(count)
    end = np.roll(begin, -1)
    second = np.arange(count)
    second[sharp] = count + np.arange(int(sharp.sum()))
    columns = ring[own]
    low, high = (np.column_stack([columns, np.full(len(columns), z)]) for z in (bottom, top))
    first, last, up = second[begin], end, len(columns)
    quads = np.concatenate(
        [np.stack([first, last, last + up], axis=1), np.stack([first, last + up, first + up], axis=1)]
    )
    return np.concatenate([low, high]), quads


def _stairs(stairs: Stairs) -> Surface:
    """Return the side view of the flight, drawn out over its width: no walls between the steps."""
    edges = -0.5 * stairs.steps * stairs.run + stairs.run * np.arange(stairs.steps + 1)
    heights = stairs.bottom + stairs.rise * np.arange(1, stairs.steps + 1)
    noses = np.column_stack([np.repeat(edges, 2)[1:-1], np.repeat(heights, 2)])
    profile = np.concatenate([[[edges[0], stairs.bottom]], noses, [[edges[-1], stairs.bottom]]])
    vertices, triangles = _extruded(shapely.Polygon(profile), -0.5 * stairs.width, 0.5 * stairs.width)
    x, z, y = vertices.T
    c, s = np.cos(stairs.yaw), np.sin(stairs.yaw)
    placed = np.column_stack([stairs.center[0] + c * x - s * y, stairs.center[1] + s * x + c * y, z])
    return placed, triangles[:, ::-1]  # exchanging two axes mirrors, and turning triangles round mirrors back


def _ramp(ramp: Ramp) -> Surface:
    """Return the faces of a ramp apart from one another, so that its edges are sharp."""
    (mesh,) = ramp.solids()
    assert isinstance(mesh, TriangleMesh)
    return mesh.vertices[mesh.triangles].reshape(-1, 3), np.arange(mesh.triangles.size).reshape(-1, 3)


def _unit_ball() -> Surface:
    around = np.arange(_BALL_COLUMNS) * (2.0 * np.pi / _BALL_COLUMNS)
    tilt = np.arange(1, _BALL_ROWS) * (np.pi / _BALL_ROWS)
    x, y = np.outer(np.sin(tilt), np.cos(around)), np.outer(np.sin(tilt), np.sin(around))
    rings = np.stack([x, y, np.broadcast_to(np.cos(tilt)[:, None], x.shape)], axis=-1).reshape(-1, 3)
    here = np.arange(len(rings)).reshape(_BALL_ROWS - 1, _BALL_COLUMNS)
    beside = np.roll(here, -1, axis=1)
    top, bottom = np.full(_BALL_COLUMNS, len(rings)), np.full(_BALL_COLUMNS, len(rings) + 1)
    a, b, c, d = here[1:].ravel(), beside[1:].ravel(), beside[:-1].ravel(), here[:-1].ravel()
    triangles = [(top, here[0], beside[0]), (a, b, c), (a, c, d), (bottom, beside[-1], here[-1])]
    return np.concatenate([rings, [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]]), np.concatenate(
        [np.stack(t, axis=1) for t in triangles]
    )
