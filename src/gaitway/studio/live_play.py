"""A scene that is lived: everybody goes to its goal, and back, for ever, around whatever is put in the way."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import StudioError
from gaitway.live.engine import LiveEngine
from gaitway.live.forest import live_forest
from gaitway.live.options import LiveCounts
from gaitway.live.record import LiveRecord
from gaitway.scene.characters import Character, LibraryRef
from gaitway.scene.scene import Scene
from gaitway.space.prepared import planning_context
from gaitway.studio.frames import Ahead
from gaitway.take.evaluation import Joints
from gaitway.take.model import Take
from gaitway.world.world import World

KINDS = ("jump", "duck")
"""Special obstacles that live people get past."""
_LEAD, _SIDE = 5.0, 0.8
"""How far ahead of somebody who is driven its goal is [m], and how far to the side [rad]; nearer ones need U-turns."""
_STOP = 1.0
"""How far ahead somebody stops whose keys are let go [m]: nearer it would have to come back."""
_AGAIN = 1.0
"""How often those are tried anew for whom there was no room [s]."""
_RENEWED = 0.3
"""How often it is set anew [s]."""


class LivePlay:
    """Live characters by name. This class is **mutable**.

    Attributes:
        crowd: the characters.
        record: what they did, for a take.
        library: what they are.
        left_out: who could not come in at first.
    """

    def __init__(self, scene: Scene, say: Callable[[str], None] | None = None) -> None:
        """Put everybody of the scene's main library where it starts.

        Args:
            scene: the place and who wants to be where.
            say: called with what is being done.
        """
        self._say = say or (lambda text: None)
        self.library = _main_library(scene)
        self._numbers: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self._ends: dict[str, tuple[tuple[float, float], tuple[float, float]]] = {}
        self._driven: dict[str, tuple[float, float, float]] = {}
        self._asked: dict[str, tuple[float, float]] = {}
        self._outside: list[Character] = []
        self._tried = 0.0
        self._begin(scene, 0.0)
        self.left_out = self.enter(scene)

    @property
    def time(self) -> float:
        """Now [s]."""
        return self.crowd.time

    @property
    def names(self) -> tuple[str, ...]:
        """Of all characters, by their numbers."""
        return tuple(self._names[number] for number in self.crowd.characters.tolist())

    @property
    def counts(self) -> LiveCounts:
        """What has happened so far."""
        return self.crowd.counts

    def enter(self, scene: Scene) -> tuple[str, ...]:
        """Take the place and the characters of a scene: who is new comes in, who is not in it goes.

        Returns:
            Names of those for whom there is no room yet, or who are of another library.
        """
        if not set(_kinds(scene.world)) <= set(self._kinds):
            self._renew(scene)
        elif scene.world is not self.crowd.world:
            self.crowd.set_world(scene.world)
        wanted = {c.name: c for c in scene.characters if _kind(c.library) == self.library}
        self.remove([name for name in self._numbers if name not in wanted])
        self._send([c for name, c in wanted.items() if name in self._numbers and self._asked.get(name) != c.goal])
        self._asked = {name: c.goal for name, c in wanted.items()}
        self._outside = [c for name, c in wanted.items() if name not in self._numbers]
        self._let_in()
        return tuple(c.name for c in scene.characters if c.name not in self._numbers)

    def remove(self, names: list[str]) -> None:
        """Take characters out."""
        if names:
            self.crowd.remove([self.number(name) for name in names])
        for name in names:
            del self._names[self._numbers.pop(name)]
            self._ends.pop(name)
            self._driven.pop(name, None)

    def number(self, name: str) -> int:
        """Number of a character.

        Raises:
            StudioError: if there is none of that name.
        """
        if name not in self._numbers:
            raise StudioError(f"nobody here is called '{name}'")
        return self._numbers[name]

    def set_goal(self, name: str, x: float, y: float) -> None:
        """Send a character elsewhere; when it is there it stays."""
        number = self.number(name)
        self._inside(x, y)
        self._driven.pop(name, None)
        self._ends[name] = ((x, y), (x, y))
        self.crowd.set_goals([number], [(x, y)])

    def drive(self, name: str, forward: float, turn: float) -> None:
        """Let somebody be driven by keys; see `events.Drive`."""
        self.number(name)
        self._driven[name] = (forward, turn, -math.inf)

    def step(self, dt: float) -> None:
        """Go on by some time [s]."""
        if self._outside and self.time - self._tried >= _AGAIN:
            self._let_in()
        self._steer()
        self.crowd.step(dt)
        self._turn_round()

    def joints(self) -> tuple[Joints, ...]:
        """World positions and rotations of all joints now."""
        return (self.crowd.joints(),)

    def ahead(self, name: str) -> Ahead:
        """Where a character means to go."""
        plan = self.crowd.plan(self.number(name))
        places = [step.pose[:2] for step in plan.steps]
        labels = tuple((step.behavior, *step.pose[:2]) for step in plan.steps)
        x, y = self.crowd.goals([self.number(name)])[0].tolist()
        points, left = np.array([*places, plan.end_pose[:2]]), max(plan.end_time - self.time, 0.0)
        effort = self.crowd.effort(self.number(name))
        return Ahead(points, labels, (x, y), left, plan.cost, effort.source, effort.nodes, effort.milliseconds)

    def behavior(self, name: str) -> str:
        """What a character does."""
        return self.crowd.behaviors([self.number(name)])[0]

    def take(self, seconds: float | None = None) -> Take:
        """What was played in the last seconds."""
        return self.record.take(seconds)

    def close(self) -> None:
        """End what runs beside."""
        self.crowd.close()

    def _begin(self, scene: Scene, time: float) -> None:
        """An empty crowd in a place, whose trees know what has to be passed there."""
        self._say(f"preparing {self.library.name}")
        prepared = planning_context(scene.world).prepared(_anybody(scene, self.library))
        self._say("growing search trees")
        self._kinds = tuple(kind for kind in _kinds(scene.world) if kind in prepared.table.kinds)
        self.crowd = LiveEngine(prepared, live_forest(prepared.table, self._kinds), seed=scene.seed, start_time=time)
        self.record = LiveRecord(self.crowd)

    def _renew(self, scene: Scene) -> None:
        """Begin anew where everybody is, with trees for what is new in the place; all of them stop for it."""
        before, time = self.crowd, self.time
        poses = {name: _root(before, number) for name, number in self._numbers.items()}
        goals = {name: before.goals([number])[0] for name, number in self._numbers.items()}
        before.close()
        self._begin(scene, time)
        names = list(poses)
        if not names:
            return
        numbers = self.crowd.add([poses[name] for name in names], [goals[name] for name in names])
        self._numbers = {name: int(number) for name, number in zip(names, numbers, strict=True) if number >= 0}
        self._names = {number: name for name, number in self._numbers.items()}

    def _send(self, characters: list[Character]) -> None:
        """Send those elsewhere whom the scene wants there now."""
        for character in characters:
            self._ends[character.name] = (character.start[:2], character.goal)
            self._driven.pop(character.name, None)
        if characters:
            self.crowd.set_goals([self._numbers[c.name] for c in characters], [c.goal for c in characters])

    def _let_in(self) -> None:
        """Put those in who are outside, each if there is room where it starts."""
        self._tried = self.time
        if not self._outside:
            return
        numbers = self.crowd.add([c.start for c in self._outside], [c.goal for c in self._outside])
        for character, number in zip(self._outside, numbers.tolist(), strict=True):
            if number >= 0:
                self._numbers[character.name], self._names[number] = number, character.name
                self._ends[character.name] = (character.start[:2], character.goal)
        self._outside = [c for c in self._outside if c.name not in self._numbers]

    def _turn_round(self) -> None:
        """Send those who have arrived back where they came from."""
        there = [name for name in map(self._names.get, self.crowd.arrived.tolist()) if name is not None]
        going = [name for name in there if name not in self._driven and self._ends[name][0] != self._ends[name][1]]
        if going:
            for name in going:
                start, goal = self._ends[name]
                self._ends[name] = (goal, start)
            goals = [self._ends[name][1] for name in going]
            self.crowd.set_goals([self._numbers[name] for name in going], goals)

    def _steer(self) -> None:
        """Put the goals of those who are driven ahead of them."""
        for name, (forward, turn, when) in self._driven.items():
            if self.time - when < _RENEWED or (when > -math.inf and forward == turn == 0.0):
                continue
            number = self._numbers[name]
            x, y, heading = _root(self.crowd, number)
            away = heading + _SIDE * turn + (math.pi if forward < 0.0 else 0.0)
            lead = _LEAD if forward or turn else _STOP
            goal = self._clipped(x + lead * math.cos(away), y + lead * math.sin(away))
            self.crowd.set_goals([number], [goal])
            self._driven[name] = (forward, turn, self.time)

    def _inside(self, x: float, y: float) -> None:
        if self._clipped(x, y) != (x, y):
            raise StudioError(f"({x:g}, {y:g}) is out of bounds {self.crowd.world.bounds}")

    def _clipped(self, x: float, y: float) -> tuple[float, float]:
        x0, y0, x1, y1 = self.crowd.world.bounds
        return min(max(x, x0), x1), min(max(y, y0), y1)


def _kinds(world: World) -> tuple[str, ...]:
    """Special obstacles of a world that live people get past."""
    there = {obstacle.kind for obstacle in world.obstacles}
    return tuple(kind for kind in KINDS if kind in there)


def _main_library(scene: Scene) -> LibraryRef:
    """The library of most characters, in its neutral manner."""
    kinds = [_kind(c.library) for c in scene.characters]
    return max(dict.fromkeys(kinds), key=kinds.count, default=LibraryRef())


def _kind(library: LibraryRef) -> LibraryRef:
    """A library in its neutral manner: people who differ in manner alone are played by one."""
    return LibraryRef(library.cast, file=library.file)


def _anybody(scene: Scene, library: LibraryRef) -> Character:
    """A character that stands for all: of the library, at normal speed."""
    return Character("anybody", (0.0, 0.0, 0.0), (0.0, 0.0), None, library, scene.plan)


def _root(crowd: LiveEngine, number: int) -> tuple[float, float, float]:
    """Where somebody is and how it faces, as its plan has it."""
    step = crowd.plan(number).steps[0]
    roots: FloatArray = crowd.poses([number]).root_positions
    x, y = roots[0, :2].tolist()
    return x, y, step.pose[2]
