"""Places of errands and sources of people: named marks on the ground that can be dragged."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import shapely
import shapely.affinity

from gaitway.errands.queue_line import own_line
from gaitway.scene.errands import Place
from gaitway.scene.placing.free_space import FreeSpace
from gaitway.scene.scene import Scene
from gaitway.scene.sources import Source
from gaitway.studio.edits import place_area
from gaitway.studio.events import MovePlace, MoveSource, StudioEvent
from gaitway.studio.page.ground_marks import LIFT, Color, GroundMarks
from gaitway.world.levels.floors import Floor

_PLACE, _QUEUE, _SEAT, _SOURCE = (44, 118, 150), (122, 78, 152), (46, 132, 84), (200, 116, 34)
"""Colours of points and areas, of lines, of seats, and of sources."""
_SOLID, _CLEAR = 0.85, 0.26
"""Opacity of small marks and of areas."""
_DISC, _INNER, _OUTER = 0.2, 0.32, 0.4
"""Radius of the disc of a point, and of the ring about it [m]."""
_STOP, _STROKE = 0.13, 0.035
"""Radius of the places of a line, and half the width of the stroke through them [m]."""
_SHOWN_STOPS = 8
"""Places of a line that forms by itself that are drawn."""
_RIM = 0.05
"""Width of the rim of an area [m]."""
_WIDE, _ABOVE = 0.44, 0.012
"""Width of a seat as it is painted, and how far above it [m]."""
_STANDING = 0.3
"""Room that people need in a line [m]."""


class PlaceMarks(GroundMarks):
    """Marks of all places of a scene, with their names. This class is **mutable**."""

    folder = "places"

    def _draw(self, scene: Scene) -> None:
        for place in scene.places.values():
            shape, color, opacity, words, lift = self._look_of(scene, place)
            known = place_area(scene.source, place.name).centroid
            node = self._put(
                place.name, shape, self._floor_of(place), color, opacity, f"{place.name}: {words}; drag it elsewhere",
                (known.x, known.y), lift,
            )  # fmt: skip
            if node is not None:
                self._write(node, place.name, (place.point[0] - known.x, place.point[1] - known.y, lift + 0.1))

    def _look_of(self, scene: Scene, place: Place) -> tuple[shapely.Geometry, Color, float, str, float]:
        """Return what is painted of a place: shape, colour, opacity, words, and height over the ground [m]."""
        if place.area is not None:
            return rimmed(place.area), _PLACE, _CLEAR, "people go here", LIFT
        if place.service is not None:
            return line_mark(queue_places(scene, place)), _QUEUE, _SOLID, "people queue here", LIFT
        if place.seats:
            top = max(seat.height for seat in place.seats) + _ABOVE
            return seat_mark(place), _SEAT, _SOLID, "people sit here", top
        return point_mark(place.point, place.heading), _PLACE, _SOLID, "people go here", LIFT

    def _floor_of(self, place: Place) -> Floor | None:
        if self._floors is None:
            return None
        if place.floor is not None:
            return next((floor for floor in self._floors.floors if floor.name == place.floor), None)
        return self._floors.widest(place.area or shapely.Point(place.point).buffer(_OUTER))

    def _moved(self, name: str, x: float, y: float) -> StudioEvent:
        return MovePlace(name, x, y)


class SourceMarks(GroundMarks):
    """Marks of all sources of a scene, with their names. This class is **mutable**."""

    folder = "sources"

    def _draw(self, scene: Scene) -> None:
        for source in scene.sources:
            node = self._put(
                source.name, rimmed(source.area), self._floor_of(source), _SOURCE, _CLEAR,
                f"{source.name}: people come in here, {source_words(source)}; drag it elsewhere",
            )  # fmt: skip
            if node is not None:
                self._write(node, f"→ {source.name}", (0.0, 0.0, 0.1))

    def _floor_of(self, source: Source) -> Floor | None:
        if self._floors is None:
            return None
        if source.floor is not None:
            return next((floor for floor in self._floors.floors if floor.name == source.floor), None)
        return self._floors.widest(source.area)

    def _moved(self, name: str, x: float, y: float) -> StudioEvent:
        return MoveSource(name, x, y)


def source_words(source: Source) -> str:
    """Return how many people come out of a source, in words."""
    if source.times:
        return f"{sum(count for _, count in source.times)} by a timetable"
    most = "" if source.count >= 10**6 else f", at most {source.count}"
    return f"{60.0 * source.rate:g} a minute{most}"


def queue_places(scene: Scene, place: Place) -> list[tuple[float, float]]:
    """Return the places of a line [m], from the one where people are served backwards; a few if it forms by itself."""
    if place.line:
        knots = shapely.LineString(place.line)
        away = np.arange(0.0, knots.length + 1e-9, place.spacing)
        points = shapely.get_coordinates(shapely.line_interpolate_point(knots, away))
    else:
        space = FreeSpace(scene.world, scene.world.obstacles, _STANDING)
        points, _ = own_line(place.point, place.heading or 0.0, place.spacing, space.free)
        points = points[:_SHOWN_STOPS]
    return [(x, y) for x, y in points.tolist()]


def line_mark(points: Sequence[tuple[float, float]]) -> shapely.Geometry:
    """Return the mark of a line: a ring where people are served, dots behind it, and a stroke through all."""
    first = shapely.Point(points[0])
    parts = [first.buffer(_OUTER).difference(first.buffer(_INNER)), *(shapely.Point(p).buffer(_STOP) for p in points)]
    if len(points) > 1:
        parts.append(shapely.LineString(points).buffer(_STROKE))
    return shapely.union_all(parts)


def point_mark(point: tuple[float, float], heading: float | None) -> shapely.Geometry:
    """Return the mark of a point: a disc in a ring, with a tip where people look if they look somewhere."""
    middle = shapely.Point(point)
    parts = [middle.buffer(_DISC), middle.buffer(_OUTER).difference(middle.buffer(_INNER))]
    if heading is not None:
        parts.append(_tip(point, heading, _OUTER))
    return shapely.union_all(parts)


def seat_mark(place: Place) -> shapely.Geometry:
    """Return the mark of seats: a square on each, with a tip where the sitter looks."""
    parts = []
    for seat in place.seats:
        x, y, yaw = seat.pose
        square = shapely.box(-seat.depth, -0.5 * _WIDE, -0.02, 0.5 * _WIDE).buffer(-0.05).buffer(0.04)
        tip = shapely.Polygon([(-0.02, 0.12), (0.1, 0.0), (-0.02, -0.12)])
        turned = shapely.affinity.rotate(shapely.union_all([square, tip]), yaw, origin=(0, 0), use_radians=True)
        parts.append(shapely.affinity.translate(turned, x, y))
    return shapely.union_all(parts)


def rimmed(area: shapely.Geometry) -> shapely.Geometry:
    """Return an area with a gap along its rim, which is seen as a line."""
    inner = area.buffer(-2.0 * _RIM)
    return shapely.union_all([area.difference(area.buffer(-_RIM)), inner]) if not inner.is_empty else area


def _tip(point: tuple[float, float], heading: float, radius: float) -> shapely.Geometry:
    """Return a triangle at the rim of a disc [m], which points in a direction [rad]."""
    ways = [(heading - 0.35, radius - 0.02), (heading, radius + 0.2), (heading + 0.35, radius - 0.02)]
    return shapely.Polygon([(point[0] + r * math.cos(a), point[1] + r * math.sin(a)) for a, r in ways])
