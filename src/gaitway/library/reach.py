"""Reach of special behaviours: the obstacles that they pass, measured on the bodies of their clips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gaitway.core import planar
from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.cache import cached
from gaitway.core.errors import LibraryError
from gaitway.library.behavior import Behavior, Library
from gaitway.motion.body import capsule_body, capsules
from gaitway.motion.clip import Clip
from gaitway.motion.editing import resample
from gaitway.world.regions import WIDTH_STEP, Reach

CELL = 0.02
"""Length of a station [m]."""
_RATE = 240.0
"""Frame rate at which nothing moves more than about one station between frames [Hz]."""
_ROOM = 1.5
"""Farthest reach of a body before its first and beyond its last root position [m]."""
_LEVEL = 0.06
"""Greatest height difference of contacts on one level [m]."""

_HEIGHTS = 48
"""Number of heights for which the width of the body is known; up to 2.35 m."""
_LEAN = 0.1
"""Depth by which shins and rolling feet may enter an edge that is climbed [m]; at most a third of a step."""


_ARRAYS = ("lowest", "highest", "low_widths", "high_widths")


def reaches(library: Library) -> tuple[Reach, ...]:
    """Return one `Reach` for each clip of each behaviour that passes an obstacle, in the order of the graph.

    What took long is kept on disk (`gaitway.core.cache`).
    """
    return cached("reaches", (__name__,), (library,), lambda: _measure(library), _pack, _unpack)


def _measure(library: Library) -> tuple[Reach, ...]:
    special = [behavior for behavior in library.graph.behaviors if behavior.obstacle is not None]
    return tuple(
        replace(clip_reach(library.clips[name], behavior), enters=_enters(library, behavior))
        for behavior in special
        for name in behavior.clips
    )


def _pack(made: Sequence[Reach]) -> dict[str, Any]:
    """Pack reaches for the cache: all stations in one array, and the rest as words and numbers."""
    stations = np.concatenate([np.empty((0, 2)), *(np.column_stack([r.lowest, r.highest]) for r in made)])
    widths = np.array([(r.low_widths, r.high_widths) for r in made]).reshape(-1, 2, _HEIGHTS)
    rest = [{name: value for name, value in vars(r).items() if name not in _ARRAYS} for r in made]
    return {"stations": stations, "widths": widths, "counts": [len(r.lowest) for r in made], "rest": rest}


def _unpack(packed: dict[str, Any]) -> tuple[Reach, ...]:
    out, last = [], 0
    for count, rest, (low, high) in zip(packed["counts"], packed["rest"], packed["widths"], strict=True):
        first, last = last, last + count
        lowest, highest = packed["stations"][first:last].T
        words: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in rest.items()}
        out.append(Reach(lowest=lowest, highest=highest, low_widths=low, high_widths=high, **words))
    return tuple(out)


def clip_reach(clip: Clip, behavior: Behavior) -> Reach:
    """Measure the obstacles that one clip of a behaviour can pass.

    Raises:
        LibraryError: if the behaviour passes nothing, or the clip stays where it is.
    """
    if behavior.obstacle is None:
        raise LibraryError(f"behaviour '{behavior.name}' passes no obstacle")
    path = clip.planar_path()
    travel = path[-1, :2] - path[0, :2]
    length = float(np.linalg.norm(travel))
    if length < CELL:
        raise LibraryError(f"clip '{clip.name}' of behaviour '{behavior.name}' goes nowhere, so it passes nothing")
    way = (path[0, 0], path[0, 1], float(np.arctan2(travel[1], travel[0])))
    pass_time = 0.5 * clip.duration if behavior.pass_time is None else behavior.pass_time
    passing = _local(way, np.array([np.interp(pass_time * clip.fps, np.arange(len(clip)), path[:, k]) for k in (0, 1)]))
    floor = _floor(clip)
    fine = resample(clip, max(_RATE, clip.fps))
    segments, radii = capsules(fine), capsule_body(clip.skeleton).radii
    stations = _local(way, segments[..., :2])
    flat = np.stack([stations[..., 0], segments[..., 2] - floor], axis=-1).reshape(-1, 2, 2)
    every = np.tile(radii, len(fine))
    first, count = -_ROOM, int(np.ceil((length + 2.0 * _ROOM) / CELL))
    lowest = envelope(flat, every, first, count)
    highest = -envelope(flat * [1.0, -1.0], every, first, count)
    aside = np.abs(stations[..., 1]).max(axis=-1) + radii
    heights = segments[..., 2] - floor
    low, high = heights.min(axis=-1) - radii, heights.max(axis=-1) + radii
    steps: FloatArray = WIDTH_STEP * np.arange(_HEIGHTS, dtype=np.float64)
    rise, step = _rise(clip, way, behavior.start == behavior.end)
    return Reach(
        behavior=behavior.name,
        kind=behavior.obstacle,
        cell=CELL,
        first=first,
        lowest=lowest,
        highest=highest,
        passing=float(passing[0]),
        move=tuple(float(v) for v in planar.relative(path[0], path[-1])),  # type: ignore[arg-type]
        heading=float(planar.wrap_angle(way[2] - path[0, 2])),
        half_width=float(aside.max()),
        low_widths=_widest(aside, low, steps),
        high_widths=_widest(aside, -high, -steps[::-1])[::-1],
        duration=clip.duration,
        pass_time=pass_time,
        rise=rise,
        step=step,
        edge=_edge(clip, way, floor, lowest, first, rise, step),
    )


def _widest(aside: FloatArray, low: FloatArray, limits: FloatArray) -> FloatArray:
    """Return the greatest width of those parts of the body that go below each limit, which rise; (K,).

    Args:
        aside: distance of each capsule in each frame from the line [m]; (F, C).
        low: its lowest point [m]; (F, C).
        limits: heights [m]; (K,).
    """
    out = np.zeros(len(limits) + 1)
    np.maximum.at(out, np.searchsorted(limits, low.ravel(), side="right"), aside.ravel())
    return np.maximum.accumulate(out)[: len(limits)]


def _enters(library: Library, behavior: Behavior) -> bool:
    """Return whether a behaviour begins before its obstacle, and not on it as a further flight of stairs does."""
    kind, all_of_them = behavior.obstacle, library.graph.behaviors
    ordinary = {state for b in all_of_them if b.obstacle != kind for state in (b.start, b.end)}
    leads_in = any(b.obstacle == kind and b.start in ordinary and b.end == behavior.start for b in all_of_them)
    return behavior.start in ordinary or not leads_in


def envelope(segments: FloatArray, radii: FloatArray, first: float, count: int) -> FloatArray:
    """Return the lowest point of stadiums (all points within a radius of a segment) over each station; exact.

    Args:
        segments: ends, along and up [m]; (S, 2, 2).
        radii: radii of the stadiums [m]; (S,).
        first: begin of the first station [m]; each station is `CELL` long.
        count: number of stations.

    Returns:
        Heights [m]; (count,), +inf where there is none.
    """
    order = np.argsort(segments[:, :, 0], axis=1)
    ends = np.take_along_axis(segments, order[..., None], axis=1)
    chosen = _candidates(ends, radii, first, count)
    ends, radii = ends[chosen], radii[chosen]
    (x0, z0), (x1, z1) = ends[:, 0].T, ends[:, 1].T
    deepest = np.where(z0 <= z1, x0, x1)
    begin, end = _stations(x0 - radii, first), _stations(x1 + radii, first)
    out = np.full(count, np.inf)
    for offset in range(int((end - begin).max(initial=-1)) + 1):
        station = begin + offset
        low = first + CELL * station
        # The lower rim is convex, so that over a station it is lowest at the place nearest to the deepest point.
        at = np.clip(deepest, low, low + CELL)
        inside = (station >= 0) & (station < count) & (at >= x0 - radii) & (at <= x1 + radii)
        height = _lower_rim(at[inside], x0[inside], z0[inside], x1[inside], z1[inside], radii[inside])
        np.minimum.at(out, station[inside], height)
    return out


def _stations(along: FloatArray, first: float) -> IntArray:
    """Return the station at a position."""
    return np.floor((along - first) / CELL).astype(np.int64)


def _candidates(ends: FloatArray, radii: FloatArray, first: float, count: int) -> BoolArray:
    """Return which stadiums (S, 2, 2) may be lowest somewhere: most of a body is over its own feet all the time; (S,).

    A stadium can be left out if others reach deeper than it ever does over each of its stations, which is known of the
    stations under the ends of a segment.
    """
    bottoms = ends[..., 1] - radii[:, None]
    known = np.full(count, np.inf)
    stations = _stations(ends[..., 0], first)
    within = (stations >= 0) & (stations < count)
    np.minimum.at(known, stations[within], bottoms[within])
    begin, end = _stations(ends[:, 0, 0] - radii, first), _stations(ends[:, 1, 0] + radii, first)
    inside = (begin >= 0) & (end < count)
    bound = np.full(len(ends), np.inf)
    bound[inside] = _greatest(known, begin[inside], end[inside])
    chosen: BoolArray = bottoms.min(axis=1) <= bound + 1e-9
    return chosen


def _greatest(values: FloatArray, begin: IntArray, end: IntArray) -> FloatArray:
    """Return the greatest of values (N,) from each `begin` to each `end`, both included; (R,)."""
    power = np.log2(end - begin + 1).astype(np.int64)
    runs = [values]  # the greatest of one, two, four, eight ... from each place on
    for k in range(int(power.max(initial=0))):
        runs.append(np.maximum(runs[k], np.append(runs[k][2**k :], np.full(2**k, np.inf))))
    table = np.array(runs)
    out: FloatArray = np.maximum(table[power, begin], table[power, end - 2**power + 1])
    return out


def _lower_rim(
    x: FloatArray, x0: FloatArray, z0: FloatArray, x1: FloatArray, z1: FloatArray, radius: FloatArray
) -> FloatArray:
    """Return the height of a stadium's lower rim at x: a straight part below the segment, and an arc at either end."""
    length = np.hypot(x1 - x0, z1 - z0)
    short = length < 1e-9  # a disc
    sine = np.where(short, 0.0, (z1 - z0) / np.where(short, 1.0, length))
    cosine = np.where(short, 1.0, (x1 - x0) / np.where(short, 1.0, length))
    left, right = x0 + radius * sine, x1 + radius * sine
    upright = cosine < 1e-9  # all arc, but for the edge itself
    slope = np.where(upright, 0.0, sine / np.where(upright, 1.0, cosine))
    straight = np.where(upright, np.minimum(z0, z1), z0 - radius * cosine + (x - left) * slope)
    ends = [z - np.sqrt(np.maximum(radius**2 - (x - middle) ** 2, 0.0)) for middle, z in ((x0, z0), (x1, z1))]
    return np.where(x < left, ends[0], np.where(x > right, ends[1], straight))


