"""Compiled loops that turn triangles into spans: the heights that matter fills over each cell of a grid."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel

Flags = npt.NDArray[np.uint8]
_CORNERS = 12
"""Most corners of a triangle that is cut by the four sides of a cell, and some to spare."""


@kernel(inner=True, borrows=True)
def cut(corners: FloatArray, count: int, axis: int, sign: float, limit: float, out: FloatArray) -> int:
    """Cut a convex polygon by an upright plane; return the number of corners that are left.

    Args:
        corners: corners of the polygon; (_CORNERS, 3).
        count: number of corners.
        axis: axis that the plane cuts: 0 is x, 1 is y.
        sign: 1.0 keeps what is at or above the limit, -1.0 what is at or below.
        limit: coordinate of the plane along the axis [m].
        out: receives the corners that are left; (_CORNERS, 3).
    """
    left = 0
    for k in range(count):
        following = k + 1 if k + 1 < count else 0
        here, there = sign * (corners[k, axis] - limit), sign * (corners[following, axis] - limit)
        if here >= 0.0:
            for c in range(3):
                out[left, c] = corners[k, c]
            left += 1
        if (here > 0.0 and there < 0.0) or (here < 0.0 and there > 0.0):
            share = here / (here - there)
            for c in range(3):
                out[left, c] = corners[k, c] + share * (corners[following, c] - corners[k, c])
            out[left, axis] = limit
            left += 1
    return left


@kernel
def triangle_spans(
    corners: FloatArray,
    walkable: Flags,
    origin: FloatArray,
    cell: float,
    shape: tuple[int, int],
    columns: IntArray,
    heights: FloatArray,
    flags: Flags,
) -> int:
    """Find the heights that triangles fill in each cell that they meet.

    Each triangle is cut by the sides of the cells, so that the heights are those of the part in the cell.

    Args:
        corners: corners of the triangles; (T, 3, 3) [m].
        walkable: 1 where a character can stand on the triangle's upper side; (T,).
        origin: lower left corner of the grid; (2,) [m].
        cell: side of a cell [m].
        shape: rows and columns of the grid.
        columns: receives the number of the cell, row x columns + column; (S,).
        heights: receives the lowest and the highest point in the cell, and the height over the middle of the cell, NaN
            if the triangle is not there; (S, 3) [m].
        flags: receives `walkable` of the triangle; (S,).

    Returns:
        Number of spans. Only the first S are stored, so that a first call with S = 0 counts them.
    """
    rows, width = shape
    found, most = 0, len(columns)
    strip, piece = np.empty((_CORNERS, 3)), np.empty((_CORNERS, 3))
    spare = np.empty((_CORNERS, 3))
    whole = np.empty((_CORNERS, 3))
    for t in range(len(corners)):
        for k in range(3):
            whole[k, 0] = corners[t, k, 0] - origin[0]
            whole[k, 1] = corners[t, k, 1] - origin[1]
            whole[k, 2] = corners[t, k, 2]
        low = min(whole[0, 1], whole[1, 1], whole[2, 1])
        high = max(whole[0, 1], whole[1, 1], whole[2, 1])
        twice = (whole[1, 0] - whole[0, 0]) * (whole[2, 1] - whole[0, 1]) - (whole[1, 1] - whole[0, 1]) * (
            whole[2, 0] - whole[0, 0]
        )
        for row in range(max(math.floor(low / cell), 0), min(math.floor(high / cell), rows - 1) + 1):
            count = cut(whole, 3, 1, 1.0, row * cell, spare)
            count = cut(spare, count, 1, -1.0, (row + 1) * cell, strip)
            if count == 0:
                continue
            first, last = strip[0, 0], strip[0, 0]
            for k in range(1, count):
                first, last = min(first, strip[k, 0]), max(last, strip[k, 0])
            for column in range(max(math.floor(first / cell), 0), min(math.floor(last / cell), width - 1) + 1):
                left = cut(strip, count, 0, 1.0, column * cell, spare)
                left = cut(spare, left, 0, -1.0, (column + 1) * cell, piece)
                if left == 0:
                    continue
                if found < most:
                    bottom, top = piece[0, 2], piece[0, 2]
                    for k in range(1, left):
                        bottom, top = min(bottom, piece[k, 2]), max(top, piece[k, 2])
                    columns[found] = row * width + column
                    heights[found, 0], heights[found, 1] = bottom, top
                    heights[found, 2] = height_over(whole, twice, (column + 0.5) * cell, (row + 0.5) * cell)
                    flags[found] = walkable[t]
                found += 1
    return found


@kernel(inner=True, borrows=True)
def height_over(corners: FloatArray, twice: float, x: float, y: float) -> float:
    """Return the height of a triangle over a point; NaN if it is not there.

    Args:
        corners: its corners; (3 or more, 3) [m].
        twice: twice its signed area in plan [m2].
        x: x of the point [m].
        y: y of the point [m].
    """
    if abs(twice) < 1e-12:
        return math.nan
    ax, ay = corners[0, 0], corners[0, 1]
    v = ((x - ax) * (corners[2, 1] - ay) - (y - ay) * (corners[2, 0] - ax)) / twice
    w = ((corners[1, 0] - ax) * (y - ay) - (corners[1, 1] - ay) * (x - ax)) / twice
    if v < -1e-9 or w < -1e-9 or v + w > 1.0 + 1e-9:
        return math.nan
    return float(corners[0, 2] + v * (corners[1, 2] - corners[0, 2]) + w * (corners[2, 2] - corners[0, 2]))


@kernel
def sorted_by_cell(columns: IntArray, heights: FloatArray, cells: int) -> tuple[IntArray, IntArray]:
    """Sort spans by cell, and those of a cell by their lowest point.

    Args:
        columns: cell of each span; (S,).
        heights: lowest point first; (S, 3) [m].
        cells: number of cells.

    Returns:
        First span of each cell (cells + 1,), and the spans in order (S,).
    """
    starts = np.zeros(cells + 1, np.int64)
    for s in range(len(columns)):
        starts[columns[s] + 1] += 1
    for c in range(cells):
        starts[c + 1] += starts[c]
    filled = starts[:cells].copy()
    order = np.empty(len(columns), np.int64)
    for s in range(len(columns)):
        place, first = filled[columns[s]], starts[columns[s]]
        filled[columns[s]] += 1
        while place > first and heights[order[place - 1], 0] > heights[s, 0]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = s
    return starts, order


@kernel
def merged_spans(
    starts: IntArray,
    order: IntArray,
    heights: FloatArray,
    flags: Flags,
    gap: float,
    step: float,
    out: FloatArray,
    out_flags: Flags,
    out_starts: IntArray,
) -> None:
    """Merge the spans of each cell that meet, from the lowest to the highest.

    A merged span is walkable if a walkable part of it reaches to within one step below its top: who can climb a step
    stands on the tread beside a riser, and on a kerb.

    Args:
        starts: first span of each cell in `order`; (cells + 1,).
        order: spans, sorted by cell and then by their lowest point; (S,).
        heights: lowest point, highest point and height over the middle of the cell; (S, 3) [m].
        flags: 1 where a span is walkable; (S,).
        gap: distance between spans that counts as none [m].
        step: greatest step that a character climbs [m].
        out: receives lowest point, highest point and height to stand at; (S, 3) [m].
        out_flags: receives 1 where a merged span is walkable; (S,).
        out_starts: receives the first merged span of each cell; (cells + 1,).
    """
    count = 0
    for c in range(len(starts) - 1):
        out_starts[c] = count
        k, end = starts[c], starts[c + 1]
        while k < end:
            first = k
            bottom, top = heights[order[k], 0], heights[order[k], 1]
            k += 1
            while k < end and heights[order[k], 0] <= top + gap:
                top = max(top, heights[order[k], 1])
                k += 1
            stand, reach = -math.inf, -math.inf
            for i in range(first, k):
                one = order[i]
                if flags[one] and heights[one, 1] >= top - step:
                    reach = max(reach, heights[one, 1])
                    if not math.isnan(heights[one, 2]):
                        stand = max(stand, heights[one, 2])
            out[count, 0], out[count, 1] = bottom, top
            # what has no middle here, such as the last strip of a tread, is as high as it gets
            out[count, 2] = stand if stand > -math.inf else top
            out_flags[count] = 1 if reach > -math.inf else 0
            count += 1
    out_starts[len(starts) - 1] = count


@kernel
def open_spans(
    starts: IntArray, heights: FloatArray, flags: Flags, headroom: float, out: FloatArray, out_starts: IntArray
) -> None:
    """Find the open space over each walkable span: from where a character stands up to what is above.

    Args:
        starts: first merged span of each cell; (cells + 1,).
        heights: lowest point, highest point and height to stand at; (S, 3) [m].
        flags: 1 where a span is walkable; (S,).
        headroom: least height of the space [m].
        out: receives the height to stand at and the height of the ceiling, infinity for the sky; (S, 2) [m].
        out_starts: receives the first open span of each cell; (cells + 1,).
    """
    count = 0
    for c in range(len(starts) - 1):
        out_starts[c] = count
        for k in range(starts[c], starts[c + 1]):
            ceiling = heights[k + 1, 0] if k + 1 < starts[c + 1] else math.inf
            if flags[k] and ceiling - heights[k, 1] >= headroom:
                out[count, 0], out[count, 1] = heights[k, 2], ceiling
                count += 1
    out_starts[len(starts) - 1] = count


@kernel
def links(
    starts: IntArray, spans: FloatArray, shape: tuple[int, int], step: float, headroom: float, out: IntArray
) -> None:
    """Link each open span with those of the four cells beside it that a character can step to.

    Args:
        starts: first open span of each cell; (cells + 1,).
        spans: height to stand at and height of the ceiling; (N, 2) [m].
        shape: rows and columns of the grid.
        step: greatest step [m].
        headroom: least height of the space that both have in common [m].
        out: receives the open span to the right (+x), above (+y), to the left and below, -1 for none; (N, 4).
    """
    rows, width = shape
    for row in range(rows):
        for column in range(width):
            c = row * width + column
            for k in range(starts[c], starts[c + 1]):
                for side in range(4):
                    out[k, side] = -1
                    i = row + (1 if side == 1 else -1 if side == 3 else 0)
                    j = column + (1 if side == 0 else -1 if side == 2 else 0)
                    if i < 0 or j < 0 or i >= rows or j >= width:
                        continue
                    other = i * width + j
                    nearest = math.inf
                    for m in range(starts[other], starts[other + 1]):
                        rise = abs(spans[m, 0] - spans[k, 0])
                        room = min(spans[m, 1], spans[k, 1]) - max(spans[m, 0], spans[k, 0])
                        if rise <= step and room >= headroom and rise < nearest:
                            nearest = rise
                            out[k, side] = m


@kernel
def mutual(out: IntArray) -> None:
    """Remove links that do not lead back; (N, 4) as `links` writes them."""
    for k in range(len(out)):
        for side in range(4):
            other = out[k, side]
            if other >= 0 and out[other, side ^ 2] != k:
                out[k, side] = -1
