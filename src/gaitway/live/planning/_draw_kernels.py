"""The choice among clips for the steps of live characters, on plain arrays (see `space.clip_choice`).

Clips are drawn only for steps that are certain to be played; the other steps are planned again before their turn.
"""

from __future__ import annotations

import math

import numpy as np

from gaitway.core.arrays import IntArray
from gaitway.core.jit import kernel
from gaitway.live.planning._stuck_kernels import can_rest
from gaitway.live.playing._crowd_kernels import COSINE, HEADING, SINE, TIME, BodyArrays, CrowdArrays, X, Y, move_hit
from gaitway.live.playing._playing_kernels import LIFE, PLANS, SEED, LiveArrays
from gaitway.space._check_kernels import ActionArrays
from gaitway.space._clip_choice_kernels import IDENTICAL, SIMILAR, STRAY, move_free, strays, substitute
from gaitway.space._query_kernels import GOAL, mixed, wrapped
from gaitway.space._traffic_kernels import TrafficArrays
from gaitway.space.fields import FieldArrays

_TRIES = 4
"""Number of draws for a step."""
_GOING_ON = 0.6
"""Like `STRAY`, for a plan that does not end at the goal and will be replaced before it ends [m]."""


@kernel(borrows=True, inner=True)
def seed_of(crowd: CrowdArrays, live: LiveArrays, me: int) -> int:
    """Return the seed of the plan that a character is about to get."""
    return mixed(int(live.options[SEED]) + live.tally[PLANS], me, crowd.counts[me, LIFE])


@kernel(borrows=True, inner=True)
def is_free(
    library: ActionArrays, fields: FieldArrays, passing: IntArray, traffic: TrafficArrays, busy: bool,
    body: BodyArrays, crowd: CrowdArrays, live: LiveArrays, me: int, shortfall: float, x: float, y: float, c: float,
    s: float, t: float, a: int,
) -> bool:  # fmt: skip
    """Return whether no obstacle and no other character is in the way of an action."""
    return bool(
        move_free(library, fields, passing, traffic, busy, live.query, shortfall, x, y, c, s, t, a)
        and move_hit(body, crowd, me, x, y, c, s, t, a) < 0
    )


@kernel(borrows=True, inner=True, shared=True)
def draw_identical(
    library: ActionArrays, fields: FieldArrays, passing: IntArray, traffic: TrafficArrays, busy: bool,
    body: BodyArrays, crowd: CrowdArrays, live: LiveArrays, me: int, first: int, kept: int, shortfall: float,
) -> None:  # fmt: skip
    """Draw identical clips for `kept` steps of a character from step `first` on, if these are free."""
    steps, actions, seed = crowd.steps, crowd.actions, seed_of(crowd, live, me)
    for row in range(first, first + kept):
        x, y, c, s = steps[me, row, X], steps[me, row, Y], steps[me, row, COSINE], steps[me, row, SINE]
        a, t = int(actions[me, row]), steps[me, row, TIME]
        for tried in range(_TRIES):
            b = substitute(live.spans, live.members, a, IDENTICAL, seed, row - first, tried)
            if b == a or is_free(
                library, fields, passing, traffic, busy, body, crowd, live, me, shortfall, x, y, c, s, t, b
            ):
                actions[me, row] = b
                break


@kernel(borrows=True, inner=True, shared=True)
def draw_rest(
    library: ActionArrays, fields: FieldArrays, traffic: TrafficArrays, busy: bool, body: BodyArrays,
    crowd: CrowdArrays, live: LiveArrays, me: int,
) -> None:  # fmt: skip
    """Draw an identical clip for the rest at the end of a character's plan, if that is free."""
    steps, actions, end = crowd.steps, crowd.actions, crowd.steps.shape[1] - 1
    a = int(actions[me, end])
    b = substitute(live.spans, live.members, a, IDENTICAL, seed_of(crowd, live, me), end, 0)
    if b != a and can_rest(
        library, fields, traffic, busy, body, crowd, me, steps[me, end, X], steps[me, end, Y], steps[me, end, HEADING],
        steps[me, end, TIME], b,
    ):  # fmt: skip
        actions[me, end] = b


@kernel(borrows=True, inner=True, shared=True)
def draw_similar(
    library: ActionArrays, fields: FieldArrays, passing: IntArray, traffic: TrafficArrays, busy: bool,
    body: BodyArrays, crowd: CrowdArrays, live: LiveArrays, me: int, first: int, number: int, kept: int, final: bool,
    shortfall: float,
) -> bool:  # fmt: skip
    """Lay a character's steps again with similar clips for those that are kept; return whether all are free to the end.

    Where they are not, the rows of the character must be laid again.

    Args:
        library: actions of the library.
        fields: fields of the world.
        passing: kind of obstacle that each action passes here, see `_query_kernels.find`; (A,).
        traffic: movers.
        busy: whether there are any movers.
        body: discs of the actions.
        crowd: the characters.
        live: the actions that are played, with the query that the plan answers.
        me: the character.
        first: row of the first step.
        number: number of steps.
        kept: number of steps that are drawn.
        final: whether the end must be at the goal of the query.
        shortfall: room that the start lacks [m], see `move_free`.
    """
    steps, actions, query, end = crowd.steps, crowd.actions, live.query, crowd.steps.shape[1] - 1
    x, y, heading, t = steps[me, first, X], steps[me, first, Y], steps[me, first, HEADING], steps[me, first, TIME]
    seed = seed_of(crowd, live, me)
    for k in range(number):
        row, after, c, s = first + k, first + k + 1 if k + 1 < number else end, math.cos(heading), math.sin(heading)
        a, best, chosen = int(actions[me, row]), np.inf, -1
        for tried in range(_TRIES if k < kept else 1):
            b = substitute(live.spans, live.members, a, SIMILAR, seed, k, tried) if k < kept else a
            if best > (STRAY if final else _GOING_ON) and is_free(
                library, fields, passing, traffic, busy, body, crowd, live, me, shortfall, x, y, c, s, t, b
            ):
                u, v = library.actions[b, 0], library.actions[b, 1]
                off = strays(
                    x + c * u - s * v, y + s * u + c * v, heading + library.actions[b, 2], steps[me, after, X],
                    steps[me, after, Y], steps[me, after, HEADING], steps[me, end, X], steps[me, end, Y],
                )  # fmt: skip
                if off < best:
                    best, chosen = off, b
        if chosen < 0:
            return False
        put(crowd, me, row, x, y, heading, t)
        actions[me, row] = chosen
        u, v = library.actions[chosen, 0], library.actions[chosen, 1]
        x, y, t = x + c * u - s * v, y + s * u + c * v, t + body.durations[chosen]
        heading = wrapped(heading + library.actions[chosen, 2])
    put(crowd, me, end, x, y, heading, t)
    if final and math.hypot(x - query[GOAL], y - query[GOAL + 1]) > query[GOAL + 2]:
        return False
    return can_rest(library, fields, traffic, busy, body, crowd, me, x, y, heading, t, actions[me, end])


@kernel(borrows=True, inner=True)
def put(crowd: CrowdArrays, me: int, row: int, x: float, y: float, heading: float, t: float) -> None:
    """Write the pose and the time at which a step of a character begins."""
    steps = crowd.steps
    steps[me, row, X], steps[me, row, Y], steps[me, row, HEADING], steps[me, row, TIME] = x, y, heading, t
    steps[me, row, COSINE], steps[me, row, SINE] = math.cos(heading), math.sin(heading)
