"""The data of a take: segments, layers, the tables that hold them together, and what is checked.

A character's **track** is a run of segments. A segment says which clip plays, from where in the clip, when, how fast
and where in the world. Where it begins, it may fade in over the end of the segment before. **Layers** change the
result: joint offsets over a span of time (a corrected arm, a bent path, a locked foot).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, owned
from gaitway.core.errors import TakeError
from gaitway.core.suggest import did_you_mean
from gaitway.motion.clip import Clip
from gaitway.motion.skeleton import Skeleton

Single = npt.NDArray[np.float32]

TIME_SLACK = 1e-9
"""Difference below which times count as equal [s]: sums of clip lengths are not exact."""
_FADE_SLACK = 1e-4
"""Greatest overlap of a fade with the next segment [s]; the earlier segment is not visible by then."""
MAX_FACTS = 16_000_000
"""Greatest length of the facts [characters of JSON]."""
MAX_ROOT = 100_000.0
"""Greatest coordinate of a root in a clip [m], as in scenes; checks of a path take memory for each centimetre."""
MAX_CHARACTERS = 1_000_000
MAX_SEGMENTS = 100_000_000
"""Limits on what a file may ask for: characters and segments."""

LATEST = 172_800.0
"""Latest time of a take [s]: two days; characters of a scene set out on the first."""
MOST_FRAMES = 200_000_000
"""Greatest number of frames of a character at the take's own rate: two days at 1000 Hz."""
FASTEST = 1000.0
"""Greatest playback speed."""
FARTHEST = 1e9
"""Largest coordinate and height of a segment [m]; kernels and sums of squares stay finite."""

POSE_STEPS = np.array([2.0**20, 2.0**20, 2.0**24])
"""Steps per metre, metre and radian to which segment poses are rounded (2^-20 m, 2^-24 rad), so that they pack well."""

_COLUMNS: dict[str, tuple[tuple[int, ...], type]] = {
    "clip": ((), np.int32),
    "start": ((), np.float64),
    "offset": ((), np.float64),
    "speed": ((), np.float64),
    "pose": ((3,), np.float64),
    "height": ((), np.float64),
    "blend": ((), np.float64),
    "behavior": ((), np.int32),
}
"""Shape and type of each column of `Segments`."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Segments:
    """All segments of a take; those of one character are one run of rows, in order of time."""

    clip: npt.NDArray[np.int32]
    """Index into `Take.clips`; (S,)."""
    start: FloatArray
    """Start time [s], at which the segment before ends; (S,)."""
    offset: FloatArray
    """Time in the clip at which it begins [s]; (S,). A clip holds its first and last frame outside its own time."""
    speed: FloatArray
    """Playback speed: seconds of the clip per second, above 0; (S,)."""
    pose: FloatArray
    """Planar move (x, y, heading) that carries the clip from where it was recorded to where it plays, in whole steps
    of a micrometre and 2^-24 rad; (S, 3)."""
    height: FloatArray
    """Height by which the clip is raised [m]; (S,)."""
    blend: FloatArray
    """Over how long it fades in, from `start` on, while the one before plays on (and holds its last frame when its clip
    is over) [s]; 0 is a cut; (S,). A fade is over before the next segment begins."""
    behavior: npt.NDArray[np.int32]
    """Index into `Take.behaviors`, or -1; (S,)."""

    def __post_init__(self) -> None:
        count = len(np.asarray(self.clip))
        if count > MAX_SEGMENTS:
            raise TakeError(f"{count} segments are more than the {MAX_SEGMENTS} that a take may have")
        for name, (shape, dtype) in _COLUMNS.items():
            value = np.asarray(getattr(self, name))
            if name == "pose" and value.shape == (count, 3):
                value = np.round(value * POSE_STEPS) / POSE_STEPS
            if np.dtype(dtype).kind == "i" and value.size and value.dtype.kind not in "iu":
                raise TakeError(f"segments.{name} must be whole numbers, got {value.dtype}")
            column = owned(value, f"segments.{name}", (count, *shape), dtype, TakeError)
            object.__setattr__(self, name, column)
        if count and (self.speed <= 0.0).any():
            raise TakeError(f"segment {int(np.argmin(self.speed))} has speed {self.speed.min():g}; it must be above 0")
        if count and (self.blend < 0.0).any():
            raise TakeError(f"segment {int(np.argmin(self.blend))} has a negative blend time")
        limits = {"start": LATEST, "offset": LATEST, "blend": LATEST, "speed": FASTEST, "pose": FARTHEST,
                  "height": FARTHEST}  # fmt: skip
        for name, most in limits.items():
            sizes = np.abs(getattr(self, name))
            if count and sizes.max() > most:
                s = int(np.unravel_index(np.argmax(sizes), sizes.shape)[0])
                raise TakeError(f"segment {s} has {name} {sizes.max():g}; at most {most:g} is possible")

    def __len__(self) -> int:
        return len(self.clip)


@dataclass(frozen=True, eq=False)
class Layer:
    """Offsets on one character over a span of time, sampled at the take's rate; none outside the span.

    Between samples they are interpolated. Offsets should begin and end at nothing; the values at the ends are not
    faded. Several layers on one character apply in the order in which the take lists them.
    """

    character: int
    """Index of the character."""
    start: float
    """Time of the first sample [s]."""
    joints: IntArray
    """Joints that turn; (K,)."""
    turns: Single
    """Rotation of each joint in its own frame (local becomes local * turn), wxyz; (F, K, 4)."""
    root_turns: Single | None = None
    """World rotation about the root's own position, wxyz; (F, 4)."""
    root_moves: Single | None = None
    """World move of the root [m]; (F, 3)."""
    name: str = "layer"

    def __post_init__(self) -> None:
        joints = owned(self.joints, "layer joints", (None,), np.int64, TakeError)
        turns = owned(self.turns, "layer turns", (None, len(joints), 4), np.float32, TakeError)
        if len(turns) < 1:
            raise TakeError(f"layer '{self.name}' has no samples")
        if len(np.unique(joints)) < len(joints) or (joints < 0).any():
            raise TakeError(f"layer '{self.name}' names a joint twice, or a negative one: {joints.tolist()}")
        if not np.isfinite(self.start):
            raise TakeError(f"layer '{self.name}' starts at {self.start}; it must be a finite time")
        object.__setattr__(self, "character", int(self.character))
        object.__setattr__(self, "start", float(self.start))
        object.__setattr__(self, "joints", joints)
        object.__setattr__(self, "turns", turns)
        for name, width in (("root_turns", 4), ("root_moves", 3)):
            value = getattr(self, name)
            if value is not None:
                value = owned(value, f"layer {name}", (len(turns), width), np.float32, TakeError)
                object.__setattr__(self, name, value)
        for name in ("turns", "root_turns"):
            value = getattr(self, name)
            if value is not None and not _of_length_one(value):
                raise TakeError(f"layer '{self.name}': {name} must be quaternions of length one")

    def __len__(self) -> int:
        return len(self.turns)


