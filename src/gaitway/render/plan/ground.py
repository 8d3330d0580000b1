"""The ground of a plan: paper, hills with contour lines, the metre grid."""

from __future__ import annotations

import numpy as np
import shapely
from PIL import Image

from gaitway.core.arrays import FloatArray
from gaitway.render.plan.canvas import Canvas
from gaitway.world.terrain import Terrain

FLOOR, LINE, EDGE = "#fdfcfa", "#e6e3dc", "#3c4046"
_LOW, _HIGH = np.array([214.0, 222.0, 200.0]), np.array([244.0, 236.0, 216.0])
"""Colours of the lowest and the highest ground."""
_CONTOUR = np.array([150.0, 128.0, 92.0])
_LIGHT = np.array([-0.55, 0.55, 0.63])
"""Direction of the sun: from the upper left, as on every map."""


def draw_ground(canvas: Canvas, terrain: Terrain | None) -> str:
    """Draw the floor or hills, and the grid; returns what a contour line means, or nothing."""
    floor = shapely.box(*canvas.bounds)
    words = ""
    if terrain is None:
        canvas.fill(floor, FLOOR)
    else:
        words = _draw_hills(canvas, terrain)
    _draw_grid(canvas, terrain is not None)
    return words


def nice_step(least: float) -> float:
    """Return the smallest of 1, 2, 5, 10, 20 ... (and tenths of these) that is at least `least`."""
    power = 10.0 ** np.floor(np.log10(max(least, 1e-6)))
    return float(next(power * f for f in (1.0, 2.0, 5.0, 10.0) if power * f >= least * (1.0 - 1e-9)))


def grid_lines(low: float, high: float, step: float) -> FloatArray:
    """Return multiples of a step within two numbers."""
    return (
        np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1.0) * step + 0.0
    )  # no minus before a nought


def _draw_grid(canvas: Canvas, over_hills: bool) -> None:
    x0, y0, x1, y1 = canvas.bounds
    step = nice_step(14.0 / canvas.scale) if canvas.scale < 14.0 else 1.0
    paint = ("#6b6250", 0.07) if over_hills else (LINE, 1.0)
    for every, width in ((step, 0.7), (5.0 * step, 1.3)):
        for x in grid_lines(x0, x1, every):
            canvas.line([[x, y0], [x, y1]], paint, width)
        for y in grid_lines(y0, y1, every):
            canvas.line([[x0, y], [x1, y]], paint, width)


def _draw_hills(canvas: Canvas, terrain: Terrain) -> str:
    """Draw a shaded relief with contour lines."""
    x0, y0, x1, y1 = canvas.bounds
    box = np.round(canvas.pixels([[x0, y1], [x1, y0]]) * canvas.factor).astype(int)
    size = (max(2, int(box[1, 0] - box[0, 0]) // canvas.factor), max(2, int(box[1, 1] - box[0, 1]) // canvas.factor))
    heights = _smooth_heights(terrain, canvas.bounds, size)
    cell = (x1 - x0) / size[0]
    down, across = (np.asarray(slope) for slope in np.gradient(heights, cell))
    # slopes are drawn steeper than they are: gentle hills would hardly show
    normal = np.stack([-1.8 * across, 1.8 * down, np.ones_like(heights)], axis=-1)
    light = np.clip(normal @ (_LIGHT / np.linalg.norm(_LIGHT)) / np.linalg.norm(normal, axis=-1), 0.0, 1.0)
    low, span = float(heights.min()), max(float(np.ptp(heights)), 1e-6)
    color = _LOW + (_HIGH - _LOW) * ((heights - low) / span)[..., None]
    color = color * (0.74 + 0.40 * light)[..., None]
    step = nice_step(span / 14.0)
    color = _with_contours(color, heights, across, down, step, cell)
    picture = Image.fromarray(np.clip(color, 0, 255).astype(np.uint8))
    picture = picture.resize((int(box[1, 0] - box[0, 0]), int(box[1, 1] - box[0, 1])), Image.Resampling.BILINEAR)
    canvas.image.paste(picture, (int(box[0, 0]), int(box[0, 1])))
    return f"contour lines every {step:g} m, ground from {low:.1f} to {low + span:.1f} m"


def _smooth_heights(terrain: Terrain, bounds: tuple[float, float, float, float], size: tuple[int, int]) -> FloatArray:
    """Return heights at `size` points, north first, smoothed between the terrain's corners to hide its edges."""
    x0, y0, x1, y1 = bounds
    columns = int(np.clip((x1 - x0) / terrain.cell, 2, size[0]))
    rows = int(np.clip((y1 - y0) / terrain.cell, 2, size[1]))
    x = x0 + (np.arange(columns) + 0.5) * (x1 - x0) / columns
    y = y1 - (np.arange(rows) + 0.5) * (y1 - y0) / rows
    coarse = terrain.height(np.stack(np.meshgrid(x, y), axis=-1)).astype(np.float32)
    # carried on beyond the edge as it comes there, so that contour lines do not bend at it
    pad = min(3, columns - 1, rows - 1)
    wide = np.pad(coarse, pad, mode="reflect", reflect_type="odd") if pad else coarse
    inner = (pad, pad, pad + columns, pad + rows)
    return np.asarray(Image.fromarray(wide).resize(size, Image.Resampling.BICUBIC, box=inner), dtype=np.float64)


def _with_contours(
    color: FloatArray, heights: FloatArray, across: FloatArray, down: FloatArray, step: float, cell: float
) -> FloatArray:
    """Add thin lines of equal height, every fifth a little stronger; level ground has none."""
    slope = np.maximum(np.hypot(across, down), 1e-4)
    for every, half_width, strength in ((step, 0.4, 0.5), (5.0 * step, 0.8, 0.45)):
        away = np.abs((heights / every + 0.5) % 1.0 - 0.5) * every / slope / cell
        share = strength * np.where(slope > 1e-3, np.clip(half_width + 0.5 - away, 0.0, 1.0), 0.0)[..., None]
        color = color + (_CONTOUR - color) * share
    return color
