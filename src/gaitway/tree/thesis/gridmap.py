"""Gridmaps of a tree: the cells of its nodes and moves, and the nodes near each goal (Lau 2009, chapter 4.3)."""

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
"""Side of the cells of a goal gridmap, and side of the square around each cell whose nodes the cell lists [m]. The
thesis used 45 to 90 cm and 105 to 210 cm."""
NOWHERE = -1
"""Cell number of a point outside the grid. A search must treat it as occupied."""


@dataclass(frozen=True, eq=False)
class EnvironmentMap:
    """Cells of the N nodes of a tree, so that collision checks only look up cells."""

    spec: GridSpec
    """Grid that obstacles are mapped to, in the tree's frame."""
    cells: npt.NDArray[np.int32]
    """Cell (row * columns + column) in which each node ends, or NOWHERE; (N,)."""
    middles: npt.NDArray[np.int32]
    """Cells of points inside the move of each node, at equal intervals of time, or NOWHERE; (N, parts - 1). For a
    special move, only the point at which it passes its obstacle."""

    @staticmethod
    def of(tree: Tree, cell: float = 0.28, parts: int = 2) -> EnvironmentMap:
        """Build the environment gridmap of a tree.

        Args:
            tree: tree of any kind.
            cell: side of the cells [m].
            parts: number of parts that each move is divided into. The thesis samples a move at half its time, which is
                2 parts. With too few parts a wall can lie between two samples; see `parts_for`.
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
    """Return the number of parts that moves must be divided into so that samples are at most one cell apart.

    With this number, no move can jump over a wall.

    Args:
        tree: tree of any kind.
        cell: side of the cells [m].
    """
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
    """Nodes of a tree by the cell in which they end, the cheapest first.

    A cell lists the nodes in a square around its centre. These squares overlap, so several cells list the same node.
    """

    spec: GridSpec
    """Goal cells, in the tree's frame."""
    overlap: float
    """Side of the square around the centre of a cell whose nodes the cell lists [m]."""
    starts: IntArray
    """First entry of each cell in `nodes`, and their number at the end; (cells + 1,)."""
    nodes: npt.NDArray[np.int32]
    """Nodes sorted by cell (row * columns + column), then by cost, then by their order in the tree; (entries,)."""

    @staticmethod
    def of(tree: Tree, cell: float = GOAL_CELL, overlap: float = GOAL_OVERLAP) -> GoalMap:
        """Build the goal gridmap of a tree.

        Args:
            tree: tree of any kind.
            cell: side of the cells [m].
            overlap: side of the squares around the cells [m]; give the value of `cell` for squares that do not overlap.

        Raises:
            TreeError: if the squares are smaller than the cells, or a side is not a length above 0.
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
        """Memory of the lists [bytes]."""
        return self.starts.nbytes + self.nodes.nbytes

    def near(self, goal: tuple[float, float]) -> npt.NDArray[np.int32]:
        """Return the nodes near a goal, the cheapest first, or an empty array if the goal lies outside the map.

        Args:
            goal: goal in the tree's frame: x, y [m].
        """
        (x, y), (rows, columns) = self.spec.origin, self.spec.shape
        row, column = math.floor((goal[1] - y) / self.spec.cell), math.floor((goal[0] - x) / self.spec.cell)
        if not (0 <= row < rows and 0 <= column < columns):
            return self.nodes[:0]
        cell = row * columns + column
        return self.nodes[self.starts[cell] : self.starts[cell + 1]]


def _covering(tree: Tree, cell: float) -> GridSpec:
    """Return a grid that covers the whole region of a tree, with cells of the given side [m]."""
    if not (math.isfinite(cell) and cell > 0.0):
        raise TreeError(f"grid over a tree with cells of {cell} m; write a length above 0")
    (x, y), (rows, columns), side = tree.region.spec.origin, tree.region.spec.shape, tree.region.spec.cell
    return GridSpec.covering((x, y, x + side * columns, y + side * rows), cell)
