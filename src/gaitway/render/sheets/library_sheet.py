"""One tall picture of a library: its behaviour graph, then a film strip of every clip."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from gaitway.capture.report import travel_turn_deg
from gaitway.core import planar
from gaitway.core.errors import LibraryError
from gaitway.core.progress import Progress, silent
from gaitway.library.behavior import Behavior, Library
from gaitway.motion.clip import Clip
from gaitway.render.raster.labels import save_png, text_font
from gaitway.render.sheets.graph_drawing import ACCENT, BACKDROP, FAINT, INK
from gaitway.render.sheets.graph_picture import graph_picture
from gaitway.render.sheets.strips import filmstrip

WIDTH = 1800
_LEFT, _HEADER, _LANE = 270, 64, 11
"""Pixels of the words beside a strip, of the title, and of one contact's lane."""
_LANE_COLORS = {"left": "#c4623f", "right": "#4f86b5"}
_OTHER_LANE = "#7a8087"


def library_sheet(
    library: Library,
    path: str | Path | None = None,
    *,
    columns: int = 12,
    row_height: int = 150,
    progress: Progress = silent,
) -> Image.Image:
    """Draw the behaviour graph and a strip of every clip, with its length, time, turn and contacts.

    Args:
        library: library to draw.
        path: PNG file to write; None writes nothing.
        columns: most figures in a strip.
        row_height: pixels for a standing person.
        progress: called after each clip.

    Returns:
        The picture, 1800 pixels wide.

    Raises:
        LibraryError: if the library has no clips.
    """
    if not library.clips:
        raise LibraryError(f"library '{library.name}' has no clips to draw")
    parts = [_title(library)]
    if library.graph.behaviors:
        parts.append(graph_picture(library.graph, WIDTH))
    behavior_of = {clip: behavior for behavior in library.graph.behaviors for clip in behavior.clips}
    for done, (name, clip) in enumerate(library.clips.items(), 1):
        parts.append(_clip_row(clip, behavior_of.get(name), columns, row_height))
        progress("film strips", done, len(library.clips))
    sheet = Image.new("RGB", (WIDTH, sum(part.height for part in parts)), BACKDROP)
    top = 0
    for part in parts:
        sheet.paste(part, (0, top))
        top += part.height
    if path is not None:
        save_png(sheet, path)
    return sheet


def _title(library: Library) -> Image.Image:
    picture = Image.new("RGB", (WIDTH, _HEADER), BACKDROP)
    pen = ImageDraw.Draw(picture)
    pen.text((24, 34), library.name, fill=INK, font=text_font(30), anchor="lm")
    seconds = sum(clip.duration for clip in library.clips.values())
    facts = (
        f"{len(library.graph.behaviors)} behaviours, {len(library.clips)} clips, {seconds:.1f} s, "
        f"{len(library.skeleton)} joints"
    )
    pen.text((40 + text_font(30).getlength(library.name), 37), facts, fill=FAINT, font=text_font(16), anchor="lm")
    return picture


def _clip_row(clip: Clip, behavior: Behavior | None, columns: int, row_height: int) -> Image.Image:
    """Draw words at the left, the strip at the right, and a bar for every contact below it."""
    room = WIDTH - _LEFT
    strip = filmstrip(clip, columns=columns, labels=False, times=False, row_height=row_height, max_width=room)
    lanes = _lanes(clip)
    height = max(strip.height, 96) + _LANE * len(lanes) + 30
    row = Image.new("RGB", (WIDTH, height), BACKDROP)
    row.paste(strip, (_LEFT, 6))
    pen = ImageDraw.Draw(row)
    _draw_facts(pen, clip, behavior)
    _draw_lanes(pen, clip, lanes, max(strip.height, 96) + 10)
    pen.line([(0, height - 1), (WIDTH, height - 1)], fill="#dcdcd9")
    return row


def _draw_facts(pen: ImageDraw.ImageDraw, clip: Clip, behavior: Behavior | None) -> None:
    path = clip.planar_path()
    ahead, left, _ = np.round(planar.relative(path[0], path[-1]), 2) + 0.0  # no minus before a nought
    turn = travel_turn_deg(clip)
    lines = [(clip.name, 17, INK), (f"{clip.duration:.2f} s, {len(clip)} frames at {clip.fps:g} Hz", 13, FAINT)]
    lines.append((f"{ahead:+.2f} m ahead, {left:+.2f} m left, {turn:+.0f} deg", 13, FAINT))
    if behavior is not None:
        lines.append((f"{behavior.start} to {behavior.end}", 13, FAINT))
        if behavior.obstacle is not None:
            at = "" if behavior.pass_time is None else f" at {behavior.pass_time:.2f} s"
            lines.append((f"passes '{behavior.obstacle}'{at}", 13, ACCENT))
    for i, (text, size, color) in enumerate(lines):
        pen.text((24, 22 + 20 * i), text, fill=color, font=text_font(size), anchor="lm")


def _lanes(clip: Clip) -> list[tuple[str, int]]:
    """Return the name and column of every contact point that touches at some time."""
    if clip.contacts is None:
        return []
    points = clip.skeleton.contact_points
    return [(point.name, i) for i, point in enumerate(points) if clip.contacts[:, i].any()]


def _draw_lanes(pen: ImageDraw.ImageDraw, clip: Clip, lanes: list[tuple[str, int]], top: int) -> None:
    """Draw when each contact point is on the ground, over the clip's whole time."""
    if clip.contacts is None:
        return
    right, count = WIDTH - 24, len(clip)
    edges = _LEFT + (right - _LEFT) * np.arange(count + 1) / count
    for lane, (name, column) in enumerate(lanes):
        y = top + _LANE * lane
        pen.text((_LEFT - 8, y + 3), name.replace("_", " "), fill=FAINT, font=text_font(9), anchor="rm")
        color = next((c for word, c in _LANE_COLORS.items() if word in name.split("_")), _OTHER_LANE)
        for frame in np.flatnonzero(clip.contacts[:, column]):
            pen.rectangle([float(edges[frame]), y, float(edges[frame + 1]), y + _LANE - 5], fill=color)
    bottom = top + _LANE * len(lanes) + 9
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        anchor = "lm" if share == 0.0 else "rm" if share == 1.0 else "mm"
        words = f"{share * clip.duration:.2f} s"
        pen.text((_LEFT + share * (right - _LEFT), bottom), words, fill=FAINT, font=text_font(10), anchor=anchor)
