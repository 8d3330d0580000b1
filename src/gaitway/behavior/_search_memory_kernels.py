"""Memory of an A* search: nodes, the queue, the closed set, and notes of what blocked it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel

Numbers = npt.NDArray[np.int32]
at = np.uintp
"""Type of an index that cannot be negative, which saves a test at every access to an array."""

EMPTY = -1
"""Key of an unused entry of the table."""
# columns of `SearchMemory`
NODES, QUEUED, EXPANDED, CHECKS, NEAREST, RESTING, NOTES, SPAN = range(8)
"""Entries of `counts`: nodes, nodes in the queue, expanded nodes, tested actions, the node nearest to the goal, the
nearest one at rest, notes, and entries of the table in use."""
NODE_X, NODE_Y, NODE_HEADING, NODE_TIME, NODE_COST, NODE_ESTIMATE = range(6)
"""Columns of `states`: pose [m, rad], time [s], cost so far, and estimate of the remaining cost."""
PARENT, ACTION, STATE, ENTRY, WAITS = range(5)
"""Columns of `links`: parent node, action from there, state, entry of the table, and number of resting clips before the
action."""
HEAP_COST, HEAP_NODE = range(2)
"""Columns of `heap`: total cost, and node."""
KEY, BEST_NODE = range(2)
"""Columns of `table`: key of a bin, and the best node in it."""
LEAST, LEAST_AT_REST, SHORTFALL = range(3)
"""Entries of `nearest`: least estimate of any node, least estimate of a node at rest, and the room that the start lacks
[m]."""
CHOSEN_ACTION, CHOSEN_STATE, CHOSEN_KEY, CHOSEN_HOME = range(4)
"""Columns of `chosen`: action, state after it, key of its bin, and the `home_of` that key."""
STOOD, NO_MORE, BARRED, MET = range(4)
"""Entries of `stood`: known number of resting clips that are free at the node, whether no more are free, the slot
until which what was met last stays where it is, and the chunk of traffic that was met last or -1."""
IMPOSSIBLE, UNKNOWN = -1, -2
"""Entries of `later` that are no nodes."""
DELAYS = 6
"""Number of delays that are tried where others are in the way."""
MOST_SLOWED = 10
"""Most steps that are slowed down to let others pass."""
NOTE_WHAT, NOTE_X, NOTE_Y, NOTE_WHO = range(4)
"""Columns of `notes`: kind of the blocker of an action, its x, y [m], and its kind of obstacle or owner."""


class SearchMemory(NamedTuple):
    """Memory of a search, used again by the next. N nodes, and a table of H entries, a power of two."""

    states: FloatArray
    """Pose, time, cost and estimate of each node; (N, 6)."""
    links: Numbers
    """How each node was reached, and its entry of the table; (N, 5)."""
    keys: IntArray
    """Bin of each node; (N,)."""
    heap: FloatArray
    """Nodes in the queue, as a binary heap by cost; (N, 2)."""
    table: IntArray
    """Hash table of bins; (H, 2). A search uses the first `SPAN` entries."""
    counts: IntArray
    """Counters; (8,)."""
    nearest: FloatArray
    """Least estimates so far, and the room that the start lacks; (3,)."""
    laid: FloatArray
    """End poses of the actions that were laid after a node: x, y [m], heading [rad]; (B, 3)."""
    chosen: IntArray
    """These actions, and their bins; (B, 4)."""
    stood: IntArray
    """How long a character can stand at the node that is expanded, and what bars its way; (4,)."""
    spare: FloatArray
    """By how much a character can come later to the node that is expanded, as the steps before it are slower [s]; below
    0 if that is not known yet; (1,)."""
    later: IntArray
    """Nodes that come to the one that is expanded by each of some delays later, `IMPOSSIBLE` or `UNKNOWN`; (`DELAYS`,).
    """
    notes: FloatArray
    """The latest blockers, in a ring buffer; (L, 4)."""
    slowed: IntArray
    """Nodes that are slowed down, the last first; (`MOST_SLOWED`,)."""


@kernel(borrows=True, inner=True)
def home_of(key: int) -> int:
    """Return the hash of a key."""
    value = ((key & 0x7FFFFFFF) * 0x9E3779B1) ^ ((key >> 31) * 0x45D9F3B)
    return value ^ (value >> 29)


@kernel(borrows=True, inner=True)
def place_of(table: IntArray, span: int, home: int, key: int) -> int:
    """Return the entry of a key among the first entries of the table, or the free entry where it belongs."""
    mask = span - 1
    place = home & mask
    while table[at(place), KEY] != EMPTY and table[at(place), KEY] != key:
        place = (place + 1) & mask
    return place


@kernel(borrows=True, inner=True)
def before(heap: FloatArray, states: FloatArray, f: float, node: int, place: int) -> bool:
    """Return whether a node comes before the one at a place of the heap: by total cost, then estimate, then age."""
    if f != heap[at(place), HEAP_COST]:
        return bool(f < heap[at(place), HEAP_COST])
    other = int(heap[at(place), HEAP_NODE])
    h, other_h = states[at(node), NODE_ESTIMATE], states[at(other), NODE_ESTIMATE]
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
        heap[at(place), HEAP_COST], heap[at(place), HEAP_NODE] = heap[at(above), HEAP_COST], heap[at(above), HEAP_NODE]
        place = above
    heap[at(place), HEAP_COST], heap[at(place), HEAP_NODE] = f, node


@kernel
def reweigh(
    states: FloatArray, links: Numbers, table: IntArray, heap: FloatArray, counts: IntArray, weight: float
) -> None:
    """Put the nodes in the queue into the order of another weight of the estimate; arrays are those of a search.

    Nodes to whose bins a cheaper path was found are left out.
    """
    queued = counts[QUEUED]
    counts[QUEUED] = 0
    for place in range(queued):  # the heap is never longer than what was read of it
        node = int(heap[at(place), HEAP_NODE])
        if table[links[node, ENTRY], BEST_NODE] == node:
            push(heap, states, counts, states[node, NODE_COST] + weight * states[node, NODE_ESTIMATE], node)


@kernel(borrows=True, inner=True)
def pop(heap: FloatArray, states: FloatArray, counts: IntArray) -> int:
    """Take the first node out of the heap."""
    first = int(heap[0, HEAP_NODE])
    counts[QUEUED] -= 1
    count = counts[QUEUED]
    f, node = heap[at(count), HEAP_COST], int(heap[at(count), HEAP_NODE])
    place, below = 0, 1
    while below < count:
        if below + 1 < count and before(
            heap, states, heap[at(below + 1), HEAP_COST], int(heap[at(below + 1), HEAP_NODE]), below
        ):
            below += 1
        if before(heap, states, f, node, below):
            break
        heap[at(place), HEAP_COST], heap[at(place), HEAP_NODE] = heap[at(below), HEAP_COST], heap[at(below), HEAP_NODE]
        place, below = below, 2 * below + 1
    heap[at(place), HEAP_COST], heap[at(place), HEAP_NODE] = f, node
    return first


@kernel(borrows=True, inner=True)
def note(memory: SearchMemory, what: int, x: float, y: float, who: int) -> None:
    """Remember what blocked an action."""
    notes = memory.notes
    row = memory.counts[NOTES] & (len(notes) - 1)
    notes[row, NOTE_WHAT], notes[row, NOTE_X], notes[row, NOTE_Y], notes[row, NOTE_WHO] = what, x, y, who
    memory.counts[NOTES] += 1


@kernel(borrows=True, inner=True)
def sweep(memory: SearchMemory) -> None:
    """Forget all nodes."""
    for node in range(memory.counts[NODES]):
        memory.table[memory.links[node, ENTRY], KEY] = EMPTY
    for k in range(len(memory.counts)):
        memory.counts[k] = 0


@kernel(borrows=True)
def enlarge(old_handle: ArrayHandle[SearchMemory], new_handle: ArrayHandle[SearchMemory]) -> None:
    """Copy a search into larger memory."""
    old, new = old_handle.value, new_handle.value
    for node in range(old.counts[NODES]):
        for k in range(6):
            new.states[node, k] = old.states[node, k]
        for k in range(5):
            new.links[node, k] = old.links[node, k]
        new.keys[node], new.links[node, ENTRY] = old.keys[node], old.table[old.links[node, ENTRY], BEST_NODE]
    for k in range(old.counts[QUEUED]):
        new.heap[k, HEAP_COST], new.heap[k, HEAP_NODE] = old.heap[k, HEAP_COST], old.heap[k, HEAP_NODE]
    fill(new)


@kernel(borrows=True, inner=True)
def widen(memory: SearchMemory) -> None:
    """Use twice as many entries of the table."""
    table, links, counts = memory.table, memory.links, memory.counts
    for node in range(counts[NODES]):
        links[node, ENTRY] = table[links[node, ENTRY], BEST_NODE]
    for place in range(counts[SPAN]):
        table[place, KEY] = EMPTY
    counts[SPAN] *= 2
    fill(memory)


@kernel(borrows=True, inner=True)
def fill(memory: SearchMemory) -> None:
    """Put all bins into an empty table; `ENTRY` of each node holds the best node of its bin until then."""
    links, table = memory.links, memory.table
    for node in range(memory.counts[NODES]):
        key = memory.keys[node]
        place = place_of(table, memory.counts[SPAN], home_of(key), key)
        table[place, KEY], table[place, BEST_NODE] = key, links[node, ENTRY]
        links[node, ENTRY] = place
