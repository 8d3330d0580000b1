"""Build a `World` (obstacles, movers, terrain) from the entries of a scene file."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from gaitway.core import planar
from gaitway.core.errors import FormatError, GaitwayError, WorldError
from gaitway.scene.area_models import GroundAreaItem
from gaitway.scene.door_model import DoorItem
from gaitway.scene.fields import LARGEST_AREA
from gaitway.scene.lift_model import EscalatorItem, LiftItem
from gaitway.scene.placing.placement import area_geometry
from gaitway.scene.problem import Problem, shown
from gaitway.scene.reading.documents import MergedScene, SceneEntry
from gaitway.scene.world_models import (
    MeshItem,
    MovedMeshItem,
    MoverItem,
    RampItem,
    SpecialItem,
    SpecialShapeItem,
    StairsItem,
    TerrainItem,
    wall_pieces,
)
from gaitway.world import (
    WALL,
    Box,
    Cylinder,
    Mover,
    MoverPhase,
    Obstacle,
    Polygon,
    Ramp,
    Shape,
    Sphere,
    Stairs,
    Terrain,
    World,
)
from gaitway.world.areas import SIDES, Area
from gaitway.world.doors import Door
from gaitway.world.escalators import Escalator
from gaitway.world.grid import Bounds
from gaitway.world.levels.floors import Floors, extremes, has_levels
from gaitway.world.levels.lift_sheets import check_carrier
from gaitway.world.levels.mesh_floors import mesh_floors
from gaitway.world.lifts import Lift
from gaitway.world.obstacle import MAX_KEYS, WALKABLE
from gaitway.world.standing import drawn_down, stood_on
from gaitway.world.terrain_files import load_terrain

BEAM_THICKNESS = 0.3
"""Default height of a special obstacle that characters pass under [m]."""
REPEATED = 3600.0
"""Time until which a repeated path is repeated [s]; longer than any take."""
Made = TypeVar("Made")


@dataclass(eq=False)
class WorldBuilder:
    """A builder of worlds. It collects problems in `problems` instead of stopping at the first one."""

    problems: list[Problem] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    """Files of meshes and terrain heights that were read, in order."""
    origins: list[SceneEntry] = field(default_factory=list)
    """The entry of the scene file of each obstacle of the world, then that of each mover and of all else that moves."""

    def world(self, scene: MergedScene) -> World | None:
        """Return the world, or None if there is a problem with any part of it."""
        before = len(self.problems)
        if "bounds" not in scene.singles:
            text = "missing; write for example bounds: [0, 0, 40, 30] (xmin, ymin, xmax, ymax in metres)"
            self.problems.append(scene.top.problem(("bounds",), text))
            return None
        bounds = scene.singles["bounds"].value
        width, depth = bounds[2] - bounds[0], bounds[3] - bounds[1]
        if width * depth > LARGEST_AREA:
            text = f"{shown(bounds)} is {width:g} by {depth:g} m, too large to be planned in"
            more = f"write at most {LARGEST_AREA / 1e6:g} square kilometres, such as [-1000, -1000, 1000, 1000]"
            self.problems.append(scene.singles["bounds"].problem(text=f"{text}; {more}"))
            return None
        terrain = self._terrain(scene.singles.get("terrain"), bounds)
        obstacles: list[Obstacle] = []
        for entry in (*scene.lists["obstacles"], *scene.lists["specials"]):
            made = self._made(entry, partial(self._obstacles, entry, terrain)) or []
            obstacles += made
            self.origins += [entry] * len(made)
        escalators = []
        for number, entry in enumerate(scene.lists["escalators"]):
            carrier = self._made(entry, partial(_escalator, entry.value, number))
            if carrier is not None:
                escalators.append(carrier)
                obstacles += carrier.panels()
                self.origins += [entry] * len(carrier.panels())
        movers = [self._made(entry, partial(self._mover, entry, terrain)) for entry in scene.lists["movers"]]
        self.origins += scene.lists["movers"]
        doors = [self._made(entry, partial(_door, entry.value, terrain)) for entry in scene.lists["doors"]]
        self.origins += scene.lists["doors"]
        lifts = [
            self._made(entry, partial(_lift, entry.value, number)) for number, entry in enumerate(scene.lists["lifts"])
        ]
        self.origins += scene.lists["lifts"]
        if len(escalators) == len(scene.lists["escalators"]):
            pairs = zip(scene.lists["escalators"], escalators, strict=True)
            self.origins += [entry for entry, carrier in pairs for _ in range(carrier.tread_count)]
        areas = [self._made(entry, partial(_area, entry.value, bounds)) for entry in scene.lists["areas"]]
        if len(self.problems) > before:
            return None
        grounded = not (walkable := [o for o in obstacles if o.kind == WALKABLE]) or terrain is not None
        grounded = grounded or any(_ground_too(entry.value) for entry in scene.lists["obstacles"])
        if not grounded:
            terrain = _beneath(walkable, bounds)
        try:
            world = World(
                bounds, tuple(obstacles),
                (*(m for m in movers if m is not None), *(door.mover() for door in doors if door is not None)),
                terrain, grounded,
                tuple(lift for lift in lifts if lift is not None), tuple(area for area in areas if area is not None),
                tuple(door for door in doors if door is not None), tuple(escalators),
            )  # fmt: skip
            carriers: list[Lift | Escalator] = [*world.lifts, *world.escalators]
            for entry, each in zip((*scene.lists["lifts"], *scene.lists["escalators"]), carriers, strict=True):
                self._made(entry, partial(check_carrier, world, each))
        except GaitwayError as problem:
            self.problems.append(scene.top.problem((), f"{problem}"))
            return None
        self._check_doors(scene, world)
        world = self._on_floors(scene, world)
        if walkable:
            entry = next(e for e, o in zip(self.origins, obstacles, strict=False) if o.kind == WALKABLE)
            self._made(entry, partial(mesh_floors, world))
        return world if len(self.problems) == before else None

    def _on_floors(self, scene: MergedScene, world: World) -> World:
        """Return a world whose areas know their floors; report areas and doors that are on none."""
        levels = has_levels(world)
        if not levels:
            for entry in scene.lists["areas"]:
                if entry.value.floor is not None:
                    text = "a place without platforms has one floor; leave the floor out, or add a platform"
                    self.problems.append(entry.problem("floor", text=text))
        if not levels or not (world.areas or world.doors) or self.problems:
            return world
        floors, areas = Floors.of(world), list[Area]()
        for entry, area in zip(scene.lists["areas"], world.areas, strict=True):
            floor = self._made(entry, partial(floors.area_floor, area))
            areas.append(area if floor is None else replace(area, floor=floor.name, heights=extremes(floor)))
        for entry, door in zip(scene.lists["doors"], world.doors, strict=True):
            self._made(entry, partial(floors.door_floor, door))
        return replace(world, areas=tuple(areas))

    def _check_doors(self, scene: MergedScene, world: World) -> None:
        """Report doors outside the bounds, and doors that have the names of others or of movers."""
        taken = {mover.name for mover in world.movers[: len(world.movers) - len(world.doors)]}
        x0, y0, x1, y1 = world.bounds
        for entry, door in zip(scene.lists["doors"], world.doors, strict=True):
            if door.name in taken:
                text = f"something else that moves is called '{door.name}'; write another name"
                self.problems.append(entry.problem("name", text=text))
            if not (x0 <= door.middle[0] <= x1 and y0 <= door.middle[1] <= y1):
                text = f"({door.middle[0]:g}, {door.middle[1]:g}) is outside bounds {shown(world.bounds)}"
                self.problems.append(entry.problem("center", text=f"{text}; write a place inside"))
            taken.add(door.name)

    def _made(self, entry: SceneEntry, make: Callable[[], Made]) -> Made | None:
        try:
            return make()
        except FormatError as problem:  # of a mesh or of heights
            mesh = getattr(entry.value, "mesh", None) is not None
            place = ("heights",) if entry.place == ("terrain",) else ("mesh", "file") if mesh else ()
            self.problems.append(entry.problem(*place, text=str(problem)))
        except GaitwayError as problem:
            self.problems.append(entry.problem(text=str(problem)))
        return None

    def _terrain(self, entry: SceneEntry | None, bounds: tuple[float, float, float, float]) -> Terrain | None:
        if entry is None:
            return None
        item: TerrainItem = entry.value
        if item.hills is not None:
            hills = item.hills
            return self._made(
                entry, lambda: Terrain.hills(bounds, hills.height, hills.wavelength, hills.seed, hills.cell)
            )
        file = entry.document.folder / str(item.heights)
        self.files.append(file)
        scale, origin = 1.0 if item.scale is None else item.scale, item.origin or (0.0, 0.0)
        return self._made(entry, lambda: load_terrain(file, item.cell or 1.0, scale, (origin[0], origin[1])))

    def _obstacles(self, entry: SceneEntry, terrain: Terrain | None) -> list[Obstacle]:
        item, kind = entry.value, WALL
        if getattr(item, "mesh", None) is not None and item.mesh.walkable:
            kind = WALKABLE
        if isinstance(item, SpecialItem):
            ((kind, special),) = item.kinds.items()
            shapes = [_special_shape(special)]
        else:
            shapes = self._shapes(item, entry.document.folder)
        return [Obstacle(stood_on(shape, terrain), kind, item.name or "", item.color) for shape in shapes]

    def _shapes(self, item: Any, folder: Path) -> list[Shape]:
        """Return the shapes of an item that has one of the shape keys."""
        if item.box is not None:
            return [_box(item.box)]
        if item.cylinder is not None:
            return [Cylinder(item.cylinder.center, item.cylinder.radius, item.cylinder.height, item.cylinder.bottom)]
        if item.sphere is not None:
            return [Sphere(item.sphere.center, item.sphere.radius, item.sphere.bottom)]
        if item.polygon is not None:
            return [Polygon(item.polygon.points, item.polygon.height, item.polygon.holes, item.polygon.bottom)]
        if item.mesh is not None:
            return [self._mesh(item.mesh, folder)]
        return wall_boxes(item.wall.points, item.wall.thickness, item.wall.height, item.wall.closed)

    def _mesh(self, item: MovedMeshItem, folder: Path) -> Shape:
        file = folder / item.file
        self.files.append(file)
        meshes = import_module("gaitway.world.meshes")  # loads trimesh, which few scenes need
        walkable = isinstance(item, MeshItem) and item.walkable
        shape: Shape = meshes.load_mesh(file, scale=item.scale, up=item.up, rooms=walkable)
        if walkable:
            meshes.check_place(shape, file, item.up, item.scale)
        x, y, z = item.position
        return shape.raised(z).placed((x, y, math.radians(item.yaw_deg)))

    def _mover(self, entry: SceneEntry, terrain: Terrain | None) -> Mover:
        item: MoverItem = entry.value
        own = self._shapes(item, entry.document.folder)[0]
        times, poses = _path(item)
        phases = [(-math.inf, own, item.kind)] if not item.phases else []
        for phase in item.phases:
            given = any(getattr(phase, key) is not None for key in phase.SHAPES)
            shape = self._shapes(phase, entry.document.folder)[0] if given else own
            phases.append((phase.start, shape, phase.kind))
        made = tuple(MoverPhase(start, _along(shape, poses, terrain), kind) for start, shape, kind in phases)
        mover = Mover(made, times, poses, item.name or "", item.color)
        return mover.repeated(min(REPEATED, _most_rounds(times))) if item.repeat else mover


def _ground_too(item: Any) -> bool:
    """Return whether an obstacle is a walkable mesh around which people walk on the ground too."""
    return item.mesh is not None and item.mesh.ground


def _beneath(meshes: Iterable[Obstacle], bounds: tuple[float, float, float, float]) -> Terrain | None:
    """Return level terrain just below walkable meshes, on which nobody walks; None if they are all above height 0."""
    lowest = min(obstacle.shape.heights[0] for obstacle in meshes)
    if lowest >= 0.0:
        return None
    x0, y0, x1, y1 = bounds
    height = math.floor(100.0 * lowest - 5.0) / 100.0  # a little lower, so that it is not seen through a floor
    return Terrain(np.full((2, 2), height), max(x1 - x0, y1 - y0), (x0, y0))


def _lift(item: LiftItem, number: int) -> Lift:
    (x, y), (length, width) = item.center, item.size
    return Lift(
        (x, y), (length, width), item.floors, math.radians(item.yaw_deg), item.speed, item.dwell, item.start,
        item.name or f"lift {number}", item.color,
    )  # fmt: skip


def _escalator(item: EscalatorItem, number: int) -> Escalator:
    x, y = item.center
    return Escalator(
        (x, y), item.height, item.width, math.radians(item.yaw_deg), item.bottom, item.direction == "down", item.speed,
        math.radians(item.slope_deg), item.name or f"escalator {number}", item.color,
    )  # fmt: skip


def _door(item: DoorItem, terrain: Terrain | None) -> Door:
    (x, y), yaw, (length, width) = item.center, math.radians(item.yaw_deg), item.size
    hinge = -0.5 * length if item.swing_deg is not None else 0.0
    at = planar.transform_points((x, y, yaw), [[hinge, 0.0]])[0].tolist()
    shut = (at[0], at[1], yaw)
    if item.swing_deg is not None:
        opened = (at[0], at[1], yaw + math.radians(item.swing_deg))
    else:
        dx, dy = item.slide or (length * math.cos(yaw), length * math.sin(yaw))
        opened = (at[0] + dx, at[1] + dy, yaw)
    shape = _along(
        Box((-hinge, 0.0), (length, width), item.height, 0.0, item.bottom), np.array([shut, opened]), terrain
    )
    return Door(
        name=item.name, shape=shape, middle=(x, y),
        across=yaw + 0.5 * math.pi, width=length, shut=shut, open=opened, seconds=item.seconds,
        begins_open=item.open, color=item.color,
    )  # fmt: skip


def _area(item: GroundAreaItem, bounds: Bounds) -> Area:
    outline = area_geometry(item.area)
    x0, y0, x1, y1 = outline.bounds
    if x0 >= bounds[2] or y0 >= bounds[3] or x1 <= bounds[0] or y1 <= bounds[1]:
        raise WorldError(f"lies outside bounds {shown(bounds)}; write an area that overlaps them")
    return Area(
        outline=np.array(outline.exterior.coords)[:-1],
        name=item.name or "",
        cost=1.0 if item.cost is None else item.cost,
        one_way=None if item.one_way is None else math.radians(item.one_way),
        speed_limit=item.speed_limit,
        keep=0 if item.keep is None else SIDES[item.keep],
        priority=item.priority or 0,
        floor=item.floor,
    )


def _box(item: Any) -> Box:
    return Box(item.center, item.size, item.height, math.radians(item.yaw_deg), item.bottom)


def _special_shape(item: SpecialShapeItem | StairsItem | RampItem) -> Shape:
    if isinstance(item, RampItem):
        yaw = math.radians(item.yaw_deg)
        return Ramp((item.center[0], item.center[1]), item.length, item.width, item.height, yaw, item.bottom)
    if isinstance(item, StairsItem):
        yaw = math.radians(item.yaw_deg)
        return Stairs((item.center[0], item.center[1]), item.width, item.steps, item.rise, item.run, yaw, item.bottom)
    height = BEAM_THICKNESS if item.height is None else item.height
    bottom = 0.0 if item.clearance is None else item.clearance
    if item.points is not None:
        return Polygon(tuple((p[0], p[1]) for p in item.points), height, (), bottom)
    (x, y), (length, width) = item.center or (0.0, 0.0), item.size or (1.0, 1.0)
    return Box((x, y), (length, width), height, math.radians(item.yaw_deg), bottom)


def wall_boxes(points: Iterable[Any], thickness: float, height: float, closed: bool) -> list[Shape]:
    """Return one box for each straight piece of a wall.

    Each box reaches half a thickness past its inner corners, so that there are no gaps. Pieces without length (a corner
    that is written twice) are left out.
    """
    runs = wall_pieces([tuple(point) for point in points], closed)
    out: list[Shape] = []
    for index, (a, b) in enumerate(runs):
        length = math.dist(a, b)
        if length == 0.0:
            continue
        before = 0.5 * thickness if closed or index > 0 else 0.0
        after = 0.5 * thickness if closed or index < len(runs) - 1 else 0.0
        ux, uy = (b[0] - a[0]) / length, (b[1] - a[1]) / length
        start, end = (a[0] - before * ux, a[1] - before * uy), (b[0] + after * ux, b[1] + after * uy)
        middle = (0.5 * (start[0] + end[0]), 0.5 * (start[1] + end[1]))
        out.append(Box(middle, (length + before + after, thickness), height, math.atan2(uy, ux)))
    return out


def _path(item: MoverItem) -> tuple[Any, Any]:
    """Return the times (K,) [s] and poses (K, 3) of a mover's path; a key without yaw keeps the last yaw."""
    times, poses, yaw = [], [], 0.0
    for key in item.path:
        yaw = math.radians(key[3]) if len(key) == 4 else yaw
        times.append(key[0])
        poses.append((key[1], key[2], yaw))
    return np.array(times), np.array(poses)


def _most_rounds(times: Any) -> float:
    """Return the time [s] until which a path can be repeated before the mover has more than `MAX_KEYS` keys."""
    return float(times[0] + (MAX_KEYS // len(times)) * (times[-1] - times[0]))


def _along(shape: Shape, poses: Any, terrain: Terrain | None) -> Shape:
    """Return a mover's shape, raised to the highest ground under its keys and extended down to the lowest.

    Movers move in the plane, so on hills one height has to fit the whole path.
    """
    if terrain is None:
        return shape
    ground = terrain.height(poses[:, :2])
    raised = shape.raised(float(ground.max()))
    return drawn_down(raised, float(ground.min())) if shape.heights[0] <= 0.0 else raised
