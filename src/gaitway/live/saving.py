"""The state of a live crowd as plain values and arrays, to be saved and restored.

Only what cannot be made anew is kept. Reservations, poses and lengths of steps follow from plans and libraries, so they
are never read from a file. All that kernels trust is checked before it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gaitway.core.archives import ArchiveFormat, Arrays, Spec, counted, read_archive, write_archive
from gaitway.core.arrays import BoolArray, IntArray
from gaitway.live import _playing_kernels as playing
from gaitway.live._crowd_kernels import CHAIN, TIME, CrowdArrays
from gaitway.live.arrays import STEPS, LiveLibrary, library_of

FORMAT = ArchiveFormat("live crowd", 1)
_MOST_PLACES = 1_000_000
"""Largest number of places for characters in a file."""
_MOST_FIELDS = 1_000_000
"""Largest number of route fields in a file."""
_LONG_AGO = 1e-3
"""A step that is played may end before the time of the crowd by no more than this [s]."""


@dataclass(frozen=True, eq=False)
class LiveState:
    """The state of a live crowd: plain JSON values, and arrays by name. It does not change when the crowd goes on."""

    values: Mapping[str, Any]
    arrays: Arrays


def write_state(path: str | Path, state: LiveState) -> None:
    """Write a state to a file, which appears only when it is complete.

    Raises:
        FormatError: if the file cannot be written.
    """
    sizes = {name: list(array.shape) for name, array in state.arrays.items()}
    write_archive(path, FORMAT, {"values": dict(state.values), "sizes": sizes}, state.arrays)


def read_state(path: str | Path) -> LiveState:
    """Read a state; it is checked against a crowd only when it is restored.

    Raises:
        FormatError: if it is no state of a live crowd, is damaged or was edited.
    """

    def specs(header: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Spec]:
        places = counted(int(header["sizes"]["until"][0]), _MOST_PLACES, "places for characters")
        rows = STEPS + 1
        out: dict[str, Spec] = {
            "steps": ((places, rows, 6), "<f8"),
            "actions": ((places, rows), "<i4"),
            "counts": ((places, 14), "<i8"),
            "numbers": ((places, 6), "<f8"),
            "until": ((places,), "<f8"),
            "planned": ((places,), "|b1"),
            "tally": ((None,), "<i8"),
            "record": ((None, 7), "<f8"),
            "watched": ((places, 5), "<f8"),
        }
        libraries = counted(len(header["values"]["engine"]["planners"]), 1000, "libraries")
        return out | {f"routes_{k}": ((None, None, None), "<f4") for k in range(libraries)}

    def build(header: Mapping[str, Any], arrays: Arrays) -> LiveState:
        return LiveState(header["values"], arrays)

    return read_archive(path, FORMAT, specs, build)


def crowd_arrays(crowd: CrowdArrays) -> Arrays:
    """Return the arrays of a crowd that are saved."""
    chains = crowd.links.reshape(len(crowd.until), -1, 3)[:, :-1, CHAIN]
    kept = {name: getattr(crowd, name).copy() for name in ("steps", "actions", "counts", "numbers", "until")}
    return kept | {"planned": (chains >= 0).any(axis=1)}


def check_crowd(arrays: Arrays, libraries: list[LiveLibrary], routes: list[int], time: float) -> None:
    """Check all that kernels trust of saved characters.

    Args:
        arrays: saved arrays, see `crowd_arrays`.
        libraries: libraries of the crowd.
        routes: number of route fields of each library.
        time: time of the crowd [s].

    Raises:
        ValueError: if something cannot be.
    """
    counts, numbers, steps = arrays["counts"], arrays["numbers"], arrays["steps"]
    status = counts[:, playing.STATUS]
    _demand(np.isin(status, (playing.EMPTY, playing.GOING, playing.THERE)), "a status that there is not")
    _demand(counts[:, playing.LIFE] >= 0, "a negative number of characters before it")
    here = np.flatnonzero(status != playing.EMPTY)
    counts, numbers, steps, actions = counts[here], numbers[here], steps[here], arrays["actions"][here].astype(np.int64)
    first, count, fixed = (counts[:, column] for column in (playing.FIRST, playing.COUNT, playing.FIXED))
    _demand((first >= 0) & (first < count) & (count <= STEPS), "steps beyond its plan")
    _demand((first < fixed) & (fixed <= count), "fixed steps beyond its plan")
    rows = np.arange(STEPS + 1)
    used: BoolArray = ((rows >= first[:, None]) & (rows < count[:, None])) | (rows == STEPS)
    most = libraries[-1].end_action
    _demand(((actions >= 0) & (actions < most)) | ~used, "an action that no library has")
    earlier = counts[:, playing.EARLIER]
    _demand((earlier >= -1) & (earlier < most), "an earlier action that no library has")
    owner = library_of(libraries, actions[:, -1])
    _demand((library_of(libraries, actions) == owner[:, None]) | ~used, "actions of several libraries")
    _demand((library_of(libraries, np.maximum(earlier, 0)) == owner) | (earlier < 0), "actions of several libraries")
    _demand(np.isfinite(steps).all(axis=2) | ~used, "steps that are not finite")
    fields: IntArray = np.array(routes, np.int64)[owner]
    route = counts[:, playing.ROUTE]
    _demand((route >= -1) & (route < fields), "a route that there is not")
    _demand((counts[:, playing.SOURCE] >= 0) & (counts[:, playing.SOURCE] <= playing.BY_SEARCH), "a plan of no planner")
    _demand(counts[:, playing.SOUGHT] >= playing.FRESH, "fewer searches than none")
    _demand(counts[:, [playing.FAILS, playing.IDLE]] >= 0, "fewer failures than none")
    _demand(np.isin(counts[:, [playing.HELD, playing.ALARM]], (0, 1)), "a flag that is neither 0 nor 1")
    goal = numbers[:, [playing.GOAL_X, playing.GOAL_Y, playing.TOLERANCE]]
    _demand(np.isfinite(goal).all(axis=1) & (goal[:, 2] > 0.0), "a goal that is not finite")
    _demand(~np.isnan(numbers), "numbers that are none")
    durations = np.concatenate([library.body.durations for library in libraries])
    place = np.arange(len(here))
    ends = steps[place, first, TIME] + durations[actions[place, first]]
    _demand(ends > time - _LONG_AGO, "a step that ended long ago")


def check_tally(tally: IntArray, expected: int, places: int) -> None:
    """Check saved counters, see `LiveArrays.tally`.

    Raises:
        ValueError: if something cannot be.
    """
    if tally.shape != (expected,) or (tally < 0).any() or (tally[playing.CURSOR :] >= max(places, 1)).any():
        raise ValueError("counters that do not belong to this crowd")


def _demand(fine: Any, problem: str) -> None:
    if not np.all(fine):
        raise ValueError(f"a character with {problem}")
