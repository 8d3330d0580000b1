"""Companions: people who do errands together, side by side where there is room, else one after another.

The first of them walks as everybody does, a little slower. The others are planned after that one, and would like to be
at their places beside the planned way: abreast if they are two or three, in a V that is open to the front if they are
four, and in two rows if they are five. Where a place is not free, as in a gate, they come behind, one after another,
and close up again. The first waits until the others have turned to go, and that of four or five behind gates.
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
_FORWARD = {2: 0.0, 3: 0.1, 4: 0.25, 5: 0.1}
"""How far companions are ahead of the next one towards the middle, by their number [m]."""
_SECOND_ROW, _IN_A_ROW = ((-1.1, 0.45), (-1.1, -0.45)), 4
"""How far ahead and to the left of the first one the last two of five are [m], for five abreast would be 3.4 m wide;
and most people in a row."""
_BEHIND = 0.85
"""Time by which each is behind the one before, where they walk one after another [s]."""
_RATE = 4.0
"""Places of a way in a second [1/s]."""
_LATER = 8.0
"""Time after the end of a way for which places are known [s]."""
_ROOM = 0.12
"""Distance from obstacles, beyond a person's radius, at which a place is free [m]."""
_BEFORE, _SMOOTH = 4, 5
"""Places before and after a gate at which people are already, or still, one after another; and places over which they
come behind the first one, or beside it again."""
_LOSES, _GAINS = 0.6, 0.25
"""Time that people lose on the first one in each second before a gate, and gain after it [s]."""
_MANY, _THROUGH, _BEYOND, _GOES_ON = 4, 1.15, 1.4, 3.0
"""How many companions are so many that the first one waits for them behind a gate, the time that each needs to come
through [s], how far behind it that one waits, and how much farther it goes on at least [m]."""
_GOES, _STRAIGHT, _TURNS = 0.3, 0.5, (1.2, 0.7)
"""Way after which somebody has set off [m], greatest turn of who sets off at once [rad], and time that others need to
turn to go: whatever the turn [s], and for each radian [s]."""
_SETTLES = 5.0
"""Way of the first one on which the others come from where they stand to their places beside that one [m]."""
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
    for number in range(1, count if count <= _IN_A_ROW else count - len(_SECOND_ROW)):
        out, side = (number + 1) // 2, 1.0 if number % 2 else -1.0
        found.append((out * forward, side * out * _SIDE))
    return [*found, *_SECOND_ROW] if count > _IN_A_ROW else found


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


def turning_seconds(turns: FloatArray) -> FloatArray:
    """Return how long people need to turn to go, by how far they have to turn [rad] (N,): times [s]; (N,)."""
    far = np.abs(np.remainder(turns + np.pi, 2.0 * np.pi) - np.pi)
    return np.asarray(np.where(far > _STRAIGHT, _TURNS[0] + _TURNS[1] * far, 0.0))


def waiting_for_others(
    walk: Plan, headings: Sequence[float], free: Callable[[FloatArray], BoolArray]
) -> Company | None:
    """Return where the first of some companions would like to be, who waits for the others.

    That one waits until they have turned to go, and one of four or five behind each gate until they are through.

    Args:
        walk: the way of that one, as it is without waiting.
        headings: headings of the others [rad].
        free: whether somebody can stand at points (N, 2); (N,).

    Returns:
        The places, or None where nobody is waited for.
    """
    if not walk.steps:
        return None
    times = np.arange(_begin(walk), walk.end_time + 1.0 / _RATE, 1.0 / _RATE)
    way, heading = _at(walk, times), _headings(walk, times)
    moved = _moved(way)
    goes, shown = int(np.searchsorted(moved, _GOES)), int(np.searchsorted(moved, _SET_OFF))
    slowest = turning_seconds(np.asarray(headings) - heading[min(shown, len(way) - 1)]).max()
    lasts = np.ones(len(times), dtype=np.int64)
    lasts[0] += max(round(_RATE * slowest) - goes, 0)
    if len(headings) + 1 >= _MANY:
        lasts[_behind_gates(way, heading, moved, free)] += round(_RATE * (len(headings) * _THROUGH - _BEYOND))
    if lasts.sum() == len(times):
        return None
    return Company(float(times[0]), _RATE, np.repeat(way, lasts, axis=0), _SLOWER)


def _behind_gates(
    way: FloatArray, heading: FloatArray, moved: FloatArray, free: Callable[[FloatArray], BoolArray]
) -> list[int]:
    """Return the places of a way behind gates at which somebody waits.

    Args:
        way: points [m]; (N, 2).
        heading: direction of the way there [rad]; (N,).
        moved: distance along the way [m]; (N,).
        free: whether somebody can stand at points (N, 2); (N,).
    """
    left = np.column_stack([-np.sin(heading), np.cos(heading)])
    gate = ~free(way + _SIDE * left) & ~free(way - _SIDE * left)
    found: list[int] = []
    for last in np.flatnonzero(gate[:-1] & ~gate[1:]).tolist():
        behind = min(int(np.searchsorted(moved, moved[last] + _BEYOND)), len(way) - 1)
        another = gate[last + 1 : behind + 1].any()
        if not another and moved[-1] - moved[behind] >= _GOES_ON:  # else all stop there anyway
            found.append(behind)
    return found


