"""End matching: variants begin and end on the feet of the takes of their behaviour, and so join other clips.

Pelvis, legs and contacts of the first and last frames are a take's, in pose and velocity. Trunk, arms and head are the
variant's own there, within bounds: `performing.joins` leads one clip on to the next. So variants are not pinched to one
pose at every join. Where hands rest at an end, as in a crawl, the whole body is the take's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gaitway.core import planar, rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import VariationError
from gaitway.motion import quality
from gaitway.motion.anatomy import upper_joints
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import stances
from gaitway.motion.editing import slice_frames
from gaitway.variation.network.dofs import ROOT_NAMES, Dofs
from gaitway.variation.sampling.constraints import ConstraintOptions, constrained
from gaitway.variation.sampling.point_constraints import PointConstraint, contact_constraints
from gaitway.variation.sampling.root_correction import follow_feet

HELD = 2
"""Number of frames at either end that are those of the takes: two give pose and velocity."""
FADE_S = 0.3
"""Time in which a variant's ends turn into those of the takes [s]."""
_LEVEL = 0.03
"""Range of resting heights of a point below which it rests on level ground [m]."""
_DIP = 0.003
"""Depth under the floor up to which a swinging foot is not corrected [m]."""
_STAYS = 0.02, 0.02
"""Movement and turn of a root up to which it counts as staying [m, rad]."""
MOST_AT_ENDS = float(np.radians(25.0))
"""Largest turn of a joint of the upper body away from the take at an end [rad]."""
UPPER_FADE_S = 0.3
"""The same time for upper bodies [s]."""
_ADDED = 0.7
"""Changes of velocity that an upper body may add to its take's, as a share of what is usual. Both together are then
about a fifth beyond the usual. A larger change, such as a wide swing within one step, is reduced."""


def match_ends(variant: Clip, take: Clip, *, fade_s: float = FADE_S) -> Clip:
    """Return a variant that begins and ends on the feet of a take, with still planted feet.

    In its first and last two frames pelvis and legs have the take's poses and velocities, and the upper body is no
    farther from the take than `MOST_AT_ENDS`. The change that this makes fades inward. The root follows planted feet.
    `constrained` removes the rest of their slide, and lifts swinging feet that dip into the ground.

    Args:
        variant: Variant of the take's behaviour, with contacts.
        take: Take whose ends the variant gets.
        fade_s: Time in which the change fades [s]; half of the clip at most.

    Raises:
        VariationError: if skeletons or rates differ, or a clip has no contacts, or is too short to have ends.
    """
    _check(variant, take)
    seated = _seated(variant, take, fade_s)
    rooted = follow_feet(seated, HELD) if _travels(seated) else _anchored(seated, take)
    planted, options = _planted_points(rooted, take), ConstraintOptions(held=(HELD, HELD))
    still = constrained(rooted, planted, options)
    dips = _dipping_points(still, np.minimum(take.contact_positions()[..., 2].min(axis=0), 0.0))
    if dips:
        still = constrained(rooted, [*planted, *dips], options)
    return _with_frames(still, take, (0, -1))


def free_at_end(take: Clip, first: bool) -> BoolArray:
    """Return which joints of variants are free at an end of a take: the upper body, unless hands rest there; (J,)."""
    upper = upper_joints(take.skeleton)
    rests = np.asarray(take.contacts)[:HELD] if first else np.asarray(take.contacts)[-HELD:]
    down = np.flatnonzero(np.asarray(rests.any(axis=0)))
    resting = [take.skeleton.contact_points[k].joint for k in down.tolist()]
    return np.asarray(upper & ~upper[resting].any())


def with_hand_contacts(variant: Clip, take: Clip) -> Clip:
    """Return an upper body over a take's legs, with its hands where they rest in the take, as on a block.

    Args:
        variant: Result of `with_upper_body`.
        take: Take whose legs the variant has.
    """
    if take.contacts is None:
        return variant
    lower = ~upper_joints(take.skeleton)
    points = take.contact_positions()
    resting = [
        PointConstraint(point.name, start, stop, points[start:stop, column])
        for column, point in enumerate(take.skeleton.contact_points)
        if not lower[point.joint]
        for start, stop in stances(take.contacts[:, column])
    ]
    held = constrained(variant, resting, ConstraintOptions(root=False, held=(HELD, HELD)))
    return replace(held, rotations=np.where(lower[None, :, None], take.rotations, held.rotations))


