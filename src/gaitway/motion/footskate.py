"""Foot-skate clean-up: planted feet are pinned, and the rest of the body follows without a pop.

The order of work follows the idea of Kovar, Schreiner and Gleicher ("Footskate cleanup for motion capture editing",
2002): fix where planted points are, find where the ankles must be, move the root as little and as smoothly as the
legs need, solve each leg in closed form, and ease every correction in and out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.anatomy import pole_direction
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import detect_contacts
from gaitway.motion.footplants import FootPlan, bridge_track, plan_foot
from gaitway.motion.ik import LEFT_LEG, RIGHT_LEG, SOFTNESS, set_limb, two_bone
from gaitway.motion.kinematics import forward_kinematics

_LEGS = {"left": LEFT_LEG, "right": RIGHT_LEG}
_FOLLOW_S = 0.15
"""Time constant with which the root follows the mean correction of both feet [s]."""
DAMPING_S = 0.03
"""Width of the filter over the changed angle of a free leg's knee [s]; wider is calmer and less exact."""
_DROP_S = 0.20
"""Time over which the root is lowered and raised again [s]."""
DEEPEST = 0.12
"""Greatest lowering of the root for the sake of a leg, unless the caller says otherwise [m]."""


def clean_footskate(clip: Clip, *, window_s: float = 0.3, hold: bool = False) -> Clip:
    """Return the clip with its planted feet pinned.

    Args:
        clip: motion of a humanoid. Contacts are detected where it has none.
        window_s: time over which corrections fade where no other stance follows [s].
        hold: whether corrections of a flat foot stay until it has left the ground; for feet that were moved by much.

    Returns:
        The clip with new root positions and legs; contacts as they were.
    """
    clip = clip if clip.contacts is not None else detect_contacts(clip)
    clip.skeleton.require(*LEFT_LEG, *RIGHT_LEG)
    positions, world = clip.joint_transforms()
    plans = {side: plan_foot(clip, side, positions, world, window_s, hold) for side in _LEGS}
    return reach_feet(replace(clip, root_positions=clip.root_positions + _root_shift(clip, plans, positions)), plans)


def reach_feet(clip: Clip, plans: Mapping[str, FootPlan], *, straightest: float = 1.0, drop_s: float = _DROP_S) -> Clip:
    """Return the clip with both legs led to the targets of its feet; the root is lowered where planted feet need it.

    Args:
        clip: motion of a humanoid.
        plans: targets of the feet, by side: "left" and "right".
        straightest: as in `root_drop`.
        drop_s: as in `root_drop` [s].
    """
    return with_legs(lowered(clip, root_drop(clip, plans, straightest=straightest, drop_s=drop_s)), plans)


def lowered(clip: Clip, drop: FloatArray) -> Clip:
    """Return the clip with its root lowered by a height [m] in each frame (F,)."""
    return replace(clip, root_positions=clip.root_positions - np.array([0.0, 0.0, 1.0]) * drop[:, None])


def _root_shift(clip: Clip, plans: Mapping[str, FootPlan], positions: FloatArray) -> FloatArray:
    """Return the slow part of what planted feet are moved by [m]; (F, 3). It spares the legs all but the quick part."""
    total, weight = np.zeros((len(clip), 3)), np.zeros(len(clip))
    for side, plan in plans.items():
        shift = plan.ankle - positions[:, clip.skeleton.roles[f"{side}_ankle"]]
        share = plan.planted + 1e-3
        total, weight = total + share[:, None] * shift, weight + share
    smooth: FloatArray = scipy.ndimage.gaussian_filter1d(
        total / weight[:, None], _FOLLOW_S * clip.fps, axis=0, mode="nearest"
    )
    return smooth


