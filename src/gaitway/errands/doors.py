"""Doors of a run of errands: when each is asked to move and when it does, which one is in the way, where people wait.

A door never moves where somebody is. It waits until the floor that its leaf will cover is free, and the take says so.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import shapely

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.errands.orders import Pose
from gaitway.errands.standing_places import StandingPlaces
from gaitway.space._traffic_kernels import FOREVER, SLOT
from gaitway.space.fields import WorldFields
from gaitway.space.mover_sweep import Swept
from gaitway.space.prepared import PreparedLibrary, changed_fields
from gaitway.world.clearance import Components
from gaitway.world.doors import Door
from gaitway.world.obstacle import Mover
from gaitway.world.world import World, with_doors

_MARGIN = 0.08
"""How far discs of movers reach beyond them [m]: so much room a leaf needs around it."""
_RESTS = 0.2
"""Distance from where a leaf stands within which people may stand who do not hinder it [m]."""
_CLEAR = 0.5
"""Least distance between where somebody waits and the floor that a leaf sweeps [m]; arms reach that far."""
_FACES = (0.35, 0.5, 0.7)
"""Distances from the middle of a leaf at which its two sides are looked for [m], one after another."""
_ROWS, _FILES = (1.1, 2.0, 2.9, 3.8, 4.7), (0.95, -0.95, 1.85, -1.85, 2.75, -2.75)
"""Distances before a doorway and beside its middle at which people wait for it [m]; the way through stays free."""

FloorLink = tuple[Pose, Pose]
"""A way from floor to floor: the pose in which stairs are boarded, and the one in which they are left."""
_LANDINGS = (0.0, 0.4, 0.8, 1.2)
"""Distances before and behind stairs at which the floor there is looked for [m], one after another."""
Prepared = tuple[WorldFields, dict[Any, Any]]


@dataclass(frozen=True)
class DoorMove:
    """One move of a door."""

    opens: bool
    """Whether it opens; else it shuts."""
    asked: float
    """When a rule or a call asked for it [s]."""
    begins: float
    ends: float
    """From when to when the leaf moves [s]."""
    waited_for: str = ""
    """Who was in the way until it began; empty if nobody was."""

    def row(self, begin: float) -> list[Any]:
        """Return the move as plain JSON values, for a take that begins at a time [s]."""
        times = (round(time - begin, 3) for time in (self.asked, self.begins, self.ends))
        return ["opens" if self.opens else "shuts", *times, self.waited_for]


class Doorkeeper:
    """The doors of a world: what each was asked to do, and how it has moved. This class is **mutable**."""

    def __init__(self, world: World) -> None:
        self.doors: Mapping[str, Door] = {door.name: door for door in world.doors}
        self.asked_open = {name: door.begins_open for name, door in self.doors.items()}
        """Whether each door was last asked to be open, by name."""
        self.waiting: dict[str, tuple[float, str]] = {}
        """Doors that were asked to move and cannot yet: since when [s], and who is in the way."""
        self.moves: dict[str, list[DoorMove]] = {name: [] for name in self.doors}
        self._keys: dict[str, list[tuple[float, Pose]]] = {
            name: [(0.0, door.open if door.begins_open else door.shut)] for name, door in self.doors.items()
        }

    @property
    def shut(self) -> list[Door]:
        """The doors that are shut, or were asked to."""
        return [door for name, door in self.doors.items() if not self.asked_open[name]]

    def ask(self, name: str, to_open: bool, time: float) -> bool:
        """Ask a door to be open or shut from a time on [s]; return whether that is something new."""
        if self.asked_open[name] == to_open:
            return False
        self.asked_open[name] = to_open
        if self.waiting.pop(name, None) is None or not self._stands(name, to_open, time):
            self.waiting[name] = (time, "")
        return True

    def wait_for(self, name: str, who: str) -> None:
        """Note who is in the way of a door that was asked to move."""
        self.waiting[name] = (self.waiting[name][0], who)

    def begin(self, name: str, time: float) -> DoorMove | None:
        """Let a door that was asked to move begin at a time [s]; None if it is there already."""
        asked, who = self.waiting.pop(name)
        door, to_open = self.doors[name], self.asked_open[name]
        target, here = door.open if to_open else door.shut, self.pose(name, time)
        share = _share(here, target, door)
        self._keys[name] = [key for key in self._keys[name] if key[0] < time - 1e-9]
        if self.moves[name] and self.moves[name][-1].begins >= time:  # it never began
            self.moves[name].pop()
        elif self.moves[name] and self.moves[name][-1].ends > time:  # it turns round on its way
            self.moves[name][-1] = replace(self.moves[name][-1], ends=time)
        if share <= 1e-9:
            self._keys[name].append((time, target))
            return None
        ends = time + share * door.seconds
        self._keys[name] += [(time, here), (ends, target)]
        move = DoorMove(to_open, asked, time, ends, who)
        self.moves[name].append(move)
        return move

    def pose(self, name: str, time: float) -> Pose:
        """Return where the leaf of a door is at a time [s], as far as that is known."""
        x, y, yaw = self.mover(name).pose(time).tolist()
        return x, y, yaw

    def moving(self, name: str, time: float) -> bool:
        """Return whether a door moves at a time [s], or is about to."""
        return bool(self.moves[name]) and time < self.moves[name][-1].ends

    def stands_open(self, name: str, time: float) -> bool:
        """Return whether a door stands open at a time [s], and does not move."""
        return not self.moving(name, time) and self._stands(name, True, time)

    def mover(self, name: str) -> Mover:
        """Return the leaf of a door as it has moved and will move, as far as that is known."""
        keys = self._keys[name]
        return self.doors[name].mover([time for time, _ in keys], [pose for _, pose in keys])

    def facts(self, begin: float = 0.0) -> dict[str, Any]:
        """Return how all doors move, as a fact of a take that begins at a time [s]; see `realised`."""
        return {
            name: {
                "path": [
                    [round(time - begin, 6), *(round(value, 9) for value in self._in_place(name, pose))]
                    for time, pose in self._keys[name]
                ],
                "moves": [move.row(begin) for move in self.moves[name]],
            }
            for name in self.doors
        }

    def _in_place(self, name: str, pose: Pose) -> Pose:
        """Return a pose of a leaf in the place, where this keeper has it in the plane of the floors."""
        (x, y, yaw), (dx, dy) = pose, self.doors[name].offset
        return x - dx, y - dy, yaw

    def needed(self, name: str) -> shapely.Geometry:
        """Return the floor that must be free when a door moves as it was asked to: where its leaf does not stand."""
        door, to_open = self.doors[name], self.asked_open[name]
        stands = door.obstacle(not to_open).shape.footprint()
        before = shapely.Polygon(stands.rings[0]).buffer(_RESTS)
        return shapely.difference(door.sweep, before).buffer(_MARGIN)

    def _stands(self, name: str, is_open: bool, time: float) -> bool:
        """Return whether a door stands where it was asked to be."""
        door = self.doors[name]
        return _share(self.pose(name, time), door.open if is_open else door.shut, door) <= 1e-9


def _share(here: Pose, there: Pose, door: Door) -> float:
    """Return which share of a door's way lies between two poses of its leaf, from 0 to 1."""
    whole = np.abs(np.subtract(door.open, door.shut)).sum()
    return float(np.abs(np.subtract(here, there)).sum() / whole)


