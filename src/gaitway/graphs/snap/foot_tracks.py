"""Where a foot shall be in every frame so that it stands still, passes through locked frames, and never sinks.

As `motion.footplants`, with three things more: some frames are locked, so every stance that holds one lies where the
foot is in that frame; planted points lie at their height of rest; and a free foot that would dip below it is lifted.
Where two locked frames of one stance do not agree, the foot goes from one to the other, slowly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway import rotations
from gaitway.arrays import BoolArray, FloatArray, IntArray
from gaitway.motion.blending import ease
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import stances
from gaitway.motion.footplants import Foot, FootPlan, bridge, held_rotation, read_foot, resting_place

_OTHER_GROUND = 0.06
"""A stance farther than this from the height of rest is on other ground, such as a box, and stays there [m]."""
_SETTLE_S = 0.15
"""Time in which a locked foot that does not lie flat comes to do so [s]."""
_HEEL_SWING, _BALL_SWING = 0.15, 0.35
"""A foot on its heel, or on its ball, turns by at most this so that its ankle stays on its track [rad].

More spares the knee, and shows: toes that point up at heel strike, heels that rise early.
"""
_SUNK = 0.002
"""A point lower than this under its rest is under the ground [m]."""
_LIFT_S = 0.2
"""Time that lifting a foot over the ground takes to come and to go [s]."""


@dataclass(frozen=True, eq=False)
class Sole:
    """Points of one foot that touch the ground, and how high they are when they rest."""

    heel: float
    """Height of the heel at rest [m]."""
    pivot: float
    """Height at rest of what the foot turns about over its toes [m]."""
    points: tuple[tuple[str, FloatArray, float], ...]
    """Part ("heel", "ball", "toe"), offset in the frame of the joint that carries it [m], and height at rest [m]."""
    on_toes: frozenset[str]
    """Parts that the toe joint carries."""

    def heights(self, ankle: FloatArray, foot: FloatArray, toes: FloatArray | None, pivot: FloatArray) -> FloatArray:
        """How high each point is over its rest [m]; (F, points)."""
        rows = []
        for part, offset, rest in self.points:
            if part in self.on_toes and toes is not None:
                place = ankle + rotations.rotate(foot, pivot) + rotations.rotate(toes, offset)
            else:
                place = ankle + rotations.rotate(foot, offset)
            rows.append(place[:, 2] - rest)
        return np.stack(rows, axis=1) if rows else np.zeros((len(ankle), 0))


def read_sole(clip: Clip, side: str, rest: FloatArray) -> Sole:
    """The sole of one foot.

    Args:
        clip: motion on a skeleton with contact points.
        side: "left" or "right".
        rest: height of each contact point at rest [m]; (C,).
    """
    skeleton = clip.skeleton
    ankle, toe = skeleton.roles[f"{side}_ankle"], skeleton.roles.get(f"{side}_toe")
    points, on_toes = [], set()
    for column, point in enumerate(skeleton.contact_points):
        part = point.name.removeprefix(f"{side}_")
        if part in ("heel", "ball", "toe") and point.joint in (ankle, toe):
            points.append((part, np.array(point.offset), float(rest[column])))
            if point.joint != ankle:
                on_toes.add(part)
    known = {part: (offset, height) for part, offset, height in points}
    heel, pivot = (known.get(part, (np.zeros(3), 0.0))[1] for part in ("heel", "ball"))
    if "ball" in on_toes:
        pivot += _over_sole(known["ball"][0], known.get("toe", known["ball"])[0])
    return Sole(heel, pivot, tuple(points), frozenset(on_toes))


def _over_sole(ball: FloatArray, tip: FloatArray) -> float:
    """How high the joint of toes that lie flat is over the line from ball to tip [m]."""
    line = tip - ball
    length = float(np.linalg.norm(line))
    along = line / length if length > 1e-6 else np.zeros(3)
    return float(np.linalg.norm(ball - along * (ball @ along)))


def foot_track(
    clip: Clip,
    side: str,
    transforms: tuple[FloatArray, FloatArray],
    locked: BoolArray,
    rest: FloatArray,
    window_s: float = 0.3,
) -> FootPlan:
    """Targets for one foot; in locked frames they are the clip's own.

    Args:
        clip: motion with contacts for points named "left_heel" and "left_ball" (and "left_toe").
        side: "left" or "right".
        transforms: world positions (F, J, 3) [m] and rotations (F, J, 4) of all joints.
        locked: frames that stay as they are; (F,).
        rest: height of each contact point at rest [m]; (C,).
        window_s: time over which a correction fades where it is free to [s].
    """
    sole, fps = read_sole(clip, side, rest), clip.fps
    foot, tip = _whole_foot(clip, side, transforms)
    both, planted = foot.heel & foot.ball, foot.heel | foot.ball
    shift, turn, pins = np.zeros_like(foot.ankle), np.zeros_like(foot.ankle), np.zeros_like(foot.ankle)
    for start, stop in stances(planted):
        stance = _Stance(foot, sole, start, stop, start + np.flatnonzero(locked[start:stop]), fps)
        stance.hold(shift, turn, pins)
    shift[locked], turn[locked] = 0.0, 0.0
    shift, turn = bridge(shift, both | locked, fps, window_s), bridge(turn, both | locked, fps, window_s)
    ankle, held = foot.ankle + shift, rotations.multiply(rotations.from_rotation_vector(turn), foot.rotations)
    more_shift, more_turn = np.zeros_like(ankle), np.zeros_like(ankle)
    for flags, offset in ((foot.heel & ~both, foot.heel_offset), (foot.ball & ~both, foot.ball_offset)):
        chosen = flags & ~locked
        arm = rotations.rotate(held[chosen], offset)
        swing = _bounded(rotations.between(-arm, ankle[chosen] - pins[chosen]), offset is foot.heel_offset)
        swing = _not_under(sole, foot, rotations.multiply(swing, held[chosen]), swing, offset is foot.heel_offset)
        more_turn[chosen] = rotations.to_rotation_vector(swing)
        more_shift[chosen] = pins[chosen] - rotations.rotate(swing, arm) - ankle[chosen]
    more_shift, more_turn = (bridge(e, planted | locked, fps, window_s) for e in (more_shift, more_turn))
    held = rotations.multiply(rotations.from_rotation_vector(more_turn), held)
    toes = _held_toes(foot, sole, held, locked, fps, window_s)
    ankle = ankle + more_shift
    if toes is not None:
        down = tip & ~planted, planted, locked
        ankle = ankle + _to_tip_locks(sole, foot, (ankle, held, toes), down, fps, window_s)
        ankle, held, toes = _tip_held(sole, foot, (ankle, held, toes), down, fps, window_s)
        toes = _toes_up(sole, foot, ankle, held, toes, ~planted | foot.toes_still | tip | locked, fps)
    planted = planted | tip
    ankle[:, 2] += lift(sole.heights(ankle, held, toes, foot.ball_offset), planted | locked, fps)
    return FootPlan(ankle, held, toes, planted)


def lift(heights: FloatArray, fixed: BoolArray, fps: float) -> FloatArray:
    """By how much to raise a free foot whose points are so high over their rest, (F, points); (F,) [m], smooth."""
    return _covering(np.where(fixed, 0.0, np.maximum(-heights.min(axis=1, initial=0.0), 0.0)), fixed, fps)


def _covering(need: FloatArray, fixed: BoolArray, fps: float) -> FloatArray:
    """A smooth curve that is nowhere under what is needed (F,), and 0 in fixed frames."""
    if not need.any():
        return need
    half = max(int(0.5 * _LIFT_S * fps), 1)
    spread = scipy.ndimage.maximum_filter1d(need, 2 * half + 1, mode="nearest")
    smooth = scipy.ndimage.gaussian_filter1d(spread, 0.5 * half, radius=half, mode="nearest")
    away = scipy.ndimage.distance_transform_edt(~fixed) if fixed.any() else np.full(len(need), np.inf)
    return np.where(fixed, 0.0, np.maximum(need, smooth * ease(np.minimum(away / (half + 1.0), 1.0))))


@dataclass(frozen=True, eq=False)
class _Stance:
    """One time on the ground of one foot."""

    foot: Foot
    sole: Sole
    start: int
    stop: int
    locks: IntArray
    """Locked frames in it."""
    fps: float

    def hold(self, shift: FloatArray, turn: FloatArray, pins: FloatArray) -> None:
        """Fill in corrections of frames in which the foot is flat, and places of single points, (F, 3) each."""
        foot, frames = self.foot, np.arange(self.start, self.stop)
        flat = (foot.heel & foot.ball)[frames]
        if not flat.any():
            offset = foot.heel_offset if foot.heel[frames].any() else foot.ball_offset
            track = foot.track(offset)[frames]
            place = resting_place(track)
            place[2] = self._height(bool(foot.heel[frames].any()), track)
            gaps = foot.track(offset)[self.locks] - place
            pins[frames] = place + self._between_locks(gaps, level=True)
            return
        place, held = self._flat_poses(flat)
        place, held = self._through_locks(place, held, flat)
        rows = frames[flat]
        shift[rows] = place[flat] - foot.ankle[rows]
        undone = rotations.multiply(held[flat], rotations.conjugate(foot.rotations[rows]))
        turn[rows] = rotations.to_rotation_vector(undone)
        offsets = np.where(foot.ball[frames, None], foot.ball_offset, foot.heel_offset)
        pins[frames] = place + rotations.rotate(held, offsets)

    def _height(self, heel: bool, track: FloatArray) -> float:
        """Height at which a point stands [m]: its rest, or where it is if that is on other ground."""
        rest, now = self.sole.heel if heel else self.sole.pivot, float(np.median(track[:, 2]))
        return rest if abs(now - rest) < _OTHER_GROUND else now

    def _flat_poses(self, flat: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Ankle (n, 3) and rotation (n, 4) of the flat foot in every frame; where it is not flat, those of a flat near.

        Flats between which one point stays down share that point.
        """
        foot, start = self.foot, self.start
        runs = stances(flat)
        heel, ball = foot.track(foot.heel_offset), foot.track(foot.ball_offset)
        rise = self.sole.pivot - self.sole.heel
        held = [held_rotation(foot, start + a, start + b, rise) for a, b in runs]
        reference = max(range(len(runs)), key=lambda i: runs[i][1] - runs[i][0])
        places = [np.zeros(3)] * len(runs)
        a, b = runs[reference]
        middle = slice(start + a, start + b)
        lever = rotations.rotate(held[reference], 0.5 * (foot.heel_offset + foot.ball_offset))
        place = resting_place(0.5 * (heel[middle] + ball[middle]))
        down = heel[start : self.stop][foot.heel[start : self.stop]]
        place[2] = self._height(True, down) + 0.5 * rise
        places[reference] = place - lever
        for step in (1, -1):
            i = reference + step
            while 0 <= i < len(runs):
                between = start + runs[min(i, i - step)][1]
                offset = foot.ball_offset if foot.ball[between] else foot.heel_offset
                arms = rotations.rotate(held[i - step], offset), rotations.rotate(held[i], offset)
                places[i] = places[i - step] + arms[0] - arms[1]
                i += step
        nearest = _nearest_run(runs, len(flat))
        return np.array(places)[nearest], np.array(held)[nearest]

    def _through_locks(self, place: FloatArray, held: FloatArray, flat: BoolArray) -> tuple[FloatArray, FloatArray]:
        """The flat poses moved, each stance as one, to where the foot is in locked frames."""
        if not len(self.locks):
            return place, held
        foot, gaps, turns = self.foot, [], []
        for lock in self.locks.tolist():
            row = lock - self.start
            if flat[row]:
                at, now = foot.ankle[lock], foot.rotations[lock]
                gaps.append(at - place[row])
                turns.append(rotations.to_rotation_vector(rotations.multiply(now, rotations.conjugate(held[row]))))
            else:
                offset = foot.ball_offset if foot.ball[lock] else foot.heel_offset
                gaps.append(foot.track(offset)[lock] - place[row] - rotations.rotate(held[row], offset))
                turns.append(np.zeros(3))
        turned = self._between_locks(np.array(turns), level=False)
        spin = rotations.from_rotation_vector(turned)
        centre = place[self._lock_rows()]
        moved = centre + rotations.rotate(spin, place - centre) + self._between_locks(np.array(gaps), level=True)
        return moved, rotations.multiply(spin, held)

    def _lock_rows(self) -> IntArray:
        """For each frame of the stance the row of the locked frame that is nearest."""
        rows = np.arange(self.stop - self.start)
        return np.asarray((self.locks - self.start)[np.abs(rows[:, None] - (self.locks - self.start)).argmin(axis=1)])

    def _between_locks(self, values: FloatArray, *, level: bool) -> FloatArray:
        """Values (locks, 3) at locked frames, eased from one to the next and kept beyond; (n, 3).

        What is upright of a shift, or tips a foot, is a fault of the locked pose, and settles within a short time.
        """
        count = self.stop - self.start
        if not len(self.locks):
            return np.zeros((count, 3))
        rows, at = np.arange(count), self.locks - self.start
        right = np.clip(np.searchsorted(at, rows, side="right"), 1, max(len(at) - 1, 1))
        low, high = np.maximum(right - 1, 0), np.minimum(right, len(at) - 1)
        span = np.maximum(at[high] - at[low], 1)
        t = ease(np.clip((rows - at[low]) / span, 0.0, 1.0))[:, None]
        out = values[low] * (1.0 - t) + values[high] * t
        away = np.abs(rows[:, None] - at).min(axis=1) / (_SETTLE_S * self.fps)
        fade = 1.0 - ease(np.minimum(away, 1.0))
        if level:
            out[:, 2] *= fade
        else:
            out[:, :2] *= fade[:, None]
        return np.asarray(out)


