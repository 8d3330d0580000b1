"""Coverage: which cells the moves of a tree go through, and how evenly (formula 4.1; figure 4.2)."""

from __future__ import annotations

import math

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.tree.building import _density_kernels as kernels
from gaitway.tree.building.growth import move_arrays, new_growth
from gaitway.tree.model import Tree
from gaitway.tree.moves import Moves
from gaitway.tree.region import CELL, Region


def coverage(tree: Tree, region: Region | None = None) -> tuple[IntArray, float]:
    """Count the moves of a tree through each cell, and compute their density (formula 4.1).

    Args:
        tree: tree of any kind.
        region: region whose cells are counted; that of the tree unless given. Moves that leave it are not counted.

    Returns:
        Counts (rows, columns), and the density.
    """
    where = region or tree.region
    arrays, growth = move_arrays(tree.moves, where), new_growth(where, 1)
    full = tree.unfold()
    poses = np.column_stack([full.poses, full.costs])
    kernels.coverage(
        read_only(poses), read_only(tree.parents), read_only(tree.actions), arrays, where.inside, where.place, growth
    )
    counts = growth.counts.reshape(where.spec.shape).astype(np.int64)
    return counts, density(counts, where)


def density(counts: IntArray, region: Region) -> float:
    """Compute formula 4.1: how unevenly counts are spread over the cells of a region; (rows, columns)."""
    own = counts[region.inside].astype(np.float64)
    return float(np.square(own - own.mean()).sum())


def covered(tree: Tree, cell: float) -> Tree:
    """Return the same tree in the region that its moves go through, with a cell size [m]."""
    wide = square_of(tree.moves, int(tree.depths.max()), cell)
    counts, _ = coverage(tree, wide)
    rows, columns = np.nonzero(counts)
    first, last = (rows.min(), columns.min()), (rows.max() + 1, columns.max() + 1)
    origin = wide.spec.origin[0] + cell * float(first[1]), wide.spec.origin[1] + cell * float(first[0])
    region = Region.mask(counts[first[0] : last[0], first[1] : last[1]] > 0, origin, cell)
    return Tree(
        moves=tree.moves,
        region=region,
        links=tree.links,
        ends=tree.ends,
        places=tree.places,
        headings=tree.headings,
        prices=tree.prices,
        place_step=tree.place_step,
        cost_step=tree.cost_step,
    )


def square_of(moves: Moves, levels: int, cell: float | None = None) -> Region:
    """Return a square that no sequence of a number of moves leaves."""
    points = moves.points(0.1)[1]
    return Region.mask(*_square(levels * float(np.hypot(*points.T).max()), cell or CELL), cell or CELL)


def _square(reach: float, cell: float) -> tuple[FloatArray, tuple[float, float]]:
    """Return a grid up to a reach [m]; the origin is a cell's centre, so rounding cannot move it to another cell."""
    half = math.ceil(reach / cell) + 1
    return np.ones((2 * half + 1, 2 * half + 1)), (-(half + 0.5) * cell, -(half + 0.5) * cell)
