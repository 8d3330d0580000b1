"""Plans for all characters of a scene, one after another: each keeps clear of those before it, exactly in time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from gaitway.behavior.search import Query, search
from gaitway.behavior.starts import CrowdMember, absentees, step_aside
from gaitway.library.behavior import Library
from gaitway.motion.clip import Clip
from gaitway.performing.arrival.exact_arrival import exact_arrival
from gaitway.scene.characters import Character, LibraryRef
from gaitway.scene.scene import Scene
from gaitway.space._traffic_kernels import first_slot
from gaitway.space.plan import Plan, SearchResult, Status, in_the_way
from gaitway.space.prepared import PlanningContext, PreparedLibrary, planning_context
from gaitway.space.traffic import Traffic

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done and how much there is."""


class Shortcut(Protocol):
    """Another way to plans than a search, for those who ask for it."""

    def prepare(self, character: Character, prepared: PreparedLibrary) -> None:
        """Make ready what a character will need."""

    def find(
        self, character: Character, prepared: PreparedLibrary, query: Query, traffic: Traffic
    ) -> SearchResult | None:
        """An answer that is as good as that of a search; None wants a search."""


TRIES = ((1.0, 500), (2.0, 3_000), (3.0, 10_000), (1.5, 15_000), (5.0, 40_000))
"""Least weight of the estimate, and most nodes, of searches one after another: the best plan where that is easily
found, and in a throng any that there is."""
HASTE = 2.0
"""Weight for which estimates are made, above 1: among others a good plan soon is better than the best one late."""
LAST_TRY = 200_000
"""Most nodes for somebody who meets nobody and yet finds no way so easily."""
WIDER = (2.0, 4.0, 8.0, 16.0)
"""Times the tolerance that somebody tries to come near who cannot arrive."""
NEARER_TRIES = ((2.0, 3_000), (5.0, 10_000))
"""As `TRIES`, for each of these tolerances: what is left of the effort is for other orders."""
_EFFORT, _EFFORT_EACH = 300_000, 5_000
"""Nodes expanded, in all and for each character, after which no other order is tried."""
_SPREAD = 0.2
"""Share by which chance makes a way longer or shorter when characters are put in order."""
_STUCK = 10
"""Nodes after which a search is over that does not get away from the start."""
_ASIDE = 0.5
"""Who is so much farther from a goal than one who is certainly in the way there may be in the way, too [m]."""
_SOON, _BRISK = 3.0, 1.6
"""Who makes room for somebody is gone after so long [s], or when that one could be there at this speed [m/s]."""


@dataclass(frozen=True, eq=False)
class CrowdPlan:
    """What everybody does, and how it was found."""

    names: tuple[str, ...]
    """Of all characters, as the scene has them."""
    plans: Mapping[str, Plan]
    """By character. Somebody for whom there is none stays at its start and has no steps; who cannot even stand there,
    in an obstacle or on somebody else, is missing."""
    results: Mapping[str, SearchResult]
    """How the search for each character's plan went."""
    order: tuple[str, ...]
    """In which they were planned."""
    bent: Mapping[str, Mapping[str, Clip]]
    """Clips of the last steps of those who arrive exactly, by character and name."""
    libraries: Mapping[str, Library]
    """What each character was planned with."""
    rounds: int
    """How often everybody was planned."""
    seconds: float
    """All in all, libraries included [s]."""
    search_seconds: float
    """Of it, for searches [s]."""
    expanded: int
    """Nodes of all searches."""

    @property
    def failed(self) -> tuple[str, ...]:
        """Who does not arrive."""
        return tuple(name for name in self.names if not self.results[name].found)


def plan_crowd(
    scene: Scene,
    libraries: Mapping[LibraryRef, Library] | None = None,
    *,
    seed: int | None = None,
    rounds: int = 8,
    progress: Progress | None = None,
    shortcut: Shortcut | None = None,
) -> CrowdPlan:
    """Plan all characters of a scene: by priority, then by start time, then those with the longest way first.

    Ways count for up to a fifth more or less, by the seed. Who has not been planned yet stands at its start from its
    start time on, and who has arrived stays for ever, so nobody is walked over whatever happens. If somebody cannot
    arrive because of others, all are planned anew with it in front, now and then in random orders; the best round
    is kept.

    Args:
        scene: the place and who wants to be where.
        libraries: those that are loaded already.
        seed: of orders and of the choice among clips; None takes the scene's.
        rounds: how often to plan all of them at most.
        progress: called with "libraries" or "characters", how many are done, and how many there are.
        shortcut: asked before each search; None always searches.
    """
    began = time.perf_counter()
    crowd = _CrowdPlanner(
        scene, planning_context(scene.world, libraries), scene.seed if seed is None else seed, progress, shortcut
    )
    best = crowd.plan(rounds)
    searched = sum(result.seconds for result in crowd.searched)
    return CrowdPlan(
        tuple(c.name for c in scene.characters),
        best.plans,
        {c.name: best.results[c.name] for c in scene.characters},
        best.order,
        best.bent,
        {m.name: m.prepared.library for m in crowd.members},
        crowd.rounds,
        time.perf_counter() - began,
        searched,
        sum(result.expanded for result in crowd.searched),
    )


