"""Kernel regression over the k nearest rows, unrolling of the network, and scores of its changes.

Rows (training triples of frames) are sorted by the phase of the motion they belong to. The squared difference in phase
is part of every distance, so rows whose share alone is over the k-th distance need not be looked at: a window of the
sorted rows is enough, and the result is the same as over all rows. Rows of a cyclic motion are laid out twice, half a
period to either side, so that a window never wraps.

Names: `pairs` (2n, R) frames t and t+1 of every row, `steps` (n, R) from t+1 to t+2, `phases` (R,) of frame t+1.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from gaitway._jit import kernel
from gaitway.arrays import BoolArray, FloatArray, IntArray, SingleArray

FAR: Any = np.float32(1e30)
"""Instead of infinity."""
_GATE: Any = np.float32(1.2)
"""Of the k-th squared distance in the frame before; rows beyond it are looked at only where too few are within it."""


@kernel(fastmath=True, inner=True)
def kth_smallest(values: SingleArray, count: int, k: int) -> float:
    """The k-th smallest (from 1) of the first `count` values, which are permuted."""
    low, high, at = 0, count - 1, k - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if at <= j:
            high = j
        elif at >= i:
            low = i
        else:
            break
    return values[at]  # type: ignore[no-any-return]


@kernel(inner=True)
def first_at_least(phases: SingleArray, value: float) -> int:
    """Index of the first row whose phase is at least `value`."""
    low, high = 0, phases.shape[0]
    while low < high:
        middle = (low + high) // 2
        if phases[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel(inner=True)
def window(phases: SingleArray, phase: float, clock: float, half_period: float, gate: float) -> tuple[int, int]:
    """Rows that can lie within `gate`: first and one after the last."""
    reach = half_period
    if clock > 0.0 and gate < FAR:
        reach = min(half_period, math.sqrt(gate / clock))
    if reach >= FAR:
        return 0, phases.shape[0]
    return first_at_least(phases, phase - reach), first_at_least(phases, phase + reach)


@kernel(fastmath=True, inner=True)
def gathered(distances: SingleArray, low: int, count: int, gate: float, near: SingleArray, index: IntArray) -> int:
    """Copy the distances within `gate` to `near`, their rows to `index`; how many there are."""
    found = 0
    for j in range(count):
        near[found] = distances[j]
        index[found] = low + j
        found += distances[j] <= gate
    return found


@kernel(fastmath=True, inner=True)
def regression(
    distances: SingleArray,
    low: int,
    found: int,
    near: SingleArray,
    index: IntArray,
    step: SingleArray,
    value: SingleArray,
    k: int,
    width: float,
    taper: bool,
) -> tuple[float, float, float, float]:
    """Kernel-weighted mean and variance of `step`, mean of `value` (equations 5.5 and 5.6), and the k-th distance.

    The smallest distance leaves the exponent: the ratios of the weights stay, and none is lost far from all rows.
    With `taper` weights fall to zero at the k-th row, so that no row comes or goes with a jerk.
    """
    closest = near[0]
    for j in range(1, found):
        closest = min(closest, near[j])
    edge = kth_smallest(near, found, min(k, found))
    scale = np.float32(-1.0) / (width * width * edge + np.float32(1e-12))
    least: Any = math.exp((edge - closest) * scale)
    least = least if taper and least < np.float32(0.99) else np.float32(0.0)
    total, first, second, place, used = 0.0, 0.0, 0.0, 0.0, 0
    for j in range(found):
        row = index[j]
        squared = distances[row - low]
        if squared <= edge:
            weight = math.exp((squared - closest) * scale) - least
            if weight > 1e-6:
                used += 1
                total += weight
                first += weight * step[row]
                second += weight * step[row] * step[row]
                place += weight * value[row]
    mean = first / total
    variance = max(second / total - mean * mean, 0.0)
    variance = variance * used / (used - 1) if used > 1 else 0.0
    return mean, variance, place / total, edge


@kernel(fastmath=True, inner=True)
def node_distances(
    pairs: SingleArray,
    phases: SingleArray,
    takes: IntArray,
    parents: IntArray,
    count: int,
    node: int,
    velocity: float,
    clock: float,
    older: SingleArray,
    newer: SingleArray,
    phase: float,
    out: SingleArray,
    low: int,
    high: int,
    omit: int,
) -> None:
    """Squared distances of rows low..high to the state (`older`, `newer` frame, `phase`) as `node` sees it."""
    n, own, now, count_rows = older.shape[0], older[node], newer[node], high - low
    # slices are counted from zero, so that the compiler knows that no index is negative, and loops become vectors
    first, second, when = pairs[node, low:high], pairs[n + node, low:high], phases[low:high]
    for j in range(count_rows):
        a, b, c = first[j] - own, second[j] - now, when[j] - phase
        v = b - a
        out[j] = a * a + b * b + velocity * v * v + clock * c * c
    for q in range(count):
        parent = parents[node, q]
        x = older[parent] if parent < n else newer[parent - n]
        values = pairs[parent, low:high]
        for j in range(count_rows):
            e = values[j] - x
            out[j] += e * e
    if omit >= 0:
        for j in range(count_rows):
            if takes[low + j] == omit:
                out[j] = FAR


@kernel(fastmath=True, inner=True)
def predicted(
    pairs: SingleArray, steps: SingleArray, phases: SingleArray, takes: IntArray, parents: IntArray, count: int,
    node: int, velocity: float, k: int, width: float, taper: bool, clock: float, half_period: float,
    older: SingleArray, newer: SingleArray, phase: float, gate: Any, omit: int, distances: SingleArray,
    near: SingleArray, index: IntArray,
) -> tuple[float, float, float, float]:  # fmt: skip
    """What a node does next, as `regression` has it, from the rows nearest to the last two frames."""
    n = older.shape[0]
    while True:
        low, high = window(phases, phase, clock, half_period, gate)
        node_distances(
            pairs, phases, takes, parents, count, node, velocity, clock, older, newer, phase, distances, low, high, omit
        )
        found = gathered(distances, low, high - low, gate, near, index)
        if found >= k or gate >= FAR:
            break
        gate = gate * np.float32(3.0) if gate < np.float32(1e6) else FAR
    return regression(distances, low, found, near, index, steps[node], pairs[n + node], k, width, taper)


@kernel(inner=True)
def table_value(table: SingleArray, at: float, lower: int, column: int) -> float:
    """Linear interpolation in a table (G, columns) between `lower` and the next."""
    return table[lower, column] + (at - lower) * (table[lower + 1, column] - table[lower, column])  # type: ignore[no-any-return]


@kernel(fastmath=True, inner=True)
def mixed_residuals(
    table: SingleArray, mix: SingleArray, gains: SingleArray, parts: IntArray, at: float, lower: int, out: SingleArray
) -> None:
    """Residuals of the takes at one place of their tables, mixed; out (n + 1,), the clock's last."""
    n, share = parts.shape[0], np.float32(at - lower)
    out[:] = np.float32(0.0)
    for take in range(table.shape[0]):
        here, after = table[take, lower], table[take, lower + 1]
        for i in range(n):
            out[i] += mix[parts[i], take] * (here[i] + share * (after[i] - here[i]))
        out[n] += mix[mix.shape[0] - 1, take] * (here[n] + share * (after[n] - here[n]))
    for i in range(n + 1):
        out[i] *= gains[i]


