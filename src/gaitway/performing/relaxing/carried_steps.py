"""Carried steps: what the bodies of steps cover when their roots follow another path, and what that touches.

Whole bodies are bent when all plans are known. Until then the discs of a step are carried along with its root, and grow
by as much as a body may leave them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from gaitway.core import planar
from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.performing.arrival.footwork import Footwork
from gaitway.performing.relaxing import _carried_kernels as kernels
from gaitway.performing.relaxing.straight_path import PathContact
from gaitway.space._distance_kernels import Squares
from gaitway.space.distances import half_diagonal, reach
from gaitway.space.fields import WorldFields
from gaitway.space.mover_sweep import Swept
from gaitway.space.plan import PlanStep
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.traffic import Traffic, step_slots

_STRIDE_S = 0.4
"""Time before and after within which feet are put down that a leg follows [s]."""
_HERE, _SHIFTS = np.array([0.0]), np.array([0.015, 0.04, 0.1, 0.2, 0.4])
"""No distance, and those by which a path is moved away from what it touches until it is clear [m]."""
_NO_PATH = np.empty((0, 3))
"""In place of a path that touches nothing, where none is needed."""
_LEAST = 1e-3
"""Distance between two paths below which they count as the same [m]."""
_GAP = 3
"""Greatest number of free windows within one contact."""


@dataclass(frozen=True, eq=False)
class _ClipCover:
    """The W windows of a clip, in the frame of its first pose."""

    windows: IntArray
    """Number of each window among those of the library; (W,)."""
    frames: IntArray
    """Middle, first and last frame of each window, and frames one stride before and after the middle; (W, 5)."""
    local: FloatArray
    """Inverse of the pose of the root in each of these frames, and its place; (W, 5, 5)."""


def _clip_cover(prepared: PreparedLibrary, clip: str, work: Footwork) -> _ClipCover:
    discs, action = prepared.discs, prepared.table.clips.index(clip)
    windows = slice(int(discs.window_starts[action]), int(discs.window_starts[action + 1]))
    ends = discs.window_frames[windows]
    middle, reach = ends.sum(axis=1) // 2, round(_STRIDE_S * work.fps)
    frames = np.column_stack([middle, ends, middle - reach, middle + reach])
    frames = np.clip(frames, 0, len(work) - 1)
    poses = work.path[frames]
    local = np.concatenate([planar.inverse(poses), poses[..., :2]], axis=-1)
    return _ClipCover(np.arange(windows.start, windows.stop), frames, local)


class HeldTraffic:
    """Traffic that does not change for a while, so that kernels hold it."""

    def __init__(self, traffic: Traffic) -> None:
        self.traffic, self.handle = traffic, traffic.handle
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
        covers = [
            prepared.part(("cover", step.clip), partial(_clip_cover, prepared, step.clip, work))
            for step, work in zip(steps, works, strict=True)
        ]
        starts = np.cumsum([0, *(len(work) - 1 for work in works[:-1])])
        counts = [len(cover.windows) for cover in covers]
        self.rows: IntArray = np.concatenate([cover.frames for cover in covers])
        self.rows += np.repeat(starts, counts)[:, None]
        self.local = np.concatenate([cover.local for cover in covers])
        self.windows: IntArray = np.concatenate([cover.windows for cover in covers])
        self.slots = np.concatenate([traffic.slots(prepared, step) for step in steps])

    def swept(self, path: FloatArray) -> Swept:
        """Return what the steps cover on a path (F, 3)."""
        discs, count = self.prepared.discs, len(self.windows)
        total = int((discs.timed_starts[self.windows + 1] - discs.timed_starts[self.windows]).sum())
        around, carried, starts = np.empty((count, 3)), np.empty((total, 3)), np.empty(count + 1, np.int64)
        kernels.sweep(
            np.array(path), self.rows, self.local, self.windows, discs.window_bounds, discs.window_around,
            discs.timed, discs.timed_starts, around, carried, starts,
        )  # fmt: skip
        return Swept(around, carried, starts, self.slots, np.full(count, -1, dtype=np.int64))

    def blocked(self, path: FloatArray) -> IntArray:
        """Return the windows in which the steps touch an obstacle or anybody else on a path (F, 3)."""
        needed = self._needed(path, _NO_PATH, np.arange(len(self.windows)), _HERE)[1]
        return np.flatnonzero(np.isnan(needed))

    def contacts(self, path: FloatArray, free: FloatArray, blocked: IntArray) -> list[PathContact]:
        """Return where a path has to be held away from what it touches: one contact for each time that it does.

        Args:
            path: the path; (F, 3).
            free: another path of the same steps that touches nothing; (F, 3).
            blocked: the windows in which the first one touches something.
        """
        normals, needed = self._needed(path, free, blocked, _SHIFTS)
        here, there = path[self.rows[blocked, 0], :2], free[self.rows[blocked, 0], :2]
        apart = there - here
        away = np.hypot(*apart.T)
        stuck = np.isnan(needed) & (away > _LEAST)  # there is room on the free path
        normals[stuck], needed[stuck] = apart[stuck] / away[stuck, None], away[stuck]
        found, farthest, last = list[PathContact](), -1, -1
        for k, (window, far) in enumerate(zip(blocked.tolist(), needed.tolist(), strict=True)):
            if last >= 0 and window - last > _GAP:
                found += self._contact(farthest, here, blocked, normals, needed)
                farthest = -1
            if not np.isnan(far) and (farthest < 0 or far > needed[farthest]):
                farthest = k
            last = window
        return found + self._contact(farthest, here, blocked, normals, needed)

    def _contact(
        self, k: int, here: FloatArray, blocked: IntArray, normals: FloatArray, needed: FloatArray
    ) -> list[PathContact]:
        """Return the contact of one of the blocked windows; none for -1."""
        if k < 0:
            return []
        offset = float(normals[k] @ here[k]) + needed[k]
        return [PathContact(int(self.rows[blocked[k], 0]), normals[k], offset)]

    def _needed(
        self, path: FloatArray, free: FloatArray, which: IntArray, shifts: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return in which direction some windows get away from what they touch (N, 2), and how far they must go [m].

        NaN stands for those that none of some distances is enough for; see `_carried_kernels.touch`.
        """
        fields, discs = self.prepared.fields, self.prepared.discs
        normals, needed = np.zeros((len(which), 2)), np.empty(len(which))
        squares, grid = self.prepared.part("distances", lambda: _distances(fields), placed=True)
        kernels.touch(
            self.traffic.handle, squares, grid, path, free, self.rows, self.local, self.windows,
            discs.window_bounds, discs.window_around, discs.timed, discs.timed_starts, self.slots, which, shifts,
            normals, needed,
        )  # fmt: skip
        return normals, needed


def _distances(fields: WorldFields) -> tuple[Squares, FloatArray]:
    """Return squared distances to obstacles [m^2], and where their grid lies, see `_carried_kernels.clearance`."""
    spec = fields.spec
    doubt = 3.0 * half_diagonal(spec)
    grid = np.array([*spec.origin, spec.cell, spec.cell**2, doubt, reach(spec)])
    return fields.arrays.squares[fields.arrays.field_of[0]], grid
