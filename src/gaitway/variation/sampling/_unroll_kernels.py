"""Unrolling of a network frame by frame: what each node does next, residuals of takes, the clock and limits.

Names: `pairs` (2n, R) frames t and t+1 of every row, `steps` (n, R) from t+1 to t+2, `phases` (R,) of frame t+1. Behind
the last row there is a block that is never used, so that loops may go over whole blocks.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, SingleArray
from gaitway.core.jit import kernel
from gaitway.variation.network._neighbour_kernels import FAR, Bits, next_gate, padded, reach, regression, wider, within


@kernel(inner=True)
def walked(phases: SingleArray, rows: int, at: int, value: float) -> int:
    """Index of the first of `rows` whose phase is at least `value`, looked for from `at` on."""
    while at > 0 and phases[at - 1] >= value:
        at -= 1
    while at < rows and phases[at] < value:
        at += 1
    return at


@kernel(fastmath=True, inner=True)
def node_distances(
    pairs: SingleArray, phases: SingleArray, takes: Bits, parents: IntArray, count: int, node: int, velocity: float,
    clock: float, older: SingleArray, newer: SingleArray, phase: float, omit: int, low: int, high: int,
    out: SingleArray,
) -> int:  # fmt: skip
    """Squared distances of rows low..high to the state (`older`, `newer` frame, `phase`) as `node` sees it, in blocks.

    How many are filled; of rows of the omitted take and behind the last they are `FAR`.
    """
    n, own, now, size = older.shape[0], older[node], newer[node], padded(high - low)
    # slices are counted from zero, so that the compiler knows that no index is negative, and loops become vectors
    last = low + size
    first, second, when = pairs[node, low:last], pairs[n + node, low:last], phases[low:last]
    for j in range(size):
        a, b, c = first[j] - own, second[j] - now, when[j] - phase
        v = b - a
        out[j] = a * a + b * b + velocity * v * v + clock * c * c
    for q in range(count):
        parent = parents[q]
        x = older[parent] if parent < n else newer[parent - n]
        values = pairs[parent, low:last]
        for j in range(size):
            e = values[j] - x
            out[j] += e * e
    if omit >= 0:
        owners, left_out = takes[low:last], np.int32(omit)
        for j in range(size):
            out[j] = FAR if owners[j] == left_out else out[j]
    for j in range(high - low, size):
        out[j] = FAR
    return size


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
    rows: int,
    pairs: SingleArray,
    steps: SingleArray,
    phases: SingleArray,
    takes: Bits,
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
        rows: how many there are, R; arrays are longer by a block.
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
    n, room = steps.shape
    for s in numba.prange(out.shape[0]):
        distances, weights = np.empty(room, np.float32), np.empty(room, np.float32)
        bits = distances.view(np.int32)
        gates, lows, highs = np.empty(n, np.float32), np.zeros(n, np.int64), np.zeros(n, np.int64)
        for i in range(n):
            gates[i] = FAR
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
                gate, size, found = gates[i], 0, 0
                while True:
                    far = reach(clock, half_period, gate)
                    lows[i] = walked(phases, rows, lows[i], phase - far)
                    highs[i] = walked(phases, rows, highs[i], phase + far)
                    size = node_distances(
                        pairs, phases, takes, parents[i], counts[i], i, velocities[i], clock, out[s, t - 2],
                        out[s, t - 1], phase, omitted[s], lows[i], highs[i], distances,
                    )  # fmt: skip
                    found = within(bits, size, gate)
                    if found >= k or gate >= FAR:
                        break
                    gate = wider(gate)
                low, last = lows[i], lows[i] + size
                mean, variance, value, edge = regression(
                    distances, bits, size, found, gate, steps[i, low:last], pairs[n + i, low:last], k, width, taper,
                    weights,
                )  # fmt: skip
                gates[i] = next_gate(edge)
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
