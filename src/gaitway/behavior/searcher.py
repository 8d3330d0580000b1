"""A behaviour library prepared for searches: what the kernel sees of it, and the memory that it works in."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from functools import partial
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from gaitway.behavior import _search_kernels as kernels
from gaitway.behavior._heuristic_kernels import HeuristicArrays, straight_line
from gaitway.behavior._search_memory_kernels import EMPTY, SearchMemory, enlarge
from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.core.errors import LibraryError
from gaitway.core.jit import direct
from gaitway.library.actions import ActionTable
from gaitway.library.body_discs import BodyDiscs
from gaitway.space._check_kernels import ActionArrays
from gaitway.space._safe_interval_kernels import PLACES, TICK, SafeIntervals, no_intervals
from gaitway.space._traffic_kernels import TrafficArrays
from gaitway.space.fields import WorldFields
from gaitway.space.plan import Pose
from gaitway.space.states import States
from gaitway.world.regions import MARGIN, Reach

TIME_WEIGHT = 0.5
"""What a second costs unless told otherwise, in metres walked; at much less, people dawdle and step sideways."""
_NODES = 1 << 13
"""That there is room for at first."""
_NOTES = 256
"""Latest blockers that are remembered; a power of two."""
_NUMBERS, _GOAL = struct.Struct(f"{kernels.TURNS + 1}d"), struct.Struct("3d")
_PLACES_SEEN = 8192
"""Places whose episodes are known at a time."""
_MOST_TURNS = 32
"""Headings that a key of the closed set can tell apart."""


class Searcher:
    """A library prepared for searches, with memory that each search uses again. Not for several threads at once.

    Attributes:
        table: actions of the library.
        states: states of its behaviour graph.
        reaches: what its special behaviours get past.
        arrays: what the kernel sees of it.
        time_weight: cost of a second [m/s].
        costs: of the actions, with what their time costs; (A,).
        per_metre: least cost of a metre as the crow flies.
        bins: of the closed set.
        handle: the arrays for the kernel.
        query: numbers of the latest query, likewise; see `_search_kernels`.
        memory: the room of the latest search, likewise.
    """

    def __init__(
        self,
        table: ActionTable,
        discs: BodyDiscs,
        reaches: Sequence[Reach] = (),
        time_weight: float = TIME_WEIGHT,
        bins: tuple[float, int] = (0.25, 24),
    ) -> None:
        """Prepare a library.

        Args:
            table: its actions.
            discs: what their bodies take up, by action.
            reaches: what its special behaviours get past, one for each of their clips in the order of the table.
            time_weight: cost of a second [m/s]; 0 counts lengths alone, as the thesis does.
            bins: side [m] of the cells, and headings in a whole turn (32 at most), in which states count as the same.

        Raises:
            LibraryError: if the parts do not go together, or nothing in the library ever comes to rest.
        """
        if not (np.isfinite(time_weight) and time_weight >= 0.0):
            raise LibraryError(f"time_weight {time_weight} must be 0 or more")
        if not (bins[0] > 0.0 and 1 <= bins[1] <= _MOST_TURNS):
            raise LibraryError(f"bins {bins} must be a length above 0 and 1 to {_MOST_TURNS} headings")
        if len(discs) != len(table):
            raise LibraryError(f"discs of {len(discs)} actions for a table of {len(table)}")
        self.table, self.reaches, self.states = table, tuple(reaches), States.of(table)
        if not (self.states.rest >= 0).any():
            raise LibraryError("no behaviour of the library goes nowhere, so nobody can stop; add one like 'stand'")
        self.bins, self.time_weight = bins, time_weight
        self.costs: FloatArray = table.costs + time_weight * table.durations
        self.arrays = _action_arrays(table, self.states, discs, self.reaches, self.costs)
        travel = np.hypot(table.moves[:, 0], table.moves[:, 1])
        moving = travel > 1e-9
        self.per_metre = float((self.costs[moving] / travel[moving]).min()) if moving.any() else 0.0
        self.names = [table.behaviors[b] for b in table.behavior.tolist()]
        self.handle, self.memory_handle = (
            ArrayHandle(self.arrays),
            ArrayHandle(_search_memory(_NODES, len(table.behaviors))),
        )
        # these are called for every query, and always with the same types
        self.kernel: Callable[..., tuple[int, int, int, int]] = direct(kernels.search_slice)
        self.trace: Callable[..., tuple[FloatArray, Pose, float, float]] = direct(kernels.trace)
        self.query = ArrayHandle(np.zeros(kernels.TURNS + 1))
        goal = np.array([0.0, 0.0, 0.0, self.per_metre])
        self._straight = ArrayHandle(straight_line(0.0, 0.0, 0.0, 0.0)._replace(goal=goal))
        # these write the numbers of a query down, and those of its goal
        self.ask: Callable[..., None] = partial(_NUMBERS.pack_into, self.query.value.data, 0)
        self._aim: Callable[..., None] = partial(_GOAL.pack_into, goal.data, 0)
        self._resting = int(np.flatnonzero(self.states.rest >= 0)[0])
        self._intervals = no_intervals()
        self._passing: WeakKeyDictionary[WorldFields, ArrayHandle[IntArray]] = WeakKeyDictionary()

    @property
    def memory(self) -> SearchMemory:
        """Memory of the latest search."""
        return self.memory_handle.value

    def grow(self) -> None:
        """Go on with the latest search in twice the room."""
        bigger = ArrayHandle(_search_memory(2 * len(self.memory.states), len(self.memory.laid), self.memory))
        enlarge(self.memory_handle, bigger)
        self.memory_handle = bigger

    def passing(self, fields: WorldFields) -> ArrayHandle[IntArray]:
        """The kind of obstacle in a world that each action passes, or that it is an ordinary one or of no use; (A,)."""
        known = self._passing.get(fields)
        if known is None:
            kinds = []
            for action, kind in enumerate(self.table.kind.tolist()):
                number = fields.passed_kind(self.table.kinds[kind]) if kind >= 0 else kernels.ORDINARY
                row = int(self.arrays.firsts[action, 2])
                useful = number >= 0 and row >= 0 and self.reaches[row].edge is None
                kinds.append(kernels.ORDINARY if kind < 0 else number if useful else kernels.NEVER)
            known = self._passing[fields] = ArrayHandle(_whole(kinds))
        return known

    def straight(self, goal: tuple[float, float], tolerance: float) -> ArrayHandle[HeuristicArrays]:
        """The distance to a goal as the only estimate, in memory that the next query uses again."""
        self._aim(goal[0], goal[1], tolerance)
        return self._straight

    def intervals(self, fields: WorldFields, traffic: TrafficArrays) -> ArrayHandle[SafeIntervals]:
        """Memory for the episodes of places in a world, as long as its traffic changes."""
        rows, columns = fields.arrays.labels.shape
        (x, y, rate), ticks = fields.arrays.place.tolist()[:3], traffic.last // TICK + 2
        shape = (math.ceil(PLACES * rows / rate), math.ceil(PLACES * columns / rate))
        known = self._intervals
        if known.rows.shape != shape or known.used[1] > 2**30:
            known = known._replace(rows=np.full(shape, -1, np.int32), used=np.zeros(2, np.int64))
        if known.numbers.shape[1] != ticks:
            known = known._replace(numbers=np.empty((_PLACES_SEEN, ticks), np.uint8))
        known.used[0] = known.used[1]
        self._intervals = known._replace(corner=_real([x, y]))
        return ArrayHandle(self._intervals)

    def moments(self) -> ArrayHandle[SafeIntervals]:
        """Memory that tells moments apart and no episodes, for a search that leaves nothing out."""
        self._intervals.used[0] = self._intervals.used[1]
        return ArrayHandle(self._intervals._replace(numbers=self._intervals.numbers[:0]))

    def start_state(self, behavior: str | None) -> int:
        """The state after a behaviour; None is that in which the first of the behaviours that stand still is."""
        if behavior is not None:
            return int(self.states.after[self.table.index(behavior)])
        return self._resting


def _search_memory(nodes: int, branches: int, before: SearchMemory | None = None) -> SearchMemory:
    """Memory for so many nodes and behaviours; counters and notes are those of the room before, if there is one."""
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
        stood=np.zeros(2, dtype=np.int64),
        notes=np.zeros((_NOTES, 4)) if before is None else before.notes,
    )


def _action_arrays(
    table: ActionTable, states: States, discs: BodyDiscs, reaches: tuple[Reach, ...], costs: FloatArray
) -> ActionArrays:
    special = [action for action, kind in enumerate(table.kind.tolist()) if kind >= 0]
    if reaches and [reach.behavior for reach in reaches] != [table.behaviors[table.behavior[a]] for a in special]:
        raise LibraryError("reaches must be those of the table's special behaviours, one for each clip, in its order")
    row_of = np.full(len(table) + 1, -1)
    if reaches:
        row_of[special] = np.arange(len(special))
    followers = [_followers(states, s) for s in range(len(states))]
    rest = [int(states.action_starts[b]) if b >= 0 else -1 for b in states.rest]
    profiles = [np.column_stack([r.lowest - MARGIN, r.highest + MARGIN]) for r in reaches]
    return ActionArrays(
        actions=_real(np.column_stack([table.moves, costs, table.durations, discs.around])),
        firsts=_whole(np.column_stack([discs.static_starts, discs.window_starts, row_of])),
        behaviors=_whole(np.column_stack([[*states.after, 0], states.action_starts])),
        states=_whole(np.column_stack([np.cumsum([0, *map(len, followers)]), [*rest, -1]])),
        followers=_whole([b for some in followers for b in some]),
        static=discs.static,
        windows=_real(np.column_stack([discs.window_times, discs.window_around])),
        timed_starts=discs.timed_starts,
        timed=discs.timed,
        ways=_real(np.array([(r.heading, r.half_width, r.first, 1.0 / r.cell) for r in reaches]).reshape(-1, 4)),
        profile_starts=_whole(np.cumsum([0, *map(len, profiles)])),
        profiles=_real(np.concatenate([np.empty((0, 2)), *profiles])),
    )


def _followers(states: States, state: int) -> list[int]:
    """Behaviours to try in a state: all but those that go nowhere, since waiting comes with what is done after it."""
    every = states.followers[states.follower_starts[state] : states.follower_starts[state + 1]].tolist()
    return [b for b in every if not states.idle[b]]


def _whole(values: npt.ArrayLike) -> IntArray:
    return read_only(np.array(values, dtype=np.int64))


def _real(values: npt.ArrayLike) -> FloatArray:
    return read_only(np.array(values, dtype=np.float64))
