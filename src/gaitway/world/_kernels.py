"""Compiled loops of the occupancy grids: outlines into spans, spans into counts.

A span is (row, first column, end column). An outline is a group of rings; a ring of one point is a disc, of two a line,
of more an area, and each is rounded by its own radius.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel

Spans = npt.NDArray[np.int32]
Counts = npt.NDArray[np.uint16]


@kernel
def raster(
    points: FloatArray,
    ring_starts: IntArray,
    ring_parts: IntArray,
    ring_radii: FloatArray,
    group_starts: IntArray,
    origin_x: float,
    origin_y: float,
    cell: float,
    rows: int,
    columns: int,
) -> tuple[Spans, IntArray]:
    """Return the cells whose closed square meets each group of rings, as spans in order, each cell once a group.

    Args:
        points: corners of all rings [m]; (P, 2).
        ring_starts: first point of each ring, and P at the end; (R + 1,).
        ring_parts: rings of the same group and number overlap by the even-odd rule; (R,).
        ring_radii: rounding of each ring [m]; (R,).
        group_starts: first ring of each group, and R at the end; (G + 1,).
        origin_x: left side of the grid [m].
        origin_y: lower side of the grid [m].
        cell: side of a cell [m].
        rows: number of rows of the grid.
        columns: number of columns of the grid.

    Returns:
        Spans (S, 3), and the first span of each group with S at the end (G + 1,).
    """
    groups = len(group_starts) - 1
    intervals = np.empty((256, 4), np.int64)
    ordered = np.empty(256, np.int64)
    row_starts = np.empty(rows + 1, np.int64)
    part_count = 1
    for ring in range(len(ring_parts)):
        part_count = max(part_count, ring_parts[ring] + 1)
    odd = np.zeros(part_count, np.int64)
    spans = np.empty((64 * groups, 3), np.int32)
    span_starts = np.zeros(groups + 1, np.int64)
    count = 0
    for group in range(groups):
        first_ring, end_ring = group_starts[group], group_starts[group + 1]
        most, first_row, end_row = _most_intervals(
            points, ring_starts, ring_radii, first_ring, end_ring, origin_y, cell, rows
        )
        if most > len(ordered):
            intervals, ordered = np.empty((2 * most, 4), np.int64), np.empty(2 * most, np.int64)
        found = _intervals_of_group(
            points, ring_starts, ring_parts, ring_radii, first_ring, end_ring, origin_x, origin_y, cell, rows, columns,
            intervals,
        )  # fmt: skip
        if count + found > len(spans):
            spans = _longer(spans, count, 2 * (count + found))
        _order_by_row(intervals, found, first_row, end_row, row_starts, ordered)
        count = _merge(intervals, ordered, first_row, end_row, row_starts, odd, spans, count)
        span_starts[group + 1] = count
    return spans[:count], span_starts


@kernel(inner=True)
def _most_intervals(
    points: FloatArray,
    ring_starts: IntArray,
    ring_radii: FloatArray,
    first_ring: int,
    end_ring: int,
    origin_y: float,
    cell: float,
    rows: int,
) -> tuple[int, int, int]:
    """Return a bound on the intervals of a group, its first row and its end row.

    The bound counts one interval for each row that an edge can reach.
    """
    most, first_row, end_row = 0, rows, 0
    for ring in range(first_ring, end_ring):
        start, end, radius = ring_starts[ring], ring_starts[ring + 1], ring_radii[ring]
        for k in range(start, end):
            after = k + 1 if k + 1 < end else start
            first, last = _rows_of_edge(points[k, 1], points[after, 1], radius, origin_y, cell, rows)
            if first <= last:
                most += last - first + 1
                first_row, end_row = min(first_row, first), max(end_row, last + 1)
    return most, first_row, end_row


@kernel(inner=True)
def _rows_of_edge(ay: float, by: float, radius: float, origin_y: float, cell: float, rows: int) -> tuple[int, int]:
    """Return first and last row of the grid that a rounded edge reaches; first > last if none.

    The first is beyond the last if there is none.
    """
    low = math.floor((min(ay, by) - radius - origin_y) / cell)
    high = math.floor((max(ay, by) + radius - origin_y) / cell)
    return int(max(min(low, rows), 0)), int(max(min(high, rows - 1), -1))


@kernel(inner=True)
def _intervals_of_group(
    points: FloatArray,
    ring_starts: IntArray,
    ring_parts: IntArray,
    ring_radii: FloatArray,
    first_ring: int,
    end_ring: int,
    origin_x: float,
    origin_y: float,
    cell: float,
    rows: int,
    columns: int,
    intervals: IntArray,
) -> int:
    """Return what the edges of a group cover of each row: row, first column, end column, and crossed part.

    Row, first column, end column, and which part crosses its middle.

    The intervals overlap and are in any order. The last field is -1 where the edge does not cross the line through the
    middle of the row, or bounds no area.
    """
    count = 0
    for ring in range(first_ring, end_ring):
        start, end, radius = ring_starts[ring], ring_starts[ring + 1], ring_radii[ring]
        area = end - start > 2
        for k in range(start, end if area or end - start == 1 else end - 1):
            after = k + 1 if k + 1 < end else start
            ay, by = points[k, 1], points[after, 1]
            first, last = _rows_of_edge(ay, by, radius, origin_y, cell, rows)
            if first <= last:
                count = _intervals_of_edge(
                    points[k, 0] - origin_x, ay, points[after, 0] - origin_x, by, radius, origin_y, cell, first, last,
                    columns, ring_parts[ring] if area else -1, intervals, count,
                )  # fmt: skip
    return count


@kernel(inner=True)
def _intervals_of_edge(
    ax: float,
    ay: float,
    bx: float,
    by: float,
    radius: float,
    origin_y: float,
    cell: float,
    first_row: int,
    last_row: int,
    columns: int,
    part: int,
    intervals: IntArray,
    count: int,
) -> int:
    """Append the columns that a rounded edge meets in each row; return the new count.

    The rounded edge is convex: its extremes in a band lie on a side of the band, or are its own.
    """
    length, per_cell = math.hypot(bx - ax, by - ay), 1.0 / cell
    scale = radius / length if length > 0.0 else 0.0
    side_x, side_y = -(by - ay) * scale, (bx - ax) * scale
    inverse = 1.0 / (by - ay) if abs(by - ay) > 1e-12 else 0.0
    y = origin_y + first_row * cell
    below_low, below_high = _extent(ax, ay, bx, by, radius, side_x, side_y, inverse, y)
    for row in range(first_row, last_row + 1):
        top = origin_y + (row + 1) * cell
        above_low, above_high = _extent(ax, ay, bx, by, radius, side_x, side_y, inverse, top)
        low, high = min(below_low, above_low), max(below_high, above_high)
        if y <= ay <= top:
            low, high = min(low, ax - radius), max(high, ax + radius)
        if y <= by <= top:
            low, high = min(low, bx - radius), max(high, bx + radius)
        first = min(max(math.floor(low * per_cell), 0.0), float(columns))
        end = min(max(math.floor(high * per_cell) + 1.0, 0.0), float(columns))
        middle = origin_y + (row + 0.5) * cell
        crosses = part >= 0 and (ay <= middle) != (by <= middle)
        if crosses or first < end:  # an edge beside the grid still tells inside from outside
            intervals[count, 0], intervals[count, 1], intervals[count, 2] = row, int(first), int(end)
            intervals[count, 3] = part if crosses else -1
            count += 1
        y, below_low, below_high = top, above_low, above_high
    return count


@kernel(inner=True)
def _extent(
    ax: float,
    ay: float,
    bx: float,
    by: float,
    radius: float,
    side_x: float,
    side_y: float,
    inverse: float,
    y: float,
) -> tuple[float, float]:
    """Return the least and greatest x at which a rounded edge meets the line at height y; inf, -inf if it does not.

    A rounded edge is two discs and a rectangle whose short sides lie within the discs, so that the discs and the two
    long sides hold the ends of every cut.
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
    if inverse != 0.0:
        left, right = (y - ay - side_y) * inverse, (y - ay + side_y) * inverse
        if 0.0 <= left <= 1.0:
            x = ax + left * (bx - ax) + side_x
            low, high = min(low, x), max(high, x)
        if 0.0 <= right <= 1.0:
            x = ax + right * (bx - ax) - side_x
            low, high = min(low, x), max(high, x)
    return low, high


