"""Backward search in a tree without mapping obstacles to it (Lau 2009, algorithm 3, turned round).

Candidates are the nodes that end near the goal, the cheapest first, in bands of cost. The path to a candidate is tested
from the root on, move by move, in the one world that all characters share. If a move is blocked, so is its whole
subtree, which is an interval of nodes in depth-first order; candidates inside such an interval are skipped at once. So
a query tests few moves, however large the tree is and however many obstacles there are.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.space._check_kernels import (
    COST,
    DURATION,
    MOVE_TURN,
    MOVE_X,
    MOVE_Y,
    REST_ACTION,
    ActionArrays,
    parts_meet,
    shortage,
    stays_free,
)
from gaitway.space._clip_choice_kernels import move_free
from gaitway.space._query_kernels import (
    APART,
    CLOSE,
    FOUND,
    GOAL,
    GOAL_BLOCKED,
    GOAL_HEADING,
    GOAL_HEADING_TOLERANCE,
    GOAL_TOLERANCE,
    GOAL_X,
    GOAL_Y,
    NOTHING,
    START,
    START_BLOCKED,
    START_HEADING,
    START_TIME,
    START_X,
    START_Y,
    WEIGHT,
    wrapped,
)
from gaitway.space._traffic_kernels import TrafficArrays
from gaitway.space.fields import FieldArrays

Links = npt.NDArray[np.uint32]
Small = npt.NDArray[np.int32]

COST_BITS, NODE_BITS, PLACE_BITS = 48, 24, 12
"""First bits of an entry's cost, node and x; its y is in the lowest bits."""
PLACES = 1 << PLACE_BITS
"""Number of steps of x and y in a cell."""
NODE_MASK, PLACE_MASK = (1 << NODE_BITS) - 1, PLACES - 1
MOST_STEPS = 256
"""Most levels of a tree."""
NONE = 1 << 40
"""Cost above that of any entry."""
KNOWN = 1024
"""Number of nodes that are remembered as free; a power of two."""
LISTS = 256
"""Most cells around a goal that are searched."""
# entries of `Work.state`
OPEN, LIST, LOW, TOP, BLOCKED, STAMP, CANDIDATES, TESTED = range(8)
"""Number of open lists, the list that is read, least cost beyond the band, end of the band, number of blocked subtrees,
number of the query, number of nodes whose path was tested, and number of moves that were tested."""
_TURN = 2.0 * math.pi


class TreeArrays(NamedTuple):
    """A tree of N nodes and M moves as searches see it; all arrays are read-only."""

    links: Links
    """Parent in the upper 24 bits, move in the lower 8; (N,)."""
    ends: Small
    """Node after the last one of each subtree; (N,)."""
    headings: npt.NDArray[np.int16]
    """Headings in 65536ths of a turn; (N,)."""
    actions: IntArray
    """Row of the library's table of each move; (M,)."""
    turns: FloatArray
    """Cosine and sine of the turn of each move; (M, 2)."""
    rests: IntArray
    """Resting action after each move, or -1 if the path goes on; (M,)."""
    starts: Small
    """First entry of each cell around the root, and their number at the end; (cells + 1,)."""
    entries: IntArray
    """Entries sorted by cell, then by cost: cost, node, and position of its end in the cell, packed in one number;
    (E,)."""
    frame: FloatArray
    """Lower left corner (x, y) of the cells, their side [m], columns, rows, and the cost of a step of it; (6,)."""


class Work(NamedTuple):
    """Memory of one thread for queries in trees of up to N nodes."""

    known: IntArray
    """Nodes whose move was found to be free, with the query, each at its number modulo the length; a new entry replaces
    the old one; (KNOWN,). So little memory stays in the processor's cache."""
    blocked: Small
    """First node and end of blocked subtrees, in order; (K, 2)."""
    path: Small
    """Nodes on the path from a node to the root; (levels,)."""
    cursors: IntArray
    """Next entry and end of the open lists; (LISTS, 2)."""
    corners: FloatArray
    """Lower left corners of their cells, seen from the goal [m]; (LISTS, 2)."""
    state: IntArray
    """Numbers of the query, in the order of `OPEN` to `TESTED`; (8,)."""
    ends: FloatArray
    """End of the latest free path, and of the best one: x, y [m], heading [rad], time [s]; (2, 4)."""


