"""People of a live throng whose limbs are locked go back the way that they came, and let others pass first.

Legs that are in between one another, or around the corner of a wall, find no way out but through one another. A plan
can go back in time to before that (`gaitway.crowd.throng.locks`). A live throng is seen while it happens, so one of the
two walks back: the poses that led into the lock are shown once more, the last one first. They were free of walls, and
of whoever stands where it stood. Feet that rested rest again where they did.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gaitway.core.archives import Arrays
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray
from gaitway.crowd.throng.bodies import ThrongBodies, rows_in
from gaitway.live.mixing.simulation import LiveSimulation

LOCKED = 1.2
"""Time of waiting from which on somebody may go back [s]."""
_BACK = 0.5
"""How far people go back at the most [m]."""
_VAIN, _AGAIN = 0.4, 1.5
"""Time after which somebody gives up who cannot go back [s], and after which it tries once more [s]."""
_NEAR = 1.2
"""Of people who are nearer to one another than this only one goes back at a time [m]."""
_LATER, _SLOW = 2.5, 0.3
"""Time for which who went back lets others pass [s], and the share of its speed that it has then."""
_APART, _SPEED = 0.01, 1.2
"""Distance by which a root or a foot has moved from one kept pose to the next [m], and the speed of whichever is faster
of them on the way back [m/s]."""
_KEPT = 80
"""Number of poses that are kept of each."""
_DENSE = 0.3
"""Poses are kept of those whose arms are held down by so much, since others are near."""
_NOBODY, _NOWHERE = -1, 1e6
"""Number of nobody, and where those are whose poses are not kept yet [m]."""
_PATH = 15
"""Columns of a kept pose before those of the body: path of the body (6), place in the dynamics [m], heading [rad], and
where the root and the feet are [m] (6)."""


@dataclass(slots=True)
class _Retreat:
    """Somebody who goes back."""

    begun: tuple[float, float]
    """Where its root was [m]."""
    waits: float = 0.0
    """How long it could not go on [s]."""
    poses: int = 1
    """How many poses it goes back in this step."""


class Retreats:
    """Who goes back, and the ways by which people of one skeleton came. This class is **mutable**.

    Attributes:
        slots: numbers in the engine of those whose poses are kept, -1 for nobody; (P,).
    """

    def __init__(self) -> None:
        """Make it without people."""
        self.slots: IntArray = np.empty(0, np.int64)
        self._poses: SingleArray = np.empty((0, _KEPT, 0), np.float32)
        self._counts: IntArray = np.empty(0, np.int64)
        self._nexts: IntArray = np.empty(0, np.int64)
        self._marks: FloatArray = np.empty((0, 3, 2))
        self._back: dict[int, _Retreat] = {}
        self._until: dict[int, tuple[float, float]] = {}
        self._failed: dict[int, int] = {}

    def forget(self, slots: IntArray) -> None:
        """Forget people."""
        self._free(np.isin(self.slots, slots))
        for slot in slots.tolist():
            self._back.pop(slot, None)
            self._until.pop(slot, None)
            self._failed.pop(slot, None)

    def goes_back(self, slots: IntArray) -> BoolArray:
        """Return who goes back now; (N,)."""
        return np.isin(slots, np.fromiter(self._back, np.int64, len(self._back)))

    def begin(self, bodies: ThrongBodies, waited: FloatArray, time: float) -> None:
        """Let those go back who have waited longest among others who are near.

        Where that failed, all go back who are locked, and where that failed, too, everybody who is near.

        Args:
            bodies: the bodies.
            waited: how long each has waited; (N,) [s].
            time: now [s].
        """
        places, slots = bodies.places, bodies.slots
        locked = np.flatnonzero((waited >= LOCKED) & self._can(slots))
        for row in locked[np.lexsort((slots[locked], -np.round(waited[locked], 6)))].tolist():
            slot = int(slots[row])
            if slot in self._back or time < self._until.get(slot, (-np.inf, 1.0))[0]:
                continue
            others = rows_in(slots, np.fromiter(self._back, np.int64, len(self._back)))
            others = others[others >= 0]
            if (np.hypot(*(places[others] - places[row]).T) < _NEAR).any():
                continue
            who, failed = np.array([row]), self._failed.get(slot, 0)
            if failed:  # none of those who are locked finds room alone: they came here together, with others behind
                some = locked if failed == 1 else np.flatnonzero(self._can(slots))
                who = some[np.hypot(*(places[some] - places[row]).T) < _NEAR]
            for k in who.tolist():
                self._back.setdefault(int(slots[k]), _Retreat((float(places[k, 0]), float(places[k, 1]))))

    def _can(self, slots: IntArray) -> BoolArray:
        """Return whose ways are kept; (N,)."""
        at = rows_in(self.slots, slots)
        out = at >= 0
        out[out] = self._counts[at[out]] > 1
        return np.asarray(out)

    def go_back(
        self, bodies: ThrongBodies, simulation: LiveSimulation, numbers: FloatArray, smooth: slice, dt: float
    ) -> None:
        """Show the poses that led to those of now, the last one first, of those who go back.

        Args:
            bodies: the bodies, which are changed.
            simulation: the dynamics, in which people are moved.
            numbers: numbers of all characters, a row each.
            smooth: columns of the path that a body follows.
            dt: time of the step [s].
        """
        own = np.flatnonzero(self.goes_back(bodies.slots))
        if not len(own):
            return
        slots = bodies.slots[own]
        at, many = rows_in(self.slots, slots), np.ones(len(own), np.int64)
        for k, (me, row) in enumerate(zip(at.tolist(), own.tolist(), strict=True)):
            retreat = self._back[int(slots[k])]
            if retreat.waits == 0.0:  # who is held tries the next pose alone, which differs least
                ways = self._poses[me, (self._nexts[me] - 1 - np.arange(self._counts[me])) % _KEPT, 9:_PATH]
                apart = ways.reshape(-1, 3, 2) - _marks_of(bodies, np.array([row]))
                far = np.hypot(apart[..., 0], apart[..., 1]).max(axis=1) > _SPEED * dt
                many[k] = max(int(far.argmax()) if far.any() else len(far), 1)
            retreat.poses = int(many[k])
        kept = self._poses[at, (self._nexts[at] - many) % _KEPT].astype(np.float64)
        rows = simulation.rows_of(slots)
        path, places, headings = kept[:, :6].copy(), kept[:, 6:8], kept[:, 8]
        path[:, 2:4], path[:, 5] = 0.0, 0.0
        numbers[slots, smooth] = path
        simulation.guide(rows, places, headings, (places - simulation.positions[rows]) / max(dt, 1e-6))
        bodies.show_again(own, kept[:, _PATH:])

    def note(
        self, bodies: ThrongBodies, simulation: LiveSimulation, numbers: FloatArray, smooth: slice, lowered: FloatArray,
        held: BoolArray, dt: float, time: float,
    ) -> IntArray:  # fmt: skip
        """Learn how a step went.

        Args:
            bodies: the bodies.
            simulation: the dynamics.
            numbers: see `go_back`.
            smooth: see `go_back`.
            lowered: how far arms are held down; (N,).
            held: who had to stay as it was; (N,).
            dt: time of the step [s].
            time: now [s].

        Returns:
            Numbers of those who went back and are done.
        """
        slots, done = bodies.slots, list[int]()
        for slot, retreat in list(self._back.items()):
            row = int(rows_in(slots, np.array([slot]))[0])
            at = int(rows_in(self.slots, np.array([slot]))[0])
            if row < 0 or at < 0:
                continue
            if held[row]:
                retreat.waits += dt
            else:
                self._nexts[at] = (self._nexts[at] - retreat.poses) % _KEPT
                self._counts[at] -= retreat.poses
                self._marks[at] = _marks_of(bodies, np.array([row]))[0]
            far = float(np.hypot(*(bodies.places[row] - retreat.begun)))
            if retreat.waits >= _VAIN or far >= _BACK or self._counts[at] < 2:
                del self._back[slot]
                went = far > 0.25 * _BACK
                self._until[slot] = (time + (_LATER if went else _AGAIN), _SLOW if went else 1.0)
                if went:
                    done.append(slot)
                    self._failed.pop(slot, None)
                else:
                    self._failed[slot] = self._failed.get(slot, 0) + 1
        dense = lowered >= _DENSE
        gone = np.isin(self.slots, slots[~dense & ~self.goes_back(slots)])  # a way with a gap leads nowhere
        self._free(gone)
        self._keep(bodies, simulation, numbers, smooth, np.flatnonzero(dense))
        return np.array(done, np.int64)

    def shares(self, slots: IntArray, time: float) -> FloatArray:
        """Return the share of their speed that people have now who let others pass; (N,)."""
        out = np.ones(len(slots))
        for slot, (until, share) in list(self._until.items()):
            if time >= until:
                del self._until[slot]
            else:
                out[slots == slot] = share
        return out

    def _keep(
        self, bodies: ThrongBodies, simulation: LiveSimulation, numbers: FloatArray, smooth: slice, rows: IntArray
    ) -> None:
        """Keep the poses of some (M,), of those who do not go back and have moved on since the last one."""
        rows = rows[~self.goes_back(bodies.slots[rows])]
        fresh = bodies.slots[rows][rows_in(self.slots, bodies.slots[rows]) < 0]
        if len(fresh):
            self._add(fresh, bodies)
        at, marks = rows_in(self.slots, bodies.slots[rows]), _marks_of(bodies, rows)
        moved = np.hypot(*np.moveaxis(marks - self._marks[at], -1, 0)).max(axis=1, initial=0.0) >= _APART
        rows, at, marks = rows[moved], at[moved], marks[moved]
        if not len(rows):
            return
        slots = bodies.slots[rows]
        own = simulation.rows_of(slots)
        self._poses[at, self._nexts[at]] = np.column_stack(
            [
                numbers[slots, smooth], simulation.positions[own], simulation.headings[own], marks.reshape(-1, 6),
                bodies.snapshot(rows),
            ]
        )  # fmt: skip
        self._nexts[at] = (self._nexts[at] + 1) % _KEPT
        self._counts[at] = np.minimum(self._counts[at] + 1, _KEPT)
        self._marks[at] = marks

    def _free(self, rows: BoolArray) -> None:
        """Let rows (P,) be of nobody."""
        self.slots[rows], self._counts[rows], self._nexts[rows], self._marks[rows] = _NOBODY, 0, 0, _NOWHERE

    def _add(self, slots: IntArray, bodies: ThrongBodies) -> None:
        """Give people (N,) rows: those of nobody, and others; room for rows is doubled, or it would be copied often."""
        lack = len(slots) - int((self.slots == _NOBODY).sum())
        if lack > 0:
            have, width = len(self.slots), _PATH + bodies.snapshot(np.empty(0, np.int64)).shape[1]
            more = max(lack, have)
            poses = np.zeros((have + more, _KEPT, width), np.float32)
            poses[:have] = self._poses.reshape(have, _KEPT, width)
            self._poses, self._marks = poses, np.concatenate([self._marks, np.full((more, 3, 2), _NOWHERE)])
            self._counts = np.concatenate([self._counts, np.zeros(more, np.int64)])
            self._nexts = np.concatenate([self._nexts, np.zeros(more, np.int64)])
            self.slots = np.concatenate([self.slots, np.full(more, _NOBODY)])
        self.slots[np.flatnonzero(self.slots == _NOBODY)[: len(slots)]] = slots

    # saving

    def state(self) -> Arrays:
        """Return what `restore` needs."""
        back = [[slot, *retreat.begun, retreat.waits] for slot, retreat in self._back.items()]
        until = [[slot, *values] for slot, values in self._until.items()]
        used = self.slots != _NOBODY
        return {
            "slots": self.slots[used],
            "poses": self._poses[used],
            "counts": self._counts[used],
            "nexts": self._nexts[used],
            "marks": self._marks[used],
            "back": np.array(back, np.float64).reshape(-1, 4),
            "until": np.array(until, np.float64).reshape(-1, 3),
            "failed": np.array(sorted(self._failed.items()), np.int64).reshape(-1, 2),
        }

    def restore(self, arrays: Arrays, bodies: ThrongBodies) -> None:
        """Go on from a saved state, whose bodies are restored already.

        Raises:
            ValueError: if it cannot be.
        """
        slots, count = np.array(arrays["slots"], np.int64), len(arrays["slots"])
        width = _PATH + bodies.snapshot(np.empty(0, np.int64)).shape[1] if count else arrays["poses"].shape[-1]
        shapes = {"poses": (count, _KEPT, width), "counts": (count,), "nexts": (count,), "marks": (count, 3, 2)}
        back, until = np.array(arrays["back"], np.float64), np.array(arrays["until"], np.float64)
        fine = all(arrays[name].shape == shape for name, shape in shapes.items())
        fine &= back.shape[1:] == (4,) and until.shape[1:] == (3,)
        tables = [arrays["poses"], arrays["marks"], back, until]
        if not fine or not all((np.abs(np.asarray(some, np.float64)) <= 1e7).all() for some in tables):
            raise ValueError("ways back of a throng that cannot be")
        counts, nexts = np.array(arrays["counts"], np.int64), np.array(arrays["nexts"], np.int64)
        known = bool(np.isin(slots, bodies.slots).all() and np.isin(back[:, 0], slots).all())
        known = known and bodies.can_show(np.asarray(arrays["poses"], np.float64).reshape(-1, width)[:, _PATH:])
        if not (known and ((counts >= 0) & (counts <= _KEPT)).all() and ((nexts >= 0) & (nexts < _KEPT)).all()):
            raise ValueError("ways back of a throng that cannot be")
        self.slots, self._counts, self._nexts = slots, counts, nexts
        self._poses, self._marks = np.array(arrays["poses"], np.float32), np.array(arrays["marks"], np.float64)
        self._back = {int(slot): _Retreat((x, y), waits) for slot, x, y, waits in back.tolist()}
        self._until = {int(slot): (time, share) for slot, time, share in until.tolist()}
        self._failed = {int(slot): int(times) for slot, times in np.array(arrays["failed"]).reshape(-1, 2)}


def _marks_of(bodies: ThrongBodies, rows: IntArray) -> FloatArray:
    """Return where roots and both feet of some are, from above [m]; (M, 3, 2)."""
    return np.concatenate([bodies.places[rows, None], bodies.feet_now[rows]], axis=1)


def forget_all(some: Sequence[Retreats], slots: IntArray) -> None:
    """Let all forget some people."""
    for retreats in some:
        retreats.forget(slots)