def _of_length_one(turns: Single) -> bool:
    """Return whether quaternions (..., 4) have length one, to a thousandth."""
    squares = sum(turns[..., k] * turns[..., k] for k in range(4))  # many times as fast as a norm of so short vectors
    return bool((np.abs(np.sqrt(squares) - 1.0) <= 1e-3).all())


@dataclass(frozen=True, eq=False, kw_only=True)
class TakeData:
    """The data of a take; `gaitway.take.model.Take` adds the queries.

    Clips are kept in single precision, so that a take is bit for bit the same after it was saved and loaded.
    """

    names: tuple[str, ...]
    """Names of the characters, all different; (C,)."""
    skeletons: tuple[Skeleton, ...]
    """Skeletons that occur."""
    bodies: IntArray
    """Index into `skeletons` of each character; (C,)."""
    clips: tuple[Clip, ...]
    """Every clip that is played, each on one of `skeletons` (the same object)."""
    segments: Segments
    rows: IntArray
    """First segment of each character, and the number of segments at the end; (C + 1,)."""
    ends: FloatArray
    """End time of each character's last segment [s]; (C,)."""
    fps: float = 30.0
    """Rate at which the take is meant to be viewed [Hz]; poses are available at any time."""
    behaviors: tuple[str, ...] = ()
    """Names of behaviours that segments refer to."""
    layers: tuple[Layer, ...] = ()
    goals: FloatArray = field(default_factory=lambda: np.empty((0, 4)))
    """Where each character was to arrive: x, y [m], heading [rad] and tolerance [m]; NaN where nothing was asked;
    (C, 4), all NaN unless given."""
    radii: FloatArray = field(default_factory=lambda: np.empty(0))
    """Radius of the disc that the planner kept clear about each root [m]; (C,), all NaN unless given."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Origin of the take as plain JSON values: "seed", "scene_hash", "planner", versions ..."""

    def __post_init__(self) -> None:
        names = checked_names(self.names, MAX_CHARACTERS)
        count = len(names)
        values: dict[str, Any] = {
            "names": names,
            "skeletons": tuple(self.skeletons),
            "bodies": owned(self.bodies, "bodies", (count,), np.int64, TakeError),
            "clips": tuple(single_precision(clip) for clip in self.clips),
            "rows": owned(self.rows, "rows", (count + 1,), np.int64, TakeError),
            "ends": owned(self.ends, "ends", (count,), error=TakeError),
            "fps": checked_rate(self.fps),
            "behaviors": tuple(str(b) for b in self.behaviors),
            "layers": tuple(self.layers),
            "goals": with_gaps(self.goals, "goals", (count, 4)),
            "radii": with_gaps(self.radii, "radii", (count,)),
            "facts": plain_facts(self.facts),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        check_take(self)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def duration(self) -> float:
        """End time of the last character [s]; the clock begins at 0."""
        return float(self.ends.max())

    @property
    def starts(self) -> FloatArray:
        """Start time of each character's first segment [s]; (C,)."""
        return self.segments.start[self.rows[:-1]]

    def start(self, character: int) -> float:
        """Return the start time of a character's first segment [s]."""
        return float(self.segments.start[self.rows[checked_character(self, character)]])

    def index(self, name: str) -> int:
        """Return the index of the character with this name.

        Raises:
            TakeError: if there is none; the message offers the nearest name.
        """
        return index_of(self.names, name)

    @cached_property
    def has_contacts(self) -> BoolArray:
        """Whether all clips that a character plays know their contacts; (C,)."""
        known = np.array([clip.contacts is not None for clip in self.clips])
        return np.asarray(np.logical_and.reduceat(known[self.segments.clip], self.rows[:-1]))


def checked_names(names: Sequence[str], most: int) -> tuple[str, ...]:
    """Return the names of characters after checking that they differ."""
    names = tuple(str(n) for n in names)
    if not 1 <= len(names) <= most:
        raise TakeError(f"a take needs between 1 and {most} characters, got {len(names)}")
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twice = next(n for n in names if n in seen or seen.add(n))  # type: ignore[func-returns-value]
        raise TakeError(f"two characters are called '{twice}'; every name must occur once")
    return names


def checked_rate(fps: float) -> float:
    """Return a frame rate [Hz] after checking its bounds."""
    if not (np.isfinite(fps) and 0.0 < fps <= 100_000.0):
        raise TakeError(f"frame rate {fps} of the take must be above 0 and at most 100000 Hz")
    return float(fps)


def checked_character(take: TakeData, character: int) -> int:
    """Return the index of a character after checking that it exists."""
    if not 0 <= character < len(take.names):
        raise TakeError(f"no character {character}; the take has {len(take.names)}, numbered from 0")
    return int(character)


def checked_characters(take: TakeData, characters: npt.ArrayLike) -> IntArray:
    """Return the indices of characters (N,) after checking that they exist."""
    given = np.atleast_1d(np.asarray(characters))
    if given.size and (given.dtype.kind not in "iu" or given.ndim != 1):
        raise TakeError(f"characters must be whole numbers in one row, got {given.dtype} of shape {given.shape}")
    if given.size and not (given.min() >= 0 and given.max() < len(take.names)):
        bad = int(given[(given < 0) | (given >= len(take.names))][0])
        raise TakeError(f"no character {bad}; the take has {len(take.names)}, numbered from 0")
    return given.astype(np.int64)


def index_of(names: Sequence[str], name: str) -> int:
    """Return the index of a name among the names of the characters."""
    try:
        return names.index(name)
    except ValueError:
        hint = did_you_mean(name, names[:10_000]) or f"; the first is '{names[0]}'"
        raise TakeError(f"no character '{name}' among {len(names)}{hint}") from None


def single_precision(clip: Clip) -> Clip:
    """Return the clip rounded to single precision; the same object if it is so already."""
    if not (np.abs(clip.root_positions) <= MAX_ROOT).all():
        raise TakeError(f"clip '{clip.name}' has root positions beyond {MAX_ROOT:,.0f} m; coordinates end there")
    if clip.is_single:
        return clip
    roots, local = clip.root_positions.astype(np.float32), clip.rotations.astype(np.float32)
    return replace(clip, root_positions=roots.astype(np.float64), rotations=local.astype(np.float64))


def with_gaps(value: npt.ArrayLike, name: str, shape: tuple[int, ...]) -> FloatArray:
    """Return a read-only copy in which NaN means unknown; all NaN if nothing is given."""
    given = np.asarray(value, dtype=np.float64)
    array = np.array(given) if given.size else np.full(shape, np.nan)
    if array.shape != shape:
        raise TakeError(f"{name} has shape {array.shape}, expected {shape}")
    if np.isinf(array).any():
        raise TakeError(f"{name} of character {int(np.argwhere(np.isinf(array))[0][0])} is infinite")
    array.setflags(write=False)
    return array


def plain_facts(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a copy of facts after checking that they are plain JSON values."""
    try:
        text = json.dumps(dict(facts), allow_nan=False, sort_keys=True)
    except (TypeError, ValueError, RecursionError) as problem:
        raise TakeError(f"facts must be plain JSON values: {problem}") from None
    if len(text) > MAX_FACTS:
        raise TakeError(f"facts are {len(text)} characters of JSON; at most {MAX_FACTS} are kept")
    return MappingProxyType(json.loads(text))


def check_take(take: TakeData) -> None:
    """Refuse a take whose tables do not fit together.

    Raises:
        TakeError: naming the character and the segment.
    """
    _check_bodies(take)
    _check_rows(take)
    _check_segments(take)
    for number, layer in enumerate(take.layers):
        if not 0 <= layer.character < len(take.names):
            raise TakeError(f"layer {number} ('{layer.name}') is on character {layer.character} of {len(take.names)}")
        joints = len(take.skeletons[take.bodies[layer.character]])
        if (layer.joints >= joints).any():
            raise TakeError(
                f"layer {number} ('{layer.name}') turns joint {layer.joints.max()} of character "
                f"'{take.names[layer.character]}', which has {joints}"
            )
    tolerance, radii = take.goals[:, 3], take.radii
    for name, values in (("goal tolerance", tolerance), ("radius", radii)):
        if (values < 0.0).any():
            raise TakeError(f"character '{take.names[int(np.argmax(values < 0.0))]}' has a negative {name}")


def _check_bodies(take: TakeData) -> None:
    bodies, count = take.bodies, len(take.skeletons)
    if bodies.min() < 0 or bodies.max() >= count:
        c = int(np.argmax((bodies < 0) | (bodies >= count)))
        raise TakeError(f"character '{take.names[c]}' has body {bodies[c]} of {count} skeletons")
    for clip in take.clips:
        if not any(clip.skeleton is skeleton for skeleton in take.skeletons):
            raise TakeError(
                f"clip '{clip.name}' is on skeleton '{clip.skeleton.name}', which is not (the same object as) one "
                "of the take's skeletons"
            )


def _check_rows(take: TakeData) -> None:
    rows, count = take.rows, len(take.segments)
    if rows[0] != 0 or rows[-1] != count or rows.min() < 0 or rows.max() > count:
        raise TakeError(f"rows begin at {rows[0]} and end at {rows[-1]}; they must go from 0 to {count} segments")
    empty = np.diff(rows) < 1
    if empty.any():
        c = int(np.argmax(empty))
        raise TakeError(f"character '{take.names[c]}' has no segments (rows {rows[c]} to {rows[c + 1]})")


def _check_segments(take: TakeData) -> None:
    table, rows = take.segments, take.rows
    owner = np.repeat(np.arange(len(take.names)), np.diff(rows))

    def refuse(wrong: BoolArray, problem: str) -> None:
        if wrong.any():
            s = int(np.argmax(wrong))
            values = {"clip": table.clip[s], "start": table.start[s], "offset": table.offset[s]}
            shown = problem.format(**values, blend=table.blend[s], behavior=table.behavior[s], until=until[s])
            raise TakeError(f"character '{take.names[owner[s]]}', segment {s - rows[owner[s]]}: {shown}")

    longest = min(LATEST, MOST_FRAMES / take.fps)
    late = np.abs(take.ends) > longest
    if late.any():
        c = int(np.argmax(late))
        raise TakeError(f"character '{take.names[c]}' ends at {take.ends[c]:g} s; at most {longest:g} s are possible")
    until = np.append(table.start[1:], 0.0)
    until[rows[1:] - 1] = take.ends
    first = np.zeros(len(table), dtype=bool)
    first[rows[:-1]] = True
    refuse((table.clip < 0) | (table.clip >= len(take.clips)), f"clip {{clip}} of {len(take.clips)} does not exist")
    clip_body = np.array([_body_of(take, clip) for clip in take.clips])
    refuse(clip_body[table.clip] != take.bodies[owner], "clip {clip} is on another skeleton than the character's")
    refuse(
        (table.behavior < -1) | (table.behavior >= len(take.behaviors)),
        f"behaviour {{behavior}} of {len(take.behaviors)} does not exist; write -1 for none",
    )
    durations = np.array([clip.duration for clip in take.clips])
    refuse(until < table.start, "it begins at {start:g} s, after what comes next at {until:g} s")
    last = np.roll(first, -1)
    refuse((until <= table.start) & ~last, "it begins at {start:g} s, when the next one does")
    refuse(table.offset > durations[table.clip] + _FADE_SLACK, "it begins {offset:g} s into clip {clip}, past its end")
    refuse(first & (table.blend > 0.0), "the first segment has nothing to fade from; write blend 0")
    refuse(
        table.start + table.blend > until + _FADE_SLACK,
        "its fade of {blend:g} s from {start:g} s is not over at {until:g} s",
    )


def _body_of(take: TakeData, clip: Clip) -> int:
    return next(i for i, skeleton in enumerate(take.skeletons) if skeleton is clip.skeleton)
