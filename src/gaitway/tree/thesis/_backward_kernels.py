"""Compiled loops of the thesis's algorithm 3: the search from the goal back to the root of a tree, and its reset."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.jit import kernel
from gaitway.tree.thesis._mapping_kernels import FREE


class BackwardArrays(NamedTuple):
    """A tree and its gridmaps; N nodes, M moves, K sampled points inside a move."""

    links: npt.NDArray[np.uint32]
    """Parent and move of each node, packed as in `Tree.links`; (N,)."""
    cells: npt.NDArray[np.int32]
    """Cell in which each node ends, or -1 outside the grid; (N,)."""
    middles: npt.NDArray[np.int32]
    """Cells of the sampled points inside the move of each node, or -1 outside the grid; (N, K)."""
    nodes: npt.NDArray[np.int32]
    """Nodes that the goal cells list, as in `GoalMap.nodes`."""
    codes: npt.NDArray[np.uint8]
    """Code that the cells inside each move must hold: FREE, or the code of the special obstacle that the move passes;
    (M,)."""
    grid: npt.NDArray[np.uint8]
    """Code of each cell: FREE, OCCUPIED, or FIRST_KIND plus the number of a kind; (rows * columns,)."""
    blocked: npt.NDArray[np.uint8]
    """1 for nodes that this search has already visited, 0 for others; (N,). No free path leads through a visited node,
    because the search ends as soon as it finds a free path."""


@kernel(borrows=True, inner=True)
def trace_back(arrays: BackwardArrays, node: int) -> tuple[bool, int]:
    """Follow the parents of a node up to the root, and mark every visited node in `blocked`.

    Returns:
        Whether all moves up to the root are free, and the number of cells that were looked up.
    """
    checks, at = 0, np.int64(node)
    while at != 0:
        if arrays.blocked[at]:
            return False, checks
        arrays.blocked[at] = 1
        checks += 1
        cell = arrays.cells[at]
        if cell < 0 or arrays.grid[cell] != FREE:
            return False, checks
        wanted = arrays.codes[arrays.links[at] & 255]
        for k in range(arrays.middles.shape[1]):
            checks += 1
            cell = arrays.middles[at, k]
            if cell < 0 or arrays.grid[cell] != wanted:
                return False, checks
        at = np.int64(arrays.links[at] >> 8)
    return True, checks


@kernel(borrows=True)
def find(handle: ArrayHandle[BackwardArrays], first: int, last: int) -> tuple[int, int, int]:
    """Find the first node in the list of a goal cell whose path to the root is free (algorithm 3).

    Args:
        handle: tree, gridmaps and marks.
        first: first entry of the goal cell in `nodes`.
        last: entry after the last one of the goal cell.

    Returns:
        The node or -1, the number of listed nodes that were tried, and the number of cells that were looked up.
    """
    arrays, checks = handle.value, 0
    for k in range(first, last):
        free, more = trace_back(arrays, int(arrays.nodes[k]))
        checks += more
        if free:
            return int(arrays.nodes[k]), k + 1 - first, checks
    return -1, last - first, checks


@kernel(borrows=True)
def unblock(handle: ArrayHandle[BackwardArrays], first: int, examined: int) -> int:
    """Remove the marks that `find` has set, along the same paths, and return the number of unmarked nodes.

    Args:
        handle: tree, gridmaps and marks.
        first: first entry of the goal cell in `nodes`.
        examined: number of listed nodes that `find` tried.
    """
    arrays, count = handle.value, 0
    for k in range(first, first + examined):
        node = np.int64(arrays.nodes[k])
        while arrays.blocked[node]:
            arrays.blocked[node] = 0
            count += 1
            node = np.int64(arrays.links[node] >> 8)
    return count
