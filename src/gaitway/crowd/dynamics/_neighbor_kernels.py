"""Neighbours in a spatial hash: the nearest people that somebody sees."""

from __future__ import annotations

import math

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.crowd.dynamics._people_kernels import WX, WY, SmallInts, X, Y

WAITING = 64
"""Number of people that are looked at before the nearest of them are chosen."""
BESIDE = 1.0
"""Distance up to which people are seen who are behind [m]."""
_BEYOND = 1e9
"""Where the cells at the border end, which hold those outside too [m]."""
_MARGIN = 1e-6
"""Margin on what is left out, many times the rounding of coordinates [m]."""


@kernel(borrows=True, inner=True)
def hash_cell(x: float, y: float, place: FloatArray, shape: IntArray) -> int:
    """Return the cell of a point, or the nearest one to it."""
    i = min(max(int((x - place[0]) * place[2]), 0), shape[0] - 1)
    return int(i * shape[1] + min(max(int((y - place[1]) * place[2]), 0), shape[1] - 1))


@kernel(borrows=True, inner=True)
def keep_nearest(
    waiting: SmallInts, waiting_squares: FloatArray, count: int, found: int, squares: FloatArray, near: SmallInts
) -> int:
    """Sort those who wait into the nearest people so far, equal ones as they come; returns how many are found."""
    most = len(squares)
    for n in range(count):
        square, j = waiting_squares[n], waiting[n]
        if found < most:
            k = found
            found += 1
        elif square < squares[most - 1]:
            k = most - 1
        else:
            continue
        while k > 0 and squares[k - 1] > square:
            squares[k], near[k] = squares[k - 1], near[k - 1]
            k -= 1
        squares[k], near[k] = square, j
    return found


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
    waiting: SmallInts,
    waiting_squares: FloatArray,
    squares: FloatArray,
    near: SmallInts,
) -> int:
    """Find the nearest people, nearest first. Nobody sees who is behind and farther away than `BESIDE`.

    Columns of cells are looked at from the middle outwards: the people of a column lie one after another. Of each
    column only those cells are read that may hold somebody who is seen and nearer than the farthest so far.

    Args:
        people: people in order; (A, `PEOPLE`).
        i: the person who looks.
        starts: first person of each cell; (cells + 1,).
        place: corner of the cells [m] and cells in a metre; (3,).
        columns: number of cells along x.
        rows: number of cells along y.
        sight: greatest distance [m].
        cell: side of a cell [m].
        waiting: room for people; (`WAITING`,).
        waiting_squares: room for their squared distances; (`WAITING`,).
        squares: receives squared distances [m^2]; (K,).
        near: receives people; (K,).

    Returns:
        How many were found.
    """
    x, y, wx, wy, most = people[i, X], people[i, Y], people[i, WX], people[i, WY], len(squares)
    ci = min(max(int((x - place[0]) * place[2]), 0), columns - 1)
    slant = 1.0 / wy if abs(wy) > 1e-3 else 0.0
    found, count, reach, far = 0, 0, sight + _MARGIN, sight * sight
    around = math.ceil(sight / cell - 1e-9)
    for turn in range(2 * around + 1):
        ii = ci - ((turn + 1) >> 1) if turn & 1 else ci + (turn >> 1)
        if ii < 0 or ii >= columns:
            continue
        # how far the column is to the left and right
        left = place[0] + ii * cell - x - _MARGIN if ii > 0 else -_BEYOND
        right = place[0] + (ii + 1) * cell - x + _MARGIN if ii + 1 < columns else _BEYOND
        aside = max(left, -right)
        if aside >= reach:
            continue
        # of the column what lies in front, where dx wx + dy wy >= 0
        low, high, front = -reach, reach, max(left * wx, right * wx) + _MARGIN
        if front + reach * abs(wy) < 0.0:
            low, high = _MARGIN, -_MARGIN
        elif slant > 0.0:
            low = max(low, -front * slant)
        elif slant < 0.0:
            high = min(high, -front * slant)
        if aside < BESIDE:
            low, high = min(low, -min(reach, BESIDE)), max(high, min(reach, BESIDE))
        if low > high:
            continue
        first = min(max(int((y + low - place[1]) * place[2]), 0), rows - 1)
        last = min(max(int((y + high - place[1]) * place[2]), 0), rows - 1)
        for j in range(starts[ii * rows + first], starts[ii * rows + last + 1]):
            dx, dy = people[j, X] - x, people[j, Y] - y
            square = dx * dx + dy * dy
            # without a branch: whoever is not seen is overwritten by the next
            waiting[count], waiting_squares[count] = j, square
            count += (square < far) & (j != i) & ((square <= BESIDE * BESIDE) | (dx * wx + dy * wy >= 0.0))
            if count == WAITING:
                found, count = keep_nearest(waiting, waiting_squares, count, found, squares, near), 0
                far = squares[found - 1] if found == most else far
        if found + count > most:
            found, count = keep_nearest(waiting, waiting_squares, count, found, squares, near), 0
            far = squares[most - 1]
            reach = math.sqrt(far) + _MARGIN
    return keep_nearest(waiting, waiting_squares, count, found, squares, near)
