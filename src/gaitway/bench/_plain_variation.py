"""The unrolling of a network as a vectorised NumPy program: all nodes and rows at once, frame by frame."""

from __future__ import annotations

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.variation.network._neighbour_kernels import FAR
from gaitway.variation.network.regression import MeanCourse, Noise, TrainingRows
from gaitway.variation.network.structure import Structure


def regress(
    distances: FloatArray, steps: FloatArray, values: FloatArray, neighbours: int, width: float, taper: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean and variance of steps and mean of values (n,) over the nearest rows of distances (n, R)."""
    edge = np.partition(distances, neighbours - 1, axis=1)[:, neighbours - 1, None]
    scale = -1.0 / (width**2 * edge + 1e-12)
    away = distances - distances.min(axis=1, keepdims=True)
    least = np.exp((edge - distances.min(axis=1, keepdims=True)) * scale)
    weights = np.exp(away * scale) - np.where((least < 0.99) & taper, least, 0.0)
    weights = np.where((distances <= edge) & (weights > 1e-6), weights, 0.0)
    total, used = weights.sum(axis=1), np.count_nonzero(weights, axis=1)
    mean = (weights * steps).sum(axis=1) / total
    variance = (weights * (steps - mean[:, None]) ** 2).sum(axis=1) / total
    place = (weights * values).sum(axis=1) / total
    return mean, variance * np.where(used > 1, used / np.maximum(used - 1, 1), 0.0), place


def unroll_plainly(
    rows: TrainingRows,
    structure: Structure,
    start: FloatArray,
    phases: FloatArray,
    frames: int,
    *,
    omitted: int = -1,
    draws: FloatArray | None = None,
    course: MeanCourse | None = None,
    noise: Noise | None = None,
    parts: IntArray | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Unroll one sequence as `variation.network.regression.unroll` does, without limits.

    Returns:
        Values, variances and phases.
    """
    n, kernel = rows.nodes, rows.kernel
    pairs, steps = rows.pairs.astype(np.float64), rows.steps.astype(np.float64)
    edges = scipy.sparse.csr_array(structure.edges(2 * n).astype(np.float64))
    values, variances, when = np.zeros((frames, n)), np.zeros((frames, n)), np.zeros(frames)
    values[:2], when[: len(phases)] = start, phases
    usable: BoolArray = rows.takes != omitted
    for t in range(2, frames):
        older, newer = values[t - 2], values[t - 1]
        near = slice(0, len(rows.phases))
        if rows.half_period < FAR:  # rows lie twice in a circle
            near = slice(*np.searchsorted(rows.phases, when[t - 1] + rows.half_period * np.array([-1.0, 1.0])))
        apart = (pairs[:, near] - np.concatenate([older, newer])[:, None]) ** 2
        velocity = (pairs[n:, near] - newer[:, None]) - (pairs[:n, near] - older[:, None])
        distances = apart[:n] + apart[n:] + rows.velocities[:, None] * velocity**2 + edges @ apart
        distances += rows.phase_weight * (rows.phases[near] - when[t - 1]) ** 2
        distances = np.where(usable[near], distances, float(FAR))
        mean, variance, place = regress(
            distances, steps[:, near], pairs[n:, near], rows.neighbours, kernel.width, kernel.taper
        )
        new = newer + mean + kernel.pull * (place - newer)
        if draws is not None:
            new += np.sqrt(variance) * draws[t]
        if course is not None and noise is not None and parts is not None:
            at = min(max(when[t - 1] * course.grid, 0.0), len(course.paces) - 1.0)
            lower = min(int(at), len(course.paces) - 2)
            table = noise.table[:, lower] + (at - lower) * (noise.table[:, lower + 1] - noise.table[:, lower])
            pace = float(course.paces[lower, 0] + (at - lower) * (course.paces[lower + 1, 0] - course.paces[lower, 0]))
            new += noise.gains[:n] * (noise.mix[0, t][parts] * table[:, :n].T).sum(axis=1)
            if len(phases) < frames:
                drift = float(noise.gains[n] * (noise.mix[0, t, -1] @ table[:, n]))
                ahead = when[t - 1] + 1.0 / (pace * min(max(1.0 + drift / pace, 0.5), 2.0))
                when[t] = ahead - 2.0 * rows.half_period if ahead >= 2.0 * rows.half_period else ahead
        values[t], variances[t] = np.clip(new, rows.spans[:, 0], rows.spans[:, 1]), variance
    return values, variances, when
