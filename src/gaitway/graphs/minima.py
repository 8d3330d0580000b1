"""Local minima of distances: the pairs of frames at which one motion can best change into another.

The matrix of distances of a long corpus does not fit into memory. So its tiles are computed one after another, and only
the last two rows and columns are kept for the next tiles. An entry is tested when all its neighbours are known, so no
minimum is lost or found twice. Distances are whole steps (`gaitway.graphs.distance`), and of equal ones the first in
reading order counts, so tiles of any size find the same minima.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray, SingleArray, owned, read_only
from gaitway.core.errors import GraphError
from gaitway.core.progress import Progress, silent
from gaitway.graphs import _distance_kernels
from gaitway.graphs.clouds import Clouds
from gaitway.graphs.distance import BLOCK, corrected, feature_distances, features, reference_heights


@dataclass(frozen=True, eq=False)
class Minima:
    """Local minima of a matrix of distances."""

    rows: IntArray
    """Row of each minimum; (M,)."""
    columns: IntArray
    """Column of each minimum; (M,)."""
    distances: FloatArray
    """Distance at each minimum [m]; (M,)."""

    def __post_init__(self) -> None:
        count = len(self.rows)
        for name in ("rows", "columns"):
            object.__setattr__(self, name, owned(getattr(self, name), name, (count,), np.int64, GraphError))
        object.__setattr__(self, "distances", owned(self.distances, "distances", (count,), error=GraphError))

    def __len__(self) -> int:
        return len(self.rows)


def local_minima(matrix: npt.ArrayLike, below: float = np.inf) -> Minima:
    """Find the entries below a limit that are not above any of their eight neighbours.

    Of equal neighbours, the first in reading order counts.

    Args:
        matrix: Distances [m]; (A, B). Infinite entries are no minima. Entries beyond the edges count as infinite.
        below: Limit [m].
    """
    values = np.asarray(matrix, dtype=np.float32)
    return part_minima(values, below, (0, values.shape[0]), (0, values.shape[1]))


def first_least(values: npt.ArrayLike, within: float) -> int:
    """Return the index of the first value that is at most `within` above the least; rounding does not choose.

    Args:
        values: Numbers, at least one; (N,).
        within: Difference that does not count.
    """
    array = np.asarray(values, dtype=np.float64)
    return int(np.flatnonzero(array <= array.min() + within)[0])


def part_minima(matrix: SingleArray, below: float, rows: tuple[int, int], columns: tuple[int, int]) -> Minima:
    """Find the minima of a matrix within some rows and columns; neighbours outside of these count too.

    Args:
        matrix: Distances [m]; (A, B).
        below: Limit [m].
        rows: First row and the row after the last one.
        columns: First column and the column after the last one.
    """
    limit = min(below, float(np.finfo(np.float32).max))
    room = 1 + matrix.size // 16
    while True:
        places = np.empty((2, room), dtype=np.int64)
        count = _distance_kernels.minima(read_only(matrix), limit, *rows, *columns, places[0], places[1])
        if count <= room:
            break
        room = count
    i, j = places[:, :count]
    return Minima(i, j, matrix[i, j])


def corpus_minima(
    clouds: Clouds,
    below: float,
    apart: int = 2,
    *,
    block: int = BLOCK,
    progress: Progress = silent,
) -> Minima:
    """Find the minima of the distances of all frames of a corpus to each other; memory grows linearly with its length.

    Frames whose windows reach beyond their clip are left out, so that clips do not touch each other in the matrix. The
    matrix is symmetric: each minimum (row, column) has row + `apart` <= column, and (column, row) is a minimum too.

    Args:
        clouds: Clouds of all frames.
        below: Limit [m].
        apart: Least distance of a minimum from the diagonal, where frames are compared with themselves; at least 2.
        block: Number of rows and columns of a tile.
        progress: Function that is called after each tile.
    """
    reference, count = reference_heights(clouds), len(clouds)
    starts = range(0, count, block)
    above = np.full((2, count), np.inf, dtype=np.float32)  # the last two rows of the tiles before
    found: list[Minima] = []
    done, total = 0, len(starts) * (len(starts) + 1) // 2
    for row in starts:
        mine = features(clouds, np.arange(row, min(row + block, count)), reference, ends=False)
        left = np.full((len(mine.own), 2), np.inf, dtype=np.float32)
        under = np.full((2, count), np.inf, dtype=np.float32)
        for column in range(row, count, block):
            stop = min(column + block, count)
            other = mine if column == row else features(clouds, np.arange(column, stop), reference, ends=False)
            tile = corrected(feature_distances(mine, other), clouds, row, clouds, column)
            corner = above[:, column - 2 : column] if column else above[:, :2]
            padded = np.block([[corner, above[:, column:stop]], [left, tile]])
            found.append(_judged(padded, below, row - 2, column - 2, count))
            left, under[:, column:stop] = tile[:, -2:], tile[-2:]
            done += 1
            progress("distances", done, total)
        above = under
    rows, columns, values = (
        np.concatenate([getattr(m, name) for m in found]) for name in ("rows", "columns", "distances")
    )
    keep = rows + max(apart, 2) <= columns
    order = np.lexsort((columns[keep], rows[keep]))
    return Minima(rows[keep][order], columns[keep][order], values[keep][order])


def _judged(padded: SingleArray, below: float, row: int, column: int, count: int) -> Minima:
    """Find the minima of a tile that is padded by the two rows above and the two columns to its left.

    The last row and column are tested with the next tile.

    Args:
        padded: Distances [m]; (A + 2, B + 2).
        below: Limit [m].
        row: Row of the whole matrix that the first row is.
        column: Column of the whole matrix that the first column is.
        count: Number of rows and columns of the whole matrix.
    """
    ends = [n - (start + n < count) for n, start in zip(padded.shape, (row, column), strict=True)]
    part = part_minima(padded, below, (1, ends[0]), (1, ends[1]))
    return Minima(part.rows + row, part.columns + column, part.distances)
