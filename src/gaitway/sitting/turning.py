"""Who comes along a bench turns before it sits down: two steps and a quarter turn, away from the seat.

The foot that the body turns toward goes first. The hips go over the foot that stands; head and chest lead.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.interpolate import PchipInterpolator

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import SittingError
from gaitway.core.suggest import did_you_mean
from gaitway.motion.blending import ease
from gaitway.sitting.figure import Posture, smooth
from gaitway.sitting.settling import Settled

FRONT = "front"
HEADINGS = {FRONT: 0.0, "left": 0.5 * np.pi, "right": -0.5 * np.pi}
"""Sides on which who stands has the seat, "front" for one who has it behind, and the heading there [rad]."""
TURN_S, OVERLAP_S = 1.25, 0.30
"""Time of the turn, and how long before its end the body begins to go down [s]."""
_AWAY = 0.17
"""How much farther from the seat who stands along it stops, for the built-in person [m]."""
_SWINGS = ((0.06, 0.52), (0.46, 0.94))
"""When the first and the second foot are in the air, as shares of the turn."""
_LIFT = 0.055
"""How high a foot is lifted, for the built-in person [m]."""
_AROUND = 0.10
"""How far the first foot swings around the one that stands, for the built-in person [m]."""
_DROP = 0.012
"""How far the hips sink meanwhile, for the built-in person [m]."""


def side_of(side: str) -> float:
    """Return the heading of who stands with the seat on a side, as seen from the seat [rad].

    Raises:
        SittingError: if there is no such side.
    """
    if side not in HEADINGS:
        raise SittingError(f"seat on the side '{side}'; write {', '.join(HEADINGS)}{did_you_mean(side, HEADINGS)}")
    return float(HEADINGS[side])


def start_root(settled: Settled, side: str) -> FloatArray:
    """Return where the root stands first, in the frame of the seat [m]; (2,)."""
    away = 0.0 if side == FRONT else _AWAY * settled.figure.size
    return np.asarray(settled.root + np.array([away, 0.0]))


def turned(settled: Settled, posture: Posture, side: str, frames: FloatArray, fps: float) -> tuple[Posture, BoolArray]:
    """Return the posture with a turn before it, and which feet are planted (F, 2).

    Args:
        settled: how the body takes the seat.
        posture: what it does after the turn.
        side: where the seat is as seen from who stands.
        frames: frames from the begin of the turn; (F,).
        fps: frame rate [Hz].
    """
    planted, angle = np.ones((len(posture), 2), dtype=np.bool_), side_of(side)
    if angle == 0.0:
        return posture, planted
    figure, share = settled.figure, frames / (TURN_S * fps)
    yaw = rotations.from_yaw(angle)
    root = np.array([*start_root(settled, side), 0.0])
    begins = rotations.rotate(yaw, figure.ankles) + root
    first = 1 if angle > 0.0 else 0  # turns to the right: the right foot goes first
    ankles, turns = np.array(posture.ankles), np.array(posture.turns)
    for foot in range(2):
        own = smooth(share, *_SWINGS[0 if foot == first else 1])
        ankles[:, foot] += (1.0 - own)[:, None] * (begins[foot] - ankles[:, foot])
        bump = figure.size * 16.0 * (own * (1.0 - own)) ** 2
        ankles[:, foot, 2] += _LIFT * bump
        ankles[:, foot, 0] += (_AROUND if foot == first else 0.0) * bump
        turns[:, foot, 0] += (1.0 - own) * angle
        planted[:, foot] = (own <= 0.0) | (own >= 1.0)
    hips = posture.hips + _hips_away(settled, begins, first, rotations.rotate(yaw, figure.hips) + root, share)
    out = replace(posture, hips=hips, ankles=ankles, turns=turns)
    for part, low, high in ((out.pelvis, 0.08, 0.96), (out.chest, 0.04, 0.88), (out.head, 0.0, 0.72)):
        part[:, 0] += angle * (1.0 - smooth(share, low, high))
    return out, planted


def _hips_away(settled: Settled, begins: FloatArray, first: int, start: FloatArray, share: FloatArray) -> FloatArray:
    """Return how far the hips are from where they go down, while they go over one foot and the other [m]; (F, 3)."""
    end, ends = settled.way[0], settled.ankles
    over = [begins[1 - first], ends[first]]  # the feet that stand while the other one is in the air
    middles = [sum(swing) / 2.0 for swing in _SWINGS]
    places = [start]
    for at, foot in zip(middles, over, strict=True):
        straight = start + at * (end - start)
        places.append(straight + 0.5 * (foot - straight) * np.array([1.0, 1.0, 0.0]))
    knots = np.array([0.0, *middles, 1.0])
    way = PchipInterpolator(knots, np.array([*places, end]) - end, axis=0)(
        0.4 * smooth(share, 0.0, 1.0) + 0.6 * ease(share)
    )
    way[:, 2] -= _DROP * settled.figure.size * (4.0 * smooth(share, 0.0, 1.0) * (1.0 - smooth(share, 0.0, 1.0)))
    return np.where((share >= 1.0)[:, None], 0.0, way)
