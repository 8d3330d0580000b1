"""Compiled loop of the least cost of getting to each cell of a region."""

from __future__ import annotations

import heapq
import math

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.tree.building._growing_kernels import HEADINGS, part_of
from gaitway.tree.building._growth_kernels import MoveArrays, cell_of


@kernel
def least_costs(
    arrays: MoveArrays, inside: BoolArray, place: FloatArray, groups: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Cheapest cost of ending in each cell (R, C), and by heading and what may follow; infinite where nothing does.

    Dijkstra over cells, headings and what may follow; each keeps the place of its cheapest way.

    Args:
        arrays: the moves.
        inside: the region; (R, C).
        place: of its cells; (3,).
        groups: number of what may follow each move, the root last; (M + 1,).
    """
    rows, columns = inside.shape
    count = groups.max() + 1
    best = np.full((rows, columns, HEADINGS * count), np.inf)
    out = np.full((rows, columns), np.inf)
    heap = [(0.0, 0.0, 0.0, 0.0, len(arrays.moves))]
    while len(heap) > 0:
        cost, x, y, heading, before = heapq.heappop(heap)
        row, column = cell_of(x, y, place)
        if cost > best[row, column, part_of(heading, groups[before], count)]:
            continue
        out[row, column] = min(out[row, column], cost)
        cosine, sine = math.cos(heading), math.sin(heading)
        for k in range(arrays.follower_starts[before], arrays.follower_starts[before + 1]):
            move = arrays.followers[k]
            to_x = x + cosine * arrays.moves[move, 0] - sine * arrays.moves[move, 1]
            to_y = y + sine * arrays.moves[move, 0] + cosine * arrays.moves[move, 1]
            turned, total = heading + arrays.moves[move, 2], cost + arrays.moves[move, 3]
            i, j = cell_of(to_x, to_y, place)
            if i < 0 or j < 0 or i >= rows or j >= columns or not inside[i, j]:
                continue
            part = part_of(turned, groups[move], count)
            if total < best[i, j, part]:
                best[i, j, part] = total
                heapq.heappush(heap, (total, to_x, to_y, turned, move))
    return out, best
