"""The stance of a foot: its place on the ground, which passes through locked frames."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.graphs.snap.soles import OTHER_GROUND, Sole
from gaitway.motion.blending import ease
from gaitway.motion.contacts import stances
from gaitway.motion.footplants import Foot, held_rotation, resting_place

_SETTLE_S = 0.15
"""Time in which a foot that is not flat in a locked frame becomes flat [s]."""


@dataclass(frozen=True, eq=False)
class SnapStance:
    """Frames from `start` up to, but not including, `stop` in which a foot is on the ground."""

    foot: Foot
    sole: Sole
    start: int
    stop: int
    locks: IntArray
    """Locked frames of the stance."""
    fps: float

    def hold(self, shift: FloatArray, turn: FloatArray, pins: FloatArray) -> None:
        """Write the corrections of the stance.

        Args:
            shift: Receives the shifts of the ankle in frames with a flat foot [m]; (F, 3).
            turn: Receives the rotation vectors of the foot in these frames [rad]; (F, 3).
            pins: Receives the places of the planted point in all frames [m]; (F, 3).
        """
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
        """Return the height at which a point stands [m]: its height at rest, or its own height on other ground."""
        rest, now = self.sole.heel if heel else self.sole.pivot, float(np.median(track[:, 2]))
        return rest if abs(now - rest) < OTHER_GROUND else now

    def _flat_poses(self, flat: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Return ankle (n, 3) and rotation (n, 4) of the flat foot in every frame; else those of the nearest flat foot.

        Consecutive flat poses between which one point stays down share that point.
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
        """Return the flat poses, moved as a whole to the places of the foot in locked frames."""
        if not len(self.locks):
            return place, held
        foot, rows = self.foot, self.locks - self.start
        turns, lying = np.zeros((len(rows), 3)), np.flatnonzero(flat[rows])
        for k in lying:
            undone = rotations.multiply(foot.rotations[self.locks[k]], rotations.conjugate(held[rows[k]]))
            turns[k] = rotations.to_rotation_vector(undone)
        if len(lying):  # a locked foot that stands on one point does not show how it lies flat
            turns = turns[lying[np.abs(rows[:, None] - rows[lying]).argmin(axis=1)]]
        spin = rotations.from_rotation_vector(self._between_locks(turns, level=False))
        centre, held = place[self._lock_rows()], rotations.multiply(spin, held)
        place = centre + rotations.rotate(spin, place - centre)
        gaps = foot.ankle[self.locks] - place[rows]
        for k in np.flatnonzero(~flat[rows]):
            offset = foot.ball_offset if foot.ball[self.locks[k]] else foot.heel_offset
            gaps[k] = foot.track(offset)[self.locks[k]] - place[rows[k]] - rotations.rotate(held[rows[k]], offset)
        return place + self._between_locks(gaps, level=True), held

    def _lock_rows(self) -> IntArray:
        """Return the row of the nearest locked frame for each frame of the stance; (n,)."""
        rows = np.arange(self.stop - self.start)
        return np.asarray((self.locks - self.start)[np.abs(rows[:, None] - (self.locks - self.start)).argmin(axis=1)])

    def _between_locks(self, values: FloatArray, *, level: bool) -> FloatArray:
        """Return values (locks, 3) at locked frames, eased from one to the next and constant beyond; (n, 3).

        The vertical part of a shift, and the tilting part of a turn, are faults of the locked pose and fade soon.
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


def _nearest_run(runs: list[tuple[int, int]], count: int) -> IntArray:
    """Return for each of `count` frames the index of the run that holds it, or that is nearest."""
    rows = np.arange(count)[:, None]
    starts, stops = np.array(runs).T
    away = np.maximum(np.maximum(starts - rows, rows - stops + 1), 0)
    return np.asarray(away.argmin(axis=1))
