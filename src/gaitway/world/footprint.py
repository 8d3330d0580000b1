"""What a solid covers of the floor plan: closed rings, open lines or single points, rounded by a radius.

One form for every shape keeps the grids and the exact queries simple: a disc is a point with a radius, a box is a ring
of four corners, and growing any of them by a character's radius only adds to the radius.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core import planar
from gaitway.core.arrays import FloatArray, IntArray, owned, read_only
from gaitway.core.errors import WorldError


@dataclass(frozen=True, eq=False)
class Footprint:
    """All points within `radius` of a set of rings.

    A ring of three or more points is closed and filled (rings overlap by the even-odd rule, so a ring inside another is
    a hole); two points are a line, one is a point.
    """

    points: FloatArray
    """x and y [m], ring after ring; (N, 2)."""
    ring_starts: IntArray
    """First point of each ring, and N at the end; (R + 1,)."""
    radius: float = 0.0
    """Rounding [m]."""

    def __post_init__(self) -> None:
        points = owned(self.points, "footprint points", (None, 2), error=WorldError)
        starts = owned(self.ring_starts, "ring_starts", (None,), np.int64, WorldError)
        if len(starts) < 1 or starts[0] != 0 or starts[-1] != len(points) or (np.diff(starts) < 1).any():
            raise WorldError(f"ring_starts {starts.tolist()} must run from 0 to {len(points)}, each ring with a point")
        if not (np.isfinite(self.radius) and self.radius >= 0.0):
            raise WorldError(f"footprint radius {self.radius} must be 0 or more")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "ring_starts", starts)
        object.__setattr__(self, "radius", float(self.radius))

    @staticmethod
    def of_rings(rings: Sequence[npt.ArrayLike], radius: float = 0.0) -> Footprint:
        """From rings of points (n, 2) each; none at all covers nothing."""
        arrays = [np.asarray(ring, dtype=np.float64).reshape(-1, 2) for ring in rings]
        starts = np.cumsum([0, *(len(a) for a in arrays)])
        return Footprint(np.concatenate([np.empty((0, 2)), *arrays]), starts, radius)

    @staticmethod
    def trusted(rings: Sequence[Sequence[tuple[float, float]]], radius: float = 0.0) -> Footprint:
        """As `of_rings`, from one ring or more of plain numbers that have been checked already; ten times as fast.

        Grids ask every shape for its outline whenever they are built, so shapes make theirs this way.
        """
        corners = rings[0] if len(rings) == 1 else [point for ring in rings for point in ring]
        points = np.array(corners, dtype=np.float64)
        starts = np.array([0, *accumulate(map(len, rings))], dtype=np.int64)
        points.setflags(write=False)
        starts.setflags(write=False)
        made = object.__new__(Footprint)
        made.__dict__.update(points=points, ring_starts=starts, radius=radius)
        return made

    @property
    def empty(self) -> bool:
        """Whether it covers nothing."""
        return len(self.points) == 0

    @property
    def rings(self) -> list[FloatArray]:
        """The rings, (n, 2) each."""
        return [self.points[a:b] for a, b in zip(self.ring_starts[:-1], self.ring_starts[1:], strict=True)]

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """xmin, ymin, xmax, ymax [m], rounding included; (inf, inf, -inf, -inf) if it is empty."""
        if self.empty:
            return np.inf, np.inf, -np.inf, -np.inf
        low, high = self.points.min(axis=0) - self.radius, self.points.max(axis=0) + self.radius
        return float(low[0]), float(low[1]), float(high[0]), float(high[1])

    def grown(self, by: float) -> Footprint:
        """All points within `by` [m] of it."""
        return replace(self, radius=self.radius + by)

    def placed(self, pose: npt.ArrayLike) -> Footprint:
        """Carried by a planar move (x, y, heading)."""
        return replace(self, points=planar.transform_points(pose, self.points))


class Outlines(NamedTuple):
    """Many footprints as plain arrays; G footprints, R rings, P points. All are read-only."""

    points: FloatArray
    """Corners of all rings [m]; (P, 2)."""
    ring_starts: IntArray
    """First point of each ring, and P at the end; (R + 1,)."""
    group_starts: IntArray
    """First ring of each footprint, and R at the end; (G + 1,)."""
    radii: FloatArray
    """Rounding of each footprint [m]; (G,)."""

    @staticmethod
    def of(footprints: Sequence[Footprint]) -> Outlines:
        """The arrays of footprints, one after another."""
        rings_of = [len(f.ring_starts) - 1 for f in footprints]
        first_points = np.cumsum([0, *(len(f.points) for f in footprints)])
        starts = np.concatenate([*(f.ring_starts[:-1] for f in footprints), first_points[-1:]])
        starts[:-1] += np.repeat(first_points[:-1], rings_of)
        return Outlines(
            points=read_only(np.concatenate([np.empty((0, 2)), *(f.points for f in footprints)])),
            ring_starts=read_only(starts),
            group_starts=read_only(np.cumsum([0, *rings_of])),
            radii=read_only(np.array([f.radius for f in footprints], dtype=np.float64)),
        )
