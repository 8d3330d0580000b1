"""Who is where and when, for the search kernel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gaitway._jit import kernel
from gaitway.arrays import IntArray

SLOT = 0.1
"""Length of a slot [s]; slot k is the time from k to k + 1 slots."""


class TrafficArrays(NamedTuple):
    """Discs by slot; all arrays read-only, always the same types."""

    slots: IntArray
    """One for each slot."""


def no_traffic() -> TrafficArrays:
    """Nobody anywhere."""
    slots = np.zeros(0, dtype=np.int64)
    slots.setflags(write=False)
    return TrafficArrays(slots)


@kernel
def traffic_hit(arrays: TrafficArrays, slot: int, x: float, y: float, r: float, passing: int) -> int:
    """Who is within a disc at some time of a slot: index of the owner, or -1.

    Args:
        arrays: the traffic.
        slot: time in slots; may be negative or beyond the last one.
        x: [m].
        y: [m].
        r: [m].
        passing: number of a kind of obstacle (as in `WorldFields.kinds`) whose discs are no hindrance, or -1. Only
            things that rest and are of a special kind bear its number; the search then tests that they are passed.
    """
    return -1
