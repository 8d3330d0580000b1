"""Compiled loops of coarse paths: followed over cells to the goal, and pulled straight."""

from __future__ import annotations

import math

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.space._route_kernels import Cells, Distances

_FINENESS = 4.0
"""Number of samples of a line in each cell."""


@kernel(inner=True)
def follow(
    ways: Cells, lengths: Distances, steps: IntArray, row: float, column: float, last_row: float, last_column: float
) -> FloatArray:
    """Follow a route field from a place to the goal, over the centres of cells.

    Args:
        ways: step by which each cell is reached from the goal; (rows, columns).
        lengths: length of the path from each cell [m], 0 around the goal; (rows, columns).
        steps: row and column of each step; (16, 2).
        row: row of the start [cells].
        column: column of the start [cells].
        last_row: row of the goal [cells].
        last_column: column of the goal [cells].

    Returns:
        Rows and columns, the goal as the last; (N, 2).
    """
    i, j, most = math.floor(row), math.floor(column), lengths.size
    count, down, right = 1, i, j
    while count < most and inside(lengths, down, right) and lengths[down, right] > 0.0:
        step = ways[down, right]
        down, right, count = down - steps[step, 0], right - steps[step, 1], count + 1
    out = np.empty((count + 1, 2))
    out[0, 0], out[0, 1] = row, column
    for k in range(1, count):
        step = ways[i, j]
        i, j = i - steps[step, 0], j - steps[step, 1]
        out[k, 0], out[k, 1] = i + 0.5, j + 0.5
    out[count, 0], out[count, 1] = last_row, last_column
    return out


@kernel(inner=True)
def inside(lengths: Distances, row: int, column: int) -> bool:
    """Return whether a cell is in the grid."""
    return bool(0 <= row < lengths.shape[0] and 0 <= column < lengths.shape[1])


@kernel(inner=True)
def in_sight(clear: BoolArray, places: FloatArray, first: int, last: int) -> bool:
    """Return whether all cells on the line between two places (row, column) are clear, except its ends [cells]."""
    row, column, last_row, last_column = places[first, 0], places[first, 1], places[last, 0], places[last, 1]
    count = math.ceil(_FINENESS * max(abs(last_row - row), abs(last_column - column)))
    i0, j0, i1, j1 = math.floor(row), math.floor(column), math.floor(last_row), math.floor(last_column)
    for k in range(1, count):
        i, j = math.floor(row + k / count * (last_row - row)), math.floor(column + k / count * (last_column - column))
        own = (i == i0 and j == j0) or (i == i1 and j == j1)
        if not own and not clear[i, j]:
            return False
    return True


@kernel
def straight_way(
    ways: Cells, lengths: Distances, clear: BoolArray, steps: IntArray, row: float, column: float, last_row: float,
    last_column: float,
) -> FloatArray:  # fmt: skip
    """Return the places of a path (`follow`) after it is pulled straight, each in sight of the one before.

    `clear` says which cells lines may cross; (rows, columns).
    """
    places = follow(ways, lengths, steps, row, column, last_row, last_column)
    count, anchor, last = 1, 0, len(places) - 1
    while anchor < last:
        seen = last if in_sight(clear, places, anchor, last) else anchor + 1
        while seen < last and in_sight(clear, places, anchor, seen + 1):
            seen += 1
        anchor = seen
        places[count, 0], places[count, 1] = places[anchor, 0], places[anchor, 1]
        count += 1
    return places[:count].copy()
