"""Sheets of small pictures: successive frames of a film, and one pose from all sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from gaitway.core.errors import GaitwayError
from gaitway.motion.clip import Clip
from gaitway.render.bodies.body import BodyShape
from gaitway.render.bodies.palette import Palette, study_palette
from gaitway.render.film.clip_stage import look_from, set_stage
from gaitway.render.film.shot import Shot
from gaitway.render.raster.labels import save_png

_FRAME_TILE, _POSE_TILE = (260, 260), (320, 400)
_SAMPLES = 8
_FRAME_ELEVATION, _POSE_ELEVATION = np.radians(8.0), np.radians(12.0)


def contact_sheet(
    clips: Clip | Sequence[Clip],
    path: str | Path | None = None,
    shot: Shot | None = None,
    *,
    start: int = 0,
    count: int = 24,
    every: int = 1,
    columns: int = 6,
    fps: float | None = None,
    arrange: str = "row",
    colors: Sequence[Palette] | Palette | None = None,
    body: BodyShape | None = None,
) -> Image.Image:
    """Draw successive frames of a film in rows of small pictures with their numbers, to find pops.

    Args:
        clips: one clip or more.
        path: name of a PNG to write; None writes nothing.
        shot: view ("side"), elevation (8 degrees), size of each picture (260 x 260) and more.
        start: first frame.
        count: largest number of frames.
        every: step between frames: 1 shows every frame, 2 every other.
        columns: number of pictures in a row.
        fps: frames a second [Hz]; None takes the rate of the clips, at most 60.
        arrange: "row" or "placed", as in `film`.
        colors: one palette for all, or one each; None has warm left and cool right limbs.
        body: recipe of the bodies; None makes them from the bones.

    Returns:
        The picture.
    """
    shot = _usual(shot or Shot(), "side", _FRAME_ELEVATION)
    tile = shot.size or _FRAME_TILE
    stage = set_stage(clips, arrange=arrange, fps=fps, colors=study_palette() if colors is None else colors, body=body)
    frames = range(start, len(stage), every)[:count] if start >= 0 and every > 0 else range(0)
    if len(frames) == 0 or columns < 1:
        raise GaitwayError(f"no frames from {start} by {every} in {columns} columns; the film has {len(stage)} frames")
    cameras = stage.cameras(shot, tile)
    pictures = [Image.fromarray(stage.draw(f, cameras[f], shot, tile, _SAMPLES)) for f in frames]
    sheet = _in_rows(pictures, columns)
    pen = ImageDraw.Draw(sheet)
    for i, frame in enumerate(frames):
        corner = (i % columns * tile[0] + 8, i // columns * tile[1] + 6)
        pen.text(corner, str(frame), fill="#6b6f74", font=ImageFont.load_default(13))
    if path is not None:
        save_png(sheet, path)
    return sheet


def turntable(
    clip: Clip,
    path: str | Path | None = None,
    shot: Shot | None = None,
    *,
    time: float = 0.0,
    views: int = 8,
    columns: int = 4,
    colors: Palette | None = None,
    body: BodyShape | None = None,
) -> Image.Image:
    """Draw one pose from all sides, in rows of pictures that begin in front of it.

    Args:
        clip: the clip.
        path: name of a PNG to write; None writes nothing.
        shot: elevation (12 degrees), size of each picture (320 x 400), light and more, but for camera and view.
        time: time since the start of the clip [s].
        views: number of directions.
        columns: number of pictures in a row.
        colors: palette; None has warm left and cool right limbs.
        body: recipe of the body; None makes it from the bones.

    Returns:
        The picture.
    """
    if views < 1 or columns < 1:
        raise GaitwayError(f"a turntable of {views} views in {columns} columns; write 1 or more of both")
    shot = _usual(shot or Shot(), 0.0, _POSE_ELEVATION)
    tile = shot.size or _POSE_TILE
    stage = set_stage(clip, colors=colors, body=body)
    frame = stage.frame_at(time)
    points = stage.positions[0][min(frame, len(stage) - 1)]
    # turn about the middle of the figure, so that it stays in place and keeps its size
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    reach = float(np.linalg.norm(points[:, :2] - middle[:2], axis=1).max()) + 0.15
    ring = np.array([(reach * np.cos(a), reach * np.sin(a)) for a in np.linspace(0.0, 2.0 * np.pi, 24)])
    heights = (min(0.0, points[:, 2].min()), points[:, 2].max() + 0.2)
    cloud = np.concatenate([np.column_stack([middle[:2] + ring, np.full(24, h)]) for h in heights])
    pictures = []
    for i in range(views):
        camera = look_from(2.0 * np.pi * i / views, shot.elevation).fit(cloud, tile)
        pictures.append(Image.fromarray(stage.draw(frame, camera, shot, tile, _SAMPLES)))
    sheet = _in_rows(pictures, columns)
    if path is not None:
        save_png(sheet, path)
    return sheet


def _usual(shot: Shot, view: str | float, elevation: float) -> Shot:
    """Return a shot with this view and elevation [rad] where it has none."""
    return replace(
        shot,
        view=view if shot.view is None else shot.view,
        elevation=elevation if shot.elevation is None else shot.elevation,
    )


def _in_rows(pictures: Sequence[Image.Image], columns: int) -> Image.Image:
    """Put pictures of one size into rows."""
    width, height = pictures[0].size
    sheet = Image.new("RGB", (min(columns, len(pictures)) * width, -(-len(pictures) // columns) * height))
    for i, picture in enumerate(pictures):
        sheet.paste(picture, (i % columns * width, i // columns * height))
    return sheet
