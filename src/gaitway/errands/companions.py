"""Companions: people who do errands together, side by side where there is room, else one after another.

The first of them walks as everybody does, a little slower. The others are planned after that one, and would like to be
at their places beside the planned way: abreast if they are two or three, else in a V that is open to the front. Where a
place is not free, as in a gate, they come behind, one after another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from gaitway.behavior.starts import own_speed
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.scene.characters import Character
from gaitway.space.plan import Plan
from gaitway.space.planner import Company

_SIDE = 0.85
"""Distance from one companion to the next, aside [m]: bodies whose arms swing need 0.8."""
_FORWARD = {2: 0.0, 3: 0.1, 4: 0.25, 5: 0.25}
"""How far companions are ahead of the next one towards the middle, by their number [m]."""
_BEHIND = 0.85
"""Time by which each is behind the one before, where they walk one after another [s]."""
_RATE = 4.0
"""Places of a way in a second [1/s]."""
_LATER = 8.0
"""Time after the end of a way for which places are known [s]."""
_ROOM = 0.12
"""Distance from obstacles, beyond a person's radius, at which a place is free [m]."""
_BEFORE, _SMOOTH = 4, 5
"""Places before and after a gate at which people are already, or still, one after another; and places over which the
change from one form to the other is spread."""
_SLOWER, _BRISKER = 1.3, 1.12
"""How many times as long as usual the steps of the first one take, and how fast all can walk over the slowest: people
in company walk slower than alone, and the others can catch up."""
_SET_OFF = 1.5
"""Way after which it shows in which direction somebody has set off [m]."""
_STEP = 0.05
"""Speeds are multiples of this, so that few libraries are prepared."""


def company_speeds(people: Sequence[Character], seed: int) -> dict[str, float]:
    """Return the own speed of everybody over what `speed` says, by name; companions walk as fast as the slowest."""
    known = {character.name: character for character in people}
    speeds = {character.name: own_speed(character, seed) for character in people}
    for character in people:
        together = [known[name] for name in character.companions if name in known]
        if len(together) < 2:
            continue
        slowest = min(speeds_of(one, seed) for one in together)
        speeds[character.name] = max(_STEP * round(_BRISKER * slowest / character.library.size / _STEP), _STEP)
    return speeds


def speeds_of(character: Character, seed: int) -> float:
    """Return how fast somebody walks over a body of usual size at the usual speed."""
    return own_speed(character, seed) * character.library.size


def slots(count: int) -> list[tuple[float, float]]:
    """Return how far ahead and to the left each of the others is from the first of so many companions [m]."""
    forward, found = _FORWARD[count], []
    for number in range(1, count):
        out, side = (number + 1) // 2, 1.0 if number % 2 else -1.0
        found.append((out * forward, side * out * _SIDE))
    return found


def beside(pose: tuple[float, float, float], points: FloatArray) -> FloatArray:
    """Return where somebody may come in beside a companion who stands at a pose; the best places come first; (K, 2).

    Args:
        pose: x, y [m] and heading [rad] of the companion.
        points: places anywhere [m]; (N, 2).
    """
    turns = pose[2] + np.array([0.5, -0.5, 0.75, -0.75, 1.0]) * np.pi
    rings = [np.column_stack([np.cos(turns), np.sin(turns)]) * far for far in (_SIDE + 0.1, 2.0 * _SIDE, 3.0 * _SIDE)]
    away = np.hypot(points[:, 0] - pose[0], points[:, 1] - pose[1]).round(6)
    return np.concatenate([*(np.asarray(pose[:2]) + ring for ring in rings), points[np.argsort(away, kind="stable")]])


def ahead_of_others() -> Company:
    """Return how the first of some companions walks: a little slower than alone."""
    return Company(0.0, 1.0, np.zeros((0, 2)), _SLOWER)


