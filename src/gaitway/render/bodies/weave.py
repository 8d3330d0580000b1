"""A skin in the making: points that several joints share in moving, and strips of triangles between rings of them."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.render.bodies.mesh import smooth_normals
from gaitway.render.bodies.palette import TONES
from gaitway.render.bodies.pieces import Piece, strongest


class Weave:
    """Collects rings of points and the triangles between them; strips that share a ring are welded there."""

    def __init__(self, joint_count: int) -> None:
        self.joint_count = joint_count
        self._points: list[FloatArray] = []
        self._weights: list[FloatArray] = []
        self._triangles: list[IntArray] = []
        self._tones: list[IntArray] = []
        self._count = 0

    def add(self, points: FloatArray, weights: FloatArray) -> IntArray:
        """Add points (N, 3) [m] with their shares of all joints (N, J); returns their numbers (N,)."""
        points = np.atleast_2d(points)
        self._points.append(points)
        self._weights.append(np.broadcast_to(weights, (len(points), self.joint_count)))
        self._count += len(points)
        return np.arange(self._count - len(points), self._count)

    def where(self, numbers: IntArray) -> FloatArray:
        """Points by their numbers; (N, 3) [m]."""
        found: FloatArray = np.concatenate(self._points)[numbers]
        return found

    def faces(self, triangles: IntArray, tone: str) -> None:
        """Add triangles (T, 3), anticlockwise seen from outside, of one colour."""
        self._triangles.append(triangles)
        self._tones.append(np.full(len(triangles), TONES.index(tone)))

    def strip(self, low: IntArray, high: IntArray, tone: str, skip: IntArray | None = None) -> None:
        """Join two rings that run anticlockwise seen from the high one; `skip` leaves out some of the squares."""
        keep = np.setdiff1d(np.arange(len(low)), [] if skip is None else skip)
        a, b, c, d = low[keep], np.roll(low, -1)[keep], np.roll(high, -1)[keep], high[keep]
        self.faces(np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]), tone)

    def close(self, ring: IntArray, tip: IntArray, tone: str) -> None:
        """Draw a ring that runs anticlockwise seen from the tip to that one point."""
        tips = np.full(len(ring), tip[0])
        self.faces(np.stack([ring, np.roll(ring, -1), tips], axis=1), tone)

    def piece(self) -> Piece:
        """All of it; normals are smooth within a garment, and colours part at points that lie double."""
        points, weights = np.concatenate(self._points), np.concatenate(self._weights)
        triangles, tones = np.concatenate(self._triangles), np.concatenate(self._tones)
        family = np.array([TONES.index(TONES[t].split("_")[0]) for t in range(len(TONES))])
        keys = triangles * len(TONES) + tones[:, None]
        kept, corners = np.unique(keys, return_inverse=True)
        source, tone = kept // len(TONES), kept % len(TONES)
        # left, right and middle of a garment have different colours in some palettes but are one cloth
        cloth = np.unique(source * len(TONES) + family[tone], return_inverse=True)[1]
        split = corners.reshape(-1, 3)
        first = np.zeros(cloth.max() + 1, dtype=np.int64)
        first[cloth] = np.arange(len(cloth))
        normals = smooth_normals(points[source[first]], cloth[split])[cloth]
        joints, shares = strongest(weights[source])
        return Piece(points[source], normals, split, joints, shares, tone)
