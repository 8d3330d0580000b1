"""A body of capsules around the bones of any skeleton, for drawing and for collision."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray, owned
from gaitway.core.errors import SkeletonError
from gaitway.motion.anatomy import leg_length, t_pose, t_pose_positions
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import sole_depth
from gaitway.motion.skeleton import Skeleton

_LEG = 0.85
"""Length of the leg that the radii below belong to [m]; they are scaled to the leg of the figure."""
ARM_PARTS = ("shoulder", "elbow", "hand")
"""Capsules of an arm: upper arm, forearm and hand; their names have a side before these."""
LEG_PARTS = ("hip", "knee", "foot", "toes")
"""Capsules of a leg: thigh, shin, foot and toes; the same."""
_LIMB_RADII = (
    ("hip", "knee", 0.075),
    ("knee", "ankle", 0.052),
    ("shoulder", "elbow", 0.045),
    ("elbow", "wrist", 0.037),
)
_TRUNK_RADIUS, _PELVIS_RADIUS, _SHOULDER_RADIUS, _NECK_RADIUS, _HEAD_RADIUS = 0.115, 0.105, 0.075, 0.055, 0.095
_FOOT_RADIUS, _TOE_RADIUS, _HAND_RADIUS = 0.040, 0.026, 0.036
_HEAD_LENGTH, _HAND_LENGTH = 0.18, 0.17
"""Lengths of head and hand, used if the rig does not say where they end [m]."""


@dataclass(frozen=True, eq=False)
class CapsuleBody:
    """Capsules that move with joints; a capsule is all points within `radii` of a segment."""

    joints: IntArray
    """The joint that carries each capsule; (C,)."""
    starts: FloatArray
    """One end of each segment in that joint's frame [m]; (C, 3)."""
    ends: FloatArray
    """The other end [m]; (C, 3)."""
    radii: FloatArray
    """Radius of each capsule [m]; (C,)."""
    names: tuple[str, ...]
    """What each capsule stands for; (C,)."""

    def __post_init__(self) -> None:
        count = len(self.names)
        object.__setattr__(self, "joints", owned(self.joints, "joints", (count,), np.int64, SkeletonError))
        for name in ("starts", "ends"):
            object.__setattr__(self, name, owned(getattr(self, name), name, (count, 3), error=SkeletonError))
        object.__setattr__(self, "radii", owned(self.radii, "radii", (count,), error=SkeletonError))
        if (self.radii <= 0.0).any():
            raise SkeletonError(f"capsule '{self.names[int(np.argmin(self.radii))]}' has no thickness")

    def __len__(self) -> int:
        return len(self.names)

    def segments(self, positions: FloatArray, world: FloatArray) -> FloatArray:
        """Return world segments [m] (..., C, 2, 3) from joint positions (..., J, 3) and rotations (..., J, 4)."""
        at, turned = positions[..., self.joints, :], world[..., self.joints, :]
        return np.stack([at + rotations.rotate(turned, end) for end in (self.starts, self.ends)], axis=-2)


def armless(body: CapsuleBody) -> CapsuleBody:
    """Return a body without arms and hands; a body without these stays as it is."""
    arms = [f"{side}_{part}" for side in ("left", "right") for part in ARM_PARTS]
    kept = [k for k, name in enumerate(body.names) if name not in arms]
    if len(kept) == len(body):
        return body
    names = tuple(body.names[k] for k in kept)
    return CapsuleBody(body.joints[kept], body.starts[kept], body.ends[kept], body.radii[kept], names)


def capsules(clip: Clip, body: CapsuleBody | None = None) -> FloatArray:
    """Return the world segments of the body in every frame [m]; (F, C, 2, 3). Radii are those of the body."""
    body = capsule_body(clip.skeleton) if body is None else body
    return body.segments(*clip.joint_transforms())


@lru_cache(maxsize=32)
def capsule_body(skeleton: Skeleton) -> CapsuleBody:
    """Build a body sized from the bones: that of a person for a humanoid, else one capsule per bone.

    A humanoid is a skeleton whose hips, legs and head are known by role.
    """
    needed = ["hips", "head", *(f"{s}_{r}" for s in ("left", "right") for r in ("hip", "knee", "ankle"))]
    known = all(role in skeleton.roles for role in needed)
    return _human_body(skeleton) if known else _bone_body(skeleton)


class _CapsuleBuilder:
    """Collector of capsules whose ends are given in the T-pose."""

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton, self.places, self.world = skeleton, t_pose_positions(skeleton), t_pose(skeleton)
        self.rows: list[tuple[int, FloatArray, FloatArray, float, str]] = []

    def at(self, role: str) -> FloatArray:
        return np.asarray(self.places[self.skeleton.roles[role]])

    def add(self, name: str, joint: int, start: FloatArray, end: FloatArray, radius: float) -> None:
        back = rotations.conjugate(self.world[joint])
        ends = [rotations.rotate(back, p - self.places[joint]) for p in (start, end)]
        self.rows.append((joint, ends[0], ends[1], radius, name))

    def tip(self, joint: int, otherwise: FloatArray) -> FloatArray:
        """Return where a joint's bone ends in the T-pose: the rig's tip, its farthest child, or else a guess."""
        if joint in self.skeleton.tips:
            step = rotations.rotate(self.world[joint], self.skeleton.tips[joint])
            return np.asarray(self.places[joint] + step)
        children = self.skeleton.children(joint)
        far = max(children, key=lambda c: float(np.linalg.norm(self.skeleton.offsets[c])), default=None)
        if far is None or np.linalg.norm(self.skeleton.offsets[far]) < 1e-3:
            return np.asarray(self.places[joint] + otherwise)
        return np.asarray(self.places[far])

    def body(self) -> CapsuleBody:
        return CapsuleBody(
            np.array([row[0] for row in self.rows]),
            np.array([row[1] for row in self.rows]),
            np.array([row[2] for row in self.rows]),
            np.array([row[3] for row in self.rows]),
            tuple(row[4] for row in self.rows),
        )


