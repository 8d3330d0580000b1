"""Cutting of takes into pieces: at steps and pauses that are near a hub, and around special motions.

Pieces are half gait cycles, from one foot to the other, because captured runs are often no longer than one or two
strides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from gaitway.capture.cutting.hub_poses import place_on_frame
from gaitway.capture.cutting.hubs import CaptureHub, other_side
from gaitway.capture.cutting.pose_index import PoseIndex, mirrored_takes
from gaitway.capture.takes import CaptureEvent, Manner, MotionPhase, PreparedTake, SpecialMotion
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.graphs.minima import first_least

SHORTEST_S, LONGEST_S = 0.25, 6.0
"""Least and largest duration of a piece [s]."""
SLACK = 1.7
"""Largest distance from a hub, in radii, of the ends of rare pieces: changes of gait, turns, special motions."""
_RUN_UP_S = 1.6
"""Time before and after a special motion in which its piece may begin and end [s]."""
_FARTHEST = 3.2
"""Largest distance from a hub, in radii, of the ends of such a piece; its clip has to pass the same gate."""
_WAITING = 0.5
"""Cost of a longer piece around a special motion, in radii for each second [1/s]."""
_SPEED_SHARE, _SPEED_SLACK = 1.35, 0.15
"""Largest ratio of the speeds of a frame and its hub, and the tolerance added to it, for a leg of 0.85 m [m/s]."""
_ALIKE = 1e-6
"""Difference of two distances, in radii, that is rounding."""
_OTHER_SHARE = 0.3
"""Largest share of a piece that is neither gait nor standing."""


@dataclass(frozen=True, eq=False)
class CutMark:
    """Frame of a take that is led to the pose of a hub."""

    frame: int
    hub: CaptureHub
    pose: FloatArray
    """Planar pose of the hub in the take: x, y [m], heading [rad]; (3,)."""
    fit: float
    """Distance to the hub divided by its radius; up to 1, the frame is similar to the hub."""


@dataclass(frozen=True, eq=False)
class TakePiece:
    """Frames of a take from one mark to the next."""

    take: PreparedTake
    begin: CutMark
    end: CutMark
    special: SpecialMotion | None = None
    """Special motion in the piece, if there is one."""

    @property
    def fit(self) -> float:
        """The larger distance of both marks, in radii."""
        return max(self.begin.fit, self.end.fit)


@dataclass(frozen=True, eq=False)
class HubDistances:
    """Distances of all frames of all takes to all hubs."""

    pose_index: PoseIndex
    hubs: tuple[CaptureHub, ...]
    ratios: FloatArray
    """Distance of each frame to each hub, divided by the hub's radius; (H, F)."""

    @classmethod
    def of(cls, pose_index: PoseIndex, hubs: Sequence[CaptureHub]) -> HubDistances:
        """Compute the distances. A mirrored hub is as far from a frame as the hub is from the mirrored frame."""
        count = int(pose_index.starts[-1])
        rows = [k for k, hub in enumerate(hubs) if hub.centre >= 0]
        ratios = np.full((len(hubs), count), np.inf)
        if rows:
            centres = np.array([hubs[k].centre for k in rows])
            radii = np.array([hubs[k].radius for k in rows])
            ratios[rows] = pose_index.distances(centres, np.arange(count)) / radii[:, None]
        twins = _mirrored_frames(pose_index)
        for k, hub in enumerate(hubs):
            if hub.centre < 0 and hub.kind == "step" and k > 0:  # a mirrored hub follows its original
                ratios[k] = np.where(twins >= 0, ratios[k - 1][np.maximum(twins, 0)], np.inf)
        return cls(pose_index, tuple(hubs), ratios)

    def best(self, take: int, frame: int, kind: str, foot: str, manner: Manner = "") -> tuple[CaptureHub, float] | None:
        """Return the nearest hub of a kind, foot and manner, and its distance in radii; None if there is none."""
        rows = [k for k, h in enumerate(self.hubs) if h.kind == kind and h.foot == foot and h.manner == manner]
        if not rows:
            return None
        column = self.ratios[rows, self.pose_index.frame(take, frame)]
        k = first_least(column, _ALIKE)
        return self.hubs[rows[k]], float(column[k])

    def as_fast(self, hub: CaptureHub, frame: int) -> bool:
        """Return whether the speed in a frame, by its number in the index, is about that of a hub."""
        slack = _SPEED_SLACK * float(np.sqrt(self.pose_index.size))
        low, high = hub.speed / _SPEED_SHARE - slack, hub.speed * _SPEED_SHARE + slack
        return bool(low <= self.pose_index.speeds[frame] <= high)


