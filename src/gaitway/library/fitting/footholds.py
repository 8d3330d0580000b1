"""Footholds of a clip, and the same motion on other footholds.

A stance is moved as a whole, so what rests in the clip rests in the result and does not slide. A swing is stretched
between its new ends, along and upward apart: stairs of another tread and riser are the same stairs, stretched. The root
goes where the feet go, and the legs are led to the feet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import LibraryError
from gaitway.motion.blending import ease
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import stances
from gaitway.motion.footplants import FootPlan
from gaitway.motion.footskate import lowered, root_drop
from gaitway.motion.ik import LEFT_LEG, RIGHT_LEG, reach

GroundProfile = Callable[[FloatArray], FloatArray]
"""Heights of the ground [m] (...) at distances ahead (...) [m]."""

LEGS = {"left": LEFT_LEG, "right": RIGHT_LEG}
_PARTS = ("heel", "ball", "toe")
_SOFTNESS = 0.0005
"""Legs are led by little, so those that are straight in the clip may stay so; see `gaitway.motion.ik.SOFTNESS`."""
_STRAIGHTEST = 0.985
"""Share of its length up to which a leg is stretched that is not straighter in the clip."""
_DEEPEST = 0.08
"""Farthest that the root comes down for a leg to reach its foothold [m]."""
_DROP_S = 0.4
"""Time over which it comes down and rises again [s]."""
_LEVEL_ARC, _GREATEST_ARC = 0.05, 1.3
"""How high a foot is led over the line between its ends on the level [m], and how many times as high as in the clip it
may go where the ends lie farther apart in height."""
_CLEARANCE = 0.015
"""Clearance of a foot in the air over an edge [m]."""
_LIFT_S = 0.07
"""Time over which a foot is lifted over an edge and lowered again [s]."""
_SHOE = 0.028
"""How far a shoe goes beyond the points that rest, ahead and behind [m]."""
_KEPT = 8.0
"""Frames at either end in which the root does not come down, since the clip joins others there."""
_UNTOUCHED = 1e-9
"""Moves below this change nothing [m]."""


@dataclass(frozen=True, eq=False)
class Foothold:
    """A stance of one foot."""

    side: str
    """"left" or "right"."""
    start: int
    stop: int
    """First frame, and the one after the last."""
    heel: float
    toe: float
    """Ends of the foot along +x [m]."""
    height: float
    """Height of what it stands on [m]."""

    @property
    def middle(self) -> float:
        """Middle of the stance in time [frames]."""
        return 0.5 * (self.start + self.stop - 1)

    @property
    def length(self) -> float:
        """Length of the foot along +x [m]."""
        return self.toe - self.heel


def footholds(clip: Clip) -> list[Foothold]:
    """Return the stances of both feet of a clip that leads along +x, in order of time.

    Raises:
        LibraryError: if the clip has no contacts of two feet.
    """
    points, found = clip.contact_positions(), []
    for side in LEGS:
        columns = _columns(clip, side)
        flags = clip.contacts[:, columns] if clip.contacts is not None and columns else np.zeros((len(clip), 1), bool)
        for start, stop in stances(np.asarray(flags.any(axis=1))):
            flat = start + int(np.argmax(flags[start:stop].sum(axis=1)))
            sole, down = points[flat, columns], flags[flat]
            along = sole[:, 0]
            found.append(
                Foothold(side, start, stop, float(along.min()), float(along.max()), float(sole[down, 2].mean()))
            )
    if {hold.side for hold in found} != set(LEGS):
        raise LibraryError(f"clip '{clip.name}' has no contacts of two feet; detect them first")
    return sorted(found, key=lambda hold: (hold.middle, hold.side))


def moved_to(
    clip: Clip,
    holds: Sequence[Foothold],
    moves: FloatArray,
    ground: GroundProfile | None = None,
    body: tuple[FloatArray, FloatArray] | None = None,
) -> Clip:
    """Return the clip on other footholds.

    Args:
        clip: motion that leads along +x.
        holds: all its `footholds`; H of them.
        moves: how far each is moved [m]; (H, 3).
        ground: what feet in the air keep clear of; None leaves them on their stretched ways.
        body: frames (K,) and how far the root is moved in them [m] (K, 3); None moves it with the feet.

    Returns:
        A clip with the same frames and contacts. Frames in which nothing moves, or all by the same, keep their pose.
    """
    frames = np.arange(float(len(clip)))
    knots, at = np.unique([hold.middle for hold in holds], return_index=True)
    knots, led = (knots, moves[at]) if body is None else body
    shift = scipy.interpolate.PchipInterpolator(knots, led, axis=0)(np.clip(frames, knots[0], knots[-1]))
    return led_to(clip, {side: _plan(clip, side, holds, moves, ground) for side in LEGS}, shift)


def led_to(clip: Clip, plans: Mapping[str, FootPlan], shift: FloatArray) -> Clip:
    """Return the clip with its feet led to other places.

    Args:
        clip: the motion; F frames.
        plans: targets of both feet, by side.
        shift: how far the root is moved [m]; (F, 3). It comes down where a leg is too short.

    Returns:
        A clip with the same frames and contacts. Frames in which nothing moves, or all by the same, keep their pose.
    """
    frames = np.arange(float(len(clip)))
    shifted = replace(clip, root_positions=clip.root_positions + shift)
    asked = {side: replace(plan, planted=np.ones(len(clip), bool)) for side, plan in plans.items()}
    drop = root_drop(shifted, asked, deepest=_DEEPEST, straightest=_STRAIGHTEST, drop_s=_DROP_S)
    drop *= ease(frames / _KEPT) * ease((frames[-1] - frames) / _KEPT)
    root = shift - drop[:, None] * [0.0, 0.0, 1.0]
    result = lowered(shifted, drop)
    for side, plan in plans.items():
        ankle = clip.skeleton.roles[f"{side}_ankle"]
        change = np.linalg.norm(plan.ankle - root - clip.joint_positions()[:, ankle], axis=-1)
        weights = np.where(change > _UNTOUCHED, 1.0, 0.0)
        result = reach(result, LEGS[side], plan.ankle, weights=weights, end_rotations=plan.foot, softness=_SOFTNESS)
    return result


def _columns(clip: Clip, side: str) -> list[int]:
    names = [point.name for point in clip.skeleton.contact_points]
    return [names.index(f"{side}_{part}") for part in _PARTS if f"{side}_{part}" in names]


def _plan(
    clip: Clip, side: str, holds: Sequence[Foothold], moves: FloatArray, ground: GroundProfile | None
) -> FootPlan:
    """Return the targets of one foot: stances moved, swings stretched and kept clear of the ground."""
    positions, world = clip.joint_transforms()
    ankle = clip.skeleton.roles[f"{side}_ankle"]
    track, foot = positions[:, ankle], world[:, ankle]
    arms = clip.contact_positions()[:, _columns(clip, side)] - track[:, None]
    own = [(hold, move) for hold, move in zip(holds, moves, strict=True) if hold.side == side]
    target, planted = np.array(track), np.zeros(len(clip), bool)
    target[: own[0][0].start] += own[0][1]
    target[own[-1][0].stop :] += own[-1][1]
    for hold, move in own:
        target[hold.start : hold.stop] += move
        planted[hold.start : hold.stop] = True
    for (before, first), (after, second) in pairwise(own):
        rows = slice(before.stop - 1, after.start + 1)
        target[rows] = _swing(track[rows], first, second)
        if ground is not None and (np.linalg.norm(first - second) > _UNTOUCHED or before.height != after.height):
            inner = slice(before.stop, after.start)
            target[inner, 2] += _lift(target[inner], arms[inner], ground, clip.fps)
    return FootPlan(target, foot, None, planted)


def _swing(track: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the track of an ankle (F, 3), whose first and last point are moved by given vectors (3,)."""
    start, end = track[0], track[-1]
    span = end - start
    along = span[0]
    time = ease(np.linspace(0.0, 1.0, len(track)))
    share = np.clip((track[:, 0] - start[0]) / along, 0.0, 1.0) if along > 0.1 else time
    out = track + first + ease(share)[:, None] * (second - first)
    rise, new_rise = span[2], span[2] + second[2] - first[2]
    if abs(rise) > 1e-3:
        arc = track[:, 2] - start[2] - share * rise
        peak, steep = max(float(arc.max()), 1e-6), float(np.clip(new_rise / rise, 0.0, _GREATEST_ARC))
        factor = steep + max(1.0 - steep, 0.0) * min(_LEVEL_ARC / peak, 1.0)
        out[:, 2] = start[2] + first[2] + share * new_rise + factor * arc
    return np.asarray(out)


