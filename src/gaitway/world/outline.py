"""Whether rings of points are the outline of something: simple, with an area, holes inside and apart."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import shapely

from gaitway.core.errors import WorldError

Point = tuple[float, float]
Ring = tuple[Point, ...]

MAX_POINTS = 100_000
"""Most points of one polygon."""


def check_outline(rings: Sequence[Ring]) -> None:
    """Refuse what is not a simple outline (the first ring) with separate holes in it (the others).

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
    """The place out of GEOS's words, as in "Self-intersection[1 2]"."""
    numbers = re.findall(r"-?\d[\d.eE+-]*", reason[reason.find("[") :])
    return float(numbers[0]), float(numbers[1])
