"""Who is held up by somebody who stands goes around: to one side, and then to the other, for longer and longer."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray

HELD = 0.5
"""Time after which people go around somebody who stands [s]."""
_AROUND = 1.25
"""Angle by which they turn from their way [rad]."""
_OTHER_SIDE = 2.0
"""How long they go to one side at first [s]."""
_AMONG = 4.0
"""Time without progress after which people go around several who stand [s]."""


def who_goes_around(blockers: IntArray, since: FloatArray, walks: BoolArray, crowded: bool) -> BoolArray:
    """Return who goes around somebody, of people who have been held up for a while; (M,).

    Args:
        blockers: who is in the way of each; -1 for nobody, -2 for a wall; (M,).
        since: time since each has made progress [s]; (M,).
        walks: whether each of all people is on its way; (N,).
        crowded: whether several who stand may hold somebody up together, so that nobody in particular is in the way.
    """
    stands = (blockers >= 0) & ~walks[np.maximum(blockers, 0)]
    return np.asarray(stands | ((blockers == -1) & (since > _AMONG) & crowded))


def wishes_around(wishes: FloatArray, to: FloatArray, since: FloatArray) -> FloatArray:
    """Return wished velocities (M, 2) that are turned to the side that is nearer to the way [m/s].

    Args:
        wishes: wished velocities [m/s]; (M, 2).
        to: from each to who is in its way [m]; (M, 2).
        since: time since each has made progress [s]; (M,).
    """
    left = np.where(wishes[:, 0] * to[:, 1] - wishes[:, 1] * to[:, 0] > 0.0, -1.0, 1.0)
    # who does not get on that way after a while tries the other side
    turns = np.floor(np.log2(1.0 + since / _OTHER_SIDE))
    angle = np.where(turns % 2.0 == 1.0, -left, left) * _AROUND
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.column_stack([cosine * wishes[:, 0] - sine * wishes[:, 1], sine * wishes[:, 0] + cosine * wishes[:, 1]])
