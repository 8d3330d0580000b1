"""Reasons why a live character does not get on: the character or obstacle in its way, as far as it can be found."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.live.engine import LiveEngine
from gaitway.live.planning._subgoal_kernels import subgoal_of
from gaitway.live.playing import _playing_kernels as playing
from gaitway.live.playing._crowd_kernels import CrowdArrays
from gaitway.space.query import OTHER_PART
from gaitway.world.exact import footprint_distance
from gaitway.world.obstacle import Obstacle
from gaitway.world.world import World

_AHEAD = 2.5
"""Length of the route ahead that is looked at [m]."""
_BESIDE = 0.6
"""Obstacles no farther than this from the route ahead are in the way [m]."""
_CUT_OFF = 2.0
"""Largest distance of the obstacle that is named where a goal cannot be reached at all [m]."""
_SPACING = 0.25
"""Distance between the points of the route that are looked at [m]."""


class Blocker(NamedTuple):
    """The character or obstacle that blocks a character."""

    reason: str
    """The reason in one sentence, with the other character as `{who}`."""
    character: int = -1
    """Number of the character in the engine, or -1."""
    obstacle: int = -1
    """Number of the obstacle in the world, or -1."""
    behind: tuple[int, ...] = ()
    """Characters in the way of the one that blocks, each in the way of the one before."""


def blocker_of(engine: LiveEngine, me: int) -> Blocker:
    """Return what keeps a character from its goal; planning of the latest step must be done."""
    chain = None if engine.mixture is None else engine.mixture.in_the_way(me)
    if chain:
        return Blocker("{who} is in the way", chain[0], behind=tuple(chain[1:]))
    crowd, library = engine.plans, engine.libraries[int(engine.library_numbers(np.array([me]))[0])]
    planner = engine.planner(library.number)
    goal = crowd.numbers[me, [playing.GOAL_X, playing.GOAL_Y]]
    here = crowd.steps[me, -1, :2]
    if float(planner.fields.clearance(goal)) <= 0.0:
        return _at(engine.world, goal, "the goal")
    tolerance = float(crowd.numbers[me, playing.TOLERANCE])
    if not planner.fields.parts.connected(here, goal, tolerance) and int(planner.fields.parts.at(here)):
        found = obstacle_near(engine.world, here[None], _CUT_OFF)
        return Blocker(
            f"{OTHER_PART}; {found.reason}" if found else OTHER_PART, obstacle=found.obstacle if found else -1
        )
    others = _others(crowd, me)
    room = np.array([library.apart(other) for other in engine.libraries])[engine.library_numbers(others)]
    away = np.hypot(*(crowd.steps[others, -1, :2] - goal).T) - room
    if len(others) and away.min() < 0.0:
        who = int(others[int(np.argmin(away))])
        return Blocker("{who} rests at the goal, or too near to it", who)
    route = int(crowd.counts[me, playing.ROUTE])
    (hx, hy), (gx, gy) = here.tolist(), goal.tolist()
    x, y, _ = subgoal_of(planner.routes.handle, route, hx, hy, gx, gy, _AHEAD)
    points = _between(here, np.array([x, y]))
    at = crowd.steps[others, -1, :2]
    now_at = crowd.steps[others, crowd.counts[others, playing.FIRST], :2]
    gaps = np.minimum(_gaps(points, at), _gaps(points, now_at)) - room
    if len(others) and gaps.min() < 0.0:
        who = int(others[int(np.argmin(gaps))])
        return Blocker("{who} is in the way", who)
    return obstacle_near(engine.world, points, _BESIDE) or Blocker("no free plan was found")


def room_at(engine: LiveEngine, x: float, y: float, library: int) -> Blocker:
    """Return what takes up a place in which a character was to be put."""
    crowd, own = engine.plans, engine.libraries[library]
    place = np.array([x, y])
    x0, y0, x1, y1 = engine.world.bounds
    if not (x0 <= x <= x1 and y0 <= y <= y1):
        return Blocker("the start is out of bounds")
    others = _others(crowd, -1)
    away = np.minimum(
        np.hypot(*(crowd.steps[others, -1, :2] - place).T),
        np.hypot(*(crowd.steps[others, crowd.counts[others, playing.FIRST], :2] - place).T),
    )
    if len(others) and away.min() < 2.0 * own.extent.widest:
        who = int(others[int(np.argmin(away))])
        return Blocker("{who} is at the start or will pass there", who)
    return obstacle_near(engine.world, place[None], own.extent.widest) or Blocker("there is no room at the start")


def obstacle_near(world: World, points: FloatArray, within: float) -> Blocker | None:
    """Return the obstacle that is nearest to points (N, 2), if it is within a distance [m]."""
    solid = [(number, o) for number, o in enumerate(world.obstacles) if o.kind != "passable"]
    gaps = [float(footprint_distance([o.shape.footprint()], points).min()) for _, o in solid]
    if not gaps or min(gaps) > within:
        return None
    number, obstacle = solid[int(np.argmin(gaps))]
    return Blocker(f"{_called(number, obstacle)} is in the way", obstacle=number)


def _at(world: World, place: FloatArray, what: str) -> Blocker:
    found = obstacle_near(world, place[None], 0.5)
    if found is None:
        return Blocker(f"{what} is out of bounds")
    name = _called(found.obstacle, world.obstacles[found.obstacle])
    return Blocker(f"{what} is in {name}", obstacle=found.obstacle)


def _called(number: int, obstacle: Obstacle) -> str:
    """Return an obstacle as plans and audits call it."""
    return f"'{obstacle.name or f'{obstacle.kind} {number}'}'"


def _others(crowd: CrowdArrays, me: int) -> IntArray:
    there = crowd.counts[:, playing.STATUS] != playing.EMPTY
    if me >= 0:
        there[me] = False
    return np.flatnonzero(there)


def _between(start: FloatArray, end: FloatArray) -> FloatArray:
    """Return points on the line between two points; (N, 2)."""
    count = max(int(np.hypot(*(end - start)) / _SPACING), 1)
    return np.linspace(start, end, count + 1)


def _gaps(points: FloatArray, places: FloatArray) -> FloatArray:
    """Return the least distance of each of some places (M, 2) from points (N, 2) [m]; (M,)."""
    if not len(places):
        return np.empty(0)
    out: FloatArray = np.hypot(*np.moveaxis(places[:, None] - points, -1, 0)).min(axis=1)
    return out
