"""Velocities that avoid collisions: walls, other people, lanes, and trunks that turn aside where it is narrow."""

from __future__ import annotations

import math

import numba
import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.crowd.dynamics._contact_kernels import between, is_beyond
from gaitway.crowd.dynamics._neighbor_kernels import WAITING, hash_cell, nearest_people
from gaitway.crowd.dynamics._orca_kernels import least_broken, on_lines
from gaitway.crowd.dynamics._people_kernels import (
    AGILITY,
    BLOCK,
    CELL,
    CLOSE,
    COS_TURN,
    DT,
    FX,
    FY,
    HALF,
    HEADWAY,
    HORIZON,
    LANE,
    LANE_SIDE,
    LENGTH,
    LOOKS,
    MX,
    MY,
    NEW_FX,
    NEW_FY,
    NEW_X,
    NEW_Y,
    PATIENCE,
    RADIUS,
    RANK,
    ROUND,
    SIDE,
    SIGHT,
    SLOW,
    SOCIAL,
    TURN_RATE,
    UX,
    UY,
    VX,
    VY,
    WISH,
    WX,
    WY,
    SmallInts,
    X,
    Y,
)

MOST_WALLS = 10
FREE = 0.6
"""Gap beyond which room beside a body makes no difference [m]."""
HASTE, SPARE_SPEED = 1.3, 0.3
"""Greatest speed of people: a factor on the wished one, and what comes on top [m/s]."""
WALL_TIME = 0.2
"""Time in which a body may reach a wall at the earliest [s]."""
WALL_SIGHT = 0.8
"""Greatest gap to a wall that is heeded [m]."""
MOVER_TIME, MOVER_SIGHT = 0.35, 1.2
"""The same two for what moves, by the speed at which it and a body come nearer: legs have to stop in that time."""
REACHABLE = 1.0
"""Speed by which two people may come nearer to one another faster than they do now, before they look again [m/s]."""
SPARE_ROOM = 0.5
"""Gap beyond which people who move apart do not heed one another [m]."""
BACKWARD, ASIDE = 0.35, 0.6
"""Greatest speeds of whole bodies against the way that trunks face, and across it [m/s]."""
CONTACT_TIME = 0.25
"""Time in which bodies beside one another may touch at the earliest [s]."""


@kernel(borrows=True, inner=True)
def against(flow: FloatArray, place: FloatArray, shape: IntArray, x: float, y: float, wx: float, wy: float) -> float:
    """Return how many more people walk against a direction than with it, in the cell of a point."""
    i, j = math.floor((x - place[0]) * place[2]), math.floor((y - place[1]) * place[2])
    if i < 0 or j < 0 or i >= shape[0] or j >= shape[1]:
        return 0.0
    cell = i * shape[1] + j
    along = flow[cell, 0] * wx + flow[cell, 1] * wy
    return float(0.5 * (flow[cell, 2] - along) - 0.25 * (flow[cell, 2] + along))


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


