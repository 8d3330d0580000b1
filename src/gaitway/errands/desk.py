"""The desk of things: where every thing of a run is, who has it, and how people handle it where they stand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import GaitwayError, LimbError, PlanError
from gaitway.errands.orders import Pose
from gaitway.handling.carrying import Carry, hung
from gaitway.handling.grips import (
    ThingPose,
    grasp_place,
    grip_point,
    thing_carried,
    thing_obstacle,
    touch_place,
)
from gaitway.handling.handler import Handler, HandTask
from gaitway.handling.motion import FPS, LEAD, LIFT, HandMotion, body_of, hand_motion, leg_seconds, still
from gaitway.library.behavior import Library
from gaitway.limbs._stance_kernels import ARM
from gaitway.limbs.stance import HANDS
from gaitway.limbs.surroundings import Carried, OtherBody, inside
from gaitway.motion.body import capsule_body
from gaitway.motion.clip import Clip
from gaitway.scene.errands import Handle
from gaitway.scene.things import ANY, HEAD, Thing
from gaitway.take.things import thing_facts
from gaitway.world.world import World

_DISTANCES = (0.36, 0.42, 0.48, 0.54, 0.6, 0.68, 0.76)
"""Distances from what is reached for at which places to stand are looked for [m], for a body of usual size."""
_AROUND = 24
"""Directions in which they are looked for."""
_ASIDE = math.radians(14.0)
"""How far to the side of its hand people like to have what they reach for [rad]."""
_LEAST_ROOM, _AHEAD = 0.2, (0.15, 0.22, 0.3)
"""Least distance from obstacles where people stand to reach, and how far behind that place there is usual room [m]."""
_BEHIND = 0.6
"""How far behind who reaches there must be room to turn [m]."""
_SPARES = (0.06, -0.02)
"""Room that people like to have who stand to reach, so that they can turn and set off again, and the least [m]."""
_WAY, _LEFT = 0.03, 0.06
"""What a metre of way, and the left hand, count beside how uneasy a reach is."""
_TESTED, _KEPT = 8, 3
"""Places that are tested with all that is around, and how many of them are kept."""
_APART = (0.86, 0.8, 0.74, 0.68)
"""Distances at which people stand who give or take from hand to hand, or from a head [m]."""
_BESIDE = (0.0, 0.25, -0.25, 0.5, -0.5)
"""Directions in which they stand, as seen from who stands already, beside straight ahead [rad]."""
_ALL_AROUND = (*_BESIDE, 0.9, -0.9, 1.4, -1.4, 2.0, -2.0, 2.6, -2.6, math.pi)
"""Directions in which somebody stands who takes a thing from a head."""
_MET = 1.08
"""Height at which hands meet, for a body of usual size [m]."""
_SHOWN = (0.36, 0.06, 1.28)
"""Where a thing is held up: ahead, to the side of its hand, and above the floor [m]."""
_GRID, _SPOTS = 0.1, 10
"""Distance between places on a thing where something is put [m], and how many of them are tried."""
_TILTS = tuple(math.radians(angle) for angle in (0.0, 12.0, 24.0))
"""How far back a thing may be tilted that is put on a head [rad]."""
_OFF = 0.14
"""How far a thing is lifted off a head before it goes elsewhere [m]."""
_WORN = 0.105
"""How high above the head joint the underside of a thing is that is worn, for a body of usual size [m]."""


@dataclass(frozen=True, eq=False)
class ThingState:
    """Where a thing is."""

    pose: ThingPose
    """In the world, or in the frame of who or what has it."""
    who: str | None = None
    """Who has it; None if it stands somewhere."""
    part: str = ""
    """"right" or "left" for a hand, "head", or "mover"."""
    grasp: int = 0
    """Which of its grasps is held."""


@dataclass(frozen=True, eq=False)
class Stop:
    """Where somebody stands to reach something."""

    pose: Pose
    hand: str
    ahead: tuple[float, float]
    """Direction [rad] and distance [m] to a place with usual room."""


@dataclass(frozen=True, eq=False)
class Handled:
    """What somebody did with a thing."""

    clip: Clip
    """The motion in the world, with arms that hang at both ends; whether they carry is a layer's."""
    motion: HandMotion | None
    """None for who only stands still for somebody else."""