class PlacedLibraries:
    """Libraries prepared for a world by which of its doors are open. **Mutable**: they are made when asked for."""

    def __init__(self, world: World, first: Mapping[str, bool]) -> None:
        self.world, self.first = world, dict(first)
        self._known: dict[tuple[WorldFields, frozenset[str]], Prepared] = {}

    def prepared(self, base: PreparedLibrary, are_open: Mapping[str, bool]) -> PreparedLibrary:
        """Return a library that was prepared for the doors of the beginning, for other doors."""
        if are_open == self.first:
            return base
        key = (base.fields, frozenset(name for name, is_open in are_open.items() if is_open))
        if key not in self._known:
            self._known[key] = (changed_fields(base, with_doors(self.world, are_open)), {})
        return base.in_world(*self._known[key])


def barring_door(
    parts: Components, shut: Sequence[Door], start: tuple[float, float], goal: tuple[float, float], tolerance: float,
    links: Sequence[FloorLink] = (),
) -> Door | None:  # fmt: skip
    """Return the first door on the way to a goal that would have to open; None if the way is free, or there is none.

    Args:
        parts: parts of free space, with these doors shut.
        shut: the doors that are shut.
        start: where somebody is [m].
        goal: where that person goes [m].
        tolerance: how near is near enough [m].
        links: ways from floor to floor.
    """
    here, stairs = int(parts.at(start)), [_link_ends(parts, link) for link in links]
    if here == 0 or parts.connected(start, goal, tolerance):
        return None
    nearest = sorted(shut, key=lambda door: (round(math.dist(start, door.middle), 3), door.name))
    sides = [(door, [side(parts, door, sign) for sign in (1.0, -1.0)]) for door in nearest]
    seen, ways = {here}, deque[tuple[int, Door | None]]([(here, None)])
    while ways:
        part, first = ways.popleft()
        for entry, leads_to in stairs:
            if entry != part or leads_to is None or leads_to[0] in seen:
                continue
            if parts.connected(leads_to[1], goal, tolerance):
                return first
            seen.add(leads_to[0])
            ways.appendleft((leads_to[0], first))  # stairs first: doors are what is counted
        for door, (one, other) in sides:
            beyond = other if one and one[0] == part else one if other and other[0] == part else None
            if beyond is None or beyond[0] in seen:
                continue
            if parts.connected(beyond[1], goal, tolerance):
                return first or door
            seen.add(beyond[0])
            ways.append((beyond[0], first or door))
    return None


