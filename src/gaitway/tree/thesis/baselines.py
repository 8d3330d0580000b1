"""Other methods that choose the paths of a tree, for comparison (Lau 2009, chapter 4.7.2).

All of them choose from existing paths: those of an exhaustive tree with few levels. A method ends when the chosen paths
have as many nodes as the caller asked for; each node counts once, and the last path is cut off at that number.

The papers of these methods were not at hand. The docstring of each function says what it minimises or maximises. It was
checked that the chosen paths are of the same kind as those in the thesis: "I-P" keeps short paths, "I-E" long ones.
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
"""Default for the most candidate paths. A table of the distances of all pairs is kept; it takes 268 MB."""
EVERY = 1 << 20
"""Default for the most candidate paths of methods that compare candidates only with the chosen paths. Such a method
needs no table of distances."""
BLOCKED = 0.02
"""Share of the cells that is occupied, for the probability that a path is free."""
OBSTACLE = 0.5
"""Radius of the obstacle that obstructs paths in `survivable_tree` [m]."""
_PER_MOVE = 4
"""Number of points of each move at which paths are compared."""

Baseline = Callable[..., Tree]


def green_kelly_tree(candidates: Tree, budget: Budget, seed: int = 0, most: int = CANDIDATES) -> Tree:
    """Choose paths one after another, each time the path that makes the dispersion least (Green and Kelly).

    The dispersion is the distance between the chosen paths and the candidate that is farthest from them. The distance
    between two paths is the mean distance between points at the same share of their first moves, of their second moves,
    and so on.

    Args:
        candidates: exhaustive tree whose paths are the candidates.
        budget: number of nodes to choose.
        seed: seed of the random choice if there are too many candidates.
        most: most candidates; if there are more, a random part of them is used.
    """
    leaves = _leaves(candidates, seed, most)
    apart = kernels.distances(_points(candidates, leaves))
    order = kernels.least_dispersion(apart, _paths(candidates, leaves), _root_kept(candidates), budget.nodes - 1)
    return _chosen(candidates, leaves[order], budget)


def inner_product_tree(candidates: Tree, budget: Budget, seed: int = 0, most: int = EVERY) -> Tree:
    """Choose paths one after another, each sharing the fewest cells with earlier ones (Branicky, Knepper and Kuffner).

    A path is a vector with a one for each cell that it goes through. The method chooses the path with the least sum of
    inner products with the chosen paths. The paths to all nodes are candidates, not only those to the deepest nodes.
    Short paths share few cells, so they are chosen first.

    Args:
        candidates: exhaustive tree whose paths are the candidates.
        budget: number of nodes to choose.
        seed: seed of the random choice if there are too many candidates.
        most: most candidates; if there are more, a random part of them is used.
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
    """Choose paths that add most to the probability that some path is free (Branicky, Knepper and Kuffner).

    Cells are occupied at random and independently. The probability that several paths are all free therefore depends on
    the number of cells in their union. The sum of inclusion and exclusion ends with pairs. Once many paths are chosen,
    the terms of the pairs dominate, and long paths are preferred. The paths to all nodes are candidates.

    Args:
        candidates: exhaustive tree whose paths are the candidates.
        budget: number of nodes to choose.
        seed: seed of the random choice if there are too many candidates.
        most: most candidates; if there are more, a random part of them is used.
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
    """Choose paths so that one obstacle is least likely to obstruct many of them (Erickson and LaValle).

    The obstacle is a disc anywhere in the region; it obstructs the paths that go through it. For each position of the
    disc, the number of obstructed paths is squared. The method chooses the path for which the sum of these squares
    grows least per position at which that path is obstructed, so that long paths are not at a disadvantage.

    Args:
        candidates: exhaustive tree whose paths are the candidates.
        budget: number of nodes to choose.
        seed: seed of the random choice if there are too many candidates.
        most: most candidates; if there are more, a random part of them is used.
        radius: radius of the obstacle [m].
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
"""Methods by name. Each takes the tree of candidates and a budget, and returns the tree of the chosen paths."""


def _leaves(tree: Tree, seed: int, most: int) -> IntArray:
    """Return the nodes on the deepest level, or `most` of them at random if there are more."""
    depths = tree.depths
    return _some(np.flatnonzero(depths == depths.max()), seed, most)


def _ends(tree: Tree, seed: int, most: int) -> IntArray:
    """Return all nodes but the root, or `most` of them at random if there are more."""
    return _some(np.arange(1, len(tree)), seed, most)


def _some(nodes: IntArray, seed: int, most: int) -> IntArray:
    if nodes[-1:].tolist() in ([], [0]):
        raise TreeError("a tree of its root alone has no paths to choose from")
    if len(nodes) > most:
        nodes = np.sort(np.random.default_rng(seed).choice(nodes, most, replace=False))
    return nodes


def _root_kept(tree: Tree) -> BoolArray:
    """Return whether each node is chosen at the beginning, which is only the root; (N,)."""
    kept = np.zeros(len(tree), np.bool_)
    kept[0] = True
    return kept


def _size(tree: Tree) -> int:
    """Return the number of cells of the region's grid."""
    rows, columns = tree.region.spec.shape
    return rows * columns


def _paths(tree: Tree, ends: IntArray) -> IntArray:
    """Return the nodes of the path to each end, without the root, then -1 up to the greatest depth; (L, depth)."""
    depths, parents = tree.depths[ends], tree.parents
    out = np.full((len(ends), int(depths.max())), -1, np.int64)
    nodes = ends
    for back in range(out.shape[1]):
        rows = np.flatnonzero(depths > back)
        out[rows, depths[rows] - 1 - back] = nodes[rows]
        nodes = parents[nodes]
    return read_only(out)


def _points(tree: Tree, leaves: IntArray) -> npt.NDArray[np.float32]:
    """Compute points along each path, the same number in each move: x of all points, then y [m]; (L, 2, K)."""
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
    """Find the cells of the region's grid within a reach [cells] of each path (L, W), and their number (L,)."""
    paths, poses = _paths(tree, ends), tree.unfold().poses
    starts, points = tree.moves.points(0.5 * tree.region.spec.cell)
    return kernels.cells_of_paths(
        paths, read_only(tree.parents), read_only(tree.actions), read_only(poses), starts, points, tree.region.place,
        *tree.region.spec.shape, reach,
    )  # fmt: skip


def _chosen(tree: Tree, leaves: IntArray, budget: Budget) -> Tree:
    """Return the part of a tree that leads to the given leaves; leaves come in order until the budget is used up."""
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
