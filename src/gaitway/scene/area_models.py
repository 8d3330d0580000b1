"""The models of areas in a scene file: rectangles, circles, outlines and rings."""

from __future__ import annotations

from typing import Any

from pydantic import model_serializer, model_validator

from gaitway.scene.fields import MOST_POINTS, Point, Rectangle, SceneItem, field, length_field, wrong


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
