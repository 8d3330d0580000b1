"""Events of a live crowd, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.live.playing import _playing_kernels as playing
from gaitway.live.playing._crowd_kernels import CrowdArrays
from gaitway.live.playing.arrays import longer

STUCK_AFTER = 6.0
"""A character is stuck when it came no nearer to its goal for so long [s]."""
_NEARER = 0.3
"""A character came nearer when its route to the goal is shorter by this [m]."""
_BLOCKED_AFTER = 3
"""Turns to plan without a plan after which a character that stands is blocked."""
# columns of `LiveWatch.table`
_WAITS, _BEST, _SINCE, _TOLD_BLOCKED, _TOLD_STUCK = range(5)
"""Whether an arrival is still to be told of, shortest route to the goal so far [m], since when it is the shortest [s],
and whether the character was told of as blocked and as stuck."""


@dataclass(frozen=True, kw_only=True)
class LiveEvent:
    """Something that happened to a character."""

    time: float
    """Time of the step in which it was seen [s]."""
    id: int
    """Id of the character; -1 for a character that was refused."""
    name: str
    """Name of the character."""
    position: tuple[float, float]
    """Position of the character: x, y [m]."""


@dataclass(frozen=True, kw_only=True)
class Arrived(LiveEvent):
    """A character stands at its goal, or as near to it as it can get."""


@dataclass(frozen=True, kw_only=True)
class Removed(LiveEvent):
    """A character was taken out of the crowd."""


@dataclass(frozen=True, kw_only=True)
class Hindered(LiveEvent):
    """A character that cannot do what it was asked to, and why, as far as that is known."""

    reason: str
    """The reason in one sentence."""
    by: int = -1
    """Id of the character that is in the way, or -1."""
    obstacle: int = -1
    """Id of the obstacle that is in the way, or -1."""


@dataclass(frozen=True, kw_only=True)
class Refused(Hindered):
    """A character was not put in, since there is no room at its start."""


@dataclass(frozen=True, kw_only=True)
class Blocked(Hindered):
    """A character stands and waits: it found no free plan several times in a row. It goes on trying."""


@dataclass(frozen=True, kw_only=True)
class Stuck(Hindered):
    """A character came no nearer to its goal for some seconds. It goes on trying."""

    seconds: float
    """Time for which it came no nearer [s]."""


class Seen(NamedTuple):
    """Numbers in the engine of the characters to which something happened in a step."""

    arrived: IntArray
    blocked: IntArray
    stuck: IntArray
    seconds: FloatArray
    """Time for which each stuck character came no nearer [s]; (N,)."""


class LiveWatch:
    """Follows characters from step to step. This class is **mutable**.

    Attributes:
        table: numbers that are remembered of each character; (C, 5).
    """

    def __init__(self) -> None:
        self.table: FloatArray = np.zeros((0, 5))

    def begin(self, slots: IntArray, places: int, time: float) -> None:
        """Follow characters that are new or have new goals; `places` is the number of places for characters."""
        if len(self.table) < places:
            self.table = longer(self.table, places)
        self.table[slots] = (1.0, np.inf, time, 0.0, 0.0)

    def holds(self, events: Sequence[Hindered], slots: IntArray) -> BoolArray:
        """Return which of some characters are still blocked or stuck, as their latest events say; (N,)."""
        columns = [_TOLD_STUCK if isinstance(event, Stuck) else _TOLD_BLOCKED for event in events]
        out: BoolArray = self.table[slots, np.array(columns, np.int64)] > 0.0
        return out

    def look(self, plans: CrowdArrays, held: list[int], now: float, later: Sequence[int] = ()) -> Seen:
        """Return what happened in a step whose planning is done.

        Args:
            plans: the characters.
            held: characters that are left out.
            now: time now [s].
            later: characters that have not arrived when they rest, since they go on from there.
        """
        if len(self.table) < len(plans.until):
            self.table = longer(self.table, len(plans.until))
        table, counts, left = self.table, plans.counts, plans.numbers[:, playing.LEFT]
        status, fails = counts[:, playing.STATUS], counts[:, playing.FAILS]
        going = status == playing.GOING
        # a character without a time for its next plan plays a plan that leads to the goal, or all of a search's path,
        # unless it is in a throng, where nothing is played
        on_its_way = np.isinf(left) | (np.isinf(plans.numbers[:, playing.READY]) & np.isfinite(plans.until))
        nearer = going & (on_its_way | (left < table[:, _BEST] - _NEARER))
        table[nearer, _BEST], table[nearer, _SINCE], table[nearer, _TOLD_STUCK] = left[nearer], now, 0.0
        table[going & (fails == 0), _TOLD_BLOCKED] = 0.0
        arrived = (status == playing.THERE) & (table[:, _WAITS] > 0.0)
        waits = going & (fails >= _BLOCKED_AFTER) & (counts[:, playing.COUNT] == 1)
        blocked = waits & (table[:, _TOLD_BLOCKED] == 0.0)
        stuck = going & (now - table[:, _SINCE] >= STUCK_AFTER) & (table[:, _TOLD_STUCK] == 0.0)
        arrived[list(later)] = False
        arrived[held] = blocked[held] = stuck[held] = False
        table[arrived, _WAITS], table[blocked, _TOLD_BLOCKED], table[stuck, _TOLD_STUCK] = 0.0, 1.0, 1.0
        slots = np.flatnonzero(stuck)
        return Seen(np.flatnonzero(arrived), np.flatnonzero(blocked), slots, now - table[slots, _SINCE])
