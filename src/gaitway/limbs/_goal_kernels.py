"""Compiled goals of a standing body by IK: postures that bring a hand to a target, the easiest first.

Trunks are tried from the least uneasy on: a small lean before a squat. The arm is solved for each by analytic IK with
several swivel angles of the elbow. The other arm goes on to hang.
"""

from __future__ import annotations

import math

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.jit import kernel
from gaitway.limbs._joint_kernels import (
    END,
    END_TWIST,
    END_X,
    END_Y,
    PLANNED,
    ROLL,
    SIDE,
    SWING_X,
    limb_angles,
    limb_frames,
    product,
    solve,
    within,
)
from gaitway.limbs._roadmap_kernels import DOWN, MARGIN, TIE, hand_distances, lead_trunk, take_nearest
from gaitway.limbs._stance_kernels import (
    AHEAD,
    ANGLE,
    ARM,
    DROP,
    FLEXION,
    LEAN,
    NUMBERS,
    RAISE,
    RIGHT,
    TURN,
    Stance,
    StanceMemory,
    hang,
    place_body,
    stance_memory,
    valid_posture,
)

WAY_MARK, WAY_FRAME, WAY_TURNED, WAY_COLUMNS = 0, 3, 12, 13
"""Columns of a way in which a hand may be at its target: the point of the hand that is there, in the frame of the last
segment (3) [m]; the wanted frame of that segment (9); 1 if that is wanted, 0 if the hand goes on straight from the
forearm (1); and how many these are."""
_ASIDE = 0.3
"""Angle by which the other arm is held aside [rad], once or twice."""
_MISSED = 1e-4
"""How near the hand must come to its target [m]."""
_FARS, _DEEPS = 6, 6
"""How many ways to follow an arm, and depths, are tried for a goal."""
_BENDS = 4
"""How many flexions, and depths, are tried of who bends down to the floor."""
_BENT_WRIST = 0.3
"""What a square of the wrist's bend counts for a goal of a roadmap [1/rad^2]."""
_ELBOW = 0.05
"""What it counts to take the next swivel angle of the elbow."""


@kernel(inner=True, borrows=True)
def uneasy(x: FloatArray, stance: Stance) -> float:
    """Return how far trunk, collarbones and knees are from standing upright: a small lean costs less than a squat."""
    deep = x[DROP] / stance.size
    cost: float = x[FLEXION] ** 2 + 1.5 * x[LEAN] ** 2 + 0.7 * x[TURN] ** 2 + 12.0 * deep**2 + 0.6 * deep
    for arm in range(2):
        cost += x[ARM * arm + RAISE] ** 2 + x[ARM * arm + AHEAD] ** 2
    return cost


@kernel(inner=True, shared=True, borrows=True)
def _arm_way(
    stance: Stance, start: FloatArray, hand: int, target: FloatArray, memory: StanceMemory
) -> tuple[float, float, float]:  # fmt: skip
    """Return the direction from a shoulder of a posture (22,) to a target (3,): ahead, to the left and up."""
    place_body(stance, start, memory)
    ahead, left, up, square = 0.0, 0.0, 0.0, 0.0
    for i in range(3):
        way = target[i] - memory.places[stance.joints[hand, 0], i]
        square += way * way
        ahead += stance.frame[i, 0] * way
        left += stance.frame[i, 1] * way
        up += stance.frame[i, 2] * way
    length = max(math.sqrt(square), TIE)
    return ahead / length, left / length, up / length


