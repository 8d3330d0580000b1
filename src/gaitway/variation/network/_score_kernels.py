"""Kernels that score all changes of one edge of a network, with the other nodes as they are.

There is one for the prior network (algorithm 5) and one for the transition network (algorithm 6).

All candidate edges of a node of the transition network are propagated side by side, frame by frame. They share the
squared differences of the parents that the node has. The sum of these is computed once a frame and sorted. A parent
that is added can only increase distances, so such a candidate looks at the first few rows alone.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numba
import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray
from gaitway.core.jit import kernel
from gaitway.variation.network._neighbour_kernels import (
    FAR,
    HIGH,
    LANES,
    LOW,
    KernelSettings,
    RowArrays,
    first_at_least,
    log_normal,
    next_gate,
    padded,
    reach,
    regression,
    wider,
    within,
)

_OWN, _NOW, _STEP = range(3)
"""Rows of `lists`: values of a node in frame t and in frame t+1, and its step from there on."""
_OLDER, _NEWER, _GATE = range(3)
"""Rows of `state`, by candidate: its last two values, and the squared distance within which it looks for rows."""
_PRESENT, _REDUCED = range(2)
"""Lists of rows: by the parents as they are, and by all of them but one."""


class TakeArrays(NamedTuple):
    """Takes of F frames, and their re-synthesis."""

    truth: SingleArray
    """Values of the takes; (takes, F, n)."""
    guess: SingleArray
    """Values that the network gives at present; (takes, F, n)."""
    lengths: IntArray
    """Number of frames of each take; (takes,)."""
    phases: SingleArray
    """Phases of the frames; (takes, F)."""
    draws: SingleArray
    """Normal numbers of the noise; (takes, F, n)."""


@kernel(fastmath=True)
def prior_scores(
    nodes: IntArray,
    values: SingleArray,
    groups: IntArray,
    edges: BoolArray,
    k: int,
    width: float,
    floor: float,
    out: FloatArray,
) -> None:
    """Compute the score of nodes of the prior network after each single change of an edge into them.

    Args:
        nodes: Numbers of the nodes.
        values: Values of all nodes in all instances, in whole blocks; (m, R).
        groups: Groups of the instances, less than 0 behind the last; an instance is predicted from other groups; (R,).
        edges: Edges from the column's node to the row's node; (m, m).
        k: Greatest number of neighbours.
        width: Kernel width, as a multiple of the distance of the farthest neighbour.
        floor: Least variance of an error.
        out: Scores (nodes, m), filled; column i of node i is the present score.
    """
    m, rows = values.shape
    beyond = FAR * np.float32(0.5)
    for a in range(nodes.shape[0]):
        i = nodes[a]
        base = np.zeros((rows, rows), np.float32)
        distances, weights = np.empty(rows, np.float32), np.empty(rows, np.float32)
        bits = distances.view(np.int32)
        for q in range(m):
            if edges[i, q]:
                for j in range(rows):
                    for r in range(rows):
                        e = values[q, r] - values[q, j]
                        base[j, r] += e * e
        for c in range(m):
            sign = np.float32(0.0) if c == i else (np.float32(-1.0) if edges[i, c] else np.float32(1.0))
            score = 0.0
            for j in range(rows):
                if groups[j] < 0:
                    continue
                here, others, sums = values[c], groups[j], base[j]
                for r in range(rows):
                    e = here[r] - here[j]
                    apart = sums[r] + sign * e * e
                    apart = apart if apart > np.float32(0.0) else np.float32(0.0)
                    distances[r] = FAR if groups[r] == others or groups[r] < 0 else apart
                found = within(bits, rows, beyond)
                mean, variance, _, _ = regression(
                    distances, bits, rows, found, beyond, values[i], values[i], k, width, False, weights
                )
                score += log_normal(values[i, j] - mean, variance, floor)
            out[a, c] = score


@kernel(fastmath=True, inner=True)
def parent_distances(
    pairs: SingleArray, phases: SingleArray, takes: IntArray, parents: IntArray, count: int, phase_weight: float,
    older: SingleArray, newer: SingleArray, phase: float, omit: int, low: int, high: int, base: SingleArray,
) -> None:  # fmt: skip
    """Fill `base` with squared differences of rows low..high in phase and in all parents but the node's own values.

    Those of the omitted take are `FAR`.
    """
    n = older.shape[0]
    # slices begin at index zero, so the compiler knows that no index is negative and vectorises the loops
    when, owners = phases[low:high], takes[low:high]
    for j in range(high - low):
        c = when[j] - phase
        base[j] = FAR if owners[j] == omit else phase_weight * c * c
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
    """List the rows of `base` within `bound`, nearest first; return their number.

    Args:
        base: Squared differences of rows from `low` on.
        low: Number of the first of these rows.
        count: Number of these rows.
        bound: Greatest squared difference; rows at `FAR` (those of the omitted take) are never listed.
        own: Values of the node in frame t, all rows.
        now: Values of the node in frame t+1.
        step: Steps of the node from frame t+1 on.
        near: Output: squared differences within the bound, least first, and a block of `FAR`.
        index: Output: numbers of the listed rows.
        lists: Output: `own`, `now` and `step` of the listed rows; (3, R).
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
        lists[_OWN, j], lists[_NOW, j], lists[_STEP, j] = own[row], now[row], step[row]
    for j in range(found, found + LANES):
        near[j] = FAR
        index[j] = 0
    return found


