"""What moving things cover of the floor plan during slots of time: nothing they touch is left out, little is added.

Points go exactly: what a disc sweeps between two keys is a rounded line. Anything else is put down at the middle of
short pieces of its way and grown by as much as any of its points can be away from there, never more than half a cell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import WorldError
from gaitway.world.footprint import Footprint

TIME_SLACK = 1e-9
"""Seconds by which things are there earlier, so that rounding never puts a time into a slot that leaves them out."""
MAX_SLOTS = 10_000_000
"""Most slots of one timed grid."""
MAX_PLACES = 20_000_000
"""Most points in which one mover's outline is put down."""


@dataclass(frozen=True)
class TimeSlots:
    """Equal slots of time, and one more for all time after them."""

    start: float
    """[s]."""
    step: float
    """Length of a slot [s]."""
    count: int
    """Slots without the endless one."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.start) and math.isfinite(self.step) and self.step > 0.0):
            raise WorldError(f"time slots of {self.step} s from {self.start} s; write a length above 0")
        if not 1 <= self.count <= MAX_SLOTS:
            raise WorldError(f"{self.count} time slots; write an end after the start, or a longer step")

    @staticmethod
    def covering(start: float, end: float, step: float) -> TimeSlots:
        """As many slots from `start` as are needed to reach `end` [s]."""
        if not (math.isfinite(start) and math.isfinite(end) and start < end and math.isfinite(step) and step > 0.0):
            raise WorldError(f"times from {start} to {end} s in steps of {step} s; write a start before the end")
        return TimeSlots(start, step, max(math.ceil((end - start) / step - 1e-6), 1))

    @property
    def end(self) -> float:
        """End of the last slot that ends [s]."""
        return self.start + self.count * self.step

    def slots(self, times: FloatArray) -> IntArray:
        """The slot of each time [s]; times before the start are in slot 0, those after the end in slot `count`."""
        found: IntArray = np.clip((times - self.start) * (1.0 / self.step), 0, self.count).astype(np.int64)
        return found


class Sweep(NamedTuple):
    """Rounded rings, as `rasterise_rings` takes them, in groups; each group holds for some slots."""

    points: FloatArray
    ring_starts: IntArray
    parts: IntArray
    radii: FloatArray
    group_starts: IntArray
    slots: IntArray
    """First and end slot of each group; (G, 2)."""


class Way(NamedTuple):
    """Planar poses (K, 3) at times (K,), linear in between and still beyond; there from one time until another."""

    times: FloatArray
    poses: FloatArray
    begins: float
    ends: float

    def pose(self, times: FloatArray) -> FloatArray:
        """Planar poses (N, 3) at times (N,)."""
        return np.stack([np.interp(times, self.times, self.poses[:, k]) for k in range(3)], axis=-1)


class _Pieces(NamedTuple):
    """Straight pieces of a way, in order of time, each within one slot."""

    slots: IntArray
    start: FloatArray
    """Pose at the beginning; (N, 3)."""
    end: FloatArray


def sweep(way: Way, footprint: Footprint, slots: TimeSlots, cell: float, radius: float) -> Sweep | None:
    """What a footprint on its way, grown by a radius [m], covers in each slot; None if it is never there."""
    pieces = _pieces(way, slots)
    if pieces is None or footprint.empty:
        return None
    pieces, groups, group_slots = _grouped(pieces)
    reach = float(np.hypot(footprint.points[:, 0], footprint.points[:, 1]).max())
    move = pieces.end - pieces.start
    turning = reach * np.abs(move[:, 2])
    single = len(footprint.points) == 1
    far = turning if single else np.hypot(move[:, 0], move[:, 1]) + turning
    parts = np.maximum(np.ceil(far / cell - 1e-9), 1.0)
    if parts.sum() * max(len(footprint.points), 2) > MAX_PLACES:
        raise WorldError(f"something moves {far.sum():.4g} m within the times of this grid; write a larger cell")
    count = parts.astype(np.int64)
    piece = np.repeat(np.arange(len(count)), count)
    number = np.arange(len(piece)) - np.repeat(np.cumsum(count) - count, count)

    def placed(share: FloatArray) -> FloatArray:
        pose = pieces.start[piece] + share[:, None] * move[piece]
        c, s = np.cos(pose[:, 2:]), np.sin(pose[:, 2:])
        x, y = footprint.points[:, 0], footprint.points[:, 1]
        return np.stack([pose[:, :1] + c * x - s * y, pose[:, 1:2] + s * x + c * y], axis=-1)

    total = np.repeat(parts, count)
    if single:  # a chord is off its arc by the arc's height
        chords = np.concatenate([placed(number / total), placed((number + 1.0) / total)], axis=1)
        points, rings = chords.reshape(-1, 2), np.array([0, 2])
        growth = reach * (1.0 - np.cos(0.5 * np.abs(move[piece, 2]) / total))
    else:
        points, rings = placed((number + 0.5) / total).reshape(-1, 2), footprint.ring_starts
        growth = 0.5 * far[piece] / total
    return _rings(points, rings, growth + footprint.radius + radius, groups[piece], group_slots)


def _pieces(way: Way, slots: TimeSlots) -> _Pieces | None:
    """Cut a way at its keys and at the ends of slots."""
    begins, ends = max(way.begins, slots.start), max(way.ends, slots.start)
    if way.ends <= slots.start:
        return None
    still_from = max(float(way.times[-1]), slots.end, begins)  # from then on it stays where it is
    ends = min(ends, still_from)
    first = int(slots.slots(np.array([begins - TIME_SLACK]))[0])
    last = int(slots.slots(np.array([max(way.ends - TIME_SLACK, begins)]))[0])
    borders = slots.start + slots.step * np.arange(first + 1, last + 1)
    cuts = np.concatenate([way.times, borders])
    cuts = np.unique(np.concatenate([[begins], cuts[(cuts > begins) & (cuts < ends)], [ends]]))
    if len(cuts) == 1:
        cuts = np.repeat(cuts, 2)
    slot = np.clip(first + np.searchsorted(borders, 0.5 * (cuts[:-1] + cuts[1:]), side="right"), first, last)
    poses = way.pose(cuts)
    start, end = poses[:-1], poses[1:]
    # slots that are only touched, at their very end or beginning, have no piece yet
    bare = np.setdiff1d(np.arange(first, last + 1), slot)
    touch = way.pose(np.clip(slots.start + slots.step * bare, begins, ends))
    order = np.argsort(np.concatenate([slot, bare]), kind="stable")
    slot, start, end = (np.concatenate(pair)[order] for pair in ((slot, bare), (start, touch), (end, touch)))
    return _Pieces(slot, start, end)


def _grouped(pieces: _Pieces) -> tuple[_Pieces, IntArray, IntArray]:
    """One group for each slot in which something moves, and one for each run of slots through which it stands still.

    Returns:
        The pieces that are needed, the group of each, and the first and end slot of each group (G, 2).
    """
    first, last = int(pieces.slots[0]), int(pieces.slots[-1])
    moves = (pieces.start != pieces.end).any(axis=1)
    moving_slot = np.bincount(pieces.slots - first, weights=moves, minlength=last - first + 1) > 0
    begins = np.ones(last - first + 1, dtype=np.bool_)
    begins[1:] = moving_slot[1:] | moving_slot[:-1]
    group_of_slot = np.cumsum(begins) - 1
    starts = np.flatnonzero(begins)
    group_slots = first + np.stack([starts, np.append(starts[1:], last - first + 1)], axis=-1)
    group = group_of_slot[pieces.slots - first]
    needed = moves | np.append(True, group[1:] != group[:-1])
    return _Pieces(*(field[needed] for field in pieces)), group[needed], group_slots


def _rings(points: FloatArray, rings: IntArray, radii: FloatArray, groups: IntArray, slots: IntArray) -> Sweep:
    """Equal sets of rings, one after another, in groups."""
    sets, per_set, size = len(radii), len(rings) - 1, int(rings[-1])
    starts = (np.arange(sets)[:, None] * size + rings[:-1]).ravel()
    set_starts = np.searchsorted(groups, np.arange(len(slots) + 1))
    return Sweep(
        points,
        np.append(starts, sets * size),
        np.repeat(np.arange(sets) - set_starts[groups], per_set),
        np.repeat(radii, per_set),
        set_starts * per_set,
        slots,
    )
