"""Compiled loops of the grids over a tree."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel

Cells = npt.NDArray[np.int32]


@kernel
def cells_of_nodes(
    poses: FloatArray, parents: IntArray, actions: IntArray, middles: FloatArray, place: FloatArray, rows: int,
    columns: int,
) -> tuple[Cells, Cells]:  # fmt: skip
    """Cells of nodes (N,), and of places in between (N, K); -1 outside.

    Args:
        poses: of nodes; (N, 3).
        parents: (N,).
        actions: (N,).
        middles: places in between of each move, seen from its start; (M, K, 2).
        place: lower left corner [m], and cells in a metre; (3,).
        rows: of the grid.
        columns: of the grid.
    """
    count, parts = len(parents), middles.shape[1]
    ends, between = np.full(count, -1, np.int32), np.full((count, parts), -1, np.int32)
    for node in range(count):
        ends[node] = _cell(poses[node, 0], poses[node, 1], place, rows, columns)
        parent, move = parents[node], actions[node]
        if move < 0:
            for k in range(parts):
                between[node, k] = ends[node]
            continue
        cosine, sine = math.cos(poses[parent, 2]), math.sin(poses[parent, 2])
        for k in range(parts):
            x, y = middles[move, k, 0], middles[move, k, 1]
            between[node, k] = _cell(
                poses[parent, 0] + cosine * x - sine * y, poses[parent, 1] + sine * x + cosine * y, place, rows, columns
            )
    return ends, between


@kernel(inner=True)
def _cell(x: float, y: float, place: FloatArray, rows: int, columns: int) -> int:
    row, column = math.floor((y - place[1]) * place[2]), math.floor((x - place[0]) * place[2])
    return row * columns + column if 0 <= row < rows and 0 <= column < columns else -1


@kernel
def goal_lists(
    points: FloatArray, order: Cells, rows: int, columns: int, left: float, low: float, cell: float, half: float
) -> tuple[IntArray, Cells]:
    """First entry of each cell (rows * columns + 1,), and the nodes of all cells in a given order.

    Args:
        points: where nodes end [m]; (N, 2).
        order: nodes, in the order in which lists are to have them; (N,).
        rows: of the grid.
        columns: of the grid.
        left: x of the lower left corner [m].
        low: y of it [m].
        cell: side [m].
        half: of the squares around the middles of cells that are listed [m].
    """
    starts = np.zeros(rows * columns + 1, np.int64)
    nodes = np.zeros(0, np.int32)
    # a first round counts, a second one writes
    for writes in range(2):
        for k in range(len(order)):
            node = order[k]
            x, y = (points[node, 0] - left) / cell - 0.5, (points[node, 1] - low) / cell - 0.5
            reach = half / cell
            for row in range(max(math.ceil(y - reach), 0), min(math.floor(y + reach), rows - 1) + 1):
                for column in range(max(math.ceil(x - reach), 0), min(math.floor(x + reach), columns - 1) + 1):
                    at = row * columns + column
                    if writes == 0:
                        starts[at + 1] += 1
                    else:
                        nodes[starts[at]] = node
                        starts[at] += 1
        if writes == 0:
            for at in range(rows * columns):
                starts[at + 1] += starts[at]
            nodes = np.zeros(starts[rows * columns], np.int32)
    for at in range(rows * columns, 0, -1):
        starts[at] = starts[at - 1]
    starts[0] = 0
    return starts, nodes
