"""Characters placed: fixed ones first, then groups, without overlap, by seeded sampling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import shapely

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import WorldError
from gaitway.scene.areas import area_geometry, ring_points
from gaitway.scene.documents import Entry
from gaitway.scene.free_space import Discs, FreeSpace, free_of_all
from gaitway.scene.model import OPPOSITE, CharacterItem, CircleItem
from gaitway.scene.problem import Problem, shown
from gaitway.world import World
from gaitway.world.obstacle import STANDABLE
from gaitway.world.sampling import sample_free


@dataclass(frozen=True, eq=False)
class Cast:
    """An entry of `characters` with what is known before anybody is placed."""

    entry: Entry
    name: str
    """Its own, without numbers."""
    names: tuple[str, ...]
    """Of each character of it."""
    radius: float
    """[m]."""
    first: int
    """Index in the scene of its first character."""
    index: int
    """Its own among all entries."""

    @property
    def item(self) -> CharacterItem:
        """What is written."""
        value: CharacterItem = self.entry.value
        return value


@dataclass(eq=False)
class Placement:
    """Places everybody of a scene; what cannot be is noted in `problems`."""

    world: World
    origins: list[Entry]
    """Where each obstacle and mover is written."""
    casts: list[Cast]
    seed: int
    problems: list[Problem] = field(default_factory=list)
    starts: dict[int, FloatArray] = field(default_factory=dict)
    """Of each cast, by its first character: (n, 2)."""
    goals: dict[int, FloatArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names = [name for cast in self.casts for name in cast.names]
        largest = max((cast.radius for cast in self.casts), default=1.0)
        self.start_discs = {cast.item.start_time: Discs(largest) for cast in self.casts}
        self.goal_discs = Discs(largest)
        self._spaces: dict[tuple[float | None, float], FreeSpace] = {}

    def run(self) -> None:
        """Place fixed starts and goals, then those of areas in the order of the file."""
        for cast in self.casts:
            self._fixed_start(cast)
            self._fixed_goal(cast)
        for cast in self.casts:
            time = cast.item.start_time
            if cast.first not in self.starts:
                points = self._sample(cast, "start_area", self.start_discs[time], self._space(cast, time))
                self.starts |= {} if points is None else {cast.first: points}
            if cast.first not in self.goals:
                points = self._sample(cast, "goal_area", self.goal_discs, self._space(cast, None))
                self.goals |= {} if points is None else {cast.first: points}

    def _space(self, cast: Cast, time: float | None) -> FreeSpace:
        """What is in a character's way at a time [s]; None leaves out all that moves."""
        key = time, cast.radius
        if key not in self._spaces:
            obstacles = self.world.obstacles if time is None else self.world.at(time).obstacles
            self._spaces[key] = FreeSpace(self.world, obstacles, cast.radius)
        return self._spaces[key]

    def _fixed_start(self, cast: Cast) -> None:
        item, discs = cast.item, self.start_discs[cast.item.start_time]
        if item.start is not None:
            points, key = np.array([item.start[:2]]), "start"
        elif item.start_area is not None and item.start_area.ring is not None:
            points, key = ring_points(item.start_area.ring, len(cast.names)), "start_area"
        else:
            return
        self.starts[cast.first] = points
        self._check(cast, key, points, self._space(cast, item.start_time))
        for number, (x, y) in enumerate(points.tolist()):
            met = discs.overlapped(x, y, cast.radius)
            if met is not None and item.start_area is not None and item.start_area.ring and met[0] >= cast.first:
                self._say(cast, key, _ring_text(item.start_area.ring, cast))
                break
            if met is not None:
                self._say(cast, key, self._overlap_text(cast.names[number], x, y, cast.radius, *met))
                break
            discs.add(points[number : number + 1], cast.radius, cast.first + number)

    def _overlap_text(self, name: str, x: float, y: float, radius: float, other: int, away: float) -> str:
        return (
            f"{_shown((x, y))} of '{name}' is {away:.3g} m from the start of '{self.names[other]}': "
            f"they overlap; write a point further away (its radius is {radius:g} m)"
        )

    def _fixed_goal(self, cast: Cast) -> None:
        item = cast.item
        if item.goal == OPPOSITE and item.start_area is not None and item.start_area.ring is not None:
            points, key = 2.0 * np.asarray(item.start_area.ring.center) - self.starts[cast.first], "goal"
        elif item.goal is not None:
            points, key = np.array([item.goal[:2]]), "goal"
        elif item.goal_area is not None and item.goal_area.ring is not None:
            points, key = ring_points(item.goal_area.ring, len(cast.names)), "goal_area"
        else:
            return
        self._check(cast, key, points, self._space(cast, None))
        self.goal_discs.add(points, cast.radius, cast.first)
        self.goals[cast.first] = np.broadcast_to(points, (len(cast.names), 2)) if len(points) == 1 else points

    def _check(self, cast: Cast, key: str, points: FloatArray, space: FreeSpace) -> None:
        """Note points that are outside the bounds or in an obstacle that one cannot stand on."""
        x0, y0, x1, y1 = self.world.bounds
        for point in points.tolist():
            if not (x0 <= point[0] <= x1 and y0 <= point[1] <= y1):
                text = f"{_shown(point)} is outside bounds {shown(self.world.bounds)}; write a point inside"
                return self._say(cast, key, text)
        if space.free(points).all():
            return None
        for point in points.tolist():
            for index, away in space.blockers(point):
                if space.obstacles[index].kind not in STANDABLE:
                    return self._say(cast, key, self._blocked_text(cast, point, index, away))
        return None

    def _blocked_text(self, cast: Cast, point: list[float], index: int, away: float) -> str:
        origin = self.origins[index]
        name = f" '{origin.value.name}'" if origin.value.name else ""
        thing = f"{origin.problem(text='').place}{name}"
        where = f"{away:.3g} m from {thing}" if away > 0.0 else f"inside {thing}"
        return f"{_shown(point)} is {where}; write a point at least {cast.radius:g} m away from it"

    def _say(self, cast: Cast, key: str, text: str) -> None:
        self.problems.append(cast.entry.problem(key, text=text))

    def _sample(self, cast: Cast, key: str, discs: Discs, space: FreeSpace) -> FloatArray | None:
        """Points for everybody of an entry, in its area and clear of all others; None if they do not fit."""
        x0, y0, x1, y1 = self.world.bounds
        radius, area = cast.radius, getattr(cast.item, key)
        try:
            wanted = area_geometry(area)
            room = shapely.box(x0 + radius, y0 + radius, x1 - radius, y1 - radius)
            if x0 + radius >= x1 - radius or y0 + radius >= y1 - radius or not wanted.intersects(room):
                text = f"has no room inside bounds {shown(self.world.bounds)}; write an area that overlaps them"
                self._say(cast, key, text)
                return None
            points = sample_free(
                wanted.intersection(room),
                len(cast.names),
                2.0 * radius,
                _stream(self.seed, cast, key),
                lambda points: free_of_all(points, space, discs),
            )
        except WorldError as problem:
            self._say(cast, key, str(problem))
            return None
        discs.add(points, radius, cast.first)
        return points


def _stream(seed: int, cast: Cast, key: str) -> np.random.Generator:
    """Chance of one group alone, so that other groups may come and go without moving it."""
    purpose = 0 if key == "start_area" else 1
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(purpose, *cast.name.encode())))


def _shown(point: Sequence[float]) -> str:
    """A point to the millimetre: those of rings have long fractions."""
    return shown([round(value, 3) for value in point])


def _ring_text(ring: CircleItem, cast: Cast) -> str:
    room = max(1, math.floor(math.pi / math.asin(min(1.0, cast.radius / ring.radius)) + 1e-9))
    return (
        f"a ring of radius {ring.radius:g} m has room for {room} of {len(cast.names)} (of radius {cast.radius:g} m); "
        "write a larger ring or a smaller count"
    )


def heading_towards(start: FloatArray, goal: FloatArray) -> float:
    """Direction [rad] from one point to another; 0 where they are the same."""
    return math.atan2(goal[1] - start[1], goal[0] - start[0])
