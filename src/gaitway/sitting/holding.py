"""Manners of sitting as one body takes them on one seat: within the room before, behind and under it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from gaitway.core.arrays import FloatArray, read_only
from gaitway.motion.body import capsules
from gaitway.motion.clip import Clip
from gaitway.sitting.figure import SIDES, Figure, Posture
from gaitway.sitting.hands import SOFT_REACH, STRETCH, closest_points, hand_goal, led_arm
from gaitway.sitting.manners import BeforeTrunk, HandPlace, Manner, OnThigh
from gaitway.sitting.seat import box_distance
from gaitway.sitting.settling import Settled, pitched, settled_shape, thigh_points

_SINK = 0.008
"""How far thighs may sink into the front edge of a seat while feet are elsewhere [m]."""

_NEAREST = 0.24
"""Least share of the thigh at which a hand lies."""
_TOUCH, _LEGS_TOUCH = 0.006, 0.009
"""How deep crossed arms and crossed legs may press into one another [m]."""
OVER, AROUND = 0.13, 0.06
"""How high a foot is lifted that goes over the other one, and how far ahead it goes around its shank [m]."""


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
    hands: tuple[HandPlace, HandPlace]
    """Places of the left and right hand: those of the manner, or less far across the trunk for long arms."""


def hold(settled: Settled, manner: Manner) -> HeldManner:
    """Return how a body takes a manner: feet go as far, and the trunk leans as far back, as the seat has room."""
    return _hold(settled_shape(settled), manner)


@lru_cache(maxsize=512)
def _hold(settled: Settled, manner: Manner) -> HeldManner:
    if manner.crosses(0) or manner.crosses(1):  # the foot that is ahead already crosses the other
        ahead = int(settled.ankles[1, 0] >= settled.ankles[0, 0])
        manner = manner if manner.crosses(ahead) else manner.mirrored()
    feet = (manner.left_foot, manner.right_foot)
    signs = np.array([1.0, -1.0])
    ways = settled.figure.size * np.array([[f.ahead, s * f.outward, 0.0] for f, s in zip(feet, signs, strict=True)])
    turns = np.radians([s * f.turn_deg for f, s in zip(feet, signs, strict=True)])
    for k, (foot, sign) in enumerate(zip(feet, signs, strict=True)):
        if foot.aside is not None:
            toes = settled.figure.toes[k]
            ways[k, 1] = sign * settled.figure.size * foot.aside + settled.hips[1] - settled.ankles[k, 1]
            turns[k] = sign * np.radians(foot.turn_deg) - np.arctan2(toes[1], toes[0])
    knees = np.array([f.knee for f in feet])
    if not settled.seat.open_below:
        least = settled.figure.radius("left_knee") + 0.01 - settled.ankles[:, 0]
        ways[:, 0] = np.maximum(ways[:, 0], np.minimum(least, 0.0))
    for k, foot in enumerate(feet):
        if foot.ahead_of_other is not None:
            other = settled.ankles[1 - k, 0] + ways[1 - k, 0]
            ways[k, 0] = other + settled.figure.size * foot.ahead_of_other - settled.ankles[k, 0]
    pitches = np.zeros(2)
    share = 1.0
    if not any(manner.crosses(foot) for foot in range(2)):
        share = _largest_share(settled, ways, turns, knees)
    else:  # feet cross whole or not at all; heels come up as far as a high seat asks for
        tried = [np.full(2, np.radians(angle)) for angle in (0.0, 10.0, 20.0, 30.0, 38.0)]
        raised = [ways + np.array([settled.figure.raised(k, p[k]) for k in range(2)]) for p in tried]
        fits = [
            k for k in range(len(tried))
            if not _sinks(settled, raised[k], turns, knees)
            and _way_across(settled, raised[k], turns, knees, int(manner.crosses(1))) < _LEGS_TOUCH
        ]  # fmt: skip
        share, ways, pitches = (1.0, raised[fits[0]], tried[fits[0]]) if fits else (0.0, ways, pitches)
    bends = np.radians([manner.pelvis_deg, manner.chest_deg, manner.head_deg])
    if settled.seat.backrest:
        bends = _before_backrest(settled, bends, manner.leans_back)
    places, feet_turns = settled.ankles + share * ways, np.stack([share * turns, pitches], axis=1)
    posture = seated_posture(settled, bends, places, feet_turns[:, 0], share * knees)
    return HeldManner(
        manner, read_only(bends), read_only(places), read_only(feet_turns), read_only(share * knees),
        _hands(settled.figure, posture, manner),
    )  # fmt: skip


def _hands(figure: Figure, posture: Posture, manner: Manner) -> tuple[HandPlace, HandPlace]:
    """Return places of both hands that a body can take: thighs no farther along than arms reach with bent elbows."""
    positions, out = figure.posed(posture, 30.0).joint_positions(), list[HandPlace]()
    for side, where in enumerate((manner.left, manner.right)):
        arm, place = figure.arms[side], where
        easy = SOFT_REACH * STRETCH * float(arm.lengths.sum())
        while isinstance(place, OnThigh) and place.along > _NEAREST:
            wrist = hand_goal(figure, side, place, positions).wrist[0]
            if np.linalg.norm(wrist - positions[0, arm.joints[0]]) <= easy:
                break
            place = replace(place, along=place.along - 0.02)
        out.append(place)
    return _uncrossed(figure, posture, (out[0], out[1]))


def _uncrossed(
    figure: Figure, posture: Posture, hands: tuple[HandPlace, HandPlace]
) -> tuple[HandPlace, HandPlace]:  # fmt: skip
    """Return places of hands before the trunk that go only so far across it that arms do not go through one another."""
    left, right = hands
    if not (isinstance(left, BeforeTrunk) and isinstance(right, BeforeTrunk)):
        return hands
    still, found = figure.posed(posture, 30.0), list[tuple[float, tuple[HandPlace, HandPlace]]]()
    positions = still.joint_positions()
    for across, apart in itertools.product((1.0, 0.75, 0.5, 0.25, 0.0, -0.25), (0.0, 0.04, 0.08)):
        tried = (
            replace(left, outward=across * left.outward),
            replace(right, outward=across * right.outward, ahead=right.ahead + apart, up=right.up + apart),
        )
        clip = still
        for side, where in enumerate(tried):
            clip = led_arm(figure, side, hand_goal(figure, side, where, positions), clip, np.zeros(1))
        found.append((round(max(_overlap(figure, clip) - _TOUCH, 0.0), 6), tried))
        if found[-1][0] == 0.0:
            break
    return min(found, key=lambda one: one[0])[1]


def _way_across(settled: Settled, ways: FloatArray, turns: FloatArray, knees: FloatArray, foot: int) -> float:
    """Return how deep legs go into one another when a foot goes over the other one, which has moved before [m]."""
    deepest = 0.0
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        done = np.ones(2)
        done[foot] = share
        bump = settled.figure.size * 16.0 * (share * (1.0 - share)) ** 2
        moved = done[:, None] * ways
        moved[foot] += bump * np.array([AROUND, 0.0, OVER])
        posture = seated_posture(settled, np.zeros(3), settled.ankles + moved, done * turns, done * knees)
        parts = ("hip", "knee", "foot", "toes")
        names = [name for name in parts if f"left_{name}" in settled.figure.body.names]
        pairs = [(f"left_{a}", f"right_{b}") for a in names for b in names]
        deepest = max(deepest, _deepest(settled.figure, settled.figure.posed(posture, 30.0), pairs))
    return deepest


def _overlap(figure: Figure, clip: Clip) -> float:
    """Return how deep an arm is in the other one, or a hand in the trunk, in the first frame [m]."""
    parts, body = ("shoulder", "elbow", "hand"), figure.body
    pairs = [(f"left_{a}", f"right_{b}") for a in parts for b in parts if (a, b) != ("shoulder", "shoulder")]
    trunk = [name for name in body.names if name.startswith(("trunk", "chest"))]
    pairs += [(f"{side}_{a}", name) for side in SIDES for a in parts[1:] for name in trunk]
    return _deepest(figure, clip, pairs)


def _deepest(figure: Figure, clip: Clip, pairs: list[tuple[str, str]]) -> float:
    """Return how deep the capsules of pairs are in one another, in the first frame [m]."""
    body, ends, deepest = figure.body, capsules(clip, figure.body), 0.0
    for first, second in pairs:
        a, b = body.names.index(first), body.names.index(second)
        own, other = closest_points(ends[:1, a, 0], ends[:1, a, 1], ends[:1, b, 0], ends[:1, b, 1])
        deepest = max(deepest, float(body.radii[a] + body.radii[b] - np.linalg.norm(own - other)))
    return deepest


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
        return np.asarray(bends - np.array([0.8 * high, high, 0.5 * high]))
    for _ in range(14):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if gap(middle) < 0.0 else (middle, high)
    return np.asarray(bends - np.array([0.8 * low, low, 0.5 * low]))
