"""Knee angles and their speeds, by which tests tell whether a leg snaps."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip
from gaitway.motion.ik import LEFT_LEG, RIGHT_LEG


def knee_speeds(clip: Clip) -> FloatArray:
    """Return how fast each knee bends, left and right [rad/s]; (F - 1, 2)."""
    return np.abs(np.diff(knee_angles(clip), axis=0)) * clip.fps


def knee_angles(clip: Clip) -> FloatArray:
    """Return how far each knee is bent, left and right [rad]; 0 is straight; (F, 2)."""
    positions, columns = clip.joint_positions(), []
    for chain in (LEFT_LEG, RIGHT_LEG):
        hip, knee, ankle = clip.skeleton.require(*chain)
        thigh, shank = positions[:, knee] - positions[:, hip], positions[:, ankle] - positions[:, knee]
        sine = np.linalg.norm(np.cross(thigh, shank), axis=-1)
        columns.append(np.arctan2(sine, np.sum(thigh * shank, axis=-1)))
    return np.stack(columns, axis=1)
