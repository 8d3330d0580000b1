"""Sub-goals on the route to a far goal, from a field of distances to it, or straight on."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray
from gaitway.core.jit import kernel
from gaitway.space._check_kernels import near_bits
from gaitway.space.fields import FieldArrays

Lengths = npt.NDArray[np.float32]
_ROOM = 1.5
"""A sub-goal whose route to the goal is no longer than this is the goal itself [m]."""


class RouteArrays(NamedTuple):
    """Fields of distances to goals."""

    lengths: Lengths
    """Length of the route to each goal from each cell [m], infinity where there is none; (R, rows, columns)."""
    place: FloatArray
    """Lower left corner (x, y) of the cells [m], and number of cells per metre; (3,)."""


@kernel(borrows=True, inner=True)
def length_at(routes: RouteArrays, route: int, x: float, y: float) -> float:
    """Return the length of the route from a point to its goal [m]; infinity where there is none."""
    lengths, place = routes.lengths, routes.place
    column, row = math.floor((x - place[0]) * place[2]), math.floor((y - place[1]) * place[2])
    inside = 0 <= row < lengths.shape[1] and 0 <= column < lengths.shape[2]
    return float(lengths[route, row, column]) if inside else np.inf


@kernel(borrows=True, inner=True)
def subgoal(
    routes: RouteArrays, route: int, x: float, y: float, goal_x: float, goal_y: float, ahead: float
) -> tuple[float, float, bool]:
    """Return the point at the distance `ahead` [m] on the route from (x, y) to a goal, and whether it is the goal.

    Without a route (-1), or from where it does not lead on, the route is the straight line.
    """
    lengths, place = routes.lengths, routes.place
    dx, dy = goal_x - x, goal_y - y
    away = math.hypot(dx, dy)
    if route < 0:
        share = ahead / max(away, 1e-9)
        return (goal_x, goal_y, True) if away <= ahead + _ROOM else (x + share * dx, y + share * dy, False)
    rows, columns = lengths.shape[1], lengths.shape[2]
    column, row = math.floor((x - place[0]) * place[2]), math.floor((y - place[1]) * place[2])
    column, row = min(max(column, 0), columns - 1), min(max(row, 0), rows - 1)
    here = lengths[route, row, column]
    if here <= ahead + _ROOM and away <= ahead + _ROOM:
        return goal_x, goal_y, True
    px, py, whole = x, y, here
    while True:
        best, best_row, best_column = here, row, column
        for i in range(max(row - 1, 0), min(row + 2, rows)):
            for j in range(max(column - 1, 0), min(column + 2, columns)):
                if lengths[route, i, j] < best:
                    best, best_row, best_column = lengths[route, i, j], i, j
        if best >= here:
            break
        row, column, here = best_row, best_column, best
        px, py = place[0] + (column + 0.5) / place[2], place[1] + (row + 0.5) / place[2]
        if whole - here >= ahead:
            return px, py, False
    if here <= _ROOM:
        return goal_x, goal_y, True
    if px == x and py == y:  # nothing leads on from here
        share = min(ahead / max(away, 1e-9), 1.0)
        return x + share * dx, y + share * dy, False
    return px, py, False


@kernel(borrows=True)
def subgoal_of(
    routes_handle: ArrayHandle[RouteArrays], route: int, x: float, y: float, goal_x: float, goal_y: float, ahead: float
) -> tuple[float, float, bool]:
    """Return the point at the distance `ahead` on a route [m]; `subgoal` for callers in Python."""
    return subgoal(routes_handle.value, route, x, y, goal_x, goal_y, ahead)


@kernel(borrows=True)
def passes_special(
    fields_handle: ArrayHandle[FieldArrays], routes_handle: ArrayHandle[RouteArrays], route: int, x: float, y: float
) -> int:
    """Return whether the route from (x, y) passes a special obstacle: 1 or 0, or -1 if no route is known.

    It does where a motion may begin that passes the obstacle.
    """
    fields, lengths, place = fields_handle.value, routes_handle.value.lengths, routes_handle.value.place
    rows, columns = lengths.shape[1], lengths.shape[2]
    if route < 0:
        return -1
    column, row = math.floor((x - place[0]) * place[2]), math.floor((y - place[1]) * place[2])
    if not (0 <= row < rows and 0 <= column < columns) or lengths[route, row, column] == np.inf:
        return -1
    while True:
        if near_bits(fields, place[0] + (column + 0.5) / place[2], place[1] + (row + 0.5) / place[2]) != 0:
            return 1
        here, best_row, best_column = lengths[route, row, column], row, column
        best = here
        for i in range(max(row - 1, 0), min(row + 2, rows)):
            for j in range(max(column - 1, 0), min(column + 2, columns)):
                if lengths[route, i, j] < best:
                    best, best_row, best_column = lengths[route, i, j], i, j
        if best >= here:
            return 0
        row, column = best_row, best_column
