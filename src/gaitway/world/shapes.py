"""Shapes of obstacles: upright solids and meshes, in metres and radians, Z up.

A shape is described where it stands. `shape.placed(pose)` carries it by a planar move; that is how movers move.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gaitway.core import planar
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import WorldError
from gaitway.world.footprint import Footprint, Point, Ring, check_outline

MAX_STEPS = 1000
"""Greatest number of steps of one flight of stairs."""


@dataclass(frozen=True, eq=False)
class Prism:
    """A footprint between two heights: the solid that most shapes are made of."""

    footprint: Footprint
    bottom: float
    top: float


@dataclass(frozen=True, eq=False)
class Ball:
    """A ball."""

    center: FloatArray
    """Centre [m]; (3,)."""
    radius: float


@dataclass(frozen=True, eq=False)
class TriangleMesh:
    """A surface of triangles; its inside is solid if it is closed."""

    vertices: FloatArray
    """Positions of the vertices [m]; (V, 3)."""
    triangles: IntArray
    """Corners, anticlockwise seen from outside; (T, 3)."""
    closed: bool


Solid = Prism | Ball | TriangleMesh
"""Solids of which shapes consist, for exact queries."""


class Shape(ABC):
    """A solid object that stands in the world."""

    @abstractmethod
    def solids(self) -> tuple[Solid, ...]:
        """Return the exact solids whose union is the shape."""

    @abstractmethod
    def footprint(self, low: float = -np.inf, high: float = np.inf) -> Footprint:
        """Return the floor area of the part strictly between two heights [m]; empty if there is none.

        At one height (`low` equal to `high`) it is the section there; `low` above `high` is empty.
        """

    @abstractmethod
    def placed(self, pose: npt.ArrayLike) -> Shape:
        """Return the shape moved by a planar pose (x, y, heading): turned about the origin, then shifted."""

    @abstractmethod
    def raised(self, by: float) -> Shape:
        """Return the shape lifted by a height [m]."""

    @property
    @abstractmethod
    def heights(self) -> tuple[float, float]:
        """Lowest and highest point [m]."""

    @property
    def two_sided(self) -> bool:
        """Whether both sides of its surface may be stood on, since it does not tell which one is outside."""
        return False

    def upper_side(self, points: FloatArray, near: FloatArray | None = None) -> FloatArray | None:
        """Return the height of its upper side [m] (N,) at points (N, 2), -inf beside it; None if its solids tell it.

        Of several above one another the highest counts, or the nearest to heights (N,) [m].
        """
        return None


class Upright(Shape):
    """A shape with straight walls: one prism."""

    bottom: float
    height: float

    @property
    @abstractmethod
    def outline(self) -> Footprint:
        """Its footprint."""

    @property
    def heights(self) -> tuple[float, float]:
        """Lowest and highest point [m]."""
        return self.bottom, self.bottom + self.height

    def solids(self) -> tuple[Solid, ...]:
        """Return one prism."""
        return (Prism(self.outline, *self.heights),)

    def footprint(self, low: float = -np.inf, high: float = np.inf) -> Footprint:
        """Return its outline if any part of it is strictly between the two heights [m]."""
        bottom, top = self.heights
        return self.outline if bottom < high and top > low and low <= high else Footprint.of_rings([])


@dataclass(frozen=True)
class Box(Upright):
    """An upright box."""

    center: Point
    size: Point
    """Length along its own x and y [m]."""
    height: float
    yaw: float = 0.0
    """Turn about the vertical [rad]."""
    bottom: float = 0.0
    """Height of its underside [m]."""

    def __post_init__(self) -> None:
        _check_finite("box", *self.center, self.yaw, self.bottom)
        _check_positive("box", size_x=self.size[0], size_y=self.size[1], height=self.height)

    @property
    def outline(self) -> Footprint:
        """Its four corners, anticlockwise."""
        (x, y), c, s = self.center, 0.5 * math.cos(self.yaw), 0.5 * math.sin(self.yaw)
        along_x, along_y = c * self.size[0], s * self.size[0]
        across_x, across_y = -s * self.size[1], c * self.size[1]
        corners = (
            (x - along_x - across_x, y - along_y - across_y),
            (x + along_x - across_x, y + along_y - across_y),
            (x + along_x + across_x, y + along_y + across_y),
            (x - along_x + across_x, y - along_y + across_y),
        )
        return Footprint.trusted((corners,))

    def placed(self, pose: npt.ArrayLike) -> Box:
        """Return the box carried by a planar move."""
        x, y, yaw = (float(v) for v in planar.compose(pose, (*self.center, self.yaw)))
        return replace(self, center=(x, y), yaw=yaw)

    def raised(self, by: float) -> Box:
        """Return the box lifted."""
        return replace(self, bottom=self.bottom + by)


@dataclass(frozen=True)
class Cylinder(Upright):
    """An upright cylinder."""

    center: Point
    radius: float
    height: float
    bottom: float = 0.0
    """Height of its underside [m]."""

    def __post_init__(self) -> None:
        _check_finite("cylinder", *self.center, self.bottom)
        _check_positive("cylinder", radius=self.radius, height=self.height)

    @property
    def outline(self) -> Footprint:
        """A rounded point."""
        return Footprint.trusted(((self.center,),), self.radius)

    def placed(self, pose: npt.ArrayLike) -> Cylinder:
        """Return the cylinder carried by a planar move."""
        return replace(self, center=_moved(pose, self.center))

    def raised(self, by: float) -> Cylinder:
        """Return the cylinder lifted."""
        return replace(self, bottom=self.bottom + by)


@dataclass(frozen=True)
class Polygon(Upright):
    """Straight walls around any simple outline, convex or not, with or without holes."""

    points: Ring
    height: float
    holes: tuple[Ring, ...] = ()
    bottom: float = 0.0
    """Height of its underside [m]."""

    def __post_init__(self) -> None:
        _check_positive("polygon", height=self.height)
        _check_finite("polygon", self.bottom)
        rings = [tuple((float(x), float(y)) for x, y in ring) for ring in (self.points, *self.holes)]
        check_outline(rings)
        object.__setattr__(self, "points", rings[0])
        object.__setattr__(self, "holes", tuple(rings[1:]))

    @property
    def outline(self) -> Footprint:
        """Its rings."""
        return Footprint.trusted((self.points, *self.holes))

    def placed(self, pose: npt.ArrayLike) -> Polygon:
        """Return the polygon carried by a planar move."""
        rings = [_moved_ring(pose, ring) for ring in (self.points, *self.holes)]
        return self._with(points=rings[0], holes=tuple(rings[1:]))

    def raised(self, by: float) -> Polygon:
        """Return the polygon lifted."""
        return self._with(bottom=self.bottom + by)

    def _with(self, **changes: Any) -> Polygon:
        """Return a copy that is not checked again: rounding must not make a tree's outline invalid while it moves."""
        other = copy(self)
        for name, value in changes.items():
            object.__setattr__(other, name, value)
        return other


