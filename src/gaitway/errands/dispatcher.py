"""The dispatcher: it tells everybody what to do next, errand by errand, and notes what came of it.

It knows nothing of how people move. Whoever moves them (a planner, a live crowd) asks for an order when a person has
carried out the one before, and tells how that went.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
import shapely.affinity

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import PlanError, SittingError
from gaitway.errands.gathering import Gathering
from gaitway.errands.handling import handle
from gaitway.errands.orders import Finished, Gone, Hold, Order, Outcome, Pose, SitDown, Stand, Walk
from gaitway.errands.queue_line import QueueLine, drawn_line, own_line
from gaitway.errands.standing_places import StandingPlaces
from gaitway.scene.errands import (
    Choose,
    Errand,
    Go,
    Handle,
    Leave,
    Look,
    Meet,
    Person,
    Place,
    Queue,
    Range,
    Repeat,
    SeatPlace,
    Sit,
    Target,
    Wait,
    every,
    label,
    target_of,
)

if TYPE_CHECKING:
    from gaitway.errands.desk import HandlingDesk  # which loads the planner of limbs, and few scenes need

_TRIES = (1.5, 3.0, 5.0, 8.0, 12.0)
"""Times after which a walk that others bar is tried again [s], one after another."""
_REACTION = (0.35, 1.0)
"""Time after which somebody in a line sees that the one before has moved on [s]."""
_ABREAST = 0.95
"""Distance from one companion to the next where they stand [m]."""
_MANY = 4
"""How many companions are so many that they stand in a cluster, and not side by side."""
_THERE = 3.0
"""Distance from a place within which the first of some companions goes there [m]."""
_LONGEST = 86_400.0
"""Time for which people hold at most [s]: one day."""
_FULL = 3.0
"""Time after which somebody looks again whether a line has room [s]."""
_PATIENT = 600.0
"""Longest time to wait for room in a line [s]."""
_BESIDE = 1.1
"""Distance at which people stop before somebody [m]."""
SIDES = {"left": 0.5 * math.pi, "right": -0.5 * math.pi, "front": 0.0}
"""Heading of somebody who has a seat on a side (front: behind the back), over that of who sits on it [rad]."""
_STOOL = 0.16
"""Distance from the front edge of a seat at which people of usual size stand before they sit down [m]."""
_SEATS = 4
"""Most free seats that somebody tries one after another."""
_ASIDE, _OFF_LINE = (1.5, 2.2, 3.0), 1.1
"""Distances from where people are served at which who has been waits for companions [m], and the least one from the
line."""
_NEAR_DOOR = 0.6
"""Distance within which somebody is where to wait before a door [m]."""
_ROOM = 0.15
"""How far before that place people can stand with as much room as usual [m]."""

DONE, NOT_DONE, GIVEN_UP, GOING_ON = "done", "not done", "given up", "going on"
"""What comes of an errand: it is done; it could not be done; it is given up; it goes on when the run ends."""

Doing = Generator[Order, Outcome, None]
Walking = Generator[Order, Outcome, Outcome]


@dataclass(frozen=True)
class Span:
    """An errand of a person, from one time to another."""

    label: str
    """What it was, such as "queue counter"."""
    start: float
    end: float
    """From when to when [s]."""
    outcome: str
    """What came of it: `DONE`, `NOT_DONE`, `GIVEN_UP` or `GOING_ON`."""
    reason: str = ""
    """Why it was not done; empty if it was."""


@dataclass(eq=False)
class Doer:
    """Somebody who does errands. This class is **mutable**."""

    name: str
    errands: tuple[Errand, ...]
    """All that the person was last told to do."""
    pose: Pose
    """Where the person stands, or stood before the last walk."""
    time: float
    """Time of the last outcome [s]."""
    radius: float
    rng: np.random.Generator
    spans: list[Span] = field(default_factory=list)
    doing: Doing | None = None
    waits: bool = False
    """Whether the person holds."""
    companions: tuple[str, ...] = ()
    """Names of all who do these errands together; empty for somebody alone."""
    begun: tuple[int, int] = (0, 0)
    """How often the person was sent on other errands, and how many were begun since then."""
    first: str = ""
    """Who walks first of the companions, in the errand that is being done."""
    current: tuple[str, float] | None = None
    """What the person is doing now, and since when [s]."""
    errand: Errand | None = None
    """The errand that the person is doing now."""
    door: str = ""
    """The door that the person waits for, by name; empty if for none."""
    todo: list[Errand] = field(default_factory=list)
    """What comes after it; a `Choose` is not decided yet, and a `Repeat` stands for the times that are left."""


def _straight_before(name: str, seat: SeatPlace, side: str) -> Pose:
    """Return where somebody of usual size stands before a seat that is on a side."""
    x, y, heading = seat.pose
    turned = heading + SIDES[side]
    return x + _STOOL * math.cos(heading), y + _STOOL * math.sin(heading), turned


def _sides(pose: Pose, seat: SeatPlace) -> list[str]:
    """Return on which side somebody can have a seat, the one with the least turning first."""
    way = math.atan2(seat.pose[1] - pose[1], seat.pose[0] - pose[0])

    def turn(side: str) -> float:
        off = way - seat.pose[2] - SIDES[side]
        return round(abs(math.remainder(off, math.tau)) + (0.0 if side != "front" else 0.5), 6)

    return sorted(SIDES, key=turn)


class Dispatcher:
    """All who do errands, and what they share: lines, seats, meeting points and events. **Mutable**."""

    def __init__(
        self,
        clearance: Callable[[FloatArray], FloatArray],
        seed: int,
        shift: Callable[[Place], tuple[float, float]] | None = None,
        before_seat: Callable[[str, SeatPlace, str], Pose] = _straight_before,
        next_stop: Callable[[str, float], float | None] = lambda name, time: None,
    ) -> None:
        """Begin without anybody.

        Args:
            clearance: distances of points (N, 2) to the nearest obstacle [m]; (N,).
            seed: seed of all that is drawn.
            shift: how far places are moved into the plane in which people are moved [m]; None: not at all.
            before_seat: where somebody, by name, stands before sitting down on a seat that is on a side; it raises
                `SittingError` for a body that cannot sit there.
            next_stop: when a mover, by name, stands the next time from a time on [s]; None if it never does.
        """
        self.standing = StandingPlaces(clearance)
        self.seed, self.shift, self.before_seat, self.next_stop = seed, shift, before_seat, next_stop
        self.people: dict[str, Doer] = {}
        self.events: dict[str, float] = {}
        """Events that have happened, and when [s]."""
        self.visitors: dict[str, set[str]] = {}
        """Who has been at which place, by its name."""
        self.awoken: list[tuple[float, str]] = []
        """Who is to be asked for an order again, and when [s]; whoever moves people takes them out."""
        self.over: list[tuple[str, Span]] = []
        """Errands that are over, and whose they were; whoever tells of them takes them out."""
        self.shut: set[str] = set()
        """Doors that are shut, by name."""
        self.door_place: Callable[[str, str], Pose | None] = lambda name, door: None
        """Where somebody waits before a door that is shut, both by name; None for right here."""
        self.seat_room = 0.0
        """Distance to others below which people take a free seat only if there is no other [m]."""
        self.abreast = _ABREAST
        """Distance from one companion to the next where they stand [m]."""
        self.desk: HandlingDesk | None = None
        """Where things are and how they are handled; None where nobody can."""
        self._lines: dict[str, QueueLine] = {}
        self._places: dict[Place, Place] = {}
        self._renewed: dict[str, Place] = {}
        self._seats: dict[tuple[str, int], str] = {}
        self._met: dict[tuple[str, tuple[str, ...]], set[str]] = {}
        self.gathering = Gathering(self.people, self.standing, self.placed, self._wake)
        self._agreed: dict[tuple[str, tuple[int, int]], tuple[Errand, ...]] = {}

    def enter(
        self, name: str, errands: Sequence[Errand], pose: Pose, time: float, radius: float,
        companions: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        """Let somebody begin with errands, at a pose, from a time on [s], alone or with companions."""
        rng = np.random.default_rng([self.seed, crc32(name.encode()), 23])
        self.people[name] = Doer(
            name, tuple(errands), pose, time, radius, rng, todo=list(errands), companions=companions
        )
        self.standing.taken[name] = pose[:2]

    def next(self, name: str, outcome: Outcome) -> Order:
        """Return what somebody is to do, after what came of the last order."""
        doer = self.people[name]
        doer.time, doer.pose, doer.waits = outcome.time, outcome.pose, False
        try:
            if doer.doing is None:
                doer.doing = self._life(doer)
                order = next(doer.doing)
            else:
                order = doer.doing.send(outcome)
        except StopIteration:
            order = Finished()
        doer.waits = isinstance(order, Hold)
        if isinstance(order, Gone):
            self.standing.taken.pop(name, None)
        return order

    def happen(self, event: str, time: float) -> None:
        """Note that an event happens; who waits for it goes on."""
        self.events.setdefault(event, time)
        for doer in self.people.values():
            if doer.waits:
                self._wake(doer.name, time)

    def open_door(self, door: str, time: float) -> None:
        """Note that a door opens; who waits for it tries again."""
        self.shut.discard(door)
        for doer in self.people.values():
            if doer.waits and doer.door == door:
                self._wake(doer.name, time)

    def send(self, name: str, errands: Sequence[Errand], time: float) -> None:
        """Give somebody other errands at a time [s]; those that are not done yet are given up."""
        doer, given_up = self.people[name], self.people[name].current
        self._break_off(doer, time)
        if given_up is not None:
            self._note(doer, Span(*given_up, doer.time, GIVEN_UP, "sent elsewhere"))
        doer.errands, doer.todo = tuple(errands), list(errands)
        doer.begun = (doer.begun[0] + 1, 0)

    def interrupt(self, name: str, errands: Sequence[Errand], time: float) -> None:
        """Let somebody break off at a time [s], do some errands first, and then what was broken off again."""
        doer = self.people[name]
        broken_off = () if doer.errand is None else (doer.errand,)
        doer.begun = (doer.begun[0], doer.begun[1] - len(broken_off))  # companions count what is begun
        self._break_off(doer, time)
        doer.todo = [*errands, *broken_off, *doer.todo]

    def renew(self, places: Mapping[str, Place], time: float) -> list[str]:
        """Let places be elsewhere from a time on [s].

        Args:
            places: the places that have changed, by name.
            time: when [s].

        Returns:
            Who begins an errand again that leads to one of these places; a line keeps its order.
        """
        concerned = [d for d in self.people.values() if d.errand is not None and _leads(d.errand) in places]
        order = {name: number for line in self._lines.values() for name, number in line.people.items()}
        concerned.sort(key=lambda doer: order.get(doer.name, -1))
        for doer in concerned:
            self.interrupt(doer.name, (), time)
        for name in places:
            self._lines.pop(name, None)
        self._renewed |= places
        return [doer.name for doer in concerned]

    def _break_off(self, doer: Doer, time: float) -> None:
        """Let somebody do nothing any more, and free the place in a line and the seat that this person had."""
        doer.time = max(doer.time, time)
        if doer.doing is not None:
            doer.doing.close()
        for line in self._lines.values():
            if doer.name in line.people:
                self._out_of_line(doer, line)
        self._seats = {seat: who for seat, who in self._seats.items() if who != doer.name}
        for here in self._met.values():
            here.discard(doer.name)
        doer.doing, doer.current, doer.errand, doer.waits = None, None, None, False
        doer.door = ""

    def again(self, name: str) -> None:
        """Let somebody begin the errands anew who could not carry out the first order."""
        doer = self.people[name]
        if doer.doing is not None:
            doer.doing.close()
        doer.doing, doer.current, doer.errand, doer.waits = None, None, None, False
        self.gathering.not_ready(doer)
        doer.todo, doer.begun = list(doer.errands), (doer.begun[0], 0)

    def lines(self) -> Mapping[str, QueueLine]:
        """Return the lines that have formed, by the name of the place."""
        return self._lines

    def forget(self, name: str) -> None:
        """Forget somebody who is gone; with the last of some companions, also what they agreed on."""
        doer = self.people.pop(name, None)
        self.standing.taken.pop(name, None)
        if doer is None or not doer.companions or not self.people.keys().isdisjoint(doer.companions):
            return
        if self.gathering.forget(doer.companions):
            first = doer.companions[0]
            self._agreed = {key: errands for key, errands in self._agreed.items() if key[0] != first}

    def _note(self, doer: Doer, span: Span) -> None:
        doer.spans.append(span)
        self.over.append((doer.name, span))

    def _wake(self, name: str, time: float) -> None:
        self.awoken.append((time, name))

    def _life(self, doer: Doer) -> Doing:
        while doer.todo:
            errand = doer.todo.pop(0)
            if isinstance(errand, Repeat):
                later = [] if errand.times == 1 else [replace(errand, times=errand.times - 1)]
                doer.todo[:0] = [*errand.errands, *later]
            elif isinstance(errand, Choose):
                doer.todo[:0] = self._agreed_on(doer, errand)
            else:
                yield from self._done(doer, errand)
        yield Finished()

    def _done(self, doer: Doer, errand: Errand) -> Doing:
        """Do one errand, and note what came of it."""
        doer.errand = errand
        if doer.companions:
            yield from self.gathering.gather(doer, errand, self.abreast)
        began = doer.time
        doer.current = (label(errand), began)
        reason = yield from self._one(doer, errand)
        doer.current = doer.errand = None
        self._note(doer, Span(label(errand), began, doer.time, NOT_DONE if reason else DONE, reason))
        target = target_of(errand)
        if isinstance(target, Place) and not isinstance(errand, Look) and not reason:
            self.visitors.setdefault(target.name, set()).add(doer.name)
        if isinstance(errand, Leave) and not reason:
            yield Gone()

    def _agreed_on(self, doer: Doer, errand: Choose) -> tuple[Errand, ...]:
        """Return what somebody chooses; companions do what the one chooses who comes first."""
        if not doer.companions:
            return self._chosen(doer, errand)
        doer.begun = (doer.begun[0], doer.begun[1] + 1)
        key = (doer.companions[0], doer.begun)
        if key not in self._agreed:
            self._agreed[key] = self._chosen(doer, errand)
        return self._agreed[key]

    def _one(self, doer: Doer, errand: Errand) -> Generator[Order, Outcome, str]:
        """Do one errand; return why it could not be done, or nothing."""
        match errand:
            case Go(to):
                return (yield from self._go(doer, to))
            case Wait():
                return (yield from self._wait(doer, errand))
            case Queue(at):
                return (yield from self._queue(doer, self.placed(at)))
            case Sit(at, seconds):
                return (yield from self._sit(doer, self.placed(at), seconds))
            case Look(to, seconds):
                return (yield from self._look(doer, to, seconds))
            case Meet():
                return (yield from self._meet(doer, errand))
            case Leave(by):
                return (yield from self._go(doer, by, leaving=True))
            case Handle():
                return (yield from handle(self, doer, errand))
        raise AssertionError(f"no errand {errand}")

    def _walk(
        self, doer: Doer, find: Callable[[], Walk | None], nowhere: str, waits: Sequence[float] = _TRIES
    ) -> Walking:
        """Walk to where `find` says, which is asked again before each try; return how the last try went.

        Between two tries people wait, for so long each time [s].
        """
        tries = [*waits]
        for tried in count():
            order = find()
            outcome = Outcome(doer.time, doer.pose, nowhere)
            if order is not None:
                if order.leaving:
                    self.standing.taken.pop(doer.name, None)  # who leaves stands nowhere
                else:
                    self.standing.taken[doer.name] = order.goal
                outcome = yield replace(order, tried=tried)
                if not outcome.reason:
                    if not order.leaving:
                        self.standing.taken[doer.name] = outcome.pose[:2]
                    return outcome
            self.standing.taken[doer.name] = outcome.pose[:2]
            if outcome.shut and not outcome.hopeless:
                yield from self._wait_before(doer, outcome.shut)
                tries = [*waits]
                continue
            tries = tries[-1:] if outcome.barred and len(tries) > 1 else tries
            if not tries or outcome.hopeless:
                return outcome
            yield Stand(doer.time + tries.pop(0) * doer.rng.uniform(0.8, 1.2))
        raise AssertionError("count never ends")

    def _wait_before(self, doer: Doer, door: str) -> Doing:
        """Go near a door that is shut and wait there until it opens."""
        place = self.door_place(doer.name, door)
        if door in self.shut and place is not None and math.dist(place[:2], doer.pose[:2]) > _NEAR_DOOR:
            self.standing.taken[doer.name] = place[:2]
            outcome = yield Walk(place[:2], place[2], exact=True)
            self.standing.taken[doer.name] = outcome.pose[:2]
        doer.door = door
        while door in self.shut and doer.time < _LONGEST:
            yield Hold(_LONGEST)
        doer.door = ""
        yield Stand(doer.time + float(doer.rng.uniform(*_REACTION)))

    def walk(self, doer: Doer, order: Walk) -> Walking:
        """Walk somewhere, and try again while others are in the way; return how the last try went."""
        return self._walk(doer, _always(order), "")

    def _go(self, doer: Doer, to: Target, leaving: bool = False) -> Generator[Order, Outcome, str]:
        outcome = yield from self._walk(doer, lambda: self._spot(doer, to, leaving), self._no_room(to))
        return outcome.reason

    def _spot(self, doer: Doer, to: Target, leaving: bool = False) -> Walk | None:
        """Return where somebody goes who goes to a place or up to somebody; None if there is no room."""
        if isinstance(to, Person):
            return self._before(doer, to.name)
        place = self.placed(to)
        beside = self._beside_first(doer, place, leaving)
        if beside is not None:
            return Walk(beside)
        if leaving:
            area, here = place.area, doer.pose[:2]
            found = place.point if area is None else self.standing.way_out(area, doer.radius, doer.rng, here)
        elif place.area is not None:
            found = self.standing.within(place.area, doer.name, doer.radius, doer.rng)
        else:
            found = self.standing.near(place.point, doer.name, doer.radius)
        if found is None:
            return None
        if leaving:
            return Walk(found, leaving=True)
        there = math.dist(found, place.point) < 1e-9
        return Walk(found, place.heading if there else None)

    def _beside_first(self, doer: Doer, place: Place, leaving: bool) -> tuple[float, float] | None:
        """Return where somebody goes who goes to a place with the first of the companions; None for any place there."""
        first = doer.first
        goal = self.standing.taken.get(first)
        if first in ("", doer.name) or leaving or goal is None or first not in self.people:
            return None
        if shapely.Point(goal).distance(place.area or shapely.Point(place.point)) > _THERE:
            return None
        if len(doer.companions) >= _MANY:
            close = self._close_to_others(doer)
            if close is not None:
                return close
        x, y = self.people[first].pose[:2]
        way, here = math.atan2(goal[1] - y, goal[0] - x), doer.pose[:2]
        left = (here[1] - y) * math.cos(way) - (here[0] - x) * math.sin(way)
        turns = np.array([1.0, -1.0, 1.35, -1.35]) * (0.5 * math.pi if left > 0.0 else -0.5 * math.pi)
        for far in (self.abreast, 2.0 * self.abreast):
            points = np.asarray(goal) + far * np.column_stack([np.cos(way + turns), np.sin(way + turns)])
            for k in np.flatnonzero(self.standing.free(points, doer.name, doer.radius)).tolist():
                return float(points[k, 0]), float(points[k, 1])
        return self.standing.near(goal, doer.name, doer.radius)

    def _close_to_others(self, doer: Doer) -> tuple[float, float] | None:
        """Return a free place beside a companion, as near to the middle of all who are there as possible [m]."""
        first = self.people[doer.first]
        there = [doer.first, *(n for n in first.companions if n in self.people and self._goes_with(n, doer))]
        goals = np.array([self.standing.taken[name] for name in there if name in self.standing.taken])
        turns = np.arange(12) * (math.tau / 12)
        ring = self.abreast * np.column_stack([np.cos(turns), np.sin(turns)])
        points = (goals[:, None] + ring[None]).reshape(-1, 2)
        points = points[self.standing.free(points, doer.name, doer.radius)]
        if not len(points):
            return None
        away = np.hypot(*(points - goals.mean(axis=0)).T).round(2)
        own = np.hypot(*(points - np.asarray(doer.pose[:2])).T).round(2)
        x, y = points[np.lexsort((own, away))[0]].tolist()
        return x, y

    def _goes_with(self, name: str, doer: Doer) -> bool:
        """Return whether a companion already has a place where somebody goes with the first of them."""
        other, taken = self.people[name], self.standing.taken.get(name)
        if name in (doer.name, doer.first) or other.begun != doer.begun or taken is None:
            return False
        return math.dist(taken, self.standing.taken[doer.first]) < _THERE

    def _before(self, doer: Doer, name: str) -> Walk | None:
        """Return where somebody goes who goes up to another one: before that one, turned towards that one."""
        other = self.people.get(name)
        if other is None:
            return None
        x, y = self.standing.taken.get(name, other.pose[:2])
        way = math.atan2(doer.pose[1] - y, doer.pose[0] - x)
        for turn in (0.0, 0.5, -0.5, 1.0, -1.0, 1.6, -1.6, 2.3, -2.3, math.pi):
            point = (x + _BESIDE * math.cos(way + turn), y + _BESIDE * math.sin(way + turn))
            if self.standing.free(np.array([point]), doer.name, doer.radius)[0]:
                return Walk(point, math.atan2(y - point[1], x - point[0]))
        return None

    def _no_room(self, to: Target) -> str:
        if isinstance(to, Person):
            return f"'{to.name}' is not there, or there is no room beside '{to.name}'"
        return f"there is no room at '{to.name}'"

    def _wait(self, doer: Doer, errand: Wait) -> Generator[Order, Outcome, str]:
        if errand.event is not None:
            while errand.event not in self.events:
                yield Hold(_LONGEST)
                if doer.time >= _LONGEST:
                    return f"'{errand.event}' never happens"
            yield Stand(doer.time + doer.rng.uniform(*_REACTION))
        elif errand.mover is not None:
            stands = self.next_stop(errand.mover, doer.time)
            if stands is None:
                return f"'{errand.mover}' never comes and stands after {doer.time:.0f} s"
            yield Stand(stands + doer.rng.uniform(*_REACTION))
        elif errand.until is not None:
            yield Stand(max(errand.until, doer.time))
        elif errand.seconds is not None:
            yield Stand(doer.time + self._drawn(doer, errand.seconds))
        return ""

    def _queue(self, doer: Doer, place: Place) -> Generator[Order, Outcome, str]:
        line, tired = self._line(place, doer.radius), doer.time + _PATIENT
        while line.join(doer.name) is None:
            if doer.time >= tired:
                return f"the line at '{place.name}' is full: {len(line)} people"
            yield Stand(doer.time + _FULL)
        while True:
            number = line.people[doer.name]
            point, heading = line.places[number].tolist(), float(line.headings[number])
            outcome = yield from self._walk(doer, _always(Walk((point[0], point[1]), heading, exact=True)), "")
            if outcome.reason:
                self._out_of_line(doer, line)
                return outcome.reason
            if number == 0:
                break
            while not line.move_up(doer.name):
                yield Hold(_LONGEST)
            self._call_up(doer, line, number)
        yield Stand(doer.time + self._drawn(doer, place.service or (0.0, 0.0)))
        self._out_of_line(doer, line)
        if any(name in line.people for name in doer.companions):
            yield from self._step_aside(doer, line)
        return ""

    def _step_aside(self, doer: Doer, line: QueueLine) -> Doing:
        """Go from where people are served to where somebody who waits for companions is in nobody's way."""
        turns = float(line.headings[0]) + math.pi * np.array([0.5, -0.5, 0.7, -0.7])
        for far in _ASIDE:
            points = line.places[0] + far * np.column_stack([np.cos(turns), np.sin(turns)])
            gaps = np.hypot(*np.moveaxis(points[:, None] - line.places[None], -1, 0)).min(axis=1)
            free = self.standing.free(points, doer.name, doer.radius) & (gaps > _OFF_LINE)
            for x, y in points[free].tolist():
                if self.standing.in_sight(doer.pose[:2], np.array([x, y])):
                    self.standing.taken[doer.name] = (x, y)
                    outcome = yield Walk((x, y))
                    self.standing.taken[doer.name] = outcome.pose[:2]
                    return

    def _out_of_line(self, doer: Doer, line: QueueLine) -> None:
        number = line.people[doer.name]
        line.leave(doer.name)
        self._call_up(doer, line, number)

    def _call_up(self, doer: Doer, line: QueueLine, place: int) -> None:
        """Wake whoever comes next after a place that has become free."""
        follower = line.behind(place)
        if follower is not None and self.people[follower].waits:
            self._wake(follower, doer.time + float(self.people[follower].rng.uniform(*_REACTION)))

    def _line(self, place: Place, radius: float) -> QueueLine:
        """Return the line before a place; it is laid out when the first person comes."""
        if place.name not in self._lines:

            def free(points: FloatArray) -> BoolArray:
                return np.asarray(self.standing.clearance(points) >= radius)

            if place.line:
                places, headings = drawn_line(place.line, place.spacing, free)
            else:
                places, headings = own_line(place.point, place.heading or 0.0, place.spacing, free)
            blocked = np.flatnonzero(~np.asarray(free(places), dtype=np.bool_))
            if len(blocked):
                x, y = places[blocked[0]].tolist()
                raise PlanError(
                    f"place '{place.name}': nobody can stand at ({x:.2f}, {y:.2f}) of its line, an obstacle is there; "
                    "draw the line elsewhere"
                )
            self._lines[place.name] = QueueLine(places, headings)
        return self._lines[place.name]

    def _sit(self, doer: Doer, place: Place, seconds: Range) -> Generator[Order, Outcome, str]:
        lasts, chosen, reason = self._drawn(doer, seconds), self._free_seats(doer, place), ""
        if not chosen:
            seats = "the only seat" if len(place.seats) == 1 else f"all {len(place.seats)} seats"
            are = "is" if len(place.seats) == 1 else "are"
            reason = f"{seats} of '{place.name}' {are} taken; stands instead"
            outcome = yield from self._walk(doer, lambda: self._spot(doer, place), reason)
            yield Stand(doer.time + lasts)
            return outcome.reason or reason
        for number, side in (*chosen[:_SEATS], chosen[0]):  # who comes to no other either waits for the first
            seat, last = place.seats[number], reason and (number, side) == chosen[0]
            try:
                x, y, heading = self.before_seat(doer.name, seat, side)
            except SittingError as problem:  # a horse, or a seat too high for somebody small
                reason = str(problem)
                continue
            self._seats[place.name, number] = doer.name
            way = _always(Walk((x, y), heading, exact=True, ahead=(seat.pose[2], _ROOM)))
            outcome = yield from self._walk(doer, way, "", _TRIES if last else ())
            reason = outcome.reason
            if not reason:
                outcome = yield SitDown(seat, lasts, side)
                reason = outcome.reason
                self._seats.pop((place.name, number), None)
                return reason
            self._seats.pop((place.name, number), None)
        return reason

    def _free_seats(self, doer: Doer, place: Place) -> list[tuple[int, str]]:
        """Return the seats of a place that nobody has, and on which side to have them, the best ones first."""
        free = [k for k in range(len(place.seats)) if (place.name, k) not in self._seats]
        beside = self._seats_beside_others(doer, place)
        near = self._seats_of_companions(doer, place) or [doer.pose[:2]]

        def away(k: int) -> float:
            return round(min(math.dist(place.seats[k].pose[:2], at) for at in near), 6)

        free.sort(key=lambda k: (beside[k], away(k), k))
        sides = [_sides(doer.pose, place.seats[k]) for k in free]
        return [(k, own[rank]) for rank in range(len(SIDES)) for k, own in zip(free, sides, strict=True)]

    def _seats_of_companions(self, doer: Doer, place: Place) -> list[tuple[float, float]]:
        """Return where the seats are that companions have at a place [m]."""
        theirs = ((at, k) for (at, k), who in self._seats.items() if who in doer.companions and who != doer.name)
        return [place.seats[k].pose[:2] for at, k in theirs if at == place.name]

    def _seats_beside_others(self, doer: Doer, place: Place) -> list[bool]:
        """Return which seats of a place are nearer to somebody else than `seat_room`."""
        others = [at for name, at in self.standing.taken.items() if name != doer.name]
        points = [seat.pose[:2] for seat in place.seats]
        return [any(math.dist(point, at) < self.seat_room for at in others) for point in points]

    def _look(self, doer: Doer, to: Target, seconds: Range) -> Generator[Order, Outcome, str]:
        seen = self._seen(to)
        reason = ""
        if seen is None:
            return self._no_room(to)
        heading = math.atan2(seen[1] - doer.pose[1], seen[0] - doer.pose[0])
        if math.dist(seen, doer.pose[:2]) > 1e-6:
            outcome = yield from self._walk(doer, _always(Walk(doer.pose[:2], heading)), "")
            reason = outcome.reason
        yield Stand(doer.time + self._drawn(doer, seconds))
        return reason

    def _seen(self, to: Target) -> tuple[float, float] | None:
        if isinstance(to, Place):
            return self.placed(to).point
        return None if to.name not in self.people else self.people[to.name].pose[:2]

    def _meet(self, doer: Doer, errand: Meet) -> Generator[Order, Outcome, str]:
        """Go to a place, turned towards it, and wait until all companions that are still there have come."""
        wanted = set(errand.companions) | {doer.name}
        key = (errand.at.name, tuple(sorted(wanted)))
        here = self._met.setdefault(key, set())
        outcome = yield from self._walk(doer, lambda: self._beside(doer, errand.at), self._no_room(errand.at))
        here.add(doer.name)
        patience = doer.time + errand.patience
        if wanted <= here:
            for name in sorted(wanted - {doer.name}):
                if name in self.people and self.people[name].waits:
                    self._wake(name, doer.time + float(doer.rng.uniform(*_REACTION)))
            self._met.pop(key, None)
            return outcome.reason
        while not wanted <= here and doer.time < patience - 1e-6:
            yield Hold(patience)
        late = sorted(wanted - here)
        if late:
            here.discard(doer.name)  # who comes later does not find this person here
        return outcome.reason or (f"'{late[0]}' does not come within {errand.patience:g} s" if late else "")

    def _beside(self, doer: Doer, at: Target) -> Walk | None:
        spot, seen = self._spot(doer, at), self._seen(at)
        if spot is None or seen is None or math.dist(spot.goal, seen) < 0.3:
            return spot
        return Walk(spot.goal, math.atan2(seen[1] - spot.goal[1], seen[0] - spot.goal[0]))

    def _chosen(self, doer: Doer, errand: Choose) -> tuple[Errand, ...]:
        if errand.by == "chance":
            share = np.asarray(errand.weights)
            return errand.among[int(doer.rng.choice(len(share), p=share / share.sum()))]
        keys = [(self._rank(doer, errands, errand.by), k) for k, errands in enumerate(errand.among)]
        return errand.among[min(keys)[1]]

    def _rank(self, doer: Doer, errands: Sequence[Errand], by: str) -> tuple[float, float]:
        """Return how long the first line of some errands is, and how far away the first place is [m]."""
        first = next((t for e in errands if isinstance(t := target_of(e), Place)), None)
        away = math.inf if first is None else round(math.dist(self.placed(first).point, doer.pose[:2]), 6)
        lines = [self._lines.get(e.at.name) for e in every(errands) if isinstance(e, Queue)]
        queued = 0 if not lines or lines[0] is None else len(lines[0])
        return (queued, away) if by == "queue" else (0.0, away)

    def placed(self, place: Place) -> Place:
        """Return a place as it is now, in the plane in which people are moved."""
        place = self._renewed.get(place.name, place)
        if self.shift is None or place.laid_out:
            return place
        if place not in self._places:
            self._places[place] = _moved(place, *self.shift(place))
        return self._places[place]

    def _drawn(self, doer: Doer, seconds: Range) -> float:
        return float(doer.rng.uniform(*seconds)) if seconds[1] > seconds[0] else seconds[0]


def _leads(errand: Errand) -> str | None:
    """Return the name of the place that an errand leads to; None if it leads to none."""
    target = target_of(errand)
    return target.name if isinstance(target, Place) else None


def _always(order: Walk) -> Callable[[], Walk]:
    """Return what always finds the same walk."""
    return lambda: order


def _moved(place: Place, dx: float, dy: float) -> Place:
    seats = tuple(replace(s, pose=(s.pose[0] + dx, s.pose[1] + dy, s.pose[2])) for s in place.seats)
    area = None if place.area is None else shapely.affinity.translate(place.area, dx, dy)
    line = tuple((x + dx, y + dy) for x, y in place.line)
    point = (place.point[0] + dx, place.point[1] + dy)
    return replace(place, point=point, area=area, line=line, seats=seats, laid_out=True)