def reached_parts(parts: Components, start: tuple[float, float], links: Sequence[FloorLink]) -> set[int]:
    """Return the parts of free space to which stairs lead from a point [m], and the one in which it lies."""
    found, stairs = {int(parts.at(start))}, [_link_ends(parts, link) for link in links]
    while more := {there[0] for entry, there in stairs if entry in found and there is not None} - found:
        found |= more
    return found


def _link_ends(parts: Components, link: FloorLink) -> tuple[int, tuple[int, tuple[float, float]] | None]:
    """Return the parts of free space from which and to which stairs lead, the latter with a point there [m]."""
    found = list[tuple[int, tuple[float, float]] | None]()
    for (x, y, heading), sign in zip(link, (-1.0, 1.0), strict=True):
        along = (sign * math.cos(heading), sign * math.sin(heading))
        points = [(x + away * along[0], y + away * along[1]) for away in _LANDINGS]
        found.append(next(((part, p) for p in points if (part := int(parts.at(p))) > 0), None))
    return 0 if found[0] is None else found[0][0], found[1]


def side(parts: Components, door: Door, sign: float) -> tuple[int, tuple[float, float]] | None:
    """Return the part of free space on one side of a doorway, and a point there [m]; None if there is no room."""
    for away in _FACES:
        for along in (0.0, 0.25 * door.width, -0.25 * door.width):
            point = door.beside(along, sign * away)
            if (part := int(parts.at(point))) > 0:
                return part, point
    return None


def place_before(
    parts: Components, door: Door, standing: StandingPlaces, who: str, radius: float, pose: Pose, room: float = 0.0,
    links: Sequence[FloorLink] = (),
) -> Pose | None:  # fmt: skip
    """Return where somebody waits until a door opens, and looks at it; None if there is no room before it.

    The way through the doorway stays free, so that others can come out, and so does the floor that the leaf sweeps.

    Args:
        parts: parts of free space, with the door shut.
        door: the door.
        standing: where others stand.
        who: name of the person.
        radius: radius of the person [m].
        pose: where the person is now.
        room: how much farther away from the door than usual [m].
        links: ways from floor to floor.
    """
    reached = reached_parts(parts, pose[:2], links) - {0}
    for sign in (1.0, -1.0):
        found = side(parts, door, sign)
        if found is None or found[0] not in reached:
            continue
        here = found[0]
        places = [(along, away + room) for away in _ROWS for along in _FILES]
        points = np.array([door.beside(along, sign * away) for along, away in places])
        before, walked = np.hypot(*np.array(places).T), np.hypot(*(points - np.array(pose[:2])).T)
        points = points[np.lexsort((np.round(walked, 3), np.round(before, 3)))]
        free = standing.free(points, who, radius) & (parts.at(points) == here)
        free &= shapely.distance(door.sweep, shapely.points(points)) > _CLEAR
        for x, y in points[free].tolist():
            if standing.in_sight(found[1], np.array([x, y])):
                return x, y, math.atan2(door.middle[1] - y, door.middle[0] - x)
    return None


def spans_within(held: Iterable[Swept], area: shapely.Geometry, time: float) -> list[tuple[float, float]]:
    """Return when something that is swept is within an area, from a time on: times from and until [s]."""
    found: list[tuple[float, float]] = []
    for swept in held:
        later = (swept.slots[:, 1] * SLOT > time) & _near(swept.around, area)
        for k in np.flatnonzero(later).tolist():
            discs = swept.discs[swept.starts[k] : swept.starts[k + 1]]
            if _near(discs, area).any():
                first, end = swept.slots[k].tolist()
                found.append((max(first * SLOT, time), math.inf if end >= FOREVER else end * SLOT))
    return sorted(found)


def _near(discs: FloatArray, area: shapely.Geometry) -> BoolArray:
    """Return which discs (N, 3) meet an area; (N,)."""
    return np.asarray(shapely.distance(area, shapely.points(discs[:, :2])) < discs[:, 2])


def free_from(
    people: Mapping[str, Callable[[], list[Swept]]], area: shapely.Geometry, time: float
) -> tuple[float, str]:
    """Return from when on nobody is within an area any more [s], and who is the last one there.

    Args:
        people: what everybody covers, by name.
        area: the floor.
        time: from when on [s].
    """
    last, who = time, ""
    for name, held in people.items():
        for _, end in spans_within(held(), area, time):
            if end > last:
                last, who = end, name
    return last, who
