"""The demonstration of `gaitway demo`: thirty people cross a square; planned, audited, drawn, filmed and exported."""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from PIL import Image

from gaitway.audit import Report, audit_take
from gaitway.cast.catalog import load_cast
from gaitway.cast.person.styles import STYLES
from gaitway.core.errors import GaitwayError
from gaitway.core.jit import compile_seconds
from gaitway.core.progress import Progress, silent
from gaitway.export.glb import export_glb
from gaitway.motion.editing import place
from gaitway.planning import Planned, plan_scene
from gaitway.render import Camera, Figure, Shot, figures_of, render_frame
from gaitway.render.bodies.body import built_in_palette, individual_shape
from gaitway.render.film.scenery import Scenery
from gaitway.render.film.takes import take_film, take_still, take_strip
from gaitway.render.raster.labels import save_png
from gaitway.take import save_take
from gaitway.world import Box, Obstacle, World

FROM_ABOVE_DEG = 30.0
"""Angle of view of the picture from above [degrees]."""


@dataclass(frozen=True)
class DemoResult:
    """Results of the demonstration: the take, its audit, the files, and the times."""

    planned: Planned
    report: Report
    """Audit of the take."""
    files: dict[str, Path]
    seconds: dict[str, float]
    """Time to write each file [s]."""
    total_s: float
    compile_s: float
    """Part of `total_s` that was spent on compiling [s]; 0 once the cache is warm."""


@dataclass(frozen=True)
class _PortraitPose:
    """One figure of the portrait."""

    behavior: str
    moment: float | None
    """Share of the clip that is shown, 0..1; None is the moment at which the character passes its obstacle."""
    at: tuple[float, float]
    """Position of the figure [m]; x towards the right of the picture, y away from the camera."""
    heading_deg: float = 0.0
    cast: str = "person"


PORTRAIT = (
    _PortraitPose("walk_forward", 0.28, (-3.9, 0.2), -55.0),
    _PortraitPose("wave", 0.5, (-2.95, -0.5), -85.0),
    _PortraitPose("jog_left_30", 0.5, (-1.75, 0.1), -25.0),
    _PortraitPose("jump", None, (0.1, 0.9), 0.0),
    _PortraitPose("duck", None, (2.3, 0.5), 0.0),
    _PortraitPose("crawl_forward", 0.4, (1.0, -0.9), -35.0),
    _PortraitPose("stand", 0.5, (-0.75, -0.75), -100.0),
    _PortraitPose("side_left_walk", 0.3, (4.2, -0.2), -105.0),
    _PortraitPose("cheer", 0.5, (3.4, 1.3), -90.0),
    _PortraitPose("gallop_left_20", 0.6, (-2.6, 2.6), -15.0, "horse"),
    _PortraitPose("jump", None, (2.0, 2.9), -160.0, "skateboarder"),
)
_WOOD, _DARK_WOOD = "#a8643f", "#8d5434"
PORTRAIT_PLACE = World(
    (-6.0, -4.0, 6.0, 5.0),
    (
        Obstacle(Box((0.1, 0.9), (0.25, 1.5), 0.45), "jump", color=_WOOD),
        Obstacle(Box((2.3, 0.5), (0.12, 1.7), 0.14, bottom=1.16), "duck", color=_WOOD),
        Obstacle(Box((2.3, 1.3), (0.14, 0.14), 1.3), color=_DARK_WOOD),
        Obstacle(Box((2.3, -0.3), (0.14, 0.14), 1.3), color=_DARK_WOOD),
    ),
)
SCENE = "market_square"
VIEW = Camera.around((19.0, 15.6, 0.6), azimuth=np.radians(-68.0), elevation=np.radians(21.0), distance=18.0)
"""Camera of the film and its strip: the fence is on the left, the fountain on the right."""
FILM = (5.0, 11.0, 15.0)
"""Begin and end of the film [s], and its rate [Hz]."""
MOMENTS = (2.0, 5.0, 8.0, 11.0, 14.0, 18.0)
"""Times of the film strip [s]."""


