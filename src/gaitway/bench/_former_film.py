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
            _shading_kernels.stage(view, scene, shadow, first, height, tiles, behind)
            _kernels.raster(screen, seen.corners, places, 0, first, closest, owner)
            _SHADE(
                view, scene, shadow, screen, seen.corners, seen.normals, seen.colors, seen.painted, seen.groups,
                places, first, closest, owner, behind, _srgb_steps(), tiles, np.empty((_SAMPLES + 4, 4)),
                np.empty(_SAMPLES, np.int32), picture[first : first + count],
            )  # fmt: skip

        list(pool.map(draw, range(0, height, _ROWS)))
    return picture
