"""Who is where and when, for the search kernel: discs in groups, groups in chunks, chunks in chains by era and block.

A group is what one body or thing covers for a slot or so: its discs, and one disc around them all. A chunk is what it
covers in an era of slots: some groups one after another, and one disc around them. What stays for long is a chunk of
its own, in chains without an era. A motion thus looks up a few chains, and only then at moments.
No kernel here divides: where something can raise, Numba counts references to every array in each call.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel

SLOT = 0.1
"""Length of a slot [s]; slot k is the time from k to k + 1 slots."""
FOREVER = 2**31 - 1
"""End slot of what never goes away."""
LAST_SLOT = 2**26
"""Slots beyond this are not told apart."""
ERA = 4
"""Slots in an era, as a power of two."""
BLOCK = 2.0
"""Side of a block [m]."""
_RATE = 1.0 / SLOT
_TOUCH = 1e-6
"""Slots that are overlapped by less than this share of one are only touched."""
_SIDE = 2**16
"""Blocks beyond this many from the origin are not told apart."""
_STAYS = 0
"""Instead of an era, in the keys of what stays for long; era k has k + 1."""
_FREE = -1
"""In place of a key."""

Table = npt.NDArray[np.int32]
# columns of `groups`
FIRST_DISC, END_DISC, OWNER, KIND, FIRST_SLOT, END_SLOT = range(6)
# columns of `chunks`
FIRST_GROUP, END_GROUP, BEGIN, END = range(4)


class TrafficArrays(NamedTuple):
    """Discs by group and chunk; all arrays read-only, always the same types."""

    keys: IntArray
    """Of eras and blocks, hashed, or -1; (H,), a power of two. Empty where there is no traffic at all."""
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
    """After this slot nothing changes any more."""


def no_traffic() -> TrafficArrays:
    """Nobody anywhere."""
    keys, heads, links = np.empty(0, np.int64), np.empty(0, np.int32), np.empty((0, 2), np.int32)
    discs, chunks, groups = np.empty((0, 3)), np.empty((0, 4), np.int32), np.empty((0, 6), np.int32)
    for array in (keys, heads, links, discs, chunks, groups):
        array.setflags(write=False)
    return TrafficArrays(keys, heads, links, discs, chunks, discs, groups, discs, 0)


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
                                disc, group, link, era, row, column = stop, end, -1, _STAYS, last_row, last_column
                            disc += 1
                        group += 1
                era = _STAYS if era > _STAYS else -1
            row += 1
        column += 1
    return int(found)


@kernel(borrows=True)
def stay_hit(arrays: TrafficArrays, slot: int, x: float, y: float, r: float) -> int:
    """Who comes within a disc at any time from a slot on, for ever: index of the owner, or -1.

    This is what somebody must ask before it stops for good, since those who were planned before know nothing of it.
    """
    last, slot = max(arrays.last, slot, 0), max(slot, 0)
    while slot <= last:
        owner = traffic_hit(arrays, slot, x, y, r, -1) if may_meet(arrays, slot, slot + 1, x, y, r) else -1
        if owner >= 0:
            return owner
        slot += 1
    return -1


@kernel(borrows=True)
def may_meet(arrays: TrafficArrays, first: int, end: int, x: float, y: float, r: float) -> bool:
    """Whether something may come within a disc in some of the slots; if not, nothing does."""
    keys, heads, links = arrays.keys, arrays.heads, arrays.links
    found = False
    era, last_era = _STAYS, (max(end - 1, 0) >> ERA) + 1
    if len(keys) == 0:
        era = last_era + 1
    while era <= last_era:
        for column in range(block_of(x - r), block_of(x + r) + 1):
            for row in range(block_of(y - r), block_of(y + r) + 1):
                link = first_link(keys, heads, era, column, row)
                while link >= 0:
                    found = found or meets(arrays.chunk_around, links[link, 0], x, y, r)
                    link = -1 if found else links[link, 1]
        era = last_era + 1 if found else max(era + 1, (max(first, 0) >> ERA) + 1)
    return found


@kernel(borrows=True, inner=True)
def meets(discs: FloatArray, k: int, x: float, y: float, r: float) -> bool:
    """Whether two discs share more than a point."""
    reach, dx, dy = discs[k, 2] + r, discs[k, 0] - x, discs[k, 1] - y
    return bool(reach > 0.0 and dx * dx + dy * dy < reach * reach)


@kernel(borrows=True, inner=True)
def is_first(
    arrays: TrafficArrays, chunk: int, era: int, column: int, row: int, from_era: int, from_column: int, from_row: int
) -> bool:
    """Whether a chain is the first one with a chunk, for somebody who goes through them from an era and block on."""
    around, begin = arrays.chunk_around, (arrays.chunks[chunk, BEGIN] >> ERA) + 1
    x, y, r = around[chunk, 0], around[chunk, 1], around[chunk, 2]
    first = column == max(from_column, block_of(x - r)) and row == max(from_row, block_of(y - r))
    return bool(first and (era == _STAYS or era == max(from_era, begin)))


@kernel(borrows=True)
def block_of(along: float) -> int:
    """Number of a block along one axis."""
    return int(min(max(math.floor(along * (1.0 / BLOCK)), -_SIDE), _SIDE))


@kernel(borrows=True, inner=True)
def first_link(keys: IntArray, heads: Table, era: int, column: int, row: int) -> int:
    """The first link of the chain of an era (plus 1, or `_STAYS`) and block, or -1."""
    place = _place(keys, era, column, row)
    return int(heads[place]) if keys[place] != _FREE else -1


@kernel(borrows=True, inner=True)
def _place(keys: IntArray, era: int, column: int, row: int) -> int:
    """Where a key is, or the free place where it would be."""
    key = (era * (4 * _SIDE) + column + _SIDE) * (4 * _SIDE) + row + _SIDE
    mixed = (era * 73856093) ^ ((column + _SIDE) * 19349663) ^ ((row + _SIDE) * 83492791)
    mask = len(keys) - 1
    place = (mixed ^ (mixed >> 17)) & mask
    while keys[place] != _FREE and keys[place] != key:
        place = (place + 1) & mask
    return place


@kernel
def count_links(around: FloatArray, chunks: Table, first: int, end: int, short: int) -> int:
    """How many links some chunks need."""
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
    """Put chunks into the chains of their eras and blocks, where there is room enough.

    Args:
        keys: as in `TrafficArrays`; likewise `heads`, `links` and `chunks`.
        heads: see there.
        links: see there.
        around: `chunk_around` there.
        chunks: see there.
        first: chunk.
        end: chunk after the last.
        short: what is there for more eras than this is put in once for all of them.
        state: number of links and of keys so far; (2,).
    """
    for chunk in range(first, end):
        x, y, r = around[chunk, 0], around[chunk, 1], around[chunk, 2]
        if r < 0.0:
            continue
        begin, stop = (chunks[chunk, BEGIN] >> ERA) + 1, ((chunks[chunk, END] - 1) >> ERA) + 2
        if stop - begin > short:
            begin, stop = _STAYS, _STAYS + 1
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
