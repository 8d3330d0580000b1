"""How areas with a meaning are painted on the ground: a colour for what they are, and arrows for how people walk."""

from __future__ import annotations

import math

import numpy as np
import shapely

from gaitway.core.arrays import FloatArray
from gaitway.world.areas import Area

_AVOID, _LIKE, _ONE_WAY, _SLOW, _KEEP, _PRIORITY = "#c8503c", "#4f9a5b", "#3f78b5", "#d9a02b", "#7c68b0", "#d07d2c"
_STEP = 2.4
"""Distance from one arrow to the next [m]."""
_ARROW = np.array([[0.6, 0.0], [0.1, 0.3], [0.1, 0.1], [-0.6, 0.1], [-0.6, -0.1], [0.1, -0.1], [0.1, -0.3]])
"""Outline of an arrow that points along +x [m]; (7, 2)."""


def area_color(area: Area) -> str:
    """Return the sRGB colour of an area, by its strongest rule."""
    if area.one_way is not None:
        return _ONE_WAY
    if area.cost != 1.0:
        return _AVOID if area.cost > 1.0 else _LIKE
    if area.speed_limit is not None:
        return _SLOW
    return _KEEP if area.keep else _PRIORITY


def area_arrows(area: Area) -> list[shapely.Polygon]:
    """Return arrows on the ground, inside an area: one way, or both on the sides that people keep to."""
    outline = area.polygon
    if area.one_way is not None:
        return _arrows(outline, area.one_way, area.one_way)
    if not area.keep:
        return []
    corners = np.array(shapely.minimum_rotated_rectangle(outline).exterior.coords)[:4]
    sides = np.roll(corners, -1, axis=0) - corners
    longest = sides[int(np.argmax(np.hypot(sides[:, 0], sides[:, 1]).round(6)))]
    way = math.atan2(longest[1], longest[0])
    return _arrows(outline, way, way, area.keep)


def _arrows(outline: shapely.Polygon, along: float, heading: float, keep: int = 0) -> list[shapely.Polygon]:
    """Return arrows on a lattice along a direction; `keep` turns those on the left (1) or right (-1) half around."""
    c, s = math.cos(along), math.sin(along)
    axes = np.array([[c, s], [-s, c]])
    middle = np.array([outline.centroid.x, outline.centroid.y])
    local: FloatArray = (np.array(outline.exterior.coords) - middle) @ axes.T
    reach = np.abs(local).max(axis=0)
    rows = [0.0] if not keep else [-0.5 * float(reach[1]), 0.5 * float(reach[1])]
    if not keep and reach[1] > _STEP:
        rows = (np.arange(-math.floor(reach[1] / _STEP), math.floor(reach[1] / _STEP) + 1) * _STEP).tolist()
    columns = np.arange(-math.floor(reach[0] / _STEP), math.floor(reach[0] / _STEP) + 1) * _STEP
    found = []
    for row in rows:
        turned = math.pi if keep * row > 0.0 else 0.0
        cosine, sine = math.cos(heading + turned), math.sin(heading + turned)
        shape = _ARROW @ np.array([[cosine, sine], [-sine, cosine]])
        for column in columns.tolist():
            arrow = shapely.Polygon(shape + middle + np.array([column, row]) @ axes)
            if outline.contains(arrow):
                found.append(arrow)
    return found
