"""A growing tree as kernels see it: its moves, its nodes by cell, and the cells that moves go through."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.jit import kernel

NODES, TRACES, TOTAL = range(3)
"""Numbers of a growth: nodes, traces so far, sum of all counts."""


class MoveArrays(NamedTuple):
    """M moves, see `Moves`; P points along them."""

    moves: FloatArray
    """Displacement x, y [m], turn [rad] and cost of each move; (M, 4)."""
    follower_starts: IntArray
    """First entry of each move in `followers`, of the root as entry M, and their number at the end; (M + 2,)."""
    followers: IntArray
    point_starts: IntArray
    """First point of each move in `points`, and their number at the end; (M + 1,)."""
    points: FloatArray
    """Points along the moves, at most half a cell apart: x, y [m]; (P, 2)."""
    stops: BoolArray
    """Whether each move comes to rest; (M,)."""


class Growth(NamedTuple):
    """Memory of a growing tree; up to N nodes in a region of R x C cells."""

    parents: npt.NDArray[np.int32]
    """Parent of each node; (N,)."""
    actions: npt.NDArray[np.uint8]
    """Move of each node; (N,)."""
    poses: FloatArray
    """x, y [m], heading [rad] and cost of each node; (N, 4)."""
    depths: npt.NDArray[np.uint8]
    """Number of moves from the root to each node; (N,)."""
    used: npt.NDArray[np.uint64]
    """Followers that each node has, or cannot have, one bit each; (N,)."""
    following: npt.NDArray[np.int32]
    """Next node in the same cell, or -1; (N,)."""
    heads: npt.NDArray[np.int32]
    """First node in each small cell that may still grow, or -1; (a * R, a * C)."""
    near: FloatArray
    """Place of these small cells, as that of a region; (3,)."""
    counts: npt.NDArray[np.int32]
    """Number of moves that go through each cell; (R * C,)."""
    seen: npt.NDArray[np.uint32]
    """Number of the trace that went through each cell last; (R * C,)."""
    frequencies: IntArray
    """Number of cells of the region that have each count; (F,)."""
    numbers: IntArray
    """See `NODES` and the others; (3,)."""


@kernel(borrows=True, inner=True)
def cell_of(x: float, y: float, place: FloatArray) -> tuple[int, int]:
    """Return row and column of a point."""
    return math.floor((y - place[1]) * place[2]), math.floor((x - place[0]) * place[2])


@kernel(borrows=True, inner=True)
def trace(
    pose: FloatArray, node: int, move: int, arrays: MoveArrays, inside: BoolArray, place: FloatArray, growth: Growth,
    cells: IntArray,
) -> int:  # fmt: skip
    """Find the cells that a move goes through, each once; return their number, or -1 if one is not in the region.

    Args:
        pose: poses of nodes; (N, 4).
        node: node at which the move begins.
        move: number of the move.
        arrays: the moves.
        inside: the region; (R, C).
        place: lower left corner of the region's cells: x, y [m], and cells per metre; (3,).
        growth: memory of the growing tree; its `seen` is written.
        cells: receives the cells: row * C + column.
    """
    rows, columns = inside.shape
    growth.numbers[TRACES] += 1
    stamp = np.uint32(growth.numbers[TRACES])
    x, y = pose[node, 0], pose[node, 1]
    cosine, sine = math.cos(pose[node, 2]), math.sin(pose[node, 2])
    found, last_row, last_column = 0, -2, -2
    for k in range(arrays.point_starts[move], arrays.point_starts[move + 1]):
        along, across = arrays.points[k, 0], arrays.points[k, 1]
        row, column = cell_of(x + cosine * along - sine * across, y + sine * along + cosine * across, place)
        if row == last_row and column == last_column:
            continue
        last_row, last_column = row, column
        if row < 0 or column < 0 or row >= rows or column >= columns or not inside[row, column]:
            return -1
        cell = row * columns + column
        if growth.seen[cell] != stamp:
            growth.seen[cell] = stamp
            cells[found] = cell
            found += 1
    return found


@kernel(borrows=True, inner=True)
def nearest(x: float, y: float, growth: Growth) -> int:
    """Return the nearest node to a point of those that may still grow, the first of equals, or -1.

    Rings of cells around the point are searched, until no farther ring can hold a nearer node.
    """
    (rows, columns), place = growth.heads.shape, growth.near
    row, column = cell_of(x, y, place)
    side = 1.0 / place[2]
    across, along = (y - place[1]) * place[2] - row, (x - place[0]) * place[2] - column
    margin = min(across, 1.0 - across, along, 1.0 - along)
    best, least = -1, np.inf
    for ring in range(max(rows, columns) + 1):
        if best >= 0 and ring > 0 and least < ((ring - 1 + margin) * side) ** 2:
            break
        for i in range(max(row - ring, 0), min(row + ring, rows - 1) + 1):
            step = 1 if i == row - ring or i == row + ring else max(2 * ring, 1)
            for j in range(column - ring, column + ring + 1, step):
                if 0 <= j < columns:
                    node = growth.heads[i, j]
                    while node >= 0:
                        away = (growth.poses[node, 0] - x) ** 2 + (growth.poses[node, 1] - y) ** 2
                        if away < least or (away == least and node < best):
                            best, least = node, away
                        node = growth.following[node]
    return best


@kernel(borrows=True, inner=True)
def follower_range(node: int, growth: Growth, arrays: MoveArrays) -> tuple[int, int]:
    """Return the first follower of a node, and the number of followers."""
    move = len(arrays.moves) if node == 0 else np.int64(growth.actions[node])
    first = arrays.follower_starts[move]
    return first, arrays.follower_starts[move + 1] - first


@kernel(borrows=True, inner=True)
def full(node: int, growth: Growth, arrays: MoveArrays) -> bool:
    """Return whether a node has all followers that it can have."""
    _, count = follower_range(node, growth, arrays)
    every = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - count) if count > 0 else np.uint64(0)
    return bool(growth.used[node] == every)


@kernel(borrows=True, inner=True)
def add(node: int, slot: int, move: int, arrays: MoveArrays, growth: Growth) -> int:
    """Add a node after a move that is the given follower of another; return its number."""
    number = int(growth.numbers[NODES])
    growth.numbers[NODES] += 1
    growth.used[node] |= np.uint64(1) << np.uint64(slot)
    poses, x, y = growth.poses, arrays.moves[move, 0], arrays.moves[move, 1]
    cosine, sine = math.cos(poses[node, 2]), math.sin(poses[node, 2])
    poses[number, 0] = poses[node, 0] + cosine * x - sine * y
    poses[number, 1] = poses[node, 1] + sine * x + cosine * y
    poses[number, 2] = poses[node, 2] + arrays.moves[move, 2]
    poses[number, 3] = poses[node, 3] + arrays.moves[move, 3]
    growth.parents[number], growth.actions[number] = node, move
    growth.depths[number] = growth.depths[node] + 1
    return number


@kernel(borrows=True, inner=True)
def enlist(node: int, growth: Growth) -> None:
    """Put a node that may grow onto the list of its cell."""
    row, column = cell_of(growth.poses[node, 0], growth.poses[node, 1], growth.near)
    growth.following[node] = growth.heads[row, column]
    growth.heads[row, column] = node


@kernel(borrows=True, inner=True)
def take_off(node: int, growth: Growth) -> None:
    """Take a node that can grow no more off the list of its cell."""
    row, column = cell_of(growth.poses[node, 0], growth.poses[node, 1], growth.near)
    if growth.heads[row, column] == node:
        growth.heads[row, column] = growth.following[node]
        return
    before = growth.heads[row, column]
    while growth.following[before] != node:
        before = growth.following[before]
    growth.following[before] = growth.following[node]
