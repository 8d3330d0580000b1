"""Plans of people who do errands: each walk is planned when it begins, with what is known then.

Everybody who has planned a walk keeps to it, and whoever stands is walked around until that person sets off, so nobody
is walked through. Traffic forgets what is over.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gaitway.behavior.member_planner import NEAREST, MemberPlanner, MemberPlans
from gaitway.behavior.starts import CrowdMember, absentees, crowding, start_delay, start_delays
from gaitway.core import planar
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import LimbError, PlanError, SittingError, SkeletonError, WorldError
from gaitway.core.progress import Progress, silent
from gaitway.errands.arrivals import Arrival, stranger, strangers
from gaitway.errands.busy import Busy, PlannedWalk, Sitting
from gaitway.errands.companions import (
    ahead_of_others,
    beside,
    chosen_sides,
    company_speeds,
    places_beside,
    waiting_for_others,
)
from gaitway.errands.dispatcher import GOING_ON, NOT_DONE, Dispatcher, Span
from gaitway.errands.doors import Doorkeeper, FloorLink, PlacedLibraries
from gaitway.errands.mover_stops import next_stop
from gaitway.errands.orders import Finished, Gone, Hold, Order, Outcome, Pose, Reach, SitDown, Stand, Step, Walk
from gaitway.errands.planned_doors import TURNS, PlannedDoors
from gaitway.errands.running import TICK, ErrandRun
from gaitway.errands.standing_places import drawn_points
from gaitway.library.behavior import Library
from gaitway.library.standing import standing_behaviors
from gaitway.motion.clip import Clip
from gaitway.planners import planner_entry
from gaitway.scene.characters import Character, LibraryRef
from gaitway.scene.errands import Errand, Place, SeatPlace
from gaitway.scene.scene import Scene
from gaitway.sitting import CALLED, Seat, down_seconds, standing_place, visit
from gaitway.sitting.stepping import step_aside
from gaitway.space.plan import Plan, PlanStep, SearchResult, Status, in_the_way
from gaitway.space.planner import Company, Effort, Planner
from gaitway.space.prepared import PreparedLibrary, planning_context
from gaitway.space.traffic import Traffic, placed_discs
from gaitway.world.levels.floors import Floors
from gaitway.world.world import with_doors

if TYPE_CHECKING:
    from gaitway.errands.desk import HandlingDesk  # which loads the planner of limbs, and few scenes need

Shift = Callable[[tuple[float, float], str | None, float | None], tuple[float, float]]
"""How far a point [m] is moved into the plane of the floors [m]: by the name of its floor, or by a height [m]; without
either it is on the lowest floor that is there."""
FloorLinks = Callable[[Character], Sequence[FloorLink]]
"""Ways of a character from floor to floor."""
_EFFORTS = (Effort.BRIEF, Effort.BRIEF, Effort.SHORT)
"""Effort of the first search for a walk, the second and later ones."""
_TOO_NEAR, _AT_EXIT = 3.0, 1.2
"""Distances from an exit below which somebody may be too near to leave at a walk, and below which nobody does [m]: that
person would have to walk past the exit and come back."""
_IN_COMPANY = 40_000
"""Most nodes of a search for the walk of somebody who has companions."""
_NEAR = 0.15
"""Distance from the goal within which the steps before the last ones end where somebody stops exactly [m]."""
_BENT_BY, _SOONER = (0.25, 0.35), 0.5
"""Distances from where somebody reaches within which steps may end that are bent to end there [m], the narrowest
first, and how much sooner a wider one must be there [s]."""
SITTING = "sit"
"""Name of the behaviour of somebody who sits down, sits and gets up."""
HANDLING = "handle"
"""Name of the behaviour of somebody who handles a thing."""
_MANNERS = ("upright", "leaning back", "forearms on thighs", "arms crossed")
"""Manners of sitting that are drawn."""
_GETS_UP = 0.7
"""Share of the usual discs that somebody takes up who has just got up from a seat."""
_SHORTEST_SIT, _KNEES = 3.0, 0.22
"""Shortest time to sit [s], and radius of the discs that stand for the hips and knees of who sits [m]."""
_BESIDE = 3.0
"""Distance beyond which whoever stands is not beside somebody, of whatever size [m]."""
_TOGETHER, _GATE = 3.0, 0.1
"""Time after the first within which companions set off with that one [s], and distance from obstacles, beyond a radius,
at which there is room to walk beside somebody [m]."""
_AWAY, _APART = 2.0, 4.0
"""Way to a place in a line or a seat above which somebody goes there with companions, and how far theirs may be from
that one [m]."""
_TAKEN = 300.0
"""Time after which whoever stands at a goal counts as standing there for good [s]."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ErrandPlan:
    """What everybody does, and how it was found."""

    people: tuple[Busy, ...]
    """Everybody who came, in the order of names in the scene, then of arrival."""
    refused: Mapping[str, SearchResult]
    """Who could not come in, by name, and why."""
    results: Mapping[str, SearchResult]
    """How everybody fared, by name: found if all errands were done."""
    end: float
    """Time at which the run ends [s]."""
    libraries: Mapping[str, Library]
    searched: tuple[SearchResult, ...]
    """All searches."""
    desk: HandlingDesk | None = None
    """What became of things; None without any."""
    keeper: Doorkeeper | None = None
    """How doors moved; None without any."""


