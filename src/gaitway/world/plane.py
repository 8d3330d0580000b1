"""Footprints as shapely geometry."""

from __future__ import annotations

from collections.abc import Sequence

import shapely

from gaitway.world.footprint import Footprint

ROUND_SEGMENTS = 8
"""Straight pieces for a quarter turn where something round has to be drawn: the middles of the pieces lie inside the
true circle by 0.48 % of its radius."""

_NO_ROUNDING = 1e-9
"""Buffers that are thinner fail by rounding [m]."""


def core_geometry(footprint: Footprint) -> shapely.Geometry:
    """What a footprint is the rounding of, exactly: filled rings by the even-odd rule, lines and points."""
    rings = footprint.rings
    areas = [shapely.make_valid(shapely.Polygon(ring)) for ring in rings if len(ring) > 2]
    lines = [shapely.LineString(ring) for ring in rings if len(ring) == 2]
    points = [shapely.Point(ring[0]) for ring in rings if len(ring) == 1]
    area = _even_odd(areas)
    return area if not lines and not points else shapely.union_all([area, *lines, *points])


def drawn_geometry(footprint: Footprint, segments: int = ROUND_SEGMENTS) -> shapely.Geometry:
    """A footprint with its rounding, whose arcs are chains of `segments` straight pieces for a quarter turn.

    The corners of the chains lie on the true arc, so that the result is never larger than the footprint.
    """
    area = core_geometry(footprint)
    if footprint.radius < _NO_ROUNDING:
        return area
    return area.buffer(footprint.radius, quad_segs=segments)


def _even_odd(areas: Sequence[shapely.Geometry]) -> shapely.Geometry:
    """All that lies in an odd number of areas; pairs of pairs, so that many rings do not grow one large sum."""
    if len(areas) < 2:
        return areas[0] if areas else shapely.Polygon()
    pairs = [shapely.symmetric_difference(a, b) for a, b in zip(areas[::2], areas[1::2], strict=False)]
    return _even_odd(pairs + list(areas[len(pairs) * 2 :]))
