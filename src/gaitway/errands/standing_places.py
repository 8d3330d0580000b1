"""Standing places: where people stand or are about to stand, and free places beside them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import shapely

from gaitway.core.arrays import BoolArray, FloatArray

_APART = 0.85
"""Least distance between two people who stand [m]: arms do not touch, and steps begin without a bump."""
_ROOM = 0.12
"""Distance from obstacles, beyond a person's radius, at which people like to stand [m]."""
_RINGS = tuple(0.9 * k for k in range(1, 12))
"""Distances from a point at which a free place is looked for [m], one after another."""
_DRAWN = 96
"""Points that are drawn in an area to find one to stand at."""
_LONELY = 2.5
"""Distance to others beyond which a place is not better [m]."""
_SIGHT = 0.2
"""Distance between points at which a straight line is tested for obstacles [m]."""


@dataclass(eq=False)
class StandingPlaces:
    """Where everybody stands or is about to. This class is **mutable**."""

    clearance: Callable[[FloatArray], FloatArray]
    """Distances of points (N, 2) to the nearest obstacle [m]; (N,)."""
    taken: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Places by person [m]."""

    def free(self, points: FloatArray, who: str, radius: float) -> BoolArray:
        """Return at which points (N, 2) a person may stand: clear of obstacles and of all others; (N,)."""
        return (self.clearance(points) >= radius + _ROOM) & (self._away(points, who) >= _APART)

    def near(self, point: tuple[float, float], who: str, radius: float) -> tuple[float, float] | None:
        """Return the free place nearest to a point, on the same side of every obstacle; None if there is none."""
        seen = self.clearance(np.array([point]))[0] > 0.0
        here = self.taken.get(who, point)
        for ring in (0.0, *_RINGS):
            count = max(1, round(math.tau * ring / _APART))
            angles = np.arange(count) * math.tau / count
            points = np.asarray(point) + ring * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
            points = points[self.free(points, who, radius)]
            if seen and ring > 0.0:
                points = points[[self.in_sight(point, other) for other in points]]
            if len(points):
                away = np.round(np.hypot(*(points - here).T), 6)
                x, y = points[int(np.argmin(away))].tolist()
                return x, y
        return None

    def within(
        self, area: shapely.Geometry, who: str, radius: float, rng: np.random.Generator
    ) -> tuple[float, float] | None:
        """Draw a free place in an area, rather far from others; None if there is none."""
        points = drawn_points(area, _DRAWN, rng)
        points = points[self.free(points, who, radius)]
        if not len(points):
            return None
        good = np.minimum(self._away(points, who), _LONELY)
        x, y = points[int(np.argmax(np.round(good, 6)))].tolist()
        return x, y

    def way_out(
        self, area: shapely.Geometry, radius: float, rng: np.random.Generator, near: tuple[float, float]
    ) -> tuple[float, float] | None:
        """Draw a place in an area where people leave, near a point; others who leave there are gone by then."""
        points = drawn_points(area, _DRAWN, rng)
        points = points[self.clearance(points) >= radius + _ROOM]
        if not len(points):
            return None
        x, y = points[int(np.argmin(np.round(np.hypot(*(points - near).T), 6)))].tolist()
        return x, y

    def _away(self, points: FloatArray, who: str) -> FloatArray:
        """Return the distances of points (N, 2) to the nearest place of somebody else [m]; (N,)."""
        others = np.array([place for name, place in self.taken.items() if name != who]).reshape(-1, 2)
        if not len(others):
            return np.full(len(points), np.inf)
        gaps = points[:, None, :] - others[None, :, :]
        return np.asarray(np.hypot(gaps[..., 0], gaps[..., 1]).min(axis=1))

    def in_sight(self, a: tuple[float, float], b: FloatArray) -> bool:
        """Return whether no obstacle lies on the straight line between two points."""
        count = max(2, math.ceil(math.dist(a, b) / _SIGHT) + 1)
        line = np.linspace(np.asarray(a), b, count)
        return bool((self.clearance(line) > 0.0).all())


def drawn_points(area: shapely.Geometry, count: int, rng: np.random.Generator) -> FloatArray:
    """Draw points inside an area; (at most count, 2)."""
    x0, y0, x1, y1 = area.bounds
    points = rng.uniform((x0, y0), (x1, y1), (count * 2, 2))
    inside = shapely.contains_xy(area, points[:, 0], points[:, 1])
    return np.asarray(points[inside][:count])
