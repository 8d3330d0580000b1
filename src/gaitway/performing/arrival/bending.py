"""Motions bent to end elsewhere: the root's path bends like a rod of even stiffness, and planted feet move rigidly.

The distance that a motion lacks to its goal is shared out over its footfalls. Each stance is moved rigidly: stances of
the first frame not at all, and stances of the last frame by all that is lacking. So no foot slides, and both ends of
the motion keep their poses. Feet in the air move from one stance to the next, and legs follow. Wheels are steered:
their share grows with the distance that they roll.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core import planar, rotations
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, ranges, read_only
from gaitway.motion.blending import ease
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import stances
from gaitway.motion.footplants import FootPlan
from gaitway.motion.footskate import lowered, root_drop, with_legs
from gaitway.performing.arrival import _bending_kernels
from gaitway.performing.arrival.footwork import Footwork
from gaitway.performing.terrain.footing import SIDES
from gaitway.performing.terrain.terrain_tilt import lead

_WALKS = read_only(np.array([1.0, 1.0, 1.0 / 2.0**2]))
_ROLLS = read_only(np.array([1.0, 0.01, 1.0 / 0.3**2]))
"""How readily a path is stretched, shifted sideways [m^2 each] and turned [rad^2]: on feet, and on wheels."""
_SHORT_S = 0.07
"""Longest lift of a foot that is no step [s]."""
_FOLLOW_S = 0.15
"""Time constant with which the root follows the moves of the feet [s]."""
_SWING_S = 0.6
"""Time in the air beyond which a foot moves with the body in between [s]."""
_LEAST = 0.1
"""Least distance that wheels must roll to be steered [m]."""
_NEAR, _LONGER, _TURNED = 0.08, 0.06, float(np.radians(10.0))
"""Limits within which a changed step is not noticed: offset of its end [m], further offset per metre of its length, and
turn [rad]."""
_STEP_S = 0.4
"""Time that counts as one step on wheels [s]."""
_BENT = 0.2
"""Offset of the middle joint of a bent leg from the line between its ends, as a share of that line."""
STRAIGHTEST, DROP_S = 0.97, 0.4
"""Share of its length to which a planted leg is stretched before the root sinks, and the time constant of that [s]."""
_ROUNDS = 8
"""Number of corrections, more than are needed for an exact path."""


@dataclass(frozen=True)
class BentStance:
    """One foot on the ground, from one frame up to another."""

    leg: int
    start: int
    stop: int
    share: float
    """Share of the lacking distance by which the stance is moved."""


@dataclass(frozen=True, eq=False)
class Bend:
    """How a motion is to be bent; see `bent`."""

    work: Footwork
    """Footwork of the motion before it is bent."""
    path: FloatArray
    """Planar poses of the root after bending; (F, 3)."""
    stances: tuple[BentStance, ...]
    moves: FloatArray
    """Planar moves of the stances in the world; (S, 3)."""
    strain: float
    """How much steps differ from the original ones; up to 1 the change is not noticed."""


def plan_bend(work: Footwork, goal: tuple[float, float], heading: float | None = None) -> Bend | None:
    """Find how to bend a motion so that its last frame is at a goal.

    Args:
        work: footwork of the motion in the world.
        goal: wanted root position in the last frame: x, y [m].
        heading: wanted heading in the last frame [rad]; None leaves that to the bend.

    Returns:
        None if some foot does not step, or wheels do not roll, so that nothing can be elsewhere in the end.
    """
    found = _stepped(work) if work.rolled is None else _ridden(work, work.rolled)
    if found is None:
        return None
    placed, shares = found
    out = np.empty_like(work.path)
    wanted = np.array([*goal, 0.0 if heading is None else heading, 0.0 if heading is None else 1.0])
    ready = _WALKS if work.rolled is None else _ROLLS
    lack = _bending_kernels.bend_path(read_only(work.path), read_only(shares), read_only(wanted), ready, _ROUNDS, out)
    if not lack < 1e-6:
        return None
    frames = np.arange(len(shares))
    at = np.interp([stance.share for stance in placed], shares, frames)
    moves = path_moves(work.path, out)
    stance_moves = np.column_stack([np.interp(at, frames, moves[:, k]) for k in range(3)])
    return Bend(work, out, tuple(placed), stance_moves, _strain(work, placed, stance_moves, moves))


def follow_path(work: Footwork, path: FloatArray) -> Bend | None:
    """Find how to bend a motion so that its root follows a path.

    Args:
        work: footwork of the motion in the world, on feet.
        path: wanted planar poses of the root, headings not wrapped; the first is that of the motion; (F, 3).

    Returns:
        None if no foot is ever down, or the motion rolls on wheels.
    """
    placed = [
        BentStance(leg, a, b, 0.0) for leg in range(work.down.shape[1]) for a, b in _spans(work.down[:, leg], work.fps)
    ]
    if work.rolled is not None or not placed:
        return None
    last = len(work) - 1
    # a foot that is down in the first or in the last frame belongs to the steps before or after too
    at = [0 if s.start == 0 else last if s.stop > last else (s.start + s.stop) // 2 for s in placed]
    moves = path_moves(work.path[[0, *at]], path[[0, *at]])
    return Bend(work, path, tuple(placed), moves[1:], _strain(work, placed, moves[1:], moves[:1]))


def bent(clip: Clip, bend: Bend) -> Clip:
    """Return the bent motion: of the same duration and contacts, with the same first and last poses.

    Args:
        clip: the motion; its parts may lie anywhere in the plan.
        bend: bend of its footwork in the world.
    """
    carry = planar.compose(bend.path, planar.inverse(clip.planar_path()))
    roots, local = np.array(clip.root_positions), np.array(clip.rotations)
    roots[:, :2] = planar.transform_points(carry, roots[:, :2])
    local[:, 0] = rotations.multiply(rotations.from_yaw(carry[:, 2]), local[:, 0])
    moved = replace(clip, root_positions=roots, rotations=local)
    led = _walk(moved, bend) if on_two_legs(bend.work) else _ride(moved, bend)
    roots, turns = np.array(led.root_positions), np.array(led.rotations)
    for end in (0, -1):
        roots[end], turns[end] = moved.root_positions[end], moved.rotations[end]
    return replace(led, root_positions=roots, rotations=turns)


def _stepped(work: Footwork) -> tuple[list[BentStance], FloatArray] | None:
    """Return the stances of feet, and the root's share of the lacking distance in each frame (F,).

    Each footfall has a greater share than the one before, up to the first after which its foot stays.
    """
    spans = [_spans(work.down[:, leg], work.fps) for leg in range(work.down.shape[1])]
    if not all(own and own[-1][0] > 0 and own[-1][1] == len(work) for own in spans):
        return None
    falls = sorted((start, leg) for leg, own in enumerate(spans) for start, _ in own if start > 0)
    whole = 1 + min(falls.index((own[-1][0], leg)) for leg, own in enumerate(spans))
    share = {fall: min((number + 1) / whole, 1.0) for number, fall in enumerate(falls)}
    found = [BentStance(leg, a, b, share.get((a, leg), 0.0)) for leg, own in enumerate(spans) for a, b in own]
    shares = _followed(found, len(work), work.fps)
    # the less a foot is moved otherwise than the root while it is down, the less its leg has to do
    inner = [replace(s, share=float(shares[s.start : s.stop].mean())) if 0.0 < s.share < 1.0 else s for s in found]
    return inner, shares


def _spans(down: BoolArray, fps: float) -> list[tuple[int, int]]:
    """Return first and end frames of a foot's stances; a short lift is no step."""
    spans = stances(down)
    joined = spans[:1]
    for start, stop in spans[1:]:
        if start - joined[-1][1] <= round(_SHORT_S * fps):
            joined[-1] = (joined[-1][0], stop)
        else:
            joined.append((start, stop))
    return joined


