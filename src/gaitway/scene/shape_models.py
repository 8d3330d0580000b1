"""Models of what stands in a scene: obstacles, special obstacles, movers and terrain."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, model_validator

from gaitway.scene.fields import (
    HIGHEST,
    MOST_POINTS,
    Color,
    Extent,
    FileName,
    Name,
    Point,
    Position,
    SceneItem,
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
    """A list of points."""
    return field(text, default, unit="m", min_length=least, max_length=MOST_POINTS)


class BoxItem(SceneItem):
    """An upright box."""

    center: Point = field("Middle of its floor plan", unit="m", example=[12, 8])
    size: Extent = field("Length along its own x, width along its own y", unit="m", example=[4, 1])
    height: float = height_field("From its underside to its top", example=2.5)
    yaw_deg: float = turn_field()
    bottom: float = bottom_field()


class CylinderItem(SceneItem):
    """An upright cylinder."""

    center: Point = field("Middle of its floor plan", unit="m", example=[20, 15])
    radius: float = length_field("Radius", example=0.6)
    height: float = height_field("From its underside to its top", example=3)
    bottom: float = bottom_field()


class SphereItem(SceneItem):
    """A ball."""

    center: Point = field("Middle of its floor plan", unit="m", example=[5, 5])
    radius: float = length_field("Radius", example=0.5)
    bottom: float = bottom_field("Lowest point above the ground")


class PolygonItem(SceneItem):
    """Straight walls around an outline, convex or not."""

    points: Points = outline("Corners in order; the last joins the first")
    height: float = height_field("From its underside to its top", example=2)
    holes: tuple[Ring, ...] = field("Outlines of holes", (), max_length=1000)
    bottom: float = bottom_field()


class WallItem(SceneItem):
    """A run of straight walls along a line."""

    points: Points = outline("Corners of the wall's middle line", least=2)
    thickness: float = field("Across the wall", 0.2, unit="m", gt=0.0, le=100.0)
    height: float = height_field("From the ground to its top", 2.5)
    closed: bool = field("Whether a last wall joins the end to the beginning", False)


class MeshItem(SceneItem):
    """A solid from a file."""

    file: FileName = field("GLB, GLTF, OBJ, STL or PLY file, relative to this file", example="hall.glb")
    position: Position = field(
        "Where the file's origin comes to lie; z counts from the ground", (0.0, 0.0, 0.0), unit="m"
    )
    yaw_deg: float = turn_field()
    scale: float = field("Metres for each unit of the file", 1.0, gt=0.0, le=10_000.0)
    up: Literal["y", "z"] | None = field(
        "The file's upward axis; by default y for glb, gltf and obj, z for stl and ply", None
    )


def one_of(item: Any, keys: tuple[str, ...], least: int = 1) -> None:
    """Refuse an item that has more than one of some keys, or fewer than `least`."""
    given = [key for key in keys if getattr(item, key) is not None]
    choices = f"{', '.join(keys[:-1])} or {keys[-1]}"
    if len(given) > 1:
        raise wrong(f"has both {given[0]} and {given[1]}", f"only one of {choices}")
    if len(given) < least:
        raise wrong("has no shape", f"one of {choices}")


class ObstacleItem(SceneItem):
    """A thing that nobody may touch: exactly one shape."""

    SHAPES: ClassVar[tuple[str, ...]] = ("box", "cylinder", "sphere", "polygon", "wall", "mesh")

    box: BoxItem | None = None
    cylinder: CylinderItem | None = None
    sphere: SphereItem | None = None
    polygon: PolygonItem | None = None
    wall: WallItem | None = None
    mesh: MeshItem | None = None
    name: Name | None = field("What it is called", None)
    color: Color | None = field("Its colour in pictures", None, example="#a08060")

    @model_validator(mode="after")
    def _one_shape(self) -> ObstacleItem:
        one_of(self, self.SHAPES)
        return self


class StairsItem(SceneItem):
    """A flight of steps."""

    center: Point = field("Middle of the flight's floor plan", unit="m", example=[5, 5])
    width: float = length_field("Across the flight", example=2)
    steps: int = field("Number of steps", ge=1, le=1000, example=10)
    rise: float = field("Height of a step", 0.17, unit="m", gt=0.0, le=2.0)
    run: float = field("Depth of a step", 0.29, unit="m", gt=0.0, le=10.0)
    yaw_deg: float = turn_field("Direction in which it rises")
    bottom: float = bottom_field()


class SpecialShapeItem(SceneItem):
    """The shape of a special obstacle: a box (center, size) or an outline (points)."""

    center: Point | None = field("Middle of its floor plan", None, unit="m", example=[15, 10])
    size: Extent | None = field("Length along its own x, width along its own y", None, unit="m", example=[6, 0.4])
    yaw_deg: float = turn_field()
    points: Points | None = outline("Corners of its outline, instead of center and size", None)
    height: float | None = field(
        "From its underside to its top; 0.3 where there is a clearance", None, unit="m", gt=0.0, le=HIGHEST, example=0.5
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
    """A thing that only a behaviour of its kind can pass: exactly one kind (jump, duck, stairs ...)."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, SpecialShapeItem] = Field(init=False)

    stairs: StairsItem | None = None
    name: Name | None = field("What it is called", None)
    color: Color | None = field("Its colour in pictures", None, example="#c03030")

    @property
    def kinds(self) -> dict[str, SpecialShapeItem | StairsItem]:
        """What is given by kind."""
        out: dict[str, SpecialShapeItem | StairsItem] = dict(self.__pydantic_extra__)
        return out if self.stairs is None else {"stairs": self.stairs, **out}

    @model_validator(mode="after")
    def _one_kind(self) -> SpecialItem:
        kinds = list(self.kinds)
        form = "one of jump, duck, crawl, climb, box, stairs, passable or another kind"
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
