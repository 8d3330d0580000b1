"""Where live characters look and how they stand, on plain arrays: a few numbers for each, stepped with the crowd.

Each character has a head that follows what it looks at as a spring does, without overshoot, and a trunk that follows
the head. One that stands looks about, sways, and holds its arms in a way that none of those beside it has.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.live.playing._crowd_kernels import HEADING, NEXT, TIME, BodyArrays, CrowdArrays, X, Y, cell_of, chain_of
from gaitway.live.playing._playing_kernels import COUNT, EMPTY, FIRST, LIFE, STATUS

Single = npt.NDArray[np.float32]

CHEST, NECK, HEAD, FIRST_ARM, PARTS = 0, 1, 2, 3, 7
"""Rows of the joints of one character: trunk, neck, head, then shoulders and elbows; and their number."""
# columns of `GazeArrays.state`
(
    YAW, YAW_SPEED, PITCH, PITCH_SPEED, TRUNK, TRUNK_SPEED, AIM, AIM_DOWN, AIM_UNTIL, AIM_WHO, STILL, WEIGHT, WAY,
    WAY_UNTIL, DRAWN, AHEAD, RATE, PHASE,
) = range(18)  # fmt: skip
COLUMNS = 18
"""Angles of head and trunk against the heading [rad] and their speeds; what is looked at (an angle against the heading,
or a character), and until when [s]; how far it stands still and how far its way to stand is taken, 0 to 1; the way, and
until when it is held [s]; how many numbers were drawn for it; and what is its own: how far ahead it looks [s] (0 before
it is drawn), and rate and phase of its sway."""
_HEAD_SPRING, _TRUNK_SPRING = 5.5, 3.2
"""Rates of the springs of head and trunk [1/s]."""
_ON_WAY, _AT, _FOLLOWS = 0.4, 0.62, 0.22
"""Share of an angle by which the head turns along the way and at something, and the trunk after the head."""
_FARTHEST = 0.87
"""Greatest angle of the head against the heading [rad]."""
_BEFORE = 1.8
"""Time before a special move in which what it passes is looked at [s]."""
_RAMP = 1.4
"""Time in which arms come to their places [s]."""
_BEGUN = 1e-9
"""How far a way to stand is taken that was drawn just now."""
_MODULUS = 2_147_483_647


class GazeArrays(NamedTuple):
    """Gaze and arms of C places, and what they need of L libraries with W ways to stand."""

    state: FloatArray
    """See `YAW` and the others; (C, 18)."""
    channels: FloatArray
    """Channels of `take.pool.LayerTable`, seven for each place; (7 C, 4)."""
    samples: Single
    """Turns of the joints, one for each channel; (7 C, 4, 1)."""
    joints: FloatArray
    """Joint of each part, or -1; (L, 7)."""
    up: FloatArray
    """Upward axis in the frame of each part; (L, 7, 3)."""
    left: FloatArray
    """Axis to the left in the frame of each part; (L, 7, 3)."""
    hanging: FloatArray
    """Turns of hanging arms from the T-pose, as rotation vectors; (L, 4, 3)."""
    placed: FloatArray
    """The same for each way to stand; the first is to let them hang; (L, W, 4, 3)."""
    ways: IntArray
    """Number of ways that each library has; (L,)."""
    seed: IntArray
    """Seed of all that is drawn; (1,)."""


@kernel(borrows=True, inner=True)
def unit(seed: int, who: int, life: int, number: int) -> float:
    """Return a number from 0 up to 1 that depends on nothing else than these; all are 0 or more."""
    mixed = (seed % 1_000_003) * 48_271 + (who % 1_000_003) * 69_621 + (life % 1_000_003) * 16_807 + number * 40_692 + 1
    for _ in range(3):
        mixed = (mixed % _MODULUS) * 48_271 % _MODULUS
    return mixed / _MODULUS


@kernel(borrows=True, inner=True)
def _turned(angle: float) -> float:
    """Return an angle between minus pi and pi [rad]."""
    return angle - 2.0 * math.pi * math.floor(angle / (2.0 * math.pi) + 0.5)


@kernel(borrows=True, inner=True)
def _place(body: BodyArrays, crowd: CrowdArrays, me: int, time: float) -> tuple[float, float, float]:
    """Return where a character will be at a time: x, y [m] and heading [rad], straight between begins of its steps."""
    steps, count, end = crowd.steps, crowd.counts[me, COUNT], crowd.steps.shape[1] - 1
    k = crowd.counts[me, FIRST]
    while k + 1 < count and steps[me, k + 1, TIME] <= time:
        k += 1
    after = k + 1 if k + 1 < count else end
    begin = steps[me, k, TIME]
    share = min(max((time - begin) / body.durations[crowd.actions[me, k]], 0.0), 1.0)
    turn = _turned(steps[me, after, HEADING] - steps[me, k, HEADING])
    return (
        steps[me, k, X] + share * (steps[me, after, X] - steps[me, k, X]),
        steps[me, k, Y] + share * (steps[me, after, Y] - steps[me, k, Y]),
        steps[me, k, HEADING] + share * turn,
    )


@kernel(borrows=True, inner=True)
def _comer(body: BodyArrays, crowd: CrowdArrays, me: int, x: float, y: float, heading: float, time: float) -> int:
    """Return a character that comes towards one within a few metres, or -1."""
    rows, c, s = crowd.steps.shape[1], math.cos(heading), math.sin(heading)
    for far in range(1, 3):
        column, row = cell_of(x + 2.0 * far * c), cell_of(y + 2.0 * far * s)
        entry = int(crowd.heads[chain_of(crowd.heads, column, row, 0)])
        seen = 0
        while entry >= 0 and seen < 16:
            other = entry // rows
            if other != me and crowd.counts[other, STATUS] != EMPTY:
                px, py, their = _place(body, crowd, other, time)
                ahead, away = c * (px - x) + s * (py - y), math.hypot(px - x, py - y)
                if 1.0 < away < 6.0 and ahead > 0.35 * away and math.cos(their - heading) < -0.3:
                    return int(other)
            entry = int(crowd.links[entry, NEXT])
            seen += 1
    return -1


@kernel(borrows=True, inner=True)
def _free_way(crowd: CrowdArrays, state: FloatArray, me: int, x: float, y: float, ways: int, share: float) -> int:
    """Return a way to stand, drawn by a share from 0 to 1, that nobody who stands beside has; if there is one."""
    rows, taken = crowd.steps.shape[1], 0
    for column in range(cell_of(x - 2.0), cell_of(x + 2.0) + 1):
        for row in range(cell_of(y - 2.0), cell_of(y + 2.0) + 1):
            entry, seen = int(crowd.heads[chain_of(crowd.heads, column, row, 1)]), 0
            while entry >= 0 and seen < 32:
                other = entry // rows
                if other != me and state[other, WEIGHT] > 0.0:
                    taken |= 1 << int(state[other, WAY])
                entry = int(crowd.links[entry, NEXT])
                seen += 1
    first = min(int(share * ways), ways - 1)
    for k in range(ways):
        way = (first + k) % ways
        if not (taken >> way) & 1:
            return way
    return first


@kernel(borrows=True, inner=True)
def _spring(state: FloatArray, me: int, column: int, target: float, rate: float, dt: float, fall: float) -> None:
    """Move an angle and its speed towards a target as a critically damped spring does, exactly for any step.

    `fall` is exp(-rate dt).
    """
    away = state[me, column] - target
    lead = (state[me, column + 1] + rate * away) * dt
    state[me, column] = target + (away + lead) * fall
    state[me, column + 1] = (state[me, column + 1] - rate * lead) * fall


@kernel(borrows=True, inner=True)
def _write(samples: Single, row: int, x: float, y: float, z: float) -> None:
    """Write the rotation of a rotation vector."""
    square = x * x + y * y + z * z
    if square < 0.04:
        # series, whose error is below 1e-9
        share = 0.5 - square * (1.0 / 48.0) * (1.0 - square * (1.0 / 80.0))
        samples[row, 0, 0] = 1.0 - square * 0.125 * (1.0 - square * (1.0 / 48.0))
    else:
        angle = math.sqrt(square)
        share = math.sin(0.5 * angle) / angle
        samples[row, 0, 0] = math.cos(0.5 * angle)
    samples[row, 1, 0], samples[row, 2, 0], samples[row, 3, 0] = share * x, share * y, share * z


@kernel(borrows=True, inner=True)
def _write_arm(gaze: GazeArrays, row: int, library: int, way: int, part: int, weight: float, more: float) -> None:
    """Write the turn of an arm's joint from hanging to a way to stand."""
    hanging, placed, samples = gaze.hanging, gaze.placed, gaze.samples
    hx, hy, hz = hanging[library, part, 0], hanging[library, part, 1], hanging[library, part, 2]
    up, left = gaze.up, gaze.left
    k = FIRST_ARM + part
    x = hx + weight * (placed[library, way, part, 0] - hx) + more * (up[library, k, 0] + 0.6 * left[library, k, 0])
    y = hy + weight * (placed[library, way, part, 1] - hy) + more * (up[library, k, 1] + 0.6 * left[library, k, 1])
    z = hz + weight * (placed[library, way, part, 2] - hz) + more * (up[library, k, 2] + 0.6 * left[library, k, 2])
    _write(samples, row, hx, hy, hz)
    a, b, c, d = samples[row, 0, 0], -samples[row, 1, 0], -samples[row, 2, 0], -samples[row, 3, 0]
    _write(samples, row, x, y, z)
    w, p, q, r = samples[row, 0, 0], samples[row, 1, 0], samples[row, 2, 0], samples[row, 3, 0]
    samples[row, 0, 0] = a * w - b * p - c * q - d * r
    samples[row, 1, 0] = a * p + b * w + c * r - d * q
    samples[row, 2, 0] = a * q - b * r + c * w + d * p
    samples[row, 3, 0] = a * r + b * q - c * p + d * w


