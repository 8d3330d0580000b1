"""Where an error function has its local minima: the places at which one motion goes over into another best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gaitway.arrays import FloatArray, IntArray, SingleArray, owned, read_only
from gaitway.errors import GraphError
from gaitway.graphs import _distance_kernels


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
    limit = float(min(below, np.finfo(np.float32).max))
    room = 1 + matrix.size // 16
    while True:
        places = np.empty((2, room), dtype=np.int64)
        count = _distance_kernels.minima(read_only(matrix), limit, *rows, *columns, places[0], places[1])
        if count <= room:
            break
        room = count
    i, j = places[:, :count]
    return Minima(i, j, matrix[i, j])
