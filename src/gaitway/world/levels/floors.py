"""Floors: the level and sloping parts of a place, one above or beside the other, laid out in one plane.

A floor is ground on which people walk freely: the ground of the place itself, the top of a platform or a bridge, a
ramp, a sheet of a walkable mesh. Stairs, ramps and seams of meshes lead from floor to floor. All floors are laid side
by side in one plane, each with what stands in the way on it, and with its edge as a wall. So planners that know floor
plans alone serve any number of floors. The first one, the ground if there is one, stays where it is. All others are
shifted by whole metres.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import shapely

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import WorldError
from gaitway.world.areas import Area
from gaitway.world.doors import Door
from gaitway.world.escalators import Escalator
from gaitway.world.footprint import core_geometry, united
from gaitway.world.levels.lift_sheets import LiftSheet, lift_sheets
from gaitway.world.levels.mesh_floors import MeshFloors, mesh_floors, walkable_meshes
from gaitway.world.levels.slopes import FloorPart, Joint, sloping
from gaitway.world.lifts import Lift
from gaitway.world.obstacle import LEVEL_KINDS, PASSABLE, WALKABLE, WALL, Mover, MoverPhase, Obstacle
from gaitway.world.shapes import Box, Polygon, Ramp, Shape, Stairs, Upright
from gaitway.world.terrain import Terrain
from gaitway.world.world import World

GROUND = "ground"
"""Name of the floor that is the ground of the place."""
_SAME_HEIGHT = 0.01
"""Greatest difference in height of tops that are one floor [m]."""
_TOUCH = 0.02
"""Greatest gap between tops that are one floor [m]."""
EDGE = "edge of "
"""Beginning of the names of walls around floors other than the ground in the plane."""
_FRAME = 0.6
"""Width of the wall around a floor in the plane [m]."""
_APART = 4.0
"""Least distance of floors in the plane [m], so that nobody on one is near to anything on another."""
_TALL = 2.5
"""Height of that wall [m]."""
_ABOVE = 2.2
"""Height over a floor from which on nothing is in the way of those who walk there [m]."""
_SLIVER = 1e-3
"""Area below which things only touch [m^2]."""
_CELL, _HEIGHTS = 0.1, 4e6
"""Distance between the heights of slopes in the plane [m], or their number in a large place."""
_LISTED = 12
"""Most floors that a message lists."""
_STANDS = 0.3
"""Greatest difference in height between a door and the floor on which it stands [m]."""
_SMALLEST = 0.16
"""Least area of a floor [m^2]; nobody stands on less."""


@dataclass(frozen=True, eq=False)
class Floor:
    """A part of a place on which people walk freely."""

    number: int
    name: str
    height: float
    """Height of its ground [m], and of the lowest of it on a slope; that of terrain is added on the ground of the
    place."""
    region: shapely.Geometry
    """Where there is ground, in the place."""
    core: shapely.Geometry
    """The part of it that is no part of another floor too."""
    relief: Terrain | None
    """Heights of its ground, in the place; None for a level floor."""
    offset: tuple[float, float]
    """Its place in the plane less its place in the world: x, y [m]."""
    mesh: bool = False
    """Whether it is a sheet of a walkable mesh."""
    lift: int | None = None
    """Number of the lift whose platform it is, with the floor before its door, while it stands at one height; nobody
    starts or stays there. None for all other floors."""

    @property
    def ground(self) -> bool:
        """Whether it is the ground of the place, with its terrain."""
        return self.number == 0 and self.relief is None

    def covers(self, x: float, y: float, margin: float = 0.0) -> bool:
        """Return whether a point of the place is on the floor, or at most a margin [m] beside it."""
        return bool(shapely.dwithin(self.core, shapely.Point(x, y), margin))


@dataclass(frozen=True, eq=False)
class Floors:
    """All floors of a place; made by `of`."""

    world: World
    floors: tuple[Floor, ...]
    """The ground first, then the level ones by height, then ramps."""
    joints: tuple[Joint, ...] = ()
    """Where ramps join level floors."""
    lifts: tuple[LiftSheet, ...] = ()
    """Platforms of lifts at the heights at which they stand."""
    meshes: MeshFloors | None = None
    """Floors of walkable meshes, which come first; None in a place without. It has no other ground then."""

    @staticmethod
    def of(world: World) -> Floors:
        """Find the floors of a world.

        Raises:
            WorldError: if nobody can walk on its walkable meshes.
        """
        ground = shapely.box(*world.bounds)
        tops = [FloorPart(*top) for top in _tops(world, ground)]
        meshes = mesh_floors(world) if walkable_meshes(world) else None
        if meshes is None:
            level = [FloorPart(GROUND, 0.0, ground), *tops]
        else:
            level = [*meshes.parts, *(_flat(part) for part in tops)]
        slopes, joints = sloping(world, level)
        sheets_of_lifts = lift_sheets(world, level, len(level) + len(slopes)) if world.lifts else []
        found = [*level, *slopes, *(sheet.part for sheet in sheets_of_lifts)]
        lifted = {sheet.number: sheet.lift for sheet in sheets_of_lifts}
        names = _unlike([part.name for part in found])
        offsets = _layout([part.region.bounds for part in found])
        sheets = 0 if meshes is None else len(meshes.parts)
        floors = [
            Floor(
                number,
                name,
                part.height,
                part.region,
                part.region if part.core is None else part.core,
                part.relief,
                offset,
                number < sheets,
                lifted.get(number),
            )
            for number, (part, name, offset) in enumerate(zip(found, names, offsets, strict=True))
        ]
        return Floors(world, tuple(floors), tuple(joints), tuple(sheets_of_lifts), meshes)

    def __len__(self) -> int:
        return len(self.floors)

    @cached_property
    def plane(self) -> World:
        """The plane as a world: what stands in the way on each floor, and walls around all floors."""
        obstacles = [obstacle for floor in self.floors for obstacle in self._obstacles(floor)]
        movers = [mover for floor in self.floors for mover in self._movers(floor)]
        boxes = np.array([_shifted_bounds(floor) for floor in self.floors])
        low, high = boxes[:, :2].min(axis=0) - _FRAME, boxes[:, 2:].max(axis=0) + _FRAME
        bounds = (float(low[0]), float(low[1]), float(high[0]), float(high[1]))
        doors = [door.moved(*self.lowered(self.door_floor(door))) for door in self.world.doors]
        areas = [self._area(area) for area in self.world.areas]
        return World(
            bounds, tuple(obstacles), tuple(movers), self._terrain(bounds), areas=tuple(areas), doors=tuple(doors)
        )

    def door_floor(self, door: Door) -> Floor:
        """Return the floor on which a door stands.

        Raises:
            WorldError: if there is none.
        """
        low = door.shape.heights[0]
        floor = self.at(*door.middle, low, what=f"door '{door.name}'")
        height = self.height(floor, *door.middle)
        if abs(height - low) > _STANDS:
            raise WorldError(
                f"stands at a height of {low:g} m, and the floor there, '{floor.name}', is at {height:.4g} m; "
                f"write bottom: {height:.4g}"
            )
        return floor

    def area_floor(self, area: Area) -> Floor:
        """Return the floor of an area: the one that it names, or the ground.

        Raises:
            WorldError: if there is none of that name.
        """
        return self.widest(area.polygon) if area.floor is None else self.named(area.floor, "area")

    def _area(self, area: Area) -> Area:
        """Return an area where it is in the plane."""
        return replace(area, outline=area.outline + np.array(self.area_floor(area).offset), heights=None)

    def lowered(self, floor: Floor) -> tuple[tuple[float, float], float]:
        """Return how far things of a floor are moved into the plane, and how far down [m]."""
        return floor.offset, 0.0 if floor.relief is not None or floor.ground else floor.height

    @cached_property
    def origins(self) -> tuple[int, ...]:
        """Number in the place of each obstacle of the plane; -1 for edges of floors."""
        out = []
        for floor in self.floors:
            seen = [index for index, o in enumerate(self.world.obstacles) if self._on(floor, o) is not None]
            out += [*seen, *[-1] * (len(_frame(floor.region, 0.0, 0.0)) + len(self._shafts(floor)))]
        return tuple(out)

    def _obstacles(self, floor: Floor) -> list[Obstacle]:
        """Return what stands in the way on a floor, where it is in the plane."""
        out = []
        for obstacle in self.world.obstacles:
            shape = self._on(floor, obstacle)
            if shape is not None:
                kind = WALL if obstacle.standable else obstacle.kind
                out.append(replace(obstacle, shape=shape.placed((*floor.offset, 0.0)), kind=kind))
        edge = "bounds" if floor.ground else f"{EDGE}{floor.name}"
        walls = _frame(floor.region, *extremes(floor))
        out += [Obstacle(shape.placed((*floor.offset, 0.0)), WALL, edge) for shape in walls]
        return out + self._shafts(floor)

    def _shafts(self, floor: Floor) -> list[Obstacle]:
        """Return where lifts and escalators are on a floor, as walls of the plane: people board them at their ends."""
        out = []
        for carrier in self._carriers(floor):
            size = carrier.size if isinstance(carrier, Lift) else (carrier.length, carrier.outer_width)
            shape = Box(carrier.center, size, _TALL, carrier.yaw).placed((*floor.offset, 0.0))
            out.append(Obstacle(shape, WALL, carrier.name))
        return out

    def _carriers(self, floor: Floor) -> list[Lift | Escalator]:
        """Return the lifts and escalators on a floor, where nobody walks as on a floor."""
        lifts = () if floor.lift is not None else self.world.lifts
        belts = [one for one in self.world.escalators if one.heights[0] - _ABOVE < floor.height < one.heights[1]]
        every: list[Lift | Escalator] = [*lifts, *belts]
        return [one for one in every if one.area.intersection(floor.region).area > _SLIVER]

    def carrier(self, floor: Floor, x: float, y: float) -> str | None:
        """Return the name of the lift or escalator on a floor that a point of the place is in; None for none."""
        point = shapely.Point(x, y)
        return next((one.name for one in self._carriers(floor) if one.area.intersects(point)), None)

    def free_region(self, floor: Floor) -> shapely.Geometry:
        """Return where there is ground on a floor, without lifts and escalators."""
        taken = [carrier.area for carrier in self._carriers(floor)]
        return floor.region.difference(united(taken)) if taken else floor.region

    def _on(self, floor: Floor, obstacle: Obstacle) -> Shape | None:
        """Return a shape as it is seen from a floor, with heights over it; None if it is not in the way there."""
        shape = obstacle.shape
        if obstacle.kind == WALKABLE and floor.mesh:
            return None  # the edge of the floor is where the mesh is in the way
        if floor.relief is not None:
            return shape if _in_the_way(shape, floor.region, floor.relief) else None
        low, high = shape.heights
        over = 0.0 if floor.ground and self.world.terrain is not None else floor.height
        if not floor.ground and not (high > floor.height and low < floor.height + _ABOVE):
            return None
        footprint = shape.footprint()
        if footprint.empty or not shapely.box(*footprint.bounds).intersects(floor.region):
            return None
        return shape.raised(-over) if over != 0.0 else shape

    def seen_from(self, floor: Floor, obstacles: Sequence[Obstacle]) -> list[Obstacle]:
        """Return obstacles with heights over a floor; what is not in the way there is passable."""
        shapes = [self._on(floor, obstacle) for obstacle in obstacles]
        return [
            replace(obstacle, kind=PASSABLE) if shape is None else replace(obstacle, shape=shape)
            for obstacle, shape in zip(obstacles, shapes, strict=True)
        ]

    def _movers(self, floor: Floor) -> list[Mover]:
        """Return the movers on a floor, where they are in the plane."""
        out = []
        doors = {door.name: self.door_floor(door).number for door in self.world.doors}
        for mover in self.world.movers:
            if doors.get(mover.name, floor.number) != floor.number:
                continue
            lows, highs = zip(*(phase.shape.heights for phase in mover.phases), strict=True)
            lowest, highest = extremes(floor)
            if not floor.ground and not (max(highs) > lowest and min(lows) < highest + _ABOVE):
                continue
            if floor.ground and min(lows) > _ABOVE and self.world.terrain is None:
                continue
            phases = tuple(
                MoverPhase(phase.start, phase.shape.raised(-floor.height if floor.relief is None else 0.0), phase.kind)
                for phase in mover.phases
            )
            out.append(replace(mover, phases=phases, poses=mover.poses + np.array([*floor.offset, 0.0])))
        return out

    def _terrain(self, bounds: tuple[float, float, float, float]) -> Terrain | None:
        """Return the terrain of the plane: that of the place under its ground, slopes, and none under level floors."""
        terrain = self.world.terrain
        if self.floors[0].ground and (
            len(self.floors) == 1 or (terrain is None and all(floor.relief is None for floor in self.floors))
        ):
            return terrain

        def height(points: FloatArray) -> FloatArray:
            x, y, out = points[..., 0], points[..., 1], np.zeros(points.shape[:-1])
            for floor in self.floors:
                relief = terrain if floor.ground else floor.relief
                if relief is not None:
                    x0, y0, x1, y1 = _shifted_bounds(floor)
                    near = (x >= x0 - _FRAME) & (x <= x1 + _FRAME) & (y >= y0 - _FRAME) & (y <= y1 + _FRAME)
                    out[near] = relief.height(points[near] - np.array(floor.offset))
            return out

        if terrain is None or self.meshes is not None:
            cell = max(_CELL, math.sqrt((bounds[2] - bounds[0]) * (bounds[3] - bounds[1]) / _HEIGHTS))
            return Terrain.of(height, bounds, cell)
        # on the corners of the terrain's own cells, so that it is the same ground
        columns, rows = (math.floor((bounds[k] - terrain.origin[k]) / terrain.cell) for k in (0, 1))
        origin = terrain.origin[0] + columns * terrain.cell, terrain.origin[1] + rows * terrain.cell
        return Terrain.of(height, (*origin, bounds[2], bounds[3]), terrain.cell)

    @property
    def mirrors(self) -> FloatArray:
        """Ground that is in the plane twice: bounds of it there, and how far the other lies from it [m]; (M, 6)."""
        rows = []
        for joint in self.joints:
            for one, other in ((joint.floor, joint.ramp), (joint.ramp, joint.floor)):
                (x, y), (ox, oy) = self.floors[one].offset, self.floors[other].offset
                x0, y0, x1, y1 = joint.strip.bounds
                rows.append((x0 + x, y0 + y, x1 + x, y1 + y, ox - x, oy - y))
        for seam in () if self.meshes is None else self.meshes.seams:
            for one, other in (seam.floors, seam.floors[::-1]):
                (x, y), (ox, oy) = self.floors[one].offset, self.floors[other].offset
                rows += [(x0 + x, y0 + y, x1 + x, y1 + y, ox - x, oy - y) for x0, y0, x1, y1 in seam.tiles.tolist()]
        for sheet in self.lifts:
            (x, y) = self.floors[sheet.number].offset
            shared = [(sheet.strip, sheet.floor)]
            shared += [(other.cabin, other.number) for other in self.lifts if other.lift == sheet.lift]
            for area, other in shared:
                (ox, oy), (x0, y0, x1, y1) = self.floors[other].offset, area.bounds
                if other != sheet.number:
                    rows.append((x0 + x, y0 + y, x1 + x, y1 + y, ox - x, oy - y))
                if other == sheet.floor:
                    rows.append((x0 + ox, y0 + oy, x1 + ox, y1 + oy, x - ox, y - oy))
        return np.array(rows, dtype=np.float64).reshape(-1, 6)

    def at(self, x: float, y: float, z: float | None = None, *, what: str = "place") -> Floor:
        """Return the floor at a point of the place: the one nearest in height.

        Args:
            x: x [m].
            y: y [m].
            z: height [m]; None for the only floor there, or for the ground if there are several.
            what: the point's name in messages.

        Raises:
            WorldError: if no floor is there, or two are equally near.
        """
        here = [floor for floor in self.floors if floor.covers(x, y)]
        if not here:
            raise WorldError(f"{what} ({x:g}, {y:g}) is on no floor; the floors are {self.listed()}")
        if z is None:
            lowest = min(here, key=lambda floor: (round(self.height(floor, x, y), 6), floor.number))
            return here[0] if self.meshes is None else lowest
        ranked = sorted(here, key=lambda floor: (abs(self.height(floor, x, y) - z), floor.number))
        if len(ranked) > 1:
            first, second = (abs(self.height(floor, x, y) - z) for floor in ranked[:2])
            if second - first < _SAME_HEIGHT:
                heights = [self.height(floor, x, y) for floor in ranked[:2]]
                raise WorldError(
                    f"{what} ({x:g}, {y:g}) at height {z:g} is as near to '{ranked[0].name}' "
                    f"({heights[0]:.4g} m) as to '{ranked[1].name}' ({heights[1]:.4g} m); write the height "
                    "of the one that is meant"
                )
        return ranked[0]

    def widest(self, area: shapely.Geometry) -> Floor:
        """Return the ground; in a place of walkable meshes the floor that has most of an area."""
        if self.meshes is None:
            return self.floors[0]
        parts = [round(float(floor.core.intersection(area).area), 6) for floor in self.floors]
        return self.floors[int(np.argmax(parts))]

    def named(self, name: str, what: str = "floor") -> Floor:
        """Return the floor of a name.

        Raises:
            WorldError: if there is none.
        """
        for floor in self.floors:
            if floor.name == name and floor.lift is None:
                return floor
        raise WorldError(f"{what}: there is no floor '{name}'; the floors are {self.listed()}")

    def listed(self) -> str:
        """Return names and heights of all floors, for messages."""
        floors = [floor for floor in self.floors if floor.lift is None]
        some = ", ".join(f"'{floor.name}' ({floor.height:.4g} m)" for floor in floors[:_LISTED])
        return some if len(floors) <= _LISTED else f"{some} and {len(floors) - _LISTED} more"

    def height(self, floor: Floor, x: float, y: float) -> float:
        """Return the height of the ground of a floor at a point of the place [m]."""
        if floor.relief is not None:
            return float(floor.relief.height((x, y)))
        return float(self.world.ground((x, y))) if floor.ground else floor.height

    def spot(self, floor: Floor, x: float, y: float) -> FloatArray:
        """Return the point of the place for a point of the plane on a floor: x, y, z [m]; (3,)."""
        px, py = x - floor.offset[0], y - floor.offset[1]
        return np.array([px, py, self.height(floor, px, py)])

    def under(self, x: float, y: float) -> Floor:
        """Return the floor on which a point of the plane is, or the one nearest to it."""
        for floor in self.floors:
            x0, y0, x1, y1 = _shifted_bounds(floor)
            if x0 - _FRAME <= x <= x1 + _FRAME and y0 - _FRAME <= y <= y1 + _FRAME:
                return floor
        return min(self.floors, key=lambda floor: _away(_shifted_bounds(floor), x, y))


def _flat(part: FloorPart) -> FloorPart:
    """Return a level floor with its height as relief, for a place without level ground."""
    x0, y0, x1, y1 = part.region.bounds
    cell = max(x1 - x0, y1 - y0)
    return replace(part, relief=Terrain(np.full((2, 2), part.height), cell, (x0, y0)))


def has_levels(world: World) -> bool:
    """Return whether a world has ground at several levels on which people may walk."""
    return bool(world.lifts or world.escalators) or any(obstacle.kind in LEVEL_KINDS for obstacle in world.obstacles)


def _tops(world: World, ground: shapely.Geometry) -> list[tuple[str, float, shapely.Geometry]]:
    """Return name, height and region of all tops that can be stood on; those that touch at one height are one."""
    tops: list[tuple[float, int, shapely.Geometry, str]] = []
    for index, obstacle in enumerate(world.obstacles):
        shape = obstacle.shape
        if obstacle.standable and isinstance(shape, Upright) and not isinstance(shape, Stairs):
            region = core_geometry(shape.outline).buffer(shape.outline.radius) if shape.outline.radius else None
            region = core_geometry(shape.outline) if region is None else region
            tops.append((shape.heights[1], index, region, obstacle.name or f"{obstacle.kind} {index}"))
    tops.sort(key=lambda top: (top[0], top[1]))
    out: list[tuple[str, float, shapely.Geometry]] = []
    first = 0
    while first < len(tops):
        end = first
        while end < len(tops) and tops[end][0] - tops[first][0] <= _SAME_HEIGHT:
            end += 1
        together = tops[first:end]
        whole = united([region.buffer(0.5 * _TOUCH, join_style="mitre") for _, _, region, _ in together])
        whole = whole.buffer(-0.5 * _TOUCH, join_style="mitre").intersection(ground)
        parts = [part for part in shapely.get_parts(whole) if part.area >= _SMALLEST]
        for part in sorted(parts, key=lambda part: part.bounds):
            name = next((name for _, _, region, name in together if region.intersects(part)), "")
            out.append((name, together[0][0], part))
        first = end
    return out


def _unlike(given: Sequence[str]) -> list[str]:
    """Return names that differ."""
    names: dict[str, int] = {}
    out = []
    for name in given:
        names[name] = names.get(name, 0) + 1
        out.append(name if names[name] == 1 else f"{name} ({names[name]})")
    return out


def _layout(boxes: Sequence[tuple[float, float, float, float]]) -> list[tuple[float, float]]:
    """Return by how much each floor is shifted: the first not at all, the others in rows to its right."""
    offsets = [(0.0, 0.0)]
    x0, y0, x1, _ = boxes[0]
    left, top = math.ceil(x1 + _APART), y0
    column, tallest, width = left, 0.0, max(x1 - x0, max((b[2] - b[0] for b in boxes[1:]), default=0.0))
    for low_x, low_y, high_x, high_y in boxes[1:]:
        if column > left and column + high_x - low_x > left + width:
            column, top, tallest = left, top + tallest + _APART, 0.0
        offsets.append((float(math.ceil(column - low_x)), float(math.ceil(top - low_y))))
        column = math.ceil(column + high_x - low_x + _APART + 1.0)
        tallest = max(tallest, high_y - low_y + 1.0)
    return offsets


def extremes(floor: Floor) -> tuple[float, float]:
    """Return the lowest and the highest ground of a floor [m]."""
    if floor.relief is None:
        return floor.height, floor.height
    return float(floor.relief.heights.min()), float(floor.relief.heights.max())


def _in_the_way(shape: Shape, region: shapely.Geometry, relief: Terrain) -> bool:
    """Return whether a shape is in the way of those who walk on sloping ground."""
    footprint = shape.footprint()
    if footprint.empty:
        return False
    area = core_geometry(footprint).buffer(footprint.radius).intersection(region)
    if area.area < _SLIVER:
        return False
    places = shapely.get_coordinates(area)
    ground = relief.height(places)
    if isinstance(shape, Ramp):
        return bool((shape.surface_height(places) - ground).max() > _SAME_HEIGHT)
    low, high = shape.heights
    return bool(high > ground.min() + _SAME_HEIGHT and low < ground.max() + _ABOVE)


def _frame(region: shapely.Geometry, low: float, high: float) -> list[Polygon]:
    """Return the walls around a region: all that is in its surroundings and not in it.

    Args:
        region: where there is ground.
        low: its lowest ground [m].
        high: its highest ground [m].
    """
    x0, y0, x1, y1 = region.bounds
    around = shapely.box(x0 - _FRAME, y0 - _FRAME, x1 + _FRAME, y1 + _FRAME).difference(region)
    out = []
    for part in shapely.get_parts(around):
        rings = [tuple((float(x), float(y)) for x, y in ring.coords[:-1]) for ring in (part.exterior, *part.interiors)]
        out.append(Polygon(rings[0], _TALL + high - low, tuple(rings[1:]), low if high > low else 0.0))
    return out


def _shifted_bounds(floor: Floor) -> tuple[float, float, float, float]:
    (x0, y0, x1, y1), (dx, dy) = floor.region.bounds, floor.offset
    return x0 + dx, y0 + dy, x1 + dx, y1 + dy


def _away(box: tuple[float, float, float, float], x: float, y: float) -> float:
    return math.hypot(max(box[0] - x, 0.0, x - box[2]), max(box[1] - y, 0.0, y - box[3]))
