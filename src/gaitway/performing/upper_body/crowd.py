"""What characters of a take can see of one another: roots of all, at a few moments a second."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, read_only
from gaitway.performing.upper_body import _crowd_kernels
from gaitway.take.model import Take

_RATE = 5.0
"""Moments a second [Hz]."""
_FAR, _NEAR = 6.0, 1.0
"""Distances between which somebody who comes is looked at [m]."""
_AHEAD = float(np.cos(np.radians(70.0)))
"""Cosine of the greatest angle between the way of somebody and the place of who comes."""
_CLOSING = 0.4
"""Least speed at which somebody comes nearer [m/s]."""


@dataclass(frozen=True, eq=False)
class Onlookers:
    """Where everybody is."""

    times: FloatArray
    """Moments [s]; (T,)."""
    places: FloatArray
    """Roots: x, y [m] and heading [rad]; NaN where somebody is not there; (C, T, 3)."""
    groups: tuple[str, ...]
    """Name of the group of each character; (C,)."""

    @staticmethod
    def of(take: Take) -> Onlookers:
        """Return where everybody is in a take."""
        times = np.arange(0.0, take.duration + 1.0 / _RATE, 1.0 / _RATE)
        groups = tuple(name.rstrip("0123456789").rstrip("-") for name in take.names)
        return Onlookers(times, take.planar(times), groups)

    def index(self, time: float) -> int:
        """Return the moment nearest to a time [s]."""
        return int(np.clip(round(time * _RATE), 0, len(self.times) - 1))

    def comers(self, character: int) -> IntArray:
        """Return who comes towards a character at each moment, the nearest; -1 for nobody; (T,)."""
        comers: IntArray = self._meetings[1][character]
        return comers

    @cached_property
    def _meetings(self) -> tuple[IntArray, IntArray]:
        """Who is nearest to each character at each moment, and who comes towards it; -1 for nobody; (C, T) each."""
        nearest, comers = (np.full(self.places.shape[:2], -1, dtype=np.int64) for _ in range(2))
        places = read_only(self.places[..., :2].transpose(1, 0, 2))
        _crowd_kernels.meetings(places, _RATE, _AHEAD, _CLOSING, _NEAR, _FAR, nearest, comers)
        return nearest, comers

    def _away(self, character: int) -> FloatArray:
        """Return how far the next other root is from a character at each moment [m]; infinity if it is alone; (T,)."""
        nearest = self._meetings[0][character]
        met = np.flatnonzero(nearest >= 0)
        apart = self.places[nearest[met], met, :2] - self.places[character, met, :2]
        out = np.full(len(nearest), np.inf)
        out[met] = np.hypot(apart[:, 0], apart[:, 1])
        return out

    def near(self, character: int, begin: float, end: float, within: float) -> tuple[IntArray, BoolArray]:
        """Return who is near a character in the middle of a span of time, and whether they belong to its group.

        Args:
            character: the character.
            begin: begin of the span [s].
            end: end of the span [s].
            within: greatest distance [m].
        """
        k = self.index(0.5 * (begin + end))
        away = np.hypot(*(self.places[:, k, :2] - self.places[character, k, :2]).T)
        away[character] = np.inf
        found = np.flatnonzero(away < within)
        return found, np.array([self.groups[i] == self.groups[character] for i in found.tolist()], dtype=bool)

    def apart(self, character: int, times: FloatArray) -> FloatArray:
        """Return how far the next other root is from a character at some times [m]; infinity if it is alone; (N,)."""
        return np.asarray(np.interp(times, self.times, np.minimum(self._away(character), 100.0)))

    def room(self, character: int, begin: float, end: float) -> float:
        """Return the least distance of any other root from a character in a span of time [m]; infinity if alone."""
        return float(self._away(character)[self.index(begin) : self.index(end) + 1].min(initial=np.inf))
