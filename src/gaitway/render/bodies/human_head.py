"""Heads with a face, and hair."""

from __future__ import annotations

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.render.bodies.human_frame import BodyFrame, smooth
from gaitway.render.bodies.palette import TONES
from gaitway.render.bodies.pieces import BodyPiece, rigid
from gaitway.render.raster.mesh import SurfaceMesh, loft, round_rod


def head_pieces(frame: BodyFrame) -> list[BodyPiece]:
    """Return head, ears, eyes and hair."""
    pieces = [_worn(frame, _head(frame), "skin")]
    for sign in (1.0, -1.0):
        pieces.append(_worn(frame, _ear(frame, sign), "skin"))
        pieces.append(_worn(frame, _eye(frame, sign), "eye"))
    if not frame.coarse:
        pieces.append(_worn(frame, _mouth(frame), "mouth"))
    if frame.look.hair != "bald":
        pieces.append(_worn(frame, _hair(frame), "hair"))
    if frame.look.hair == "tail":
        pieces.append(_worn(frame, _tail(frame), "hair"))
    return pieces


def _centre(frame: BodyFrame) -> FloatArray:
    return frame.at("head") + frame.unit * (0.068 * frame.up + 0.018 * frame.forward)


def _skull(rise: FloatArray, turn: FloatArray) -> FloatArray:
    """Return points of the head (..., 3) [m] about its centre; `rise` runs from 0 at the chin to pi at the crown."""
    rise, turn = np.broadcast_arrays(rise, turn)
    x, y, z = np.sin(rise) * np.cos(turn), np.sin(rise) * np.sin(turn), -np.cos(rise)
    low, front = np.clip(-z, 0.0, 1.0), smooth(x, 0.0, 0.25)
    jaw = 1.0 - 0.25 * low**1.5
    back = 0.101 * (1.0 - 0.40 * low**1.2)
    ahead = np.where(x > 0.0, (0.096 + 0.006 * low) * x, back * x) + 0.013 * low

    def lump(height: float, tall: float, aside: float, wide: float) -> FloatArray:
        return np.asarray(front * np.exp(-(((z - height) / tall) ** 2) - ((np.abs(y) - aside) / wide) ** 2))

    ahead = ahead + 0.022 * lump(-0.26, 0.09, 0.0, 0.11) + 0.011 * lump(-0.08, 0.15, 0.0, 0.10)  # nose and its bridge
    ahead = ahead - 0.009 * lump(0.03, 0.10, 0.36, 0.17) + 0.004 * lump(0.20, 0.10, 0.25, 0.3)  # sockets, brow
    ahead = ahead + 0.008 * lump(-0.52, 0.07, 0.0, 0.22) + 0.014 * lump(-0.82, 0.13, 0.0, 0.30)  # lips, chin
    return np.stack([ahead, 0.077 * y * jaw, 0.116 * z], axis=-1)


_HEIGHTS = (-0.94, -0.82, -0.66, -0.53, -0.40, -0.26, -0.08, 0.06, 0.20, 0.42, 0.66, 0.88)
_TURNS = (0.14, 0.31, 0.54, 0.92, 1.25, 1.60, 2.05, 2.60)
"""Heights of the rings and bearings of the columns of a head; they are close together on the face."""


def _columns(frame: BodyFrame) -> FloatArray:
    """Return bearings of the columns around a head (K,), anticlockwise from the nose."""
    half = np.array(_TURNS[1::2] if frame.coarse else _TURNS)
    return np.concatenate([[0.0], half, [np.pi], 2.0 * np.pi - half[::-1]])


def _head(frame: BodyFrame) -> SurfaceMesh:
    heights = np.array(_HEIGHTS[1::2] if frame.coarse else _HEIGHTS)
    centre, size = _centre(frame), frame.unit
    ends = centre + size * np.array([[0.018, 0.0, -0.116], [0.0, 0.0, 0.116]])
    return loft(centre + size * _skull(np.arccos(-heights)[:, None], _columns(frame)), *ends)


def _ear(frame: BodyFrame, sign: float) -> SurfaceMesh:
    middle = _centre(frame) + frame.unit * np.array([-0.014, 0.079 * sign, -0.016])
    half = frame.unit * np.array([-0.006, 0.005 * sign, 0.018])
    stations = [(s, a * frame.unit, b * frame.unit) for s, a, b in ((0.0, 0.010, 0.006), (1.0, 0.016, 0.007))]
    return round_rod(
        middle - half, middle + half, stations, frame.forward, 5 if frame.coarse else 6, 1 if frame.coarse else 2
    )


def _eye(frame: BodyFrame, sign: float) -> SurfaceMesh:
    surface = _skull(np.array(np.arccos(-0.04)), np.array(0.40 * sign))
    middle = _centre(frame) + frame.unit * (surface + np.array([0.001, 0.0, 0.0]))
    half = frame.unit * np.array([-0.002, 0.006 * sign, 0.0])
    stations = [(s, 0.005 * frame.unit, r * frame.unit) for s, r in ((0.0, 0.007), (1.0, 0.005))]
    return round_rod(
        middle - half, middle + half, stations, frame.forward, 5 if frame.coarse else 6, 1 if frame.coarse else 2
    )


