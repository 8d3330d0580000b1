"""Which part of a shape is in the way of somebody on foot: what lies between the shins and the top of the head.

Ground is not level, so heights are counted from the lowest and highest ground on which one can stand and still touch
the shape. That errs on the safe side.
"""

from __future__ import annotations

import math

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import WorldError
from gaitway.world.footprint import Footprint
from gaitway.world.grid import Bounds
from gaitway.world.shapes import Shape
from gaitway.world.terrain import Terrain

Band = tuple[float, float]
BODY_BAND: Band = (0.05, 2.0)
"""Heights over the ground [m] between which something is in the way of a walker."""
NOTHING = Footprint.of_rings([])


def check_band(band: Band) -> Band:
    """The band as two floats.

    Raises:
        WorldError: if it is not two rising numbers.
    """
    low, high = band
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise WorldError(f"body band {band} must be two heights over the ground in metres, the lower one first")
    return float(low), float(high)


def body_footprint(
    shape: Shape, terrain: Terrain | None, band: Band, radius: float, poses: FloatArray | None = None
) -> Footprint:
    """The footprint of what a body can run into.

    Args:
        shape: what stands there.
        terrain: the ground; None is level at height 0.
        band: heights over the ground [m] between which something is in the way.
        radius: of the body [m].
        poses: all poses (K, 3) between which the shape moves; None if it stays.
    """
    low, high = band
    if terrain is not None:
        whole = shape.footprint()
        if whole.empty:
            return whole
        x0, y0, x1, y1 = whole.bounds
        if poses is not None:
            reach = math.hypot(max(-x0, x1), max(-y0, y1))
            (x0, y0), (x1, y1) = poses[:, :2].min(axis=0) - reach, poses[:, :2].max(axis=0) + reach
        lowest, highest = ground_range(terrain, (x0 - radius, y0 - radius, x1 + radius, y1 + radius))
        low, high = lowest + low, highest + high
    return shape.footprint(low, high)


def ground_range(terrain: Terrain, bounds: Bounds) -> tuple[float, float]:
    """Lowest and highest corner of all terrain cells that meet a rectangle [m]; the ground in it lies between them."""
    x0, y0, x1, y1 = bounds
    rows, columns = terrain.heights.shape
    i = slice(*_corner_range(y0 - terrain.origin[1], y1 - terrain.origin[1], terrain.cell, rows))
    j = slice(*_corner_range(x0 - terrain.origin[0], x1 - terrain.origin[0], terrain.cell, columns))
    part = terrain.heights[i, j]
    return float(part.min()), float(part.max())


def _corner_range(low: float, high: float, cell: float, count: int) -> tuple[int, int]:
    """First and end corner along one axis; beyond the edge the ground is as high as the edge."""
    first = min(max(math.floor(low / cell), 0), count - 1)
    last = min(max(math.ceil(high / cell), 0), count - 1)
    return first, last + 1
