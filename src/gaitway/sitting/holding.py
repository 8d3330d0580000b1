"""Manners of sitting as one body takes them on one seat: within the room before, behind and under it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from gaitway.core.arrays import FloatArray, read_only
from gaitway.motion.body import capsules
from gaitway.sitting.figure import SIDES, Posture
from gaitway.sitting.manners import Manner
from gaitway.sitting.seat import box_distance
from gaitway.sitting.settling import Settled, pitched, thigh_points

_SINK = 0.008
"""How far thighs may sink into the front edge of a seat while feet are elsewhere [m]."""
_CROSSED = -0.05
"""Inward way of a foot beyond which it crosses the other: it goes there whole or not at all [m]."""


@dataclass(frozen=True, eq=False)
class HeldManner:
    """A manner of sitting, as one body takes it."""

    manner: Manner
    bends: FloatArray
    """Pitch of pelvis, chest and head [rad]; (3,)."""
    ankles: FloatArray
    """Both ankles in the frame of the seat [m]; (2, 3)."""
    turns: FloatArray
    """Yaw of both feet away from standing, and pitch of both (heels up) [rad]; (2, 2)."""
    knees: FloatArray
    """How far outward of its foot each knee points, as a slope; (2,)."""


@lru_cache(maxsize=512)
def hold(settled: Settled, manner: Manner) -> HeldManner:
    """Return how a body takes a manner: feet go as far, and the trunk leans as far back, as the seat has room."""
    feet = (manner.left_foot, manner.right_foot)
    signs = np.array([1.0, -1.0])
    ways = settled.figure.size * np.array([[f.ahead, s * f.outward, 0.0] for f, s in zip(feet, signs, strict=True)])
    turns = np.radians([s * f.turn_deg for f, s in zip(feet, signs, strict=True)])
    knees = np.array([f.knee for f in feet])
    if not settled.seat.open_below:
        least = settled.figure.radius("left_knee") + 0.01 - settled.ankles[:, 0]
        ways[:, 0] = np.maximum(ways[:, 0], np.minimum(least, 0.0))
    for foot, one in enumerate(feet):
        if one.ahead_of_other is not None:
            other = settled.ankles[1 - foot, 0] + ways[1 - foot, 0]
            ways[foot, 0] = other + settled.figure.size * one.ahead_of_other - settled.ankles[foot, 0]
    pitches = np.zeros(2)
    share = 1.0
    if min(f.outward for f in feet) > _CROSSED:
        share = _largest_share(settled, ways, turns, knees)
    else:  # feet cross whole or not at all; heels come up as far as a high seat asks for
        tried = [np.full(2, np.radians(angle)) for angle in (0.0, 10.0, 20.0, 30.0, 38.0)]
        raised = [ways + np.array([settled.figure.raised(k, p[k]) for k in range(2)]) for p in tried]
        fits = [k for k in range(len(tried)) if not _sinks(settled, raised[k], turns, knees)]
        share, ways, pitches = (1.0, raised[fits[0]], tried[fits[0]]) if fits else (0.0, ways, pitches)
    bends = np.radians([manner.pelvis_deg, manner.chest_deg, manner.head_deg])
    if settled.seat.backrest:
        bends = _before_backrest(settled, bends, manner.leans_back)
    places, feet_turns = settled.ankles + share * ways, np.stack([share * turns, pitches], axis=1)
    return HeldManner(manner, read_only(bends), read_only(places), read_only(feet_turns), read_only(share * knees))


def _largest_share(settled: Settled, ways: FloatArray, turns: FloatArray, knees: FloatArray) -> float:
    """Return how far feet can go of their ways, as a share, without thighs that sink into the seat."""
    if not _sinks(settled, ways, turns, knees):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(10):
        share = 0.5 * (low + high)
        low, high = (low, share) if _sinks(settled, share * ways, share * turns, share * knees) else (share, high)
    return low


def seated_posture(
    settled: Settled, bends: FloatArray, ankles: FloatArray, turns: FloatArray, knees: FloatArray
) -> Posture:
    """Return one posture of who sits: pitches (3,) [rad], ankles (2, 3) [m], yaw of feet (2,) [rad], and knees (2,)."""
    feet = np.zeros((1, 2, 2))
    feet[0, :, 0] = turns
    pelvis, chest, head = (pitched(bend, 1) for bend in bends)
    return Posture(settled.hips[None], pelvis, chest, head, np.ones(1), ankles[None], feet, knees[None])


def _sinks(settled: Settled, ways: FloatArray, turns: FloatArray, knees: FloatArray) -> bool:
    """Return whether thighs sink into the seat, or a leg is too short, with feet that have moved."""
    figure, ankles = settled.figure, settled.ankles + ways
    posed = figure.posed(seated_posture(settled, np.zeros(3), ankles, turns, knees), 30.0)
    low, high = settled.seat.boxes()[0]
    places = posed.joint_positions()[0]
    short = max(float(np.abs(places[figure.joint(f"{s}_ankle")] - ankles[k]).max()) for k, s in enumerate(SIDES))
    sunk = float((figure.radius("left_hip") - box_distance(thigh_points(figure, posed), low, high)).max())
    return sunk > _SINK or short > 1e-6


def _before_backrest(settled: Settled, bends: FloatArray, leans: bool) -> FloatArray:
    """Return pitches with which the trunk does not go into the backrest; who leans back just touches it."""
    figure = settled.figure
    names = [k for k, name in enumerate(figure.body.names) if name.startswith(("trunk", "chest", "shoulders"))]

    def gap(back: float) -> float:
        pitch = bends - np.array([0.8 * back, back, 0.5 * back])
        posture = seated_posture(settled, pitch, settled.ankles, np.zeros(2), np.zeros(2))
        ends = capsules(figure.posed(posture, 30.0), figure.body)[0, names]
        return float((ends[..., 0] - figure.body.radii[names, None]).min()) + settled.seat.depth

    low, high = np.radians([-25.0, 14.0 if leans else 0.0])
    if gap(high) >= 0.0:
        return bends - np.array([0.8 * high, high, 0.5 * high])
    for _ in range(14):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if gap(middle) < 0.0 else (middle, high)
    return bends - np.array([0.8 * low, low, 0.5 * low])
