"""Collision checks of an action (function G of Lau 2009, algorithm 1), on plain arrays.

Kernels that are called often take arrays and not tuples of them: to take an array out of a tuple costs more than to
read from it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.space._distance_kernels import Squares
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
    KIND,
    TrafficArrays,
    block_of,
    end_slot,
    first_link,
    first_slot,
    is_first,
    meets,
    stay_hit,
)
from gaitway.space.fields import FieldArrays, Labels, SpecialArrays
from gaitway.world.regions import MARGIN, WIDTH_STEP

_LEAVING = 0.4
"""Distance from the start within which a character may be as near to obstacles as it is there [m]."""
_LEEWAY = 0.01
"""How much nearer it may then come, since behaviours differ in the room that they take at first [m]."""
_LEAST_LEEWAY = 0.03
"""How much nearer to obstacles than usual any character may come near its start [m]; discs are larger than bodies by
more than this."""
_LOOSER = 0.1
"""How much farther the discs of windows may reach than the discs of a whole sweep [m]."""


# columns of `ActionArrays`
MOVE_X, MOVE_Y, MOVE_TURN, COST, DURATION, AROUND_X, AROUND_Y, AROUND_RADIUS, MOST_STRETCH = range(9)
"""Columns of `actions`: the move [m, rad], its cost and duration [s], the disc around all that its body sweeps [m], and
how many times as long it may take at most."""
FIRST_STATIC, FIRST_WINDOW, REACH_ROW = range(3)
"""Columns of `firsts`: first static disc, first window, and the row of `ways` or -1."""
NEXT_STATE, FIRST_ACTION = range(2)
"""Columns of `behaviors`: the state after a behaviour, and its first action."""
FIRST_FOLLOWER, REST_ACTION = range(2)
"""Columns of `states`: the first follower of a state, and the action that stands still in it or -1."""
WINDOW_BEGIN, WINDOW_END, WINDOW_X, WINDOW_Y, WINDOW_RADIUS = range(5)
"""Columns of `windows`: begin and end [s], and the disc around the body during that time [m]."""
PASS_HEADING, PASS_HALF_WIDTH, PASS_ORIGIN, PASS_RATE = range(4)
"""Columns of `ways`: direction [rad], half width, first station [m], and stations per metre. Behind them are the widths
of low and then of high parts of the body, `WIDTHS` each; see `Reach.width`."""
WIDTHS = 48
"""Number of heights for which a body knows its width; they are `WIDTH_STEP` apart."""
CLEARED_OVER, CLEARED_UNDER = range(2)
"""Columns of `profiles`: height of obstacles that the body clears, over them and under them [m]."""


class ActionArrays(NamedTuple):
    """A library as kernels see it; A actions, B behaviours, S states, W windows. All arrays are read-only."""

    actions: FloatArray
    """Moves, costs, durations, surrounding discs and greatest stretch of the actions; (A, 9)."""
    firsts: IntArray
    """First disc, first window and passing profile of each action; (A + 1, 3)."""
    behaviors: IntArray
    """Next state and first action of each behaviour; (B + 1, 2)."""
    states: IntArray
    """First follower and resting action of each state; (S + 1, 2)."""
    followers: IntArray
    """Behaviours to try, state after state."""
    static: FloatArray
    """Discs (x, y, radius) of whole sweeps, the largest of each action first [m]; (N, 3)."""
    windows: FloatArray
    """Time spans of the windows, and the disc around each; (W, 5)."""
    timed_starts: IntArray
    """First timed disc of each window; (W + 1,)."""
    timed: FloatArray
    """Discs of each window, the largest first [m]; (M, 3)."""
    ways: FloatArray
    """How each of P special actions passes obstacles; (P, 4 + 2 WIDTHS)."""
    profile_starts: IntArray
    """First station of each special action; (P + 1,)."""
    profiles: FloatArray
    """Heights that are cleared at each station; (Q, 2)."""


@kernel(borrows=True, inner=True)
def square_at(grid: Squares, place: FloatArray, field: int, x: float, y: float) -> float:
    """Return a lower bound of a point's squared distance to obstacles [m^2], see `distances`; 0 outside the grid."""
    column, row = (x - place[0]) * place[2] - 0.5, (y - place[1]) * place[2] - 0.5
    if not (0.0 <= column < grid.shape[2] - 1 and 0.0 <= row < grid.shape[1] - 1):
        return 0.0
    # indices that cannot be negative need no test
    i, j, one, f = np.uintp(row), np.uintp(column), np.uintp(1), np.uintp(field)
    u, v = column - j, row - i
    below = (1.0 - u) * grid[f, i, j] + u * grid[f, i, j + one]
    above = (1.0 - u) * grid[f, i + one, j] + u * grid[f, i + one, j + one]
    return float(max((1.0 - v) * below + v * above - (u * (1.0 - u) + v * (1.0 - v)) * place[3], 0.0))


