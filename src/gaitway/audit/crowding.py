"""Checks of characters against one another, in every frame, and between frames where they are fast."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.audit import _body_kernels, _pair_kernels
from gaitway.audit.bodies import FINEST, SLACK, Bodies, axes_of
from gaitway.audit.report import Finding
from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.take.model import Take

_GAP = 2.5
"""Largest number of frames between two moments of one incident."""


@dataclass(frozen=True, eq=False)
class Crowd:
    """Capsules of several characters at one time, character after character."""

    time: float
    ids: IntArray
    """Characters, ascending; (N,)."""
    starts: IntArray
    """First capsule of each character, and M at the end; (N + 1,)."""
    segments: FloatArray
    """Axes of the capsules [m]; (M, 2, 3)."""
    radii: FloatArray
    """Radii of the capsules [m]; (M,)."""

    def hulls(self) -> tuple[FloatArray, FloatArray]:
        """Return low and high corners of the characters' bounding boxes [m]; (N, 3) each."""
        low, high = np.empty((len(self.ids), 3)), np.empty((len(self.ids), 3))
        axes, radii = read_only(self.segments), read_only(self.radii)
        _body_kernels.hulls(axes, radii, read_only(self.starts), low, high)
        return low, high


@dataclass(frozen=True)
class Meeting:
    """Two bodies in one another."""

    time: float
    depth: float
    pair: tuple[int, int]
    parts: tuple[str, str]
    place: tuple[float, float, float]


class Meetings:
    """All moments at which bodies lie in one another, and the number of poses that were checked."""

    def __init__(self, take: Take, bodies: Bodies, bar: float) -> None:
        self.take, self.bodies, self.bar = take, bodies, bar
        self.kinds = {id(skeleton): i for i, skeleton in enumerate(take.skeletons)}
        self.found: list[Meeting] = []
        self.nearest: dict[tuple[int, int], Meeting] = {}
        self.frames, self.between = 0, 0

    def look(self, progress: Callable[[int, int], None]) -> None:
        """Check the whole take."""
        starts = [self.take.start(c) for c in range(len(self.take.names)) if self.take.rows[c] < self.take.rows[c + 1]]
        if len(starts) < 2:
            return
        fps = self.take.fps
        first, last = int(np.ceil(min(starts) * fps)), int(np.floor(float(np.max(self.take.ends)) * fps))
        before: Crowd | None = None
        ways = np.empty(0)
        for frame in range(first, last + 1):
            now = self._crowd(frame / fps, None)
            if now is not None:
                self.frames += len(now.ids)
                before = _matched(before, now)
                step = _steps(before, now)
                ways = np.maximum(step, ways) if len(ways) == len(step) else step
                self._compare(before, now, ways, near_pairs(now, ways))
                before, ways = now, step
            progress(frame - first + 1, last - first + 1)

    def _crowd(self, time: float, characters: IntArray | None) -> Crowd | None:
        """Return all characters that are present at a time [s], or some of them."""
        groups = [g for g in self.take.joints(time, characters) if len(g)]
        if not groups:
            return None
        ids = np.concatenate([g.characters for g in groups])
        bodies = [self.bodies[self.kinds[id(g.skeleton)]][0] for g in groups]
        segments = [axes_of(b, g.positions, g.rotations) for b, g in zip(bodies, groups, strict=True)]
        counts = np.concatenate([np.full(len(g), len(b)) for b, g in zip(bodies, groups, strict=True)])
        flat = np.concatenate([s.reshape(-1, 2, 3) for s in segments])
        radii = np.concatenate([np.tile(b.radii, len(g)) for b, g in zip(bodies, groups, strict=True)])
        starts = np.concatenate([[0], np.cumsum(counts)])
        if len(groups) > 1:  # into the order of the characters
            order = np.argsort(ids, kind="stable")
            rows = np.concatenate([np.arange(starts[i], starts[i + 1]) for i in order])
            ids, flat, radii = ids[order], flat[rows], radii[rows]
            starts = np.concatenate([[0], np.cumsum(counts[order])])
        return Crowd(time, ids.astype(np.int64), starts.astype(np.int64), flat, radii)

    def _compare(self, before: Crowd, now: Crowd, ways: FloatArray, pairs: IntArray) -> None:
        if len(pairs) == 0:
            return
        parts, depths = np.empty((len(pairs), 2), np.int64), np.empty(len(pairs))
        flags = np.empty(len(pairs), np.int64)
        _pair_kernels.meet(
            read_only(before.segments), read_only(now.segments), read_only(now.radii), read_only(ways),
            read_only(now.starts), read_only(pairs), self.bar, FINEST, parts, depths, flags,
        )  # fmt: skip
        for p in np.flatnonzero(depths > 0.0).tolist():
            self._note(now, pairs[p], parts[p], float(depths[p]))
        for p in np.flatnonzero(flags).tolist():
            self._halve(_some(before, pairs[p]), _some(now, pairs[p]))

    def _halve(self, before: Crowd, now: Crowd) -> None:
        """Look at the middle between two times at two characters, and from there at both halves if need be."""
        middle = 0.5 * (before.time + now.time)
        crowd = self._crowd(middle, now.ids) if before.time < middle < now.time else None
        if crowd is None or len(crowd.ids) < 2:
            return
        self.between += 2
        ways = np.maximum(_steps(before, crowd), _steps(crowd, now))
        pair = np.array([[0, 1]])
        self._compare(before, crowd, ways, pair)
        self._compare(crowd, now, ways, pair)

    def _note(self, crowd: Crowd, pair: IntArray, parts: IntArray, depth: float) -> None:
        a, b = (int(crowd.ids[i]) for i in pair)
        names = [
            self.bodies[int(self.take.bodies[crowd.ids[i]])][0].names[part - crowd.starts[i]]
            for i, part in zip(pair.tolist(), parts.tolist(), strict=True)
        ]
        x, y, z = crowd.segments[parts].mean(axis=(0, 1)).tolist()
        meeting = Meeting(crowd.time, depth, (a, b), (names[0], names[1]), (x, y, z))
        if depth > self.bar:
            self.found.append(meeting)
        if (a, b) not in self.nearest or depth > self.nearest[(a, b)].depth:
            self.nearest[(a, b)] = meeting

    def findings(self, row: str) -> list[Finding]:
        """Return one finding for each pair and span of time, and the deepest of each pair that stays below the bar."""
        by_pair: dict[tuple[int, int], list[Meeting]] = {}
        for meeting in self.found:
            by_pair.setdefault(meeting.pair, []).append(meeting)
        out = [self._finding(row, m, None) for pair, m in self.nearest.items() if pair not in by_pair]
        for meetings in by_pair.values():
            meetings.sort(key=lambda m: m.time)
            times = np.array([m.time for m in meetings])
            for run in np.split(np.arange(len(times)), np.flatnonzero(np.diff(times) * self.take.fps > _GAP) + 1):
                worst = max((meetings[i] for i in run), key=lambda m: m.depth)
                out.append(self._finding(row, worst, (float(times[run[0]]), float(times[run[-1]]))))
        return out

    def _finding(self, row: str, meeting: Meeting, span: tuple[float, float] | None) -> Finding:
        names = tuple(self.take.names[c] for c in meeting.pair)
        frame = round(meeting.time * self.take.fps)
        part = " in ".join(meeting.parts)
        return Finding(
            row=row,
            value=meeting.depth,
            bar=self.bar,
            time=meeting.time,
            frame=frame,
            characters=names,
            part=part,
            obstacle="",
            place=meeting.place,
            span=span,
        )