@kernel(fastmath=True, inner=True)
def candidate_distances(
    near: SingleArray, index: IntArray, lists: SingleArray, count: int, values: SingleArray, x: float, plus: Any,
    own: float, now: float, velocity: float, out: SingleArray,
) -> None:  # fmt: skip
    """Fill `out` with squared distances of listed rows.

    They include those of a candidate parent with `values` (R,), now at `x`, if `plus` is 1, and not if it is 0.
    """
    for j in range(count):
        e = values[index[j]] - x
        out[j] = near[j] + plus * e * e
    first, second = lists[_OWN], lists[_NOW]
    for j in range(count):
        p, r = first[j] - own, second[j] - now
        v = r - p
        out[j] += p * p + r * r + velocity * v * v


@kernel(inner=True)
def without(base: SingleArray, count: int, values: SingleArray, x: float, out: SingleArray) -> None:
    """Fill `out` with the sum `base` less the squared differences of one parent."""
    for j in range(count):
        e = values[j] - x
        out[j] = max(base[j] - e * e, np.float32(0.0))


@kernel(parallel=True, fastmath=True)
def score_changes(
    nodes: IntArray,
    allowed: BoolArray,
    resynthesis: TakeArrays,
    training: RowArrays,
    settings: KernelSettings,
    parents: IntArray,
    counts: IntArray,
    floor: float,
    out: FloatArray,
) -> None:
    """Compute the score of nodes of the transition network after each single change of an edge into them.

    The node itself is propagated; the other nodes are as in the present re-synthesis.

    Args:
        nodes: Numbers of the nodes.
        allowed: Parents that may be added or removed; others score minus infinity; (nodes, 2n).
        resynthesis: Takes, and their present re-synthesis.
        training: Training rows.
        settings: Settings of the regression.
        parents: Parents of each node; those below n are in frame t, others in frame t+1; (n, most).
        counts: Number of parents of each node; (n,).
        floor: Least variance of an error.
        out: Scores (nodes, 2n), filled, by the parent that is changed; column i of node i is the present score.
    """
    # parallel loops take arrays, and no tuples of them
    truth, guess, lengths = resynthesis.truth, resynthesis.guess, resynthesis.lengths
    at, draws = resynthesis.phases, resynthesis.draws
    pairs, steps, phases, takes = training.pairs, training.steps, training.phases, training.takes
    velocities, spans = training.velocities, training.spans
    k, width, taper, pull = settings.k, settings.width, settings.taper, settings.pull
    phase_weight, half_period = settings.phase_weight, settings.half_period
    n, rows = steps.shape
    room = padded(rows) + LANES
    for a in numba.prange(nodes.shape[0]):
        i, velocity = nodes[a], velocities[nodes[a]]
        # two lists of rows, _PRESENT and _REDUCED
        near, index = np.empty((2, room), np.float32), np.zeros((2, room), np.int64)
        lists, sums = np.zeros((2, 3, room), np.float32), np.empty((2, rows), np.float32)
        distances, weights = np.empty(room, np.float32), np.empty(room, np.float32)
        bits, near_bits = distances.view(np.int32), near.view(np.int32)
        state = np.empty((3, 2 * n), np.float32)
        sign = np.ones(2 * n, np.float32)
        sign[i] = np.float32(0.0)
        for q in range(counts[i]):
            sign[parents[i, q]] = np.float32(-1.0)
        for c in range(2 * n):
            out[a, c] = 0.0 if allowed[a, c] or c == i else -np.inf
        for s in range(lengths.shape[0]):
            for c in range(2 * n):
                state[_OLDER, c], state[_NEWER, c], state[_GATE, c] = truth[s, 0, i], truth[s, 1, i], FAR
            for t in range(2, lengths[s]):
                older, newer, phase = guess[s, t - 2], guess[s, t - 1], at[s, t - 1]
                bound = np.float32(0.0)
                for c in range(2 * n):
                    if allowed[a, c] or c == i:
                        bound = max(bound, state[_GATE, c])
                low, high, found, ready, fresh = 0, 0, 0, False, False
                for c in range(2 * n):
                    if not allowed[a, c] and c != i:
                        continue
                    x = older[c] if c < n else newer[c - n]
                    own, now, gate, plus = state[_OLDER, c], state[_NEWER, c], state[_GATE, c], sign[c]
                    which = _REDUCED if plus < 0.0 else _PRESENT
                    listed, inside = 0, 0
                    while True:
                        if not ready or gate > bound:
                            ready, fresh, bound = True, False, max(bound, gate)
                            far = reach(phase_weight, half_period, bound)
                            low = first_at_least(phases, rows, phase - far)
                            high = first_at_least(phases, rows, phase + far)
                            parent_distances(
                                pairs, phases, takes, parents[i], counts[i], phase_weight, older, newer, phase, s,
                                low, high, sums[_PRESENT],
                            )  # fmt: skip
                        if which == _REDUCED:
                            without(sums[_PRESENT], high - low, pairs[c, low:high], x, sums[_REDUCED])
                        if which == _REDUCED or not fresh:
                            listed = nearest_first(
                                sums[which], low, high - low, gate if which == _REDUCED else bound, pairs[i],
                                pairs[n + i], steps[i], near[which], index[which], lists[which],
                            )  # fmt: skip
                        if which == _PRESENT:
                            found = found if fresh else listed
                            fresh = True
                            listed = within(near_bits[_PRESENT], padded(found), gate)
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
                        distances, bits, listed, inside, gate, lists[which, _STEP], lists[which, _NOW], k, width, taper,
                        weights,
                    )  # fmt: skip
                    new = now + mean + pull * (value - now) + math.sqrt(variance) * draws[s, t, i]
                    held = np.float32(min(max(new, spans[i, LOW]), spans[i, HIGH]))
                    state[_OLDER, c], state[_NEWER, c], state[_GATE, c] = now, held, next_gate(edge)
                    out[a, c] += log_normal(truth[s, t, i] - held, variance, floor)