def _whole_foot(clip: Clip, side: str, transforms: tuple[FloatArray, FloatArray]) -> tuple[Foot, BoolArray]:
    """The captured foot, its ball down wherever heel and tip are, and frames in which the tip of its toes is (F,)."""
    foot, tip = read_foot(clip, side, *transforms), np.zeros(len(clip), dtype=bool)
    for column, point in enumerate(clip.skeleton.contact_points):
        if point.name == f"{side}_toe" and clip.contacts is not None and foot.toes is not None:
            tip = np.array(clip.contacts[:, column])
    bridged = foot.heel & tip
    return replace(foot, ball=foot.ball | bridged, toes_still=foot.toes_still | bridged), tip


def _bounded(swing: FloatArray, heel: bool) -> FloatArray:
    """Turns (n, 4) of a foot about its one planted point, with large ones made smaller, smoothly."""
    most = _HEEL_SWING if heel else _BALL_SWING
    turn = rotations.to_rotation_vector(swing)
    angle = np.linalg.norm(turn, axis=-1, keepdims=True)
    return rotations.from_rotation_vector(turn * most * np.tanh(angle / most) / np.maximum(angle, 1e-9))


def _not_under(sole: Sole, foot: Foot, held: FloatArray, swing: FloatArray, heel: bool) -> FloatArray:
    """Turns (n, 4) of a foot about its one planted point, which give it rotations `held`, with its other end not under.

    Args:
        sole: heights at rest.
        foot: offsets.
        held: rotations of the foot after the turn; (n, 4).
        swing: the turn; (n, 4).
        heel: the heel is planted, and the ball is its other end; else the other way round.
    """
    arm = foot.ball_offset - foot.heel_offset if heel else foot.heel_offset - foot.ball_offset
    lowest = (sole.pivot - sole.heel) if heel else (sole.heel - sole.pivot)
    return rotations.multiply(_tipped(rotations.rotate(held, arm), lowest), swing)


