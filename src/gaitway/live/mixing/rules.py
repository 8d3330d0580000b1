"""Rules of a live throng: who joins the dynamics, and who goes back to clips. Pure functions of where people are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.live.playing._gaze_kernels import CHEST, FIRST_ARM

AROUND = 2.0
"""Density is the number of people within this distance, oneself included, over the area of that circle [m]."""
DENSE, OPEN = 0.39, 0.17
"""From this density on people on clips join [people/m2]: five in the circle; up to the other one they go back: two."""
BESIDE = 1.3
"""Somebody on clips joins who is so near to somebody in the dynamics [m]."""
CALM = 1.0
"""Time for which it must be open before people go back to clips [s]."""
CALM_DOWN = 0.4
"""Time within which chests and arms come to rest that turned with what somebody looked at [s]."""
FAILURES, MANY_FAILURES, FAR = 3, 8, 3.0
"""Who has failed to find a plan so often joins, if others on their way are no farther away than this [m]; after many
failures also if others stand there. Who is near its goal has arrived before that."""
CONTENT, NEAR_ENOUGH = 1.0, 1.0
"""Who is held up for so long [s] within its tolerance, and no farther from its goal than this [m], has arrived."""
_STRAIGHT_OUT, _EACH_WAY = 1.0, 0.3
"""Time for which who waits leans straight out of others, and for which it tries each other way after that [s]."""
PRESSED = 1.0
"""Time for which somebody is held up by one who stands on clips until that one joins and gives way [s]."""

_REACH, _NEAREST, _LARGEST = 0.6, 0.1, 0.4
"""Share of the tolerance at which people have arrived, and the range of that [m]."""


class ThrongLook(NamedTuple):
    """What people have around them; (N,) each."""

    density: FloatArray
    """People within `AROUND`, over the area [people/m2]."""
    nearest: FloatArray
    """Distance of the nearest other one [m]."""
    nearest_walker: FloatArray
    """Distance of the nearest other one in the dynamics [m]."""
    nearest_going: FloatArray
    """Distance of the nearest other one on the way to its goal [m]."""


def look(places: FloatArray, walks: BoolArray, going: BoolArray) -> ThrongLook:
    """Return what people have around them.

    Args:
        places: x, y of everybody [m]; (N, 2).
        walks: who is in the dynamics; (N,).
        going: who is on the way to its goal; (N,).
    """
    count = len(places)
    far = np.full(count, np.inf)
    if not count:
        return ThrongLook(far, far, far, far)
    tree = scipy.spatial.cKDTree(places)
    there = tree.query_ball_point(places, AROUND, return_length=True)
    nearest = tree.query(places, 2)[0][:, 1] if count > 1 else far
    return ThrongLook(there / (np.pi * AROUND**2), nearest, _nearest(places, walks), _nearest(places, going))


def _nearest(places: FloatArray, which: BoolArray) -> FloatArray:
    """Return the distance of the nearest other one of some people [m]; (N,)."""
    count, own = len(places), np.flatnonzero(which)
    if not len(own):
        return np.full(count, np.inf)
    away, found = scipy.spatial.cKDTree(places[own]).query(places, min(2, len(own)))
    away, found = away.reshape(count, -1), found.reshape(count, -1)
    mine = own[found[:, 0]] == np.arange(count)
    second = away[:, 1] if away.shape[1] > 1 else np.full(count, np.inf)
    return np.where(mine, second, away[:, 0])


def joins(seen: ThrongLook, fails: IntArray) -> BoolArray:
    """Return who among people on clips on their way joins the dynamics, given failures to plan in a row; (N,)."""
    stuck = (fails >= FAILURES) & (seen.nearest_going < FAR)
    stuck |= (fails >= MANY_FAILURES) & (seen.nearest < FAR)
    return np.asarray((seen.density >= DENSE) | (seen.nearest_walker < BESIDE) | stuck)


def is_open(seen: ThrongLook) -> BoolArray:
    """Return who in the dynamics has room around; (N,)."""
    return np.asarray((seen.density <= OPEN) & (seen.nearest > BESIDE + 0.4))


def reaches(tolerances: FloatArray) -> FloatArray:
    """Return the distances from goals at which people have arrived [m], for tolerances [m]; (N,)."""
    return np.clip(_REACH * tolerances, _NEAREST, _LARGEST)


def tries(waited: FloatArray) -> IntArray:
    """Return how many ways to lean people have tried in vain who have waited for so long [s]; (N,)."""
    return np.asarray(np.ceil(np.maximum(waited - _STRAIGHT_OUT, 0.0) / _EACH_WAY).astype(np.int64))


def calmed(looks: FloatArray, shares: FloatArray) -> FloatArray:
    """Return turns of chests, necks, heads and arms by gaze, of which chests and arms turn less; (N, P, 4).

    Shoulders that turn with the eyes, and arms that are folded, need room that nobody has in a throng.

    Args:
        looks: the turns, wxyz; (N, P, 4).
        shares: how much less chests and arms turn, 0 to 1; (N,).
    """
    out, parts = looks.copy(), [CHEST, *range(FIRST_ARM, looks.shape[1])]
    turns = looks[:, parts]
    turns = np.where(turns[..., :1] < 0.0, -turns, turns)
    out[:, parts] = rotations.normalize(turns + shares[:, None, None] * (np.array([1.0, 0.0, 0.0, 0.0]) - turns))
    return out
