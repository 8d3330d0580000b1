"""Memory of a search: nodes, the queue of those that wait, the closed set, and notes of what stood in the way."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel

Numbers = npt.NDArray[np.int32]
at = np.uintp
"""Of an index that cannot be negative, which spares a test at every look into an array."""

EMPTY = -1
"""Key of an entry of the table that is not used."""
# entries of `SearchMemory.counts`
NODES, QUEUED, EXPANDED, CHECKS, NEAREST, RESTING, NOTES, SPAN = range(8)


class SearchMemory(NamedTuple):
    """Memory of a search, used again by the next. N nodes, and a table of H entries, a power of two."""

    states: FloatArray
    """x, y, heading, time, cost so far and estimate of the rest of each node; (N, 6)."""
    links: Numbers
    """Parent, action, state, entry of the table of each node, and clips waited before the action; (N, 5)."""
    keys: IntArray
    """Bin of each node; (N,)."""
    heap: FloatArray
    """Cost and number of the nodes in the queue; (N, 2)."""
    table: IntArray
    """Keys of bins, and the best node in each; (H, 2). A search uses the first `SPAN` entries."""
    counts: IntArray
    """See the names above; (8,)."""
    nearest: FloatArray
    """Estimate at the node nearest to the goal, at the nearest where one can stay, what the start lacks [m]; (3,)."""
    laid: FloatArray
    """Where the clips end that were laid down after a node: x, y, heading; (B, 3)."""
    chosen: IntArray
    """Which they are: action, state, key of the bin, and its `home_of`; (B, 4)."""
    stood: IntArray
    """How often one can stand still at the node that is expanded, as far as is known, and whether no more; (2,)."""
    notes: FloatArray
    """What stood in the way: what it was, x, y, and kind or owner; the latest, round and round; (L, 4)."""


@kernel(borrows=True, inner=True)
def home_of(key: int) -> int:
    """Where a key would be in a table without an end, if it were alone."""
    value = ((key & 0x7FFFFFFF) * 0x9E3779B1) ^ ((key >> 31) * 0x45D9F3B)
    return value ^ (value >> 29)


@kernel(borrows=True, inner=True)
def place_of(table: IntArray, span: int, home: int, key: int) -> int:
    """Where a key is among the first entries of the table, or the free entry where it would be."""
    mask = span - 1
    place = home & mask
    while table[at(place), 0] != EMPTY and table[at(place), 0] != key:
        place = (place + 1) & mask
    return place


@kernel(borrows=True, inner=True)
def before(heap: FloatArray, states: FloatArray, f: float, node: int, place: int) -> bool:
    """Whether a node comes before the one at a place of the heap: by total cost, then estimate, then age."""
    if f != heap[at(place), 0]:
        return bool(f < heap[at(place), 0])
    other = int(heap[at(place), 1])
    h, other_h = states[at(node), 5], states[at(other), 5]
    return bool(h < other_h or (h == other_h and node < other))


@kernel(borrows=True, inner=True)
def push(heap: FloatArray, states: FloatArray, counts: IntArray, f: float, node: int) -> None:
    """Put a node into the heap."""
    place = counts[QUEUED]
    counts[QUEUED] += 1
    while place > 0:
        above = (place - 1) >> 1
        if not before(heap, states, f, node, above):
            break
        heap[at(place), 0], heap[at(place), 1] = heap[at(above), 0], heap[at(above), 1]
        place = above
    heap[at(place), 0], heap[at(place), 1] = f, node


@kernel(borrows=True, inner=True)
def pop(heap: FloatArray, states: FloatArray, counts: IntArray) -> int:
    """Take the first node out of the heap."""
    first = int(heap[0, 1])
    counts[QUEUED] -= 1
    count = counts[QUEUED]
    f, node = heap[at(count), 0], int(heap[at(count), 1])
    place, below = 0, 1
    while below < count:
        if below + 1 < count and before(heap, states, heap[at(below + 1), 0], int(heap[at(below + 1), 1]), below):
            below += 1
        if before(heap, states, f, node, below):
            break
        heap[at(place), 0], heap[at(place), 1] = heap[at(below), 0], heap[at(below), 1]
        place, below = below, 2 * below + 1
    heap[at(place), 0], heap[at(place), 1] = f, node
    return first


@kernel(borrows=True, inner=True)
def note(memory: SearchMemory, what: int, x: float, y: float, who: int) -> None:
    """Remember what stood in the way."""
    notes = memory.notes
    row = memory.counts[NOTES] & (len(notes) - 1)
    notes[row, 0], notes[row, 1], notes[row, 2], notes[row, 3] = what, x, y, who
    memory.counts[NOTES] += 1


@kernel(borrows=True, inner=True)
def sweep(memory: SearchMemory) -> None:
    """Forget all nodes."""
    for node in range(memory.counts[NODES]):
        memory.table[memory.links[node, 3], 0] = EMPTY
    for k in range(len(memory.counts)):
        memory.counts[k] = 0


@kernel(borrows=True)
def enlarge(old_handle: ArrayHandle[SearchMemory], new_handle: ArrayHandle[SearchMemory]) -> None:
    """Carry a search over into more room."""
    old, new = old_handle.value, new_handle.value
    for node in range(old.counts[NODES]):
        for k in range(6):
            new.states[node, k] = old.states[node, k]
        for k in range(5):
            new.links[node, k] = old.links[node, k]
        new.keys[node], new.links[node, 3] = old.keys[node], old.table[old.links[node, 3], 1]
    for k in range(old.counts[QUEUED]):
        new.heap[k, 0], new.heap[k, 1] = old.heap[k, 0], old.heap[k, 1]
    fill(new)


@kernel(borrows=True, inner=True)
def widen(memory: SearchMemory) -> None:
    """Use twice as many entries of the table."""
    table, links, counts = memory.table, memory.links, memory.counts
    for node in range(counts[NODES]):
        links[node, 3] = table[links[node, 3], 1]
    for place in range(counts[SPAN]):
        table[place, 0] = EMPTY
    counts[SPAN] *= 2
    fill(memory)


@kernel(borrows=True, inner=True)
def fill(memory: SearchMemory) -> None:
    """Put all bins into an empty table; the best node in the bin of each is where its entry will be."""
    links, table = memory.links, memory.table
    for node in range(memory.counts[NODES]):
        key = memory.keys[node]
        place = place_of(table, memory.counts[SPAN], home_of(key), key)
        table[place, 0], table[place, 1] = key, links[node, 3]
        links[node, 3] = place
