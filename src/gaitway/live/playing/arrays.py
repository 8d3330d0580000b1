"""Arrays of a live crowd: the libraries side by side, and memory for plans that grows with the crowd.

Characters of several libraries share one table of reservations, so every character sees the plans of all others. For
this the actions of all libraries are numbered one after another: action `a` of a library is action `first_action + a`
of the crowd. Arrays that kernels index by action begin with unused rows up to `first_action`; kernels need no change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, read_only
from gaitway.library.body_discs import BodyDiscs
from gaitway.live.options import LiveOptions
from gaitway.live.playing._crowd_kernels import BodyArrays, CrowdArrays, Small
from gaitway.live.playing._playing_kernels import LiveArrays
from gaitway.live.playing.bodies import LiveFrames
from gaitway.space._check_kernels import ActionArrays
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.query import Query, ask
from gaitway.space.similar_clips import SimilarClips
from gaitway.tree.building.default_moves import gaits
from gaitway.tree.query._query_kernels import TreeArrays

STEPS = 48
"""Largest number of steps of a plan, those included that are being played."""
_LEAST_CHAINS = 1024
"""Smallest number of chains of the table of reservations; a power of two."""
SEEDS = 1 << 30
"""Number of seeds that kernels tell apart."""
_TURNS = ((1.0, -0.04), (1.0, 0.45), (1.0, -0.45), (0.5, 0.0), (0.5, 0.9), (0.5, -0.9), (1.0, 0.9), (1.0, -0.9),
          (0.3, 0.0), (0.3, 1.4), (0.3, -1.4), (0.5, 2.4), (0.5, -2.4))  # fmt: skip
"""Directions in which characters try to go: share of the distance to the sub-goal, and angle to the left [rad]. The
first is almost straight on: so little to the right that a lone character goes straight, and two that meet pass each
other on the right."""
LEAST_TALLY = 16
"""Least length of `LiveArrays.tally`."""


class BodyExtent(NamedTuple):
    """How far the bodies of a library reach; lengths in metres."""

    widest: float
    """Largest radius of the disc of an action or of a character at rest."""
    turning: float
    """Distance from the root within which a character turns on the spot."""
    resting: float
    """Distance from the root within which a character rests."""
    off: float
    """Largest distance between the root of a character at rest and the middle of its disc."""


class LiveLibrary:
    """One library of a live crowd, and the place of its actions among those of all libraries.

    Attributes:
        number: number of the library in the crowd.
        first_action: number of its first action in the crowd.
        first_state: number of its first planner state in the crowd.
        prepared: the library, prepared for planning.
        frames: the frames that its characters play.
        body: discs of its actions, by their own numbers.
        crowd: all libraries of the crowd, this one included. The list is shared and grows.
    """

    def __init__(
        self, prepared: PreparedLibrary, frames: LiveFrames, body: BodyArrays, crowd: list[LiveLibrary]
    ) -> None:
        """Put a library after the others of a crowd; the caller appends it to the list."""
        self.prepared, self.frames, self.body, self.crowd = prepared, frames, body, crowd
        self.number = len(crowd)
        self.first_action: int = crowd[-1].end_action if crowd else 0
        self.first_state: int = crowd[-1].end_state if crowd else 0
        self.extent = BodyExtent(0.0, 0.0, 0.0, 0.0)
        self._wider: dict[float, BodyDiscs] = {}

    @property
    def end_action(self) -> int:
        """Number of the action of the crowd after the last one of this library."""
        return self.first_action + len(self.prepared.table)

    @property
    def end_state(self) -> int:
        """Number of the planner state of the crowd after the last one of this library."""
        return self.first_state + len(self.prepared.actions.states)

    @cached_property
    def discs(self) -> BodyDiscs:
        """The discs of the library with a disc about the root in every window, as live characters keep them clear."""
        body = self.body
        return replace(
            self.prepared.discs,
            timed=body.discs,
            timed_starts=body.disc_starts,
            window_around=read_only(body.windows[:, 2:]),
            around=body.around,
        )

    def wider_discs(self, more: float) -> BodyDiscs:
        """Return the same discs with larger radii, by a length [m]."""
        if more not in self._wider:
            found, wider = self.discs, np.array([0.0, 0.0, more])
            self._wider[more] = replace(
                found, timed=read_only(found.timed + wider), window_around=read_only(found.window_around + wider),
                around=read_only(found.around + wider),
            )  # fmt: skip
        return self._wider[more]

    @cached_property
    def clips(self) -> FloatArray:
        """Pose of the first frame of each action's clip, number of frames, and rate at which it is played; (A, 5)."""
        rates = self.frames.clips[:, 4:] * self.prepared.speeds[:, None]
        return read_only(np.hstack([self.frames.clips[:, :4], rates]))

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the actions, their costs and their frames, in hexadecimal digits."""
        table, total = self.prepared.table, hashlib.sha256()
        total.update("\n".join(table.clips).encode())
        frames = self.frames.pool[: self.frames.own]
        for array in (table.moves, self.body.durations, self.prepared.actions.costs, frames):
            total.update(np.ascontiguousarray(array).tobytes())
        return total.hexdigest()

    def actions(self) -> ArrayHandle[ActionArrays]:
        """Return the actions for kernels, by their numbers in the crowd."""
        if self.first_action == 0:
            return self.prepared.actions.handle
        arrays, first = self.prepared.actions.arrays, self.first_action
        padded = arrays._replace(actions=_after(arrays.actions, first), firsts=_after(arrays.firsts, first))
        return ArrayHandle(padded)

    def passing(self, kinds: ArrayHandle[IntArray]) -> ArrayHandle[IntArray]:
        """Return the obstacle kinds that actions pass (see `PreparedActions.passing`), by numbers in the crowd."""
        return kinds if self.first_action == 0 else ArrayHandle(_after(kinds.value, self.first_action))

    def tree(self, arrays: TreeArrays) -> TreeArrays:
        """Return a tree whose moves name the actions by their numbers in the crowd."""
        if self.first_action == 0:
            return arrays
        return arrays._replace(
            actions=read_only(arrays.actions + self.first_action), rests=_shifted(arrays.rests, self.first_action)
        )

    def owns(self, crowd: CrowdArrays) -> BoolArray:
        """Return which places belong to characters of this library, empty places aside; (C,)."""
        if len(self.crowd) == 1:
            return np.ones(len(crowd.until), np.bool_)
        resting = crowd.actions[:, -1]
        out: BoolArray = (resting >= self.first_action) & (resting < self.end_action)
        return out

    def apart(self, other: LiveLibrary) -> float:
        """Return the distance between roots at rest at which a character of each library can turn [m]."""
        mine, theirs = self.extent, other.extent
        return max(mine.turning + theirs.resting, theirs.turning + mine.resting)


def grouped(libraries: Sequence[LiveLibrary], numbers: npt.NDArray[Any]) -> list[tuple[LiveFrames, IntArray]]:
    """Return the frames that characters play, and the rows of those who play them, by numbers of libraries (N,)."""
    if len(libraries) == 1:
        return [(libraries[0].frames, np.arange(len(numbers)))]
    groups: dict[int, tuple[LiveFrames, list[IntArray]]] = {}
    for number in np.unique(numbers).tolist():
        frames = libraries[int(number)].frames
        groups.setdefault(id(frames), (frames, []))[1].append(np.flatnonzero(numbers == number))
    return [(frames, np.sort(np.concatenate(rows))) for frames, rows in groups.values()]


def library_of(libraries: Sequence[LiveLibrary], actions: IntArray | Small) -> IntArray:
    """Return the numbers of the libraries that actions of a crowd belong to."""
    firsts = [library.first_action for library in libraries]
    return np.searchsorted(firsts, actions, side="right").astype(np.int64) - 1


def body_extent(body: BodyArrays, used: IntArray, on_the_spot: IntArray) -> BodyExtent:
    """Return how far bodies reach.

    Args:
        body: discs of the actions.
        used: actions that occur in plans.
        on_the_spot: actions among them that begin and end at rest, such as turns.
    """
    return BodyExtent(
        widest=float(max(body.around[used, 2].max(), body.still_around[used, 2].max())),
        turning=_farthest(body.around[on_the_spot]),
        resting=_farthest(body.still_around[body.rests[on_the_spot]]),
        off=float(np.hypot(*body.still_around[body.rests[used], :2].T).max()),
    )


def crowd_extent(libraries: Sequence[LiveLibrary]) -> FloatArray:
    """Return `CrowdArrays.extent` of a crowd of some libraries; (3,)."""
    parts = [library.extent for library in libraries]
    apart = max(some.apart(other) for some in libraries for other in libraries)
    return np.array([max(p.widest for p in parts), apart, max(p.off for p in parts)])


def joined_bodies(libraries: Sequence[LiveLibrary]) -> BodyArrays:
    """Return the discs of the actions of all libraries, by their numbers in the crowd."""
    apart = read_only(np.array([[some.apart(other) for other in libraries] for some in libraries]))
    if len(libraries) == 1:
        return libraries[0].body._replace(apart=apart)
    bodies = [library.body for library in libraries]
    together: dict[str, Any] = {
        name: read_only(np.concatenate([getattr(body, name) for body in bodies]))
        for name in ("durations", "around", "windows", "groups", "discs", "still_around", "still", "special")
    }
    starts: dict[str, Any] = {
        name: _joined_starts([getattr(body, name) for body in bodies])
        for name in ("window_starts", "group_starts", "disc_starts", "still_starts")
    }
    return BodyArrays(
        **together,
        **starts,
        states=read_only(np.concatenate([lib.body.states + lib.first_state for lib in libraries])),
        rests=read_only(np.concatenate([_shifted(lib.body.rests, lib.first_action) for lib in libraries])),
        libraries=read_only(np.repeat(np.arange(len(libraries)), [len(lib.prepared.table) for lib in libraries])),
        apart=apart,
    )


def joined_live(live: LiveArrays, libraries: Sequence[LiveLibrary]) -> LiveArrays:
    """Return what kernels need to play all libraries: rows of frames, clips and similar clips, by numbers in the crowd.

    Rows of frames are those of each library's own pool.
    """
    frames, similar = [lib.frames for lib in libraries], [SimilarClips.of(lib.prepared.table) for lib in libraries]
    count = libraries[-1].end_action
    rows = np.zeros((count + 1, count), np.int64)
    spans, members = [], []
    for library, some, alike in zip(libraries, frames, similar, strict=True):
        own = slice(library.first_action, library.end_action)
        rows[own, own], rows[-1, own] = some.rows[:-1], some.rows[-1]
        for other in (one for one in libraries if one.frames is some and one is not library):  # who changes the pace
            rows[own, other.first_action : other.end_action] = some.rows[:-1]
        arrays = alike.arrays
        spans.append(arrays.spans + library.first_action)
        members.append(arrays.members + library.first_action)
    drawn = np.concatenate(spans)
    return live._replace(
        rows=read_only(rows),
        clips=read_only(np.concatenate([lib.clips for lib in libraries])),
        spans=read_only(drawn if any(alike.any for alike in similar) else drawn[:0]),
        members=read_only(np.concatenate(members)),
    )


def live_options(prepared: PreparedLibrary, options: LiveOptions, seed: int) -> FloatArray:
    """Return the numbers of `LiveArrays.options` for a library."""
    ways = gaits(prepared.table)
    per_metre = ways[0].per_metre if ways else prepared.actions.per_metre
    numbers = (
        options.ahead, options.reach, options.keep, options.tests, options.retry, per_metre, seed % SEEDS,
        SimilarClips.of(prepared.table).shift,
    )  # fmt: skip
    return np.array(numbers, dtype=np.float64)


def no_live(prepared: PreparedLibrary) -> LiveArrays:
    """Return what kernels need besides plans, without libraries and characters yet."""
    ask(prepared.actions, Query((0.0, 0.0, 0.0), (0.0, 0.0)))
    return LiveArrays(
        options=np.zeros(8), query=prepared.actions.query.value.copy(), turns=np.array(_TURNS),
        tally=np.zeros(LEAST_TALLY, np.int64), table=np.zeros((0, 12)), rows=np.zeros((0, 0), np.int64),
        clips=np.zeros((0, 5)), spans=np.zeros((0, 4), np.int64), members=np.zeros(0, np.int64), log=np.zeros((0, 7)),
    )  # fmt: skip


def no_crowd(extent: FloatArray, mirrors: FloatArray | None = None) -> CrowdArrays:
    """Return a crowd without characters and without places for them; see `CrowdArrays.extent` and `mirrors`."""
    return CrowdArrays(
        steps=np.zeros((0, STEPS + 1, 6)), actions=np.zeros((0, STEPS + 1), np.int32), reach=np.zeros((0, 5)),
        links=np.zeros((0, 3), np.int32), heads=np.zeros(1, np.int32), extent=extent,
        counts=np.zeros((0, 14), np.int64), numbers=np.zeros((0, 6)), until=np.zeros(0),
        mirrors=np.zeros((0, 6)) if mirrors is None else mirrors,
    )  # fmt: skip


def roomier(crowd: CrowdArrays, places: int) -> CrowdArrays:
    """Return the same characters with more places, and all chains empty (see `_playing_kernels.relink`)."""
    rows, chains = crowd.steps.shape[1], _LEAST_CHAINS
    while chains < 8 * places:
        chains *= 2
    return CrowdArrays(
        steps=longer(crowd.steps, places), actions=longer(crowd.actions, places),
        reach=longer(crowd.reach, places * rows), links=longer(crowd.links, places * rows, -1),
        heads=np.full(chains, -1, np.int32), extent=crowd.extent, counts=longer(crowd.counts, places),
        numbers=longer(crowd.numbers, places), until=longer(crowd.until, places, np.inf),
        mirrors=crowd.mirrors,
    )  # fmt: skip


def longer(array: npt.NDArray[Any], count: int, fill: float = 0) -> npt.NDArray[Any]:
    """Return an array with more rows."""
    out = np.full((count, *array.shape[1:]), fill, array.dtype)
    out[: len(array)] = array
    return out


def _farthest(discs: FloatArray) -> float:
    """Return how far discs (N, 3) reach from where their actions begin [m]."""
    return float((np.hypot(discs[:, 0], discs[:, 1]) + discs[:, 2]).max(initial=0.0))


def _after(array: npt.NDArray[Any], count: int) -> npt.NDArray[Any]:
    """Return an array with unused rows of zeros before it."""
    return read_only(np.concatenate([np.zeros((count, *array.shape[1:]), array.dtype), array]))


def _shifted(actions: IntArray, by: int) -> IntArray:
    """Return numbers of actions (or -1 for none), moved up."""
    return read_only(np.where(actions >= 0, actions + by, actions))


def _joined_starts(parts: Sequence[IntArray]) -> IntArray:
    """Return where groups begin in joined arrays, from where they begin in each part."""
    ends = np.cumsum([0, *(int(part[-1]) for part in parts)])
    firsts = [part[:-1] + before for part, before in zip(parts, ends[:-1].tolist(), strict=True)]
    return read_only(np.concatenate([*firsts, ends[-1:]]))
