"""A scene whose planner is `deform`, lived: people squeeze through gaps, and bend their walk around what is moved."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from gaitway._version import __version__
from gaitway.core.arrays import FloatArray, SingleArray
from gaitway.core.errors import GaitwayError, StudioError
from gaitway.deform.walker import DeformCrowd, DeformWalker
from gaitway.live import LiveCounts
from gaitway.motion.clip import Clip
from gaitway.scene.characters import Character
from gaitway.scene.scene import Scene
from gaitway.studio.frames import StudioErrand, StudioRoute, StudioTrouble
from gaitway.studio.live_play import WithoutErrands
from gaitway.studio.stage import Place, Pose, Spot
from gaitway.take.evaluation import Joints
from gaitway.take.model import Take
from gaitway.take.tracks import assemble, lay_track
from gaitway.world.levels.floors import has_levels

_LEADS, _SIDE, _STOP, _WITHIN = (5.0, 3.5, 2.5, 1.5), 0.8, 1.0, 0.4
"""Distances [m] and angle to the side [rad] of the goal of somebody who is driven, and distance ahead at which it stops
when its keys are let go, and from the bounds [m]."""
_AGAIN = 1.0
"""Time between attempts to put people in for whom there was no room [s]."""
_MINUTES = 5.0
"""Length of what is recorded [min]."""
_SLACK = 1e-6
_NOBODY: Mapping[str, Pose] = MappingProxyType({})
_NOTHING: Mapping[str, Spot] = MappingProxyType({})


class _Shown(NamedTuple):
    """One frame of one person."""

    time: float
    behavior: str
    root: FloatArray
    rotations: SingleArray


class DeformPlay(WithoutErrands):
    """The live people of a scene that is planned by `deform`, by name. This class is **mutable**.

    Its methods are those of `LivePlay`.

    Attributes:
        crowd: the people.
        left_out: names of those for whom there was no room at first.
    """

    def __init__(self, scene: Scene, say: Callable[[str], None] | None = None) -> None:
        """Put everybody where the scene says.

        Args:
            scene: the scene.
            say: called with what is being done.
        """
        (say or (lambda text: None))("preparing fragments")
        self._ends: dict[str, tuple[Spot, Spot]] = {}
        self._driven: dict[str, tuple[float, float, int]] = {}
        self._asked: dict[str, Spot] = {}
        self._gone: Mapping[str, Pose] = {}
        self._back: dict[str, Pose] = {}
        self._outside: list[Character] = []
        self._tried, self._due, self._arrivals = 0.0, 0.0, 0
        self._spent = (0.0, 0.0)
        self._shown: dict[str, deque[_Shown]] = {}
        self._skeletons: dict[str, Clip] = {}
        self.crowd = DeformCrowd(replace(scene, characters=()))
        self.left_out = self.enter(scene)

    @property
    def time(self) -> float:
        """Time now [s]."""
        return self.crowd.time

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all people, in the order of `joints`."""
        return tuple(walker.name for some in self._by_skeleton() for walker in some)

    @property
    def counts(self) -> LiveCounts:
        """What has happened so far."""
        walkers = self.crowd.walkers
        tried = sum(walker.effort[1] for walker in walkers)
        stuck = sum(bool(walker.hindered) for walker in walkers)
        planning, evaluation = self._spent
        return LiveCounts(
            characters=len(walkers), there=sum(walker.arrived for walker in walkers),
            plans=sum(walker.began for walker in walkers), failures=stuck, arrivals=self._arrivals, tries=tried,
            tests=tried, searches=0, in_throng=0, planning_ms=planning, planning_cpu_ms=planning,
            planning_serial_ms=planning, advancing_ms=0.0, evaluation_ms=evaluation, evaluation_cpu_ms=evaluation,
        )  # fmt: skip

    def enter(
        self, scene: Scene, orders: Mapping[str, Spot] = _NOTHING, gone: Mapping[str, Pose] = _NOBODY
    ) -> tuple[str, ...]:
        """Take the world and the people of a scene; see `LivePlay.enter`."""
        if scene.world is not self.crowd.world:
            self.crowd.change(scene.world)
        self._scene = scene
        wanted = {c.name: c for c in scene.characters if c.name not in gone}
        self.remove([walker.name for walker in self.crowd.walkers if walker.name not in wanted])
        self._back |= {name: pose for name, pose in self._gone.items() if name not in gone}
        self._gone = gone
        asked: dict[str, Spot] = {name: orders[name][:2] if name in orders else c.goal for name, c in wanted.items()}
        there = {walker.name: walker for walker in self.crowd.walkers}
        for name, character in wanted.items():
            changed = name in there and self._asked.get(name) != asked[name]
            if changed or name not in there:
                self._ends[name] = (asked[name] if name in orders else character.start[:2], asked[name])
                self._driven.pop(name, None)
            if changed:
                there[name].send(_place(asked[name]))
        self._asked = asked
        self._outside = [c for name, c in wanted.items() if name not in there]
        self._let_in()
        return tuple(c.name for c in self._outside)

    def remove(self, names: list[str]) -> None:
        """Take people out."""
        for name in names:
            self._walker(name)
        for name in names:
            self.crowd.remove(name)
            self._ends.pop(name, None)
            self._driven.pop(name, None)
            self._shown.pop(name, None)

    def set_goal(self, name: str, x: float, y: float, floor: str = "") -> Spot:
        """Send somebody elsewhere; return where. When it is there it stays."""
        walker = self._walker(name)
        if floor:
            raise StudioError(f"the scene has no floor '{floor}': it has one floor only")
        x0, y0, x1, y1 = self.crowd.world.bounds
        if not (x0 <= x <= x1 and y0 <= y <= y1):
            raise StudioError(f"({x:g}, {y:g}) is outside the bounds of the scene")
        walker.send((x, y))
        self._driven.pop(name, None)
        self._ends[name], self._asked[name] = ((x, y), (x, y)), (x, y)
        return x, y

    def drive(self, name: str, forward: float, turn: float) -> Place | None:
        """Let somebody be driven by keys; see `LivePlay.drive`."""
        walker = self._walker(name)
        if forward or turn:
            if self._driven.get(name, (0.0, 0.0, 0))[:2] != (forward, turn):
                self._driven[name] = (forward, turn, -1)
            return None
        x, y, heading = walker.heads_from
        place = self._clipped(x + _STOP * math.cos(heading), y + _STOP * math.sin(heading))
        self.set_goal(name, *place)
        return place

    def pose(self, name: str) -> Pose:
        """Return where somebody is, x, y [m], and its heading [rad]."""
        x, y, heading = self._walker(name).pose.planar_path()[0].tolist()
        return x, y, heading

    def step(self, dt: float) -> None:
        """Go on by some time [s]: as many frames as have passed by then."""
        self._due += dt
        walkers = self.crowd.walkers
        frame = 1.0 / (walkers[0].fps if walkers else 30.0)
        began = time.perf_counter()
        while self._due >= frame - _SLACK:
            self._due -= frame
            if self._outside and self.time - self._tried >= _AGAIN:
                self._let_in()
            self._steer()
            self.crowd.step()
            self._hear()
            self._record()
        self._spent = (1e3 * (time.perf_counter() - began), self._spent[1])

    def errands(self, name: str) -> tuple[StudioErrand, ...]:
        """Return what somebody has done: nothing where nobody does errands."""
        self._walker(name)
        return ()

    def troubles(self) -> tuple[StudioTrouble, ...]:
        """Return who cannot get on, or has no room to come in, and why."""
        stuck = [
            StudioTrouble("stuck", (walker.name,), walker.hindered, self.time - walker.waited / walker.fps)
            for walker in self.crowd.walkers
            if walker.hindered
        ]
        outside = [
            StudioTrouble("no room", (c.name,), "there is no room at its start", self._tried, place=(*c.start[:2], 0.0))
            for c in self._outside
        ]
        return (*stuck, *outside)

    def joints(self) -> tuple[Joints, ...]:
        """Return world positions and rotations of all joints now, one part for each skeleton."""
        began, out, count = time.perf_counter(), list[Joints](), 0
        for some in self._by_skeleton():
            poses = replace(
                some[0].pose,
                root_positions=np.stack([walker.root for walker in some]),
                rotations=np.stack([walker.rotations for walker in some]),
            )
            positions, turns = poses.joint_transforms()
            out.append(Joints(poses.skeleton, np.arange(count, count + len(some)), positions, turns))
            count += len(some)
        self._spent = (self._spent[0], 1e3 * (time.perf_counter() - began))
        return tuple(out)

    def ahead(self, name: str) -> StudioRoute:
        """Return where somebody is about to go, as far as it is known."""
        walker = self._walker(name)
        way = walker.way_ahead()
        points = np.array([(x, y, 0.0) for _, (x, y, _) in way])
        labels = tuple((behavior, x, y, 0.0) for behavior, (x, y, _) in way if behavior)
        nodes, _ = walker.effort
        return StudioRoute(
            points, labels, (*walker.goal, 0.0), max(walker.known_until - self.time, 0.0), None, "deform", nodes
        )

    def behavior(self, name: str) -> str:
        """Return the behaviour that somebody is in."""
        return self._walker(name).behavior

    def take(self, seconds: float | None = None) -> Take:
        """Return what was played in the last seconds, from five minutes ago at most.

        Raises:
            StudioError: if nothing was played.
        """
        since = self.time - (60.0 * _MINUTES if seconds is None else seconds) - _SLACK
        rows = {name: [one for one in shown if one.time >= since] for name, shown in self._shown.items()}
        begin = min((row[0].time for row in rows.values() if row), default=0.0)
        tracks = []
        for walker in self.crowd.walkers:
            row = rows.get(walker.name, [])
            if len(row) > 1:
                clip = replace(
                    walker.pose,
                    name=walker.name,
                    root_positions=np.stack([one.root for one in row]),
                    rotations=np.stack([one.rotations for one in row]).astype(np.float64),
                )
                start = clip.planar_path()[0]
                tracks.append(lay_track(walker.name, [clip], start, row[0].time - begin, behaviors=["deform"]))
        if not tracks:
            raise StudioError("nothing was played that a take could be made of; let the scene play first")
        told = {"planner": "live", "collision": "body", "versions": {"gaitway": __version__}}
        return assemble(tracks, self.crowd.walkers[0].fps, told)

    def close(self) -> None:
        """Leave off; nothing runs beside."""

    def _by_skeleton(self) -> list[list[DeformWalker]]:
        out: dict[int, list[DeformWalker]] = {}
        for walker in self.crowd.walkers:
            out.setdefault(id(walker.pose.skeleton), []).append(walker)
        return list(out.values())

    def _walker(self, name: str) -> DeformWalker:
        for walker in self.crowd.walkers:
            if walker.name == name:
                return walker
        raise StudioError(f"no character here is called '{name}'")

    def _let_in(self) -> None:
        """Put those in who are outside, each if there is room where it starts."""
        self._tried, left = self.time, list[Character]()
        for character in self._outside:
            pose = self._back.get(character.name, character.start)
            goal = _place(self._ends[character.name][1])
            placed = replace(character, start=pose, goal=goal)
            try:
                came = self.crowd.add(replace(self._scene, characters=(placed,)), character.name)
            except GaitwayError as problem:
                raise StudioError(str(problem)) from None
            if came:
                self._back.pop(character.name, None)
            else:
                left.append(character)
        self._outside = left

    def _hear(self) -> None:
        """Send those who have arrived back where they came from."""
        for walker in self.crowd.walkers:
            name = walker.name
            start, goal = self._ends[name]
            if walker.arrived and name not in self._driven and start != goal:
                self._ends[name] = (goal, start)
                self._arrivals += 1
                walker.send(_place(start))

    def _steer(self) -> None:
        """Put the goals of those who are driven ahead of them, when they come near them or walk and are turned."""
        for name, (forward, turn, began) in self._driven.items():
            walker = self._walker(name)
            near = math.dist(walker.heads_from[:2], walker.goal) < _LEADS[-1]
            turned = turn != 0.0 and began != walker.began and walker.waited == 0
            if began >= 0 and not (near or turned or walker.arrived):
                continue
            x, y, heading = walker.heads_from
            away = heading + _SIDE * turn + (math.pi if forward < 0.0 else 0.0)
            for far in _LEADS:
                walker.send(self._clipped(x + far * math.cos(away), y + far * math.sin(away)))
                if walker.has_way:
                    break
            self._driven[name] = (forward, turn, walker.began)

    def _record(self) -> None:
        for walker in self.crowd.walkers:
            most = round(60.0 * _MINUTES * walker.fps)
            shown = self._shown.setdefault(walker.name, deque(maxlen=most))
            turns = walker.rotations.astype(np.float32)
            shown.append(_Shown(self.time, walker.behavior, np.array(walker.root), turns))

    def _clipped(self, x: float, y: float) -> tuple[float, float]:
        x0, y0, x1, y1 = self.crowd.world.bounds
        return min(max(x, x0 + _WITHIN), x1 - _WITHIN), min(max(y, y0 + _WITHIN), y1 - _WITHIN)


def _place(spot: Spot) -> tuple[float, float]:
    return spot[0], spot[1]


def lives_by_deform(scene: Scene) -> bool:
    """Return whether the people of a scene live by deformable fragments: all are planned so, on one level floor."""
    planners = {scene.plan.planner, *(character.plan.planner for character in scene.characters)}
    level = not has_levels(scene.world) and scene.world.terrain is None
    return planners == {"deform"} and level and not scene.busy