def _local(way: tuple[float, float, float], points: FloatArray) -> FloatArray:
    """Return points (..., 2) relative to the first root position, along the path and to its left."""
    return planar.transform_points(planar.inverse(way), points)


def _floor(clip: Clip) -> float:
    """Return the height of the floor on which a clip begins [m].

    It is the height of the body's lowest point in the first frame.
    """
    if clip.contacts is not None and clip.contacts[0].any():
        return float(clip.contact_positions()[0][clip.contacts[0], 2].min())
    segments = capsules(clip)[0]
    return float((segments[..., 2].min(axis=-1) - capsule_body(clip.skeleton).radii).min())


def _resting(clip: Clip, way: tuple[float, float, float]) -> FloatArray:
    """Return the station and height of every contact of every frame [m]; (N, 2)."""
    if clip.contacts is None:
        return np.empty((0, 2))
    places = clip.contact_positions()
    return np.column_stack([_local(way, places[..., :2])[..., 0][clip.contacts], places[..., 2][clip.contacts]])


def _levels(heights: FloatArray) -> FloatArray:
    """Return the levels of heights, rising: means of heights that are closer together than `_LEVEL`."""
    ordered = np.sort(heights)
    groups = np.split(ordered, np.flatnonzero(np.diff(ordered) > _LEVEL) + 1)
    return np.array([group.mean() for group in groups if len(group)])


