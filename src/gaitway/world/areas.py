"""Areas with a meaning: ground that people avoid or like, and rules of how they walk there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import shapely

from gaitway.core.arrays import BoolArray, FloatArray, owned
from gaitway.core.errors import WorldError

COSTS = (0.2, 20.0)
"""Least and greatest factor on what a metre costs in an area."""
LIMITS = (0.5, 15.0)
"""Least and greatest speed limit [m/s]."""
SIDES = {"right": 1, "left": -1}
"""Sides to keep to, by name."""

_ROOTS = (0.2, 1.8)
"""Least and greatest height of a root over the floor on which somebody is [m]."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Area:
    """A part of the ground with rules of its own."""

    outline: FloatArray
    """Corners, in order [m]; (N, 2)."""
    name: str = ""
    cost: float = 1.0
    """Factor on what a metre costs: people go around an area above 1, and like to walk in one below 1."""
    one_way: float | None = None
    """Direction in which people walk [rad]; None for any."""
    speed_limit: float | None = None
    """Greatest speed [m/s]; None for none."""
    keep: int = 0
    """1 where people keep to the right, -1 to the left, 0 where they do not care."""
    priority: int = 0
    """Whose way leads along areas of higher priority is planned before others, who yield."""
    floor: str | None = None
    """Name of its floor, in a place with several."""
    heights: tuple[float, float] | None = None
    """Heights of the lowest and the highest ground of that floor [m]; None in a place with one floor."""

    def __post_init__(self) -> None:
        outline = owned(self.outline, "outline of an area", (None, 2), error=WorldError)
        if len(outline) < 3 or not shapely.Polygon(outline).is_valid:
            raise WorldError("the outline of an area needs three corners or more, and must not cross itself")
        if not COSTS[0] <= self.cost <= COSTS[1]:
            raise WorldError(f"the cost {self.cost:g} of an area must be from {COSTS[0]:g} to {COSTS[1]:g}")
        if self.speed_limit is not None and not LIMITS[0] <= self.speed_limit <= LIMITS[1]:
            raise WorldError(f"the limit {self.speed_limit:g} m/s must be from {LIMITS[0]:g} to {LIMITS[1]:g}")
        if self.one_way is not None and not math.isfinite(self.one_way):
            raise WorldError(f"a direction {self.one_way} is none")
        if self.keep not in (-1, 0, 1):
            raise WorldError(f"keep {self.keep} must be 1 (right), -1 (left) or 0")
        object.__setattr__(self, "outline", outline)

    @property
    def polygon(self) -> shapely.Polygon:
        """The area as a polygon."""
        return shapely.Polygon(self.outline)

    def contains(self, points: npt.ArrayLike) -> BoolArray:
        """Return which points (..., 2) lie in the area, or on its border; (...)."""
        points = np.asarray(points, dtype=np.float64)
        return np.asarray(shapely.intersects_xy(self.polygon, points[..., 0], points[..., 1]))

    def holds(self, roots: npt.ArrayLike) -> BoolArray:
        """Return which people, by the positions of their roots (..., 3), are in the area, on its floor; (...)."""
        roots = np.asarray(roots, dtype=np.float64)
        inside = self.contains(roots[..., :2])
        if self.heights is None:
            return inside
        low, high = self.heights
        return inside & (roots[..., 2] > low + _ROOTS[0]) & (roots[..., 2] < high + _ROOTS[1])

    @property
    def words(self) -> str:
        """What holds in it, in a few words."""
        words = []
        if self.cost != 1.0:
            words.append(f"{'avoid' if self.cost > 1.0 else 'like'} {self.cost:g}")
        if self.one_way is not None:
            words.append("one way")
        if self.speed_limit is not None:
            words.append(f"{self.speed_limit:g} m/s")
        if self.keep:
            words.append(f"keep {'right' if self.keep > 0 else 'left'}")
        if self.priority:
            words.append(f"priority {self.priority}")
        return ", ".join(words)


def way_priority(areas: Sequence[Area], start: npt.ArrayLike, goal: npt.ArrayLike) -> int:
    """Return the priority of somebody's way: the highest of areas that hold the start or half of the straight way.

    Args:
        areas: the areas.
        start: x and y [m].
        goal: x and y [m].
    """
    points = np.linspace(np.asarray(start, dtype=np.float64)[:2], np.asarray(goal, dtype=np.float64)[:2], 21)
    found = [0]
    for area in areas:
        if area.priority:
            inside = area.contains(points)
            if inside[0] or inside.mean() >= 0.5:
                found.append(area.priority)
    return max(found, key=abs)
