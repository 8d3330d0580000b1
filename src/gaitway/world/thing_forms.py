"""Forms of things: meshes in a thing's own frame, capsules that fill a thing, and its edges.

A thing's own frame has its origin in the middle of the underside of the box around it, and z up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.core.errors import WorldError
from gaitway.world.shapes import Box, Cylinder, Shape, Sphere, TriangleMesh

BOX, CYLINDER, BALL, MESH = "box", "cylinder", "ball", "mesh"
SHAPES = (BOX, CYLINDER, BALL, MESH)
MOST_TRIANGLES = 20_000
"""Most triangles of a thing."""
_MOST_ROWS = 6
"""Most capsules that fill a flat thing."""
_RODS = 25
"""About how many capsules fill a mesh."""
_DENSE = 3.0
"""Points of a surface in the width of a rod."""
_THIN = 0.3
"""Least thickness of a rod, over half its width."""
_EDGE = 0.002
"""Radius of the edges of a box, as capsules [m]."""
_SIDES = 12
"""Edges of the rim of a round thing."""
_FEW = 60
"""Most triangles of a mesh whose edges are looked at, too."""
_PLACES = 5
"""Decimals [m] of corners in a take."""

Capsules = tuple[FloatArray, FloatArray, FloatArray]


def thing_mesh(vertices: npt.ArrayLike, triangles: npt.ArrayLike) -> TriangleMesh:
    """Return triangles moved into the frame of a thing.

    Args:
        vertices: corners, z up [m]; (V, 3).
        triangles: corners, anticlockwise seen from outside; (T, 3).

    Raises:
        WorldError: if they are no surface, or too many.
    """
    points, corners = np.array(vertices, dtype=np.float64), np.array(triangles, dtype=np.int64)
    if points.shape[1:] != (3,) or corners.shape[1:] != (3,) or not len(corners):
        raise WorldError("a mesh needs vertices (V, 3) and triangles (T, 3)")
    if len(corners) > MOST_TRIANGLES:
        raise WorldError(f"a thing of {len(corners)} triangles; at most {MOST_TRIANGLES} are possible")
    if corners.min() < 0 or corners.max() >= len(points) or not np.isfinite(points).all():
        raise WorldError("triangles of a thing name vertices that are not there")
    used, back = np.unique(corners, return_inverse=True)
    points = points[used]
    low, high = points.min(axis=0), points.max(axis=0)
    points = np.round(points - [0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), low[2]], _PLACES)
    shape = import_module("gaitway.world.meshes").MeshShape.of(points, back.reshape(-1, 3))
    (solid,) = shape.solids()
    return TriangleMesh(read_only(solid.vertices), read_only(np.array(solid.triangles)), solid.closed)


def hull_mesh(points: npt.ArrayLike) -> TriangleMesh:
    """Return the convex hull of points (N, 3) [m], moved into the frame of a thing.

    Raises:
        WorldError: if they are in one plane.
    """
    at = np.array(points, dtype=np.float64)
    try:
        hull = scipy.spatial.ConvexHull(at)
    except (scipy.spatial.QhullError, ValueError):
        raise WorldError("a hull needs four points that are not in one plane") from None
    triangles, middle = np.array(hull.simplices, dtype=np.int64), at[hull.vertices].mean(axis=0)
    a, b, c = (at[triangles[:, k]] for k in range(3))
    inward = (np.cross(b - a, c - a) * (a - middle)).sum(axis=1) < 0.0
    triangles[inward] = triangles[inward, ::-1]
    return thing_mesh(at, triangles)


def mesh_size(mesh: TriangleMesh) -> tuple[float, float, float]:
    """Return length, width and height of the box around a mesh [m]."""
    length, width, height = np.ptp(mesh.vertices, axis=0).tolist()
    return length, width, height


def mesh_facts(mesh: TriangleMesh) -> dict[str, Any]:
    """Return a mesh as plain JSON values."""
    return {"vertices": np.round(mesh.vertices, _PLACES).tolist(), "triangles": mesh.triangles.tolist()}


def mesh_told(row: dict[str, Any]) -> TriangleMesh:
    """Return the mesh of `mesh_facts`."""
    vertices = np.array(row["vertices"], dtype=np.float64).reshape(-1, 3)
    triangles = np.array(row["triangles"], dtype=np.int64).reshape(-1, 3)
    return _kept(vertices.tobytes(), triangles.tobytes())


@lru_cache(maxsize=64)
def _kept(vertices: bytes, triangles: bytes) -> TriangleMesh:
    return thing_mesh(np.frombuffer(vertices).reshape(-1, 3), np.frombuffer(triangles, dtype=np.int64).reshape(-1, 3))


def solid_form(form: str, size: Sequence[float], mesh: TriangleMesh | None = None) -> Shape:
    """Return a thing at the origin as a shape of a world."""
    length, width, height = size
    if mesh is not None:
        return _mesh_shape(mesh)
    if form == CYLINDER:
        return Cylinder((0.0, 0.0), 0.5 * length, height)
    return Sphere((0.0, 0.0), 0.5 * length) if form == BALL else Box((0.0, 0.0), (length, width), height)


@lru_cache(maxsize=64)
def _mesh_shape(mesh: TriangleMesh) -> Shape:
    shape: Shape = import_module("gaitway.world.meshes").MeshShape.of(mesh.vertices, mesh.triangles)
    return shape


def thing_capsules(form: str, size: Sequence[float], mesh: TriangleMesh | None = None) -> Capsules:
    """Return capsules that fill a thing, in its own frame: starts (N, 3), ends (N, 3) and radii (N,) [m].

    Args:
        form: one of `SHAPES`.
        size: length, width and height [m].
        mesh: the triangles of a mesh.
    """
    if mesh is not None:
        return _rods(mesh)
    length, width, height = size
    if form == BALL:
        ends = np.array([[0.0, 0.0, 0.5 * height - 1e-3], [0.0, 0.0, 0.5 * height + 1e-3]])
        return ends[:1], ends[1:], np.array([0.5 * height])
    if form == CYLINDER and height >= width:
        radius = 0.5 * width
        ends = np.array([[0.0, 0.0, radius - 1e-4], [0.0, 0.0, height - radius + 1e-4]])
        return ends[:1], ends[1:], np.array([radius])
    order = np.argsort(np.round([-length, -width, -height], 9), kind="stable")
    longest, middle, least = (int(k) for k in order)
    sizes, centre = np.array(size), np.array([0.0, 0.0, 0.5 * height])
    radius = 0.5 * float(sizes[least])
    count = min(max(math.ceil(sizes[middle] / sizes[least]), 1), _MOST_ROWS)
    starts, ends = np.tile(centre, (count, 1)), np.tile(centre, (count, 1))
    aside = np.linspace(-1.0, 1.0, count) * (0.5 * sizes[middle] - radius) if count > 1 else np.zeros(1)
    half = np.full(count, max(0.5 * float(sizes[longest]) - radius, 1e-3))
    if form == CYLINDER:  # a disc: chords
        half = np.maximum(np.sqrt(np.maximum((0.5 * width - radius) ** 2 - aside**2, 0.0)), 1e-3)
    starts[:, middle] += aside
    ends[:, middle] += aside
    starts[:, longest] -= half
    ends[:, longest] += half
    radii = np.full(count, radius)
    if form == BOX:  # round capsules leave its corners out
        thin = min(_EDGE, 0.25 * float(sizes[least]))
        edges = thing_edges(form, (length - 2.0 * thin, width - 2.0 * thin, height - 2.0 * thin))
        edges += np.array([0.0, 0.0, thin])
        starts, ends = np.concatenate([starts, edges[:, 0]]), np.concatenate([ends, edges[:, 1]])
        radii = np.append(radii, np.full(len(edges), thin))
    return starts, ends, radii


def thing_edges(form: str, size: Sequence[float], mesh: TriangleMesh | None = None) -> FloatArray:
    """Return the edges of a thing in its own frame [m]; (E, 2, 3). Meshes of many triangles have none."""
    length, width, height = size
    if mesh is not None:
        if len(mesh.triangles) > _FEW:
            return np.empty((0, 2, 3))
        pairs = np.concatenate([mesh.triangles[:, [k, (k + 1) % 3]] for k in range(3)])
        return np.asarray(mesh.vertices[np.unique(np.sort(pairs, axis=1), axis=0)])
    if form == BALL:
        return np.empty((0, 2, 3))
    if form == CYLINDER:
        angles = math.tau * np.arange(_SIDES) / _SIDES
        rim = 0.5 * length * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    else:
        rim = 0.5 * np.array([[length, width], [-length, width], [-length, -width], [length, -width]])
    low, high = (np.column_stack([rim, np.full(len(rim), z)]) for z in (0.0, height))
    rings = [(some, np.roll(some, -1, axis=0)) for some in (low, high)]
    return np.concatenate([np.stack(pair, axis=1) for pair in (*rings, (low, high))])


def surface_grid(mesh: TriangleMesh, apart: float) -> FloatArray:
    """Return points all over a mesh, at most about so far apart [m]; (N, 3)."""
    corners = mesh.vertices[mesh.triangles]
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    parts = np.clip(np.ceil(sides / apart), 1, 60).astype(np.int64)
    found = [mesh.vertices]
    for count in np.unique(parts).tolist():
        shares = np.array([(i, j, count - i - j) for i in range(count + 1) for j in range(count + 1 - i)]) / count
        found.append(np.einsum("sk,tkd->tsd", shares, corners[parts == count]).reshape(-1, 3))
    return np.unique(np.round(np.concatenate(found), 6), axis=0)


@lru_cache(maxsize=64)
def _rods(mesh: TriangleMesh) -> Capsules:
    """Return rods along the length of a mesh that fill it, hollows included; their edges, too, where these are few."""
    size = np.maximum(np.ptp(mesh.vertices, axis=0), 1e-3)
    longest, *others = np.argsort(-np.round(size, 6), kind="stable").tolist()
    cell = max(math.sqrt(float(size[others].prod()) / _RODS), 2e-3)
    counts = np.maximum(np.round(size[others] / cell), 1.0).astype(np.int64)
    wide = size[others] / counts
    points = surface_grid(mesh, cell / _DENSE)
    low = mesh.vertices.min(axis=0)
    cells = np.clip(((points[:, others] - low[others]) / wide).astype(np.int64), 0, counts - 1)
    index: IntArray = cells[:, 0] * counts[1] + cells[:, 1]
    starts, ends, radii = [], [], []
    for number in np.unique(index).tolist():
        inside = points[index == number]
        least, most = inside.min(axis=0), inside.max(axis=0)
        half = 0.5 * float((most - least)[others].min())
        radius = float(np.clip(half, _THIN * 0.5 * wide.min(), 0.5 * wide.min()))
        start, end = 0.5 * (least + most), 0.5 * (least + most)
        reach = max(0.5 * float(most[longest] - least[longest]) - radius, 1e-4)
        start[longest] -= reach
        end[longest] += reach
        starts.append(start)
        ends.append(end)
        radii.append(radius)
    edges = thing_edges(MESH, size.tolist(), mesh)
    begin, stop = np.concatenate([starts, edges[:, 0]]), np.concatenate([ends, edges[:, 1]])
    return read_only(begin), read_only(stop), read_only(np.append(radii, np.full(len(edges), 1e-3)))
