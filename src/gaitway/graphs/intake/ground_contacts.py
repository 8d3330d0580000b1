"""Contacts over the subject's own resting heights, which are told by all takes together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gaitway.arrays import FloatArray
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import ContactLimits, detect_contacts
from gaitway.motion.kinematics import linear_velocities

_FEW = 5


def resting_heights(clips: Sequence[Clip]) -> FloatArray:
    """Height over the level floor at which each contact point of a subject rests [m]; (C,)."""
    count = len(clips[0].skeleton.contact_points)
    samples: list[list[FloatArray]] = [[] for _ in range(count)]
    for clip in clips:
        points = clip.contact_positions()
        speed = np.linalg.norm(linear_velocities(points, clip.fps), axis=-1)
        for c in range(count):
            still = (speed[:, c] < 0.25) & (np.abs(points[:, c, 2]) < 0.05)
            samples[c].append(points[still, c, 2])
    return np.array([_low_median(np.concatenate(s)) for s in samples])


def _low_median(heights: FloatArray) -> float:
    """Middle of the lower half: points rest below where they are merely slow."""
    return float(np.percentile(heights, 30.0)) if len(heights) >= _FEW else 0.0


def with_contacts(clip: Clip, rest: FloatArray, limits: ContactLimits) -> Clip:
    """The clip with contacts, on a floor at z = 0 over which its points rest at `rest` (C,) [m]."""
    return detect_contacts(clip, limits, rest)
