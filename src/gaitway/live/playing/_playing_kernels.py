"""Playing of live characters: the moves of their plans one after another, and rest at the end, on plain arrays."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.live.playing._crowd_kernels import (
    CHAIN,
    COSINE,
    HEADING,
    SINE,
    TIME,
    BodyArrays,
    CrowdArrays,
    X,
    Y,
    link,
    rest_hit,
    unlink,
)
from gaitway.space._check_kernels import ActionArrays, shortage, stays_free
from gaitway.space._query_kernels import wrapped
from gaitway.space._traffic_kernels import TrafficArrays
from gaitway.space.fields import FieldArrays

# columns of `CrowdArrays.counts`
FIRST, COUNT, FIXED, FAILS, STATUS, ROUTE, EARLIER, LIFE, IDLE, SOUGHT, HELD, ALARM, SOURCE, EFFORT = range(14)
"""The step that is played; number of steps; number of steps that will certainly be played; failures to plan in a row;
status (`EMPTY` and the others); number of the route or -1; the action before the one that is played or -1; number of
characters that have had the place; turns to plan that led no nearer to the goal; searches since then or `FRESH`;
whether the character waits for a search and must not plan otherwise; whether its plan leads into a new obstacle; what
found the latest plan (`NOTHING` and the others); and the number of moves tested or nodes expanded for it."""
FRESH = -2
"""Number of searches of a character with a new goal. It is negative: two more searches may come early on the route."""
NOTHING, BY_TREE, BY_SEARCH = range(3)
"""Methods that find plans."""
EMPTY, GOING, THERE = range(3)
"""Status of a place: empty, a character on the route to its goal, or a character at rest at its goal."""
# columns of `CrowdArrays.numbers`
GOAL_X, GOAL_Y, TOLERANCE, READY, LEFT, PLANNED = range(6)
"""Goal and the distance from it that is near enough [m], time from which the next plan may be made [s], shortest
length of the route to the goal so far [m], and time at which the latest plan was made [s]."""
# entries of `LiveArrays.tally`
PLANS, FAILURES, ARRIVALS, TRIES, TESTS, SEARCHES, LOGGED, CURSOR = range(8)
"""Numbers of plans made, turns without a plan, arrivals, sub-goals tried, moves tested, searches, and entries of the
log; and the character whose turn is next (one entry for each tree)."""
# columns of `LiveArrays.log`
LOG_WHO, LOG_LIFE, LOG_ACTION, LOG_X, LOG_Y, LOG_HEADING, LOG_TIME = range(7)
"""Character, number of characters that have had its place, action, x, y [m], heading [rad] and time [s] of a step."""
GONE = -1.0
"""Entry in place of the action, for a character that is removed."""
SEED, SHIFT = 6, 7
"""Entries of `LiveArrays.options` besides those of `_live_kernels`: seed, and whether similar clips may be drawn."""
NOW = 1e-9
"""Times that differ by less are equal [s]."""


class LiveArrays(NamedTuple):
    """Arrays of a live crowd besides those of its plans."""

    options: FloatArray
    """Options of the crowd, in the order of `_live_kernels.AHEAD` and the following constants, with `SEED` and `SHIFT`;
    (8,)."""
    query: FloatArray
    """The query that is answered, see `space._query_kernels`; (NUMBERS,)."""
    turns: FloatArray
    """Directions to try: share of the distance and angle to the side [rad]; the first is straight on; (T, 2)."""
    tally: IntArray
    """Counters, in the order of `PLANS` to `CURSOR`; (16,), or more with many trees."""
    table: FloatArray
    """The action that each character plays, as rows of `take._kernels`; (C, 12)."""
    rows: IntArray
    """First row of the pool for each action after each action; the last line is for no action before; (A + 1, A)."""
    clips: FloatArray
    """Pose of the first frame of each action's clip, number of frames, and frame rate [Hz]; (A, 5)."""
    spans: IntArray
    """Clips that may replace each action, see `SimilarClipArrays.spans`; empty if none; (A, 4) or (0, 4)."""
    members: IntArray
    """See `SimilarClipArrays.members`; (A,)."""
    log: FloatArray
    """Steps that began, see `LOG_WHO` and the others; (L, 7)."""


