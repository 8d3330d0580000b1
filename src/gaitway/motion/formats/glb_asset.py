"""A GLB file under construction: one JSON document and one buffer, in which equal parts are stored once."""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gaitway._version import __version__
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import FormatError
from gaitway.core.files import atomic_write
from gaitway.motion.formats.raw import UP_AXES
from gaitway.motion.kinematics import forward_kinematics
from gaitway.motion.skeleton import Skeleton

VERTICES, INDICES = 34962, 34963
"""What a graphics card is to use a part of the buffer for."""
MAX_BYTES = 0xFFFF_FFFF
"""A GLB file counts its bytes in 32 bits."""
_TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
_COMPONENTS = {"i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125, "f4": 5126}
_ORDER = np.argsort(UP_AXES["y"])


def y_up(vectors: npt.ArrayLike) -> FloatArray:
    """Convert vectors (..., 3) to the axes of glTF: Y up; what faced +X faces +Z."""
    return np.asarray(vectors, dtype=np.float64)[..., _ORDER]


def y_up_xyzw(turns: npt.ArrayLike) -> FloatArray:
    """Convert rotations (..., 4), wxyz, to those of glTF: xyzw in its own axes."""
    return np.asarray(turns, dtype=np.float64)[..., [*(1 + _ORDER), 0]]


class Asset:
    """JSON and buffer. Arrays and JSON objects that are equal to earlier ones are not stored again."""

    def __init__(self) -> None:
        self.json: dict[str, Any] = {"asset": {"version": "2.0", "generator": f"gaitway {__version__}"}}
        self._chunks: list[bytes] = []
        self._length = 0
        self._known: dict[object, int] = {}

    def add(self, kind: str, item: dict[str, Any]) -> int:
        """Append to one of the document's lists ("nodes", "meshes" ...) and return the number there."""
        items: list[dict[str, Any]] = self.json.setdefault(kind, [])
        items.append(item)
        return len(items) - 1

    def shared(self, kind: str, item: dict[str, Any]) -> int:
        """Append as `add` does, but use an equal item again if there is one."""
        key = (kind, json.dumps(item, sort_keys=True))
        if key not in self._known:
            self._known[key] = self.add(kind, item)
        return self._known[key]

    def accessor(
        self,
        values: npt.ArrayLike,
        kind: str = "f4",
        *,
        bounds: bool = False,
        normalized: bool = False,
        target: int | None = None,
    ) -> int:
        """Store an array (n,) or (n, width) and return the number of its accessor.

        Args:
            values: array to store.
            kind: type of its numbers: "f4", "u1", "u2", "u4" or "i2".
            bounds: whether to note its least and greatest values.
            normalized: whether whole numbers stand for shares of the greatest one.
            target: `VERTICES` or `INDICES` where it is for a graphics card.
        """
        packed = np.ascontiguousarray(values, dtype="<" + kind)
        packed = packed.reshape(len(packed), -1)
        data = packed.tobytes()
        key = (kind, packed.shape[1], bounds, normalized, target, hashlib.blake2b(data, digest_size=20).digest())
        if key not in self._known:
            self._known[key] = self._store(packed, data, kind, bounds, normalized, target)
        return self._known[key]

    def _store(
        self, packed: npt.NDArray[Any], data: bytes, kind: str, bounds: bool, normalized: bool, target: int | None
    ) -> int:
        view = {"buffer": 0, "byteOffset": self._length, "byteLength": len(data)}
        accessor: dict[str, Any] = {
            "bufferView": self.add("bufferViews", view if target is None else {**view, "target": target}),
            "componentType": _COMPONENTS[kind],
            "count": len(packed),
            "type": _TYPES[packed.shape[1]],
        }
        if normalized:
            accessor["normalized"] = True
        if bounds:
            accessor["min"], accessor["max"] = packed.min(axis=0).tolist(), packed.max(axis=0).tolist()
        self._chunks.append(data + b"\0" * (-len(data) % 4))
        self._length += len(self._chunks[-1])
        return self.add("accessors", accessor)

    def save(self, path: Path) -> None:
        """Write the file, under its name only when it is complete.

        Raises:
            FormatError: if it would be larger than such a file can be, or cannot be written.
        """
        text = json.dumps({**self.json, "buffers": [{"byteLength": self._length}]}, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        size = 12 + 8 + len(text) + 8 + self._length
        if size > MAX_BYTES:
            raise FormatError(
                path, f"would have {size / 1e9:.1f} GB, and a GLB file has at most 4.2; write fewer things"
            )
        with atomic_write(path) as file:
            file.write(struct.pack("<III", 0x46546C67, 2, size) + struct.pack("<II", len(text), 0x4E4F534A) + text)
            file.write(struct.pack("<II", self._length, 0x004E4942))
            for chunk in self._chunks:
                file.write(chunk)


def add_joints(asset: Asset, skeleton: Skeleton, parent: int | None = None) -> list[int]:
    """Add a node for every joint, in the rest pose; returns their numbers (J,)."""
    nodes: list[int] = []
    for j, name in enumerate(skeleton.names):
        node: dict[str, Any] = {"name": name, "translation": y_up(skeleton.offsets[j]).tolist()}
        turn = y_up_xyzw(skeleton.rest_rotations[j])
        if not np.array_equal(turn, [0.0, 0.0, 0.0, 1.0]):
            node["rotation"] = turn.tolist()
        nodes.append(asset.add("nodes", node))
        above = parent if skeleton.parents[j] < 0 else nodes[skeleton.parents[j]]
        if above is not None:
            asset.json["nodes"][above].setdefault("children", []).append(nodes[j])
    return nodes


def inverse_bind_matrices(skeleton: Skeleton) -> FloatArray:
    """Return what takes a point from the rest pose into each joint's frame, columns first; (J, 16)."""
    positions, world = forward_kinematics(skeleton, skeleton.offsets[0], skeleton.rest_rotations)
    matrices = np.tile(np.eye(4), (len(skeleton), 1, 1))
    inverse = np.swapaxes(rotations.to_matrix(world), -1, -2)
    matrices[:, :3, :3] = inverse[:, _ORDER][:, :, _ORDER]
    matrices[:, :3, 3] = -np.einsum("jab,jb->ja", inverse, positions)[:, _ORDER]
    return np.swapaxes(matrices, -1, -2).reshape(-1, 16)
