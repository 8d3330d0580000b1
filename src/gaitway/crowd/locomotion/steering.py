"""Tracks made ready for bodies: positions at the rate of the take, which way trunks face, and their speeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core import planar
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.crowd.dynamics.walls import Walls
from gaitway.crowd.trajectories import Trajectories

SMOOTHING_S = 0.12
"""Standard deviation of the smoothing of positions [s]."""
SPEED_S = 0.22
"""Standard deviation of the smoothing of speeds [s]."""
_WAY_S, _LONG_WAYS = 0.45, ((1.6, 0.4), (5.0, 0.4))
"""Time scale [s] on which the way that somebody goes is looked at; longer ones, and how much each counts besides."""
_BRISK = 0.45
"""Slower ways than this [m/s] count less: who sways to and fro in a jam does not turn about."""
_STILL = 0.005
"""Whose way is slower than this on all scales [m/s] faces wherever it faced."""
_HEADING_S = 0.3
"""Standard deviation of the smoothing of headings that come from the way [s]."""
_NEAR, _FAR = 0.50, 0.85
"""Distances to the next person at which arms are wholly tucked, and hang freely [m]."""
ARM_HABITS = (0.5, 1.0)
"""How far people tuck an arm when others are as near as can be: range of what is drawn for each arm."""
_BEFORE, _NOT_BEFORE = 0.46, 0.62
"""Distances to somebody right before one at which arms are wholly lowered, and are not [m]."""
_AHEAD, _WALL_AHEAD, _WALL = 0.30, (0.05, 0.15), (0.38, 0.48)
"""Distance ahead at which walls are looked for; distances of walls from there, and from where one stands, at which they
count wholly, and do not [m]."""
_RIGHT_BEFORE = 0.5
"""Cosine of the greatest angle at which somebody is right before one."""
_CLOSE_S = 0.35
"""Standard deviation of the smoothing of how near others are [s]."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SteeredPaths:
    """What bodies are asked to do, at the rate of the take; the rows of a person lie in one run."""

    fps: float
    firsts: IntArray
    """Number of the first frame of each person on the clock of the take; (C,)."""
    rows: IntArray
    """First row of each person, and the number of rows; (C + 1,)."""
    path: FloatArray
    """Planar poses x, y [m], heading [rad], which does not jump; (R, 3)."""
    velocity: FloatArray
    """Forward, sideways [m/s] and turn [rad/s]; (R, 3)."""


def steered(tracks: Trajectories, fps: float, smoothing: float = SMOOTHING_S) -> SteeredPaths:
    """Return smooth paths with headings, at a rate of frames.

    Args:
        tracks: where people are.
        fps: rate of the result [Hz].
        smoothing: standard deviation of the smoothing of positions [s].
    """
    firsts, counts, paths, speeds = [], [], [], []
    for person in range(len(tracks)):
        rows, times = tracks.rows(person), tracks.times(person)
        begin = int(np.ceil(times[0] * fps - 1e-6))
        end = max(int(np.floor(times[-1] * fps + 1e-6)), begin + 1)
        at = np.arange(begin, end + 1) / fps
        place = np.column_stack([np.interp(at, times, tracks.positions[rows, i]) for i in range(2)])
        place = smooth(place, smoothing * fps)
        heading = _headings(tracks.headings[rows], times, at, place, fps)
        firsts.append(begin)
        counts.append(len(at))
        path = np.column_stack([place, heading])
        paths.append(path)
        speeds.append(_speeds(path, fps))
    return SteeredPaths(
        fps=fps,
        firsts=np.array(firsts, dtype=np.int64),
        rows=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        path=np.concatenate([*paths, np.empty((0, 3))]),
        velocity=np.concatenate([*speeds, np.empty((0, 3))]),
    )


def smooth(values: FloatArray, sigma: float) -> FloatArray:
    """Return values (F, ...) smoothed along frames; ends go on as they came, so that nobody slows down there."""
    frames = len(values)
    if sigma < 0.2 or frames < 3:
        return values.copy()
    pad = min(int(4.0 * sigma) + 1, frames - 1)
    before = 2.0 * values[0] - values[pad:0:-1]
    after = 2.0 * values[-1] - values[-2 : -pad - 2 : -1]
    whole = np.concatenate([before, values, after])
    out: FloatArray = scipy.ndimage.gaussian_filter1d(whole, sigma, axis=0, mode="nearest")[pad : pad + frames]
    return out


