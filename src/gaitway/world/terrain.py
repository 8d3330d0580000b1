"""Terrain: ground that is not flat, as heights on a regular grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gaitway.arrays import FloatArray, owned
from gaitway.errors import WorldError


@dataclass(frozen=True, eq=False)
class Terrain:
    """Heights at the corners of square cells; bilinear in between and level beyond the edge."""

    heights: FloatArray
    """[m]; row i lies at y = origin[1] + i * cell, column j at x = origin[0] + j * cell; (H, W)."""
    cell: float
    """Distance between neighbours [m]."""
    origin: tuple[float, float] = (0.0, 0.0)
    """x and y of `heights[0, 0]` [m]."""

    def __post_init__(self) -> None:
        heights = owned(self.heights, "terrain heights", (None, None), error=WorldError)
        if min(heights.shape) < 2:
            raise WorldError(f"terrain has {heights.shape} heights; at least 2 by 2 are needed")
        if not (np.isfinite(self.cell) and self.cell > 0.0):
            raise WorldError(f"terrain cell {self.cell}; write a length above 0 in metres")
        object.__setattr__(self, "heights", heights)

    def height(self, points: npt.ArrayLike) -> FloatArray:
        """Height of the ground [m] (...) at points (..., 2)."""
        points = np.asarray(points, dtype=np.float64)
        rows, columns = self.heights.shape
        x = np.clip((points[..., 0] - self.origin[0]) / self.cell, 0.0, columns - 1.0)
        y = np.clip((points[..., 1] - self.origin[1]) / self.cell, 0.0, rows - 1.0)
        j, i = np.minimum(x.astype(np.int64), columns - 2), np.minimum(y.astype(np.int64), rows - 2)
        u, v = x - j, y - i
        h = self.heights
        near = h[i, j] + u * (h[i, j + 1] - h[i, j])
        far = h[i + 1, j] + u * (h[i + 1, j + 1] - h[i + 1, j])
        return np.asarray(near + v * (far - near))
