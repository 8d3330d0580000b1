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

    No step is shorter than the width of a bucket, so that a whole bucket is final when its turn comes. On open ground a
    shortest path consists of two steps that are neighbours in the order of directions, so only three steps lead on from
    a cell: the step that led to it and its two neighbours. Closed cells beside open ones have a distance too, for a
    character that starts in one, but no path leads through them.

    A path that passes a special obstacle also passes the cells that are too near to it, without a stop. So these cells
    have two places in the queue: one for paths on a passage, and one for a character in the cell, which must first get
    away from the obstacle to pass it.

    Args:
        cells: kind of each cell, row after row; `CLOSED` in a border of `BORDER` cells all around; (N,).
        seeds: cells to begin with; (K,).
        target: cell whose distance is wanted, or -1 for all.
        slack: factor of the target's distance up to which the search goes on beyond the target.
        more: distance that is added to that limit [cells].
        steps: offset of the cell that each step leads to, and offsets of the two cells of which a knight's move passes
            one; (16, 3).
        lengths: lengths of the steps [cells]; (16,).
        stride: 1 for all steps, or 2 for steps to the 8 neighbours alone, which takes half the time.

    Returns:
        Distances [cells], infinity where there is no path (N,); the last step of the path from the seeds to each cell
        (N,); and the distance up to which they are known, infinity if they all are.
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
                continue  # a shorter path has reached this cell before
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
                    # a cell that already waits in that bucket is not put there again
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
        cells: kind of each cell, row after row; (N,).
        width: number of cells in a row.
        x: x of the disc's centre, from the corner of the grid [cells].
        y: y of the disc's centre [cells].
        radius: radius of the disc [cells].
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
    """Remove the border from distances and steps, and convert the distances to lengths [m].

    A distance is limited to `most`, scaled, and reduced by `less`, but never below 0.

    Args:
        distances: distances of `spread` [cells]; (rows x width,).
        ways: steps of `spread`; (rows x width,).
        width: number of cells in a row.
        most: distance up to which the distances are known [cells].
        scale: length of a cell [m].
        less: length that is subtracted [m].
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
