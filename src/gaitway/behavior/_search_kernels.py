"""The search in one compiled loop: A* over clips laid one after another (Lau 2009, algorithm 1), on plain arrays."""

from __future__ import annotations

import math

import numpy as np

from gaitway.behavior._heuristic_kernels import HeuristicArrays, estimate_at
from gaitway.behavior._search_memory_kernels import (
    CHECKS,
    EXPANDED,
    NEAREST,
    NODES,
    QUEUED,
    RESTING,
    SPAN,
    SearchMemory,
    at,
    home_of,
    note,
    place_of,
    pop,
    push,
    sweep,
    widen,
)
from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.space._check_kernels import (
    ActionArrays,
    leaves,
    leeway,
    near_bits,
    parts_meet,
    shortage,
    special_hit,
    static_hit,
    stays_free,
    surely_free,
    timed_hit,
)
from gaitway.space._query_kernels import (
    APART,
    BINS,
    BOUND,
    CLOSE,
    CROWDED,
    FOUND,
    FULL,
    GOAL,
    GOAL_BLOCKED,
    GOING,
    NEVER,
    NOTHING,
    ORDINARY,
    START,
    START_BLOCKED,
    TURNS,
    WEIGHT,
    mixed,
    wrapped,
)
from gaitway.space._safe_interval_kernels import SafeIntervals, safe_interval
from gaitway.space._traffic_kernels import END_SLOT, FOREVER, OWNER, TrafficArrays
from gaitway.space.fields import FieldArrays
from gaitway.space.plan import Pose

FREE, LATER, CLOSED = range(3)
"""Whether an action can be done: now, perhaps later, or not at all."""
STATIC, TRAFFIC, SPECIAL = range(3)
"""What stood in the way."""
_SPAN = 1024
"""Entries of the table that a search begins with: what is small stays in the processor's cache."""
LONGEST_WAIT = 60
"""How often one may play the clip that stands still before doing something."""
_FOREMOST = 0.25
"""Only what stands in the way of nodes is noted whose estimate is at most so much more than the least."""
_TURN = 2.0 * math.pi
_PER_RADIAN = 1.0 / _TURN


@kernel(borrows=True, inner=True)
def key_of(x: float, y: float, heading: float, number: int, state: int, query: FloatArray) -> int:
    """Number of the bin that a state lies in, in an episode of its place."""
    bins, turns = query[BINS], query[TURNS]
    column, row = math.floor(x * bins) & 0xFFFFF, math.floor(y * bins) & 0xFFFFF
    turn = math.floor((heading + math.pi) * turns * _PER_RADIAN + 0.5)
    turn = 0 if turn >= turns else turn
    return int((column << 43) | (row << 23) | (turn << 18) | (state << 12) | (number & 0xFFF))


@kernel(borrows=True, inner=True)
def begin(
    library: ActionArrays,
    fields: FieldArrays,
    heuristic: HeuristicArrays,
    memory: SearchMemory,
    query: FloatArray,
    state: int,
) -> int:
    """Forget what was and put the start in; `GOING`, or why there can be no plan."""
    sweep(memory)
    x, y, heading, t = query[START], query[START + 1], query[START + 2], query[START + 3]
    h = estimate_at(x, y, heading, state, heuristic)
    key = key_of(x, y, heading, 0, state, query)
    memory.counts[SPAN] = _SPAN
    place = place_of(memory.table, _SPAN, home_of(key), key)
    states, links = memory.states, memory.links
    states[0, 0], states[0, 1], states[0, 2], states[0, 3], states[0, 4], states[0, 5] = x, y, heading, t, 0.0, h
    links[0, 0], links[0, 1], links[0, 2], links[0, 3], links[0, 4] = -1, -1, state, place, 0
    memory.keys[0] = key
    memory.table[place, 0], memory.table[place, 1] = key, 0
    memory.counts[NODES] = 1
    push(memory.heap, states, memory.counts, query[WEIGHT] * h, 0)
    memory.nearest[0], memory.nearest[1], memory.nearest[2] = h, h, 0.0
    rest = library.states[state, 1]
    if rest >= 0:
        memory.nearest[2] = shortage(library, fields, x, y, heading, rest)
    if memory.nearest[2] > query[CLOSE]:
        return START_BLOCKED
    some, together = parts_meet(fields.labels, fields.place, query[START:GOAL], query[GOAL:WEIGHT])
    return GOING if together else APART if some else GOAL_BLOCKED


