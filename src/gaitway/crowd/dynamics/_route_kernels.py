"""Compiled routes of a crowd: corners of ways through a grid, and the wished velocities that follow them."""

from __future__ import annotations

import math

import numba
import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray
from gaitway.core.jit import kernel
from gaitway.space._route_kernels import CLOSED

Cells = npt.NDArray[np.uint8]
SmallInts = npt.NDArray[np.int32]

MOST_CORNERS = 12
"""Corners that a person remembers; when they are used up, the route is looked up again."""
BLOCK = 256
ROOMY = 0.45
"""Distance from walls at which corners are passed where there is room [m]."""
WIDEST = 3.0
"""Width beside a corner over which people spread [m]."""
FAR = 1e9
"""A distance beyond all places [cells]."""
WALK, WAIT, STAND = range(3)
"""What people do: they go to their goals, wait where they are, or stand at their goals."""


@kernel(borrows=True, inner=True, shared=True)
def sees(
    cells: Cells, strides: SmallInts, width: int, ax: float, ay: float, bx: float, by: float, farthest: float
) -> bool:
    """Return whether a line between two points crosses open cells alone; in units of cells, border included.

    The cells within 1.5 of the first point may be closed: somebody who is pressed against a wall can see too.

    Args:
        cells: kinds of cells, with a border; (N,).
        strides: half cells around each cell in which all cells are open; (N,).
        width: cells in a row.
        ax: first point.
        ay: the same.
        bx: second point.
        by: the same.
        farthest: what is farther away from the first point is not looked at.
    """
    dx, dy = bx - ax, by - ay
    size = math.sqrt(dx * dx + dy * dy)
    count = int(2.0 * size) + 1
    k, last = int(3.0 * count / max(2.0 * size, 1e-9)), min(count, int(2.0 * farthest))
    while k <= last:
        t = k / count
        cell = int(ay + t * dy) * width + int(ax + t * dx)
        if cells[cell] == CLOSED:
            return False
        k += max(strides[cell], 1)
    return True


@kernel(borrows=True, inner=True, shared=True)
def anchor_of(
    cells: Cells,
    strides: SmallInts,
    width: int,
    ways: Cells,
    steps: IntArray,
    distances: SingleArray,
    anchors: SmallInts,
    cell: int,
    stack: IntArray,
) -> int:
    """Return the cell towards which somebody in a cell walks in a straight line; known ones are looked up.

    That is where whoever is one step nearer to the goal walks to, if it can be seen from here, and else that step.

    Args:
        cells: kinds of cells, with a border; (N,).
        strides: see `sees`; (N,).
        width: cells in a row.
        ways: step by which each cell is reached from the goal; (N,).
        steps: offsets of the steps; (16, 3).
        distances: distances from the goal, 0 at the goal [cells]; (N,).
        anchors: anchors that are known, -1 for others; (N,).
        cell: the cell.
        stack: room for cells; (N,).
    """
    depth = 0
    while anchors[cell] < 0:
        if distances[cell] <= 0.0:
            anchors[cell] = cell
            break
        stack[depth] = cell
        depth += 1
        cell -= steps[ways[cell], 0]
    while depth > 0:
        depth -= 1
        before, cell = cell, stack[depth]
        far = anchors[before]
        visible = sees(
            cells, strides, width, cell % width + 0.5, cell // width + 0.5, far % width + 0.5, far // width + 0.5, FAR
        )
        anchors[cell] = far if visible else before
    return anchors[cell]


