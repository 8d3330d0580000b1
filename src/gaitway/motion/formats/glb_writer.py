"""GLB files out: the skeleton as a skinned figure of plain bones, with its animation."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gaitway import rotations
from gaitway._version import __version__
from gaitway.arrays import FloatArray
from gaitway.files import atomic_write
from gaitway.motion.clip import Clip
from gaitway.motion.formats.axes import UP_AXES
from gaitway.motion.kinematics import forward_kinematics
from gaitway.motion.skeleton import Skeleton

_TYPES = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
_COMPONENTS = {"f4": 5126, "u2": 5123, "u4": 5125}
_VERTICES, _INDICES = 34962, 34963
"""What a graphics card is to use a part of the buffer for."""
_WIDTH, _WAIST = 0.1, 0.12
"""A bone is as thick as this share of its length, and thickest at this share of it."""
_LONE_JOINT = 0.05
"""Length of the bone of a figure that has none [m]."""
_FACES = np.array([[0, 2, 1], [0, 3, 2], [0, 4, 3], [0, 1, 4], [5, 1, 2], [5, 2, 3], [5, 3, 4], [5, 4, 1]])


def write_glb(clip: Clip, path: Path) -> None:
    """Write a clip as GLB: metres, Y up, facing +Z; every joint a node, one rotation track a joint.

    Programs make an armature only for a skin, so the figure carries a mesh of simple bones, bound in the rest pose.
    """
    asset = _Asset()
    skeleton = clip.skeleton
    order = np.argsort(UP_AXES["y"])
    asset.json["nodes"] = [
        {
            "name": name,
            "translation": skeleton.offsets[j][order].tolist(),
            "rotation": _xyzw(skeleton.rest_rotations[j], order).tolist(),
        }
        for j, name in enumerate(skeleton.names)
    ]
    for j, parent in enumerate(skeleton.parents[1:], start=1):
        asset.json["nodes"][parent].setdefault("children", []).append(j)
    _add_animation(asset, clip, order)
    _add_body(asset, skeleton, order)
    asset.json["scenes"] = [{"nodes": [0, len(skeleton)]}]
    asset.json["scene"] = 0
    with atomic_write(path) as file:
        file.write(asset.to_bytes())


class _Asset:
    """JSON and buffer in the making."""

    def __init__(self) -> None:
        self.json: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": f"gaitway {__version__}"},
            "accessors": [],
            "bufferViews": [],
        }
        self.chunks: list[bytes] = []
        self.length = 0

    def accessor(
        self, values: npt.NDArray[Any], kind: str = "f4", *, bounds: bool = False, target: int | None = None
    ) -> int:
        """Store an array (n, width) and return the number of its accessor."""
        packed = np.ascontiguousarray(values, dtype="<" + kind).reshape(len(values), -1)
        view = {"buffer": 0, "byteOffset": self.length, "byteLength": packed.nbytes}
        self.json["bufferViews"].append(view if target is None else {**view, "target": target})
        accessor: dict[str, Any] = {
            "bufferView": len(self.json["bufferViews"]) - 1,
            "componentType": _COMPONENTS[kind],
            "count": len(packed),
            "type": _TYPES[packed.shape[1]],
        }
        if bounds:
            accessor["min"], accessor["max"] = packed.min(axis=0).tolist(), packed.max(axis=0).tolist()
        self.json["accessors"].append(accessor)
        self.chunks.append(packed.tobytes() + b"\0" * (-packed.nbytes % 4))
        self.length += len(self.chunks[-1])
        return len(self.json["accessors"]) - 1

    def to_bytes(self) -> bytes:
        text = json.dumps({**self.json, "buffers": [{"byteLength": self.length}]}, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        size = 12 + 8 + len(text) + 8 + self.length
        head = struct.pack("<III", 0x46546C67, 2, size) + struct.pack("<II", len(text), 0x4E4F534A)
        return b"".join([head, text, struct.pack("<II", self.length, 0x004E4942), *self.chunks])


def _xyzw(q: FloatArray, order: npt.NDArray[np.intp]) -> FloatArray:
    return q[..., [*(1 + order), 0]]


def _add_animation(asset: _Asset, clip: Clip, order: npt.NDArray[np.intp]) -> None:
    times = asset.accessor(np.arange(len(clip)) / clip.fps, bounds=True)
    turns = _xyzw(rotations.continuous(clip.rotations), order)
    outputs = [(0, "translation", asset.accessor(clip.root_positions[:, order]))]
    outputs += [(j, "rotation", asset.accessor(turns[:, j])) for j in range(len(clip.skeleton))]
    asset.json["animations"] = [
        {
            "name": clip.name,
            "samplers": [{"input": times, "output": output} for _, _, output in outputs],
            "channels": [
                {"sampler": i, "target": {"node": node, "path": track}} for i, (node, track, _) in enumerate(outputs)
            ],
        }
    ]


def _add_body(asset: _Asset, skeleton: Skeleton, order: npt.NDArray[np.intp]) -> None:
    """The mesh of bones, its skin and the node that shows it."""
    positions, world = forward_kinematics(skeleton, skeleton.offsets[0], skeleton.rest_rotations)
    joints, vertices = _bones(skeleton)
    placed = positions[joints][:, None] + rotations.rotate(world[joints][:, None], vertices)
    count = len(joints)
    owners = np.zeros((count * 6, 4))
    owners[:, 0] = np.repeat(joints, 6)
    weights = np.zeros((count * 6, 4))
    weights[:, 0] = 1.0
    faces = (_FACES[None] + 6 * np.arange(count)[:, None, None]).reshape(-1)
    asset.json["meshes"] = [
        {
            "name": "bones",
            "primitives": [
                {
                    "attributes": {
                        "POSITION": asset.accessor(placed.reshape(-1, 3)[:, order], bounds=True, target=_VERTICES),
                        "JOINTS_0": asset.accessor(owners, "u2", target=_VERTICES),
                        "WEIGHTS_0": asset.accessor(weights, target=_VERTICES),
                    },
                    "indices": asset.accessor(faces, "u4", target=_INDICES),
                }
            ],
        }
    ]
    matrices = np.tile(np.eye(4), (len(skeleton), 1, 1))
    inverse = np.swapaxes(rotations.to_matrix(world), -1, -2)
    matrices[:, :3, :3] = inverse[:, order][:, :, order]
    matrices[:, :3, 3] = -np.einsum("jab,jb->ja", inverse, positions)[:, order]
    columns_first = np.swapaxes(matrices, -1, -2).reshape(-1, 16)
    asset.json["skins"] = [
        {"joints": list(range(len(skeleton))), "skeleton": 0, "inverseBindMatrices": asset.accessor(columns_first)}
    ]
    asset.json["nodes"].append({"name": skeleton.name, "mesh": 0, "skin": 0})


def _bones(skeleton: Skeleton) -> tuple[npt.NDArray[np.int64], FloatArray]:
    """The joint that moves each bone (B,), and the six corners of the bone in that joint's frame [m] (B, 6, 3)."""
    ends = [(int(parent), skeleton.offsets[j]) for j, parent in enumerate(skeleton.parents) if parent >= 0]
    ends += [(joint, np.array(tip)) for joint, tip in skeleton.tips.items()]
    ends = [(joint, end) for joint, end in ends if np.linalg.norm(end) > 1e-6]
    ends = ends or [(0, np.array([0.0, 0.0, _LONE_JOINT]))]
    directions = np.array([end for _, end in ends])
    lengths = np.linalg.norm(directions, axis=-1)
    w = _WIDTH / 2
    corners = np.array([[0, 0, 0], [w, 0, _WAIST], [0, w, _WAIST], [-w, 0, _WAIST], [0, -w, _WAIST], [0, 0, 1]])
    turns = rotations.between(np.array([0.0, 0.0, 1.0]), directions)
    vertices = rotations.rotate(turns[:, None], corners * lengths[:, None, None])
    return np.array([joint for joint, _ in ends], dtype=np.int64), vertices
