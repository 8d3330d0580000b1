"""Traffic for kernels: discs in groups, groups in chunks, chunks in chains by era and block.

A group is what one body or mover covers for about one slot: its discs, and one disc around them all. A chunk is what it
covers in an era of slots: consecutive groups, and one disc around them. What stays for long is a chunk of its own, in
chains without an era. So a query reads a few chains first, and single slots only then. No kernel here divides: where
an operation can raise, Numba counts references to every array in each call.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel

SLOT = 0.1
"""Length of a slot [s]; slot k is the time from k to k + 1 slots."""
FOREVER = 2**31 - 1
"""End slot of what stays for ever."""
LAST_SLOT = 2**26
"""Last slot; later ones are not told apart."""
ERA = 4
"""Number of slots of an era, as a power of two."""
BLOCK = 2.0
"""Side of a block [m]."""
_RATE = 1.0 / SLOT
_TOUCH = 1e-6
"""Share of a slot; a slot that is overlapped by less does not count."""
_SIDE = 2**16
"""Largest block number; blocks farther from the origin are not told apart."""
STAYS = 0
"""Number in place of an era in the keys of what stays for long; era k has k + 1."""
_FREE = -1
"""Mark of an unused key."""

Table = npt.NDArray[np.int32]
# columns of `groups`
FIRST_DISC, END_DISC, OWNER, KIND, FIRST_SLOT, END_SLOT = range(6)
# columns of `chunks`
FIRST_GROUP, END_GROUP, BEGIN, END = range(4)


class TrafficArrays(NamedTuple):
    """Discs by group and chunk; all arrays read-only, always the same types."""

    keys: IntArray
    """Hashed keys of eras and blocks, or -1; (H,), a power of two. Without elements if there is no traffic at all."""
    heads: Table
    """First link of the chain of each key; (H,)."""
    links: Table
    """Chunk, and the next link or -1; (L, 2)."""
    chunk_around: FloatArray
    """One disc (x, y, radius) around each chunk [m]; (C, 3). The radius is minus infinity where a chunk is gone."""
    chunks: Table
    """First and end group, first and end slot; (C, 4)."""
    around: FloatArray
    """One disc (x, y, radius) around each group [m]; (G, 3)."""
    groups: Table
    """First and end disc, owner, kind or -1, first and end slot; (G, 6)."""
    discs: FloatArray
    """x, y and radius [m]; (D, 3)."""
    last: int
    """Slot after which nothing changes any more."""


def no_traffic() -> TrafficArrays:
    """Return traffic without any body."""
    keys, heads, links = np.empty(0, np.int64), np.empty(0, np.int32), np.empty((0, 2), np.int32)
    discs, chunks, groups = np.empty((0, 3)), np.empty((0, 4), np.int32), np.empty((0, 6), np.int32)
    for array in (keys, heads, links, discs, chunks, groups):
        array.setflags(write=False)
    return TrafficArrays(keys, heads, links, discs, chunks, discs, groups, discs, 0)


@kernel(borrows=True)
def first_slot(time: float) -> int:
    """Return the first slot of what begins at a time [s]."""
    return int(min(max(math.floor(time * _RATE + _TOUCH), 0.0), LAST_SLOT))


@kernel(borrows=True)
def end_slot(time: float) -> int:
    """Return the slot after the last one of what ends at a time [s]."""
    return int(min(max(math.ceil(time * _RATE - _TOUCH), 1.0), LAST_SLOT))


@kernel(borrows=True)
def step_window_slots(times: FloatArray, slots: IntArray) -> None:
    """Write the first and the end slot of windows, at least one each (W, 2), given when they begin and end [s]."""
    for window in range(len(times)):
        first = first_slot(times[window, 0])
        slots[window, 0], slots[window, 1] = first, max(end_slot(times[window, 1]), first + 1)


@kernel(borrows=True)
def traffic_hit(arrays: TrafficArrays, slot: int, x: float, y: float, r: float, passing: int) -> int:
    """Return the owner that is within a disc at some time of a slot, or -1; see `group_hit`."""
    group = group_hit(arrays, slot, x, y, r, passing)
    return int(arrays.groups[group, OWNER]) if group >= 0 else -1


@kernel(borrows=True)
def swept_hit(
    traffic_handle: ArrayHandle[TrafficArrays],
    around: FloatArray,
    discs: FloatArray,
    starts: IntArray,
    slots: IntArray,
    met_groups: IntArray,
) -> int:
    """Return the owner that one of some groups of discs meets in its slots, or -1 if none meets any.

    Args:
        traffic_handle: the traffic.
        around: one disc around each group [m]; (G, 3).
        discs: x, y and radius [m]; (D, 3).
        starts: first disc of each group, and D at the end; (G + 1,).
        slots: first and end slot of each group; (G, 2).
        met_groups: where to note the group of the traffic that each meets, or -1 (G,); or empty (0,), and the first
            meeting is enough.
    """
    traffic, owner = traffic_handle.value, -1
    for group in range(len(around)):
        if len(met_groups) > 0:
            met_groups[group] = -1
        for slot in range(slots[group, 0], slots[group, 1]):
            if len(met_groups) > 0 and met_groups[group] >= 0:
                break
            if group_hit(traffic, slot, around[group, 0], around[group, 1], around[group, 2], -1) < 0:
                continue
            for disc in range(starts[group], starts[group + 1]):
                met = group_hit(traffic, slot, discs[disc, 0], discs[disc, 1], discs[disc, 2], -1)
                if met >= 0:
                    owner = int(traffic.groups[met, OWNER])
                    if len(met_groups) == 0:
                        return owner
                    met_groups[group] = met
                    break
    return owner


@kernel(borrows=True, inner=True)
def group_hit(arrays: TrafficArrays, slot: int, x: float, y: float, r: float, passing: int) -> int:
    """Return the group that is within a disc at some time of a slot, or -1.

    Something that is there from time a to b [s] is tested in the slots from `first_slot(a)` up to `end_slot(b)`.

    Args:
        arrays: the traffic.
        slot: time in slots; may be negative, which counts as 0, or beyond the last one.
        x: x of the disc's centre [m].
        y: y of the disc's centre [m].
        r: radius of the disc [m].
        passing: number of a kind of obstacle (as in `WorldFields.kinds`) whose discs are no hindrance, or -1. Only
            things that rest and are of a special kind bear its number; the search then tests that they are passed.
    """
    keys, links, chunks = arrays.keys, arrays.links, arrays.chunks
    around, groups, discs = arrays.around, arrays.groups, arrays.discs
    found, slot = -1, max(slot, 0)
    column, last_column = block_of(x - r), block_of(x + r)
    first_row, last_row = block_of(y - r), block_of(y + r)
    if len(keys) == 0:
        column = last_column + 1
    while column <= last_column:  # one loop and one way out, or references to arrays are counted
        row = first_row
        while row <= last_row:
            era = (slot >> ERA) + 1
            while era >= 0:
                link = first_link(keys, arrays.heads, era, column, row)
                while link >= 0:
                    chunk = links[link, 0]
                    link = links[link, 1]
                    group, end = chunks[chunk, FIRST_GROUP], chunks[chunk, END_GROUP]
                    if not (
                        chunks[chunk, BEGIN] <= slot < chunks[chunk, END] and meets(arrays.chunk_around, chunk, x, y, r)
                    ):
                        group = end
                    while group < end:
                        disc, stop = groups[group, FIRST_DISC], groups[group, END_DISC]
                        there = groups[group, FIRST_SLOT] <= slot < groups[group, END_SLOT]
                        through = passing >= 0 and groups[group, KIND] == passing
                        if through or not there or not meets(around, group, x, y, r):
                            disc = stop
                        while disc < stop:
                            if meets(discs, disc, x, y, r):
                                found = group
                                disc, group, link, era, row, column = stop, end, -1, STAYS, last_row, last_column
                            disc += 1
                        group += 1
                era = STAYS if era > STAYS else -1
            row += 1
        column += 1
    return int(found)


@kernel(borrows=True)
def stay_hit(arrays: TrafficArrays, slot: int, x: float, y: float, r: float) -> int:
    """Return the owner that comes within a disc at any time from a slot on, or -1.

    A planner must ask this before a character stops for good, since earlier plans know nothing of it.
    """
    last, slot = max(arrays.last, slot, 0), max(slot, 0)
    long = may_meet(arrays, STAYS, slot, last + 1, x, y, r)
    while slot <= last:
        end = ((slot >> ERA) + 1) << ERA
        some = long and may_meet(arrays, STAYS, slot, end, x, y, r)
        if some or may_meet(arrays, (slot >> ERA) + 1, slot, end, x, y, r):
            for one in range(slot, min(end, last + 1)):
                owner = traffic_hit(arrays, one, x, y, r, -1)
                if owner >= 0:
                    return owner
        slot = end
    return -1


@kernel(borrows=True, inner=True)
def may_meet(arrays: TrafficArrays, era: int, first: int, end: int, x: float, y: float, r: float) -> bool:
    """Return whether something of an era (plus 1, or `STAYS`) may come within a disc in some slots."""
    keys, heads, links, chunks = arrays.keys, arrays.heads, arrays.links, arrays.chunks
    found = False
    if len(keys) > 0:
        for column in range(block_of(x - r), block_of(x + r) + 1):
            for row in range(block_of(y - r), block_of(y + r) + 1):
                link = first_link(keys, heads, era, column, row) if not found else -1
                while link >= 0:
                    chunk = links[link, 0]
                    there = chunks[chunk, BEGIN] < end and first < chunks[chunk, END]
                    found = found or (there and meets(arrays.chunk_around, chunk, x, y, r))
                    link = -1 if found else links[link, 1]
    return found


@kernel(borrows=True, inner=True)
def meets(discs: FloatArray, k: int, x: float, y: float, r: float) -> bool:
    """Return whether two discs share more than a point."""
    disc = np.uintp(k)  # what cannot be negative needs no test
    reach, dx, dy = discs[disc, 2] + r, discs[disc, 0] - x, discs[disc, 1] - y
    return bool(reach > 0.0 and dx * dx + dy * dy < reach * reach)


@kernel(borrows=True, inner=True)
def is_first(
    arrays: TrafficArrays, chunk: int, era: int, column: int, row: int, from_era: int, from_column: int, from_row: int
) -> bool:
    """Return whether a chain is the first one that holds a chunk, in a walk over chains from an era and block on."""
    around, begin = arrays.chunk_around, (arrays.chunks[chunk, BEGIN] >> ERA) + 1
    x, y, r = around[chunk, 0], around[chunk, 1], around[chunk, 2]
    first = column == max(from_column, block_of(x - r)) and row == max(from_row, block_of(y - r))
    return bool(first and (era == STAYS or era == max(from_era, begin)))


@kernel(borrows=True, inner=True)
def block_of(along: float) -> int:
    """Return the number of a block along one axis."""
    return int(min(max(math.floor(along * (1.0 / BLOCK)), -_SIDE), _SIDE))


@kernel(borrows=True, inner=True)
def first_link(keys: IntArray, heads: Table, era: int, column: int, row: int) -> int:
    """Return the first link of the chain of an era (plus 1, or `STAYS`) and block, or -1."""
    place = _place(keys, era, column, row)
    return int(heads[place]) if keys[place] != _FREE else -1


@kernel(borrows=True, inner=True)
def _place(keys: IntArray, era: int, column: int, row: int) -> int:
    """Return where a key is, or the free place where it belongs."""
    key = (era * (4 * _SIDE) + column + _SIDE) * (4 * _SIDE) + row + _SIDE
    mixed = (era * 73856093) ^ ((column + _SIDE) * 19349663) ^ ((row + _SIDE) * 83492791)
    mask = len(keys) - 1
    place = (mixed ^ (mixed >> 17)) & mask
    while keys[place] != _FREE and keys[place] != key:
        place = (place + 1) & mask
    return place


@kernel
def count_links(around: FloatArray, chunks: Table, first: int, end: int, short: int) -> int:
    """Return the number of links that some chunks need."""
    total = 0
    for chunk in range(first, end):
        x, y, r = around[chunk, 0], around[chunk, 1], around[chunk, 2]
        if r < 0.0:
            continue  # it is gone
        blocks = (block_of(x + r) - block_of(x - r) + 1) * (block_of(y + r) - block_of(y - r) + 1)
        eras = ((chunks[chunk, END] - 1) >> ERA) - (chunks[chunk, BEGIN] >> ERA) + 1
        total += blocks * (eras if eras <= short else 1)
    return total


@kernel
def link_chunks(
    keys: IntArray, heads: Table, links: Table, around: FloatArray, chunks: Table, first: int, end: int, short: int,
    state: IntArray,
) -> None:  # fmt: skip
    """Add chunks to the chains of their eras and blocks; there must be room for them.

    Args:
        keys: `TrafficArrays.keys`, written.
        heads: `TrafficArrays.heads`, written.
        links: `TrafficArrays.links`, written.
        around: `TrafficArrays.chunk_around`.
        chunks: `TrafficArrays.chunks`.
        first: first chunk to add.
        end: chunk after the last one to add.
        short: most eras that a chunk is added to one by one. A chunk that lasts longer is added once for all eras.
        state: number of links and of keys so far; (2,).
    """
    for chunk in range(first, end):
        x, y, r = around[chunk, 0], around[chunk, 1], around[chunk, 2]
        if r < 0.0:
            continue
        begin, stop = (chunks[chunk, BEGIN] >> ERA) + 1, ((chunks[chunk, END] - 1) >> ERA) + 2
        if stop - begin > short:
            begin, stop = STAYS, STAYS + 1
        for era in range(begin, stop):
            for column in range(block_of(x - r), block_of(x + r) + 1):
                for row in range(block_of(y - r), block_of(y + r) + 1):
                    place = _place(keys, era, column, row)
                    if keys[place] == _FREE:
                        keys[place] = (era * (4 * _SIDE) + column + _SIDE) * (4 * _SIDE) + row + _SIDE
                        heads[place] = -1
                        state[1] += 1
                    links[state[0], 0], links[state[0], 1] = chunk, heads[place]
                    heads[place] = state[0]
                    state[0] += 1
