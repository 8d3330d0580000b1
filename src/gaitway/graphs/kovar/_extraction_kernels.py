"""Kernels of the search for walks along a path: costs of edges, a beam search for a first bound, and branch and bound.

The state of a walk is a row of numbers with the columns X to EXPECTED. Stage 2 s is part s of the path, and stage
2 s + 1 is the transition from part s to the next one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.jit import kernel

X, Y, TURN, LAST_X, LAST_Y, ALONG, ERROR, FRAMES, STAGE, EXPECTED = range(10)
"""Columns of a state: planar move of the next edge's frames (x, y [m], heading [rad]); place of the last frame (x, y
[m]); arc length along the path [m]; error so far [m^2]; frames so far; stage; expected error, in a beam [m^2]. X, Y and
TURN are the columns of planar moves and places too."""
STATE = 10
"""Number of columns of a state."""
POINT_STEP, PART_SLACK, LEAST_PROGRESS, PROGRESS_SHARE = range(4)
"""Entries of `PathArrays.measures`."""
STAYS, MAY_LEAVE, MUST_LEAVE = range(3)
"""Whether a walk stays in its part of the path."""
AHEAD_STEP = 4
"""Number of frames between the places of `GraphArrays.ahead`."""
SECTORS = 12
"""Number of sectors of a full turn by which a beam distinguishes headings."""


class GraphArrays(NamedTuple):
    """Motion graph of N nodes and E edges as arrays. All arrays are read-only."""

    out_starts: IntArray
    """Entry of `out_edges` at which each node's edges begin; (N + 1,)."""
    out_edges: IntArray
    """Edges, sorted by the node that they leave; (E,)."""
    heads: IntArray
    """Node that each edge leads to; (E,)."""
    track_starts: IntArray
    """Row of `track` at which each edge begins; (E + 1,)."""
    track: FloatArray
    """Places of the frames of all edges [m]; (S, 2)."""
    moves: FloatArray
    """Planar move that each edge adds to the moves of later edges; (E, 3)."""
    costs: FloatArray
    """Cost of each edge, independent of the path [m^2]; (E,)."""
    headings: FloatArray
    """Direction of travel at each node, as its clip lies in the corpus [rad]; (N,)."""
    ahead: FloatArray
    """Places of the body if the clip at each node continues, every AHEAD_STEP frames [m]; (N, A, 2)."""


class PathArrays(NamedTuple):
    """Path and its parts as arrays. All arrays are read-only."""

    points: FloatArray
    """Points of the path at equal distances [m]; (P, 2)."""
    measures: FloatArray
    """POINT_STEP: arc length between points [m]. PART_SLACK: largest distance from the end of a part at which a walk
    may leave it [m]. LEAST_PROGRESS: least progress along the path in a frame [m]. PROGRESS_SHARE: share by which the
    progress may differ from the distance that the body covers. (4,)."""
    part_ends: FloatArray
    """Arc length at which each part of the path ends [m]; (parts,)."""
    inside: BoolArray
    """Edges that each part may use; (parts, E)."""
    bridges: BoolArray
    """Edges that lead from each part to the next part; (parts, E)."""


class BeamMemory(NamedTuple):
    """Memory of `beam`: `width` slots for each number of frames and each sector of headings (a group)."""

    states: FloatArray
    """State in each slot; (horizon * SECTORS * width, STATE)."""
    nodes: IntArray
    """Node of each state; (horizon * SECTORS * width,)."""
    parents: IntArray
    """Slot of the state before each state, or -1; (horizon * SECTORS * width,)."""
    via: IntArray
    """Edge that leads to each state, or -1; (horizon * SECTORS * width,)."""
    filled: IntArray
    """Number of filled slots of each group; (horizon * SECTORS,)."""
    scratch: FloatArray
    """State that is being computed; (STATE,)."""


class BranchMemory(NamedTuple):
    """Memory of `branch_and_bound`, by depth of the search and number of edges that leave a node (ways)."""

    children: FloatArray
    """States after each edge, in order of error; (depth, ways, STATE)."""
    edges: IntArray
    """Edges to these states; (depth, ways)."""
    done: BoolArray
    """Whether these states are complete; (depth, ways)."""
    counts: IntArray
    """Number of states at each depth; (depth,)."""
    cursors: IntArray
    """Next state to try at each depth; (depth,)."""


