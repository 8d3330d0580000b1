"""The models of areas in a scene file: rectangles, circles, outlines and rings; and areas with rules of their own."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema, model_serializer, model_validator

from gaitway.scene.fields import MOST_POINTS, Name, Point, Rectangle, SceneItem, field, length_field, wrong

AREA_COSTS, SPEED_LIMITS = (0.2, 20.0), (0.5, 15.0)
"""Least and greatest cost factor and speed limit [m/s]: those of `gaitway.world.areas`, which needs NumPy; a test holds
them equal."""
KEEP_SIDES = ("right", "left")
"""Sides that people can keep to."""


class CircleItem(SceneItem):
    """A disc, or the circle around it."""

    center: Point = field("Middle", unit="m", example=[10, 10])
    radius: float = length_field("Radius", example=4)


class AreaItem(SceneItem):
    """Where characters may be: exactly one shape. `[xmin, ymin, xmax, ymax]` is short for `{rectangle: ...}`."""

    rectangle: Rectangle | None = field("Corners", None, unit="m", example=[0, 0, 6, 30])
    circle: CircleItem | None = field("Anywhere within a circle", None)
    polygon: tuple[Point, ...] | None = field(
        "Anywhere within an outline", None, unit="m", min_length=3, max_length=MOST_POINTS
    )
    ring: CircleItem | None = field("Evenly spaced on a circle, the first at its +x end, counter-clockwise", None)

    @model_validator(mode="before")
    @classmethod
    def _short_rectangle(cls, value: Any) -> Any:
        return {"rectangle": value} if isinstance(value, tuple) else value

    @model_validator(mode="after")
    def _one_shape(self) -> AreaItem:
        given = [key for key in ("rectangle", "circle", "polygon", "ring") if getattr(self, key) is not None]
        if len(given) != 1:
            what = f"has both {given[0]} and {given[1]}" if given else "has no shape"
            raise wrong(what, "[xmin, ymin, xmax, ymax], or one of {circle: ...}, {polygon: ...} or {ring: ...}")
        return self

    @model_serializer(mode="wrap")
    def _shortly(self, handler: Any) -> Any:
        return self.rectangle if self.rectangle is not None else handler(self)


def _side(value: Any) -> Any:
    if value not in KEEP_SIDES:
        raise wrong("is no side", " or ".join(KEEP_SIDES))
    return value


KeepSide = Annotated[str, BeforeValidator(_side), WithJsonSchema({"enum": list(KEEP_SIDES)})]


class GroundAreaItem(SceneItem):
    """A part of the ground with a meaning: people avoid or like it, or walk there by rules."""

    area: AreaItem = field("Where it is", example=[4, 0, 7, 12])
    name: Name | None = field("Its name", None, example="lane")
    cost: float | None = field(
        "Factor on what a metre costs there: above 1 people avoid it, below 1 they like it",
        None, ge=AREA_COSTS[0], le=AREA_COSTS[1], example=4,
    )  # fmt: skip
    one_way: float | None = field(
        "Direction in which people walk: 0 along +x, 90 along +y", None, unit="degrees", ge=-360.0, le=360.0
    )
    speed_limit: float | None = field(
        "Greatest speed", None, unit="m/s", ge=SPEED_LIMITS[0], le=SPEED_LIMITS[1], example=1
    )
    keep: KeepSide | None = field("Side that people keep to: right or left", None, example="right")
    priority: int | None = field(
        "Whose way leads along it is planned before those of lower priority, who yield", None, ge=-100, le=100
    )

    floor: Name | None = field("Its floor: the name of a platform, or ground", None, example="deck")

    @model_validator(mode="after")
    def _means_something(self) -> GroundAreaItem:
        if all(getattr(self, key) is None for key in ("cost", "one_way", "speed_limit", "keep", "priority")):
            raise wrong("means nothing", "cost: 4, one_way: 90, speed_limit: 1, keep: right or priority: 1")
        if self.area.ring is not None:
            raise wrong("is a ring, which has no inside", "area: {circle: {center, radius}} or a rectangle")
        return self
