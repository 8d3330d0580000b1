"""Costs of moving as people weigh them: the preferred speed, turning, and changes of gait.

A plan is as long as it is expensive, so what looks needless must cost something: a jog by someone who wants to walk, a
stop that is only used to turn, a weave between two clips that turn to either side.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from gaitway.core import planar
from gaitway.library.actions import ActionTable, action_table, path_length
from gaitway.library.behavior import Behavior, Library

SPEEDS = {"slow": 1.0, "normal": 1.4, "fast": 2.8}
"""Speeds of the words that a scene may use [m/s]; a library comes as near to them as it can."""
_SLOWER, _FASTER = 0.6, 1.5
"""Shares by which a metre becomes more expensive when it is covered e times as slowly, or as fast, as preferred."""
_SLOWEST = 0.5
"""Least speed of a gait [m/s]; slower behaviours do not serve to get anywhere."""
_TURN = 0.5
"""Cost of turning [m/rad]."""
_CHANGE = 0.1
"""Cost of a change of gait, such as a start or a stop [m]."""


def planning_table(library: Library, speed: str | float, factors: Mapping[str, float] | None = None) -> ActionTable:
    """Return the actions of a library with the costs that planners minimise.

    Args:
        library: the library.
        speed: preferred speed: a word of `SPEEDS`, or metres per second.
        factors: further factors on the costs of behaviours, by name.
    """
    weights = speed_weights(library, speed)
    for name, factor in (factors or {}).items():
        weights[name] = weights.get(name, 1.0) * factor
    extras = {b.name: _TURN * _turn(library, b) + _CHANGE * (b.start != b.end) for b in library.graph.behaviors}
    return action_table(library, weights=weights, extras=extras)


def speed_weights(library: Library, speed: str | float) -> dict[str, float]:
    """Return factors on the costs of behaviours for a preferred speed: a word of `SPEEDS`, or metres per second.

    The speed of a behaviour is that of the gait it belongs to, the faster one where it leads from one to another: the
    first steps of a jog are slow, but who takes them does not walk. Faster behaviours cost more. So do slower gaits,
    but not slower turns, starts or special behaviours.
    """
    means = {b.name: _speed(library, b) for b in library.graph.behaviors}
    gaits = {b.name: b for b in library.graph.behaviors if _is_gait(b) and means[b.name] > _SLOWEST}
    paces = {
        state: float(np.median([means[name] for name, b in gaits.items() if b.start == state]))
        for state in {b.start for b in gaits.values()}
    }
    preferred = SPEEDS[speed] if isinstance(speed, str) else float(speed)
    if gaits:
        speeds = [means[name] for name in gaits]
        preferred = min(max(preferred, min(speeds)), max(speeds))
    weights = {}
    for behavior in library.graph.behaviors:
        ends, share = {behavior.start, behavior.end}, _FASTER
        mean = means[behavior.name]
        if behavior.obstacle is None and len(ends) == 2:
            if ends <= paces.keys() and _needed(library, ends, paces):
                share = _SLOWER
            else:
                mean = max(mean, *(paces.get(state, 0.0) for state in ends))
        ratio = math.log(max(mean, 1e-9) / preferred)
        slow = _SLOWER * -ratio if behavior.name in gaits else 0.0
        weights[behavior.name] = 1.0 + (share * ratio if ratio > 0.0 else slow)
    return weights


def _needed(library: Library, ends: set[str], paces: Mapping[str, float]) -> bool:
    """Return whether the faster of two gaits passes a kind of obstacle that the slower one does not.

    Who must jog to jump over any fence is not kept from it by what the change of gait itself costs.
    """
    slower, faster = sorted(ends, key=lambda state: paces[state])
    kinds = {
        state: {b.obstacle for b in library.graph.behaviors if b.start == state and b.obstacle is not None}
        for state in ends
    }
    return not kinds[faster] <= kinds[slower]


def _is_gait(behavior: Behavior) -> bool:
    return behavior.start == behavior.end and behavior.obstacle is None


def _speed(library: Library, behavior: Behavior) -> float:
    clips = [library.clips[name] for name in behavior.clips]
    return float(np.mean([path_length(clip) / max(clip.duration, 1e-9) for clip in clips]))


def _turn(library: Library, behavior: Behavior) -> float:
    """Return how far a behaviour turns from its first frame to its last, without a sign [rad]."""
    paths = (library.clips[name].planar_path() for name in behavior.clips)
    return float(np.mean([abs(planar.wrap_angle(path[-1, 2] - path[0, 2])) for path in paths]))
