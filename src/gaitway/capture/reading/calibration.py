"""Calibration of feet: both feet rest flat and at the same height.

The T-pose of a capture differs from the true sole by some degrees, and the difference is not the same on both feet:
toes rest 1 to 1.5 cm higher on one side than on the other. A mirrored take would then stand with one foot in the floor.
The calibration turns the ankles and toes of a subject by a constant each, so that the balls and toes of both feet rest
at one height. It also moves the contact points to the places at which feet really touch the floor.
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

_FEWEST_FRAMES = 20
"""Least number of resting frames for which the height of a point is known."""
_REST_SPEED = 0.22
"""Speed below which a point near the floor rests [m/s]."""
_NEAR = 0.06
"""Distance from the floor below which a slow point rests [m]."""
_REST_PERCENTILE = 35.0
"""Percentile of the heights of slow frames that is the height at rest. A point is slow before it lifts, too."""
_LARGEST_TURN = np.radians(8.0)
"""Largest turn of a joint [rad]."""
_LARGEST_SHIFT = 0.03
"""Largest shift of a contact point [m]."""


@dataclass(frozen=True, eq=False)
class FootCalibration:
    """Corrections of a subject's feet."""

    skeleton: Skeleton
    """Skeleton whose contact points rest at height 0."""
    turns: dict[int, FloatArray]
    """Constant rotation of each corrected joint, in the joint's own frame; (4,) each."""
    drop: float
    """Distance by which takes are lowered [m]."""


def calibrate(clips: Sequence[Clip]) -> FootCalibration:
    """Compute the corrections of the feet from levelled takes of one skeleton."""
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
    """Return the clip with toes bent up so that none is under the floor at z = 0."""
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
    """Return the clip with its feet corrected."""
    turned = np.array(clip.rotations)
    for joint, turn in calibration.turns.items():
        turned[:, joint] = rotations.multiply(turned[:, joint], turn)
    roots = clip.root_positions - np.array([0.0, 0.0, calibration.drop])
    return replace(clip, skeleton=calibration.skeleton, root_positions=roots, rotations=rotations.normalize(turned))


def resting_heights(clips: Sequence[Clip]) -> FloatArray:
    """Return the height over the level floor at which each contact point rests [m]; (C,). 0 if it never rests."""
    count = len(clips[0].skeleton.contact_points)
    samples: list[list[FloatArray]] = [[] for _ in range(count)]
    for clip in clips:
        points = clip.contact_positions()
        speed = np.linalg.norm(steady_velocities(points, clip.fps), axis=-1)
        still = (speed < _REST_SPEED) & (np.abs(points[..., 2]) < _NEAR)
        for c in range(count):
            samples[c].append(points[still[:, c], c, 2])
    heights = [np.concatenate(s) for s in samples]
    return np.array([np.percentile(h, _REST_PERCENTILE) if len(h) >= _FEWEST_FRAMES else 0.0 for h in heights])


def _place(skeleton: Skeleton, column: int, world: FloatArray, places: FloatArray) -> FloatArray:
    point = skeleton.contact_points[column]
    return np.asarray(places[point.joint] + rotations.rotate(world[point.joint], point.offset))


def _level(way: FloatArray) -> float:
    return float(np.hypot(way[0], way[1]))


def _bounded(value: float, most: float) -> float:
    return float(np.clip(value, -most, most))


def _pitch(world: FloatArray, angle: float) -> FloatArray:
    """Return the local rotation (4,) that lifts the parts ahead of a joint by an angle; `world` is its T-pose (4,)."""
    axis = rotations.rotate(rotations.conjugate(world), np.array([0.0, 1.0, 0.0]))
    return rotations.from_axis_angle(axis, -angle)


def _lowered(point: ContactPoint, world: FloatArray, shifts: dict[str, float]) -> ContactPoint:
    """Return a contact point that is moved straight down in the T-pose, to the height at which it rests."""
    shift = _bounded(shifts.get(point.name.rpartition("_")[2], 0.0), _LARGEST_SHIFT)
    down = rotations.rotate(rotations.conjugate(world[point.joint]), np.array([0.0, 0.0, -shift]))
    x, y, z = (np.array(point.offset) + down).tolist()
    return replace(point, offset=(x, y, z))
