"""The thesis's search at run time: from the goal back to the root, over mapped obstacles (Lau 2009, chapter 4.5).

Algorithm 3 takes a special obstacle's cells for free where a node ends, and wherever an ordinary move is half-way. Here
only a move that passes obstacles of that kind may be there.
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
    """What a search found."""

    node: int
    """Of the tree, or -1."""
    examined: int
    """Nodes of the goal cell's list that were tried."""
    checks: int
    """Cells that were looked up."""


class BackwardSearch:
    """Searches in one tree over one grid. **Mutable**: nodes are marked in a search, and unmarked by `reset`.

    The tree and its gridmaps are shared: only the marks, a byte a node, are its own.

    Attributes:
        grid: what obstacles are mapped to.
    """

    def __init__(self, tree: Tree, environment: EnvironmentMap, goals: GoalMap, grid: MappedGrid | None = None) -> None:
        """Prepare a tree.

        Args:
            tree: of any kind.
            environment: its cells.
            goals: its nodes by goal.
            grid: what obstacles are mapped to, which several searches can share; None makes one.
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
        """The cheapest way of the tree to the cell of a goal in the tree's frame [m]. Call `reset` after it."""
        first, last = self.list_of(goal)
        node, examined, checks = self._find(self._handle, first, last)
        self._examined = (first, examined)
        return BackwardResult(node, examined, checks)

    def reset(self) -> int:
        """Forget what the last search marked, and touch no other node; how many it had marked."""
        out = int(self._unblock(self._handle, *self._examined))
        self._examined = (0, 0)
        return out

    def list_of(self, goal: tuple[float, float]) -> tuple[int, int]:
        """First and one beyond the last entry of a goal's cell in the goal map; an empty list where it lies outside."""
        spec = self.goals.spec
        (x, y), (rows, columns) = spec.origin, spec.shape
        row, column = math.floor((goal[1] - y) / spec.cell), math.floor((goal[0] - x) / spec.cell)
        if not (0 <= row < rows and 0 <= column < columns):
            return 0, 0
        at = row * columns + column
        return int(self.goals.starts[at]), int(self.goals.starts[at + 1])

    @property
    def blocked(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Nodes that are marked; (N,)."""
        return self._arrays.blocked.astype(np.bool_)


def move_codes(moves: Moves) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """What must be in the cell of a move's middle: FREE, or the valid region of what it passes; (M,)."""
    kinds = moves.table.kind[moves.actions]
    out: np.ndarray[tuple[int], np.dtype[np.uint8]] = np.where(kinds >= 0, FIRST_KIND + kinds, FREE).astype(np.uint8)
    out.setflags(write=False)
    return out
