"""Left-out scores of the nodes of the prior network."""

from __future__ import annotations

import numba
import numpy as np

from gaitway._jit import kernel
from gaitway.arrays import BoolArray, FloatArray, IntArray, SingleArray
from gaitway.variation._kernels import FAR, gathered, log_normal, regression


@kernel(parallel=True, fastmath=True)
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
        values: (m, R) of all nodes in all instances.
        groups: (R,); an instance is predicted from those of other groups.
        edges: (m, m), from the column's node to the row's.
        k: neighbours at most.
        width: of the kernel, in distances of the farthest of them.
        floor: least variance of an error.
        out: (nodes, m).
    """
    m, rows = values.shape
    for a in numba.prange(nodes.shape[0]):
        i = nodes[a]
        base = np.zeros((rows, rows), np.float32)
        distances, near = np.empty(rows, np.float32), np.empty(rows, np.float32)
        index = np.empty(rows, np.int64)
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
                others = 0
                for r in range(rows):
                    e = values[c, r] - values[c, j]
                    other = groups[r] != groups[j]
                    others += other
                    distances[r] = max(base[j, r] + sign * e * e, np.float32(0.0)) if other else FAR
                found = gathered(distances, 0, rows, FAR * np.float32(0.5), near, index)
                mean, variance, _, _ = regression(
                    distances, 0, found, near, index, values[i], values[i], min(k, others), width, False
                )
                score += log_normal(values[i, j] - mean, variance, floor)
            out[a, c] = score
