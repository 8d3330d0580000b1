"""Trees for live characters: all the cheapest ways to a place of rest some metres ahead.

A scalable and diverse tree spreads its ways evenly over a region and keeps few of them that go straight on. Live
characters plan a few metres ahead, again and again: they need the ways that people take, straight on and around
somebody, and hardly ever one that weaves.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

import numpy as np

from gaitway.core.arrays import read_only
from gaitway.library.actions import ActionTable
from gaitway.live._cheapest_kernels import cheapest
from gaitway.live.index import TURNING
from gaitway.scene.plan_options import TIME_WEIGHT
from gaitway.tree.building.default_moves import usual_behaviors, usual_region, usual_roots
from gaitway.tree.building.growing import Budget
from gaitway.tree.building.tree_cache import kept
from gaitway.tree.forest import Forest
from gaitway.tree.model import MOST_NODES, Tree, compact
from gaitway.tree.moves import Moves, choose_moves
from gaitway.tree.region import Region

NODES = 150_000
"""Of each tree unless told otherwise: 2.4 MB."""
STEPS = 2
"""Turns and steps on the spot before one sets off."""


def cheapest_tree(moves: Moves, region: Region, budget: Budget, turning: float = TURNING) -> Tree:
    """All ways that cost less than others, as many as there is room for, each with a stop after it.

    Args:
        moves: what it is made of.
        region: that it is said to be in; ways are not tested against it.
        budget: it stops there.
        turning: what a turn costs besides [m/rad].
    """
    table, rows = moves.table, moves.actions
    prices = moves.costs + turning * np.abs(table.moves[rows, 2])
    parents, actions = cheapest(
        read_only(prices), moves.follower_starts, moves.followers, read_only(table.rest[table.end_state[rows]]),
        bool(table.rest[table.state(moves.root)]), STEPS, min(budget.nodes, MOST_NODES),
    )  # fmt: skip
    return compact(moves, region, parents, actions)


def live_forest(
    table: ActionTable, kinds: Collection[str] = (), budget: Budget | None = None, time_weight: float = TIME_WEIGHT
) -> Forest:
    """Trees of the cheapest ways from all states that characters plan in, from disk if they were grown before.

    Args:
        table: actions of a library, with the weights that plans are made with.
        kinds: of special obstacles that are to be passed, such as "jump".
        budget: of each tree; `NODES` unless given.
        time_weight: cost of a second [m/s], as in plans.

    Raises:
        TreeError: if no behaviour passes such obstacles, or nothing can be done.
    """
    roots, region, most = usual_roots(table, time_weight), usual_region(table, time_weight), budget or Budget(NODES)
    names = usual_behaviors(table, roots, kinds, time_weight)
    trees = {}
    for root in roots:
        moves = choose_moves(table, root, names, time_weight)
        grow = partial(cheapest_tree, moves, region, most)
        trees[root] = kept(moves, region, ("cheapest", most.nodes, TURNING, STEPS), grow)
    return Forest(trees)
