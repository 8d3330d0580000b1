"""The model of a small thing in a scene file, which people touch, take, carry and put down."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from gaitway.scene.fields import Color, FileName, Name, Position, SceneItem, ThingPlace, check_number, field, wrong
from gaitway.scene.things import CARRIES, FRONT, HANDS

LEAST, LARGEST = 0.005, 2.0
"""Least and greatest measure of a thing [m]."""
MOST_GRASPS = 32
FORMS = ("box", "cylinder", "ball", "hull", "mesh")
"""Keys that give the form of a thing."""


def _measures(count: int, form: str) -> Any:
    def check(value: Any) -> Any:
        if not isinstance(value, tuple) or len(value) != count:
            raise wrong("is not the size of a thing", form)
        for number in value:
            check_number(number, LEAST, LARGEST, form)
        return tuple(float(number) for number in value)

    return check


def _array(count: int) -> WithJsonSchema:
    number = {"type": "number", "minimum": LEAST, "maximum": LARGEST}
    return WithJsonSchema({"type": "array", "items": number, "minItems": count, "maxItems": count})


BoxSize = Annotated[
    tuple[float, ...], BeforeValidator(_measures(3, "[length, width, height] in metres, 0.005 to 2")), _array(3)
]
CylinderSize = Annotated[
    tuple[float, ...], BeforeValidator(_measures(2, "[radius, height] in metres, 0.005 to 2")), _array(2)
]


Hand = Annotated[str, Field(pattern=f"^({'|'.join(HANDS)})$")]


class ThingMeshItem(SceneItem):
    """The form of a thing from a file. Where the file's origin is does not matter."""

    file: FileName = field("GLB, GLTF, OBJ, STL or PLY file, relative to this file", example="teapot.glb")
    scale: float = field("Metres for each unit of the file", 1.0, gt=0.0, le=10_000.0)
    up: Literal["y", "z"] | None = field(
        "The file's upward axis; by default y for glb, gltf and obj, z for stl and ply", None
    )


class ObjectItem(SceneItem):
    """A small thing that people handle, or a switch that they press. Its own frame: z up, origin below its middle."""

    name: Name = field("Its name", example="cup")
    box: BoxSize | None = field("A box: [length, width, height]", None, unit="m", example=[0.2, 0.15, 0.04])
    cylinder: CylinderSize | None = field("An upright cylinder: [radius, height]", None, unit="m", example=[0.04, 0.1])
    hull: tuple[Position, ...] | None = field(
        "The convex hull of points, in any frame with z up", None, unit="m", min_length=4, max_length=1000
    )
    mesh: ThingMeshItem | None = field("A form from a file", None)
    ball: float | None = field("A ball: its radius", None, unit="m", ge=LEAST, le=LARGEST, example=0.06)
    at: ThingPlace | None = field(
        "Where it is: the middle of its underside, [x, y, z] or [x, y, z, yaw_deg]", None, example=[4, 2, 0.75]
    )
    held: Name | None = field("Who holds it at first, instead of `at`", None, example="ada")
    hand: Hand = field("With `held`: the hand that does", "right")
    worn: Name | None = field("Who wears it on the head at first, instead of `at`", None, example="bob")
    rides: Name | None = field("The mover that it is on; `at` is then in the frame of the mover", None)
    grasps: tuple[Position, ...] = field(
        "Where hands grasp it, in its own frame; by default around its middle", (), unit="m", max_length=MOST_GRASPS
    )
    touch: Position | None = field(
        "Where fingers touch it, in its own frame; by default the middle of the nearest side", None, unit="m"
    )
    fixed: bool = field("Whether nobody can take it: a switch, a handle", False)
    carry: Annotated[str, Field(pattern=f"^({'|'.join(CARRIES)})$")] = field(
        "How it is carried: `front`, before the body, or `side`, at an arm that swings", FRONT
    )
    color: Color | None = field("Its colour", None, example="#c04030")

    @model_validator(mode="after")
    def _one_shape_one_place(self) -> ObjectItem:
        shapes = [key for key in FORMS if getattr(self, key) is not None]
        if len(shapes) != 1:
            what = f"has both {shapes[0]} and {shapes[1]}" if shapes else "has no shape"
            raise wrong(what, "one of box: [length, width, height], cylinder: [radius, height], ball: radius, "
                        "hull: [[x, y, z], ...] or mesh: {file: name}")  # fmt: skip
        places = [key for key in ("at", "held", "worn") if getattr(self, key) is not None]
        if len(places) != 1:
            what = f"has both {places[0]} and {places[1]}" if places else "is nowhere"
            raise wrong(what, "one of at: [x, y, z], held: name or worn: name")
        if self.fixed and self.at is None:
            raise wrong("is fixed and on somebody", "at: [x, y, z], or leave out fixed")
        if self.rides is not None and self.at is None:
            raise wrong("rides a mover and is on somebody", "rides: mover and at: [x, y, z], or one of held and worn")
        return self

    @property
    def measures(self) -> tuple[str, tuple[float, float, float]]:
        """Its shape, and the length, width and height of the box around it [m]; not of a hull or a mesh."""
        if self.box is not None:
            return "box", (self.box[0], self.box[1], self.box[2])
        if self.cylinder is not None:
            return "cylinder", (2.0 * self.cylinder[0], 2.0 * self.cylinder[0], self.cylinder[1])
        width = 2.0 * (self.ball or 0.0)
        return "ball", (width, width, width)
