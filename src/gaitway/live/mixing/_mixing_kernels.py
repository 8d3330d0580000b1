"""Places that people in a throng take up in the table of reservations, on plain arrays."""

from __future__ import annotations

import math

import numpy as np

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.jit import kernel
from gaitway.live.playing._crowd_kernels import (
    COSINE,
    HEADING,
    SINE,
    TIME,
    BodyArrays,
    CrowdArrays,
    X,
    Y,
    link,
    unlink,
)
from gaitway.live.playing._playing_kernels import COUNT, FIRST, FIXED, READY

# columns of the places
PLACE_X, PLACE_Y, WAY, AHEAD, FAST = range(5)
"""x, y [m], direction of the way or of the trunk [rad], how far ahead somebody will soon be [m], and whether that is as
fast as a gait (1), slower (0), or not at all (-1)."""


@kernel(borrows=True)
def keep_places(
    body_handle: ArrayHandle[BodyArrays],
    crowd_handle: ArrayHandle[CrowdArrays],
    who: IntArray,
    places: FloatArray,
    rests: IntArray,
    walks: IntArray,
    now: float,
) -> None:
    """Reserve where people in a throng are and will soon be, in place of all that they had reserved before.

    Somebody who walks as fast as a gait reserves one move of it and rests after that; others rest where they will be.
    Nobody of them plans or is played.

    Args:
        body_handle: discs of the actions.
        crowd_handle: the characters.
        who: their numbers; (N,).
        places: see `PLACE_X` and the others; (N, 5).
        rests: action that each stands by; (N,).
        walks: action that each walks by; (N,).
        now: time now [s].
    """
    body, crowd = body_handle.value, crowd_handle.value
    steps, actions, counts, rows = crowd.steps, crowd.actions, crowd.counts, crowd.steps.shape[1]
    for n in range(len(who)):
        me, end = who[n], rows - 1
        for k in range(rows):
            unlink(crowd, me * rows + k)
        x, y, heading = places[n, PLACE_X], places[n, PLACE_Y], places[n, WAY]
        c, s, moves = math.cos(heading), math.sin(heading), places[n, FAST] >= 0.0
        actions[me, 0], actions[me, end] = walks[n] if moves else rests[n], rests[n]
        later = now + (body.durations[walks[n]] if moves else 0.0)
        for k in (0, 1, end):
            far = places[n, AHEAD] if k > 0 else 0.0
            steps[me, k, X], steps[me, k, Y] = x + far * c, y + far * s
            steps[me, k, COSINE], steps[me, k, SINE], steps[me, k, HEADING] = c, s, heading
            steps[me, k, TIME] = later if k > 0 else now
        actions[me, 1] = rests[n]
        counts[me, FIRST], counts[me, COUNT], counts[me, FIXED] = 0, 2 if moves else 1, 1
        crowd.numbers[me, READY], crowd.until[me] = np.inf, np.inf
        if places[n, FAST] > 0.0:
            link(body, crowd, me, 0)
        else:
            steps[me, end, TIME] = now
        link(body, crowd, me, end)
