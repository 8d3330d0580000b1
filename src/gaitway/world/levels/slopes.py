"""Sloping floors: ramps between level floors, each with a strip of the floors at its ends.

A ramp is a floor of its own. At each end it also has a strip of the floor to which it leads, so that whoever walks
there is on both. Ways lead from one floor to the other on such a strip, at a joint, without any clip of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import shapely

from gaitway.core import planar
from gaitway.world.footprint import core_geometry, united
from gaitway.world.shapes import Ramp
from gaitway.world.terrain import Terrain
from gaitway.world.world import World

STRIP = 2.2
"""Length of the strip of a floor that belongs to a ramp too [m]."""
_WIDER = 0.6
"""How much wider than the ramp that strip is on either side [m]."""
_LEVEL = 0.03
"""Greatest difference of the height of a ramp's end from the floor that it leads to [m]."""
_GAP = 0.02
"""Half the greatest gap between a ramp and the floor that it leads to [m]."""
_CELL = 0.05
"""Distance between the heights of a ramp [m]."""
_NEAREST = 0.3
"""Distance beyond the end of a ramp at which the floor must be to which it leads [m]."""


@dataclass(frozen=True, eq=False)
class FloorPart:
    """A floor as it is found: not numbered, and not in the plane yet."""

    name: str
    height: float
    region: shapely.Geometry
    core: shapely.Geometry | None = None
    """The part that no other floor has; None for all of it."""
    relief: Terrain | None = None
    """Heights of its ground; None for a level floor."""


@dataclass(frozen=True, eq=False)
class Joint:
    """A strip that two floors have in common at the end of a ramp."""

    floor: int
    """Number of the level floor."""
    ramp: int
    """Number of the floor of the ramp."""
    obstacle: int
    """Number of the ramp among the obstacles."""
    upper: bool
    """Whether it is the upper end."""
    strip: shapely.Geometry


def ramps(world: World) -> Iterator[tuple[int, str, Ramp]]:
    """Yield number, name and shape of all ramps of a world on which people walk."""
    for index, obstacle in enumerate(world.obstacles):
        if obstacle.kind == "ramp" and isinstance(obstacle.shape, Ramp):
            yield index, obstacle.name or f"ramp {index}", obstacle.shape


def sloping(world: World, level: Sequence[FloorPart]) -> tuple[list[FloorPart], list[Joint]]:
    """Find the floors that ramps are, and where they join level floors.

    Args:
        world: the place.
        level: its level floors, by number.
    """
    parts: list[FloorPart] = []
    joints: list[Joint] = []
    for index, name, ramp in ramps(world):
        core = core_geometry(ramp.footprint())
        strips = []
        for upper in (False, True):
            found = _floor_at(world, level, ramp, upper)
            if found is None:
                continue
            strip = _strip(ramp, upper).intersection(level[found].region)
            strips.append(strip)
            joints.append(Joint(found, len(level) + len(parts), index, upper, strip))
        wide = [part.buffer(_GAP, join_style="mitre") for part in (core, *strips)]
        region = united(wide).buffer(-_GAP, join_style="mitre")
        x0, y0, x1, y1 = region.bounds
        around = (x0 - 2.0, y0 - 2.0, x1 + 2.0, y1 + 2.0)
        cell = max(_CELL, math.sqrt((x1 - x0 + 4.0) * (y1 - y0 + 4.0) / 1e6))
        parts.append(FloorPart(name, ramp.bottom, region, core, Terrain.of(ramp.surface_height, around, cell)))
    return parts, joints


def _floor_at(world: World, level: Sequence[FloorPart], ramp: Ramp, upper: bool) -> int | None:
    """Return the number of the level floor at an end of a ramp; None if there is none."""
    half = 0.5 * ramp.length + _NEAREST
    place = planar.transform_points((*ramp.center, ramp.yaw), (half if upper else -half, 0.0))
    height = ramp.heights[int(upper)]
    for number, part in enumerate(level):
        if part.relief is not None:
            ground = float(part.relief.height(place))
        else:
            ground = float(world.ground(place)) if number == 0 else part.height
        if abs(ground - height) <= _LEVEL and shapely.dwithin(part.region, shapely.Point(place), 0.0):
            return number
    return None


def _strip(ramp: Ramp, upper: bool) -> shapely.Geometry:
    begin, aside = 0.5 * ramp.length, 0.5 * ramp.width + _WIDER
    sign = 1.0 if upper else -1.0
    corners = [
        (sign * x, y) for x, y in ((begin, -aside), (begin + STRIP, -aside), (begin + STRIP, aside), (begin, aside))
    ]
    return shapely.Polygon(planar.transform_points((*ramp.center, ramp.yaw), np.array(corners)))
