"""Clips and paths seen from above: root paths, footprints, headings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import GaitwayError
from gaitway.motion.clip import Clip
from gaitway.render.bodies.body import BodyShape, built_in_palette
from gaitway.render.bodies.figures import render_frame
from gaitway.render.bodies.palette import Palette, person_palette
from gaitway.render.film.clip_stage import set_stage
from gaitway.render.raster.camera import Camera
from gaitway.render.raster.drawables import FloorMark, Label, Paint, Solid, Trail
from gaitway.render.raster.labels import save_png
from gaitway.render.raster.picture import Lighting, draw_labels


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
    """Draw root paths, footprints and headings from above, with +X to the right and +Y up.

    Args:
        clips: clips where they are, or paths (N, 2) of x and y [m], or (N, 3) with headings [rad].
        path: name of a PNG to write; None writes nothing.
        size: width and height [px].
        figures: whether the first and the last pose of each clip are drawn.
        prints: whether footprints are drawn, from the contacts of the clips.
        tick_s: time between heading ticks of a clip [s]; every tenth point of a path has one. 0 draws none.
        obstacles: solids (see `scenery.solid_of`).
        labels: whether each clip's name is written at its start, or the words to write.
        colors: one palette each; None draws a different one for each.
        body: recipe of the bodies; None makes them from the bones.
        samples: samples in each pixel: 1, 4, 8 or 16.

    Returns:
        The picture.
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
    lighting = Lighting(light_azimuth=np.radians(125.0), light_elevation=np.radians(62.0), fade=1000.0, grid=0.9)
    picture = render_frame(
        shown, camera, size=size, obstacles=obstacles, paint=paint, lighting=lighting, samples=samples
    )
    drawn = Image.fromarray(draw_labels(picture, [n for n in notes if n.text], camera))
    if path is not None:
        save_png(drawn, path)
    return drawn


def _items(clips: Clip | npt.ArrayLike | Sequence[Clip | npt.ArrayLike]) -> list[Clip | FloatArray]:
    """Return clips as they are, and all else as paths (N, 3) with headings along the path."""
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
    """Return a camera that looks straight down, +Y up, with room for bodies around the paths."""
    corners = np.concatenate([cloud + np.array([dx, dy, 0.0]) for dx in (-0.8, 0.8) for dy in (-0.8, 0.8)])
    down = Camera(eye=np.array([0.0, 0.0, 50.0]), target=np.zeros(3), up=np.array([0.0, 1.0, 0.0]), span=1.0)
    return down.fit(corners, size, margin=0.02)


def _ink(colors: Palette) -> tuple[float, float, float]:
    r, g, b = (float(c) for c in 0.7 * colors[0])
    return r, g, b


def _ticks(line: FloatArray, ink: tuple[float, float, float], step: int) -> list[Paint]:
    """Return small arrow heads along a path that show where the figure faces."""
    if step < 1:
        return []
    outline = np.array([[0.11, 0.0], [-0.05, 0.06], [-0.05, -0.06]])
    return [_turned(outline, pose, ink, 0.95) for pose in line[::step]]


def _dot(pose: FloatArray, ink: tuple[float, float, float], radius: float) -> Paint:
    turn = np.linspace(0.0, 2.0 * np.pi, 20, endpoint=False)
    return _turned(radius * np.stack([np.cos(turn), np.sin(turn)], axis=1), pose, ink, 1.0)


def _turned(outline: FloatArray, pose: FloatArray, ink: tuple[float, float, float], opacity: float) -> FloorMark:
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return FloorMark(outline @ np.array([[c, s], [-s, c]]) + pose[:2], ink, opacity)


_LEFT, _RIGHT = "#c4623f", "#4f86b5"
_SOLE = np.array(
    [
        # along the foot from heel to toe, aside: one half of a right-and-left alike sole, for a length of one
        [-0.50, 0.00], [-0.46, -0.11], [-0.34, -0.15], [-0.10, -0.135], [0.12, -0.17], [0.28, -0.185], [0.42, -0.14],
        [0.50, 0.00], [0.42, 0.14], [0.28, 0.185], [0.12, 0.17], [-0.10, 0.135], [-0.34, 0.15], [-0.46, 0.11],
    ]
)  # fmt: skip


def footprints(clip: Clip) -> list[Paint]:
    """Return one mark for each time a foot came to rest: a sole if heel and ball are known, else a round spot.

    Left feet are warm and right ones cool. A clip without contacts has none.
    """
    if clip.contacts is None:
        return []
    places = clip.contact_positions()
    columns = {p.name: i for i, p in enumerate(clip.skeleton.contact_points)}
    marks: list[Paint] = []
    for side, color in (("left", _LEFT), ("right", _RIGHT)):
        heel, ball = columns.get(f"{side}_heel"), columns.get(f"{side}_ball")
        if heel is not None and ball is not None:
            resting = clip.contacts[:, heel] | clip.contacts[:, ball]
            for start, stop in _runs(resting):
                marks.append(_sole(_rest(places[start:stop, heel]), _rest(places[start:stop, ball]), color))
            continue
        for name, column in columns.items():
            if name.startswith(side) and "hand" not in name and "knee" not in name:
                runs = _runs(clip.contacts[:, column])
                marks += [_spot(_rest(places[start:stop, column]), color) for start, stop in runs]
    return marks


def _runs(flags: BoolArray) -> list[tuple[int, int]]:
    """Return start and stop of each run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _rest(track: FloatArray) -> FloatArray:
    """Return where a point is while it hardly moves: the median of its lower half [m]; (2,)."""
    low = track[:, 2] <= np.median(track[:, 2]) + 1e-9
    return np.median(track[low, :2], axis=0)


def _sole(heel: FloatArray, ball: FloatArray, color: str) -> FloorMark:
    way = ball - heel
    distance = max(float(np.linalg.norm(way)), 0.05)
    ahead = way / distance
    # the sole reaches a little behind the heel's point and well beyond the ball
    length = 1.75 * distance
    middle = heel + ahead * (0.5 * length - 0.22 * distance)
    return FloorMark(
        middle + length * (_SOLE[:, :1] * ahead + _SOLE[:, 1:] * np.array([-ahead[1], ahead[0]])), color, 0.75
    )


def _spot(place: FloatArray, color: str) -> FloorMark:
    turn = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
    return FloorMark(place + 0.06 * np.stack([np.cos(turn), np.sin(turn)], axis=1), color, 0.75)