def _mirrored_frames(pose_index: PoseIndex) -> IntArray:
    """Return for each frame the same moment in the mirrored or original take; -1 if there is none; (F,)."""
    out = np.full(int(pose_index.starts[-1]), -1, dtype=np.int64)
    for t, twin in enumerate(mirrored_takes(pose_index.takes)):
        if twin is not None:
            first, last = pose_index.starts[t : t + 2]
            out[first:last] = np.arange(pose_index.starts[twin], pose_index.starts[twin] + last - first)
    return out


def mirror_images(hub_distances: HubDistances, pieces: Sequence[TakePiece]) -> list[TakePiece | None]:
    """Return each piece as cut from the mirrored take: the same frames, from the other foot; None if there is none."""
    takes = hub_distances.pose_index.takes
    number = {id(take): t for t, take in enumerate(takes)}
    twins, hubs = mirrored_takes(takes), {hub.name: hub for hub in hub_distances.hubs}
    out: list[TakePiece | None] = []
    for piece in pieces:
        twin = twins[number[id(piece.take)]]
        marks = (
            [_in_mirror(mark, takes[twin], hubs) for mark in (piece.begin, piece.end)] if twin is not None else [None]
        )
        begin, end = marks[0], marks[-1]
        fits = twin is not None and begin is not None and end is not None
        out.append(TakePiece(takes[twin], begin, end, piece.special) if fits else None)  # type: ignore[index, arg-type]
    return out


def _in_mirror(mark: CutMark, take: PreparedTake, hubs: dict[str, CaptureHub]) -> CutMark | None:
    hub = hubs.get(other_side(mark.hub.name) if mark.hub.kind == "step" else mark.hub.name)
    return None if hub is None else replace(mark, hub=hub, pose=place_on_frame(hub.pose, take.clip, mark.frame))


def cut_takes(hub_distances: HubDistances) -> list[TakePiece]:
    """Cut all original takes; `mirror_images` gives the pieces of the mirrored takes."""
    out: list[TakePiece] = []
    for t, take in enumerate(hub_distances.pose_index.takes):
        if not take.mirrored:
            out += _take_pieces(hub_distances, t, take)
    return out


def _take_pieces(hub_distances: HubDistances, t: int, take: PreparedTake) -> list[TakePiece]:
    near, loose = (_marks(hub_distances, t, take, limit) for limit in (1.0, SLACK))
    pieces = [TakePiece(take, a, b) for a, b in pairwise(near)]
    known = {(p.begin.frame, p.end.frame) for p in pieces}
    for a, b in pairwise(loose):
        if (a.frame, b.frame) not in known and max(a.fit, b.fit) > 1.0:
            pieces.append(TakePiece(take, a, b))
    plain = [p for p in pieces if _fits_in_time(p) and _crosses(p, take.specials) is None and _is_gait(p)]
    carries = any(hub.manner == "carry" for hub in hub_distances.hubs)  # special motions have free hands
    specials = () if carries else take.specials
    passing = [_around(hub_distances, t, take, special, loose) for special in specials]
    return plain + [p for p in passing if p is not None]


def _marks(hub_distances: HubDistances, t: int, take: PreparedTake, limit: float) -> list[CutMark]:
    """Return the events that are near a hub, in order; of two events close in time, the one nearer to its hub."""
    out: list[CutMark] = []
    for event in sorted(take.events, key=lambda e: e.frame):
        mark = _mark(hub_distances, t, take, event, limit)
        if mark is None:
            continue
        if out and mark.frame - out[-1].frame < SHORTEST_S * take.clip.fps:
            if mark.fit < out[-1].fit:
                out[-1] = mark
        else:
            out.append(mark)
    return out


