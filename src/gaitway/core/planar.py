"""Planar poses (x, y, heading) in metres and radians, over any leading batch axes.

Heading 0 faces +X and grows counter-clockwise seen from above.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray


def wrap_angle(angle: npt.ArrayLike) -> FloatArray:
    """Return the same angle [rad] in [-pi, pi)."""
    out = (np.asarray(angle, dtype=np.float64) + np.pi) % (2.0 * np.pi) - np.pi
    return np.where(out >= np.pi, -np.pi, out)  # the remainder of a tiny negative number rounds up to 2 pi


def compose(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Return pose `b`, given in the frame of pose `a`, in the frame in which `a` is given; (..., 3)."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if a.ndim == b.ndim == 1:
        return np.array(composed(a.tolist(), b.tolist()))
    moved = transform_points(a, b[..., :2])
    out = np.empty((*moved.shape[:-1], 3))
    out[..., :2] = moved
    out[..., 2] = wrap_angle(a[..., 2] + b[..., 2])
    return out


def inverse(pose: npt.ArrayLike) -> FloatArray:
    """Return the inverse of a pose: composed with `pose`, in either order, it gives the origin."""
    pose = np.asarray(pose, dtype=np.float64)
    c, s = np.cos(pose[..., 2]), np.sin(pose[..., 2])
    if pose.ndim == 1:
        x, y, heading = pose.tolist()
        return np.array([-float(c) * x - float(s) * y, float(s) * x - float(c) * y, wrapped(-heading)])
    x, y = pose[..., 0], pose[..., 1]
    out = np.empty(pose.shape)
    out[..., 0] = -c * x - s * y
    out[..., 1] = s * x - c * y
    out[..., 2] = wrap_angle(-pose[..., 2])
    return out


def relative(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Return pose `b` in the frame of pose `a`; composing `a` with the result gives `b` back."""
    return compose(inverse(a), b)


def transform_points(pose: npt.ArrayLike, points: npt.ArrayLike) -> FloatArray:
    """Transform points (..., 2) from the frame of `pose` (..., 3) to the outer frame."""
    pose, points = np.asarray(pose, dtype=np.float64), np.asarray(points, dtype=np.float64)
    if pose.ndim == points.ndim == 1:
        return np.array(_moved(pose.tolist(), *points.tolist()))
    c, s = np.cos(pose[..., 2]), np.sin(pose[..., 2])
    x, y = points[..., 0], points[..., 1]
    first = pose[..., 0] + c * x - s * y
    out = np.empty((*first.shape, 2))
    out[..., 0] = first
    out[..., 1] = pose[..., 1] + s * x + c * y
    return out


# Planners compose single poses by the hundred thousand. Plain floats are ten times as fast there as arrays of one
# number, and by the same functions of NumPy they give the same bits.


def composed(a: Sequence[float], b: Sequence[float]) -> tuple[float, float, float]:
    """Return what `compose` does, of two poses as plain numbers."""
    return *_moved(a, b[0], b[1]), wrapped(a[2] + b[2])


def wrapped(angle: float) -> float:
    """Return what `wrap_angle` does, of a plain number."""
    out = (angle + math.pi) % (2.0 * math.pi) - math.pi
    return -math.pi if out >= math.pi else out


def _moved(pose: Sequence[float], x: float, y: float) -> tuple[float, float]:
    c, s = float(np.cos(pose[2])), float(np.sin(pose[2]))
    return pose[0] + c * x - s * y, pose[1] + s * x + c * y
