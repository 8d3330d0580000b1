"""Compiled probabilistic IK: postures of a roadmap that are led toward a target by chance (Kallmann et al. 2003, 7).

Numbers are drawn outside. Every posture on the way is valid, so that a goal is found in the part of space that the
roadmap knows, with hands behind the back or between things, where an arm that points at its target would not fit.

Chance is slow. Before it, the arms of the nodes go the short rest of the way by steps of least squares, and only the
postures at their ends are tested.
"""

from __future__ import annotations

import math

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.jit import kernel
from gaitway.limbs._goal_kernels import uneasy
from gaitway.limbs._joint_kernels import (
    END,
    END_ELLIPSE,
    END_TWIST,
    END_X,
    END_Y,
    HIGH,
    LOW,
    PLANNED,
    SIDE,
    SWING_ELLIPSE,
    SWING_X,
    TWIST,
    TWIST_RANGE,
    limb_frames,
    solve,
    within,
)
from gaitway.limbs._roadmap_kernels import MARGIN, hand_distances, take_nearest
from gaitway.limbs._stance_kernels import (
    ANGLE,
    ARM,
    FLEXION,
    NUMBERS,
    Stance,
    StanceMemory,
    hang,
    place_body,
    stance_memory,
    valid_posture,
)

DRAWS = 8
"""Uniform numbers for one try: whether to go toward a drawn posture, which one, how far, and five for what changes."""
_TOWARD = 0.25
"""Share of tries that go toward a drawn posture; the others change a few numbers of a posture."""
_GAIN, _WIDEST = 2.5, 0.5
"""Width of a change for each metre that is missing at first [rad/m], and the greatest [rad]."""
_WIDER, _NARROWER = 1.5, 0.93
"""Factors on the width after a try that helped, and after one in vain, so that about one in six helps."""
_PATIENCE = 200
"""Tries in vain after which a posture goes back to where it came from."""
_TURN_ARM = 0.1
"""What a radian of a wrong turn counts beside a metre [m/rad]: half the length of a hand."""
_NEAR = 0.05
"""How near the hand must be for analytic IK to bring it there exactly [m]."""
_MISSED = 1e-4
"""How near the hand must come to its target [m]."""
_STEPS, _SHRINKS, _NUDGE, _DAMPING = 12, 0.9, 1e-5, 1e-4
"""Most steps of least squares, share of the squared miss that each may leave, change by which the way of the hand is
measured [rad], and damping [m^2]."""


@kernel(inner=True, borrows=True)
def _miss(
    stance: Stance, hand: int, target: FloatArray, frame: FloatArray, turned: bool, memory: StanceMemory
) -> float:
    """Return how far the hand of a placed body is from where it should be, with its turn if that is asked for [m]."""
    joint, mark, square = stance.joints[hand, 2], 2 + 5 * hand + 3, 0.0
    for d in range(3):
        at = memory.places[joint, d]
        for e in range(3):
            at += memory.turns[joint, d, e] * stance.mark_offsets[mark, e]
        square += (target[d] - at) ** 2
    if turned:
        wrong = 0.0
        for d in range(3):
            for e in range(3):
                own = 0.0
                for k in range(3):
                    own += memory.turns[joint, d, k] * stance.back_turns[hand, 2, e, k]
                wrong += (own - frame[d, e]) ** 2
        square += 0.5 * _TURN_ARM * _TURN_ARM * wrong  # half of it is the square of a small angle
    return math.sqrt(square)


@kernel(inner=True, borrows=True)
def _changed(
    x: FloatArray, hand: int, drawn: FloatArray, draws: FloatArray, row: int, width: float, y: FloatArray
) -> None:
    """Write a posture (22,) near another: part of the way to a drawn one, or with a few other numbers."""
    for k in range(NUMBERS):
        y[k] = x[k]
    if draws[row, 0] < _TOWARD:
        other = int(draws[row, 1] * drawn.shape[0])
        share = width * draws[row, 2]
        for k in range(NUMBERS):
            if k >= FLEXION or ARM * hand <= k < ARM * (hand + 1):
                y[k] += share * (drawn[other, k] - x[k])
        return
    own = ARM + NUMBERS - FLEXION  # numbers of the arm and the trunk
    for n in range(1 + int(draws[row, 1] * 3.0)):
        column = int((draws[row, 2] + 0.37 * n) % 1.0 * own)
        column = ARM * hand + column if column < ARM else FLEXION + column - ARM
        y[column] += width * (2.0 * draws[row, 3 + n] - 1.0)


