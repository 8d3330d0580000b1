"""The next partial path of a live character (Lau 2009, algorithm 4), on plain arrays."""

from __future__ import annotations

import math

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.live.planning._aim_kernels import EndArrays, Heap, arrange, gather, gather_by_route, pop
from gaitway.live.planning._draft_kernels import BEFORE, FINAL, KEEP, MOVES, STEPS, TRIED, PlanDrafts, enclose
from gaitway.live.planning._draw_kernels import draw_identical, draw_rest, draw_similar
from gaitway.live.planning._nearby_kernels import (
    Nearby,
    look_around,
    move_meets,
    one_of_them_rests,
    place_taken,
    rest_meets,
    rests_near,
)
from gaitway.live.planning._subgoal_kernels import RouteArrays, subgoal
from gaitway.live.playing._crowd_kernels import (
    COSINE,
    HEADING,
    SINE,
    TIME,
    BodyArrays,
    CrowdArrays,
    X,
    Y,
)
from gaitway.live.playing._playing_kernels import (
    ALARM,
    COUNT,
    FAILS,
    FIRST,
    FIXED,
    GOAL_X,
    GOAL_Y,
    ROUTE,
    SHIFT,
    TOLERANCE,
    LiveArrays,
)
from gaitway.space._check_kernels import ActionArrays, near_bits, shortage, static_hit, stays_free
from gaitway.space._clip_choice_kernels import move_free
from gaitway.space._query_kernels import GOAL, START, wrapped
from gaitway.space._traffic_kernels import TrafficArrays
from gaitway.space.fields import FieldArrays
from gaitway.tree.query._query_kernels import (
    BLOCKED,
    STAMP,
    TESTED,
    TreeArrays,
    Work,
    block,
    climb,
    is_blocked,
    is_known,
    note_free,
)

# entries of `LiveArrays.options`
AHEAD, REACH, KEPT, MOST, RETRY, PER_METRE = range(6)
"""Distance of sub-goals, and distance from them that is near enough [m]; number of moves of a path that are kept;
largest number of moves tested for a sub-goal; time to wait after a failure [s]; and cost of a metre."""
_LOOKS = 8
"""Number of points on the line to a sub-goal that are looked at."""
_ATTEMPTS = 4
"""Number of sub-goals that are tried in a turn."""
NEARER = 0.3
"""Least distance by which a character must get nearer to a goal that is taken, to go there at all [m]."""
PATIENCE = 5
"""Number of failures after which no more paths are tested than before."""
_ROUNDED = 0.01
"""Largest error of the end of a path that is read from a tree [m]."""
_SLACK = 1.5
"""Largest cost above that of the best path at which a path is tested at first; each failure adds as much again."""
_WIDER = 5.0
"""Factor on the costs and the number of tested moves, where there is a special obstacle to pass."""
_ANYWHERE = 2.5
"""Largest distance at which a character whose plan leads into a new obstacle comes to rest [m]."""
_BEYOND = 4.0
"""A path is judged by the distance from its end to a point so far beyond the sub-goal [m]."""


@kernel(borrows=True, inner=True)
def walk(
    library: ActionArrays, fields: FieldArrays, passing: IntArray, traffic: TrafficArrays, busy: bool,
    body: BodyArrays, crowd: CrowdArrays, nearby: Nearby, tree: TreeArrays, work: Work, query: FloatArray,
    shortfall: float, node: int,
) -> bool:  # fmt: skip
    """Return whether the path to a node is free of obstacles and other characters, with room to rest at its end."""
    actions, path, state = library.actions, work.path, work.state
    x, y, t = query[START], query[START + 1], query[START + 3]
    c, s = math.cos(query[START + 2]), math.sin(query[START + 2])
    for k in range(climb(tree.links, path, node) - 1, -1, -1):
        at = path[k]
        move = np.int64(tree.links[at] & 255)
        a = tree.actions[move]
        if not is_known(work, at):
            state[TESTED] += 1
            if not move_free(library, fields, passing, traffic, busy, query, shortfall, x, y, c, s, t, a) or move_meets(
                body, crowd, nearby, x, y, c, s, t, a
            ):
                block(tree, work, at)
                return False
            note_free(work, at)
        u, v, tc, ts = actions[a, 0], actions[a, 1], tree.turns[move, 0], tree.turns[move, 1]
        x, y, t = x + c * u - s * v, y + s * u + c * v, t + actions[a, 4]
        c, s = c * tc - s * ts, s * tc + c * ts
    if math.hypot(x - query[GOAL], y - query[GOAL + 1]) > query[GOAL + 2]:
        return False
    resting = tree.rests[np.int64(tree.links[node] & 255)]
    first, end = library.firsts[resting, 0], library.firsts[resting + 1, 0]
    if static_hit(library.static, first, end, fields.squares, fields.place, 0, 0.0, x, y, c, s) >= 0:
        return False
    if rest_meets(body, crowd, nearby, x, y, c, s, t, resting):
        return False
    return not busy or stays_free(library, traffic, x, y, math.atan2(s, c), t, resting)


