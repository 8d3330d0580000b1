"""Footwork: where the root and the feet of a motion are on the floor, and when feet are down; needed to bend it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gaitway.core import planar
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.library.behavior import Library
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import detect_contacts
from gaitway.motion.legs import Leg, legs_of
from gaitway.motion.skeleton import Skeleton
from gaitway.space.plan import Pose


@dataclass(frozen=True, eq=False)
class Footwork:
    """Footwork of a motion on L legs."""

    legs: tuple[Leg, ...]
    """The clip, with contact points of feet or hooves only."""
    path: FloatArray
    """Planar poses (x, y, heading) of the root, headings not wrapped; (F, 3)."""
    ends: FloatArray
    """Position of the last joint of each leg on the floor [m]; (F, L, 2)."""
    down: BoolArray
    """Whether each foot is on the ground; (F, L)."""
    rolled: FloatArray | None
    """Distance that wheels have rolled since the first frame [m]; (F,); None without wheels."""
    fps: float

    def __len__(self) -> int:
        return len(self.path)

    @cached_property
    def move(self) -> Pose:
        """Pose of the root in the last frame, its heading not wrapped."""
        x, y, heading = self.path[-1].tolist()
        return x, y, heading


@dataclass(eq=False)
class Footworks:
    """Footwork of a library's clips, each found once; share one between calls with the same library. **Mutable**."""

    library: Library
    known: dict[str, Footwork | None] = field(default_factory=dict)

    def of(self, behavior: str, clip: str) -> Footwork | None:
        """Return the footwork of a behaviour's clip; None if it must not be bent: special behaviours, and all fours."""
        if clip not in self.known:
            special = self.library.graph[behavior].obstacle is not None
            self.known[clip] = None if special else footwork(self.library.clips[clip])
        return self.known[clip]


def footwork(clip: Clip) -> Footwork | None:
    """Return the footwork of a clip in the frame of its first pose; None if it rests on anything but feet and wheels.

    Contacts of a humanoid are detected if they are not known.
    """
    legs, wheels = _feet(clip.skeleton), _wheels(clip.skeleton)
    if clip.contacts is None and clip.skeleton.contact_points and not wheels:
        clip = detect_contacts(clip)
    if clip.contacts is None or not legs:
        return None
    known = {*wheels, *(column for leg in legs for column in leg.columns)}
    if any(clip.contacts[:, c].any() for c in range(clip.contacts.shape[1]) if c not in known):
        return None
    path, positions = clip.planar_path(), clip.joint_positions()
    away = planar.inverse(path[0])
    ends = planar.transform_points(away, positions[:, [leg.joints[2] for leg in legs], :2])
    seen = planar.compose(away, path)
    seen[:, 2] = path[:, 2] - path[0, 2]
    down = np.stack([clip.contacts[:, leg.columns].any(axis=1) for leg in legs], axis=1)
    return Footwork(legs, seen, ends, down, _rolled(clip, wheels) if wheels else None, clip.fps)


def laid(works: Sequence[Footwork], poses: Sequence[Pose]) -> Footwork:
    """Join footworks, each with its first frame at a pose, which is the last frame of the one before."""
    parts = [slice(min(k, 1), None) for k in range(len(works))]
    start, c, s = _starts(works, poses)
    feet = np.concatenate([work.ends[part] for work, part in zip(works, parts, strict=True)])
    x, y, ends = feet[..., 0], feet[..., 1], np.empty(feet.shape)
    ends[..., 0] = start[:, :1] + c[:, None] * x - s[:, None] * y
    ends[..., 1] = start[:, 1:2] + s[:, None] * x + c[:, None] * y
    down = np.concatenate([work.down[part] for work, part in zip(works, parts, strict=True)])
    rolled, gone = list[FloatArray](), 0.0
    for work, part in zip(works, parts, strict=True):
        if work.rolled is not None:
            rolled.append(gone + work.rolled[part])
            gone = float(rolled[-1][-1])
    way = np.concatenate(rolled) if rolled else None
    return Footwork(works[0].legs, _laid_path(works, start, c, s), ends, down, way, works[0].fps)


def laid_path(works: Sequence[Footwork], poses: Sequence[Pose]) -> FloatArray:
    """Return the path alone of joined footworks, see `laid`; (F, 3)."""
    return _laid_path(works, *_starts(works, poses))


def _starts(works: Sequence[Footwork], poses: Sequence[Pose]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return where the work of each frame is laid (F, 3), and the cosine and sine of its heading (F,)."""
    counts, laid_at = [len(work) - min(k, 1) for k, work in enumerate(works)], np.array(poses, dtype=np.float64)
    c, s = np.cos(laid_at[:, 2]), np.sin(laid_at[:, 2])
    return np.repeat(laid_at, counts, axis=0), np.repeat(c, counts), np.repeat(s, counts)


def _laid_path(works: Sequence[Footwork], start: FloatArray, c: FloatArray, s: FloatArray) -> FloatArray:
    local = np.concatenate([work.path[min(k, 1) :] for k, work in enumerate(works)])
    x, y, path = local[:, 0], local[:, 1], np.empty(local.shape)
    path[:, 0] = start[:, 0] + c * x - s * y
    path[:, 1] = start[:, 1] + s * x + c * y
    heading = start[:, 2] + local[:, 2]
    jumps = np.abs(heading[1:] - heading[:-1]).max(initial=0.0) >= np.pi
    path[:, 2] = np.unwrap(heading) if jumps else heading
    return path


def _feet(skeleton: Skeleton) -> tuple[Leg, ...]:
    """Return the legs of a body: those that are known by role, or else all limbs that touch the ground."""
    wheels = set(_wheels(skeleton))
    limbs = tuple(leg for leg in legs_of(skeleton) if wheels.isdisjoint(leg.columns))
    return tuple(leg for leg in limbs if leg.human) or limbs


def _wheels(skeleton: Skeleton) -> list[int]:
    return [c for c, point in enumerate(skeleton.contact_points) if point.rolls]


def _rolled(clip: Clip, wheels: list[int]) -> FloatArray:
    middle = clip.contact_positions()[:, wheels, :2].mean(axis=1)
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(middle, axis=0), axis=1))])
