"""Who is where and when: the plans of all characters in space and time (Lau 2009, 4.7.1, global characters gridmap).

A plan is reserved move by move, to the place where it comes to rest, and there for ever. Each move is in one chain: it
is that of the cell in which the middle of its disc lies and of the era in which it begins. Whoever asks looks into the
chains of all cells and eras from which a move could reach it. Chains are found by a hash, so that the world may be of
any size: a move in a chain that is not its own is told apart by its disc and its times.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway._jit import kernel
from gaitway.arrays import FloatArray, IntArray

Small = npt.NDArray[np.int32]

SIDE = 2.5
"""Of a cell [m]."""
ERA = 1.6
"""Length of an era [s]."""
TOUCH = 1e-6
"""Times that overlap by less only touch [s]."""
# columns of `CrowdArrays.steps`
X, Y, COSINE, SINE, HEADING, TIME = range(6)
# columns of `CrowdArrays.links`
NEXT, BEFORE, CHAIN = range(3)
# entries of `CrowdArrays.extent`
WIDEST, STILL, LONGEST, LAST = range(4)
"""Largest radius of a move and of somebody at rest [m], longest move [s], and the time when all have come to rest [s].
"""


class BodyArrays(NamedTuple):
    """What bodies take up, by action: discs seen from its first frame; A actions, W windows. All are read-only."""

    durations: FloatArray
    """[s]; (A,)."""
    around: FloatArray
    """A disc (x, y, radius) around all that an action takes up [m]; (A, 3)."""
    window_starts: IntArray
    """First window of each action, and W at the end; (A + 1,)."""
    windows: FloatArray
    """Begin and end [s] of each window, and the disc around it [m]; (W, 5)."""
    disc_starts: IntArray
    """First disc of each window; (W + 1,)."""
    discs: FloatArray
    """x, y and radius [m], the largest of each window first; (D, 3)."""
    still_around: FloatArray
    """A disc around somebody who rests by each action for ever; (A, 3)."""
    still_starts: IntArray
    """First disc of each; (A + 1,)."""
    still: FloatArray
    """[m]; (S, 3)."""
    states: IntArray
    """State of the planner after each action; (A,)."""
    rests: IntArray
    """Action that stands still after each, or -1; (A,)."""
    special: IntArray
    """Whether each passes a special obstacle; (A,)."""


class CrowdArrays(NamedTuple):
    """Plans of C characters of up to K steps each; kernels write to all arrays.

    Row k of a character is its step k; row K is where it comes to rest. All rows of all characters, one after another,
    are the entries of the chains.
    """

    steps: FloatArray
    """x, y [m], cosine and sine of the heading, heading [rad], time [s] at which each begins; (C, K + 1, 6)."""
    actions: Small
    """(C, K + 1)."""
    reach: FloatArray
    """Disc (x, y, radius) in the world [m], begin and end [s] of each entry; (E, 5)."""
    links: Small
    """Next and earlier entry of its chain, or -1, and the chain, -1 for one that is in none; (E, 3)."""
    heads: Small
    """First entry of each chain, or -1: first those of moves, and then as many of those who rest; (2 H,)."""
    extent: FloatArray
    """See `WIDEST` and the others; (4,)."""
    counts: IntArray
    """See `_live_kernels`; (C, 8)."""
    numbers: FloatArray
    """See `_live_kernels`; (C, 4)."""
    until: FloatArray
    """End of the step that is being played [s], infinity for an empty place; (C,)."""


@kernel(borrows=True, inner=True)
def chain_of(heads: Small, column: int, row: int, era: int) -> int:
    """Chain of a cell and an era; era -1 is that of those who rest."""
    half = len(heads) >> 1
    mixed = (column * 73856093) ^ (row * 19349663) ^ (era * 83492791)
    place = (mixed ^ (mixed >> 15)) & (half - 1)
    return place + half if era == -1 else place


@kernel(borrows=True, inner=True)
def cell_of(along: float) -> int:
    """Number of a cell along one axis."""
    return math.floor(along * (1.0 / SIDE))


@kernel(borrows=True, inner=True)
def era_of(time: float) -> int:
    """Number of an era; those before time 0 are one."""
    return math.floor(max(time, 0.0) * (1.0 / ERA))


@kernel(borrows=True, inner=True)
def link(body: BodyArrays, crowd: CrowdArrays, me: int, k: int) -> None:
    """Reserve a step of a character, or (the last row) the place where it rests."""
    rows = crowd.steps.shape[1]
    entry, resting = me * rows + k, k == rows - 1
    steps, reach, links, heads = crowd.steps, crowd.reach, crowd.links, crowd.heads
    a = crowd.actions[me, k]
    around = body.still_around if resting else body.around
    c, s, u, v = steps[me, k, COSINE], steps[me, k, SINE], around[a, 0], around[a, 1]
    x, y, begin = steps[me, k, X] + c * u - s * v, steps[me, k, Y] + s * u + c * v, steps[me, k, TIME]
    end = np.inf if resting else begin + body.durations[a]
    reach[entry, 0], reach[entry, 1], reach[entry, 2] = x, y, around[a, 2]
    reach[entry, 3], reach[entry, 4] = begin, end
    chain = chain_of(heads, cell_of(x), cell_of(y), -1 if resting else era_of(begin))
    first = heads[chain]
    links[entry, NEXT], links[entry, BEFORE], links[entry, CHAIN] = first, -1, chain
    if first >= 0:
        links[first, BEFORE] = entry
    heads[chain] = entry
    crowd.extent[LAST] = max(crowd.extent[LAST], begin if resting else end)


@kernel(borrows=True, inner=True)
def unlink(crowd: CrowdArrays, entry: int) -> None:
    """Take an entry out of its chain, if it is in one."""
    links, heads = crowd.links, crowd.heads
    chain = links[entry, CHAIN]
    if chain < 0:
        return
    after, before = links[entry, NEXT], links[entry, BEFORE]
    if after >= 0:
        links[after, BEFORE] = before
    if before >= 0:
        links[before, NEXT] = after
    else:
        heads[chain] = after
    links[entry, CHAIN] = -1


@kernel(borrows=True, inner=True)
def near(reach: FloatArray, entry: int, x: float, y: float, r: float, begin: float, end: float) -> bool:
    """Whether an entry's disc meets a disc [m] at some time between two [s]."""
    wide, dx, dy = reach[entry, 2] + r, reach[entry, 0] - x, reach[entry, 1] - y
    together = min(reach[entry, 4], end) - max(reach[entry, 3], begin) > TOUCH
    return bool(together and dx * dx + dy * dy < wide * wide)


