"""Matrices of joints, on plain arrays."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from gaitway.core.arrays import FloatArray
from gaitway.core.jit import kernel


@kernel
def fill_matrices(positions: FloatArray, rotations: FloatArray, out: npt.NDArray[Any], by_columns: bool) -> None:
    """Write the transform of each joint as a 4x4 matrix.

    Args:
        positions: world positions [m]; (N, J, 3).
        rotations: world rotations, unit quaternions wxyz; (N, J, 4).
        out: receives the matrices; (N, J, 4, 4).
        by_columns: whether the columns of a matrix follow one another in memory.
    """
    for n in range(positions.shape[0]):
        for j in range(positions.shape[1]):
            w, x, y, z = rotations[n, j, 0], rotations[n, j, 1], rotations[n, j, 2], rotations[n, j, 3]
            m = out[n, j]
            a, b = (1, 0) if by_columns else (0, 1)
            rows = (
                (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)),
                (2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)),
                (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)),
            )
            for r in range(3):
                for c in range(3):
                    m[r * b + c * a, r * a + c * b] = rows[r][c]
                m[r * b + 3 * a, r * a + 3 * b] = positions[n, j, r]
                m[3 * b + r * a, 3 * a + r * b] = 0.0
            m[3, 3] = 1.0
