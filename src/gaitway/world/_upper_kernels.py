"""Compiled loops that find the upper sides of triangles over points of the plan."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel

_ON_EDGE = 1e-9
"""Share of a triangle by which a point may be beside it and still be on its edge."""


@kernel
def nearest_heights(
    points: FloatArray,
    near: FloatArray,
    corners: FloatArray,
    starts: IntArray,
    members: IntArray,
    origin: FloatArray,
    cell: float,
    shape: tuple[int, int],
    out: FloatArray,
) -> None:
    """Find the height of the triangle over each point that is nearest to a height.

    Args:
        points: x and y; (N, 2) [m].
        near: heights, infinity for the highest triangle; (N,) [m].
        corners: corners of the triangles; (T, 3, 3) [m].
        starts: first of `members` of each square of a grid, row after row; (squares + 1,).
        members: triangles that may meet a square; (M,).
        origin: lower left corner of the grid; (2,) [m].
        cell: side of a square [m].
        shape: rows and columns of squares.
        out: receives the heights, minus infinity where no triangle is; (N,) [m].
    """
    for n in range(len(points)):
        x, y = points[n, 0], points[n, 1]
        out[n] = -np.inf
        row, column = int(np.floor((y - origin[1]) / cell)), int(np.floor((x - origin[0]) / cell))
        if row < 0 or column < 0 or row >= shape[0] or column >= shape[1]:
            continue
        square = row * shape[1] + column
        best = np.inf
        for m in range(starts[square], starts[square + 1]):
            a = corners[members[m]]
            twice = (a[1, 0] - a[0, 0]) * (a[2, 1] - a[0, 1]) - (a[1, 1] - a[0, 1]) * (a[2, 0] - a[0, 0])
            v = ((x - a[0, 0]) * (a[2, 1] - a[0, 1]) - (y - a[0, 1]) * (a[2, 0] - a[0, 0])) / twice
            w = ((a[1, 0] - a[0, 0]) * (y - a[0, 1]) - (a[1, 1] - a[0, 1]) * (x - a[0, 0])) / twice
            if v < -_ON_EDGE or w < -_ON_EDGE or v + w > 1.0 + _ON_EDGE:
                continue
            z = a[0, 2] + v * (a[1, 2] - a[0, 2]) + w * (a[2, 2] - a[0, 2])
            away = -z if near[n] == np.inf else abs(z - near[n])
            if away < best:
                best, out[n] = away, z
