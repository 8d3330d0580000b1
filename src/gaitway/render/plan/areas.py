"""Areas with a meaning on a plan."""

from __future__ import annotations

import shapely
import shapely.ops

from gaitway.render.plan.canvas import Canvas, mixed
from gaitway.render.raster.area_paint import area_arrows, area_color
from gaitway.world.world import World


def draw_areas(canvas: Canvas, world: World) -> None:
    """Draw the areas of a world on its floor, with arrows, and say what holds there."""
    for area in world.areas:
        color, outline = area_color(area), area.polygon.intersection(shapely.box(*world.bounds))
        canvas.fill(outline, (color, 0.16))
        canvas.outline(outline, (color, 0.7), 1.2, 6.0)
        for arrow in area_arrows(area):
            canvas.fill(arrow, (color, 0.5))
        words = f"{area.name}: {area.words}" if area.name else area.words
        inside = _upper_left(outline, 14.0 / canvas.scale)
        canvas.wish(words, inside, 12.0, mixed(color, "#000000", 0.35), 4.0, "#ffffff")


def _upper_left(outline: shapely.Geometry, inset: float) -> tuple[float, float]:
    """Return a point of an area near its upper left, some way inside [m], where arrows seldom are."""
    x0, _, _, y1 = outline.bounds
    inner = outline.buffer(-inset)
    found = shapely.ops.nearest_points(outline if inner.is_empty else inner, shapely.Point(x0, y1))[0]
    return float(found.x), float(found.y)
