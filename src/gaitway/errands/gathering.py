"""Companions before a common errand: they wait until all are ready, come near the first of them, and then set off.

It knows what the dispatcher tells it of people, and like the dispatcher nothing of how they move.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping
from typing import Protocol

import numpy as np

from gaitway.errands.orders import Hold, Order, Outcome, Pose, Stand, Walk
from gaitway.errands.standing_places import StandingPlaces
from gaitway.scene.errands import Errand, Handle, Look, Place, target_of

_FOLLOWS = (0.07, 0.3)
"""Time after which companions follow the first of them [s]."""
_PATIENCE = 40.0
"""Longest time to wait for companions before an errand [s]."""
_WAY = 4.0
"""Least way for which companions come near the first of them before they set off [m]."""
_AWAY, _FAR = 1.6, 8.0
"""Distances from the first of them between which they do [m]; who is farther away follows."""
_CLOSING = 15.0
"""Longest time for which the others wait until they have [s]."""

Key = tuple[str, tuple[int, int]]
"""Some companions, by the name of one of them, and an errand, by what they have begun."""
Doing = Generator[Order, Outcome, None]


class Companion(Protocol):
    """Somebody who has companions, as `Doer`."""

    name: str
    pose: Pose
    time: float
    radius: float
    rng: np.random.Generator
    waits: bool
    companions: tuple[str, ...]
    begun: tuple[int, int]
    first: str


class Gathering:
    """Who is ready for a common errand, and who is still to come near. This class is **mutable**."""

    def __init__(
        self,
        people: Mapping[str, Companion],
        standing: StandingPlaces,
        placed: Callable[[Place], Place],
        wake: Callable[[str, float], None],
    ) -> None:
        """Begin without anybody.

        Args:
            people: all who do errands, by name.
            standing: where people stand.
            placed: where a place is now.
            wake: lets somebody who holds be asked for an order at a time [s].
        """
        self.people, self.standing, self.placed, self.wake = people, standing, placed, wake
        self.ready: dict[Key, set[str]] = {}
        self.away: dict[Key, set[str]] = {}

    def gather(self, doer: Companion, errand: Errand, abreast: float) -> Doing:
        """Wait until all companions are about to begin the same errand; the first of them then sets off first.

        Who is away from the first one comes near before that, if they go somewhere together.

        Args:
            doer: the person.
            errand: the errand.
            abreast: distance from one companion to the next where they stand [m].
        """
        doer.begun, doer.first = (doer.begun[0], doer.begun[1] + 1), ""
        wanted, key = set(doer.companions), (doer.companions[0], doer.begun)
        here = self.ready.setdefault(key, set())
        here.add(doer.name)
        patience = doer.time + _PATIENCE
        if wanted <= here:
            first = self._foremost(doer, errand)
            for name in doer.companions:
                self.people[name].first = first
                if name != doer.name and self.people[name].waits:
                    self.wake(name, doer.time + (0.0 if name == first else self._reaction(name)))
            if away := self._away_from(first, doer, errand):
                self.away[key] = away
            if doer.name != first:
                yield Stand(doer.time + self._reaction(doer.name))
        while not wanted <= here and doer.time < patience - 1e-6:
            yield Hold(patience)
        if key in self.away and doer.first in self.people:
            yield from self._close_up(doer, key, abreast)

    def not_ready(self, doer: Companion) -> None:
        """Note that somebody has not begun after all, and is not to be taken for one who waits."""
        if doer.companions:
            self.ready.get((doer.companions[0], doer.begun), set()).discard(doer.name)

    def forget(self, companions: tuple[str, ...]) -> bool:
        """Forget companions who are all gone; return whether all of them had come."""
        first = companions[0]
        came = {one for key, here in self.ready.items() if key[0] == first for one in here}
        if not came >= set(companions):  # somebody may still come, and is not to wait for them
            return False
        self.ready = {key: here for key, here in self.ready.items() if key[0] != first}
        self.away = {key: away for key, away in self.away.items() if key[0] != first}
        return True

    def _foremost(self, doer: Companion, errand: Errand) -> str:
        """Return who of the companions is nearest to where they go, so that nobody stands in that one's way."""
        target = target_of(errand)
        if not isinstance(target, Place):
            return doer.companions[0]
        to = self.placed(target).point
        return min(doer.companions, key=lambda name: (round(math.dist(self.people[name].pose[:2], to), 3), name))

    def _reaction(self, name: str) -> float:
        """Return how much later than the first one a companion sets off [s]."""
        return float(self.people[name].rng.uniform(*_FOLLOWS))

    def _away_from(self, first: str, doer: Companion, errand: Errand) -> set[str]:
        """Return who is too far from the first one to set off together, if all go to a place together."""
        target, here = target_of(errand), self.people[first].pose[:2]
        if not isinstance(target, Place) or isinstance(errand, Look | Handle):
            return set()
        if math.dist(here, self.placed(target).point) < _WAY:
            return set()
        gaps = {name: math.dist(self.people[name].pose[:2], here) for name in doer.companions}
        return {name for name, gap in gaps.items() if _AWAY < round(gap, 6) < _FAR}

    def _close_up(self, doer: Companion, key: Key, abreast: float) -> Doing:
        """Come to the first of the companions, or wait until all who are away from that one have come."""
        away, tired = self.away[key], doer.time + _CLOSING
        if doer.name in away:
            try:
                place = self._at_side(doer, abreast)
                if place is not None:
                    self.standing.taken[doer.name] = place
                    outcome = yield Walk(place)
                    self.standing.taken[doer.name] = outcome.pose[:2]
            finally:  # also who is sent elsewhere on the way
                self._has_come(doer, key, away)
            if not away:
                yield Stand(doer.time + self._reaction(doer.name))
        while away and doer.time < tired - 1e-6:
            yield Hold(tired)

    def _has_come(self, doer: Companion, key: Key, away: set[str]) -> None:
        """Note that nobody waits for somebody any more; after the last one all set off."""
        away.discard(doer.name)
        if away:
            return
        self.away.pop(key, None)
        for name in doer.companions:
            other = self.people.get(name)
            if other is not None and other.waits and other.begun == doer.begun:
                self.wake(name, doer.time + (0.0 if name == doer.first else self._reaction(name)))

    def _at_side(self, doer: Companion, abreast: float) -> tuple[float, float] | None:
        """Return a free place beside the first of the companions, where somebody comes from [m]; None without any."""
        x, y = self.people[doer.first].pose[:2]
        way = math.atan2(doer.pose[1] - y, doer.pose[0] - x)
        turns = way + np.array([0.0, 0.6, -0.6, 1.2, -1.2, 1.8, -1.8])
        points = np.array([x, y]) + abreast * np.column_stack([np.cos(turns), np.sin(turns)])
        for k in np.flatnonzero(self.standing.free(points, doer.name, doer.radius)).tolist():
            return float(points[k, 0]), float(points[k, 1])
        return None