def _rise(clip: Clip, way: tuple[float, float, float], cycle: bool) -> tuple[float, tuple[float, float] | None]:
    """Return the rise of the floor from start to end, and the rise and run of the steps (None on level ground)."""
    levels = _levels(_resting(clip, way)[:, 1])
    total = float(clip.root_positions[-1, 2] - clip.root_positions[0, 2])
    if len(levels) < 2 or abs(total) < _LEVEL:
        return 0.0, None
    rise = float(np.copysign(np.median(np.diff(levels)), total))
    steps = round(total / rise)  # the root may stand higher over the floor in one state than in another
    travel = float(np.linalg.norm(clip.root_positions[-1, :2] - clip.root_positions[0, :2]))
    return steps * rise, (rise, travel / steps if cycle and steps > 1 else 0.0)


def _edge(
    clip: Clip,
    way: tuple[float, float, float],
    floor: float,
    lowest: FloatArray,
    first: float,
    rise: float,
    step: tuple[float, float] | None,
) -> tuple[float, float] | None:
    """Return the range for the edge of a block or first step: clear of the body, and under the feet on top."""
    if step is None:
        return None
    resting = _resting(clip, way) - [0.0, floor]
    upper = step[0] if rise > 0.0 else 0.0
    on_top = resting[np.abs(resting[:, 1] - upper) < _LEVEL, 0]
    blocked = np.flatnonzero(lowest < upper - min(_LEAN, 0.3 * abs(step[0])))
    if rise > 0.0:
        clear, stood = first + CELL * (int(blocked[-1]) + 1 if len(blocked) else 0), float(on_top.min(initial=np.inf))
    else:
        clear, stood = first + CELL * int(blocked[0] if len(blocked) else 0), float(on_top.max(initial=-np.inf))
    return min(clear, stood), max(clear, stood)
