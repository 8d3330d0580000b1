"""The pool: frames of all clips and of all fades of a take, laid out for the kernels.

A fade depends on which clip fades into which, at which frames and over how long; where it takes place moves only the
root. So the joints of every fade that occurs are blended once, at the frames of the clip that fades in, and a moment
in a fade is then read as any other: from two neighbouring frames of the pool (lau2009 chapter 4.7.1 keeps such a
table). The root is blended when it is asked for. Where fades are so many that they do not fit into `FADE_BYTES`, those
that occur least often are blended when asked for as well; the result is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, read_only
from gaitway.take import _kernels
from gaitway.take.data import Segments, TakeData

Single = npt.NDArray[np.float32]

FADE_BYTES = 256_000_000
"""Greatest memory of the frames of fades of one skeleton [bytes]; the rest is blended on demand."""
_BATCH = 10_000
"""Number of frames that are blended at once."""
_SAME_FADE = 1e9
"""Resolution of fade times: fades whose times agree to this fraction of a second are the same."""


@dataclass(frozen=True, eq=False)
class BodyPool:
    """Frames of one skeleton."""

    frames: Single
    """Frames of all clips, one after the other, and then of fades: local rotations of the joints, component by
    component, and as last column the root's position [m] and a zero; (P + fade rows, 4, J + 1)."""
    contacts: BoolArray
    """Resting contact points of all clips' frames; none where a clip does not know them; (P, points)."""


@dataclass(frozen=True, eq=False)
class LayerTable:
    """All layers, split into channels that each turn one joint, or turn or move the root."""

    rows: IntArray
    """First channel of each character; (C + 1,), or (0,) where there are no layers."""
    channels: FloatArray
    """Time of the first sample [s], number of samples, joint (or what it does to the root), first sample; (L, 4)."""
    samples: Single
    """Rotations, or moves [m] and a zero, all samples of one channel in one run; (T, 4, 1)."""


@dataclass(frozen=True, eq=False)
class Pool:
    """The arrays that the kernels read."""

    table: FloatArray
    """One row per segment; `gaitway.take._kernels` names the columns; (S, 12)."""
    bodies: tuple[BodyPool, ...]
    layers: LayerTable
    fade_count: int
    """Number of different fades."""
    kept_fades: int
    """Number of fades that were blended beforehand."""


def build_pool(take: TakeData, fade_bytes: int = FADE_BYTES) -> Pool:
    """Lay out a take for the kernels and blend its fades.

    Args:
        take: the take.
        fade_bytes: memory for the frames of fades of one skeleton.
    """
    members = [[i for i, c in enumerate(take.clips) if c.skeleton is s] for s in take.skeletons]
    table = _segment_table(take, members)
    representative, fade_of = _different_fades(take.segments)
    body_of = np.repeat(take.bodies, np.diff(take.rows))[representative]
    bodies, kept = [], 0
    for body, indices in enumerate(members):
        clip_frames, contacts = _clip_frames(take, body, indices)
        mine = np.flatnonzero(body_of == body)
        frames, count = _with_fades(clip_frames, table, representative, mine, fade_of, fade_bytes)
        kept += count
        bodies.append(BodyPool(_single(frames), read_only(contacts)))
    return Pool(read_only(table), tuple(bodies), _layer_table(take), len(representative), kept)


def _single(array: Single) -> Single:
    """Return a contiguous read-only view."""
    view = np.ascontiguousarray(array, dtype=np.float32).view()
    view.setflags(write=False)
    return view


def _segment_table(take: TakeData, members: list[list[int]]) -> FloatArray:
    columns = take.segments
    rate, count = np.array([[clip.fps, len(clip)] for clip in take.clips]).T
    first_row = np.zeros(len(take.clips))
    for indices in members:
        first_row[indices] = np.cumsum(count[indices]) - count[indices]
    first = columns.offset * rate[columns.clip]
    nearest = np.round(first)
    first = np.where(np.abs(first - nearest) < 1e-7, nearest, first)
    half = 0.5 * columns.pose[:, 2]
    return np.column_stack([
        columns.start, first, columns.speed * rate[columns.clip], columns.pose[:, :2], np.cos(half), np.sin(half),
        columns.height, columns.blend, first_row[columns.clip], count[columns.clip], np.full(len(columns), -1.0),
    ])  # fmt: skip


def _different_fades(table: Segments) -> tuple[IntArray, IntArray]:
    """Return a segment for each different fade (D,), and which fade each segment has, -1 for none (S,)."""
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


