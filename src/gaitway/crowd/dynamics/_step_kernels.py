"""Compiled step of a crowd: neighbours in a spatial hash, velocities that avoid collisions, bodies moved apart.

People are rows sorted by cell and number, so that each step reads memory in order. Every loop over people writes to its
own row alone and reads what the loop before it wrote; so the result is the same with any number of threads. No function
of the platform's mathematics library is called but the square root, which is exact.
"""

from __future__ import annotations

import math

import numba
import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.crowd.dynamics._orca_kernels import least_broken, on_lines

SmallInts = npt.NDArray[np.int32]

X, Y, VX, VY, FX, FY, WX, WY = range(8)
"""Columns of people: place [m], velocity [m/s], direction that the trunk faces, direction of the wish (0 for none)."""
PEOPLE = 8
SLOW, RANK, SIDE, WISH, NEW_X, NEW_Y, NEW_FX, NEW_FY, NEW_VX, NEW_VY = range(10)
"""Columns of the rest: time held up [s], rank of the person (0 to 1, 2 for who holds a goal), strength of keeping to
the right, wished speed [m/s]; place [m], direction of the trunk and chosen velocity after the step."""
REST = 10
(
    DT,
    RADIUS,
    HALF,
    HORIZON,
    HEADWAY,
    PATIENCE,
    SIGHT,
    COS_TURN,
    TURN_RATE,
    SOCIAL,
    CELL,
    LANE,
) = range(12)
"""Entries of the parameters: time step [s], rounding and half length of bodies [m], horizon, headway and patience [s],
sight [m], cosine of the greatest turn of a trunk, rate of trunks [rad/s], 1 for social forces, side of a hash cell [m],
how strongly people steer for lanes.
"""
PARAMETERS = 12
MX, MY, UX, UY, LENGTH, ROUND = range(6)
"""Columns of walls: middle [m], direction, half length [m], rounding [m]."""

BLOCK = 128
"""People that one thread does in one go."""
MOST_WALLS = 10
WALL_TIME = 0.2
"""Time in which a body may reach a wall at the earliest [s]."""
WALL_SIGHT = 0.8
"""Greatest gap to a wall that is heeded [m]."""
CONTACT_TIME = 0.25
"""Time in which bodies beside one another may touch at the earliest [s]."""
SLOP = 0.004
"""Gap to which overlapping bodies are moved apart [m]."""
PROGRESS = 0.25
"""Distance from the last place of rest beyond which a person has made progress [m]."""
FARTHEST_PUSH = 0.05
"""Farthest that one sweep moves a body [m]."""


@kernel
def sort_people(
    positions: FloatArray,
    active: IntArray,
    place: FloatArray,
    columns: int,
    rows: int,
    cells: IntArray,
    starts: IntArray,
    order: IntArray,
) -> None:
    """Sort people by cell, and by number within a cell.

    Args:
        positions: places [m]; (N, 2).
        active: numbers of those who take part, rising; (A,).
        place: corner of the cells [m] and cells in a metre; (3,).
        columns: number of cells along x.
        rows: number of cells along y.
        cells: receives the cell of each; (A,).
        starts: receives the first place of each cell in the order; (columns x rows + 1,).
        order: receives the numbers in order; (A,).
    """
    count, total = len(active), columns * rows
    for k in range(total + 1):
        starts[k] = 0
    for n in range(count):
        i = min(max(int((positions[active[n], 0] - place[0]) * place[2]), 0), columns - 1)
        j = min(max(int((positions[active[n], 1] - place[1]) * place[2]), 0), rows - 1)
        cells[n] = i * rows + j
        starts[cells[n] + 1] += 1
    for k in range(total):
        starts[k + 1] += starts[k]
    for n in range(count - 1, -1, -1):
        after = cells[n] + 1
        starts[after] -= 1
        order[starts[after]] = active[n]
    for k in range(total):
        starts[k] = starts[k + 1]
    starts[total] = count


@kernel
def gather(
    order: IntArray,
    positions: FloatArray,
    velocities: FloatArray,
    faces: FloatArray,
    wishes: FloatArray,
    slow: FloatArray,
    ranks: FloatArray,
    side: float,
    people: FloatArray,
    rest: FloatArray,
) -> None:
    """Copy the state of people, (N, 2) or (N,), into rows in order, (A, `PEOPLE`) and (A, `REST`)."""
    for k in range(len(order)):
        p = order[k]
        for c in range(2):
            people[k, X + c], people[k, VX + c] = positions[p, c], velocities[p, c]
            people[k, FX + c] = faces[p, c]
        wish = math.sqrt(wishes[p, 0] * wishes[p, 0] + wishes[p, 1] * wishes[p, 1])
        scale = 1.0 / wish if wish > 1e-6 else 0.0
        people[k, WX], people[k, WY], rest[k, WISH] = scale * wishes[p, 0], scale * wishes[p, 1], wish
        rest[k, SLOW], rest[k, RANK], rest[k, SIDE] = slow[p], ranks[p], side


