"""Links: what leads people from one floor to another, such as stairs and escalators, for the clips of one library.

A link is a clip that fits one flight exactly (`gaitway.library.fitting`), laid in one lane of it in one
direction. It begins on one floor and ends on the other. On stairs it begins some steps before the first riser. People
keep to the right there, so that a flight with room for two has a lane for each direction.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import shapely

from gaitway.core import planar
from gaitway.core.errors import LibraryError
from gaitway.library.behavior import Library
from gaitway.library.fitting.blocks import Block, block_heights
from gaitway.library.fitting.extending import fitted_library
from gaitway.library.fitting.fitted_clip import FittedClip
from gaitway.library.fitting.flights import DIRECTIONS, Flight
from gaitway.library.fitting.rides import Ride, ride_clips
from gaitway.motion.clip import Clip
from gaitway.performing.arrival.bent_steps import pose_of
from gaitway.space.plan import Pose
from gaitway.space.slopes import steepest_for
from gaitway.world.escalators import DEPTH, Escalator
from gaitway.world.footprint import core_geometry
from gaitway.world.levels.floors import Floor, Floors
from gaitway.world.levels.lift_sheets import LEAST_DWELL, LiftSheet, lift_troubles
from gaitway.world.levels.slopes import Joint, ramps
from gaitway.world.lifts import Lift
from gaitway.world.obstacle import PASSABLE, Obstacle
from gaitway.world.shapes import Ramp, Stairs, Upright

_BODY = 0.30
"""Half the width that a body takes on a flight [m]."""
_LANE = 0.8
"""Least distance of two lanes of a flight [m]."""
_BEYOND = 0.9
"""Distance from the end of a ramp at which people go over to the floor there, or come from it [m]."""
BLOCKS = frozenset({"box", "climb"})
"""Kinds of obstacles that are blocks, onto which people jump or climb."""
_STAND = 0.5
"""Distance before a side of a block at which its floor must be [m]."""
_ELBOWS, _MOST_BESIDE = 0.9, 3
"""Distance of people who climb a block beside one another [m], and the largest number of them on a side."""
_PACE = 0.3
"""Speed from which on a motion is a gait [m/s]."""
_FEET, _HEAD = 0.3, 1.85
"""Heights over the treads between which a thing is in the way of a body that climbs [m]."""
_FROM_EDGE = 0.5
"""Distance from the edge of a platform at which people stand on it [m]."""
_OFF = 1.3
"""Distance from the door of a lift at which people have left it, and are on the floor before it [m]."""
_AISLE = 0.25
"""How far to the right of the middle of a door people wait, or leave, as a share of its width."""
_LEVEL = 0.03
"""Greatest difference of the height of a flight's end from the floor that it leads to [m]."""


@dataclass(frozen=True, eq=False)
class Link:
    """A way from one floor to another in one lane: by a clip, or at a joint of a ramp by walking on."""

    name: str
    """Name of the thing that is climbed, for messages."""
    fitted: FittedClip | None
    """The clip; None at a joint, where the same ground belongs to both floors."""
    behavior: str
    """Name of the behaviour that plays its clip; of the gait in which one walks on at a joint."""
    source: Floor
    target: Floor
    entry: Pose
    """Pose in which its clip begins, in the plane of the floors."""
    exit: Pose
    """Pose in which its clip ends, in the plane, on the other floor."""
    ride: LiftRide | None = None
    """What is known of a ride in a lift; None for all other links."""
    belt: Escalator | None = None
    """The escalator that carries those on it; None for all other links."""
    shift: float = 0.0
    """How far ahead of where its clip was made for it lies, see `at` [m]."""

    @property
    def played(self) -> FittedClip:
        """Its clip; a joint has none."""
        assert self.fitted is not None
        return self.fitted

    @property
    def seconds(self) -> float:
        """Duration of its clip [s], or of a ride with half of the longest wait for it."""
        if self.ride is not None:
            return self.ride.seconds
        return 0.0 if self.fitted is None else self.fitted.clip.duration

    def at(self, time: float) -> Link:
        """Return the link as it lies for somebody whose clip begins at a time [s].

        On an escalator it is moved by up to half a tread ahead or back, so that its stand is in the middle of a tread.
        """
        if self.belt is None:
            return self
        # where a tread has its middle at that time, seen from the edge at which people step on
        middle = 0.5 * DEPTH + self.belt.speed * time
        if self.belt.down:
            middle = self.belt.length - 0.5 * DEPTH + self.belt.speed * time
        shift = float((middle - self.played.tread + 0.5 * DEPTH) % DEPTH) - 0.5 * DEPTH
        entry, last = (pose_of(planar.compose(pose, (shift, 0.0, 0.0))) for pose in (self.entry, self.exit))
        return replace(self, entry=entry, exit=last, shift=shift)

    @property
    def across(self) -> tuple[float, float]:
        """How far the same ground lies from one floor to the other in the plane: x, y [m]."""
        (x0, y0), (x1, y1) = self.source.offset, self.target.offset
        return x1 - x0, y1 - y0


