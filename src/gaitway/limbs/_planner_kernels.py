"""Compiled planner of one limb in posture and time: two trees that grow toward one another (Shapiro et al. 2007, 4.1).

A state is seven offsets from the posture that the motion itself has at that time [rad], and the time [s]. Edges are
straight in the offset, so the motion's own swing goes on along them. Time only grows from the start to the goal. No
joint angle changes faster than a cap, and the search for the nearest node leaves out those that the cap cuts off.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.limbs._collision_kernels import Around, GapMemory, frame_at, gap_memory, least_gap
from gaitway.limbs._joint_kernels import ANGLES, PLANNED, draw_posture, limb_frames, within

TIME = PLANNED
"""Column of the time in a state (8,)."""
TIME_WEIGHT, POSTURE_WEIGHT, STEP, FASTEST, TIME_RESOLUTION, SPACE_RESOLUTION, MARGIN = range(7)
"""Columns of the numbers of a plan: metres that a second counts, and that a metre counts; length of an extension [m];
greatest speed of an offset [rad/s]; greatest time [s] and way [m] between two checks of an edge; gap to keep [m]."""
DRAWS = 9
"""Uniform numbers for one sample: seven angles (in eight columns), and the time."""
_TRIES = 60
"""Samples that are drawn for one that is valid."""
_NARROW, _OPEN = 0.2, 120.0
"""Share of the way from the motion's own posture to a drawn one at first, and iterations after which it is all."""


class LimbTable(NamedTuple):
    """A limb on its motion over some frames, and what is around it."""

    starts: FloatArray
    """Places of shoulder or hip [m]; (F, 3)."""
    bases: FloatArray
    """Frames that the limb hangs on; (F, 3, 3)."""
    source: FloatArray
    """Postures of the motion itself [rad]; (F, 9)."""
    lengths: FloatArray
    """(2,) [m]."""
    limits: FloatArray
    """(5 + 3 W, 4), see `LimbLimits.table`."""
    segments: IntArray
    """Segment of each capsule; (K,)."""
    capsule_starts: FloatArray
    """(K, 3) [m]."""
    capsule_ends: FloatArray
    """(K, 3) [m]."""
    radii: FloatArray
    """(K,) [m]."""
    tips: FloatArray
    """Points of the last segment by which postures are compared, in its frame [m]; (P, 3)."""
    around: Around


class Memory(NamedTuple):
    """Memory of a plan."""

    q: FloatArray
    frames: FloatArray
    joints: FloatArray
    swing: FloatArray
    base: FloatArray
    start: FloatArray
    ends: FloatArray
    gap: GapMemory
    state: FloatArray