@kernel(borrows=True)
def draw_ways(
    body_handle: ArrayHandle[BodyArrays],
    crowd_handle: ArrayHandle[CrowdArrays],
    gaze_handle: ArrayHandle[GazeArrays],
    now: float,
) -> None:
    """Let those who stand and hold no way to stand draw one that nobody beside them has, one after another."""
    body, crowd, gaze = body_handle.value, crowd_handle.value, gaze_handle.value
    state, counts, end, seed = gaze.state, crowd.counts, crowd.steps.shape[1] - 1, int(gaze.seed[0])
    for me in range(len(state)):
        stands = counts[me, STATUS] != EMPTY and counts[me, COUNT] == 1
        if not stands or state[me, WEIGHT] != 0.0 or now < state[me, WAY_UNTIL]:
            continue
        library = body.libraries[crowd.actions[me, end]]
        if gaze.joints[library, HEAD] < 0.0:
            continue
        life, drawn = counts[me, LIFE], int(state[me, DRAWN]) + 2
        x, y, _ = _place(body, crowd, me, now)
        share, long = unit(seed, me, life, drawn), unit(seed, me, life, drawn + 1)
        state[me, WAY] = _free_way(crowd, state, me, x, y, gaze.ways[library], share)
        state[me, WAY_UNTIL], state[me, DRAWN] = now + 4.0 + 10.0 * long, drawn
        state[me, WEIGHT] = _BEGUN  # taken from now on, as those beside see


