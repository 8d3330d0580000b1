"""Growing of search trees: exhaustive, pruned, scalable and diverse (Lau 2009, section 4.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gaitway.core.arrays import read_only
from gaitway.core.errors import TreeError
from gaitway.core.progress import Progress, silent
from gaitway.tree.building import _growing_kernels as kernels
from gaitway.tree.building._growth_kernels import NODES, Growth
from gaitway.tree.building.coverage import covered, square_of
from gaitway.tree.building.growth import cost_bound, move_arrays, new_growth
from gaitway.tree.model import MOST_LEVELS, MOST_NODES, NODE_BYTES, Tree, compact
from gaitway.tree.moves import Moves
from gaitway.tree.region import Region

LEVELS = 50
"""Default number of levels, as in the thesis."""
STRETCH = 1.5
"""Largest cost of a path as a multiple of the cheapest one to the same cell."""
_PHASES = ((0.4, 0.2), (0.7, 0.6), (1.0, 1.0))
"""Shares of the nodes, and of the stretch beyond 1 that is allowed up to there: cheap paths come first, so that every
place has some, and then paths that differ from them."""
_CHUNK, _TRIES = 65_536, 20
"""Number of samples drawn at a time, and most samples for each node of the budget."""


@dataclass(frozen=True)
class Budget:
    """Size limit of a tree: a number of nodes, or the memory that they take."""

    nodes: int

    def __post_init__(self) -> None:
        if not 0 < self.nodes <= MOST_NODES:
            raise TreeError(f"budget of {self.nodes} nodes for a tree; it must be 1 to {MOST_NODES}")

    @staticmethod
    def memory(megabytes: float) -> Budget:
        """Return the budget of as many nodes as fit into some megabytes."""
        if not (math.isfinite(megabytes) and megabytes > 0.0):
            raise TreeError(f"budget of {megabytes} MB for a tree; it must be above 0")
        return Budget(int(megabytes * 1e6) // NODE_BYTES)


def exhaustive_tree(moves: Moves, levels: int, region: Region | None = None, budget: Budget | None = None) -> Tree:
    """Grow the tree of all sequences of up to a number of moves.

    Args:
        moves: the moves of the tree.
        levels: most moves in a sequence.
        region: region that it must not leave; None for all that it reaches.
        budget: size limit.

    Raises:
        TreeError: if there would be more nodes, or none but the root.
    """
    _check_levels(levels)
    most, everywhere = budget or Budget(MOST_NODES), region or square_of(moves, levels)
    if region is None:
        size = exhaustive_size(moves, levels)
        if size > most.nodes:
            raise TreeError(
                f"exhaustive tree of {levels} levels has {size} nodes, beyond {most.nodes}; ask for fewer levels"
            )
        most = Budget(size)
    tree = _by_level(moves, everywhere, Budget(min(most.nodes + 1, MOST_NODES)), levels, None, None)
    if len(tree) > most.nodes:
        raise TreeError(f"exhaustive tree of {levels} levels has more than {most.nodes} nodes; ask for fewer levels")
    return tree if region is not None else covered(tree, everywhere.spec.cell)


def exhaustive_size(moves: Moves, levels: int) -> int:
    """Return the number of nodes of the exhaustive tree, the root included."""
    _check_levels(levels)
    starts, count = moves.follower_starts, len(moves)
    here = [0] * count + [1]
    total = 1
    for _ in range(levels):
        there = [0] * (count + 1)
        for move, ways in enumerate(here):
            for follower in moves.followers[starts[move] : starts[move + 1]].tolist() if ways else ():
                there[follower] += ways
        here = there
        total += sum(here)
    return total


def pruned_tree(
    moves: Moves, region: Region, budget: Budget, per_cell: int = 100, levels: int = LEVELS, seed: int = 0
) -> Tree:
    """Grow level by level, children in random order, with at most `per_cell` nodes in a cell (section 4.2.2).

    Args:
        moves: the moves of the tree.
        region: region that it must not leave; its cells count nodes.
        budget: size at which it stops.
        per_cell: most nodes in a cell, the thesis's k.
        levels: most moves in a sequence.
        seed: seed of the order.

    Raises:
        TreeError: if the region has no room for a single move, or a number is not above 0.
    """
    if per_cell < 1:
        raise TreeError(f"pruned tree with {per_cell} nodes in a cell; allow 1 or more")
    return _by_level(moves, region, budget, levels, per_cell, np.random.default_rng(seed))


def diverse_tree(
    moves: Moves,
    region: Region,
    budget: Budget,
    *,
    levels: int = LEVELS,
    stretch: float | None = STRETCH,
    by_frequencies: bool = False,
    seed: int = 0,
    progress: Progress = silent,
) -> Tree:
    """Grow paths that spread evenly over a region (algorithm 2).

    Each new node follows the node nearest to a random point, by the move that increases the density least for each cell
    that it goes through. Nodes that can have no more children are no candidates, where the thesis draws again.

    With a stretch it goes beyond the thesis: cheap paths come first, and moves that come to rest follow each node at
    once, since plans end at rest.

    Args:
        moves: the moves of the tree.
        region: region that it must not leave.
        budget: size at which it stops, unless nothing can be added before.
        levels: most moves in a sequence.
        stretch: largest cost of a path as a multiple of the cheapest one to the same cell; None for the thesis's
            algorithm to the letter, which keeps all paths and wanders.
        by_frequencies: whether to compute densities from the number of cells with each count, as the thesis does.
        seed: seed of the points.
        progress: called now and then with the task, the number of nodes, and of how many.

    Raises:
        TreeError: if the region has no room for a single move, or a number cannot be.
    """
    _check_levels(levels)
    if stretch is not None and not (math.isfinite(stretch) and stretch >= 1.0):
        raise TreeError(f"stretch {stretch} of a tree must be 1 or more, or None")
    arrays, place, rng = move_arrays(moves, region), region.place, np.random.default_rng(seed)
    growth, bound = new_growth(region, budget.nodes, by_frequencies), cost_bound(moves, region, arrays, stretch)
    cells = np.zeros(len(arrays.points), np.int64)
    for share, part in _PHASES if stretch is not None else _PHASES[-1:]:
        nodes = round(share * budget.nodes)
        if stretch is not None:
            numbers = np.array([1.0 + part * (stretch - 1.0), *bound.stretch[1:]])
            bound = bound._replace(stretch=read_only(numbers))
            kernels.reopen(arrays, growth, levels)
        more, tries = True, 0
        while more and tries < max(_TRIES * budget.nodes, _CHUNK):
            samples = region.points(rng, _CHUNK)
            tries += _CHUNK
            more = kernels.grow_diverse(
                read_only(samples), nodes, levels, arrays, region.inside, place, len(region), bound,
                by_frequencies, stretch is not None, growth, cells,
            )  # fmt: skip
            progress("growing a tree", int(growth.numbers[NODES]), budget.nodes)
    return _finished(moves, region, growth, budget)


def _by_level(
    moves: Moves, region: Region, budget: Budget, levels: int, per_cell: int | None, rng: np.random.Generator | None
) -> Tree:
    _check_levels(levels)
    arrays, place = move_arrays(moves, region), region.place
    growth, occupants = new_growth(region, budget.nodes), np.zeros(region.inside.shape, np.int64)
    first = 0
    for _ in range(levels):
        last = int(growth.numbers[NODES])
        if first == last or last >= budget.nodes:
            break
        parents = np.arange(first, last)
        last_moves = growth.actions[first:last].astype(np.int64)
        if first == 0:
            last_moves[0] = len(moves)
        starts = np.concatenate([[0], np.cumsum(np.diff(moves.follower_starts)[last_moves])])
        order = np.arange(starts[-1]) if rng is None else rng.permutation(starts[-1])
        kernels.grow_level(
            read_only(parents), read_only(starts), read_only(order), budget.nodes, per_cell or MOST_NODES, arrays,
            region.inside, place, occupants, growth,
        )  # fmt: skip
        first = last
    return _finished(moves, region, growth, budget)


def _finished(moves: Moves, region: Region, growth: Growth, budget: Budget) -> Tree:
    count = int(growth.numbers[NODES])
    if count == 1 and budget.nodes > 1:
        raise TreeError("region has no room for a single move from the origin; make it larger")
    return compact(moves, region, growth.parents[:count], growth.actions[:count])


def _check_levels(levels: int) -> None:
    if not 0 < levels <= MOST_LEVELS:
        raise TreeError(f"tree of {levels} levels; it can have 1 to {MOST_LEVELS}")
