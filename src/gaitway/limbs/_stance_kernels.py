"""Compiled control layer of a standing body: 22 numbers make a whole posture with both feet where they are.

A posture is (Kallmann et al. 2003, section 4): nine numbers of each arm (collarbone raised and brought forward, then
the seven planned angles of `_joint_kernels`), the trunk's flexion, lean and turn, and the drop of the pelvis. The trunk
is turned joint by joint in the frame of the stance (x ahead, y left, z up). The pelvis goes back as it sinks or the
trunk bends, so that the body stays over its feet; legs follow by analytic IK.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.limbs._collision_kernels import Around, GapMemory, gap_memory, least_gap
from gaitway.limbs._joint_kernels import (
    ANGLES,
    END_TWIST,
    PLANNED,
    SIDE,
    limb_frames,
    product,
    solve,
    turn_columns,
    within,
)

RIGHT, LEFT = 0, 1
"""Arms; those of a posture begin at `ARM` times their number. Legs are in the same order."""
ARM, RAISE, AHEAD, ANGLE = 9, 0, 1, 2
"""Numbers of an arm, and the columns of its collarbone and of its first angle."""
FLEXION, LEAN, TURN, DROP, NUMBERS = 18, 19, 20, 21, 22
"""Columns of trunk and pelvis [rad, rad, rad, m], and how many there are."""
PLAIN, TRUNK, COLLAR, LIMB = 0, 1, 2, 4
"""Kinds of joint: one that keeps its turn, of the trunk, a collarbone (and its side), a joint of a limb (and which)."""
MARKS = 12
"""Points by which postures are compared: two of the trunk, then five of each arm."""
_BACK_DROP, _BACK_FLEX, _ASIDE = 0.25, 0.13, 0.08
"""How far the pelvis goes back for each metre that it sinks, for each radian of flexion, and aside for each of lean."""
_SMALL = 1e-9


class Stance(NamedTuple):
    """A body that stands, and what is around it; made by `stance.stand`."""

    order: IntArray
    """Joints that matter: first the trunk, then all that hangs on it but the legs, then the legs; (N,)."""
    legs: int
    """Where in `order` the legs begin."""
    kinds: IntArray
    """(J,)."""
    parents: IntArray
    """(J,)."""
    offsets: FloatArray
    """(J, 3) [m]."""
    local: FloatArray
    """Turns of joints against their parents in the stance; (J, 3, 3)."""
    still: FloatArray
    """World turns of joints in the stance, seen from its frame; (J, 3, 3)."""
    shares: FloatArray
    """Share of flexion, lean and turn that each joint of the trunk takes; (J, 3)."""
    frame: FloatArray
    """Frame of the stance: x ahead, y left, z up; (3, 3)."""
    root: FloatArray
    """Place of the root [m]; (3,)."""
    size: float
    """Length of the body's legs, as a share of a person's."""
    joints: IntArray
    """Joints of right arm, left arm, right leg, left leg; (4, 3)."""
    bases: IntArray
    """The joints that these hang on; (4,)."""
    base_turns: FloatArray
    """Joint-from-segment turns of these; (4, 3, 3)."""
    back_turns: FloatArray
    """Segment-from-joint turns of their three joints; (4, 3, 3, 3)."""
    lengths: FloatArray
    """Of both bones [m]; (4, 2)."""
    limits: FloatArray
    """See `LimbLimits.table`; (4, 5 + 3 W, 4)."""
    extras: FloatArray
    """Sideward bend and end twist that each keeps [rad]; (4, 2)."""
    ankles: FloatArray
    """Places of both ankles [m]; (2, 3)."""
    feet: FloatArray
    """Frames of the last segments of both legs; (2, 3, 3)."""
    poles: FloatArray
    """Directions into which both knees bend; (2, 3)."""
    longest: FloatArray
    """Greatest distance of hip and ankle [m]; (2,)."""
    ranges: FloatArray
    """Low and high ends: collarbone raised, brought forward, flexion, lean, turn, drop; (6, 2)."""
    capsule_joints: IntArray
    """(K,)."""
    capsule_starts: FloatArray
    """(K, 3) [m]."""
    capsule_ends: FloatArray
    """(K, 3) [m]."""
    radii: FloatArray
    """(K,) [m]."""
    capsule_arms: IntArray
    """The arm that moves each, or -1; (K,)."""
    masses: FloatArray
    """Share of each capsule in the body's mass, half way along it; (K,)."""
    support: FloatArray
    """Sides of the support polygon: a place (x, y) is in it where a x + b y <= c for all rows (a, b, c); (E, 3)."""
    mark_joints: IntArray
    """(12,)."""
    mark_offsets: FloatArray
    """(12, 3) [m]."""
    around: Around


