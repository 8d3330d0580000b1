"""Pictures of search trees: how many paths reach each cell, and the paths themselves (Lau 2009, figures 4.2 and 4.10).

The character stands at the mark and faces up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy
from PIL import Image, ImageColor, ImageDraw

from gaitway.core.arrays import FloatArray, read_only
from gaitway.render.plan.ground import EDGE, FLOOR, grid_lines, nice_step
from gaitway.render.plan.margins import FAINT
from gaitway.render.raster.labels import save_png, text_font
from gaitway.render.sheets._tree_kernels import draw_moves
from gaitway.render.sheets.graph_drawing import BACKDROP
from gaitway.tree.building.coverage import coverage
from gaitway.tree.model import Tree
from gaitway.tree.region import Region

FREQUENCY = ("#f3ead6", "#f0cf94", "#e49a55", "#c65a38", "#8c2c3c", "#46183c")
"""Colours of few to many paths."""
COST = ("#b5532f", "#d19a3f", "#6f9a76", "#3f7c93", "#2e4a76")
"""Colours of cheap to expensive paths."""
RIM = "#c9c5bb"
"""Colour of the line around the region."""
MOST_DRAWN = 2_000_000
"""Largest number of moves that are drawn; more could not be told apart."""
_FINE = 2
"""Samples a pixel each way, where paths are drawn."""
_HEADER, _SIDE, _GAP, _FOOT = 96, 52, 74, 92
"""Pixels above, beside, between and below the two maps."""
_INK = 3.5
"""Darkness of a single line; 0..1."""

Pixels = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class _MapFrame:
    """A map in the picture: where it lies, and what it shows."""

    left: int
    top: int
    width: int
    height: int
    low: tuple[float, float]
    """Least metres to the right and ahead."""
    scale: float
    """Pixels a metre."""

    def pixel(self, right: float, ahead: float) -> tuple[float, float]:
        """Return the pixel of a point [m]."""
        x, y = self.left + (right - self.low[0]) * self.scale, (ahead - self.low[1]) * self.scale
        return x, self.top + self.height - y


def tree_picture(
    tree: Tree, path: str | Path | None = None, *, title: str = "", text: str = "", width: int = 1400
) -> Image.Image:
    """Draw a tree: on the left how many paths reach each cell, on the right all paths.

    Args:
        tree: tree of any kind.
        path: PNG file to write; None writes nothing.
        title: title above the picture.
        text: text below the title.
        width: width of the picture [px].
    """
    frame = _frame(tree.region, width)
    other = _MapFrame(frame.left + frame.width + _GAP, frame.top, frame.width, frame.height, frame.low, frame.scale)
    picture = Image.new("RGB", (width, frame.top + frame.height + _FOOT), BACKDROP)
    counts, most = _frequencies(tree)
    picture.paste(_frequency_map(tree.region, counts, most, frame), (frame.left, frame.top))
    drawn, dearest = _path_map(tree, other)
    picture.paste(drawn, (other.left, other.top))
    pen = ImageDraw.Draw(picture)
    pen.text((_SIDE, 36), title, fill=EDGE, font=text_font(24), anchor="ls")
    pen.text((_SIDE, 60), text, fill=FAINT, font=text_font(14), anchor="ls")
    for one in (frame, other):
        _draw_axes(pen, one)
        _mark_root(pen, one)
    beyond = int(counts.max()) > most
    _draw_scale(picture, frame, "paths that reach a cell", FREQUENCY, float(most), whole=True, beyond=beyond)
    _draw_scale(picture, other, "cost of the way", COST, dearest, whole=False, beyond=False)
    if path is not None:
        save_png(picture, path)
    return picture


def _frame(region: Region, width: int) -> _MapFrame:
    """Return the left map, as large as two can be side by side, and no higher than 1.5 times its width."""
    rows, columns = np.nonzero(region.inside)
    cell, (x, y) = region.spec.cell, region.spec.origin
    right = -(y + cell * (float(rows.max()) + 2.0)), -(y + cell * (float(rows.min()) - 1.0))
    ahead = x + cell * (float(columns.min()) - 1.0), x + cell * (float(columns.max()) + 2.0)
    wide, high = right[1] - right[0], ahead[1] - ahead[0]
    across = (width - 2 * _SIDE - _GAP) // 2
    scale = min(across / wide, 1.3 * across / high)
    # a narrow region lies in the middle of its map
    spare = across / scale - wide
    return _MapFrame(_SIDE, _HEADER, across, round(high * scale), (right[0] - 0.5 * spare, ahead[0]), scale)


def _frequencies(tree: Tree) -> tuple[npt.NDArray[np.int64], int]:
    """Return the number of paths that reach each cell, and the number of the last colour: few cells have more."""
    counts, _ = coverage(tree)
    own = counts[tree.region.inside]
    return counts, max(int(np.ceil(np.percentile(own, 99.5))), 1)


def _frequency_map(region: Region, counts: npt.NDArray[np.int64], most: int, frame: _MapFrame) -> Image.Image:
    colors = _colors(FREQUENCY, np.minimum(counts / most, 1.0))
    colors[region.inside & (counts == 0)] = 255
    colors[~region.inside] = ImageColor.getrgb(FLOOR)
    # cells run along x (ahead, up) and y (left); the picture along right and down
    turned = colors.transpose(1, 0, 2)[::-1, ::-1]
    out = Image.new("RGB", (frame.width, frame.height), FLOOR)
    rows, columns = region.spec.shape
    cell, (x, y) = region.spec.cell, region.spec.origin
    left, top = frame.pixel(-(y + cell * rows), x + cell * columns)
    right, bottom = frame.pixel(-y, x)
    cells = Image.fromarray(np.ascontiguousarray(turned))
    cells = cells.resize((round(right - left), round(bottom - top)), Image.Resampling.NEAREST)
    out.paste(cells, (round(left - frame.left), round(top - frame.top)))
    _draw_rim(ImageDraw.Draw(out), region, frame)
    return out


def _path_map(tree: Tree, frame: _MapFrame) -> tuple[Image.Image, float]:
    """Draw all moves as lines, coloured by the cost of the cheapest path; also returns the cost of the last colour."""
    paper = np.array(ImageColor.getrgb(FLOOR), dtype=np.float64)
    amounts, costs = _drawn(tree, frame)
    dearest = max(float(np.percentile(costs[amounts > 0.0], 99.9)) if amounts.any() else 0.0, 1e-9)
    ways = _colors(COST, np.minimum(costs / dearest, 1.0)).astype(np.float64)
    some = amounts[amounts > 0.0]
    ink = min(_INK, 1.6 / max(float(np.median(some)), 1e-9)) if len(some) else _INK
    cover = (1.0 - np.exp(-ink * amounts))[..., None]
    fine = Image.fromarray((paper + cover * (ways - paper)).round().astype(np.uint8))
    out = fine.reduce(_FINE)
    _draw_rim(ImageDraw.Draw(out), tree.region, frame)
    return out, dearest


def _drawn(tree: Tree, frame: _MapFrame) -> tuple[FloatArray, FloatArray]:
    """Return how much of the lines of all moves is in each fine pixel, and the least cost there."""
    shape, finer = (frame.height * _FINE, frame.width * _FINE), frame.scale * _FINE
    starts, points = tree.moves.points(0.5 / finer)
    full, place = tree.unfold(), np.array([*frame.low, finer])
    amounts, costs = np.zeros(shape), np.full(shape, np.inf)
    draw_moves(tree.links, read_only(full.poses), read_only(full.costs), starts, points, read_only(place),
               -(-len(tree) // MOST_DRAWN), amounts, costs)  # fmt: skip
    # a line is three fine pixels wide
    wide = scipy.ndimage.uniform_filter(amounts, 3, mode="constant")
    least = scipy.ndimage.minimum_filter(costs, 3, mode="nearest")
    return wide, np.where(np.isfinite(least), least, 0.0)


def _draw_rim(pen: ImageDraw.ImageDraw, region: Region, frame: _MapFrame) -> None:
    """Draw the border of the region, cell by cell."""
    padded = np.pad(region.inside, 1)
    cell, (x, y) = region.spec.cell, region.spec.origin
    for axis in (0, 1):
        for row, column in np.argwhere(np.diff(padded.astype(np.int8), axis=axis) != 0).tolist():
            # the border lies after this padded cell along the axis
            a = (row, column - 1) if axis == 0 else (row - 1, column)
            b = (a[0], a[1] + 1) if axis == 0 else (a[0] + 1, a[1])
            ends = [frame.pixel(-(y + cell * r), x + cell * c) for r, c in (a, b)]
            pen.line([(px - frame.left, py - frame.top) for px, py in ends], fill=RIM)


def _draw_axes(pen: ImageDraw.ImageDraw, frame: _MapFrame) -> None:
    """Draw the frame of a map, and metres along its lower and left edge."""
    box = (frame.left, frame.top, frame.left + frame.width, frame.top + frame.height)
    pen.rectangle(box, outline=EDGE)
    step, font = nice_step(46.0 / frame.scale), text_font(12)
    for right in grid_lines(frame.low[0], frame.low[0] + frame.width / frame.scale, step):
        x, y = frame.pixel(right, frame.low[1])
        pen.line([(x, y), (x, y + 5)], fill=EDGE)
        pen.text((x, y + 8), f"{abs(right):g}", fill=FAINT, font=font, anchor="mt")
    for ahead in grid_lines(frame.low[1], frame.low[1] + frame.height / frame.scale, step):
        x, y = frame.pixel(frame.low[0], ahead)
        pen.line([(x - 5, y), (x, y)], fill=EDGE)
        pen.text((x - 8, y), f"{ahead:g}", fill=FAINT, font=font, anchor="rm")
    below = frame.top + frame.height + 24
    pen.text((frame.left, below), "left [m]", fill=FAINT, font=font, anchor="lt")
    pen.text((frame.left + frame.width, below), "right [m]", fill=FAINT, font=font, anchor="rt")
    pen.text((frame.left, frame.top - 6), "ahead [m]", fill=FAINT, font=font, anchor="ls")


def _mark_root(pen: ImageDraw.ImageDraw, frame: _MapFrame) -> None:
    """Draw where the character stands, and that it faces up."""
    x, y = frame.pixel(0.0, 0.0)
    arrow = [(x, y - 13.0), (x + 8.0, y + 7.0), (x, y + 3.0), (x - 8.0, y + 7.0)]
    pen.polygon(arrow, fill="#ffffff", outline=EDGE, width=2)


def _draw_scale(
    picture: Image.Image, frame: _MapFrame, words: str, stops: Sequence[str], most: float, *, whole: bool, beyond: bool
) -> None:
    """Draw the meaning of a map's colours below it: 0 to `most`, in whole numbers, and whether there are more."""
    pen, font = ImageDraw.Draw(picture), text_font(13)
    width, height, top = min(300, frame.width // 2), 12, frame.top + frame.height + 52
    left = frame.left + frame.width - width
    bar = _colors(stops, np.broadcast_to(np.linspace(0.0, 1.0, width), (height, width)))
    picture.paste(Image.fromarray(bar), (left, top))
    pen.rectangle((left - 1, top - 1, left + width, top + height), outline=EDGE)
    pen.text((left - 14, top + height // 2), words, fill=EDGE, font=font, anchor="rm")
    for value in grid_lines(0.0, most, nice_step(max(most / 5.0, 1.0 if whole else 0.0))):
        x = left + value / most * (width - 1)
        pen.line([(x, top + height), (x, top + height + 4)], fill=EDGE)
        pen.text((x, top + height + 6), f"{value:,.15g}", fill=FAINT, font=text_font(12), anchor="mt")
    if beyond:
        pen.text((left + width + 4, top + height // 2), "+", fill=FAINT, font=font, anchor="lm")


def _colors(stops: Sequence[str], shares: npt.ArrayLike) -> Pixels:
    """Return colours (..., 3) at shares 0..1 along some stops."""
    known = np.array([ImageColor.getrgb(stop)[:3] for stop in stops], dtype=np.float64)
    at = np.asarray(shares, dtype=np.float64)
    mixed = [np.interp(at, np.linspace(0.0, 1.0, len(known)), known[:, k]) for k in range(3)]
    return np.stack(mixed, axis=-1).round().astype(np.uint8)
