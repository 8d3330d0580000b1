"""Reservations of all characters in space and time (Lau 2009, section 4.7.1, global characters gridmap).

A plan is reserved move by move up to the place where it comes to rest, and this place from then on. Each reservation is
an entry in the chain of the cell in which the middle of its disc lies, with the times between which it holds. Chains
are found by a hash, so the world may be of any size; entries of other cells in the same chain are told apart by their
discs. Two moves are compared window by window in time, a tenth of a second each, by the discs that cover their bodies.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel

Small = npt.NDArray[np.int32]

SIDE = 2.5
"""Cell size [m]."""
GROUP = 4
"""Number of windows of a move that are first tested together."""
TOUCH = 1e-6
"""Intervals of time that overlap by less only touch [s]."""
# columns of `CrowdArrays.steps`
X, Y, COSINE, SINE, HEADING, TIME = range(6)
# columns of `CrowdArrays.links`
NEXT, BEFORE, CHAIN = range(3)
# entries of `CrowdArrays.extent`
WIDEST, APART, OFF = range(3)
"""Largest radius of an entry; largest of `BodyArrays.apart`; and largest distance between the root of a character at
rest and the middle of its disc [m]."""


class BodyArrays(NamedTuple):
    """Discs that cover bodies, by action, seen from its first frame; A actions, W windows. All arrays are read-only."""

    durations: FloatArray
    """Durations of the actions [s]; (A,)."""
    around: FloatArray
    """A disc (x, y, radius) around all discs of an action [m]; (A, 3)."""
    window_starts: IntArray
    """First window of each action, and W at the end; (A + 1,)."""
    windows: FloatArray
    """Begin and end [s] of each window, and the disc around it [m]; (W, 5)."""
    groups: FloatArray
    """Begin and end [s] of each group of `GROUP` windows of an action, and the disc around it [m]; (G, 5)."""
    group_starts: IntArray
    """First group of each action, and G at the end; (A + 1,)."""
    disc_starts: IntArray
    """First disc of each window; (W + 1,)."""
    discs: FloatArray
    """x, y and radius [m], the largest of each window first; (D, 3)."""
    still_around: FloatArray
    """A disc around a character that rests by each action for ever [m]; (A, 3)."""
    still_starts: IntArray
    """First disc of a character that rests by each action; (A + 1,)."""
    still: FloatArray
    """Discs of characters at rest: x, y and radius [m]; (S, 3)."""
    states: IntArray
    """Planner state after each action; (A,)."""
    rests: IntArray
    """Action that stands still after each action, or -1; (A,)."""
    special: IntArray
    """1 for each action that passes a special obstacle, else 0; (A,)."""
    libraries: IntArray
    """Number of the library that each action belongs to; (A,)."""
    apart: FloatArray
    """Distance between the roots of two characters at rest, by their libraries, at which both can turn [m]; (L, L)."""


class CrowdArrays(NamedTuple):
    """Plans of C characters of up to K steps each; kernels write to all arrays.

    Row k of a character is its step k; row K is where it comes to rest. All rows of all characters, one after another,
    are the entries of the chains.
    """

    steps: FloatArray
    """x, y [m], cosine and sine of the heading, heading [rad], and start time [s] of each step; (C, K + 1, 6)."""
    actions: Small
    """Action of each step; (C, K + 1)."""
    reach: FloatArray
    """Disc (x, y, radius) in the world [m], begin and end [s] of each entry; (E, 5)."""
    links: Small
    """Next and earlier entry of its chain, or -1, and the chain, or -1 for an entry in no chain; (E, 3)."""
    heads: Small
    """First entry of each chain, or -1; chains of moving and of resting characters by turns; (H,), a power of two."""
    extent: FloatArray
    """See `WIDEST` and the others; (3,)."""
    counts: IntArray
    """See `_playing_kernels.FIRST` and the others; (C, 14)."""
    numbers: FloatArray
    """See `_playing_kernels.GOAL_X` and the others; (C, 6)."""
    until: FloatArray
    """End of the step that is played [s], infinity for an empty place; (C,)."""
    mirrors: FloatArray
    """Ground that is in the plane twice: xmin, ymin, xmax, ymax, and how far the other lies from it [m]; (M, 6)."""


@kernel(borrows=True, inner=True)
def chain_of(heads: Small, column: int, row: int, resting: int) -> int:
    """Return the chain of a cell, of characters that move (0) or rest (1)."""
    mixed = (column * 73856093) ^ (row * 19349663)
    return (((mixed ^ (mixed >> 15)) << 1) | resting) & (len(heads) - 1)


@kernel(borrows=True, inner=True)
def cell_of(along: float) -> int:
    """Return the number of a cell along one axis."""
    return math.floor(along * (1.0 / SIDE))


@kernel(borrows=True, inner=True)
def link(body: BodyArrays, crowd: CrowdArrays, me: int, k: int) -> None:
    """Reserve a step of a character, or with the last row the place where it rests."""
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
    chain = chain_of(heads, cell_of(x), cell_of(y), 1 if resting else 0)
    first = heads[chain]
    links[entry, NEXT], links[entry, BEFORE], links[entry, CHAIN] = first, -1, chain
    if first >= 0:
        links[first, BEFORE] = entry
    heads[chain] = entry


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
    """Return whether an entry's disc meets a disc [m] at some time between two times [s]."""
    wide, dx, dy = reach[entry, 2] + r, reach[entry, 0] - x, reach[entry, 1] - y
    together = min(reach[entry, 4], end) - max(reach[entry, 3], begin) > TOUCH
    return bool(together and dx * dx + dy * dy < wide * wide)