@kernel(borrows=True, inner=True, shared=True)
def roomy_corner(
    squares: SingleArray,
    width: int,
    cell: int,
    from_x: float,
    from_y: float,
    side: float,
    share: float,
    size: float,
    out: FloatArray,
) -> None:
    """Write the point at which a person passes a corner: away from the wall, at the person's own place in the gap.

    Args:
        squares: squared distance of each cell from walls [m^2]; (N,).
        width: cells in a row.
        cell: the corner.
        from_x: where the person comes from [cells].
        from_y: the same.
        side: 1 to keep to the right, -1 to the left.
        share: place in the gap (0 to 1).
        size: side of a cell [m].
        out: receives x and y [cells]; (2,).
    """
    here = cell
    for _ in range(12):
        if squares[here] >= ROOMY * ROOMY:
            break
        best = here
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                if squares[here + dy * width + dx] > squares[best] + 1e-6:
                    best = here + dy * width + dx
        if best == here:
            break
        here = best
    x, y = here % width + 0.5, here // width + 0.5
    gx, gy = x - (cell % width + 0.5), y - (cell // width + 0.5)
    long = math.sqrt(gx * gx + gy * gy)
    if long > 0.0:
        gx, gy = gx / long, gy / long
        free, step = 0.0, 0.5
        while free * size < WIDEST:
            ahead = free + step
            at = int(y + ahead * gy) * width + int(x + ahead * gx)
            if squares[at] < 0.3 * 0.3:
                break
            free = ahead
        # a wall to the right of whoever passes: gx, gy points to the left
        wall_right = (x - from_x) * gy - (y - from_y) * gx > 0.0
        near = wall_right == (side >= 0.0)
        part = 0.3 * share if near else 0.3 + 0.4 * share
        x += part * free * gx
        y += part * free * gy
    out[0], out[1] = x, y


@kernel(borrows=True, inner=True, shared=True)
def write_corners(
    cells: Cells,
    strides: SmallInts,
    squares: SingleArray,
    width: int,
    ways: Cells,
    steps: IntArray,
    distances: SingleArray,
    anchors: SmallInts,
    stack: IntArray,
    cell: int,
    place: FloatArray,
    side: float,
    share: float,
    person: int,
    corners: FloatArray,
    counts: SmallInts,
    point: FloatArray,
) -> None:
    """Write the corners between a cell and the goal, in metres."""
    made, size = 0, place[2]
    px, py = cell % width + 0.5, cell // width + 0.5
    at = anchor_of(cells, strides, width, ways, steps, distances, anchors, cell, stack)
    while made < MOST_CORNERS:
        x, y = at % width + 0.5, at // width + 0.5
        after, last = at, distances[at] <= 0.0
        if not last:
            after = anchor_of(cells, strides, width, ways, steps, distances, anchors, at, stack)
            # the way is pulled straight: as far towards the next corner as can be seen from here
            low, high = 0.0, 1.0
            bx, by = after % width + 0.5, after // width + 0.5
            for _ in range(8):
                t = 0.5 * (low + high)
                if sees(cells, strides, width, px, py, x + t * (bx - x), y + t * (by - y), FAR):
                    low = t
                else:
                    high = t
            x, y = x + low * (bx - x), y + low * (by - y)
            roomy_corner(squares, width, int(y) * width + int(x), px, py, side, share, size, point)
            if sees(cells, strides, width, px, py, point[0], point[1], FAR) and sees(
                cells, strides, width, point[0], point[1], after % width + 0.5, after // width + 0.5, FAR
            ):
                x, y = point[0], point[1]
        corners[person, made, 0], corners[person, made, 1] = place[0] + x * size, place[1] + y * size
        made += 1
        if last:
            break  # the nearest part of the goal, which may be seen from here only
        px, py, at = x, y, after
    counts[person] = made


@kernel(borrows=True, inner=True, shared=True)
def known_cell(width: int, distances: SingleArray, x: float, y: float) -> int:
    """Return the cell of a point, or the nearest one from which a way is known; -1 if there is none in 4 cells."""
    row, column, rows = int(y), int(x), len(distances) // width
    best, square = -1, 1e9
    for dy in range(-4, 5):
        for dx in range(-4, 5):
            i, j = row + dy, column + dx
            if not (0 <= i < rows and 0 <= j < width) or math.isinf(distances[i * width + j]):
                continue
            away = (j + 0.5 - x) * (j + 0.5 - x) + (i + 0.5 - y) * (i + 0.5 - y)
            if away < square:
                best, square = i * width + j, away
    return best


@kernel
def corners_of(
    cells: Cells,
    strides: SmallInts,
    squares: SingleArray,
    width: int,
    ways: Cells,
    steps: IntArray,
    distances: SingleArray,
    anchors: SmallInts,
    place: FloatArray,
    who: IntArray,
    positions: FloatArray,
    shares: FloatArray,
    side: float,
    corners: FloatArray,
    counts: SmallInts,
) -> None:
    """Look up the corners of the ways of people to one goal.

    Args:
        cells: kinds of cells, with a border; (N,).
        strides: see `sees`; (N,).
        squares: squared distance of each cell from walls [m^2]; (N,).
        width: cells in a row.
        ways: step by which each cell is reached from the goal; (N,).
        steps: offsets of the steps; (16, 3).
        distances: distances from the goal [cells]; (N,).
        anchors: see `anchor_of`; (N,).
        place: corner of the grid [m], border included, and side of a cell [m]; (3,).
        who: people; (W,).
        positions: places of all people [m]; (P, 2).
        shares: place of each person in gaps (0 to 1); (P,).
        side: 1 to keep to the right, -1 to the left.
        corners: receives corners [m]; (P, `MOST_CORNERS`, 2).
        counts: receives their numbers, -1 where there is no way; (P,).
    """
    stack, point = np.empty(len(cells), np.int64), np.empty(2)
    for k in range(len(who)):
        p = who[k]
        x, y = (positions[p, 0] - place[0]) / place[2], (positions[p, 1] - place[1]) / place[2]
        cell = known_cell(width, distances, x, y)
        if cell < 0:
            counts[p] = -1
            continue
        write_corners(
            cells,
            strides,
            squares,
            width,
            ways,
            steps,
            distances,
            anchors,
            stack,
            cell,
            place,
            side,
            shares[p],
            p,
            corners,
            counts,
            point,
        )


@kernel
def single_ways(
    cells: Cells,
    strides: SmallInts,
    squares: SingleArray,
    width: int,
    steps: IntArray,
    place: FloatArray,
    who: IntArray,
    positions: FloatArray,
    goals: FloatArray,
    shares: FloatArray,
    side: float,
    corners: FloatArray,
    counts: SmallInts,
) -> None:
    """Search the ways of people who each have a goal of their own: A* from the goal to the person, over 8 neighbours.

    Args:
        cells: kinds of cells, with a border; (N,).
        strides: see `sees`; (N,).
        squares: squared distance of each cell from walls [m^2]; (N,).
        width: cells in a row.
        steps: offsets of the steps; (16, 3); only the even ones are used.
        place: corner of the grid [m], border included, and side of a cell [m]; (3,).
        who: people; (W,).
        positions: places of all people [m]; (P, 2).
        goals: places of their goals [m]; (P, 2).
        shares: place of each person in gaps (0 to 1); (P,).
        side: 1 to keep to the right, -1 to the left.
        corners: receives corners [m]; (P, `MOST_CORNERS`, 2).
        counts: receives their numbers, -1 where there is no way; (P,).
    """
    total = len(cells)
    distances = np.full(total, np.inf, np.float32)
    ways, anchors, done = np.zeros(total, np.uint8), np.full(total, -1, np.int32), np.zeros(total, np.bool_)
    stack, point = np.empty(total, np.int64), np.empty(2)
    touched = np.empty(total, np.int64)
    keys, heap = np.empty(8 * total + 8, np.float32), np.empty(8 * total + 8, np.int32)
    for k in range(len(who)):
        p = who[k]
        x, y = (positions[p, 0] - place[0]) / place[2], (positions[p, 1] - place[1]) / place[2]
        gx, gy = (goals[p, 0] - place[0]) / place[2], (goals[p, 1] - place[1]) / place[2]
        counts[p] = 0
        if sees(cells, strides, width, x, y, gx, gy, FAR):
            continue
        start, goal = open_cell(cells, width, x, y), open_cell(cells, width, gx, gy)
        if start < 0 or goal < 0:
            counts[p] = -1
            continue
        sx, sy, size, count = start % width, start // width, 1, 1
        distances[goal], touched[0], keys[0], heap[0] = 0.0, goal, 0.0, goal
        while size > 0 and not done[start]:
            cell = heap[0]
            size -= 1
            key, last = keys[size], heap[size]
            sift_down(keys, heap, size, key, last)
            if done[cell]:
                continue
            done[cell] = True
            for step in range(0, 16, 2):
                other = cell + steps[step, 0]
                if cells[other] == CLOSED or done[other]:
                    continue
                long = 1.0
                if step % 4 == 2:
                    long = 1.4142135
                    before, after = cell + steps[(step + 14) % 16, 0], cell + steps[(step + 2) % 16, 0]
                    if cells[before] == CLOSED or cells[after] == CLOSED:
                        continue
                there = np.float32(distances[cell] + long)
                if there >= distances[other]:
                    continue
                if math.isinf(distances[other]):
                    touched[count] = other
                    count += 1
                distances[other], ways[other] = there, step
                dx, dy = abs(other % width - sx), abs(other // width - sy)
                ahead = max(dx, dy) + 0.4142135 * min(dx, dy)
                if size < len(heap):
                    sift_up(keys, heap, size, there + ahead, other)
                    size += 1
        if done[start]:
            write_corners(
                cells,
                strides,
                squares,
                width,
                ways,
                steps,
                distances,
                anchors,
                stack,
                start,
                place,
                side,
                shares[p],
                p,
                corners,
                counts,
                point,
            )
        else:
            counts[p] = -1
        for n in range(count):
            distances[touched[n]], done[touched[n]], anchors[touched[n]] = np.inf, False, -1


@kernel(borrows=True, inner=True, shared=True)
def open_cell(cells: Cells, width: int, x: float, y: float) -> int:
    """Return the open cell that is nearest to a point, within 6 cells; -1 if there is none."""
    row, column, rows = int(y), int(x), len(cells) // width
    best, square = -1, 1e9
    for dy in range(-6, 7):
        for dx in range(-6, 7):
            i, j = row + dy, column + dx
            if not (0 <= i < rows and 0 <= j < width) or cells[i * width + j] == CLOSED:
                continue
            away = (j + 0.5 - x) * (j + 0.5 - x) + (i + 0.5 - y) * (i + 0.5 - y)
            if away < square:
                best, square = i * width + j, away
    return best


@kernel(borrows=True, inner=True, shared=True)
def sift_up(keys: SingleArray, heap: SmallInts, at: int, key: float, cell: int) -> None:
    """Put an entry at the end of a heap in order; entries with equal keys are ordered by cell."""
    while at > 0:
        above = (at - 1) // 2
        if keys[above] < key or (keys[above] == key and heap[above] <= cell):
            break
        keys[at], heap[at] = keys[above], heap[above]
        at = above
    keys[at], heap[at] = key, cell


@kernel(borrows=True, inner=True, shared=True)
def sift_down(keys: SingleArray, heap: SmallInts, size: int, key: float, cell: int) -> None:
    """Put an entry at the top of a heap of a size in order."""
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and (
            keys[below + 1] < keys[below] or (keys[below + 1] == keys[below] and heap[below + 1] < heap[below])
        ):
            below += 1
        if key < keys[below] or (key == keys[below] and cell <= heap[below]):
            break
        keys[at], heap[at] = keys[below], heap[below]
        at = below
    keys[at], heap[at] = key, cell


@kernel(parallel=True)
def follow(
    cells: Cells,
    strides: SmallInts,
    width: int,
    place: FloatArray,
    active: IntArray,
    positions: FloatArray,
    modes: SmallInts,
    holds: FloatArray,
    goals: FloatArray,
    reaches: FloatArray,
    speeds: FloatArray,
    corners: FloatArray,
    counts: SmallInts,
    numbers: SmallInts,
    tick: int,
    slowing: bool,
    wishes: FloatArray,
    lost: BoolArray,
    inside: BoolArray,
) -> None:
    """Compute the wished velocity of each person: to the next corner of the way, or into the goal.

    Args:
        cells: kinds of cells, with a border; (N,).
        strides: see `sees`; (N,).
        width: cells in a row.
        place: corner of the grid [m], border included, and side of a cell [m]; (3,).
        active: people; (A,).
        positions: places [m]; (P, 2).
        modes: `WALK`, `WAIT` or `STAND`; (P,).
        holds: where those who wait or stand do so [m]; (P, 2).
        goals: xmin, ymin, xmax, ymax of each goal [m]; (P, 4).
        reaches: distance from the goal at which one has arrived [m]; (P,).
        speeds: speeds now [m/s]; (P,).
        corners: corners of the ways [m]; (P, `MOST_CORNERS`, 2).
        counts: their numbers; (P,).
        numbers: the next corner of each; (P,).
        tick: number of the step; each person looks around once in some steps.
        slowing: whether people slow down before they reach their goals.
        wishes: receives wished velocities [m/s]; (P, 2).
        lost: receives whether the next corner is out of sight; (P,).
        inside: receives whether one is at the goal; (P,).
    """
    total = len(active)
    for block in numba.prange((total + BLOCK - 1) // BLOCK):
        for k in range(block * BLOCK, min((block + 1) * BLOCK, total)):
            follow_one(
                cells,
                strides,
                width,
                place,
                active[k],
                positions,
                modes,
                holds,
                goals,
                reaches,
                speeds,
                corners,
                counts,
                numbers,
                tick,
                slowing,
                wishes,
                lost,
                inside,
            )


LOOK_EVERY = 16
"""Steps between two looks around of a person."""


@kernel(borrows=True, inner=True)
def follow_one(
    cells: Cells,
    strides: SmallInts,
    width: int,
    place: FloatArray,
    p: int,
    positions: FloatArray,
    modes: SmallInts,
    holds: FloatArray,
    goals: FloatArray,
    reaches: FloatArray,
    speeds: FloatArray,
    corners: FloatArray,
    counts: SmallInts,
    numbers: SmallInts,
    tick: int,
    slowing: bool,
    wishes: FloatArray,
    lost: BoolArray,
    inside: BoolArray,
) -> None:
    """Compute the wished velocity of one person as `follow`."""
    x, y = positions[p, 0], positions[p, 1]
    lost[p] = inside[p] = False
    if modes[p] != WALK:
        dx, dy = holds[p, 0] - x, holds[p, 1] - y
        size = math.sqrt(dx * dx + dy * dy)
        speed = min(size, 0.6) if size > 0.05 else 0.0
        wishes[p, 0], wishes[p, 1] = speed * dx / max(size, 1e-9), speed * dy / max(size, 1e-9)
        return
    inset = 0.25
    wide, high = goals[p, 2] - goals[p, 0], goals[p, 3] - goals[p, 1]
    ix, iy = min(inset, 0.5 * wide), min(inset, 0.5 * high)
    gx, gy = min(max(x, goals[p, 0] + ix), goals[p, 2] - ix), min(max(y, goals[p, 1] + iy), goals[p, 3] - iy)
    number = numbers[p]
    look = (tick + p) % LOOK_EVERY == 0
    ox, oy, side = place[0], place[1], place[2]
    while number < counts[p]:
        cx, cy = corners[p, number, 0], corners[p, number, 1]
        nx, ny = (corners[p, number + 1, 0], corners[p, number + 1, 1]) if number + 1 < counts[p] else (gx, gy)
        dx, dy = cx - x, cy - y
        square = dx * dx + dy * dy
        passed = square < 0.16 or (square < 2.25 and dx * (nx - cx) + dy * (ny - cy) < 0.0)
        if (passed and square < 0.02) or (
            (passed or look)
            and sees(cells, strides, width, (x - ox) / side, (y - oy) / side, (nx - ox) / side, (ny - oy) / side, FAR)
        ):
            number += 1
            continue
        break
    if look and number < counts[p]:
        # a corner that one was pushed past is not walked back to
        cx, cy = corners[p, number, 0], corners[p, number, 1]
        nx, ny = gx, gy
        if number + 1 < counts[p]:
            nx, ny = corners[p, number + 1, 0], corners[p, number + 1, 1]
        if (cx - x) * (nx - cx) + (cy - y) * (ny - cy) < 0.0:
            lost[p] = True
    numbers[p] = number
    tx, ty = gx, gy
    if number < counts[p]:
        tx, ty = corners[p, number, 0], corners[p, number, 1]
    if look and not sees(
        cells, strides, width, (x - ox) / side, (y - oy) / side, (tx - ox) / side, (ty - oy) / side, 10.0 / side
    ):
        lost[p] = True
    ax, ay = min(max(x, goals[p, 0]), goals[p, 2]) - x, min(max(y, goals[p, 1]), goals[p, 3]) - y
    inside[p] = ax * ax + ay * ay <= reaches[p] * reaches[p]
    dx, dy = tx - x, ty - y
    size = math.sqrt(dx * dx + dy * dy)
    speed = speeds[p]
    if slowing and number >= counts[p]:
        speed = min(speed, 0.2 + size)
    if size < 1e-6:
        speed = 0.0
    wishes[p, 0], wishes[p, 1] = speed * dx / max(size, 1e-9), speed * dy / max(size, 1e-9)