def _human_body(skeleton: Skeleton) -> CapsuleBody:
    size, roles = leg_length(skeleton) / _LEG, skeleton.roles
    build = _CapsuleBuilder(skeleton)
    for side in ("left", "right"):
        for upper, lower, radius in _LIMB_RADII:
            if f"{side}_{upper}" in roles and f"{side}_{lower}" in roles:
                start, end = build.at(f"{side}_{upper}"), build.at(f"{side}_{lower}")
                build.add(f"{side}_{upper}", roles[f"{side}_{upper}"], start, end, radius * size)
        _add_foot(build, side, size)
        if f"{side}_wrist" in roles:
            wrist = roles[f"{side}_wrist"]
            out = np.array([0.0, _HAND_LENGTH * size if side == "left" else -_HAND_LENGTH * size, 0.0])
            end = build.tip(wrist, out)
            build.add(
                f"{side}_hand", wrist, build.places[wrist], 0.8 * end + 0.2 * build.places[wrist], _HAND_RADIUS * size
            )
    _add_trunk(build, size)
    return build.body()


def _add_foot(build: _CapsuleBuilder, side: str, size: float) -> None:
    ankle, toe = build.skeleton.roles[f"{side}_ankle"], build.skeleton.roles.get(f"{side}_toe")
    at = build.places[ankle]
    ball = build.places[toe] if toe is not None else build.tip(ankle, size * np.array([0.13, 0.0, -0.06]))
    low = np.array([at[0], at[1], 0.5 * (at[2] + ball[2])])
    sole = at[2] - sole_depth(build.skeleton)
    above = np.array([-np.inf, -np.inf, sole + _FOOT_RADIUS * size])  # nothing of a flat foot is under the sole
    build.add(f"{side}_foot", ankle, np.maximum(low, above), np.maximum(ball, above), _FOOT_RADIUS * size)
    if toe is not None:
        tip = build.tip(toe, size * np.array([0.07, 0.0, 0.0]))
        above[2] = sole + _TOE_RADIUS * size
        build.add(f"{side}_toes", toe, np.maximum(ball, above), np.maximum(tip, above), _TOE_RADIUS * size)


def _add_trunk(build: _CapsuleBuilder, size: float) -> None:
    roles, parents = build.skeleton.roles, build.skeleton.parents
    left, right = build.at("left_hip"), build.at("right_hip")
    middle = 0.5 * (left + right)
    build.add(
        "pelvis", roles["hips"], middle + 0.7 * (left - middle), middle + 0.7 * (right - middle), _PELVIS_RADIUS * size
    )
    chain = [roles.get("chest", roles["head"])]
    while chain[-1] != roles["hips"] and parents[chain[-1]] >= 0:
        chain.append(int(parents[chain[-1]]))
    for upper, lower in pairwise(chain):
        start, end = build.places[lower], build.places[upper]
        if np.linalg.norm(end - start) > 0.01 * size:
            build.add(f"trunk_{lower}", lower, start, end, _TRUNK_RADIUS * size)
    neck = build.at("neck") if "neck" in roles else 0.8 * build.at("head") + 0.2 * build.places[chain[0]]
    if "chest" in roles:
        build.add(
            "chest", roles["chest"], build.at("chest"), 0.75 * neck + 0.25 * build.at("chest"), _TRUNK_RADIUS * size
        )
        if "left_shoulder" in roles and "right_shoulder" in roles:
            left, right = build.at("left_shoulder"), build.at("right_shoulder")
            middle = 0.5 * (left + right)
            ends = (middle + 0.8 * (left - middle), middle + 0.8 * (right - middle))
            build.add("shoulders", roles["chest"], *ends, _SHOULDER_RADIUS * size)
    if "neck" in roles:
        build.add("neck", roles["neck"], neck, build.at("head"), _NECK_RADIUS * size)
    top = build.tip(roles["head"], np.array([0.0, 0.0, _HEAD_LENGTH * size]))
    radius = _HEAD_RADIUS * size
    up = top - build.at("head")
    length = max(float(np.linalg.norm(up)), 1e-6)
    crown = build.at("head") + up / length * max(length, _HEAD_LENGTH * size)
    start, end = build.at("head") + up / length * 0.4 * radius, crown - up / length * radius
    build.add("head", roles["head"], start, end, radius)


def _bone_body(skeleton: Skeleton) -> CapsuleBody:
    """Build one capsule per bone; thickness grows with length, and long bones are slimmer for their length."""
    build, lengths = _CapsuleBuilder(skeleton), np.linalg.norm(skeleton.offsets, axis=-1)
    typical = float(np.median(lengths[1:])) if len(lengths) > 1 else 0.1
    for joint in range(1, len(skeleton)):
        if lengths[joint] > 0.02 * typical:
            parent = int(skeleton.parents[joint])
            radius = float(np.clip(0.18 * lengths[joint], 0.08 * typical, 0.35 * typical))
            build.add(skeleton.names[joint], parent, build.places[parent], build.places[joint], radius)
    for joint, tip in skeleton.tips.items():
        length = float(np.linalg.norm(tip))
        if length > 0.02 * typical:
            end = build.places[joint] + rotations.rotate(build.world[joint], tip)
            radius = float(np.clip(0.18 * length, 0.08 * typical, 0.35 * typical))
            build.add(f"{skeleton.names[joint]}_tip", joint, build.places[joint], end, radius)
    if not build.rows:  # a single joint without a bone
        build.add(skeleton.names[0], 0, build.places[0], build.places[0], 0.1)
    return build.body()
