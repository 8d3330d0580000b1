"""Estimates of the cost to the goal, for the search kernel."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray
from gaitway.core.jit import kernel
from gaitway.space._route_kernels import direction_of

Values = npt.NDArray[np.float32]
Ways = npt.NDArray[np.uint8]

_TURN = 2.0 * math.pi
_ASTRAY, _BESIDE = 2.0, 0.2
"""Cost of a second at a metre from where one would like to be beside companions [1/s], and distance that does not count
[m]."""
_WINDOW = 0.6
"""Time over which the way of companions is looked at [s]."""
_CATCHES_UP, _FALLS_BACK, _IN_TOUCH = 0.35, 1.0, 0.3
"""How fast the distance from companions becomes smaller, of somebody behind them and of somebody beside or ahead of
them [m/s], and distance that does not count [m]."""


class HeuristicArrays(NamedTuple):
    """Arrays of the estimates for one goal; all read-only and contiguous, always of the same types.

    S states, N x N cells around the character, K rates, H directions. An array without elements switches its estimate
    off.
    """

    goal: FloatArray
    """x, y, tolerance [m], and least cost of a metre in a straight line [1/m]; (4,)."""
    near_frame: FloatArray
    """Side of a cell of `near`, and how far from the character it counts [m]; (2,)."""
    near: Values
    """Cost beyond that of the straight line without obstacles, by state and by the goal's place in the character's
    frame, row y and column x, the character in the middle; (S, N, N)."""
    far_rates: FloatArray
    """Cost beyond that of the straight line, as a part of it, of a character that never goes straight; (K,)."""
    far: Values
    """The same of a character that once goes straighter than each rate, by state and direction of the goal from -pi on;
    (S, K, H)."""
    route_frame: FloatArray
    """x and y of the grid's corner, side of a cell [m]; (3,)."""
    route: Values
    """Cost around the obstacles from anywhere in each cell, 0 if no path is known; (rows, columns)."""
    ways: Ways
    """Which step (`_route_kernels.direction_of`) leads into each cell on the way from the goal; (rows, columns)."""
    turns: Values
    """Cost of turning towards a path, by state and its direction from -pi on; (S, H). It is no lower bound, so it
    serves only searches that need not find the best plan."""
    company_frame: FloatArray
    """First time of `company` [s], its rows in a second, and how many times as long as usual steps take at least;
    (3,)."""
    company: FloatArray
    """Where the character would like to be beside its companions, over time [m]; (T, 2)."""


def straight_line(x: float, y: float, tolerance: float, per_metre: float) -> HeuristicArrays:
    """Return arrays whose only estimate is the distance."""
    arrays = HeuristicArrays(
        goal=np.array([x, y, tolerance, per_metre]),
        near_frame=np.array([1.0, 0.0]),
        near=np.zeros((0, 0, 0), dtype=np.float32),
        far_rates=np.zeros(0),
        far=np.zeros((0, 0, 0), dtype=np.float32),
        route_frame=np.array([0.0, 0.0, 1.0]),
        route=np.zeros((0, 0), dtype=np.float32),
        ways=np.zeros((0, 0), dtype=np.uint8),
        turns=np.zeros((0, 0), dtype=np.float32),
        company_frame=np.array([0.0, 1.0, 1.0]),
        company=np.zeros((0, 2)),
    )
    for array in arrays:
        array.setflags(write=False)
    return arrays


@kernel(borrows=True)
def estimate(x: float, y: float, heading: float, state: int, arrays: HeuristicArrays) -> float:
    """Return an estimate of the least cost from a pose to the goal; `estimate_at` for callers in Python."""
    return estimate_at(x, y, heading, state, arrays)


@kernel(borrows=True, inner=True)
def estimate_at(x: float, y: float, heading: float, state: int, arrays: HeuristicArrays) -> float:
    """Return an estimate of the least cost from a pose to the goal.

    Args:
        x: x of the pose [m].
        y: y of the pose [m].
        heading: heading of the pose [rad].
        state: state of the behaviour graph, as numbered by `space.states.States`.
        arrays: estimates for the goal.
    """
    goal = arrays.goal
    along, aside = goal[0] - x, goal[1] - y
    away = math.sqrt(along * along + aside * aside)
    straight = max(away - goal[2], 0.0) * float(goal[3])
    cost = straight
    if arrays.near.size > 0:
        if away < arrays.near_frame[1]:
            cost += _near(along, aside, heading, state, arrays)
        else:
            cost += _far(straight, math.atan2(aside, along) - heading, state, arrays)
    if arrays.route.size > 0:
        frame = arrays.route_frame
        row, column = math.floor((y - frame[1]) / frame[2]), math.floor((x - frame[0]) / frame[2])
        if 0 <= row < arrays.route.shape[0] and 0 <= column < arrays.route.shape[1]:
            around = float(arrays.route[row, column])
            if around > straight and arrays.turns.size > 0:
                way = direction_of(arrays.ways[row, column]) + math.pi - heading
                around += float(arrays.turns[state, _bin(way, arrays.turns.shape[1])])
            cost = max(cost, around)
    return float(cost)


