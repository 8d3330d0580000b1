"""A take: what every character does over time, kept as references to clips rather than as poses.

A character's **track** is a run of segments. A segment says which clip plays, from where in the clip, when, how fast
and where in the world. Where it begins, it may fade in over the end of the one before. **Layers** lie over the result:
joint offsets over a span of time (a corrected arm, a bent path, a locked foot).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, owned
from gaitway.core.errors import TakeError
from gaitway.motion.clip import Clip
from gaitway.motion.skeleton import Skeleton
from gaitway.take import checks, evaluation, tables
from gaitway.take.pool import Pool, build_pool
from gaitway.take.poses import Joints, Poses

Single = npt.NDArray[np.float32]

MAX_CHARACTERS = 1_000_000
MAX_SEGMENTS = 100_000_000
"""Limits on what a file may ask for."""

POSE_STEPS = np.array([2.0**20, 2.0**20, 2.0**24])
"""Where a segment plays is kept to whole steps of 2^-20 m (a micrometre) and 2^-24 rad, so that it packs well."""

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


@dataclass(frozen=True, eq=False)
class Segments:
    """All segments of a take; those of one character are one run of rows, in order of time."""

    clip: npt.NDArray[np.int32]
    """Index into `Take.clips`; (S,)."""
    start: FloatArray
    """When it begins [s], and the one before it ends; (S,)."""
    offset: FloatArray
    """Where in the clip it begins [s]; (S,). Before its first frame and after its last, a clip holds that frame."""
    speed: FloatArray
    """Seconds of the clip that pass in a second, above 0; (S,)."""
    pose: FloatArray
    """Planar move (x, y, heading) that carries the clip from where it was recorded to where it plays, in whole steps
    of a micrometre and 2^-24 rad; (S, 3)."""
    height: FloatArray
    """How far the clip is raised [m]; (S,)."""
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
    """Rotation of each joint *before* its own, in its own frame (local becomes local * turn), wxyz; (F, K, 4)."""
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
            if value is not None and (np.abs(np.linalg.norm(value, axis=-1) - 1.0) > 1e-3).any():
                raise TakeError(f"layer '{self.name}': {name} must be quaternions of length one")

    def __len__(self) -> int:
        return len(self.turns)


@dataclass(frozen=True, eq=False)
class Take:
    """The result for all characters.

    Clips are kept to single precision, so that a take is the same to the last bit after it was saved and loaded.
    """

    names: tuple[str, ...]
    """Names of the characters, all different; (C,)."""
    skeletons: tuple[Skeleton, ...]
    """The kinds of body that occur."""
    bodies: IntArray
    """Index into `skeletons` of each character; (C,)."""
    clips: tuple[Clip, ...]
    """Every clip that is played, each on one of `skeletons` (the same object)."""
    segments: Segments
    rows: IntArray
    """First segment of each character, and the number of segments at the end; (C + 1,)."""
    ends: FloatArray
    """When each character's last segment ends [s]; (C,)."""
    fps: float = 30.0
    """The rate at which it is meant to be looked at [Hz]; poses can be had at any time."""
    behaviors: tuple[str, ...] = ()
    """Names of behaviours that segments refer to."""
    layers: tuple[Layer, ...] = ()
    goals: FloatArray = field(default_factory=lambda: np.empty((0, 4)))
    """Where each character was to arrive: x, y [m], heading [rad] and tolerance [m]; NaN where nothing was asked;
    (C, 4), all NaN unless given."""
    radii: FloatArray = field(default_factory=lambda: np.empty(0))
    """Radius of the disc that the planner kept clear about each root [m]; (C,), all NaN unless given."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Where it comes from, as plain JSON values: "seed", "scene_hash", "planner", versions ..."""

    def __post_init__(self) -> None:
        names = checks.checked_names(self.names, MAX_CHARACTERS)
        count = len(names)
        values: dict[str, Any] = {
            "names": names,
            "skeletons": tuple(self.skeletons),
            "bodies": owned(self.bodies, "bodies", (count,), np.int64, TakeError),
            "clips": tuple(checks.single_precision(clip) for clip in self.clips),
            "rows": owned(self.rows, "rows", (count + 1,), np.int64, TakeError),
            "ends": owned(self.ends, "ends", (count,), error=TakeError),
            "fps": checks.checked_rate(self.fps),
            "behaviors": tuple(str(b) for b in self.behaviors),
            "layers": tuple(self.layers),
            "goals": checks.with_gaps(self.goals, "goals", (count, 4)),
            "radii": checks.with_gaps(self.radii, "radii", (count,)),
            "facts": checks.plain_facts(self.facts),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        checks.check_take(self)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return (
            f"Take({len(self)} characters, {len(self.segments)} segments of {len(self.clips)} clips, "
            f"{self.duration:.4g} s at {self.fps:g} Hz)"
        )

    @property
    def duration(self) -> float:
        """When the last character ends [s]; the clock begins at 0."""
        return float(self.ends.max())

    @property
    def starts(self) -> FloatArray:
        """When each character's first segment begins [s]; (C,)."""
        return self.segments.start[self.rows[:-1]]

    def start(self, character: int) -> float:
        """When a character's first segment begins [s]."""
        return float(self.segments.start[self.rows[checks.checked_character(self, character)]])

    def index(self, name: str) -> int:
        """Index of the character with this name.

        Raises:
            TakeError: if there is none; the message offers the nearest name.
        """
        return checks.index_of(self.names, name)

    def present(self, time: float) -> IntArray:
        """Indices of the characters that are there at a time [s], from each one's start to its end."""
        return evaluation.present(self, time)

    def poses(
        self, time: float, characters: npt.ArrayLike | None = None, *, contacts: bool = False, threads: int = 1
    ) -> tuple[Poses, ...]:
        """What characters do at one time, one `Poses` for each skeleton that occurs among them.

        Args:
            time: when [s].
            characters: indices, in any order; None for all that are present. One that is asked for before its start
                or after its end holds its first or last pose.
            contacts: also tell which contact points rest.
            threads: number of threads; the result does not depend on it.
        """
        return evaluation.poses(self, time, characters, contacts=contacts, threads=threads)

    def joints(self, time: float, characters: npt.ArrayLike | None = None, *, threads: int = 1) -> tuple[Joints, ...]:
        """Where all joints are at one time: as `poses(...)` and then forward kinematics, in one pass over memory."""
        return evaluation.joints(self, time, characters, threads=threads)

    def clip(self, character: int, fps: float | None = None) -> Clip:
        """One character's whole track as a clip in the world; its first frame is at `start(character)`.

        Args:
            character: its index.
            fps: rate of the clip [Hz]; None for the take's.
        """
        return evaluation.clip(self, character, fps)

    def planar(self, times: npt.ArrayLike, characters: npt.ArrayLike | None = None) -> FloatArray:
        """Planar poses (x, y, heading) of roots; (C, T, 3), NaN where a character is not present.

        Args:
            times: when [s]; (T,) or one number.
            characters: indices (C,); None for all.
        """
        return evaluation.planar(self, times, characters)

    def behavior_at(self, time: float, characters: npt.ArrayLike | None = None) -> tuple[str | None, ...]:
        """The behaviour each character is in at a time [s]; None where it is not present or has no name."""
        return evaluation.behavior_at(self, time, characters)

    def dense(self, fps: float | None = None, skeleton: int | None = None) -> tables.Dense:
        """All poses as plain arrays, each character's frames in one run; large.

        Args:
            fps: rate [Hz]; None for the take's.
            skeleton: index into `skeletons`: only characters with that body. May be left out if all have the same.

        Raises:
            TakeError: if characters have different bodies and none is chosen.
        """
        return tables.dense(self, fps, skeleton)

    def trajectories(self, fps: float | None = None) -> tables.Trajectories:
        """Root paths as columns (id, frame, x, y, heading, behaviour) on one clock for all characters."""
        return tables.trajectories(self, fps)

    def character_clips(self, character: int) -> IntArray:
        """Indices of the clips that a character plays, in order of time."""
        c = checks.checked_character(self, character)
        return self.segments.clip[self.rows[c] : self.rows[c + 1]].astype(np.int64)

    @cached_property
    def has_contacts(self) -> BoolArray:
        """Whether all clips that a character plays know their contacts; (C,)."""
        known = np.array([clip.contacts is not None for clip in self.clips])
        return np.asarray(np.logical_and.reduceat(known[self.segments.clip], self.rows[:-1]))

    @cached_property
    def pool(self) -> Pool:
        """Frames of all clips and all fades, made at first use."""
        return build_pool(self)
