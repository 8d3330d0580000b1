"""Planar poses (x, y, heading) in metres and radians, over any leading batch axes.

Heading 0 faces +X and grows counter-clockwise seen from above.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray


def wrap_angle(angle: npt.ArrayLike) -> FloatArray:
    """Return the same angle [rad] in [-pi, pi)."""
    out: FloatArray = (np.asarray(angle, dtype=np.float64) + np.pi) % (2.0 * np.pi) - np.pi
    return np.where(out >= np.pi, -np.pi, out)  # the remainder of a tiny negative number rounds up to 2 pi


def compose(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Return pose `b`, given in the frame of pose `a`, in the frame in which `a` is given; (..., 3)."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    moved = transform_points(a, b[..., :2])
    heading = wrap_angle(a[..., 2] + b[..., 2])
    return np.concatenate([moved, np.broadcast_to(heading, moved.shape[:-1])[..., None]], axis=-1)


def inverse(pose: npt.ArrayLike) -> FloatArray:
    """Return the inverse of a pose: composed with `pose`, in either order, it gives the origin."""
    pose = np.asarray(pose, dtype=np.float64)
    c, s = np.cos(pose[..., 2]), np.sin(pose[..., 2])
    x, y = pose[..., 0], pose[..., 1]
    return np.stack([-c * x - s * y, s * x - c * y, wrap_angle(-pose[..., 2])], axis=-1)


def relative(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Return pose `b` in the frame of pose `a`; composing `a` with the result gives `b` back."""
    return compose(inverse(a), b)


def transform_points(pose: npt.ArrayLike, points: npt.ArrayLike) -> FloatArray:
    """Transform points (..., 2) from the frame of `pose` (..., 3) to the outer frame."""
    pose, points = np.asarray(pose, dtype=np.float64), np.asarray(points, dtype=np.float64)
    c, s = np.cos(pose[..., 2]), np.sin(pose[..., 2])
    x, y = points[..., 0], points[..., 1]
    return np.stack([pose[..., 0] + c * x - s * y, pose[..., 1] + s * x + c * y], axis=-1)
