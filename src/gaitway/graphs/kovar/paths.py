"""Paths on the ground: polylines, splines and sketches, with points at equal arc lengths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import FloatArray, owned
from gaitway.core.errors import GraphError

STEP = 0.02
"""Distance between stored points of a path [m]."""


@dataclass(frozen=True, eq=False)
class GroundPath:
    """Curve on the ground, as points at equal distances."""

    points: FloatArray
    """Points of the curve [m]; (P, 2)."""
    step: float
    """Arc length from each point to the next [m]."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", owned(self.points, "points of a path", (None, 2), error=GraphError))

    @property
    def length(self) -> float:
        """Arc length of the path [m]."""
        return self.step * (len(self.points) - 1)

    def at(self, along: npt.ArrayLike) -> FloatArray:
        """Return the points at arc lengths [m]; (..., 2). Arc lengths beyond the ends give the end points."""
        where = np.clip(np.asarray(along, dtype=np.float64) / self.step, 0.0, len(self.points) - 1.0)
        low = np.minimum(where.astype(np.int64), len(self.points) - 2)
        share = (where - low)[..., None]
        return np.asarray((1.0 - share) * self.points[low] + share * self.points[low + 1])

    def nearest(self, point: npt.ArrayLike) -> float:
        """Return the arc length of the point of the path that is nearest to a place (2,) [m]."""
        away = np.linalg.norm(self.points - np.asarray(point, dtype=np.float64), axis=-1)
        return float(np.argmin(away)) * self.step


def polyline(points: npt.ArrayLike, step: float = STEP) -> GroundPath:
    """Return a path of straight lines.

    Args:
        points: Corners [m]; (C, 2), at least two different ones.
        step: Distance between stored points [m].

    Raises:
        GraphError: If there are fewer than two different points.
    """
    corners = owned(points, "points of a path", (None, 2), error=GraphError)
    corners = corners[np.append(True, np.linalg.norm(np.diff(corners, axis=0), axis=-1) > 1e-9)]
    if len(corners) < 2:
        raise GraphError("a path needs at least two different points; write them as [[x, y], ...] in metres")
    along = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(corners, axis=0), axis=-1)))
    count = max(round(float(along[-1]) / step), 1) + 1
    where = np.linspace(0.0, along[-1], count)
    even = np.column_stack([np.interp(where, along, corners[:, axis]) for axis in range(2)])
    return GroundPath(even, float(along[-1]) / (count - 1))


def spline(points: npt.ArrayLike, *, closed: bool = False, step: float = STEP) -> GroundPath:
    """Return a smooth curve through points.

    Args:
        points: Places that the curve passes, in order [m]; (C, 2).
        closed: Whether the curve returns to the first point.
        step: Distance between stored points [m].
    """
    through = owned(points, "points of a path", (None, 2), error=GraphError)
    if closed and len(through):
        through = np.concatenate([through, through[:1]])
    gaps = np.linalg.norm(np.diff(through, axis=0), axis=-1)
    through = through[np.append(True, gaps > 1e-9)]
    if closed and len(through):
        through[-1] = through[0]  # to the last bit
    if len(through) < 3:
        return polyline(through, step)
    # square roots of distances as knots keep the curve from looping where near and far points alternate
    knots = np.append(0.0, np.cumsum(np.sqrt(np.linalg.norm(np.diff(through, axis=0), axis=-1))))
    curve = scipy.interpolate.CubicSpline(knots, through, bc_type="periodic" if closed else "natural")
    fine = curve(np.linspace(0.0, knots[-1], 40 * len(through)))
    return polyline(fine, step)


def sketched(points: npt.ArrayLike, smoothing: float = 0.15, step: float = STEP) -> GroundPath:
    """Return a path drawn by hand, with its tremble smoothed and both ends kept.

    Args:
        points: Points as drawn [m]; (C, 2).
        smoothing: Width of the filter along the path [m].
        step: Distance between stored points [m].
    """
    raw = polyline(points, step)
    pad = min(len(raw.points) - 1, int(4.0 * smoothing / raw.step))
    if pad < 1:
        return raw
    before, after = 2 * raw.points[0] - raw.points[pad:0:-1], 2 * raw.points[-1] - raw.points[-2 : -pad - 2 : -1]
    whole = np.concatenate([before, raw.points, after])
    smooth = scipy.ndimage.gaussian_filter1d(whole, smoothing / raw.step, axis=0)
    return polyline(smooth[pad : pad + len(raw.points)], step)
