"""Compiled loops of pose distances: from inner products to lengths, and where a matrix has its local minima."""

from __future__ import annotations

import math

import numba
import numpy as np

from gaitway._jit import kernel
from gaitway.arrays import BoolArray, FloatArray, IntArray, SingleArray


@kernel(parallel=True)
def to_distances(
    real: SingleArray,
    imaginary: SingleArray,
    heights: SingleArray,
    own_a: FloatArray,
    own_b: FloatArray,
    valid_a: BoolArray,
    valid_b: BoolArray,
    out: SingleArray,
) -> None:
    """Distances of clouds from their inner products.

    Args:
        real: real parts of the level inner products; (A, B) [m^2].
        imaginary: their imaginary parts; (A, B).
        heights: inner products of heights; (A, B).
        own_a: squared length of each cloud of a, heights included; (A,).
        own_b: the same for b; (B,).
        valid_a: clouds of a to compare; (A,). Others are infinitely far from all.
        valid_b: the same for b; (B,).
        out: receives distances [m]; (A, B).
    """
    for i in numba.prange(real.shape[0]):
        for j in range(real.shape[1]):
            re, im = real[i, j], imaginary[i, j]
            inner = math.sqrt(re * re + im * im) + heights[i, j]
            squared = own_a[i] + own_b[j] - 2.0 * inner
            length = math.sqrt(max(squared, 0.0))
            out[i, j] = length if valid_a[i] and valid_b[j] else np.inf


@kernel
def small_entries(matrix: SingleArray, below: float, rows: IntArray, columns: IntArray) -> int:
    """Writes where a matrix is under a limit into `rows` and `columns`, as far as there is room; returns how often."""
    count = 0
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            if matrix[i, j] < below:
                if count < len(rows):
                    rows[count] = i
                    columns[count] = j
                count += 1
    return count


@kernel
def minima(
    matrix: SingleArray,
    below: float,
    first_row: int,
    end_row: int,
    first_column: int,
    end_column: int,
    rows: IntArray,
    columns: IntArray,
) -> int:
    """Local minima under a limit within a part of a matrix; of equal neighbours the first in reading order counts.

    Args:
        matrix: (A, B); beyond its edges it is infinite.
        below: values must be under this.
        first_row: the part begins here.
        end_row: and ends before this row.
        first_column: the same for columns.
        end_column: the same for columns.
        rows: receives the rows, as far as there is room.
        columns: receives the columns.

    Returns:
        How many there are, which may be more than there was room for.
    """
    count = 0
    for i in range(first_row, end_row):
        for j in range(first_column, end_column):
            value = matrix[i, j]
            if not value < below:
                continue
            least = True
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    k, m = i + di, j + dj
                    if (di == 0 and dj == 0) or k < 0 or m < 0 or k >= matrix.shape[0] or m >= matrix.shape[1]:
                        continue
                    other = matrix[k, m]
                    earlier = di < 0 or (di == 0 and dj < 0)
                    if other < value or (earlier and other == value):
                        least = False
            if least:
                if count < len(rows):
                    rows[count] = i
                    columns[count] = j
                count += 1
    return count
