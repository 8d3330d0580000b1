"""Safe exact arrivals: bent steps keep clear of obstacles and of all characters, as planned ones do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.library.actions import ActionTable, action_table
from gaitway.library.behavior import BehaviorGraph, Library
from gaitway.library.body_discs import BodyDiscs, body_discs
from gaitway.performing.arrival.bent_steps import Arrival, arrivals
from gaitway.performing.arrival.footwork import Footworks
from gaitway.space._traffic_kernels import first_slot
from gaitway.space.fields import WorldFields
from gaitway.space.mover_sweep import Swept
from gaitway.space.plan import Plan
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.traffic import Traffic, placed_discs, swept_step

TRIES = 3
"""Number of bent plans that are tested."""


@dataclass(frozen=True, eq=False)
class ExactArrival:
    """An exact arrival, and its bent steps as a planner sees them."""

    arrival: Arrival
    table: ActionTable | None
    """Actions of the bent clips; None where nothing is bent."""
    discs: BodyDiscs | None
    """Discs that cover the bodies of the bent clips."""

    @property
    def plan(self) -> Plan:
        """The whole plan."""
        return self.arrival.plan

    @property
    def planned(self) -> Plan:
        """The steps before the bent ones."""
        steps, first = self.plan.steps, self.arrival.first
        if first == len(steps):
            return self.plan
        return replace(self.plan, steps=steps[:first], end_pose=steps[first].pose, end_time=steps[first].time)

    def add_to(self, traffic: Traffic, owner: int) -> None:
        """Add its bent steps to traffic, as `Traffic.add_plan` does with steps that play a library's clips."""
        if self.table is not None and self.discs is not None:
            bent = replace(self.plan, steps=self.plan.steps[self.arrival.first :])
            traffic.add_plan(owner, bent, self.table, self.discs)


def exact_arrival(
    prepared: PreparedLibrary,
    traffic: Traffic,
    plan: Plan,
    goal: tuple[float, float],
    goal_heading: float | None = None,
    *,
    name: str = "exact",
    footworks: Footworks | None = None,
    close: float = 0.0,
) -> ExactArrival | str:
    """Return the first exact arrival at a goal without collisions, or why there is none.

    Args:
        prepared: library, discs and world of the character.
        traffic: all others; the character itself must not be in it.
        plan: plan that ends near the goal, at rest.
        goal: wanted position at the end: x, y [m].
        goal_heading: wanted heading at the end [rad], or None.
        name: suffix of the names of bent clips; different for each character of a take.
        footworks: footwork of the library's clips that earlier calls have found.
        close: how much nearer to obstacles than usual the last steps may be [m].
    """
    reason = "there are too few steps to bend"
    ways = arrivals(prepared.library, plan, goal, goal_heading, name=name, footworks=footworks)
    for arrival in islice(ways, TRIES):
        if first_slot(arrival.plan.end_time) >= traffic.horizon:
            traffic.extend(2.0 * arrival.plan.end_time)
        made = _prepared(prepared, arrival)
        met = arrival_hit(made, prepared.fields, traffic, prepared.standing_discs(_last(arrival.plan)), close)
        if met is None:
            return made
        reason = f"'{met}' is in the way of the last steps"
    return f"cannot stop at the goal exactly: {reason}"


def arrival_hit(
    exact: ExactArrival, fields: WorldFields, traffic: Traffic, standing: FloatArray, close: float = 0.0
) -> str | None:
    """Return the obstacle or character that the bent steps, or standing at their end, come too near to; or None.

    Args:
        exact: the arrival; steps that are not bent are as planned, and are not tested.
        fields: the world.
        traffic: all other characters and movers.
        standing: discs of a standing body in the frame of its root (x, y, radius) [m]; (D, 3).
        close: how much nearer to obstacles than usual is near enough [m].
    """
    plan, table, discs = exact.plan, exact.table, exact.discs
    if table is None or discs is None:
        return None
    for step in plan.steps[exact.arrival.first :]:
        swept = placed_discs(step.pose, _part(discs.static, discs.static_starts, _row(table, step.clip)))
        near = np.flatnonzero(fields.clearance(swept[:, :2]) < swept[:, 2] - close)
        if len(near):
            return fields.blame(swept[near[:1], :2])[0]
    bent = Swept.joined([swept_step(step, table, discs) for step in plan.steps[exact.arrival.first :]])
    return traffic.met_by(bent) or _stood_on(plan, traffic, placed_discs(plan.end_pose, standing), fields, close)


def _stood_on(plan: Plan, traffic: Traffic, standing: FloatArray, fields: WorldFields, close: float) -> str | None:
    """Return the obstacle or character that a character at the end of a plan is too near to, or None."""
    near = np.flatnonzero(fields.clearance(standing[:, :2]) < standing[:, 2] - close)
    if len(near):
        return fields.blame(standing[near[:1], :2])[0]
    return traffic.comer(standing, plan.end_time)


def _prepared(prepared: PreparedLibrary, arrival: Arrival) -> ExactArrival:
    """Return an arrival with the actions and discs of its bent clips."""
    if not arrival.clips:
        return ExactArrival(arrival, None, None)
    bent: dict[str, list[str]] = {}
    for step in arrival.plan.steps[arrival.first :]:
        bent.setdefault(step.behavior, []).append(step.clip)
    graph = BehaviorGraph(tuple(replace(prepared.library.graph[b], clips=tuple(clips)) for b, clips in bent.items()))
    library = Library(prepared.library.name, prepared.library.skeleton, arrival.clips, graph)
    table = action_table(library)
    known = prepared.discs
    return ExactArrival(arrival, table, body_discs(library, table, known.margin, known.timed_margin, arms=known.arms))


def _last(plan: Plan) -> str | None:
    return plan.steps[-1].behavior if plan.steps else None


def _row(table: ActionTable, clip: str) -> int:
    return table.clips.index(clip)


def _part(values: FloatArray, starts: IntArray, row: int) -> FloatArray:
    return np.asarray(values[int(starts[row]) : int(starts[row + 1])])