@kernel(inner=True)
def held_within(
    frame: SingleArray,
    means: SingleArray,
    spreads: SingleArray,
    at: float,
    parts: IntArray,
    limits: FloatArray,
    energy: FloatArray,
    sizes: IntArray,
) -> None:
    """Draw each part of the body toward its mean where it deviates by more than its limit, softly."""
    lower = min(int(at), means.shape[0] - 2)
    energy[:] = 0.0
    for i in range(frame.shape[0]):
        away = (frame[i] - table_value(means, at, lower, i)) / table_value(spreads, at, lower, i)
        energy[parts[i]] += away * away
    for part in range(energy.shape[0]):
        size = math.sqrt(energy[part] / max(sizes[part], 1))
        limit = limits[part]
        knee = 0.7 * limit
        # beyond the knee the rest of the way is compressed, so that the limit is never passed
        kept = size if size <= knee else knee + (limit - knee) * math.tanh((size - knee) / (limit - knee))
        energy[part] = kept / size if size > knee else 1.0
    for i in range(frame.shape[0]):
        share = energy[parts[i]]
        if share < 1.0:
            mean = table_value(means, at, lower, i)
            frame[i] = mean + share * (frame[i] - mean)


@kernel(parallel=True, fastmath=True)
def unroll(
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
    omitted: IntArray,
    out: SingleArray,
    variances: SingleArray,
    at: SingleArray,
    fixed: BoolArray,
    given_phase: bool,
    draws: SingleArray,
    mix: SingleArray,
    table: SingleArray,
    paces: SingleArray,
    gains: SingleArray,
    means: SingleArray,
    spreads: SingleArray,
    parts: IntArray,
    sizes: IntArray,
    limits: FloatArray,
    grid: float,
) -> None:
    """Unroll sequences frame by frame from their first two frames.

    Args:
        pairs: (2n, R) frames t and t+1 of every row.
        steps: (n, R) from t+1 to t+2.
        phases: (R,) of frame t+1, rising.
        takes: (R,) take of each row.
        parents: (n, most); those below n are in frame t, others in t+1.
        counts: (n,) how many parents each node has.
        velocities: (n,) weights of the velocity terms.
        k: nearest rows that count.
        width: of the kernel, in distances of the k-th.
        taper: whether weights fall to zero there.
        pull: share of the way to the neighbours' mean that is gone in a frame.
        clock: weight of squared differences in phase.
        half_period: of a cyclic motion whose rows are laid out twice; FAR for others.
        spans: (n, 2) values outside of which nothing goes.
        omitted: (B,) take whose rows are left out; -1 for none.
        out: (B, F, n) filled but for the first two frames; columns that are `fixed` hold what is given.
        variances: (B, F, n) predicted, of each step.
        at: (B, F) phases, filled from frame 2 on unless they are given.
        fixed: (n,) columns that are given.
        given_phase: whether phases are given.
        draws: (B, F, n) normals, by which deviations are multiplied (independent noise).
        mix: (B, F, parts + 1, takes) weights of the takes' residuals; the last is for the clock.
        table: (takes, G, n + 1) residuals of every take by phase, of the clock in the last column.
        paces: (G, 1) frames that a unit of phase takes on average.
        gains: (n + 1,) of the residuals.
        means: (G, n) mean of the takes by phase.
        spreads: (G, n) deviation between takes by phase.
        parts: (n,) part of the body of each column.
        sizes: (parts + 1,) columns of each part.
        limits: (parts + 1,) how far each may deviate; none where its length is 0.
        grid: entries of a table per unit of phase; 0 where there is no clock.
    """
    n, rows = steps.shape
    for s in numba.prange(out.shape[0]):
        distances, near = np.empty(rows, np.float32), np.empty(rows, np.float32)
        index = np.empty(rows, np.int64)
        gates = np.full(n, FAR)
        energy, residual = np.empty(sizes.shape[0]), np.zeros(n + 1, np.float32)
        for t in range(2, out.shape[1]):
            phase, place, lower = at[s, t - 1], 0.0, 0
            if grid > 0.0:
                place = min(max(phase * grid, 0.0), paces.shape[0] - 1.0)
                lower = min(int(place), paces.shape[0] - 2)
                mixed_residuals(table, mix[s, t], gains, parts, place, lower, residual)
            for i in range(n):
                if fixed[i]:
                    continue
                mean, variance, value, edge = predicted(
                    pairs, steps, phases, takes, parents, counts[i], i, velocities[i], k, width, taper, clock,
                    half_period, out[s, t - 2], out[s, t - 1], phase, gates[i], omitted[s], distances, near, index,
                )  # fmt: skip
                gates[i] = edge * _GATE + np.float32(1e-9)
                variances[s, t, i] = variance
                now = out[s, t - 1, i]
                noise = math.sqrt(variance) * draws[s, t, i] + residual[i]
                new = now + mean + pull * (value - now) + noise
                out[s, t, i] = min(max(new, spans[i, 0]), spans[i, 1])
            if grid > 0.0 and not given_phase:
                pace = table_value(paces, place, lower, 0)
                slower: Any = residual[n] / pace
                phase = phase + 1.0 / (pace * min(max(1.0 + slower, 0.5), 2.0))
                if half_period < FAR and phase >= 2.0 * half_period:
                    phase -= 2.0 * half_period
                at[s, t] = phase
            if grid > 0.0 and limits.shape[0] > 0:
                place = min(max(at[s, t] * grid, 0.0), paces.shape[0] - 1.0)
                held_within(out[s, t], means, spreads, place, parts, limits, energy, sizes)


