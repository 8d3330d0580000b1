"""Regions that trees are grown in: any set of square cells in the frame of a character at the origin."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import BoolArray, FloatArray, owned
from gaitway.core.errors import TreeError
from gaitway.world.grid import GridSpec

CELL = 0.28
"""Default cell size [m]; the thesis used 14 to 28 cm."""
_LONGEST = 1e5
"""Largest length of a region [m]."""
_MOST_CELLS = 5_000
"""Largest number of cells from one side of a region to the other."""


@dataclass(frozen=True, eq=False)
class Region:
    """Cells that a tree may cover. The character stands at (0, 0) and faces +X."""

    spec: GridSpec
    inside: BoolArray
    """Whether each cell belongs to the region; (rows, columns)."""

    def __post_init__(self) -> None:
        inside = owned(self.inside, "region", self.spec.shape, np.bool_, TreeError)
        object.__setattr__(self, "inside", inside)
        if not inside.any():
            raise TreeError("region has no room: it holds no cell; make it larger or its cells smaller")
        if not self.holds((0.0, 0.0)):
            raise TreeError("region has no room at (0, 0), where the character stands; make it include the origin")

    def __len__(self) -> int:
        """Return the number of cells."""
        return int(self.inside.sum())

    @property
    def place(self) -> FloatArray:
        """Lower left corner (x, y) [m] and cells in a metre, for kernels; (3,)."""
        return owned((*self.spec.origin, 1.0 / self.spec.cell), "place", (3,))

    def holds(self, point: tuple[float, float]) -> bool:
        """Return whether a point is in one of its cells."""
        (x, y), cell = self.spec.origin, self.spec.cell
        row, column = math.floor((point[1] - y) / cell), math.floor((point[0] - x) / cell)
        rows, columns = self.spec.shape
        return 0 <= row < rows and 0 <= column < columns and bool(self.inside[row, column])

    def points(self, rng: np.random.Generator, count: int) -> FloatArray:
        """Draw points uniformly from the region; (count, 2)."""
        rows, columns = np.nonzero(self.inside)
        chosen = rng.integers(len(rows), size=count)
        corners = np.column_stack([columns[chosen], rows[chosen]])
        out: FloatArray = np.asarray(self.spec.origin) + self.spec.cell * (corners + rng.random((count, 2)))
        return out

    @staticmethod
    def disc(radius: float, center: tuple[float, float] = (0.0, 0.0), cell: float = CELL) -> Region:
        """Make the region of all cells whose centre is in a disc [m]."""
        _check_length("radius", radius)
        spec = _spec(np.array(center) - radius, np.array(center) + radius, cell)
        x, y = _middles(spec)
        return Region(spec, np.hypot(x - center[0], y - center[1]) <= radius)

    @staticmethod
    def half_disc(radius: float, cell: float = CELL) -> Region:
        """Make the region ahead of the character within a radius, as the thesis draws it, and its own place [m]."""
        _check_length("radius", radius)
        spec = _spec(np.array([-cell, -radius]), np.array([radius, radius]), cell)
        x, y = _middles(spec)
        return Region(spec, (np.hypot(x, y) <= radius) & (x > -cell))

    @staticmethod
    def polygon(points: npt.ArrayLike, cell: float = CELL) -> Region:
        """Make the region of all cells whose centre is inside a polygon, by the even-odd rule; corners (P, 2) [m]."""
        corners: FloatArray = owned(points, "polygon", (None, 2), error=TreeError)
        if len(corners) < 3:
            raise TreeError(f"polygon of {len(corners)} points; give three or more")
        spec = _spec(corners.min(axis=0), corners.max(axis=0), cell)
        x, y = _middles(spec)
        inside = np.zeros(spec.shape, np.bool_)
        for (ax, ay), (bx, by) in zip(np.roll(corners, 1, axis=0), corners, strict=True):
            if ay != by:
                inside ^= ((ay > y) != (by > y)) & (x < ax + (y - ay) * (bx - ax) / (by - ay))
        return Region(spec, inside)

    @staticmethod
    def mask(inside: npt.ArrayLike, origin: tuple[float, float], cell: float = CELL) -> Region:
        """Make a region of any cells: (rows along y, columns along x), with the lower left corner at `origin` [m]."""
        cells = np.asarray(inside, dtype=np.bool_)
        if cells.ndim != 2 or not cells.size:
            raise TreeError(f"region mask has shape {cells.shape}; give rows and columns")
        return Region(GridSpec(origin, cell, (cells.shape[0], cells.shape[1])), cells)


def _check_length(name: str, value: float) -> None:
    if not 0.0 < value <= _LONGEST:
        raise TreeError(f"{name} {value:g} m of a region; write a length above 0 and up to {_LONGEST:g}")


def _spec(low: FloatArray, high: FloatArray, cell: float) -> GridSpec:
    """Return whole cells around a box. The origin is a cell's centre, so a straight path is not between two cells."""
    _check_length("cell", cell)
    most = float((np.asarray(high) - low).max()) / cell
    if not most <= _MOST_CELLS:
        raise TreeError(f"a region of {most:.3g} cells from side to side; at most {_MOST_CELLS:,}: write larger cells")
    first, last = np.floor(low / cell + 0.5).astype(int), np.ceil(high / cell + 0.5).astype(int)
    columns, rows = (int(n) for n in np.maximum(last - first, 1))
    return GridSpec(((float(first[0]) - 0.5) * cell, (float(first[1]) - 0.5) * cell), cell, (rows, columns))


def _middles(spec: GridSpec) -> tuple[FloatArray, FloatArray]:
    """Return the centres of cells: x (1, columns) and y (rows, 1) [m]."""
    rows, columns = spec.shape
    x: FloatArray = spec.origin[0] + spec.cell * (np.arange(columns, dtype=np.float64) + 0.5)
    y: FloatArray = spec.origin[1] + spec.cell * (np.arange(rows, dtype=np.float64) + 0.5)
    return x[None, :], y[:, None]
