"""Models of the world of a scene file: shapes, obstacles, special obstacles, movers and terrain."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, model_validator

from gaitway.scene.fields import (
    HIGHEST,
    LATEST,
    LONGEST,
    MOST_POINTS,
    Color,
    Extent,
    FileName,
    Name,
    PathKey,
    Point,
    Position,
    SceneItem,
    Word,
    bottom_field,
    field,
    height_field,
    length_field,
    turn_field,
    wrong,
)
from gaitway.scene.problem import shown

Points = tuple[Point, ...]
Ring = Annotated[Points, Field(min_length=3, max_length=MOST_POINTS)]


def outline(text: str, default: Any = ..., least: int = 3) -> Any:
    """Return a field for a list of points."""
    return field(text, default, unit="m", min_length=least, max_length=MOST_POINTS)


class BoxItem(SceneItem):
    """An upright box."""

    center: Point = field("Middle of its floor plan", unit="m", example=[12, 8])
    size: Extent = field("Length along its own x, width along its own y", unit="m", example=[4, 1])
    height: float = height_field("Height from its underside to its top", example=2.5)
    yaw_deg: float = turn_field()
    bottom: float = bottom_field()


class CylinderItem(SceneItem):
    """An upright cylinder."""

    center: Point = field("Middle of its floor plan", unit="m", example=[20, 15])
    radius: float = length_field("Radius", example=0.6)
    height: float = height_field("Height from its underside to its top", example=3)
    bottom: float = bottom_field()


class SphereItem(SceneItem):
    """A ball."""

    center: Point = field("Middle of its floor plan", unit="m", example=[5, 5])
    radius: float = length_field("Radius", example=0.5)
    bottom: float = bottom_field("Lowest point above the ground")


class PolygonItem(SceneItem):
    """Straight walls around an outline, convex or not."""

    points: Points = outline("Corners in order; the last joins the first")
    height: float = height_field("Height from its underside to its top", example=2)
    holes: tuple[Ring, ...] = field("Outlines of holes", (), max_length=1000)
    bottom: float = bottom_field()


class WallItem(SceneItem):
    """A run of straight walls along a line."""

    points: Points = outline("Corners of the wall's middle line", least=2)
    thickness: float = field("Thickness of the wall", 0.2, unit="m", gt=0.0, le=100.0)
    height: float = height_field("Height from the ground to its top", 2.5)
    closed: bool = field("Whether a last wall joins the end to the beginning", False)


def wall_pieces(points: Iterable[Sequence[float]], closed: bool) -> list[tuple[Sequence[float], Sequence[float]]]:
    """Return the two corners of each straight piece of a wall; they are equal where a corner is written twice."""
    corners = list(points)
    return list(pairwise([*corners, corners[0]] if closed else corners))


class MovedMeshItem(SceneItem):
    """A solid from a file that moves."""

    file: FileName = field("GLB, GLTF, OBJ, STL or PLY file, relative to this file", example="hall.glb")
    position: Position = field(
        "Position of the file's origin; z is measured from the ground", (0.0, 0.0, 0.0), unit="m"
    )
    yaw_deg: float = turn_field()
    scale: float = field("Metres for each unit of the file", 1.0, gt=0.0, le=10_000.0)
    up: Literal["y", "z"] | None = field(
        "The file's upward axis; by default y for glb, gltf and obj, z for stl and ply", None
    )


class MeshItem(MovedMeshItem):
    """A solid from a file."""

    walkable: bool = field("Whether people walk on it wherever it is level enough, at all its heights", False)
    ground: bool = field("Whether they walk on the ground around a walkable mesh too", False)

    @model_validator(mode="after")
    def _ground_of_walkable(self) -> MeshItem:
        if self.ground and not self.walkable:
            raise wrong("has ground and is not walkable", "walkable: true beside it, or leave ground out")
        return self


def one_of(item: Any, keys: tuple[str, ...], least: int = 1) -> None:
    """Raise an error if an item has more than one of some keys, or fewer than `least`."""
    given = [key for key in keys if getattr(item, key) is not None]
    choices = f"{', '.join(keys[:-1])} or {keys[-1]}"
    if len(given) > 1:
        raise wrong(f"has both {given[0]} and {given[1]}", f"only one of {choices}")
    if len(given) < least:
        raise wrong("has no shape", f"one of {choices}")


class ObstacleItem(SceneItem):
    """An obstacle that no character may touch: exactly one shape."""

    SHAPES: ClassVar[tuple[str, ...]] = ("box", "cylinder", "sphere", "polygon", "wall", "mesh")

    box: BoxItem | None = None
    cylinder: CylinderItem | None = None
    sphere: SphereItem | None = None
    polygon: PolygonItem | None = None
    wall: WallItem | None = None
    mesh: MeshItem | None = None
    name: Name | None = field("Its name", None)
    color: Color | None = field("Its colour in pictures", None, example="#a08060")

    @model_validator(mode="after")
    def _one_shape(self) -> ObstacleItem:
        one_of(self, self.SHAPES)
        return self

    @property
    def pieces(self) -> int:
        """Number of solids that it is made of; a wall has one for each straight piece."""
        return 1 if self.wall is None else sum(a != b for a, b in wall_pieces(self.wall.points, self.wall.closed))


class StairsItem(SceneItem):
    """A flight of steps."""

    center: Point = field("Middle of the flight's floor plan", unit="m", example=[5, 5])
    width: float = length_field("Width of the flight", example=2)
    steps: int = field("Number of steps", ge=1, le=1000, example=10)
    rise: float = field("Height of a step", 0.17, unit="m", gt=0.0, le=2.0)
    run: float = field("Depth of a step", 0.29, unit="m", gt=0.0, le=10.0)
    yaw_deg: float = turn_field("Direction in which it rises")
    bottom: float = bottom_field()


class RampItem(SceneItem):
    """An even slope between two floors."""

    center: Point = field("Middle of its floor plan", unit="m", example=[5, 5])
    length: float = length_field("Length of its floor plan, in the direction in which it rises", example=8)
    width: float = length_field("Width of the ramp", example=2)
    height: float = length_field("Height of its upper end over its lower one", example=1.2)
    yaw_deg: float = turn_field("Direction in which it rises")
    bottom: float = bottom_field()


class SpecialShapeItem(SceneItem):
    """The shape of a special obstacle: a box (center, size) or an outline (points)."""

    center: Point | None = field("Middle of its floor plan", None, unit="m", example=[15, 10])
    size: Extent | None = field("Length along its own x, width along its own y", None, unit="m", example=[6, 0.4])
    yaw_deg: float = turn_field()
    points: Points | None = outline("Corners of its outline, instead of center and size", None)
    height: float | None = field(
        "Height from its underside to its top; with a clearance 0.3 by default",
        None,
        unit="m",
        gt=0.0,
        le=HIGHEST,
        example=0.5,
    )
    clearance: float | None = field(
        "Height of its underside above the ground", None, unit="m", gt=0.0, le=HIGHEST, example=1.2
    )

    @model_validator(mode="after")
    def _one_outline(self) -> SpecialShapeItem:
        if (self.points is None) == (self.center is None):
            both = self.points is not None
            raise wrong("has both points and center" if both else "has no center", "center and size, or points")
        if (self.size is None) != (self.center is None):
            raise wrong("has only one of center and size", "center and size, or points")
        if self.points is not None and self.yaw_deg:
            raise wrong("has both points and yaw_deg", "the points where they lie, without yaw_deg")
        return self


class SpecialItem(SceneItem):
    """A special obstacle that only a behaviour of its kind can pass: exactly one kind (jump, duck, stairs ...)."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, SpecialShapeItem] = Field(init=False)

    stairs: StairsItem | None = None
    ramp: RampItem | None = None
    name: Name | None = field("Its name", None)
    color: Color | None = field("Its colour in pictures", None, example="#c03030")

    @property
    def kinds(self) -> dict[str, SpecialShapeItem | StairsItem | RampItem]:
        """Shapes by kind; a valid item has exactly one."""
        own: dict[str, StairsItem | RampItem | None] = {"stairs": self.stairs, "ramp": self.ramp}
        return {**{kind: item for kind, item in own.items() if item is not None}, **self.__pydantic_extra__}

    @model_validator(mode="after")
    def _one_kind(self) -> SpecialItem:
        kinds = list(self.kinds)
        form = "one of jump, duck, crawl, climb, box, stairs, ramp, platform, bridge, passable or another kind"
        if len(kinds) != 1:
            raise wrong(f"has both {shown(kinds[0])} and {shown(kinds[1])}" if kinds else "has no kind", form)
        kind = kinds[0]
        if not kind.isidentifier() or kind == "wall":
            raise wrong(f"has the kind {shown(kind)}", form)
        shape = self.kinds[kind]
        if isinstance(shape, SpecialShapeItem):
            if kind in ("duck", "crawl") and shape.clearance is None:
                raise wrong(
                    "is to be passed under and has no clearance", "clearance: the height of its underside in metres"
                )
            if shape.height is None and shape.clearance is None:
                raise wrong("has no height", "height: from the ground to its top in metres")
        return self