@kernel(borrows=True, inner=True)
def open_lists(tree: TreeArrays, work: Work, x: float, y: float, reach: float) -> bool:
    """Begin a query: open the lists of all cells that meet a disc around (x, y) in the tree's frame [m].

    Returns:
        Whether there is room for that many lists.
    """
    starts, frame, state = tree.starts, tree.frame, work.state
    side, columns, rows = frame[2], int(frame[3]), int(frame[4])
    left, low = (x - frame[0]) / side, (y - frame[1]) / side
    wide = reach / side
    state[OPEN], state[LIST], state[LOW], state[TOP] = 0, 0, NONE, 0
    state[BLOCKED], state[CANDIDATES], state[TESTED] = 0, 0, 0
    state[STAMP] += 1
    for row in range(max(math.floor(low - wide), 0), min(math.floor(low + wide), rows - 1) + 1):
        for column in range(max(math.floor(left - wide), 0), min(math.floor(left + wide), columns - 1) + 1):
            cell = row * columns + column
            first, end = starts[cell], starts[cell + 1]
            if first == end:
                continue
            count = state[OPEN]
            if count == len(work.cursors):
                return False
            work.cursors[count, 0], work.cursors[count, 1] = first, end
            work.corners[count, 0], work.corners[count, 1] = (column - left) * side, (row - low) * side
            state[LOW] = min(state[LOW], tree.entries[first] >> COST_BITS)
            state[OPEN] = count + 1
    return True


@kernel(borrows=True, inner=True)
def next_candidate(tree: TreeArrays, work: Work, reach: float, band: int, bound: int) -> int:
    """Return the entry of the next node within a distance of the goal that is not in a blocked subtree, or -1.

    Args:
        tree: the tree.
        work: open lists.
        reach: largest distance of a node from the goal [m].
        band: width of a band of cost; nodes in one band come in any order, and a band with an answer is the last.
        bound: cost of the answer so far, or `NONE`; only cheaper nodes are returned.
    """
    entries, cursors, corners, state = tree.entries, work.cursors, work.corners, work.state
    step, square = tree.frame[2] / PLACES, reach * reach
    while True:
        while state[LIST] < state[OPEN]:
            at = state[LIST]
            k, end = cursors[at, 0], cursors[at, 1]
            while k < end:
                entry = entries[k]
                cost = entry >> COST_BITS
                if cost >= state[TOP]:
                    state[LOW] = min(state[LOW], cost)
                    break
                k += 1
                x = corners[at, 0] + step * ((entry >> PLACE_BITS) & PLACE_MASK)
                y = corners[at, 1] + step * (entry & PLACE_MASK)
                if cost < bound and x * x + y * y <= square and not is_blocked(work, node_of(entry)):
                    cursors[at, 0] = k
                    return int(entry)
            cursors[at, 0] = k
            state[LIST] += 1
        if bound < NONE or state[LOW] == NONE:
            return -1
        state[TOP], state[LOW], state[LIST] = state[LOW] + band, NONE, 0


@kernel(borrows=True, inner=True)
def node_of(entry: int) -> int:
    """Return the node of an entry."""
    return (entry >> NODE_BITS) & NODE_MASK


@kernel(borrows=True, inner=True)
def is_blocked(work: Work, node: int) -> bool:
    """Return whether a node lies in a blocked subtree."""
    blocked = work.blocked
    low, high = 0, work.state[BLOCKED]
    while low < high:
        middle = (low + high) >> 1
        if blocked[middle, 0] <= node:
            low = middle + 1
        else:
            high = middle
    return bool(low > 0 and node < blocked[low - 1, 1])


@kernel(borrows=True, inner=True)
def block(tree: TreeArrays, work: Work, node: int) -> None:
    """Note that a node and its subtree are blocked; it must not lie in a subtree that is noted already."""
    blocked, count = work.blocked, work.state[BLOCKED]
    if count == len(blocked):
        return  # what is not noted is only tested again
    while count > 0 and blocked[count - 1, 0] > node:
        blocked[count, 0], blocked[count, 1] = blocked[count - 1, 0], blocked[count - 1, 1]
        count -= 1
    blocked[count, 0], blocked[count, 1] = node, tree.ends[node]
    work.state[BLOCKED] += 1


@kernel(borrows=True, inner=True)
def is_known(work: Work, node: int) -> bool:
    """Return whether the move to a node is known to be free."""
    return bool(work.known[node & (KNOWN - 1)] == (work.state[STAMP] << NODE_BITS) | node)


@kernel(borrows=True, inner=True)
def note_free(work: Work, node: int) -> None:
    """Note that the move to a node is free."""
    work.known[node & (KNOWN - 1)] = (work.state[STAMP] << NODE_BITS) | node


