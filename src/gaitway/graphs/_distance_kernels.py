"""Kernels of pose distances: distances from inner products, exact distances of pairs, and local minima of a matrix."""

from __future__ import annotations

import math

import numba
import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray
from gaitway.core.jit import kernel

X, Y, Z = range(3)
"""Columns of positions."""


@kernel(parallel=True)
def to_distances(
    real: FloatArray,
    imaginary: FloatArray,
    heights: FloatArray,
    own_a: FloatArray,
    own_b: FloatArray,
    valid_a: BoolArray,
    valid_b: BoolArray,
    step: float,
    out: SingleArray,
) -> None:
    """Compute the distances of clouds from their inner products.

    Args:
        real: Real parts of the horizontal inner products [m^2]; (A, B).
        imaginary: Imaginary parts of the horizontal inner products [m^2]; (A, B).
        heights: Inner products of heights [m^2]; (A, B).
        own_a: Squared length of each cloud of a, with heights [m^2]; (A,).
        own_b: Squared length of each cloud of b [m^2]; (B,).
        valid_a: Clouds of a to compare; (A,). Distances of other clouds are infinite.
        valid_b: Clouds of b to compare; (B,).
        step: Distances are whole multiples of it [m].
        out: Receives distances [m]; (A, B).
    """
    for i in numba.prange(real.shape[0]):
        for j in range(real.shape[1]):
            re, im = real[i, j], imaginary[i, j]
            inner = math.sqrt(re * re + im * im) + heights[i, j]
            squared = own_a[i] + own_b[j] - 2.0 * inner
            length = step * math.floor(math.sqrt(max(squared, 0.0)) / step + 0.5)
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
    """Compute the distances of pairs of clouds in double precision, without differences of large numbers.

    Args:
        track_a: Body points of a [m]; (T, P, 3).
        first_a: Row of `track_a` at which the window of each pair begins; (N,).
        centres_a: Centre of the cloud of each pair over the ground [m]; (N, 2).
        track_b: Body points of b [m]; (T, P, 3).
        first_b: Row of `track_b` at which the window of each pair begins; (N,).
        centres_b: Centre of the cloud of each pair over the ground [m]; (N, 2).
        weights: Weights of all points of a window, frame by frame; (W * P,).
        out: Receives distances [m]; (N,).
    """
    points = track_a.shape[1]
    for n in numba.prange(len(out)):
        re, im = 0.0, 0.0
        for k in range(len(weights)):
            i, j, p = first_a[n] + k // points, first_b[n] + k // points, k % points
            ax, ay = track_a[i, p, X] - centres_a[n, X], track_a[i, p, Y] - centres_a[n, Y]
            bx, by = track_b[j, p, X] - centres_b[n, X], track_b[j, p, Y] - centres_b[n, Y]
            re += weights[k] * (ax * bx + ay * by)
            im += weights[k] * (ay * bx - ax * by)
        length = math.sqrt(re * re + im * im)
        cosine, sine = (re / length, im / length) if length > 0.0 else (1.0, 0.0)
        total = 0.0
        for k in range(len(weights)):
            i, j, p = first_a[n] + k // points, first_b[n] + k // points, k % points
            bx, by = track_b[j, p, X] - centres_b[n, X], track_b[j, p, Y] - centres_b[n, Y]
            dx = track_a[i, p, X] - centres_a[n, X] - (cosine * bx - sine * by)
            dy = track_a[i, p, Y] - centres_a[n, Y] - (sine * bx + cosine * by)
            dz = track_a[i, p, Z] - track_b[j, p, Z]
            total += weights[k] * (dx * dx + dy * dy + dz * dz)
        out[n] = math.sqrt(total)


@kernel
def small_entries(matrix: SingleArray, below: float, rows: IntArray, columns: IntArray) -> int:
    """Find the entries of a matrix below a limit.

    Args:
        matrix: Distances [m]; (A, B).
        below: Limit [m].
        rows: Receives the rows of the entries, as many as fit.
        columns: Receives the columns of the entries, as many as fit.

    Returns:
        The number of entries, which may be larger than the number that fits.
    """
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
    """Find local minima below a limit in a part of a matrix; of equal neighbours, the first in reading order counts.

    Args:
        matrix: Distances [m]; (A, B). Entries beyond the edges count as infinite.
        below: Limit [m].
        first_row: First row of the part.
        end_row: Row after the last row of the part.
        first_column: First column of the part.
        end_column: Column after the last column of the part.
        rows: Receives the rows of the minima, as many as fit.
        columns: Receives the columns of the minima, as many as fit.

    Returns:
        The number of minima, which may be larger than the number that fits.
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
