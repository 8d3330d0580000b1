"""Trees of motion, grown once for any place and goal: exhaustive, pruned, scalable and diverse (Lau 2009, 4.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy

from gaitway.arrays import FloatArray, IntArray, read_only
from gaitway.errors import TreeError
from gaitway.tree import _growing_kernels as kernels
from gaitway.tree._growing_kernels import Bound, Growth, MoveArrays
from gaitway.tree._least_kernels import least_costs
from gaitway.tree.model import MOST_LEVELS, MOST_NODES, NODE_BYTES, Tree, compact
from gaitway.tree.moves import Moves
from gaitway.tree.region import CELL, Region

LEVELS = 50
"""Most moves one after another unless told otherwise, as in the thesis."""
STRETCH = 1.5
"""How many times the cheapest way a way may cost; chosen by the prototype."""
_SLACK = 0.5
"""What a way may cost beyond that."""
_CHUNK, _TRIES = 65_536, 20
"""Samples that are drawn at a time, and how many there may be for each node of the budget."""
_SAME = 1e-6
"""Costs that differ by less are the same."""


@dataclass(frozen=True)
class Budget:
    """How large a tree may become: nodes, or the memory that they take."""

    nodes: int

    def __post_init__(self) -> None:
        if not 0 < self.nodes <= MOST_NODES:
            raise TreeError(f"budget of {self.nodes} nodes for a tree; it must be 1 to {MOST_NODES}")

    @staticmethod
    def memory(megabytes: float) -> Budget:
        """As many nodes as fit into so many millions of bytes."""
        if not (math.isfinite(megabytes) and megabytes > 0.0):
            raise TreeError(f"budget of {megabytes} MB for a tree; it must be above 0")
        return Budget(int(megabytes * 1e6) // NODE_BYTES)


def exhaustive_tree(moves: Moves, levels: int, region: Region | None = None, budget: Budget | None = None) -> Tree:
    """All sequences of so many moves and less.

    Args:
        moves: what it is made of.
        levels: most moves one after another.
        region: that it must not leave; without one, all that it reaches.
        budget: more nodes are refused.

    Raises:
        TreeError: if there would be more nodes, or none but the root.
    """
    most, everywhere = budget or Budget(MOST_NODES), region or _reachable(moves, levels)
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
    """Nodes of the exhaustive tree, the root included."""
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
    """Level by level, children in random order, no more than `per_cell` nodes in a cell (chapter 4.2.2).

    Args:
        moves: what it is made of.
        region: that it must not leave; its cells count nodes.
        budget: it stops there.
        per_cell: the thesis's k.
        levels: most moves one after another.
        seed: of the order.

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
) -> Tree:
    """Ways spread evenly over a region: algorithm 2.

    Each node goes on from the node nearest to a random point, by the move that makes the density grow least for each
    cell that it goes through. Nodes that can have no more children are no candidates, where the thesis draws again.

    Args:
        moves: what it is made of.
        region: that it must not leave.
        budget: it stops there, or where it finds nothing to add.
        levels: most moves one after another.
        stretch: ways that cost more than so many times the cheapest way to the same cell are left out; None for the
            thesis's algorithm, which keeps them all and wanders.
        by_frequencies: compute densities by how many cells have each count, as the thesis does, and not in closed form.
        seed: of the points.

    Raises:
        TreeError: if the region has no room for a single move, or a number cannot be.
    """
    _check_levels(levels)
    if stretch is not None and not (math.isfinite(stretch) and stretch >= 1.0):
        raise TreeError(f"stretch {stretch} of a tree must be 1 or more, or None")
    arrays, place = move_arrays(moves, region), region.place
    growth = _growth(region, budget.nodes, by_frequencies)
    _plant(growth, place)
    bound = _bound(moves, region, arrays, stretch)
    rng = np.random.default_rng(seed)
    more, tries, cells = True, 0, np.zeros(len(arrays.points), np.int64)
    while more and tries < max(_TRIES * budget.nodes, _CHUNK):
        samples = region.points(rng, _CHUNK)
        tries += _CHUNK
        more = kernels.grow_diverse(
            read_only(samples), budget.nodes, levels, arrays, region.inside, place, len(region), bound,
            by_frequencies, growth, cells,
        )  # fmt: skip
    return _finished(moves, region, growth, budget)


def coverage(tree: Tree, region: Region | None = None) -> tuple[IntArray, float]:
    """How many moves of a tree go through each cell, and the density of that (formula 4.1).

    Args:
        tree: of any kind.
        region: whose cells to count; its own unless given. Moves that leave it are not counted.

    Returns:
        Counts (rows, columns), and the density.
    """
    where = region or tree.region
    arrays, growth = move_arrays(tree.moves, where), _growth(where, 1, False)
    full = tree.unfold()
    poses = np.column_stack([full.poses, full.costs])
    kernels.coverage(
        read_only(poses), read_only(tree.parents), read_only(tree.actions), arrays, where.inside, where.place, growth
    )
    return growth.counts, density(growth.counts, where)


def density(counts: IntArray, region: Region) -> float:
    """Formula 4.1: how unevenly counts are spread over the cells of a region; (rows, columns)."""
    own = counts[region.inside].astype(np.float64)
    return float(np.square(own - own.mean()).sum())


