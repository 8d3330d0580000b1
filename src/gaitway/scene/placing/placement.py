"""Placement of characters without overlap: fixed starts and goals first, then areas by seeded sampling."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import shapely

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import WorldError
from gaitway.scene.area_models import AreaItem, CircleItem
from gaitway.scene.model import OPPOSITE, CharacterItem
from gaitway.scene.placing.free_space import TOUCHING, Discs, FreeSpace, free_of_all
from gaitway.scene.problem import Problem, shown
from gaitway.scene.reading.documents import SceneEntry
from gaitway.world import Obstacle, World
from gaitway.world.footprint import Footprint, check_outline, drawn_geometry
from gaitway.world.levels.floors import GROUND, Floor, Floors, has_levels
from gaitway.world.obstacle import STANDABLE
from gaitway.world.sampling import sample_free


@dataclass(frozen=True, eq=False)
class CharacterGroup:
    """One entry of `characters`: a single character or several, before they are placed."""

    entry: SceneEntry
    name: str
    """Name of the entry, without numbers."""
    names: tuple[str, ...]
    """Names of its characters."""
    radius: float
    """Radius of the disc that each of its characters keeps clear [m]."""
    first: int
    """Index of its first character among all characters of the scene."""
    index: int
    """Index of the entry among all entries."""

    @property
    def item(self) -> CharacterItem:
        """The model of the entry."""
        value: CharacterItem = self.entry.value
        return value


@dataclass(eq=False)
class Placement:
    """The placement of all characters of a scene. It collects problems in `problems`."""

    world: World
    origins: list[SceneEntry]
    """The entry of the scene file that each obstacle comes from, then that of each mover."""
    groups: list[CharacterGroup]
    seed: int
    problems: list[Problem] = field(default_factory=list)
    starts: dict[int, FloatArray] = field(default_factory=dict)
    """Start positions of each group [m], by the index of its first character; (n, 2)."""
    goals: dict[int, FloatArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names = [name for group in self.groups for name in group.names]
        largest = max((group.radius for group in self.groups), default=1.0)
        self.floors = Floors.of(self.world) if has_levels(self.world) else None
        self._floors: dict[tuple[int, str], Floor] = {}
        self._discs: dict[tuple[float | None, int], Discs] = defaultdict(lambda: Discs(largest))
        self._spaces: dict[tuple[float | None, float, int], FreeSpace] = {}

    def run(self) -> None:
        """Place fixed starts and goals, then those of areas in the order of the file."""
        for group in self.groups:
            self._find_floor(group, "start")
            self._find_floor(group, "goal")
        for group in self.groups:
            self._fixed_start(group)
            self._fixed_goal(group)
        for group in self.groups:
            time = group.item.start_time
            if group.first not in self.starts:
                discs = self._others(group, "start", time)
                points = self._sample(group, "start_area", discs, self._space(group, "start", time))
                self.starts |= {} if points is None else {group.first: points}
            if group.item.errands is not None and group.first in self.starts:
                self.goals[group.first] = self.starts[group.first]  # where errands lead is known on the way
            if group.first not in self.goals:
                discs = self._others(group, "goal", None)
                points = self._sample(group, "goal_area", discs, self._space(group, "goal", None))
                self.goals |= {} if points is None else {group.first: points}

    def floor_name(self, group: CharacterGroup, which: str) -> str | None:
        """Return the name of the floor of a group's "start" or "goal"; None in a place without floors."""
        floor = self._floors.get((group.first, which))
        return None if floor is None else floor.name

    def _find_floor(self, group: CharacterGroup, which: str) -> None:
        """Find the floor of a start or goal: by its name, by its height, or the lowest that is there."""
        if which == "goal" and group.item.errands is not None:
            if (group.first, "start") in self._floors:
                self._floors[group.first, which] = self._floors[group.first, "start"]
            return
        given, named = getattr(group.item, which), getattr(group.item, f"{which}_floor")
        height = float(given[3]) if isinstance(given, tuple) and len(given) == 4 else None
        if self.floors is None:
            key = f"{which}_floor" if named is not None else which
            if named not in (None, GROUND) or height is not None:
                text = "a place without platforms has one floor; leave the height or the floor out, or add a platform"
                self._say(group, key, text)
            return
        try:
            if named is not None:
                floor = self.floors.named(named)
            elif isinstance(given, tuple):
                floor = self.floors.at(given[0], given[1], height, what=which)
            else:
                area = getattr(group.item, f"{which}_area")
                floor = self.floors.floors[0] if area is None else self.floors.widest(area_geometry(area))
        except WorldError as problem:
            self._say(group, which if named is None else f"{which}_floor", str(problem))
            floor = self.floors.floors[0]
        self._floors[group.first, which] = floor

    def _others(self, group: CharacterGroup, which: str, time: float | None) -> Discs:
        """Return those who are placed already at a time, or whose goals are (None), on the floor of a group."""
        floor = self._floors.get((group.first, which))
        return self._discs[time, 0 if floor is None else floor.number]

    def _space(self, group: CharacterGroup, which: str, time: float | None) -> FreeSpace:
        """Return the free space for a group on the floor of its start or goal at a time [s]; None for no movers."""
        floor = self._floors.get((group.first, which))
        key = time, group.radius, 0 if floor is None else floor.number
        if key not in self._spaces:
            whole = self.world if time is None else self.world.at(time)
            obstacles: Sequence[Obstacle] = whole.obstacles
            region = None
            if self.floors is not None and floor is not None:
                obstacles, region = self.floors.seen_from(floor, obstacles), self.floors.free_region(floor)
            self._spaces[key] = FreeSpace(self.world, obstacles, group.radius, region)
        return self._spaces[key]

    def _fixed_start(self, group: CharacterGroup) -> None:
        item, discs = group.item, self._others(group, "start", group.item.start_time)
        if item.start is not None:
            points, key = np.array([item.start[:2]]), "start"
        elif item.start_area is not None and item.start_area.ring is not None:
            points, key = ring_points(item.start_area.ring, len(group.names)), "start_area"
        else:
            return
        self.starts[group.first] = points
        self._check(group, key, points, self._space(group, "start", item.start_time))
        for number, (x, y) in enumerate(points.tolist()):
            met = discs.overlapped(x, y, group.radius)
            if met is not None and item.start_area is not None and item.start_area.ring and met[0] >= group.first:
                self._say(group, key, _ring_text(item.start_area.ring, group))
                break
            if met is not None:
                self._say(group, key, self._overlap_text(group.names[number], x, y, group.radius, *met))
                break
            discs.add(points[number : number + 1], group.radius, group.first + number)

    def _overlap_text(self, name: str, x: float, y: float, radius: float, other: int, away: float) -> str:
        return (
            f"{_shown((x, y))} of '{name}' is {away:.3g} m from the start of '{self.names[other]}': "
            f"they overlap; write a point further away (its radius is {radius:g} m)"
        )

    def _fixed_goal(self, group: CharacterGroup) -> None:
        item = group.item
        if item.goal == OPPOSITE and item.start_area is not None and item.start_area.ring is not None:
            points, key = 2.0 * np.asarray(item.start_area.ring.center) - self.starts[group.first], "goal"
        elif item.goal is not None:
            points, key = np.array([item.goal[:2]]), "goal"
        elif item.goal_area is not None and item.goal_area.ring is not None:
            points, key = ring_points(item.goal_area.ring, len(group.names)), "goal_area"
        else:
            return
        self._check(group, key, points, self._space(group, "goal", None))
        self._others(group, "goal", None).add(points, group.radius, group.first)
        self.goals[group.first] = np.broadcast_to(points, (len(group.names), 2)) if len(points) == 1 else points

    def _check(self, group: CharacterGroup, key: str, points: FloatArray, space: FreeSpace) -> None:
        """Report points that are outside the bounds or in an obstacle that characters cannot stand on."""
        x0, y0, x1, y1 = self.world.bounds
        for point in points.tolist():
            if not (x0 <= point[0] <= x1 and y0 <= point[1] <= y1):
                text = f"{_shown(point)} is outside bounds {shown(self.world.bounds)}; write a point inside"
                return self._say(group, key, text)
        if space.free(points).all():
            return None
        for point in points.tolist():
            for index, away in space.blockers(point):
                if space.obstacles[index].kind not in STANDABLE or self.floors is not None:
                    return self._say(group, key, self._blocked_text(group, point, index, away))
            if space.region is not None and not shapely.dwithin(space.region, shapely.Point(point), TOUCHING):
                floor = self._floors.get((group.first, key.partition("_")[0]))
                carrier = None if self.floors is None or floor is None else self.floors.carrier(floor, *point)
                edge = "the edge of its floor" if carrier is None else f"'{carrier}'"
                text = f"{_shown(point)} is nearer than {group.radius:g} m to {edge}"
                return self._say(group, key, f"{text}; write a point further inside")
        return None

    def _blocked_text(self, group: CharacterGroup, point: list[float], index: int, away: float) -> str:
        origin = self.origins[index]
        name = f" '{origin.value.name}'" if origin.value.name else ""
        thing = f"{origin.problem(text='').place}{name}"
        where = f"{away:.3g} m from {thing}" if away > 0.0 else f"inside {thing}"
        return f"{_shown(point)} is {where}; write a point at least {group.radius:g} m away from it"

    def _say(self, group: CharacterGroup, key: str, text: str) -> None:
        self.problems.append(group.entry.problem(key, text=text))

    def _sample(self, group: CharacterGroup, key: str, discs: Discs, space: FreeSpace) -> FloatArray | None:
        """Return points for all characters of a group, in its area and clear of all others; None if they do not fit."""
        x0, y0, x1, y1 = self.world.bounds
        radius, area = group.radius, getattr(group.item, key)
        try:
            wanted = area_geometry(area)
            room = shapely.box(x0 + radius, y0 + radius, x1 - radius, y1 - radius)
            if x0 + radius >= x1 - radius or y0 + radius >= y1 - radius or not wanted.intersects(room):
                text = f"has no room inside bounds {shown(self.world.bounds)}; write an area that overlaps them"
                self._say(group, key, text)
                return None
            points = sample_free(
                wanted.intersection(room),
                len(group.names),
                2.0 * radius,
                _stream(self.seed, group, key),
                lambda points: free_of_all(points, space, discs),
            )
        except WorldError as problem:
            self._say(group, key, str(problem))
            return None
        discs.add(points, radius, group.first)
        return points


