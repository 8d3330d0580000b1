"""Turns of joints over frames: applied, compared, smoothed and packed, each in one pass."""

from __future__ import annotations

import math

import numpy as np

from gaitway.core.arrays import FloatArray, SingleArray
from gaitway.core.jit import kernel
from gaitway.performing.upper_body._limit_kernels import angle_over_sine, product


@kernel(borrows=True)
def turn(turns: FloatArray, vectors: FloatArray, weights: FloatArray) -> None:
    """Turn joints further, each in its own frame (in place).

    Args:
        turns: turns so far; (F, K, 4).
        vectors: further turns, as rotation vectors [rad]; (F, K, 3).
        weights: share of them that is applied in each frame; (F,).
    """
    for f in range(turns.shape[0]):
        for k in range(turns.shape[1]):
            x, y, z = weights[f] * vectors[f, k, 0], weights[f] * vectors[f, k, 1], weights[f] * vectors[f, k, 2]
            h = 0.25 * (x * x + y * y + z * z)  # square of half the angle
            if h < 0.25:  # series of the cosine, and of the sine over the angle, to the last digit
                w = 1.0 - h / 2.0 * (1.0 - h / 12.0 * (1.0 - h / 30.0 * (1.0 - h / 56.0 * (1.0 - h / 90.0 * (
                    1.0 - h / 132.0 * (1.0 - h / 182.0))))))  # fmt: skip
                scale = 0.5 * (1.0 - h / 6.0 * (1.0 - h / 20.0 * (1.0 - h / 42.0 * (1.0 - h / 72.0 * (
                    1.0 - h / 110.0 * (1.0 - h / 156.0 * (1.0 - h / 210.0)))))))  # fmt: skip
            else:
                half = math.sqrt(h)
                w, scale = math.cos(half), 0.5 * math.sin(half) / half
            x, y, z = scale * x, scale * y, scale * z
            a, b, c, d = turns[f, k, 0], turns[f, k, 1], turns[f, k, 2], turns[f, k, 3]
            w, x, y, z = product(a, b, c, d, w, x, y, z)
            turns[f, k, 0], turns[f, k, 1], turns[f, k, 2], turns[f, k, 3] = w, x, y, z


@kernel(borrows=True)
def between(first: FloatArray, last: FloatArray, out: FloatArray) -> None:
    """Write the turns that lead from some rotations (N, 4) to others (N, 4), as rotation vectors [rad] (N, 3)."""
    for n in range(len(first)):
        a, b, c, d = first[n, 0], -first[n, 1], -first[n, 2], -first[n, 3]
        w, x, y, z = last[n, 0], last[n, 1], last[n, 2], last[n, 3]
        w, x, y, z = product(a, b, c, d, w, x, y, z)
        size = math.sqrt(w * w + x * x + y * y + z * z)
        w, x, y, z = w / size, x / size, y / size, z / size
        scale = angle_over_sine(w, x, y, z)
        out[n, 0], out[n, 1], out[n, 2] = scale * x, scale * y, scale * z


@kernel(borrows=True)
def smooth(lines: FloatArray, weights: FloatArray, out: FloatArray) -> None:
    """Write weighted sums of neighbours along lines, symmetric about each place.

    Args:
        lines: values, with `R` more before and behind; (C, N + 2 R).
        weights: weight of a value itself, and of those one place away, two ... from it; (R + 1,).
        out: the sums; (C, N).
    """
    count, reach = out.shape[1], len(weights) - 1
    for c in range(lines.shape[0]):
        line, sums = lines[c], out[c]
        for n in range(count):
            sums[n] = line[reach + n] * weights[0]
        for k in range(reach, 0, -1):  # all places at once, for the sake of the processor
            weight, before, behind = weights[k], line[reach - k :], line[reach + k :]
            for n in range(count):
                sums[n] += (before[n] + behind[n]) * weight


@kernel(borrows=True)
def pack(turns: FloatArray, step: float, out: SingleArray) -> None:
    """Write turns (F, K, 4) in single precision, their vectors in whole steps (F, K, 4)."""
    for f in range(turns.shape[0]):
        for k in range(turns.shape[1]):
            left = 0.0
            for i in range(1, 4):
                value = np.rint(turns[f, k, i] / step) * step
                left += value * value
                out[f, k, i] = value
            real = math.sqrt(max(1.0 - left, 0.0))  # of half a turn, steps may lead beyond length one
            out[f, k, 0] = -real if turns[f, k, 0] < 0.0 else real
