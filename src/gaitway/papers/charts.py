"""Charts of the papers' tables, drawn by matplotlib (the extra `plot`).

A chart has lines over a scale, or bars in groups. The paper's own numbers are dashed or pale.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from gaitway.core.errors import GaitwayError, MissingExtraError
from gaitway.render.plan.canvas import mixed
from gaitway.render.raster.colors import from_oklch, to_hex

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, FAINT, GRID = "#2f3338", "#7d848c", "#e4e6e9"
_SIZE = (1100, 620)
"""Width and height of a chart [px]."""
_DPI = 100
_WORDS, _TITLE = 11.0, 15.0
"""Letter heights [pt]."""
_GROUP_WIDTH = 0.8
"""Share of the axis that the bars of a group fill."""
_PALE = 0.55
"""Share of white in bars with the paper's numbers."""


@dataclass(frozen=True)
class Series:
    """One line, or one bar of each group."""

    name: str
    values: tuple[float | None, ...]
    """One number for each place; None where there is none."""
    dashed: bool = False
    """Whether these are numbers of the paper; they have the colour of the series before them."""


@dataclass(frozen=True, kw_only=True)
class Chart:
    """The contents of a chart."""

    name: str
    """Name of its file."""
    title: str
    places: tuple[str, ...]
    """Words below the axis, from left to right."""
    across: str
    """Title of the horizontal axis."""
    up: str
    """Title of the vertical axis."""
    series: tuple[Series, ...]
    log: bool = False
    """Whether the vertical axis is logarithmic."""
    bars: bool = False
    """Whether series are bars in groups rather than lines."""
    zoomed: bool = False
    """Whether the vertical axis need not begin at 0, so that small differences can be seen."""


def can_draw() -> bool:
    """Return whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def draw_chart(chart: Chart) -> Image.Image:
    """Draw a chart.

    Raises:
        GaitwayError: if there is no number to draw.
        MissingExtraError: if matplotlib is not installed.
    """
    rows = [_drawable(series, chart.log) for series in chart.series]
    if not any(np.isfinite(row).any() for row in rows):
        raise GaitwayError(f"chart '{chart.name}' has no number to draw")
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415  (an extra)
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ModuleNotFoundError:
        raise MissingExtraError("drawing charts", "plot") from None
    figure = Figure(figsize=(_SIZE[0] / _DPI, _SIZE[1] / _DPI), dpi=_DPI, facecolor="white")
    figure.set_layout_engine("constrained", w_pad=0.2, h_pad=0.16)
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    colors = _colors(chart.series)
    (_draw_bars if chart.bars else _draw_lines)(axes, chart.series, rows, colors)
    _finish(axes, chart)
    canvas.draw()  # type: ignore[no-untyped-call]
    pixels = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
    return Image.fromarray(pixels[..., :3].copy())


def _drawable(series: Series, log: bool) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the numbers of a series, NaN where there is none; a logarithmic axis shows numbers above 0 only."""
    values = np.array([np.nan if v is None else v for v in series.values], dtype=np.float64)
    return np.where(values > 0.0, values, np.nan) if log else values


def _draw_lines(
    axes: Axes,
    series: Sequence[Series],
    rows: Sequence[np.ndarray[tuple[int], np.dtype[np.float64]]],
    colors: Sequence[str],
) -> None:
    for one, row, color in zip(series, rows, colors, strict=True):
        known = np.flatnonzero(np.isfinite(row))  # lines go on where a number is missing
        axes.plot(
            known, row[known], color=color, label=one.name, marker="o", markersize=6.5, markeredgewidth=1.8,
            linestyle=(0, (4, 3)) if one.dashed else "-", linewidth=1.6 if one.dashed else 2.4,
            markerfacecolor="white" if one.dashed else color,
        )  # fmt: skip


def _draw_bars(
    axes: Axes,
    series: Sequence[Series],
    rows: Sequence[np.ndarray[tuple[int], np.dtype[np.float64]]],
    colors: Sequence[str],
) -> None:
    width = _GROUP_WIDTH / len(series)
    for number, (one, row, color) in enumerate(zip(series, rows, colors, strict=True)):
        places = np.arange(len(row)) - 0.5 * _GROUP_WIDTH + (number + 0.5) * width
        axes.bar(places, row, 0.9 * width, color=mixed(color, "#ffffff", _PALE if one.dashed else 0.0), label=one.name)


def _finish(axes: Axes, chart: Chart) -> None:
    """Set scales, words, grid and key."""
    if chart.log:
        axes.set_yscale("log")
    elif not chart.zoomed:
        values = [v for series in chart.series for v in series.values if v is not None]
        low, high = axes.get_ylim()
        axes.set_ylim(low if min(values) < 0.0 else 0.0, high if max(values) > 0.0 else 0.0)
    axes.yaxis.set_major_formatter(lambda value, _: _number(value))
    axes.set_xlim(-0.6, len(chart.places) - 0.4)
    axes.set_xticks(range(len(chart.places)), chart.places)
    axes.set_title(chart.title, loc="left", fontsize=_TITLE, color=INK, pad=14.0)
    axes.set_xlabel(chart.across, fontsize=_WORDS, color=FAINT, labelpad=8.0)
    axes.set_ylabel(chart.up, fontsize=_WORDS, color=FAINT, labelpad=8.0)
    axes.tick_params(axis="x", length=0.0, labelsize=_WORDS, labelcolor=INK, pad=8.0)
    axes.tick_params(axis="y", which="both", length=0.0, labelsize=_WORDS, labelcolor=FAINT)
    axes.grid(axis="y", color=GRID, linewidth=1.0)
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.legend(
        loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=_WORDS, labelcolor=INK, handlelength=2.4,
        borderaxespad=0.0,
    )  # fmt: skip


def _colors(series: Iterable[Series]) -> list[str]:
    """Return the colour of each series; the paper's numbers have that of the series before them."""
    out, number = list[str](), -1
    for one in series:
        number += not (one.dashed and out)
        hue = (28.0 + 137.5 * number) % 360.0
        out.append(to_hex(from_oklch(0.60, 0.13, hue)))
    return out


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:g}"