@kernel(borrows=True, inner=True)
def show(body: BodyArrays, crowd: CrowdArrays, live: LiveArrays, me: int) -> None:
    """Begin to play the current step of a character, and note it."""
    k, table, clips, steps = crowd.counts[me, FIRST], live.table, live.clips, crowd.steps
    a, earlier = np.int64(crowd.actions[me, k]), crowd.counts[me, EARLIER]
    heading = steps[me, k, HEADING] - clips[a, 2]
    c, s = math.cos(heading), math.sin(heading)
    table[me, 0], table[me, 1], table[me, 2] = steps[me, k, TIME], 0.0, clips[a, 4]
    table[me, 3] = steps[me, k, X] - c * clips[a, 0] + s * clips[a, 1]
    table[me, 4] = steps[me, k, Y] - s * clips[a, 0] - c * clips[a, 1]
    table[me, 5], table[me, 6] = math.cos(0.5 * heading), math.sin(0.5 * heading)
    table[me, 9] = live.rows[earlier if earlier >= 0 else len(live.rows) - 1, a]
    table[me, 10] = clips[a, 3]
    crowd.until[me] = steps[me, k, TIME] + body.durations[a]
    number = live.tally[LOGGED]
    if number < len(live.log):
        log = live.log
        log[number, LOG_WHO], log[number, LOG_LIFE], log[number, LOG_ACTION] = me, crowd.counts[me, LIFE], a
        log[number, LOG_X], log[number, LOG_Y] = steps[me, k, X], steps[me, k, Y]
        log[number, LOG_HEADING], log[number, LOG_TIME] = steps[me, k, HEADING], steps[me, k, TIME]
        live.tally[LOGGED] = number + 1


@kernel(borrows=True, inner=True)
def rest(body: BodyArrays, crowd: CrowdArrays, live: LiveArrays, me: int, time: float) -> None:
    """Let a character whose steps are all played stand still, from a time on."""
    counts, numbers, steps, end = crowd.counts, crowd.numbers, crowd.steps, crowd.steps.shape[1] - 1
    for j in range(TIME):
        steps[me, 0, j] = steps[me, end, j]
    steps[me, 0, TIME] = time
    crowd.actions[me, 0] = crowd.actions[me, end]
    counts[me, FIRST], counts[me, COUNT], counts[me, FIXED] = 0, 1, 1
    if counts[me, STATUS] == GOING:
        away = math.hypot(steps[me, end, X] - numbers[me, GOAL_X], steps[me, end, Y] - numbers[me, GOAL_Y])
        if away <= numbers[me, TOLERANCE]:
            counts[me, STATUS], counts[me, FAILS] = THERE, 0
            live.tally[ARRIVALS] += 1
        numbers[me, READY] = min(numbers[me, READY], time)


@kernel(borrows=True)
def advance(
    body_handle: ArrayHandle[BodyArrays],
    crowd_handle: ArrayHandle[CrowdArrays],
    live_handle: ArrayHandle[LiveArrays],
    now: float,
) -> None:
    """Play all characters up to a time [s]: steps that are over are released, and characters without steps stand."""
    body, crowd, live = body_handle.value, crowd_handle.value, live_handle.value
    counts, until, rows = crowd.counts, crowd.until, crowd.steps.shape[1]
    for me in range(len(until)):
        while until[me] <= now + NOW:
            k = counts[me, FIRST]
            unlink(crowd, me * rows + k)
            counts[me, EARLIER] = crowd.actions[me, k]
            # a step that began with the one before it only reserves the same ground on another floor
            while k + 1 < counts[me, COUNT] and crowd.steps[me, k + 1, TIME] <= crowd.steps[me, k, TIME]:
                k += 1
                unlink(crowd, me * rows + k)
            counts[me, FIRST] = k + 1
            if k + 1 == counts[me, COUNT]:
                rest(body, crowd, live, me, until[me])
            counts[me, FIXED] = max(counts[me, FIXED], counts[me, FIRST] + 1)
            show(body, crowd, live, me)


