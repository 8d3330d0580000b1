"""Compiled loops of `gaitway.motion`: plain arrays in, plain arrays out."""

from __future__ import annotations

import math

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.jit import kernel

# rows of the room that `two_bone` works in: an array for each vector would be slower, and slower to compile
_FIRST, _SECOND, _POLE, _CHORD, _AHEAD, _UPPER, _LOWER, _SWING, _SIDE, _ARC, _HELPER, _SCRATCH = range(12)


@kernel
def forward_kinematics(
    parents: IntArray,
    offsets: FloatArray,
    roots: FloatArray,
    local: FloatArray,
    positions: FloatArray,
    world: FloatArray,
) -> None:
    """Write the world positions (N, J, 3) and rotations (N, J, 4) of N poses into the last two arguments."""
    for n in range(local.shape[0]):
        for j in range(local.shape[1]):
            p = parents[j]
            w, x, y, z = local[n, j, 0], local[n, j, 1], local[n, j, 2], local[n, j, 3]
            if p < 0:
                world[n, j, 0], world[n, j, 1], world[n, j, 2], world[n, j, 3] = w, x, y, z
                positions[n, j, 0], positions[n, j, 1], positions[n, j, 2] = roots[n, 0], roots[n, 1], roots[n, 2]
                continue
            a, b, c, d = world[n, p, 0], world[n, p, 1], world[n, p, 2], world[n, p, 3]
            world[n, j, 0] = a * w - b * x - c * y - d * z
            world[n, j, 1] = a * x + b * w + c * z - d * y
            world[n, j, 2] = a * y - b * z + c * w + d * x
            world[n, j, 3] = a * z + b * y - c * x + d * w
            ox, oy, oz = offsets[j, 0], offsets[j, 1], offsets[j, 2]
            tx, ty, tz = 2.0 * (c * oz - d * oy), 2.0 * (d * ox - b * oz), 2.0 * (b * oy - c * ox)
            positions[n, j, 0] = positions[n, p, 0] + ox + a * tx + c * tz - d * ty
            positions[n, j, 1] = positions[n, p, 1] + oy + a * ty + d * tx - b * tz
            positions[n, j, 2] = positions[n, p, 2] + oz + a * tz + b * ty - c * tx


@kernel
def unit_quaternions(q: FloatArray, tolerance: float, unit: FloatArray) -> int:
    """Write quaternions (F, J, 4), normalised, into `unit`; check and division in one pass over memory.

    Returns:
        The number frame * J + joint of the first whose length is not within `tolerance` of one (or not a number),
        where it stops; -1 if there is none.
    """
    for f in range(q.shape[0]):
        for j in range(q.shape[1]):
            w, x, y, z = q[f, j, 0], q[f, j, 1], q[f, j, 2], q[f, j, 3]
            length = np.sqrt(w * w + x * x + y * y + z * z)
            if not abs(length - 1.0) <= tolerance:
                return f * q.shape[1] + j
            # what was rounded to single precision keeps its bits, so that a file of such is read back as it was
            scale = 1.0 if abs(length - 1.0) <= 1e-7 else 1.0 / length
            unit[f, j, 0], unit[f, j, 1], unit[f, j, 2], unit[f, j, 3] = w * scale, x * scale, y * scale, z * scale
    return -1


@kernel(borrows=True)
def bridge(
    values: FloatArray, known: BoolArray, fps: float, window: float, fade: float, steepest: float, depth: int
) -> None:
    """Fill the frames that are not known so that value and slope go on; `motion.footplants.bridge` explains it.

    Args:
        values: one number a frame, changed; (F,).
        known: frames whose values are known; (F,).
        fps: frame rate [Hz].
        window: frames within which values fade to zero.
        fade: frames within which slopes do.
        steepest: greatest slope that goes on, a second.
        depth: greatest number of frames over which a slope is measured.
    """
    count, start = len(values), 0
    while start < count:
        stop = start
        while stop < count and not known[stop]:
            stop += 1
        gap = float(stop - start + 1)
        for frame in range(start, stop):
            values[frame] = 0.0
        for side in range(2 if stop > start else 0):
            edge, inward = (start - 1, -1) if side == 0 else (stop, 1)
            if 0 <= edge < count:
                over = 0
                while over < depth and 0 <= edge + inward * (over + 1) < count and known[edge + inward * (over + 1)]:
                    over += 1
                slope = 0.0
                if over > 0:
                    slope = (values[edge] - values[edge + inward * over]) / over
                    slope *= min(1.0, steepest / max(math.sqrt(slope * slope) * fps, 1e-12))
                opened = stop == count if side == 0 else start == 0
                reach = window if opened else min(window, gap)
                for frame in range(start, stop):
                    steps = float(abs(frame - edge))
                    t, rest = min(steps / reach, 1.0), min(max(1.0 - steps / min(fade, reach), 0.0), 1.0)
                    values[frame] += values[edge] * (1.0 - t * t * (3.0 - 2.0 * t)) + slope * (steps * (rest * rest))
        start = max(stop, start + 1)