@kernel(borrows=True, inner=True)
def surely_free(grid: Squares, place: FloatArray, field: int, x: float, y: float, radius: float) -> bool:
    """Return whether the value of one cell alone shows that `square_at` is no less than the square of a radius [m]."""
    column, row = (x - place[0]) * place[2], (y - place[1]) * place[2]
    if not (0.0 <= column < grid.shape[2] and 0.0 <= row < grid.shape[1]):
        return False
    wide = radius + place[4]
    return bool(grid[np.uintp(field), np.uintp(row), np.uintp(column)] >= wide * wide)


@kernel(borrows=True, inner=True)
def clearance_at(grid: Squares, place: FloatArray, field: int, x: float, y: float) -> float:
    """Return a lower bound of a point's distance to obstacles [m]."""
    return math.sqrt(square_at(grid, place, field, x, y))


@kernel(borrows=True, inner=True)
def static_hit(
    discs: FloatArray, first: int, end: int, grid: Squares, place: FloatArray, field: int, leave: float,
    x: float, y: float, c: float, s: float,
) -> int:  # fmt: skip
    """Return the first of some discs that comes too near to an obstacle, or -1.

    Args:
        discs: discs in the frame of the pose at (x, y) that faces (c, s); (N, 3).
        first: first disc to test.
        end: disc after the last one to test.
        grid: squared distances of all fields.
        place: x, y of the lower left corner of the grid [m], and cells per metre.
        field: number of the field to read.
        leave: distance by which a disc may come nearer than its radius [m].
        x: x of the pose [m].
        y: y of the pose [m].
        c: cosine of the heading.
        s: sine of the heading.
    """
    for k in range(first, end):
        disc = np.uintp(k)
        u, v, reach = discs[disc, 0], discs[disc, 1], max(discs[disc, 2] - leave, 0.0)
        px, py = x + c * u - s * v, y + s * u + c * v
        if not surely_free(grid, place, field, px, py, reach) and square_at(grid, place, field, px, py) < reach * reach:
            return k
    return -1