@kernel(borrows=True, inner=True)
def climb(links: Links, path: Small, node: int) -> int:
    """Write the nodes on the path to a node, without the root; return their number."""
    count, at = 0, np.int64(node)
    while at > 0:
        path[count] = at
        count, at = count + 1, np.int64(links[at] >> 8)
    return count


@kernel(borrows=True, inner=True)
def walk(
    library: ActionArrays, fields: FieldArrays, passing: IntArray, traffic: TrafficArrays, busy: bool,
    tree: TreeArrays, work: Work, query: FloatArray, shortfall: float, node: int,
) -> float:  # fmt: skip
    """Test the path to a node from the root on, and note what is free or blocked; return its cost, or -1."""
    actions, path, state = library.actions, work.path, work.state
    x, y, t, cost = query[START_X], query[START_Y], query[START_TIME], 0.0
    c, s = math.cos(query[START_HEADING]), math.sin(query[START_HEADING])
    state[CANDIDATES] += 1
    for k in range(climb(tree.links, path, node) - 1, -1, -1):
        at = path[k]
        move = np.int64(tree.links[at] & 255)
        a = tree.actions[move]
        if not is_known(work, at):
            state[TESTED] += 1
            if not move_free(library, fields, passing, traffic, busy, query, shortfall, x, y, c, s, t, a):
                block(tree, work, at)
                return -1.0
            note_free(work, at)
        u, v, tc, ts = actions[a, MOVE_X], actions[a, MOVE_Y], tree.turns[move, 0], tree.turns[move, 1]
        x, y, t, cost = x + c * u - s * v, y + s * u + c * v, t + actions[a, DURATION], cost + actions[a, COST]
        c, s = c * tc - s * ts, s * tc + c * ts
    if math.hypot(x - query[GOAL_X], y - query[GOAL_Y]) > query[GOAL_TOLERANCE]:
        return -1.0
    rest = tree.rests[np.int64(tree.links[node] & 255)]
    if busy and rest >= 0 and not stays_free(library, traffic, x, y, math.atan2(s, c), t, rest):
        return -1.0
    work.ends[0, 0], work.ends[0, 1], work.ends[0, 2], work.ends[0, 3] = x, y, math.atan2(s, c), t
    return cost


@kernel(borrows=True, inner=True)
def turned_well(tree: TreeArrays, query: FloatArray, node: int) -> bool:
    """Return whether the heading of a node is that asked for at the goal."""
    off = query[START_HEADING] + tree.headings[node] * (_TURN / 65536.0) - query[GOAL_HEADING]
    return bool(abs(off - _TURN * math.floor(off / _TURN + 0.5)) <= query[GOAL_HEADING_TOLERANCE])


@kernel(borrows=True, inner=True)
def cheapest(
    library: ActionArrays, fields: FieldArrays, passing: IntArray, traffic: TrafficArrays, busy: bool,
    tree: TreeArrays, work: Work, query: FloatArray, shortfall: float, band: int,
) -> tuple[int, float]:  # fmt: skip
    """Return the node at the goal with the cheapest free path, and its cost; -1 if there is none."""
    c, s = math.cos(query[START_HEADING]), math.sin(query[START_HEADING])
    dx, dy, reach = query[GOAL_X] - query[START_X], query[GOAL_Y] - query[START_Y], query[GOAL_TOLERANCE]
    best, least, bound, rough = -1, np.inf, NONE, reach + tree.frame[2] / PLACES
    going = open_lists(tree, work, c * dx + s * dy, c * dy - s * dx, reach)
    while going:
        entry = next_candidate(tree, work, rough, band, bound)
        going = entry >= 0
        if going and turned_well(tree, query, node_of(entry)):
            node = node_of(entry)
            cost = walk(library, fields, passing, traffic, busy, tree, work, query, shortfall, node)
            if 0.0 <= cost < least:
                best, least, bound = node, cost, entry >> COST_BITS
                for k in range(4):
                    work.ends[1, k] = work.ends[0, k]
    return best, least


