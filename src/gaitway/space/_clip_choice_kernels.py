"""Compiled loops of the choice among clips: which of several is played for each step of a plan."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.space._check_kernels import (
    AROUND_RADIUS,
    AROUND_X,
    AROUND_Y,
    DURATION,
    FIRST_STATIC,
    MOVE_TURN,
    MOVE_X,
    MOVE_Y,
    REST_ACTION,
    ActionArrays,
    leaves,
    leeway,
    near_bits,
    shortage,
    special_hit,
    static_hit,
    stays_free,
    surely_free,
    timed_hit,
)
from gaitway.space._query_kernels import (
    CLOSE,
    CROWDED,
    GOAL_HEADING,
    GOAL_HEADING_TOLERANCE,
    GOAL_TOLERANCE,
    GOAL_X,
    GOAL_Y,
    NEVER,
    ORDINARY,
    START_HEADING,
    START_X,
    START_Y,
    mixed,
    wrapped,
)
from gaitway.space._traffic_kernels import TrafficArrays
from gaitway.space.fields import FieldArrays

UNDER_WAY = -np.inf
"""Shortfall of a character under way: it may be no nearer to obstacles than anywhere else."""
SIMILAR, IDENTICAL = 0, 2
"""Columns of `SimilarClipArrays.spans`: where the similar actions begin, and where the identical ones do."""
STRAY = 0.25
"""How far shifted steps may move the end of a plan before steps are preferred that lead back [m]."""
_TRIES = 4
"""Number of draws for a step before it is given up or left as it is."""
_TURN = 2.0 * math.pi


class SimilarClipArrays(NamedTuple):
    """Which of A actions may replace one another (see `similar_clips`); both arrays are read-only."""

    spans: IntArray
    """Begin and end in `members` of the actions that are similar to each action, and of the identical ones; (A, 4)."""
    members: IntArray
    """Actions, similar ones side by side; (A,)."""


@kernel(borrows=True, inner=True)
def move_free(
    library: ActionArrays, fields: FieldArrays, passing: IntArray, traffic: TrafficArrays, busy: bool,
    query: FloatArray, shortfall: float, x: float, y: float, c: float, s: float, t: float, a: int,
) -> bool:  # fmt: skip
    """Return whether an action is free of collisions, at the sampling of the A* search."""
    actions, kind = library.actions, passing[a]
    if kind != ORDINARY and (kind == NEVER or not (near_bits(fields, x, y) >> kind) & 1):
        return False
    along, aside = x - query[START_X], y - query[START_Y]
    grid, place, field = fields.squares, fields.place, fields.field_of[kind + 1]
    u, v = actions[a, AROUND_X], actions[a, AROUND_Y]
    if not surely_free(grid, place, field, x + c * u - s * v, y + s * u + c * v, actions[a, AROUND_RADIUS]):
        leave = leeway(shortfall, along, aside) if shortfall > -np.inf else 0.0  # else on the way, not at a start
        first, end = library.firsts[a, FIRST_STATIC], library.firsts[a + 1, FIRST_STATIC]
        if static_hit(library.static, first, end, grid, place, field, leave, x, y, c, s) >= 0:
            return False
    if kind >= 0 and special_hit(library, fields.specials, kind, x, y, math.atan2(s, c), t, a) >= 0:
        return False
    if busy:
        leave = query[CROWDED] if leaves(along, aside) else 0.0
        return timed_hit(library, traffic, x, y, c, s, t, a, kind, leave, 1.0, -1)[0] < 0
    return True


@kernel(borrows=True, inner=True)
def short_of(library: ActionArrays, fields: FieldArrays, query: FloatArray, state: int, under_way: bool) -> float:
    """Return how much room the start lacks [m], `UNDER_WAY`, or infinity if it lacks too much."""
    rest = library.states[state, REST_ACTION]
    if under_way:
        return UNDER_WAY
    if rest < 0:
        return 0.0
    out = shortage(library, fields, query[START_X], query[START_Y], query[START_HEADING], rest)
    return np.inf if out > query[CLOSE] else out


@kernel(borrows=True, inner=True)
def substitute(spans: IntArray, members: IntArray, a: int, among: int, seed: int, number: int, tried: int) -> int:
    """Return the action that is drawn for a step, at the first try, the second, and so on.

    Args:
        spans: ranges of similar and identical actions, see `SimilarClipArrays`; (A, 4).
        members: actions, see `SimilarClipArrays`; (A,).
        a: the planned action.
        among: `SIMILAR` or `IDENTICAL`.
        seed: seed of the plan.
        number: number of the step.
        tried: number of earlier draws for the step.
    """
    first, end = spans[a, among], spans[a, among + 1]
    return int(members[first + ((mixed(seed, number, tried) * (end - first)) >> 30)])


@kernel(borrows=True, inner=True)
def strays(
    x: float, y: float, heading: float, planned_x: float, planned_y: float, planned: float, end_x: float, end_y: float
) -> float:
    """Return how far a plan would miss its end if it went on from another pose than planned [m].

    Args:
        x: x of the pose from which the plan goes on [m].
        y: y of that pose [m].
        heading: heading of that pose [rad].
        planned_x: x of the pose from which it was planned to go on [m].
        planned_y: y of the planned pose [m].
        planned: heading of the planned pose [rad].
        end_x: x of the planned end [m].
        end_y: y of the planned end [m].
    """
    c, s = math.cos(heading - planned), math.sin(heading - planned)
    u, v = end_x - planned_x, end_y - planned_y
    return math.hypot(x + c * u - s * v - end_x, y + s * u + c * v - end_y)


@kernel(borrows=True)
def play_identical(
    library_handle: ArrayHandle[ActionArrays], fields_handle: ArrayHandle[FieldArrays],
    passing_handle: ArrayHandle[IntArray],
    traffic_handle: ArrayHandle[TrafficArrays], busy: bool, query_handle: ArrayHandle[FloatArray],
    similar_handle: ArrayHandle[SimilarClipArrays],
    state: int, under_way: bool, seed: int, rows: FloatArray,
) -> None:  # fmt: skip
    """Draw identical clips for the steps of a plan that are free there; a step without one stays.

    Args:
        library_handle: the actions.
        fields_handle: fields of the world.
        passing_handle: kind of obstacle that each action passes here; (A,).
        traffic_handle: other characters and movers.
        busy: whether there is any traffic.
        query_handle: numbers of the query; see `space._query_kernels`.
        similar_handle: which actions may replace one another.
        state: state of the planner at the start.
        under_way: whether the character has left its start.
        seed: seed of the plan.
        rows: x, y, heading, time, action and speed of each step, and the end as the last row; the actions of steps at
            their usual speed are changed; (N + 1, 6).
    """
    library, fields, passing = library_handle.value, fields_handle.value, passing_handle.value
    traffic = traffic_handle.value
    query, similar = query_handle.value, similar_handle.value
    shortfall = short_of(library, fields, query, state, under_way)
    for k in range(len(rows) - 1):
        if rows[k, 5] != 1.0:
            continue
        a, c, s = int(rows[k, 4]), math.cos(rows[k, 2]), math.sin(rows[k, 2])
        for tried in range(_TRIES):
            b = substitute(similar.spans, similar.members, a, IDENTICAL, seed, k, tried)
            if b == a or move_free(
                library, fields, passing, traffic, busy, query, shortfall, rows[k, 0], rows[k, 1], c, s, rows[k, 3], b
            ):
                rows[k, 4] = b
                break


@kernel(borrows=True)
def play_similar(
    library_handle: ArrayHandle[ActionArrays], fields_handle: ArrayHandle[FieldArrays],
    passing_handle: ArrayHandle[IntArray],
    traffic_handle: ArrayHandle[TrafficArrays], busy: bool, query_handle: ArrayHandle[FloatArray],
    similar_handle: ArrayHandle[SimilarClipArrays],
    state: int, under_way: bool, seed: int, rows: FloatArray, rest: int, out: FloatArray,
) -> bool:  # fmt: skip
    """Lay a plan with similar clips, each tested where it comes to lie; return whether all are free.

    The first clip that is drawn for a step is played, unless the plan would then miss its end by more than `STRAY`. In
    that case the clip that leads nearest to the end is played, so that small turns do not add up to a detour.

    Args:
        library_handle: the actions.
        fields_handle: fields of the world.
        passing_handle: kind of obstacle that each action passes here; (A,).
        traffic_handle: other characters and movers.
        busy: whether there is any traffic.
        query_handle: numbers of the query; see `space._query_kernels`.
        similar_handle: which actions may replace one another.
        state: state of the planner at the start.
        under_way: whether the character has left its start.
        seed: seed of the plan.
        rows: the plan, as in `play_identical`; (N + 1, 6).
        rest: action that stands still at the end; the plan must then end within reach of the query's goal. -1 for a
            plan that goes on.
        out: receives the plan; (N + 1, 6).
    """
    library, fields, passing = library_handle.value, fields_handle.value, passing_handle.value
    traffic = traffic_handle.value
    query, similar, actions, last = (
        query_handle.value,
        similar_handle.value,
        library_handle.value.actions,
        len(rows) - 1,
    )
    shortfall = short_of(library, fields, query, state, under_way)
    x, y, heading, t = rows[0, 0], rows[0, 1], rows[0, 2], rows[0, 3]
    for k in range(last):
        a, c, s, best, chosen = int(rows[k, 4]), math.cos(heading), math.sin(heading), np.inf, -1
        for tried in range(_TRIES):
            b = substitute(similar.spans, similar.members, a, SIMILAR, seed, k, tried)
            if best > STRAY and move_free(library, fields, passing, traffic, busy, query, shortfall, x, y, c, s, t, b):
                u, v = actions[b, MOVE_X], actions[b, MOVE_Y]
                off = strays(
                    x + c * u - s * v, y + s * u + c * v, heading + actions[b, MOVE_TURN],
                    rows[k + 1, 0], rows[k + 1, 1], rows[k + 1, 2], rows[last, 0], rows[last, 1],
                )  # fmt: skip
                if off < best:
                    best, chosen = off, b
        if chosen < 0:
            return False
        out[k, 0], out[k, 1], out[k, 2], out[k, 3], out[k, 4], out[k, 5] = x, y, heading, t, chosen, 1.0
        u, v = actions[chosen, MOVE_X], actions[chosen, MOVE_Y]
        x, y, t = x + c * u - s * v, y + s * u + c * v, t + actions[chosen, DURATION]
        heading = wrapped(heading + actions[chosen, MOVE_TURN])
    out[last, 0], out[last, 1], out[last, 2], out[last, 3], out[last, 4], out[last, 5] = x, y, heading, t, -1.0, 1.0
    return rest < 0 or arrives(library, traffic, busy, query, x, y, heading, t, rest)


@kernel(borrows=True, inner=True)
def arrives(
    library: ActionArrays, traffic: TrafficArrays, busy: bool, query: FloatArray, x: float, y: float, heading: float,
    t: float, rest: int,
) -> bool:  # fmt: skip
    """Return whether a pose is at the goal of a query, faces as asked, and is free for ever."""
    off = heading - query[GOAL_HEADING]
    if math.hypot(x - query[GOAL_X], y - query[GOAL_Y]) > query[GOAL_TOLERANCE]:
        return False
    if abs(off - _TURN * math.floor(off / _TURN + 0.5)) > query[GOAL_HEADING_TOLERANCE]:
        return False
    return not busy or stays_free(library, traffic, x, y, heading, t, rest)
