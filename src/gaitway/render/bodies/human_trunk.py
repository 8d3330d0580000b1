"""The trunk of a person: rings from the crotch to the neck, with openings for arms and legs; skirts and jackets."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.render.bodies.human_frame import SIDES, BodyFrame, smooth
from gaitway.render.bodies.pieces import BodyPiece, SkinBuilder

_SHAPE = np.array(
    [
        # share of the way from the hip joints to the shoulder line, half width, half depth, forward shift
        [-0.20, 0.120, 0.080, -0.010],
        [-0.08, 0.166, 0.110, -0.012],
        [0.04, 0.172, 0.119, -0.014],
        [0.14, 0.164, 0.114, -0.010],
        [0.26, 0.145, 0.101, -0.002],
        [0.38, 0.138, 0.098, 0.003],
        [0.52, 0.146, 0.104, 0.007],
        [0.66, 0.160, 0.114, 0.009],
        [0.80, 0.168, 0.118, 0.006],
        [0.90, 0.164, 0.113, 0.001],
        [1.00, 0.150, 0.099, -0.007],
        [1.085, 0.110, 0.076, -0.012],
        [1.15, 0.066, 0.062, -0.008],
    ]
)
_CLOTH = 0.006
"""How far cloth lies off the skin [m]."""


@dataclass(frozen=True)
class TrunkMesh:
    """How fine the rings are."""

    columns: int
    """Points around the trunk; a multiple of 4."""
    hole: tuple[int, int]
    """Squares across and up of the opening for an arm."""
    crotch: int
    """Points between the legs."""


FINE, COARSE = TrunkMesh(20, (4, 2), 3), TrunkMesh(12, (2, 2), 1)


@dataclass(frozen=True, eq=False)
class Openings:
    """Rings where limbs go on, anticlockwise seen from the limb's end."""

    arms: dict[str, IntArray]
    legs: dict[str, IntArray]


