"""A twin in NumPy of the compiled loops that narrow motion (`gaitway.deform.tucking`); one round after the other."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import scipy

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.deform._tuck_kernels import CORE, LEFT, RIGHT, SHOULDERS
from gaitway.deform.place import SqueezePlace
from gaitway.deform.tucking import SIDES, Tucked, body_depths, capsule_groups, own_depths
from gaitway.motion.anatomy import leg_length
from gaitway.motion.blending import ease
from gaitway.motion.clip import Clip
from gaitway.motion.limits import clamp
from gaitway.motion.skeleton import Skeleton

_LEG = 0.85
"""Length of the leg that the lengths below belong to [m]."""
_HAND = (0.16, -0.06, -0.42)
"""Place of a tucked wrist, as seen from its shoulder along the heading: ahead, to its own side, up [m]."""
_LEADING = (0.12, -0.02, -0.46)
"""The same of an arm whose shoulder is ahead, where the trunk is turned as far as it may be."""
_TRAILING, _REAR = (-0.26, -0.02, -0.42), -0.2
"""The same of an arm that is held behind the body, and share of the turn of the trunk from which on a shoulder is so
far back that its arm is."""
_ELBOW = (-1.0, -0.2, -0.4)
"""Direction in which a tucked elbow points: ahead, to its own side, up."""
_TURN = float(np.radians(42.0))
"""Greatest turn of the trunk [rad]."""
_ROUNDS, _STALE = 16, 5
"""Most rounds, and rounds without progress after which no more are tried."""
_SPREAD_S, _LEAD_S = 0.2, 0.25
"""Standard deviation of the spread over time, and time for which a weight is held before and after [s]."""
_PER_METRE, _LEAST = 8.0, 0.2
"""Weight that is added for a depth [1/m], and at least."""
OWN = 0.008
"""Depth of arms in trunk and thighs that does not count [m]."""
_OUT, _FARTHEST, _MIDDLE = 1.5, 0.3, 0.03
"""Way out for a metre of depth in the own body, the farthest [m], and how far ahead of the hips a wrist counts as ahead
altogether [m]."""
_ENDS_S = 0.35
"""Time at both ends in which the body comes back to its own pose [s]."""
_SIGN_S, _APART_S = 1.2, 0.45
"""Time within which the trunk keeps the side to which it turned, and within which an arm stays ahead or behind [s]."""


def tuck(clip: Clip, place: SqueezePlace, times: FloatArray, *, tolerance: float = 0.006) -> Tucked:
    """Narrow a motion until nothing is touched, as far as that goes.

    Args:
        clip: the motion, in the world.
        place: the place.
        times: time of each frame [s]; (F,).
        tolerance: depth that does not count [m].
    """
    frames, skeleton = len(clip), clip.skeleton
    groups = capsule_groups(skeleton)
    raw, turn, sign = np.zeros((frames, 2)), np.zeros(frames), np.zeros(frames)
    arms, trunk, narrow = raw, turn, clip
    ends = _ends(frames, clip.fps)
    can = all(f"{side}_{part}" in skeleton.roles for side in SIDES for part in ("shoulder", "elbow", "wrist"))
    best: Tucked | None = None
    stale = 0
    ahead = np.zeros((frames, 2))
    least = math.inf
    bare = own_depths(clip)
    for _ in range(_ROUNDS):
        depths, which = body_depths(narrow, place, times, groups, tolerance)
        own = own_depths(narrow)
        own = np.where(own > np.maximum(OWN, bare + 1e-6), own, 0.0)
        depth, inside = float(depths.max()), float(own.max())
        worst, name = -1, None
        if depth > 0.0:
            # arms can be narrowed, the core cannot
            core = (depths[:, CORE] > 0.0).any()
            worst = int(np.argmax(depths[:, CORE] if core else depths.max(axis=1)))
            name = place.named[which[worst, CORE if core else int(np.argmax(depths[worst]))]]
        now = Tucked(narrow, arms, trunk, depth, worst, name, inside)
        # what lies in others counts first, and then what lies in the own body
        score = depth + _FARTHEST if depth > 0.0 else inside
        stale = 0 if score < 0.99 * least else stale + 1
        if score < least:
            best, least = now, score
        if score == 0.0 or stale > _STALE or not can or (depths[:, CORE] > 0.0).any():
            break
        # arms hang into the own body where the trunk is turned; tucked ones do not
        rear = np.stack([leads(trunk, k) < 0.5 * _REAR for k in range(2)], axis=1)
        hit = np.maximum(depths[:, [LEFT, RIGHT]], np.where(rear & (arms < 0.9), own, 0.0))
        raw = np.where(hit > 0.0, np.minimum(np.maximum(raw, arms) + np.maximum(_PER_METRE * hit, _LEAST), 1.0), raw)
        wide = np.maximum(depths[:, SHOULDERS], np.where(arms >= 0.9, depths[:, [LEFT, RIGHT]], 0.0).max(axis=1))
        sign = _signs(narrow, wide > 0.0, sign)
        more = np.minimum(np.maximum(turn, np.abs(trunk) / _TURN) + np.maximum(_PER_METRE * wide, _LEAST), 1.0)
        turn = np.where(wide > 0.0, more, turn)
        ahead = np.where(own > 0.0, np.minimum(ahead + _OUT * own, _FARTHEST), ahead)
        trunk = ends * _TURN * _spread(turn, clip.fps) * _smooth_sign(sign, clip.fps)
        side = np.stack([_ahead_or_behind(raw[:, k] > 0.0, leads(trunk, k), clip.fps) for k in range(2)], axis=1)
        spread = np.stack([_spread(raw[:, k], clip.fps) for k in range(2)], axis=1)
        # an arm that changes from ahead to behind does so in its own pose, for the body lies between
        arms = ends[:, None] * spread * np.asarray(ease(np.minimum(np.abs(side), 1.0)))
        out = np.stack([_spread(ahead[:, k], clip.fps) for k in range(2)], axis=1)
        narrow = _within_limits(clip, narrowed(clip, arms, trunk, side >= 0.0, out))
    assert best is not None
    return best


def narrowed(
    clip: Clip, arms: FloatArray, trunk: FloatArray, ahead_of: BoolArray | None = None, out: FloatArray | None = None
) -> Clip:
    """Return a motion with its arms tucked and its trunk turned.

    Args:
        clip: the motion.
        arms: weight of each arm; (F, 2).
        trunk: turn of the trunk [rad]; (F,).
        ahead_of: whether each arm is tucked ahead of the body, else behind it; (F, 2). None has all ahead.
        out: how far tucked wrists are led away from the body [m]: one ahead of the hips ahead, the other back; (F, 2).
    """
    local = np.array(clip.rotations)
    if np.any(trunk):
        _turn_trunk(clip, local, trunk)
    turned = replace(clip, rotations=rotations.normalize(local))
    if not np.any(arms):
        return turned
    positions, world = turned.joint_transforms()
    local, roles = np.array(turned.rotations), clip.skeleton.roles
    heading = clip.headings()
    ahead = np.column_stack([np.cos(heading), np.sin(heading), np.zeros(len(clip))])
    left, up = np.column_stack([-ahead[:, 1], ahead[:, 0], np.zeros(len(clip))]), np.array([0.0, 0.0, 1.0])
    size = leg_length(clip.skeleton) / _LEG
    for k, side in enumerate(SIDES):
        if not np.any(arms[:, k]):
            continue
        own = left if side == "left" else -left
        share = np.maximum(leads(trunk, k), 0.0)[:, None]
        before = (1.0 - share) * np.array(_HAND) + share * np.array(_LEADING)
        wanted = size * (before if ahead_of is None else np.where(ahead_of[:, k : k + 1], before, _TRAILING))
        chain = [roles[f"{side}_{part}"] for part in ("shoulder", "elbow", "wrist")]
        wrist = positions[:, chain[0]] + wanted[:, :1] * ahead + wanted[:, 1:2] * own + wanted[:, 2:] * up
        if out is not None:
            far = np.sum((wrist - positions[:, roles["hips"]]) * ahead, axis=1)
            wrist += (np.tanh(far / _MIDDLE) * out[:, k])[:, None] * ahead
        pole = _ELBOW[0] * ahead + _ELBOW[1] * own + _ELBOW[2] * up
        _place_arm(clip.skeleton, positions, world, local, chain, wrist, pole, arms[:, k])
    return replace(turned, rotations=rotations.normalize(local))


def _within_limits(before: Clip, after: Clip) -> Clip:
    """Return a changed motion whose changed joints keep their limits, or what they did before."""
    changed = np.abs(after.rotations - before.rotations).max(axis=2) > 1e-9
    return replace(after, rotations=np.where(changed[..., None], clamp(after).rotations, after.rotations))


def _turn_trunk(clip: Clip, local: FloatArray, trunk: FloatArray) -> None:
    """Turn the chest about the vertical, shared out over the spine; the head stays as it is."""
    skeleton = clip.skeleton
    parents, roles, world = skeleton.parents.tolist(), skeleton.roles, clip.joint_transforms()[1]
    chain = [roles["chest"] if "chest" in roles else parents[roles["head"]]]
    while parents[chain[-1]] not in (roles["hips"], -1):
        chain.append(parents[chain[-1]])
    before = rotations.identity(len(clip))
    for k, joint in enumerate(reversed(chain)):
        now = rotations.from_yaw(trunk * (k + 1) / len(chain))
        above = rotations.multiply(before, world[:, parents[joint]])
        local[:, joint] = rotations.multiply(rotations.conjugate(above), rotations.multiply(now, world[:, joint]))
        before = now
    neck = roles["neck"] if "neck" in roles else roles["head"]
    above = rotations.multiply(before, world[:, parents[neck]])
    local[:, neck] = rotations.multiply(rotations.conjugate(above), world[:, neck])


def _place_arm(
    skeleton: Skeleton, positions: FloatArray, world: FloatArray, local: FloatArray, chain: list[int],
    wrist: FloatArray, pole: FloatArray, weight: FloatArray,
) -> None:  # fmt: skip
    """Lead an arm toward a pose by a weight (F,), between its own rotations and those of the tucked pose."""
    top, middle, end = (positions[:, joint] for joint in chain)
    first, second = (np.linalg.norm(b - a, axis=1, keepdims=True) for a, b in ((top, middle), (middle, end)))
    line = wrist - top
    long = np.clip(np.linalg.norm(line, axis=1, keepdims=True), 1.02 * np.abs(first - second), 0.98 * (first + second))
    along = line / np.linalg.norm(line, axis=1, keepdims=True)
    aside = pole - np.sum(pole * along, axis=1, keepdims=True) * along
    aside /= np.linalg.norm(aside, axis=1, keepdims=True)
    near = (long**2 + first**2 - second**2) / (2.0 * long)
    elbow = top + near * along + np.sqrt(np.maximum(first**2 - near**2, 0.0)) * aside
    hand = top + long * along
    parents = skeleton.parents.tolist()
    spin = rotations.between(middle - top, elbow - top)
    # the upper arm rolls until the elbow bends about its own axis, for an elbow is a hinge
    bent, flat = (
        rotations.cross(elbow - top, rotations.rotate(spin, end - middle)),
        rotations.cross(elbow - top, hand - elbow),
    )
    spin = rotations.multiply(rotations.between(bent, flat), spin)
    upper = rotations.multiply(spin, world[:, chain[0]])
    flex = rotations.between(rotations.rotate(spin, end - middle), hand - elbow)
    lower = rotations.multiply(flex, rotations.multiply(spin, world[:, chain[1]]))
    above = world[:, parents[chain[0]]]
    goal = rotations.multiply(rotations.conjugate(above), upper)
    local[:, chain[0]] = rotations.slerp(local[:, chain[0]], goal, weight)
    carried = rotations.multiply(spin, world[:, parents[chain[1]]])
    goal = rotations.multiply(rotations.conjugate(carried), lower)
    local[:, chain[1]] = rotations.slerp(local[:, chain[1]], goal, weight)


def _signs(clip: Clip, wide: BoolArray, before: FloatArray) -> FloatArray:
    """Return to which side the trunk turns in every frame: the shoulder that is ahead anyway goes on ahead; (F,)."""
    roles, positions = clip.skeleton.roles, clip.joint_positions()
    ahead = np.column_stack([np.cos(clip.headings()), np.sin(clip.headings())])
    across = positions[:, roles["right_shoulder"], :2] - positions[:, roles["left_shoulder"], :2]
    lead, out = np.sum(across * ahead, axis=1), np.array(before)
    for frame in np.flatnonzero(wide & (before == 0.0)).tolist():
        reach = round(_SIGN_S * clip.fps)
        low, high = max(frame - reach, 0), frame + reach + 1
        known = np.flatnonzero(out[low:high])
        near = low + int(known[np.argmin(np.abs(known + low - frame))]) if len(known) else -1
        out[frame] = out[near] if near >= 0 else (1.0 if lead[frame] >= 0.0 else -1.0)
    return out


def leads(trunk: FloatArray, arm: int) -> FloatArray:
    """Return how far the shoulder of an arm (0 left, 1 right) is ahead, as a share of the greatest turn; (F,)."""
    # a trunk that turns to the left has its right shoulder ahead
    return (trunk if arm == 1 else -trunk) / _TURN


def _ahead_or_behind(hit: BoolArray, lead: FloatArray, fps: float) -> FloatArray:
    """Return whether an arm is tucked ahead of the body (1) or behind it (-1), going over between; (F,).

    Hits within a short time belong together: an arm is held behind if its shoulder is farther back than ahead in them.
    """
    frames, out = np.flatnonzero(hit), np.zeros(len(hit))
    if not len(frames):
        return np.ones(len(hit))
    for few in np.split(frames, np.flatnonzero(np.diff(frames) > _APART_S * fps) + 1):
        out[few] = -1.0 if float(lead[few].mean()) < _REAR else 1.0
    return _smooth_sign(out, fps)


def _smooth_sign(sign: FloatArray, fps: float) -> FloatArray:
    """Return the side in every frame, taken over from the nearest frame that has one; (F,)."""
    known = np.flatnonzero(sign)
    if not len(known):
        return np.zeros(len(sign))
    nearest = known[np.argmin(np.abs(np.arange(len(sign))[:, None] - known), axis=1)]
    return np.asarray(scipy.ndimage.gaussian_filter1d(sign[nearest], _SPREAD_S * fps, mode="nearest"))


def _spread(weight: FloatArray, fps: float) -> FloatArray:
    """Return weights that are held for a while and spread over time; nowhere much less than those given; (F,)."""
    wide = scipy.ndimage.maximum_filter1d(weight, 2 * round((_LEAD_S + _SPREAD_S) * fps) + 1, mode="nearest")
    return np.asarray(np.clip(scipy.ndimage.gaussian_filter1d(wide, _SPREAD_S * fps, mode="nearest"), 0.0, 1.0))


def _ends(frames: int, fps: float) -> FloatArray:
    number = np.arange(frames)
    return np.asarray(ease(np.minimum(np.minimum(number, number[::-1]) / (_ENDS_S * fps), 1.0)))
