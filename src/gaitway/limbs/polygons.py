"""Spherical polygons: where a bone may point, as corners that go once around a middle (Korein 1985).

A polygon is a fan of spherical triangles, the wedges, which share its middle. It need not be convex, but all of it must
be seen from the middle. Sides are arcs of great circles. Directions are those of the bone, given as swings from the
T-pose: rotation vectors (x, y) across the bone [rad].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, owned
from gaitway.core.errors import LimbError

FARTHEST = math.radians(175.0)
"""Greatest swing of a corner: beyond, the opposite of the T-pose is near, where swings are ambiguous [rad]."""
_EDGE = 1.02
"""What is added when a polygon is widened, as a share."""
_LEAST = math.radians(2.0)
"""Least distance of a corner from the middle of a polygon that is learnt [rad]."""
_ROUND = 1e-9
"""Rounding must not decide at a side."""
_LOOKS = 24
"""Points of a side that are looked at."""


@dataclass(frozen=True, eq=False)
class SwingPolygon:
    """A limit of a swing: a spherical polygon, all of which is seen from its middle."""

    middle: FloatArray
    """(2,) [rad]."""
    corners: FloatArray
    """Swings, once around the middle; (N, 2) [rad]."""

    def __post_init__(self) -> None:
        count = len(self.corners)
        object.__setattr__(self, "middle", owned(self.middle, "middle of a polygon", (2,), error=LimbError))
        object.__setattr__(self, "corners", owned(self.corners, "corners of a polygon", (count, 2), error=LimbError))
        if count < 3:
            raise LimbError(f"a spherical polygon needs 3 corners or more, got {count}")
        if (np.linalg.norm(np.vstack([self.middle[None], self.corners]), axis=1) > FARTHEST).any():
            raise LimbError(
                f"corners of a spherical polygon must be within {math.degrees(FARTHEST):.0f} degrees of the T-pose"
            )
        bearings = self._bearings(directions(self.corners))[0]
        steps = np.diff(np.append(bearings, bearings[0]))
        if steps[0] % math.tau > math.pi:
            steps = -steps
            object.__setattr__(self, "corners", owned(self.corners[::-1], "corners of a polygon", (count, 2)))
        steps %= math.tau
        once = abs(float(steps.sum()) - math.tau) < 1e-6
        if not once or (steps < 1e-6).any() or (steps > math.pi - 1e-6).any():
            raise LimbError("corners of a spherical polygon must go once around its middle, in order")
        if bool(self._inside(np.array([[0.0, 0.0, -1.0]]))[0]):
            raise LimbError("a spherical polygon must not hold the direction opposite to the T-pose")

    @property
    def wedges(self) -> FloatArray:
        """Inner normals of the sides of each wedge; the second one is the side of the polygon; (N, 3, 3)."""
        middle, here = directions(self.middle[None])[0], directions(self.corners)
        after = np.roll(here, -1, axis=0)
        sides = np.stack([np.cross(middle, here), np.cross(here, after), np.cross(after, middle)], axis=1)
        return np.asarray(sides / np.linalg.norm(sides, axis=2, keepdims=True))

    def hold(self, swings: FloatArray) -> BoolArray:
        """Return whether swings (N, 2) are inside; (N,)."""
        return np.asarray(self._inside(directions(swings)) & (np.linalg.norm(swings, axis=1) <= math.pi))

    def _inside(self, ways: FloatArray) -> BoolArray:
        across = np.einsum("wsi,ni->nws", self.wedges, ways)
        return np.asarray((across >= -_ROUND).all(axis=2).any(axis=1))

    def outline(self) -> FloatArray:
        """Return swings along all sides; (N, 2) [rad]."""
        here = directions(self.corners)
        after, shares = np.roll(here, -1, axis=0), np.linspace(0.0, 1.0, _LOOKS, endpoint=False)[:, None, None]
        ways = ((1.0 - shares) * here + shares * after).reshape(-1, 3)
        return swings_of(ways / np.linalg.norm(ways, axis=1, keepdims=True))

    def ellipse(self) -> FloatArray:
        """Return the ellipse about the middle of its outline that holds all of it: centre and radii; (4,) [rad]."""
        edge = self.outline()
        low, high = edge.min(axis=0), edge.max(axis=0)
        centre, half = 0.5 * (low + high), np.maximum(0.5 * (high - low), 1e-3)
        reach = float(np.sqrt(np.sum(((edge - centre) / half) ** 2, axis=1)).max())
        return np.concatenate([centre, _EDGE * reach * half])

    def widened(self, swings: FloatArray, share: float = 1.0) -> SwingPolygon:
        """Return a polygon of the same form that is wide enough for a share of some swings (N, 2)."""
        wide, need = self, math.ceil(share * len(swings) - 1e-9)
        while int(wide.hold(swings).sum()) < need:
            bearings, away = wide._bearings(directions(wide.corners))
            grown = np.maximum(away * _EDGE, _LEAST)
            corners = _ring(wide.middle, bearings, grown)
            try:
                wide = SwingPolygon(wide.middle, corners)
            except LimbError:
                raise LimbError("a spherical polygon cannot be widened to hold swings as far from its middle") from None
        return wide

    def _bearings(self, ways: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return in which direction around the middle unit vectors (N, 3) are, and how far from it [rad]; (N,) each."""
        ahead, east, north = _frame(self.middle)
        return np.arctan2(ways @ north, ways @ east), np.arccos(np.clip(ways @ ahead, -1.0, 1.0))