class Trunk:
    """Builds the trunk into a skin."""

    def __init__(self, frame: BodyFrame, skin: SkinBuilder) -> None:
        self.frame, self.skin = frame, skin
        self.mesh = COARSE if frame.coarse else FINE
        self.base, self.top = frame.middle("hip"), frame.middle("shoulder")
        turn = np.linspace(0.0, 2.0 * np.pi, self.mesh.columns, endpoint=False)
        self.turn = turn
        # a little squarer than an ellipse, as a ribcage is
        self.ahead, self.aside = (np.sign(f(turn)) * np.abs(f(turn)) ** 0.88 for f in (np.cos, np.sin))

    def ring(self, share: FloatArray | float, off: float = 0.0) -> FloatArray:
        """Return points (K, 3) [m] around the trunk at shares of its height, which may vary; `off` the skin."""
        frame, look, size = self.frame, self.frame.look, self.frame.unit
        share = np.broadcast_to(np.asarray(share, dtype=np.float64), self.turn.shape)
        wide, deep, shift = (np.interp(share, _SHAPE[:, 0], _SHAPE[:, k]) for k in (1, 2, 3))
        # hips and shoulders widen the trunk half as much as they differ from the usual
        blend = np.clip(share, 0.0, 1.0)
        across = [0.5 * np.dot(frame.at(f"left_{r}") - frame.at(f"right_{r}"), frame.left) for r in ("hip", "shoulder")]
        relative = 0.5 + 0.5 * ((1.0 - blend) * across[0] / (0.09 * size) + blend * across[1] / (0.18 * size))
        relative = np.clip(relative, 0.75, 1.4)
        lower = 1.0 - smooth(share, 0.1, 0.6)
        build = 1.0 + (look.girth - 1.0) * (1.0 - smooth(share, 0.95, 1.15))
        width = wide * relative * (lower * look.hips + (1.0 - lower) * look.shoulders) * build
        depth = deep * (0.5 + 0.5 * (lower * look.hips + (1.0 - lower))) * build
        line = (self.top - self.base) * share[:, None]
        x = shift + (depth + off) * self.ahead + self._swell(share) * np.sign(self.ahead)
        y = (width + off) * self.aside
        # the throat is lower than the shoulders
        dip = -0.040 * smooth(share, 0.92, 1.10) * np.clip(np.cos(self.turn), 0.0, 1.0)
        dip = dip + 0.016 * smooth(share, 1.0, 1.08) * (1.0 - smooth(share, 1.09, 1.14)) * self.aside**2
        off_line = x[:, None] * frame.forward + y[:, None] * frame.left + dip[:, None] * frame.up
        return np.asarray(self.base + line + size * off_line)

    def _swell(self, share: FloatArray) -> FloatArray:
        """Return how far seat, belly and bust stand out of the plain rings, ahead and behind [m]; (K,)."""
        look = self.frame.look

        def lump(at: float, spread: float, toward: float, width: float) -> FloatArray:
            apart = np.abs((self.turn - toward + np.pi) % (2.0 * np.pi) - np.pi)
            return np.asarray(np.exp(-(((share - at) / spread) ** 2) - (apart / width) ** 2))

        seat = 0.010 * sum(lump(-0.02, 0.16, np.pi + way, 0.5) for way in (0.55, -0.55))
        belly = 0.055 * look.belly * lump(0.34, 0.20, 0.0, 0.9)
        bust = 0.030 * look.bust * sum(lump(0.68, 0.10, way, 0.42) for way in (0.55, -0.55))
        return np.asarray(seat + belly + bust)

    def put(self, share: FloatArray | float, off: float = 0.0) -> IntArray:
        """Add a ring above the hips."""
        points = self.ring(share, off)
        return self.skin.add(points, self.frame.body_weights(points))

    def build(self) -> Openings:
        """Build the trunk from the openings of the legs to the neck."""
        brief = self._brief()
        lower = self._lower(brief)
        arms = self._upper(lower)
        half = self.mesh.columns // 2
        crotch = self._crotch(brief)
        left = np.concatenate([brief[: half + 1], crotch[::-1]])
        right = np.concatenate([brief[half:], brief[:1], crotch])
        return Openings(arms, {"left": left[::-1], "right": right[::-1]})

    def _brief(self) -> IntArray:
        """Return the line where legs begin: high at the sides, low between them."""
        behind = np.cos(self.turn) < 0.0
        drop = np.where(behind, 0.115, 0.098) * np.cos(self.turn) ** 2
        points = self.ring((0.035 - drop) / 0.51)
        inward = 1.0 - np.where(behind, 0.16, 0.24) * np.cos(self.turn) ** 8
        points[:, 0] = self.base[0] + (points[:, 0] - self.base[0]) * inward
        return self.skin.add(points, self.frame.body_weights(points))

    def _crotch(self, brief: IntArray) -> IntArray:
        """Return points between the legs, from front to back."""
        front, back = self.skin.where(brief[[0, self.mesh.columns // 2]])
        way = np.linspace(0.0, 1.0, self.mesh.crotch + 2)[1:-1, None]
        sag = 0.022 * self.frame.unit * (4.0 * way * (1.0 - way))
        points = front + way * (back - front) - sag * self.frame.up
        return self.skin.add(points, self.frame.body_weights(points))

    def _lower(self, brief: IntArray) -> IntArray:
        """Build the trunk up to the last ring below the arms."""
        look, skin = self.frame.look, self.skin
        heights = (self.skin.where(brief)[:, 2] - self.base[2]) / max(float(self.top[2] - self.base[2]), 1e-6)
        hem = {"tucked": 0.30, "shirt": 0.17, "jacket": 0.24}[look.hem]
        rings = [brief, self.put(0.5 * (heights + 0.13)), self.put(0.13)]
        if hem > 0.2:
            rings.append(self.put(0.22))
        inner = self.put(hem)
        for low, high in zip(rings, [*rings[1:], inner], strict=True):
            skin.strip(low, high, "bottom")
        last = self.put(hem - 0.006, _CLOTH + 0.003)
        skin.strip(inner, last, "top")
        for share in (0.24, 0.37, 0.48, 0.60, 0.71) if not self.frame.coarse else (0.37, 0.52, 0.70):
            if share > hem + 0.03:
                ring = self.put(share, _CLOTH)
                skin.strip(last, ring, "top")
                last = ring
        return last

    def _upper(self, last: IntArray) -> dict[str, IntArray]:
        """Build the chest with the openings of the arms, the shoulders and the neck."""
        mesh, skin = self.mesh, self.skin
        across, up = mesh.hole
        quarter = mesh.columns // 4
        starts = {"left": quarter - across // 2, "right": 3 * quarter - across // 2}
        skip = np.concatenate([np.arange(s, s + across) for s in starts.values()])
        rows = [self.put(share, _CLOTH) for share in np.linspace(0.835, 1.085, up + 1)]
        skin.strip(last, rows[0], "top")
        for low, high in pairwise(rows):
            skin.strip(low, high, "top", skip)
        self._neck(rows[-1])
        return {side: _loop(rows, start, across) for side, start in starts.items()}

    def _neck(self, shoulders: IntArray) -> None:
        frame, size, skin = self.frame, self.frame.unit, self.skin
        collar = self.put(1.145, 0.5 * _CLOTH)
        skin.strip(shoulders, collar, "top")
        points = skin.where(collar)
        middle = points.mean(axis=0)
        inner = middle + 0.90 * (points - middle) - 0.002 * size * frame.up
        last = skin.add(inner, frame.body_weights(inner))
        skin.strip(collar, last, "top")
        top = frame.at("head") + size * (0.020 * frame.up + 0.004 * frame.forward)
        for share, radius in ((0.30, 0.056), (1.0, 0.053)):
            centre = middle + share * (top - middle)
            ring = centre + size * radius * (
                np.cos(self.turn)[:, None] * frame.forward * 1.05 + np.sin(self.turn)[:, None] * frame.left
            )
            flat = points[:, 2] - middle[2]
            ring[:, 2] += (1.0 - share) * 0.6 * flat
            weights = frame.trunk_weights(ring) if share < 1.0 else frame.only(frame.neck_joint)
            here = skin.add(ring, weights)
            skin.strip(last, here, "skin")
            last = here
        skin.close(last, skin.add(top + 0.02 * size * frame.up, frame.only(frame.neck_joint)), "skin")


def _loop(rows: list[IntArray], start: int, across: int) -> IntArray:
    """Return the rim of an opening, anticlockwise seen from outside."""
    stop, up = start + across, len(rows) - 1
    bottom = [rows[0][c] for c in range(start, stop)]
    back = [rows[r][stop] for r in range(up)]
    top = [rows[up][c] for c in range(stop, start, -1)]
    front = [rows[r][start] for r in range(up, 0, -1)]
    return np.array([*bottom, *back, *top, *front])


_THICK = 0.006


_SKIRT = (
    # share of the trunk's height, distance off the skin [m], widening
    (0.30, 0.004, 1.0), (0.20, 0.012, 1.0), (0.05, 0.018, 1.0), (-0.20, 0.022, 1.10), (-0.50, 0.030, 1.20),
    (-0.76, 0.036, 1.28),
)  # fmt: skip
_JACKET = ((0.37, 0.009, 1.0), (0.24, 0.016, 1.0), (0.10, 0.018, 1.0), (-0.03, 0.022, 1.0))


def drapes(frame: BodyFrame) -> list[BodyPiece]:
    """Return the cloth that hangs on this person: skirt, and lower part of a jacket."""
    pieces = []
    if frame.look.legs == "skirt":
        pieces.append(_drape(frame, _SKIRT, "bottom", 1.0))
    if frame.look.hem == "jacket":
        pieces.append(_drape(frame, _JACKET, "top", 0.45))
    return pieces


def _drape(frame: BodyFrame, rows: tuple[tuple[float, float, float], ...], tone: str, follow: float) -> BodyPiece:
    """Return a double wall of cloth from its upper edge down.

    Args:
        frame: frame of the body.
        rows: shares of the trunk's height, distances off the skin [m] and widening.
        tone: colour of the cloth.
        follow: 0..1, how much the thighs take it along.
    """
    skin = SkinBuilder(len(frame.skeleton))
    trunk = Trunk(frame, skin)
    rings = []
    for inside in (True, False):
        for share, off, wider in (rows[0], *rows[2::2], rows[-1]) if inside else rows[::-1]:
            points = _ring(trunk, share, off - (_THICK if inside else 0.0), wider)
            rings.append(skin.add(points, _weights(frame, points, follow)))
    for low, high in zip(rings, [*rings[1:], rings[0]], strict=True):
        skin.strip(low, high, tone)
    return skin.piece()


def _ring(trunk: Trunk, share: float, off: float, wider: float) -> FloatArray:
    ring = trunk.ring(max(share, -0.02), off)
    middle = ring.mean(axis=0)
    points: FloatArray = middle + (ring - middle) * np.array([wider, 1.0 + 0.6 * (wider - 1.0), 1.0])
    points[:, 2] += min(share + 0.02, 0.0) * (trunk.top[2] - trunk.base[2])
    return points


def _weights(frame: BodyFrame, points: FloatArray, follow: float) -> FloatArray:
    """Return weights: hips at the waist, the thigh of its side farther down, both in the middle."""
    size = frame.unit
    out = frame.trunk_weights(points)
    below = frame.middle("hip")[2] - points[:, 2]
    share = follow * smooth(below, -0.04 * size, 0.12 * size)
    left = smooth(points[:, 1], -0.11 * size, 0.11 * size)
    out = out * (1.0 - share)[:, None]
    for (side, _), part in zip(SIDES, (left, 1.0 - left), strict=True):
        out[:, frame.skeleton.roles[f"{side}_hip"]] += share * part
    return out