@kernel(borrows=True, inner=True)
def reached(
    library: ActionArrays, traffic: TrafficArrays, busy: bool, memory: SearchMemory, query: FloatArray, node: int
) -> bool:
    """Whether a node is at the goal and one can stay there."""
    states = memory.states
    x, y, heading = states[node, 0], states[node, 1], states[node, 2]
    if math.hypot(x - query[GOAL], y - query[GOAL + 1]) > query[GOAL + 2]:
        return False
    rest = library.states[memory.links[node, 2], 1]
    off = heading - query[GOAL + 3]
    if rest < 0 or abs(off - _TURN * math.floor(off / _TURN + 0.5)) > query[GOAL + 4]:
        return False
    return not busy or stays_free(library, traffic, x, y, heading, states[node, 3], rest)


@kernel(borrows=True, inner=True)
def passes(
    library: ActionArrays, fields: FieldArrays, traffic: TrafficArrays, busy: bool, memory: SearchMemory, node: int,
    a: int,
    kind: int, t: float, leave: float, noted: bool,
) -> int:  # fmt: skip
    """Whether an action that begins at time t passes all that it is for, and meets nobody; if not, it is noted whom.

    Others may be nearer than usual by as much as `leave` [m].

    Returns:
        `FREE`, `LATER` if waiting may help, or `CLOSED`.
    """
    states = memory.states
    x, y, heading = states[node, 0], states[node, 1], states[node, 2]
    if kind >= 0:
        special = special_hit(library, fields.specials, kind, x, y, heading, t, a)
        if special >= 0:
            if noted and special < len(fields.specials.circles):
                note(memory, SPECIAL, x, y, special)
            return LATER
    if busy:
        group = timed_hit(library, traffic, x, y, math.cos(heading), math.sin(heading), t, a, kind, leave)
        if group >= 0:
            if noted:
                note(memory, TRAFFIC, x, y, traffic.groups[group, OWNER])
            return CLOSED if traffic.groups[group, END_SLOT] == FOREVER else LATER
    return FREE


@kernel(borrows=True, inner=True)
def stands(
    library: ActionArrays, traffic: TrafficArrays, memory: SearchMemory, node: int, rest: int, leave: float, waits: int
) -> bool:
    """Whether one can stand still so often in a row at the node that is being expanded, by action `rest`."""
    states, stood = memory.states, memory.stood
    x, y, c, s = states[node, 0], states[node, 1], math.cos(states[node, 2]), math.sin(states[node, 2])
    while stood[0] < waits and stood[1] == 0:
        t = states[node, 3] + stood[0] * library.actions[rest, 4]
        free = timed_hit(library, traffic, x, y, c, s, t, rest, ORDINARY, leave) < 0
        stood[0 if free else 1] += 1
    return bool(stood[0] >= waits)


@kernel(borrows=True, inner=True)
def lay(
    library: ActionArrays,
    fields: FieldArrays,
    passing: IntArray,
    memory: SearchMemory,
    query: FloatArray,
    seed: int,
    node: int,
) -> int:
    """Lay down what may come after a node: all behaviours that its state allows, one clip each (functions F and T).

    Returns:
        How many rows of `SearchMemory.laid` and `SearchMemory.chosen` are filled.
    """
    states, actions, behaviors, laid, chosen = (
        memory.states,
        library.actions,
        library.behaviors,
        memory.laid,
        memory.chosen,
    )
    x, y, heading = states[at(node), 0], states[at(node), 1], states[at(node), 2]
    c, s, state, bits = math.cos(heading), math.sin(heading), memory.links[at(node), 2], near_bits(fields, x, y)
    count = 0
    for k in range(library.states[state, 0], library.states[state + 1, 0]):
        behavior = at(library.followers[at(k)])
        a, takes = behaviors[behavior, 1], behaviors[behavior + at(1), 1] - behaviors[behavior, 1]
        if takes > 1:
            a += (mixed(seed, node, int(behavior)) * takes) >> 30
        kind = passing[at(a)]
        if kind != ORDINARY and (kind == NEVER or not (bits >> kind) & 1):
            continue
        action, row = at(a), at(count)
        u, v, heading1 = actions[action, 0], actions[action, 1], wrapped(heading + actions[action, 2])
        x1, y1, state1 = x + c * u - s * v, y + s * u + c * v, behaviors[behavior, 0]
        key = key_of(x1, y1, heading1, 0, state1, query)
        laid[row, 0], laid[row, 1], laid[row, 2] = x1, y1, heading1
        chosen[row, 0], chosen[row, 1], chosen[row, 2], chosen[row, 3] = a, state1, key, home_of(key)
        count += 1
    return count


