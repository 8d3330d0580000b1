"""Where there is room: free of obstacles at a time, and free of one another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import shapely

from gaitway.arrays import BoolArray, FloatArray
from gaitway.world import PASSABLE, Obstacle, World, plane

BODY_HEIGHT = 1.9
"""What hangs higher above the ground is in nobody's way [m]."""
TOUCHING = 1e-9
"""Things that only touch do not overlap; rounding is allowed for [m]."""


class FreeSpace:
    """What stands in the way of somebody who stands upright, at one time."""

    def __init__(self, world: World, obstacles: Sequence[Obstacle]) -> None:
        self.world = world
        self.obstacles = tuple(obstacles)
        """In the order of which `blockers` speaks."""

    @cached_property
    def _parts(self) -> tuple[FloatArray, FloatArray, list[int]]:
        """Cores of the footprints, their roundings [m], and which obstacle each is of."""
        cores, roundings, indices = [], [], []
        for index, obstacle in enumerate(self.obstacles):
            if obstacle.kind == PASSABLE:
                continue
            footprint = obstacle.shape.footprint(high=self._head_height(obstacle))
            if not footprint.empty:
                cores.append(plane.core(footprint))
                roundings.append(footprint.radius)
                indices.append(index)
        return np.array(cores), np.array(roundings), indices

    def _head_height(self, obstacle: Obstacle) -> float:
        if self.world.terrain is None:
            return BODY_HEIGHT
        x0, y0, x1, y1 = obstacle.shape.footprint().bounds
        return BODY_HEIGHT + float(self.world.ground((0.5 * (x0 + x1), 0.5 * (y0 + y1))))

    def free(self, points: FloatArray, radius: float) -> BoolArray:
        """Whether a disc of a radius [m] at each of some points (N, 2) touches nothing; (N,)."""
        out = np.ones(len(points), dtype=np.bool_)
        cores, roundings, _ = self._parts
        if len(cores) and len(points):
            reach = np.maximum(roundings + radius - TOUCHING, 0.0)
            tree = shapely.STRtree(shapely.points(points))
            out[tree.query(cores, predicate="dwithin", distance=reach)[1]] = False
        return out

    def blockers(self, point: Sequence[float], radius: float) -> list[tuple[int, float]]:
        """Obstacles that a disc touches, by index, and how far their edges are from its centre [m] (0 inside)."""
        cores, roundings, indices = self._parts
        if not len(cores):
            return []
        away = shapely.distance(cores, shapely.Point(point[0], point[1])) - roundings
        found = np.flatnonzero(away < radius - TOUCHING)
        return [(indices[i], max(float(away[i]), 0.0)) for i in found]


class Discs:
    """Discs that do not overlap, found by the square of a grid that their middle lies in."""

    def __init__(self, largest_radius: float) -> None:
        self.cell = 2.0 * largest_radius
        self.squares: dict[tuple[int, int], list[tuple[float, float, float, int]]] = {}

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

    def add(self, x: float, y: float, radius: float, label: int) -> None:
        """Put a disc, whether it overlaps another or not."""
        square = math.floor(x / self.cell), math.floor(y / self.cell)
        self.squares.setdefault(square, []).append((x, y, radius, label))
