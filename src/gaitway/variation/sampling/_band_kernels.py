"""Kernel that solves banded linear systems on the calling thread alone.

It is kept beside `scipy.linalg.solveh_banded`, which calls LAPACK. The threads of LAPACK wait for one another in
matrices of this size: on a busy machine a solve takes up to a hundred times as long, and its last bits depend on the
number of threads.
"""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.jit import kernel


@kernel(fastmath=True)
def solve_band(band: FloatArray, right: FloatArray) -> None:
    """Solve a symmetric positive definite system by Cholesky's method; `right` becomes the solution.

    Args:
        band: Matrix, overwritten by its factor; (N, w + 1). Row i holds columns i - w to i of the lower half.
        right: Right-hand side, overwritten by the solution; (N,).
    """
    count, width = band.shape[0], band.shape[1] - 1
    for i in range(count):
        first = max(0, i - width)
        for j in range(first, i + 1):
            # columns that rows i and j both have; the same column lies i - j entries further left in row i
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