@kernel(borrows=True, inner=True)
def _near(along: float, aside: float, heading: float, state: int, arrays: HeuristicArrays) -> float:
    """Return the cost beyond the straight line to a near goal, given relative to the character in world axes."""
    cosine, sine = math.cos(heading), math.sin(heading)
    cell, middle = arrays.near_frame[0], 0.5 * arrays.near.shape[1]
    column = math.floor((cosine * along + sine * aside) / cell + middle)
    row = math.floor((cosine * aside - sine * along) / cell + middle)
    return float(arrays.near[state, row, column])


@kernel(borrows=True, inner=True)
def _far(straight: float, direction: float, state: int, arrays: HeuristicArrays) -> float:
    """Return the cost beyond the straight line to a far goal in a direction relative to the character [rad]."""
    bin_, most = _bin(direction, arrays.far.shape[2]), 0.0
    for k in range(len(arrays.far_rates)):
        most = max(most, min(float(arrays.far[state, k, bin_]), arrays.far_rates[k] * straight))
    return most


@kernel(borrows=True, inner=True)
def _bin(direction: float, count: int) -> int:
    """Return which of some equal parts of a turn, from -pi on, a direction lies in."""
    turns = direction / _TURN + 0.5
    return min(int((turns - math.floor(turns)) * count), count - 1)


@kernel(borrows=True, inner=True)
def _row_at(t: float, arrays: HeuristicArrays) -> int:
    """Return the row of `company` at a time [s]."""
    return min(max(int((t - arrays.company_frame[0]) * arrays.company_frame[1]), 0), len(arrays.company) - 1)


@kernel(borrows=True, inner=True)
def astray(x: float, y: float, t: float, arrays: HeuristicArrays) -> float:
    """Return what a second costs at a place and time, for being away from companions; 0 without any."""
    if arrays.company.size == 0:
        return 0.0
    row = _row_at(t, arrays)
    away = math.hypot(x - arrays.company[row, 0], y - arrays.company[row, 1])
    return _ASTRAY * max(away - _BESIDE, 0.0)


@kernel(borrows=True, inner=True)
def _way_left(x: float, y: float, arrays: HeuristicArrays) -> float:
    """Return the way from a place to the goal, around the obstacles where that is known [m]."""
    goal, frame = arrays.goal, arrays.route_frame
    cost = max(math.hypot(goal[0] - x, goal[1] - y) - goal[2], 0.0) * float(goal[3])
    row, column = math.floor((y - frame[1]) / frame[2]), math.floor((x - frame[0]) / frame[2])
    if 0 <= row < arrays.route.shape[0] and 0 <= column < arrays.route.shape[1]:
        cost = max(cost, float(arrays.route[row, column]))
    return float(cost / goal[3])


@kernel(borrows=True, inner=True)
def apart(x: float, y: float, t: float, arrays: HeuristicArrays) -> float:
    """Return an estimate of what it costs to catch up with companions, or to be caught up with; 0 without any."""
    if arrays.company.size == 0:
        return 0.0
    row = _row_at(t, arrays)
    px, py = arrays.company[row, 0], arrays.company[row, 1]
    gap = max(math.hypot(x - px, y - py) - _IN_TOUCH, 0.0)
    behind = _way_left(x, y, arrays) - _way_left(px, py, arrays)
    return float(0.5 * _ASTRAY * gap * gap / (_CATCHES_UP if behind > 0.5 * gap else _FALLS_BACK))


@kernel(borrows=True, inner=True)
def in_company(x: float, y: float, t: float, duration: float, most: float, arrays: HeuristicArrays) -> float:
    """Return how many times as long as usual an action takes that waits for companions.

    Args:
        x: x of its end [m].
        y: y of its end [m].
        t: time at which it would end [s].
        duration: its duration [s].
        most: how many times as long it may take.
        arrays: estimates, with the companions.
    """
    least = min(arrays.company_frame[2], most)
    if arrays.company.size == 0:
        return float(least)
    row, before, after = _row_at(t, arrays), _row_at(t - _WINDOW, arrays), _row_at(t + _WINDOW, arrays)
    u, v = arrays.company[after, 0] - arrays.company[before, 0], arrays.company[after, 1] - arrays.company[before, 1]
    way = math.hypot(u, v)
    if way < 0.2:
        return float(least)  # they stand
    ahead = ((x - arrays.company[row, 0]) * u + (y - arrays.company[row, 1]) * v) / way
    delay = ahead * 2.0 * _WINDOW / way
    return float(min(max(1.0 + delay / duration, least), most))
