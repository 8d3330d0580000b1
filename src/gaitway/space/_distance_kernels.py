"""Compiled loops of distances from outlines: into the cells around them, and from single points.

Outlines are groups of rings, see `world.footprint.Outlines`.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.jit import kernel

Squares = npt.NDArray[np.float32]


@kernel
def near_squares(
    points: FloatArray,
    ring_starts: IntArray,
    group_starts: IntArray,
    radii: FloatArray,
    place: FloatArray,
    reach: float,
    out: Squares,
) -> None:
    """Lower each cell to the squared distance of its centre from outlines; cells farther than `reach` may stay.

    Args:
        points: corners of all rings [m]; (P, 2).
        ring_starts: first point of each ring, and P at the end; (R + 1,).
        group_starts: first ring of each outline, and R at the end; (G + 1,).
        radii: rounding of each outline [m]; (G,).
        place: x and y of the lower left corner [m], and cells per metre; (3,) or more.
        reach: distance up to which cells must be right [m].
        out: squared distances [m^2]; (rows, columns), lowered in place.
    """
    flips = np.zeros(out.shape[1] + 1, np.bool_)
    for group in range(len(radii)):
        for ring in range(group_starts[group], group_starts[group + 1]):
            before = ring_starts[ring + 1] - 1
            for k in range(ring_starts[ring], ring_starts[ring + 1]):
                lower_along_edge(
                    points[before, 0], points[before, 1], points[k, 0], points[k, 1], radii[group], reach, place, out
                )
                before = k
        clear_inside(points, ring_starts, group_starts[group], group_starts[group + 1], place, flips, out)


@kernel(borrows=True, inner=True, fastmath=True)
def lower_along_edge(
    ax: float, ay: float, bx: float, by: float, radius: float, reach: float, place: FloatArray, out: Squares
) -> None:
    """Lower cells to their squared distance from one edge that is rounded by a radius [m]; see `near_squares`."""
    rows, columns = out.shape
    per_metre, side, wide = place[2], 1.0 / place[2], reach + radius
    dx, dy = bx - ax, by - ay
    length = math.hypot(dx, dy)
    scale = 1.0 / (length * length) if length > 0.0 else 0.0
    first_row = max(math.ceil((min(ay, by) - wide - place[1]) * per_metre - 0.5), 0)
    for i in range(first_row, min(math.floor((max(ay, by) + wide - place[1]) * per_metre + 0.5), rows)):
        y = place[1] + (i + 0.5) * side - ay
        low, high = min(ax, bx) - wide, max(ax, bx) + wide
        if dy != 0.0:  # of the box around the edge, only the part that is as near to the line through the edge
            middle, half = ax + dx * y / dy, wide * length / abs(dy)
            low, high = max(low, middle - half), min(high, middle + half)
        first = max(math.ceil((low - place[0]) * per_metre - 0.5), 0)
        start = place[0] + 0.5 * side - ax
        for column in range(first, min(math.floor((high - place[0]) * per_metre + 0.5), columns)):
            j = np.uintp(column)
            x = start + column * side
            t = min(max((x * dx + y * dy) * scale, 0.0), 1.0)
            square = (x - t * dx) ** 2 + (y - t * dy) ** 2
            if radius > 0.0:
                square = max(math.sqrt(square) - radius, 0.0) ** 2
            out[i, j] = min(out[i, j], square)


@kernel(borrows=True, inner=True)
def clear_inside(
    points: FloatArray,
    ring_starts: IntArray,
    first_ring: int,
    end_ring: int,
    place: FloatArray,
    flips: BoolArray,
    out: Squares,
) -> None:
    """Set cells to 0 whose centres lie within some rings, by the even-odd rule.

    Args:
        points: corners of all rings [m]; (P, 2).
        ring_starts: first point of each ring, and P at the end; (R + 1,).
        first_ring: first ring that counts.
        end_ring: ring after the last one that counts.
        place: x and y of the lower left corner [m], and cells per metre, as in `near_squares`.
        flips: memory for whether a side is crossed before each column; (columns + 1,). All values are False before and
            after the call.
        out: squared distances [m^2]; (rows, columns), written.
    """
    rows, columns = out.shape
    low, high = np.inf, -np.inf
    for k in range(ring_starts[first_ring], ring_starts[end_ring]):
        low, high = min(low, points[k, 1]), max(high, points[k, 1])
    if low > high:
        return
    first_row = max(math.ceil((low - place[1]) * place[2] - 0.5), 0)
    for i in range(first_row, min(math.floor((high - place[1]) * place[2] + 0.5), rows)):
        y = place[1] + (i + 0.5) / place[2]
        first, last = columns, -1
        for ring in range(first_ring, end_ring):
            before = ring_starts[ring + 1] - 1
            for k in range(ring_starts[ring], ring_starts[ring + 1]):
                ay, by = points[before, 1], points[k, 1]
                if (ay <= y) != (by <= y):
                    x = points[before, 0] + (y - ay) / (by - ay) * (points[k, 0] - points[before, 0])
                    column = int(min(max(math.ceil((x - place[0]) * place[2] - 0.5), 0.0), float(columns)))
                    flips[column] = not flips[column]
                    first, last = min(first, column), max(last, column)
                before = k
        inside = False
        for j in range(first, last + 1):
            inside = inside != flips[j]
            flips[j] = False
            if inside:
                out[i, j] = 0.0


@kernel
def nearest(
    points: FloatArray,
    ring_starts: IntArray,
    group_starts: IntArray,
    radii: FloatArray,
    places: FloatArray,
    which: IntArray,
    distances: FloatArray,
) -> None:
    """Find the outline nearest to each point and its distance; negative inside, where deeper counts as nearer.

    Args:
        points: corners of all rings [m]; (P, 2).
        ring_starts: first point of each ring, and P at the end; (R + 1,).
        group_starts: first ring of each outline, and R at the end; (G + 1,).
        radii: rounding of each outline [m]; (G,).
        places: x and y of the points [m]; (N, 2).
        which: receives the outline of each point, if it is nearer than the value in `distances`; (N,).
        distances: receives the distances of these outlines [m]; (N,).
    """
    for n in range(len(places)):
        for group in range(len(radii)):
            away = distance_of_group(
                points, ring_starts, group_starts[group], group_starts[group + 1], places[n, 0], places[n, 1]
            )
            if away - radii[group] < distances[n]:
                which[n], distances[n] = group, away - radii[group]


@kernel(borrows=True, inner=True)
def distance_of_group(
    points: FloatArray, ring_starts: IntArray, first_ring: int, end_ring: int, x: float, y: float
) -> float:
    """Return the distance of a point from the sides of some rings without rounding [m]; negative inside."""
    best, inside = np.inf, False
    for ring in range(first_ring, end_ring):
        before = ring_starts[ring + 1] - 1
        for k in range(ring_starts[ring], ring_starts[ring + 1]):
            dx, dy = points[k, 0] - points[before, 0], points[k, 1] - points[before, 1]
            u, v = x - points[before, 0], y - points[before, 1]
            square = dx * dx + dy * dy
            t = min(max((u * dx + v * dy) / square, 0.0), 1.0) if square > 0.0 else 0.0
            best = min(best, (u - t * dx) ** 2 + (v - t * dy) ** 2)
            if (points[before, 1] <= y) != (points[k, 1] <= y) and points[before, 0] + v / dy * dx < x:
                inside = not inside
            before = k
    return -math.sqrt(best) if inside else math.sqrt(best)