@kernel(borrows=True, inner=True)
def aim(ends: EndArrays, heap: Heap, query: FloatArray, per_metre: float, beyond: float, slack: float) -> None:
    """Collect the paths that end near the goal of a query.

    A path is better than another if it costs less together with the distance from its end to a point `beyond` the goal
    [m]. Paths that cost more than the best one by more than the slack are left out.
    """
    c, s = math.cos(query[START + 2]), math.sin(query[START + 2])
    dx, dy = query[GOAL] - query[START], query[GOAL + 1] - query[START + 1]
    x, y = c * dx + s * dy, c * dy - s * dx
    share = 1.0 + beyond / max(math.hypot(x, y), 1e-6)
    gather(ends, heap, x, y, query[GOAL + 2], share * x, share * y, per_metre, slack)


@kernel(borrows=True, inner=True, shared=True)
def leave_out_taken(
    body: BodyArrays, crowd: CrowdArrays, nearby: Nearby, ends: EndArrays, heap: Heap, query: FloatArray, c: float,
    s: float,
) -> bool:  # fmt: skip
    """Leave out the paths that end where others rest; return False if there is no end of those who rest near the goal.

    Args:
        body: discs of the actions.
        crowd: the characters.
        nearby: reservations around the character.
        ends: ends of the paths of a tree.
        heap: the paths that wait, in no order.
        query: the query, near whose goal all of them end.
        c: cosine of the heading at the start.
        s: sine of it.
    """
    few = rests_near(body, crowd, nearby, query[GOAL], query[GOAL + 1], query[GOAL + 2] + _ROUNDED, _ROUNDED)
    if few < 0:
        return False
    values, waiting, kept = heap.values, heap.waiting, 0
    for k in range(heap.size[0]):
        end = waiting[k]
        u, v = ends.ends[end, 0], ends.ends[end, 1]
        if not one_of_them_rests(nearby, few, query[START] + c * u - s * v, query[START + 1] + s * u + c * v):
            values[kept], waiting[kept] = values[k], end
            kept += 1
    heap.size[0] = kept
    return True


@kernel(borrows=True, inner=True, shared=True)
def first_free(
    library: ActionArrays, fields: FieldArrays, passing: IntArray, traffic: TrafficArrays, busy: bool,
    body: BodyArrays, crowd: CrowdArrays, nearby: Nearby, tree: TreeArrays, ends: EndArrays, heap: Heap,
    work: Work, query: FloatArray, shortfall: float, most: float,
) -> int:  # fmt: skip
    """Return the node of the first waiting path that is free, or -1 after `most` tests of moves."""
    c, s, state = math.cos(query[START + 2]), math.sin(query[START + 2]), work.state
    state[BLOCKED], state[TESTED] = 0, 0
    state[STAMP] += 1
    # where the goal is crowded most ends are taken: these need not be put in order
    looked = leave_out_taken(body, crowd, nearby, ends, heap, query, c, s)
    arrange(heap)
    while state[TESTED] < most:
        end = pop(heap)
        if end < 0:
            return -1
        node, u, v = int(ends.nodes[end]), ends.ends[end, 0], ends.ends[end, 1]
        # a place that is taken is found out sooner than a way that is blocked
        if is_blocked(work, node) or (not looked and place_taken(
            body, crowd, nearby, query[START] + c * u - s * v, query[START + 1] + s * u + c * v, _ROUNDED
        )):  # fmt: skip
            continue
        if walk(library, fields, passing, traffic, busy, body, crowd, nearby, tree, work, query, shortfall, node):
            return node
    return -1


