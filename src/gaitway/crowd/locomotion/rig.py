"""The parts of a skeleton that locomotion moves by itself: legs, feet that roll, and arms that can be tucked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gaitway.cast.person.gait.foot_roll import TOE_SHARE, TOES_FLAT
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.core.errors import CrowdError
from gaitway.motion.anatomy import t_pose, t_pose_positions
from gaitway.motion.contacts import humanoid_contact_points
from gaitway.motion.skeleton import Skeleton

SIDES = ("left", "right")
_LEG = ("hip", "knee", "ankle")
_TUCKS = (
    {"shoulder": (0.65, 1.38, 0.05), "elbow": (0.0, 0.0, 0.92)},
    {"shoulder": (0.25, 1.48, 0.02), "elbow": (0.0, 0.0, 0.10)},
)
"""Tucked arms, before the belly and beside the thighs: turn of the upper arm about its bone, down and forward; then the
bend of the elbow, last [rad]."""


@dataclass(frozen=True, eq=False, kw_only=True)
class BodyRig:
    """What the kernels need to know of a skeleton. `turn` means a world rotation away from the T-pose."""

    skeleton: Skeleton
    legs: IntArray
    """Hip, knee, ankle and toe joint of the left and the right leg, -1 for no toe; (2, 4)."""
    paths: IntArray
    """Joints from below the root down to the hip, padded with -1 in front; (2, D)."""
    lengths: FloatArray
    """Lengths of thigh and shank [m]; (2, 2)."""
    frames: FloatArray
    """World rotation of hip, knee, ankle and toe whose turn is none; feet point ahead then; (2, 4, 4)."""
    above: FloatArray
    """The same of the parents of knee, ankle and toe; (2, 3, 4)."""
    feet: FloatArray
    """Shapes of the feet, as in `foot_roll.FOOT`, and the height of the ankle over the flat sole [m]; (2, 9)."""
    columns: IntArray
    """Columns of heel, ball and toe among the contact points, -1 for none; (2, 3)."""
    tucked_joints: IntArray
    """Joints of the arms that are tucked; (K,)."""
    tucked: FloatArray
    """Their local rotations when forearms lie before the belly, then when arms lie beside the thighs; (2 K, 4)."""

    def __post_init__(self) -> None:
        for name in ("legs", "paths", "lengths", "frames", "above", "feet", "columns", "tucked_joints", "tucked"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def leg(self) -> float:
        """Length of a leg [m], mean of both."""
        return float(self.lengths.sum(axis=1).mean())


def body_rig(skeleton: Skeleton) -> BodyRig:
    """Return the rig of a skeleton.

    Raises:
        CrowdError: if it has no two legs that are known by role.
    """
    missing = [f"{s}_{p}" for s in SIDES for p in _LEG if f"{s}_{p}" not in skeleton.roles]
    if missing:
        raise CrowdError(
            f"skeleton '{skeleton.name}' has no joint known as {', '.join(missing)}; only people walk along tracks: "
            "take a library of people, or state the roles with skeleton.with_roles"
        )
    world, places = t_pose(skeleton), t_pose_positions(skeleton)
    points = skeleton.contact_points or humanoid_contact_points(skeleton)
    columns = {p.name: i for i, p in enumerate(skeleton.contact_points)}
    legs, frames, above, feet, lengths, paths = [], [], [], [], [], []
    for side in SIDES:
        hip, knee, ankle = (skeleton.roles[f"{side}_{part}"] for part in _LEG)
        toe = skeleton.roles.get(f"{side}_toe", -1)
        at = {
            p.name.rpartition("_")[2]: places[p.joint] + rotations.rotate(world[p.joint], p.offset) - places[ankle]
            for p in points
            if p.name in (f"{side}_heel", f"{side}_ball", f"{side}_toe")
        }
        if len(at) < 3:
            raise CrowdError(
                f"skeleton '{skeleton.name}' has no contact points {side}_heel, {side}_ball and {side}_toe; "
                "import the library again with `gaitway library import`"
            )
        joint = places[toe] - places[ankle] if toe >= 0 else at["ball"] + [0.0, 0.0, 0.25 * abs(at["ball"][2])]
        yaw = float(np.arctan2(joint[1], joint[0]))
        ahead = np.array([np.cos(yaw), np.sin(yaw)])
        sole = float(np.mean([at["heel"][2], at["ball"][2]]))
        shape = [
            joint[:2] @ ahead, joint[2], at["toe"][:2] @ ahead - joint[:2] @ ahead, sole - joint[2],
            at["heel"][:2] @ ahead, sole, TOES_FLAT, TOE_SHARE, -sole,
        ]  # fmt: skip
        straight = rotations.from_yaw(-yaw)
        up = [int(skeleton.parents[j]) for j in (knee, ankle, toe if toe >= 0 else ankle)]
        legs.append([hip, knee, ankle, toe])
        frames.append(
            [
                world[hip],
                world[knee],
                rotations.multiply(straight, world[ankle]),
                rotations.multiply(straight, world[toe]),
            ]
        )
        above.append([world[up[0]], world[up[1]], rotations.multiply(straight, world[up[2]])])
        feet.append(shape)
        lengths.append([np.linalg.norm(places[knee] - places[hip]), np.linalg.norm(places[ankle] - places[knee])])
        path = [hip]
        while skeleton.parents[path[0]] > 0:
            path.insert(0, int(skeleton.parents[path[0]]))
        paths.append(path)
    depth = max(len(path) for path in paths)
    arms, tucked = _tucked(skeleton, world, _TUCKS[0])
    lowered = _tucked(skeleton, world, _TUCKS[1])[1]
    return BodyRig(
        skeleton=skeleton,
        legs=np.array(legs, dtype=np.int64),
        paths=np.array([[-1] * (depth - len(path)) + path for path in paths], dtype=np.int64),
        lengths=np.array(lengths),
        frames=np.array(frames),
        above=np.array(above),
        feet=np.array(feet, dtype=np.float64),
        columns=np.array(
            [[columns.get(f"{s}_{p}", -1) for p in ("heel", "ball", "toe")] for s in SIDES], dtype=np.int64
        ),
        tucked_joints=arms,
        tucked=np.concatenate([tucked, lowered]),
    )


def _tucked(
    skeleton: Skeleton, world: FloatArray, tuck: Mapping[str, tuple[float, float, float]]
) -> tuple[IntArray, FloatArray]:
    """Return the joints of the arms (K,) and their local rotations (K, 4) when they are tucked."""
    joints, local = [], []
    for side, sign in (("left", 1.0), ("right", -1.0)):
        for part, (twist, down, forward) in tuck.items():
            joint = skeleton.roles.get(f"{side}_{part}")
            if joint is None:
                continue
            if part == "shoulder":
                turn = rotations.multiply(
                    rotations.from_axis_angle([0.0, 1.0, 0.0], -forward),
                    rotations.multiply(
                        rotations.from_axis_angle([1.0, 0.0, 0.0], -sign * down),
                        rotations.from_axis_angle([0.0, 1.0, 0.0], twist),
                    ),
                )
            else:
                turn = rotations.from_axis_angle([0.0, 0.0, 1.0], -sign * forward)
            parent = rotations.conjugate(world[skeleton.parents[joint]])
            joints.append(joint)
            local.append(rotations.multiply(rotations.multiply(parent, turn), world[joint]))
    return np.array(joints, dtype=np.int64), np.array(local).reshape(-1, 4)