@kernel
def scatter(
    order: IntArray,
    people: FloatArray,
    blockers: SmallInts,
    walking: BoolArray,
    time: float,
    dt: float,
    longest: float,
    positions: FloatArray,
    velocities: FloatArray,
    faces: FloatArray,
    slow: FloatArray,
    marks: FloatArray,
    mark_times: FloatArray,
    who_blocks: IntArray,
    rest: FloatArray,
) -> None:
    """Copy rows back, and note who is held up, and since when nobody has made progress.

    Args:
        order: numbers of people in order; (A,).
        people: rows; (A, `PEOPLE`).
        blockers: rows of those in the way; (A,).
        walking: whether people walk to their goals; (N,).
        time: time after the step [s].
        dt: time step [s].
        longest: greatest time that is noted [s].
        positions: receives places [m]; (N, 2).
        velocities: receives velocities [m/s]; (N, 2).
        faces: receives directions of trunks; (N, 2).
        slow: times for which people are held up [s]; (N,).
        marks: places of the last progress [m]; (N, 2).
        mark_times: times of the last progress [s]; (N,).
        who_blocks: receives the numbers of those in the way; (N,).
        rest: what else is known of people; (A, `REST`).
    """
    for k in range(len(order)):
        p = order[k]
        for c in range(2):
            positions[p, c], velocities[p, c], faces[p, c] = people[k, X + c], people[k, VX + c], people[k, FX + c]
        wish, going = rest[k, WISH], people[k, VX] * people[k, WX] + people[k, VY] * people[k, WY]
        held = going < 0.25 * wish and wish > 0.1
        slow[p] = min(max(slow[p] + (dt if held else -3.0 * dt), 0.0), longest)
        dx, dy = positions[p, 0] - marks[p, 0], positions[p, 1] - marks[p, 1]
        # whoever is pushed back makes no progress
        if dx * dx + dy * dy > PROGRESS * PROGRESS and dx * people[k, WX] + dy * people[k, WY] > 0.4 * PROGRESS:
            marks[p, 0], marks[p, 1], mark_times[p] = positions[p, 0], positions[p, 1], time
        if not walking[p]:
            mark_times[p] = time
        who_blocks[p] = order[blockers[k]] if blockers[k] >= 0 else blockers[k]


@kernel
def sum_flow(people: FloatArray, starts: IntArray, flow: FloatArray) -> None:
    """Sum up where the people of each cell want to go.

    Args:
        people: people in order; (A, `PEOPLE`).
        starts: first person of each cell; (cells + 1,).
        flow: receives the sums of their directions, and how many want to go anywhere; (cells, 3).
    """
    for cell in range(len(starts) - 1):
        sum_x, sum_y, count = 0.0, 0.0, 0.0
        for i in range(starts[cell], starts[cell + 1]):
            sum_x += people[i, WX]
            sum_y += people[i, WY]
            count += people[i, WX] * people[i, WX] + people[i, WY] * people[i, WY]
        flow[cell, 0], flow[cell, 1], flow[cell, 2] = sum_x, sum_y, count


@kernel(borrows=True, inner=True)
def hash_cell(x: float, y: float, place: FloatArray, shape: IntArray) -> int:
    """Return the cell of a point, or the nearest one to it."""
    i = min(max(int((x - place[0]) * place[2]), 0), shape[0] - 1)
    return i * shape[1] + min(max(int((y - place[1]) * place[2]), 0), shape[1] - 1)


@kernel(borrows=True, inner=True)
def against(flow: FloatArray, place: FloatArray, shape: IntArray, x: float, y: float, wx: float, wy: float) -> float:
    """Return how many more people walk against a direction than with it, in the cell of a point."""
    i, j = math.floor((x - place[0]) * place[2]), math.floor((y - place[1]) * place[2])
    if i < 0 or j < 0 or i >= shape[0] or j >= shape[1]:
        return 0.0
    cell = i * shape[1] + j
    along = flow[cell, 0] * wx + flow[cell, 1] * wy
    return 0.5 * (flow[cell, 2] - along) - 0.25 * (flow[cell, 2] + along)


@kernel(borrows=True, inner=True)
def lane(
    flow: FloatArray, place: FloatArray, shape: IntArray, x: float, y: float, wx: float, wy: float, side: float
) -> float:
    """Return to which side one steers to keep out of the way of a stream that comes towards one; left is positive."""
    out = 0.0
    for k in range(2):
        ahead = 1.8 + 1.8 * k
        px, py = x + ahead * wx, y + ahead * wy
        middle = against(flow, place, shape, px, py, wx, wy)
        left = against(flow, place, shape, px - 1.5 * wy, py + 1.5 * wx, wx, wy)
        right = against(flow, place, shape, px + 1.5 * wy, py - 1.5 * wx, wx, wy)
        if middle > 0.0 or left > 0.0 or right > 0.0:
            out += right - left - side * max(middle, 0.0)
    return out


