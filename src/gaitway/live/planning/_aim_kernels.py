"""Nodes of a tree near a sub-goal, the most promising first."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.live.planning._subgoal_kernels import RouteArrays, length_at

Single = npt.NDArray[np.float32]
Small = npt.NDArray[np.int32]

_ROUNDED = 1.0
"""Largest error of the length of a route, which is counted in cells [m]."""


class EndArrays(NamedTuple):
    """Ends of E nodes of a tree, by cell; all arrays are read-only."""

    starts: Small
    """First end of each cell around the root, and E at the end; (cells + 1,)."""
    nodes: Small
    """Number of the node of each end; (E,)."""
    ends: Single
    """x, y [m] seen from the root, the price of the path there, and the discount of a path that passes a special
    obstacle; (E, 4)."""
    frame: FloatArray
    """Lower left corner (x, y) of the cells, their side [m], columns and rows; (5,)."""


class Heap(NamedTuple):
    """Ends of paths that wait, the best first: a heap of at most H."""

    values: FloatArray
    """Values of the ends, the least is the best; (H,)."""
    waiting: Small
    """Rows of the ends; (H,)."""
    size: IntArray
    """Number of ends that wait; (1,)."""


@kernel(borrows=True)
def add_up(links: npt.NDArray[np.uint32], own: FloatArray, out: FloatArray, begins: IntArray) -> None:
    """Add up numbers of the moves on the path to each node, and note the first two moves of the path as one number.

    Args:
        links: links of a tree; (N,).
        own: number of each move; (M,).
        out: receives the sums; (N,).
        begins: receives the moves; (N,), zeros.
    """
    for node in range(1, len(links)):
        parent, move = np.int64(links[node] >> 8), np.int64(links[node] & 255)
        out[node] = out[parent] + own[move]
        before = begins[parent]
        begins[node] = move + 1 if before == 0 else (before << 8) + move + 1 if before < 256 else before


@kernel(borrows=True, inner=True, shared=True)
def gather(
    ends: EndArrays, heap: Heap, x: float, y: float, reach: float, far_x: float, far_y: float, per_metre: float,
    slack: float,
) -> None:  # fmt: skip
    """Collect the paths that end within a distance of (x, y), by price and distance from there to a point far ahead.

    They are in no order before `arrange`.

    Args:
        ends: ends of the paths of a tree.
        heap: receives the ends; it is emptied first. If it is full, the rest is left out.
        x: x of the point in the frame of the tree [m].
        y: y of the point [m].
        reach: the distance [m].
        far_x: x of the point far ahead [m].
        far_y: y of the point far ahead [m].
        per_metre: price of a metre.
        slack: greatest value above the best one; paths with a larger value are left out.
    """
    starts, points, frame, values, waiting = ends.starts, ends.ends, ends.frame, heap.values, heap.waiting
    side, columns, rows = frame[2], int(frame[3]), int(frame[4])
    left, low, wide = (x - frame[0]) / side, (y - frame[1]) / side, reach / side
    count, least = 0, np.inf
    for row in range(max(math.floor(low - wide), 0), min(math.floor(low + wide), rows - 1) + 1):
        for column in range(max(math.floor(left - wide), 0), min(math.floor(left + wide), columns - 1) + 1):
            cell = row * columns + column
            for k in range(starts[cell], starts[cell + 1]):
                px, py = points[k, 0], points[k, 1]
                dx, dy = px - x, py - y
                if dx * dx + dy * dy <= reach * reach and count < len(values):
                    ax, ay = far_x - px, far_y - py
                    values[count] = points[k, 2] + per_metre * math.sqrt(ax * ax + ay * ay)
                    waiting[count] = k
                    least = min(least, values[count])
                    count += 1
    _keep(heap, count, least + slack)


@kernel(borrows=True, inner=True, shared=True)
def gather_by_route(
    ends: EndArrays, heap: Heap, routes: RouteArrays, route: int, x: float, y: float, c: float, s: float,
    per_metre: float, slack: float, nearer: float,
) -> None:  # fmt: skip
    """Collect all paths from a pose that lead on, by price and the route from their ends to the goal; see `gather`.

    Args:
        ends: ends of the paths of a tree.
        heap: receives the ends; it is emptied first. If it is full, the rest is left out.
        routes: routes to the goals.
        route: number of the route.
        x: x of the pose [m].
        y: y of the pose [m].
        c: cosine of its heading.
        s: sine of its heading.
        per_metre: price of a metre.
        slack: greatest value above the best one; paths with a larger value are left out.
        nearer: least distance by which paths must end nearer to the goal [m].
    """
    points, values, here = ends.ends, heap.values, length_at(routes, route, x, y)
    count, least, most, fewest = 0, np.inf, here - nearer, per_metre * here - _ROUNDED
    for k in range(len(ends.nodes)):
        u, v = points[k, 0], points[k, 1]
        left = length_at(routes, route, x + c * u - s * v, y + s * u + c * v)
        value = points[k, 2] + per_metre * left
        # what seems to cost less than the shortest way leads through a wall
        if left < most and value >= fewest and count < len(values):
            values[count], heap.waiting[count] = value - points[k, 3], k
            least = min(least, values[count])
            count += 1
    _keep(heap, count, least + slack)


@kernel(borrows=True, inner=True)
def _keep(heap: Heap, count: int, most: float) -> None:
    """Keep the first entries, without those above a value."""
    values, waiting, kept = heap.values, heap.waiting, 0
    for k in range(count):
        if values[k] <= most:
            values[kept], waiting[kept] = values[k], waiting[k]
            kept += 1
    heap.size[0] = kept


@kernel(borrows=True, inner=True)
def arrange(heap: Heap) -> None:
    """Make a heap of the ends that were collected, so that `pop` finds the best one."""
    count = heap.size[0]
    for k in range((count >> 1) - 1, -1, -1):
        sink(heap.values, heap.waiting, count, k)


@kernel(borrows=True, inner=True)
def pop(heap: Heap) -> int:
    """Take the best end out of the heap and return its row, or -1 if none waits."""
    values, waiting, count = heap.values, heap.waiting, heap.size[0]
    if count == 0:
        return -1
    best = int(waiting[0])
    values[0], waiting[0] = values[count - 1], waiting[count - 1]
    heap.size[0] = count - 1
    sink(values, waiting, count - 1, 0)
    return best


@kernel(borrows=True, inner=True)
def sink(values: FloatArray, waiting: Small, count: int, k: int) -> None:
    """Move an entry of a heap down to where it belongs; of two equal entries the lower number comes first."""
    value, node = values[k], waiting[k]
    while 2 * k + 1 < count:
        child = 2 * k + 1
        if child + 1 < count and before(values, waiting, child + 1, values[child], waiting[child]):
            child += 1
        if not before(values, waiting, child, value, node):
            break
        values[k], waiting[k] = values[child], waiting[child]
        k = child
    values[k], waiting[k] = value, node


@kernel(borrows=True, inner=True)
def before(values: FloatArray, waiting: Small, k: int, value: float, node: int) -> bool:
    """Return whether an entry comes before another."""
    return bool(values[k] < value or (values[k] == value and waiting[k] < node))