@kernel(borrows=True, inner=True)
def move_hit(
    body: BodyArrays, crowd: CrowdArrays, me: int, x: float, y: float, c: float, s: float, t: float, a: int
) -> int:
    """The entry of somebody else that an action meets which begins at a pose and time, or -1."""
    around, reach, links, heads, extent = body.around, crowd.reach, crowd.links, crowd.heads, crowd.extent
    rows = crowd.steps.shape[1]
    u, v, r = around[a, 0], around[a, 1], around[a, 2]
    px, py, end = x + c * u - s * v, y + s * u + c * v, t + body.durations[a]
    wide = r + max(extent[WIDEST], extent[STILL])
    first_era, last_era = era_of(t - extent[LONGEST]), era_of(end)
    for column in range(cell_of(px - wide), cell_of(px + wide) + 1):
        for row in range(cell_of(py - wide), cell_of(py + wide) + 1):
            for number in range(first_era - 1, last_era + 1):
                era = -1 if number < first_era else number
                entry = int(heads[chain_of(heads, column, row, era)])
                while entry >= 0:
                    who = entry // rows
                    if who != me and near(reach, entry, px, py, r, t, end):
                        k = entry - who * rows
                        if era >= 0:
                            met = moves_meet(body, crowd, x, y, c, s, t, a, who, k)
                        else:
                            met = move_meets_still(body, crowd, who, x, y, c, s, t, a)
                        if met:
                            return entry
                    entry = int(links[entry, NEXT])
    return -1


@kernel(borrows=True, inner=True)
def rest_hit(
    body: BodyArrays, crowd: CrowdArrays, me: int, x: float, y: float, c: float, s: float, t: float, a: int
) -> int:
    """The entry of somebody else that comes by, or stands, where one rests by an action from a time on, or -1."""
    around, reach, links, heads, extent = body.still_around, crowd.reach, crowd.links, crowd.heads, crowd.extent
    rows = crowd.steps.shape[1]
    u, v, r = around[a, 0], around[a, 1], around[a, 2]
    px, py = x + c * u - s * v, y + s * u + c * v
    wide = r + max(extent[WIDEST], extent[STILL])
    first_era, last_era = era_of(t - extent[LONGEST]), era_of(extent[LAST])
    for column in range(cell_of(px - wide), cell_of(px + wide) + 1):
        for row in range(cell_of(py - wide), cell_of(py + wide) + 1):
            for number in range(first_era - 1, last_era + 1):
                era = -1 if number < first_era else number
                entry = int(heads[chain_of(heads, column, row, era)])
                while entry >= 0:
                    who = entry // rows
                    if who != me and near(reach, entry, px, py, r, t, np.inf):
                        k = entry - who * rows
                        if era >= 0:
                            met = still_meets_move(body, crowd, who, k, x, y, c, s, t, a)
                        else:
                            met = still_meet(body, crowd, who, x, y, c, s, a)
                        if met:
                            return entry
                    entry = int(links[entry, NEXT])
    return -1


