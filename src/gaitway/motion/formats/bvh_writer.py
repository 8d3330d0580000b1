"""Writer of BVH files."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import FormatError
from gaitway.core.files import atomic_write
from gaitway.motion.clip import Clip
from gaitway.motion.formats import _kernels
from gaitway.motion.formats.raw import UP_AXES
from gaitway.motion.skeleton import Skeleton

_ROWS_AT_ONCE = 512


def write_bvh(clip: Clip, path: Path, *, metres_per_unit: float, up: str, euler_order: str) -> None:
    """Write a clip as BVH: six channels for the root, three for every other joint.

    Args:
        clip: the motion.
        path: the file.
        metres_per_unit: the file's unit of length.
        up: the file's vertical axis.
        euler_order: axes of the file in the order the rotations multiply, such as "zxy".
    """
    order = np.argsort(UP_AXES[up])  # the way back from our axes to the file's
    skeleton = clip.skeleton
    offsets = skeleton.offsets[:, order] / metres_per_unit
    offsets[0] = 0.0  # position channels stand in place of it, but some readers add both
    tips = {joint: np.array(tip)[order] / metres_per_unit for joint, tip in skeleton.tips.items()}
    places = _depth_first(skeleton)
    quaternions = clip.rotations[:, places][..., [0, *(1 + order)]]
    angles = rotations.to_euler(euler_order, quaternions)
    _kernels.smooth_euler(angles)
    angles = np.degrees(angles).reshape(len(clip), -1)
    table = np.concatenate([clip.root_positions[:, order] / metres_per_unit, angles], axis=1)
    decimals = max(0, 7 + math.ceil(math.log10(metres_per_unit)))  # a tenth of a micrometre
    with atomic_write(path) as file:
        for line in _hierarchy(path, skeleton, offsets, tips, euler_order):
            file.write(f"{line}\n".encode())
        file.write(f"MOTION\nFrames: {len(clip)}\nFrame Time: {1.0 / clip.fps:.9g}\n".encode())
        row_format = " ".join([f"%.{decimals}f"] * 3 + ["%.6f"] * angles.shape[1]) + "\n"
        for start in range(0, len(table), _ROWS_AT_ONCE):
            rows = table[start : start + _ROWS_AT_ONCE]
            file.write((row_format * len(rows) % tuple(rows.ravel().tolist())).encode())


def _depth_first(skeleton: Skeleton) -> list[int]:
    """Return the joint indices in the order in which a BVH file nests them."""
    order, stack = [], [0]
    children: dict[int, list[int]] = {}
    for joint, parent in enumerate(skeleton.parents):
        children.setdefault(int(parent), []).append(joint)
    while stack:
        joint = stack.pop()
        order.append(joint)
        stack.extend(reversed(children.get(joint, [])))
    return order


def _hierarchy(
    path: Path, skeleton: Skeleton, offsets: FloatArray, tips: dict[int, FloatArray], euler_order: str
) -> Iterator[str]:
    """Return the lines down to the root's last brace."""
    channels = " ".join(f"{axis.upper()}rotation" for axis in euler_order)
    depths: list[int] = []
    yield "HIERARCHY"
    order = _depth_first(skeleton)
    depth_of = {-1: -1}
    for joint in order:
        depth_of[joint] = depth_of[int(skeleton.parents[joint])] + 1
    parents_with_children = {int(p) for p in skeleton.parents}
    for joint in order:
        depth = depth_of[joint]
        while depths and depths[-1] >= depth:
            yield "\t" * depths.pop() + "}"
        depths.append(depth)
        indent = "\t" * depth
        name = skeleton.names[joint]
        if not name.strip() or any(c in "{}\n\r" for c in name) or name != name.strip():
            raise FormatError(path, f"joint name '{name}' cannot be written in a BVH file; rename the joint")
        yield f"{indent}{'JOINT' if depth else 'ROOT'} {name}"
        yield indent + "{"
        yield f"{indent}\tOFFSET {_numbers(offsets[joint])}"
        yield f"{indent}\tCHANNELS " + (f"3 {channels}" if depth else f"6 Xposition Yposition Zposition {channels}")
        if joint in tips or joint not in parents_with_children:
            tip = tips.get(joint, np.zeros(3))
            yield from (f"{indent}\tEnd Site", indent + "\t{", f"{indent}\t\tOFFSET {_numbers(tip)}", indent + "\t}")
    while depths:
        yield "\t" * depths.pop() + "}"


def _numbers(values: FloatArray) -> str:
    return " ".join(f"{v:.8g}" for v in values)
