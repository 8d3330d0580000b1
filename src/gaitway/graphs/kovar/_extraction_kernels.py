"""Compiled loops of path synthesis: what an edge costs, a beam for a first bound, and branch and bound.

A state is a row of ten numbers: x, y, heading of the planar move that carries the next edge's frames; x, y of the last
frame's place; arc length gone along the path; error so far; frames so far; a stage; and, in a beam, the error to
expect. Stage 2 s is part s of the path, stage 2 s + 1 the way from part s to the next one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.jit import kernel

X, Y, TURN, LAST_X, LAST_Y, ALONG, ERROR, FRAMES, STAGE, EXPECTED = range(10)
STATE = 10
"""Numbers in a state."""
STAYS, MAY_LEAVE, MUST_LEAVE = range(3)
AHEAD_STEP = 4
"""Frames between the places of `GraphArrays.ahead`."""
SECTORS = 12
"""Headings are told apart by so many sectors of a turn."""


class GraphArrays(NamedTuple):
    """What a search sees of a motion graph: N nodes, E edges. All arrays are read-only."""

    out_starts: IntArray
    """Where each node's edges begin in `out_edges`; (N + 1,)."""
    out_edges: IntArray
    """Edges by the node that they leave; (E,)."""
    heads: IntArray
    """Node that each edge leads to; (E,)."""
    track_starts: IntArray
    """Where each edge's places begin in `track`; (E + 1,)."""
    track: FloatArray
    """Places of the frames of all edges [m]; (S, 2)."""
    moves: FloatArray
    """What each edge adds to the planar move of all that follows; (E, 3)."""
    costs: FloatArray
    """What each edge costs wherever it leads [m^2]; (E,)."""
    headings: FloatArray
    """Where the body goes at each node, as its clip lies in the corpus [rad]; (N,)."""
    ahead: FloatArray
    """Where it will be if its clip goes on, every few frames [m]; (N, A, 2)."""


class PathArrays(NamedTuple):
    """What is asked for. All arrays are read-only."""

    points: FloatArray
    """Of the path, at even distances [m]; (P, 2)."""
    measures: FloatArray
    """Arc length between points; how far from its end a part may be left, before or after; progress along the path that
    every frame counts for at least [m]; and the share by which progress may differ from the way gone; (4,)."""
    part_ends: FloatArray
    """Arc length at which each part of the path ends [m]; (parts,)."""
    inside: BoolArray
    """Edges of each part; (parts, E)."""
    bridges: BoolArray
    """Edges that lead from each part to the next one; (parts, E)."""


class BeamMemory(NamedTuple):
    """Room for `beam`: so many frames, and so many states of each number of frames and sector of headings."""

    states: FloatArray
    """(horizon * SECTORS * width, 10)."""
    nodes: IntArray
    """(horizon * SECTORS * width,)."""
    parents: IntArray
    """(horizon * SECTORS * width,)."""
    via: IntArray
    """(horizon * SECTORS * width,)."""
    filled: IntArray
    """(horizon * SECTORS,)."""
    scratch: FloatArray
    """(10,)."""


class BranchMemory(NamedTuple):
    """Room for `branch_and_bound`: so deep, so many ways at a node."""

    children: FloatArray
    """(depth, ways, 10)."""
    edges: IntArray
    """(depth, ways)."""
    done: BoolArray
    """(depth, ways)."""
    counts: IntArray
    """(depth,)."""
    cursors: IntArray
    """(depth,)."""


class BestWalks(NamedTuple):
    """The best walks, in order."""

    errors: FloatArray
    """(R,); infinite where there is none."""
    lengths: IntArray
    """Numbers of edges; (R,)."""
    walks: IntArray
    """(R, depth)."""


