"""The skeleton of `horse`: 1.6 m at the withers, 35 joints.

The root is the barrel, near the centre of mass, so that the planar path is that of the whole animal; the loin, croup
and hind legs hang behind it, chest, neck and forelegs before it. The rest pose is a horse that stands square and faces
+X; all rest rotations are the identity, and every leg lies in a vertical plane at rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.motion.skeleton import ContactPoint, Skeleton

WITHERS_HEIGHT = 1.6
"""Height of the top of the back over the shoulders when it stands [m]; the joint lies under skin and spines."""
STAND_HEIGHT = 1.24
"""Height of the root when it stands [m]."""

_TRUNK = (
    # name, parent, place at rest (x, z) [m]
    ("Barrel", "", (0.0, STAND_HEIGHT)),
    ("Loin", "Barrel", (-0.24, 1.36)),
    ("Croup", "Loin", (-0.46, 1.38)),
    ("Chest", "Barrel", (0.26, 1.34)),
    ("Neck", "Chest", (0.56, 1.34)),
    ("Neck1", "Neck", (0.75, 1.53)),
    ("Neck2", "Neck1", (0.92, 1.73)),
    ("Head", "Neck2", (1.05, 1.90)),
    ("Muzzle", "Head", (1.35, 1.44)),
    ("Tail", "Croup", (-0.80, 1.40)),
    ("Tail1", "Tail", (-0.90, 1.27)),
    ("Tail2", "Tail1", (-0.93, 1.09)),
    ("Tail3", "Tail2", (-0.94, 0.89)),
)
_FORE = (
    ("Scapula", "Chest", (0.42, 1.47)),
    ("Humerus", "Scapula", (0.66, 1.12)),
    ("Radius", "Humerus", (0.47, 0.90)),
    ("Cannon", "Radius", (0.49, 0.48)),
    ("Pastern", "Cannon", (0.49, 0.215)),
    ("Hoof", "Pastern", (0.565, 0.085)),
)
_HIND = (
    ("Femur", "Croup", (-0.60, 1.22)),
    ("Tibia", "Femur", (-0.41, 0.90)),
    ("Cannon", "Tibia", (-0.71, 0.57)),
    ("Pastern", "Cannon", (-0.68, 0.225)),
    ("Hoof", "Pastern", (-0.60, 0.085)),
)
HALF_WIDTH = {"Fore": 0.14, "Hind": 0.14}
"""Distance of each leg's plane from the middle at rest [m]."""
TOE = (0.075, 0.0, -0.085)
HEEL = (-0.045, 0.0, -0.085)
"""Points of the hoof that meet the ground, toe and heel, in the hoof's frame [m]."""
LEGS = ("LeftHind", "RightHind", "LeftFore", "RightFore")
"""Columns of the clips' contacts: one hoof each, the point of its toe."""


@dataclass(frozen=True, eq=False)
class LegGeometry:
    """Joint indices and lengths of one leg, from the joint that swings it down to the hoof."""

    name: str
    joints: tuple[int, ...]
    """All joints of the leg, top first: a foreleg begins with its scapula."""
    bones: FloatArray
    """Rest vectors (x, z) [m] of the three bones between the pivot (shoulder or hip joint) and the fetlock; (3, 2)."""
    pastern: FloatArray
    """Rest vector (x, z) [m] from the fetlock to the hoof's joint; (2,)."""
    rest_toe: tuple[float, float]
    """Position of its toe at rest, relative to the root: along and across [m]."""

    @property
    def is_fore(self) -> bool:
        """Whether it is a foreleg (with a scapula)."""
        return self.name.endswith("Fore")


@cache
def horse_skeleton() -> Skeleton:
    """Return the skeleton that all built-in horses share."""
    rows = [(name, parent, (x, 0.0, z)) for name, parent, (x, z) in _TRUNK]
    for leg in LEGS:
        side = 1.0 if leg.startswith("Left") else -1.0
        for name, parent, (x, z) in _FORE if leg.endswith("Fore") else _HIND:
            above = parent if parent in ("Chest", "Croup") else leg + parent
            rows.append((leg + name, above, (x, side * HALF_WIDTH[leg[-4:]], z)))
    names = [row[0] for row in rows]
    places = np.array([row[2] for row in rows])
    parents = np.array([-1 if not row[1] else names.index(row[1]) for row in rows])
    offsets = places.copy()
    offsets[1:] -= places[parents[1:]]
    points = [ContactPoint(_point_name(leg), names.index(leg + "Hoof"), TOE) for leg in LEGS]
    tips = {names.index("Tail3"): (0.0, 0.0, -0.22)}
    tips |= {names.index(leg + "Hoof"): TOE for leg in LEGS}
    roles = {"hips": "Barrel", "spine": "Loin", "chest": "Chest", "neck": "Neck2", "head": "Head"}
    return Skeleton(
        names=tuple(names),
        parents=parents,
        offsets=offsets,
        contact_points=tuple(points),
        tips=tips,
        roles={role: names.index(joint) for role, joint in roles.items()},
        name="horse",
    )


def _point_name(leg: str) -> str:
    return f"{'left' if leg.startswith('Left') else 'right'}_{leg[-4:].lower()}_hoof"


@cache
def leg_geometry(leg: str) -> LegGeometry:
    """Return the measures of one of `LEGS`."""
    skeleton = horse_skeleton()
    names = _FORE if leg.endswith("Fore") else _HIND
    joints = tuple(skeleton.index(leg + name) for name, _, _ in names)
    planar = skeleton.offsets[:, [0, 2]]
    toe = skeleton.rest_positions[joints[-1]] + np.array(TOE)
    return LegGeometry(leg, joints, planar[list(joints[-4:-1])], planar[joints[-1]], (float(toe[0]), float(toe[1])))
