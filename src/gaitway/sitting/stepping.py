"""A few steps on the spot: from one standing pose to another one near it, turned as it has to be.

Who comes to a seat as walks happen to end steps to the very place before it, and who has got up steps away from it.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.interpolate import CubicSpline

from gaitway.core import planar, rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import SittingError
from gaitway.library.behavior import Library
from gaitway.motion.clip import Clip
from gaitway.motion.editing import move
from gaitway.sitting.figure import Figure, Posture, figure_of, smooth

FARTHEST = 1.2
"""Largest distance that is stepped [m]; who is farther away walks."""
_FPS = 30.0
_STRIDE, _TURN = 0.28, math.radians(65.0)
"""Largest distance [m] and turn [rad] of a pair of steps."""
_PAIR_S = 0.95
"""Time of a pair of steps [s]."""
_SWINGS = ((0.04, 0.49), (0.51, 0.96))
"""When the first and the second foot are in the air, as shares of a pair of steps."""
_LIFT, _DROP = 0.05, 0.012
"""How high feet are lifted and how far the hips sink meanwhile, for the built-in person [m]."""
_OVER = 0.5
"""How far the hips go over the foot that stands, as a share of the way there."""
_SAME = 1e-3
"""Poses nearer than this are the same [m, rad]."""


def step_aside(body: Library | Clip | Figure, start: FloatArray, end: FloatArray, floor: float = 0.0) -> Clip | None:
    """Return the steps from one standing pose to another, at 30 Hz in the world; None if both are the same.

    Args:
        body: a library, or a clip that begins in the standing pose.
        start: where the root is first: x, y [m], heading [rad]; (3,).
        end: where it is at last; (3,).
        floor: height of the floor [m].

    Raises:
        SittingError: if the poses are more than 1.2 m apart, or the body has no legs that are known.
    """
    figure, away = figure_of(body), planar.relative(np.asarray(end, float), np.asarray(start, float))
    angle, far = float(planar.wrap_angle(away[2])), float(np.hypot(*away[:2]))
    if far > FARTHEST:
        raise SittingError(f"{far:.2f} m to step aside; walk there, steps aside take at most {FARTHEST:g} m")
    if far < _SAME and abs(angle) < _SAME:
        return None
    pairs = max(math.ceil(far / _STRIDE - 1e-6), math.ceil(abs(angle) / _TURN - 1e-6), 1)
    shares = np.linspace(1.0, 0.0, pairs + 1)
    posture, planted = _posture(figure, away[:2], angle, shares)
    clip = figure.posed(posture, _FPS)
    contacts = figure.contacts(planted, np.ones_like(planted))
    roots, turns = np.array(clip.root_positions), np.array(clip.rotations)
    for frame, pose in ((0, np.array([away[0], away[1], angle])), (-1, np.zeros(3))):
        stand = move(figure.stand, pose)  # free of the rounding of IK
        roots[frame], turns[frame] = stand.root_positions[0], stand.rotations[0]
    clip = move(replace(clip, root_positions=roots, rotations=turns, contacts=contacts, name="step aside"), end)
    return replace(clip, root_positions=clip.root_positions + np.array([0.0, 0.0, floor]))


def _posture(figure: Figure, away: FloatArray, angle: float, shares: FloatArray) -> tuple[Posture, BoolArray]:
    """Return the posture in the frame of the last pose, and which feet are planted (F, 2).

    Args:
        figure: the body.
        away: the first place in that frame [m]; (2,).
        angle: the first heading in that frame [rad].
        shares: how much of both is left after each pair of steps, from 1 to 0; (P + 1,).
    """
    pairs = len(shares) - 1
    frames = round(pairs * _PAIR_S * _FPS) + 1
    time = np.linspace(0.0, float(pairs), frames)
    # the foot toward which the body turns or goes is the first
    sideways = float(-away[1]) if abs(angle) < 0.2 else -angle
    first = 0 if sideways > 0.0 else 1
    ankles, yaws = np.empty((frames, 2, 3)), np.empty((frames, 2))
    planted = np.ones((frames, 2), dtype=np.bool_)
    for foot in range(2):
        low, high = _SWINGS[0 if foot == first else 1]
        left = np.ones(frames)
        lift = np.zeros(frames)
        for pair in range(pairs):
            own = smooth(time - pair, low, high)
            left += own * (shares[pair + 1] - shares[pair])
            lift += 16.0 * (own * (1.0 - own)) ** 2
            planted[:, foot] &= (own <= 0.0) | (own >= 1.0)
        yaws[:, foot] = left * angle
        ankles[:, foot] = rotations.rotate(rotations.from_yaw(yaws[:, foot]), figure.ankles[foot])
        ankles[:, foot, :2] += left[:, None] * away
        ankles[:, foot, 2] += _LIFT * figure.size * lift
    trunk = 0.5 * (yaws[:, 0] + yaws[:, 1])
    soft = np.convolve(np.pad(trunk, 4, mode="edge"), np.ones(9) / 9.0, mode="valid")
    soft[0], soft[-1] = trunk[0], trunk[-1]
    bend = np.column_stack([soft, np.zeros(frames), np.zeros(frames)])
    return (
        Posture(
            hips=_hips(figure, away, angle, shares, first, time), pelvis=bend, chest=bend.copy(), head=bend.copy(),
            seated=np.zeros(frames), ankles=ankles,
            turns=np.stack([yaws, np.zeros_like(yaws)], axis=-1), knees=np.zeros((frames, 2)),
        ),
        planted,
    )  # fmt: skip


def _hips(
    figure: Figure, away: FloatArray, angle: float, shares: FloatArray, first: int, time: FloatArray
) -> FloatArray:
    """Return the middle between the hips, which goes over one foot and the other [m]; (F, 3)."""

    def standing(share: float, point: FloatArray) -> FloatArray:
        out = rotations.rotate(rotations.from_yaw(share * angle), point)
        return np.asarray(out + np.array([*(share * away), 0.0]))

    knots, places = [0.0], [standing(shares[0], figure.hips)]
    for pair in range(len(shares) - 1):
        for swing, foot in ((0, 1 - first), (1, first)):  # the foot that stands meanwhile
            at = 0.5 * sum(_SWINGS[swing])
            share = shares[pair] + at * (shares[pair + 1] - shares[pair])
            over = standing(shares[pair + swing], figure.ankles[foot])
            middle = standing(float(share), figure.hips)
            middle[:2] += _OVER * (over - middle)[:2]
            knots.append(pair + at)
            places.append(middle)
    knots.append(float(len(shares) - 1))
    places.append(standing(0.0, figure.hips))
    way = np.asarray(CubicSpline(np.array(knots), np.array(places), axis=0, bc_type="clamped")(time))
    ends = smooth(time, 0.0, 0.4) * (1.0 - smooth(time, time[-1] - 0.4, float(time[-1])))
    way[:, 2] -= _DROP * figure.size * ends
    return way
