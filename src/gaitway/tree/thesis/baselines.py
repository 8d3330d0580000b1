"""Other ways to choose the paths of a tree, for comparison (Lau 2009, chapter 4.7.2).

All of them choose from paths that are there already: those of an exhaustive tree of few levels. They end when the nodes
of the chosen paths, each counted once, are as many as asked for; the last path is cut off there. The papers that they
come from were not at hand: what each of them weighs is said with it, and that the sets that the thesis saw them choose
are of that kind ("I-P" keeps short paths, "I-E" long ones) was checked.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import BoolArray, IntArray, read_only
from gaitway.core.errors import TreeError
from gaitway.tree.building.growing import Budget
from gaitway.tree.model import Tree, compact
from gaitway.tree.thesis import _baseline_kernels as kernels

CANDIDATES = 8192
"""Most paths to choose from unless told otherwise: a table of the distances of all pairs is kept, 268 MB."""
EVERY = 1 << 20
"""The same where paths are compared with those chosen alone, and there is no such table."""
BLOCKED = 0.02
"""Share of the cells that is occupied, where survival is computed."""
OBSTACLE = 0.5
"""Radius of the obstacles that paths are to survive [m]."""
_PER_MOVE = 4
"""Points of a move at which paths are compared."""

Baseline = Callable[..., Tree]


def green_kelly_tree(candidates: Tree, budget: Budget, seed: int = 0, most: int = CANDIDATES) -> Tree:
    """Each path is the one that makes the dispersion least (Green and Kelly).

    The dispersion is the distance of the candidate that is farthest from all that are chosen; two paths are as far
    apart as the points are on average that they pass at the same share of the same move.

    Args:
        candidates: an exhaustive tree.
        budget: nodes to choose.
        seed: of the choice among too many candidates.
        most: candidates; of more, some are taken by chance.
    """
    leaves = _leaves(candidates, seed, most)
    apart = kernels.distances(_points(candidates, leaves))
    order = kernels.least_dispersion(apart, _paths(candidates, leaves), _root_kept(candidates), budget.nodes - 1)
    return _chosen(candidates, leaves[order], budget)


def inner_product_tree(candidates: Tree, budget: Budget, seed: int = 0, most: int = EVERY) -> Tree:
    """Each path is the one that shares the fewest cells with those chosen before (Branicky, Knepper and Kuffner).

    A path is a vector with a one for each cell that it goes through; the sum of its inner products with those chosen is
    to be least. The paths to all nodes are candidates, not to the deepest alone: short paths share little, and come
    first.

    Args:
        candidates: an exhaustive tree.
        budget: nodes to choose.
        seed: of the choice among too many candidates.
        most: candidates; of more, some are taken by chance.
    """
    ends = _ends(candidates, seed, most)
    cells, lengths = _cells(candidates, ends)
    order = kernels.least_shared(
        cells, lengths, _size(candidates), _paths(candidates, ends), _root_kept(candidates), budget.nodes - 1
    )
    return _chosen(candidates, ends[order], budget)


def inclusion_exclusion_tree(
    candidates: Tree, budget: Budget, seed: int = 0, most: int = EVERY, blocked: float = BLOCKED
) -> Tree:
    """Each path is the one that adds most to the likelihood that some path is free (Branicky, Knepper and Kuffner).

    Cells are occupied by chance, each for itself, so that all of some paths are free with a likelihood that depends on
    the cells that they go through together. The sum of inclusion and exclusion ends with pairs; once many paths are
    chosen the pairs prevail, and with them long paths. The paths to all nodes are candidates.

    Args:
        candidates: an exhaustive tree.
        budget: nodes to choose.
        seed: of the choice among too many candidates.
        most: candidates; of more, some are taken by chance.
        blocked: share of the cells that is occupied.
    """
    if not 0.0 < blocked < 1.0:
        raise TreeError(f"share {blocked} of occupied cells; it must be between 0 and 1")
    ends = _ends(candidates, seed, most)
    cells, lengths = _cells(candidates, ends)
    order = kernels.most_likely_free(
        cells, lengths, _size(candidates), 1.0 - blocked, _paths(candidates, ends), _root_kept(candidates),
        budget.nodes - 1,
    )  # fmt: skip
    return _chosen(candidates, ends[order], budget)


def survivable_tree(
    candidates: Tree, budget: Budget, seed: int = 0, most: int = CANDIDATES, radius: float = OBSTACLE
) -> Tree:
    """Each path is the one that makes it least likely that one obstacle obstructs many (Erickson and LaValle).

    An obstacle is a disc that lies anywhere in the region; it obstructs the paths that go through it. The mean over all
    places of the squared number of obstructed paths is to grow least for each place at which the new path is
    obstructed, so that long paths are not held against.

    Args:
        candidates: an exhaustive tree.
        budget: nodes to choose.
        seed: of the choice among too many candidates.
        most: candidates; of more, some are taken by chance.
        radius: of the obstacle [m].
    """
    if not radius > 0.0:
        raise TreeError(f"obstacle of radius {radius} m; it must be above 0")
    leaves = _leaves(candidates, seed, most)
    cells, lengths = _cells(candidates, leaves, radius / candidates.region.spec.cell)
    order = kernels.least_obstructed(
        cells, lengths, _size(candidates), _paths(candidates, leaves), _root_kept(candidates), budget.nodes - 1
    )
    return _chosen(candidates, leaves[order], budget)


BASELINES: dict[str, Baseline] = {
    "Green and Kelly": green_kelly_tree,
    "Branicky et al. I-P": inner_product_tree,
    "Branicky et al. I-E": inclusion_exclusion_tree,
    "Erickson and LaValle": survivable_tree,
}
"""By name, all called with candidates and a budget."""


def _leaves(tree: Tree, seed: int, most: int) -> IntArray:
    """Nodes on the deepest level, or some of them."""
    depths = tree.depths
    return _some(np.flatnonzero(depths == depths.max()), seed, most)


def _ends(tree: Tree, seed: int, most: int) -> IntArray:
    """All nodes but the root, or some of them."""
    return _some(np.arange(1, len(tree)), seed, most)


def _some(nodes: IntArray, seed: int, most: int) -> IntArray:
    if nodes[-1:].tolist() in ([], [0]):
        raise TreeError("a tree of its root alone has no paths to choose from")
    if len(nodes) > most:
        nodes = np.sort(np.random.default_rng(seed).choice(nodes, most, replace=False))
    return nodes


def _root_kept(tree: Tree) -> BoolArray:
    """Nodes that are chosen from the beginning; (N,)."""
    kept = np.zeros(len(tree), np.bool_)
    kept[0] = True
    return kept


def _size(tree: Tree) -> int:
    """Cells of the region's grid."""
    rows, columns = tree.region.spec.shape
    return rows * columns


