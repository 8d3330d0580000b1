"""Meshes as shapes: any triangles, given or read from files."""

from __future__ import annotations

import io
import json
import struct
import warnings
from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt
import trimesh

from gaitway.core import planar
from gaitway.core.arrays import FloatArray, IntArray, owned
from gaitway.core.errors import FormatError, WorldError
from gaitway.core.files import read_file
from gaitway.world.footprint import Footprint
from gaitway.world.shapes import Shape, Solid, TriangleMesh
from gaitway.world.slicing import plan_of
from gaitway.world.upper_sides import UpperSides

MAX_FILE_BYTES = 256 * 2**20
"""Largest mesh file that is read [bytes]."""
MAX_TRIANGLES = 2_000_000
"""Most triangles of one mesh."""
MAX_COORDINATE = 1e6
"""Largest coordinate [m]; beyond it a file is garbage."""
UP_AXES = {".glb": "y", ".gltf": "y", ".obj": "y", ".stl": "z", ".ply": "z"}
"""Endings that are read, and which axis points up in such files unless told."""
_SMALLEST_PLACE, _HIGHEST_PLACE = 1.0, 1000.0
"""Least width and greatest height of a place that people walk in [m]."""
_FLAT, _FLOORS, _STRAIGHT = 0.6, 1.5, 0.98
"""A mesh lies on its side if it is this much flatter along another axis, and if this many times as much of it faces
along that one; triangles count whose normals are along an axis up to that cosine."""
_KEPT_SLICES = 64
_WELD = 5
"""Decimals [m] to which corners are rounded where a mesh is not closed otherwise."""


class Model:
    """Triangles in their own frame, and results derived from them; shared by all placed copies."""

    def __init__(self, vertices: FloatArray, triangles: IntArray, *, rooms: bool = False) -> None:
        """Take triangles.

        Args:
            vertices: vertices [m]; (V, 3).
            triangles: corners, anticlockwise seen from outside; (T, 3).
            rooms: whether triangles that enclose a space from within are a room, and no solid that is inside out.
        """
        self.vertices, self.triangles = vertices, triangles
        self.closed, self.oriented, self._corners = _topology(vertices, triangles)
        if self.closed and self.oriented and _volume(self._corners) < 0.0:  # inside out
            if rooms:
                self.closed = False
            else:
                self.triangles, self._corners = triangles[:, ::-1], self._corners[:, ::-1]
        self.heights = float(vertices[:, 2].min()), float(vertices[:, 2].max())
        self._slices: OrderedDict[tuple[float, float], Footprint] = OrderedDict()

    def footprint(self, low: float, high: float) -> Footprint:
        """Return the plan of the part between two heights [m]; recent results are kept."""
        key = (low if low >= self.heights[0] else -np.inf, high if high <= self.heights[1] else np.inf)
        found = self._slices.pop(key, None)
        if found is None:
            found = plan_of(self._corners, *key, self.closed, self.oriented)
        self._slices[key] = found
        if len(self._slices) > _KEPT_SLICES:
            self._slices.popitem(last=False)
        return found

    @cached_property
    def upper(self) -> UpperSides:
        """Its triangles whose upper side may be stood on, by their place in the plan."""
        corners = self.vertices[self.triangles]
        flat = corners[..., :2]
        edges = flat[:, 1:] - flat[:, :1]
        twice = edges[:, 0, 0] * edges[:, 1, 1] - edges[:, 0, 1] * edges[:, 1, 0]
        faces = twice > 1e-12 if self.closed and self.oriented else np.abs(twice) > 1e-12
        return UpperSides.of(corners[faces])