def _tipped(lines: FloatArray, lowest: FloatArray | float) -> FloatArray:
    """The least turns (n, 4) that bring ends of lines (n, 3) up to a height over their beginnings [m]."""
    length = np.linalg.norm(lines, axis=-1)
    up = np.maximum(lines[:, 2], np.clip(lowest, -0.95 * length, 0.95 * length))
    level = np.linalg.norm(lines[:, :2], axis=-1)
    scale = np.sqrt(np.maximum(length**2 - up**2, 0.0)) / np.maximum(level, 1e-9)
    return rotations.between(lines, np.column_stack([lines[:, :2] * scale[:, None], up]))


def _tip_offset(sole: Sole) -> tuple[FloatArray, float] | None:
    """Offset of the toes' tip in the frame of their joint, and its height at rest [m]; None where there is none."""
    return next(((offset, rest) for part, offset, rest in sole.points if part == "toe" and part in sole.on_toes), None)


def _toes_up(
    sole: Sole, foot: Foot, ankle: FloatArray, held: FloatArray, toes: FloatArray, fixed: BoolArray, fps: float
) -> FloatArray:
    """Toes (F, 4) bent up where their tip would be under the ground."""
    known = _tip_offset(sole)
    if known is None:
        return toes
    joint = ankle + rotations.rotate(held, foot.ball_offset)
    line = rotations.rotate(toes, known[0])
    turn = rotations.to_rotation_vector(_tipped(line, known[1] - joint[:, 2]))
    angle = np.linalg.norm(turn, axis=-1)
    angle[fixed] = 0.0
    flat = np.column_stack([line[:, 1], -line[:, 0], np.zeros(len(line))])  # about this axis the tip goes up
    return rotations.multiply(rotations.from_axis_angle(flat, _covering(angle, fixed, fps)), toes)


