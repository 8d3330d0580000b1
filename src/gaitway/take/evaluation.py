"""Evaluation of a take: poses of any characters at any times."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, read_only
from gaitway.core.errors import TakeError
from gaitway.motion.blending import ease
from gaitway.motion.clip import Clip
from gaitway.motion.kinematics import forward_kinematics
from gaitway.motion.skeleton import Skeleton
from gaitway.take import _kernels
from gaitway.take.data import TIME_SLACK, checked_character, checked_characters, checked_rate
from gaitway.take.pool import PooledTake

MOST_JOINTS = 5_000_000
"""Greatest number of joints in all frames of one character's clip: hours at the rate of a film."""
_AT_FRAME = 0.01
"""A time that is nearer to a frame than this is that of the frame [frames]."""


@dataclass(frozen=True, eq=False)
class Poses:
    """Poses of characters that share a skeleton, all at one time."""

    skeleton: Skeleton
    characters: IntArray
    """Indices of the characters; (N,)."""
    root_positions: FloatArray
    """World positions of the roots [m]; (N, 3)."""
    rotations: FloatArray
    """Local unit quaternions wxyz; (N, J, 4)."""
    contacts: BoolArray | None = None
    """Which of `skeleton.contact_points` rest; (N, P). None unless asked for, or where a clip does not know them."""

    def __len__(self) -> int:
        return len(self.characters)

    def joint_transforms(self) -> tuple[FloatArray, FloatArray]:
        """Return the world positions [m] (N, J, 3) and world rotations (N, J, 4) of all joints."""
        return forward_kinematics(self.skeleton, self.root_positions, self.rotations)


@dataclass(frozen=True, eq=False)
class Joints:
    """World positions and rotations of all joints of characters that share a skeleton, all at one time."""

    skeleton: Skeleton
    characters: IntArray
    """Indices of the characters; (N,)."""
    positions: FloatArray
    """World positions [m]; (N, J, 3)."""
    rotations: FloatArray
    """World rotations, unit quaternions wxyz; (N, J, 4)."""

    def __len__(self) -> int:
        return len(self.characters)


def present(take: PooledTake, time: float) -> IntArray:
    """Return the indices of the characters that are present at a time [s]."""
    t = checked_time(time)
    return np.flatnonzero((take.starts <= t + TIME_SLACK) & (t <= take.ends + TIME_SLACK))


def poses(
    take: PooledTake, time: float, characters: npt.ArrayLike | None, *, contacts: bool = False, threads: int = 1
) -> tuple[Poses, ...]:
    """See `Take.poses`."""
    result = []
    for body, group in _grouped(take, time, characters):
        times = np.full(len(group), float(time))
        segments, clamped = locate(take, group, times)
        root, local, _, _ = _evaluated(take, body, group, segments, clamped, threads=threads)
        known = contacts and bool(take.has_contacts[group].all())
        resting = contact_states(take, body, segments, clamped) if known else None
        result.append(Poses(take.skeletons[body], group, root, local, resting))
    return tuple(result)


def joints(take: PooledTake, time: float, characters: npt.ArrayLike | None, *, threads: int = 1) -> tuple[Joints, ...]:
    """See `Take.joints`."""
    result = []
    for body, group in _grouped(take, time, characters):
        segments, clamped = locate(take, group, np.full(len(group), float(time)))
        _, _, positions, world = _evaluated(take, body, group, segments, clamped, threads=threads, fused=True)
        result.append(Joints(take.skeletons[body], group, positions, world))
    return tuple(result)


def clip(take: PooledTake, character: int, fps: float | None = None) -> Clip:
    """See `Take.clip`."""
    c = checked_character(take, character)
    body, rate = int(take.bodies[c]), take.fps if fps is None else checked_rate(fps)
    frames = (float(take.ends[c]) - take.start(c)) * rate + 1.0
    if frames * len(take.skeletons[body]) > MOST_JOINTS:
        raise TakeError(
            f"character '{take.names[c]}' at {rate:g} Hz is {frames:.0f} frames of {len(take.skeletons[body])} joints, "
            f"more than {MOST_JOINTS:,} joints; ask for a lower rate"
        )
    times = frame_times(take.start(c), float(take.ends[c]), rate)
    group = np.full(len(times), c, dtype=np.int64)
    segments, clamped = locate(take, group, times)
    root, local, _, _ = _evaluated(take, body, group, segments, clamped)
    resting = contact_states(take, body, segments, clamped) if take.has_contacts[c] else None
    return Clip(take.skeletons[body], root, local, rate, take.names[c], resting)


