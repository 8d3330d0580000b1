"""Carried steps for kernels: the discs of windows are carried along with the root, and tested against all others."""

from __future__ import annotations

import math

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.space._distance_kernels import Squares
from gaitway.space._traffic_kernels import (
    BEGIN,
    END,
    END_DISC,
    END_GROUP,
    END_SLOT,
    ERA,
    FIRST_DISC,
    FIRST_GROUP,
    FIRST_SLOT,
    STAYS,
    TrafficArrays,
    block_of,
    first_link,
    group_hit,
    meets,
)

PROBE = 0.06
"""Distance over which the slope of the clearance is taken [m]."""
FLAT, WRONG = 0.3, 0.2
"""Least slope of the clearance that shows a direction, and the cosine beyond which it is taken for the wrong one."""
BODY = 0.02
"""How far limbs may leave the discs that are carried with the root, where legs follow their feet [m]."""
LEG = 0.3
"""Distance of feet from the root for which a leg follows them [m]."""
MIDDLE, FIRST, LAST, BEFORE, AFTER = range(5)
"""Frames of a window: its middle, first and last one, and those one stride before and after the middle."""


@kernel(borrows=True, inner=True)
def wrapped(angle: float) -> float:
    """Return the same angle [rad] in [-pi, pi), as `planar.wrap_angle`."""
    out, whole = angle + math.pi, 2.0 * math.pi
    if -whole <= out < 0.0:  # a remainder takes much longer, and is the same
        out += whole
    elif whole <= out < 2.0 * whole:
        out -= whole
    elif not 0.0 <= out < whole:
        out %= whole
    out -= math.pi
    return -math.pi if out >= math.pi else out


@kernel(borrows=True, inner=True)
def carry(
    path: FloatArray, rows: IntArray, local: FloatArray, bound: float, number: int, aside_x: float, aside_y: float,
) -> tuple[float, float, float, float]:  # fmt: skip
    """Return the move of a window: x, y [m] and heading [rad] of its frame, and by how much its discs grow [m].

    Args:
        path: path of the root; (F, 3).
        rows: the five frames of each window on the path; (W, 5).
        local: the inverse of the pose of the root in its clip, and the place of that; (W, 5, 5).
        bound: greatest distance of the window's discs from the root [m].
        number: number of the window.
        aside_x: by how much the path is moved along x [m].
        aside_y: by how much the path is moved along y [m].
    """
    row = rows[number, MIDDLE]
    h = path[row, 2]
    c, s = math.cos(h), math.sin(h)
    u, v = local[number, MIDDLE, 0], local[number, MIDDLE, 1]
    x, y = (path[row, 0] + aside_x) + c * u - s * v, (path[row, 1] + aside_y) + s * u + c * v
    heading = wrapped(h + local[number, MIDDLE, 2])
    c, s = math.cos(heading), math.sin(heading)
    slack = follow = 0.0
    for frame in range(FIRST, AFTER + 1):
        row, u, v = rows[number, frame], local[number, frame, 3], local[number, frame, 4]
        dx, dy = x + c * u - s * v - (path[row, 0] + aside_x), y + s * u + c * v - (path[row, 1] + aside_y)
        turned = abs(wrapped(wrapped(path[row, 2] + local[number, frame, 2]) - heading))
        if frame <= LAST:
            slack = max(slack, math.hypot(dx, dy) + turned * bound)
        else:
            follow = max(follow, math.hypot(dx, dy) + LEG * turned)
    return x, y, heading, slack + min(follow, BODY)


@kernel(borrows=True)
def sweep(
    path: FloatArray, rows: IntArray, local: FloatArray, windows: IntArray, bounds: FloatArray, around: FloatArray,
    discs: FloatArray, starts: IntArray, swept_around: FloatArray, swept_discs: FloatArray, swept_starts: IntArray,
) -> None:  # fmt: skip
    """Carry the discs of windows.

    Args:
        path: as in `carry`.
        rows: as in `carry`.
        local: as in `carry`.
        windows: number of each window among those of the library; (W,).
        bounds: greatest distance of the discs of the library's windows from the root [m]; (L,).
        around: one disc around each of the library's windows [m]; (L, 3).
        discs: discs of the library's windows [m]; (D, 3).
        starts: first disc of each of them; (L + 1,).
        swept_around: carried discs around windows, written; (W, 3).
        swept_discs: carried discs, window after window, written; (M, 3).
        swept_starts: first carried disc of each window, written; (W + 1,).
    """
    count = 0
    for k in range(len(windows)):
        window = windows[k]
        x, y, heading, slack = carry(path, rows, local, bounds[window], k, 0.0, 0.0)
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
        grid: x and y of the corner of the grid, side and squared side of a cell, how much less distances may come out
            at any point than they are, and up to where that holds [m]; (6,).
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


