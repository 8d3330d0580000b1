"""A take in its world: stills, strips of moments, and films."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from gaitway.core.errors import GaitwayError
from gaitway.render.film.movies import MAX_FRAMES, Picture, Progress, checked_film, write_film
from gaitway.render.film.take_stage import TakeStage
from gaitway.render.labels import text_font
from gaitway.render.raster.camera import Camera
from gaitway.render.raster.picture import Studio, checked_size, render_frame
from gaitway.render.sheets.strips import save_png
from gaitway.take.model import Take
from gaitway.world.world import World

CAMERAS = ("overview", "follow")
_STAMP = "#5b5f65"


def take_still(
    take: Take,
    time: float = 0.0,
    path: str | Path | None = None,
    *,
    world: World | None = None,
    camera: str | Camera | None = None,
    who: Sequence[str] | None = None,
    size: tuple[int, int] = (1280, 720),
    trails: float = 0.0,
    labels: bool | Sequence[str] = False,
    cutaway: float | None = None,
    studio: Studio | None = None,
    samples: int = 8,
) -> Image.Image:
    """One moment of a take.

    Args:
        take: what happens.
        time: when [s]; who has not come yet or has left is not there.
        path: where to write a PNG; None writes nothing.
        world: where it happens; None is an empty floor.
        camera: "overview" sees the whole world, "follow" the people, or a camera of your own; None takes the overview
            where there is a world, and else follows.
        who: names of those that the camera follows; None is everybody.
        size: width and height in pixels.
        trails: seconds of their way that people leave behind them on the ground; inf for all of it.
        labels: write names over heads: of all (unless there are too many to read), or of these.
        cutaway: height above the ground at which things are cut off [m], to see into rooms; None cuts nothing.
        studio: light and floor.
        samples: places looked at in each pixel (1, 4, 8 or 16).
    """
    stage = TakeStage.of(take, world, cutaway, studio)
    view = _cameras(stage, camera or _usual(world), who, [_checked_time(time)], size)[0]
    picture = Image.fromarray(_draw(stage, time, view, size, trails, labels, samples))
    if path is not None:
        save_png(picture, path)
    return picture


def take_strip(
    take: Take,
    times: npt.ArrayLike | int = 8,
    path: str | Path | None = None,
    *,
    world: World | None = None,
    camera: str | Camera | None = None,
    who: Sequence[str] | None = None,
    tile: tuple[int, int] = (480, 300),
    columns: int = 4,
    trails: float = 0.0,
    labels: bool | Sequence[str] = False,
    cutaway: float | None = None,
    studio: Studio | None = None,
    samples: int = 8,
) -> Image.Image:
    """Several moments in rows of pictures, each with its time.

    Args:
        take: what happens.
        times: moments [s], or how many to spread over the take.
        path: where to write a PNG; None writes nothing.
        world: where it happens; None is an empty floor.
        camera: as in `take_still`.
        who: names of those that the camera follows; None is everybody.
        tile: width and height of each picture in pixels.
        columns: pictures in a row.
        trails: seconds of their way that people leave behind them; inf for all of it.
        labels: write names over heads: of all (unless there are too many to read), or of these.
        cutaway: height at which things are cut off [m].
        studio: light and floor.
        samples: places looked at in each pixel (1, 4, 8 or 16).
    """
    moments = _moments(take, times)
    if columns < 1:
        raise GaitwayError(f"a strip of {columns} columns; write 1 or more")
    stage = TakeStage.of(take, world, cutaway, studio)
    cameras = _cameras(stage, camera or _usual(world), who, moments, tile)
    sheet = Image.new("RGB", (min(columns, len(moments)) * tile[0], -(-len(moments) // columns) * tile[1]))
    pen = ImageDraw.Draw(sheet)
    for i, (moment, view) in enumerate(zip(moments, cameras, strict=True)):
        corner = (i % columns * tile[0], i // columns * tile[1])
        sheet.paste(Image.fromarray(_draw(stage, moment, view, tile, trails, labels, samples)), corner)
        words = (corner[0] + 10, corner[1] + 8), f"{moment:.2f} s"
        pen.text(*words, fill=_STAMP, font=text_font(14), stroke_width=2, stroke_fill="#f6f6f4")
    if path is not None:
        save_png(sheet, path)
    return sheet


def take_film(
    take: Take,
    path: str | Path,
    *,
    world: World | None = None,
    fps: float | None = None,
    start: float = 0.0,
    end: float | None = None,
    camera: str | Camera | None = None,
    who: Sequence[str] | None = None,
    size: tuple[int, int] = (1280, 720),
    trails: float = 0.0,
    labels: bool | Sequence[str] = False,
    cutaway: float | None = None,
    studio: Studio | None = None,
    samples: int = 4,
    quality: int = 80,
    progress: Progress | None = None,
) -> Path:
    """Write a take as a film. Nothing is left behind if it is interrupted.

    Args:
        take: what happens.
        path: a name that ends in .mp4 (needs the extra `video`) or .webp.
        world: where it happens; None is an empty floor.
        fps: frames a second; None takes the take's own rate.
        start: when the film begins [s].
        end: when it ends [s]; None is the end of the take.
        camera: "overview" stands still and sees the whole world, "follow" goes along with the people, or a camera of
            your own, which stands still.
        who: names of those that the camera follows; None is everybody.
        size: width and height in pixels; an MP4 takes even numbers and rounds down.
        trails: seconds of their way that people leave behind them; inf for all of it.
        labels: write names over heads: of all (unless there are too many to read), or of these.
        cutaway: height at which things are cut off [m].
        studio: light and floor.
        samples: places looked at in each pixel (1, 4, 8 or 16).
        quality: 1..100; more is sharper and larger.
        progress: called with (frames done, frames in all) after each frame.

    Returns:
        The path written.
    """
    target, size = checked_film(path, quality, size)
    rate = take.fps if fps is None else float(fps)
    times = _film_times(take, start, end, rate)
    stage = TakeStage.of(take, world, cutaway, studio)
    cameras = _cameras(stage, camera or _usual(world), who, times, size)

    def draw(frame: int) -> Picture:
        picture = _draw(stage, times[frame], cameras[frame], size, trails, labels, samples)
        if progress is not None:
            progress(frame + 1, len(times))
        return picture

    write_film(target, (draw(f) for f in range(len(times))), len(times), size, rate, quality)
    return target


def _draw(
    stage: TakeStage,
    time: float,
    camera: Camera,
    size: tuple[int, int],
    trails: float,
    labels: bool | Sequence[str],
    samples: int,
) -> Picture:
    ribbons, paint = stage.trails(time, trails)
    names = [] if labels is False else stage.labels(time, None if labels is True else labels)
    return render_frame(
        stage.figures(time),
        camera,
        size=size,
        obstacles=[*stage.place.solids(time), *ribbons],
        paint=[*stage.place.paint, *paint],
        labels=names,
        studio=stage.studio,
        samples=samples,
    )


def _usual(world: World | None) -> str:
    return "follow" if world is None else "overview"


def _cameras(
    stage: TakeStage, camera: str | Camera, who: Sequence[str] | None, times: Sequence[float], size: tuple[int, int]
) -> list[Camera]:
    """One camera a moment."""
    checked_size(size)
    if isinstance(camera, Camera):
        return [camera] * len(times)
    if camera == "overview":
        return [stage.place.overview(size)] * len(times)
    if camera == "follow":
        return stage.following(times, size, who)
    raise GaitwayError(f"camera '{camera}' is not known; write {' or '.join(CAMERAS)}, or give a Camera")


def _moments(take: Take, times: npt.ArrayLike | int) -> list[float]:
    if isinstance(times, int):
        times = np.linspace(0.0, take.duration, max(times, 0))
    moments = [_checked_time(float(t)) for t in np.atleast_1d(np.asarray(times, dtype=np.float64))]
    if not 1 <= len(moments) <= 400:
        raise GaitwayError(f"a strip of {len(moments)} moments; write 1 to 400")
    return moments


def _film_times(take: Take, start: float, end: float | None, fps: float) -> list[float]:
    last = take.duration if end is None else end
    if not (np.isfinite([start, last, fps]).all() and 0.0 <= start <= last and fps > 0.0):
        raise GaitwayError(f"a film from {start} s to {last} s at {fps} Hz; the take lasts {take.duration:.2f} s")
    count = int((last - start) * fps + 1e-6) + 1
    if count > MAX_FRAMES:
        raise GaitwayError(f"a film of {count} frames is too long; at most {MAX_FRAMES} can be written")
    return [start + i / fps for i in range(count)]


def _checked_time(time: float) -> float:
    if not (np.isfinite(time) and time >= 0.0):
        raise GaitwayError(f"time {time} s; write 0 or more")
    return float(time)