@dataclass(eq=False)
class HandlingDesk:
    """All things of a run, and everybody's hands. This class is **mutable**."""

    world: World
    things: Mapping[str, Thing]
    library: Callable[[str], Library]
    """The library of somebody, by name."""
    clearance: Callable[[FloatArray], FloatArray]
    """Distances of points (N, 2) to the nearest obstacle [m]; (N,)."""
    spare: Callable[[str, Pose], float]
    """How far somebody, by name, who stands at a pose is from obstacles, with the whole body [m]; below 0 too near."""
    seed: int = 0
    states: dict[str, ThingState] = field(default_factory=dict)
    tracks: dict[str, list[list[Any]]] = field(default_factory=dict)
    """For each thing: times [s] from which it is somewhere, who has it, with which part, and its pose there."""
    reaches: list[list[Any]] = field(default_factory=list)
    """For the audit: who, hand, verb, thing, time [s], target [m] and the point of the wrist joint's frame [m]."""
    carries: list[Carry] = field(default_factory=list)
    motions: dict[str, list[tuple[float, Clip]]] = field(default_factory=dict)
    """Motion of everybody who handles things, and when each begins [s]."""
    _arms: dict[tuple[str, str], FloatArray] = field(default_factory=dict)
    _since: dict[tuple[str, str], tuple[float, FloatArray]] = field(default_factory=dict)

    def lay_out(self, people: Sequence[str], start: Callable[[str], float]) -> None:
        """Put every thing where it is at first.

        Args:
            people: everybody who is there from the start.
            start: from when on somebody is there [s], by name.
        """
        for thing in self.things.values():
            who = thing.held or thing.worn
            if who is not None and who not in people:
                raise PlanError(f"thing '{thing.name}' is on '{who}', who is not there")
            begins = 0.0 if who is None else start(who)
            if who is not None and thing.held is not None:
                self._begin_held(thing, who, begins)
            elif who is not None:
                self._set(thing.name, begins, ThingState(self._worn_pose(who), who, HEAD))
            else:
                at = ThingPose.upright(np.array(thing.at), thing.yaw)
                rides = ThingState(at, thing.rides, "mover") if thing.rides is not None else ThingState(at)
                self._set(thing.name, 0.0, rides)

    def holds(self, who: str, hand: str) -> str | None:
        """Return what somebody has in a hand."""
        return next((name for name, one in self.states.items() if (one.who, one.part) == (who, hand)), None)

    def refusal(self, who: str, errand: Handle) -> str:
        """Return why somebody cannot do an errand now, in one line; nothing if that is possible."""
        thing, state = self.things[errand.thing], self.states[errand.thing]
        has = state.who == who and state.part in HANDS
        owner = None if state.part == "mover" else state.who
        if errand.verb in ("put", "give") and not has:
            return f"'{thing.name}' is not in a hand of '{who}'{f'; {_had(state)}' if owner else ''}"
        if errand.verb == "take":
            if why := thing.problem():
                return f"'{thing.name}' cannot be grasped: {why}"
            if owner == who and state.part != HEAD:
                return f"'{who}' carries '{thing.name}' already"
            if owner is not None and owner not in (who, errand.other):
                return f"'{thing.name}' is carried already: {_had(state)}; write from: {owner}"
            if errand.other is not None and owner != errand.other:
                return f"'{errand.other}' does not have '{thing.name}'"
        if errand.verb in ("touch", "press") and owner is not None:
            return f"'{thing.name}' is carried: {_had(state)}"
        if errand.verb == "hold" and not has and not thing.fixed:
            return f"'{thing.name}' is neither in a hand of '{who}' nor fixed"
        if not self.hands(who, errand):
            asked = "both hands are" if errand.hand == ANY else f"the {errand.hand} hand is"
            busy = self.holds(who, errand.hand if errand.hand != ANY else "right")
            return f"{asked} not free: '{who}' carries '{busy}'"
        return ""

    def hands(self, who: str, errand: Handle) -> list[str]:
        """Return the hands that somebody may use for an errand."""
        state = self.states[errand.thing]
        if state.who == who and state.part in HANDS:
            return [state.part]
        wanted = HANDS if errand.hand == ANY else (errand.hand,)
        return [hand for hand in wanted if self.holds(who, hand) is None]

    def in_place(self, who: str, errand: Handle) -> bool:
        """Return whether somebody does an errand where that person stands."""
        mine = self.states[errand.thing].who == who
        return mine and (errand.verb == "hold" or errand.on == HEAD or errand.verb == "take")

    def stops(
        self, who: str, pose: Pose, radius: float, errand: Handle, time: float, free: Callable[[FloatArray], BoolArray]
    ) -> list[Stop]:
        """Return the best places for an errand with a thing that nobody else has, the most comfortable first.

        Args:
            who: the person.
            pose: where that person is now.
            radius: radius of the person [m].
            errand: the errand.
            time: about when [s].
            free: at which points (N, 2) nobody else stands; (N,).

        Raises:
            LimbError: that says how far it got.
        """
        told: LimbError | None = None
        targets = list(self._targets(who, pose, errand, time))
        for spare in _SPARES:
            for spot, yaw in targets:
                goal = ThingPose.upright(spot, yaw or 0.0)
                try:
                    return self._stops_for(who, pose, radius, errand, goal, yaw, time, free, spare)
                except LimbError as problem:
                    told = problem
        raise told or LimbError(f"there is no room for '{errand.thing}' on '{errand.on}'")

    def stops_before(
        self, who: str, other: str, pose: Pose, radius: float, errand: Handle, time: float,
        free: Callable[[FloatArray], BoolArray],
    ) -> list[Stop]:  # fmt: skip
        """Return places before somebody who stands, to give or take a thing; see `stops`."""
        x, y, heading = pose
        told: LimbError | None = None
        found: list[Stop] = []
        sides = _ALL_AROUND if self.states[errand.thing].part == HEAD else _BESIDE
        for apart in _APART:
            for turn in sides:
                way = heading + turn
                point = np.array([x + apart * math.cos(way), y + apart * math.sin(way)])
                if self.clearance(point[None])[0] < radius or not free(point[None])[0]:
                    continue
                stop = (float(point[0]), float(point[1]), math.remainder(way + math.pi, math.tau))
                try:
                    hand = self._try_exchange(who, stop, other, pose, errand, time)
                except LimbError as problem:
                    told = told or problem
                    continue
                found.append(Stop(stop, hand, (way, 0.2)))
                if len(found) == _KEPT:
                    return found
        if not found:
            raise told or LimbError(f"there is no room before '{other}'")
        return found

    def perform(self, who: str, pose: Pose, errand: Handle, hand: str, time: float) -> Handled:
        """Let somebody who stands at a pose do an errand alone, from a time on [s].

        Raises:
            LimbError: that says how far it got; nothing has changed then.
        """
        thing, state = self.things[errand.thing], self.states[errand.thing]
        handler = self._handler(who, pose, time, {errand.thing})
        home, seed = self.home(handler, who), self.seed + len(self.reaches)
        if errand.verb in ("touch", "press") or (errand.verb == "hold" and state.who is None):
            target = touch_place(thing, self.pose_of(errand.thing, time), pose[:2])
            task = handler.touching(hand, target)
            stays = errand.seconds[0] if errand.verb == "hold" else 0.12 if errand.verb == "press" else 0.3
            motion = hand_motion(handler, task, home, hold=stays, seed=seed)
            self._note(who, errand, task, handler, motion, time)
            return self._done(who, handler, motion, time)
        if errand.verb == "hold":
            task = self._showing(handler, thing, hand, state)
            load = thing_carried(thing, state.pose)
            motion = hand_motion(
                handler, task, home, before=load, carried=load, hold=errand.seconds[0], look=task.target, seed=seed
            )
            self._note(who, errand, task, handler, motion, time)
            return self._done(who, handler, motion, time)
        if errand.verb == "take":
            return self._take(who, handler, thing, hand, time, errand, seed)
        return self._put(who, handler, thing, hand, time, errand, seed)

    def exchange(
        self, giver: str, pose: Pose, getter: str, other: Pose, errand: Handle, hand: str, time: float
    ) -> tuple[Handled, Handled]:
        """Let one person give a thing to another, or be robbed of it; return what giver and getter do.

        Args:
            giver: who has it, in a hand or on the head.
            pose: where.
            getter: who gets it.
            other: where.
            errand: the errand, of either.
            hand: the hand of the getter.
            time: from when on [s].

        Raises:
            LimbError: that says how far it got; nothing has changed then.
        """
        thing, state, seed = self.things[errand.thing], self.states[errand.thing], self.seed + len(self.reaches)
        one, two = self._handler(giver, pose, time, {errand.thing}), self._handler(getter, other, time, {errand.thing})
        home, mine = self.home(one, giver), self.home(two, getter)
        if state.part == HEAD:
            met = self._joint_pose(one, home, HEAD).carried(state.pose)
            task = two.grasping(thing, hand, met, self._grasp(thing, met, other))
            motion = self._grasped(
                two,
                task,
                thing,
                hand,
                met,
                mine,
                (_body_without(self._stood(one, home), "head", "neck"),),
                seed,
                lift=_OFF,
            )
            clip = still(one, home, (len(motion.clip) - 1) / FPS)
            self._got(getter, thing, hand, met, motion, two, task, time, errand)
            return self._done(giver, one, None, time, clip), self._done(getter, two, motion, time)
        met, giving, taking = self._meeting(one, two, home, mine, thing, state, hand)
        first = max(leg_seconds(one, giving, home, one.goal(giving, home, 0.0).posture),
                    leg_seconds(two, taking, mine, two.goal(taking, mine, 0.0).posture))  # fmt: skip
        empty = self._without(one, home, state.part)
        before = hand_motion(
            one, giving, home, empty, before=thing_carried(thing, state.pose), first=first,
            others=(body_of(self._stood(two, mine)),), seed=seed,
        )  # fmt: skip
        at = before.wrist.carried(state.pose)
        taking = two.grasping(thing, hand, at, self._grasp(thing, at, other))
        try:  # clear of the hand that gives, if that is possible
            shown = body_of(before.clip)
            there = OtherBody(np.ascontiguousarray(shown.segments[before.reach : before.reach + 1]), shown.radii)
            among = self._handler(getter, other, time, {errand.thing}, others=(there,))
            motion = self._grasped(among, taking, thing, hand, at, mine, (shown,), seed, first)
        except LimbError:
            bare = _body_without(before.clip, f"{state.part}_hand")
            motion = self._grasped(two, taking, thing, hand, at, mine, (bare,), seed, first)
        if motion.reach != before.reach:
            raise LimbError("the two hands are not at one place at one time")
        self._note(giver, errand, giving, one, before, time)
        self._end_carry(giver, state.part, time + before.clip.duration)
        self._got(getter, thing, hand, at, motion, two, taking, time, errand)
        return self._done(giver, one, before, time), self._done(getter, two, motion, time)

    def pose_of(self, name: str, time: float) -> ThingPose:
        """Return where a thing is that nobody has, at a time [s]."""
        state = self.states[name]
        if state.part != "mover":
            return state.pose
        mover = next(mover for mover in self.world.movers if mover.name == state.who)
        x, y, yaw = mover.pose(np.array([time]))[0].tolist()
        return ThingPose.upright((x, y, 0.0), yaw).carried(state.pose)

    def home(self, handler: Handler, who: str) -> FloatArray:
        """Return the posture in which somebody stands, with arms that carry; (22,)."""
        out = np.array(handler.rest)
        for number, hand in enumerate(HANDS):
            if (who, hand) in self._arms:
                out[ARM * number : ARM * (number + 1)] = self._arms[who, hand]
        return out

    def close(self) -> None:
        """Let whoever has a thing carry it to the end of the take."""
        for who, hand in list(self._since):
            self._end_carry(who, hand, math.inf)

    def facts(self) -> dict[str, Any]:
        """Return what a take says about things and reaches, as plain JSON values."""
        rows = {
            name: thing_facts(thing.shape, thing.size, thing.color, self.tracks[name])
            for name, thing in self.things.items()
        }
        return {"things": rows, "reaches": self.reaches}

    def _begin_held(self, thing: Thing, who: str, time: float) -> None:
        handler = self._handler(who, (0.0, 0.0, 0.0), time, set(self.things), bare=True)
        hand, limb = thing.hand, handler.limb(thing.hand)
        wrist = handler.wrist(handler.rest, hand)
        # upright in the hand as if it had just been grasped with the forearm level
        turn = _level(handler, hand)
        grip = _turned(limb.turns[3], grip_point(limb, thing))
        level = ThingPose(wrist.at, turn)
        at = level.point(grip) - grasp_place(thing)
        inner = ThingPose.upright(at, 0.0).within(level)
        self._set(thing.name, time, ThingState(inner, who, hand))
        self._begin_carry(handler, who, hand, thing, inner, time)

    def _targets(self, who: str, pose: Pose, errand: Handle, time: float) -> Iterator[tuple[FloatArray, float | None]]:
        """Yield where the thing is or goes to [m], and how it is turned there [rad], the best first."""
        if errand.verb != "put":
            now = self.pose_of(errand.thing, time)
            yield now.at, _yaw(now)
        elif errand.at is not None:
            yield np.array(errand.at), errand.yaw
        else:
            yield from ((spot, None) for spot in self._spots_on(pose, errand))

    def _spots_on(self, pose: Pose, errand: Handle) -> list[FloatArray]:
        """Return free places on top of an obstacle [m], the nearest to somebody first."""
        thing = self.things[errand.thing]
        obstacle = next(one for one in self.world.obstacles if one.name == errand.on)
        x0, y0, x1, y1 = obstacle.shape.footprint().bounds
        top, half = obstacle.shape.heights[1], 0.5 * max(thing.size[:2]) + 0.015
        grid = [(x, y) for x in _even(x0 + half, x1 - half) for y in _even(y0 + half, y1 - half)]
        taken = [(one.pose.at, 0.5 * max(self.things[name].size[:2])) for name, one in self.states.items()
                 if one.who is None and name != errand.thing and abs(one.pose.at[2] - top) < 0.3]  # fmt: skip
        clear = [p for p in grid if all(math.dist(p, at[:2]) > size + half + 0.02 for at, size in taken)]
        clear.sort(key=lambda p: (round(math.dist(p, pose[:2]), 6), p))
        return [np.array([x, y, top]) for x, y in clear[:_SPOTS]]

    def _stops_for(
        self, who: str, pose: Pose, radius: float, errand: Handle, target: ThingPose, yaw: float | None, time: float,
        free: Callable[[FloatArray], BoolArray], spare: float,
    ) -> list[Stop]:  # fmt: skip
        bare = self._handler(who, (0.0, 0.0, 0.0), time, set(self.things), bare=True)
        size, thing = float(bare.stander.table.size), self.things[errand.thing]
        if (name := inside(self.world, self._aim(thing, errand, target, pose))) is not None:
            raise LimbError(f"'{thing.name}' cannot be reached: it is inside '{name}'")
        ranked: list[tuple[float, int, Stop]] = []
        told: LimbError | None = None
        shortest = math.inf
        known: dict[tuple[Any, ...], FloatArray | LimbError] = {}
        for number, (point, way) in enumerate(_ring(target.at, size)):
            if self.clearance(point[None])[0] < size * _LEAST_ROOM or not free(point[None])[0]:
                continue
            back = self._ahead(point, way, radius)
            if back is None:
                continue
            for hand in self.hands(who, errand):
                side = 1.0 if hand == "right" else -1.0
                heading = math.remainder(way + math.pi + side * _ASIDE, math.tau)
                if self.spare(who, (float(point[0]), float(point[1]), heading)) < spare:
                    continue
                seen = target.within(ThingPose.upright((point[0], point[1], 0.0), heading))
                home = self.home(bare, who)
                task = self._task(bare, who, errand, hand, seen, None if yaw is None else yaw - heading)
                task = replace(task, ways=task.ways[:1] if errand.verb == "take" else task.ways[::2])
                # seen from around, what is reached for is mostly at the same place
                key = (hand, *np.round(task.target, 3), None if yaw is None else round(yaw - heading, 3))
                if key not in known:
                    known[key] = self._tried(bare, task, home)
                posture = known[key]
                if isinstance(posture, LimbError):
                    away = float(np.linalg.norm(seen.at[:2]))
                    if away < shortest:
                        told, shortest = posture, away
                    continue
                cost = bare.uneasiness(posture, home, hand) + _LEFT * (hand == "left")
                cost += _WAY * math.dist(point, pose[:2])
                stop = Stop((float(point[0]), float(point[1]), heading), hand, back)
                ranked.append((round(cost, 6), number, stop))
        ranked.sort(key=lambda row: row[:2])
        tested: list[tuple[float, int, Stop]] = []
        for _, number, stop in ranked[:_TESTED]:
            try:
                handler = self._handler(who, stop.pose, time, {errand.thing})
                home = self.home(handler, who)
                posture = handler.goal(self._task(handler, who, errand, stop.hand, target, yaw), home, 0.005).posture
            except LimbError as problem:
                told = problem
                continue
            cost = handler.uneasiness(posture, home, stop.hand) + _LEFT * (stop.hand == "left")
            cost += _WAY * math.dist(stop.pose[:2], pose[:2])
            tested.append((round(cost, 6), number, stop))
        kept = [stop for _, _, stop in sorted(tested, key=lambda row: row[:2])[:_KEPT]]
        if not kept:
            why = str(told) if told is not None else "there is nowhere to stand near it"
            raise LimbError(f"'{thing.name}' cannot be reached: {why}")
        return kept

    def _tried(self, handler: Handler, task: HandTask, home: FloatArray) -> FloatArray | LimbError:
        """Return a posture that fulfils a task, or why there is none."""
        try:
            return handler.goal(task, home, 0.0).posture
        except LimbError as problem:
            return problem

    def _ahead(self, point: FloatArray, way: float, radius: float) -> tuple[float, float] | None:
        """Return direction and distance from a place to one with usual room, away from what is reached for."""
        out = np.array([math.cos(way), math.sin(way)])
        if self.clearance((point + _BEHIND * out)[None])[0] < radius + 0.1:
            return None
        for far in _AHEAD:
            if self.clearance((point + far * out)[None])[0] >= radius + 0.1:
                return way, far
        return None

    def _aim(self, thing: Thing, errand: Handle, target: ThingPose, pose: Pose) -> FloatArray:
        """Return the point that a hand goes to, or the middle of a thing that is put down [m]; (3,)."""
        if errand.verb in ("touch", "press", "hold"):
            return touch_place(thing, target, pose[:2])
        return target.point(thing.middle if errand.verb == "put" else grasp_place(thing))

    def _task(
        self, handler: Handler, who: str, errand: Handle, hand: str, target: ThingPose, yaw: float | None
    ) -> HandTask:
        thing = self.things[errand.thing]
        root = handler.clip.root_positions[0]
        if errand.verb == "put":
            return handler.placing(thing, hand, self.states[errand.thing].pose, target.at, yaw)
        if errand.verb == "take":
            return handler.grasping(thing, hand, target, self._grasp(thing, target, root))
        return handler.touching(hand, touch_place(thing, target, root[:2]))

    def _take(
        self, who: str, handler: Handler, thing: Thing, hand: str, time: float, errand: Handle, seed: int
    ) -> Handled:
        state, home = self.states[thing.name], self.home(handler, who)
        if state.part == HEAD:
            at = self._joint_pose(handler, home, HEAD).carried(state.pose)
        else:
            at = self.pose_of(thing.name, time)
        number = self._grasp(thing, at, handler.clip.root_positions[0])
        task = handler.grasping(thing, hand, at, number)
        if state.part == "mover":  # where it will be when the hand is there
            goal = handler.goal(task, home, 0.0).posture
            at = self.pose_of(thing.name, time + round((LEAD + leg_seconds(handler, task, home, goal)) * FPS) / FPS)
            task = handler.grasping(thing, hand, at, number)
        motion = self._grasped(handler, task, thing, hand, at, home, (), seed)
        if state.part == "mover" and (away := self._missed(thing, at, time + motion.seconds)) > 0.005:
            raise LimbError(f"'{thing.name}' moves on: it is {away:.2f} m away when the hand is there")
        self._got(who, thing, hand, at, motion, handler, task, time, errand)
        return self._done(who, handler, motion, time)

    def _missed(self, thing: Thing, at: ThingPose, time: float) -> float:
        return float(np.linalg.norm(self.pose_of(thing.name, time).at - at.at))

    def _put(
        self, who: str, handler: Handler, thing: Thing, hand: str, time: float, errand: Handle, seed: int
    ) -> Handled:
        state, home = self.states[thing.name], self.home(handler, who)
        empty, load = self._without(handler, home, hand), thing_carried(thing, state.pose)
        if errand.on == HEAD:
            # which way a hat is turned does not matter, and it may sit a little back
            spot = self._joint_pose(handler, home, HEAD).carried(self._worn_pose(who)).at
            tasks = [handler.placing(thing, hand, state.pose, spot, None, (tilt,)) for tilt in _TILTS]
            task, motion = _first(handler, tasks, home, empty, None, _eyes_ahead(handler), seed)
            head = handler.clip.skeleton.roles["head"]
            places, turns = motion.clip.joint_transforms()
            worn = ThingPose(places[motion.leave, head], turns[motion.leave, head])
            after = ThingState(motion.wrist.carried(state.pose).within(worn), who, HEAD)
        else:
            targets = self._targets(who, _pose(handler), errand, time)
            tasks = [handler.placing(thing, hand, state.pose, spot, yaw) for spot, yaw in targets]
            task, motion = _first(handler, tasks, home, empty, load, None, seed)
            after = ThingState(motion.wrist.carried(state.pose))
        self._note(who, errand, task, handler, motion, time)
        self._end_carry(who, hand, time + motion.clip.duration)
        self._set(thing.name, time + motion.leave / FPS, after)
        return self._done(who, handler, motion, time)

    def _grasped(
        self, handler: Handler, task: HandTask, thing: Thing, hand: str, at: ThingPose, home: FloatArray,
        others: Sequence[OtherBody], seed: int, first: float | None = None, lift: float = LIFT,
    ) -> HandMotion:  # fmt: skip
        """Return the motion that grasps a thing at a pose and brings it to where it is carried."""

        def grasped(goal: FloatArray) -> tuple[FloatArray, Carried]:
            inner = at.within(handler.wrist(goal, hand))
            return handler.carrying(thing, hand, inner, home), thing_carried(thing, inner)

        look = at.point(thing.middle)
        return hand_motion(
            handler, task, home, grasped=grasped, first=first, others=others, look=look, lift=lift, seed=seed
        )

    def _got(
        self, who: str, thing: Thing, hand: str, at: ThingPose, motion: HandMotion, handler: Handler, task: HandTask,
        time: float, errand: Handle,
    ) -> None:  # fmt: skip
        """Note that somebody has a thing in a hand now."""
        inner = at.within(motion.wrist)
        self._note(who, errand, task, handler, motion, time)
        self._set(thing.name, time + motion.reach / FPS, ThingState(inner, who, hand))
        local = motion.clip.rotations[-1, handler.limb(hand).joints]
        number = HANDS.index(hand)
        self._arms[who, hand] = motion.after[ARM * number : ARM * (number + 1)]
        self._since[who, hand] = (time, np.array(local))

    def _begin_carry(self, handler: Handler, who: str, hand: str, thing: Thing, inner: ThingPose, time: float) -> None:
        home, number = self.home(handler, who), HANDS.index(hand)
        arm = handler.carrying(thing, hand, inner, home)
        self._arms[who, hand] = arm[ARM * number : ARM * (number + 1)]
        local = handler.stander.applied(arm[None]).rotations[0, handler.limb(hand).joints]
        self._since[who, hand] = (time, np.array(local))

    def _end_carry(self, who: str, hand: str, time: float) -> None:
        start, turns = self._since.pop((who, hand))
        self._arms.pop((who, hand), None)
        if time > start:
            self.carries.append(Carry(who, hand, start, time, turns))

    def _meeting(
        self, one: Handler, two: Handler, home: FloatArray, mine: FloatArray, thing: Thing, state: ThingState, hand: str
    ) -> tuple[ThingPose, HandTask, HandTask]:
        """Return where two hands meet, and the tasks of who gives and who gets."""
        a, b = one.clip.root_positions[0], two.clip.root_positions[0]
        size = 0.5 * (float(one.stander.table.size) + float(two.stander.table.size))
        floor = float(one.stander.table.ankles[:, 2].min()) - 0.08 * size
        told: LimbError | None = None
        for share in (0.5, 0.45, 0.55):
            for high in (_MET, _MET - 0.08, _MET + 0.1):
                spot = np.array([*(a + share * (b - a))[:2], floor + size * high]) - np.array(thing.middle)
                try:
                    giving = one.placing(thing, state.part, state.pose, spot, None)
                    goal = one.goal(giving, home, 0.0).posture
                    met = one.wrist(goal, state.part).carried(state.pose)
                    taking = two.grasping(thing, hand, met, self._grasp(thing, met, b))
                    two.goal(taking, mine, 0.0)
                    return met, giving, taking
                except LimbError as problem:
                    told = told or problem
        raise told or LimbError("the two hands meet nowhere")

    def _try_exchange(self, who: str, stop: Pose, other: str, pose: Pose, errand: Handle, time: float) -> str:
        """Return the hand with which a thing is got, if two people who stand at these places can exchange it."""
        state, thing = self.states[errand.thing], self.things[errand.thing]
        giving = errand.verb == "give"
        getter, giver = (other, who) if giving else (who, other)
        spots = {who: stop, other: pose}
        one, two = (self._handler(name, spots[name], time, {errand.thing}) for name in (giver, getter))
        free = [hand for hand in HANDS if self.holds(getter, hand) is None]
        if not giving and errand.hand != ANY:
            free = [hand for hand in free if hand == errand.hand]
        free.sort(key=lambda hand: hand != state.part)
        told: LimbError | None = None
        for hand in free:
            try:
                home, mine = self.home(one, giver), self.home(two, getter)
                if state.part == HEAD:
                    met = self._joint_pose(one, home, HEAD).carried(state.pose)
                    two.goal(two.grasping(thing, hand, met, self._grasp(thing, met, spots[getter])), mine, 0.0)
                else:
                    self._meeting(one, two, home, mine, thing, state, hand)
                return hand
            except LimbError as problem:
                told = told or problem
        raise told or LimbError(f"'{getter}' has no hand free")

    def _showing(self, handler: Handler, thing: Thing, hand: str, state: ThingState) -> HandTask:
        """Return the task of holding a thing up before the chest."""
        size = float(handler.stander.table.size)
        ahead, aside, high = (size * v for v in _SHOWN)
        floor = float(handler.stander.table.ankles[:, 2].min()) - 0.08 * size
        x, y, heading = _pose(handler)
        out = 1.0 if hand == "left" else -1.0
        c, s = math.cos(heading), math.sin(heading)
        spot = np.array([x + c * ahead - s * out * aside, y + s * ahead + c * out * aside, floor + high])
        return handler.placing(thing, hand, state.pose, spot - np.array(thing.middle), None)

    def _grasp(self, thing: Thing, pose: ThingPose, seen: Any) -> int:
        """Return the grasp of a thing that is nearest to somebody."""
        away = [round(math.dist(pose.point(p)[:2], np.asarray(seen)[:2]), 6) for p in thing.grasps]
        return away.index(min(away)) if away else 0

    def _without(self, handler: Handler, home: FloatArray, hand: str) -> FloatArray:
        """Return a posture with one arm hanging; (22,)."""
        out, number = np.array(home), HANDS.index(hand)
        out[ARM * number : ARM * (number + 1)] = handler.rest[ARM * number : ARM * (number + 1)]
        return out

    def _worn_pose(self, who: str) -> ThingPose:
        """Return where a thing is that is worn, in the frame of the head joint."""
        bare = self._handler(who, (0.0, 0.0, 0.0), 0.0, set(self.things), bare=True)
        head = self._joint_pose(bare, bare.rest, HEAD)
        size = float(bare.stander.table.size)
        return ThingPose.upright(head.at + np.array([0.0, 0.0, size * _WORN]), 0.0).within(head)

    def _joint_pose(self, handler: Handler, posture: FloatArray, role: str) -> ThingPose:
        clip = handler.stander.applied(posture[None])
        joint = clip.skeleton.roles[role]
        positions, turns = clip.joint_transforms()
        return ThingPose(positions[0, joint], turns[0, joint])

    def _stood(self, handler: Handler, home: FloatArray) -> Clip:
        return handler.stander.applied(home[None])

    def _handler(
        self, who: str, pose: Pose, time: float, without: set[str], bare: bool = False,
        others: Sequence[OtherBody] = (),
    ) -> Handler:  # fmt: skip
        """Return somebody who stands at a pose, among things that stand around but for some."""
        if bare:
            return _bare(self.library(who))
        resting = [
            thing_obstacle(self.things[name], self.pose_of(name, time))
            for name, state in self.states.items()
            if (state.who is None or state.part == "mover") and name not in without
        ]
        world = replace(self.world, obstacles=(*self.world.obstacles, *resting))
        return Handler.at(self.library(who), pose, world, time, others)

    def _note(
        self, who: str, errand: Handle, task: HandTask, handler: Handler, motion: HandMotion, time: float
    ) -> None:
        offset = _turned(handler.limb(task.hand).turns[3], motion.mark)
        self.reaches.append([
            who, task.hand, errand.verb, errand.thing, round(time + motion.seconds, 4),
            [round(float(v), 5) for v in task.target], [round(float(v), 5) for v in offset],
        ])  # fmt: skip

    def _done(
        self, who: str, handler: Handler, motion: HandMotion | None, time: float, clip: Clip | None = None
    ) -> Handled:
        shown = motion.clip if motion is not None else clip
        if shown is None:
            raise GaitwayError("nothing was done")
        self.motions.setdefault(who, []).append((time, shown))
        return Handled(hung(shown, handler.clip), motion)

    def _set(self, name: str, time: float, state: ThingState) -> None:
        self.states[name] = state
        part = f"{state.part}_wrist" if state.part in HANDS else state.part
        row = [*state.pose.at.tolist(), *state.pose.turn.tolist()]
        self.tracks.setdefault(name, []).append([round(time, 4), state.who, part, [round(v, 6) for v in row]])


