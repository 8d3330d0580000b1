"""A plain twin of `live.playing._gaze_kernels.look`: one character after another, by NumPy and Python numbers."""

from __future__ import annotations

import numpy as np

from gaitway.core import planar, rotations
from gaitway.core.arrays import FloatArray
from gaitway.live.playing import _gaze_kernels as g
from gaitway.live.playing._crowd_kernels import HEADING, NEXT, TIME, BodyArrays, CrowdArrays, X, Y, cell_of, chain_of
from gaitway.live.playing._gaze_kernels import GazeArrays
from gaitway.live.playing._playing_kernels import COUNT, EMPTY, FIRST, LIFE, STATUS

SHARES = np.array([[0.0, 0.0], [0.4, 0.4], [0.6, 0.6]])
"""Shares of the turn and of the bow of the head that chest, neck and head take."""


def drawn(seed: int, who: int, life: int, number: int) -> float:
    """A number from 0 to 1 by a generator of Lehmer's kind, warmed up three times."""
    value = sum(a * b for a, b in zip((seed, who, life), (48_271, 69_621, 16_807), strict=True)) + number * 40_692 + 1
    for _ in range(3):
        value = value % (2**31 - 1) * 48_271 % (2**31 - 1)
    return value / (2**31 - 1)


def where(body: BodyArrays, crowd: CrowdArrays, me: int, time: float) -> FloatArray:
    """Pose at a time, straight between the begins of steps."""
    first, count = crowd.counts[me, [FIRST, COUNT]]
    steps = crowd.steps[me]
    k = first + max(int(np.sum(steps[first:count, TIME] <= time)) - 1, 0)
    after = steps[k + 1] if k + 1 < count else steps[-1]
    share = np.clip((time - steps[k, TIME]) / body.durations[crowd.actions[me, k]], 0.0, 1.0)
    turn = planar.wrap_angle(after[HEADING] - steps[k, HEADING])
    here = steps[k, [X, Y, HEADING]]
    return here + share * np.array([after[X] - here[0], after[Y] - here[1], turn])


