"""Safe intervals: spans of time in which a place stays free, for the search kernel (Phillips and Likhachev 2011).

While a place stays free a character can wait there, so an earlier arrival can do all that a later one can. The closed
set therefore tells the intervals of a place apart, not single moments.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray
from gaitway.core.jit import kernel
from gaitway.space._traffic_kernels import (
    END_DISC,
    END_GROUP,
    END_SLOT,
    ERA,
    FIRST_DISC,
    FIRST_GROUP,
    FIRST_SLOT,
    SLOT,
    TrafficArrays,
    block_of,
    first_link,
    is_first,
    meets,
)

TICK = 4
"""Number of slots that are not told apart."""
PLACES = 4.0
"""Number of places per metre."""
_BODY = 0.3
"""Radius of the body for which a place must be free [m]; it affects the effort of a search, not collisions."""
_MOST = 255
_RATE = 1.0 / (SLOT * TICK)


class SafeIntervals(NamedTuple):
    """Safe intervals of the places that a search came to. R places that were looked at, T ticks."""

    corner: FloatArray
    """Corner of the first place [m]; (2,)."""
    rows: npt.NDArray[np.int32]
    """Row of each place plus the number of rows before this search, so that nothing has to be cleared; (Y, X)."""
    numbers: npt.NDArray[np.uint8]
    """Number of the interval of each place in each tick; (R, T)."""
    used: npt.NDArray[np.int64]
    """Number of rows used by earlier searches, and by this one too; (2,)."""
    first: int
    """The first tick that is told apart."""


def no_intervals() -> SafeIntervals:
    """Return empty memory, for worlds without traffic."""
    corner = np.zeros(2)
    corner.setflags(write=False)
    return SafeIntervals(corner, np.zeros((1, 1), np.int32), np.zeros((1, 1), np.uint8), np.zeros(2, np.int64), 0)


@kernel(borrows=True, inner=True)
def look(traffic: TrafficArrays, x: float, y: float, since: int, numbers: npt.NDArray[np.uint8], row: int) -> None:
    """Number the intervals of a place from a tick on: a new one begins whenever a body comes or has gone."""
    ticks, links, chunks, groups = numbers.shape[1], traffic.links, traffic.chunks, traffic.groups
    for tick in range(ticks):
        numbers[row, tick] = 0
    first_column, first_line = block_of(x - _BODY), block_of(y - _BODY)
    from_era, era = ((since * TICK) >> ERA) + 1, 0
    while era < (((since + ticks) * TICK) >> ERA) + 2:
        for column in range(first_column, block_of(x + _BODY) + 1):
            for line in range(first_line, block_of(y + _BODY) + 1):
                link = first_link(traffic.keys, traffic.heads, era, column, line)
                while link >= 0:
                    chunk = links[link, 0]
                    link = links[link, 1]
                    new = is_first(traffic, chunk, era, column, line, from_era, first_column, first_line)
                    if new and meets(traffic.chunk_around, chunk, x, y, _BODY):
                        for group in range(chunks[chunk, FIRST_GROUP], chunks[chunk, END_GROUP]):
                            if is_in(traffic, group, x, y):
                                first, end = groups[group, FIRST_SLOT] // TICK, (groups[group, END_SLOT] - 1) // TICK
                                for tick in range(max(first - since, 0), min(end + 1 - since, ticks)):
                                    numbers[row, tick] = 1
        era = max(era + 1, from_era)  # after what stays for long comes the first era
    number, before = 0, 0
    for tick in range(ticks):
        taken = numbers[row, tick]
        if taken != before and number < _MOST:
            number += 1
        numbers[row, tick], before = number, taken


@kernel(borrows=True, inner=True)
def is_in(traffic: TrafficArrays, group: int, x: float, y: float) -> bool:
    """Return whether a group of traffic covers a place."""
    groups, taken = traffic.groups, False
    if meets(traffic.around, group, x, y, _BODY):
        for disc in range(groups[group, FIRST_DISC], groups[group, END_DISC]):
            taken = taken or meets(traffic.discs, disc, x, y, _BODY)
    return taken


@kernel(borrows=True, inner=True)
def safe_interval(traffic: TrafficArrays, intervals: SafeIntervals, x: float, y: float, t: float) -> tuple[int, bool]:
    """Return the number of the interval of the place at (x, y) at a time, and whether it lasts for ever."""
    rows, numbers, used = intervals.rows, intervals.numbers, intervals.used
    ticks = numbers.shape[1]
    tick = int(min(max(t * _RATE - intervals.first, 0.0), ticks - 1.0))
    column, line = math.floor((x - intervals.corner[0]) * PLACES), math.floor((y - intervals.corner[1]) * PLACES)
    if not (0 <= column < rows.shape[1] and 0 <= line < rows.shape[0]):
        return tick, False
    row = rows[line, column] - used[0]
    if row < 0:
        row = used[1] - used[0]
        if row >= len(numbers):
            return tick, False  # there is no more room, or moments are to be told apart
        used[1] += 1
        rows[line, column] = used[0] + row
        px, py = intervals.corner[0] + (column + 0.5) / PLACES, intervals.corner[1] + (line + 0.5) / PLACES
        look(traffic, px, py, intervals.first, numbers, row)
    number = numbers[row, tick]
    return int(number), number == numbers[row, ticks - 1]
