"""How far joints of poses are beyond their limits, in one pass over frames."""

from __future__ import annotations

import math

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel

_SMALL = 1e-12
"""Length below which a quaternion has no direction."""
_SHORT = 1e-7
"""Sine of half an angle below which the angle is that sine, twice."""
_HALF_TURN = 1e-15
"""Scalar part of a quaternion up to which it turns by half a turn."""


@kernel(borrows=True, inner=True)
def product(
    a: float, b: float, c: float, d: float, w: float, x: float, y: float, z: float
) -> tuple[float, float, float, float]:
    """Return the product of two quaternions: the second rotation, followed by the first one."""
    return (
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    )


@kernel(borrows=True, inner=True)
def angle_over_sine(w: float, x: float, y: float, z: float) -> float:
    """Return the factor from the vector part of a unit quaternion to its rotation vector, of length pi at most."""
    sine = math.sqrt(x * x + y * y + z * z)
    first = x if abs(x) > _SMALL else y if abs(y) > _SMALL else z if abs(z) > _SMALL else x
    sign = -1.0 if (first < 0.0 if abs(w) <= _HALF_TURN else w < 0.0) else 1.0
    return sign * (2.0 * math.atan2(sine, sign * w) / sine if sine > _SHORT else 2.0)


@kernel(borrows=True, inner=True)
def _most_angle(square: float) -> float:
    """Return what `angle_over_sine` is at most for a square of the sine of half an angle, up to half a turn.

    The first terms of its series, which has no negative ones; the last term makes up for the rest at half a turn, and
    for more than the rest below that.
    """
    return (2.0 + square * (1.0 / 3.0 + square * (0.15 + square * (math.pi - 2.0 - 1.0 / 3.0 - 0.15)))) * (1.0 + 1e-9)


@kernel
def beyond(
    parents: IntArray, needed: IntArray, local: FloatArray, columns: IntArray, turns: FloatArray, joints: IntArray,
    bases: IntArray, rest: FloatArray, axes: FloatArray, low: FloatArray, high: FloatArray, over: FloatArray,
) -> None:  # fmt: skip
    """Write by how much joints are beyond their limits, as `gaitway.motion.limits.violations` does.

    Args:
        parents: parent of each joint, or -1; (J,).
        needed: limited joints, their bases, and all that these hang on, parents first; (N,).
        local: rotations in the frames of parents; (F, J, 4).
        columns: column of each joint among those that turn, or -1; (J,).
        turns: further turns in the frames of joints; (F, C, 4).
        joints: limited joints; (K,).
        bases: the joint that each of them is measured against; (K,).
        rest: world rotations of the T-pose; (J, 4).
        axes: swing, side and twist axis of each limited joint; (K, 3, 3).
        low: lowest swing, side and twist angle [rad]; (K, 3).
        high: highest swing, side and twist angle [rad]; (K, 3).
        over: by how much each limited joint is beyond its limits [degrees], written; (F, K).
    """
    turned, worlds = np.empty((local.shape[1], 4)), np.empty((local.shape[1], 4))
    for frame in range(local.shape[0]):
        for j in needed:
            p, column = parents[j], columns[j]
            w, x, y, z = local[frame, j, 0], local[frame, j, 1], local[frame, j, 2], local[frame, j, 3]
            if column >= 0:
                a, b, c, d = w, x, y, z
                w, x, y, z = (
                    turns[frame, column, 0],
                    turns[frame, column, 1],
                    turns[frame, column, 2],
                    turns[frame, column, 3],
                )
                w, x, y, z = product(a, b, c, d, w, x, y, z)
            if p >= 0:
                a, b, c, d = worlds[p, 0], worlds[p, 1], worlds[p, 2], worlds[p, 3]
                w, x, y, z = product(a, b, c, d, w, x, y, z)
            worlds[j, 0], worlds[j, 1], worlds[j, 2], worlds[j, 3] = w, x, y, z
            a, b, c, d = rest[j, 0], -rest[j, 1], -rest[j, 2], -rest[j, 3]
            turned[j, 0], turned[j, 1], turned[j, 2], turned[j, 3] = product(w, x, y, z, a, b, c, d)
        for k in range(len(joints)):
            base, j = bases[k], joints[k]
            a, b, c, d = turned[base, 0], -turned[base, 1], -turned[base, 2], -turned[base, 3]
            w, x, y, z = turned[j, 0], turned[j, 1], turned[j, 2], turned[j, 3]
            w, x, y, z = product(a, b, c, d, w, x, y, z)
            size = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
            w, x, y, z = w * size, x * size, y * size, z * size
            # swing and twist: the twist is what turns about its axis
            u, v, t = axes[k, 2, 0], axes[k, 2, 1], axes[k, 2, 2]
            along = x * u + y * v + z * t
            size = math.sqrt(w * w + along * along)
            real, along = (w / size, along / size) if size > _SMALL else (1.0, 0.0)
            w, x, y, z = product(w, x, y, z, real, -along * u, -along * v, -along * t)
            swing = x * axes[k, 0, 0] + y * axes[k, 0, 1] + z * axes[k, 0, 2]
            side = x * axes[k, 1, 0] + y * axes[k, 1, 1] + z * axes[k, 1, 2]
            # most joints are far from their limits, also where each angle is taken for more than it is
            twist = _most_angle(along * along) * (along if real >= 0.0 else -along)
            if low[k, 2] < twist < high[k, 2] and w > 0.0:
                scale = _most_angle(x * x + y * y + z * z)
                across = scale * swing / (low[k, 0] if swing < 0.0 else high[k, 0])
                aside = scale * side / (low[k, 1] if side < 0.0 else high[k, 1])
                if across * across + aside * aside < 1.0:
                    over[frame, k] = 0.0
                    continue
            twist = angle_over_sine(real, along * u, along * v, along * t) * along
            scale = angle_over_sine(w, x, y, z)
            swing, side = scale * swing, scale * side
            # the nearest swing in the same direction that lies in an ellipse
            wide = max(-low[k, 0] if swing < 0.0 else high[k, 0], 1e-9)
            tall = max(-low[k, 1] if side < 0.0 else high[k, 1], 1e-9)
            reach = max(math.sqrt((swing / wide) ** 2 + (side / tall) ** 2), 1.0)
            away = math.sqrt((swing - swing / reach) ** 2 + (side - side / reach) ** 2)
            rolled = abs(twist - min(max(twist, low[k, 2]), high[k, 2]))
            over[frame, k] = math.degrees(max(away, rolled))
