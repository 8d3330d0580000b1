"""Film files: pictures encoded as MP4 or animated WebP while they are drawn."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from gaitway.core.errors import FormatError, GaitwayError, MissingExtraError
from gaitway.core.files import atomic_path, atomic_write
from gaitway.render.raster._kernels import video_planes

Picture = npt.NDArray[np.uint8]
"""sRGB; (height, width, 3)."""
MAX_FRAMES = 36_000
"""Largest number of frames of a film: ten minutes at 60 Hz."""
_COLORS = ["-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv"]
"""How brightness and colour of an MP4 are to be read; without it players guess, and colours look off."""
_SEARCH = ["-x264-params", "subme=1:me=dia"]
"""How x264 looks for motion. Drawn pictures have no grain: a longer search takes up to a third more time for files that
are 3 to 5 % smaller."""


def checked_film(path: str | Path, quality: int, size: tuple[int, int]) -> tuple[Path, tuple[int, int]]:
    """Check the file, the quality and the size of a film before any work is done.

    Returns:
        The path, and a size [px] that the format allows: even numbers for MP4.

    Raises:
        GaitwayError: for another ending or a quality out of range.
        MissingExtraError: for MP4, if the extra `video` is not installed.
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


def drawn_in_order(draw: Callable[[int], Picture], count: int, threads: int | None = None) -> Iterator[Picture]:
    """Draw pictures on several threads and yield them in order, while later ones are being drawn.

    Args:
        draw: draws the picture of a number. It must not depend on the pictures before it.
        count: number of pictures.
        threads: number of threads; None takes one for each core.
    """
    workers = max(1, threads or os.cpu_count() or 1)
    with ThreadPoolExecutor(workers) as pool:
        ahead: deque[Future[Picture]] = deque()
        try:
            for number in range(count):
                ahead.append(pool.submit(draw, number))
                if len(ahead) > 2 * workers:  # no film is ever in memory as a whole
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for waiting in ahead:
                waiting.cancel()


def write_film(
    path: str | Path,
    pictures: Iterator[Picture],
    count: int,
    size: tuple[int, int],
    fps: float,
    quality: int = 80,
    preset: str = "veryfast",
) -> None:
    """Write pictures while they are drawn; the file gets its name only when it is complete.

    Args:
        path: name of the file; it ends in .mp4 or .webp.
        pictures: the pictures, `count` of them.
        count: number of pictures.
        size: width and height [px]; even numbers for MP4.
        fps: frames a second [Hz].
        quality: 1..100; more is sharper and larger.
        preset: how much time x264 takes to find smaller files; slower ones gain next to nothing here.
    """
    if Path(path).suffix.lower() == ".webp":
        with atomic_write(path) as file:
            _Reel(pictures, count, size).save(
                file, format="WEBP", save_all=True, duration=1000.0 / fps, loop=0, quality=quality, method=2
            )
        return
    with atomic_path(path) as scratch:
        _encode_mp4(scratch.absolute(), pictures, size, fps, quality, preset)
        if not _is_whole_mp4(scratch):  # ffmpeg may end early and say so to nobody
            raise FormatError(path, "cannot be written: the video encoder stopped early; is there room on the disk?")


def _encode_mp4(
    path: Path, pictures: Iterator[Picture], size: tuple[int, int], fps: float, quality: int, preset: str
) -> None:
    writer = _ffmpeg().write_frames(
        str(path),
        size,
        pix_fmt_in="yuv420p",
        fps=fps,
        codec="libx264",
        quality=None,
        macro_block_size=1,
        ffmpeg_log_level="fatal",
        input_params=_COLORS,
        output_params=[
            *_COLORS,
            "-crf",
            str(round(36 - 0.22 * quality)),
            "-preset",
            preset,
            *_SEARCH,
            "-movflags",
            "+faststart",
        ],
    )
    planes = np.empty(size[0] * size[1] * 3 // 2, np.uint8)
    try:
        writer.send(None)
        for picture in pictures:
            video_planes(np.ascontiguousarray(picture), planes)
            writer.send(planes)
    except OSError as problem:
        raise FormatError(path, f"the video encoder stopped: {str(problem).splitlines()[0]}") from None
    finally:
        writer.close()


def _is_whole_mp4(path: Path) -> bool:
    """Return whether the boxes of a film fill its file, and the pictures and their index are among them."""
    kinds, at, size = set(), 0, path.stat().st_size
    with path.open("rb") as file:
        while at < size:
            file.seek(at)
            head = file.read(16)
            length = int.from_bytes(head[:4], "big")
            length = int.from_bytes(head[8:16], "big") if length == 1 else length
            if length < 8 or at + length > size:
                return False
            kinds.add(head[4:8])
            at += length
    return {b"moov", b"mdat"} <= kinds


def _ffmpeg() -> Any:
    try:
        import imageio_ffmpeg  # noqa: PLC0415  (an extra)
    except ImportError:
        raise MissingExtraError("writing MP4 (animated .webp works without)", "video") from None
    return imageio_ffmpeg


class _Reel(Image.Image):
    """Pictures that are drawn when Pillow asks for them, so that no film is ever in memory as a whole."""

    def __init__(self, pictures: Iterator[Picture], count: int, size: tuple[int, int]) -> None:
        super().__init__()
        self._pictures, self._at = pictures, -1
        self.n_frames = count
        self._mode, self._size = "RGB", size
        self.seek(0)

    def seek(self, frame: int) -> None:
        """Draw the next picture. Pillow asks for them in order and then returns to where it began."""
        if frame == self._at + 1 < self.n_frames:
            self.im = Image.fromarray(next(self._pictures)).im
            self._at = frame

    def tell(self) -> int:
        """Return the position that Pillow returns to when it is done: after the last frame, where nothing is drawn."""
        return self.n_frames
