"""Compiled loops that narrow a motion round by round until its whole body touches nothing.

Only poses that a round changed are posed and tested again: most frames of a motion are far from anything.
"""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.deform._depth_kernels import Solids, frame_depth, own_depth
from gaitway.deform._narrow_kernels import TURN, NarrowBody, lay_capsules, narrow_pose

CORE, LEFT, RIGHT, SHOULDERS = 0, 1, 2, 3
"""Groups of capsules."""
REAR = -0.2
"""Share of the turn of the trunk from which on a shoulder is so far back that its arm is held behind the body."""
OWN = 0.008
"""Depth of arms in trunk and thighs that does not count [m]."""
_ROUNDS, _STALE = 16, 5
"""Most rounds, and rounds without progress after which no more are tried."""
_PER_METRE, _LEAST = 8.0, 0.2
"""Weight that is added for a depth [1/m], and at least."""
_OUT, _FARTHEST = 1.5, 0.3
"""Way out for a metre of depth in the own body, and the farthest [m]."""
TOLERANCE, HELD, KEPT, APART, ENDS = 0, 1, 2, 3, 4
"""Columns of the settings: depth that does not count [m]; and in frames: how long a weight is held before and after,
within which time the trunk keeps the side to which it turned, within which an arm stays ahead or behind, and how long
the body takes at both ends to come back to its own pose."""
DEPTH, FRAME, BLOCKER, INSIDE, USED = 0, 1, 2, 3, 4
"""Columns of what `tuck_motion` tells: depth in anything [m], its frame or -1, the number of the solid or -1, depth in
the own body [m], and rounds."""


@kernel(inner=True, shared=True, borrows=True)
def blur(values: FloatArray, taps: FloatArray, memory: FloatArray) -> None:
    """Smooth values (F,) by a filter whose taps (R,) are those of one half, as if the first and last values went on."""
    n = len(values)
    for i in range(n):
        memory[i] = values[i]
    for i in range(n):
        total = taps[0] * memory[i]
        for k in range(1, len(taps)):
            total += taps[k] * (memory[max(i - k, 0)] + memory[min(i + k, n - 1)])
        values[i] = total


@kernel(inner=True, shared=True, borrows=True)
def _spread(raw: FloatArray, settings: FloatArray, taps: FloatArray, out: FloatArray, memory: FloatArray) -> None:
    """Write weights that are held for a while and spread over time; nowhere much less than those given; (F,)."""
    n, hold = len(raw), int(settings[HELD])
    most = 0.0
    for i in range(n):
        most = max(most, raw[i])
        out[i] = 0.0
    if most == 0.0:
        return
    for i in range(n):
        for k in range(max(i - hold, 0), min(i + hold, n - 1) + 1):
            out[i] = max(out[i], raw[k])
    blur(out, taps, memory)
    for i in range(n):
        out[i] = min(max(out[i], 0.0), 1.0)