@kernel
def two_bone(
    points: FloatArray,
    upper: FloatArray,
    lower: FloatArray,
    target: FloatArray,
    pole: FloatArray,
    softness: float,
    straight: float,
    new_upper: FloatArray,
    new_lower: FloatArray,
) -> None:
    """Solve two-bone inverse kinematics of N limbs; `gaitway.motion.ik.two_bone` explains the solution.

    Args:
        points: start, middle and end of each limb; (N, 3, 3).
        upper: world rotation of the first bone; (N, 4).
        lower: world rotation of the second bone; (N, 4).
        target: wanted position of the end; (N, 3).
        pole: unit direction to which the middle joint bends when the limb is straight; (N, 3).
        softness: share of the reach over which the approach to the straight limb is softened.
        straight: share of the reach below which the middle joint's offset counts as straight.
        new_upper: receives the rotations of the first bone; (N, 4).
        new_lower: receives the rotations of the second bone; (N, 4).
    """
    v = np.empty((12, 4))
    for n in range(len(points)):
        for k in range(3):
            v[_FIRST, k], v[_SECOND, k] = points[n, 1, k] - points[n, 0, k], points[n, 2, k] - points[n, 1, k]
            v[_CHORD, k], v[_AHEAD, k] = points[n, 2, k] - points[n, 0, k], target[n, k] - points[n, 0, k]
            v[_POLE, k] = pole[n, k]
        for k in range(4):
            v[_UPPER, k], v[_LOWER, k] = upper[n, k], lower[n, k]
        a, b = np.sqrt(_dot(v, _FIRST, _FIRST)), np.sqrt(_dot(v, _SECOND, _SECOND))
        length, distance = np.sqrt(_dot(v, _CHORD, _CHORD)), np.sqrt(_dot(v, _AHEAD, _AHEAD))
        if not (a < 1e-9 or b < 1e-9 or length < 1e-9 or distance < 1e-9):
            _divide(v, _AHEAD, distance)
            _divide(v, _CHORD, length)
            _shortest_arc(v, _CHORD, _AHEAD, _SWING)
            for row in range(_FIRST, _POLE + 1):
                _turn(v, row)
            _bend_side(v, straight * (a + b))
            reach = _soft_reach(distance, a, b, softness)
            along = (a * a + reach * reach - b * b) / (2.0 * reach)
            height = np.sqrt(max(a * a - along * along, 0.0))
            for k in range(3):
                v[_ARC, k] = along * v[_AHEAD, k] + height * v[_SIDE, k]
                v[_HELPER, k] = reach * v[_AHEAD, k] - v[_ARC, k]
            for bone in range(2):
                _divide(v, _FIRST + bone, a if bone == 0 else b)
                _divide(v, _ARC + bone, a if bone == 0 else b)
                _shortest_arc(v, _FIRST + bone, _ARC + bone, _CHORD)
                _times(v, _SWING, _UPPER + bone, _FIRST + bone)
                _times(v, _CHORD, _FIRST + bone, _UPPER + bone)
        for k in range(4):
            new_upper[n, k], new_lower[n, k] = v[_UPPER, k], v[_LOWER, k]


@kernel(inner=True)
def _dot(v: FloatArray, i: int, j: int) -> float:
    """Return the inner product of the vectors in two rows."""
    return v[i, 0] * v[j, 0] + v[i, 1] * v[j, 1] + v[i, 2] * v[j, 2]


@kernel(inner=True)
def _divide(v: FloatArray, i: int, by: float) -> None:
    """Divide the vector in a row."""
    for k in range(3):
        v[i, k] /= by


@kernel(inner=True)
def _cross(v: FloatArray, i: int, j: int, out: int) -> None:
    """Write the cross product of the vectors in two rows into a third row."""
    for k in range(3):
        a, b = (k + 1) % 3, (k + 2) % 3
        v[out, k] = v[i, a] * v[j, b] - v[i, b] * v[j, a]