@kernel(borrows=True, inner=True)
def between(
    px: float, py: float, ax: float, ay: float, a: float, bx: float, by: float, b: float
) -> tuple[float, float, float]:
    """Return the shortest vector from one segment to another, and its length [m].

    Args:
        px: from the middle of the first segment to that of the second [m].
        py: the same.
        ax: direction of the first segment.
        ay: the same.
        a: half its length [m].
        bx: direction of the second segment.
        by: the same.
        b: half its length [m].
    """
    cosine, along_a, along_b = ax * bx + ay * by, ax * px + ay * py, bx * px + by * py
    free = 1.0 - cosine * cosine
    s = min(max((along_a - cosine * along_b) / free, -a), a) if free > 1e-9 else min(max(along_a, -a), a)
    t = s * cosine - along_b
    if t < -b or t > b:
        t = min(max(t, -b), b)
        s = min(max(along_a + t * cosine, -a), a)
    dx, dy = px + t * bx - s * ax, py + t * by - s * ay
    return dx, dy, math.sqrt(dx * dx + dy * dy)


@kernel(borrows=True, inner=True)
def nearest_people(
    people: FloatArray,
    i: int,
    starts: IntArray,
    place: FloatArray,
    columns: int,
    rows: int,
    sight: float,
    cell: float,
    squares: FloatArray,
    near: SmallInts,
) -> int:
    """Find the nearest people, nearest first; those in cells of a second ring only if the first holds too few.

    Nobody sees who is behind and farther away than 1 m.

    Args:
        people: people in order; (A, `PEOPLE`).
        i: the person who looks.
        starts: first person of each cell; (cells + 1,).
        place: corner of the cells [m] and cells in a metre; (3,).
        columns: number of cells along x.
        rows: number of cells along y.
        sight: greatest distance [m].
        cell: side of a cell [m].
        squares: receives squared distances [m^2]; (K,).
        near: receives people; (K,).

    Returns:
        How many were found.
    """
    x, y, wx, wy, most = people[i, X], people[i, Y], people[i, WX], people[i, WY], len(squares)
    ci = min(max(int((x - place[0]) * place[2]), 0), columns - 1)
    cj = min(max(int((y - place[1]) * place[2]), 0), rows - 1)
    found, far = 0, sight * sight
    rings = max(math.ceil(sight / cell), 1)
    for ring in range(1, rings + 1):
        for ii in range(max(ci - ring, 0), min(ci + ring, columns - 1) + 1):
            edge = ring > 1 and abs(ii - ci) < ring
            # of a further ring the inner cells are known: two runs at its ends are left of such a column
            for part in range(2 if edge else 1):
                if edge:
                    jj = cj - ring if part == 0 else cj + ring
                    if jj < 0 or jj >= rows:
                        continue
                    first, last = starts[ii * rows + jj], starts[ii * rows + jj + 1]
                else:
                    first = starts[ii * rows + max(cj - ring, 0)]
                    last = starts[ii * rows + min(cj + ring, rows - 1) + 1]
                for j in range(first, last):
                    dx, dy = people[j, X] - x, people[j, Y] - y
                    square = dx * dx + dy * dy
                    if square >= far or j == i or (square > 1.0 and dx * wx + dy * wy < 0.0):
                        continue
                    k = found if found < most else most - 1
                    while k > 0 and squares[k - 1] > square:
                        squares[k], near[k] = squares[k - 1], near[k - 1]
                        k -= 1
                    squares[k], near[k] = square, j
                    if found < most:
                        found += 1
                    if found == most:
                        far = squares[most - 1]
        if found == most and far <= (ring * cell) * (ring * cell):
            break
    return found


