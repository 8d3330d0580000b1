"""How hands and things fit: where a hand grasps or touches a thing, and things as solids and as capsules in a hand."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, owned
from gaitway.core.errors import LimbError
from gaitway.limbs.linkage import Limb
from gaitway.limbs.stance import GRIP
from gaitway.limbs.surroundings import Carried
from gaitway.motion.body import capsule_body
from gaitway.scene.things import Thing
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Shape
from gaitway.world.thing_forms import BALL, CYLINDER, solid_form, surface_grid, thing_capsules

_HAND = 0.18
"""Length of the hand that the lengths below belong to [m]."""
_PALM = 0.022
"""Distance from the middle of a hand to its palm [m]."""
_DEEP = 0.1
"""Greatest height of a thing that is held by its middle from above [m]."""
_FLAT = 0.04
"""Height up to which a thing is flat, so that a hand from above lies on it [m]."""
_PINCH = 0.75
"""Where on the way from the wrist to the fingertips a hand pinches a thing that has a place to be grasped."""


@dataclass(frozen=True, eq=False)
class ThingPose:
    """Where a thing is, in the world or in the frame of a joint."""

    at: FloatArray
    """Its origin [m]; (3,)."""
    turn: FloatArray
    """wxyz; (4,)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", owned(self.at, "place of a thing", (3,), error=LimbError))
        object.__setattr__(self, "turn", owned(self.turn, "turn of a thing", (4,), error=LimbError))

    @staticmethod
    def upright(at: npt.ArrayLike, yaw: float) -> ThingPose:
        """Return the pose of a thing that stands upright at a point [m] and is turned by a yaw [rad]."""
        return ThingPose(np.asarray(at, dtype=np.float64), rotations.from_yaw(yaw))

    def point(self, local: npt.ArrayLike) -> FloatArray:
        """Return a point of the thing's own frame [m]; (3,)."""
        return np.asarray(self.at + rotations.rotate(self.turn, local))

    def within(self, outer: ThingPose) -> ThingPose:
        """Return this pose in the frame of another one."""
        back = rotations.conjugate(outer.turn)
        return ThingPose(rotations.rotate(back, self.at - outer.at), rotations.multiply(back, self.turn))

    def carried(self, inner: ThingPose) -> ThingPose:
        """Return the pose in the world of what has the pose `inner` in this frame."""
        turn = rotations.normalize(rotations.multiply(self.turn, inner.turn))
        return ThingPose(self.point(inner.at), turn)


def palm(limb: Limb) -> FloatArray:
    """Return the direction that the palm of a hand faces, in the frame of the last segment; (3,)."""
    return np.array([0.0, 1.0 if limb.name.startswith("left") else -1.0, 0.0])


def grip_point(limb: Limb, thing: Thing, from_above: bool = False, number: int = 0) -> FloatArray:
    """Return where in a hand the place is by which it grasps a thing, in the frame of the last segment [m]; (3,).

    Args:
        limb: the arm.
        thing: the thing.
        from_above: whether the palm is on top of it, and not at its side.
        number: which of its grasps.
    """
    size = float(np.linalg.norm(limb.tip)) / _HAND
    half = 0.5 * (min(thing.size[2], _DEEP) if from_above else thing.width)
    along, deep = (_PINCH, size * _PALM) if thing.grasps else (GRIP, size * _PALM + half)
    if from_above and thing.size[2] <= _FLAT:  # the hand lies on it, clear of what it stands on
        place = thing.grasps[number % len(thing.grasps)][2] if thing.grasps else thing.middle[2]
        deep = max(deep, _hand_radius(limb) + thing.size[2] - place)
    return along * limb.tip + deep * palm(limb)


def _hand_radius(limb: Limb) -> float:
    """Return how thick half a hand is [m]."""
    body = capsule_body(limb.skeleton)
    return float(body.radii[body.names.index(limb.name.replace("_arm", "_hand"))])


