"""Joins of clips that do not share their end poses: takes and variants with ends of their own, and cut captures.

A state of a behaviour graph is a family of poses. Clips lie where they were planned, the last frame of one at the place
of the first of the next. The difference of their poses, in value and speed, decays over a window on both sides of the
join. Where pelvis and legs are the same, only trunk, arms and head are led, and feet stay exactly as the clips have
them. Where legs differ too, planted feet are then held in place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.motion.anatomy import upper_joints
from gaitway.motion.blending import ease
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import detect_contacts, stances
from gaitway.motion.footplants import FootPlan, bridge
from gaitway.motion.footskate import clean_footskate, reach_feet
from gaitway.motion.skeleton import Skeleton
from gaitway.performing.layers import layer_between
from gaitway.take.data import Layer
from gaitway.take.model import Take

LAYER = "joins"
"""Name of the layers."""
WINDOW, UPPER_WINDOW = 0.25, 0.35
"""Times over which a difference decays, of whole bodies and of upper bodies alone [s]. Feet limit the first."""
_SAME = np.radians(0.2)
"""Largest difference of joints that count as equal [rad]."""
_SAME_TIME = 1e-6
"""Largest difference of times of a clip that goes on at another speed [s]."""
_AMID = 1e-4
"""Time before its end at which a clip counts as left in its midst [s]."""
_TOE_S = 0.15
"""Time over which the change of a foot on its toes decays after the toes have left the ground [s]."""
_LEVEL = 0.002
"""Largest difference of root heights that count as equal [m]."""
_AT_ONCE = 2000
"""Number of joins that are looked at together; more would take much memory."""
_SHARED, _UPPER, _WHOLE = range(3)
"""What differs at a join: nothing, trunk, arms and head alone, or pelvis and legs too."""


def mend_joins(take: Take, window: float = WINDOW, upper_window: float = UPPER_WINDOW) -> Take:
    """Return the take with layers that join each clip to the one before, where their end poses differ.

    Clips that were made to follow one another need none and get none.

    Args:
        take: clips one after another, without fades.
        window: time over which differences decay [s].
        upper_window: the same for characters of whose clips only upper bodies differ [s].
    """
    torn = _torn(take)
    layers = [_layer(take, c, torn, window, upper_window) for c in range(len(take))]
    found = tuple(layer for layer in layers if layer is not None)
    return replace(take, layers=(*take.layers, *found)) if found else take


def _torn(take: Take) -> IntArray:
    """Return what differs between the first pose of each segment and the last one before it (`_SHARED` ...); (S,)."""
    out = np.zeros(len(take.segments), dtype=np.int64)
    table = take.segments
    left = table.offset[:-1] + table.speed[:-1] * np.diff(table.start)
    same = (table.clip[1:] == table.clip[:-1]) & (np.abs(table.offset[1:] - left) < _SAME_TIME)
    # a clip that is left before its end, or begins in its midst, was led on where it was played
    lengths = np.array([clip.duration for clip in take.clips])[table.clip[:-1]]
    amid = (left < lengths - _AMID) | (table.offset[1:] > _AMID)
    goes_on = np.append(False, same | amid)
    goes_on[take.rows[:-1]] = True  # nothing comes before the first segment of a character
    joins = np.flatnonzero(~goes_on)
    codes = table.clip[joins - 1] * np.int64(len(take.clips)) + table.clip[joins]
    pairs, which = np.unique(codes, return_inverse=True)
    before, after = ([take.clips[k] for k in column.tolist()] for column in np.divmod(pairs, len(take.clips)))
    out[joins] = _differ(before, after)[which]
    return out


def _differ(before: Sequence[Clip], after: Sequence[Clip]) -> IntArray:
    """Return where the last poses of clips differ from the first ones of others, apart from the heading; (N,)."""
    out = np.zeros(len(before), dtype=np.int64)
    for skeleton in dict.fromkeys(clip.skeleton for clip in before):
        own = np.array([k for k, clip in enumerate(before) if clip.skeleton is skeleton])
        upper = upper_joints(skeleton)
        for rows in np.split(own, range(_AT_ONCE, len(own), _AT_ONCE)):
            pairs = [(before[k], after[k]) for k in rows]
            last = _ahead(skeleton, np.array([one.rotations[-1] for one, _ in pairs]))
            first = _ahead(skeleton, np.array([other.rotations[0] for _, other in pairs]))
            rises = np.array([other.root_positions[0, 2] - one.root_positions[-1, 2] for one, other in pairs])
            on_one_floor = np.array([one.contacts is None or other.contacts is None for one, other in pairs])
            apart = rotations.angle_between(last, first) > _SAME
            lower = apart[:, ~upper].any(axis=1) | (on_one_floor & (np.abs(rises) > _LEVEL))
            out[rows] = np.where(lower, _WHOLE, np.where(apart.any(axis=1), _UPPER, _SHARED))
    return out


def _ahead(skeleton: Skeleton, poses: FloatArray) -> FloatArray:
    """Return poses (N, J, 4) turned so that they face +X; (N, J, 4)."""
    ahead = rotations.rotate(poses[:, 0], skeleton.forward)
    turned = np.array(poses)
    turned[:, 0] = rotations.multiply(rotations.from_yaw(-np.arctan2(ahead[:, 1], ahead[:, 0])), poses[:, 0])
    return turned


def _layer(take: Take, character: int, torn: IntArray, window: float, upper_window: float) -> Layer | None:
    """Return the layer that a character needs, or None."""
    rows = np.arange(take.rows[character], take.rows[character + 1])
    joins = rows[torn[rows] != _SHARED]
    if not len(joins):
        return None
    clip = take.clip(character)
    frames = np.ceil((take.segments.start[joins] - take.start(character)) * clip.fps - 1e-6).astype(np.int64)
    whole = bool((torn[rows] == _WHOLE).any())
    inside = frames[(frames > 0) & (frames < len(clip))]
    led = _led_on(clip, inside, window if whole else upper_window, upper_only=not whole)
    if whole and _has_feet(clip.skeleton):
        led = _toes_held(clean_footskate(led if led.contacts is not None else detect_contacts(led), hold=True))
    return layer_between(take, character, clip, replace(led, skeleton=clip.skeleton, contacts=clip.contacts), LAYER)


def _led_on(clip: Clip, frames: IntArray, window: float, *, upper_only: bool = False) -> Clip:
    """Return the clip with the parts before and after each frame led to one another, half way each.

    Their difference in pose and speed, with the part before continued to the frame, falls to zero within the window on
    either side (or within half a part, if that is shorter).
    """
    roots, turns = np.array(clip.root_positions), np.array(clip.rotations)
    led = upper_joints(clip.skeleton) if upper_only else np.ones(len(clip.skeleton), dtype=bool)
    edges = np.concatenate([[-np.inf], frames, [np.inf]])  # a take may end soon after a join, in the midst of a window
    for k, frame in enumerate(frames, start=1):
        jump, speed = _difference(clip.root_positions, frame)
        turn, spin = _turned_difference(clip.rotations, frame)
        for sign, room in ((-1, frame - edges[k - 1]), (1, edges[k + 1] - frame)):
            reach = max(min(window * clip.fps, 0.5 * room), 1.0)
            steps = np.arange(1, int(reach) + 1) if sign < 0 else np.arange(int(reach) + 1)
            rows = frame + sign * steps
            steps, rows = steps[(rows >= 0) & (rows < len(clip))], rows[(rows >= 0) & (rows < len(clip))]
            rest, lead = _dying(steps / reach)
            if not upper_only:
                roots[rows] += 0.5 * (sign * rest[:, None] * jump + reach * lead[:, None] * speed)
            offset = 0.5 * (sign * rest[:, None, None] * turn + reach * lead[:, None, None] * spin)
            turned = rotations.multiply(rotations.from_rotation_vector(offset), turns[rows])
            turns[rows] = np.where(led[:, None], turned, turns[rows])
    return replace(clip, root_positions=roots, rotations=rotations.normalize(turns))


def _difference(roots: FloatArray, frame: int) -> tuple[FloatArray, FloatArray]:
    """Return how far the root before a frame, continued, is ahead of the root from it on [m], and how much faster."""
    own, before = _steps_beside(frame, len(roots), lambda a, b: roots[b] - roots[a])
    return roots[frame - 1] + before - roots[frame], before - own


def _turned_difference(turns: FloatArray, frame: int) -> tuple[FloatArray, FloatArray]:
    """Return the same as `_difference` for all joints, as rotation vectors; (J, 3) each."""

    def between(first: FloatArray, last: FloatArray) -> FloatArray:
        return rotations.to_rotation_vector(rotations.multiply(last, rotations.conjugate(first)))

    own, before = _steps_beside(frame, len(turns), lambda a, b: between(turns[a], turns[b]))
    ahead = rotations.multiply(rotations.from_rotation_vector(before), turns[frame - 1])
    return between(turns[frame], ahead), before - own


def _steps_beside(frame: int, count: int, between: Callable[[int, int], FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Return the step after a frame and the one that ends before it; where one is missing, the other stands for it."""
    own = between(frame, frame + 1) if frame + 1 < count else None
    before = between(frame - 2, frame - 1) if frame >= 2 else None
    if own is None and before is None:
        still = np.zeros_like(between(frame, frame))
        return still, still
    return (before if own is None else own), (own if before is None else before)  # type: ignore[return-value]


