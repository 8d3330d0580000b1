"""Dynamic time warping with bounded slope."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel


@kernel
def warp(costs: FloatArray, path: IntArray) -> int:
    """The cheapest monotone path through `costs` (n, m), neither side going more than twice as fast as the other.

    Args:
        costs: of matching frame i of one motion with frame j of the other.
        path: (n + m, 2), filled from its end with the frames that belong together.

    Returns:
        How many rows of `path` are filled (at its end), or 0 if the lengths differ too much.
    """
    n, m = costs.shape
    total = np.full((n, m), np.inf)
    move = np.zeros((n, m), np.int8)
    total[0, 0] = costs[0, 0]
    for i in range(1, n):
        for j in range(1, m):
            best, how = total[i - 1, j - 1] + 2.0 * costs[i, j], 1
            if i > 1:
                other = total[i - 2, j - 1] + 2.0 * costs[i - 1, j] + costs[i, j]
                if other < best:
                    best, how = other, 2
            if j > 1:
                other = total[i - 1, j - 2] + 2.0 * costs[i, j - 1] + costs[i, j]
                if other < best:
                    best, how = other, 3
            total[i, j], move[i, j] = best, how
    if not total[n - 1, m - 1] < np.inf:
        return 0
    i, j, at = n - 1, m - 1, n + m
    while True:
        at -= 1
        path[at, 0], path[at, 1] = i, j
        if i == 0 and j == 0:
            return int(n + m - at)
        how = move[i, j]
        if how == 1:
            i, j = i - 1, j - 1
        elif how == 2:
            at -= 1
            path[at, 0], path[at, 1] = i - 1, j
            i, j = i - 2, j - 1
        else:
            at -= 1
            path[at, 0], path[at, 1] = i, j - 1
            i, j = i - 1, j - 2
