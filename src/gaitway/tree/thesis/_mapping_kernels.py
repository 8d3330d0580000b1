"""Compiled loops that mark the cells of obstacles in a tree's frame, and remove the marks again."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.world.footprint import Outlines

Codes = npt.NDArray[np.uint8]
Cells = npt.NDArray[np.int32]

FREE, OCCUPIED, FIRST_KIND = 0, 1, 2
"""Codes of a cell: free, occupied by an obstacle, or inside the valid region of a special obstacle. The code of a
special obstacle is FIRST_KIND plus the number of its kind."""


class Lattice(NamedTuple):
    """Lattice of points over one obstacle, and the grid in which their cells are marked."""

    left: float
    """x of the first point of each row in the world [m]."""
    step: float
    """Distance from one point of a row to the next [m]."""
    first: int
    """First point of a row that may lie in the grid."""
    last: int
    """Last point of a row that may lie in the grid."""
    cosine: float
    """Cosine of the tree's heading in the world."""
    sine: float
    """Sine of the tree's heading in the world."""
    code: int
    """Code that is written into the cells."""
    rows: int
    """Number of rows of the grid."""
    columns: int
    """Number of columns of the grid."""


@kernel(borrows=True, inner=True)
def chord(ax: float, ay: float, bx: float, by: float, radius: float, y: float) -> tuple[float, float]:
    """Compute the part of a horizontal line that lies within a radius of an edge.

    The points within the radius form two discs around the ends of the edge and a rectangle between them.

    Args:
        ax: x of the start of the edge [m].
        ay: y of the start of the edge [m].
        bx: x of the end of the edge [m].
        by: y of the end of the edge [m].
        radius: greatest distance from the edge [m].
        y: y of the line [m].

    Returns:
        Least and greatest x of that part [m]; if it is empty, the first value is greater than the second.
    """
    low, high = math.inf, -math.inf
    under = radius * radius - (y - ay) * (y - ay)
    if under >= 0.0:
        half = math.sqrt(under)
        low, high = ax - half, ax + half
    under = radius * radius - (y - by) * (y - by)
    if under >= 0.0:
        half = math.sqrt(under)
        low, high = min(low, bx - half), max(high, bx + half)
    dx, dy = bx - ax, by - ay
    if abs(dy) > 1e-12:
        scale = radius / math.sqrt(dx * dx + dy * dy)
        for side in (-scale, scale):
            share = (y - ay - side * dx) / dy
            if 0.0 <= share <= 1.0:
                x = ax + share * dx - side * dy
                low, high = min(low, x), max(high, x)
    return low, high


@kernel(borrows=True, inner=True)
def mark_row(
    low: float, high: float, y: float, lattice: Lattice, pose: FloatArray, place: FloatArray, cells: Codes,
    marked: Cells, count: int,
) -> int:  # fmt: skip
    """Mark the cells of the points of one row of a lattice that lie between two x.

    Args:
        low: least x in the world [m].
        high: greatest x in the world [m].
        y: y of the row in the world [m].
        lattice: lattice and grid.
        pose: x, y [m] and heading [rad] of the tree's root in the world; (3,).
        place: x, y of the lower left corner of the grid in the tree's frame [m], and number of cells per metre; (3,).
        cells: code of each cell; (rows * columns,), written.
        marked: marked cells, each once; (rows * columns,), written from `count` on.
        count: number of cells that are already marked.

    Returns:
        The new number of marked cells.
    """
    first = max(math.ceil((max(low, lattice.left) - lattice.left) / lattice.step), lattice.first)
    last = min(math.floor(min((high - lattice.left) / lattice.step, float(lattice.last))), lattice.last)
    dy = y - pose[1]
    from_x, from_y = lattice.sine * dy - place[0], lattice.cosine * dy - place[1]
    for j in range(first, last + 1):
        dx = lattice.left + j * lattice.step - pose[0]
        column = math.floor((lattice.cosine * dx + from_x) * place[2])
        row = math.floor((from_y - lattice.sine * dx) * place[2])
        if row < 0 or column < 0 or row >= lattice.rows or column >= lattice.columns:
            continue
        at = row * lattice.columns + column
        if cells[at] == FREE:
            marked[count] = at
            count += 1
            cells[at] = lattice.code
        elif lattice.code == OCCUPIED:
            cells[at] = OCCUPIED  # an ordinary obstacle overrides a special obstacle, which some moves can pass
    return count


