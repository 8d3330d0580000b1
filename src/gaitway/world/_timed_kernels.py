"""Compiled loops of the timed occupancy: spans in chains, one chain for each time slot and row.

Nodes are numbered from 1, so that memory fresh from the system, which is 0, means empty chains and is not touched until
it is used. No kernel here divides: where something can raise, Numba counts references to every array in each call.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel

Nodes = npt.NDArray[np.int32]

# fields of a node; NEXT is the next one of its chain, SIBLING the next one of whatever it belongs to
FIRST, END, NEXT, BITS, SLOT, SLOT_END, ROW, SIBLING = range(8)
NODE_FIELDS = 8


class TimedArrays(NamedTuple):
    """A timed occupancy as a kernel takes it."""

    heads: Nodes
    """First node of each slot and row; (slots + 1, rows). The last slot is all time after the end."""
    standing: Nodes
    """First node of each row, of what stands still for many slots; (rows,)."""
    nodes: Nodes
    """(capacity, 8)."""
    start: float
    """Beginning of the first slot [s]."""
    rate: float
    """Slots in a second."""


@kernel
def timed_bits(arrays: TimedArrays, row: int, column: int, time: float) -> int:
    """The bits of all that covers a cell of the grid at any time in the slot of a time [s]; 0 if it is free.

    Times before the first slot count as in it.
    """
    slot = int(min(max((time - arrays.start) * arrays.rate, 0.0), arrays.heads.shape[0] - 1.0))
    nodes, bits = arrays.nodes, 0
    node = arrays.heads[slot, row]
    while node > 0:
        if nodes[node, FIRST] <= column < nodes[node, END]:
            bits |= nodes[node, BITS]
        node = nodes[node, NEXT]
    node = arrays.standing[row]
    while node > 0:
        if nodes[node, FIRST] <= column < nodes[node, END] and nodes[node, SLOT] <= slot < nodes[node, SLOT_END]:
            bits |= nodes[node, BITS]
        node = nodes[node, NEXT]
    return bits


@kernel
def timed_bits_at(
    arrays: TimedArrays,
    rows: IntArray,
    columns: IntArray,
    times: FloatArray,
    column_count: int,
    out: npt.NDArray[np.uint16],
) -> None:
    """`timed_bits` of many cells and times; cells beyond the grid are walls."""
    for k in range(len(out)):
        if 0 <= rows[k] < len(arrays.standing) and 0 <= columns[k] < column_count:
            out[k] = timed_bits(arrays, rows[k], columns[k], times[k])
        else:
            out[k] = 1


@kernel
def timed_grid(arrays: TimedArrays, time: float, out: npt.NDArray[np.uint16]) -> None:
    """`timed_bits` of all cells at one time, added to `out` (rows, columns)."""
    slot = int(min(max((time - arrays.start) * arrays.rate, 0.0), arrays.heads.shape[0] - 1.0))
    nodes = arrays.nodes
    for row in range(len(arrays.standing)):
        for chain in range(2):
            node = arrays.heads[slot, row] if chain == 0 else arrays.standing[row]
            while node > 0:
                if nodes[node, SLOT] <= slot < nodes[node, SLOT_END]:
                    for column in range(nodes[node, FIRST], nodes[node, END]):
                        out[row, column] |= nodes[node, BITS]
                node = nodes[node, NEXT]


@kernel
def link(
    heads: Nodes,
    standing: Nodes,
    nodes: Nodes,
    state: IntArray,
    spans: npt.NDArray[np.int32],
    span_starts: IntArray,
    slots: IntArray,
    bits: int,
    short: int,
    owner: int,
) -> int:
    """Put spans into the chains of the slots in which they hold; the node that begins the chain of siblings.

    Args:
        heads: as in `TimedArrays`.
        standing: as in `TimedArrays`.
        nodes: with enough room.
        state: number of the last node used, and first free node; (2,).
        spans: of one group after another; (S, 3).
        span_starts: (G + 1,).
        slots: first and end slot of each group; (G, 2).
        bits: to set.
        short: groups of no more slots than this are stored once in each slot.
        owner: node that begins the chain of siblings so far, or 0.
    """
    for group in range(len(slots)):
        first, end = slots[group, 0], slots[group, 1]
        once = end - first > short
        for k in range(span_starts[group], span_starts[group + 1]):
            row = spans[k, 0]
            for slot in range(first, first + 1 if once else end):
                node = state[1]
                if node > 0:
                    state[1] = nodes[node, NEXT]
                else:
                    state[0] += 1
                    node = state[0]
                nodes[node, FIRST], nodes[node, END] = spans[k, 1], spans[k, 2]
                nodes[node, BITS], nodes[node, ROW] = bits, row
                nodes[node, SLOT], nodes[node, SLOT_END] = slot, end if once else slot + 1
                nodes[node, SIBLING] = owner
                owner = node
                if once:
                    nodes[node, NEXT] = standing[row]
                    standing[row] = node
                else:
                    nodes[node, NEXT] = heads[slot, row]
                    heads[slot, row] = node
    return owner


@kernel
def unlink(heads: Nodes, standing: Nodes, nodes: Nodes, state: IntArray, owner: int) -> None:
    """Take all siblings from a node on out of their chains and free them."""
    while owner > 0:
        row, slot = nodes[owner, ROW], nodes[owner, SLOT]
        once = nodes[owner, SLOT_END] > slot + 1
        node = standing[row] if once else heads[slot, row]
        before = 0
        while node != owner:
            before, node = node, nodes[node, NEXT]
        after = nodes[owner, NEXT]
        if before > 0:
            nodes[before, NEXT] = after
        elif once:
            standing[row] = after
        else:
            heads[slot, row] = after
        nodes[owner, NEXT] = state[1]
        state[1] = owner
        owner = nodes[owner, SIBLING]