@dataclass(frozen=True)
class Sphere(Shape):
    """A ball."""

    center: Point
    radius: float
    bottom: float = 0.0
    """Height of its lowest point [m]."""

    def __post_init__(self) -> None:
        _check_finite("sphere", *self.center, self.bottom)
        _check_positive("sphere", radius=self.radius)

    @property
    def heights(self) -> tuple[float, float]:
        """Lowest and highest point [m]."""
        return self.bottom, self.bottom + 2.0 * self.radius

    def solids(self) -> tuple[Solid, ...]:
        """Return one ball."""
        return (Ball(np.array([*self.center, self.bottom + self.radius]), self.radius),)

    def footprint(self, low: float = -np.inf, high: float = np.inf) -> Footprint:
        """Return the widest disc that it has between the two heights [m]."""
        middle = self.bottom + self.radius
        off = max(low - middle, middle - high, 0.0)
        if off >= self.radius or low > high:
            return Footprint.of_rings([])
        return Footprint.trusted(((self.center,),), math.sqrt(self.radius**2 - off**2))

    def placed(self, pose: npt.ArrayLike) -> Sphere:
        """Return the ball carried by a planar move."""
        return replace(self, center=_moved(pose, self.center))

    def raised(self, by: float) -> Sphere:
        """Return the ball lifted."""
        return replace(self, bottom=self.bottom + by)


@dataclass(frozen=True)
class Stairs(Shape):
    """A flight of steps that rises along its own x axis; each step is a block down to the flight's bottom."""

    center: Point
    """Middle of the flight's floor plan [m]."""
    width: float
    """Width across the flight [m]."""
    steps: int
    rise: float = 0.17
    """Height of a step [m]."""
    run: float = 0.29
    """Depth of a step [m]."""
    yaw: float = 0.0
    """Direction in which it rises [rad]."""
    bottom: float = 0.0
    """Height of the floor below it [m]."""

    def __post_init__(self) -> None:
        _check_finite("stairs", *self.center, self.yaw, self.bottom)
        _check_positive("stairs", width=self.width, steps=self.steps, rise=self.rise, run=self.run)
        if self.steps != int(self.steps) or self.steps > MAX_STEPS:
            raise WorldError(f"stairs have {self.steps} steps; write a whole number up to {MAX_STEPS}")

    @property
    def heights(self) -> tuple[float, float]:
        """Lowest and highest point [m]."""
        return self.bottom, self.bottom + self.steps * self.rise

    def blocks(self) -> tuple[Box, ...]:
        """Return one box per step, the lowest first."""
        start = -0.5 * self.steps * self.run
        return tuple(
            Box(
                _moved((*self.center, self.yaw), (start + (i + 0.5) * self.run, 0.0)),
                (self.run, self.width),
                (i + 1) * self.rise,
                self.yaw,
                self.bottom,
            )
            for i in range(self.steps)
        )

    def solids(self) -> tuple[Solid, ...]:
        """Return one prism per step."""
        return tuple(solid for block in self.blocks() for solid in block.solids())

    def footprint(self, low: float = -np.inf, high: float = np.inf) -> Footprint:
        """Return the steps that reach above `low`, as one rectangle."""
        first = next((i for i in range(self.steps) if self.bottom + (i + 1) * self.rise > low), self.steps)
        if first == self.steps or self.bottom >= high or low > high:
            return Footprint.of_rings([])
        length, x = (self.steps - first) * self.run, 0.5 * first * self.run
        return Box(_moved((*self.center, self.yaw), (x, 0.0)), (length, self.width), 1.0, self.yaw).outline

    def placed(self, pose: npt.ArrayLike) -> Stairs:
        """Return the flight carried by a planar move."""
        x, y, yaw = (float(v) for v in planar.compose(pose, (*self.center, self.yaw)))
        return replace(self, center=(x, y), yaw=yaw)

    def raised(self, by: float) -> Stairs:
        """Return the flight lifted."""
        return replace(self, bottom=self.bottom + by)


