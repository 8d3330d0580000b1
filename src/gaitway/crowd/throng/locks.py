"""Locks of a throng that is planned: time goes back, some of those who are locked come later, and others pass first.

Legs that are in between one another, or around the corner of a wall, find no way out but through one another. A live
throng has to allow that a little. A plan can go back to before it happened. The same serves where motion has a flaw,
see `gaitway.crowd.throng.flaws`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.crowd.throng.simulation import ThrongSimulation
from gaitway.crowd.throng.walking import WalkingMoment, WalkingThrong

LOCKED = 2.5
"""Time of waiting from which on somebody is locked [s]; a little later more depth is allowed to who waits."""
_EVERY, _KEPT = 1.0, 14
"""Time between moments to which one can go back [s], and how many are kept."""
_BACK = (2.5, 4.0, 6.0, 9.0)
"""How far before the waiting began time goes back, at the first try, at the second and so on [s]."""
_BACK_OF_FLAW = (1.5, 2.5, 3.5, 5.0, 7.0)
"""The same of a flaw, before it was found [s]."""
_LATER = 3.0
"""How much longer than that people are slow [s]."""
_SLOW = 0.4
"""Share of their speed that they have then."""
_NEAR = 1.0
"""Distance of those who are near somebody who is locked [m]."""
_ANEW = 1.5
"""A lock that comes so much later than the last one is another one [s]."""
_MOST, _MOST_OF_FLAWS = 24, 24
"""Largest numbers of times that time goes back in a run for locks and for flaws; after that locks are left to patience,
and flaws stay."""


class LockBreaker:
    """Watches a throng for locks. This class is **mutable**."""

    def __init__(self, throng: WalkingThrong, simulation: ThrongSimulation) -> None:
        """Watch a throng and its dynamics."""
        self._throng, self._simulation = throng, simulation
        self._moments = deque[WalkingMoment](maxlen=_KEPT)
        self._tries, self._times, self._last = 0, 0, -np.inf
        self._flaw_tries, self._flaw_times, self._last_flaw = 0, 0, -np.inf
        self._slow: list[tuple[float, float, IntArray]] = []
        self._speeds: FloatArray = np.empty(0)

    def forget(self) -> None:
        """Forget all moments, since somebody has joined."""
        self._moments.clear()
        self._speeds = np.concatenate([self._speeds, self._simulation.speeds[len(self._speeds) :]])

    def watch(self) -> float | None:
        """Look at the throng after a step; returns the time to which it went back [s], or None if it goes on."""
        simulation = self._simulation
        now = simulation.time
        if not self._moments or now >= self._moments[-1].simulation.time + _EVERY - 1e-6:
            self._moments.append(self._throng.moment())
        waited = self._throng.waited
        if not (waited > LOCKED).any() or self._times >= _MOST:
            self._set_speeds()
            return None
        self._tries = 0 if now > self._last + _ANEW else self._tries + 1
        if self._tries >= len(_BACK):
            return None
        begin = now - LOCKED - _BACK[self._tries]
        earlier = [moment for moment in self._moments if moment.simulation.time <= begin]
        if not earlier:
            return None
        self._last, self._times = max(now, self._last), self._times + 1
        later = self._come_later(waited)
        return self._go_back(earlier[-1], now - LOCKED + _LATER, later)

    def mend(self, rows: IntArray) -> float | None:
        """Go back before a flaw in the motion of some people (M,); returns to when [s], or None if it goes on."""
        now = self._simulation.time
        self._flaw_tries = 0 if now > self._last_flaw + _ANEW else self._flaw_tries + 1
        if not self._moments or self._flaw_tries >= len(_BACK_OF_FLAW) or self._flaw_times >= _MOST_OF_FLAWS:
            return None
        self._last_flaw, self._flaw_times = max(now, self._last_flaw), self._flaw_times + 1
        begin = now - _BACK_OF_FLAW[self._flaw_tries]
        earlier = [moment for moment in self._moments if moment.simulation.time <= begin]
        places = self._simulation.positions
        near = np.unique(np.concatenate([np.flatnonzero(np.hypot(*(places - places[k]).T) < _NEAR) for k in rows]))
        others = np.setdiff1d(near, rows)
        later = others if self._flaw_tries % 2 and len(others) else rows
        return self._go_back(earlier[-1] if earlier else self._moments[0], now, later)

    def _go_back(self, moment: WalkingMoment, until: float, later: IntArray) -> float:
        """Go back to a moment, from which on some people are slow until a time [s]; returns the time of the moment."""
        while self._moments[-1] is not moment:
            self._moments.pop()
        self._throng.return_to(moment)
        self._slow.append((self._simulation.time, until, later))
        self._set_speeds()
        return self._simulation.time

    def _set_speeds(self) -> None:
        """Let everybody walk at its own speed but for those who come later now."""
        now, speeds = self._simulation.time, self._speeds.copy()
        for begin, until, rows in self._slow:
            if begin <= now < until:
                speeds[rows] = _SLOW * self._speeds[rows]
        self._simulation.set_speeds(np.arange(len(speeds)), speeds)

    def _come_later(self, waited: FloatArray) -> IntArray:
        """Return who comes later at this try: who has waited longest, all others who are locked, or those beside."""
        locked = np.flatnonzero(waited > LOCKED)
        longest = locked[np.argmax(np.round(waited[locked], 6))]
        places = self._simulation.positions[: len(waited)]
        near = np.flatnonzero(np.hypot(*(places - places[longest]).T) < _NEAR)
        choices: list[Callable[[], IntArray]] = [
            lambda: np.array([longest]),
            lambda: near[near != longest],
            lambda: near,
            lambda: np.setdiff1d(near, locked),
        ]
        found = choices[self._tries]()
        return found if len(found) else np.array([longest])