def _mouth(frame: BodyFrame) -> SurfaceMesh:
    """Return lips: a bow from corner to corner that follows the face."""
    turns = np.array([-0.36, -0.18, 0.0, 0.18, 0.36])
    size, middle = frame.unit, _skull(np.array(np.arccos(0.53)), turns) + np.array([-0.0035, 0.0, 0.0])
    around = np.linspace(0.0, 2.0 * np.pi, 6, endpoint=False)
    tall = np.array([0.0015, 0.005, 0.006, 0.005, 0.0015])[:, None, None]
    bow = np.cos(around)[:, None] * frame.up * tall + np.sin(around)[:, None] * frame.forward * 0.0055
    rings = _centre(frame) + size * (middle[:, None] + bow)
    return loft(rings, rings[0].mean(axis=0), rings[-1].mean(axis=0))


_HAIR_TURNS = (0.0, 0.56, 0.92, 1.25, 1.60, 2.05, np.pi)
_HAIRLINES = {
    # height of the edge at these bearings, in skull heights from its middle; then the hair's thickness [m]
    "short": ((0.62, 0.60, 0.38, -0.12, 0.12, -0.38, -0.62), 0.014),
    "crop": ((0.60, 0.58, 0.34, 0.05, 0.14, -0.30, -0.52), 0.007),
    "bob": ((0.50, 0.48, 0.20, -0.75, -0.95, -1.00, -1.05), 0.018),
    "long": ((0.60, 0.52, 0.10, -1.10, -1.40, -1.80, -2.05), 0.017),
    "tail": ((0.62, 0.58, 0.35, 0.05, 0.14, -0.25, -0.50), 0.009),
}


def _hair(frame: BodyFrame) -> SurfaceMesh:
    """Return a shell over the skull down to the hairline, tucked in at its edge; long hair falls on from there."""
    line, thick = _HAIRLINES[frame.look.hair]
    rows = 4 if frame.coarse else 8
    turn = _columns(frame)
    edge = np.interp(np.abs((turn + np.pi) % (2.0 * np.pi) - np.pi), _HAIR_TURNS, line)
    share = np.linspace(0.0, 1.0, rows)[:, None]
    height = edge + (0.97 - edge) * np.sin(0.5 * np.pi * share) ** 1.1  # in skull heights; below -0.5 it hangs
    rise = np.arccos(-np.clip(height, -0.45, 0.999))
    rings = _skull(rise, np.broadcast_to(turn, rise.shape))
    outward = rings / np.linalg.norm(rings, axis=-1, keepdims=True)
    swell = thick * (0.75 + 0.25 * smooth(height, 0.0, 0.8))
    rings = rings + swell[..., None] * outward
    rings[..., 2] += 0.116 * np.minimum(height + 0.45, 0.0)
    fall = np.clip(-0.45 - height, 0.0, None)
    rings[..., 0] -= 0.012 * fall * np.cos(turn) ** 2
    tuck = rings[:1] * np.array([0.80, 0.80, 1.0]) + np.array([-0.004, 0.0, 0.008])
    centre, size = _centre(frame), frame.unit
    crown = np.array([-0.004, 0.0, 0.116 + thick])
    inside = np.array([-0.02, 0.0, float(np.clip(tuck[0, :, 2].mean(), -0.05, 0.05))])
    return loft(centre + size * np.concatenate([tuck, rings]), centre + size * inside, centre + size * crown)


def _tail(frame: BodyFrame) -> SurfaceMesh:
    start = _centre(frame) + frame.unit * np.array([-0.105, 0.0, 0.030])
    end = start + frame.unit * np.array([-0.030, 0.0, -0.150])
    stations = [
        (s, r * frame.unit, r * frame.unit) for s, r in ((0.0, 0.018), (0.25, 0.027), (0.7, 0.022), (1.0, 0.008))
    ]
    return round_rod(start, end, stations, frame.left, 5 if frame.coarse else 8, 1)


def _worn(frame: BodyFrame, mesh: SurfaceMesh, tone: str) -> BodyPiece:
    """Return a part of the head, nodded as the T-pose nods it.

    The T-pose that the CMU conversion adds bows the head by 16 degrees under a straight chest; a level head on it would
    look up in every take.
    """
    joint = frame.skeleton.roles["head"]
    nod = frame.turns[joint]
    chest = frame.turns[frame.skeleton.roles.get("chest", joint)]
    level = rotations.identity()
    if rotations.angle_between(chest, level) < 0.02 and 0.05 < rotations.angle_between(nod, level) < 0.5:
        place = frame.places[joint]
        points = place + rotations.rotate(nod, mesh.points - place)
        mesh = SurfaceMesh(points, rotations.rotate(nod, mesh.normals), mesh.triangles)
    return rigid(mesh, joint, TONES.index(tone))