@kernel(inner=True, shared=True, borrows=True)
def _smooth_sign(sign: FloatArray, taps: FloatArray, out: FloatArray, memory: FloatArray) -> bool:
    """Write the side in every frame, taken over from the nearest frame that has one (F,); False if none has."""
    n, known, last = len(sign), False, -1
    for i in range(n):
        if sign[i] != 0.0:
            for k in range(n if not known else 0):
                out[k] = sign[i]
            if known:
                for k in range((last + i) // 2 + 1, n):  # of two that are as near, the one before
                    out[k] = sign[i]
            known, last = True, i
    if not known:
        for i in range(n):
            out[i] = 0.0
        return False
    blur(out, taps, memory)
    return True


@kernel(inner=True, shared=True, borrows=True)
def _choose_sides(
    wide: FloatArray, lead: FloatArray, settings: FloatArray, sign: FloatArray
) -> None:  # fmt: skip
    """Choose to which side the trunk turns where it is wide: the shoulder that is ahead anyway goes on ahead; (F,)."""
    n, reach = len(wide), int(settings[KEPT])
    for i in range(n):
        if wide[i] > 0.0 and sign[i] == 0.0:
            found = 0.0
            for k in range(reach + 1):  # of two that are as near, the one before
                if i - k >= 0 and sign[i - k] != 0.0:
                    found = sign[i - k]
                    break
                if i + k < n and sign[i + k] != 0.0:
                    found = sign[i + k]
                    break
            if found == 0.0:
                found = 1.0 if lead[i] >= 0.0 else -1.0
            sign[i] = found


@kernel(inner=True, shared=True, borrows=True)
def _ahead_or_behind(
    raw: FloatArray, trunk: FloatArray, arm: int, settings: FloatArray, taps: FloatArray, out: FloatArray,
    marks: FloatArray, memory: FloatArray,
) -> None:  # fmt: skip
    """Write whether an arm is tucked ahead of the body (1) or behind it (-1), going over between; (F,).

    Hits within a short time belong together: an arm is held behind if its shoulder is farther back than ahead in them.
    """
    n, i = len(raw), 0
    for k in range(n):
        marks[k] = 0.0
    while i < n:
        if raw[i] <= 0.0:
            i += 1
            continue
        total, count, last, k = 0.0, 0, i, i
        while k < n and k - last <= settings[APART]:
            if raw[k] > 0.0:
                total += (trunk[k] if arm == 1 else -trunk[k]) / TURN
                count += 1
                last = k
            k += 1
        for k in range(i, last + 1):
            if raw[k] > 0.0:
                marks[k] = -1.0 if total / count < REAR else 1.0
        i = last + 1
    if not _smooth_sign(marks, taps, out, memory):
        for k in range(n):
            out[k] = 1.0


@kernel(inner=True, borrows=True)
def _eased(t: float) -> float:
    t = min(max(t, 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


@kernel
def tuck_motion(
    body: NarrowBody, roots: FloatArray, given: FloatArray, solids: Solids, near: IntArray, moves: FloatArray,
    settings: FloatArray, taps: FloatArray, local: FloatArray, arms: FloatArray, trunk: FloatArray, told: FloatArray,
) -> None:  # fmt: skip
    """Narrow a motion until nothing is touched, as far as that goes.

    Args:
        body: the body.
        roots: positions of the root [m]; (F, 3).
        given: local rotations; (F, J, 4).
        solids: the solids.
        near: numbers of those that may be met.
        moves: where movers are in every frame; (F, M, 4).
        settings: see the columns above; (5,).
        taps: one half of the filter that spreads weights over time, from its middle on; (R,).
        local: the best rotations that were found; (F, J, 4).
        arms: weight of each arm in them; (F, 2).
        trunk: turn of the trunk in them [rad]; (F,).
        told: see the columns above; (5,).
    """
    n, joints, capsules = given.shape[0], given.shape[1], len(body.radii)
    now, places = np.empty((n, joints, 4)), np.empty((joints, 3))
    world, turns = np.empty((joints, 4)), np.zeros((joints, 4))
    axes = np.empty((capsules, 2, 3))
    depths, which, own, bare = np.zeros((n, 4)), np.zeros((n, 4), np.int64), np.zeros((n, 2)), np.zeros((n, 2))
    lead, sign, turn, ahead = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros((2, n))
    raw, weights, bend = np.zeros((2, n)), np.zeros((n, 2)), np.zeros(n)
    side, out = np.ones((n, 2)), np.zeros((n, 2))
    stale_pose = np.ones(n, np.bool_)
    wide, one, marks, memory = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    least, stale = 1e30, 0
    for rounds in range(_ROUNDS):
        # legs were clear in the first round, and stay as they are
        groups = body.groups if rounds == 0 else body.moved
        for i in range(n):
            if stale_pose[i]:
                narrow_pose(
                    body, roots[i], given[i], weights[i], bend[i], side[i], out[i], now[i], places, world, turns
                )
                lay_capsules(body, places, world, axes)
                frame_depth(axes, body.radii, solids, near, moves[i], groups, settings[TOLERANCE], depths[i], which[i])
                own_depth(axes, body.radii, body.sides, body.trunk, own[i])
                if len(body.arms) > 0:
                    left, right = body.arms[0, 0], body.arms[1, 0]
                    dx, dy = places[right, 0] - places[left, 0], places[right, 1] - places[left, 1]
                    # ahead of the body is where its root faces, as in `narrow_pose`
                    w, x, y, z = given[i, 0, 0], given[i, 0, 1], given[i, 0, 2], given[i, 0, 3]
                    f = body.forward
                    tx, ty, tz = 2.0 * (y * f[2] - z * f[1]), 2.0 * (z * f[0] - x * f[2]), 2.0 * (x * f[1] - y * f[0])
                    fx, fy = f[0] + w * tx + y * tz - z * ty, f[1] + w * ty + z * tx - x * tz
                    lead[i] = (dx * fx + dy * fy) / max(np.sqrt(fx * fx + fy * fy), 1e-12)
                if rounds == 0:
                    bare[i, 0], bare[i, 1] = own[i, 0], own[i, 1]
        depth, inside, core, worst, deepest = 0.0, 0.0, 0.0, -1, 0.0
        for i in range(n):
            for k in range(2):
                if own[i, k] <= max(OWN, bare[i, k] + 1e-6):
                    own[i, k] = 0.0
                inside = max(inside, own[i, k])
            for g in range(4):
                depth = max(depth, depths[i, g])
            core = max(core, depths[i, CORE])
        blocker = -1
        if depth > 0.0:  # arms can be narrowed, the core cannot
            for i in range(n):
                for g in range(1 if core > 0.0 else 4):
                    if depths[i, g] > deepest:
                        deepest, worst, blocker = depths[i, g], i, which[i, g]
        # what lies in others counts first, and then what lies in the own body
        score = depth + _FARTHEST if depth > 0.0 else inside
        stale = 0 if score < 0.99 * least else stale + 1
        if score < least:
            least = score
            local[:], arms[:], trunk[:] = now, weights, bend
            told[DEPTH], told[FRAME], told[BLOCKER], told[INSIDE] = depth, worst, blocker, inside
        told[USED] = rounds + 1
        if score == 0.0 or stale > _STALE or len(body.arms) == 0 or core > 0.0:
            return
        for i in range(n):
            wide[i] = depths[i, SHOULDERS]
            for k in range(2):
                # arms hang into the own body where the trunk is turned; tucked ones do not
                back = (bend[i] if k == 1 else -bend[i]) / TURN < 0.5 * REAR
                hit = max(depths[i, LEFT + k], own[i, k] if back and weights[i, k] < 0.9 else 0.0)
                if hit > 0.0:
                    raw[k, i] = min(max(raw[k, i], weights[i, k]) + max(_PER_METRE * hit, _LEAST), 1.0)
                if weights[i, k] >= 0.9:
                    wide[i] = max(wide[i], depths[i, LEFT + k])
                if own[i, k] > 0.0:
                    ahead[k, i] = min(ahead[k, i] + _OUT * own[i, k], _FARTHEST)
            if wide[i] > 0.0:
                turn[i] = min(max(turn[i], abs(bend[i]) / TURN) + max(_PER_METRE * wide[i], _LEAST), 1.0)
        _choose_sides(wide, lead, settings, sign)
        for i in range(n):
            stale_pose[i] = False
        _spread(turn, settings, taps, one, memory)
        _smooth_sign(sign, taps, wide, memory)
        for i in range(n):
            value = _eased(min(i, n - 1 - i) / settings[ENDS]) * TURN * one[i] * wide[i]
            stale_pose[i] = stale_pose[i] or value != bend[i]
            bend[i] = value
        for k in range(2):
            _ahead_or_behind(raw[k], bend, k, settings, taps, wide, marks, memory)
            _spread(raw[k], settings, taps, one, memory)
            for i in range(n):
                # an arm that changes from ahead to behind does so in its own pose, for the body lies between
                value = _eased(min(i, n - 1 - i) / settings[ENDS]) * one[i] * _eased(min(abs(wide[i]), 1.0))
                stale_pose[i] = stale_pose[i] or value != weights[i, k] or (wide[i] < 0.0) != (side[i, k] < 0.0)
                weights[i, k], side[i, k] = value, wide[i]
            _spread(ahead[k], settings, taps, one, memory)
            for i in range(n):
                stale_pose[i] = stale_pose[i] or (weights[i, k] > 0.0 and one[i] != out[i, k])
                out[i, k] = one[i]
