"""Cameras: perspective or orthographic, always looking at a point."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, owned
from gaitway.core.errors import GaitwayError

_WORLD_UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Camera:
    """A view of the world (Z up, metres). Pixels are square; `span` and `field` belong to the picture's height."""

    eye: FloatArray
    """Position of the camera [m]; (3,)."""
    target: FloatArray
    """Point that it looks at: the middle of the picture [m]; (3,)."""
    up: FloatArray
    """Direction that is upright in the picture; (3,), not along the line of sight."""
    field: float = np.radians(35.0)
    """Vertical opening angle of a perspective view [rad]."""
    span: float | None = None
    """Height of an orthographic view [m]; None for perspective."""

    def __post_init__(self) -> None:
        for name in ("eye", "target", "up"):
            object.__setattr__(self, name, owned(getattr(self, name), f"camera {name}", (3,)))
        sight = self.target - self.eye
        if np.linalg.norm(sight) < 1e-9:
            raise GaitwayError("camera eye and target are the same point; move one of them")
        if np.linalg.norm(np.cross(sight, self.up)) < 1e-9 * np.linalg.norm(sight):
            raise GaitwayError("camera looks along its own up direction; give another `up`")
        if self.span is None and not 1e-3 < self.field < np.pi - 1e-3:
            raise GaitwayError(f"camera field of {self.field:g} rad; it must lie between 0.001 and 3.14 rad")
        if self.span is not None and not (np.isfinite(self.span) and self.span > 0.0):
            raise GaitwayError(f"camera span of {self.span:g} m; it must be above 0")

    @classmethod
    def around(
        cls,
        target: npt.ArrayLike,
        *,
        azimuth: float = np.radians(-60.0),
        elevation: float = np.radians(15.0),
        distance: float = 5.0,
        field: float = np.radians(35.0),
        span: float | None = None,
    ) -> Camera:
        """Return a camera on a sphere about a point.

        Args:
            target: the point [m]; (3,).
            azimuth: bearing of the camera seen from the target [rad]: 0 stands on +X, pi/2 on +Y.
            elevation: angle above the horizon [rad]; pi/2 looks straight down with the picture's top away from
                the bearing.
            distance: distance from target to camera [m].
            field: vertical opening angle [rad].
            span: metres shown from bottom to top makes it orthographic.
        """
        flat = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
        sight = np.cos(elevation) * flat + np.sin(elevation) * _WORLD_UP
        up = np.cos(elevation) * _WORLD_UP - np.sin(elevation) * flat
        centre = np.asarray(target, dtype=np.float64)
        return cls(eye=centre + distance * sight, target=centre, up=up, field=field, span=span)

    @classmethod
    def looking(cls, eye: npt.ArrayLike, target: npt.ArrayLike, field: float = np.radians(35.0)) -> Camera:
        """Return an upright camera that stands at a point and looks at another [m]; (3,) each.

        If it looks straight up or down, the picture's top is +Y.
        """
        place, middle = np.asarray(eye, dtype=np.float64), np.asarray(target, dtype=np.float64)
        flat = np.linalg.norm((middle - place)[:2]) < 1e-6 * np.linalg.norm(middle - place)
        return cls(place, middle, np.array([0.0, 1.0, 0.0]) if flat else _WORLD_UP, field)

    @cached_property
    def axes(self) -> FloatArray:
        """Rows: the picture's right, its up and the line of sight, as unit vectors; (3, 3)."""
        sight = self.target - self.eye
        sight = sight / np.linalg.norm(sight)
        right = np.cross(sight, self.up)
        right = right / np.linalg.norm(right)
        return owned(np.stack([right, np.cross(right, sight), sight]), "camera axes", (3, 3))

    def scale(self, height: int) -> float:
        """Return pixels per metre (orthographic), or pixels per metre at a depth of one metre (perspective)."""
        if self.span is not None:
            return height / self.span
        return float(0.5 * height / np.tan(0.5 * self.field))

    def project(self, points: npt.ArrayLike, size: tuple[int, int]) -> FloatArray:
        """Return pixel x (right), y (down) and depth along the line of sight [m] of points (..., 3).

        Points beside or behind a perspective camera have a depth of zero or less and no meaningful x and y.
        """
        width, height = size
        seen = (np.asarray(points, dtype=np.float64) - self.eye) @ self.axes.T
        scale = np.full(seen.shape[:-1], self.scale(height))
        if self.span is None:
            scale = scale / np.where(np.abs(seen[..., 2]) > 1e-9, seen[..., 2], 1e-9)
        return np.stack(
            [0.5 * width + scale * seen[..., 0], 0.5 * height - scale * seen[..., 1], seen[..., 2]], axis=-1
        )

    def fit(self, points: npt.ArrayLike, size: tuple[int, int], margin: float = 0.06) -> Camera:
        """Return a camera that sees all points in the same direction of view, moved (and, if orthographic, zoomed).

        Args:
            points: points that must be visible [m]; (..., 3).
            size: width and height of the picture in pixels.
            margin: share of the picture left free on each side.
        """
        cloud = np.asarray(points, dtype=np.float64).reshape(-1, 3)
        if len(cloud) == 0 or not np.isfinite(cloud).all():
            raise GaitwayError("nothing to fit the camera to: give at least one finite point")
        if not 0.0 <= margin < 0.5:
            raise GaitwayError(f"margin of {margin:g}; it must be at least 0 and below 0.5")
        aspect, axes = size[0] / size[1], self.axes
        seen = cloud @ axes.T
        low, high = seen.min(axis=0), seen.max(axis=0)
        room = 1.0 - 2.0 * margin
        if self.span is not None:
            span = max(high[1] - low[1], (high[0] - low[0]) / aspect, 1e-3) / room
            target = axes.T @ (0.5 * (low + high))
            distance = max(float(high[2] - low[2]), span) + 1.0
            return replace(self, eye=target - distance * axes[2], target=target, span=float(span))
        slope_up = np.tan(0.5 * self.field) * room
        return self._fit_perspective(seen, np.array([slope_up * aspect, slope_up]))

    def _fit_perspective(self, seen: FloatArray, slopes: FloatArray) -> Camera:
        """Return the camera whose narrowed frustum touches the cloud at all sides; `seen` is in camera axes."""
        axes = self.axes
        eye = np.empty(3)
        depths = []
        for axis in (0, 1):
            # a point is inside when |p - e| <= slope * (depth_p - depth_e), for both sides of the picture
            upper = np.max(seen[:, axis] - slopes[axis] * seen[:, 2])
            lower = np.max(-seen[:, axis] - slopes[axis] * seen[:, 2])
            eye[axis] = 0.5 * (upper - lower)
            depths.append(-0.5 * (upper + lower) / slopes[axis])
        eye[2] = min(*depths, float(seen[:, 2].min()) - 0.1)
        reach = float(seen[:, 2].mean() - eye[2])
        place = axes.T @ eye
        return replace(self, eye=place, target=place + reach * axes[2])