def _steps(before: Crowd, now: Crowd) -> FloatArray:
    """Return how far each capsule may have gone [m]; (M,)."""
    out = np.empty(len(now.segments))
    _body_kernels.steps(read_only(before.segments), read_only(now.segments), out)
    return SLACK * out


def _matched(before: Crowd | None, now: Crowd) -> Crowd:
    """Return the earlier crowd in the layout of the later one; a character that was absent is where it is now."""
    if before is not None and np.array_equal(before.ids, now.ids):
        return before
    segments = np.array(now.segments)
    if before is not None:
        _, old, new = np.intersect1d(before.ids, now.ids, assume_unique=True, return_indices=True)
        for a, b in zip(old.tolist(), new.tolist(), strict=True):
            segments[now.starts[b] : now.starts[b + 1]] = before.segments[before.starts[a] : before.starts[a + 1]]
    time = now.time if before is None else before.time
    return Crowd(time, now.ids, now.starts, segments, now.radii)


def _some(crowd: Crowd, rows: IntArray) -> Crowd:
    """Return two characters of a crowd."""
    spans = [slice(int(crowd.starts[i]), int(crowd.starts[i + 1])) for i in rows]
    starts = np.cumsum([0, *(s.stop - s.start for s in spans)])
    return Crowd(
        crowd.time, crowd.ids[rows], starts, np.concatenate([crowd.segments[s] for s in spans]),
        np.concatenate([crowd.radii[s] for s in spans]),
    )  # fmt: skip


def near_pairs(crowd: Crowd, ways: FloatArray) -> IntArray:
    """Return pairs of characters (P, 2) whose bounding boxes, grown by how far they go, touch."""
    if len(crowd.ids) < 2:
        return np.empty((0, 2), np.int64)
    low, high = crowd.hulls()
    margin = np.maximum.reduceat(ways, crowd.starts[:-1])[:, None]
    low, high = low - margin, high + margin
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    wide = 2.0 * float(half[:, :2].max())
    pairs = scipy.spatial.cKDTree(middle[:, :2]).query_pairs(wide, p=np.inf, output_type="ndarray").astype(np.int64)
    a, b = pairs[:, 0], pairs[:, 1]
    touch = (np.abs(middle[a] - middle[b]) <= half[a] + half[b]).all(axis=1)
    pairs = pairs[touch]
    return np.asarray(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))])
