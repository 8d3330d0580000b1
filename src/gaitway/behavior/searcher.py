"""A* over one library: its prepared actions, and the memory that searches work in."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from gaitway.behavior import _search_kernels as kernels
from gaitway.behavior._heuristic_kernels import HeuristicArrays, straight_line
from gaitway.behavior._search_memory_kernels import (
    DELAYS,
    EMPTY,
    MOST_SLOWED,
    UNKNOWN,
    SearchMemory,
    enlarge,
)
from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray, read_only
from gaitway.core.jit import direct
from gaitway.library.actions import ActionTable
from gaitway.library.body_discs import BodyDiscs
from gaitway.scene.plan_options import TIME_WEIGHT
from gaitway.space._safe_interval_kernels import PLACES, TICK, SafeIntervals, no_intervals
from gaitway.space._traffic_kernels import TrafficArrays, first_slot
from gaitway.space.fields import WorldFields
from gaitway.space.plan import Pose
from gaitway.space.prepared_actions import PreparedActions
from gaitway.world.regions import Reach

_NODES = 1 << 13
"""Number of nodes that memory is first allocated for."""
_NOTES = 256
"""Number of latest blockers that are remembered; a power of two."""
_GOAL = struct.Struct("3d")
_PLACES_SEEN = 8192
"""Number of places whose safe intervals are kept at a time."""
_TICKS = 600
"""Most ticks in which safe intervals are told apart: four minutes."""


class Searcher(PreparedActions):
    """The actions of a library, with memory that each A* search uses again. Not for several threads at once.

    Attributes:
        memory_handle: memory of the latest search, for kernels.
        kernel: runs a part of a search, see `_search_kernels.search_slice`.
        trace: returns the steps that lead to a node, see `_search_kernels.trace`.
    """

    def __init__(
        self,
        table: ActionTable,
        discs: BodyDiscs,
        reaches: Sequence[Reach] = (),
        time_weight: float = TIME_WEIGHT,
        bins: tuple[float, int] = (0.25, 24),
        speeds: FloatArray | None = None,
    ) -> None:
        """Prepare a library and allocate memory; see `PreparedActions`."""
        super().__init__(table, discs, reaches, time_weight, bins, speeds)
        self.memory_handle = ArrayHandle(_search_memory(_NODES, len(table.behaviors)))
        # these are called for every query, and always with the same types
        self.kernel: Callable[..., tuple[int, int, int, int]] = direct(kernels.search_slice)
        self.trace: Callable[..., tuple[FloatArray, Pose, float, float]] = direct(kernels.trace)
        goal = np.array([0.0, 0.0, 0.0, self.per_metre])
        self._straight = ArrayHandle(straight_line(0.0, 0.0, 0.0, 0.0)._replace(goal=goal))
        self._aim: Callable[..., None] = partial(_GOAL.pack_into, goal.data, 0)
        self._intervals = no_intervals()

    @property
    def memory(self) -> SearchMemory:
        """Memory of the latest search."""
        return self.memory_handle.value

    def grow(self) -> None:
        """Double the memory, so that the latest search can go on."""
        bigger = ArrayHandle(_search_memory(2 * len(self.memory.states), len(self.memory.laid), self.memory))
        enlarge(self.memory_handle, bigger)
        self.memory_handle = bigger

    def straight(self, goal: tuple[float, float], tolerance: float) -> ArrayHandle[HeuristicArrays]:
        """Return the distance to a goal as the only estimate, in memory that the next query uses again."""
        self._aim(goal[0], goal[1], tolerance)
        return self._straight

    def intervals(self, fields: WorldFields, traffic: TrafficArrays, start: float) -> ArrayHandle[SafeIntervals]:
        """Return memory for the safe intervals of places in a world, from the start of a search on [s].

        They are told apart for as long as traffic changes, but no longer than searches usually look ahead.
        """
        rows, columns = fields.arrays.labels.shape
        first = first_slot(start) // TICK
        (x, y, rate), ticks = fields.arrays.place.tolist()[:3], min(max(traffic.last // TICK - first, 0) + 2, _TICKS)
        shape = (math.ceil(PLACES * rows / rate), math.ceil(PLACES * columns / rate))
        known = self._intervals
        if known.rows.shape != shape or known.used[1] > 2**30:
            known = known._replace(rows=np.full(shape, -1, np.int32), used=np.zeros(2, np.int64))
        if known.numbers.shape[1] != ticks:
            known = known._replace(numbers=np.empty((_PLACES_SEEN, ticks), np.uint8))
        known.used[0] = known.used[1]
        self._intervals = known._replace(corner=read_only(np.array([x, y], dtype=np.float64)), first=first)
        return ArrayHandle(self._intervals)

    def moments(self) -> ArrayHandle[SafeIntervals]:
        """Return memory that tells moments apart instead of safe intervals, for a search that leaves nothing out."""
        self._intervals.used[0] = self._intervals.used[1]
        return ArrayHandle(self._intervals._replace(numbers=self._intervals.numbers[:0]))


def _search_memory(nodes: int, branches: int, before: SearchMemory | None = None) -> SearchMemory:
    """Return memory for some nodes and behaviours, with the counters and notes of the earlier memory, if any."""
    table = np.empty((2 * nodes, 2), dtype=np.int64)
    table[:, 0] = EMPTY
    return SearchMemory(
        states=np.empty((nodes, 6)),
        links=np.empty((nodes, 5), dtype=np.int32),
        keys=np.empty(nodes, dtype=np.int64),
        heap=np.empty((nodes, 2)),
        table=table,
        counts=np.zeros(8, dtype=np.int64) if before is None else before.counts,
        nearest=np.zeros(3) if before is None else before.nearest,
        laid=np.empty((branches, 3)),
        chosen=np.empty((branches, 4), dtype=np.int64),
        stood=np.full(4, -1, dtype=np.int64),
        spare=np.full(1, -1.0),
        later=np.full(DELAYS, UNKNOWN, dtype=np.int64),
        slowed=np.empty(MOST_SLOWED, dtype=np.int64),
        notes=np.zeros((_NOTES, 4)) if before is None else before.notes,
    )
