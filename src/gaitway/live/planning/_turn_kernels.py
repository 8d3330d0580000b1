"""Many characters that plan in turn while they are played (Lau 2009, algorithm 4), on plain arrays."""

from __future__ import annotations

import math

import numpy as np

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import IntArray
from gaitway.core.jit import kernel
from gaitway.live.planning._aim_kernels import EndArrays, Heap
from gaitway.live.planning._draft_kernels import (
    DRAWN,
    FINAL,
    FOUND,
    MOVES,
    TAKEN,
    TRIED,
    PlanDrafts,
    meets_any,
    take_over,
)
from gaitway.live.planning._live_kernels import NEARER, PATIENCE, RETRY, plan
from gaitway.live.planning._nearby_kernels import Nearby
from gaitway.live.planning._subgoal_kernels import RouteArrays, length_at
from gaitway.live.playing._crowd_kernels import COSINE, SINE, TIME, BodyArrays, CrowdArrays, X, Y
from gaitway.live.playing._playing_kernels import (
    ALARM,
    ARRIVALS,
    BY_TREE,
    COUNT,
    CURSOR,
    EFFORT,
    FAILS,
    FAILURES,
    FIRST,
    FIXED,
    GOAL_X,
    GOAL_Y,
    GOING,
    HELD,
    IDLE,
    LEFT,
    NOW,
    PLANNED,
    PLANS,
    READY,
    ROUTE,
    SOUGHT,
    SOURCE,
    STATUS,
    TESTS,
    THERE,
    TOLERANCE,
    TRIES,
    LiveArrays,
)
from gaitway.space._check_kernels import ActionArrays
from gaitway.space._clip_choice_kernels import move_free
from gaitway.space._query_kernels import START
from gaitway.space._traffic_kernels import TrafficArrays
from gaitway.space.fields import FieldArrays
from gaitway.tree.query._query_kernels import TreeArrays, Work

_NEAR_BY = 1.5
"""After `PATIENCE` failures a character that stands no farther than this from its goal has arrived [m]."""
_PATIENT = 0.5
"""Additional time to wait after each failure, as a share of the first wait, up to `PATIENCE` times."""
_ALARMED = 60
"""Number of times that a character whose plan leads into a new obstacle tries again in the next step of time."""
AT_ONCE = -1e9
"""Ready time of characters that must plan before all others [s]."""


@kernel(borrows=True, inner=True)
def note_progress(crowd: CrowdArrays, routes: RouteArrays, me: int) -> None:
    """Count a character's turn, or begin to count again if it is nearer to its goal than ever before."""
    counts, numbers, steps, fixed = crowd.counts, crowd.numbers, crowd.steps, crowd.counts[me, FIXED]
    row = fixed if fixed < counts[me, COUNT] else steps.shape[1] - 1
    x, y, left = steps[me, row, X], steps[me, row, Y], np.inf
    if counts[me, ROUTE] >= 0:
        left = length_at(routes, counts[me, ROUTE], x, y)
    if left == np.inf:
        left = math.hypot(x - numbers[me, GOAL_X], y - numbers[me, GOAL_Y])
    if left < numbers[me, LEFT] - NEARER:
        numbers[me, LEFT], counts[me, IDLE], counts[me, SOUGHT] = left, 0, min(counts[me, SOUGHT], 0)
    else:
        counts[me, IDLE] += 1


@kernel(borrows=True, inner=True)
def settle_down(crowd: CrowdArrays, live: LiveArrays, me: int) -> None:
    """Let a character arrive that stands near its goal and has failed to get nearer several times."""
    counts, numbers, end = crowd.counts, crowd.numbers, crowd.steps.shape[1] - 1
    standing = counts[me, COUNT] == 1 and crowd.actions[me, 0] == crowd.actions[me, end]
    dx, dy = numbers[me, GOAL_X] - crowd.steps[me, end, X], numbers[me, GOAL_Y] - crowd.steps[me, end, Y]
    if standing and counts[me, FAILS] >= PATIENCE and math.hypot(dx, dy) <= numbers[me, TOLERANCE] + _NEAR_BY:
        counts[me, STATUS], counts[me, FAILS] = THERE, 0
        live.tally[ARRIVALS] += 1