@dataclass(frozen=True, eq=False)
class LiftRide:
    """A ride in a lift from one of its heights to another."""

    lift: Lift
    source: int
    """Number of the height at which one boards it."""
    target: int
    """Number of the height at which one leaves it."""
    boarding: Floor
    """Its platform at the first height, with the floor before its door."""
    waits: tuple[Pose, ...]
    """Where people wait before its door, the best place first, in the plane of the floors."""
    places: tuple[Pose, ...]
    """Where people stand on the platform, those farthest from the door first, in the plane, on `boarding`."""
    across: tuple[float, float]
    """How far the platform at the other height lies from that in the plane: x, y [m]."""

    @property
    def seconds(self) -> float:
        """Time of a ride with half of the longest wait for it [s]."""
        come, leave = self.lift.stand(self.source, 0.0)
        return 0.5 * self.lift.period + self.lift.stand(self.target, leave)[0] - come


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
    links, steep = joint_links(library, floors)
    links += seam_links(library, floors)
    troubles += steep
    links += lift_links(library, floors)
    troubles += lift_troubles(floors.world, floors.lifts)
    sides = list(_block_sides(floors))
    blocks = [Block(side.obstacle.kind, side.height) for side in sides]
    rides, unable = _rides(library, floors)
    troubles += unable
    try:
        extended, clips = fitted_library(library, [flight for *_, flight in flights], blocks, rides)
    except LibraryError as problem:
        return LevelLibrary(library, tuple(links), (*troubles, str(problem)))
    for name, obstacle, stairs, flight in flights:
        own = {direction: clips[f"stairs_{direction}_{flight.label}"] for direction in DIRECTIONS}
        found, trouble = _flight_links(floors, name, obstacle, stairs, own)
        links += found
        troubles += [trouble] if trouble else []
    for belt in floors.world.escalators if rides else ():
        ride = Ride.of(belt)
        found, trouble = _belt_links(floors, belt, clips[f"{ride.kind}_{ride.label}"])
        links += found
        troubles += [trouble] if trouble else []
    links += [link for side in sides for link in _side_links(floors, side, clips)]
    troubles += dict.fromkeys(trouble for side in sides if (trouble := _untaken(library, side)))
    return LevelLibrary(extended, tuple(links), tuple(troubles))


@dataclass(frozen=True, eq=False)
class _BlockSide:
    """A side of a block, over which people get onto it and down from it."""

    name: str
    obstacle: Obstacle
    pose: Pose
    """Middle of the side, and the heading of those who climb up."""
    width: float
    height: float
    """Height of its top over the floor there [m]."""
    below: Floor
    above: Floor


def _block_sides(floors: Floors) -> Iterator[_BlockSide]:
    """Yield the sides of all blocks that stand on a floor."""
    for index, obstacle in enumerate(floors.world.obstacles):
        shape = obstacle.shape
        if obstacle.kind not in BLOCKS or not isinstance(shape, Upright) or shape.outline.radius > 0.0:
            continue
        ring = shapely.get_coordinates(shapely.geometry.polygon.orient(core_geometry(shape.outline)).exterior)
        for begin, end in pairwise(ring):
            along, middle = end - begin, 0.5 * (begin + end)
            width = float(np.hypot(*along))
            heading = math.atan2(along[0], -along[1])  # to the left of the side, where the block is
            out = middle - _STAND * np.array([math.cos(heading), math.sin(heading)])
            inside = middle + 0.05 * np.array([math.cos(heading), math.sin(heading)])
            top = shape.heights[1]
            above = _floor(floors, (float(inside[0]), float(inside[1]), 0.0), top)
            lower = [
                floor
                for floor in floors.floors
                if floor.relief is None
                and floor.covers(float(out[0]), float(out[1]))
                and shape.heights[0] - _LEVEL <= floors.height(floor, float(out[0]), float(out[1])) < top - _LEVEL
            ]
            if above is None or not lower or width < 2.0 * _BODY:
                continue
            below = max(lower, key=lambda floor: floor.height)
            height = round(top - floors.height(below, float(out[0]), float(out[1])), 3)
            pose = float(middle[0]), float(middle[1]), heading
            yield _BlockSide(obstacle.name or f"{obstacle.kind} {index}", obstacle, pose, width, height, below, above)


