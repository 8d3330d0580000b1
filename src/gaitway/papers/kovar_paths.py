"""Paths of Kovar, Gleicher and Pighin 2002 to walk along: a word in cursive, a circle, a zigzag, a sketch."""

from __future__ import annotations

import numpy as np

from gaitway.graphs.kovar.paths import Path, polyline, sketched, spline

_HELLO = (
    (0.0, 0.25), (0.35, 0.7), (0.62, 1.45), (0.5, 1.9), (0.3, 1.5), (0.28, 0.8), (0.3, 0.05), (0.42, 0.6), (0.7, 0.92),
    (0.9, 0.6), (0.95, 0.15), (1.25, 0.12), (1.55, 0.5), (1.6, 0.88), (1.4, 0.95), (1.3, 0.5), (1.5, 0.08), (1.85, 0.2),
    (2.15, 0.8), (2.32, 1.5), (2.2, 1.9), (2.05, 1.5), (2.05, 0.7), (2.15, 0.15), (2.45, 0.15), (2.75, 0.8),
    (2.92, 1.5), (2.8, 1.9), (2.65, 1.5), (2.65, 0.7), (2.75, 0.15), (3.05, 0.2), (3.3, 0.75), (3.6, 0.95),
    (3.35, 0.75), (3.3, 0.3), (3.6, 0.05), (3.9, 0.35), (3.85, 0.8), (3.65, 0.95), (3.95, 0.85), (4.4, 0.95),
)  # fmt: skip
"""The word in one line, letters a unit high; drawn for this."""


def hello(size: float) -> Path:
    """A word of greeting in cursive, its small letters so high [m]."""
    return spline(size * np.array(_HELLO) * (1.3, 1.0))


def circle(radius: float) -> Path:
    """Once around [m]."""
    turn = np.linspace(-0.5 * np.pi, 1.5 * np.pi, 25)
    return spline(radius * np.column_stack([np.cos(turn), 1.0 + np.sin(turn)]), closed=True)


def zigzag(size: float) -> Path:
    """To and fro with rounded corners, legs so long [m]."""
    corners = size * np.array([(0.0, 0.0), (1.0, 0.0), (1.4, 0.8), (2.4, 0.8), (2.8, 0.0), (3.8, 0.0)])
    return sketched(polyline(corners).points, 0.22 * size)


def scribble(size: float, rng: np.random.Generator) -> Path:
    """A wave drawn with a trembling hand, so long [m]."""
    along = np.linspace(0.0, 1.0, 160)
    points = size * np.column_stack([along, 0.14 * np.sin(2.6 * np.pi * along) + 0.03 * np.sin(7.0 * np.pi * along)])
    return sketched(points + rng.normal(0.0, 0.004 * size, points.shape), 0.035 * size)