@kernel(inner=True)
def _soft_reach(distance: float, a: float, b: float, softness: float) -> float:
    """Return the distance that two bones span for a wanted distance.

    It is exact in the middle of the range, and C1 and bounded at both ends.
    """
    top = a + b - 0.05 * softness * (a + b)
    knee = top - softness * (a + b)
    if distance > knee:
        room = top - knee
        return knee + room * (1.0 - np.exp(-(distance - knee) / room))
    folded = abs(a - b) + 0.02 * (a + b)
    return max(distance, folded)


@kernel(inner=True)
def _bend_side(v: FloatArray, margin: float) -> None:
    """Write the unit direction, square to the line ahead, in which the middle joint leaves that line, into its row.

    Where it is now, unless the limb is within `margin` of straight (or bent backward): then it eases to the pole.
    """
    toward = _dot(v, _FIRST, _AHEAD)
    for k in range(3):
        v[_SIDE, k] = v[_FIRST, k] - v[_AHEAD, k] * toward
    # the hinge stands square on the first bone and the pole; it holds for a limb folded beyond a right angle too
    _cross(v, _POLE, _FIRST, _HELPER)
    _cross(v, _AHEAD, _HELPER, _POLE)
    size = np.sqrt(_dot(v, _POLE, _POLE))
    if size > 1e-6 * np.sqrt(_dot(v, _FIRST, _FIRST)):
        _divide(v, _POLE, size)
        along = _dot(v, _SIDE, _POLE)
        if along < margin:
            for k in range(3):
                v[_HELPER, k] = v[_SIDE, k] - along * v[_POLE, k]
            t = max((along + margin) / (2.0 * margin), 0.0)
            # cubic that leaves 0.2 margin with slope 0 and joins the identity at the margin with slope 1
            eased = margin * (0.2 + t * t * (0.8 * (3.0 - 2.0 * t) + 2.0 * (t - 1.0)))
            # what points sideways is noise unless it is large
            aside = np.sqrt(_dot(v, _HELPER, _HELPER))
            kept = min(max(max(along, aside - margin) / margin, 0.0), 1.0)
            for k in range(3):
                v[_SIDE, k] = eased * v[_POLE, k] + kept * kept * (3.0 - 2.0 * kept) * v[_HELPER, k]
    if np.sqrt(_dot(v, _SIDE, _SIDE)) <= 1e-9:  # then any direction will do
        axis = 0 if abs(v[_AHEAD, 0]) < 0.7 else 1
        for k in range(3):
            v[_SIDE, k] = (1.0 if k == axis else 0.0) - v[_AHEAD, k] * v[_AHEAD, axis]
    _divide(v, _SIDE, np.sqrt(_dot(v, _SIDE, _SIDE)))


@kernel(inner=True)
def _shortest_arc(v: FloatArray, i: int, j: int, out: int) -> None:
    """Write the quaternion of the shortest rotation from the unit vector in row i to that in row j into a third row."""
    w, other = 1.0 + _dot(v, i, j), j
    if w < 1e-9:  # half a turn, about any axis that is square to both
        axis = 0 if abs(v[i, 0]) < abs(v[i, 1]) else 1
        w, other = 0.0, _SIDE
        for k in range(3):
            v[other, k] = 1.0 if k == axis else 0.0
    _cross(v, i, other, _SCRATCH)
    length = np.sqrt(w * w + _dot(v, _SCRATCH, _SCRATCH))
    v[out, 0] = w / length
    for k in range(3):
        v[out, k + 1] = v[_SCRATCH, k] / length


@kernel(inner=True)
def _turn(v: FloatArray, i: int) -> None:
    """Turn the vector in a row by the swing."""
    w = v[_SWING, 0]
    for k in range(3):
        v[_SCRATCH, k] = v[_SWING, k + 1]
    _cross(v, _SCRATCH, i, _SIDE)
    for k in range(3):
        v[_SIDE, k] *= 2.0
    _cross(v, _SCRATCH, _SIDE, _HELPER)
    for k in range(3):
        v[i, k] = v[i, k] + w * v[_SIDE, k] + v[_HELPER, k]


@kernel(inner=True)
def _times(v: FloatArray, i: int, j: int, out: int) -> None:
    """Write the product of the quaternions in two rows into a third row."""
    w, x, y = v[i, 0], v[i, 1], v[i, 2]
    z, p, q = v[i, 3], v[j, 0], v[j, 1]
    r, s = v[j, 2], v[j, 3]
    v[out, 0] = w * p - x * q - y * r - z * s
    v[out, 1] = w * q + x * p + y * s - z * r
    v[out, 2] = w * r - x * s + y * p + z * q
    v[out, 3] = w * s + x * r - y * q + z * p
