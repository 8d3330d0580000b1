"""The search in one compiled loop: A* over clips laid one after another (Lau 2009, algorithm 1), on plain arrays.

No kernel here divides or allocates: where something can raise, Numba counts references to every array in each call.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway._jit import kernel
from gaitway.arrays import FloatArray, IntArray
from gaitway.behavior._heuristic_kernels import HeuristicArrays, estimate
from gaitway.behavior._traffic_kernels import TrafficArrays, end_slot, first_slot, stay_hit, traffic_hit
from gaitway.behavior.fields import FieldArrays

Discs = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.int32]

GOING, FOUND, NOTHING, FULL = range(4)
"""How a slice of a search ends: it may go on, the goal is reached, nothing is left, or memory is full."""
ORDINARY, NEVER = -1, -2
"""Instead of the kind that an action passes."""
FREE, STATIC, TRAFFIC, SPECIAL = range(4)
"""What an action meets."""
EMPTY = -1
"""Key of an entry of the table that is not used."""
# entries of `Room.counts`
NODES, QUEUED, EXPANDED, CHECKS, NEAREST, RESTING, NOTES = range(7)
_BINS = 4.0
"""Bins of the closed set in a metre."""
_TURNS = 24
"""Bins of the closed set in a whole turn."""
_TICKS = 2.0
"""Bins of the closed set in a second."""
_LEAVING = 0.4
"""How far from the start [m] one may be as near to things as one is there."""
_PI = math.pi
_TURN = 2.0 * math.pi
_PER_TURN = 1.0 / (2.0 * math.pi)


class ActionArrays(NamedTuple):
    """What the search sees of a library; A actions, B behaviours, S states. All arrays are read-only."""

    moves: FloatArray
    """x, y [m], turn [rad], cost and duration [s]; (A, 5)."""
    behavior: IntArray
    """(A,)."""
    after: IntArray
    """State after each behaviour; (B,)."""
    follower_starts: IntArray
    """(S + 1,)."""
    followers: IntArray
    """Behaviours that may come in each state."""
    action_starts: IntArray
    """(B + 1,)."""
    rest: IntArray
    """Action that stands still in each state, or -1; (S,)."""
    around: Discs
    """One disc around all that an action sweeps; (A, 3)."""
    static_starts: IntArray
    static: Discs
    """Discs of the whole sweep, the largest first; (N, 3)."""
    window_starts: IntArray
    window_times: FloatArray
    """[s]; (W, 2)."""
    window_around: Discs
    """(W, 3)."""
    timed_starts: IntArray
    timed: Discs
    """Discs of each window, the largest first; (M, 3)."""
    reach_of: IntArray
    """Row of `ways`, or -1; (A,)."""
    ways: FloatArray
    """Direction [rad], half width, first station [m], stations in a metre and metres in a station; (P, 5)."""
    profile_starts: IntArray
    profiles: FloatArray
    """Height that is cleared over, and under, at each station [m]; (Q, 2)."""


class Room(NamedTuple):
    """Memory of a search, used again by the next. N nodes, and a table of H entries, a power of two."""

    states: FloatArray
    """x, y, heading, time, cost so far and estimate of the rest of each node; (N, 6)."""
    links: Numbers
    """Parent, action, state and entry of the table of each node; (N, 4)."""
    heap_costs: FloatArray
    """(N,)."""
    heap_nodes: Numbers
    """(N,)."""
    keys: IntArray
    """(H,)."""
    best: FloatArray
    """Least cost of each key; (H,)."""
    counts: IntArray
    """See the names above; (7,)."""
    nearest: FloatArray
    """Estimate at the node nearest to the goal, and at the nearest where one can stay; (2,)."""
    notes: FloatArray
    """What stood in the way: what it was, x, y, radius, kind or owner; the latest, round and round; (L, 5)."""


@kernel
def clearance_at(fields: FieldArrays, field: int, x: float, y: float) -> float:
    """Distance [m] that a point keeps at least; 0 beyond the grid."""
    column = (x - fields.place[0]) * fields.place[2]
    row = (y - fields.place[1]) * fields.place[2]
    grid = fields.clearances
    if not (0.0 <= column < grid.shape[2] and 0.0 <= row < grid.shape[1]):
        return 0.0
    return grid[field, int(row), int(column)]


@kernel
def static_hit(
    actions: ActionArrays, fields: FieldArrays, field: int, leave: float, x: float, y: float, c: float, s: float, a: int
) -> int:
    """The first disc of an action's sweep that comes nearer than it may to what stands there, or -1."""
    around = actions.around
    u, v = around[a, 0], around[a, 1]
    if clearance_at(fields, field, x + c * u - s * v, y + s * u + c * v) >= around[a, 2]:
        return -1
    discs = actions.static
    for k in range(actions.static_starts[a], actions.static_starts[a + 1]):
        u, v = discs[k, 0], discs[k, 1]
        if clearance_at(fields, field, x + c * u - s * v, y + s * u + c * v) < discs[k, 2] - leave:
            return k
    return -1


