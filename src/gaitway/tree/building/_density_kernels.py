"""Compiled loops of the density of a tree (Lau 2009, formula 4.1): how evenly it covers its region."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.tree.building._growth_kernels import TOTAL, Growth, MoveArrays, trace


@kernel(borrows=True)
def change_in_closed_form(cells: IntArray, count: int, growth: Growth, region: int) -> float:
    """Return the change of the density if some cells are counted once more: the sum of squares less that of the mean.

    Args:
        cells: the cells; (count,) or more.
        count: number of cells.
        growth: counts and numbers of the tree.
        region: number of cells of the region.
    """
    more = 0
    for k in range(count):
        more += 2 * growth.counts[cells[k]] + 1
    return float(more - count * (2.0 * growth.numbers[TOTAL] + count) / region)


@kernel(borrows=True, inner=True)
def density_of(frequencies: IntArray, total: int, region: int) -> float:
    """Compute formula 4.1 from the number of cells that have each count."""
    mean, out = total / region, 0.0
    left = region
    for value in range(len(frequencies)):
        if left == 0:
            break
        out += frequencies[value] * (mean - value) * (mean - value)
        left -= frequencies[value]
    return out


@kernel(borrows=True, inner=True)
def shift(cells: IntArray, count: int, growth: Growth, by: int) -> None:
    """Move cells to the next count (by = 1), or back (by = -1), in the frequencies alone."""
    for k in range(count):
        value = growth.counts[cells[k]]
        growth.frequencies[value] -= by
        growth.frequencies[value + 1] += by


@kernel(borrows=True)
def change_by_frequencies(cells: IntArray, count: int, growth: Growth, region: int) -> float:
    """Return the same as `change_in_closed_form`, computed as the thesis does it."""
    before = density_of(growth.frequencies, growth.numbers[TOTAL], region)
    shift(cells, count, growth, 1)
    after = density_of(growth.frequencies, growth.numbers[TOTAL] + count, region)
    shift(cells, count, growth, -1)
    return after - before


@kernel(borrows=True)
def count_cells(cells: IntArray, count: int, growth: Growth, by_frequencies: bool) -> None:
    """Count some cells once more."""
    if by_frequencies:
        shift(cells, count, growth, 1)
    for k in range(count):
        growth.counts[cells[k]] += 1
    growth.numbers[TOTAL] += count


@kernel
def coverage(
    poses: FloatArray, parents: IntArray, actions: IntArray, arrays: MoveArrays, inside: BoolArray, place: FloatArray,
    growth: Growth,
) -> int:  # fmt: skip
    """Count the moves of a tree through each cell; return the number of moves that leave the region.

    Args:
        poses: poses of the nodes; (N, 4).
        parents: parent of each node; (N,).
        actions: move of each node; (N,).
        arrays: the moves.
        inside: the region; (R, C).
        place: lower left corner of the region's cells: x, y [m], and cells per metre; (3,).
        growth: empty memory of a growing tree; its counts are written.
    """
    cells, outside = np.zeros(len(arrays.points), np.int64), 0
    for node in range(1, len(parents)):
        count = trace(poses, parents[node], actions[node], arrays, inside, place, growth, cells)
        if count < 0:
            outside += 1
        else:
            count_cells(cells, count, growth, False)
    return outside
