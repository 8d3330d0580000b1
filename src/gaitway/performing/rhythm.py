"""Steps that are not all of one length in time: what walks is played a little faster and slower, drawn by seed.

Stride times of healthy adults vary by 1 to 5 % (Hausdorff 2005). Clips lie where they were planned, and every foot
rests where it rested. Moments shift by a few hundredths of a second at most, and not at all where a character stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from zlib import crc32

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import STILL, contact_slip
from gaitway.take.data import Segments
from gaitway.take.model import Take

_SHIFT = 0.012
"""Standard deviation of the shift of a moment [s]."""
_MOVED = 0.016
"""Standard deviation of the place that a shift changes, at most [m]."""
_FARTHEST = 1.6
"""Greatest shift, in standard deviations."""
_SLOWEST, _SHORTEST = 0.6, 0.5
"""Least speed [m/s] and duration [s] of a clip whose rhythm changes."""


def with_own_rhythms(take: Take, *, seed: int = 0, who: Sequence[str] | None = None) -> Take:
    """Return the take with walking clips that are played a little faster and slower.

    Args:
        take: clips one after another, without fades and layers.
        seed: seed of what is drawn; each character draws by its name.
        who: names of the characters; None for all.
    """
    if any(contact_slip(clip) > STILL for clip in take.clips):
        return take  # a captured foot that slides while it rests would be seen in the air at another moment
    table, count = take.segments, len(take.segments)
    ends = np.append(table.start[1:], 0.0)
    ends[take.rows[1:] - 1] = take.ends
    speeds = np.array([_speed(clip) for clip in take.clips])[table.clip]
    whole = np.abs((ends - table.start) * table.speed - np.array([c.duration for c in take.clips])[table.clip]) < 1e-6
    walks = whole & (speeds > 0.0) & (ends - table.start >= _SHORTEST) & (table.blend == 0.0)
    chosen = set(take.names if who is None else who)
    start, middle = np.zeros(count), np.zeros(count)
    for character, name in enumerate(take.names):
        rows = np.arange(take.rows[character], take.rows[character + 1])
        if name not in chosen or not walks[rows].any():
            continue
        rng = np.random.default_rng([seed, crc32(name.encode()), 5])
        drawn = np.clip(rng.standard_normal((len(rows), 2)), -_FARTHEST, _FARTHEST)
        size = np.minimum(_SHIFT, _MOVED / np.maximum(speeds[rows], _SLOWEST))
        middle[rows] = np.where(walks[rows], drawn[:, 1] * size, 0.0)
        joined = walks[rows][1:] & walks[rows][:-1]
        start[rows[1:]] = np.where(joined, drawn[1:, 0] * np.minimum(size[1:], size[:-1]), 0.0)
    return replace(take, segments=_shifted(take, walks, ends, start, middle), rows=_rows(take, walks & (middle != 0.0)))


def _shifted(take: Take, walks: BoolArray, ends: FloatArray, start: FloatArray, middle: FloatArray) -> Segments:
    """Return segments whose begins and middles are shifted; those with a shifted middle are split there."""
    table = take.segments
    after = np.append(start[1:], 0.0)
    after[take.rows[1:] - 1] = 0.0
    split = walks & (middle != 0.0)
    half = 0.5 * (ends - table.start)
    begins = table.start + start
    halves = table.start + half + middle
    stops = ends + after
    first = np.where(
        split, half * table.speed / (halves - begins), (ends - table.start) * table.speed / (stops - begins)
    )
    first = np.where((start == 0.0) & (after == 0.0) & ~split, table.speed, first)
    second = half * table.speed / np.where(split, stops - halves, 1.0)
    order = np.repeat(np.arange(len(table)), 1 + split)
    late = np.zeros(len(order), dtype=bool)
    late[np.flatnonzero(np.diff(order) == 0) + 1] = True
    columns = {name: getattr(table, name)[order] for name in ("clip", "pose", "height", "blend", "behavior")}
    return Segments(
        **columns,
        start=np.where(late, halves[order], begins[order]),
        offset=np.where(late, table.offset[order] + (half * table.speed)[order], table.offset[order]),
        speed=np.where(late, second[order], first[order]),
    )


def _rows(take: Take, split: BoolArray) -> IntArray:
    added = np.concatenate([[0], np.cumsum(split)])
    return np.asarray(take.rows + added[take.rows])


def _speed(clip: Clip) -> float:
    """Return the speed of a clip that walks [m/s]; 0 if it does not, or leaves the ground."""
    if clip.contacts is None or not clip.contacts.any(axis=1).all():
        return 0.0
    away = float(np.linalg.norm(np.diff(clip.root_positions[:, :2], axis=0), axis=1).sum())
    speed = away / max(clip.duration, 1e-9)
    return speed if speed > _SLOWEST else 0.0
