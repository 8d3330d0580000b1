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
        self.path, self.knots, self.ahead = np.ascontiguousarray(path), knots, path[1:, :2] - path[:-1, :2]
        self.planned = np.diff(path[knots, 2])
        self.limits = np.tile([-np.inf, np.inf], (count, 1)) if limits is None else limits
        self.step, share = _shares(knots)
        self.share, self.half = share, 0.5 * (share[1:] + share[:-1])
        turns = np.ones(count, dtype=bool) if turns is None else turns
        strides = np.ones(count, dtype=bool) if strides is None else strides
        self.group: IntArray = np.concatenate([[0], np.cumsum(turns)])
        self.strides = np.repeat(strides, np.diff(knots)).astype(np.float64)
        self.added, self.longer = np.zeros(count + 1), np.zeros(count + 1)
        self.stiff = np.zeros((count + 1, count + 1))
        self.stiff.flat[:: count + 2] = _STIFF / (count + 1) + 2.0 * _UNEVEN
        self.stiff[0, 0] = self.stiff[-1, -1] = _STIFF / (count + 1) + _UNEVEN
        self.stiff.flat[1 :: count + 2] = self.stiff.flat[count + 1 :: count + 2] = -_UNEVEN
        self.ending: float | None = None
        self._hold(())

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
        size = self._free(heading)
        self._hold(contacts)
        system, right = self._system(place, size, np.zeros(len(self.longer)), True)
        count = size + len(self.longer)
        solved = _solved(system, right)
        while len(self.used) and (solved[count + 2 :] > 0.0).any():  # a contact that pulls is none
            stays = solved[count + 2 :] <= 0.0
            self._hold([contact for contact, stay in zip(self.used, stays.tolist(), strict=True) if stay])
            left = np.concatenate([np.arange(count + 2), count + 2 + np.flatnonzero(stays)])
            system, right = system[left[:, None], left], right[left]
            solved = _solved(system, right)
        self._apply(size, solved, farthest)

    def closed(self, place: tuple[float, float], heading: float | None) -> FloatArray | None:
        """Return the latest path, led to a place by the smallest changes; None if it does not get there.

        Args:
            place: where the last frame is to be: x, y [m].
            heading: its heading, near that of the path and not wrapped [rad]; None for any.
        """
        size, held = self._free(heading), np.zeros(len(self.longer))
        for _ in range(_CLOSING):
            system, right = self._system(place, size, held, False)
            lack = right[size + len(self.longer) :]
            away = float(np.hypot(lack[0], lack[1]))
            if away < 0.9 * _CLOSED and not (self.used and np.abs(lack[2:]).max() >= _TOUCHING):
                break
            held = self._apply(size, _solved(system, right), np.inf)
        path = self.latest()
        x, y, ends = path[-1].tolist()
        same = heading is None or abs(heading - ends) <= _CLOSED
        return path if np.hypot(place[0] - x, place[1] - y) <= _CLOSED and same else None

    def _hold(self, contacts: Sequence[PathContact]) -> None:
        """Let contacts hold the path."""
        self.used = list(contacts)
        self.frames: IntArray = np.array([*(contact.frame for contact in contacts), len(self.ahead)])

    def _free(self, heading: float | None) -> int:
        """Return how many groups of knots are free to turn; the last heading is set if it is given."""
        last = int(self.group[-1])
        if heading is not None and last > 0 and heading != self.ending:
            self.added[self.group == last] = heading - self.path[-1, 2]
            self.ending = heading  # what is set is no variable, and stays
        return max(last + 1 - (heading is not None), 1) - 1  # group 0 never turns

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
        now = self.planned + (self.added[1:] - self.added[:-1])
        return float(np.abs(now - np.minimum(np.maximum(now, self.limits[:, 0]), self.limits[:, 1])).max())

    def latest(self) -> FloatArray:
        """Return the latest path; (F, 3)."""
        out = np.empty(self.path.shape)
        kernels.lay_path(
            self.path, self.ahead, self.step, self.share, self.half, self.strides, self.added, self.longer, out
        )
        return out

    def _system(
        self, place: tuple[float, float], size: int, held: FloatArray, straightens: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Return the linear system of a change of all variables, and its right side; see `_straight_kernels.assemble`.

        What the end and the contacts lack [m] is at the end of the right side.
        """
        count, contacts = size + len(self.longer), self.used
        ends, total = len(contacts) + 1, count + 2 + len(contacts)
        here, parts = np.empty((ends, 2)), np.empty((ends, 2, count))
        system, right = np.empty((total, total)), np.empty(total)
        kernels.prepare(
            self.path, self.ahead, self.step, self.half, self.strides, self.knots, self.group, self.added, self.longer,
            self.planned, self.limits, self.stiff, held, size, self.frames, place[0], place[1], straightens, here,
            parts, system, right,
        )  # fmt: skip
        if straightens:
            right[size:count] -= self.stiff @ self.longer
        for row, (contact, at, part) in enumerate(zip(contacts, here, parts, strict=False), count + 2):
            right[row] = contact.offset - float(contact.normal @ at)
            system[row, :count] = system[:count, row] = contact.normal @ part
        return system, right


def _solved(system: FloatArray, right: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.solve(system, right), dtype=np.float64)


def turning(path: FloatArray, knots: IntArray) -> float:
    """Return the sum of the turns of steps, without signs [rad]."""
    headings = path[knots, 2]
    return float(np.abs(headings[1:] - headings[:-1]).sum())


def _shares(knots: IntArray) -> tuple[IntArray, FloatArray]:
    """Return the step of each frame, and the share of what is added at its end; (F,) each."""
    counts = np.diff(knots)
    step: IntArray = np.concatenate([[0], np.repeat(np.arange(len(counts)), counts)])
    part = (np.arange(len(step)) - knots[step]) / np.maximum(counts, 1)[step]
    return step, part * part * (3.0 - 2.0 * part)  # as `blending.ease`, within 0 and 1
