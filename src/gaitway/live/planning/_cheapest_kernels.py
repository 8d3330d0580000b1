"""Compiled loop that grows a tree of the cheapest paths."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.live.planning._aim_kernels import sink


@kernel
def cheapest(
    prices: FloatArray,
    starts: IntArray,
    followers: IntArray,
    rests: BoolArray,
    root_rests: bool,
    steps: int,
    budget: int,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
    """Return parents and moves of nodes, the cheapest paths first, each with the moves that come to rest after it.

    A move that comes to rest after the character was moving is an end: nothing follows.

    Args:
        prices: prices of the moves; (M,).
        starts: first follower of each move, of the root as entry M, and their number at the end; (M + 2,).
        followers: the followers.
        rests: whether each move ends at rest; (M,).
        root_rests: whether the root is at rest.
        steps: largest number of moves one after another that begin and end at rest.
        budget: largest number of nodes.
    """
    parents, actions = np.zeros(budget, np.int32), np.zeros(budget, np.uint8)
    values, waiting = np.zeros(budget), np.zeros(budget, np.int32)
    prices_of, still_steps = np.zeros(budget), np.zeros(budget, np.int8)
    parents[0], nodes, count = -1, 1, 1
    while count > 0:
        node, value = waiting[0], values[0]
        count -= 1
        values[0], waiting[0] = values[count], waiting[count]
        sink(values, waiting, count, 0)
        here = len(prices) if node == 0 else np.int64(actions[node])
        still = root_rests if node == 0 else rests[here]
        for k in range(starts[here], starts[here + 1]):
            move = followers[k]
            if rests[move] and not still:
                continue  # it has that already
            if rests[move] and still_steps[node] >= steps:
                continue
            if nodes == budget:
                return parents[:nodes], actions[:nodes]
            child = nodes
            parents[child], actions[child], prices_of[child] = node, move, value + prices[move]
            still_steps[child] = still_steps[node] + 1
            nodes += 1
            # a hole is pushed up from the end of the heap to where the child belongs
            at = count
            count += 1
            while at > 0 and values[(at - 1) >> 1] > prices_of[child]:
                values[at], waiting[at] = values[(at - 1) >> 1], waiting[(at - 1) >> 1]
                at = (at - 1) >> 1
            values[at], waiting[at] = prices_of[child], child
            if rests[move]:
                continue
            for j in range(starts[move], starts[move + 1]):
                if rests[followers[j]] and nodes < budget:
                    parents[nodes], actions[nodes] = child, followers[j]
                    nodes += 1
        if node == 0 and not root_rests:
            for j in range(starts[here], starts[here + 1]):
                if rests[followers[j]] and nodes < budget:
                    parents[nodes], actions[nodes] = 0, followers[j]
                    nodes += 1
    return parents[:nodes], actions[:nodes]
