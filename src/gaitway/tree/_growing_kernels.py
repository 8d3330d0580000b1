"""Compiled loops that grow trees. Nothing here draws random numbers: points and orders come from the caller."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway._jit import kernel
from gaitway.arrays import BoolArray, FloatArray, IntArray

HEADINGS = 16
"""That are told apart in a turn where costs are compared."""
_TURN = 2.0 * math.pi
NODES, TRACES, TOTAL = range(3)
"""Numbers of a growth: nodes, traces so far, sum of all counts."""


class MoveArrays(NamedTuple):
    """M moves, see `Moves`; P points along them."""

    moves: FloatArray
    """x, y, turn, cost; (M, 4)."""
    follower_starts: IntArray
    """(M + 2,); entry M is the root's."""
    followers: IntArray
    point_starts: IntArray
    """(M + 1,)."""
    points: FloatArray
    """At most half a cell apart; (P, 2)."""


class Bound(NamedTuple):
    """What ways may cost, by blocks of two by two cells; where a way ends within them is of no account."""

    least: FloatArray
    """Cheapest cost of ending in each block; (R / 2, C / 2)."""
    by_heading: FloatArray
    """The same by heading and what may follow; (R / 2, C / 2, HEADINGS * groups)."""
    groups: IntArray
    """Number of what may follow each move, the root last; (M + 1,)."""
    stretch: FloatArray
    """How many times the least is too much, what is allowed beyond, and beyond the least by heading; (3,)."""


class Growth(NamedTuple):
    """Memory of a tree that grows; up to N nodes in a region of R x C cells."""

    parents: npt.NDArray[np.int32]
    """(N,)."""
    actions: npt.NDArray[np.uint8]
    """(N,)."""
    poses: FloatArray
    """x, y, heading, cost; (N, 4)."""
    depths: npt.NDArray[np.uint8]
    """(N,)."""
    used: npt.NDArray[np.uint64]
    """Followers that each node has, or cannot have, one bit each; (N,)."""
    following: npt.NDArray[np.int32]
    """Next node in the same cell, or -1; (N,)."""
    heads: npt.NDArray[np.int32]
    """First node in each cell that may still grow, or -1; (R, C)."""
    counts: IntArray
    """Moves that go through each cell; (R, C)."""
    seen: IntArray
    """The trace that went through each cell last; (R, C)."""
    frequencies: IntArray
    """How many cells of the region have each count; grows with the counts up to (F,)."""
    numbers: IntArray
    """See `NODES` and the others; (3,)."""


@kernel(borrows=True, inner=True)
def cell_of(x: float, y: float, place: FloatArray) -> tuple[int, int]:
    """Row and column of a point."""
    return math.floor((y - place[1]) * place[2]), math.floor((x - place[0]) * place[2])


@kernel(borrows=True, inner=True)
def trace(
    pose: FloatArray, node: int, move: int, arrays: MoveArrays, inside: BoolArray, place: FloatArray, growth: Growth,
    cells: IntArray,
) -> int:  # fmt: skip
    """Cells that a move goes through, each once: how many, or -1 if one is not in the region.

    Args:
        pose: poses of nodes; (N, 4).
        node: from where.
        move: which.
        arrays: the moves.
        inside: the region; (R, C).
        place: of its cells; (3,).
        growth: its `seen` is written.
        cells: filled with row * C + column.
    """
    rows, columns = inside.shape
    growth.numbers[TRACES] += 1
    stamp = growth.numbers[TRACES]
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
        if growth.seen[row, column] != stamp:
            growth.seen[row, column] = stamp
            cells[found] = row * columns + column
            found += 1
    return found


