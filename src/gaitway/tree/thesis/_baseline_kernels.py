"""Compiled loops that choose paths from many candidates, one after another."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.jit import kernel

Single = npt.NDArray[np.float32]
Cells = npt.NDArray[np.int32]


@kernel
def cells_of_paths(
    paths: IntArray, parents: IntArray, actions: IntArray, poses: FloatArray, point_starts: IntArray,
    points: FloatArray, place: FloatArray, rows: int, columns: int, reach: float,
) -> tuple[Cells, IntArray]:  # fmt: skip
    """Find the cells of a grid that each path goes through or comes near to.

    Args:
        paths: nodes of each path, then -1; (L, D).
        parents: parent of each node; (N,).
        actions: move of each node; (N,).
        poses: end pose of each node: x, y [m], heading [rad]; (N, 3).
        point_starts: first point of each move in `points`, and their number at the end; (M + 1,).
        points: points along the moves, in the frame of the start of the move: x, y [m]; (P, 2).
        place: x, y of the lower left corner of the grid [m], and number of cells per metre; (3,).
        rows: number of rows of the grid.
        columns: number of columns of the grid.
        reach: greatest distance from the centre of a cell on the path to the centre of another cell that still counts
            [cells].

    Returns:
        Cells of each path, each cell once, then 0; (L, W). Number of cells of each path; (L,).
    """
    own, seen = np.zeros(rows * columns, np.int32), np.full(rows * columns, -1, np.int64)
    lengths, width, near = np.zeros(len(paths), np.int64), 0, math.floor(reach)
    out = np.zeros((len(paths), 0), np.int32)
    # The first pass counts cells, so that the second pass can write into an array of the right width.
    for writes in range(2):
        for k in range(len(paths)):
            found, stamp = 0, writes * len(paths) + k
            for level in range(paths.shape[1]):
                node = paths[k, level]
                if node < 0:
                    break
                parent, move = parents[node], actions[node]
                cosine, sine = math.cos(poses[parent, 2]), math.sin(poses[parent, 2])
                for p in range(point_starts[move], point_starts[move + 1]):
                    x = poses[parent, 0] + cosine * points[p, 0] - sine * points[p, 1]
                    y = poses[parent, 1] + sine * points[p, 0] + cosine * points[p, 1]
                    row, column = math.floor((y - place[1]) * place[2]), math.floor((x - place[0]) * place[2])
                    for i in range(max(row - near, 0), min(row + near, rows - 1) + 1):
                        for j in range(max(column - near, 0), min(column + near, columns - 1) + 1):
                            at = i * columns + j
                            if seen[at] != stamp and (i - row) ** 2 + (j - column) ** 2 <= reach * reach:
                                seen[at] = stamp
                                own[found] = at
                                found += 1
            lengths[k], width = found, max(width, found)
            if writes == 1:
                for c in range(found):
                    out[k, c] = own[c]
        if writes == 0:
            out = np.zeros((len(paths), width), np.int32)
    return out, lengths


@kernel(borrows=True, inner=True)
def keep(paths: IntArray, path: int, kept: BoolArray) -> int:
    """Mark the nodes of a path as kept, and return how many of them were not kept before."""
    new = 0
    for level in range(paths.shape[1]):
        node = paths[path, level]
        if node >= 0 and not kept[node]:
            kept[node] = True
            new += 1
    return new


@kernel(fastmath=True)
def distances(points: Single) -> Single:
    """Compute the mean distance between corresponding points of each pair of paths [m]; (L, L).

    Args:
        points: x of the K points of each path, then y [m]; (L, 2, K).
    """
    count, steps = points.shape[0], points.shape[2]
    out = np.zeros((count, count), np.float32)
    share = np.float32(1.0 / steps)
    for a in range(count):
        for b in range(a):
            total = np.float32(0.0)
            for k in range(steps):
                dx, dy = points[a, 0, k] - points[b, 0, k], points[a, 1, k] - points[b, 1, k]
                total += np.sqrt(dx * dx + dy * dy)
            out[a, b] = total * share
            out[b, a] = out[a, b]
    return out


@kernel
def least_dispersion(apart: Single, paths: IntArray, kept: BoolArray, nodes: int) -> IntArray:
    """Choose paths one after another, each time the path that makes the dispersion least.

    The dispersion is the distance between the chosen paths and the path that is farthest from them. If several
    candidates are equal, the one that is farthest from the chosen paths is taken. The farthest paths are compared
    first, so that most candidates are rejected early.

    Args:
        apart: distance between the paths of each pair [m]; (L, L).
        paths: nodes of each path, then -1; (L, D).
        kept: whether each node is chosen; (N,), written.
        nodes: number of nodes to choose in addition to those in `kept`.

    Returns:
        Chosen paths in the order of the choice; (C,).
    """
    total, step = len(apart), 0
    near, taken, out = np.full(total, np.inf), np.zeros(total, np.bool_), np.zeros(total, np.int64)
    while nodes > 0 and step < total:
        order = np.argsort(-near, kind="mergesort")
        best, least = -1, np.inf
        for candidate in range(total):
            if taken[candidate]:
                continue
            worst = -1.0
            for k in range(total):
                path = order[k]
                if near[path] <= worst:
                    break
                worst = max(worst, min(near[path], apart[candidate, path]))
                if worst > least:
                    break
            if worst < least or best < 0 or (worst == least and near[candidate] > near[best]):
                best, least = candidate, worst
        out[step], taken[best] = best, True
        step += 1
        nodes -= keep(paths, best, kept)
        for path in range(total):
            near[path] = min(near[path], apart[best, path])
    return out[:step]


@kernel(borrows=True, inner=True)
def through(counts: IntArray, cells: Cells, length: int, path: int) -> int:
    """Return the sum, over the cells of a path, of the number of chosen paths that go through the cell.

    Args:
        counts: number of chosen paths that go through each cell; (cells,).
        cells: cells of each path; (L, W).
        length: number of cells of the path.
        path: number of the path.
    """
    total = 0
    for c in range(length):
        total += counts[cells[path, c]]
    return total


@kernel
def least_shared(cells: Cells, lengths: IntArray, size: int, paths: IntArray, kept: BoolArray, nodes: int) -> IntArray:
    """Choose paths one after another, each time the path with the least sum of inner products with the chosen paths.

    If several paths are equal, the one that goes through the fewest cells is taken.

    Args:
        cells: cells of each path; (L, W).
        lengths: number of cells of each path; (L,).
        size: number of cells of the grid.
        paths: nodes of each path, then -1; (L, D).
        kept: whether each node is chosen; (N,), written.
        nodes: number of nodes to choose in addition to those in `kept`.

    Returns:
        Chosen paths in the order of the choice; (C,).
    """
    total, step, counts = len(cells), 0, np.zeros(size, np.int64)
    taken, out = np.zeros(total, np.bool_), np.zeros(total, np.int64)
    while nodes > 0 and step < total:
        best, least = -1, 0
        for path in range(total):
            if taken[path]:
                continue
            shared = through(counts, cells, lengths[path], path)
            if best < 0 or shared < least or (shared == least and lengths[path] < lengths[best]):
                best, least = path, shared
        out[step], taken[best] = best, True
        step += 1
        nodes -= keep(paths, best, kept)
        for c in range(lengths[best]):
            counts[cells[best, c]] += 1
    return out[:step]


@kernel
def most_likely_free(
    cells: Cells, lengths: IntArray, size: int, free: float, paths: IntArray, kept: BoolArray, nodes: int
) -> IntArray:
    """Choose paths one after another, each time the path that adds most to the probability that some path is free.

    The probability is computed by inclusion and exclusion of single paths and pairs of paths; larger groups are left
    out.

    Args:
        cells: cells of each path; (L, W).
        lengths: number of cells of each path; (L,).
        size: number of cells of the grid.
        free: probability that a cell is free.
        paths: nodes of each path, then -1; (L, D).
        kept: whether each node is chosen; (N,), written.
        nodes: number of nodes to choose in addition to those in `kept`.

    Returns:
        Chosen paths in the order of the choice; (C,).
    """
    total, step, last = len(cells), 0, np.zeros(size, np.bool_)
    taken, out, gains = np.zeros(total, np.bool_), np.zeros(total, np.int64), np.zeros(total)
    powers = free ** np.arange(2 * cells.shape[1] + 1)
    for path in range(total):
        gains[path] = powers[lengths[path]]
    while nodes > 0 and step < total:
        best = -1
        for path in range(total):
            if not taken[path] and (best < 0 or gains[path] > gains[best]):
                best = path
        out[step], taken[best] = best, True
        step += 1
        nodes -= keep(paths, best, kept)
        for c in range(lengths[best]):
            last[cells[best, c]] = True
        for path in range(total):
            union = lengths[path] + lengths[best]
            for c in range(lengths[path]):
                union -= last[cells[path, c]]
            gains[path] -= powers[union]
        for c in range(lengths[best]):
            last[cells[best, c]] = False
    return out[:step]


@kernel
def least_obstructed(
    cells: Cells, lengths: IntArray, size: int, paths: IntArray, kept: BoolArray, nodes: int
) -> IntArray:
    """Choose paths one after another, each time the path whose cells lie on the fewest chosen paths on average.

    Args:
        cells: cells of each path; (L, W).
        lengths: number of cells of each path; (L,).
        size: number of cells of the grid.
        paths: nodes of each path, then -1; (L, D).
        kept: whether each node is chosen; (N,), written.
        nodes: number of nodes to choose in addition to those in `kept`.

    Returns:
        Chosen paths in the order of the choice; (C,).
    """
    total, step, counts = len(cells), 0, np.zeros(size, np.int64)
    taken, out = np.zeros(total, np.bool_), np.zeros(total, np.int64)
    while nodes > 0 and step < total:
        best, least = -1, np.inf
        for path in range(total):
            if taken[path]:
                continue
            shared = through(counts, cells, lengths[path], path)
            # One more path through a cell raises the squared number of paths n by (n + 1)^2 - n^2 = 2 n + 1.
            growth = 2.0 * shared / max(lengths[path], 1) + 1.0
            if growth < least:
                best, least = path, growth
        out[step], taken[best] = best, True
        step += 1
        nodes -= keep(paths, best, kept)
        for c in range(lengths[best]):
            counts[cells[best, c]] += 1
    return out[:step]