def run_demo(
    folder: str | Path,
    *,
    seed: int = 7,
    width: int = 1280,
    progress: Progress = silent,
) -> DemoResult:
    """Plan the market square, audit the result, and write it as pictures, film, GLB and take.

    Args:
        folder: folder to write to; made if it does not exist.
        seed: seed of the order of planning, and of the people in the portrait of the cast.
        width: width of the pictures [px]; the film has three quarters of it.
        progress: called with the current task, the finished amount, and the total amount.

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
    clock, files, seconds = time.perf_counter, dict[str, Path](), dict[str, float]()

    def done(what: str, name: str, since: float) -> None:
        files[what], seconds[what] = folder / name, clock() - since

    since = clock()
    planned = plan_scene(SCENE, seed=seed, progress=progress)
    world = planned.scene.world
    save_take(planned.take, folder / "square.npz")
    done("take", "square.npz", since)
    report = audit_take(planned.take, world, progress=progress)
    since = clock()
    progress("pictures", 0, None)
    draw_from_above(planned, folder / "square_top.png", width)
    done("top view", "square_top.png", since)
    since = clock()
    shot = Shot(camera=VIEW, size=(width // 3, width * 3 // 16))
    take_strip(planned.take, MOMENTS, folder / "square_strip.png", shot, world=world, columns=3)
    done("film strip", "square_strip.png", since)
    since = clock()
    film = f"square{'.mp4' if find_spec('imageio_ffmpeg') else '.webp'}"
    first, last, fps = FILM
    shot = Shot(camera=VIEW, size=(width * 3 // 4 // 2 * 2, width * 27 // 64 // 2 * 2))
    take_film(planned.take, folder / film, shot, world=world, start=first, end=last, fps=fps, progress=progress)
    done("film", film, since)
    since = clock()
    progress("GLB", 0, None)
    export_glb(planned.take, folder / "square.glb", world)
    done("GLB", "square.glb", since)
    since = clock()
    progress("portrait of the cast", 0, None)
    draw_portrait(folder / "cast.png", np.random.default_rng(seed), width)
    done("the cast", "cast.png", since)
    return DemoResult(planned, report, files, seconds, clock() - began, compile_seconds())


def draw_from_above(planned: Planned, path: Path, width: int) -> None:
    """Draw the middle of a take from above, with the paths of all characters in it."""
    x0, y0, x1, y1 = planned.scene.world.bounds
    height = width * 3 // 4
    away = 1.05 * max((y1 - y0) / 2.0, (x1 - x0) / 2.0 * height / width) / np.tan(np.radians(FROM_ABOVE_DEG) / 2.0)
    camera = Camera.around(
        ((x0 + x1) / 2.0, (y0 + y1) / 2.0, 0.0), azimuth=np.radians(-90.0), elevation=np.radians(89.0), distance=away,
        field=np.radians(FROM_ABOVE_DEG),
    )  # fmt: skip
    moment = 0.4 * planned.take.duration
    shot = Shot(camera=camera, size=(width, height), trails=np.inf)
    take_still(planned.take, moment, path, shot, world=planned.scene.world)


def draw_portrait(path: Path, rng: np.random.Generator, width: int) -> None:
    """Draw the cast, each figure in the middle of its motion."""
    figures: list[Figure] = []
    for number, pose in enumerate(PORTRAIT):
        style = _somebody(rng) if pose.cast == "person" else None
        library = load_cast(pose.cast, style=style, behaviors=[pose.behavior])
        behavior = library.graph[pose.behavior]
        clip = library.clips[behavior.clips[0]]
        share = (behavior.pass_time or 0.0) / clip.duration if pose.moment is None else pose.moment
        frame = round(share * (len(clip) - 1))
        clip = place(clip, (*pose.at, np.radians(pose.heading_deg)), frame)
        body = individual_shape(clip.skeleton, number)
        figures += figures_of(clip, frame, built_in_palette(clip.skeleton, seed=number), body)
    camera = Camera.around((0.15, 0.6, 0.95), azimuth=np.radians(-90.0), elevation=np.radians(9.0), distance=7.9)
    picture = render_frame(
        figures, camera, size=(width, width * 2 // 5), obstacles=Scenery.of(PORTRAIT_PLACE).solids(), samples=8
    )
    save_png(Image.fromarray(picture), path)


def _somebody(rng: np.random.Generator) -> str:
    return STYLES[int(rng.integers(len(STYLES)))].name
