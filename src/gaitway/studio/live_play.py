"""A scene that is lived: all characters go to their goals and back, for ever, around whatever is put in their way."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import GaitwayError, StudioError
from gaitway.live import Arrived, LiveCounts, LiveCrowd, LiveOptions, Refused, Stuck
from gaitway.live.libraries import neutral
from gaitway.scene.characters import Character, LibraryRef
from gaitway.scene.scene import Scene
from gaitway.studio.frames import StudioErrand, StudioRoute, StudioTrouble
from gaitway.studio.stage import Place, Pose, Spot
from gaitway.take.evaluation import Joints
from gaitway.take.model import Take

_LEAD, _SIDE = 5.0, 0.8
"""Distance [m] and angle to the side [rad] of the goal of a character that is driven; nearer goals need U-turns."""
_STOP = 1.0
"""Distance ahead at which a character stops when its keys are let go [m]; nearer, it would have to come back."""
_AGAIN = 1.0
"""Time between attempts to put characters in for which there was no room [s]."""
_RENEWED = 0.3
"""Time between new goals of a character that is driven [s]."""
_TREAD = 0.2
"""Distance between the points of a way that climbs [m]."""
_NOBODY: Mapping[str, Pose] = MappingProxyType({})
_NOTHING: Mapping[str, Spot] = MappingProxyType({})


class WithoutErrands:
    """What the studio asks of a play in which nobody does errands."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """How doors have moved, as a take tells it: there are none where nobody does errands."""
        return {}

    @property
    def happened(self) -> tuple[str, ...]:
        """Names of the events that have happened: none where nobody does errands."""
        return ()

    def let_happen(self, event: str) -> None:
        """Let an event of the scene's rules happen now.

        Raises:
            StudioError: if there is none.
        """
        raise StudioError(f"the scene has no event '{event}': nobody here does errands")


class LivePlay(WithoutErrands):
    """The live characters of a scene, by name. This class is **mutable**.

    Attributes:
        crowd: the characters.
        left_out: names of the characters for which there was no room at first.
    """

    def __init__(self, scene: Scene, say: Callable[[str], None] | None = None) -> None:
        """Put all characters of a scene where they start.

        Args:
            scene: the scene.
            say: called with what is being done.
        """
        self._say = say or (lambda text: None)
        self._ends: dict[str, tuple[Spot, Spot]] = {}
        self._driven: dict[str, tuple[float, float, float]] = {}
        self._asked: dict[str, Spot] = {}
        self._gone: Mapping[str, Pose] = {}
        self._back: dict[str, Pose] = {}
        self._outside: list[Character] = []
        self._refused: dict[str, str] = {}
        self._tried = 0.0
        # who is to be planned as a throng also lives as one
        options = LiveOptions(dynamics="mixed" if scene.plan.planner == "crowd" else "clips")
        self.crowd = LiveCrowd(scene.world, plan=scene.plan, seed=scene.seed, options=options)
        for library in dict.fromkeys(neutral(c.library) for c in scene.characters) or (LibraryRef(),):
            self._say(f"preparing {library.name}")
            self.crowd.add_library(library)
        if scene.plan.planner == "deform":
            self._say("on several floors, and beside people of other planners, live people play clips as they are")
        self.left_out = self.enter(scene)

    @property
    def time(self) -> float:
        """Time now [s]."""
        return self.crowd.time

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all characters, in the order of `joints`."""
        return tuple(self.crowd.name(number) for joints in self.joints() for number in joints.characters.tolist())

    @property
    def counts(self) -> LiveCounts:
        """What has happened so far."""
        return self.crowd.counts

    def enter(
        self, scene: Scene, orders: Mapping[str, Spot] = _NOTHING, gone: Mapping[str, Pose] = _NOBODY
    ) -> tuple[str, ...]:
        """Take the world and the characters of a scene: new characters come in, others go.

        Args:
            scene: the scene.
            orders: where characters are to go that shall not go where the scene says: x, y [m], by name.
            gone: who is left out. Whoever is no longer comes back where it was then, if there is room.

        Returns:
            Names of the characters for which there is no room yet.
        """
        if scene.world is not self.crowd.world:
            self.crowd.set_world(scene.world)
        wanted = {c.name: c for c in scene.characters if c.name not in gone}
        self.remove([name for name in self.crowd.names if name not in wanted])
        self._back |= {name: pose for name, pose in self._gone.items() if name not in gone}
        self._gone = gone
        asked = {
            name: self._ordered(name, c, orders[name]) if name in orders else self._spot(c.goal, c.goal_floor)
            for name, c in wanted.items()
        }
        changed = [name for name in wanted if name in self.crowd and self._asked.get(name) != asked[name]]
        for name in (name for name in wanted if name not in self.crowd or name in changed):
            character, goal = wanted[name], asked[name]
            start = self._spot(character.start[:2], character.start_floor)
            self._ends[name] = (goal, goal) if name in orders else (start, goal)
            self._driven.pop(name, None)
        if changed:
            self.crowd.send(changed, [asked[name] for name in changed])
        self._asked = asked
        self._outside = [c for name, c in wanted.items() if name not in self.crowd]
        self._let_in()
        return tuple(c.name for c in self._outside)

    def remove(self, names: list[str]) -> None:
        """Take characters out."""
        for name in names:
            self._check(name)
        if names:
            self.crowd.remove(names)
        for name in names:
            self._ends.pop(name, None)
            self._driven.pop(name, None)

    def set_goal(self, name: str, x: float, y: float, floor: str = "") -> Spot:
        """Send a character elsewhere, on a floor or on that of its goal; return where. When it is there it stays."""
        self._check(name)
        try:
            spot = self.crowd.on_floor(x, y, floor) if floor else self.crowd.on_floor_of(name, x, y)
            self.crowd.send(name, spot)
        except GaitwayError as problem:
            raise StudioError(str(problem)) from None
        self._driven.pop(name, None)
        self._ends[name], self._asked[name] = (spot, spot), spot
        return spot

    def drive(self, name: str, forward: float, turn: float) -> Place | None:
        """Let a character be driven by keys, see `events.Drive`; return where it comes to rest if it is to stop."""
        self._check(name)
        if forward or turn:
            self._driven[name] = (forward, turn, -math.inf)
            return None
        x, y, heading = self.pose(name)
        place = self._clipped(x + _STOP * math.cos(heading), y + _STOP * math.sin(heading))
        self.set_goal(name, *place)
        return place

    def pose(self, name: str) -> Pose:
        """Return where a character is, x, y [m], and where the move that it is in leads it [rad]."""
        self._check(name)
        x, y = self.crowd.positions(name)[0, :2].tolist()
        return x, y, self.crowd.plan(name).steps[0].pose[2]

    def step(self, dt: float) -> None:
        """Go on by some time [s]."""
        if self._outside and self.time - self._tried >= _AGAIN:
            self._let_in()
        self._steer()
        self.crowd.step(dt)
        self._hear()

    def errands(self, name: str) -> tuple[StudioErrand, ...]:
        """Return what somebody has done, does, and is about to do: nothing where nobody does errands."""
        self._check(name)
        return ()

    def troubles(self) -> tuple[StudioTrouble, ...]:
        """Return who cannot get on, or has no room to come in, and why."""
        outside = [
            StudioTrouble("no room", (c.name,), self._refused.get(c.name, "there is no room at its start"), self._tried,
                          place=(*c.start[:2], 0.0))
            for c in self._outside
        ]  # fmt: skip
        return (*self._stuck(), *outside)

    def joints(self) -> tuple[Joints, ...]:
        """Return world positions and rotations of all joints now, one part for each library."""
        return tuple(self.crowd.joints(library=library) for library in self.crowd.libraries)

    def ahead(self, name: str) -> StudioRoute:
        """Return where a character is about to go."""
        self._check(name)
        plan, effort = self.crowd.plan(name), self.crowd.effort(name)
        places, goal = self.crowd.way_ahead(name)
        labels = tuple(
            (step.behavior, x, y, z) for step, (x, y, z) in zip(plan.steps, places[:-1].tolist(), strict=True)
        )
        x, y, z = goal.tolist()
        left = max(plan.end_time - self.time, 0.0)
        points = climbed(places)
        return StudioRoute(
            points, labels, (x, y, z), left, plan.cost, effort.source, effort.nodes, effort.milliseconds,
            self.errands(name),
        )  # fmt: skip

    def behavior(self, name: str) -> str:
        """Return the behaviour that a character is in."""
        self._check(name)
        return self.crowd.behaviors(name)[0]

    def take(self, seconds: float | None = None) -> Take:
        """Return what was played in the last seconds."""
        return self.crowd.take(seconds)

    def close(self) -> None:
        """End the thread that plans."""
        self.crowd.close()

    def _stuck(self) -> list[StudioTrouble]:
        """Return who comes no nearer to a goal."""
        return [
            StudioTrouble(
                "stuck", (event.name,), event.reason, event.time - event.seconds, place=(*event.position, 0.0)
            )
            for event in self.crowd.hindered()
            if isinstance(event, Stuck)
        ]

    def _check(self, name: str) -> None:
        if name not in self.crowd:
            raise StudioError(f"no character here is called '{name}'")

    def _let_in(self) -> None:
        """Put the characters in that are outside, each if there is room where it starts."""
        self._tried = self.time
        for library in dict.fromkeys(neutral(c.library) for c in self._outside):
            some = [c for c in self._outside if neutral(c.library) == library]
            places = [(*self._back.pop(c.name, c.start), *self._spot(c.start[:2], c.start_floor)[2:]) for c in some]
            goals = [self._ends[c.name][1] for c in some]
            self.crowd.add_many(places, goals, names=[c.name for c in some], library=library)
        self._outside = [c for c in self._outside if c.name not in self.crowd]

    def _hear(self) -> None:
        """Send the characters that have arrived back where they came from, and note who was refused and why."""
        told = self.crowd.events()
        self._refused |= {event.name: event.reason for event in told if isinstance(event, Refused)}
        there = [event.name for event in told if isinstance(event, Arrived) and event.name in self.crowd]
        going = [name for name in there if name not in self._driven and self._ends[name][0] != self._ends[name][1]]
        for name in going:
            start, goal = self._ends[name]
            self._ends[name] = (goal, start)
        if going:
            self.crowd.send(going, [self._ends[name][1] for name in going])

    def _steer(self) -> None:
        """Put the goals of the characters that are driven ahead of them."""
        for name, (forward, turn, when) in self._driven.items():
            if self.time - when < _RENEWED:
                continue
            x, y, heading = self.pose(name)
            away = heading + _SIDE * turn + (math.pi if forward < 0.0 else 0.0)
            place = self._clipped(x + _LEAD * math.cos(away), y + _LEAD * math.sin(away))
            self.crowd.send(name, self.crowd.on_floor_of(name, *place))
            self._driven[name] = (forward, turn, self.time)

    def _spot(self, place: Place, floor: str | None) -> Spot:
        """Return a place on a floor of a scene as the crowd takes it."""
        return self.crowd.on_floor(place[0], place[1], floor)

    def _ordered(self, name: str, character: Character, place: Spot) -> Spot:
        """Return where a character is sent: at a height, or on the floor of its goal if there is ground."""
        if len(place) > 2:
            return place
        if name in self.crowd:
            return self.crowd.on_floor_of(name, place[0], place[1])
        return self._spot((place[0], place[1]), character.goal_floor)

    def _clipped(self, x: float, y: float) -> tuple[float, float]:
        x0, y0, x1, y1 = self.crowd.world.bounds
        return min(max(x, x0), x1), min(max(y, y0), y1)


def climbed(places: FloatArray) -> FloatArray:
    """Return points of a way (K, 3) with more of them where it climbs, so that its line can follow the stairs [m]."""
    parts = [places[:1]]
    for a, b in pairwise(places):
        count = max(int(np.ceil(np.linalg.norm(b - a) / _TREAD)), 1) if abs(b[2] - a[2]) > _TREAD else 1
        parts.append(a + (b - a) * np.arange(1, count + 1)[:, None] / count)
    return np.concatenate(parts)
