"""Clips as stills and films."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from gaitway.core.errors import GaitwayError
from gaitway.core.progress import Progress, silent
from gaitway.motion.clip import Clip
from gaitway.render.bodies.body import BodyShape
from gaitway.render.bodies.palette import Palette
from gaitway.render.film.clip_stage import film_rate, set_stage
from gaitway.render.film.encoder import MAX_FRAMES, Picture, checked_film, write_film
from gaitway.render.film.shot import Shot
from gaitway.render.raster.labels import save_png

_FILM_SIZE, _STILL_SIZE = (960, 540), (1280, 720)
_FILM_SAMPLES, _STILL_SAMPLES = 4, 16


def still(
    clips: Clip | Sequence[Clip],
    path: str | Path | None = None,
    shot: Shot | None = None,
    *,
    time: float = 0.0,
    arrange: str = "row",
    colors: Sequence[Palette] | Palette | None = None,
    body: BodyShape | None = None,
) -> Image.Image:
    """Draw one moment of one or more clips.

    Args:
        clips: the characters in the picture.
        path: name of a PNG to write; None writes nothing.
        shot: camera, size (1280 x 720), light, trails and more. Endless trails show the whole paths.
        time: time since the start of the clips [s]; a clip that has ended holds its last pose.
        arrange: "row" starts all characters side by side, facing +X; "placed" leaves clips where they are.
        colors: one palette for all, or one each; None draws a different one for each.
        body: recipe of the bodies; None makes them from the bones.

    Returns:
        The picture.
    """
    shot = shot or Shot()
    size = shot.size or _STILL_SIZE
    stage = set_stage(clips, arrange=arrange, colors=colors, body=body, side_tint=0.0)
    frame = stage.frame_at(time)
    (camera,) = stage.cameras(shot, size, [frame])
    picture = Image.fromarray(stage.draw(frame, camera, shot, size, _STILL_SAMPLES, whole_paths=True))
    if path is not None:
        save_png(picture, path)
    return picture


def film(
    clips: Clip | Sequence[Clip],
    path: str | Path,
    shot: Shot | None = None,
    *,
    fps: float | None = None,
    arrange: str = "row",
    colors: Sequence[Palette] | Palette | None = None,
    body: BodyShape | None = None,
    quality: int = 80,
    progress: Progress = silent,
) -> Path:
    """Play clips together and write them as a film. No file is left if the call is interrupted.

    Args:
        clips: one clip or more; a short one holds its last pose until the longest ends.
        path: name of the file; it ends in .mp4 (needs the extra `video`) or .webp.
        shot: camera, size (960 x 540), light, trails and more.
        fps: frames a second [Hz]; None takes the rate of the clips, at most 60.
        arrange: "row" starts all characters side by side, facing +X; "placed" leaves clips where they are.
        colors: one palette for all, or one each; None draws a different one for each.
        body: recipe of the bodies; None makes them from the bones.
        quality: 1..100; more is sharper and larger.
        progress: called after each frame.

    Returns:
        The path of the film.
    """
    shot = shot or Shot()
    target, size = checked_film(path, quality, shot.size or _FILM_SIZE)
    _check_length([clips] if isinstance(clips, Clip) else clips, fps)
    stage = set_stage(clips, arrange=arrange, fps=fps, colors=colors, body=body)
    cameras = stage.cameras(shot, size)

    def draw(frame: int) -> Picture:
        picture = stage.draw(frame, cameras[frame], shot, size, _FILM_SAMPLES)
        progress(target.name, frame + 1, len(stage))
        return picture

    write_film(target, (draw(f) for f in range(len(stage))), len(stage), size, stage.fps, quality)
    return target


def _check_length(clips: Sequence[Clip], fps: float | None) -> None:
    """Refuse a film that would take hours, before any memory is taken for it."""
    rate = film_rate(clips) if fps is None and clips else float(fps or 0.0)
    frames = max((clip.duration for clip in clips), default=0.0) * rate
    if frames > MAX_FRAMES:
        raise GaitwayError(f"a film of {frames:.0f} frames is too long; at most {MAX_FRAMES} can be written")
