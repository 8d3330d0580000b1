"""Single pictures: a still, views from all around, a plan from above."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import GaitwayError
from gaitway.motion.clip import Clip
from gaitway.render.bodies.body import BodyShape
from gaitway.render.bodies.cast_bodies import built_in_palette
from gaitway.render.bodies.palette import Palette, person_palette
from gaitway.render.film.staging import Stage, look_from, set_stage, still_camera
from gaitway.render.raster.camera import Camera
from gaitway.render.raster.picture import Studio, draw_labels, render_frame
from gaitway.render.raster.things import Label, Mark, Paint, Solid, Trail
from gaitway.render.sheets.footprints import footprints
from gaitway.render.sheets.strips import save_png


def still(
    clips: Clip | Sequence[Clip],
    path: str | Path | None = None,
    *,
    time: float = 0.0,
    size: tuple[int, int] = (1280, 720),
    view: str | float = "three-quarter",
    elevation: float = np.radians(14.0),
    camera: Camera | None = None,
    arrange: str = "row",
    trails: bool = False,
    obstacles: Sequence[Solid] = (),
    paint: Sequence[Paint] = (),
    labels: Sequence[Label] = (),
    colors: Sequence[Palette] | Palette | None = None,
    body: BodyShape | None = None,
    studio: Studio | None = None,
    samples: int = 16,
) -> Image.Image:
    """One moment of one or more clips.

    Args:
        clips: who is in the picture.
        path: where to write a PNG; None writes nothing.
        time: seconds from the clips' start; a clip that is over holds its last pose.
        size: width and height in pixels.
        view: "side", "front", "three-quarter", "back", "top", or the camera's bearing [rad] (0 stands on +X).
        elevation: of the camera over the horizon [rad].
        camera: a camera of your own.
        arrange: "row" starts everybody facing +X side by side; "placed" leaves clips where they are.
        trails: draw the roots' whole paths on the floor.
        obstacles: solids (see `place.solid_of`).
        paint: trails and marks on the floor.
        labels: words at places of the world.
        colors: one palette for all, or one each.
        body: recipe of the bodies.
        studio: light and floor.
        samples: places looked at in each pixel (1, 4, 8 or 16).
    """
    stage = set_stage(clips, arrange=arrange, colors=colors, body=body, side_tint=0.0)
    frame = _frame_at(stage, time)
    if camera is None:
        camera = still_camera(stage, [frame], view, elevation, size)
    picture = render_frame(
        stage.figures(frame),
        camera,
        size=size,
        obstacles=obstacles,
        paint=[*paint, *(stage.trails() if trails else ())],
        labels=labels,
        studio=studio,
        samples=samples,
    )
    return _saved(Image.fromarray(picture), path)


def turntable(
    clip: Clip,
    path: str | Path | None = None,
    *,
    time: float = 0.0,
    views: int = 8,
    columns: int = 4,
    tile: tuple[int, int] = (320, 400),
    elevation: float = np.radians(12.0),
    colors: Palette | None = None,
    body: BodyShape | None = None,
    samples: int = 8,
) -> Image.Image:
    """One pose seen from all around, in rows of pictures that begin in front of it.

    Args:
        clip: whose pose.
        path: where to write a PNG; None writes nothing.
        time: seconds from the clip's start.
        views: how many directions.
        columns: pictures in a row.
        tile: width and height of each picture in pixels.
        elevation: of the camera over the horizon [rad].
        colors: palette; None has warm left and cool right limbs.
        body: recipe of the body.
        samples: places looked at in each pixel (1, 4, 8 or 16).
    """
    if views < 1 or columns < 1:
        raise GaitwayError(f"a turntable of {views} views in {columns} columns; write 1 or more of both")
    stage = set_stage(clip, colors=colors, body=body)
    frame = _frame_at(stage, time)
    points = stage.positions[0][min(frame, len(stage) - 1)]
    # turn about the middle of the figure, so that it stays in place and keeps its size
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    reach = float(np.linalg.norm(points[:, :2] - middle[:2], axis=1).max()) + 0.15
    ring = np.array([(reach * np.cos(a), reach * np.sin(a)) for a in np.linspace(0.0, 2.0 * np.pi, 24)])
    heights = (min(0.0, points[:, 2].min()), points[:, 2].max() + 0.2)
    cloud = np.concatenate([np.column_stack([middle[:2] + ring, np.full(24, h)]) for h in heights])
    rows = -(-views // columns)
    sheet = Image.new("RGB", (min(columns, views) * tile[0], rows * tile[1]))
    for i in range(views):
        camera = look_from(2.0 * np.pi * i / views, elevation).fit(cloud, tile)
        picture = render_frame(stage.figures(frame), camera, size=tile, samples=samples)
        sheet.paste(Image.fromarray(picture), (i % columns * tile[0], i // columns * tile[1]))
    return _saved(sheet, path)


def top_view(
    clips: Clip | npt.ArrayLike | Sequence[Clip | npt.ArrayLike],
    path: str | Path | None = None,
    *,
    size: tuple[int, int] = (1200, 900),
    figures: bool = True,
    prints: bool = True,
    tick_s: float = 0.5,
    obstacles: Sequence[Solid] = (),
    labels: bool | Sequence[str] = True,
    colors: Sequence[Palette] | None = None,
    body: BodyShape | None = None,
    samples: int = 16,
) -> Image.Image:
    """A plan: root paths, footprints and headings, seen from above with +X to the right and +Y up.

    Args:
        clips: clips where they are, or paths (N, 2) of x and y, or (N, 3) with headings [m, rad].
        path: where to write a PNG; None writes nothing.
        size: width and height in pixels.
        figures: draw each clip's first and last pose.
        prints: draw where feet rest, from the clips' contacts.
        tick_s: seconds between heading ticks of a clip; every tenth point of a path has one. 0 for none.
        obstacles: solids (see `place.solid_of`).
        labels: write each clip's name at its start, or these words.
        colors: one palette each; None draws a different one for each.
        body: recipe of the bodies.
        samples: places looked at in each pixel (1, 4, 8 or 16).
    """
    items = _items(clips)
    palettes = [_drawn_colors(item, i) for i, item in enumerate(items)] if colors is None else list(colors)
    if len(palettes) != len(items):
        raise GaitwayError(f"{len(palettes)} palettes for {len(items)} clips; give one each")
    words = _plan_words(items, labels)
    paint: list[Paint] = []
    shown, notes, cloud = [], [], []
    for item, colors_of, word in zip(items, palettes, words, strict=True):
        line = item.planar_path() if isinstance(item, Clip) else item
        ink = _ink(colors_of)
        paint.append(Trail(line[:, :2], ink, width=0.035, opacity=0.8))
        step = round(tick_s * item.fps) if isinstance(item, Clip) else (10 if tick_s > 0.0 else 0)
        paint += _ticks(line, ink, step)
        paint.append(_dot(line[0], ink, 0.07))
        if isinstance(item, Clip):
            paint += footprints(item) if prints else []
            if figures:
                stage = set_stage(item, arrange="placed", colors=colors_of, body=body)
                shown += [*stage.figures(0), *stage.figures(len(stage) - 1)]
        notes.append(Label(word, (line[0, 0], line[0, 1] - 0.55, 0.0), anchor="mm"))
        cloud.append(np.column_stack([line[:, :2], np.zeros(len(line))]))
    cloud += [o.mesh.points for o in obstacles]
    camera = _plan_camera(np.concatenate(cloud), size)
    studio = Studio(light_azimuth=np.radians(125.0), light_elevation=np.radians(62.0), fade=1000.0, grid=0.9)
    picture = render_frame(shown, camera, size=size, obstacles=obstacles, paint=paint, studio=studio, samples=samples)
    return _saved(Image.fromarray(draw_labels(picture, [n for n in notes if n.text], camera)), path)


def _frame_at(stage: Stage, time: float) -> int:
    if not (np.isfinite(time) and time >= 0.0):
        raise GaitwayError(f"time {time} s; write 0 or more")
    return min(round(time * stage.fps), len(stage) - 1)


def _saved(image: Image.Image, path: str | Path | None) -> Image.Image:
    if path is not None:
        save_png(image, path)
    return image


def _items(clips: Clip | npt.ArrayLike | Sequence[Clip | npt.ArrayLike]) -> list[Clip | FloatArray]:
    """Clips as they are, everything else as paths (N, 3) with headings along the way."""
    single = isinstance(clips, Clip) or (isinstance(clips, np.ndarray) and clips.ndim == 2)
    given = [clips] if single else list(clips)  # type: ignore[arg-type]
    if not given:
        raise GaitwayError("nothing to draw from above: give at least one clip or path")
    items: list[Clip | FloatArray] = []
    for item in given:
        if isinstance(item, Clip):
            items.append(item)
            continue
        line = np.asarray(item, dtype=np.float64)
        if line.ndim != 2 or line.shape[1] not in (2, 3) or len(line) < 2 or not np.isfinite(line).all():
            raise GaitwayError(f"a path has shape {line.shape}; expected (N, 2) or (N, 3), two or more finite points")
        if line.shape[1] == 2:
            way = np.gradient(line, axis=0)
            line = np.column_stack([line, np.arctan2(way[:, 1], way[:, 0])])
        items.append(line)
    return items


def _drawn_colors(item: Clip | FloatArray, seed: int) -> Palette:
    return built_in_palette(item.skeleton, seed) if isinstance(item, Clip) else person_palette(seed)


def _plan_words(items: Sequence[Clip | FloatArray], labels: bool | Sequence[str]) -> list[str]:
    if isinstance(labels, bool):
        return [item.name if labels and isinstance(item, Clip) else "" for item in items]
    if len(labels) != len(items):
        raise GaitwayError(f"{len(labels)} labels for {len(items)} paths; give one each, True or False")
    return list(labels)


def _plan_camera(cloud: FloatArray, size: tuple[int, int]) -> Camera:
    """Straight down, north up, with room for bodies around the paths."""
    corners = np.concatenate([cloud + np.array([dx, dy, 0.0]) for dx in (-0.8, 0.8) for dy in (-0.8, 0.8)])
    down = Camera(eye=np.array([0.0, 0.0, 50.0]), target=np.zeros(3), up=np.array([0.0, 1.0, 0.0]), span=1.0)
    return down.fit(corners, size, margin=0.02)


def _ink(colors: Palette) -> tuple[float, float, float]:
    r, g, b = (float(c) for c in 0.7 * colors[0])
    return r, g, b


def _ticks(line: FloatArray, ink: tuple[float, float, float], step: int) -> list[Paint]:
    """Small arrow heads along a path that show where the figure faces."""
    if step < 1:
        return []
    outline = np.array([[0.11, 0.0], [-0.05, 0.06], [-0.05, -0.06]])
    return [_turned(outline, pose, ink, 0.95) for pose in line[::step]]


def _dot(pose: FloatArray, ink: tuple[float, float, float], radius: float) -> Paint:
    turn = np.linspace(0.0, 2.0 * np.pi, 20, endpoint=False)
    return _turned(radius * np.stack([np.cos(turn), np.sin(turn)], axis=1), pose, ink, 1.0)


def _turned(outline: FloatArray, pose: FloatArray, ink: tuple[float, float, float], opacity: float) -> Mark:
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return Mark(outline @ np.array([[c, s], [-s, c]]) + pose[:2], ink, opacity)
