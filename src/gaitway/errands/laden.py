"""Laden people: who carries something wide is planned with room for it, beside tall things and among people."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import shapely

from gaitway.core.arrays import read_only
from gaitway.errands.belongings import Belongings
from gaitway.handling.grips import thing_carried
from gaitway.library.body_discs import BodyDiscs
from gaitway.limbs.stance import HANDS
from gaitway.space.fields import WorldFields
from gaitway.space.prepared import PreparedLibrary, changed_fields
from gaitway.world.footprint import core_geometry
from gaitway.world.levels.floors import EDGE
from gaitway.world.obstacle import WALL, Obstacle
from gaitway.world.shapes import Polygon
from gaitway.world.world import World

_AHEAD = 0.22
"""How much farther ahead than aside a body reaches as it walks: arms swing, and legs step [m]."""
_LEAST, _MOST = 0.04, 0.5
"""Room that is not worth a plan of its own, and most room that is given [m]."""
_HIGHER = 0.05
"""How much higher and lower than it is carried a thing may come [m]."""
_ROUND = 4
"""Sides of a quarter of the round corners of things that are given room."""


@dataclass(frozen=True)
class LoadRoom:
    """The room that somebody needs for what is carried."""

    wider: float
    """How much wider than usual that person is [m]."""
    low: float
    """Height of its lowest point over the floor [m]."""
    high: float
    """Height of its highest point [m]."""


def load_room(owned: Belongings, who: str, radius: float) -> LoadRoom | None:
    """Return the room that somebody needs for what is carried; None if that is as wide as anybody.

    Args:
        owned: who has what.
        who: the person.
        radius: radius of that person [m].
    """
    wider, low, high = 0.0, np.inf, -np.inf
    for hand in HANDS:
        name = owned.holds(who, hand)
        if name is None:
            continue
        bare = owned.handler(who, (0.0, 0.0, 0.0), 0.0, set(owned.things), bare=True)
        wrist = bare.wrist(owned.home(bare, who), hand)
        shape = thing_carried(owned.things[name], owned.states[name].pose)
        points = np.array([wrist.point(end) for end in (*shape.starts, *shape.ends)])
        radii = np.tile(shape.radii, 2)
        aside, ahead = (float((np.abs(points[:, k]) + radii).max()) for k in (1, 0))
        wider = max(wider, aside - radius, ahead - radius - _AHEAD)
        low, high = min(low, float((points[:, 2] - radii).min())), max(high, float((points[:, 2] + radii).max()))
    if wider < _LEAST:
        return None
    return LoadRoom(round(min(wider, _MOST), 2), round(low - _HIGHER, 2), round(high + _HIGHER, 2))


class LadenLibraries:
    """Libraries of people who carry something wide. **Mutable**: they are made when asked for."""

    def __init__(self) -> None:
        self._placed: dict[tuple[WorldFields, LoadRoom], tuple[WorldFields, dict[Hashable, Any]]] = {}
        self._bodies: dict[tuple[BodyDiscs, float], tuple[BodyDiscs, dict[Hashable, Any]]] = {}

    def prepared(self, base: PreparedLibrary, world: World, room: LoadRoom) -> PreparedLibrary:
        """Return a library with room for a load.

        Args:
            base: the library of somebody who carries nothing.
            world: the world that it was prepared for.
            room: the room.
        """
        placed, body = (base.fields, room), (base.discs, room.wider)
        if placed not in self._placed:
            self._placed[placed] = (changed_fields(base, grown(world, room)), {})
        if body not in self._bodies:
            self._bodies[body] = (_wider(base.discs, room.wider), {})
        discs, parts = self._bodies[body]
        return replace(base.in_world(*self._placed[placed]), discs=discs, shared_parts=parts)


def grown(world: World, room: LoadRoom) -> World:
    """Return a world in which all that is as high as a load is wider by the room that the load needs."""
    more = []
    for obstacle in world.obstacles:
        low, high = obstacle.shape.heights
        edge = obstacle.name == "bounds" or (obstacle.name or "").startswith(EDGE)  # which a load may be over
        if obstacle.kind != WALL or edge or high <= room.low or low >= room.high:
            continue
        footprint = obstacle.shape.footprint(room.low, room.high)
        if not footprint.empty:
            area = core_geometry(footprint).buffer(footprint.radius + room.wider, quad_segs=_ROUND)
            for part in shapely.get_parts(shapely.simplify(area, 0.005)):
                rings = [tuple((float(x), float(y)) for x, y in ring.coords[:-1])
                         for ring in (part.exterior, *part.interiors)]  # fmt: skip
                more.append(Obstacle(Polygon(rings[0], high - max(low, 0.0), tuple(rings[1:])), WALL, obstacle.name))
    return replace(world, obstacles=(*world.obstacles, *more))


def _wider(discs: BodyDiscs, wider: float) -> BodyDiscs:
    """Return discs of bodies among people, wider by what is carried; those among things stay."""
    by = np.array([0.0, 0.0, wider])
    return replace(
        discs, timed=read_only(discs.timed + by), window_bounds=read_only(discs.window_bounds + wider),
        window_around=read_only(discs.window_around + by),
    )  # fmt: skip
