"""Bodies of a library for many live characters: the discs that cover them, and the frames that they play."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.library import _disc_kernels
from gaitway.live.playing._crowd_kernels import GROUP, BodyArrays
from gaitway.motion.anatomy import upper_joints
from gaitway.motion.blending import ease
from gaitway.motion.clip import Clip
from gaitway.space.prepared import PreparedLibrary
from gaitway.take import _kernels
from gaitway.take.evaluation import Joints, Poses
from gaitway.world.world import World

Single = npt.NDArray[np.float32]

JOIN = 0.25
"""Time over which the pose of one clip blends into that of the next, where they were not made to join [s]."""
SAME = float(np.radians(0.2))
"""Largest difference between joints of equal poses [rad]."""
_LEVEL = 0.002
"""Largest difference between root heights of equal poses [m]."""
_NO_SAMPLES = np.empty((0, 4, 1), np.float32)
_NO_SAMPLES.setflags(write=False)


def body_arrays(prepared: PreparedLibrary, radius: float) -> BodyArrays:
    """Return discs of all actions of a library: those of the body, and one about its root.

    The discs of the body cover it within a window of about a tenth of a second, between frames too
    (`library.body_discs`). The disc about the root covers a disc of `radius` wherever the root is in the window. So a
    character that keeps clear of these keeps clear of body and disc at all times, and needs no margin for what moves
    in between.

    Args:
        prepared: the library.
        radius: radius of the disc that each character keeps clear [m].
    """
    table, discs, searcher = prepared.table, prepared.discs, prepared.actions
    windows, parts, still = [], [], []
    for a, name in enumerate(table.clips):
        path = _path(prepared.library.clips[name])
        for w in range(discs.window_starts[a], discs.window_starts[a + 1]):
            first, last = discs.window_frames[w]
            own = discs.timed[discs.timed_starts[w] : discs.timed_starts[w + 1]]
            parts.append(np.vstack([_about(path[first : last + 1], radius), own]))
            windows.append((*(discs.window_times[w] / prepared.speeds[a]), *enclosing(parts[-1])))
        own = discs.static[discs.static_starts[a] : discs.static_starts[a + 1]]
        still.append(np.vstack([_about(path, radius), own]))
    starts, rows = discs.window_starts, np.array(windows)
    groups = [[rows[w : min(w + GROUP, starts[a + 1])] for w in range(starts[a], starts[a + 1], GROUP)]
              for a in range(len(table))]  # fmt: skip
    after = searcher.arrays.behaviors[table.behavior, 0]
    return BodyArrays(
        durations=read_only(table.durations / prepared.speeds),
        around=_real([enclosing(rows[starts[a] : starts[a + 1], 2:]) for a in range(len(table))]),
        window_starts=_whole(starts),
        windows=_real(rows),
        groups=_real([(g[0, 0], g[-1, 1], *enclosing(g[:, 2:])) for some in groups for g in some]),
        group_starts=_whole(np.cumsum([0, *map(len, groups)])),
        disc_starts=_whole(np.cumsum([0, *map(len, parts)])),
        discs=_real(np.concatenate(parts)),
        still_around=_real([enclosing(some) for some in still]),
        still_starts=_whole(np.cumsum([0, *map(len, still)])),
        still=_real(np.concatenate(still)),
        states=_whole(after),
        rests=_whole(searcher.arrays.states[after, 1]),
        special=_whole(table.kind >= 0),
        libraries=_whole(np.zeros(len(table))),
        apart=_real(np.zeros((1, 1))),
    )


def frame_pool(prepared: PreparedLibrary) -> tuple[Single, IntArray, FloatArray]:
    """Return all frames that live characters play.

    Where pelvis and legs of a clip do not begin as those of an earlier clip end, it is in the pool once more, with its
    first frames blended from there (`JOIN`). So blends for all such pairs of clips are made beforehand. Where only the
    upper body differs, it is led on while it is played (`joins`).

    Returns:
        Frames as `take.pool.BodyPool` has them (P, 4, J + 1), the first row of each action's clip after each action,
        the last for none before (A + 1, A), and the pose of each clip's first frame with its number of frames and its
        rate (A, 5).
    """
    table, library = prepared.table, prepared.library
    clips = [library.clips[name] for name in table.clips]
    count, frames = len(clips), [_laid_out(clip) for clip in clips]
    starts = np.cumsum([0, *map(len, clips)])
    rows = np.tile(starts[:-1], (count + 1, 1))
    used = int(starts[-1])
    firsts, lasts = (_ahead(clips, frame) for frame in (0, -1))
    legs = ~upper_joints(library.skeleton)
    for before in range(count):
        behavior = table.behavior[before]
        followers = table.followers[table.follower_starts[behavior] : table.follower_starts[behavior + 1]]
        apart = rotations.angle_between(lasts[0][before], firsts[0][followers])[:, legs].max(axis=1, initial=0.0)
        differ = (apart > SAME) | (np.abs(lasts[1][before] - firsts[1][followers]) > _LEVEL)
        for after in followers[differ].tolist():
            joined = led_on(clips[before], clips[after])
            if joined is not clips[after]:
                frames.append(_laid_out(joined))
                rows[before, after] = used
                used += len(joined)
    first = [(*clip.planar_path()[0], float(len(clip)), clip.fps) for clip in clips]
    pool = np.concatenate(frames)
    pool.setflags(write=False)
    return pool, _whole(rows), _real(first)


def led_on(before: Clip, after: Clip, window: float = JOIN) -> Clip:
    """Return a clip that begins in the pose in which another ends and blends into its own within a window of time [s].

    Headings and positions on the floor stay as they are. It is the clip itself if it begins in that pose anyway.
    """
    last, first = before.rotations[-1].copy(), after.rotations[0].copy()
    heading = float(after.headings()[0])
    last[0] = rotations.multiply(rotations.from_yaw(heading - float(before.headings()[-1])), last[0])
    rise = float(before.root_positions[-1, 2] - after.root_positions[0, 2])
    if rotations.angle_between(last, first).max() <= SAME and abs(rise) <= _LEVEL:
        return after
    apart = rotations.to_rotation_vector(rotations.multiply(last, rotations.conjugate(first)))
    count = min(max(round(window * after.fps), 1), len(after))
    share = 1.0 - ease(np.arange(count) / count)
    turns, roots = np.array(after.rotations), np.array(after.root_positions)
    offset = rotations.from_rotation_vector(share[:, None, None] * apart)
    turns[:count] = rotations.multiply(offset, turns[:count])
    roots[:count, 2] += share * rise
    return Clip(after.skeleton, roots, rotations.normalize(turns), after.fps, after.name, after.contacts)


def _ahead(clips: Sequence[Clip], frame: int) -> tuple[FloatArray, FloatArray]:
    """Return the poses of clips in a frame, turned to face ahead (N, J, 4), and heights of the root [m] (N,)."""
    turns = np.array([clip.rotations[frame] for clip in clips])
    headings = np.array([clip.headings()[frame] for clip in clips])
    turns[:, 0] = rotations.multiply(rotations.from_yaw(-headings), turns[:, 0])
    return turns, np.array([clip.root_positions[frame, 2] for clip in clips])


def rest_actions(prepared: PreparedLibrary) -> IntArray:
    """Return the actions that stand still, one for each state that has one; the first is that of the start."""
    found = prepared.actions.arrays.states[:-1, 1]
    return _whole(found[found >= 0])


def _path(clip: Clip) -> FloatArray:
    """Return the positions of the root, seen from the first frame [m]; (F, 2)."""
    path = clip.planar_path()
    c, s = np.cos(path[0, 2]), np.sin(path[0, 2])
    away = path[:, :2] - path[0, :2]
    return np.column_stack([c * away[:, 0] + s * away[:, 1], c * away[:, 1] - s * away[:, 0]])


def root_disc(clip: Clip, frames: IntArray, radius: float) -> FloatArray:
    """Return a disc that covers discs of a radius about the root from one frame to another [m]; (1, 3)."""
    return _about(_path(clip)[int(frames[0]) : int(frames[1]) + 1], radius)


def _about(points: FloatArray, radius: float) -> FloatArray:
    """Return a disc that covers discs of a radius about all points of a path [m]; (1, 3)."""
    return enclosing(np.column_stack([points, np.full(len(points), radius)]))[None]


def enclosing(discs: FloatArray) -> FloatArray:
    """Return a disc around discs (N, 3), nearly the smallest [m]; (3,)."""
    out = np.empty(3)
    _disc_kernels.enclose(read_only(discs), out)
    return out


def _laid_out(clip: Clip) -> Single:
    frames = np.zeros((len(clip), 4, len(clip.skeleton) + 1), dtype=np.float32)
    frames[:, :, :-1] = clip.rotations.transpose(0, 2, 1)
    frames[:, :3, -1] = clip.root_positions
    return frames


def _whole(values: npt.ArrayLike) -> IntArray:
    return read_only(np.array(values, dtype=np.int64))


def _real(values: npt.ArrayLike) -> FloatArray:
    return read_only(np.array(values, dtype=np.float64))


Share = Callable[[int, Callable[[int, int], object]], None]
"""Does the work of so many rows in parts, by threads that are free: calls `work(low, high)` for each part."""


def alone(count: int, work: Callable[[int, int], object]) -> None:
    """Do the work of so many rows at once."""
    work(0, count)


class LiveFrames:
    """The frames that characters of a library play, and poses out of them.

    Attributes:
        skeleton: the skeleton of the library.
        rows: first row of each action's clip after each action; see `frame_pool`.
        clips: first pose, number of frames and rate of each action's clip.
    """

    def __init__(self, prepared: PreparedLibrary) -> None:
        self.skeleton = prepared.library.skeleton
        self.pool, self.rows, self.clips = frame_pool(prepared)
        self.own = len(self.pool)
        """First row of the pool for clips that are not the library's."""

    def extend(self, frames: int) -> None:
        """Make room for some frames that are not the library's; those that are there already stay."""
        pool = np.zeros((self.own + frames, *self.pool.shape[1:]), np.float32)
        pool[: len(self.pool)] = self.pool[: len(pool)]
        pool.setflags(write=False)
        self.pool = pool

    def write(self, row: int, clip: Clip) -> None:
        """Write a clip that is not the library's into the pool, from a row on; nobody may play what was there."""
        if row < self.own or row + len(clip) > len(self.pool):
            raise ValueError(f"no room for {len(clip)} frames from row {row} on")
        self.pool.setflags(write=True)
        self.pool[row : row + len(clip)] = _laid_out(clip)
        self.pool.setflags(write=False)

    @property
    def nbytes(self) -> int:
        """Memory of the frames [bytes]."""
        return int(self.pool.nbytes)

    def roots(self, who: IntArray, table: FloatArray, time: float, world: World) -> tuple[FloatArray, FloatArray]:
        """Return root positions [m] (N, 3) and root rotations (N, 4); see `poses`."""
        roots, local = np.empty((len(who), 3)), np.empty((len(who), 1, 4))
        self._evaluate(who, table, time, (roots, local, np.empty((0, 1, 3)), np.empty((0, 1, 4))))
        _raise(roots, world)
        return roots, local[:, 0]

    def poses(
        self,
        who: IntArray,
        table: FloatArray,
        time: float,
        world: World,
        out: tuple[FloatArray, FloatArray] | None = None,
        layers: tuple[IntArray, FloatArray, Single] | None = None,
        share: Share = alone,
    ) -> Poses:
        """Return root positions and local joint rotations.

        Args:
            who: rows of the table; (N,).
            table: the actions that are played, in the columns of `take._kernels`; (C, 12).
            time: time [s].
            world: world whose ground raises the roots; feet do not follow its slope.
            out: memory for root positions (N, 3) and rotations (N, J, 4); None for new memory.
            layers: turns of joints at that time, see `gaze.LiveLayers`; None for none.
            share: divides the work among threads.
        """
        count, joints = len(who), len(self.skeleton)
        roots, local = out or (np.empty((count, 3)), np.empty((count, joints, 4)))
        nothing = np.empty((0, joints, 3)), np.empty((0, joints, 4))
        self._evaluate(who, table, time, (roots, local, *nothing), layers, share)
        _raise(roots, world)
        return Poses(self.skeleton, who, roots, local)

    def joints(
        self,
        who: IntArray,
        table: FloatArray,
        time: float,
        world: World,
        out: tuple[FloatArray, FloatArray] | None = None,
        layers: tuple[IntArray, FloatArray, Single] | None = None,
        share: Share = alone,
    ) -> Joints:
        """Return world positions and rotations of all joints; see `poses`.

        Args:
            who: rows of the table; (N,).
            table: the actions that are played, as in `poses`; (C, 12).
            time: time [s].
            world: world whose ground raises the roots.
            out: memory for positions (N, J, 3) and rotations (N, J, 4); None for new memory.
            layers: turns of joints at that time, as in `poses`.
            share: divides the work among threads.
        """
        count, joints = len(who), len(self.skeleton)
        positions, turns = out or (np.empty((count, joints, 3)), np.empty((count, joints, 4)))
        nothing = np.empty((0, 3)), np.empty((0, joints, 4))
        self._evaluate(who, table, time, (*nothing, positions, turns), layers, share)
        if world.terrain is not None:
            positions[..., 2] += world.ground(positions[:, 0, :2])[:, None]
        return Joints(self.skeleton, who, positions, turns)

    def _evaluate(
        self, who: IntArray, table: FloatArray, time: float, out: tuple[FloatArray, FloatArray, FloatArray, FloatArray],
        layers: tuple[IntArray, FloatArray, Single] | None = None, share: Share = alone,
    ) -> None:  # fmt: skip
        """Write poses and joints of characters, see `take._kernels.evaluate`; what has no rows is not wanted."""
        skeleton = self.skeleton
        changed, channels, samples = layers or (
            read_only(np.empty(0, np.int64)),
            read_only(np.empty((0, 4))),
            _NO_SAMPLES,
        )
        who, times, table = read_only(who), read_only(np.full(len(who), float(time))), read_only(table)

        def part(low: int, high: int) -> None:
            _kernels.evaluate(
                who[low:high], who[low:high], times[low:high], table, self.pool, changed, channels, samples, 1.0,
                skeleton.parents, skeleton.offsets, *(some[low:high] for some in out),
            )  # fmt: skip

        share(len(who), part)


def _raise(roots: FloatArray, world: World) -> None:
    """Add the height of the ground to root positions (N, 3)."""
    if world.terrain is not None:
        roots[:, 2] += world.ground(roots[:, :2])


def same_clips(some: PreparedLibrary, other: PreparedLibrary) -> bool:
    """Return whether two prepared libraries play the same frames: they differ in the costs of actions alone."""
    return some.library is other.library and some.table.clips == other.table.clips


def headings_of(turns: FloatArray, forward: FloatArray) -> FloatArray:
    """Return the directions [rad] that roots face with some rotations (N, 4); (N,)."""
    ahead = rotations.rotate(turns, forward)
    out: FloatArray = np.arctan2(ahead[:, 1], ahead[:, 0])
    return out
