"""Pictures of variation: many takes of one motion over one another, as figures and curves (Lau 2009, 5.4 to 5.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import GaitwayError
from gaitway.motion.clip import Clip
from gaitway.motion.editing import place
from gaitway.render.raster.colors import from_oklch, to_hex
from gaitway.render.raster.labels import save_png, text_font, text_size

PAPER, INK, FAINT, GRID = "#ffffff", "#2f3338", "#7d848c", "#e4e6e9"
_FINE = 3
"""Factor by which pictures are drawn larger and then reduced, to be smooth."""
_ELEVATION = np.radians(8.0)
_MARGIN, _HEADER = 22, 58
_WORDS = 15.0


@dataclass(frozen=True, eq=False)
class TakeGroup:
    """Takes that are drawn together."""

    name: str
    clips: Sequence[Clip]
    color: str | None = None
    """One colour for all; None gives each take its own."""


@dataclass(frozen=True, eq=False)
class Curves:
    """One panel of curves."""

    title: str
    across: str
    up: str
    groups: Sequence[tuple[str, Sequence[FloatArray]]]
    """Colour and curves (N, 2) of each; later ones are drawn over earlier ones."""


def overlay_picture(
    groups: Sequence[TakeGroup],
    path: str | Path | None = None,
    *,
    title: str = "",
    moments: int = 8,
    view: float = np.radians(35.0),
    row_height: int = 300,
) -> Image.Image:
    """Draw takes over one another, one row for each group, at equal shares of their time from left to right.

    Roots are put on one spot with one heading in every moment, so that what is seen is how poses differ.

    Args:
        groups: groups of takes from top to bottom, such as inputs and outputs.
        path: PNG file to write; None writes nothing.
        title: title over the picture.
        moments: number of poses of each take.
        view: bearing of the camera seen from the figure [rad]; 0 is in front of it, pi / 2 at its left.
        row_height: height of a row [px].

    Raises:
        GaitwayError: if there is nothing to draw.
    """
    if not groups or any(not group.clips for group in groups):
        raise GaitwayError("nothing to lay over one another; give groups with one clip or more each")
    shares = np.linspace(0.0, 1.0, moments)
    drawn = [[_bones(clip, shares, view) for clip in group.clips] for group in groups]
    every = np.concatenate([bones.reshape(-1, 2) for row in drawn for bones, _ in row])
    low, high = every.min(axis=0) - 0.05, every.max(axis=0) + 0.05
    scale = row_height / float(high[1] - low[1])
    cell = scale * float(high[0] - low[0])
    label = max(text_size(group.name, _WORDS)[0] for group in groups) + 2 * _MARGIN
    size = (round(label + moments * cell + _MARGIN), _HEADER + len(groups) * (row_height + _MARGIN) + 26)
    image = Image.new("RGB", (size[0] * _FINE, size[1] * _FINE), PAPER)
    pen = ImageDraw.Draw(image)
    for row, (group, figures) in enumerate(zip(groups, drawn, strict=True)):
        bottom = _HEADER + row * (row_height + _MARGIN) + row_height
        for number, (bones, thick) in enumerate(figures):
            color = group.color or _own_color(number, len(figures))
            for k in range(moments):
                origin = np.array([label + k * cell - low[0] * scale, bottom + low[1] * scale])
                ends = (origin + bones[k] * [scale, -scale]) * _FINE
                for (a, b), width in zip(ends, thick, strict=True):
                    pen.line([tuple(a), tuple(b)], fill=color, width=max(round(width * _FINE), 1), joint="curve")
    out = image.reduce(_FINE)
    pen = ImageDraw.Draw(out)
    pen.text((_MARGIN, 16), title, INK, text_font(20.0))
    for row, group in enumerate(groups):
        middle = _HEADER + row * (row_height + _MARGIN) + 0.5 * row_height
        pen.text((_MARGIN, middle), group.name, INK, text_font(_WORDS), "lm")
    for k in range(moments):
        words = f"{round(100 * shares[k])} %"
        pen.text((label + (k + 0.5) * cell, size[1] - 26), words, FAINT, text_font(_WORDS), "ma")
    if path is not None:
        save_png(out, path)
    return out


def curves_picture(
    panels: Sequence[Curves],
    path: str | Path | None = None,
    *,
    title: str = "",
    columns: int = 3,
    keys: Sequence[tuple[str, str]] = (),
    panel: tuple[int, int] = (460, 320),
) -> Image.Image:
    """Draw panels of curves, column by column as in figure 5.6.

    Args:
        panels: panels of curves, from the top of the first column on.
        path: PNG file to write; None writes nothing.
        title: title over the picture.
        columns: number of columns of panels.
        keys: names and colours of the groups of curves.
        panel: width and height of one panel [px].

    Raises:
        GaitwayError: if there is nothing to draw.
    """
    if not panels:
        raise GaitwayError("no curves to draw; give one panel or more")
    rows = -(-len(panels) // columns)
    size = (columns * panel[0] + _MARGIN, rows * panel[1] + _HEADER)
    image = Image.new("RGB", (size[0] * _FINE, size[1] * _FINE), PAPER)
    pen, words = ImageDraw.Draw(image), list[tuple[tuple[float, float], str, str, str]]()
    for number, curves in enumerate(panels):
        column, row = divmod(number, rows)
        box = (column * panel[0] + 64, row * panel[1] + _HEADER + 34, (column + 1) * panel[0] - 12,
               (row + 1) * panel[1] + _HEADER - 44)  # fmt: skip
        words += _draw_panel(pen, curves, box)
    out = image.reduce(_FINE)
    pen = ImageDraw.Draw(out)
    pen.text((_MARGIN, 16), title, INK, text_font(20.0))
    x = size[0] - _MARGIN - sum(text_size(name, _WORDS)[0] + 60.0 for name, _ in keys)
    for name, color in keys:
        pen.line([(x, 28), (x + 26, 28)], fill=color, width=3)
        pen.text((x + 34, 28), name, INK, text_font(_WORDS), "lm")
        x += text_size(name, _WORDS)[0] + 60.0
    for at, text, color, anchor in words:
        pen.text(at, text, color, text_font(13.0), anchor)
    if path is not None:
        save_png(out, path)
    return out


def _draw_panel(
    pen: ImageDraw.ImageDraw, curves: Curves, box: tuple[float, float, float, float]
) -> list[tuple[tuple[float, float], str, str, str]]:
    """Draw one panel, and say which words go where."""
    left, top, right, bottom = box
    every = np.concatenate([curve for _, group in curves.groups for curve in group])
    low, high = every.min(axis=0), every.max(axis=0)
    room = np.maximum(high - low, 1e-9)
    low, high = low - 0.04 * room, high + 0.04 * room
    pen.rectangle([v * _FINE for v in box], outline=GRID, width=_FINE)
    for color, group in curves.groups:
        for curve in group:
            x = left + (curve[:, 0] - low[0]) / (high[0] - low[0]) * (right - left)
            y = bottom - (curve[:, 1] - low[1]) / (high[1] - low[1]) * (bottom - top)
            points = [(float(a) * _FINE, float(b) * _FINE) for a, b in zip(x, y, strict=True)]
            pen.line(points, fill=color, width=round(1.4 * _FINE), joint="curve")
    return [
        ((left, top - 20), curves.title, INK, "la"),
        ((0.5 * (left + right), bottom + 20), curves.across, FAINT, "ma"),
        ((left, top - 5), curves.up, FAINT, "ls") if not curves.title else ((right, top - 20), curves.up, FAINT, "ra"),
        ((left, bottom + 4), f"{low[0]:.2g}", FAINT, "la"),
        ((right, bottom + 4), f"{high[0]:.2g}", FAINT, "ra"),
        ((left - 6, bottom), f"{low[1]:.2g}", FAINT, "rb"),
        ((left - 6, top), f"{high[1]:.2g}", FAINT, "rt"),
    ]


def _bones(clip: Clip, shares: FloatArray, view: float) -> tuple[FloatArray, list[float]]:
    """Return bones of a clip at some moments, in the view [m]; (moments, bones, 2 ends, 2); and their thickness."""
    frames = np.round(shares * (len(clip) - 1)).astype(np.int64)
    positions = np.stack([place(clip, (0.0, 0.0, 0.0), int(frame)).joint_positions()[frame] for frame in frames])
    turned = rotations.rotate(rotations.from_yaw(-view), positions)
    # the camera looks along -x after the turn; right is +y there, seen from in front
    across = turned[..., 1]
    up = turned[..., 2] * np.cos(_ELEVATION) + turned[..., 0] * -np.sin(_ELEVATION)
    seen = np.stack([across, up], axis=-1)
    parents = clip.skeleton.parents
    kept = [j for j in range(1, len(clip.skeleton)) if np.linalg.norm(clip.skeleton.offsets[j]) > 1e-6]
    bones = np.stack([np.stack([seen[:, parents[j]], seen[:, j]], axis=1) for j in kept], axis=1)
    lengths = [float(np.linalg.norm(clip.skeleton.offsets[j])) for j in kept]
    return bones, [1.0 + 2.4 * min(length / 0.4, 1.0) for length in lengths]


def _own_color(number: int, count: int) -> str:
    return to_hex(from_oklch(0.58, 0.14, (28.0 + 360.0 * number / max(count, 1)) % 360.0))
