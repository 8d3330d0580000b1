"""How far the joints of a person turn, in anatomical terms that mean the same on every rig.

A joint is measured relative to the joint it hangs on, both as turns away from the T-pose, so a rig's own axes and
rest pose drop out. The turn is split into a twist about the bone and a swing across it. The swing must stay in an
ellipse with its own radius in each of four directions; a knee is a joint whose ellipse is long and thin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray, owned
from gaitway.core.errors import SkeletonError
from gaitway.motion.anatomy import t_pose
from gaitway.motion.clip import Clip
from gaitway.motion.kinematics import local_rotations
from gaitway.motion.skeleton import Skeleton


@dataclass(frozen=True)
class RoleLimit:
    """Range of a joint of the middle or the left side, (low, high) [degrees]; the right side is its mirror image."""

    swing_deg: tuple[float, float]
    """Legs, feet, trunk and head: about the axis that points left. A trunk that leans forward and a knee that bends
    count as positive, a thigh that goes forward as negative. Arms: about the vertical axis, forward is negative."""
    side_deg: tuple[float, float]
    """About the axis that points forward. Legs: outward is positive. Arms: upward is positive."""
    twist_deg: tuple[float, float]
    """About the bone."""


# Ranges of healthy adults, widened where several hundred thousand captured frames go farther.
HUMAN_LIMITS: Mapping[str, RoleLimit] = {
    "chest": RoleLimit((-40, 90), (-40, 40), (-50, 50)),
    "head": RoleLimit((-70, 60), (-45, 45), (-90, 90)),
    "clavicle": RoleLimit((-40, 30), (-50, 50), (-30, 30)),
    "shoulder": RoleLimit((-135, 80), (-110, 120), (-115, 115)),
    "elbow": RoleLimit((-160, 12), (-35, 100), (-140, 100)),
    "wrist": RoleLimit((-80, 80), (-75, 92), (-125, 125)),  # hands that carry the body bend back farther
    "hip": RoleLimit((-135, 50), (-40, 90), (-90, 70)),
    "knee": RoleLimit((-8, 160), (-12, 12), (-40, 60)),
    "ankle": RoleLimit((-70, 60), (-50, 55), (-65, 65)),
    "toe": RoleLimit((-70, 70), (-25, 25), (-50, 50)),
}
"""Limits by role, without the side."""

_HANGS_ON = {
    "chest": "hips",
    "head": "chest",
    "clavicle": "chest",
    "shoulder": "chest",
    "elbow": "shoulder",
    "wrist": "elbow",
    "hip": "hips",
    "knee": "hip",
    "ankle": "knee",
    "toe": "ankle",
}
_ARM = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # rows: swing, side and twist axis in the T-pose
_LEG = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
_TRUNK = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
_AXES = {**dict.fromkeys(("clavicle", "shoulder", "elbow", "wrist"), _ARM), **dict.fromkeys(("chest", "head"), _TRUNK)}
_MIRRORED = np.array([-1.0, 1.0, -1.0])  # a rotation axis in the mirror y -> -y


@dataclass(frozen=True, eq=False)
class JointLimits:
    """Limits of one skeleton's joints; made by `joint_limits`."""

    skeleton: Skeleton
    joints: IntArray
    """Limited joints, parents before children; (K,)."""
    bases: IntArray
    """The joint that each of them is measured against; (K,)."""
    axes: FloatArray
    """Swing, side and twist axis of each in the T-pose that faces +X; (K, 3, 3)."""
    low: FloatArray
    """Lowest swing, side and twist angle [rad]; (K, 3)."""
    high: FloatArray
    """Highest swing, side and twist angle [rad]; (K, 3)."""

    def __post_init__(self) -> None:
        count = len(np.asarray(self.joints))
        for name, shape in (("axes", (count, 3, 3)), ("low", (count, 3)), ("high", (count, 3))):
            object.__setattr__(self, name, owned(getattr(self, name), name, shape, error=SkeletonError))
        for name in ("joints", "bases"):
            object.__setattr__(self, name, owned(getattr(self, name), name, (count,), np.int64, SkeletonError))
        if (self.low > 0.0).any() or (self.high < 0.0).any():
            raise SkeletonError("every joint limit must include 0, the T-pose: low <= 0 <= high")

    def only(self, joints: Sequence[int] | IntArray) -> JointLimits:
        """Return the limits of these joints alone."""
        rows = np.flatnonzero(np.isin(self.joints, joints))
        return JointLimits(
            self.skeleton, self.joints[rows], self.bases[rows], self.axes[rows], self.low[rows], self.high[rows]
        )


def joint_limits(skeleton: Skeleton, ranges: Mapping[str, RoleLimit] = HUMAN_LIMITS) -> JointLimits:
    """Return the limits of every joint of a humanoid that is known by role.

    Args:
        skeleton: any humanoid; joints without a role are not limited.
        ranges: limit of each role, without the side ("knee") or with it ("left_knee"), which wins.
    """
    rows = []
    for role, joint in skeleton.roles.items():
        side, _, sided_part = role.partition("_")
        part = sided_part if side in ("left", "right") else role
        limit = ranges.get(role, ranges.get(part))
        base = _HANGS_ON.get(part, "")
        base = f"{side}_{base}" if f"{side}_{base}" in skeleton.roles else base
        if limit is not None and base in skeleton.roles:
            axes = _AXES.get(part, _LEG) * (_MIRRORED if side == "right" else 1.0)
            bounds = np.radians([limit.swing_deg, limit.side_deg, limit.twist_deg])
            rows.append((joint, skeleton.roles[base], axes, bounds))
    rows.sort(key=lambda row: row[0])
    return JointLimits(
        skeleton,
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[1] for row in rows], dtype=np.int64),
        np.array([row[2] for row in rows]).reshape(-1, 3, 3),
        np.array([row[3][:, 0] for row in rows]).reshape(-1, 3),
        np.array([row[3][:, 1] for row in rows]).reshape(-1, 3),
    )


