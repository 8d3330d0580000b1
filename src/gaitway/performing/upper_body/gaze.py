"""Where a character of a take looks: along its way, at who comes, at what it must pass, at its goal, and about.

Head against travel follows captured people: straight on it moves by 9 degrees a second (95 % of the time below 22); in
a turn it is about 10 degrees ahead of the travel, and the whole body leads with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, read_only
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import stances
from gaitway.performing.upper_body import _turn_kernels
from gaitway.performing.upper_body.crowd import Onlookers
from gaitway.performing.upper_body.surroundings import Surroundings

EYES = 0.62
"""Height of the eyes above the root of a person [m]."""
_HEAD_ON_WAY, _HEAD_AT = 0.4, 0.62
"""Share of the angle to what is looked at by which the head turns: along the way and at its end, and at somebody or
something. The eyes do the rest."""
_PITCH = 0.45
"""Share of the angle downward by which the head turns."""
_FARTHEST = np.radians(50.0)
"""Greatest angle between head and way or body [rad]."""
_SMOOTH_WAY, _SMOOTH_TURN, _SMOOTH_LOOK = 0.4, 0.30, 0.30
"""Standard deviations of the filters over the way, over the angle along it, and over glances [s]."""
_MOVING, _STANDING = 0.5, 0.1
"""Speeds above which a direction of travel is sure, and below which a body stands [m/s]."""
_BEFORE, _LEFT = 1.8, 0.2
"""Times before an obstacle is passed at which one begins and ends to look at it [s]."""
_NEAR_OBSTACLE = 0.15
"""Distance of the root from the outline of an obstacle at which it is passed [m]."""
_GOAL = (3.5, 1.2)
"""Distances from the goal between which it is looked at [m]."""


@dataclass(frozen=True, eq=False)
class Gaze:
    """Where a head is to point, in every frame."""

    yaw: FloatArray
    """Direction of the head in the world [rad]; (F,)."""
    pitch: FloatArray
    """Angle of the head downward, more than the clips have it [rad]; (F,)."""
    chest: FloatArray
    """Angle by which the trunk turns to the left, after the head [rad]; (F,)."""
    eye_yaw: FloatArray
    """Angle by which eyes turn to the left within the head [rad]; (F,)."""
    eye_pitch: FloatArray
    """Angle by which eyes turn downward within the head [rad]; (F,)."""
    moving: FloatArray
    """Share of moving, 0 for a body that stands; (F,)."""
    stands: tuple[tuple[int, int], ...]
    """First frame and the frame after the last of every time that it stands."""


@dataclass(frozen=True, eq=False)
class Look:
    """A time for which something is looked at."""

    first: int
    last: int
    points: FloatArray
    """Where it is [m]; (3,) or (last - first, 3)."""
    share: float = _HEAD_AT
    """Share of the angle to it by which the head turns."""


def gaze_of(
    clip: Clip, character: int, start: float, seen: Onlookers, around: Surroundings, goal: FloatArray,
    rng: np.random.Generator,
) -> Gaze:  # fmt: skip
    """Return where a character looks.

    Args:
        clip: its whole motion.
        character: its number in the take.
        start: time of its first frame [s].
        seen: where all characters are.
        around: what is around.
        goal: where it is to arrive: x, y [m]; NaN if nowhere.
        rng: generator of its own.
    """
    fps, count = clip.fps, len(clip)
    roots = clip.root_positions
    way = smoothed(roots[:, :2], _SMOOTH_WAY * fps)
    step = np.gradient(way, axis=0) * fps if count > 1 else np.zeros((count, 2))
    speed = np.hypot(step[:, 0], step[:, 1])
    body = smoothed(clip.headings(), 0.25 * fps)
    travel = np.arctan2(step[:, 1], step[:, 0])
    off = _wrapped(travel - body)
    moving = np.clip((speed - _STANDING) / (_MOVING - _STANDING), 0.0, 1.0)
    along = moving * np.clip((np.radians(110.0) - np.abs(off)) / np.radians(30.0), 0.0, 1.0)
    base = body + smoothed(along * np.clip(off, -_FARTHEST, _FARTHEST), 0.12 * fps)
    point = way[np.minimum(np.arange(count) + round(rng.uniform(1.0, 2.0) * fps), count - 1)]
    stands = tuple((a, b) for a, b in stances(speed < _STANDING) if b - a >= 1.0 * fps)
    ahead = point - way
    far = np.hypot(ahead[:, 0], ahead[:, 1])
    toward = np.arctan2(ahead[:, 1], ahead[:, 0])
    angle = np.where(far > 0.3, _wrapped(toward - base), 0.0) * np.clip((far - 0.3) / 0.5, 0.0, 1.0)
    on_way = smoothed(np.clip(angle, -1.6, 1.6) * _HEAD_ON_WAY, _SMOOTH_TURN * fps)
    eyes = roots + np.array([0.0, 0.0, EYES])
    looks = [*_about(clip, character, start, stands, seen, body, eyes, rng)]
    looks += _comers(character, start, fps, count, seen, speed, rng)
    looks += _at_goal(goal, way, speed, roots)
    looks += _obstacles(around, roots, fps)
    aim, down, held, share = np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count)
    for look in looks:
        part = slice(look.first, look.last)
        apart = look.points - eyes[part]
        aim[part] = _wrapped(np.arctan2(apart[:, 1], apart[:, 0]) - base[part])
        down[part] = np.arctan2(-apart[:, 2], np.hypot(apart[:, 0], apart[:, 1]))
        held[part], share[part] = 1.0, look.share
    aim, down = np.clip(aim, -1.6, 1.6), np.clip(down, -0.5, 0.9)
    width = _SMOOTH_LOOK * fps
    weight = smoothed(held, width)
    turned = (1.0 - weight) * on_way + smoothed(share * aim, width)
    turned = np.clip(turned, -_FARTHEST, _FARTHEST)
    pitch = smoothed(held * _PITCH * down, width)
    own = np.radians(rng.uniform(-1.0, 3.0))
    # the trunk follows by a tenth of a second, and less far
    chest = smoothed(np.clip(0.22 * turned, -0.14, 0.14), 0.28 * fps)
    late = round(0.12 * fps)
    chest = np.concatenate([np.full(min(late, count), chest[0]), chest[: count - min(late, count)]])
    eye_yaw = np.clip(held * aim + (1.0 - held) * angle - turned, -0.5, 0.5)
    eye_pitch = np.clip(held * down - pitch, -0.35, 0.35)
    return Gaze(base + turned, pitch + own, chest, eye_yaw, eye_pitch, moving, stands)


def _about(
    clip: Clip, character: int, start: float, stands: Sequence[tuple[int, int]], seen: Onlookers, body: FloatArray,
    eyes: FloatArray, rng: np.random.Generator,
) -> Iterator[Look]:  # fmt: skip
    """Yield what somebody who stands looks at: companions, others, and about."""
    fps = clip.fps
    for a, b in stands:
        others, own = seen.near(character, start + a / fps, start + b / fps, 5.0)
        chances = np.where(own, 3.0, 1.0).cumsum()
        frame = a + round(rng.uniform(0.1, 1.2) * fps)
        while frame < b - round(0.8 * fps):
            last = min(frame + round(float(np.clip(rng.lognormal(0.55, 0.5), 0.7, 5.0)) * fps), b - round(0.4 * fps))
            what = rng.uniform()
            if len(others) and what < 0.45:
                # as `rng.choice` draws, many times as fast
                other = int(others[(chances / chances[-1]).searchsorted(rng.random(), side="right")])
                place = seen.places[other, seen.index(start + frame / fps), :2]
                point = np.array([*place, eyes[frame, 2]])
            else:
                yaw, down = body[frame] + rng.normal(0.0, 0.55), rng.normal(0.08, 0.10)
                point = eyes[frame] + 5.0 * np.array([np.cos(yaw), np.sin(yaw), -np.tan(np.clip(down, -0.3, 0.5))])
            if np.isfinite(point).all() and last > frame:
                yield Look(frame, last, point)
            # now and then the look returns ahead
            frame = last + (0 if rng.uniform() < 0.7 else round(rng.uniform(0.5, 2.0) * fps))


def _comers(
    character: int, start: float, fps: float, count: int, seen: Onlookers, speed: FloatArray, rng: np.random.Generator
) -> Iterator[Look]:
    """Yield glances at those who come."""
    free = rng.uniform(0.0, 4.0)
    for time, other in zip(seen.times.tolist(), seen.comers(character).tolist(), strict=True):
        if other < 0 or time < free:
            continue
        first = round((time - start) * fps)
        last = min(first + round(rng.uniform(0.6, 1.3) * fps), count)
        if first >= 0 and last - first > 2 and speed[first] > _MOVING:
            when = start + np.arange(first, last) / fps
            track = seen.places[other, :, :2]
            points = np.column_stack([np.interp(when, seen.times, track[:, k]) for k in range(2)])
            if np.isfinite(points).all():
                yield Look(first, last, np.column_stack([points, np.full(last - first, 1.0 + EYES)]))
        free = time + rng.uniform(3.0, 8.0)


def _at_goal(goal: FloatArray, way: FloatArray, speed: FloatArray, roots: FloatArray) -> Iterator[Look]:
    """Yield the look at the goal on the last metres."""
    if not np.isfinite(goal[:2]).all():
        return
    away = np.hypot(*(way - goal[:2]).T)
    flags: BoolArray = (away < _GOAL[0]) & (away > _GOAL[1]) & (speed > _MOVING)
    found = stances(flags)
    if len(found):
        a, b = (int(v) for v in found[-1])
        yield Look(a, b, np.array([*goal[:2], float(roots[b - 1, 2]) - 0.6]), _HEAD_ON_WAY)


def _obstacles(around: Surroundings, roots: FloatArray, fps: float) -> Iterator[Look]:
    """Yield the looks at obstacles that are stepped over, jumped over, ducked under or climbed."""
    for obstacle, near in around.special(roots[:, :2], _NEAR_OBSTACLE):
        low, high = obstacle.shape.heights
        height = low if low > 0.6 else min(high, 1.2)
        for a, _ in stances(near):
            first, last = max(a - round(_BEFORE * fps), 0), a - round(_LEFT * fps)
            if last - first > 2:
                yield Look(first, last, np.array([*roots[a, :2], height]))


def _wrapped(angles: FloatArray) -> FloatArray:
    out: FloatArray = (angles + np.pi) % (2.0 * np.pi) - np.pi
    return out


def smoothed(values: FloatArray, sigma: float, *, cyclic: bool = False) -> FloatArray:
    """Return values (F, ...) filtered along frames by a Gaussian; the same bits as SciPy's, many times as fast.

    Args:
        values: what is filtered.
        sigma: standard deviation [frames].
        cyclic: whether the first value follows the last one; otherwise the values at the ends go on.
    """
    count, sigma = len(values), max(sigma, 1e-3)
    reach = int(4.0 * sigma + 0.5)
    away = np.arange(-reach, reach + 1)
    bell = np.exp(-0.5 / (sigma * sigma) * away**2)
    weights = read_only((bell / bell.sum())[reach:])
    columns = values.reshape(count, -1).T
    lines, out = np.empty((len(columns), count + 2 * reach)), np.empty(columns.shape)
    lines[:, reach : reach + count] = columns
    for part, frames in ((slice(0, reach), away[:reach]), (slice(reach + count, None), count + away[reach:-1])):
        lines[:, part] = columns[:, frames % count if cyclic else np.clip(frames, 0, count - 1)]
    _turn_kernels.smooth(read_only(lines), weights, out)
    return out.T.reshape(values.shape)
