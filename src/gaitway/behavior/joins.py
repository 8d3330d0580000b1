"""Joins of clips that do not share their end poses, as cut from a capture.

Clips lie where they were planned, the last frame of one at the place of the first of the next. What their poses differ
by there dies away over a window, with value and speed, and planted feet are then held where they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gaitway import rotations
from gaitway.arrays import FloatArray, IntArray
from gaitway.behavior.layering import layer_between
from gaitway.motion.blending import inertialize
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import detect_contacts
from gaitway.motion.editing import slice_frames
from gaitway.motion.footskate import clean_footskate
from gaitway.motion.skeleton import Skeleton
from gaitway.take.model import Layer, Take

LAYER = "joins"
"""Name of the layers."""
WINDOW = 0.3
"""Time over which a difference dies away [s]."""
_SAME = np.radians(0.2)
"""Joints that differ by less than this are in one pose [rad]."""
_LEVEL = 0.002
"""And roots whose heights differ by less than this [m]."""


def mend_joins(take: Take, window: float = WINDOW) -> Take:
    """The take with layers that lead each clip on from the one before, where their end poses differ.

    Clips that were made to follow one another need none and get none.

    Args:
        take: clips one after another, without fades.
        window: time over which differences die away [s].
    """
    torn = _torn(take)
    layers = [_layer(take, c, torn, window) for c in range(len(take))]
    found = tuple(layer for layer in layers if layer is not None)
    return replace(take, layers=(*take.layers, *found)) if found else take


def _torn(take: Take) -> FloatArray:
    """Which segments begin in another pose than the one before ends in; (S,)."""
    known: dict[tuple[int, int], bool] = {}
    out = np.zeros(len(take.segments), dtype=bool)
    first = set(take.rows.tolist())
    for s in range(len(out)):
        if s not in first:
            pair = (int(take.segments.clip[s - 1]), int(take.segments.clip[s]))
            if pair not in known:
                known[pair] = _differ(take.clips[pair[0]], take.clips[pair[1]])
            out[s] = known[pair]
    return out


def _differ(before: Clip, after: Clip) -> bool:
    """Whether the last pose of one clip is not the first of the other, headings aside."""
    last, first = before.rotations[-1].copy(), after.rotations[0].copy()
    for pose, heading in ((last, before.headings()[-1]), (first, after.headings()[0])):
        pose[0] = rotations.multiply(rotations.from_yaw(-heading), pose[0])
    rise = abs(float(before.root_positions[-1, 2] - after.root_positions[0, 2]))
    on_one_floor = before.contacts is None or after.contacts is None
    return bool(rotations.angle_between(last, first).max() > _SAME or (on_one_floor and rise > _LEVEL))


def _layer(take: Take, character: int, torn: FloatArray, window: float) -> Layer | None:
    """What one character needs, or None."""
    rows = np.arange(take.rows[character], take.rows[character + 1])
    joins = rows[torn[rows]]
    if not len(joins):
        return None
    clip = take.clip(character)
    frames = np.ceil((take.segments.start[joins] - take.start(character)) * clip.fps - 1e-6).astype(np.int64)
    led = _led_on(clip, frames[(frames > 0) & (frames < len(clip))], window)
    if _has_feet(clip.skeleton):
        led = clean_footskate(led if led.contacts is not None else detect_contacts(led))
    return layer_between(take, character, clip, replace(led, skeleton=clip.skeleton, contacts=clip.contacts), LAYER)


def _led_on(clip: Clip, frames: IntArray, window: float) -> Clip:
    """The clip with each part, from one of the frames on, led on from what is before it."""
    roots, turns = np.array(clip.root_positions), np.array(clip.rotations)
    for start, stop in zip(frames, np.append(frames[1:], len(clip)), strict=True):
        so_far = replace(clip, root_positions=roots, rotations=rotations.normalize(turns))
        before, after = slice_frames(so_far, max(start - 2, 0), start), slice_frames(so_far, start, stop)
        led = inertialize(before, after, window)
        roots[start:stop], turns[start:stop] = led.root_positions, led.rotations
    return replace(clip, root_positions=roots, rotations=rotations.normalize(turns))


def _has_feet(skeleton: Skeleton) -> bool:
    parts = ("hip", "knee", "ankle")
    return all(f"{side}_{part}" in skeleton.roles for side in ("left", "right") for part in parts)
