"""Footprints: the area of the floor plan that a solid covers, as rings, lines or points that are rounded by a radius.

One form for every shape keeps the grids and the exact queries simple: a disc is a point with a radius, a box is a ring
of four corners, and growing any of them by a character's radius only adds to the radius. This module also checks the
outlines that users write, and converts footprints to shapely geometry.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import shapely

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
        """Build a footprint from rings of points (n, 2) each; no ring covers nothing."""
        arrays = [np.asarray(ring, dtype=np.float64).reshape(-1, 2) for ring in rings]
        starts = np.cumsum([0, *(len(a) for a in arrays)])
        return Footprint(np.concatenate([np.empty((0, 2)), *arrays]), starts, radius)

    @staticmethod
    def trusted(rings: Sequence[Sequence[tuple[float, float]]], radius: float = 0.0) -> Footprint:
        """Make a footprint as `of_rings` from one or more rings of numbers that were checked before; ten times faster.

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
        """Return the footprint grown by a distance [m]."""
        return replace(self, radius=self.radius + by)

    def placed(self, pose: npt.ArrayLike) -> Footprint:
        """Return the footprint moved by a planar pose (x, y, heading)."""
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
        """Return the arrays of footprints, one after another."""
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


Point = tuple[float, float]
Ring = tuple[Point, ...]

MAX_POINTS = 100_000
"""Greatest number of points of one polygon."""


def check_outline(rings: Sequence[Ring]) -> None:
    """Refuse rings that are not a simple outline (the first ring) with separate holes in it (the others).

    Raises:
        WorldError: that names the point which is wrong.
    """
    if (count := sum(map(len, rings))) > MAX_POINTS:
        raise WorldError(f"polygon has {count} points; at most {MAX_POINTS} are possible")
    names = ["polygon", *(f"polygon hole {number}" for number in range(len(rings) - 1))]
    for name, ring in zip(names, rings, strict=True):
        _check_ring(name, ring)
    outside = shapely.Polygon(rings[0])
    for name, ring in zip(names[1:], rings[1:], strict=True):
        if not outside.covers(shapely.Polygon(ring)):
            away = shapely.distance(outside, shapely.points(np.asarray(ring)))
            place = f"point {int(np.argmax(away))} {ring[int(np.argmax(away))]}" if away.max() > 0.0 else "an edge"
            raise WorldError(f"{name}: {place} lies outside the polygon; a hole must lie within it")
    reason = shapely.is_valid_reason(shapely.Polygon(rings[0], rings[1:]))
    if reason != "Valid Geometry":
        raise WorldError(f"polygon has holes that overlap, or that cut it in two, at {_place(reason)}; make them one")


def _check_ring(name: str, ring: Ring) -> None:
    points = np.asarray(ring, dtype=np.float64).reshape(-1, 2)
    if not np.isfinite(points).all():
        bad = int(np.flatnonzero(~np.isfinite(points).all(axis=1))[0])
        raise WorldError(f"{name}: point {bad} {ring[bad]} is not finite")
    if len(points) < 3:
        raise WorldError(f"{name} has {len(points)} points; at least 3 are needed")
    same = np.flatnonzero((points == np.roll(points, 1, axis=0)).all(axis=1))
    if len(same):
        bad = int(same[-1])
        before = (bad - 1) % len(points)
        raise WorldError(f"{name}: point {max(bad, before)} {ring[bad]} repeats point {min(bad, before)}; leave it out")
    polygon = shapely.Polygon(points)
    extent = float(np.ptp(points, axis=0).max())
    if polygon.area <= 1e-12 * extent**2 and shapely.LineString(points).minimum_rotated_rectangle.area <= (
        1e-12 * extent**2
    ):
        raise WorldError(f"{name} has no area: its {len(points)} points lie on one line")
    reason = shapely.is_valid_reason(polygon)
    if reason != "Valid Geometry":
        at = _place(reason)
        closed = np.concatenate([points, points[:1]])
        edges = shapely.linestrings(np.stack([closed[:-1], closed[1:]], axis=1))
        near = int(np.argmin(shapely.distance(edges, shapely.Point(at))))
        raise WorldError(
            f"{name} crosses or touches itself at {at}, between point {near} and point {(near + 1) % len(points)}; "
            "list the corners in order around it"
        )


def _place(reason: str) -> Point:
    """Return the position in a message of GEOS, as in "Self-intersection[1 2]"."""
    numbers = re.findall(r"-?\d[\d.eE+-]*", reason[reason.find("[") :])
    return float(numbers[0]), float(numbers[1])


ROUND_SEGMENTS = 8
"""Number of straight pieces per quarter turn of a drawn arc; their middles lie inside the true circle by 0.48 % of its
radius."""

_UNITED = 1e-9
"""Grid onto which corners are rounded when areas are united [m]."""
_NO_ROUNDING = 1e-9
"""Radius below which a buffer fails by rounding errors [m]."""


def united(parts: Sequence[shapely.Geometry] | npt.NDArray[np.object_]) -> shapely.Geometry:
    """Return the union of some geometries. Without a grid, GEOS 3.14 loses parts that share a side with others."""
    return shapely.union_all(parts, grid_size=_UNITED)


@lru_cache(maxsize=1024)  # walls are asked for over and over
def core_geometry(footprint: Footprint) -> shapely.Geometry:
    """Return a footprint without its rounding, exactly: filled rings by the even-odd rule, lines and points."""
    rings = footprint.rings
    areas = [shapely.make_valid(shapely.Polygon(ring)) for ring in rings if len(ring) > 2]
    single = [len(np.unique(ring, axis=0)) == 1 for ring in rings]  # GEOS drops lines of no length
    lines = [shapely.LineString(ring) for ring, one in zip(rings, single, strict=True) if len(ring) == 2 and not one]
    points = [shapely.Point(ring[0]) for ring, one in zip(rings, single, strict=True) if one]
    area = _even_odd(areas)
    return area if not lines and not points else united([area, *lines, *points])


def drawn_geometry(footprint: Footprint, segments: int = ROUND_SEGMENTS) -> shapely.Geometry:
    """Return a footprint with its rounding; arcs become chains of `segments` straight pieces per quarter turn.

    The corners of the chains lie on the true arc, so that the result is never larger than the footprint.
    """
    area = core_geometry(footprint)
    if footprint.radius < _NO_ROUNDING:
        return area
    return area.buffer(footprint.radius, quad_segs=segments)


def _even_odd(areas: Sequence[shapely.Geometry]) -> shapely.Geometry:
    """Return what lies in an odd number of areas; they are combined in pairs, so that no sum becomes large."""
    if len(areas) < 2:
        return areas[0] if areas else shapely.Polygon()
    pairs = [shapely.symmetric_difference(a, b) for a, b in zip(areas[::2], areas[1::2], strict=False)]
    return _even_odd(pairs + list(areas[len(pairs) * 2 :]))
