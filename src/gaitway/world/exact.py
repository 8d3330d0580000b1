"""Exact plane geometry of worlds by shapely: distances and free areas. Grids are not involved."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt
import shapely

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import WorldError
from gaitway.world.footprint import ROUND_SEGMENTS, Footprint, core_geometry, drawn_geometry, united
from gaitway.world.obstacle import PASSABLE, Obstacle
from gaitway.world.world import Snapshot, World


def in_the_way(
    place: World | Snapshot,
    kinds: Collection[str] | None = None,
    low: float = -np.inf,
    high: float = np.inf,
) -> list[Footprint]:
    """Return the footprints of the obstacles of given kinds.

    Args:
        place: a world, for the obstacles that never move; or a snapshot, for the movers too.
        kinds: kinds of obstacles; None takes all but `PASSABLE` ones.
        low: height above which parts of obstacles count [m].
        high: height below which parts of obstacles count [m].
    """
    found = (o.shape.footprint(low, high) for o in place.obstacles if _counts(o, kinds))
    return [footprint for footprint in found if not footprint.empty]


def distance(
    place: World | Snapshot,
    points: npt.ArrayLike,
    kinds: Collection[str] | None = None,
    low: float = -np.inf,
    high: float = np.inf,
) -> FloatArray:
    """Return the distance in plan [m] (...) from points (..., 2) to the nearest obstacle; arguments as in `in_the_way`.

    It is exact outside. Inside it is negative: how deep the point is in the deepest single obstacle, or a little less
    where a rounded outline closes over its own hollows. Infinity where there are no obstacles.
    """
    return footprint_distance(in_the_way(place, kinds, low, high), points)


def footprint_distance(footprints: Sequence[Footprint], points: npt.ArrayLike) -> FloatArray:
    """Return the distance [m] (...) from points (..., 2) to the nearest footprint; negative inside, as `distance`."""
    points = np.asarray(points, dtype=np.float64)
    flat = shapely.points(points.reshape(-1, 2))
    if not footprints or not len(flat):
        return np.full(points.shape[:-1], np.inf)
    cores = np.array([core_geometry(footprint) for footprint in footprints])
    radii = np.array([footprint.radius for footprint in footprints])
    tree = shapely.STRtree(cores)
    nearest = tree.nearest(flat)
    best = shapely.distance(flat, cores[nearest]) - radii[nearest]
    # A wide disc may be nearer than the one whose middle is nearest, but no middle beyond this reach can be that of it.
    reach = best + radii.max() + 1e-9
    which, obstacle = tree.query(flat, predicate="dwithin", distance=reach)
    away = shapely.distance(flat[which], cores[obstacle])
    inside = (away == 0.0) & (shapely.get_dimensions(cores)[obstacle] == 2)
    depth = shapely.distance(flat[which[inside]], shapely.boundary(cores[obstacle[inside]]))
    away[inside] = -np.nan_to_num(depth)  # areas together with lines have no boundary in GEOS
    np.minimum.at(best, which, away - radii[obstacle])
    return np.asarray(best).reshape(points.shape[:-1])


def free_area(
    place: World | Snapshot,
    radius: float,
    kinds: Collection[str] | None = None,
    low: float = -np.inf,
    high: float = np.inf,
) -> shapely.Geometry:
    """Return where the centre of a disc may be: within bounds and clear of obstacles; arguments as in `in_the_way`.

    Arcs are drawn outside the true ones (by up to 0.48 % of their radius), so that all of the area is truly free.
    """
    if not (np.isfinite(radius) and radius >= 0.0):
        raise WorldError(f"free area for a radius of {radius}; write 0 or more, in metres")
    world = place.world if isinstance(place, Snapshot) else place
    x0, y0, x1, y1 = world.bounds
    if 2.0 * radius >= min(x1 - x0, y1 - y0):
        return shapely.Polygon()
    room = shapely.box(x0 + radius, y0 + radius, x1 - radius, y1 - radius)
    outward = 1.0 / np.cos(0.25 * np.pi / ROUND_SEGMENTS)
    blocked = []
    for footprint in in_the_way(place, kinds, low, high):
        wide = footprint.grown(radius)
        blocked.append(drawn_geometry(wide.grown((outward - 1.0) * wide.radius)))
    return room.difference(united(blocked))


def _counts(obstacle: Obstacle, kinds: Collection[str] | None) -> bool:
    return obstacle.kind != PASSABLE if kinds is None else obstacle.kind in kinds
