"""Walked turns: strides in place of a stop that waits for nobody, at the same times before and after.

A stop in mid-way that only turns, or only loses time, looks lost. People walk through the turn and go a little slower
before and after it. The steps about the stop take up the time that it took, so that everything else stays as planned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement

import numpy as np

from gaitway.library.actions import stays
from gaitway.space._check_kernels import MOST_STRETCH
from gaitway.space.plan import PlanStep
from gaitway.space.prepared import PreparedLibrary

_MOST = 4
"""Greatest number of strides in place of a stop."""
_BESIDE = (5, 3)
"""Numbers of steps before and after a stop that take up its time together, the first that can."""
_TRIED = 2
"""Number of rows of strides that are tried for each of them."""
_STRIDE, _STRAIGHT = 0.4, 0.1
"""Least length of a stride [m], and the greatest turn of a straight one [rad]."""
_LENGTHS = (0.95, 1.12)
"""Least and greatest length of all steps together over that of the way that they are to go; they are bent to fit."""
_FASTER, _SLOWER = 0.97, 1.2
"""Least and greatest factor on the durations of steps: nobody hurries where there was a stop, and who goes on at the
usual pace after slower steps must not seem to be pushed."""


@dataclass(frozen=True, eq=False)
class WalkedTurn:
    """Steps without a stop."""

    first: int
    """Number of the first step that they take the place of."""
    end: int
    """Number of the step after the last of these."""
    steps: tuple[PlanStep, ...]
    """The steps at their times; their poses do not count."""


def needless_stops(prepared: PreparedLibrary, steps: Sequence[PlanStep]) -> list[tuple[int, int]]:
    """Return the first and end numbers of steps that stop and set off again in the same gait without a wait."""
    table, found, first = prepared.table, list[tuple[int, int]](), None
    actions = [table.clips.index(step.clip) for step in steps]
    for number, action in enumerate(actions):
        rests, rested = table.rest[table.end_state[action]], table.rest[table.start_state[action]]
        if rests and not rested:
            first = number
        elif first is not None and rested and not rests:
            if table.end_state[action] == table.start_state[actions[first]]:
                found.append((first, number + 1))
            first = None
        elif not (rests and rested) or stays(prepared.library.clips[steps[number].clip]):
            first = None
    return found


def walked_turns(
    prepared: PreparedLibrary, steps: Sequence[PlanStep], stop: tuple[int, int], way: float
) -> Iterator[WalkedTurn]:
    """Yield steps that may take the place of a stop and of some steps about it, the gentlest first.

    Args:
        prepared: library of the character, at its own pace.
        steps: the steps.
        stop: first and end number of the stop.
        way: length of the way during the stop [m].
    """
    table = prepared.table
    gait = int(table.start_state[table.clips.index(steps[stop[0]].clip)])
    strides = _strides(prepared, gait)
    for beside in _BESIDE:
        first, end = stop
        while first > max(stop[0] - beside, 0) and _paced(prepared, steps[first - 1], gait):
            first -= 1
        while end < min(stop[1] + beside, len(steps) - 1) and _paced(prepared, steps[end], gait):
            end += 1
        about = [*range(first, stop[0]), *range(stop[1], end)]
        if not about or end == len(steps):
            return
        lasts = steps[end].time - steps[first].time
        own = [table.clips.index(steps[k].clip) for k in about]
        goes = way + float(np.hypot(table.moves[own, 0], table.moves[own, 1]).sum())
        before = stop[0] - first
        rows = []
        for count in range(1, _MOST + 1):
            for some in combinations_with_replacement(strides, count):
                row = [*own[:before], *some, *own[before:]]
                length = float(np.hypot(table.moves[row, 0], table.moves[row, 1]).sum())
                slower = lasts / float((table.durations[row] / prepared.speeds[row]).sum())
                most = min(_SLOWER, float(prepared.actions.arrays.actions[row, MOST_STRETCH].min()))
                if _LENGTHS[0] <= length / goes <= _LENGTHS[1] and _FASTER <= slower <= most:
                    rows.append((round(abs(np.log(length / goes)), 6), row, slower))
        for _, row, slower in sorted(rows)[:_TRIED]:
            yield WalkedTurn(first, end, _timed(prepared, steps[first], row, slower))


def _timed(prepared: PreparedLibrary, first: PlanStep, row: Sequence[int], slower: float) -> tuple[PlanStep, ...]:
    """Return the steps of actions one after another, all slower by a factor."""
    table, time, out = prepared.table, first.time, []
    for action in row:
        speed = float(prepared.speeds[action]) / slower
        name = table.behaviors[table.behavior[action]]
        out.append(replace(first, behavior=name, clip=table.clips[action], time=time, speed=speed))
        time += float(table.durations[action]) / speed
    return tuple(out)


def _paced(prepared: PreparedLibrary, step: PlanStep, gait: int) -> bool:
    """Return whether a step belongs to a gait and may be played slower."""
    table, action = prepared.table, prepared.table.clips.index(step.clip)
    goes = table.start_state[action] == gait and table.end_state[action] == gait and table.kind[action] < 0
    return bool(goes and np.hypot(*table.moves[action, :2]) >= _STRIDE)


def _strides(prepared: PreparedLibrary, gait: int) -> list[int]:
    """Return the actions that go straight ahead in a gait, one of each behaviour."""
    table = prepared.table
    ahead = (table.start_state == gait) & (table.end_state == gait) & (table.kind < 0)
    ahead &= (table.moves[:, 0] >= _STRIDE) & (np.abs(table.moves[:, 2]) < _STRAIGHT)
    found: dict[int, int] = {}
    for action in np.flatnonzero(ahead).tolist():
        found.setdefault(int(table.behavior[action]), action)
    return list(found.values())
