"""Gaits of a library: the states in which somebody goes on in the same way, such as all phases of a walk.

A made library walks in one state, from stride to stride. A captured one may have a state for either foot, and its clips
are single steps from one to the other: that is no change of gait.
"""

from __future__ import annotations

import numpy as np

from gaitway.core import planar
from gaitway.core.arrays import FloatArray
from gaitway.library.behavior import Library
from gaitway.motion.clip import Clip

_AT_END_S = 0.25
"""Time about which the velocity at an end of a clip is measured [s]; longer than a sway to one side hides it."""
_GOES = 0.25
"""Least speed of a state in which somebody goes somewhere [m/s]."""
_ALIKE = 0.4
"""Greatest difference of two velocities of one gait, as a share of the faster; a jog is twice as fast as a walk."""


def gaits(library: Library) -> dict[str, str]:
    """Return the gait of each state of a library: the name of the first state of the same gait.

    States belong together if behaviours lead from each to the other and somebody goes as fast, in the same direction,
    in both. A state of rest is a gait of its own.
    """
    velocities = _velocities(library)
    ways = {(b.start, b.end) for b in library.graph.behaviors if b.obstacle is None}
    found = {state: state for state in library.graph.states}
    for one, other in sorted(ways, key=lambda way: tuple(map(library.graph.states.index, way))):
        if one != other and (other, one) in ways and _alike(velocities[one], velocities[other]):
            first, joined = sorted((found[one], found[other]), key=library.graph.states.index)
            found = {state: first if gait == joined else gait for state, gait in found.items()}
    return found


def _alike(one: FloatArray, other: FloatArray) -> bool:
    """Return whether two velocities (2,) are those of one gait."""
    speeds = np.hypot(*one), np.hypot(*other)
    return bool(min(speeds) > _GOES and np.hypot(*(one - other)) < _ALIKE * max(speeds))


def _velocities(library: Library) -> dict[str, FloatArray]:
    """Return the mean velocity in each state, seen from the body: ahead and to the left [m/s]; (2,) each."""
    found: dict[str, list[FloatArray]] = {state: [] for state in library.graph.states}
    for behavior in library.graph.behaviors:
        if behavior.obstacle is None:  # somebody slows down before an obstacle
            for clip in (library.clips[name] for name in behavior.clips):
                found[behavior.start].append(_velocity(clip, at_end=False))
                found[behavior.end].append(_velocity(clip, at_end=True))
    return {state: np.median(rows, axis=0) if rows else np.zeros(2) for state, rows in found.items()}


def _velocity(clip: Clip, at_end: bool) -> FloatArray:
    """Return the velocity about the first or the last moment of a clip, seen from the body [m/s]; (2,)."""
    path = clip.planar_path()
    count = min(max(round(_AT_END_S * clip.fps), 1), len(path) - 1)
    if count == 0:
        return np.zeros(2)
    part = path[-1 - count :] if at_end else path[: count + 1]
    return np.asarray(planar.relative(part[0], part[-1])[:2] * clip.fps / count)