class StanceMemory(NamedTuple):
    """Memory of one posture: what `place_body` writes, and what it needs."""

    turns: FloatArray
    """World turns of joints; (J, 3, 3)."""
    places: FloatArray
    """Places of joints [m]; (J, 3)."""
    ends: FloatArray
    """Axes of capsules [m]; (K, 2, 3)."""
    gap: GapMemory
    trunk: FloatArray
    turn: FloatArray
    base: FloatArray
    swing: FloatArray
    q: FloatArray
    frames: FloatArray
    points: FloatArray
    start: FloatArray
    x: FloatArray


@kernel(inner=True)
def stance_memory(stance: Stance) -> StanceMemory:
    """Return memory for postures of a stance."""
    joints, count = stance.parents.shape[0], stance.radii.shape[0]
    return StanceMemory(
        np.empty((joints, 3, 3)), np.empty((joints, 3)), np.empty((count, 2, 3)), gap_memory(count),
        np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty(ANGLES), np.empty((3, 3, 3)),
        np.empty((3, 3)), np.empty(3), np.empty(NUMBERS),
    )  # fmt: skip


@kernel(inner=True, shared=True, borrows=True)
def in_range(stance: Stance, x: FloatArray, memory: StanceMemory) -> bool:
    """Return whether the numbers of a posture (22,) keep the limits of joints."""
    for arm in range(2):
        for column in range(2):
            value = x[ARM * arm + column]
            if not stance.ranges[column, 0] - _SMALL <= value <= stance.ranges[column, 1] + _SMALL:
                return False
        for k in range(PLANNED):
            memory.q[k] = x[ARM * arm + ANGLE + k]
        if not within(stance.limits[arm], memory.q):
            return False
    for column in range(4):
        value = x[FLEXION + column]
        if not stance.ranges[2 + column, 0] - _SMALL <= value <= stance.ranges[2 + column, 1] + _SMALL:
            return False
    return True


@kernel(inner=True, borrows=True)
def _follow(stance: Stance, joint: int, memory: StanceMemory) -> None:
    """Put a joint at the end of its parent's bone."""
    parent = stance.parents[joint]
    for i in range(3):
        at = memory.places[parent, i]
        for k in range(3):
            at += memory.turns[parent, i, k] * stance.offsets[joint, k]
        memory.places[joint, i] = at


@kernel(inner=True, shared=True, borrows=True)
def hang(stance: Stance, limb: int, memory: StanceMemory) -> None:
    """Write the frame that a limb hangs on, and its first joint, into the memory."""
    first = stance.joints[limb, 0]
    _follow(stance, first, memory)
    product(memory.turns[stance.bases[limb]], stance.base_turns[limb], memory.base)
    for i in range(3):
        memory.start[i] = memory.places[first, i]


@kernel(inner=True, shared=True, borrows=True)
def _bend(stance: Stance, limb: int, memory: StanceMemory) -> None:
    """Turn the three joints of a limb as the angles in the memory say."""
    limb_frames(memory.base, memory.start, stance.lengths[limb], memory.q, memory.frames, memory.points, memory.swing)
    for k in range(3):
        product(memory.frames[k], stance.back_turns[limb, k], memory.turns[stance.joints[limb, k]])


