"""The models of lifts and escalators in a scene file."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from gaitway.scene.fields import (
    HIGHEST,
    LATEST,
    Color,
    Extent,
    Name,
    Point,
    SceneItem,
    bottom_field,
    field,
    turn_field,
    wrong,
)

MOST_FLOORS = 100
"""Largest number of floors of one lift."""


class LiftItem(SceneItem):
    """A platform that stands at several floors in turn, from the lowest to the highest and back, for ever."""

    center: Point = field("Middle of its floor plan", unit="m", example=[8, 4])
    size: Extent = field("Length along its own x, width along its own y", unit="m", example=[2, 2])
    floors: tuple[Annotated[float, Field(ge=-HIGHEST, le=HIGHEST)], ...] = field(
        "Heights of the floors at which it stands, from low to high", unit="m", min_length=2, max_length=MOST_FLOORS,
        example=[0, 3],
    )  # fmt: skip
    yaw_deg: float = turn_field()
    speed: float = field("Greatest speed", 1.0, unit="m/s", gt=0.0, le=20.0)
    dwell: float = field("Time for which it stands at each floor", 12.0, unit="s", gt=0.0, le=3600.0)
    start: float = field("Time at which it comes to its lowest floor", 0.0, unit="s", ge=-LATEST, le=LATEST)
    name: Name | None = field("Its name", None)
    color: Color | None = field("Its colour in pictures", None, example="#8090a0")

    @model_validator(mode="after")
    def _rises(self) -> LiftItem:
        if any(b <= a for a, b in zip(self.floors, self.floors[1:], strict=False)):
            raise wrong(f"has floors {list(self.floors)}", "heights from low to high, such as floors: [0, 3]")
        return self


class EscalatorItem(SceneItem):
    """A strip of treads that carries people from one floor up or down to another."""

    center: Point = field("Middle of its floor plan", unit="m", example=[8, 4])
    height: float = field(
        "Height of its upper end over its lower one", unit="m", ge=1.0, le=HIGHEST, example=3,
    )  # fmt: skip
    yaw_deg: float = turn_field("Direction in which it rises")
    bottom: float = bottom_field()
    direction: Literal["up", "down"] = field("Whether it carries people up or down", "up")
    width: float = field("Width of its treads; 1.4 m or more has room for two lanes", 1.0, unit="m", ge=0.8, le=2.0)
    speed: float = field("Speed of its treads along the floor plan", 0.5, unit="m/s", ge=0.2, le=0.75)
    slope_deg: float = field("How steep it is between its level ends", 30.0, unit="degrees", ge=10.0, le=35.0)
    name: Name | None = field("Its name", None)
    color: Color | None = field("Colour of its panels in pictures", None, example="#8090a0")
