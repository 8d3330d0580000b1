"""Route fields: the distance to a goal around obstacles; all characters with the same goal share one field.

An optimistic field never claims more than the shortest path of any body. A cell is open if the thinnest body can have
its root in some point of it. Special obstacles that the library passes are open. Steps may cut corners, and the excess
of steps to sixteen neighbours over the straight line is subtracted. Optimistic paths leak through thin walls, so other
fields count a cell as open only if there is room in most of it. Those know of areas too (`space.areas`): their lengths
are what the way costs, in metres of the cheapest ground. An optimistic field leaves areas out, so it stays optimistic.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from gaitway.core.arrays import BoolArray, IntArray, read_only
from gaitway.library.body_discs import BodyDiscs
from gaitway.space import _route_kernels
from gaitway.space._dear_route_kernels import spread_dear
from gaitway.space._route_kernels import ACROSS, BORDER, CLOSED, OPEN, STEPS, TOO_NEAR, WIDE_OPEN, Cells, Distances
from gaitway.space.fields import WorldFields
from gaitway.world.grid import GridSpec, rasterise

CELL, COARSEST = 0.2, 0.3
"""Cell size of a field in small worlds and in large ones, or as near to it as the world's fields allow [m]."""
CELLS = 20_000
"""Number of cells up to which they have the smaller size."""
KEPT = 64
"""Number of fields that are kept."""
SLACK, MORE = 1.5, 4.0
"""How far beyond the start a field is computed: as a factor, and in addition [m]."""
_CROOKED = {16: 0.9731, 8: 0.9238}
"""Least ratio of the straight line to the shortest path in steps to 16 or 8 neighbours: the cosine of half the widest
angle between steps."""


def thinnest(discs: BodyDiscs) -> float:
    """Return the radius of a disc around the root that the body covers at any time of any action [m]."""
    inner = []
    for window in range(len(discs.window_bounds)):
        part = discs.timed[discs.timed_starts[window] : discs.timed_starts[window + 1]]
        away = np.hypot(*(part[:, :2] - discs.window_poses[window, :2]).T)
        inner.append(float((part[:, 2] - away).max(initial=0.0)))
    return max(min(inner, default=0.0), 0.0)


class RouteField(NamedTuple):
    """Paths to one goal; arrays are read-only."""

    lengths: Distances
    """Least length of a path from anywhere in each cell, infinity if there is none [m]; (rows, columns)."""
    ways: Cells
    """Step by which each cell is reached from the goal (`_route_kernels.direction_of`); (rows, columns)."""
    known: float
    """The largest length that is known [m]; cells farther away have this one."""


