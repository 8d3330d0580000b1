"""Random planning queries as the thesis draws them (Lau 2009, chapter 4.7.2): one start, any goal, rectangles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gaitway.core import planar
from gaitway.core.arrays import FloatArray
from gaitway.tree.region import Region
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World

START = (3.0, -2.0, 0.6)
"""Pose of the character in the world: x, y [m] and heading [rad]. The tree's root is there."""
_HEIGHT = 2.0
_MARGIN = 2.0
"""Least distance between the border of a world and the region [m]."""


@dataclass(frozen=True)
class Clutter:
    """Number and size of random rectangles; every value between the two limits is equally likely."""

    counts: tuple[int, int]
    sides: tuple[float, float]
    """Shortest and longest side [m]."""

    def scaled(self, by: float) -> Clutter:
        """Return the same rectangles with sides multiplied by a factor."""
        return Clutter(self.counts, (by * self.sides[0], by * self.sides[1]))


@dataclass(frozen=True, eq=False)
class PaperQuery:
    """A query: find a path from `START` to a goal."""

    world: World
    goal: tuple[float, float]
    """Goal in the tree's frame: x, y [m]."""

    @property
    def world_goal(self) -> tuple[float, float]:
        """The goal in the world [m]."""
        x, y = planar.transform_points(START, np.array(self.goal)).tolist()
        return x, y


def random_queries(
    region: Region, clutter: Clutter, radius: float, nearest: float, count: int, seed: int
) -> list[PaperQuery]:
    """Draw random queries with goals in a region, and rectangles that overlap it.

    Args:
        region: region of the tree.
        clutter: number and size of the rectangles.
        radius: radius of the body, which collides neither at the start nor at the goal [m].
        nearest: least distance of the goal from the start along x or along y [m].
        count: number of queries.
        seed: seed of all random choices.
    """
    rng, out, bounds = np.random.default_rng(seed), list[PaperQuery](), world_bounds(region)
    while len(out) < count:
        boxes = _boxes(region, clutter, rng)
        goal = region.points(rng, 1)[0]
        clear = min(float(_away(box, point)) for box in boxes for point in (np.zeros(2), goal)) > radius
        if clear and np.abs(goal).max() > nearest:
            obstacles = tuple(Obstacle(box.placed(START)) for box in boxes)
            out.append(PaperQuery(World(bounds, obstacles), (float(goal[0]), float(goal[1]))))
    return out


def world_bounds(region: Region) -> tuple[float, float, float, float]:
    """Return the bounds of a world that holds a region around `START`: xmin, ymin, xmax, ymax [m]."""
    x0, y0, x1, y1 = region.spec.bounds
    corners = planar.transform_points(START, np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)]))
    low, high = corners.min(axis=0) - _MARGIN, corners.max(axis=0) + _MARGIN
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])


def occupied(query: PaperQuery, region: Region) -> float:
    """Return the share of a region's cells whose centre lies in a rectangle."""
    middles = region.spec.all_centers()[region.inside]
    places = planar.transform_points(START, middles)
    covered = np.zeros(len(middles), np.bool_)
    for obstacle in query.world.obstacles:
        if isinstance(obstacle.shape, Box):
            covered |= _away(obstacle.shape, places) <= 0.0
    return float(covered.mean())


def _boxes(region: Region, clutter: Clutter, rng: np.random.Generator) -> list[Box]:
    """Draw rectangles in the tree's frame that overlap a region."""
    x0, y0, x1, y1 = region.spec.bounds
    margin, boxes = 0.5 * clutter.sides[1], list[Box]()
    wanted = int(rng.integers(clutter.counts[0], clutter.counts[1] + 1))
    while len(boxes) < wanted:
        center = rng.uniform((x0 - margin, y0 - margin), (x1 + margin, y1 + margin))
        length, width = rng.uniform(*clutter.sides, 2)
        box = Box((center[0], center[1]), (length, width), _HEIGHT, float(rng.uniform(0.0, np.pi)))
        if region.holds(box.center) or _overlaps(box, region):
            boxes.append(box)
    return boxes


def _overlaps(box: Box, region: Region) -> bool:
    """Return whether some point of a rectangle lies in a region; points are half a cell apart."""
    counts = [int(np.ceil(side / (0.5 * region.spec.cell))) + 1 for side in box.size]
    along, across = (np.linspace(-0.5 * side, 0.5 * side, n) for side, n in zip(box.size, counts, strict=True))
    local = np.stack(np.meshgrid(along, across), axis=-1).reshape(-1, 2)
    cells = region.spec.cells(planar.transform_points((*box.center, box.yaw), local))
    cells = cells[region.spec.contains(cells)]
    return bool(region.inside[cells[:, 0], cells[:, 1]].any())


def _away(box: Box, points: FloatArray) -> FloatArray:
    """Return the distance of points (..., 2) from a rectangle [m]; (...)."""
    c, s = np.cos(box.yaw), np.sin(box.yaw)
    from_middle = points - np.array(box.center)
    local = np.stack(
        [c * from_middle[..., 0] + s * from_middle[..., 1], c * from_middle[..., 1] - s * from_middle[..., 0]], axis=-1
    )
    beyond = np.maximum(np.abs(local) - 0.5 * np.array(box.size), 0.0)
    out: FloatArray = np.hypot(beyond[..., 0], beyond[..., 1])
    return out