@kernel(borrows=True, inner=True)
def moves_meet(
    body: BodyArrays, crowd: CrowdArrays, x: float, y: float, c: float, s: float, t: float, a: int, who: int, k: int
) -> bool:
    """Whether an action meets a step of somebody, window by window in time."""
    steps, windows = crowd.steps, body.windows
    b = crowd.actions[who, k]
    ox, oy, oc, os, ot = (
        steps[who, k, X],
        steps[who, k, Y],
        steps[who, k, COSINE],
        steps[who, k, SINE],
        steps[who, k, TIME],
    )
    i, i_end, j, j_end = (
        body.window_starts[a],
        body.window_starts[a + 1],
        body.window_starts[b],
        body.window_starts[b + 1],
    )
    while i < i_end and t + windows[i, 1] <= ot:
        i += 1
    while j < j_end and ot + windows[j, 1] <= t:
        j += 1
    while i < i_end and j < j_end:
        first, second = t + windows[i, 1], ot + windows[j, 1]
        if min(first, second) - max(t + windows[i, 0], ot + windows[j, 0]) > TOUCH:
            u, v, p, q = windows[i, 2], windows[i, 3], windows[j, 2], windows[j, 3]
            dx = x + c * u - s * v - (ox + oc * p - os * q)
            dy = y + s * u + c * v - (oy + os * p + oc * q)
            wide = windows[i, 4] + windows[j, 4]
            if dx * dx + dy * dy < wide * wide and discs_meet(
                body.discs, body.disc_starts[i], body.disc_starts[i + 1], x, y, c, s,
                body.discs, body.disc_starts[j], body.disc_starts[j + 1], ox, oy, oc, os,
            ):  # fmt: skip
                return True
        if first <= second:
            i += 1
        else:
            j += 1
    return False


@kernel(borrows=True, inner=True)
def move_meets_still(
    body: BodyArrays, crowd: CrowdArrays, who: int, x: float, y: float, c: float, s: float, t: float, a: int
) -> bool:
    """Whether an action meets somebody where it rests."""
    steps, end = crowd.steps, crowd.steps.shape[1] - 1
    b, begin = crowd.actions[who, end], steps[who, end, TIME]
    return windows_meet_still(
        body, x, y, c, s, t, a, begin,
        steps[who, end, X], steps[who, end, Y], steps[who, end, COSINE], steps[who, end, SINE], b,
    )  # fmt: skip


@kernel(borrows=True, inner=True)
def still_meets_move(
    body: BodyArrays, crowd: CrowdArrays, who: int, k: int, x: float, y: float, c: float, s: float, t: float, a: int
) -> bool:
    """Whether one who rests by action a from a time on is met by a step of somebody."""
    steps = crowd.steps
    b = crowd.actions[who, k]
    return windows_meet_still(
        body, steps[who, k, X], steps[who, k, Y], steps[who, k, COSINE], steps[who, k, SINE], steps[who, k, TIME], b,
        t, x, y, c, s, a,
    )  # fmt: skip


@kernel(borrows=True, inner=True)
def windows_meet_still(
    body: BodyArrays, x: float, y: float, c: float, s: float, t: float, a: int, begin: float,
    ox: float, oy: float, oc: float, os: float, b: int,
) -> bool:  # fmt: skip
    """Whether action a, from a pose and time on, meets one who rests by action b at another pose from `begin` on."""
    windows, around = body.windows, body.still_around
    px, py, r = ox + oc * around[b, 0] - os * around[b, 1], oy + os * around[b, 0] + oc * around[b, 1], around[b, 2]
    for i in range(body.window_starts[a], body.window_starts[a + 1]):
        if t + windows[i, 1] - begin <= TOUCH:
            continue
        u, v, wide = windows[i, 2], windows[i, 3], windows[i, 4] + r
        dx, dy = x + c * u - s * v - px, y + s * u + c * v - py
        if dx * dx + dy * dy < wide * wide and discs_meet(
            body.discs, body.disc_starts[i], body.disc_starts[i + 1], x, y, c, s,
            body.still, body.still_starts[b], body.still_starts[b + 1], ox, oy, oc, os,
        ):  # fmt: skip
            return True
    return False


@kernel(borrows=True, inner=True)
def still_meet(body: BodyArrays, crowd: CrowdArrays, who: int, x: float, y: float, c: float, s: float, a: int) -> bool:
    """Whether two that rest for ever meet."""
    steps, end = crowd.steps, crowd.steps.shape[1] - 1
    b = crowd.actions[who, end]
    return discs_meet(
        body.still, body.still_starts[a], body.still_starts[a + 1], x, y, c, s,
        body.still, body.still_starts[b], body.still_starts[b + 1],
        steps[who, end, X], steps[who, end, Y], steps[who, end, COSINE], steps[who, end, SINE],
    )  # fmt: skip


@kernel(borrows=True, inner=True)
def discs_meet(
    some: FloatArray, first: int, end: int, x: float, y: float, c: float, s: float,
    others: FloatArray, other_first: int, other_end: int, ox: float, oy: float, oc: float, os: float,
) -> bool:  # fmt: skip
    """Whether any of some discs at a pose meets any of others at another pose."""
    # all in the frame of the other pose, so that its discs lie as they are written down
    dx, dy = x - ox, y - oy
    fx, fy = oc * dx + os * dy, oc * dy - os * dx
    fc, fs = oc * c + os * s, oc * s - os * c
    for k in range(first, end):
        u, v, r = some[k, 0], some[k, 1], some[k, 2]
        px, py = fx + fc * u - fs * v, fy + fs * u + fc * v
        for j in range(other_first, other_end):
            ax, ay, wide = others[j, 0] - px, others[j, 1] - py, others[j, 2] + r
            if ax * ax + ay * ay < wide * wide:
                return True
    return False