@kernel(borrows=True, inner=True)
def answer(
    library: ActionArrays, fields: FieldArrays, passing: IntArray, traffic: TrafficArrays, busy: bool,
    tree: TreeArrays, work: Work, query: FloatArray, state: int, band: int,
) -> tuple[int, int, float]:  # fmt: skip
    """Return how a query ends (`FOUND`, `NOTHING`, or why there can be no path), the node, and its cost."""
    rest, shortfall = library.states[state, REST_ACTION], 0.0
    if rest >= 0:
        shortfall = shortage(library, fields, query[START_X], query[START_Y], query[START_HEADING], rest)
        if shortfall > query[CLOSE]:
            return START_BLOCKED, -1, -1.0
        if math.hypot(query[START_X] - query[GOAL_X], query[START_Y] - query[GOAL_Y]) <= query[GOAL_TOLERANCE]:
            return NOTHING, -1, -1.0  # a character that is there already needs no path, and no node stands for that
    some, together = parts_meet(fields.labels, fields.place, query[START:GOAL], query[GOAL:WEIGHT])
    if not together:
        return APART if some else GOAL_BLOCKED, -1, -1.0
    node, cost = cheapest(library, fields, passing, traffic, busy, tree, work, query, shortfall, band)
    return FOUND if node >= 0 else NOTHING, node, cost


@kernel(borrows=True)
def find(
    library_handle: ArrayHandle[ActionArrays], fields_handle: ArrayHandle[FieldArrays],
    passing_handle: ArrayHandle[IntArray],
    traffic_handle: ArrayHandle[TrafficArrays], busy: bool, tree_handle: ArrayHandle[TreeArrays],
    work_handle: ArrayHandle[Work],
    query_handle: ArrayHandle[FloatArray], state: int, band: int,
) -> tuple[int, int, float, int, int, float, float, float, float]:  # fmt: skip
    """Answer one query from a tree.

    Args:
        library_handle: the actions.
        fields_handle: fields of the world.
        passing_handle: kind of obstacle that each action passes here, `ORDINARY` or `NEVER`; (A,).
        traffic_handle: other characters and movers.
        busy: whether there is any traffic.
        tree_handle: tree of the library's actions.
        work_handle: memory.
        query_handle: numbers of the query; see `space._query_kernels`.
        state: state of the behaviour graph at the start.
        band: width of the band of costs that is searched at a time, see `next_candidate`.

    Returns:
        How it ended, the node at the goal, its cost, the numbers of paths looked at and of moves tested, and where
        (x, y, heading) and when the path ends.
    """
    work = work_handle.value
    code, node, cost = answer(
        library_handle.value, fields_handle.value, passing_handle.value, traffic_handle.value, busy,
        tree_handle.value, work,
        query_handle.value, state, band,
    )  # fmt: skip
    counts, ends = work.state, work.ends
    return code, node, cost, counts[CANDIDATES], counts[TESTED], ends[1, 0], ends[1, 1], ends[1, 2], ends[1, 3]


@kernel
def lay(
    library_handle: ArrayHandle[ActionArrays], tree_handle: ArrayHandle[TreeArrays], node: int, x: float, y: float,
    heading: float,
    t: float,
) -> FloatArray:  # fmt: skip
    """Return the path to a node from a pose and time: the rows of its steps (see `LaidSteps`), and the end."""
    library, tree = library_handle.value, tree_handle.value
    path = np.empty(MOST_STEPS, np.int32)
    count = climb(tree.links, path, node)
    rows = np.empty((count + 1, 6))
    for k in range(count + 1):
        a = tree.actions[np.int64(tree.links[path[count - 1 - k]] & 255)] if k < count else np.int64(-1)
        rows[k, 0], rows[k, 1], rows[k, 2], rows[k, 3], rows[k, 4], rows[k, 5] = x, y, heading, t, a, 1.0
        if k < count:
            c, s, u, v = math.cos(heading), math.sin(heading), library.actions[a, MOVE_X], library.actions[a, MOVE_Y]
            x, y, t = x + c * u - s * v, y + s * u + c * v, t + library.actions[a, DURATION]
            heading = wrapped(heading + library.actions[a, MOVE_TURN])
    return rows


@kernel(borrows=True)
def find_many(
    library_handle: ArrayHandle[ActionArrays], fields_handle: ArrayHandle[FieldArrays],
    passing_handle: ArrayHandle[IntArray],
    traffic_handle: ArrayHandle[TrafficArrays], busy: bool, tree_handle: ArrayHandle[TreeArrays],
    work_handle: ArrayHandle[Work],
    queries: FloatArray, state: int, band: int, first: int, end: int, codes: IntArray, nodes: IntArray,
    costs: FloatArray,
) -> None:  # fmt: skip
    """Answer the queries (Q, NUMBERS) from first to end: codes (Q,), nodes (Q,) and costs (Q,); as `find`."""
    library, tree, work = library_handle.value, tree_handle.value, work_handle.value
    fields, passing, traffic = fields_handle.value, passing_handle.value, traffic_handle.value
    for k in range(first, end):
        codes[k], nodes[k], costs[k] = answer(
            library, fields, passing, traffic, busy, tree, work, queries[k], state, band
        )
