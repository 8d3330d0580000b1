"""Everything a take's poses are read from, laid out for the kernels: all clips' frames and all fades' frames.

A fade depends on which clip fades into which, at which frames and over how long; where it takes place moves only the
root. So the joints of every fade that occurs are blended once, at the frames of the clip that fades in, and a moment
in a fade is then read as any other: from two neighbouring frames of the pool (lau2009 chapter 4.7.1 keeps such a
table). The root is blended when it is asked for. Where fades are so many that they do not fit into `FADE_BYTES`, those
that occur least often are blended when asked for as well; the result is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gaitway.arrays import BoolArray, FloatArray, IntArray, read_only
from gaitway.take import _kernels

if TYPE_CHECKING:
    from gaitway.take.model import Segments, Take

Single = npt.NDArray[np.float32]

FADE_BYTES = 256_000_000
"""Memory for the frames of fades of one skeleton; beyond it they are blended when asked for."""
_SAME_FADE = 1e9
"""Fades whose times agree to one part in this of a second are one."""


@dataclass(frozen=True, eq=False)
class BodyPool:
    """Frames of one skeleton."""

    roots: Single
    """Root positions of all clips' frames, one clip after the other [m]; (P, 3)."""
    frames: Single
    """Local rotations of the same, and after them of fades; (P + fade rows, J, 4)."""
    contacts: BoolArray
    """Resting contact points of all clips' frames; none where a clip does not know them; (P, points)."""


@dataclass(frozen=True, eq=False)
class LayerTable:
    """All layers, sorted by character."""

    rows: IntArray
    """First layer of each character; (C + 1,), or (0,) where there are no layers."""
    starts: FloatArray
    """Time of each one's first sample [s]; (L,)."""
    places: IntArray
    """Samples, joints, first row in `joints`, in `turns`, of the root's in `turns`, in `moves` (-1: none); (L, 6)."""
    joints: IntArray
    turns: Single
    """Rotations; (T, 4)."""
    moves: Single
    """Root moves [m]; (M, 3)."""


@dataclass(frozen=True, eq=False)
class Pool:
    """What the kernels read; `gaitway.take._kernels` says what the columns are."""

    numbers: FloatArray
    places: IntArray
    bodies: tuple[BodyPool, ...]
    layers: LayerTable
    fade_count: int
    """Different fades that occur."""
    kept_fades: int
    """How many of them were blended beforehand."""


def build_pool(take: Take, fade_bytes: int = FADE_BYTES) -> Pool:
    """Lay out a take for the kernels and blend its fades.

    Args:
        take: the take.
        fade_bytes: memory for the frames of fades of one skeleton.
    """
    clip_first = np.zeros(len(take.clips), dtype=np.int64)
    members = [[i for i, c in enumerate(take.clips) if c.skeleton is s] for s in take.skeletons]
    for indices in members:
        lengths = [len(take.clips[i]) for i in indices]
        clip_first[indices] = np.concatenate([[0], np.cumsum(lengths)[:-1]]) if indices else 0
    numbers = _numbers(take)
    clip_frames = np.array([len(c) for c in take.clips], dtype=np.int64)
    clip = take.segments.clip
    places = np.column_stack([clip_first[clip], clip_frames[clip], np.full(len(clip), -1)]).astype(np.int64)
    representative, fade_of = _different_fades(take.segments, numbers)
    bodies, kept = [], 0
    owner_body = np.repeat(take.bodies, np.diff(take.rows))
    for body, indices in enumerate(members):
        pool = _clip_frames(take, body, indices)
        mine = np.flatnonzero(owner_body[representative] == body)
        frames, done = _with_fades(pool.frames, numbers, places, representative, mine, fade_of, fade_bytes)
        kept += done
        bodies.append(BodyPool(read_only_single(pool.roots), read_only_single(frames), read_only(pool.contacts)))
    layers = _layer_table(take)
    return Pool(read_only(numbers), read_only(places), tuple(bodies), layers, len(representative), kept)


def read_only_single(array: Single) -> Single:
    """A contiguous read-only view."""
    view = np.ascontiguousarray(array, dtype=np.float32).view()
    view.setflags(write=False)
    return view


def _numbers(take: Take) -> FloatArray:
    table = take.segments
    rate = np.array([clip.fps for clip in take.clips])[table.clip]
    first = table.offset * rate
    nearest = np.round(first)
    first = np.where(np.abs(first - nearest) < 1e-7, nearest, first)
    half = 0.5 * table.pose[:, 2]
    columns = [table.start, first, table.speed * rate, table.pose[:, 0], table.pose[:, 1]]
    return np.column_stack([*columns, np.cos(half), np.sin(half), table.height, table.blend])


