"""The state of a live crowd as plain values and arrays, to be saved and restored.

Only what cannot be made anew is kept. Reservations, poses and lengths of steps follow from plans and libraries, so they
are never read from a file. All that kernels trust is checked before it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from gaitway.core.archives import (
    ArchiveFormat,
    Arrays,
    FileHeader,
    Header,
    Spec,
    checked,
    counted,
    read_archive,
    write_archive,
)
from gaitway.core.arrays import BoolArray, IntArray
from gaitway.library.size import SIZES
from gaitway.live.playing import _playing_kernels as playing
from gaitway.live.playing._crowd_kernels import CHAIN, COSINE, SINE, TIME, CrowdArrays
from gaitway.live.playing._gaze_kernels import COLUMNS
from gaitway.live.playing.arrays import STEPS, LiveLibrary, library_of

FORMAT = ArchiveFormat("live crowd", 1)
_MOST_PLACES = 1_000_000
"""Largest number of places for characters in a file."""
_LONG_AGO = 1e-3
"""A step that is played may end before the time of the crowd by no more than this [s]."""
LASTING = "lasting"
"""Name of the array of how long the steps last that characters are in, if these are of no library [s]; else NaN."""
_FARTHEST = 1e6
"""Largest coordinate of a step or a goal [m]."""
_AHEAD = 1e5
"""Time ahead of the crowd by which all steps of a plan have begun [s]."""
LATEST = 1e9
"""Latest time of a crowd [s]: thirty years."""
_SHOWN = {"times": "<f8", "groups": "<i8", "sizes": "<i8", "who": "<i8", "roots": "<f4", "down": "|b1"}
"""Types of the arrays of what was shown of a throng, see `mixing.recording`."""

_Finite = Annotated[float, Field(ge=-LATEST, le=LATEST)]
_Whole = Annotated[int, Field(ge=-(2**53), le=2**53)]


class LibraryRow(Header):
    """A reference to a library, and with which speed it is used."""

    cast: str
    style: str | int | None
    takes: Annotated[int, Field(ge=1, le=100)]
    seed: _Whole
    file: str
    size: Annotated[float, Field(ge=SIZES[0], le=SIZES[1])] = 1.0
    speed: str | Annotated[float, Field(gt=0.0, le=1000.0)] = "normal"


class LibrariesHeader(Header):
    """Libraries of a crowd in a header."""

    special: list[str]
    kinds: Annotated[list[LibraryRow], Field(max_length=1000)]
    names: list[Annotated[tuple[str, LibraryRow], Field(strict=False)]]


class PlacesHeader(Header):
    """Obstacles and movers of a world: numbers of those that it began with, and new ones in full."""

    obstacles: list[_Whole | dict[str, Any]]
    movers: list[_Whole | dict[str, Any]]


class WorldHeader(Header):
    """The world of a crowd in a header, with the numbers of its things and the next number."""

    world: PlacesHeader
    obstacles: Annotated[tuple[list[_Whole], _Whole], Field(strict=False)]
    movers: Annotated[tuple[list[_Whole], _Whole], Field(strict=False)]


class MoversHeader(Header):
    """How far ahead movers are known, in a header."""

    until: _Finite
    slots: _Whole
    next: _Whole
    last: _Whole


class RoutesHeader(Header):
    """Route fields in a header."""

    cells: list[Annotated[tuple[_Whole, _Whole, _Whole], Field(strict=False)]]
    waiting: list[Annotated[tuple[_Whole, _Finite, _Finite], Field(strict=False)]]
    made: list[_Whole]
    spare: list[_Whole] = Field(default_factory=list)


class SearchHeader(Header):
    """A search that goes on in slices, in a header."""

    nodes: _Whole
    ready: bool
    movers: MoversHeader | None


class StuckHeader(Header):
    """What is known of stuck characters, in a header."""

    left: _Whole
    latest: _Whole
    looked: _Whole
    search: SearchHeader


class PlannerHeader(Header):
    """The planner of a library in a header."""

    hurried: _Whole
    unchanged: bool
    routes: RoutesHeader
    movers: MoversHeader
    stuck: StuckHeader


class SimulationHeader(Header):
    """The dynamics of a throng in a header."""

    tick: Annotated[int, Field(ge=0, le=2**53)]
    next: Annotated[int, Field(ge=0, le=2**53)]


class MixtureHeader(Header):
    """A throng in a header."""

    next_look: _Finite
    simulation: SimulationHeader | None


class ClimbingHeader(Header):
    """Ways over floors in a header."""

    next: Annotated[int, Field(ge=0, le=2**53)]
    slots: Annotated[int, Field(ge=0, le=1_000_000)]
    searches: Annotated[list[SearchHeader], Field(max_length=1000)]


class EngineHeader(Header):
    """The engine of a crowd in a header."""

    time: _Finite
    start_time: _Finite
    rng: dict[str, Any]
    libraries: list[str]
    planners: Annotated[list[PlannerHeader], Field(max_length=1000)]
    mixture: MixtureHeader | None = None
    climbing: ClimbingHeader | None = None


class RosterHeader(Header):
    """Names of characters in a header."""

    next: _Whole
    characters: list[Annotated[tuple[_Whole, _Whole, str], Field(strict=False)]]
    lives: list[Annotated[tuple[_Whole, _Whole, str], Field(strict=False)]]


class CrowdHeader(Header):
    """All values of a live crowd."""

    engine: EngineHeader
    libraries: LibrariesHeader
    base: PlacesHeader
    world: WorldHeader
    roster: RosterHeader
    held: dict[
        Annotated[str, Field(pattern=r"^[0-9]{1,15}$")],
        Annotated[tuple[_Finite, _Finite, _Finite], Field(strict=False)],
    ]


class StateHeader(FileHeader):
    """The header of a saved crowd."""

    values: CrowdHeader
    sizes: dict[str, list[int]]


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
        checked(StateHeader, header)
        places = counted(header["sizes"]["until"][0], _MOST_PLACES, "places for characters")
        rows = STEPS + 1
        out: dict[str, Spec] = {
            "steps": ((places, rows, 6), "<f8"),
            "actions": ((places, rows), "<i4"),
            "counts": ((places, 14), "<i8"),
            "numbers": ((places, 6), "<f8"),
            "until": ((places,), "<f8"),
            "planned": ((places,), "|b1"),
            "tally": ((None,), "<i8"),
            "gaze": ((places, COLUMNS), "<f8"),
            "record": ((None, 7), "<f8"),
            "watched": ((places, 5), "<f8"),
        }
        if header["values"]["engine"].get("climbing") is not None:
            out |= {"legs": ((places, 6), "<f8"), "orders": ((None, None), "<f8")}
        libraries = len(header["values"]["engine"]["planners"])
        for name, size in header["sizes"].items():
            if name.startswith("mixture_"):
                out[name] = ((None,) * len(size), _type_of(name))
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
    shared = np.array([next(k for k, one in enumerate(libraries) if one.frames is some.frames) for some in libraries])
    mine = shared[owner]  # the same clips at another pace are those of another library
    _demand((shared[library_of(libraries, actions)] == mine[:, None]) | ~used, "actions of several libraries")
    _demand(
        (shared[library_of(libraries, np.maximum(earlier, 0))] == mine) | (earlier < 0), "actions of several libraries"
    )
    _demand(np.isfinite(steps).all(axis=2) | ~used, "steps that are not finite")
    _demand((np.abs(steps[..., :2]).max(axis=2) <= _FARTHEST) | ~used, "steps too far away")
    _demand((np.abs(np.hypot(steps[..., COSINE], steps[..., SINE]) - 1.0) < 1e-3) | ~used, "headings that are none")
    _demand((steps[..., TIME] <= time + _AHEAD) | ~used, "steps too far ahead")
    later = np.diff(steps[..., TIME], axis=1) >= -_LONG_AGO
    _demand(later | ~(used[:, :-1] & used[:, 1:] & (rows[1:] < STEPS)), "steps that are not one after another")
    fields: IntArray = np.array(routes, np.int64)[owner]
    route = counts[:, playing.ROUTE]
    _demand((route >= -1) & (route < fields), "a route that there is not")
    _demand((counts[:, playing.SOURCE] >= 0) & (counts[:, playing.SOURCE] <= playing.BY_SEARCH), "a plan of no planner")
    _demand(counts[:, playing.SOUGHT] >= playing.FRESH, "fewer searches than none")
    _demand(counts[:, [playing.FAILS, playing.IDLE]] >= 0, "fewer failures than none")
    _demand(np.isin(counts[:, [playing.HELD, playing.ALARM]], (0, 1)), "a flag that is neither 0 nor 1")
    goal = numbers[:, [playing.GOAL_X, playing.GOAL_Y, playing.TOLERANCE]]
    _demand(np.isfinite(goal).all(axis=1) & (goal[:, 2] > 0.0), "a goal that is not finite")
    _demand(np.abs(goal) <= _FARTHEST, "a goal too far away")
    _demand(~np.isnan(numbers), "numbers that are none")
    durations = np.concatenate([library.body.durations for library in libraries])
    place = np.arange(len(here))
    lasting = arrays[LASTING][here] if LASTING in arrays else np.full(len(here), np.nan)
    lasting = np.where(np.isnan(lasting), durations[actions[place, first]], lasting)
    ends = steps[place, first, TIME] + lasting
    _demand(ends > time - _LONG_AGO, "a step that ended long ago")


def check_tally(tally: IntArray, expected: int, places: int) -> None:
    """Check saved counters, see `LiveArrays.tally`.

    Raises:
        ValueError: if something cannot be.
    """
    if tally.shape != (expected,) or (tally < 0).any() or (tally[playing.CURSOR :] >= max(places, 1)).any():
        raise ValueError("counters that do not belong to this crowd")


def _type_of(name: str) -> str:
    """Return the type of an array of a throng: numbers, or what was shown of it."""
    _, _, kept = name.partition("mixture_record_")
    return "<i2" if kept.startswith("turns_") else _SHOWN.get(kept, "<f8")


def _demand(fine: Any, problem: str) -> None:
    if not np.all(fine):
        raise ValueError(f"a character with {problem}")
