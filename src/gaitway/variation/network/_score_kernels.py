"""Scores of all changes of one edge of a transition network (algorithm 6), the other nodes being as they are.

All candidates of a node are propagated side by side, frame by frame. They share the squared differences of the parents
that the node has, the sum of which is made once a frame and sorted: a parent that is added can only make distances
greater, so such a candidate looks at the first few rows alone.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray
from gaitway.core.jit import kernel
from gaitway.variation.network._neighbour_kernels import (
    FAR,
    LANES,
    first_at_least,
    log_normal,
    next_gate,
    padded,
    reach,
    regression,
    wider,
    within,
)


@kernel(fastmath=True, inner=True)
def parent_distances(
    pairs: SingleArray, phases: SingleArray, takes: IntArray, parents: IntArray, count: int, clock: float,
    older: SingleArray, newer: SingleArray, phase: float, omit: int, low: int, high: int, base: SingleArray,
) -> None:  # fmt: skip
    """Squared differences of rows low..high in phase and in all parents but the own two; FAR of the take left out."""
    n = older.shape[0]
    # slices are counted from zero, so that the compiler knows that no index is negative, and loops become vectors
    when, owners = phases[low:high], takes[low:high]
    for j in range(high - low):
        c = when[j] - phase
        base[j] = FAR if owners[j] == omit else clock * c * c
    for q in range(count):
        parent = parents[q]
        x = older[parent] if parent < n else newer[parent - n]
        values = pairs[parent, low:high]
        for j in range(high - low):
            e = values[j] - x
            base[j] += e * e


@kernel(inner=True)
def nearest_first(
    base: SingleArray, low: int, count: int, bound: Any, own: SingleArray, now: SingleArray, step: SingleArray,
    near: SingleArray, index: IntArray, lists: SingleArray,
) -> int:  # fmt: skip
    """Sort what of `base` is within `bound`; how many there are.

    Args:
        base: squared differences of rows from `low` on.
        low: first of these rows.
        count: how many they are.
        bound: not the omitted ones, which are at `FAR`.
        own: values of the node in frame t, all rows.
        now: in frame t+1.
        step: from there on.
        near: out, what is within, the least first, and a block of `FAR`.
        index: out, its rows.
        lists: out, `own`, `now` and `step` of these; (3, R).
    """
    found, last = 0, min(bound, FAR * np.float32(0.5))
    for j in range(count):
        here = base[j]
        if here <= last:
            at = found
            while at > 0 and near[at - 1] > here:
                near[at] = near[at - 1]
                index[at] = index[at - 1]
                at -= 1
            near[at] = here
            index[at] = low + j
            found += 1
    for j in range(found):
        row = index[j]
        lists[0, j], lists[1, j], lists[2, j] = own[row], now[row], step[row]
    for j in range(found, found + LANES):
        near[j] = FAR
        index[j] = 0
    return found


@kernel(fastmath=True, inner=True)
def candidate_distances(
    near: SingleArray, index: IntArray, lists: SingleArray, count: int, values: SingleArray, x: float, plus: Any,
    own: float, now: float, velocity: float, out: SingleArray,
) -> None:  # fmt: skip
    """Squared distances of listed rows, of which a candidate with `values` (R,) and now at `x` is a part if `plus`."""
    for j in range(count):
        e = values[index[j]] - x
        out[j] = near[j] + plus * e * e
    first, second = lists[0], lists[1]
    for j in range(count):
        p, r = first[j] - own, second[j] - now
        v = r - p
        out[j] += p * p + r * r + velocity * v * v


@kernel(inner=True)
def without(base: SingleArray, count: int, values: SingleArray, x: float, out: SingleArray) -> None:
    """The sum `base` less the squared differences of one parent."""
    for j in range(count):
        e = values[j] - x
        out[j] = max(base[j] - e * e, np.float32(0.0))


@kernel(parallel=True, fastmath=True)
def score_changes(
    nodes: IntArray,
    truth: SingleArray,
    guess: SingleArray,
    lengths: IntArray,
    at: SingleArray,
    pairs: SingleArray,
    steps: SingleArray,
    phases: SingleArray,
    takes: IntArray,
    parents: IntArray,
    counts: IntArray,
    velocities: SingleArray,
    k: int,
    width: float,
    taper: bool,
    pull: float,
    clock: float,
    half_period: float,
    spans: SingleArray,
    floor: float,
    draws: SingleArray,
    allowed: BoolArray,
    out: FloatArray,
) -> None:
    """Score of each node after each single change of an edge into it; out (nodes, 2n) by the parent that is changed.

    The node itself is propagated; the others are as in `guess`. Column i of node i is the score as it is. Candidates
    that are not `allowed` (nodes, 2n) get minus infinity. Other arguments are those of `unroll`.
    """
    n, rows = steps.shape
    room = padded(rows) + LANES
    for a in numba.prange(nodes.shape[0]):
        i, velocity = nodes[a], velocities[nodes[a]]
        # two lists of rows: of the parents as they are, and of those that one is taken from
        near, index = np.empty((2, room), np.float32), np.zeros((2, room), np.int64)
        lists, sums = np.zeros((2, 3, room), np.float32), np.empty((2, rows), np.float32)
        distances, weights = np.empty(room, np.float32), np.empty(room, np.float32)
        bits, near_bits = distances.view(np.int32), near.view(np.int32)
        state = np.empty((3, 2 * n), np.float32)  # of every candidate: the last two values, and the gate
        sign = np.ones(2 * n, np.float32)
        sign[i] = np.float32(0.0)
        for q in range(counts[i]):
            sign[parents[i, q]] = np.float32(-1.0)
        for c in range(2 * n):
            out[a, c] = 0.0 if allowed[a, c] or c == i else -np.inf
        for s in range(lengths.shape[0]):
            for c in range(2 * n):
                state[0, c], state[1, c], state[2, c] = truth[s, 0, i], truth[s, 1, i], FAR
            for t in range(2, lengths[s]):
                older, newer, phase = guess[s, t - 2], guess[s, t - 1], at[s, t - 1]
                bound = np.float32(0.0)
                for c in range(2 * n):
                    if allowed[a, c] or c == i:
                        bound = max(bound, state[2, c])
                low, high, found, ready, fresh = 0, 0, 0, False, False
                for c in range(2 * n):
                    if not allowed[a, c] and c != i:
                        continue
                    x = older[c] if c < n else newer[c - n]
                    own, now, gate, plus = state[0, c], state[1, c], state[2, c], sign[c]
                    which = 1 if plus < 0.0 else 0
                    listed, inside = 0, 0
                    while True:
                        if not ready or gate > bound:
                            ready, fresh, bound = True, False, max(bound, gate)
                            far = reach(clock, half_period, bound)
                            low = first_at_least(phases, rows, phase - far)
                            high = first_at_least(phases, rows, phase + far)
                            parent_distances(
                                pairs, phases, takes, parents[i], counts[i], clock, older, newer, phase, s, low, high,
                                sums[0],
                            )  # fmt: skip
                        if which == 1:
                            without(sums[0], high - low, pairs[c, low:high], x, sums[1])
                        if which == 1 or not fresh:
                            listed = nearest_first(
                                sums[which], low, high - low, gate if which == 1 else bound, pairs[i], pairs[n + i],
                                steps[i], near[which], index[which], lists[which],
                            )  # fmt: skip
                        if which == 0:
                            found = found if fresh else listed
                            fresh = True
                            listed = within(near_bits[0], padded(found), gate)
                        listed = padded(listed)
                        candidate_distances(
                            near[which], index[which], lists[which], listed, pairs[c], x, max(plus, np.float32(0.0)),
                            own, now, velocity, distances,
                        )  # fmt: skip
                        inside = within(bits, listed, gate)
                        if inside >= k or gate >= FAR:
                            break
                        gate = wider(gate)
                    mean, variance, value, edge = regression(
                        distances, bits, listed, inside, gate, lists[which, 2], lists[which, 1], k, width, taper,
                        weights,
                    )  # fmt: skip
                    new = now + mean + pull * (value - now) + math.sqrt(variance) * draws[s, t, i]
                    held = np.float32(min(max(new, spans[i, 0]), spans[i, 1]))
                    state[0, c], state[1, c], state[2, c] = now, held, next_gate(edge)
                    out[a, c] += log_normal(truth[s, t, i] - held, variance, floor)
