"""A reference pose for every humanoid rig (the T-pose), the directions in which joints bend, and parts of the body.

Rigs disagree about their rest pose: legs slant outward (Acclaim), arms hang (3ds Max) or droop (CMU). The T-pose here
is worked out from the bones, faces +X with Z up, and has straight limbs, so a joint's world rotation relative to it
means the same on every rig. Retargeting, joint limits and limb solvers all measure from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, read_only
from gaitway.motion.kinematics import forward_kinematics, local_rotations
from gaitway.motion.roles import ALL_ROLES
from gaitway.motion.skeleton import Skeleton

PARTS = ("lower", "trunk", "left_arm", "right_arm")
"""Parts of a body: root and legs, spine and head, and the arms. A body that is not human is all "lower"."""
_TILTED = np.radians(30.0)
"""Greatest lean of a rest pose that counts as upright, so that a natural pelvis tilt is kept [rad]."""
_LIMBS: tuple[tuple[tuple[str, str, str], tuple[float, float, float]], ...] = (
    (("left_hip", "left_knee", "left_ankle"), (0.0, 0.0, -1.0)),
    (("right_hip", "right_knee", "right_ankle"), (0.0, 0.0, -1.0)),
    (("left_shoulder", "left_elbow", "left_wrist"), (0.0, 1.0, 0.0)),
    (("right_shoulder", "right_elbow", "right_wrist"), (0.0, -1.0, 0.0)),
)


def missing_roles(skeleton: Skeleton) -> tuple[str, ...]:
    """Return the humanoid roles that no joint of a skeleton has; state them with `skeleton.with_roles`."""
    return tuple(role for role in ALL_ROLES if role not in skeleton.roles)


def t_pose(skeleton: Skeleton) -> FloatArray:
    """Return the world rotations of the T-pose that faces +X; (J, 4).

    The rest pose is turned to face +X, stood up if it lies, and each limb bone is swung straight without twist: legs
    down, arms out to the sides. Roles that are missing leave their part of the rest pose as it is.
    """
    upright = _upright(skeleton)
    turned = np.broadcast_to(upright, (len(skeleton), 4)).copy()  # correction of each joint, in world axes
    swings = _limb_swings(skeleton, upright)
    for joint, parent in enumerate(skeleton.parents):
        if joint in swings:
            turned[joint] = swings[joint]
        elif parent >= 0:
            turned[joint] = turned[parent]
    return rotations.normalize(rotations.multiply(turned, rest_world_rotations(skeleton)))


def rest_world_rotations(skeleton: Skeleton) -> FloatArray:
    """Return the world rotations of the skeleton's own rest pose; (J, 4)."""
    return forward_kinematics(skeleton, np.zeros(3), skeleton.rest_rotations)[1]


def t_pose_positions(skeleton: Skeleton, world: FloatArray | None = None) -> FloatArray:
    """Return the joint positions of the T-pose relative to the root [m]; (J, 3).

    Args:
        skeleton: any humanoid.
        world: world rotations that `t_pose` returns for it, if they are known; (J, 4).
    """
    world = t_pose(skeleton) if world is None else world
    return forward_kinematics(skeleton, np.zeros(3), local_rotations(skeleton, world))[0]


@lru_cache(maxsize=64)
def pole_direction(skeleton: Skeleton, chain: tuple[str, str, str]) -> FloatArray:
    """Return the direction in which a limb's middle joint bends, in the frame of the limb's first joint; (3,).

    Knees point forward of the T-pose and elbows backward.
    """
    ahead = np.array([1.0 if chain[1].endswith("knee") else -1.0, 0.0, 0.0])
    upper = skeleton.require(*chain)[0]
    return read_only(rotations.rotate(rotations.conjugate(t_pose(skeleton)[upper]), ahead))


