"""The line before a server: places one behind another, and who stands at which."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray

_MOST = 400
"""Most places of one line."""
_BENDS = tuple(math.radians(a) for a in (0.0, 20.0, -20.0, 45.0, -45.0, 70.0, -70.0, 90.0, -90.0))
"""Turns by which a line that forms by itself goes on where obstacles bar the straight way, one after another [rad]."""


@dataclass(eq=False)
class QueueLine:
    """The places of a line and those who queue there, in order. This class is **mutable**.

    Everybody has a place from the moment of setting off for it, so that nobody is overtaken.
    """

    places: FloatArray
    """Places, from the one where people are served backwards [m]; (P, 2)."""
    headings: FloatArray
    """Directions in which people look there [rad]; (P,)."""
    people: dict[str, int] = field(default_factory=dict)
    """The place of each, by name."""

    def __len__(self) -> int:
        return len(self.people)

    def join(self, who: str) -> int | None:
        """Give somebody the last place and return it; None if the line is full."""
        place = max(self.people.values(), default=-1) + 1
        if place >= len(self.places):
            return None
        self.people[who] = place
        return place

    def move_up(self, who: str) -> bool:
        """Move somebody to the foremost place that is free before the own one; return whether there is one."""
        place, used = self.people[who], set(self.people.values())
        first = place
        while first > 0 and first - 1 not in used:
            first -= 1
        self.people[who] = first
        return first < place

    def leave(self, who: str) -> None:
        """Let somebody leave the line."""
        self.people.pop(who, None)

    def behind(self, place: int) -> str | None:
        """Return who comes next after a place; None if nobody does."""
        later = [(other, who) for who, other in self.people.items() if other > place]
        return min(later)[1] if later else None


def drawn_line(
    points: Sequence[tuple[float, float]], spacing: float, free: Callable[[FloatArray], BoolArray]
) -> tuple[FloatArray, FloatArray]:
    """Return the places of a line that is drawn, and headings; it goes on straight beyond its end as far as it can.

    Args:
        points: the line, from the place where people are served backwards [m].
        spacing: distance between places [m].
        free: tells at which points (N, 2) somebody can stand; (N,).
    """
    knots = np.asarray(points, dtype=np.float64)
    lengths = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(knots, axis=0).T))])
    along = np.arange(0.0, lengths[-1] + 1e-9, spacing)[:_MOST]
    places = np.stack([np.interp(along, lengths, knots[:, k]) for k in range(2)], axis=-1)
    back = math.atan2(*(knots[-1] - knots[-2])[::-1])
    return _grown(places.tolist(), back, spacing, free, bends=(0.0,))


def own_line(
    point: tuple[float, float], heading: float, spacing: float, free: Callable[[FloatArray], BoolArray]
) -> tuple[FloatArray, FloatArray]:
    """Return the places of a line that forms by itself behind a point, and headings; it bends around obstacles.

    Args:
        point: where people are served [m].
        heading: direction in which they look there [rad].
        spacing: distance between places [m].
        free: tells at which points (N, 2) somebody can stand; (N,).
    """
    return _grown([list(point)], heading + math.pi, spacing, free, bends=_BENDS, first=heading)


def _grown(
    places: list[list[float]], back: float, spacing: float, free: Callable[[FloatArray], BoolArray],
    bends: Sequence[float], first: float | None = None,
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    while len(places) < _MOST:
        turns = back + np.asarray(bends)
        ahead = np.asarray(places[-1]) + spacing * np.stack([np.cos(turns), np.sin(turns)], axis=-1)
        fits = np.asarray(free(ahead), dtype=np.bool_)
        known = np.asarray(places[:-1]).reshape(-1, 2)
        for k, point in enumerate(ahead):
            fits[k] &= bool((np.hypot(*(known - point).T) >= 0.95 * spacing).all())
        if not fits.any():
            break
        chosen = int(np.argmax(fits))
        back = float(turns[chosen])
        places.append(ahead[chosen].tolist())
    out = np.asarray(places, dtype=np.float64)
    ways = out[:-1] - out[1:]
    headings = np.arctan2(ways[:, 1], ways[:, 0])
    start = first if first is not None else float(headings[0]) if len(headings) else back + math.pi
    return out, np.concatenate([[start], headings])