@dataclass(eq=False)
class _PlanningRound:
    """What one round found."""

    order: tuple[str, ...]
    plans: dict[str, Plan] = field(default_factory=dict)
    results: dict[str, SearchResult] = field(default_factory=dict)
    bent: dict[str, Mapping[str, Clip]] = field(default_factory=dict)

    @property
    def rank(self) -> tuple[int, float, float]:
        """Rounds with less are better."""
        lost = [result for result in self.results.values() if not result.found]
        return len(lost), sum(r.remaining for r in lost), sum(plan.cost for plan in self.plans.values())


class _CrowdPlanner:
    """All that happens while a crowd is planned."""

    def __init__(
        self, scene: Scene, made: PlanningContext, seed: int, progress: Progress | None, shortcut: Shortcut | None
    ) -> None:
        self.scene, self.planning_context, self.seed, self.shortcut = scene, made, seed, shortcut
        self.progress = progress or (lambda what, done, total: None)
        self.searched: list[SearchResult] = []
        self.rounds = 0
        self.hopeless: dict[str, SearchResult] = {}
        self.members: list[CrowdMember] = []
        count = len(scene.characters)
        for number, character in enumerate(scene.characters):
            self.progress("libraries", number, count)
            self.members.append(CrowdMember(character, made.of(character), number, number))
            if shortcut is not None:
                shortcut.prepare(character, self.members[-1].prepared)
        self.progress("libraries", count, count)
        self.absent = absentees(scene.world, self.members, self._empty())

    def plan(self, rounds: int) -> _PlanningRound:
        """The best of so many rounds."""
        rng = np.random.default_rng([self.seed, len(self.members)])
        order = self._first_order(rng)
        best = self._round(order)
        enough = _EFFORT + _EFFORT_EACH * len(order)
        while (
            self.rounds < rounds
            and sum(r.expanded for r in self.searched) < enough
            and (lost := [n for n, r in best.results.items() if self._worth(n, r)])
        ):
            front = [m for m in order if m.name in lost]
            rest = [m for m in order if m.name not in lost]
            if self.rounds % 3 == 0:
                rest = [rest[k] for k in rng.permutation(len(rest))]
            order = sorted(front + rest, key=lambda m: -m.character.priority)
            found = self._round(order)
            best = min(best, found, key=lambda r: r.rank)
        return best

    def _worth(self, name: str, result: SearchResult) -> bool:
        return not result.found and name not in self.hopeless and name not in self.absent

    def _first_order(self, rng: np.random.Generator) -> list[CrowdMember]:
        """Longest ways first, as if each were longer or shorter by a little, so that seeds differ."""
        spread = rng.uniform(1.0 - _SPREAD, 1.0 + _SPREAD, len(self.members))

        def way(member: CrowdMember) -> float:
            (x, y, _), goal = member.character.start, member.character.goal
            return float(np.hypot(goal[0] - x, goal[1] - y) * spread[member.number])

        present = [m for m in self.members if m.name not in self.absent]
        return sorted(present, key=lambda m: (-m.character.priority, m.character.start_time, -way(m), m.number))

    def _empty(self) -> Traffic:
        """Traffic of movers only; the numbers of characters are reserved."""
        world, prepared = self.scene.world, self.members[0].prepared if self.members else None
        traffic = Traffic(() if prepared is None else prepared.fields.kinds, terrain=world.terrain)
        for member in self.members:
            traffic.enroll(member.name)
        for mover in world.movers:
            traffic.add_mover(mover)
        return traffic

    def _round(self, order: Sequence[CrowdMember]) -> _PlanningRound:
        """Plan everybody once, and those who did not get through once more."""
        self.rounds += 1
        traffic, found = self._empty(), _PlanningRound(tuple(m.name for m in order))
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
        self.progress("characters", len(order), len(order))
        return found

    def _try(self, member: CrowdMember, traffic: Traffic, found: _PlanningRound) -> bool:
        """Plan one character among the others; whether there is nothing more to be tried."""
        if member.name in self.hopeless:
            found.results[member.name] = self.hopeless[member.name]
            return False
        query, names = self._query(member), {m.name for m in self.members}
        if occupants := [m.name for m in self._occupants(member, found)]:
            self._stay(member, traffic, found, _occupied(query, occupants))
            return False
        traffic.remove(member.owner)
        result = self._search(member, traffic, query)
        if result.status is Status.NO_PATH and result.expanded <= _STUCK and step_aside(member, traffic):
            query = self._query(member)
            result = self._search(member, traffic, query)
        others = _others(result, names, query)
        if not result.found and not others and result.status is not Status.NO_PATH:
            result = self._search(member, traffic, query, ((1.5, min(query.max_nodes, LAST_TRY)),))
            others = _others(result, names, query)
        if result.found and result.plan is not None:
            return self._arrive(member, traffic, found, result.plan, result)
        self._stay(member, traffic, found, result)
        if not others and result.status is Status.NO_PATH:  # no other order will help
            self.hopeless[member.name] = result
        return False

    def _stays(self, member: CrowdMember, found: _PlanningRound) -> bool:
        """Whether a character has not been planned, or is to stay at its start."""
        return member.name not in found.plans or not found.plans[member.name].steps

    def _occupants(self, member: CrowdMember, found: _PlanningRound, near: float = 0.0) -> list[CrowdMember]:
        """Who stays where one would have to stand at the goal, or so much [m] farther from there."""
        goal, options = member.character.goal, member.character.plan
        room = 0.0 if getattr(options, "exact", False) else options.tolerance
        return [
            other
            for other in self.members
            if other is not member
            and other.name not in self.absent
            and math.dist(other.character.start[:2], goal) < member.core + other.core - room + near
            and self._stays(other, found)
        ]

    def _make_room(self, member: CrowdMember, traffic: Traffic, found: _PlanningRound, depth: int = 8) -> bool:
        """For one whose goal others stand on who wait for a place themselves: all of them go, or nobody; whether so."""
        others = [m for m in self._occupants(member, found, _ASIDE) if m.name not in self.hopeless]
        if member.name in self.hopeless or not others or depth == 0:
            return False
        before = {m.name: found.results[m.name] for m in (member, *others)}
        for other in others:
            start, way = other.character.start_time, math.dist(member.character.start[:2], member.character.goal)
            traffic.remove(other.owner)
            traffic.add_standing(other.owner, other.start_discs, start, start + max(_SOON, way / _BRISK))
        traffic.remove(member.owner)
        result = self._search(member, traffic, self._query(member))
        going = result.plan is not None and result.found and self._arrive(member, traffic, found, result.plan, result)
        for other in others:
            traffic.remove(other.owner)
            going = going and self._goes(other, traffic, found, depth)
        if not going:
            for each in (member, *others):
                traffic.remove(each.owner)
                found.bent.pop(each.name, None)
                self._stay(each, traffic, found, before[each.name])
        return going

    def _goes(self, member: CrowdMember, traffic: Traffic, found: _PlanningRound, depth: int) -> bool:
        """Plan one who must leave its start, and those who must leave theirs for it; whether all arrive."""
        if not self._occupants(member, found):
            result = self._search(member, traffic, self._query(member))
            if result.plan is not None and result.found:
                return self._arrive(member, traffic, found, result.plan, result)
        return self._make_room(member, traffic, found, depth - 1)

    def _come_near(self, member: CrowdMember, traffic: Traffic, found: _PlanningRound) -> None:
        """For one who cannot arrive: stop as near to the goal as it gets."""
        failed = found.results[member.name]
        if (member.name in self.hopeless and failed.blockers) or not self._stays(member, found):
            return
        query = self._query(member)
        for factor in WIDER:
            wide = replace(query, tolerance=query.tolerance * factor, goal_heading=None)
            if failed.closest is None or wide.tolerance >= np.hypot(*np.subtract(query.start[:2], query.goal)):
                break
            traffic.remove(member.owner)
            result = self._search(member, traffic, wide, NEARER_TRIES)
            if result.found and result.plan is not None:
                why = in_the_way(list(failed.blockers)[:2]) if failed.blockers else failed.reason.rpartition("; ")[2]
                reason = f"stops {result.remaining:.1f} m from the goal; {why}"
                partial = replace(result, status=Status.PARTIAL, reason=reason, blockers=failed.blockers)
                self._settle(member, traffic, found, result.plan, partial)
                return
            self._stay(member, traffic, found, failed)

    def _search(
        self, member: CrowdMember, traffic: Traffic, query: Query, tries: Sequence[tuple[float, int]] = TRIES
    ) -> SearchResult:
        """By the shortcut, or a search with more and more weight and nodes; movers are known for long enough."""
        result = self._shortcut(member, traffic, query) or self._searches(member, traffic, query, tries)
        if result.plan is not None and first_slot(result.plan.end_time) >= traffic.horizon:
            traffic.extend(2.0 * result.plan.end_time)
            return self._search(member, traffic, query, tries)
        return result

    def _shortcut(self, member: CrowdMember, traffic: Traffic, query: Query) -> SearchResult | None:
        if self.shortcut is None:
            return None
        began = time.perf_counter()
        result = self.shortcut.find(member.character, member.prepared, query, traffic)
        # what it took counts, too, where it had no answer
        self.searched.append(result or SearchResult(Status.BUDGET, None, seconds=time.perf_counter() - began))
        return result

    def _searches(
        self, member: CrowdMember, traffic: Traffic, query: Query, tries: Sequence[tuple[float, int]]
    ) -> SearchResult:
        prepared = member.prepared
        estimates = prepared.heuristics.arrays(query.goal, query.tolerance, query.start[:2], weight=HASTE)
        for weight, nodes in tries:
            tried = replace(query, weight=max(query.weight, weight), max_nodes=min(query.max_nodes, nodes))
            result = search(prepared.searcher, prepared.fields, tried, traffic, estimates)
            self.searched.append(result)
            if result.status in (Status.FOUND, Status.NO_PATH):
                break
        if result.plan is None:
            return result
        return replace(
            result, plan=prepared.instances.with_identical_clips(prepared.fields, query, result.plan, traffic)
        )

    def _query(self, member: CrowdMember) -> Query:
        character, options = member.character, member.character.plan
        return Query(
            character.start,
            character.goal,
            character.goal_heading,
            options.tolerance - min(member.prepared.sway, 0.5 * options.tolerance),
            float(np.radians(options.goal_heading_tolerance_deg)),
            character.start_time,
            seed=int(np.random.SeedSequence([self.seed, member.number]).generate_state(1)[0]) >> 2,
            weight=getattr(options, "weight", 1.0),
            anytime=getattr(options, "anytime", False),
            max_nodes=getattr(options, "max_nodes", 1_000_000),
            max_seconds=options.max_seconds,
            crowded=member.crowded,
        )

    def _arrive(
        self, member: CrowdMember, traffic: Traffic, found: _PlanningRound, plan: Plan, result: SearchResult
    ) -> bool:
        """Let a character have a plan that leads to its goal, exactly if that is asked; whether it does."""
        character, prepared = member.character, member.prepared
        found.bent.pop(member.name, None)
        if not getattr(character.plan, "exact", False):
            self._settle(member, traffic, found, plan, result)
            return True
        exact = exact_arrival(
            prepared,
            traffic,
            plan,
            character.goal,
            character.goal_heading,
            name=member.name,
            footworks=prepared.footworks,
        )
        if isinstance(exact, str):
            self._settle(member, traffic, found, plan, replace(result, status=Status.PARTIAL, reason=exact))
            return False
        exact.add_to(traffic, member.owner, prepared.table, prepared.discs)
        traffic.add_standing(member.owner, member.end_discs(exact.plan), exact.plan.end_time)
        found.plans[member.name], found.bent[member.name] = exact.plan, exact.arrival.clips
        away = float(np.hypot(*np.subtract(exact.plan.end_pose[:2], character.goal)))
        found.results[member.name] = replace(result, plan=exact.plan, closest=exact.plan.end_pose, remaining=away)
        return True

    def _settle(
        self, member: CrowdMember, traffic: Traffic, found: _PlanningRound, plan: Plan, result: SearchResult
    ) -> None:
        """Let a character have its plan, and stand at the end of it for ever."""
        traffic.add_plan(member.owner, plan, member.prepared.table, member.prepared.discs)
        traffic.add_standing(member.owner, member.end_discs(plan), plan.end_time)
        found.plans[member.name], found.results[member.name] = plan, result

    def _stay(self, member: CrowdMember, traffic: Traffic, found: _PlanningRound, result: SearchResult) -> None:
        """Let a character stand at its start for ever."""
        character = member.character
        traffic.add_standing(member.owner, member.start_discs, character.start_time)
        found.plans[member.name] = Plan((), character.start, character.start_time, 0.0)
        found.results[member.name] = result


def _occupied(query: Query, names: Sequence[str]) -> SearchResult:
    """What to say where others stand at the goal."""
    away = math.dist(query.start[:2], query.goal)
    reason = f"the goal ({query.goal[0]:g}, {query.goal[1]:g}) is taken; {in_the_way(names[:2])}"
    blockers = dict.fromkeys(names, 1)
    return SearchResult(Status.PARTIAL, None, closest=query.start, remaining=away, blockers=blockers, reason=reason)


def _others(result: SearchResult, names: set[str], query: Query) -> bool:
    """Whether other characters are why a search failed: they were in the way, or it got there and could not stay."""
    return not names.isdisjoint(result.blockers) or result.remaining <= query.tolerance
