"""Prioritised planning of a crowd: characters are planned one after another, each clear of all before it."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gaitway.behavior.giving_way import give_way
from gaitway.behavior.member_planner import MemberPlanner, MemberPlans, brief_halts, turning
from gaitway.behavior.starts import CrowdMember, absentees, is_hemmed, own_speed, start_delay, start_delays, step_aside
from gaitway.core.progress import Progress, silent
from gaitway.library.behavior import Library
from gaitway.motion.clip import Clip
from gaitway.planners import planner_entry
from gaitway.scene.characters import LibraryRef
from gaitway.scene.scene import Scene
from gaitway.space.plan import Plan, SearchResult, Status, in_the_way
from gaitway.space.planner import Effort, Planner
from gaitway.space.prepared import PlanningContext, planning_context
from gaitway.space.query import Query
from gaitway.space.traffic import Traffic
from gaitway.world.areas import way_priority

WIDER = (2.0, 4.0, 8.0, 16.0)
"""Multiples of the tolerance within which a character that cannot arrive tries to stop."""
_EFFORT, _EFFORT_EACH = 300_000, 5_000
"""Expanded nodes, in all and for each character, after which no other order is tried."""
_SPREAD = 0.2
"""Share by which a random factor makes a distance longer or shorter when characters are put in order."""
_SPARED = math.radians(60.0)
"""Turning that one halt less is worth [rad]."""
_LOOKS = 2
"""Most times that plans are looked at once more when all are known."""
_TURNED, _STRAIGHTER = math.radians(60.0), math.radians(10.0)
"""Who turns by more than the first is planned again, and goes another way if that spares the second [rad]."""
_CHEAPER = 0.1
"""How much cheaper such a way has to be to be drawn straight at all [m]."""
_DEARER = 10.0
"""How much dearer a way may be whose owner halts less often [m]."""
_LATER = 5.0
"""How much later who halts less often may arrive [s]."""
_SLOWER = 0.3
"""How much later who only goes straighter may arrive [s]: nobody is to wait or dawdle for that."""
_STUCK = 30
"""Expanded nodes up to which a failed search counts as stuck at its start."""
_ASIDE = 0.5
"""Extra distance from a goal within which a standing character may block it too [m]."""
_AWAY = (1.0, 2.0, 4.0, 8.0)
"""Distances within which a character that does not arrive looks for a place where nothing comes [m], one by one."""
_SOON, _BRISK = 3.0, 1.6
"""A character that makes room is gone after this time [s], or when the other could arrive at this speed [m/s]."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CrowdPlan:
    """Plans of all characters, and how they were found."""

    names: tuple[str, ...]
    """Names of all characters, in the scene's order."""
    plans: Mapping[str, Plan]
    """Plans by character. A character without a plan stays at its start and has no steps. A character that cannot even
    stand there, because an obstacle or another character is there, is missing."""
    results: Mapping[str, SearchResult]
    """How the search for each character's plan went."""
    order: tuple[str, ...]
    """Names in the order in which they were planned."""
    bent: Mapping[str, Mapping[str, Clip]]
    """Bent clips of steps that are drawn straight, or that arrive exactly, by character and name."""
    exact: frozenset[str]
    """Characters whose plans end at their goals exactly."""
    libraries: Mapping[str, Library]
    """Library that each character was planned with."""
    rounds: int
    """Number of rounds in which all characters were planned."""
    seconds: float
    """Total time, loading of libraries included [s]."""
    search_seconds: float
    """Part of it that searches took [s]."""
    expanded: int
    """Expanded nodes of all searches."""
    hemmed: frozenset[str] = frozenset()
    """Characters that end so near to an obstacle that they must stand still."""

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of characters that do not arrive."""
        return tuple(name for name in self.names if not self.results[name].found)


def plan_crowd(
    scene: Scene,
    libraries: Mapping[LibraryRef, Library] | None = None,
    *,
    seed: int | None = None,
    rounds: int = 8,
    progress: Progress | None = None,
    planners: Mapping[str, Planner] | None = None,
    aside: bool = True,
    mirrors: npt.ArrayLike = (),
) -> CrowdPlan:
    """Plan all characters of a scene: by priority, their own or of areas, then by start, then the longest way first.

    A random factor makes distances up to a fifth longer or shorter. A character that has not been planned yet stands at
    its start from its start time on, and one that has arrived stays there for ever, so no character is ever walked
    through. If a character cannot arrive because of others, all are planned again with it in front, and every third
    time in random order. The best round is kept; who halts for no time in it is planned once more among all others. A
    character that cannot arrive stops as near to its goal as it can, or stays; if a mover comes to where it stays, it
    steps aside.

    Args:
        scene: the place and the characters.
        libraries: libraries that are loaded already.
        seed: seed of orders and of the choice among clips; None takes the scene's.
        rounds: largest number of rounds in which all characters are planned.
        progress: called with "libraries" or "characters", how many are done, and how many there are.
        planners: planners by name; None takes those of `gaitway.planners` that the characters ask for.
        aside: whether characters that do not arrive step aside for movers.
        mirrors: ground that is in the plane twice, as in `Traffic`; (M, 6).

    Raises:
        PlanError: if a character asks for a planner that there is not.
    """
    began = time.perf_counter()
    if planners is None:
        asked = dict.fromkeys(character.plan.planner for character in scene.characters)
        planners = {name: planner_entry(name).make() for name in asked}
    context, chosen = planning_context(scene.world, libraries), scene.seed if seed is None else seed
    crowd = _CrowdPlanner(scene, context, chosen, progress or silent, planners, aside, mirrors)
    best = crowd.plan(rounds)
    searched = sum(result.seconds for result in crowd.one.searched)
    return CrowdPlan(
        names=tuple(c.name for c in scene.characters),
        plans=best.plans,
        results={c.name: best.results[c.name] for c in scene.characters},
        order=best.order,
        bent={name: clips for name in best.plans if (clips := best.clips(name))},
        exact=frozenset(best.bent),
        libraries={m.name: m.prepared.library for m in crowd.members},
        rounds=crowd.rounds,
        seconds=time.perf_counter() - began,
        search_seconds=searched,
        expanded=sum(result.expanded for result in crowd.one.searched),
        hemmed=frozenset(
            m.name for m in crowd.members if m.name in best.plans and is_hemmed(scene.world, m, best.plans[m.name])
        ),
    )


@dataclass(eq=False, kw_only=True)
class _PlanningRound(MemberPlans):
    """Plans of one round of planning."""

    order: tuple[str, ...]
    traffic: Traffic
    """Where everybody is at the end of the round."""

    @property
    def rank(self) -> tuple[int, float, float]:
        """Sort key of rounds; the least is the best: failures, distances left, and total cost."""
        lost = [result for result in self.results.values() if not result.found]
        return len(lost), sum(r.remaining for r in lost), sum(plan.cost for plan in self.plans.values())


class _CrowdPlanner:
    """State of the planning of one crowd."""

    def __init__(
        self, scene: Scene, context: PlanningContext, seed: int, progress: Progress, planners: Mapping[str, Planner],
        aside: bool, mirrors: npt.ArrayLike = (),
    ) -> None:  # fmt: skip
        self.mirrors = mirrors
        self.scene, self.seed, self.progress, self.planners, self.aside = scene, seed, progress, planners, aside
        self.one = MemberPlanner(seed, planners)
        self.rounds = 0
        self.hopeless: dict[str, SearchResult] = {}
        self.members: list[CrowdMember] = []
        count = len(scene.characters)
        for number, character in enumerate(scene.characters):
            self.progress("libraries", number, count)
            prepared = context.prepared(character, own_speed(character, seed))
            self.members.append(CrowdMember(character, prepared, number, number))
            planners[character.plan.planner].prepare(character, self.members[-1].prepared)
        self.progress("libraries", count, count)
        self.absent = absentees(scene.world, self.members, self._empty())
        self._delay()

    def _delay(self) -> None:
        """Draw when members set off, so that those who start together do not walk in step."""
        movers = self._empty()
        together: dict[float, list[CrowdMember]] = {}
        for member in self.members:
            together.setdefault(member.character.start_time, []).append(member)
        for start, some in together.items():
            drawn = start_delays([m.name for m in some], self.seed)
            for member, share in zip(some, drawn.tolist(), strict=True):
                # who stands where a mover comes leaves at once
                if not (self.scene.world.movers and movers.comer(member.start_discs, start)):
                    member.delay = start_delay(share, member.character.plan.start_spread)

    def plan(self, rounds: int) -> _PlanningRound:
        """Plan all characters in several rounds, and return the best one."""
        rng = np.random.default_rng([self.seed, len(self.members)])
        order = self._first_order(rng)
        best = self._round(order)
        self._give_way(best)
        enough = _EFFORT + _EFFORT_EACH * len(order)
        while (
            self.rounds < rounds
            and sum(r.expanded for r in self.one.searched) < enough
            and (lost := [n for n, r in best.results.items() if self._worth(n, r)])
        ):
            front = [m for m in order if m.name in lost]
            rest = [m for m in order if m.name not in lost]
            if self.rounds % 3 == 0:
                rest = [rest[k] for k in rng.permutation(len(rest))]
            order = sorted(front + rest, key=self._precedence)
            found = self._round(order)
            self._give_way(found)
            best = min(best, found, key=lambda r: r.rank)
        for _ in range(_LOOKS):
            if sum(self._look_again(member, best) for member in order) == 0:
                break
        return best

    def _give_way(self, found: _PlanningRound) -> None:
        """Let those pass each other by shoulders and arms who would wait for one another where it is narrow."""
        if not np.size(self.mirrors):  # blocks on one floor would stand on others, too
            give_way(self.scene.world, self.one, self.members, found.traffic, found)

    def _look_again(self, member: CrowdMember, found: _PlanningRound) -> bool:
        """Plan a member anew that halts for no time or turns a lot, now that it is known when all others come and go.

        Who is planned early goes around people who stand at their starts, also if these have left by then. Return
        whether it has another plan now.
        """
        name, traffic = member.name, found.traffic
        if not found.results[name].found:
            return False
        halts, turned = brief_halts(member.prepared, found.plans[name]), turning(found.plans[name])
        if halts == 0 and turned < _TURNED:
            return False
        before, held = found.of(name), traffic.held(member.owner)
        most = before.plans[name].cost + (_DEARER if halts else -_CHEAPER)
        query = replace(self.one.query(member), most_cost=most)
        for effort in (Effort.GLANCE, Effort.PATIENT) if halts else (Effort.GLANCE,):
            traffic.remove(member.owner)
            result = self.one.search(member, traffic, query, effort)
            if (
                result.found
                and result.plan is not None
                and result.plan.cost < query.most_cost
                and self.one.arrive(member, traffic, found, result.plan, result)
                and (spared := halts - brief_halts(member.prepared, found.plans[name])) >= 0
                and turning(found.plans[name]) < turned + (_SPARED * spared if spared else -_STRAIGHTER)
                and found.plans[name].end_time < before.plans[name].end_time + (_LATER if spared else _SLOWER)
            ):
                return True
        traffic.remove(member.owner)
        for swept in held:
            traffic.add_swept(member.owner, swept)
        found.take(before)
        return False

    def _worth(self, name: str, result: SearchResult) -> bool:
        return not result.found and name not in self.hopeless and name not in self.absent

    def _first_order(self, rng: np.random.Generator) -> list[CrowdMember]:
        """Return the members by distance, the longest first; a random factor makes seeds differ."""
        spread = rng.uniform(1.0 - _SPREAD, 1.0 + _SPREAD, len(self.members))

        def way(member: CrowdMember) -> float:
            (x, y, _), goal = member.character.start, member.character.goal
            return float(np.hypot(goal[0] - x, goal[1] - y) * spread[member.number])

        present = [m for m in self.members if m.name not in self.absent]
        return sorted(present, key=lambda m: (*self._precedence(m), m.character.start_time, -way(m), m.number))

    def _precedence(self, member: CrowdMember) -> tuple[int, int]:
        """Return the sort key of who goes before whom: by own priority, then by that of the areas on the way."""
        character = member.character
        return -character.priority, -way_priority(self.scene.world.areas, character.start, character.goal)

    def _empty(self) -> Traffic:
        """Return traffic of movers only; the numbers of characters are reserved."""
        world, prepared = self.scene.world, self.members[0].prepared if self.members else None
        traffic = Traffic(
            () if prepared is None else prepared.fields.kinds, terrain=world.terrain, mirrors=self.mirrors
        )
        for member in self.members:
            traffic.enroll(member.name)
        for mover in world.movers:
            traffic.add_mover(mover)
        return traffic

    def _round(self, order: Sequence[CrowdMember]) -> _PlanningRound:
        """Plan all characters once, and those that failed once more."""
        self.rounds += 1
        traffic = self._empty()
        found = _PlanningRound(order=tuple(m.name for m in order), traffic=traffic)
        found.results.update(self.absent)
        for member in order:
            traffic.add_standing(member.owner, member.start_discs, member.character.start_time)
        again = []
        for done, member in enumerate(order):
            self.progress("characters", done, len(order))
            if not self._try(member, traffic, found):
                again.append(member)
        for member in again:
            settled = found.results[member.name].found or self._try(member, traffic, found)
            if not (settled or self._make_room(member, traffic, found)):
                self._come_near(member, traffic, found)
        for member in again if self.aside else ():
            if not found.results[member.name].found and self._stays(member, found):
                self._get_out_of_the_way(member, traffic, found)
        self.progress("characters", len(order), len(order))
        return found

    def _try(self, member: CrowdMember, traffic: Traffic, found: _PlanningRound) -> bool:
        """Plan one character among the others; return whether nothing more has to be tried."""
        if member.name in self.hopeless:
            found.results[member.name] = self.hopeless[member.name]
            return False
        query, names = self.one.query(member), {m.name for m in self.members}
        if occupants := [m.name for m in self._occupants(member, found)]:
            self.one.stay(member, traffic, found, _occupied(query, occupants))
            return False
        traffic.remove(member.owner)
        result = self.one.search(member, traffic, query)
        if result.status is Status.NO_PATH and result.expanded <= _STUCK and step_aside(member, traffic):
            query = self.one.query(member)
            result = self.one.search(member, traffic, query)
        others = _others(result, names, query)
        if not result.found and not others and result.status is not Status.NO_PATH:
            result = self.one.search(member, traffic, query, Effort.LONG)
            others = _others(result, names, query)
        if result.found and result.plan is not None:
            return self.one.arrive(member, traffic, found, result.plan, result)
        self.one.stay(member, traffic, found, result)
        if not others and result.status is Status.NO_PATH:  # no other order will help
            self.hopeless[member.name] = result
        return False

    def _stays(self, member: CrowdMember, found: _PlanningRound) -> bool:
        """Return whether a character has not been planned, or is to stay at its start."""
        return member.name not in found.plans or not found.plans[member.name].steps

    def _occupants(self, member: CrowdMember, found: _PlanningRound, near: float = 0.0) -> list[CrowdMember]:
        """Return the members that stay where a member would stand at its goal, or up to `near` farther away [m]."""
        goal, options = member.character.goal, member.character.plan
        room = 0.0 if options.arrives_exactly() else options.tolerance
        return [
            other
            for other in self.members
            if other is not member
            and other.name not in self.absent
            and math.dist(other.character.start[:2], goal) < member.core + other.core - room + near
            and self._stays(other, found)
        ]

    def _make_room(self, member: CrowdMember, traffic: Traffic, found: _PlanningRound, depth: int = 8) -> bool:
        """Plan a member together with those that stand on its goal: all of them go, or none; return whether they do."""
        others = [m for m in self._occupants(member, found, _ASIDE) if m.name not in self.hopeless]
        if member.name in self.hopeless or not others or depth == 0:
            return False
        before = {m.name: found.results[m.name] for m in (member, *others)}
        for other in others:
            start, way = other.character.start_time, math.dist(member.character.start[:2], member.character.goal)
            traffic.remove(other.owner)
            traffic.add_standing(other.owner, other.start_discs, start, start + max(_SOON, way / _BRISK))
        traffic.remove(member.owner)
        result = self.one.search(member, traffic, self.one.query(member))
        going = (
            result.plan is not None and result.found and self.one.arrive(member, traffic, found, result.plan, result)
        )
        for other in others:
            traffic.remove(other.owner)
            going = going and self._goes(other, traffic, found, depth)
        if not going:
            for each in (member, *others):
                traffic.remove(each.owner)
                found.bent.pop(each.name, None)
                self.one.stay(each, traffic, found, before[each.name])
        return going

    def _goes(self, member: CrowdMember, traffic: Traffic, found: _PlanningRound, depth: int) -> bool:
        """Plan a member that must leave its start, and those that must leave for it; return whether all arrive."""
        if not self._occupants(member, found):
            result = self.one.search(member, traffic, self.one.query(member))
            if result.plan is not None and result.found:
                return self.one.arrive(member, traffic, found, result.plan, result)
        return self._make_room(member, traffic, found, depth - 1)

    def _come_near(self, member: CrowdMember, traffic: Traffic, found: _PlanningRound) -> None:
        """Let a member that cannot arrive stop as near to its goal as it can."""
        failed = found.results[member.name]
        if (member.name in self.hopeless and failed.blockers) or not self._stays(member, found):
            return
        query = self.one.query(member)
        for factor in WIDER:
            wide = replace(query, tolerance=query.tolerance * factor, goal_heading=None)
            if failed.closest is None or wide.tolerance >= np.hypot(*np.subtract(query.start[:2], query.goal)):
                break
            traffic.remove(member.owner)
            result = self.one.search(member, traffic, wide, Effort.SHORT)
            if result.found and result.plan is not None:
                why = in_the_way(list(failed.blockers)[:2]) if failed.blockers else failed.reason.rpartition("; ")[2]
                reason = f"stops {result.remaining:.1f} m from the goal; {why}"
                partial = replace(result, status=Status.PARTIAL, reason=reason, blockers=failed.blockers)
                self.one.settle(member, traffic, found, result.plan, partial)
                return
            self.one.stay(member, traffic, found, failed)

    def _get_out_of_the_way(self, member: CrowdMember, traffic: Traffic, found: _PlanningRound) -> None:
        """Let a member that stays at its start go to the nearest place where nothing comes, if something comes there.

        Characters keep clear of it wherever it is, but the path of a mover is fixed.
        """
        failed, start = found.results[member.name], member.character.start
        traffic.remove(member.owner)
        comer = traffic.comer(member.start_discs, member.character.start_time)
        if comer is None:
            self.one.stay(member, traffic, found, failed)
            return
        for tolerance in _AWAY:
            query = replace(self.one.query(member), goal=start[:2], tolerance=tolerance, goal_heading=None)
            result = self.one.search(member, traffic, query, Effort.SHORT)
            if result.found and result.plan is not None:
                reason = f"{failed.reason}; steps aside for '{comer}'"
                self.one.settle(member, traffic, found, result.plan, replace(failed, plan=result.plan, reason=reason))
                return
        reason = f"{failed.reason}; '{comer}' comes to where it stands, and there is nowhere to step aside"
        self.one.stay(member, traffic, found, replace(failed, reason=reason))


def _occupied(query: Query, names: Sequence[str]) -> SearchResult:
    """Return the result for a goal on which others stand."""
    away = math.dist(query.start[:2], query.goal)
    reason = f"the goal ({query.goal[0]:g}, {query.goal[1]:g}) is taken; {in_the_way(names[:2])}"
    blockers = dict.fromkeys(names, 1)
    return SearchResult(Status.PARTIAL, None, closest=query.start, remaining=away, blockers=blockers, reason=reason)


def _others(result: SearchResult, names: set[str], query: Query) -> bool:
    """Return whether a search failed because of other characters: they blocked it, or it arrived and could not stay."""
    return not names.isdisjoint(result.blockers) or result.remaining <= query.tolerance
