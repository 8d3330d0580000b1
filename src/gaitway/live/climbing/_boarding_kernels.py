"""Reservation of a whole way over a flight of stairs for a live character, on plain arrays."""

from __future__ import annotations

import numpy as np

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.live.planning._stuck_kernels import can_rest
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
from gaitway.live.playing._playing_kernels import COUNT, FIRST, FIXED, LiveArrays
from gaitway.space._check_kernels import ActionArrays, shortage
from gaitway.space._clip_choice_kernels import move_free
from gaitway.space._query_kernels import START
from gaitway.space._traffic_kernels import TrafficArrays
from gaitway.space.fields import FieldArrays

_BESIDE = 0.3
"""How much nearer to a block than usual somebody is who got down from it [m]."""


@kernel(borrows=True)
def board(
    library_handle: ArrayHandle[ActionArrays], fields_handle: ArrayHandle[FieldArrays],
    passing_handle: ArrayHandle[IntArray], traffic_handle: ArrayHandle[TrafficArrays], busy: bool,
    body_handle: ArrayHandle[BodyArrays], crowd_handle: ArrayHandle[CrowdArrays], live_handle: ArrayHandle[LiveArrays],
    me: int, steps: FloatArray, actions: IntArray, certain: int, close: float, anew: bool,
) -> int:  # fmt: skip
    """Replace what comes after a character's fixed steps by given steps, if all of them are free.

    Args:
        library_handle: actions of the library.
        fields_handle: fields of the world.
        passing_handle: kind of obstacle that each action passes here, see `_query_kernels.find`; (A,).
        traffic_handle: movers.
        busy: whether there are any movers.
        body_handle: discs of the actions.
        crowd_handle: the characters.
        live_handle: the actions that are played; the query in it receives the first step.
        me: the character.
        steps: steps in the columns of `CrowdArrays.steps`, the place of rest after them in the last row; (N + 1, 6).
        actions: their actions, and that of the rest; (N + 1,). Actions of no library were tested against obstacles.
        certain: number of steps that are certain to be played.
        close: how much nearer to obstacles than usual the first steps may be [m]; 0 unless there are only edges.
            With more it rests at the end wherever nobody else is.
        anew: whether it may be nearer to obstacles after the certain steps too: beside a block that it got down from.

    Returns:
        -1 if the steps are taken; else the number of the first that is not free, N for the rest.
    """
    library, fields, passing = library_handle.value, fields_handle.value, passing_handle.value
    traffic = traffic_handle.value
    body, crowd, query = body_handle.value, crowd_handle.value, live_handle.value.query
    counts, own, number, rows = crowd.counts, crowd.steps, len(actions) - 1, crowd.steps.shape[1]
    first, fixed = counts[me, FIRST], counts[me, FIXED]
    before = fixed - first
    if before + number > rows - 1:
        return 0
    query[START], query[START + 1], query[START + 2] = steps[0, X], steps[0, Y], steps[0, HEADING]
    query[START + 3] = steps[0, TIME]
    resting, shortfall = body.rests[crowd.actions[me, fixed - 1]], -np.inf
    if resting >= 0:
        shortfall = max(shortage(library, fields, steps[0, X], steps[0, Y], steps[0, HEADING], resting), close)
    for k in range(number):
        x, y, c, s, t = steps[k, X], steps[k, Y], steps[k, COSINE], steps[k, SINE], steps[k, TIME]
        a = actions[k]
        if anew and k == certain:
            query[START], query[START + 1], query[START + 2], query[START + 3] = x, y, steps[k, HEADING], t
            shortfall = min(shortage(library, fields, x, y, steps[k, HEADING], actions[number]), _BESIDE)
        if a < len(library.actions) and not move_free(
            library, fields, passing, traffic, busy, query, shortfall, x, y, c, s, t, a
        ):
            return k
        if move_hit(body, crowd, me, x, y, c, s, t, a) >= 0:
            return k
    x, y, c, s = steps[number, X], steps[number, Y], steps[number, COSINE], steps[number, SINE]
    heading, t, a = steps[number, HEADING], steps[number, TIME], actions[number]
    if close > 0.0:  # it stands there already, as near to an edge
        if rest_hit(body, crowd, me, x, y, c, s, t, a) >= 0:
            return number
    elif not can_rest(library, fields, traffic, busy, body, crowd, me, x, y, heading, t, a):
        return number
    for k in range(rows):
        unlink(crowd, me * rows + k)
    for k in range(before):
        for j in range(TIME + 1):
            own[me, k, j] = own[me, first + k, j]
        crowd.actions[me, k] = crowd.actions[me, first + k]
    for k in range(number + 1):
        to = before + k if k < number else rows - 1
        for j in range(TIME + 1):
            own[me, to, j] = steps[k, j]
        crowd.actions[me, to] = actions[k]
    counts[me, FIRST], counts[me, COUNT], counts[me, FIXED] = 0, before + number, before + certain
    for k in range(before + number):
        link(body, crowd, me, k)
    link(body, crowd, me, rows - 1)
    return -1
