"""What characters of a take have around them: how much room there is, and what they must pass."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import shapely

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.world.footprint import core_geometry
from gaitway.world.obstacle import Mover, MoverPhase, Obstacle
from gaitway.world.world import World

_RUN = 32
"""Points of a path that are compared with obstacles together first."""
_SLACK = 1e-9
"""Distance that rounding may hide [m]."""


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Outlines of the obstacles of a world, laid out once for all characters."""

    bounds: tuple[float, float, float, float]
    obstacles: tuple[Obstacle, ...]
    outlines: tuple[shapely.Geometry, ...]
    """Outline of each obstacle without its rounded edge."""
    radii: FloatArray
    """Radius of that edge [m]; (N,)."""
    movers: tuple[Mover, ...] = ()
    sizes: tuple[float, ...] = ()
    """Radius of a disc around each mover's place that covers it [m]."""

    @staticmethod
    def of(world: World) -> Surroundings:
        """Return the surroundings that a world gives."""
        prints = [obstacle.shape.footprint() for obstacle in world.obstacles]
        kept = [k for k, outline in enumerate(prints) if not outline.empty]
        outlines = tuple(core_geometry(prints[k]) for k in kept)
        shapely.prepare(list(outlines))
        radii = np.array([prints[k].radius for k in kept])
        sizes = tuple(max(_size(phase) for phase in mover.phases) for mover in world.movers)
        obstacles = tuple(world.obstacles[k] for k in kept)
        return Surroundings(world.bounds, obstacles, outlines, radii, tuple(world.movers), sizes)

    def room(self, places: FloatArray) -> float:
        """Return the least distance from any of some places (N, 2) to the next obstacle or to the border [m]."""
        x0, y0, x1, y1 = self.bounds
        border = float(np.minimum(places - (x0, y0), (x1, y1) - places).min())
        if not self.outlines:
            return border
        # a place is no nearer than the middle of all places, less its distance from there: most need not be measured
        middle = places.mean(axis=0)
        apart = np.hypot(*(places - middle).T)
        outlines = np.array(self.outlines)
        about = shapely.distance(shapely.Point(middle), outlines) - self.radii
        near = about - apart.max() <= about.min() + apart.max() + _SLACK
        outlines, radii = outlines[near], self.radii[near]
        farthest = np.argsort(-apart)[:_RUN]
        least = _least(places[farthest], outlines, radii)
        nearer = apart >= about.min() - least - _SLACK
        return min(border, least, _least(places[nearer], outlines, radii))

    def clear(self, points: FloatArray, within: float) -> FloatArray:
        """Return how far points (N, 2) are from the next obstacle but special ones, at most `within` [m]; (N,)."""
        out = np.full(len(points), within)
        tree, radii = self._walls
        if not len(radii):
            return out
        reach = within + float(radii.max())
        starts = np.arange(0, len(points), _RUN)
        low, high = np.minimum.reduceat(points, starts), np.maximum.reduceat(points, starts)
        boxes = shapely.box(*(low - reach - _SLACK).T, *(high + reach + _SLACK).T)
        met = np.zeros(len(starts), dtype=bool)
        met[tree.query(boxes)[0]] = True
        near = np.flatnonzero(np.repeat(met, _RUN)[: len(points)])
        spots = shapely.points(points[near])
        rows, found = tree.query(spots, predicate="dwithin", distance=reach)
        away = np.asarray(shapely.distance(spots[rows], tree.geometries[found])) - radii[found]
        np.minimum.at(out, near[rows], np.maximum(away, 0.0))
        return out

    @cached_property
    def _walls(self) -> tuple[shapely.STRtree, FloatArray]:
        """Outlines of all obstacles but special ones, and the radii of their rounded edges [m]; (W,)."""
        walls = [k for k, obstacle in enumerate(self.obstacles) if not obstacle.special]
        return shapely.STRtree([self.outlines[k] for k in walls]), self.radii[walls]

    def from_movers(self, points: FloatArray, times: FloatArray) -> FloatArray:
        """Return how far points (N, 2) are from the next mover at some times [s] (N,); infinity without any; (N,)."""
        out = np.full(len(times), np.inf)
        for mover, size in zip(self.movers, self.sizes, strict=True):
            out = np.minimum(out, np.hypot(*(mover.pose(times)[:, :2] - points).T) - size)
        return out

    def special(self, points: FloatArray, within: float) -> list[tuple[Obstacle, BoolArray]]:
        """Return the special obstacles that are nearer to some points (N, 2) than this [m], and to which; (N,) each."""
        low, high = points.min(axis=0) - within, points.max(axis=0) + within
        found = []
        for obstacle, outline, radius in zip(self.obstacles, self.outlines, self.radii.tolist(), strict=True):
            if not obstacle.special:
                continue
            x0, y0, x1, y1 = outline.bounds
            if x0 - radius > high[0] or y0 - radius > high[1] or x1 + radius < low[0] or y1 + radius < low[1]:
                continue
            reach = within + radius
            inside = (points >= (x0 - reach, y0 - reach)) & (points <= (x1 + reach, y1 + reach))
            near: BoolArray = inside[:, 0] & inside[:, 1]
            near[near] = np.asarray(shapely.distance(shapely.points(points[near]), outline)) < reach
            if near.any():
                found.append((obstacle, near))
        return found


def _least(places: FloatArray, outlines: npt.NDArray[np.object_], radii: FloatArray) -> float:
    """Return the least distance from any of some places (N, 2) to outlines with rounded edges [m]; infinity of none."""
    if not len(places):
        return math.inf
    away = np.asarray(shapely.distance(shapely.MultiPoint(places), outlines))
    return float((away - radii).min())


def _size(phase: MoverPhase) -> float:
    """Return how far the shape of a mover reaches from its place [m]."""
    outline = phase.shape.footprint()
    if outline.empty:
        return 0.0
    x0, y0, x1, y1 = outline.bounds
    return float(np.hypot(max(abs(x0), abs(x1)), max(abs(y0), abs(y1))))