def _to_tip_locks(
    sole: Sole,
    foot: Foot,
    plan: tuple[FloatArray, FloatArray, FloatArray],
    flags: tuple[BoolArray, BoolArray, BoolArray],
    fps: float,
    window_s: float,
) -> FloatArray:
    """Shift of the foot (F, 3) that brings a stance to a locked frame in which nothing but the tip of its toes is down.

    Arguments as of `_tip_held`. A stance with another locked frame goes from one to the other.
    """
    (ankle, held, toes), (alone, planted, locked), known = plan, flags, _tip_offset(sole)
    shift = np.zeros_like(ankle)
    if known is None or not (alone & locked).any():
        return shift
    track = ankle + rotations.rotate(held, foot.ball_offset) + rotations.rotate(toes, known[0])
    for start, stop in stances(planted | alone):
        frames = np.arange(start, stop)
        rows, tips = frames[planted[frames]], frames[(alone & locked)[frames]]
        if not len(rows) or not len(tips):
            continue
        tip, others = int(tips[-1]), rows[locked[rows]]
        near = int(rows[np.abs(rows - tip).argmin()])
        gap = (track[tip] - track[near]) * np.array([1.0, 1.0, 0.0])
        share = np.ones(len(rows))
        if len(others):
            other = int(others[np.abs(others - tip).argmax()])
            share = ease(np.clip((rows - other) / (tip - other), 0.0, 1.0))
        shift[rows] = share[:, None] * gap
    shift[locked] = 0.0
    return bridge(shift, planted | alone | locked, fps, window_s)


