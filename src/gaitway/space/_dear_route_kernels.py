"""Compiled loop of the route field where ground is dear or has a direction: least costs to a goal over a grid."""

from __future__ import annotations

import math

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.space._area_kernels import DEAR, WAY_X, WAY_Y, AreaArrays
from gaitway.space._route_kernels import CLOSED, STEPS, Cells, Distances

Places = IntArray


@kernel(borrows=True, inner=True)
def _rise(heap: Places, places: Places, distances: Distances, k: int) -> None:
    """Move an entry of the heap up to its place."""
    cell = heap[k]
    while k > 0:
        above = (k - 1) >> 1
        other = heap[above]
        if distances[other] <= distances[cell]:
            break
        heap[k], places[other] = other, k
        k = above
    heap[k], places[cell] = cell, k


@kernel(borrows=True, inner=True)
def _sink(heap: Places, places: Places, distances: Distances, count: int) -> None:
    """Move the first entry of the heap down to its place."""
    k, cell = 0, heap[0]
    while 2 * k + 1 < count:
        below = 2 * k + 1
        if below + 1 < count and distances[heap[below + 1]] < distances[heap[below]]:
            below += 1
        other = heap[below]
        if distances[cell] <= distances[other]:
            break
        heap[k], places[other] = other, k
        k = below
    heap[k], places[cell] = cell, k


@kernel
def spread_dear(
    cells: Cells, seeds: IntArray, steps: IntArray, lengths: Distances, directions: FloatArray, stride: int,
    areas: AreaArrays, grid: FloatArray, width: int,
) -> tuple[Distances, Cells]:  # fmt: skip
    """Compute the least cost of a way to the nearest seed over open cells, by Dijkstra with a heap.

    A way goes from each cell towards the seeds, so a step is paid for in the direction opposite to that in which the
    search spreads.

    Args:
        cells: kind of each cell, row after row, with a closed border; (N,).
        seeds: cells to begin with; (K,).
        steps: offsets of steps, as in `_route_kernels.spread`; (16, 3).
        lengths: lengths of the steps [cells]; (16,).
        directions: x and y of the steps, of length 1; (16, 2).
        stride: 1 for all steps, or 2 for steps to the 8 neighbours alone.
        areas: the areas.
        grid: x and y of the corner of the cells with their border, and the side of a cell [m]; (3,).
        width: number of cells in a row.

    Returns:
        Costs in cells of usual ground, infinity where there is no way (N,); and the last step of the way from the seeds
        to each cell (N,).
    """
    count, place, table = len(cells), areas.place, areas.cells
    ground = np.zeros((count, 3), np.float32)
    for cell in range(count):
        x, y = grid[0] + grid[2] * (cell % width + 0.5), grid[1] + grid[2] * (cell // width + 0.5)
        row, column = math.floor((y - place[1]) * place[2]), math.floor((x - place[0]) * place[2])
        ground[cell, 0] = np.float32(1.0)
        if 0 <= row < table.shape[0] and 0 <= column < table.shape[1]:
            ground[cell, 0] = table[row, column, DEAR]
            ground[cell, 1], ground[cell, 2] = table[row, column, WAY_X], table[row, column, WAY_Y]
    distances, ways = np.full(count, np.float32(np.inf), np.float32), np.zeros(count, np.uint8)
    heap, places = np.empty(count, np.int64), np.full(count, -1, np.int64)
    waiting = 0
    for k in range(len(seeds)):
        if places[seeds[k]] < 0:
            distances[seeds[k]] = np.float32(0.0)
            heap[waiting], places[seeds[k]] = seeds[k], waiting
            waiting += 1
    while waiting > 0:
        cell = heap[0]
        waiting -= 1
        heap[0] = heap[waiting]
        if waiting > 0:
            _sink(heap, places, distances, waiting)
        places[cell] = -2
        here = distances[cell]
        for step in range(0, STEPS, stride):
            other = cell + steps[step, 0]
            kind = cells[other]
            if step & 1 and (
                kind == CLOSED or (cells[cell + steps[step, 1]] == CLOSED and cells[cell + steps[step, 2]] == CLOSED)
            ):
                continue
            if places[other] == -2:
                continue
            dear = np.float32(0.0)
            for end in (cell, other):
                against = directions[step, 0] * ground[end, 1] + directions[step, 1] * ground[end, 2]
                dear += np.float32(0.5) * ground[end, 0] * np.float32(1.0 + max(against, 0.0))
            there = here + lengths[step] * dear
            if there < distances[other]:
                distances[other], ways[other] = there, np.uint8(step)
                if kind != CLOSED:
                    if places[other] < 0:
                        heap[waiting], places[other] = other, waiting
                        waiting += 1
                    _rise(heap, places, distances, places[other])
    return distances, ways