def covered(tree: Tree, cell: float) -> Tree:
    """The same tree in the region that its moves go through, in cells of a side [m]."""
    wide = _reachable(tree.moves, int(tree.depths.max()), cell)
    counts, _ = coverage(tree, wide)
    rows, columns = np.nonzero(counts)
    first, last = (rows.min(), columns.min()), (rows.max() + 1, columns.max() + 1)
    origin = wide.spec.origin[0] + cell * float(first[1]), wide.spec.origin[1] + cell * float(first[0])
    region = Region.mask(counts[first[0] : last[0], first[1] : last[1]] > 0, origin, cell)
    return Tree(tree.moves, region, tree.links, tree.ends, tree.places, tree.headings, tree.prices,
                tree.place_step, tree.cost_step)  # fmt: skip


def move_arrays(moves: Moves, region: Region) -> MoveArrays:
    """For kernels, with points for the cells of a region."""
    starts, points = moves.points(0.5 * region.spec.cell)
    numbers = np.column_stack([moves.table.moves[moves.actions], moves.costs])
    return MoveArrays(read_only(numbers), read_only(moves.follower_starts), read_only(moves.followers),
                      read_only(starts), read_only(points))  # fmt: skip


def _bound(moves: Moves, region: Region, arrays: MoveArrays, stretch: float | None) -> Bound:
    """What ways may cost; no bound without a stretch."""
    groups, (rows, columns) = moves.groups, region.inside.shape
    high, wide = -(-rows // 2), -(-columns // 2)
    if stretch is None:
        nothing = read_only(np.zeros((high, wide)))
        return Bound(nothing, read_only(np.zeros((1, 1, 1))), groups, read_only(np.array([0.0, np.inf, 0.0])))
    (x, y, rate), padded = region.place.tolist(), np.pad(region.inside, ((0, rows % 2), (0, columns % 2)))
    blocks = np.asarray(padded.reshape(high, 2, wide, 2).any(axis=(1, 3)))
    least, by_heading = least_costs(arrays, read_only(blocks), read_only(np.array([x, y, 0.5 * rate])), groups)
    # what no way of the search ends in may still be got to
    least = np.where(np.isfinite(least), least, scipy.ndimage.minimum_filter(least, 3, mode="nearest"))
    return Bound(read_only(least), read_only(by_heading), groups, read_only(np.array([stretch, _SLACK, _SAME])))


def _by_level(
    moves: Moves, region: Region, budget: Budget, levels: int, per_cell: int | None, rng: np.random.Generator | None
) -> Tree:
    _check_levels(levels)
    arrays, place = move_arrays(moves, region), region.place
    growth, occupants = _growth(region, budget.nodes, False), np.zeros(region.inside.shape, np.int64)
    _plant(growth, place)
    first = 0
    for _ in range(levels):
        last = int(growth.numbers[kernels.NODES])
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


def _growth(region: Region, nodes: int, by_frequencies: bool) -> Growth:
    rows, columns = region.spec.shape
    # a cell is counted once by each node at most
    frequencies = np.zeros(nodes + 2 if by_frequencies else 2, np.int64)
    frequencies[0] = len(region)
    return Growth(
        parents=np.zeros(nodes, np.int32), actions=np.zeros(nodes, np.uint8), poses=np.zeros((nodes, 4)),
        depths=np.zeros(nodes, np.uint8), used=np.zeros(nodes, np.uint64), following=np.full(nodes, -1, np.int32),
        heads=np.full((rows, columns), -1, np.int32), counts=np.zeros((rows, columns), np.int64),
        seen=np.zeros((rows, columns), np.int64), frequencies=frequencies, numbers=np.zeros(3, np.int64),
    )  # fmt: skip


def _plant(growth: Growth, place: FloatArray) -> None:
    growth.numbers[kernels.NODES] = 1
    growth.parents[0] = -1
    row, column = math.floor(-place[1] * place[2]), math.floor(-place[0] * place[2])
    growth.heads[row, column] = 0


def _finished(moves: Moves, region: Region, growth: Growth, budget: Budget) -> Tree:
    count = int(growth.numbers[kernels.NODES])
    if count == 1 and budget.nodes > 1:
        raise TreeError("region has no room for a single move from the origin; make it larger")
    return compact(moves, region, growth.parents[:count], growth.actions[:count])


def _reachable(moves: Moves, levels: int, cell: float | None = None) -> Region:
    """A square that no sequence of so many moves leaves."""
    _check_levels(levels)
    points = moves.points(0.1)[1]
    return Region.mask(*_square(levels * float(np.hypot(*points.T).max()), cell or CELL), cell or CELL)


def _square(reach: float, cell: float) -> tuple[FloatArray, tuple[float, float]]:
    half = math.ceil(reach / cell) + 1
    return np.ones((2 * half, 2 * half)), (-half * cell, -half * cell)


def _check_levels(levels: int) -> None:
    if not 0 < levels <= MOST_LEVELS:
        raise TreeError(f"tree of {levels} levels; it can have 1 to {MOST_LEVELS}")
