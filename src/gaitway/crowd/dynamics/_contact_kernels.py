"""Contacts of bodies: gaps between capsules, bodies that are moved apart after a step, and out of walls."""

from __future__ import annotations

import math

import numba

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.crowd.dynamics._neighbor_kernels import hash_cell
from gaitway.crowd.dynamics._people_kernels import (
    AGILITY,
    BLOCK,
    DT,
    FX,
    FY,
    HALF,
    LENGTH,
    MX,
    MY,
    NEW_FX,
    NEW_FY,
    NEW_X,
    NEW_Y,
    RADIUS,
    RANK,
    ROUND,
    UX,
    UY,
    VX,
    VY,
    SmallInts,
    X,
    Y,
)

SLOP = 0.004
"""Gap to which overlapping bodies are moved apart [m]."""
FARTHEST_PUSH = 0.05
"""Farthest that one sweep moves a body away from others, and then out of a wall [m]."""


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
def is_beyond(px: float, py: float, edges: FloatArray, e: int, reach: float) -> bool:
    """Return whether an edge, with its middle at (px, py) from a point [m], is farther away than a reach."""
    ux, uy, half, wide = edges[e, UX], edges[e, UY], edges[e, LENGTH], reach + edges[e, ROUND]
    along = min(max(px * ux + py * uy, -half), half)
    dx, dy = px - along * ux, py - along * uy
    return bool(dx * dx + dy * dy > wide * wide)


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
        if is_beyond(px, py, edges, e, half + radius):
            continue
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
    vx, vy = (x - old_x) / dt, (y - old_y) / dt
    if parameters[AGILITY] > 0.0:  # who is pushed aside is not sent off by it
        rise_x, rise_y = vx - people[i, VX], vy - people[i, VY]
        size, most = math.sqrt(rise_x * rise_x + rise_y * rise_y), parameters[AGILITY] * dt
        scale = most / size if size > most else 1.0
        vx, vy = people[i, VX] + scale * rise_x, people[i, VY] + scale * rise_y
    people[i, VX], people[i, VY] = vx, vy


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
