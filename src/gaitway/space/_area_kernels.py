"""Areas of the ground as kernels see them: what an action costs there, and how slowly it is played."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray
from gaitway.core.jit import kernel

DEAR, WAY_X, WAY_Y, LIMIT = range(4)
"""Columns of a cell: factor on costs (1 or more); the way that people should walk, as long as the share by which a
metre right against it is dearer; and the greatest speed [m/s]."""
AREA_COLUMNS = 4
_POINTS = (0.125, 0.375, 0.625, 0.875)
"""Where on an action the cells are looked up, as shares of its way."""
_STILL = 0.05
"""Distance below which an action leads nowhere [m]."""
_TOO_FAST = 30.0
"""Share by which an action is dearer that is twice as fast as it may be."""
_AT_MOST = 0.95
"""Share of a limit that people walk at, since steps that are drawn straight later may become a little longer."""
_LATER = 0.4
"""Cost of a second that is lost by walking slower [m/s], as in the search."""


class AreaArrays(NamedTuple):
    """Areas over a grid; read-only. Without areas there are no cells."""

    cells: npt.NDArray[np.float32]
    """(rows, columns, `AREA_COLUMNS`)."""
    place: FloatArray
    """x and y of the lower left corner [m], and cells in a metre; (3,)."""


@kernel(borrows=True, inner=True)
def dearness(areas: AreaArrays, x: float, y: float) -> float:
    """Return the factor on the cost of standing at a point."""
    place, cells = areas.place, areas.cells
    row, column = math.floor((y - place[1]) * place[2]), math.floor((x - place[0]) * place[2])
    if not (0 <= row < cells.shape[0] and 0 <= column < cells.shape[1]):
        return 1.0
    return float(cells[row, column, DEAR])


@kernel(borrows=True, inner=True)
def area_terms(
    areas: AreaArrays, x: float, y: float, x1: float, y1: float, duration: float, most: float
) -> tuple[float, float]:
    """Return the factor on the cost of an action, and how many times as long as usual it takes.

    Args:
        areas: the areas.
        x: x of its begin [m].
        y: y of its begin [m].
        x1: x of its end [m].
        y1: y of its end [m].
        duration: its usual duration [s].
        most: how many times as long it may take.
    """
    place, cells = areas.place, areas.cells
    along, aside = x1 - x, y1 - y
    way = math.sqrt(along * along + aside * aside)
    c, s = (along / way, aside / way) if way > _STILL else (0.0, 0.0)
    factor, limit = 0.0, np.inf
    for share in _POINTS:
        row = math.floor((y + share * aside - place[1]) * place[2])
        column = math.floor((x + share * along - place[0]) * place[2])
        if not (0 <= row < cells.shape[0] and 0 <= column < cells.shape[1]):
            factor += 1.0
            continue
        against = -(c * cells[row, column, WAY_X] + s * cells[row, column, WAY_Y])
        factor += float(cells[row, column, DEAR]) * (1.0 + max(float(against), 0.0))
        limit = min(limit, float(cells[row, column, LIMIT]))
    factor /= len(_POINTS)
    asked = max(way / duration / (_AT_MOST * limit), 1.0)
    stretch = min(asked, most)
    return factor * (1.0 + _TOO_FAST * (asked / stretch - 1.0)), stretch


@kernel(borrows=True, inner=True)
def area_price(cost: float, duration: float, factor: float, stretch: float) -> float:
    """Return the cost of an action in areas: dearer, and later by as much as it is slower."""
    return cost * factor + _LATER * (stretch - 1.0) * duration
