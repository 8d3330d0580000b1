"""Things of a scene that people handle: what they are, where they are at first, and where hands grasp or touch them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gaitway.world.shapes import TriangleMesh

Point3 = tuple[float, float, float]

HANDS = ("right", "left")
ANY = "any"
HEAD = "head"
"""Where a thing is worn."""
FRONT, SIDE = "front", "side"
CARRIES = (FRONT, SIDE)
"""How a thing is carried: before the body, or at the side of an arm that swings as it does."""
SPAN = 0.11
"""Width up to which a hand closes around a thing [m]; a wider one needs a place to be grasped."""


@dataclass(frozen=True, kw_only=True)
class Thing:
    """A small thing. Its own frame has its origin in the middle of its underside, and z up."""

    name: str
    shape: str
    """One of `SHAPES` of `gaitway.world.thing_forms`."""
    size: Point3
    """Length, width and height [m]; those of the box around it."""
    at: Point3 | None = None
    """Where its origin is at first [m]; None if somebody has it."""
    yaw: float = 0.0
    """How it is turned there [rad]."""
    grasps: tuple[Point3, ...] = ()
    """Where hands grasp it, in its own frame [m]; without any, a hand closes around its middle."""
    touch: Point3 | None = None
    """Where fingers touch it, in its own frame [m]; None: in the middle of the side that is nearest."""
    fixed: bool = False
    """Whether it stays where it is: a switch, a handle."""
    held: str | None = None
    """Who holds it at first."""
    hand: str = "right"
    """The hand that does."""
    worn: str | None = None
    """Who wears it on the head at first."""
    rides: str | None = None
    """The mover that it is on, by name; `at` and `yaw` are then those in the frame of the mover."""
    carry: str = FRONT
    """One of `CARRIES`."""
    color: str | None = None
    mesh: TriangleMesh | None = None
    """The triangles of a mesh, in its own frame."""

    @property
    def middle(self) -> Point3:
        """Its middle in its own frame [m]."""
        return 0.0, 0.0, 0.5 * self.size[2]

    @property
    def width(self) -> float:
        """Its least width [m]."""
        return min(self.size[:2])

    def problem(self) -> str:
        """Return why no hand can grasp it, in a few words; nothing if one can."""
        if self.fixed:
            return "it is fixed"
        if not self.grasps and self.width > SPAN:
            return f"it is {self.width:.2f} m wide, and a hand spans {SPAN:.2f} m; write grasps: [[x, y, z]] for it"
        return ""

    def placed(self, point: Point3, at: Point3, yaw: float) -> Point3:
        """Return a point of its own frame in the world [m], if its origin is at `at` and it is turned by `yaw`."""
        c, s = math.cos(yaw), math.sin(yaw)
        return at[0] + c * point[0] - s * point[1], at[1] + s * point[0] + c * point[1], at[2] + point[2]