@lru_cache(maxsize=32)
def _bare(library: Library) -> Handler:
    """Return somebody who stands at the origin of an empty place."""
    return Handler.at(library, (0.0, 0.0, 0.0), World((-10.0, -10.0, 10.0, 10.0)))


def _first(
    handler: Handler, tasks: Sequence[HandTask], home: FloatArray, empty: FloatArray, load: Carried | None,
    look: FloatArray | None, seed: int,
) -> tuple[HandTask, HandMotion]:  # fmt: skip
    """Return the first of several tasks of putting a thing down that can be fulfilled, and the motion."""
    told: LimbError | None = None
    for task in tasks:
        try:
            return task, hand_motion(handler, task, home, empty, before=load, look=look, seed=seed)
        except LimbError as problem:
            told = told or problem
    raise told or LimbError("there is no room for it")


def _ring(at: FloatArray, size: float) -> Iterator[tuple[FloatArray, float]]:
    """Yield points around a place [m], and the directions from it [rad]."""
    for away in _DISTANCES:
        for number in range(_AROUND):
            way = math.tau * number / _AROUND
            yield at[:2] + size * away * np.array([math.cos(way), math.sin(way)]), way


def _even(low: float, high: float) -> list[float]:
    """Return about evenly spaced numbers from one to another."""
    if high <= low:
        return [0.5 * (low + high)] if high > low - 0.03 else []
    return [float(v) for v in np.linspace(low, high, max(round((high - low) / _GRID) + 1, 2))]


