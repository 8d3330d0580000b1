"""Blocks: jumps onto them, climbs up and climbs down, fitted to the height of the real block.

The library's own clip is put on the real heights: feet land on top of the block or on the floor, hands hold on to its
edge, and the body goes with them. A height far from the clip's own would be another motion, and is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import LibraryError
from gaitway.library.behavior import Behavior, Library
from gaitway.library.fitting.fitted_clip import FittedClip
from gaitway.library.fitting.footholds import Foothold, footholds, moved_to
from gaitway.motion.blending import ease
from gaitway.motion.body import capsule_body
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import stances
from gaitway.motion.editing import place
from gaitway.motion.ik import LEFT_ARM, RIGHT_ARM, reach

HEIGHTS = {
    ("box", "up"): (0.65, 1.05),
    ("box", "down"): (0.46, 1.1),
    ("climb", "up"): (0.88, 1.02),
    ("climb", "down"): (0.46, 1.1),
}
"""Lowest and highest block that a clip is fitted to, as shares of the height that the clip was made for, by kind and
direction. Beyond them joints leave their limits, hands miss their holds, or legs snap."""
_CLIP_KINDS = {("box", "down"): ("box", "climb")}
"""Kinds of clips that serve, the better first, where they are not the block's own kind alone."""
_LEAST_HEIGHT = 0.1
"""Clips that gain or lose less than this lead onto no block [m]."""
_ARMS = {"left": LEFT_ARM, "right": RIGHT_ARM}
_BENT = 0.9
"""Share of what a block is lower by that the body bends down further before it holds on."""
_HAND_S = 0.4
"""Time over which a hand is led to its hold and away from it [s]."""
_PALM = 0.08
"""Distance of a palm from the edge that it holds on to, behind which the wrist is [m]."""
_RAISED = 0.0095
"""Height of a palm over the block, since the capsule of a hand is thicker than its palm [m]."""
_FLAT = 0.9, 0.3
"""Share by which hands are laid flat that hold on to a block ahead, and behind; wrists bend no farther."""
_FINGERS = 0.005
"""Distance from the edge of palms that rest on a block behind, with fingers over the edge [m]."""
_LIFT_S = 0.1
"""Time over which a hand is lifted over the block [s]."""
_HELD = 0.003
"""Distance from its hold within which a hand rests there [m]."""
_GRAZED = 0.015
"""How much nearer to a block than to a tread feet in the air come [m]."""
_ASIDE = 12
"""How far from where the root passes it the edge of a block may be [cm]."""


@dataclass(frozen=True)
class Block:
    """A block that is jumped onto or climbed."""

    kind: str
    """Kind of obstacle: "box" or "climb"."""
    height: float
    """Height of its top over the floor [m]."""

    def __post_init__(self) -> None:
        if not any(self.kind == kind for kind, _ in HEIGHTS):
            raise LibraryError(f"a block of kind '{self.kind}'; write 'box' or 'climb'")
        if not (np.isfinite(self.height) and self.height > 0.0):
            raise LibraryError(f"a block of height {self.height} m; write a height above 0")


def block_heights(library: Library, kind: str, direction: str) -> tuple[float, float]:
    """Return the lowest and the highest block [m] that a library's clips of a kind are fitted to.

    Raises:
        LibraryError: if it has no such clip.
    """
    behavior = _block_behavior(library, kind, direction)
    height = abs(_gain(library.clips[behavior.clips[0]]))
    low, high = HEIGHTS[kind, direction]
    return low * height, high * height