@kernel(borrows=True)
def advance(
    graph: GraphArrays, task: PathArrays, state: FloatArray, edge: int, stage: int, horizon: int, out: FloatArray
) -> bool:
    """Appends an edge to a state; frames beyond the horizon or the path's end cost nothing.

    Args:
        graph: the motion graph.
        task: the path.
        state: (10,).
        edge: which.
        stage: that the edge is taken in.
        horizon: frames that count.
        out: receives the new state; (10,).

    Returns:
        Whether it is complete: the horizon or the path's end is reached.
    """
    cosine, sine = math.cos(state[TURN]), math.sin(state[TURN])
    last_x, last_y, along, error = state[LAST_X], state[LAST_Y], state[ALONG], state[ERROR] + graph.costs[edge]
    frames = int(state[FRAMES])
    step, slack, least, give = task.measures[0], task.measures[1], task.measures[2], task.measures[3]
    length = step * (len(task.points) - 1)
    reach = min(length, task.part_ends[stage // 2] + slack)
    final = stage == 2 * (len(task.part_ends) - 1)
    complete = False
    for row in range(graph.track_starts[edge], graph.track_starts[edge + 1]):
        px, py = graph.track[row, 0], graph.track[row, 1]
        x = state[X] + cosine * px - sine * py
        y = state[Y] + sine * px + cosine * py
        gone = math.sqrt((x - last_x) ** 2 + (y - last_y) ** 2)
        nearest, before = np.inf, along
        for k in range(-1, 2) if give > 0.0 else range(1):
            there = before + max((1.0 + k * give) * gone, least)
            away = _squared_distance(task, min(there, reach) / step, x, y)
            if away < nearest:
                nearest, along = away, there
        error += nearest
        last_x, last_y = x, y
        frames += 1
        if frames >= horizon or (final and along >= length):
            complete = True
            break
    mx, my = graph.moves[edge, 0], graph.moves[edge, 1]
    out[X] = state[X] + cosine * mx - sine * my
    out[Y] = state[Y] + sine * mx + cosine * my
    out[TURN] = state[TURN] + graph.moves[edge, 2]
    out[LAST_X], out[LAST_Y], out[ALONG] = last_x, last_y, along
    out[ERROR], out[FRAMES], out[STAGE] = error, frames, stage
    return complete


@kernel(borrows=True)
def _squared_distance(task: PathArrays, where: float, x: float, y: float) -> float:
    """From a place to the point of the path at an arc length, which is counted in steps [m^2]."""
    low = min(int(where), len(task.points) - 2)
    share = where - low
    dx = x - ((1.0 - share) * task.points[low, 0] + share * task.points[low + 1, 0])
    dy = y - ((1.0 - share) * task.points[low, 1] + share * task.points[low + 1, 1])
    return float(dx * dx + dy * dy)


@kernel(borrows=True)
def leaving(graph: GraphArrays, task: PathArrays, node: int, stage: int, along: float) -> int:
    """Whether the part of the path that a stage is in is left at a node: STAYS, MAY_LEAVE or MUST_LEAVE.

    It may be left near its end, or where none of its edges goes on; and it must be left beyond that, where it can be.
    """
    part = stage // 2
    if stage % 2 == 1:
        return MUST_LEAVE
    if part + 1 == len(task.part_ends):
        return STAYS
    goes_on, leads_out = False, False
    for k in range(graph.out_starts[node], graph.out_starts[node + 1]):
        edge = graph.out_edges[k]
        goes_on = goes_on or task.inside[part, edge]
        leads_out = leads_out or task.inside[part + 1, edge] or task.bridges[part, edge]
    if not leads_out:
        return STAYS
    if not goes_on or along > task.part_ends[part] + task.measures[1]:
        return MUST_LEAVE
    return STAYS if along < task.part_ends[part] - task.measures[1] else MAY_LEAVE


@kernel(borrows=True)
def stage_after(task: PathArrays, stage: int, edge: int, leave: int) -> int:
    """The stage in which an edge may be taken, or -1.

    Args:
        task: the path and its parts.
        stage: now.
        edge: which.
        leave: as `leaving` says.
    """
    part = stage // 2
    if leave != MUST_LEAVE and task.inside[part, edge]:
        return stage
    if leave == STAYS:
        return -1
    if task.inside[part + 1, edge]:
        return 2 * part + 2
    return 2 * part + 1 if task.bridges[part, edge] else -1


@kernel(borrows=True)
def beam(
    graph: GraphArrays, task: PathArrays, node: int, start: FloatArray, horizon: int, width: int, room: BeamMemory,
    walk: IntArray,
) -> tuple[int, float]:  # fmt: skip
    """A good walk: of all states of as many frames that head the same way only the best few go on, one at each node.

    The best are those that will be nearest to the path if their clips go on as they are: on a straight way before a
    corner, who is about to turn is not yet any nearer to it than others.

    Args:
        graph: the motion graph.
        task: the path.
        node: where to begin.
        start: the state there; (10,).
        horizon: frames to go.
        width: states that go on of those that have as many frames and head the same way.
        room: to work in.
        walk: receives the edges of the best walk.

    Returns:
        How many edges it has, 0 if there is none, and its error.
    """
    for k in range(horizon * SECTORS):
        room.filled[k] = 0
    for k in range(STATE):
        room.states[0, k] = start[k]
    room.nodes[0], room.parents[0], room.via[0], room.filled[0] = node, -1, -1, 1
    best, best_parent, best_edge = np.inf, -1, -1
    for group in range(horizon * SECTORS):
        for slot in range(group * width, group * width + room.filled[group]):
            if room.states[slot, ERROR] >= best:
                continue
            here, stage = room.nodes[slot], int(room.states[slot, STAGE])
            leave = leaving(graph, task, here, stage, room.states[slot, ALONG])
            for k in range(graph.out_starts[here], graph.out_starts[here + 1]):
                edge = graph.out_edges[k]
                after = stage_after(task, stage, edge, leave)
                if after < 0:
                    continue
                complete = advance(graph, task, room.states[slot], edge, after, horizon, room.scratch)
                if room.scratch[ERROR] >= best:
                    continue
                if complete:
                    best, best_parent, best_edge = room.scratch[ERROR], slot, edge
                else:
                    _keep(graph, task, room, width, slot, edge)
    if best_parent < 0:
        return 0, np.inf
    count, slot = 1, best_parent
    while room.parents[slot] >= 0:
        count += 1
        slot = room.parents[slot]
    walk[count - 1] = best_edge
    slot = best_parent
    for k in range(count - 2, -1, -1):
        walk[k] = room.via[slot]
        slot = room.parents[slot]
    return count, best


@kernel(borrows=True)
def _expected(graph: GraphArrays, task: PathArrays, node: int, state: FloatArray) -> float:
    """The error that a state will come to if the clip at its node goes on for a while."""
    cosine, sine = math.cos(state[TURN]), math.sin(state[TURN])
    last_x, last_y, along, error = state[LAST_X], state[LAST_Y], state[ALONG], 0.0
    step = task.measures[0]
    length = step * (len(task.points) - 1)
    for k in range(graph.ahead.shape[1]):
        px, py = graph.ahead[node, k, 0], graph.ahead[node, k, 1]
        x = state[X] + cosine * px - sine * py
        y = state[Y] + sine * px + cosine * py
        along += max(math.sqrt((x - last_x) ** 2 + (y - last_y) ** 2), AHEAD_STEP * task.measures[2])
        if along >= length:
            break
        error += AHEAD_STEP * _squared_distance(task, along / step, x, y)
        last_x, last_y = x, y
    return error


@kernel(borrows=True)
def _keep(graph: GraphArrays, task: PathArrays, room: BeamMemory, width: int, parent: int, edge: int) -> None:
    """Puts the state in `scratch` into its group, if it is one of the best there and the best at its node."""
    node = graph.heads[edge]
    room.scratch[EXPECTED] = room.scratch[ERROR] + _expected(graph, task, node, room.scratch)
    turns = (room.scratch[TURN] + graph.headings[node]) / (2.0 * math.pi)
    sector = min(int(SECTORS * (turns - math.floor(turns))), SECTORS - 1)
    group = int(room.scratch[FRAMES]) * SECTORS + sector
    first, count = group * width, room.filled[group]
    place, worst = -1, -1.0
    for other in range(first, first + count):
        if room.nodes[other] == node and room.states[other, STAGE] == room.scratch[STAGE]:
            place, worst = other, np.inf
        elif room.states[other, EXPECTED] > worst:
            place, worst = other, room.states[other, EXPECTED]
    if worst < np.inf and count < width:
        place = first + count
        room.filled[group] += 1
    elif room.scratch[EXPECTED] >= room.states[place, EXPECTED]:
        return
    for m in range(STATE):
        room.states[place, m] = room.scratch[m]
    room.nodes[place], room.parents[place], room.via[place] = node, parent, edge


@kernel(borrows=True)
def branch_and_bound(
    graph: GraphArrays, task: PathArrays, node: int, start: FloatArray, horizon: int, enough: float, budget: int,
    room: BranchMemory, best: BestWalks,
) -> int:  # fmt: skip
    """The best walks of a horizon, by depth-first search that never goes on with a walk worse than those it has.

    Children are tried from the cheapest on.

    Args:
        graph: the motion graph.
        task: the path.
        node: where to begin.
        start: the state there; (10,).
        horizon: frames to go.
        enough: a walk with less error than this is good enough, and the search ends.
        budget: edges to look at, at most.
        room: to work in.
        best: walks that are known already, and then the best ones.

    Returns:
        How many edges were looked at.
    """
    depth, last = 0, len(best.errors) - 1
    looked = graph.out_starts[node + 1] - graph.out_starts[node]
    room.counts[0] = _expand(graph, task, node, start, horizon, best.errors[last], room, 0)
    room.cursors[0] = 0
    while depth >= 0:
        at = room.cursors[depth]
        if at >= room.counts[depth] or room.children[depth, at, ERROR] >= best.errors[last]:  # the rest is dearer still
            depth -= 1
            continue
        room.cursors[depth] += 1
        if room.done[depth, at]:
            _insert(room, depth, at, best)
            if best.errors[0] < enough:
                break
            continue
        if looked >= budget:
            break
        here = graph.heads[room.edges[depth, at]]
        state = room.children[depth, at]
        depth += 1
        room.counts[depth] = _expand(graph, task, here, state, horizon, best.errors[last], room, depth)
        room.cursors[depth] = 0
        looked += graph.out_starts[here + 1] - graph.out_starts[here]
    return int(looked)


@kernel(borrows=True)
def _expand(
    graph: GraphArrays, task: PathArrays, node: int, state: FloatArray, horizon: int, bound: float, room: BranchMemory,
    depth: int,
) -> int:  # fmt: skip
    """All that may follow a state and is under a bound, in order of error; how many there are."""
    count, stage = 0, int(state[STAGE])
    leave = leaving(graph, task, node, stage, state[ALONG])
    for k in range(graph.out_starts[node], graph.out_starts[node + 1]):
        edge = graph.out_edges[k]
        after = stage_after(task, stage, edge, leave)
        if after < 0:
            continue
        complete = advance(graph, task, state, edge, after, horizon, room.children[depth, count])
        if room.children[depth, count, ERROR] >= bound:
            continue
        room.edges[depth, count], room.done[depth, count] = edge, complete
        at = count
        while at > 0 and room.children[depth, at, ERROR] < room.children[depth, at - 1, ERROR]:
            for m in range(STATE):
                other = room.children[depth, at - 1, m]
                room.children[depth, at - 1, m] = room.children[depth, at, m]
                room.children[depth, at, m] = other
            edge_before, done_before = room.edges[depth, at - 1], room.done[depth, at - 1]
            room.edges[depth, at - 1], room.done[depth, at - 1] = room.edges[depth, at], room.done[depth, at]
            room.edges[depth, at], room.done[depth, at] = edge_before, done_before
            at -= 1
        count += 1
    return count


@kernel(borrows=True)
def _insert(room: BranchMemory, depth: int, child: int, best: BestWalks) -> None:
    """Puts the walk down to a child among the best ones, unless it is there already."""
    error = room.children[depth, child, ERROR]
    for known in range(len(best.errors)):
        if best.errors[known] == error and best.lengths[known] == depth + 1:
            same = True
            for k in range(depth + 1):
                same = same and best.walks[known, k] == room.edges[k, room.cursors[k] - 1]
            if same:
                return
    at = len(best.errors) - 1
    while at > 0 and best.errors[at - 1] > error:
        best.errors[at], best.lengths[at] = best.errors[at - 1], best.lengths[at - 1]
        for k in range(best.lengths[at]):
            best.walks[at, k] = best.walks[at - 1, k]
        at -= 1
    best.errors[at], best.lengths[at] = error, depth + 1
    for k in range(depth + 1):
        best.walks[at, k] = room.edges[k, room.cursors[k] - 1]
