"""Left-out scores of the nodes of the prior network."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray
from gaitway.core.jit import kernel
from gaitway.variation.network._neighbour_kernels import FAR, log_normal, regression, within


@kernel(fastmath=True)
def prior_scores(
    nodes: IntArray,
    values: SingleArray,
    groups: IntArray,
    edges: BoolArray,
    k: int,
    width: float,
    floor: float,
    out: FloatArray,
) -> None:
    """Score of each node after each single change of an edge into it; column i of node i is the score as it is.

    Args:
        nodes: which.
        values: (m, R) of all nodes in all instances, in whole blocks.
        groups: (R,), less than 0 behind the last instance; an instance is predicted from those of other groups.
        edges: (m, m), from the column's node to the row's.
        k: neighbours at most.
        width: of the kernel, in distances of the farthest of them.
        floor: least variance of an error.
        out: (nodes, m).
    """
    m, rows = values.shape
    beyond = FAR * np.float32(0.5)
    for a in range(nodes.shape[0]):
        i = nodes[a]
        base = np.zeros((rows, rows), np.float32)
        distances, weights = np.empty(rows, np.float32), np.empty(rows, np.float32)
        bits = distances.view(np.int32)
        for q in range(m):
            if edges[i, q]:
                for j in range(rows):
                    for r in range(rows):
                        e = values[q, r] - values[q, j]
                        base[j, r] += e * e
        for c in range(m):
            sign = np.float32(0.0) if c == i else (np.float32(-1.0) if edges[i, c] else np.float32(1.0))
            score = 0.0
            for j in range(rows):
                if groups[j] < 0:
                    continue
                here, others, sums = values[c], groups[j], base[j]
                for r in range(rows):
                    e = here[r] - here[j]
                    apart = sums[r] + sign * e * e
                    apart = apart if apart > np.float32(0.0) else np.float32(0.0)
                    distances[r] = FAR if groups[r] == others or groups[r] < 0 else apart
                found = within(bits, rows, beyond)
                mean, variance, _, _ = regression(
                    distances, bits, rows, found, beyond, values[i], values[i], k, width, False, weights
                )
                score += log_normal(values[i, j] - mean, variance, floor)
            out[a, c] = score
