"""Compiled loops that choose some of many paths, one after another."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gaitway._jit import kernel
from gaitway.arrays import BoolArray, FloatArray, IntArray

Single = npt.NDArray[np.float32]


@kernel
def cells_of_paths(
    paths: IntArray, parents: IntArray, actions: IntArray, poses: FloatArray, point_starts: IntArray,
    points: FloatArray, place: FloatArray, rows: int, columns: int,
) -> BoolArray:  # fmt: skip
    """Cells of a grid that each path goes through; (L, rows * columns).

    Args:
        paths: nodes of each; (L, D).
        parents: of nodes; (N,).
        actions: of nodes; (N,).
        poses: of nodes; (N, 3).
        point_starts: of moves; (M + 1,).
        points: along moves; (P, 2).
        place: lower left corner [m], and cells in a metre; (3,).
        rows: of the grid.
        columns: of the grid.
    """
    out = np.zeros((len(paths), rows * columns), np.bool_)
    for k in range(len(paths)):
        for level in range(paths.shape[1]):
            node = paths[k, level]
            parent, move = parents[node], actions[node]
            cosine, sine = math.cos(poses[parent, 2]), math.sin(poses[parent, 2])
            for p in range(point_starts[move], point_starts[move + 1]):
                x = poses[parent, 0] + cosine * points[p, 0] - sine * points[p, 1]
                y = poses[parent, 1] + sine * points[p, 0] + cosine * points[p, 1]
                row, column = math.floor((y - place[1]) * place[2]), math.floor((x - place[0]) * place[2])
                if 0 <= row < rows and 0 <= column < columns:
                    out[k, row * columns + column] = True
    return out


@kernel
def grown(cells: BoolArray, rows: int, columns: int, radius: float) -> BoolArray:
    """Cells whose middle is within a radius [cells] of that of a given one; (L, rows * columns)."""
    out = np.zeros(cells.shape, np.bool_)
    reach = math.floor(radius)
    for k in range(len(cells)):
        for at in range(rows * columns):
            if cells[k, at]:
                row, column = at // columns, at % columns
                for i in range(max(row - reach, 0), min(row + reach, rows - 1) + 1):
                    for j in range(max(column - reach, 0), min(column + reach, columns - 1) + 1):
                        if (i - row) ** 2 + (j - column) ** 2 <= radius * radius:
                            out[k, i * columns + j] = True
    return out


@kernel
def distances(points: Single) -> Single:
    """Mean distance between the points of each pair of paths [m]; (L, L).

    Args:
        points: (L, K, 2).
    """
    count, steps = points.shape[0], points.shape[1]
    out = np.zeros((count, count), np.float32)
    for a in range(count):
        for b in range(a):
            total = 0.0
            for k in range(steps):
                dx, dy = points[a, k, 0] - points[b, k, 0], points[a, k, 1] - points[b, k, 1]
                total += math.sqrt(dx * dx + dy * dy)
            out[a, b] = np.float32(total / steps)
            out[b, a] = out[a, b]
    return out


@kernel
def least_dispersion(apart: Single, count: int) -> IntArray:
    """Paths, each the one after which the farthest path is nearest to those chosen; (count,).

    Of equals, the one that is farthest from those chosen. Paths that are farthest from them are looked at first, so
    that most candidates are given up at once.

    Args:
        apart: distance of each pair; (L, L).
        count: how many.
    """
    total = len(apart)
    near, taken, out = np.full(total, np.inf), np.zeros(total, np.bool_), np.zeros(count, np.int64)
    for step in range(count):
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
            if worst < least or (worst == least and near[candidate] > near[best]):
                best, least = candidate, worst
        out[step], taken[best] = best, True
        for path in range(total):
            near[path] = min(near[path], apart[best, path])
    return out


@kernel
def least_shared(cells: BoolArray, count: int) -> IntArray:
    """Paths, each the one that has the least sum of inner products with those chosen; shorter ones first; (count,).

    Args:
        cells: (L, C).
        count: how many.
    """
    total, size = cells.shape
    taken, out = np.zeros(total, np.bool_), np.zeros(count, np.int64)
    shared, lengths = np.zeros(total, np.int64), np.zeros(total, np.int64)
    for path in range(total):
        for at in range(size):
            lengths[path] += cells[path, at]
    for step in range(count):
        best = -1
        for path in range(total):
            if not taken[path] and (
                best < 0
                or shared[path] < shared[best]
                or (shared[path] == shared[best] and lengths[path] < lengths[best])
            ):
                best = path
        out[step], taken[best] = best, True
        for path in range(total):
            if not taken[path]:
                for at in range(size):
                    shared[path] += cells[path, at] and cells[best, at]
    return out


@kernel
def most_likely_free(cells: BoolArray, free: float, count: int) -> IntArray:
    """Paths, each the one that adds most to the likelihood that one is free, with pairs and no more; (count,).

    Args:
        cells: (L, C).
        free: likelihood that a cell is.
        count: how many.
    """
    total, size = cells.shape
    taken, out, gains = np.zeros(total, np.bool_), np.zeros(count, np.int64), np.zeros(total)
    for path in range(total):
        length = 0
        for at in range(size):
            length += cells[path, at]
        gains[path] = free**length
    for step in range(count):
        best = -1
        for path in range(total):
            if not taken[path] and (best < 0 or gains[path] > gains[best]):
                best = path
        out[step], taken[best] = best, True
        for path in range(total):
            if not taken[path]:
                union = 0
                for at in range(size):
                    union += cells[path, at] or cells[best, at]
                gains[path] -= free**union
    return out


@kernel
def least_obstructed(cells: BoolArray, count: int) -> IntArray:
    """Paths, each the one through cells that the fewest of those chosen go through on average; (count,).

    Args:
        cells: (L, C).
        count: how many.
    """
    total, size = cells.shape
    taken, out = np.zeros(total, np.bool_), np.zeros(count, np.int64)
    shared, lengths = np.zeros(total), np.zeros(total)
    for path in range(total):
        for at in range(size):
            lengths[path] += cells[path, at]
    for step in range(count):
        best, least = -1, np.inf
        for path in range(total):
            if not taken[path]:
                # the square of n + 1 is that of n, and 2 n + 1
                growth = 2.0 * shared[path] / max(lengths[path], 1.0) + 1.0
                if growth < least:
                    best, least = path, growth
        out[step], taken[best] = best, True
        for path in range(total):
            if not taken[path]:
                for at in range(size):
                    shared[path] += cells[path, at] and cells[best, at]
    return out