@kernel(inner=True)
def log_normal(error: float, variance: float, floor: float) -> float:
    """Logarithm of the normal density of `error`, the variance being at least `floor`."""
    held = max(variance, floor)
    return -0.5 * (error * error / held + math.log(2.0 * math.pi * held))


@kernel(fastmath=True, inner=True)
def parent_distances(
    pairs: SingleArray,
    phases: SingleArray,
    takes: IntArray,
    parents: IntArray,
    count: int,
    node: int,
    clock: float,
    guess: SingleArray,
    at: SingleArray,
    length: int,
    omit: int,
    base: SingleArray,
) -> None:
    """Sum of the squared differences of all parents but the own two, and of the phase; base (F, R)."""
    n = guess.shape[1]
    for t in range(2, length):
        for row in range(base.shape[1]):
            c = phases[row] - at[t - 1]
            base[t, row] = FAR if takes[row] == omit else clock * c * c
        for q in range(count):
            parent = parents[node, q]
            x = guess[t - 2, parent] if parent < n else guess[t - 1, parent - n]
            for row in range(base.shape[1]):
                e = pairs[parent, row] - x
                base[t, row] += e * e


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

    The node itself is propagated; the others are as in `guess`, so their squared differences are summed once a node
    and each candidate adds or takes away one term. Column i of node i is the score as it is. Candidates that are not
    `allowed` (nodes, 2n) get minus infinity.
    """
    n, rows = steps.shape
    for a in numba.prange(nodes.shape[0]):
        i = nodes[a]
        distances, near = np.empty(rows, np.float32), np.empty(rows, np.float32)
        index = np.empty(rows, np.int64)
        base = np.empty((truth.shape[1], rows), np.float32)
        sign = np.ones(2 * n, np.float32)
        sign[i] = np.float32(0.0)
        sign[n + i] = np.float32(0.0)
        for q in range(counts[i]):
            sign[parents[i, q]] = np.float32(-1.0)
        for c in range(2 * n):
            out[a, c] = 0.0 if allowed[a, c] or c == i else -np.inf
        velocity = velocities[i]
        for s in range(lengths.shape[0]):
            parent_distances(pairs, phases, takes, parents, counts[i], i, clock, guess[s], at[s], lengths[s], s, base)
            for c in range(2 * n):
                if not allowed[a, c] and c != i:
                    continue
                own, now, gate, score, plus = truth[s, 0, i], truth[s, 1, i], FAR, 0.0, sign[c]
                for t in range(2, lengths[s]):
                    x = guess[s, t - 2, c] if c < n else guess[s, t - 1, c - n]
                    while True:
                        low, high = window(phases, at[s, t - 1], clock, half_period, gate)
                        older, newer = pairs[i, low:high], pairs[n + i, low:high]
                        other, rest = pairs[c, low:high], base[t, low:high]
                        for j in range(high - low):
                            p, r, e = older[j] - own, newer[j] - now, other[j] - x
                            v = r - p
                            distances[j] = rest[j] + p * p + r * r + velocity * v * v + plus * e * e
                        found = gathered(distances, low, high - low, gate, near, index)
                        if found >= k or gate >= FAR:
                            break
                        gate = gate * np.float32(3.0) if gate < np.float32(1e6) else FAR
                    mean, variance, value, edge = regression(
                        distances, low, found, near, index, steps[i], pairs[n + i], k, width, taper
                    )
                    gate = edge * _GATE + np.float32(1e-9)
                    new = now + mean + pull * (value - now) + math.sqrt(variance) * draws[s, t, i]
                    own, now = now, np.float32(min(max(new, spans[i, 0]), spans[i, 1]))
                    score += log_normal(truth[s, t, i] - now, variance, floor)
                out[a, c] += score