def fit_polygon(swings: FloatArray, share: float = 0.995, corners: int = 16) -> SwingPolygon:
    """Return a polygon that holds a share of captured swings (N, 2), and as little else as its corners allow.

    Args:
        swings: where the bone points in captures [rad].
        share: share of these that is inside.
        corners: number of corners.
    """
    if len(swings) == 0:
        raise LimbError("a spherical polygon cannot be learnt from no postures")
    if not 3 <= corners <= 360:
        raise LimbError(f"{corners} corners of a spherical polygon must be between 3 and 360")
    ways = directions(swings)
    mean = ways.mean(axis=0)
    middle = swings_of(mean[None] / max(float(np.linalg.norm(mean)), 1e-9))[0]
    around = math.tau * np.arange(corners) / corners
    tiny = SwingPolygon(middle, _ring(middle, around, np.full(corners, _LEAST)))
    bearings, away = tiny._bearings(ways)
    reach = np.full(corners, _LEAST)
    for k, bearing in enumerate(around):
        beside = np.abs(np.remainder(bearings - bearing + math.pi, math.tau) - math.pi) < math.tau / corners
        if beside.any():
            reach[k] = max(float(np.quantile(away[beside], share)), _LEAST)
    return SwingPolygon(middle, _ring(middle, around, reach)).widened(swings, share)


def directions(swings: FloatArray) -> FloatArray:
    """Return the unit vectors (N, 3) along which a bone points after swings (N, 2) from the z axis."""
    angle = np.linalg.norm(swings, axis=1)
    scale = np.sinc(angle / math.pi)  # sin(angle) / angle
    return np.column_stack([scale * swings[:, 1], -scale * swings[:, 0], np.cos(angle)])


def swings_of(ways: FloatArray) -> FloatArray:
    """Return the swings (N, 2) that bring the z axis to unit vectors (N, 3); the inverse of `directions`."""
    sine = np.hypot(ways[:, 0], ways[:, 1])
    scale = np.where(sine < 1e-12, 1.0, np.arctan2(sine, ways[:, 2]) / np.maximum(sine, 1e-12))
    return np.column_stack([-scale * ways[:, 1], scale * ways[:, 0]])


def _frame(middle: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the direction of a middle (2,), and two directions across it."""
    ahead = directions(middle[None])[0]
    side = np.array([1.0, 0.0, 0.0]) if abs(ahead[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    east = side - ahead * (ahead @ side)
    east /= np.linalg.norm(east)
    return ahead, east, np.cross(ahead, east)


def _ring(middle: FloatArray, bearings: FloatArray, away: FloatArray) -> FloatArray:
    """Return the swings in some directions around a middle and so far from it [rad]; (N, 2)."""
    ahead, east, north = _frame(middle)
    out = np.cos(bearings)[:, None] * east + np.sin(bearings)[:, None] * north
    return swings_of(np.cos(away)[:, None] * ahead + np.sin(away)[:, None] * out)
