"""Compiled loops of `whole_body_ik`: plain arrays in, plain arrays out.

Rows are copied by loops: an assignment of whole rows makes Numba compile NumPy's broadcasting, which takes seconds.
"""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.jit import kernel


@kernel
def solve_frames(
    parents: IntArray,
    offsets: FloatArray,
    above: BoolArray,
    root: FloatArray,
    local: FloatArray,
    carriers: IntArray,
    points: FloatArray,
    places: FloatArray,
    weights: FloatArray,
    floor_weight: float,
    heights: FloatArray,
    stiff_joints: FloatArray,
    stiff_root: FloatArray,
    iterations: int,
    settled: float,
    in_turn: bool,
    root_out: FloatArray,
    local_out: FloatArray,
) -> None:
    """Solve the poses of F frames by Gauss-Newton steps; write them into the last two arguments.

    The first H of P points have targets `places` (F, H, 3) held by `weights` (F, H) [1/m^2]; the others only must not
    sink below their `heights` (P - H,) [m]. A frame ends after `iterations` steps, or when a step changes nothing by
    `settled` [m, rad].
    """
    frames, joints = local.shape[0], local.shape[1]
    place, turn = np.empty(3), np.empty((joints, 4))
    positions, world, axes = np.empty((joints, 3)), np.empty((joints, 4)), np.empty((joints, 3, 3))
    rows = 3 * len(carriers)
    slopes, moved = np.empty((rows, 3 + 3 * joints)), np.empty((3 + 3 * joints, rows))
    missing, matrix = np.empty(rows), np.empty((rows, rows))
    owners, pressed = np.empty(rows, dtype=np.int64), np.empty(len(carriers), dtype=np.bool_)
    back = np.empty(3 + 3 * joints)
    for f in range(frames):
        source = f - 1 if in_turn and f > 0 else f
        for i in range(3):
            place[i] = root_out[source, i] if source < f else root[f, i]
        for j in range(joints):
            for i in range(4):
                turn[j, i] = local_out[source, j, i] if source < f else local[f, j, i]
        for k in range(len(pressed)):
            pressed[k] = False
        for _ in range((iterations + 1) // 2 if source < f else iterations):
            _forward(parents, offsets, place, turn, positions, world, axes)
            _set_back(axes, turn, local[f], place, root[f], back)
            used = _set_rows(
                axes,
                positions,
                above,
                carriers,
                points,
                places[f],
                weights[f],
                floor_weight,
                heights,
                pressed,
                back,
                slopes,
                missing,
                owners,
            )
            _set_moved(axes, slopes, used, stiff_joints, stiff_root[f], moved)
            _set_matrix(slopes, moved, used, matrix)
            _solve_symmetric(matrix, missing, used)
            # a point that the floor has lifted would sink again without it: it stays until it is drawn up
            for k in range(len(pressed)):
                pressed[k] = False
            for r in range(used):
                if owners[r] >= places.shape[1]:
                    pressed[owners[r]] = missing[r] < 0.0
            if _apply(axes, back, moved, missing, used, place, turn) < settled:
                break
        for i in range(3):
            root_out[f, i] = place[i]
        for j in range(joints):
            for i in range(4):
                local_out[f, j, i] = turn[j, i]


@kernel(inner=True)
def _forward(
    parents: IntArray,
    offsets: FloatArray,
    place: FloatArray,
    turn: FloatArray,
    positions: FloatArray,
    world: FloatArray,
    axes: FloatArray,
) -> None:
    """Write world positions (J, 3), rotations (J, 4) and their matrices (J, 3, 3) of one pose."""
    for j in range(len(parents)):
        p = parents[j]
        w, x, y, z = turn[j, 0], turn[j, 1], turn[j, 2], turn[j, 3]
        if p < 0:
            world[j, 0], world[j, 1], world[j, 2], world[j, 3] = w, x, y, z
            for i in range(3):
                positions[j, i] = place[i]
        else:
            a, b, c, d = world[p, 0], world[p, 1], world[p, 2], world[p, 3]
            world[j, 0] = a * w - b * x - c * y - d * z
            world[j, 1] = a * x + b * w + c * z - d * y
            world[j, 2] = a * y - b * z + c * w + d * x
            world[j, 3] = a * z + b * y - c * x + d * w
            for i in range(3):
                positions[j, i] = positions[p, i]
                for k in range(3):
                    positions[j, i] += axes[p, i, k] * offsets[j, k]
        a, b, c, d = world[j, 0], world[j, 1], world[j, 2], world[j, 3]
        axes[j, 0, 0], axes[j, 0, 1], axes[j, 0, 2] = 1 - 2 * (c * c + d * d), 2 * (b * c - a * d), 2 * (b * d + a * c)
        axes[j, 1, 0], axes[j, 1, 1], axes[j, 1, 2] = 2 * (b * c + a * d), 1 - 2 * (b * b + d * d), 2 * (c * d - a * b)
        axes[j, 2, 0], axes[j, 2, 1], axes[j, 2, 2] = 2 * (b * d - a * c), 2 * (c * d + a * b), 1 - 2 * (b * b + c * c)


@kernel(inner=True)
def _set_back(
    axes: FloatArray, turn: FloatArray, given: FloatArray, place: FloatArray, given_place: FloatArray, back: FloatArray
) -> None:
    """Write the distance of the pose from the given one: shift of the root, turn of each joint in world axes."""
    for i in range(3):
        back[i] = place[i] - given_place[i]
    for j in range(len(turn)):
        a, b, c, d = given[j, 0], -given[j, 1], -given[j, 2], -given[j, 3]
        w, x, y, z = turn[j, 0], turn[j, 1], turn[j, 2], turn[j, 3]
        qw = a * w - b * x - c * y - d * z
        qx = a * x + b * w + c * z - d * y
        qy = a * y - b * z + c * w + d * x
        qz = a * z + b * y - c * x + d * w
        if qw < 0.0:
            qw, qx, qy, qz = -qw, -qx, -qy, -qz
        sine = np.sqrt(qx * qx + qy * qy + qz * qz)
        scale = 2.0 * np.arctan2(sine, qw) / sine if sine > 1e-7 else 2.0
        for i in range(3):
            back[3 + 3 * j + i] = scale * (axes[j, i, 0] * qx + axes[j, i, 1] * qy + axes[j, i, 2] * qz)


@kernel(inner=True)
def _set_rows(
    axes: FloatArray,
    positions: FloatArray,
    above: BoolArray,
    carriers: IntArray,
    points: FloatArray,
    places: FloatArray,
    weights: FloatArray,
    floor_weight: float,
    heights: FloatArray,
    pressed: BoolArray,
    back: FloatArray,
    slopes: FloatArray,
    missing: FloatArray,
    owners: IntArray,
) -> int:
    """Write the weighted slopes of the held coordinates, what they lack after going `back`, and the point of each.

    A point that is not held has a row while it is under its height over the floor or `pressed` on it.

    Returns:
        How many rows there are.
    """
    used = 0
    here = np.empty(3)
    for p in range(len(carriers)):
        joint = carriers[p]
        for i in range(3):
            here[i] = positions[joint, i]
            for k in range(3):
                here[i] += axes[joint, i, k] * points[p, k]
        held = p < len(places)
        over = here[2] if held else here[2] - heights[p - len(places)]
        weight = weights[p] if held else (floor_weight if over < 0.0 or pressed[p] else 0.0)
        if weight <= 0.0:
            continue
        firm = np.sqrt(weight)
        for axis in range(3):
            if not held and axis < 2:
                continue
            row = slopes[used]
            for k in range(len(row)):
                row[k] = 0.0
            row[axis] = firm
            # a small world turn about axis n moves the point by n x arm
            first, second = (axis + 1) % 3, (axis + 2) % 3
            for j in range(len(positions)):
                if above[joint, j]:
                    row[3 + 3 * j + first] = firm * (here[second] - positions[j, second])
                    row[3 + 3 * j + second] = -firm * (here[first] - positions[j, first])
            error = here[axis] - places[p, axis] if held else over
            total = firm * error
            for k in range(len(row)):
                total -= row[k] * back[k]
            missing[used], owners[used] = total, p
            used += 1
    return used


@kernel(inner=True)
def _set_moved(
    axes: FloatArray, slopes: FloatArray, used: int, stiff: FloatArray, stiff_root: FloatArray, moved: FloatArray
) -> None:
    """Write the slopes over the stiffness, transposed: how the pose gives way to a pull at each held coordinate."""
    for r in range(used):
        for i in range(3):
            moved[i, r] = slopes[r, i] / stiff_root[i]
        for j in range(len(axes)):
            at = 3 + 3 * j
            x, y, z = slopes[r, at], slopes[r, at + 1], slopes[r, at + 2]
            moved[at, r] = moved[at + 1, r] = moved[at + 2, r] = 0.0
            if x == 0.0 and y == 0.0 and z == 0.0:
                continue
            for k in range(3):
                own = (axes[j, 0, k] * x + axes[j, 1, k] * y + axes[j, 2, k] * z) / stiff[j, k]
                for i in range(3):
                    moved[at + i, r] += axes[j, i, k] * own


@kernel(inner=True)
def _set_matrix(slopes: FloatArray, moved: FloatArray, used: int, matrix: FloatArray) -> None:
    """Write the lower triangle of 1 + slopes @ moved. A point depends on few joints, so most slopes are zero."""
    for a in range(used):
        for b in range(a + 1):
            matrix[a, b] = 1.0 if a == b else 0.0
        for k in range(slopes.shape[1]):
            slope = slopes[a, k]
            if slope != 0.0:
                for b in range(a + 1):
                    matrix[a, b] += slope * moved[k, b]


@kernel(inner=True)
def _solve_symmetric(matrix: FloatArray, right: FloatArray, count: int) -> None:
    """Solve by Cholesky's method in place; only the lower triangle of the first `count` rows is read."""
    for a in range(count):
        for b in range(a + 1):
            total = matrix[a, b]
            for k in range(b):
                total -= matrix[a, k] * matrix[b, k]
            matrix[a, b] = np.sqrt(max(total, 1e-12)) if a == b else total / matrix[b, b]
    for a in range(count):
        for k in range(a):
            right[a] -= matrix[a, k] * right[k]
        right[a] /= matrix[a, a]
    for a in range(count - 1, -1, -1):
        for k in range(a + 1, count):
            right[a] -= matrix[k, a] * right[k]
        right[a] /= matrix[a, a]


@kernel(inner=True)
def _apply(
    axes: FloatArray,
    back: FloatArray,
    moved: FloatArray,
    pull: FloatArray,
    used: int,
    place: FloatArray,
    turn: FloatArray,
) -> float:
    """Change the pose by the step, no joint by more than half a radian, beyond which the linear model does not hold.

    Returns:
        The largest change [m, rad].
    """
    change = np.empty(len(back))
    largest = 0.0
    for k in range(len(change)):
        total = -back[k]
        for r in range(used):
            total -= moved[k, r] * pull[r]
        change[k] = total
        largest = max(largest, abs(total))
    for i in range(3):
        place[i] += change[i]
    for j in range(len(turn)):
        at = 3 + 3 * j
        angle = np.sqrt(change[at] ** 2 + change[at + 1] ** 2 + change[at + 2] ** 2)
        limit = min(1.0, 0.5 / max(angle, 1e-9))
        angle *= limit
        half = np.sin(0.5 * angle) / angle if angle > 1e-6 else 0.5 - angle**2 / 48.0
        x = (
            half
            * limit
            * (axes[j, 0, 0] * change[at] + axes[j, 1, 0] * change[at + 1] + axes[j, 2, 0] * change[at + 2])
        )
        y = (
            half
            * limit
            * (axes[j, 0, 1] * change[at] + axes[j, 1, 1] * change[at + 1] + axes[j, 2, 1] * change[at + 2])
        )
        z = (
            half
            * limit
            * (axes[j, 0, 2] * change[at] + axes[j, 1, 2] * change[at + 1] + axes[j, 2, 2] * change[at + 2])
        )
        w = np.cos(0.5 * angle)
        a, b, c, d = turn[j, 0], turn[j, 1], turn[j, 2], turn[j, 3]
        turn[j, 0] = a * w - b * x - c * y - d * z
        turn[j, 1] = a * x + b * w + c * z - d * y
        turn[j, 2] = a * y - b * z + c * w + d * x
        turn[j, 3] = a * z + b * y - c * x + d * w
    return largest
