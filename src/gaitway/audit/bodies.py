"""Where the capsules of a character are: in every frame, and at any time in between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.arrays import FloatArray
from gaitway.motion.body import CapsuleBody, capsule_body
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import with_contact_points
from gaitway.motion.skeleton import Skeleton
from gaitway.take.model import Take

SLACK = 1.25
"""A capsule's way from frame to frame is at most this much longer than the straight line: it goes along arcs."""
FINEST = 0.002
"""Capsules that go less than this are not looked at in between [m]."""


@dataclass(frozen=True, eq=False)
class Walker:
    """One character, evaluated at the take's rate."""

    take: Take
    index: int
    clip: Clip
    """Its whole track in the world, on a skeleton with contact points where that can be had."""
    body: CapsuleBody
    times: FloatArray
    """Of its frames [s]; (F,)."""
    positions: FloatArray
    """Of its joints [m]; (F, J, 3)."""
    segments: FloatArray
    """Axes of its capsules [m]; (F, C, 2, 3)."""

    @property
    def name(self) -> str:
        """What it is called."""
        return self.take.names[self.index]

    def frame(self, time: float) -> int:
        """The take's frame nearest to a time."""
        return round(time * self.take.fps)

    def segments_at(self, time: float) -> FloatArray:
        """Axes of its capsules at any time [m]; (C, 2, 3)."""
        (poses,) = self.take.poses(time, np.array([self.index]))
        return np.asarray(self.body.segments(*poses.joint_transforms())[0])


def walker(take: Take, index: int, bodies: Mapping[int, CapsuleBody]) -> Walker:
    """A character of a take, evaluated; `bodies` are those of the take's skeletons."""
    clip = take.clip(index)
    body = bodies[int(take.bodies[index])]
    positions, world = clip.joint_transforms()
    times = take.start(index) + np.arange(len(clip)) / clip.fps
    return Walker(take, index, with_points(clip), body, times, positions, body.segments(positions, world))


def bodies_of(take: Take) -> dict[int, CapsuleBody]:
    """The capsules of every skeleton that occurs."""
    return {i: capsule_body(skeleton) for i, skeleton in enumerate(take.skeletons)}


def with_points(clip: Clip) -> Clip:
    """The clip on a skeleton with contact points where it is that of a humanoid or has some."""
    return with_contact_points(clip) if has_legs(clip.skeleton) else clip


def has_legs(skeleton: Skeleton) -> bool:
    """Whether both legs are known by role."""
    return all(f"{s}_{r}" in skeleton.roles for s in ("left", "right") for r in ("hip", "knee", "ankle"))


def reach(segments: FloatArray) -> FloatArray:
    """How far each capsule may go from frame to frame [m] (F - 1, C), for axes (F, C, 2, 3).

    Motion may turn back between two frames, so the longest of a step and its neighbours counts.
    """
    steps = np.linalg.norm(np.diff(segments, axis=0), axis=-1).max(axis=-1)
    if len(steps) > 1:
        steps = scipy.ndimage.maximum_filter1d(steps, 3, axis=0, mode="nearest")
    return np.asarray(SLACK * steps)
