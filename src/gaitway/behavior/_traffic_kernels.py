"""Who is where and when, for the search kernel: discs in groups, and chains of groups for each slot and cell.

A group is what one body or thing covers for some time: its discs, and one disc around them all that is looked at first.
What stays for long is in chains of its own, one for each cell, and bears the slots for which it is there.
No kernel here divides: where something can raise, Numba counts references to every array in each call.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway._jit import kernel
from gaitway.arrays import FloatArray, IntArray

SLOT = 0.1
"""Length of a slot [s]; slot k is the time from k to k + 1 slots."""
FOREVER = 2**31 - 1
"""End slot of what never goes away."""
LAST_SLOT = 2**26
"""Slots beyond this are not told apart."""
CELL = 1.0
"""Side of a cell [m]."""
_RATE = 1.0 / SLOT
_TOUCH = 1e-6
"""Slots that are overlapped by less than this share of one are only touched."""
_SIDE = 2**16
"""Cells beyond this many from the origin are not told apart."""
ERA, BLOCK = 4, 1
"""Slots in an era and cells in a block, along one side, as powers of two."""
_STAYS = 0
"""Instead of a slot, in the keys of what stays for long; slot k has k + 1."""
_FREE = -1
"""In place of a key."""

Table = npt.NDArray[np.int32]
Bits = npt.NDArray[np.bool_]
# columns of `groups`
FIRST_DISC, END_DISC, OWNER, KIND, FIRST_SLOT, END_SLOT = range(6)


class TrafficArrays(NamedTuple):
    """Discs by slot and cell; all arrays read-only, always the same types."""

    keys: IntArray
    """Of slots and cells, hashed, or -1; (H,), a power of two. Empty where there is no traffic at all."""
    heads: Table
    """First link of the chain of each key; (H,)."""
    links: Table
    """Group, and the next link or -1; (L, 2)."""
    around: FloatArray
    """One disc (x, y, radius) around each group [m]; (G, 3). The radius is minus infinity where a group is gone."""
    groups: Table
    """First and end disc, owner, kind or -1, first and end slot; (G, 6)."""
    discs: FloatArray
    """x, y and radius [m]; (D, 3)."""
    busy: Bits
    """Whether something may be in a block of cells in an era, by hash; (B,), a power of two, or empty."""
    last: int
    """After this slot nothing changes any more."""


def no_traffic() -> TrafficArrays:
    """Nobody anywhere."""
    keys, table, discs = np.empty(0, np.int64), np.empty((0, 6), np.int32), np.empty((0, 3))
    heads, links, busy = np.empty(0, np.int32), np.empty((0, 2), np.int32), np.empty(0, np.bool_)
    for array in (keys, heads, links, discs, table, busy):
        array.setflags(write=False)
    return TrafficArrays(keys, heads, links, discs, table, discs, busy, 0)


@kernel(borrows=True)
def first_slot(time: float) -> int:
    """The slot in which something begins at a time [s]."""
    return int(min(max(math.floor(time * _RATE + _TOUCH), 0.0), LAST_SLOT))


@kernel(borrows=True)
def end_slot(time: float) -> int:
    """The slot after the last one in which something is there that ends at a time [s]."""
    return int(min(max(math.ceil(time * _RATE - _TOUCH), 1.0), LAST_SLOT))


@kernel(borrows=True)
def traffic_hit(arrays: TrafficArrays, slot: int, x: float, y: float, r: float, passing: int) -> int:
    """Who is within a disc at some time of a slot: index of the owner, or -1; see `group_hit`."""
    group = group_hit(arrays, slot, x, y, r, passing)
    return int(arrays.groups[group, OWNER]) if group >= 0 else -1


@kernel(borrows=True)
def group_hit(arrays: TrafficArrays, slot: int, x: float, y: float, r: float, passing: int) -> int:
    """What is within a disc at some time of a slot: index of the group, or -1.

    Something that is there from time a to b [s] is tested in the slots from `first_slot(a)` up to `end_slot(b)`.

    Args:
        arrays: the traffic.
        slot: time in slots; may be negative, which counts as 0, or beyond the last one.
        x: [m].
        y: [m].
        r: [m].
        passing: number of a kind of obstacle (as in `WorldFields.kinds`) whose discs are no hindrance, or -1. Only
            things that rest and are of a special kind bear its number; the search then tests that they are passed.
    """
    keys, heads, links = arrays.keys, arrays.heads, arrays.links
    around, groups, discs = arrays.around, arrays.groups, arrays.discs
    found, mask, slot = -1, len(keys) - 1, max(slot, 0)
    column, last_column = _cell(x - r), _cell(x + r)
    first_row, last_row = _cell(y - r), _cell(y + r)
    while column <= last_column and mask >= 0:  # one loop and one way out, or references to arrays are counted
        row = first_row
        while row <= last_row:
            time = slot + 1
            while time >= 0:
                key = _key(time, column, row)
                place = _hash(time, column, row) & mask
                while keys[place] != key and keys[place] != _FREE:
                    place = (place + 1) & mask
                link = heads[place]
                while link >= 0:
                    group = links[link, 0]
                    link = links[link, 1]
                    reach = around[group, 2] + r
                    dx, dy = around[group, 0] - x, around[group, 1] - y
                    if reach > 0.0 and dx * dx + dy * dy < reach * reach:
                        disc, end = groups[group, FIRST_DISC], groups[group, END_DISC]
                        there = groups[group, FIRST_SLOT] <= slot < groups[group, END_SLOT]
                        if not there or (passing >= 0 and groups[group, KIND] == passing):
                            disc = end
                        while disc < end:
                            reach = discs[disc, 2] + r
                            dx, dy = discs[disc, 0] - x, discs[disc, 1] - y
                            disc += 1
                            if dx * dx + dy * dy < reach * reach:
                                found = group
                                disc, link, time, row, column = end, -1, _STAYS, last_row, last_column
                time = _STAYS if time > _STAYS else -1
            row += 1
        column += 1
    return int(found)


@kernel(borrows=True)
def stay_hit(arrays: TrafficArrays, slot: int, x: float, y: float, r: float) -> int:
    """Who comes within a disc at any time from a slot on, for ever: index of the owner, or -1.

    This is what somebody must ask before it stops for good, since those who were planned before know nothing of it.
    """
    for later in range(max(slot, 0), max(arrays.last, slot, 0) + 1):
        owner = traffic_hit(arrays, later, x, y, r, -1)
        if owner >= 0:
            return owner
    return -1


@kernel(borrows=True)
def may_meet(arrays: TrafficArrays, first: int, end: int, x: float, y: float, r: float) -> bool:
    """Whether something may come within a disc in some of the slots; if not, nothing does.

    It looks at whole blocks of cells and eras of slots, and so answers for a whole motion at once.
    """
    busy = arrays.busy
    mask, found = len(busy) - 1, False
    first_era, last_era = max(first, 0) >> ERA, max(end - 1, 0) >> ERA
    column, last_column = _cell(x - r) >> BLOCK, _cell(x + r) >> BLOCK
    first_row, last_row = _cell(y - r) >> BLOCK, _cell(y + r) >> BLOCK
    while column <= last_column and mask >= 0:
        for row in range(first_row, last_row + 1):
            found = found or busy[_hash(_STAYS, column, row) & mask]
            for era in range(first_era, last_era + 1):
                found = found or busy[_hash(era + 1, column, row) & mask]
        column += 1
    return bool(found)


@kernel(borrows=True)
def _cell(along: float) -> int:
    """Number of a cell along one axis."""
    return int(min(max(math.floor(along * (1.0 / CELL)), -_SIDE), _SIDE))


@kernel(borrows=True)
def _key(time: int, column: int, row: int) -> int:
    return (time * (4 * _SIDE) + column + _SIDE) * (4 * _SIDE) + row + _SIDE


@kernel(borrows=True)
def _hash(time: int, column: int, row: int) -> int:
    mixed = (time * 73856093) ^ ((column + _SIDE) * 19349663) ^ ((row + _SIDE) * 83492791)
    return mixed ^ (mixed >> 17)


@kernel(borrows=True)
def _find(keys: IntArray, key: int, mixed: int) -> int:
    """Where a key is, or the free place where it would be."""
    mask = len(keys) - 1
    place = mixed & mask
    while keys[place] != _FREE and keys[place] != key:
        place = (place + 1) & mask
    return place


@kernel
def count_links(discs: FloatArray, groups: Table, first: int, end: int, short: int) -> int:
    """At most so many links are needed for some groups."""
    total = 0
    for group in range(first, end):
        slots = groups[group, END_SLOT] - groups[group, FIRST_SLOT]
        cells = 0
        for disc in range(groups[group, FIRST_DISC], groups[group, END_DISC]):
            x, y, r = discs[disc, 0], discs[disc, 1], discs[disc, 2]
            cells += (_cell(x + r) - _cell(x - r) + 1) * (_cell(y + r) - _cell(y - r) + 1)
        total += cells * (slots if slots <= short else 1)
    return total


@kernel
def link_groups(
    keys: IntArray,
    heads: Table,
    links: Table,
    discs: FloatArray,
    groups: Table,
    first: int,
    end: int,
    short: int,
    state: IntArray,
    busy: Bits,
) -> None:
    """Put groups into the chains of their slots and cells, where there is room enough.

    Args:
        keys: as in `TrafficArrays`; likewise `heads`, `links`, `discs` and `groups`.
        heads: see there.
        links: see there.
        discs: see there.
        groups: see there.
        first: group.
        end: group after the last.
        short: what is there for more slots than this is put in once for all of them.
        state: number of links and of keys so far; (2,).
        busy: as in `TrafficArrays`.
    """
    mask = len(busy) - 1
    for group in range(first, end):
        start, stop = groups[group, FIRST_SLOT], groups[group, END_SLOT]
        times = range(start + 1, stop + 1) if stop - start <= short else range(_STAYS, _STAYS + 1)
        for time in times:
            for disc in range(groups[group, FIRST_DISC], groups[group, END_DISC]):
                x, y, r = discs[disc, 0], discs[disc, 1], discs[disc, 2]
                for column in range(_cell(x - r), _cell(x + r) + 1):
                    for row in range(_cell(y - r), _cell(y + r) + 1):
                        key = _key(time, column, row)
                        place = _find(keys, key, _hash(time, column, row))
                        era = _STAYS if time == _STAYS else ((time - 1) >> ERA) + 1
                        busy[_hash(era, column >> BLOCK, row >> BLOCK) & mask] = True
                        if keys[place] == _FREE:
                            keys[place] = key
                            heads[place] = -1
                            state[1] += 1
                        elif heads[place] >= 0 and links[heads[place], 0] == group:
                            continue
                        links[state[0], 0], links[state[0], 1] = group, heads[place]
                        heads[place] = state[0]
                        state[0] += 1