@kernel(borrows=True, inner=True)
def timed_hit(
    library: ActionArrays, traffic: TrafficArrays, x: float, y: float, c: float, s: float, t: float, a: int, kind: int,
    leave: float, stretch: float, likely: int,
) -> tuple[int, int]:  # fmt: skip
    """Return the group of traffic that an action meets which begins at time t and passes a kind of obstacle, or -1.

    Discs may overlap by as much as `leave` [m]. The action takes `stretch` times as long as usual.

    Args:
        library: the actions.
        traffic: other characters and movers.
        x: x of the pose where the action begins [m].
        y: y of that pose [m].
        c: cosine of its heading.
        s: sine of its heading.
        t: when the action begins [s].
        a: the action.
        kind: kind of obstacle that it passes, or a negative number.
        leave: how much discs may overlap [m].
        stretch: how many times as long as usual the action takes.
        likely: a chunk that is looked at first, since it was met by a similar action; or -1.

    Returns:
        The group and its chunk; twice -1 if the action meets nothing.
    """
    actions, keys, heads, links, chunks = library.actions, traffic.keys, traffic.heads, traffic.links, traffic.chunks
    u, v, r = actions[a, AROUND_X], actions[a, AROUND_Y], actions[a, AROUND_RADIUS] + _LOOSER
    px, py = x + c * u - s * v, y + s * u + c * v
    first, end = first_slot(t), end_slot(t + stretch * actions[a, DURATION])
    era, last_era, found, met = 0, ((end - 1) >> ERA) + 1, -1, -1
    first_era, first_column, first_row = (first >> ERA) + 1, block_of(px - r), block_of(py - r)
    there = likely >= 0 and chunks[likely, BEGIN] < end and chunks[likely, END] > first
    if there and meets(traffic.chunk_around, likely, px, py, r):
        found, met = chunk_hit(library, traffic, x, y, c, s, t, a, kind, leave, stretch, likely), likely
    while era <= last_era and found < 0 and len(keys) > 0:
        for column in range(first_column, block_of(px + r) + 1):
            for row in range(first_row, block_of(py + r) + 1):
                link = first_link(keys, heads, era, column, row)
                while link >= 0:
                    chunk = links[link, 0]
                    link = links[link, 1]
                    there = chunks[chunk, BEGIN] < end and chunks[chunk, END] > first and chunk != likely
                    new = there and is_first(traffic, chunk, era, column, row, first_era, first_column, first_row)
                    if new and found < 0 and meets(traffic.chunk_around, chunk, px, py, r):
                        found, met = chunk_hit(library, traffic, x, y, c, s, t, a, kind, leave, stretch, chunk), chunk
        era = max(era + 1, first_era)
    return found, met if found >= 0 else -1


@kernel(borrows=True, inner=True)
def chunk_hit(
    library: ActionArrays, traffic: TrafficArrays, x: float, y: float, c: float, s: float, t: float, a: int, kind: int,
    leave: float, stretch: float, chunk: int,
) -> int:  # fmt: skip
    """Return the group of a chunk of traffic that an action meets, or -1."""
    windows, starts, discs = library.windows, library.timed_starts, library.timed
    around, groups, others = traffic.around, traffic.groups, traffic.discs
    first, end = traffic.chunks[chunk, FIRST_GROUP], traffic.chunks[chunk, END_GROUP]
    for w in range(library.firsts[a, FIRST_WINDOW], library.firsts[a + 1, FIRST_WINDOW]):
        u, v, r = windows[w, WINDOW_X], windows[w, WINDOW_Y], windows[w, WINDOW_RADIUS]
        px, py = x + c * u - s * v, y + s * u + c * v
        if not meets(traffic.chunk_around, chunk, px, py, r):
            continue
        begin = first_slot(t + stretch * windows[w, WINDOW_BEGIN])
        stop = end_slot(t + stretch * windows[w, WINDOW_END])
        while first < end and groups[np.uintp(first), END_SLOT] <= begin:
            first += 1  # windows begin one after another, so that no later one meets it either
        for group in range(first, end):
            g = np.uintp(group)
            if groups[g, FIRST_SLOT] >= stop:
                break  # groups of a chunk begin one after another
            if groups[g, END_SLOT] <= begin or (kind >= 0 and groups[g, KIND] == kind):
                continue
            if not meets(around, group, px, py, r):
                continue
            first_disc, end_disc = groups[g, FIRST_DISC], groups[g, END_DISC]
            for k in range(starts[w], starts[w + 1]):
                u, v, q = discs[np.uintp(k), 0], discs[np.uintp(k), 1], discs[np.uintp(k), 2]
                qx, qy = x + c * u - s * v, y + s * u + c * v
                if meets(around, group, qx, qy, q):
                    for other in range(first_disc, end_disc):
                        if meets(others, other, qx, qy, q - leave):
                            return group
    return -1