@kernel(inner=True)
def _order_by_row(
    intervals: IntArray, found: int, first_row: int, end_row: int, row_starts: IntArray, ordered: IntArray
) -> None:
    """Order intervals by row, by counting; those of row r begin at `ordered[row_starts[r - first_row]]`."""
    for row in range(end_row - first_row + 1):
        row_starts[row] = 0
    for k in range(found):
        row_starts[intervals[k, 0] - first_row] += 1
    total = 0
    for row in range(end_row - first_row + 1):
        total += row_starts[row]
        row_starts[row] = total
    for k in range(found):
        row = intervals[k, 0] - first_row
        row_starts[row] -= 1
        ordered[row_starts[row]] = intervals[k, 1] << 32 | k


@kernel(inner=True)
def _merge(
    intervals: IntArray,
    ordered: IntArray,
    first_row: int,
    end_row: int,
    row_starts: IntArray,
    odd: IntArray,
    spans: Spans,
    count: int,
) -> int:
    """Append the cells that a group covers as spans; return the new number of spans.

    A gap between what the edges cover is inside or outside as a whole. It is inside a part if edges of that part have
    crossed the middle of the row an odd number of times before it.

    Args:
        intervals: result of `_intervals_of_group`.
        ordered: first column << 32 | interval, row after row.
        first_row: first row of the group.
        end_row: row after the last one of the group.
        row_starts: begin of each row in `ordered`.
        odd: 0 for every part; it is 0 again at the end, since a ring crosses a line an even number of times.
        spans: spans so far, with room for more; written.
        count: number of spans so far.
    """
    for row in range(first_row, end_row):
        start, stop = row_starts[row - first_row], row_starts[row - first_row + 1]
        if stop - start > 1:
            _sort(ordered, start, stop)
        end, inside = -1, 0
        for k in range(start, stop):
            first, which = ordered[k] >> 32, ordered[k] & 0xFFFFFFFF
            if first > end and inside == 0:
                if end >= 0 and spans[count - 1, 1] == end:  # it was only an edge beside the grid
                    count -= 1
                spans[count, 0], spans[count, 1] = row, first
                count += 1
            end = max(end, intervals[which, 2])
            spans[count - 1, 2] = end
            part = intervals[which, 3]
            if part >= 0:
                odd[part] = 1 - odd[part]
                inside += 1 if odd[part] == 1 else -1
        if end >= 0 and spans[count - 1, 1] == end:
            count -= 1
    return count


