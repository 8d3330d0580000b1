"""Films: clips played in front of a camera, to MP4 or animated WebP, and sheets of successive frames."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from gaitway.core.errors import FormatError, GaitwayError, MissingExtraError
from gaitway.core.files import atomic_write
from gaitway.motion.clip import Clip
from gaitway.render.bodies.body import BodyShape
from gaitway.render.bodies.palette import Palette, study_palette
from gaitway.render.film.staging import Stage, film_rate, following_cameras, set_stage, still_camera
from gaitway.render.raster.camera import Camera
from gaitway.render.raster.picture import Studio, render_frame
from gaitway.render.raster.things import Paint, Solid
from gaitway.render.sheets.strips import save_png

Picture = npt.NDArray[np.uint8]
Progress = Callable[[int, int], None]
MAX_FRAMES = 36_000
"""Longest film: ten minutes at 60 Hz."""


def film(
    clips: Clip | Sequence[Clip],
    path: str | Path,
    *,
    fps: float | None = None,
    size: tuple[int, int] = (960, 540),
    view: str | float = "three-quarter",
    elevation: float = np.radians(14.0),
    follow: bool = True,
    camera: Camera | None = None,
    arrange: str = "row",
    trails: bool = False,
    obstacles: Sequence[Solid] = (),
    paint: Sequence[Paint] = (),
    colors: Sequence[Palette] | Palette | None = None,
    body: BodyShape | None = None,
    studio: Studio | None = None,
    samples: int = 4,
    quality: int = 80,
    progress: Progress | None = None,
) -> Path:
    """Play clips together and write them as a film. Nothing is left behind if it is interrupted.

    Args:
        clips: one or more; a short one holds its last pose until the longest ends.
        path: a name that ends in .mp4 (needs the extra `video`) or .webp.
        fps: frames a second; None takes the clips' own rate, at most 60.
        size: width and height in pixels; an MP4 takes even numbers and rounds down.
        view: "side", "front", "three-quarter", "back", "top", or the camera's bearing [rad] (0 stands on +X).
        elevation: of the camera over the horizon [rad].
        follow: the camera goes along with the group; otherwise it stands where it sees the whole way.
        camera: a camera of your own, which stands still.
        arrange: "row" starts everybody facing +X side by side; "placed" leaves clips where they are.
        trails: draw each root's path so far on the floor.
        obstacles: solids that stand there all the time.
        paint: trails and marks that are on the floor all the time.
        colors: one palette for all, or one each; None draws a different one for each.
        body: recipe of the bodies; None makes them from the bones.
        studio: light and floor.
        samples: places looked at in each pixel (1, 4, 8 or 16).
        quality: 1..100; more is sharper and larger.
        progress: called with (frames done, frames in all) after each frame.

    Returns:
        The path written.
    """
    target, size = checked_film(path, quality, size)
    _check_length([clips] if isinstance(clips, Clip) else clips, fps)
    stage = set_stage(clips, arrange=arrange, fps=fps, colors=colors, body=body)
    cameras = _cameras(stage, view, elevation, size, follow, camera)

    def draw(frame: int) -> Picture:
        under = [*paint, *(stage.trails(frame) if trails else ())]
        picture = render_frame(
            stage.figures(frame),
            cameras[frame],
            size=size,
            obstacles=obstacles,
            paint=under,
            studio=studio,
            samples=samples,
        )
        if progress is not None:
            progress(frame + 1, len(stage))
        return picture

    write_film(target, (draw(f) for f in range(len(stage))), len(stage), size, stage.fps, quality)
    return target


def checked_film(path: str | Path, quality: int, size: tuple[int, int]) -> tuple[Path, tuple[int, int]]:
    """The file and the size of a film, or an error before any work is done.

    Returns:
        The path, and the size as the format can have it: even numbers for MP4.
    """
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in (".mp4", ".webp"):
        raise GaitwayError(f"{target}: a film's name must end in .mp4 or .webp")
    if not 1 <= quality <= 100:
        raise GaitwayError(f"film quality {quality}; write a number from 1 to 100")
    if kind == ".mp4":
        _ffmpeg()
        size = (max(2, size[0] // 2 * 2), max(2, size[1] // 2 * 2))
    return target, size


def _check_length(clips: Sequence[Clip], fps: float | None) -> None:
    """Refuse what would take hours, before any memory is taken for it."""
    rate = film_rate(clips) if fps is None and clips else float(fps or 0.0)
    frames = max((clip.duration for clip in clips), default=0.0) * rate
    if frames > MAX_FRAMES:
        raise GaitwayError(f"a film of {frames:.0f} frames is too long; at most {MAX_FRAMES} can be written")


def _cameras(
    stage: Stage, view: str | float, elevation: float, size: tuple[int, int], follow: bool, camera: Camera | None
) -> list[Camera]:
    if camera is not None:
        return [camera] * len(stage)
    if follow:
        return following_cameras(stage, view, elevation, size)
    return [still_camera(stage, range(len(stage)), view, elevation, size)] * len(stage)


def write_film(
    path: str | Path, pictures: Iterator[Picture], count: int, size: tuple[int, int], fps: float, quality: int = 80
) -> None:
    """Write pictures as they come; the file takes its name only when it is complete.

    Args:
        path: ends in .mp4 or .webp.
        pictures: sRGB pictures (height, width, 3), `count` of them.
        count: how many come.
        size: width and height in pixels; even numbers for MP4.
        fps: frames a second.
        quality: 1..100.
    """
    if Path(path).suffix.lower() == ".webp":
        with atomic_write(path) as file:
            _Reel(pictures, count, size).save(
                file, format="WEBP", save_all=True, duration=1000.0 / fps, loop=0, quality=quality, method=2
            )
        return
    # ffmpeg wants a name of its own to write to, so the film is made in a scratch folder and then copied
    with tempfile.TemporaryDirectory(prefix="gaitway-") as folder, atomic_write(path) as file:
        scratch = Path(folder) / "film.mp4"
        _encode_mp4(scratch, pictures, size, fps, quality)
        with scratch.open("rb") as made:
            shutil.copyfileobj(made, file)


def _encode_mp4(path: Path, pictures: Iterator[Picture], size: tuple[int, int], fps: float, quality: int) -> None:
    writer = _ffmpeg().write_frames(
        str(path),
        size,
        fps=fps,
        codec="libx264",
        quality=None,
        macro_block_size=1,
        output_params=["-crf", str(round(36 - 0.22 * quality)), "-preset", "medium", "-movflags", "+faststart"],
    )
    try:
        writer.send(None)
        for picture in pictures:
            writer.send(np.ascontiguousarray(picture))
    except OSError as problem:
        raise FormatError(path, f"the video encoder stopped: {str(problem).splitlines()[0]}") from None
    finally:
        writer.close()


def _ffmpeg() -> Any:
    try:
        import imageio_ffmpeg  # noqa: PLC0415  (an extra)
    except ImportError:
        raise MissingExtraError("writing MP4 (animated .webp works without)", "video") from None
    return imageio_ffmpeg


class _Reel(Image.Image):
    """Pictures that are drawn when Pillow asks for them, so that a film never lies in memory as a whole."""

    def __init__(self, pictures: Iterator[Picture], count: int, size: tuple[int, int]) -> None:
        super().__init__()
        self._pictures, self._at = pictures, -1
        self.n_frames = count
        self._mode, self._size = "RGB", size
        self.seek(0)

    def seek(self, frame: int) -> None:
        """Draw the next picture; Pillow goes through them in order and ends where it began."""
        if frame == self._at + 1 < self.n_frames:
            self.im = Image.fromarray(next(self._pictures)).im
            self._at = frame

    def tell(self) -> int:
        """Where Pillow returns to when it is done: nowhere."""
        return self.n_frames


def contact_sheet(
    clips: Clip | Sequence[Clip],
    path: str | Path | None = None,
    *,
    start: int = 0,
    count: int = 24,
    every: int = 1,
    columns: int = 6,
    tile: tuple[int, int] = (260, 260),
    fps: float | None = None,
    view: str | float = "side",
    elevation: float = np.radians(8.0),
    arrange: str = "row",
    colors: Sequence[Palette] | Palette | None = None,
    body: BodyShape | None = None,
    samples: int = 8,
) -> Image.Image:
    """Successive frames of a film in rows of small pictures with their numbers: for finding pops.

    Args:
        clips: one or more.
        path: where to write a PNG; None writes nothing.
        start: first frame.
        count: most frames.
        every: 1 shows every frame, 2 every other.
        columns: pictures in a row.
        tile: width and height of each picture in pixels.
        fps: frames a second; None takes the clips' own rate, at most 60.
        view: as in `film`; the camera goes along.
        elevation: of the camera over the horizon [rad].
        arrange: "row" or "placed", as in `film`.
        colors: one palette for all, or one each; None has warm left and cool right limbs.
        body: recipe of the bodies.
        samples: places looked at in each pixel (1, 4, 8 or 16).
    """
    stage = set_stage(clips, arrange=arrange, fps=fps, colors=study_palette() if colors is None else colors, body=body)
    frames = range(start, len(stage), every)[:count] if start >= 0 and every > 0 else range(0)
    if len(frames) == 0 or columns < 1:
        raise GaitwayError(f"no frames from {start} by {every} in {columns} columns; the film has {len(stage)} frames")
    cameras = following_cameras(stage, view, elevation, tile)
    sheet = Image.new("RGB", (min(columns, len(frames)) * tile[0], -(-len(frames) // columns) * tile[1]))
    pen = ImageDraw.Draw(sheet)
    for i, frame in enumerate(frames):
        corner = (i % columns * tile[0], i // columns * tile[1])
        picture = render_frame(stage.figures(frame), cameras[frame], size=tile, samples=samples)
        sheet.paste(Image.fromarray(picture), corner)
        pen.text((corner[0] + 8, corner[1] + 6), str(frame), fill="#6b6f74", font=ImageFont.load_default(13))
    if path is not None:
        save_png(sheet, path)
    return sheet