class MoverBoxItem(BoxItem):
    """An upright box in a mover's own frame."""

    center: Point = field("Middle of its floor plan in the mover's frame", (0.0, 0.0), unit="m")


class MoverCylinderItem(CylinderItem):
    """An upright cylinder in a mover's own frame."""

    center: Point = field("Middle of its floor plan in the mover's frame", (0.0, 0.0), unit="m")


class MoverSphereItem(SphereItem):
    """A ball in a mover's own frame."""

    center: Point = field("Middle of its floor plan in the mover's frame", (0.0, 0.0), unit="m")


class PhaseItem(SceneItem):
    """The shape and kind of a mover from a time on."""

    SHAPES: ClassVar[tuple[str, ...]] = ("box", "cylinder", "sphere", "polygon", "mesh")

    start: float = field("Time at which it begins", unit="s", ge=0.0, le=LATEST, alias="from", example=3)
    kind: Word = field("wall, passable or the kind of a special obstacle", "wall")
    box: MoverBoxItem | None = None
    cylinder: MoverCylinderItem | None = None
    sphere: MoverSphereItem | None = None
    polygon: PolygonItem | None = None
    mesh: MovedMeshItem | None = None

    @model_validator(mode="after")
    def _one_shape(self) -> PhaseItem:
        one_of(self, self.SHAPES, least=0)
        return self