def _side_links(floors: Floors, side: _BlockSide, clips: Mapping[str, FittedClip]) -> Iterator[Link]:
    """Yield the links over a side of a block, up and down, beside one another."""
    room = 0.5 * side.width - _BODY
    count = min(1 + int(2.0 * room / _ELBOWS + 1e-9), _MOST_BESIDE)
    for direction in DIRECTIONS:
        fitted = clips.get(f"{side.obstacle.kind}_{direction}_{1000.0 * side.height:.4g}")
        if fitted is None:
            continue
        up = direction == "up"
        x, y, heading = side.pose
        facing = (x, y, heading if up else float(planar.wrap_angle(heading + math.pi)))
        source, target = (side.below, side.above) if up else (side.above, side.below)
        base = floors.height(source, x, y) if up else side.obstacle.shape.heights[1]
        for aside in np.linspace(-room, room, count) if count > 1 else [0.0]:
            entry = pose_of(planar.compose(facing, (-fitted.edge, float(aside), 0.0)))
            path = fitted.clip.planar_path()
            last = pose_of(planar.compose(entry, planar.relative(path[0], path[-1])))
            lands = source.covers(entry[0], entry[1]) and target.covers(last[0], last[1])
            parts = [(0.0, fitted.edge, base), (fitted.edge, _length(fitted) + _BODY, base + fitted.rise)]
            if lands and _blocker(floors, side.obstacle, entry, parts) is None:
                yield _link(f"{side.name} {direction}", fitted, source, target, entry, last)


def _untaken(library: Library, side: _BlockSide) -> str:
    """Say why nobody gets onto a block; empty if somebody does."""
    try:
        low, high = block_heights(library, side.obstacle.kind, "up")
    except LibraryError as problem:
        return f"{side.obstacle.kind} '{side.name}': {problem}"
    if low <= side.height <= high:
        return ""
    verb = "jumps onto" if side.obstacle.kind == "box" else "climbs"
    return (
        f"{side.obstacle.kind} '{side.name}' needs a step of {side.height:g} m; '{library.name}' {verb} "
        f"{low:.2f} to {high:.2f} m"
    )


def joint_links(library: Library, floors: Floors) -> tuple[list[Link], list[str]]:
    """Return the links at the joints of all ramps, and why some ramps have none."""
    links, troubles, most = [], [], steepest_for(library)
    shapes = {index: (name, ramp) for index, name, ramp in ramps(floors.world)}
    gait = _gait(library)
    for index, (name, ramp) in shapes.items():
        own = [joint for joint in floors.joints if joint.obstacle == index]
        if ramp.slope > most + 1e-9:
            steep, most_deg = math.degrees(ramp.slope), math.degrees(most)
            needed = ramp.height / math.tan(most)
            troubles.append(
                f"ramp '{name}': {steep:.0f} degrees steep; '{library.name}' walks up to {most_deg:.0f} degrees, so "
                f"make it {math.ceil(10.0 * needed) / 10.0:g} m long"
            )
            continue
        if not lanes(ramp.width):
            troubles.append(f"ramp '{name}': {ramp.width:g} m wide; a body needs {2.0 * _BODY:g} m")
            continue
        if gait is None:
            troubles.append(f"ramp '{name}': library '{library.name}' has no gait")
            continue
        for upper in (False, True):
            if upper not in {joint.upper for joint in own}:
                sign = 1.0 if upper else -1.0
                end = planar.transform_points((*ramp.center, ramp.yaw), (sign * 0.5 * ramp.length, 0.0))
                troubles.append(
                    f"ramp '{name}': no floor at height {ramp.heights[int(upper)]:.2f} m at ({end[0]:.1f}, "
                    f"{end[1]:.1f}), where it leads to"
                )
        links += [link for joint in own for link in _joint_links(floors, joint, name, ramp, gait)]
    return links, troubles


