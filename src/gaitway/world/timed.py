"""Timed occupancy: where things that move are in each slot of time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import read_only
from gaitway.core.errors import WorldError
from gaitway.world import _timed_kernels
from gaitway.world._timed_kernels import NODE_FIELDS, TimedArrays, timed_bits
from gaitway.world.body_band import BODY_BAND, Band, body_footprint, check_band
from gaitway.world.footprint import Footprint
from gaitway.world.grid import GridSpec
from gaitway.world.mover import Mover
from gaitway.world.obstacle import PASSABLE, WALL
from gaitway.world.occupancy import MaskArray, checked_kinds, layer_kinds
from gaitway.world.raster import rasterise_rings
from gaitway.world.sweep import Sweep, TimeSlots, Way, sweep
from gaitway.world.terrain import Terrain
from gaitway.world.world import World

__all__ = ["TimedArrays", "TimedOccupancy", "timed_bits"]

MAX_HEADS = 1_000_000_000
"""Most rows times slots of one timed grid; what is never used costs address space only."""
_SHORT = 4
"""Something that stands still for no more slots than this is stored in each of them."""
_ORIGIN = Footprint.of_rings([[(0.0, 0.0)]])


class TimedOccupancy:
    """What movers and planned characters cover in each slot of time. This class is **mutable**; `copy` freezes a state.

    A cell is covered in a slot if its closed square meets the grown mover at any time in that slot. A cell that is free
    in a slot is therefore free in every point of it all the while. A covered one holds a point that is less than half a
    cell (for discs, nothing) away from being touched. What stands still is stored once for all the time that it does.

    Attributes:
        spec: where the cells lie.
        radius: of the body that asks [m].
        slots: when the slots begin and end. All time after the last is one more slot.
        band: heights over the ground [m] between which something is in the way.
        kinds: what bit k means, as in `Occupancy`.
    """

    def __init__(
        self,
        spec: GridSpec,
        radius: float,
        slots: TimeSlots,
        *,
        terrain: Terrain | None = None,
        band: Band = BODY_BAND,
        kinds: Sequence[str] = (WALL,),
    ) -> None:
        """An empty place; `of` fills one from a world."""
        if not (math.isfinite(radius) and radius >= 0.0):
            raise WorldError(f"body radius {radius}; write 0 or a length in metres")
        rows = spec.shape[0]
        if rows * (slots.count + 1) > MAX_HEADS:
            raise WorldError(f"{slots.count} time slots of {rows} rows; write a longer step or a larger cell")
        self.spec, self.radius, self.slots = spec, float(radius), slots
        self.band, self.kinds = check_band(band), checked_kinds(kinds)
        self._terrain = terrain
        self._heads = np.zeros((slots.count + 1, rows), dtype=np.int32)
        self._standing = np.zeros(rows, dtype=np.int32)
        self._nodes = np.zeros((1024, NODE_FIELDS), dtype=np.int32)
        self._state = np.zeros(2, dtype=np.int64)
        self._owners: dict[int, int] = {}
        self._next_key = 0

    @staticmethod
    def of(
        world: World,
        spec: GridSpec,
        radius: float,
        start: float,
        end: float,
        step: float = 0.1,
        *,
        band: Band = BODY_BAND,
        kinds: Sequence[str] | None = None,
    ) -> TimedOccupancy:
        """The movers of a world; mover i has the key i.

        Args:
            world: whose movers count; what does not move is in `Occupancy`.
            spec: where the cells lie.
            radius: of the body that asks [m].
            start: beginning of the first slot [s].
            end: time [s] after which everything is one slot.
            step: length of a slot [s]; shorter is tighter.
            band: heights over the ground [m] between which something is in the way.
            kinds: what the bits mean; None is as in `Occupancy.of` the same world.
        """
        slots = TimeSlots.covering(start, end, step)
        kinds = layer_kinds(world) if kinds is None else kinds
        out = TimedOccupancy(spec, radius, slots, terrain=world.terrain, band=band, kinds=kinds)
        for mover in world.movers:
            out.add_mover(mover)
        return out

    def copy(self) -> TimedOccupancy:
        """An independent copy with the same keys."""
        out = object.__new__(TimedOccupancy)
        out.__dict__.update(self.__dict__)
        out._heads, out._standing = self._heads.copy(), self._standing.copy()
        out._nodes, out._state = self._nodes.copy(), self._state.copy()
        out._owners = dict(self._owners)
        return out

    @property
    def keys(self) -> tuple[int, ...]:
        """Keys of all that moves, in the order in which it came."""
        return tuple(self._owners)

    @property
    def stored(self) -> int:
        """How many spans are stored."""
        free, node = 0, int(self._state[1])
        while node > 0:
            free, node = free + 1, int(self._nodes[node, _timed_kernels.NEXT])
        return int(self._state[0]) - free

    @property
    def arrays(self) -> TimedArrays:
        """What `timed_bits(arrays, row, column, time)` takes in a planner's kernel; anew after each change."""
        return TimedArrays(
            _view(self._heads), _view(self._standing), _view(self._nodes), self.slots.start, 1.0 / self.slots.step
        )

    def add_mover(self, mover: Mover) -> int:
        """Put a mover in; its key."""
        owner = 0
        starts = [-math.inf, *(phase.start for phase in mover.phases[1:]), math.inf]
        for phase, begins, ends in zip(mover.phases, starts[:-1], starts[1:], strict=True):
            if phase.kind == PASSABLE:
                continue
            footprint = body_footprint(phase.shape, self._terrain, self.band, self.radius, mover.poses)
            way = Way(mover.times, mover.poses, begins, ends)
            owner = self._store(sweep(way, footprint, self.slots, self.spec.cell, self.radius), phase.kind, owner)
        return self._key(owner)

    def add_track(
        self,
        times: npt.ArrayLike,
        positions: npt.ArrayLike,
        radius: float,
        *,
        kind: str = WALL,
        before: bool = False,
        after: bool = True,
    ) -> int:
        """Put a disc in, such as a character that has been planned; its key.

        Args:
            times: rising [s]; (F,).
            positions: x and y [m] at these times, straight in between; (F, 2).
            radius: of the disc [m]; the asking body's own is added.
            kind: one of `kinds`.
            before: whether it stands in its first position at all times before.
            after: whether it stands in its last position at all times after.
        """
        if not (math.isfinite(radius) and radius >= 0.0):
            raise WorldError(f"track radius {radius}; write 0 or a length in metres")
        times = np.asarray(times, dtype=np.float64)
        positions = np.asarray(positions, dtype=np.float64)
        if times.ndim != 1 or len(times) == 0 or positions.shape != (len(times), 2):
            raise WorldError(f"a track needs times (F,) and positions (F, 2); got {times.shape} and {positions.shape}")
        if not (np.isfinite(times).all() and np.isfinite(positions).all() and (np.diff(times) > 0.0).all()):
            raise WorldError("a track needs finite positions at times that rise")
        poses = np.concatenate([positions, np.zeros((len(times), 1))], axis=1)
        way = Way(times, poses, -math.inf if before else times[0], math.inf if after else times[-1])
        return self._key(self._store(sweep(way, _ORIGIN, self.slots, self.spec.cell, self.radius + radius), kind, 0))

    def remove(self, key: int) -> None:
        """Take something out."""
        if key not in self._owners:
            raise WorldError(f"nothing with key {key} in this timed grid")
        _timed_kernels.unlink(self._heads, self._standing, self._nodes, self._state, self._owners.pop(key))

    def mask_at(self, points: npt.ArrayLike, times: npt.ArrayLike) -> MaskArray:
        """The bits (...) of what is at points (..., 2) at times (...) [s]; points beyond the grid are walls.

        Raises:
            WorldError: if a time is before the first slot.
        """
        cells, times = self.spec.cells(points), np.asarray(times, dtype=np.float64)
        shape = np.broadcast_shapes(cells.shape[:-1], times.shape)
        if times.size and not times.min() >= self.slots.start:
            raise WorldError(f"time {times.min():g} s is before the first slot, which begins at {self.slots.start:g} s")
        rows, columns = (np.broadcast_to(cells[..., k], shape).ravel() for k in range(2))
        out = np.empty(rows.shape, dtype=np.uint16)
        _timed_kernels.timed_bits_at(
            self.arrays,
            read_only(rows),
            read_only(columns),
            read_only(np.broadcast_to(times, shape).ravel()),
            self.spec.shape[1],
            out,
        )
        return out.reshape(shape)

    def grid_at(self, time: float) -> MaskArray:
        """The bits of every cell in the slot of a time [s]; (rows, columns)."""
        out = np.zeros(self.spec.shape, dtype=np.uint16)
        _timed_kernels.timed_grid(self.arrays, float(time), out)
        return out

    def _store(self, swept: Sweep | None, kind: str, owner: int) -> int:
        """Rasterise and store; the node that begins the chain of siblings."""
        if kind not in self.kinds:
            raise WorldError(f"no obstacle kind '{kind}' in this timed grid; there are {', '.join(self.kinds)}")
        if swept is None:
            return owner
        spans, starts = rasterise_rings(*swept[:5], self.spec)
        length = swept.slots[:, 1] - swept.slots[:, 0]
        needed = int(self._state[0]) + 1 + int((np.diff(starts) * np.where(length > _SHORT, 1, length)).sum())
        if needed > len(self._nodes):
            larger = np.zeros((2 * needed, NODE_FIELDS), dtype=np.int32)
            larger[: len(self._nodes)] = self._nodes
            self._nodes = larger
        return int(
            _timed_kernels.link(
                self._heads,
                self._standing,
                self._nodes,
                self._state,
                spans,
                read_only(starts),
                read_only(swept.slots),
                1 << self.kinds.index(kind),
                _SHORT,
                owner,
            )
        )

    def _key(self, owner: int) -> int:
        key = self._next_key
        self._next_key += 1
        self._owners[key] = owner
        return key


def _view(array: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    view = array.view()
    view.setflags(write=False)
    return view
