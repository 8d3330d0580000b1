"""Compiled loops that narrow one pose: the trunk turns, arms are tucked, and joints are kept within their limits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.deform._turn_kernels import (
    Point,
    Turn,
    back,
    between,
    cross,
    dot,
    plus,
    point_at,
    rotated,
    set_turn,
    slerp,
    times,
    turn_at,
    unit,
)  # fmt: skip

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
_CHANGED = 1e-9


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


# functions that are called for every joint get the few arrays they need: all those of a body are slow to hand over
@kernel(inner=True, borrows=True)
def _pose_joint(
    parents: IntArray, offsets: FloatArray, local: FloatArray, j: int, places: FloatArray, world: FloatArray
) -> None:
    p = parents[j]
    above = turn_at(world, p)
    set_turn(world, j, times(above, turn_at(local, j)))
    o = rotated(above, point_at(offsets, j))
    for k in range(3):
        places[j, k] = places[p, k] + o[k]


@kernel(inner=True, shared=True, borrows=True)
def _pose_all(body: NarrowBody, root: FloatArray, local: FloatArray, places: FloatArray, world: FloatArray) -> None:
    """Write positions (J, 3) and world rotations (J, 4) of a pose (J, 4) whose root is at a place (3,)."""
    for j in range(len(local)):
        if body.parents[j] < 0:
            set_turn(world, j, turn_at(local, j))
            places[j, 0], places[j, 1], places[j, 2] = root[0], root[1], root[2]
        else:
            _pose_joint(body.parents, body.offsets, local, j, places, world)


@kernel(inner=True, shared=True, borrows=True)
def _pose_upper(body: NarrowBody, local: FloatArray, places: FloatArray, world: FloatArray) -> None:
    """Write the same of the joints that narrowing moves."""
    for k in range(len(body.upper)):
        _pose_joint(body.parents, body.offsets, local, body.upper[k], places, world)


@kernel(inner=True, shared=True, borrows=True)
def _turn_trunk(body: NarrowBody, angle: float, world: FloatArray, local: FloatArray) -> None:
    """Turn the chest about the vertical, shared out over the spine; the head stays as it is."""
    before = (1.0, 0.0, 0.0, 0.0)
    count = len(body.spine)
    for k in range(count):
        j = body.spine[k]
        half = 0.5 * angle * (k + 1) / count
        now = (np.cos(half), 0.0, 0.0, np.sin(half))
        above = times(before, turn_at(world, body.parents[j]))
        set_turn(local, j, unit(times(back(above), times(now, turn_at(world, j)))))
        before = now
    above = times(before, turn_at(world, body.parents[body.neck]))
    set_turn(local, body.neck, unit(times(back(above), turn_at(world, body.neck))))


@kernel(inner=True, shared=True, borrows=True)
def _place_arm(
    body: NarrowBody, places: FloatArray, world: FloatArray, local: FloatArray, arm: int, wrist: Point, pole: Point,
    weight: float,
) -> None:  # fmt: skip
    """Lead an arm toward a pose by a weight, between its own rotations and those of the tucked pose."""
    shoulder, lower_joint = body.arms[arm, 0], body.arms[arm, 1]
    top, middle = point_at(places, shoulder), point_at(places, lower_joint)
    end = point_at(places, body.arms[arm, 2])
    one, two, line = plus(middle, -1.0, top), plus(end, -1.0, middle), plus(wrist, -1.0, top)
    first, second, far = np.sqrt(dot(one, one)), np.sqrt(dot(two, two)), np.sqrt(dot(line, line))
    long = min(max(far, 1.02 * abs(first - second)), 0.98 * (first + second))
    along = (line[0] / far, line[1] / far, line[2] / far)
    aside = plus(pole, -dot(pole, along), along)
    size = np.sqrt(dot(aside, aside))
    near = (long * long + first * first - second * second) / (2.0 * long)
    high = np.sqrt(max(first * first - near * near, 0.0)) / size
    elbow = plus(plus(top, near, along), high, aside)
    hand = plus(top, long, along)
    upper_line, lower_line = plus(elbow, -1.0, top), plus(hand, -1.0, elbow)
    spin = between(one, upper_line)
    # the upper arm rolls until the elbow bends about its own axis, for an elbow is a hinge
    spin = times(between(cross(upper_line, rotated(spin, two)), cross(upper_line, lower_line)), spin)
    upper = times(spin, turn_at(world, shoulder))
    flex = between(rotated(spin, two), lower_line)
    lower = times(flex, times(spin, turn_at(world, lower_joint)))
    above = turn_at(world, body.parents[shoulder])
    set_turn(local, shoulder, slerp(turn_at(local, shoulder), times(back(above), upper), weight))
    carried = times(spin, turn_at(world, body.parents[lower_joint]))
    set_turn(local, lower_joint, slerp(turn_at(local, lower_joint), times(back(carried), lower), weight))


@kernel(inner=True, shared=True, borrows=True)
def _vector(q: Turn) -> Point:
    """Return the rotation vector of a rotation [rad]."""
    q = unit(q)
    if q[0] < 0.0:
        q = (-q[0], -q[1], -q[2], -q[3])
    sine = np.sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    scale = 2.0 * np.arctan2(sine, q[0]) / sine if sine > 1e-7 else 2.0
    return scale * q[1], scale * q[2], scale * q[3]


@kernel(inner=True, shared=True, borrows=True)
def _from_vector(v: Point) -> Turn:
    angle = np.sqrt(dot(v, v))
    scale = np.sin(0.5 * angle) / angle if angle > 1e-6 else 0.5 - angle * angle / 48.0
    return np.cos(0.5 * angle), scale * v[0], scale * v[1], scale * v[2]


@kernel(inner=True, shared=True, borrows=True)
def _limited(axes: FloatArray, low: FloatArray, high: FloatArray, base: Turn, own: Turn) -> Turn:
    """Return the turn of a joint away from the T-pose, brought back within its limits."""
    q = unit(times(back(base), own))
    axis = point_at(axes, 2)
    along = q[1] * axis[0] + q[2] * axis[1] + q[3] * axis[2]
    twist = unit((q[0], along * axis[0], along * axis[1], along * axis[2]))
    bent = times(q, back(twist))
    # a rotation vector is at most pi times as long as that part of its quaternion: most joints are well within
    across = (bent[1], bent[2], bent[3])
    wide, tall = np.pi * dot(across, point_at(axes, 0)), np.pi * dot(across, point_at(axes, 1))
    about = np.pi * (twist[1] * axis[0] + twist[2] * axis[1] + twist[3] * axis[2])
    wide, tall = wide / max(min(-low[0], high[0]), 1e-9), tall / max(min(-low[1], high[1]), 1e-9)
    if wide * wide + tall * tall <= 1.0 and low[2] <= -abs(about) and abs(about) <= high[2]:
        return own
    v, w = _vector(bent), _vector(twist)
    swing, side, about = dot(v, point_at(axes, 0)), dot(v, point_at(axes, 1)), dot(w, axis)
    kept = min(max(about, low[2]), high[2])
    wide = max(-low[0] if swing < 0.0 else high[0], 1e-9)
    tall = max(-low[1] if side < 0.0 else high[1], 1e-9)
    reach = max(np.sqrt((swing / wide) * (swing / wide) + (side / tall) * (side / tall)), 1.0)
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
    return times(base, times(_from_vector(turn), twist))


@kernel(inner=True, shared=True, borrows=True)
def _keep_limits(
    body: NarrowBody, given: FloatArray, world: FloatArray, local: FloatArray, turns: FloatArray
) -> bool:  # fmt: skip
    """Bring joints that were changed back within their limits; those that were not keep what they did.

    Returns:
        Whether some joint was brought back.
    """
    moved = False
    for k in range(len(body.moving)):
        j = body.moving[k]
        p = body.parents[j]
        now = times(turn_at(world, j), back(turn_at(body.rest, j)))
        if moved and p >= 0:  # what hangs on a joint that was brought back turns with it
            above = times(turn_at(world, p), back(turn_at(body.rest, p)))
            now = times(turn_at(turns, p), times(back(above), now))
        row = body.limit[j]
        if row >= 0:
            kept = _limited(body.axes[row], body.low[row], body.high[row], turn_at(turns, body.bases[row]), now)
            moved = moved or kept != now
            now = kept
        set_turn(turns, j, now)
        if moved and p >= 0:
            changed = 0.0
            for c in range(4):
                changed = max(changed, abs(local[j, c] - given[j, c]))
            if changed > _CHANGED:
                above = times(turn_at(turns, p), turn_at(body.rest, p))
                set_turn(local, j, unit(times(back(above), times(now, turn_at(body.rest, j)))))
    return moved


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
    faced = rotated(turn_at(given, 0), point_at(body.forward.reshape(1, 3), 0))
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
            wrist = plus(plus(point_at(places, body.arms[k, 0]), body.size * x, ahead), body.size * y, own)
            wrist = plus(wrist, body.size * z, (0.0, 0.0, 1.0))
            far = dot(plus(wrist, -1.0, point_at(places, body.hips)), ahead)
            wrist = plus(wrist, np.tanh(far / MIDDLE) * out[k], ahead)
            pole = plus(plus((0.0, 0.0, ELBOW[2]), ELBOW[0], ahead), ELBOW[1], own)
            _place_arm(body, places, world, local, k, wrist, pole, arms[k])
    _pose_upper(body, local, places, world)
    if _keep_limits(body, given, world, local, turns):
        _pose_upper(body, local, places, world)


@kernel(inner=True, shared=True, borrows=True)
def lay_capsules(body: NarrowBody, places: FloatArray, world: FloatArray, axes: FloatArray) -> None:
    """Write the axes of the capsules of a posed body; (C, 2, 3)."""
    for c in range(len(body.joints)):
        j = body.joints[c]
        at, turn = point_at(places, j), turn_at(world, j)
        a, b = rotated(turn, point_at(body.starts, c)), rotated(turn, point_at(body.ends, c))
        for k in range(3):
            axes[c, 0, k], axes[c, 1, k] = at[k] + a[k], at[k] + b[k]