def _different_fades(table: Segments, numbers: FloatArray) -> tuple[IntArray, IntArray]:
    """A segment for each different fade (D,), and which fade each segment has, -1 for none (S,)."""
    fading = np.flatnonzero(table.blend > 0.0)
    fade_of = np.full(len(table), -1, dtype=np.int64)
    if not len(fading):
        return fading, fade_of
    before = fading - 1
    phase = table.offset[before] + table.speed[before] * (table.start[fading] - table.start[before])
    keys = [table.clip[before], table.clip[fading]]
    for value in (phase, table.offset[fading], table.speed[before], table.speed[fading], table.blend[fading]):
        keys.append(np.round(value * _SAME_FADE).astype(np.int64))
    codes = np.zeros(len(fading), dtype=np.int64)
    for key in keys:  # column by column: sorting rows of many columns takes several times as long
        different, code = np.unique(key, return_inverse=True)
        codes = np.unique(codes * len(different) + code, return_inverse=True)[1]
    _, representative, inverse = np.unique(codes, return_index=True, return_inverse=True)
    fade_of[fading] = inverse
    return fading[representative], fade_of


def _clip_frames(take: Take, body: int, indices: list[int]) -> BodyPool:
    skeleton = take.skeletons[body]
    points, joints = len(skeleton.contact_points), len(skeleton)
    clips = [take.clips[i] for i in indices]
    roots = [np.empty((0, 3), dtype=np.float32), *(c.root_positions.astype(np.float32) for c in clips)]
    frames = [np.empty((0, joints, 4), dtype=np.float32), *(c.rotations.astype(np.float32) for c in clips)]
    contacts = [np.zeros((len(c), points), dtype=bool) if c.contacts is None else c.contacts for c in clips]
    known = np.concatenate([np.empty((0, points), dtype=bool), *contacts])
    return BodyPool(np.concatenate(roots), np.concatenate(frames), known)


def _with_fades(
    frames: Single,
    numbers: FloatArray,
    places: IntArray,
    representative: IntArray,
    mine: IntArray,
    fade_of: IntArray,
    fade_bytes: int,
) -> tuple[Single, int]:
    """The frames with fades appended, and how many fades these are; their rows are entered into `places`."""
    if not len(mine):
        return frames, 0
    segment = representative[mine]
    first = np.floor(numbers[segment, 1]).astype(np.int64)
    last = np.floor(numbers[segment, 1] + numbers[segment, 2] * numbers[segment, 8]).astype(np.int64) + 1
    counts = last + 1 - first
    uses = np.bincount(fade_of[fade_of >= 0], minlength=len(representative))[mine]
    order = np.argsort(-uses, kind="stable")
    room = np.cumsum(counts[order]) * frames[:1].nbytes <= fade_bytes
    chosen = order[room]
    row = len(frames) + np.cumsum(counts[chosen]) - counts[chosen]
    grown = np.empty((len(frames) + int(counts[chosen].sum()), *frames.shape[1:]), dtype=np.float32)
    grown[: len(frames)] = frames
    grown[len(frames) :, 0] = [1.0, 0.0, 0.0, 0.0]  # a fade's root is not read
    fades = np.column_stack([segment[chosen], first[chosen], row]).astype(np.int64)
    _kernels.fill_fades(read_only(numbers), read_only(places), read_only(fades), read_only(counts[chosen]), grown)
    row_of_fade = np.full(len(representative) + 1, -1, dtype=np.int64)  # the last one is for segments without a fade
    row_of_fade[mine[chosen]] = row - first[chosen]
    rows = row_of_fade[fade_of]
    places[:, 2] = np.where(rows >= 0, rows, places[:, 2])
    return grown, len(chosen)


def _none(width: int) -> Single:
    return np.empty((0, width), dtype=np.float32)


def _layer_table(take: Take) -> LayerTable:
    order = sorted(range(len(take.layers)), key=lambda i: take.layers[i].character)
    layers = [take.layers[i] for i in order]
    joints, turns, moves = [np.empty(0, dtype=np.int64)], [_none(4)], [_none(3)]
    places = np.full((len(layers), 6), -1, dtype=np.int64)
    used = [0, 0, 0]  # rows of joints, turns and moves
    for i, layer in enumerate(layers):
        places[i, :4] = len(layer), len(layer.joints), used[0], used[1]
        joints.append(layer.joints)
        turns.append(layer.turns.reshape(-1, 4))
        used[0], used[1] = used[0] + len(layer.joints), used[1] + len(turns[-1])
        if layer.root_turns is not None:
            places[i, 4] = used[1]
            turns.append(layer.root_turns)
            used[1] += len(layer)
        if layer.root_moves is not None:
            places[i, 5] = used[2]
            moves.append(layer.root_moves)
            used[2] += len(layer)
    characters = np.array([layer.character for layer in layers], dtype=np.int64)
    rows = np.searchsorted(characters, np.arange(len(take) + 1)) if layers else np.empty(0, dtype=np.int64)
    return LayerTable(
        read_only(rows.astype(np.int64)),
        read_only(np.array([layer.start for layer in layers], dtype=np.float64)),
        read_only(places),
        read_only(np.concatenate(joints)),
        read_only_single(np.concatenate(turns)),
        read_only_single(np.concatenate(moves)),
    )
