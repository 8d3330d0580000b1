"""Costs of moving as people weigh them: the preferred speed and gait, turning, and changes of gait.

A plan is as long as it is expensive, so what looks needless must cost something: a jog by someone who wants to walk, a
stop that is only used to turn, a weave between two clips that turn to either side.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from gaitway.core import planar
from gaitway.library.actions import ActionTable, action_table, path_length
from gaitway.library.behavior import Behavior, Library
from gaitway.library.gaits import gaits

SPEEDS = {"slow": 1.0, "normal": 1.4, "hurry": 1.7, "fast": 2.8}
"""Speeds of the words that a scene may use [m/s]; a library comes as near to them as it can. Who hurries walks."""
HURRY_SPREAD = 0.5
"""How much people who hurry differ in speed, over how much others do: nobody hurries at a stroll."""
_SLOWER, _FASTER = 0.6, 1.5
"""Shares by which a metre becomes more expensive when it is covered e times as slowly, or as fast, as preferred."""
_SLOWEST = 0.5
"""Least speed of a gait [m/s]; slower behaviours do not serve to get anywhere."""
_STRAIGHT = 0.1
"""Greatest turn of a clip that goes straight ahead [rad]."""
_TURN = 0.5
"""Cost of turning [m/rad]."""
_STEP, _CREEP = 0.1, 0.3
"""Least distance of a step [m], and greatest speed of one from rest to rest [m/s]; who turns in place goes less far."""
_AHEAD = 0.7
"""Cosine of the angle between heading and direction below which a move is to the side or backwards."""
_ASIDE = 3.0
"""Further cost of a metre to the side or backwards, by those who can turn on the spot instead."""
_CHANGE = 0.5
"""Cost of a change of gait, such as a start or a stop [m]: people walk a detour of a metre rather than stop. Dearer
stops would make searches longer: before a fence that asks for one, all that is cheaper is tried first. And live
characters, who know as many of the cheapest ways as there is room for, would not know those with a single step."""
_HURRY = 2.0
"""Further cost of breaking into a gait that is faster than preferred [m]: who walks waits for others, or goes around
them, rather than jog past them. It is little beside the detour around a fence that only a jog gets over."""
_SHUFFLE = 1.0
"""Cost of a slow step to where one stands again, and of going down to creep [m]; people set off, or stay."""


_PACES = (0.72, 1.3)
"""Least and greatest speed at which the clips of a gait are played, over their own. Flights are played as they are, and
who breaks into a jog must not seem to be pushed."""
_NEAR_GAIT = (0.55, 1.65)
"""A preferred speed that is not between these multiples of a gait's speed is not that of the gait at all."""
_AGES = (25.0, 35.0, 45.0, 55.0, 65.0, 75.0, 90.0)
_SPEEDS_OF_AGES = (1.350, 1.385, 1.412, 1.373, 1.290, 1.197, 0.956)
"""Usual walking speeds [m/s] at these ages: means of women and men of each decade, the last from 80 to 99 (Bohannon and
Williams Andrews 2011)."""


def speed_of_age(age: float | None) -> float:
    """Return how fast people of an age [years] usually walk, over the mean of those from 20 to 59; 1 for any age."""
    if age is None:
        return 1.0
    return float(np.interp(age, _AGES, _SPEEDS_OF_AGES)) / (sum(_SPEEDS_OF_AGES[:4]) / 4)


def own_pace(
    library: Library, speed: str | float, share: float = 1.0, speeds: Sequence[float] | None = None
) -> tuple[str | float, float]:
    """Return the preferred speed for which costs are made, and how fast the clips on foot are played for it.

    People of one gait differ in pace, and not in the paths that they prefer: costs are those of the gait.

    Args:
        library: the library.
        speed: preferred speed: a word of `SPEEDS`, or metres per second.
        share: the speed of the character over what the word says.
        speeds: what `forward_speeds` returns for the library, if it is known; None looks at all clips.
    """
    speeds = forward_speeds(library) if speeds is None else speeds
    said = SPEEDS[speed] if isinstance(speed, str) else float(speed)
    asked = said * share
    if not speeds:
        return speed, 1.0
    gait = min(speeds, key=lambda own: abs(math.log(own / said)))  # whoever hurries more than others still walks
    pace = share if speed == "normal" else asked / gait
    low, high = _NEAR_GAIT
    if not (low <= asked / gait <= high or speed in ("normal", "hurry")):
        return speed, 1.0
    pace = min(max(pace, _PACES[0]), _PACES[1])
    if speed == "hurry":  # the ways of who walks, faster: search trees of who walks serve both
        return "normal", pace
    return (speed if isinstance(speed, str) else gait), pace