@kernel(borrows=True)
def mark(
    outlines: Outlines,
    codes: Codes,
    boxes: FloatArray,
    pose: FloatArray,
    radius: float,
    place: FloatArray,
    rows: int,
    columns: int,
    cells: Codes,
    marked: Cells,
    count: int,
    spans: FloatArray,
) -> int:
    """Mark the cells of obstacles, by points on them that are at most a cell's side / sqrt(2) apart.

    Args:
        outlines: outlines of G obstacles in the world.
        codes: code that each obstacle writes into its cells; (G,).
        boxes: bounding box of each obstacle: xmin, ymin, xmax, ymax [m]; (G, 4).
        pose: x, y [m] and heading [rad] of the tree's root in the world; (3,).
        radius: distance by which obstacles are enlarged [m].
        place: x, y of the lower left corner of the grid in the tree's frame [m], and number of cells per metre; (3,).
        rows: number of rows of the grid.
        columns: number of columns of the grid.
        cells: code of each cell; (rows * columns,), written.
        marked: marked cells, each once; (rows * columns,), written from `count` on.
        count: number of cells that are already marked.
        spans: working memory for at least four spans per point of an outline; (S, 2).

    Returns:
        The new number of marked cells.
    """
    cosine, sine = math.cos(pose[2]), math.sin(pose[2])
    side = 1.0 / place[2]
    # Box in the world around the grid, to leave out lattice points that cannot lie in it.
    middle_x, middle_y = place[0] + 0.5 * columns * side, place[1] + 0.5 * rows * side
    center_x = pose[0] + cosine * middle_x - sine * middle_y
    center_y = pose[1] + sine * middle_x + cosine * middle_y
    half_x = 0.5 * side * (abs(cosine) * columns + abs(sine) * rows)
    half_y = 0.5 * side * (abs(sine) * columns + abs(cosine) * rows)
    spacing = side / math.sqrt(2.0)
    for group in range(len(codes)):
        grown = radius + outlines.radii[group]
        left, low = boxes[group, 0] - grown, boxes[group, 1] - grown
        width, height = boxes[group, 2] + grown - left, boxes[group, 3] + grown - low
        if not (width > 0.0 and height > 0.0):
            continue
        wide, high = math.ceil(width / spacing), math.ceil(height / spacing)
        first_i, last_i = _between(center_y - half_y - low, center_y + half_y - low, height / high, high)
        first_j, last_j = _between(center_x - half_x - left, center_x + half_x - left, width / wide, wide)
        lattice = Lattice(left, width / wide, first_j, last_j, cosine, sine, int(codes[group]), rows, columns)
        for i in range(first_i, last_i + 1 if first_j <= last_j else first_i):
            y = low + i * height / high
            found = _spans(outlines, group, grown, y, spans)
            reached = -math.inf
            for k in range(found):
                # Spans are sorted by their start. The part that an earlier span has marked is left out.
                if spans[k, 1] > reached:
                    begins = max(spans[k, 0], reached)
                    count = mark_row(begins, spans[k, 1], y, lattice, pose, place, cells, marked, count)
                    reached = spans[k, 1]
    return count


@kernel(borrows=True, inner=True)
def _spans(outlines: Outlines, group: int, radius: float, y: float, spans: FloatArray) -> int:
    """Find the spans of a horizontal line that lie inside an outline or within a radius of it.

    Args:
        outlines: outlines of the obstacles.
        group: number of the obstacle.
        radius: greatest distance from the outline [m].
        y: y of the line [m].
        spans: receives least and greatest x of each span [m], sorted by the least; (S, 2).

    Returns:
        The number of spans, which may overlap.
    """
    count, crossed, last = 0, 0, len(spans)
    for ring in range(outlines.group_starts[group], outlines.group_starts[group + 1]):
        start, end = outlines.ring_starts[ring], outlines.ring_starts[ring + 1]
        before = end - 1
        for k in range(start, end):
            ax, ay = outlines.points[before, 0], outlines.points[before, 1]
            bx, by = outlines.points[k, 0], outlines.points[k, 1]
            before = k
            low, high = chord(ax, ay, bx, by, radius, y)
            if low <= high:
                count = _insert(spans, 0, count, low, high)
            if end - start > 2 and (ay <= y) != (by <= y):
                x = ax + (y - ay) / (by - ay) * (bx - ax)
                crossed = _insert(spans, last // 2, crossed, x, x)
    # The line is inside from the first crossing to the second, from the third to the fourth, and so on. Crossings are
    # kept in the second half of the memory.
    for k in range(last // 2, last // 2 + crossed - 1, 2):
        count = _insert(spans, 0, count, spans[k, 0], spans[k + 1, 0])
    return count


@kernel(borrows=True, inner=True)
def _insert(spans: FloatArray, first: int, count: int, low: float, high: float) -> int:
    """Insert a span into a sorted list of `count` spans that begins at `first`, and return the new number of spans."""
    at = first + count
    while at > first and spans[at - 1, 0] > low:
        spans[at, 0], spans[at, 1] = spans[at - 1, 0], spans[at - 1, 1]
        at -= 1
    spans[at, 0], spans[at, 1] = low, high
    return count + 1


@kernel(borrows=True, inner=True)
def _between(low: float, high: float, step: float, last: int) -> tuple[int, int]:
    """Return the first and the last of the points 0 to `last` that lie between two positions; point k is at k steps."""
    return max(math.ceil(min(low / step, last + 1.0)), 0), min(math.floor(max(high / step, -1.0)), last)


@kernel(borrows=True)
def unmark(cells: Codes, marked: Cells, count: int) -> None:
    """Set the marked cells to FREE. Other cells are not visited."""
    for k in range(count):
        cells[marked[k]] = FREE


@kernel
def boxes_of(points: FloatArray, ring_starts: IntArray, group_starts: IntArray) -> FloatArray:
    """Compute the bounding boxes of outlines without their rounding: xmin, ymin, xmax, ymax [m]; (G, 4).

    Args:
        points: points of all rings: x, y [m]; (P, 2).
        ring_starts: first point of each ring, and their number at the end; (R + 1,).
        group_starts: first ring of each obstacle, and their number at the end; (G + 1,).
    """
    out = np.zeros((len(group_starts) - 1, 4))
    for group in range(len(out)):
        out[group, 0], out[group, 1], out[group, 2], out[group, 3] = np.inf, np.inf, -np.inf, -np.inf
        for k in range(ring_starts[group_starts[group]], ring_starts[group_starts[group + 1]]):
            for axis in range(2):
                out[group, axis] = min(out[group, axis], points[k, axis])
                out[group, axis + 2] = max(out[group, axis + 2], points[k, axis])
    return out
