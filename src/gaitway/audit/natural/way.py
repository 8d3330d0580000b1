"""The way of a character on the ground: its speed, its stops, and how much it turns.

Roots swing with every step, so they are smoothed first: with 0.3 s for speeds and stops, with 0.5 s for turning.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.ndimage import binary_erosion, gaussian_filter1d

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.motion.contacts import stances

RATE = 30.0
"""Rate of all measures [Hz]."""
MOVING = 0.25
"""Speed above which a character moves [m/s]."""
JOGGING = 2.0
"""Speed above which it jogs [m/s]."""
_SPEED_SIGMA, _TURN_SIGMA = 0.3, 0.5
"""Standard deviations of the two filters [s]."""
_STILL, _STILL_TIME = 0.2, 0.3
"""A stop is slower than this [m/s] for at least this long [s]."""
SHORT_STOP = 1.0
"""A stop that is shorter waits for nobody: it is used to turn or to change the clip [s]."""
_SWITCH = 0.3
"""A change of gait passes the limit by this much on both sides [m/s]."""
_GAIT = 0.8
"""Least time of a gait [s]."""
_SETTING_OFF = 1.2
"""Time in which a character sets off, or stops [s]."""
STRAIGHT = 12.0
"""Greatest change of direction of a straight way [deg/s]."""
_HOOK = 2.5
"""Length of the last part of the way [m]."""


@dataclass(frozen=True, eq=False)
class Way:
    """The smoothed way of one character at 30 Hz."""

    speed: FloatArray
    """Speed of the root, smoothed over 0.3 s [m/s]; (F,)."""
    places: FloatArray
    """Root on the ground, smoothed over 0.5 s [m]; (F, 2)."""
    moving: BoolArray
    """Whether it moves; (F,)."""

    @property
    def moved(self) -> bool:
        """Whether it goes anywhere at all."""
        return bool(self.moving.sum() > RATE)


def way_of(roots: FloatArray) -> Way:
    """Return the way of roots (F, 2 or 3) [m] at 30 Hz."""
    roots = np.asarray(roots, dtype=float)[:, :2]
    fast = _smoothed(roots, _SPEED_SIGMA)
    speed = np.linalg.norm(np.gradient(fast, axis=0), axis=1) * RATE if len(roots) > 1 else np.zeros(len(roots))
    return Way(speed, _smoothed(roots, _TURN_SIGMA), speed > MOVING)


def mean_speed(way: Way, held_up: BoolArray | None = None) -> float:
    """Return the mean speed on the way [m/s].

    Nobody is free to walk as fast as one likes while one sets off or stops, or behind others, so that these moments are
    left out, unless there are no others.

    Args:
        way: the way.
        held_up: whether somebody is close ahead; (F,).
    """
    if not way.moved:
        return np.nan
    on = binary_erosion(way.moving, iterations=round(_SETTING_OFF * RATE), border_value=1)
    free = on if held_up is None else on & ~held_up
    chosen = next((some for some in (free, on) if some.sum() > RATE), way.moving)
    return float(way.speed[chosen].mean())


def jogging_share(way: Way) -> float:
    """Return the share of the moving time that is faster than a walk."""
    return float((way.speed[way.moving] > JOGGING).mean()) if way.moved else np.nan


def gait_switches(way: Way) -> list[int]:
    """Return the frames in which a walk becomes a jog, or a jog a walk.

    Setting off and stopping pass all speeds, so a gait counts that lasts.
    """
    if not way.moved:
        return []
    gaits = [(a, b, jog) for jog, flags in enumerate(_gaits(way)) for a, b in stances(flags) if b - a >= _GAIT * RATE]
    return [b for (_, _, before), (b, _, after) in pairwise(sorted(gaits)) if before != after]


def _gaits(way: Way) -> tuple[BoolArray, BoolArray]:
    """Return whether it walks and whether it jogs, with a band between the two in which the gait goes on; (F,) each."""
    gait, jogs = False, np.zeros(len(way.speed), dtype=bool)
    for k, speed in enumerate(way.speed.tolist()):
        gait = speed > JOGGING - _SWITCH if gait else speed > JOGGING + _SWITCH
        jogs[k] = gait
    return way.moving & ~jogs, way.moving & jogs


def stops(way: Way) -> list[tuple[int, int]]:
    """Return the first frame and the frame after the last of every stop between the first and the last movement."""
    going = np.flatnonzero(way.moving)
    if not way.moved:
        return []
    still = way.speed < _STILL
    still[: going[0]] = False
    still[going[-1] :] = False
    return [(a, b) for a, b in stances(still) if b - a >= _STILL_TIME * RATE]


def short_stops(way: Way) -> list[tuple[int, int]]:
    """Return the stops that wait for nobody."""
    return [(a, b) for a, b in stops(way) if b - a < SHORT_STOP * RATE]


def directions(way: Way) -> FloatArray:
    """Return the direction of travel [rad]; (F,)."""
    step = np.gradient(way.places, axis=0) if len(way.places) > 1 else np.zeros_like(way.places)
    heading: FloatArray = np.arctan2(step[:, 1], step[:, 0])
    return heading


def turn_rate(way: Way) -> FloatArray:
    """Return how fast the way turns, to the left above zero [deg/s]; (F,)."""
    heading = np.unwrap(directions(way))
    rate: FloatArray = np.degrees(np.gradient(heading)) * RATE if len(heading) > 1 else np.zeros(len(heading))
    return rate


def wrapped(angles: FloatArray, turn: float) -> FloatArray:
    """Return angles between minus half a turn and half a turn; `turn` is 360 or 2 pi."""
    inside: FloatArray = (angles + 0.5 * turn) % turn - 0.5 * turn
    return inside


def turning(way: Way) -> tuple[FloatArray, FloatArray]:
    """Return the absolute change of direction [deg] and the length [m] of each step while moving; (M,) each."""
    steps = np.diff(way.places, axis=0)
    both = way.moving[:-1] & way.moving[1:]
    length = np.linalg.norm(steps, axis=1)
    heading = np.arctan2(steps[:, 1], steps[:, 0])
    change = np.zeros(len(steps))
    if len(steps) > 1:
        turn = np.abs(wrapped(np.diff(heading), 2.0 * np.pi))
        change[1:] = np.where(both[1:] & both[:-1], turn, 0.0)
    return np.degrees(change), np.where(both, length, 0.0)


def turning_per_metre(way: Way) -> float:
    """Return how much it turns on a metre of its way [deg/m]."""
    change, length = turning(way)
    return float(change.sum() / length.sum()) if way.moved and length.sum() > _HOOK else np.nan


def hook(way: Way) -> float:
    """Return how much it turns in the last 2.5 m of its way [deg]."""
    change, length = turning(way)
    left = length[::-1].cumsum()[::-1]
    if not way.moved or length.sum() < 2.0 * _HOOK:
        return np.nan
    return float(change[left < _HOOK].sum())


def _smoothed(roots: FloatArray, sigma: float) -> FloatArray:
    """Return the roots after a Gaussian filter that goes on at both ends as they do there, instead of slowing down."""
    if len(roots) < 2:
        return roots
    width = min(round(4.0 * sigma * RATE), len(roots) - 1)
    padded = np.pad(roots, ((width, width), (0, 0)), mode="reflect", reflect_type="odd")
    smooth: FloatArray = gaussian_filter1d(padded, sigma * RATE, axis=0, mode="nearest")[width : width + len(roots)]
    return smooth
