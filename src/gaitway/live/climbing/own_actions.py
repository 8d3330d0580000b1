"""Actions of live characters that no library has: the clips of flights that are played now, after those of libraries.

Each flight has a place (slot) with room for `PARTS` clips. Their actions come after those of all libraries, so that
kernels need no change: they reserve, play and compare them as all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import IntArray, read_only
from gaitway.live.climbing.flights import BENT, PARTS, LiveFlight
from gaitway.live.planning.planner import LivePlanner
from gaitway.live.playing._crowd_kernels import GROUP, BodyArrays, CrowdArrays
from gaitway.live.playing._playing_kernels import LiveArrays
from gaitway.live.playing.arrays import LiveLibrary, library_of
from gaitway.live.playing.bodies import enclosing

_FIRST_SLOTS = 8
"""Number of flights that memory is first allocated for."""


class ClimbingParts(NamedTuple):
    """What those who climb see of the engine."""

    body: ArrayHandle[BodyArrays]
    crowd: ArrayHandle[CrowdArrays]
    live: Sequence[ArrayHandle[LiveArrays]]
    """The arrays with the options of each library."""
    libraries: Sequence[LiveLibrary]
    planners: Sequence[LivePlanner]
    bases: IntArray
    """For each action the one of a library that it was made from; (A,)."""
    time: float

    def library(self, me: int) -> LiveLibrary:
        """Return the library of a character."""
        return self.libraries[int(library_of(self.libraries, self.crowd.value.actions[me, -1:])[0])]


class OwnActions:
    """The clips of flights that are played now. This class is **mutable**.

    Attributes:
        flights: the flights by slot.
        slots: number of slots.
    """

    def __init__(self) -> None:
        self.flights: dict[int, LiveFlight] = {}
        self.slots = 0
        self._frames = 0

    @property
    def longest(self) -> float:
        """Duration of the longest clip that is played now [s]."""
        return max((part.duration for flight in self.flights.values() for part in flight.parts), default=0.0)

    def first(self, libraries: Sequence[LiveLibrary], slot: int) -> int:
        """Return the first action of a slot in the crowd."""
        return libraries[-1].end_action + PARTS * slot

    def prepare(self, libraries: Sequence[LiveLibrary], longest: int) -> None:
        """Make room for flights of libraries; (the longest clip of a flight has `longest` frames)."""
        steps = [int(library.prepared.table.frames[~library.prepared.table.idle].max()) + 1 for library in libraries]
        self._frames = max(self._frames, BENT * max(steps) + longest)
        self.reserve(libraries, max(self.slots, _FIRST_SLOTS))

    def reserve(self, libraries: Sequence[LiveLibrary], slots: int) -> None:
        """Make room for a number of flights, and write the frames of all again."""
        self.slots = slots
        for frames in {id(library.frames): library.frames for library in libraries}.values():
            frames.extend(slots * self._frames)
        for slot in self.flights:
            self._write(libraries, slot)

    def free_slot(self) -> int:
        """Return the first slot without a flight, which may be one that there is no room for yet."""
        return next(slot for slot in range(len(self.flights) + 1) if slot not in self.flights)

    def put(self, libraries: Sequence[LiveLibrary], flight: LiveFlight) -> bool:
        """Put a flight into its slot; return False if its clips are too long."""
        slot = flight.order.slot
        if sum(len(part.shown) for part in flight.parts) > self._frames:
            return False
        if slot >= self.slots:
            self.reserve(libraries, max(2 * self.slots, slot + 1))
        self.flights[slot] = flight
        self._write(libraries, slot)
        return True

    def extended(
        self, libraries: Sequence[LiveLibrary], body: BodyArrays, live: LiveArrays
    ) -> tuple[BodyArrays, LiveArrays, IntArray]:
        """Return the arrays of all libraries with the actions of flights after them.

        Returns:
            Bodies; what is played; and for each action the one of a library that it was made from; (A,).
        """
        count, more = libraries[-1].end_action, PARTS * self.slots
        bases = np.concatenate([np.arange(count), np.zeros(more, np.int64)])
        parts: dict[int, tuple[LiveLibrary, Any, int]] = {}
        for slot, flight in self.flights.items():
            library, row = libraries[flight.order.library], self._row(libraries, slot)
            for k, part in enumerate(flight.parts):
                number = count + PARTS * slot + k
                bases[number] = library.first_action + part.action
                parts[number] = library, part, row
                row += len(part.shown)
        rows = np.zeros((count + more + 1, count + more), np.int64)
        rows[:count, :count], rows[-1, :count] = live.rows[:count, :count], live.rows[-1, :count]
        clips = np.concatenate([live.clips[:count], np.zeros((more, 5))])
        for number, (library, part, row) in parts.items():
            # a flight ends in the pose of the walk, but at another height: nothing is blended after it
            flat = library.prepared.table.kind[part.action] < 0
            rows[number, :count] = live.rows[bases[number] if flat else -1, :count]
            rows[:, number] = row
            clips[number] = (*part.shown.planar_path()[0], len(part.shown), part.shown.fps * part.speed)
        extended = live._replace(rows=read_only(rows), clips=read_only(clips))
        return _bodies(body, count, more, parts, bases), extended, bases

    def _row(self, libraries: Sequence[LiveLibrary], slot: int) -> int:
        return libraries[self.flights[slot].order.library].frames.own + slot * self._frames

    def _write(self, libraries: Sequence[LiveLibrary], slot: int) -> None:
        flight, row = self.flights[slot], self._row(libraries, slot)
        for part in flight.parts:
            libraries[flight.order.library].frames.write(row, part.shown)
            row += len(part.shown)


def _bodies(
    body: BodyArrays, count: int, more: int, parts: Mapping[int, tuple[LiveLibrary, Any, int]], bases: IntArray
) -> BodyArrays:
    """Return the discs of all actions: those of libraries, and those of flights after them."""
    durations, arounds, windows, groups, discs = np.zeros(more), np.zeros((more, 3)), [], [], []
    window_counts, group_counts, disc_counts = np.zeros(more, np.int64), np.zeros(more, np.int64), []
    for number, (_, part, _) in sorted(parts.items()):
        own = np.array([(*times, *enclosing(some)) for times, some in zip(part.windows, part.discs, strict=True)])
        few = [own[k : k + GROUP] for k in range(0, len(own), GROUP)]
        k = number - count
        durations[k], arounds[k] = part.duration, enclosing(read_only(own[:, 2:]))
        window_counts[k], group_counts[k] = len(own), len(few)
        windows.append(own)
        groups.append(np.array([(g[0, 0], g[-1, 1], *enclosing(read_only(g[:, 2:]))) for g in few]))
        discs += list(part.discs)
        disc_counts += [len(some) for some in part.discs]
    owners = np.array([number in parts for number in range(count, count + more)], dtype=bool)
    base = bases[count:]
    return body._replace(
        durations=_more(body.durations[:count], durations),
        around=_more(body.around[:count], arounds),
        window_starts=_starts(body.window_starts[: count + 1], window_counts),
        windows=_more(body.windows[: body.window_starts[count]], *windows),
        groups=_more(body.groups[: body.group_starts[count]], *groups),
        group_starts=_starts(body.group_starts[: count + 1], group_counts),
        disc_starts=_starts(body.disc_starts[: body.window_starts[count] + 1], np.array(disc_counts, np.int64)),
        discs=_more(body.discs[: body.disc_starts[body.window_starts[count]]], *discs),
        still_around=_more(body.still_around[:count], np.zeros((more, 3))),
        still_starts=_starts(body.still_starts[: count + 1], np.zeros(more, np.int64)),
        states=_more(body.states[:count], np.where(owners, body.states[base], -1)),
        rests=_more(body.rests[:count], np.where(owners, body.rests[base], -1)),
        special=_more(body.special[:count], np.ones(more, np.int64)),
        libraries=_more(body.libraries[:count], body.libraries[base]),
    )


def _more(first: npt.NDArray[Any], *others: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return read_only(np.concatenate([first, *others]))


def _starts(first: IntArray, counts: IntArray) -> IntArray:
    return read_only(np.concatenate([first, first[-1] + np.cumsum(counts)]))
