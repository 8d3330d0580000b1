"""Models of movers: shapes in a frame of their own, and the path of that frame."""

from __future__ import annotations

import math
from typing import ClassVar

from pydantic import model_validator

from gaitway.scene.fields import LATEST, MOST_POINTS, Color, Name, PathKey, Point, SceneItem, Word, field, wrong
from gaitway.scene.shape_models import BoxItem, CylinderItem, MeshItem, PolygonItem, SphereItem, one_of


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
    """What a mover is from a time on."""

    SHAPES: ClassVar[tuple[str, ...]] = ("box", "cylinder", "sphere", "polygon", "mesh")

    start: float = field("When it begins", unit="s", ge=0.0, le=LATEST, alias="from", example=3)
    kind: Word = field("wall, passable or the kind of a special obstacle", "wall")
    box: MoverBoxItem | None = None
    cylinder: MoverCylinderItem | None = None
    sphere: MoverSphereItem | None = None
    polygon: PolygonItem | None = None
    mesh: MeshItem | None = None

    @model_validator(mode="after")
    def _one_shape(self) -> PhaseItem:
        one_of(self, self.SHAPES, least=0)
        return self


class MoverItem(SceneItem):
    """A thing whose movement is known: one shape in its own frame, and a path."""

    SHAPES: ClassVar[tuple[str, ...]] = ("box", "cylinder", "sphere", "polygon", "mesh")

    box: MoverBoxItem | None = None
    cylinder: MoverCylinderItem | None = None
    sphere: MoverSphereItem | None = None
    polygon: PolygonItem | None = None
    mesh: MeshItem | None = None
    path: tuple[PathKey, ...] = field(
        "Where it is when: [t, x, y] or [t, x, y, yaw_deg], straight in between",
        min_length=1,
        max_length=MOST_POINTS,
        example=[[0, 5, 5], [4, 9, 5, 90]],
    )
    kind: Word = field("wall, passable or the kind of a special obstacle", "wall")
    repeat: bool = field("Whether it walks its path over and over", False)
    phases: tuple[PhaseItem, ...] = field(
        "What it is from a time on, in order; each may bring its own shape", (), max_length=1000
    )
    name: Name | None = field("What it is called", None)
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
