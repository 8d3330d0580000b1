"""Reach stops: where somebody stands to reach, put down, give or take a thing, the most comfortable places first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import shapely

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import LimbError
from gaitway.errands.belongings import Belongings, ThingState
from gaitway.errands.orders import Pose
from gaitway.handling.grips import ThingPose, grasp_place, nearest_grasp, touch_place
from gaitway.handling.handler import Handler, HandTask, UnreachedError
from gaitway.handling.motion import body_of, hand_middle
from gaitway.handling.stepping import steps_clear
from gaitway.limbs.stance import HANDS
from gaitway.limbs.surroundings import OtherBody, inside
from gaitway.scene.errands import Handle
from gaitway.scene.things import ANY, HEAD, Thing
from gaitway.sitting.stepping import FARTHEST, step_aside
from gaitway.world.footprint import core_geometry
from gaitway.world.obstacle import PASSABLE

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
_NICHE = 0.16
"""Least distance from obstacles of who has stepped to a place, for a body of usual size [m]."""
_STEP_LENGTHS, _STEP_WAYS = (0.28, 0.4, 0.56, 0.8), (0.0, 0.7, -0.7, 1.5, -1.5)
"""Lengths of steps to such a place [m], and their directions beside straight towards what is reached for [rad]."""
_STEP_GAP, _STEPS_TESTED = 0.005, 24
"""Gap that such steps keep [m], and how many places are tested."""
_ALONG, _ALONG_TURN = FARTHEST - 0.01, math.radians(60.0)
"""Distance [m] and turn [rad] up to which people step aside to the place of a reach instead of walking there."""
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
_ROOM = ((0.01, 0.0), (0.003, 0.25))
"""Gaps between two people whose hands meet [m], one after another, and how much more uneasy that is."""
_UNDER, _TOUCHING = 1.0, 6.0
"""How much more uneasy it is to grasp a thing so that it cannot be put down again, and where two hands touch."""
_EASY = 0.75
"""How uneasy it may be for two people to let their hands meet somewhere, if no other place is to be looked at."""
_TALL, _BESIDE_MOVERS = 1.9, 0.42
"""Height up to which movers are in the way of who stands, and how far people stand from these to reach [m]."""
_GRID, _SPOTS = 0.1, 10
"""Distance between places on a thing where something is put [m], and how many of them are tried."""


@dataclass(frozen=True, eq=False)
class Meeting:
    """How two hands meet at a thing."""

    met: ThingPose
    """Where the thing is."""
    giving: HandTask
    taking: HandTask
    beside: FloatArray
    """Middle of the hand that gets it [m]; (3,)."""


@dataclass(frozen=True, eq=False)
class Stop:
    """Where somebody stands to reach something."""

    pose: Pose
    hand: str
    ahead: tuple[float, float]
    """Direction [rad] and distance [m] to a place with usual room."""
    step: Pose | None = None
    """Where a step from there leads first, from where the reach is; None for a reach without a step."""


def stops(
    owned: Belongings,
    who: str,
    pose: Pose,
    radius: float,
    errand: Handle,
    time: float,
    free: Callable[[FloatArray], BoolArray],
) -> list[Stop]:
    """Return the best places for an errand with a thing that nobody else has, the most comfortable first.

    Args:
        owned: where things are, and who has them.
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
    wanted = list(targets(owned, pose, errand, time))
    for spare in _SPARES:
        for spot, yaw in wanted:
            goal = ThingPose.upright(spot, yaw or 0.0)
            try:
                return _stops_for(owned, who, pose, radius, errand, goal, yaw, time, free, spare)
            except LimbError as problem:
                told = problem
        for spot, yaw in wanted if spare == _SPARES[0] else ():  # a step needs less room than a walk
            goal = ThingPose.upright(spot, yaw or 0.0)
            if found := _stepping_stops(owned, who, pose, radius, errand, goal, yaw, time, free):
                return found
    raise told or LimbError(f"there is no room for '{errand.thing}' on '{errand.on}'")