@kernel(inner=True, shared=True, borrows=True)
def _finished(
    stance: Stance, hand: int, x: FloatArray, wrist: FloatArray, frame: FloatArray, swivels: FloatArray, margin: float,
    memory: StanceMemory,
) -> bool:  # fmt: skip
    """Bring the wrist of a posture (22,) to its place and turn by analytic IK, if some swivel angle is valid."""
    if not place_body(stance, x, memory):
        return False
    for w in range(swivels.shape[0]):
        hang(stance, hand, memory)
        memory.q[SIDE], memory.q[END_TWIST] = stance.extras[hand, 0], stance.extras[hand, 1]
        if not solve(memory.base, memory.start, stance.lengths[hand], wrist, frame, swivels[w], memory.q, memory.turn,
                     memory.swing):  # fmt: skip
            return False
        if not within(stance.limits[hand], memory.q):
            continue
        for k in range(PLANNED):
            x[ARM * hand + ANGLE + k] = memory.q[k]
        if valid_posture(stance, x, margin, memory):
            return True
    return False


@kernel(inner=True, borrows=True)
def _hold(limits: FloatArray, q: FloatArray) -> None:
    """Bring a posture of an arm (9,) back into its ranges and ellipses."""
    for k in range(3):
        row, column = TWIST_RANGE + k, TWIST + k
        q[column] = min(max(q[column], limits[row, LOW]), limits[row, HIGH])
    for k in range(2):
        row, column = SWING_ELLIPSE if k == 0 else END_ELLIPSE, SWING_X if k == 0 else END_X
        u, v = (q[column] - limits[row, 0]) / limits[row, 2], (q[column + 1] - limits[row, 1]) / limits[row, 3]
        far = math.sqrt(u * u + v * v)
        if far > 1.0:
            q[column] = limits[row, 0] + limits[row, 2] * u / far
            q[column + 1] = limits[row, 1] + limits[row, 3] * v / far


@kernel(inner=True, borrows=True)
def _grip_at(stance: Stance, hand: int, grip: FloatArray, out: FloatArray, memory: StanceMemory) -> None:
    """Write where the middle of a hand is whose arm has the angles in the memory, and hangs as it says; (3,)."""
    limb_frames(memory.base, memory.start, stance.lengths[hand], memory.q, memory.frames, memory.points, memory.swing)
    for d in range(3):
        out[d] = memory.points[2, d]
        for e in range(3):
            out[d] += memory.frames[END, d, e] * grip[e]


