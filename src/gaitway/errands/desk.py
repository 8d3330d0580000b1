"""The desk of things: how people handle them where they stand, one at a time or from hand to hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import GaitwayError, LimbError, PlanError
from gaitway.errands.belongings import Belongings, ThingState
from gaitway.errands.laden import LadenLibraries, LoadRoom, load_room
from gaitway.errands.orders import Pose
from gaitway.errands.reach_stops import meeting, targets
from gaitway.handling.carrying import Carry, hung
from gaitway.handling.clearing import CarriedForm
from gaitway.handling.grips import (
    ThingPose,
    grasp_place,
    grip_point,
    nearest_grasp,
    thing_carried,
    touch_place,
)
from gaitway.handling.handler import Handler, HandTask, raised
from gaitway.handling.motion import (
    FPS,
    LEAD,
    LIFT,
    HandMotion,
    arm_overlap,
    body_of,
    hand_middle,
    hand_motion,
    leg_seconds,
    overlap,
    still,
    thing_body,
)
from gaitway.limbs._stance_kernels import ARM
from gaitway.limbs.stance import HANDS
from gaitway.limbs.surroundings import Carried, OtherBody
from gaitway.motion.body import capsule_body
from gaitway.motion.clip import Clip
from gaitway.scene.errands import Handle
from gaitway.scene.things import HEAD, Thing
from gaitway.take.things import thing_facts

_SHOWN = (0.36, 0.06, 1.28)
"""Where a thing is held up: ahead, to the side of its hand, and above the floor [m]."""
_TILTS = tuple(math.radians(angle) for angle in (0.0, 12.0, 24.0))
"""How far back a thing may be tilted that is put on a head [rad]."""
_STAYS = (0.0, 0.6)
"""How long who takes a thing out of a hand stays there [s], one after another: the hand that gives goes first."""
_TOUCHING = 0.004
"""How deep two who give and take may touch one another [m]."""
_MIDDLE = 0.03
"""How far off its middle a thing is grasped if it is turned so that the hand is there [m]."""
_OFF = 0.14
"""How far a thing is lifted off a head before it goes elsewhere [m]."""


@dataclass(frozen=True, eq=False)
class Handled:
    """What somebody did with a thing."""

    clip: Clip
    """The motion in the world, with arms that hang at both ends; whether they carry is a layer's."""
    motion: HandMotion | None
    """None for who only stands still for somebody else."""


