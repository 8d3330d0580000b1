"""Another pace for a live character that is on its way: the moves of its plan as another library plays the same clips."""

from __future__ import annotations

import numpy as np

from gaitway.live.climbing.own_actions import ClimbingParts
from gaitway.live.playing import _playing_kernels as playing
from gaitway.live.playing._crowd_kernels import TIME
from gaitway.live.playing.arrays import library_of

_LEAST = 2
"""Least number of moves of a plan that is changed: the one that is played stays."""


def change_pace(parts: ClimbingParts, me: int, number: int) -> bool:
    """Let a character go on at the pace of another library of the same clips, from its next move on.

    All moves are tested at their new times. Where not all are free, the plan ends after the last one with room to rest.

    Args:
        parts: what there is.
        me: the character, which walks.
        number: number of the library.

    Returns:
        Whether it walks at that pace now. If not, nothing has changed: it stands, comes to rest after this move, waits
        for a search, or others would be in the way.
    """
    crowd, libraries, body = parts.crowd.value, parts.libraries, parts.body.value
    counts, numbers, actions = crowd.counts, crowd.numbers, crowd.actions
    first, count = counts[me, [playing.FIRST, playing.COUNT]].tolist()
    own, wanted = int(library_of(libraries, actions[me, -1:])[0]), libraries[number]
    if own == number:
        return True
    planned = actions[me, first:count].astype(np.int64)
    if libraries[own].frames is not wanted.frames or (library_of(libraries, planned) != own).any():
        return False
    held = counts[me, playing.HELD] != 0 or counts[me, playing.ALARM] != 0
    if held or counts[me, playing.STATUS] != playing.GOING or len(planned) < _LEAST or body.rests[planned[0]] >= 0:
        return False
    fixed, ready = int(counts[me, playing.FIXED]), float(numbers[me, playing.READY])
    counts[me, playing.FIXED] = first + 1
    moved = planned[1:] + (wanted.first_action - libraries[own].first_action)
    taken = parts.planners[number].install_path(parts.body, parts.crowd, parts.live[number], me, moved)
    if taken == 0:
        counts[me, playing.FIXED] = fixed
        return False
    if taken < len(moved) or np.isfinite(ready):  # it goes on from the first move at the new pace
        counts[me, playing.FIXED] = max(fixed - first, _LEAST) if taken == len(moved) else _LEAST
        numbers[me, playing.READY] = crowd.steps[me, 1, TIME]
    goal = numbers[me, [playing.GOAL_X, playing.GOAL_Y]]
    counts[me, playing.ROUTE] = int(parts.planners[number].routes.numbers(goal[None])[0])
    return True