@kernel(borrows=True, inner=True)
def add(
    memory: SearchMemory, library: ActionArrays, query: FloatArray, key: int, entry: int, parent: int, a: int,
    state: int,
    x: float, y: float, heading: float, t: float, g: float, h: float, waits: int,
) -> None:  # fmt: skip
    """Put a node into its bin and the queue."""
    states, links, table, counts, nearest = memory.states, memory.links, memory.table, memory.counts, memory.nearest
    node = int(counts[NODES])
    counts[NODES] += 1
    new, bin_ = at(node), at(entry)
    states[new, 0], states[new, 1], states[new, 2], states[new, 3], states[new, 4], states[new, 5] = (
        x, y, heading, t, g, h,
    )  # fmt: skip
    links[new, 0], links[new, 1], links[new, 2], links[new, 3], links[new, 4] = parent, a, state, entry, waits
    memory.keys[new] = key
    table[bin_, 0], table[bin_, 1] = key, node
    push(memory.heap, states, counts, g + query[WEIGHT] * h, node)
    if h < nearest[0]:
        nearest[0], counts[NEAREST] = h, node
    if h < nearest[1] and library.states[state, 1] >= 0:
        nearest[1], counts[RESTING] = h, node


@kernel(borrows=True, inner=True)
def depart(
    library: ActionArrays, fields: FieldArrays, traffic: TrafficArrays, intervals: SafeIntervals, memory: SearchMemory,
    query: FloatArray, node: int, a: int, state: int, kind: int, x: float, y: float, heading: float, h: float,
    noted: bool,
) -> None:  # fmt: skip
    """Among traffic, do an action as soon as it is free, and then for each later episode of the place it leads to.

    Args:
        library: its actions.
        fields: of the world.
        traffic: who is where and when.
        intervals: of places.
        memory: memory.
        query: see the names above.
        node: where it begins.
        a: the action; what always stands there is no hindrance to it.
        state: in which it ends.
        kind: of obstacle that it passes, or `ORDINARY`.
        x: where it ends [m].
        y: [m].
        heading: [rad].
        h: estimate from there.
        noted: whether to note who is in the way.
    """
    states, table, counts, actions = memory.states, memory.table, memory.counts, library.actions
    rest = library.states[memory.links[node, 2], 1]
    begin, g, wait, latest = states[node, 3], states[node, 4] + actions[a, 3], 0, -1
    leave = query[CROWDED] if leaves(states[node, 0] - states[0, 0], states[node, 1] - states[0, 1]) else 0.0
    while g + h < query[BOUND] and counts[NODES] < len(states) and 2 * counts[NODES] < counts[SPAN]:
        number, final = safe_interval(traffic, intervals, x, y, begin + actions[a, 4])
        if number != latest:
            key = key_of(x, y, heading, number, state, query)
            entry = place_of(table, counts[SPAN], home_of(key), key)
            new = table[entry, 0] != key or states[table[entry, 1], 4] > g
            answer = passes(library, fields, traffic, True, memory, node, a, kind, begin, leave, noted) if new else FREE
            if new and answer == FREE:
                end = begin + actions[a, 4]
                add(memory, library, query, key, entry, node, a, state, x, y, heading, end, g, h, wait)
            if answer == CLOSED or (answer == FREE and final):
                break
            latest = number if answer == FREE else latest
        more = 1 + wait // 4  # the longer one has waited the less a little more matters
        wait, noted = wait + more, False
        if rest < 0 or wait > LONGEST_WAIT or not stands(library, traffic, memory, node, rest, leave, wait):
            break
        begin, g = begin + more * actions[rest, 4], g + more * actions[rest, 3]


@kernel(borrows=True, inner=True)
def expand(
    library: ActionArrays, fields: FieldArrays, passing: IntArray, traffic: TrafficArrays, busy: bool,
    intervals: SafeIntervals, heuristic: HeuristicArrays, memory: SearchMemory, query: FloatArray, seed: int, node: int,
) -> None:  # fmt: skip
    """Add all nodes that may come after one, if nothing is in the way and nothing cheaper leads there (function G)."""
    states, table, counts, nearest = memory.states, memory.table, memory.counts, memory.nearest
    actions, static, laid, chosen = library.actions, library.static, memory.laid, memory.chosen
    grid, place = fields.squares, fields.place
    x, y, t, g = states[at(node), 0], states[at(node), 1], states[at(node), 3], states[at(node), 4]
    c, s = math.cos(states[at(node), 2]), math.sin(states[at(node), 2])
    leave = leeway(nearest[2], x - states[0, 0], y - states[0, 1])
    foremost = states[at(node), 5] <= nearest[0] + _FOREMOST
    memory.stood[0], memory.stood[1] = 0, 0
    for k in range(lay(library, fields, passing, memory, query, seed, node)):
        row, a, state1, key = at(k), chosen[at(k), 0], chosen[at(k), 1], chosen[at(k), 2]
        action, x1, y1, heading1 = at(a), laid[row, 0], laid[row, 1], laid[row, 2]
        g1, t1 = g + actions[action, 3], t + actions[action, 4]
        entry = place_of(table, counts[SPAN], chosen[row, 3], key)
        if not busy and table[at(entry), 0] == key and states[at(table[at(entry), 1]), 4] <= g1:
            continue
        h = estimate_at(x1, y1, heading1, state1, heuristic)
        if not g1 + h < query[BOUND]:
            continue
        counts[CHECKS] += 1
        kind, noted = passing[action], foremost and h < nearest[0]
        u, v, field = actions[action, 5], actions[action, 6], fields.field_of[kind + 1]
        if not surely_free(grid, place, field, x + c * u - s * v, y + s * u + c * v, actions[action, 7]):
            first, end = library.firsts[action, 0], library.firsts[action + at(1), 0]
            disc = static_hit(static, first, end, grid, place, field, leave, x, y, c, s)
            if disc >= 0:
                if noted:
                    u, v = static[disc, 0], static[disc, 1]
                    note(memory, STATIC, x + c * u - s * v, y + s * u + c * v, kind)
                continue
        if busy:
            depart(
                library, fields, traffic, intervals, memory, query, node, a, state1, kind, x1, y1, heading1, h, noted
            )
        elif kind < 0 or passes(library, fields, traffic, False, memory, node, a, kind, t, 0.0, noted) == FREE:
            add(memory, library, query, key, entry, node, a, state1, x1, y1, heading1, t1, g1, h, 0)