@kernel(inner=True, shared=True, borrows=True)
def _led(
    stance: Stance, hand: int, x: FloatArray, target: FloatArray, grip: FloatArray, ways: FloatArray,
    memory: StanceMemory,
) -> bool:  # fmt: skip
    """Bring the hand of a posture (22,) to a target by small changes of its arm's angles; return whether it is there.

    Args:
        stance: the body.
        hand: `RIGHT` or `LEFT`.
        x: the posture; changed.
        target: (3,) [m].
        grip: middle of the hand in the frame of the last segment [m]; (3,).
        ways: memory; (3, 8).
        memory: memory.
    """
    begin, q, missing, before = ARM * hand + ANGLE, memory.q, memory.gap.other[0], np.inf
    if not place_body(stance, x, memory):
        return False
    hang(stance, hand, memory)
    for k in range(PLANNED):
        q[k] = x[begin + k]
    q[SIDE], q[END_TWIST] = stance.extras[hand, 0], stance.extras[hand, 1]
    for _ in range(_STEPS):
        at, moved = missing[0], missing[1]
        _grip_at(stance, hand, grip, at, memory)
        square = 0.0
        for axis in range(3):
            ways[axis, PLANNED] = target[axis] - at[axis]
            square += ways[axis, PLANNED] ** 2
        if square < _MISSED * _MISSED:
            for k in range(PLANNED):
                x[begin + k] = q[k]
            return True
        if square > _SHRINKS * before:
            return False
        before = square
        for k in range(PLANNED):
            q[k] += _NUDGE
            _grip_at(stance, hand, grip, moved, memory)
            q[k] -= _NUDGE
            for axis in range(3):
                ways[axis, k] = (moved[axis] - at[axis]) / _NUDGE
        # damped least squares: the change of the angles is J^T (J J^T + l I)^-1 missing
        a, b, c, d, e, f = _DAMPING, 0.0, 0.0, _DAMPING, 0.0, _DAMPING
        for k in range(PLANNED):
            u, v, w = ways[0, k], ways[1, k], ways[2, k]
            a, b, c, d, e, f = a + u * u, b + u * v, c + u * w, d + v * v, e + v * w, f + w * w
        g, h, i = d * f - e * e, c * e - b * f, b * e - c * d
        j, n, m = a * f - c * c, b * c - a * e, a * d - b * b
        size, u, v, w = a * g + b * h + c * i, ways[0, PLANNED], ways[1, PLANNED], ways[2, PLANNED]
        u, v, w = (g * u + h * v + i * w) / size, (h * u + j * v + n * w) / size, (i * u + n * v + m * w) / size
        for column in range(PLANNED):
            q[column] += ways[0, column] * u + ways[1, column] * v + ways[2, column] * w
        _hold(stance.limits[hand], q)
    return False


@kernel(inner=True, shared=True, borrows=True)
def _with_idle(stance: Stance, idle: int, start: FloatArray, margin: float, x: FloatArray, y: FloatArray,
               memory: StanceMemory) -> None:  # fmt: skip
    """Let the other arm of a valid posture (22,) be as in another posture (22,), where that is valid, too."""
    for k in range(NUMBERS):
        y[k] = start[k] if idle <= k < idle + ARM else x[k]
    if valid_posture(stance, y, margin, memory):
        for k in range(NUMBERS):
            x[k] = y[k]


@kernel(inner=True, borrows=True)
def _unease(stance: Stance, hand: int, x: FloatArray) -> float:
    """Return how uneasy a posture (22,) is, with the bend of its wrist."""
    cost = uneasy(x, stance)
    for k in (END_X, END_Y):
        cost += 0.3 * x[ARM * hand + ANGLE + k] ** 2
    return round(cost, 9)


@kernel
def find_led(
    stance: Stance, numbers: FloatArray, nodes: FloatArray, marks: FloatArray, start: FloatArray, hand: int,
    target: FloatArray, grip: FloatArray, members: int, out: FloatArray,
) -> bool:  # fmt: skip
    """Write the least uneasy valid posture (22,) of the nearest nodes with their arms led to a target; see `_led`.

    Args:
        stance: the body.
        numbers: columns of the roadmap's options; (3,).
        nodes: (N, 22).
        marks: (N, 12, 3).
        start: the posture whose other arm is taken over, where that is valid; (22,).
        hand: `RIGHT` or `LEFT`.
        target: (3,) [m].
        grip: middle of the hand in the frame of the last segment [m]; (3,).
        members: number of nodes, the nearest by that hand.
        out: filled; (22,).
    """
    memory, best, margin = stance_memory(stance), np.inf, numbers[MARGIN]
    away, x, y = np.empty(nodes.shape[0]), np.empty(NUMBERS), np.empty(NUMBERS)
    ways = np.empty((3, PLANNED + 1))
    hand_distances(marks, hand, target, away)
    count = min(members, nodes.shape[0])
    near, strains = np.empty(count, np.int64), np.empty(count)
    for n in range(count):
        near[n] = take_nearest(away)
        strains[n] = round(uneasy(nodes[near[n]], stance), 9)
    for n in np.argsort(strains, kind="mergesort"):
        if strains[n] >= best:
            break
        for k in range(NUMBERS):
            x[k] = nodes[near[n], k]
        if not _led(stance, hand, x, target, grip, ways, memory):
            continue
        cost = _unease(stance, hand, x)
        if cost < best and valid_posture(stance, x, margin, memory):
            _with_idle(stance, ARM * (1 - hand), start, margin, x, y, memory)
            best = cost
            for k in range(NUMBERS):
                out[k] = x[k]
    return best < np.inf