@dataclass(frozen=True, eq=False)
class MeshShape(Shape):
    """A placed mesh. A closed mesh is solid; an open one is a thin sheet."""

    model: Model
    pose: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Planar pose (x, y, heading) of the model."""
    lift: float = 0.0
    """Height by which the model is raised [m]."""

    @staticmethod
    def of(vertices: npt.ArrayLike, triangles: npt.ArrayLike, *, rooms: bool = False) -> MeshShape:
        """Build a mesh from arrays.

        Args:
            vertices: vertices, Z up [m]; (V, 3).
            triangles: corners, anticlockwise seen from outside; (T, 3).
            rooms: whether a closed mesh that faces inward is a room with thin walls, and no solid.

        Raises:
            WorldError: if the arrays do not fit together.
        """
        points = owned(vertices, "mesh vertices", (None, 3), error=WorldError)
        corners = owned(triangles, "mesh triangles", (None, 3), np.int64, WorldError)
        if not 0 < len(corners) <= MAX_TRIANGLES:
            raise WorldError(f"mesh has {len(corners)} triangles; 1 to {MAX_TRIANGLES} are possible")
        if corners.min() < 0 or corners.max() >= len(points):
            raise WorldError(f"mesh triangles name vertex {corners.min()} to {corners.max()} of {len(points)}")
        if np.abs(points).max() > MAX_COORDINATE:
            raise WorldError(f"mesh has a coordinate of {np.abs(points).max():.4g} m; at most {MAX_COORDINATE:g}")
        return MeshShape(Model(points, corners, rooms=rooms))

    @property
    def closed(self) -> bool:
        """Whether the triangles enclose a solid."""
        return self.model.closed

    @property
    def vertices(self) -> FloatArray:
        """World positions of the vertices [m]; (V, 3)."""
        own = self.model.vertices
        return np.column_stack([planar.transform_points(self.pose, own[:, :2]), own[:, 2] + self.lift])

    @property
    def triangles(self) -> IntArray:
        """Corners, anticlockwise seen from outside; (T, 3)."""
        return self.model.triangles

    @property
    def heights(self) -> tuple[float, float]:
        """Lowest and highest point [m]."""
        low, high = self.model.heights
        return low + self.lift, high + self.lift

    @property
    def two_sided(self) -> bool:
        """Whether it is open, or its triangles face both ways."""
        return not (self.model.closed and self.model.oriented)

    def solids(self) -> tuple[Solid, ...]:
        """Return the placed triangles."""
        return (TriangleMesh(self.vertices, self.triangles, self.closed),)

    def footprint(self, low: float = -np.inf, high: float = np.inf) -> Footprint:
        """Return the exact plan of the part strictly between two heights [m].

        Upright faces of an open mesh are lines.
        """
        return self.model.footprint(low - self.lift, high - self.lift).placed(self.pose)

    def upper_side(self, points: FloatArray, near: FloatArray | None = None) -> FloatArray:
        """Return the height of its upper side [m] (N,) at points (N, 2); see `Shape.upper_side`."""
        own = planar.transform_points(planar.inverse(self.pose), points)
        return self.model.upper.heights(own, None if near is None else near - self.lift) + self.lift

    def placed(self, pose: npt.ArrayLike) -> MeshShape:
        """Return the mesh moved by a planar pose; slices are reused."""
        x, y, heading = (float(v) for v in planar.compose(pose, self.pose))
        return replace(self, pose=(x, y, heading))

    def raised(self, by: float) -> MeshShape:
        """Return the mesh lifted."""
        return replace(self, lift=self.lift + by)


def load_mesh(path: str | Path, up: str | None = None, scale: float = 1.0, *, rooms: bool = False) -> MeshShape:
    """Read a mesh from a GLB, GLTF, OBJ, STL or PLY file, with everything in it as one.

    Args:
        path: the file.
        up: which of its axes points up, "y" or "z"; None is "y" for GLB, GLTF and OBJ, "z" for STL and PLY. With "y",
            (x, y, z) in the file is (z, x, y) here, as in all files that gaitway reads and writes.
        scale: metres for one unit of the file.
        rooms: as in `MeshShape.of`.

    Raises:
        FormatError: if the file is missing, broken, too large or of another kind, or has no triangles.
        WorldError: if `up` or `scale` cannot be.
    """
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in UP_AXES:
        raise FormatError(path, f"'{ending}' is not a mesh; write a file that ends in {', '.join(UP_AXES)}")
    up = UP_AXES[ending] if up is None else up
    if up not in ("y", "z"):
        raise WorldError(f"mesh with up '{up}'; write y or z")
    if not (np.isfinite(scale) and scale > 0.0):
        raise WorldError(f"mesh with scale {scale}; write a number above 0")
    vertices, triangles = _read(path, ending)
    try:
        return MeshShape.of(scale * (vertices[:, [2, 0, 1]] if up == "y" else vertices), triangles, rooms=rooms)
    except WorldError as problem:
        raise FormatError(path, str(problem)) from None


def check_place(shape: MeshShape, path: Path, up: str | None, scale: float) -> None:
    """Check that a mesh may be a place that people walk in: its size, and that it does not lie on its side.

    Args:
        shape: the mesh.
        path: its file.
        up: its upward axis as it was told; None if it was not, then one that looks wrong is said.
        scale: metres for one unit of the file.

    Raises:
        WorldError: with what to write instead.
    """
    vertices = shape.vertices
    size = np.ptp(vertices, axis=0)
    told = f"mesh is {size[0]:.3g} x {size[1]:.3g} m large and {size[2]:.3g} m high"
    if size[:2].max() < _SMALLEST_PLACE:
        raise WorldError(f"{told}, too small to walk on; is its unit larger (scale: {1000.0 * scale:g})?")
    if size[2] > _HIGHEST_PLACE:
        raise WorldError(f"{told}; is its unit smaller (scale: {0.001 * scale:g} for millimetres)?")
    if up is not None:
        return
    normals = np.abs(np.cross(*np.moveaxis(vertices[shape.triangles][:, 1:] - vertices[shape.triangles][:, :1], 1, 0)))
    straight = normals.max(axis=1) >= _STRAIGHT * np.linalg.norm(normals, axis=1)
    areas = np.bincount(np.argmax(normals, axis=1), normals.max(axis=1) * straight, minlength=3)
    # the other upward axis that the file may have is x here for y, and y here for z
    axis, other = (0, "z") if UP_AXES[path.suffix.lower()] == "y" else (1, "y")
    if size[axis] < _FLAT * np.delete(size, axis).min() and areas[axis] > _FLOORS * areas[2]:
        raise WorldError(f"{told} and seems to lie on its side; write up: {other}, or the axis that is meant")


def _read(path: Path, ending: str) -> tuple[FloatArray, IntArray]:
    if not path.exists():
        raise FormatError(path, "there is no such file")
    data = read_file(path, MAX_FILE_BYTES)
    try:
        if ending in (".glb", ".gltf"):
            _check_accessors(path, data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scene = trimesh.load_scene(
                io.BytesIO(data), file_type=ending[1:], resolver=_FilesBeside(str(path)), process=False,
                skip_materials=True,
            )  # fmt: skip
            parts = _parts(path, scene)
    except FormatError:
        raise
    except (Exception, MemoryError) as problem:  # whatever a broken file makes the reader do
        words = " ".join(str(problem).split())[:200] or type(problem).__name__
        raise FormatError(path, f"is not a whole {ending[1:].upper()} mesh: {words}") from None
    starts = np.cumsum([0, *(len(v) for v, _ in parts)])
    return np.concatenate([v for v, _ in parts]), np.concatenate(
        [t + start for (_, t), start in zip(parts, starts, strict=False)]
    )


class _FilesBeside(trimesh.resolvers.FilePathResolver):
    """Gives the reader of a mesh the files in the mesh's own folder or below: regular ones of a bounded size."""

    def get(self, name: str) -> bytes:
        folder = Path(self.parent).resolve()
        target = (folder / unquote(name.strip())).resolve()
        if not target.is_relative_to(folder):
            raise ValueError(f"it refers to {name[:60]!r}, outside its own folder")
        return read_file(target, MAX_FILE_BYTES)


