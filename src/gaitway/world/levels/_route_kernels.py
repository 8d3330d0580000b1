"""Compiled loops of routes over open spans: a shortest path over the grid, drawn tight."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gaitway.core._heap_kernels import pop, push
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.world.levels._sheet_kernels import corner

Marks = npt.NDArray[np.uint8]


@kernel(inner=True, borrows=True)
def sight(links: IntArray, wide: Marks, width: int, cells: IntArray, start: int, goal: int) -> bool:
    """Return whether a straight line leads from the middle of a span to that of another over linked wide spans.

    Args:
        links: open spans beside each; (N, 4).
        wide: 1 for spans on which a character may be; (N,).
        width: number of cells in a row.
        cells: cell of each span; (N,).
        start: span at which the line begins.
        goal: span at which it must end.
    """
    row, column = cells[start] // width, cells[start] % width
    rows, columns = cells[goal] // width - row, cells[goal] % width - column
    aside, along = abs(rows), abs(columns)
    upward, onward = (1 if rows > 0 else 3), (0 if columns > 0 else 2)
    here, i, j = start, 0, 0
    while i < aside or j < along:
        # which side of the cell the line leaves by: compare (2 i + 1) / rows with (2 j + 1) / columns
        next_row, next_column = (2 * i + 1) * along, (2 * j + 1) * aside
        if next_row == next_column:  # through a corner: both ways around it must be open
            one, other = links[here, upward], links[here, onward]
            if one < 0 or other < 0 or wide[one] == 0 or wide[other] == 0:
                return False
            there = links[one, onward]
            if there < 0 or links[other, upward] != there:
                return False
            here = there
            i += 1
            j += 1
        elif next_row < next_column:
            here = links[here, upward]
            i += 1
        else:
            here = links[here, onward]
            j += 1
        if here < 0 or wide[here] == 0:
            return False
    return here == goal


@kernel
def find_route(
    start: int,
    goal: int,
    links: IntArray,
    wide: Marks,
    heights: FloatArray,
    cells: IntArray,
    width: int,
    cell: float,
    costs: FloatArray,
    parents: IntArray,
    touched: IntArray,
) -> int:
    """Search a route in lines of any angle (lazy Theta*, Nash, Koenig and Tovey 2010).

    Args:
        start: span to begin at.
        goal: span to reach.
        links: open spans beside each; (N, 4).
        wide: 1 for spans on which a character may be; (N,).
        heights: height of each; (N,) [m].
        cells: cell of each span; (N,).
        width: number of cells in a row.
        cell: side of a cell [m].
        costs: memory: infinity everywhere, left so; (N,) [m].
        parents: receives the span before each along the route; (N,).
        touched: memory for the spans whose costs were set; (N,).

    Returns:
        Number of spans that were expanded; negative if the goal was not reached.
    """
    keys, nodes = np.empty(1024), np.empty(1024, np.int64)
    done = np.zeros(len(wide), np.uint8)
    costs[start], parents[start] = 0.0, start
    touched[0], count = start, 1
    size, expanded, reached = 1, 0, False
    keys[0], nodes[0] = 0.0, start
    while size > 0:
        size -= 1
        span = pop(keys, nodes, size)
        if done[span]:
            continue
        done[span] = 1
        expanded += 1
        parent = parents[span]
        if parent != span and not sight(links, wide, width, cells, parent, span):
            # the line was taken on trust: go by the best neighbour that is done instead
            costs[span] = math.inf
            for k in range(8):
                other = links[span, k] if k < 4 else corner(links, span, k - 4)
                if other >= 0 and wide[other] and done[other]:
                    there = costs[other] + length(heights, cells, width, cell, other, span)
                    if there < costs[span]:
                        costs[span], parents[span] = there, other
            parent = parents[span]
        if span == goal:
            reached = True
            break
        for k in range(8):
            other = links[span, k] if k < 4 else corner(links, span, k - 4)
            if other < 0 or wide[other] == 0 or done[other]:
                continue
            if k >= 4 and (wide[links[span, k - 4]] == 0 or wide[links[span, (k - 3) & 3]] == 0):
                continue
            there = costs[parent] + length(heights, cells, width, cell, parent, other)
            if there < costs[other]:
                if costs[other] == math.inf:
                    touched[count] = other
                    count += 1
                costs[other], parents[other] = there, parent
                if size == len(keys):
                    keys, nodes = np.concatenate((keys, keys)), np.concatenate((nodes, nodes))
                push(keys, nodes, size, there + length(heights, cells, width, cell, other, goal), other)
                size += 1
    for k in range(count):
        costs[touched[k]] = math.inf
    return expanded if reached else -expanded


@kernel(inner=True, borrows=True)
def length(heights: FloatArray, cells: IntArray, width: int, cell: float, one: int, other: int) -> float:
    """Return the straight distance between the middles of two spans, heights included [m]."""
    x = (cells[one] % width - cells[other] % width) * cell
    y = (cells[one] // width - cells[other] // width) * cell
    z = heights[one] - heights[other]
    return math.sqrt(x * x + y * y + z * z)
