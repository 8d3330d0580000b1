"""The coarse level: a path over large cells to a distant goal, and sub-goals along it (Lau 2009, section 4.6).

Only regular obstacles block it; the places where it crosses special ones, which the library passes, are noted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, read_only
from gaitway.space._route_kernels import ACROSS, BORDER, CLOSED, OPEN, TOO_NEAR, Distances
from gaitway.space.fields import WorldFields
from gaitway.space.routes import RouteFields, RouteMap
from gaitway.tree.subgoals import _coarse_kernels as kernels
from gaitway.tree.subgoals._leg_kernels import CostLeft
from gaitway.world.grid import GridSpec, rasterise

CELL = 0.35
"""Size of a coarse cell, half that of the thesis, whose cells close doors; it is halved if such cells have no path and
there is one [m]."""
BEFORE, NEAR_GOAL = 6.0, 3.0
"""Distance along the path before a special obstacle, or before the goal, within which a sub-goal is annotated [m]."""
_AROUND = 0.5
"""Distance within which a place counts as on a special obstacle [m]."""
_AROUND_CORNERS = 1.2
"""Largest ratio of the path to a near place to the straight line."""
_STEPS: IntArray = read_only(np.array(
    [(0, 1), (1, 2), (1, 1), (2, 1), (1, 0), (2, -1), (1, -1), (1, -2), (0, -1), (-1, -2), (-1, -1), (-2, -1),
     (-1, 0), (-2, 1), (-1, 1), (-1, 2)]
))  # fmt: skip
"""Row and column of each step of a route field."""


class SubGoal(NamedTuple):
    """A sub-goal: a place to go to first."""

    place: tuple[float, float]
    """x, y [m]."""
    aim: tuple[float, float]
    """A place farther along the path, so that the character reaches the sub-goal facing what comes next [m]."""
    annotated: bool
    """Whether it lies just before a special obstacle or the goal."""


@dataclass(frozen=True, eq=False)
class CoarseWay:
    """A coarse path, pulled straight; N places, the first is the start."""

    places: FloatArray
    """x, y [m]; (N, 2)."""
    special: BoolArray
    """Whether each lies on a special obstacle; (N,)."""
    field: Distances
    """Distance to the goal from each coarse cell [m]; (rows, columns)."""
    spec: GridSpec
    """Grid of these cells."""
    remaining: float
    """Approximate length of the path, by that field [m]."""

    @cached_property
    def lengths(self) -> FloatArray:
        """Distance from the start to each place along the path [m]; (N,)."""
        steps = np.hypot(*np.diff(self.places, axis=0).T)
        return np.concatenate([[0.0], np.cumsum(steps)])

    @property
    def length(self) -> float:
        """Length of the path [m]."""
        return float(self.lengths[-1])

    def at(self, length: float) -> tuple[float, float]:
        """Return the point at a distance along the path [m]."""
        x, y = (float(np.interp(length, self.lengths, self.places[:, axis])) for axis in range(2))
        return x, y

    def left(self, sub_goal: SubGoal, about: float) -> CostLeft:
        """Return the largest distance to the goal of a character within a distance of a sub-goal [m]."""
        row, column = self.spec.cells(sub_goal.place)
        there = float(self.field[row, column]) if self.spec.contains((row, column)) else math.inf
        most = min(there, self.remaining) + _AROUND_CORNERS * about + 2.0 * self.spec.cell
        return CostLeft(self.field, read_only(np.array([*self.spec.origin, self.spec.cell, most])))

    def sub_goal(self, reach: float, beyond: float) -> SubGoal | None:
        """Return the sub-goal at a distance along the path, or just past the special obstacle that is there.

        None if it lies before a special obstacle that is near already: if that is not passed, nothing is gained.

        Args:
            reach: distance along the path [m].
            beyond: additional distance along the path at which to aim [m].
        """
        crossed = self.lengths[self.special]
        for length in crossed.tolist():  # in order, so that those that lie side by side are passed together
            if abs(length - reach) < _AROUND:
                reach = length + _AROUND
        barrier = crossed[crossed > reach].min(initial=math.inf)
        if barrier <= BEFORE:
            return None
        annotated = barrier - reach <= BEFORE or 0.0 < self.length - reach <= NEAR_GOAL
        return SubGoal(self.at(reach), self.at(min(reach + beyond, self.length)), bool(annotated))


@dataclass(frozen=True, eq=False)
class RegularMap(RouteMap):
    """A route map that special obstacles do not block."""

    @staticmethod
    def of_regular(fields: WorldFields, radius: float, cell: float) -> RegularMap:
        """Make the cells of a world, see `RouteMap.of`."""
        marked = RouteMap.of(fields, radius, cell)
        cells = np.where((marked.cells == ACROSS) | (marked.cells == TOO_NEAR), OPEN, marked.cells)
        cells.setflags(write=False)
        return RegularMap(marked.spec, cells, fields, radius, hopeful=False)

    def finer(self) -> RegularMap | None:
        """Return the same with cells of half the size; None if there are none."""
        half = 0.5 * self.spec.cell
        return self.of_regular(self.fields, self.radius, half) if half >= 0.99 * self.fields.spec.cell else None

    @cached_property
    def crossings(self) -> BoolArray:
        """Return the cells on special obstacles that the library passes; (rows, columns)."""
        out = np.zeros(self.spec.shape, np.bool_)
        for index in self.fields.run_ups:
            for row, first, end in rasterise(self.fields.world.obstacles[index].shape.footprint(), self.spec, _AROUND):
                out[row, first:end] = True
        return read_only(out)

    @cached_property
    def clear(self) -> BoolArray:
        """Return the cells that paths may be pulled straight over; (rows, columns)."""
        inner = self.cells[BORDER:-BORDER, BORDER:-BORDER]
        return read_only((inner != CLOSED) & ~self.crossings)


class CoarsePlanner:
    """Planner of coarse paths in a world. **Mutable**: it keeps route fields."""

    def __init__(self, fields: WorldFields, radius: float, cell: float = CELL) -> None:
        """Prepare a world.

        Args:
            fields: the world.
            radius: radius of a disc around the root that every body covers [m] (`routes.thinnest`).
            cell: size of a coarse cell [m].
        """
        self._routes = RouteFields(RegularMap.of_regular(fields, radius, cell))

    @property
    def map(self) -> RegularMap:
        """Its cells, which become smaller if paths are not found."""
        out = self._routes.map
        assert isinstance(out, RegularMap)
        return out

    def way(self, start: tuple[float, float], goal: tuple[float, float], tolerance: float) -> CoarseWay | None:
        """Find the path to within a tolerance of a goal; None if there is none.

        Args:
            start: x, y [m].
            goal: x, y [m].
            tolerance: tolerance of the goal [m].
        """
        field = self._routes.field(goal, tolerance, start)
        spec = self.map.spec
        row, column = (int(n) for n in spec.cells(start))
        if not spec.contains((row, column)) or math.isinf(field.lengths[row, column]):
            return None
        x, y, side = *spec.origin, spec.cell
        places = kernels.straight_way(
            field.ways, field.lengths, self.map.clear, _STEPS, (start[1] - y) / side, (start[0] - x) / side,
            (goal[1] - y) / side, (goal[0] - x) / side,
        )  # fmt: skip
        inside = np.clip(places.astype(np.int64), 0, np.array(spec.shape) - 1)
        special = self.map.crossings[inside[:, 0], inside[:, 1]]
        remaining = float(field.lengths[row, column]) + side
        return CoarseWay(
            np.column_stack([x + side * places[:, 1], y + side * places[:, 0]]), special, field.lengths, spec, remaining
        )