@kernel
def timed_hit(
    actions: ActionArrays, traffic: TrafficArrays, x: float, y: float, c: float, s: float, t: float, a: int, passing: int
) -> int:
    """Whom an action meets that begins at time t: index of the owner, or -1."""
    around, discs = actions.window_around, actions.timed
    for w in range(actions.window_starts[a], actions.window_starts[a + 1]):
        u, v = around[w, 0], around[w, 1]
        px, py, reach = x + c * u - s * v, y + s * u + c * v, around[w, 2]
        for slot in range(first_slot(t + actions.window_times[w, 0]), end_slot(t + actions.window_times[w, 1])):
            if traffic_hit(traffic, slot, px, py, reach, passing) < 0:
                continue
            for k in range(actions.timed_starts[w], actions.timed_starts[w + 1]):
                u, v = discs[k, 0], discs[k, 1]
                owner = traffic_hit(traffic, slot, x + c * u - s * v, y + s * u + c * v, discs[k, 2], passing)
                if owner >= 0:
                    return owner
    return -1


@kernel
def strip_extent(
    fields: FieldArrays, special: int, x: float, y: float, c: float, s: float, width: float, sign: float
) -> float:
    """Least distance, times a sign, along a way at which an obstacle lies in the strip beside it; infinity if nowhere."""
    specials = fields.specials
    points, rounding = specials.points, specials.solids[special, 0]
    wide = width + rounding
    least = np.inf
    for ring in range(specials.ring_starts[special], specials.ring_starts[special + 1]):
        first, end = specials.point_starts[ring], specials.point_starts[ring + 1]
        dx, dy = points[end - 1, 0] - x, points[end - 1, 1] - y
        along0, across0 = c * dx + s * dy, c * dy - s * dx
        for k in range(first, end):
            dx, dy = points[k, 0] - x, points[k, 1] - y
            along, across = c * dx + s * dy, c * dy - s * dx
            if abs(across) <= wide:
                least = min(least, sign * along)
            for side in (-wide, wide):
                if (across0 - side) * (across - side) < 0.0:
                    share = np.true_divide(side - across0, across - across0)
                    least = min(least, sign * (along0 + share * (along - along0)))
            along0, across0 = along, across
    return least - rounding


@kernel
def special_hit(
    actions: ActionArrays, fields: FieldArrays, kind: int, x: float, y: float, heading: float, t: float, a: int
) -> int:
    """Whether a special action passes all obstacles of its kind that it meets, and meets one.

    Returns:
        -1 if so, the obstacle that it does not pass, or the number of all obstacles if it meets none.
    """
    specials, reach = fields.specials, actions.reach_of[a]
    way = actions.ways
    direction, width = heading + way[reach, 0], way[reach, 1]
    c, s = math.cos(direction), math.sin(direction)
    start, end = t, t + actions.moves[a, 4]
    first, stations = actions.profile_starts[reach], actions.profile_starts[reach + 1] - actions.profile_starts[reach]
    far, passed = stations * way[reach, 4] + width, False
    for k in range(specials.kind_starts[kind], specials.kind_starts[kind + 1]):
        if specials.solids[k, 3] >= end or specials.solids[k, 4] <= start:
            continue
        dx, dy = specials.circles[k, 0] - x, specials.circles[k, 1] - y
        gap = far + specials.circles[k, 2]
        if dx * dx + dy * dy > gap * gap:
            continue
        low = strip_extent(fields, k, x, y, c, s, width, 1.0)
        high = -strip_extent(fields, k, x, y, c, s, width, -1.0)
        if low == np.inf:
            continue
        begin = max(math.floor((low - way[reach, 2]) * way[reach, 3] + 1e-9), 0)
        stop = min(math.ceil((high - way[reach, 2]) * way[reach, 3] - 1e-9), stations)
        over, under = np.inf, -np.inf
        for station in range(begin, stop):
            over = min(over, actions.profiles[first + station, 0])
            under = max(under, actions.profiles[first + station, 1])
        if over == np.inf:
            continue  # it lies before, beyond or beside all that the body sweeps
        if specials.solids[k, 2] > over and specials.solids[k, 1] < under:
            return k
        passed = True
    return -1 if passed else len(specials.circles)


