"""Where an error function has its local minima: the places at which one motion goes over into another best.

For a corpus too long for its matrix, tiles are worked out one after another and forgotten, but for the two last rows
and columns that the next tiles need: a cell is judged once all its neighbours are known, so no minimum is lost or found
twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray, SingleArray, owned, read_only
from gaitway.core.errors import GraphError
from gaitway.graphs import _distance_kernels
from gaitway.graphs.clouds import Clouds
from gaitway.graphs.distance import BLOCK, corrected, feature_distances, features, reference_heights


@dataclass(frozen=True, eq=False)
class Minima:
    """Local minima of a matrix of distances."""

    rows: IntArray
    """(M,)."""
    columns: IntArray
    """(M,)."""
    distances: FloatArray
    """[m]; (M,)."""

    def __post_init__(self) -> None:
        count = len(self.rows)
        for name in ("rows", "columns"):
            object.__setattr__(self, name, owned(getattr(self, name), name, (count,), np.int64, GraphError))
        object.__setattr__(self, "distances", owned(self.distances, "distances", (count,), error=GraphError))

    def __len__(self) -> int:
        return len(self.rows)


def local_minima(matrix: npt.ArrayLike, below: float = np.inf) -> Minima:
    """Entries under a limit that none of their eight neighbours is under; of equal neighbours the first counts.

    Args:
        matrix: distances [m]; (A, B). Infinite entries are none; beyond its edges nothing counts.
        below: only those under this [m].
    """
    values = np.asarray(matrix, dtype=np.float32)
    return part_minima(values, below, (0, values.shape[0]), (0, values.shape[1]))


def part_minima(matrix: SingleArray, below: float, rows: tuple[int, int], columns: tuple[int, int]) -> Minima:
    """Minima of a matrix within some of its rows and columns; neighbours outside of these count.

    Args:
        matrix: (A, B) [m].
        below: only those under this [m].
        rows: first row and the one after the last.
        columns: the same for columns.
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
    progress: Callable[[int, int], None] | None = None,
) -> Minima:
    """Minima under a limit among the distances of all frames of a corpus, in memory that does not grow with its square.

    Frames whose windows reach beyond their clip are left out, so that clips do not touch one another in the matrix.
    The matrix is symmetric: each minimum (row, column) has row + `apart` <= column and stands for (column, row) too.

    Args:
        clouds: of all frames.
        below: only distances under this [m].
        apart: how far a minimum must lie from the diagonal, where frames are compared with themselves; at least 2.
        block: rows and columns of a tile.
        progress: called with how many tiles are done, of how many.
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
            if progress is not None:
                progress(done, total)
        above = under
    rows, columns, values = (
        np.concatenate([getattr(m, name) for m in found]) for name in ("rows", "columns", "distances")
    )
    keep = rows + max(apart, 2) <= columns
    order = np.lexsort((columns[keep], rows[keep]))
    return Minima(rows[keep][order], columns[keep][order], values[keep][order])


def _judged(padded: SingleArray, below: float, row: int, column: int, count: int) -> Minima:
    """Minima of a tile with two rows above and two columns left of it; its last row and column wait for the next tile.

    Args:
        padded: (A + 2, B + 2) [m].
        below: [m].
        row: which row of the whole matrix the first row is.
        column: the same for columns.
        count: rows and columns of the whole matrix.
    """
    ends = [n - (start + n < count) for n, start in zip(padded.shape, (row, column), strict=True)]
    part = part_minima(padded, below, (1, ends[0]), (1, ends[1]))
    return Minima(part.rows + row, part.columns + column, part.distances)
