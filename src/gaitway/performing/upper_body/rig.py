"""The joints of an upper body, and turns of them about axes that mean the same on every rig."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.motion.anatomy import t_pose
from gaitway.motion.kinematics import local_rotations
from gaitway.motion.limits import JointLimits, joint_limits
from gaitway.motion.skeleton import Skeleton

TRUNK = ("spine", "chest", "neck", "head")
ARMS = tuple(f"{side}_{part}" for side in ("left", "right") for part in ("shoulder", "elbow", "wrist"))
NEEDED = ("hips", "left_hip", "right_hip", "chest", "head")
"""Roles without which nobody can look anywhere."""
_EYES = ("eye", "eyeball")


@dataclass(frozen=True, eq=False)
class UpperBody:
    """Joints of a person above the hips."""

    skeleton: Skeleton
    roles: tuple[str, ...]
    """Role of each joint; those of `TRUNK`, then of `ARMS`, as far as there are any, then "eye"; (K,)."""
    joints: IntArray
    """The joints; (K,)."""
    axes: FloatArray
    """Forward, left and up in each joint's own frame; (K, 3, 3)."""
    rest: FloatArray
    """Local rotations of the T-pose; (K, 4)."""
    t_pose: FloatArray
    """World rotations of the T-pose of the whole skeleton; (J, 4)."""
    limits: JointLimits
    """Limits of those joints that have any."""
    limited: IntArray
    """Rows of the joints that have limits."""

    def column(self, role: str) -> int:
        """Return the row of a role, or -1."""
        return self.roles.index(role) if role in self.roles else -1

    def turned(self, row: int, yaw: npt.ArrayLike, pitch: npt.ArrayLike = 0.0, roll: npt.ArrayLike = 0.0) -> FloatArray:
        """Return turns of one joint in its own frame; (..., 4).

        Args:
            row: row of the joint.
            yaw: angle to the left, about the upward axis [rad]; (...).
            pitch: angle downward [rad]; (...).
            roll: angle to the right [rad]; (...).
        """
        ahead, left, up = self.axes[row]
        vector = np.multiply.outer(yaw, up) + np.multiply.outer(pitch, left) + np.multiply.outer(roll, ahead)
        return rotations.from_rotation_vector(vector)


def missing_for_gaze(skeleton: Skeleton) -> str:
    """Return why nobody with this skeleton can look anywhere, in a few words; nothing if it can."""
    missing = [role for role in NEEDED if role not in skeleton.roles]
    if missing:
        return f"no joint known as {', '.join(missing)}"
    return "" if skeleton.roles["hips"] == 0 else "the root carries something else than the hips"


@lru_cache(maxsize=64)
def upper_body(skeleton: Skeleton) -> UpperBody | None:
    """Return the upper body of a skeleton, or None if it has none that can look anywhere."""
    if missing_for_gaze(skeleton):
        return None
    arms = ARMS if all(role in skeleton.roles for role in ARMS) else ()
    found = [(role, skeleton.roles[role]) for role in (*TRUNK, *arms) if role in skeleton.roles]
    found = [(role, joint) for k, (role, joint) in enumerate(found) if joint not in [j for _, j in found[:k]]]
    found += [("eye", joint) for joint in _eyes(skeleton)]
    joints = np.array([joint for _, joint in found], dtype=np.int64)
    world = t_pose(skeleton)
    axes = rotations.rotate(rotations.conjugate(world[joints])[:, None], np.eye(3)[None])
    rest = local_rotations(skeleton, world)[joints]
    limits = joint_limits(skeleton).only(joints)
    limited = np.array([joints.tolist().index(joint) for joint in limits.joints.tolist()], dtype=np.int64)
    return UpperBody(
        skeleton, tuple(role for role, _ in found), read_only(joints), read_only(axes), read_only(rest),
        read_only(world), limits, read_only(limited),
    )  # fmt: skip


def _eyes(skeleton: Skeleton) -> list[int]:
    """Return the joints of eyes: those on the head whose names say so."""
    head = skeleton.roles["head"]
    words = [name.lower().replace("_", "").replace(".", "") for name in skeleton.names]
    plain = [word.rsplit(":", 1)[-1].removeprefix("left").removeprefix("right") for word in words]
    plain = [word[:-1] if word[-1:] in "lr" and word[:-1] in _EYES else word for word in plain]
    return [j for j, word in enumerate(plain) if word in _EYES and int(skeleton.parents[j]) == head]
