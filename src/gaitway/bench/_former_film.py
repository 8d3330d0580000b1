"""Films as they were written before: every frame drawn as a whole, one after the other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

from gaitway.bench._former_kernels import former_raster, former_raster_both, former_shade, former_stage
from gaitway.core.arrays import FloatArray
from gaitway.render.bodies.figures import figure_parts
from gaitway.render.film.encoder import Picture, write_film
from gaitway.render.film.shot import Shot
from gaitway.render.film.take_stage import TakeStage
from gaitway.render.raster import _kernels, shadows
from gaitway.render.raster._kernels import Index, Shadow
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

    if path.suffix == ".webp":
        write_film(path, pictures(), frames, size, fps)
        return
    import imageio_ffmpeg  # noqa: PLC0415  (an extra)

    params = ["-crf", "18", "-preset", "medium", "-movflags", "+faststart"]
    writer = imageio_ffmpeg.write_frames(
        str(path), size, fps=fps, codec="libx264", quality=None, macro_block_size=1, output_params=params
    )
    writer.send(None)
    for picture in pictures():
        writer.send(np.ascontiguousarray(picture))
    writer.close()


def _former_shadow(points: FloatArray, corners: Index, light: FloatArray, texel: float, pool: Executor) -> Shadow:
    """Draw all shadows anew."""
    nothing = np.empty((0, 0), np.float32), np.empty((0, 0), np.uint8), np.empty((0, 0), np.float32)

    def drawn(frame: shadows.ShadowFrame) -> shadows.ShadowPicture:
        screen = np.empty((len(points), 3))
        _kernels.project(points, frame.view, screen)
        closest, farthest = np.full(frame.size, -np.inf, np.float32), np.full(frame.size, np.inf, np.float32)
        former_raster_both(screen, corners, closest, farthest)
        made = shadows.ShadowPicture(frame.view, closest, farthest, *nothing, frame.blurs, frame.floor)
        return replace(made, dark=made.shaded())

    sky = pool.submit(lambda: drawn(shadows.sky_frame(points, texel)))
    return shadows.both(drawn(shadows.light_frame(points, light, texel)), sky.result())


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
        shadow = _former_shadow(points, casters, light, nearest_texel(camera, points, height), pool)
        seen = seen_triangles(triangles, camera)
        screen = np.empty((len(seen.points), 3))
        _kernels.project(seen.points, view, screen)

        def draw(first: int) -> None:
            count = min(_ROWS, height - first)
            closest = np.full((count, width, _SAMPLES), -np.inf, np.float32)
            owner = np.full((count, width, _SAMPLES), -1, np.int32)
            behind = np.empty((count, width, 4), np.float32)
            former_stage(view, scene, shadow, first, height, tiles, behind)
            former_raster(screen, seen.corners, places, 0, first, closest, owner)
            former_shade(
                view, scene, shadow, screen, seen.corners, seen.normals, seen.colors, seen.painted, seen.groups,
                places, first, closest, owner, behind, _srgb_steps(), tiles, np.empty((_SAMPLES + 4, 4)),
                np.empty(_SAMPLES, np.int32), picture[first : first + count],
            )  # fmt: skip

        list(pool.map(draw, range(0, height, _ROWS)))
    return picture
