"""Banded linear systems, on the calling thread alone.

LAPACK solves them too, but its threads wait for one another in matrices of this size: on a busy machine a solve takes
up to a hundred times as long, and its last bits depend on how many threads there are.
"""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.jit import kernel


@kernel(fastmath=True)
def solve_band(band: FloatArray, right: FloatArray) -> None:
    """Solve a symmetric positive definite system by Cholesky's method; `right` becomes the solution.

    Args:
        band: (N, w + 1); row i holds columns i - w to i of the matrix's lower half. It is overwritten by the factor.
        right: (N,).
    """
    count, width = band.shape[0], band.shape[1] - 1
    for i in range(count):
        first = max(0, i - width)
        for j in range(first, i + 1):
            # columns of rows i and j that both have; the same column lies i - j places further left in row i
            begin = max(first, j - width)
            there, here = begin - j + width, begin - i + width
            total = 0.0
            for k in range(j - begin):
                total += band[i, here + k] * band[j, there + k]
            rest = band[i, j - i + width] - total
            band[i, j - i + width] = rest / band[j, width] if j < i else np.sqrt(rest)
    for i in range(count):
        total = 0.0
        for j in range(max(0, i - width), i):
            total += band[i, j - i + width] * right[j]
        right[i] = (right[i] - total) / band[i, width]
    for i in range(count - 1, -1, -1):
        right[i] /= band[i, width]
        for j in range(max(0, i - width), i):
            right[j] -= band[i, j - i + width] * right[i]
