"""What `gaitway demo` shows: a group portrait of the built-in cast, and a short performance as film and as BVH."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from PIL import Image

from gaitway._jit import compile_seconds
from gaitway.errors import GaitwayError
from gaitway.library.cast.catalog import load_cast
from gaitway.library.cast.styles import STYLES
from gaitway.motion import Clip
from gaitway.motion.blending import concatenate
from gaitway.motion.editing import place
from gaitway.motion.formats import save_clip
from gaitway.render import Box, Camera, Figure, figures_of, film, render_frame
from gaitway.render.strips import save_png
from gaitway.render.palette import person_palette

Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True)
class DemoResult:
    """What was written, and how long it took."""

    files: dict[str, Path]
    total_s: float
    compile_s: float
    """Part of it that went into compiling; 0 once the cache is warm."""


@dataclass(frozen=True)
class _Pose:
    """One figure of the portrait."""

    behavior: str
    moment: float
    """Share of the clip, 0..1."""
    at: tuple[float, float]
    """Where it stands [m]; x towards the right of the picture, y away from the camera."""
    heading_deg: float = 0.0
    cast: str = "person"


PORTRAIT = (
    _Pose("walk_forward", 0.28, (-4.3, 0.3), -60.0),
    _Pose("wave", 0.5, (-3.1, -0.5), -85.0),
    _Pose("jog_left_30", 0.55, (-1.9, 0.4), -25.0),
    _Pose("jump", 0.5, (0.1, 1.0), 0.0),
    _Pose("duck", 0.5, (2.6, 0.5), 0.0),
    _Pose("crawl_forward", 0.4, (1.1, -0.9), -35.0),
    _Pose("stand", 0.5, (-0.9, -0.6), -100.0),
    _Pose("side_left", 0.5, (4.5, -0.2), -120.0),
    _Pose("cheer", 0.5, (3.7, 1.4), -90.0),
    _Pose("gallop_left_20", 0.6, (-2.6, 3.6), -20.0, "horse"),
    _Pose("jump", 0.45, (2.6, 3.2), -150.0, "skateboarder"),
)
PORTRAIT_THINGS = (
    Box((0.1, 1.0), (0.25, 1.6), 0.40, color="#a8643f"),
    Box((2.6, 0.5), (0.12, 1.7), 0.16, bottom=1.18, color="#a8643f"),
    Box((2.6, 1.4), (0.14, 0.14), 1.34, color="#8d5434"),
    Box((2.6, -0.4), (0.14, 0.14), 1.34, color="#8d5434"),
)
PERFORMANCES = (
    ("start_walk", "walk_forward", "walk_left_30", "walk_to_jog", "jog_forward", "jump", "jog_forward", "stop_jog"),
    ("wave", "start_walk", "walk_forward", "walk_right_15", "duck", "walk_forward", "stop_walk"),
    ("start_jog", "jog_right_15", "jog_to_walk", "walk_forward", "u_turn_left", "walk_forward", "stop_walk"),
)
STARTS = ((0.0, 0.0, 0.0), (1.0, 2.2, 0.0), (0.6, -2.0, 0.0))
"""Planar start of each performance: x, y [m], heading [rad]."""


def run_demo(
    folder: str | Path,
    *,
    seed: int = 7,
    width: int = 1280,
    progress: Progress = lambda what, done, total: None,
) -> DemoResult:
    """Write the demo's files.

    Args:
        folder: where to; made if absent.
        seed: of the people's styles, colours and takes.
        width: of the portrait in pixels; the film has three quarters of it.
        progress: called with what is being done, how much of it, and of how much.

    Raises:
        GaitwayError: if the folder cannot be written.
    """
    began = time.perf_counter()
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise GaitwayError(
            f"{folder}: cannot make this folder ({problem.strerror}); choose another with --out"
        ) from None
    rng = np.random.default_rng(seed)
    progress("portrait of the cast", 0, None)
    picture = folder / "cast.png"
    draw_portrait(picture, rng, width)
    acts = perform(rng)
    movie = folder / f"performance{'.mp4' if find_spec('imageio_ffmpeg') else '.webp'}"
    film(
        acts,
        movie,
        size=(width * 3 // 4 // 2 * 2, width * 27 // 64 // 2 * 2),
        arrange="placed",
        trails=True,
        progress=lambda done, total: progress("film", done, total),
    )
    capture = folder / "performance.bvh"
    save_clip(acts[0], capture)
    files = {"picture": picture, "film": movie, "motion": capture}
    return DemoResult(files, time.perf_counter() - began, compile_seconds())


def draw_portrait(path: Path, rng: np.random.Generator, width: int) -> None:
    """Draw the cast in the middle of what it does."""
    figures: list[Figure] = []
    for number, pose in enumerate(PORTRAIT):
        style = _somebody(rng) if pose.cast == "person" else None
        library = load_cast(pose.cast, style=style, behaviors=[pose.behavior])
        clip = library.clips[library.graph[pose.behavior].clips[0]]
        frame = round(pose.moment * (len(clip) - 1))
        clip = place(clip, (*pose.at, np.radians(pose.heading_deg)), frame)
        colors = person_palette(int(rng.integers(1_000_000)) + number)
        figures += figures_of(clip, frame, colors)
    camera = Camera.around((0.1, 0.6, 0.85), azimuth=np.radians(-90.0), elevation=np.radians(12.0), distance=11.0)
    size = (width, width * 9 // 20)
    picture = render_frame(figures, camera, size=size, obstacles=PORTRAIT_THINGS, samples=8)
    save_png(Image.fromarray(picture), path)


def _somebody(rng: np.random.Generator) -> str:
    return STYLES[int(rng.integers(len(STYLES)))].name


def perform(rng: np.random.Generator) -> list[Clip]:
    """Each performance as one clip, by another style, from its own start."""
    acts = []
    for names, start in zip(PERFORMANCES, STARTS, strict=True):
        cast = load_cast("person", style=_somebody(rng), behaviors=list(dict.fromkeys(names)))
        clips = [cast.clips[cast.graph[name].clips[0]] for name in names]
        acts.append(place(concatenate(clips, overlap=False, name="performance"), start))
    return acts