def _mark(hub_distances: HubDistances, t: int, take: PreparedTake, event: CaptureEvent, limit: float) -> CutMark | None:
    kind, foot = ("stand", "") if event.kind == "pause" else ("step", event.foot)
    manner = take.manner_at(event.frame)
    if event.kind not in ("pause", "step") or manner is None:
        return None
    found = hub_distances.best(t, event.frame, kind, foot, manner)
    if (
        found is None
        or found[1] > limit
        or not hub_distances.as_fast(found[0], hub_distances.pose_index.frame(t, event.frame))
    ):
        return None
    return CutMark(event.frame, found[0], place_on_frame(found[0].pose, take.clip, event.frame), found[1])


def _fits_in_time(piece: TakePiece) -> bool:
    seconds = (piece.end.frame - piece.begin.frame) / piece.take.clip.fps
    return SHORTEST_S <= seconds <= LONGEST_S


def _crosses(piece: TakePiece, specials: Sequence[SpecialMotion]) -> SpecialMotion | None:
    """Return the special motion that overlaps a piece, if there is one."""
    inside = (s for s in specials if s.start < piece.end.frame and s.stop - 1 > piece.begin.frame)
    return next(inside, None)


def _is_gait(piece: TakePiece) -> bool:
    """Return whether a piece consists of steps and standing in the manner of its ends, and not of other motion."""
    first, last = piece.begin.frame, piece.end.frame
    known = {piece.begin.hub.manner, piece.end.hub.manner}
    strange = sum(_overlap(phase, first, last) for phase in piece.take.phases if phase.manner not in known)
    return strange <= _OTHER_SHARE * (last - first)


def _overlap(phase: MotionPhase, first: int, last: int) -> int:
    return max(min(phase.stop, last) - max(phase.start, first), 0)


def _around(
    hub_distances: HubDistances, t: int, take: PreparedTake, special: SpecialMotion, marks: Sequence[CutMark]
) -> TakePiece | None:
    """Return the piece around a special motion; its ends are near hubs and near the motion. None if there is none."""
    last, margin = len(take.clip) - 1, round(0.1 * take.clip.fps)
    reach = round(_RUN_UP_S * take.clip.fps)
    first = min(special.start + margin, special.pass_frame - margin)
    end_from = max(special.stop - 1 - margin, special.pass_frame + margin)
    begin = _nearest(hub_distances, t, take, np.arange(first, max(first - reach, 0) - 1, -1))
    end = _nearest(hub_distances, t, take, np.arange(end_from, min(end_from + reach, last) + 1))
    begin = begin or next((m for m in reversed(marks) if m.frame <= first), None)
    end = end or next((m for m in marks if m.frame >= end_from), None)
    longest = LONGEST_S * take.clip.fps + (special.stop - special.start)
    if begin is None or end is None or end.frame - begin.frame > longest:
        return None
    return TakePiece(take, begin, end, special)


def _nearest(hub_distances: HubDistances, t: int, take: PreparedTake, frames: IntArray) -> CutMark | None:
    """Return the mark that leads best to or from any hub; `frames` are sorted by the time to the special motion."""
    frames = frames[(frames >= 0) & (frames < len(take.clip))]
    if not len(frames):
        return None
    pose_index, hubs = hub_distances.pose_index, hub_distances.hubs
    numbers = pose_index.starts[t] + frames
    table = hub_distances.ratios[:, numbers]
    speeds = np.array([hub.speed for hub in hubs])[:, None]
    off = np.abs(pose_index.speeds[numbers] - speeds) / (0.5 * np.sqrt(pose_index.size) + 0.5 * speeds)
    cost = table + off + _WAITING * np.arange(len(frames)) / take.clip.fps
    cost[(table > _FARTHEST) | (off > 1.0)] = np.inf
    k, at = np.unravel_index(first_least(cost.ravel(), _ALIKE), cost.shape)
    if not np.isfinite(cost[k, at]):
        return None
    hub, frame = hubs[int(k)], int(frames[at])
    return CutMark(frame, hub, place_on_frame(hub.pose, take.clip, frame), float(table[k, at]))