def with_upper_body(take: Clip, drawn: Clip, *, usual: FloatArray | None = None, fade_s: float = UPPER_FADE_S) -> Clip:
    """Return a take with another upper body.

    Root, legs, contacts and timing are the take's, to the last bit. At both ends a joint keeps its turn away from the
    take there, or the mean turn of the clip if that is larger: takes that share their end poses tell nothing of how
    people differ in them.

    Args:
        take: Take whose legs are kept.
        drawn: Clip with the upper body; as many frames on the same skeleton.
        usual: Root mean square changes of joints' velocities from frame to frame, which the added motion stays well
            below (`rms_velocity_changes` of takes) [rad/s]; (J,). None takes those of the take alone.
        fade_s: Time in which the ends become those [s]; half of the clip at most.

    Raises:
        VariationError: if it has another skeleton, rate or number of frames.
    """
    _check(drawn, take)
    if len(drawn) != len(take):
        raise VariationError(f"'{drawn.name}' has {len(drawn)} frames and take '{take.name}' {len(take)}")
    lower = ~upper_joints(take.skeleton)
    away = rotations.to_rotation_vector(rotations.multiply(rotations.conjugate(take.rotations), drawn.rotations))
    fade = min(fade_s * take.fps, 0.5 * len(take) - HELD)
    first = _kept_turns(away[:HELD], away.mean(axis=0), free_at_end(take, first=True)) - away[:HELD]
    last = _kept_turns(away[-HELD:], away.mean(axis=0), free_at_end(take, first=False)) - away[-HELD:]
    change = _faded(first.reshape(HELD, -1), len(take), fade)
    change += _faded(last[::-1].reshape(HELD, -1), len(take), fade)[::-1]
    away = away + change.reshape(away.shape)
    added = np.sqrt((np.diff(away, 2, axis=0) ** 2).sum(axis=-1).mean(axis=0)) * take.fps
    most = _ADDED * (rms_velocity_changes([take]) if usual is None else usual)
    away *= np.minimum(1.0, most / np.maximum(added, 1e-9))[:, None]
    turned = rotations.multiply(take.rotations, rotations.from_rotation_vector(away))
    local = np.where(lower[None, :, None], take.rotations, rotations.normalize(turned))
    return replace(take, rotations=local, name=drawn.name)


def _kept_turns(turns: FloatArray, mean: FloatArray, free: BoolArray) -> FloatArray:
    """Return the turns (HELD, J, 3) that an end keeps: its own or the mean (J, 3), whichever is larger, bounded."""
    own = np.linalg.norm(turns, axis=-1).max(axis=0) >= np.linalg.norm(mean, axis=-1)
    kept = np.where(own[:, None], turns, mean) * free[:, None]
    return np.asarray(kept * _bounded(kept, MOST_AT_ENDS))


def _bounded(vectors: FloatArray, most: float) -> FloatArray:
    """Return factors that make vectors (HELD, ..., 3) no longer than this, one for both frames; (..., 1)."""
    size = np.linalg.norm(vectors, axis=-1, keepdims=True).max(axis=0)
    return np.asarray(np.minimum(1.0, most / np.maximum(size, 1e-12)))


def velocity_changes(clip: Clip) -> FloatArray:
    """Return the change of every joint's angular velocity [rad/s] and of the root's velocity [m/s]; (F - 2, J + 1).

    A change is that from one frame to the next.
    """
    return quality.velocity_changes(clip, in_joint_frame=True)


def rms_velocity_changes(takes: Sequence[Clip]) -> FloatArray:
    """Return the root mean square change of every joint's velocity from one frame to the next [rad/s]; (J,)."""
    every = np.concatenate([velocity_changes(take)[:, :-1] for take in takes])
    return np.asarray(np.sqrt((every**2).mean(axis=0)))