@kernel(borrows=True, inner=True)
def on_mirror(crowd: CrowdArrays, k: int, x: float, y: float, r: float) -> bool:
    """Return whether a disc is on ground that is in the plane twice, by its number."""
    mirrors = crowd.mirrors
    return bool(x + r >= mirrors[k, 0] and y + r >= mirrors[k, 1] and x - r <= mirrors[k, 2] and y - r <= mirrors[k, 3])


@kernel(borrows=True, inner=True)
def move_hit(
    body: BodyArrays, crowd: CrowdArrays, me: int, x: float, y: float, c: float, s: float, t: float, a: int
) -> int:
    """Return the entry of another character that an action meets, which begins at a pose and time, or -1.

    On ground that is in the plane twice, it may meet somebody on either.
    """
    entry, mirrors, around = move_hit_here(body, crowd, me, x, y, c, s, t, a), crowd.mirrors, body.around
    px, py = x + c * around[a, 0] - s * around[a, 1], y + s * around[a, 0] + c * around[a, 1]
    for k in range(len(mirrors)):
        if entry < 0 and on_mirror(crowd, k, px, py, around[a, 2]):
            entry = move_hit_here(body, crowd, me, x + mirrors[k, 4], y + mirrors[k, 5], c, s, t, a)
    return entry


@kernel(borrows=True, inner=True)
def move_hit_here(
    body: BodyArrays, crowd: CrowdArrays, me: int, x: float, y: float, c: float, s: float, t: float, a: int
) -> int:
    """Return the entry of another character that an action meets at its place in the plane, or -1."""
    around, reach, links, heads, rows = body.around, crowd.reach, crowd.links, crowd.heads, crowd.steps.shape[1]
    u, v, r = around[a, 0], around[a, 1], around[a, 2]
    px, py, end = x + c * u - s * v, y + s * u + c * v, t + body.durations[a]
    wide = r + crowd.extent[WIDEST]
    for column in range(cell_of(px - wide), cell_of(px + wide) + 1):
        for row in range(cell_of(py - wide), cell_of(py + wide) + 1):
            for resting in range(2):
                entry = int(heads[chain_of(heads, column, row, resting)])
                while entry >= 0:
                    other = entry // rows != me and near(reach, entry, px, py, r, t, end)
                    if other and entry_meets(body, crowd, entry, x, y, c, s, t, a):
                        return entry
                    entry = int(links[entry, NEXT])
    return -1


@kernel(borrows=True, inner=True)
def rest_hit(
    body: BodyArrays, crowd: CrowdArrays, me: int, x: float, y: float, c: float, s: float, t: float, a: int
) -> int:
    """Return the entry of another character that meets a character which rests by an action from a time on, or -1.

    A character that goes somewhere to rest (unlike -1, which is put there) keeps `BodyArrays.apart` from others at
    rest. If it is nearer, the result is its own number. On ground that is in the plane twice, it may meet somebody on
    either.
    """
    entry, mirrors, around = rest_hit_here(body, crowd, me, x, y, c, s, t, a), crowd.mirrors, body.still_around
    px, py = x + c * around[a, 0] - s * around[a, 1], y + s * around[a, 0] + c * around[a, 1]
    for k in range(len(mirrors)):
        if entry < 0 and on_mirror(crowd, k, px, py, around[a, 2]):
            entry = rest_hit_here(body, crowd, me, x + mirrors[k, 4], y + mirrors[k, 5], c, s, t, a)
    return entry