def grasp_place(thing: Thing, number: int = 0) -> FloatArray:
    """Return where a thing is grasped, in its own frame [m]; (3,)."""
    return np.array(thing.grasps[number % len(thing.grasps)] if thing.grasps else thing.middle)


def nearest_grasp(thing: Thing, pose: ThingPose, seen: npt.ArrayLike) -> int:
    """Return the number of the grasp of a thing that is nearest to somebody.

    Args:
        thing: the thing.
        pose: where it is.
        seen: where the one is who grasps it [m]; only x and y count.
    """
    away = [round(math.dist(pose.point(p)[:2], np.asarray(seen)[:2]), 6) for p in thing.grasps]
    return away.index(min(away)) if away else 0


def touch_place(thing: Thing, pose: ThingPose, seen: npt.ArrayLike) -> FloatArray:
    """Return where a thing is touched, in the world [m]; (3,).

    Args:
        thing: the thing.
        pose: where it is.
        seen: where the one is who touches it [m]; (2,).
    """
    if thing.touch is not None:
        return pose.point(thing.touch)
    own = rotations.rotate(rotations.conjugate(pose.turn), np.array([*np.asarray(seen)[:2], pose.at[2]]) - pose.at)
    half, middle = 0.5 * np.array(thing.size), np.array(thing.middle)
    if thing.mesh is not None:
        return pose.point(_outermost(thing, own))
    if thing.shape in (CYLINDER, BALL):
        away = own[:2] / max(math.hypot(own[0], own[1]), 1e-9)
        return pose.point(middle + np.array([*(half[0] * away), 0.0]))
    axis = int(np.argmax(np.round(np.abs(own[:2]) - half[:2], 9)))
    side = np.zeros(3)
    side[axis] = math.copysign(half[axis], own[axis])
    return pose.point(middle + side)


def held_pose(thing: Thing, limb: Limb, wrist: ThingPose, number: int, yaw: float) -> ThingPose:
    """Return where an upright thing is that a wrist has just grasped, in the world.

    Args:
        thing: the thing.
        limb: the arm.
        wrist: the wrist joint.
        number: which of its grasps.
        yaw: how the thing is turned [rad].
    """
    turn = rotations.from_yaw(yaw)
    at = wrist.point(rotations.rotate(limb.turns[3], grip_point(limb, thing)))
    return ThingPose(at - rotations.rotate(turn, grasp_place(thing, number)), turn)


def thing_shape(thing: Thing, pose: ThingPose) -> Shape:
    """Return the shape of a thing that stands upright somewhere."""
    ahead = rotations.rotate(pose.turn, np.array([1.0, 0.0, 0.0]))
    x, y, z = pose.at.tolist()
    solid = solid_form(thing.shape, thing.size, thing.mesh)
    return solid.placed((x, y, math.atan2(ahead[1], ahead[0]))).raised(z)


def thing_obstacle(thing: Thing, pose: ThingPose) -> Obstacle:
    """Return a thing that stands upright somewhere as an obstacle."""
    return Obstacle(thing_shape(thing, pose), name=thing.name)


def thing_carried(thing: Thing, inner: ThingPose) -> Carried:
    """Return a thing as what a hand holds; `inner` is its pose in the frame of the wrist joint."""
    starts, ends, radii = thing_capsules(thing.shape, thing.size, thing.mesh)
    low, high = (inner.at + rotations.rotate(inner.turn, points) for points in (starts, ends))
    return Carried(low, high, radii)


def _outermost(thing: Thing, seen: FloatArray) -> FloatArray:
    """Return the point of a mesh about its middle height that is nearest to somebody, in its own frame [m]; (3,)."""
    assert thing.mesh is not None
    points = surface_grid(thing.mesh, 0.1 * max(thing.size))
    away = np.hypot(points[:, 0] - seen[0], points[:, 1] - seen[1]) + 2.0 * np.abs(points[:, 2] - thing.middle[2])
    return np.asarray(points[int(np.argmin(np.round(away, 6)))])
