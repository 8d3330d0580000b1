"""Compiled loops of the clearance grid: the exact Euclidean distance transform in two passes.

Along each column the distance to the nearest covered cell is counted. Along each row, the least sum of squares is the
lower envelope of parabolas, one for each column (Felzenszwalb and Huttenlocher 2012, in whole numbers).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel

Mask = npt.NDArray[np.uint16]
Steps = npt.NDArray[np.int32]
Distances = npt.NDArray[np.float32]


@kernel(inner=True)
def steps_along_columns(mask: Mask, bits: int, row: int, column: int, limit: int, steps: Steps) -> None:
    """Count the cells up or down to the nearest covered one, at most `limit`.

    Args:
        mask: bits of the cells of the whole grid; (rows, columns).
        bits: bits that make a cell covered.
        row: first row to look at.
        column: first column to look at.
        limit: largest count; also the count if there is no covered cell.
        steps: receives the counts; its shape is that of the window.
    """
    height, width = steps.shape
    for i in range(height):
        part, here, before = mask[row + i, column : column + width], steps[i], steps[max(i - 1, 0)]
        for j in range(width):
            far = min(before[j] + 1, limit) if i > 0 else limit
            here[j] = 0 if part[j] & bits else far
    for i in range(height - 2, -1, -1):
        here, after = steps[i], steps[i + 1]
        for j in range(width):
            here[j] = min(here[j], after[j] + 1)


@kernel(inner=True)
def distances_along_row(
    steps: Steps,
    limit: int,
    halves: FloatArray,
    first: int,
    end: int,
    scale: float,
    reach: float,
    tops: IntArray,
    begins: IntArray,
    keys: IntArray,
    squares: IntArray,
    out: Distances,
) -> None:
    """Compute the distances of one row.

    Args:
        steps: results of `steps_along_columns` in this row; (W,).
        limit: number of steps from which on a column has no covered cell near enough.
        halves: 1 / (2 n) for every n; (W + 1,).
        first: first column to compute.
        end: column after the last one to compute.
        scale: side of a cell [m].
        reach: greatest distance [m].
        tops: memory for the columns whose parabolas make up the envelope; (W,).
        begins: memory for the begin of each of them; (W,).
        keys: memory for the value of each of them in column 0; (W,).
        squares: memory for the squared distances [cells]; (W,).
        out: receives the distances [m], from index 0 on; (end - first,).
    """
    count, last = 0, len(steps) - 1
    for j in range(len(steps)):
        step = np.int64(steps[j])
        if step >= limit or (step == 0 and 0 < j < last and steps[j - 1] == 0 and steps[j + 1] == 0):
            continue  # nothing near, or nothing that its neighbours are not nearer to
        key = step * step + j * j
        begin = 0
        while count > 0:
            top = tops[count - 1]
            # the last column where the other one is no worse; a tie may go either way
            cut = math.floor((key - keys[count - 1]) * halves[j - top])
            if cut >= begins[count - 1]:
                begin = cut + 1
                break
            count -= 1
        if begin < end:
            tops[count], begins[count], keys[count] = j, begin, key
            count += 1
    for k in range(count):
        top, key = tops[k], keys[k]
        for j in range(max(begins[k], first), end if k + 1 == count else min(begins[k + 1], end)):
            squares[np.uintp(j)] = key + j * (j - 2 * top)
    for j in range(end - first):
        out[j] = min(math.sqrt(squares[first + j]) * scale, reach) if count > 0 else reach
    for j in range(end - first):
        if steps[first + j] == 0:
            out[j] = 0.0


@kernel
def clearance(
    mask: Mask,
    bits: int,
    source: tuple[int, int, int, int],
    target: tuple[int, int, int, int],
    limit: int,
    halves: FloatArray,
    scale: float,
    reach: float,
    out: Distances,
) -> None:
    """Compute the distances from the cells of one window to the covered cells of another that contains it.

    Args:
        mask: bits of the cells of the whole grid; (rows, columns).
        bits: bits that make a cell covered.
        source: window of the covered cells that count: row, column, end row, end column.
        target: window of the cells whose distances are computed, in the same form.
        limit: number of cells beyond which covered cells do not count.
        halves: 1 / (2 n) for every n.
        scale: side of a cell [m].
        reach: greatest distance [m].
        out: receives the distances, of the whole grid [m]; (rows, columns).
    """
    height, width = source[2] - source[0], source[3] - source[1]
    steps = np.empty((height, width), np.int32)
    steps_along_columns(mask, bits, source[0], source[1], limit, steps)
    tops, begins = np.empty(width, np.int64), np.empty(width, np.int64)
    keys, squares = np.empty(width, np.int64), np.empty(width, np.int64)
    for row in range(target[0], target[2]):
        distances_along_row(
            steps[row - source[0]], limit, halves, target[1] - source[1], target[3] - source[1], scale, reach,
            tops, begins, keys, squares, out[row, target[1] : target[3]],
        )  # fmt: skip
