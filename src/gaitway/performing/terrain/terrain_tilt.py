"""Terrain tilt: bodies on four legs or on wheels are tilted as a whole on uneven ground.

The body is tilted to the ground under the points that it stands on and raised to it. What rolls is then on the ground;
hooves and feet that rest are led to where they rested, each leg as a limb of two parts.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import stances
from gaitway.motion.footplants import bridge
from gaitway.motion.ik import set_limb, two_bone
from gaitway.motion.legs import Leg, legs_of
from gaitway.performing.terrain.underfoot import Underfoot
from gaitway.world.world import World

_WHEEL_S, _TRUNK_S = 0.02, 0.06
"""Time constants with which a body follows the ground: on wheels, which must not leave it, and on legs [s]."""
_ROUNDS = 4
"""Number of corrections: tilting moves the feet, and so changes the ground under them."""
_FADE_S = 0.1
"""Time over which a leg returns to the body's own motion after its last stance [s]."""


def carried(clip: Clip, world: World | Underfoot) -> Clip:
    """Return a motion made for a level floor, tilted with the ground of a world.

    Args:
        clip: motion with contacts, placed in the world's plan; heights count from the terrain.
        world: world with the ground, or what the motion has underfoot.
    """
    world = Underfoot(world) if isinstance(world, World) else world
    rolling = [c for c, point in enumerate(clip.skeleton.contact_points) if point.rolls]
    legs = [leg for leg in legs_of(clip.skeleton) if not set(leg.columns) & set(rolling)]
    points = clip.contact_positions()
    stand = points[:, rolling] if rolling else _stand(clip, points[:, [leg.columns[0] for leg in legs]])
    moved = _tilted(clip, stand, world, (_WHEEL_S if rolling else _TRUNK_S) * clip.fps)
    for leg in legs:
        moved = _led(clip, moved, leg, points, world)
    return moved


def _stand(clip: Clip, feet: FloatArray) -> FloatArray:
    """Return points under a body that move with it (F, P, 3), each in the middle of the path of a stepping foot."""
    ahead = rotations.from_yaw(clip.headings())[:, None]
    under = clip.root_positions[:, None] * [1.0, 1.0, 0.0]
    arms = rotations.rotate(rotations.conjugate(ahead), feet - under).mean(axis=0)
    return np.asarray(under + rotations.rotate(ahead, arms * [1.0, 1.0, 0.0]))


def _tilted(clip: Clip, stand: FloatArray, world: Underfoot, width: float) -> Clip:
    """Tilt the whole body about the point under its root, so that points (F, P, 3) under it lie on the ground."""
    under = clip.root_positions * [1.0, 1.0, 0.0]
    arms, tilt, height = stand - under[:, None], rotations.identity(len(clip)), np.zeros(len(clip))
    for _ in range(_ROUNDS):
        feet = rotations.rotate(tilt[:, None], arms)
        gradient = _plane(feet[..., :2], world.ground(under[:, None, :2] + feet[..., :2]))
        tilt = _tilt(gradient, width)
        feet = rotations.rotate(tilt[:, None], arms)
        height = (world.ground(under[:, None, :2] + feet[..., :2]) - feet[..., 2] + arms[..., 2]).mean(axis=1)
        height -= world.level
    under[:, 2] = scipy.ndimage.gaussian_filter1d(height, width, mode="nearest")
    local = np.array(clip.rotations)
    local[:, 0] = rotations.multiply(tilt, local[:, 0])
    up = np.array([0.0, 0.0, 1.0]) * clip.root_positions[:, 2:]
    return replace(clip, root_positions=under + rotations.rotate(tilt, up), rotations=local)


def _tilt(gradient: FloatArray, width: float) -> FloatArray:
    """Return rotations (F, 4) from vertical to the normals of slopes (F, 2), smoothed over a number of frames."""
    smooth = scipy.ndimage.gaussian_filter1d(gradient, width, axis=0, mode="nearest")
    return rotations.between(np.array([0.0, 0.0, 1.0]), np.column_stack([-smooth, np.ones(len(smooth))]))