def _headings(known: FloatArray, times: FloatArray, at: FloatArray, place: FloatArray, fps: float) -> FloatArray:
    """Return which way a trunk faces [rad] (F,): as given where it is known, else the way that it goes."""
    velocity = np.gradient(place, axis=0) * fps if len(place) > 1 else np.zeros_like(place)
    way: FloatArray = scipy.ndimage.gaussian_filter1d(velocity, _WAY_S * fps, axis=0, mode="nearest")
    way *= np.minimum(np.hypot(way[:, :1], way[:, 1:]) / _BRISK, 1.0) ** 2
    for seconds, counts in _LONG_WAYS:
        way += counts * scipy.ndimage.gaussian_filter1d(velocity, seconds * fps, axis=0, mode="nearest")
    way += 0.1 * velocity.mean(axis=0)
    goes = np.flatnonzero(np.hypot(way[:, 0], way[:, 1]) > _STILL)
    given = np.flatnonzero(np.isfinite(known))
    if len(goes):
        angles = np.unwrap(np.arctan2(way[goes, 1], way[goes, 0]))
        found = np.interp(np.arange(len(at)), goes, angles)
    else:
        found = np.full(len(at), known[given[0]] if len(given) else 0.0)
    found = smooth(found, _HEADING_S * fps)
    if len(given) == 0:
        return found
    told: FloatArray = np.interp(at, times[given], np.unwrap(known[given]))
    gaps = np.interp(at, times, np.isfinite(known).astype(np.float64))
    share = scipy.ndimage.gaussian_filter1d(gaps, 0.2 * fps, mode="nearest") if len(given) < len(known) else gaps
    return smooth(told + (1.0 - share) * planar.wrap_angle(found - told), 0.05 * fps)


def _speeds(path: FloatArray, fps: float) -> FloatArray:
    """Return forward, sideways [m/s] and turn [rad/s] of planar poses (F, 3)."""
    rates = np.gradient(path, axis=0) * fps
    rates = smooth(rates, SPEED_S * fps)
    cosine, sine = np.cos(path[:, 2]), np.sin(path[:, 2])
    return np.column_stack(
        [cosine * rates[:, 0] + sine * rates[:, 1], cosine * rates[:, 1] - sine * rates[:, 0], rates[:, 2]]
    )


def closeness(paths: SteeredPaths, near: float = _NEAR, far: float = _FAR) -> FloatArray:
    """Return how near the next person is in every row, 0 (farther than `far` [m]) to 1 (nearer than `near`); (R,)."""

    def measured(rows: IntArray) -> FloatArray:
        places = paths.path[rows, :2]
        apart = scipy.spatial.cKDTree(places).query(places, 2)[0][:, 1]  # infinite for who is alone
        return np.asarray(np.clip((far - apart) / (far - near), 0.0, 1.0))

    return _every_few_frames(paths, measured)


def narrow_places(places: FloatArray, headings: FloatArray, walls: Walls) -> FloatArray:
    """Return how near walls, and people right before one, are at one moment, 0 (far) to 1 (they touch); (N,).

    Args:
        places: where people are [m]; (N, 2).
        headings: which way they face [rad]; (N,).
        walls: walls of the place.
    """
    ways = np.column_stack([np.cos(headings), np.sin(headings)])
    out = np.zeros(len(places))
    if len(places) > 1:
        pairs = scipy.spatial.cKDTree(places).query_pairs(_NOT_BEFORE, output_type="ndarray")
        for one, other in (pairs.T, pairs.T[::-1]):
            to = places[other] - places[one]
            apart = np.hypot(to[:, 0], to[:, 1])
            ahead = (to * ways[one]).sum(axis=1) > _RIGHT_BEFORE * apart
            share = np.clip((_NOT_BEFORE - apart) / (_NOT_BEFORE - _BEFORE), 0.0, 1.0)
            np.maximum.at(out, one[ahead], share[ahead])
    both = walls.depths(np.concatenate([places + _AHEAD * ways, places])).reshape(2, -1)
    for gaps, (nearest, farthest) in zip(both, (_WALL_AHEAD, _WALL), strict=True):
        out = np.maximum(out, np.clip((farthest - gaps) / (farthest - nearest), 0.0, 1.0))
    return out


def _every_few_frames(paths: SteeredPaths, measured: Callable[[IntArray], FloatArray]) -> FloatArray:
    """Return what is measured of the people of a frame, given their rows; smooth in between; (R,)."""
    lengths = np.diff(paths.rows)
    who = np.repeat(np.arange(len(lengths)), lengths)
    frame = np.arange(len(who)) - np.repeat(paths.rows[:-1], lengths) + np.repeat(paths.firsts, lengths)
    out = np.zeros(len(who))
    stride = max(int(paths.fps / 6.0), 1)
    order = np.argsort(frame, kind="stable")
    cuts = np.flatnonzero(np.diff(frame[order])) + 1
    known = np.zeros(len(who), dtype=bool)
    ends = np.zeros(len(who), dtype=bool)
    ends[paths.rows[:-1]] = ends[paths.rows[1:] - 1] = True
    for rows in np.split(order, cuts):
        if len(rows) == 0 or (frame[rows[0]] % stride and not ends[rows].any()):
            continue
        known[rows] = True
        out[rows] = measured(rows)
    for c in range(len(lengths)):
        rows = np.arange(paths.rows[c], paths.rows[c + 1])
        own = rows[known[rows]]
        filled = np.interp(rows, own, out[own])
        out[rows] = scipy.ndimage.gaussian_filter1d(filled, _CLOSE_S * paths.fps, mode="nearest")
    return out
