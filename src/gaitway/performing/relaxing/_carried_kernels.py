"""Carried steps for kernels: the discs of windows are carried along with the root, and tested against all others."""

from __future__ import annotations

import math

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.space._distance_kernels import Squares
from gaitway.space._traffic_kernels import TrafficArrays, group_hit

BODY = 0.02
"""How far limbs may leave the discs that are carried with the root, where legs follow their feet [m]."""
LEG = 0.3
"""Distance of feet from the root for which a leg follows them [m]."""
MIDDLE, FIRST, LAST, BEFORE, AFTER = range(5)
"""Frames of a window: its middle, first and last one, and those one stride before and after the middle."""


@kernel(borrows=True, inner=True)
def wrapped(angle: float) -> float:
    """Return the same angle [rad] in [-pi, pi), as `planar.wrap_angle`."""
    out = (angle + math.pi) % (2.0 * math.pi) - math.pi
    return -math.pi if out >= math.pi else out


@kernel(borrows=True, inner=True)
def carry(
    placed: FloatArray, k: int, local: FloatArray, roots: FloatArray, bounds: FloatArray, window: int
) -> tuple[float, float, float, float]:
    """Return the move of a window: x, y [m] and heading [rad] of its frame, and by how much its discs grow [m].

    Args:
        placed: poses of the root in the five frames of some windows; (5, N, 3).
        k: number of the window among these.
        local: inverses of the poses of the root in its clip; (5, W, 3).
        roots: places of the root in its clip [m]; (5, W, 2).
        bounds: greatest distance of discs from the root [m]; (W,).
        window: number of the window among all.
    """
    h = placed[MIDDLE, k, 2]
    c, s = math.cos(h), math.sin(h)
    u, v = local[MIDDLE, window, 0], local[MIDDLE, window, 1]
    x, y = placed[MIDDLE, k, 0] + c * u - s * v, placed[MIDDLE, k, 1] + s * u + c * v
    heading = wrapped(h + local[MIDDLE, window, 2])
    c, s = math.cos(heading), math.sin(heading)
    slack = follow = 0.0
    for frame in range(FIRST, AFTER + 1):
        u, v = roots[frame, window, 0], roots[frame, window, 1]
        dx, dy = x + c * u - s * v - placed[frame, k, 0], y + s * u + c * v - placed[frame, k, 1]
        turned = abs(wrapped(wrapped(placed[frame, k, 2] + local[frame, window, 2]) - heading))
        if frame <= LAST:
            slack = max(slack, math.hypot(dx, dy) + turned * bounds[window])
        else:
            follow = max(follow, math.hypot(dx, dy) + LEG * turned)
    return x, y, heading, slack + min(follow, BODY)


@kernel(borrows=True)
def sweep(
    placed: FloatArray, windows: IntArray, local: FloatArray, roots: FloatArray, bounds: FloatArray, around: FloatArray,
    discs: FloatArray, starts: IntArray, swept_around: FloatArray, swept_discs: FloatArray, swept_starts: IntArray,
) -> None:  # fmt: skip
    """Carry the discs of some windows.

    Args:
        placed: poses of the root in the five frames of the windows; (5, N, 3).
        windows: the windows; (N,).
        local: inverses of the poses of the root in the clips; (5, W, 3).
        roots: places of the root in the clips [m]; (5, W, 2).
        bounds: greatest distance of discs from the root [m]; (W,).
        around: one disc around each window [m]; (W, 3).
        discs: discs of all windows [m]; (D, 3).
        starts: first disc of each window; (W + 1,).
        swept_around: carried discs around windows, written; (N, 3).
        swept_discs: carried discs, window after window, written; (M, 3).
        swept_starts: first carried disc of each window, written; (N + 1,).
    """
    count = 0
    for k in range(len(windows)):
        window = windows[k]
        x, y, heading, slack = carry(placed, k, local, roots, bounds, window)
        c, s = math.cos(heading), math.sin(heading)
        u, v = around[window, 0], around[window, 1]
        swept_around[k, 0], swept_around[k, 1] = x + c * u - s * v, y + s * u + c * v
        swept_around[k, 2] = around[window, 2] + slack
        swept_starts[k] = count
        for disc in range(starts[window], starts[window + 1]):
            u, v = discs[disc, 0], discs[disc, 1]
            swept_discs[count, 0], swept_discs[count, 1] = x + c * u - s * v, y + s * u + c * v
            swept_discs[count, 2] = discs[disc, 2] + slack
            count += 1
    swept_starts[len(windows)] = count


