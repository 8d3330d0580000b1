"""A* over the clips of a behaviour graph, for one character (Lau 2009, section 3.4)."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence

import numpy as np

from gaitway.behavior import _search_kernels as kernels
from gaitway.behavior._heuristic_kernels import HeuristicArrays
from gaitway.behavior._search_memory_kernels import CHECKS, EXPANDED, NEAREST, NODES, NOTES, RESTING, reweigh
from gaitway.behavior.searcher import Searcher
from gaitway.core import planar
from gaitway.core.array_handle import ArrayHandle
from gaitway.core.jit import compile_seconds
from gaitway.space._query_kernels import APART, FOUND, FULL, GOAL_BLOCKED, GOING, NOTHING, START_BLOCKED
from gaitway.space._safe_interval_kernels import no_intervals
from gaitway.space.fields import WorldFields
from gaitway.space.plan import LaidSteps, Plan, Pose, SearchResult, Status, in_the_way, lies_in
from gaitway.space.query import NO_TRAFFIC, OTHER_PART, Query, TrafficView, ask

FOUND_BY = "A*"
"""Name of this search in results."""
SLICE = 20_000
"""Number of nodes expanded between looks at the clock."""
_UNREACHABLE = 1_000
"""Number of nodes expanded to find out what cuts off an unreachable goal."""
_NO_INTERVALS = ArrayHandle(no_intervals())
_ANYTIME = (3.0, 1.5, 1.0)
"""Weights of an anytime search, one after another."""


def search(
    searcher: Searcher,
    fields: WorldFields,
    query: Query,
    traffic: TrafficView | None = None,
    heuristics: HeuristicArrays | ArrayHandle[HeuristicArrays] | None = None,
    *,
    explain: bool = True,
    hastier: Sequence[tuple[float, int]] = (),
) -> SearchResult:
    """Find a plan.

    Args:
        searcher: the library.
        fields: the world.
        query: the query.
        traffic: other characters and movers; None for none.
        heuristics: estimates for the query's goal; None takes the distance.
        explain: whether to find out what blocks the path if there is no plan, which takes about a millisecond.
        hastier: larger weights, and numbers of nodes more, with which the same search goes on, one after another, when
            its nodes are spent. What it has found by then is not searched for again.
    """
    return _SearchRun(searcher, fields, query, traffic, heuristics, explain, hastier).result()


class _SearchRun:
    """One search."""

    def __init__(
        self,
        searcher: Searcher,
        fields: WorldFields,
        query: Query,
        traffic: TrafficView | None,
        heuristics: HeuristicArrays | ArrayHandle[HeuristicArrays] | None,
        explain: bool,
        hastier: Sequence[tuple[float, int]] = (),
    ) -> None:
        self.began, self.compiled = time.perf_counter(), compile_seconds()
        self.hastier = hastier
        self.searcher, self.fields, self.query, self.explain = searcher, fields, query, explain
        self.traffic, self.intervals, self.busy = NO_TRAFFIC, _NO_INTERVALS, False
        self.names: Sequence[str] = ()
        if traffic is not None and len((arrays := traffic.arrays).keys) > 0:
            self.traffic, self.intervals, self.busy = (
                ArrayHandle(arrays),
                searcher.intervals(fields, arrays, query.start_time),
                True,
            )
            self.names = traffic.names
        if heuristics is None:
            self.heuristics = searcher.straight(query.goal, query.tolerance)
        else:
            self.heuristics = heuristics if isinstance(heuristics, ArrayHandle) else ArrayHandle(heuristics)
        if self.busy and self.heuristics.value.company.size > 0:
            self.intervals = searcher.moments()  # when somebody is beside companions matters, not only where
        self.state = searcher.start_state(query.start_behavior)
        self.expanded = self.checks = 0

    def result(self) -> SearchResult:
        """Search, once or with less and less weight."""
        best: Plan | None = None
        code = NOTHING
        for weight in _weights(self.query):
            most = self.query.most_cost if best is None else best.cost
            code, node = self.go(weight, most / self.fields.areas.least)
            if code == NOTHING and best is None and self.busy:
                # who cannot stop wherever it likes may have to set out later, which safe intervals do not tell apart
                self.intervals = self.searcher.moments()
                code, node = self.go(weight, most / self.fields.areas.least)
            for more_weight, nodes in self.hastier if best is None else ():
                if code == GOING and self.seconds <= self.query.max_seconds:
                    code, node = self.go_on(more_weight, most / self.fields.areas.least, nodes)
            if code == FOUND:
                best = self.plan(node)
            if best is None or code == GOING:
                break
        if best is None:
            return self.failed(code)
        return SearchResult(
            status=Status.FOUND,
            plan=best,
            expanded=self.expanded,
            checks=self.checks,
            seconds=self.seconds,
            closest=best.end_pose,
            remaining=self.away(best.end_pose),
            found_by=FOUND_BY,
        )

    @property
    def seconds(self) -> float:
        """Time so far, without compiling [s]."""
        return time.perf_counter() - self.began - (compile_seconds() - self.compiled)

    def go(self, weight: float, bound: float, whole: bool = True) -> tuple[int, int]:
        """Search from the start; return how it ended, and the node at the goal.

        Args:
            weight: factor on the estimate.
            bound: cost that a plan must stay below.
            whole: whether to test first that start and goal are connected.
        """
        limit = self.query.max_nodes - self.expanded
        return self._slices(weight, bound, limit if whole else min(limit, _UNREACHABLE), 0, whole)

    def go_on(self, weight: float, bound: float, nodes: int) -> tuple[int, int]:
        """Search on with another weight; return how it ended, and the node at the goal.

        Args:
            weight: factor on the estimate.
            bound: cost that a plan must stay below.
            nodes: most nodes to expand besides those that were.
        """
        memory, before = self.searcher.memory, int(self.searcher.memory.counts[EXPANDED])
        reweigh(memory.states, memory.links, memory.table, memory.heap, memory.counts, weight)
        self.expanded, self.checks = self.expanded - before, self.checks - int(memory.counts[CHECKS])
        return self._slices(weight, bound, before + nodes, before, True)

    def _slices(self, weight: float, bound: float, limit: int, before: int, whole: bool) -> tuple[int, int]:
        """Search until a number of nodes has been expanded, `before` of them already; 0 begins a search."""
        searcher, passing = self.searcher, self.searcher.passing(self.fields)
        ask(searcher, self.query, weight, bound)
        until, anew = min(before + SLICE, limit), before == 0
        while True:
            code, node, expanded, checks = searcher.kernel(
                searcher.handle, self.fields.handle, passing, self.traffic, self.busy, self.intervals, self.heuristics,
                searcher.memory_handle, searcher.query, self.state, self.query.seed, until, anew,
            )  # fmt: skip
            anew = False
            if code == APART and not whole:
                continue
            if code == FULL:
                searcher.grow()
            elif code != GOING or until >= limit or self.seconds > self.query.max_seconds:
                self.expanded += expanded
                self.checks += checks
                return code, node
            until = min(expanded + SLICE, limit)

    def plan(self, node: int) -> Plan:
        """Return the plan that leads to a node."""
        searcher = self.searcher
        rows, pose, end, cost = searcher.trace(searcher.handle, searcher.memory_handle, node)
        steps = LaidSteps(rows, searcher.names, searcher.table.clips, searcher.speeds)
        return Plan(steps, pose, end, cost * self.fields.areas.least)

    def pose(self, node: int) -> Pose:
        """Return the pose of a node."""
        x, y, heading = self.searcher.memory.states[node, :3].tolist()
        return x, y, heading

    def away(self, pose: Pose) -> float:
        """Return the distance of a pose from the goal [m]."""
        return math.hypot(pose[0] - self.query.goal[0], pose[1] - self.query.goal[1])

    def failed(self, code: int) -> SearchResult:
        """Return the result of a search that did not reach the goal."""
        if not self.explain:
            status = Status.BUDGET if code == GOING else Status.NO_PATH
            return SearchResult(status, None, self.expanded, self.checks, self.seconds, found_by=FOUND_BY)
        (x, y, _), goal, bounds = self.query.start, self.query.goal, self.fields.world.bounds
        for what, (px, py) in (("start", (x, y)), ("goal", goal)):
            if not (bounds[0] <= px <= bounds[2] and bounds[1] <= py <= bounds[3]):
                return self._refused(f"{what} ({px:g}, {py:g}) is out of bounds {bounds}", "bounds")
        if code in (START_BLOCKED, GOAL_BLOCKED):
            what, place = ("start", self._worst_place()) if code == START_BLOCKED else ("goal", goal)
            px, py = (x, y) if code == START_BLOCKED else goal
            who = self.fields.blame(np.array([place]))[0]
            return self._refused(lies_in(what, (px, py), who), who)
        reason = "all that can be reached was looked at"
        if code == APART:
            self.go(self.query.weight, math.inf, whole=False)
            reason = OTHER_PART
        elif code == GOING:
            reason = "the budget ran out"
        return self._lost(code, reason)

    def _refused(self, reason: str, blocker: str) -> SearchResult:
        start, away = self.query.start, self.away(self.query.start)
        return SearchResult(
            status=Status.NO_PATH,
            plan=None,
            expanded=self.expanded,
            checks=self.checks,
            seconds=self.seconds,
            closest=start,
            remaining=away,
            blockers={blocker: 1},
            reason=reason,
            found_by=FOUND_BY,
        )

    def _worst_place(self) -> tuple[float, float]:
        """Return the point of the body that is nearest to an obstacle at the start."""
        arrays = self.searcher.arrays
        rest = int(arrays.states[self.state, 1])
        discs = arrays.static[arrays.firsts[rest, 0] : arrays.firsts[rest + 1, 0]]
        points = planar.transform_points(self.query.start, discs[:, :2])
        x, y = points[int(np.argmax(discs[:, 2] - self.fields.clearance(points)))].tolist()
        return x, y

    def _lost(self, code: int, reason: str) -> SearchResult:
        """Return the result of a search that found nothing."""
        counts, blockers = self.searcher.memory.counts, self._blockers()
        coarse = code == NOTHING and not blockers
        nearest, resting = int(counts[NEAREST]), int(counts[RESTING])
        closest = self.pose(self._foremost() if coarse else nearest)
        remaining = self.away(closest)
        reason = f"{reason}; the search got within {remaining:.1f} m, to ({closest[0]:.1f}, {closest[1]:.1f})"
        if blockers:
            reason = f"{reason}; {in_the_way(list(blockers)[:1])}"
        elif coarse:
            reason = f"{reason}; nothing is in the way, but no steps end at the goal: allow more tolerance"
        status, plan = Status.NO_PATH, None
        if code == GOING:
            status, plan = (Status.PARTIAL, self.plan(resting)) if resting > 0 else (Status.BUDGET, None)
        return SearchResult(
            status=status,
            plan=plan,
            expanded=self.expanded,
            checks=self.checks,
            seconds=self.seconds,
            closest=closest,
            remaining=remaining,
            blockers=blockers,
            reason=reason,
            found_by=FOUND_BY,
        )

    def _foremost(self) -> int:
        """Return the node nearest to the goal in a straight line, whatever it still costs to stop there."""
        memory = self.searcher.memory
        away = memory.states[: int(memory.counts[NODES]), :2] - np.asarray(self.query.goal)
        return int(np.argmin(np.hypot(away[:, 0], away[:, 1])))

    def _blockers(self) -> dict[str, int]:
        """Return what blocked actions that would have led nearer, the most frequent first."""
        memory, fields = self.searcher.memory, self.fields
        notes = memory.notes[: min(int(memory.counts[NOTES]), len(memory.notes))]
        names: list[str] = []
        static = notes[notes[:, 0] == kernels.STATIC]
        for kind in np.unique(static[:, 3]).astype(int).tolist():
            allowed = (fields.kinds[kind],) if kind >= 0 else ()
            names += fields.blame(static[static[:, 3] == kind, 1:3], allowed)
        for what, _, _, who in notes[notes[:, 0] != kernels.STATIC].tolist():
            if what == kernels.TRAFFIC:
                names.append(self.names[int(who)])
            else:
                names.append(fields.special_name(int(who)))
        return dict(sorted(Counter(names).items(), key=lambda entry: (-entry[1], entry[0])))


def _weights(query: Query) -> tuple[float, ...]:
    """Return the weights to search with, one after another."""
    if not query.anytime:
        return (query.weight,)
    first = max(query.weight, _ANYTIME[0])
    return (first, *(w for w in _ANYTIME[1:] if w < first))