@kernel(borrows=True)
def look(
    body_handle: ArrayHandle[BodyArrays],
    crowd_handle: ArrayHandle[CrowdArrays],
    gaze_handle: ArrayHandle[GazeArrays],
    now: float,
    dt: float,
    low: int,
    high: int,
) -> None:
    """Let the characters from `low` to `high` look and stand on by a time that ends now [s], and write their turns.

    Each looks at where the others are and go, and at nothing that this changes: several threads may share them.
    """
    body, crowd, gaze = body_handle.value, crowd_handle.value, gaze_handle.value
    state, channels, samples, counts = gaze.state, gaze.channels, gaze.samples, crowd.counts
    steps, end, seed = crowd.steps, crowd.steps.shape[1] - 1, int(gaze.seed[0])
    head_fall, trunk_fall, step = math.exp(-_HEAD_SPRING * dt), math.exp(-_TRUNK_SPRING * dt), dt / _RAMP
    for me in range(low, high):
        row = PARTS * me
        for k in range(PARTS):
            channels[row + k, 0], channels[row + k, 1] = now, 0.0
        if counts[me, STATUS] == EMPTY:
            continue
        library = body.libraries[crowd.actions[me, end]]
        if gaze.joints[library, HEAD] < 0.0:
            continue
        life, drawn = counts[me, LIFE], int(state[me, DRAWN])
        if state[me, AHEAD] == 0.0:
            state[me, AHEAD] = 1.0 + unit(seed, me, life, 0)
            state[me, RATE], state[me, PHASE] = 0.8 + 0.5 * unit(seed, me, life, 1), 6.3 * unit(seed, me, life, 2)
        x, y, heading = _place(body, crowd, me, now)
        first, count = counts[me, FIRST], counts[me, COUNT]
        stands = count == 1
        px, py, _ = _place(body, crowd, me, now + state[me, AHEAD])
        far, want, down = math.hypot(px - x, py - y), 0.0, 0.0
        if far > 0.4:
            want = _ON_WAY * min(max(_turned(math.atan2(py - y, px - x) - heading), -1.6), 1.6)
        passes, k = False, first
        while k < count and steps[me, k, TIME] < now + _BEFORE:
            if body.special[crowd.actions[me, k]] and not passes:
                passes = True
                want, down = want if k == first else _AT * want / _ON_WAY, 0.22 if steps[me, k, TIME] > now else 0.0
            k += 1
        if state[me, AIM_UNTIL] <= now:
            drawn += 4
            a, b = unit(seed, me, life, drawn), unit(seed, me, life, drawn + 1)
            state[me, AIM_WHO] = -1.0
            if stands:
                state[me, AIM] = 1.25 * (a + b + unit(seed, me, life, drawn + 2) - 1.5)
                state[me, AIM_DOWN] = 0.2 * (unit(seed, me, life, drawn + 3) - 0.3)
                state[me, AIM_UNTIL] = now + 0.8 + 3.2 * a * b
            else:
                state[me, AIM] = state[me, AIM_DOWN] = 0.0
                who = _comer(body, crowd, me, x, y, heading, now) if a < 0.4 else -1
                state[me, AIM_WHO] = who
                state[me, AIM_UNTIL] = now + (0.6 + 0.7 * b if who >= 0 else 1.0 + 2.0 * b)
        who = int(state[me, AIM_WHO])
        if not passes and who >= 0 and who < len(state) and counts[who, STATUS] != EMPTY:
            px, py, _ = _place(body, crowd, who, now)
            angle = _turned(math.atan2(py - y, px - x) - heading)
            want = _AT * angle if abs(angle) < 1.3 else want
        elif stands and not passes:
            want, down = _AT * state[me, AIM], state[me, AIM_DOWN]
        _spring(state, me, YAW, min(max(want, -_FARTHEST), _FARTHEST), _HEAD_SPRING, dt, head_fall)
        _spring(state, me, PITCH, down, _HEAD_SPRING, dt, head_fall)
        # whoever climbs holds on: with the trunk, hands would leave their holds
        _spring(state, me, TRUNK, 0.0 if passes else _FOLLOWS * state[me, YAW], _TRUNK_SPRING, dt, trunk_fall)
        state[me, STILL] = min(state[me, STILL] + step, 1.0) if stands else max(state[me, STILL] - 2.0 * step, 0.0)
        holds = stands and now < state[me, WAY_UNTIL]
        state[me, WEIGHT] = min(state[me, WEIGHT] + step, 1.0) if holds else max(state[me, WEIGHT] - step, 0.0)
        state[me, DRAWN] = drawn
        # sway, with phases and rates of its own
        size, t, p = math.radians(2.6) * state[me, STILL], 2.0 * math.pi * state[me, RATE] * now, state[me, PHASE]
        sway = roll = 0.0
        if size > 0.0:
            quick = 0.3 * math.sin(0.71 * t + 2.1 * p)
            sway = size * (0.7 * math.sin(0.17 * t + p) + quick)
            roll = size * (0.7 * math.sin(0.29 * t + 3.7 * p) + quick)
        yaw = state[me, YAW] - state[me, TRUNK]
        for k in range(FIRST_ARM):
            joint = gaze.joints[library, k]
            if joint < 0.0:
                continue
            about = state[me, TRUNK] if k == CHEST else (0.4 if k == NECK else 0.6) * yaw
            bow = 0.3 * roll if k == CHEST else (0.4 if k == NECK else 0.6) * state[me, PITCH] + 0.4 * roll
            about += (0.5 if k == CHEST else 0.8) * sway
            channels[row + k, 1], channels[row + k, 2], channels[row + k, 3] = 1.0, joint, row + k
            up, left = gaze.up, gaze.left
            _write(
                samples, row + k,
                about * up[library, k, 0] + bow * left[library, k, 0],
                about * up[library, k, 1] + bow * left[library, k, 1],
                about * up[library, k, 2] + bow * left[library, k, 2],
            )  # fmt: skip
        w = state[me, WEIGHT]
        if state[me, STILL] > 0.0 or w > 0.0:
            w = w * w * (3.0 - 2.0 * w)
            for part in range(PARTS - FIRST_ARM):
                k = FIRST_ARM + part
                if gaze.joints[library, k] >= 0.0:
                    more = size * (1.1 * math.sin(0.43 * t + p + 1.9 * part) + 0.45 * math.sin(1.1 * t + 2.3 * part))
                    channels[row + k, 1], channels[row + k, 2] = 1.0, gaze.joints[library, k]
                    channels[row + k, 3] = row + k
                    _write_arm(gaze, row + k, library, int(state[me, WAY]), part, w, more)
