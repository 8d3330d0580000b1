"""Trees laid out for live characters: where their ways to rest end, by cell, with what they cost."""

from __future__ import annotations

import math

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.live import _aim_kernels as kernels
from gaitway.live._aim_kernels import EndArrays, Heap
from gaitway.tree.model import Tree
from gaitway.tree.query._query_kernels import TreeArrays

CELL = 1.0
"""Side of the cells [m]."""
TURNING = 0.2
"""What a turn costs [m/rad]: people do not weave, though it hardly makes their way longer."""
PASSING = 8.0
"""How much dearer than walking it may be to pass a special obstacle, for it to be done while there is room for it."""
SMALL, ALIKE = 0.7, 1
"""Ways count as alike that have the same two first moves and end in the same cell of this side [m]; so many of them are
kept, since only the first moves are sure to be played."""
MOST_ENDS = 16_384
"""That wait at a time."""


def end_arrays(tree: Tree, arrays: TreeArrays, *, thin: bool = True, turning: float = TURNING) -> EndArrays:
    """Where the ways of a tree end that come to rest.

    Args:
        tree: grown of moves of a library.
        arrays: the same for queries.
        thin: whether to take of those that begin alike and end near one another but the cheapest.
        turning: what a turn costs [m/rad].
    """
    table, rows, actions = tree.moves.table, tree.moves.actions, tree.actions
    turned, passed, begins = np.zeros(len(tree)), np.zeros(len(tree)), np.zeros(len(tree), np.int64)
    kernels.add_up(tree.links, read_only(np.abs(table.moves[rows, 2])), turned, begins)
    kernels.add_up(tree.links, read_only((table.kind[rows] >= 0).astype(np.float64)), passed, begins)
    nodes = np.flatnonzero((actions >= 0) & (arrays.rests[actions] >= 0))
    points, prices = tree.points[nodes], (tree.costs + turning * turned)[nodes]
    if thin:
        few = _few(points, begins[nodes], prices - PASSING * (passed[nodes] > 0.0))
        nodes, points, prices = nodes[few], points[few], prices[few]
    low = np.floor(points.min(axis=0) / CELL) * CELL
    columns, rows = (math.floor(n) + 1 for n in (points.max(axis=0) - low) / CELL)
    whole = np.floor((points - low) / CELL).astype(np.int64)
    cells = whole[:, 1] * columns + whole[:, 0]
    order = np.lexsort((nodes, cells))
    starts = np.searchsorted(cells[order], np.arange(rows * columns + 1)).astype(np.int32)
    small, ends = (
        nodes[order].astype(np.int32),
        np.column_stack([points, prices, PASSING * (passed[nodes] > 0.0)])[order].astype(np.float32),
    )
    for array in (starts, small, ends):
        array.setflags(write=False)
    return EndArrays(starts, small, ends, read_only(np.array([*low, CELL, columns, rows])))


def _few(points: FloatArray, begins: IntArray, prices: FloatArray) -> IntArray:
    """The `ALIKE` cheapest of those that end in one small cell and have the same two first moves."""
    column, row = np.floor(points / SMALL).astype(np.int64).T
    order = np.lexsort((prices, begins, row, column))
    keys = np.column_stack([column, row, begins])[order]
    new = np.concatenate([[True], (keys[1:] != keys[:-1]).any(axis=1)])
    rank = np.arange(len(order)) - np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
    out: IntArray = order[rank < ALIKE]
    return out


def heap_for_ends() -> Heap:
    """Memory for the ends that wait."""
    return Heap(np.zeros(MOST_ENDS), np.zeros(MOST_ENDS, np.int32), np.zeros(1, np.int64))
