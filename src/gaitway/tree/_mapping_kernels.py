"""Compiled loops that mark the cells of obstacles in a tree's frame, and take the marks away again."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gaitway._jit import kernel
from gaitway.arrays import FloatArray, IntArray
from gaitway.world.footprint import Outlines

Codes = npt.NDArray[np.uint8]
Cells = npt.NDArray[np.int32]

FREE, OCCUPIED, FIRST_KIND = 0, 1, 2
"""What is in a cell: nothing, an obstacle, or the valid region of the special obstacle of kind 0, and so on."""


@kernel(borrows=True, inner=True)
def covers(outlines: Outlines, group: int, radius: float, x: float, y: float) -> bool:
    """Whether a point is within a radius [m] of one of the outlines, or inside it."""
    inside, square = False, radius * radius
    for ring in range(outlines.group_starts[group], outlines.group_starts[group + 1]):
        first, last = outlines.ring_starts[ring], outlines.ring_starts[ring + 1]
        before = last - 1
        for k in range(first, last):
            ax, ay = outlines.points[before, 0] - x, outlines.points[before, 1] - y
            bx, by = outlines.points[k, 0] - x, outlines.points[k, 1] - y
            before = k
            dx, dy = bx - ax, by - ay
            length = dx * dx + dy * dy
            t = min(max(-(ax * dx + ay * dy) / length, 0.0), 1.0) if length > 0.0 else 0.0
            if (ax + t * dx) ** 2 + (ay + t * dy) ** 2 <= square:
                return True
            if last - first > 2 and (ay <= 0.0) != (by <= 0.0) and ax - ay * dx / dy > 0.0:
                inside = not inside
    return inside


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
) -> int:
    """Mark the cells of obstacles, by points at most a cell's side / sqrt(2) apart; how many cells are marked then.

    Args:
        outlines: of G obstacles in the world.
        codes: what each obstacle makes of a cell; (G,).
        boxes: around each of them: xmin, ymin, xmax, ymax [m]; (G, 4).
        pose: x, y [m] and heading [rad] of the tree's root in the world; (3,).
        radius: that obstacles grow by [m].
        place: lower left corner of the grid in the tree's frame [m], and cells in a metre; (3,).
        rows: of the grid.
        columns: of the grid.
        cells: what is in each cell; (rows * columns,), written.
        marked: cells that are marked, each once; (rows * columns,), written from `count` on.
        count: how many are marked already.
    """
    cosine, sine = math.cos(pose[2]), math.sin(pose[2])
    side = 1.0 / place[2]
    # what the grid covers of the world, as a box
    middle_x, middle_y = place[0] + 0.5 * columns * side, place[1] + 0.5 * rows * side
    center_x = pose[0] + cosine * middle_x - sine * middle_y
    center_y = pose[1] + sine * middle_x + cosine * middle_y
    half_x = 0.5 * side * (abs(cosine) * columns + abs(sine) * rows)
    half_y = 0.5 * side * (abs(sine) * columns + abs(cosine) * rows)
    spacing = side / math.sqrt(2.0)
    for group in range(len(codes)):
        code, grown = codes[group], radius + outlines.radii[group]
        left, low = boxes[group, 0] - grown, boxes[group, 1] - grown
        width, height = boxes[group, 2] + grown - left, boxes[group, 3] + grown - low
        wide, high = max(math.ceil(width / spacing), 1), max(math.ceil(height / spacing), 1)
        step_x, step_y = width / wide, height / high
        if code == FREE or not (step_x >= 0.0 and step_y >= 0.0):
            continue
        first_i, last_i = _between(center_y - half_y - low, center_y + half_y - low, step_y, high)
        first_j, last_j = _between(center_x - half_x - left, center_x + half_x - left, step_x, wide)
        for i in range(first_i, last_i + 1):
            y = low + i * step_y
            for j in range(first_j, last_j + 1):
                x = left + j * step_x
                dx, dy = x - pose[0], y - pose[1]
                column = math.floor((cosine * dx + sine * dy - place[0]) * place[2])
                row = math.floor((cosine * dy - sine * dx - place[1]) * place[2])
                if row < 0 or column < 0 or row >= rows or column >= columns:
                    continue
                at = row * columns + column
                # an obstacle that nobody may touch goes before one that can be passed
                if cells[at] != FREE and (cells[at] == OCCUPIED or code != OCCUPIED):
                    continue
                if covers(outlines, group, grown, x, y):
                    if cells[at] == FREE:
                        marked[count] = at
                        count += 1
                    cells[at] = code
    return count


@kernel(borrows=True, inner=True)
def _between(low: float, high: float, step: float, last: int) -> tuple[int, int]:
    """First and last of the points 0 to `last`, a step apart, that lie between two places."""
    if step <= 0.0:
        return 0, 0 if low <= 0.0 <= high else -1
    return max(math.ceil(min(low / step, last + 1.0)), 0), min(math.floor(max(high / step, -1.0)), last)


@kernel(borrows=True)
def unmark(cells: Codes, marked: Cells, count: int) -> None:
    """Make the cells free that were marked, and touch no others."""
    for k in range(count):
        cells[marked[k]] = FREE


@kernel
def boxes_of(points: FloatArray, ring_starts: IntArray, group_starts: IntArray) -> FloatArray:
    """Boxes around outlines without their rounding: xmin, ymin, xmax, ymax [m]; (G, 4)."""
    out = np.zeros((len(group_starts) - 1, 4))
    for group in range(len(out)):
        out[group, 0], out[group, 1], out[group, 2], out[group, 3] = np.inf, np.inf, -np.inf, -np.inf
        for k in range(ring_starts[group_starts[group]], ring_starts[group_starts[group + 1]]):
            for axis in range(2):
                out[group, axis] = min(out[group, axis], points[k, axis])
                out[group, axis + 2] = max(out[group, axis + 2], points[k, axis])
    return out
