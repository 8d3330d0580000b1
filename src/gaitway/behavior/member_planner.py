"""Planning of one member of a crowd among the others: search, exact arrival, straight drawing, and its traffic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from gaitway.behavior.starts import CrowdMember
from gaitway.core import planar
from gaitway.motion.clip import Clip
from gaitway.performing.arrival.exact_arrival import ExactArrival, exact_arrival
from gaitway.performing.arrival.footwork import Footworks
from gaitway.performing.relaxing.relaxed_plan import RelaxedPlan, relaxed, unrelaxed
from gaitway.space._traffic_kernels import first_slot
from gaitway.space.plan import Plan, SearchResult, Status
from gaitway.space.planner import Effort, Planner, PlanRequest
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.query import Query
from gaitway.space.traffic import Traffic

NEAREST = 0.12
"""How much nearer to obstacles than during a plan somebody may stop right before a thing, such as a seat [m]."""
_STEP, _BRIEF = 0.1, 0.5
"""Least distance of a step that goes somewhere [m], and time that is too short to wait for anybody [s]."""


@dataclass(eq=False)
class MemberPlans:
    """Plans of members, by name, and how they were found. This class is **mutable**."""

    plans: dict[str, Plan] = field(default_factory=dict)
    results: dict[str, SearchResult] = field(default_factory=dict)
    bent: dict[str, Mapping[str, Clip]] = field(default_factory=dict)
    """Bent clips of steps that arrive exactly."""
    drawn: dict[str, RelaxedPlan] = field(default_factory=dict)
    """Plans that are drawn straight; their clips are bent when the best plans are known."""

    def clips(self, name: str) -> dict[str, Clip]:
        """Bend the clips of a member's plan, and return all that are not its library's, by name."""
        drawn = self.drawn[name].clips() if name in self.drawn else {}
        return drawn | dict(self.bent.get(name, {}))

    def of(self, name: str) -> MemberPlans:
        """Return what is known of one member."""
        one = MemberPlans({name: self.plans[name]}, {name: self.results[name]})
        if name in self.bent:
            one.bent[name] = self.bent[name]
        if name in self.drawn:
            one.drawn[name] = self.drawn[name]
        return one

    def take(self, other: MemberPlans) -> None:
        """Take all that others know of their members in place of what is known of them here."""
        for name in other.results:
            self.bent.pop(name, None)
            self.drawn.pop(name, None)
        self.plans |= other.plans
        self.results |= other.results
        self.bent |= other.bent
        self.drawn |= other.drawn


def brief_halts(prepared: PreparedLibrary, plan: Plan) -> int:
    """Return how often a character stands for less than a moment between two steps that go somewhere."""
    table = prepared.table
    rests = {table.behaviors[k] for k in table.behavior[table.rest[table.end_state]].tolist()}
    times = [*(step.time for step in plan.steps), plan.end_time]
    places = np.array([*(step.pose[:2] for step in plan.steps), plan.end_pose[:2]])
    goes = np.hypot(*np.diff(places, axis=0).T) >= _STEP
    count, ended = 0, -np.inf
    for k in np.flatnonzero(goes).tolist():
        count += int(times[k] - ended < _BRIEF)
        ended = times[k + 1] if plan.steps[k].behavior in rests else -np.inf
    return count


def turning(plan: Plan) -> float:
    """Return how much a plan turns in all [rad]."""
    headings = [*(step.pose[2] for step in plan.steps), plan.end_pose[2]]
    return float(np.abs(planar.wrap_angle(np.diff(headings))).sum())


class MemberPlanner:
    """A planner of members, one at a time: it writes what it finds into traffic and into `MemberPlans`."""

    def __init__(self, seed: int, planners: Mapping[str, Planner]) -> None:
        self.seed, self.planners = seed, planners
        self.searched: list[SearchResult] = []
        """All searches, one after another."""

    def search(
        self, member: CrowdMember, traffic: Traffic, query: Query, effort: Effort = Effort.USUAL
    ) -> SearchResult:
        """Ask the character's planner; traffic is extended until movers are known for long enough."""
        planner = self.planners[member.character.plan.planner]
        result = planner.find(
            PlanRequest(
                character=member.character,
                prepared=member.prepared,
                query=query,
                traffic=traffic,
                effort=effort,
                company=member.company,
            )
        )
        self.searched += [*result.earlier, result]
        if result.plan is not None and first_slot(result.plan.end_time) >= traffic.horizon:
            traffic.extend(2.0 * result.plan.end_time)
            return self.search(member, traffic, query, effort)
        return result

    def query(self, member: CrowdMember) -> Query:
        """Return the query for a member's plan."""
        character, options = member.character, member.character.plan
        return Query(
            character.start,
            character.goal,
            goal_heading=character.goal_heading,
            tolerance=options.tolerance - min(member.prepared.sway, 0.5 * options.tolerance),
            heading_tolerance=float(np.radians(options.goal_heading_tolerance_deg)),
            start_time=character.start_time + member.delay,
            start_behavior=member.after,
            followed_by=member.leaves_by,
            seed=int(np.random.SeedSequence([self.seed, member.number]).generate_state(1)[0]) >> 2,
            max_seconds=options.max_seconds,
            crowded=member.crowded,
            close=member.close,
        )

    def arrive(
        self, member: CrowdMember, traffic: Traffic, found: MemberPlans, plan: Plan, result: SearchResult
    ) -> bool:
        """Give a member a plan that leads to its goal, exactly if asked for; return whether it arrives."""
        character = member.character
        found.bent.pop(member.name, None)
        if not character.plan.arrives_exactly():
            self.settle(member, traffic, found, plan, result, tolerance=self.query(member).tolerance)
            return True
        goal, heading = _exact_goal(member)
        exact = self.exactly(member, traffic, plan)
        if isinstance(exact, str):
            self.settle(member, traffic, found, plan, replace(result, status=Status.PARTIAL, reason=exact))
            return False
        goes_on = exact.table is not None or heading is not None
        before = self._relaxed(member, traffic, exact.planned, goes_on=goes_on)
        self._add(member, traffic, found, before)
        exact.add_to(traffic, member.owner)
        whole = replace(exact.plan, steps=(*before.plan.steps, *exact.plan.steps[exact.arrival.first :]))
        if exact.table is None:  # nothing is bent at the end, which is that of the steps drawn straight
            whole = replace(whole, end_pose=before.plan.end_pose, end_time=before.plan.end_time)
        traffic.add_standing(member.owner, member.end_discs(whole), whole.end_time)
        found.plans[member.name], found.bent[member.name] = whole, exact.arrival.clips
        away = float(np.hypot(*np.subtract(whole.end_pose[:2], goal)))
        found.results[member.name] = replace(result, plan=whole, closest=whole.end_pose, remaining=away)
        return True

    def exactly(self, member: CrowdMember, traffic: Traffic, plan: Plan) -> ExactArrival | str:
        """Return how a plan is bent so that it ends exactly where it was asked to, or why it cannot be."""
        prepared, (goal, heading) = member.prepared, _exact_goal(member)
        return exact_arrival(
            prepared, traffic, plan, goal, heading, name=member.name,
            footworks=prepared.part("footworks", lambda: Footworks(prepared.library)),
            close=member.laden if member.stop is None else NEAREST + member.laden,
        )  # fmt: skip

    def settle(
        self, member: CrowdMember, traffic: Traffic, found: MemberPlans, plan: Plan, result: SearchResult,
        tolerance: float | None = None,
    ) -> None:  # fmt: skip
        """Give a member its plan, and let it stand at the end for ever.

        It may end anywhere within a tolerance of the goal [m]; None: exactly where it was planned to.
        """
        goes_on = member.character.goal_heading is not None or member.leaves_by is not None
        drawn = self._relaxed(member, traffic, plan, goes_on=goes_on, tolerance=tolerance)
        self._add(member, traffic, found, drawn)
        if member.leaves_by is None:
            traffic.add_standing(member.owner, member.end_discs(drawn.plan), drawn.plan.end_time)
        found.plans[member.name], found.results[member.name] = drawn.plan, replace(result, plan=drawn.plan)
        if tolerance is not None:
            end = drawn.plan.end_pose
            away = float(np.hypot(*np.subtract(end[:2], member.character.goal)))
            found.results[member.name] = replace(found.results[member.name], closest=end, remaining=away)

    def _relaxed(
        self, member: CrowdMember, traffic: Traffic, plan: Plan, goes_on: bool = False, tolerance: float | None = None
    ) -> RelaxedPlan:
        """Draw a plan straight if its character may; the character must not be in the traffic."""
        prepared, goal = member.prepared, None if tolerance is None else member.character.goal
        if not member.character.plan.relax:
            return unrelaxed(prepared, plan)
        footworks = prepared.part("footworks", lambda: Footworks(prepared.library))
        return relaxed(
            prepared, traffic, plan, footworks, name=member.name, goes_on=goes_on, goal=goal, tolerance=tolerance or 0.0
        )

    def _add(self, member: CrowdMember, traffic: Traffic, found: MemberPlans, drawn: RelaxedPlan) -> None:
        found.drawn[member.name] = drawn
        self._wait(member, traffic)
        if drawn.swept is not None:
            traffic.add_swept(member.owner, drawn.swept)

    def _wait(self, member: CrowdMember, traffic: Traffic) -> None:
        """Let a member that sets off later stand at its start until then."""
        start = member.character.start_time
        if member.delay > 0.0:
            traffic.add_standing(member.owner, member.start_discs, start, start + member.delay)

    def stay(self, member: CrowdMember, traffic: Traffic, found: MemberPlans, result: SearchResult) -> None:
        """Let a character stand at its start for ever."""
        character = member.character
        traffic.add_standing(member.owner, member.start_discs, character.start_time)
        found.plans[member.name] = Plan((), character.start, character.start_time, 0.0)
        found.drawn.pop(member.name, None)
        found.results[member.name] = result


def _exact_goal(member: CrowdMember) -> tuple[tuple[float, float], float | None]:
    """Return where a member ends exactly, and with which heading."""
    if member.stop is not None:
        return member.stop[:2], member.stop[2]
    return member.character.goal, member.character.goal_heading
