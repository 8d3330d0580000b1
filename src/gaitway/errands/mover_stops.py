"""When a mover stands: people can wait for a train, as well as for a time or an event."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.world.obstacle import Mover
from gaitway.world.world import World

_SHORTEST = 1.0
"""Shortest time for which a mover counts as standing [s]."""
_SAME = 1e-6
"""Largest difference of poses between which a mover does not move [m, rad]."""


def stops(mover: Mover) -> list[tuple[float, float]]:
    """Return when a mover stands after it has moved: times from and until [s]; the last one may never end."""
    moves = (np.abs(np.diff(mover.poses, axis=0)) > _SAME).any(axis=1)
    keys = np.flatnonzero(moves)  # it moves from each of these keys to the next
    if not len(keys):
        return []
    begins, ends = mover.times[keys + 1].tolist(), [*mover.times[keys[1:]].tolist(), np.inf]
    return [(a, b) for a, b in zip(begins, ends, strict=True) if b - a >= _SHORTEST]


def next_stop(world: World, name: str, time: float) -> float | None:
    """Return when a mover of a name stands within the world for the first time from a time on [s]; None if never.

    A mover that stands beyond the bounds is not there.
    """
    movers = [mover for mover in world.movers if mover.name == name]
    found = [
        max(begin, time)
        for mover in movers
        for begin, end in stops(mover)
        if end > time and _within(mover.pose(begin), world)
    ]
    return min(found, default=None)


def _within(pose: FloatArray, world: World) -> bool:
    x0, y0, x1, y1 = world.bounds
    return bool(x0 <= pose[0] <= x1 and y0 <= pose[1] <= y1)
