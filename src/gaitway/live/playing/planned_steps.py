"""The plan of a live character as its steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gaitway.core.arrays import IntArray
from gaitway.live.playing._crowd_kernels import HEADING, TIME, CrowdArrays
from gaitway.live.playing._playing_kernels import COUNT, FIRST
from gaitway.live.playing.arrays import LiveLibrary, library_of
from gaitway.space.plan import LaidSteps, Plan


def planned_steps(crowd: CrowdArrays, libraries: Sequence[LiveLibrary], bases: IntArray, who: int) -> Plan:
    """Return what a character is about to do, from the move that it is in, and what that costs.

    Args:
        crowd: the characters.
        libraries: their libraries.
        bases: for each action the one of a library that it was made from; (A,).
        who: the character.
    """
    first, count = crowd.counts[who, [FIRST, COUNT]].tolist()
    played = bases[crowd.actions[who, first:count]]
    owners = library_of(libraries, played)
    own = played - np.array([library.first_action for library in libraries])[owners]
    library = libraries[int(library_of(libraries, crowd.actions[who, -1:])[0])]
    prepared = library.prepared
    rows = np.ones((count - first, 6))
    rows[:, :2], rows[:, 4] = crowd.steps[who, first:count, :2], own
    rows[:, 2], rows[:, 3] = crowd.steps[who, first:count, HEADING], crowd.steps[who, first:count, TIME]
    for number in np.unique(owners).tolist():  # moves at another pace
        mine = owners == number
        rows[mine, 5] = libraries[number].prepared.speeds[own[mine]] / prepared.speeds[own[mine]]
    if (
        len(bases) > libraries[-1].end_action
    ):  # without steps that only reserve ground on another floor: they come second
        rows = rows[np.append(True, np.diff(rows[:, 3]) != 0.0)]
    x, y, heading = crowd.steps[who, -1, [0, 1, HEADING]].tolist()
    end = rows[-1, 3] + float(libraries[int(owners[-1])].body.durations[int(rows[-1, 4])])
    steps = LaidSteps(rows, prepared.actions.names, prepared.table.clips, prepared.speeds)
    return Plan(steps, (x, y, heading), end, float(prepared.actions.costs[rows[:, 4].astype(np.int64)].sum()))
