"""What of a body may move to bring a hand or foot to its place: the joints of its limb, and the root."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip
from gaitway.motion.skeleton import Skeleton

_TOPS = ("hip", "shoulder")
_HINGES = ("knee", "elbow", "toe")
_STIFF = ("toe",)
"""Hinges that stay as they are in a clip in which they hardly move: a foot needs no help of theirs to be flat."""
_LIMB = 5
"""A limb that is not known by role has no more joints than this."""
_HINGE_SHARE = 0.2
"""A hinge turns about directions in which it moves at least so much of what it moves most."""
_LEAST_BEND = 0.02
"""A hinge that moves less than this in the whole clip does not show what its axis is [rad]."""
_ROOT_NEAR, _ROOT_CALM = 4.0, 20.0
"""A metre of the root is worth two radians of a joint, and it moves over about twice the time that joints do."""


@dataclass(frozen=True, eq=False)
class Freedom:
    """One number a frame that may change."""

    joint: int
    """Which turns; -1 for the root's position."""
    axis: FloatArray
    """About which, in the joint's own frame; of the root, in which direction; (3,)."""
    near: float = 1.0
    """Share in the weight of staying near."""
    calm: float = 1.0
    """Factor on the weight of second differences beyond that share."""

    def angles(self, clip: Clip) -> FloatArray:
        """What the clip itself does there [rad or m]; (F,)."""
        if self.joint < 0:
            return np.asarray(clip.root_positions @ self.axis)
        local = clip.rotations[:, self.joint]
        away = rotations.to_rotation_vector(rotations.multiply(rotations.conjugate(rotations.mean(local)), local))
        return np.asarray(away @ self.axis)


def freedoms(clip: Clip, joints: Sequence[int], *, root: bool) -> tuple[Freedom, ...]:
    """What may move so that points on some joints come to their places.

    Hips, shoulders, ankles and wrists turn freely; knees, elbows and toes only as they do in the clip.

    Args:
        clip: motion that shows how its hinges turn.
        joints: that carry the points.
        root: whether the root may move.
    """
    chosen = sorted({above for joint in joints for above in _limb(clip.skeleton, joint)})
    out = [Freedom(-1, axis, _ROOT_NEAR, _ROOT_CALM) for axis in np.eye(3)] if root else []
    hinges = {index: role.rpartition("_")[2] for role, index in clip.skeleton.roles.items()}
    hinges = {index: part for index, part in hinges.items() if part in _HINGES}
    for joint in chosen:
        axes = _hinge_axes(clip, joint, hinges[joint] in _STIFF) if joint in hinges else np.eye(3)
        out += [Freedom(joint, axis) for axis in axes]
    return tuple(out)


def _limb(skeleton: Skeleton, joint: int) -> list[int]:
    """Joints from one up to where its limb leaves the trunk; the root is never among them."""
    tops = {index for role, index in skeleton.roles.items() if role.rpartition("_")[2] in _TOPS}
    above = [joint]
    while above[-1] > 0 and above[-1] not in tops:
        above.append(int(skeleton.parents[above[-1]]))
    if above[-1] in tops:
        return above
    limb = [joint]
    while len(limb) < _LIMB:
        parent = int(skeleton.parents[limb[-1]])
        if parent <= 0 or len(skeleton.children(parent)) > 1:
            break
        limb.append(parent)
    return [j for j in limb if j > 0]


def _hinge_axes(clip: Clip, joint: int, stiff: bool) -> FloatArray:
    """Directions about which a hinge turns in the clip, as rows; all three where it hardly moves, or none if stiff."""
    local = clip.rotations[:, joint]
    away = rotations.to_rotation_vector(rotations.multiply(rotations.conjugate(rotations.mean(local)), local))
    _, sizes, axes = np.linalg.svd(away, full_matrices=False)
    spread = sizes / np.sqrt(len(away))
    if len(axes) < 3 or spread[0] < _LEAST_BEND:
        return np.eye(3)[: 0 if stiff else 3]
    return np.asarray(axes[spread > _HINGE_SHARE * spread[0]])