@kernel(borrows=True, inner=True)
def stays_free(
    library: ActionArrays, traffic: TrafficArrays, x: float, y: float, heading: float, t: float, a: int
) -> bool:
    """Return whether a character that stands still by action a from time t on is never met by another."""
    c, s, slot = math.cos(heading), math.sin(heading), first_slot(t)
    around, discs = library.actions, library.static
    u, v = around[a, AROUND_X], around[a, AROUND_Y]
    if stay_hit(traffic, slot, x + c * u - s * v, y + s * u + c * v, around[a, AROUND_RADIUS]) < 0:
        return True
    for k in range(library.firsts[a, FIRST_STATIC], library.firsts[a + 1, FIRST_STATIC]):
        u, v = discs[k, 0], discs[k, 1]
        if stay_hit(traffic, slot, x + c * u - s * v, y + s * u + c * v, discs[k, 2]) >= 0:
            return False
    return True


@kernel(borrows=True, inner=True)
def strip_extent(
    specials: SpecialArrays, special: int, x: float, y: float, c: float, s: float, width: float
) -> tuple[float, float]:
    """Return from where to where an obstacle lies in a strip along a path [m]; infinity to minus infinity if nowhere.

    The strip reaches `width` [m] to either side of the line from (x, y) in the direction (c, s).
    """
    points, rounding = specials.points, specials.solids[special, 0]
    wide = width + rounding
    low, high = np.inf, -np.inf
    for ring in range(specials.ring_starts[special], specials.ring_starts[special + 1]):
        first, end = specials.point_starts[ring], specials.point_starts[ring + 1]
        dx, dy = points[end - 1, 0] - x, points[end - 1, 1] - y
        along0, across0 = c * dx + s * dy, c * dy - s * dx
        for k in range(first, end):
            dx, dy = points[k, 0] - x, points[k, 1] - y
            along, across = c * dx + s * dy, c * dy - s * dx
            if abs(across) <= wide:
                low, high = min(low, along), max(high, along)
            for side in (-wide, wide):
                if (across0 - side) * (across - side) < 0.0:
                    cut = along0 + (side - across0) / (across - across0) * (along - along0)
                    low, high = min(low, cut), max(high, cut)
            along0, across0 = along, across
    return low - rounding, high + rounding


@kernel(borrows=True, inner=True)
def pass_width(library: ActionArrays, reach: int, bottom: float, top: float) -> float:
    """Return how far from its line a body may touch a thing between two heights over the floor [m]; `Reach.width`."""
    out = library.ways[reach, PASS_HALF_WIDTH]
    below, above = math.ceil((top + MARGIN) / WIDTH_STEP), math.floor((bottom - MARGIN) / WIDTH_STEP)
    if 0 <= below < WIDTHS:
        out = min(out, library.ways[reach, PASS_RATE + 1 + below])
    if 0 <= above < WIDTHS:
        out = min(out, library.ways[reach, PASS_RATE + 1 + WIDTHS + above])
    return float(out)


@kernel(borrows=True, inner=True)
def special_hit(
    library: ActionArrays, specials: SpecialArrays, kind: int, x: float, y: float, heading: float, t: float, a: int
) -> int:
    """Return whether a special action passes all obstacles of its kind that it meets, and meets one.

    Returns:
        -1 if so, the obstacle that it does not pass, or the number of all obstacles if it meets none.
    """
    reach = library.firsts[a, REACH_ROW]
    direction, width = heading + library.ways[reach, PASS_HEADING], library.ways[reach, PASS_HALF_WIDTH]
    origin, rate = library.ways[reach, PASS_ORIGIN], library.ways[reach, PASS_RATE]
    c, s, until = math.cos(direction), math.sin(direction), t + library.actions[a, DURATION]
    first, stations = library.profile_starts[reach], library.profile_starts[reach + 1] - library.profile_starts[reach]
    far, passed = stations / rate + width, False
    for k in range(specials.kind_starts[kind], specials.kind_starts[kind + 1]):
        if specials.solids[k, 3] >= until or specials.solids[k, 4] <= t:
            continue
        if math.hypot(specials.circles[k, 0] - x, specials.circles[k, 1] - y) > far + specials.circles[k, 2]:
            continue
        strip = pass_width(library, reach, specials.solids[k, 1], specials.solids[k, 2])
        low, high = strip_extent(specials, k, x, y, c, s, strip)
        if low > high:
            continue
        begin = int(max(math.floor((low - origin) * rate + 1e-9), 0))
        end = int(min(math.ceil((high - origin) * rate - 1e-9), stations))
        over, under = np.inf, -np.inf
        for station in range(first + begin, first + end):
            over, under = (
                min(over, library.profiles[station, CLEARED_OVER]),
                max(under, library.profiles[station, CLEARED_UNDER]),
            )
        if over == np.inf:
            continue  # it lies before or beyond all that the body sweeps
        if specials.solids[k, 2] > over and specials.solids[k, 1] < under:
            return k
        passed = True
    return -1 if passed else len(specials.circles)