def _joint_links(floors: Floors, joint: Joint, name: str, ramp: Ramp, gait: str) -> Iterator[Link]:
    """Yield the links at a joint, in both directions and all lanes."""
    level, slope = floors.floors[joint.floor], floors.floors[joint.ramp]
    away = 0.5 * ramp.length + _BEYOND
    for onto in (True, False):
        # onto the ramp at its lower end, and from it at the upper one, people go as it rises
        rises = onto is not joint.upper
        heading = ramp.yaw if rises else float(planar.wrap_angle(ramp.yaw + math.pi))
        for aside in lanes(ramp.width):
            place = (away if joint.upper else -away, aside if rises else -aside)
            x, y = (float(v) for v in planar.transform_points((*ramp.center, ramp.yaw), place))
            source, target = (level, slope) if onto else (slope, level)
            if not shapely.dwithin(joint.strip, shapely.Point(x, y), 0.0):
                continue
            poses = [(x + floor.offset[0], y + floor.offset[1], heading) for floor in (source, target)]
            yield Link(name, None, gait, source, target, poses[0], poses[1])


def seam_links(library: Library, floors: Floors) -> list[Link]:
    """Return the links at the seams of walkable meshes, in both directions."""
    gait, out = _gait(library), list[Link]()
    for seam in () if floors.meshes is None or gait is None else floors.meshes.seams:
        ends = [floors.floors[number] for number in seam.floors]
        for x, y, heading, room in seam.crossings:
            back = float(planar.wrap_angle(heading + math.pi))
            aside = max(min(room - _BODY, 0.5 * _LANE), 0.0)  # people keep to the right
            for source, target, facing in ((ends[0], ends[1], heading), (ends[1], ends[0], back)):
                px, py = x + aside * math.sin(facing), y - aside * math.cos(facing)
                poses = [(px + floor.offset[0], py + floor.offset[1], facing) for floor in (source, target)]
                out.append(Link(source.name, None, gait or "", source, target, poses[0], poses[1]))
    return out


def lift_links(library: Library, floors: Floors) -> Iterator[Link]:
    """Yield the rides of all lifts from height to height, and the ways off their platforms."""
    gait = _gait(library)
    for sheet in floors.lifts if gait is not None else ():
        lift, here, floor = floors.world.lifts[sheet.lift], floors.floors[sheet.number], floors.floors[sheet.floor]
        if lift.dwell < LEAST_DWELL:
            continue
        others = [other for other in floors.lifts if other.lift == sheet.lift and other is not sheet]
        for other in others:
            there = floors.floors[other.number]
            waits = [_shifted(pose, floor.offset) for pose in _waiting(lift, sheet)]
            places = [_shifted(pose, here.offset) for pose in _standing(lift, sheet, other)]
            (dx, dy), (ox, oy) = there.offset, here.offset
            across = dx - ox, dy - oy
            ride = LiftRide(lift, sheet.stop, other.stop, here, tuple(waits), tuple(places), across)
            last = _shifted(places[0], across)
            yield Link(lift.name, None, gait or "", floor, there, waits[0], last, ride)
        door = _before(lift, sheet, _OFF, -_AISLE * _width(lift, sheet))
        poses = [(door[0] + f.offset[0], door[1] + f.offset[1], sheet.out) for f in (here, floor)]
        yield Link(lift.name, None, gait or "", here, floor, poses[0], poses[1])


def _shifted(pose: Pose, by: tuple[float, float]) -> Pose:
    return pose[0] + by[0], pose[1] + by[1], pose[2]


def _width(lift: Lift, sheet: LiftSheet) -> float:
    """Return the width of the door of a lift [m]."""
    return lift.size[1] if abs(math.cos(sheet.out - lift.yaw)) > 0.5 else lift.size[0]


def _before(lift: Lift, sheet: LiftSheet, away: float, aside: float) -> tuple[float, float]:
    """Return a place before the door of a lift, and to the left of those who leave [m]."""
    deep = 0.5 * (lift.size[0] if abs(math.cos(sheet.out - lift.yaw)) > 0.5 else lift.size[1])
    x, y = planar.transform_points((*lift.center, sheet.out), np.array([deep + away, aside])).tolist()
    return x, y


def _waiting(lift: Lift, sheet: LiftSheet) -> list[Pose]:
    """Return where people wait for a lift, in the place: at its door to their right, out of the way of who leaves."""
    back, half = float(planar.wrap_angle(sheet.out + math.pi)), 0.5 * _width(lift, sheet)
    sides = [_AISLE * 2.0 * half, _AISLE * 2.0 * half + _LANE]
    spots = [_before(lift, sheet, away, aside) for away in (_BEYOND, _BEYOND + _LANE) for aside in sides]
    kept = [p for p in spots if shapely.dwithin(sheet.strip.buffer(-_BODY), shapely.Point(p), 0.01)]
    return [(x, y, back) for x, y in kept or spots[:1]]


