"""Narrow gaps on the way to a goal: where their axes lie, and where somebody stops before them to turn sideways.

Side steps have to meet a gap within centimetres. A search that stumbles upon the place and heading for them tries
hundreds of fragments; here they are known beforehand, and fragments that come near are led there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gaitway.core.arrays import FloatArray, read_only
from gaitway.deform.place import SqueezePlace
from gaitway.space.plan import Pose

WALKED = 0.25
"""Room on both sides below which a gap counts as narrow [m]."""
STOPPED = 0.42
"""Room that somebody needs who stands and turns on the spot [m]."""
_STEP = 0.1
"""Distance between points of the way [m]."""
_ROUND = read_only(np.exp(1j * np.radians(np.arange(0.0, 360.0, 10.0))))
"""Directions in which the way may go on."""
_TURNS = read_only(np.radians(np.arange(-40.0, 41.0, 2.0)))
_ASIDE = read_only(np.arange(-0.2, 0.201, 0.01))
"""Turns [rad] and shifts [m] of the axis of a gap that are tried."""
_HALF, _SAMPLES = 0.3, 13
"""Least half length over which an axis must be clear [m], and number of points at which it is looked at."""
_COST = read_only(np.array([0.01, 0.01]))
"""What a turn [m/rad] and a shift [m/m] of an axis cost of its room, so that of many as good the first guess stays."""
_AGAIN, _BETTER = 5, 0.004
"""Most looks for an axis, each from the one before, and what one must gain in room for another one to follow [m]."""
_LONG = 0.8
"""How far before the place to stop somebody may stop as well [m]."""
_FARTHEST = 1.6
"""Greatest distance of the place to stop from the middle of a gap [m]."""


@dataclass(frozen=True)
class NarrowGap:
    """A gap on the way."""

    middle: complex
    """x + iy [m]."""
    along: complex
    """Unit direction of its axis, toward the goal."""
    room: float
    """Room on both sides of the axis [m]."""
    stop: complex
    """Place on the axis before the gap at which there is room to turn on the spot [m]."""

    def ahead_of(self, place: complex) -> bool:
        """Return whether the gap lies ahead of a place on its axis."""
        return ((self.middle - place) * self.along.conjugate()).real > 0.0

    def before(self, place: complex) -> complex:
        """Return the point of the axis nearest to a place that is at least as far before the gap as `stop`."""
        far = ((place - self.stop) * self.along.conjugate()).real
        return self.stop + min(max(far, -_LONG), 0.0) * self.along

    def on_axis(self, place: complex) -> complex:
        """Return the point of the axis that is nearest to a place."""
        return self.middle + ((place - self.middle) * self.along.conjugate()).real * self.along


def narrow_gaps(
    place: SqueezePlace, left: Callable[[FloatArray], FloatArray], start: Pose, most: int = 400
) -> tuple[NarrowGap, ...]:
    """Return the narrow gaps on the shortest way from a start, the first one first.

    Args:
        place: the place.
        left: least length of the way from points (N, 2) to the goal [m]; (N,).
        start: where the way begins.
        most: most points of the way.
    """
    way = _way(left, complex(start[0], start[1]), most)
    if len(way) < 3:
        return ()
    room = place.clearances(_plane(way))
    tight = np.concatenate([[False], room < WALKED, [False]])
    edges = np.flatnonzero(np.diff(tight.astype(np.int64))).reshape(-1, 2)
    found = []
    for first, stop in edges.tolist():
        if stop == len(way):
            break  # a goal beside something is no gap
        at = first + int(np.argmin(room[first:stop]))
        before, after = way[max(first - 2, 0)], way[min(stop + 1, len(way) - 1)]
        if abs(after - before) > 1e-6:
            half = max(_HALF, 0.5 * abs(after - before) - _STEP)
            found.append(_gap(place, way[at], (after - before) / abs(after - before), half))
    return tuple(found)


def _way(left: Callable[[FloatArray], FloatArray], at: complex, most: int) -> np.ndarray:
    """Return points of the way to the goal, as x + iy [m]; (N,)."""
    out, rest = [at], float(left(np.array([[at.real, at.imag]]))[0])
    while len(out) < most and math.isfinite(rest) and rest > _STEP:
        around = at + 1.5 * _STEP * _ROUND
        lengths = np.round(left(_plane(around)), 6)
        best = int(np.argmin(lengths))
        if not lengths[best] < rest - 1e-6:
            break
        at, rest = complex(around[best]), float(lengths[best])
        out.append(at)
    return np.array(out)


def _gap(place: SqueezePlace, at: complex, along: complex, half: float) -> NarrowGap:
    """Return the gap at a place: its axis is the line with the most room."""
    middle, axis, wide = at, along, -math.inf
    for _ in range(_AGAIN):  # a way that cuts a corner is farther from the axis than one look goes
        turned = axis * np.exp(1j * _TURNS)
        middles = middle + 1j * turned[:, None] * _ASIDE
        line = middles[..., None] + turned[:, None, None] * np.linspace(-half, half, _SAMPLES)
        room = np.round(place.clearances(_plane(line)).min(axis=-1), 4)
        score = room - _COST[0] * np.abs(_TURNS)[:, None] - _COST[1] * np.abs(_ASIDE)
        best = np.unravel_index(int(np.argmax(score)), score.shape)
        gained, wide = float(room[best]) - wide, float(room[best])
        axis, middle = complex(turned[best[0]]), complex(middles[best])
        if gained < _BETTER:
            break
    back = np.arange(0.0, _FARTHEST, 0.02)
    free = place.clearances(_plane(middle - back * axis)) >= STOPPED
    far = float(back[int(np.argmax(free))]) if free.any() else float(half)
    return NarrowGap(middle, axis, wide, middle - far * axis)


def _plane(points: np.ndarray) -> FloatArray:
    return np.stack([points.real, points.imag], axis=-1)
