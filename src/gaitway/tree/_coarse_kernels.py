"""Ways over coarse cells: followed to the goal, and pulled straight."""

from __future__ import annotations

import math

import numpy as np

from gaitway._jit import kernel
from gaitway.arrays import BoolArray, FloatArray, IntArray
from gaitway.behavior._route_kernels import Cells, Distances

_FINENESS = 4.0
"""Looks at the cells along a line, in each of them."""


@kernel
def follow(ways: Cells, lengths: Distances, steps: IntArray, row: int, column: int, most: int) -> IntArray:
    """Cells from one on towards the goal.

    Args:
        ways: by which step each cell is reached from the goal; (rows, columns).
        lengths: of the way from each cell [m], 0 about the goal; (rows, columns).
        steps: row and column of each step; (16, 2).
        row: of the first cell.
        column: of the first cell.
        most: cells to write down.

    Returns:
        Rows and columns, the first included; (N, 2).
    """
    out, count = np.empty((most, 2), np.int64), 0
    while count < most and 0 <= row < lengths.shape[0] and 0 <= column < lengths.shape[1]:
        out[count, 0], out[count, 1] = row, column
        count += 1
        if lengths[row, column] <= 0.0:
            break
        step = ways[row, column]
        row, column = row - steps[step, 0], column - steps[step, 1]
    return out[:count]


@kernel
def in_sight(clear: BoolArray, a: FloatArray, b: FloatArray) -> bool:
    """Whether all cells on the line between two places (row, column) [cells] are clear, but for those of its ends."""
    count = math.ceil(_FINENESS * max(abs(b[0] - a[0]), abs(b[1] - a[1])))
    ends = (math.floor(a[0]), math.floor(a[1]), math.floor(b[0]), math.floor(b[1]))
    for k in range(1, count):
        row = math.floor(a[0] + k / count * (b[0] - a[0]))
        column = math.floor(a[1] + k / count * (b[1] - a[1]))
        own = (row == ends[0] and column == ends[1]) or (row == ends[2] and column == ends[3])
        if not (own or clear[row, column]):
            return False
    return True


@kernel
def pull(clear: BoolArray, places: FloatArray) -> IntArray:
    """Which places of a way to keep so that each is in sight of the one before; the first and the last are.

    Args:
        clear: cells that lines may cross; (rows, columns).
        places: rows and columns along the way [cells]; (N, 2).
    """
    out, count, anchor, last = np.empty(len(places), np.int64), 1, 0, len(places) - 1
    out[0] = 0
    while anchor < last:
        seen = anchor + 1
        while seen < last and in_sight(clear, places[anchor], places[seen + 1]):
            seen += 1
        anchor = seen
        out[count] = anchor
        count += 1
    return out[:count]