def _paths(tree: Tree, ends: IntArray) -> IntArray:
    """Nodes from below the root to each end, -1 after it where another is deeper; (L, depth)."""
    depths, parents = tree.depths[ends], tree.parents
    out = np.full((len(ends), int(depths.max())), -1, np.int64)
    nodes = ends
    for back in range(out.shape[1]):
        rows = np.flatnonzero(depths > back)
        out[rows, depths[rows] - 1 - back] = nodes[rows]
        nodes = parents[nodes]
    return read_only(out)


def _points(tree: Tree, leaves: IntArray) -> npt.NDArray[np.float32]:
    """Places along each path, the same number in each move [m]; x and then y; (L, 2, K)."""
    middles = tree.moves.middles(_PER_MOVE)
    ends = tree.moves.table.moves[tree.moves.actions][:, None, :2]
    within = np.concatenate([middles, ends], axis=1)
    paths, poses = _paths(tree, leaves), tree.unfold().poses
    starts, moves = poses[tree.parents[paths]], within[tree.actions[paths]]
    c, s = np.cos(starts[..., 2])[..., None], np.sin(starts[..., 2])[..., None]
    x = starts[..., 0, None] + c * moves[..., 0] - s * moves[..., 1]
    y = starts[..., 1, None] + s * moves[..., 0] + c * moves[..., 1]
    return np.stack([x, y], axis=1).reshape(len(leaves), 2, -1).astype(np.float32)


def _cells(tree: Tree, ends: IntArray, reach: float = 0.0) -> tuple[npt.NDArray[np.int32], IntArray]:
    """Cells of the region's grid within a reach [cells] of each path, (L, W), and how many they are (L,)."""
    paths, poses = _paths(tree, ends), tree.unfold().poses
    starts, points = tree.moves.points(0.5 * tree.region.spec.cell)
    return kernels.cells_of_paths(
        paths, read_only(tree.parents), read_only(tree.actions), read_only(poses), starts, points, tree.region.place,
        *tree.region.spec.shape, reach,
    )  # fmt: skip


def _chosen(tree: Tree, leaves: IntArray, budget: Budget) -> Tree:
    """The part of a tree that leads to leaves, in their order, up to a number of nodes."""
    kept = np.zeros(len(tree), np.bool_)
    kept[0], count = True, 1
    for path in (tree.path(int(leaf)) for leaf in leaves):
        for node in path.tolist():
            if not kept[node] and count < budget.nodes:
                kept[node] = True
                count += 1
    numbers = np.cumsum(kept) - 1
    parents = numbers[tree.parents[kept]].astype(np.int32)
    parents[0] = -1
    return compact(tree.moves, tree.region, parents, (tree.links[kept] & 255).astype(np.uint8))