@kernel(borrows=True)
def hasten(
    library_handle: ArrayHandle[ActionArrays], fields_handle: ArrayHandle[FieldArrays],
    passing_handle: ArrayHandle[IntArray],
    traffic_handle: ArrayHandle[TrafficArrays], busy: bool, body_handle: ArrayHandle[BodyArrays],
    crowd_handle: ArrayHandle[CrowdArrays], live_handle: ArrayHandle[LiveArrays], number: int,
) -> int:  # fmt: skip
    """Let characters plan at once whose next moves are not free any more in a changed world; return their number.

    Args:
        library_handle: actions of the library.
        fields_handle: fields of the world.
        passing_handle: kind of obstacle that each action passes here, see `_query_kernels.find`; (A,).
        traffic_handle: movers.
        busy: whether there are any movers.
        body_handle: discs of the actions.
        crowd_handle: the characters.
        live_handle: the actions that are played.
        number: number of the library whose characters are looked at.
    """
    library, fields, passing = library_handle.value, fields_handle.value, passing_handle.value
    traffic = traffic_handle.value
    crowd, query, found = crowd_handle.value, live_handle.value.query, 0
    steps, counts, libraries, end = crowd.steps, crowd.counts, body_handle.value.libraries, crowd.steps.shape[1] - 1
    query[START] = np.inf  # an infinitely distant start: no move gets the allowance near a start
    for me in range(len(counts)):
        free = counts[me, STATUS] != GOING or libraries[crowd.actions[me, end]] != number
        k = counts[me, FIRST] + 1
        # steps on flights are of no library: they are played whatever changes
        while not free and k < counts[me, COUNT] and (crowd.actions[me, k] >= len(library.actions) or move_free(
            library, fields, passing, traffic, busy, query, -np.inf, steps[me, k, X], steps[me, k, Y],
            steps[me, k, COSINE], steps[me, k, SINE], steps[me, k, TIME], crowd.actions[me, k],
        )):  # fmt: skip
            k += 1
        if not free and k < counts[me, COUNT]:
            crowd.numbers[me, READY], counts[me, ALARM] = AT_ONCE, 1
            found += 1
    return found


@kernel(borrows=True)
def collect_turns(
    body_handle: ArrayHandle[BodyArrays], crowd_handle: ArrayHandle[CrowdArrays], live_handle: ArrayHandle[LiveArrays],
    routes_handle: ArrayHandle[RouteArrays], drafts_handle: ArrayHandle[PlanDrafts],
    state: int, number: int, ready: float, first: int, end: int,
) -> int:  # fmt: skip
    """Note the characters whose turn it is: those that are ready, and whose fixed steps end in a state.

    Args:
        body_handle: discs of the actions.
        crowd_handle: the characters.
        live_handle: the actions that are played.
        routes_handle: routes to the goals.
        drafts_handle: receives the characters.
        state: planner state, by its number in the crowd.
        number: number of the tree in the crowd that begins in this state.
        ready: time by which characters must be ready [s].
        first: first slot of the drafts.
        end: slot after the last one that may be used.

    Returns:
        Slot after the last one that is used.
    """
    body, crowd, live, drafts = body_handle.value, crowd_handle.value, live_handle.value, drafts_handle.value
    counts, numbers, tally, places = crowd.counts, crowd.numbers, live.tally, len(crowd.until)
    me, slot = tally[CURSOR + number], first
    for _ in range(places):
        if slot >= end:
            break
        me = me + 1 if me + 1 < places else 0
        if numbers[me, READY] > ready + NOW or counts[me, STATUS] != GOING or counts[me, HELD] != 0:
            continue
        if body.states[crowd.actions[me, counts[me, FIXED] - 1]] != state:
            continue
        note_progress(crowd, routes_handle.value, me)
        drafts.who[slot], drafts.counts[slot, DRAWN] = me, tally[PLANS] + slot
        drafts.counts[slot, FOUND], drafts.counts[slot, TAKEN] = 0, 0
        for j in range(len(live.query)):
            drafts.queries[slot, j] = live.query[j]
        slot += 1
    tally[CURSOR + number] = me
    return slot


