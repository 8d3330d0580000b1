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
    going = scipy.ndimage.maximum_filter1d(np.linalg.norm(linear_velocities(smooth_roots, clip.fps), axis=-1), window)[
        :, None
    ]
    resting = rest / size if rest is not None else _resting_heights(points, speed, going, _feet(clip.skeleton))
    height = points[..., 2] - resting
    begin = (height < limits.height[0]) & (speed < limits.speed[0] + limits.speed_share[0] * going)
    go_on = (height < limits.height[1]) & (speed < limits.speed[1] + limits.speed_share[1] * going)
    contacts = np.stack([_hysteresis(b, g) for b, g in zip(begin.T, go_on.T, strict=True)], axis=1)
    contacts = _without_blips(contacts, limits.shortest_s * clip.fps)
    for c in range(contacts.shape[1]):
        contacts[:, c] = _trimmed(contacts[:, c], points[:, c], speed[:, c], limits)
    return replace(clip, contacts=_without_blips(contacts, limits.shortest_s * clip.fps))


def stances(flags: BoolArray) -> list[tuple[int, int]]:
    """Return the start and stop (exclusive) of every run of True in (F,)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], np.asarray(flags).astype(np.int8), [0]])))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _resting_heights(points: FloatArray, speed: FloatArray, going: FloatArray, feet: list[int]) -> FloatArray:
    """Return the height at which each point would rest at its place; (F, C).

    The floor is one plane for the clip, with one offset per foot point.
    """
    frames, count = speed.shape
    still = speed < 0.3 + 0.1 * going
    low = np.empty(count)
    for c in range(count):
        chosen = still[:, c] if still[:, c].sum() > 4 else slice(None)
        low[c] = np.percentile(points[chosen, c, 2], 20.0 if still[:, c].sum() > 4 else 3.0)
    low[feet] = np.minimum(
        low[feet], low[feet].min() + _UNEVEN
    )  # a foot that is held in the air has no rest of its own
    centre = points[..., :2].reshape(-1, 2).mean(axis=0)
    slope, is_foot = np.zeros(2), np.isin(np.arange(count), feet)
    flat = points[..., :2] - centre
    for _ in range(6):
        off = points[..., 2] - low - flat @ slope
        keep = still & (np.abs(off) < 0.03) & is_foot
        if keep.sum() < 12:
            break
        for c in range(count):
            if keep[:, c].sum() > 4:
                low[c] += np.median(off[keep[:, c], c])
        rows = flat[keep]
        rest = (points[..., 2] - low)[keep]
        ridge = 0.02 * len(rows) * np.eye(2)  # as if every point had 14 cm of scatter on a level floor
        slope = np.clip(np.linalg.solve(rows.T @ rows + ridge, rows.T @ rest), -0.06, 0.06)
    others = [c for c in range(count) if c not in feet]
    low[others] = low[feet].mean()
    heights: FloatArray = np.broadcast_to(low, (frames, count)) + flat @ slope
    return heights


def _hysteresis(begin: BoolArray, go_on: BoolArray) -> BoolArray:
    """Return true from the first `begin` of each run of `go_on` to the end of that run; (F,)."""
    out = np.zeros(len(begin), dtype=bool)
    for start, stop in stances(begin | go_on):
        first = np.flatnonzero(begin[start:stop])
        if len(first):
            out[start + first[0] : stop] = True
    return out


def _trimmed(flags: BoolArray, points: FloatArray, speed: FloatArray, limits: ContactLimits) -> BoolArray:
    """Return contacts without the frames at their ends in which the point still moves down or already leaves; (F,)."""
    out = np.array(flags)
    for start, stop in stances(flags):
        away = points[start:stop] - np.median(points[start:stop], axis=0)
        settled = np.abs(away[:, 2]) < limits.settled[1]
        settled &= (np.linalg.norm(away[:, :2], axis=-1) < limits.settled[0]) | (speed[start:stop] < limits.speed[0])
        inside = np.flatnonzero(settled)
        first, last = (inside[0], inside[-1] + 1) if len(inside) else (stop - start, stop - start)  # never at rest
        out[start : start + first] = False
        out[start + last : stop] = False
    return out


def _without_blips(contacts: BoolArray, shortest: float) -> BoolArray:
    """Close gaps of up to half of `shortest` frames, then drop contacts shorter than `shortest`; (F, C)."""
    gap, length = max(int(0.5 * shortest), 1), max(int(np.ceil(shortest)), 1)
    pad = gap + length
    padded = np.pad(contacts, ((pad, pad), (0, 0)), mode="edge")
    closed = scipy.ndimage.binary_closing(padded, np.ones((gap + 1, 1)))
    opened: BoolArray = scipy.ndimage.binary_opening(closed, np.ones((length, 1)))[pad:-pad]
    return opened


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