@kernel(borrows=True, inner=True)
def near_bits(fields: FieldArrays, x: float, y: float) -> int:
    """Return the kinds of obstacle that a motion which begins here may pass, as bits."""
    near, place = fields.near, fields.place
    column, row = (x - place[0]) * place[2], (y - place[1]) * place[2]
    if not (0.0 <= column < near.shape[1] and 0.0 <= row < near.shape[0]):
        return 0
    return int(near[int(row), int(column)])


@kernel(borrows=True, inner=True)
def shortage(library: ActionArrays, fields: FieldArrays, x: float, y: float, heading: float, a: int) -> float:
    """Return how much room to obstacles a character lacks that stands by action a [m]; 0 or less if none."""
    discs, c, s = library.static, math.cos(heading), math.sin(heading)
    worst = -np.inf
    for k in range(library.firsts[a, FIRST_STATIC], library.firsts[a + 1, FIRST_STATIC]):
        u, v = discs[k, 0], discs[k, 1]
        room = clearance_at(fields.squares, fields.place, 0, x + c * u - s * v, y + s * u + c * v)
        worst = max(worst, discs[k, 2] - room)
    return worst


@kernel(borrows=True, inner=True)
def leaves(along: float, aside: float) -> bool:
    """Return whether a place is so near to the start that a character may still be nearer to obstacles than usual."""
    return bool(along * along + aside * aside <= _LEAVING * _LEAVING)


@kernel(borrows=True, inner=True)
def leeway(shortfall: float, along: float, aside: float) -> float:
    """Return how much nearer to obstacles than usual a character may be near a start that lacks room [m]."""
    return max(shortfall + _LEEWAY, _LEAST_LEEWAY) if leaves(along, aside) else 0.0


@kernel(borrows=True, inner=True)
def parts_meet(labels: Labels, place: FloatArray, start: FloatArray, goal: FloatArray) -> tuple[bool, bool]:
    """Return whether any cell is free within the tolerance of a goal, and whether one is connected with the start.

    The test is optimistic: any cell that meets the disc will do, and any cell near the start counts as connected.

    Args:
        labels: parts of free space, 0 where nothing is free.
        place: x, y of the lower left corner of the grid [m], and cells per metre.
        start: x, y [m] and more.
        goal: x, y, tolerance [m] and more.
    """
    rows, columns = labels.shape
    own_row, own_column = int((start[1] - place[1]) * place[2]), int((start[0] - place[0]) * place[2])
    own, spread = labels[own_row, own_column], 0 if labels[own_row, own_column] > 0 else 4
    column, row = int((goal[0] - place[0]) * place[2]), int((goal[1] - place[1]) * place[2])
    if own > 0 and labels[row, column] == own:
        return True, True
    reach = int(goal[2] * place[2]) + 1
    some = False
    for i in range(max(row - reach, 0), min(row + reach + 1, rows)):
        for j in range(max(column - reach, 0), min(column + reach + 1, columns)):
            across, along = max(abs(i - row) - 1, 0), max(abs(j - column) - 1, 0)
            label = labels[i, j]
            if label == 0 or math.hypot(across, along) > goal[2] * place[2]:
                continue
            some = True
            for k in range(max(own_row - spread, 0), min(own_row + spread + 1, rows)):
                for m in range(max(own_column - spread, 0), min(own_column + spread + 1, columns)):
                    if labels[k, m] == label:
                        return True, True
    return some, False