def plan_errands(
    scene: Scene,
    libraries: Mapping[LibraryRef, Library] | None = None,
    *,
    seed: int,
    planners: Mapping[str, Planner] | None = None,
    shift: Shift | None = None,
    mirrors: npt.ArrayLike = (),
    links: FloorLinks | None = None,
    floors: Floors | None = None,
    progress: Progress | None = None,
) -> ErrandPlan:
    """Plan what everybody of a scene does.

    Args:
        scene: the place and the people, in the plane in which they are planned.
        libraries: libraries that are loaded already.
        seed: seed of all that is drawn.
        planners: planners by name; None takes those of `gaitway.planners` that people ask for.
        shift: how far a point of a floor is moved into the plane [m]; None: not at all.
        mirrors: ground that is in the plane twice, as in `Traffic`; (M, 6).
        links: ways of somebody from floor to floor; None for none.
        floors: the floors of the plane; None for a place with one.
        progress: called with "errands", the time of the run, and when it ends if that is known.
    """
    return _PlannedRun(scene, libraries, seed, planners, shift, mirrors, links, floors, progress or silent).plan()


class _PlannedRun(ErrandRun):
    """A run whose walks are planned."""

    def __init__(
        self, scene: Scene, libraries: Mapping[LibraryRef, Library] | None, seed: int,
        planners: Mapping[str, Planner] | None, shift: Shift | None, mirrors: npt.ArrayLike,
        links: FloorLinks | None, floors: Floors | None, progress: Progress,
    ) -> None:  # fmt: skip
        super().__init__(scene, seed)
        self.progress, self.shift, self.links = progress, shift, links or (lambda character: ())
        world = scene.world if self.keeper is None else with_doors(scene.world, self.keeper.asked_open)
        context, people = (
            planning_context(world, libraries),
            [*scene.characters, *strangers(self.coming.values())],
        )
        if planners is None:
            planners = {name: planner_entry(name).make() for name in dict.fromkeys(c.plan.planner for c in people)}
        self.prepared: dict[str, PreparedLibrary] = {}
        speeds = company_speeds(people, seed)
        for number, character in enumerate(people):
            progress("libraries", number, len(people))
            self.prepared[character.name] = context.prepared(character, speeds[character.name])
            planners[character.plan.planner].prepare(character, self.prepared[character.name])
        fields = self.prepared[people[0].name].fields
        self.one = MemberPlanner(seed, planners)
        self.dispatcher = Dispatcher(
            fields.clearance,
            seed,
            None if shift is None else self._shifted,
            self._before_seat,
            partial(next_stop, scene.world),
        )
        self.traffic = Traffic(fields.kinds, terrain=scene.world.terrain, mirrors=mirrors)
        self.people: dict[str, Busy] = {}
        self.refused: dict[str, SearchResult] = {}
        movers = Traffic(fields.kinds, terrain=scene.world.terrain)
        leaves: dict[str, int] = {}
        for mover in scene.world.movers:
            movers.add_mover(mover)
            leaves[mover.name] = self.traffic.add_mover(mover)
        self.doors = self._opened_doors(leaves)
        self._put_in(movers)
        self._engaged: dict[str, float] = {}
        """Until when somebody is engaged by another one's errand [s]."""
        self.desk = self._opened_desk(floors)

    def plan(self) -> ErrandPlan:
        """Let everybody do errands until all have done, or the run ends."""
        self.go_on(self.end)
        return self._result()

    def _opened_doors(self, leaves: Mapping[str, int]) -> PlannedDoors | None:
        """Return the doors of the scene, whose leaves have owners in traffic; None without any."""
        keeper = self.keeper
        if keeper is None:
            return None
        doors = PlannedDoors(
            keeper=keeper, placed=PlacedLibraries(self.scene.world, keeper.asked_open), prepared=self.prepared,
            traffic=self.traffic, leaves=leaves, dispatcher=self.dispatcher, people=self.people,
            links=self.links, may_open=self.may_open, break_off=self._broken_off, turned=self._turned_back,
        )  # fmt: skip
        self.dispatcher.shut |= {door.name for door in keeper.shut}
        self.dispatcher.door_place = doors.place
        return doors

    def _turned_back(self, name: str, outcome: Outcome) -> None:
        """Note what comes of the new walk of somebody who has turned back before a door."""
        self.forget(name)
        self.finish(name, outcome)

    def _put_in(self, movers: Traffic) -> None:
        """Put everybody who is there from the start into traffic."""
        members = [
            CrowdMember(character, self.prepared[character.name], self.traffic.enroll(character.name), number)
            for number, character in enumerate(self.scene.characters)
        ]
        self.refused |= absentees(self.scene.world, members, movers)
        delays = start_delays([member.name for member in members], self.seed)
        for member, share in zip(members, delays.tolist(), strict=True):
            if member.name in self.refused:
                continue
            character = member.character
            self.people[member.name] = Busy(character, member.prepared, member.owner, character.start)
            self.traffic.add_standing(member.owner, member.start_discs, character.start_time)
            delay = start_delay(share, character.plan.start_spread)
            self.enter(character, character.start, character.start_time + delay)

    def present(self) -> list[str]:
        """Return the names of all who are there, or on the way out."""
        return [busy.name for busy in self.people.values() if busy.leaves is None]

    def refuse(self, name: str, reason: str) -> None:
        """Note that somebody could not come in."""
        self.refused[name] = SearchResult(Status.NO_PATH, None, reason=reason)

    def redirect(self, name: str, errands: tuple[Errand, ...], time: float, reacts: float) -> None:
        """Send somebody on other errands: at once if that person stands, else after the step that is going on."""
        busy = self.people[name]
        if busy.walks and busy.walks[-1].leaves:
            return  # on the way out already
        self.dispatcher.send(name, errands, time)
        self.forget(name)
        if busy.stands(time):
            self.finish(name, Outcome(max(reacts, busy.character.start_time), busy.pose))
            return
        walk = busy.walks[-1]
        if walk.sits is not None:
            self.finish(name, self._get_up(busy, walk.sits, reacts))
            return
        steps = walk.plan.steps
        later = [k for k in range(1, len(steps)) if steps[k].time >= reacts]
        if not any(self._turned(busy, walk, number) for number in later[:TURNS]):
            self.finish(name, Outcome(walk.plan.end_time, busy.pose))

    def _turned(self, busy: Busy, walk: PlannedWalk, number: int) -> bool:
        """Let somebody break off a walk before one of its steps and walk elsewhere; return whether that is possible."""
        step = walk.plan.steps[number]
        order = self.dispatcher.next(busy.name, Outcome(step.time, step.pose))
        outcome = self._broken_off(busy, walk, number, order) if isinstance(order, Walk) else None
        if outcome is None:
            self.dispatcher.again(busy.name)
            return False
        self.finish(busy.name, outcome)
        return True

    def _broken_off(self, busy: Busy, walk: PlannedWalk, number: int, order: Walk) -> Outcome | None:
        """Let somebody break off a walk before one of its steps and carry out another one; None if that cannot be."""
        plan = walk.plan
        step, saved, before = plan.steps[number], self.traffic.held(busy.owner), (busy.pose, busy.after)
        tail = self.traffic.cut(busy.owner, step.time)
        busy.pose, busy.after = step.pose, plan.steps[number - 1].behavior
        outcome = self._walk(busy, order, step.time, on_the_way=True)
        if not outcome.reason:
            done = replace(plan, steps=plan.steps[:number], end_pose=step.pose, end_time=step.time)
            busy.walks[-2:-1] = [PlannedWalk(done, walk.clips, exact=False)]
            for swept in tail:
                self.traffic.add_swept(busy.owner, swept)
            return outcome
        busy.pose, busy.after = before
        self.traffic.remove(busy.owner)
        for swept in saved:
            self.traffic.add_swept(busy.owner, swept)
        return None

    def _shifted(self, place: Place) -> tuple[float, float]:
        return (0.0, 0.0) if self.shift is None else self.shift(place.point, place.floor, place.height)

    def carry_out(self, name: str, order: Order, time: float) -> None:
        """Carry out an order; a walk is planned as a whole, and over when its plan is."""
        busy = self.people[name]
        time = max(time, self._engaged.get(name, time))
        self.progress("errands", int(time), None if self.scene.end is None else int(self.scene.end))
        match order:
            case Walk():
                self.finish(name, self._walk(busy, order, time))
            case Stand(until) | Hold(until):
                self.finish(name, Outcome(max(until, time), busy.pose))
            case SitDown():
                self.finish(name, self._sit(busy, order, time))
            case Reach():
                self.finish(name, self._reach(busy, order, time))
            case Step():
                self.finish(name, self._step(busy, order, time))
            case Gone():
                self.traffic.remove(busy.owner)
                busy.leaves = min(time, busy.walks[-1].plan.end_time) if busy.walks else time
            case Finished():
                pass
        if self.keeper is not None and self.keeper.waiting:
            self.move_doors(time)  # somebody may have left a doorway

    def come_in(self, arrival: Arrival, time: float) -> bool:
        """Let somebody come out of a source where nobody stands or will come; return whether there is room."""
        name, prepared, shift = arrival.name, self._prepared(arrival.name), self._source_shift(arrival)
        points = drawn_points(arrival.source.area, 48, self.drawn()) + shift
        first = self.people.get(arrival.companions[0]) if arrival.companions else None
        if first is not None:
            points = beside(first.pose, points)
        for x, y in points.tolist():
            pose = (x, y, self.towards(arrival, x, y))
            character = replace(stranger(arrival, pose), start_time=time)
            discs = CrowdMember(character, prepared, -1, 0).start_discs
            free = (prepared.fields.clearance(discs[:, :2]) >= discs[:, 2]).all()
            if free and self.traffic.comer(discs, time) is None:
                owner = self.traffic.enroll(name)
                self.people[name] = Busy(character, prepared, owner, pose)
                self.traffic.add_standing(owner, discs, time)
                self.enter(character, pose, time)
                return True
        return False

    def _source_shift(self, arrival: Arrival) -> tuple[float, float]:
        middle, floor = arrival.source.area.centroid, arrival.source.floor
        return (0.0, 0.0) if self.shift is None else self.shift((middle.x, middle.y), floor, None)

    def _walk(self, busy: Busy, order: Walk, time: float, on_the_way: bool = False) -> Outcome:
        """Plan a walk; whoever finds no way stays.

        Args:
            busy: the person.
            order: where to.
            time: when it begins [s].
            on_the_way: whether the person is walking already, so that traffic keeps what is before.
        """
        bare = busy.prepared = self.prepared[busy.name]
        if self.doors is not None:
            busy.order, busy.prepared = order, self.doors.library(busy.name, busy.pose)
            bare = busy.prepared
            if (shut := self.doors.barred(busy, order, busy.pose, time)) is not None:
                return shut
        room = self._laden(busy)
        member, found, traffic = self._member(busy, order, time, room), MemberPlans(), self.traffic
        if not on_the_way:
            traffic.remove(busy.owner)
        if order.leaving and math.dist(busy.pose[:2], order.goal) > _AT_EXIT:
            member.leaves_by = busy.prepared.part("leaving gait", lambda: _gait(busy.prepared.library))
        elif not order.leaving and (blocker := self._taken(busy, order, time)) is not None:
            result = SearchResult(Status.PARTIAL, None, reason=in_the_way([blocker]), blockers={blocker: 1})
            self.one.stay(member, traffic, found, result)
            x, y = order.goal
            return Outcome(time, busy.pose, f"the goal ({x:.1f}, {y:.1f}) is taken; {result.reason}")
        short = order.exact and math.dist(busy.pose[:2], order.goal) <= _AWAY
        if not short:
            member.company = self._company(busy, order, time)
        standing = [other for other in self.people.values() if other is not busy and other.stands(time)]
        others = [other for other in standing if math.dist(other.pose[:2], busy.pose[:2]) < _BESIDE]
        member.crowded = crowding(member, [self._standing(other) for other in others])
        before = len(self.one.searched)
        thorough = on_the_way or (busy.character.companions and not short)  # who moves up waits, rather than go around
        effort = Effort.USUAL if thorough else _EFFORTS[min(order.tried, len(_EFFORTS) - 1)]
        result = self._searched_to(member, busy, effort)
        if room > 0.0 and not result.found:  # what is carried has no room: arms have to give way
            busy.prepared, laden = bare, member
            member = self._member(busy, order, time)
            member.leaves_by, member.company, member.crowded = laden.leaves_by, laden.company, laden.crowded
            result = self._before_others(member, busy, self._searched(member, busy, effort))
        busy.searched += self.one.searched[before:]
        if result.plan is None or not result.found:
            self.one.stay(member, traffic, found, result)
            people, anybody = set(self.people), set(self.traffic.names)
            alone = result.status is Status.NO_PATH and anybody.isdisjoint(result.blockers)
            barred = people.isdisjoint(result.blockers)
            return Outcome(time, busy.pose, result.reason, hopeless=alone, barred=barred)
        exact = self.one.arrive(member, traffic, found, result.plan, result) and member.character.plan.arrives_exactly()
        busy.seated = False
        plan = found.plans[busy.name]
        busy.walks.append(PlannedWalk(plan, found.clips(busy.name), exact, member.leaves_by is not None))
        busy.pose = plan.end_pose
        if busy.character.companions and not order.leaving:
            self.dispatcher.standing.taken[busy.name] = plan.end_pose[:2]  # others find their places beside it
        busy.after = plan.steps[-1].behavior if plan.steps else busy.after
        if member.stop is not None and not exact:
            return Outcome(plan.end_time, plan.end_pose, found.results[busy.name].reason)
        return Outcome(plan.end_time, plan.end_pose)

    def _company(self, busy: Busy, order: Walk, time: float) -> Company | None:
        """Return where somebody would like to be beside companions; None for somebody alone, and on other ways."""
        name = self.dispatcher.people[busy.name].first
        first = self.people.get(name)
        if first is None:
            return None
        if first is busy:
            return ahead_of_others()
        if not first.walks or first.walks[-1].sits or not (walk := first.walks[-1].plan).steps:
            return None
        if walk.end_time <= time or walk.steps[0].time < time - _TOGETHER:
            return None  # that was another way
        if order.exact and math.dist(walk.end_pose[:2], order.goal) > _APART:
            return None  # to the far end of a line, or to a seat elsewhere

        begin, free = walk.steps[0].time, self._room(busy)
        names = [one for one in busy.character.companions if one in self.people and one != name]
        others = {one: self.people[one].pose_at(begin) for one in names}
        slot, rank = chosen_sides(walk, begin, others, free)[busy.name]
        return places_beside(walk, time, busy.pose[:2], slot, rank, free)

    def _room(self, busy: Busy) -> Callable[[FloatArray], BoolArray]:
        """Return what tells whether somebody has room at points to walk beside others."""
        return lambda points: np.asarray(
            busy.prepared.fields.clearance(points) >= busy.character.radius + _GATE, dtype=np.bool_
        )

    def _before_others(self, member: CrowdMember, busy: Busy, result: SearchResult) -> SearchResult:
        """Return the way of the first of some companions, who waits for the others; that of anybody else as it is."""
        first = self.dispatcher.people[busy.name].first == busy.name
        if result.plan is None or not result.found or not first or member.company is None:
            return result
        others = [name for name in busy.character.companions if name in self.people and name != busy.name]
        headings = [self.people[name].pose[2] for name in others]
        company = waiting_for_others(result.plan, headings, self._room(busy))
        if company is None:
            return result
        member.company = company
        waiting = self.one.search(member, self.traffic, self.one.query(member))
        return waiting if waiting.found else result

    def _laden(self, busy: Busy) -> float:
        """Give somebody room for what is carried; return how much [m]."""
        room = None if self.desk is None else self.desk.room(busy.name, busy.character.radius)
        if self.desk is None or room is None:
            return 0.0
        world = self.scene.world if self.keeper is None else with_doors(self.scene.world, self.keeper.asked_open)
        busy.prepared = self.desk.laden.prepared(busy.prepared, world, room)
        self.one.planners[busy.character.plan.planner].prepare(busy.character, busy.prepared)
        return room.wider

    def _member(self, busy: Busy, order: Walk, time: float, laden: float = 0.0) -> CrowdMember:
        """Return somebody as the planner of walks sees that person, who may need room for what is carried [m]."""
        options = busy.character.plan
        if order.exact and "exact" in type(options).model_fields:
            options = options.model_copy(update={"exact": True, "tolerance": min(options.tolerance, _NEAR)})
        if busy.character.companions and "max_nodes" in type(options).model_fields:
            most = min(getattr(options, "max_nodes", _IN_COMPANY), _IN_COMPANY)
            options = options.model_copy(update={"max_nodes": most})
        character = replace(
            busy.character, start=busy.pose, start_time=time, goal=order.goal, goal_heading=order.heading, plan=options
        )
        member = CrowdMember(character, busy.prepared, busy.owner, busy.owner, after=busy.after)
        if busy.seated:
            member.close = max(member.close, NEAREST)
        member.close, member.laden = member.close + laden, laden
        if order.ahead is not None and order.heading is not None:
            (x, y), (way, far) = order.goal, order.ahead
            member.stop = (x, y, order.heading)
            member.character = replace(character, goal=(x + far * math.cos(way), y + far * math.sin(way)))
        return member

    def _soonest(self, member: CrowdMember, busy: Busy, effort: Effort) -> SearchResult | None:
        """Return the plan that is soonest at the place of a reach, exactly; None if none of brief searches is.

        Steps that end right there may be many: turns on the spot and back. Others end a little away and are bent.
        """
        narrow, best, soonest = member.character, None, math.inf
        for tolerance in (narrow.plan.tolerance, *_BENT_BY, busy.character.plan.tolerance):
            if not narrow.plan.tolerance <= tolerance <= busy.character.plan.tolerance:
                continue
            options = narrow.plan.model_copy(update={"tolerance": tolerance})
            member.character = replace(narrow, plan=options)
            result = self.one.search(member, self.traffic, self.one.query(member), effort)
            if result.plan is None or not result.found:
                continue
            exact = self.one.exactly(member, self.traffic, result.plan)
            if not isinstance(exact, str) and exact.plan.end_time < soonest - _SOONER:
                best, soonest, chosen = result, exact.plan.end_time, member.character
        member.character = narrow if best is None else chosen
        return best

    def _searched_to(self, member: CrowdMember, busy: Busy, effort: Effort) -> SearchResult:
        """Search for a way that ends exactly where somebody stops, the soonest there is, or for any way."""
        soonest = self._soonest(member, busy, effort) if member.stop is not None else None
        return self._before_others(member, busy, self._searched(member, busy, effort)) if soonest is None else soonest

    def _searched(self, member: CrowdMember, busy: Busy, effort: Effort) -> SearchResult:
        """Look for a way.

        Who is too near to leave at a walk stops first. Who finds no steps that end right at the goal looks for others.
        """
        result = self.one.search(member, self.traffic, self.one.query(member), effort)
        if not result.found and set(self.traffic.names).isdisjoint(result.blockers):
            effort = Effort.USUAL  # only what never moves is in the way, so that waiting would not help
            result = self.one.search(member, self.traffic, self.one.query(member), effort)
        if result.found:
            return result
        if member.leaves_by is not None and math.dist(busy.pose[:2], member.character.goal) < _TOO_NEAR:
            member.leaves_by = None
        elif member.character.plan.tolerance < busy.character.plan.tolerance:
            options = member.character.plan.model_copy(update={"tolerance": busy.character.plan.tolerance})
            member.character = replace(member.character, plan=options)
        else:
            return result
        return self.one.search(member, self.traffic, self.one.query(member), effort)

    def _prepared(self, name: str) -> PreparedLibrary:
        """Return the library of somebody for the doors as they are."""
        return self.prepared[name] if self.doors is None else self.doors.library(name)

    def doors_asked(self) -> None:
        """Let everybody stand clear of doors as they were asked to be."""
        self.dispatcher.standing.clearance = self._prepared(next(iter(self.prepared))).fields.clearance

    def move_doors(self, time: float) -> None:
        """Move the doors that wait from when on nobody is in the way; who would walk into one is planned anew."""
        if self.doors is not None:
            self.doors.move(time)

    def _seat(self, seat: SeatPlace) -> Seat:
        x, y, yaw = seat.pose
        return Seat((x, y), yaw, seat.height, seat.depth)

    def _before_seat(self, name: str, seat: SeatPlace, side: str) -> Pose:
        x, y, heading = standing_place(self.prepared[name].library, self._seat(seat), side).tolist()
        return x, y, heading

    def _sit(self, busy: Busy, order: SitDown, time: float) -> Outcome:
        """Let somebody who stands before a seat sit down, sit and get up."""
        rng, lasts = self.dispatcher.people[busy.name].rng, max(order.seconds, _SHORTEST_SIT)
        drawn, manner = int(rng.integers(2**31)), _MANNERS[int(rng.integers(len(_MANNERS)))]
        walk = self._seated(busy, Sitting(order, lasts, manner, drawn, time, busy.pose))
        busy.walks.append(walk)
        return Outcome(walk.plan.end_time, busy.pose)

    def _opened_desk(self, floors: Floors | None) -> HandlingDesk | None:
        """Return the desk of the things of the scene; None without any."""
        if not self.scene.things:
            return None
        ground = import_module("gaitway.errands.thing_ground").ThingGround(self.scene.world, floors)
        desk: HandlingDesk = import_module("gaitway.errands.desk").HandlingDesk(
            self.scene.world, ground, {thing.name: thing for thing in self.scene.things},
            lambda name: self.prepared[name].library, self.dispatcher.standing.clearance, self._spare, seed=self.seed,
        )  # fmt: skip
        try:
            desk.lay_out(list(self.people), lambda name: self.people[name].character.start_time)
        except (LimbError, SittingError, SkeletonError, WorldError) as problem:
            raise PlanError(f"objects: {problem}") from None
        self.dispatcher.desk = desk
        return desk

    def _spare(self, name: str, pose: Pose) -> float:
        """Return how far somebody who stands at a pose is from obstacles, with the whole body [m]."""
        discs = placed_discs(pose, self.prepared[name].standing_discs())
        return float((self.dispatcher.standing.clearance(discs[:, :2]) - discs[:, 2]).min())

    def _reach(self, busy: Busy, order: Reach, time: float) -> Outcome:
        """Let somebody who stands do something with a thing, alone or with another one who stands."""
        errand, desk = order.errand, self.desk
        if desk is None:
            return Outcome(time, busy.pose, "there are no things here", hopeless=True)
        partner = None if errand.other in (None, busy.name) else self.people.get(errand.other or "")
        try:
            if partner is None:
                made = {busy.name: desk.perform(busy.name, busy.pose, errand, order.hand, time)}
            else:
                free = max(time, self._engaged.get(partner.name, time))
                if not partner.stands(time) or free > time:
                    return Outcome(time, busy.pose, f"'{partner.name}' does not stand still")
                pair = (busy, partner) if errand.verb == "give" else (partner, busy)
                done = desk.exchange(pair[0].name, pair[0].pose, pair[1].name, pair[1].pose, errand, order.hand, time)
                made = {one.name: part for one, part in zip(pair, done, strict=True)}
        except (LimbError, SittingError, SkeletonError) as problem:
            return Outcome(time, busy.pose, f"'{errand.thing}': {problem}", hopeless=True)
        ends = [self._handled(self.people[name], part.clip, time) for name, part in made.items()]
        for name in made:
            self._engaged[name] = max(ends)
        moment = made[busy.name].motion
        for number, rule in enumerate(self.scene.rules):
            if errand.verb == "press" and rule.press == errand.thing and moment is not None:
                self._push_rule(time + moment.seconds, number)
        return Outcome(max(ends), busy.pose)

    def _step(self, busy: Busy, order: Step, time: float) -> Outcome:
        """Let somebody who stands step to a pose nearby, if nobody else is there."""
        discs = busy.prepared.standing_discs(busy.after)
        here, there = (placed_discs(pose, discs) for pose in (busy.pose, order.to))
        saved = self.traffic.held(busy.owner)
        self.traffic.remove(busy.owner)
        if (blocker := self.traffic.comer(there, time)) is not None:
            for swept in saved:
                self.traffic.add_swept(busy.owner, swept)
            return Outcome(time, busy.pose, in_the_way([blocker]))
        clip = step_aside(busy.prepared.library, np.array(busy.pose), np.array(order.to))
        end = time if clip is None else self._handled(busy, clip, time, order.to)
        self.traffic.add_standing(busy.owner, np.vstack([here, there]), time, end)
        self.traffic.add_standing(busy.owner, there, end)
        busy.pose = order.to
        return Outcome(end, busy.pose)

    def _handled(self, busy: Busy, clip: Clip, time: float, end_pose: Pose | None = None) -> float:
        """Add the motion of somebody who stands and handles a thing; return when it ends [s]."""
        name = f"{HANDLING}~{busy.name}-{round(time / TICK)}"
        end = time + (len(clip) - 1) / clip.fps
        plan = Plan((PlanStep(HANDLING, name, busy.pose, time),), end_pose or busy.pose, end, 0.0)
        busy.walks.append(PlannedWalk(plan, {name: replace(clip, name=name)}, exact=True))
        busy.seated = True
        return end

    def _get_up(self, busy: Busy, sits: Sitting, time: float) -> Outcome:
        """Let somebody who sits, or is about to, get up as soon as possible after a time [s]."""
        down = down_seconds(self._seat(sits.order.seat), sits.order.side)
        until = max(time - sits.start - down + CALLED, _SHORTEST_SIT)
        if until < sits.seconds:
            busy.walks[-1] = self._seated(busy, sits, until)
        return Outcome(busy.walks[-1].plan.end_time, busy.pose)

    def _seated(self, busy: Busy, sits: Sitting, until: float | None = None) -> PlannedWalk:
        """Make the motion of somebody who sits, and note it in traffic."""
        order, library, time = sits.order, busy.prepared.library, sits.start
        seat, side = self._seat(order.seat), order.side
        made = visit(library, seat, sits.seconds, sits.manner, sits.seed, side, until)
        name, path = f"sit~{busy.name}-{round(time / TICK)}", made.clip.planar_path()
        moved = planar.compose(sits.pose, planar.relative(path[0], path[-1])).tolist()
        end, clip = time + made.clip.duration, replace(made.clip, name=name)
        plan = Plan((PlanStep(SITTING, name, sits.pose, time),), (moved[0], moved[1], moved[2]), end, 0.0)
        x, y, yaw = order.seat.pose
        here = placed_discs(sits.pose, busy.prepared.standing_discs(busy.after))
        legs = [(x + a * math.cos(yaw), y + a * math.sin(yaw), _KNEES) for a in (-0.2, 0.3)]
        self.traffic.remove(busy.owner)
        self.traffic.add_standing(busy.owner, np.vstack([here, legs]), time, end)
        busy.pose, busy.seated = plan.end_pose, True
        after = placed_discs(busy.pose, busy.prepared.standing_discs(busy.after))
        after[:, 2] *= _GETS_UP  # who sits on the next seat stands there for a moment, and bodies do not touch
        self.traffic.add_standing(busy.owner, after, end)
        return PlannedWalk(plan, {name: clip}, exact=True, sits=sits)

    def _taken(self, busy: Busy, order: Walk, time: float) -> str | None:
        """Return who stands at a goal for good; None if nobody does."""
        there = placed_discs((*order.goal, order.heading or 0.0), busy.prepared.standing_discs())
        room = 0.7 * busy.character.plan.tolerance if not order.exact else 0.0 if order.ahead is None else NEAREST
        there = np.column_stack([there[:, :2], np.maximum(there[:, 2] - room, 0.01)])
        return self.traffic.comer(there, time + _TAKEN)

    def _standing(self, busy: Busy) -> CrowdMember:
        return CrowdMember(replace(busy.character, start=busy.pose), busy.prepared, busy.owner, 0, after=busy.after)

    def _result(self) -> ErrandPlan:
        people = tuple(self.people.values())
        end = max([self.last, *(walk.plan.end_time for busy in people for walk in busy.walks)])
        end = end if self.scene.end is None else self.scene.end
        for busy in people:
            if busy.leaves is None and busy.walks and busy.walks[-1].leaves:  # the run ends before that is noticed
                busy.leaves = busy.walks[-1].plan.end_time
            busy.spans = list(self.dispatcher.people[busy.name].spans)
            current = self.dispatcher.people[busy.name].current
            if current is not None:
                going = NOT_DONE if self.scene.end is None else GOING_ON
                door = self.dispatcher.people[busy.name].door
                why = "not done when the run ends" if not door else f"waits for door '{door}', which stays shut"
                busy.spans.append(Span(*current, end, going, why))
        if self.desk is not None:
            self.desk.close()
        return ErrandPlan(
            desk=self.desk,
            keeper=self.keeper,
            people=people,
            refused=self.refused,
            results={busy.name: _fared(busy) for busy in people} | self.refused,
            end=end,
            libraries={busy.name: busy.prepared.library for busy in people},
            searched=tuple(self.one.searched),
        )


