"""Charts of the papers' tables: lines over a scale, or bars in groups, the paper's own numbers dashed or pale."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from PIL import Image, ImageDraw

from gaitway.core.errors import GaitwayError
from gaitway.render.plan.canvas import mixed
from gaitway.render.raster.colors import from_oklch, to_hex
from gaitway.render.raster.labels import text_font, text_size

PAPER, INK, FAINT, GRID = "#ffffff", "#2f3338", "#7d848c", "#e4e6e9"
_SIZE = (1100, 620)
_LEFT, _TOP, _BOTTOM, _GAP = 84, 64, 74, 26
_FINE = 3
"""Charts are drawn so many times larger, and made small again, to be smooth."""
_WORDS = 15.0


@dataclass(frozen=True)
class Series:
    """One line, or one bar of each group."""

    name: str
    values: tuple[float | None, ...]
    """One for each place; None where there is none."""
    dashed: bool = False
    """Numbers of the paper, drawn in the colour of the series before it."""


@dataclass(frozen=True)
class Chart:
    """What a chart shows."""

    name: str
    """Of its file."""
    title: str
    places: tuple[str, ...]
    """Words under the axis, from left to right."""
    across: str
    """What they are."""
    up: str
    """What the numbers are."""
    series: tuple[Series, ...]
    log: bool = False
    """Whether the numbers are on a logarithmic scale."""
    bars: bool = False
    """Bars in groups, and not lines."""
    zoomed: bool = False
    """Whether the axis need not begin at 0, so that small differences are seen."""


@dataclass(frozen=True)
class _Frame:
    """Where numbers lie in the picture [px]."""

    left: float
    right: float
    top: float
    bottom: float
    ticks: tuple[float, ...]
    log: bool

    def height(self, value: float) -> float:
        low, high = self._scaled(self.ticks[0]), self._scaled(self.ticks[-1])
        share = (self._scaled(value) - low) / (high - low)
        return self.bottom - share * (self.bottom - self.top)

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self.log else value


def draw_chart(chart: Chart) -> Image.Image:
    """A chart as a picture.

    Raises:
        GaitwayError: if there is nothing to draw.
    """
    values = [v for series in chart.series for v in series.values if v is not None and (v > 0.0 or not chart.log)]
    if not values:
        raise GaitwayError(f"chart '{chart.name}' has no number to draw")
    names = [series.name for series in chart.series]
    wide = max(text_size(name, _WORDS)[0] for name in names) + 60
    ticks = _decades(values) if chart.log else _steps(values, chart.zoomed)
    frame = _Frame(_LEFT, _SIZE[0] - wide - _GAP, _TOP, _SIZE[1] - _BOTTOM, ticks, chart.log)
    image = Image.new("RGB", (_SIZE[0] * _FINE, _SIZE[1] * _FINE), PAPER)
    pen = ImageDraw.Draw(image)
    _draw_grid(pen, frame)
    colors = _colors(chart.series)
    (_draw_bars if chart.bars else _draw_lines)(pen, frame, chart, colors)
    _draw_keys(pen, frame, chart, colors)
    out = image.reduce(_FINE)
    _write(ImageDraw.Draw(out), frame, chart)
    return out


def _write(pen: ImageDraw.ImageDraw, frame: _Frame, chart: Chart) -> None:
    pen.text((_LEFT, 18), chart.title, INK, text_font(20.0))
    pen.text((_LEFT, 44), chart.up, FAINT, text_font(_WORDS))
    for tick in frame.ticks:
        pen.text((frame.left - 10, frame.height(tick)), _number(tick), FAINT, text_font(_WORDS), "rm")
    for x, words in zip(_places(frame, len(chart.places)), chart.places, strict=True):
        pen.text((x, frame.bottom + 10), words, INK, text_font(_WORDS), "ma")
    pen.text((0.5 * (frame.left + frame.right), frame.bottom + 38), chart.across, FAINT, text_font(_WORDS), "ma")
    for row, series in enumerate(chart.series):
        pen.text((frame.right + _GAP + 40, _key_height(frame, row)), series.name, INK, text_font(_WORDS), "lm")


def _draw_grid(pen: ImageDraw.ImageDraw, frame: _Frame) -> None:
    for tick in frame.ticks:
        y = frame.height(tick) * _FINE
        pen.line([(frame.left * _FINE, y), (frame.right * _FINE, y)], fill=GRID, width=_FINE)


def _draw_lines(pen: ImageDraw.ImageDraw, frame: _Frame, chart: Chart, colors: Sequence[str]) -> None:
    places = _places(frame, len(chart.places))
    for series, color in zip(chart.series, colors, strict=True):
        points = [
            (x * _FINE, frame.height(v) * _FINE)
            for x, v in zip(places, series.values, strict=True)
            if v is not None and (v > 0.0 or not chart.log)
        ]
        _stroke(pen, points, color, series.dashed)
        for x, y in points:
            _dot(pen, x, y, color, hollow=series.dashed)


def _draw_bars(pen: ImageDraw.ImageDraw, frame: _Frame, chart: Chart, colors: Sequence[str]) -> None:
    places, count = _places(frame, len(chart.places)), len(chart.series)
    room = (frame.right - frame.left) / len(places)
    width = 0.8 * room / count
    for number, (series, color) in enumerate(zip(chart.series, colors, strict=True)):
        for x, value in zip(places, series.values, strict=True):
            if value is None or (chart.log and value <= 0.0):
                continue
            left = x - 0.4 * room + number * width
            box = [left + 0.06 * width, frame.height(value), left + 0.94 * width, frame.bottom]
            pen.rectangle([v * _FINE for v in box], fill=mixed(color, PAPER, 0.55 if series.dashed else 0.0))


def _draw_keys(pen: ImageDraw.ImageDraw, frame: _Frame, chart: Chart, colors: Sequence[str]) -> None:
    for row, (series, color) in enumerate(zip(chart.series, colors, strict=True)):
        x, y = (frame.right + _GAP) * _FINE, _key_height(frame, row) * _FINE
        if chart.bars:
            fill = mixed(color, PAPER, 0.55 if series.dashed else 0.0)
            pen.rectangle([x, y - 7 * _FINE, x + 28 * _FINE, y + 7 * _FINE], fill=fill)
        else:
            _stroke(pen, [(x, y), (x + 30 * _FINE, y)], color, series.dashed)
            _dot(pen, x + 15 * _FINE, y, color, hollow=series.dashed)


def _stroke(pen: ImageDraw.ImageDraw, points: Sequence[tuple[float, float]], color: str, dashed: bool) -> None:
    width = round((1.6 if dashed else 2.6) * _FINE)
    for (ax, ay), (bx, by) in pairwise(points):
        length, dash = math.hypot(bx - ax, by - ay), 7.0 * _FINE
        pieces = [(0.0, 1.0)]
        if dashed and length > 0.0:
            pieces = [(s, min(s + dash / length, 1.0)) for s in np.arange(0.0, 1.0, 1.7 * dash / length)]
        for start, end in pieces:
            pen.line(
                [(ax + start * (bx - ax), ay + start * (by - ay)), (ax + end * (bx - ax), ay + end * (by - ay))],
                fill=color,
                width=width,
            )


def _dot(pen: ImageDraw.ImageDraw, x: float, y: float, color: str, hollow: bool) -> None:
    radius = 4.2 * _FINE
    fill = PAPER if hollow else color
    pen.ellipse([x - radius, y - radius, x + radius, y + radius], fill=fill, outline=color, width=2 * _FINE)


def _places(frame: _Frame, count: int) -> list[float]:
    """Middles of so many parts of the axis."""
    step = (frame.right - frame.left) / count
    return [frame.left + (k + 0.5) * step for k in range(count)]


def _key_height(frame: _Frame, row: int) -> float:
    return frame.top + 8.0 + 25.0 * row


def _colors(series: Iterable[Series]) -> list[str]:
    """Of each series; the paper's numbers have that of the series before them."""
    out, number = list[str](), -1
    for one in series:
        number += not (one.dashed and out)
        hue = (28.0 + 137.5 * number) % 360.0
        out.append(to_hex(from_oklch(0.60, 0.13, hue)))
    return out


def _decades(values: Sequence[float]) -> tuple[float, ...]:
    """Powers of ten around values, two at least."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return tuple(10.0**k for k in range(low, max(high, low + 1) + 1))


def _steps(values: Sequence[float], zoomed: bool = False) -> tuple[float, ...]:
    """Round numbers around values, and 0 unless zoomed; five or so."""
    low, high = min(values), max(values)
    if not zoomed:
        low, high = min(low, 0.0), max(high, 0.0)
    raw = max(high - low, 1e-6) / 5.0
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1.0, 2.0, 2.5, 5.0, 10.0) if power * m >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return tuple(step * k for k in range(first, max(last, first + 1) + 1))


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:g}"