@kernel(borrows=True, inner=True)
def clearance(squares: Squares, grid: FloatArray, x: float, y: float) -> float:
    """Return a lower bound of the distance of a point to obstacles [m], as `distances.looked_up`.

    Args:
        squares: squared distances [m^2]; (rows, columns).
        grid: x and y of the corner of the grid, side and squared side of a cell; (4,).
        x: x of the point [m].
        y: y of the point [m].
    """
    column, row = (x - grid[0]) / grid[2] - 0.5, (y - grid[1]) / grid[2] - 0.5
    if not (0.0 <= column < squares.shape[1] - 1 and 0.0 <= row < squares.shape[0] - 1):
        return 0.0
    i, j = int(row), int(column)
    u, v = column - j, row - i
    below = (1.0 - u) * squares[i, j] + u * squares[i, j + 1]
    above = (1.0 - u) * squares[i + 1, j] + u * squares[i + 1, j + 1]
    square = (1.0 - v) * below + v * above - (u * (1.0 - u) + v * (1.0 - v)) * grid[3]
    return math.sqrt(max(square, 0.0))


@kernel(borrows=True)
def touch(
    traffic_handle: ArrayHandle[TrafficArrays], squares: Squares, grid: FloatArray, placed: FloatArray,
    windows: IntArray, local: FloatArray, roots: FloatArray, bounds: FloatArray, around: FloatArray, discs: FloatArray,
    starts: IntArray, slots: IntArray, touching: BoolArray,
) -> None:  # fmt: skip
    """Find out whether windows touch an obstacle or anybody.

    Args:
        traffic_handle: all others.
        squares: squared distances to obstacles [m^2]; (rows, columns).
        grid: x and y of the corner of that grid, side and squared side of a cell; (4,).
        placed: as in `sweep`.
        windows: as in `sweep`.
        local: as in `sweep`.
        roots: as in `sweep`.
        bounds: as in `sweep`.
        around: as in `sweep`.
        discs: as in `sweep`.
        starts: as in `sweep`.
        slots: first and end slot of each window; (W, 2).
        touching: whether each of the windows touches anything, written; (N,).
    """
    traffic = traffic_handle.value
    for k in range(len(windows)):
        window, hit = windows[k], False
        x, y, heading, slack = carry(placed, k, local, roots, bounds, window)
        c, s = math.cos(heading), math.sin(heading)
        disc, end = starts[window], starts[window + 1]
        while disc < end and not hit:
            u, v, r = discs[disc, 0], discs[disc, 1], discs[disc, 2] + slack
            hit = clearance(squares, grid, x + c * u - s * v, y + s * u + c * v) < r
            disc += 1
        slot = slots[window, 0]
        while slot < slots[window, 1] and not hit:
            u, v, r = around[window, 0], around[window, 1], around[window, 2] + slack
            disc = starts[window]
            if group_hit(traffic, slot, x + c * u - s * v, y + s * u + c * v, r, -1) < 0:
                disc = end
            while disc < end and not hit:
                u, v, r = discs[disc, 0], discs[disc, 1], discs[disc, 2] + slack
                hit = group_hit(traffic, slot, x + c * u - s * v, y + s * u + c * v, r, -1) >= 0
                disc += 1
            slot += 1
        touching[k] = hit
