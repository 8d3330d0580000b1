"""A horse's body, modelled on the built-in horse's rest pose: one skin from croup to poll, and legs in one piece each.

Metres; x ahead, z up.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.motion.skeleton import Skeleton
from gaitway.render.bodies.palette import TONES
from gaitway.render.bodies.pieces import BodyPiece, SkinBuilder, rigid
from gaitway.render.raster.mesh import round_rod

_TRUNK = np.array(
    [
        # x and height of the middle, half height, half width
        [-0.85, 1.315, 0.085, 0.08], [-0.80, 1.29, 0.17, 0.155], [-0.69, 1.275, 0.245, 0.225],
        [-0.54, 1.275, 0.270, 0.262], [-0.38, 1.255, 0.262, 0.258], [-0.20, 1.225, 0.272, 0.268],
        [-0.01, 1.20, 0.290, 0.278], [0.17, 1.20, 0.305, 0.270], [0.33, 1.225, 0.312, 0.246],
        [0.46, 1.26, 0.300, 0.218], [0.575, 1.325, 0.265, 0.178], [0.675, 1.42, 0.220, 0.136],
        [0.775, 1.54, 0.178, 0.108], [0.87, 1.66, 0.150, 0.094], [0.96, 1.78, 0.130, 0.085], [1.03, 1.88, 0.115, 0.078],
    ]
)  # fmt: skip
_SPINE = (
    ("Croup", -0.62), ("Loin", -0.34), ("Barrel", 0.02), ("Chest", 0.38), ("Neck", 0.64), ("Neck1", 0.82),
    ("Neck2", 0.97),
)  # fmt: skip
"""Joints of the trunk, and where along x each moves the skin alone."""
_HEAD = (
    # share of the way from the poll to the muzzle, half depth, half width
    (0.0, 0.098, 0.074), (0.16, 0.130, 0.088), (0.34, 0.124, 0.080), (0.55, 0.090, 0.058), (0.76, 0.072, 0.050),
    (0.90, 0.074, 0.054), (1.0, 0.060, 0.048),
)  # fmt: skip
Row = tuple[float, float, float]
"""Bone and share of the way along it, half depth (fore and aft), half width."""
_FORE: tuple[Row, ...] = (
    (0.10, 0.045, 0.012), (0.40, 0.115, 0.062), (0.75, 0.145, 0.098), (1.0, 0.140, 0.104), (1.45, 0.125, 0.096),
    (2.0, 0.098, 0.078), (2.25, 0.086, 0.066), (2.60, 0.062, 0.050), (2.90, 0.050, 0.044), (3.0, 0.050, 0.046),
    (3.15, 0.042, 0.037), (3.50, 0.034, 0.030), (3.85, 0.036, 0.033), (4.0, 0.043, 0.039), (4.45, 0.036, 0.034),
    (4.90, 0.042, 0.041),
)  # fmt: skip
_HIND: tuple[Row, ...] = (
    (0.0, 0.140, 0.095), (0.35, 0.205, 0.128), (0.70, 0.185, 0.125), (1.0, 0.140, 0.105), (1.30, 0.108, 0.078),
    (1.60, 0.078, 0.056), (1.90, 0.058, 0.046), (2.0, 0.062, 0.048), (2.18, 0.050, 0.042), (2.55, 0.038, 0.033),
    (2.88, 0.040, 0.036), (3.0, 0.045, 0.040), (3.45, 0.037, 0.034), (3.90, 0.043, 0.042),
)  # fmt: skip
_LEGS = {
    "Fore": (("Scapula", "Humerus", "Radius", "Cannon", "Pastern", "Hoof"), _FORE, 2.95),
    "Hind": (("Femur", "Tibia", "Cannon", "Pastern", "Hoof"), _HIND, 1.95),
}
"""Bones of a leg, its rings, and where along it the dark of the lower leg begins."""
_TAIL: tuple[Row, ...] = (
    (0.0, 0.040, 0.036), (0.4, 0.055, 0.046), (1.0, 0.066, 0.054), (2.0, 0.074, 0.060), (3.0, 0.066, 0.054),
    (3.6, 0.046, 0.038), (4.0, 0.014, 0.012),
)  # fmt: skip


def horse_pieces(skeleton: Skeleton, places: FloatArray, *, coarse: bool = False) -> list[BodyPiece]:
    """Return all parts of the horse's body in its rest pose.

    Args:
        skeleton: the built-in horse's.
        places: positions of its joints in the rest pose [m]; (J, 3).
        coarse: whether to make fewer triangles.
    """
    maker = _Maker(skeleton, places, 10 if coarse else 18)
    pieces = [maker.trunk(), maker.mane(), *maker.head(), maker.tail()]
    for side in ("Left", "Right"):
        for place in _LEGS:
            pieces += [maker.leg(side, place), maker.hoof(f"{side}{place}Hoof", side.lower())]
    return pieces


class _Maker:
    def __init__(self, skeleton: Skeleton, places: FloatArray, around: int) -> None:
        self.skeleton, self.places, self.around = skeleton, places, around
        self.root = places[0] - [0.0, 0.0, 1.24]  # what is written above is for a barrel at this height

    def trunk(self) -> BodyPiece:
        """Return the skin from the croup to the poll."""
        x, z, high, wide = _TRUNK.T
        path = np.column_stack([x, np.zeros(len(x)), z]) + self.root
        return self._tube(path, high, wide, self._spine_weights(x), ["top"] * len(x), self.around)

    def mane(self) -> BodyPiece:
        """Return the hair along the crest."""
        x, z, high, _ = _TRUNK[9:].T
        path = np.column_stack([x, np.zeros(len(x)), z]) + self.root
        along = np.gradient(path, axis=0)
        up = np.cross(along, [0.0, 1.0, 0.0])
        crest = path + up / np.linalg.norm(up, axis=1, keepdims=True) * high[:, None]
        deep = np.interp(np.arange(len(x)), [0, 2, len(x) - 1], [0.020, 0.055, 0.050])
        tones = ["hair"] * len(x)
        return self._tube(crest, deep, np.full(len(x), 0.026), self._spine_weights(x), tones, 8)

    def _spine_weights(self, x: FloatArray) -> FloatArray:
        """Return shares of all joints (N, J) at positions along the trunk: each mixes with its neighbours."""
        weights = np.zeros((len(x), len(self.skeleton)))
        marks = [at for _, at in _SPINE]
        for i, at in enumerate(x):
            k = int(np.clip(np.searchsorted(marks, at), 1, len(marks) - 1))
            share = float(np.clip((at - marks[k - 1]) / (marks[k] - marks[k - 1]), 0.0, 1.0))
            share = share * share * (3.0 - 2.0 * share)
            weights[i, self.skeleton.index(_SPINE[k - 1][0])] = 1.0 - share
            weights[i, self.skeleton.index(_SPINE[k][0])] = share
        return weights

    def head(self) -> list[BodyPiece]:
        """Return skull, ears, eyes and forelock, all moved by the head alone."""
        joint = self.skeleton.index("Head")
        here = self.places[joint]
        left = [0.0, 1.0, 0.0]

        def rod(ends: list[list[float]], stations: Sequence[Row], around: int, tone: str) -> BodyPiece:
            start, end = here + np.array(ends)
            return rigid(round_rod(start, end, stations, left, around, 2), joint, TONES.index(tone))

        skull = [(s, wide, deep) for s, deep, wide in _HEAD]
        pieces = [rod([[-0.03, 0.0, 0.025], [0.275, 0.0, -0.415]], skull, self.around, "top")]
        lock = ((0.0, 0.035, 0.040), (1.0, 0.020, 0.020))
        pieces.append(rod([[0.02, 0.0, 0.11], [0.13, 0.0, 0.01]], lock, 8, "hair"))
        ear = ((0.0, 0.026, 0.030), (0.5, 0.026, 0.028), (1.0, 0.006, 0.006))
        eye = ((0.0, 0.014, 0.014), (1.0, 0.014, 0.014))
        for sign in (1.0, -1.0):
            pieces.append(rod([[-0.03, 0.05 * sign, 0.08], [-0.015, 0.07 * sign, 0.20]], ear, 8, "top"))
            pieces.append(rod([[0.083, 0.069 * sign, -0.047], [0.107, 0.068 * sign, -0.063]], eye, 8, "eye"))
        return pieces

    def tail(self) -> BodyPiece:
        """Return the hair from the dock down."""
        joints = [self.skeleton.index(name) for name in ("Tail", "Tail1", "Tail2", "Tail3")]
        tip = self.places[joints[-1]] + np.array(self.skeleton.tips[joints[-1]])
        return self._chain([*self.places[joints], tip], joints, _TAIL, ["hair"] * len(_TAIL), 10)

    def leg(self, side: str, place: str) -> BodyPiece:
        """Return a leg, from inside the trunk down to the hoof."""
        bones, rows, dark = _LEGS[place]
        joints = [self.skeleton.index(f"{side}{place}{bone}") for bone in bones]
        tones = [f"{'top' if row[0] < dark else 'bottom'}_{side.lower()}" for row in rows]
        return self._chain(list(self.places[joints]), joints, rows, tones, max(8, self.around * 2 // 3))

    def hoof(self, name: str, side: str) -> BodyPiece:
        """Return a flared block with a flat sole."""
        joint = self.skeleton.index(name)
        low = self.places[joint] * [1.0, 1.0, 0.0] + [0.035, 0.0, 0.0]
        high = self.places[joint] + [0.012, 0.0, 0.012]
        skin = SkinBuilder(len(self.skeleton))
        only = np.zeros(len(self.skeleton))
        only[joint] = 1.0
        turn = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)
        round_ring = np.stack([np.cos(turn), np.sin(turn), np.zeros(12)], axis=1)
        rings = [
            skin.add(low + size * round_ring + [0.0, 0.0, rise], only) for size, rise in ((0.058, 0.0), (0.061, 0.008))
        ] + [skin.add(high + 0.045 * round_ring, only)]
        tone = f"shoe_{side}"
        skin.close(rings[0][::-1], skin.add(low, only), tone)
        for a, b in pairwise(rings):
            skin.strip(a, b, tone)
        skin.close(rings[-1], skin.add(high + np.array([0.0, 0.0, 0.01]), only), tone)
        return skin.piece()

    def _chain(
        self, points: list[FloatArray], joints: list[int], rows: Sequence[Row], tones: list[str], around: int
    ) -> BodyPiece:
        """Return a tube along bones; near a joint both bones move it."""
        path, weights = [], np.zeros((len(rows), len(self.skeleton)))
        for i, (way, _, _) in enumerate(rows):
            bone = min(int(way), len(points) - 2)
            share = way - bone
            path.append(points[bone] + share * (points[bone + 1] - points[bone]))
            # half of the joint before at its own place, none a sixth of the bone further on
            before, after = max(0.0, 0.5 - 3.0 * share), max(0.0, 0.5 - 3.0 * (1.0 - share))
            weights[i, joints[bone]] += 1.0 - before - after
            weights[i, joints[max(bone - 1, 0)]] += before
            weights[i, joints[min(bone + 1, len(joints) - 1)]] += after
        deep, wide = np.array(rows)[:, 1:].T
        return self._tube(np.array(path), deep, wide, weights, tones, around)

    def _tube(
        self, path: FloatArray, deep: FloatArray, wide: FloatArray, weights: FloatArray, tones: list[str], around: int
    ) -> BodyPiece:
        """Return a closed skin around a path in an upright plane; `tones` belong to the rings where strips end."""
        skin = SkinBuilder(len(self.skeleton))
        along = np.gradient(path, axis=0)
        along = along / np.linalg.norm(along, axis=1, keepdims=True)
        left = np.array([0.0, 1.0, 0.0])
        ahead = np.cross(left, along)
        turn = np.linspace(0.0, 2.0 * np.pi, around, endpoint=False)
        rings = []
        for i in range(len(path)):
            ring = path[i] + deep[i] * np.cos(turn)[:, None] * ahead[i] + wide[i] * np.sin(turn)[:, None] * left
            rings.append(skin.add(ring, weights[i]))
        for i, (low, high) in enumerate(pairwise(rings)):
            skin.strip(low, high, tones[i + 1])
        ends = (path[0] - 0.35 * deep[0] * along[0], path[-1] + 0.35 * deep[-1] * along[-1])
        skin.close(rings[0][::-1], skin.add(ends[0], weights[0]), tones[0])
        skin.close(rings[-1], skin.add(ends[1], weights[-1]), tones[-1])
        return skin.piece()
