"""Distances to obstacles in the plane, in a grid that is interpolated between the centres of cells.

What is stored is the *square* of the distance of each middle. Between four middles it is interpolated bilinearly, and
what interpolation adds to the square of the distance from a single point, which is the same everywhere, is taken off:
h^2 (u (1 - u) + v (1 - v)) in cells of side h, for a point at (u, v) between the four. Anything is made of points, and
the least of some values is interpolated to no more than any of them is; so what comes out is never more than the true
distance. It is exact where one corner is nearest to all four middles, less by no more than h^2 / (8 d) at a distance d
from a straight side, and less by no more than sqrt(2) h anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import BoolArray, FloatArray, read_only
from gaitway.space import _distance_kernels
from gaitway.space._distance_kernels import Squares
from gaitway.world import _clearance_kernels
from gaitway.world.footprint import Outlines
from gaitway.world.grid import Bounds, GridSpec

NEAR = 1.0
"""Distance up to which those of cell centres are exact [m], or two large cells; farther ones may be too small."""


def place(spec: GridSpec) -> FloatArray:
    """Return where a grid lies, for kernels; (5,).

    x and y of its corner [m], cells in a metre, square of a side [m^2], and how much less than at the middle of a cell
    the distance may come out at any point of it [m].
    """
    return read_only(np.array([*spec.origin, 1.0 / spec.cell, spec.cell**2, 3.0 * half_diagonal(spec)]))


def half_diagonal(spec: GridSpec) -> float:
    """Return the farthest distance of a point of a cell from its centre [m]."""
    return float(np.sqrt(0.5)) * spec.cell


def reach(spec: GridSpec) -> float:
    """Return the distance up to which those of cell centres are exact [m]."""
    return max(NEAR, 2.0 * spec.cell)


def near_squares(outlines: Outlines, spec: GridSpec) -> Squares:
    """Return the squared distance of each cell's centre from outlines, at most that of the `reach` [m^2]; 0 inside."""
    out = np.full(spec.shape, reach(spec) ** 2, dtype=np.float32)
    _distance_kernels.near_squares(*outlines, place(spec), reach(spec), out)
    return out


def near_squares_of_cells(covered: BoolArray, spec: GridSpec) -> Squares:
    """Compute squared distances as `near_squares` from cells that are wholly covered; too small by up to 0.2 cells."""
    least = np.clip(_between_middles(covered, spec.cell) - np.float32(half_diagonal(spec)), 0.0, reach(spec))
    return np.asarray(least * least, dtype=np.float32)


def squares(layers: Sequence[Squares], room: Bounds, spec: GridSpec) -> Squares:
    """Return the squared distance of each cell's centre from all obstacles [m^2]; never too large.

    Args:
        layers: results of `near_squares`, at least one.
        room: xmin, ymin, xmax, ymax of the bounds [m], which the cells must cover.
        spec: the cells.
    """
    near, half = reduce(np.minimum, layers), np.float32(half_diagonal(spec))
    # what is nearest lies in a cell whose middle is within half a diagonal of it
    out = _between_middles(near <= half * half, spec.cell)
    out -= half
    np.maximum(out, np.float32(reach(spec)), out=out)
    out *= out
    np.copyto(out, near, where=near < np.float32(reach(spec) ** 2))
    for axis, count in enumerate(spec.shape):  # rows lie along y, columns along x
        at = spec.origin[1 - axis] + spec.cell * (np.arange(count) + 0.5)
        low, high = (edge[1 - axis] for edge in (room[:2], room[2:]))
        inside = np.maximum(np.minimum(at - low, high - at), 0.0).astype(np.float32)
        np.minimum(out, np.expand_dims(inside * inside, 1 - axis), out=out)
    return out


def roomy(field: Squares, radius: float, spec: GridSpec) -> BoolArray:
    """Return the cells that may hold a point which keeps a radius from obstacles [m]; (..., rows, columns).

    The answer is optimistic, except in cells so large that a thin wall might be missed: cells that a wall meets never
    count.
    """
    half = half_diagonal(spec)
    return np.asarray(field > np.float32(max(min(radius, reach(spec)) - half, half) ** 2))


def _between_middles(covered: BoolArray, cell: float) -> Squares:
    """Return the distance from each cell's centre to that of the nearest covered cell [m]; infinity if none."""
    rows, columns = covered.shape
    out, whole = np.empty(covered.shape, dtype=np.float32), (0, 0, rows, columns)
    mask = covered.astype(np.uint16)
    mask.setflags(write=False)
    halves = read_only(0.5 / np.maximum(np.arange(columns + 1), 1))
    _clearance_kernels.clearance(mask, 1, whole, whole, rows + columns, halves, cell, np.inf, out)
    return out


def looked_up(field: Squares, spec: GridSpec, points: npt.ArrayLike) -> FloatArray:
    """Return a lower bound of the distance of points (..., 2) to obstacles [m]; 0 beyond the outer cell centres."""
    rows, columns = spec.shape
    column, row = np.moveaxis((np.asarray(points, dtype=np.float64) - spec.origin) / spec.cell - 0.5, -1, 0)
    inside = (column >= 0.0) & (row >= 0.0) & (column < columns - 1) & (row < rows - 1)
    column, row = np.where(inside, column, 0.0), np.where(inside, row, 0.0)
    i, j = row.astype(np.int64), column.astype(np.int64)
    u, v, far_i, far_j = column - j, row - i, np.minimum(i + 1, rows - 1), np.minimum(j + 1, columns - 1)
    below = (1.0 - u) * field[i, j] + u * field[i, far_j]
    above = (1.0 - u) * field[far_i, j] + u * field[far_i, far_j]
    square = (1.0 - v) * below + v * above - (u * (1.0 - u) + v * (1.0 - v)) * spec.cell**2
    return np.where(inside, np.sqrt(np.maximum(square, 0.0)), 0.0)
