"""Links: the stairs by which people get from one floor to another, lane by lane, for the clips of one library.

A link is a clip that fits one flight exactly (`gaitway.library.fitting`), laid in one lane of it in one
direction. It begins on one floor and ends on the other. On stairs it begins some steps before the first riser. People
keep to the right there, so that a flight with room for two has a lane for each direction.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import shapely

from gaitway.core import planar
from gaitway.core.errors import LibraryError
from gaitway.library.behavior import Library
from gaitway.library.fitting.extending import fitted_library
from gaitway.library.fitting.fitted_clip import FittedClip
from gaitway.library.fitting.flights import DIRECTIONS, Flight
from gaitway.performing.arrival.bent_steps import pose_of
from gaitway.space.plan import Pose
from gaitway.world.footprint import core_geometry
from gaitway.world.levels.floors import Floor, Floors
from gaitway.world.obstacle import PASSABLE, Obstacle
from gaitway.world.shapes import Stairs

_BODY = 0.30
"""Half the width that a body takes on a flight [m]."""
_LANE = 0.8
"""Least distance of two lanes of a flight [m]."""
_FEET, _HEAD = 0.3, 1.85
"""Heights over the treads between which a thing is in the way of a body that climbs [m]."""
_LEVEL = 0.03
"""Greatest difference of the height of a flight's end from the floor that it leads to [m]."""


@dataclass(frozen=True, eq=False)
class Link:
    """A way from one floor to another in one lane."""

    name: str
    """Name of the thing that is climbed, for messages."""
    fitted: FittedClip
    source: Floor
    target: Floor
    entry: Pose
    """Pose in which its clip begins, in the plane of the floors."""
    exit: Pose
    """Pose in which its clip ends, in the plane, on the other floor."""

    @property
    def behavior(self) -> str:
        """Name of the behaviour that plays its clip."""
        return self.fitted.name

    @property
    def across(self) -> tuple[float, float]:
        """How far the same ground lies from one floor to the other in the plane: x, y [m]."""
        (x0, y0), (x1, y1) = self.source.offset, self.target.offset
        return x1 - x0, y1 - y0


@dataclass(frozen=True, eq=False)
class LevelLibrary:
    """A library with clips for all flights of a place, and the links that these are."""

    library: Library
    links: tuple[Link, ...]
    troubles: tuple[str, ...]
    """Flights that this library cannot climb, or that lead nowhere, one line each."""


def level_library(library: Library, floors: Floors) -> LevelLibrary:
    """Return a library with clips for all stairs of a place, and the links between its floors."""
    troubles: list[str] = []
    flights: list[tuple[str, Obstacle, Stairs, Flight]] = []
    for name, obstacle, stairs in _stairs(floors):
        try:
            flights.append((name, obstacle, stairs, Flight(stairs.steps, stairs.run, stairs.rise)))
        except LibraryError as problem:
            troubles.append(f"stairs '{name}': {problem}")
    try:
        extended, clips = fitted_library(library, [flight for *_, flight in flights])
    except LibraryError as problem:
        return LevelLibrary(library, (), (*troubles, str(problem)))
    links: list[Link] = []
    for name, obstacle, stairs, flight in flights:
        own = {direction: clips[f"stairs_{direction}_{flight.label}"] for direction in DIRECTIONS}
        found, trouble = _flight_links(floors, name, obstacle, stairs, own)
        links += found
        troubles += [trouble] if trouble else []
    return LevelLibrary(extended, tuple(links), tuple(troubles))


def _stairs(floors: Floors) -> Iterator[tuple[str, Obstacle, Stairs]]:
    for index, obstacle in enumerate(floors.world.obstacles):
        if isinstance(obstacle.shape, Stairs):
            yield obstacle.name or f"stairs {index}", obstacle, obstacle.shape


