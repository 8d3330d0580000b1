"""What `gaitway demo` shows: a portrait of the built-in cast, and a performance as take, film, GLB and BVH, audited."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from PIL import Image

from gaitway import planar
from gaitway._jit import compile_seconds
from gaitway.audit import Report, audit_take
from gaitway.errors import GaitwayError
from gaitway.export.glb import export_glb
from gaitway.library.cast.catalog import load_cast
from gaitway.library.cast.person.styles import STYLES
from gaitway.motion.editing import place
from gaitway.motion.formats import save_clip
from gaitway.render import Camera, Figure, figures_of, render_frame
from gaitway.render.cast_bodies import built_in_palette, individual_shape
from gaitway.render.place import Place
from gaitway.render.strips import save_png
from gaitway.render.take_film import take_film
from gaitway.take import Take, assemble, lay_track, save_take
from gaitway.world import Box, Obstacle, World

Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True)
class DemoResult:
    """What was written, and how long it took."""

    files: dict[str, Path]
    report: Report
    """The audit of the performance."""
    total_s: float
    compile_s: float
    """Part of it that went into compiling; 0 once the cache is warm."""


@dataclass(frozen=True)
class _Pose:
    """One figure of the portrait."""

    behavior: str
    moment: float | None
    """Share of the clip, 0..1; None is the moment at which it passes its obstacle."""
    at: tuple[float, float]
    """Where it stands [m]; x towards the right of the picture, y away from the camera."""
    heading_deg: float = 0.0
    cast: str = "person"


PORTRAIT = (
    _Pose("walk_forward", 0.28, (-3.9, 0.2), -55.0),
    _Pose("wave", 0.5, (-2.95, -0.5), -85.0),
    _Pose("jog_left_30", 0.5, (-1.75, 0.1), -25.0),
    _Pose("jump", None, (0.1, 0.9), 0.0),
    _Pose("duck", None, (2.3, 0.5), 0.0),
    _Pose("crawl_forward", 0.4, (1.0, -0.9), -35.0),
    _Pose("stand", 0.5, (-0.75, -0.75), -100.0),
    _Pose("side_left_walk", 0.3, (4.2, -0.2), -105.0),
    _Pose("cheer", 0.5, (3.4, 1.3), -90.0),
    _Pose("gallop_left_20", 0.6, (-2.6, 2.6), -15.0, "horse"),
    _Pose("jump", None, (2.0, 2.9), -160.0, "skateboarder"),
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
PERFORMANCE = ("start_walk", "walk_forward", "duck", "walk_to_jog", "jump", "stop_jog")
LANES = (1.5, 0.0, -1.5)
"""Where the performers start, to the left of the middle [m]."""


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
    progress("performance", 0, None)
    take, world = perform(rng, seed)
    files = {"picture": picture, "take": folder / "performance.npz"}
    save_take(take, files["take"])
    report = audit_take(take, world, progress=progress)
    files["film"] = folder / f"performance{'.mp4' if find_spec('imageio_ffmpeg') else '.webp'}"
    take_film(
        take,
        files["film"],
        world=world,
        camera="follow",
        size=(width * 3 // 4 // 2 * 2, width * 27 // 64 // 2 * 2),
        trails=3.0,
        progress=lambda done, total: progress("film", done, total),
    )
    files["scene"] = folder / "performance.glb"
    progress("GLB", 0, None)
    export_glb(take, files["scene"], world)
    files["motion"] = folder / "performance.bvh"
    save_clip(take.clip(0), files["motion"])
    return DemoResult(files, report, time.perf_counter() - began, compile_seconds())


def draw_portrait(path: Path, rng: np.random.Generator, width: int) -> None:
    """Draw the cast in the middle of what it does."""
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
        figures, camera, size=(width, width * 2 // 5), obstacles=Place.of(PORTRAIT_PLACE).solids(), samples=8
    )
    save_png(Image.fromarray(picture), path)


def perform(rng: np.random.Generator, seed: int = 0) -> tuple[Take, World]:
    """The performance by three people side by side, and the place with the bars they duck under and jump over."""
    tracks, things = [], []
    for number, lane in enumerate(LANES):
        cast = load_cast("person", style=_somebody(rng), behaviors=sorted(set(PERFORMANCE)))
        behaviors = [cast.graph[name] for name in PERFORMANCE]
        clips = [cast.clips[behavior.clips[0]] for behavior in behaviors]
        track = lay_track(f"lane-{number + 1}", clips, (0.0, lane, 0.0), behaviors=PERFORMANCE)
        for behavior, clip, move in zip(behaviors, clips, track.poses, strict=True):
            if behavior.pass_time is not None and behavior.obstacle is not None:
                there = planar.compose(move, clip.planar_path()[round(behavior.pass_time * clip.fps)])
                things.append(Obstacle(_bar(behavior.obstacle).placed(there), behavior.obstacle, color=_WOOD))
        tracks.append(track)
    take = assemble(tracks, facts={"seed": seed})
    farthest = max(take.clip(c).root_positions[-1, 0] for c in range(len(take)))
    return take, World((-2.0, -3.5, float(farthest) + 2.0, 3.5), tuple(things))


def _bar(kind: str) -> Box:
    """What is to be passed, in the frame of who passes it."""
    if kind == "duck":
        return Box((0.0, 0.0), (0.12, 1.3), 0.12, bottom=1.16)
    return Box((0.0, 0.0), (0.2, 1.2), 0.4)


def _somebody(rng: np.random.Generator) -> str:
    return STYLES[int(rng.integers(len(STYLES)))].name