@kernel(inner=True, borrows=True)
def knee_swivel(stance: Stance, leg: int, start: FloatArray) -> float:
    """Return the swivel angle with which a knee bends as in the stance [rad]; `solve` says where it begins."""
    nx, ny, nz = (
        stance.ankles[leg, 0] - start[0], stance.ankles[leg, 1] - start[1], stance.ankles[leg, 2] - start[2]
    )  # fmt: skip
    away = max(math.sqrt(nx * nx + ny * ny + nz * nz), _SMALL)
    nx, ny, nz = nx / away, ny / away, nz / away
    level = math.sqrt(max(1.0 - nz * nz, 0.0))
    ux, uy, uz = 1.0, 0.0, 0.0
    if level > 1e-6:
        ux, uy, uz = nz * nx / level, nz * ny / level, -level
    vx, vy, vz = ny * uz - nz * uy, nz * ux - nx * uz, nx * uy - ny * ux
    px, py, pz = stance.poles[leg, 0], stance.poles[leg, 1], stance.poles[leg, 2]
    return math.atan2(px * vx + py * vy + pz * vz, px * ux + py * uy + pz * uz)


@kernel(inner=True, shared=True, borrows=True)
def place_body(stance: Stance, x: FloatArray, memory: StanceMemory) -> bool:
    """Write turns and places of all joints of a posture (22,); return whether legs reach their feet within limits."""
    for i in range(3):
        for k in range(3):
            memory.trunk[i, k] = stance.frame[i, k]
    back = _BACK_DROP * x[DROP] + _BACK_FLEX * stance.size * max(x[FLEXION], 0.0)
    aside, root, bent = _ASIDE * stance.size * x[LEAN], stance.order[0], True
    for n in range(stance.order.shape[0]):
        joint = stance.order[n]
        if n == stance.legs:
            _sink(stance, n, memory)
        kind, parent = stance.kinds[joint], stance.parents[joint]
        if joint == root:
            for i in range(3):
                shift = aside * stance.frame[i, 1] - back * stance.frame[i, 0] - x[DROP] * stance.frame[i, 2]
                memory.places[joint, i] = stance.root[i] + shift
        else:
            _follow(stance, joint, memory)
        if kind == TRUNK:
            turn_columns(memory.trunk, 2, 0, stance.shares[joint, 0] * x[FLEXION])
            turn_columns(memory.trunk, 1, 2, stance.shares[joint, 1] * x[LEAN])
            turn_columns(memory.trunk, 0, 1, stance.shares[joint, 2] * x[TURN])
            product(memory.trunk, stance.still[joint], memory.turns[joint])
        elif kind == PLAIN:
            if parent < 0:
                product(memory.trunk, stance.still[joint], memory.turns[joint])
            else:
                product(memory.turns[parent], stance.local[joint], memory.turns[joint])
        elif kind < LIMB:
            side, sign = kind - COLLAR, 2.0 * (kind - COLLAR) - 1.0  # left is +1
            for i in range(3):
                for k in range(3):
                    memory.turn[i, k] = memory.trunk[i, k]
            turn_columns(memory.turn, 1, 2, sign * x[ARM * side + RAISE])
            turn_columns(memory.turn, 0, 1, -sign * x[ARM * side + AHEAD])
            product(memory.turn, stance.still[joint], memory.turns[joint])
        elif joint == stance.joints[kind - LIMB, 0]:
            limb = kind - LIMB
            hang(stance, limb, memory)
            memory.q[SIDE], memory.q[END_TWIST] = stance.extras[limb, 0], stance.extras[limb, 1]
            if limb < 2:
                for k in range(PLANNED):
                    memory.q[k] = x[ARM * limb + ANGLE + k]
            else:
                swivel = knee_swivel(stance, limb - 2, memory.start)
                if not solve(
                    memory.base, memory.start, stance.lengths[limb], stance.ankles[limb - 2], stance.feet[limb - 2],
                    swivel, memory.q, memory.turn, memory.swing,
                ):  # fmt: skip
                    return False
                bent = bent and within(stance.limits[limb], memory.q)
            _bend(stance, limb, memory)
    return bent


