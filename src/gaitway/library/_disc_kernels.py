"""Compiled loops of the disc cover: swept stadiums drawn on a grid, and a greedy cover of the cells by discs."""

from __future__ import annotations

import math

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.jit import kernel


@kernel
def draw(sx: float, sy: float, ex: float, ey: float, radius: float, out: BoolArray) -> None:
    """Set the cells whose centres lie in a stadium: in each row those from its left to its right rim.

    Args:
        sx: x of the begin of its axis, from the centre of cell (0, 0) [cells].
        sy: y of the begin of its axis [cells].
        ex: x of the end of its axis [cells].
        ey: y of the end of its axis [cells].
        radius: radius of the stadium [cells].
        out: cells to set, rows along y; (rows, columns).
    """
    rows, columns = out.shape
    dx, dy = ex - sx, ey - sy
    length = math.sqrt(dx * dx + dy * dy)
    flat = abs(dy) < 1e-9 * (1.0 + length)
    slope = 0.0 if flat else 1.0 / dy
    # of the discs along the axis, that which reaches farthest to the right in a row has its middle this far below it
    below = 0.0 if flat else -radius * dx / length * (1.0 if dy > 0.0 else -1.0)
    for i in range(max(math.ceil(min(sy, ey) - radius), 0), min(math.floor(max(sy, ey) + radius) + 1, rows)):
        if flat:
            right, left = (1.0, 0.0) if dx > 0.0 else (0.0, 1.0)
        else:
            right = min(max((i - sy - below) * slope, 0.0), 1.0)
            left = min(max((i - sy + below) * slope, 0.0), 1.0)
        v, w = i - sy - right * dy, i - sy - left * dy
        if abs(v) <= radius and abs(w) <= radius:
            low = math.ceil(sx + left * dx - math.sqrt(radius * radius - w * w))
            high = math.floor(sx + right * dx + math.sqrt(radius * radius - v * v))
            for j in range(max(low, 0), min(high + 1, columns)):
                out[i, j] = True


@kernel(inner=True)
def farthest(segments: FloatArray, c: int, first: int, last: int) -> float:
    """Return the greatest distance of the ends of an axis from half way between two samples."""
    worst = 0.0
    for e in range(2):
        mx = 0.5 * (segments[first, c, e, 0] + segments[last, c, e, 0])
        my = 0.5 * (segments[first, c, e, 1] + segments[last, c, e, 1])
        for p in range(first, last + 1):
            worst = max(worst, (segments[p, c, e, 0] - mx) ** 2 + (segments[p, c, e, 1] - my) ** 2)
    return math.sqrt(worst)


@kernel
def sweep(segments: FloatArray, radii: FloatArray, thicker: float, step: float, out: BoolArray) -> None:
    """Set the cells that stadiums come near to while they move straight from sample to sample.

    The path of each stadium is divided into parts along which it moves no farther than half a `step` from the middle of
    the part. The stadium is drawn at this middle, enlarged by the distance that it moves, so that it contains the
    moving stadium.

    Args:
        segments: axes of the stadiums, from the centre of cell (0, 0) [cells]; (P, C, 2, 2).
        radii: radii of the stadiums [cells]; (C,).
        thicker: distance that counts as near [cells].
        step: greatest motion within a part [cells].
        out: cells to set, rows along y; (rows, columns).
    """
    last_sample = segments.shape[0] - 1
    for c in range(segments.shape[1]):
        first = 0
        while True:
            last = min(first + 1, last_sample)
            off = farthest(segments, c, first, last)
            while off < 0.5 * step and last < last_sample:
                longer = farthest(segments, c, first, last + 1)
                if longer > 0.5 * step:
                    break
                last, off = last + 1, longer
            parts = max(math.ceil(2.0 * off / step), 1)
            radius = radii[c] + thicker + off / parts
            for part in range(parts):
                t = (part + 0.5) / parts
                sx = segments[first, c, 0, 0] * (1.0 - t) + segments[last, c, 0, 0] * t
                sy = segments[first, c, 0, 1] * (1.0 - t) + segments[last, c, 0, 1] * t
                ex = segments[first, c, 1, 0] * (1.0 - t) + segments[last, c, 1, 0] * t
                ey = segments[first, c, 1, 1] * (1.0 - t) + segments[last, c, 1, 1] * t
                draw(sx, sy, ex, ey, radius, out)
            first = last
            if first == last_sample:
                break


