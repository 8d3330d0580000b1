"""Discs that cover the floor area of moving bodies: large ones inside, small ones along the rim.

For each action of a table, *static* discs cover all that the clip's body sweeps, and *timed* discs what it sweeps
within each window of about a tenth of a second. Nothing of the body is outside the discs, between frames neither, and
no disc leaves the swept body by more than the margin and one and a half cells.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from gaitway.core import planar
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, owned, read_only
from gaitway.core.cache import cached
from gaitway.core.errors import LibraryError
from gaitway.library import _disc_kernels
from gaitway.library.actions import ActionTable
from gaitway.library.behavior import Library
from gaitway.motion.body import CapsuleBody, armless, capsule_body, capsules
from gaitway.motion.clip import Clip
from gaitway.motion.editing import resample

WINDOW = 3
"""Frames of a window at 30 Hz; at other rates as many as come nearest to the same time."""
CELL = 0.0125
"""Side of the cells that bodies are drawn on [m]."""
_STEP = 1.0
"""Greatest distance between drawn positions of a body [cells]; it is drawn thicker by half of it."""
_LARGEST = 5000.0
"""Largest floor area of a clip, because of the memory that drawing takes [m^2]."""
_RATE = 120.0
"""Rate at which joints move straight from sample to sample, within less than a millimetre [Hz]."""
_STRIDE = 2
"""Distance between candidate disc centres [cells]."""
_HALF = float(np.sqrt(0.5))
"""Half the diagonal of a cell [cells]."""
_SHRINK = float(np.sqrt(2.0)) - 1.0
"""Reduction of a disc's radius, so that it leaves the body by one cell at most [cells]."""


@dataclass(frozen=True, eq=False)
class BodyDiscs:
    """Discs (x, y, radius) [m] of A actions, seen from the root's planar pose in each action's first frame.

    Action `a` has the static discs `static[static_starts[a] : static_starts[a + 1]]` and the windows
    `window_starts[a]` up to `window_starts[a + 1]`; window `w` has the discs `timed[timed_starts[w] :
    timed_starts[w + 1]]`. All arrays are read-only; floats are float64 and whole numbers int64.
    """

    static_starts: IntArray
    """First static disc of each action, and N at the end; (A + 1,)."""
    static: FloatArray
    """Cover of the whole clip's sweep, the largest disc of each action first; (N, 3)."""
    bounds: FloatArray
    """Greatest distance of an action's discs from the root in the first frame [m]; (A,)."""
    around: FloatArray
    """One disc around all discs of an action, nearly the smallest; (A, 3)."""
    window_starts: IntArray
    """First window of each action, and W at the end; (A + 1,)."""
    window_frames: IntArray
    """First and last frame of each window at the clip's own rate; neighbours share a frame; (W, 2)."""
    window_times: FloatArray
    """The same in seconds from the action's first frame; (W, 2)."""
    window_poses: FloatArray
    """The root (x, y, heading) in the middle of each window's time, headings not wrapped [m, rad]; (W, 3)."""
    window_bounds: FloatArray
    """Greatest distance of a window's discs from the root of `window_poses` [m]; (W,)."""
    window_around: FloatArray
    """One disc around all discs of a window, nearly the smallest; (W, 3)."""
    timed_starts: IntArray
    """First timed disc of each window, and M at the end; (W + 1,)."""
    timed: FloatArray
    """Cover of each window's sweep, the largest disc first; (M, 3)."""
    margin: float
    """Farthest distance by which static discs leave the body [m], plus one cell."""
    timed_margin: float
    """Farthest distance by which timed discs leave the body [m], plus one cell."""
    arms: bool = True
    """Whether arms are covered too."""

    def __len__(self) -> int:
        return len(self.bounds)


@dataclass(frozen=True, eq=False)
class ClipDiscs:
    """Discs of one clip."""

    static: FloatArray
    frames: IntArray
    times: FloatArray
    poses: FloatArray
    timed: list[FloatArray]