@kernel(inner=True)
def _memory(table: LimbTable) -> Memory:
    count = table.radii.shape[0]
    return Memory(
        np.empty(ANGLES), np.empty((3, 3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty(3),
        np.empty((count, 2, 3)), gap_memory(count), np.empty(PLANNED + 1),
    )  # fmt: skip


@kernel(inner=True, shared=True, borrows=True)
def _pose(table: LimbTable, state: FloatArray, memory: Memory) -> None:
    """Write the posture, the start and the base of a state into the memory."""
    i, share = frame_at(table.around, state[TIME])
    j = min(i + 1, table.source.shape[0] - 1)
    for k in range(ANGLES):
        memory.q[k] = (1.0 - share) * table.source[i, k] + share * table.source[j, k]
    for k in range(PLANNED):
        memory.q[k] += state[k]
    for k in range(3):
        memory.start[k] = (1.0 - share) * table.starts[i, k] + share * table.starts[j, k]
        for d in range(3):
            memory.base[k, d] = (1.0 - share) * table.bases[i, k, d] + share * table.bases[j, k, d]


@kernel(inner=True, shared=True, borrows=True)
def gap_of(table: LimbTable, state: FloatArray, bar: float, stop: bool, memory: Memory) -> float:
    """Return the least gap of a state to what is around it [m], -2 beyond the limits of joints; see `least_gap`."""
    _pose(table, state, memory)
    if not within(table.limits, memory.q):
        return -2.0
    limb_frames(memory.base, memory.start, table.lengths, memory.q, memory.frames, memory.joints, memory.swing)
    for k in range(table.radii.shape[0]):
        s = table.segments[k]
        for d in range(3):
            a, b = memory.joints[s, d], memory.joints[s, d]
            for e in range(3):
                a += memory.frames[s, d, e] * table.capsule_starts[k, e]
                b += memory.frames[s, d, e] * table.capsule_ends[k, e]
            memory.ends[k, 0, d], memory.ends[k, 1, d] = a, b
    return least_gap(memory.ends, table.radii, state[TIME], table.around, bar, stop, memory.gap)


@kernel(inner=True, borrows=True)
def _valid(table: LimbTable, state: FloatArray, margin: float, memory: Memory) -> bool:
    return gap_of(table, state, margin, True, memory) >= margin


@kernel(inner=True, shared=True, borrows=True)
def _marks(table: LimbTable, state: FloatArray, memory: Memory, out: FloatArray) -> None:
    """Write the points (2 + P, 3) of a state by which it is compared, as seen from where the limb hangs [m]."""
    _pose(table, state, memory)
    for k in range(3):
        memory.start[k] = 0.0
        for d in range(3):
            memory.base[k, d] = 1.0 if k == d else 0.0
    limb_frames(memory.base, memory.start, table.lengths, memory.q, memory.frames, memory.joints, memory.swing)
    for d in range(3):
        out[0, d], out[1, d] = memory.joints[1, d], memory.joints[2, d]
        for p in range(table.tips.shape[0]):
            out[2 + p, d] = memory.joints[2, d]
            for e in range(3):
                out[2 + p, d] += memory.frames[2, d, e] * table.tips[p, e]


@kernel(inner=True, borrows=True)
def _way(a: FloatArray, b: FloatArray) -> float:
    """Return the greatest distance of the points of two postures [m] (Shapiro et al. 2007, the metric of 4.1)."""
    most = 0.0
    for p in range(a.shape[0]):
        square = 0.0
        for d in range(3):
            square += (a[p, d] - b[p, d]) ** 2
        most = max(most, square)
    return math.sqrt(most)


@kernel(inner=True, borrows=True)
def _slow_enough(a: FloatArray, b: FloatArray, fastest: float) -> bool:
    """Return whether the later state b can follow a."""
    time = b[TIME] - a[TIME]
    if time <= 1e-6:
        return False
    most = 0.0
    for k in range(PLANNED):
        most = max(most, abs(b[k] - a[k]))
    slow: bool = most <= fastest * time
    return slow


@kernel(inner=True, shared=True, borrows=True)
def _edge(
    table: LimbTable, a: FloatArray, b: FloatArray, way: float, numbers: FloatArray, checks: IntArray, memory: Memory
) -> bool:
    """Return whether all between two valid states is valid, by bisection: the middle first, then the quarters."""
    if not _slow_enough(a, b, numbers[FASTEST]):
        return False
    need = max((b[TIME] - a[TIME]) / numbers[TIME_RESOLUTION], way / numbers[SPACE_RESOLUTION])
    state, size = memory.state, 1
    while size < need:
        for part in range(size):
            share = (2 * part + 1) / (2.0 * size)
            for k in range(PLANNED + 1):
                state[k] = a[k] + share * (b[k] - a[k])
            checks[0] += 1
            if not _valid(table, state, numbers[MARGIN], memory):
                return False
        size *= 2
    return True


@kernel(inner=True, shared=True, borrows=True)
def _drawn(
    table: LimbTable, draws: FloatArray, row: int, share: float, time: float, memory: Memory, state: FloatArray
) -> None:
    """Write a state toward a posture drawn within the limits: a share of the way from the motion's own."""
    draw_posture(table.limits, draws, row, memory.q)
    for k in range(PLANNED):
        state[k] = memory.q[k]
    i, part = frame_at(table.around, time)
    j = min(i + 1, table.source.shape[0] - 1)
    for k in range(PLANNED):
        state[k] = share * (state[k] - (1.0 - part) * table.source[i, k] - part * table.source[j, k])
    state[TIME] = time


@kernel
def grow(
    table: LimbTable, numbers: FloatArray, begin: float, end: float, draws: FloatArray, iterations: int,
    checks: IntArray,
) -> FloatArray:  # fmt: skip
    """Grow two trees from the motion at two times until they meet; return the path (N, 8), empty if they do not.

    Args:
        table: the limb.
        numbers: see the columns above; (7,).
        begin: time at which the limb leaves its motion [s].
        end: time at which it is back [s].
        draws: uniform numbers; (R, 9). The search ends when they are used up.
        iterations: greatest number of extensions.
        checks: number of states that were checked; (1,).
    """
    memory, marks = _memory(table), 2 + table.tips.shape[0]
    states, points = np.zeros((2, iterations + 1, PLANNED + 1)), np.empty((2, iterations + 1, marks, 3))
    parents, counts = np.full((2, iterations + 1), -1, dtype=np.int64), np.ones(2, dtype=np.int64)
    states[0, 0, TIME], states[1, 0, TIME] = begin, end
    for side in range(2):
        _marks(table, states[side, 0], memory, points[side, 0])
    sample, here, near, gaps = np.empty(PLANNED + 1), np.empty((marks, 3)), np.empty(2, np.int64), np.empty(2)
    row, side, last0, last1, met = 0, 0, -1, -1, False
    for iteration in range(iterations):
        found = False
        share = min(1.0, _NARROW + (1.0 - _NARROW) * iteration / _OPEN)
        for _ in range(_TRIES):
            if row >= draws.shape[0]:
                break
            _drawn(table, draws, row, share, begin + draws[row, 8] * (end - begin), memory, sample)
            row += 1
            checks[0] += 1
            if _valid(table, sample, numbers[MARGIN], memory):
                found = True
                break
        if not found:
            if row >= draws.shape[0]:
                break
            continue
        _marks(table, sample, memory, here)
        for tree in range(2):  # the nearest node from which time and speed allow to come here
            near[tree], gaps[tree] = -1, np.inf
            for n in range(counts[tree]):
                time = (sample[TIME] - states[tree, n, TIME]) * (1 - 2 * tree)
                close = time > 1e-6
                if close:
                    for k in range(PLANNED):
                        if abs(sample[k] - states[tree, n, k]) > numbers[FASTEST] * time:
                            close = False
                            break
                if close:
                    away = numbers[TIME_WEIGHT] * time + numbers[POSTURE_WEIGHT] * _way(points[tree, n], here)
                    if away < gaps[tree]:
                        near[tree], gaps[tree] = n, away
        if near[0] >= 0 and near[1] >= 0 and (near[0] != last0 or near[1] != last1):
            last0, last1 = near[0], near[1]
            way = _way(points[0, last0], points[1, last1])
            if _edge(table, states[0, last0], states[1, last1], way, numbers, checks, memory):
                met = True
                break
        if near[side] >= 0:
            n, new = near[side], counts[side]
            share = min(1.0, numbers[STEP] / gaps[side])
            for k in range(PLANNED + 1):
                states[side, new, k] = states[side, n, k] + share * (sample[k] - states[side, n, k])
            _marks(table, states[side, new], memory, points[side, new])
            first, second = (n, new) if side == 0 else (new, n)
            way = _way(points[side, n], points[side, new])
            checks[0] += 1
            if _valid(table, states[side, new], numbers[MARGIN], memory) and _edge(
                table, states[side, first], states[side, second], way, numbers, checks, memory
            ):
                parents[side, new] = n
                counts[side] += 1
                near[side] = new
                if near[0] >= 0 and near[1] >= 0:
                    way = _way(points[0, near[0]], points[1, near[1]])
                    if _edge(table, states[0, near[0]], states[1, near[1]], way, numbers, checks, memory):
                        met = True
                        break
        side = 1 - side
    if not met:
        return np.empty((0, PLANNED + 1))
    return _joined(states, parents, near[0], near[1])


@kernel(inner=True, shared=True)
def _joined(states: FloatArray, parents: IntArray, first: int, second: int) -> FloatArray:
    """Return the path (N, 8) from the root of the first tree to that of the second, through two nodes that meet."""
    before, n = 0, first
    while n >= 0:
        before, n = before + 1, parents[0, n]
    after, n = 0, second
    while n >= 0:
        after, n = after + 1, parents[1, n]
    path, n = np.empty((before + after, PLANNED + 1)), first
    for row in range(before - 1, -1, -1):
        for k in range(PLANNED + 1):
            path[row, k] = states[0, n, k]
        n = parents[0, n]
    n = second
    for row in range(before, before + after):
        for k in range(PLANNED + 1):
            path[row, k] = states[1, n, k]
        n = parents[1, n]
    return path


@kernel
def hold(table: LimbTable, numbers: FloatArray, times: FloatArray, draws: FloatArray, checks: IntArray) -> FloatArray:
    """Return a path (4, 8) on which the limb goes to one offset, holds it, and comes back; empty if none is valid.

    Offsets grow from draw to draw, so that the first that is valid is about the smallest.

    Args:
        table: the limb.
        numbers: see the columns above; (7,).
        times: when it leaves its motion, holds, leaves the offset, and is back [s]; (4,).
        draws: uniform numbers; (R, 9).
        checks: number of states that were checked; (1,).
    """
    memory, marks = _memory(table), 2 + table.tips.shape[0]
    path, points = np.zeros((4, PLANNED + 1)), np.empty((4, marks, 3))
    sample = np.empty(PLANNED + 1)
    for k in range(4):
        path[k, TIME] = times[k]
    for row in range(draws.shape[0]):
        share = 0.05 + 0.95 * row / draws.shape[0]
        _drawn(table, draws, row, share, times[1] + draws[row, 8] * (times[2] - times[1]), memory, sample)
        checks[0] += 1
        if not _valid(table, sample, numbers[MARGIN], memory):
            continue
        for k in range(PLANNED):
            path[1, k], path[2, k] = sample[k], sample[k]
        good = True
        for k in (1, 2):
            checks[0] += 1
            if good and not _valid(table, path[k], numbers[MARGIN], memory):
                good = False
        if not good:
            continue
        for k in range(4):
            _marks(table, path[k], memory, points[k])
        for k in (1, 0, 2):
            if good and not _edge(
                table, path[k], path[k + 1], _way(points[k], points[k + 1]), numbers, checks, memory
            ):  # fmt: skip
                good = False
        if good:
            return path
    return np.empty((0, PLANNED + 1))


@kernel(inner=True, borrows=True)
def _at(path: FloatArray, time: float, out: FloatArray) -> int:
    """Write the state (8,) of a path at a time; return the row of the path before it."""
    row = 0
    while row < path.shape[0] - 2 and path[row + 1, TIME] < time:
        row += 1
    share = (time - path[row, TIME]) / (path[row + 1, TIME] - path[row, TIME])
    for k in range(PLANNED):
        out[k] = path[row, k] + share * (path[row + 1, k] - path[row, k])
    out[TIME] = time
    return row


@kernel
def smooth(table: LimbTable, numbers: FloatArray, path: FloatArray, draws: FloatArray, checks: IntArray) -> FloatArray:
    """Return a path with shortcuts between random times wherever these are valid; time stays monotone.

    Args:
        table: the limb.
        numbers: see the columns above; (7,).
        path: (N, 8).
        draws: uniform numbers: two times and a choice for each try; (R, 3).
        checks: number of states that were checked; (1,).
    """
    memory, marks = _memory(table), 2 + table.tips.shape[0]
    a, b = np.empty(PLANNED + 1), np.empty(PLANNED + 1)
    at_a, at_b = np.empty((marks, 3)), np.empty((marks, 3))
    for row in range(draws.shape[0]):
        begin, end = path[0, TIME], path[-1, TIME]
        first = begin + draws[row, 0] * (end - begin)
        second = begin + draws[row, 1] * (end - begin)
        low, high = min(first, second), max(first, second)
        if draws[row, 2] < 0.15:  # inner corners are reached often enough, the ends would not be
            low = begin
        elif draws[row, 2] > 0.85:
            high = end
        if high - low < 0.05:
            continue
        i, j = _at(path, low, a), _at(path, high, b)
        if i == j:
            continue
        _marks(table, a, memory, at_a)
        _marks(table, b, memory, at_b)
        if not _edge(table, a, b, _way(at_a, at_b), numbers, checks, memory):
            continue
        head = i + 1 if low > path[i, TIME] + 1e-6 else i
        tail = j + 1 if high < path[j + 1, TIME] - 1e-6 else j + 2
        shorter = np.empty((head + 2 + path.shape[0] - tail, PLANNED + 1))
        for k in range(PLANNED + 1):
            for r in range(head):
                shorter[r, k] = path[r, k]
            shorter[head, k], shorter[head + 1, k] = a[k], b[k]
            for r in range(tail, path.shape[0]):
                shorter[head + 2 + r - tail, k] = path[r, k]
        path = shorter
    return path


@kernel
def gaps(table: LimbTable, offsets: FloatArray, first: int, stop: int, parts: int, bar: float, out: FloatArray) -> None:
    """Write the least gap of offsets (F, 7) from each frame on, looked at in so many parts, up to the next; (F,).

    Frames outside `first` to `stop` are left as they are.
    """
    memory, state = _memory(table), np.empty(PLANNED + 1)
    for f in range(first, stop):
        least = bar
        after = min(f + 1, offsets.shape[0] - 1)
        for part in range(parts):
            share = part / parts
            for k in range(PLANNED):
                state[k] = (1.0 - share) * offsets[f, k] + share * offsets[after, k]
            state[TIME] = table.around.begin + (f + share) / table.around.rate
            least = min(least, gap_of(table, state, bar, False, memory))
        out[f] = least


@kernel
def keeps(table: LimbTable, offsets: FloatArray, first: int, stop: int, parts: int, margin: float) -> bool:
    """Return whether offsets (F, 7) keep a margin [m] and the limits in some frames, looked at as by `gaps`."""
    memory, state = _memory(table), np.empty(PLANNED + 1)
    for part in range(parts):  # coarse first, so that what is wrong shows early
        share = part / parts
        for f in range(first, stop):
            after = min(f + 1, offsets.shape[0] - 1)
            for k in range(PLANNED):
                state[k] = (1.0 - share) * offsets[f, k] + share * offsets[after, k]
            state[TIME] = table.around.begin + (f + share) / table.around.rate
            if not _valid(table, state, margin, memory):
                return False
    return True


@kernel
def own_marks(table: LimbTable, out: FloatArray) -> None:
    """Write the points (F, 2 + P, 3) of the motion itself by which states are compared; see `_marks`."""
    memory, state = _memory(table), np.zeros(PLANNED + 1)
    for f in range(out.shape[0]):
        state[TIME] = table.around.begin + f / table.around.rate
        _marks(table, state, memory, out[f])


@kernel
def effort(table: LimbTable, offsets: FloatArray, own: FloatArray, weights: FloatArray) -> float:
    """Return how far, how fast and how suddenly a limb strays from its motion [m^2].

    Of each frame the point counts that strays most; squares are averaged over frames.

    Args:
        table: the limb.
        offsets: offsets from the motion itself [rad]; (F, 7).
        own: points of the motion itself, from `own_marks` [m]; (F, 2 + P, 3).
        weights: of squares of distance, speed [s^2] and acceleration [s^4]; (3,).
    """
    memory, state = _memory(table), np.zeros(PLANNED + 1)
    frames, points, rate = offsets.shape[0], own.shape[1], table.around.rate
    stray = np.zeros((frames, points, 3))
    for f in range(frames):
        still = True
        for k in range(PLANNED):
            still = still and offsets[f, k] == 0.0
            state[k] = offsets[f, k]
        if not still:
            state[TIME] = table.around.begin + f / rate
            _marks(table, state, memory, stray[f])
            for p in range(points):
                for d in range(3):
                    stray[f, p, d] -= own[f, p, d]
    total, scale = 0.0, 1.0
    for order in range(3):
        summed = 0.0
        for f in range(frames - order):
            most = 0.0
            for p in range(points):
                square = 0.0
                for d in range(3):
                    if order == 0:
                        way = stray[f, p, d]
                    elif order == 1:
                        way = stray[f + 1, p, d] - stray[f, p, d]
                    else:
                        way = stray[f + 2, p, d] - 2.0 * stray[f + 1, p, d] + stray[f, p, d]
                    square += way * way
                most = max(most, square)
            summed += most
        total += weights[order] * scale * summed / max(frames - order, 1)
        scale *= rate * rate
    return total


@kernel
def motion_clear(table: LimbTable, a: FloatArray, b: FloatArray, numbers: FloatArray) -> bool:
    """Return whether a state, the later one and all between them are valid; for tests and for other planners."""
    memory, points = _memory(table), np.empty((2, 2 + table.tips.shape[0], 3))
    if not _valid(table, b, numbers[MARGIN], memory) or not _valid(table, a, numbers[MARGIN], memory):
        return False
    _marks(table, a, memory, points[0])
    _marks(table, b, memory, points[1])
    return _edge(table, a, b, _way(points[0], points[1]), numbers, np.zeros(1, dtype=np.int64), memory)
