"""Atlas: all sheets of a place, laid out side by side in one plane.

In the plane of an atlas nothing lies over anything else. So grids, routes, searches and traffic that know floor plans
alone serve places with any number of levels. A point of the place has one point in the plane for each sheet that knows
the ground there: one in the core of the sheet that it belongs to, and others in the margins of its neighbours. Who ends
a step in a margin goes on from the same ground in the core (`home`).

The first sheet lies where it is in the place. All others are shifted by whole cells.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, read_only
from gaitway.core.errors import WorldError
from gaitway.world.grid import GridSpec
from gaitway.world.levels.sheets import Sheet, WalkableSurface
from gaitway.world.terrain import Terrain

_GAP = 1.0
"""Least distance between sheets in the plane [m], so that nobody on one is near to anything on another."""


@dataclass(frozen=True, eq=False)
class Atlas:
    """The sheets of a walkable surface in one plane."""

    surface: WalkableSurface
    spec: GridSpec
    """Grid of the plane; its cells are as large as those of the surface."""
    offsets: FloatArray
    """How far each sheet is shifted: its place in the plane less its place in the world [m]; (S, 2)."""
    sheets: npt.NDArray[np.int32]
    """Sheet of each cell, -1 between sheets; (rows, columns)."""
    spans: npt.NDArray[np.int32]
    """Open span of each cell, -1 where there is no ground; (rows, columns)."""
    home: npt.NDArray[np.int32]
    """Sheet to whose core the ground of each cell belongs, -1 where there is none; (rows, columns)."""

    @staticmethod
    def of(surface: WalkableSurface) -> Atlas:
        """Lay out the sheets of a surface: the first stays, the others stand in rows beside it."""
        cell, gap = surface.open.spec.cell, math.ceil(_GAP / surface.open.spec.cell)
        corners = _layout(surface.sheets, gap)
        ends = [(r + s.core.shape[0], c + s.core.shape[1]) for (r, c), s in zip(corners, surface.sheets, strict=True)]
        low_row, low_column = (min(corner[axis] for corner in corners) - gap for axis in (0, 1))
        high_row, high_column = (max(end[axis] for end in ends) + gap for axis in (0, 1))
        x, y = surface.open.spec.origin
        spec = GridSpec(
            (x + low_column * cell, y + low_row * cell), cell, (high_row - low_row, high_column - low_column)
        )
        numbers, spans, home = (np.full(spec.shape, -1, np.int32) for _ in range(3))
        offsets = np.empty((len(corners), 2))
        for (row, column), sheet in zip(corners, surface.sheets, strict=True):
            rows, columns = sheet.core.shape
            part = slice(row - low_row, row - low_row + rows), slice(column - low_column, column - low_column + columns)
            there = sheet.spans >= 0
            numbers[part] = np.where(there, sheet.number, numbers[part])
            spans[part] = np.where(there, sheet.spans, spans[part])
            home[part] = np.where(there, surface.owners[sheet.spans], home[part])
            offsets[sheet.number] = (column - sheet.window.column) * cell, (row - sheet.window.row) * cell
        for array in (numbers, spans, home):
            array.setflags(write=False)
        return Atlas(surface, spec, read_only(offsets), numbers, spans, home)

    @cached_property
    def ground(self) -> Terrain:
        """The heights of all sheets as terrain: at a corner of cells, the mean of those around it.

        Between sheets it goes on level. What it is at edges, where cells are closed, means nothing.
        """
        heights = np.where(self.spans >= 0, self.surface.open.heights[self.spans], np.nan)
        total, count = np.zeros(np.add(self.spec.shape, 1)), np.zeros(np.add(self.spec.shape, 1))
        rows, columns = self.spec.shape
        for i in (0, 1):
            for j in (0, 1):
                total[i : i + rows, j : j + columns] += np.nan_to_num(heights)
                count[i : i + rows, j : j + columns] += ~np.isnan(heights)
        known = count > 0
        nearest = scipy.ndimage.distance_transform_edt(~known, return_distances=False, return_indices=True)
        means = np.where(known, total / np.maximum(count, 1.0), 0.0)
        return Terrain(means[tuple(nearest)], self.spec.cell, self.spec.origin)

    @cached_property
    def closed(self) -> BoolArray:
        """Where there is no ground, or an edge of it or of the sheet: nobody may walk there; (rows, columns)."""
        links, spans = self.surface.open.links, self.spans
        rows, columns = self.spec.shape
        rim = np.full((rows + 2, columns + 2), -1, np.int64)
        rim[1:-1, 1:-1] = spans
        closed = spans < 0
        for side, (row, column) in enumerate(((0, 1), (1, 0), (0, -1), (-1, 0))):
            beside = rim[1 + row : 1 + row + rows, 1 + column : 1 + column + columns]
            wanted = links[spans, side]
            closed |= (wanted < 0) | (beside != wanted)
            # the cell diagonally beside must be the one to which both ways around the corner lead
            after = (side + 1) & 3
            i, j = ((1, 1), (1, -1), (-1, -1), (-1, 1))[side]
            corner = rim[1 + i : 1 + i + rows, 1 + j : 1 + j + columns]
            closed |= (links[wanted, after] < 0) | (corner != links[wanted, after])
        return read_only(closed)

    def to_world(self, points: npt.ArrayLike) -> FloatArray:
        """Return where points (..., 2) of the plane are in the place [m]; (..., 3).

        Raises:
            WorldError: if a point is on no sheet.
        """
        points = np.asarray(points, dtype=np.float64)
        sheet = self.sheet_at(points)
        if (sheet < 0).any():
            raise WorldError("a point of the plane of an atlas is on no sheet")
        return np.concatenate([points - self.offsets[sheet], self.ground.height(points)[..., None]], axis=-1)

    def sheet_at(self, points: npt.ArrayLike) -> IntArray:
        """Return the sheet of points (..., 2) of the plane, -1 for none; (...)."""
        cells = self.spec.cells(points)
        inside = self.spec.contains(cells)
        row, column = np.moveaxis(np.where(inside[..., None], cells, 0), -1, 0)
        return np.where(inside, self.sheets[row, column], -1).astype(np.int64)

    def from_world(self, point: npt.ArrayLike) -> FloatArray | None:
        """Return the point of the plane (2,) for a point of the place (3,), in the core of its sheet.

        None if nobody can stand near it.
        """
        where = np.asarray(point, dtype=np.float64)
        span = self.surface.open.nearest(where)
        if span < 0:
            return None
        sheet = int(self.surface.owners[span])
        middle = self.surface.open.points(span)[:2]
        half = 0.499 * self.spec.cell
        return np.asarray(np.clip(where[:2], middle - half, middle + half) + self.offsets[sheet])

    def homeward(self, points: npt.ArrayLike) -> FloatArray:
        """Return points (..., 2) of the plane, those in a margin moved to the core of the sheet that they belong to."""
        points = np.asarray(points, dtype=np.float64)
        sheet, cells = self.sheet_at(points), self.spec.cells(points)
        row, column = np.moveaxis(np.where((sheet >= 0)[..., None], cells, 0), -1, 0)
        target = np.where(sheet >= 0, self.home[row, column], -1)
        moves = (sheet >= 0) & (target >= 0)
        shift = self.offsets[np.where(moves, target, 0)] - self.offsets[np.where(moves, sheet, 0)]
        return points + np.where(moves[..., None], shift, 0.0)

    def aliases(self, point: npt.ArrayLike) -> list[tuple[int, FloatArray]]:
        """Return all sheets that know the ground at a point (2,) of the plane, and where it is on each of them."""
        where = np.asarray(point, dtype=np.float64)
        own = int(self.sheet_at(where))
        if own < 0:
            return []
        row, column = self.spec.cells(where)
        span = self.spans[row, column]
        place = where - self.offsets[own]
        cell = self.surface.open.cells[span]
        i, j = divmod(int(cell), self.surface.open.spec.shape[1])
        found = []
        for sheet in self.surface.sheets:
            r, c = i - sheet.window.row, j - sheet.window.column
            if 0 <= r < sheet.core.shape[0] and 0 <= c < sheet.core.shape[1] and sheet.spans[r, c] == span:
                found.append((sheet.number, place + self.offsets[sheet.number]))
        return found


def _layout(sheets: tuple[Sheet, ...], gap: int) -> list[tuple[int, int]]:
    """Return row and column of the lower left corner of each sheet in the plane [cells of the surface].

    The first sheet stays. The others stand in rows to its right, the tallest first, about as high together as it is.
    """
    first = sheets[0]
    corners = [(first.window.row, first.window.column)] * len(sheets)
    area = sum((s.core.shape[0] + gap) * (s.core.shape[1] + gap) for s in sheets[1:])
    width = max([round(math.sqrt(1.3 * area)), *(s.core.shape[1] + gap for s in sheets[1:])])
    left = first.window.column_end + gap
    row, column, tallest = first.window.row, left, 0
    for sheet in sorted(sheets[1:], key=lambda s: (-s.core.shape[0], s.number)):
        rows, columns = sheet.core.shape
        if column + columns > left + width:
            row, column, tallest = row + tallest + gap, left, 0
        corners[sheet.number] = (row, column)
        column += columns + gap
        tallest = max(tallest, rows)
    return corners
