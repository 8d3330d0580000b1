"""Whether a special motion gets past anything, measured on the body itself."""

from __future__ import annotations

import numpy as np

from gaitway.capture.cutting.pieces import Snapped
from gaitway.core.arrays import BoolArray
from gaitway.library.behavior import Behavior
from gaitway.library.reach import clip_reach
from gaitway.motion.body import capsule_body, capsules
from gaitway.world.regions import Reach

_SHORTEST = 0.6
"""A special motion that goes less far gets past nothing, for a leg of 0.85 m [m]."""
_OVER, _UNDER = 0.1, 0.84
"""A jump clears at least this height, for a leg of 0.85 m [m]; a duck passes under this share of standing height."""
_ABOUT = 0.1
"""To each side of the place of passing [m]."""
_AHEAD = np.radians(40.0)
"""Obstacles are passed ahead, within this angle [rad]."""


def passes_nothing(snapped: Snapped, size: float) -> str:
    """Why a special motion gets past nothing, in words; empty where it does, and for what is not special."""
    if not snapped.special:
        return ""
    path = snapped.clip.planar_path()
    if float(np.linalg.norm(path[-1, :2] - path[0, :2])) < _SHORTEST * size:
        return f"a {snapped.special} on the spot gets past nothing"
    clip = snapped.clip
    behavior = Behavior("", (), "", "", snapped.special, snapped.pass_frame / clip.fps)
    reach = clip_reach(clip, behavior)
    if abs(reach.heading) > _AHEAD:
        return f"a {snapped.special} that does not go ahead"
    if snapped.special == "jump" and (height := clearance(reach)) < _OVER * size:
        return f"a jump that clears only {100.0 * height:.0f} cm"
    if snapped.special == "duck" and headroom(reach) > _UNDER * _standing(snapped):
        return f"a duck that needs {headroom(reach):.2f} m of headroom, hardly less than upright"
    return ""


def gets_past(snapped: Snapped) -> float | None:
    """Height that a jump clears, or headroom that a duck or crawl needs, where it passes [m]; None for all else."""
    if snapped.special not in ("jump", "duck", "crawl"):
        return None
    behavior = Behavior("", (), "", "", snapped.special, snapped.pass_frame / snapped.clip.fps)
    reach = clip_reach(snapped.clip, behavior)
    return round(clearance(reach) if snapped.special == "jump" else headroom(reach), 3)


def clearance(reach: Reach) -> float:
    """How high the lowest point of the body is where it passes [m]."""
    return float(reach.lowest[_near(reach)].min(initial=np.inf))


def headroom(reach: Reach) -> float:
    """How high the highest point of the body is where it passes [m]."""
    return float(reach.highest[_near(reach)].max(initial=-np.inf))


def _near(reach: Reach) -> BoolArray:
    places = reach.first + reach.cell * (np.arange(len(reach.lowest)) + 0.5)
    return np.asarray(np.abs(places - reach.passing) <= _ABOUT)


def _standing(snapped: Snapped) -> float:
    """Height of the body at the end of a clip that is higher [m]."""
    body = capsule_body(snapped.clip.skeleton)
    tops = capsules(snapped.clip, body)[[0, -1], ..., 2].max(axis=-1) + body.radii
    return float(tops.max())
