"""Sitting down, sitting and getting up, as clips and as one motion."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gaitway.core import planar
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import SittingError
from gaitway.library.behavior import Library
from gaitway.motion.clip import Clip
from gaitway.motion.editing import move, slice_frames
from gaitway.sitting.figure import Figure, Posture, figure_of, smooth
from gaitway.sitting.hands import HandGoal, clear_of_thighs, hand_goal, hanging_goal, led_arm
from gaitway.sitting.holding import AROUND, OVER, HeldManner, hold
from gaitway.sitting.idling import Life, life
from gaitway.sitting.manners import FIRST, MANNERS, RAISED, BeforeTrunk, HandPlace, manner_of
from gaitway.sitting.seat import HEIGHTS, Seat
from gaitway.sitting.settling import Settled, leading, settle
from gaitway.sitting.turning import FRONT, OVERLAP_S, TURN_S, side_of, start_root, turned

DOWN, SIT, UP = "down", "sit", "up"
FPS = 30.0
"""Frame rate of all motion of this room [Hz]."""
_DOWN_S, _UP_S = (1.55, 1.95), (1.45, 1.8)
"""Time to sit down and to get up, on the highest and on the lowest seat [s]."""
_CHANGE_S = 1.5
"""Time from one manner to the next [s]."""
CALLED = 1.6
"""Time that somebody who is called away needs to sit upright before getting up [s]."""
_HELD_S = (12.0, 35.0)
"""How long a manner is held by who is not told one [s]."""
_LIFT = 0.055
"""How high a foot is lifted that goes elsewhere, for the built-in person [m]."""
_SLID = 0.22
"""How far hands slide toward the knees while the trunk leans, as a share of the thigh."""
LONGEST = 3600.0
"""Longest time to sit [s]."""


class Span(NamedTuple):
    """Frames of one part of a visit; the last frame of a part is the first of the next."""

    label: str
    """"down", "sit" or "up"."""
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class Visit:
    """Somebody who sits down, sits and gets up again."""

    clip: Clip
    """The motion in the world, at 30 Hz. It begins and ends in the standing pose."""
    spans: tuple[Span, Span, Span]
    """Its parts: down, sit, up."""
    manners: tuple[tuple[str, int], ...]
    """Manners of sitting and the frame at which each begins."""
    seat: Seat

    def span(self, label: str) -> Span:
        """Return the part with a label."""
        return next(span for span in self.spans if span.label == label)


class _Times(NamedTuple):
    """Frames at which parts begin and end."""

    lower: int
    """First frame of going down; before it is the turn of who came along the seat."""
    down: int
    """End of sitting down."""
    sit: int
    """End of sitting."""
    up: int
    """End of getting up, the last frame."""


def standing_place(body: Library | Clip | Figure, seat: Seat, side: str = FRONT) -> FloatArray:
    """Return where the root of a body stops to sit down: x, y [m], heading [rad]; (3,).

    Who gets up stands at the place of "front".

    Args:
        body: a library, or a clip that begins in the standing pose.
        seat: the seat.
        side: "front" for who stands with the back to the seat, "left" or "right" for who has the seat on that side.
    """
    settled = settle(figure_of(body), seat)
    return planar.compose(seat.pose, np.array([*start_root(settled, side), side_of(side)]))


def down_seconds(seat: Seat, side: str = FRONT) -> float:
    """Return the time in which one sits down [s]; low seats and a turn before take longer."""
    return (_down_frames(seat) + _turn_frames(side)) / FPS


def up_seconds(seat: Seat) -> float:
    """Return the time in which one gets up [s]."""
    return round(_seconds(seat, _UP_S) * FPS) / FPS


def _down_frames(seat: Seat) -> int:
    return round(_seconds(seat, _DOWN_S) * FPS)


def _turn_frames(side: str) -> int:
    return 0 if side_of(side) == 0.0 else round((TURN_S - OVERLAP_S) * FPS)


def visit(
    body: Library | Clip | Figure, seat: Seat, seconds: float = 10.0, manner: str | None = FIRST, seed: int = 0,
    side: str = FRONT, until: float | None = None,
) -> Visit:  # fmt: skip
    """Return one motion of who sits down, sits for a time and gets up: from the standing pose to the standing pose.

    Args:
        body: a library, or a clip that begins in the standing pose.
        seat: the seat.
        seconds: time from sitting down to getting up [s], 1 to 3600.
        manner: one of `MANNERS`; None draws them, each for a while. Who sits shorter than a change takes stays upright.
        seed: seed of all that is drawn.
        side: where the seat is as seen from who stands: "front" is behind the back; "left" and "right" need a turn.
        until: time after which somebody gets up who is called away [s], at least 1; up to `CALLED` seconds before that
            the motion is the same as without it. None: nobody is called.

    Raises:
        SittingError: for a manner or side that does not exist, a time out of range, or a seat too high for the body.
    """
    if not (np.isfinite(seconds) and 1.0 <= seconds <= LONGEST):
        raise SittingError(f"{seconds} seconds to sit; write 1 to {LONGEST:g}")
    settled, rng = settle(figure_of(body), seat), np.random.default_rng([seed, 22])
    lower = _turn_frames(side)
    first = lower + _down_frames(seat)
    second = first + round(seconds * FPS)
    times = _Times(lower, first, second, second + round(up_seconds(seat) * FPS))
    held = _schedule(settled, times, manner, rng)
    alive, yaw = life(times.sit - times.down + 1, FPS, rng), _drawn_yaw(rng)
    if until is not None and until < seconds:
        times, held, alive = _called(times, held, alive, round(max(until, 1.0) * FPS))
    clip = _performed(settled, times, held, alive, _glance(times, yaw), side)
    spans = (Span(DOWN, 0, times.down), Span(SIT, times.down, times.sit), Span(UP, times.sit, times.up))
    return Visit(clip, spans, tuple((one.manner.name, frame) for one, frame in held), seat)


def sit_down(body: Library | Clip | Figure, seat: Seat, seed: int = 0, side: str = FRONT) -> Clip:
    """Return the motion from the standing pose to sitting upright; see `visit`."""
    whole = visit(body, seat, 1.0, FIRST, seed, side)
    return replace(slice_frames(whole.clip, 0, whole.spans[0].last + 1), name="sit_down")


def get_up(body: Library | Clip | Figure, seat: Seat, seed: int = 0) -> Clip:
    """Return the motion from sitting upright to the standing pose; see `visit`."""
    whole = visit(body, seat, 1.0, FIRST, seed)
    return replace(slice_frames(whole.clip, whole.spans[2].first), name="get_up")


def sit(
    body: Library | Clip | Figure, seat: Seat, seconds: float = 12.0, manner: str = FIRST, seed: int = 0
) -> Clip:  # fmt: skip
    """Return a loop of sitting in one manner: its last frame is its first one, and it may be repeated without a seam.

    Args:
        body: a library, or a clip that begins in the standing pose.
        seat: the seat.
        seconds: length of the loop [s], 4 to 3600; 8 to 20 suits most.
        manner: one of `MANNERS`.
        seed: seed of all that is drawn.
    """
    if not (np.isfinite(seconds) and 4.0 <= seconds <= LONGEST):
        raise SittingError(f"a loop of {seconds} seconds; write 4 to {LONGEST:g}")
    settled, rng = settle(figure_of(body), seat), np.random.default_rng([seed, 23])
    count = round(seconds * FPS) + 1
    held = [(hold(settled, manner_of(manner)), 0)]
    times = _Times(-10 * count, -9 * count, count - 1, 10 * count)  # both ends of the visit are out of sight
    clip = _performed(settled, times, held, life(count, FPS, rng), np.zeros(count), FRONT, (0, count))
    return replace(clip, name=f"sit {manner}")


def _seconds(seat: Seat, bounds: tuple[float, float]) -> float:
    share = (HEIGHTS[1] - seat.height) / (HEIGHTS[1] - HEIGHTS[0])
    return bounds[0] + share * (bounds[1] - bounds[0])


def _schedule(
    settled: Settled, times: _Times, manner: str | None, rng: np.random.Generator
) -> list[tuple[HeldManner, int]]:
    """Return the manners and the frames at which they begin; the first and the last are upright."""
    first, change = hold(settled, MANNERS[FIRST]), round(_CHANGE_S * FPS)
    out = [(first, 0)]
    names = list(MANNERS) if manner is None else [manner_of(manner).name]
    at = times.down - round(0.2 * FPS) + (round(rng.uniform(0.0, 2.0) * FPS) if manner is None else 0)
    while at + 2 * change + round(0.5 * FPS) < times.sit:
        some = [name for name in names if name != out[-1][0].manner.name]
        if not some:
            break
        out.append((hold(settled, MANNERS[some[int(rng.integers(len(some)))]]), at))
        at += change + round(rng.uniform(*_HELD_S) * FPS)
    if out[-1][0] is not first:
        out.append((first, times.sit - change))
    return out


def _called(
    times: _Times, held: list[tuple[HeldManner, int]], alive: Life, sits: int
) -> tuple[_Times, list[tuple[HeldManner, int]], Life]:
    """Return times, manners and life of somebody who gets up after some frames of sitting."""
    end, calm, change = times.down + sits, round(FPS), round(_CHANGE_S * FPS)
    fade = 1.0 - smooth(np.arange(sits + 1, dtype=np.float64), sits - calm, sits)
    parts = (part[: sits + 1] * fade[:, None] for part in (alive.pelvis, alive.chest, alive.head))
    kept = [(one, frame) for one, frame in held if frame < end - change] or held[:1]
    back = kept if kept[-1][0] is held[0][0] else [*kept, (held[0][0], end - change)]
    return times._replace(sit=end, up=end + times.up - times.sit), back, Life(*parts)


def _drawn_yaw(rng: np.random.Generator) -> float:
    """Draw how far a head turns back to the seat [rad]."""
    return float(np.radians(rng.choice([-1.0, 1.0]) * rng.uniform(15.0, 38.0)))


def _glance(times: _Times, yaw: float) -> FloatArray:
    """Return the yaw of a head that looks back at the seat before the hips go there [rad]; (F,)."""
    share = (np.arange(times.up + 1) - times.lower) / (times.down - times.lower)
    return np.asarray(yaw * smooth(share, 0.0, 0.28) * (1.0 - smooth(share, 0.3, 0.68)))


def _performed(
    settled: Settled, times: _Times, held: list[tuple[HeldManner, int]], alive: Life, glance: FloatArray,
    side: str, shown: tuple[int, int] | None = None,
) -> Clip:  # fmt: skip
    """Return the motion of a visit in the world, or of some of its frames."""
    figure = settled.figure
    frames = np.arange(*(shown or (0, times.up + 1)), dtype=np.float64)
    down = (frames - times.lower) / (times.down - times.lower)
    up = (frames - times.sit) / (times.up - times.sit)
    progress = smooth(down, 0.05, 0.68) * (1.0 - smooth(up, 0.31, 0.97))
    raised, lowered = smooth(down, 0.58, 1.0), smooth(up, 0.0, 0.42)
    lean = settled.lean * leading(progress) * (1.0 - raised * (1.0 - lowered))
    posture = settled.posture(progress, lean, smooth(down, 0.62, 0.98) * (1.0 - smooth(up, 0.0, 0.36)))
    upright = raised * (1.0 - lowered)
    shares = [smooth(frames, begin, begin + _CHANGE_S * FPS) for _, begin in held[1:]]
    posture = _bent(posture, held, shares, upright)
    posture = _enlivened(posture, alive, times.down if shown is None else 0, upright)
    posture.head[:, 0] += glance
    posture, planted = _stepped(settled, posture, held, shares)
    posture, turning = turned(settled, posture, side, frames, FPS)
    clip = figure.posed(posture, FPS)
    reach = smooth(down, 0.10, 0.64) * (1.0 - smooth(up, 0.40, 0.97))
    clip = _with_arms(figure, clip, held, shares, reach, _SLID * lean / settled.lean)
    clip = replace(clip, contacts=figure.contacts(planted & turning, posture.turns[..., 1] < 1e-6), name="visit")
    if shown is None:
        clip = _ended(settled, clip, side)
    world = move(clip, settled.seat.pose)
    return replace(world, root_positions=world.root_positions + np.array([0.0, 0.0, settled.seat.floor]))


def _bent(
    posture: Posture, held: list[tuple[HeldManner, int]], shares: list[FloatArray], upright: FloatArray
) -> Posture:
    """Return the posture with the pitches of the manners added."""
    bends = np.repeat(held[0][0].bends[None], len(posture), axis=0)
    for (before, _), (after, _), share in zip(held, held[1:], shares, strict=False):
        bends += share[:, None] * (after.bends - before.bends)
    bends *= upright[:, None]
    for k, part in enumerate((posture.pelvis, posture.chest, posture.head)):
        part[:, 1] += bends[:, k]
    return posture


def _enlivened(posture: Posture, alive: Life, begin: int, weight: FloatArray) -> Posture:
    """Return the posture with the life of who sits added, from a frame on."""
    some = slice(begin, begin + len(alive.chest))
    for part, own in ((posture.pelvis, alive.pelvis), (posture.chest, alive.chest), (posture.head, alive.head)):
        part[some] += weight[some, None] * own
    return posture


def _stepped(
    settled: Settled, posture: Posture, held: list[tuple[HeldManner, int]], shares: list[FloatArray]
) -> tuple[Posture, BoolArray]:
    """Return the posture with feet that go where manners have them, and which feet are planted (F, 2)."""
    ankles = np.repeat(held[0][0].ankles[None], len(posture), axis=0)
    turns, knees = (np.repeat(v[None], len(posture), axis=0) for v in (held[0][0].turns, held[0][0].knees))
    planted = np.ones((len(posture), 2), dtype=np.bool_)
    for (before, _), (after, _), share in zip(held, held[1:], shares, strict=False):
        for foot in range(2):
            way, turn = after.ankles[foot] - before.ankles[foot], after.turns[foot] - before.turns[foot]
            if np.linalg.norm(way) < 1e-9 and np.abs(turn).max() < 1e-9:
                continue
            # one foot after the other; the foot that crosses comes last, and goes back first
            crosses = any(one.manner.crosses(foot) for one in (before, after))
            late = after.manner.crosses(foot) or (not before.manner.crosses(foot) and _goes_last(before, after, foot))
            own = smooth(share, 0.36, 0.98) if late else smooth(share, 0.02, 0.64)
            ankles[:, foot] += own[:, None] * way
            bump = settled.figure.size * 16.0 * (own * (1.0 - own)) ** 2
            ankles[:, foot, 2] += (OVER if crosses else _LIFT) * bump
            ankles[:, foot, 0] += (AROUND if crosses else 0.0) * bump
            turns[:, foot] += own[:, None] * turn
            knees[:, foot] += own * (after.knees[foot] - before.knees[foot])
            planted[:, foot] &= (own <= 0.0) | (own >= 1.0)
    return replace(posture, ankles=ankles, turns=turns, knees=knees), planted


def _goes_last(before: HeldManner, after: HeldManner, foot: int) -> bool:
    """Return whether a foot that does not cross the other moves after it."""
    other = 1 - foot
    if before.manner.crosses(other) or after.manner.crosses(other):
        return before.manner.crosses(other)
    return foot == 1


def _with_arms(
    figure: Figure, clip: Clip, held: list[tuple[HeldManner, int]], shares: list[FloatArray], reach: FloatArray,
    slid: FloatArray,
) -> Clip:  # fmt: skip
    """Return the motion with arms that come to their places by a weight (F,), and slide along thighs by shares (F,)."""
    positions = clip.joint_transforms()[0]
    yaw = _facing(figure, positions)
    for side, arm in enumerate(figure.arms):
        places = [one.hands[side] for one, _ in held]
        goal = hand_goal(figure, side, places[0], positions, slid)
        for share, (before, after) in zip(shares, pairwise(places), strict=True):
            if after != before:
                goal = _changed(figure, side, goal, (before, after), share, positions, slid)
        goal = hanging_goal(figure, side, positions, yaw).toward(goal, reach, positions[:, arm.joints[0]])
        goal = clear_of_thighs(figure, side, goal, positions, reach)
        clip = led_arm(figure, side, goal, clip, 1.0 - reach)
    return clip


def _changed(
    figure: Figure, side: int, goal: HandGoal, places: tuple[HandPlace, HandPlace], share: FloatArray,
    positions: FloatArray, slid: FloatArray,
) -> HandGoal:  # fmt: skip
    """Return goals of a hand that goes from one place to another.

    Hands that fold before the trunk, or come from there, are raised on their way: the inner arm folds first and unfolds
    last.
    """
    starts, (before, after) = positions[:, figure.arms[side].joints[0]], places
    target = hand_goal(figure, side, after, positions, slid)
    if not isinstance(after, BeforeTrunk) and not isinstance(before, BeforeTrunk):
        return goal.toward(target, smooth(share, 0.1 * side, 0.9 + 0.1 * side), starts)
    raised = hand_goal(figure, side, RAISED[side], positions)
    if isinstance(after, BeforeTrunk):
        first, second = (0.0, 0.5), ((0.38, 0.84), (0.54, 1.0))[side]
    else:
        first, second = ((0.16, 0.62), (0.0, 0.46))[side], (0.5, 1.0)
    return goal.toward(raised, smooth(share, *first), starts).toward(target, smooth(share, *second), starts)


def _facing(figure: Figure, positions: FloatArray) -> FloatArray:
    """Return where the shoulders face, away from the standing pose [rad]; (F,)."""
    left, right = figure.joint("left_shoulder"), figure.joint("right_shoulder")
    across, still = positions[:, left] - positions[:, right], figure.positions[left] - figure.positions[right]
    angle = np.arctan2(across[:, 1], across[:, 0]) - np.arctan2(still[1], still[0])
    return planar.wrap_angle(angle)


def _ended(settled: Settled, clip: Clip, side: str) -> Clip:
    """Return the clip with its first and last frame in the very standing pose, free of the rounding of IK."""
    roots, turns = np.array(clip.root_positions), np.array(clip.rotations)
    for frame, place in ((0, side), (-1, FRONT)):
        stand = move(settled.figure.stand, np.array([*start_root(settled, place), side_of(place)]))
        roots[frame], turns[frame] = stand.root_positions[0], stand.rotations[0]
    return replace(clip, root_positions=roots, rotations=turns)
