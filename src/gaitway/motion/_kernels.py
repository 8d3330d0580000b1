"""Compiled loops of `gaitway.motion`: plain arrays in, plain arrays out."""

from __future__ import annotations

import numpy as np

from gaitway._jit import kernel
from gaitway.arrays import FloatArray, IntArray


@kernel
def forward_kinematics(
    parents: IntArray,
    offsets: FloatArray,
    roots: FloatArray,
    local: FloatArray,
    positions: FloatArray,
    world: FloatArray,
) -> None:
    """World positions (N, J, 3) and rotations (N, J, 4) of N poses, written into the last two arguments."""
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
    """Write quaternions (F, J, 4) made of length one into `unit`; check and division in one pass over memory.

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
    """Two-bone inverse kinematics of N limbs; `gaitway.motion.ik.two_bone` says what and why.

    Args:
        points: start, middle and end of each limb; (N, 3, 3).
        upper: world rotation of the first bone; (N, 4).
        lower: world rotation of the second bone; (N, 4).
        target: where the end shall be; (N, 3).
        pole: unit direction to which the middle joint bends when the limb is straight; (N, 3).
        softness: share of the reach over which the approach to the straight limb is softened.
        straight: share of the reach below which the middle joint's offset counts as straight.
        new_upper: receives the rotations of the first bone; (N, 4).
        new_lower: receives the rotations of the second bone; (N, 4).
    """
    for n in range(len(points)):
        start, middle, end = points[n, 0], points[n, 1], points[n, 2]
        first, second, chord = middle - start, end - middle, end - start
        goal = target[n] - start
        a, b = np.sqrt(_dot(first, first)), np.sqrt(_dot(second, second))
        length, distance = np.sqrt(_dot(chord, chord)), np.sqrt(_dot(goal, goal))
        if a < 1e-9 or b < 1e-9 or length < 1e-9 or distance < 1e-9:
            for k in range(4):
                new_upper[n, k], new_lower[n, k] = upper[n, k], lower[n, k]
            continue
        swing = _shortest_arc(chord / length, goal / distance)
        first, second = _turn(swing, first), _turn(swing, second)
        ahead = goal / distance
        side = _bend_side(first, ahead, _turn(swing, pole[n]), straight * (a + b))
        reach = _soft_reach(distance, a, b, softness)
        along = (a * a + reach * reach - b * b) / (2.0 * reach)
        height = np.sqrt(max(a * a - along * along, 0.0))
        new_first = along * ahead + height * side
        new_second = reach * ahead - new_first
        turned_upper = _times(_shortest_arc(first / a, new_first / a), _times(swing, upper[n]))
        turned_lower = _times(_shortest_arc(second / b, new_second / b), _times(swing, lower[n]))
        for k in range(4):
            new_upper[n, k], new_lower[n, k] = turned_upper[k], turned_lower[k]


@kernel
def _dot(a: FloatArray, b: FloatArray) -> float:
    """Inner product of two vectors of three; NumPy's own takes long to compile."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """Cross product of two vectors of three."""
    c = np.empty(3)
    c[0], c[1], c[2] = a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
    return c


@kernel
def _soft_reach(distance: float, a: float, b: float, softness: float) -> float:
    """The distance that two bones span for a wanted distance: exact in the middle, C1 and bounded at both ends."""
    top = a + b - 0.05 * softness * (a + b)
    knee = top - softness * (a + b)
    if distance > knee:
        room = top - knee
        return knee + room * (1.0 - np.exp(-(distance - knee) / room))
    folded = abs(a - b) + 0.02 * (a + b)
    return max(distance, folded)


@kernel
def _bend_side(first: FloatArray, ahead: FloatArray, pole: FloatArray, margin: float) -> FloatArray:
    """Unit direction, at right angles to `ahead`, in which the middle joint leaves the line from start to end.

    Where it is now, unless the limb is within `margin` of straight (or bent backward): then it eases to the pole.
    """
    now = first - ahead * _dot(first, ahead)
    # the hinge stands square on the first bone and the pole; it holds for a limb folded beyond a right angle too
    wanted = _cross(ahead, _cross(pole, first))
    size = np.sqrt(_dot(wanted, wanted))
    if size > 1e-6 * np.sqrt(_dot(first, first)):
        wanted = wanted / size
        along = _dot(now, wanted)
        if along < margin:
            side = now - along * wanted
            t = max((along + margin) / (2.0 * margin), 0.0)
            # cubic that leaves 0.2 margin with slope 0 and joins the identity at the margin with slope 1
            eased = margin * (0.2 + t * t * (0.8 * (3.0 - 2.0 * t) + 2.0 * (t - 1.0)))
            # what points sideways is noise unless it is large
            kept = min(max(max(along, np.sqrt(_dot(side, side)) - margin) / margin, 0.0), 1.0)
            now = eased * wanted + kept * kept * (3.0 - 2.0 * kept) * side
    length = np.sqrt(_dot(now, now))
    if length > 1e-9:
        return now / length
    helper = np.zeros(3)
    helper[0 if abs(ahead[0]) < 0.7 else 1] = 1.0
    any_side = helper - ahead * _dot(helper, ahead)
    return any_side / np.sqrt(_dot(any_side, any_side))


@kernel
def _shortest_arc(a: FloatArray, b: FloatArray) -> FloatArray:
    """Quaternion of the shortest rotation from unit vector `a` to unit vector `b`."""
    q = np.empty(4)
    q[0] = 1.0 + _dot(a, b)
    if q[0] < 1e-9:
        helper = np.zeros(3)
        helper[0 if abs(a[0]) < abs(a[1]) else 1] = 1.0
        q[0], axis = 0.0, _cross(a, helper)
    else:
        axis = _cross(a, b)
    q[1], q[2], q[3] = axis[0], axis[1], axis[2]  # one by one: Numba compiles a slice's assignment for seconds
    return q / np.sqrt(q[0] * q[0] + _dot(q[1:], q[1:]))


@kernel
def _turn(q: FloatArray, v: FloatArray) -> FloatArray:
    t = 2.0 * _cross(q[1:], v)
    return v + q[0] * t + _cross(q[1:], t)


@kernel
def _times(a: FloatArray, b: FloatArray) -> FloatArray:
    q = np.empty(4)
    q[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]
    q[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2]
    q[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1]
    q[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]
    return q
