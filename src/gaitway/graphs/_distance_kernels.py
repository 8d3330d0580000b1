"""Compiled loops of pose distances: from inner products to lengths, and where a matrix has its local minima."""

from __future__ import annotations

import math

import numba
import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray
from gaitway.core.jit import kernel


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


@kernel(parallel=True)
def exact_pairs(
    track_a: FloatArray,
    first_a: IntArray,
    centres_a: FloatArray,
    track_b: FloatArray,
    first_b: IntArray,
    centres_b: FloatArray,
    weights: FloatArray,
    out: FloatArray,
) -> None:
    """Distances of clouds pair by pair, in double precision and without differences of large numbers.

    Args:
        track_a: body points of a [m]; (T, P, 3).
        first_a: where in it the window of each pair's first frame begins; (N,).
        centres_a: over which place that cloud is centred [m]; (N, 2).
        track_b: the same for b.
        first_b: the same for b.
        centres_b: the same for b.
        weights: of all points of a window, frame by frame; (W * P,).
        out: receives distances [m]; (N,).
    """
    points = track_a.shape[1]
    for n in numba.prange(len(out)):
        re, im = 0.0, 0.0
        for k in range(len(weights)):
            i, j, p = first_a[n] + k // points, first_b[n] + k // points, k % points
            ax, ay = track_a[i, p, 0] - centres_a[n, 0], track_a[i, p, 1] - centres_a[n, 1]
            bx, by = track_b[j, p, 0] - centres_b[n, 0], track_b[j, p, 1] - centres_b[n, 1]
            re += weights[k] * (ax * bx + ay * by)
            im += weights[k] * (ay * bx - ax * by)
        length = math.sqrt(re * re + im * im)
        cosine, sine = (re / length, im / length) if length > 0.0 else (1.0, 0.0)
        total = 0.0
        for k in range(len(weights)):
            i, j, p = first_a[n] + k // points, first_b[n] + k // points, k % points
            bx, by = track_b[j, p, 0] - centres_b[n, 0], track_b[j, p, 1] - centres_b[n, 1]
            dx = track_a[i, p, 0] - centres_a[n, 0] - (cosine * bx - sine * by)
            dy = track_a[i, p, 1] - centres_a[n, 1] - (sine * bx + cosine * by)
            dz = track_a[i, p, 2] - track_b[j, p, 2]
            total += weights[k] * (dx * dx + dy * dy + dz * dz)
        out[n] = math.sqrt(total)


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
