"""Films as they were written before: every frame drawn as a whole, one after the other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from gaitway.core.jit import kernel
from gaitway.render.bodies.figures import figure_parts
from gaitway.render.film.encoder import Picture, write_film
from gaitway.render.film.shot import Shot
from gaitway.render.film.take_stage import TakeStage
from gaitway.render.raster import _kernels, _shading_kernels, shadows
from gaitway.render.raster._kernels import (
    HIGH_X,
    HIGH_Y,
    LOW_X,
    LOW_Y,
    RIGHT,
    SIGHT,
    TILE,
    UP,
    Flags,
    SceneLight,
    Shadow,
    Single,
    View,
)
from gaitway.render.raster._shading_kernels import _bilinear, _line_cover
from gaitway.render.raster.camera import Camera
from gaitway.render.raster.picture import (
    Lighting,
    _srgb_steps,
    camera_view,
    key_direction,
    nearest_texel,
    sample_places,
    scene_light,
    seen_triangles,
)
from gaitway.render.raster.triangles import gather, solid_triangles
from gaitway.take import Take
from gaitway.world import World

_SAMPLES, _ROWS = 4, 64


def _counting(compiled: Any, name: str) -> Any:
    """Return a kernel compiled as it was: it counts a reference whenever it takes an array out of a tuple."""
    plain: Any = FunctionType(compiled.py_func.__code__, compiled.py_func.__globals__, name)
    plain.__qualname__ = name  # its machine code is kept apart from that of the other
    return kernel(plain)


_SHADE = _counting(_shading_kernels.shade, "former_shade")


@kernel(fastmath=True, borrows=True)
def _former_stage(
    view: View, scene: SceneLight, shadow: Shadow, first_row: int, height: int, tiles: Flags, out: Single
) -> None:
    """Write ground and backdrop of a band in the former way: linear RGB, and the share of light left; (rows, W, 4).

    Only the pixels of `tiles` that are not 0 are written; see `TILE`.
    """
    # numbers are taken out of their arrays once: a write to `out` could change any array, as far as a compiler knows
    eye_x, eye_y, eye_z, pixel = view.eye[0], view.eye[1], view.eye[2], 1.0 / view.scale
    right_x, right_y, right_z = view.axes[RIGHT, 0], view.axes[RIGHT, 1], view.axes[RIGHT, 2]
    up_x, up_y, up_z = view.axes[UP, 0], view.axes[UP, 1], view.axes[UP, 2]
    sight_x, sight_y, sight_z = view.axes[SIGHT, 0], view.axes[SIGHT, 1], view.axes[SIGHT, 2]
    per_fade, per_height, grid = 1.0 / scene.fade, 1.0 / height, scene.grid
    low_x, low_y, high_x, high_y = scene.focus[LOW_X], scene.focus[LOW_Y], scene.focus[HIGH_X], scene.focus[HIGH_Y]
    base_r, base_g, base_b = scene.backdrop_low[0], scene.backdrop_low[1], scene.backdrop_low[2]
    rise_r, rise_g, rise_b = (
        scene.backdrop_high[0] - base_r, scene.backdrop_high[1] - base_g, scene.backdrop_high[2] - base_b,
    )  # fmt: skip
    ground_r, ground_g, ground_b = scene.ground[0], scene.ground[1], scene.ground[2]
    line_r, line_g, line_b = scene.line[0] - ground_r, scene.line[1] - ground_g, scene.line[2] - ground_b
    # places of the floor in both shadow pictures are linear in x and y
    light, above = shadow.light, shadow.above
    soft_ux, soft_uy = light.scale * light.axes[RIGHT, 0], light.scale * light.axes[RIGHT, 1]
    soft_vx, soft_vy = -light.scale * light.axes[UP, 0], -light.scale * light.axes[UP, 1]
    soft_u = -soft_ux * light.eye[0] - soft_uy * light.eye[1] - light.scale * light.axes[RIGHT, 2] * light.eye[2]
    soft_v = -soft_vx * light.eye[0] - soft_vy * light.eye[1] + light.scale * light.axes[UP, 2] * light.eye[2]
    near_ux, near_uy = above.scale * above.axes[RIGHT, 0], above.scale * above.axes[RIGHT, 1]
    near_vx, near_vy = -above.scale * above.axes[UP, 0], -above.scale * above.axes[UP, 1]
    near_u = -near_ux * above.eye[0] - near_uy * above.eye[1]
    near_v = -near_vx * above.eye[0] - near_vy * above.eye[1]
    perspective, has_ground, strength = view.perspective, scene.has_ground, scene.shadow
    centre_x, width = view.centre_x, out.shape[1]
    for row in range(out.shape[0]):
        py = row + first_row + 0.5
        rise = 1.0 - py * per_height
        up = (view.centre_y - py) * pixel
        back_r, back_g, back_b = base_r + rise_r * rise, base_g + rise_g * rise, base_b + rise_b * rise
        for col in range(width):
            if tiles[(row + first_row) // TILE, col // TILE] == 0:
                continue
            red, green, blue, left = back_r, back_g, back_b, 1.0
            right = (col + 0.5 - centre_x) * pixel
            aside_x, aside_y = right * right_x + up * up_x, right * right_y + up * up_y
            aside_z = right * right_z + up * up_z
            way_z = sight_z + aside_z if perspective else sight_z
            start_z = eye_z if perspective else eye_z + aside_z
            if has_ground and way_z < -1e-4 and start_z > 0.0:
                per_way = 1.0 / way_z
                far = -start_z * per_way
                if perspective:
                    way_x, way_y = sight_x + aside_x, sight_y + aside_y
                    x, y = eye_x + far * way_x, eye_y + far * way_y
                    # how far the place on the floor moves from one pixel to the next, across and up
                    far_u, far_v = -far * right_z * per_way, -far * up_z * per_way
                    step = far
                else:
                    way_x, way_y = sight_x, sight_y
                    x, y = eye_x + aside_x + far * way_x, eye_y + aside_y + far * way_y
                    far_u, far_v = -right_z * per_way, -up_z * per_way
                    step = 1.0
                away_x, away_y = max(low_x - x, x - high_x, 0.0), max(low_y - y, y - high_y, 0.0)
                near = 1.0
                if away_x > 0.0 or away_y > 0.0:
                    away = min(np.sqrt(away_x * away_x + away_y * away_y) * per_fade, 1.0)
                    near = 1.0 - away * away * (3.0 - 2.0 * away)
                if near > 0.0:
                    line = 0.0
                    if grid > 0.0:
                        foot_x = pixel * (abs(step * right_x + far_u * way_x) + abs(step * up_x + far_v * way_x))
                        foot_y = pixel * (abs(step * right_y + far_u * way_y) + abs(step * up_y + far_v * way_y))
                        line_x, line_y = _line_cover(x, 0.012, foot_x), _line_cover(y, 0.012, foot_y)
                        line = grid * (line_x + line_y - line_x * line_y)
                    red += (ground_r + line_r * line - red) * near
                    green += (ground_g + line_g * line - green) * near
                    blue += (ground_b + line_b * line - blue) * near
                dark = _bilinear(shadow.soft, soft_u + soft_ux * x + soft_uy * y, soft_v + soft_vx * x + soft_vy * y)
                closed = _bilinear(
                    shadow.contact, near_u + near_ux * x + near_uy * y, near_v + near_vx * x + near_vy * y
                )
                left = (1.0 - strength * min(dark, 1.0)) * (1.0 - 0.7 * min(closed, 1.0))
            out[row, col, 0], out[row, col, 1], out[row, col, 2], out[row, col, 3] = red, green, blue, left


def write_former_film(
    take: Take, world: World, path: Path, shot: Shot, size: tuple[int, int], fps: float, frames: int
) -> None:
    """Write the first frames of a take in the former way."""
    stage = TakeStage.of(take, world, shot.cutaway)
    times = [i / fps for i in range(frames)]
    cameras = stage.cameras(shot, times, size)

    def pictures() -> Iterator[Picture]:
        for time, camera in zip(times, cameras, strict=True):
            yield former_frame(stage, time, camera, size)

    write_film(path, pictures(), frames, size, fps, preset="medium")


def former_frame(stage: TakeStage, time: float, camera: Camera, size: tuple[int, int]) -> Picture:
    """Draw one frame: all shadows anew, then all pixels in bands of rows on all cores."""
    width, height = size
    lighting: Lighting = stage.lighting
    figures = figure_parts(stage.figures(time), camera, height)
    triangles = gather(figures, stage.scenery.solids(time), stage.scenery.paint)
    light = key_direction(lighting, camera)
    scene = scene_light(lighting, light, triangles.points)
    view = camera_view(camera, width, height)
    picture = np.empty((height, width, 3), np.uint8)
    tiles = np.ones((-(-height // _kernels.TILE), -(-width // _kernels.TILE)), np.uint8)
    places = sample_places(_SAMPLES)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        points, casters = solid_triangles(triangles)
        shadow = shadows.cast(points, casters, light, nearest_texel(camera, points, height), pool)
        seen = seen_triangles(triangles, camera)
        screen = np.empty((len(seen.points), 3))
        _kernels.project(seen.points, view, screen)

        def draw(first: int) -> None:
            count = min(_ROWS, height - first)
            closest = np.full((count, width, _SAMPLES), -np.inf, np.float32)
            owner = np.full((count, width, _SAMPLES), -1, np.int32)
            behind = np.empty((count, width, 4), np.float32)
            _former_stage(view, scene, shadow, first, height, tiles, behind)
            _kernels.raster(screen, seen.corners, places, 0, first, closest, owner)
            _SHADE(
                view, scene, shadow, screen, seen.corners, seen.normals, seen.colors, seen.painted, seen.groups,
                places, first, closest, owner, behind, _srgb_steps(), tiles, np.empty((_SAMPLES + 4, 4)),
                np.empty(_SAMPLES, np.int32), picture[first : first + count],
            )  # fmt: skip

        list(pool.map(draw, range(0, height, _ROWS)))
    return picture
