"""Simulation of pedestrians: people with goals, who walk around walls and one another."""

from __future__ import annotations

import math

import numba
import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.errors import CrowdError
from gaitway.crowd.dynamics import (
    _avoidance_kernels,
    _contact_kernels,
    _people_kernels,
    _route_kernels,
    starts,
    yielding,
)
from gaitway.crowd.dynamics._people_kernels import FX, PARAMETERS, PEOPLE, StepRows, X
from gaitway.crowd.dynamics._route_kernels import MOST_CORNERS, STAND, WAIT, WALK
from gaitway.crowd.dynamics.company import JOIN, SERVED, CrowdQueue, kept_together
from gaitway.crowd.dynamics.going_around import HELD, who_goes_around, wishes_around
from gaitway.crowd.dynamics.inputs import areas_of, row_of, table_of, walls_of_goals
from gaitway.crowd.dynamics.making_way import way_made
from gaitway.crowd.dynamics.movers import MoverWatch, MovingWalls
from gaitway.crowd.dynamics.options import CrowdOptions
from gaitway.crowd.dynamics.routing import CrowdRouter
from gaitway.crowd.dynamics.stuck import StuckPerson, blocking_chain, stuck_person
from gaitway.crowd.dynamics.walls import WallHash, Walls
from gaitway.crowd.trajectories import Trajectories, joined
from gaitway.world.world import World

_MOST_THREADS: int = getattr(numba.config, "NUMBA_NUM_THREADS", 1)
_COVERED = 0.35
"""Distance of somebody who stands from a goal within which there is no room at the goal for another [m]."""
_AROUND_GOAL, _MORE_AROUND = 1.2, 0.5
"""Distance from a goal that is held within which people gather around it, and more by the root of how many they are
[m]."""
SLOWEST, FASTEST = 0.5, 2.2
"""Range of the speeds that are drawn [m/s]."""