@kernel(parallel=True)
def choose_velocities(
    people: FloatArray,
    rest: FloatArray,
    starts: IntArray,
    place: FloatArray,
    shape: IntArray,
    edges: FloatArray,
    wall_starts: IntArray,
    wall_entries: IntArray,
    flow: FloatArray,
    parameters: FloatArray,
    near: SmallInts,
    counts: SmallInts,
    blockers: SmallInts,
) -> None:
    """Choose the velocity of each person, and which way the trunk turns; write where it is then into `rest`.

    Args:
        people: people in order; (A, `PEOPLE`).
        rest: what else is known of them; (A, `REST`); `NEW_X` to `NEW_VY` are written.
        starts: first person of each cell; (cells + 1,).
        place: corner of the cells [m] and cells in a metre; (3,).
        shape: number of cells along x and y; (2,).
        edges: edges of walls; (S, 6).
        wall_starts: first wall entry of each cell; (cells + 1,).
        wall_entries: walls of each cell; (E,).
        flow: where people want to go, see `sum_flow`; (cells, 3).
        parameters: see `DT`; (`PARAMETERS`,).
        near: receives the neighbours of each, nearest first; (A, K).
        counts: receives their numbers; (A,).
        blockers: receives who is in the way of each; -1 for nobody, -2 for a wall; (A,).
    """
    total, most = people.shape[0], near.shape[1]
    for block in numba.prange((total + BLOCK - 1) // BLOCK):
        squares, lines, other = np.empty(most), np.empty((most + MOST_WALLS, 4)), np.empty((most + MOST_WALLS, 4))
        velocity, gaps = np.empty(2), np.empty(MOST_WALLS)
        for i in range(block * BLOCK, min((block + 1) * BLOCK, total)):
            counts[i] = nearest_people(
                people, i, starts, place, shape[0], shape[1], parameters[SIGHT], parameters[CELL], squares, near[i]
            )
            blockers[i] = choose_one(
                people,
                rest,
                i,
                near[i],
                counts[i],
                squares,
                place,
                shape,
                edges,
                wall_starts,
                wall_entries,
                flow,
                parameters,
                lines,
                other,
                gaps,
                velocity,
            )


@kernel(borrows=True, inner=True)
def choose_one(
    people: FloatArray,
    rest: FloatArray,
    i: int,
    near: SmallInts,
    count: int,
    squares: FloatArray,
    place: FloatArray,
    shape: IntArray,
    edges: FloatArray,
    wall_starts: IntArray,
    wall_entries: IntArray,
    flow: FloatArray,
    parameters: FloatArray,
    lines: FloatArray,
    other: FloatArray,
    gaps: FloatArray,
    velocity: FloatArray,
) -> int:
    """Choose the velocity of one person as `choose_velocities`; returns who is in the way."""
    dt, radius, half = parameters[DT], parameters[RADIUS], parameters[HALF]
    x, y, vx, vy, fx, fy = people[i, X], people[i, Y], people[i, VX], people[i, VY], people[i, FX], people[i, FY]
    wish = rest[i, WISH]
    # the way: where one wants to go, or, of those who stand, where the trunk faces
    wx, wy = (people[i, WX], people[i, WY]) if wish > 1e-6 else (fx, fy)
    impatience = min(rest[i, SLOW] / parameters[PATIENCE], 1.0)
    left, right, least = 0.6, 0.6, 0.6
    blocker, blocked = -1, 0.25
    # walls, whose lines are hard
    made = 0
    cell = hash_cell(x, y, place, shape)
    force_x, force_y = 0.0, 0.0
    inverse = 1.0 / parameters[HORIZON]
    for entry in range(wall_starts[cell], wall_starts[cell + 1]):
        e = wall_entries[entry]
        px, py = edges[e, MX] - x, edges[e, MY] - y
        dx, dy, away = between(px, py, -fy, fx, half, edges[e, UX], edges[e, UY], edges[e, LENGTH])
        gap = away - radius - edges[e, ROUND]
        if gap > WALL_SIGHT or away < 1e-9:
            continue
        nx, ny = dx / away, dy / away
        least = min(least, gap)
        lat, lon = wx * dy - wy * dx, wx * dx + wy * dy
        if abs(lat) > 0.5 * abs(lon) and lon > -0.3:
            # free width beside the middle of the body
            room = abs(wx * ny - wy * nx) * (away - edges[e, ROUND]) + half * abs(wx * fx + wy * fy)
            if lat > 0.0:
                left = min(left, room)
            else:
                right = min(right, room)
        if gap < blocked and wx * nx + wy * ny > 0.7:
            blocker, blocked = -2, gap
        if parameters[SOCIAL] > 0.5:
            push = 5.0 / (1.0 + 60.0 * max(gap, 0.0) * max(gap, 0.0) * (1.0 + 10.0 * max(gap, 0.0)))
            force_x -= push * nx
            force_y -= push * ny
            continue
        k = made if made < MOST_WALLS else MOST_WALLS - 1
        if made == MOST_WALLS and gaps[k] <= gap:
            continue
        known = False
        for m in range(made):  # two edges that meet in a corner are one obstacle there
            known = known or (abs(gaps[m] - gap) < 1e-6 and lines[m, 3] * nx - lines[m, 2] * ny > 0.999999)
        if known:
            continue
        while k > 0 and gaps[k - 1] > gap:
            gaps[k] = gaps[k - 1]
            for c in range(4):
                lines[k, c] = lines[k - 1, c]
            k -= 1
        allowed = gap / (WALL_TIME if gap > 0.0 else dt)
        gaps[k], lines[k, 0], lines[k, 1], lines[k, 2], lines[k, 3] = gap, allowed * nx, allowed * ny, -ny, nx
        made = min(made + 1, MOST_WALLS)
    hard = made
    # people: lines of ORCA, the side to which to step, and how fast those in front let one walk
    steer, cap, facing_others = 0.0, wish, 0.0
    for k in range(count):
        j = near[k]
        px, py = people[j, X] - x, people[j, Y] - y
        away = math.sqrt(squares[k])
        if away < 1e-6:  # on the same spot: apart along x, by the order of rows
            px, py, away = (1e-6 if j > i else -1e-6), 0.0, 1e-6
        inverse_away = 1.0 / away
        lx, ly = px * inverse_away, py * inverse_away
        jx, jy, jfx, jfy = people[j, VX], people[j, VY], people[j, FX], people[j, FY]
        jwx, jwy = people[j, WX], people[j, WY]
        wide = 2.0 * radius + half * (abs(fx * lx + fy * ly) + abs(jfx * lx + jfy * ly))
        lon, lat, their_way = px * wx + py * wy, wx * py - wy * px, jwx * wx + jwy * wy
        oncoming = their_way < -0.4
        nearby = away < 1.1
        nx, ny, gap = lx, ly, away - wide
        if nearby:
            if half > 0.0:
                dx, dy, apart = between(px, py, -fy, fx, half, -jfy, jfx, half)
                if apart > 1e-6:
                    nx, ny = dx / apart, dy / apart
                gap = apart - 2.0 * radius
            least = min(least, gap)
            beside = half * abs(jfx * wx + jfy * wy) + radius
            if -0.3 < lon < 0.9 and abs(lat) > 0.12:
                if lat > 0.0:
                    left = min(left, max(lat - beside, 0.0))
                else:
                    right = min(right, max(-lat - beside, 0.0))
            if gap < blocked and wx * nx + wy * ny > 0.5:
                blocker, blocked = j, gap
        if lon > 0.0 and wish > 0.0:
            if oncoming:
                if abs(lat) < 1.2:
                    weight = 1.0 / (0.4 + away)
                    steer -= weight * min(max((lat + 0.5 * rest[i, SIDE]) / 0.5, -1.0), 1.0) * (1.2 - abs(lat))
                if abs(lat) < 0.45 and away < 1.4:
                    facing_others = max(facing_others, 1.4 - away)
            else:
                if their_way > 0.5 and jx * wx + jy * wy > 0.3 and away > 0.5:
                    steer += 0.25 * min(max(lat, -0.7), 0.7) / (0.5 + away)
                # of two who are in each other's way at a door, one goes first
                mutual = px * jwx + py * jwy < 0.0
                if abs(lat) < min(0.3 + 0.5 * half, lon) and not (mutual and rest[i, RANK] > rest[j, RANK]):
                    cap = min(cap, max(lon - 2.0 * radius, 0.0) / parameters[HEADWAY])
        if parameters[SOCIAL] > 0.5:
            ahead = 0.35 + 0.65 * 0.5 * (1.0 + lx * wx + ly * wy)
            room = max(gap, 0.0)
            push = 3.0 * ahead / (1.0 + 6.0 * room * (1.0 + 6.0 * room * (1.0 + 4.0 * room)))
            force_x -= push * nx
            force_y -= push * ny
            continue
        ux, uy = vx - jx, vy - jy
        if away > wide + 0.02:
            if away > wide + 0.5 and ux * px + uy * py <= 0.0:
                continue  # they move apart, and there is room
            # velocity obstacle of a disc as wide as both bodies are across the line of sight
            ex, ey = ux - inverse * px, uy - inverse * py
            size, dot = ex * ex + ey * ey, ex * px + ey * py
            if dot < 0.0 and dot * dot > wide * wide * size:
                size = math.sqrt(size)
                if size < 1e-9:
                    continue
                ex, ey = ex / size, ey / size
                change = wide * inverse - size
                sx, sy, dx, dy = change * ex, change * ey, ey, -ex
            else:
                sine = wide * inverse_away
                cosine = math.sqrt(1.0 - sine * sine)
                if px * ey - py * ex > 0.0:
                    dx, dy = lx * cosine - ly * sine, lx * sine + ly * cosine
                else:
                    dx, dy = -(lx * cosine + ly * sine), -(-lx * sine + ly * cosine)
                along = ux * dx + uy * dy
                sx, sy = along * dx - ux, along * dy - uy
        else:
            # bodies beside one another: they come closer only as far as the gap between them allows
            allowed = gap / (CONTACT_TIME if gap > 0.0 else 2.0 * dt)
            change = allowed - (ux * nx + uy * ny)
            sx, sy, dx, dy = change * nx, change * ny, -ny, nx
        # whoever is behind gives way to whoever is in front; of two who meet, both do
        share = 0.5
        if rest[i, RANK] > 1.0 or rest[j, RANK] > 1.0:  # somebody who holds a goal gives no way
            if rest[j, RANK] <= 1.0:
                continue
            share = 0.5 if rest[i, RANK] > 1.0 else 1.0
        elif their_way > 0.0:
            # abreast at a door, the one of higher rank goes first
            ahead = lon + px * jwx + py * jwy + (0.1 if rest[j, RANK] > rest[i, RANK] else -0.1)
            share += min(max(ahead, -0.4), 0.4)
        lines[made, 0], lines[made, 1] = vx + share * sx, vy + share * sy
        lines[made, 2], lines[made, 3] = dx, dy
        made += 1
    # where one would like to go now
    if wish > 0.0:
        steer += parameters[LANE] * lane(flow, place, shape, x, y, wx, wy, rest[i, SIDE])
    steer = min(max(0.8 * steer, -1.0), 1.0)
    bend = math.sqrt(1.0 + steer * steer)
    aim_x, aim_y = cap * (wx - steer * wy) / bend, cap * (wy + steer * wx) / bend
    if wish <= 1e-6:
        aim_x, aim_y = 0.0, 0.0
    rise_x, rise_y = aim_x - vx, aim_y - vy
    fastest = 1.3 * wish + 0.3
    if parameters[SOCIAL] > 0.5:
        vx += (2.0 * rise_x + force_x) * dt
        vy += (2.0 * rise_y + force_y) * dt
        size = math.sqrt(vx * vx + vy * vy)
        scale = fastest / size if size > fastest else 1.0
        velocity[0], velocity[1] = scale * vx, scale * vy
    else:
        ease = min(4.0 * dt, 1.0)
        aim_x, aim_y = vx + ease * rise_x, vy + ease * rise_y
        failed = on_lines(lines, made, fastest, aim_x, aim_y, False, velocity)
        if failed < made:
            least_broken(lines, made, hard, failed, fastest, velocity, other)
    new_x, new_y = velocity[0], velocity[1]
    rest[i, NEW_X], rest[i, NEW_Y], rest[i, NEW_VX], rest[i, NEW_VY] = x + dt * new_x, y + dt * new_y, new_x, new_y
    turn_trunk(people, rest, i, wx, wy, new_x, new_y, left, right, facing_others, impatience, least, parameters)
    going = new_x * wx + new_y * wy
    return blocker if going < 0.3 * wish else -1


@kernel(borrows=True, inner=True)
def turn_trunk(
    people: FloatArray,
    rest: FloatArray,
    i: int,
    wx: float,
    wy: float,
    vx: float,
    vy: float,
    left: float,
    right: float,
    facing_others: float,
    impatience: float,
    least: float,
    parameters: FloatArray,
) -> None:
    """Turn the trunk of a person: with the way, and aside where there is no room for the shoulders.

    Args:
        people: people in order; (A, `PEOPLE`).
        rest: receives the direction of the trunk; (A, `REST`).
        i: the person.
        wx: direction of the way.
        wy: the same.
        vx: velocity [m/s].
        vy: the same.
        left: free width to the left of the person's middle [m].
        right: free width to the right [m].
        facing_others: how near somebody is who comes towards one [m].
        impatience: how long one has been held up (0 to 1).
        least: least gap to anybody or any wall [m].
        parameters: see `DT`.
    """
    dt, radius, half = parameters[DT], parameters[RADIUS], parameters[HALF]
    fx, fy = people[i, FX], people[i, FY]
    if half <= 0.0:
        squeeze = 0.0
    else:
        # from 1 where a turned body just passes to 0 where the shoulders do
        room = min(left, 0.5) + min(right, 0.5)
        squeeze = min(max((2.0 * (radius + half) + 0.06 - room) / (2.0 * half), 0.0), 1.0)
        squeeze = max(squeeze, min(facing_others * impatience * 3.0, 1.0))
    speed = math.sqrt(vx * vx + vy * vy)
    # whoever is pushed about in a jam faces the way on
    trust = max(speed - 0.2, 0.0) if vx * wx + vy * wy > 0.0 else 0.0
    bx, by = 0.3 * wx + trust * vx, 0.3 * wy + trust * vy
    size = math.sqrt(bx * bx + by * by)
    bx, by = bx / size, by / size
    cosine = 1.0 - squeeze * (1.0 - parameters[COS_TURN])
    sine = math.sqrt(max(1.0 - cosine * cosine, 0.0))
    now = bx * fy - by * fx  # sine of the turn that the trunk has now
    if now < -0.1 or (now <= 0.1 and (left > right or (left == right and rest[i, RANK] < 0.5))):
        sine = -sine
    tx, ty = bx * cosine - by * sine, by * cosine + bx * sine
    across, along = fx * ty - fy * tx, fx * tx + fy * ty
    if along < 0.0:
        across = 1.0 if across >= 0.0 else -1.0
    most = parameters[TURN_RATE] * dt
    if half > 0.0:
        most = min(most, 0.3 * dt + max(least, 0.0) / (2.0 * half))
    turn = min(max(across * min(5.0 * dt, 1.0), -most), most)
    # a rotation by the angle to third order, without the mathematics library
    t = 0.5 * turn
    c, s = (1.0 - t * t) / (1.0 + t * t), 2.0 * t / (1.0 + t * t)
    nx, ny = fx * c - fy * s, fx * s + fy * c
    size = math.sqrt(nx * nx + ny * ny)
    rest[i, NEW_FX], rest[i, NEW_FY] = nx / size, ny / size


@kernel(parallel=True)
def settle(
    people: FloatArray,
    rest: FloatArray,
    near: SmallInts,
    counts: SmallInts,
    place: FloatArray,
    shape: IntArray,
    edges: FloatArray,
    wall_starts: IntArray,
    wall_entries: IntArray,
    parameters: FloatArray,
    sweeps: int,
    moved: FloatArray,
) -> None:
    """Move overlapping bodies apart, then out of walls; a body that would stay in a wall stays where it was.

    Args:
        people: people in order; receives places, velocities and directions of trunks; (A, `PEOPLE`).
        rest: what else is known of them; (A, `REST`).
        near: neighbours of each; (A, K).
        counts: their numbers; (A,).
        place: corner of the cells [m] and cells in a metre; (3,).
        shape: number of cells along x and y; (2,).
        edges: edges of walls; (S, 6).
        wall_starts: first wall entry of each cell; (cells + 1,).
        wall_entries: walls of each cell; (E,).
        parameters: see `DT`; (`PARAMETERS`,).
        sweeps: number of sweeps.
        moved: room for places; (A, 2).
    """
    total, blocks = people.shape[0], (people.shape[0] + BLOCK - 1) // BLOCK
    for _ in range(sweeps):
        for block in numba.prange(blocks):
            for i in range(block * BLOCK, min((block + 1) * BLOCK, total)):
                push_apart(rest, i, near, counts[i], parameters, moved)
        for block in numba.prange(blocks):
            for i in range(block * BLOCK, min((block + 1) * BLOCK, total)):
                x, y, cell = moved[i, 0], moved[i, 1], hash_cell(people[i, X], people[i, Y], place, shape)
                if wall_starts[cell + 1] > wall_starts[cell]:  # who is pushed into a wall pushes back in the next sweep
                    deep, out_x, out_y = wall_depth(
                        x, y, rest[i, NEW_FX], rest[i, NEW_FY], cell, edges, wall_starts, wall_entries, parameters
                    )
                    if deep > 0.0:
                        x += min(deep, FARTHEST_PUSH) * out_x
                        y += min(deep, FARTHEST_PUSH) * out_y
                rest[i, NEW_X], rest[i, NEW_Y] = x, y
    for block in numba.prange(blocks):
        for i in range(block * BLOCK, min((block + 1) * BLOCK, total)):
            out_of_walls(people, rest, i, place, shape, edges, wall_starts, wall_entries, parameters)


@kernel(borrows=True, inner=True)
def push_apart(
    rest: FloatArray, i: int, near: SmallInts, count: int, parameters: FloatArray, moved: FloatArray
) -> None:
    """Write where a body goes if it moves half the overlap away from each that it overlaps."""
    radius, half = parameters[RADIUS], parameters[HALF]
    x, y, ax, ay = rest[i, NEW_X], rest[i, NEW_Y], -rest[i, NEW_FY], rest[i, NEW_FX]
    reach, touching, sum_x, sum_y = 2.0 * (radius + half) + SLOP, 0, 0.0, 0.0
    for k in range(count):
        j = near[i, k]
        px, py = rest[j, NEW_X] - x, rest[j, NEW_Y] - y
        square = px * px + py * py
        if square >= reach * reach:
            continue
        away = math.sqrt(square)
        if away < 1e-6:
            px, py, away = (1e-6 if j > i else -1e-6), 0.0, 1e-6
        dx, dy, apart = px, py, away
        if half > 0.0:
            dx, dy, apart = between(px, py, ax, ay, half, -rest[j, NEW_FY], rest[j, NEW_FX], half)
        deep = 2.0 * radius + SLOP - apart
        if deep <= 0.0:
            continue
        if apart < 1e-6:  # axes that cross: apart along the line between the middles
            dx, dy, apart = px, py, away
        touching += 1
        part = 0.5
        if rest[i, RANK] > 1.0 or rest[j, RANK] > 1.0:
            part = 0.5 if rest[i, RANK] == rest[j, RANK] else (0.0 if rest[i, RANK] > 1.0 else 1.0)
        sum_x -= part * deep * dx / apart
        sum_y -= part * deep * dy / apart
    if touching > 2:
        sum_x, sum_y = 0.7 * sum_x, 0.7 * sum_y
    size = math.sqrt(sum_x * sum_x + sum_y * sum_y)
    scale = FARTHEST_PUSH / size if size > FARTHEST_PUSH else 1.0
    moved[i, 0], moved[i, 1] = x + scale * sum_x, y + scale * sum_y


@kernel(borrows=True, inner=True, shared=True)
def wall_depth(
    x: float,
    y: float,
    fx: float,
    fy: float,
    cell: int,
    edges: FloatArray,
    wall_starts: IntArray,
    wall_entries: IntArray,
    parameters: FloatArray,
) -> tuple[float, float, float]:
    """Return how deep a body is in the wall that it is deepest in [m], negative if in none, and the way out of it."""
    radius, half = parameters[RADIUS], parameters[HALF]
    deepest, out_x, out_y = -1.0, 0.0, 0.0
    for entry in range(wall_starts[cell], wall_starts[cell + 1]):
        e = wall_entries[entry]
        px, py = edges[e, MX] - x, edges[e, MY] - y
        dx, dy, away = between(px, py, -fy, fx, half, edges[e, UX], edges[e, UY], edges[e, LENGTH])
        deep = radius + edges[e, ROUND] - away
        if deep > deepest:
            deepest = deep
            if away > 1e-9:
                out_x, out_y = -dx / away, -dy / away
    return deepest, out_x, out_y


@kernel(borrows=True, inner=True)
def out_of_walls(
    people: FloatArray,
    rest: FloatArray,
    i: int,
    place: FloatArray,
    shape: IntArray,
    edges: FloatArray,
    wall_starts: IntArray,
    wall_entries: IntArray,
    parameters: FloatArray,
) -> None:
    """Move a body out of walls, and write its new state into its row."""
    x, y, fx, fy = rest[i, NEW_X], rest[i, NEW_Y], rest[i, NEW_FX], rest[i, NEW_FY]
    old_x, old_y = people[i, X], people[i, Y]
    cell = hash_cell(old_x, old_y, place, shape)
    deep = -1.0
    for _ in range(6):
        deep, out_x, out_y = wall_depth(x, y, fx, fy, cell, edges, wall_starts, wall_entries, parameters)
        if deep <= 0.0:
            break
        push = min(deep, FARTHEST_PUSH) + 1e-6
        x += push * out_x
        y += push * out_y
    if deep > 0.0:
        deep, _, _ = wall_depth(x, y, fx, fy, cell, edges, wall_starts, wall_entries, parameters)
    if deep > 1e-4:
        before, _, _ = wall_depth(
            old_x, old_y, people[i, FX], people[i, FY], cell, edges, wall_starts, wall_entries, parameters
        )
        if before <= deep:
            x, y, fx, fy = old_x, old_y, people[i, FX], people[i, FY]
    dt = parameters[DT]
    people[i, X], people[i, Y], people[i, FX], people[i, FY] = x, y, fx, fy
    people[i, VX], people[i, VY] = (x - old_x) / dt, (y - old_y) / dt


@kernel
def overlaps(
    people: FloatArray, starts: IntArray, shape: IntArray, radius: float, half: float, deepest: FloatArray
) -> None:
    """Compute how deep each body is in the one that it is deepest in [m]; 0 if in none.

    Args:
        people: people in order; (A, `PEOPLE`).
        starts: first person of each cell; (cells + 1,).
        shape: number of cells along x and y; (2,).
        radius: rounding of bodies [m].
        half: half the length of their axes [m].
        deepest: receives the depths; (A,).
    """
    rows, reach = shape[1], 2.0 * (radius + half)
    for ci in range(shape[0]):
        for cj in range(rows):
            for i in range(starts[ci * rows + cj], starts[ci * rows + cj + 1]):
                deepest[i] = 0.0
                for ii in range(max(ci - 1, 0), min(ci + 1, shape[0] - 1) + 1):
                    first = starts[ii * rows + max(cj - 1, 0)]
                    for j in range(first, starts[ii * rows + min(cj + 1, rows - 1) + 1]):
                        px, py = people[j, X] - people[i, X], people[j, Y] - people[i, Y]
                        if j == i or px * px + py * py >= reach * reach:
                            continue
                        _, _, apart = between(
                            px, py, -people[i, FY], people[i, FX], half, -people[j, FY], people[j, FX], half
                        )
                        deepest[i] = max(deepest[i], 2.0 * radius - apart)
