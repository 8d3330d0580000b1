"""Compiled probabilistic IK: postures of a roadmap that are led toward a target by chance (Kallmann et al. 2003, 7).

Numbers are drawn outside. Every posture on the way is valid, so that a goal is found in the part of space that the
roadmap knows, with hands behind the back or between things, where an arm that points at its target would not fit.
"""

from __future__ import annotations

import math

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.jit import kernel
from gaitway.limbs._goal_kernels import uneasy
from gaitway.limbs._joint_kernels import END_TWIST, END_X, END_Y, PLANNED, SIDE, solve, within
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
        for k in range(NUMBERS):
            y[k] = start[k] if idle <= k < idle + ARM else x[k]
        if valid_posture(stance, y, numbers[MARGIN], memory):
            for k in range(NUMBERS):
                x[k] = y[k]
        cost = uneasy(x, stance)
        for k in (END_X, END_Y):
            cost += 0.3 * x[ARM * hand + ANGLE + k] ** 2
        if round(cost, 9) < best:
            best = round(cost, 9)
            for k in range(NUMBERS):
                out[k] = x[k]
    return 0.0 if best < np.inf else least


assert PLANNED + 2 == ARM  # collarbone and seven angles