def root_drop(
    clip: Clip,
    plans: Mapping[str, FootPlan],
    *,
    deepest: float = DEEPEST,
    straightest: float = 1.0,
    drop_s: float = _DROP_S,
) -> FloatArray:
    """Return how far the root must sink for legs to reach planted feet [m]; (F,), smooth and never too little.

    Args:
        clip: motion of a humanoid.
        plans: targets of the feet, by side: "left" and "right".
        deepest: the root sinks by no more than this [m].
        straightest: share of its length up to which a planted leg is stretched, unless it is in the clip itself.
        drop_s: time that it takes to come and to go [s].
    """
    need, positions = np.zeros(len(clip)), clip.joint_positions()
    for side, plan in plans.items():
        hip, knee, ankle = (clip.skeleton.roles[role] for role in _LEGS[side])
        bones = [np.linalg.norm(positions[0, b] - positions[0, a]) for a, b in ((hip, knee), (knee, ankle))]
        own = np.linalg.norm(positions[:, ankle] - positions[:, hip], axis=-1)
        length = float(bones[0] + bones[1])
        reach = np.minimum((1.0 - 1.06 * SOFTNESS) * length, np.maximum(straightest * length, own))
        line = plan.ankle - positions[:, hip]
        level = np.minimum(np.sum(line[:, :2] ** 2, axis=-1), reach**2)
        short = -line[:, 2] - np.sqrt(reach**2 - level)
        need = np.maximum(need, np.where(plan.planted, short, 0.0))
    half = max(int(0.5 * drop_s * clip.fps), 1)
    # the filter looks no farther than the maximum was spread, so it never falls below the need
    spread = scipy.ndimage.maximum_filter1d(np.minimum(need, deepest), 2 * half + 1, mode="nearest")
    drop: FloatArray = scipy.ndimage.gaussian_filter1d(spread, 0.4 * half, radius=half, mode="nearest")
    return drop


def _damped_ankle(hip: FloatArray, knee: FloatArray, ankle: FloatArray, plan: FootPlan, fps: float) -> FloatArray:
    """Return where the ankle goes [m]; (F, 3). Planted, it is where the plan says; in the air the knee comes first.

    A leg that is nearly straight turns millimetres at the ankle into degrees at the knee, so what the plan changes of
    the knee's angle is smoothed in time wherever the foot is free.
    """
    a, b = float(np.linalg.norm(knee[0] - hip[0])), float(np.linalg.norm(ankle[0] - knee[0]))
    line = plan.ankle - hip
    length = np.linalg.norm(line, axis=-1)
    reach = np.clip(length, abs(a - b) + 1e-4, (1.0 - 0.5 * SOFTNESS) * (a + b))
    bent = _bend(np.linalg.norm(ankle - hip, axis=-1), a, b)
    change = _bend(reach, a, b) - bent
    smooth = scipy.ndimage.gaussian_filter1d(change, DAMPING_S * fps, mode="nearest")
    rest = np.where(plan.planted, change - smooth, 0.0)
    change = smooth + bridge_track(rest, plan.planted, fps, 3.0 * DAMPING_S)
    angle = np.clip(bent + change, 0.0, np.pi)
    wanted = np.sqrt(a * a + b * b + 2.0 * a * b * np.cos(angle))
    out = hip + line * (wanted / np.maximum(length, 1e-9))[:, None]
    return np.where(plan.planted[:, None], plan.ankle, out)


def _bend(reach: FloatArray, a: float, b: float) -> FloatArray:
    """Return how far two bones are bent when they span a distance [rad]; 0 is straight."""
    return np.asarray(np.arccos(np.clip((reach**2 - a * a - b * b) / (2.0 * a * b), -1.0, 1.0)))


def with_legs(clip: Clip, plans: Mapping[str, FootPlan]) -> Clip:
    """Return the clip with both legs led to the targets of its feet; the root stays."""
    positions, world = forward_kinematics(clip.skeleton, clip.root_positions, clip.rotations)
    local, parents = np.array(clip.rotations), clip.skeleton.parents.tolist()
    for side, plan in plans.items():
        chain = _LEGS[side]
        hip, knee, ankle = clip.skeleton.require(*chain)
        pole = rotations.rotate(world[:, hip], pole_direction(clip.skeleton, chain))
        points = positions[:, hip], positions[:, knee], positions[:, ankle]
        target = _damped_ankle(*points, plan, clip.fps)
        upper, lower = two_bone(*points, world[:, hip], world[:, knee], target, pole)
        set_limb(local, world, parents, (hip, knee, ankle), (upper, lower, plan.foot))
        toe = clip.skeleton.roles.get(f"{side}_toe")
        if toe is not None and plan.toes is not None:
            local[:, toe] = rotations.multiply(rotations.conjugate(plan.foot), plan.toes)
    return replace(clip, rotations=rotations.normalize(local))