@kernel(borrows=True)
def place(
    body_handle: ArrayHandle[BodyArrays], crowd_handle: ArrayHandle[CrowdArrays], live_handle: ArrayHandle[LiveArrays],
    library_handle: ArrayHandle[ActionArrays], fields_handle: ArrayHandle[FieldArrays],
    traffic_handle: ArrayHandle[TrafficArrays], busy: bool,
    poses: FloatArray, since: FloatArray, now: float, resting: IntArray, numbers: IntArray,
) -> None:  # fmt: skip
    """Put characters at rest into empty places, each if no obstacle and no plan of another character is in the way.

    Args:
        body_handle: discs of the actions.
        crowd_handle: the characters, with as many empty places.
        live_handle: the actions that are played.
        library_handle: actions of their library.
        fields_handle: fields of the world.
        traffic_handle: movers.
        busy: whether there are any movers.
        poses: poses: x, y [m], heading [rad]; (N, 3).
        since: time at which each began to rest [s]; (N,).
        now: time now [s].
        resting: action that each rests by; (N,).
        numbers: receives the places, or -1; (N,).
    """
    body, crowd, live, traffic = body_handle.value, crowd_handle.value, live_handle.value, traffic_handle.value
    library, fields, end, me = library_handle.value, fields_handle.value, crowd.steps.shape[1] - 1, 0
    steps, counts = crowd.steps, crowd.counts
    for k in range(len(poses)):
        x, y, heading, a = poses[k, 0], poses[k, 1], wrapped(poses[k, 2]), resting[k]
        c, s = math.cos(heading), math.sin(heading)
        numbers[k] = -1
        if shortage(library, fields, x, y, heading, a) > 0.0 or rest_hit(body, crowd, -1, x, y, c, s, now, a) >= 0:
            continue
        if busy and not stays_free(library, traffic, x, y, heading, now, a):
            continue
        while counts[me, STATUS] != EMPTY:
            me += 1
        steps[me, end, X], steps[me, end, Y], steps[me, end, COSINE], steps[me, end, SINE] = x, y, c, s
        steps[me, end, HEADING], steps[me, end, TIME] = heading, since[k]
        crowd.actions[me, end] = a
        counts[me, STATUS], counts[me, FAILS], counts[me, EARLIER] = THERE, 0, -1
        counts[me, SOURCE], counts[me, EFFORT], crowd.numbers[me, PLANNED] = NOTHING, 0, -np.inf
        counts[me, LIFE] += 1
        link(body, crowd, me, end)
        rest(body, crowd, live, me, since[k])
        show(body, crowd, live, me)
        numbers[k] = me


@kernel(borrows=True)
def shift(
    body_handle: ArrayHandle[BodyArrays], crowd_handle: ArrayHandle[CrowdArrays], live_handle: ArrayHandle[LiveArrays],
    library_handle: ArrayHandle[ActionArrays], fields_handle: ArrayHandle[FieldArrays],
    me: int, pose: FloatArray, now: float, resting: int,
) -> bool:  # fmt: skip
    """Let a character that stands do so elsewhere from now on, if no obstacle and no plan of another is in the way.

    Args:
        body_handle: discs of the actions.
        crowd_handle: the characters.
        live_handle: the actions that are played.
        library_handle: actions of its library.
        fields_handle: fields of the world.
        me: the character.
        pose: where it shall stand: x, y [m], heading [rad]; (3,).
        now: time now [s].
        resting: action that it rests by.

    Returns:
        Whether it stands there.
    """
    body, crowd, live = body_handle.value, crowd_handle.value, live_handle.value
    library, fields, rows = library_handle.value, fields_handle.value, crowd.steps.shape[1]
    steps, counts, end = crowd.steps, crowd.counts, crowd.steps.shape[1] - 1
    x, y, heading = pose[0], pose[1], wrapped(pose[2])
    c, s = math.cos(heading), math.sin(heading)
    if counts[me, COUNT] - counts[me, FIRST] != 1 or counts[me, STATUS] == EMPTY:
        return False
    if shortage(library, fields, x, y, heading, resting) > 0.0:
        return False
    for k in range(rows):
        unlink(crowd, me * rows + k)
    if rest_hit(body, crowd, -1, x, y, c, s, now, resting) >= 0:
        link(body, crowd, me, end)
        return False
    steps[me, end, X], steps[me, end, Y], steps[me, end, COSINE], steps[me, end, SINE] = x, y, c, s
    steps[me, end, HEADING], steps[me, end, TIME] = heading, now
    crowd.actions[me, end] = resting
    counts[me, EARLIER] = -1
    link(body, crowd, me, end)
    rest(body, crowd, live, me, now)
    show(body, crowd, live, me)
    return True


@kernel(borrows=True)
def take_away(crowd_handle: ArrayHandle[CrowdArrays], numbers: IntArray) -> None:
    """Empty some places; (N,)."""
    crowd = crowd_handle.value
    rows = crowd.steps.shape[1]
    for me in numbers:
        for k in range(rows):
            unlink(crowd, me * rows + k)
        crowd.counts[me, STATUS], crowd.until[me] = EMPTY, np.inf


@kernel(borrows=True)
def relink(body_handle: ArrayHandle[BodyArrays], crowd_handle: ArrayHandle[CrowdArrays]) -> None:
    """Reserve all plans again, after the chains were emptied."""
    body, crowd = body_handle.value, crowd_handle.value
    counts, end = crowd.counts, crowd.steps.shape[1] - 1
    for me in range(len(counts)):
        planned = False
        for k in range(end):
            planned = planned or crowd.links[me * (end + 1) + k, CHAIN] >= 0
        if counts[me, STATUS] != EMPTY:
            if planned:
                for k in range(counts[me, FIRST], counts[me, COUNT]):
                    link(body, crowd, me, k)
            link(body, crowd, me, end)
