"""Knees of clips that are bent to other poses: they stay bent forward where the captured ones are nearly straight.

A clip whose first pose bends the knee less than the captured frame does also stretches the frames after it. Where the
captured knee is nearly straight it would then bend backward or sideways, and jerk as soon as the foot is held.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.anatomy import t_pose
from gaitway.motion.blending import ease
from gaitway.motion.clip import Clip
from gaitway.motion.ik import LEFT_LEG, RIGHT_LEG, reach
from gaitway.motion.limits import anatomical_angles, joint_limits

_STRAIGHT = np.radians(8.0)
"""Bend up to which a knee is nearly straight; no knee needs to be bent more [rad]."""
_SOFT = np.radians(2.0)
"""Range around the least bend in which the correction of a knee sets in [rad]."""
_EASE_S = 0.1
"""Time from the ends of a clip, which do not change, to full correction [s]."""


def with_bent_knees(clip: Clip, raw: Clip) -> Clip:
    """Return a clip whose knees are bent at least as much as those of the frames it was made from, or nearly straight.

    Ankles and feet stay where they are, and the first and the last frame stay as they are.

    Args:
        clip: Motion of a humanoid.
        raw: Frames that it was made from, as many.
    """
    limits = joint_limits(clip.skeleton)
    bends, own = anatomical_angles(clip, limits)[..., 0], anatomical_angles(raw, limits)[..., 0]
    frames = np.arange(len(clip))
    share = ease(np.minimum(np.minimum(frames, frames[::-1]) / max(_EASE_S * clip.fps, 1.0), 1.0))
    rows = limits.joints.tolist()
    out = clip
    for chain in (LEFT_LEG, RIGHT_LEG):
        knee, ankle = clip.skeleton.require(*chain[1:])
        if knee not in rows:
            continue
        row = rows.index(knee)
        more = share * _rise(np.minimum(own[:, row], _STRAIGHT) - bends[:, row])
        if more.max(initial=0.0) <= _SOFT:
            continue
        places, world = out.joint_transforms()
        turned = _bent(out, knee, int(limits.bases[row]), limits.axes[row, 0], more)
        out = reach(turned, chain, places[:, ankle], weights=share, end_rotations=world[:, ankle])
    return out


def _rise(lack: FloatArray) -> FloatArray:
    """Return by how much bends are raised that lack an angle [rad]; it sets in smoothly around zero; (F,)."""
    soft = np.clip(lack + _SOFT, 0.0, 2.0 * _SOFT) ** 2 / (4.0 * _SOFT)
    return np.asarray(np.where(lack > _SOFT, lack, soft))


def _bent(clip: Clip, knee: int, thigh: int, axis: FloatArray, more: FloatArray) -> Clip:
    """Return the clip with one knee bent more [rad] (F,), about its axis in the T-pose (3,)."""
    _, world = clip.joint_transforms()
    base = rotations.multiply(world[:, thigh], rotations.conjugate(t_pose(clip.skeleton)[thigh]))
    spin = rotations.from_rotation_vector(rotations.rotate(base, axis) * more[:, None])
    above = world[:, int(clip.skeleton.parents[knee])]
    local = np.array(clip.rotations)
    local[:, knee] = rotations.multiply(rotations.conjugate(above), rotations.multiply(spin, world[:, knee]))
    return replace(clip, rotations=rotations.normalize(local))
