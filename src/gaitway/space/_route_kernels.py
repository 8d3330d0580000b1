"""Compiled loop of the route field: distances from a goal over a grid, around obstacles."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import IntArray
from gaitway.core.jit import kernel

Distances = npt.NDArray[np.float32]
Cells = npt.NDArray[np.uint8]
at = np.uintp
"""Type of an index that cannot be negative, which saves a test at every access to an array."""

BORDER = 2
"""Width of the closed border around the grid, so that no step has to be tested for leaving it [cells]."""
STEPS = 16
"""Steps from a cell, anticlockwise from +x: the even ones to its neighbours, the odd ones a knight's move between."""
CLOSED, OPEN, WIDE_OPEN, TOO_NEAR, ACROSS = range(5)
"""Kinds of cells. CLOSED: no character can be there. OPEN: a character can be there. WIDE_OPEN: the same holds for all
cells that a step leads to or passes. TOO_NEAR: open, but too near to a special obstacle for a motion to begin that
passes it. ACROSS: on such an obstacle, where a character only passes."""
_BUCKETS = 4
"""Number of buckets of the queue, one cell wide each: steps are 1 to 2.24 cells long."""


@kernel
def spread(
    cells: Cells,
    seeds: IntArray,
    target: int,
    slack: float,
    more: float,
    steps: IntArray,
    lengths: Distances,
    stride: int,
) -> tuple[Distances, Cells, float]:
    """Compute the distance from the nearest seed over open cells, in steps to 16 neighbours, by Dijkstra in buckets.

    No step is shorter than a bucket is wide, so that all of a bucket is final when its turn comes. Where all is wide
    open a shortest way consists of two steps side by side in the order of directions, so that only three lead on from a
    cell: the one that led there and those beside it. Closed cells beside open ones have a distance too, for somebody
    who begins there, but no way leads through them.

    What passes a special obstacle passes the cells that are too near to it in the same go. So these have two places in
    the queue: on a passage, and as cells where somebody is, who has to get away first to pass.

    Args:
        cells: what each is; `CLOSED` in a border of `BORDER` cells all around; (N,), row after row.
        seeds: cells to begin with; (K,).
        target: cell whose distance is wanted, or -1 for all.
        slack: beyond the target go on to its distance times this,
        more: and so many cells.
        steps: where each step leads, and the two cells of which a knight's move passes one, as offsets; (16, 3).
        lengths: of the steps [cells]; (16,).
        stride: 1, or 2 for steps to the 8 neighbours alone, in half the time.

    Returns:
        Distances [cells], infinity where there is no way (N,); by which step one gets there from the seeds (N,); and
        the distance up to which they are known, infinity if they all are.
    """
    far, count = np.float32(np.inf), len(cells)
    places = count
    for cell in range(count):
        if cells[cell] == ACROSS:
            places = 2 * count  # from here on: on a passage
            break
    distances, ways = np.full(places, far, np.float32), np.zeros(places, np.uint8)
    waiting = np.empty((_BUCKETS, places), np.int32)
    counts = np.zeros(_BUCKETS, np.int64)
    for k in range(len(seeds)):
        distances[seeds[k]] = np.float32(0.0)
        waiting[0, k] = seeds[k]
    counts[0], left = len(seeds), len(seeds)
    level, limit = 0, math.inf
    while left > 0 and level < limit:
        bucket = level & (_BUCKETS - 1)
        for entry in range(counts[bucket]):
            place = waiting[bucket, at(entry)]
            here = distances[at(place)]
            if int(here) != level:
                continue  # it was reached sooner from elsewhere
            if place == target:
                limit = here * slack + more
            passage = place >= count
            cell = place - count if passage else place
            ahead = cells[at(cell)] == WIDE_OPEN and here > 0.0
            first = ways[at(place)] + STEPS - stride if ahead else 0
            for k in range(first, first + (3 * stride if ahead else STEPS), stride):
                step = at(k & (STEPS - 1))
                other, there = cell + steps[step, 0], here + lengths[step]
                kind = cells[at(other)]
                if k & 1 and (
                    kind == CLOSED
                    or (
                        shut(cells[at(cell + steps[step, 1])], passage)
                        and shut(cells[at(cell + steps[step, 2])], passage)
                    )
                ):
                    continue
                if kind == ACROSS or (passage and kind == TOO_NEAR):
                    other += count
                before = distances[at(other)]
                if there < before:
                    distances[at(other)], ways[at(other)] = there, step
                    # what is waiting in that bucket already need not be put there once more
                    if kind != CLOSED and (before == far or int(before) != int(there)):
                        next_bucket = int(there) & (_BUCKETS - 1)
                        waiting[next_bucket, at(counts[next_bucket])] = other
                        counts[next_bucket] += 1
                        left += 1
        left -= counts[bucket]
        counts[bucket] = 0
        level += 1
    for cell in range(places - count):
        if cells[cell] == ACROSS:
            distances[cell], ways[cell] = distances[count + cell], ways[count + cell]
    return distances[:count], ways[:count], float(level) if left > 0 else math.inf


@kernel
def disc_seeds(cells: Cells, width: int, x: float, y: float, radius: float) -> IntArray:
    """Return the cells that are not closed and meet a disc.

    Args:
        cells: what each is; (N,), row after row.
        width: of a row.
        x: of the disc's middle, from the corner of the grid [cells].
        y: [cells].
        radius: [cells].
    """
    rows, found = len(cells) // width, 0
    low, high = max(math.floor(y - radius), 0), min(math.floor(y + radius), rows - 1)
    left, right = max(math.floor(x - radius), 0), min(math.floor(x + radius), width - 1)
    out = np.empty(max(high - low + 1, 0) * max(right - left + 1, 0), np.int64)
    for row in range(low, high + 1):
        for column in range(left, right + 1):
            aside, along = max(abs(row + 0.5 - y) - 0.5, 0.0), max(abs(column + 0.5 - x) - 0.5, 0.0)
            if aside * aside + along * along <= radius * radius and cells[row * width + column] != CLOSED:
                out[found] = row * width + column
                found += 1
    return out[:found]


@kernel
def lengths_of(
    distances: Distances, ways: Cells, width: int, most: float, scale: float, less: float
) -> tuple[Distances, Cells]:
    """Without the border: distances up to the most, scaled and then made less, but 0 at least; and ways.

    Args:
        distances: as of `spread`; (rows x width,).
        ways: likewise.
        width: of a row.
        most: distance up to which they are known [cells].
        scale: length of a cell [m].
        less: to be taken off [m].
    """
    rows, columns = len(distances) // width - 2 * BORDER, width - 2 * BORDER
    lengths, inner = np.empty((rows, columns), np.float32), np.empty((rows, columns), np.uint8)
    for row in range(rows):
        first = (row + BORDER) * width + BORDER
        for column in range(columns):
            cell = at(first + column)
            lengths[row, column] = max(min(distances[cell], most) * scale - less, 0.0)
            inner[row, column] = ways[cell]
    return lengths, inner


@kernel(borrows=True, inner=True)
def shut(kind: int, passage: bool) -> bool:
    """Return whether a step does not lead past a cell, on a passage of an obstacle or not."""
    return kind == CLOSED or (kind == ACROSS and not passage)


@kernel(borrows=True, inner=True)
def direction_of(step: int) -> float:
    """Return the approximate direction of a step [rad]."""
    return step * (2.0 * math.pi / STEPS)
