"""Live companions on the way: all follow the way of the first of them, side by side, and who is ahead waits.

Everybody walks at one speed. So companions stay together if they set off at the same time, take the same side of what
is in the way, and if whoever gets ahead stops for those who are behind. How far somebody has come is measured along the
way of the first one, whatever the distance to the side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.errands.companions import chosen_sides
from gaitway.errands.orders import Pose
from gaitway.space.plan import Plan

_LOOK = 0.3
"""Time from one look of companions at one another to the next [s]."""
_SAMPLE = 0.2
"""Time from one point of a planned way to the next [s]."""
_AHEAD, _NEXT, _LED, _MOVED, _BEHIND = 4.5, 1.2, 2.5, 0.8, 1.3
"""How far ahead on the way of the first one the others are led, least distance to such a place, distance from it at which
they go to their own goals again, how far that place moves at a gate until they are sent anew, and how far behind the end
of the plan of the one before they stop there [m]."""
_OWN_PLACE = 4.0
"""Distance from the goal within which each goes to a place of its own [m]."""
_LEVEL, _FARTHER, _TOO_FAR, _UP, _IN_TIME = 0.1, 0.35, 2.3, 0.7, 0.4
"""How far ahead of the last one somebody still walks slowly, begins to, and stops, how far ahead those who wait go on [m],
and by how much sooner than the last one somebody may set off [s]."""
_STOPS, _NEAR, _WIDER, _ROUGHLY = 0.8, 0.8, 0.2, 0.7
"""How far ahead somebody stops after the move that goes on, how near to that at least, and by how much less near with
each try; and how near to a place beside the first one others come who are led there [m]."""
_STRAYS, _SHORT = 2.0, 3.5
"""Distance between ways of companions from which on the others are led, and length of a plan below which they are, since
others are in the way of a longer one [m]."""
_WAITS, _GOES_ON = 7.0, 3.0
"""Longest time for which somebody waits, and least time for which that one then goes on [s]."""
_SET_OFF, _ALL = 0.3, 1.0
"""Way after which somebody has set off [m], and longest time until companions who were told to go have joined [s]."""
_GATE, _FILE = 0.1, 0.85
"""Distance from obstacles beyond a radius at which there is room beside somebody, and distance from one to the next who
come through a gate one after another [m]."""
_STRETCH = np.arange(-1.2, 4.0, 0.3)
"""Places of the way around somebody at which that one looks for gates [m]."""
_BEFORE, _INSIDE, _ABREAST = 4, 6, 0.85
"""How many of these places are behind, how many ahead are so near that nobody stops there, and the distance of two
abreast [m]."""
Point = tuple[float, float]
Going = Literal["turns", "goes", "is led", "waits"]
"""What somebody does: stand until the time to set off, go to the own goal, be led along the way of the first one, or
wait for others."""


@dataclass(eq=False)
class Walker:
    """Somebody who walks with companions. This class is **mutable**."""

    name: str
    first: str
    """Who walks first."""
    goal: Point
    radius: float
    joined: float
    """When the walk began [s]."""
    going: Going = "goes"
    until: float = math.inf
    """When somebody who stands goes on at the latest [s]."""
    slow: bool = False
    """Whether the person walks slowly, for others are behind."""
    rests: float = -math.inf
    """When this one may wait again [s]."""
    slot: tuple[float, float] = (0.0, 0.0)
    """How far ahead and to the left of the first one the place is [m]."""
    rank: int = 0
    """How many come through a gate before."""
    aim: Point | None = None
    """Where the person is led [m]."""
    near: float = 0.0
    """How near to where it is told somebody stops [m]."""


@dataclass(frozen=True)
class CompanyWay:
    """The way of the first of some companions: where that one has come from, and is about to go."""

    points: FloatArray
    """Places [m]; (N, 2)."""
    lengths: FloatArray
    """How far along the way they are [m]; (N,)."""

    @classmethod
    def of(cls, trail: FloatArray, walk: Plan, now: float) -> CompanyWay:
        """Return the way that goes on from a trail (M, 2) by a plan, from a time on [s]."""
        knots = np.array([(s.time, *s.pose[:2]) for s in walk.steps] + [(walk.end_time, *walk.end_pose[:2])])
        times = np.arange(now + _SAMPLE, walk.end_time + _SAMPLE, _SAMPLE)
        ahead = np.column_stack([np.interp(times, knots[:, 0], knots[:, axis]) for axis in (1, 2)])
        points = np.concatenate([trail, ahead])
        return cls(points, np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))]))

    @property
    def length(self) -> float:
        """Length of the way [m]."""
        return float(self.lengths[-1])

    def passed(self, point: Point) -> float:
        """Return how far along the way somebody at a point has come [m]; before its begin that is below 0."""
        if self.length < 1e-6:
            return 0.0
        here, begins = np.asarray(point), self.points[:-1]
        steps, parts = np.diff(self.points, axis=0), np.diff(self.lengths)
        shares = ((here - begins) * steps).sum(axis=1) / np.maximum(parts, 1e-9) ** 2
        nearest = begins + np.clip(shares, 0.0, 1.0)[:, None] * steps
        k = int(np.argmin(np.hypot(*(here - nearest).T).round(6)))
        low = -math.inf if k == int(np.argmax(parts > 1e-6)) else 0.0
        return float(self.lengths[k] + parts[k] * min(max(float(shares[k]), low), 1.0))

    def at(self, lengths: FloatArray) -> FloatArray:
        """Return x, y [m] and the heading of the way [rad] at lengths along it [m]; (N, 3)."""
        poses = [np.interp(lengths + d, self.lengths, self.points[:, axis]) for d in (-0.4, 0.4) for axis in (0, 1)]
        heading = np.arctan2(poses[3] - poses[1], poses[2] - poses[0])
        x, y = (np.interp(lengths, self.lengths, self.points[:, axis]) for axis in (0, 1))
        return np.column_stack([x, y, heading])


class LiveCompany:
    """All who walk with companions. This class is **mutable**."""

    def __init__(
        self,
        pose: Callable[[str], Pose],
        plan: Callable[[str], Plan],
        go: Callable[[str], None],
        lead: Callable[[str, Point, float], None],
        pace: Callable[[str, bool], None],
        room: Callable[[FloatArray], FloatArray],
    ) -> None:
        """Begin without anybody.

        Args:
            pose: where somebody is, by name.
            plan: what somebody is about to do.
            go: sends somebody to the own goal.
            lead: sends somebody to a point, and within a distance from it [m].
            pace: lets somebody walk slowly, or as usual.
            room: distances of points (N, 2) to the nearest obstacle [m]; (N,).
        """
        self._pose, self._plan, self._go, self._lead = pose, plan, go, lead
        self._pace, self._room = pace, room
        self._walkers: dict[str, Walker] = {}
        self._looks: dict[str, float] = {}
        """When companions look at one another next [s], by the first of them."""
        self._sided: set[str] = set()
        """Whose others know where their places are, by the first of them."""
        self._trails: dict[str, list[Point]] = {}
        """Where the first ones have come from [m]."""

    def join(self, name: str, first: str, goal: Point, radius: float, time: float) -> None:
        """Let somebody who was sent to a goal walk with companions."""
        here = self._pose(name)[:2]
        if math.dist(here, goal) < _OWN_PLACE:
            return
        self._walkers[name] = Walker(name, first, goal, radius, time)
        if name == first:
            self._trails[first] = [here]
            self._sided.discard(first)
            self._looks[first] = time + _LOOK

    def leave(self, name: str) -> None:
        """Let somebody walk alone."""
        self._walkers.pop(name, None)
        if name in self._trails:
            del self._trails[name], self._looks[name]

    def is_elsewhere(self, name: str) -> bool:
        """Return whether somebody is not on the way to the own goal now, or waits."""
        return name in self._walkers and self._walkers[name].going != "goes"

    def step(self, time: float) -> None:
        """Let companions look at one another whose time has come."""
        for first in [first for first, when in self._looks.items() if when <= time]:
            self._looks[first] = time + _LOOK
            self._look(first, time)
        for walker in [one for one in self._walkers.values() if one.first not in self._trails]:
            self._alone(walker)

    def _look(self, first: str, time: float) -> None:
        people = {one.name: one for one in self._walkers.values() if one.first == first}
        leader = people[first]
        if first not in self._sided:
            if len(people) < 2 or not self._set_off(people, time):
                return
        here = self._pose(first)[:2]
        if math.dist(here, self._trails[first][-1]) > 0.1:
            self._trails[first].append(here)
        way = CompanyWay.of(np.array(self._trails[first]), self._plan(first), time)
        come = {name: way.passed(self._pose(name)[:2]) for name in people}
        order = sorted(people, key=lambda name: (-round(come[name], 3), people[name].rank))
        gates = {name: self._gates(one, way, come[name]) for name, one in people.items()}
        even = {
            name: come[name] + (k * _FILE if gates[name].any() else max(-people[name].slot[0], 0.0))
            for k, name in enumerate(order)
        }
        least = min(even.values())
        for k, name in enumerate(order):
            one, ahead = people[name], even[name] - least
            one.slow = ahead > (_LEVEL if one.slow else _FARTHER)
            gap = come[order[k - 1]] - come[name] if k and gates[name][_BEFORE:].any() else math.inf
            if one.going == "turns":
                if one.until <= time:
                    self._send_on(one, leader, way, come[name])
            elif one.going == "waits":
                if ahead < _UP or one.until <= time:
                    one.rests = time + (_GOES_ON if one.until <= time else 0.0)
                    self._send_on(one, leader, way, come[name])
                else:
                    self._stop(one)
            elif self._is_to_wait(one, ahead, gates[name], time):
                self._wait(one, time)
            else:
                if name != first:
                    self._lead_on(one, leader, way, come[name])
                self._pace(name, one.slow or gap < _FILE)

    def _is_to_wait(self, one: Walker, ahead: float, gates: BoolArray, time: float) -> bool:
        """Return whether somebody is to stop and wait for those behind.

        Args:
            one: the person.
            ahead: how far ahead of the last one [m].
            gates: whether the way is narrow from a little behind to some metres ahead.
            time: time now [s].
        """
        if time < one.rests or math.dist(self._pose(one.name)[:2], one.goal) < _OWN_PLACE:
            return False
        return ahead > _TOO_FAR and not bool(gates[: _BEFORE + _INSIDE].any())

    def _gates(self, one: Walker, way: CompanyWay, come: float) -> BoolArray:
        """Return whether there is room for one alone on the way from a little behind somebody to some metres ahead."""
        poses = way.at(come + _STRETCH)
        left = np.column_stack([-np.sin(poses[:, 2]), np.cos(poses[:, 2])])
        sides = [self._is_free(one, poses[:, :2] + side * _ABREAST * left) for side in (1.0, -1.0)]
        return np.asarray(~sides[0] & ~sides[1])

    def _set_off(self, people: Mapping[str, Walker], time: float) -> bool:
        """Let all set off at the same time, and choose places for the others; return whether that is done."""
        first = next(iter(people.values())).first
        goes = {name: self._goes_at(name) for name in people}
        if None in goes.values() and time - people[first].joined < _ALL:
            return False
        known = {name: when for name, when in goes.items() if when is not None}
        last = max(known.values(), default=time)
        for name, when in known.items():
            if last - when > _IN_TIME:
                steps = self._plan(name).steps
                next_step = steps[1].time if len(steps) > 1 else when
                people[name].going, people[name].until = "turns", last - max(when - next_step, 0.0)
                self._lead(name, self._pose(name)[:2], _NEAR)
        others = {name: self._pose(name)[:2] for name in people if name != first}
        chosen = chosen_sides(self._plan(first), time, others, lambda p: self._is_free(people[first], p))
        for name, (slot, rank) in chosen.items():
            people[name].slot, people[name].rank = slot, rank
        self._sided.add(first)
        return True

    def _goes_at(self, name: str) -> float | None:
        """Return when somebody who is about to walk leaves the place [s]; None if there is no plan yet."""
        plan, (x, y, _) = self._plan(name), self._pose(name)
        knots = [(s.time, *s.pose[:2]) for s in plan.steps] + [(plan.end_time, *plan.end_pose[:2])]
        times, xs, ys = np.array(knots).T
        far = np.hypot(xs - x, ys - y)
        if far[-1] < _SET_OFF:
            return None
        k = int(np.argmax(far > _SET_OFF))
        share = (_SET_OFF - far[k - 1]) / max(far[k] - far[k - 1], 1e-9) if k else 0.0
        return float(times[k] if k == 0 else times[k - 1] + share * (times[k] - times[k - 1]))

    def _beside(self, one: Walker, poses: FloatArray) -> BoolArray:
        """Return whether there is room on somebody's side of the first one at poses of that one (N, 3); (N,)."""
        left = np.column_stack([-np.sin(poses[:, 2]), np.cos(poses[:, 2])])
        return self._is_free(one, poses[:, :2] + one.slot[1] * left) & self._is_free(
            one, poses[:, :2] + 0.5 * one.slot[1] * left
        )

    def _is_free(self, one: Walker, points: FloatArray) -> BoolArray:
        return np.asarray(self._room(points) >= one.radius + _GATE, dtype=np.bool_)

    def _wait(self, one: Walker, time: float) -> None:
        """Let somebody stop for the others."""
        one.going, one.until, one.aim, one.near = "waits", time + _WAITS, None, _NEAR
        self._stop(one)

    def _stop(self, one: Walker) -> None:
        """Let somebody stop as soon as possible who is not about to."""
        plan, (x, y, heading) = self._plan(one.name), self._pose(one.name)
        if math.dist((x, y), plan.end_pose[:2]) < _STOPS + one.near:
            return
        if len(plan.steps) > 1:
            x, y, heading = plan.steps[1].pose
        one.near += _WIDER
        self._lead(one.name, (x + _STOPS * math.cos(heading), y + _STOPS * math.sin(heading)), one.near)

    def _send_on(self, one: Walker, leader: Walker, way: CompanyWay, come: float) -> None:
        """Send somebody on who stands."""
        one.going, one.until, one.aim = "goes", math.inf, None
        if one is leader or not self._lead_on(one, leader, way, come):
            self._go(one.name)

    def _lead_on(self, one: Walker, leader: Walker, way: CompanyWay, come: float) -> bool:
        """Send somebody whose own way is another one to the next place beside the first one; return whether led."""
        here = self._pose(one.name)[:2]
        ends = math.dist(way.points[-1].tolist(), leader.goal) < _NEXT
        if math.dist(here, one.goal) < _OWN_PLACE or (ends and come + _AHEAD > way.length):
            self._alone(one)
            return True
        gate = bool(self._gates(one, way, come).any())
        short = math.dist(here, self._plan(one.name).end_pose[:2]) < _SHORT < way.length - come - 1.0
        if one.going == "goes" and not gate and not short and not self._strays(one, way):
            return False
        there = min(come + _AHEAD, way.length)
        pose = way.at(np.array([there]))
        if beside := bool(self._beside(one, pose)[0]):
            left = np.array([-math.sin(pose[0, 2]), math.cos(pose[0, 2])])
            x, y = (pose[0, :2] + one.slot[1] * left).tolist()
        else:  # whoever comes after the first one stops behind that one's place
            there = min(come + _AHEAD, way.length - one.rank * _BEHIND)
            x, y, _ = way.at(np.array([there]))[0].tolist()
        if there - come < _NEXT:
            return one.going == "is led"
        if one.aim is None or (gate and math.dist((x, y), one.aim) > _MOVED):
            one.going, one.aim = "is led", (x, y)
            self._lead(one.name, (x, y), _ROUGHLY)
        elif math.dist(here, one.aim) < _LED and not gate and beside:
            one.going, one.aim = "goes", None
            self._go(one.name)
        return True

    def _strays(self, one: Walker, way: CompanyWay) -> bool:
        """Return whether somebody is about to get far from the way of the first one."""
        plan = self._plan(one.name)
        own = np.array([*(step.pose[:2] for step in plan.steps), plan.end_pose[:2]])
        gaps = np.hypot(*np.moveaxis(own[:, None] - way.points[None], -1, 0))
        nearest = np.argmin(gaps.round(6), axis=1)
        return bool((gaps[np.arange(len(own)), nearest][nearest < len(way.points) - 1] > _STRAYS).any())

    def _alone(self, one: Walker) -> None:
        """Let somebody go to the own goal."""
        self.leave(one.name)
        if one.going != "goes":
            self._go(one.name)
