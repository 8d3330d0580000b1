"""Contacts of takes whose feet rest at height 0, and on things that they step on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gaitway.capture.reading.smoothing import steady_velocities
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import ContactLimits, detect_contacts, stances

_RAISED = 0.05
"""A foot that rests higher than this stands on something [m]."""
_SHORTEST_S = 0.1
_FINE_RATE = 45.0
"""Captures with fewer frames a second show short stances badly [Hz]."""
_UNEVEN = 0.03
"""How much a foot may move up and down while it stands [m]."""
_LOADED_S = 0.07
"""A foot carries the body if for so long no other one can [s]."""
_OVER = 0.6
"""Pelvis over the thing, as a share of its height when standing, of a foot that carries."""


def with_contacts(clip: Clip, limits: ContactLimits, pelvis: float) -> Clip:
    """The clip with contacts, on a floor at z = 0 and on whatever its feet stand on above it.

    Args:
        clip: a levelled take whose contact points rest at height 0.
        limits: heights and speeds that count as resting.
        pelvis: height of the middle of the hips when standing [m].
    """
    if clip.fps < _FINE_RATE:  # a running foot is still for two or three frames only
        limits = replace(limits, shortest_s=min(limits.shortest_s, 2.0 / clip.fps))
    return detect_contacts(clip, limits, support_heights(clip, pelvis))


def support_heights(clip: Clip, pelvis: float) -> FloatArray:
    """Height of what each contact point would rest on [m]; (F, C). 0 but for feet that stand on something."""
    points = clip.contact_positions()
    names = [p.name for p in clip.skeleton.contact_points]
    speeds = np.linalg.norm(steady_velocities(points, clip.fps), axis=-1)
    going = np.linalg.norm(steady_velocities(clip.root_positions[:, :2], clip.fps), axis=-1)
    columns = [[i for i, name in enumerate(names) if name.startswith(side)] for side in ("left", "right")]
    soles = np.stack([points[:, c, 2].min(axis=1) for c in columns], axis=1)
    slowest = np.stack([speeds[:, c].min(axis=1) for c in columns], axis=1)
    still = slowest < 0.2 + 0.1 * going[:, None]
    on_floor = still & (soles < _RAISED)
    out = np.zeros(points.shape[:2])
    hips = clip.root_positions[:, 2]
    for foot in (0, 1):
        for start, stop in stances(still[:, foot] & (soles[:, foot] > _RAISED)):
            track, other = soles[start:stop, foot], on_floor[start:stop, 1 - foot]
            if stop - start < _SHORTEST_S * clip.fps or np.ptp(track) > 2.0 * _UNEVEN:
                continue
            level = float(np.percentile(track, 30.0))
            if _longest(~other) >= _LOADED_S * clip.fps and hips[start:stop].max() - level > _OVER * pelvis:
                margin = int(_SHORTEST_S * clip.fps)
                out[max(start - margin, 0) : stop + margin, columns[foot]] = level
    return out


def _longest(flags: BoolArray) -> int:
    return max((stop - start for start, stop in stances(flags)), default=0)