@kernel(borrows=True, inner=True)
def met_group(
    traffic: TrafficArrays, first: int, end: int, x: float, y: float, c: float, s: float, slack: float,
    around: FloatArray, discs: FloatArray, starts: IntArray, window: int,
) -> int:  # fmt: skip
    """Return the first group of the traffic that a window meets, or -1.

    Args:
        traffic: all others.
        first: first slot of the window.
        end: its end slot.
        x: x of the move of the window [m].
        y: y of that move [m].
        c: cosine of its turn.
        s: sine of its turn.
        slack: by how much discs grow [m].
        around: as in `sweep`.
        discs: as in `sweep`.
        starts: as in `sweep`.
        window: number of the window among those of the library.
    """
    met, slot = -1, first
    while slot < end and met < 0:
        u, v, r = around[window, 0], around[window, 1], around[window, 2] + slack
        disc, stop = starts[window], starts[window + 1]
        if group_hit(traffic, slot, x + c * u - s * v, y + s * u + c * v, r, -1) < 0:
            disc = stop
        while disc < stop and met < 0:
            u, v, r = discs[disc, 0], discs[disc, 1], discs[disc, 2] + slack
            met = group_hit(traffic, slot, x + c * u - s * v, y + s * u + c * v, r, -1)
            disc += 1
        slot += 1
    return met


@kernel(borrows=True, inner=True)
def meets_anybody(
    traffic: TrafficArrays, first: int, end: int, x: float, y: float, c: float, s: float, slack: float,
    around: FloatArray, discs: FloatArray, starts: IntArray, window: int,
) -> bool:  # fmt: skip
    """Return whether `met_group` finds anybody, with a single walk over those who may be there in any of the slots."""
    chunks, groups = traffic.chunks, traffic.groups
    u, v, r, hit = around[window, 0], around[window, 1], around[window, 2] + slack, False
    u, v = x + c * u - s * v, y + s * u + c * v
    column, last_column, last_row = block_of(u - r), block_of(u + r), block_of(v + r)
    if len(traffic.keys) == 0:
        column = last_column + 1
    while column <= last_column and not hit:
        row = block_of(v - r)
        while row <= last_row and not hit:
            era = STAYS
            while era <= ((end - 1) >> ERA) + 1 and not hit:
                link = first_link(traffic.keys, traffic.heads, era, column, row)
                while link >= 0 and not hit:
                    chunk = traffic.links[link, 0]
                    link = traffic.links[link, 1]
                    begin, until = max(chunks[chunk, BEGIN], first), min(chunks[chunk, END], end)
                    if begin < until and meets(traffic.chunk_around, chunk, u, v, r):
                        for group in range(chunks[chunk, FIRST_GROUP], chunks[chunk, END_GROUP]):
                            there = max(groups[group, FIRST_SLOT], begin) < min(groups[group, END_SLOT], until)
                            if not hit and there and meets(traffic.around, group, u, v, r):
                                hit = share_floor(traffic, group, x, y, c, s, slack, discs, starts, window)
                era = max(era + 1, (first >> ERA) + 1)
            row += 1
        column += 1
    return hit


@kernel(borrows=True, inner=True)
def share_floor(
    traffic: TrafficArrays, group: int, x: float, y: float, c: float, s: float, slack: float, discs: FloatArray,
    starts: IntArray, window: int,
) -> bool:  # fmt: skip
    """Return whether a disc of a window meets one of a group of the traffic; arguments as in `met_group`."""
    met, disc = 0, starts[window]
    while disc < starts[window + 1] and met == 0:
        u, v, r = discs[disc, 0], discs[disc, 1], discs[disc, 2] + slack
        u, v = x + c * u - s * v, y + s * u + c * v
        for other in range(traffic.groups[group, FIRST_DISC], traffic.groups[group, END_DISC]):
            met += meets(traffic.discs, other, u, v, r)
        disc += 1
    return met > 0


@kernel(borrows=True, inner=True)
def is_far(squares: Squares, grid: FloatArray, x: float, y: float, r: float, largest: float) -> bool:
    """Return whether no disc within another one can be found to touch an obstacle, which is known at once.

    Args:
        squares: as in `clearance`.
        grid: as in `clearance`.
        x: x of the middle of the disc around [m].
        y: y of that middle [m].
        r: its radius [m].
        largest: greatest radius of a disc within it [m].
    """
    doubt = grid[4]
    return bool(clearance(squares, grid, x, y) > r + doubt and largest + doubt < grid[5])


