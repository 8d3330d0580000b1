"""Takes in their world as stills, strips of moments, and films."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from gaitway.core.errors import GaitwayError
from gaitway.core.progress import Progress, silent
from gaitway.render.film.encoder import MAX_FRAMES, Picture, checked_film, drawn_in_order, write_film
from gaitway.render.film.shot import FILM_SHOT, Shot
from gaitway.render.film.take_stage import TakeStage
from gaitway.render.raster.labels import save_png, text_font
from gaitway.take.data import LATEST
from gaitway.take.model import Take
from gaitway.world.world import World

_SIZE, _TILE = (1280, 720), (480, 300)
_SAMPLES, _FILM_SAMPLES = 8, 4
_STAMP = "#5b5f65"


def take_still(
    take: Take,
    time: float = 0.0,
    path: str | Path | None = None,
    shot: Shot | None = None,
    *,
    world: World | None = None,
) -> Image.Image:
    """Draw one moment of a take.

    Args:
        take: the take.
        time: the moment [s]; characters that have not come yet or have left are not shown.
        path: name of a PNG to write; None writes nothing.
        shot: camera, size (1280 x 720), light, trails, labels and more.
        world: the world of the take; None is an empty floor.

    Returns:
        The picture.
    """
    shot = shot or Shot()
    size = shot.size or _SIZE
    stage = TakeStage.of(take, world, shot.cutaway, shot.lighting)
    (camera,) = stage.cameras(shot, [checked_time(time)], size)
    picture = Image.fromarray(stage.draw(time, camera, shot, size, _SAMPLES))
    if path is not None:
        save_png(picture, path)
    return picture


def take_strip(
    take: Take,
    times: npt.ArrayLike | int = 8,
    path: str | Path | None = None,
    shot: Shot | None = None,
    *,
    world: World | None = None,
    columns: int = 4,
) -> Image.Image:
    """Draw several moments of a take in rows of pictures, each with its time.

    Args:
        take: the take.
        times: moments [s], or their number, spread over the take.
        path: name of a PNG to write; None writes nothing.
        shot: camera, size of each picture (480 x 300), light, trails, labels and more.
        world: the world of the take; None is an empty floor.
        columns: number of pictures in a row.

    Returns:
        The picture.
    """
    shot = shot or Shot()
    tile = shot.size or _TILE
    moments = _moments(take, times)
    if columns < 1:
        raise GaitwayError(f"a strip of {columns} columns; write 1 or more")
    stage = TakeStage.of(take, world, shot.cutaway, shot.lighting)
    cameras = stage.cameras(shot, moments, tile)
    sheet = Image.new("RGB", (min(columns, len(moments)) * tile[0], -(-len(moments) // columns) * tile[1]))
    pen = ImageDraw.Draw(sheet)
    for i, (moment, camera) in enumerate(zip(moments, cameras, strict=True)):
        corner = (i % columns * tile[0], i // columns * tile[1])
        sheet.paste(Image.fromarray(stage.draw(moment, camera, shot, tile, _SAMPLES)), corner)
        words = (corner[0] + 10, corner[1] + 8), f"{moment:.2f} s"
        pen.text(*words, fill=_STAMP, font=text_font(14), stroke_width=2, stroke_fill="#f6f6f4")
    if path is not None:
        save_png(sheet, path)
    return sheet


def take_film(
    take: Take,
    path: str | Path,
    shot: Shot | None = None,
    *,
    world: World | None = None,
    fps: float | None = None,
    start: float = 0.0,
    end: float | None = None,
    quality: int = 80,
    threads: int | None = None,
    progress: Progress = silent,
) -> Path:
    """Write a take as a film. No file is left if the call is interrupted.

    Args:
        take: the take.
        path: name of the file; it ends in .mp4 (needs the extra `video`) or .webp.
        shot: camera, size (1280 x 720), light, trails, labels and more. None takes `FILM_SHOT`: an automatic camera,
            and obstacles cut off at 1.2 m.
        world: the world of the take; None is an empty floor.
        fps: frames a second [Hz]; None takes the rate of the take.
        start: time at which the film begins [s].
        end: time at which it ends [s]; None is the end of the take.
        quality: 1..100; more is sharper and larger.
        threads: number of frames that are drawn at the same time; the pictures are the same for any number. None takes
            one for each core.
        progress: called after each frame.

    Returns:
        The path of the film.
    """
    shot = shot or FILM_SHOT
    target, size = checked_film(path, quality, shot.size or _SIZE)
    rate = take.fps if fps is None else float(fps)
    times = _film_times(take, start, end, rate)
    stage = TakeStage.of(take, world, shot.cutaway, shot.lighting)
    cameras = stage.cameras(shot, times, size)
    samples = _FILM_SAMPLES if shot.samples is None else shot.samples
    film_set = stage.film_set(shot, times, cameras, size)
    stands = all(camera is cameras[0] for camera in cameras)
    plate = film_set.plate(cameras[0], size, samples) if stands else None

    def draw(frame: int) -> Picture:
        return stage.film_frame(film_set, plate, times[frame], cameras[frame], shot, size, samples)

    def pictures() -> Iterator[Picture]:
        for done, picture in enumerate(drawn_in_order(draw, len(times), threads), 1):
            progress(target.name, done, len(times))
            yield picture

    write_film(target, pictures(), len(times), size, rate, quality)
    return target


def _moments(take: Take, times: npt.ArrayLike | int) -> list[float]:
    if isinstance(times, int):
        times = np.linspace(0.0, take.duration, max(times, 0))
    moments = [checked_time(float(t)) for t in np.atleast_1d(np.asarray(times, dtype=np.float64))]
    if not 1 <= len(moments) <= 400:
        raise GaitwayError(f"a strip of {len(moments)} moments; write 1 to 400")
    return moments


def _film_times(take: Take, start: float, end: float | None, fps: float) -> list[float]:
    last = take.duration if end is None else end
    if not (0.0 <= start <= last <= LATEST and 0.0 < fps < np.inf):
        raise GaitwayError(f"a film from {start} s to {last} s at {fps} Hz; the take lasts {take.duration:.2f} s")
    count = int((last - start) * fps + 1e-6) + 1
    if count > MAX_FRAMES:
        raise GaitwayError(f"a film of {count} frames is too long; at most {MAX_FRAMES} can be written")
    return [start + i / fps for i in range(count)]


def checked_time(time: float) -> float:
    """Return a time of a take [s].

    Raises:
        GaitwayError: if it is none.
    """
    if not 0.0 <= time <= LATEST:
        raise GaitwayError(f"time {time:g} s; write one from 0 to {LATEST:g}")
    return float(time)
