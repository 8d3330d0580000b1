"""Carried steps: what the bodies of steps cover when their roots follow another path, and what that touches.

Whole bodies are bent when all plans are known. Until then the discs of a step are carried along with its root, and grow
by as much as a body may leave them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from gaitway.core import planar
from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.performing.arrival.footwork import Footwork
from gaitway.performing.relaxing import _carried_kernels as kernels
from gaitway.performing.relaxing.straight_path import PathContact
from gaitway.space._distance_kernels import Squares
from gaitway.space.fields import WorldFields
from gaitway.space.mover_sweep import Swept
from gaitway.space.plan import PlanStep
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.traffic import Traffic, step_slots

_STRIDE_S = 0.4
"""Time before and after within which feet are put down that a leg follows [s]."""
_SHIFTS = (0.015, 0.04, 0.1, 0.2, 0.4)
"""Distances by which a path is moved away from what it touches until it is clear [m]."""
_PROBE = 0.06
"""Distance over which the slope of the clearance is taken [m]."""
_FLAT, _WRONG = 0.3, 0.2
"""Least slope of the clearance that shows a direction, and the cosine beyond which it is taken for the wrong one."""
_LEAST = 1e-3
"""Distance between two paths below which they count as the same [m]."""
_GAP = 3
"""Greatest number of free windows within one contact."""


@dataclass(frozen=True, eq=False)
class _ClipCover:
    """Discs of a clip in W windows, in the frame of its first pose."""

    frames: IntArray
    """Middle, first and last frame of each window, and frames one stride before and after the middle; (5, W)."""
    poses: FloatArray
    """Poses of the root in these frames; (5, W, 3)."""
    around: FloatArray
    discs: FloatArray
    counts: IntArray
    """Number of discs of each window; (W,)."""
    bounds: FloatArray
    """Greatest distance of the discs of a window from its root [m]; (W,)."""


def _clip_cover(prepared: PreparedLibrary, action: int, work: Footwork) -> _ClipCover:
    discs = prepared.discs
    windows = slice(int(discs.window_starts[action]), int(discs.window_starts[action + 1]))
    starts = discs.timed_starts[windows.start : windows.stop + 1]
    ends = discs.window_frames[windows]
    middle, reach = ends.sum(axis=1) // 2, round(_STRIDE_S * work.fps)
    frames = np.stack([middle, ends[:, 0], ends[:, 1], middle - reach, middle + reach])
    frames = np.clip(frames, 0, len(work) - 1)
    return _ClipCover(
        frames, work.path[frames], discs.window_around[windows], discs.timed[int(starts[0]) : int(starts[-1])],
        np.diff(starts), discs.window_bounds[windows],
    )  # fmt: skip


class HeldTraffic:
    """Traffic that does not change for a while, so that kernels hold it."""

    def __init__(self, traffic: Traffic) -> None:
        self.traffic, self.handle = traffic, ArrayHandle(traffic.arrays)
        self._slots: dict[tuple[str, float, float], IntArray] = {}

    def slots(self, prepared: PreparedLibrary, step: PlanStep) -> IntArray:
        """Return first and end slot of each window of a step; (W, 2)."""
        key = (step.clip, step.time, step.speed)
        if key not in self._slots:
            self._slots[key] = step_slots(step, prepared.discs, prepared.table.clips.index(step.clip))
        return self._slots[key]

    def meetings(self, swept: Swept) -> tuple[BoolArray, FloatArray]:
        """Return which groups of something swept meet anybody (G,), and the middle of what each meets [m] (G, 2)."""
        return self.traffic.meetings(swept, self.handle)


class CarriedSteps:
    """Some steps of a plan in a row, whose roots follow a path."""

    def __init__(
        self, prepared: PreparedLibrary, traffic: HeldTraffic, steps: Sequence[PlanStep], works: Sequence[Footwork]
    ) -> None:
        """Take the steps.

        Args:
            prepared: library, discs and world of the character.
            traffic: all others; the character itself must not be in it.
            steps: the steps, with clips of the library; only their clips and times count.
            works: their footwork.
        """
        self.prepared, self.traffic = prepared, traffic
        covers, rows, slots, start = [], [], [], 0
        for step, work in zip(steps, works, strict=True):
            action = prepared.table.clips.index(step.clip)
            cover = prepared.part(("cover", action), partial(_clip_cover, prepared, action, work))
            covers.append(cover)
            rows.append(start + cover.frames)
            slots.append(traffic.slots(prepared, step))
            start += len(work) - 1
        self.rows: IntArray = np.concatenate(rows, axis=1)
        self.poses = planar.inverse(np.concatenate([c.poses for c in covers], axis=1))
        self.roots = np.concatenate([c.poses[..., :2] for c in covers], axis=1)
        self.around = np.concatenate([c.around for c in covers])
        self.discs = np.concatenate([c.discs for c in covers])
        self.counts: IntArray = np.concatenate([c.counts for c in covers])
        self.bounds = np.concatenate([c.bounds for c in covers])
        self.slots = np.concatenate(slots)
        self.starts: IntArray = np.concatenate([[0], np.cumsum(self.counts)])

    def swept(self, path: FloatArray) -> Swept:
        """Return what the steps cover on a path (F, 3)."""
        return self._swept(path[self.rows], np.arange(len(self.counts)))

    def blocked(self, path: FloatArray) -> IntArray:
        """Return the windows in which the steps touch an obstacle or anybody else on a path (F, 3)."""
        every = np.arange(len(self.counts))
        return every[self._touching(path[self.rows], every)]

    def contacts(self, path: FloatArray, free: FloatArray, blocked: IntArray) -> list[PathContact]:
        """Return where a path has to be held away from what it touches: one contact for each time that it does.

        Args:
            path: the path; (F, 3).
            free: another path of the same steps that touches nothing; (F, 3).
            blocked: the windows in which the first one touches something.
        """
        here, there = path[self.rows[:, blocked]], free[self.rows[:, blocked], :2]
        normals = self._normals(here, there, blocked)
        shift = np.column_stack([normals, np.zeros(len(blocked))])
        needed, left = np.full(len(blocked), np.nan), np.arange(len(blocked))
        for far in _SHIFTS:
            touching = self._touching(here[:, left] + far * shift[left], blocked[left])
            needed[left[~touching]] = far
            left = left[touching]
            if not len(left):
                break
        apart = there[0] - here[0, :, :2]
        away = np.hypot(*apart.T)
        stuck = np.isnan(needed) & (away > _LEAST)  # there is room on the free path
        normals[stuck], needed[stuck] = apart[stuck] / away[stuck, None], away[stuck]
        found, cuts = [], np.flatnonzero(np.diff(blocked) > _GAP) + 1
        for some in np.split(np.arange(len(blocked)), cuts):
            if not np.isnan(needed[some]).all():
                k = int(some[np.nanargmax(needed[some])])
                offset = float(normals[k] @ here[0, k, :2]) + needed[k]
                found.append(PathContact(int(self.rows[0, blocked[k]]), normals[k], offset))
        return found

    def _normals(self, here: FloatArray, free: FloatArray, windows: IntArray) -> FloatArray:
        """Return the directions in which windows get away from what they touch; (W, 2).

        Args:
            here: poses of the root in the frames of the windows; (5, W, 3).
            free: places of the root there that touch nothing, which decide about the side; (5, W, 2).
            windows: the windows.
        """
        swept = self._swept(here, windows)
        clearance = self.prepared.fields.clearance
        short = swept.discs[:, 2] - clearance(swept.discs[:, :2])
        worst = [a + int(np.argmax(short[a:b])) for a, b in pairwise(swept.starts.tolist())]
        at = swept.discs[worst, :2]
        offsets = _PROBE * np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
        around = clearance(at[:, None] + offsets)
        uphill = np.column_stack([around[:, 0] - around[:, 1], around[:, 2] - around[:, 3]]) / (2.0 * _PROBE)
        meets, middles = self.traffic.meetings(swept)
        walled = short[worst] > 0.0
        normals = np.where(walled[:, None], uphill, np.where(meets[:, None], here[0, :, :2] - middles, 0.0))
        apart = free[0] - here[0, :, :2]
        size, away = np.hypot(*normals.T), np.hypot(*apart.T)
        # where a wall or a person has been crossed, the other side is the right one
        wrong = (size < _FLAT) | (((normals * apart).sum(axis=1) < -_WRONG * size * away) & (away > _PROBE))
        chosen = np.where(wrong[:, None], apart, normals)
        return np.asarray(chosen / np.maximum(np.hypot(*chosen.T), 1e-9)[:, None])

    def _swept(self, rows: FloatArray, windows: IntArray) -> Swept:
        """Return what some windows cover, given poses of the root in their frames; (5, W, 3)."""
        count = int(self.counts[windows].sum())
        around, discs, starts = np.empty((len(windows), 3)), np.empty((count, 3)), np.empty(len(windows) + 1, np.int64)
        kernels.sweep(
            np.ascontiguousarray(rows), windows, self.poses, self.roots, self.bounds, self.around, self.discs,
            self.starts, around, discs, starts,
        )  # fmt: skip
        return Swept(around, discs, starts, self.slots[windows], np.full(len(windows), -1, dtype=np.int64))

    def _touching(self, rows: FloatArray, windows: IntArray) -> BoolArray:
        """Return whether some windows touch anything, given poses of the root in their frames; (W,)."""
        fields, touching = self.prepared.fields, np.empty(len(windows), dtype=np.bool_)
        squares, grid = self.prepared.part("distances", lambda: _distances(fields))
        kernels.touch(
            self.traffic.handle, squares, grid, np.ascontiguousarray(rows), windows, self.poses, self.roots,
            self.bounds, self.around, self.discs, self.starts, self.slots, touching,
        )  # fmt: skip
        return touching


def _distances(fields: WorldFields) -> tuple[Squares, FloatArray]:
    """Return squared distances to obstacles [m^2], and where their grid lies, see `_carried_kernels.clearance`."""
    spec = fields.spec
    grid = np.array([*spec.origin, spec.cell, spec.cell**2])
    return fields.arrays.squares[fields.arrays.field_of[0]], grid
