"""The choice among clips for the steps of live characters, on plain arrays (see `space.clip_choice`).

Clips are drawn only for steps that are certain to be played; the other steps are planned again before their turn.
"""

from __future__ import annotations

import math

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.live.planning._draft_kernels import DRAWN, PlanDrafts
from gaitway.live.planning._stuck_kernels import can_rest
from gaitway.live.playing._crowd_kernels import COSINE, HEADING, SINE, TIME, BodyArrays, CrowdArrays, X, Y, move_hit
from gaitway.live.playing._playing_kernels import LIFE, SEED, LiveArrays
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
def seed_of(crowd: CrowdArrays, live: LiveArrays, drafts: PlanDrafts, slot: int) -> int:
    """Return the seed of the plan that a character is about to get."""
    me = drafts.who[slot]
    return mixed(int(live.options[SEED]) + drafts.counts[slot, DRAWN], me, crowd.counts[me, LIFE])


@kernel(borrows=True, inner=True)
def is_free(
    library: ActionArrays, fields: FieldArrays, passing: IntArray, traffic: TrafficArrays, busy: bool,
    body: BodyArrays, crowd: CrowdArrays, me: int, query: FloatArray, shortfall: float, x: float, y: float, c: float,
    s: float, t: float, a: int,
) -> bool:  # fmt: skip
    """Return whether no obstacle and no other character is in the way of an action."""
    return bool(
        move_free(library, fields, passing, traffic, busy, query, shortfall, x, y, c, s, t, a)
        and move_hit(body, crowd, me, x, y, c, s, t, a) < 0
    )


@kernel(borrows=True, inner=True, shared=True)
def draw_identical(
    library: ActionArrays, fields: FieldArrays, passing: IntArray, traffic: TrafficArrays, busy: bool,
    body: BodyArrays, crowd: CrowdArrays, live: LiveArrays, drafts: PlanDrafts, slot: int, first: int, kept: int,
    shortfall: float,
) -> None:  # fmt: skip
    """Draw identical clips for `kept` steps of a draft from step `first` on, if these are free."""
    steps, actions, me, query = drafts.steps, drafts.actions, drafts.who[slot], drafts.queries[slot]
    seed = seed_of(crowd, live, drafts, slot)
    for row in range(first, first + kept):
        x, y, c, s = steps[slot, row, X], steps[slot, row, Y], steps[slot, row, COSINE], steps[slot, row, SINE]
        a, t = int(actions[slot, row]), steps[slot, row, TIME]
        for tried in range(_TRIES):
            b = substitute(live.spans, live.members, a, IDENTICAL, seed, row - first, tried)
            if b == a or is_free(
                library, fields, passing, traffic, busy, body, crowd, me, query, shortfall, x, y, c, s, t, b
            ):
                actions[slot, row] = b
                break


@kernel(borrows=True, inner=True, shared=True)
def draw_rest(
    library: ActionArrays, fields: FieldArrays, traffic: TrafficArrays, busy: bool, body: BodyArrays,
    crowd: CrowdArrays, live: LiveArrays, drafts: PlanDrafts, slot: int,
) -> None:  # fmt: skip
    """Draw an identical clip for the rest at the end of a draft, if that is free."""
    steps, actions, me, end = drafts.steps, drafts.actions, drafts.who[slot], crowd.steps.shape[1] - 1
    a = int(actions[slot, end])
    b = substitute(live.spans, live.members, a, IDENTICAL, seed_of(crowd, live, drafts, slot), end, 0)
    if b != a and can_rest(
        library, fields, traffic, busy, body, crowd, me, steps[slot, end, X], steps[slot, end, Y],
        steps[slot, end, HEADING], steps[slot, end, TIME], b,
    ):  # fmt: skip
        actions[slot, end] = b


@kernel(borrows=True, inner=True, shared=True)
def draw_similar(
    library: ActionArrays, fields: FieldArrays, passing: IntArray, traffic: TrafficArrays, busy: bool,
    body: BodyArrays, crowd: CrowdArrays, live: LiveArrays, drafts: PlanDrafts, slot: int, first: int, number: int,
    kept: int, final: bool, shortfall: float,
) -> bool:  # fmt: skip
    """Lay the steps of a draft with similar clips for those that are kept; return whether all are free to the end.

    Where they are not, the rows of the draft must be laid again.

    Args:
        library: actions of the library.
        fields: fields of the world.
        passing: kind of obstacle that each action passes here, see `_query_kernels.find`; (A,).
        traffic: movers.
        busy: whether there are any movers.
        body: discs of the actions.
        crowd: the characters.
        live: the actions that are played.
        drafts: drafts, with the queries that they answer.
        slot: the draft.
        first: row of the first step.
        number: number of steps.
        kept: number of steps that are drawn.
        final: whether the end must be at the goal of the query.
        shortfall: room that the start lacks [m], see `move_free`.
    """
    steps, actions, query, end = drafts.steps, drafts.actions, drafts.queries[slot], crowd.steps.shape[1] - 1
    x, y, heading, t = (
        steps[slot, first, X],
        steps[slot, first, Y],
        steps[slot, first, HEADING],
        steps[slot, first, TIME],
    )
    me, seed = drafts.who[slot], seed_of(crowd, live, drafts, slot)
    for k in range(number):
        row, after, c, s = first + k, first + k + 1 if k + 1 < number else end, math.cos(heading), math.sin(heading)
        a, best, chosen = int(actions[slot, row]), np.inf, -1
        for tried in range(_TRIES if k < kept else 1):
            b = substitute(live.spans, live.members, a, SIMILAR, seed, k, tried) if k < kept else a
            if best > (STRAY if final else _GOING_ON) and is_free(
                library, fields, passing, traffic, busy, body, crowd, me, query, shortfall, x, y, c, s, t, b
            ):
                u, v = library.actions[b, 0], library.actions[b, 1]
                off = strays(
                    x + c * u - s * v, y + s * u + c * v, heading + library.actions[b, 2], steps[slot, after, X],
                    steps[slot, after, Y], steps[slot, after, HEADING], steps[slot, end, X], steps[slot, end, Y],
                )  # fmt: skip
                if off < best:
                    best, chosen = off, b
        if chosen < 0:
            return False
        put(steps, slot, row, x, y, heading, t)
        actions[slot, row] = chosen
        u, v = library.actions[chosen, 0], library.actions[chosen, 1]
        x, y, t = x + c * u - s * v, y + s * u + c * v, t + body.durations[chosen]
        heading = wrapped(heading + library.actions[chosen, 2])
    put(steps, slot, end, x, y, heading, t)
    if final and math.hypot(x - query[GOAL], y - query[GOAL + 1]) > query[GOAL + 2]:
        return False
    return can_rest(library, fields, traffic, busy, body, crowd, me, x, y, heading, t, actions[slot, end])


@kernel(borrows=True, inner=True)
def put(steps: FloatArray, slot: int, row: int, x: float, y: float, heading: float, t: float) -> None:
    """Write the pose and the time at which a step of a draft begins."""
    steps[slot, row, X], steps[slot, row, Y], steps[slot, row, HEADING], steps[slot, row, TIME] = x, y, heading, t
    steps[slot, row, COSINE], steps[slot, row, SINE] = math.cos(heading), math.sin(heading)