def forward_speeds(library: Library) -> list[float]:
    """Return the speeds of the gaits that go straight ahead, one for each that does [m/s]."""
    found: dict[str, float] = {}
    own = gaits(library)
    for behavior in library.graph.behaviors:
        if _goes_on(own, behavior) and (speed := _speed(library, behavior)) > _SLOWEST and _ahead(library, behavior):
            found[own[behavior.start]] = max(speed, found.get(own[behavior.start], 0.0))
    return list(found.values())


def _ahead(library: Library, behavior: Behavior) -> bool:
    path = library.clips[behavior.clips[0]].planar_path()
    move = planar.relative(path[0], path[-1])
    return bool(move[0] > 2.0 * abs(move[1]) and abs(planar.wrap_angle(move[2])) < _STRAIGHT)


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
    dear, own = hurries(library, speed), gaits(library)
    extras = {b.name: _extra(library, own, b) + _HURRY * (b.name in dear) for b in library.graph.behaviors}
    return action_table(library, weights=weights, extras=extras)


def _extra(library: Library, own: Mapping[str, str], behavior: Behavior) -> float:
    """Return what a behaviour costs besides its length and its speed [m], given the gaits of the states."""
    ways = _TURN * _turn(library, behavior) + _ASIDE * _aside(library, behavior)
    changes = own[behavior.start] != own[behavior.end]
    return ways + _CHANGE * changes + _SHUFFLE * _shuffles(library, own, behavior)


def speed_weights(library: Library, speed: str | float) -> dict[str, float]:
    """Return factors on the costs of behaviours for a preferred speed: a word of `SPEEDS`, or metres per second.

    The speed of a behaviour is that of the gait it belongs to, the faster one where it leads from one to another: the
    first steps of a jog are slow, but who takes them does not walk. Faster behaviours cost more. So do slower gaits,
    but not slower turns, starts or special behaviours.
    """
    own, means = gaits(library), _means(library)
    going = _going(library, own, means)
    preferred, paces = _preferred(means, going, speed), _paces(going, means)
    weights = {}
    for behavior in library.graph.behaviors:
        ends, share = {own[behavior.start], own[behavior.end]}, _FASTER
        mean = means[behavior.name]
        if behavior.obstacle is None and len(ends) == 2:
            if ends <= paces.keys() and _needed(library, own, ends, paces):
                share = _SLOWER
            else:
                mean = max(mean, *(paces.get(gait, 0.0) for gait in ends))
        ratio = math.log(max(mean, 1e-9) / preferred)
        slow = _SLOWER * -ratio if behavior.name in going else 0.0
        weights[behavior.name] = 1.0 + (share * ratio if ratio > 0.0 else slow)
    return weights


def _means(library: Library) -> dict[str, float]:
    """Return the speed of every behaviour [m/s]."""
    return {b.name: _speed(library, b) for b in library.graph.behaviors}


def _going(library: Library, own: Mapping[str, str], means: Mapping[str, float]) -> dict[str, str]:
    """Return the gait of every behaviour that goes somewhere in one, given the gaits of states; by name."""
    going = (b for b in library.graph.behaviors if _goes_on(own, b) and means[b.name] > _SLOWEST)
    return {b.name: own[b.start] for b in going}


def _paces(going: Mapping[str, str], means: Mapping[str, float]) -> dict[str, float]:
    """Return the speed of every gait [m/s]."""
    return {
        gait: float(np.median([means[name] for name, of in going.items() if of == gait]))
        for gait in set(going.values())
    }


