"""Shadows: pictures of the scene from the key light and from the sky above."""

from __future__ import annotations

from concurrent.futures import Executor

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.render.raster import _kernels
from gaitway.render.raster._kernels import Index, Shadow, Single, View

_LIGHT_SIDE, _SKY_SIDE = 1100, 640
"""Largest number of texels along a side of the light's and of the sky's picture."""
_LIGHT_TEXEL, _SKY_TEXEL = 0.006, 0.012
"""Finest texels of both pictures [m], for small scenes."""
_MARGIN = 0.5
"""Margin around the scene for blur [m]."""


def no_shadow() -> Shadow:
    """Return the shadow of a scene that casts none."""
    view = View(np.zeros(3), np.eye(3), 1.0, 0.0, 0.0, perspective=False)
    empty = np.zeros((1, 1), dtype=np.float32)
    return Shadow(view, empty, empty, view, empty)


def cast(points: FloatArray, corners: Index, light: FloatArray, texel: float, pool: Executor) -> Shadow:
    """Draw the shadow pictures of solid triangles.

    Args:
        points: vertices [m]; (V, 3).
        corners: vertices of each triangle; (T, 3).
        light: unit vector towards the key light.
        texel: the finest step that will be seen [m].
        pool: threads, on one of which the second picture is drawn at the same time.
    """
    sky = pool.submit(_sky_picture, points, corners, texel)
    view, closest, soft = _light_picture(points, corners, light, texel)
    above, contact = sky.result()
    return Shadow(view, closest, soft, above, contact)


def _light_picture(points: FloatArray, corners: Index, light: FloatArray, texel: float) -> tuple[View, Single, Single]:
    """Return the light's view, the first surfaces that it meets, and the share of light that misses the floor.

    The shadow is crisp where the body meets the floor and soft where it is higher above it.
    """
    view, size = _looking_down(points, -light, _LIGHT_SIDE, max(texel, _LIGHT_TEXEL))
    closest, farthest = _draw(points, corners, view, size)
    # walking d along the light loses d * light_z of height: the floor's depth is linear in row and column
    row, col = -view.axes[1, 2] / view.scale / light[2], view.axes[0, 2] / view.scale / light[2]
    base = view.eye[2] / light[2] + 0.5 * (row + col)
    crisp, soft = np.empty(size, np.float32), np.empty(size, np.float32)
    _kernels.split_shadow(farthest, base, row, col, crisp, soft)
    total = _blurred(crisp, 0.012 * view.scale)
    total += _blurred(soft, 0.05 * view.scale)
    return view, closest, total


def _sky_picture(points: FloatArray, corners: Index, texel: float) -> tuple[View, Single]:
    """Draw the contact shadow seen from above: dark right under a sole, faint and wide under a body."""
    view, size = _looking_down(points, np.array([0.0, 0.0, -1.0]), _SKY_SIDE, max(texel, _SKY_TEXEL))
    _, farthest = _draw(points, corners, view, size)
    close, wide = np.empty(size, np.float32), np.empty(size, np.float32)
    _kernels.split_contact(farthest, view.eye[2], close, wide)
    total = np.float32(0.75) * _blurred(close, 0.022 * view.scale)
    total += np.float32(0.45) * _blurred(wide, 0.14 * view.scale)
    return view, total


def _looking_down(points: FloatArray, sight: FloatArray, side: int, texel: float) -> tuple[View, tuple[int, int]]:
    """Return an orthographic view along `sight` of all points and of the floor that they shade, and its size."""
    across = np.array([0.0, -1.0, 0.0]) if abs(sight[2]) > 0.999 else np.cross(sight, [0.0, 0.0, 1.0])
    right = across / np.linalg.norm(across)
    axes = np.stack([right, np.cross(right, sight), sight])
    # by hand: a library's product of so narrow matrices spends its time on starting threads
    plane = np.stack([points[:, 0] * a + points[:, 1] * b + points[:, 2] * c for a, b, c in axes[:2]], axis=1)
    # a point and the place it shades on the floor are one place in this picture: no room needed for either alone
    low, high = plane.min(axis=0) - _MARGIN, plane.max(axis=0) + _MARGIN
    scale = min(1.0 / texel, side / float((high - low).max()))
    size = (int(np.ceil((high - low)[1] * scale)) + 1, int(np.ceil((high - low)[0] * scale)) + 1)
    eye = axes[:2].T @ np.array([low[0], high[1]])
    return View(eye, axes, scale, 0.0, 0.0, perspective=False), size


def _draw(points: FloatArray, corners: Index, view: View, size: tuple[int, int]) -> tuple[Single, Single]:
    """Return closeness of the first and of the last surface along the view; (H, W) each."""
    screen = np.empty((len(points), 3))
    _kernels.project(points, view, screen)
    closest, farthest = np.full(size, -np.inf, dtype=np.float32), np.full(size, np.inf, dtype=np.float32)
    _kernels.raster_both(screen, corners, closest, farthest)
    return closest, farthest


def _blurred(picture: Single, radius: float) -> Single:
    """Return a picture after two box blurs, which are close to a Gaussian."""
    reach = max(round(radius), 1)
    once, twice = np.empty_like(picture), np.empty_like(picture)
    _kernels.blur(picture, reach, once)
    _kernels.blur(once, reach, twice)
    return twice
