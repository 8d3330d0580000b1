"""Smooth scalar and vector curves that hand-built motion is drawn with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_banded

from gaitway.core.arrays import BoolArray, FloatArray

_THIRD = (-1.0, 3.0, -3.0, 1.0)
"""Weights of a third difference."""


def smooth_step(t: npt.ArrayLike, start: float = 0.0, end: float = 1.0) -> FloatArray:
    """Return 0 before `start`, 1 after `end`, and in between a rise whose first two derivatives vanish at both ends."""
    s = (np.asarray(t, dtype=np.float64) - start) / (end - start)
    s = np.minimum(np.maximum(s, 0.0), 1.0)  # np.clip takes longer than all the rest on a few hundred samples
    out: FloatArray = s * s * s * (10.0 + s * (6.0 * s - 15.0))
    return out


def plateau(t: npt.ArrayLike, start: float, full: float, fade: float, end: float) -> FloatArray:
    """Return 0, a smooth rise from `start` to `full`, 1, a smooth fall from `fade` to `end`, 0."""
    return smooth_step(t, start, full) - smooth_step(t, fade, end)


def soft_clip(x: npt.ArrayLike, low: float, high: float, ease: float) -> FloatArray:
    """Return `x` held between two bounds; it bends over `ease` on both sides of each bound instead of breaking off.

    Values that are farther than `ease` inside stay as they are, and those farther than `ease` beyond are the bound. The
    first two derivatives are continuous. `ease` is at most half of the distance between the bounds.
    """
    x = np.asarray(x, dtype=np.float64)
    return low + _bend(x - low, ease) - _bend(x - high, ease)


def _bend(x: FloatArray, ease: float) -> FloatArray:
    """Return the integral of a smooth step from -ease to ease: 0 before it, `x` after it."""
    s = np.minimum(np.maximum(0.5 * (x / ease + 1.0), 0.0), 1.0)
    out: FloatArray = 2.0 * ease * s**4 * (2.5 + s * (s - 3.0)) + np.maximum(x - ease, 0.0)
    return out


def bump(s: npt.ArrayLike, rise: float = 3.0, fall: float = 3.0) -> FloatArray:
    """Return a hill over 0..1 of height 1, zero outside, with its peak at rise / (rise + fall); powers 3 keep it C2."""
    s = np.clip(np.asarray(s, dtype=np.float64), 0.0, 1.0)
    peak = rise / (rise + fall)
    out: FloatArray = (s / peak) ** rise * ((1.0 - s) / (1.0 - peak)) ** fall
    return out


def hermite(
    s: npt.ArrayLike, first: FloatArray, first_rate: FloatArray, last: FloatArray, last_rate: FloatArray
) -> FloatArray:
    """Return the quintic over s in 0..1 (N,) with these end values and rates (K,) and end accelerations 0; (N, K)."""
    s = np.asarray(s, dtype=np.float64)[:, None]
    cube = s * s * s
    toward = cube * (10.0 + s * (6.0 * s - 15.0))
    leave = s + cube * (-6.0 + s * (8.0 - 3.0 * s))
    arrive = cube * (-4.0 + s * (7.0 - 3.0 * s))
    out: FloatArray = first * (1.0 - toward) + last * toward + first_rate * leave + last_rate * arrive
    return out


def wobble(
    times: FloatArray, channels: int, rng: np.random.Generator, rate_hz: float = 1.0, *, free_ends: bool = False
) -> FloatArray:
    """Return slow random curves of about unit size over `times` (N,); (N, channels).

    They are at rest and zero at both ends, unless the ends are free.
    """
    span = float(times[-1] - times[0])
    count = max(2, round(2.0 * rate_hz * span))
    cycles = np.arange(1, count + 1)
    weights = rng.normal(size=(count, channels)) / np.sqrt(cycles)[:, None]
    phases = rng.uniform(0.0, 2.0 * np.pi, size=(count, channels))
    s = (times - times[0]) / max(span, 1e-9)
    waves = np.sin(np.pi * s[:, None, None] * cycles[:, None] + phases) * weights
    curve = waves.sum(axis=1) / np.sqrt((1.0 / cycles).sum())
    if free_ends:
        return np.asarray(curve)
    edge = min(0.5, 0.35 / max(span, 1e-9))
    out: FloatArray = curve * plateau(s, 0.0, edge, 1.0 - edge, 1.0)[:, None]
    return out


def travelled(times: FloatArray, speed: FloatArray, heading: FloatArray) -> FloatArray:
    """Return the planar path (x, y, heading) of a speed [m/s] along a heading [rad], from the origin; (N, 3)."""
    velocity = speed[:, None] * np.column_stack([np.cos(heading), np.sin(heading)])
    steps = 0.5 * (velocity[1:] + velocity[:-1]) * np.diff(times)[:, None]
    return np.column_stack([np.vstack([np.zeros(2), np.cumsum(steps, axis=0)]), heading])


def fill_smoothly(values: FloatArray, known: BoolArray, soft: Sequence[tuple[int, float, float]] = ()) -> FloatArray:
    """Return the curve of least jerk through the known samples.

    Args:
        values: Samples (F,), read only where `known`.
        known: Whether each sample is given and stays as it is; (F,).
        soft: Frame, value and weight of each point that attracts the curve without fixing it.
    """
    free = np.flatnonzero(~known)
    if not len(free):
        return values.copy()
    start = np.where(known, values, 0.0)
    # the normal equations of third differences have three diagonals on either side, also among the free samples alone
    bands, size = _jerk_bands(len(values)), len(free)
    matrix, right = np.zeros((7, size)), -_jerk_transposed(np.diff(start, 3), len(values))[free]
    for offset in range(min(4, size)):
        apart = free[offset:] - free[: size - offset]
        entries = np.where(apart <= 3, bands[np.minimum(apart, 3), free[: size - offset]], 0.0)
        matrix[3 - offset, offset:] = matrix[3 + offset, : size - offset] = entries
    column = {int(frame): i for i, frame in enumerate(free)}
    for frame, value, weight in soft:
        if frame in column:
            matrix[3, column[frame]] += weight
            right[column[frame]] += weight * value
    out = start.copy()
    out[free] = solve_banded((3, 3), matrix, right)
    return out


def _jerk_transposed(jerks: FloatArray, count: int) -> FloatArray:
    """Return the transpose of taking third differences of `count` samples; (count,)."""
    out = np.zeros(count)
    for a, factor in enumerate(_THIRD):
        out[a : a + len(jerks)] += factor * jerks
    return out


def _jerk_bands(count: int) -> FloatArray:
    """Return the sum of squared third differences as a matrix: its diagonal and the three above it; (4, count)."""
    out = np.zeros((4, count))
    rows = max(count - 3, 0)
    for apart in range(4):
        for a in range(4 - apart):
            out[apart, a : a + rows] += _THIRD[a] * _THIRD[a + apart]
    return out