def places_beside(
    walk: Plan, time: float, here: tuple[float, float], slot: tuple[float, float], rank: int,
    free: Callable[[FloatArray], BoolArray],
) -> Company:  # fmt: skip
    """Return where a companion would like to be over time, from a time on [s].

    At first that is as far from the first one as they stood, so that all can set off at once. Where its own side is
    barred it comes behind the first one, and in a gate behind all who walk before it, until it is through itself.

    Args:
        walk: the way of the first companion.
        time: when the other sets off [s].
        here: where it stands then [m].
        slot: how far ahead and to the left of the first one its place is [m].
        rank: how many walk before it where they walk one after another.
        free: whether somebody can stand at points (N, 2); (N,).
    """
    times = _times(walk, time)
    gate = _narrow(walk, times, _SIDE, free) & _narrow(walk, times, -_SIDE, free)
    aside, late = np.ones(len(times)), np.zeros(len(times))
    for narrow, steps in ((_narrow(walk, times, slot[1], free), max(round(abs(slot[1]) / _SIDE), 1)), (gate, rank)):
        behind = np.convolve(narrow, np.ones(round(steps * _BEHIND * _RATE) + 1))[: len(times)] > 0.5
        near = np.minimum(_GAINS * _since(behind), _LOSES * _since(behind[::-1])[::-1]) / _RATE
        late = np.maximum(late, steps * _BEHIND - near)
        padded = np.pad(behind.astype(float), _SMOOTH // 2, mode="edge")
        aside = np.minimum(aside, 1.0 - np.convolve(padded, np.ones(_SMOOTH) / _SMOOTH, "valid"))
    way, heading = _at(walk, times - late), _headings(walk, times - late)
    ahead = np.column_stack([np.cos(heading), np.sin(heading)])
    left = np.column_stack([-ahead[:, 1], ahead[:, 0]])
    forward = slot[0] * np.maximum(1.0 - late / _BEHIND, 0.0)
    beside = way + forward[:, None] * ahead + (slot[1] * aside)[:, None] * left
    first = _at(walk, times)
    parallel = np.asarray(here) + first - first[0]
    settled = np.where(free(parallel), np.clip(_moved(first) / _SETTLES, 0.0, 1.0), 1.0)
    settled = np.maximum.accumulate(settled)[:, None]
    return Company(float(time), _RATE, (1.0 - settled) * parallel + settled * beside)


def place_on_way(
    walk: Plan, time: float, slot: tuple[float, float], rank: int, free: Callable[[FloatArray], BoolArray]
) -> tuple[float, float, float]:
    """Return where a companion is to be at a time [s]: x, y [m], and in which direction the way leads there [rad].

    Args:
        walk: the way of the first companion.
        time: the time [s].
        slot: how far ahead and to the left of the first one its place is [m].
        rank: how many walk before it where its own side is barred.
        free: whether somebody can stand at points (N, 2); (N,).
    """
    times = np.array([time])
    (way,), (heading,) = _at(walk, times), _headings(walk, times)
    ahead = np.array([np.cos(heading), np.sin(heading)])
    place = way + slot[0] * ahead + slot[1] * np.array([-ahead[1], ahead[0]])
    if not free(np.array([place, 0.5 * (place + way)])).all():
        place = _at(walk, times - rank * _BEHIND)[0]
    return float(place[0]), float(place[1]), float(heading)


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
    given = dict(zip(named, sorted(own, key=lambda slot: -slot[1]), strict=True))
    ranked = sorted(given, key=lambda name: (given[name] in _SECOND_ROW, abs(given[name][1]), given[name][1]))
    return {name: (given[name], 1 + ranked.index(name)) for name in ranked}


def _begin(walk: Plan) -> float:
    """Return when a way begins [s]."""
    return walk.steps[0].time if walk.steps else walk.end_time


def _moved(way: FloatArray) -> FloatArray:
    """Return how far along a way its points (N, 2) are [m]; (N,)."""
    return np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(way, axis=0).T))])


def _times(walk: Plan, time: float) -> FloatArray:
    """Return the times of places from a time on until some time after a way [s]; (N,)."""
    return np.arange(time, max(walk.end_time, time) + _LATER, 1.0 / _RATE)


def _narrow(walk: Plan, times: FloatArray, side: float, free: Callable[[FloatArray], BoolArray]) -> BoolArray:
    """Return at which times [s] nobody can walk so far to the left of the first one [m], or soon cannot; (N,)."""
    way, heading = _at(walk, times), _headings(walk, times)
    left = np.column_stack([-np.sin(heading), np.cos(heading)])
    narrow = ~free(way + side * left) | ~free(way + 0.5 * side * left)
    return np.asarray(np.convolve(narrow, np.ones(2 * _BEFORE + 1), mode="same") > 0.5)


def _since(flags: BoolArray) -> FloatArray:
    """Return how many places ago a flag was last set, infinity before the first; (N,)."""
    numbers = np.arange(len(flags))
    last = np.maximum.accumulate(np.where(flags, numbers, -1))
    return np.where(last >= 0, numbers - last, np.inf)


def _share(walk: Plan, slot: tuple[float, float], free: Callable[[FloatArray], BoolArray]) -> float:
    """Return the share of a way on which a place beside it is free."""
    times = np.arange(_begin(walk), walk.end_time + 1.0 / _RATE, 1.0 / _RATE)
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
