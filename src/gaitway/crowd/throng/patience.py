"""People of a throng who have to wait: how long they did so, how deep they may be in others then, and their pace."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray

BAR = 0.002
"""Depth of bodies in one another from which on somebody waits [m]; less than the audit's bar, for limbs turn on their
way from one frame to the next, where this looks at straight ways."""
_PATIENCE = 0.5
"""Time for which somebody waits before more is allowed [s]; else two may wait for one another for ever."""
_RELAX, _JAMMED = 0.05, 0.002
"""Depth by which more is allowed for each second of waiting after that [m/s], and the most of it [m]."""
_LOCKED, _LOOSEN, _LOOSE = 6.0, 0.01, 0.01
"""Time after which two count as locked by their limbs [s]; how much more is allowed for each second of waiting then
[m/s], and the most of it [m]. Legs that are in between one another, or around the corner of a wall, find no other way
out, and who stands there for ever holds up everybody behind. In all that is less than the 2 cm by which sleeves may
touch in a jam; the audit counts such touches."""
_HOPELESS, _LAST = 12.0, 0.02
"""Time after which that did not serve [s], and how much more is allowed then, at the same rate [m]. Hardly anybody gets
there, since those who are locked go back before: in plans, in time; live, along their ways."""
_SOON = 0.2
"""The same as `_PATIENCE` for feet of a throng that is planned [s]."""
_PAUSE_LEAST, _PAUSE_MOST, _PAUSE_SPREAD = 0.2, 0.5, 0.5
"""Shortest and longest time for which who was held stands still before it tries to go on [s], and the share of it by
which people differ."""
_FORGET = 1.0
"""Seconds of waiting that are forgotten in a second in which nobody is in the way."""
_SLOWEST, _HASTE = 0.5, 1.4
"""Least pace of feet, and the factor by which it grows in a step in which nobody is in the way."""
SLOWED = 0.85
"""Share of its velocity that who waits keeps."""


def allowed_depths(waited: FloatArray) -> FloatArray:
    """Return how deep people may be in others [m], who have waited for so long [s]; (N,)."""
    more = np.clip(_LOOSEN * (waited - _LOCKED), 0.0, _LOOSE) + np.clip(_LOOSEN * (waited - _HOPELESS), 0.0, _LAST)
    return np.asarray(BAR + np.clip(_RELAX * (waited - _PATIENCE), 0.0, _JAMMED) + more)


def is_late(waited: FloatArray, *, strict: bool = False) -> BoolArray:
    """Return who sets a swinging foot down where it is, of people who have waited for so long [s]; (N,).

    Args:
        waited: how long; (N,).
        strict: whether they do so sooner, in a throng that is planned, where who was held stands still for a moment.
    """
    return np.asarray(waited > (_SOON if strict else _PATIENCE))


def pauses_on(paused: FloatArray, waited: FloatArray, rows: IntArray) -> FloatArray:
    """Return how long people stand still now before they try to go on [s] (N,), who are in the way of others.

    Who tries again and again, at every moment, judders. The longer somebody has waited the longer it stands still, and
    no two as long as one another, since two who try at the same moments are in one another's way each time.

    Args:
        paused: how long they stood still the last time [s]; (N,).
        waited: how long they have waited [s]; (N,).
        rows: their numbers; (N,).
    """
    again = np.where(waited > _PAUSE_LEAST, np.minimum(1.5 * paused, _PAUSE_MOST), 0.0)
    return np.asarray(np.maximum(again, _PAUSE_LEAST) * (1.0 + _PAUSE_SPREAD * ((0.618034 * rows) % 1.0)))


def waited_on(waited: FloatArray, held: BoolArray, dt: float) -> FloatArray:
    """Return how long people have waited [s] (N,) after a further step, in which some did (N,)."""
    return np.where(held, waited + dt, np.maximum(waited - _FORGET * dt, 0.0))


def paces_on(paces: FloatArray, held: BoolArray) -> FloatArray:
    """Return the paces of feet (N,) after a further step, in which some had to wait (N,)."""
    return np.where(held, np.maximum(0.5 * paces, _SLOWEST), np.minimum(_HASTE * paces, 1.0))
