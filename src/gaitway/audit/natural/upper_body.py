"""The head on the way, and the life of a body that stands."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.ndimage import gaussian_filter1d

from gaitway.audit.natural.way import MOVING, RATE, STRAIGHT, Way, directions, turn_rate, wrapped
from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import stances

_WALKING = 2.0 * MOVING
"""Speed above which the direction of travel is sure [m/s]."""
_TURNING = 25.0
"""Change of direction of a turn [deg/s]."""
_LEAST = 0.5
"""Least time of straight walking, or of turning, that is measured [s]."""
STANDING = 0.1
"""Greatest speed of a body that stands [m/s]."""
_STANDING_TIME, _SETTLE = 2.0, 0.5
"""Least time of standing [s], and the time at both ends of it that is left out."""
_UPPER = (
    "spine", "chest", "neck", "head", "left_shoulder", "right_shoulder", "left_elbow", "right_elbow",
    "left_wrist", "right_wrist",
)  # fmt: skip


def head_yaw(clip: Clip, way: Way, world: FloatArray) -> FloatArray:
    """Return the angle of the head against the direction of travel, to the left above zero [deg]; (F,)."""
    skeleton = clip.skeleton
    ahead = rotations.rotate(world[:, skeleton.roles["head"]], skeleton.forward)
    return wrapped(np.degrees(np.arctan2(ahead[:, 1], ahead[:, 0]) - directions(way)), 360.0)


def yaw_speed(yaw: FloatArray) -> FloatArray:
    """Return how fast an angle changes, whatever its turns [deg/s]; (F,)."""
    speed: FloatArray = np.abs(np.gradient(gaussian_filter1d(np.unwrap(yaw, period=360.0), 0.05 * RATE))) * RATE
    return speed


def head_figures(clip: Clip, way: Way, world: FloatArray) -> Mapping[str, float]:
    """Return how fast the head turns against the way, and how far it leads turns, by name.

    Args:
        clip: motion at 30 Hz.
        way: its way.
        world: world rotations of its joints; (F, J, 4).
    """
    if "head" not in clip.skeleton.roles or len(clip) < 3:
        return {}
    yaw, rate, walking = head_yaw(clip, way, world), turn_rate(way), way.speed > _WALKING
    speed, figures = yaw_speed(yaw), {}
    straight: BoolArray = walking & (np.abs(rate) < STRAIGHT)
    turning: BoolArray = walking & (np.abs(rate) > _TURNING)
    if straight.sum() >= _LEAST * RATE:
        figures["head_speed"] = float(speed[straight].mean())
    if turning.sum() >= _LEAST * RATE:
        middle = float(np.median(yaw[straight])) if straight.any() else 0.0
        figures["head_speed_turning"] = float(speed[turning].mean())
        figures["head_lead"] = float((wrapped(yaw - middle, 360.0) * np.sign(rate))[turning].mean())
    return figures


def standing(way: Way) -> list[tuple[int, int]]:
    """Return the first frame and the frame after the last of every time that a body stands."""
    margin = round(_SETTLE * RATE)
    long = [(a, b) for a, b in stances(way.speed < STANDING) if b - a >= _STANDING_TIME * RATE]
    return [(a + margin, b - margin) for a, b in long]


def standing_life(clip: Clip, way: Way) -> float:
    """Return how fast the joints of trunk, head and arms turn while the body stands [deg/s]; NaN if it never does."""
    joints = sorted({clip.skeleton.roles[role] for role in _UPPER if role in clip.skeleton.roles})
    spans = standing(way)
    if not joints or not spans:
        return np.nan
    speeds = [
        np.degrees(rotations.angle_between(clip.rotations[a : b - 1, joints], clip.rotations[a + 1 : b, joints])) * RATE
        for a, b in spans
    ]
    return float(np.concatenate(speeds).mean())
