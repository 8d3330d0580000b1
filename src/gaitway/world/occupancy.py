"""Occupancy grids: the cells that a character's centre must not enter because of obstacles that do not move.

An obstacle blocks by the part of it between a walker's shins and the top of the head (the body band). The ground is not
level, so the band is measured from the lowest and the highest ground on which a character can stand and still touch the
shape. That errs on the safe side.

Kept beside general tools because it was measured to be worth it: 200 obstacles in 1080 x 1080 cells, exact and grown,
take 4.8 ms; shapely 2.2 takes 2413 ms cell by cell (README, Speed).
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import WorldError
from gaitway.world import _kernels
from gaitway.world.footprint import Footprint
from gaitway.world.grid import SLACK, Bounds, GridSpec, SpanArray, Window, rasterise, rasterise_all, window_of
from gaitway.world.height_grid import HeightGrid
from gaitway.world.obstacle import PASSABLE, WALL, Obstacle
from gaitway.world.shapes import Shape
from gaitway.world.terrain import Terrain
from gaitway.world.world import Snapshot, World

Band = tuple[float, float]
BODY_BAND: Band = (0.05, 2.0)
"""Heights above the ground [m] between which an obstacle blocks a walker."""
NOTHING = Footprint.of_rings([])


def check_band(band: Band) -> Band:
    """Return the band as two floats after checking that they rise.

    Raises:
        WorldError: if it is not two rising numbers.
    """
    low, high = band
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise WorldError(f"body band {band} must be two heights over the ground in metres, the lower one first")
    return float(low), float(high)


def body_footprint(
    shape: Shape, terrain: Terrain | None, band: Band, radius: float, poses: FloatArray | None = None
) -> Footprint:
    """Return the footprint of the part of a shape that a body can collide with.

    Args:
        shape: shape of the obstacle.
        terrain: the ground; None is level at height 0.
        band: heights above the ground [m] between which an obstacle blocks.
        radius: radius of the body [m].
        poses: all poses (K, 3) between which the shape moves; None if it stays.
    """
    low, high = band
    if terrain is not None:
        whole = shape.footprint()
        if whole.empty:
            return whole
        x0, y0, x1, y1 = whole.bounds
        if poses is not None:
            reach = math.hypot(max(-x0, x1), max(-y0, y1))
            (x0, y0), (x1, y1) = poses[:, :2].min(axis=0) - reach, poses[:, :2].max(axis=0) + reach
        lowest, highest = ground_range(terrain, (x0 - radius, y0 - radius, x1 + radius, y1 + radius))
        low, high = lowest + low, highest + high
    return shape.footprint(low, high)


def ground_range(terrain: Terrain, bounds: Bounds) -> tuple[float, float]:
    """Return the lowest and highest corner of all terrain cells that meet a rectangle [m].

    The ground in the rectangle lies between them.
    """
    x0, y0, x1, y1 = bounds
    rows, columns = terrain.heights.shape
    i = slice(*_corner_range(y0 - terrain.origin[1], y1 - terrain.origin[1], terrain.cell, rows))
    j = slice(*_corner_range(x0 - terrain.origin[0], x1 - terrain.origin[0], terrain.cell, columns))
    part = terrain.heights[i, j]
    return float(part.min()), float(part.max())


def _corner_range(low: float, high: float, cell: float, count: int) -> tuple[int, int]:
    """Return the first and end corner along one axis; beyond the edge the ground is as high as the edge."""
    first = min(max(math.floor(low / cell), 0), count - 1)
    last = min(max(math.ceil(high / cell), 0), count - 1)
    return first, last + 1


MAX_LAYERS = 16
"""Greatest number of obstacle kinds of one grid, walls included: the bits of a cell."""
MAX_COUNTED = 65_534
"""Greatest number of obstacles that one grid can count in a cell, bounds and slopes aside."""
MaskArray = npt.NDArray[np.uint16]


def layer_kinds(world: World, extra: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the kinds of obstacle in a world and all phases of its movers: walls first, the others by name."""
    found = {o.kind for o in world.obstacles} | {p.kind for mover in world.movers for p in mover.phases} | set(extra)
    return checked_kinds((WALL, *sorted(found - {WALL, PASSABLE})))


def checked_kinds(kinds: Sequence[str]) -> tuple[str, ...]:
    """Return the kinds, walls first, after checking them.

    Raises:
        WorldError: if they are too many, occur twice or do not begin with walls.
    """
    if not kinds or kinds[0] != WALL or PASSABLE in kinds or len(set(kinds)) < len(kinds):
        raise WorldError(
            f"kinds {list(kinds)} must begin with '{WALL}', name each kind once and leave out '{PASSABLE}'"
        )
    if len(kinds) > MAX_LAYERS:
        raise WorldError(f"{len(kinds)} kinds of obstacle ({', '.join(kinds)}); a grid can tell {MAX_LAYERS} apart")
    return tuple(kinds)


