"""What a world looks like in exported files: the colour of every kind of thing, and normals of its surfaces."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.export.skinned import Material
from gaitway.render.bodies.palette import from_hex
from gaitway.render.plan.kinds import kind_color

_GROUND_COLOR = "#dedcd8"


def kind_material(kind: str, color: str | None = None) -> Material:
    """What an obstacle looks like.

    Args:
        kind: as in `Obstacle.kind`; kinds that only some library knows share one colour.
        color: its own colour as "#rrggbb", if it has one.
    """
    name = kind if color is None else f"{kind}_{color.removeprefix('#').lower()}"
    return _material(name, color or kind_color(kind))


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
