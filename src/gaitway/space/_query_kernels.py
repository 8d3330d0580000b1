"""A query as kernels see it: the columns of its numbers, and small functions that every search needs."""

from __future__ import annotations

import math

from gaitway.core.jit import kernel

# the numbers of a query
START_X, START_Y, START_HEADING, START_TIME = 0, 1, 2, 3
"""Start pose [m, rad] and time [s]."""
GOAL_X, GOAL_Y, GOAL_TOLERANCE, GOAL_HEADING, GOAL_HEADING_TOLERANCE = 4, 5, 6, 7, 8
"""Goal and its tolerance [m]; heading there and its tolerance [rad]."""
WEIGHT, BOUND = 9, 10
"""Factor on the estimate; cost that a plan must stay below."""
CLOSE, CROWDED = 11, 12
"""How much nearer than usual the start may be to obstacles, and to other characters [m]."""
BINS, TURNS = 13, 14
"""Bins of the closed set per metre, and per whole turn."""
FOLLOWED_BY = 15
"""Number of the behaviour that must be able to follow the plan; -1 if a character stands at its end."""
NUMBERS = 16
"""How many numbers a query has."""
START, GOAL = START_X, GOAL_X
"""First number of the start, and of the goal."""
ORDINARY, NEVER = -1, -2
"""Instead of the kind of obstacle that an action passes: it passes none, or it is of no use in this world."""
GOING, FOUND, NOTHING, FULL, START_BLOCKED, GOAL_BLOCKED, APART = range(7)
"""How a search ends, or a part of it: it can go on, it reached the goal, no node is left, its memory is full, the start
is blocked, the goal is blocked, or both lie in different parts of free space."""
_TURN = 2.0 * math.pi


@kernel(borrows=True, inner=True)
def mixed(seed: int, node: int, behavior: int) -> int:
    """Return a pseudo-random number from 0 up to 2^30 that depends on the arguments alone."""
    value = (seed & 0x3FFFFFFF) * 0x45D9F3B ^ (node & 0x3FFFFFFF) * 0x9E3779B1 ^ (behavior + 1) * 0x27D4EB2F
    value = ((value >> 15) ^ value) & 0x3FFFFFFF
    value = ((value * 0x45D9F3B) >> 11) & 0x3FFFFFFF
    value = ((value >> 13) ^ value) * 0x2C1B3C6D
    return (value >> 12) & 0x3FFFFFFF


@kernel(borrows=True, inner=True)
def wrapped(heading: float) -> float:
    """Return a heading within -pi up to pi, given one that is less than a turn beyond."""
    return heading - _TURN if heading >= math.pi else heading + _TURN if heading < -math.pi else heading