class CrowdSimulation:
    """People who walk to their goals. This class is **mutable**: `step` moves them.

    People are numbered by ids from 0 on, in the order in which they were added. All arrays are in the order of `ids`.
    The same calls give the same bytes with any number of threads.
    """

    foresees = False
    """Whether people look ahead at where things go that move by themselves."""

    def __init__(self, place: World | Walls, options: CrowdOptions | None = None, seed: int = 0) -> None:
        """Prepare a place without people.

        Args:
            place: a world, or walls.
            options: how people walk.
            seed: seed of what differs between people: their speeds, and which side they prefer.
        """
        self.options = options or CrowdOptions()
        self.seed = seed
        self.time = 0.0
        self.repairs: list[str] = []
        """What was repaired in the input, one line each."""
        self._tick = 0
        self._next_id = 0
        self._ids = np.empty(0, np.int64)
        self._positions, self._velocities, self._faces = np.empty((0, 2)), np.empty((0, 2)), np.empty((0, 2))
        self._goals, self._reaches = np.empty((0, 4)), np.empty(0)
        self._speeds, self._shares, self._slow = np.empty(0), np.empty(0), np.empty(0)
        self._lane_sides = np.empty(0)
        self._groups = np.empty(0, np.int64)
        self._modes = np.empty(0, np.int32)
        self._departs = np.empty(0)
        self._holds = np.empty((0, 2))
        self._present, self._arrived = np.empty(0, np.bool_), np.empty(0, np.bool_)
        self._corners = np.empty((0, MOST_CORNERS, 2))
        self._counts, self._numbers = np.empty(0, np.int32), np.empty(0, np.int32)
        self._marks, self._mark_times = np.empty((0, 2)), np.empty(0)
        self._blockers = np.empty(0, np.int64)
        self._gathered, self._holders = np.empty(0, np.bool_), np.empty(0, np.int64)
        self._led = np.empty(0, np.bool_)
        self._yields = np.empty((0, 5))
        self._dodge = np.empty(0, np.int64)
        self._queues: list[CrowdQueue] = []
        self._step_rows = StepRows()
        self.set_place(place)

    # what one can ask

    @property
    def ids(self) -> IntArray:
        """Ids; (N,)."""
        return self._ids.copy()

    @property
    def positions(self) -> FloatArray:
        """Where people are, or were when they left [m]; (N, 2)."""
        return self._positions.copy()

    @property
    def velocities(self) -> FloatArray:
        """Velocities [m/s]; (N, 2)."""
        return self._velocities.copy()

    @property
    def headings(self) -> FloatArray:
        """Which way trunks face [rad], which may differ from the way that people go; (N,)."""
        return np.arctan2(self._faces[:, 1], self._faces[:, 0])

    @property
    def arrived(self) -> BoolArray:
        """Whether people have reached their goals; (N,)."""
        return self._arrived.copy()

    @property
    def present(self) -> BoolArray:
        """Whether people are in the place; those who arrived and left are not; (N,)."""
        return self._present.copy()

    @property
    def unreachable(self) -> BoolArray:
        """Whether there is no way from where people are to their goals; (N,)."""
        return np.asarray(self._counts < 0)

    @property
    def waiting(self) -> BoolArray:
        """Whether people wait to depart; (N,)."""
        return np.asarray(self._modes == WAIT)

    @property
    def gathered(self) -> BoolArray:
        """Whether people stand around a goal that somebody else holds; (N,)."""
        return self._gathered.copy()

    def __len__(self) -> int:
        return len(self._ids)

    # what one can change

    def set_place(self, place: World | Walls) -> None:
        """Take another place or an edited world; everybody plans anew. People who are in its walls are moved out."""
        self._world = place if isinstance(place, World) else None
        self.walls = Walls.of(place) if isinstance(place, World) else place
        body = self.options.body
        self.router = CrowdRouter(self.walls, body.radius + 0.03)
        self._edges = self.walls.segments()
        self._hash = WallHash.of(self._edges, self.walls.bounds, body.reach + _avoidance_kernels.WALL_SIGHT)
        self._moving_walls = MovingWalls(self._world, self._hash, body.reach + _avoidance_kernels.MOVER_SIGHT)
        self._movers = (
            MoverWatch(place, body.reach, self.options.agility)
            if self.foresees and isinstance(place, World) and place.movers
            else None
        )
        self._starts = np.zeros(self._hash.shape[0] * self._hash.shape[1] + 1, np.int64)
        here = np.flatnonzero(self._present)
        if len(here):
            self._positions[here], said = starts.repaired(
                self._positions[here], self.headings[here], np.empty((0, 2)), self.walls, self.router, body
            )
            self.repairs += said
            self._plan(here)

    def add(
        self,
        positions: npt.ArrayLike,
        goals: npt.ArrayLike,
        *,
        speeds: npt.ArrayLike | None = None,
        groups: npt.ArrayLike | None = None,
        headings: npt.ArrayLike | None = None,
        departs: npt.ArrayLike | None = None,
        reach: npt.ArrayLike = 0.4,
    ) -> IntArray:
        """Add people.

        Args:
            positions: where they start [m]; (N, 2).
            goals: where they go [m]: points (N, 2) or (2,), or areas xmin, ymin, xmax, ymax (N, 4) or (4,).
            speeds: speeds at which they walk when nobody is in the way [m/s]; (N,); None draws them.
            groups: numbers of the groups that walk together, -1 for people alone; (N,); None for nobody in a group.
            headings: which way trunks face [rad]; (N,); None for the way that they will go.
            departs: times until which they wait [s], infinity for `release`; (N,) or one; None for at once.
            reach: distance from the goal at which they have arrived [m]; (N,) or one.

        Returns:
            Their ids; (N,).

        Raises:
            CrowdError: if a number is not finite or impossible, or nobody can stand there.
        """
        spots = table_of(positions, "positions", None, 2)
        count = len(spots)
        areas = areas_of(goals, count)
        reaches = row_of(reach, "reach", count, 0.05, 1000.0)
        rng = np.random.default_rng([self.seed, self._next_id])
        drawn = rng.normal(self.options.speed_mean, self.options.speed_spread, count)
        shares, own = rng.uniform(size=count), drawn.clip(SLOWEST, FASTEST)
        if speeds is not None:
            own = row_of(speeds, "speeds", count, 0.05, 5.0)
        members = np.full(count, -1) if groups is None else np.asarray(groups, dtype=np.int64).reshape(-1)
        if len(members) != count:
            raise CrowdError(f"groups of {len(members)} people for {count}; write one number for each, -1 for none")
        times = np.full(count, -np.inf) if departs is None else row_of(departs, "departs", count, -np.inf, np.inf)
        way = 0.5 * (areas[:, :2] + areas[:, 2:]) - spots
        facing = np.arctan2(way[:, 1], way[:, 0])
        if headings is not None:
            facing = row_of(headings, "headings", count, -1e6, 1e6)
        blocked = walls_of_goals(self.walls, areas)
        if len(blocked):
            number = int(blocked[0])
            raise CrowdError(
                f"goal of person {number} at {np.round(areas[number], 3).tolist()} lies in a wall or out of bounds; "
                "write a goal where somebody can stand"
            )
        here = self._present
        spots, said = starts.repaired(spots, facing, self._positions[here], self.walls, self.router, self.options.body)
        self.repairs += said
        first = len(self._ids)
        ids = np.arange(self._next_id, self._next_id + count)
        self._next_id += count
        members = np.where(members >= 0, members, -1)
        for group in np.unique(members[members >= 0]).tolist():
            shares[members == group] = shares[members == group][0]  # a group passes on one side
        self._grow(
            _ids=ids,
            _positions=spots,
            _velocities=np.zeros((count, 2)),
            _faces=np.stack([np.cos(facing), np.sin(facing)], axis=-1),
            _goals=areas,
            _reaches=reaches,
            _speeds=own,
            _shares=shares,
            _slow=np.zeros(count),
            _lane_sides=np.zeros(count),
            _groups=members,
            _modes=np.where(times > self.time, WAIT, WALK).astype(np.int32),
            _departs=times,
            _holds=spots,
            _present=np.ones(count, np.bool_),
            _arrived=np.zeros(count, np.bool_),
            _corners=np.zeros((count, MOST_CORNERS, 2)),
            _counts=np.zeros(count, np.int32),
            _numbers=np.zeros(count, np.int32),
            _marks=spots,
            _mark_times=np.full(count, self.time),
            _blockers=np.full(count, -1),
            _gathered=np.zeros(count, np.bool_),
            _holders=np.full(count, -1),
            _led=np.zeros(count, np.bool_),
            _yields=np.zeros((count, 5)),
        )
        self._plan(np.arange(first, first + count))
        return ids

    def remove(self, ids: npt.ArrayLike) -> None:
        """Remove people; later ones move up in all arrays."""
        keep = np.ones(len(self._ids), dtype=bool)
        keep[self._rows(ids)] = False
        gone = set(self._ids[~keep].tolist())
        for name in _STATE:
            setattr(self, name, np.ascontiguousarray(getattr(self, name)[keep]))
        self._blockers[:] = -1  # until the next step: rows have moved
        for queue in self._queues:
            queue.coming = [person for person in queue.coming if person not in gone]
            queue.waiting = [person for person in queue.waiting if person not in gone]
        self._scatter()

    def release(self, ids: npt.ArrayLike) -> None:
        """Let people who wait depart now."""
        rows = self._rows(ids)
        rows = rows[self._modes[rows] == WAIT]
        self._departs[rows] = self.time
        self._depart(rows)

    def lead(
        self, person: int, position: npt.ArrayLike, velocity: npt.ArrayLike = (0.0, 0.0), heading: float = 0.0
    ) -> None:
        """Put a person somewhere, who from now on goes only where it is put and gives no way; call it before each step.

        Args:
            person: id.
            position: where it is now [m]; (2,).
            velocity: where it goes, which others see [m/s]; (2,).
            heading: which way its trunk faces [rad].

        Raises:
            CrowdError: if there is no such person, or a number is not finite.
        """
        row = int(self._rows(person)[0])
        numbers = np.array([*np.ravel(position), *np.ravel(velocity), heading], dtype=np.float64)
        if numbers.shape != (5,) or not np.isfinite(numbers).all():
            raise CrowdError(f"person {person} is led to {numbers.tolist()}; write finite x, y, velocity and heading")
        self._positions[row] = self._holds[row] = self._marks[row] = numbers[:2]
        self._velocities[row] = numbers[2:4]
        self._faces[row] = np.cos(heading), np.sin(heading)
        self._modes[row], self._led[row], self._arrived[row] = STAND, True, True

    def queue(self, ids: npt.ArrayLike, line: npt.ArrayLike, service: float = 2.0) -> CrowdQueue:
        """Let people queue before they go to their goals.

        Args:
            ids: people; others may join the same queue later by `join`.
            line: where people stand, from the head on [m]; (K, 2).
            service: time for which whoever is at the head is served [s].
        """
        queue = CrowdQueue.of(line, service)
        self._queues.append(queue)
        self.join(ids, queue)
        return queue

    def join(self, ids: npt.ArrayLike, queue: CrowdQueue) -> None:
        """Let people queue at the end of a queue."""
        rows = self._rows(ids)
        for row in rows.tolist():
            queue.goals[int(self._ids[row])] = self._goals[row].copy()
            queue.coming.append(int(self._ids[row]))
        self._line_up(queue)

    def set_goals(self, ids: npt.ArrayLike, goals: npt.ArrayLike) -> None:
        """Give people other goals, as in `add`. Those who stood at their goals walk again."""
        rows = self._rows(ids)
        self._goals[rows] = areas_of(goals, len(rows))
        self._arrived[rows] = False
        self._modes[rows[self._modes[rows] == STAND]] = WALK
        self._marks[rows], self._mark_times[rows] = self._positions[rows], self.time
        self._plan(rows)
        self._scatter()

    def step(self, dt: float) -> None:
        """Move everybody on by a time [s]; long times are divided into steps of `CrowdOptions.step`."""
        if not (math.isfinite(dt) and dt > 0.0):
            raise CrowdError(f"a step of {dt} s; write a time above 0")
        count = max(math.ceil(dt / self.options.step - 1e-9), 1)
        before = numba.get_num_threads()
        if self.options.threads is not None:
            numba.set_num_threads(min(self.options.threads, _MOST_THREADS))
        try:
            for _ in range(count):
                self._step(dt / count)
        finally:
            numba.set_num_threads(before)

    # what went wrong

    def stuck(self) -> list[StuckPerson]:
        """Return who has made no progress for `CrowdOptions.stuck_after`, since when, and who is in the way."""
        walking = self._present & (self._modes == WALK) & ~self._arrived
        late = self.time - self._mark_times >= self.options.stuck_after - 1e-9
        return [self._stuck(int(row)) for row in np.flatnonzero((walking & late) | self._gathered)]

    def overlaps(self) -> FloatArray:
        """Return how deep each person's body is in the one that it is deepest in [m]; 0 if in none; (N,)."""
        active = np.flatnonzero(self._present)
        out, deepest = np.zeros(len(self._ids)), np.zeros(len(active))
        order = self._sorted(active)
        people = np.zeros((len(active), PEOPLE))
        people[:, X : X + 2], people[:, FX : FX + 2] = self._positions[order], self._faces[order]
        body = self.options.body
        shape = np.array(self._hash.shape)
        _contact_kernels.overlaps(people, self._starts, shape, body.radius, body.half_length, deepest)
        out[order] = deepest
        return out

    def wall_gaps(self) -> FloatArray:
        """Return the distance of each person's body from walls and bounds [m]; negative inside of them; (N,)."""
        axes = self.options.body.half_length * np.stack([-self._faces[:, 1], self._faces[:, 0]], axis=-1)
        points = np.concatenate([self._positions + t * axes for t in (-1.0, -0.5, 0.0, 0.5, 1.0)])
        gaps: FloatArray = self.walls.depths(points).reshape(5, -1).min(axis=0) - self.options.body.radius
        return gaps

    # how it is done

    def _step(self, dt: float) -> None:
        self._depart(np.flatnonzero((self._modes == WAIT) & (self._departs <= self.time + 1e-9)))
        active = np.flatnonzero(self._present)
        wishes = np.zeros((len(self._ids), 2))
        lost, inside = np.zeros(len(self._ids), np.bool_), np.zeros(len(self._ids), np.bool_)
        if len(active):
            _route_kernels.follow(
                self.router.cells,
                self.router.strides,
                self.router.width,
                self.router.place,
                active,
                self._positions,
                self._modes,
                self._holds,
                self._goals,
                self._reaches,
                self._speeds,
                self._corners,
                self._counts,
                self._numbers,
                self._tick,
                self.options.at_goal == "stand",
                wishes,
                lost,
                inside,
            )
            if self._queues:
                inside[self._queued()] = False
            together = active[(self._groups[active] >= 0) & (self._modes[active] == WALK)]
            if len(together):
                wishes[together] = kept_together(
                    self._positions[together], wishes[together], self._speeds[together], self._groups[together]
                )
            held = self._held()
            self._go_around(held, wishes)
            if self.options.yield_after > 0.0:
                self._step_back(held, wishes, dt)
            aside = self._make_way(wishes)
            faces = self._faces[aside]
            if self._movers is not None:
                self._dodge = self._movers.change_wishes(
                    active[~self._led[active]], self._positions, self._velocities, wishes, self.time, self._hash,
                    self._modes == STAND,
                )  # fmt: skip
            self._move(active, wishes, held, aside, dt)
            self._faces[aside] = faces  # who takes a step aside does not turn for it
        self.time += dt
        self._tick += 1
        self._arrive(np.flatnonzero(inside))
        for queue in self._queues:
            self._serve(queue, dt)
        if self.options.at_goal == "stand" and self._tick % 10 == 0:
            self._gather()
        again = np.flatnonzero(lost & (self._counts >= 0) & self._present)
        if len(again):
            self._plan(again)

    def _held(self) -> IntArray:
        """Return the rows of those who walk, and who have been held up for a while."""
        return np.flatnonzero((self._slow > HELD) & (self._modes == WALK) & self._present)

    def _go_around(self, held: IntArray, wishes: FloatArray) -> None:
        """Let people who are held up by somebody who stands go around, to the side that is nearer to their way."""
        since = self.time - self._mark_times[held]
        around = who_goes_around(self._blockers[held], since, self._modes == WALK, self.options.at_goal == "stand")
        held, since = held[around], since[around]
        if len(held):
            blockers = self._blockers[held, None]
            to = np.where(blockers >= 0, self._positions[np.maximum(blockers[:, 0], 0)] - self._positions[held], 0.0)
            wishes[held] = wishes_around(wishes[held], to, since)

    def _step_back(self, held: IntArray, wishes: FloatArray, dt: float) -> None:
        """Let people step back who press against others from two sides, see `yielding`."""
        if math.floor((self.time + dt) / yielding.LOOK_EVERY) > math.floor(self.time / yielding.LOOK_EVERY):
            late = held[self.time - self._mark_times[held] > self.options.yield_after]
            late = late[self._yields[late, 0] <= self.time]
            found = yielding.who_yields(late, self._positions[late], self._ways_ahead(late), self._mark_times[late])
            self._yields[found.rows] = np.column_stack([self.time + found.seconds, found.centers, found.lines])
            waits = held[self._yields[held, 0] <= self.time]
            if len(waits) and (self._yields[:, 0] > self.time).any():
                back = self._yields[:, 0] > self.time
                ways = np.zeros_like(self._positions)
                ways[back] = self._ways_ahead(np.flatnonzero(back))
                blockers = self._blockers[waits]
                more = yielding.who_follows(waits, self._ways_ahead(waits), blockers, back, ways)
                self._yields[more] = self._yields[self._blockers[more]]
        rows = np.flatnonzero((self._yields[:, 0] > self.time) & (self._modes == WALK) & self._present)
        if len(rows):
            centers, lines = self._yields[rows, 1:3], self._yields[rows, 3:]
            wishes[rows] = yielding.wishes_back(self._positions[rows], self._ways_ahead(rows), centers, lines)
            self._marks[rows], self._mark_times[rows] = self._positions[rows], self.time

    def _makes_way(self) -> BoolArray:
        """Return who may be asked to step aside; (N,)."""
        return np.asarray(self._present & (self._modes == STAND) & ~self._led)

    def _make_way(self, wishes: FloatArray) -> IntArray:
        """Let people who stand step aside for those who come; return who is away from its place."""
        rows = np.flatnonzero(self._makes_way()) if self.options.makes_way else np.empty(0, np.int64)
        if not len(rows):
            return rows
        speeds = np.hypot(wishes[:, 0], wishes[:, 1])
        coming = np.flatnonzero(self._present & (self._modes == WALK) & (speeds > 0.1))
        goals = self._positions[coming].clip(self._goals[coming, :2], self._goals[coming, 2:])
        left = np.hypot(*(goals - self._positions[coming]).T)
        ways = wishes[coming] / speeds[coming, None]
        found = way_made(self._positions[rows], self._holds[rows], self._positions[coming], ways, left)
        wishes[rows[found.asked]] = found.wishes[found.asked]
        return np.asarray(rows[found.asked | (np.hypot(wishes[rows, 0], wishes[rows, 1]) > 0.0)])

    def _ways_ahead(self, rows: IntArray) -> FloatArray:
        """Return the directions in which people want to go in the end, as unit vectors; (N, 2)."""
        goals = 0.5 * (self._goals[rows, :2] + self._goals[rows, 2:])
        corners, counts, numbers = self._corners[rows], self._counts[rows], self._numbers[rows]
        return yielding.ways_ahead(self._positions[rows], goals, corners, counts, numbers)

    def _ranks(self, held: IntArray, aside: IntArray) -> FloatArray:
        """Return the ranks of people; who stands in the way of somebody who is held up gives way; (N,)."""
        holds = (self._modes == STAND) & ~self._gathered
        holds[aside] = False
        asked = self._blockers[held]
        asked = asked[asked >= 0]
        holds[asked[~self._led[asked]]] = False
        return np.where(holds, 2.0, self._shares)

    def _move(self, active: IntArray, wishes: FloatArray, held: IntArray, aside: IntArray, dt: float) -> None:
        """Choose velocities and move the people of some rows."""
        options, order = self.options, self._sorted(active)
        rows = self._step_rows.fit(len(order), options.neighbors, len(self._starts) - 1)
        _people_kernels.gather(
            order,
            self._positions,
            self._velocities,
            self._faces,
            wishes,
            self._slow,
            self._ranks(held, aside),
            self._lane_sides,
            self._tick,
            rows.people,
            rows.rest,
        )
        walls, later = self._moving_walls.at(self.time), self._moving_walls.at(self.time + dt)
        shape = np.array(self._hash.shape)
        parameters = self._parameters(dt)
        _people_kernels.sum_flow(rows.people, self._starts, rows.flow)
        _avoidance_kernels.choose_velocities(
            rows.people,
            rows.rest,
            self._starts,
            walls.place,
            shape,
            walls.edges,
            walls.velocities,
            walls.starts,
            walls.entries,
            rows.flow,
            parameters,
            rows.near,
            rows.counts,
            rows.blockers,
        )
        _contact_kernels.settle(
            rows.people,
            rows.rest,
            rows.near,
            rows.counts,
            later.place,
            shape,
            later.edges,
            later.starts,
            later.entries,
            parameters,
            options.sweeps,
            rows.moved,
        )
        _people_kernels.scatter(
            order,
            rows.people,
            rows.blockers,
            self._modes == WALK,
            self.time + dt,
            dt,
            3.0 * options.patience,
            self._positions,
            self._velocities,
            self._faces,
            self._slow,
            self._lane_sides,
            self._marks,
            self._mark_times,
            self._blockers,
            rows.rest,
        )

    def _parameters(self, dt: float) -> FloatArray:
        options, body = self.options, self.options.body
        out = np.array(
            [
                dt,
                body.radius,
                body.half_length,
                options.horizon,
                max(options.headway, 1e-3),
                options.patience,
                options.sight,
                math.cos(options.trunk_turn),
                options.trunk_rate,
                float(options.model == "social_force"),
                1.0 / float(self._hash.place[2]),
                options.lanes,
                self._contact_reach(dt),
                options.keep_side,
                options.agility,
            ]
        )
        assert len(out) == PARAMETERS
        return out

    def _contact_reach(self, dt: float) -> float:
        """Return the distance beyond which no two people can touch within a step, however they are pushed [m]."""
        fastest = _avoidance_kernels.HASTE * float(self._speeds.max(initial=0.0)) + _avoidance_kernels.SPARE_SPEED
        pushed = 2.0 * self.options.sweeps * _contact_kernels.FARTHEST_PUSH
        return 2.0 * (self.options.body.reach + fastest * dt + pushed) + _contact_kernels.SLOP

    def _sorted(self, active: IntArray) -> IntArray:
        order, cells = np.empty(len(active), np.int64), np.empty(len(active), np.int64)
        columns, rows = self._hash.shape
        _people_kernels.sort_people(
            self._positions, active, self._hash.place, columns, rows, cells, self._starts, order
        )
        return order

    def _arrive(self, rows: IntArray) -> None:
        rows = rows[self._modes[rows] == WALK]
        self._arrived[rows] = True
        if self.options.at_goal == "leave":
            self._present[rows] = False
            self._velocities[rows] = 0.0
        else:
            self._modes[rows] = STAND
            self._holds[rows] = self._positions[rows].clip(self._goals[rows, :2], self._goals[rows, 2:])

    def _queued(self) -> IntArray:
        """Return the rows of those who are on their way to a queue; they have not arrived when they reach it."""
        return self._rows([person for queue in self._queues for person in queue.coming])

    def _serve(self, queue: CrowdQueue, dt: float) -> None:
        """Let people line up, and whoever has been served go on."""
        if queue.waiting:
            head = int(self._rows(queue.waiting[0])[0])
            if np.hypot(*(self._positions[head] - queue.spot(0))) < SERVED:
                queue.served += dt
            if queue.served >= queue.service - 1e-9 and queue.served > 0.0:
                queue.served = 0.0
                person = queue.waiting.pop(0)
                self._goals[head] = queue.goals.pop(person)
                self._depart(np.array([head]))
                self._plan(np.array([head]))
                for number, other in enumerate(queue.waiting):
                    self._holds[self._rows(other)[0]] = queue.spot(number)
                self._line_up(queue)
        if queue.coming:
            rows = self._rows(queue.coming)
            away = np.hypot(*(self._positions[rows] - queue.spot(len(queue.waiting))).T)
            nearest = int(away.argmin())
            if away[nearest] < JOIN:
                row, person = int(rows[nearest]), queue.coming.pop(nearest)
                self._modes[row], self._departs[row] = WAIT, np.inf
                self._holds[row] = queue.spot(len(queue.waiting))
                queue.waiting.append(person)
                self._line_up(queue)

    def _line_up(self, queue: CrowdQueue) -> None:
        """Send those who are on their way to a queue to where it ends now."""
        if queue.coming:
            rows = self._rows(queue.coming)
            self._goals[rows] = np.tile(queue.spot(len(queue.waiting)), 2)
            self._plan(rows)

    def _gather(self) -> None:
        """Let those who cannot come nearer to a goal that somebody holds stand around it."""
        standing = np.flatnonzero(self._present & self._arrived & (self._modes == STAND))
        if not len(standing):
            return
        late = np.flatnonzero(self._present & (self._modes == WALK) & (self._slow >= self.options.patience))
        goals = 0.5 * (self._goals[:, :2] + self._goals[:, 2:])
        around = np.flatnonzero(self._gathered)
        farthest = _AROUND_GOAL + _MORE_AROUND * np.sqrt(len(standing) + len(around))
        away = np.hypot(*(self._positions[late] - goals[late]).T)
        for row in late[away < farthest].tolist():
            same = standing[np.hypot(*(self._positions[standing] - goals[row]).T) < _COVERED]
            crowd = around[np.hypot(*(goals[around] - goals[row]).T) < 0.6]
            near = _AROUND_GOAL + _MORE_AROUND * np.sqrt(len(same) + len(crowd))
            if len(same) and np.hypot(*(self._positions[row] - goals[row])) < near:
                self._modes[row], self._gathered[row] = STAND, True
                self._holds[row] = self._positions[row]
                self._holders[row] = self._ids[same[0]]

    def _scatter(self) -> None:
        """Let those who stand around a goal try again."""
        rows = np.flatnonzero(self._gathered)
        self._gathered[rows] = False
        self._modes[rows] = WALK
        self._slow[rows] = 0.0

    def _depart(self, rows: IntArray) -> None:
        self._modes[rows] = WALK
        self._marks[rows], self._mark_times[rows] = self._positions[rows], self.time

    def _plan(self, rows: IntArray) -> None:
        """Look up the ways of people."""
        side = -1.0 if self.options.keep_side < 0.0 else 1.0
        self.router.plan(
            rows, self._positions, self._goals, self._reaches, self._shares, side, self._corners, self._counts
        )
        self._numbers[rows] = 0

    def _stuck(self, row: int) -> StuckPerson:
        """Tell who is in the way of a person."""
        chain, end = blocking_chain(self._blockers, row)
        return stuck_person(
            int(self._ids[row]),
            float(self._mark_times[row]),
            self._goals[row],
            [int(self._ids[k]) for k in chain],
            end,
            ring=end == row,
            no_way=bool(self._counts[row] < 0),
            at_goal=bool(chain) and bool(self._arrived[chain[-1]]),
            holder=int(self._holders[row]) if self._gathered[row] else None,
        )

    def _rows(self, ids: npt.ArrayLike) -> IntArray:
        wanted = np.atleast_1d(np.asarray(ids, dtype=np.int64))
        rows = np.searchsorted(self._ids, wanted)
        known = np.append(self._ids, -1)
        bad = known[np.minimum(rows, len(self._ids))] != wanted
        if bad.any():
            raise CrowdError(f"no person {int(wanted[bad][0])} in the crowd; write ids that `add` returned")
        return np.asarray(rows, dtype=np.int64)

    def _grow(self, **rows: npt.NDArray[np.generic]) -> None:
        for name in _STATE:
            before = getattr(self, name)
            setattr(self, name, np.concatenate([before, np.asarray(rows[name], dtype=before.dtype)]))