@kernel
def stays_free(actions: ActionArrays, traffic: TrafficArrays, x: float, y: float, heading: float, t: float, a: int) -> bool:
    """Whether nobody comes by for ever where one stands still from time t on."""
    c, s, slot = math.cos(heading), math.sin(heading), first_slot(t)
    around, discs = actions.around, actions.static
    u, v = around[a, 0], around[a, 1]
    if stay_hit(traffic, slot, x + c * u - s * v, y + s * u + c * v, around[a, 2]) < 0:
        return True
    for k in range(actions.static_starts[a], actions.static_starts[a + 1]):
        u, v = discs[k, 0], discs[k, 1]
        if stay_hit(traffic, slot, x + c * u - s * v, y + s * u + c * v, discs[k, 2]) >= 0:
            return False
    return True


@kernel
def mixed(seed: int, node: int, behavior: int) -> int:
    """A number that looks random, the same for the same arguments."""
    value = (seed & 0x3FFFFFFF) * 0x85EBCA6B ^ (node & 0x3FFFFFFF) * 0x9E3779B1 ^ (behavior + 1) * 0x27D4EB2F
    value = ((value >> 15) ^ value) & 0x3FFFFFFF
    value = (value * 0x45D9F3B) & 0x7FFFFFFFFFFF
    return ((value >> 17) ^ value) & 0x3FFFFFFF


@kernel
def key_of(x: float, y: float, heading: float, t: float, state: int, last: float) -> int:
    """Number of the bin that a state lies in; times from `last` [s] on are all the same."""
    column, row = int(math.floor(x * _BINS)) & 0xFFFFF, int(math.floor(y * _BINS)) & 0xFFFFF
    turn = int(math.floor((heading + _PI) * (_TURNS * _PER_TURN) + 0.5))
    if turn >= _TURNS:
        turn -= _TURNS
    tick = int(max(math.floor(min(t, last) * _TICKS), -1.0) + 1.0) & 0xFFF
    return (column << 43) | (row << 23) | (turn << 18) | (state << 12) | tick


@kernel
def place_of(keys: IntArray, key: int) -> int:
    """Where a key is in the table, or the free entry where it would be."""
    mask = len(keys) - 1
    value = ((key & 0x7FFFFFFF) * 0x9E3779B1) ^ ((key >> 31) * 0x45D9F3B)
    place = (value ^ (value >> 29)) & mask
    while keys[place] != EMPTY and keys[place] != key:
        place = (place + 1) & mask
    return place


@kernel
def before(room: Room, f: float, node: int, place: int) -> bool:
    """Whether a node comes before the one at a place of the heap: by total cost, then estimate, then age."""
    other = room.heap_costs[place]
    if f != other:
        return f < other
    another = room.heap_nodes[place]
    h, another_h = room.states[node, 5], room.states[another, 5]
    return h < another_h or (h == another_h and node < another)


@kernel
def push(room: Room, f: float, node: int) -> None:
    """Put a node into the heap."""
    costs, nodes = room.heap_costs, room.heap_nodes
    place = room.counts[QUEUED]
    room.counts[QUEUED] += 1
    while place > 0:
        above = (place - 1) >> 1
        if not before(room, f, node, above):
            break
        costs[place], nodes[place] = costs[above], nodes[above]
        place = above
    costs[place], nodes[place] = f, node


@kernel
def pop(room: Room) -> int:
    """Take the first node out of the heap."""
    costs, nodes = room.heap_costs, room.heap_nodes
    first = nodes[0]
    room.counts[QUEUED] -= 1
    count = room.counts[QUEUED]
    f, node = costs[count], nodes[count]
    place, below = 0, 1
    while below < count:
        if below + 1 < count and before(room, costs[below + 1], nodes[below + 1], below):
            below += 1
        if before(room, f, node, below):
            break
        costs[place], nodes[place] = costs[below], nodes[below]
        place, below = below, 2 * below + 1
    costs[place], nodes[place] = f, node
    return first