def _flight_links(
    floors: Floors, name: str, obstacle: Obstacle, stairs: Stairs, clips: Mapping[str, FittedClip]
) -> tuple[list[Link], str]:
    """Return the links of a flight in all its lanes, and why there are none."""
    low, high = stairs.heights
    reasons, links = [], []
    for direction, fitted in clips.items():
        ends = (low, high) if direction == "up" else (high, low)
        for aside in lanes(stairs.width):
            entry, last = _placed(stairs, fitted, direction, aside)
            source, target = (_floor(floors, pose, z) for pose, z in zip((entry, last), ends, strict=True))
            if source is None or target is None:
                pose, z = (entry, ends[0]) if source is None else (last, ends[1])
                reasons.append(f"no floor at height {z:.2f} m at ({pose[0]:.1f}, {pose[1]:.1f}), where it leads to")
                continue
            rise = fitted.rise / stairs.steps
            edges = [0.0, *(fitted.edge + k * stairs.run for k in range(stairs.steps)), _length(fitted)]
            parts = [(begin, end, ends[0] + k * rise) for k, (begin, end) in enumerate(pairwise(edges))]
            blocker = _blocker(floors, obstacle, entry, parts)
            if blocker is not None:
                reasons.append(f"'{blocker}' is in the way on it")
                continue
            links.append(_link(f"{name} {direction}", fitted, source, target, entry, last))
    if not lanes(stairs.width):
        return [], f"stairs '{name}': {stairs.width:g} m wide; a body needs {2.0 * _BODY:g} m"
    return links, "" if links else f"stairs '{name}': {reasons[0]}"


def lanes(width: float) -> list[float]:
    """Return how far to the left of the middle of a flight, as one goes, the lanes of one direction are [m]."""
    room = 0.5 * width - _BODY
    if room < -1e-9:
        return []
    if 2.0 * room < _LANE - 1e-9:
        return [0.0]
    each = 1 + int((room - 0.5 * _LANE) / _LANE + 1e-9)
    return [-(room - k * _LANE) for k in range(each)]


def _placed(stairs: Stairs, fitted: FittedClip, direction: str, aside: float) -> tuple[Pose, Pose]:
    """Return the poses in which the clip of a flight begins and ends, in the place."""
    half = 0.5 * stairs.steps * stairs.run
    # going down, the first edge is that of the uppermost step but one: the uppermost is as high as the floor
    first = half if direction == "up" else half - stairs.run
    heading = stairs.yaw if direction == "up" else planar.wrap_angle(stairs.yaw + math.pi)
    entry = planar.compose((*stairs.center, float(heading)), (-first - fitted.edge, aside, 0.0))
    path = fitted.clip.planar_path()
    last = planar.compose(entry, planar.relative(path[0], path[-1]))
    return pose_of(entry), pose_of(last)


def _floor(floors: Floors, pose: Pose, height: float) -> Floor | None:
    """Return the floor at a height on which a pose is; None if there is none."""
    for floor in floors.floors:
        if floor.covers(pose[0], pose[1]) and abs(floors.height(floor, pose[0], pose[1]) - height) <= _LEVEL:
            return floor
    return None


def _link(name: str, fitted: FittedClip, source: Floor, target: Floor, entry: Pose, last: Pose) -> Link:
    """Return a link between two poses of the place."""
    (x0, y0), (x1, y1) = source.offset, target.offset
    return Link(
        name, fitted, source, target, (entry[0] + x0, entry[1] + y0, entry[2]), (last[0] + x1, last[1] + y1, last[2])
    )


def _length(fitted: FittedClip) -> float:
    return float(fitted.clip.root_positions[-1, 0] - fitted.clip.root_positions[0, 0])


def _blocker(floors: Floors, own: Obstacle, entry: Pose, parts: Sequence[tuple[float, float, float]]) -> str | None:
    """Return what is in the way of a body on a link.

    Args:
        floors: floors of the place.
        own: the thing that is climbed.
        entry: pose in which the link begins, in the place.
        parts: parts of its way: from where to where ahead of the entry, and the height of the ground there [m].
    """
    for index, obstacle in enumerate(floors.world.obstacles):
        if obstacle is own or obstacle.kind == PASSABLE or (obstacle.special and not obstacle.standable):
            continue
        low, high = obstacle.shape.heights
        for begin, end, floor in parts:
            if high <= floor + _FEET or low >= floor + _HEAD:
                continue
            footprint = obstacle.shape.footprint(floor + _FEET, floor + _HEAD)
            if footprint.empty:
                continue
            if shapely.dwithin(core_geometry(footprint), _strip(entry, begin, end), footprint.radius):
                return obstacle.name or f"{obstacle.kind} {index}"
    return None


def _strip(entry: Pose, begin: float, end: float) -> shapely.Geometry:
    corners = [(begin, -_BODY), (end, -_BODY), (end, _BODY), (begin, _BODY)]
    return shapely.Polygon(planar.transform_points(entry, np.array(corners)))
