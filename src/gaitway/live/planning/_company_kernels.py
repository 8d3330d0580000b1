"""Whole paths of live characters whose moves are played at one of two paces, on plain arrays."""

from __future__ import annotations

import math

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import IntArray
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
    unlink,
)
from gaitway.live.playing._playing_kernels import COUNT, FIRST, FIXED, READY, LiveArrays
from gaitway.space._check_kernels import ActionArrays, shortage
from gaitway.space._clip_choice_kernels import move_free
from gaitway.space._query_kernels import START, wrapped
from gaitway.space._traffic_kernels import TrafficArrays
from gaitway.space.fields import FieldArrays


@kernel(borrows=True)
def install_paced(
    library_handle: ArrayHandle[ActionArrays], other_handle: ArrayHandle[ActionArrays],
    fields_handle: ArrayHandle[FieldArrays], passing_handle: ArrayHandle[IntArray],
    other_passing_handle: ArrayHandle[IntArray], traffic_handle: ArrayHandle[TrafficArrays], busy: bool,
    body_handle: ArrayHandle[BodyArrays], crowd_handle: ArrayHandle[CrowdArrays], live_handle: ArrayHandle[LiveArrays],
    me: int, actions: IntArray, end: int,
) -> int:  # fmt: skip
    """Replace what comes after a character's fixed steps by some actions, all of which will be played, if all are free.

    Args:
        library_handle: actions of the library at the usual pace.
        other_handle: the same actions at another pace.
        fields_handle: fields of the world.
        passing_handle: kind of obstacle that each action of the library passes here; (A,).
        other_passing_handle: the same of the other one.
        traffic_handle: movers.
        busy: whether there are any movers.
        body_handle: discs of the actions.
        crowd_handle: the characters.
        live_handle: the actions that are played; the query in it receives the end of the fixed steps.
        me: the character.
        actions: actions of the path, by their numbers in the crowd, the last one at the usual pace; (N,).
        end: action that the character rests by in the end.

    Returns:
        Number of actions that are free one after another, and one more if it plays them; else nothing has changed.
    """
    fields, traffic, query = fields_handle.value, traffic_handle.value, live_handle.value.query
    body, crowd = body_handle.value, crowd_handle.value
    counts, steps, rows, number = crowd.counts, crowd.steps, crowd.steps.shape[1], len(actions)
    first, fixed = counts[me, FIRST], counts[me, FIXED]
    before, row, last = fixed - first, fixed if fixed < counts[me, COUNT] else rows - 1, crowd.actions[me, fixed - 1]
    if before + number > rows - 1:
        return -1
    x0, y0, heading0 = steps[me, row, X], steps[me, row, Y], steps[me, row, HEADING]
    t0 = steps[me, fixed - 1, TIME] + body.durations[last]
    query[START], query[START + 1], query[START + 2], query[START + 3] = x0, y0, heading0, t0
    shortfall = -math.inf
    if body.rests[last] >= 0:
        shortfall = shortage(library_handle.value, fields, x0, y0, heading0, end)
    for written in range(2):  # at first all moves are tested
        x, y, heading, t = x0, y0, heading0, t0
        if written == 1:
            for k in range(rows):
                unlink(crowd, me * rows + k)
            for k in range(before):
                for j in range(TIME + 1):
                    steps[me, k, j] = steps[me, first + k, j]
                crowd.actions[me, k] = crowd.actions[me, first + k]
        for k in range(number + 1):
            c, s = math.cos(heading), math.sin(heading)
            a = actions[k] if k < number else end
            usual = body.libraries[a] == body.libraries[end]
            library = library_handle.value if usual else other_handle.value
            if written == 1:
                to = before + k if k < number else rows - 1
                steps[me, to, X], steps[me, to, Y], steps[me, to, COSINE], steps[me, to, SINE] = x, y, c, s
                steps[me, to, HEADING], steps[me, to, TIME] = heading, t
                crowd.actions[me, to] = a
            elif k == number:
                if not can_rest(library, fields, traffic, busy, body, crowd, me, x, y, heading, t, end):
                    return k
            else:
                passing = passing_handle.value if usual else other_passing_handle.value
                if not move_free(library, fields, passing, traffic, busy, query, shortfall, x, y, c, s, t, a) or (
                    move_hit(body, crowd, me, x, y, c, s, t, a) >= 0
                ):
                    return k
            u, v = library.actions[a, 0], library.actions[a, 1]
            x, y, t = x + c * u - s * v, y + s * u + c * v, t + body.durations[a]
            heading = wrapped(heading + library.actions[a, 2])
    counts[me, FIRST], counts[me, COUNT], counts[me, FIXED] = 0, before + number, before + number
    for k in range(before + number):
        link(body, crowd, me, k)
    link(body, crowd, me, rows - 1)
    crowd.numbers[me, READY] = math.inf
    return number + 1