@kernel(inner=True, shared=True)
def _trunks(
    stance: Stance, nodes: FloatArray, marks: FloatArray, start: FloatArray, hand: int, target: FloatArray,
    seeds: int, scales: FloatArray, memory: StanceMemory,
) -> FloatArray:  # fmt: skip
    """Return postures (C, 22) to try for a goal: that of the start with other trunks.

    They follow an arm which points at the target, or are those of the nodes whose hand is nearest, whole and in part.
    """
    count, more = min(seeds, nodes.shape[0]), scales.shape[0]
    out, n = np.empty((1 + _FARS * _DEEPS + count * more, NUMBERS)), 1
    for row in range(out.shape[0]):
        for k in range(NUMBERS):
            out[row, k] = start[k]
    ahead, left, up = _arm_way(stance, start, hand, target, memory)
    for far in range(_FARS):
        for deep in range(_DEEPS if up < DOWN else 1):
            lead_trunk(stance, hand, ahead, left, up, (far + 1.0) / _FARS,
                       deep / (_DEEPS - 1.0), out[n])  # fmt: skip
            n += 1
    away = np.empty(nodes.shape[0])
    hand_distances(marks, hand, target, away)
    for _ in range(count):
        near = take_nearest(away)
        for s in range(more):
            for k in range(NUMBERS):
                if k >= FLEXION or ARM * hand <= k < ARM * hand + ANGLE:
                    out[n, k] = start[k] + scales[s] * (nodes[near, k] - start[k])
            n += 1
    return out[:n]


@kernel(inner=True, shared=True)
def _bent_trunks(
    stance: Stance, start: FloatArray, hand: int, target: FloatArray, memory: StanceMemory
) -> FloatArray:  # fmt: skip
    """Return postures (C, 22) to try for a goal near the floor: that of the start, bent down deep; none for others."""
    out, n = np.empty((_BENDS * _BENDS, NUMBERS)), 0
    ahead, left, up = _arm_way(stance, start, hand, target, memory)
    if up > DOWN:
        return out[:0]
    for flexed in range(_BENDS):
        for deep in range(_BENDS):
            for k in range(NUMBERS):
                out[n, k] = start[k]
            lead_trunk(stance, hand, ahead, left, up, 1.0,
                       0.5 + 0.5 * deep / (_BENDS - 1.0), out[n])  # fmt: skip
            out[n, FLEXION] = stance.ranges[2, 1] * (0.6 + 0.4 * flexed / (_BENDS - 1.0))
            n += 1
    return out


@kernel
def find_goal(
    stance: Stance, numbers: FloatArray, nodes: FloatArray, marks: FloatArray, start: FloatArray, hand: int,
    ways: FloatArray, target: FloatArray, seeds: int, scales: FloatArray, swivels: FloatArray, out: FloatArray,
    told: FloatArray,
) -> int:  # fmt: skip
    """Write the most comfortable posture (22,) found that brings a hand to a target; return its way, or -1.

    Trunks are also those of the nodes of a roadmap whose hand is nearest.

    Args:
        stance: the body.
        numbers: columns of the roadmap's options; (3,).
        nodes: (N, 22).
        marks: (N, 12, 3).
        start: the posture from which the other arm goes on to hang; (22,).
        hand: `RIGHT` or `LEFT`.
        ways: see the columns above; (W, 13).
        target: (3,) [m].
        seeds: number of nodes whose trunks are tried.
        scales: shares of the trunk of a node; (S,).
        swivels: angles of the elbow, in the order of preference [rad]; (W,).
        out: filled; (22,).
        told: filled: least distance by which arms are too short [m], postures that reach within limits; (2,).
    """
    memory = stance_memory(stance)
    told[0], told[1] = np.inf, 0.0
    trunks = _trunks(stance, nodes, marks, start, hand, target, seeds, scales, memory)
    strains = np.empty(trunks.shape[0])
    for n in range(trunks.shape[0]):
        strains[n] = round(uneasy(trunks[n], stance), 7)
    return _easiest(
        stance, numbers[MARGIN], trunks, strains, start, hand, ways, target, swivels, _BENT_WRIST, 0.0, memory, out,
        told,
    )  # fmt: skip


@kernel(inner=True, shared=True, borrows=True)
def _idle_frames(stance: Stance, start: FloatArray, idle: int, hanging: FloatArray, memory: StanceMemory) -> None:
    """Write the frames (3, 3, 3) of the other arm in the posture (22,) that a reach starts from."""
    place_body(stance, start, memory)
    for k in range(3):
        product(memory.turns[stance.joints[idle, k]], stance.back_turns[idle, k].T, hanging[k])


