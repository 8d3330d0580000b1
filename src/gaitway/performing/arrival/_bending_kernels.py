"""Compiled loops that bend a path."""

from __future__ import annotations

import math

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.jit import kernel


@kernel
def bend_path(
    path: FloatArray, shares: FloatArray, goal: FloatArray, ready: FloatArray, rounds: int, out: FloatArray
) -> float:
    """Bend a path so that it ends at a goal, by a little extra distance, side step and turn in each frame.

    The extras are those with the least sum of squares, each divided by how readily it is done and by how much the share
    grows in its frame. A turn moves what lies ahead along arcs, so the solution is found in rounds.

    Args:
        path: x, y [m] and heading [rad], not wrapped; (F, 3).
        shares: share of the bend that is done by each frame, from 0 to 1, never falling; (F,).
        goal: x, y [m], heading [rad], and 1 if the heading matters; (4,).
        ready: readiness to be stretched, shifted sideways and turned; (3,).
        rounds: largest number of corrections.
        out: the bent path; (F, 3).

    Returns:
        The remaining error [m or rad].
    """
    frames = len(path)
    extra, effect = np.zeros((frames, 3)), np.zeros((3, 3))
    lack, pull, force = np.zeros(3), np.zeros((3, 3)), np.zeros(3)
    for _ in range(rounds):
        _walk(path, extra, out)
        lack[0], lack[1] = goal[0] - out[frames - 1, 0], goal[1] - out[frames - 1, 1]
        away = goal[2] - out[frames - 1, 2]
        lack[2] = goal[3] * (away - 2.0 * math.pi * math.floor(0.5 + away * (0.5 / math.pi)))
        if max(abs(lack[0]), abs(lack[1]), abs(lack[2])) < 1e-10:
            break
        pull[:] = 0.0
        for f in range(frames - 1):
            _effect(out, f, effect)
            grown = shares[f + 1] - shares[f]
            for i in range(3):
                for j in range(3):
                    for k in range(3):
                        pull[i, j] += grown * effect[i, k] * ready[k] * effect[j, k]
        if goal[3] == 0.0:
            pull[0, 2] = pull[1, 2] = pull[2, 0] = pull[2, 1] = 0.0
            pull[2, 2] = 1.0
        _solve(pull, lack, force)
        for f in range(frames - 1):
            _effect(out, f, effect)
            grown = shares[f + 1] - shares[f]
            for k in range(3):
                push = effect[0, k] * force[0] + effect[1, k] * force[1] + effect[2, k] * force[2]
                extra[f, k] += grown * ready[k] * push
    return float(max(abs(lack[0]), abs(lack[1]), abs(lack[2])))


@kernel(inner=True)
def _walk(path: FloatArray, extra: FloatArray, out: FloatArray) -> None:
    """Walk along a path with the extras of each frame."""
    for k in range(3):
        out[0, k] = path[0, k]
    for f in range(len(path) - 1):
        c, s = math.cos(out[f, 2]), math.sin(out[f, 2])
        x = out[f, 0] + c * extra[f, 0] - s * extra[f, 1]
        y = out[f, 1] + s * extra[f, 0] + c * extra[f, 1]
        turned = out[f, 2] + extra[f, 2] - path[f, 2]
        c, s = math.cos(turned), math.sin(turned)
        dx, dy = path[f + 1, 0] - path[f, 0], path[f + 1, 1] - path[f, 1]
        out[f + 1, 0], out[f + 1, 1] = x + c * dx - s * dy, y + s * dx + c * dy
        out[f + 1, 2] = turned + path[f + 1, 2]


@kernel(inner=True)
def _effect(path: FloatArray, f: int, effect: FloatArray) -> None:
    """Compute what extra distance, side step and turn in a frame (columns) do to the end of a path (rows)."""
    last = len(path) - 1
    c, s = math.cos(path[f, 2]), math.sin(path[f, 2])
    effect[0, 0], effect[0, 1], effect[0, 2] = c, -s, path[f, 1] - path[last, 1]
    effect[1, 0], effect[1, 1], effect[1, 2] = s, c, path[last, 0] - path[f, 0]
    effect[2, 2] = 1.0


@kernel(inner=True)
def _solve(a: FloatArray, b: FloatArray, x: FloatArray) -> None:
    """Solve a symmetric system of three equations by Cramer's rule."""
    m00 = a[1, 1] * a[2, 2] - a[1, 2] * a[2, 1]
    m01 = a[1, 0] * a[2, 2] - a[1, 2] * a[2, 0]
    m02 = a[1, 0] * a[2, 1] - a[1, 1] * a[2, 0]
    m11 = a[0, 0] * a[2, 2] - a[0, 2] * a[2, 0]
    m12 = a[0, 0] * a[2, 1] - a[0, 1] * a[2, 0]
    m22 = a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]
    whole = a[0, 0] * m00 - a[0, 1] * m01 + a[0, 2] * m02
    x[0] = (m00 * b[0] - m01 * b[1] + m02 * b[2]) / whole
    x[1] = (-m01 * b[0] + m11 * b[1] - m12 * b[2]) / whole
    x[2] = (m02 * b[0] - m12 * b[1] + m22 * b[2]) / whole
