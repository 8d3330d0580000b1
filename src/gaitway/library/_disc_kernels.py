"""Compiled loops of the disc cover: distances to swept stadiums on a grid, and a greedy cover by discs."""

from __future__ import annotations

import math

import numpy as np

from gaitway._jit import kernel
from gaitway.arrays import FloatArray


@kernel
def sweep(
    segments: FloatArray, radii: FloatArray, step: float, cell: float, x: float, y: float, reach: float, out: FloatArray
) -> None:
    """Distance of the middles of cells from stadiums that move straight from sample to sample.

    Each straight way is cut into parts of at most `step`. In the middle of each, the stadium is thicker by half a part,
    so that it holds all that the moving one meets.

    Args:
        segments: axes [m]; (P, C, 2, 2).
        radii: [m]; (C,).
        step: [m].
        cell: side of a cell [m].
        x: of the middle of cell (0, 0) [m].
        y: of the middle of cell (0, 0) [m].
        reach: cells that are farther than this are left as they are [m].
        out: lowered to the distance, which is 0 inside [m]; (rows, columns), rows along y.
    """
    samples, count = segments.shape[0], segments.shape[1]
    rows, columns = out.shape
    for p in range(max(samples - 1, 1)):
        q = min(p + 1, samples - 1)
        for c in range(count):
            ax, ay, bx, by = segments[p, c, 0, 0], segments[p, c, 0, 1], segments[p, c, 1, 0], segments[p, c, 1, 1]
            dax, day = segments[q, c, 0, 0] - ax, segments[q, c, 0, 1] - ay
            dbx, dby = segments[q, c, 1, 0] - bx, segments[q, c, 1, 1] - by
            way = math.sqrt(max(dax * dax + day * day, dbx * dbx + dby * dby))
            parts = max(int(math.ceil(way / step)), 1)
            radius = radii[c] + 0.5 * way / parts
            far = radius + reach
            for part in range(parts):
                t = (part + 0.5) / parts
                sx, sy = ax + t * dax, ay + t * day
                ex, ey = bx + t * dbx - sx, by + t * dby - sy
                length = ex * ex + ey * ey
                scale = 1.0 / length if length > 1e-18 else 0.0
                low_row = max(int(math.ceil((min(sy, sy + ey) - far - y) / cell)), 0)
                end_row = min(int(math.floor((max(sy, sy + ey) + far - y) / cell)) + 1, rows)
                low_column = max(int(math.ceil((min(sx, sx + ex) - far - x) / cell)), 0)
                end_column = min(int(math.floor((max(sx, sx + ex) + far - x) / cell)) + 1, columns)
                for i in range(low_row, end_row):
                    py = y + i * cell - sy
                    for j in range(low_column, end_column):
                        if out[i, j] == 0.0:
                            continue
                        px = x + j * cell - sx
                        share = min(max((px * ex + py * ey) * scale, 0.0), 1.0)
                        ox, oy = px - share * ex, py - share * ey
                        square = ox * ox + oy * oy
                        if square < far * far:
                            out[i, j] = min(out[i, j], max(math.sqrt(square) - radius, 0.0))


@kernel
def inner_distances(distances: FloatArray, margin: float, out: FloatArray) -> None:
    """How far each cell is from the nearest one beyond the margin, middle to middle, in cells; 0 beyond it.

    Args:
        distances: [m]; (rows, columns). The outermost cells must lie beyond the margin.
        margin: [m].
        out: filled in; (rows, columns).
    """
    rows, columns = distances.shape
    upright = np.empty((rows, columns))
    for j in range(columns):
        gone = 0.0
        for i in range(rows):
            gone = gone + 1.0 if distances[i, j] <= margin else 0.0
            upright[i, j] = gone
        gone = 0.0
        for i in range(rows - 1, -1, -1):
            gone = gone + 1.0 if distances[i, j] <= margin else 0.0
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


@kernel
def gain(todo: FloatArray, row: int, column: int, radius: float, mark: float) -> int:
    """Cells yet to be covered that lie within a radius [cells] of one; each is given `mark` in `todo`."""
    rows, columns = todo.shape
    total, whole = 0, int(math.floor(radius))
    for i in range(max(row - whole, 0), min(row + whole + 1, rows)):
        half = int(math.floor(math.sqrt(radius * radius - (i - row) * (i - row)) + 1e-9))
        for j in range(max(column - half, 0), min(column + half + 1, columns)):
            if todo[i, j] > 0.0:
                total += 1
                todo[i, j] = mark
    return total


@kernel
def cover(inner: FloatArray, todo: FloatArray, shrink: float, half: float) -> FloatArray:
    """Discs that cover cells: time and again that which covers most of those left; the first of equals.

    A disc around a cell is as large as fits, `inner - shrink`, and covers the cells that lie in it whole, whose middles
    are nearer than its radius by `half` a diagonal. Discs inside a neighbour's are not looked at.

    Args:
        inner: of `inner_distances` [cells]; (rows, columns).
        todo: 1 where a cell is to be covered, else 0; 0 everywhere in the end; (rows, columns).
        shrink: [cells].
        half: [cells].

    Returns:
        Row, column and radius [cells] of each; (D, 3).
    """
    rows, columns = inner.shape
    places, count = np.empty((rows * columns, 3)), 0
    for i in range(1, rows - 1):
        for j in range(1, columns - 1):
            if inner[i, j] - shrink < half:
                continue
            widest = True
            for a in range(-1, 2):
                for b in range(-1, 2):
                    away = math.sqrt(a * a + b * b)
                    if away > 0.0 and inner[i + a, j + b] >= inner[i, j] + away - 1e-9:
                        widest = False
            if widest:
                places[count, 0], places[count, 1], places[count, 2] = i, j, inner[i, j] - shrink
                count += 1
    gains = np.empty(count, np.int64)  # never too low, as what is left only shrinks
    for k in range(count):
        gains[k] = gain(todo, int(places[k, 0]), int(places[k, 1]), places[k, 2] - half, 1.0)
    out, found = np.empty((count, 3)), 0
    while count > 0:
        best = 0
        for k in range(1, count):
            if gains[k] > gains[best]:
                best = k
        if gains[best] == 0:
            break
        row, column, radius = int(places[best, 0]), int(places[best, 1]), places[best, 2]
        now = gain(todo, row, column, radius - half, 1.0)
        if now < gains[best]:
            gains[best] = now
            continue
        gain(todo, row, column, radius - half, 0.0)
        gains[best] = 0
        for k in range(3):
            out[found, k] = places[best, k]
        found += 1
    return out[:found]


@kernel
def enclose(discs: FloatArray, out: FloatArray) -> None:
    """A disc around others that is hardly larger than the smallest (Badoiu and Clarkson 2003).

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
