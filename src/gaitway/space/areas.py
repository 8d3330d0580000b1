"""Areas of a world over a grid, for searches and routes.

All rules become one table. A factor says how dear a metre is. A vector says which way people should walk: right against
it, a metre is dearer by as much as the vector is long. A one-way area has a long vector everywhere. Where people keep
right, the vector goes along the nearest edge, which is then on their right; so the left half of a corridor is dearer
for everybody, in both directions. The least factor of a world counts as 1, and all others are multiples of it:
estimates of costs stay below the least cost also where people like to walk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely

from gaitway.core.arrays import FloatArray, read_only
from gaitway.space._area_kernels import AREA_COLUMNS, DEAR, LIMIT, WAY_X, WAY_Y, AreaArrays
from gaitway.world.areas import Area
from gaitway.world.grid import Bounds, GridSpec

AGAINST = 15.0
"""Share by which a metre right against a one-way area is dearer: who has no other way of any length that counts goes
against it, since a place that nobody could leave would be worse."""
WRONG_SIDE = 0.8
"""Share by which a metre on the wrong side is dearer, where people keep right or left."""
_CELL, _MOST_CELLS = 0.1, 2_000_000
"""Side of a cell in places that are not too large for it [m], and most cells."""
_CREST, _CREST_STEPS = 0.6, (0.15, 0.3, 0.45, 0.6)
"""Distance from the middle between two edges within which a side costs something for everybody who keeps to one, so
that people do not all walk in the middle; and how far inwards it is looked for [m]."""


@dataclass(frozen=True, eq=False)
class AreaGrid:
    """Areas over a grid."""

    arrays: AreaArrays
    least: float
    """The least factor of the areas, or 1: what a cost of the arrays is multiplied by for the cost in metres."""

    def __bool__(self) -> bool:
        return self.arrays.cells.size > 0


def area_grid(areas: Sequence[Area], bounds: Bounds, walls: Sequence[shapely.Geometry] = ()) -> AreaGrid:
    """Return the areas of a world over a grid; later areas count beside earlier ones where they overlap.

    Factors and vectors of areas that overlap are multiplied and added, and the lowest limit holds.

    Args:
        areas: the areas.
        bounds: xmin, ymin, xmax, ymax [m].
        walls: what lies in corridors where people keep to a side.
    """
    ruling = [a for a in areas if a.cost != 1.0 or a.one_way is not None or a.speed_limit is not None or a.keep]
    if not ruling:
        return NO_AREAS
    x0, y0, x1, y1 = bounds
    cell = max(_CELL, float(np.sqrt((x1 - x0) * (y1 - y0) / _MOST_CELLS)))
    spec = GridSpec.covering(bounds, cell)
    cells = np.zeros((*spec.shape, AREA_COLUMNS))
    cells[..., DEAR], cells[..., LIMIT] = 1.0, np.inf
    (x, y), (rows, columns) = spec.origin, spec.shape
    middles = np.stack(np.meshgrid(x + cell * (np.arange(columns) + 0.5), y + cell * (np.arange(rows) + 0.5)), axis=-1)
    for area in ruling:
        inside = area.contains(middles)
        cells[inside, DEAR] *= area.cost
        if area.speed_limit is not None:
            cells[inside, LIMIT] = np.minimum(cells[inside, LIMIT], area.speed_limit)
        if area.one_way is not None:
            cells[inside, WAY_X] += AGAINST * np.cos(area.one_way)
            cells[inside, WAY_Y] += AGAINST * np.sin(area.one_way)
        if area.keep:
            ways, inner = _along_edges(area, middles[inside], walls)
            cells[inside, WAY_X : WAY_Y + 1] += WRONG_SIDE * area.keep * ways
            cells[inside, DEAR] *= 1.0 + 0.5 * WRONG_SIDE * inner
    least = float(cells[..., DEAR].min())
    cells[..., DEAR] /= least
    arrays = AreaArrays(
        read_only(np.ascontiguousarray(cells, dtype=np.float32)), read_only(np.array([x, y, 1.0 / cell]))
    )
    return AreaGrid(arrays, least)


def _along_edges(area: Area, points: FloatArray, walls: Sequence[shapely.Geometry]) -> tuple[FloatArray, FloatArray]:
    """Return the ways along the nearest edges of an area, or walls in it, on the right; and where the middle is.

    Args:
        area: the area.
        points: points in it [m]; (N, 2).
        walls: walls.

    Returns:
        Ways of length 1, or 0 right in the middle between two edges (N, 2); and 1 there, 0 at `_CREST` from it (N,).
    """
    free = area.polygon
    for wall in walls:
        if wall.intersects(free):
            free = free.difference(wall)
    edges = free.boundary
    lines = shapely.get_coordinates(shapely.shortest_line(shapely.points(points), edges)).reshape(-1, 2, 2)
    out = lines[:, 1] - points
    away = np.hypot(out[:, 0], out[:, 1])
    out /= np.maximum(away, 1e-9)[:, None]
    room = np.zeros(len(points))  # how far the point is from the middle: inwards, the edge must still be the nearest
    for step in _CREST_STEPS:
        inward = shapely.distance(edges, shapely.points(points - step * out))
        room = np.where(inward > away + 0.5 * step, step, room)
    ways = np.where(room[:, None] > 0.0, np.column_stack([-out[:, 1], out[:, 0]]), 0.0)
    return ways, 1.0 - np.minimum(room / _CREST, 1.0)


def path_price(areas: AreaGrid, path: FloatArray) -> float:
    """Return what a path costs on the ground it leads over, in metres of the cheapest ground; `path` is (F, 2 or 3)."""
    steps, here = np.diff(path[:, :2], axis=0), _along(areas, path)
    against = -np.einsum("fk,fk->f", steps, here[:, WAY_X : WAY_Y + 1])  # times the length of each step
    return float((here[:, DEAR] * (np.hypot(steps[:, 0], steps[:, 1]) + np.maximum(against, 0.0))).sum())


def limited_length(areas: AreaGrid, path: FloatArray) -> float:
    """Return how much of a path (F, 2 or 3) leads over ground with a speed limit [m]."""
    steps = np.diff(path[:, :2], axis=0)
    return float(np.hypot(steps[:, 0], steps[:, 1])[np.isfinite(_along(areas, path)[:, LIMIT])].sum())


def _along(areas: AreaGrid, path: FloatArray) -> FloatArray:
    """Return the cells under the pieces of a path; (F - 1, `AREA_COLUMNS`)."""
    cells, (x, y, rate) = areas.arrays.cells, areas.arrays.place.tolist()
    middles = 0.5 * (path[:-1, :2] + path[1:, :2])
    row, column = (np.floor((middles[:, k] - start) * rate).astype(int) for k, start in ((1, y), (0, x)))
    here = cells[np.clip(row, 0, cells.shape[0] - 1), np.clip(column, 0, cells.shape[1] - 1)]
    return np.asarray(here, dtype=np.float64)


NO_AREAS = AreaGrid(
    AreaArrays(read_only(np.zeros((0, 0, AREA_COLUMNS), dtype=np.float32)), read_only(np.array([0.0, 0.0, 1.0]))),
    1.0,
)
"""The grid of a world without areas."""