def _check_accessors(path: Path, data: bytes) -> None:
    """Refuse glTF whose accessors have more elements than a mesh may: those without a buffer need no bytes for them."""
    text = data
    if data[:4] == b"glTF":
        length = struct.unpack_from("<I", data, 12)[0]
        text = data[20 : 20 + length]
    root: Any = json.loads(text.decode("utf-8-sig"))
    counts = [int(accessor.get("count", 0)) for accessor in root.get("accessors", [])]
    if sum(counts) > 10 * MAX_TRIANGLES:
        raise FormatError(path, f"has {sum(counts)} vertices and corners; at most {10 * MAX_TRIANGLES} are possible")


def _parts(path: Path, scene: trimesh.Scene) -> list[tuple[FloatArray, IntArray]]:
    """Return the vertices and triangles of everything in a scene graph, where it stands."""
    nodes = [(scene.graph[node]) for node in scene.graph.nodes_geometry]
    found = [(m, g) for m, g in ((m, scene.geometry[name]) for m, name in nodes) if isinstance(g, trimesh.Trimesh)]
    total = sum(len(geometry.faces) for _, geometry in found)
    if total == 0:
        raise FormatError(path, "has no triangles; points and lines are not solid")
    if total > MAX_TRIANGLES:
        raise FormatError(path, f"has {total} triangles; at most {MAX_TRIANGLES} are possible")
    return [
        (np.asarray(g.vertices @ m[:3, :3].T + m[:3, 3]), np.asarray(_seen(g.faces, m), dtype=np.int64))
        for m, g in found
    ]


def _seen(faces: npt.NDArray[np.int64], matrix: FloatArray) -> npt.NDArray[np.int64]:
    """Flip the triangles if the matrix mirrors them."""
    return faces[:, ::-1] if np.linalg.det(matrix[:3, :3]) < 0.0 else faces


def _topology(vertices: FloatArray, triangles: IntArray) -> tuple[bool, bool, FloatArray]:
    """Return whether triangles are closed and all turned the same way, and their corners (T, 3, 3).

    Equal vertices count as one: many files repeat them at sharp edges. Where that is not enough to close the surface,
    nearly equal ones are tried.
    """
    for points in (vertices, np.round(vertices, _WELD)):
        unique, index = np.unique(points, axis=0, return_inverse=True)
        welded = index.reshape(-1)[triangles]
        a, b = (np.concatenate([welded[:, (k + step) % 3] for k in range(3)]) for step in (0, 1))
        low, high = np.minimum(a, b)[a != b], np.maximum(a, b)[a != b]
        _, which, count = np.unique(low * len(unique) + high, return_inverse=True, return_counts=True)
        if (count % 2 == 0).all():
            balance = np.bincount(which, np.where(a < b, 1.0, -1.0)[a != b])
            return True, bool((balance == 0.0).all()), unique[welded]
    return False, False, vertices[triangles]


def _volume(corners: FloatArray) -> float:
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    return float((a * np.cross(b, c)).sum() / 6.0)
