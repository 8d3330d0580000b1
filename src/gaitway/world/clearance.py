"""Clearance: the distance of every cell from covered cells; and the connected components of free cells.

Kept beside general tools because it was measured to be worth it: 1080 x 1080 cells take 18.7 ms, SciPy's distance
transform 123 ms (README, Speed); and only the part around a moved obstacle is computed again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from gaitway.core.arrays import BoolArray, read_only
from gaitway.core.errors import WorldError
from gaitway.world import _clearance_kernels
from gaitway.world.grid import GridSpec, Window
from gaitway.world.occupancy import Occupancy

DistanceArray = npt.NDArray[np.float32]


class Clearance:
    """Distance from the middle of each cell to the middle of the nearest covered cell. This class is **mutable**.

    It follows an occupancy grid: after an edit of that, hand the window of changed cells to `update`. With a `reach`
    this takes time in proportion to the window, and leaves what computing anew would give.

    Attributes:
        spec: grid of the cells.
        reach: greatest distance [m]; infinity for no limit.
        distances: distances [m], 0 in covered cells. Read-only and always up to date; (rows, columns).
    """

    def __init__(self, occupancy: Occupancy, reach: float = math.inf, passing: Sequence[str] = ()) -> None:
        """Compute the clearance of an occupancy grid in which obstacles of the kinds `passing` do not block."""
        if not reach > 0.0:
            raise WorldError(f"clearance reach {reach}; write a length above 0 in metres, or infinity")
        self.spec, self.reach = occupancy.spec, float(reach)
        self._mask, self._bits = occupancy.mask, 0xFFFF & ~occupancy.bits(*passing)
        rows, columns = self.spec.shape
        self._limit = rows + columns if math.isinf(reach) else min(math.ceil(reach / self.spec.cell), rows + columns)
        self._halves = read_only(0.5 / np.maximum(np.arange(columns + 1), 1))
        self._distances: DistanceArray = np.empty(self.spec.shape, dtype=np.float32)
        self.distances = self._distances.view()
        self.distances.setflags(write=False)
        self._compute(self.spec.window)

    def update(self, changed: Window) -> Window:
        """Update after cells of the occupancy grid have changed; return the window whose distances may have changed.

        Args:
            changed: window that `Occupancy.replace` or `remove` returned, or `Occupancy.window` of an added obstacle.
        """
        if changed.empty:
            return changed
        window = changed.grown(self._limit).clipped(self.spec.shape)
        self._compute(window)
        return window

    def at(self, points: npt.ArrayLike) -> DistanceArray:
        """Return the distances [m] (...) of the cells in which points (..., 2) lie; 0 beyond the grid."""
        cells = self.spec.cells(points)
        inside = self.spec.contains(cells)
        row, column = np.moveaxis(np.where(inside[..., None], cells, 0), -1, 0)
        return np.where(inside, self._distances[row, column], np.float32(0.0))

    def _compute(self, target: Window) -> None:
        source = target.grown(self._limit).clipped(self.spec.shape)
        _clearance_kernels.clearance(
            self._mask,
            self._bits,
            source,
            target,
            self._limit,
            self._halves,
            self.spec.cell,
            self.reach,
            self._distances,
        )


@dataclass(frozen=True, eq=False)
class Components:
    """Connected components of free cells."""

    spec: GridSpec
    labels: npt.NDArray[np.int32]
    """0 in covered cells, else the number of the component; (rows, columns)."""
    count: int
    """Number of components; they are numbered 1 to `count`."""

    @staticmethod
    def of(occupancy: Occupancy, passing: Sequence[str] = ()) -> Components:
        """Find the components of an occupancy grid in which obstacles of the kinds `passing` do not block.

        Cells that share only a corner hang together, so that nothing is called cut off that a planner might reach.
        """
        free = (occupancy.mask & np.uint16(0xFFFF & ~occupancy.bits(*passing))) == 0
        labels, count = scipy.ndimage.label(free, structure=np.ones((3, 3)))
        labels.setflags(write=False)
        return Components(occupancy.spec, labels, int(count))

    def at(self, points: npt.ArrayLike) -> npt.NDArray[np.int32]:
        """Return the component (...) of points (..., 2); 0 where covered and beyond the grid."""
        cells = self.spec.cells(points)
        inside = self.spec.contains(cells)
        row, column = np.moveaxis(np.where(inside[..., None], cells, 0), -1, 0)
        return np.where(inside, self.labels[row, column], np.int32(0))

    def connected(self, start: npt.ArrayLike, goal: npt.ArrayLike, tolerance: float = 0.0) -> bool:
        """Return whether free cells connect a point (2,) with the surroundings of another, within a tolerance [m].

        It errs on the hopeful side: any cell that meets the disc around the goal will do.
        """
        label = int(self.at(start))
        if label == 0:
            return False
        spec, goal = self.spec, np.asarray(goal, dtype=np.float64)
        low, high = spec.cells(goal - tolerance), spec.cells(goal + tolerance)
        window = Window(int(low[0]), int(low[1]), int(high[0]) + 1, int(high[1]) + 1).clipped(spec.shape)
        if window.empty:
            return False
        part: BoolArray = self.labels[window.row : window.row_end, window.column : window.column_end] == label
        cells = np.argwhere(part) + np.array([window.row, window.column])
        off = np.maximum(np.abs(spec.centers(cells) - goal) - 0.5 * spec.cell, 0.0)
        return bool((np.hypot(off[:, 0], off[:, 1]) <= tolerance).any())