class MoverItem(SceneItem):
    """An obstacle whose movement is known in advance: one shape in its own frame, and a path."""

    SHAPES: ClassVar[tuple[str, ...]] = ("box", "cylinder", "sphere", "polygon", "mesh")

    box: MoverBoxItem | None = None
    cylinder: MoverCylinderItem | None = None
    sphere: MoverSphereItem | None = None
    polygon: PolygonItem | None = None
    mesh: MovedMeshItem | None = None
    path: tuple[PathKey, ...] = field(
        "Keys [t, x, y] or [t, x, y, yaw_deg] of its path, straight in between",
        min_length=1,
        max_length=MOST_POINTS,
        example=[[0, 5, 5], [4, 9, 5, 90]],
    )
    kind: Word = field("wall, passable or the kind of a special obstacle", "wall")
    repeat: bool = field("Whether it repeats its path", False)
    phases: tuple[PhaseItem, ...] = field("Phases in order of time; each may have its own shape", (), max_length=1000)
    name: Name | None = field("Its name", None)
    color: Color | None = field("Its colour in pictures", None, example="#3060c0")

    @model_validator(mode="after")
    def _in_order(self) -> MoverItem:
        one_of(self, self.SHAPES)
        times = [key[0] for key in self.path]
        for index in range(1, len(times)):
            if times[index] <= times[index - 1]:
                raise wrong(
                    f"has path[{index}] at {times[index]:g} s, after {times[index - 1]:g} s", "times that increase"
                )
        if times[0] < 0.0:
            raise wrong(f"has path[0] at {times[0]:g} s", "times of 0 s or later")
        if self.repeat and (len(times) < 2 or math.dist(self.path[0][1:3], self.path[-1][1:3]) > 1e-6):
            x, y = self.path[0][1:3]
            raise wrong("repeats its path but does not end where it began", f"a last key [t, {x:g}, {y:g}]")
        starts = [phase.start for phase in self.phases]
        for index in range(1, len(starts)):
            if starts[index] <= starts[index - 1]:
                raise wrong(
                    f"has phases[{index}] from {starts[index]:g} s, after {starts[index - 1]:g} s",
                    "times that increase",
                )
        return self


class HillsItem(SceneItem):
    """Smooth random hills."""

    height: float = height_field("Height from the deepest valley to the highest top", example=1.5)
    wavelength: float = field("Typical distance from one hill to the next", unit="m", ge=0.5, le=LONGEST, example=12)
    seed: int = field("Seed of the hills", 0, ge=0, le=2**32 - 1)
    cell: float = field("Distance between neighbouring heights", 0.5, unit="m", ge=0.01, le=100.0)


class TerrainItem(SceneItem):
    """Ground that is not level: heights from a file, or hills."""

    heights: FileName | None = field(
        "PNG (grey 0 to 1) or NPY (metres) file, relative to this file", None, example="hills.png"
    )
    cell: float | None = field(
        "Distance between neighbouring heights of the file", None, unit="m", ge=0.01, le=1000.0, example=0.25
    )
    scale: float | None = field(
        "Height of white [m] for PNG, factor for NPY; 1 by default",
        None,
        ge=-HIGHEST,
        le=HIGHEST,
        example=2.0,
    )
    origin: Point | None = field("Corner of least x and y; [0, 0] by default", None, unit="m")
    hills: HillsItem | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> TerrainItem:
        if (self.heights is None) == (self.hills is None):
            both = self.hills is not None
            raise wrong(
                "has both heights and hills" if both else "has no heights", "heights: FILE and cell, or hills: {...}"
            )
        if self.heights is not None and self.cell is None:
            raise wrong("has no cell", "cell: the distance between neighbouring heights in metres")
        if self.hills is not None and (self.cell, self.scale, self.origin) != (None, None, None):
            raise wrong("has cell, scale or origin beside hills", "hills: {height, wavelength, seed, cell} alone")
        return self