def sampled(take: PooledTake, body: int, characters: IntArray, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the root positions (N, 3) and local rotations (N, J, 4) of characters with one body at N times."""
    segments, clamped = locate(take, characters, times)
    root, local, _, _ = _evaluated(take, body, characters, segments, clamped)
    return root, local


def planar_poses(take: PooledTake, characters: IntArray, times: FloatArray) -> FloatArray:
    """Return planar poses (x, y, heading) of characters (N,) at times (N,).

    They are held before the start and after the end of a character.
    """
    out = np.empty((len(characters), 3))
    segments, clamped = locate(take, characters, times)
    for body in np.unique(take.bodies[characters]):
        chosen = np.flatnonzero(take.bodies[characters] == body)
        root, local, _, _ = _evaluated(
            take, int(body), characters[chosen], segments[chosen], clamped[chosen], joint_count=1
        )
        ahead = rotations.rotate(local[:, 0], take.skeletons[body].forward)
        out[chosen] = np.column_stack([root[:, :2], np.arctan2(ahead[:, 1], ahead[:, 0])])
    return out


def planar(take: PooledTake, times: npt.ArrayLike, characters: npt.ArrayLike | None = None) -> FloatArray:
    """See `Take.planar`."""
    who = np.arange(len(take)) if characters is None else checked_characters(take, characters)
    when = np.atleast_1d(np.asarray(times, dtype=np.float64))
    if when.ndim != 1 or not np.isfinite(when).all():
        raise TakeError(f"times must be finite numbers in one row, got shape {when.shape}")
    grid = planar_poses(take, np.repeat(who, len(when)), np.tile(when, len(who))).reshape(len(who), len(when), 3)
    there = (take.starts[who, None] <= when + TIME_SLACK) & (when <= take.ends[who, None] + TIME_SLACK)
    return np.where(there[..., None], grid, np.nan)


def behavior_at(take: PooledTake, time: float, characters: npt.ArrayLike | None = None) -> tuple[str | None, ...]:
    """See `Take.behavior_at`."""
    t = checked_time(time)
    who = np.arange(len(take)) if characters is None else checked_characters(take, characters)
    segments, _ = locate(take, who, np.full(len(who), t))
    there = np.isin(who, present(take, t))
    names = (*take.behaviors, None)  # index -1 is none
    indices = np.where(there, take.segments.behavior[segments], -1)
    return tuple(names[i] for i in indices)


def frame_times(start: float, end: float, fps: float) -> FloatArray:
    """Return the times [s] of the frames from `start` up to `end`; `end` is included if it is a frame."""
    return start + np.arange(int(np.floor((end - start) * fps + 1e-6)) + 1) / fps


def locate(take: PooledTake, characters: IntArray, times: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the segments that play (N,), and the times clamped to each character's span (N,)."""
    segments, clamped = np.empty(len(characters), dtype=np.int64), np.empty(len(characters))
    _kernels.locate(
        take.rows, take.segments.start, take.ends, read_only(characters), read_only(times), segments, clamped
    )
    return segments, clamped


def checked_time(time: float) -> float:
    """Return a time [s] after checking that it is finite."""
    if not np.isfinite(time):
        raise TakeError(f"time {time} must be a finite number of seconds")
    return float(time)


def contact_states(take: PooledTake, body: int, segments: IntArray, times: FloatArray) -> BoolArray:
    """Return which contact points rest; in a fade, those of the clip with more weight; (N, P).

    Between two frames a point rests if it rests in both: a foot that lifts in the next frame is already on its way.
    """
    table, pool = take.segments, take.pool
    share = (times - table.start[segments]) / np.where(table.blend[segments] > 0.0, table.blend[segments], 1.0)
    fading_out = (table.blend[segments] > 0.0) & (ease(share + 1e-9) < 0.5)
    shown = segments - fading_out
    columns = [_kernels.START, _kernels.FIRST_FRAME, _kernels.RATE, _kernels.CLIP_ROW, _kernels.FRAME_COUNT]
    begins, first, rate, row, count = pool.table[shown][:, columns].T
    frames, known = first + rate * (times - begins), pool.bodies[body].contacts
    below = np.clip(np.floor(frames + _AT_FRAME), 0.0, count - 1.0)
    above = np.clip(np.ceil(frames - _AT_FRAME), 0.0, count - 1.0)
    return np.asarray(known[(row + below).astype(np.int64)] & known[(row + above).astype(np.int64)])


def _grouped(take: PooledTake, time: float, characters: npt.ArrayLike | None) -> list[tuple[int, IntArray]]:
    """Return the characters by skeleton; each group keeps the order of the request."""
    checked_time(time)
    who = present(take, time) if characters is None else checked_characters(take, characters)
    if len(take.skeletons) == 1:
        return [(0, who)] if len(who) else []
    bodies = take.bodies[who]
    return [(int(body), who[bodies == body]) for body in np.unique(bodies)]


def _evaluated(
    take: PooledTake,
    body: int,
    characters: IntArray,
    segments: IntArray,
    times: FloatArray,
    *,
    joint_count: int | None = None,
    fused: bool = False,
    threads: int = 1,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return root positions, local rotations, joint positions and world rotations.

    If `fused`, the first two are empty; otherwise the last two are.
    """
    skeleton, pool = take.skeletons[body], take.pool
    mine, layers, count = pool.bodies[body], pool.layers, len(characters)
    joints = len(skeleton) if joint_count is None else joint_count
    roots = np.empty((0 if fused else count, 3))
    local = np.empty((0 if fused else count, joints, 4))
    positions, world = (np.empty((count if fused else 0, joints, n)) for n in (3, 4))
    who, what, when = read_only(characters), read_only(segments), read_only(times)

    def part(low: int, high: int) -> None:
        _kernels.evaluate(
            who[low:high], what[low:high], when[low:high],
            pool.table, mine.frames,
            layers.rows, layers.channels, layers.samples, take.fps,
            skeleton.parents, skeleton.offsets,
            roots[low:high], local[low:high], positions[low:high], world[low:high],
        )  # fmt: skip

    if threads <= 1 or count < 2 * threads:
        part(0, count)
    else:
        cuts = np.linspace(0, count, threads + 1).astype(int).tolist()
        with ThreadPoolExecutor(threads) as workers:
            list(workers.map(part, cuts[:-1], cuts[1:]))
    return roots, local, positions, world