@kernel(borrows=True, inner=True, shared=True)
def lay(
    library: ActionArrays, body: BodyArrays, drafts: PlanDrafts, slot: int, tree: TreeArrays, work: Work, node: int,
    first: int,
) -> int:  # fmt: skip
    """Write the path to a node into a draft from a first row on, and its end; return its number of steps."""
    steps, actions, path, end = drafts.steps, drafts.actions, work.path, drafts.steps.shape[1] - 1
    count, query = climb(tree.links, path, node), drafts.queries
    x, y, heading, t = query[slot, START], query[slot, START + 1], query[slot, START + 2], query[slot, START + 3]
    a = np.int64(0)
    for k in range(count + 1):
        to, c, s = first + k if k < count else end, math.cos(heading), math.sin(heading)
        steps[slot, to, X], steps[slot, to, Y], steps[slot, to, COSINE], steps[slot, to, SINE] = x, y, c, s
        steps[slot, to, HEADING], steps[slot, to, TIME] = heading, t
        if k < count:
            a = tree.actions[np.int64(tree.links[path[count - 1 - k]] & 255)]
            u, v = library.actions[a, 0], library.actions[a, 1]
            x, y, t = x + c * u - s * v, y + s * u + c * v, t + body.durations[a]
            heading = wrapped(heading + library.actions[a, 2])
        actions[slot, to] = a if k < count else body.rests[a]
    return count


@kernel(borrows=True, inner=True, shared=True)
def write_draft(
    library: ActionArrays, fields: FieldArrays, passing: IntArray, traffic: TrafficArrays, busy: bool,
    body: BodyArrays, crowd: CrowdArrays, live: LiveArrays, drafts: PlanDrafts, slot: int, tree: TreeArrays, work: Work,
    shortfall: float, node: int, final: bool,
) -> bool:  # fmt: skip
    """Write a character's fixed steps and the path to a node as a draft; return False if it has too many steps.

    The path was tested before. Clips that replace those of its steps are tested here.
    """
    steps, actions, rows, me = drafts.steps, drafts.actions, crowd.steps.shape[1], drafts.who[slot]
    first, fixed = crowd.counts[me, FIRST], crowd.counts[me, FIXED]
    before = fixed - first
    if before + climb(tree.links, work.path, node) > rows - 1:
        return False
    for k in range(before):
        for j in range(TIME + 1):
            steps[slot, k, j] = crowd.steps[me, first + k, j]
        actions[slot, k] = crowd.actions[me, first + k]
    number = lay(library, body, drafts, slot, tree, work, node, before)
    kept = number if final else min(int(live.options[KEPT]), number)
    for k in range(number):
        if body.special[actions[slot, before + k]] != 0:
            kept = max(kept, k + 1)
    if len(live.spans) > 0:
        shifted = live.options[SHIFT] != 0.0 and draw_similar(
            library, fields, passing, traffic, busy, body, crowd, live, drafts, slot, before, number, kept, final,
            shortfall,
        )  # fmt: skip
        if not shifted:
            lay(library, body, drafts, slot, tree, work, node, before)
            draw_identical(
                library, fields, passing, traffic, busy, body, crowd, live, drafts, slot, before, kept, shortfall
            )
        draw_rest(library, fields, traffic, busy, body, crowd, live, drafts, slot)
    counts = drafts.counts
    counts[slot, BEFORE], counts[slot, STEPS], counts[slot, KEEP] = before, before + number, before + kept
    counts[slot, FINAL] = 1 if final else 0
    enclose(body, drafts, slot)
    return True


@kernel(borrows=True, inner=True, shared=True)
def choose_goal(
    crowd: CrowdArrays, live: LiveArrays, routes: RouteArrays, me: int, query: FloatArray, attempt: int
) -> bool:
    """Write the sub-goal of an attempt and its tolerance into the query; return whether it is the goal itself.

    The first sub-goal is straight on. Others are to the side, and different ones after each failure.
    """
    counts, numbers, turns, fails = crowd.counts, crowd.numbers, live.turns, crowd.counts[me, FAILS]
    turn = 0 if attempt == 0 else 1 + (3 * fails + attempt - 1) % (len(turns) - 1)
    x, y, ahead = query[START], query[START + 1], live.options[AHEAD] * turns[turn, 0]
    gx, gy, final = subgoal(routes, counts[me, ROUTE], x, y, numbers[me, GOAL_X], numbers[me, GOAL_Y], ahead)
    near, dx, dy = numbers[me, TOLERANCE] if final else live.options[REACH], gx - x, gy - y
    if final and turn > 0:  # the goal may be taken: to come nearer to it is enough
        near = min(near + NEARER * attempt * (1 + fails), math.hypot(dx, dy) - NEARER)
    elif not final:
        angle = -turns[turn, 1] if turn > 0 and (me & 1) == 1 else turns[turn, 1]
        c, s = math.cos(angle), math.sin(angle)
        gx, gy = x + c * dx - s * dy, y + s * dx + c * dy
    query[GOAL], query[GOAL + 1], query[GOAL + 2] = gx, gy, near
    return final and turn == 0