@dataclass(eq=False)
class HandlingDesk(Belongings):
    """How people handle the things of a run. This class is **mutable**."""

    seed: int = 0
    reaches: list[list[Any]] = field(default_factory=list)
    """For the audit: who, hand, verb, thing, time [s], target [m] and the point of the wrist joint's frame [m]."""
    carries: list[Carry] = field(default_factory=list)
    motions: dict[str, list[tuple[float, Clip]]] = field(default_factory=dict)
    """Motion of everybody who handles things, and when each begins [s]."""
    laden: LadenLibraries = field(default_factory=LadenLibraries)
    """Libraries of who carries something wide."""
    _since: dict[tuple[str, str], tuple[float, FloatArray, CarriedForm]] = field(default_factory=dict)

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
                self.put(thing.name, begins, ThingState(self.worn_pose(who), who, HEAD))
            else:
                if thing.rides is None:
                    state = ThingState(ThingPose.upright(self.ground.into(thing.at or ()), thing.yaw))
                else:
                    at = np.array(thing.at) - np.array([0.0, 0.0, self.ground.mover(thing.rides)[1]])
                    state = ThingState(ThingPose.upright(at, thing.yaw), thing.rides, "mover")
                self.put(thing.name, 0.0, state)

    def perform(self, who: str, pose: Pose, errand: Handle, hand: str, time: float) -> Handled:
        """Let somebody who stands at a pose do an errand alone, from a time on [s].

        Raises:
            LimbError: that says how far it got; nothing has changed then.
        """
        thing, state = self.things[errand.thing], self.states[errand.thing]
        handler = self.handler(who, pose, time, {errand.thing})
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
        one, two = self.handler(giver, pose, time, {errand.thing}), self.handler(getter, other, time, {errand.thing})
        home, mine = self.home(one, giver), self.home(two, getter)
        if state.part == HEAD:
            met = one.joint(home, HEAD).carried(state.pose)
            task = two.grasping(thing, hand, met, nearest_grasp(thing, met, other))
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
        meets = meeting(one, two, home, mine, thing, state, hand)
        giving, taking = meets.giving, meets.taking
        first = max(leg_seconds(one, giving, home, one.goal(giving, home, 0.0).posture),
                    leg_seconds(two, taking, mine, two.goal(taking, mine, 0.0).posture))  # fmt: skip
        empty, load = self._without(one, home, state.part), thing_carried(thing, state.pose)
        give = partial(hand_motion, one, giving, home, empty, before=load, first=first, beside=meets.beside, seed=seed)
        before = give(others=(body_of(self._stood(two, mine)),))
        at = before.wrist.carried(state.pose)
        taking = replace(taking, target=taking.target + at.at - meets.met.at)  # where the thing is in the motion
        shown, beside = body_of(before.clip), hand_middle(before.clip, state.part, before.reach)
        there = OtherBody(np.ascontiguousarray(shown.segments[before.reach : before.reach + 1]), shown.radii)
        among, bare = two.among((there,)), _body_without(before.clip, f"{state.part}_hand")
        in_hand = thing_body(thing, state.pose, before.clip, state.part, (0, before.reach))
        tried: list[tuple[float, int, HandMotion, HandMotion]] = []
        told: LimbError | None = None
        for number, stays in enumerate(_STAYS):
            take = partial(self._grasped, task=taking, thing=thing, hand=hand, at=at, home=mine, seed=seed, first=first,
                           stays=stays, beside=beside)  # fmt: skip
            # clear of the hand that gives and of the thing, if that is possible
            ways = (partial(take, who, others=others)
                    for who, others in ((among, (shown, in_hand)), (two, (bare, in_hand)), (two, (bare,))))  # fmt: skip
            try:
                motion = _first_found(ways)
            except LimbError as problem:
                told = told or problem
                continue
            pairs = [(before, motion)]
            if overlap(before.clip, motion.clip) > _TOUCHING:
                with suppress(LimbError):  # who gives withdraws around the hand that takes
                    pairs.append((give(others=(body_of(motion.clip),)), motion))
            for pair in pairs:
                same = float(np.linalg.norm(pair[0].wrist.at - before.wrist.at)) < 1e-6
                if same and pair[0].reach == pair[1].reach:
                    gone = thing_body(thing, at.within(pair[1].wrist), pair[1].clip, hand,
                                      (pair[1].reach, len(pair[1].clip)))  # fmt: skip
                    deep = max(overlap(pair[0].clip, pair[1].clip) - _TOUCHING, arm_overlap(in_hand, pair[1].clip, hand)
                               - _TOUCHING, arm_overlap(gone, pair[0].clip, state.part) - _TOUCHING, 0.0)  # fmt: skip
                    tried.append((round(deep, 6), number, *pair))
            if any(row[0] == 0.0 for row in tried):
                break
        if not tried:
            raise told or LimbError("the two hands are not at one place at one time")
        _, _, before, motion = min(tried, key=lambda row: row[:2])
        self._note(giver, errand, giving, one, before, time)
        self._end_carry(giver, state.part, time + before.clip.duration)
        self._got(getter, thing, hand, at, motion, two, taking, time, errand)
        return self._done(giver, one, before, time), self._done(getter, two, motion, time)

    def room(self, who: str, radius: float) -> LoadRoom | None:
        """Return the room that somebody with a radius [m] needs for what is carried; None without any."""
        return load_room(self, who, radius)

    def close(self) -> None:
        """Let whoever has a thing carry it to the end of the take."""
        for who, hand in list(self._since):
            self._end_carry(who, hand, math.inf)

    def facts(self) -> dict[str, Any]:
        """Return what a take says about things and reaches, as plain JSON values."""
        rows = {
            name: thing_facts(thing.shape, thing.size, thing.color, self.tracks[name], thing.mesh)
            for name, thing in self.things.items()
        }
        return self.ground.facts({"things": rows, "reaches": self.reaches})

    def _begin_held(self, thing: Thing, who: str, time: float) -> None:
        handler = self.handler(who, (0.0, 0.0, 0.0), time, set(self.things), bare=True)
        hand, limb = thing.hand, handler.limb(thing.hand)
        wrist = handler.wrist(handler.rest, hand)
        # upright in the hand as if it had just been grasped with the forearm level, by the side that is toward its hand
        turn = _level(handler, hand)
        grip, place = _turned(limb.turns[3], grip_point(limb, thing)), grasp_place(thing)
        level = ThingPose(wrist.at, turn)
        beside = math.hypot(*(place - thing.middle)[:2]) > _MIDDLE
        yaw = math.pi - math.atan2(place[1] - thing.middle[1], place[0] - thing.middle[0]) if beside else 0.0
        upright = ThingPose.upright(np.zeros(3), yaw)
        inner = ThingPose.upright(level.point(grip) - upright.point(place), yaw).within(level)
        self.put(thing.name, time, ThingState(inner, who, hand))
        self._begin_carry(handler, who, hand, thing, inner, time)

    def _take(
        self, who: str, handler: Handler, thing: Thing, hand: str, time: float, errand: Handle, seed: int
    ) -> Handled:
        state, home = self.states[thing.name], self.home(handler, who)
        worn = state.part == HEAD
        at = handler.joint(home, HEAD).carried(state.pose) if worn else self.pose_of(thing.name, time)
        number = nearest_grasp(thing, at, handler.clip.root_positions[0])
        task = handler.grasping(thing, hand, at, number)
        if state.part == "mover":  # where it will be when the hand is there
            goal = handler.goal(task, home, 0.0).posture
            at = self.pose_of(thing.name, time + round((LEAD + leg_seconds(handler, task, home, goal)) * FPS) / FPS)
            task = handler.grasping(thing, hand, at, number)
        motion = self._grasped(handler, task, thing, hand, at, home, (), seed)
        if not handler.above(thing, hand, motion.wrist, at):
            with suppress(LimbError):
                motion = self._grasped(handler, handler.from_above(thing, task, at), thing, hand, at, home, (), seed)
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
            spot = handler.joint(home, HEAD).carried(self.worn_pose(who)).at
            tasks = [handler.placing(thing, hand, state.pose, spot, None, (tilt,)) for tilt in _TILTS]
            task, motion = _first(handler, tasks, home, empty, None, _eyes_ahead(handler), seed)
            head = handler.clip.skeleton.roles["head"]
            places, turns = motion.clip.joint_transforms()
            worn = ThingPose(places[motion.leave, head], turns[motion.leave, head])
            after = ThingState(motion.wrist.carried(state.pose).within(worn), who, HEAD)
        else:
            spots = targets(self, _pose(handler), errand, time)
            tasks = [handler.placing(thing, hand, state.pose, spot, yaw) for spot, yaw in spots]
            task, motion = _first(handler, tasks, home, empty, load, None, seed)
            after = ThingState(motion.wrist.carried(state.pose))
        self._note(who, errand, task, handler, motion, time)
        self._end_carry(who, hand, time + motion.clip.duration)
        self.put(thing.name, time + motion.leave / FPS, after)
        return self._done(who, handler, motion, time)

    def _grasped(
        self, handler: Handler, task: HandTask, thing: Thing, hand: str, at: ThingPose, home: FloatArray,
        others: Sequence[OtherBody], seed: int, first: float | None = None, lift: float = LIFT, stays: float = 0.0,
        beside: FloatArray | None = None,
    ) -> HandMotion:  # fmt: skip
        """Return the motion that grasps a thing at a pose and brings it to where it is carried."""

        def grasped(goal: FloatArray) -> tuple[FloatArray, Carried]:
            inner = at.within(handler.wrist(goal, hand))
            return handler.carrying(thing, hand, inner, home), thing_carried(thing, inner)

        look = at.point(thing.middle)
        return hand_motion(
            handler,
            task,
            home,
            grasped=grasped,
            hold=stays,
            first=first,
            others=others,
            look=look,
            lift=lift,
            beside=beside,
            seed=seed,
        )

    def _got(
        self, who: str, thing: Thing, hand: str, at: ThingPose, motion: HandMotion, handler: Handler, task: HandTask,
        time: float, errand: Handle,
    ) -> None:  # fmt: skip
        """Note that somebody has a thing in a hand now."""
        inner = at.within(motion.wrist)
        self._note(who, errand, task, handler, motion, time)
        self.put(thing.name, time + motion.reach / FPS, ThingState(inner, who, hand))
        local = motion.clip.rotations[-1, handler.limb(hand).joints]
        number = HANDS.index(hand)
        self.arms[who, hand] = motion.after[ARM * number : ARM * (number + 1)]
        self._since[who, hand] = (time, np.array(local), _form(thing, inner))

    def _begin_carry(self, handler: Handler, who: str, hand: str, thing: Thing, inner: ThingPose, time: float) -> None:
        home, number = self.home(handler, who), HANDS.index(hand)
        arm = handler.carrying(thing, hand, inner, home)
        self.arms[who, hand] = arm[ARM * number : ARM * (number + 1)]
        local = handler.stander.applied(arm[None]).rotations[0, handler.limb(hand).joints]
        self._since[who, hand] = (time, np.array(local), _form(thing, inner))

    def _end_carry(self, who: str, hand: str, time: float) -> None:
        start, turns, form = self._since.pop((who, hand))
        self.arms.pop((who, hand), None)
        if time > start:
            self.carries.append(Carry(who, hand, start, time, turns, form))

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

    def _without(self, handler: Handler, home: FloatArray, hand: str) -> FloatArray:
        """Return a posture with one arm hanging; (22,)."""
        out, number = np.array(home), HANDS.index(hand)
        out[ARM * number : ARM * (number + 1)] = handler.rest[ARM * number : ARM * (number + 1)]
        return out

    def _stood(self, handler: Handler, home: FloatArray) -> Clip:
        return handler.stander.applied(home[None])

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
        return Handled(hung(raised(shown, -handler.height), handler.clip), motion)


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


def _first_found(ways: Iterable[Callable[[], HandMotion]]) -> HandMotion:
    """Return the first motion that is found."""
    told: LimbError | None = None
    for way in ways:
        try:
            return way()
        except LimbError as problem:
            told = told or problem
    raise told or LimbError("there is no way")


def _form(thing: Thing, inner: ThingPose) -> CarriedForm:
    """Return a thing in a hand; `inner` is its pose in the frame of the wrist joint."""
    return CarriedForm.of(thing.shape, thing.size, inner.at, inner.turn, thing.mesh)


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
    return np.array([x + 3.0 * math.cos(heading), y + 3.0 * math.sin(heading), handler.height + 1.5])


def _body_without(clip: Clip, *parts: str) -> OtherBody:
    """Return the capsules of a body over its motion without some parts, which meet somebody else's hand or thing."""
    body = body_of(clip)
    kept = [k for k, name in enumerate(capsule_body(clip.skeleton).names) if name not in parts]
    return OtherBody(np.ascontiguousarray(body.segments[:, kept]), body.radii[kept])