def _clip_frames(take: TakeData, body: int, indices: list[int]) -> tuple[Single, BoolArray]:
    """Return the frames (P, 4, J + 1) and contacts (P, points) of all clips of one body."""
    skeleton = take.skeletons[body]
    frame_count = sum(len(take.clips[i]) for i in indices)
    frames = np.zeros((frame_count, 4, len(skeleton) + 1), dtype=np.float32)
    contacts = np.zeros((frame_count, len(skeleton.contact_points)), dtype=bool)
    row = 0
    for clip in (take.clips[i] for i in indices):
        rows = slice(row, row + len(clip))
        frames[rows, :, :-1] = clip.rotations.transpose(0, 2, 1)
        frames[rows, :3, -1] = clip.root_positions
        if clip.contacts is not None:
            contacts[rows] = clip.contacts
        row += len(clip)
    return frames, contacts


def _with_fades(
    frames: Single, table: FloatArray, representative: IntArray, mine: IntArray, fade_of: IntArray, fade_bytes: int
) -> tuple[Single, int]:
    """Append the frames of fades; return the frames and the number of fades; their rows are written into `table`."""
    if not len(mine):
        return frames, 0
    segment = representative[mine]
    start, rate, length = (table[segment, k] for k in (_kernels.FIRST_FRAME, _kernels.RATE, _kernels.FADE))
    first = np.floor(start).astype(np.int64)
    counts = np.floor(start + rate * length).astype(np.int64) + 2 - first
    uses = np.bincount(fade_of[fade_of >= 0], minlength=len(representative))[mine]
    order = np.argsort(-uses, kind="stable")
    # in floats: the sum of long fades does not fit into whole numbers
    chosen = order[np.cumsum(counts[order], dtype=np.float64) * frames[:1].nbytes <= fade_bytes]
    row = np.cumsum(counts[chosen]) - counts[chosen]
    filled = _blended(_single(frames), table, segment[chosen], first[chosen], counts[chosen])
    row_of_fade = np.full(len(representative) + 1, -1.0)  # the last one is for segments without a fade
    row_of_fade[mine[chosen]] = len(frames) + row - first[chosen]
    rows = row_of_fade[fade_of]
    table[:, _kernels.FADE_ROW] = np.where(rows >= 0.0, rows, table[:, _kernels.FADE_ROW])
    return np.concatenate([frames, filled]), len(chosen)


def _blended(frames: Single, table: FloatArray, segment: IntArray, first: IntArray, counts: IntArray) -> Single:
    """Compute the frames of fades, with the kernel that blends them on demand."""
    which = np.repeat(segment, counts)
    total, joints = len(which), frames.shape[2] - 1
    frame = np.arange(total) - np.repeat(np.cumsum(counts) - counts - first, counts)
    begins, shown, rate = (table[which, k] for k in (_kernels.START, _kernels.FIRST_FRAME, _kernels.RATE))
    times = begins + (frame - shown) / rate
    filled = np.zeros((total, 4, joints + 1), dtype=np.float32)
    nothing, read_only_table = np.empty(0, dtype=np.int64), read_only(table)
    for low in range(0, total, _BATCH):
        rows = slice(low, min(low + _BATCH, total))
        local = np.empty((rows.stop - low, joints, 4))
        _kernels.evaluate(
            read_only(which[rows]), read_only(which[rows]), read_only(times[rows]), read_only_table, frames,
            read_only(nothing), read_only(np.empty((0, 4))), _single(np.empty((0, 4, 1), dtype=np.float32)), 1.0,
            read_only(nothing), read_only(np.empty((0, 3))),
            np.empty((len(local), 3)), local, np.empty((0, joints, 3)), np.empty((0, joints, 4)),
        )  # fmt: skip
        filled[rows, :, :joints] = local.transpose(0, 2, 1)
    return filled


def _layer_table(take: TakeData) -> LayerTable:
    order = sorted(range(len(take.layers)), key=lambda i: take.layers[i].character)
    owners, channels, samples, used = [], [], [np.empty((0, 4), dtype=np.float32)], 0
    for layer in (take.layers[i] for i in order):
        parts = [(float(joint), layer.turns[:, k]) for k, joint in enumerate(layer.joints)]
        if layer.root_turns is not None:
            parts.append((_kernels.ROOT_TURN, layer.root_turns))
        if layer.root_moves is not None:
            parts.append((_kernels.ROOT_MOVE, np.pad(layer.root_moves, ((0, 0), (0, 1)))))
        for what, values in parts:
            owners.append(layer.character)
            channels.append((layer.start, float(len(layer)), what, float(used)))
            samples.append(values)
            used += len(layer)
    rows = np.searchsorted(owners, np.arange(len(take) + 1)) if owners else np.empty(0)
    return LayerTable(
        read_only(rows.astype(np.int64)),
        read_only(np.array(channels).reshape(-1, 4)),
        _single(np.concatenate(samples)[:, :, None]),
    )


class PooledTake(TakeData):
    """The data of a take, with its frames laid out for the kernels at first use."""

    @cached_property
    def pool(self) -> Pool:
        """Frames of all clips and all fades, made at first use."""
        return build_pool(self)