def _dying(share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return curves that fall from value 1, and from slope 1, to zero at the end of a window."""
    return 1.0 - ease(share), share * (1.0 - np.minimum(share, 1.0)) ** 2


def _toes_held(clip: Clip) -> Clip:
    """Return the clip with toes that stay planted while heel and ball are up already."""
    if clip.contacts is None or clip.skeleton.roles.get("left_toe") is None:
        return clip
    positions, turns = clip.joint_transforms()
    points = clip.contact_positions()
    names = [p.name for p in clip.skeleton.contact_points]
    plans = {}
    for side in ("left", "right"):
        heel, ball, toe = (names.index(f"{side}_{part}") for part in ("heel", "ball", "toe"))
        held, tip = np.asarray(clip.contacts[:, heel] | clip.contacts[:, ball]), clip.contacts[:, toe]
        shift = np.zeros((len(clip), 3))
        for start, stop in stances(tip):
            place = points[start:stop, toe]
            flat = np.flatnonzero(held[start:stop])
            anchor = place[flat[-1]] if len(flat) else np.median(place, axis=0)
            shift[start:stop] = np.where(held[start:stop, None], 0.0, anchor - place)
        planted = held | tip
        ankle, toes = (clip.skeleton.roles[f"{side}_{part}"] for part in ("ankle", "toe"))
        moved = positions[:, ankle] + bridge(shift, planted, clip.fps, _TOE_S)
        plans[side] = FootPlan(moved, turns[:, ankle], turns[:, toes], planted)
    return reach_feet(clip, plans)


def _has_feet(skeleton: Skeleton) -> bool:
    parts = ("hip", "knee", "ankle")
    return all(f"{side}_{part}" in skeleton.roles for side in ("left", "right") for part in parts)