@dataclass(frozen=True, eq=False)
class RouteMap:
    """The cells of route fields: where roots can be."""

    spec: GridSpec
    """Grid of the cells, without the border."""
    cells: Cells
    """Kind of each cell (`_route_kernels`), with a border; (rows + 2 `BORDER`, columns + 2 `BORDER`)."""
    fields: WorldFields
    radius: float
    """Radius of a disc around the root that every body covers [m]."""
    hopeful: bool
    """Whether a cell is open if a root can be in any point of it, so that no path is too long."""
    neighbors: int = STEPS
    """Number of neighbours that steps lead to: 16, or 8 for less exact fields in half the time."""

    @staticmethod
    def of(
        fields: WorldFields,
        radius: float = 0.0,
        cell: float | None = None,
        *,
        hopeful: bool = False,
        neighbors: int = STEPS,
    ) -> RouteMap:
        """Make the cells of a world.

        Args:
            fields: the world.
            radius: radius of a disc around the root that every body covers [m] (`thinnest`).
            cell: preferred cell size [m]; None chooses it by the size of the world.
            hopeful: whether cells are open where a root can be in any point of them, and not only in most of it.
            neighbors: cells that a step leads to, 16 or 8.
        """
        free, side = _free(fields, radius), fields.spec.cell
        if cell is None:
            cell = min(max(side * math.sqrt(free.size / CELLS), CELL), COARSEST)
        size = max(round(cell / side), 1)
        rows, columns = (-(-n // size) for n in free.shape)
        blocks = (rows, size, columns, size)
        room = ((0, rows * size - free.shape[0]), (0, columns * size - free.shape[1]))
        shares = np.pad(free, room).reshape(blocks).mean(axis=(1, 3))
        spec = GridSpec(fields.spec.origin, size * side, (rows, columns))
        if not hopeful:  # a thin wall must not be lost in large cells, or it would seem that one can walk through it
            shares[~np.pad(_free(fields, 0.0), room).reshape(blocks).all(axis=(1, 3))] = 0.0
        inner = np.where(shares > (0.0 if hopeful else 0.5), OPEN, CLOSED).astype(np.uint8)
        _mark_passages(inner, fields, spec)
        cells = np.pad(inner, BORDER)
        cells[scipy.ndimage.minimum_filter(cells == OPEN, 2 * BORDER + 1, mode="constant")] = WIDE_OPEN
        cells.setflags(write=False)
        return RouteMap(spec, cells, fields, radius, hopeful, neighbors)

    def finer(self) -> RouteMap | None:
        """Return the same with cells of half the size; None if there are none."""
        half = 0.5 * self.spec.cell
        fits = half >= 0.99 * self.fields.spec.cell
        if not fits:
            return None
        return RouteMap.of(self.fields, self.radius, half, hopeful=self.hopeful, neighbors=self.neighbors)

    def field(self, goal: tuple[float, float], tolerance: float, start: npt.ArrayLike | None = None) -> RouteField:
        """Compute the paths to within a tolerance of a goal.

        Args:
            goal: x and y [m].
            tolerance: tolerance of the goal [m].
            start: x and y of the start [m]; the field then ends somewhat beyond it. None computes all.
        """
        spec, width = self.spec, self.cells.shape[1]
        seeds = self._seeds(goal, tolerance)
        target = -1
        if start is not None and spec.contains(spec.cells(start)):
            row, column = spec.cells(start)
            target = int((row + BORDER) * width + column + BORDER)
        steps, step_lengths = self._steps
        if self.fields.areas and not self.hopeful:
            return self._dear_field(seeds)
        distances, ways, limit = _route_kernels.spread(
            self.cells.reshape(-1),
            seeds,
            target,
            SLACK,
            MORE / spec.cell,
            steps,
            step_lengths,
            STEPS // self.neighbors,
        )
        diagonal, straight = math.sqrt(2.0) * spec.cell, _CROOKED[self.neighbors]
        lengths, inner_ways = _route_kernels.lengths_of(distances, ways, width, limit, straight * spec.cell, diagonal)
        lengths.setflags(write=False)
        inner_ways.setflags(write=False)
        known = math.inf if math.isinf(limit) else (straight * limit - math.sqrt(2.0)) * spec.cell
        return RouteField(lengths, inner_ways, known)

    def _dear_field(self, seeds: IntArray) -> RouteField:
        """Compute the cheapest ways in a world with areas; lengths are those of the cheapest ground that cost as much.

        Special obstacles count as open ground.
        """
        spec, width, areas = self.spec, self.cells.shape[1], self.fields.areas
        steps, step_lengths = self._steps
        turns = np.array([_step_way(k) for k in range(STEPS)])
        (x, y), side = spec.origin, spec.cell
        grid = np.array([x - BORDER * side, y - BORDER * side, side])
        distances, ways = spread_dear(
            self.cells.reshape(-1),
            seeds,
            steps,
            step_lengths,
            turns,
            STEPS // self.neighbors,
            areas.arrays,
            grid,
            width,
        )
        straight, diagonal = _CROOKED[self.neighbors], math.sqrt(2.0) * side
        lengths, inner_ways = _route_kernels.lengths_of(distances, ways, width, math.inf, straight * side, diagonal)
        lengths.setflags(write=False)
        inner_ways.setflags(write=False)
        return RouteField(lengths, inner_ways, math.inf)

    def _seeds(self, goal: tuple[float, float], tolerance: float) -> IntArray:
        """Return the open cells that meet the disc around a goal, in the grid with a border."""
        (x, y), side = self.spec.origin, self.spec.cell
        return _route_kernels.disc_seeds(
            self.cells.reshape(-1), self.cells.shape[1], (goal[0] - x) / side + BORDER, (goal[1] - y) / side + BORDER,
            tolerance / side,
        )  # fmt: skip

    @cached_property
    def _steps(self) -> tuple[IntArray, Distances]:
        return steps_of(self.cells.shape[1])


def _step_way(step: int) -> tuple[float, float]:
    """Return the exact direction of a step, of length 1."""
    around = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))
    x, y = around[step // 2]
    if step % 2:
        x, y = x + around[(step // 2 + 1) % 8][0], y + around[(step // 2 + 1) % 8][1]
    return x / math.hypot(x, y), y / math.hypot(x, y)


def steps_of(width: int) -> tuple[IntArray, Distances]:
    """Return steps and their lengths, as `_route_kernels.spread` takes them, in a grid with so many cells in a row."""
    around = np.array([(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)])
    after = np.roll(around, -1, axis=0)
    steps, offsets = np.zeros((STEPS, 3, 2), dtype=np.int64), np.array([width, 1])
    steps[0::2, 0] = around
    steps[1::2] = np.stack([around + after, around, after], axis=1)
    lengths = np.hypot(*np.moveaxis(steps[:, 0], -1, 0)).astype(np.float32)
    return read_only(steps @ offsets), read_only(lengths)


class RouteFields:
    """Fields by goal, the last `KEPT` of them. This class is **mutable**."""

    def __init__(self, route_map: RouteMap) -> None:
        self.map = route_map
        self._kept: OrderedDict[tuple[float, float, float], RouteField] = OrderedDict()

    def field(self, goal: tuple[float, float], tolerance: float, start: npt.ArrayLike | None = None) -> RouteField:
        """Return the field of a goal as `RouteMap.field`; computed again only if a start lies beyond the known part.

        If no path leads from a start that is connected with the goal, the cells are too large, and are halved for good.
        """
        key = (float(goal[0]), float(goal[1]), float(tolerance))
        found = self._kept.get(key)
        if found is None:
            found = self.map.field(goal, tolerance, start)
        elif not math.isinf(found.known) and (start is None or self._value(found.lengths, start) * SLACK > found.known):
            found = self.map.field(goal, tolerance)
        if (
            start is not None
            and math.isinf(self._value(found.lengths, start))
            and self._refined(start, goal, tolerance)
        ):
            return self.field(goal, tolerance, start)
        self._kept[key] = found
        self._kept.move_to_end(key)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return found

    def forget(self) -> None:
        """Forget all goals."""
        self._kept.clear()

    def _refined(self, start: npt.ArrayLike, goal: tuple[float, float], tolerance: float) -> bool:
        """Take smaller cells if a start and a goal are connected and smaller cells exist."""
        finer = self.map.finer() if self.map.fields.parts.connected(start, goal, tolerance) else None
        if finer is not None:
            self.map = finer
            self.forget()
        return finer is not None

    def _value(self, field: Distances, start: npt.ArrayLike) -> float:
        cell = self.map.spec.cells(start)
        return float(field[cell[0], cell[1]]) if self.map.spec.contains(cell) else 0.0


def _mark_passages(cells: Cells, fields: WorldFields, spec: GridSpec) -> None:
    """Mark open cells on special obstacles that can be passed, and those too near to them for that to begin."""
    diagonal = math.sqrt(2.0) * spec.cell
    marks = [(TOO_NEAR, index, away - diagonal) for index, away in fields.run_ups.items()]
    marks += [(ACROSS, index, 0.5 * diagonal) for index in fields.run_ups]
    for mark, index, radius in marks:
        if radius > 0.0:
            for row, first, end in rasterise(fields.world.obstacles[index].shape.footprint(), spec, radius):
                part = cells[row, first:end]
                part[part != CLOSED] = mark


def _free(fields: WorldFields, radius: float) -> BoolArray:
    """Return the cells of the world's fields in which a root can be during any action."""
    free: BoolArray = np.any(fields.roomy(radius), axis=0)
    for index in fields.troubles:
        footprint = fields.world.obstacles[index].shape.footprint()
        for row, first, end in rasterise(footprint, fields.spec, max(radius - math.sqrt(2.0) * fields.spec.cell, 0.0)):
            free[row, first:end] = False
    return free
