"""How deep the capsules of one body lie in those of another."""

from __future__ import annotations

import numpy as np

from gaitway.audit._solid_kernels import COARSE
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel

_FAR = 1e30


@kernel
def segment_distance(a: FloatArray, b: FloatArray) -> float:
    """Return the distance of two segments (2, 3) [m]; either may be a point."""
    ux, uy, uz = a[1, 0] - a[0, 0], a[1, 1] - a[0, 1], a[1, 2] - a[0, 2]
    vx, vy, vz = b[1, 0] - b[0, 0], b[1, 1] - b[0, 1], b[1, 2] - b[0, 2]
    wx, wy, wz = a[0, 0] - b[0, 0], a[0, 1] - b[0, 1], a[0, 2] - b[0, 2]
    uu, uv, vv = ux * ux + uy * uy + uz * uz, ux * vx + uy * vy + uz * vz, vx * vx + vy * vy + vz * vz
    uw, vw = ux * wx + uy * wy + uz * wz, vx * wx + vy * wy + vz * wz
    area = uu * vv - uv * uv
    s = 0.0
    if area > 1e-12 * uu * vv:  # of parallel ones any place on the first will do to begin with
        s = min(max((uv * vw - vv * uw) / area, 0.0), 1.0)
    t = 0.0
    if vv > 0.0:
        t = min(max((uv * s + vw) / vv, 0.0), 1.0)
    if uu > 0.0:
        s = min(max((uv * t - uw) / uu, 0.0), 1.0)
    dx, dy, dz = wx + s * ux - t * vx, wy + s * uy - t * vy, wz + s * uz - t * vz
    distance: float = np.sqrt(dx * dx + dy * dy + dz * dz)
    return distance


@kernel(inner=True)
def _gap(a: FloatArray, b: FloatArray) -> float:
    """Return a lower bound of the distance of two segments (2, 3) [m], from their middles and lengths."""
    away, first, second = 0.0, 0.0, 0.0
    for i in range(3):
        away += 0.25 * (a[0, i] + a[1, i] - b[0, i] - b[1, i]) ** 2
        first += 0.25 * (a[1, i] - a[0, i]) ** 2
        second += 0.25 * (b[1, i] - b[0, i]) ** 2
    gap: float = np.sqrt(away) - np.sqrt(first) - np.sqrt(second)
    return gap


@kernel
def meet(
    before: FloatArray, now: FloatArray, radii: FloatArray, reach: FloatArray, starts: IntArray, pairs: IntArray,
    bar: float, finest: float, parts: IntArray, depths: FloatArray, flags: IntArray,
) -> None:  # fmt: skip
    """Find bodies that lie in one another, and those that might have between two frames without being seen.

    Args:
        before: axes of all capsules in the frame before, body after body [m]; (M, 2, 3).
        now: in this frame [m]; (M, 2, 3).
        radii: (M,) [m].
        reach: how far each may have gone since [m]; (M,).
        starts: first capsule of each body, and M at the end; (N + 1,).
        pairs: bodies to compare; (P, 2).
        bar: the depth that matters [m].
        finest: where both together go less than this, nothing is looked at in between [m].
        parts: capsules that lie deepest in one another now; (P, 2).
        depths: of these [m], or below 0 by some of the distance where all are clear; (P,).
        flags: 1 where the time in between must be looked at; (P,).
    """
    for p in range(pairs.shape[0]):
        a, b = pairs[p, 0], pairs[p, 1]
        depths[p], parts[p, 0], parts[p, 1], flags[p] = -_FAR, starts[a], starts[b], 0
        seen = False  # what is found at either frame anyway need not be looked for in between
        for i in range(starts[a], starts[a + 1]):
            for j in range(starts[b], starts[b + 1]):
                thick, step = radii[i] + radii[j], reach[i] + reach[j]
                if _gap(now[i], now[j]) - thick > step:
                    continue
                depth = thick - segment_distance(now[i], now[j])
                if depth > depths[p]:
                    depths[p], parts[p, 0], parts[p, 1] = depth, i, j
                if depth > -step and step >= finest:
                    was = thick - segment_distance(before[i], before[j])
                    seen = seen or max(depth, was) > bar
                    if 0.5 * (step + depth + was) > max(0.5 * bar, max(depth, was) + COARSE):
                        flags[p] = 1
        if seen:
            flags[p] = 0
