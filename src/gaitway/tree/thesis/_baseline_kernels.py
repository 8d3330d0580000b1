"""Compiled loops that choose some of many paths, one after another."""

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
    """Cells of a grid that each path goes through, or comes near to, each once: (L, W), and how many (L,).

    Args:
        paths: nodes of each, -1 where one has no more; (L, D).
        parents: of nodes; (N,).
        actions: of nodes; (N,).
        poses: of nodes; (N, 3).
        point_starts: of moves; (M + 1,).
        points: along moves; (P, 2).
        place: lower left corner [m], and cells in a metre; (3,).
        rows: of the grid.
        columns: of the grid.
        reach: cells whose middle is within it of that of a cell of the path count too [cells].
    """
    own, seen = np.zeros(rows * columns, np.int32), np.full(rows * columns, -1, np.int64)
    lengths, width, near = np.zeros(len(paths), np.int64), 0, math.floor(reach)
    out = np.zeros((len(paths), 0), np.int32)
    # a first round counts, a second one writes
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
    """Keep the nodes of a path; how many are new."""
    new = 0
    for level in range(paths.shape[1]):
        node = paths[path, level]
        if node >= 0 and not kept[node]:
            kept[node] = True
            new += 1
    return new


@kernel(fastmath=True)
def distances(points: Single) -> Single:
    """Mean distance between the points of each pair of paths [m]; (L, L).

    Args:
        points: x of all points of a path, then y; (L, 2, K).
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
    """Paths, each the one after which the farthest path is nearest to those chosen, up to so many new nodes.

    Of equals, the one that is farthest from those chosen. Paths that are farthest from them are looked at first, so
    that most candidates are given up at once.

    Args:
        apart: distance of each pair; (L, L).
        paths: nodes of each, -1 where one has no more; (L, D).
        kept: nodes that are chosen; (N,), written.
        nodes: how many more to choose.
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
    """How often the cells of a path are gone through."""
    total = 0
    for c in range(length):
        total += counts[cells[path, c]]
    return total


@kernel
def least_shared(cells: Cells, lengths: IntArray, size: int, paths: IntArray, kept: BoolArray, nodes: int) -> IntArray:
    """Paths, each the one that has the least sum of inner products with those chosen; shorter ones first.

    Args:
        cells: of each path; (L, W).
        lengths: how many; (L,).
        size: cells that there are.
        paths: nodes of each, -1 where one has no more; (L, D).
        kept: nodes that are chosen; (N,), written.
        nodes: how many more to choose.
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
    """Paths, each the one that adds most to the likelihood that one is free, with pairs and no more.

    Args:
        cells: of each path; (L, W).
        lengths: how many; (L,).
        size: cells that there are.
        free: likelihood that a cell is.
        paths: nodes of each, -1 where one has no more; (L, D).
        kept: nodes that are chosen; (N,), written.
        nodes: how many more to choose.
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
    """Paths, each the one through cells that the fewest of those chosen go through on average.

    Args:
        cells: of each path; (L, W).
        lengths: how many; (L,).
        size: cells that there are.
        paths: nodes of each, -1 where one has no more; (L, D).
        kept: nodes that are chosen; (N,), written.
        nodes: how many more to choose.
    """
    total, step, counts = len(cells), 0, np.zeros(size, np.int64)
    taken, out = np.zeros(total, np.bool_), np.zeros(total, np.int64)
    while nodes > 0 and step < total:
        best, least = -1, np.inf
        for path in range(total):
            if taken[path]:
                continue
            shared = through(counts, cells, lengths[path], path)
            # the square of n + 1 is that of n, and 2 n + 1
            growth = 2.0 * shared / max(lengths[path], 1) + 1.0
            if growth < least:
                best, least = path, growth
        out[step], taken[best] = best, True
        step += 1
        nodes -= keep(paths, best, kept)
        for c in range(lengths[best]):
            counts[cells[best, c]] += 1
    return out[:step]
