"""Compiled loop of a plain A* search over the moves of a tree. It checks the same cells as the tree's own search."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core._heap_kernels import pop, push
from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.tree.thesis._mapping_kernels import FREE

_TURN = 2.0 * math.pi
_CLOSER = 1e-9
"""Difference of two costs below which they count as equal."""
PLACE_X, PLACE_Y, PER_METRE, PER_BIN, RATE = range(5)
"""Entries of `ForwardArrays.numbers`: x and y of the lower left corner of the grid [m], cells per metre, bins per
metre, least cost of a metre."""


class ForwardArrays(NamedTuple):
    """Moves and memory of a search.

    M is the number of moves, K of the sampled points inside a move, N of nodes. Bins have R rows, C columns, H headings
    and G groups of moves.
    """

    moves: FloatArray
    """Displacement x, y [m], turn [rad] and cost of each move; (M, 4)."""
    middles: FloatArray
    """Sampled points inside each move, in the frame of its start: x, y [m]; (M, K, 2)."""
    codes: npt.NDArray[np.uint8]
    """Code that the cells of these points must hold, see `move_codes`; (M,)."""
    follower_starts: IntArray
    """First entry of each move in `followers`, of the root as entry M, and their number at the end; (M + 2,)."""
    followers: IntArray
    """Moves that may follow each move."""
    groups: IntArray
    """Group of each move, the root last; moves with the same followers are in one group; (M + 1,)."""
    grid: npt.NDArray[np.uint8]
    """Code of each cell: FREE, OCCUPIED, or FIRST_KIND plus the number of a kind; (rows, columns)."""
    numbers: FloatArray
    """Constants of the search, in the order of `PLACE_X` to `RATE`; (5,)."""
    poses: FloatArray
    """x, y [m], heading [rad] and cost of each node; (N, 4)."""
    links: npt.NDArray[np.int32]
    """Parent and move of each node; (N, 2)."""
    keys: FloatArray
    """Keys of the nodes in the queue: cost plus weighted estimate; (N,)."""
    heap: npt.NDArray[np.int32]
    """Nodes in the queue, as a binary heap; (N,)."""
    best: FloatArray
    """Least cost of a node in each bin; (R, C, H, G)."""
    stamps: npt.NDArray[np.int32]
    """Number of the search that wrote the cost of each bin; (R, C, H, G)."""


@kernel(borrows=True, inner=True)
def holds(arrays: ForwardArrays, x: float, y: float, wanted: int) -> bool:
    """Return whether the cell of a point x, y [m] holds the wanted code. A point outside the grid returns False."""
    numbers, (rows, columns) = arrays.numbers, arrays.grid.shape
    row = math.floor((y - numbers[PLACE_Y]) * numbers[PER_METRE])
    column = math.floor((x - numbers[PLACE_X]) * numbers[PER_METRE])
    return bool(0 <= row < rows and 0 <= column < columns and arrays.grid[row, column] == wanted)


@kernel(borrows=True, inner=True)
def bin_of(arrays: ForwardArrays, x: float, y: float, heading: float) -> tuple[int, int, int]:
    """Return row, column and heading number of the bin of a pose x, y [m], heading [rad] that lies in the grid."""
    numbers, headings = arrays.numbers, arrays.best.shape[2]
    turned = math.floor(heading / _TURN * headings + 0.5) % headings
    row = math.floor((y - numbers[PLACE_Y]) * numbers[PER_BIN])
    return row, math.floor((x - numbers[PLACE_X]) * numbers[PER_BIN]), turned


@kernel(borrows=True, inner=True)
def away(square: FloatArray, x: float, y: float) -> float:
    """Return the distance from a point x, y to a square (xmin, ymin, xmax, ymax), 0 inside it [m]."""
    dx = max(square[0] - x, x - square[2], 0.0)
    dy = max(square[1] - y, y - square[3], 0.0)
    return math.sqrt(dx * dx + dy * dy)


@kernel(borrows=True)
def search(
    handle: ArrayHandle[ForwardArrays], goal: ArrayHandle[FloatArray], weight: float, stamp: int
) -> tuple[int, int, int]:
    """Search for the cheapest path from the origin to a square by A*. The estimate is the straight distance.

    Only the cheapest node of each bin is expanded.

    Args:
        handle: moves, grid and memory.
        goal: square that the path must end in: xmin, ymin, xmax, ymax [m]; (4,).
        weight: factor of the estimate.
        stamp: number of the search; every search needs a new one.

    Returns:
        The last node of the path or -1 (-2 if the memory is full), the number of expanded nodes, and the number of
        cells that were looked up.
    """
    arrays, square = handle.value, goal.value
    poses, links, keys, heap, best, stamps = (
        arrays.poses, arrays.links, arrays.keys, arrays.heap, arrays.best, arrays.stamps
    )  # fmt: skip
    rate = weight * arrays.numbers[RATE]
    poses[0, 0], poses[0, 1], poses[0, 2], poses[0, 3] = 0.0, 0.0, 0.0, 0.0
    links[0, 0], links[0, 1], keys[0], heap[0] = -1, len(arrays.moves), 0.0, 0
    nodes, waiting, expanded, checks = 1, 1, 0, 0
    while waiting > 0:
        waiting -= 1
        node = pop(keys, heap, waiting)
        x, y, heading, cost = poses[node, 0], poses[node, 1], poses[node, 2], poses[node, 3]
        before = links[node, 1]
        if node > 0:
            i, j, k = bin_of(arrays, x, y, heading)
            if best[i, j, k, arrays.groups[before]] < cost - _CLOSER:
                continue
        if away(square, x, y) <= 0.0:
            return node, expanded, checks
        expanded += 1
        cosine, sine = math.cos(heading), math.sin(heading)
        for place in range(arrays.follower_starts[before], arrays.follower_starts[before + 1]):
            move = arrays.followers[place]
            u, v = arrays.moves[move, 0], arrays.moves[move, 1]
            to_x, to_y, turned = x + cosine * u - sine * v, y + sine * u + cosine * v, heading + arrays.moves[move, 2]
            checks += 1
            if not holds(arrays, to_x, to_y, FREE):
                continue
            i, j, k = bin_of(arrays, to_x, to_y, turned)
            total, group = cost + arrays.moves[move, 3], arrays.groups[move]
            if stamps[i, j, k, group] == stamp and best[i, j, k, group] <= total:
                continue
            free = True
            for part in range(arrays.middles.shape[1]):
                u, v = arrays.middles[move, part, 0], arrays.middles[move, part, 1]
                checks += 1
                if not holds(arrays, x + cosine * u - sine * v, y + sine * u + cosine * v, arrays.codes[move]):
                    free = False
                    break
            if not free:
                continue
            if nodes == len(poses):
                return -2, expanded, checks
            stamps[i, j, k, group], best[i, j, k, group] = stamp, total
            poses[nodes, 0], poses[nodes, 1], poses[nodes, 2], poses[nodes, 3] = to_x, to_y, turned, total
            links[nodes, 0], links[nodes, 1] = node, move
            push(keys, heap, waiting, total + rate * away(square, to_x, to_y), nodes)
            waiting, nodes = waiting + 1, nodes + 1
    return -1, expanded, checks