def steps_along(owned: Belongings, who: str, pose: Pose, there: Pose, time: float) -> bool:
    """Return whether a few steps aside lead to a place that is near, as along a worktop, and touch nothing.

    Args:
        owned: where things are, and who has them.
        who: the person.
        pose: where that person stands.
        there: the place.
        time: when [s].
    """
    turn = abs(math.remainder(there[2] - pose[2], math.tau))
    if math.dist(pose[:2], there[:2]) > _ALONG or turn > _ALONG_TURN:
        return False
    height = owned.ground.height(*pose[:2])
    if height is None or height != owned.ground.height(*there[:2]):
        return False
    clip = step_aside(owned.library(who), np.array(pose), np.array(there), height)
    if clip is None:
        return False
    handler = owned.handler(who, there, time, set())
    return steps_clear(clip, handler.world, time, _STEP_GAP)


def stops_before(
    owned: Belongings, who: str, other: str, pose: Pose, radius: float, errand: Handle, time: float,
    free: Callable[[FloatArray], BoolArray],
) -> list[Stop]:  # fmt: skip
    """Return places before somebody who stands, to give or take a thing; see `stops`."""
    x, y, heading = pose
    told: LimbError | None = None
    found: list[Stop] = []
    sides = _ALL_AROUND if owned.states[errand.thing].part == HEAD else _BESIDE
    for apart in _APART:
        for turn in sides:
            way = heading + turn
            point = np.array([x + apart * math.cos(way), y + apart * math.sin(way)])
            if owned.clearance(point[None])[0] < radius or not free(point[None])[0]:
                continue
            stop = (float(point[0]), float(point[1]), math.remainder(way + math.pi, math.tau))
            try:
                hand = _try_exchange(owned, who, stop, other, pose, errand, time)
            except LimbError as problem:
                told = told or problem
                continue
            found.append(Stop(stop, hand, (way, 0.2)))
            if len(found) == _KEPT:
                return found
    if not found:
        raise told or LimbError(f"there is no room before '{other}'")
    return found


def targets(owned: Belongings, pose: Pose, errand: Handle, time: float) -> Iterator[tuple[FloatArray, float | None]]:
    """Yield where the thing is or goes to [m], and how it is turned there [rad], the best first."""
    if errand.verb != "put":
        now = owned.pose_of(errand.thing, time)
        yield now.at, _yaw(now)
    elif errand.at is not None:
        yield owned.ground.into(errand.at), errand.yaw
    else:
        yield from ((spot, None) for spot in _spots_on(owned, pose, errand))


def _spots_on(owned: Belongings, pose: Pose, errand: Handle) -> list[FloatArray]:
    """Return free places on top of an obstacle [m], the nearest to somebody first."""
    thing = owned.things[errand.thing]
    obstacle = owned.ground.obstacle(errand.on or "")
    x0, y0, x1, y1 = obstacle.shape.footprint().bounds
    top, half = obstacle.shape.heights[1], 0.5 * max(thing.size[:2]) + 0.015
    grid = [(x, y) for x in _even(x0 + half, x1 - half) for y in _even(y0 + half, y1 - half)]
    taken = [(one.pose.at, 0.5 * max(owned.things[name].size[:2])) for name, one in owned.states.items()
             if one.who is None and name != errand.thing and abs(one.pose.at[2] - top) < 0.3]  # fmt: skip
    clear = [p for p in grid if all(math.dist(p, at[:2]) > size + half + 0.02 for at, size in taken)]
    clear.sort(key=lambda p: (round(math.dist(p, pose[:2]), 6), p))
    return [np.array([x, y, top]) for x, y in clear[:_SPOTS]]


