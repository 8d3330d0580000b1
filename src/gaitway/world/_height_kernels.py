"""Compiled loop of the height grid."""

from __future__ import annotations

import math

from gaitway.core.arrays import FloatArray
from gaitway.core.jit import kernel


@kernel
def ground_of_cells(
    heights: FloatArray,
    first_x: float,
    first_y: float,
    step: float,
    lowest: FloatArray,
    highest: FloatArray,
    slope: FloatArray,
) -> None:
    """Compute the lowest and highest ground and the greatest slope in each cell of a grid.

    On one patch of terrain the height is bilinear and its gradient's square is convex, so that within a rectangle all
    three are greatest, or least, at a corner.

    Args:
        heights: terrain corners [m]; (H, W).
        first_x: left side of the grid, in terrain cells from corner 0, 0.
        first_y: lower side of the grid, in terrain cells from corner 0, 0.
        step: side of a grid cell in terrain cells.
        lowest: receives the lowest heights [m]; (rows, columns).
        highest: receives the highest heights [m]; (rows, columns).
        slope: receives the greatest slopes: rise in metres over a run of one terrain cell; (rows, columns).
    """
    rows, columns = lowest.shape
    last_i, last_j = heights.shape[0] - 2, heights.shape[1] - 2
    for row in range(rows):
        y0, y1 = first_y + row * step, first_y + (row + 1) * step
        i0, i1 = _patches(y0, y1, last_i)
        for column in range(columns):
            x0, x1 = first_x + column * step, first_x + (column + 1) * step
            j0, j1 = _patches(x0, x1, last_j)
            low, high, steepest = math.inf, -math.inf, 0.0
            for i in range(i0, i1 + 1):
                v0, v1 = min(max(y0 - i, 0.0), 1.0), min(max(y1 - i, 0.0), 1.0)
                for j in range(j0, j1 + 1):
                    u0, u1 = min(max(x0 - j, 0.0), 1.0), min(max(x1 - j, 0.0), 1.0)
                    base = heights[i, j]
                    along, across = heights[i, j + 1] - base, heights[i + 1, j] - base
                    twist = heights[i + 1, j + 1] - base - along - across
                    on_patch_x, on_patch_y = u1 > u0, v1 > v0
                    for corner in range(4):
                        u, v = (u0, u1)[corner & 1], (v0, v1)[corner >> 1]
                        height = base + u * along + v * across + u * v * twist
                        low, high = min(low, height), max(high, height)
                        rise_x = along + v * twist if on_patch_x else 0.0
                        rise_y = across + u * twist if on_patch_y else 0.0
                        steepest = max(steepest, rise_x * rise_x + rise_y * rise_y)
            lowest[row, column], highest[row, column], slope[row, column] = low, high, math.sqrt(steepest)


@kernel(inner=True)
def _patches(low: float, high: float, last: int) -> tuple[int, int]:
    """Return the first and last patch that an interval meets; beyond the edge it is the patch at the edge."""
    first = min(max(math.floor(low), 0), last)
    return first, max(min(math.ceil(high) - 1, last), first)