@kernel(borrows=True)
def draft_turns(
    library_handle: ArrayHandle[ActionArrays], fields_handle: ArrayHandle[FieldArrays],
    passing_handle: ArrayHandle[IntArray],
    traffic_handle: ArrayHandle[TrafficArrays], busy: bool, body_handle: ArrayHandle[BodyArrays],
    crowd_handle: ArrayHandle[CrowdArrays],
    live_handle: ArrayHandle[LiveArrays], routes_handle: ArrayHandle[RouteArrays], tree_handle: ArrayHandle[TreeArrays],
    thin_handle: ArrayHandle[EndArrays], full_handle: ArrayHandle[EndArrays], heap_handle: ArrayHandle[Heap],
    work_handle: ArrayHandle[Work], nearby_handle: ArrayHandle[Nearby], drafts_handle: ArrayHandle[PlanDrafts],
    first: int, end: int,
) -> None:  # fmt: skip
    """Draft the plans of some characters. Several threads may do so at once, each with memory of its own.

    Args:
        library_handle: actions of the library.
        fields_handle: fields of the world.
        passing_handle: kind of obstacle that each action passes here, see `_query_kernels.find`; (A,).
        traffic_handle: movers.
        busy: whether there are any movers.
        body_handle: discs of the actions.
        crowd_handle: the characters.
        live_handle: the actions that are played.
        routes_handle: routes to the goals.
        tree_handle: tree that begins in the state in which their fixed steps end.
        thin_handle: ends of the most promising paths of the tree.
        full_handle: ends of all its paths, for characters that found none of the promising ones free.
        heap_handle: memory for ends that wait.
        work_handle: memory of the query.
        nearby_handle: memory for reservations around a character.
        drafts_handle: receives the drafts.
        first: first slot.
        end: slot after the last one.
    """
    library, fields, passing = library_handle.value, fields_handle.value, passing_handle.value
    traffic = traffic_handle.value
    body, crowd, live, routes = body_handle.value, crowd_handle.value, live_handle.value, routes_handle.value
    tree, thin, full, heap = tree_handle.value, thin_handle.value, full_handle.value, heap_handle.value
    work, nearby, drafts = work_handle.value, nearby_handle.value, drafts_handle.value
    for slot in range(first, end):
        found = plan(
            library, fields, passing, traffic, busy, body, crowd, live, routes, drafts, slot, tree, thin, full, heap,
            work, nearby,
        )  # fmt: skip
        drafts.counts[slot, FOUND] = 1 if found else 0


@kernel(borrows=True)
def settle_turns(
    body_handle: ArrayHandle[BodyArrays], crowd_handle: ArrayHandle[CrowdArrays], live_handle: ArrayHandle[LiveArrays],
    drafts_handle: ArrayHandle[PlanDrafts], first: int, end: int, now: float, sure: bool,
) -> int:  # fmt: skip
    """Take drafts over, one after another, up to the first that meets one before it.

    Args:
        body_handle: discs of the actions.
        crowd_handle: the characters.
        live_handle: the actions that are played.
        drafts_handle: the drafts.
        first: first slot.
        end: slot after the last one.
        now: time now [s].
        sure: whether the first was drafted after all before it had been taken over.

    Returns:
        The slot of the draft that must be made again, or `end`.
    """
    body, crowd, live, drafts = body_handle.value, crowd_handle.value, live_handle.value, drafts_handle.value
    counts, numbers, tally = crowd.counts, crowd.numbers, live.tally
    for slot in range(first, end):
        me, found = drafts.who[slot], drafts.counts[slot, FOUND] != 0
        if found and not (sure and slot == first) and meets_any(body, crowd, drafts, slot):
            return slot
        tally[TRIES] += drafts.counts[slot, TRIED]
        tally[TESTS] += drafts.counts[slot, MOVES]
        if found:
            take_over(body, crowd, drafts, slot)
            counts[me, SOURCE], counts[me, EFFORT] = BY_TREE, drafts.counts[slot, MOVES]
            numbers[me, READY] = np.inf if drafts.counts[slot, FINAL] != 0 else drafts.queries[slot, START + 3]
            counts[me, FAILS], counts[me, ALARM], numbers[me, PLANNED] = 0, 0, now
            tally[PLANS] += 1
        else:
            counts[me, FAILS] += 1
            numbers[me, READY] = now + live.options[RETRY] * (1.0 + _PATIENT * min(counts[me, FAILS], PATIENCE))
            if counts[me, ALARM] != 0 and counts[me, FAILS] < _ALARMED:
                numbers[me, READY] = AT_ONCE
            tally[FAILURES] += 1
            settle_down(crowd, live, me)
    return end
