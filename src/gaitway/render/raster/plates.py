"""Frames of a film: what stands still is drawn once, and each frame draws only the tiles that something changes.

A `FilmSet` holds the triangles of all that stands still, its light and its shadows. A `Plate` is its picture from a
camera that does not move. A frame copies the plate and draws the tiles in which something moves or a moving shadow
falls. With a camera that moves, each frame is drawn as a whole, but the shadows of still things are drawn once for all
frames. A frame depends on its own figures alone, so frames can be drawn in any order and on any number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.render.raster import _kernels, shadows
from gaitway.render.raster._kernels import TILE, Flags, Index, SceneLight, Shadow, Single, View
from gaitway.render.raster.camera import Camera
from gaitway.render.raster.drawables import Paint, Solid
from gaitway.render.raster.picture import (
    Lighting,
    camera_view,
    draw_rows,
    hiding,
    key_direction,
    nearest_texel,
    sample_places,
    scene_light,
    seen_triangles,
)
from gaitway.render.raster.triangles import Triangles, gather, solid_triangles

_ROWS = 8 * TILE
"""Rows of a frame that are drawn at once."""
_RIM = 6
"""Texels about a point of a surface that its light depends on: the patch that is looked at, and how far it is off."""


@dataclass(frozen=True, eq=False)
class Plate:
    """The picture of all that stands still, from a camera that does not move."""

    view: View
    triangles: Triangles
    screen: FloatArray
    """Pixel x, y and closeness of the vertices; (V, 3)."""
    touched: Flags
    """In which tiles there are triangles; (rows, columns)."""
    closest: Single
    """Closeness at every sample; (H, W, S)."""
    owner: Index
    """Triangle at every sample, or -1; (H, W, S)."""
    picture: npt.NDArray[np.uint8]
    """sRGB; (H, W, 3)."""
    light_boxes: FloatArray
    """Left, top, right and bottom of each tile in the light's picture [texels]; (4, rows, columns)."""
    sky_boxes: FloatArray
    """The same in the picture from above."""


