"""The actions of a library as every planner's kernels see them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import partial
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.core.errors import LibraryError
from gaitway.library.actions import ActionTable
from gaitway.library.body_discs import BodyDiscs
from gaitway.scene.plan_options import TIME_WEIGHT
from gaitway.space._check_kernels import WIDTHS, ActionArrays
from gaitway.space._query_kernels import NEVER, NUMBERS, ORDINARY
from gaitway.space.fields import WorldFields
from gaitway.space.states import States
from gaitway.world.regions import MARGIN, Reach

_NUMBERS = struct.Struct(f"{NUMBERS}d")
MOST_STRETCH = 1.35
"""How many times as long as usual an action may take on the way, to let others pass."""
SLOWEST = 0.68
"""Least speed at which a clip is played for that [clip seconds per second]."""
_MOST_TURNS = 32
"""Most headings that a key of the closed set can tell apart."""


class PreparedActions:
    """The actions of a library, prepared for kernels, and memory for the numbers of one query.

    Not for several threads at once.

    Attributes:
        table: the actions of the library.
        states: the states of its behaviour graph.
        reaches: obstacles that its special behaviours can pass.
        arrays: arrays of the library for kernels.
        time_weight: cost of a second [m/s].
        costs: costs of the actions, those of their durations included; (A,).
        per_metre: least cost of a metre in a straight line [1/m].
        speeds: seconds of each action's clip that pass in a second; (A,).
        bins: cell size [m] and number of headings in which states count as the same.
        names: name of each action's behaviour.
        handle: the arrays, for kernels.
        query: the numbers of the latest query, for kernels; see `space._query_kernels`.
        ask: writes the numbers of a query; use `space.query.ask`.
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
        """Prepare the actions of a library.

        Args:
            table: the actions.
            discs: discs that cover the bodies, by action.
            reaches: obstacles that the special behaviours can pass, one entry for each of their clips in the order of
                the table.
            time_weight: cost of a second [m/s]; 0 counts lengths alone, as the thesis does.
            bins: cell size [m], and number of headings in a whole turn (32 at most), in which states count as the same.
            speeds: seconds of each action's clip that pass in a second (A,); None for 1. They change durations, but no
                costs: who walks slowly by nature wants to get there by the same path.

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
        self.speeds: FloatArray = read_only(np.ones(len(table)) if speeds is None else np.array(speeds, np.float64))
        self.costs: FloatArray = table.costs + time_weight * table.durations
        self.arrays = _action_arrays(table, self.states, discs, self.reaches, self.costs, self.speeds)
        travel = np.hypot(table.moves[:, 0], table.moves[:, 1])
        moving = travel > 1e-9
        self.per_metre = float((self.costs[moving] / travel[moving]).min()) if moving.any() else 0.0
        self.names = [table.behaviors[b] for b in table.behavior.tolist()]
        self.handle = ArrayHandle(self.arrays)
        self.query = ArrayHandle(np.zeros(NUMBERS))
        self.ask: Callable[..., None] = partial(_NUMBERS.pack_into, self.query.value.data, 0)
        self._resting = int(np.flatnonzero(self.states.rest >= 0)[0])
        self._passing: WeakKeyDictionary[WorldFields, ArrayHandle[IntArray]] = WeakKeyDictionary()

    def passing(self, fields: WorldFields) -> ArrayHandle[IntArray]:
        """Return the kind of obstacle in a world that each action passes, or `ORDINARY` or `NEVER`; (A,)."""
        known = self._passing.get(fields)
        if known is None:
            kinds = []
            for action, kind in enumerate(self.table.kind.tolist()):
                number = fields.passed_kind(self.table.kinds[kind]) if kind >= 0 else ORDINARY
                row = int(self.arrays.firsts[action, 2])
                useful = number >= 0 and row >= 0 and self.reaches[row].edge is None
                kinds.append(ORDINARY if kind < 0 else number if useful else NEVER)
            known = self._passing[fields] = ArrayHandle(_whole(kinds))
        return known

    def start_state(self, behavior: str | None) -> int:
        """Return the state after a behaviour; None means the first state in which a character can stand."""
        if behavior is not None:
            return int(self.states.after[self.table.index(behavior)])
        return self._resting


def _action_arrays(
    table: ActionTable, states: States, discs: BodyDiscs, reaches: tuple[Reach, ...], costs: FloatArray,
    speeds: FloatArray,
) -> ActionArrays:  # fmt: skip
    special = [action for action, kind in enumerate(table.kind.tolist()) if kind >= 0]
    if reaches and [reach.behavior for reach in reaches] != [table.behaviors[table.behavior[a]] for a in special]:
        raise LibraryError("reaches must be those of the table's special behaviours, one for each clip, in its order")
    row_of = np.full(len(table) + 1, -1)
    if reaches:
        row_of[special] = np.arange(len(special))
    followers = [_followers(states, s) for s in range(len(states))]
    rest = [int(states.action_starts[b]) if b >= 0 else -1 for b in states.rest]
    # a walk that is slowed down more than this looks like slow motion
    stretch = np.where(table.on_foot & (table.kind < 0), np.clip(speeds / SLOWEST, 1.0, MOST_STRETCH), 1.0)
    longer = np.repeat(1.0 / speeds, np.diff(discs.window_starts))
    profiles = [np.column_stack([r.lowest - MARGIN, r.highest + MARGIN]) for r in reaches]
    return ActionArrays(
        actions=_real(np.column_stack([table.moves, costs, table.durations / speeds, discs.around, stretch])),
        firsts=_whole(np.column_stack([discs.static_starts, discs.window_starts, row_of])),
        behaviors=_whole(np.column_stack([[*states.after, 0], states.action_starts])),
        states=_whole(np.column_stack([np.cumsum([0, *map(len, followers)]), [*rest, -1]])),
        followers=_whole([b for some in followers for b in some]),
        static=discs.static,
        windows=_real(np.column_stack([discs.window_times * longer[:, None], discs.window_around])),
        timed_starts=discs.timed_starts,
        timed=discs.timed,
        ways=_real(np.array([_way(r) for r in reaches]).reshape(len(reaches), 4 + 2 * WIDTHS)),
        profile_starts=_whole(np.cumsum([0, *map(len, profiles)])),
        profiles=_real(np.concatenate([np.empty((0, 2)), *profiles])),
    )


def _way(reach: Reach) -> list[float]:
    """Return the row of `ActionArrays.ways` of a reach."""
    widths = [np.full(WIDTHS, reach.half_width) for _ in range(2)]
    for row, known in zip(widths, (reach.low_widths, reach.high_widths), strict=True):
        row[: len(known)] = known[:WIDTHS]
    return [reach.heading, reach.half_width, reach.first, 1.0 / reach.cell, *widths[0].tolist(), *widths[1].tolist()]


def _followers(states: States, state: int) -> list[int]:
    """Return the behaviours to try in a state: all but idle ones, since waits are tried with what follows them."""
    every = states.followers[states.follower_starts[state] : states.follower_starts[state + 1]].tolist()
    return [b for b in every if not states.idle[b]]


def _whole(values: npt.ArrayLike) -> IntArray:
    return read_only(np.array(values, dtype=np.int64))


def _real(values: npt.ArrayLike) -> FloatArray:
    return read_only(np.array(values, dtype=np.float64))
