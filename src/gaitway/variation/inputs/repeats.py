"""Repeats of any motion that recurs within a take or in several: strokes, strides, jogs, waves.

Frames are compared as clouds of body points over a short window, moved over the ground to fit (as for motion graphs).
So similar frames are similar in pose and in velocity, wherever the character is. The period is the lag at which a take
is most similar to itself. One frame is the mark: the frame that recurs most often, and most similarly, in all takes.
Repeats lie between its recurrences, so that all of them begin and end in one pose.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.capture.overrides import OverridesItem
from gaitway.capture.reading.files import read_takes
from gaitway.capture.reading.prepared import prepare
from gaitway.capture.reading.smoothing import at_rate
from gaitway.capture.takes import PrepareOptions
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, SingleArray
from gaitway.core.errors import LibraryError, VariationError
from gaitway.graphs.clouds import joined, point_clouds
from gaitway.graphs.distance import distances
from gaitway.motion.clip import Clip
from gaitway.motion.editing import place, slice_frames, with_name
from gaitway.motion.skeleton import Skeleton
from gaitway.variation.inputs.cycles import on_one_skeleton

_WINDOW_S = 0.08
"""Time that is compared to either side of a frame [s]."""
_AS_GOOD, _AS_LITTLE = 1.3, 0.1
"""Lags are as good as the best one up to this factor on its distance, and up to this share of the distance between any
two frames beyond that. The period is the shortest of them."""
_LEAST_S = 0.1
"""Least time for which a take must be similar to itself [s]."""
_EVEN = 0.3
"""Greatest difference between a repeat and the period, as a share of the period."""
_LEVEL = 0.5
"""Horizontal part of the forward direction below which a character lies, face up or down (1 is upright)."""
_ANCHORS = 2
"""Step between frames that are tried as the mark."""


@dataclass(frozen=True)
class RepeatOptions:
    """Options that say what counts as a repeat."""

    fps: float = 60.0
    """Frame rate of repeats that are cut from files; 60 is that of the thesis [Hz]."""
    shortest_s: float = 0.4
    longest_s: float = 4.0
    """Greatest duration of a repeat; `shortest_s` is the least [s]."""
    alike: float = 0.5
    """Greatest distance between the first and the last frame of a repeat, as a share of that between any two frames."""
    tail: int = 3
    """Number of frames behind the repeat that go on as it began, so that a network learns how it closes."""
    straight: float = np.inf
    """Greatest turn of a repeat; others are left out [rad]."""


def cut_repeats(clips: Sequence[Clip], options: RepeatOptions = RepeatOptions()) -> list[Clip]:  # noqa: B008  (frozen)
    """Return all repeats of the motion in clips of one skeleton and rate, each from the origin with heading 0.

    Raises:
        VariationError: if nothing recurs, or the clips are of different skeletons or rates.
    """
    clips = on_one_skeleton(clips)
    if len({clip.fps for clip in clips}) > 1:
        raise VariationError("clips of different rates; resample them first")
    long = [clip for clip in clips if len(clip) > 2 * _WINDOW_S * clip.fps + options.tail + 2]
    if not long:
        raise VariationError(f"clips of {max(map(len, clips), default=0)} frames are too short to hold a repeat")
    clouds = [point_clouds(clip, _WINDOW_S) for clip in long]
    every = joined(clouds)
    apart = distances(every, every, ends=False)
    bounds = np.cumsum([0, *(len(clip) for clip in long)])
    usual = float(apart[np.isfinite(apart)].mean(dtype=np.float64))
    periods = _periods(apart, bounds.tolist(), long[0].fps, usual, options)
    marks = _best_marks(apart, bounds.tolist(), periods, options.alike * usual, options.tail)
    out: list[Clip] = []
    for clip, found in zip(long, marks, strict=True):
        for number, (first, last) in enumerate(found, 1):
            piece = slice_frames(clip, first, last + options.tail)
            heading = piece.headings()
            if abs(heading[last - first - 1] - heading[0]) <= options.straight:
                out.append(with_name(place(piece, (0.0, 0.0, 0.0)), f"{clip.name} cycle {number}"))
    return out


def captured_repeats(
    files: str | Path | Iterable[str | Path],
    options: RepeatOptions = RepeatOptions(),  # noqa: B008  (frozen)
) -> list[Clip]:
    """Return all repeats in one subject's capture files, on one skeleton.

    Characters that walk are put on a level floor, and contacts are detected. Others, such as swimmers, stay as they
    are, without contacts.

    Raises:
        LibraryError: if no file can be used.
        VariationError: if nothing recurs in the files.
    """
    return cut_repeats(captured_takes(files, options.fps), options)


def captured_takes(files: str | Path | Iterable[str | Path], fps: float) -> list[Clip]:
    """Return one subject's captures at a rate [Hz], on one skeleton; walks on a level floor and with contacts.

    Raises:
        LibraryError: if no file can be used.
    """
    paths = [Path(files)] if isinstance(files, str | Path) else [Path(file) for file in files]
    options = PrepareOptions(fps=fps, mirror=False)
    try:
        return on_one_skeleton([take.clip for take in prepare(paths, options).takes])
    except LibraryError:
        read, dropped = read_takes(paths, options, OverridesItem())
        if not read:
            raise LibraryError(f"{dropped[0].file}: {dropped[0].reason}") from None
        return on_one_skeleton([with_name(_with_heading(at_rate(take.clip, fps)), take.name) for take in read])


def lying(skeleton: Skeleton) -> Skeleton:
    """Return the same body with a rest pose that lies face down: its heading is where the head is, not where it looks.

    A swimmer looks down, and the small horizontal part of that direction points anywhere.
    """
    left, right = skeleton.require("left_hip", "right_hip")
    across = skeleton.rest_positions[left] - skeleton.rest_positions[right]
    pitch = rotations.from_rotation_vector(0.5 * np.pi * across / np.linalg.norm(across))
    rest = np.array(skeleton.rest_rotations)
    rest[0] = rotations.multiply(pitch, rest[0])
    return replace(skeleton, rest_rotations=rest)


def _with_heading(clip: Clip) -> Clip:
    """Return the clip on a skeleton by which it has a heading, whether it stands or lies."""
    ahead = rotations.rotate(clip.rotations[:, 0], clip.skeleton.forward)
    if float(np.median(np.linalg.norm(ahead[:, :2], axis=1))) >= _LEVEL:
        return clip
    return replace(clip, skeleton=lying(clip.skeleton))


def _periods(apart: SingleArray, bounds: list[int], fps: float, usual: float, options: RepeatOptions) -> list[int]:
    """Return the period of each clip [frames]; clips without one get that of the others."""
    own = [_period(apart[begin:end, begin:end], fps, usual, options) for begin, end in pairwise(bounds)]
    known = [period for period in own if period is not None]
    if not known:
        raise VariationError(
            f"nothing comes again within {options.shortest_s:g} to {options.longest_s:g} s; "
            "give takes with two repeats or more, or other limits"
        )
    middle = round(float(np.median(known)))
    return [middle if one is None or abs(one - middle) > _EVEN * middle else one for one in own]


def _period(own: SingleArray, fps: float, usual: float, options: RepeatOptions) -> int | None:
    """Return the period of one clip by the distances of its frames (F, F); None if it is never similar to itself."""
    shortest, longest = max(round(options.shortest_s * fps), 2), round(options.longest_s * fps)
    means = np.full(longest + 2, np.inf)
    for lag in range(shortest - 1, min(longest + 2, len(own))):
        along = np.diagonal(own, lag)
        along = along[np.isfinite(along)]
        if len(along) >= _LEAST_S * fps:  # a few frames at the end of a clip may be similar by chance
            means[lag] = along.mean(dtype=np.float64)
    inner = np.arange(shortest, longest + 1)
    low = inner[(means[inner] <= means[inner - 1]) & (means[inner] <= means[inner + 1]) & np.isfinite(means[inner])]
    if len(low) == 0 or means[low].min() > options.alike * usual:
        return None
    return int(low[means[low] <= _AS_GOOD * means[low].min() + _AS_LITTLE * usual][0])


def _best_marks(
    apart: SingleArray, bounds: list[int], periods: list[int], bar: float, tail: int
) -> list[list[tuple[int, int]]]:
    """Return first and last frames of repeats in every clip, by the frame that recurs most often and most similarly."""
    best: tuple[int, float] = (0, -np.inf)
    out: list[list[tuple[int, int]]] = [[] for _ in bounds[1:]]
    for anchor in range(0, bounds[-1], _ANCHORS):
        row: FloatArray = apart[anchor].astype(np.float64)
        if not np.isfinite(row).any():
            continue
        found = [
            _spans(row[begin:end], period, bar, tail)
            for (begin, end), period in zip(pairwise(bounds), periods, strict=True)
        ]
        count = sum(len(spans) for spans in found)
        ends = [row[begin + frame] for begin, spans in zip(bounds, found, strict=False) for s in spans for frame in s]
        if count and (count, -float(np.mean(ends))) > best:
            best, out = (count, -float(np.mean(ends))), found
    if best[0] == 0:
        raise VariationError("no repeat lies wholly within a take; give longer ones")
    return out


def _spans(row: FloatArray, period: int, bar: float, tail: int) -> list[tuple[int, int]]:
    """Return the repeats of a clip between recurrences of a frame whose distances to it are `row` (F,)."""
    known = np.flatnonzero(np.isfinite(row))
    if len(known) < 3:
        return []
    # the first and the last known frame are no recurrences, because what lies beyond is unknown
    inner = -row[known[0] : known[-1] + 1]
    peaks, _ = scipy.signal.find_peaks(inner, height=-bar, distance=max(round((1.0 - _EVEN) * period), 1))
    marks = (known[0] + peaks).tolist()
    return [
        (first, last)
        for first, last in pairwise(marks)
        if abs(last - first - period) <= _EVEN * period and last + tail <= len(row)
    ]