def body_discs(
    library: Library, table: ActionTable, margin: float = 0.05, timed_margin: float = 0.08, *, arms: bool = True
) -> BodyDiscs:
    """Cover the bodies of all actions of a table with discs. What took long is kept on disk (`gaitway.core.cache`).

    Args:
        library: library with the clips of the table.
        table: actions of the library.
        margin: greatest distance by which a static disc may extend beyond the body [m]; a larger margin makes fewer
            discs.
        timed_margin: the same for timed discs [m]. Moving bodies need more room, and there are many windows.
        arms: whether arms count; without them a body is as wide as its shoulders.

    Raises:
        LibraryError: if a margin is less than three cells, so that no cover is sure to exist, or not finite, or a clip
            goes over very much floor.
    """
    for length in (margin, timed_margin):
        if not (np.isfinite(length) and length >= 3.0 * CELL):
            raise LibraryError(f"margin {length} of a body's discs; write a length of {3.0 * CELL:.4g} m or more")
    discs: BodyDiscs = cached(
        "body_discs",
        (__name__,),
        (library.skeleton, [library.clips[name] for name in table.clips], float(margin), float(timed_margin), arms),
        lambda: _cover(library, table, margin, timed_margin, arms),
        vars,
        lambda packed: BodyDiscs(**packed),
    )
    return discs


def _cover(library: Library, table: ActionTable, margin: float, timed_margin: float, arms: bool) -> BodyDiscs:
    body = capsule_body(library.skeleton)
    body = body if arms else armless(body)
    names = list(dict.fromkeys(table.clips))
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:  # the kernels let other threads work
        made = pool.map(lambda name: cover_clip(library.clips[name], body, margin, timed_margin), names)
        by_name = dict(zip(names, made, strict=True))
    covers = [by_name[name] for name in table.clips]
    timed = [discs for cover in covers for discs in cover.timed]
    poses = np.concatenate([cover.poses for cover in covers])
    return BodyDiscs(
        static_starts=_starts([len(cover.static) for cover in covers]),
        static=_all([cover.static for cover in covers], 3),
        bounds=_bounds([cover.static for cover in covers], np.zeros((len(covers), 2))),
        around=_around([cover.static for cover in covers]),
        window_starts=_starts([len(cover.frames) for cover in covers]),
        window_frames=owned(np.concatenate([c.frames for c in covers]), "window_frames", (None, 2), np.int64),
        window_times=_all([cover.times for cover in covers], 2),
        window_poses=_all([poses], 3),
        window_bounds=_bounds(timed, poses[:, :2]),
        window_around=_around(timed),
        timed_starts=_starts([len(discs) for discs in timed]),
        timed=_all(timed, 3),
        margin=float(margin),
        timed_margin=float(timed_margin),
        arms=arms,
    )


def cover_clip(clip: Clip, body: CapsuleBody, margin: float, timed_margin: float) -> ClipDiscs:
    """Cover one clip by static and timed discs, in the frame of its first frame."""
    fine = resample(clip, clip.fps * max(int(np.ceil(_RATE / clip.fps - 1e-9)), 1))
    path = fine.planar_path()
    back = planar.inverse(path[0])
    roots = np.column_stack([planar.transform_points(back, path[:, :2]), path[:, 2] - path[0, 2]])
    segments = planar.transform_points(back, capsules(fine, body)[..., :2]) / CELL
    sweep = _Sweep(segments, body.radii / CELL)
    width, depth = CELL * (sweep.high.max(axis=0) - sweep.low.min(axis=0))
    if width * depth > _LARGEST:
        raise LibraryError(
            f"clip '{clip.name}' sweeps {width:.0f} m by {depth:.0f} m of floor; cut it into shorter ones (and are its "
            "lengths in metres?)"
        )
    samples, frames = round(fine.fps / clip.fps), windows(len(clip), clip.fps)
    drawings = [sweep.draw(first, last, timed_margin / CELL) for first, last in frames * samples]
    timed = [drawing.discs() for drawing in drawings]
    static = sweep.draw(0, len(segments) - 1, margin / CELL, drawings).discs()
    middles = 0.5 * samples * frames.sum(axis=1)
    poses = np.column_stack([np.interp(middles, np.arange(len(roots)), roots[:, k]) for k in range(3)])
    return ClipDiscs(static, frames, frames / clip.fps, poses, timed)


