"""The skeleton of `person`: 1.75 m, 25 joints, Mixamo-like names.

Every rest rotation is the identity in a T-pose that faces +X with Z up, so a joint's world rotation IS its turn away
from the T-pose. That makes retargeting a copy of world rotations.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from gaitway.motion.skeleton import ContactPoint, Skeleton

THIGH, SHANK, ANKLE_HEIGHT = 0.43, 0.42, 0.08
"""Lengths of the leg's bones and height of the ankle over the sole [m]."""
LEG = THIGH + SHANK
HEEL = (-0.03, 0.0, -ANKLE_HEIGHT)
"""Point of the heel that meets the floor, in the foot's frame [m]. A round heel touches 3 cm behind the ankle."""
BALL = (0.13, 0.0, -ANKLE_HEIGHT)
TOE_TIP = (0.20, 0.0, -ANKLE_HEIGHT)
"""Ball and tip of the flat foot, in the foot's frame [m]."""

_SIDE = (
    # name, parent, offset of the left one
    ("Shoulder", "Spine2", (0.0, 0.06, 0.11)),
    ("Arm", "Shoulder", (0.0, 0.12, 0.0)),
    ("ForeArm", "Arm", (0.0, 0.28, 0.0)),
    ("Hand", "ForeArm", (0.0, 0.26, 0.0)),
    ("UpLeg", "Hips", (0.0, 0.09, -0.07)),
    ("Leg", "UpLeg", (0.0, 0.0, -THIGH)),
    ("Foot", "Leg", (0.0, 0.0, -SHANK)),
    ("ToeBase", "Foot", (0.13, 0.0, -0.06)),
    ("Toe_End", "ToeBase", (0.07, 0.0, 0.0)),
)
_TRUNK = (
    ("Hips", "", (0.0, 0.0, 1.0)),
    ("Spine", "Hips", (-0.01, 0.0, 0.10)),
    ("Spine1", "Spine", (0.0, 0.0, 0.11)),
    ("Spine2", "Spine1", (0.0, 0.0, 0.12)),
    ("Neck", "Spine2", (0.01, 0.0, 0.15)),
    ("Head", "Neck", (0.02, 0.0, 0.09)),
    ("HeadTop_End", "Head", (0.0, 0.0, 0.18)),
)


@cache
def person_skeleton() -> Skeleton:
    """Return the skeleton that all built-in people share."""
    rows = list(_TRUNK)
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        for name, parent, (x, y, z) in _SIDE:
            above = parent if parent in ("Spine2", "Hips") else side + parent
            rows.append((side + name, above, (x, sign * y, z)))
    names = [row[0] for row in rows]
    points = []
    for side in ("Left", "Right"):
        foot, toe = names.index(side + "Foot"), names.index(side + "ToeBase")
        points += [
            ContactPoint(f"{side.lower()}_heel", foot, HEEL),
            ContactPoint(f"{side.lower()}_ball", toe, (0.0, 0.0, -0.02)),
            ContactPoint(f"{side.lower()}_toe", toe, (TOE_TIP[0] - BALL[0], 0.0, -0.02)),
        ]
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        points += [
            ContactPoint(f"{side.lower()}_knee", names.index(side + "Leg"), (0.05, 0.0, -0.02)),
            ContactPoint(f"{side.lower()}_hand", names.index(side + "Hand"), (0.0, 0.08 * sign, -0.02)),
        ]
    return Skeleton(
        names=tuple(names),
        parents=np.array([-1 if not row[1] else names.index(row[1]) for row in rows]),
        offsets=np.array([row[2] for row in rows]),
        contact_points=tuple(points),
        tips={names.index(f"{side}Hand"): (0.0, sign * 0.18, 0.0) for side, sign in (("Left", 1), ("Right", -1))},
        name="person",
    )
