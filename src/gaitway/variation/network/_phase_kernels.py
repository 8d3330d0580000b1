"""Kernel of dynamic time warping with bounded slope."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel

_BOTH, _FIRST_FAST, _SECOND_FAST = 1, 2, 3
"""Moves of the path: one frame of each motion; two frames of the first and one of the second; one and two."""
_ALIKE = 1e-9
"""Costs of paths that differ by less differ by rounding; of such paths, the even one is taken."""
_FIRST, _SECOND = 0, 1
"""Columns of `path`: frames of the first motion, and of the second."""


@kernel
def warp(costs: FloatArray, path: IntArray) -> int:
    """Find the cheapest monotone path through `costs` (n, m); neither motion runs more than twice as fast as the other.

    Args:
        costs: Costs of matching frame i of the first motion with frame j of the second.
        path: Output (n + m, 2), filled from its end with pairs of matching frames.

    Returns:
        The number of rows of `path` that are filled (at its end), or 0 if the lengths differ too much.
    """
    n, m = costs.shape
    total = np.full((n, m), np.inf)
    move = np.zeros((n, m), np.int8)
    total[0, 0] = costs[0, 0]
    for i in range(1, n):
        for j in range(1, m):
            best, how = total[i - 1, j - 1] + 2.0 * costs[i, j], _BOTH
            if i > 1:
                other = total[i - 2, j - 1] + 2.0 * costs[i - 1, j] + costs[i, j]
                if other < best - _ALIKE:
                    best, how = other, _FIRST_FAST
            if j > 1:
                other = total[i - 1, j - 2] + 2.0 * costs[i, j - 1] + costs[i, j]
                if other < best - _ALIKE:
                    best, how = other, _SECOND_FAST
            total[i, j], move[i, j] = best, how
    if not total[n - 1, m - 1] < np.inf:
        return 0
    i, j, at = n - 1, m - 1, n + m
    while True:
        at -= 1
        path[at, _FIRST], path[at, _SECOND] = i, j
        if i == 0 and j == 0:
            return int(n + m - at)
        how = move[i, j]
        if how == _BOTH:
            i, j = i - 1, j - 1
        elif how == _FIRST_FAST:
            at -= 1
            path[at, _FIRST], path[at, _SECOND] = i - 1, j
            i, j = i - 2, j - 1
        else:
            at -= 1
            path[at, _FIRST], path[at, _SECOND] = i, j - 1
            i, j = i - 1, j - 2
