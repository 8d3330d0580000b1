"""Life of who sits: breath, sway, shifts of weight and glances. It begins and ends at rest, so it can be repeated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.motion.blending import ease

_BREATH = (0.22, 0.30)
"""Frequencies of breath [Hz]."""
_SWAY = np.radians([0.5, 0.9, 0.4])
"""Size of the slow sway of the chest: yaw, pitch and roll [rad]."""


@dataclass(frozen=True, eq=False)
class Life:
    """Small turns of who sits: yaw, pitch and roll [rad]; (F, 3) each."""

    pelvis: FloatArray
    chest: FloatArray
    head: FloatArray


def life(count: int, fps: float, rng: np.random.Generator) -> Life:
    """Return the life of a span of frames. In its first and last frame all turns and their speeds are 0.

    Args:
        count: number of frames.
        fps: frame rate [Hz].
        rng: source of all that is drawn.
    """
    times, total = np.arange(count) / fps, max((count - 1) / fps, 1e-3)
    pelvis, chest, head = (np.zeros((count, 3)) for _ in range(3))
    breaths = max(round(total * rng.uniform(*_BREATH)), 1)
    breath = 1.0 - np.cos(2.0 * np.pi * breaths * times / total)
    chest[:, 1] -= np.radians(0.55) * breath
    head[:, 1] += np.radians(0.1) * breath
    for axis in range(3):
        chest[:, axis] += _SWAY[axis] * _wander(times, total, rng)
        head[:, axis] += 1.6 * _SWAY[axis] * _wander(times, total, rng) + 0.7 * chest[:, axis]
    at = float(rng.uniform(0.8, 3.0))
    while at < total - 2.0:  # glances
        hold, yaw = float(rng.uniform(0.8, 2.6)), np.radians(rng.choice([-1.0, 1.0]) * rng.uniform(14.0, 48.0))
        pitch, move = np.radians(rng.uniform(-6.0, 12.0)), 0.35 + 0.25 * abs(float(yaw))
        shape = _held(times, at, hold, move, total)
        head[:, 0] += 0.9 * yaw * shape
        head[:, 1] += pitch * shape
        chest[:, 0] += 0.22 * yaw * _held(times, at + 0.06, hold, 1.5 * move, total)
        at += hold + 2.0 * move + float(rng.uniform(1.0, 5.0))
    at = float(rng.uniform(2.0, 6.0))
    while at < total - 3.0:  # shifts of weight from one side to the other
        hold, roll = float(rng.uniform(3.0, 8.0)), np.radians(rng.choice([-1.0, 1.0]) * rng.uniform(1.5, 4.0))
        shape = _held(times, at, hold, 1.1, total)
        pelvis[:, 2] += 0.25 * roll * shape
        chest[:, 2] += roll * shape
        chest[:, 1] += 0.5 * abs(roll) * shape
        head[:, 2] += 0.3 * roll * shape
        at += hold + float(rng.uniform(2.5, 6.0))
    return Life(pelvis, chest, head)


def _wander(times: FloatArray, total: float, rng: np.random.Generator) -> FloatArray:
    """Return a slow wave of about unit size with a period of `total`, and value and slope 0 at its ends; (F,)."""
    out, value, slope = np.zeros_like(times), 0.0, 0.0
    for k in range(1, max(2, int(0.8 * total)) + 1):
        size, phase = rng.normal() / np.sqrt(1.0 + (6.0 * k / total) ** 2), rng.uniform(0.0, 2.0 * np.pi)
        out += size * np.sin(2.0 * np.pi * k * times / total + phase)
        value, slope = value + size * np.sin(phase), slope + size * k * np.cos(phase)
    whole = 2.0 * np.pi * times / total
    out -= value * np.cos(whole) + slope * np.sin(whole)
    return np.asarray(out / max(1.0, float(np.abs(out).max()) / 1.6))


def _held(times: FloatArray, at: float, hold: float, move: float, total: float) -> FloatArray:
    """Return a weight that rises at a time, is held, and falls before the end; (F,)."""
    until = min(at + move + hold, total - move)
    if until < at + move:
        return np.zeros_like(times)
    return np.asarray(ease((times - at) / move) * ease((until + move - times) / move))
