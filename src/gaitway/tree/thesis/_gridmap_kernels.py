"""Compiled loops that build the gridmaps of a tree."""

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
    """Find the cells in which nodes end, and the cells of the sampled points inside their moves.

    Args:
        poses: end pose of each node: x, y [m], heading [rad]; (N, 3).
        parents: parent of each node; (N,).
        actions: move of each node, -1 for the root; (N,).
        middles: sampled points inside each move, in the frame of its start: x, y [m]; (M, K, 2).
        place: x, y of the lower left corner of the grid [m], and number of cells per metre; (3,).
        rows: number of rows of the grid.
        columns: number of columns of the grid.

    Returns:
        Cell in which each node ends (N,), and cells of the sampled points (N, K); -1 outside the grid.
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
    """List, for each cell, the nodes that end in a square around its centre.

    Args:
        points: end point of each node: x, y [m]; (N, 2).
        order: nodes in the order that every list shall have; (N,).
        rows: number of rows of the grid.
        columns: number of columns of the grid.
        left: x of the lower left corner of the grid [m].
        low: y of the lower left corner of the grid [m].
        cell: side of the cells [m].
        half: half the side of the squares around the centres of the cells [m].

    Returns:
        First entry of each cell, and their number at the end (rows * columns + 1,). Nodes of all cells, cell by cell;
        (entries,).
    """
    starts = np.zeros(rows * columns + 1, np.int64)
    nodes = np.zeros(0, np.int32)
    # The first pass counts the nodes of each cell, so that the second pass can write them into one array.
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