@kernel
def inner_distances(room: BoolArray, out: FloatArray) -> None:
    """Compute the distance of each cell from the nearest cell that is not set, centre to centre [cells].

    It is 0 for cells that are not set.

    Args:
        room: which cells are set; the outermost cells must not be set; (rows, columns).
        out: receives the distances; (rows, columns).
    """
    rows, columns = room.shape
    upright = np.empty((rows, columns))
    for j in range(columns):
        gone = 0.0
        for i in range(rows):
            gone = gone + 1.0 if room[i, j] else 0.0
            upright[i, j] = gone
        gone = 0.0
        for i in range(rows - 1, -1, -1):
            gone = gone + 1.0 if room[i, j] else 0.0
            upright[i, j] = min(upright[i, j], gone)
    for i in range(rows):
        for j in range(columns):
            best = upright[i, j] * upright[i, j]
            across = 1
            while across * across < best:
                if j - across >= 0:
                    best = min(best, across * across + upright[i, j - across] ** 2)
                if j + across < columns:
                    best = min(best, across * across + upright[i, j + across] ** 2)
                across += 1
            out[i, j] = math.sqrt(best)


@kernel(inner=True)
def half_widths(radii: FloatArray, room: int) -> IntArray:
    """Return how many cells a disc covers on either side of its centre, for each row from the centre on.

    A cell counts if the disc contains its centre; -1 if the disc does not reach the row.

    Args:
        radii: radii of the discs [cells]; (K,).
        room: number of rows, at least the largest radius plus one.

    Returns:
        (K, room).
    """
    out = np.empty((radii.shape[0], room), np.int64)
    for k in range(radii.shape[0]):
        for i in range(room):
            left = radii[k] * radii[k] - i * i
            out[k, i] = math.floor(math.sqrt(left) + 1e-9) if left >= 0.0 else -1
    return out


@kernel(inner=True)
def uncovered(sums: IntArray, row: int, column: int, widths: IntArray, k: int) -> int:
    """Count the cells in a disc that are still to be covered.

    Args:
        sums: number of such cells in each row before each column; (rows, columns + 1).
        row: row of the centre.
        column: column of the centre.
        widths: result of `half_widths`.
        k: row of `widths`.
    """
    total = 0
    for i in range(widths.shape[1]):
        half = widths[k, i]
        if half < 0:
            break
        total += sums[row + i, column + half + 1] - sums[row + i, column - half]
        if i > 0:
            total += sums[row - i, column + half + 1] - sums[row - i, column - half]
    return total


@kernel(inner=True)
def take_off(todo: BoolArray, sums: IntArray, row: int, column: int, widths: IntArray, k: int) -> None:
    """Remove the cells of a disc from those that are still to be covered."""
    columns = todo.shape[1]
    for i in range(1 - widths.shape[1], widths.shape[1]):
        half = widths[k, abs(i)]
        if half >= 0:
            for j in range(column - half, column + half + 1):
                todo[row + i, j] = False
            for j in range(column - half, columns):
                sums[row + i, j + 1] = sums[row + i, j] + todo[row + i, j]


