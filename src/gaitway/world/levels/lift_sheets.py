"""Platforms of lifts as floors: one for each height at which a lift stands, with the floor before its door.

While a lift stands, its platform and the floor before its door are one piece of ground. So it is laid out in the plane
once for each height. Whoever is before the door is seen there and on the floor itself, and whoever is on the platform
is seen on all pieces of that lift.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely

from gaitway.core import planar
from gaitway.core.errors import WorldError
from gaitway.world.escalators import Escalator
from gaitway.world.footprint import core_geometry, united
from gaitway.world.levels.slopes import FloorPart
from gaitway.world.lifts import Lift
from gaitway.world.obstacle import LEVEL_KINDS
from gaitway.world.world import World

DEEP, _WIDER = 2.4, 0.7
"""Length of the floor before a door that belongs to a platform too, and how much wider than the door it is on either
side [m]."""
_BEFORE = 0.7
"""Distance before a door at which there must be floor [m]."""
_LEVEL = 0.03
"""Greatest difference of the height of a floor from that at which a lift stands [m]."""
_GAP = 0.05
"""Greatest gap between a platform and the floor before its door [m]."""
LEAST_DWELL = 4.0
"""Least time for which a lift must stand for anybody to use it [s]."""
_SMALLEST = 1.0
"""Least length and width of a platform [m]."""
_SLIVER = 0.02
"""Area over a platform that is not in its way [m^2]."""
SIDES = (0.0, math.pi, 0.5 * math.pi, -0.5 * math.pi)
"""Directions in which one leaves a lift by its doors, in its own frame [rad]."""


@dataclass(frozen=True, eq=False)
class LiftSheet:
    """The platform of a lift at one height, with the floor before its door."""

    lift: int
    """Number of the lift in the world."""
    stop: int
    """Number of the height among those of the lift."""
    floor: int
    """Number of the floor before its door."""
    number: int
    """Number of the floor that it is itself."""
    part: FloorPart
    out: float
    """Heading of those who leave by its door [rad]."""
    cabin: shapely.Geometry
    """The platform."""
    strip: shapely.Geometry
    """The floor before the door."""


def lift_sheets(world: World, level: Sequence[FloorPart], first: int) -> list[LiftSheet]:
    """Return the platforms of all lifts at all heights at which there is a floor beside them.

    Args:
        world: the place.
        level: its level floors, by number.
        first: number of the first floor that is none of these.
    """
    out: list[LiftSheet] = []
    for number, lift in enumerate(world.lifts):
        doors = [_doors(level, lift, height) for height in lift.heights]
        single = next((own[0][1] for own in doors if len(own) == 1), None)
        for stop, (height, own) in enumerate(zip(lift.heights, doors, strict=True)):
            if not own:
                continue
            through = [door for door in own if single is not None and _opposite(door[1], single)]
            floor, side = through[0] if len(own) > 1 and through else own[0]
            strip = _strip(lift, side).intersection(level[floor].region)
            wide = [area.buffer(_GAP, join_style="mitre") for area in (lift.area, strip)]
            region = united(wide).buffer(-_GAP, join_style="mitre")
            part = FloorPart(f"{lift.name} at {height:g} m", height, region, shapely.Polygon())
            heading = float(planar.wrap_angle(lift.yaw + side))
            out.append(LiftSheet(number, stop, floor, first + len(out), part, heading, lift.area, strip))
    return out


def check_carrier(world: World, carrier: Lift | Escalator) -> None:
    """Check that a lift or an escalator can be used in a place.

    Raises:
        WorldError: if it cannot, with the reason.
    """
    is_lift = isinstance(carrier, Lift)
    who = f"{'lift' if is_lift else 'escalator'} '{carrier.name}'"
    if isinstance(carrier, Lift) and min(carrier.size) < _SMALLEST:
        length, width = carrier.size
        raise WorldError(f"{who} is {length:g} by {width:g} m; write {_SMALLEST:g} by {_SMALLEST:g} or more")
    x0, y0, x1, y1 = world.bounds
    if not shapely.box(x0, y0, x1, y1).covers(carrier.area):
        size = "" if isinstance(carrier, Lift) else f" ({carrier.length:.1f} by {carrier.outer_width:.1f} m)"
        raise WorldError(f"{who}{size} is not within the bounds; move it, or write larger bounds")
    sloping = world.terrain is not None or any(o.kind in LEVEL_KINDS - {"platform", "bridge"} for o in world.obstacles)
    if sloping:
        raise WorldError(
            f"{who}: there are no {'lifts' if is_lift else 'escalators'} beside slopes yet; take terrain, ramps or "
            "meshes out"
        )
    panels = sum(len(one.panels()) for one in world.escalators)  # the last of the obstacles
    for index, obstacle in enumerate(world.obstacles[: len(world.obstacles) - panels]):
        low, high = obstacle.shape.heights
        if high <= carrier.heights[0] + 1e-6 or low >= carrier.heights[-1] + 2.0:
            continue
        area = core_geometry(obstacle.shape.footprint()).buffer(obstacle.shape.footprint().radius)
        if area.intersection(carrier.area).area > _SLIVER:
            name = obstacle.name or f"{obstacle.kind} {index}"
            raise WorldError(f"{who}: '{name}' is in its way; leave its area free at all heights")
    others: list[Lift | Escalator] = [*world.lifts, *world.escalators]
    for other in others:
        apart = other is carrier or other.heights[0] >= carrier.heights[-1] or carrier.heights[0] >= other.heights[-1]
        if not apart and other.area.intersection(carrier.area).area > _SLIVER:
            raise WorldError(f"{who}: '{other.name}' is in its way; leave its area free at all heights")


def lift_troubles(world: World, sheets: Sequence[LiftSheet]) -> list[str]:
    """Say which lifts nobody can use, and at which heights they have no floor beside them."""
    known = {(sheet.lift, sheet.stop) for sheet in sheets}
    return [
        f"lift '{lift.name}' stands for {lift.dwell:g} s; nobody boards and leaves it in less than {LEAST_DWELL:g} s"
        for lift in world.lifts
        if lift.dwell < LEAST_DWELL
    ] + [
        f"lift '{lift.name}': no floor at height {height:.2f} m beside it, where it stands"
        for number, lift in enumerate(world.lifts)
        for stop, height in enumerate(lift.heights)
        if (number, stop) not in known
    ]


def _doors(level: Sequence[FloorPart], lift: Lift, height: float) -> list[tuple[int, float]]:
    """Return the floors beside a lift at a height, and on which sides of it they are; the widest side first."""
    found = []
    for order, side in enumerate(SIDES):
        away = 0.5 * lift.size[0 if order < 2 else 1]
        place = shapely.Point(_placed(lift, side, away + _BEFORE))
        edge = shapely.Point(_placed(lift, side, away + _GAP))
        for number, part in enumerate(level):
            level_with = part.relief is None and abs(part.height - height) <= _LEVEL
            if level_with and all(shapely.dwithin(part.region, point, 0.01) for point in (place, edge)):
                found.append((number, side))
    return found


def _strip(lift: Lift, side: float) -> shapely.Geometry:
    """Return the floor before a door, wherever there is some."""
    along, across = lift.size if abs(math.sin(side)) < 0.5 else lift.size[::-1]
    begin, aside = 0.5 * along, 0.5 * across + _WIDER
    corners = np.array([(begin, -aside), (begin + DEEP, -aside), (begin + DEEP, aside), (begin, aside)])
    return shapely.Polygon(planar.transform_points((*lift.center, lift.yaw + side), corners))


def _placed(lift: Lift, side: float, away: float) -> tuple[float, float]:
    x, y = planar.transform_points((*lift.center, lift.yaw + side), np.array([away, 0.0])).tolist()
    return x, y


def _opposite(one: float, other: float) -> bool:
    return abs(abs(float(planar.wrap_angle(one - other))) - math.pi) < 1e-6