@kernel(borrows=True, inner=True)
def special_ahead(fields: FieldArrays, query: FloatArray) -> bool:
    """Return whether a motion that passes a special obstacle may begin on the line to the goal of a query."""
    x, y, dx, dy = query[START], query[START + 1], query[GOAL] - query[START], query[GOAL + 1] - query[START + 1]
    bits = 0
    for k in range(_LOOKS + 1):
        bits |= near_bits(fields, x + k / _LOOKS * dx, y + k / _LOOKS * dy)
    return bits != 0


@kernel(borrows=True, inner=True, shared=True)
def plan(
    library: ActionArrays, fields: FieldArrays, passing: IntArray, traffic: TrafficArrays, busy: bool,
    body: BodyArrays, crowd: CrowdArrays, live: LiveArrays, routes: RouteArrays, drafts: PlanDrafts, slot: int,
    tree: TreeArrays, thin: EndArrays, full: EndArrays, heap: Heap, work: Work, nearby: Nearby,
) -> bool:  # fmt: skip
    """Draft a character's next partial path from the end of its fixed steps on; return whether there is one.

    Straight on comes first, then other directions; after each failure more paths are tested. Nothing is written but
    the draft and the memory of the query.
    """
    me, query, effort = drafts.who[slot], drafts.queries[slot], drafts.counts
    counts, steps, options = crowd.counts, crowd.steps, live.options
    fixed, end = counts[me, FIXED], steps.shape[1] - 1
    row, last = fixed if fixed < counts[me, COUNT] else end, crowd.actions[me, fixed - 1]
    x, y, heading = steps[me, row, X], steps[me, row, Y], steps[me, row, HEADING]
    query[START], query[START + 1], query[START + 2] = x, y, heading
    query[START + 3] = steps[me, fixed - 1, TIME] + body.durations[last]
    look_around(nearby, me, query[START + 3])
    resting, shortfall = body.rests[last], -np.inf  # on the way one must keep clear from the first move on
    if resting >= 0:
        shortfall = shortage(library, fields, x, y, heading, resting)
    fails, route, per_metre = counts[me, FAILS], counts[me, ROUTE], options[PER_METRE]
    patience, passes = 1.0 + min(fails, PATIENCE), False
    if route >= 0 and fields.near.size > 1:
        choose_goal(crowd, live, routes, me, query, 0)
        passes = special_ahead(fields, query)
    wide = _WIDER if passes else 1.0
    effort[slot, TRIED], effort[slot, MOVES] = 0, 0
    for attempt in range(_ATTEMPTS):
        ends = thin if fails < 2 else full
        if route < 0 or attempt != (0 if passes else 1):
            final = choose_goal(crowd, live, routes, me, query, attempt - 1 if passes else attempt)
            if query[GOAL + 2] <= 0.0:
                continue
            aim(ends, heap, query, per_metre, 0.0 if final else _BEYOND, _SLACK * patience)
        else:  # all around, by how far it is to the goal from there
            ends, final, query[GOAL + 2] = thin, False, np.inf
            c, s = math.cos(heading), math.sin(heading)
            gather_by_route(thin, heap, routes, route, x, y, c, s, per_metre, wide * _SLACK * patience, 2.0 * NEARER)
        effort[slot, TRIED] += 1
        node = first_free(
            library, fields, passing, traffic, busy, body, crowd, nearby, tree, ends, heap, work, query, shortfall,
            options[MOST] * patience * wide,
        )  # fmt: skip
        effort[slot, MOVES] += work.state[TESTED]
        if node >= 0 and write_draft(
            library, fields, passing, traffic, busy, body, crowd, live, drafts, slot, tree, work, shortfall, node, final
        ):
            return True
    if counts[me, ALARM] == 0:
        return False
    # to stand anywhere is better than to go where one must not
    query[GOAL], query[GOAL + 1], query[GOAL + 2] = x, y, _ANYWHERE
    gather(full, heap, 0.0, 0.0, _ANYWHERE, 0.0, 0.0, 0.0, np.inf)
    node = first_free(
        library, fields, passing, traffic, busy, body, crowd, nearby, tree, full, heap, work, query, shortfall,
        options[MOST] * _WIDER,
    )  # fmt: skip
    effort[slot, MOVES] += work.state[TESTED]
    return node >= 0 and write_draft(
        library, fields, passing, traffic, busy, body, crowd, live, drafts, slot, tree, work, shortfall, node, False
    )
