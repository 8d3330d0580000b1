"""Cloth that hangs free of the skin: skirts, and the lower part of jackets."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.render.bodies.human_frame import SIDES, Frame, smooth
from gaitway.render.bodies.human_trunk import Trunk
from gaitway.render.bodies.pieces import Piece
from gaitway.render.bodies.weave import Weave

_THICK = 0.006


_SKIRT = (
    # share of the trunk's height, distance off the skin [m], widening
    (0.30, 0.004, 1.0), (0.20, 0.012, 1.0), (0.05, 0.018, 1.0), (-0.20, 0.022, 1.10), (-0.50, 0.030, 1.20),
    (-0.76, 0.036, 1.28),
)  # fmt: skip
_JACKET = ((0.37, 0.009, 1.0), (0.24, 0.016, 1.0), (0.10, 0.018, 1.0), (-0.03, 0.022, 1.0))


def drapes(frame: Frame) -> list[Piece]:
    """What hangs on this person."""
    pieces = []
    if frame.look.legs == "skirt":
        pieces.append(_drape(frame, _SKIRT, "bottom", 1.0))
    if frame.look.hem == "jacket":
        pieces.append(_drape(frame, _JACKET, "top", 0.45))
    return pieces


def _drape(frame: Frame, rows: tuple[tuple[float, float, float], ...], tone: str, follow: float) -> Piece:
    """A double wall of cloth from its upper edge down.

    Args:
        frame: whose.
        rows: shares of the trunk's height, distances off the skin [m] and widening.
        tone: its colour.
        follow: 0..1, how much the thighs take it along.
    """
    weave = Weave(len(frame.skeleton))
    trunk = Trunk(frame, weave)
    rings = []
    for inside in (True, False):
        for share, off, wider in (rows[0], *rows[2::2], rows[-1]) if inside else rows[::-1]:
            points = _ring(trunk, share, off - (_THICK if inside else 0.0), wider)
            rings.append(weave.add(points, _weights(frame, points, follow)))
    for low, high in zip(rings, [*rings[1:], rings[0]], strict=True):
        weave.strip(low, high, tone)
    return weave.piece()


def _ring(trunk: Trunk, share: float, off: float, wider: float) -> FloatArray:
    ring = trunk.ring(max(share, -0.02), off)
    middle = ring.mean(axis=0)
    points: FloatArray = middle + (ring - middle) * np.array([wider, 1.0 + 0.6 * (wider - 1.0), 1.0])
    points[:, 2] += min(share + 0.02, 0.0) * (trunk.top[2] - trunk.base[2])
    return points


def _weights(frame: Frame, points: FloatArray, follow: float) -> FloatArray:
    """Hips at the waist, the thigh of its side further down, both in the middle."""
    size = frame.unit
    out = frame.trunk_weights(points)
    below = frame.middle("hip")[2] - points[:, 2]
    share = follow * smooth(below, -0.04 * size, 0.12 * size)
    left = smooth(points[:, 1], -0.11 * size, 0.11 * size)
    out = out * (1.0 - share)[:, None]
    for (side, _), part in zip(SIDES, (left, 1.0 - left), strict=True):
        out[:, frame.skeleton.roles[f"{side}_hip"]] += share * part
    return out
