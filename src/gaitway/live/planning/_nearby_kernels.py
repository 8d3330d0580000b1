"""Reservations around a character that plans, copied together once, so that its many tests read memory in order.

Reservations of one cell lie all over the table of the crowd. A character that plans tests some thirty moves and looks
at a hundred places to rest, all in the same few cells. So what is reserved in a cell is copied when it is first needed.
The answers are those of `_crowd_kernels.move_hit`, `rest_hit` and `rest_taken`, which read the table itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.live.playing._crowd_kernels import (
    APART,
    NEXT,
    OFF,
    TOUCH,
    WIDEST,
    BodyArrays,
    CrowdArrays,
    X,
    Y,
    cell_of,
    chain_of,
    entry_meets,
    entry_meets_still,
    move_hit_here,
    on_mirror,
    rest_hit_here,
    rest_taken,
)

_ACROSS = 16
"""Number of cells along a side that are held at a time, a power of two; others replace them."""
_MOST = 4096
"""Most reservations that are held for a character. Where more are near, the table itself is read."""
_FEW = 64
"""Most of those who rest near a place that are told apart from the others."""
# columns of `Nearby.cells`
_COLUMN, _ROW, _STAMP, _FIRST, _RESTS, _END = range(6)
# columns of `Nearby.entries`; the first five are those of `CrowdArrays.reach`
_X, _Y, _RADIUS, _FROM, _UNTIL, _ENTRY, _ROOT_X, _ROOT_Y, _ROOM = range(9)
# entries of `Nearby.state`
_NUMBER, _SIZE, _ME = range(3)


class Nearby(NamedTuple):
    """What is reserved near one character; memory of one thread."""

    cells: IntArray
    """Column, row and number of the plan of each cell that is held, its first reservation, the first one of somebody at
    rest, and the end of both; (cells, 6)."""
    entries: FloatArray
    """Disc [m], begin and end [s] of each reservation, its entry in the table of the crowd, and for those at rest the
    place of the root and the distance to keep from it [m]; (M, 9)."""
    state: IntArray
    """Number of the plan, number of reservations that are held, and the character; (3,)."""
    since: FloatArray
    """Time from which on the character plans; what has ended by then is not held [s]; (1,)."""
    rests: FloatArray
    """Where others rest near a place, now or later: x, y and the distance to keep from it [m]; (R, 3)."""


def nearby_memory() -> Nearby:
    """Return memory for the reservations around one character."""
    cells = np.zeros((_ACROSS * _ACROSS, 6), np.int64)
    return Nearby(cells, np.zeros((_MOST, 9)), np.zeros(3, np.int64), np.zeros(1), np.zeros((_FEW, 3)))


@kernel(borrows=True, inner=True)
def look_around(nearby: Nearby, me: int, since: float) -> None:
    """Begin for a character that plans from a time on [s]; all that is asked for begins then or later."""
    nearby.state[_NUMBER] += 1
    nearby.state[_SIZE], nearby.state[_ME] = 0, me
    nearby.since[0] = since


@kernel(borrows=True, inner=True, shared=True)
def _held(body: BodyArrays, crowd: CrowdArrays, nearby: Nearby, column: int, row: int) -> int:
    """Return the place in `Nearby.cells` of a cell, after its reservations were copied; -1 if there is no room."""
    cells, entries, state = nearby.cells, nearby.entries, nearby.state
    place = (row & (_ACROSS - 1)) * _ACROSS + (column & (_ACROSS - 1))
    me, rows, count, since = state[_ME], crowd.steps.shape[1], state[_SIZE], nearby.since[0]
    reach, links, steps, end = crowd.reach, crowd.links, crowd.steps, crowd.steps.shape[1] - 1
    mine, first, split = body.libraries[crowd.actions[me, end]], count, count
    for resting in range(2):
        split = count
        entry = int(crowd.heads[chain_of(crowd.heads, column, row, resting)])
        while entry >= 0:
            who = entry // rows
            if who != me and reach[entry, _UNTIL] - since > TOUCH:
                if count == len(entries):
                    return -1
                for k in range(_UNTIL + 1):
                    entries[count, k] = reach[entry, k]
                entries[count, _ENTRY] = entry
                if resting == 1:
                    entries[count, _ROOT_X], entries[count, _ROOT_Y] = steps[who, end, X], steps[who, end, Y]
                    entries[count, _ROOM] = body.apart[mine, body.libraries[crowd.actions[who, end]]]
                count += 1
            entry = int(links[entry, NEXT])
    cells[place, _COLUMN], cells[place, _ROW], cells[place, _STAMP] = column, row, state[_NUMBER]
    cells[place, _FIRST], cells[place, _RESTS], cells[place, _END] = first, split, count
    state[_SIZE] = count
    return place


@kernel(borrows=True, inner=True)
def _place_of(body: BodyArrays, crowd: CrowdArrays, nearby: Nearby, column: int, row: int) -> int:
    """Return the place in `Nearby.cells` of a cell; -1 if there is no room for its reservations."""
    cells = nearby.cells
    place = (row & (_ACROSS - 1)) * _ACROSS + (column & (_ACROSS - 1))
    known = cells[place, _STAMP] == nearby.state[_NUMBER]
    if known and cells[place, _COLUMN] == column and cells[place, _ROW] == row:
        return place
    return _held(body, crowd, nearby, column, row)


@kernel(borrows=True, inner=True)
def move_meets(
    body: BodyArrays, crowd: CrowdArrays, nearby: Nearby, x: float, y: float, c: float, s: float, t: float, a: int
) -> bool:
    """Return whether an action that begins at a pose and time meets another character; see `move_hit`."""
    meets, mirrors, around = _move_meets_here(body, crowd, nearby, x, y, c, s, t, a), crowd.mirrors, body.around
    px, py = x + c * around[a, 0] - s * around[a, 1], y + s * around[a, 0] + c * around[a, 1]
    for k in range(len(mirrors)):
        if not meets and on_mirror(crowd, k, px, py, around[a, 2]):
            meets = _move_meets_here(body, crowd, nearby, x + mirrors[k, 4], y + mirrors[k, 5], c, s, t, a)
    return meets


@kernel(borrows=True, inner=True)
def _move_meets_here(
    body: BodyArrays, crowd: CrowdArrays, nearby: Nearby, x: float, y: float, c: float, s: float, t: float, a: int
) -> bool:
    cells, entries, around = nearby.cells, nearby.entries, body.around
    u, v, r = around[a, 0], around[a, 1], around[a, 2]
    px, py, end = x + c * u - s * v, y + s * u + c * v, t + body.durations[a]
    wide = r + crowd.extent[WIDEST]
    for column in range(cell_of(px - wide), cell_of(px + wide) + 1):
        for row in range(cell_of(py - wide), cell_of(py + wide) + 1):
            place = _place_of(body, crowd, nearby, column, row)
            if place < 0:
                return move_hit_here(body, crowd, nearby.state[_ME], x, y, c, s, t, a) >= 0
            for k in range(cells[place, _FIRST], cells[place, _END]):
                dx, dy, both = entries[k, _X] - px, entries[k, _Y] - py, entries[k, _RADIUS] + r
                if dx * dx + dy * dy >= both * both:
                    continue
                if min(entries[k, _UNTIL], end) - max(entries[k, _FROM], t) > TOUCH and entry_meets(
                    body, crowd, int(entries[k, _ENTRY]), x, y, c, s, t, a
                ):
                    return True
    return False


@kernel(borrows=True, inner=True)
def rest_meets(
    body: BodyArrays, crowd: CrowdArrays, nearby: Nearby, x: float, y: float, c: float, s: float, t: float, a: int
) -> bool:
    """Return whether another character meets one that rests by an action from a time on; see `rest_hit`."""
    meets, mirrors, around = _rest_meets_here(body, crowd, nearby, x, y, c, s, t, a), crowd.mirrors, body.still_around
    px, py = x + c * around[a, 0] - s * around[a, 1], y + s * around[a, 0] + c * around[a, 1]
    for k in range(len(mirrors)):
        if not meets and on_mirror(crowd, k, px, py, around[a, 2]):
            meets = _rest_meets_here(body, crowd, nearby, x + mirrors[k, 4], y + mirrors[k, 5], c, s, t, a)
    return meets


@kernel(borrows=True, inner=True)
def _rest_meets_here(
    body: BodyArrays, crowd: CrowdArrays, nearby: Nearby, x: float, y: float, c: float, s: float, t: float, a: int
) -> bool:
    cells, entries, around = nearby.cells, nearby.entries, body.still_around
    u, v, r = around[a, 0], around[a, 1], around[a, 2]
    px, py = x + c * u - s * v, y + s * u + c * v
    wide = r + crowd.extent[WIDEST]
    if place_taken(body, crowd, nearby, x, y, 0.0):
        return True
    for column in range(cell_of(px - wide), cell_of(px + wide) + 1):
        for row in range(cell_of(py - wide), cell_of(py + wide) + 1):
            place = _place_of(body, crowd, nearby, column, row)
            if place < 0:
                return rest_hit_here(body, crowd, nearby.state[_ME], x, y, c, s, t, a) >= 0
            for k in range(cells[place, _FIRST], cells[place, _END]):
                dx, dy, both = entries[k, _X] - px, entries[k, _Y] - py, entries[k, _RADIUS] + r
                if dx * dx + dy * dy >= both * both:
                    continue
                if entries[k, _UNTIL] - max(entries[k, _FROM], t) > TOUCH and entry_meets_still(
                    body, crowd, int(entries[k, _ENTRY]), x, y, c, s, t, a
                ):
                    return True
    return False


@kernel(borrows=True, inner=True)
def place_taken(body: BodyArrays, crowd: CrowdArrays, nearby: Nearby, x: float, y: float, less: float) -> bool:
    """Return whether another character rests, now or later, too near to a place; see `rest_taken`."""
    cells, entries = nearby.cells, nearby.entries
    wide = max(crowd.extent[APART] - less, 0.0) + crowd.extent[OFF]
    for column in range(cell_of(x - wide), cell_of(x + wide) + 1):
        for row in range(cell_of(y - wide), cell_of(y + wide) + 1):
            place = _place_of(body, crowd, nearby, column, row)
            if place < 0:
                return rest_taken(body, crowd, nearby.state[_ME], x, y, less)
            for k in range(cells[place, _RESTS], cells[place, _END]):
                dx, dy = entries[k, _ROOT_X] - x, entries[k, _ROOT_Y] - y
                room = max(entries[k, _ROOM] - less, 0.0)
                if dx * dx + dy * dy < room * room:
                    return True
    return False


@kernel(borrows=True, inner=True)
def rests_near(
    body: BodyArrays, crowd: CrowdArrays, nearby: Nearby, x: float, y: float, reach: float, less: float
) -> int:
    """Write where others rest so that they take places within a distance of (x, y) [m] into `Nearby.rests`.

    Returns:
        Their number, or -1 if they are too many or the distance is infinite.
    """
    cells, entries, rests, count = nearby.cells, nearby.entries, nearby.rests, 0
    if reach == np.inf:
        return -1
    wide = reach + max(crowd.extent[APART] - less, 0.0) + crowd.extent[OFF]
    for column in range(cell_of(x - wide), cell_of(x + wide) + 1):
        for row in range(cell_of(y - wide), cell_of(y + wide) + 1):
            place = _place_of(body, crowd, nearby, column, row)
            if place < 0:
                return -1
            for k in range(cells[place, _RESTS], cells[place, _END]):
                dx, dy = entries[k, _ROOT_X] - x, entries[k, _ROOT_Y] - y
                room = max(entries[k, _ROOM] - less, 0.0)
                if dx * dx + dy * dy >= (reach + room) * (reach + room):
                    continue
                if count == len(rests):
                    return -1
                rests[count, 0], rests[count, 1], rests[count, 2] = entries[k, _ROOT_X], entries[k, _ROOT_Y], room
                count += 1
    return count


@kernel(borrows=True, inner=True)
def one_of_them_rests(nearby: Nearby, count: int, x: float, y: float) -> bool:
    """Return whether one of the first of `Nearby.rests` takes a place."""
    rests = nearby.rests
    for k in range(count):
        dx, dy = rests[k, 0] - x, rests[k, 1] - y
        if dx * dx + dy * dy < rests[k, 2] * rests[k, 2]:
            return True
    return False