@kernel(inner=True, borrows=True)
def _sink(stance: Stance, count: int, memory: StanceMemory) -> None:
    """Lower the trunk and its arms so far that both legs are long enough."""
    low = 0.0
    for leg in range(2):
        _follow(stance, stance.joints[2 + leg, 0], memory)
        hip, square = stance.joints[2 + leg, 0], 0.0
        for i in range(2):
            square += (memory.places[hip, i] - stance.ankles[leg, i]) ** 2
        top = math.sqrt(max(stance.longest[leg] ** 2 - square, 0.0)) + stance.ankles[leg, 2]
        low = max(low, memory.places[hip, 2] - top)
    for n in range(count):
        memory.places[stance.order[n], 2] -= low


@kernel(inner=True, shared=True, borrows=True)
def balanced(stance: Stance, memory: StanceMemory) -> bool:
    """Write the axes of the capsules of a placed body; return whether its centre of mass is over its feet."""
    mx, my = 0.0, 0.0
    for k in range(stance.radii.shape[0]):
        joint = stance.capsule_joints[k]
        for i in range(3):
            a, b = memory.places[joint, i], memory.places[joint, i]
            for d in range(3):
                a += memory.turns[joint, i, d] * stance.capsule_starts[k, d]
                b += memory.turns[joint, i, d] * stance.capsule_ends[k, d]
            memory.ends[k, 0, i], memory.ends[k, 1, i] = a, b
        mx += 0.5 * stance.masses[k] * (memory.ends[k, 0, 0] + memory.ends[k, 1, 0])
        my += 0.5 * stance.masses[k] * (memory.ends[k, 0, 1] + memory.ends[k, 1, 1])
    for e in range(stance.support.shape[0]):
        if stance.support[e, 0] * mx + stance.support[e, 1] * my > stance.support[e, 2]:
            return False
    return True


@kernel(inner=True, shared=True, borrows=True)
def valid_posture(stance: Stance, x: FloatArray, margin: float, memory: StanceMemory) -> bool:
    """Return whether a posture (22,) keeps limits, balance, and a margin [m] to all around. The body is placed then."""
    if not in_range(stance, x, memory) or not place_body(stance, x, memory) or not balanced(stance, memory):
        return False
    gap = least_gap(memory.ends, stance.radii, stance.around.begin, stance.around, margin, True, memory.gap)
    clear: bool = gap >= margin
    return clear


@kernel(inner=True, borrows=True)
def write_marks(stance: Stance, memory: StanceMemory, out: FloatArray) -> None:
    """Write the marks (12, 3) of a placed body [m]."""
    for p in range(MARKS):
        joint = stance.mark_joints[p]
        for i in range(3):
            at = memory.places[joint, i]
            for d in range(3):
                at += memory.turns[joint, i, d] * stance.mark_offsets[p, d]
            out[p, i] = at


@kernel(inner=True, shared=True, borrows=True)
def write_states(stance: Stance, x: FloatArray, margin: float, memory: StanceMemory, states: FloatArray) -> None:
    """Place a posture (22,), and write how it is (4,): see `place_all`."""
    states[0] = 1.0 if in_range(stance, x, memory) else 0.0
    states[1] = 1.0 if place_body(stance, x, memory) else 0.0
    states[2] = 1.0 if balanced(stance, memory) else 0.0
    gap = least_gap(memory.ends, stance.radii, stance.around.begin, stance.around, margin, True, memory.gap)
    states[3] = 1.0 if gap >= margin else 0.0


@kernel
def place_all(
    stance: Stance, x: FloatArray, margin: float, turns: FloatArray, places: FloatArray, marks: FloatArray,
    states: FloatArray,
) -> None:  # fmt: skip
    """Write turns (N, J, 3, 3), places (N, J, 3) and marks (N, 12, 3) of postures (N, 22), and how they are (N, 4).

    A state is 1 or 0 for: within limits, feet reached, balanced, clear by the margin.
    """
    memory = stance_memory(stance)
    for n in range(x.shape[0]):
        write_states(stance, x[n], margin, memory, states[n])
        turns[n] = memory.turns
        places[n] = memory.places
        write_marks(stance, memory, marks[n])
