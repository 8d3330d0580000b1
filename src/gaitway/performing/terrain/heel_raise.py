"""Heel raise: uphill, a character pushes off from the toes of its rear foot, so that the leg reaches.

A foot whose heel is up already is turned farther about the joint of its toes. The toes, and all parts of the foot that
rest, stay in place, and the body has to come down less.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.clip import Clip
from gaitway.motion.footplants import FootPlan

_FARTHEST = np.radians(8.0)
"""Largest turn of a foot beyond its own motion [rad]."""
_RAISE_S = 0.30
"""Time in which a heel that has left the ground may rise by that [s]."""
_SMOOTH_S = 0.08
"""Width of the filter over the angles [s]."""


def raise_heel(clip: Clip, side: str, plan: FootPlan, heel_down: BoolArray, straightest: float) -> FootPlan:
    """Return the plan of a foot whose heel rises as far as its leg is too short.

    Args:
        clip: motion of a humanoid with the root where it shall be.
        side: "left" or "right".
        plan: targets of the foot.
        heel_down: frames in which the heel is on the ground or hardly leaves it; (F,).
        straightest: share of its length up to which a leg is stretched.
    """
    toe = clip.skeleton.roles.get(f"{side}_toe")
    if toe is None:
        return plan
    hip, knee, ankle = clip.skeleton.require(*(f"{side}_{part}" for part in ("hip", "knee", "ankle")))
    positions = clip.joint_positions()
    bones = np.linalg.norm(np.diff(positions[0, [hip, knee, ankle]], axis=0), axis=-1)
    pivot = plan.ankle + rotations.rotate(plan.foot, clip.skeleton.offsets[toe])
    across = rotations.rotate(plan.foot, np.array([0.0, 1.0, 0.0]))
    angle = _needed(pivot - positions[:, hip], plan.ankle - pivot, across, straightest * float(bones.sum()))
    angle = _gentle(np.where(plan.planted & ~heel_down, angle, 0.0), heel_down, clip.fps)
    turn = rotations.from_axis_angle(across, angle)
    raised = pivot + rotations.rotate(turn, plan.ankle - pivot)
    return replace(plan, ankle=raised, foot=rotations.multiply(turn, plan.foot))


def _needed(pivot: FloatArray, arm: FloatArray, axis: FloatArray, reach: float) -> FloatArray:
    """Return the least angles (F,) by which arms (F, 3) must turn about axes (F, 3) to end within reach of a hip.

    Args:
        pivot: points that the arms turn about, relative to the hip [m]; (F, 3).
        arm: vectors from there to the ankle [m]; (F, 3).
        axis: unit vectors; (F, 3).
        reach: length of the leg [m].
    """
    along = np.sum(arm * axis, axis=-1, keepdims=True) * axis
    flat = arm - along
    # |pivot + turned arm| = reach  <=>  cosine * cos(angle) + sine * sin(angle) = wanted
    cosine, sine = np.sum(pivot * flat, axis=-1), np.sum(pivot * np.cross(axis, flat), axis=-1)
    wanted = 0.5 * (reach**2 - np.sum(pivot**2, axis=-1) - np.sum(arm**2, axis=-1)) - np.sum(pivot * along, axis=-1)
    size = np.maximum(np.hypot(cosine, sine), 1e-12)
    angle = np.arctan2(sine, cosine) + np.arccos(np.clip(wanted / size, -1.0, 1.0))
    angle = (angle + np.pi) % (2.0 * np.pi) - np.pi
    return np.where(cosine > wanted, np.clip(angle, 0.0, _FARTHEST), 0.0)


def _gentle(angle: FloatArray, heel_down: BoolArray, fps: float) -> FloatArray:
    """Return the angles with smooth changes, and zero while the heel is down; (F,)."""
    half = max(round(_RAISE_S * fps / 2.0), 1)
    spread = scipy.ndimage.maximum_filter1d(angle, 2 * half + 1, mode="nearest")
    smooth = scipy.ndimage.gaussian_filter1d(spread, _SMOOTH_S * fps, mode="nearest")
    since = scipy.ndimage.distance_transform_edt(~heel_down) if heel_down.any() else np.full(len(angle), np.inf)
    share = np.clip(since / (_RAISE_S * fps), 0.0, 1.0)
    return np.asarray(smooth * share * share * (3.0 - 2.0 * share))