class BestWalks(NamedTuple):
    """The R best walks, in order of error."""

    errors: FloatArray
    """Error of each walk [m^2]; infinite if there is none; (R,)."""
    lengths: IntArray
    """Number of edges of each walk; (R,)."""
    walks: IntArray
    """Edges of each walk; (R, depth)."""


@kernel(borrows=True)
def advance(
    graph: GraphArrays, task: PathArrays, state: FloatArray, edge: int, stage: int, horizon: int, out: FloatArray
) -> bool:
    """Append an edge to a state; frames beyond the horizon or the end of the path cost nothing.

    Args:
        graph: Motion graph.
        task: Path.
        state: State before the edge; (STATE,).
        edge: Edge to append.
        stage: Stage in which the edge is taken.
        horizon: Number of frames that count.
        out: Receives the new state; (STATE,).

    Returns:
        Whether the walk is complete: it has reached the horizon or the end of the path.
    """
    cosine, sine = math.cos(state[TURN]), math.sin(state[TURN])
    last_x, last_y, along, error = state[LAST_X], state[LAST_Y], state[ALONG], state[ERROR] + graph.costs[edge]
    frames = int(state[FRAMES])
    step, slack = task.measures[POINT_STEP], task.measures[PART_SLACK]
    least, give = task.measures[LEAST_PROGRESS], task.measures[PROGRESS_SHARE]
    length = step * (len(task.points) - 1)
    reach = min(length, task.part_ends[stage // 2] + slack)
    final = stage == 2 * (len(task.part_ends) - 1)
    complete = False
    for row in range(graph.track_starts[edge], graph.track_starts[edge + 1]):
        px, py = graph.track[row, X], graph.track[row, Y]
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
    mx, my = graph.moves[edge, X], graph.moves[edge, Y]
    out[X] = state[X] + cosine * mx - sine * my
    out[Y] = state[Y] + sine * mx + cosine * my
    out[TURN] = state[TURN] + graph.moves[edge, TURN]
    out[LAST_X], out[LAST_Y], out[ALONG] = last_x, last_y, along
    out[ERROR], out[FRAMES], out[STAGE] = error, frames, stage
    return complete


@kernel(borrows=True, inner=True)
def _squared_distance(task: PathArrays, where: float, x: float, y: float) -> float:
    """Return the squared distance from a place to a point of the path [m^2]; `where` is its arc length in steps."""
    low = min(int(where), len(task.points) - 2)
    share = where - low
    dx = x - ((1.0 - share) * task.points[low, X] + share * task.points[low + 1, X])
    dy = y - ((1.0 - share) * task.points[low, Y] + share * task.points[low + 1, Y])
    return float(dx * dx + dy * dy)


@kernel(borrows=True)
def leaving(graph: GraphArrays, task: PathArrays, node: int, stage: int, along: float) -> int:
    """Return whether a walk leaves its part of the path at a node: STAYS, MAY_LEAVE or MUST_LEAVE.

    A walk may leave a part near its end. It must leave beyond that, or if no edge of the part continues, as soon as an
    edge leads out.
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
    if not goes_on or along > task.part_ends[part] + task.measures[PART_SLACK]:
        return MUST_LEAVE
    return STAYS if along < task.part_ends[part] - task.measures[PART_SLACK] else MAY_LEAVE


@kernel(borrows=True)
def stage_after(task: PathArrays, stage: int, edge: int, leave: int) -> int:
    """Return the stage in which an edge may be taken, or -1.

    Args:
        task: Path and its parts.
        stage: Current stage.
        edge: Edge.
        leave: Result of `leaving`.
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
    graph: GraphArrays, task: PathArrays, node: int, start: FloatArray, horizon: int, width: int, memory: BeamMemory,
    walk: IntArray,
) -> tuple[int, float]:  # fmt: skip
    """Find a good walk: of all states with equal frames and similar heading, only the best few are extended.

    The best states are those that will be nearest to the path if their clips continue. On a straight line before a
    corner, a walk that is about to turn is not yet nearer to the path than others.

    Args:
        graph: Motion graph.
        task: Path.
        node: First node.
        start: State at the first node; (STATE,).
        horizon: Number of frames of the walk.
        width: Number of states that are extended of each group.
        memory: Memory to work in.
        walk: Receives the edges of the best walk.

    Returns:
        The number of edges, 0 if there is no walk, and the error of the walk [m^2].
    """
    for k in range(horizon * SECTORS):
        memory.filled[k] = 0
    for k in range(STATE):
        memory.states[0, k] = start[k]
    memory.nodes[0], memory.parents[0], memory.via[0], memory.filled[0] = node, -1, -1, 1
    best, best_parent, best_edge = np.inf, -1, -1
    for group in range(horizon * SECTORS):
        for slot in range(group * width, group * width + memory.filled[group]):
            if memory.states[slot, ERROR] >= best:
                continue
            here, stage = memory.nodes[slot], int(memory.states[slot, STAGE])
            leave = leaving(graph, task, here, stage, memory.states[slot, ALONG])
            for k in range(graph.out_starts[here], graph.out_starts[here + 1]):
                edge = graph.out_edges[k]
                after = stage_after(task, stage, edge, leave)
                if after < 0:
                    continue
                complete = advance(graph, task, memory.states[slot], edge, after, horizon, memory.scratch)
                if memory.scratch[ERROR] >= best:
                    continue
                if complete:
                    best, best_parent, best_edge = memory.scratch[ERROR], slot, edge
                else:
                    _keep(graph, task, memory, width, slot, edge)
    if best_parent < 0:
        return 0, np.inf
    count, slot = 1, best_parent
    while memory.parents[slot] >= 0:
        count += 1
        slot = memory.parents[slot]
    walk[count - 1] = best_edge
    slot = best_parent
    for k in range(count - 2, -1, -1):
        walk[k] = memory.via[slot]
        slot = memory.parents[slot]
    return count, best


@kernel(borrows=True, inner=True)
def _expected(graph: GraphArrays, task: PathArrays, node: int, state: FloatArray) -> float:
    """Return the error that a state will add if the clip at its node continues for a while [m^2]."""
    cosine, sine = math.cos(state[TURN]), math.sin(state[TURN])
    last_x, last_y, along, error = state[LAST_X], state[LAST_Y], state[ALONG], 0.0
    step = task.measures[POINT_STEP]
    length = step * (len(task.points) - 1)
    for k in range(graph.ahead.shape[1]):
        px, py = graph.ahead[node, k, X], graph.ahead[node, k, Y]
        x = state[X] + cosine * px - sine * py
        y = state[Y] + sine * px + cosine * py
        along += max(math.sqrt((x - last_x) ** 2 + (y - last_y) ** 2), AHEAD_STEP * task.measures[LEAST_PROGRESS])
        if along >= length:
            break
        error += AHEAD_STEP * _squared_distance(task, along / step, x, y)
        last_x, last_y = x, y
    return error


@kernel(borrows=True, inner=True)
def _keep(graph: GraphArrays, task: PathArrays, memory: BeamMemory, width: int, parent: int, edge: int) -> None:
    """Put the state in `scratch` into its group, if it is one of the best there and the best at its node."""
    node = graph.heads[edge]
    memory.scratch[EXPECTED] = memory.scratch[ERROR] + _expected(graph, task, node, memory.scratch)
    turns = (memory.scratch[TURN] + graph.headings[node]) / (2.0 * math.pi)
    sector = min(int(SECTORS * (turns - math.floor(turns))), SECTORS - 1)
    group = int(memory.scratch[FRAMES]) * SECTORS + sector
    first, count = group * width, memory.filled[group]
    place, worst = -1, -1.0
    for other in range(first, first + count):
        if memory.nodes[other] == node and memory.states[other, STAGE] == memory.scratch[STAGE]:
            place, worst = other, np.inf
        elif memory.states[other, EXPECTED] > worst:
            place, worst = other, memory.states[other, EXPECTED]
    if worst < np.inf and count < width:
        place = first + count
        memory.filled[group] += 1
    elif memory.scratch[EXPECTED] >= memory.states[place, EXPECTED]:
        return
    for m in range(STATE):
        memory.states[place, m] = memory.scratch[m]
    memory.nodes[place], memory.parents[place], memory.via[place] = node, parent, edge


@kernel(borrows=True)
def branch_and_bound(
    graph: GraphArrays, task: PathArrays, node: int, start: FloatArray, horizon: int, enough: float, budget: int,
    memory: BranchMemory, best: BestWalks,
) -> int:  # fmt: skip
    """Find the best walks by a depth-first search that never extends a walk that is worse than the known ones.

    The cheapest edges are tried first.

    Args:
        graph: Motion graph.
        task: Path.
        node: First node.
        start: State at the first node; (STATE,).
        horizon: Number of frames of the walk.
        enough: Error below which a walk ends the search [m^2].
        budget: Largest number of edges to examine.
        memory: Memory to work in.
        best: Walks that are known before the search; receives the best walks.

    Returns:
        The number of examined edges.
    """
    depth, last = 0, len(best.errors) - 1
    looked = graph.out_starts[node + 1] - graph.out_starts[node]
    memory.counts[0] = _expand(graph, task, node, start, horizon, best.errors[last], memory, 0)
    memory.cursors[0] = 0
    while depth >= 0:
        at = memory.cursors[depth]
        if at >= memory.counts[depth] or memory.children[depth, at, ERROR] >= best.errors[last]:
            depth -= 1  # the remaining ones cost even more
            continue
        memory.cursors[depth] += 1
        if memory.done[depth, at]:
            _insert(memory, depth, at, best)
            if best.errors[0] < enough:
                break
            continue
        if looked >= budget:
            break
        here = graph.heads[memory.edges[depth, at]]
        state = memory.children[depth, at]
        depth += 1
        memory.counts[depth] = _expand(graph, task, here, state, horizon, best.errors[last], memory, depth)
        memory.cursors[depth] = 0
        looked += graph.out_starts[here + 1] - graph.out_starts[here]
    return int(looked)


@kernel(borrows=True, inner=True, shared=True)
def _expand(
    graph: GraphArrays, task: PathArrays, node: int, state: FloatArray, horizon: int, bound: float,
    memory: BranchMemory, depth: int,
) -> int:  # fmt: skip
    """Write all states that may follow a state and are below a bound, in order of error; return their number."""
    count, stage = 0, int(state[STAGE])
    leave = leaving(graph, task, node, stage, state[ALONG])
    for k in range(graph.out_starts[node], graph.out_starts[node + 1]):
        edge = graph.out_edges[k]
        after = stage_after(task, stage, edge, leave)
        if after < 0:
            continue
        complete = advance(graph, task, state, edge, after, horizon, memory.children[depth, count])
        if memory.children[depth, count, ERROR] >= bound:
            continue
        memory.edges[depth, count], memory.done[depth, count] = edge, complete
        at = count
        while at > 0 and memory.children[depth, at, ERROR] < memory.children[depth, at - 1, ERROR]:
            for m in range(STATE):
                other = memory.children[depth, at - 1, m]
                memory.children[depth, at - 1, m] = memory.children[depth, at, m]
                memory.children[depth, at, m] = other
            edge_before, done_before = memory.edges[depth, at - 1], memory.done[depth, at - 1]
            memory.edges[depth, at - 1], memory.done[depth, at - 1] = memory.edges[depth, at], memory.done[depth, at]
            memory.edges[depth, at], memory.done[depth, at] = edge_before, done_before
            at -= 1
        count += 1
    return count


@kernel(borrows=True, inner=True, shared=True)
def _insert(memory: BranchMemory, depth: int, child: int, best: BestWalks) -> None:
    """Insert the walk that leads to a child into the best walks, unless it is there already."""
    error = memory.children[depth, child, ERROR]
    for known in range(len(best.errors)):
        if best.errors[known] == error and best.lengths[known] == depth + 1:
            same = True
            for k in range(depth + 1):
                same = same and best.walks[known, k] == memory.edges[k, memory.cursors[k] - 1]
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
        best.walks[at, k] = memory.edges[k, memory.cursors[k] - 1]
