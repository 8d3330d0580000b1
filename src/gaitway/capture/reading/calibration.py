"""Feet that rest flat, at one height, left as right.

The T-pose of a capture disagrees with the true sole by some degrees, and not by the same on both feet: toes rest 1 to
1.5 cm higher on one side than on the other. A mirrored take then stands with one foot in the floor. Here the ankles and
toes of a subject are turned by a constant each, so that balls and toes of both feet rest at one height, and the contact
points are moved to where feet really touch the floor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.capture.reading.smoothing import steady_velocities
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.anatomy import t_pose, t_pose_positions
from gaitway.motion.clip import Clip
from gaitway.motion.skeleton import ContactPoint, Skeleton

_FEW = 20
"""Resting frames of a point that are needed for a judgement."""
_REST_SPEED = 0.22
_NEAR = 0.06
"""Points that are slower than this [m/s] and this near to the floor [m] rest on it."""
_LOWER_HALF = 35.0
"""Percentile of those heights that is taken for rest: a point is slow before it lifts, too."""
_LARGEST_TURN = np.radians(8.0)
_LARGEST_SHIFT = 0.03


@dataclass(frozen=True, eq=False)
class FootCalibration:
    """How a subject's feet are set right."""

    skeleton: Skeleton
    """With contact points that rest at height 0."""
    turns: dict[int, FloatArray]
    """Constant rotation of a joint in its own frame; (4,) each."""
    drop: float
    """How far takes are lowered [m]."""


def calibrate(clips: Sequence[Clip]) -> FootCalibration:
    """Judge the feet of levelled takes of one skeleton."""
    skeleton = clips[0].skeleton
    world = t_pose(skeleton)
    places = t_pose_positions(skeleton, world)
    rest = resting_heights(clips)
    columns = {p.name: i for i, p in enumerate(skeleton.contact_points)}
    balls = np.array([rest[columns[f"{side}_ball"]] for side in ("left", "right")])
    common = float(balls.mean())
    turns: dict[int, FloatArray] = {}
    tips = []
    for side, ball in zip(("left", "right"), balls.tolist(), strict=True):
        ankle = skeleton.roles[f"{side}_ankle"]
        toe = skeleton.contact_points[columns[f"{side}_ball"]].joint
        reach = _level(_place(skeleton, columns[f"{side}_ball"], world, places) - places[ankle])
        angle = _bounded((common - ball) / max(reach, 0.05), _LARGEST_TURN)
        turns[ankle] = _pitch(world[ankle], angle)
        length = _level(_place(skeleton, columns[f"{side}_toe"], world, places) - places[toe])
        tips.append((toe, length, rest[columns[f"{side}_toe"]] + angle * (reach + length)))
    tip = float(np.mean([height for _, _, height in tips]))
    for toe, length, height in tips:
        if toe not in turns and length > 0.02:  # a rig without toe joints has them on the ankle
            turns[toe] = _pitch(world[toe], _bounded((tip - height) / length, _LARGEST_TURN))
    heel = float(np.mean([rest[columns[f"{side}_heel"]] for side in ("left", "right")]))
    shifts = {"heel": heel - common, "ball": 0.0, "toe": tip - common}
    points = tuple(_lowered(p, world, shifts) for p in skeleton.contact_points)
    return FootCalibration(replace(skeleton, contact_points=points), turns, common)


def lift_toes(clip: Clip) -> Clip:
    """The clip with toes bent up just so far that none is under the floor at z = 0."""
    skeleton = clip.skeleton
    positions, world = clip.joint_transforms()
    turned = np.array(clip.rotations)
    for point in skeleton.contact_points:
        side, _, part = point.name.partition("_")
        if part != "toe" or point.joint != skeleton.roles.get(f"{side}_toe"):
            continue
        way = rotations.rotate(world[:, point.joint], np.array(point.offset))
        floor = -positions[:, point.joint, 2]  # of the tip, as seen from the joint
        sunk = np.flatnonzero(way[:, 2] < np.minimum(floor, 0.0))
        if len(sunk) == 0:
            continue
        length = np.linalg.norm(way[sunk], axis=1)
        up = np.clip(np.minimum(floor[sunk], 0.0), -length, 0.0)
        level = np.hypot(way[sunk, 0], way[sunk, 1])
        stretch = np.sqrt(np.maximum(length**2 - up**2, 0.0)) / np.maximum(level, 1e-3)
        wanted = np.column_stack([way[sunk, :2] * stretch[:, None], up])
        here = world[sunk, point.joint]
        lift = rotations.multiply(rotations.between(way[sunk], wanted), here)
        turned[sunk, point.joint] = rotations.multiply(
            turned[sunk, point.joint], rotations.multiply(rotations.conjugate(here), lift)
        )
    return replace(clip, rotations=rotations.normalize(turned))


def calibrated(clip: Clip, calibration: FootCalibration) -> Clip:
    """The clip with its feet set right."""
    turned = np.array(clip.rotations)
    for joint, turn in calibration.turns.items():
        turned[:, joint] = rotations.multiply(turned[:, joint], turn)
    roots = clip.root_positions - np.array([0.0, 0.0, calibration.drop])
    return replace(clip, skeleton=calibration.skeleton, root_positions=roots, rotations=rotations.normalize(turned))


def resting_heights(clips: Sequence[Clip]) -> FloatArray:
    """Height over the level floor at which each contact point of a subject rests [m]; (C,). 0 where it never does."""
    count = len(clips[0].skeleton.contact_points)
    samples: list[list[FloatArray]] = [[] for _ in range(count)]
    for clip in clips:
        points = clip.contact_positions()
        speed = np.linalg.norm(steady_velocities(points, clip.fps), axis=-1)
        still = (speed < _REST_SPEED) & (np.abs(points[..., 2]) < _NEAR)
        for c in range(count):
            samples[c].append(points[still[:, c], c, 2])
    heights = [np.concatenate(s) for s in samples]
    return np.array([np.percentile(h, _LOWER_HALF) if len(h) >= _FEW else 0.0 for h in heights])


def _place(skeleton: Skeleton, column: int, world: FloatArray, places: FloatArray) -> FloatArray:
    point = skeleton.contact_points[column]
    return np.asarray(places[point.joint] + rotations.rotate(world[point.joint], point.offset))


def _level(way: FloatArray) -> float:
    return float(np.hypot(way[0], way[1]))


def _bounded(value: float, most: float) -> float:
    return float(np.clip(value, -most, most))


def _pitch(world: FloatArray, angle: float) -> FloatArray:
    """A joint's own rotation (4,) that lifts what lies ahead of it by an angle, given its T-pose rotation (4,)."""
    axis = rotations.rotate(rotations.conjugate(world), np.array([0.0, 1.0, 0.0]))
    return rotations.from_axis_angle(axis, -angle)


def _lowered(point: ContactPoint, world: FloatArray, shifts: dict[str, float]) -> ContactPoint:
    """A contact point moved straight down in the T-pose, to where it rests on the floor."""
    shift = _bounded(shifts.get(point.name.rpartition("_")[2], 0.0), _LARGEST_SHIFT)
    down = rotations.rotate(rotations.conjugate(world[point.joint]), np.array([0.0, 0.0, -shift]))
    x, y, z = (np.array(point.offset) + down).tolist()
    return replace(point, offset=(x, y, z))
