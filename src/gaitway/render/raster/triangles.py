"""The triangles of a picture in one set of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray
from gaitway.render.raster._kernels import Flags, Index, Single
from gaitway.render.raster.colors import linear_color
from gaitway.render.raster.drawables import Paint, Solid

_PAINT_HEIGHT = 0.002
"""Height of the first layer of paint above the floor [m]; each further layer lies a hundredth of it higher."""


@dataclass(frozen=True, eq=False)
class Triangles:
    """Everything that is drawn; the arrays fit the kernels as they are."""

    points: FloatArray
    """Vertices [m]; (V, 3)."""
    normals: FloatArray
    """Unit normals; (V, 3)."""
    colors: Single
    """Linear RGB and opacity; (V, 4)."""
    corners: Index
    """Vertex indices, anticlockwise seen from outside; (T, 3)."""
    painted: Flags
    """1 where a triangle is paint on the floor; (T,)."""
    groups: Index
    """Triangles of one smooth surface share a number: within a pixel they are shaded once; (T,)."""


def gather(figures: Sequence[Triangles], obstacles: Sequence[Solid], paint: Sequence[Paint]) -> Triangles:
    """Join the triangles of figures, obstacles and paint, in this order."""
    parts = [*figures, *(solid_part(o) for o in obstacles), *paint_parts(paint)]
    if not parts:
        parts = [part(np.empty((0, 3)), np.empty((0, 3)), np.empty((0, 4)), np.empty((0, 3)), np.empty(0))]
    starts = np.cumsum([0, *(len(p.points) for p in parts[:-1])])
    first_groups = np.cumsum([0, *(int(p.groups.max(initial=-1)) + 1 for p in parts[:-1])])
    return Triangles(
        np.concatenate([p.points for p in parts]),
        np.concatenate([p.normals for p in parts]),
        np.concatenate([p.colors for p in parts]),
        np.concatenate([p.corners + np.int32(s) for p, s in zip(parts, starts, strict=True)]),
        np.concatenate([p.painted for p in parts]),
        np.concatenate([p.groups + np.int32(g) for p, g in zip(parts, first_groups, strict=True)]),
    )


def solid_triangles(triangles: Triangles) -> tuple[FloatArray, Index]:
    """Return the points and triangles that cast shadows: all but paint, which comes last."""
    corners = triangles.corners[triangles.painted == 0]
    return triangles.points[: int(corners.max(initial=-1)) + 1], np.ascontiguousarray(corners)


def part(
    points: npt.ArrayLike,
    normals: npt.ArrayLike,
    colors: npt.ArrayLike,
    corners: npt.ArrayLike,
    groups: npt.ArrayLike,
    painted: bool = False,
) -> Triangles:
    """Return triangles whose arrays have the types that the kernels take."""
    return Triangles(
        np.ascontiguousarray(points, dtype=np.float64),
        np.ascontiguousarray(normals, dtype=np.float64),
        np.ascontiguousarray(colors, dtype=np.float32),
        np.ascontiguousarray(corners, dtype=np.int32),
        np.full(len(np.asarray(corners)), painted, dtype=np.uint8),
        np.ascontiguousarray(groups, dtype=np.int32),
    )


def solid_part(solid: Solid) -> Triangles:
    """Return the triangles of a solid."""
    mesh, count = solid.mesh, len(solid.mesh.triangles)
    colors = np.column_stack([solid.colors(), np.ones(len(mesh.points))])
    groups = np.zeros(count) if solid.smooth else np.arange(count)
    return part(mesh.points, mesh.normals, colors, mesh.triangles, groups)


def paint_parts(paint: Sequence[Paint], first_layer: int = 0) -> list[Triangles]:
    """Return the triangles of paint on the floor; later items lie on top, and all of them on `first_layer` others."""
    parts = []
    for layer, item in enumerate(paint, first_layer):
        corners, fans = item.surface()
        count = len(corners)
        points = np.column_stack([corners, np.full(count, _PAINT_HEIGHT * (1.0 + 0.01 * layer))])
        colors = np.tile([*linear_color(item.color), item.opacity], (count, 1))
        parts.append(
            part(points, np.tile([0.0, 0.0, 1.0], (count, 1)), colors, fans, np.zeros(len(fans)), painted=True)
        )
    return parts


def clip_near(triangles: Triangles, eye: FloatArray, sight: FloatArray, near: float) -> Triangles:
    """Cut off all parts of triangles that lie nearer than a depth [m]; nothing is copied where none does."""
    depth = (triangles.points - eye) @ sight
    inside = depth[triangles.corners] >= near
    if inside.all():
        return triangles
    whole = inside.all(axis=1)
    points, normals = list[FloatArray](), list[FloatArray]()
    colors, corners, cut_from = list[Single](), list[tuple[int, int, int]](), list[int]()
    start = len(triangles.points)
    for t in np.flatnonzero(inside.any(axis=1) & ~whole):
        cut = []
        for k in range(3):
            a, b = triangles.corners[t, k], triangles.corners[t, (k + 1) % 3]
            if depth[a] >= near:
                cut.append((a, a, 0.0))
            if (depth[a] >= near) != (depth[b] >= near):
                cut.append((a, b, (near - depth[a]) / (depth[b] - depth[a])))
        first = start + len(points)
        for a, b, share in cut:
            points.append(triangles.points[a] + share * (triangles.points[b] - triangles.points[a]))
            normals.append(triangles.normals[a] + share * (triangles.normals[b] - triangles.normals[a]))
            colors.append(triangles.colors[a] + share * (triangles.colors[b] - triangles.colors[a]))
        for k in range(1, len(cut) - 1):
            corners.append((first, first + k, first + k + 1))
            cut_from.append(int(t))
    return Triangles(
        np.concatenate([triangles.points, np.array(points).reshape(-1, 3)]),
        np.concatenate([triangles.normals, np.array(normals).reshape(-1, 3)]),
        np.concatenate([triangles.colors, np.array(colors, dtype=np.float32).reshape(-1, 4)]),
        np.concatenate([triangles.corners[whole], np.array(corners, dtype=np.int32).reshape(-1, 3)]),
        np.concatenate([triangles.painted[whole], triangles.painted[cut_from]]),
        np.concatenate([triangles.groups[whole], triangles.groups[cut_from]]),
    )