def _followed(found: Sequence[BentStance], frames: int, fps: float) -> FloatArray:
    """Return the smoothed mean of the shares of all feet, from 0 in the first frame to 1 in the last; (F,)."""
    tracks = []
    for leg in range(found[-1].leg + 1):
        own = [stance for stance in found if stance.leg == leg]
        times = [frame for stance in own for frame in (stance.start, stance.stop - 1)]
        values = [stance.share for stance in own for _ in range(2)]
        tracks.append(np.interp(np.arange(frames), [-1, *times], [0.0, *values]))
    # mirrored at its ends, so that it leaves them level
    smooth = scipy.ndimage.gaussian_filter1d(np.mean(tracks, axis=0), _FOLLOW_S * fps, mode="reflect")
    return np.asarray((smooth - smooth[0]) / (smooth[-1] - smooth[0]))


def _ridden(work: Footwork, rolled: FloatArray) -> tuple[list[BentStance], FloatArray] | None:
    """Return the stances of feet beside wheels, and the root's share in each frame (F,)."""
    if rolled[-1] < _LEAST:
        return None
    shares, last = ease(rolled / rolled[-1]), len(work) - 1
    found = []
    for leg in range(work.down.shape[1]):
        for start, stop in _spans(work.down[:, leg], work.fps):
            middle = 0 if start == 0 else last if stop > last else (start + stop) // 2
            found.append(BentStance(leg, start, stop, float(shares[middle])))
    return found, shares