@kernel(inner=True, shared=True, borrows=True)
def _valid_with_idle(
    stance: Stance, hand: int, start: FloatArray, q_idle: FloatArray, margin: float, y: FloatArray,
    memory: StanceMemory,
) -> bool:  # fmt: skip
    """Give the other arm of a posture (22,) a place that is valid: it hangs, is held aside, or follows the trunk."""
    kept = ARM * (1 - hand) + ANGLE
    for way in range(4):  # it hangs, or is held aside of the thigh, or is taken along by the trunk
        for k in range(PLANNED):
            y[kept + k] = q_idle[k] if way < 3 else start[kept + k]
        if way < 3:
            y[kept + SWING_X] += _ASIDE * way * (1.0 if hand == RIGHT else -1.0)
        memory.gap.met[0] = -1
        if valid_posture(stance, y, margin, memory):
            return True
        a, b = memory.gap.met[0], memory.gap.met[1]
        if a >= 0 and stance.capsule_arms[a] != 1 - hand and stance.capsule_arms[b] != 1 - hand:
            return False  # whatever the other arm does
    return False


@kernel(inner=True, borrows=True)
def _pull(
    stance: Stance, hand: int, q: FloatArray, mark: FloatArray, target: FloatArray, wrist: FloatArray,
    memory: StanceMemory,
) -> float:  # fmt: skip
    """Move what IK aims at by the miss of a point of the hand, `mark` in the last segment's frame; return it [m].

    The arm has the angles `q` (9,), and hangs as the memory says.
    """
    limb_frames(memory.base, memory.start, stance.lengths[hand], q, memory.frames, memory.points, memory.swing)
    square = 0.0
    for d in range(3):
        at = memory.points[2, d]
        for e in range(3):
            at += memory.frames[END, d, e] * mark[e]
        wrist[d] += target[d] - at
        square += (target[d] - at) ** 2
    return math.sqrt(square)


@kernel
def find_easiest(
    stance: Stance, numbers: FloatArray, start: FloatArray, hand: int, ways: FloatArray, target: FloatArray,
    bends: bool, swivels: FloatArray, easy: FloatArray, out: FloatArray, told: FloatArray,
) -> int:  # fmt: skip
    """Write the easiest posture (22,) found that brings a hand to a target in any of several ways; return which, or -1.

    Who cannot reach it so bends down as far as possible.

    Args:
        stance: the body.
        numbers: columns of the roadmap's options; (3,).
        start: the posture from which the other arm goes on to hang, and the arm's home; (22,).
        hand: `RIGHT` or `LEFT`.
        ways: see the columns above; (W, 13).
        target: (3,) [m].
        bends: whether trunk and knees may move, too.
        swivels: angles of the elbow, in the order of preference [rad]; (S,).
        easy: flexion, lean, turn [rad] and drop [m] that are equally uneasy, and what a square of the wrist's bend and
            of the arm's way from home count beside these [1/rad^2]; (6,).
        out: filled; (22,).
        told: filled: least distance by which arms are too short [m], postures that reach within limits; (2,).
    """
    memory, chosen = stance_memory(stance), -1
    told[0], told[1] = np.inf, 0.0
    for deep in range(2 if bends else 1):
        if deep == 0:
            trunks = _trunks(
                stance, np.empty((0, NUMBERS)), np.empty((0, 1, 3)), start, hand, target, 0, np.empty(0), memory
            )  # fmt: skip
        else:
            trunks = _bent_trunks(stance, start, hand, target, memory)
        strains = np.empty(trunks.shape[0] if bends else 1)
        for n in range(strains.shape[0]):
            strain = 0.0
            for k in range(4):
                strain += (trunks[n, FLEXION + k] / easy[k]) ** 2
            strains[n] = round(strain, 7)
        chosen = _easiest(
            stance, numbers[MARGIN], trunks, strains, start, hand, ways, target, swivels, easy[4], easy[5], memory,
            out, told,
        )  # fmt: skip
        if chosen >= 0:
            break
    return chosen


