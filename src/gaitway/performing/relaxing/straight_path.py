"""Straight paths: the root's path of some steps is turned and stretched, step by step, until it hardly turns.

Each step keeps its own shape. What is added to its heading goes over smoothly from one step to the next, so that the
path has no corners. Large turns count by their size and small ones by their squares: a weave becomes a line, and a
corner becomes a short arc between two lines. Contacts hold the path away from what it would touch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.motion.blending import ease

_ROUNDS, _CLOSING = 7, 5
"""Number of rounds that straighten, and of corrections after each that only close what is left."""
_STEP = 0.3
"""Most that a round adds to a heading [rad]; a turn is only linear for a short way."""
_SMALL = float(np.radians(6.0))
"""Turn of a step below which it counts by its square [rad]."""
_STIFF, _UNEVEN = 60.0, 15.0
"""Cost of stretching all steps e times, and of stretching one e times as far as the next, as that of a turn [rad]."""
_HARD = 100.0
"""Cost of a turn beyond the limits of its step, by its square [1/rad]."""
_HELD = 1e4
"""Cost of stretching a step that is stretched as far as it may be."""
_CLOSED = 1e-6
"""Greatest distance of the end from where it should be [m]."""
_TOUCHING = 1e-3
"""Distance from a contact within which nothing more is done [m]."""
_GIVE = 1e-9
"""How far a contact gives way, so that two that say the same do not contradict [m]."""
SHORTEST, LONGEST = 0.88, 1.06
"""Least and greatest factor on the lengths of steps; what looks like the same walk."""


@dataclass(frozen=True, eq=False)
class PathContact:
    """A line that a path must not cross in one frame."""

    frame: int
    normal: FloatArray
    """Unit vector to the free side; (2,)."""
    offset: float
    """Least product of the place and the normal [m]."""


class StraightPath:
    """The straightest path of some steps; asked again with more contacts, it goes on from its latest answer."""

    def __init__(
        self, path: FloatArray, knots: IntArray, *, turns: BoolArray | None = None, strides: BoolArray | None = None,
        limits: FloatArray | None = None,
    ) -> None:  # fmt: skip
        """Take the path of steps.

        Args:
            path: planar poses (x, y, heading) of the root, headings not wrapped [m, rad]; (F, 3).
            knots: frame in which each step begins, and the last frame; (K + 1,).
            turns: whether each step may turn farther or less far than it does; (K,); None for all.
            strides: whether each step may be longer or shorter; (K,); None for all.
            limits: least and greatest turn of each step, which are seldom passed [rad]; (K, 2); None for any.
        """
        count = len(knots) - 1
        self.path, self.knots, self.ahead = path, knots, np.diff(path[:, :2], axis=0)
        self.planned = np.diff(path[knots, 2])
        self.limits = np.array([[-np.inf, np.inf]]) if limits is None else limits
        self.step, share = _shares(knots)
        self.share, self.half = share, 0.5 * (share[1:] + share[:-1])
        turns = np.ones(count, dtype=bool) if turns is None else turns
        strides = np.ones(count, dtype=bool) if strides is None else strides
        self.group = np.concatenate([[0], np.cumsum(turns)])
        self.strides = np.repeat(strides, np.diff(knots)).astype(np.float64)
        self.added, self.longer, self.used = np.zeros(count + 1), np.zeros(count + 1), list[PathContact]()
        between = np.diff(np.eye(count + 1), axis=0)
        self.between = between
        self.stiff = _STIFF / (count + 1) * np.eye(count + 1) + _UNEVEN * between.T @ between

    def find(
        self, place: tuple[float, float], heading: float | None, contacts: Sequence[PathContact] = ()
    ) -> FloatArray | None:
        """Return the path from its start to a place; None if there is none.

        Args:
            place: where the last frame is to be: x, y [m].
            heading: its heading, near that of the path and not wrapped [rad]; None for any.
            contacts: what the path must keep clear of.
        """
        for _ in range(_ROUNDS):
            self.next(place, heading, contacts, np.inf)
        return self.closed(place, heading)

    def next(
        self, place: tuple[float, float], heading: float | None, contacts: Sequence[PathContact], farthest: float
    ) -> None:
        """Make the latest path straighter; then `closed` leads its end to the place.

        Args:
            place: where the last frame is to be: x, y [m].
            heading: its heading, near that of the path and not wrapped [rad]; None for any.
            contacts: what the path must keep clear of.
            farthest: farthest that any frame may go from the latest path, before its end is led to the place [m].
        """
        basis, self.used = self._basis(heading), list(contacts)
        held = np.zeros(len(self.longer))
        lack, rows = self._lacking(place, self.used, basis)
        change, force = self._change(basis, lack, rows, held, False)
        while (force[2:] > 0.0).any():  # a contact that pulls is none
            stays = np.concatenate([[True, True], force[2:] <= 0.0])
            self.used = [contact for contact, stay in zip(self.used, stays[2:].tolist(), strict=True) if stay]
            lack, rows = lack[stays], rows[stays]
            change, force = self._change(basis, lack, rows, held, False)
        self._apply(basis, change, farthest)

    def closed(self, place: tuple[float, float], heading: float | None) -> FloatArray | None:
        """Return the latest path, led to a place by the smallest changes; None if it does not get there.

        Args:
            place: where the last frame is to be: x, y [m].
            heading: its heading, near that of the path and not wrapped [rad]; None for any.
        """
        basis, held = self._basis(heading), np.zeros(len(self.longer))
        for _ in range(_CLOSING):
            lack, rows = self._lacking(place, self.used, basis)
            if np.hypot(*lack[:2]) < 0.9 * _CLOSED and np.abs(lack[2:]).max(initial=0.0) < _TOUCHING:
                break
            held = self._apply(basis, self._change(basis, lack, rows, held, True)[0], np.inf)
        path = self.latest()
        lack = np.hypot(*(np.asarray(place) - path[-1, :2]))
        same = heading is None or abs(heading - path[-1, 2]) <= _CLOSED
        return path if lack <= _CLOSED and same else None

    def _basis(self, heading: float | None) -> FloatArray:
        """Return what each free variable adds to the headings at knots; set the last heading if it is given."""
        last = int(self.group[-1])
        if heading is not None and last > 0:
            self.added[self.group == last] = heading - self.path[-1, 2]
        free = last + 1 - (heading is not None)  # group 0 never turns
        return np.asarray(np.eye(last + 1)[self.group][:, 1 : max(free, 1)])

    def _apply(self, basis: FloatArray, change: FloatArray, farthest: float) -> FloatArray:
        """Change the variables; return the cost of stretching each knot that is stretched as far as it may be."""
        size, added, longer = basis.shape[1], self.added, self.longer
        turn = basis @ change[:size]
        part = min(1.0, _STEP / max(float(np.abs(turn).max()), _STEP))
        before = None if np.isinf(farthest) else self._places()
        while True:
            wanted = longer + part * change[size:]
            self.added, self.longer = added + part * turn, np.clip(wanted, SHORTEST - 1.0, LONGEST - 1.0)
            if before is None:
                break
            away = float(np.hypot(*(self._places() - before).T).max())
            if away <= 1.5 * farthest:
                break
            part *= farthest / away
        return np.where(wanted != self.longer, _HELD, 0.0)

    def excess(self) -> float:
        """Return by how much a step of the latest path turns beyond its limits at most [rad]."""
        now = self.planned + self.between @ self.added
        return float(np.abs(now - np.clip(now, self.limits[:, 0], self.limits[:, 1])).max())

    def latest(self) -> FloatArray:
        """Return the latest path; (F, 3)."""
        knots = self.added
        heading = self.path[:, 2] + knots[self.step] + self.share * (knots[self.step + 1] - knots[self.step])
        return np.column_stack([self._places(), heading])

    def _places(self) -> FloatArray:
        """Return the places of the latest path; (F, 2)."""
        return np.asarray(self.path[0, :2] + _sums(self._moved()[1]))

    def _moved(self) -> tuple[FloatArray, FloatArray]:
        """Return the moves of the root from frame to frame, before they are stretched and after; (F - 1, 2) each."""
        step, half = self.step[1:], self.half
        angle = self.added[step] + half * (self.added[step + 1] - self.added[step])
        longer = self.longer[step] + half * (self.longer[step + 1] - self.longer[step])
        turned = _turned(self.ahead, angle)
        return turned, turned * (1.0 + self.strides * longer)[:, None]

    def _lacking(
        self, place: tuple[float, float], contacts: Sequence[PathContact], basis: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return what the end and the contacts lack (2 + C,), and what changes do about that (2 + C, variables)."""
        turned, moved = self._moved()
        frames = np.array([*(contact.frame for contact in contacts), len(moved)])
        gone = _sums(moved)[frames]
        parts = np.minimum(self.knots, frames[:, None])
        turning = self._by_knot(moved, parts)
        turning = np.stack([-turning[..., 1], turning[..., 0]], axis=1) @ basis
        stretching = np.moveaxis(self._by_knot(turned * self.strides[:, None], parts), 1, 2)
        rows = np.concatenate([turning, stretching], axis=2)  # (C + 1, 2, variables)
        here = self.path[0, :2] + gone
        lack = [*(np.asarray(place) - here[-1])]
        lack += [c.offset - float(c.normal @ at) for c, at in zip(contacts, here, strict=False)]
        held = [contact.normal @ row for contact, row in zip(contacts, rows, strict=False)]
        return np.array(lack), np.vstack([rows[-1], *held])

    def _by_knot(self, moves: FloatArray, parts: IntArray) -> FloatArray:
        """Return the sums of moves that turn or stretch with each knot; (C, K + 1, 2).

        Args:
            moves: moves from frame to frame; (F - 1, 2).
            parts: the knots, none of them beyond the frame up to which moves are summed; (C, K + 1).
        """
        later = moves * self.half[:, None]
        with_next, with_own = _sums(later)[parts], _sums(moves - later)[parts]
        out = np.zeros((*parts.shape, 2))
        out[:, 1:] = np.diff(with_next, axis=1)
        out[:, :-1] += np.diff(with_own, axis=1)
        return out

    def _change(
        self, basis: FloatArray, lack: FloatArray, rows: FloatArray, held: FloatArray, closing: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Return the change of all variables, and the forces of the end and the contacts."""
        size, count, total = basis.shape[1], rows.shape[1], sum(rows.shape)
        now = self.planned + self.between @ self.added
        weight, steps = 1.0 / np.maximum(np.abs(now), _SMALL), self.between @ basis
        over = now - np.clip(now, self.limits[:, 0], self.limits[:, 1])
        pushed = _HARD * (over != 0.0)
        system = np.zeros((total, total))
        system[:size, :size] = (steps.T * (weight + pushed)) @ steps
        system[size:count, size:count] = self.stiff + np.diag(held)
        system[count:, :count], system[:count, count:] = rows, rows.T
        system[count:, count:] = -_GIVE * np.eye(total - count)
        slope = np.zeros(count)
        if not closing:
            slope[:size], slope[size:] = steps.T @ (weight * now + pushed * over), self.stiff @ self.longer
        solved = np.linalg.solve(system, np.concatenate([-slope, lack]))
        return solved[:count], solved[count:]


def turning(path: FloatArray, knots: IntArray) -> float:
    """Return the sum of the turns of steps, without signs [rad]."""
    return float(np.abs(np.diff(path[knots, 2])).sum())


def _shares(knots: IntArray) -> tuple[IntArray, FloatArray]:
    """Return the step of each frame, and the share of what is added at its end; (F,) each."""
    numbers = np.arange(int(knots[-1]) + 1)
    step: IntArray = np.clip(np.searchsorted(knots, numbers, side="left") - 1, 0, len(knots) - 2)
    return step, ease((numbers - knots[step]) / np.maximum(knots[step + 1] - knots[step], 1))


def _sums(moves: FloatArray) -> FloatArray:
    """Return the sums of all moves (F - 1, 2) before each frame; (F, 2)."""
    return np.concatenate([np.zeros((1, 2)), np.cumsum(moves, axis=0)])


def _turned(moves: FloatArray, angles: FloatArray) -> FloatArray:
    c, s = np.cos(angles), np.sin(angles)
    return np.column_stack([c * moves[:, 0] - s * moves[:, 1], s * moves[:, 0] + c * moves[:, 1]])