def path_moves(path: FloatArray, bent: FloatArray) -> FloatArray:
    """Return the planar moves of the world that carry poses (F, 3) to others, turns not wrapped; (F, 3)."""
    places = planar.transform_points(bent, planar.inverse(path)[:, :2])
    return np.column_stack([places, bent[:, 2] - path[:, 2]])


def _strain(work: Footwork, placed: Sequence[BentStance], moves: FloatArray, roots: FloatArray) -> float:
    """Compute `Bend.strain`, given moves of the stances (S, 3) and of the root (F, 3)."""
    if work.rolled is not None:
        later = np.minimum(np.arange(len(work)) + round(_STEP_S * work.fps), len(work) - 1)
        return _strange(work.path[:, :2], work.path[later, :2], roots, roots[later])
    at = work.ends[[(stance.start + stance.stop) // 2 for stance in placed], [stance.leg for stance in placed]]
    first = np.array([k == 0 or placed[k - 1].leg != stance.leg for k, stance in enumerate(placed)])[:, None]
    place = np.where(first, at, np.roll(at, 1, axis=0))
    # a motion that is moved as a whole is not strained
    return _strange(place, at, np.where(first, roots[0], np.roll(moves, 1, axis=0)), moves)


def _strange(here: FloatArray, there: FloatArray, before: FloatArray, after: FloatArray) -> float:
    """Return how noticeable steps from places (N, 2) to others are that are moved differently (N, 3)."""
    away = np.hypot(*(planar.transform_points(after, there) - planar.transform_points(before, there)).T)
    usual = _NEAR + _LONGER * np.hypot(*(there - here).T)
    turned = np.abs(after[:, 2] - before[:, 2]) / _TURNED
    return float(np.maximum(away / usual, turned).max())


def on_two_legs(work: Footwork) -> bool:
    """Return whether a motion is that of a body on two human legs."""
    return work.rolled is None and len(work.legs) == len(SIDES) and all(leg.human for leg in work.legs)


def _foot_moves(bend: Bend, carried: FloatArray, number: int) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return the offset of a leg's end from its target [m] (F, 3), its turn [rad] (F,), and when it is planted (F,).

    Args:
        bend: the bend.
        carried: position of the leg's end if it moves with the root [m]; (F, 3).
        number: number of the leg.
    """
    frames, at, turned = len(carried), bend.work.ends[:, number], bend.path[:, 2] - bend.work.path[:, 2]
    shift, turn, planted = np.zeros((frames, 3)), np.zeros(frames), np.zeros(frames, dtype=bool)
    numbers, before, after, weight = _weights(bend, number)
    rows, moves = ranges(before, after), bend.moves[np.repeat(numbers, after - before)]
    aside = weight[:, None] * (planar.transform_points(moves, at[rows]) - carried[rows, :2])
    # two stances at most count in a frame
    for axis in range(2):
        shift[:, axis] = np.bincount(rows, aside[:, axis], frames)
    turn[:] = np.bincount(rows, weight * (moves[:, 2] - turned[rows]), frames)
    for stance in bend.stances:
        if stance.leg == number:
            planted[stance.start : stance.stop] = True
    return shift, turn, planted


def stance_weights(bend: Bend, leg: int) -> list[tuple[int, int, int, FloatArray]]:
    """Return number, first frame, end frame and weight in each frame (end - first,) of the stances of a leg.

    A stance counts from the end of the one before it until the next begins.
    """
    numbers, before, after, weights = _weights(bend, leg)
    ends = np.cumsum(after - before).tolist()
    return [
        (k, a, b, weights[end - (b - a) : end])
        for k, a, b, end in zip(numbers.tolist(), before.tolist(), after.tolist(), ends, strict=True)
    ]


def _weights(bend: Bend, leg: int) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Return number, first frame and end frame of the N stances of a leg (N,), and all weights, one after another.

    A weight is 1 during the stance and falls during the swing; in the middle of a long swing only the body counts.
    """
    own = [(k, s.start, s.stop) for k, s in enumerate(bend.stances) if s.leg == leg]
    numbers, start, stop = np.array(own, dtype=np.int64).reshape(-1, 3).T
    before, after = np.concatenate([[0], stop])[:-1], np.concatenate([start, [len(bend.work)]])[1:]
    counts, longest = after - before, round(_SWING_S * bend.work.fps)
    frames = ranges(before, after)
    coming = (np.repeat(start, counts) - frames) / np.repeat(np.minimum(start - before, longest) + 1, counts)
    going = (frames - np.repeat(stop - 1, counts)) / np.repeat(np.minimum(after - stop, longest) + 1, counts)
    t = np.minimum(np.maximum(np.maximum(coming, going), 0.0), 1.0)
    # neither speed nor acceleration jumps where a swing begins and ends
    return numbers, before, after, 1.0 - t * t * t * (10.0 + t * (6.0 * t - 15.0))


def _walk(moved: Clip, bend: Bend) -> Clip:
    """Return the moved motion of a biped with its feet at their targets."""
    roles = moved.skeleton.roles
    positions, turns = moved.joint_transforms()
    plans = {}
    for side in SIDES:
        ankle, toe = roles[f"{side}_ankle"], roles.get(f"{side}_toe")
        number = next(k for k, leg in enumerate(bend.work.legs) if leg.joints[2] == ankle)
        shift, turn, planted = _foot_moves(bend, positions[:, ankle], number)
        turned = rotations.from_yaw(turn)
        toes = None if toe is None else rotations.multiply(turned, turns[:, toe])
        foot = rotations.multiply(turned, turns[:, ankle])
        plans[side] = FootPlan(positions[:, ankle] + shift, foot, toes, planted)
    drop = root_drop(moved, plans, straightest=STRAIGHTEST, drop_s=DROP_S)
    frames = np.arange(len(moved))
    ends = ease(np.minimum(frames, frames[::-1]) / (0.5 * DROP_S * moved.fps))
    return with_legs(lowered(moved, ends * drop), plans)


def _ride(moved: Clip, bend: Bend) -> Clip:
    """Return the moved motion of any other body with its feet at their targets."""
    positions, up = moved.joint_positions(), np.array([0.0, 0.0, 1.0])
    for number, leg in enumerate(bend.work.legs):
        top, middle, end = (positions[:, joint] for joint in leg.joints)
        shift, turn, planted = _foot_moves(bend, end, number)
        shift = np.where(planted[:, None], shift, _swung(top, middle, end, shift))
        moved = lead(moved, leg, shift, turn[:, None] * up)
    return moved


def _swung(top: FloatArray, middle: FloatArray, end: FloatArray, shift: FloatArray) -> FloatArray:
    """Return moves of a leg's end (F, 3) that do not change its length while it is almost straight.

    There, millimetres would turn the middle joint by degrees, and in the air they do not matter.
    """
    line = end - top
    length = np.linalg.norm(line, axis=1, keepdims=True)
    line /= length
    aside = np.linalg.norm(np.cross(middle - top, line), axis=1, keepdims=True)
    longer = np.sum(shift * line, axis=1, keepdims=True)
    return np.asarray(shift - (1.0 - ease(aside / (_BENT * length))) * longer * line)
