"""How a person stands: weight on one leg, the other one forward and a little bent, arms hanging."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from gaitway.cast.person.gait.model import GaitModel, moving_joints
from gaitway.cast.person.skeleton import ANKLE_HEIGHT, LEG, person_skeleton
from gaitway.cast.person.styles import Style
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.ik import two_bone
from gaitway.motion.kinematics import forward_kinematics, local_rotations

UPPER_ARM, FOREARM = (0.05, 0.19), (0.20, 0.05)
"""Directions of hanging arms: forward and sideways parts of unit vectors, as captured people hold them."""


STANDING_LEG = 0.99
"""Distance of hip and ankle of the leg that carries, as a share of the straight leg."""

FootPlacement = tuple[float, float, float]


@dataclass(frozen=True)
class StandingPose:
    """Quiet standing, seen from the person's place: x forward, heading 0."""

    channels: tuple[float, ...]
    """Channels as those of a gait: sway x, y, height [m] and rotation vectors."""
    footprints: tuple[FootPlacement, FootPlacement]
    """Positions of the left and the right sole: x, y under the ankle [m], heading [rad]."""

    @property
    def vector(self) -> FloatArray:
        """The channels as an array; (C,)."""
        return np.array(self.channels)


@cache
def standing_pose(style: Style) -> StandingPose:
    """Return a person's own pose of standing; which leg carries the weight and how far the hip sags differ."""
    model = GaitModel.load()
    own = style.vector(model)
    weight = carrying_side(style)
    sag = 0.8 + 0.3 * float(np.tanh(np.abs(own).sum() - 1.0))
    mean = model.gaits["walk"].mean[0, 0] + np.tensordot(own, model.gaits["walk"].style, 1)[0]
    mean = mean + style.posture()
    pose = rotations.multiply(model.base, rotations.from_rotation_vector(mean[3:].reshape(-1, 3)))
    _place_trunk(pose, weight, sag)
    _hang_arms(pose, weight)
    prints = _place_legs(pose, weight, sag)
    sway = np.array([0.0, 0.035 * weight * sag])
    root = np.array([*sway, _height(pose[0], sway, prints)])
    _reach_feet(pose, root, prints)
    turns = rotations.to_rotation_vector(rotations.multiply(rotations.conjugate(model.base), pose))
    channels = np.concatenate([root, turns.ravel()])
    return StandingPose(tuple(channels.tolist()), prints)


def carrying_side(style: Style) -> float:
    """Return 1 where the left leg carries the weight, -1 where the right one does."""
    return 1.0 if sum(style.weights) >= 0.0 else -1.0


def _height(pelvis: FloatArray, sway: FloatArray, prints: tuple[FootPlacement, FootPlacement]) -> float:
    """Return the height of the root [m] at which the longer leg is as straight as people stand."""
    heights = []
    for side, where in zip(("Left", "Right"), prints, strict=True):
        hip = rotations.rotate(pelvis, person_skeleton().offsets[person_skeleton().index(side + "UpLeg")])
        away = np.hypot(*(np.array(where[:2]) - sway - hip[:2]))
        heights.append(float(ANKLE_HEIGHT + np.sqrt((STANDING_LEG * LEG) ** 2 - away**2) - hip[2]))
    return min(heights)


def _joint(name: str) -> int:
    return moving_joints().index(person_skeleton().index(name))


def _place_trunk(pose: FloatArray, weight: float, sag: float) -> None:
    """Tip the pelvis toward the free leg, and bend the spine back over the feet (in place)."""
    pose[0] = rotations.from_euler("zyx", [0.0, 0.03, 0.08 * weight * sag])
    for name, roll, turn in (("Spine", -0.06, 0.02), ("Spine1", -0.04, 0.02), ("Spine2", -0.005, 0.02)):
        counter = rotations.from_rotation_vector((roll * weight * sag, 0.0, turn * weight * sag))
        pose[_joint(name)] = rotations.multiply(counter, pose[_joint(name)])
    tilt = rotations.from_rotation_vector((0.02 * weight * sag, 0.02, 0.03 * weight))
    pose[_joint("Head")] = rotations.multiply(tilt, pose[_joint("Head")])


def _hang_arms(pose: FloatArray, weight: float) -> None:
    """Hang the arms a little away from the body, the one over the free leg a little further ahead (in place)."""
    trunk = rotations.identity()
    for name in ("Hips", "Spine", "Spine1", "Spine2"):
        trunk = rotations.multiply(trunk, pose[_joint(name)])
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        above = rotations.multiply(trunk, pose[_joint(side + "Shoulder")])
        for part, (ahead, out) in (("Arm", UPPER_ARM), ("ForeArm", FOREARM)):
            x, y = ahead - 0.05 * sign * weight, sign * out
            joint = _joint(side + part)
            now = rotations.rotate(rotations.multiply(above, pose[joint]), np.array([0.0, sign, 0.0]))
            swing = rotations.between(now, np.array([x, y, -np.sqrt(1.0 - x * x - y * y)]))
            world = rotations.multiply(swing, rotations.multiply(above, pose[joint]))
            pose[joint] = rotations.multiply(rotations.conjugate(above), world)
            above = world


def _reach_feet(pose: FloatArray, root: FloatArray, prints: tuple[FootPlacement, FootPlacement]) -> None:
    """Bend the legs so that the feet stand flat on their prints (in place)."""
    skeleton, moving = person_skeleton(), moving_joints()
    local = rotations.identity(len(skeleton))
    local[moving] = pose
    positions, world = forward_kinematics(skeleton, root, local)
    for side, (x, y, heading) in zip(("Left", "Right"), prints, strict=True):
        hip, knee, ankle, toe = (skeleton.index(side + part) for part in ("UpLeg", "Leg", "Foot", "ToeBase"))
        ahead = rotations.rotate(world[hip], np.array([1.0, 0.0, 0.0]))
        target = np.array([x, y, ANKLE_HEIGHT])
        world[hip], world[knee] = two_bone(
            positions[hip], positions[knee], positions[ankle], world[hip], world[knee], target, ahead
        )
        world[ankle] = world[toe] = rotations.from_yaw(heading)
    pose[:] = local_rotations(skeleton, world)[moving]


def _place_legs(pose: FloatArray, weight: float, sag: float) -> tuple[FootPlacement, FootPlacement]:
    """Return the legs about right for the planter to finish (in place), and the two footprints."""
    pelvis = pose[0]
    prints = []
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        carries = sign == weight
        heading = sign * (0.10 if carries else 0.10 + 0.16 * sag)
        thigh, knee = (-0.05, 0.08) if carries else (-0.16 - 0.08 * sag, 0.22 + 0.1 * sag)
        world = rotations.from_rotation_vector((0.0, thigh, 0.7 * heading))
        pose[_joint(side + "UpLeg")] = rotations.multiply(rotations.conjugate(pelvis), world)
        pose[_joint(side + "Leg")] = rotations.from_rotation_vector((0.0, knee, 0.0))
        pose[_joint(side + "Foot")] = rotations.from_rotation_vector((0.0, -thigh - knee, 0.3 * heading))
        pose[_joint(side + "ToeBase")] = rotations.identity()
        x, y = (-0.02, 0.082) if carries else (0.02 + 0.035 * sag, 0.125)
        prints.append((x, sign * y, heading))
    return prints[0], prints[1]
