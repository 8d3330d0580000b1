"""All triangles of a picture in one set of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray
from gaitway.render.bodies.body import body_mesh
from gaitway.render.bodies.cast_bodies import built_in_shape
from gaitway.render.bodies.palette import linear_color
from gaitway.render.bodies.pieces import BodyMesh
from gaitway.render.raster import _kernels
from gaitway.render.raster._kernels import Flags, Index, Single
from gaitway.render.raster.camera import Camera
from gaitway.render.raster.things import Figure, Paint, Solid

_PAINT_HEIGHT = 0.002
"""Paint lies this far above the floor [m], and each further layer as much again as a hundredth of it."""

_SMALL = 240
"""Pixels from head to foot under which a figure's body is coarse."""


@dataclass(frozen=True, eq=False)
class Triangles:
    """Everything that is drawn; the arrays fit the kernels as they are."""

    points: FloatArray
    normals: FloatArray
    colors: Single
    """Linear RGB and opacity; (V, 4)."""
    corners: Index
    """(T, 3)."""
    painted: Flags
    """1 where a triangle is paint on the floor; (T,)."""
    groups: Index
    """Triangles of one smooth surface share a number: within a pixel they are shaded once; (T,)."""


def gather(
    figures: Sequence[Figure], obstacles: Sequence[Solid], paint: Sequence[Paint], camera: Camera, height: int
) -> Triangles:
    """The triangles of all things; figures that are small in a picture of `height` pixels get coarse bodies."""
    parts = [*_figure_parts(figures, camera, height), *(_solid_part(o) for o in obstacles), *_paint_parts(paint)]
    if not parts:
        parts = [_part(np.empty((0, 3)), np.empty((0, 3)), np.empty((0, 4)), np.empty((0, 3)), np.empty(0))]
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


def solid(triangles: Triangles) -> tuple[FloatArray, Index]:
    """The points and triangles that cast shadows: all but paint, which comes last."""
    corners = triangles.corners[triangles.painted == 0]
    return triangles.points[: int(corners.max(initial=-1)) + 1], np.ascontiguousarray(corners)


def _part(
    points: npt.ArrayLike,
    normals: npt.ArrayLike,
    colors: npt.ArrayLike,
    corners: npt.ArrayLike,
    groups: npt.ArrayLike,
    painted: bool = False,
) -> Triangles:
    return Triangles(
        np.ascontiguousarray(points, dtype=np.float64),
        np.ascontiguousarray(normals, dtype=np.float64),
        np.ascontiguousarray(colors, dtype=np.float32),
        np.ascontiguousarray(corners, dtype=np.int32),
        np.full(len(np.asarray(corners)), painted, dtype=np.uint8),
        np.ascontiguousarray(groups, dtype=np.int32),
    )


def _figure_parts(figures: Sequence[Figure], camera: Camera, height: int) -> list[Triangles]:
    """One part for all figures that share a body: their vertices are moved in one call."""
    groups: dict[int, tuple[BodyMesh, list[Figure]]] = {}
    for figure in figures:
        shape = built_in_shape(figure.skeleton) if figure.body is None else figure.body
        body = body_mesh(figure.skeleton, shape, coarse=_is_small(figure, camera, height))
        groups.setdefault(id(body), (body, []))[1].append(figure)
    return [_skinned(body, members) for body, members in groups.values()]


def _is_small(figure: Figure, camera: Camera, height: int) -> bool:
    """Whether a figure is so small in the picture that nobody sees its corners."""
    scale = camera.scale(height)
    if camera.span is None:
        depth = float((figure.positions[0] - camera.eye) @ camera.axes[2])
        scale = scale / max(depth, 0.1)
    reach = float(np.ptp(figure.positions, axis=0).max())
    return scale * reach < _SMALL


def _skinned(body: BodyMesh, figures: list[Figure]) -> Triangles:
    count, vertices = len(figures), len(body.points)
    points, normals = np.empty((count, vertices, 3)), np.empty((count, vertices, 3))
    _kernels.skin(
        np.stack([f.positions for f in figures]),
        np.stack([f.rotations for f in figures]),
        body.rest_positions,
        body.rest_turns,
        body.joints,
        body.weights,
        body.points,
        body.normals,
        points,
        normals,
    )
    colors = np.ones((count, vertices, 4), dtype=np.float32)
    for i, figure in enumerate(figures):
        colors[i, :, :3] = np.concatenate([figure.colors, body.own_colors])[body.tones]
    starts = np.arange(count, dtype=np.int32)[:, None, None] * np.int32(vertices)
    corners = (body.triangles + starts).reshape(-1, 3)
    pieces = int(body.groups.max()) + 1
    groups = (body.groups + np.arange(count, dtype=np.int32)[:, None] * np.int32(pieces)).ravel()
    return _part(points.reshape(-1, 3), normals.reshape(-1, 3), colors.reshape(-1, 4), corners, groups)


def _solid_part(solid: Solid) -> Triangles:
    mesh, count = solid.mesh, len(solid.mesh.triangles)
    colors = np.column_stack([solid.colors(), np.ones(len(mesh.points))])
    groups = np.zeros(count) if solid.smooth else np.arange(count)
    return _part(mesh.points, mesh.normals, colors, mesh.triangles, groups)


def _paint_parts(paint: Sequence[Paint]) -> list[Triangles]:
    parts = []
    for layer, item in enumerate(paint):
        corners, fans = item.surface()
        count = len(corners)
        points = np.column_stack([corners, np.full(count, _PAINT_HEIGHT * (1.0 + 0.01 * layer))])
        colors = np.tile([*linear_color(item.color), item.opacity], (count, 1))
        parts.append(
            _part(points, np.tile([0.0, 0.0, 1.0], (count, 1)), colors, fans, np.zeros(len(fans)), painted=True)
        )
    return parts


def clip_near(triangles: Triangles, eye: FloatArray, sight: FloatArray, near: float) -> Triangles:
    """The same triangles with what lies nearer than a depth [m] cut off; nothing is copied if nothing does."""
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
