"""Seats: where their front edge is, how high they are, and what of the place they fill."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import SittingError

HEIGHTS = (0.38, 0.55)
"""Lowest and highest top of a seat above its floor [m]."""
DEPTHS = (0.25, 2.0)
"""Least and greatest depth of a seat [m]."""
WIDTHS = (0.30, 50.0)
"""Least and greatest width of a seat [m]."""
_BACK_HEIGHT, _BACK_THICKNESS = 0.45, 0.06
"""Height of a backrest above the top of its seat, and its thickness [m]."""


@dataclass(frozen=True)
class Seat:
    """One place to sit: a chair, or the part of a bench that one person takes.

    The seat's own frame begins on the floor under the middle of the front edge. Its +X is where the sitter looks.
    """

    position: tuple[float, float]
    """Middle of the front edge [m]."""
    yaw: float = 0.0
    """Direction in which the sitter looks [rad]."""
    height: float = 0.45
    """Top of the seat above the floor [m]."""
    depth: float = 0.42
    """From the front edge to the back of the seat [m]."""
    width: float = 0.45
    """Width [m]."""
    backrest: bool = False
    """Whether there is a backrest at the back of the seat."""
    open_below: bool = False
    """Whether feet can go under the seat, as they can under most chairs and no step."""
    floor: float = 0.0
    """Height of the floor [m]."""

    def __post_init__(self) -> None:
        numbers = {"x": self.position[0], "y": self.position[1], "yaw": self.yaw, "floor": self.floor}
        numbers |= {"height": self.height, "depth": self.depth, "width": self.width}
        for name, value in numbers.items():
            if not np.isfinite(value):
                raise SittingError(f"seat: {name} is {value}; write a finite number")
        for name, (low, high) in (("height", HEIGHTS), ("depth", DEPTHS), ("width", WIDTHS)):
            if not low - 1e-9 <= numbers[name] <= high + 1e-9:
                raise SittingError(f"seat: {name} {numbers[name]:g} m; write {low:g} to {high:g}")
        object.__setattr__(self, "position", (float(self.position[0]), float(self.position[1])))

    @property
    def pose(self) -> FloatArray:
        """Planar pose of the front edge: x, y [m] and yaw [rad]; (3,)."""
        return np.array([*self.position, self.yaw])

    def local(self, points: FloatArray) -> FloatArray:
        """Return world points (..., 3) in the seat's own frame [m]."""
        away = points - np.array([*self.position, self.floor])
        return rotations.rotate(rotations.from_yaw(-self.yaw), away)

    def boxes(self) -> tuple[tuple[FloatArray, FloatArray], ...]:
        """Return what is solid, as boxes in the seat's own frame: lowest and highest corner [m], (3,) each."""
        half = 0.5 * self.width
        bottom = self.height - 0.06 if self.open_below else 0.0
        out = [(np.array([-self.depth, -half, bottom]), np.array([0.0, half, self.height]))]
        if self.backrest:
            back = -self.depth - _BACK_THICKNESS
            out.append((np.array([back, -half, 0.0]), np.array([-self.depth, half, self.height + _BACK_HEIGHT])))
        return tuple(out)


def box_distance(points: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the distance of points (..., 3) from a box [m]; inside it is negative; (...)."""
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    away = np.abs(points - middle) - half
    outside = np.linalg.norm(np.maximum(away, 0.0), axis=-1)
    return np.asarray(outside + np.minimum(away.max(axis=-1), 0.0))
