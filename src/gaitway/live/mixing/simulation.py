"""The dynamics of a live throng: people who walk by themselves, and others whose ways are given."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numba
import numpy as np

from gaitway.core.archives import Arrays
from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.crowd.dynamics._route_kernels import MOST_CORNERS, STAND, WAIT, WALK, SmallInts
from gaitway.crowd.dynamics.inputs import walls_of_goals
from gaitway.crowd.dynamics.simulation import _STATE
from gaitway.crowd.throng.bodies import rows_in
from gaitway.crowd.throng.simulation import ThrongSimulation, throng_options
from gaitway.world.world import World

MANY = 1500
"""Least number of people from which on several threads are worth it."""
_FARTHEST = 1e7
"""Largest number in a saved throng."""


class LiveSimulation(ThrongSimulation):
    """People by the numbers that they have in an engine. This class is **mutable**.

    Rows are either people who walk by the dynamics, or guided: parts of characters on clips, whose place and velocity
    are told before each step, and whom people walk around.

    Attributes:
        slots: number in the engine of whom each row is; (N,).
        guided: whether each row is guided; (N,).
        along: how far ahead of its root a guided row lies, for long bodies [m]; (N,).
    """

    def __init__(self, world: World, seed: int, time: float) -> None:
        """Prepare a world without people, at a time [s]."""
        super().__init__(world, replace(throng_options(), makes_way=True), seed)
        self.time = time
        self.slots: IntArray = np.empty(0, np.int64)
        self.guided: BoolArray = np.empty(0, np.bool_)
        self.along: FloatArray = np.empty(0)

    @property
    def walkers(self) -> IntArray:
        """Rows of people who walk by the dynamics; (W,)."""
        return np.flatnonzero(~self.guided)

    def rows_of(self, slots: IntArray) -> IntArray:
        """Return the first row of each number in the engine, or -1; (N,)."""
        return rows_in(self.slots, slots)

    def ways(self, places: FloatArray, goals: FloatArray, reaches: FloatArray) -> FloatArray:
        """Return the length of the way on the floor from places (N, 2) to goals (N, 2) [m]; infinity for none; (N,)."""
        count = len(places)
        areas = np.concatenate([goals, goals], axis=1)
        corners, counts = np.zeros((count, MOST_CORNERS, 2)), np.zeros(count, np.int32)
        free = np.ones(count, np.bool_)
        free[walls_of_goals(self.walls, areas)] = False
        parts = self.router.part(np.concatenate([places, goals]))
        free &= (parts[:count] == parts[count:]) & (parts[:count] > 0)
        who = np.flatnonzero(free)
        self.router.plan(who, places, areas, reaches, np.full(count, 0.5), 1.0, corners, counts)
        lengths = _lengths(places, goals, corners, counts, np.zeros(count, np.int64))
        return np.where(free & (counts >= 0), lengths, np.inf)

    def left(self, rows: IntArray) -> FloatArray:
        """Return the length of the way that is left to some people [m]; (N,)."""
        goals = 0.5 * (self._goals[rows, :2] + self._goals[rows, 2:])
        return _lengths(self._positions[rows], goals, self._corners[rows], self._counts[rows],
                        self._numbers[rows].astype(np.int64))  # fmt: skip

    def enter(
        self, slots: IntArray, places: FloatArray, headings: FloatArray, speeds: FloatArray, along: FloatArray
    ) -> None:
        """Add guided rows, which are not present until they are guided.

        Args:
            slots: numbers in the engine; (N,).
            places: x, y [m]; (N, 2).
            headings: which way trunks face [rad]; (N,).
            speeds: speeds at which they walk when nobody is in the way [m/s]; (N,).
            along: see the attribute; (N,).
        """
        count = len(slots)
        rng = np.random.default_rng([self.seed, self._next_id])
        ids = np.arange(self._next_id, self._next_id + count)
        self._next_id += count
        self._grow(
            _ids=ids, _positions=places, _velocities=np.zeros((count, 2)),
            _faces=np.stack([np.cos(headings), np.sin(headings)], axis=-1),
            _goals=np.concatenate([places, places], axis=1), _reaches=np.full(count, 0.3), _speeds=speeds,
            _shares=rng.uniform(size=count), _slow=np.zeros(count), _lane_sides=np.zeros(count),
            _groups=np.full(count, -1),
            _modes=np.full(count, STAND), _departs=np.full(count, -np.inf), _holds=places,
            _present=np.zeros(count, np.bool_), _arrived=np.zeros(count, np.bool_),
            _corners=np.zeros((count, MOST_CORNERS, 2)), _counts=np.zeros(count), _numbers=np.zeros(count),
            _marks=places, _mark_times=np.full(count, self.time), _blockers=np.full(count, -1),
            _gathered=np.zeros(count, np.bool_), _holders=np.full(count, -1), _led=np.zeros(count, np.bool_),
            _yields=np.zeros((count, 5)),
        )  # fmt: skip
        self.slots = np.concatenate([self.slots, slots])
        self.guided = np.concatenate([self.guided, np.ones(count, np.bool_)])
        self.along = np.concatenate([self.along, along])

    def leave(self, rows: IntArray) -> None:
        """Remove rows."""
        keep = np.ones(len(self.slots), np.bool_)
        keep[rows] = False
        self.remove(self._ids[rows])
        self.slots, self.guided, self.along = self.slots[keep], self.guided[keep], self.along[keep]

    def guide(self, rows: IntArray, places: FloatArray, headings: FloatArray, velocities: FloatArray) -> None:
        """Tell where guided rows are now: x, y [m] (N, 2), headings [rad] (N,), velocities [m/s] (N, 2)."""
        self._positions[rows] = self._holds[rows] = places
        self._faces[rows] = np.stack([np.cos(headings), np.sin(headings)], axis=-1)
        self._velocities[rows] = velocities

    def show(self, rows: IntArray, present: BoolArray, arrived: BoolArray) -> None:
        """Tell which guided rows are near enough to matter (N,), and which of them stand at their goals (N,)."""
        self._present[rows], self._arrived[rows] = present, arrived

    def step(self, dt: float) -> None:
        """Move everybody on by a time [s]; few people on one thread, which is not worth to be divided."""
        before = numba.get_num_threads()
        if len(self.slots) < MANY:
            numba.set_num_threads(1)
        try:
            super().step(dt)
        finally:
            numba.set_num_threads(before)

    def places_of_all(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return copies of numbers in the engine (N,), places [m] (N, 2) and unit vectors of trunks (N, 2)."""
        return self.slots.copy(), self._positions.copy(), self._faces.copy()

    def put_back(self, who: IntArray, slots: IntArray, places: FloatArray, faces: FloatArray, share: float) -> None:
        """Put some people back to where they were, see `places_of_all`; they keep a share of their velocity."""
        then = rows_in(slots, who)
        self.put_rows_back(self.rows_of(who), places[then], faces[then], share)

    def let_walk(
        self, rows: IntArray, velocities: FloatArray, goals: FloatArray, reaches: FloatArray, there: BoolArray
    ) -> None:
        """Let guided people walk by the dynamics.

        Args:
            rows: their rows; (N,).
            velocities: velocities now [m/s]; (N, 2).
            goals: goals: x, y [m]; (N, 2).
            reaches: distances from the goals at which they have arrived [m]; (N,).
            there: whether they stand at their goals already; (N,).
        """
        self.guided[rows], self._present[rows] = False, True
        self._velocities[rows], self._slow[rows], self._gathered[rows] = velocities, 0.0, False
        self._yields[rows] = 0.0
        self.aim(rows, goals, reaches)
        self._modes[rows[there]], self._arrived[rows[there]] = STAND, True

    def aim(self, rows: IntArray, goals: FloatArray, reaches: FloatArray) -> None:
        """Give people goals (N, 2) and the distances from them that are near enough (N,) [m]."""
        self._reaches[rows] = reaches
        self._goals[rows] = np.concatenate([goals, goals], axis=1)
        self._arrived[rows], self._modes[rows], self._slow[rows] = False, WALK, 0.0
        self._marks[rows], self._mark_times[rows] = self._positions[rows], self.time
        self._gathered[rows] = False
        self._plan(rows)

    def stop(self, rows: IntArray) -> None:
        """Let people stand where they are."""
        self._modes[rows], self._holds[rows] = STAND, self._positions[rows]

    def rest(self, rows: IntArray) -> None:
        """Let people have arrived where they are."""
        self.stop(rows)
        self._arrived[rows] = True

    def kept_from_goals(self, rows: IntArray, tolerances: FloatArray, after: float) -> BoolArray:
        """Return who is near enough to its goal (N,) [m], and has been held up there for a time [s]; (N,)."""
        goals = 0.5 * (self._goals[rows, :2] + self._goals[rows, 2:])
        near = np.hypot(*(self._positions[rows] - goals).T) <= tolerances
        return np.asarray(near & (self._modes[rows] == WALK) & (self._slow[rows] >= after))

    def _makes_way(self) -> BoolArray:
        return np.asarray(super()._makes_way() & ~self.guided)

    def let_guide(self, rows: IntArray) -> None:
        """Guide people from now on who walked by themselves."""
        self.guided[rows], self._modes[rows], self._gathered[rows] = True, STAND, False

    def set_place(self, place: Any) -> None:
        """Take another world; who is in its walls is led out of them, and everybody plans anew."""
        before, self._present = self._present, np.zeros(len(self._present), np.bool_)  # nobody jumps out of a wall
        super().set_place(place)
        self._present = before
        if len(before):
            rows = np.flatnonzero(~self.guided & (self._modes == WALK))
            self._marks[rows], self._mark_times[rows] = self._positions[rows], self.time
            self._plan(rows)

    def pressed(self, after: float) -> IntArray:
        """Return rows of guided people who are in the way of somebody who has been held up for a time [s]; (N,)."""
        held = np.flatnonzero((self._modes == WALK) & (self._slow > after) & (self._blockers >= 0) & self._present)
        found = np.unique(self._blockers[held])
        return np.asarray(found[self.guided[found]])

    def chain_of(self, row: int) -> list[int]:
        """Return rows of who is in the way of somebody, then of who is in the way of that one, and so on."""
        chain: list[int] = []
        at = int(self._blockers[row])
        while at >= 0 and at not in chain and at != row and len(chain) < 6:
            chain.append(at)
            at = int(self._blockers[at])
        return chain

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return values and arrays that `restore` needs."""
        values = {"tick": self._tick, "next": self._next_id}
        own = {name[1:]: getattr(self, name).copy() for name in _STATE}
        return values, own | {"slots": self.slots.copy(), "guided": self.guided.copy(), "along": self.along.copy()}

    def restore(self, values: dict[str, Any], arrays: Arrays, time: float) -> None:
        """Go on from a saved state.

        Raises:
            ValueError: if it cannot be.
        """
        count = len(arrays["slots"])
        for name in (*_STATE, "_slots", "_guided", "_along"):
            now, found = getattr(self, name, getattr(self, name[1:], None)), np.array(arrays[name[1:]])
            assert now is not None
            if found.shape != (count, *now.shape[1:]) or np.isnan(found.astype(np.float64)).any():
                raise ValueError("tables of a throng that do not fit together")
            if name != "_departs" and (np.abs(found.astype(np.float64)) > _FARTHEST).any():
                raise ValueError("a throng with numbers that cannot be")
            setattr(self, name if name in _STATE else name[1:], found.astype(now.dtype))
        self._tick, self._next_id, self.time = int(values["tick"]), int(values["next"]), time
        rows = np.arange(count)
        fine = (
            np.isin(self._modes, (WALK, WAIT, STAND)).all()
            and (self._counts <= MOST_CORNERS).all()
            and ((self._numbers >= 0) & (self._numbers <= MOST_CORNERS)).all()
            and ((self._blockers >= -2) & (self._blockers < count)).all()
            and (np.diff(self._ids) > 0).all()
            and (not count or (self._ids[-1] < self._next_id and self._ids[0] >= 0))
            and (np.abs(np.hypot(*self._faces.T) - 1.0) < 1e-3).all()
            and (self._speeds > 0.0).all()
        )
        if not fine or len(np.unique(self.slots[~self.guided])) != len(rows[~self.guided]):
            raise ValueError("people of a throng that cannot be")


def _lengths(
    places: FloatArray, goals: FloatArray, corners: FloatArray, counts: SmallInts, numbers: IntArray
) -> FloatArray:
    """Return lengths of ways over the corners that are left, to goals [m]; (N,)."""
    out, at = np.zeros(len(places)), places.copy()
    for k in range(MOST_CORNERS):
        used = (k >= numbers) & (k < counts)
        out[used] += np.hypot(*(corners[used, k] - at[used]).T)
        at[used] = corners[used, k]
    return np.asarray(out + np.hypot(*(goals - at).T))