def chained(crowd: CrowdArrays, column: int, row: int, level: int, most: int) -> list[int]:
    """Characters in a chain of reservations."""
    out, entry = [], int(crowd.heads[chain_of(crowd.heads, column, row, level)])
    while entry >= 0 and len(out) < most:
        out.append(entry // crowd.steps.shape[1])
        entry = int(crowd.links[entry, NEXT])
    return out


def who_comes(body: BodyArrays, crowd: CrowdArrays, me: int, pose: FloatArray, now: float) -> int:
    ahead = np.array([np.cos(pose[2]), np.sin(pose[2])])
    for far in (2.0, 4.0):
        for other in chained(crowd, *(int(cell_of(float(v))) for v in pose[:2] + far * ahead), 0, 16):
            if other == me or crowd.counts[other, STATUS] == EMPTY:
                continue
            theirs = where(body, crowd, other, now)
            away = theirs[:2] - pose[:2]
            far_off = np.hypot(*away)
            if 1.0 < far_off < 6.0 and ahead @ away > 0.35 * far_off and np.cos(theirs[2] - pose[2]) < -0.3:
                return other
    return -1


def free_way(crowd: CrowdArrays, state: FloatArray, me: int, place: FloatArray, ways: int, share: float) -> int:
    (left, right), (low, high) = ((int(cell_of(float(v - 2.0))), int(cell_of(float(v + 2.0)))) for v in place)
    cells = [(column, row) for column in range(left, right + 1) for row in range(low, high + 1)]
    beside = {other for cell in cells for other in chained(crowd, *cell, 1, 32) if other != me}
    taken = {int(state[other, g.WAY]) for other in beside if state[other, g.WEIGHT] > 0.0}
    first = min(int(share * ways), ways - 1)
    return next((way for way in ((first + k) % ways for k in range(ways)) if way not in taken), first)


def sprung(value: float, speed: float, target: float, rate: float, dt: float) -> tuple[float, float]:
    """A critically damped spring after a time, by its closed form."""
    away = value - target
    lead = speed + rate * away
    return target + (away + lead * dt) * np.exp(-rate * dt), (speed - rate * lead * dt) * np.exp(-rate * dt)


def looked(body: BodyArrays, crowd: CrowdArrays, gaze: GazeArrays, now: float, dt: float) -> tuple[FloatArray, ...]:
    """State, and the turns (C, 7, 4) of all parts with which of them are shown (C, 7), after a step that ends now."""
    state, count = gaze.state.copy(), len(gaze.state)
    turns, shown = np.zeros((count, g.PARTS, 4)), np.zeros((count, g.PARTS), dtype=bool)
    turns[..., 0] = 1.0
    for me in range(count):
        _draw_way(body, crowd, gaze, state, me, now)
    for me in range(count):
        library = int(body.libraries[crowd.actions[me, -1]])
        if crowd.counts[me, STATUS] == EMPTY or gaze.joints[library, g.HEAD] < 0.0:
            continue
        _step(body, crowd, gaze, state, me, now, dt)
        _turn(gaze, state[me], library, now, turns[me], shown[me])
    return state, turns, shown


def _draw_way(body: BodyArrays, crowd: CrowdArrays, gaze: GazeArrays, state: FloatArray, me: int, now: float) -> None:
    own, life, library = state[me], int(crowd.counts[me, LIFE]), int(body.libraries[crowd.actions[me, -1]])
    stands = crowd.counts[me, STATUS] != EMPTY and crowd.counts[me, COUNT] == 1
    if not stands or gaze.joints[library, g.HEAD] < 0.0 or own[g.WEIGHT] > 0.0 or now < own[g.WAY_UNTIL]:
        return
    number, place = int(own[g.DRAWN]) + 2, where(body, crowd, me, now)[:2]
    share, long = (drawn(int(gaze.seed[0]), me, life, number + k) for k in (0, 1))
    own[g.WAY] = free_way(crowd, state, me, place, int(gaze.ways[library]), share)
    own[g.WAY_UNTIL], own[g.DRAWN], own[g.WEIGHT] = now + 4.0 + 10.0 * long, number, 1e-9


def _step(
    body: BodyArrays, crowd: CrowdArrays, gaze: GazeArrays, state: FloatArray, me: int, now: float, dt: float
) -> None:
    own, life = state[me], int(crowd.counts[me, LIFE])

    def draw(number: int) -> float:
        return drawn(int(gaze.seed[0]), me, life, number)

    if own[g.AHEAD] == 0.0:
        own[[g.AHEAD, g.RATE, g.PHASE]] = 1.0 + draw(0), 0.8 + 0.5 * draw(1), 6.3 * draw(2)
    pose, first, count = where(body, crowd, me, now), *crowd.counts[me, [FIRST, COUNT]]
    stands, number = count == 1, int(own[g.DRAWN])
    way = where(body, crowd, me, now + own[g.AHEAD])[:2] - pose[:2]
    along = float(np.clip(planar.wrap_angle(np.arctan2(way[1], way[0]) - pose[2]), -1.6, 1.6))
    want, down = (0.4 * along if np.hypot(*way) > 0.4 else 0.0), 0.0
    soon = [k for k in range(first, count) if crowd.steps[me, k, TIME] < now + 1.8]
    special = next((k for k in soon if body.special[crowd.actions[me, k]]), None)
    if special is not None:
        want = want if special == first else 0.62 * want / 0.4
        down = 0.22 if crowd.steps[me, special, TIME] > now else 0.0
    if own[g.AIM_UNTIL] <= now:
        number += 4
        a, b = draw(number), draw(number + 1)
        who = -1
        if stands:
            own[g.AIM], own[g.AIM_DOWN] = 1.25 * (a + b + draw(number + 2) - 1.5), 0.2 * (draw(number + 3) - 0.3)
            own[g.AIM_UNTIL] = now + 0.8 + 3.2 * a * b
        else:
            own[[g.AIM, g.AIM_DOWN]] = 0.0
            who = who_comes(body, crowd, me, pose, now) if a < 0.4 else -1
            own[g.AIM_UNTIL] = now + (0.6 + 0.7 * b if who >= 0 else 1.0 + 2.0 * b)
        own[g.AIM_WHO] = who
    who = int(own[g.AIM_WHO])
    if special is None and who >= 0 and crowd.counts[who, STATUS] != EMPTY:
        away = where(body, crowd, who, now)[:2] - pose[:2]
        angle = float(planar.wrap_angle(np.arctan2(away[1], away[0]) - pose[2]))
        want = 0.62 * angle if abs(angle) < 1.3 else want
    elif stands and special is None:
        want, down = 0.62 * own[g.AIM], own[g.AIM_DOWN]
    for column, target, rate in ((g.YAW, np.clip(want, -0.87, 0.87), 5.5), (g.PITCH, down, 5.5), (g.TRUNK, None, 3.2)):
        goal = 0.22 * own[g.YAW] if target is None else float(target)
        own[column], own[column + 1] = sprung(own[column], own[column + 1], goal, rate, dt)
    step = dt / 1.4
    own[g.STILL] = np.clip(own[g.STILL] + (step if stands else -2.0 * step), 0.0, 1.0)
    holds = stands and now < own[g.WAY_UNTIL]
    own[g.WEIGHT] = np.clip(own[g.WEIGHT] + (step if holds else -step), 0.0, 1.0)
    own[g.DRAWN] = number


def _turn(gaze: GazeArrays, own: FloatArray, library: int, now: float, turns: FloatArray, shown: FloatArray) -> None:
    size, t, p = np.radians(2.6) * own[g.STILL], 2.0 * np.pi * own[g.RATE] * now, own[g.PHASE]
    quick = 0.3 * np.sin(0.71 * t + 2.1 * p)
    sway, roll = (size * (0.7 * np.sin(rate * t + k * p) + quick) for rate, k in ((0.17, 1.0), (0.29, 3.7)))
    yaw = SHARES[:, 0] * (own[g.YAW] - own[g.TRUNK]) + [own[g.TRUNK], 0.0, 0.0] + np.array([0.5, 0.8, 0.8]) * sway
    bow = SHARES[:, 1] * own[g.PITCH] + np.array([0.3, 0.4, 0.4]) * roll
    up, left, joints = gaze.up[library], gaze.left[library], gaze.joints[library]
    head = slice(0, g.FIRST_ARM)
    turns[head] = rotations.from_rotation_vector(yaw[:, None] * up[head] + bow[:, None] * left[head])
    shown[head] = joints[head] >= 0.0
    if own[g.STILL] > 0.0 or own[g.WEIGHT] > 0.0:
        arms, part = slice(g.FIRST_ARM, g.PARTS), np.arange(g.PARTS - g.FIRST_ARM)
        weight = own[g.WEIGHT] ** 2 * (3.0 - 2.0 * own[g.WEIGHT])
        more = size * (1.1 * np.sin(0.43 * t + p + 1.9 * part) + 0.45 * np.sin(1.1 * t + 2.3 * part))
        hanging, placed = gaze.hanging[library], gaze.placed[library, int(own[g.WAY])]
        wanted = hanging + weight * (placed - hanging) + more[:, None] * (up[arms] + 0.6 * left[arms])
        back = rotations.conjugate(rotations.from_rotation_vector(hanging))
        turns[arms] = rotations.multiply(back, rotations.from_rotation_vector(wanted))
        shown[arms] = joints[arms] >= 0.0
