"""Grids over the floor plan: where cells lie, and which cells a footprint covers.

The rasteriser is exact: a cell is covered if and only if its closed square meets the footprint. So a free cell is free
at every point of it, and nothing grows by more than one cell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.errors import WorldError
from gaitway.world import _kernels
from gaitway.world.footprint import Footprint, Outlines

MAX_CELLS = 100_000_000
"""Greatest number of cells of one grid: a square kilometre in cells of 10 cm."""
SLACK = 1e-9
"""Distance by which grids err on the safe side [m], so that rounding never frees a blocked cell."""

Bounds = tuple[float, float, float, float]


class Window(NamedTuple):
    """A rectangle of cells; it is empty if an end is not beyond its start."""

    row: int
    column: int
    row_end: int
    column_end: int

    @property
    def empty(self) -> bool:
        """Whether it has no cells."""
        return self.row_end <= self.row or self.column_end <= self.column

    def grown(self, by: int) -> Window:
        """Return the window with `by` more cells on every side."""
        return Window(self.row - by, self.column - by, self.row_end + by, self.column_end + by)

    def clipped(self, shape: tuple[int, int]) -> Window:
        """Return the part that lies in a grid of this number of rows and columns."""
        row, column = max(self.row, 0), max(self.column, 0)
        return Window(row, column, min(self.row_end, shape[0]), min(self.column_end, shape[1]))

    def joined(self, other: Window) -> Window:
        """Return the smallest window that holds both."""
        if self.empty or other.empty:
            return other if self.empty else self
        return Window(
            min(self.row, other.row),
            min(self.column, other.column),
            max(self.row_end, other.row_end),
            max(self.column_end, other.column_end),
        )


EMPTY_WINDOW = Window(0, 0, 0, 0)


@dataclass(frozen=True)
class GridSpec:
    """Square cells in rows along x.

    Cell (row i, column j) is the closed square from `origin + (j, i) * cell` to `origin + (j + 1, i + 1) * cell`.
    """

    origin: tuple[float, float]
    """x and y of the lower left corner [m]."""
    cell: float
    """Side of a cell [m]."""
    shape: tuple[int, int]
    """Rows (along y) and columns (along x)."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.cell) and self.cell > 0.0):
            raise WorldError(f"grid cell {self.cell}; write a length above 0 in metres")
        if not all(math.isfinite(v) for v in self.origin):
            raise WorldError(f"grid origin {self.origin} must be two finite numbers")
        rows, columns = (int(n) for n in self.shape)
        if rows < 1 or columns < 1:
            raise WorldError(f"grid of {rows} x {columns} cells; at least one row and one column are needed")
        if rows * columns > MAX_CELLS:
            raise WorldError(
                f"grid of {rows} x {columns} cells of {self.cell:g} m is more than {MAX_CELLS:,}; write a larger cell"
            )
        object.__setattr__(self, "origin", (float(self.origin[0]), float(self.origin[1])))
        object.__setattr__(self, "cell", float(self.cell))
        object.__setattr__(self, "shape", (rows, columns))

    @staticmethod
    def covering(bounds: Bounds, cell: float) -> GridSpec:
        """Return the smallest grid that covers bounds (xmin, ymin, xmax, ymax), from their lower left corner on."""
        if not (math.isfinite(cell) and cell > 0.0):
            raise WorldError(f"grid cell {cell}; write a length above 0 in metres")
        x0, y0, x1, y1 = bounds
        rows, columns = (max(math.ceil((b - a - SLACK) / cell), 1) for a, b in ((y0, y1), (x0, x1)))
        return GridSpec((x0, y0), cell, (rows, columns))

    @property
    def bounds(self) -> Bounds:
        """xmin, ymin, xmax, ymax [m] of all cells together."""
        (x, y), (rows, columns) = self.origin, self.shape
        return x, y, x + columns * self.cell, y + rows * self.cell

    @property
    def window(self) -> Window:
        """All cells."""
        return Window(0, 0, *self.shape)

    def cells(self, points: npt.ArrayLike) -> IntArray:
        """Return the row and column (..., 2) of the cell in which each point (..., 2) lies, also beyond the grid."""
        points = np.asarray(points, dtype=np.float64)
        cells: IntArray = np.floor((points[..., ::-1] - self.origin[::-1]) / self.cell).astype(np.int64)
        return cells

    def centers(self, cells: npt.ArrayLike) -> FloatArray:
        """Return the centre (..., 2) [m] of each cell, given as row and column (..., 2)."""
        out: FloatArray = (np.asarray(cells)[..., ::-1] + 0.5) * self.cell + self.origin
        return out

    def all_centers(self) -> FloatArray:
        """Return the centre of every cell [m]; (rows, columns, 2)."""
        rows, columns = self.shape
        return self.centers(np.moveaxis(np.indices((rows, columns)), 0, -1))

    def contains(self, cells: npt.ArrayLike) -> BoolArray:
        """Return whether each cell (..., 2) lies in the grid; (...)."""
        cells = np.asarray(cells)
        return np.asarray(((cells >= 0) & (cells < self.shape)).all(axis=-1))


SpanArray = npt.NDArray[np.int32]
"""Rows of (row, first column, end column), in order; (S, 3)."""


def rasterise(footprint: Footprint, spec: GridSpec, radius: float = 0.0) -> SpanArray:
    """Return the cells that meet a footprint grown by a radius [m], as spans in order, each cell once."""
    return rasterise_all([footprint], spec, radius)[0]


def rasterise_all(footprints: Sequence[Footprint], spec: GridSpec, radius: float = 0.0) -> tuple[SpanArray, IntArray]:
    """Rasterise many footprints at once.

    Returns:
        The spans (S, 3) of one footprint after another, and where each begins, with S at the end (N + 1,).
    """
    if len(footprints) == 1:
        (only,) = footprints
        rings = len(only.ring_starts) - 1
        points, starts, group_starts = only.points, only.ring_starts, np.array([0, rings])
        radii = np.full(rings, only.radius + radius)
    else:
        points, starts, group_starts, rounding = Outlines.of(footprints)
        radii = np.repeat(rounding + radius, np.diff(group_starts))
    return rasterise_rings(points, starts, np.zeros(len(radii), dtype=np.int64), radii, group_starts, spec)


def rasterise_rings(
    points: FloatArray,
    ring_starts: IntArray,
    parts: IntArray,
    radii: FloatArray,
    group_starts: IntArray,
    spec: GridSpec,
) -> tuple[SpanArray, IntArray]:
    """Rasterise groups of rings; the arguments are those of the kernel `raster`, without the slack.

    All arrays become read-only, where they are not yet, so that the kernel is compiled for one kind of array alone.
    """
    radii = radii + SLACK
    for array in (points, ring_starts, parts, radii, group_starts):
        array.setflags(write=False)
    spans, span_starts = _kernels.raster(
        points, ring_starts, parts, radii, group_starts, *spec.origin, spec.cell, *spec.shape
    )
    spans.setflags(write=False)
    return spans, span_starts


def window_of(spans: SpanArray) -> Window:
    """Return the smallest window that contains spans (S, 3)."""
    if len(spans) == 0:
        return EMPTY_WINDOW
    return Window(*_kernels.window_of_spans(spans))


def filled(spans: SpanArray, spec: GridSpec) -> npt.NDArray[np.bool_]:
    """Return the cells of spans as a grid, true where covered; (rows, columns)."""
    out = np.zeros(spec.shape, dtype=np.bool_)
    for row, first, end in spans:
        out[row, first:end] = True
    return out
