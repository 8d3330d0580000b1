"""Gravity, and the centre of mass of a person."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.motion.kinematics import forward_kinematics
from gaitway.motion.skeleton import Skeleton

GRAVITY = 9.81
"""Acceleration of gravity [m/s^2]."""
_SEGMENTS = {
    # share of the body's mass, half way between two joints; limbs count once a side
    ("Hips", "Spine1"): 0.20,
    ("Spine1", "Neck"): 0.29,
    ("Head", "HeadTop_End"): 0.08,
    ("Arm", "ForeArm"): 0.028,
    ("ForeArm", "Hand"): 0.022,
    ("UpLeg", "Leg"): 0.10,
    ("Leg", "Foot"): 0.047,
    ("Foot", "ToeBase"): 0.018,
}
"""Share of each body segment in the body's mass, rounded from the usual tables."""


def centre_of_mass(skeleton: Skeleton, root: FloatArray, local: FloatArray) -> FloatArray:
    """Return the centre of mass of a person in every frame [m]; (F, 3).

    Args:
        skeleton: One with the person's joint names; whatever else it has weighs nothing.
        root: Root positions [m]; (F, 3).
        local: Local rotations; (F, J, 4).
    """
    shares = np.zeros(len(skeleton))
    for ends, mass in _SEGMENTS.items():
        for side in ("",) if ends[0] in skeleton.names else ("Left", "Right"):
            shares[[skeleton.index(side + joint) for joint in ends]] += 0.5 * mass
    positions = forward_kinematics(skeleton, root, local)[0]
    out: FloatArray = np.einsum("j,fjc->fc", shares / shares.sum(), positions)
    return out
