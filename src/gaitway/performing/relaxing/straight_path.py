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
from gaitway.performing.relaxing import _straight_kernels as kernels

_ROUNDS, _CLOSING = 7, 5
"""Number of rounds that straighten, and of corrections after each that only close what is left."""
_STIFF, _UNEVEN = 60.0, 15.0
"""Cost of stretching all steps e times, and of stretching one e times as far as the next, as that of a turn [rad]."""
_CLOSED = 1e-6
"""Greatest distance of the end from where it should be [m]."""
_TOUCHING = 1e-3
"""Distance from a contact within which nothing more is done [m]."""


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
        self.path, self.knots, self.ahead = np.ascontiguousarray(path), knots, np.diff(path[:, :2], axis=0)
        self.planned = np.diff(path[knots, 2])
        self.limits = np.tile([-np.inf, np.inf], (count, 1)) if limits is None else limits
        self.step, share = _shares(knots)
        self.share, self.half = share, 0.5 * (share[1:] + share[:-1])
        turns = np.ones(count, dtype=bool) if turns is None else turns
        strides = np.ones(count, dtype=bool) if strides is None else strides
        self.group = np.concatenate([[0], np.cumsum(turns)])
        self.strides = np.repeat(strides, np.diff(knots)).astype(np.float64)
        self.added, self.longer, self.used = np.zeros(count + 1), np.zeros(count + 1), list[PathContact]()
        between = np.diff(np.eye(count + 1), axis=0)
        self._bases: dict[int, FloatArray] = {}
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
        (size, basis), self.used = self._free(heading), list(contacts)
        held = np.zeros(len(self.longer))
        lack, rows = self._lacking(place, self.used, basis)
        change, force = self._change(size, lack, rows, held, False)
        while (force[2:] > 0.0).any():  # a contact that pulls is none
            stays = np.concatenate([[True, True], force[2:] <= 0.0])
            self.used = [contact for contact, stay in zip(self.used, stays[2:].tolist(), strict=True) if stay]
            lack, rows = lack[stays], rows[stays]
            change, force = self._change(size, lack, rows, held, False)
        self._apply(size, change, farthest)

    def closed(self, place: tuple[float, float], heading: float | None) -> FloatArray | None:
        """Return the latest path, led to a place by the smallest changes; None if it does not get there.

        Args:
            place: where the last frame is to be: x, y [m].
            heading: its heading, near that of the path and not wrapped [rad]; None for any.
        """
        (size, basis), held = self._free(heading), np.zeros(len(self.longer))
        for _ in range(_CLOSING):
            lack, rows = self._lacking(place, self.used, basis)
            if np.hypot(*lack[:2]) < 0.9 * _CLOSED and np.abs(lack[2:]).max(initial=0.0) < _TOUCHING:
                break
            held = self._apply(size, self._change(size, lack, rows, held, True)[0], np.inf)
        path = self.latest()
        lack = np.hypot(*(np.asarray(place) - path[-1, :2]))
        same = heading is None or abs(heading - path[-1, 2]) <= _CLOSED
        return path if lack <= _CLOSED and same else None

    def _free(self, heading: float | None) -> tuple[int, FloatArray]:
        """Return how many groups of knots are free to turn, and which knots each turns; (K + 1, groups).

        The last heading is set if it is given.
        """
        last = int(self.group[-1])
        if heading is not None and last > 0:
            self.added[self.group == last] = heading - self.path[-1, 2]
        size = max(last + 1 - (heading is not None), 1) - 1  # group 0 never turns
        if size not in self._bases:
            self._bases[size] = np.eye(last + 1)[self.group][:, 1 : 1 + size]
        return size, self._bases[size]

    def _apply(self, size: int, change: FloatArray, farthest: float) -> FloatArray:
        """Change the variables; return the cost of stretching each knot that is stretched as far as it may be."""
        held = np.empty(len(self.longer))
        kernels.apply_change(
            self.path, self.ahead, self.step, self.half, self.strides, self.group, change, size, farthest,
            self.added, self.longer, held,
        )  # fmt: skip
        return held

    def excess(self) -> float:
        """Return by how much a step of the latest path turns beyond its limits at most [rad]."""
        now = self.planned + np.diff(self.added)
        return float(np.abs(now - np.clip(now, self.limits[:, 0], self.limits[:, 1])).max())

    def latest(self) -> FloatArray:
        """Return the latest path; (F, 3)."""
        out = np.empty(self.path.shape)
        kernels.lay_path(
            self.path, self.ahead, self.step, self.share, self.half, self.strides, self.added, self.longer, out
        )
        return out

    def _lacking(
        self, place: tuple[float, float], contacts: Sequence[PathContact], basis: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return what the end and the contacts lack (2 + C,), and what changes do about that (2 + C, variables)."""
        frames = np.array([*(contact.frame for contact in contacts), len(self.ahead)])
        gone = np.empty((len(frames), 2))
        turning, stretching = np.empty((len(frames), 2, len(self.knots))), np.empty((len(frames), 2, len(self.knots)))
        kernels.effects(
            self.ahead, self.step, self.half, self.strides, self.knots, self.added, self.longer, frames, gone, turning,
            stretching,
        )  # fmt: skip
        rows = np.concatenate([turning @ basis, stretching], axis=2)  # (C + 1, 2, variables)
        here = self.path[0, :2] + gone
        lack = [place[0] - here[-1, 0], place[1] - here[-1, 1]]
        lack += [c.offset - float(c.normal @ at) for c, at in zip(contacts, here, strict=False)]
        if not contacts:
            return np.array(lack), rows[-1]
        held = [contact.normal @ row for contact, row in zip(contacts, rows, strict=False)]
        return np.array(lack), np.vstack([rows[-1], *held])

    def _change(
        self, size: int, lack: FloatArray, rows: FloatArray, held: FloatArray, closing: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Return the change of all variables, and the forces of the end and the contacts."""
        count, total = rows.shape[1], sum(rows.shape)
        system, slope = np.zeros((total, total)), np.zeros(count)
        kernels.assemble(
            self.planned, self.limits, self.group, self.added, size, self.stiff, held, rows, not closing, system, slope
        )
        if not closing:
            slope[size:] = self.stiff @ self.longer
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
