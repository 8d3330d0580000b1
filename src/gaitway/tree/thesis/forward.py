"""A plain A* search over the moves of a tree, with which the thesis compares its trees (Lau 2009, chapter 4.7.3).

The search checks the same cells of the same grid as the tree's own search: the cell in which each move ends, and the
cells of the sampled points inside the move. Nothing is precomputed. Positions and headings are divided into bins, and
only the cheapest node of each bin is expanded, so that the search ends.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.core.errors import TreeError
from gaitway.core.jit import direct
from gaitway.tree.moves import Moves
from gaitway.tree.thesis import _forward_kernels as kernels
from gaitway.tree.thesis._forward_kernels import ForwardArrays
from gaitway.tree.thesis.backward import move_codes
from gaitway.tree.thesis.gridmap import GoalMap
from gaitway.tree.thesis.mapping import MappedGrid

BIN = 0.56
"""Side of the bins of the closed set [m]."""
HEADINGS = 24
"""Number of heading bins in a full turn: 15 degrees are the smallest turn of the built-in people."""
NODES = 1 << 20
"""Most nodes of a search, for which memory is allocated."""

Square = tuple[float, float, float, float]


class ForwardPath(NamedTuple):
    """Result of a search."""

    cost: float
    """Cost of the path; infinite if there is none."""
    moves: IntArray
    """Moves of the path in order; (D,)."""
    expanded: int
    """Number of expanded nodes."""
    checks: int
    """Number of cells that were looked up."""


class ForwardSearch:
    """Searches over a grid, which may change between searches. **Mutable**: all searches use the same memory."""

    def __init__(
        self, moves: Moves, grid: MappedGrid, parts: int = 2, bin_side: float = BIN, headings: int = HEADINGS,
        nodes: int = NODES,
    ) -> None:  # fmt: skip
        """Prepare searches that start at the tree's root: the origin of the frame that the grid is in.

        Args:
            moves: moves that paths consist of.
            grid: grid with the obstacles.
            parts: number of parts that each move is divided into, as in `EnvironmentMap.of`.
            bin_side: side of the bins of the closed set [m].
            headings: number of heading bins in a full turn.
            nodes: most nodes of a search.
        """
        rows, columns = grid.spec.shape
        groups = moves.groups
        bins = (
            *(math.floor(n * grid.spec.cell / bin_side) + 1 for n in (rows, columns)), headings, int(groups.max()) + 1
        )  # fmt: skip
        numbers = (*grid.spec.origin, 1.0 / grid.spec.cell, 1.0 / bin_side, cheapest_metre(moves))
        table = moves.table
        self._arrays = ForwardArrays(
            moves=read_only(np.column_stack([table.moves[moves.actions], moves.costs])),
            middles=read_only(moves.middles(parts)), codes=move_codes(moves), follower_starts=moves.follower_starts,
            followers=moves.followers, groups=groups, grid=grid.cells.reshape(rows, columns),
            numbers=np.array(numbers), poses=np.zeros((nodes, 4)), links=np.zeros((nodes, 2), np.int32),
            keys=np.zeros(nodes), heap=np.zeros(nodes, np.int32), best=np.zeros(bins), stamps=np.zeros(bins, np.int32),
        )  # fmt: skip
        self._handle, self._goal, self._search = (
            ArrayHandle(self._arrays),
            ArrayHandle(np.zeros(4)),
            direct(kernels.search),
        )
        self._count = 0

    def find(self, square: Square, weight: float = 1.0) -> ForwardPath:
        """Find the cheapest path into a square. The path starts at the origin and faces +X there.

        Args:
            square: goal square: xmin, ymin, xmax, ymax [m]; see `goal_square`.
            weight: factor of the estimate. The path may cost up to this many times the least cost.

        Raises:
            TreeError: if the weight is below 1, or the memory is full before the search ends.
        """
        node, expanded, checks = self.last(square, weight)
        path = []
        cost = float(self._arrays.poses[node, 3]) if node >= 0 else math.inf
        while node > 0:
            path.append(int(self._arrays.links[node, 1]))
            node = int(self._arrays.links[node, 0])
        return ForwardPath(cost, np.array(path[::-1], dtype=np.int64), expanded, checks)

    def last(self, square: Square, weight: float = 1.0) -> tuple[int, int, int]:
        """Search as `find` does, but do not build the path.

        Returns:
            The last node of the path or -1, the number of expanded nodes, and the number of cells that were looked up.
        """
        if not weight >= 1.0:
            raise TreeError(f"weight {weight} of a search; it must be 1 or more")
        self._count += 1
        self._goal.value[:] = square
        node, expanded, checks = self._search(self._handle, self._goal, float(weight), self._count)
        if node == -2:
            raise TreeError(f"search is beyond {len(self._arrays.poses)} nodes; give it room for more")
        return node, expanded, checks


def cheapest_metre(moves: Moves) -> float:
    """Return the least cost of a metre of straight distance."""
    lengths: FloatArray = np.hypot(*moves.table.moves[moves.actions, :2].T)
    going = lengths > 1e-3
    return float((moves.costs[going] / lengths[going]).min(initial=np.inf)) if going.any() else 0.0


def goal_square(goals: GoalMap, goal: tuple[float, float]) -> Square:
    """Return the square whose nodes the cell of a goal lists: xmin, ymin, xmax, ymax [m].

    A search to this square accepts the same end points as the search in the tree.

    Args:
        goals: nodes of the tree by goal cell.
        goal: goal in the tree's frame: x, y [m].
    """
    (x, y), cell, half = goals.spec.origin, goals.spec.cell, 0.5 * goals.overlap
    middle_x = x + cell * (math.floor((goal[0] - x) / cell) + 0.5)
    middle_y = y + cell * (math.floor((goal[1] - y) / cell) + 0.5)
    return middle_x - half, middle_y - half, middle_x + half, middle_y + half
