"""The curve of least jerk, by which everything here begins and ends."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray


def smooth(x: FloatArray, low: float, high: float) -> FloatArray:
    """Return 0 below `low`, 1 above `high`, and a way of least jerk in between; (...)."""
    t = np.clip((np.asarray(x, dtype=np.float64) - low) / (high - low), 0.0, 1.0)
    return np.asarray(t * t * t * (10.0 + t * (6.0 * t - 15.0)))
