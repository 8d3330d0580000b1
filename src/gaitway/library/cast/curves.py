"""Smooth scalar and vector curves that hand-built motion is drawn with."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gaitway.arrays import FloatArray


def smooth_step(t: npt.ArrayLike, start: float = 0.0, end: float = 1.0) -> FloatArray:
    """0 before `start`, 1 after `end`, and in between a rise whose first two derivatives vanish at both ends."""
    s = (np.asarray(t, dtype=np.float64) - start) / (end - start)
    s = np.minimum(np.maximum(s, 0.0), 1.0)  # np.clip takes longer than all the rest on a few hundred samples
    out: FloatArray = s * s * s * (10.0 + s * (6.0 * s - 15.0))
    return out


def plateau(t: npt.ArrayLike, start: float, full: float, fade: float, end: float) -> FloatArray:
    """0, a smooth rise from `start` to `full`, 1, a smooth fall from `fade` to `end`, 0."""
    return smooth_step(t, start, full) - smooth_step(t, fade, end)


def bump(s: npt.ArrayLike, rise: float = 3.0, fall: float = 3.0) -> FloatArray:
    """A hill over 0..1 of height 1, zero outside, with its peak at rise / (rise + fall); powers 3 keep it C2."""
    s = np.clip(np.asarray(s, dtype=np.float64), 0.0, 1.0)
    peak = rise / (rise + fall)
    out: FloatArray = (s / peak) ** rise * ((1.0 - s) / (1.0 - peak)) ** fall
    return out


def hermite(
    s: npt.ArrayLike, first: FloatArray, first_rate: FloatArray, last: FloatArray, last_rate: FloatArray
) -> FloatArray:
    """The quintic over s in 0..1 (N,) with these end values and rates (K,) and no acceleration at its ends; (N, K)."""
    s = np.asarray(s, dtype=np.float64)[:, None]
    cube = s * s * s
    toward = cube * (10.0 + s * (6.0 * s - 15.0))
    leave = s + cube * (-6.0 + s * (8.0 - 3.0 * s))
    arrive = cube * (-4.0 + s * (7.0 - 3.0 * s))
    out: FloatArray = first * (1.0 - toward) + last * toward + first_rate * leave + last_rate * arrive
    return out


def wobble(times: FloatArray, channels: int, rng: np.random.Generator, rate_hz: float = 1.0) -> FloatArray:
    """Slow random curves of about unit size over `times` (N,), at rest and zero at both ends; (N, channels)."""
    span = float(times[-1] - times[0])
    count = max(2, round(2.0 * rate_hz * span))
    cycles = np.arange(1, count + 1)
    weights = rng.normal(size=(count, channels)) / np.sqrt(cycles)[:, None]
    phases = rng.uniform(0.0, 2.0 * np.pi, size=(count, channels))
    s = (times - times[0]) / max(span, 1e-9)
    waves = np.sin(np.pi * s[:, None, None] * cycles[:, None] + phases) * weights
    curve = waves.sum(axis=1) / np.sqrt((1.0 / cycles).sum())
    edge = min(0.5, 0.35 / max(span, 1e-9))
    out: FloatArray = curve * plateau(s, 0.0, edge, 1.0 - edge, 1.0)[:, None]
    return out


def travelled(times: FloatArray, speed: FloatArray, heading: FloatArray) -> FloatArray:
    """The planar path (x, y, heading) of a speed [m/s] along a heading [rad], from the origin; (N, 3)."""
    velocity = speed[:, None] * np.column_stack([np.cos(heading), np.sin(heading)])
    steps = 0.5 * (velocity[1:] + velocity[:-1]) * np.diff(times)[:, None]
    return np.column_stack([np.vstack([np.zeros(2), np.cumsum(steps, axis=0)]), heading])
