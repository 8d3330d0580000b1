"""A take: what every character does over time, kept as references to clips rather than as poses.

A character's **track** is a run of segments. A segment says which clip plays, from where in the clip, when, how fast
and where in the world. Where it begins, it may fade in over the end of the one before. **Layers** lie over the result:
joint offsets over a span of time (a corrected arm, a bent path, a locked foot).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gaitway.arrays import FloatArray, IntArray, owned
from gaitway.errors import TakeError
from gaitway.motion.clip import Clip
from gaitway.motion.skeleton import Skeleton

Single = npt.NDArray[np.float32]

MAX_CHARACTERS = 1_000_000
MAX_SEGMENTS = 100_000_000
"""Limits on what a file may ask for."""

_COLUMNS: dict[str, tuple[tuple[int, ...], type]] = {
    "clip": ((), np.int32),
    "start": ((), np.float64),
    "offset": ((), np.float32),
    "speed": ((), np.float32),
    "pose": ((3,), np.float32),
    "height": ((), np.float32),
    "blend": ((), np.float32),
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
    offset: Single
    """Where in the clip it begins [s]; (S,)."""
    speed: Single
    """Seconds of the clip that pass in a second, above 0; (S,)."""
    pose: Single
    """Planar move (x, y, heading) that carries the clip from where it was recorded to where it plays; (S, 3)."""
    height: Single
    """How far the clip is raised [m]; (S,)."""
    blend: Single
    """Over how long it fades in, from `start` on, while the one before plays on (and holds its last frame when its clip
    is over) [s]; 0 is a cut; (S,)."""
    behavior: npt.NDArray[np.int32]
    """Index into `Take.behaviors`, or -1; (S,)."""

    def __post_init__(self) -> None:
        count = len(np.asarray(self.clip))
        for name, (shape, dtype) in _COLUMNS.items():
            column = owned(getattr(self, name), f"segments.{name}", (count, *shape), dtype, TakeError)
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

    Offsets should begin and end at nothing; the values at the ends are not faded.
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
        object.__setattr__(self, "joints", joints)
        object.__setattr__(self, "turns", turns)
        for name, width in (("root_turns", 4), ("root_moves", 3)):
            value = getattr(self, name)
            if value is not None:
                value = owned(value, f"layer {name}", (len(turns), width), np.float32, TakeError)
                object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.turns)


@dataclass(frozen=True, eq=False)
class Take:
    """The result for all characters."""

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
