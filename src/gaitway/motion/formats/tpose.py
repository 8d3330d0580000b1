"""The T-pose that converters put before the captured frames."""

from __future__ import annotations

import numpy as np

from gaitway.core import rotations
from gaitway.motion.formats.raw import RawMotion

_NEUTRAL = np.radians(0.01)
"""A captured joint is never this near to no rotation at all, unless it has no markers."""
_NEUTRAL_SHARE = 0.6
"""Share of the moving joints that a T-pose leaves at exactly no rotation."""
_LARGEST_TURN = np.radians(60.0)
"""No joint of a T-pose is turned further than this (legs and arms are straightened by some 20 degrees)."""
_LEAST_JUMP = np.radians(2.0)
"""Mean turn of the moving joints from the T-pose to the first captured frame."""
_JUMP_RATIO = 3.0
"""That turn against the usual one from frame to frame in what follows."""
_SAME_PLACE = 1e-4
"""Distance of the two roots, as a share of the longest bone."""
_FRAMES_SEEN = 8
"""Frames, spread over the motion, that tell which joints move at all."""


def starts_with_tpose(raw: RawMotion) -> bool:
    """Whether frame 0 is a neutral pose that a converter added, rather than captured.

    Such a frame stands at the very root position of frame 1, most joints that move later have no rotation whatsoever,
    none is turned far, and the body jumps from it into the motion. A motion that begins in a T-pose leaves it smoothly
    and is kept.
    """
    if not raw.may_have_tpose or len(raw.roots) < 3 or len(raw.parents) < 2:
        return False
    longest = float(np.linalg.norm(raw.offsets[1:], axis=1).max())
    if np.linalg.norm(raw.roots[1] - raw.roots[0]) > _SAME_PLACE * longest:
        return False
    turns = rotations.angle_between(raw.neutral, raw.rotations[0])
    seen = np.unique(np.linspace(0, len(raw.roots) - 1, _FRAMES_SEEN).astype(int))
    moving = (rotations.angle_between(raw.neutral, raw.rotations[seen]) > _NEUTRAL).any(axis=0)
    if not moving.any() or turns.max() > _LARGEST_TURN or (turns[moving] <= _NEUTRAL).mean() < _NEUTRAL_SHARE:
        return False
    head = raw.rotations[: _FRAMES_SEEN + 1, moving]
    jumps = rotations.angle_between(head[1:], head[:-1]).mean(axis=1)
    return bool(jumps[0] > max(_LEAST_JUMP, _JUMP_RATIO * float(np.median(jumps[1:]))))
