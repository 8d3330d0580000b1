"""Characters placed: fixed ones first, then groups, without overlap, by seeded sampling."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gaitway.arrays import FloatArray
from gaitway.scene.areas import lattice_points, random_points, ring_points, shared_box, within_area
from gaitway.scene.documents import Entry
from gaitway.scene.free_space import Discs, FreeSpace
from gaitway.scene.model import OPPOSITE, AreaItem, CharacterItem
from gaitway.scene.problem import Problem, shown
from gaitway.world import World
from gaitway.world.obstacle import STANDABLE

PATIENCE = 4000
"""Points that are tried in a row without success before random sampling gives way to a lattice."""
MAX_LATTICE = 4_000_000
"""Points of the largest lattice that is tried."""


@dataclass(frozen=True, eq=False)
class Cast:
    """An entry of `characters` with what is known before anybody is placed."""

    entry: Entry
    names: tuple[str, ...]
    """Of each character of it."""
    radius: float
    """[m]."""
    first: int
    """Index in the scene of its first character."""

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
        times = {cast.item.start_time for cast in self.casts}
        self.spaces = {time: FreeSpace(self.world, self.world.at(time).obstacles) for time in times}
        self.resting = FreeSpace(self.world, self.world.obstacles)
        self.start_discs = {time: Discs(largest) for time in times}
        self.goal_discs = Discs(largest)

    def run(self) -> None:
        """Place fixed starts and goals, then those of areas in the order of the file."""
        for cast in self.casts:
            self._fixed_start(cast)
            self._fixed_goal(cast)
        for cast in self.casts:
            time = cast.item.start_time
            if cast.first not in self.starts and cast.item.start_area is not None:
                area = cast.item.start_area
                self._sample(cast, "start_area", area, self.spaces[time], self.start_discs[time], self.starts)
            if cast.first not in self.goals and cast.item.goal_area is not None:
                self._sample(cast, "goal_area", cast.item.goal_area, self.resting, self.goal_discs, self.goals)

    def _fixed_start(self, cast: Cast) -> None:
        item, time = cast.item, cast.item.start_time
        if item.start is not None:
            points, key = np.array([item.start[:2]]), "start"
        elif item.start_area is not None and item.start_area.ring is not None:
            points, key = ring_points(item.start_area.ring, len(cast.names)), "start_area"
        else:
            return
        self.starts[cast.first] = points
        self._check(cast, key, points, self.spaces[time])
        for label, (x, y) in enumerate(points.tolist(), cast.first):
            met = self.start_discs[time].overlapped(x, y, cast.radius)
            if met is not None:
                self._say(cast, key, self._overlap_text(label, x, y, cast.radius, *met))
            self.start_discs[time].add(x, y, cast.radius, label)

    def _overlap_text(self, label: int, x: float, y: float, radius: float, other: int, away: float) -> str:
        return (
            f"{shown([x, y])} of '{self.names[label]}' is {away:.3g} m from the start of '{self.names[other]}': "
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
        self._check(cast, key, points, self.resting)
        for label, (x, y) in enumerate(points.tolist(), cast.first):
            self.goal_discs.add(x, y, cast.radius, label)
        self.goals[cast.first] = np.broadcast_to(points, (len(cast.names), 2)) if len(points) == 1 else points

    def _check(self, cast: Cast, key: str, points: FloatArray, space: FreeSpace) -> None:
        """Note points that are outside the bounds or in an obstacle that one cannot stand on."""
        x0, y0, x1, y1 = self.world.bounds
        for point in points.tolist():
            if not (x0 <= point[0] <= x1 and y0 <= point[1] <= y1):
                text = f"{shown(point)} is outside bounds {shown(self.world.bounds)}; write a point inside"
                return self._say(cast, key, text)
        if space.free(points, cast.radius).all():
            return None
        for point in points.tolist():
            for index, away in space.blockers(point, cast.radius):
                if space.obstacles[index].kind not in STANDABLE:
                    return self._say(cast, key, self._blocked_text(cast, point, index, away))
        return None

    def _blocked_text(self, cast: Cast, point: list[float], index: int, away: float) -> str:
        origin = self.origins[index]
        name = f" '{origin.value.name}'" if origin.value.name else ""
        thing = f"{origin.problem(text='').place}{name}"
        where = f"{away:.3g} m from {thing}" if away > 0.0 else f"inside {thing}"
        return f"{shown(point)} is {where}; write a point at least {cast.radius:g} m away from it"

    def _say(self, cast: Cast, key: str, text: str) -> None:
        self.problems.append(cast.entry.problem(key, text=text))

    def _sample(
        self,
        cast: Cast,
        key: str,
        area: AreaItem,
        space: FreeSpace,
        discs: Discs,
        out: dict[int, FloatArray],
    ) -> None:
        count, radius = len(cast.names), cast.radius
        box = shared_box(area, self.world.bounds, radius)
        if box is None:
            text = f"has no room inside bounds {shown(self.world.bounds)}; write an area that overlaps them"
            return self._say(cast, key, text)

        def usable(points: FloatArray) -> FloatArray:
            points = points[within_area(area, points)]
            return points[space.free(points, radius)]

        rng = _stream(self.seed, cast, key)
        found = _thrown(lambda n: usable(random_points(box, n, rng)), discs, radius, count)
        if len(found) < count and (box[2] - box[0] + 1.0) * (box[3] - box[1] + 1.0) / radius**2 < MAX_LATTICE:
            packed = _chosen(usable(lattice_points(box, 2.0 * radius, rng)), discs, radius, count)
            found = packed if len(packed) > len(found) else found
        if len(found) < count:
            text = f"has room for {len(found)} of {count} (radius {radius:g} m); write a larger area or a smaller count"
            return self._say(cast, key, text)
        out[cast.first] = np.array(found)
        for label, (x, y) in enumerate(found, cast.first):
            discs.add(x, y, radius, label)
        return None


def _stream(seed: int, cast: Cast, key: str) -> np.random.Generator:
    """Chance of one group alone, so that other groups may come and go without moving it."""
    purpose = 0 if key == "start_area" else 1
    label = cast.names[0].encode()
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(purpose, *label)))


def _thrown(draw: Callable[[int], FloatArray], discs: Discs, radius: float, count: int) -> list[tuple[float, float]]:
    """Random points that keep apart, until there are enough or none has been found for long."""
    own = Discs(0.5 * discs.cell)
    found: list[tuple[float, float]] = []
    misses, batch = 0, max(64, min(2 * count, PATIENCE))
    while len(found) < count and misses < PATIENCE:
        before = len(found)
        found += _chosen(draw(batch), discs, radius, count - before, own)
        misses = 0 if len(found) > before else misses + batch
    return found


def _chosen(
    points: FloatArray, discs: Discs, radius: float, count: int, own: Discs | None = None
) -> list[tuple[float, float]]:
    """The first `count` of some points that keep apart from all discs and from one another."""
    own = Discs(0.5 * discs.cell) if own is None else own
    found: list[tuple[float, float]] = []
    for x, y in points.tolist():
        if len(found) == count:
            break
        if discs.overlapped(x, y, radius) is None and own.overlapped(x, y, radius) is None:
            own.add(x, y, radius, 0)
            found.append((x, y))
    return found


def heading_towards(start: FloatArray, goal: FloatArray) -> float:
    """Direction [rad] from one point to another; 0 where they are the same."""
    return math.atan2(goal[1] - start[1], goal[0] - start[0])