def places_beside(
    walk: Plan, time: float, slot: tuple[float, float], rank: int, free: Callable[[FloatArray], BoolArray]
) -> Company:
    """Return where a companion would like to be over time, from a time on [s].

    Args:
        walk: the way of the first companion.
        time: when the other sets off [s].
        slot: how far ahead and to the left of the first one its place is [m].
        rank: how many walk before it where they walk one after another.
        free: whether somebody can stand at points (N, 2); (N,).
    """
    times = np.arange(time, max(walk.end_time, time) + _LATER, 1.0 / _RATE)
    way, heading = _at(walk, times), _headings(walk, times)
    ahead = np.column_stack([np.cos(heading), np.sin(heading)])
    left = np.column_stack([-ahead[:, 1], ahead[:, 0]])
    abreast = way + slot[0] * ahead + slot[1] * left
    narrow = ~free(abreast) | ~free(way + 0.5 * (abreast - way))
    kernel = np.ones(2 * _BEFORE + 1)
    narrow = np.convolve(narrow, kernel, mode="same") > 0.5
    share = np.convolve(np.pad(narrow.astype(float), _SMOOTH // 2, mode="edge"), np.ones(_SMOOTH) / _SMOOTH, "valid")
    file = _at(walk, times - rank * _BEHIND)
    return Company(float(time), _RATE, (1.0 - share)[:, None] * abreast + share[:, None] * file)


def chosen_sides(
    walk: Plan, time: float, others: Mapping[str, tuple[float, float]], free: Callable[[FloatArray], BoolArray]
) -> dict[str, tuple[tuple[float, float], int]]:
    """Return the slot and the rank of each of the others, by name: who is on the left stays there.

    For two, the side with more room on the way is taken if the other one has much less.

    Args:
        walk: the way of the first companion.
        time: when it begins [s].
        others: where the others stand [m], by name.
        free: whether somebody can stand at points (N, 2); (N,).
    """
    times = np.arange(time, max(walk.end_time, time) + 1.0 / _RATE, 1.0 / _RATE)
    way = _at(walk, times)
    off = np.hypot(*(way - way[0]).T) > _SET_OFF
    (x, y), heading = way[0].tolist(), float(_headings(walk, times)[int(np.argmax(off)) if off.any() else -1])
    aside = {
        name: round((py - y) * np.cos(heading) - (px - x) * np.sin(heading), 6) for name, (px, py) in others.items()
    }
    own = slots(len(others) + 1)
    if len(own) == 1:
        room = {side: _share(walk, (own[0][0], side * _SIDE), free) for side in (1.0, -1.0)}
        (here,) = aside.values()
        side = 1.0 if here > 0.0 else -1.0
        side = -side if room[-side] > room[side] + 0.15 else side
        own = [(own[0][0], side * _SIDE)]
    named = sorted(aside, key=lambda name: (-aside[name], name))
    ordered = sorted(own, key=lambda slot: -slot[1])
    given = dict(zip(named, ordered, strict=True))
    ranked = sorted(named, key=lambda name: (abs(given[name][1]), given[name][1]))
    return {name: (given[name], 1 + ranked.index(name)) for name in named}


def _share(walk: Plan, slot: tuple[float, float], free: Callable[[FloatArray], BoolArray]) -> float:
    """Return the share of a way on which a place beside it is free."""
    begin = walk.steps[0].time if walk.steps else walk.end_time
    times = np.arange(begin, walk.end_time + 1.0 / _RATE, 1.0 / _RATE)
    way, heading = _at(walk, times), _headings(walk, times)
    left = np.column_stack([-np.sin(heading), np.cos(heading)])
    return float(np.mean(free(way + slot[1] * left)))


def _at(walk: Plan, times: FloatArray) -> FloatArray:
    """Return where somebody is on a way at times [s]; (N, 2). Between steps the way is straight."""
    knots = [(step.time, *step.pose[:2]) for step in walk.steps] + [(walk.end_time, *walk.end_pose[:2])]
    t, x, y = np.array(knots).T
    return np.column_stack([np.interp(times, t, x), np.interp(times, t, y)])


def _headings(walk: Plan, times: FloatArray) -> FloatArray:
    """Return the directions in which somebody walks at times [rad]; (N,). Who stands keeps the last one."""
    before, after = _at(walk, times - 0.8), _at(walk, times + 0.8)
    moved = after - before
    goes = np.hypot(moved[:, 0], moved[:, 1]) > 0.15
    first = walk.steps[0].pose[2] if walk.steps else walk.end_pose[2]
    angles = np.arctan2(moved[:, 1], moved[:, 0])
    last = np.maximum.accumulate(np.where(goes, np.arange(len(times)), -1))
    return np.where(last >= 0, angles[np.maximum(last, 0)], angles[int(np.argmax(goes))] if goes.any() else first)
