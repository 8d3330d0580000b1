"""Compiled reaching roadmaps: sampling, growth, shortcuts, shortest ways, and smoothing.

The distance of two postures is the mean distance of their marks [m] (Kallmann et al. 2003, section 5); that of one hand
leaves out the marks of the other arm. Edges are straight in the 22 numbers. Numbers are drawn outside.
"""

from __future__ import annotations

import math

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.limbs._joint_kernels import (
    FLEX,
    FLEX_RANGE,
    LOW,
    PLANNED,
    draw_posture,
)
from gaitway.limbs._stance_kernels import (
    AHEAD,
    ANGLE,
    ARM,
    DROP,
    FLEXION,
    LEAN,
    MARKS,
    NUMBERS,
    RAISE,
    RIGHT,
    TURN,
    Stance,
    StanceMemory,
    place_body,
    stance_memory,
    valid_posture,
    write_marks,
    write_states,
)

DRAWS = 24
"""Uniform numbers for one sample: eight for each arm, and eight more."""
BOTH = 2
"""Hand of a distance that counts both arms; else `RIGHT` or `LEFT`."""
STEP, RESOLUTION, MARGIN = range(3)
"""Columns of the numbers of a roadmap: length of an extension [m], greatest way of a mark between two checks of an edge
[m], gap to keep [m]."""
_REGULAR, _RIGHT_HANDED = 0.60, 0.66
"""Shares of regular postures, and of distant ones that are right-handed."""
_STRAIGHT = 0.25
"""Share of the range of an elbow's bend that distant postures use."""
DOWN = -0.3
"""Height of a unit vector below which an arm points down, so that knees may bend."""
TIE = 1e-9
"""Distances that differ by less are equal, and the first counts [m]."""
ALIKE = 5e-3
"""Parts of a path that are no farther from straight are left as they are [rad, m]."""
GROUPS = ((0, ARM), (ARM, 2 * ARM), (2 * ARM, NUMBERS))
"""Columns of right arm, left arm, and trunk with legs, which are smoothed apart where they cannot be together."""


@kernel(inner=True, borrows=True)
def mark_distance(a: FloatArray, b: FloatArray, hand: int) -> float:
    """Return the mean distance of the marks (12, 3) of two postures [m], of both arms or of one."""
    total, count = 0.0, 0
    for p in range(MARKS):
        if hand == BOTH or p < 2 or (p - 2) // 5 == hand:
            square = 0.0
            for d in range(3):
                square += (a[p, d] - b[p, d]) ** 2
            total += math.sqrt(square)
            count += 1
    return total / count


@kernel(inner=True, borrows=True)
def _farthest(a: FloatArray, b: FloatArray) -> float:
    """Return the greatest distance of two marks [m]."""
    most = 0.0
    for p in range(MARKS):
        square = 0.0
        for d in range(3):
            square += (a[p, d] - b[p, d]) ** 2
        most = max(most, square)
    return math.sqrt(most)


