"""The shortest free way of a disc from one place to another: how much a character has to turn at least."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from gaitway.audit.natural.way import wrapped
from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.world.grid import GridSpec
from gaitway.world.occupancy import Occupancy
from gaitway.world.world import World

RADII = (0.3, 0.2)
"""Radii of the disc [m]: the second where the first finds no way, for bodies are thinner than they are wide."""
_CELL, _MOST_CELLS = 0.1, 200_000
"""Side of a cell [m], and the number of cells above which they are made larger."""
_NEAR = 1.0
"""Greatest distance of a free cell from a start or goal that is not free [m]."""
_NEIGHBORS = ((0, 1), (1, 0), (1, 1), (1, -1))


def needed_turning(ways: Sequence[ShortestWays], start: FloatArray, goal: FloatArray) -> float:
    """Return the turning on the shortest way of the first that has one [deg]; NaN if there is none."""
    found = (way.turning(start, goal) for way in ways)
    return next((turning for turning in found if not np.isnan(turning)), np.nan)


class ShortestWays:
    """Shortest ways of a disc. What can be jumped over or ducked under does not block, nor do movers."""

    def __init__(self, world: World, radius: float = RADII[0]) -> None:
        x0, y0, x1, y1 = world.bounds
        cell = max(_CELL, float(np.sqrt((x1 - x0) * (y1 - y0) / _MOST_CELLS)))
        occupancy = Occupancy.of(world, cell, radius)
        self.spec: GridSpec = occupancy.spec
        self.free: BoolArray = (occupancy.mask & 1) == 0
        self._graph = _graph_of(self.free, cell)
        self._before: dict[int, IntArray] = {}

    def between(self, start: FloatArray, goal: FloatArray) -> FloatArray | None:
        """Return the corners of the shortest way from a start to a goal (2,) [m]; (N, 2), or None if there is none."""
        first, last = self._node(start), self._node(goal)
        if first is None or last is None:
            return None
        if last not in self._before:
            found = dijkstra(self._graph, directed=False, indices=last, return_predecessors=True)[1]
            self._before[last] = np.asarray(found)
        before, nodes = self._before[last], [first]
        while nodes[-1] != last:
            if (after := int(before[nodes[-1]])) < 0:
                return None
            nodes.append(after)
        columns = self.spec.shape[1]
        cells = np.array([divmod(node, columns) for node in nodes])
        return self._taut(np.vstack([start, self.spec.centers(cells)[1:-1], goal]))

    def turning(self, start: FloatArray, goal: FloatArray) -> float:
        """Return the sum of the turns on the shortest way [deg]; NaN if there is none."""
        corners = self.between(start, goal)
        if corners is None:
            return np.nan
        steps = np.diff(corners, axis=0)
        heading = np.arctan2(steps[:, 1], steps[:, 0])
        return float(np.degrees(np.abs(wrapped(np.diff(heading), 2.0 * np.pi))).sum())

    def _taut(self, points: FloatArray) -> FloatArray:
        """Leave out all points of a way that can be cut short; what remains are its corners."""
        kept, at = [0], 0
        while at < len(points) - 1:
            # the farthest point that is seen from here, found by halving: sight is lost once on a shortest way
            low, high = at + 1, len(points) - 1
            while low < high:
                middle = (low + high + 1) // 2
                low, high = (middle, high) if self._sees(points[at], points[middle]) else (low, middle - 1)
            kept.append(low)
            at = low
        return np.asarray(points[kept])

    def _sees(self, a: FloatArray, b: FloatArray) -> bool:
        count = max(int(np.ceil(2.0 * float(np.linalg.norm(b - a)) / self.spec.cell)), 1)
        cells = self.spec.cells(a + (b - a) * np.linspace(0.0, 1.0, count + 1)[1:-1, None])
        inside = self.spec.contains(cells)
        return bool(inside.all() and self.free[cells[:, 0], cells[:, 1]].all())

    def _node(self, point: FloatArray) -> int | None:
        """Return the free cell in which a point lies, or else the nearest one."""
        row, column = (int(v) for v in self.spec.cells(point))
        rows, columns = self.spec.shape
        reach = int(np.ceil(_NEAR / self.spec.cell))
        low, high = max(row - reach, 0), min(row + reach + 1, rows)
        left, right = max(column - reach, 0), min(column + reach + 1, columns)
        near = np.argwhere(self.free[low:high, left:right]) + np.array([low, left])
        if not len(near):
            return None
        i, j = (int(v) for v in near[np.argmin(((near - (row, column)) ** 2).sum(axis=1))])
        return i * columns + j


def _graph_of(free: BoolArray, cell: float) -> csr_matrix:
    """Return the graph of free cells that touch; corners are not cut."""
    rows, columns = free.shape
    numbers = np.arange(rows * columns).reshape(rows, columns)
    ends, lengths = [], []
    for down, right in _NEIGHBORS:
        a = (slice(0, rows - down), slice(max(-right, 0), columns - max(right, 0)))
        b = (slice(down, rows), slice(max(right, 0), columns - max(-right, 0)))
        both = free[a] & free[b]
        if down and right:
            beside = (slice(0, rows - down), slice(max(right, 0), columns - max(-right, 0)))
            below = (slice(down, rows), slice(max(-right, 0), columns - max(right, 0)))
            both &= free[beside] & free[below]
        ends.append(np.stack([numbers[a][both], numbers[b][both]]))
        lengths.append(np.full(int(both.sum()), cell * np.hypot(down, right)))
    (i, j), weights = np.concatenate(ends, axis=1), np.concatenate(lengths)
    return csr_matrix((weights, (i, j)), shape=(rows * columns, rows * columns))
