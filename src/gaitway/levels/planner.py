"""Plans over several floors: a leg on each floor by any planner, and a link from each floor to the next."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import LibraryError
from gaitway.levels.leading import AT_EDGE, over_link, touched
from gaitway.levels.links import BLOCKS, LevelLibrary, LiftRide, Link
from gaitway.levels.queueing import queue_places, stood_for
from gaitway.levels.riding import RIDE, rides, setting_off, stood_until
from gaitway.levels.routing import NEAR, LevelRoutes
from gaitway.library.fitting.blocks import block_heights
from gaitway.performing.arrival.footwork import Footworks
from gaitway.performing.relaxing.carried_steps import HeldTraffic
from gaitway.scene.characters import Character, LibraryRef
from gaitway.space._traffic_kernels import SLOT, first_slot
from gaitway.space.mover_sweep import Swept
from gaitway.space.plan import OwnStep, Plan, SearchResult, Status
from gaitway.space.planner import Effort, Planner, PlanRequest
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.query import Query
from gaitway.space.slopes import steepest_for
from gaitway.space.traffic import Traffic, swept_step
from gaitway.world.levels.floors import EDGE, Floor, Floors
from gaitway.world.levels.mesh_floors import WALKER
from gaitway.world.levels.missing import least_step

_TURNED = float(np.radians(25.0))
"""Greatest difference of the heading at the end of a leg from that of the link that follows [rad]."""
_LATER = (0.0, 1.0, 2.0, 3.5, 5.5, 8.0, 12.0, 18.0, 27.0)
"""How much later a character sets off if others are on a link when it comes there [s]."""
_LATER_IN_THRONG = (0.0, 3.0, 7.0, 12.0, 18.0, 27.0, 40.0, 60.0)
"""The same in a throng, where those who are in the way are others after a while [s]."""
_QUEUE, _MORE = 300.0, 4
"""Longest time for which a character waits at its start until a link is free [s], and how often it tries to be there
then, beyond `_LATER`."""
_NEARER = ((NEAR, _TURNED), (0.2, float(np.radians(12.0))))
"""How near to the entry of a link a leg ends, and how far from its heading [m, rad]; at the first try and the next."""
_LONGEST = 120.0
"""Time within which every link is passed [s]."""
_ROUNDS = 3
"""How often a character lets a lift go before it gives up."""
_ABOARD = 2.5
"""Least time in which somebody walks from the door of a lift onto its platform [s]."""
_OFF_LIFT = (0.8, float(np.radians(60.0)))
"""How near to the place before the door of a lift a leg ends that leads off it, and how far from its heading
[m, rad]: all ground there belongs to the floor too."""
_FACING = float(np.radians(70.0))
"""Greatest difference of the heading on a platform from that of the door by which one leaves [rad]."""
_EVEN = 1e-3
"""Difference in height that is rounding [m]."""
_ENOUGH = 100_000
"""Nodes that searches for one plan expand before no other way and no later time is tried: others are everywhere."""
_IN_THRONG, _BRIEFLY = 40_000, 10_000
"""The same in a throng, where who fails is planned again when all others are known; and for a plan that is looked for
once more there."""
_THRONG = 60
"""Number of people and movers in a place from which on a leg is searched for briefly at first."""
_TRIED = 4
"""Slots of time between two moments at which a link is asked whether it is free."""
_PLACES, _LOST, _QUEUED, _WHILE = 6, 3, 0.35, 2.0
"""Number of places before a link at which somebody tries to queue, how many of them it fails to reach at most, how near
to one it stands [m], and how long at first where it is not known when the link is free [s]."""
_HARDLY = 500
"""Most nodes of a search for a way to such a place, where trees have none."""
_OTHER_WAYS = 4
"""How many ways over other links are tried."""


@dataclass(eq=False)
class _Spent:
    """What all searches for the legs of a plan took. **Mutable**."""

    expanded: int = 0
    checks: int = 0
    seconds: float = 0.0
    tried: int = 0
    """Nodes that searches expanded for ways that were given up."""
    whole: _Spent | None = None
    """What all ways that were tried for the plan took, this one included."""

    def found(self, result: SearchResult) -> SearchResult:
        """Add a search."""
        self.expanded, self.checks = self.expanded + result.expanded, self.checks + result.checks
        self.seconds += result.seconds
        if self.whole is not None:
            self.whole.tried += result.expanded + sum(one.expanded for one in result.earlier)
        return result

    def told(self, result: SearchResult) -> SearchResult:
        """Return a result with what all searches took."""
        return replace(result, expanded=self.expanded, checks=self.checks, seconds=self.seconds)


@dataclass(frozen=True, eq=False)
class _Leg:
    """A way that failed: why, and which link is to blame, if any."""

    result: SearchResult
    link: int | None = None
    busy: bool = False
    """Whether others were on the link."""
    wait: float = 0.0
    """How much later the link is free, as far as that is known [s]."""


class LevelPlanner:
    """Plans over floors: it finds the links on the shortest way, and asks another planner for the legs between them."""

    def __init__(self, inner: Planner, floors: Floors, libraries: Mapping[LibraryRef, LevelLibrary]) -> None:
        """Take the parts.

        Args:
            inner: planner of the legs.
            floors: floors of the place.
            libraries: libraries with clips for the links of the place.
        """
        self.inner, self.floors, self.libraries = inner, floors, libraries

    def prepare(self, character: Character, prepared: PreparedLibrary) -> None:
        """Prepare the planner of the legs."""
        self.inner.prepare(character, prepared)

    def find(self, request: PlanRequest) -> SearchResult:
        """Find a plan over floors."""
        links = self.libraries[request.character.library].links
        prepared, query = request.prepared, request.query
        if not links:
            return self._explained(request, self.inner.find(request))
        routes = prepared.part("level routes", lambda: LevelRoutes(prepared, links), placed=True)
        closed, effort = set[int](), _Spent()
        failed: _Leg | None = None
        for _ in range(_OTHER_WAYS):
            way = routes.route(query.start[:2], query.goal, query.tolerance, closed)
            if way is None:
                break
            if not way:
                found = self.inner.find(request)
                if found.found or failed is None:
                    return self._explained(request, found)
                break
            if request.effort is Effort.PATIENT and _in_throng(request):  # it has one plan, and a glance found no other
                away = math.dist(query.start[:2], query.goal)
                return SearchResult(Status.BUDGET, None, closest=query.start, remaining=away, reason="others are there")
            leg = self._soon(request, [links[k] for k in way], way, effort)
            if isinstance(leg, SearchResult):
                return leg
            failed = failed or leg
            if leg.link is None or effort.tried > _enough(request):
                break
            entry = links[leg.link].entry
            closed |= {k for k, link in enumerate(links) if link.entry == entry}
        if failed is None:
            return self._explained(request, self.inner.find(request))
        return failed.result

    def _soon(self, request: PlanRequest, links: list[Link], numbers: list[int], effort: _Spent) -> SearchResult | _Leg:
        """Find a plan along given links that begins as soon as others leave room; return why there is none if so.

        Args:
            request: what is asked for.
            links: the links.
            numbers: their numbers.
            effort: what the searches for this plan have taken so far.
        """
        first: _Leg | None = None
        free, exact = 0.0, False
        tries = [*(_LATER_IN_THRONG if _in_throng(request) else _LATER), *[math.inf] * _MORE]
        if _again(request):
            tries = [0.0, math.inf]
        for known in tries:
            if known < free:  # others are still on the link then
                continue
            later = min(known, max(free, _LATER[-1]))
            if exact and _in_throng(request):
                later = free
            leg = self._along(request, links, numbers, later, effort)
            if isinstance(leg, SearchResult):
                return leg
            first = first or leg
            free, exact = later + leg.wait, leg.wait > 0.0
            endless = (later >= _LATER[-1] or _again(request)) and leg.wait == 0.0
            if not leg.busy or endless or free > _QUEUE or effort.tried > _enough(request):
                break
        assert first is not None
        return first

    def _along(
        self, request: PlanRequest, links: list[Link], numbers: list[int], later: float, effort: _Spent
    ) -> SearchResult | _Leg:
        """Find a plan along given links that begins some seconds later; return why there is none if so."""
        query, spent = request.query, _Spent(whole=effort)
        if effort.tried > _enough(request) // 2 and request.effort is Effort.USUAL:
            request = replace(request, effort=Effort.SHORT)
        plan = self._waited(request.prepared, query, request.traffic, later)
        if plan is None:
            return _Leg(SearchResult(Status.PARTIAL, None, reason="others come to where it waits", closest=query.start))
        last = None
        for number, link in zip(numbers[:-1], links[:-1], strict=True):
            for near in _NEARER:
                onto = self._onto(request, plan, link, last, near, spent)
                if isinstance(onto, Plan) or onto.busy:
                    break
            onto = self._or_queued(request, plan, link, last, onto, later, spent)
            if not isinstance(onto, Plan):
                return replace(onto, link=number)
            plan, last = onto, link
        failed: _Leg | None = None
        for near in _NEARER:  # from one end of a link the goal may be out of reach: on a ramp there is little room
            onto = self._onto(request, plan, links[-1], last, near, spent)
            onto = self._or_queued(request, plan, links[-1], last, onto, later, spent)
            leg = onto if isinstance(onto, _Leg) else self._to_goal(request, onto, links[-1], spent)
            if isinstance(leg, SearchResult):
                return leg
            failed = failed or replace(leg, link=numbers[-1])
            if leg.busy:
                return replace(leg, link=numbers[-1])
        assert failed is not None
        return failed

    def _to_goal(self, request: PlanRequest, plan: Plan, last: Link, spent: _Spent) -> SearchResult | _Leg:
        """Lead a plan from the last link to the goal; return why that fails if so."""
        query = request.query
        result = self._leg_of(replace(request, query=_leg(query, plan, last)), spent)
        if result.plan is None or not result.found:
            told = spent.told(replace(result, plan=None, status=_unmet(result), reason=_why(result)))
            return _Leg(told, busy=self._busy(request.traffic, result))
        plan = _joined(plan, result.plan)
        away = math.dist(plan.end_pose[:2], query.goal)
        return spent.told(replace(result, plan=plan, closest=plan.end_pose, remaining=away))

    def _onto(
        self, request: PlanRequest, plan: Plan, link: Link, last: Link | None, near: tuple[float, float], spent: _Spent,
        stood: bool = False,
    ) -> Plan | _Leg:  # fmt: skip
        """Lead a plan on to a link and over it; return why that fails if so. It may have stood in a queue."""
        prepared, traffic, query = request.prepared, request.traffic, request.query
        if link.ride is not None:
            return self._in_lift(request, plan, link, last, spent)
        near = near if link.source.lift is None else _OFF_LIFT
        leg = _leg(query, plan, last, link, *near)
        if stood and plan.steps:
            leg = replace(leg, start_behavior=plan.steps[-1].behavior, crowded=0.0)
        result = self._leg_of(replace(request, query=leg), spent)
        if result.plan is None or not result.found:
            told = replace(
                result, plan=None, status=_unmet(result), reason=f"on the way to '{link.name}': {_why(result)}"
            )
            return _Leg(spent.told(told), busy=self._busy(traffic, result))
        plan = _joined(plan, result.plan)
        if first_slot(plan.end_time + _LONGEST) >= traffic.horizon:
            traffic.extend(2.0 * (plan.end_time + _LONGEST))
        if link.fitted is None:
            late = _left_too_late(link, last, plan)
            if late:
                return _Leg(spent.told(_lost(query, plan, late)), busy=True)
            return _walked_on(prepared, plan, link.across, f"{request.character.name}-on-{len(plan.steps)}")
        footworks = prepared.part("footworks", lambda: Footworks(prepared.library))
        name = f"{request.character.name}-on-{len(plan.steps)}"  # unlike the names of steps that are bent later
        linked = over_link(prepared, HeldTraffic(traffic), footworks, plan, link, name=name)
        if isinstance(linked, str):
            return _Leg(spent.told(_lost(query, plan, linked)))
        edge = f"{EDGE}{link.source.name}" if link.fitted.kind in BLOCKS else None
        blocker = touched(prepared, linked, edge)
        own = [linked.plan.own[step.clip].swept for step in linked.plan.steps[linked.first :]]
        met = blocker or next((who for swept in own if (who := traffic.met_by(swept)) is not None), None)
        if met is None:
            return linked.plan
        wait = 0.0 if blocker is not None else _free_after(traffic, own)
        if math.isinf(wait) and not _in_throng(request):
            wait = 0.0
        return _Leg(
            spent.told(_lost(query, plan, f"'{met}' is in the way on '{link.name}'", met)), busy=blocker is None,
            wait=wait,
        )  # fmt: skip

    def _or_queued(
        self, request: PlanRequest, plan: Plan, link: Link, last: Link | None, onto: Plan | _Leg, later: float,
        spent: _Spent,
    ) -> Plan | _Leg:  # fmt: skip
        """Return how a plan was led over a link; or in a throng, where others are there, how it is from a queue.

        Who has not set off yet waits at its start first, if it is known how long.
        """
        if isinstance(onto, Plan) or link.fitted is None or not onto.busy or not _in_throng(request) or _again(request):
            return onto
        if math.isinf(onto.wait) or (last is None and later == 0.0 and onto.wait > 0.0):
            return onto
        query, prepared, begun = request.query, request.prepared, plan.end_time
        brief = replace(request, effort=Effort.BRIEF)
        lost = 0
        for place in queue_places(prepared, link)[:_PLACES]:
            if lost == _LOST:
                break
            leg = replace(_leg(query, plan, last), goal=place, goal_heading=None, tolerance=_QUEUED, followed_by=None)
            leg = replace(leg, max_nodes=min(leg.max_nodes, _HARDLY))
            result = spent.found(self.inner.find(replace(brief, query=leg)))
            if result.plan is None or not result.found:
                lost += 1
                continue
            there: Plan | None = _joined(plan, result.plan)
            begun = begun if there is None else there.end_time
            for _ in range(_MORE):
                if there is None or there.end_time - begun > _QUEUE:
                    break
                over = self._onto(brief, there, link, last, _NEARER[0], spent, stood=True)
                if isinstance(over, Plan):
                    return over
                if math.isinf(over.wait):
                    return onto
                if not over.busy:
                    break
                there = stood_for(prepared, request.traffic, there, over.wait or _WHILE)
        return onto

    def _in_lift(self, request: PlanRequest, plan: Plan, link: Link, last: Link | None, spent: _Spent) -> Plan | _Leg:
        """Lead a plan to a lift, onto its platform when it stands there, and up or down; return why that fails if so.

        A leg leads to a place before the door. There the character stands until the lift has come, walks to a place on
        the platform, and stands while it rides.
        """
        assert link.ride is not None
        traffic, ride, waits = request.traffic, link.ride, setting_off(request.prepared)
        if waits is None:
            return _Leg(spent.told(_lost(request.query, plan, f"'{link.name}': nobody of this library stands still")))
        name = f"{request.character.name}-in-{len(plan.steps)}"
        into = (ride.boarding.offset[0] - link.source.offset[0], ride.boarding.offset[1] - link.source.offset[1])
        failed: _Leg | None = None
        for pose in ride.waits:
            leg = replace(
                _leg(request.query, plan, last), goal=pose[:2], goal_heading=pose[2], tolerance=0.3,
                heading_tolerance=_TURNED, followed_by=waits,
            )  # fmt: skip
            result = self._leg_of(replace(request, query=leg), spent)
            if result.plan is None or not result.found:
                told = replace(
                    result, plan=None, status=_unmet(result), reason=f"on the way to '{link.name}': {_why(result)}"
                )
                failed = failed or _Leg(spent.told(told), busy=self._busy(traffic, result))
                continue
            there = _joined(plan, result.plan)
            boarded = self._boarded(request, there, ride, into, name, spent)
            if isinstance(boarded, Plan):
                return boarded
            failed = boarded
        assert failed is not None
        return failed

    def _boarded(
        self, request: PlanRequest, plan: Plan, ride: LiftRide, into: tuple[float, float], name: str, spent: _Spent
    ) -> Plan | _Leg:
        """Lead a plan that stands before the door of a lift onto its platform and up or down; or say why not."""
        query, busy = request.query, False
        prepared, traffic, lift = request.prepared, request.traffic, ride.lift
        why, after = f"nobody boards '{lift.name}' in the {lift.dwell:g} s for which it stands", plan.end_time + _ABOARD
        for round_ in range(_ROUNDS):
            come, leave = lift.stand(ride.source, after)
            after = leave + 1e-6
            arrive = lift.stand(ride.target, leave)
            if first_slot(arrive[1] + _LONGEST) >= traffic.horizon:
                traffic.extend(2.0 * (arrive[1] + _LONGEST))
            waited = stood_until(prepared, traffic, plan, come)
            if waited is None:
                lost = _lost(query, plan, f"others come to where it waits for '{lift.name}'")
                return _Leg(spent.told(lost), busy=True)
            waited = _walked_on(prepared, waited, into, f"{name}-{round_}")
            for place in ride.places:
                leg = replace(
                    _leg(request.query, waited, None), goal=place[:2], goal_heading=place[2], tolerance=0.25,
                    heading_tolerance=_FACING, followed_by=setting_off(prepared),
                    start_behavior=waited.steps[-1].behavior if waited.steps else None,
                )  # fmt: skip
                result = self._leg_of(replace(request, query=leg), spent)
                busy = busy or self._busy(traffic, result)
                if result.plan is None or not result.found or result.plan.end_time > leave:
                    continue
                ridden = rides(prepared, traffic, _joined(waited, result.plan), ride, arrive[0], f"{name}-{round_}")
                if ridden is not None:
                    return ridden
                why, busy = f"'{lift.name}' is full", True
        return _Leg(spent.told(_lost(query, plan, why)), busy=busy)

    def _leg_of(self, request: PlanRequest, spent: _Spent) -> SearchResult:
        """Find a leg; in a throng a short search comes first, since the cheapest way takes long to find there."""
        if request.effort is Effort.USUAL and _in_throng(request):
            effort = Effort.SHORT if request.query.followed_by is None else Effort.BRIEF
            soon = spent.found(self.inner.find(replace(request, effort=effort)))
            if soon.found or self._busy(request.traffic, soon):  # who is in the way will be gone later
                return soon
            if effort is Effort.BRIEF:
                return spent.found(self.inner.find(replace(request, effort=Effort.SHORT)))
        return spent.found(self.inner.find(request))

    @staticmethod
    def _busy(traffic: Traffic, result: SearchResult) -> bool:
        """Return whether a search failed because of others, who may be gone later."""
        return not set(traffic.names).isdisjoint(result.blockers)

    @staticmethod
    def _waited(prepared: PreparedLibrary, query: Query, traffic: Traffic, later: float) -> Plan | None:
        """Return a plan that stands at the start for about a time [s]; None if others come there."""
        plan = Plan((), query.start, query.start_time, 0.0)
        if later == 0.0:
            return plan
        return stood_for(prepared, traffic, plan, later)

    def _explained(self, request: PlanRequest, result: SearchResult) -> SearchResult:
        """Return the result of a search without a way over links, with what is missing."""
        start, goal = (self.floors.under(*place[:2]) for place in (request.query.start, request.query.goal))
        closed = result.status is Status.NO_PATH and start.mesh
        if result.found or (start is goal and not closed):
            return result
        reason = lacking(
            self.floors, request.query.start, request.query.goal, self.libraries[request.character.library]
        )
        return replace(result, status=Status.NO_PATH, reason=reason)


def _enough(request: PlanRequest) -> int:
    """Return how many nodes searches for a plan expand before no other way and no later time is tried."""
    if not _in_throng(request):
        return _ENOUGH
    return _BRIEFLY if request.effort in (Effort.BRIEF, Effort.PATIENT, Effort.GLANCE) else _IN_THRONG


def _again(request: PlanRequest) -> bool:
    """Return whether somebody in a throng has a plan already, so that another way is not worth much."""
    return _in_throng(request) and request.effort in (Effort.PATIENT, Effort.GLANCE)


def _in_throng(request: PlanRequest) -> bool:
    """Return whether there are so many people and movers that hardly any search finds the best way soon."""
    return len(request.traffic.names) >= _THRONG


def lacking(floors: Floors, start: Sequence[float], goal: Sequence[float], known: LevelLibrary) -> str:
    """Say why no way leads from one point of the plane to another."""
    (here, at), (there, to) = ((floor := floors.under(*p[:2]), floors.spot(floor, *p[:2])) for p in (start, goal))
    if here.mesh and there.mesh:
        ways = f"no path from '{here.name}' ({at[2]:.3g} m) to '{there.name}' ({to[2]:.3g} m)"
        return f"{ways}: {_lacking_on_mesh(floors, at, to, known)}"
    if here is there:
        return f"no way leads there on '{here.name}' ({here.height:g} m)"
    back = next((k.name for k in known.links if k.belt and k.source is there and k.target is here), None)
    what = _missing_step(here, there, known) if back is None else f"escalator '{back}' carries people the other way"
    what = known.troubles[0] if known.troubles else what
    return f"no path from '{here.name}' ({here.height:g} m) to '{there.name}' ({there.height:g} m): {what}"


def _missing_step(here: Floor, there: Floor, known: LevelLibrary) -> str:
    """Say which step is missing from one level floor to another, and what a library climbs instead."""
    rise, name = there.height - here.height, known.library.name
    if here.lift is not None or there.lift is not None or abs(rise) < _EVEN:
        return "no stairs lead there"
    way = "up" if rise > 0.0 else "down"
    try:
        low, high = block_heights(known.library, "climb", way)
        able = f"'{name}' climbs {way} {low:.2g} to {high:.2g} m, where a block is of kind climb"
    except LibraryError:
        able = f"'{name}' climbs no blocks"
    return f"it needs a step of {abs(rise):.2g} m {way}; {able}: add stairs, a ramp or a lift"


def _lacking_on_mesh(floors: Floors, start: FloatArray, goal: FloatArray, known: LevelLibrary) -> str:
    """Say why no way leads from one point of a walkable mesh to another."""
    most = math.degrees(steepest_for(known.library))
    for what, (x, y, z) in (("start", start), ("goal", goal)):
        relief = floors.at(x, y, z, what=what).relief
        steep = 0.0 if relief is None else math.degrees(math.atan(float(np.hypot(*relief.gradients((x, y))))))
        if steep > most:
            return (
                f"{what} ({x:.1f}, {y:.1f}) is on ground of {steep:.0f} degrees; '{known.library.name}' walks up to "
                f"{most:.0f} degrees"
            )
    step = least_step(floors.world, start, goal)
    if step is None:
        return "nothing leads there"
    name, (high, (x, y, z)) = known.library.name, step
    if high > 0.0:
        return (
            f"it needs a step of {high:.2g} m at ({x:.1f}, {y:.1f}, {z:.1f}); '{name}' steps up to {WALKER.step:g} m "
            "where no stairs are"
        )
    return (
        f"no way is level, wide and high enough: '{name}' walks up to {most:.0f} degrees, with {WALKER.headroom:g} m "
        "of head-room"
    )


def _why(result: SearchResult) -> str:
    """Return why a search failed, without places in the plane, which nobody knows."""
    return "; ".join(part for part in result.reason.split("; ") if not part.startswith("the search got"))


def _leg(
    query: Query, plan: Plan, last: Link | None, link: Link | None = None, near: float = NEAR, turned: float = _TURNED
) -> Query:
    """Return the query of a leg from the end of a plan, after the last link, to the next one or to the goal."""
    leg = replace(query, start=plan.end_pose, start_time=plan.end_time)
    if last is not None and plan.steps:
        leg = replace(leg, start_behavior=plan.steps[-1].behavior, crowded=0.0)
        if last.fitted is not None and last.fitted.kind in BLOCKS:
            leg = replace(leg, close=AT_EDGE)
    if link is None:
        return leg
    return replace(
        leg, goal=link.entry[:2], goal_heading=link.entry[2], tolerance=near, heading_tolerance=turned,
        followed_by=link.behavior,
    )  # fmt: skip


def _free_after(traffic: Traffic, parts: Sequence[Swept]) -> float:
    """Return how much later all of a way would meet nobody, nor a moment after [s].

    0 if that takes too long, and infinity where somebody stands for good.
    """
    swept = Swept.joined(parts)
    late = int(swept.slots[:, 1].max())
    if late + first_slot(_QUEUE) >= traffic.horizon:
        traffic.extend(2.0 * (late * SLOT + _QUEUE))
    if traffic.met_by(replace(swept, slots=swept.slots + int(first_slot(_QUEUE)))) is not None:
        return math.inf
    free = False
    for slots in range(_TRIED, int(first_slot(_QUEUE)), _TRIED):
        was, free = free, traffic.met_by(replace(swept, slots=swept.slots + slots)) is None
        if was and free:  # nobody comes at the very moment that is aimed at
            return (slots - _TRIED // 2) * SLOT
    return 0.0


def _left_too_late(link: Link, last: Link | None, plan: Plan) -> str:
    """Say why a plan that leads off a lift leaves it too late; empty if it does not, or if it leads off none."""
    if last is None or last.ride is None or link.source.lift is None:
        return ""
    ride = last.ride
    begun = next(step.time for step in reversed(plan.steps) if RIDE in step.clip)
    _, leave = ride.lift.stand(ride.target, ride.lift.stand(ride.source, begun)[1])
    return "" if plan.end_time <= leave else f"nobody leaves '{ride.lift.name}' in the {ride.lift.dwell:g} s"


def _walked_on(prepared: PreparedLibrary, plan: Plan, across: tuple[float, float], name: str) -> Plan:
    """Return a plan that goes on at the same place on the other floor of a joint."""
    x, y, heading = plan.end_pose
    steps, own = list(plan.steps), dict(plan.own)
    if steps and steps[-1].clip not in own:  # nothing bends steps of both floors together, since this one stays
        step = steps[-1]
        clip = replace(prepared.library.clips[step.clip], name=f"{step.clip}~{name}")
        own[clip.name] = OwnStep(clip, swept_step(step, prepared.table, prepared.discs))
        steps[-1] = replace(step, clip=clip.name)
    (dx, dy) = across
    return Plan(tuple(steps), (x + dx, y + dy, heading), plan.end_time, plan.cost, own)


def _unmet(result: SearchResult) -> Status:
    """Return the status of a search that has no whole plan."""
    return Status.NO_PATH if result.status is Status.NO_PATH else Status.BUDGET


def _joined(plan: Plan, leg: Plan) -> Plan:
    steps = (*plan.steps, *leg.steps)
    return Plan(steps, leg.end_pose, leg.end_time, plan.cost + leg.cost, {**plan.own, **leg.own})


def _lost(query: Query, plan: Plan, reason: str, blocker: str | None = None) -> SearchResult:
    away, blockers = math.dist(plan.end_pose[:2], query.goal), {} if blocker is None else {blocker: 1}
    return SearchResult(Status.BUDGET, None, closest=plan.end_pose, remaining=away, blockers=blockers, reason=reason)