@kernel(borrows=True, inner=True)
def rest_hit_here(
    body: BodyArrays, crowd: CrowdArrays, me: int, x: float, y: float, c: float, s: float, t: float, a: int
) -> int:
    """Return what `rest_hit` does for the place in the plane alone."""
    around, reach, links, heads, rows = body.still_around, crowd.reach, crowd.links, crowd.heads, crowd.steps.shape[1]
    u, v, r = around[a, 0], around[a, 1], around[a, 2]
    px, py = x + c * u - s * v, y + s * u + c * v
    wide = r + crowd.extent[WIDEST]
    if me >= 0 and rest_taken(body, crowd, me, x, y, 0.0):
        return me
    for column in range(cell_of(px - wide), cell_of(px + wide) + 1):
        for row in range(cell_of(py - wide), cell_of(py + wide) + 1):
            for resting in range(2):
                entry = int(heads[chain_of(heads, column, row, resting)])
                while entry >= 0:
                    other = entry // rows != me and near(reach, entry, px, py, r, t, np.inf)
                    if other and entry_meets_still(body, crowd, entry, x, y, c, s, t, a):
                        return entry
                    entry = int(links[entry, NEXT])
    return -1


@kernel(borrows=True, inner=True)
def rest_taken(body: BodyArrays, crowd: CrowdArrays, me: int, x: float, y: float, less: float) -> bool:
    """Return whether another character rests, now or later, too near to a place for both to turn.

    It may be nearer by `less` [m].
    """
    links, heads, steps, end = crowd.links, crowd.heads, crowd.steps, crowd.steps.shape[1] - 1
    actions, libraries, apart = crowd.actions, body.libraries, body.apart
    mine = libraries[actions[me, end]]
    wide = max(crowd.extent[APART] - less, 0.0) + crowd.extent[OFF]
    for column in range(cell_of(x - wide), cell_of(x + wide) + 1):
        for row in range(cell_of(y - wide), cell_of(y + wide) + 1):
            entry = int(heads[chain_of(heads, column, row, 1)])
            while entry >= 0:
                who = entry // (end + 1)
                room = max(apart[mine, libraries[actions[who, end]]] - less, 0.0)
                dx, dy = steps[who, end, X] - x, steps[who, end, Y] - y
                if who != me and dx * dx + dy * dy < room * room:
                    return True
                entry = int(links[entry, NEXT])
    return False


@kernel(borrows=True, inner=True)
def entry_meets(
    body: BodyArrays, crowd: CrowdArrays, entry: int, x: float, y: float, c: float, s: float, t: float, a: int
) -> bool:
    """Return whether an action that begins at a pose and time meets an entry."""
    rows = crowd.steps.shape[1]
    who = entry // rows
    k = entry - who * rows
    if k == rows - 1:
        return move_meets_still(body, crowd, who, x, y, c, s, t, a)
    return moves_meet(body, crowd, x, y, c, s, t, a, who, k)


@kernel(borrows=True, inner=True)
def entry_meets_still(
    body: BodyArrays, crowd: CrowdArrays, entry: int, x: float, y: float, c: float, s: float, t: float, a: int
) -> bool:
    """Return whether a character that rests by an action at a pose from a time on meets an entry."""
    rows = crowd.steps.shape[1]
    who = entry // rows
    k = entry - who * rows
    if k == rows - 1:
        return still_meet(body, crowd, who, x, y, c, s, a)
    return still_meets_move(body, crowd, who, k, x, y, c, s, t, a)


@kernel(borrows=True, inner=True)
def moves_meet(
    body: BodyArrays, crowd: CrowdArrays, x: float, y: float, c: float, s: float, t: float, a: int, who: int, k: int
) -> bool:
    """Return whether an action meets a step of a character, window by window in time."""
    steps, groups, starts = crowd.steps, body.groups, body.group_starts
    b, oc, os = crowd.actions[who, k], steps[who, k, COSINE], steps[who, k, SINE]
    # all in the frame of the other step, so that what it takes up lies as it is written down
    dx, dy, ahead = x - steps[who, k, X], y - steps[who, k, Y], t - steps[who, k, TIME]
    fx, fy, fc, fs = oc * dx + os * dy, oc * dy - os * dx, oc * c + os * s, oc * s - os * c
    i, i_end, j, j_end = starts[a], starts[a + 1], starts[b], starts[b + 1]
    while i < i_end and j < j_end:
        first, second = ahead + groups[i, 1], groups[j, 1]
        if min(first, second) - max(ahead + groups[i, 0], groups[j, 0]) > TOUCH:
            u, v, wide = groups[i, 2], groups[i, 3], groups[i, 4] + groups[j, 4]
            px, py = fx + fc * u - fs * v - groups[j, 2], fy + fs * u + fc * v - groups[j, 3]
            if px * px + py * py < wide * wide and windows_meet(
                body, fx, fy, fc, fs, ahead, body.window_starts[a] + GROUP * (i - starts[a]), body.window_starts[a + 1],
                body.window_starts[b] + GROUP * (j - starts[b]), body.window_starts[b + 1],
            ):  # fmt: skip
                return True
        if first <= second:
            i += 1
        else:
            j += 1
    return False


