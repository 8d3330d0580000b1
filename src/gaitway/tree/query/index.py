"""Index of a tree: nodes by the cell that they end in, for searches of the cells around a goal.

The goal map of the thesis lists every node in all cells whose square it is in, some five times each. Here a node is in
the one cell that it ends in, in 8 bytes: its cost, its number, and where in the cell it ends.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, read_only
from gaitway.core.errors import TreeError
from gaitway.space.prepared_actions import PreparedActions
from gaitway.tree.model import Tree
from gaitway.tree.moves import Moves
from gaitway.tree.query import _query_kernels as kernels
from gaitway.tree.query._query_kernels import TreeArrays, Work

IN_A_CELL = 150
"""Approximate number of nodes in a cell: few cells are searched for a goal, and few nodes that are not near it."""
_SIDES = (0.7, 3.0)
"""Least and largest cell size [m]."""
_MOST_BLOCKED = 1 << 14
"""Most blocked subtrees that a query remembers."""
_COSTS = 1 << 15
"""Number of steps of cost that entries tell apart."""


def tree_arrays(
    tree: Tree, searcher: PreparedActions, cell: float | None = None, onward: Collection[str] | None = None
) -> TreeArrays:
    """Prepare a tree for queries: its nodes that end in a state of rest, by cell.

    Args:
        tree: grown of moves of the searcher's library, with its costs.
        searcher: the library.
        cell: cell size [m]; None chooses it by the number of nodes per square metre.
        onward: names of states; if given, nodes that end in one of them are taken instead, from which the path goes on.

    Raises:
        TreeError: if the tree is of another library, counts costs in another way, or never comes to rest.
    """
    moves = tree.moves
    if moves.table is not searcher.table and moves.table.clips != searcher.table.clips:
        raise TreeError("tree of another library than the one that is planned with; grow it anew")
    if not np.allclose(moves.costs, searcher.costs[moves.actions]):
        raise TreeError("tree whose moves cost something else than the planner's; grow it for the same speed and time")
    rests = _rests(searcher, moves.actions) if onward is None else np.full(len(moves), -1)
    wanted = rests >= 0 if onward is None else np.isin(moves.table.end_state[moves.actions], _states(moves, onward))
    ends: BoolArray = np.concatenate([[False], wanted[tree.actions[1:]]])
    if not ends.any():
        what = "comes to rest" if onward is None else f"is in state {' or '.join(onward)}"
        raise TreeError(f"tree from '{moves.root}' never {what}; name behaviours that lead there, too")
    starts, entries, frame = _entries(tree, np.flatnonzero(ends), cell)
    turns = searcher.table.moves[moves.actions, 2]
    return TreeArrays(
        links=tree.links, ends=tree.ends, headings=tree.headings, actions=read_only(moves.actions),
        turns=read_only(np.column_stack([np.cos(turns), np.sin(turns)])), rests=read_only(rests),
        starts=starts, entries=entries, frame=frame,
    )  # fmt: skip


def work_for(trees: Sequence[TreeArrays]) -> Work:
    """Return memory for queries in some trees, one at a time."""
    nodes = max((len(tree.links) for tree in trees), default=1)
    return Work(
        known=np.zeros(kernels.KNOWN, np.int64),
        blocked=np.zeros((min(nodes, _MOST_BLOCKED), 2), np.int32),
        path=np.zeros(kernels.MOST_STEPS, np.int32),
        cursors=np.zeros((kernels.LISTS, 2), np.int64),
        corners=np.zeros((kernels.LISTS, 2)),
        state=np.zeros(8, np.int64),
        ends=np.zeros((2, 4)),
    )


def band_of(tree: TreeArrays, cost: float) -> int:
    """Return a width of cost in the steps of a tree's entries."""
    return max(int(cost / tree.frame[5]), 1)


def _states(moves: Moves, names: Collection[str]) -> list[int]:
    return [moves.table.state(name) for name in names]


def _rests(searcher: PreparedActions, actions: IntArray) -> IntArray:
    """Return the resting action after each of some actions, or -1."""
    arrays = searcher.arrays
    out: IntArray = arrays.states[arrays.behaviors[searcher.table.behavior[actions], 0], 1]
    return out


def _entries(tree: Tree, nodes: IntArray, cell: float | None) -> tuple[kernels.Small, IntArray, FloatArray]:
    """Return the first entry of each cell, the entries, and the frame of the cells."""
    if cell is None:
        area = len(tree.region) * tree.region.spec.cell**2
        cell = float(np.clip(math.sqrt(IN_A_CELL * area / len(nodes)), *_SIDES))
    points, costs = tree.points[nodes], tree.costs[nodes]
    low = np.floor(points.min(axis=0) / cell) * cell
    columns, rows = (math.floor(n) + 1 for n in (points.max(axis=0) - low) / cell)
    where = (points - low) / cell
    whole = np.floor(where).astype(np.int64)
    inner = np.minimum((where - whole) * kernels.PLACES, kernels.PLACES - 1).astype(np.int64)
    step = max(float(costs.max()), 1.0) / (_COSTS - 1)
    price = np.round(costs / step).astype(np.int64)
    entries = (price << kernels.COST_BITS) | (nodes << kernels.NODE_BITS)
    entries |= (inner[:, 0] << kernels.PLACE_BITS) | inner[:, 1]
    cells = whole[:, 1] * columns + whole[:, 0]
    order = np.lexsort((entries, cells))
    starts = np.searchsorted(cells[order], np.arange(rows * columns + 1)).astype(np.int32)
    starts.setflags(write=False)
    frame = np.array([*low, cell, columns, rows, step])
    return starts, read_only(entries[order]), read_only(frame)