def _stops_for(
    owned: Belongings, who: str, pose: Pose, radius: float, errand: Handle, target: ThingPose, yaw: float | None,
    time: float, free: Callable[[FloatArray], BoolArray], spare: float,
) -> list[Stop]:  # fmt: skip
    bare = owned.handler(who, (0.0, 0.0, 0.0), time, set(owned.things), bare=True)
    size, thing = float(bare.stander.table.size), owned.things[errand.thing]
    if (name := inside(owned.world, _aim(thing, errand, target, pose))) is not None:
        raise LimbError(f"'{thing.name}' cannot be reached: it is inside '{name}'")
    ranked: list[tuple[float, int, Stop]] = []
    told: LimbError | None = None
    shortest, slopes = math.inf, False
    known: dict[tuple[Any, ...], FloatArray | LimbError] = {}
    movers = _mover_plans(owned, time)
    for number, (point, way) in enumerate(_ring(target.at, size)):
        if owned.clearance(point[None])[0] < size * _LEAST_ROOM or not free(point[None])[0]:
            continue
        if any(float(shapely.distance(plan, shapely.Point(point))) < size * _BESIDE_MOVERS for plan in movers):
            continue
        if (height := owned.ground.height(float(point[0]), float(point[1]))) is None:
            slopes = True
            continue
        back = _ahead(owned, point, way, radius)
        if back is None:
            continue
        for hand in owned.hands(who, errand):
            side = 1.0 if hand == "right" else -1.0
            heading = math.remainder(way + math.pi + side * _ASIDE, math.tau)
            if owned.spare(who, (float(point[0]), float(point[1]), heading)) < spare:
                continue
            seen = target.within(ThingPose.upright((point[0], point[1], height), heading))
            home = owned.home(bare, who)
            task = _task(owned, bare, who, errand, hand, seen, None if yaw is None else yaw - heading)
            task = replace(task, ways=task.ways[:1] if errand.verb == "take" else task.ways[::2])
            # seen from around, what is reached for is mostly at the same place
            key = (hand, *np.round(task.target, 3), None if yaw is None else round(yaw - heading, 3))
            if key not in known:
                known[key] = _tried(bare, task, home)
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
            handler = owned.handler(who, stop.pose, time, {errand.thing})
            home = owned.home(handler, who)
            posture = handler.goal(_task(owned, handler, who, errand, stop.hand, target, yaw), home, 0.005).posture
        except LimbError as problem:
            told = problem
            continue
        cost = handler.uneasiness(posture, home, stop.hand) + _LEFT * (stop.hand == "left")
        cost += _WAY * math.dist(stop.pose[:2], pose[:2])
        tested.append((round(cost, 6), number, stop))
    kept = [stop for _, _, stop in sorted(tested, key=lambda row: row[:2])[:_KEPT]]
    if not kept:
        nowhere = "the ground slopes around it" if slopes else "there is nowhere to stand near it"
        why = str(told) if told is not None else nowhere
        if isinstance(told, UnreachedError):
            why = told.why  # its place is that of somebody at the origin
        raise LimbError(f"'{thing.name}' cannot be reached: {why}")
    return kept


def _mover_plans(owned: Belongings, time: float) -> list[shapely.Geometry]:
    """Return the floor area of each mover at a time [s], which the clearance of a place knows nothing of."""
    plans = []
    for mover in owned.world.movers:
        shown = mover.at(time)
        footprint = shown.shape.footprint(0.0, _TALL)
        if shown.kind != PASSABLE and not footprint.empty:
            plans.append(core_geometry(footprint).buffer(footprint.radius))
    return plans


