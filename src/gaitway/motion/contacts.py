"""Contacts of feet with the ground, detected from height and speed with hysteresis.

Captures differ in unit, floor height, floor slope and noise, so every point is measured against its own resting height
over a plane fitted to the capture. Speed limits grow with the speed of the pelvis: fixed limits either lose the feet of
a runner or glue those of a character who turns on the spot.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion import _contact_kernels
from gaitway.motion.anatomy import leg_length, t_pose, t_pose_positions
from gaitway.motion.clip import Clip
from gaitway.motion.kinematics import linear_velocities
from gaitway.motion.skeleton import ContactPoint, Skeleton

_FOOT_PARTS = ("heel", "ball", "toe")
# Shape of a foot as shares of the leg's length, from a person whose leg (hip to ankle) is 0.85 m.
_HEEL_BACK, _TOE_THICKNESS, _ANKLE_HEIGHT, _BALL_AHEAD, _TOE_AHEAD = (x / 0.85 for x in (0.03, 0.02, 0.08, 0.13, 0.07))

_UNEVEN = 0.04
"""Greatest difference of the resting heights of both feet's points in one clip [m]."""


@dataclass(frozen=True)
class ContactLimits:
    """Limits of what counts as resting; each pair is (to begin, to go on), for a leg of 0.85 m."""

    height: tuple[float, float] = (0.02, 0.03)
    """Height above the point's own resting height [m]. A higher limit glues feet that swing low."""
    speed: tuple[float, float] = (0.25, 0.32)
    """Speed [m/s]."""
    speed_share: tuple[float, float] = (0.1, 0.12)
    """Addition to the speed limit for every m/s of the pelvis (its fastest within a quarter of a second)."""
    settled: tuple[float, float] = (0.02, 0.015)
    """Distance to the resting place, level and upright, within which a contact begins and ends [m]."""
    shortest_s: float = 0.08
    """Contacts shorter than this are dropped [s], and gaps of up to half of it are closed."""
    smoothing_s: float = 0.012
    """Width of the filter over positions before speeds are taken [s]; more is quieter and later."""


STILL = 0.0005
"""Farthest that a foot moves in a frame while it stays exactly in place [m]; captured feet slide farther."""


def humanoid_contact_points(skeleton: Skeleton) -> tuple[ContactPoint, ...]:
    """Return heel, ball and toe of both feet, placed by the T-pose of any humanoid.

    The sole lies a toe's thickness under the toe joint; without a toe joint it is guessed from the length of the leg.
    The ball belongs to the toes: they stay flat on the ground while the foot turns about their joint.
    """
    leg, world = leg_length(skeleton), t_pose(skeleton)
    places = t_pose_positions(skeleton, world)
    names, joints, soles = [], [], []
    for side in ("left", "right"):
        ankle = skeleton.roles[f"{side}_ankle"]
        toe = skeleton.roles.get(f"{side}_toe", ankle)
        at, ball = places[ankle], places[toe]
        if toe == ankle:
            ball = at + leg * np.array([_BALL_AHEAD, 0.0, _TOE_THICKNESS - _ANKLE_HEIGHT])
        ahead = _unit(np.array([ball[0] - at[0], ball[1] - at[1], 0.0]))
        tip = _tip(skeleton, toe, world, places) if toe != ankle else ball + leg * _TOE_AHEAD * ahead
        sole = ball[2] - leg * _TOE_THICKNESS
        heel = at - leg * _HEEL_BACK * ahead
        for part, joint, place in (("heel", ankle, heel), ("ball", toe, ball), ("toe", toe, tip)):
            names.append(f"{side}_{part}")
            joints.append(joint)
            soles.append((place[0], place[1], sole))
    offsets = rotations.rotate(rotations.conjugate(world[joints]), np.array(soles) - places[joints])
    return tuple(ContactPoint(n, j, (x, y, z)) for n, j, (x, y, z) in zip(names, joints, offsets.tolist(), strict=True))


def foot_points(side: str) -> set[str]:
    """Return the names of the contact points that the foot of a side may have."""
    return {f"{side}_{part}" for part in _FOOT_PARTS}


def with_contact_points(clip: Clip) -> Clip:
    """Return the clip on a skeleton that has contact points: its own, or else those of `humanoid_contact_points`."""
    if clip.skeleton.contact_points:
        return clip
    return replace(clip, skeleton=replace(clip.skeleton, contact_points=humanoid_contact_points(clip.skeleton)))


def sole_depth(skeleton: Skeleton) -> float:
    """Return how far the sole lies below the ankle in the T-pose [m], mean of both feet."""
    points = skeleton.contact_points or humanoid_contact_points(skeleton)
    world = t_pose(skeleton)
    places = t_pose_positions(skeleton, world)
    depths = []
    for side in ("left", "right"):
        ankle = places[skeleton.roles[f"{side}_ankle"]][2]
        foot = [p for p in points if p.name in (f"{side}_heel", f"{side}_ball")]
        depths += [float(ankle - (places[p.joint] + rotations.rotate(world[p.joint], p.offset))[2]) for p in foot]
    return float(np.mean(depths)) if depths else _ANKLE_HEIGHT * leg_length(skeleton)


