"""Footprints of things as discs: large ones inside, small ones along the rim."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.library import _disc_kernels
from gaitway.world.exact import footprint_distance
from gaitway.world.footprint import Footprint

FINEST = 0.02
"""Side of the smallest cells that footprints are drawn on [m]."""
_MOST_CELLS = 6000
"""Large footprints are drawn on larger cells, so that there are about this many."""
_MARGIN = 3.0
"""How far discs may leave the footprint [cells]."""
_HALF = float(np.sqrt(0.5))
_SHRINK = float(np.sqrt(2.0)) - 1.0


def cover_footprint(footprint: Footprint) -> FloatArray:
    """Discs (x, y, radius) [m] that cover a footprint, the largest first; (D, 3).

    A single rounded point is covered exactly. Discs leave other footprints by no more than four cells, whose side is
    2 cm or, for a box of 4.3 m by 1.8 m, 4 cm.
    """
    if footprint.empty:
        return np.empty((0, 3))
    if len(footprint.points) == 1:
        return np.array([[*footprint.points[0], footprint.radius]])
    x0, y0, x1, y1 = footprint.bounds
    cell = max(FINEST, float(np.sqrt((x1 - x0) * (y1 - y0) / _MOST_CELLS)), (x1 - x0 + y1 - y0) / _MOST_CELLS)
    room = (_MARGIN + 2.0) * cell
    x, y = np.arange(x0 - room, x1 + room + cell, cell), np.arange(y0 - room, y1 + room + cell, cell)
    distances = np.maximum(footprint_distance([footprint], np.stack(np.meshgrid(x, y), axis=-1)), 0.0) / cell
    inner = np.empty_like(distances)
    _disc_kernels.inner_distances(distances <= _MARGIN, inner)
    found = _disc_kernels.cover(inner, distances <= _HALF, 1, _SHRINK, _HALF)
    found = found[np.argsort(-found[:, 2], kind="stable")]
    return np.column_stack([x[0] + cell * found[:, 1], y[0] + cell * found[:, 0], cell * found[:, 2]])