@kernel(borrows=True, inner=True)
def windows_meet(
    body: BodyArrays, fx: float, fy: float, fc: float, fs: float, ahead: float, i: int, i_most: int, j: int, j_most: int
) -> bool:
    """Return whether windows of one group from i on meet windows of another from j on.

    Args:
        body: discs of the actions.
        fx: x of the pose of the first action, seen from that of the second [m].
        fy: y of that pose [m].
        fc: cosine of its heading.
        fs: sine of its heading.
        ahead: time by which the first action begins later [s].
        i: first window.
        i_most: end of the windows of the first action.
        j: first window of the second group.
        j_most: end of the windows of the second action.
    """
    windows, discs, firsts = body.windows, body.discs, body.disc_starts
    i_end, j_end = min(i + GROUP, i_most), min(j + GROUP, j_most)
    while i < i_end and j < j_end:
        first, second = ahead + windows[i, 1], windows[j, 1]
        if min(first, second) - max(ahead + windows[i, 0], windows[j, 0]) > TOUCH:
            u, v, wide = windows[i, 2], windows[i, 3], windows[i, 4] + windows[j, 4]
            px, py = fx + fc * u - fs * v - windows[j, 2], fy + fs * u + fc * v - windows[j, 3]
            if px * px + py * py < wide * wide and discs_meet(
                discs, firsts[i], firsts[i + 1], fx, fy, fc, fs, discs, firsts[j], firsts[j + 1]
            ):
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
    """Return whether an action meets a character where it rests."""
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
    """Return whether a character that rests by action a from a time on is met by a step of another."""
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
    """Return whether action a, from a pose and time on, meets a character that rests by action b from `begin` on."""
    windows, around = body.windows, body.still_around
    dx, dy = x - ox, y - oy
    fx, fy, fc, fs = oc * dx + os * dy, oc * dy - os * dx, oc * c + os * s, oc * s - os * c
    for i in range(body.window_starts[a], body.window_starts[a + 1]):
        if t + windows[i, 1] - begin <= TOUCH:
            continue
        u, v, wide = windows[i, 2], windows[i, 3], windows[i, 4] + around[b, 2]
        px, py = fx + fc * u - fs * v - around[b, 0], fy + fs * u + fc * v - around[b, 1]
        if px * px + py * py < wide * wide and discs_meet(
            body.discs, body.disc_starts[i], body.disc_starts[i + 1], fx, fy, fc, fs,
            body.still, body.still_starts[b], body.still_starts[b + 1],
        ):  # fmt: skip
            return True
    return False


@kernel(borrows=True, inner=True)
def still_meet(body: BodyArrays, crowd: CrowdArrays, who: int, x: float, y: float, c: float, s: float, a: int) -> bool:
    """Return whether two characters that rest for ever meet."""
    steps, end = crowd.steps, crowd.steps.shape[1] - 1
    b, oc, os = crowd.actions[who, end], steps[who, end, COSINE], steps[who, end, SINE]
    dx, dy = x - steps[who, end, X], y - steps[who, end, Y]
    return discs_meet(
        body.still, body.still_starts[a], body.still_starts[a + 1],
        oc * dx + os * dy, oc * dy - os * dx, oc * c + os * s, oc * s - os * c,
        body.still, body.still_starts[b], body.still_starts[b + 1],
    )  # fmt: skip


@kernel(borrows=True, inner=True)
def discs_meet(
    some: FloatArray, first: int, end: int, x: float, y: float, c: float, s: float,
    others: FloatArray, other_first: int, other_end: int,
) -> bool:  # fmt: skip
    """Return whether discs, seen from a pose in the frame of other discs, meet any of these."""
    for k in range(first, end):
        u, v, r = some[k, 0], some[k, 1], some[k, 2]
        px, py = x + c * u - s * v, y + s * u + c * v
        for j in range(other_first, other_end):
            ax, ay, wide = others[j, 0] - px, others[j, 1] - py, others[j, 2] + r
            if ax * ax + ay * ay < wide * wide:
                return True
    return False
