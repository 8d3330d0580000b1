"""Who comes to where somebody stands, asked for a whole body at once."""

from __future__ import annotations

import math

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray
from gaitway.core.jit import kernel
from gaitway.space._traffic_kernels import (
    BEGIN,
    END,
    END_DISC,
    END_GROUP,
    END_SLOT,
    ERA,
    FIRST_DISC,
    FIRST_GROUP,
    FIRST_SLOT,
    TrafficArrays,
    block_of,
    first_link,
    meets,
    stay_hit,
)


@kernel(borrows=True)
def body_hit(traffic_handle: ArrayHandle[TrafficArrays], slot: int, discs: FloatArray) -> int:
    """Return the owner that comes within one of some discs at any time from a slot on, or -1; see `stay_hit`.

    Whether anybody comes at all is asked first, for one disc around them all: mostly nobody does.

    Args:
        traffic_handle: the traffic.
        slot: time in slots.
        discs: x, y and radius [m], asked one after another; (D, 3).
    """
    traffic, owner = traffic_handle.value, -1
    left, right, low, high = math.inf, -math.inf, math.inf, -math.inf
    for k in range(len(discs)):
        left, right = min(left, discs[k, 0] - discs[k, 2]), max(right, discs[k, 0] + discs[k, 2])
        low, high = min(low, discs[k, 1] - discs[k, 2]), max(high, discs[k, 1] + discs[k, 2])
    x, y, r = 0.5 * (left + right), 0.5 * (low + high), 0.0
    for k in range(len(discs)):
        r = max(r, math.hypot(discs[k, 0] - x, discs[k, 1] - y) + discs[k, 2])
    if len(discs) > 0 and somebody_comes(traffic, slot, x, y, r + 1e-9):
        for k in range(len(discs)):
            if owner < 0 and somebody_comes(traffic, slot, discs[k, 0], discs[k, 1], discs[k, 2]):
                owner = stay_hit(traffic, slot, discs[k, 0], discs[k, 1], discs[k, 2])
    return int(owner)


@kernel(borrows=True, inner=True, shared=True)
def somebody_comes(traffic: TrafficArrays, slot: int, x: float, y: float, r: float) -> bool:
    """Return whether anything comes within a disc [m] at any time from a slot on, whoever and whenever it is."""
    chunks, groups = traffic.chunks, traffic.groups
    slot, comes, era = max(slot, 0), False, 0
    first_era, last_era = (slot >> ERA) + 1, (max(traffic.last, slot) >> ERA) + 1
    first_column, last_column, first_row, last_row = block_of(x - r), block_of(x + r), block_of(y - r), block_of(y + r)
    while era <= last_era and not comes and len(traffic.keys) > 0:
        for column in range(first_column, last_column + 1):
            for row in range(first_row, last_row + 1):
                link = first_link(traffic.keys, traffic.heads, era, column, row) if not comes else -1
                while link >= 0:
                    chunk = traffic.links[link, 0]
                    link = traffic.links[link, 1]
                    group, end = chunks[chunk, FIRST_GROUP], chunks[chunk, END_GROUP]
                    there = chunks[chunk, END] > max(chunks[chunk, BEGIN], slot)
                    if not (there and meets(traffic.chunk_around, chunk, x, y, r)):
                        group = end
                    while group < end:
                        disc, stop = groups[group, FIRST_DISC], groups[group, END_DISC]
                        there = groups[group, END_SLOT] > max(groups[group, FIRST_SLOT], slot)
                        if not (there and meets(traffic.around, group, x, y, r)):
                            disc = stop
                        while disc < stop:
                            if meets(traffic.discs, disc, x, y, r):
                                comes, disc, group, link = True, stop, end, -1
                            disc += 1
                        group += 1
        era = max(era + 1, first_era)  # after what stays for long comes the first era
    return comes
