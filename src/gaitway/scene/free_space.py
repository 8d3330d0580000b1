"""Where there is room: free of obstacles at a time, and free of one another."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import shapely

from gaitway.arrays import BoolArray, FloatArray
from gaitway.world import PASSABLE, Obstacle, World
from gaitway.world.body_band import BODY_BAND, body_footprint
from gaitway.world.footprint import Footprint
from gaitway.world.plane import ROUND_SEGMENTS, core, drawn

TOUCHING = 1e-9
"""Things that only touch do not overlap; rounding is allowed for [m]."""
_OUTWARD = 1.0 / math.cos(0.25 * math.pi / ROUND_SEGMENTS)
"""Factor on a radius whose arcs, drawn with straight pieces, then lie outside the true ones."""


class FreeSpace:
    """What stands in the way of somebody of a radius who stands upright."""

    def __init__(self, world: World, obstacles: Sequence[Obstacle], radius: float) -> None:
        self.obstacles = tuple(obstacles)
        """In the order of which `blockers` speaks."""
        self.radius = radius
        self._footprints: list[Footprint] = []
        self._indices: list[int] = []
        for index, obstacle in enumerate(self.obstacles):
            if obstacle.kind == PASSABLE:
                continue
            footprint = body_footprint(obstacle.shape, world.terrain, BODY_BAND, radius)
            if not footprint.empty:
                self._footprints.append(footprint)
                self._indices.append(index)
        self._cores = np.array([core(footprint) for footprint in self._footprints])
        self._roundings = np.array([footprint.radius for footprint in self._footprints])

    def free(self, points: FloatArray) -> BoolArray:
        """Whether a disc at each of some points (N, 2) touches nothing; (N,)."""
        out = np.ones(len(points), dtype=np.bool_)
        if len(self._cores) and len(points):
            reach = np.maximum(self._roundings + self.radius - TOUCHING, 0.0)
            tree = shapely.STRtree(shapely.points(points))
            out[tree.query(self._cores, predicate="dwithin", distance=reach)[1]] = False
        return out

    def blockers(self, point: Sequence[float]) -> list[tuple[int, float]]:
        """Obstacles that a disc touches, by index, and how far their edges are from its centre [m] (0 inside)."""
        if not len(self._cores):
            return []
        away = shapely.distance(self._cores, shapely.Point(point[0], point[1])) - self._roundings
        found = np.flatnonzero(away < self.radius - TOUCHING)
        return [(self._indices[i], max(float(away[i]), 0.0)) for i in found]

    def without(self, area: shapely.Geometry, others: Discs) -> shapely.Geometry:
        """The part of an area where a disc touches neither an obstacle nor one of some other discs."""
        blocked = [
            grown_geometry(footprint, self.radius)
            for footprint, geometry in zip(self._footprints, self._cores, strict=True)
            if shapely.dwithin(geometry, area, footprint.radius + self.radius)
        ]
        blocked += [grown_geometry(footprint, self.radius) for footprint in others.footprints(area.bounds, self.radius)]
        return area.difference(shapely.union_all(blocked)) if blocked else area


def grown_geometry(footprint: Footprint, by: float) -> shapely.Geometry:
    """All points within some distance [m] of a footprint; arcs are drawn outside the true ones."""
    return drawn(footprint.grown((footprint.radius + by) * _OUTWARD - footprint.radius))


class Discs:
    """Discs with labels, found by the square of a grid that their middle lies in."""

    def __init__(self, largest_radius: float) -> None:
        self.cell = 2.0 * largest_radius
        self.squares: dict[tuple[int, int], list[tuple[float, float, float, int]]] = {}
        self.by_radius: dict[float, list[FloatArray]] = {}

    def overlapped(self, x: float, y: float, radius: float) -> tuple[int, float] | None:
        """The label of a disc that one would overlap, and how far apart they are [m]."""
        column, row = math.floor(x / self.cell), math.floor(y / self.cell)
        for i in (column - 1, column, column + 1):
            for j in (row - 1, row, row + 1):
                for other_x, other_y, other_radius, label in self.squares.get((i, j), ()):
                    away = math.hypot(x - other_x, y - other_y)
                    if away < radius + other_radius - TOUCHING:
                        return label, away
        return None

    def add(self, points: FloatArray, radius: float, first: int) -> None:
        """Put discs at points (N, 2), labelled from `first` on, whether they overlap others or not."""
        self.by_radius.setdefault(radius, []).append(points)
        for label, (x, y) in enumerate(points.tolist(), first):
            square = math.floor(x / self.cell), math.floor(y / self.cell)
            self.squares.setdefault(square, []).append((x, y, radius, label))

    def footprints(self, box: tuple[float, float, float, float], margin: float) -> Iterator[Footprint]:
        """What the discs that come nearer to a box than a margin [m] cover."""
        for radius, runs in self.by_radius.items():
            points, reach = np.concatenate(runs), radius + margin
            low, high = np.array(box[:2]) - reach, np.array(box[2:]) + reach
            near = points[((points >= low) & (points <= high)).all(axis=1)]
            if len(near):
                yield Footprint(near, np.arange(len(near) + 1), radius)