@kernel(borrows=True)
def change_in_closed_form(cells: IntArray, count: int, growth: Growth, region: int) -> float:
    """What one more in each of some cells does to the density: that is the sum of squares less that of the mean.

    Args:
        cells: (count,) or more.
        count: how many.
        growth: its `counts` and `numbers`.
        region: cells of the region.
    """
    columns, more = growth.counts.shape[1], 0
    for k in range(count):
        more += 2 * growth.counts[cells[k] // columns, cells[k] % columns] + 1
    return float(more - count * (2.0 * growth.numbers[TOTAL] + count) / region)


@kernel(borrows=True)
def density_of(frequencies: IntArray, total: int, region: int) -> float:
    """Formula 4.1 by how many cells have each count."""
    mean, out = total / region, 0.0
    left = region
    for value in range(len(frequencies)):
        if left == 0:
            break
        out += frequencies[value] * (mean - value) * (mean - value)
        left -= frequencies[value]
    return out


@kernel(borrows=True)
def shift(cells: IntArray, count: int, growth: Growth, by: int) -> None:
    """Move cells to the next count (by = 1), or back (by = -1), in the frequencies alone."""
    columns = growth.counts.shape[1]
    for k in range(count):
        value = growth.counts[cells[k] // columns, cells[k] % columns]
        growth.frequencies[value] -= by
        growth.frequencies[value + 1] += by


@kernel(borrows=True)
def change_by_frequencies(cells: IntArray, count: int, growth: Growth, region: int) -> float:
    """As `change_in_closed_form`, in the thesis's way."""
    before = density_of(growth.frequencies, growth.numbers[TOTAL], region)
    shift(cells, count, growth, 1)
    after = density_of(growth.frequencies, growth.numbers[TOTAL] + count, region)
    shift(cells, count, growth, -1)
    return after - before


@kernel(borrows=True, inner=True)
def nearest(x: float, y: float, growth: Growth, place: FloatArray) -> int:
    """The node nearest to a point of those that may still grow, the first of equals, or -1.

    Rings of cells around the point, until no farther one can hold a nearer node.
    """
    rows, columns = growth.heads.shape
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
def take_off(node: int, growth: Growth, place: FloatArray) -> None:
    """Take a node that can grow no more off the list of its cell."""
    row, column = cell_of(growth.poses[node, 0], growth.poses[node, 1], place)
    if growth.heads[row, column] == node:
        growth.heads[row, column] = growth.following[node]
        return
    before = growth.heads[row, column]
    while growth.following[before] != node:
        before = growth.following[before]
    growth.following[before] = growth.following[node]


@kernel(borrows=True, inner=True)
def full(node: int, growth: Growth, arrays: MoveArrays) -> bool:
    """Whether a node has all followers that it can have."""
    move = len(arrays.moves) if node == 0 else np.int64(growth.actions[node])
    count = arrays.follower_starts[move + 1] - arrays.follower_starts[move]
    every = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - count) if count > 0 else np.uint64(0)
    return bool(growth.used[node] == every)


@kernel(borrows=True, inner=True)
def too_dear(node: int, move: int, growth: Growth, arrays: MoveArrays, place: FloatArray, bound: Bound) -> bool:
    """Whether a move ends where one can get for much less, and it is not the cheapest way to get there facing so."""
    cosine, sine = math.cos(growth.poses[node, 2]), math.sin(growth.poses[node, 2])
    x, y = arrays.moves[move, 0], arrays.moves[move, 1]
    row, column = cell_of(
        growth.poses[node, 0] + cosine * x - sine * y, growth.poses[node, 1] + sine * x + cosine * y, place
    )
    cost = growth.poses[node, 3] + arrays.moves[move, 3]
    if cost <= bound.stretch[0] * bound.least[row // 2, column // 2] + bound.stretch[1]:
        return False
    part = part_of(
        growth.poses[node, 2] + arrays.moves[move, 2], bound.groups[move], bound.by_heading.shape[2] // HEADINGS
    )
    return bool(cost > bound.by_heading[row // 2, column // 2, part] + bound.stretch[2])


@kernel(borrows=True, inner=True)
def part_of(heading: float, group: int, groups: int) -> int:
    """Number of a heading and what may follow, see `Bound`."""
    return math.floor(heading / _TURN * HEADINGS + 0.5) % HEADINGS * groups + group


@kernel(borrows=True, inner=True)
def add(
    node: int, slot: int, move: int, arrays: MoveArrays, place: FloatArray, growth: Growth, expandable: bool
) -> int:
    """A new node, after a move that is the given follower of another: its number."""
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
    if expandable and not full(number, growth, arrays):
        row, column = cell_of(poses[number, 0], poses[number, 1], place)
        growth.following[number] = growth.heads[row, column]
        growth.heads[row, column] = number
    return number


@kernel(borrows=True)
def count_cells(cells: IntArray, count: int, growth: Growth, by_frequencies: bool) -> None:
    """One more in each of some cells."""
    columns = growth.counts.shape[1]
    if by_frequencies:
        shift(cells, count, growth, 1)
    for k in range(count):
        row, column = cells[k] // columns, cells[k] % columns
        growth.counts[row, column] += 1
    growth.numbers[TOTAL] += count


@kernel(borrows=True)
def grow_diverse(
    samples: FloatArray,
    nodes: int,
    levels: int,
    arrays: MoveArrays,
    inside: BoolArray,
    place: FloatArray,
    region: int,
    bound: Bound,
    by_frequencies: bool,
    growth: Growth,
    cells: IntArray,
) -> bool:
    """Algorithm 2: one node for each sample at most, until there are enough. Whether more samples may add more.

    Args:
        samples: random points of the region; (K, 2).
        nodes: how many the tree is to have.
        levels: most moves from the root.
        arrays: the moves.
        inside: the region; (R, C).
        place: of its cells; (3,).
        region: how many cells it has.
        bound: on costs.
        by_frequencies: whether to compute densities in the thesis's way.
        growth: the tree.
        cells: memory for as many cells as there are points.
    """
    for k in range(len(samples)):
        if growth.numbers[NODES] >= nodes:
            return False
        node = nearest(samples[k, 0], samples[k, 1], growth, place)
        if node < 0:
            return False
        before = len(arrays.moves) if node == 0 else np.int64(growth.actions[node])
        first, best, lowest = arrays.follower_starts[before], -1, np.inf
        for slot in range(arrays.follower_starts[before + 1] - first):
            bit = np.uint64(1) << np.uint64(slot)
            if growth.used[node] & bit:
                continue
            move = arrays.followers[first + slot]
            count = trace(growth.poses, node, move, arrays, inside, place, growth, cells)
            if count < 0 or too_dear(node, move, growth, arrays, place, bound):
                growth.used[node] |= bit
                continue
            if by_frequencies:
                change = change_by_frequencies(cells, count, growth, region) / count
            else:
                change = change_in_closed_form(cells, count, growth, region) / count
            if change < lowest:
                best, lowest = slot, change
        if best >= 0:
            move = arrays.followers[first + best]
            count = trace(growth.poses, node, move, arrays, inside, place, growth, cells)
            count_cells(cells, count, growth, by_frequencies)
            add(node, best, move, arrays, place, growth, growth.depths[node] + 1 < levels)
        if full(node, growth, arrays):
            take_off(node, growth, place)
    return bool(growth.numbers[NODES] < nodes)


@kernel
def grow_level(
    parents: IntArray,
    starts: IntArray,
    order: IntArray,
    nodes: int,
    most: int,
    arrays: MoveArrays,
    inside: BoolArray,
    place: FloatArray,
    occupants: IntArray,
    growth: Growth,
) -> None:
    """Add children of some nodes in a given order, if fewer than so many nodes are in their cell (chapter 4.2.2).

    Args:
        parents: the nodes; (L,).
        starts: first child of each in `order`'s numbering, and all of them at the end; (L + 1,).
        order: numbers of children, each once; (starts[-1],).
        nodes: most of the tree.
        most: nodes in a cell.
        arrays: the moves.
        inside: the region; (R, C).
        place: of its cells; (3,).
        occupants: nodes in each cell; (R, C), written.
        growth: the tree.
    """
    cells = np.zeros(len(arrays.points), np.int64)
    for k in range(len(order)):
        if growth.numbers[NODES] >= nodes:
            return
        at = np.searchsorted(starts, order[k], side="right") - 1
        node, slot = parents[at], order[k] - starts[at]
        before = len(arrays.moves) if node == 0 else np.int64(growth.actions[node])
        move = arrays.followers[arrays.follower_starts[before] + slot]
        count = trace(growth.poses, node, move, arrays, inside, place, growth, cells)
        if count < 0:
            continue
        # the last point of a move is its end, though not always the last new cell of its trace
        last = arrays.point_starts[move + 1] - 1
        cosine, sine = math.cos(growth.poses[node, 2]), math.sin(growth.poses[node, 2])
        x, y = arrays.points[last, 0], arrays.points[last, 1]
        row, column = cell_of(
            growth.poses[node, 0] + cosine * x - sine * y, growth.poses[node, 1] + sine * x + cosine * y, place
        )
        if occupants[row, column] < most:
            occupants[row, column] += 1
            count_cells(cells, count, growth, False)
            add(node, slot, move, arrays, place, growth, False)


@kernel
def coverage(
    poses: FloatArray, parents: IntArray, actions: IntArray, arrays: MoveArrays, inside: BoolArray, place: FloatArray,
    growth: Growth,
) -> int:  # fmt: skip
    """Count the moves of a tree through each cell; how many leave the region, which are not counted.

    Args:
        poses: of the nodes; (N, 4).
        parents: (N,).
        actions: (N,).
        arrays: the moves.
        inside: the region; (R, C).
        place: of its cells; (3,).
        growth: an empty one.
    """
    cells, outside = np.zeros(len(arrays.points), np.int64), 0
    for node in range(1, len(parents)):
        count = trace(poses, parents[node], actions[node], arrays, inside, place, growth, cells)
        if count < 0:
            outside += 1
        else:
            count_cells(cells, count, growth, False)
    return outside
