"""Compiled loops that grow trees. Nothing here draws random numbers: points and orders come from the caller."""

from __future__ import annotations

import heapq
import math
from typing import NamedTuple

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.tree.building._density_kernels import change_by_frequencies, change_in_closed_form, count_cells
from gaitway.tree.building._growth_kernels import (
    NODES,
    Growth,
    MoveArrays,
    add,
    cell_of,
    enlist,
    follower_range,
    full,
    nearest,
    take_off,
    trace,
)

HEADINGS = 16
"""Number of headings that are told apart where costs are compared."""
_TURN = 2.0 * math.pi


class Bound(NamedTuple):
    """Bounds on the costs of paths, by blocks of two by two cells."""

    least: FloatArray
    """Least cost of a path that ends in each block; (R / 2, C / 2)."""
    by_heading: FloatArray
    """The same by heading and what may follow; (R / 2, C / 2, HEADINGS * groups)."""
    groups: IntArray
    """Number of what may follow each move, the root last; (M + 1,)."""
    stretch: FloatArray
    """Largest multiple of the least cost, slack beyond it, and slack beyond the least cost by heading; (3,)."""


@kernel(borrows=True, inner=True)
def too_dear(
    node: int, move: int, growth: Growth, arrays: MoveArrays, inside: BoolArray, place: FloatArray, bound: Bound
) -> bool:
    """Return whether a move costs much more than the cheapest path to its end, and more than the cheapest by heading.

    A move must not end outside the region at all.
    """
    cosine, sine = math.cos(growth.poses[node, 2]), math.sin(growth.poses[node, 2])
    x, y = arrays.moves[move, 0], arrays.moves[move, 1]
    row, column = cell_of(
        growth.poses[node, 0] + cosine * x - sine * y, growth.poses[node, 1] + sine * x + cosine * y, place
    )
    rows, columns = inside.shape
    if row < 0 or column < 0 or row >= rows or column >= columns or not inside[row, column]:
        return True
    cost = growth.poses[node, 3] + arrays.moves[move, 3]
    if cost <= bound.stretch[0] * bound.least[row // 2, column // 2] + bound.stretch[1]:
        return False
    part = part_of(
        growth.poses[node, 2] + arrays.moves[move, 2], bound.groups[move], bound.by_heading.shape[2] // HEADINGS
    )
    return bool(cost > bound.by_heading[row // 2, column // 2, part] + bound.stretch[2])


@kernel(borrows=True, inner=True)
def part_of(heading: float, group: int, groups: int) -> int:
    """Return the number of a heading and a group of followers, see `Bound`."""
    return math.floor(heading / _TURN * HEADINGS + 0.5) % HEADINGS * groups + group


@kernel(borrows=True, inner=True)
def best_follower(
    node: int, arrays: MoveArrays, inside: BoolArray, place: FloatArray, region: int, bound: Bound,
    by_frequencies: bool, growth: Growth, cells: IntArray,
) -> int:  # fmt: skip
    """Return the follower of a node that increases the density least for each cell, or -1; mark impossible ones."""
    first, count = follower_range(node, growth, arrays)
    best, lowest = -1, np.inf
    for slot in range(count):
        bit = np.uint64(1) << np.uint64(slot)
        if growth.used[node] & bit:
            continue
        move = arrays.followers[first + slot]
        if too_dear(node, move, growth, arrays, inside, place, bound):
            growth.used[node] |= bit
            continue
        length = trace(growth.poses, node, move, arrays, inside, place, growth, cells)
        if length < 0:
            growth.used[node] |= bit
            continue
        if by_frequencies:
            change = change_by_frequencies(cells, length, growth, region) / length
        else:
            change = change_in_closed_form(cells, length, growth, region) / length
        if change < lowest:
            best, lowest = slot, change
    return best


@kernel(borrows=True, inner=True)
def add_stops(
    node: int, nodes: int, arrays: MoveArrays, inside: BoolArray, place: FloatArray, bound: Bound, growth: Growth,
    cells: IntArray, levels: int,
) -> None:  # fmt: skip
    """Add the moves by which a new node comes to rest, since a plan ends at rest; they do not count for the density."""
    first, count = follower_range(node, growth, arrays)
    for slot in range(count):
        move = arrays.followers[first + slot]
        if arrays.stops[move] and growth.numbers[NODES] < nodes:
            dear = too_dear(node, move, growth, arrays, inside, place, bound)
            if dear or trace(growth.poses, node, move, arrays, inside, place, growth, cells) < 0:
                growth.used[node] |= np.uint64(1) << np.uint64(slot)
            else:
                offer(add(node, slot, move, arrays, growth), arrays, growth, levels)


@kernel(borrows=True, inner=True)
def offer(node: int, arrays: MoveArrays, growth: Growth, levels: int) -> None:
    """Add a child to a node, if it may have one."""
    if growth.depths[node] < levels and not full(node, growth, arrays):
        enlist(node, growth)


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
    stopping: bool,
    growth: Growth,
    cells: IntArray,
) -> bool:
    """Add at most one node for each sample until there are enough (algorithm 2); return whether more samples may help.

    Args:
        samples: random points of the region; (K, 2).
        nodes: number of nodes that the tree shall have.
        levels: most moves from the root.
        arrays: the moves.
        inside: the region; (R, C).
        place: lower left corner of the region's cells: x, y [m], and cells per metre; (3,).
        region: number of cells of the region.
        bound: bounds on costs.
        by_frequencies: whether to compute densities as the thesis does.
        stopping: whether moves that come to rest follow each node at once.
        growth: the tree.
        cells: memory for as many cells as there are points.
    """
    for k in range(len(samples)):
        if growth.numbers[NODES] >= nodes:
            return False
        node = nearest(samples[k, 0], samples[k, 1], growth)
        if node < 0:
            return False
        best = best_follower(node, arrays, inside, place, region, bound, by_frequencies, growth, cells)
        if best >= 0:
            first, _ = follower_range(node, growth, arrays)
            move = arrays.followers[first + best]
            count = trace(growth.poses, node, move, arrays, inside, place, growth, cells)
            count_cells(cells, count, growth, by_frequencies)
            new = add(node, best, move, arrays, growth)
            if stopping and growth.depths[new] < levels:
                add_stops(new, nodes, arrays, inside, place, bound, growth, cells, levels)
            offer(new, arrays, growth, levels)
        if full(node, growth, arrays):
            take_off(node, growth)
    return bool(growth.numbers[NODES] < nodes)


@kernel(borrows=True)
def reopen(arrays: MoveArrays, growth: Growth, levels: int) -> None:
    """Let all nodes grow again that lack followers, including those that cost too much before.

    Args:
        arrays: the moves.
        growth: the tree.
        levels: most moves from the root.
    """
    rows, columns = growth.heads.shape
    for row in range(rows):
        for column in range(columns):
            growth.heads[row, column] = -1
    nodes = growth.numbers[NODES]
    for node in range(nodes):
        growth.used[node] = np.uint64(0)
    for node in range(1, nodes):
        parent = growth.parents[node]
        first, count = follower_range(parent, growth, arrays)
        for slot in range(count):
            if arrays.followers[first + slot] == growth.actions[node]:
                growth.used[parent] |= np.uint64(1) << np.uint64(slot)
    for node in range(nodes):
        offer(node, arrays, growth, levels)


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
    """Add children of some nodes in a given order, if their cell holds fewer than `most` nodes (section 4.2.2).

    Args:
        parents: the nodes; (L,).
        starts: first child of each in `order`'s numbering, and all of them at the end; (L + 1,).
        order: numbers of children, each once; (starts[-1],).
        nodes: most nodes of the tree.
        most: most nodes in a cell.
        arrays: the moves.
        inside: the region; (R, C).
        place: lower left corner of the region's cells: x, y [m], and cells per metre; (3,).
        occupants: nodes in each cell; (R, C), written.
        growth: the tree.
    """
    cells = np.zeros(len(arrays.points), np.int64)
    for k in range(len(order)):
        if growth.numbers[NODES] >= nodes:
            return
        at = np.searchsorted(starts, order[k], side="right") - 1
        node, slot = parents[at], order[k] - starts[at]
        move = arrays.followers[follower_range(node, growth, arrays)[0] + slot]
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
            add(node, slot, move, arrays, growth)


@kernel
def least_costs(
    arrays: MoveArrays, inside: BoolArray, place: FloatArray, groups: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return the least cost of ending in each cell (R, C), and by heading and followers; infinite if none does.

    Dijkstra's search over cells, headings and followers; each keeps the place of its cheapest path.

    Args:
        arrays: the moves.
        inside: the region; (R, C).
        place: lower left corner of the region's cells: x, y [m], and cells per metre; (3,).
        groups: group of each move, the root last; moves with the same followers are in one group; (M + 1,).
    """
    rows, columns = inside.shape
    count = groups.max() + 1
    best = np.full((rows, columns, HEADINGS * count), np.inf)
    out = np.full((rows, columns), np.inf)
    heap = [(0.0, 0.0, 0.0, 0.0, len(arrays.moves))]
    while len(heap) > 0:
        cost, x, y, heading, before = heapq.heappop(heap)
        row, column = cell_of(x, y, place)
        if cost > best[row, column, part_of(heading, groups[before], count)]:
            continue
        out[row, column] = min(out[row, column], cost)
        cosine, sine = math.cos(heading), math.sin(heading)
        for k in range(arrays.follower_starts[before], arrays.follower_starts[before + 1]):
            move = arrays.followers[k]
            to_x = x + cosine * arrays.moves[move, 0] - sine * arrays.moves[move, 1]
            to_y = y + sine * arrays.moves[move, 0] + cosine * arrays.moves[move, 1]
            turned, total = heading + arrays.moves[move, 2], cost + arrays.moves[move, 3]
            i, j = cell_of(to_x, to_y, place)
            if i < 0 or j < 0 or i >= rows or j >= columns or not inside[i, j]:
                continue
            part = part_of(turned, groups[move], count)
            if total < best[i, j, part]:
                best[i, j, part] = total
                heapq.heappush(heap, (total, to_x, to_y, turned, move))
    return out, best
