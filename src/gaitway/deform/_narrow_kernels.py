"""Compiled loops that narrow one pose: the trunk turns, arms are tucked, and joints are kept within their limits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel

HAND = (0.16, -0.06, -0.42)
"""Place of a tucked wrist, as seen from its shoulder along the heading: ahead, to its own side, up [m]."""
LEADING = (0.12, -0.02, -0.46)
"""The same of an arm whose shoulder is ahead, where the trunk is turned as far as it may be."""
TRAILING = (-0.26, -0.02, -0.42)
"""The same of an arm that is held behind the body."""
ELBOW = (-1.0, -0.2, -0.4)
"""Direction in which a tucked elbow points: ahead, to its own side, up."""
TURN = 0.7330382858376184
"""Greatest turn of the trunk [rad]: 42 degrees."""
MIDDLE = 0.03
"""How far ahead of the hips a wrist counts as ahead altogether [m]."""
_CHANGED, _SMALL = 1e-9, 1e-12

Turn = tuple[float, float, float, float]
Point = tuple[float, float, float]


class NarrowBody(NamedTuple):
    """A skeleton whose arms can be tucked, as plain arrays."""

    parents: IntArray
    """(J,)."""
    offsets: FloatArray
    """(J, 3)."""
    forward: FloatArray
    """Direction ahead in the frame of the root; (3,)."""
    spine: IntArray
    """Joints that turn the trunk, the lowest first; (K,)."""
    neck: int
    hips: int
    arms: IntArray
    """Shoulder, elbow and wrist of the left and of the right arm; (2, 3), or (0, 3) of a body without arms."""
    size: float
    """Factor on lengths."""
    moving: IntArray
    """Joints that narrowing may turn, and all above them, parents first; (M,)."""
    upper: IntArray
    """Joints that narrowing may turn, and all below them, parents first; (U,)."""
    rest: FloatArray
    """World rotations of the T-pose; (J, 4)."""
    limit: IntArray
    """Row of each joint in the limits, or -1; (J,)."""
    bases: IntArray
    """Joint that each limited joint is measured against; (L,)."""
    axes: FloatArray
    """Swing, side and twist axis of each in the T-pose; (L, 3, 3)."""
    low: FloatArray
    """Lowest angles [rad]; (L, 3)."""
    high: FloatArray
    """Highest angles [rad]; (L, 3)."""
    joints: IntArray
    """The joint that carries each capsule; (C,)."""
    starts: FloatArray
    """One end of each capsule in the frame of its joint [m]; (C, 3)."""
    ends: FloatArray
    """The other end [m]; (C, 3)."""
    radii: FloatArray
    """(C,) [m]."""
    groups: IntArray
    """Group of each capsule; (C,)."""
    moved: IntArray
    """The same, and -1 for capsules that narrowing does not move; (C,)."""
    sides: IntArray
    """Number of the arm whose forearm or hand a capsule is, or -1; (C,)."""
    trunk: IntArray
    """1 for capsules of trunk and thighs; (C,)."""


@kernel(inner=True, borrows=True)
def _times(a: Turn, b: Turn) -> Turn:
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@kernel(inner=True, borrows=True)
def _back(a: Turn) -> Turn:
    return a[0], -a[1], -a[2], -a[3]


@kernel(inner=True, borrows=True)
def _unit(a: Turn) -> Turn:
    size = np.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3])
    if size < _SMALL:
        return 1.0, 0.0, 0.0, 0.0
    return a[0] / size, a[1] / size, a[2] / size, a[3] / size


@kernel(inner=True, borrows=True)
def _cross(a: Point, b: Point) -> Point:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel(inner=True, borrows=True)
def _dot(a: Point, b: Point) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel(inner=True, borrows=True)
def _sum(a: Point, s: float, b: Point) -> Point:
    """Return a + s b."""
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]


@kernel(inner=True, borrows=True)
def _rotated(q: Turn, v: Point) -> Point:
    u = (q[1], q[2], q[3])
    t = _cross(u, v)
    t = (2.0 * t[0], 2.0 * t[1], 2.0 * t[2])
    c = _cross(u, t)
    return v[0] + q[0] * t[0] + c[0], v[1] + q[0] * t[1] + c[1], v[2] + q[0] * t[2] + c[2]


@kernel(inner=True, borrows=True)
def _between(a: Point, b: Point) -> Turn:
    """Return the shortest rotation from one direction to another."""
    lengths = np.sqrt(_dot(a, a)) * np.sqrt(_dot(b, b))
    w = lengths + _dot(a, b)
    if lengths > _SMALL and w < 1e-9 * lengths:  # half a turn, about any axis that is square to both
        c = _cross(a, (1.0, 0.0, 0.0) if abs(a[0]) < abs(a[1]) else (0.0, 1.0, 0.0))
        return _unit((0.0, c[0], c[1], c[2]))
    c = _cross(a, b)
    return _unit((w, c[0], c[1], c[2]))


@kernel(inner=True, borrows=True)
def _slerp(a: Turn, b: Turn, t: float) -> Turn:
    a, b = _unit(a), _unit(b)
    cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    if cosine < 0.0:
        b = (-b[0], -b[1], -b[2], -b[3])
    cosine = min(abs(cosine), 1.0)
    x, y = b[0] - cosine * a[0], b[1] - cosine * a[1]
    z, w = b[2] - cosine * a[2], b[3] - cosine * a[3]
    angle = np.arctan2(np.sqrt(x * x + y * y + z * z + w * w), cosine)
    sine = np.sin(angle)
    if sine < 1e-6:
        p, q = 1.0 - t, t
    else:
        p, q = np.sin((1.0 - t) * angle) / sine, np.sin(t * angle) / sine
    return _unit((p * a[0] + q * b[0], p * a[1] + q * b[1], p * a[2] + q * b[2], p * a[3] + q * b[3]))


@kernel(inner=True, borrows=True)
def _turn_at(rows: FloatArray, j: int) -> Turn:
    return rows[j, 0], rows[j, 1], rows[j, 2], rows[j, 3]


@kernel(inner=True, borrows=True)
def _point_at(rows: FloatArray, j: int) -> Point:
    return rows[j, 0], rows[j, 1], rows[j, 2]


@kernel(inner=True, borrows=True)
def _set(rows: FloatArray, j: int, q: Turn) -> None:
    rows[j, 0], rows[j, 1], rows[j, 2], rows[j, 3] = q


@kernel(inner=True, shared=True, borrows=True)
def _pose_joint(body: NarrowBody, local: FloatArray, j: int, places: FloatArray, world: FloatArray) -> None:
    p = body.parents[j]
    above = _turn_at(world, p)
    _set(world, j, _times(above, _turn_at(local, j)))
    o = _rotated(above, _point_at(body.offsets, j))
    for k in range(3):
        places[j, k] = places[p, k] + o[k]


@kernel(inner=True, shared=True, borrows=True)
def _pose_all(body: NarrowBody, root: FloatArray, local: FloatArray, places: FloatArray, world: FloatArray) -> None:
    """Write positions (J, 3) and world rotations (J, 4) of a pose (J, 4) whose root is at a place (3,)."""
    for j in range(len(local)):
        if body.parents[j] < 0:
            _set(world, j, _turn_at(local, j))
            places[j, 0], places[j, 1], places[j, 2] = root[0], root[1], root[2]
        else:
            _pose_joint(body, local, j, places, world)


@kernel(inner=True, shared=True, borrows=True)
def _pose_upper(body: NarrowBody, local: FloatArray, places: FloatArray, world: FloatArray) -> None:
    """Write the same of the joints that narrowing moves."""
    for k in range(len(body.upper)):
        _pose_joint(body, local, body.upper[k], places, world)


@kernel(inner=True, shared=True, borrows=True)
def _turn_trunk(body: NarrowBody, angle: float, world: FloatArray, local: FloatArray) -> None:
    """Turn the chest about the vertical, shared out over the spine; the head stays as it is."""
    before = (1.0, 0.0, 0.0, 0.0)
    count = len(body.spine)
    for k in range(count):
        j = body.spine[k]
        half = 0.5 * angle * (k + 1) / count
        now = (np.cos(half), 0.0, 0.0, np.sin(half))
        above = _times(before, _turn_at(world, body.parents[j]))
        _set(local, j, _unit(_times(_back(above), _times(now, _turn_at(world, j)))))
        before = now
    above = _times(before, _turn_at(world, body.parents[body.neck]))
    _set(local, body.neck, _unit(_times(_back(above), _turn_at(world, body.neck))))


@kernel(inner=True, shared=True, borrows=True)
def _place_arm(
    body: NarrowBody, places: FloatArray, world: FloatArray, local: FloatArray, arm: int, wrist: Point, pole: Point,
    weight: float,
) -> None:  # fmt: skip
    """Lead an arm toward a pose by a weight, between its own rotations and those of the tucked pose."""
    shoulder, lower_joint = body.arms[arm, 0], body.arms[arm, 1]
    top, middle = _point_at(places, shoulder), _point_at(places, lower_joint)
    end = _point_at(places, body.arms[arm, 2])
    one, two, line = _sum(middle, -1.0, top), _sum(end, -1.0, middle), _sum(wrist, -1.0, top)
    first, second, far = np.sqrt(_dot(one, one)), np.sqrt(_dot(two, two)), np.sqrt(_dot(line, line))
    long = min(max(far, 1.02 * abs(first - second)), 0.98 * (first + second))
    along = (line[0] / far, line[1] / far, line[2] / far)
    aside = _sum(pole, -_dot(pole, along), along)
    size = np.sqrt(_dot(aside, aside))
    near = (long * long + first * first - second * second) / (2.0 * long)
    high = np.sqrt(max(first * first - near * near, 0.0)) / size
    elbow = _sum(_sum(top, near, along), high, aside)
    hand = _sum(top, long, along)
    upper_line, lower_line = _sum(elbow, -1.0, top), _sum(hand, -1.0, elbow)
    spin = _between(one, upper_line)
    # the upper arm rolls until the elbow bends about its own axis, for an elbow is a hinge
    spin = _times(_between(_cross(upper_line, _rotated(spin, two)), _cross(upper_line, lower_line)), spin)
    upper = _times(spin, _turn_at(world, shoulder))
    flex = _between(_rotated(spin, two), lower_line)
    lower = _times(flex, _times(spin, _turn_at(world, lower_joint)))
    above = _turn_at(world, body.parents[shoulder])
    _set(local, shoulder, _slerp(_turn_at(local, shoulder), _times(_back(above), upper), weight))
    carried = _times(spin, _turn_at(world, body.parents[lower_joint]))
    _set(local, lower_joint, _slerp(_turn_at(local, lower_joint), _times(_back(carried), lower), weight))


@kernel(inner=True, shared=True, borrows=True)
def _vector(q: Turn) -> Point:
    """Return the rotation vector of a rotation [rad]."""
    q = _unit(q)
    if q[0] < 0.0:
        q = (-q[0], -q[1], -q[2], -q[3])
    sine = np.sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    scale = 2.0 * np.arctan2(sine, q[0]) / sine if sine > 1e-7 else 2.0
    return scale * q[1], scale * q[2], scale * q[3]


@kernel(inner=True, shared=True, borrows=True)
def _from_vector(v: Point) -> Turn:
    angle = np.sqrt(_dot(v, v))
    scale = np.sin(0.5 * angle) / angle if angle > 1e-6 else 0.5 - angle * angle / 48.0
    return np.cos(0.5 * angle), scale * v[0], scale * v[1], scale * v[2]


@kernel(inner=True, shared=True, borrows=True)
def _limited(body: NarrowBody, row: int, base: Turn, own: Turn) -> Turn:
    """Return the turn of a joint away from the T-pose, brought back within its limits."""
    axes = body.axes[row]
    q = _unit(_times(_back(base), own))
    axis = _point_at(axes, 2)
    along = q[1] * axis[0] + q[2] * axis[1] + q[3] * axis[2]
    twist = _unit((q[0], along * axis[0], along * axis[1], along * axis[2]))
    v, w = _vector(_times(q, _back(twist))), _vector(twist)
    swing, side, about = _dot(v, _point_at(axes, 0)), _dot(v, _point_at(axes, 1)), _dot(w, axis)
    kept = min(max(about, body.low[row, 2]), body.high[row, 2])
    wide = max(-body.low[row, 0] if swing < 0.0 else body.high[row, 0], 1e-9)
    high = max(-body.low[row, 1] if side < 0.0 else body.high[row, 1], 1e-9)
    reach = max(np.sqrt((swing / wide) * (swing / wide) + (side / high) * (side / high)), 1.0)
    moved = max(abs(swing - swing / reach), abs(side - side / reach), abs(about - kept))
    if moved <= 1e-12:
        return own
    swing, side = swing / reach, side / reach
    turn = (
        swing * axes[0, 0] + side * axes[1, 0],
        swing * axes[0, 1] + side * axes[1, 1],
        swing * axes[0, 2] + side * axes[1, 2],
    )
    twist = _from_vector((kept * axis[0], kept * axis[1], kept * axis[2]))
    return _times(base, _times(_from_vector(turn), twist))


@kernel(inner=True, shared=True, borrows=True)
def _keep_limits(
    body: NarrowBody, given: FloatArray, world: FloatArray, local: FloatArray, turns: FloatArray
) -> None:  # fmt: skip
    """Bring joints that were changed back within their limits; those that were not keep what they did."""
    for k in range(len(body.moving)):
        j = body.moving[k]
        p = body.parents[j]
        now = _times(_turn_at(world, j), _back(_turn_at(body.rest, j)))
        if p >= 0:  # what hangs on a joint that was brought back turns with it
            above = _times(_turn_at(world, p), _back(_turn_at(body.rest, p)))
            now = _times(_turn_at(turns, p), _times(_back(above), now))
        row = body.limit[j]
        if row >= 0:
            now = _limited(body, row, _turn_at(turns, body.bases[row]), now)
        _set(turns, j, now)
        changed = 0.0
        for c in range(4):
            changed = max(changed, abs(local[j, c] - given[j, c]))
        if p >= 0 and changed > _CHANGED:
            above = _times(_turn_at(turns, p), _turn_at(body.rest, p))
            _set(local, j, _unit(_times(_back(above), _times(now, _turn_at(body.rest, j)))))


@kernel(inner=True, shared=True, borrows=True)
def narrow_pose(
    body: NarrowBody, root: FloatArray, given: FloatArray, arms: FloatArray, trunk: float, ahead_of: FloatArray,
    out: FloatArray, local: FloatArray, places: FloatArray, world: FloatArray, turns: FloatArray,
) -> None:  # fmt: skip
    """Write a pose with its arms tucked and its trunk turned.

    Args:
        body: the body.
        root: position of its root [m]; (3,).
        given: local rotations before; (J, 4).
        arms: weight of each arm, from 0 (its own pose) to 1 (tucked); (2,).
        trunk: turn of the trunk [rad].
        ahead_of: at least 0 for an arm that is tucked ahead of the body, else it is held behind it; (2,).
        out: how far tucked wrists are led away from the body [m]: one ahead of the hips ahead, the other back; (2,).
        local: local rotations after; (J, 4).
        places: positions of the joints after [m]; (J, 3).
        world: world rotations after; (J, 4).
        turns: memory; (J, 4).
    """
    for j in range(len(given)):
        for c in range(4):
            local[j, c] = given[j, c]
    _pose_all(body, root, local, places, world)
    if trunk == 0.0 and arms[0] == 0.0 and arms[1] == 0.0:
        return
    if trunk != 0.0:
        _turn_trunk(body, trunk, world, local)
        _pose_upper(body, local, places, world)
    faced = _rotated(_turn_at(given, 0), _point_at(body.forward.reshape(1, 3), 0))
    heading = np.arctan2(faced[1], faced[0])
    ahead = (np.cos(heading), np.sin(heading), 0.0)
    for k in range(2):
        if arms[k] != 0.0:
            side = 1.0 if k == 0 else -1.0
            own = (-side * ahead[1], side * ahead[0], 0.0)
            # a trunk that turns to the left has its right shoulder ahead
            share = max((trunk if k == 1 else -trunk) / TURN, 0.0)
            x = (1.0 - share) * HAND[0] + share * LEADING[0]
            y = (1.0 - share) * HAND[1] + share * LEADING[1]
            z = (1.0 - share) * HAND[2] + share * LEADING[2]
            if ahead_of[k] < 0.0:
                x, y, z = TRAILING
            wrist = _sum(_sum(_point_at(places, body.arms[k, 0]), body.size * x, ahead), body.size * y, own)
            wrist = _sum(wrist, body.size * z, (0.0, 0.0, 1.0))
            far = _dot(_sum(wrist, -1.0, _point_at(places, body.hips)), ahead)
            wrist = _sum(wrist, np.tanh(far / MIDDLE) * out[k], ahead)
            pole = _sum(_sum((0.0, 0.0, ELBOW[2]), ELBOW[0], ahead), ELBOW[1], own)
            _place_arm(body, places, world, local, k, wrist, pole, arms[k])
    _pose_upper(body, local, places, world)
    _keep_limits(body, given, world, local, turns)
    _pose_upper(body, local, places, world)


@kernel(inner=True, shared=True, borrows=True)
def lay_capsules(body: NarrowBody, places: FloatArray, world: FloatArray, axes: FloatArray) -> None:
    """Write the axes of the capsules of a posed body; (C, 2, 3)."""
    for c in range(len(body.joints)):
        j = body.joints[c]
        at, turn = _point_at(places, j), _turn_at(world, j)
        a, b = _rotated(turn, _point_at(body.starts, c)), _rotated(turn, _point_at(body.ends, c))
        for k in range(3):
            axes[c, 0, k], axes[c, 1, k] = at[k] + a[k], at[k] + b[k]