def fitted_block(library: Library, kind: str, height: float, direction: str) -> FittedClip:
    """Return the clip that leads onto a block or down from it.

    Args:
        library: library with a behaviour of that kind.
        kind: "box" or "climb".
        height: height of the block [m].
        direction: "up" or "down".

    Raises:
        LibraryError: if the library has no such clip, or the block is too low or too high for it.
    """
    low, high = block_heights(library, kind, direction)
    behavior = _block_behavior(library, kind, direction)
    if not low - 1e-9 <= height <= high + 1e-9:
        verb = "jumps onto" if (kind, direction) == ("box", "up") else f"climbs {direction}"
        raise LibraryError(
            f"a block of {height:.4g} m; library '{library.name}' {verb} blocks of {low:.2f} to {high:.2f} m"
        )
    source = library.clips[behavior.clips[0]]
    base = place(source, np.zeros(3))
    times = np.arange(len(base)) / base.fps
    passing = behavior.pass_time if behavior.pass_time is not None else 0.5 * base.duration
    sign, holds = float(np.sign(_gain(base))), footholds(base)
    beyond = np.array([abs(hold.height - holds[0].height) > _LEAST_HEIGHT for hold in holds])
    moves = np.zeros((len(holds), 3))
    moves[beyond, 2] = sign * height - _gain(base)
    edge = _clear_edge(base, float(np.interp(passing, times, base.root_positions[:, 0])), _gain(base))
    ground = partial(_profile, edge, sign * height)
    fitted = moved_to(base, holds, moves, ground, body=_body(base, holds, beyond, moves))
    fitted = _with_hands(base, fitted, sign * height - _gain(base), edge)
    name = f"{kind}_{direction}_{1000.0 * height:.4g}"
    return FittedClip(
        clip=replace(fitted, name=name, labels=(kind,)),
        start=behavior.start,
        end=behavior.end,
        kind=kind,
        edge=edge,
        last_edge=edge,
        rise=sign * height,
        lift_s=min(_last(holds, beyond, side, base) for side in _ARMS) / base.fps,
        land_s=max(_first(holds, beyond, side) for side in _ARMS) / base.fps,
        pass_time=passing,
    )


def _profile(edge: float, rise: float, x: FloatArray) -> FloatArray:
    """Return the heights of the ground along +x that feet in the air keep clear of [m]."""
    return np.where(x >= edge, rise, 0.0) - _GRAZED


def _block_behavior(library: Library, kind: str, direction: str) -> Behavior:
    if (kind, direction) not in HEIGHTS:
        raise LibraryError(f"no clip leads {direction} a block of kind '{kind}'; there are {_written()}")
    sign = 1.0 if direction == "up" else -1.0
    for wanted in _CLIP_KINDS.get((kind, direction), (kind,)):
        for behavior in library.graph.behaviors:
            if behavior.obstacle == wanted and sign * _gain(library.clips[behavior.clips[0]]) > _LEAST_HEIGHT:
                return behavior
    raise LibraryError(f"library '{library.name}' has no clip of kind '{kind}' that leads {direction}")


def _written() -> str:
    return ", ".join(f"'{kind}' {direction}" for kind, direction in HEIGHTS)


def _gain(clip: Clip) -> float:
    """Return how much higher a clip's feet are at its end than at its start [m]."""
    holds = footholds(clip)
    return holds[-1].height - holds[0].height