def _yaw(pose: ThingPose) -> float:
    ahead = pose.point(np.array([1.0, 0.0, 0.0])) - pose.at
    return math.atan2(ahead[1], ahead[0])


def _turned(turn: FloatArray, vector: FloatArray) -> FloatArray:
    return ThingPose(np.zeros(3), turn).point(vector)


def _pose(handler: Handler) -> Pose:
    x, y, heading = handler.clip.planar_path()[0].tolist()
    return x, y, heading


def _level(handler: Handler, hand: str) -> FloatArray:
    """Return the turn of the wrist joint of an arm whose forearm is level ahead, with the palm inward; (4,)."""
    posture = np.array(handler.rest)
    begin = ARM * HANDS.index(hand)
    posture[begin + 5] = math.radians(85.0)
    return handler.wrist(posture, hand).turn


def _eyes_ahead(handler: Handler) -> FloatArray:
    """Return a point far ahead of somebody's eyes [m]; (3,)."""
    x, y, heading = _pose(handler)
    return np.array([x + 3.0 * math.cos(heading), y + 3.0 * math.sin(heading), 1.5])


def _body_without(clip: Clip, *parts: str) -> OtherBody:
    """Return the capsules of a body over its motion without some parts, which meet somebody else's hand or thing."""
    body = body_of(clip)
    kept = [k for k, name in enumerate(capsule_body(clip.skeleton).names) if name not in parts]
    return OtherBody(np.ascontiguousarray(body.segments[:, kept]), body.radii[kept])


def _had(state: ThingState) -> str:
    where = "wears it" if state.part == HEAD else f"has it in the {state.part} hand"
    return f"'{state.who}' {where}"
