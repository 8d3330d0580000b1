"""Estimates of the cost to the goal, for the search kernel."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gaitway._jit import kernel
from gaitway.arrays import FloatArray


class HeuristicArrays(NamedTuple):
    """What the estimates of one goal need; all arrays read-only, always the same types."""

    goal: FloatArray
    """x, y, tolerance [m], and least cost of a metre as the crow flies [1/m]; (4,)."""


def straight_line(x: float, y: float, tolerance: float, per_metre: float) -> HeuristicArrays:
    """Only the distance, for a search without anything better."""
    goal = np.array([x, y, tolerance, per_metre])
    goal.setflags(write=False)
    return HeuristicArrays(goal)


@kernel
def estimate(x: float, y: float, heading: float, state: int, arrays: HeuristicArrays) -> float:
    """Least cost from a pose to the goal; infinity where the goal cannot be reached from there.

    Args:
        x: [m].
        y: [m].
        heading: [rad], in [-pi, pi).
        state: of the behaviour graph, as numbered by `behavior.states.States`.
        arrays: of the goal.
    """
    goal = arrays.goal
    away = math.hypot(goal[0] - x, goal[1] - y) - goal[2]
    return max(away, 0.0) * goal[3]
