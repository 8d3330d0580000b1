"""Walking on a treadmill: the feet go back under a body that stays where it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gaitway.capture.reading.smoothing import low_pass
from gaitway.capture.recognising.measures import PERSON_LEG
from gaitway.core.arrays import FloatArray
from gaitway.motion.anatomy import leg_length
from gaitway.motion.clip import Clip

_LEAST_SWING = 0.10
"""Spread of the feet's distance along the facing, of somebody who walks [m]."""
_FASTEST_PELVIS = 0.25
"""The pelvis of somebody on a treadmill is slower than this [m/s]."""
_SLOWEST_BELT = 0.3
_LOW = 0.03
"""A sole this near to where it is lowest is on the ground [m]."""


def belt_speed(clip: Clip) -> float:
    """How fast the ground goes back under somebody who walks on the spot [m/s]; 0 for everybody else."""
    if clip.duration < 1.0:
        return 0.0
    size = leg_length(clip.skeleton) / PERSON_LEG
    positions, roles = clip.joint_positions(), clip.skeleton.roles
    hips = low_pass(positions[:, 0, :2], 0.25 * clip.fps)
    pelvis = np.linalg.norm(np.gradient(hips, axis=0), axis=1) * clip.fps
    if np.median(pelvis) > _FASTEST_PELVIS * np.sqrt(size):
        return 0.0
    way = facing(clip)
    joints = [roles.get(f"{side}_toe", roles[f"{side}_ankle"]) for side in ("left", "right")]
    balls = positions[:, joints]
    along = low_pass(np.einsum("fsk,fk->fs", balls[..., :2], way), 0.03 * clip.fps)
    if np.std(along[:, 0] - along[:, 1]) < _LEAST_SWING * size:
        return 0.0
    heights = balls[..., 2] - np.percentile(balls[..., 2], 5.0, axis=0)
    lower = np.argmin(heights, axis=1)
    frames = np.arange(len(clip))
    speeds = (np.gradient(along, axis=0) * clip.fps)[frames, lower]
    grounded = heights[frames, lower] < _LOW * size
    belt = -float(np.median(speeds[grounded])) if grounded.sum() > 5 else 0.0
    return belt if belt > _SLOWEST_BELT * np.sqrt(size) else 0.0


def facing(clip: Clip) -> FloatArray:
    """Unit vector that the body faces, without the sway of steps; (F, 2)."""
    heading = low_pass(clip.headings(), 0.4 * clip.fps)
    return np.stack([np.cos(heading), np.sin(heading)], axis=1)


def travelling(clip: Clip, belt: float) -> Clip:
    """The clip as it would be on solid ground, if the treadmill ran at `belt` [m/s]."""
    way = np.cumsum(facing(clip) * (belt / clip.fps), axis=0)
    roots = np.array(clip.root_positions)
    roots[:, :2] += way - way[0]
    return replace(clip, root_positions=roots)
