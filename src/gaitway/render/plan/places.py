"""Where people do errands on a plan: places, lines, seats, sources and things."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import shapely

from gaitway.render.plan.canvas import Canvas, mixed

if TYPE_CHECKING:
    from gaitway.scene.errands import Place
    from gaitway.scene.sources import Source
    from gaitway.scene.things import Thing

_PLACE, _LINE, _SEAT, _SOURCE = "#3c8dad", "#8a5ab0", "#3f9a62", "#c07a2c"
_THING, _INK, _HALO = "#b04a6a", "#000000", "#ffffff"
_SIZE = 12.0
"""Size of words [px]."""


def draw_places(canvas: Canvas, places: Iterable[Place], bounds: Sequence[float]) -> None:
    """Draw places with their names: areas, points, lines in which people queue, and seats with the way sitters look.

    Args:
        canvas: the plan.
        places: the places.
        bounds: xmin, ymin, xmax, ymax of the world [m].
    """
    for place in places:
        color = _LINE if place.service is not None else _SEAT if place.seats else _PLACE
        if place.area is not None:
            shown = place.area.intersection(shapely.box(*bounds))
            canvas.fill(shown, (color, 0.14))
            canvas.outline(shown, (color, 0.6), 1.0, 5.0)
        if place.line:
            canvas.line(place.line, (color, 0.7), 2.0)
        for seat in place.seats:
            x, y, yaw = seat.pose
            ahead = (x + 0.12 * math.cos(yaw), y + 0.12 * math.sin(yaw))
            canvas.arrow_head(ahead, yaw, max(0.3 * canvas.scale, 6.0), color)
        if place.area is None and not place.seats:
            canvas.disc(place.point, max(0.14 * canvas.scale, 3.5), (_HALO, 0.8), color, 1.6)
            if place.heading is not None:
                x, y, far = *place.point, max(0.3, 9.0 / canvas.scale)
                tip = (x + far * math.cos(place.heading), y + far * math.sin(place.heading))
                canvas.arrow_head(tip, place.heading, max(0.14 * canvas.scale, 5.0), color)
        canvas.wish(place.name, place.point, _SIZE, mixed(color, _INK, 0.35), 6.0, _HALO)


def draw_sources(canvas: Canvas, sources: Iterable[Source]) -> None:
    """Draw where people come in."""
    for source in sources:
        canvas.fill(source.area, (_SOURCE, 0.14))
        canvas.outline(source.area, (_SOURCE, 0.8), 1.4, 3.0)
        middle = source.area.centroid
        words = f"{source.name}: people come in here"
        canvas.wish(words, (middle.x, middle.y), _SIZE, mixed(_SOURCE, _INK, 0.35), 4.0, _HALO)


def draw_things(canvas: Canvas, things: Iterable[Thing]) -> None:
    """Draw small things that stand somewhere at first."""
    for thing in things:
        if thing.at is not None and thing.rides is None:
            color = thing.color or _THING
            canvas.disc(thing.at[:2], max(0.5 * thing.width * canvas.scale, 3.5), color, mixed(color, _INK, 0.5), 1.0)
            canvas.wish(thing.name, thing.at[:2], _SIZE, mixed(color, _INK, 0.5), 5.0, _HALO)
