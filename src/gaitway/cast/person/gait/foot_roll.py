"""One foot on the floor: how it rolls over heel, sole, ball and toes, and how it clears the ground in between.

A foot target is a row of six: ankle x, y, z [m], yaw, pitch (toes up positive) and roll [rad].
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter1d

from gaitway.cast.curves import smooth_step
from gaitway.cast.person.gait import _kernels
from gaitway.cast.person.skeleton import BALL, HEEL, LEG, TOE_TIP
from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray, owned

TOES_FLAT = 0.42
"""The heel rises by this angle [rad] over toes that lie flat; beyond it the toes rise as well."""
TOE_SHARE = 0.8
"""Share of any further rise that lifts the ball over the tip of the toes."""
LANDING_REACH = 0.975
"""Longest leg with which a foot is set down where its place is free, as a share of the straight leg."""
TRAILING_REACH = 0.99
"""A standing leg that trails further than this raises its heel, as a share of the straight leg."""
TOE_JOINT: FloatArray = owned((BALL[0], 0.0, -0.06), "toe joint", (3,))
"""Seen from the ankle, in the foot's frame [m]."""
TOES: FloatArray = owned((TOE_TIP[0] - BALL[0], 0.0, -0.02), "toes", (3,))
"""Their tip seen from the toe joint, in the toes' frame [m]."""
TOE_RADIUS, TOE_GIVE = 0.026, 0.006
"""How thick the round end of the toes is, and how far it may be pressed into the floor [m]."""
FOOT: FloatArray = owned(
    (TOE_JOINT[0], TOE_JOINT[2], TOES[0], TOES[2], HEEL[0], HEEL[2], TOES_FLAT, TOE_SHARE), "foot", (8,)
)
"""Shape of a foot for the kernels: along and up of toe joint, toes and heel [m], then how the toes rise."""


def foot_target(ankle: FloatArray, world: FloatArray) -> FloatArray:
    """Return the ankle position and the foot's yaw, pitch (toes up positive) and sideways tilt; (F, 6).

    Yaw is that of the foot's left side, which is known even where the toes point straight down behind a jogger.
    """
    m = rotations.to_matrix(world)
    yaw = np.unwrap(np.arctan2(-m[:, 0, 1], m[:, 1, 1]))
    pitch = np.arctan2(m[:, 2, 0], m[:, 2, 2])
    return np.column_stack([ankle, yaw, pitch, np.arcsin(np.clip(m[:, 2, 1], -1.0, 1.0))])


def foot_rotation(yaw: FloatArray, pitch: FloatArray, tilt: FloatArray) -> FloatArray:
    """Return world rotations (F, 4) of a foot with this yaw, pitch (toes up positive) and sideways tilt [rad] (F,)."""
    return rotations.from_euler("zxy", np.stack([yaw, tilt, -pitch], axis=-1))


def rest_flat(pitch: FloatArray) -> FloatArray:
    """Return the stance pitch with a flat part: small angles become exactly zero, and toes rise only near the ends."""
    size = np.abs(pitch)
    calm = pitch - np.clip(pitch, -0.07, 0.07) * (1.0 - smooth_step(size, 0.03, 0.30))
    calm = np.where(size < 0.03, 0.0, calm)
    share = np.linspace(0.0, 1.0, len(pitch))
    middle = smooth_step(share, 0.25, 0.4) * (1.0 - smooth_step(share, 0.6, 0.75))
    return np.where(calm > 0.0, calm * (1.0 - middle), calm)


def overstride(reach: FloatArray) -> FloatArray:
    """Return how much farther than a bent leg reaches a foot would land: horizontal part of hip to ankle [m]; (2,)."""
    length = float(np.hypot(reach[0], reach[1]))
    room = float(np.sqrt(max((LANDING_REACH * LEG) ** 2 - reach[2] ** 2, 0.01)))
    return np.asarray(reach[:2] * max(1.0 - room / max(length, 1e-9), 0.0))


def heel_rise(pitch: FloatArray, ankle: FloatArray, yaw: float, hip: FloatArray, left: FloatArray) -> FloatArray:
    """Return the stance pitch with the heel raised as far as a trailing leg needs it, `left` [s] before lift."""
    late = smooth_step(np.linspace(0.0, 1.0, len(pitch)), 0.3, 0.6) * (1.0 - smooth_step(left, 0.2, 0.5))
    raised = pitch.copy()
    _kernels.raise_heel(ankle, yaw, np.ascontiguousarray(hip), late, FOOT, TRAILING_REACH * LEG, raised)
    return raised


def roll(ankle: FloatArray, yaw: npt.ArrayLike, pitch: FloatArray) -> FloatArray:
    """Return the ankle positions (n, 3) of a foot that stands flat with its ankle at `ankle` when the pitch is zero.

    Args:
        ankle: Ankle position of the flat foot [m]; (3,) or (n, 3).
        yaw: Heading of the foot [rad]; a number or (n,).
        pitch: Toes up positive [rad]; (n,).
    """
    out = np.empty((len(pitch), 3))
    _kernels.roll(ankle.reshape(-1, 3), np.asarray(yaw, dtype=np.float64).reshape(-1), pitch, FOOT, out)
    return out


def toe_bend(pitch: FloatArray, on_ground: BoolArray, fps: float) -> FloatArray:
    """Return the upward bend of the toes [rad]: flat on the floor while the heel is up, relaxed in the swing; (F,)."""
    frames, never = np.arange(len(pitch)), 10 * len(pitch)
    since = frames - np.maximum.accumulate(np.where(on_ground, frames, -never))
    until = np.minimum.accumulate(np.where(on_ground, frames, never)[::-1])[::-1] - frames
    down = np.maximum(-pitch, 0.0)
    fade = np.minimum(0.2 * fps, 0.5 * (since + until))
    near = 1.0 - smooth_step(np.minimum(since, until) / np.maximum(fade, 1.0))
    bend: FloatArray = (down - TOE_SHARE * np.maximum(down - TOES_FLAT, 0.0)) * near
    return bend


def clear_floor(foot: FloatArray, bend: FloatArray, on_ground: BoolArray, floor: FloatArray, fps: float) -> None:
    """Lift a swinging foot (F, 6) that would dig into the floor, whose height [m] is `floor` (F,); in place."""
    level = np.cos(foot[:, 5])
    up_ahead, up = np.sin(foot[:, 4]) * level, np.cos(foot[:, 4]) * level  # what x and z of the foot rise by
    ahead, over = np.cos(bend), np.sin(bend)
    toes_ahead, toes_up = up_ahead * ahead + up * over, up * ahead - up_ahead * over  # and those of the bent toes
    heel = HEEL[0] * up_ahead + HEEL[2] * up
    joint = TOE_JOINT[0] * up_ahead + TOE_JOINT[2] * up
    ball, tip = joint + TOES[2] * toes_up, joint + TOES[0] * toes_ahead + TOES[2] * toes_up
    cap = joint + TOES[0] * toes_ahead + (TOE_RADIUS + TOES[2]) * toes_up - (TOE_RADIUS - TOE_GIVE)
    sole = foot[:, 2] + np.minimum(np.minimum(heel, ball), np.minimum(tip, cap)) - floor
    dig = np.where(on_ground, 0.0, np.maximum(-sole, 0.0))
    foot[:, 2] += np.where(on_ground, 0.0, np.maximum(dig, gaussian_filter1d(dig, 0.04 * fps)))
