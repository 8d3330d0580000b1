"""Arrivals: when people come out of the sources of a scene, and what kind of people they are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from gaitway.scene.characters import Character, LibraryRef
from gaitway.scene.sources import Source, SourceKind


@dataclass(frozen=True, eq=False)
class Arrival:
    """Somebody who comes out of a source."""

    name: str
    time: float
    """When [s]."""
    source: Source
    kind: SourceKind
    library: LibraryRef
    companions: tuple[str, ...] = ()
    """Names of all who come and go together, its own among them; empty for somebody alone."""


def arrivals(sources: Sequence[Source], seed: int, end: float = math.inf) -> list[Arrival]:
    """Return all who come out of sources before a time [s], in order of time; drawn by seed and name."""
    found = [arrival for source in sources for arrival in _of(source, seed, end)]
    return sorted(found, key=lambda arrival: (arrival.time, arrival.name))


def stranger(arrival: Arrival, pose: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Character:
    """Return the character of somebody who comes out of a source, at a start pose x, y [m] and heading [rad]."""
    return Character(
        name=arrival.name,
        start=pose,
        goal=pose[:2],
        goal_heading=None,
        library=arrival.library,
        plan=arrival.source.plan,
        radius=arrival.source.radius,
        speed=arrival.kind.speed,
        age=arrival.kind.age,
        start_time=arrival.time,
        start_floor=arrival.source.floor,
        errands=arrival.kind.errands,
        companions=arrival.companions,
    )


def strangers(coming: Iterable[Arrival]) -> list[Character]:
    """Return the characters of all who come out of sources; nobody has a place yet."""
    return [stranger(arrival) for arrival in coming]


def _of(source: Source, seed: int, end: float) -> Iterator[Arrival]:
    rng = np.random.default_rng([seed, crc32(source.name.encode()), 29])
    shares = np.array([kind.share for kind in source.kinds])
    kind = source.kinds[0]
    for number, time in enumerate(_times(source, rng), 1):
        if number > source.count or time > end:
            return
        first = number - (number - 1) % source.companions
        if number == first:  # companions are of one kind
            kind = source.kinds[int(rng.choice(len(shares), p=shares / shares.sum()))]
        name = f"{source.name}-{number:03d}"
        last = min(first + source.companions - 1, source.count)
        together = tuple(f"{source.name}-{k:03d}" for k in range(first, last + 1)) if last > first else ()
        yield Arrival(name, time, source, kind, kind.draws.of(kind.library, seed, name), together)


def _times(source: Source, rng: np.random.Generator) -> Iterator[float]:
    """Yield when people come: by the timetable, or by chance at the rate."""
    if source.times:
        yield from (time for time, count in sorted(source.times) for _ in range(count))
        return
    time = source.start
    while True:
        time += float(rng.exponential(source.companions / source.rate))
        if time > source.until:
            return
        for _ in range(source.companions):
            yield time
