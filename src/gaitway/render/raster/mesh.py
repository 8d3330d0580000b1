"""Closed triangle meshes made from rings of points, and boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class SurfaceMesh:
    """Triangles, anticlockwise seen from outside."""

    points: FloatArray
    """Vertices [m]; (V, 3)."""
    normals: FloatArray
    """Unit vectors outward; (V, 3)."""
    triangles: IntArray
    """Vertex indices; (T, 3)."""


def join(meshes: Sequence[SurfaceMesh]) -> SurfaceMesh:
    """Join several meshes."""
    if not meshes:
        return SurfaceMesh(np.empty((0, 3)), np.empty((0, 3)), np.empty((0, 3), np.int64))
    starts = np.cumsum([0, *(len(m.points) for m in meshes[:-1])])
    return SurfaceMesh(
        np.concatenate([m.points for m in meshes]),
        np.concatenate([m.normals for m in meshes]),
        np.concatenate([m.triangles + s for m, s in zip(meshes, starts, strict=True)]),
    )


def loft(rings: FloatArray, start: npt.ArrayLike, end: npt.ArrayLike) -> SurfaceMesh:
    """Build a closed skin over rings of points, drawn to a point at both ends.

    Args:
        rings: points of the rings [m]; (R, K, 3); each ring runs anticlockwise seen from the end.
        start: the point before the first ring.
        end: the point after the last ring.

    Returns:
        Vertices in the order rings (row by row), start, end; normals are smooth.
    """
    rows, around, _ = rings.shape
    points = np.concatenate([rings.reshape(-1, 3), np.atleast_2d(start), np.atleast_2d(end)])
    here = np.arange(rows * around).reshape(rows, around)
    beside = np.roll(here, -1, axis=1)
    a, b, c, d = here[:-1].ravel(), beside[:-1].ravel(), beside[1:].ravel(), here[1:].ravel()
    first, last = np.full(around, rows * around), np.full(around, rows * around + 1)
    triangles = np.concatenate(
        [
            np.stack([a, b, c], axis=1),
            np.stack([a, c, d], axis=1),
            np.stack([first, beside[0], here[0]], axis=1),
            np.stack([last, here[-1], beside[-1]], axis=1),
        ]
    )
    return SurfaceMesh(points, smooth_normals(points, triangles), triangles)


def smooth_normals(points: FloatArray, triangles: IntArray) -> FloatArray:
    """Return normals (V, 3) averaged over the triangles at each vertex, by their area."""
    corners = points[triangles]
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    total = np.zeros_like(points)
    for k in range(3):
        np.add.at(total, triangles[:, k], flat)
    unit: FloatArray = total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-12)
    return unit


def round_rod(
    start: npt.ArrayLike,
    end: npt.ArrayLike,
    stations: Sequence[tuple[float, float, float]],
    side: npt.ArrayLike,
    around: int = 14,
    cap_rows: int = 4,
) -> SurfaceMesh:
    """Build a limb: elliptical cross-sections along a line, with rounded ends beyond both points.

    Args:
        start: first point [m].
        end: last point [m].
        stations: cross-sections in order: share of the line 0..1, half width along `side`, half width across it.
        side: direction of the first half width.
        around: points in a ring.
        cap_rows: rings in each rounded end.
    """
    origin, line = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64) - np.asarray(start)
    length = float(np.linalg.norm(line))
    along = line / length if length > 1e-9 else np.array([0.0, 0.0, 1.0])
    wide = np.asarray(side, dtype=np.float64) - along * np.dot(side, along)
    if np.linalg.norm(wide) < 1e-6:
        wide = np.cross(along, [0.0, 0.0, 1.0] if abs(along[2]) < 0.9 else [1.0, 0.0, 0.0])
    wide = wide / np.linalg.norm(wide)
    deep = np.cross(along, wide)
    way, u, v = np.array(stations, dtype=np.float64).T
    # quarter ellipses close the ends; the mean half width says how far they reach
    angle = np.linspace(0.0, 0.5 * np.pi, cap_rows + 1)[1:]
    shrink, reach = np.cos(angle[:-1]), np.sin(angle)
    cap_in, cap_out = 0.5 * (u[0] + v[0]), 0.5 * (u[-1] + v[-1])
    place = np.concatenate([-cap_in * reach[-2::-1], way * length, length + cap_out * reach[:-1]])
    u = np.concatenate([u[0] * shrink[::-1], u, u[-1] * shrink])
    v = np.concatenate([v[0] * shrink[::-1], v, v[-1] * shrink])
    turn = np.linspace(0.0, 2.0 * np.pi, around, endpoint=False)
    rings = (
        (origin + place[:, None] * along)[:, None]
        + (u[:, None] * np.cos(turn))[..., None] * wide
        + (v[:, None] * np.sin(turn))[..., None] * deep
    )
    return loft(rings, origin - cap_in * along, origin + (length + cap_out) * along)


def box(center: npt.ArrayLike, axes: npt.ArrayLike, half: npt.ArrayLike) -> SurfaceMesh:
    """Build a box with flat faces.

    Args:
        center: centre of the box [m]; (3,).
        axes: rows are the unit directions of its edges, right-handed; (3, 3).
        half: half its length along each axis [m]; (3,).
    """
    middle, frame = np.asarray(center, dtype=np.float64), np.asarray(axes, dtype=np.float64)
    edges = frame * np.asarray(half, dtype=np.float64)[:, None]
    points: list[FloatArray] = []
    normals: list[FloatArray] = []
    triangles: list[tuple[int, int, int]] = []
    for k in range(3):
        for sign in (1.0, -1.0):
            out, a, b = sign * edges[k], edges[(k + 1) % 3], sign * edges[(k + 2) % 3]
            start = len(points) * 4
            points.append(np.stack([out - a - b, out + a - b, out + a + b, out - a + b]) + middle)
            normals.append(np.tile(sign * frame[k], (4, 1)))
            triangles += [(start, start + 1, start + 2), (start, start + 2, start + 3)]
    return SurfaceMesh(np.concatenate(points), np.concatenate(normals), np.array(triangles))
