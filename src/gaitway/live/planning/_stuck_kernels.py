"""Whole paths for live characters that get no nearer to their goals, on plain arrays.

Such a path is found by a search that knows other characters as slots of time. Here it is tested again as paths from
trees are, move by move against the reservations of others, so that safety does not depend on the search.
"""

from __future__ import annotations

import math

import numpy as np

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import IntArray
from gaitway.core.jit import kernel
from gaitway.live.playing._crowd_kernels import (
    COSINE,
    HEADING,
    SINE,
    TIME,
    BodyArrays,
    CrowdArrays,
    X,
    Y,
    link,
    move_hit,
    rest_hit,
    unlink,
)
from gaitway.live.playing._playing_kernels import COUNT, FIRST, FIXED, READY, LiveArrays
from gaitway.space._check_kernels import ActionArrays, shortage, static_hit, stays_free
from gaitway.space._clip_choice_kernels import move_free
from gaitway.space._query_kernels import START, wrapped
from gaitway.space._traffic_kernels import TrafficArrays
from gaitway.space.fields import FieldArrays

_GONE = 0.5
"""Least length of a path that is cut [m]."""


@kernel(borrows=True, inner=True)
def can_rest(
    library: ActionArrays, fields: FieldArrays, traffic: TrafficArrays, busy: bool, body: BodyArrays,
    crowd: CrowdArrays, me: int, x: float, y: float, heading: float, t: float, resting: int,
) -> bool:  # fmt: skip
    """Return whether a character can rest by an action at a pose from a time on, for ever."""
    c, s, first, end = math.cos(heading), math.sin(heading), library.firsts[resting, 0], library.firsts[resting + 1, 0]
    if static_hit(library.static, first, end, fields.squares, fields.place, 0, 0.0, x, y, c, s) >= 0:
        return False
    if rest_hit(body, crowd, me, x, y, c, s, t, resting) >= 0:
        return False
    return not busy or stays_free(library, traffic, x, y, heading, t, resting)


@kernel(borrows=True, inner=True)
def free_steps(
    library: ActionArrays, fields: FieldArrays, passing: IntArray, traffic: TrafficArrays, busy: bool,
    body: BodyArrays, crowd: CrowdArrays, live: LiveArrays, me: int, actions: IntArray, most: int,
) -> int:  # fmt: skip
    """Return how many of some actions are free one after another from the query's start on, with room to rest then."""
    query = live.query
    x, y, heading, t = query[START], query[START + 1], query[START + 2], query[START + 3]
    resting, shortfall, kept = body.rests[crowd.actions[me, crowd.counts[me, FIXED] - 1]], -np.inf, 0
    if resting >= 0:
        shortfall = shortage(library, fields, x, y, heading, resting)
    for k in range(min(len(actions), most)):
        a, c, s = actions[k], math.cos(heading), math.sin(heading)
        if not move_free(library, fields, passing, traffic, busy, query, shortfall, x, y, c, s, t, a) or (
            move_hit(body, crowd, me, x, y, c, s, t, a) >= 0
        ):
            break
        u, v = library.actions[a, 0], library.actions[a, 1]
        x, y, t = x + c * u - s * v, y + s * u + c * v, t + body.durations[a]
        heading, resting = wrapped(heading + library.actions[a, 2]), body.rests[a]
        gone = k + 1 == len(actions) or math.hypot(x - query[START], y - query[START + 1]) > _GONE
        if (
            gone
            and resting >= 0
            and can_rest(library, fields, traffic, busy, body, crowd, me, x, y, heading, t, resting)
        ):
            kept = k + 1
    return kept


@kernel(borrows=True)
def install(
    library_handle: ArrayHandle[ActionArrays], fields_handle: ArrayHandle[FieldArrays],
    passing_handle: ArrayHandle[IntArray],
    traffic_handle: ArrayHandle[TrafficArrays], busy: bool, body_handle: ArrayHandle[BodyArrays],
    crowd_handle: ArrayHandle[CrowdArrays],
    live_handle: ArrayHandle[LiveArrays], me: int, actions: IntArray,
) -> int:  # fmt: skip
    """Replace what comes after a character's fixed steps by some actions, all of which will be played.

    Where not all actions are free or fit into the plan, they are cut after the last one with room to rest.

    Args:
        library_handle: actions of the library.
        fields_handle: fields of the world.
        passing_handle: kind of obstacle that each action passes here, see `_query_kernels.find`; (A,).
        traffic_handle: movers.
        busy: whether there are any movers.
        body_handle: discs of the actions.
        crowd_handle: the characters.
        live_handle: the actions that are played; the query in it receives the end of the fixed steps.
        me: the character.
        actions: actions of the path; (N,).

    Returns:
        Number of actions that were taken, or 0.
    """
    library, fields, passing = library_handle.value, fields_handle.value, passing_handle.value
    traffic = traffic_handle.value
    body, crowd, live = body_handle.value, crowd_handle.value, live_handle.value
    counts, steps, rows, query = crowd.counts, crowd.steps, crowd.steps.shape[1], live.query
    first, fixed = counts[me, FIRST], counts[me, FIXED]
    before, row = fixed - first, fixed if fixed < counts[me, COUNT] else rows - 1
    x, y, heading = steps[me, row, X], steps[me, row, Y], steps[me, row, HEADING]
    t = steps[me, fixed - 1, TIME] + body.durations[crowd.actions[me, fixed - 1]]
    query[START], query[START + 1], query[START + 2], query[START + 3] = x, y, heading, t
    number = free_steps(
        library, fields, passing, traffic, busy, body, crowd, live, me, actions, rows - 1 - before
    )  # fmt: skip
    if number == 0:
        return 0
    for k in range(rows):
        unlink(crowd, me * rows + k)
    for k in range(before):
        for j in range(TIME + 1):
            steps[me, k, j] = steps[me, first + k, j]
        crowd.actions[me, k] = crowd.actions[me, first + k]
    for k in range(number + 1):
        to, c, s = before + k if k < number else rows - 1, math.cos(heading), math.sin(heading)
        steps[me, to, X], steps[me, to, Y], steps[me, to, COSINE], steps[me, to, SINE] = x, y, c, s
        steps[me, to, HEADING], steps[me, to, TIME] = heading, t
        a = actions[min(k, number - 1)]
        crowd.actions[me, to] = a if k < number else body.rests[a]
        u, v = library.actions[a, 0], library.actions[a, 1]
        x, y, t = x + c * u - s * v, y + s * u + c * v, t + body.durations[a]
        heading = wrapped(heading + library.actions[a, 2])
    counts[me, FIRST], counts[me, COUNT], counts[me, FIXED] = 0, before + number, before + number
    for k in range(before + number):
        link(body, crowd, me, k)
    link(body, crowd, me, rows - 1)
    crowd.numbers[me, READY] = np.inf
    return number