@kernel(inner=True)
def _longer(spans: Spans, count: int, capacity: int) -> Spans:
    """Return the first `count` spans in a longer array."""
    out = np.empty((capacity, 3), np.int32)
    for k in range(count):
        for field in range(3):
            out[k, field] = spans[k, field]
    return out


@kernel(inner=True)
def _sort(values: IntArray, start: int, stop: int) -> None:
    """Sort a part in place: Shell's sort, which is insertion for the few that most rows have."""
    gap = 1
    while gap < (stop - start) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(start + gap, stop):
            value, place = values[k], k
            while place >= start + gap and values[place - gap] > value:
                values[place] = values[place - gap]
                place -= gap
            values[place] = value
        gap //= 3


@kernel
def window_of_spans(spans: Spans) -> tuple[int, int, int, int]:
    """Return the row, column, end row and end column of the smallest window that holds one span or more."""
    column, column_end = spans[0, 1], spans[0, 2]
    for k in range(1, len(spans)):
        column, column_end = min(column, spans[k, 1]), max(column_end, spans[k, 2])
    return spans[0, 0], column, spans[len(spans) - 1, 0] + 1, column_end


@kernel
def add_spans(counts: Counts, mask: Counts, bit: int, spans: Spans) -> None:
    """Count one more in every cell of the spans, and set the bit there."""
    for k in range(len(spans)):
        row = np.uintp(spans[k, 0])
        for place in range(spans[k, 1], spans[k, 2]):
            column = np.uintp(place)  # an index that cannot be negative needs no test, so that this becomes vector code
            counts[row, column] += 1
            mask[row, column] |= bit


@kernel
def remove_spans(counts: Counts, mask: Counts, bit: int, spans: Spans) -> None:
    """Count one less in every cell of the spans, and clear the bit where none is left."""
    for k in range(len(spans)):
        row = np.uintp(spans[k, 0])
        for place in range(spans[k, 1], spans[k, 2]):
            column = np.uintp(place)
            left = counts[row, column] - 1
            counts[row, column] = left
            mask[row, column] &= 0xFFFF ^ bit if left == 0 else 0xFFFF
