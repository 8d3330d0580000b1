"""One search for a live character, done a little at a time, so that no frame waits for it.

A search is a generator: each of its steps does a little work and yields how much that was, in nodes. The amount of work
in a step of time is counted in nodes too, never by the clock, so that the same calls lead to the same searches.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gaitway.behavior._heuristic_kernels import HeuristicArrays
from gaitway.behavior.planner import ESTIMATE_WEIGHT, prepared_search
from gaitway.behavior.search import search
from gaitway.behavior.searcher import Searcher
from gaitway.core.archives import counted
from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.live.planning.movers import MoversAhead
from gaitway.live.playing import _playing_kernels as playing
from gaitway.live.playing._crowd_kernels import HEADING, TIME, CrowdArrays, X, Y
from gaitway.live.playing.arrays import LiveLibrary, library_of
from gaitway.space._query_kernels import FOUND, FULL, GOING
from gaitway.space._safe_interval_kernels import no_intervals
from gaitway.space.fields import WorldFields
from gaitway.space.plan import LaidSteps, Plan, Pose
from gaitway.space.planner import Company
from gaitway.space.query import NO_TRAFFIC, Query, ask
from gaitway.space.traffic import Traffic, placed_discs

WEIGHT = 1.5
"""Factor on the estimated cost to the goal."""
_SLICE = 60
"""Number of nodes that are expanded at once."""
_PLAN, _FIELD = 40, 60
"""Work to read the plan of a character, and to compute the estimates of a goal, in nodes."""
_AROUND, _MOST = 10.0, 28
"""Distance from the line to a goal within which characters are in the way [m], and largest number of them; the nearest
count."""
_BESIDE = 1.0
"""Distance from ground that is in the plane twice at which characters count on both [m]."""
_NEARER = 0.11
"""By how much less than it should somebody keep apart from others in a search of companions [m]."""
_MOST_NODES = 1 << 20
"""Largest number of nodes that a saved search may ask memory for."""
_NO_INTERVALS = ArrayHandle(no_intervals())


class SlicedQuery(NamedTuple):
    """The query of a search."""

    start: Pose
    time: float
    """Time at which the character sets out [s]."""
    behavior: str
    """Behaviour that ends then."""
    goal: tuple[float, float]
    tolerance: float
    """Distance from the goal that is near enough [m]."""
    efforts: tuple[tuple[float, int], ...]
    """Size of the bins (`Query.coarse`) and largest number of nodes of one search after another."""
    heading: tuple[float, float] | None = None
    """Wanted heading at the goal, and greatest difference from it [rad]; None for any."""
    followed_by: str | None = None
    """Behaviour that must be able to follow; None: the character rests there."""


class SlicedResult(NamedTuple):
    """The result of a search."""

    actions: IntArray | None
    """Actions of the path, by their numbers in the crowd; (N,), or None if there is no path."""
    nodes: int
    """Number of nodes that were expanded."""


Work = Generator[int, None, SlicedResult]
"""A search that is under way; it yields its work in nodes."""


class SlicedSearch:
    """Searches among live characters of one library in a world, one at a time. This class is **mutable**.

    It has a searcher of its own, whose bodies have a disc about the root as those of live characters have. So what it
    finds is free for live characters too, as a rule.
    """

    def __init__(self, library: LiveLibrary) -> None:
        """Prepare a library of a crowd."""
        self._library, self._prepared = library, library.prepared
        table, actions = library.prepared.table, library.prepared.actions
        self._searcher = Searcher(table, library.discs, actions.reaches, actions.time_weight)
        self.fields: WorldFields | None = None
        """Fields of the world in which it searches; None before it has entered one."""

    def enter(self, fields: WorldFields, now: float) -> None:
        """Search in a world from a time on [s]."""
        self.fields = self._fields = fields
        self._heuristics = prepared_search(self._prepared).heuristics if fields is self._prepared.fields else None
        self._movers = MoversAhead(fields, now, _MOST) if fields.world.movers else None

    def warm_up(self, tolerances: tuple[float, ...]) -> None:
        """Compute and compile all that a search needs, so that no later frame has to wait for it.

        Args:
            tolerances: distances from goals that are near enough [m].
        """
        x0, y0, x1, y1 = self._fields.world.bounds
        x, y = 0.5 * (x0 + x1), 0.5 * (y0 + y1)
        for tolerance in tolerances:
            prepared_search(self._prepared).heuristics.obstacle_free_cost(tolerance)
        traffic = Traffic(self._fields.kinds)
        traffic.add_standing(traffic.enroll("nobody"), [(x0, y0, 0.1)], 0.0, 1.0)
        estimates = ArrayHandle(
            prepared_search(self._prepared).heuristics.arrays((x, y), tolerances[0], (x, y), WEIGHT)
        )
        for _ in self._slices(Query((x, y, 0.0), (x, y), tolerance=tolerances[0], max_nodes=1), traffic, estimates):
            pass

    def work(self, crowd: CrowdArrays, me: int, wanted: SlicedQuery, now: float) -> Work:
        """Search for a path for a character.

        The search reads the plans of other characters one after another, and they may change later. So the path that it
        finds must be tested.

        Args:
            crowd: all characters.
            me: the character.
            wanted: the query.
            now: time now [s].
        """
        if self._heuristics is None:
            self._heuristics = prepared_search(self._prepared).heuristics.moved(self._fields, self._prepared.discs)
            yield 10 * _FIELD
        goal, tolerance = wanted.goal, wanted.tolerance
        estimates = ArrayHandle(self._heuristics.arrays(goal, tolerance, wanted.start[:2], WEIGHT))
        yield _FIELD
        # a search remembers all slots from 0 on, but times of movers cannot be shifted
        longest = max(float(library.body.durations.max()) for library in self._library.crowd)
        since = 0.0 if self._movers is not None else now - longest
        traffic, owners = self._traffic(crowd)
        try:
            for owner, who in zip(owners, _others(crowd, me, wanted.start, goal), strict=False):
                self._add(traffic, owner, crowd, who, now, since)
                yield _PLAN
            query = Query(
                wanted.start, goal, tolerance=tolerance, weight=WEIGHT, start_time=wanted.time - since,
                start_behavior=wanted.behavior, seed=(me << 12) ^ round(1e3 * wanted.time),
                followed_by=wanted.followed_by,
            )  # fmt: skip
            if wanted.heading is not None:
                query = replace(query, goal_heading=wanted.heading[0], heading_tolerance=wanted.heading[1])
            spent = 0
            for coarse, nodes in wanted.efforts:
                found = yield from self._slices(replace(query, coarse=coarse, max_nodes=nodes), traffic, estimates)
                spent += found.nodes
                if found.actions is not None:
                    return found._replace(nodes=spent)
            return SlicedResult(None, spent)
        finally:
            if self._movers is not None:
                for owner in owners:
                    traffic.remove(owner)

    def in_company(
        self, crowd: CrowdArrays, me: int, wanted: SlicedQuery, company: Company, now: float, room: tuple[float, float]
    ) -> FloatArray | None:
        """Search at once for a path of a character beside companions.

        Args:
            crowd: all characters.
            me: the character.
            wanted: the query.
            company: where it would like to be over time.
            now: time now [s].
            room: radius of the disc that each character keeps clear about its root, and by how much discs of others are
                larger [m].

        Returns:
            When each move begins [s], and which it is in the library, and when and by what the path ends; (N + 1, 2).
            None if there is no path.
        """
        if self._heuristics is None:
            self._heuristics = prepared_search(self._prepared).heuristics.moved(self._fields, self._prepared.discs)
        goal, tolerance = wanted.goal, wanted.tolerance
        longest = max(float(library.body.durations.max()) for library in self._library.crowd)
        since = 0.0 if self._movers is not None else now - longest
        frame = np.array([company.start - since, company.rate, company.slower])
        estimates = self._heuristics.arrays(goal, tolerance, wanted.start[:2], ESTIMATE_WEIGHT)._replace(
            company_frame=read_only(frame), company=read_only(np.ascontiguousarray(company.places))
        )
        traffic, owners = self._traffic(crowd)
        try:
            for owner, who in zip(owners, _others(crowd, me, wanted.start, goal), strict=False):
                self._add(traffic, owner, crowd, who, now, since, self._room_of(crowd, who, wanted, *room))
            (weight, nodes), *hastier = wanted.efforts
            query = Query(
                wanted.start, goal, tolerance=tolerance, weight=weight, max_nodes=nodes, max_seconds=math.inf,
                start_time=wanted.time - since, start_behavior=wanted.behavior,
                seed=(me << 12) ^ round(1e3 * wanted.time),
            )  # fmt: skip
            plan = search(self._searcher, self._fields, query, traffic, estimates, explain=False, hastier=hastier).plan
        finally:
            if self._movers is not None:
                for owner in owners:
                    traffic.remove(owner)
        if plan is None or not isinstance(plan.steps, LaidSteps) or not len(plan.steps):
            return None
        rows: FloatArray = np.append(plan.steps.rows[:, 3:5], [[plan.end_time, plan.steps.rows[-1, 4]]], axis=0)
        rows[:, 0] += since
        return rows

    def _slices(self, query: Query, traffic: Traffic, estimates: ArrayHandle[HeuristicArrays]) -> Work:
        """Run a search in slices."""
        searcher, fields, arrays = self._searcher, self._fields, traffic.arrays
        busy = len(arrays.keys) > 0
        handle, intervals = NO_TRAFFIC, _NO_INTERVALS
        if busy:
            handle, intervals = ArrayHandle(arrays), searcher.intervals(fields, arrays, query.start_time)
        ask(searcher, query, query.weight)
        state, passing = searcher.start_state(query.start_behavior), searcher.passing(fields)
        done, anew = 0, True
        while True:
            code, node, expanded, _ = searcher.kernel(
                searcher.handle, fields.handle, passing, handle, busy, intervals, estimates, searcher.memory_handle,
                searcher.query,
                state, query.seed, min(done + _SLICE, query.max_nodes), anew,
            )  # fmt: skip
            yield max(expanded - done, 1)
            done, anew = expanded, False
            if code == FULL:
                searcher.grow()
            elif code != GOING or done >= query.max_nodes:
                break
        if code != FOUND:
            return SlicedResult(None, done)
        rows, _, _, _ = searcher.trace(searcher.handle, searcher.memory_handle, node)
        return SlicedResult(read_only(rows[:, 4].astype(np.int64) + self._library.first_action), done)

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs, as plain values; no search is under way."""
        movers = None if self._movers is None else self._movers.state()
        return {"nodes": len(self._searcher.memory.states), "ready": self._heuristics is not None, "movers": movers}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore the state of an earlier object, in the same world.

        Raises:
            ValueError: if the values cannot be those of such an object.
        """
        nodes = counted(state["nodes"], _MOST_NODES, "nodes of a search")
        while len(self._searcher.memory.states) < nodes:
            self._searcher.grow()
        if state["ready"] and self._heuristics is None:
            self._heuristics = prepared_search(self._prepared).heuristics.moved(self._fields, self._prepared.discs)
        if (state["movers"] is None) != (self._movers is None):
            raise ValueError("movers of another world")
        if self._movers is not None:
            self._movers.restore(state["movers"])

    def look_ahead(self, now: float) -> None:
        """Compute the movers for long enough; call it only while no search is under way."""
        if self._movers is not None:
            self._movers.look_ahead(now)

    def _traffic(self, crowd: CrowdArrays) -> tuple[Traffic, list[int]]:
        """Return the traffic of movers, and numbers in it for other characters."""
        if self._movers is not None:
            return self._movers.traffic, self._movers.owners
        traffic = Traffic(self._fields.kinds, mirrors=crowd.mirrors)
        return traffic, [traffic.enroll(str(k)) for k in range(_MOST)]

    def _add(
        self, traffic: Traffic, owner: int, crowd: CrowdArrays, who: int, now: float, since: float,
        room: tuple[float, float] | None = None,
    ) -> None:  # fmt: skip
        """Put the plan of a character, of any library, and the place where it rests into traffic.

        With room, discs are larger by the first number, and where it rests there is a disc of the second as radius [m].
        """
        end, libraries = crowd.steps[who, -1], self._library.crowd
        library = libraries[int(library_of(libraries, crowd.actions[who, -1:])[0])]
        body, first_action = library.body, library.first_action
        resting, start = int(crowd.actions[who, -1]) - first_action, max(float(end[TIME]), now) - since
        x, y, heading = end[[X, Y, HEADING]].tolist()
        first, count = crowd.counts[who, [playing.FIRST, playing.COUNT]].tolist()
        rows = np.empty((count - first, 6))
        rows[:, :3], rows[:, 3] = crowd.steps[who, first:count][:, [X, Y, HEADING]], crowd.steps[who, first:count, TIME]
        rows[:, 3] -= since
        played = crowd.actions[who, first:count]
        numbers = library_of(libraries, played)
        alike = np.array([one.frames is library.frames for one in libraries])[numbers]
        firsts = np.array([one.first_action for one in libraries])[numbers]
        # steps on flights are of no library; who finds a path is tested against them later
        known = alike & (played - firsts < len(library.prepared.table))
        rows[:, 4], rows[:, 5] = np.where(known, played - firsts, 0), 1.0
        for number in np.unique(numbers[known]).tolist():  # moves at another pace
            mine = known & (numbers == number)
            own = rows[mine, 4].astype(np.int64)
            rows[mine, 5] = libraries[number].prepared.speeds[own] / library.prepared.speeds[own]
        rows = rows[known]
        if end[TIME] > now:  # else it stands there already
            table = library.prepared.table
            steps = LaidSteps(rows, library.prepared.actions.names, table.clips, library.prepared.speeds)
            discs = library.discs if room is None else library.wider_discs(room[0])
            traffic.add_plan(owner, Plan(steps, (x, y, heading), start, 0.0), table, discs)
        still = body.still[body.still_starts[resting] : body.still_starts[resting + 1]]
        traffic.add_standing(owner, placed_discs((x, y, heading), still), start)
        if room is not None and room[1] > 0.0:
            traffic.add_standing(owner, [(x, y, room[1])], start)

    def _room_of(
        self, crowd: CrowdArrays, who: int, wanted: SlicedQuery, radius: float, wider: float
    ) -> tuple[float, float]:
        """Return by how much discs are larger, and the radius of one that keeps a character apart from who rests.

        The radius is 0 where the other rests far from the goal, or so near to the start that the disc would bar it.
        """
        x, y = crowd.steps[who, -1, [X, Y]].tolist()
        other = self._library.crowd[int(library_of(self._library.crowd, crowd.actions[who, -1:])[0])]
        apart = self._library.apart(other)
        near_start = math.dist((x, y), wanted.start[:2]) < apart
        if near_start or math.dist((x, y), wanted.goal) > wanted.tolerance + apart:
            return wider, 0.0
        return wider, max(apart + _NEARER - radius, 0.0)


def _others(crowd: CrowdArrays, me: int, pose: Pose, goal: tuple[float, float]) -> list[int]:
    """Return the characters around the line from a pose to a goal, the nearest first."""
    places, now_at = np.arange(len(crowd.until)), crowd.counts[:, playing.FIRST]
    away = np.full(len(places), np.inf)
    for points in (crowd.steps[:, -1, :2], crowd.steps[places, now_at, :2]):
        away = np.minimum(away, _from_line(points, pose, goal))
        for x0, y0, x1, y1, dx, dy in crowd.mirrors.tolist():  # who is there is here too
            there = ((points > (x0 - _BESIDE, y0 - _BESIDE)) & (points < (x1 + _BESIDE, y1 + _BESIDE))).all(axis=1)
            away[there] = np.minimum(away[there], _from_line(points[there] + (dx, dy), pose, goal))
    away[(places == me) | (crowd.counts[:, playing.STATUS] == playing.EMPTY)] = np.inf
    nearest = np.argsort(away, kind="stable")[:_MOST]
    out: list[int] = nearest[away[nearest] < _AROUND].tolist()
    return out


def _from_line(points: FloatArray, pose: Pose, goal: tuple[float, float]) -> FloatArray:
    """Return the distances of points (N, 2) from the line between a pose and a goal [m]; (N,)."""
    start = np.array(pose[:2])
    along = np.array(goal) - start
    share = np.clip((points - start) @ along / max(math.hypot(*along), 1e-4) ** 2, 0.0, 1.0)
    out: FloatArray = np.hypot(*(points - start - share[:, None] * along).T)
    return out