@kernel
def note(room: Room, what: int, x: float, y: float, r: float, who: int) -> None:
    """Remember what stood in the way."""
    notes = room.notes
    row = room.counts[NOTES] & (len(notes) - 1)
    notes[row, 0], notes[row, 1], notes[row, 2], notes[row, 3], notes[row, 4] = what, x, y, r, who
    room.counts[NOTES] += 1


@kernel
def add_node(
    room: Room, place: int, key: int, x: float, y: float, heading: float, t: float, g: float, h: float, parent: int,
    action: int, state: int,
) -> int:  # fmt: skip
    """A new node, the best of its bin; its number."""
    node = room.counts[NODES]
    room.counts[NODES] += 1
    states, links = room.states, room.links
    states[node, 0], states[node, 1], states[node, 2] = x, y, heading
    states[node, 3], states[node, 4], states[node, 5] = t, g, h
    links[node, 0], links[node, 1], links[node, 2], links[node, 3] = parent, action, state, place
    room.keys[place], room.best[place] = key, g
    return node


@kernel
def begin(room: Room, heuristic: HeuristicArrays, start: FloatArray, state: int, last: float) -> None:
    """Put the first node in: x, y, heading and time; the room must be swept."""
    x, y, heading, t = start[0], start[1], start[2], start[3]
    h = estimate(x, y, heading, state, heuristic)
    key = key_of(x, y, heading, t, state, last)
    node = add_node(room, place_of(room.keys, key), key, x, y, heading, t, 0.0, h, -1, -1, state)
    push(room, h, node)
    room.nearest[0], room.nearest[1] = h, h
    room.counts[NEAREST], room.counts[RESTING] = node, node


@kernel
def sweep(room: Room) -> None:
    """Forget all nodes."""
    for node in range(room.counts[NODES]):
        room.keys[room.links[node, 3]] = EMPTY
    for k in range(len(room.counts)):
        room.counts[k] = 0


@kernel
def enlarge(old: Room, new: Room, last: float) -> None:
    """Carry a search over into more room."""
    for node in range(old.counts[NODES]):
        for k in range(6):
            new.states[node, k] = old.states[node, k]
        for k in range(3):
            new.links[node, k] = old.links[node, k]
        states = old.states
        key = key_of(states[node, 0], states[node, 1], states[node, 2], states[node, 3], old.links[node, 2], last)
        place = place_of(new.keys, key)
        if new.keys[place] == EMPTY or states[node, 4] < new.best[place]:
            new.keys[place], new.best[place] = key, states[node, 4]
        new.links[node, 3] = place
    for k in range(old.counts[QUEUED]):
        new.heap_costs[k], new.heap_nodes[k] = old.heap_costs[k], old.heap_nodes[k]


@kernel
def reached(
    actions: ActionArrays, traffic: TrafficArrays, busy: bool, room: Room, goal: FloatArray, node: int
) -> bool:
    """Whether a node is at the goal and one can stay there."""
    states = room.states
    dx, dy = states[node, 0] - goal[0], states[node, 1] - goal[1]
    rest = actions.rest[room.links[node, 2]]
    if rest < 0 or dx * dx + dy * dy > goal[2] * goal[2]:
        return False
    off = states[node, 2] - goal[3]
    if abs(off - _TURN * math.floor(off * _PER_TURN + 0.5)) > goal[4]:
        return False
    x, y, heading, t = states[node, 0], states[node, 1], states[node, 2], states[node, 3]
    return not busy or stays_free(actions, traffic, x, y, heading, t, rest)


