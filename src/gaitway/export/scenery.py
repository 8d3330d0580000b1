"""What a world looks like in exported files: the colour of every kind of thing, and normals of its surfaces."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gaitway.arrays import FloatArray, IntArray
from gaitway.export.skinned import Material
from gaitway.render.palette import from_hex
from gaitway.world.obstacle import PASSABLE, WALL

_COLORS: Mapping[str, str] = {
    WALL: "#b4aea3",
    PASSABLE: "#a9b8a4",
    "jump": "#c98a5e",
    "duck": "#7d94b5",
    "crawl": "#8f83b0",
    "climb": "#b39a6b",
    "box": "#b39a6b",
    "stairs": "#a39e98",
}
_OTHER_COLOR = "#c2a25c"
_GROUND_COLOR = "#d6d3cc"


def kind_material(kind: str, color: str | None = None) -> Material:
    """What an obstacle looks like.

    Args:
        kind: as in `Obstacle.kind`; kinds that only some library knows share one colour.
        color: its own colour as "#rrggbb", if it has one.
    """
    name = kind if color is None else f"{kind}_{color.removeprefix('#').lower()}"
    return _material(name, _COLORS.get(kind, _OTHER_COLOR) if color is None else color)


def ground_material() -> Material:
    """What the ground looks like."""
    return _material("ground", _GROUND_COLOR)


def vertex_normals(vertices: FloatArray, triangles: IntArray) -> FloatArray:
    """Unit normals (V, 3): the mean of the triangles at each vertex by their area; up where there are none."""
    corners = vertices[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    total = np.stack(
        [np.bincount(triangles.ravel(), np.repeat(normals[:, i], 3), len(vertices)) for i in range(3)], axis=-1
    )
    length = np.linalg.norm(total, axis=-1, keepdims=True)
    unit: FloatArray = np.where(length > 0.0, total / np.where(length > 0.0, length, 1.0), [0.0, 0.0, 1.0])
    return unit


def _material(name: str, color: str) -> Material:
    red, green, blue = (float(v) for v in from_hex(color))
    return Material(name, (red, green, blue), 0.9)
