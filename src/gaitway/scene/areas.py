"""Areas of a scene as geometry: what they cover, and points spaced on a ring."""

from __future__ import annotations

import numpy as np
import shapely

from gaitway.core.arrays import FloatArray
from gaitway.scene.model import AreaItem, CircleItem
from gaitway.world.footprint import Footprint
from gaitway.world.outline import check_outline
from gaitway.world.plane import drawn

_ROUND_SEGMENTS = 32
"""Straight pieces for a quarter of a round area: it is drawn 0.03 % too small."""


def ring_points(ring: CircleItem, count: int) -> FloatArray:
    """Points (count, 2) evenly on a circle, the first at its +x end, counter-clockwise."""
    angle = 2.0 * np.pi * np.arange(count) / count
    return np.asarray(ring.center) + ring.radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def area_geometry(area: AreaItem) -> shapely.Geometry:
    """What an area covers.

    Raises:
        WorldError: if it is an outline that crosses itself.
    """
    if area.rectangle is not None:
        return shapely.box(*area.rectangle)
    if area.polygon is not None:
        check_outline([tuple((point[0], point[1]) for point in area.polygon)])
        return shapely.Polygon(area.polygon)
    circle = area.circle or area.ring
    assert circle is not None
    return drawn(Footprint.of_rings([[circle.center]], circle.radius), _ROUND_SEGMENTS)
