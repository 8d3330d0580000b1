"""Blocks: jumps onto them, climbs up and climbs down, fitted to the height of the real block.

The library's own clip is put on the real heights: feet land on top of the block or on the floor, hands hold on to its
edge, and the body goes with them. A height far from the clip's own would be another motion, and is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import LibraryError
from gaitway.library.behavior import Behavior, Library
from gaitway.library.fitting.fitted_clip import FittedClip
from gaitway.library.fitting.footholds import Foothold, footholds, moved_to
from gaitway.motion.blending import ease
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import stances
from gaitway.motion.editing import place
from gaitway.motion.ik import LEFT_ARM, RIGHT_ARM, reach

HEIGHTS = {
    ("box", "up"): (0.65, 1.05),
    ("box", "down"): (0.42, 1.1),
    ("climb", "up"): (0.78, 1.02),
    ("climb", "down"): (0.42, 1.1),
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
    edge = float(np.interp(passing, times, base.root_positions[:, 0]))
    sign, holds = float(np.sign(_gain(base))), footholds(base)
    beyond = np.array([abs(hold.height - holds[0].height) > _LEAST_HEIGHT for hold in holds])
    moves = np.zeros((len(holds), 3))
    moves[beyond, 2] = sign * height - _gain(base)
    fitted = moved_to(base, holds, moves, body=_body(base, holds, beyond, moves))
    fitted = _with_hands(base, fitted, sign * height - _gain(base))
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


def _with_hands(base: Clip, fitted: Clip, change: float) -> Clip:
    """Return the fitted clip with its hands on the edge of the block wherever they hold on to it.

    Args:
        base: the clip before it was fitted.
        fitted: the same with feet and root at their new heights.
        change: how much higher the ground beyond the edge is now [m].
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
        top = base.contact_positions()[holding, column, 2].mean()
        moved = np.array([0.0, 0.0, change if abs(top) > _LEAST_HEIGHT else 0.0])
        frames = np.arange(len(base))
        away = np.min([np.maximum(np.maximum(a - frames, frames - b + 1), 0) for a, b in stances(holding)], axis=0)
        share = ease(1.0 - away / (_HAND_S * base.fps))[:, None]
        wrist = base.joint_positions()[:, base.skeleton.roles[arm[2]]]
        turns = base.joint_transforms()[1][:, base.skeleton.roles[arm[2]]]
        targets = wrist + body + share * (moved - body)
        fitted = reach(fitted, arm, targets, weights=np.where(share[:, 0] > 0.0, 1.0, 0.0), end_rotations=turns)
    return fitted
