"""Places with several levels that tests of walkable surfaces share."""

from __future__ import annotations

import math

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.world.levels.spans import Geometry, WalkLimits
from gaitway.world.meshes import MeshShape

PERSON = WalkLimits(radius=0.25, headroom=1.9, step=0.22, slope=math.radians(35.0))


def plate(x0: float, y0: float, x1: float, y1: float, *heights: float) -> FloatArray:
    """Return two triangles that face up; one height, or those at (x0, y0), (x1, y0), (x1, y1), (x0, y1)."""
    z = heights if len(heights) == 4 else heights * 4
    a, b, c, d = ((x0, y0, z[0]), (x1, y0, z[1]), (x1, y1, z[2]), (x0, y1, z[3]))
    return np.array([[a, b, c], [a, c, d]])


def geometry(*parts: FloatArray) -> Geometry:
    corners = np.concatenate(parts)
    return Geometry.of_shapes([MeshShape.of(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))])


def bridge() -> Geometry:
    """A road along y under a bridge along x at 3 m, with ramps at both ends."""
    ground = plate(-12, -5, 12, 5, 0.0)
    deck = plate(-3, -1, 3, 1, 3.0)
    west, east = plate(-10, -1, -3, 1, 0.0, 3.0, 3.0, 0.0), plate(3, -1, 10, 1, 3.0, 0.0, 0.0, 3.0)
    return geometry(ground, deck, west, east)


def winding(turns: float, rise: float, inner: float = 1.0, outer: float = 3.0) -> Geometry:
    """A ramp that winds around an axis and lies over itself."""
    count = round(48 * turns)
    angle = np.linspace(0.0, 2.0 * np.pi * turns, count + 1)
    z = angle / (2.0 * np.pi) * rise
    near, far = (np.column_stack([r * np.cos(angle), r * np.sin(angle), z]) for r in (inner, outer))
    first = np.stack([near[:-1], far[:-1], far[1:]], axis=1)
    return geometry(np.concatenate([first, np.stack([near[:-1], far[1:], near[1:]], axis=1)]))