@kernel(inner=True, shared=True, borrows=True)
def edge_valid(
    stance: Stance, a: FloatArray, b: FloatArray, way: float, numbers: FloatArray, memory: StanceMemory
) -> bool:
    """Return whether all between two valid postures is valid. `way` is that of the farthest mark [m].

    Postures between them are evenly spaced, and tested from the middle on, ever finer: what is bad is found soon.
    """
    count, x, step = math.ceil(way / numbers[RESOLUTION] - TIE), memory.x, 1
    while step < count:
        step *= 2
    while step > 1:
        for part in range(step // 2, count, step):
            share = part / count
            for k in range(NUMBERS):
                x[k] = a[k] + share * (b[k] - a[k])
            if not valid_posture(stance, x, numbers[MARGIN], memory):
                return False
        step //= 2
    return True


@kernel(inner=True, borrows=True)
def _held(value: float, low: float, high: float) -> float:
    held: float = min(max(value, low), high)
    return held


@kernel(inner=True, borrows=True)
def lead_trunk(
    stance: Stance, hand: int, ahead: float, left: float, up: float, far: float, deep: float, x: FloatArray
) -> None:
    """Let trunk, collarbone and knees of a posture (22,) follow an arm that points somewhere, within their ranges.

    Args:
        stance: the body.
        hand: whose arm.
        ahead: unit vector along which the arm points, in the frame of the stance, with `left` and `up`.
        left: see `ahead`.
        up: see `ahead`.
        far: how far they follow, 0 to 1.
        deep: drop of the pelvis, as a share of the greatest.
        x: the posture; filled.
    """
    inward, ranges = 1.0 if hand == RIGHT else -1.0, stance.ranges
    x[FLEXION] = _held(far * (0.9 * ahead - 0.6 * min(up, 0.0)), ranges[2, 0], ranges[2, 1])
    x[LEAN] = _held(-0.45 * far * left, ranges[3, 0], ranges[3, 1])
    x[TURN] = _held(0.6 * far * inward * max(ahead, 0.0), ranges[4, 0], ranges[4, 1])
    x[DROP] = deep * ranges[5, 1]
    x[ARM * hand + RAISE] = _held(0.4 * far * up, ranges[0, 0], ranges[0, 1])
    x[ARM * hand + AHEAD] = _held(0.4 * far * ahead, ranges[1, 0], ranges[1, 1])


@kernel(inner=True, shared=True, borrows=True)
def draw_sample(stance: Stance, draws: FloatArray, row: int, x: FloatArray, memory: StanceMemory) -> None:
    """Write a posture (22,) from uniform numbers: regular, or one that reaches far (Kallmann et al. 2003, section 4).

    A regular posture moves the trunk little. A distant one has a nearly straight arm; trunk, collarbone and knees
    follow the arm.
    """
    more = 16
    for arm in range(2):
        draw_posture(stance.limits[arm], draws[:, 8 * arm : 8 * arm + 8], row, memory.q)
        for k in range(PLANNED):
            x[ARM * arm + ANGLE + k] = memory.q[k]
        x[ARM * arm + RAISE], x[ARM * arm + AHEAD] = 0.0, 0.0
    if draws[row, more] < _REGULAR:
        x[FLEXION] = -0.06 + 0.20 * draws[row, more + 2]
        x[LEAN] = -0.06 + 0.12 * draws[row, more + 3]
        x[TURN] = -0.10 + 0.20 * draws[row, more + 4]
        x[DROP] = 0.03 * stance.size * draws[row, more + 5]
        return
    hand = RIGHT if draws[row, more + 1] < _RIGHT_HANDED else 1 - RIGHT
    x[FLEXION], x[LEAN], x[TURN], x[DROP] = 0.0, 0.0, 0.0, 0.0
    bend, low = ARM * hand + ANGLE + FLEX, stance.limits[hand, FLEX_RANGE, LOW]
    x[bend] = max(low + _STRAIGHT * (x[bend] - low), 0.0)
    place_body(stance, x, memory)
    shoulder, wrist = stance.joints[hand, 0], stance.joints[hand, 2]
    ahead, left, up, square = 0.0, 0.0, 0.0, 0.0
    for i in range(3):
        way = memory.places[wrist, i] - memory.places[shoulder, i]
        square += way * way
        ahead += stance.frame[i, 0] * way
        left += stance.frame[i, 1] * way
        up += stance.frame[i, 2] * way
    length = max(math.sqrt(square), TIE)
    up /= length
    far, deep = 0.3 + 0.7 * draws[row, more + 2], draws[row, more + 3]
    lead_trunk(stance, hand, ahead / length, left / length, up, far, deep if up < DOWN else 0.1 * deep, x)


@kernel
def draw_samples(stance: Stance, draws: FloatArray, x: FloatArray) -> None:
    """Write postures (N, 22) from uniform numbers (N, 24); see `draw_sample`."""
    memory = stance_memory(stance)
    for n in range(x.shape[0]):
        draw_sample(stance, draws, n, x[n], memory)


@kernel(inner=True, borrows=True)
def hand_distances(marks: FloatArray, hand: int, target: FloatArray, away: FloatArray) -> None:
    """Write how far the middle of a hand is from a target (3,) in each node, given its marks (N, 12, 3) [m]; (N,)."""
    mark = 2 + 5 * hand + 3
    for n in range(marks.shape[0]):
        square = 0.0
        for d in range(3):
            square += (marks[n, mark, d] - target[d]) ** 2
        away[n] = math.sqrt(square)


@kernel(inner=True, borrows=True)
def take_nearest(away: FloatArray) -> int:
    """Return the first of the nearest nodes, given their distances (N,) [m], and take it out for the next call."""
    near = 0
    for n in range(away.shape[0]):
        if away[n] < away[near] - TIE:
            near = n
    away[near] = np.inf
    return near


@kernel(inner=True, borrows=True)
def _nearest(marks: FloatArray, count: int, here: FloatArray, hand: int) -> int:
    near, least = 0, np.inf
    for n in range(count):
        away = mark_distance(marks[n], here, hand)
        if away < least - TIE:
            near, least = n, away
    return near


@kernel
def grow(
    stance: Stance, numbers: FloatArray, draws: FloatArray, nodes: FloatArray, marks: FloatArray, parents: IntArray,
    count: int,
) -> int:  # fmt: skip
    """Grow a tree until all rows of `nodes` (N, 22) are filled or no numbers are left; return how many are filled.

    Args:
        stance: the body.
        numbers: see the columns above; (3,).
        draws: uniform numbers; (R, 24).
        nodes: the first `count` are there already.
        marks: (N, 12, 3).
        parents: the node from which each has grown; (N,).
        count: number of nodes to begin with.
    """
    memory, sample, here = stance_memory(stance), np.empty(NUMBERS), np.empty((MARKS, 3))
    for row in range(draws.shape[0]):
        if count == nodes.shape[0]:
            break
        draw_sample(stance, draws, row, sample, memory)
        if not valid_posture(stance, sample, numbers[MARGIN], memory):
            continue
        write_marks(stance, memory, here)
        near = _nearest(marks, count, here, BOTH)
        share = min(1.0, numbers[STEP] / max(mark_distance(marks[near], here, BOTH), TIE))
        new = nodes[count]
        for k in range(NUMBERS):
            new[k] = nodes[near, k] + share * (sample[k] - nodes[near, k])
        if not valid_posture(stance, new, numbers[MARGIN], memory):
            continue
        write_marks(stance, memory, marks[count])
        if edge_valid(stance, nodes[near], new, _farthest(marks[near], marks[count]), numbers, memory):
            parents[count] = near
            count += 1
    return count


@kernel
def edges_hold(
    stance: Stance, numbers: FloatArray, nodes: FloatArray, marks: FloatArray, edges: IntArray, good: IntArray,
    out: IntArray,
) -> None:  # fmt: skip
    """Write 1 for each edge (E, 2) between good nodes (N,) that is valid."""
    memory = stance_memory(stance)
    for e in range(edges.shape[0]):
        a, b = edges[e, 0], edges[e, 1]
        out[e] = 0
        if good[a] == 1 and good[b] == 1:
            way = _farthest(marks[a], marks[b])
            out[e] = 1 if edge_valid(stance, nodes[a], nodes[b], way, numbers, memory) else 0


@kernel(inner=True, borrows=True)
def _push(heap: FloatArray, items: IntArray, count: int, key: float, item: int) -> int:
    """Add to a heap whose least key is first; return its new size. Equal keys are ordered by item."""
    at = count
    while at > 0:
        up = (at - 1) // 2
        if heap[up] < key or (heap[up] == key and items[up] <= item):
            break
        heap[at], items[at] = heap[up], items[up]
        at = up
    heap[at], items[at] = key, item
    return count + 1


@kernel(inner=True, borrows=True)
def _pop(heap: FloatArray, items: IntArray, count: int) -> int:
    """Remove the first of a heap; return its new size."""
    count -= 1
    key, item, at = heap[count], items[count], 0
    while 2 * at + 1 < count:
        down = 2 * at + 1
        if down + 1 < count and (
            heap[down + 1] < heap[down] or (heap[down + 1] == heap[down] and items[down + 1] < items[down])
        ):
            down += 1
        if key < heap[down] or (key == heap[down] and item <= items[down]):
            break
        heap[at], items[at] = heap[down], items[down]
        at = down
    heap[at], items[at] = key, item
    return count


@kernel
def shortcuts(
    stance: Stance, numbers: FloatArray, nodes: FloatArray, marks: FloatArray, edges: IntArray, leaves: IntArray,
    longest: float, worth: float, links: IntArray,
) -> int:  # fmt: skip
    """Link leaves that are near while the way through the roadmap is long (section 5); return the number of links.

    The way is measured in the roadmap with all links so far, from the nearest pair of each leaf on.

    Args:
        stance: the body.
        numbers: see the columns above; (3,).
        nodes: (N, 22).
        marks: (N, 12, 3).
        edges: of the tree; (E, 2).
        leaves: nodes to link; (L,).
        longest: greatest length of a link [m].
        worth: how many times as long the way must be.
        links: filled; (M, 2).
    """
    memory, size, made = stance_memory(stance), nodes.shape[0], 0
    room = edges.shape[0] + links.shape[0]
    first, after, to, cost = np.full(size, -1), np.full(2 * room, -1), np.empty(2 * room, np.int64), np.empty(2 * room)
    arcs = 0
    for e in range(edges.shape[0]):
        length = mark_distance(marks[edges[e, 0]], marks[edges[e, 1]], BOTH)
        for side in range(2):
            a, b = edges[e, side], edges[e, 1 - side]
            to[arcs], cost[arcs], after[arcs] = b, length, first[a]
            first[a] = arcs
            arcs += 1
    way, stamp = np.empty(size), np.full(size, -1)
    heap, items = np.empty(4 * room + size), np.empty(4 * room + size, np.int64)
    near, lengths = np.empty(leaves.shape[0], np.int64), np.empty(leaves.shape[0])
    for number in range(leaves.shape[0]):
        start, found = leaves[number], 0
        for other in range(number):
            away = mark_distance(marks[start], marks[leaves[other]], BOTH)
            if away < longest:
                near[found], lengths[found] = leaves[other], away
                found += 1
        if found == 0:
            continue
        order = np.argsort(np.round(lengths[:found], 9), kind="mergesort")
        # shortest ways from this leaf, as far as they can matter
        count, stamp[start], way[start] = _push(heap, items, 0, 0.0, start), start, 0.0
        while count > 0:
            here, node = heap[0], items[0]
            count = _pop(heap, items, count)
            if here > way[node]:
                continue
            arc = first[node]
            while arc >= 0:
                there, total = to[arc], here + cost[arc]
                if total < worth * longest and (stamp[there] != start or total < way[there]):
                    stamp[there], way[there] = start, total
                    count = _push(heap, items, count, total, there)
                arc = after[arc]
        linked = 0
        for n in order:
            goal, away = near[n], lengths[n]
            if made == links.shape[0] or linked == 3:
                break
            if stamp[goal] == start and way[goal] <= worth * away + TIE:
                continue
            if edge_valid(stance, nodes[start], nodes[goal], _farthest(marks[start], marks[goal]), numbers, memory):
                links[made, 0], links[made, 1] = goal, start
                made += 1
                linked += 1
                for side in range(2):
                    a, b = links[made - 1, side], links[made - 1, 1 - side]
                    to[arcs], cost[arcs], after[arcs] = b, away, first[a]
                    first[a] = arcs
                    arcs += 1
    return made


@kernel
def distances(a: FloatArray, b: FloatArray, hand: int, out: FloatArray) -> None:
    """Write the distances of marks (N, 12, 3) and (N, 12, 3), row by row [m]."""
    for n in range(out.shape[0]):
        out[n] = mark_distance(a[n], b[n], hand)


@kernel
def shortest(
    first: IntArray, to: IntArray, arcs: IntArray, costs: FloatArray, blocked: IntArray, start: int, goal: int,
    path: IntArray,
) -> int:  # fmt: skip
    """Write the edges of the shortest way between two nodes, from the goal back; return their number, -1 if none.

    Args:
        first: where the arcs of each node begin in `to` and `arcs`; (N + 1,).
        to: the node at the other end of each arc; (2 E,).
        arcs: the edge of each arc; (2 E,).
        costs: of edges; (E,).
        blocked: 1 for each edge that must not be used; (E,).
        start: a node.
        goal: a node.
        path: filled; (N,).
    """
    size = first.shape[0] - 1
    way, by, come = np.full(size, np.inf), np.full(size, -1), np.full(size, -1)
    heap, items = np.empty(to.shape[0] + 1), np.empty(to.shape[0] + 1, np.int64)
    count, way[start] = _push(heap, items, 0, 0.0, start), 0.0
    while count > 0:
        here, node = heap[0], items[0]
        count = _pop(heap, items, count)
        if node == goal:
            length = 0
            while node != start:
                path[length] = by[node]
                node = come[node]
                length += 1
            return length
        if here > way[node]:
            continue
        for arc in range(first[node], first[node + 1]):
            total = here + costs[arcs[arc]]
            if blocked[arcs[arc]] == 0 and total < way[to[arc]] - TIE:
                way[to[arc]], by[to[arc]], come[to[arc]] = total, arcs[arc], node
                count = _push(heap, items, count, total, to[arc])
    return -1


@kernel
def attach(
    stance: Stance, numbers: FloatArray, nodes: FloatArray, marks: FloatArray, x: FloatArray, hand: int, tries: int,
    kept: int,
) -> int:  # fmt: skip
    """Return the nearest of some nodes from which a posture (22,) can be reached directly, or -1.

    Args:
        stance: the body.
        numbers: see the columns above; (3,).
        nodes: (N, 22).
        marks: (N, 12, 3).
        x: the posture.
        hand: whose distance counts.
        tries: number of nodes to try.
        kept: the arm that stays as in `x`, or -1.
    """
    memory, here, there, node = stance_memory(stance), np.empty((MARKS, 3)), np.empty((MARKS, 3)), np.empty(NUMBERS)
    place_body(stance, x, memory)
    write_marks(stance, memory, here)
    away = np.empty(nodes.shape[0])
    for n in range(nodes.shape[0]):
        away[n] = mark_distance(marks[n], here, hand)
    for _ in range(min(tries, nodes.shape[0])):
        near = take_nearest(away)
        for k in range(NUMBERS):
            node[k] = nodes[near, k]
        if kept >= 0:
            for k in range(ARM * kept, ARM * kept + ARM):
                node[k] = x[k]
            if not valid_posture(stance, node, numbers[MARGIN], memory):
                continue
            write_marks(stance, memory, there)
        else:
            there[:] = marks[near]
        if edge_valid(stance, node, x, _farthest(here, there), numbers, memory):
            return near
    return -1


@kernel
def straight_way(stance: Stance, numbers: FloatArray, ends: FloatArray, states: FloatArray) -> bool:
    """Return whether two postures (2, 22) and all between them are valid; write how they are (2, 4)."""
    memory, marks, good = stance_memory(stance), np.empty((2, MARKS, 3)), True
    for n in range(2):
        write_states(stance, ends[n], numbers[MARGIN], memory, states[n])
        write_marks(stance, memory, marks[n])
        for k in range(4):
            good = good and states[n, k] > 0.0
    return good and edge_valid(stance, ends[0], ends[1], _farthest(marks[0], marks[1]), numbers, memory)


@kernel
def first_bad(stance: Stance, numbers: FloatArray, path: FloatArray) -> int:
    """Return the first edge of a path (N, 22) that is not valid, or its inner posture after it; -1 if all are."""
    memory, marks = stance_memory(stance), np.empty((2, MARKS, 3))
    for n in range(path.shape[0]):
        if not valid_posture(stance, path[n], numbers[MARGIN], memory):
            return max(n - 1, 0)
        write_marks(stance, memory, marks[n % 2])
        if n > 0 and not edge_valid(
            stance, path[n - 1], path[n], _farthest(marks[0], marks[1]), numbers, memory
        ):  # fmt: skip
            return n - 1
    return -1


@kernel
def bridge(
    stance: Stance, numbers: FloatArray, nodes: FloatArray, marks: FloatArray, some: IntArray, main: IntArray,
    tries: int, out: IntArray,
) -> bool:  # fmt: skip
    """Link a part of a roadmap (S,) to another (M,) by one of the closest pairs of nodes; write the pair (2,)."""
    memory, near, away = stance_memory(stance), np.empty(some.shape[0], np.int64), np.empty(some.shape[0])
    for s in range(some.shape[0]):
        away[s] = np.inf
        for m in range(main.shape[0]):
            length = mark_distance(marks[some[s]], marks[main[m]], BOTH)
            if length < away[s] - TIE:
                near[s], away[s] = main[m], length
    order = np.argsort(np.round(away, 9), kind="mergesort")
    for n in range(min(tries, some.shape[0])):
        a, b = near[order[n]], some[order[n]]
        if edge_valid(stance, nodes[a], nodes[b], _farthest(marks[a], marks[b]), numbers, memory):
            out[0], out[1] = a, b
            return True
    return False


@kernel
def refine(stance: Stance, path: FloatArray, spacing: float, out: FloatArray) -> int:
    """Write a path (N, 22) with more postures on its edges; return their number, or N if there is no room for more.

    Args:
        stance: the body.
        path: its postures stay.
        spacing: greatest way of the farthest mark from one posture to the next [m].
        out: filled; (M, 22), at least as long as the path.
    """
    memory, marks, count = stance_memory(stance), np.empty((2, MARKS, 3)), path.shape[0]
    parts, total = np.ones(count, np.int64), 1
    for n in range(count):
        place_body(stance, path[n], memory)
        write_marks(stance, memory, marks[n % 2])
        if n > 0:
            parts[n] = max(math.ceil(_farthest(marks[0], marks[1]) / spacing - TIE), 1)
            total += parts[n]
    if total > out.shape[0]:
        parts[:], total = 1, count
    row = 0
    for n in range(count):
        for part in range(parts[n] if n > 0 else 1):
            share = (part + 1.0) / parts[n]
            for k in range(NUMBERS):
                before = path[max(n - 1, 0), k]
                out[row, k] = before + share * (path[n, k] - before)
            row += 1
    for k in range(NUMBERS):
        out[0, k], out[total - 1, k] = path[0, k], path[count - 1, k]
    return total


@kernel(inner=True, shared=True, borrows=True)
def _rows_valid(
    stance: Stance, numbers: FloatArray, rows: FloatArray, low: int, high: int, marks: FloatArray, memory: StanceMemory
) -> bool:
    """Return whether postures between `low` and `high` of a path (N, 22), which are valid, and all edges are.

    They are tested from the middle on, ever finer, and edges after postures: what is bad is found soon.
    """
    count, step = high - low, 1
    while step < count:
        step *= 2
    first = step
    while step > 1:
        for part in range(step // 2, count, step):
            if not valid_posture(stance, rows[low + part], numbers[MARGIN], memory):
                return False
            write_marks(stance, memory, marks[low + part])
        step //= 2
    for end in (low, high):
        place_body(stance, rows[end], memory)
        write_marks(stance, memory, marks[end])
    while first >= 1:
        for part in range(first // 2, count, max(first, 1)):
            n = low + part
            way = _farthest(marks[n], marks[n + 1])
            if not edge_valid(stance, rows[n], rows[n + 1], way, numbers, memory):
                return False
            if first == 1:
                break
        first //= 2
    return True


@kernel(inner=True, shared=True, borrows=True)
def _straighten(
    stance: Stance, numbers: FloatArray, path: FloatArray, low: int, high: int, left: int, right: int,
    rows: FloatArray, marks: FloatArray, memory: StanceMemory,
) -> int:  # fmt: skip
    """Make columns `left` to `right` of a path (N, 22) straight between two of its postures, if that is valid.

    Returns:
        1 if they were made straight, 0 if they cannot be, and -1 if they were straight before.
    """
    most = 0.0
    for n in range(low, high + 1):
        share = (n - low) / (high - low)
        for k in range(NUMBERS):
            rows[n, k] = path[n, k]
            if left <= k < right:
                rows[n, k] = path[low, k] + share * (path[high, k] - path[low, k])
                most = max(most, abs(rows[n, k] - path[n, k]))
    if most < ALIKE:
        return -1
    if not _rows_valid(stance, numbers, rows, low, high, marks, memory):
        return 0
    for n in range(low + 1, high):
        for k in range(NUMBERS):
            path[n, k] = rows[n, k]
    return 1


@kernel
def smooth(stance: Stance, numbers: FloatArray, path: FloatArray, draws: FloatArray) -> int:
    """Make a path (N, 22) of many postures straighter in place (section 6); return how often that went well.

    Halves, quarters and so on come first, then random parts. Where all numbers cannot be straight, right arm, left arm
    and trunk are tried apart.

    Args:
        stance: the body.
        numbers: see the columns above; (3,).
        path: its ends stay.
        draws: uniform numbers, two for each try; (R, 2).
    """
    memory, rows, count = stance_memory(stance), np.empty_like(path), path.shape[0]
    marks, made, size = np.empty((count, MARKS, 3)), 0, 1
    while 2 * size < count:
        for part in range(size):
            low, high = part * (count - 1) // size, (part + 1) * (count - 1) // size
            if high - low > 1 and _straighten(stance, numbers, path, low, high, 0, NUMBERS, rows, marks, memory) == 1:
                made += 1
        if size == 1 and made == 1:
            return made
        size *= 2
    for row in range(draws.shape[0]):
        a, b = int(draws[row, 0] * count), int(draws[row, 1] * count)
        low, high = min(a, b, count - 1), min(max(a, b), count - 1)
        if high - low < 2:
            continue
        whole = _straighten(stance, numbers, path, low, high, 0, NUMBERS, rows, marks, memory)
        made += max(whole, 0)
        if whole != 0:
            continue
        for left, right in GROUPS:
            made += max(_straighten(stance, numbers, path, low, high, left, right, rows, marks, memory), 0)
    return made