def anatomical_angles(clip: Clip, limits: JointLimits | None = None) -> FloatArray:
    """Return swing, side and twist angle of each limited joint [rad], in the order of `limits.joints`; (F, K, 3)."""
    limits = joint_limits(clip.skeleton) if limits is None else limits
    world, rest = clip.joint_transforms()[1], t_pose(clip.skeleton)
    base, own = (_turns(world[:, joints], rest[joints]) for joints in (limits.bases, limits.joints))
    return _angles(rotations.multiply(rotations.conjugate(base), own), limits.axes)


def violations(clip: Clip, limits: JointLimits | None = None) -> FloatArray:
    """Return by how much each joint is beyond its limits [degrees]; 0 if it keeps them; (F, J).

    Args:
        clip: the motion.
        limits: limits of the clip's skeleton; None takes `joint_limits(clip.skeleton)`.
    """
    limits = joint_limits(clip.skeleton) if limits is None else limits
    angles = anatomical_angles(clip, limits)
    within = _within(angles, limits)
    swing = np.linalg.norm(angles[..., :2] - within[..., :2], axis=-1)
    over = np.zeros((len(clip), len(clip.skeleton)))
    over[:, limits.joints] = np.degrees(np.maximum(swing, np.abs(angles[..., 2] - within[..., 2])))
    return over


def clamp(clip: Clip, limits: JointLimits | None = None) -> Clip:
    """Return the clip with every joint brought back to its limit; its descendants turn with it.

    Args:
        clip: the motion.
        limits: limits of the clip's skeleton; None takes `joint_limits(clip.skeleton)`.
    """
    limits = joint_limits(clip.skeleton) if limits is None else limits
    rest = t_pose(clip.skeleton)
    turns = _turns(clip.joint_transforms()[1], rest)
    row = {int(joint): k for k, joint in enumerate(limits.joints)}
    before = np.array(turns)
    for joint, parent in enumerate(clip.skeleton.parents):
        if parent >= 0:  # keep the turn relative to the parent
            relative = rotations.multiply(rotations.conjugate(before[:, parent]), before[:, joint])
            turns[:, joint] = rotations.multiply(turns[:, parent], relative)
        if joint in row:
            k = row[joint]
            base = turns[:, limits.bases[k]]
            relative = rotations.multiply(rotations.conjugate(base), turns[:, joint])
            angles = _angles(relative[:, None], limits.axes[k : k + 1])
            inside = _within(angles, limits, k)
            wanted = rotations.multiply(base, _from_angles(inside, limits.axes[k : k + 1])[:, 0])
            moved = np.abs(inside - angles).max(axis=(1, 2)) > 1e-12
            turns[:, joint] = np.where(moved[:, None], wanted, turns[:, joint])
    local = local_rotations(clip.skeleton, rotations.multiply(turns, rest))
    return replace(clip, rotations=rotations.normalize(local))


def _turns(world: FloatArray, rest: FloatArray) -> FloatArray:
    """Return the turns away from the T-pose of world rotations (F, J, 4), with those of the T-pose (J, 4)."""
    return rotations.multiply(world, rotations.conjugate(rest))


def _angles(relative: FloatArray, axes: FloatArray) -> FloatArray:
    """Return the swing, side and twist angle [rad] (..., K, 3) of rotations (..., K, 4)."""
    swing, twist = rotations.swing_twist(relative, axes[:, 2])
    vector = rotations.to_rotation_vector(swing)
    angle = rotations.to_rotation_vector(twist)
    return np.stack(
        [np.sum(vector * axes[:, 0], -1), np.sum(vector * axes[:, 1], -1), np.sum(angle * axes[:, 2], -1)], axis=-1
    )


def _from_angles(angles: FloatArray, axes: FloatArray) -> FloatArray:
    """Return the inverse of `_angles`; (..., K, 4)."""
    swing = rotations.from_rotation_vector(angles[..., :1] * axes[:, 0] + angles[..., 1:2] * axes[:, 1])
    return rotations.multiply(swing, rotations.from_rotation_vector(angles[..., 2:] * axes[:, 2]))


def _within(angles: FloatArray, limits: JointLimits, row: int | None = None) -> FloatArray:
    """Return the nearest angles in the same direction that keep the limits; (..., K, 3)."""
    chosen = slice(None) if row is None else slice(row, row + 1)
    low, high = limits.low[chosen], limits.high[chosen]
    out = np.clip(angles, low, high)
    radius = np.maximum(np.where(angles[..., :2] < 0.0, -low[..., :2], high[..., :2]), 1e-9)
    reach = np.sqrt(np.sum((angles[..., :2] / radius) ** 2, axis=-1, keepdims=True))
    out[..., :2] = angles[..., :2] / np.maximum(reach, 1.0)
    return out
