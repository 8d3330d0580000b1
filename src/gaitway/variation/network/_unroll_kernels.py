"""Kernels that unroll a network frame by frame: next value of each node, residuals of takes, phase and limits.

Training rows are R; behind the last row there is a block that is never used, so that loops may run over whole blocks.
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
    LOW,
    Bits,
    KernelSettings,
    RowArrays,
    next_gate,
    padded,
    reach,
    regression,
    wider,
    within,
)

_KNEE = 0.7
"""Share of a limit beyond which deviations are compressed."""
_SLOWEST, _FASTEST = 0.5, 2.0
"""Range of the pace of a sequence, as a multiple of the mean pace."""


class SequenceArrays(NamedTuple):
    """B sequences of F frames that are unrolled."""

    out: SingleArray
    """Values (B, F, n), filled from frame 2 on; `fixed` columns hold the given values."""
    variances: SingleArray
    """Predicted variances of each step (B, F, n), filled."""
    phases: SingleArray
    """Phases (B, F), filled from frame 2 on unless they are given."""
    draws: SingleArray
    """Normal numbers that standard deviations are multiplied by: independent noise; (B, F, n)."""
    omitted: IntArray
    """Number of the take whose rows a sequence must not use, -1 for none; (B,)."""
    fixed: BoolArray
    """Columns whose values are given; (n,)."""


class NoiseArrays(NamedTuple):
    """Residuals of takes, which are mixed and added to the means."""

    mix: SingleArray
    """Weights of the takes' residuals, the last part for the pace; (B, F, parts + 1, takes)."""
    table: SingleArray
    """Residuals of every take by phase, those of the pace in the last column; (takes, G, n + 1)."""
    gains: SingleArray
    """Gains of the residuals; (n + 1,)."""


class CourseArrays(NamedTuple):
    """The mean motion by phase, at G entries."""

    paces: SingleArray
    """Mean number of frames for a unit of phase; (G, 1)."""
    means: SingleArray
    """Mean of the takes; (G, n)."""
    spreads: SingleArray
    """Standard deviation between takes; (G, n)."""
    grid: float
    """Entries per unit of phase; 0 where there is no phase."""


class PartArrays(NamedTuple):
    """Parts of the body, and their limits."""

    parts: IntArray
    """Part of the body of each column; (n,)."""
    sizes: IntArray
    """Number of columns of each part; (parts + 1,)."""
    limits: FloatArray
    """How far each part may deviate, root mean square in deviations; (parts + 1,), or (0,) for no limits."""


@kernel(inner=True)
def walked(phases: SingleArray, rows: int, at: int, value: float) -> int:
    """Return the index of the first of `rows` rows whose phase is at least `value`; the search begins at `at`."""
    while at > 0 and phases[at - 1] >= value:
        at -= 1
    while at < rows and phases[at] < value:
        at += 1
    return at


@kernel(fastmath=True, inner=True)
def node_distances(
    pairs: SingleArray, phases: SingleArray, takes: Bits, parents: IntArray, count: int, node: int, velocity: float,
    phase_weight: float, older: SingleArray, newer: SingleArray, phase: float, omit: int, low: int, high: int,
    out: SingleArray,
) -> int:  # fmt: skip
    """Fill `out` with squared distances of rows low..high to a state, as `node` sees it; return their number in blocks.

    The state is two frames, `older` and `newer`, and `phase`. Distances of rows of the omitted take, and behind the
    last row, are `FAR`.
    """
    n, own, now, size = older.shape[0], older[node], newer[node], padded(high - low)
    # slices begin at index zero, so the compiler knows that no index is negative and vectorises the loops
    last = low + size
    first, second, when = pairs[node, low:last], pairs[n + node, low:last], phases[low:last]
    for j in range(size):
        a, b, c = first[j] - own, second[j] - now, when[j] - phase
        v = b - a
        out[j] = a * a + b * b + velocity * v * v + phase_weight * c * c
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
    """Interpolate linearly in a table (G, columns) between entry `lower` and the next."""
    return table[lower, column] + (at - lower) * (table[lower + 1, column] - table[lower, column])  # type: ignore[no-any-return]