def windows(frames: int, fps: float) -> IntArray:
    """Return the first and last frame of each window of a clip with this number of frames; (W, 2)."""
    length = max(round(WINDOW * fps / 30.0), 1)
    firsts = np.arange(0, max(frames - 1, 1), length)
    return np.column_stack([firsts, np.minimum(firsts + length, frames - 1)])


class _Sweep:
    """Stadiums that move through samples, all in cells; (P, C, 2, 2) and (C,)."""

    def __init__(self, segments: FloatArray, radii: FloatArray) -> None:
        self.segments, self.radii = segments, read_only(radii)
        self.low = (segments.min(axis=2) - radii[:, None]).min(axis=1)
        self.high = (segments.max(axis=2) + radii[:, None]).max(axis=1)

    def draw(self, first: int, last: int, margin: float, parts: Sequence[_Drawing] = ()) -> _Drawing:
        """Draw the area that is swept from one sample to another; parts that are drawn already are reused."""
        part, spare = slice(first, last + 1), margin + _STEP + 3.0
        column, row = np.floor(self.low[part].min(axis=0) - spare).astype(np.int64).tolist()
        columns, rows = (np.ceil(self.high[part].max(axis=0) + spare).astype(np.int64) - (column, row) + 1).tolist()
        out = _Drawing(row, column, np.zeros((rows, columns), np.bool_), np.zeros((rows, columns), np.bool_))
        local = read_only(self.segments[part] - np.array([column, row], dtype=np.float64))
        _disc_kernels.sweep(local, self.radii, margin, _STEP, out.room)
        for drawn in parts:
            out.add_body(drawn)
        if not parts:
            _disc_kernels.sweep(local, self.radii, _HALF, _STEP, out.body)
        return out


@dataclass(frozen=True, eq=False)
class _Drawing:
    """Masks of cells whose centres lie at whole multiples of their side, from (column, row) on."""

    row: int
    column: int
    body: BoolArray
    """Cells that a body may meet; (rows, columns)."""
    room: BoolArray
    """Cells whose middles are no farther from it than the margin; (rows, columns)."""

    def add_body(self, other: _Drawing) -> None:
        """Add the body of another drawing; it must be empty beyond the edge of this one."""
        rows, columns = np.nonzero(other.body)
        self.body[rows + (other.row - self.row), columns + (other.column - self.column)] = True

    def discs(self) -> FloatArray:
        """Return discs that cover the drawn body, the largest first [m]; (D, 3)."""
        inner = np.empty(self.room.shape)
        _disc_kernels.inner_distances(self.room, inner)
        todo = self.body.copy()
        found = _disc_kernels.cover(inner, todo, _STRIDE, _SHRINK, _HALF)
        if todo.any():
            found = np.concatenate([found, _disc_kernels.cover(inner, todo, 1, _SHRINK, _HALF)])
        found = found[np.argsort(-found[:, 2], kind="stable")]
        return np.column_stack([found[:, 1] + self.column, found[:, 0] + self.row, found[:, 2]]) * CELL


def _starts(counts: list[int]) -> IntArray:
    return owned(np.cumsum([0, *counts]), "starts", (None,), np.int64, LibraryError)


def _all(parts: list[FloatArray], width: int) -> FloatArray:
    return owned(np.concatenate(parts), "discs", (None, width), error=LibraryError)


def _bounds(parts: list[FloatArray], middles: FloatArray) -> FloatArray:
    """Return how far the discs of each part reach from its centre [m]."""
    reach = [(np.hypot(*(d[:, :2] - m).T) + d[:, 2]).max() for d, m in zip(parts, middles, strict=True)]
    return owned(reach, "bounds", (len(parts),), error=LibraryError)


def _around(parts: list[FloatArray]) -> FloatArray:
    out = np.empty((len(parts), 3))
    for discs, row in zip(parts, out, strict=True):
        _disc_kernels.enclose(read_only(discs), row)
    return owned(out, "around", (len(parts), 3), error=LibraryError)