def _plane(places: FloatArray, heights: FloatArray) -> FloatArray:
    """Return the slope (F, 2) of the planes that fit heights (F, P) at points (F, P, 2) best [m]."""
    flat = places - places.mean(axis=1, keepdims=True)
    high = heights - heights.mean(axis=1, keepdims=True)
    square = np.einsum("fpi,fpj->fij", flat, flat) + 1e-6 * np.eye(2)
    return np.asarray(np.linalg.solve(square, np.einsum("fpi,fp->fi", flat, high)[..., None])[..., 0])


def _led(clip: Clip, moved: Clip, leg: Leg, points: FloatArray, world: Underfoot) -> Clip:
    """Return the moved clip with the stances of one leg at their places in the level clip, on the ground."""
    last = leg.joints[2]
    if clip.contacts is None:
        return moved
    known = np.asarray(clip.contacts[:, leg.columns].any(axis=1))
    level_at, level_turns = clip.joint_transforms()
    positions, turns = moved.joint_transforms()
    shift, turn = np.zeros((len(clip), 3)), np.zeros((len(clip), 3))
    for start, stop in stances(known):
        rows, here = slice(start, stop), world.during(start, stop)
        resting = clip.contacts[rows][:, leg.columns]
        rest = points[rows][:, leg.columns][resting].mean(axis=0)
        tilt = rotations.between(np.array([0.0, 0.0, 1.0]), _normal(here, rest[:2]))
        raised = np.array([rest[0], rest[1], float(here.ground(rest[:2]))])
        goal = raised + rotations.rotate(tilt, level_at[rows, last] - rest)
        wanted = rotations.multiply(tilt, level_turns[rows, last])
        shift[rows] = goal - positions[rows, last]
        turn[rows] = rotations.to_rotation_vector(rotations.multiply(wanted, rotations.conjugate(turns[rows, last])))
    shift, turn = (bridge(v, known, clip.fps, _FADE_S) for v in (shift, turn))
    return lead(moved, leg, shift, turn)


def lead(clip: Clip, leg: Leg, shift: FloatArray, turn: FloatArray) -> Clip:
    """Return the clip with the end of one leg moved and turned; the leg follows as a limb of two bones.

    Args:
        clip: the motion.
        leg: one of `legs_of` its skeleton.
        shift: displacement of its end in each frame, in world axes [m]; (F, 3).
        turn: rotation of its end in each frame, as rotation vectors in world axes [rad]; (F, 3).
    """
    first, second, last = leg.joints
    positions, turns = clip.joint_transforms()
    pole = positions[:, second] - 0.5 * (positions[:, first] + positions[:, last])
    pole /= np.maximum(np.linalg.norm(pole, axis=-1, keepdims=True), 1e-9)
    limb = positions[:, first], positions[:, second], positions[:, last]
    upper, lower = two_bone(*limb, turns[:, first], turns[:, second], limb[2] + shift, pole)
    idle = np.abs(shift).max(axis=1) < 1e-9
    upper[idle], lower[idle] = turns[idle, first], turns[idle, second]
    end = rotations.multiply(rotations.from_rotation_vector(turn), turns[:, last])
    local = np.array(clip.rotations)
    set_limb(local, turns, clip.skeleton.parents.tolist(), leg.joints, (upper, lower, end))
    return replace(clip, rotations=rotations.normalize(local))


def _normal(world: Underfoot, place: FloatArray, reach: float = 0.05) -> FloatArray:
    """Return the normal of the ground at a point (2,), not normalised."""
    steps = np.array([[reach, 0.0], [-reach, 0.0], [0.0, reach], [0.0, -reach]])
    east, west, north, south = world.ground(place + steps)
    return np.array([west - east, south - north, 2.0 * reach])
