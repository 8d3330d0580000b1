"""Starts of people that cannot be, repaired: in walls, out of bounds, in one another, many on one spot."""

from __future__ import annotations

import math

import numpy as np
import scipy

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import CrowdError
from gaitway.crowd.dynamics.options import CrowdBody
from gaitway.crowd.dynamics.routing import CrowdRouter
from gaitway.crowd.dynamics.walls import Walls
from gaitway.space._route_kernels import BORDER

DEEPEST = 0.01
"""Overlap of starts that is left to the first steps to repair [m]."""


def apart(positions: FloatArray, headings: FloatArray, body: CrowdBody) -> FloatArray:
    """Return pairs of people who overlap: first, second, and how deep [m]; (K, 3)."""
    tree = scipy.spatial.cKDTree(positions)
    pairs = tree.query_pairs(body.width, output_type="ndarray")
    if not len(pairs):
        return np.empty((0, 3))
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    i, j = pairs.T
    away = positions[j] - positions[i]
    axes = np.stack([-np.sin(headings), np.cos(headings)], axis=-1)
    deep = body.depth - _between(away, axes[i], axes[j], body.half_length)
    return np.column_stack([pairs, deep])[deep > 0.0]


def repaired(
    positions: FloatArray,
    headings: FloatArray,
    others: FloatArray,
    walls: Walls,
    router: CrowdRouter,
    body: CrowdBody,
) -> tuple[FloatArray, list[str]]:
    """Move people who start in walls, in one another or in somebody to the nearest spots that hold them.

    Args:
        positions: starts [m]; (N, 2).
        headings: which way they face [rad]; (N,).
        others: people who are there already [m]; (M, 2).
        walls: the walls.
        router: the grid of the place.
        body: their outline.

    Returns:
        Their starts [m] (N, 2), and what was done, one line for each kind of repair.

    Raises:
        CrowdError: if there is no room for them.
    """
    positions = positions.copy()
    said: list[str] = []
    depths = walls.depths(positions)
    axes = body.half_length * np.stack([-np.sin(headings), np.cos(headings)], axis=-1)
    shoulders = np.minimum(walls.depths(positions + axes), walls.depths(positions - axes))
    walled = np.flatnonzero((depths < body.reach) & (np.minimum(depths, shoulders) < body.radius))
    pairs = apart(np.concatenate([positions, others]), np.concatenate([headings, np.zeros(len(others))]), body)
    crowded: set[int] = set()
    for i, j, deep in pairs[np.lexsort((pairs[:, 0], pairs[:, 1]))].tolist():
        first, second = int(i), int(j)
        if deep <= DEEPEST or first in crowded or second in crowded or first >= len(positions):
            continue
        crowded.add(second if second < len(positions) else first)
    moving = sorted(set(walled.tolist()) | crowded)
    if not moving:
        return positions, said
    stay = np.ones(len(positions), dtype=bool)
    stay[moving] = False
    spots = _Spots(np.concatenate([positions[stay], others]), walls, router, body)
    farthest = 0.0
    for number in moving:
        spot = spots.nearest(positions[number])
        if spot is None:
            raise CrowdError(
                f"person {number} at {_text(positions[number])}: no room for {len(positions)} people here; "
                "write fewer people or a larger place"
            )
        farthest = max(farthest, float(np.hypot(*(spot - positions[number]))))
        positions[number] = spot
    if len(walled):
        said.append(f"{len(walled)} people start in walls or out of bounds, first person {walled[0]}; moved clear")
    if crowded:
        said.append(f"{len(crowded)} people start in others, first person {min(crowded)}; moved apart")
    said[-1] += f", at most {farthest:.2f} m"
    return positions, said


class _Spots:
    """A lattice of spots on which a body fits whichever way it faces. This class is **mutable**: spots are taken."""

    def __init__(self, taken: FloatArray, walls: Walls, router: CrowdRouter, body: CrowdBody) -> None:
        x0, y0, x1, y1 = walls.bounds
        room = body.reach + 0.02
        step = max(2.0 * room, math.sqrt((x1 - x0) * (y1 - y0) / 2e6))
        rows = np.arange(y0 + room, y1 - room, step * math.sqrt(0.75))
        lattice = [
            np.column_stack([xs := np.arange(x0 + room + 0.5 * step * (k % 2), x1 - room, step), np.full(len(xs), y)])
            for k, y in enumerate(rows.tolist())
        ]
        points = np.concatenate([np.empty((0, 2)), *lattice])
        cells = router.spec.cells(points) + BORDER
        squares = router.squares.reshape(-1, router.width)
        near = squares[cells[:, 0], cells[:, 1]] >= (room + router.spec.cell) ** 2
        unsure = ~near & (squares[cells[:, 0], cells[:, 1]] > 0.0)
        near[unsure] = walls.depths(points[unsure]) >= room
        points = points[near]
        if len(taken) and len(points):
            away, _ = scipy.spatial.cKDTree(taken).query(points)
            points = points[away >= 2.0 * body.reach]
        self.points = points
        self.parts = router.part(points)
        self.router = router
        self.free = np.ones(len(points), dtype=bool)
        self.tree = scipy.spatial.cKDTree(points) if len(points) else None

    def nearest(self, point: FloatArray) -> FloatArray | None:
        """Take the nearest free spot in the same part of the place; None if there is none."""
        if self.tree is None:
            return None
        part, count = int(self.router.part(point)[0]), 16
        while True:
            count = min(count, len(self.points))
            _, found = self.tree.query(point, count)
            for spot in np.atleast_1d(found).tolist():
                if self.free[spot] and part in (0, int(self.parts[spot])):
                    self.free[spot] = False
                    return np.asarray(self.points[spot])
            if count == len(self.points):
                return None
            count *= 4


def _between(away: FloatArray, a: FloatArray, b: FloatArray, half: float) -> FloatArray:
    """Return the distances of segments of equal length; `_contact_kernels.between` for many [m]."""
    cosine, along_a, along_b = (a * b).sum(-1), (a * away).sum(-1), (b * away).sum(-1)
    free = 1.0 - cosine * cosine
    s = np.where(free > 1e-9, (along_a - cosine * along_b) / np.maximum(free, 1e-9), along_a).clip(-half, half)
    t = s * cosine - along_b
    clipped = t.clip(-half, half)
    s = np.where(clipped != t, (along_a + clipped * cosine).clip(-half, half), s)
    gap = away + clipped[:, None] * b - s[:, None] * a
    return np.asarray(np.hypot(gap[:, 0], gap[:, 1]))


def _text(point: FloatArray) -> str:
    return f"({point[0]:.2f}, {point[1]:.2f})"