@dataclass(frozen=True, eq=False)
class FilmSet:
    """All that stands still in a film, in the light of its first camera."""

    triangles: Triangles
    painted_layers: int
    """Number of layers of paint on the floor."""
    scene: SceneLight
    shadows: shadows.StillShadows

    @staticmethod
    def of(
        solids: Sequence[Solid],
        paint: Sequence[Paint],
        reached: FloatArray,
        cameras: Sequence[Camera],
        height: int,
        lighting: Lighting | None = None,
    ) -> FilmSet:
        """Prepare what stands still.

        Args:
            solids: solids that stand still.
            paint: paint on the floor that stays.
            reached: points around everything that will move [m]; (N, 3), at least one.
            cameras: the cameras of the film. The light stands beside the first one and stays there.
            height: of the pictures [px].
            lighting: light, floor and backdrop.
        """
        chosen = lighting or Lighting()
        triangles = gather([], solids, paint)
        light = key_direction(chosen, cameras[0])
        points, casters = solid_triangles(triangles)
        around = np.concatenate([triangles.points, reached])
        texel = min(nearest_texel(camera, reached, height) for camera in cameras[:: max(1, len(cameras) // 16)])
        still = shadows.StillShadows.of(points, casters, reached, light, texel)
        return FilmSet(triangles, len(paint), scene_light(chosen, light, around), still)

    def plate(self, camera: Camera, size: tuple[int, int], samples: int) -> Plate:
        """Draw the plate of a camera that does not move."""
        width, height = size
        view = camera_view(camera, width, height)
        triangles = seen_triangles(self.triangles, camera)
        screen = np.empty((len(triangles.points), 3))
        _kernels.project(triangles.points, view, screen)
        closest = np.full((height, width, samples), -np.inf, dtype=np.float32)
        owner = np.full((height, width, samples), -1, dtype=np.int32)
        touched = np.zeros((-(-height // TILE), -(-width // TILE)), np.uint8)
        _kernels.raster(screen, triangles.corners, sample_places(samples), 0, 0, touched, closest, owner)
        picture = np.empty((height, width, 3), np.uint8)
        tiles = _all_tiles(size)
        shadow, hides = self.shadows.shadow, hiding(triangles)
        for first in range(0, height, _ROWS):
            rows = slice(first, first + _ROWS)
            here = touched[first // TILE : (first + _ROWS) // TILE]
            samples_here = (here, closest[rows], owner[rows])
            draw_rows(view, self.scene, shadow, triangles, hides, screen, first, tiles, *samples_here, picture)
        boxes = _tile_boxes(view, self.scene, shadow, triangles, closest, owner, samples)
        return Plate(view, triangles, screen, touched, closest, owner, picture, *boxes)

    def frame(
        self,
        camera: Camera,
        plate: Plate | None,
        moving: Sequence[Triangles],
        things: Sequence[int],
        size: tuple[int, int],
        samples: int,
    ) -> npt.NDArray[np.uint8]:
        """Draw one frame.

        Args:
            camera: the point of view.
            plate: the plate of that camera; None if the camera moves.
            moving: triangles of all that moves, paint last.
            things: number of things in each of `moving` that have the same number of vertices, one after another.
            size: width and height [px].
            samples: samples in each pixel.

        Returns:
            The picture in sRGB; (height, width, 3).
        """
        width, height = size
        moved = joined(moving)
        points, casters = solid_triangles(moved)
        starts = _starts(moving, things)
        moving_shadows = self.shadows.with_moving(points, casters, starts[starts <= len(points)])
        shadow, changed = moving_shadows.shadow, (moving_shadows.light.parts, moving_shadows.sky.parts)
        seen = seen_triangles(moved, camera)
        view = camera_view(camera, width, height) if plate is None else plate.view
        still = seen_triangles(self.triangles, camera) if plate is None else plate.triangles
        first_moving = len(still.corners)
        triangles = joined([still, seen])
        screen = np.empty((len(triangles.points), 3))
        if plate is None:
            _kernels.project(triangles.points, view, screen)
            tiles, picture, first_moving = _all_tiles(size), np.empty((height, width, 3), np.uint8), 0
        else:
            screen[: len(still.points)] = plate.screen
            own = np.empty((len(seen.points), 3))
            _kernels.project(seen.points, view, own)
            screen[len(still.points) :] = own
            tiles, picture = _changed_tiles(plate, own, seen, starts, *changed, size), plate.picture.copy()
        hides = hiding(triangles)
        closest = np.empty((_ROWS, width, samples), np.float32)
        owner = np.empty((_ROWS, width, samples), np.int32)
        for first in range(0, height, _ROWS):
            here = tiles[first // TILE : (first + _ROWS) // TILE]
            if not here.any():
                continue
            count = min(_ROWS, height - first)
            near, who, touched = closest[:count], owner[:count], np.zeros_like(here)
            if plate is not None:
                touched[:] = plate.touched[first // TILE : (first + _ROWS) // TILE]
                for row in range(len(here)):
                    rows = slice(row * TILE, min((row + 1) * TILE, count))
                    there = slice(first + rows.start, first + rows.stop)
                    for left, right in _spans((here[row] > 0) & (touched[row] > 0)):
                        cols = slice(left * TILE, right * TILE)
                        near[rows, cols] = plate.closest[there, cols]
                        who[rows, cols] = plate.owner[there, cols]
            places = sample_places(samples)
            _kernels.raster(screen, triangles.corners, places, first_moving, first, touched, near, who)
            draw_rows(view, self.scene, shadow, triangles, hides, screen, first, tiles, touched, near, who, picture)
        self.shadows.take_back(moving_shadows)
        return picture


def joined(parts: Sequence[Triangles]) -> Triangles:
    """Return parts as one, in their order."""
    return gather(parts, [], [])


def _starts(moving: Sequence[Triangles], things: Sequence[int]) -> IntArray:
    """Return the first vertex of each thing, and the number of vertices of all; (K + 1,)."""
    starts = [0]
    for part, count in zip(moving, things, strict=True):
        each = len(part.points) // max(count, 1)
        starts += [starts[-1] + each * (i + 1) for i in range(count)]
    return np.array(starts)


def _all_tiles(size: tuple[int, int]) -> Flags:
    return np.ones((-(-size[1] // TILE), -(-size[0] // TILE)), np.uint8)


def _spans(flags: BoolArray) -> list[tuple[int, int]]:
    """Return begin and end of each run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _changed_tiles(
    plate: Plate,
    screen: FloatArray,
    moving: Triangles,
    starts: IntArray,
    light: IntArray,
    sky: IntArray,
    size: tuple[int, int],
) -> Flags:
    """Return which tiles differ from the plate: those that something that moves covers or shades."""
    if starts[-1] == len(moving.points):  # nothing was cut off
        solid = starts[starts <= int(moving.corners[moving.painted == 0].max(initial=-1)) + 1]
        boxes = np.stack(shadows.thing_boxes(screen, solid), axis=1)
        boxes = np.concatenate([boxes, _triangle_boxes(screen, moving.corners[moving.painted > 0])])
    else:
        boxes = _triangle_boxes(screen, moving.corners)
    tiles = _covered(boxes, size)
    for (lefts, tops, rights, bottoms), parts in ((plate.light_boxes, light), (plate.sky_boxes, sky)):
        for left, top, right, bottom in parts.tolist():
            tiles |= (lefts < right) & (rights > left) & (tops < bottom) & (bottoms > top)
    return tiles.astype(np.uint8)


def _triangle_boxes(screen: FloatArray, corners: Index) -> FloatArray:
    """Return the lower and upper corner of the box around each triangle [px]; (T, 2, 2)."""
    spots = screen[corners, :2]
    return np.stack([spots.min(axis=1), spots.max(axis=1)], axis=1)


def _covered(boxes: FloatArray, size: tuple[int, int]) -> BoolArray:
    """Return which tiles boxes (N, 2, 2) [px] meet; (rows, columns)."""
    columns, rows = -(-size[0] // TILE), -(-size[1] // TILE)
    room = np.array([columns, rows])
    low, high = np.floor(boxes[:, 0] / TILE), np.floor(boxes[:, 1] / TILE) + 1.0
    inside = ((high > 0.0) & (low < room)).all(axis=1)
    low, high = np.clip(low[inside], 0, room).astype(np.int64), np.clip(high[inside], 0, room).astype(np.int64)
    # each box adds one at its first corner and takes it back behind its sides: running sums fill it
    counts = np.zeros((rows + 1) * (columns + 1), np.int64)
    for row, col, sign in ((low, low, 1), (low, high, -1), (high, low, -1), (high, high, 1)):
        counts += sign * np.bincount(row[:, 1] * (columns + 1) + col[:, 0], minlength=len(counts))
    filled: BoolArray = counts.reshape(rows + 1, columns + 1).cumsum(axis=0).cumsum(axis=1)[:rows, :columns] > 0
    return filled


def _tile_boxes(
    view: View,
    scene: SceneLight,
    shadow: Shadow,
    triangles: Triangles,
    closest: Single,
    owner: Index,
    samples: int,
) -> tuple[FloatArray, FloatArray]:
    """Return the boxes of tiles in the shadow pictures: wherever the light of their pixels is looked up."""
    height, width, _ = closest.shape
    rows, columns = -(-height // TILE), -(-width // TILE)
    places = sample_places(samples)
    boxes = np.empty((2, 4, rows, columns), np.float32)
    boxes[:, :2], boxes[:, 2:] = np.inf, -np.inf
    for row in range(rows):
        band = slice(row * TILE, min((row + 1) * TILE, height))
        for s in range(samples):
            # further samples matter only where they show something else than the first
            used = np.ones(owner[band, :, s].shape, bool) if s == 0 else owner[band, :, s] != owner[band, :, 0]
            line, col = np.nonzero(used)
            if len(line) == 0:
                continue
            x, y = col + places[s, 0], line + band.start + places[s, 1]
            points, hit, on_floor = _looked_at(view, scene, x, y, owner[band, :, s][used], closest[band, :, s][used])
            on_floor |= hit & (triangles.painted[owner[band, :, s][used]] > 0) if len(triangles.painted) else False
            tile = col // TILE
            for box, look, some in ((boxes[0], shadow.light, hit), (boxes[1], shadow.above, on_floor)):
                for k, axis in ((0, look.scale * look.axes[0]), (1, -look.scale * look.axes[1])):
                    spots = points @ axis - look.eye @ axis
                    low, high = (np.where(some, spots, far) for far in (np.inf, -np.inf))
                    if s == 0:  # a whole band: tiles are blocks of it
                        shape = (band.stop - band.start, columns, TILE)
                        room = ((0, 0), (0, columns * TILE - width))
                        low, high = (
                            np.pad(part.reshape(-1, width), room, constant_values=far).reshape(shape)
                            for part, far in ((low, np.inf), (high, -np.inf))
                        )
                        box[k, row] = low.min(axis=(0, 2)) - _RIM
                        box[2 + k, row] = high.max(axis=(0, 2)) + _RIM
                    else:
                        np.minimum.at(box[k, row], tile, low - _RIM)
                        np.maximum.at(box[2 + k, row], tile, high + _RIM)
    return boxes[0], boxes[1]


def _looked_at(
    view: View, scene: SceneLight, x: FloatArray, y: FloatArray, owner: Index, closest: Single
) -> tuple[FloatArray, BoolArray, BoolArray]:
    """Return the points seen at places of the picture (N, 3), where there is anything, and where the floor."""
    right, up = (x - view.centre_x) / view.scale, (view.centre_y - y) / view.scale
    aside = right[:, None] * view.axes[0] + up[:, None] * view.axes[1]
    way = view.axes[2] + aside if view.perspective else np.broadcast_to(view.axes[2], aside.shape)
    begin = np.broadcast_to(view.eye, aside.shape) if view.perspective else view.eye + aside
    seen = owner >= 0
    with np.errstate(divide="ignore", invalid="ignore"):
        depth = 1.0 / closest.astype(np.float64) if view.perspective else -closest.astype(np.float64)
        far = -begin[:, 2] / way[:, 2]
    on_floor = scene.has_ground & ~seen & (way[:, 2] < -1e-4) & (begin[:, 2] > 0.0)
    reach = np.where(seen, depth, np.where(on_floor, far, 0.0))
    return begin + reach[:, None] * way, seen | on_floor, on_floor