def _tip_held(
    sole: Sole,
    foot: Foot,
    plan: tuple[FloatArray, FloatArray, FloatArray],
    flags: tuple[BoolArray, BoolArray, BoolArray],
    fps: float,
    window_s: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A plan in which the tip of the toes stays while nothing else is down.

    Foot and toes turn about the ankle as far as that helps and keeps the ball over the ground, and the ankle goes the
    rest of the way: a leg that is held back as a whole at this moment bends its knee with a jerk.

    Args:
        sole: heights at rest.
        foot: offsets.
        plan: ankle, rotations of the foot and of its toes so far.
        flags: frames in which the tip alone is down, heel or ball are, and locked ones; (F,) each.
        fps: frames a second.
        window_s: time over which corrections fade [s].
    """
    (ankle, held, toes), (alone, planted, locked), known = plan, flags, _tip_offset(sole)
    if known is None or not (alone & ~locked).any():
        return plan
    track = ankle + rotations.rotate(held, foot.ball_offset) + rotations.rotate(toes, known[0])
    gap = np.zeros_like(ankle)
    for start, stop in stances(alone):
        frames = np.arange(max(start - 1, 0), min(stop + 1, len(track)))
        beside = frames[planted[frames] | locked[frames]]
        place = track[beside[0]] if len(beside) else resting_place(track[start:stop])
        if abs(place[2] - known[1]) < _OTHER_GROUND:
            place = np.array([place[0], place[1], known[1]])
        gap[start:stop] = place - track[start:stop]
        if len(beside) > 1:  # the foot comes down again elsewhere
            share = ease((np.arange(start, stop) - beside[0]) / (beside[-1] - beside[0]))[:, None]
            gap[start:stop] += share * (track[beside[-1]] - track[beside[0]])
    rows, fixed = alone & ~locked, alone | planted | locked
    shift, turn = np.zeros_like(ankle), np.zeros_like(ankle)
    arm = (track - ankle)[rows]
    swing = _bounded(rotations.between(arm, arm + gap[rows]), heel=False)
    turned = rotations.multiply(swing, held[rows]), rotations.multiply(swing, toes[rows])
    shift[rows] = gap[rows] + arm - rotations.rotate(swing, arm)
    turn[rows] = rotations.to_rotation_vector(swing)
    sunk = sole.heights((ankle + shift)[rows], *turned, foot.ball_offset).min(axis=1, initial=0.0) < -_SUNK
    stiff = _runs_of(rows, np.flatnonzero(rows)[sunk])
    shift[stiff], turn[stiff] = gap[stiff], 0.0
    spin = rotations.from_rotation_vector(bridge(turn, fixed, fps, window_s))
    ankle = ankle + bridge(shift, fixed, fps, window_s)
    return ankle, rotations.multiply(spin, held), rotations.multiply(spin, toes)


def _runs_of(flags: BoolArray, frames: IntArray) -> BoolArray:
    """The runs of flags (F,) that hold one of some frames; (F,)."""
    out = np.zeros(len(flags), dtype=bool)
    for start, stop in stances(flags):
        out[start:stop] = bool(((frames >= start) & (frames < stop)).any())
    return out


def _nearest_run(runs: list[tuple[int, int]], count: int) -> IntArray:
    """For each of `count` frames the index of the run that it is in, or that is nearest."""
    rows = np.arange(count)[:, None]
    starts, stops = np.array(runs).T
    away = np.maximum(np.maximum(starts - rows, rows - stops + 1), 0)
    return np.asarray(away.argmin(axis=1))


def _held_toes(
    foot: Foot, sole: Sole, held: FloatArray, locked: BoolArray, fps: float, window_s: float
) -> FloatArray | None:
    """Toes that go with the corrected foot, lie still and level while they are down, and stay in locked frames."""
    if foot.toes is None:
        return None
    change = rotations.multiply(held, rotations.conjugate(foot.rotations))
    toes = rotations.multiply(change, foot.toes)
    turn = np.zeros_like(foot.ankle)
    for start, stop in stances(foot.toes_still):
        locks = start + np.flatnonzero(locked[start:stop])
        inner = (stop - start) // 4
        if len(locks):
            nearest = locks[np.abs(np.arange(start, stop)[:, None] - locks).argmin(axis=1)]
            wanted = foot.toes[nearest]
        else:
            wanted = _level_toes(sole, rotations.mean(toes[start + inner : stop - inner]))
        undone = rotations.multiply(wanted, rotations.conjugate(toes[start:stop]))
        turn[start:stop] = rotations.to_rotation_vector(undone)
    turn[locked] = 0.0
    turn = bridge(turn, foot.toes_still | locked, fps, window_s)
    return rotations.multiply(rotations.from_rotation_vector(turn), toes)


def _level_toes(sole: Sole, toes: FloatArray) -> FloatArray:
    """A rotation of the toes (4,), pitched so that ball and tip both rest."""
    known = {part: offset for part, offset, _ in sole.points if part in sole.on_toes}
    if "ball" not in known or "toe" not in known:
        return toes
    line = rotations.rotate(toes, known["toe"] - known["ball"])
    level = np.array([line[0], line[1], 0.0])
    if np.linalg.norm(level) < 0.5 * np.linalg.norm(line):  # toes that point down are not on the ground
        return toes
    return rotations.multiply(rotations.between(line, level), toes)
