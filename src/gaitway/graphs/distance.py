"""Distance of two frames: the distance of their clouds after the second is moved over the ground to fit the first.

With centred clouds as complex numbers, the best turn is the phase of their inner product. The squared distance is then
|a|^2 + |b|^2 - 2 |<a, b>| for the horizontal parts, plus the squared differences in height. So the distances of all
pairs of frames are three matrix products. A distance is the root of a weighted mean square [m]; the paper's sum is its
square.

How a matrix product rounds depends on the processor, on its threads and on the sizes of the matrices. So products are
of double precision, and distances are rounded to whole steps of `DISTANCE_STEP`: blocks of any size give the same
distances, and what is equal but for rounding is equal. The step is a power of two, so sums of distances are exact in
any order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gaitway.core import planar
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray, read_only
from gaitway.graphs import _distance_kernels
from gaitway.graphs.clouds import Clouds, check_alike

BLOCK = 2048
"""Number of rows and columns of a block that is computed at once; three products of that size take 100 MB."""
DISTANCE_STEP = 2.0**-20
"""Step of distances in a matrix [m], about a micrometre: far above rounding errors, far below what a pose shows."""
_DOUBTFUL = 1e-3
"""Distance below which distances are computed again, without differences of large numbers [m]."""


@dataclass(frozen=True, eq=False)
class Features:
    """Clouds of N frames as rows for matrix products."""

    level: FloatArray
    """Horizontal parts: real parts, then imaginary parts [m]; (N, 2 K)."""
    crossed: FloatArray
    """Horizontal parts, turned by a quarter: imaginary parts, then negative real parts [m]; (N, 2 K)."""
    heights: FloatArray
    """Heights over the reference heights [m]; (N, K)."""
    own: FloatArray
    """Squared length of each cloud [m^2]; (N,)."""
    valid: BoolArray
    """Whether each cloud is compared; (N,)."""


def reference_heights(clouds: Clouds) -> FloatArray:
    """Return the mean height of every point of a window, times the square root of its weight [m]; (K,).

    Subtracted from both clouds it changes no distance, and leaves small numbers, whose products round little.
    """
    mean = np.tile(clouds.track[..., 2].mean(axis=0), clouds.window)
    return np.asarray(mean * np.sqrt(clouds.weights))


def features(clouds: Clouds, frames: IntArray, reference: FloatArray, *, ends: bool = True) -> Features:
    """Return the rows for matrix products.

    Args:
        clouds: Clouds of any clips.
        frames: Frames; (N,).
        reference: Result of `reference_heights`, the same for all compared clouds [m]; (K,).
        ends: Whether frames whose windows reach beyond their clip are compared.
    """
    level, heights = clouds.centred(frames)
    heights = heights - reference
    own = np.sum(level.real**2, axis=1) + np.sum(level.imag**2, axis=1) + np.sum(heights**2, axis=1)
    re, im = level.real, level.imag
    valid = np.ones(len(frames), dtype=bool) if ends else clouds.valid[frames]
    return Features(np.hstack([re, im]), np.hstack([im, -re]), heights, own, valid)


def feature_distances(a: Features, b: Features) -> SingleArray:
    """Return the distances of all rows of one to all rows of the other, in steps of `DISTANCE_STEP` [m]; (A, B)."""
    out = np.empty((len(a.own), len(b.own)), dtype=np.float32)
    # <a, conj b> = (ax bx + ay by) + i (ay bx - ax by)
    real, imaginary = read_only(a.level @ b.level.T), read_only(a.crossed @ b.level.T)
    heights = read_only(a.heights @ b.heights.T)
    own, valid = (read_only(a.own), read_only(b.own)), (read_only(a.valid), read_only(b.valid))
    _distance_kernels.to_distances(real, imaginary, heights, *own, *valid, DISTANCE_STEP, out)
    return out


def distances(a: Clouds, b: Clouds, *, ends: bool = True) -> SingleArray:
    """Return the distances of every frame of one to every frame of the other, in whole steps [m]; (A, B).

    Args:
        a: Clouds of any number of clips.
        b: Clouds with the same points and weights.
        ends: Whether frames whose windows reach beyond their clip are compared; else their distances are infinite.
    """
    check_alike(a, b)
    out = np.empty((len(a), len(b)), dtype=np.float32)
    reference, same = reference_heights(a), a is b
    starts_a, starts_b = range(0, len(a), BLOCK), range(0, len(b), BLOCK)
    columns = [features(b, np.arange(s, min(s + BLOCK, len(b))), reference, ends=ends) for s in starts_b]
    for r, start in enumerate(starts_a):
        stop = min(start + BLOCK, len(a))
        row = columns[r] if same else features(a, np.arange(start, stop), reference, ends=ends)
        for c, other in enumerate(starts_b):
            if same and c < r:
                continue
            end = min(other + BLOCK, len(b))
            out[start:stop, other:end] = corrected(feature_distances(row, columns[c]), a, start, b, other)
            if same and c > r:
                out[other:end, start:stop] = out[start:stop, other:end].T
    return out


def corrected(matrix: SingleArray, a: Clouds, row: int, b: Clouds, column: int) -> SingleArray:
    """Compute the smallest distances of a matrix again, frame by frame.

    Args:
        matrix: Distances of frames from `row` on of `a` to frames from `column` on of `b` [m]; changed in place.
        a: Clouds of the rows.
        row: Frame of the first row.
        b: Clouds of the columns.
        column: Frame of the first column.

    Returns:
        The matrix.
    """
    places = np.empty((2, 4 * sum(matrix.shape)), dtype=np.int64)
    count = _distance_kernels.small_entries(read_only(matrix), _DOUBTFUL, places[0], places[1])
    if count > places.shape[1]:  # two clips that are nearly equal everywhere
        places = np.empty((2, count), dtype=np.int64)
        _distance_kernels.small_entries(read_only(matrix), _DOUBTFUL, places[0], places[1])
    i, j = places[:, :count]
    matrix[i, j] = DISTANCE_STEP * np.rint(pair_distances(a, row + i, b, column + j) / DISTANCE_STEP)
    return matrix


def pair_distances(a: Clouds, i: npt.ArrayLike, b: Clouds, j: npt.ArrayLike) -> FloatArray:
    """Return the distances of frames `i` of one to frames `j` of the other, in pairs, in double precision [m]; (N,)."""
    rows, columns = np.broadcast_arrays(np.atleast_1d(i), np.atleast_1d(j))
    out = np.empty(len(rows))
    _distance_kernels.exact_pairs(
        a.track, read_only(a.first[rows]), read_only(a.centres[rows]),
        b.track, read_only(b.first[columns]), read_only(b.centres[columns]), a.weights, out,
    )  # fmt: skip
    return out


def aligning_moves(a: Clouds, i: npt.ArrayLike, b: Clouds, j: npt.ArrayLike) -> FloatArray:
    """Return the planar moves that bring frames `j` of `b` nearest to frames `i` of `a`: x, y [m], heading [rad].

    `motion.editing.move` applies a planar move to a clip.

    Returns:
        (3,) for one pair, (N, 3) for several.
    """
    one = np.ndim(i) == 0 and np.ndim(j) == 0
    rows, columns = np.broadcast_arrays(np.atleast_1d(i), np.atleast_1d(j))
    inner = np.sum(a.centred(rows)[0] * b.centred(columns)[0].conj(), axis=1)
    turn = np.angle(inner)
    turned = planar.transform_points(np.stack([0 * turn, 0 * turn, turn], axis=-1), b.centres[columns])
    moves = np.concatenate([a.centres[rows] - turned, turn[:, None]], axis=1)
    return moves[0] if one else moves
