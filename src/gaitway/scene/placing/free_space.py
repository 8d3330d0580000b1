"""Free space for placing characters: clear of obstacles at a time, and clear of one another."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import shapely

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.world import PASSABLE, Obstacle, World
from gaitway.world.footprint import core_geometry
from gaitway.world.occupancy import BODY_BAND, body_footprint

TOUCHING = 1e-9
"""Tolerance for rounding [m]: discs that only touch do not overlap."""


class FreeSpace:
    """The obstacles that an upright character of some radius would touch."""

    def __init__(
        self, world: World, obstacles: Sequence[Obstacle], radius: float, region: shapely.Geometry | None = None
    ) -> None:
        """Prepare the space.

        Args:
            world: the place.
            obstacles: its obstacles at a time.
            radius: radius of the character [m].
            region: where there is ground; None for everywhere.
        """
        self.obstacles = tuple(obstacles)
        """Obstacles; `blockers` returns indices into them."""
        self.radius = radius
        self.region = None if region is None else region.buffer(-radius)
        self._indices: list[int] = []
        cores: list[shapely.Geometry] = []
        roundings: list[float] = []
        for index, obstacle in enumerate(self.obstacles):
            if obstacle.kind == PASSABLE:
                continue
            footprint = body_footprint(obstacle.shape, world.terrain, BODY_BAND, radius)
            if not footprint.empty:
                cores.append(core_geometry(footprint))
                roundings.append(footprint.radius)
                self._indices.append(index)
        self._cores, self._roundings = np.array(cores), np.array(roundings)

    def free(self, points: FloatArray) -> BoolArray:
        """Return whether a disc at each of some points (N, 2) touches no obstacle; (N,)."""
        out = np.ones(len(points), dtype=np.bool_)
        if len(self._cores) and len(points):
            reach = np.maximum(self._roundings + self.radius - TOUCHING, 0.0)
            tree = shapely.STRtree(shapely.points(points))
            out[tree.query(self._cores, predicate="dwithin", distance=reach)[1]] = False
        if self.region is not None and len(points):
            out &= shapely.dwithin(self.region, shapely.points(points), TOUCHING)
        return out

    def blockers(self, point: Sequence[float]) -> list[tuple[int, float]]:
        """Return the index of each obstacle that a disc touches, and its distance from the centre [m] (0 inside)."""
        if not len(self._cores):
            return []
        away = shapely.distance(self._cores, shapely.Point(point[0], point[1])) - self._roundings
        found = np.flatnonzero(away < self.radius - TOUCHING)
        return [(self._indices[i], max(float(away[i]), 0.0)) for i in found]


class Discs:
    """Labelled discs in a grid; a disc is found by the square that its centre lies in."""

    def __init__(self, largest_radius: float) -> None:
        self.cell = 2.0 * largest_radius
        self.squares: dict[tuple[int, int], list[tuple[float, float, float, int]]] = {}

    def overlapped(self, x: float, y: float, radius: float) -> tuple[int, float] | None:
        """Return the label of a disc that a new one would overlap and the distance of their centres [m], or None."""
        column, row = math.floor(x / self.cell), math.floor(y / self.cell)
        for i in (column - 1, column, column + 1):
            for j in (row - 1, row, row + 1):
                for other_x, other_y, other_radius, label in self.squares.get((i, j), ()):
                    away = math.hypot(x - other_x, y - other_y)
                    if away < radius + other_radius - TOUCHING:
                        return label, away
        return None

    def add(self, points: FloatArray, radius: float, first: int) -> None:
        """Add discs at points (N, 2), labelled from `first` on, whether they overlap others or not."""
        for label, (x, y) in enumerate(points.tolist(), first):
            square = math.floor(x / self.cell), math.floor(y / self.cell)
            self.squares.setdefault(square, []).append((x, y, radius, label))

    def clear(self, points: FloatArray, radius: float) -> BoolArray:
        """Return whether a disc at each of some points (N, 2) overlaps no other; (N,)."""
        return np.array([self.overlapped(x, y, radius) is None for x, y in points.tolist()], dtype=np.bool_)


def free_of_all(points: FloatArray, space: FreeSpace, discs: Discs) -> BoolArray:
    """Return whether a character at each of some points (N, 2) would touch neither an obstacle nor a disc; (N,)."""
    out = space.free(points)
    out[out] = discs.clear(points[out], space.radius)
    return out
