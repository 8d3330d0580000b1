"""Trees for live characters: the cheapest paths to a place of rest some metres ahead, and where they end.

A scalable and diverse tree spreads its paths evenly over a region and keeps few paths that go straight on. Live
characters plan a few metres ahead, again and again. They need the paths that people take, straight on and around
others, and hardly ever one that weaves.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from functools import partial

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.library.actions import ActionTable
from gaitway.live.planning import _aim_kernels as kernels
from gaitway.live.planning._aim_kernels import EndArrays, Heap
from gaitway.live.planning._cheapest_kernels import cheapest
from gaitway.scene.plan_options import TIME_WEIGHT
from gaitway.tree.building.default_moves import usual_behaviors, usual_region, usual_roots
from gaitway.tree.building.growing import Budget
from gaitway.tree.building.tree_cache import kept
from gaitway.tree.forest import Forest
from gaitway.tree.model import MOST_NODES, Tree, compact
from gaitway.tree.moves import Moves, choose_moves
from gaitway.tree.query._query_kernels import TreeArrays
from gaitway.tree.region import Region

NODES = 150_000
"""Number of nodes of each tree unless told otherwise; they take 2.4 MB."""
STEPS = 2
"""Largest number of turns and steps on the spot before a character sets off."""
CELL = 1.0
"""Cell size of the ends of paths [m]."""
TURNING = 0.2
"""Cost of a turn [m/rad]: people do not weave, though weaving hardly makes their path longer."""
PASSING = 8.0
"""Largest cost of passing a special obstacle beyond that of walking [m]."""
SMALL, ALIKE = 0.7, 1
"""Side of a cell [m], and number of similar paths that are kept. Paths are similar if they have the same two first
moves and end in the same cell. Few are kept, since only the first moves are certain to be played."""
MOST_ENDS = 16_384
"""Largest number of ends of paths that wait at a time."""


def cheapest_tree(moves: Moves, region: Region, budget: Budget, turning: float = TURNING) -> Tree:
    """Build the tree of the cheapest paths, as many as the budget allows, each with a stop after it.

    Args:
        moves: moves of the tree.
        region: region that the tree is said to be in; paths are not tested against it.
        budget: size of the tree.
        turning: additional cost of a turn [m/rad].
    """
    table, rows = moves.table, moves.actions
    prices = moves.costs + turning * np.abs(table.moves[rows, 2])
    parents, actions = cheapest(
        read_only(prices), moves.follower_starts, moves.followers, read_only(table.rest[table.end_state[rows]]),
        bool(table.rest[table.state(moves.root)]), STEPS, min(budget.nodes, MOST_NODES),
    )  # fmt: skip
    return compact(moves, region, parents, actions)


def live_forest(
    table: ActionTable, kinds: Collection[str] = (), budget: Budget | None = None, time_weight: float = TIME_WEIGHT,
    without: Collection[str] = (),
) -> Forest:  # fmt: skip
    """Return trees of the cheapest paths from all states that characters plan in, from disk if they were built before.

    Args:
        table: actions of a library, with the weights that plans are made with.
        kinds: kinds of special obstacles that shall be passed, such as "jump".
        budget: size of each tree; `NODES` unless given.
        time_weight: cost of a second [m/s], as in plans.
        without: behaviours that are left out, so that trees have more paths of others.

    Raises:
        TreeError: if no behaviour passes such obstacles, or the library has no moves.
    """
    roots, region, most = usual_roots(table, time_weight), usual_region(table, time_weight), budget or Budget(NODES)
    names = [name for name in usual_behaviors(table, roots, kinds, time_weight) if name not in without]
    trees = {}
    for root in roots:
        moves = choose_moves(table, root, names, time_weight)
        grow = partial(cheapest_tree, moves, region, most)
        trees[root] = kept(moves, region, ("cheapest", most.nodes, TURNING, STEPS), grow)
    return Forest(trees)


def end_arrays(tree: Tree, arrays: TreeArrays, *, thin: bool = True, turning: float = TURNING) -> EndArrays:
    """Return the ends of the paths of a tree that come to rest.

    Args:
        tree: tree of moves of a library.
        arrays: arrays of the same tree, for queries.
        thin: whether to keep only the cheapest of paths that begin alike and end near one another.
        turning: cost of a turn [m/rad].
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
    """Return the `ALIKE` cheapest paths of those that end in one small cell and have the same two first moves."""
    column, row = np.floor(points / SMALL).astype(np.int64).T
    order = np.lexsort((prices, begins, row, column))
    keys = np.column_stack([column, row, begins])[order]
    new = np.concatenate([[True], (keys[1:] != keys[:-1]).any(axis=1)])
    rank = np.arange(len(order)) - np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
    out: IntArray = order[rank < ALIKE]
    return out


def heap_for_ends() -> Heap:
    """Return memory for the ends of paths that wait."""
    return Heap(np.zeros(MOST_ENDS), np.zeros(MOST_ENDS, np.int32), np.zeros(1, np.int64))