@kernel(inner=True)
def candidates(inner: FloatArray, stride: int, least: float) -> IntArray:
    """Return the rows and columns of candidate discs, on a coarse lattice of cells; (K, 2).

    A candidate is left out if the disc of a neighbour contains its own.
    """
    rows, columns = inner.shape
    places, count = np.empty(((rows // stride + 1) * (columns // stride + 1), 2), np.int64), 0
    for i in range(stride, rows - stride, stride):
        for j in range(stride, columns - stride, stride):
            widest = inner[i, j] >= least
            for a in range(-stride, stride + 1, stride):
                for b in range(-stride, stride + 1, stride):
                    away = math.sqrt(a * a + b * b)
                    if away > 0.0 and inner[i + a, j + b] >= inner[i, j] + away - 1e-9:
                        widest = False
            if widest:
                places[count, 0], places[count, 1] = i, j
                count += 1
    return places[:count]


@kernel
def cover(inner: FloatArray, todo: BoolArray, stride: int, shrink: float, half: float) -> FloatArray:
    """Cover cells by discs greedily: choose again and again the disc that covers most of the cells that are left.

    A disc around a cell is as large as fits: its radius is `inner - shrink`. It covers the cells that lie in it whole:
    their centres are nearer than its radius minus `half`.

    Args:
        inner: result of `inner_distances` [cells]; (rows, columns).
        todo: which cells to cover; cells that no disc covers are still set at the end; (rows, columns).
        stride: distance from one possible centre of a disc to the next [cells]; with 1, every cell that can be covered
            is covered.
        shrink: distance by which discs are made smaller [cells].
        half: half the diagonal of a cell [cells].

    Returns:
        Row, column and radius [cells] of each; (D, 3).
    """
    rows, columns = todo.shape
    places = candidates(inner, stride, shrink + half)
    count, largest = places.shape[0], 0.0
    radii = np.empty(count)
    for k in range(count):
        radii[k] = inner[places[k, 0], places[k, 1]] - shrink - half
        largest = max(largest, radii[k])
    widths = half_widths(radii, int(largest) + 2)
    sums = np.zeros((rows, columns + 1), np.int64)
    left = 0
    for i in range(rows):
        for j in range(columns):
            sums[i, j + 1] = sums[i, j] + todo[i, j]
        left += sums[i, columns]
    out, found = np.empty((left, 3)), 0
    gains = np.empty(count, np.int64)
    for k in range(count):
        gains[k] = uncovered(sums, places[k, 0], places[k, 1], widths, k)
    while count > 0:
        best = 0
        for k in range(1, count):
            if gains[k] > gains[best]:
                best = k
        if gains[best] == 0:
            break
        row, column = places[best, 0], places[best, 1]
        take_off(todo, sums, row, column, widths, best)
        out[found, 0], out[found, 1], out[found, 2] = row, column, radii[best] + half
        found += 1
        for k in range(count):
            near = radii[best] + radii[k]
            if gains[k] > 0 and (places[k, 0] - row) ** 2 + (places[k, 1] - column) ** 2 <= near * near:
                gains[k] = uncovered(sums, places[k, 0], places[k, 1], widths, k)
    return out[:found]


@kernel
def enclose(discs: FloatArray, out: FloatArray) -> None:
    """Compute a disc around others that is hardly larger than the smallest such disc (Badoiu and Clarkson 2003).

    Args:
        discs: x, y, radius; (D, 3).
        out: x, y, radius; (3,).
    """
    count = discs.shape[0]
    x, y = 0.0, 0.0
    for k in range(count):
        x += discs[k, 0] / count
        y += discs[k, 1] / count
    rounds = 100
    for turn in range(rounds + 1):
        radius, far = -1.0, 0
        for k in range(count):
            reach = math.sqrt((discs[k, 0] - x) ** 2 + (discs[k, 1] - y) ** 2) + discs[k, 2]
            if reach > radius:
                radius, far = reach, k
        if turn == 0 or radius < out[2]:
            out[0], out[1], out[2] = x, y, radius
        off = max(radius - discs[far, 2], 1e-12)
        # the far rim, along the line through the middle of the far disc
        x += (discs[far, 0] - x) * radius / off / (turn + 2.0)
        y += (discs[far, 1] - y) * radius / off / (turn + 2.0)
