"""The search in one compiled loop: A* over clips laid one after another (Lau 2009, algorithm 1), on plain arrays."""

from __future__ import annotations

import math

import numpy as np

from gaitway.behavior._heuristic_kernels import HeuristicArrays, apart, astray, estimate_at, in_company
from gaitway.behavior._search_memory_kernels import (
    ACTION,
    BARRED,
    BEST_NODE,
    CHECKS,
    CHOSEN_ACTION,
    CHOSEN_HOME,
    CHOSEN_KEY,
    CHOSEN_STATE,
    ENTRY,
    EXPANDED,
    IMPOSSIBLE,
    KEY,
    LEAST,
    LEAST_AT_REST,
    MET,
    MOST_SLOWED,
    NEAREST,
    NO_MORE,
    NODE_COST,
    NODE_ESTIMATE,
    NODE_HEADING,
    NODE_TIME,
    NODE_X,
    NODE_Y,
    NODES,
    PARENT,
    QUEUED,
    RESTING,
    SHORTFALL,
    SPAN,
    STATE,
    STOOD,
    UNKNOWN,
    WAITS,
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
from gaitway.space._area_kernels import area_price, area_terms, dearness
from gaitway.space._check_kernels import (
    AROUND_RADIUS,
    AROUND_X,
    AROUND_Y,
    COST,
    DURATION,
    FIRST_ACTION,
    FIRST_FOLLOWER,
    FIRST_STATIC,
    MOST_STRETCH,
    MOVE_TURN,
    MOVE_X,
    MOVE_Y,
    NEXT_STATE,
    REST_ACTION,
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
    FOLLOWED_BY,
    FOUND,
    FULL,
    GOAL,
    GOAL_BLOCKED,
    GOAL_HEADING,
    GOAL_HEADING_TOLERANCE,
    GOAL_TOLERANCE,
    GOAL_X,
    GOAL_Y,
    GOING,
    NEVER,
    NOTHING,
    ORDINARY,
    START,
    START_BLOCKED,
    START_HEADING,
    START_TIME,
    START_X,
    START_Y,
    TURNS,
    WEIGHT,
    mixed,
    wrapped,
)
from gaitway.space._safe_interval_kernels import SafeIntervals, safe_interval
from gaitway.space._traffic_kernels import END_SLOT, FOREVER, OWNER, TrafficArrays, end_slot
from gaitway.space.fields import FieldArrays
from gaitway.space.plan import Pose

FREE, LATER, CLOSED = range(3)
"""Whether an action can be done: now, perhaps later, or not at all."""
STATIC, TRAFFIC, SPECIAL = range(3)
"""Kinds of blockers."""
_SPAN = 1024
"""Entries of the table that a search begins with; a small table stays in the processor's cache."""
LONGEST_WAIT = 60
"""Most resting clips that a character plays before an action."""
_DELAYS = (0.25, 0.5, 0.8, 1.2, 1.7, 2.4)
"""How much later a character tries to come to where it would be in the way of others [s]; `SearchMemory.later` has an
entry for each."""
_GENTLY = 2.0
"""How many times as much as needed steps together could be slowed down, if there are enough of them."""
_LATER = 0.4
"""Cost of a second that a character loses by walking slower [m/s]; standing still costs more."""
_FOREMOST = 0.25
"""Blockers are noted only at nodes whose estimate is at most this much above the least."""
_WITH_COMPANY = 6
"""Most resting clips that a character plays before an action for the sake of companions."""
_CLOSER = 0.1
"""How much nearer than usual those who walk in company may be to others [m]: discs are larger than bodies."""
_TURN = 2.0 * math.pi
_PER_RADIAN = 1.0 / _TURN


@kernel(borrows=True, inner=True)
def key_of(x: float, y: float, heading: float, number: int, state: int, query: FloatArray) -> int:
    """Return the key of the bin that a state lies in, in a safe interval of its place."""
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
    """Forget the last search and add the start; return `GOING`, or why there can be no plan."""
    sweep(memory)
    x, y, heading, t = query[START_X], query[START_Y], query[START_HEADING], query[START_TIME]
    h = estimate_at(x, y, heading, state, heuristic)
    key = key_of(x, y, heading, 0, state, query)
    memory.counts[SPAN] = _SPAN
    place = place_of(memory.table, _SPAN, home_of(key), key)
    states, links = memory.states, memory.links
    states[0, NODE_X], states[0, NODE_Y], states[0, NODE_HEADING] = x, y, heading
    states[0, NODE_TIME], states[0, NODE_COST], states[0, NODE_ESTIMATE] = t, 0.0, h
    links[0, PARENT], links[0, ACTION], links[0, STATE], links[0, ENTRY], links[0, WAITS] = -1, -1, state, place, 0
    memory.keys[0] = key
    memory.table[place, KEY], memory.table[place, BEST_NODE] = key, 0
    memory.counts[NODES], memory.stood[MET] = 1, -1
    push(memory.heap, states, memory.counts, query[WEIGHT] * h, 0)
    memory.nearest[LEAST], memory.nearest[LEAST_AT_REST], memory.nearest[SHORTFALL] = h, h, 0.0
    rest = library.states[state, REST_ACTION]
    if rest >= 0:
        memory.nearest[SHORTFALL] = shortage(library, fields, x, y, heading, rest)
    if memory.nearest[SHORTFALL] > query[CLOSE]:
        return START_BLOCKED
    some, together = parts_meet(fields.labels, fields.place, query[START:GOAL], query[GOAL:WEIGHT])
    return GOING if together else APART if some else GOAL_BLOCKED


@kernel(borrows=True, inner=True)
def follows(library: ActionArrays, state: int, behavior: int) -> bool:
    """Return whether a behaviour may come in a state."""
    for k in range(library.states[state, FIRST_FOLLOWER], library.states[state + 1, FIRST_FOLLOWER]):
        if library.followers[k] == behavior:
            return True
    return False


@kernel(borrows=True, inner=True)
def reached(
    library: ActionArrays, traffic: TrafficArrays, busy: bool, memory: SearchMemory, query: FloatArray, node: int
) -> bool:
    """Return whether a node is at the goal, and a character can stay there or goes on from there."""
    states = memory.states
    x, y, heading = states[node, NODE_X], states[node, NODE_Y], states[node, NODE_HEADING]
    if math.hypot(x - query[GOAL_X], y - query[GOAL_Y]) > query[GOAL_TOLERANCE]:
        return False
    state = memory.links[node, STATE]
    rest, off = library.states[state, REST_ACTION], heading - query[GOAL_HEADING]
    if abs(off - _TURN * math.floor(off / _TURN + 0.5)) > query[GOAL_HEADING_TOLERANCE]:
        return False
    if query[FOLLOWED_BY] >= 0.0:
        return follows(library, state, int(query[FOLLOWED_BY]))
    if rest < 0:
        return False
    return not busy or stays_free(library, traffic, x, y, heading, states[node, NODE_TIME], rest)


@kernel(borrows=True, inner=True)
def passes(
    library: ActionArrays, fields: FieldArrays, traffic: TrafficArrays, busy: bool, memory: SearchMemory, node: int,
    a: int, kind: int, t: float, leave: float, noted: bool, stretch: float,
) -> int:  # fmt: skip
    """Return whether an action from time t on passes its obstacles and meets no character; if not, note the blocker.

    Other characters may be nearer than usual by as much as `leave` [m]. The action takes `stretch` times as long as
    usual.

    Returns:
        `FREE`, `LATER` if waiting may help, or `CLOSED`.
    """
    states = memory.states
    x, y, heading = states[node, NODE_X], states[node, NODE_Y], states[node, NODE_HEADING]
    if kind >= 0:
        special = special_hit(library, fields.specials, kind, x, y, heading, t, a)
        if special >= 0:
            if noted and special < len(fields.specials.circles):
                note(memory, SPECIAL, x, y, special)
            return LATER
    if busy:
        c, s, likely = math.cos(heading), math.sin(heading), memory.stood[MET]
        group, met = timed_hit(library, traffic, x, y, c, s, t, a, kind, leave, stretch, likely)
        if group >= 0:
            if noted:
                note(memory, TRAFFIC, x, y, traffic.groups[group, OWNER])
            memory.stood[BARRED], memory.stood[MET] = traffic.groups[group, END_SLOT], met
            return CLOSED if traffic.groups[group, END_SLOT] == FOREVER else LATER
    return FREE


@kernel(borrows=True, inner=True)
def stands(
    library: ActionArrays, traffic: TrafficArrays, memory: SearchMemory, node: int, rest: int, leave: float, waits: int
) -> bool:
    """Return whether a character can play the resting action `waits` times at the node that is expanded."""
    states, stood = memory.states, memory.stood
    x, y, c, s = (
        states[node, NODE_X],
        states[node, NODE_Y],
        math.cos(states[node, NODE_HEADING]),
        math.sin(states[node, NODE_HEADING]),
    )
    while stood[STOOD] < waits and stood[NO_MORE] == 0:
        t = states[node, NODE_TIME] + stood[STOOD] * library.actions[rest, DURATION]
        free = timed_hit(library, traffic, x, y, c, s, t, rest, ORDINARY, leave, 1.0, stood[MET])[0] < 0
        stood[0 if free else 1] += 1
    return bool(stood[STOOD] >= waits)


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
    """Lay the actions that may follow a node: all behaviours of its state, one clip each (functions F and T).

    Returns:
        Number of rows of `SearchMemory.laid` and `SearchMemory.chosen` that are filled.
    """
    states, laid, chosen = memory.states, memory.laid, memory.chosen
    actions, behaviors = library.actions, library.behaviors
    x, y, heading = states[at(node), NODE_X], states[at(node), NODE_Y], states[at(node), NODE_HEADING]
    c, s, state, bits = math.cos(heading), math.sin(heading), memory.links[at(node), STATE], near_bits(fields, x, y)
    count = 0
    for k in range(library.states[state, FIRST_FOLLOWER], library.states[state + 1, FIRST_FOLLOWER]):
        behavior = at(library.followers[at(k)])
        a, takes = (
            behaviors[behavior, FIRST_ACTION],
            behaviors[behavior + at(1), FIRST_ACTION] - behaviors[behavior, FIRST_ACTION],
        )
        if takes > 1:
            a += (mixed(seed, node, int(behavior)) * takes) >> 30
        kind = passing[at(a)]
        if kind != ORDINARY and (kind == NEVER or not (bits >> kind) & 1):
            continue
        action, row = at(a), at(count)
        u, v, heading1 = actions[action, MOVE_X], actions[action, MOVE_Y], wrapped(heading + actions[action, MOVE_TURN])
        x1, y1, state1 = x + c * u - s * v, y + s * u + c * v, behaviors[behavior, NEXT_STATE]
        key = key_of(x1, y1, heading1, 0, state1, query)
        laid[row, 0], laid[row, 1], laid[row, 2] = x1, y1, heading1
        chosen[row, CHOSEN_ACTION], chosen[row, CHOSEN_STATE], chosen[row, CHOSEN_KEY], chosen[row, CHOSEN_HOME] = (
            a,
            state1,
            key,
            home_of(key),
        )
        count += 1
    return count


@kernel(borrows=True, inner=True)
def add(
    memory: SearchMemory, library: ActionArrays, query: FloatArray, key: int, entry: int, parent: int, a: int,
    state: int, x: float, y: float, heading: float, t: float, g: float, h: float, waits: int,
) -> None:  # fmt: skip
    """Add a node to its bin and to the queue."""
    states, links, table, counts, nearest = memory.states, memory.links, memory.table, memory.counts, memory.nearest
    node = int(counts[NODES])
    counts[NODES] += 1
    new, bin_ = at(node), at(entry)
    states[new, NODE_X], states[new, NODE_Y], states[new, NODE_HEADING] = x, y, heading
    states[new, NODE_TIME], states[new, NODE_COST], states[new, NODE_ESTIMATE] = t, g, h
    links[new, PARENT], links[new, ACTION], links[new, STATE] = parent, a, state
    links[new, ENTRY], links[new, WAITS] = entry, waits
    memory.keys[new] = key
    table[bin_, KEY], table[bin_, BEST_NODE] = key, node
    push(memory.heap, states, counts, g + query[WEIGHT] * h, node)
    if h < nearest[LEAST]:
        nearest[LEAST], counts[NEAREST] = h, node
    if h < nearest[LEAST_AT_REST] and library.states[state, REST_ACTION] >= 0:
        nearest[LEAST_AT_REST], counts[RESTING] = h, node


@kernel(borrows=True, inner=True)
def spare_before(library: ActionArrays, memory: SearchMemory, node: int) -> float:
    """Return by how much a character can come later to a node if the steps before it are as slow as they can be [s]."""
    states, links, actions, spare, count = memory.states, memory.links, library.actions, 0.0, 0
    while count < MOST_SLOWED:
        a, parent = links[node, ACTION], links[node, PARENT]
        if parent < 0 or links[node, WAITS] > 0 or actions[a, MOST_STRETCH] == 1.0:
            break
        spare += actions[a, MOST_STRETCH] * actions[a, DURATION] - states[node, NODE_TIME] + states[parent, NODE_TIME]
        count, node = count + 1, parent
    return spare


@kernel(borrows=True, inner=True, shared=True)
def slowed_down(
    library: ActionArrays, traffic: TrafficArrays, memory: SearchMemory, query: FloatArray, node: int, delay: float
) -> int:
    """Add nodes that come to where a node is, but later by a delay [s], since the steps before it are slower.

    As many of the last steps are slowed down alike as it takes, and more if there are, so that none gets very slow. The
    new nodes are not in the queue.

    Returns:
        The new node at the same place, or -1 if the steps cannot be slowed down so much, or would meet somebody.
    """
    states, links, actions, chain, counts = memory.states, memory.links, library.actions, memory.slowed, memory.counts
    spare, count, first = 0.0, 0, node
    while spare < _GENTLY * delay and count < MOST_SLOWED:
        a, parent = links[first, ACTION], links[first, PARENT]
        if parent < 0 or links[first, WAITS] > 0 or actions[a, MOST_STRETCH] == 1.0:
            break
        spare += actions[a, MOST_STRETCH] * actions[a, DURATION] - states[first, NODE_TIME] + states[parent, NODE_TIME]
        chain[count], count, first = first, count + 1, parent
    if spare < delay or counts[NODES] + count >= len(states):
        return -1
    share, t, nodes = delay / spare, states[first, NODE_TIME], counts[NODES]
    for k in range(count - 1, -1, -1):
        step = chain[k]
        a, before = links[step, ACTION], links[step, PARENT]
        x, y, heading = states[before, NODE_X], states[before, NODE_Y], states[before, NODE_HEADING]
        usual, took = actions[a, DURATION], states[step, NODE_TIME] - states[before, NODE_TIME]
        took += share * (actions[a, MOST_STRETCH] * usual - took)
        near = leaves(x - states[0, NODE_X], y - states[0, NODE_Y])
        leave, c, s = query[CROWDED] if near else 0.0, math.cos(heading), math.sin(heading)
        likely = memory.stood[MET]
        if timed_hit(library, traffic, x, y, c, s, t, a, ORDINARY, leave, took / usual, likely)[0] >= 0:
            return -1
        t, new = t + took, nodes + count - 1 - k
        for column in range(6):
            states[new, column] = states[step, column]
        for column in range(5):
            links[new, column] = links[step, column]
        states[new, NODE_TIME], links[new, PARENT], memory.keys[new] = t, new - 1, memory.keys[step]
    links[nodes, PARENT] = first
    counts[NODES] += count
    return int(nodes + count - 1)


@kernel(borrows=True, inner=True, shared=True)
def come_later(
    library: ActionArrays, fields: FieldArrays, traffic: TrafficArrays, intervals: SafeIntervals, memory: SearchMemory,
    query: FloatArray, node: int, a: int, state: int, kind: int, x: float, y: float, heading: float, h: float,
    leave: float, price: float, stretch: float,
) -> None:  # fmt: skip
    """Add an action that is not free yet, begun a little later because the steps before it are slower.

    Arguments are those of `depart`. Others may be nearer than usual by as much as `leave` [m].
    """
    states, table, counts = memory.states, memory.table, memory.counts
    usual = library.actions[a, DURATION] * stretch
    if library.actions[a, MOST_STRETCH] == 1.0:
        return  # what leads into a jog would set in suddenly after slow steps
    later = memory.later
    if memory.spare[0] < 0.0:
        memory.spare[0] = spare_before(library, memory, node)
    for k, delay in enumerate(_DELAYS):
        if delay > memory.spare[0]:
            break
        if later[k] == IMPOSSIBLE:
            continue
        begin, g = states[node, NODE_TIME] + delay, states[node, NODE_COST] + price + _LATER * delay
        room = counts[NODES] + MOST_SLOWED < len(states) and 2 * (counts[NODES] + MOST_SLOWED) < counts[SPAN]
        if not (room and g + h < query[BOUND]):
            break
        if end_slot(begin + usual) < memory.stood[BARRED]:
            continue
        number, _ = safe_interval(traffic, intervals, x, y, begin + usual)
        key = key_of(x, y, heading, number, state, query)
        entry = place_of(table, counts[SPAN], home_of(key), key)
        if table[entry, KEY] == key and states[table[entry, BEST_NODE], NODE_COST] <= g:
            continue
        if passes(library, fields, traffic, True, memory, node, a, kind, begin, leave, False, stretch) != FREE:
            continue
        if later[k] == UNKNOWN:
            later[k] = slowed_down(library, traffic, memory, query, node, delay)
        if later[k] >= 0:
            add(memory, library, query, key, entry, later[k], a, state, x, y, heading, begin + usual, g, h, 0)
            break


@kernel(borrows=True, inner=True)
def depart(
    library: ActionArrays, fields: FieldArrays, traffic: TrafficArrays, intervals: SafeIntervals, memory: SearchMemory,
    query: FloatArray, node: int, a: int, state: int, kind: int, x: float, y: float, heading: float, h: float,
    noted: bool, price: float, stretch: float, heuristic: HeuristicArrays,
) -> None:  # fmt: skip
    """Add an action among traffic as soon as it is free, and again for each later safe interval of its end.

    Args:
        library: the actions.
        fields: fields of the world.
        traffic: other characters and movers.
        intervals: safe intervals of places.
        memory: memory of the search.
        query: numbers of the query.
        node: node where the action begins.
        a: the action; static obstacles do not block it.
        state: state after it.
        kind: kind of obstacle that it passes, or `ORDINARY`.
        x: x of the end of the action [m].
        y: y of the end of the action [m].
        heading: heading at the end of the action [rad].
        h: estimate of the cost from that end to the goal.
        noted: whether to note who blocks it.
        price: cost of the action where it is.
        stretch: how many times as long as usual it takes there.
        heuristic: estimates for the goal, with companions to wait beside.
    """
    states, table, counts, actions = memory.states, memory.table, memory.counts, library.actions
    rest = library.states[memory.links[node, STATE], REST_ACTION]
    begin, g, wait, latest = states[node, NODE_TIME], states[node, NODE_COST] + price, 0, -1
    took = actions[a, DURATION] * stretch
    stay = dearness(fields.areas, states[node, NODE_X], states[node, NODE_Y])
    leave = (
        query[CROWDED]
        if leaves(states[node, NODE_X] - states[0, NODE_X], states[node, NODE_Y] - states[0, NODE_Y])
        else 0.0
    )
    if heuristic.company.size > 0:
        leave = max(leave, _CLOSER)
    memory.stood[BARRED] = 0
    while g + h < query[BOUND] and counts[NODES] < len(states) and 2 * counts[NODES] < counts[SPAN]:
        # what bars the way stays where it is until a slot; before that, no later begin is free
        barred = end_slot(begin + took) < memory.stood[BARRED]
        number, final = (latest, False) if barred else safe_interval(traffic, intervals, x, y, begin + took)
        if number != latest:
            key = key_of(x, y, heading, number, state, query)
            entry = place_of(table, counts[SPAN], home_of(key), key)
            new = table[entry, KEY] != key or states[table[entry, BEST_NODE], NODE_COST] > g
            answer = FREE
            if new:
                answer = passes(library, fields, traffic, True, memory, node, a, kind, begin, leave, noted, stretch)
            if new and answer == FREE:
                left = h + apart(x, y, begin + took, heuristic)
                add(memory, library, query, key, entry, node, a, state, x, y, heading, begin + took, g, left, wait)
            if answer == CLOSED or (answer == FREE and final):
                break
            latest = number if answer == FREE else latest
            if answer == LATER and rest < 0:  # who is on the move cannot wait, but can come later
                left = h + apart(x, y, begin + took, heuristic)
                come_later(
                    library, fields, traffic, intervals, memory, query, node, a, state, kind, x, y, heading, left,
                    leave, price, stretch,
                )  # fmt: skip
        if heuristic.company.size > 0 and wait >= _WITH_COMPANY:
            break  # whoever is waited for any longer is waited for by other steps
        more = 1 + wait // 4  # after a long wait a little more hardly matters
        wait, noted = wait + more, False
        if rest < 0 or wait > LONGEST_WAIT or not stands(library, traffic, memory, node, rest, leave, wait):
            break
        alone = astray(states[node, NODE_X], states[node, NODE_Y], begin, heuristic) * actions[rest, DURATION]
        begin, g = begin + more * actions[rest, DURATION], g + more * (actions[rest, COST] * stay + alone)


@kernel(borrows=True, inner=True)
def expand(
    library: ActionArrays, fields: FieldArrays, passing: IntArray, traffic: TrafficArrays, busy: bool,
    intervals: SafeIntervals, heuristic: HeuristicArrays, memory: SearchMemory, query: FloatArray, seed: int, node: int,
) -> None:  # fmt: skip
    """Add all nodes that may follow one, if no obstacle blocks them and no cheaper node is there (function G)."""
    states, table, counts, nearest = memory.states, memory.table, memory.counts, memory.nearest
    actions, static, laid, chosen = library.actions, library.static, memory.laid, memory.chosen
    grid, place = fields.squares, fields.place
    x, y, t, g = (
        states[at(node), NODE_X],
        states[at(node), NODE_Y],
        states[at(node), NODE_TIME],
        states[at(node), NODE_COST],
    )
    c, s = math.cos(states[at(node), NODE_HEADING]), math.sin(states[at(node), NODE_HEADING])
    leave = leeway(nearest[SHORTFALL], x - states[0, NODE_X], y - states[0, NODE_Y])
    foremost = states[at(node), NODE_ESTIMATE] <= nearest[LEAST] + _FOREMOST
    memory.stood[STOOD], memory.stood[NO_MORE], memory.spare[0] = 0, 0, -1.0
    for delay in range(len(memory.later)):
        memory.later[delay] = UNKNOWN
    for k in range(lay(library, fields, passing, memory, query, seed, node)):
        row, a, state1, key = (
            at(k),
            chosen[at(k), CHOSEN_ACTION],
            chosen[at(k), CHOSEN_STATE],
            chosen[at(k), CHOSEN_KEY],
        )
        action, x1, y1, heading1 = at(a), laid[row, 0], laid[row, 1], laid[row, 2]
        price, stretch = actions[action, COST], 1.0
        if fields.areas.cells.size > 0:
            usual = actions[action, DURATION]
            factor, stretch = area_terms(fields.areas, x, y, x1, y1, usual, actions[action, MOST_STRETCH])
            price = area_price(price, usual, factor, stretch)
        if heuristic.company.size > 0 or heuristic.company_frame[2] > 1.0:
            usual = actions[action, DURATION]
            slower = in_company(x1, y1, t + usual * stretch, usual, actions[action, MOST_STRETCH], heuristic)
            stretch = max(stretch, slower)
            price += astray(x1, y1, t + usual * stretch, heuristic) * usual * stretch
        g1, t1 = g + price, t + actions[action, DURATION] * stretch
        entry = place_of(table, counts[SPAN], chosen[row, CHOSEN_HOME], key)
        if not busy and table[at(entry), KEY] == key and states[at(table[at(entry), BEST_NODE]), NODE_COST] <= g1:
            continue
        h = estimate_at(x1, y1, heading1, state1, heuristic)
        if not g1 + h < query[BOUND]:
            continue
        counts[CHECKS] += 1
        kind, noted = passing[action], foremost and h < nearest[LEAST]
        u, v, field = actions[action, AROUND_X], actions[action, AROUND_Y], fields.field_of[kind + 1]
        if not surely_free(grid, place, field, x + c * u - s * v, y + s * u + c * v, actions[action, AROUND_RADIUS]):
            first, end = library.firsts[action, FIRST_STATIC], library.firsts[action + at(1), FIRST_STATIC]
            disc = static_hit(static, first, end, grid, place, field, leave, x, y, c, s)
            if disc >= 0:
                if noted:
                    u, v = static[disc, 0], static[disc, 1]
                    note(memory, STATIC, x + c * u - s * v, y + s * u + c * v, kind)
                continue
        if busy:
            depart(
                library, fields, traffic, intervals, memory, query, node, a, state1, kind, x1, y1, heading1, h, noted,
                price, stretch, heuristic,
            )  # fmt: skip
        elif kind < 0 or passes(library, fields, traffic, False, memory, node, a, kind, t, 0.0, noted, 1.0) == FREE:
            add(memory, library, query, key, entry, node, a, state1, x1, y1, heading1, t1, g1, h, 0)


@kernel(borrows=True)
def search_slice(
    library_handle: ArrayHandle[ActionArrays], fields_handle: ArrayHandle[FieldArrays],
    passing_handle: ArrayHandle[IntArray], traffic_handle: ArrayHandle[TrafficArrays], busy: bool,
    intervals_handle: ArrayHandle[SafeIntervals], heuristic_handle: ArrayHandle[HeuristicArrays],
    memory_handle: ArrayHandle[SearchMemory], query_handle: ArrayHandle[FloatArray], state: int, seed: int, until: int,
    anew: bool,
) -> tuple[int, int, int, int]:  # fmt: skip
    """Search until a number of nodes has been expanded.

    Args:
        library_handle: the actions.
        fields_handle: fields of the world.
        passing_handle: kind of obstacle that each action passes here, `ORDINARY` or `NEVER`; (A,).
        traffic_handle: other characters and movers.
        busy: whether there is any traffic.
        intervals_handle: safe intervals of places.
        heuristic_handle: estimates for the goal.
        memory_handle: memory, with the state of the search.
        query_handle: numbers of the query; see `space._query_kernels`; (NUMBERS,).
        state: state of the behaviour graph at the start.
        seed: seed of the choice among clips.
        until: number of expanded nodes at which to stop.
        anew: whether to begin a search; otherwise the last one goes on.

    Returns:
        How it ended, the node at the goal, the nodes expanded and the actions tested so far.
    """
    library, fields, passing = library_handle.value, fields_handle.value, passing_handle.value
    traffic, intervals, heuristic = traffic_handle.value, intervals_handle.value, heuristic_handle.value
    memory, query = memory_handle.value, query_handle.value
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
        if memory.table[memory.links[node, ENTRY], BEST_NODE] != node:
            continue  # a cheaper path to its bin was found after it had been added
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
    """Return the path to a node: the rows of its steps (see `LaidSteps`) (N, 6), and its pose, time and cost."""
    library, states, links = library_handle.value, memory_handle.value.states, memory_handle.value.links
    count, before = 0, node
    while links[before, PARENT] >= 0:
        count, before = count + 1 + links[before, WAITS], links[before, PARENT]
    steps, row = np.empty((count, 6)), count
    x, y, heading, t, cost = (
        states[node, NODE_X],
        states[node, NODE_Y],
        states[node, NODE_HEADING],
        states[node, NODE_TIME],
        states[node, NODE_COST],
    )
    while row > 0:
        action, waits, after, node = links[node, ACTION], links[node, WAITS], node, links[node, PARENT]
        rest = library.states[links[node, STATE], REST_ACTION]
        took, usual = states[after, NODE_TIME] - states[node, NODE_TIME], library.actions[action, DURATION]
        if waits > 0:
            took -= waits * library.actions[rest, DURATION]
        slow = took > usual + 1e-9
        for wait in range(waits, -1, -1):
            row -= 1
            for k in range(3):
                steps[row, k] = states[node, k]
            steps[row, 3] = states[node, NODE_TIME] + (wait * library.actions[rest, DURATION] if wait > 0 else 0.0)
            steps[row, 4] = action if wait == waits else rest
            steps[row, 5] = usual / took if slow and wait == waits else 1.0
    return steps, (x, y, heading), t, cost