def _lift(ankle: FloatArray, arms: FloatArray, ground: GroundProfile, fps: float) -> FloatArray:
    """Return how much higher a foot in the air must be to keep clear of the ground [m]; (F,)."""
    count, half = len(ankle), max(round(_LIFT_S * fps), 1)
    off = np.minimum(np.arange(1.0, count + 1.0), np.arange(float(count), 0.0, -1.0)) / (2.0 * half)
    share = ease(off)
    sole = ankle[:, None] + arms
    lack = _lack(sole, _CLEARANCE * share, ground)
    for part in (0.25, 0.5, 0.75):  # a fast foot cuts a corner between two frames
        between = _lack(
            sole[:-1] + part * np.diff(sole, axis=0), np.minimum(share[:-1], share[1:]) * _CLEARANCE, ground
        )
        lack[:-1], lack[1:] = np.maximum(lack[:-1], between), np.maximum(lack[1:], between)
    spread = scipy.ndimage.maximum_filter1d(lack, 2 * half + 1, mode="constant")
    smooth = scipy.ndimage.gaussian_filter1d(spread, 0.6 * half, mode="constant")
    return np.asarray(smooth * np.minimum(2.0 * off, 1.0))


def _lack(sole: FloatArray, clearance: FloatArray, ground: GroundProfile) -> FloatArray:
    """Return by how much points of a foot (F, P, 3) are too low [m]; (F,). The shoe goes beyond those points."""
    under = np.max([ground(sole[..., 0] + beyond) for beyond in (-_SHOE, 0.0, _SHOE)], axis=0)
    return np.asarray(np.maximum((under + clearance[:, None] - sole[..., 2]).max(axis=1), 0.0))
