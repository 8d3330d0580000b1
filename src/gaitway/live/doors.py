"""Doors of a live crowd: they open and shut while people walk, and shut on nobody.

To the crowd a door is an obstacle that stands. While it opens it counts as shut, and from when it begins to shut it
counts as shut, so that nobody plans a way through a leaf that moves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
import shapely.ops

from gaitway.errands.doors import Doorkeeper, DoorMove, FloorLink, PlacedLibraries, barring_door, place_before
from gaitway.errands.orders import Pose
from gaitway.errands.standing_places import StandingPlaces
from gaitway.live.crowd import LiveCrowd
from gaitway.space.fields import WorldFields
from gaitway.space.prepared import PreparedLibrary
from gaitway.world.doors import Door
from gaitway.world.world import World, realised, with_doors

_BODY = 0.45
"""Distance from the middle of a body within which a leaf does not begin to move [m]."""
_TOUCHED = 0.3
"""The same, within which a leaf that shuts opens again [m]."""
_AHEAD, _COMMITTED = 2.0, 4.0
"""Lengths of the way ahead on which a door waits for somebody, and on which nobody is turned back any more [m]."""
_FARTHER = 0.9
"""How much farther away from a door live people wait than planned ones, who stop where they are told to [m]."""


@dataclass(frozen=True, kw_only=True)
class DoorMoved:
    """A door begins to open or to shut."""

    time: float
    """When [s]."""
    door: str
    opens: bool
    """Whether it opens; else it shuts."""
    until: float
    """When it stands again, if nobody comes in its way [s]."""
    asked: float
    """When a rule or a call asked for it [s]."""
    waited_for: str
    """Who was in the way until now; empty if nobody was."""


class LiveDoors:
    """The doors of a live crowd. This class is **mutable**."""

    def __init__(self, keeper: Doorkeeper, world: World, flat: World, base: PreparedLibrary, crowd: LiveCrowd) -> None:
        """Begin with all doors as the world has them.

        Args:
            keeper: what the doors were asked to do, in the plane of the floors.
            world: the world of the scene.
            flat: the plane of its floors as a world; the same world where there is one floor.
            base: a library, prepared for these doors.
            crowd: the crowd, which lives in `with_doors` of that world.
        """
        self.keeper, self.world, self.crowd = keeper, world, crowd
        self._base, self._placed = base, PlacedLibraries(flat, keeper.asked_open)
        self.passable = dict(keeper.asked_open)
        """Which doors the crowd takes to be open, by name."""

    def moved_to(self, world: World, flat: World, base: PreparedLibrary) -> LiveDoors:
        """Return the same doors in a world that was edited; `base` is prepared for the doors as they were asked."""
        doors = LiveDoors(self.keeper, world, flat, base, self.crowd)
        doors.passable = self.passable
        self.crowd.set_world(with_doors(world, self.passable))
        return doors

    @property
    def fields(self) -> WorldFields:
        """Fields of the world, with the doors as they were asked to be."""
        return self._placed.prepared(self._base, self.keeper.asked_open).fields

    def facts(self, begin: float = 0.0) -> dict[str, Any]:
        """Return how doors have moved, as facts of a take that begins at a time [s]."""
        return {"doors": self.keeper.facts(begin)}

    def now(self) -> World:
        """Return the world with its doors as they have moved so far."""
        return realised(self.world, self.facts())

    def barring(self, pose: Pose, goal: tuple[float, float], tolerance: float) -> Door | None:
        """Return the door that somebody at a pose has to wait for to get near a goal; None if none is in the way."""
        return barring_door(self.fields.parts, self.keeper.shut, pose[:2], goal, tolerance, self._links())

    def place(self, door: str, standing: StandingPlaces, who: str, radius: float, pose: Pose) -> Pose | None:
        """Return where somebody waits before a door; None if there is no room."""
        parts, leaf = self.fields.parts, self.keeper.doors[door]
        return place_before(parts, leaf, standing, who, radius, pose, _FARTHER, self._links())

    def _links(self) -> Sequence[FloorLink]:
        """Return the ways of people from floor to floor."""
        return () if self.crowd.floors is None else self.crowd.floors.links

    def too_late(self, name: str, door: str) -> bool:
        """Return whether somebody is in a doorway, or so near that it is passed before a step can be broken off."""
        return bool(self._in_the_way(door, _BODY, _COMMITTED, [name]))

    def step(self, time: float, tell: Callable[[DoorMoved], None]) -> None:
        """Go on to a time [s]: let doors begin to move, or stop, where people allow or ask for it."""
        for name in self.keeper.doors:
            if self.keeper.moving(name, time) and not self.keeper.asked_open[name] and name not in self.keeper.waiting:
                who = self._in_the_way(name, _TOUCHED, 0.0)
                if who:
                    self._open_again(name, time, who, tell)
            if name in self.keeper.waiting:
                self._try(name, time, tell)
        self._pass(time)

    def _try(self, name: str, time: float, tell: Callable[[DoorMoved], None]) -> None:
        """Let a door begin to move if nobody is in its way."""
        shuts = not self.keeper.asked_open[name]
        who = self._in_the_way(name, _BODY, _AHEAD if shuts else 0.0)
        if who:
            self.keeper.wait_for(name, who)
            return
        self._told(name, self.keeper.begin(name, time), tell)

    def _open_again(self, name: str, time: float, who: str, tell: Callable[[DoorMoved], None]) -> None:
        """Let a door that shuts open again because of somebody, and shut later."""
        self.keeper.ask(name, True, time)
        self._told(name, self.keeper.begin(name, time), tell)
        self.keeper.ask(name, False, time)
        self.keeper.wait_for(name, who)

    def _told(self, name: str, move: DoorMove | None, tell: Callable[[DoorMoved], None]) -> None:
        if move is not None:
            tell(
                DoorMoved(
                    time=move.begins, door=name, opens=move.opens, until=move.ends, asked=move.asked,
                    waited_for=move.waited_for,
                )
            )  # fmt: skip

    def _pass(self, time: float) -> None:
        """Let the crowd know which doors can be passed: those that stand open, also where they are about to shut."""
        passable = {name: self.keeper.stands_open(name, time) for name in self.keeper.doors}
        if passable != self.passable:
            self.passable = passable
            self.crowd.set_world(with_doors(self.world, passable))

    def _in_the_way(self, door: str, room: float, ahead: float, names: list[str] | None = None) -> str:
        """Return somebody who is in a doorway, or comes into it on the next metres of the way; empty if nobody is."""
        area, offset = self.keeper.needed(door), np.array(self.keeper.doors[door].offset)
        for name in self.crowd.names if names is None else names:
            here = shapely.Point(self.crowd.roots_in_plane(name)[0, :2])
            if shapely.distance(area, here) < room:
                return name
            if ahead > 0.0 and shapely.distance(area, here) < room + ahead:
                way = self.crowd.way_ahead(name)[0][1:, :2] + offset
                if _cut(np.vstack([[here.x, here.y], way]), ahead).distance(area) < 0.5 * room:
                    return name
        return ""


def _cut(points: Any, length: float) -> shapely.Geometry:
    """Return the beginning of a line through points (N, 2), up to a length [m]."""
    line = shapely.LineString(points) if len(points) > 1 else shapely.Point(points[0])
    return line if line.length <= length else shapely.ops.substring(line, 0.0, length)
