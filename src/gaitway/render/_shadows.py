"""What the key light and the open sky see: two pictures of the scene from above, from which shadows are read."""

from __future__ import annotations

import numpy as np

from gaitway.arrays import FloatArray
from gaitway.render import _kernels
from gaitway.render._kernels import Index, Shadow, Single, View

_MAX_SIDE = 1536
_FINEST = 0.006
"""Side of a texel [m] where the scene is small enough."""
_MARGIN = 0.6
"""Metres around the scene, room for blur."""
_MIDDLE = np.array([[0.5, 0.5]])


def no_shadow() -> Shadow:
    """For a scene that casts none."""
    view = View(np.zeros(3), np.eye(3), 1.0, 0.0, 0.0, perspective=False)
    empty = np.zeros((1, 1), dtype=np.float32)
    return Shadow(view, empty, empty, view, empty)


def cast(points: FloatArray, corners: Index, light: FloatArray) -> Shadow:
    """Shadow pictures of solid triangles under a light from direction `light` (unit vector)."""
    view, size = _looking_down(points, -light)
    screen = _project(points, view)
    closest = _draw(screen, corners, size)
    gap = _gap_to_ground(view, -_draw(screen * [1.0, 1.0, -1.0], corners[:, ::-1], size), light)
    soft = _soft_shadow(gap, closest > -1e30, view.scale)
    above, plan = _looking_down(points, np.array([0.0, 0.0, -1.0]))
    screen = _project(points, above)
    # closeness of the lowest surface over a place is its height, seen from the eye's height
    lowest = -_draw(screen * [1.0, 1.0, -1.0], corners[:, ::-1], plan) + np.float32(above.eye[2])
    return Shadow(view, closest, soft, above, _contact(lowest, above.scale))


def _looking_down(points: FloatArray, sight: FloatArray) -> tuple[View, tuple[int, int]]:
    """An orthographic view along `sight` of all points, and of the places on the floor that they shade."""
    side = np.array([0.0, 1.0, 0.0]) if abs(sight[2]) > 0.999 else np.cross(sight, [0.0, 0.0, 1.0])
    right = side / np.linalg.norm(side)
    axes = np.stack([right, np.cross(right, sight), sight])
    on_floor = points - np.outer(points[:, 2] / sight[2], sight)
    plane = np.concatenate([points, on_floor]) @ axes[:2].T
    low, high = plane.min(axis=0) - _MARGIN, plane.max(axis=0) + _MARGIN
    scale = min(1.0 / _FINEST, _MAX_SIDE / float((high - low).max()))
    size = (int(np.ceil((high - low)[1] * scale)) + 1, int(np.ceil((high - low)[0] * scale)) + 1)
    eye = axes[:2].T @ np.array([low[0], high[1]])
    return View(eye, axes, scale, 0.0, 0.0, perspective=False), size


def _project(points: FloatArray, view: View) -> FloatArray:
    screen = np.empty((len(points), 3))
    _kernels.project(points, view, screen)
    return screen


def _draw(screen: FloatArray, corners: Index, size: tuple[int, int]) -> Single:
    closest = np.full((*size, 1), -np.inf, dtype=np.float32)
    owner = np.full((*size, 1), -1, dtype=np.int32)
    _kernels.raster(screen, np.ascontiguousarray(corners), _MIDDLE, 0, closest, owner)
    return closest[..., 0]


def _gap_to_ground(view: View, farthest: Single, light: FloatArray) -> Single:
    """Metres along the light from the lowest surface in each texel to the floor; infinite where there is none."""
    rows, cols = farthest.shape
    u = (np.arange(cols) + 0.5) / view.scale
    v = -(np.arange(rows) + 0.5) / view.scale
    # height of the texel's own line of sight where it leaves the eye's plane; walking d along it loses d * light_z
    height = view.eye[2] + v[:, None] * view.axes[1, 2] + u[None, :] * view.axes[0, 2]
    return (height / light[2] + farthest).astype(np.float32)


def _soft_shadow(gap: Single, covered: Single, scale: float) -> Single:
    """A shadow that is crisp where the body meets the floor and soft where it is far above it."""
    total = np.zeros(gap.shape, dtype=np.float32)
    levels = (0.012, 0.035, 0.075)
    middles = (0.05, 0.5, 1.6)
    shares = []
    distance = np.where(covered, np.clip(gap, 0.0, 10.0), 0.0)
    first = np.clip((distance - middles[0]) / (middles[1] - middles[0]), 0.0, 1.0)
    last = np.clip((distance - middles[1]) / (middles[2] - middles[1]), 0.0, 1.0)
    shares = [covered * (1.0 - first), covered * (first - last), covered * last]
    for share, reach in zip(shares, levels, strict=True):
        total += _blurred(share.astype(np.float32), reach * scale)
    return np.minimum(total, 1.0)


def _contact(lowest: Single, scale: float) -> Single:
    """How much of the sky the floor misses: dark right under a sole, faint and wide under a body."""
    height = np.where(np.isfinite(lowest), np.clip(lowest, 0.0, 4.0), 4.0)
    close = _blurred(np.exp(-height / 0.035).astype(np.float32), 0.022 * scale)
    wide = _blurred(np.exp(-height / 0.45).astype(np.float32), 0.14 * scale)
    return np.minimum(0.75 * close + 0.45 * wide, 1.0).astype(np.float32)


def _blurred(picture: Single, radius: float) -> Single:
    """Two box blurs: close to a smooth bell."""
    reach = max(round(radius), 1)
    once, twice = np.empty_like(picture), np.empty_like(picture)
    _kernels.blur(picture, reach, once)
    _kernels.blur(once, reach, twice)
    return twice