def most_similar_ends(variant: Clip, takes: Sequence[Clip], frames: int = 6) -> Clip:
    """Return the take whose feet touch and leave the ground near its ends most like those of the variant.

    Args:
        variant: Variant.
        takes: Takes that all begin and end in the same poses.
        frames: Number of frames at either end that are compared.
    """

    def differ(take: Clip) -> int:
        ours, theirs = variant.contacts, take.contacts
        if ours is None or theirs is None:
            return 0
        return int((ours[:frames] != theirs[:frames]).sum() + (ours[-frames:] != theirs[-frames:]).sum())

    return min(takes, key=differ)


def _check(variant: Clip, take: Clip) -> None:
    if variant.skeleton is not take.skeleton or variant.fps != take.fps:
        raise VariationError(f"variant '{variant.name}' and take '{take.name}' differ in skeleton or frame rate")
    if variant.contacts is None or take.contacts is None:
        raise VariationError(f"variant '{variant.name}' or take '{take.name}' has no contacts; find them first")
    if min(len(variant), len(take)) < 4 * HELD:
        raise VariationError(
            f"variant '{variant.name}' has {len(variant)} frames and take '{take.name}' {len(take)}; "
            f"{4 * HELD} or more have a beginning and an end"
        )


def _seated(variant: Clip, take: Clip, fade_s: float) -> Clip:
    """Return the variant with the take's pelvis and legs in its first and last frames."""
    ends = [slice_frames(take, 0, HELD + 1), slice_frames(take, len(take) - HELD - 1, len(take))]
    some = Dofs.of([_thinned(variant), *ends])  # for the mean rotations; all columns are kept below
    dofs = replace(some, kept=np.arange(len(ROOT_NAMES) + 3 * len(take.skeleton)))
    rows = dofs.rows(variant)
    begin, end = (dofs.rows(part) for part in ends)
    fade = min(fade_s * variant.fps, 0.5 * len(rows) - HELD)
    first = _faded(_freed(begin[:HELD] - rows[:HELD], free_at_end(take, first=True)), len(rows), fade)
    last = _faded(_freed(end[-HELD:] - rows[-HELD:], free_at_end(take, first=False))[::-1], len(rows), fade)[::-1]
    contacts = np.array(variant.contacts)
    contacts[:HELD], contacts[-HELD:] = take.contacts[:HELD], take.contacts[-HELD:]  # type: ignore[index]
    start = take.planar_path()[0]
    seated = dofs.clip(rows + first + last, variant.name, start, contacts, variant.labels)
    return _with_frames(seated, take, (0, 1, -2, -1))


def _freed(change: FloatArray, free: BoolArray) -> FloatArray:
    """Return a change of rows (HELD, n) without what leads free joints to the take, unless they are too far from it."""
    out = change.copy()
    turns = change[:, len(ROOT_NAMES) :].reshape(HELD, -1, 3)
    far = turns * (1.0 - _bounded(turns, MOST_AT_ENDS))
    out[:, len(ROOT_NAMES) :] = np.where(free[:, None], far, turns).reshape(HELD, -1)
    return out


