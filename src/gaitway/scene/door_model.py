"""The model of a door in a scene file."""

from __future__ import annotations

import math

from pydantic import model_validator

from gaitway.scene.fields import (
    Color,
    Extent,
    Name,
    Point,
    SceneItem,
    bottom_field,
    field,
    height_field,
    turn_field,
    wrong,
)


class DoorItem(SceneItem):
    """A door that `open` and `close` of rules move: it slides or swings. Shut, it is an obstacle in the doorway."""

    name: Name = field("Its name, by which rules open and close it", example="gate")
    center: Point = field("Middle of its floor plan when it is shut", unit="m", example=[6, 4])
    size: Extent = field(
        "Length of the doorway along its own x, thickness along its own y", unit="m", example=[1.6, 0.1]
    )
    height: float = height_field("Height", 2.1)
    bottom: float = bottom_field("Lower edge above the ground: the height of its floor")
    yaw_deg: float = turn_field()
    slide: Point | None = field(
        "How far it slides to open; by default as far as it is long, along its own x", None, unit="m", example=[1.6, 0]
    )
    swing_deg: float | None = field(
        "How far it swings to open instead, about its end of least own x", None, unit="degrees", ge=-180.0, le=180.0,
        example=90,
    )  # fmt: skip
    seconds: float = field("Time that it takes to open or to shut", 1.5, unit="s", ge=0.1, le=600.0)
    open: bool = field("Whether it is open at the beginning", False)
    color: Color | None = field("Its colour in pictures", None, example="#b08040")

    @model_validator(mode="after")
    def _one_way(self) -> DoorItem:
        if self.slide is not None and self.swing_deg is not None:
            raise wrong("has both slide and swing_deg", "slide: [x, y] in metres, or swing_deg: degrees")
        if self.swing_deg == 0.0 or (self.slide is not None and math.hypot(*self.slide) < 0.01):
            raise wrong("does not move when it opens", "slide: [x, y] in metres, or swing_deg: degrees, such as 90")
        return self
