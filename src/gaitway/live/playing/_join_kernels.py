"""Layers of a live crowd on plain arrays: the turns of gaze and arms, and behind them those of joins."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.live.playing._crowd_kernels import Small
from gaitway.live.playing._playing_kernels import EARLIER, EMPTY, FIRST, STATUS
from gaitway.take._kernels import CHANNEL_JOINT, CHANNEL_LENGTH, CHANNEL_ROW, CHANNEL_START, START

Single = npt.NDArray[np.float32]

NONE, UNKNOWN = -1, -2
"""Instead of the row of a join: bodies do not differ, or nobody has looked yet."""


@kernel
def find_joins(
    counts: IntArray,
    actions: Small,
    table: FloatArray,
    clips: IntArray,
    own: IntArray,
    first_action: int,
    end_action: int,
    known: IntArray,
    now: float,
    window: float,
    pairs: IntArray,
    shares: FloatArray,
) -> int:
    """Find who is led on from one clip of a library into another now, and how far.

    Args:
        counts: columns of `_playing_kernels` of all characters; (C, 14).
        actions: action of each step; (C, K).
        table: the actions that are played; (C, 12).
        clips: first row of each action's clip after each action, and after none; (A + 1, A).
        own: number of each action in its library; (A,).
        first_action: first action of the library.
        end_action: action after its last one.
        known: a number for each pair of its clips, ascending, and the row of its join or `NONE`; (P, 2).
        now: time [s].
        window: time over which bodies are led on [s].
        pairs: receives the rows of the joins, or `UNKNOWN`, of those who are led on; (C,).
        shares: receives the share of the turns that is left; (C,).

    Returns:
        Number of characters whose join is unknown.
    """
    missing = 0
    for c in range(len(counts)):
        if counts[c, STATUS] == EMPTY:
            continue
        action, earlier = np.int64(actions[c, counts[c, FIRST]]), counts[c, EARLIER]
        since = now - table[c, START]
        if not first_action <= action < end_action or earlier < 0 or not 0.0 <= since < window:
            continue
        if clips[earlier, action] != clips[len(clips) - 1, action]:
            continue  # blended frames are prepared for this pair
        pair = own[earlier] * (end_action - first_action) + own[action]
        low, high = 0, len(known)
        while low < high:
            middle = (low + high) >> 1
            if known[middle, 0] < pair:
                low = middle + 1
            else:
                high = middle
        if low < len(known) and known[low, 0] == pair:
            pairs[c] = known[low, 1]
        else:
            pairs[c] = UNKNOWN
            missing += 1
        t = since / window
        shares[c] = 1.0 - t * t * (3.0 - 2.0 * t)
    return missing


@kernel
def count_channels(gaze: FloatArray, pairs: IntArray, joints: IntArray, rows: IntArray) -> None:
    """Find where the channels of each character begin.

    Args:
        gaze: channels of gaze and arms, as many for each character; (G C, 4). Those of length 0 are left out.
        pairs: the join that each character is in, or -1; (C,).
        joints: joints that each join turns, or -1; (P, U).
        rows: receives where the channels of each character begin, and where the last ones end; (C + 1,).
    """
    count = len(pairs)
    each = len(gaze) // max(count, 1)
    rows[0] = 0
    for c in range(count):
        own = 0
        for k in range(c * each, (c + 1) * each):
            own += gaze[k, CHANNEL_LENGTH] > 0.0
        if pairs[c] >= 0:
            for u in range(joints.shape[1]):
                own += joints[pairs[c], u] >= 0
        rows[c + 1] = rows[c] + own


@kernel
def write_channels(
    gaze: FloatArray,
    looks: Single,
    pairs: IntArray,
    shares: FloatArray,
    joints: IntArray,
    turns: FloatArray,
    now: float,
    rows: IntArray,
    channels: FloatArray,
    samples: Single,
    low: int,
    high: int,
) -> None:
    """Write the channels of the characters from `low` to `high` and their samples, one each.

    Args:
        gaze: see `count_channels`.
        looks: samples of these, wxyz; (G C, 4, 1).
        pairs: see `count_channels`.
        shares: share of the turns of its join that each character has; (C,).
        joints: see `count_channels`.
        turns: turns of the joins: unit axis, and half of the angle [rad]; (P, U, 4).
        now: time [s].
        rows: from `count_channels`; (C + 1,).
        channels: receives them; (R, 4).
        samples: receives turns wxyz; (R, 4, 1).
        low: first character.
        high: character after the last one.
    """
    each = len(gaze) // max(len(pairs), 1)
    for c in range(low, high):
        row = rows[c]
        for k in range(c * each, (c + 1) * each):
            if gaze[k, CHANNEL_LENGTH] > 0.0:
                channels[row, CHANNEL_JOINT] = gaze[k, CHANNEL_JOINT]
                look = int(gaze[k, CHANNEL_ROW])
                for i in range(4):
                    samples[row, i, 0] = looks[look, i, 0]
                row += 1
        pair = pairs[c]
        if pair >= 0:
            for u in range(joints.shape[1]):
                if joints[pair, u] < 0:
                    continue
                half = shares[c] * turns[pair, u, 3]
                sine = math.sin(half)
                samples[row, 0, 0] = math.cos(half)
                for i in range(3):
                    samples[row, i + 1, 0] = sine * turns[pair, u, i]
                channels[row, CHANNEL_JOINT] = joints[pair, u]
                row += 1
        for r in range(rows[c], row):
            channels[r, CHANNEL_START], channels[r, CHANNEL_LENGTH], channels[r, CHANNEL_ROW] = now, 1.0, r