def _standing(lift: Lift, sheet: LiftSheet, other: LiftSheet) -> list[Pose]:
    """Return where people stand on a platform, in the place: as many as have room, and facing the door to come."""
    rows = [np.linspace(-room, room, 1 + int(2.0 * room / _LANE)) if room > 0.5 * _LANE else np.zeros(1)
            for room in (0.5 * size - _FROM_EDGE for size in lift.size)]  # fmt: skip
    grid = np.array([(x, y) for x in rows[0] for y in rows[1]])
    spots = planar.transform_points((*lift.center, lift.yaw), grid)
    deep = np.round(spots @ np.array([math.cos(sheet.out), math.sin(sheet.out)]), 3)
    order = np.lexsort((np.arange(len(spots)), deep))
    return [(float(spots[k, 0]), float(spots[k, 1]), other.out) for k in order.tolist()]


def _gait(library: Library) -> str | None:
    """Return a gait in the state in which a library has most of them; None if it has none."""
    gaits = [b for b in library.graph.behaviors if b.start == b.end and b.obstacle is None]
    moving = [b for b in gaits if any(_way(library.clips[clip]) > _PACE for clip in b.clips)]
    if not moving:
        return None
    counts = Counter(b.start for b in moving)
    state = max(counts, key=lambda one: counts[one])
    return next(b.name for b in moving if b.start == state)


def _way(clip: Clip) -> float:
    return float(np.hypot(*(clip.root_positions[-1, :2] - clip.root_positions[0, :2]))) / max(clip.duration, 1e-9)


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


def _rides(library: Library, floors: Floors) -> tuple[list[Ride], list[str]]:
    """Return the rides on the escalators of a place, and why a library has none."""
    rides = [Ride.of(belt) for belt in floors.world.escalators]
    try:
        if rides:
            ride_clips(library)
    except LibraryError as problem:
        return [], [f"escalator '{belt.name}': {problem}" for belt in floors.world.escalators]
    return rides, []


def _belt_links(floors: Floors, belt: Escalator, fitted: FittedClip) -> tuple[list[Link], str]:
    """Return the links of an escalator in all its lanes, and why there are none."""
    reasons, links = [], []
    ends = belt.heights[::-1] if belt.down else belt.heights
    room = 0.5 * belt.width - _BODY
    for aside in (-0.5 * _LANE, 0.5 * _LANE) if 2.0 * room >= _LANE - 1e-9 else (0.0,):
        start = (-0.5 * belt.length - fitted.edge, aside, 0.0)
        entry = pose_of(planar.compose((*belt.center, belt.heading), start))
        last = pose_of(planar.compose(entry, (_length(fitted), 0.0, 0.0)))
        source, target = (_floor(floors, pose, z) for pose, z in zip((entry, last), ends, strict=True))
        if source is None or target is None:
            pose, z = (entry, ends[0]) if source is None else (last, ends[1])
            reasons.append(f"no floor at height {z:.2f} m at ({pose[0]:.1f}, {pose[1]:.1f}), where it leads to")
            continue
        cuts = np.linspace(0.0, belt.length, 1 + math.ceil(belt.length / DEPTH))
        over = belt.bottom + np.asarray(belt.profile(belt.length - cuts if belt.down else cuts))
        parts = [(0.0, fitted.edge, ends[0]), (fitted.last_edge, _length(fitted), ends[1])]
        parts += [
            (fitted.edge + a, fitted.edge + b, float(min(low, high)))
            for (a, b), (low, high) in zip(pairwise(cuts.tolist()), pairwise(over.tolist()), strict=True)
        ]
        blocker = _blocker(floors, None, entry, parts)
        if blocker is not None:
            reasons.append(f"'{blocker}' is in the way on it")
            continue
        links.append(replace(_link(belt.name, fitted, source, target, entry, last), belt=belt))
    return links, "" if links else f"escalator '{belt.name}': {reasons[0]}"


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
        name, fitted, fitted.name, source, target, (entry[0] + x0, entry[1] + y0, entry[2]),
        (last[0] + x1, last[1] + y1, last[2]),
    )  # fmt: skip


def _length(fitted: FittedClip) -> float:
    return float(fitted.clip.root_positions[-1, 0] - fitted.clip.root_positions[0, 0])


def _blocker(
    floors: Floors, own: Obstacle | None, entry: Pose, parts: Sequence[tuple[float, float, float]]
) -> str | None:
    """Return what is in the way of a body on a link.

    Args:
        floors: floors of the place.
        own: the thing that is climbed; None for an escalator, whose panels count too.
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