@kernel(borrows=True, inner=True)
def deepest(
    squares: Squares, grid: FloatArray, x: float, y: float, c: float, s: float, slack: float, discs: FloatArray,
    first: int, end: int, enough: float,
) -> tuple[float, int]:  # fmt: skip
    """Return by how much discs reach into obstacles [m], and the one that does so most.

    Args:
        squares: as in `clearance`.
        grid: as in `clearance`.
        x: as in `met_group`.
        y: as in `met_group`.
        c: as in `met_group`.
        s: as in `met_group`.
        slack: as in `met_group`.
        discs: as in `sweep`.
        first: the first disc.
        end: the disc after the last.
        enough: depth beyond which no deeper one is looked for [m].
    """
    most, worst, disc = -math.inf, first, first
    while disc < end and not most > enough:
        u, v = discs[disc, 0], discs[disc, 1]
        depth = discs[disc, 2] + slack - clearance(squares, grid, x + c * u - s * v, y + s * u + c * v)
        if depth > most:
            most, worst = depth, disc
        disc += 1
    return most, worst


@kernel(borrows=True)
def touch(
    traffic_handle: ArrayHandle[TrafficArrays], squares: Squares, grid: FloatArray, path: FloatArray, free: FloatArray,
    rows: IntArray, local: FloatArray, windows: IntArray, bounds: FloatArray, around: FloatArray, discs: FloatArray,
    starts: IntArray, slots: IntArray, which: IntArray, shifts: FloatArray, normals: FloatArray, needed: FloatArray,
) -> None:  # fmt: skip
    """Find out how far windows must be moved until they touch neither an obstacle nor anybody.

    Args:
        traffic_handle: all others.
        squares: squared distances to obstacles [m^2]; (rows, columns).
        grid: as in `clearance`.
        path: as in `carry`.
        free: path that touches nothing, which decides about the side; (F, 3); (0, 3) if windows are not to be moved.
        rows: as in `carry`.
        local: as in `carry`.
        windows: as in `sweep`.
        bounds: as in `sweep`.
        around: as in `sweep`.
        discs: as in `sweep`.
        starts: as in `sweep`.
        slots: first and end slot of each window; (W, 2).
        which: the windows that are looked at; (N,).
        shifts: distances that are tried, one after another [m]; (S,).
        normals: direction in which each gets away from what it touches, written if there is a free path, otherwise
            zeros; (N, 2).
        needed: the first distance with which it touches nothing [m], or NaN; written; (N,).
    """
    traffic = traffic_handle.value
    for k in range(len(which)):
        number = which[k]
        window = windows[number]
        first, end = starts[window], starts[window + 1]
        if len(free) > 0:
            x, y, heading, slack = carry(path, rows, local, bounds[window], number, 0.0, 0.0)
            c, s = math.cos(heading), math.sin(heading)
            most, worst = deepest(squares, grid, x, y, c, s, slack, discs, first, end, math.inf)
            here_x, here_y = path[rows[number, MIDDLE], 0], path[rows[number, MIDDLE], 1]
            apart_x, apart_y = free[rows[number, MIDDLE], 0] - here_x, free[rows[number, MIDDLE], 1] - here_y
            normal_x = normal_y = 0.0
            if most > 0.0:
                u, v = x + c * discs[worst, 0] - s * discs[worst, 1], y + s * discs[worst, 0] + c * discs[worst, 1]
                normal_x = clearance(squares, grid, u + PROBE, v) - clearance(squares, grid, u - PROBE, v)
                normal_y = clearance(squares, grid, u, v + PROBE) - clearance(squares, grid, u, v - PROBE)
                normal_x, normal_y = normal_x / (2.0 * PROBE), normal_y / (2.0 * PROBE)
            else:
                met = met_group(
                    traffic, slots[number, 0], slots[number, 1], x, y, c, s, slack, around, discs, starts, window
                )
                if met >= 0:
                    normal_x, normal_y = here_x - traffic.around[met, 0], here_y - traffic.around[met, 1]
            size, away = math.hypot(normal_x, normal_y), math.hypot(apart_x, apart_y)
            along = normal_x * apart_x + normal_y * apart_y
            # where a wall or a person has been crossed, the other side is the right one
            if size < FLAT or (along < -WRONG * size * away and away > PROBE):
                normal_x, normal_y, size = apart_x, apart_y, away
            normals[k, 0], normals[k, 1] = normal_x / max(size, 1e-9), normal_y / max(size, 1e-9)
        needed[k], tried = math.nan, 0
        while tried < len(shifts):
            far = shifts[tried]
            aside_x, aside_y = far * normals[k, 0], far * normals[k, 1]
            x, y, heading, slack = carry(path, rows, local, bounds[window], number, aside_x, aside_y)
            c, s = math.cos(heading), math.sin(heading)
            u, v, r = around[window, 0], around[window, 1], around[window, 2] + slack
            hit = (
                not is_far(squares, grid, x + c * u - s * v, y + s * u + c * v, r, discs[first, 2] + slack)
                and deepest(squares, grid, x, y, c, s, slack, discs, first, end, 0.0)[0] > 0.0
            )
            if not hit:
                hit = meets_anybody(
                    traffic, slots[number, 0], slots[number, 1], x, y, c, s, slack, around, discs, starts, window
                )
            if not hit:
                needed[k], tried = far, len(shifts)
            tried += 1