@kernel
def expand(
    actions: ActionArrays, fields: FieldArrays, passing: IntArray, traffic: TrafficArrays, busy: bool,
    heuristic: HeuristicArrays, room: Room, last: float, options: FloatArray, seed: int, node: int,
) -> None:  # fmt: skip
    """Add what may come after a node: all behaviours that its state allows, one clip each."""
    states, moves = room.states, actions.moves
    x, y, heading, t, g = states[node, 0], states[node, 1], states[node, 2], states[node, 3], states[node, 4]
    state = room.links[node, 2]
    c, s = math.cos(heading), math.sin(heading)
    weight, bound, leave = options[0], options[1], options[2]
    if leave > 0.0 and math.hypot(x - states[0, 0], y - states[0, 1]) > _LEAVING:
        leave = 0.0
    bits = near_bits(fields, x, y)
    for k in range(actions.follower_starts[state], actions.follower_starts[state + 1]):
        behavior = actions.followers[k]
        a, end = actions.action_starts[behavior], actions.action_starts[behavior + 1]
        if end - a > 1:
            a += (mixed(seed, node, behavior) * (end - a)) >> 30
        kind = passing[a]
        if kind != ORDINARY and (kind == NEVER or not (bits >> kind) & 1):
            continue
        x1, y1 = x + c * moves[a, 0] - s * moves[a, 1], y + s * moves[a, 0] + c * moves[a, 1]
        heading1 = heading + moves[a, 2]
        heading1 -= _TURN * math.floor((heading1 + _PI) * _PER_TURN)
        t1, g1, state1 = t + moves[a, 4], g + moves[a, 3], actions.after[behavior]
        key = key_of(x1, y1, heading1, t1, state1, last)
        place = place_of(room.keys, key)
        if room.keys[place] == key and room.best[place] <= g1:
            continue
        h = estimate(x1, y1, heading1, state1, heuristic)
        if g1 + h >= bound:
            continue
        room.counts[CHECKS] += 1
        disc = static_hit(actions, fields, fields.field_of[kind + 1], leave, x, y, c, s, a)
        if disc >= 0:
            if h < room.nearest[0]:
                u, v, r = actions.static[disc, 0], actions.static[disc, 1], actions.static[disc, 2]
                note(room, STATIC, x + c * u - s * v, y + s * u + c * v, r, kind)
            continue
        if kind >= 0:
            special = special_hit(actions, fields, kind, x, y, heading, t, a)
            if special >= 0:
                if h < room.nearest[0] and special < len(fields.specials.circles):
                    note(room, SPECIAL, x, y, 0.0, special)
                continue
        if busy:
            owner = timed_hit(actions, traffic, x, y, c, s, t, a, kind)
            if owner >= 0:
                if h < room.nearest[0]:
                    note(room, TRAFFIC, x, y, 0.0, owner)
                continue
        child = add_node(room, place, key, x1, y1, heading1, t1, g1, h, node, a, state1)
        push(room, g1 + weight * h, child)
        if h < room.nearest[0]:
            room.nearest[0], room.counts[NEAREST] = h, child
        if h < room.nearest[1] and actions.rest[state1] >= 0:
            room.nearest[1], room.counts[RESTING] = h, child


@kernel
def near_bits(fields: FieldArrays, x: float, y: float) -> int:
    """Kinds of obstacle that a motion which begins here may pass, as bits."""
    near = fields.near
    if len(near) == 1:
        return 0
    column = (x - fields.place[0]) * fields.place[2]
    row = (y - fields.place[1]) * fields.place[2]
    if not (0.0 <= column < near.shape[1] and 0.0 <= row < near.shape[0]):
        return 0
    return int(near[int(row), int(column)])


@kernel
def search_slice(
    actions: ActionArrays, fields: FieldArrays, passing: IntArray, traffic: TrafficArrays, busy: bool,
    heuristic: HeuristicArrays, room: Room, last: float, goal: FloatArray, options: FloatArray, seed: int, until: int,
) -> tuple[int, int]:  # fmt: skip
    """Search until so many nodes have been expanded: how it ends, and the node that is at the goal.

    Args:
        actions: of the library.
        fields: of the world.
        passing: kind that each action passes here, `ORDINARY` or `NEVER`; (A,).
        traffic: who is where and when.
        busy: whether there is any traffic.
        heuristic: of the goal.
        room: memory, with the state of the search.
        last: time after which nothing changes any more [s]; -1 without traffic.
        goal: x, y, tolerance [m], heading and its tolerance [rad]; (5,).
        options: weight of the estimate, cost that a plan must be below, and how much nearer [m] than its discs a
            body may be to things around the start; (3,).
        seed: of the choice among clips.
        until: expanded nodes at which to stop.
    """
    branches = len(actions.after)
    while room.counts[QUEUED] > 0:
        if room.counts[EXPANDED] >= until:
            return GOING, -1
        if room.counts[NODES] + branches > len(room.states) or 2 * (room.counts[NODES] + branches) > len(room.keys):
            return FULL, -1
        node = pop(room)
        if room.best[room.links[node, 3]] < room.states[node, 4]:
            continue  # a cheaper way into its bin was found after it was put in
        if reached(actions, traffic, busy, room, goal, node):
            return FOUND, node
        room.counts[EXPANDED] += 1
        expand(actions, fields, passing, traffic, busy, heuristic, room, last, options, seed, node)
    return NOTHING, -1
