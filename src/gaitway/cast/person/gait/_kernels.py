"""Compiled loops of `foot_roll`: plain arrays in, plain arrays out."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.jit import kernel

JOINT_ALONG, JOINT_UP, TOES_ALONG, TOES_UP, HEEL_ALONG, HEEL_UP, FLAT_ANGLE, TIP_SHARE = range(8)
"""Places in `foot_roll.FOOT`: toe joint and heel seen from the ankle, tip of the toes seen from the toe joint [m];
angle up to which the toes lie flat [rad]; share of any further rise that lifts the ball over the tip of the toes."""


@kernel
def roll(ankles: FloatArray, yaws: FloatArray, pitch: FloatArray, foot: FloatArray, out: FloatArray) -> None:
    """Compute the ankles (N, 3) of a foot rolled by `pitch` (N,); the last argument receives them.

    Args:
        ankles: Ankle positions of the flat foot [m]; (N, 3), or (1, 3) for all.
        yaws: Headings of the foot [rad]; (N,) or (1,).
        pitch: Toes up positive [rad]; (N,).
        foot: Shape of the foot, see `foot_roll.FOOT`; (8,).
        out: Receives the positions; (N, 3).
    """
    for n in range(len(pitch)):
        along, up = rolled(pitch[n], foot)
        ankle, yaw = ankles[min(n, len(ankles) - 1)], yaws[min(n, len(yaws) - 1)]
        out[n, 0] = ankle[0] + along * np.cos(yaw)
        out[n, 1] = ankle[1] + along * np.sin(yaw)
        out[n, 2] = ankle[2] + up


@kernel(inner=True)
def rolled(pitch: float, foot: FloatArray) -> tuple[float, float]:
    """Return how far along and up the ankle goes when the foot rolls over its heel or its toes."""
    joint_along, joint_up, toes_along, toes_up = foot[JOINT_ALONG], foot[JOINT_UP], foot[TOES_ALONG], foot[TOES_UP]
    cosine, sine = np.cos(pitch), np.sin(pitch)
    if pitch > 0.0:
        heel_along, heel_up = foot[HEEL_ALONG], foot[HEEL_UP]
        along = heel_along * (1.0 - cosine) + heel_up * sine
        return along, heel_up * (1.0 - cosine) - heel_along * sine
    tilt = -foot[TIP_SHARE] * max(-pitch - foot[FLAT_ANGLE], 0.0)
    along = joint_along * (1.0 - cosine) + joint_up * sine
    up = joint_up * (1.0 - cosine) - joint_along * sine
    cosine, sine = np.cos(tilt), np.sin(tilt)
    along += toes_along * (1.0 - cosine) + toes_up * sine
    return along, up + toes_up * (1.0 - cosine) - toes_along * sine


@kernel
def raise_heel(
    ankle: FloatArray, yaw: float, hip: FloatArray, late: FloatArray, foot: FloatArray, limit: float, pitch: FloatArray
) -> None:
    """Raise the heel of a standing foot until its leg is hardly longer than `limit` [m]; `pitch` (N,) in place.

    Args:
        ankle: Ankle position of the flat foot [m]; (3,).
        yaw: Heading of the foot [rad].
        hip: Hip position in every frame [m]; (N, 3).
        late: How much of the rise each frame may have, 0 to 1; (N,).
        foot: Shape of the foot, see `foot_roll.FOOT`; (8,).
        limit: Length of a leg that needs no rise [m].
        pitch: Toes up positive [rad]; lowered where needed.
    """
    for n in range(len(pitch)):
        if late[n] <= 0.0:
            continue
        raised = pitch[n]
        for _ in range(6):
            along, up = rolled(raised, foot)
            x = ankle[0] + along * np.cos(yaw) - hip[n, 0]
            y = ankle[1] + along * np.sin(yaw) - hip[n, 1]
            z = ankle[2] + up - hip[n, 2]
            over = max(np.sqrt(x * x + y * y + z * z) - limit, 0.0)
            soft = over * over / (over + 0.01)  # begins gently
            raised = max(raised - late[n] * soft / 0.14, -1.2)
        pitch[n] = min(raised, pitch[n])
