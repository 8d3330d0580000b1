"""Grids and regions of planners over a plan: covered cells, and the near and within regions of special obstacles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import shapely
from PIL import Image

from gaitway.render.plan.canvas import Canvas, mixed, rgba
from gaitway.render.plan.obstacles import HALO, INK
from gaitway.render.raster.colors import kind_color
from gaitway.world.clearance import Clearance
from gaitway.world.footprint import drawn_geometry
from gaitway.world.grid import GridSpec
from gaitway.world.obstacle import WALL, Obstacle
from gaitway.world.occupancy import Occupancy
from gaitway.world.regions import Reach, near, within
from gaitway.world.world import World

_WALL_CELL = "#4d5a78"
_FIELD = ("#fdfcfa", "#2f6f8f")
"""Colours of no clearance and of the most of it."""


def draw_regions(canvas: Canvas, world: World, time: float, reaches: Sequence[Reach], radius: float) -> None:
    """Draw where a special motion may begin (dashed band), and where a character may be only while executing it."""
    bounds = shapely.box(*world.bounds)
    for obstacle in world.at(time).obstacles:
        if obstacle.special:
            _draw_region(canvas, obstacle, bounds, _ground(world, obstacle), reaches, radius)


def _ground(world: World, obstacle: Obstacle) -> float:
    return float(world.ground(obstacle.shape.footprint().points.mean(axis=0)))


def _draw_region(
    canvas: Canvas,
    obstacle: Obstacle,
    bounds: shapely.Geometry,
    ground: float,
    reaches: Sequence[Reach],
    radius: float,
) -> None:
    color = kind_color(obstacle.kind)
    ink = mixed(color, INK, 0.3)
    inner = shapely.intersection(drawn_geometry(within(obstacle, radius)), bounds)
    region = near(obstacle, reaches, ground=ground)
    if region is not None:
        outside = drawn_geometry(region.footprint.grown(region.farthest))
        band = shapely.difference(outside, drawn_geometry(region.footprint.grown(max(region.nearest, 0.0))))
        band = shapely.intersection(band, bounds)
        canvas.fill(band, (color, 0.13))
        canvas.outline(band, (color, 0.7), 1.0, 4.0)
        for part in getattr(band, "geoms", [band]):
            if not part.is_empty:
                canvas.wish(f"near {obstacle.kind}", part.representative_point().coords[0], 12.0, ink, 0.0, HALO)
    canvas.fill(inner, (color, 0.30))
    canvas.outline(inner, (color, 0.9), 1.0)


def draw_occupancy(canvas: Canvas, grid: Occupancy) -> None:
    """Draw covered cells: walls blue-grey, special obstacles in the colour of their kind."""
    picture = np.zeros((*grid.spec.shape, 4), dtype=np.uint8)
    for number in range(len(grid.kinds) - 1, -1, -1):
        kind = grid.kinds[number]
        covered = (grid.mask & np.uint16(1 << number)) != 0
        picture[covered] = rgba((_WALL_CELL if kind == WALL else kind_color(kind), 0.34))
    _paste_cells(canvas, grid.spec, picture)


def draw_clearance(canvas: Canvas, clearance: Clearance) -> None:
    """Draw distance to the nearest obstacle: darker where there is more room, in bands of 0.25 m."""
    distances = np.where(np.isfinite(clearance.distances), clearance.distances, 0.0).astype(np.float64)
    share = np.floor(4.0 * distances) / max(4.0 * float(distances.max()), 1e-9)
    low, high = (np.array(rgba(color)[:3], dtype=np.float64) for color in _FIELD)
    picture = np.full((*clearance.spec.shape, 4), 150, dtype=np.uint8)
    picture[..., :3] = low + (high - low) * share[..., None]
    _paste_cells(canvas, clearance.spec, picture)


def _paste_cells(canvas: Canvas, spec: GridSpec, picture: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> None:
    """Paste cells with colours and opacities (rows, columns, 4), the lowest row first, onto the map."""
    x0, y0, x1, y1 = spec.bounds
    corners = np.round(canvas.pixels([[x0, y1], [x1, y0]]) * canvas.factor).astype(int)
    width, height = (int(n) for n in corners[1] - corners[0])
    layer = Image.fromarray(np.ascontiguousarray(picture[::-1])).resize((width, height), Image.Resampling.NEAREST)
    canvas.image.paste(layer.convert("RGB"), (int(corners[0, 0]), int(corners[0, 1])), layer.getchannel(3))