def _thinned(clip: Clip) -> Clip:
    """Return a clip of some of its frames."""
    some = slice(None, None, max(len(clip) // 16, 1))
    return replace(clip, root_positions=clip.root_positions[some], rotations=clip.rotations[some], contacts=None)


def _faded(known: FloatArray, frames: int, fade: float) -> FloatArray:
    """Return values (2, n) of the first two frames that go on with their slope and fade to zero; (frames, n)."""
    t = np.clip((np.arange(frames) - (HELD - 1)) / max(fade, 1.0), 0.0, 1.0)[:, None]
    slope = (known[1] - known[0]) * max(fade, 1.0)
    out = known[1] * (1.0 - t * t * (3.0 - 2.0 * t)) + slope * t * (1.0 - t) ** 2
    out[:HELD] = known
    return np.asarray(out)


def _travels(clip: Clip) -> bool:
    """Return whether the root moves; a root that stays cannot drift, and is not moved for a foot's sake."""
    path = clip.planar_path()
    return bool(np.ptp(path[:, :2], axis=0).max() > _STAYS[0] or np.ptp(path[:, 2]) > _STAYS[1])


def _anchored(clip: Clip, take: Clip) -> Clip:
    """Return the clip of a character that stays, with its root brought back to where the take's root ends."""
    went, wanted = (planar.relative(*each.planar_path()[[0, -1]]) for each in (clip, take))
    t = np.clip((np.arange(len(clip)) - (HELD - 1)) / max(len(clip) - 2 * HELD + 1, 1), 0.0, 1.0)
    share = t * t * (3.0 - 2.0 * t)
    start = clip.planar_path()[0]
    back = rotations.rotate(rotations.from_yaw(start[2]), np.append((wanted - went)[:2], 0.0))
    turn = rotations.from_yaw(share * float(planar.wrap_angle(wanted[2] - went[2])))
    local = np.array(clip.rotations)
    local[:, 0] = rotations.multiply(turn, local[:, 0])
    return replace(
        clip, root_positions=clip.root_positions + share[:, None] * back, rotations=rotations.normalize(local)
    )


def _with_frames(clip: Clip, take: Clip, frames: Sequence[int]) -> Clip:
    """Return the clip with exactly the take's pose in some frames, at the clip's own position and heading.

    Joints that are free at that end stay as they are.
    """
    local, roots = np.array(clip.rotations), np.array(clip.root_positions)
    turn = rotations.from_yaw(clip.headings()[list(frames)] - take.headings()[list(frames)])
    for number, frame in enumerate(frames):
        held = ~free_at_end(take, first=frame >= 0)
        local[frame, held] = take.rotations[frame, held]
        local[frame, 0] = rotations.multiply(turn[number], take.rotations[frame, 0])
        roots[frame, 2] = take.root_positions[frame, 2]
    return replace(clip, rotations=rotations.normalize(local), root_positions=roots)


def _planted_points(clip: Clip, take: Clip) -> list[PointConstraint]:
    """Return constraints of planted points: those that are down in a held frame stay there, others where they rest.

    The heights at which they rest are those of the take, because a variant may have sunk as a whole.
    """
    points, frames = clip.contact_positions(), len(clip)
    columns = {point.name: column for column, point in enumerate(clip.skeleton.contact_points)}
    heights = _resting_heights(take)
    held = np.zeros(frames, dtype=bool)
    held[:HELD] = held[-HELD:] = True
    out = []
    for constraint in contact_constraints(clip):
        column = columns[constraint.point]
        fixed = held[constraint.start : constraint.stop]
        where = np.array(constraint.positions)
        if fixed.any():
            where = _through(points[constraint.start : constraint.stop, column], fixed)
        elif np.isfinite(heights[column]):
            where[:, 2] = heights[column]
        out.append(replace(constraint, positions=where))
    return out


def _resting_heights(take: Clip) -> FloatArray:
    """Return the height at which each contact point rests [m]; (C,).

    It is NaN where a point never rests, or rests at several heights.
    """
    heights, down = take.contact_positions()[..., 2], np.asarray(take.contacts)
    out = np.full(heights.shape[1], np.nan)
    for column in np.flatnonzero(down.any(axis=0)):
        rests = heights[down[:, column], column]
        if np.ptp(rests) < _LEVEL:
            out[column] = np.median(rests)
    return out


def _dipping_points(clip: Clip, floor: FloatArray) -> list[PointConstraint]:
    """Return constraints that put points (C,) on the floor in frames in which they are under it and do not rest."""
    points = clip.contact_positions()
    low = (points[..., 2] < floor - _DIP) & ~np.asarray(clip.contacts)
    low[:HELD] = low[-HELD:] = False
    on_floor = np.stack([points[..., 0], points[..., 1], np.broadcast_to(floor, points.shape[:2])], axis=-1)
    return [
        PointConstraint(point.name, start, stop, on_floor[start:stop, column])
        for column, point in enumerate(clip.skeleton.contact_points)
        for start, stop in stances(low[:, column])
    ]


def _through(track: FloatArray, fixed: BoolArray) -> FloatArray:
    """Return positions (n, 3) of a point that cannot move in some frames: there, and on straight lines between them."""
    known = np.flatnonzero(fixed)
    frames = np.arange(len(track))
    return np.column_stack([np.interp(frames, known, track[known, axis]) for axis in range(3)])
