"""Shadows: pictures of the scene from the key light and from the sky above.

A still draws both anew (`cast`). A film draws those of all that stands still once (`StillShadows`), and in each frame
only what changes about the things that move.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.render.raster import _kernels
from gaitway.render.raster._kernels import CELL, Flags, Index, Shadow, Single, View

_LIGHT_SIDE, _SKY_SIDE = 1100, 640
"""Largest number of texels along a side of the light's and of the sky's picture."""
_LIGHT_TEXEL, _SKY_TEXEL = 0.006, 0.012
"""Finest texels of both pictures [m], for small scenes."""
_MARGIN = 0.5
"""Margin around the scene for blur [m]."""
_INVISIBLE = 1e-5
"""Share of light that nobody misses: running sums leave such traces of zero."""


def no_shadow() -> Shadow:
    """Return the shadow of a scene that casts none."""
    view = View(np.zeros(3), np.eye(3), 1.0, 0.0, 0.0, perspective=False)
    empty, cells = np.zeros((1, 1), dtype=np.float32), np.zeros((1, 1), dtype=np.uint8)
    return Shadow(view, empty, empty, view, empty, cells, cells, empty)


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
    return both(_light_picture(points, corners, light, texel), sky.result())


def both(light: ShadowPicture, sky: ShadowPicture) -> Shadow:
    """Return the pictures of the light and of the sky as the kernels take them."""
    return Shadow(light.view, light.closest, light.dark, sky.view, sky.dark, light.cells, sky.cells, light.highest)


@dataclass(frozen=True, eq=False)
class StillShadows:
    """Shadow pictures of all that stands still, to which things that move are added frame by frame."""

    light: ShadowPicture
    sky: ShadowPicture

    @staticmethod
    def of(points: FloatArray, corners: Index, reached: FloatArray, light: FloatArray, texel: float) -> StillShadows:
        """Draw what stands still.

        Args:
            points: its vertices [m]; (V, 3).
            corners: vertices of each triangle; (T, 3).
            reached: points around all that will ever move [m]; (N, 3). What moves beyond them casts no shadow there.
            light: unit vector towards the key light.
            texel: the finest step that will be seen [m].
        """
        around = np.concatenate([points, reached])
        return StillShadows(
            _light_picture(points, corners, light, texel, around), _sky_picture(points, corners, texel, around)
        )

    def with_moving(self, points: FloatArray, corners: Index, starts: IntArray) -> MovingShadows:
        """Add things that move.

        Args:
            points: their vertices [m]; (V, 3).
            corners: vertices of each triangle; (T, 3).
            starts: first vertex of each thing, and the number of vertices; (K + 1,).
        """
        return MovingShadows(
            self.light.with_moving(points, corners, starts), self.sky.with_moving(points, corners, starts)
        )

    def take_back(self, used: MovingShadows) -> None:
        """Keep the arrays of shadows that are no longer needed, for the next frame."""
        self.light.take_back(used.light)
        self.sky.take_back(used.sky)

    @property
    def shadow(self) -> Shadow:
        """The shadow of the still things alone."""
        return both(self.light, self.sky)


@dataclass(frozen=True, eq=False)
class MovingShadows:
    """Shadow pictures of everything in one frame."""

    light: MovingPicture
    sky: MovingPicture

    @property
    def shadow(self) -> Shadow:
        """The shadow of everything."""
        return both(self.light.picture, self.sky.picture)


@dataclass(frozen=True, eq=False)
class ShadowPicture:
    """The scene seen along the light, or from above, and what it keeps off the floor."""

    view: View
    closest: Single
    """Closeness of the first surface along the view; (H, W)."""
    farthest: Single
    """Closeness of the last surface; (H, W)."""
    dark: Single
    """Share of light that does not reach the floor, blurred; (H, W)."""
    cells: Flags
    """0 where a cell of `dark` holds no shadow; (H / CELL, W / CELL), rounded up."""
    highest: Single
    """Largest `closest` of the patch that begins at each texel (see `Shadow.highest`); from above, where none is
    looked up, (0, 0)."""
    blurs: tuple[tuple[float, float], tuple[float, float]]
    """Strength and reach [texels] of both blurs."""
    floor: tuple[float, float, float] | None
    """Minus the closeness of the floor at row 0 and column 0, and its change by row and column [m]; None from above."""
    spare: deque[ShadowPicture] = field(default_factory=deque)
    """Copies that frames take and give back, as many as are drawn at a time. They hold no result."""

    def shaded(self, part: tuple[slice, slice] = (slice(None), slice(None))) -> Single:
        """Return the shadow on the floor in a part of the picture; right but for `reach` texels at the part's rim."""
        farthest = np.ascontiguousarray(self.farthest[part])
        near, high = np.empty_like(farthest), np.empty_like(farthest)
        if self.floor is None:
            _kernels.split_contact(farthest, self.view.eye[2], near, high)
        else:
            base, row, col = self.floor
            base = base + row * (part[0].start or 0) + col * (part[1].start or 0)
            _kernels.split_shadow(farthest, base, row, col, near, high)
        (near_share, near_reach), (high_share, high_reach) = self.blurs
        total = np.float32(near_share) * _blurred(near, near_reach)
        total += np.float32(high_share) * _blurred(high, high_reach)
        return total

    @property
    def reach(self) -> int:
        """How far a shadow is blurred beyond what casts it [texels]: two blurs, and one texel for the pixel's rim."""
        return 2 * max(max(round(reach), 1) for _, reach in self.blurs) + 1

    def with_moving(self, points: FloatArray, corners: Index, starts: IntArray) -> MovingPicture:
        """Return the picture with things that move in it; see `StillShadows.with_moving`."""
        screen = np.empty((len(points), 3))
        _kernels.project(points, self.view, screen)
        new = self.spare.pop() if self.spare else self._copied()
        _kernels.raster_both(screen, corners, new.closest, new.farthest)
        (height, width), reach = self.closest.shape, self.reach
        low, high = thing_boxes(screen, starts)
        parts = _boxes(low - reach, high + reach + 1.0, width, height)
        for left, top, right, bottom in parts.tolist():
            rows = slice(max(top - reach, 0), min(bottom + reach, height))
            cols = slice(max(left - reach, 0), min(right + reach, width))
            inside = (slice(top - rows.start, bottom - rows.start), slice(left - cols.start, right - cols.start))
            new.dark[top:bottom, left:right] = new.shaded((rows, cols))[inside]
            new.cells[_cells_of(left, top, right, bottom)] = 1
            if new.highest.size:
                _kernels.highest_of_patches(new.closest, top, bottom, left, right, new.highest)
        return MovingPicture(new, parts)

    def _copied(self) -> ShadowPicture:
        own = (self.closest.copy(), self.farthest.copy(), self.dark.copy())
        return ShadowPicture(self.view, *own, self.cells.copy(), self.highest.copy(), self.blurs, self.floor)

    def take_back(self, used: MovingPicture) -> None:
        """Keep arrays for the next frame: where things moved they become those of the still things again."""
        for left, top, right, bottom in used.parts.tolist():
            part = (slice(top, bottom), slice(left, right))
            for name in ("closest", "farthest", "dark", "highest"):
                getattr(used.picture, name)[part] = getattr(self, name)[part]
            cells = _cells_of(left, top, right, bottom)
            used.picture.cells[cells] = self.cells[cells]
        self.spare.append(used.picture)


