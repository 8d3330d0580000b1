"""Measures of a take in every frame: speed, direction, posture, and which feet are on the ground."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gaitway.capture.reading.smoothing import low_pass
from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.anatomy import leg_length, t_pose, t_pose_positions
from gaitway.motion.clip import Clip
from gaitway.motion.skeleton import Skeleton

GRAVITY = 9.81
"""Acceleration of gravity [m/s^2]."""
PERSON_LEG = 0.85
"""Leg length of the reference person of 1.75 m, for whom lengths and speeds of limits are given [m]."""
_SWAY_S = 0.18
"""Width of the filter that removes the sway of single steps from the path of the pelvis [s]."""
_NEAR_FLOOR = 0.012
"""Height below which a sole is not in the air [m]."""
_ARMS_WIDE, _ARMS_UP = 0.5, 0.25
"""Least distance of the hands of outstretched arms from the hips: to the side, and up [m]."""
_MASSES = (
    # share of the body mass, and the roles of the joints whose mean is the centre of that part; all shares sum to 1
    (0.14, ("left_hip", "right_hip")),
    (0.28, ("hips", "chest")),
    (0.08, ("chest",)),
    (0.08, ("head",)),
    *((0.10, (f"{side}_hip", f"{side}_knee")) for side in ("left", "right")),
    *((0.06, (f"{side}_knee", f"{side}_ankle")) for side in ("left", "right")),
    *((0.03, (f"{side}_shoulder", f"{side}_elbow")) for side in ("left", "right")),
    *((0.02, (f"{side}_elbow", f"{side}_wrist")) for side in ("left", "right")),
)


@dataclass(frozen=True)
class Stature:
    """Size of a character, and the heights of its parts when it stands straight."""

    size: float
    """Leg length divided by that of the reference person. Lengths scale with it, and speeds with its square root."""
    pelvis: float
    """Height of the middle of the hips over the sole [m]."""
    head: float
    """Height of the head joint (or else the neck or chest) over the sole [m]."""

    @property
    def pace(self) -> float:
        """Factor of speeds for a character of this size (equal Froude numbers)."""
        return float(np.sqrt(self.size))


def stature(skeleton: Skeleton) -> Stature:
    """Measure the heights of the T-pose over its soles; people stand at 0.95 to 0.98 of these heights."""
    world = t_pose(skeleton)
    places = t_pose_positions(skeleton, world)
    points = skeleton.contact_points
    soles = [places[p.joint] + rotations.rotate(world[p.joint], p.offset) for p in points]
    sole = float(np.mean([s[2] for s in soles])) if soles else float(places[:, 2].min())
    left, right = skeleton.require("left_hip", "right_hip")
    pelvis = 0.5 * float(places[left, 2] + places[right, 2]) - sole
    return Stature(leg_length(skeleton) / PERSON_LEG, pelvis, float(places[top_joint(skeleton), 2]) - sole)


def top_joint(skeleton: Skeleton) -> int:
    """Return the joint that stands for the head: head, neck, chest or spine."""
    return next((skeleton.roles[r] for r in ("head", "neck", "chest", "spine") if r in skeleton.roles), 0)


@dataclass(frozen=True, eq=False, kw_only=True)
class TakeMeasures:
    """Measures of a take; one row for each frame."""

    fps: float
    stature: Stature
    positions: FloatArray
    """Positions of the joints [m]; (F, J, 3)."""
    mass: FloatArray
    """Approximate centre of mass [m]; (F, 3)."""
    heading: FloatArray
    """Facing direction of the hips, without jumps by a full turn [rad]; (F,)."""
    ahead: FloatArray
    """Speed along the facing direction, without sway [m/s]; (F,)."""
    aside: FloatArray
    """Speed to the left, without sway [m/s]; (F,)."""
    turning: FloatArray
    """Turning rate without sway [rad/s]; (F,)."""
    pelvis: FloatArray
    """Height of the middle of the hips as a share of standing; (F,)."""
    head: FloatArray
    """Height of the head as a share of standing; (F,)."""
    lean: FloatArray
    """Forward angle of the line from hips to head from the vertical [rad]; (F,)."""
    tilt: FloatArray
    """Angle of the line from hips to head from the vertical, in any direction; pi is upside down [rad]; (F,)."""
    hands: FloatArray
    """Left and right wrist relative to the middle of the hips: ahead, to the left, up [m]; (F, 2, 3). Zero if the rig
    has no wrists."""
    reach: FloatArray
    """Height of the lower wrist over the floor [m]; (F,). Infinite if the rig has no wrists."""
    down: BoolArray
    """Whether the left and right foot are on the ground; (F, 2)."""
    soles: FloatArray
    """Height of the lowest point of the left and right foot [m]; (F, 2)."""

    @property
    def speed(self) -> FloatArray:
        """Speed over the ground, without sway [m/s]; (F,)."""
        return np.hypot(self.ahead, self.aside)

    @property
    def airborne(self) -> BoolArray:
        """Frames in which no foot is on or near the ground; (F,). A sliding foot is near the ground without contact."""
        touching = self.down | (self.soles < _NEAR_FLOOR * self.stature.size)
        return np.asarray(~(touching[:, 0] | touching[:, 1]))

    @property
    def arms_out(self) -> BoolArray:
        """Frames in which both arms are stretched out sideways, as in the T-pose that captures begin with; (F,)."""
        size = self.stature.size
        wide = (self.hands[:, 0, 1] > _ARMS_WIDE * size) & (self.hands[:, 1, 1] < -_ARMS_WIDE * size)
        return np.asarray(wide & (self.hands[..., 2] > _ARMS_UP * size).all(axis=1))

    @property
    def hand_speed(self) -> FloatArray:
        """Speed of the faster hand relative to the hips, smoothed over about a third of a second [m/s]; (F,)."""
        if len(self) < 2:
            return np.zeros(len(self))
        moves = np.linalg.norm(np.gradient(self.hands, axis=0), axis=-1).max(axis=1) * self.fps
        return low_pass(moves, 0.3 * self.fps)

    def last_down(self, frame: int, step: int) -> tuple[bool, bool]:
        """Return which feet are down in the nearest frame with a contact, searched back (`step` -1) or forward (1)."""
        while 0 <= frame < len(self):
            if self.down[frame].any():
                return bool(self.down[frame, 0]), bool(self.down[frame, 1])
            frame += step
        return False, False

    def __len__(self) -> int:
        return len(self.heading)


def measure(clip: Clip) -> TakeMeasures:
    """Measure a take that stands on a level floor at z = 0 and has contacts."""
    skeleton, figure = clip.skeleton, stature(clip.skeleton)
    positions = clip.joint_positions()
    left, right = skeleton.require("left_hip", "right_hip")
    hips = 0.5 * (positions[:, left] + positions[:, right])
    across = positions[:, left] - positions[:, right]
    heading = np.unwrap(np.arctan2(-across[:, 0], across[:, 1]))
    width = _SWAY_S * clip.fps
    way = low_pass(hips[:, :2], width)
    velocity = np.gradient(way, axis=0) * clip.fps if len(clip) > 1 else np.zeros_like(way)
    facing = low_pass(heading, width)
    ahead = np.cos(facing) * velocity[:, 0] + np.sin(facing) * velocity[:, 1]
    aside = -np.sin(facing) * velocity[:, 0] + np.cos(facing) * velocity[:, 1]
    top = positions[:, top_joint(skeleton)]
    points, contacts = clip.contact_positions()[..., 2], clip.contacts
    assert contacts is not None  # prepared takes have them
    feet = [[i for i, p in enumerate(skeleton.contact_points) if p.name.startswith(s)] for s in ("left", "right")]
    return TakeMeasures(
        fps=clip.fps,
        stature=figure,
        positions=positions,
        mass=centre_of_mass(positions, skeleton),
        heading=heading,
        ahead=ahead,
        aside=aside,
        turning=np.gradient(facing) * clip.fps if len(clip) > 1 else np.zeros(1),
        pelvis=hips[:, 2] / figure.pelvis,
        head=top[:, 2] / figure.head,
        lean=_lean(top - hips, facing),
        tilt=np.arctan2(np.hypot(top[:, 0] - hips[:, 0], top[:, 1] - hips[:, 1]), top[:, 2] - hips[:, 2]),
        hands=_hands(positions, skeleton, hips, facing),
        reach=_reach(positions, skeleton),
        down=np.stack([contacts[:, columns].any(axis=1) for columns in feet], axis=1),
        soles=np.stack([points[:, columns].min(axis=1) for columns in feet], axis=1),
    )


def _lean(trunk: FloatArray, facing: FloatArray) -> FloatArray:
    ahead = np.cos(facing) * trunk[:, 0] + np.sin(facing) * trunk[:, 1]
    return np.arctan2(ahead, trunk[:, 2])


def _wrists(skeleton: Skeleton) -> list[int]:
    known = [skeleton.roles.get(f"{side}_wrist") for side in ("left", "right")]
    return [joint for joint in known if joint is not None]


def _hands(positions: FloatArray, skeleton: Skeleton, hips: FloatArray, facing: FloatArray) -> FloatArray:
    wrists = _wrists(skeleton)
    if len(wrists) < 2:
        return np.zeros((len(positions), 2, 3))
    away = positions[:, wrists] - hips[:, None]
    return rotations.rotate(rotations.from_yaw(-facing)[:, None], away)


def _reach(positions: FloatArray, skeleton: Skeleton) -> FloatArray:
    wrists = _wrists(skeleton)
    return np.asarray(positions[:, wrists, 2].min(axis=1)) if wrists else np.full(len(positions), np.inf)


def centre_of_mass(positions: FloatArray, skeleton: Skeleton) -> FloatArray:
    """Return the approximate centre of mass (F, 3) of joint positions (F, J, 3), from the parts with known roles."""
    total, weight = np.zeros((len(positions), 3)), 0.0
    for mass, roles in _MASSES:
        if all(role in skeleton.roles for role in roles):
            total += mass * positions[:, [skeleton.roles[r] for r in roles]].mean(axis=1)
            weight += mass
    return total / weight if weight > 0.0 else np.array(positions[:, 0])