def _stream(seed: int, group: CharacterGroup, key: str) -> np.random.Generator:
    """Return a random generator for one group, so that adding or removing other groups does not move it."""
    purpose = 0 if key == "start_area" else 1
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(purpose, *group.name.encode())))


def _shown(point: Sequence[float]) -> str:
    """Return a point as text, rounded to the millimetre: points of rings have long fractions."""
    return shown([round(value, 3) for value in point])


def _ring_text(ring: CircleItem, group: CharacterGroup) -> str:
    room = max(1, math.floor(math.pi / math.asin(min(1.0, group.radius / ring.radius)) + 1e-9))
    return (
        f"a ring of radius {ring.radius:g} m has room for {room} of {len(group.names)} (of radius {group.radius:g} m); "
        "write a larger ring or a smaller count"
    )


def heading_towards(start: FloatArray, goal: FloatArray) -> float:
    """Return the direction from one point to another [rad]; 0 if they are the same."""
    return math.atan2(goal[1] - start[1], goal[0] - start[0])


_ROUND_SEGMENTS = 32
"""Number of straight pieces for a quarter of a round area, which is drawn 0.03 % too small by it."""


def ring_points(ring: CircleItem, count: int) -> FloatArray:
    """Return points (count, 2) evenly spaced on a circle, counter-clockwise from its +x end."""
    angle = 2.0 * np.pi * np.arange(count) / count
    return np.asarray(ring.center) + ring.radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def area_geometry(area: AreaItem) -> shapely.Geometry:
    """Return the geometry of an area.

    Raises:
        WorldError: If it is an outline that crosses itself.
    """
    if area.rectangle is not None:
        return shapely.box(*area.rectangle)
    if area.polygon is not None:
        check_outline([tuple((point[0], point[1]) for point in area.polygon)])
        return shapely.Polygon(area.polygon)
    circle = area.circle or area.ring
    assert circle is not None
    return drawn_geometry(Footprint.of_rings([[circle.center]], circle.radius), _ROUND_SEGMENTS)
