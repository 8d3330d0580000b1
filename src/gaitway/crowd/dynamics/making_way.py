"""People who stand at their goals let others by: they step aside, and come back when these have passed.

Somebody who holds a place against everybody is a pillar. Where many have arrived, those who come later stand before
walls of such pillars. People see who comes, and take a step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import BoolArray, FloatArray

_AHEAD, _BEHIND = 1.5, 0.25
"""How far ahead of whoever comes people step aside, and how far behind they are passed [m]."""
_CLEAR, _EASY = 0.62, 0.2
"""Distance from the line of whoever comes at which there is room to pass, and how much farther away people wait until
they come back [m]."""
_CENTRED = 0.08
"""Who is nearer to that line than this steps to the side of its own place [m]."""
_PACE, _LEAST = 0.5, 0.04
"""Speed at which people step aside [m/s], and the least share of it that is worth a step."""
_FARTHEST = 1.0
"""People go no farther from their places than this [m]."""
_BEFORE_GOAL = 0.45
"""Who stands farther beyond the goal of whoever comes than this is not in the way [m]."""


class WayMade(NamedTuple):
    """What people who stand do for those who come."""

    wishes: FloatArray
    """Velocities at which they want to step aside [m/s]; (S, 2)."""
    asked: BoolArray
    """Who is asked to step aside, or not to come back yet; (S,)."""


def way_made(places: FloatArray, homes: FloatArray, walkers: FloatArray, ways: FloatArray, left: FloatArray) -> WayMade:
    """Return how people who stand step aside.

    Args:
        places: where they are [m]; (S, 2).
        homes: where they want to stand [m]; (S, 2).
        walkers: where those are who come [m]; (W, 2).
        ways: which way they want to go, as unit vectors; (W, 2).
        left: how far they go that way before they are at their goals [m]; (W,).
    """
    count = len(places)
    wishes, asked = np.zeros((count, 2)), np.zeros(count, np.bool_)
    if not count or not len(walkers):
        return WayMade(wishes, asked)
    near = scipy.spatial.cKDTree(places).sparse_distance_matrix(
        scipy.spatial.cKDTree(walkers), _AHEAD + _EASY, output_type="ndarray"
    )
    order = np.lexsort((near["j"], near["i"]))
    who, by = near["i"][order], near["j"][order]
    u, off = ways[by], places[who] - walkers[by]
    across = np.column_stack([-u[:, 1], u[:, 0]])
    along, aside = (off * u).sum(axis=1), (off * across).sum(axis=1)
    ahead = (along > -_BEHIND) & (along < np.minimum(_AHEAD, left[by] + _BEFORE_GOAL))
    asked[who[ahead & (np.abs(aside) < _CLEAR + _EASY)]] = True
    wide = ahead & (np.abs(aside) < _CLEAR)
    who, by, across, along, aside = who[wide], by[wide], across[wide], along[wide], aside[wide]
    home = ((homes[who] - walkers[by]) * across).sum(axis=1)
    side = np.where(np.abs(aside) > _CENTRED, np.sign(aside), np.where(home < 0.0, -1.0, 1.0))
    strength = (1.0 - np.abs(aside) / _CLEAR) * (1.0 - 0.5 * np.maximum(along, 0.0) / _AHEAD)
    push = (side * strength)[:, None] * across
    for k in range(2):
        wishes[:, k] = np.bincount(who, push[:, k], count)
    size = np.hypot(wishes[:, 0], wishes[:, 1])
    wishes *= (np.where(size > _LEAST, np.minimum(3.0 * size, 1.0) * _PACE, 0.0) / np.maximum(size, 1e-9))[:, None]
    # who is far from its place already goes no farther
    away = places - homes
    far = np.hypot(away[:, 0], away[:, 1])
    out = away / np.maximum(far, 1e-9)[:, None]
    more = np.where(far > _FARTHEST, np.maximum((wishes * out).sum(axis=1), 0.0), 0.0)
    return WayMade(wishes - more[:, None] * out, asked)
