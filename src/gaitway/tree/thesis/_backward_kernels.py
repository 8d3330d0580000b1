"""Compiled loops of algorithm 3: from the goal back to the root of a tree, and the reset."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.jit import kernel
from gaitway.tree.thesis._mapping_kernels import FREE


class BackwardArrays(NamedTuple):
    """A tree and its gridmaps; N nodes, M moves."""

    links: npt.NDArray[np.uint32]
    """Parent and move, see `Tree`; (N,)."""
    cells: npt.NDArray[np.int32]
    """Where each node ends; (N,)."""
    middles: npt.NDArray[np.int32]
    """Where it is in between; (N, K)."""
    nodes: npt.NDArray[np.int32]
    """Of all goal cells, see `GoalMap`."""
    codes: npt.NDArray[np.uint8]
    """What must be in the cells in between: FREE, or what a special move passes; (M,)."""
    grid: npt.NDArray[np.uint8]
    """What is in each cell."""
    blocked: npt.NDArray[np.uint8]
    """1 for nodes that are known to lead nowhere; (N,)."""


@kernel(borrows=True, inner=True)
def trace_back(arrays: BackwardArrays, node: int) -> tuple[bool, int]:
    """Follow parents from a node up to the root: whether it gets there, and cells that were looked up."""
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
    """Algorithm 3: the first node of a goal cell from which a way leads back to the root.

    Args:
        handle: the tree.
        first: of the goal cell's nodes.
        last: one beyond them.

    Returns:
        The node or -1, how many nodes of the list were looked at, and how many cells were looked up.
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
    """Take away what `find` marked, along the same ways; how many nodes that were."""
    arrays, count = handle.value, 0
    for k in range(first, first + examined):
        node = np.int64(arrays.nodes[k])
        while arrays.blocked[node]:
            arrays.blocked[node] = 0
            count += 1
            node = np.int64(arrays.links[node] >> 8)
    return count
