"""Paths to goals at any distance by trees: one query if the goal is near, a chain of sub-goals if it is not."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.space.fields import WorldFields
from gaitway.space.plan import LaidSteps, Plan, Pose, SearchResult, Status
from gaitway.space.query import Query, TrafficView
from gaitway.tree.subgoals.coarse import CoarsePlanner, CoarseWay
from gaitway.tree.subgoals.legs import SubgoalLeg, SubgoalLegs

SUB_GOALS = ((1.0, 0.15), (0.65, 0.25), (0.4, 0.15))
"""Distances ahead at which sub-goals are tried, and how near to them a leg has to end, as shares of the reach."""
BEYOND = 0.7
"""How much farther along the path a leg aims beyond its sub-goal, as a share of the reach."""
LONGEST, MORE = 1.3, 5.0
"""Largest cost of a plan or a leg as a multiple of the coarse path's, and extra distance allowed to a character that
stands [m]. A more expensive leg has lost the path, or walks about where it should wait."""
LEAST_TRIES, TRIES_PER_METRE = 20, 0.6
"""Number of legs that are tried for a plan, and how many more for each metre to the goal."""
MOST_WAITS = 4
"""Most waits in a row, each longer than the one before."""
SPARE_STEPS = 2
"""Number of steps at the end of a leg that are not kept."""
ANNOTATED_STEPS = 2
"""Number of steps that are kept of a leg to an annotated sub-goal."""


@dataclass(eq=False)
class _ChainStage:
    """A place on the path, and what was tried from there. **Mutable**."""

    here: Query
    """Query from there to the goal."""
    steps: FloatArray
    """Steps that lead there from the stage before, as in `SubgoalLeg.rows` without the end; (N, 6)."""
    cost: float
    """Cost from the start."""
    under_way: bool = False
    """Whether the character has left its start."""
    waits: int = 0
    """Number of waits right before."""
    tried: int = 0
    """Number of continuations that were tried."""
    way: CoarseWay | None = None
    """Coarse path from there, if it was computed."""


class SubgoalChain:
    """Paths by the trees of a library in one world. Not for several threads at once.

    Attributes:
        legs: the trees.
        fields: the world.
        coarse: planner of coarse paths.
        reach: distance of sub-goals [m].
    """

    def __init__(self, legs: SubgoalLegs, fields: WorldFields, coarse: CoarsePlanner, reach: float) -> None:
        """Prepare a world.

        Args:
            legs: the trees.
            fields: the world.
            coarse: planner of coarse paths in this world.
            reach: distance of sub-goals along a coarse path [m]; less than trees reach. The thesis found 10 to 12 m
                right; nearer ones allow smaller, and so denser, trees.
        """
        self.legs, self.fields, self.coarse, self.reach = legs, fields, coarse, reach
        table, rest = legs.searcher.table, set(legs.forest.roots)
        self._roots = {number for number, name in enumerate(table.states) if name in rest}

    def find(self, query: Query, traffic: TrafficView | None = None) -> SearchResult | None:
        """Find a path that is free at the sampling of the A* search and ends at rest; None if trees have none.

        Args:
            query: the query; its weight and budgets do not matter.
            traffic: other characters and movers; None for none.
        """
        began, legs = time.perf_counter(), self.legs
        legs.forget()
        if not legs.begins(query.start_behavior):
            return None
        if not self.fields.parts.connected(query.start[:2], query.goal, query.tolerance):
            return None
        plan = self._chain(query, traffic, shift=True)
        if plan is None and legs.clip_choice.similar.shift:  # steps that lie where trees have them are surely free
            legs.forget()
            plan = self._chain(query, traffic, shift=False)
        if plan is None:
            return None
        away = math.dist(plan.end_pose[:2], query.goal)
        seconds = time.perf_counter() - began
        return SearchResult(
            status=Status.FOUND,
            plan=plan,
            expanded=legs.looked_at,
            checks=legs.tested,
            seconds=seconds,
            closest=plan.end_pose,
            remaining=away,
        )

    def _chain(self, query: Query, traffic: TrafficView | None, shift: bool) -> Plan | None:
        """Find legs one after another, by depth-first search; if none leads on, stop, wait, or go back a stage.

        Args:
            query: the query.
            traffic: other characters and movers; None for none.
            shift: whether steps may lie a little elsewhere than in the trees, see `space.clip_choice`.
        """
        stages, most = [_ChainStage(query, np.empty((0, 6)), 0.0)], math.inf
        left = LEAST_TRIES + TRIES_PER_METRE * math.dist(query.start[:2], query.goal)
        while stages and left > 0:
            left -= 1
            stage = stages[-1]
            if stage.way is None:
                last = self._arrive(stage, traffic)
                if last is not None:
                    return self._plan(stages, self._drawn(stage, last.rows, traffic, True, shift))
                here = stage.here
                stage.way = self.coarse.way(here.start[:2], here.goal, here.tolerance)
                if stage.way is None:
                    return None
                if not stage.under_way:
                    most = LONGEST * stage.way.remaining + MORE
                if stage.cost / self.legs.per_metre + stage.way.remaining > most:
                    stage.tried = len(SUB_GOALS) + 1
            following = self._following(stage, traffic, shift)
            if following is not None:
                stages.append(following)
            else:
                stages.pop()
        return None

    def _arrive(self, stage: _ChainStage, traffic: TrafficView | None) -> SubgoalLeg | None:
        """Return the last leg, if the goal is within reach."""
        here = stage.here
        if math.dist(here.start[:2], here.goal) > self.legs.reach + here.tolerance:
            return None
        return self.legs.arrive(self.fields, here, traffic, stage.under_way)

    def _following(self, stage: _ChainStage, traffic: TrafficView | None, shift: bool) -> _ChainStage | None:
        """Return the next stage by a continuation that was not tried yet: a sub-goal, a nearer one, or a wait."""
        here, way = stage.here, stage.way
        moves = not self.legs.rests(here.start_behavior)
        while way is not None and stage.tried < len(SUB_GOALS):
            reach, about = (share * self.reach for share in SUB_GOALS[stage.tried])
            stage.tried += 1
            if reach >= way.length:
                continue
            sub_goal = way.sub_goal(reach, BEYOND * self.reach)
            if sub_goal is None:
                continue
            query = replace(here, goal=sub_goal.place, tolerance=about, goal_heading=None)
            left = way.left(sub_goal, about)
            leg = self.legs.onward(self.fields, query, sub_goal.aim, left, traffic, stage.under_way)
            if leg is not None and leg.cost <= self.legs.per_metre * (LONGEST * reach + (0.0 if moves else MORE)):
                count = self._kept(leg, sub_goal.annotated)
                return self._stage(stage, self._drawn(stage, leg.rows[: count + 1], traffic, False, shift), 0)
        # a character that stands gains nothing by waiting if there is no traffic
        if stage.tried == len(SUB_GOALS) and (moves or traffic is not None) and stage.waits < MOST_WAITS:
            stage.tried += 1
            rows = self.legs.pause(self.fields, here, traffic, stage.under_way, 1 + stage.waits)
            if rows is not None:
                rows = self._drawn(stage, rows, traffic, arrives=False, shift=False)
                return self._stage(stage, rows, stage.waits + 1)
        return None

    def _drawn(
        self, stage: _ChainStage, rows: FloatArray, traffic: TrafficView | None, arrives: bool, shift: bool
    ) -> FloatArray:
        """Return the steps that are played from a stage on, as `SubgoalLeg.rows`."""
        return self.legs.clip_choice.draw(
            self.fields, stage.here, rows, traffic, under_way=stage.under_way, arrives=arrives, shift=shift
        )

    def _stage(self, before: _ChainStage, rows: FloatArray, waits: int) -> _ChainStage:
        """Return the stage at the end of some steps."""
        searcher = self.legs.searcher
        x, y, heading, at = rows[-1, :4].tolist()
        actions = rows[:-1, 4].astype(np.int64)
        left = before.under_way or (x, y) != before.here.start[:2]
        here = replace(
            before.here, start=(x, y, heading), start_time=at, start_behavior=searcher.names[int(actions[-1])],
            crowded=0.0 if left else before.here.crowded,
        )  # fmt: skip
        return _ChainStage(here, rows[:-1], before.cost + float(searcher.costs[actions].sum()), left, waits)

    def _kept(self, leg: SubgoalLeg, annotated: bool) -> int:
        """Return how many steps of a leg to keep (Lau 2009, section 4.5), so that a tree begins where they end.

        The thesis keeps all, or two if the sub-goal is annotated, or all up to a special one. Here the last few are
        left out: since they are free, a path surely leads on from where they begin.
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
        """Return whether a tree begins in the state that a step ends in."""
        return int(self.legs.searcher.table.end_state[int(row[4])]) in self._roots

    def _plan(self, stages: list[_ChainStage], last: FloatArray) -> Plan:
        """Return the plan of all stages and the last leg."""
        searcher = self.legs.searcher
        rows = np.concatenate([*(stage.steps for stage in stages), last[:-1]])
        x, y, heading, end = last[-1, :4].tolist()
        pose: Pose = (x, y, heading)
        steps = LaidSteps(rows, searcher.names, searcher.table.clips, searcher.speeds)
        return Plan(steps, pose, end, stages[-1].cost + self.legs.clip_choice.cost(last))
