"""Occupancy grids: where the middle of a body may be, and what stands in the way where it may not."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import BoolArray
from gaitway.core.errors import WorldError
from gaitway.world import _kernels
from gaitway.world.body_band import BODY_BAND, NOTHING, Band, body_footprint, check_band
from gaitway.world.footprint import Footprint
from gaitway.world.grid import SLACK, Bounds, GridSpec, Window
from gaitway.world.height_grid import HeightGrid
from gaitway.world.obstacle import PASSABLE, WALL, Obstacle
from gaitway.world.raster import SpanArray, rasterise, rasterise_all, window_of
from gaitway.world.terrain import Terrain
from gaitway.world.world import Snapshot, World

MAX_LAYERS = 16
"""Kinds of obstacles that one grid can tell apart, walls among them: the bits of a cell."""
MAX_COUNTED = 65_534
"""Obstacles that one grid can count in a cell, bounds and slopes aside."""
MaskArray = npt.NDArray[np.uint16]


def layer_kinds(world: World, extra: Iterable[str] = ()) -> tuple[str, ...]:
    """The kinds of obstacle in a world and all phases of its movers: walls first, the others by name."""
    found = {o.kind for o in world.obstacles} | {p.kind for mover in world.movers for p in mover.phases} | set(extra)
    return checked_kinds((WALL, *sorted(found - {WALL, PASSABLE})))


def checked_kinds(kinds: Sequence[str]) -> tuple[str, ...]:
    """The kinds, walls first.

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
    """What covers each cell, kept up to date while obstacles move. This class is **mutable**; `copy` freezes a state.

    A cell is covered if its closed square meets an obstacle grown by the body's radius. A free cell is therefore free
    in every point, and a covered one holds a point that is not. Cells that do not lie within the bounds shrunk by the
    radius are walls. Adding, replacing or removing an obstacle takes time in proportion to what that obstacle covers,
    and leaves the grid that building anew would give.

    Attributes:
        spec: where the cells lie.
        radius: of the body [m].
        band: heights over the ground [m] between which something is in the way.
        kinds: what bit k of the mask means; `kinds[0]` is "wall".
        mask: bits of a cell: 0 is free for everyone, bit 0 a wall, bit k something of `kinds[k]`. Read-only, and
            always up to date; (rows, columns).
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
        """An empty place; `of` fills one from a world.

        Args:
            spec: where the cells lie.
            radius: of the body [m].
            bounds: xmin, ymin, xmax, ymax [m] that nobody may leave; None leaves the grid open.
            terrain: the ground; None is level at height 0.
            band: heights over the ground [m] between which something is in the way.
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
        """The grid of a world.

        Args:
            place: a world, whose movers are left out, or a world at a time (`world.at(t)`), with its movers. Obstacle i
                of `place.obstacles` has the key i.
            cell: side of a cell [m], or the whole grid.
            radius: of the body [m].
            band: heights over the ground [m] between which something is in the way.
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
        """An independent copy with the same keys."""
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
        """The obstacle of a key."""
        return self._item(key)[0]

    def window(self, key: int) -> Window:
        """The cells around an obstacle."""
        return window_of(self._item(key)[1])

    def counts(self, kind: str) -> MaskArray:
        """How many obstacles of a kind cover each cell; (rows, columns), read-only and always up to date."""
        if kind not in self.kinds:
            raise WorldError(f"no obstacle kind '{kind}' in this grid; there are {', '.join(self.kinds)}")
        view = self._counts[self.kinds.index(kind)].view()
        view.setflags(write=False)
        return view

    def bits(self, *kinds: str) -> int:
        """The mask's bits of some kinds together; a kind that does not occur has none."""
        return sum(1 << self.kinds.index(kind) for kind in set(kinds) if kind in self.kinds)

    def blocked(self, points: npt.ArrayLike, passing: Sequence[str] = ()) -> BoolArray:
        """Whether points (..., 2) lie in a covered cell or beyond the grid; (...).

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
        """Put an obstacle in; its key."""
        if len(self._items) >= MAX_COUNTED:
            raise WorldError(f"more than {MAX_COUNTED} obstacles in one grid; join some of them into one polygon")
        spans = rasterise(self._footprint(obstacle), self.spec, self.radius)
        key = self._next_key
        self._next_key += 1
        self._items[key] = (obstacle, spans)
        self._count(obstacle, spans)
        return key

    def remove(self, key: int) -> Window:
        """Take an obstacle out; the cells that may have changed."""
        obstacle, spans = self._item(key)
        self._uncount(obstacle, spans)
        del self._items[key]
        return window_of(spans)

    def replace(self, key: int, obstacle: Obstacle) -> Window:
        """Put another obstacle, or the same one elsewhere, in the place of one; the cells that may have changed."""
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
        """The layer of a kind, which is added if it is new."""
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
        """Add many at once: those of one kind together, so that each layer is filled in one go."""
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
        """Cells that do not lie wholly within the bounds shrunk by the radius are walls."""
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