_STATE = (
    "_ids",
    "_positions",
    "_velocities",
    "_faces",
    "_goals",
    "_reaches",
    "_speeds",
    "_shares",
    "_slow",
    "_lane_sides",
    "_groups",
    "_modes",
    "_departs",
    "_holds",
    "_present",
    "_arrived",
    "_corners",
    "_counts",
    "_numbers",
    "_marks",
    "_mark_times",
    "_blockers",
    "_gathered",
    "_holders",
    "_led",
    "_yields",
)
"""Arrays with a row for each person."""


def simulate(simulation: CrowdSimulation, seconds: float, fps: float = 25.0) -> Trajectories:
    """Run a simulation for some time, and return where everybody was until they left.

    Args:
        simulation: the crowd; it stands at the end of that time afterwards.
        seconds: how long [s]; the run ends earlier when everybody has left.
        fps: rate [Hz].

    Raises:
        CrowdError: if nobody is there.
    """
    if not (math.isfinite(seconds) and seconds > 0.0 and math.isfinite(fps) and fps > 0.0):
        raise CrowdError(f"a simulation of {seconds} s at {fps} Hz; write numbers above 0")
    if not len(simulation):
        raise CrowdError("a simulation of nobody; add people first")
    frames = [_frame(simulation)]
    for _ in range(round(seconds * fps)):
        if not simulation.present.any():
            break
        simulation.step(1.0 / fps)
        frames.append(_frame(simulation))
    ids, states = simulation.ids, np.stack([state for state, _ in frames])
    seen = np.stack([present for _, present in frames])
    firsts = seen.argmax(axis=0)
    # somebody who left is still seen in the frame of the arrival, where the goal was reached
    lasts = np.minimum(len(frames) - seen[::-1].argmax(axis=0), len(frames) - 1)
    people = np.flatnonzero(seen.any(axis=0))
    paths = [states[firsts[p] : lasts[p] + 1, p] for p in people]
    return joined(fps, [f"person {ids[p]}" for p in people], [int(firsts[p]) for p in people], paths)


def _frame(simulation: CrowdSimulation) -> tuple[FloatArray, BoolArray]:
    return np.column_stack([simulation.positions, simulation.headings]), simulation.present