def _preferred(means: Mapping[str, float], going: Collection[str], speed: str | float) -> float:
    """Return the preferred speed, as near as the gaits of a library come to it [m/s]."""
    preferred = SPEEDS[speed] if isinstance(speed, str) else float(speed)
    speeds = [means[name] for name in going] or [preferred]
    return min(max(preferred, min(speeds)), max(speeds))


def hurries(library: Library, speed: str | float) -> set[str]:
    """Return the names of the behaviours that break into a gait which is much faster than preferred.

    Args:
        library: the library.
        speed: preferred speed: a word of `SPEEDS`, or metres per second.
    """
    own, means = gaits(library), _means(library)
    going = _going(library, own, means)
    preferred = _preferred(means, going, speed)
    hurried = {gait for gait, pace in _paces(going, means).items() if pace > _NEAR_GAIT[1] * preferred}
    changes = (b for b in library.graph.behaviors if own[b.start] not in hurried and b.obstacle is None)
    return {b.name for b in changes if own[b.end] in hurried}


def sidesteps(library: Library) -> set[str]:
    """Return the names of the behaviours that take a step to stand again beside, or that set off to the side."""
    own = gaits(library)
    return {b.name for b in library.graph.behaviors if _shuffles(library, own, b) or _aside(library, b) > _STEP}


def _needed(library: Library, own: Mapping[str, str], ends: set[str], paces: Mapping[str, float]) -> bool:
    """Return whether the faster of two gaits passes a kind of obstacle that the slower one does not.

    Who must jog to jump over any fence is not kept from it by what the change of gait itself costs.
    """
    slower, faster = sorted(ends, key=lambda gait: paces[gait])
    kinds = {
        gait: {b.obstacle for b in library.graph.behaviors if own[b.start] == gait and b.obstacle is not None}
        for gait in ends
    }
    return not kinds[faster] <= kinds[slower]


def _goes_on(own: Mapping[str, str], behavior: Behavior) -> bool:
    """Return whether a behaviour ends in the gait that it begins in, given the gaits of states."""
    return own[behavior.start] == own[behavior.end] and behavior.obstacle is None


def _speed(library: Library, behavior: Behavior) -> float:
    clips = [library.clips[name] for name in behavior.clips]
    return float(np.mean([path_length(clip) / max(clip.duration, 1e-9) for clip in clips]))


def _turn(library: Library, behavior: Behavior) -> float:
    """Return how far a behaviour turns from its first frame to its last, without a sign [rad]."""
    paths = (library.clips[name].planar_path() for name in behavior.clips)
    return float(np.mean([abs(planar.wrap_angle(path[-1, 2] - path[0, 2])) for path in paths]))


def _shuffles(library: Library, own: Mapping[str, str], behavior: Behavior) -> bool:
    """Return whether a behaviour is a slow step to where one stands again, or leads into or out of a creep."""
    if behavior.obstacle is not None:
        return False
    speed = _speed(library, behavior)
    if not _goes_on(own, behavior):
        return speed < _CREEP
    moves = [planar.relative(path[0], path[-1]) for path in (library.clips[n].planar_path() for n in behavior.clips)]
    return speed < _CREEP and any(np.hypot(move[0], move[1]) > _STEP for move in moves)


def _aside(library: Library, behavior: Behavior) -> float:
    """Return how far a behaviour goes sideways or backwards without turning [m]; obstacles may ask for that."""
    if behavior.obstacle is not None:
        return 0.0
    paths = [library.clips[name].planar_path() for name in behavior.clips]
    moves = np.array([planar.relative(path[0], path[-1]) for path in paths])
    along = np.cos(0.5 * moves[:, 2]) * moves[:, 0] + np.sin(0.5 * moves[:, 2]) * moves[:, 1]
    away = np.hypot(moves[:, 0], moves[:, 1])
    return float(np.mean(np.where(along < _AHEAD * away, away, 0.0)))
