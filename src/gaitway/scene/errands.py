"""Errands: what people of a scene do one after another, and the places where they do it.

Positions are those of the scene; floors are named, as characters' are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import shapely  # which loads NumPy, and few scenes need

Range = tuple[float, float]
"""Least and greatest time, between which it is drawn [s]."""
Pose = tuple[float, float, float]
"""x, y [m] and heading [rad]."""


@dataclass(frozen=True, kw_only=True)
class SeatPlace:
    """A seat of a place."""

    pose: Pose
    """Middle of its front edge, and the way the sitter looks."""
    height: float
    """Height of its top above the floor [m]."""
    depth: float
    """Distance from its front edge to its back [m]."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Place:
    """Somewhere to go: a point, an area, the line before a server, or seats."""

    name: str
    point: tuple[float, float]
    """The point itself, the middle of the area, the place where people are served, or the middle of the seats [m]."""
    heading: float | None = None
    """Direction in which people look there [rad]; None for any."""
    area: shapely.Geometry | None = None
    line: tuple[tuple[float, float], ...] = ()
    """Where people queue, from the place where they are served backwards [m]; empty: the line forms by itself."""
    service: Range | None = None
    """How long somebody is served; None where nobody queues."""
    spacing: float = 0.9
    """Distance between those who queue [m]."""
    seats: tuple[SeatPlace, ...] = ()
    floor: str | None = None
    """Name of its floor, in a place with several."""
    height: float | None = None
    """Height that tells its floor [m]; None for the floor that is named, or the lowest that is there."""
    laid_out: bool = False
    """Whether its point is in the plane of the floors already."""


@dataclass(frozen=True)
class Person:
    """Somebody to go to, by name."""

    name: str


Target = Place | Person


@dataclass(frozen=True)
class Go:
    """Walk to a place or up to somebody."""

    to: Target


@dataclass(frozen=True)
class Wait:
    """Stand for some time, until a time, until an event has happened, or until a mover stands."""

    seconds: Range | None = None
    until: float | None = None
    event: str | None = None
    mover: str | None = None


@dataclass(frozen=True)
class Queue:
    """Stand in the line of a place, and be served."""

    at: Place


@dataclass(frozen=True)
class Sit:
    """Sit on a free seat of a place."""

    at: Place
    seconds: Range


@dataclass(frozen=True)
class Look:
    """Turn towards a place or somebody, and stand so for some time."""

    to: Target
    seconds: Range


@dataclass(frozen=True)
class Meet:
    """Go to a place, and wait there until all companions have come."""

    at: Target
    companions: tuple[str, ...]
    patience: float
    """Longest time to wait for the others [s]."""


@dataclass(frozen=True)
class Handle:
    """Do something with a thing: touch, press, take, put, give or hold it."""

    verb: str
    """One of `gaitway.scene.errand_models.HANDLING`."""
    thing: str
    """Its name."""
    hand: str
    """"left", "right" or "any"."""
    seconds: Range = (0.0, 0.0)
    """How long it is held."""
    other: str | None = None
    """Who gives it, or gets it."""
    at: tuple[float, float, float] | None = None
    """Where it is put: the middle of its underside [m]; None for on something."""
    yaw: float | None = None
    """How it is turned there [rad]; None for any way."""
    on: str | None = None
    """The obstacle on which it is put, or "head"."""
    patience: float = 120.0
    """Longest time to wait until somebody stands who gives or gets it [s]."""


@dataclass(frozen=True)
class Choose:
    """Do one of several lists of errands."""

    among: tuple[tuple[Errand, ...], ...]
    by: str
    """"chance", "distance" or "queue"."""
    weights: tuple[float, ...]


@dataclass(frozen=True)
class Repeat:
    """Do errands several times."""

    errands: tuple[Errand, ...]
    times: int


@dataclass(frozen=True)
class Leave:
    """Go to an exit and be gone."""

    by: Target


Errand = Go | Wait | Queue | Sit | Look | Meet | Handle | Choose | Repeat | Leave


@dataclass(frozen=True, eq=False, kw_only=True)
class Rule:
    """Something that happens at a time, after another event, or when people have come somewhere."""

    event: str
    at: float | None
    """Time at which it happens [s]; None if that depends."""
    after: str | None
    """The event that it follows, and how much later [s]."""
    delay: float
    reach: str | None
    """The place that `count` people must have come to."""
    press: str | None
    """The thing that somebody must have pressed."""
    count: int
    who: tuple[str, ...] | None
    """Whom it sends on errands: names of characters, groups and sources; None for everybody."""
    errands: tuple[Errand, ...]
    """What these do; empty if it sends nobody."""
    opens: tuple[str, ...] = ()
    closes: tuple[str, ...] = ()
    """Names of the doors that it opens and closes."""


def target_of(errand: Errand) -> Target | None:
    """Return where an errand leads; None if it leads nowhere, or that is not known yet."""
    match errand:
        case Go(to) | Look(to, _):
            return to
        case Queue(at) | Sit(at, _) | Meet(at, _, _):
            return at
        case Leave(by):
            return by
        case Repeat(errands, _):
            return next((found for one in errands if (found := target_of(one)) is not None), None)
    return None


def label(errand: Errand) -> str:
    """Return a few words for an errand, such as "queue counter"."""
    if isinstance(errand, Handle):
        return f"{errand.verb} {errand.thing}"
    word = type(errand).__name__.lower()
    where = None if isinstance(errand, Repeat) else target_of(errand)
    return word if where is None else f"{word} {where.name}"


def every(errands: Sequence[Errand]) -> Iterator[Errand]:
    """Yield all errands of a list, with those inside others."""
    for errand in errands:
        yield errand
        if isinstance(errand, Repeat):
            yield from every(errand.errands)
        elif isinstance(errand, Choose):
            for some in errand.among:
                yield from every(some)


def length(errands: Sequence[Errand]) -> int:
    """Return the greatest number of errands that a list amounts to, repeats counted as often as they are done."""
    return sum(_length(errand) for errand in errands)


def _length(errand: Errand) -> int:
    if isinstance(errand, Repeat):
        return errand.times * length(errand.errands)
    return max(map(length, errand.among)) if isinstance(errand, Choose) else 1


def middle_of(points: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return the middle of some points [m]."""
    return math.fsum(p[0] for p in points) / len(points), math.fsum(p[1] for p in points) / len(points)