@dataclass(frozen=True, eq=False)
class MovingPicture:
    """A shadow picture of everything in one frame."""

    picture: ShadowPicture
    parts: IntArray
    """Where it differs from that of the still things: left, top, right and bottom [texels]; (N, 4)."""


def thing_boxes(screen: FloatArray, starts: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the lower and upper corners (K, 2) of the boxes around things in a picture.

    Args:
        screen: pixel x, y and closeness of all vertices; (V, 3).
        starts: first vertex of each thing, and the number of vertices; (K + 1,). Things without vertices are left out.
    """
    first = starts[:-1][starts[1:] > starts[:-1]]
    if len(first) == 0:
        return np.empty((0, 2)), np.empty((0, 2))
    spots = screen[: starts[-1], :2]
    return np.minimum.reduceat(spots, first, axis=0), np.maximum.reduceat(spots, first, axis=0)


def _boxes(low: FloatArray, high: FloatArray, width: int, height: int) -> IntArray:
    """Return whole boxes in a picture (N, 4) around those from `low` to `high` (K, 2); one alone if they fill much."""
    size = np.array([width, height])
    corners = np.concatenate([np.clip(np.floor(low), 0, size), np.clip(np.ceil(high), 0, size)], axis=1).astype(
        np.int64
    )
    corners = corners[(corners[:, 2:] > corners[:, :2]).all(axis=1)]
    if len(corners) == 0:
        return corners
    whole = np.concatenate([corners[:, :2].min(axis=0), corners[:, 2:].max(axis=0)])
    areas = np.prod(corners[:, 2:] - corners[:, :2], axis=1)
    return whole[None] if areas.sum() > 0.5 * np.prod(whole[2:] - whole[:2]) else corners


class ShadowFrame(NamedTuple):
    """What a shadow picture shows, before anything is drawn; see `ShadowPicture`."""

    view: View
    size: tuple[int, int]
    """Height and width [texels]."""
    blurs: tuple[tuple[float, float], tuple[float, float]]
    floor: tuple[float, float, float] | None


def _light_picture(
    points: FloatArray, corners: Index, light: FloatArray, texel: float, around: FloatArray | None = None
) -> ShadowPicture:
    """Return what the light sees, of all points or of those `around`."""
    frame = light_frame(points if around is None else around, light, texel)
    return _shadow_picture(frame, *_draw(points, corners, frame.view, frame.size))


def _sky_picture(points: FloatArray, corners: Index, texel: float, around: FloatArray | None = None) -> ShadowPicture:
    """Return the contact shadow seen from above, of all points or of those `around`."""
    frame = sky_frame(points if around is None else around, texel)
    return _shadow_picture(frame, *_draw(points, corners, frame.view, frame.size))


def light_frame(seen: FloatArray, light: FloatArray, texel: float) -> ShadowFrame:
    """Return the frame of the light's picture of points (N, 3).

    The shadow is crisp where the body meets the floor and soft where it is higher above it.
    """
    view, size = _looking_down(seen, -light, _LIGHT_SIDE, max(texel, _LIGHT_TEXEL))
    # walking d along the light loses d * light_z of height: the floor's depth is linear in row and column
    row, col = -view.axes[1, 2] / view.scale / light[2], view.axes[0, 2] / view.scale / light[2]
    floor = (float(view.eye[2] / light[2] + 0.5 * (row + col)), float(row), float(col))
    return ShadowFrame(view, size, _in_texels(((1.0, 0.012), (1.0, 0.05)), view), floor)


def sky_frame(seen: FloatArray, texel: float) -> ShadowFrame:
    """Return the frame of the picture from above of points (N, 3): dark under a sole, faint and wide under a body."""
    view, size = _looking_down(seen, np.array([0.0, 0.0, -1.0]), _SKY_SIDE, max(texel, _SKY_TEXEL))
    return ShadowFrame(view, size, _in_texels(((0.75, 0.022), (0.45, 0.14)), view), None)


def _in_texels(
    blurs: tuple[tuple[float, float], tuple[float, float]], view: View
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return blurs, which have a strength and a reach [m] each, with their reach in texels."""
    (near, near_reach), (high, high_reach) = blurs
    return (near, near_reach * view.scale), (high, high_reach * view.scale)


def _shadow_picture(frame: ShadowFrame, closest: Single, farthest: Single) -> ShadowPicture:
    """Return the picture of a frame in which the first and last surfaces (H, W) are drawn."""
    nothing, no_cells = np.empty((0, 0), np.float32), np.empty((0, 0), np.uint8)
    drawn = ShadowPicture(frame.view, closest, farthest, nothing, no_cells, nothing, frame.blurs, frame.floor)
    dark, highest = drawn.shaded(), nothing
    if frame.floor is not None:
        highest = np.empty_like(closest)
        _kernels.highest_of_patches(closest, 0, len(closest), 0, closest.shape[1], highest)
    return replace(drawn, dark=dark, cells=_shaded_cells(dark), highest=highest)


def _shaded_cells(dark: Single) -> Flags:
    """Return which cells of a picture hold a shadow that can be seen."""
    height, width = dark.shape
    room = np.zeros((-(-height // CELL) * CELL, -(-width // CELL) * CELL), bool)
    room[:height, :width] = dark > _INVISIBLE
    return np.asarray(room.reshape(len(room) // CELL, CELL, -1, CELL).any(axis=(1, 3)), np.uint8)


def _cells_of(left: int, top: int, right: int, bottom: int) -> tuple[slice, slice]:
    """Return rows and columns of the cells that a part of a picture meets."""
    return slice(top // CELL, -(-bottom // CELL)), slice(left // CELL, -(-right // CELL))


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
