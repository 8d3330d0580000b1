"""The thesis's search at run time: from the goal back to the root, over mapped obstacles (Lau 2009, chapter 4.5).

The thesis's algorithm 3 treats the cells of a special obstacle as free where a node ends, and at the middle of an
ordinary move. Here only a move that passes obstacles of that kind may have its middle in these cells, and no node may
end in them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.errors import TreeError
from gaitway.core.jit import direct
from gaitway.tree.model import Tree
from gaitway.tree.moves import Moves
from gaitway.tree.thesis import _backward_kernels as kernels
from gaitway.tree.thesis._backward_kernels import BackwardArrays
from gaitway.tree.thesis.gridmap import EnvironmentMap, GoalMap
from gaitway.tree.thesis.mapping import FIRST_KIND, FREE, MappedGrid


class BackwardResult(NamedTuple):
    """Result of a search."""

    node: int
    """Node of the tree whose path is free, or -1."""
    examined: int
    """Number of nodes of the goal cell's list that were tried."""
    checks: int
    """Number of cells that were looked up."""


class BackwardSearch:
    """Searches in one tree over one grid. **Mutable**: a search marks nodes, and `reset` removes the marks.

    Several objects can share the tree and its gridmaps. Each has only its own marks: one byte per node.

    Attributes:
        tree: tree that is searched.
        goals: nodes of the tree by goal cell.
        grid: grid that obstacles are mapped to.
    """

    def __init__(self, tree: Tree, environment: EnvironmentMap, goals: GoalMap, grid: MappedGrid | None = None) -> None:
        """Prepare searches in a tree.

        Args:
            tree: tree of any kind.
            environment: cells of the tree's nodes.
            goals: nodes of the tree by goal cell.
            grid: grid that obstacles are mapped to; several searches can share it. None makes a new one.

        Raises:
            TreeError: if the gridmap is not of this tree, or the grid has other cells than the gridmap.
        """
        if len(environment.cells) != len(tree):
            raise TreeError(
                f"gridmap of {len(environment.cells)} nodes for a tree of {len(tree)}; make it of this tree"
            )
        if grid is not None and grid.spec != environment.spec:
            raise TreeError(f"grid of {grid.spec.shape} cells for a gridmap of {environment.spec.shape}")
        self.tree, self.goals, self.grid = tree, goals, grid or MappedGrid(environment.spec)
        arrays = BackwardArrays(
            links=tree.links, cells=environment.cells, middles=environment.middles, nodes=goals.nodes,
            codes=move_codes(tree.moves), grid=self.grid.cells, blocked=np.zeros(len(tree), np.uint8),
        )  # fmt: skip
        self._arrays = arrays
        self._handle, self._find, self._unblock = ArrayHandle(arrays), direct(kernels.find), direct(kernels.unblock)
        self._examined = (0, 0)

    def find(self, goal: tuple[float, float]) -> BackwardResult:
        """Find the cheapest free path of the tree to the cell of a goal. Call `reset` afterwards.

        Args:
            goal: goal in the tree's frame: x, y [m].
        """
        first, last = self.list_of(goal)
        node, examined, checks = self._find(self._handle, first, last)
        self._examined = (first, examined)
        return BackwardResult(node, examined, checks)

    def reset(self) -> int:
        """Remove the marks of the last search, and return how many there were. Other nodes are not visited."""
        out = int(self._unblock(self._handle, *self._examined))
        self._examined = (0, 0)
        return out

    def list_of(self, goal: tuple[float, float]) -> tuple[int, int]:
        """Return the range of entries (first, last + 1) that the cell of a goal has in the goal map.

        Args:
            goal: goal in the tree's frame: x, y [m]. If it lies outside the map, the range is empty.
        """
        spec = self.goals.spec
        (x, y), (rows, columns) = spec.origin, spec.shape
        row, column = math.floor((goal[1] - y) / spec.cell), math.floor((goal[0] - x) / spec.cell)
        if not (0 <= row < rows and 0 <= column < columns):
            return 0, 0
        at = row * columns + column
        return int(self.goals.starts[at]), int(self.goals.starts[at + 1])

    @property
    def blocked(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Whether each node is marked; (N,)."""
        return self._arrays.blocked.astype(np.bool_)


def move_codes(moves: Moves) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """Return the code that the cells inside each move must hold; (M,).

    It is FREE, or the code of the special obstacle that the move passes.
    """
    kinds = moves.table.kind[moves.actions]
    out: np.ndarray[tuple[int], np.dtype[np.uint8]] = np.where(kinds >= 0, FIRST_KIND + kinds, FREE).astype(np.uint8)
    out.setflags(write=False)
    return out