def _stepping_stops(
    owned: Belongings, who: str, pose: Pose, radius: float, errand: Handle, target: ThingPose, yaw: float | None,
    time: float, free: Callable[[FloatArray], BoolArray],
) -> list[Stop]:  # fmt: skip
    """Return places from where one step leads to where a reach is possible and nobody can walk; none if there is none.

    A step needs less room than a walk: into a niche, between two things (Kallmann et al. 2003, section 7).
    """
    bare = owned.handler(who, (0.0, 0.0, 0.0), time, set(owned.things), bare=True)
    size, found, tested = float(bare.stander.table.size), list[Stop](), 0
    for point, way in _ring(target.at, size):
        height = owned.ground.height(float(point[0]), float(point[1]))
        if height is None or owned.clearance(point[None])[0] < size * _NICHE or not free(point[None])[0]:
            continue
        for hand in owned.hands(who, errand):
            heading = math.remainder(way + math.pi + (_ASIDE if hand == "right" else -_ASIDE), math.tau)
            there = (float(point[0]), float(point[1]), heading)
            begins = [begin for begin in _begins(there, way, size) if _has_room(owned, begin[:2], radius, free, height)]
            if not begins or tested == _STEPS_TESTED:
                continue
            tested += 1
            try:
                handler = owned.handler(who, there, time, {errand.thing})
                home = owned.home(handler, who)
                handler.goal(_task(owned, handler, who, errand, hand, target, yaw), home, 0.005)
            except LimbError:
                continue
            for begin in begins:
                if owned.spare(who, begin) < _SPARES[0]:
                    continue
                clip = step_aside(owned.library(who), np.array(begin), np.array(there), height)
                if clip is not None and steps_clear(clip, handler.world, time, _STEP_GAP):
                    away = math.atan2(begin[1] - there[1], begin[0] - there[0])
                    found.append(Stop(begin, hand, (away, _AHEAD[0]), there))
                    break
            if len(found) == _KEPT:
                return found
    return found


def _begins(there: Pose, way: float, size: float) -> Iterator[Pose]:
    """Yield places from which a step leads to another one, the shortest steps first."""
    for length in _STEP_LENGTHS:
        for aside in _STEP_WAYS:
            x, y = (there[k] + size * length * (math.cos, math.sin)[k](way + aside) for k in (0, 1))
            yield x, y, there[2]


def _has_room(
    owned: Belongings, point: Sequence[float], radius: float, free: Callable[[FloatArray], BoolArray], height: float
) -> bool:
    """Return whether somebody can walk to a point on the same floor and stop there."""
    at = np.array([point], dtype=np.float64)
    roomy = owned.clearance(at)[0] >= radius + 0.1 and bool(free(at)[0])
    return roomy and owned.ground.height(float(point[0]), float(point[1])) == height


def _tried(handler: Handler, task: HandTask, home: FloatArray) -> FloatArray | LimbError:
    """Return a posture that fulfils a task, or why there is none."""
    try:
        return handler.goal(task, home, 0.0).posture
    except LimbError as problem:
        return problem


def _ahead(owned: Belongings, point: FloatArray, way: float, radius: float) -> tuple[float, float] | None:
    """Return direction and distance from a place to one with usual room, away from what is reached for."""
    out = np.array([math.cos(way), math.sin(way)])
    if owned.clearance((point + _BEHIND * out)[None])[0] < radius + 0.1:
        return None
    for far in _AHEAD:
        if owned.clearance((point + far * out)[None])[0] >= radius + 0.1:
            return way, far
    return None


def _aim(thing: Thing, errand: Handle, target: ThingPose, pose: Pose) -> FloatArray:
    """Return the point that a hand goes to, or the middle of a thing that is put down [m]; (3,)."""
    if errand.verb in ("touch", "press", "hold"):
        return touch_place(thing, target, pose[:2])
    return target.point(thing.middle if errand.verb == "put" else grasp_place(thing))


def _task(
    owned: Belongings, handler: Handler, who: str, errand: Handle, hand: str, target: ThingPose, yaw: float | None
) -> HandTask:
    thing = owned.things[errand.thing]
    root = handler.clip.root_positions[0]
    if errand.verb == "put":
        return handler.placing(thing, hand, owned.states[errand.thing].pose, target.at, yaw)
    if errand.verb == "take":
        return handler.grasping(thing, hand, target, nearest_grasp(thing, target, root))
    return handler.touching(hand, touch_place(thing, target, root[:2]))