def floor_height(clip: Clip) -> float:
    """Return the height of the floor [m], from the lowest point of the feet in frames where that point is nearly still.

    Where a take has several levels, the lowest that is used for a while counts.
    """
    clip = with_contact_points(clip)
    points = clip.contact_positions()[:, _feet(clip.skeleton)]
    lowest = np.argmin(points[..., 2], axis=1)
    frame = np.arange(len(clip))
    height = points[frame, lowest, 2]
    speed = np.linalg.norm(linear_velocities(points, clip.fps), axis=-1)[frame, lowest]
    going = np.linalg.norm(linear_velocities(clip.root_positions[:, :2], clip.fps), axis=-1)
    still = speed < 0.3 + 0.15 * going
    if still.sum() >= max(3, 0.02 * len(clip)):
        return float(np.percentile(height[still], 25.0))
    return float(np.percentile(height, 3.0))


def detect_contacts(
    clip: Clip,
    limits: ContactLimits = ContactLimits(),  # noqa: B008  (frozen)
    rest: FloatArray | None = None,
) -> Clip:
    """Return the clip with `contacts` found, on a skeleton with contact points.

    Args:
        clip: motion of a skeleton with contact points, or of any humanoid (which is given heels, balls and toes).
        limits: heights and speeds that count as resting; scaled by the figure's leg length.
        rest: height at which each point rests [m], (C,) or (F, C), where it is known; None fits it to the clip.
    """
    clip = with_contact_points(clip)
    size = _size(clip.skeleton)
    points = (
        scipy.ndimage.gaussian_filter1d(clip.contact_positions(), limits.smoothing_s * clip.fps, axis=0, mode="nearest")
        / size
    )
    roots = clip.root_positions[:, :2] / size
    speed = np.linalg.norm(linear_velocities(points, clip.fps), axis=-1)
    window = max(int(0.5 * clip.fps) | 1, 1)
    smooth_roots = scipy.ndimage.gaussian_filter1d(roots, 0.05 * clip.fps, axis=0, mode="nearest")
    going = scipy.ndimage.maximum_filter1d(np.linalg.norm(linear_velocities(smooth_roots, clip.fps), axis=-1), window)
    resting = np.empty(speed.shape)
    if rest is not None:
        resting[:] = rest / size
    else:
        is_foot = np.isin(np.arange(speed.shape[1]), _feet(clip.skeleton))
        _contact_kernels.resting_heights(points, speed, going, is_foot, _UNEVEN, resting)
    shortest = limits.shortest_s * clip.fps
    gap, length = max(int(0.5 * shortest), 1), max(int(np.ceil(shortest)), 1)
    table = np.array([limits.height, limits.speed, limits.speed_share, limits.settled])
    contacts = np.empty(speed.shape, dtype=bool)
    _contact_kernels.contacts(points, speed, going, resting, table, gap, length, contacts)
    return replace(clip, contacts=contacts)


def stances(flags: BoolArray) -> list[tuple[int, int]]:
    """Return the start and stop (exclusive) of every run of True in (F,)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], np.asarray(flags).astype(np.int8), [0]])))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _feet(skeleton: Skeleton) -> list[int]:
    """Return the columns of the contact points that belong to feet; all of them where none is named so."""
    feet = [i for i, p in enumerate(skeleton.contact_points) if p.name.rpartition("_")[2] in _FOOT_PARTS]
    return feet or list(range(len(skeleton.contact_points)))


def _size(skeleton: Skeleton) -> float:
    """Return the leg length relative to a person of 1.75 m; 1 for a figure without legs known by role."""
    known = all(f"{s}_{r}" in skeleton.roles for s in ("left", "right") for r in ("hip", "knee", "ankle"))
    return leg_length(skeleton) / 0.85 if known else 1.0


def _tip(skeleton: Skeleton, toe: int, world: FloatArray, places: FloatArray) -> FloatArray:
    """Return where the toes end in the T-pose: the rig's tip, a child joint, or a toe's length ahead."""
    children = skeleton.children(toe)
    if toe in skeleton.tips:
        step = rotations.rotate(world[toe], skeleton.tips[toe])
    elif children:
        step = rotations.rotate(world[toe], skeleton.offsets[children[0]])
    else:
        step = leg_length(skeleton) * _TOE_AHEAD * np.array([1.0, 0.0, 0.0])
    tip: FloatArray = places[toe] + step
    return tip


def _unit(v: FloatArray) -> FloatArray:
    length = float(np.linalg.norm(v))
    return np.asarray(v / length) if length > 1e-9 else np.array([1.0, 0.0, 0.0])


def contact_slip(clip: Clip) -> float:
    """Return the farthest that a resting contact point moves from one frame to the next on the floor plan [m].

    Wheels do not count. It is infinite where contacts are not known.
    """
    if clip.contacts is None:
        return float("inf")
    moved = np.linalg.norm(np.diff(clip.contact_positions()[..., :2], axis=0), axis=-1)
    rolls = np.array([point.rolls for point in clip.skeleton.contact_points], dtype=bool)
    return float(moved[clip.contacts[1:] & clip.contacts[:-1] & ~rolls].max(initial=0.0))
