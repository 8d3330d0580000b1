"""How unlike two frames are: the distance of their clouds once the second is moved over the ground to fit the first.

With centred clouds as complex numbers the best turn is the phase of their inner product, so what remains is
|a|^2 + |b|^2 - 2 |<a, b>| for the level parts, plus the squared differences in height. All pairs of frames are three
matrix products. Distances are roots of weighted mean squares [m]; the sum in the paper is their square.
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
"""Rows and columns that are worked out at once: three products of that size are 50 MB."""
_DOUBTFUL = 1e-3
"""Single precision loses a tenth of a millimetre of the smallest distances; under this they are worked out anew [m]."""


@dataclass(frozen=True, eq=False)
class Features:
    """Clouds of some frames as rows for matrix products, in single precision."""

    level: SingleArray
    """Real parts, then imaginary parts; (N, 2 K)."""
    crossed: SingleArray
    """The same turned by a quarter: imaginary parts, then real parts with the other sign; (N, 2 K)."""
    heights: SingleArray
    """Heights over the reference; (N, K)."""
    own: FloatArray
    """Squared length of each cloud [m^2]; (N,)."""
    valid: BoolArray
    """Which to compare; (N,)."""


def reference_heights(clouds: Clouds) -> FloatArray:
    """Mean height of every point of a window, times the root of its weight [m]; (K,).

    Taken off both clouds it changes no distance and leaves small numbers, of which single precision loses little.
    """
    mean = np.tile(clouds.track[..., 2].mean(axis=0), clouds.window)
    return np.asarray(mean * np.sqrt(clouds.weights))


def features(clouds: Clouds, frames: IntArray, reference: FloatArray, *, ends: bool = True) -> Features:
    """Rows for matrix products.

    Args:
        clouds: of any clips.
        frames: which frames; (N,).
        reference: as of `reference_heights`; the same for all that is compared.
        ends: whether to compare frames whose windows reach beyond their clip.
    """
    level, heights = clouds.centred(frames)
    heights = heights - reference
    own = np.sum(level.real**2, axis=1) + np.sum(level.imag**2, axis=1) + np.sum(heights**2, axis=1)
    re, im = level.real.astype(np.float32), level.imag.astype(np.float32)
    valid = np.ones(len(frames), dtype=bool) if ends else clouds.valid[frames]
    return Features(np.hstack([re, im]), np.hstack([im, -re]), heights.astype(np.float32), own, valid)


def feature_distances(a: Features, b: Features) -> SingleArray:
    """Distances [m] of all rows of one to all rows of the other; (A, B)."""
    out = np.empty((len(a.own), len(b.own)), dtype=np.float32)
    # <a, conj b> = (ax bx + ay by) + i (ay bx - ax by)
    real, imaginary = read_only(a.level @ b.level.T), read_only(a.crossed @ b.level.T)
    heights = read_only(a.heights @ b.heights.T)
    own, valid = (read_only(a.own), read_only(b.own)), (read_only(a.valid), read_only(b.valid))
    _distance_kernels.to_distances(real, imaginary, heights, *own, *valid, out)
    return out


def distances(a: Clouds, b: Clouds, *, ends: bool = True) -> SingleArray:
    """Distances of every frame of one to every frame of the other [m]; (A, B), single precision.

    Args:
        a: clouds of any number of clips.
        b: clouds of the same points and weights.
        ends: whether to compare frames whose windows reach beyond their clip; False makes them infinitely far.
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
    """The matrix with its smallest distances worked out in double precision.

    Args:
        matrix: distances of frames from `row` on of `a` to frames from `column` on of `b`; written into.
        a: clouds of the rows.
        row: the first row's frame.
        b: clouds of the columns.
        column: the first column's frame.
    """
    places = np.empty((2, 4 * sum(matrix.shape)), dtype=np.int64)
    count = _distance_kernels.small_entries(read_only(matrix), _DOUBTFUL, places[0], places[1])
    if count > places.shape[1]:  # two clips nearly alike all over
        places = np.empty((2, count), dtype=np.int64)
        _distance_kernels.small_entries(read_only(matrix), _DOUBTFUL, places[0], places[1])
    i, j = places[:, :count]
    matrix[i, j] = pair_distances(a, row + i, b, column + j)
    return matrix


def pair_distances(a: Clouds, i: npt.ArrayLike, b: Clouds, j: npt.ArrayLike) -> FloatArray:
    """Distance of frame `i` of one to frame `j` of the other [m], pair by pair in double precision; (N,)."""
    rows, columns = np.broadcast_arrays(np.atleast_1d(i), np.atleast_1d(j))
    out = np.empty(len(rows))
    _distance_kernels.exact_pairs(
        a.track, read_only(a.first[rows]), read_only(a.centres[rows]),
        b.track, read_only(b.first[columns]), read_only(b.centres[columns]), a.weights, out,
    )  # fmt: skip
    return out


def aligning_moves(a: Clouds, i: npt.ArrayLike, b: Clouds, j: npt.ArrayLike) -> FloatArray:
    """The planar moves (x, y, heading) that carry frame `j` of `b` onto frame `i` of `a` as well as can be.

    `motion.editing.move` applies one to a clip.

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