@kernel(inner=True, shared=True)
def _easiest(
    stance: Stance, margin: float, trunks: FloatArray, strains: FloatArray, start: FloatArray, hand: int,
    ways: FloatArray, target: FloatArray, swivels: FloatArray, wrist_cost: float, arm_cost: float,
    memory: StanceMemory, out: FloatArray, told: FloatArray,
) -> int:  # fmt: skip
    """Write the easiest valid posture (22,) with one of some trunks; return its way, or -1.

    All ways share the trunks and one cost, so that a way which cannot be easier than the best so far is not looked at.

    Args:
        stance: the body.
        margin: gap to keep [m].
        trunks: postures to try, without their arm; changed; (C, 22).
        strains: how uneasy these are; (C,) or fewer, if only the first of them are to be tried.
        start: the posture from which the other arm goes on to hang, and the arm's home; (22,).
        hand: `RIGHT` or `LEFT`.
        ways: see the columns above; (W, 13).
        target: (3,) [m].
        swivels: angles of the elbow, in the order of preference [rad]; (S,).
        wrist_cost: what a square of the wrist's bend counts [1/rad^2].
        arm_cost: what a square of the arm's way from home counts [1/rad^2].
        memory: memory.
        out: filled; (22,).
        told: see `find_goal`; lessened and added to.
    """
    best, chosen = np.inf, -1
    q, lengths, wrist, frame = np.zeros(PLANNED + 2), np.empty(2), np.empty(3), np.empty((3, 3))
    idle, begin = 1 - hand, ARM * hand + ANGLE
    hanging, q_idle = np.empty((3, 3, 3)), np.zeros(PLANNED + 2)
    mark, aim = np.empty(3), np.empty(3)
    _idle_frames(stance, start, idle, hanging, memory)
    for n in np.argsort(strains, kind="mergesort"):
        y = trunks[n]
        if strains[n] >= best:
            break
        if not place_body(stance, y, memory):
            continue
        hang(stance, idle, memory)
        limb_angles(memory.base, hanging, q_idle, memory.turn)  # the other arm hangs on as it did
        hang(stance, hand, memory)
        for way in range(ways.shape[0]):
            turned = ways[way, WAY_TURNED] > 0.0
            q[SIDE], q[END_TWIST] = stance.extras[hand, 0], stance.extras[hand, 1]
            lengths[0], lengths[1], square = stance.lengths[hand, 0], stance.lengths[hand, 1], 0.0
            if not turned:
                lengths[1] += ways[way, WAY_MARK + 2]
            for d in range(3):
                aim[d], mark[d] = target[d], ways[way, WAY_MARK + d]
                for e in range(3):
                    frame[d, e] = ways[way, WAY_FRAME + 3 * d + e]
                    if turned:
                        aim[d] -= frame[d, e] * ways[way, WAY_MARK + e]
                square += (aim[d] - memory.start[d]) ** 2
            short = math.sqrt(square) - lengths[0] - lengths[1]
            told[0] = min(told[0], short)
            if short > TIE:
                continue
            for w in range(swivels.shape[0]):
                cost = strains[n] + _ELBOW * w
                if cost >= best:
                    break
                for d in range(3):
                    wrist[d] = aim[d]
                good = False
                for _ in range(1 if turned else 6):  # the point of the hand is a little beside the forearm's line
                    if not solve(
                        memory.base, memory.start, lengths, wrist, frame, swivels[w], q, memory.turn, memory.swing
                    ):
                        break
                    if not turned:
                        q[END_X], q[END_Y], q[ROLL] = 0.0, 0.0, start[begin + ROLL]
                    for k in range(PLANNED):
                        y[begin + k] = q[k]
                    good = turned or _pull(stance, hand, q, mark, target, wrist, memory) < _MISSED
                    if good:
                        break
                if not good or not within(stance.limits[hand], q):
                    continue
                told[1] += 1.0
                cost += wrist_cost * (q[END_X] ** 2 + q[END_Y] ** 2)
                for k in range(4):
                    cost += arm_cost * (q[k] - start[begin + k]) ** 2
                cost = round(cost, 7)
                if cost < best:
                    fine = _valid_with_idle(stance, hand, start, q_idle, margin, y, memory)
                    hang(stance, hand, memory)
                    if fine and _pull(stance, hand, q, mark, target, wrist, memory) < _MISSED:
                        best, chosen = cost, way
                        for k in range(NUMBERS):
                            out[k] = y[k]
    return chosen
