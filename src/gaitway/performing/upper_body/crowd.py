"""What characters of a take can see of one another: roots of all, at a few moments a second."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.take.model import Take

_RATE = 5.0
"""Moments a second [Hz]."""
_FAR, _NEAR = 6.0, 1.0
"""Distances between which somebody who comes is looked at [m]."""
_AHEAD = np.cos(np.radians(70.0))
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
        out = np.full(len(self.times), -1)
        there, others = self._company(character)
        own, all_of_them = self.places[character, there, :2], self.places[others, there, :2]
        apart = all_of_them - own
        away = np.hypot(apart[..., 0], apart[..., 1])
        step = np.gradient(own, axis=0) * _RATE if len(own) > 1 else np.zeros_like(own)
        speed = np.hypot(step[:, 0], step[:, 1])
        closing = -np.gradient(away, axis=1) * _RATE if len(own) > 1 else np.zeros_like(away)
        ahead = (apart * step).sum(axis=-1) > _AHEAD * away * speed
        seen = ahead & (speed > _CLOSING) & (closing > _CLOSING + 0.5 * speed) & (away < _FAR) & (away > _NEAR)
        found = np.where(seen, away, np.inf)
        if len(others):
            nearest = np.argmin(found, axis=0)
            least = found[nearest, np.arange(found.shape[1])]
            out[there] = np.where(np.isfinite(least), others[nearest], -1)
        return out

    def _company(self, character: int) -> tuple[slice, IntArray]:
        """Return the moments at which a character is there, one more on either side, and who is there at any of them.

        Without it nothing is seen, and who comes and goes at other times is never met.
        """
        present = np.flatnonzero(self._present[character])
        if not len(present):
            return slice(0, 0), np.empty(0, dtype=np.int64)
        there = slice(max(int(present[0]) - 1, 0), int(present[-1]) + 2)
        others = np.flatnonzero(self._present[:, there].any(axis=1))
        return there, others[others != character]

    @cached_property
    def _present(self) -> BoolArray:
        """Whether each character is there at each moment; (C, T)."""
        return ~np.isnan(self.places[:, :, 0])

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
        nearest = np.full(len(self.times), np.inf)
        there, others = self._company(character)
        away = self.places[others, there, :2] - self.places[character, there, :2]
        far = np.hypot(away[..., 0], away[..., 1])
        nearest[there] = np.where(np.isnan(far), np.inf, far).min(axis=0, initial=np.inf)
        return np.asarray(np.interp(times, self.times, np.minimum(nearest, 100.0)))

    def room(self, character: int, begin: float, end: float) -> float:
        """Return the least distance of any other root from a character in a span of time [m]; infinity if alone."""
        a, b = self.index(begin), self.index(end) + 1
        others = np.flatnonzero(self._present[:, a:b].any(axis=1))
        apart = self.places[others[others != character], a:b, :2] - self.places[character, a:b, :2]
        away = np.where(np.isnan(apart[..., 0]), np.inf, np.hypot(apart[..., 0], apart[..., 1]))
        return float(away.min(initial=np.inf))