@kernel(fastmath=True, inner=True)
def mixed_residuals(
    table: SingleArray, mix: SingleArray, gains: SingleArray, parts: IntArray, at: float, lower: int, out: SingleArray
) -> None:
    """Mix the residuals of the takes at one entry of their tables into `out` (n + 1,), that of the pace last."""
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
    """Pull each part of the body softly towards its mean where it deviates by more than its limit."""
    lower = min(max(int(at), 0), means.shape[0] - 2)
    energy[:] = 0.0
    for i in range(frame.shape[0]):
        away = (frame[i] - table_value(means, at, lower, i)) / table_value(spreads, at, lower, i)
        energy[parts[i]] += away * away
    for part in range(energy.shape[0]):
        size = math.sqrt(energy[part] / max(sizes[part], 1))
        limit = limits[part]
        knee = _KNEE * limit
        # deviations beyond the knee are compressed, so that the limit is never passed
        kept = size if size <= knee else knee + (limit - knee) * math.tanh((size - knee) / (limit - knee))
        energy[part] = kept / size if size > knee else 1.0
    for i in range(frame.shape[0]):
        share = energy[parts[i]]
        if share < 1.0:
            mean = table_value(means, at, lower, i)
            frame[i] = mean + share * (frame[i] - mean)


@kernel(parallel=True, fastmath=True)
def unroll(
    count: int,
    training: RowArrays,
    settings: KernelSettings,
    parents: IntArray,
    counts: IntArray,
    sequences: SequenceArrays,
    given_phase: bool,
    noise: NoiseArrays,
    course: CourseArrays,
    body: PartArrays,
) -> None:
    """Unroll sequences frame by frame from their first two frames.

    Args:
        count: Number of training rows; the arrays are longer by a block.
        training: Training rows, with a block behind the last.
        settings: Settings of the regression.
        parents: Parents of each node; those below n are in frame t, others in frame t+1; (n, most).
        counts: Number of parents of each node; (n,).
        sequences: Sequences, whose first two frames are known.
        given_phase: Whether phases of all frames are given.
        noise: Residuals of takes to add.
        course: Mean motion by phase.
        body: Parts of the body.
    """
    # parallel loops take arrays, and no tuples of them
    pairs, steps, phases, takes = training.pairs, training.steps, training.phases, training.takes
    velocities, spans = training.velocities, training.spans
    k, width, taper, pull = settings.k, settings.width, settings.taper, settings.pull
    phase_weight, half_period = settings.phase_weight, settings.half_period
    out, variances, at, draws = sequences.out, sequences.variances, sequences.phases, sequences.draws
    omitted, fixed = sequences.omitted, sequences.fixed
    mix, table, gains = noise.mix, noise.table, noise.gains
    paces, means, spreads, grid = course.paces, course.means, course.spreads, course.grid
    parts, sizes, limits = body.parts, body.sizes, body.limits
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
                lower = min(max(int(place), 0), paces.shape[0] - 2)
                mixed_residuals(table, mix[s, t], gains, parts, place, lower, residual)
            for i in range(n):
                if fixed[i]:
                    continue
                gate, size, found = gates[i], 0, 0
                while True:
                    far = reach(phase_weight, half_period, gate)
                    lows[i] = walked(phases, count, lows[i], phase - far)
                    highs[i] = walked(phases, count, highs[i], phase + far)
                    size = node_distances(
                        pairs, phases, takes, parents[i], counts[i], i, velocities[i], phase_weight, out[s, t - 2],
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
                out[s, t, i] = min(max(new, spans[i, LOW]), spans[i, HIGH])
            if grid > 0.0 and not given_phase:
                pace = table_value(paces, place, lower, 0)
                slower: Any = residual[n] / pace
                phase = phase + 1.0 / (pace * min(max(1.0 + slower, _SLOWEST), _FASTEST))
                if half_period < FAR and phase >= 2.0 * half_period:
                    phase -= 2.0 * half_period
                at[s, t] = phase
            if grid > 0.0 and limits.shape[0] > 0:
                place = min(max(at[s, t] * grid, 0.0), paces.shape[0] - 1.0)
                held_within(out[s, t], means, spreads, place, parts, limits, energy, sizes)
