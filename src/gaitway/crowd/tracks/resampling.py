"""Trajectories at another rate, of a part of the time, or of some of the people."""

from __future__ import annotations

import re

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import CrowdError
from gaitway.core.suggest import did_you_mean
from gaitway.crowd.trajectories import Trajectories, joined

MOST_FRAMES = 100_000_000
"""Greatest number of frames of all people together."""


def resampled(trajectories: Trajectories, fps: float) -> Trajectories:
    """Return trajectories at another rate; between frames, places follow smooth curves and headings turn evenly.

    People who are seen for less than a frame of the new rate are left out.

    Raises:
        CrowdError: if the rate is not above 0, or there would be more than a hundred million frames.
    """
    if not (np.isfinite(fps) and fps > 0.0):
        raise CrowdError(f"a rate of {fps} Hz; write one above 0")
    if fps == trajectories.fps:
        return trajectories
    if trajectories.lengths.sum() * (fps / trajectories.fps) > MOST_FRAMES:
        raise CrowdError(f"at {fps:g} Hz there are more than {MOST_FRAMES:,} frames; ask for a lower rate")
    ratio = trajectories.fps / fps
    names, starts, paths = list[str](), list[int](), list[FloatArray]()
    stops = np.cumsum(trajectories.lengths)
    for person, last in enumerate(stops):
        rows = slice(int(last - trajectories.lengths[person]), int(last))
        start, count = int(trajectories.starts[person]), int(trajectories.lengths[person])
        first = int(np.ceil(start / ratio - 1e-6))
        final = int(np.floor((start + count - 1) / ratio + 1e-6))
        if final < first:
            continue
        places = np.clip(np.arange(first, final + 1) * ratio - start, 0.0, count - 1.0)
        names.append(trajectories.names[person])
        starts.append(first)
        paths.append(
            np.column_stack([_curve(trajectories.positions[rows], places), _turns(trajectories.headings[rows], places)])
        )
    return joined(fps, names, starts, paths)


def cut(
    trajectories: Trajectories, begin: float = 0.0, until: float | None = None, people: str | None = None
) -> Trajectories:
    """Return the part of trajectories from one time to another, of some people; `begin` becomes time 0.

    Args:
        trajectories: what to cut.
        begin: when [s].
        until: when [s]; the end if None.
        people: names and ranges of numbers, such as "3,8-20"; everybody if None.

    Raises:
        CrowdError: if nobody is left, or nobody has a name.
    """
    if until is not None and until <= begin:
        raise CrowdError(f"from {begin:g} s until {until:g} s is no time; write a later end")
    wanted = None if people is None else _chosen(trajectories.names, people)
    first = round(begin * trajectories.fps)
    last = np.iinfo(np.int64).max if until is None else round(until * trajectories.fps)
    names, starts, paths = list[str](), list[int](), list[FloatArray]()
    stops = np.cumsum(trajectories.lengths)
    for person, stop in enumerate(stops):
        if wanted is not None and trajectories.names[person] not in wanted:
            continue
        start, count = int(trajectories.starts[person]), int(trajectories.lengths[person])
        skipped, kept = max(first - start, 0), min(last - start + 1, count)
        if kept - skipped < 1:
            continue
        rows = slice(int(stop) - count + skipped, int(stop) - count + kept)
        names.append(trajectories.names[person])
        starts.append(start + skipped - first)
        paths.append(np.column_stack([trajectories.positions[rows], trajectories.headings[rows]]))
    if not names:
        ends = (trajectories.starts + trajectories.lengths - 1) / trajectories.fps
        raise CrowdError(
            f"nobody is there from {begin:g} s until {'the end' if until is None else f'{until:g} s'}; "
            f"people are there from {trajectories.starts.min() / trajectories.fps:.4g} to {ends.max():.4g} s"
        )
    return joined(trajectories.fps, names, starts, paths)


def _chosen(names: tuple[str, ...], words: str) -> set[str]:
    """Return the names that words such as "3,8-20,ada" mean."""
    known, out = set(names), set[str]()
    for word in filter(None, (part.strip() for part in words.split(","))):
        span = re.fullmatch(r"(\d{1,12})-(\d{1,12})", word)
        if word in known:
            out.add(word)
        elif span and int(span[1]) <= int(span[2]):
            inside = {name for name in names if name.isdigit() and int(span[1]) <= int(name[:18]) <= int(span[2])}
            if not inside:
                raise CrowdError(f"people '{word}': nobody has such a number")
            out |= inside
        else:
            raise CrowdError(f"people '{word}': there is nobody of that name{did_you_mean(word, names[:10_000])}")
    if not out:
        raise CrowdError("people: name at least one, such as '3,8-20'")
    return out


def _curve(positions: FloatArray, places: FloatArray) -> FloatArray:
    """Return positions between frames, on cubic curves with the slopes of the frames beside each; (P, 2)."""
    if len(positions) < 3:
        return np.column_stack([np.interp(places, np.arange(len(positions)), axis) for axis in positions.T])
    slopes = np.gradient(positions, axis=0, edge_order=2)
    at = np.minimum(places.astype(np.int64), len(positions) - 2)
    u = (places - at)[:, None]
    a, b, da, db = positions[at], positions[at + 1], slopes[at], slopes[at + 1]
    out: FloatArray = a + u * (da + u * (3.0 * (b - a) - 2.0 * da - db + u * (2.0 * (a - b) + da + db)))
    return out


def _turns(headings: FloatArray, places: FloatArray) -> FloatArray:
    """Return headings between frames; NaN beside frames without one; (P,)."""
    at = np.minimum(places.astype(np.int64), max(len(headings) - 2, 0))
    after = np.minimum(at + 1, len(headings) - 1)
    u = places - at
    turn = np.arctan2(np.sin(headings[after] - headings[at]), np.cos(headings[after] - headings[at]))
    between = headings[at] + np.where(u > 0.0, u * turn, 0.0)
    return np.arctan2(np.sin(between), np.cos(between))