def leg_length(skeleton: Skeleton) -> float:
    """Return the length of thigh and shank together, mean of both sides [m]."""
    rest = skeleton.rest_positions
    total = 0.0
    for side in ("left", "right"):
        hip, knee, ankle = skeleton.require(f"{side}_hip", f"{side}_knee", f"{side}_ankle")
        total += float(np.linalg.norm(rest[knee] - rest[hip]) + np.linalg.norm(rest[ankle] - rest[knee]))
    return 0.5 * total


def _upright(skeleton: Skeleton) -> FloatArray:
    """Return the rotation that makes the rest pose stand and face +X; (4,)."""
    ahead = rotations.rotate(skeleton.rest_rotations[0], skeleton.forward)
    level = rotations.from_yaw(-np.arctan2(ahead[1], ahead[0]))
    top = next((r for r in ("head", "neck", "chest", "spine") if r in skeleton.roles), None)
    if top is None or not {"left_hip", "right_hip"} <= skeleton.roles.keys():
        return level
    rest = skeleton.rest_positions
    left, right = rest[skeleton.roles["left_hip"]], rest[skeleton.roles["right_hip"]]
    up, across = rest[skeleton.roles[top]] - 0.5 * (left + right), left - right
    length = np.linalg.norm(up)
    if length < 1e-9 or up[2] > np.cos(_TILTED) * length:
        return level
    lateral = across - up * (across @ up) / length**2
    if np.linalg.norm(lateral) < 1e-9:
        return level
    z, y = up / length, lateral / np.linalg.norm(lateral)
    return rotations.conjugate(rotations.from_matrix(np.stack([np.cross(y, z), y, z], axis=-1)))


def _limb_swings(skeleton: Skeleton, upright: FloatArray) -> dict[int, FloatArray]:
    """Return the turn (4,) of each joint that begins a limb bone: stand the rest pose up, then straighten the bone.

    It is the shortest one, or about the lateral axis where the bone points the opposite way.
    """
    rest, roles = skeleton.rest_positions, skeleton.roles
    limbs = [(chain, way) for chain, way in _LIMBS if all(role in roles for role in chain)]
    ends = [(roles[a], roles[b]) for chain, _ in limbs for a, b in pairwise(chain)]
    if not ends:
        return {}
    starts, stops = np.array(ends).T
    wanted = np.repeat([way for _, way in limbs], 2, axis=0)
    bones = rotations.rotate(upright, rest[stops] - rest[starts])
    lengths = np.linalg.norm(bones, axis=-1)
    swings = rotations.between(bones, wanted)
    for i in np.flatnonzero(np.sum(bones * wanted, axis=-1) < -0.999 * lengths):
        swings[i] = rotations.from_axis_angle([0.0, 1.0, 0.0] if abs(wanted[i, 2]) > 0.5 else [0.0, 0.0, 1.0], np.pi)
    swings[lengths < 1e-9] = rotations.identity()
    return dict(zip(starts.tolist(), rotations.multiply(swings, upright), strict=True))


def joint_parts(skeleton: Skeleton) -> IntArray:
    """Return the part of the body of every joint, an index into PARTS; (J,)."""
    starts: Mapping[str, tuple[str, ...]] = {
        "trunk": ("spine", "chest"),
        "left_arm": ("left_clavicle", "left_shoulder"),
        "right_arm": ("right_clavicle", "right_shoulder"),
    }
    begins = {
        skeleton.roles[role]: PARTS.index(part)
        for part, roles in starts.items()
        for role in roles
        if role in skeleton.roles
    }
    parts = np.zeros(len(skeleton), np.int64)
    for joint in range(1, len(skeleton)):
        parts[joint] = begins.get(joint, parts[skeleton.parents[joint]])
    return parts


def upper_joints(skeleton: Skeleton) -> BoolArray:
    """Return which joints belong to trunk, arms or head, and not to pelvis or legs; (J,)."""
    return np.asarray(joint_parts(skeleton) != PARTS.index("lower"))
