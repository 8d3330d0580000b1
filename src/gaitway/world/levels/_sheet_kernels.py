"""Compiled loops over open spans: distances from edges, plateaus, and sheets that never lie over themselves."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gaitway.core._heap_kernels import pop, push
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel

Labels = npt.NDArray[np.int32]
Marks = npt.NDArray[np.uint8]


@kernel(inner=True, borrows=True)
def corner(links: IntArray, span: int, side: int) -> int:
    """Return the open span diagonally beside another, between a side and the next one; -1 for none.

    Both ways around the corner must lead there, so that nobody cuts a corner that stands in the way.
    """
    after = (side + 1) & 3
    one, other = links[span, side], links[span, after]
    if one < 0 or other < 0:
        return -1
    there = links[one, after]
    return there if there >= 0 and links[other, side] == there else -1


@kernel
def edge_distances(links: IntArray) -> FloatArray:
    """Return the distance of the middle of each open span from the nearest edge [cells]; (N,).

    An edge is a side of a cell, or a corner, over which no step leads: a wall, a drop, or the end of the place. Vectors
    to the nearest edge are handed on from span to span until none gets shorter.

    Args:
        links: open spans beside each; (N, 4).
    """
    count = len(links)
    far = 2**30
    dx, dy = np.zeros(count, np.int32), np.zeros(count, np.int32)  # in halves of a cell
    square = np.full(count, far, np.int64)
    waits = np.zeros(count, np.uint8)
    queue = np.empty(count + 1, np.int64)
    head, tail = 0, 0
    for span in range(count):
        for side in range(4):
            x = 1 if side == 0 else -1 if side == 2 else 0
            y = 1 if side == 1 else -1 if side == 3 else 0
            if links[span, side] < 0:
                dx[span], dy[span], square[span] = x, y, 1
            elif square[span] > 2 and links[span, (side + 1) & 3] >= 0 and corner(links, span, side) < 0:
                dx[span], dy[span], square[span] = x - y, y + x, 2
        if square[span] < far:
            queue[tail] = span
            tail += 1
            waits[span] = 1
    while head != tail:
        span = queue[head]
        head = head + 1 if head < count else 0
        waits[span] = 0
        for side in range(4):
            other = links[span, side]
            if other < 0:
                continue
            x = dx[span] - (2 if side == 0 else -2 if side == 2 else 0)
            y = dy[span] - (2 if side == 1 else -2 if side == 3 else 0)
            if x * x + y * y < square[other]:
                dx[other], dy[other], square[other] = x, y, x * x + y * y
                if waits[other] == 0:
                    waits[other] = 1
                    queue[tail] = other
                    tail = tail + 1 if tail < count else 0
    out = np.empty(count)
    for span in range(count):
        out[span] = 0.5 * math.sqrt(square[span]) if square[span] < far else math.inf
    return out


@kernel
def connected(links: IntArray, heights: FloatArray, wide: Marks, rise: float) -> tuple[Labels, int]:
    """Label open spans that are connected by links without a rise above a limit.

    Args:
        links: open spans beside each; (N, 4).
        heights: height of each; (N,) [m].
        wide: 1 for spans that count; (N,).
        rise: greatest rise of a link that connects [m].

    Returns:
        Labels from 0 on, in the order of the first span of each; -1 for spans that do not count (N,); and their number.
    """
    labels = np.full(len(links), -1, np.int32)
    stack = np.empty(len(links), np.int64)
    count = 0
    for first in range(len(links)):
        if wide[first] == 0 or labels[first] >= 0:
            continue
        labels[first] = count
        stack[0], size = first, 1
        while size > 0:
            size -= 1
            span = stack[size]
            for side in range(4):
                other = links[span, side]
                if other >= 0 and wide[other] and labels[other] < 0 and abs(heights[other] - heights[span]) <= rise:
                    labels[other] = count
                    stack[size] = other
                    size += 1
        count += 1
    return labels, count


@kernel
def grow_sheet(
    seed: int,
    number: int,
    links: IntArray,
    heights: FloatArray,
    cells: IntArray,
    owners: Labels,
    taken: IntArray,
    keys: FloatArray,
    nodes: IntArray,
) -> int:
    """Grow a sheet from an open span, the spans nearest to its height first; return its number of spans.

    A span joins if nobody owns it and the sheet has none in the same cell. So a floor is taken wholly before the stairs
    that lead away from it, and stairs before the floor above.

    Args:
        seed: span to begin with.
        number: number of the sheet.
        links: open spans beside each; (N, 4).
        heights: height of each; (N,) [m].
        cells: cell of each; (N,).
        owners: sheet of each span, -1 for none; updated; (N,).
        taken: number + 1 of the sheet that last took each cell; updated; (cells,).
        keys: memory; (4 N + 1,).
        nodes: memory; (4 N + 1,).
    """
    size = 0
    push(keys, nodes, size, 0.0, seed)
    size += 1
    count = 0
    while size > 0:
        key = keys[0]
        size -= 1
        span = pop(keys, nodes, size)
        if owners[span] >= 0 or taken[cells[span]] == number + 1:
            continue
        owners[span] = number
        taken[cells[span]] = number + 1
        count += 1
        for side in range(4):
            other = links[span, side]
            if other >= 0 and owners[other] < 0 and taken[cells[other]] != number + 1:
                push(keys, nodes, size, max(key, abs(heights[other] - heights[seed])), other)
                size += 1
    return count


@kernel
def grow_around(
    members: IntArray, number: int, links: IntArray, cells: IntArray, reach: int, taken: IntArray, out: IntArray
) -> int:
    """Find the spans around others, up to a number of steps from them, none of them over another; return how many.

    Args:
        members: spans to begin with; (M,).
        number: number of the sheet.
        links: open spans beside each; (N, 4).
        cells: cell of each span; (N,).
        reach: greatest number of steps.
        taken: number + 1 of the sheet that last took each cell; updated; (cells,).
        out: receives the spans, the nearest first; (N,).
    """
    for k in range(len(members)):
        taken[cells[members[k]]] = number + 1
    count, first = 0, 0
    for round_ in range(reach):
        end = len(members) if round_ == 0 else count
        for k in range(0 if round_ == 0 else first, end):
            span = members[k] if round_ == 0 else out[k]
            for side in range(4):
                other = links[span, side]
                if other >= 0 and taken[cells[other]] != number + 1:
                    taken[cells[other]] = number + 1
                    out[count] = other
                    count += 1
        first = 0 if round_ == 0 else end
    return count


@kernel
def depths_within(
    spans: IntArray, links: IntArray, most: int, inside: IntArray, number: int, queue: IntArray
) -> IntArray:
    """Return how many steps each span of a sheet is away from ground that the sheet does not know; (M,).

    Args:
        spans: spans of the sheet; (M,).
        links: open spans beside each; (N, 4).
        most: greatest number of steps to count.
        inside: memory, for the place of each span in `spans`; (N,).
        number: number of the sheet.
        queue: memory; (N,).
    """
    out = np.full(len(spans), most, np.int64)
    base = (number + 1) * (len(inside) + 1)  # so that entries of other sheets do not count
    for k in range(len(spans)):
        inside[spans[k]] = base + k
    tail = 0
    for k in range(len(spans)):
        for side in range(4):
            other = links[spans[k], side]
            if other >= 0 and not base <= inside[other] < base + len(spans) and out[k] > 0:
                out[k] = 0
                queue[tail] = k
                tail += 1
    head = 0
    while head < tail:
        k = queue[head]
        head += 1
        for side in range(4):
            other = links[spans[k], side]
            if other < 0:
                continue
            place = inside[other] - base
            if 0 <= place < len(spans) and out[place] > out[k] + 1:
                out[place] = out[k] + 1
                queue[tail] = place
                tail += 1
    return out