def _fared(busy: Busy) -> SearchResult:
    """Return how somebody fared: found if all errands were done, else the first that was not, and why."""
    walks = [walk.plan for walk in busy.walks]
    steps = tuple(step for plan in walks for step in plan.steps)
    arrives = walks[-1].end_time if walks else busy.character.start_time
    plan = Plan(steps, busy.pose, arrives, sum(plan.cost for plan in walks))
    failed = [span for span in busy.spans if span.outcome == NOT_DONE]
    reason = "" if not failed else f"{failed[0].label}: {failed[0].reason}"
    status = Status.PARTIAL if failed else Status.FOUND
    tried = busy.searched
    return SearchResult(
        status, plan, sum(one.expanded for one in tried), sum(one.checks for one in tried),
        sum(one.seconds for one in tried), busy.pose, reason=reason,
        found_by=next((one.found_by for one in reversed(tried) if one.found), ""),
    )  # fmt: skip


def _gait(library: Library) -> str | None:
    """Return the slowest gait in which somebody walks ahead; None if there is none."""
    stands = {library.graph[name].start for name in standing_behaviors(library)}
    gaits = [b for b in library.graph.behaviors if b.start == b.end and b.start not in stands and b.obstacle is None]
    ahead = {b.name: planar.relative(*library.clips[b.clips[0]].planar_path()[[0, -1]]) for b in gaits}
    speeds = {b.name: ahead[b.name][0] / max(library.clips[b.clips[0]].duration, 1e-9) for b in gaits}
    straight = [name for name, move in ahead.items() if abs(move[2]) < 0.1 and speeds[name] > 0.5]
    return min(straight, key=lambda name: (round(speeds[name], 3), name), default=None)
