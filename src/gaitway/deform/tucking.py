"""Narrow bodies: arms are tucked and the trunk is turned where they would touch something (Choi et al. 2011, 3.2).

Each arm has a weight in every frame, from its own pose to one close beside the body; the trunk has an angle.
They are raised where the arm or the shoulders lie in something, and spread over time so that nothing pops. Feet, legs
and the root stay as they are, and the head goes on looking ahead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.deform import _depth_kernels, _tuck_kernels
from gaitway.deform._narrow_kernels import NarrowBody
from gaitway.deform._tuck_kernels import CORE, LEFT, RIGHT, SHOULDERS
from gaitway.deform.place import SqueezePlace
from gaitway.deform.planting import half_gaussian
from gaitway.motion.anatomy import leg_length, t_pose
from gaitway.motion.body import capsule_body
from gaitway.motion.clip import Clip
from gaitway.motion.limits import joint_limits
from gaitway.motion.skeleton import Skeleton

SIDES = ("left", "right")
_LEG = 0.85
"""Length of the leg that lengths of `_narrow_kernels` belong to [m]."""
_REACH = 2.5
"""Distance from the root within which all of a body is, whatever its arms do [m]."""
_SPREAD_S, _LEAD_S = 0.2, 0.25
"""Standard deviation of the spread over time, and time for which a weight is held before and after [s]."""
_ENDS_S = 0.35
"""Time at both ends in which the body comes back to its own pose [s]."""
_NO_ENDS = 1e-3
"""In place of that time for a motion that goes on [frames]."""
_SIGN_S, _APART_S = 1.2, 0.45
"""Time within which the trunk keeps the side to which it turned, and within which an arm stays ahead or behind [s]."""


@dataclass(frozen=True, eq=False)
class Tucked:
    """A motion whose arms and trunk were narrowed."""

    clip: Clip
    arms: FloatArray
    """Weight of each arm in every frame, from 0 (its own pose) to 1 (tucked); (F, 2)."""
    trunk: FloatArray
    """Turn of the trunk in every frame [rad]; (F,)."""
    depth: float
    """How deep the body still lies in something [m]; 0 if it is clear."""
    frame: int
    """Frame of that depth, or -1."""
    blocker: str | None
    """Name of what is in the way."""
    own: float = 0.0
    """How deep the arms lie in trunk and thighs [m]."""
    rounds: int = 0


def tuck(
    clip: Clip, place: SqueezePlace, times: FloatArray, *, tolerance: float = 0.006, goes_on: bool = False
) -> Tucked:
    """Narrow a motion until nothing is touched, as far as that goes.

    Args:
        clip: the motion, in the world.
        place: the place.
        times: time of each frame [s]; (F,).
        tolerance: depth that does not count [m].
        goes_on: whether motion comes before and after, so that the body need not come back to its own pose at the ends.
    """
    frames, body = len(clip), narrow_body(clip.skeleton)
    roots = read_only(clip.root_positions)
    middle = 0.5 * (roots[:, :2].min(axis=0) + roots[:, :2].max(axis=0))
    far = float(np.hypot(*(roots[:, :2] - middle).T).max()) + _REACH * body.size
    settings = np.array(
        [tolerance, round((_LEAD_S + _SPREAD_S) * clip.fps), round(_SIGN_S * clip.fps), _APART_S * clip.fps,
         _ENDS_S * clip.fps if not goes_on else _NO_ENDS]
    )  # fmt: skip
    local, arms, trunk = np.empty(clip.rotations.shape), np.empty((frames, 2)), np.empty(frames)
    told = np.empty(5)
    _tuck_kernels.tuck_motion(
        body, roots, read_only(clip.rotations), place.solids, place.near(complex(*middle), far), place.moves(times),
        settings, _taps(clip.fps), local, arms, trunk, told,
    )  # fmt: skip
    depth, frame, blocker, inside, rounds = told.tolist()
    narrow = replace(clip, rotations=local) if np.any(arms) or np.any(trunk) else clip
    name = place.named[int(blocker)] if blocker >= 0 else None
    return Tucked(narrow, arms, trunk, depth, int(frame), name, inside, int(rounds))


@lru_cache(maxsize=32)
def narrow_body(skeleton: Skeleton) -> NarrowBody:
    """Return the arrays of a skeleton by which its poses are narrowed; without arms where roles are missing."""
    roles, parents, body = skeleton.roles, skeleton.parents.tolist(), capsule_body(skeleton)
    can = all(f"{side}_{part}" in roles for side in SIDES for part in ("shoulder", "elbow", "wrist"))
    arms = [[roles[f"{side}_{part}"] for part in ("shoulder", "elbow", "wrist")] for side in SIDES] if can else []
    spine, neck, hips = list[int](), 0, 0
    if can:
        hips, neck = roles["hips"], roles["neck"] if "neck" in roles else roles["head"]
        spine.append(roles["chest"] if "chest" in roles else parents[roles["head"]])
        while parents[spine[-1]] not in (hips, -1):
            spine.append(parents[spine[-1]])
    limits = joint_limits(skeleton)
    moving = {joint for chain in arms for joint in chain[:2]} | {*spine, *([neck] if can else [])}
    upper = set(moving)
    for joint, parent in enumerate(parents):
        upper |= {joint} if parent in upper else set()
    bases = dict(zip(limits.joints.tolist(), limits.bases.tolist(), strict=True))
    todo = list(moving)
    while todo:
        joint = todo.pop()
        for above in (parents[joint], bases.get(joint, -1)):
            if above >= 0 and above not in moving:
                moving.add(above)
                todo.append(above)
    rows = np.full(len(skeleton), -1, dtype=np.int64)
    rows[limits.joints] = np.arange(len(limits.joints))
    groups = capsule_groups(skeleton)
    sides, trunk = _own_parts(body.names)
    return NarrowBody(
        read_only(np.array(parents, dtype=np.int64)), read_only(skeleton.offsets), read_only(skeleton.forward),
        _ints(spine[::-1]), neck, hips, _ints(arms).reshape(-1, 3), leg_length(skeleton) / _LEG if can else 1.0,
        _ints(sorted(moving)), _ints(sorted(upper)), read_only(t_pose(skeleton)), read_only(rows),
        read_only(limits.bases),
        read_only(limits.axes), read_only(limits.low), read_only(limits.high), read_only(body.joints),
        read_only(body.starts), read_only(body.ends), read_only(body.radii), groups,
        _ints([group if joint in upper else -1 for group, joint in zip(groups, body.joints.tolist(), strict=True)]),
        sides, trunk,
    )  # fmt: skip


def _ints(numbers: Sequence[Any]) -> IntArray:
    return read_only(np.array(numbers, dtype=np.int64))


@lru_cache(maxsize=8)
def _taps(fps: float) -> FloatArray:
    """Return one half of the Gaussian that spreads weights over time, from its middle on; (R,)."""
    sigma = _SPREAD_S * fps
    return half_gaussian(sigma, int(4.0 * sigma + 0.5))


def body_depths(
    clip: Clip, place: SqueezePlace, times: FloatArray, groups: IntArray, tolerance: float
) -> tuple[FloatArray, IntArray]:
    """Return how deep the groups of a body lie in solids in every frame [m] (F, 4), and in which of them (F, 4)."""
    body = capsule_body(clip.skeleton)
    axes = read_only(body.segments(*clip.joint_transforms()))
    flat = axes[..., :2].reshape(-1, 2)
    middle = 0.5 * (flat.min(axis=0) + flat.max(axis=0))
    near = place.near(complex(*middle), float(np.hypot(*(flat - middle).T).max()) + 0.2)
    depths, which = np.zeros((len(clip), 4)), np.zeros((len(clip), 4), dtype=np.int64)
    _depth_kernels.frame_depths(
        axes, read_only(body.radii), place.solids, near, place.moves(times), groups, tolerance, depths, which
    )
    return depths, which


def own_depths(clip: Clip) -> FloatArray:
    """Return how deep forearms and hands lie in trunk and thighs in every frame [m]; (F, 2)."""
    body = capsule_body(clip.skeleton)
    out = np.zeros((len(clip), 2))
    axes = read_only(body.segments(*clip.joint_transforms()))
    _depth_kernels.own_depths(axes, read_only(body.radii), *_own_parts(body.names), out)
    return out


def _own_parts(names: Sequence[str]) -> tuple[IntArray, IntArray]:
    """Return the number of the arm of each forearm and hand, else -1 (C,), and 1 for trunk and thighs (C,)."""
    parted = [name.partition("_") for name in names]
    arms = [SIDES.index(side) if side in SIDES and part in ("elbow", "hand") else -1 for side, _, part in parted]
    trunk = [
        int(name.startswith(("pelvis", "trunk", "chest")) or part == "hip")
        for name, (_, _, part) in zip(names, parted, strict=True)
    ]
    return _ints(arms), _ints(trunk)


def capsule_groups(skeleton: Skeleton) -> IntArray:
    """Return the group of each capsule of a body; (C,)."""
    out = []
    for name in capsule_body(skeleton).names:
        side, _, part = name.partition("_")
        arm = part in ("shoulder", "elbow", "hand") and side in SIDES
        out.append(SHOULDERS if name == "shoulders" else CORE if not arm else LEFT if side == "left" else RIGHT)
    return _ints(out)