class Occupancy:
    """Obstacles that cover each cell, kept up to date while obstacles move.

    This class is **mutable**; `copy` freezes a state.

    A cell is covered if its closed square meets an obstacle grown by the body's radius. A free cell is therefore free
    in every point, and a covered one holds a point that is not. Cells that do not lie within the bounds shrunk by the
    radius are walls. Adding, replacing or removing an obstacle takes time in proportion to what that obstacle covers,
    and leaves the grid that building anew would give.

    Attributes:
        spec: grid of the cells.
        radius: radius of the body [m].
        band: heights above the ground [m] between which an obstacle blocks.
        kinds: meaning of bit k of the mask; `kinds[0]` is "wall".
        mask: bits of a cell: 0 is free for all characters, bit 0 a wall, bit k an obstacle of `kinds[k]`. Read-only,
            and always up to date; (rows, columns).
    """

    def __init__(
        self,
        spec: GridSpec,
        radius: float,
        *,
        bounds: Bounds | None = None,
        terrain: Terrain | None = None,
        band: Band = BODY_BAND,
        kinds: Sequence[str] = (WALL,),
        max_slope: float | None = None,
    ) -> None:
        """Create an empty grid; `of` fills one from a world.

        Args:
            spec: grid of the cells.
            radius: radius of the body [m].
            bounds: xmin, ymin, xmax, ymax [m] that characters must not leave; None leaves the grid open.
            terrain: the ground; None is level at height 0.
            band: heights above the ground [m] between which an obstacle blocks.
            kinds: the kinds to tell apart, "wall" first; more are added when they occur.
            max_slope: cells that are anywhere steeper than this [rad] are walls.
        """
        if not (math.isfinite(radius) and radius >= 0.0):
            raise WorldError(f"body radius {radius}; write 0 or a length in metres")
        self.spec, self.radius, self.band = spec, float(radius), check_band(band)
        self.kinds = checked_kinds(kinds)
        self._terrain = terrain
        # one block of memory: the system hands a large one out in large pages, many times as fast as several small ones
        block = np.zeros((1 + len(self.kinds), *spec.shape), dtype=np.uint16)
        self._mask: MaskArray = block[0]
        self._counts: list[MaskArray] = list(block[1:])
        self._items: dict[int, tuple[Obstacle, SpanArray]] = {}
        self._next_key = 0
        if bounds is not None:
            self._close_border(bounds)
        if max_slope is not None and terrain is not None:
            steep = HeightGrid.of(terrain, spec).slope > max_slope
            self._counts[0] += steep
            self._mask |= steep
        self.mask = self._mask.view()
        self.mask.setflags(write=False)

    @staticmethod
    def of(
        place: World | Snapshot,
        cell: float | GridSpec = 0.1,
        radius: float = 0.3,
        *,
        band: Band = BODY_BAND,
        kinds: Sequence[str] | None = None,
        max_slope: float | None = None,
    ) -> Occupancy:
        """Build the grid of a world.

        Args:
            place: a world, whose movers are left out, or a world at a time (`world.at(t)`), with its movers. Obstacle i
                of `place.obstacles` has the key i.
            cell: side of a cell [m], or the whole grid.
            radius: radius of the body [m].
            band: heights above the ground [m] between which an obstacle blocks.
            kinds: the kinds to tell apart, "wall" first; None takes `layer_kinds` of the world.
            max_slope: cells that are anywhere steeper than this [rad] are walls.
        """
        world = place.world if isinstance(place, Snapshot) else place
        spec = cell if isinstance(cell, GridSpec) else GridSpec.covering(world.bounds, cell)
        out = Occupancy(
            spec,
            radius,
            bounds=world.bounds,
            terrain=world.terrain,
            band=band,
            kinds=layer_kinds(world) if kinds is None else kinds,
            max_slope=max_slope,
        )
        out._add_all(place.obstacles)
        return out

    def copy(self) -> Occupancy:
        """Return an independent copy with the same keys."""
        out = object.__new__(Occupancy)
        out.__dict__.update(self.__dict__)
        out._mask = self._mask.copy()
        out._counts = [counts.copy() for counts in self._counts]
        out._items = dict(self._items)
        out.mask = out._mask.view()
        out.mask.setflags(write=False)
        return out

    @property
    def keys(self) -> tuple[int, ...]:
        """Keys of all obstacles, in the order in which they came."""
        return tuple(self._items)

    def obstacle(self, key: int) -> Obstacle:
        """Return the obstacle of a key."""
        return self._item(key)[0]

    def window(self, key: int) -> Window:
        """Return the cells around an obstacle."""
        return window_of(self._item(key)[1])

    def counts(self, kind: str) -> MaskArray:
        """Return how many obstacles of a kind cover each cell; (rows, columns), read-only and always up to date."""
        if kind not in self.kinds:
            raise WorldError(f"no obstacle kind '{kind}' in this grid; there are {', '.join(self.kinds)}")
        view = self._counts[self.kinds.index(kind)].view()
        view.setflags(write=False)
        return view

    def bits(self, *kinds: str) -> int:
        """Return the bits of the mask of given kinds; a kind that does not occur has none."""
        return sum(1 << self.kinds.index(kind) for kind in set(kinds) if kind in self.kinds)

    def blocked(self, points: npt.ArrayLike, passing: Sequence[str] = ()) -> BoolArray:
        """Return whether points (..., 2) lie in a covered cell or beyond the grid; (...).

        Args:
            points: x and y [m].
            passing: kinds of obstacle that are no hindrance.
        """
        cells = self.spec.cells(points)
        inside = self.spec.contains(cells)
        row, column = np.where(inside[..., None], cells, 0)[..., 0], np.where(inside[..., None], cells, 0)[..., 1]
        hindering = np.uint16(0xFFFF & ~self.bits(*passing))
        return np.asarray(~inside | ((self._mask[row, column] & hindering) != 0))

    def add(self, obstacle: Obstacle) -> int:
        """Add an obstacle; return its key."""
        if len(self._items) >= MAX_COUNTED:
            raise WorldError(f"more than {MAX_COUNTED} obstacles in one grid; join some of them into one polygon")
        spans = rasterise(self._footprint(obstacle), self.spec, self.radius)
        key = self._next_key
        self._next_key += 1
        self._items[key] = (obstacle, spans)
        self._count(obstacle, spans)
        return key

    def remove(self, key: int) -> Window:
        """Remove an obstacle; return the cells that may have changed."""
        obstacle, spans = self._item(key)
        self._uncount(obstacle, spans)
        del self._items[key]
        return window_of(spans)

    def replace(self, key: int, obstacle: Obstacle) -> Window:
        """Replace an obstacle by another, or by the same one elsewhere; return the cells that may have changed."""
        old, old_spans = self._item(key)
        spans = rasterise(self._footprint(obstacle), self.spec, self.radius)
        self._uncount(old, old_spans)
        self._count(obstacle, spans)
        self._items[key] = (obstacle, spans)
        return window_of(old_spans).joined(window_of(spans))

    def _item(self, key: int) -> tuple[Obstacle, SpanArray]:
        if key not in self._items:
            raise WorldError(f"no obstacle with key {key} in this grid")
        return self._items[key]

    def _footprint(self, obstacle: Obstacle) -> Footprint:
        if obstacle.kind == PASSABLE:
            return NOTHING
        return body_footprint(obstacle.shape, self._terrain, self.band, self.radius)

    def _layer(self, kind: str) -> int:
        """Return the layer of a kind, which is added if it is new."""
        if kind not in self.kinds:
            self.kinds = checked_kinds((*self.kinds, kind))
            self._counts.append(np.zeros(self.spec.shape, dtype=np.uint16))
        return self.kinds.index(kind)

    def _count(self, obstacle: Obstacle, spans: SpanArray) -> None:
        if len(spans):
            layer = self._layer(obstacle.kind)
            _kernels.add_spans(self._counts[layer], self._mask, 1 << layer, spans)

    def _uncount(self, obstacle: Obstacle, spans: SpanArray) -> None:
        if len(spans):
            layer = self._layer(obstacle.kind)
            _kernels.remove_spans(self._counts[layer], self._mask, 1 << layer, spans)

    def _add_all(self, obstacles: Sequence[Obstacle]) -> None:
        """Add many obstacles at once: those of one kind together, so that each layer is filled in one pass."""
        if len(obstacles) > MAX_COUNTED:
            raise WorldError(f"{len(obstacles)} obstacles; one grid can count {MAX_COUNTED}")
        layer_of = {kind: self._layer(kind) for kind in dict.fromkeys(o.kind for o in obstacles) if kind != PASSABLE}
        layers = [layer_of.get(obstacle.kind, 0) for obstacle in obstacles]
        order = sorted(range(len(obstacles)), key=layers.__getitem__)
        spans, starts = rasterise_all([self._footprint(obstacles[k]) for k in order], self.spec, self.radius)
        bounds = starts.tolist()
        found = {k: spans[bounds[n] : bounds[n + 1]] for n, k in enumerate(order)}
        self._items = {k: (obstacle, found[k]) for k, obstacle in enumerate(obstacles)}
        self._next_key = len(obstacles)
        for layer, counts in enumerate(self._counts):
            first, end = (
                bisect_left(order, layer, key=layers.__getitem__),
                bisect_right(order, layer, key=layers.__getitem__),
            )
            _kernels.add_spans(counts, self._mask, 1 << layer, spans[bounds[first] : bounds[end]])

    def _close_border(self, bounds: Bounds) -> None:
        """Make cells that do not lie wholly within the bounds shrunk by the radius walls."""
        spec, gap = self.spec, self.radius - SLACK
        x, y = spec.origin
        low_row, low_column = (math.ceil((b + gap - a) / spec.cell) for a, b in ((y, bounds[1]), (x, bounds[0])))
        high_row, high_column = (math.floor((b - gap - a) / spec.cell) for a, b in ((y, bounds[3]), (x, bounds[2])))
        low_row, high_row = max(low_row, 0), max(high_row, low_row, 0)
        low_column, high_column = max(low_column, 0), max(high_column, low_column, 0)
        for layer in (self._counts[0], self._mask):
            layer[:low_row], layer[high_row:] = 1, 1
            layer[low_row:high_row, :low_column] = 1
            layer[low_row:high_row, high_column:] = 1
