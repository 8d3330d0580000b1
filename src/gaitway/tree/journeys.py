"""Ways to goals at any distance by trees: one query where the goal is near, a chain of sub-goals where it is not."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.arrays import FloatArray, IntArray
from gaitway.behavior.fields import WorldFields
from gaitway.behavior.plan import LaidSteps, Plan, Pose, SearchResult, Status
from gaitway.behavior.search import Query, Traffic
from gaitway.tree.coarse import CoarsePlanner, CoarseWay
from gaitway.tree.legs import Leg, Legs

NEARER = (1.0, 0.65, 0.4)
"""Shares of the reach at which sub-goals are tried, one after another."""
BEYOND = 0.7
"""How much farther along the way one aims at a sub-goal, by the reach."""
ABOUT = 0.12
"""How near to a sub-goal a leg has to end, by the reach."""
LONGEST, MORE = 1.3, 5.0
"""How many times what the coarse way costs a plan may cost, and as much as so many metres [m]; what costs more has gone
astray."""
MOST_LEGS = 100
"""Of one way."""
MOST_RETREATS = 6
"""How often some steps are given up, where no tree leads on from their end."""
SPARE_STEPS = 2
"""Steps at the end of a leg that are not kept."""
ANNOTATED_STEPS = 2
"""Steps that are kept of a leg to an annotated sub-goal."""


@dataclass(eq=False)
class _Progress:
    """How far somebody has come. **Mutable**."""

    query: Query
    """As it was asked."""
    rows: FloatArray
    """Steps that are done, as in `Leg.rows`, and where and when they end; (N + 1, 5)."""
    retreats: int = 0
    """How often it went back."""

    @staticmethod
    def at_start(query: Query) -> _Progress:
        return _Progress(query, np.array([[*query.start, query.start_time, -1.0]]))

    @property
    def under_way(self) -> bool:
        """Whether it has left its start."""
        return len(self.rows) > 1

    @property
    def actions(self) -> IntArray:
        """Of the steps that are done; (N,)."""
        return self.rows[:-1, 4].astype(np.int64)

    def here(self, names: Sequence[str]) -> Query:
        """The query from where it is now; `names` are those of the actions' behaviours."""
        if not self.under_way:
            return self.query
        x, y, heading, at = self.rows[-1, :4].tolist()
        behavior = names[int(self.rows[-2, 4])]
        return replace(self.query, start=(x, y, heading), start_time=at, start_behavior=behavior, crowded=0.0)


