"""Grids over a tree: where its nodes and the middles of their moves lie, and which nodes end near each goal (4.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import IntArray, read_only
from gaitway.core.errors import TreeError
from gaitway.tree.model import Tree
from gaitway.tree.thesis import _gridmap_kernels as kernels
from gaitway.world.grid import GridSpec

GOAL_CELL, GOAL_OVERLAP = 0.9, 2.1
"""Sides of the cells of a goal gridmap, and of the squares around them whose nodes they list [m]; the thesis used 45 to
90 cm and 105 to 210 cm."""
NOWHERE = -1
"""Cell of what lies outside the grid; a search must take it for occupied."""


@dataclass(frozen=True, eq=False)
class EnvironmentMap:
    """Cells of the N nodes of a tree, for collision checks by looking up cells alone."""

    spec: GridSpec
    """Cells that obstacles are mapped to, in the tree's frame."""
    cells: npt.NDArray[np.int32]
    """Cell (row * columns + column) in which each node ends, or NOWHERE; (N,)."""
    middles: npt.NDArray[np.int32]
    """Cells of places in between, at equal times; of a special move where it passes its obstacle; (N, parts - 1)."""

    @staticmethod
    def of(tree: Tree, cell: float = 0.28, parts: int = 2) -> EnvironmentMap:
        """Of a tree.

        Args:
            tree: of any kind.
            cell: side of the cells [m].
            parts: into how many a move is cut. The thesis's midtime is 2; a wall can lie between two samples unless
                there are enough, see `parts_for`.
        """
        spec = _covering(tree, cell)
        middles = tree.moves.middles(parts)
        poses = tree.unfold().poses
        place = np.array([*spec.origin, 1.0 / cell])
        cells, between = kernels.cells_of_nodes(
            read_only(poses), read_only(tree.parents), read_only(tree.actions), read_only(middles), read_only(place),
            *spec.shape,
        )  # fmt: skip
        for array in (cells, between):
            array.setflags(write=False)
        return EnvironmentMap(spec, cells, between)


def parts_for(tree: Tree, cell: float) -> int:
    """Into how many parts moves must be cut so that samples are at most a cell apart: then none jumps over a wall."""
    table, rows, most = tree.moves.table, tree.moves.actions, 2
    for row in rows.tolist():
        part = slice(int(table.sample_starts[row]), int(table.sample_starts[row + 1]))
        ways = np.hypot(*np.diff(table.samples[part, :2], axis=0).T)
        spans = np.diff(table.sample_times[part])
        fastest = float((ways / np.maximum(spans, 1e-9)).max())
        most = max(most, math.ceil(fastest * float(table.durations[row]) / cell))
    return most


@dataclass(frozen=True, eq=False)
class GoalMap:
    """Nodes by where they end, the cheapest first. Squares around cells overlap, so that nodes are in several."""

    spec: GridSpec
    overlap: float
    """Side of the square around the middle of a cell whose nodes it lists [m]."""
    starts: IntArray
    """First entry of each cell in `nodes`, and their number at the end; (cells + 1,)."""
    nodes: npt.NDArray[np.int32]
    """By cell (row * columns + column), then by cost, then in the order of the tree."""

    @staticmethod
    def of(tree: Tree, cell: float = GOAL_CELL, overlap: float = GOAL_OVERLAP) -> GoalMap:
        """Of a tree.

        Args:
            tree: of any kind.
            cell: side of the cells [m].
            overlap: side of the squares; `cell` for cells that do not overlap [m].
        """
        if not (math.isfinite(overlap) and overlap >= cell > 0.0):
            raise TreeError(f"goal cells of {cell} m in squares of {overlap} m; squares must be as large as cells")
        spec = _covering(tree, cell)
        order = np.lexsort((np.arange(len(tree)), tree.prices)).astype(np.int32)
        starts, nodes = kernels.goal_lists(
            read_only(tree.points),
            order,
            *spec.shape,
            *spec.origin,
            cell,
            0.5 * overlap,
        )
        for array in (starts, nodes):
            array.setflags(write=False)
        return GoalMap(spec, overlap, starts, nodes)

    @property
    def nbytes(self) -> int:
        """Memory of the lists."""
        return self.starts.nbytes + self.nodes.nbytes

    def near(self, goal: tuple[float, float]) -> npt.NDArray[np.int32]:
        """Nodes near a goal in the tree's frame [m], the cheapest first; none if it lies outside."""
        (x, y), (rows, columns) = self.spec.origin, self.spec.shape
        row, column = math.floor((goal[1] - y) / self.spec.cell), math.floor((goal[0] - x) / self.spec.cell)
        if not (0 <= row < rows and 0 <= column < columns):
            return self.nodes[:0]
        cell = row * columns + column
        return self.nodes[self.starts[cell] : self.starts[cell + 1]]


def _covering(tree: Tree, cell: float) -> GridSpec:
    """Cells over all of a tree's region."""
    if not (math.isfinite(cell) and cell > 0.0):
        raise TreeError(f"grid over a tree with cells of {cell} m; write a length above 0")
    (x, y), (rows, columns), side = tree.region.spec.origin, tree.region.spec.shape, tree.region.spec.cell
    return GridSpec.covering((x, y, x + side * columns, y + side * rows), cell)