def _try_exchange(owned: Belongings, who: str, stop: Pose, other: str, pose: Pose, errand: Handle, time: float) -> str:
    """Return the hand with which a thing is got, if two people who stand at these places can exchange it."""
    state, thing = owned.states[errand.thing], owned.things[errand.thing]
    giving = errand.verb == "give"
    getter, giver = (other, who) if giving else (who, other)
    spots = {who: stop, other: pose}
    one, two = (owned.handler(name, spots[name], time, {errand.thing}) for name in (giver, getter))
    free = [hand for hand in HANDS if owned.holds(getter, hand) is None]
    if not giving and errand.hand != ANY:
        free = [hand for hand in free if hand == errand.hand]
    free.sort(key=lambda hand: hand != state.part)
    told: LimbError | None = None
    for hand in free:
        try:
            home, mine = owned.home(one, giver), owned.home(two, getter)
            if state.part == HEAD:
                met = one.joint(home, HEAD).carried(state.pose)
                two.goal(two.grasping(thing, hand, met, nearest_grasp(thing, met, spots[getter])), mine, 0.0)
            else:
                meeting(one, two, home, mine, thing, state, hand)
            return hand
        except LimbError as problem:
            told = told or problem
    raise told or LimbError(f"'{getter}' has no hand free")


def meeting(
    one: Handler, two: Handler, home: FloatArray, mine: FloatArray, thing: Thing, state: ThingState, hand: str
) -> Meeting:
    """Return how the hands of who gives a thing and of who gets it meet.

    Of all ways to hold it out and to grasp it there, the easiest for both is taken. Both hands should have room, and
    who gets the thing should be able to put it down again.
    """
    a, b = one.clip.root_positions[0], two.clip.root_positions[0]
    size = 0.5 * (float(one.stander.table.size) + float(two.stander.table.size))
    floor = float(one.stander.table.ankles[:, 2].min()) - 0.08 * size
    told: LimbError | None = None
    best, chosen = math.inf, None
    for share, high in product((0.5, 0.45, 0.55), (_MET, _MET - 0.08, _MET + 0.1)):
        spot = np.array([*(a + share * (b - a))[:2], floor + size * high]) - np.array(thing.middle)
        held_out = one.placing(thing, state.part, state.pose, spot, None)
        for way in held_out.ways:
            giving = replace(held_out, ways=(way,))
            try:
                goal = one.goal(giving, home, 0.0).posture
                met, strain = one.wrist(goal, state.part).carried(state.pose), one.uneasiness(goal, home, state.part)
                shown = body_of(one.stander.applied(goal[None]))
                cost, posture, taking = _passed(two, thing, hand, met, mine, shown, best - strain)
            except LimbError as problem:
                told = told or problem
                continue
            if strain + cost < best - 1e-6:
                middle = hand_middle(two.stander.applied(posture[None]), hand)
                best, chosen = strain + cost, Meeting(met, giving, taking, middle)
        if best < _EASY:
            break
    if chosen is None:
        raise told or LimbError("the two hands meet nowhere")
    return chosen


def _passed(
    two: Handler, thing: Thing, hand: str, met: ThingPose, mine: FloatArray, other: OtherBody, most: float
) -> tuple[float, FloatArray, HandTask]:
    """Return how uneasy the best grasp of a thing is that somebody else holds out, its posture (22,), and its task.

    Raises:
        LimbError: if it cannot be reached, or is more uneasy than `most` for sure.
    """
    number = nearest_grasp(thing, met, two.clip.root_positions[0])
    task, among = two.passed(thing, hand, met, number), two.among((other,))
    gaps, above = two.hand_gaps(task, other), two.above_ways(task, met)
    for (fine, under), (room, tight) in product(((above, 0.0), (~above, _UNDER)), _ROOM):
        if under + tight < most:
            kept = task.only(fine & (gaps >= room))
            with suppress(LimbError):
                posture = among.goal(kept, mine, room, bends=False).posture
                return under + tight + two.uneasiness(posture, mine, hand), posture, kept
    if most < _TOUCHING:
        raise LimbError(f"the {hand} hand finds no grasp that is as easy as another one")
    usual = two.grasping(thing, hand, met, number)
    posture = two.goal(usual, mine, 0.0).posture
    return _TOUCHING + two.uneasiness(posture, mine, hand), posture, usual


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
