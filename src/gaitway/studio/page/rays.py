"""Where pointers are on the ground."""

from __future__ import annotations

import math

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.scene.scene import Scene


def ground_point(scene: Scene, origin: tuple[float, ...], direction: tuple[float, ...]) -> tuple[float, float] | None:
    """Where a ray meets the ground within bounds: x, y [m], or None."""
    start, along = np.array(origin), np.array(direction)
    if not (np.isfinite(start).all() and np.isfinite(along).all()) or along[2] > -1e-6:
        return None
    height = 0.0
    for _ in range(8):  # the ground is nearly level: a few steps are enough
        x, y = (start + (height - start[2]) / along[2] * along)[:2].tolist()
        height = float(scene.world.ground(np.array([x, y])))
    x0, y0, x1, y1 = scene.world.bounds
    return (x, y) if x0 <= x <= x1 and y0 <= y <= y1 else None


def on_level(eye: FloatArray, to: FloatArray, height: float) -> FloatArray:
    """Where the line of sight through a point is at a height; (2,)."""
    along = to - eye
    if abs(along[2]) < 1e-6:
        return to[:2]
    share = (height - eye[2]) / along[2]
    if not (math.isfinite(share) and 0.0 < share < 50.0):
        return to[:2]
    out: FloatArray = (eye + share * along)[:2]
    return out