@kernel
def find_likely(
    stance: Stance, numbers: FloatArray, nodes: FloatArray, marks: FloatArray, start: FloatArray, hand: int,
    target: FloatArray, grip: FloatArray, frame: FloatArray, turned: bool, swivels: FloatArray, members: int,
    drawn: FloatArray, draws: FloatArray, out: FloatArray,
) -> float:  # fmt: skip
    """Write the least uneasy posture (22,) found by chance that brings a hand to a target; return what is missing [m].

    Args:
        stance: the body.
        numbers: columns of the roadmap's options; (3,).
        nodes: (N, 22).
        marks: (N, 12, 3).
        start: the posture whose other arm is taken over, where that is valid; (22,).
        hand: `RIGHT` or `LEFT`.
        target: (3,) [m].
        grip: middle of the hand in the frame of the last segment [m]; (3,).
        frame: wanted frame of the last segment if `turned`; (3, 3).
        turned: whether there is a wanted frame. It is met exactly by the arm alone once the hand is near.
        swivels: angles of the elbow that are tried then [rad]; (W,).
        members: number of nodes, the nearest by that hand, that are led to the target.
        drawn: postures that are gone toward; (D, 22).
        draws: uniform numbers, shared evenly by the members; (R, 8).
        out: filled if nothing is missing; (22,).
    """
    memory, count = stance_memory(stance), min(members, nodes.shape[0])
    away, steps = np.empty(nodes.shape[0]), draws.shape[0] // max(count, 1)
    x, y, before = np.empty(NUMBERS), np.empty(NUMBERS), np.empty(NUMBERS)
    idle, best, least, wrist = ARM * (1 - hand), np.inf, np.inf, np.empty(3)
    for d in range(3):
        wrist[d] = target[d] - frame[d, 0] * grip[0] - frame[d, 1] * grip[1] - frame[d, 2] * grip[2]
    hand_distances(marks, hand, target, away)
    for member in range(count):
        near = take_nearest(away)
        for k in range(NUMBERS):
            x[k] = nodes[near, k]
            before[k] = x[k]
        place_body(stance, x, memory)
        miss = _miss(stance, hand, target, frame, turned, memory)
        first, width, vain = miss, min(_GAIN * miss, _WIDEST), 0
        for step in range(steps):
            if miss < _MISSED:
                break
            _changed(x, hand, drawn, draws, member * steps + step, width, y)
            closer = place_body(stance, y, memory)
            now = _miss(stance, hand, target, frame, turned, memory)
            if closer and now < miss and valid_posture(stance, y, numbers[MARGIN], memory):
                miss, width, vain = now, min(width * _WIDER, _WIDEST), 0
                for k in range(NUMBERS):
                    x[k] = y[k]
                if turned and miss < _NEAR and _finished(
                    stance, hand, y, wrist, frame, swivels, numbers[MARGIN], memory
                ):  # fmt: skip
                    miss = 0.0
                    for k in range(NUMBERS):
                        x[k] = y[k]
                continue
            width, vain = width * _NARROWER, vain + 1
            if vain > _PATIENCE:  # a dead end
                miss, width, vain = first, min(_GAIN * first, _WIDEST), 0
                for k in range(NUMBERS):
                    x[k] = before[k]
        least = min(least, miss)
        if miss >= _MISSED:
            continue
        _with_idle(stance, idle, start, numbers[MARGIN], x, y, memory)
        cost = _unease(stance, hand, x)
        if cost < best:
            best = cost
            for k in range(NUMBERS):
                out[k] = x[k]
    return 0.0 if best < np.inf else least


assert PLANNED + 2 == ARM  # collarbone and seven angles
