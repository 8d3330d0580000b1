"""Compiled arithmetic of rotations and points, as tuples: nothing is allocated."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.jit import kernel

Turn = tuple[float, float, float, float]
Point = tuple[float, float, float]
_SMALL = 1e-12


@kernel(inner=True, borrows=True)
def times(a: Turn, b: Turn) -> Turn:
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@kernel(inner=True, borrows=True)
def back(a: Turn) -> Turn:
    return a[0], -a[1], -a[2], -a[3]


@kernel(inner=True, borrows=True)
def unit(a: Turn) -> Turn:
    size = np.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3])
    if size < _SMALL:
        return 1.0, 0.0, 0.0, 0.0
    return a[0] / size, a[1] / size, a[2] / size, a[3] / size


@kernel(inner=True, borrows=True)
def cross(a: Point, b: Point) -> Point:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel(inner=True, borrows=True)
def dot(a: Point, b: Point) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel(inner=True, borrows=True)
def plus(a: Point, s: float, b: Point) -> Point:
    """Return a + s b."""
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]


@kernel(inner=True, borrows=True)
def rotated(q: Turn, v: Point) -> Point:
    u = (q[1], q[2], q[3])
    t = cross(u, v)
    t = (2.0 * t[0], 2.0 * t[1], 2.0 * t[2])
    c = cross(u, t)
    return v[0] + q[0] * t[0] + c[0], v[1] + q[0] * t[1] + c[1], v[2] + q[0] * t[2] + c[2]


@kernel(inner=True, borrows=True)
def between(a: Point, b: Point) -> Turn:
    """Return the shortest rotation from one direction to another."""
    lengths = np.sqrt(dot(a, a)) * np.sqrt(dot(b, b))
    w = lengths + dot(a, b)
    if lengths > _SMALL and w < 1e-9 * lengths:  # half a turn, about any axis that is square to both
        c = cross(a, (1.0, 0.0, 0.0) if abs(a[0]) < abs(a[1]) else (0.0, 1.0, 0.0))
        return unit((0.0, c[0], c[1], c[2]))
    c = cross(a, b)
    return unit((w, c[0], c[1], c[2]))


@kernel(inner=True, borrows=True)
def slerp(a: Turn, b: Turn, t: float) -> Turn:
    a, b = unit(a), unit(b)
    cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    if cosine < 0.0:
        b = (-b[0], -b[1], -b[2], -b[3])
    cosine = min(abs(cosine), 1.0)
    x, y = b[0] - cosine * a[0], b[1] - cosine * a[1]
    z, w = b[2] - cosine * a[2], b[3] - cosine * a[3]
    angle = np.arctan2(np.sqrt(x * x + y * y + z * z + w * w), cosine)
    sine = np.sin(angle)
    if sine < 1e-6:
        p, q = 1.0 - t, t
    else:
        p, q = np.sin((1.0 - t) * angle) / sine, np.sin(t * angle) / sine
    return unit((p * a[0] + q * b[0], p * a[1] + q * b[1], p * a[2] + q * b[2], p * a[3] + q * b[3]))


@kernel(inner=True, borrows=True)
def turn_at(rows: FloatArray, j: int) -> Turn:
    return rows[j, 0], rows[j, 1], rows[j, 2], rows[j, 3]


@kernel(inner=True, borrows=True)
def point_at(rows: FloatArray, j: int) -> Point:
    return rows[j, 0], rows[j, 1], rows[j, 2]


@kernel(inner=True, borrows=True)
def set_turn(rows: FloatArray, j: int, q: Turn) -> None:
    rows[j, 0], rows[j, 1], rows[j, 2], rows[j, 3] = q