@kernel(borrows=True)
def search_slice(
    library_handle: ArrayHandle[ActionArrays], fields_handle: ArrayHandle[FieldArrays],
    passing_handle: ArrayHandle[IntArray],
    traffic_handle: ArrayHandle[TrafficArrays], busy: bool, intervals_handle: ArrayHandle[SafeIntervals],
    heuristic_handle: ArrayHandle[HeuristicArrays], memory_handle: ArrayHandle[SearchMemory],
    query_handle: ArrayHandle[FloatArray], state: int, seed: int,
    until: int, anew: bool,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Search until so many nodes have been expanded.

    Args:
        library_handle: its actions.
        fields_handle: of the world.
        passing_handle: kind that each action passes here, `ORDINARY` or `NEVER`; (A,).
        traffic_handle: who is where and when.
        busy: whether there is any traffic.
        intervals_handle: of places.
        heuristic_handle: of the goal.
        memory_handle: memory, with the state of the search.
        query_handle: see the names above; (14,).
        state: of the behaviour graph at the start.
        seed: of the choice among clips.
        until: expanded nodes at which to stop.
        anew: whether the search begins; a search that is cut off goes on if it is false.

    Returns:
        How it ends, the node that is at the goal, nodes that were expanded and actions that were tested so far.
    """
    library, fields, passing, traffic = (
        library_handle.value,
        fields_handle.value,
        passing_handle.value,
        traffic_handle.value,
    )
    intervals, heuristic, memory, query = (
        intervals_handle.value,
        heuristic_handle.value,
        memory_handle.value,
        query_handle.value,
    )
    counts, branches = memory.counts, len(library.behaviors) * (4 if busy else 1)
    code, found = begin(library, fields, heuristic, memory, query, state) if anew else GOING, -1
    while code == GOING:
        if counts[QUEUED] == 0:
            code = NOTHING
        elif counts[EXPANDED] >= until:
            break
        elif counts[NODES] + branches > len(memory.states):
            code = FULL
        if code != GOING:
            break
        if 2 * (counts[NODES] + branches) > counts[SPAN]:
            widen(memory)
        node = pop(memory.heap, memory.states, counts)
        if memory.table[memory.links[node, 3], 1] != node:
            continue  # a cheaper way into its bin was found after it was put in
        if reached(library, traffic, busy, memory, query, node):
            code, found = FOUND, node
            break
        counts[EXPANDED] += 1
        expand(library, fields, passing, traffic, busy, intervals, heuristic, memory, query, seed, node)
    return code, found, counts[EXPANDED], counts[CHECKS]


@kernel
def trace(
    library_handle: ArrayHandle[ActionArrays], memory_handle: ArrayHandle[SearchMemory], node: int
) -> tuple[FloatArray, Pose, float, float]:
    """The way to a node: x, y, heading, time and action of every step (N, 5), and its own pose, time and cost."""
    library, states, links = library_handle.value, memory_handle.value.states, memory_handle.value.links
    count, before = 0, node
    while links[before, 0] >= 0:
        count, before = count + 1 + links[before, 4], links[before, 0]
    steps, row = np.empty((count, 5)), count
    x, y, heading, t, cost = states[node, 0], states[node, 1], states[node, 2], states[node, 3], states[node, 4]
    while row > 0:
        action, waits, node = links[node, 1], links[node, 4], links[node, 0]
        rest = library.states[links[node, 2], 1]
        for wait in range(waits, -1, -1):
            row -= 1
            for k in range(3):
                steps[row, k] = states[node, k]
            steps[row, 3] = states[node, 3] + (wait * library.actions[rest, 4] if wait > 0 else 0.0)
            steps[row, 4] = action if wait == waits else rest
    return steps, (x, y, heading), t, cost