@dataclass(frozen=True)
class Ramp(Shape):
    """A wedge that rises evenly along its own x axis, from its bottom to its height."""

    center: Point
    """Middle of its floor plan [m]."""
    length: float
    """Length of its floor plan in the direction in which it rises [m]."""
    width: float
    height: float
    """Height of its upper end over its lower one [m]."""
    yaw: float = 0.0
    """Direction in which it rises [rad]."""
    bottom: float = 0.0
    """Height of its lower end, and of its underside [m]."""

    def __post_init__(self) -> None:
        _check_finite("ramp", *self.center, self.yaw, self.bottom)
        _check_positive("ramp", length=self.length, width=self.width, height=self.height)

    @property
    def heights(self) -> tuple[float, float]:
        """Lowest and highest point [m]."""
        return self.bottom, self.bottom + self.height

    @property
    def slope(self) -> float:
        """How steep it is [rad]."""
        return math.atan2(self.height, self.length)

    def surface_height(self, points: FloatArray) -> FloatArray:
        """Return the height of its upper side [m] (...) at points (..., 2); level beyond its ends, on at its sides."""
        away = points - np.asarray(self.center)
        share = (away[..., 0] * math.cos(self.yaw) + away[..., 1] * math.sin(self.yaw)) / self.length + 0.5
        return np.asarray(self.bottom + self.height * np.clip(share, 0.0, 1.0))

    def solids(self) -> tuple[Solid, ...]:
        """Return one closed mesh."""
        x, y = 0.5 * self.length, 0.5 * self.width
        plan = planar.transform_points(
            (*self.center, self.yaw), np.array([[-x, -y], [x, -y], [x, y], [-x, y], [x, -y], [x, y]])
        )
        low, high = self.heights
        vertices = np.column_stack([plan, [low, low, low, low, high, high]])
        triangles = [[0, 2, 1], [0, 3, 2], [0, 4, 5], [0, 5, 3], [1, 2, 5], [1, 5, 4], [0, 1, 4], [3, 5, 2]]
        return (TriangleMesh(vertices, np.array(triangles), closed=True),)

    def footprint(self, low: float = -np.inf, high: float = np.inf) -> Footprint:
        """Return the part that reaches above `low`, as one rectangle."""
        bottom, top = self.heights
        if bottom >= high or top <= low or low > high:
            return Footprint.of_rings([])
        first = self.length * max((low - bottom) / self.height, 0.0)
        center = _moved((*self.center, self.yaw), (0.5 * first, 0.0))
        return Box(center, (self.length - first, self.width), 1.0, self.yaw).outline

    def placed(self, pose: npt.ArrayLike) -> Ramp:
        """Return the ramp carried by a planar move."""
        x, y, yaw = (float(v) for v in planar.compose(pose, (*self.center, self.yaw)))
        return replace(self, center=(x, y), yaw=yaw)

    def raised(self, by: float) -> Ramp:
        """Return the ramp lifted."""
        return replace(self, bottom=self.bottom + by)


def _moved(pose: npt.ArrayLike, point: Point) -> Point:
    x, y = planar.transform_points(pose, point)
    return float(x), float(y)


def _moved_ring(pose: npt.ArrayLike, ring: Ring) -> Ring:
    return tuple((float(x), float(y)) for x, y in planar.transform_points(pose, ring))


def _check_finite(what: str, *values: float) -> None:
    if not np.isfinite(values).all():
        raise WorldError(f"{what} has a coordinate that is not finite: {values}")


def _check_positive(what: str, **values: float) -> None:
    for name, value in values.items():
        if not (np.isfinite(value) and value > 0.0):
            raise WorldError(f"{what} has {name} {value}; write a number above 0")
