"""Upper sides of many triangles: which of them lies over a point, nearest to a height."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.world import _upper_kernels

_EACH = 2.0
"""Number of squares of the grid for each triangle."""
_MOST = 4_000_000
"""Largest number of squares."""


@dataclass(frozen=True, eq=False)
class UpperSides:
    """Triangles that are not upright, found by the square of a grid that a point is in."""

    corners: FloatArray
    """Corners [m]; (T, 3, 3)."""
    origin: FloatArray
    """Lower left corner of the grid [m]; (2,)."""
    cell: float
    """Side of a square [m]."""
    shape: tuple[int, int]
    """Rows and columns of squares."""
    starts: IntArray
    """First of `members` of each square, row after row; (squares + 1,)."""
    members: IntArray
    """Triangles whose bounds meet a square; (M,)."""

    @staticmethod
    def of(corners: FloatArray) -> UpperSides:
        """Sort triangles (T, 3, 3) [m] into a grid."""
        low, high = (f(corners[..., :2], axis=1) for f in (np.min, np.max)) if len(corners) else (np.zeros((1, 2)),) * 2
        origin, size = low.min(axis=0), np.maximum(high.max(axis=0) - low.min(axis=0), 1e-6)
        cell = max(math.sqrt(float(size.prod()) / min(_EACH * len(corners) + 1.0, _MOST)), float(size.max()) / 2000.0)
        columns, rows = (math.floor(float(s) / cell) + 1 for s in size)
        first = np.clip(np.floor((low[: len(corners)] - origin) / cell), 0, (columns - 1, rows - 1)).astype(np.int64)
        last = np.clip(np.floor((high[: len(corners)] - origin) / cell), 0, (columns - 1, rows - 1)).astype(np.int64)
        wide = last - first + 1
        counts = wide.prod(axis=1)
        which = np.repeat(np.arange(len(corners)), counts)
        index = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        row, column = np.divmod(index, wide[which, 0])
        squares = (first[which, 1] + row) * columns + first[which, 0] + column
        order = np.argsort(squares, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(squares, minlength=rows * columns))])
        return UpperSides(
            read_only(corners), read_only(origin), cell, (rows, columns), read_only(starts), read_only(which[order])
        )

    def heights(self, points: FloatArray, near: FloatArray | None = None) -> FloatArray:
        """Return the height of the highest triangle [m] (N,) over points (N, 2), or of the nearest to heights (N,).

        Minus infinity where there is none.
        """
        points = np.ascontiguousarray(points, dtype=np.float64)
        wanted = np.full(len(points), np.inf) if near is None else np.ascontiguousarray(near, dtype=np.float64)
        out = np.empty(len(points))
        _upper_kernels.nearest_heights(
            points, wanted, self.corners, self.starts, self.members, self.origin, self.cell, self.shape, out
        )
        return out
