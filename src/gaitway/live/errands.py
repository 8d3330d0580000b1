"""Errands of a live crowd: people come in, do one thing after another, and leave while your program runs.

The same dispatcher as in plans says who does what next (`gaitway.errands`); the crowd walks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import LiveError, SittingError
from gaitway.core.suggest import nearest
from gaitway.errands.arrivals import Arrival, stranger, strangers
from gaitway.errands.companions import ahead_of_others, beside, chosen_sides, places_beside, waiting_for_others
from gaitway.errands.dispatcher import Dispatcher, Span
from gaitway.errands.mover_stops import next_stop
from gaitway.errands.orders import Finished, Gone, Hold, Order, Outcome, Pose, SitDown, Stand, Walk
from gaitway.errands.running import ErrandRun
from gaitway.errands.standing_places import drawn_points
from gaitway.levels.level_scene import in_plane, offset
from gaitway.library.behavior import Library
from gaitway.live.crowd import LiveCrowd
from gaitway.live.doors import DoorMoved, LiveDoors
from gaitway.live.events import Arrived, LiveEvent, Stuck
from gaitway.live.libraries import level_speed, neutral
from gaitway.live.options import LiveOptions
from gaitway.live.seated import MANNERS, SHORTEST, Sitter, nearest_side, seat_of
from gaitway.scene.characters import Character, LibraryRef
from gaitway.scene.errands import Errand, Go, Place, SeatPlace
from gaitway.scene.scene import Scene, load_scene
from gaitway.sitting import standing_place
from gaitway.space.planner import Company
from gaitway.space.prepared import PreparedLibrary, planning_context
from gaitway.take.model import Take
from gaitway.world.doors import Door
from gaitway.world.levels.floors import Floors, has_levels
from gaitway.world.world import World, with_doors

_EXACTLY, _NEAR = 0.25, 0.5
"""Distances from a goal that are near enough, for one who stops in a line and for others [m]."""
_CLIMBS = "stairs_"
"""Begin of the names of behaviours of people on stairs, who get on even if they waited long for them."""
_FAR = 0.8
"""Distance from the goal beyond that at which somebody who comes no nearer has not arrived [m]."""
_STUCK = 18.0
"""Time after which somebody who comes no nearer to a goal gives it up [s]."""
_STEP, _FARTHEST_AHEAD, _ROOM = 0.15, 0.5, 0.02
"""How far before a seat somebody steps who has got up [m], at most by how much more, and the room needed there."""
_AGAIN, _PATIENT = 0.5, 10.0
"""Time between attempts to sit down of who has no room for it, and time after which that is given up [s]."""
_BESIDE_FIRST = 0.9
"""Distance from a goal beside the first of some companions that is near enough [m]: who rests keeps apart."""
_OWN_WAY, _GATE, _TRIES_AGAIN, _TRIES = 2.5, 0.1, 1.2, 3
"""Distance from the goal below which everybody walks alone, distance from obstacles beyond a radius at which there is
room beside somebody [m], time after which who found no way beside companions looks for one again [s], and how often."""
Point = tuple[float, float]
"""x, y [m]."""
_BESIDE_SITTERS = 1.1
"""Distance from who sits within which a live person hardly gets onto a free seat [m]."""
_ABREAST = 1.3
"""Distance from one companion to the next where they stand [m]: each can turn there without touching the other."""
_TRIED = 24
"""Places of a source that are tried for somebody who comes in."""


@dataclass(frozen=True, kw_only=True)
class ErrandDone:
    """An errand of somebody is over."""

    time: float
    """When [s]."""
    name: str
    """Whose it was."""
    span: Span
    """What it was, from when to when, and what came of it."""


class LiveErrands(ErrandRun):
    """A live crowd whose people do the errands of a scene. This class is **mutable**.

    Attributes:
        crowd: the crowd; draw it as any other. Its events come out of `events` of this class.
    """

    def __init__(
        self, scene: Scene | str | Path, *, seed: int | None = None, options: LiveOptions | None = None
    ) -> None:
        """Put everybody in who is there from the start.

        Args:
            scene: a scene with errands, its file, or the name of a ready scene.
            seed: seed of all that is drawn; None takes the scene's.
            options: options of the characters' planning.

        Raises:
            LiveError: if the scene has nobody, or several floors and dynamics that know one.
        """
        scene = scene if isinstance(scene, Scene) else load_scene(scene)
        seed = scene.seed if seed is None else seed
        dynamics = (options or LiveOptions()).dynamics
        if has_levels(scene.world) and dynamics != "clips":
            raise LiveError(f"the scene has several floors, and dynamics '{dynamics}' know one; write 'clips'")
        self._flat = _flat(scene.world)
        """The world in which people are told where to go: the plane of the floors, if there are several."""
        super().__init__(scene, seed, self._flat)
        if not self._everybody():
            raise LiveError("there is nobody to do errands; add characters or sources")
        self._bodies: dict[LibraryRef, Library] = {}
        self.crowd = LiveCrowd(self._place(scene.world), plan=scene.plan, seed=seed, options=options)
        self.floors = self.crowd.floors
        """Floors of the place; people are told where to go in the plane of them. None in a place with one floor."""
        base = self._prepared()
        self.dispatcher = Dispatcher(
            base.fields.clearance, seed, None if self.floors is None else self._shifted, self._before_seat,
            self._next_stop,
        )  # fmt: skip
        self.dispatcher.seat_room, self.dispatcher.abreast = _BESIDE_SITTERS, _ABREAST
        self.doors = None if self.keeper is None else LiveDoors(self.keeper, scene.world, self._flat, base, self.crowd)
        """The doors; None without any."""
        if self.keeper is not None:
            self.dispatcher.shut |= {door.name for door in self.keeper.shut}
            self.dispatcher.door_place = self._door_place
        self.refused: dict[str, str] = {}
        """Who could not come in, by name, and why."""
        self._libraries: dict[LibraryRef, str] = {}
        self._add_libraries()
        self._walks: dict[str, Walk] = {}
        self._through: set[str] = set()
        self._events: list[LiveEvent | ErrandDone | DoorMoved] = []
        self._characters: dict[str, Character] = {}
        self._sitters: dict[str, Sitter] = {}
        self._tries: dict[str, tuple[SitDown, float, float]] = {}
        """Who waits for room before a seat: the order, since when, and when to try again [s]."""
        self._ends: dict[str, float] = {}
        self._sends: dict[str, Go] = {}
        self._away: dict[str, tuple[Character, tuple[Errand, ...], Point]] = {}
        """Who was taken out: with which errands left, and how far that floor is moved into the plane [m]."""
        self._alone: dict[str, tuple[float, int]] = {}
        """When those look for a way beside companions again who found none [s], and how often they have."""
        self._later = list(scene.characters)
        self._appear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Free what the crowd holds."""
        self.crowd.close()

    @property
    def time(self) -> float:
        """Time of the run [s]."""
        return self.crowd.time

    @property
    def over(self) -> bool:
        """Whether the run has ended: its time is over, or nobody is left who does anything or will come."""
        coming = any(name not in self.came and name not in self.refused for name in self.coming)
        busy = any(name not in self._through for name in self.dispatcher.people)
        return self.time >= self.end or not (coming or busy or self._later)

    def step(self, dt: float) -> None:
        """Go on by some time [s]: tell everybody who is done what comes next, and play all."""
        for event in self.crowd.events():
            self._events.append(event)
            if isinstance(event, Arrived) and event.name in self._walks:
                self._arrive(event.name)
        for stuck in self.crowd.hindered():
            if (
                stuck.name in self._walks
                and isinstance(stuck, Stuck)
                and self.time - stuck.time + stuck.seconds > _STUCK
                and not self.crowd.behaviors(stuck.name)[0].startswith(_CLIMBS)
            ):
                self._give_up(stuck.name, stuck.reason)
        self._appear()
        for name in [name for name, (again, _) in self._alone.items() if again <= self.time]:
            if name in self._walks:
                self._set_off_in_company(name, self._walks[name])
            else:
                del self._alone[name]
        for name, (order, _, again) in list(self._tries.items()):
            if again <= self.time:
                self._sit_down(name, order, self.time)
        self.go_on(min(self.time, self.end))
        if self.keeper is not None:
            self.move_doors(self.time)
        self._tell()
        self.crowd.step(dt)

    def events(self) -> tuple[LiveEvent | ErrandDone | DoorMoved, ...]:
        """Return what has happened since this was last called, with errands and doors, and forget it."""
        out, self._events = tuple(self._events), []
        return out

    def spans(self) -> Mapping[str, tuple[Span, ...]]:
        """Return the errands that are over of everybody who is there, by name; events tell of the others'."""
        return {name: tuple(doer.spans) for name, doer in self.dispatcher.people.items()}

    def let_happen(self, event: str) -> None:
        """Let an event of the scene's rules happen now, with all that they say of it.

        Raises:
            LiveError: if the scene has no such event.
        """
        named = [rule.event for rule in self.scene.rules]
        if event not in named:
            near = nearest(event, named)
            hint = f"did you mean '{near}'?" if near else f"there are {', '.join(named) or 'none'}"
            raise LiveError(f"the scene has no event '{event}'; {hint}")
        for rule in self.scene.rules:
            if rule.event == event:
                self.happen(rule, self.time)
                self._ask_doors(rule, self.time)  # doors move each time, all else happens once

    def open_door(self, name: str) -> None:
        """Ask a door to open now.

        Raises:
            LiveError: if the scene has no such door.
        """
        self._check_door(name)
        self.ask_door(name, True, self.time)

    def close_door(self, name: str) -> None:
        """Ask a door to shut now; it waits until nobody is in the doorway.

        Raises:
            LiveError: if the scene has no such door.
        """
        self._check_door(name)
        self.ask_door(name, False, self.time)

    @property
    def world(self) -> World:
        """The world with its doors as they have moved so far, for pictures; `World.at` tells where they are."""
        return self.scene.world if self.doors is None else self.doors.now()

    def take(self, seconds: float | None = None, *, fps: float = 30.0) -> Take:
        """Return what was played in the last seconds as a take that knows how doors moved; see `LiveCrowd.take`."""
        return self.crowd.take(seconds, fps=fps, facts=None if self.doors is None else self.doors.facts)

    def change(self, scene: Scene) -> None:
        """Go on in a scene that was edited: other obstacles, places, sources and characters, with the same rules.

        Who is on the way to a place that is elsewhere now goes there. New characters and sources begin now. Characters
        that are gone from the scene are taken out; people of a source that is gone stay until they leave.

        Raises:
            LiveError: if the new scene has other floors, doors or rules.
        """
        before, now = self.scene, self.time
        if [rule.event for rule in scene.rules] != [rule.event for rule in before.rules]:
            raise LiveError("a scene with other rules is another one; begin anew")
        if has_levels(scene.world) != (self.floors is not None):
            raise LiveError("a scene with other floors is another one; begin anew")
        if [_known(door) for door in scene.world.doors] != [_known(door) for door in before.world.doors]:
            raise LiveError("a scene with other doors is another one; begin anew")
        if self.floors is not None and scene.world is not before.world:
            self.floors.plane(self._place(scene.world))  # which says if floors or stairs have changed
        self.scene = scene
        if scene.world is not before.world:
            self._flat = _flat(scene.world)
            base = self._prepared()
            self.dispatcher.standing.clearance = base.fields.clearance
            if self.doors is None:
                self.crowd.set_world(scene.world)
            else:
                self.doors = self.doors.moved_to(scene.world, self._flat, base)
        self.open_sources(now)
        self._add_libraries()
        known, wanted = {c.name for c in before.characters}, {c.name for c in scene.characters}
        for name in sorted(known - wanted):
            if name in self.dispatcher.people:
                self.take_out(name)
            self._away.pop(name, None)
            self.refused.pop(name, None)
        self._later = [c for c in self._later if c.name in wanted] + [
            c for c in scene.characters if c.name not in known
        ]
        moved = {name: place for name, place in scene.places.items() if not _same(before.places.get(name), place)}
        for name in self.dispatcher.renew(moved, now):
            self._begin_again(name)

    def send(self, name: str, place: Place) -> None:
        """Send somebody to a place first, who goes on with the errands then; the one that is broken off is done anew.

        Raises:
            LiveError: if nobody of that name does errands.
        """
        self._drop_sent(name)
        self._sends[name] = Go(place)
        self.dispatcher.people[name].todo.insert(0, self._sends[name])
        self._begin_again(name)

    def recall(self, name: str) -> None:
        """Let somebody forget where `send` sent that person, and go on with the errands.

        Raises:
            LiveError: if nobody of that name does errands.
        """
        self._drop_sent(name)
        self._begin_again(name)

    def interrupt(self, name: str) -> None:
        """Let somebody break off an errand and do nothing until `send` or `recall`.

        Raises:
            LiveError: if nobody of that name does errands.
        """
        self._check(name)
        self.dispatcher.interrupt(name, (), self.time)
        self._stop(name)

    def take_out(self, name: str) -> None:
        """Take somebody out of the crowd, as if gone; `put_back` undoes it.

        Raises:
            LiveError: if nobody of that name does errands.
        """
        self._check(name)
        self.dispatcher.interrupt(name, (), self.time)
        (x, y, _), (px, py) = self._pose(name), self.crowd.positions(name)[0, :2].tolist()
        self._away[name] = (self._characters.pop(name), tuple(self.dispatcher.people[name].todo), (x - px, y - py))
        self._stop(name)
        self._sends.pop(name, None)
        self._sitters.pop(name, None)
        self._ends.pop(name, None)
        self._through.discard(name)
        self.crowd.remove(name)
        self.dispatcher.forget(name)

    def is_away(self, name: str) -> bool:
        """Return whether somebody was taken out and can be put back."""
        return name in self._away

    def put_back(self, name: str, pose: Pose) -> bool:
        """Put somebody back who was taken out, on the same floor, with the errands that were left.

        Returns:
            Whether there is room there.
        """
        character, todo, (dx, dy) = self._away[name]
        start = (pose[0] + dx, pose[1] + dy, pose[2])
        if not self._put_in(replace(character, start=start, errands=todo), self.time):
            return False
        del self._away[name]
        if not todo:
            self.dispatcher.people[name].todo.clear()
        return True

    def carry_out(self, name: str, order: Order, time: float) -> None:
        """Begin to carry out an order."""
        here = self._pose(name)
        match order:
            case Walk(goal) if not order.leaving and math.dist(goal, here[:2]) < _EXACTLY:
                self.finish(name, Outcome(time, here))
            case Walk(goal) if (door := self._barring(name, order)) is not None:
                self.finish(name, Outcome(time, here, f"door '{door}' is shut", shut=door))
            case Walk():
                self._walks[name] = order
                self._send_to_goal(name, order)
                self._set_off_in_company(name, order)
            case Stand(until) | Hold(until):
                self.finish(name, Outcome(max(until, time), here))
            case SitDown():
                self._sit_down(name, order, time)
            case Gone():
                self.crowd.remove(name)
                self._characters.pop(name)
                self._sends.pop(name, None)
                self._sitters.pop(name, None)
                self._ends.pop(name, None)
                self._outcomes.pop(name, None)
                self.dispatcher.forget(name)
            case Finished():
                self._through.add(name)

    def come_in(self, arrival: Arrival, time: float) -> bool:
        """Put somebody in where a source has room; return whether it has."""
        points = drawn_points(arrival.source.area, _TRIED, self.drawn())
        if self.floors is not None:
            middle = arrival.source.area.centroid
            points = points + offset(self.floors.floors, (middle.x, middle.y), arrival.source.floor)
        first = arrival.companions[0] if arrival.companions else ""
        if first in self.dispatcher.people:
            points = beside(self._pose(first), points)
        for x, y in points.tolist():
            if self._put_in(stranger(arrival, (x, y, self.towards(arrival, x, y))), time):
                return True
        return False

    def refuse(self, name: str, reason: str) -> None:
        """Note that somebody could not come in."""
        self.refused[name] = reason

    def present(self) -> list[str]:
        """Return the names of all who are there."""
        return [name for name in self.crowd.names if name in self.dispatcher.people]

    def redirect(self, name: str, errands: tuple[Errand, ...], time: float, reacts: float) -> None:
        """Send somebody on other errands, who goes on a little and then turns at the end of a move."""
        self.dispatcher.send(name, errands, time)
        self.forget(name)
        self._through.discard(name)
        self._walks.pop(name, None)
        self._tries.pop(name, None)
        self.finish(name, Outcome(self._stands(name, reacts), self._pose(name)))

    def _appear(self) -> None:
        """Put those in whose time has come; who finds no room is refused."""
        for character in [c for c in self._later if c.start_time <= self.time]:
            self._later.remove(character)
            placed = character if self.floors is None else in_plane(character, self.floors.floors)
            if not self._put_in(placed, self.time):
                self.refuse(character.name, f"there is no room at the start of '{character.name}'")

    def _put_in(self, character: Character, time: float) -> bool:
        """Put somebody in, who starts in the plane of the floors; return whether there is room."""
        library = self._libraries[neutral(character.library)]
        start, slowly = character.start, self._slowly(character) if character.companions else None
        speed = character.speed if slowly is None else slowly
        x, y, *height = self._there(start[:2])
        pose, goal = (x, y, start[2], *height), (x, y, *height)
        if self.crowd.add(pose, goal, name=character.name, library=library, speed=speed) < 0:
            return False
        self._characters[character.name] = character
        self.enter(character, start, time)
        return True

    def _send_to_goal(self, name: str, order: Walk) -> None:
        goal = order.goal if order.ahead is None else self._before(name, order.goal, order.ahead)
        near = _NEAR if self.dispatcher.people[name].first in ("", name) or order.leaving else _BESIDE_FIRST
        self.crowd.send(name, self._there(goal), tolerance=_EXACTLY if order.exact else near)

    def _set_off_in_company(self, name: str, order: Walk) -> None:
        """Let somebody who was sent to a goal walk there beside companions; who finds no way tries again soon."""
        _, tried = self._alone.pop(name, (0.0, 0))
        character, people = self._characters[name], self.dispatcher.people
        slowly, first = self._slowly(character), people[name].first
        if slowly is None or first not in people or self.floors is not None or self.crowd.options.dynamics != "clips":
            return
        if math.dist(self._pose(name)[:2], order.goal) < _OWN_WAY:
            return
        company = self._company(name)
        if company is None or not self.crowd.walk_in_company(name, company, character.speed, slowly):
            if tried < _TRIES:
                self._alone[name] = self.time + _TRIES_AGAIN, tried + 1
            return
        headings = [self._pose(one)[2] for one in people[name].companions if one in people and one != name]
        if name == first and (waits := waiting_for_others(self.crowd.plan(name), headings, self._room(character))):
            self._send_to_goal(name, order)
            if not self.crowd.walk_in_company(name, waits, character.speed, slowly):
                self.crowd.walk_in_company(name, company, character.speed, slowly)

    def _company(self, name: str) -> Company | None:
        """Return where somebody would like to be beside companions; None if the first of them is not on the way."""
        people, free = self.dispatcher.people, self._room(self._characters[name])
        first = people[name].first
        if first == name:
            return ahead_of_others()
        walk, leads = self.crowd.plan(first), self._walks.get(first)
        if leads is None or math.dist(walk.end_pose[:2], leads.goal) > _NEAR + _FAR:
            return None
        others = {one: self._pose(one)[:2] for one in people[name].companions if one in people and one != first}
        slot, rank = chosen_sides(walk, self.time, others, free)[name]
        return places_beside(walk, self.time, others[name], slot, rank, free)

    def _room(self, character: Character) -> Callable[[FloatArray], BoolArray]:
        """Return what tells whether somebody has room at points (N, 2) to walk beside others; (N,)."""
        reach = character.radius + _GATE
        return lambda points: np.asarray(self.dispatcher.standing.clearance(points) >= reach, dtype=np.bool_)

    def _slowly(self, character: Character) -> str | float | None:
        """Return the speed at which somebody waits for companions: the slowest of those that people walk at anyway.

        It is None where people do not differ in speed, for no trees are grown for companions alone.
        """
        speed, spread = character.speed, self.crowd.options.speed_spread
        if not isinstance(speed, str) or spread == 0.0:
            return None
        return level_speed(self._loaded(neutral(character.library)), speed, spread, -1)

    def _stop(self, name: str) -> None:
        """Let no order of somebody be due or going on."""
        self.forget(name)
        self._tries.pop(name, None)
        self._walks.pop(name, None)

    def _begin_again(self, name: str) -> None:
        """Let somebody be asked for an order now."""
        self._stop(name)
        self._through.discard(name)
        self.finish(name, Outcome(self._stands(name, self.time), self._pose(name)))

    def sits(self, name: str) -> bool:
        """Return whether somebody sits, sits down or gets up now."""
        sitter = self._sitters.get(name)
        return sitter is not None and self.time < self._ends[name]

    def _sit_down(self, name: str, order: SitDown, time: float) -> None:
        """Let somebody who stands near a seat step before it, sit down, sit and get up; who has no room waits."""
        body, (x, y, here) = self._body(name), self._standing(name)
        floor = float(self._flat.ground(np.array(order.seat.pose[:2])))
        seat = seat_of(order.seat, floor)
        stool, rng = standing_place(body, seat), self.dispatcher.people[name].rng
        there = (*self._before(name, (float(stool[0]), float(stool[1])), (seat.yaw, _STEP)), seat.yaw)
        drawn, manner = int(rng.integers(2**31)), MANNERS[int(rng.integers(len(MANNERS)))]
        sitter = Sitter(
            order, body, (x, y, here), there, nearest_side(body, seat, (x, y, here)), max(order.seconds, SHORTEST),
            manner, drawn, self.time, floor,
        )  # fmt: skip
        try:
            clip = sitter.motion()
        except SittingError as problem:
            self.finish(name, Outcome(time, self._pose(name), str(problem)))
            return
        if not self.crowd.perform(name, clip, there):
            since = self._tries.get(name, (order, self.time, 0.0))[1]
            if self.time - since > _PATIENT:
                self._tries.pop(name, None)
                self.finish(name, Outcome(self.time, self._pose(name), "there is no room before the seat"))
            else:
                self._tries[name] = (order, since, self.time + _AGAIN)
            return
        self._tries.pop(name, None)
        self._sitters[name], self._ends[name] = sitter, self.time + clip.duration
        self.finish(name, Outcome(self._ends[name], there))

    def _stands(self, name: str, time: float) -> float:
        """Return when somebody who is called at a time [s] stands: who sits gets up as soon as possible."""
        if not self.sits(name):
            return time
        sitter = self._sitters[name].called(time)
        if sitter is not self._sitters[name] and sitter.until != self._sitters[name].until:
            clip = sitter.motion()
            self.crowd.perform_on(name, clip)
            self._sitters[name] = sitter
            self._ends[name] = sitter.start + clip.duration
        return max(self._ends[name], time)

    def _before(self, name: str, stool: tuple[float, float], ahead: tuple[float, float]) -> tuple[float, float]:
        """Return a place before a seat at which somebody has room [m], at least as far ahead of it as is told."""
        way, least = ahead
        far = least + np.arange(0.0, _FARTHEST_AHEAD, 0.05)
        points = np.array(stool) + far[:, None] * np.array([math.cos(way), math.sin(way)])
        free = self.dispatcher.standing.clearance(points) >= self._characters[name].radius + _ROOM
        x, y = points[int(np.argmax(free))].tolist()
        return x, y

    def _next_stop(self, name: str, time: float) -> float | None:
        return next_stop(self.scene.world, name, time)

    def _before_seat(self, name: str, seat: SeatPlace, side: str) -> Pose:
        x, y, heading = standing_place(self._body(name), seat_of(seat), side).tolist()
        return x, y, heading

    def _body(self, name: str) -> Library:
        """Return the library of somebody."""
        return self._loaded(neutral(self._characters[name].library))

    def _loaded(self, ref: LibraryRef) -> Library:
        """Return a library."""
        if ref not in self._bodies:
            self._bodies[ref] = ref.load()
        return self._bodies[ref]

    def _drop_sent(self, name: str) -> None:
        """Let somebody break off an errand, and forget where that person was sent."""
        self._check(name)
        self.dispatcher.interrupt(name, (), self.time)
        doer, sent = self.dispatcher.people[name], self._sends.pop(name, None)
        doer.todo = [errand for errand in doer.todo if errand is not sent]

    def _check(self, name: str) -> None:
        if name not in self.dispatcher.people:
            near = nearest(name, list(self.dispatcher.people))
            raise LiveError(f"nobody called '{name}' does errands here" + (f"; did you mean '{near}'?" if near else ""))

    def _everybody(self) -> list[Character]:
        """Return all who are there or will come."""
        return [*self.scene.characters, *strangers(self.coming.values())]

    def _add_libraries(self) -> None:
        for ref in dict.fromkeys(neutral(character.library) for character in self._everybody()):
            if ref not in self._libraries:
                self._libraries[ref] = self.crowd.add_library(ref)

    def doors_asked(self) -> None:
        """Let everybody stand clear of doors as they were asked to be; who would walk into one waits before it."""
        if self.doors is None:
            return
        self.dispatcher.standing.clearance = self.doors.fields.clearance
        for name, order in list(self._walks.items()):
            door = self._barring(name, order)
            if door is not None and not self.doors.too_late(name, door):
                self._stop(name)
                self.finish(name, Outcome(self.time, self._pose(name), f"door '{door}' is shut", shut=door))

    def move_doors(self, time: float) -> None:
        """Move the doors that wait, where nobody is in the way."""
        if self.doors is not None:
            self.doors.step(time, self._events.append)

    def may_open(self, door: str) -> bool:
        """Return whether something may still open a door: your program may."""
        return True

    def _barring(self, name: str, order: Walk) -> str | None:
        """Return the name of the door that bars somebody's way; None if none does."""
        if self.doors is None:
            return None
        door = self.doors.barring(self._pose(name), order.goal, _EXACTLY if order.exact else _NEAR)
        return None if door is None else door.name

    def _door_place(self, name: str, door: str) -> Pose | None:
        radius, pose = self._characters[name].radius, self._pose(name)
        return None if self.doors is None else self.doors.place(door, self.dispatcher.standing, name, radius, pose)

    def _check_door(self, name: str) -> None:
        doors = [door.name for door in self.scene.world.doors]
        if name not in doors:
            near = nearest(name, doors)
            hint = f"did you mean '{near}'?" if near else f"there are {', '.join(doors) or 'none'}"
            raise LiveError(f"the scene has no door '{name}'; {hint}")

    def _place(self, world: World) -> World:
        """Return a world as the crowd lives in it: doors are obstacles that stand."""
        return world if self.keeper is None else with_doors(world, self.keeper.asked_open)

    def _prepared(self) -> PreparedLibrary:
        """Return the library of somebody in the place as it is now, in the plane of its floors."""
        return planning_context(self._place(self._flat)).prepared(self._everybody()[0])

    def _shifted(self, place: Place) -> Point:
        """Return how far a place is moved into the plane of the floors [m]."""
        assert self.floors is not None
        return offset(self.floors.floors, place.point, place.floor, place.height)

    def _there(self, point: Point) -> tuple[float, ...]:
        """Return a point of the plane as the crowd takes it: in the place, with its height if there are floors."""
        return point if self.floors is None else self.floors.place_of(*point)

    def _pose(self, name: str) -> Pose:
        """Return where somebody is, in the plane of the floors."""
        x, y, heading = self.crowd.roots_in_plane(name)[0].tolist()
        return x, y, heading

    def _standing(self, name: str) -> Pose:
        """Return where somebody who stands does so, in the plane of the floors, however the body sways."""
        x, y, heading = self.crowd.plan(name).steps[0].pose
        dx, dy = (self.crowd.roots_in_plane(name)[0, :2] - self.crowd.positions(name)[0, :2]).tolist()
        return x + dx, y + dy, heading

    def _arrive(self, name: str) -> None:
        """Note that somebody stands at a goal, or as near to it as possible."""
        order, here = self._walks.pop(name), self._pose(name)
        away = math.dist(order.goal, here[:2])
        reason = "" if away < _NEAR + _FAR else f"gets within {away:.1f} m and no nearer"
        self.finish(name, Outcome(self.time, here, reason))

    def _give_up(self, name: str, reason: str) -> None:
        """Let somebody give up a walk that leads no nearer."""
        self._walks.pop(name)
        here = self._pose(name)
        self.crowd.send(name, self._there(here[:2]), tolerance=_NEAR)
        self.finish(name, Outcome(self.time, here, reason))

    def _tell(self) -> None:
        """Tell of errands that are over."""
        self._events += [ErrandDone(time=span.end, name=name, span=span) for name, span in self.dispatcher.over]
        self.dispatcher.over.clear()


def _flat(world: World) -> World:
    """Return a world as the plane of its floors, if it has several; else as it is."""
    return Floors.of(world).plane if has_levels(world) else world


def _known(door: Door) -> tuple[object, ...]:
    """Return what makes a door the one that it is."""
    return (door.name, door.shut, door.open, door.seconds, door.width)


def _same(before: Place | None, place: Place) -> bool:
    """Return whether a place is where it was before."""
    return before is not None and all(getattr(before, f.name) == getattr(place, f.name) for f in fields(Place))