@kernel(parallel=True)
def choose_velocities(
    people: FloatArray,
    rest: FloatArray,
    starts: IntArray,
    place: FloatArray,
    shape: IntArray,
    edges: FloatArray,
    edge_velocities: FloatArray,
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
        rest: what else is known of them; (A, `REST`); `LANE_SIDE` and `NEW_X` to `NEW_FY` are written.
        starts: first person of each cell; (cells + 1,).
        place: corner of the cells [m] and cells in a metre; (3,).
        shape: number of cells along x and y; (2,).
        edges: edges of walls; (S, 6).
        edge_velocities: how fast these go [m/s]; (S, 2).
        wall_starts: first wall entry of each cell; (cells + 1,).
        wall_entries: walls of each cell; (E,).
        flow: where people want to go, see `sum_flow`; (cells, 3).
        parameters: see `DT`; (`PARAMETERS`,).
        near: receives the neighbours of each, nearest first; (A, K).
        counts: receives how many of them may be touched in this step, which are the nearest; (A,).
        blockers: receives who is in the way of each; -1 for nobody, -2 for a wall; (A,).
    """
    total, most = people.shape[0], near.shape[1]
    for block in numba.prange((total + BLOCK - 1) // BLOCK):
        squares, lines, other = np.empty(most), np.empty((most + MOST_WALLS, 4)), np.empty((most + MOST_WALLS, 4))
        velocity, gaps = np.empty(2), np.empty(MOST_WALLS)
        waiting, waiting_squares = np.empty(WAITING, np.int32), np.empty(WAITING)
        for i in range(block * BLOCK, min((block + 1) * BLOCK, total)):
            count = nearest_people(
                people,
                i,
                starts,
                place,
                shape[0],
                shape[1],
                parameters[SIGHT],
                parameters[CELL],
                waiting,
                waiting_squares,
                squares,
                near[i],
            )
            close = 0
            while close < count and squares[close] < parameters[CLOSE] * parameters[CLOSE]:
                close += 1
            counts[i] = close
            blockers[i] = choose_one(
                people,
                rest,
                i,
                near[i],
                count,
                squares,
                place,
                shape,
                edges,
                edge_velocities,
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
    edge_velocities: FloatArray,
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
    left, right, least = FREE, FREE, FREE
    blocker, blocked = -1, 0.25
    # walls, whose lines are hard
    made = 0
    cell = hash_cell(x, y, place, shape)
    force_x, force_y = 0.0, 0.0
    inverse = 1.0 / parameters[HORIZON]
    for entry in range(wall_starts[cell], wall_starts[cell + 1]):
        e = wall_entries[entry]
        px, py = edges[e, MX] - x, edges[e, MY] - y
        ex, ey = edge_velocities[e, 0], edge_velocities[e, 1]
        moves = ex != 0.0 or ey != 0.0
        sight = MOVER_SIGHT if moves else WALL_SIGHT
        if is_beyond(px, py, edges, e, half + radius + sight):
            continue
        dx, dy, away = between(px, py, -fy, fx, half, edges[e, UX], edges[e, UY], edges[e, LENGTH])
        gap = away - radius - edges[e, ROUND]
        if gap > sight or away < 1e-9:
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
        allowed = gap / ((MOVER_TIME if moves else WALL_TIME) if gap > 0.0 else dt) + ex * nx + ey * ny
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
            # bodies that are apart by this much along the line of sight need no closer look
            gap = away - 2.0 * radius - half * (abs(fx * ly - fy * lx) + abs(jfx * ly - jfy * lx))
            if half > 0.0 and (gap < FREE or parameters[SOCIAL] > 0.5):
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
                    steer -= weight * min(max((lat + 0.5 * parameters[SIDE]) / 0.5, -1.0), 1.0) * (1.2 - abs(lat))
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
            closing = ux * lx + uy * ly
            if away - wide > (parameters[HORIZON] * (closing + REACHABLE) if closing > 0.0 else SPARE_ROOM):
                continue  # they move apart and there is room, or they do not meet within the horizon
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
        if rest[i, LOOKS] > 0.5:
            rest[i, LANE_SIDE] = lane(flow, place, shape, x, y, wx, wy, parameters[SIDE])
        steer += parameters[LANE] * rest[i, LANE_SIDE]
    steer = min(max(0.8 * steer, -1.0), 1.0)
    bend = math.sqrt(1.0 + steer * steer)
    aim_x, aim_y = cap * (wx - steer * wy) / bend, cap * (wy + steer * wx) / bend
    if wish <= 1e-6:
        aim_x, aim_y = 0.0, 0.0
    rise_x, rise_y = aim_x - vx, aim_y - vy
    fastest = HASTE * wish + SPARE_SPEED
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
    if parameters[AGILITY] > 0.0:
        new_x, new_y = as_bodies_can(new_x, new_y, vx, vy, fx, fy, parameters[AGILITY] * dt)
    rest[i, NEW_X], rest[i, NEW_Y] = x + dt * new_x, y + dt * new_y
    turn_trunk(people, rest, i, wx, wy, new_x, new_y, left, right, facing_others, impatience, least, parameters)
    going = new_x * wx + new_y * wy
    return blocker if going < 0.3 * wish else -1


@kernel(borrows=True, inner=True)
def as_bodies_can(
    new_x: float, new_y: float, vx: float, vy: float, fx: float, fy: float, most: float
) -> tuple[float, float]:
    """Return the velocity nearest to a chosen one that legs can walk at [m/s].

    Args:
        new_x: chosen velocity [m/s].
        new_y: the same.
        vx: velocity now [m/s].
        vy: the same.
        fx: direction that the trunk faces.
        fy: the same.
        most: greatest change of velocity in a step [m/s].
    """
    ahead, aside = new_x * fx + new_y * fy, new_y * fx - new_x * fy
    ahead, aside = max(ahead, -BACKWARD), min(max(aside, -ASIDE), ASIDE)
    rise_x, rise_y = ahead * fx - aside * fy - vx, ahead * fy + aside * fx - vy
    size = math.sqrt(rise_x * rise_x + rise_y * rise_y)
    scale = most / size if size > most else 1.0
    return vx + scale * rise_x, vy + scale * rise_y


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