def _body(
    clip: Clip, holds: list[Foothold], beyond: BoolArray, moves: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """Return when and how far the root is moved, so that hands reach a hold on top of the block; None without holds.

    Who holds on to a lower block bends down to it before the feet leave the floor.
    """
    names = [point.name for point in clip.skeleton.contact_points]
    columns = [names.index(f"{side}_hand") for side in _ARMS if f"{side}_hand" in names]
    if clip.contacts is None or not columns or not clip.contacts[:, columns].any():
        return None
    start, landed = holds[0].height, min(h.start for h, far in zip(holds, beyond, strict=True) if far)
    held = np.flatnonzero(clip.contacts[:, columns].any(axis=1))
    on_top = clip.contact_positions()[:, columns][clip.contacts[:, columns]][:, 2].mean() > start + _LEAST_HEIGHT
    last = moves[-1]
    early = np.minimum(last, 0.0) * _BENT if on_top else np.zeros(3)
    if not on_top:
        return np.array([0.0, float(held[-1]), float(landed) + 4.0]), np.stack([np.zeros(3), np.zeros(3), last])
    return np.array([0.0, float(held[0]), float(landed)]), np.stack([np.zeros(3), early, last])


def _last(holds: list[Foothold], beyond: BoolArray, side: str, clip: Clip) -> int:
    """Return the frame in which a foot leaves the ground before the edge."""
    return max((h.stop for h, far in zip(holds, beyond, strict=True) if h.side == side and not far), default=len(clip))


def _first(holds: list[Foothold], beyond: BoolArray, side: str) -> int:
    """Return the frame in which a foot comes down beyond the edge."""
    return min((h.start for h, far in zip(holds, beyond, strict=True) if h.side == side and far), default=0)


def _with_hands(base: Clip, fitted: Clip, change: float, edge: float) -> Clip:
    """Return the fitted clip with its palms flat on the block, at its edge, wherever they hold on to it.

    Args:
        base: the clip before it was fitted.
        fitted: the same with feet and root at their new heights.
        change: how much higher the ground beyond the edge is now [m].
        edge: distance of the edge ahead of the start [m].
    """
    names = [point.name for point in base.skeleton.contact_points]
    body = fitted.root_positions - base.root_positions
    for side, arm in _ARMS.items():
        if base.contacts is None or f"{side}_hand" not in names or arm[2] not in base.skeleton.roles:
            continue
        column = names.index(f"{side}_hand")
        holding = np.asarray(base.contacts[:, column])
        if not holding.any():
            continue
        palm, joint = np.asarray(base.skeleton.contact_points[column].offset), base.skeleton.roles[arm[2]]
        held = base.contact_positions()[holding, column].mean(axis=0)
        wrist, turns = base.joint_positions()[:, joint], base.joint_transforms()[1][:, joint]
        behind = held[2] < _LEAST_HEIGHT
        held = held + np.array([0.0, 0.0, _RAISED])
        if not behind:
            held = held + np.array([min(edge + _PALM - held[0], 0.0), 0.0, change])
        frames = np.arange(len(base))
        spans = stances(holding)
        away = np.min([np.maximum(np.maximum(a - frames, frames - b + 1), 0) for a, b in spans], axis=0)
        nearest = np.min([[np.clip(f, a, b - 1) for f in frames] for a, b in spans[:1]], axis=0)
        share = ease(1.0 - away / (_HAND_S * base.fps))[:, None]
        flat = rotations.slerp(turns, _flat(turns, palm), np.full(len(base), _FLAT[int(behind)]))
        hand = rotations.slerp(turns, flat, share[:, 0])
        moved = (held - rotations.rotate(flat, palm))[nearest] - wrist[nearest]
        targets = wrist + body + share * (moved - body)
        targets[:, 2] += _lift(
            targets, hand, palm, -edge if behind else edge, float(held[2]) - _RAISED, holding, base.fps
        )
        fitted = reach(fitted, arm, targets, weights=np.where(share[:, 0] > 0.0, 1.0, 0.0), end_rotations=hand)
        fitted = _let_go(fitted, column, held)
    return fitted


def _let_go(clip: Clip, column: int, held: FloatArray) -> Clip:
    """Return the clip with a hand at rest (one contact point) only where it reaches its hold (3,) [m]."""
    assert clip.contacts is not None
    contacts = np.array(clip.contacts)
    contacts[np.linalg.norm(clip.contact_positions()[:, column] - held, axis=-1) > _HELD, column] = False
    return replace(clip, contacts=contacts)


def _flat(turns: FloatArray, palm: FloatArray) -> FloatArray:
    """Return rotations of a hand (F, 4) that point as it does, but level and with its palm down.

    Args:
        turns: rotations of the hand; (F, 4).
        palm: where its palm is, from the wrist [m]; (3,).
    """
    fingers = rotations.rotate(turns, np.array([0.0, np.sign(palm[1]), 0.0]))
    level = np.sign(palm[1]) * fingers * [1.0, 1.0, 0.0]
    ahead = level / np.maximum(np.linalg.norm(level, axis=-1, keepdims=True), 1e-9)
    up = np.broadcast_to([0.0, 0.0, 1.0], ahead.shape)
    return rotations.from_matrix(np.stack([np.cross(ahead, up), ahead, up], axis=-1))


def _lift(
    wrists: FloatArray, hand: FloatArray, palm: FloatArray, edge: float, top: float, holding: BoolArray, fps: float
) -> FloatArray:
    """Return how much higher a hand must go on its way to the edge of a block and away from it [m]; (F,).

    Args:
        wrists: places of the wrist [m]; (F, 3).
        hand: rotations of the hand; (F, 4).
        palm: where the palm is, from the wrist [m]; (3,).
        edge: distance of the edge ahead of the start [m]; negative if the block is behind it, not ahead.
        top: height of the top of the block [m].
        holding: frames in which the hand rests there; (F,).
        fps: frame rate [Hz].
    """
    thick = abs(float(palm[2])) + _RAISED + 0.004
    along = np.stack([share * palm * [0.0, 1.0, 0.0] for share in (0.0, 0.6, 1.2, 1.8)])
    points = wrists[:, None] + rotations.rotate(hand[:, None], along)
    over = points[..., 0] > edge - thick if edge > 0.0 else points[..., 0] < thick - edge
    lack = np.where(over, top + thick - points[..., 2], 0.0).max(axis=1)
    lack = np.where(holding, 0.0, np.maximum(lack, 0.0))
    half = max(round(_LIFT_S * fps), 1)
    spread = scipy.ndimage.maximum_filter1d(lack, 2 * half + 1, mode="nearest")
    smooth = scipy.ndimage.gaussian_filter1d(spread, 0.5 * half, mode="nearest")
    since = scipy.ndimage.distance_transform_edt(~holding)
    return np.asarray(smooth * np.minimum(since / 2.0, 1.0))


def _clear_edge(clip: Clip, passing: float, rise: float) -> float:
    """Return where the edge of a block is best: where bodies are least in it, hands not counted [m].

    Args:
        clip: the clip.
        passing: place of the root when it passes the edge [m].
        rise: how much higher the block's top is than the start, or the floor beyond it [m].
    """
    body = capsule_body(clip.skeleton)
    hands = {clip.skeleton.roles[arm[2]] for arm in _ARMS.values() if arm[2] in clip.skeleton.roles}
    counted = np.array([int(joint) not in hands for joint in body.joints])
    positions, turns = clip.joint_transforms()
    ends = [
        positions[:, body.joints] + rotations.rotate(turns[:, body.joints], part) for part in (body.starts, body.ends)
    ]
    resting = np.zeros((0, 3)) if clip.contacts is None else clip.contact_positions()[clip.contacts]
    on_top = resting[np.abs(resting[:, 2] - max(rise, 0.0)) < 0.5 * abs(rise), 0]
    least = on_top.max(initial=-np.inf) if rise < 0.0 else -np.inf
    most = on_top.min(initial=np.inf) if rise > 0.0 else np.inf
    names = [point.name for point in clip.skeleton.contact_points]
    columns = [names.index(f"{side}_hand") for side in _ARMS if f"{side}_hand" in names]
    if rise < 0.0 and clip.contacts is not None and clip.contacts[:, columns].any():  # fingers go over the edge
        return float(clip.contact_positions()[:, columns][clip.contacts[:, columns]][:, 0].max()) + _FINGERS
    best, found = np.inf, passing
    for away in sorted(np.arange(-_ASIDE, _ASIDE + 1), key=lambda n: (abs(n), n)):
        edge, deepest = passing + 0.01 * float(away), -np.inf
        if not least <= edge <= most:
            continue
        for share in np.linspace(0.0, 1.0, 7):
            points = (ends[0] + share * (ends[1] - ends[0]))[:, counted]
            beside = edge - points[..., 0] if rise > 0.0 else points[..., 0] - edge
            above = points[..., 2] - max(rise, 0.0)
            out = np.hypot(np.maximum(beside, 0.0), np.maximum(above, 0.0)) + np.minimum(np.maximum(beside, above), 0.0)
            deepest = max(deepest, float((body.radii[counted] - out).max()))
        if deepest < best - 0.002:
            best, found = deepest, edge
    return found