class Journeys:
    """Ways by the trees of a library in one world. Not for several threads at once.

    Attributes:
        legs: the trees.
        fields: the world.
        coarse: ways over large cells.
        reach: how far sub-goals are [m].
    """

    def __init__(self, legs: Legs, fields: WorldFields, coarse: CoarsePlanner, reach: float) -> None:
        """Prepare a world.

        Args:
            legs: trees.
            fields: the world.
            coarse: ways over large cells in this world.
            reach: how far along a coarse way sub-goals are [m]; less than trees reach. The thesis found 10 to 12 m
                right; nearer ones let trees be smaller, and so denser.
        """
        self.legs, self.fields, self.coarse, self.reach = legs, fields, coarse, reach
        table, rest = legs.searcher.table, set(legs.forest.roots)
        self._roots = {number for number, name in enumerate(table.states) if name in rest}

    def find(self, query: Query, traffic: Traffic | None = None) -> SearchResult | None:
        """A way that is free at the A* search's own sampling, to rest at the goal for ever; None if trees have none.

        Args:
            query: from where to where; its weight and budgets are of no account. Nobody waits.
            traffic: who is where and when; None for nobody.
        """
        began, legs = time.perf_counter(), self.legs
        legs.looked_at = legs.tested = 0
        if not legs.begins(query.start_behavior):
            return None
        if not self.fields.parts.connected(query.start[:2], query.goal, query.tolerance):
            return None
        plan = self._chain(query, traffic)
        if plan is None:
            return None
        away = math.dist(plan.end_pose[:2], query.goal)
        seconds = time.perf_counter() - began
        return SearchResult(Status.FOUND, plan, legs.looked_at, legs.tested, seconds, plan.end_pose, away)

    def _chain(self, query: Query, traffic: Traffic | None) -> Plan | None:
        """Legs one after another; where none leads on, some steps back and on from there."""
        done, names, most = _Progress.at_start(query), self.legs.searcher.names, math.inf
        for _ in range(MOST_LEGS):
            here = done.here(names)
            if math.dist(here.start[:2], here.goal) <= self.legs.reach + here.tolerance:
                last = self.legs.arrive(self.fields, here, traffic, done.under_way)
                if last is not None:
                    return self._plan(done, last)
            way = self.coarse.way(here.start[:2], here.goal, here.tolerance, 2.0 * self.reach)
            if way is not None and math.isinf(most):
                most = LONGEST * way.remaining + MORE
            straying = way is None or self._length(done) + way.remaining > most
            if (way is None or straying or not self._go_on(done, way, traffic)) and not self._go_back(done):
                return None
        return None

    def _length(self, done: _Progress) -> float:
        """What the steps that are done cost, in metres at the least cost of one [m]."""
        return float(self.legs.searcher.costs[done.actions].sum()) / self.legs.per_metre

    def _go_on(self, done: _Progress, way: CoarseWay, traffic: Traffic | None) -> bool:
        """Take a leg to a sub-goal, or to a nearer one; whether there is one."""
        here = done.here(self.legs.searcher.names)
        for share in NEARER:
            reach = share * self.reach
            if way.whole and reach >= way.length:
                continue
            sub_goal = way.sub_goal(reach, BEYOND * self.reach)
            query = replace(here, goal=sub_goal.place, tolerance=ABOUT * self.reach, goal_heading=None)
            leg = self.legs.onward(self.fields, query, sub_goal.aim, traffic, done.under_way)
            if leg is not None:
                count = self._kept(leg, sub_goal.annotated)
                done.rows = np.concatenate([done.rows[:-1], leg.rows[: count + 1]])
                return True
        return False

    def _go_back(self, done: _Progress) -> bool:
        """Give up some of the last steps, more each time; whether there are so many and it is worth while."""
        done.retreats += 1
        count = len(done.rows) - 1 - done.retreats
        while count > 0 and not self._is_root(done.rows[count - 1]):
            count -= 1
        if count < 0 or done.retreats > MOST_RETREATS:
            return False
        done.rows = done.rows[: count + 1]
        return True

    def _kept(self, leg: Leg, annotated: bool) -> int:
        """How many steps of a leg to keep (Lau 2009, 4.5), so that a tree begins where they end.

        The thesis keeps all, or two where the sub-goal is annotated, or all up to a special one. Here the last few are
        left out: as they are free, one can surely go on from where they begin.
        """
        table, most = self.legs.searcher.table, len(leg.rows) - 1
        count = max(most - SPARE_STEPS, 1)
        if annotated:
            special = np.flatnonzero(table.kind[leg.rows[:-1, 4].astype(np.int64)] >= 0)
            count = max(ANNOTATED_STEPS, int(special[0]) + 1 if len(special) else 0)
        while count < most and not self._is_root(leg.rows[count - 1]):
            count += 1
        return min(count, most)

    def _is_root(self, row: FloatArray) -> bool:
        """Whether a tree begins in the state that a step ends in."""
        return int(self.legs.searcher.table.end_state[int(row[4])]) in self._roots

    def _plan(self, done: _Progress, last: Leg) -> Plan:
        searcher = self.legs.searcher
        rows = np.concatenate([done.rows[:-1], last.rows[:-1]])
        x, y, heading, end = last.rows[-1, :4].tolist()
        pose: Pose = (x, y, heading)
        cost = float(searcher.costs[done.actions].sum()) + last.cost
        return Plan(LaidSteps(rows, searcher.names, searcher.table.clips), pose, end, cost)
