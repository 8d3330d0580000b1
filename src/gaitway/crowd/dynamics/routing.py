"""Routes of a crowd around walls: one distance field for each goal that many share, a search for each other goal."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from gaitway.core.arrays import FloatArray, IntArray, SingleArray, read_only
from gaitway.crowd.dynamics import _route_kernels
from gaitway.crowd.dynamics._route_kernels import Cells, SmallInts
from gaitway.crowd.dynamics.walls import Walls
from gaitway.space import distances
from gaitway.space._route_kernels import BORDER, CLOSED, OPEN, WIDE_OPEN, spread
from gaitway.space.routes import steps_of
from gaitway.world.footprint import Outlines
from gaitway.world.grid import GridSpec

CELL = 0.1
"""Side of a cell in places that are not too large for it [m]."""
MOST_CELLS = 1_500_000
"""Most cells of a grid; the cells of larger places are larger."""
SHARED = 12
"""People with one goal from which on they share a field, and are not searched for one by one."""
MEMORY = 400_000_000
"""Greatest size of the fields that are kept [bytes]."""
Goal = tuple[float, float, float, float, float]
"""xmin, ymin, xmax, ymax and reach of a goal [m]."""


class GoalField(NamedTuple):
    """Ways to one goal."""

    distances: SingleArray
    """Distance of each cell from the goal, infinity where there is no way [cells]; (N,)."""
    ways: Cells
    """Step by which each cell is reached from the goal; (N,)."""
    anchors: SmallInts
    """Where somebody in a cell walks to in a straight line, -1 where that is not known yet; (N,)."""


class CrowdRouter:
    """Grid of a place, and the ways in it. This class is **mutable**: it keeps the fields that were used last."""

    def __init__(self, walls: Walls, radius: float) -> None:
        """Prepare a place.

        Args:
            walls: the walls.
            radius: least distance of people's middles from walls [m].
        """
        x0, y0, x1, y1 = walls.bounds
        cell = max(CELL, float(np.sqrt((x1 - x0) * (y1 - y0) / MOST_CELLS)))
        self.spec = GridSpec.covering(walls.bounds, cell)
        near = distances.near_squares(Outlines.of([o for o in walls.outlines if not o.empty]), self.spec)
        squares = distances.squares([near], walls.bounds, self.spec)
        # a cell that a wall meets is closed, however large it is: ways do not leak through thin walls
        least = max(radius, 0.5 * cell)
        inner = np.where(squares >= np.float32(least * least), OPEN, CLOSED).astype(np.uint8)
        cells = np.pad(inner, BORDER)
        cells[scipy.ndimage.minimum_filter(cells == OPEN, 2 * BORDER + 1, mode="constant")] = WIDE_OPEN
        self.width = cells.shape[1]
        self.cells: Cells = read_only(cells.reshape(-1))  # type: ignore[type-var]
        self.squares: SingleArray = read_only(np.pad(squares, BORDER).reshape(-1))
        room = (np.sqrt(self.squares) - (least + 1.5 * cell)) / (0.5 * cell)
        self.strides: SmallInts = read_only(np.maximum(room, 0.0).astype(np.int32))  # type: ignore[type-var]
        self.place = read_only(
            np.array([self.spec.origin[0] - BORDER * cell, self.spec.origin[1] - BORDER * cell, cell])
        )
        self.steps, self._lengths = steps_of(self.width)
        self.parts = scipy.ndimage.label(cells != CLOSED, structure=np.ones((3, 3)))[0]
        self._fields: OrderedDict[Goal, GoalField] = OrderedDict()

    def field(self, goal: Goal) -> GoalField:
        """Return the ways to a goal."""
        found = self._fields.get(goal)
        if found is None:
            far, ways, _ = spread(self.cells, self._seeds(goal), -1, 1.0, 0.0, self.steps, self._lengths, 1)
            found = GoalField(far, ways, np.full(len(self.cells), -1, np.int32))
            self._fields[goal] = found
            size = sum(array.nbytes for array in found)
            while len(self._fields) > max(MEMORY // size, 1):
                self._fields.popitem(last=False)
        self._fields.move_to_end(goal)
        return found

    def plan(
        self,
        who: IntArray,
        positions: FloatArray,
        goals: FloatArray,
        reaches: FloatArray,
        shares: FloatArray,
        side: float,
        corners: FloatArray,
        counts: SmallInts,
    ) -> None:
        """Write the corners of the ways of people.

        Args:
            who: people; (W,).
            positions: places of all people [m]; (P, 2).
            goals: xmin, ymin, xmax, ymax of each goal [m]; (P, 4).
            reaches: distance from the goal at which one has arrived [m]; (P,).
            shares: place of each person in gaps (0 to 1); (P,).
            side: 1 to keep to the right, -1 to the left.
            corners: receives corners [m]; (P, `MOST_CORNERS`, 2).
            counts: receives their numbers, -1 where there is no way; (P,).
        """
        members: dict[Goal, list[int]] = {}
        for person, row in zip(who.tolist(), np.column_stack([goals[who], reaches[who]]).tolist(), strict=True):
            members.setdefault((row[0], row[1], row[2], row[3], row[4]), []).append(person)
        single: list[int] = []
        for goal, people in sorted(members.items()):
            wide = max(goal[2] - goal[0], goal[3] - goal[1]) > 1.0
            if len(people) < SHARED and goal not in self._fields and not wide:
                single += people
                continue
            field = self.field(goal)
            _route_kernels.corners_of(
                self.cells,
                self.strides,
                self.squares,
                self.width,
                field.ways,
                self.steps,
                field.distances,
                field.anchors,
                self.place,
                np.array(people),
                positions,
                shares,
                side,
                corners,
                counts,
            )
        if single:
            middles = 0.5 * (goals[:, :2] + goals[:, 2:])
            _route_kernels.single_ways(
                self.cells,
                self.strides,
                self.squares,
                self.width,
                self.steps,
                self.place,
                np.array(sorted(single)),
                positions,
                middles,
                shares,
                side,
                corners,
                counts,
            )

    def part(self, points: npt.ArrayLike) -> IntArray:
        """Return the connected part of the place that each point (N, 2) lies in or is next to; 0 for none."""
        points = np.asarray(points, dtype=np.float64).reshape(-1, 2)
        grid, (rows, columns) = self.parts, self.parts.shape
        row, column = np.moveaxis(self.spec.cells(points), -1, 0) + BORDER
        found = np.zeros(len(points), dtype=np.int64)
        for reach in range(5):  # the nearest ring of cells in which there is any
            for dy in range(-reach, reach + 1):
                for dx in range(-reach, reach + 1):
                    i, j = np.clip(row + dy, 0, rows - 1), np.clip(column + dx, 0, columns - 1)
                    found = np.where(found == 0, grid[i, j], found)
        return found

    def _seeds(self, goal: Goal) -> IntArray:
        """Return the open cells in a goal; if there are none, those nearest to it."""
        x0, y0, x1, y1, reach = goal
        cell = self.place[2]
        low = np.floor((np.array([x0, y0]) - reach - self.place[:2]) / cell).astype(int) - 1
        high = np.ceil((np.array([x1, y1]) + reach - self.place[:2]) / cell).astype(int) + 1
        rows = len(self.cells) // self.width
        for grown in (0, 4, 16, 64):
            i = np.arange(max(low[1] - grown, 0), min(high[1] + grown, rows))
            j = np.arange(max(low[0] - grown, 0), min(high[0] + grown, self.width))
            x, y = self.place[0] + (j + 0.5) * cell, self.place[1] + (i + 0.5) * cell
            away = np.hypot(
                np.maximum(np.maximum(x0 - x, x - x1), 0.0), np.maximum(np.maximum(y0 - y, y - y1), 0.0)[:, None]
            )
            index = i[:, None] * self.width + j
            open_ones = self.cells[index] != CLOSED
            if not open_ones.any():
                continue
            within = open_ones & (away <= max(reach * 0.7, 0.51 * cell))
            if not within.any():
                within = open_ones & (away <= away[open_ones].min() + 0.5 * cell)
            return np.ascontiguousarray(index[within], dtype=np.int64)
        return np.empty(0, np.int64)
