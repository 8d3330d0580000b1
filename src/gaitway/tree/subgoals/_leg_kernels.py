"""Compiled loops of one leg from a tree: past a sub-goal, or to the goal itself."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gaitway.behavior._heuristic_kernels import HeuristicArrays, estimate_at
from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.space._check_kernels import DURATION, MOVE_TURN, MOVE_X, MOVE_Y, ActionArrays
from gaitway.space._clip_choice_kernels import move_free, short_of
from gaitway.space._query_kernels import (
    GOAL_TOLERANCE,
    GOAL_X,
    GOAL_Y,
    START_HEADING,
    START_TIME,
    START_X,
    START_Y,
    wrapped,
)
from gaitway.space._route_kernels import Distances
from gaitway.space._traffic_kernels import TrafficArrays
from gaitway.space.fields import FieldArrays
from gaitway.tree.query._query_kernels import (
    BLOCKED,
    CANDIDATES,
    COST_BITS,
    NONE,
    OPEN,
    PLACE_BITS,
    PLACE_MASK,
    PLACES,
    STAMP,
    Small,
    TreeArrays,
    Work,
    is_blocked,
    next_candidate,
    node_of,
    open_lists,
    turned_well,
    walk,
)

TAG_BITS = 8
"""Bits of a tag with the planner's state; above them are the 65536ths of a turn of a node's heading."""
TAG_MASK = (1 << TAG_BITS) - 1
_TURN = 2.0 * math.pi / 65536.0


class CostLeft(NamedTuple):
    """Distances to the goal from everywhere, and the largest one allowed at the end of a leg; arrays are read-only."""

    lengths: Distances
    """Length of the coarse path from each cell [m]; (rows, columns)."""
    frame: FloatArray
    """Lower left corner (x, y) of the cells, their side, and the most [m]; (4,)."""


@kernel(borrows=True, inner=True)
def is_astray(left: CostLeft, x: float, y: float) -> bool:
    """Return whether a place is too far from the goal, such as one behind a wall."""
    lengths, frame = left.lengths, left.frame
    row, column = math.floor((y - frame[1]) / frame[2]), math.floor((x - frame[0]) / frame[2])
    if not (0 <= row < lengths.shape[0] and 0 <= column < lengths.shape[1]):
        return True
    return bool(lengths[row, column] > frame[3])


@kernel(borrows=True, inner=True)
def sink(ranked: FloatArray, count: int, at: int) -> None:
    """Sift an entry of a heap of (score, node) down; the least score is on top."""
    score, node = ranked[at, 0], ranked[at, 1]
    child = 2 * at + 1
    while child < count:
        if child + 1 < count and ranked[child + 1, 0] < ranked[child, 0]:
            child += 1
        if ranked[child, 0] >= score:
            break
        ranked[at, 0], ranked[at, 1] = ranked[child, 0], ranked[child, 1]
        at, child = child, 2 * child + 1
    ranked[at, 0], ranked[at, 1] = score, node


@kernel(borrows=True, inner=True)
def lists_around(tree: TreeArrays, work: Work, query: FloatArray, anew: bool) -> bool:
    """Open the lists around the goal of a query; known blocked and free nodes are kept, unless `anew`."""
    c, s = math.cos(query[START_HEADING]), math.sin(query[START_HEADING])
    dx, dy = query[GOAL_X] - query[START_X], query[GOAL_Y] - query[START_Y]
    stamp, blocked = work.state[STAMP], work.state[BLOCKED]
    out = open_lists(tree, work, c * dx + s * dy, c * dy - s * dx, query[GOAL_TOLERANCE])
    if not anew:
        work.state[STAMP], work.state[BLOCKED] = stamp, blocked
    return out


@kernel(borrows=True, inner=True)
def rank(
    tree: TreeArrays, tags: Small, work: Work, query: FloatArray, aim: HeuristicArrays, ranked: FloatArray,
    left: CostLeft,
    anew: bool,
) -> int:  # fmt: skip
    """Make a heap of the nodes near a sub-goal, by their cost and the estimate from there to the aim beyond.

    Returns:
        Number of these nodes.
    """
    c, s, reach = math.cos(query[START_HEADING]), math.sin(query[START_HEADING]), query[GOAL_TOLERANCE]
    step, count = tree.frame[2] / PLACES, 0
    if not lists_around(tree, work, query, anew):
        return 0
    for at in range(work.state[OPEN]):
        for k in range(work.cursors[at, 0], work.cursors[at, 1]):
            entry = tree.entries[k]
            u = work.corners[at, 0] + step * ((entry >> PLACE_BITS) & PLACE_MASK)
            v = work.corners[at, 1] + step * (entry & PLACE_MASK)
            if u * u + v * v > reach * reach or count == len(ranked) or is_blocked(work, node_of(entry)):
                continue
            tag = tags[k]
            x, y = query[GOAL_X] + c * u - s * v, query[GOAL_Y] + s * u + c * v
            if is_astray(left, x, y):
                continue
            beyond = estimate_at(x, y, query[START_HEADING] + _TURN * (tag >> TAG_BITS), tag & TAG_MASK, aim)
            ranked[count, 0], ranked[count, 1] = (entry >> COST_BITS) * tree.frame[5] + beyond, node_of(entry)
            count += 1
    for at in range(count // 2 - 1, -1, -1):
        sink(ranked, count, at)
    return count


@kernel(borrows=True, inner=True)
def best_onward(
    library: ActionArrays, fields: FieldArrays, passing: IntArray, traffic: TrafficArrays, busy: bool,
    tree: TreeArrays, tags: Small, work: Work, query: FloatArray, aim: HeuristicArrays, ranked: FloatArray,
    left: CostLeft, shortfall: float, most: int, anew: bool,
) -> tuple[int, float]:  # fmt: skip
    """Return the first of the ranked nodes whose path is free, and its cost; -1 if none of the tries is."""
    count, tries = rank(tree, tags, work, query, aim, ranked, left, anew), 0
    while count > 0 and tries < most:
        node = int(ranked[0, 1])
        count -= 1
        ranked[0, 0], ranked[0, 1] = ranked[count, 0], ranked[count, 1]
        sink(ranked, count, 0)
        if is_blocked(work, node):
            continue
        tries += 1
        cost = walk(library, fields, passing, traffic, busy, tree, work, query, shortfall, node)
        if cost >= 0.0:
            return node, cost
    return -1, -1.0


@kernel(borrows=True)
def onward(
    library_handle: ArrayHandle[ActionArrays], fields_handle: ArrayHandle[FieldArrays],
    passing_handle: ArrayHandle[IntArray],
    traffic_handle: ArrayHandle[TrafficArrays], busy: bool, tree_handle: ArrayHandle[TreeArrays],
    tags_handle: ArrayHandle[Small],
    work_handle: ArrayHandle[Work], query_handle: ArrayHandle[FloatArray], aim_handle: ArrayHandle[HeuristicArrays],
    ranked_handle: ArrayHandle[FloatArray],
    left_handle: ArrayHandle[CostLeft], state: int, under_way: bool, most: int, anew: bool,
) -> tuple[int, float]:  # fmt: skip
    """Find a leg past a sub-goal: the node near it that is best for the cost beyond it, and whose path is free.

    Args:
        library_handle: the actions.
        fields_handle: fields of the world.
        passing_handle: kind of obstacle that each action passes here; (A,).
        traffic_handle: other characters and movers.
        busy: whether there is any traffic.
        tree_handle: tree with lists of nodes from which the path goes on.
        tags_handle: heading and the planner's state of each entry of its lists; (E,).
        work_handle: memory.
        query_handle: numbers of the query, whose goal is the sub-goal; see `space._query_kernels`.
        aim_handle: estimates of the cost beyond the sub-goal.
        ranked_handle: memory for scores and nodes; (K, 2).
        left_handle: distances to the goal, and the largest one after the leg.
        state: state of the planner at the start.
        under_way: whether the leg is not the first.
        most: most paths to test.
        anew: whether the last leg began elsewhere or at another time, so that nothing is known of moves.

    Returns:
        The node, -1 if there is none, and the cost of the path to it.
    """
    library, fields, tree, work = library_handle.value, fields_handle.value, tree_handle.value, work_handle.value
    query = query_handle.value
    shortfall = short_of(library, fields, query, state, under_way)
    if shortfall == np.inf:
        return -1, -1.0
    return best_onward(
        library, fields, passing_handle.value, traffic_handle.value, busy, tree, tags_handle.value, work, query,
        aim_handle.value, ranked_handle.value, left_handle.value, shortfall, most, anew,
    )  # fmt: skip


@kernel(borrows=True, inner=True)
def best_arrival(
    library: ActionArrays, fields: FieldArrays, passing: IntArray, traffic: TrafficArrays, busy: bool,
    tree: TreeArrays, work: Work, query: FloatArray, shortfall: float, band: int, most: int, anew: bool,
) -> tuple[int, float]:  # fmt: skip
    """Find the cheapest path as `_query_kernels.cheapest` does, but test a limited number of paths."""
    best, least, bound, rough = -1, np.inf, NONE, query[GOAL_TOLERANCE] + tree.frame[2] / PLACES
    going = lists_around(tree, work, query, anew)
    while going:
        entry = next_candidate(tree, work, rough, band, bound)
        going = entry >= 0 and work.state[CANDIDATES] < most
        if going and turned_well(tree, query, node_of(entry)):
            cost = walk(library, fields, passing, traffic, busy, tree, work, query, shortfall, node_of(entry))
            if 0.0 <= cost < least:
                best, least, bound = node_of(entry), cost, entry >> COST_BITS
    return best, least


@kernel(borrows=True)
def arrive(
    library_handle: ArrayHandle[ActionArrays], fields_handle: ArrayHandle[FieldArrays],
    passing_handle: ArrayHandle[IntArray],
    traffic_handle: ArrayHandle[TrafficArrays], busy: bool, tree_handle: ArrayHandle[TreeArrays],
    work_handle: ArrayHandle[Work],
    query_handle: ArrayHandle[FloatArray], state: int, under_way: bool, band: int, most: int, anew: bool,
) -> tuple[int, float]:  # fmt: skip
    """Find the last leg, to rest at the goal: return the node, -1 if there is none, and the cost; as `onward`."""
    library, fields, tree, work = library_handle.value, fields_handle.value, tree_handle.value, work_handle.value
    query = query_handle.value
    shortfall = short_of(library, fields, query, state, under_way)
    if shortfall == np.inf:
        return -1, -1.0
    return best_arrival(
        library,
        fields,
        passing_handle.value,
        traffic_handle.value,
        busy,
        tree,
        work,
        query,
        shortfall,
        band,
        most,
        anew,
    )


@kernel
def stand(
    library_handle: ArrayHandle[ActionArrays], fields_handle: ArrayHandle[FieldArrays],
    passing_handle: ArrayHandle[IntArray],
    traffic_handle: ArrayHandle[TrafficArrays], busy: bool, query_handle: ArrayHandle[FloatArray], state: int,
    under_way: bool, a: int,
    times: int,
) -> FloatArray:  # fmt: skip
    """Repeat an action, in the rows of `_query_kernels.lay`; return only its begin if it is not free."""
    library, fields, query = library_handle.value, fields_handle.value, query_handle.value
    shortfall = short_of(library, fields, query, state, under_way)
    rows, actions = np.empty((times + 1, 6)), library.actions
    x, y, heading, t = query[START_X], query[START_Y], query[START_HEADING], query[START_TIME]
    for k in range(times + 1):
        rows[k, 0], rows[k, 1], rows[k, 2], rows[k, 3], rows[k, 4], rows[k, 5] = x, y, heading, t, a, 1.0
        c, s = math.cos(heading), math.sin(heading)
        if k == times:
            break
        if shortfall == np.inf or not move_free(
            library, fields, passing_handle.value, traffic_handle.value, busy, query, shortfall, x, y, c, s, t, a
        ):
            return rows[:1]
        u, v = actions[a, MOVE_X], actions[a, MOVE_Y]
        x, y, t, heading = (
            x + c * u - s * v,
            y + s * u + c * v,
            t + actions[a, DURATION],
            wrapped(heading + actions[a, MOVE_TURN]),
        )
    return rows
