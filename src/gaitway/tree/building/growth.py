"""Memory of growing trees, and bounds on the costs of their paths."""

from __future__ import annotations

import math

import numpy as np
import scipy

from gaitway.core.arrays import read_only
from gaitway.tree.building._growing_kernels import Bound, least_costs
from gaitway.tree.building._growth_kernels import NODES, Growth, MoveArrays
from gaitway.tree.moves import Moves
from gaitway.tree.region import Region

SLACK = 0.5
"""Cost that is allowed beyond the stretch."""
_SAME = 1e-6
"""Largest difference of costs that count as equal."""
_CROWD = 16
"""Approximate number of nodes in a small cell of a full tree: more are slow to search."""


def move_arrays(moves: Moves, region: Region) -> MoveArrays:
    """Return the moves for kernels, with points for the cells of a region."""
    starts, points = moves.points(0.5 * region.spec.cell)
    numbers = np.column_stack([moves.table.moves[moves.actions], moves.costs])
    table, rows = moves.table, moves.actions
    stops = table.rest[table.end_state[rows]] & ~table.rest[table.start_state[rows]]
    return MoveArrays(read_only(numbers), read_only(moves.follower_starts), read_only(moves.followers),
                      read_only(starts), read_only(points), read_only(stops))  # fmt: skip


def cost_bound(moves: Moves, region: Region, arrays: MoveArrays, stretch: float | None) -> Bound:
    """Return the bounds on costs; without a stretch there are none."""
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
    return Bound(read_only(least), read_only(by_heading), groups, read_only(np.array([stretch, SLACK, _SAME])))


def new_growth(region: Region, nodes: int, by_frequencies: bool = False) -> Growth:
    """Return a tree with only its root, and memory for a number of nodes."""
    rows, columns = region.spec.shape
    # a cell is counted once by each node at most
    frequencies = np.zeros(nodes + 2 if by_frequencies else 2, np.int64)
    frequencies[0] = len(region)
    finer = max(1, math.ceil(math.sqrt(nodes / (_CROWD * len(region)))))
    near = region.place * [1.0, 1.0, finer]
    growth = Growth(
        parents=np.zeros(nodes, np.int32), actions=np.zeros(nodes, np.uint8), poses=np.zeros((nodes, 4)),
        depths=np.zeros(nodes, np.uint8), used=np.zeros(nodes, np.uint64), following=np.full(nodes, -1, np.int32),
        heads=np.full((finer * rows, finer * columns), -1, np.int32), near=read_only(near),
        counts=np.zeros(rows * columns, np.int32), seen=np.zeros(rows * columns, np.uint32),
        frequencies=frequencies, numbers=np.zeros(3, np.int64),
    )  # fmt: skip
    growth.numbers[NODES] = 1
    growth.parents[0] = -1
    growth.heads[math.floor(-near[1] * near[2]), math.floor(-near[0] * near[2])] = 0
    return growth
