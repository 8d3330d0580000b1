"""Writer of GLB files: the skeleton as a skinned figure of plain bones, with its animation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip
from gaitway.motion.formats.glb_asset import (
    INDICES,
    VERTICES,
    Asset,
    add_joints,
    inverse_bind_matrices,
    y_up,
    y_up_xyzw,
)
from gaitway.motion.kinematics import forward_kinematics
from gaitway.motion.skeleton import Skeleton

_WIDTH, _WAIST = 0.1, 0.12
"""A bone is as thick as this share of its length, and thickest at this share of it."""
_LONE_JOINT = 0.05
"""Length of the bone of a figure that has none [m]."""
_FACES = np.array([[0, 2, 1], [0, 3, 2], [0, 4, 3], [0, 1, 4], [5, 1, 2], [5, 2, 3], [5, 3, 4], [5, 4, 1]])


def write_glb(clip: Clip, path: Path) -> None:
    """Write a clip as GLB: metres, Y up, facing +Z; every joint a node, one rotation track a joint.

    Programs make an armature only for a skin, so the figure carries a mesh of simple bones, bound in the rest pose.
    """
    asset = Asset()
    joints = add_joints(asset, clip.skeleton)
    _add_animation(asset, clip, joints)
    body = _add_body(asset, clip.skeleton, joints)
    asset.json["scenes"] = [{"nodes": [joints[0], body]}]
    asset.json["scene"] = 0
    asset.save(path)


def _add_animation(asset: Asset, clip: Clip, joints: list[int]) -> None:
    times = asset.accessor(np.arange(len(clip)) / clip.fps, bounds=True)
    turns = y_up_xyzw(rotations.continuous(clip.rotations))
    outputs = [(joints[0], "translation", asset.accessor(y_up(clip.root_positions)))]
    outputs += [(joint, "rotation", asset.accessor(turns[:, j])) for j, joint in enumerate(joints)]
    samplers = [{"input": times, "output": output} for _, _, output in outputs]
    channels = [{"sampler": i, "target": {"node": node, "path": track}} for i, (node, track, _) in enumerate(outputs)]
    asset.add("animations", {"name": clip.name, "samplers": samplers, "channels": channels})


def _add_body(asset: Asset, skeleton: Skeleton, joints: list[int]) -> int:
    """Add the mesh of bones, its skin and the node that shows it; return the number of the node."""
    positions, world = forward_kinematics(skeleton, skeleton.offsets[0], skeleton.rest_rotations)
    carriers, vertices = _bones(skeleton)
    placed = positions[carriers][:, None] + rotations.rotate(world[carriers][:, None], vertices)
    count = len(carriers)
    owners = np.zeros((count * 6, 4))
    owners[:, 0] = np.repeat(carriers, 6)
    weights = np.zeros((count * 6, 4))
    weights[:, 0] = 1.0
    faces = (_FACES[None] + 6 * np.arange(count)[:, None, None]).reshape(-1)
    attributes = {
        "POSITION": asset.accessor(y_up(placed.reshape(-1, 3)), bounds=True, target=VERTICES),
        "JOINTS_0": asset.accessor(owners, "u2", target=VERTICES),
        "WEIGHTS_0": asset.accessor(weights, target=VERTICES),
    }
    indices = asset.accessor(faces, "u4", target=INDICES)
    mesh = asset.add("meshes", {"name": "bones", "primitives": [{"attributes": attributes, "indices": indices}]})
    matrices = asset.accessor(inverse_bind_matrices(skeleton))
    skin = asset.add("skins", {"joints": joints, "skeleton": joints[0], "inverseBindMatrices": matrices})
    return asset.add("nodes", {"name": skeleton.name, "mesh": mesh, "skin": skin})


def _bones(skeleton: Skeleton) -> tuple[npt.NDArray[np.int64], FloatArray]:
    """Return the joint of each bone (B,) and the six corners of the bone in that joint's frame [m] (B, 6, 3)."""
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
