"""Checks of bodies against the solids of a world, in every frame, and between frames where motion is fast."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from gaitway.audit import _body_kernels
from gaitway.audit._body_kernels import FLAGS, HIT_DEPTH, HIT_FRAME, HIT_SHARE, HIT_SOLID, HITS
from gaitway.audit._solid_kernels import HIGH_X, HIGH_Y, LOW_X, LOW_Y, Solids
from gaitway.audit.bodies import FINEST, AuditedCharacter, hulls, reach
from gaitway.audit.report import Finding
from gaitway.audit.solids import chosen, gather, stack_of
from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.world.obstacle import PASSABLE, STANDABLE, WALL, Mover
from gaitway.world.shapes import Shape, Solid
from gaitway.world.world import World

_CHUNK = 128
"""Number of frames that are compared with the same selection of solids."""
_GAP = 2.5
"""Largest number of frames between two moments of one incident."""


@dataclass(frozen=True, eq=False)
class SolidGroup:
    """Solids that move together: all that stand still, or a mover during one of its phases."""

    solids: Solids
    """The solids, in the mover's frame if there is one."""
    names: tuple[str, ...]
    """Name of the obstacle that each solid belongs to; (S,)."""
    specials: tuple[bool, ...]
    """Whether that obstacle is special; (S,)."""
    mover: Mover | None = None
    start: float = -np.inf
    """Time at which the phase begins [s]."""
    stop: float = np.inf
    """Time at which it ends [s]."""

    def seen(self, times: FloatArray, segments: FloatArray) -> FloatArray:
        """Return axes (N, C, 2, 3) at times (N,), seen from the mover."""
        if self.mover is None:
            return segments
        pose = self.mover.pose(times)[:, None, None, :]
        cosine, sine = np.cos(pose[..., 2]), np.sin(pose[..., 2])
        x, y = segments[..., 0] - pose[..., 0], segments[..., 1] - pose[..., 1]
        return np.stack([cosine * x + sine * y, cosine * y - sine * x, segments[..., 2]], axis=-1)


@dataclass(frozen=True)
class Moment:
    """A body in a solid, or nearly so."""

    time: float
    depth: float
    part: int
    obstacle: str
    special: bool
    place: tuple[float, float, float]


def groups_of(world: World) -> tuple[SolidGroup, ...]:
    """Return all solids of a world that characters must not enter."""
    return _groups(world, lambda kind: kind != PASSABLE)


def standing_groups(world: World) -> tuple[SolidGroup, ...]:
    """Return all solids of a world that are made to be stood on."""
    return _groups(world, lambda kind: kind in STANDABLE)


def wall_groups(world: World, solids: Callable[[Shape], tuple[Solid, ...]]) -> tuple[SolidGroup, ...]:
    """Return all walls, as the solids that `solids` makes of each shape."""
    return _groups(world, lambda kind: kind == WALL, solids)


def _groups(
    world: World,
    counts: Callable[[str], bool],
    solids: Callable[[Shape], tuple[Solid, ...]] = lambda shape: shape.solids(),
) -> tuple[SolidGroup, ...]:
    standing = [
        (shape_name(o.name, o.kind, i), o.kind, o.shape) for i, o in enumerate(world.obstacles) if counts(o.kind)
    ]
    out = [_group(standing, solids)]
    for i, mover in enumerate(world.movers):
        stops = [*(phase.start for phase in mover.phases[1:]), np.inf]
        for k, (phase, stop) in enumerate(zip(mover.phases, stops, strict=True)):
            if counts(phase.kind):
                name = mover.name or f"mover {i}"
                start = -np.inf if k == 0 else phase.start
                out.append(_group([(name, phase.kind, phase.shape)], solids, mover, start, stop))
    return tuple(group for group in out if len(group.names))


def shape_name(name: str, kind: str, index: int) -> str:
    """Return the name of an obstacle in a report."""
    return name or f"{kind} {index}"


def _group(
    things: Sequence[tuple[str, str, Shape]],
    solids: Callable[[Shape], tuple[Solid, ...]],
    mover: Mover | None = None,
    start: float = -np.inf,
    stop: float = np.inf,
) -> SolidGroup:
    rows = [(name, kind != WALL, solid) for name, kind, shape in things for solid in solids(shape)]
    return SolidGroup(
        gather([row[2] for row in rows]), tuple(r[0] for r in rows), tuple(r[1] for r in rows), mover, start, stop
    )


class PenetrationSearch:
    """All moments at which one character is in a solid, and the number of poses checked between frames."""

    def __init__(self, walker: AuditedCharacter, bar: float) -> None:
        self.walker, self.bar = walker, bar
        self.radii = read_only(walker.body.radii)
        self.moments: list[Moment] = []
        self.worst: dict[bool, Moment] = {}
        """Deepest moment in walls (False) and in special obstacles (True)."""
        self.between = 0

    def against(self, group: SolidGroup) -> None:
        """Look at one group of solids."""
        for times, segments in self._runs(group):
            seen = group.seen(times, segments)
            ways = reach(seen)
            for first in range(0, max(len(times) - 1, 1), _CHUNK):
                rows = slice(first, first + _CHUNK + 1)
                some = _close(group.solids, seen[rows], self.walker.body.radii, ways[first : first + _CHUNK])
                if len(some):
                    self._scan(group, some, times[rows], segments[rows], seen[rows], ways[first : first + _CHUNK])

    def _runs(self, group: SolidGroup) -> Iterable[tuple[FloatArray, FloatArray]]:
        """Return times and axes while the group is present; of a mover, only those at which it is near."""
        times, segments = self.walker.times, self.walker.segments
        if group.mover is None:
            return [(times, segments)]
        inside = (times >= group.start) & (times < group.stop)
        extra = [t for t in (group.start, np.nextafter(group.stop, -np.inf)) if times[0] < t < times[-1]]
        extra = [t for t in extra if t not in times]
        shown, axes = times[inside], segments[inside]
        if extra:
            added = np.stack([self._pose(t) for t in extra])
            order = np.argsort(np.concatenate([shown, extra]), kind="stable")
            shown, axes = np.concatenate([shown, extra])[order], np.concatenate([axes, added])[order]
        return _near_runs(group, shown, axes, self.walker.body.radii)

    def _pose(self, time: float) -> FloatArray:
        self.between += 1
        return self.walker.segments_at(time)

    def _scan(
        self, group: SolidGroup, some: IntArray, times: FloatArray, segments: FloatArray, seen: FloatArray,
        ways: FloatArray,
    ) -> None:  # fmt: skip
        """Look at some frames, then at what may lie between them."""
        hits, depths, flags = run_scan(seen, self.radii, ways, chosen(group.solids, some), self.bar)
        for row, (frame, part, solid) in enumerate(hits.tolist()):
            if frame < 0:
                continue
            axis = segments[frame, part]
            place = axis[0] + depths[row, HIT_SHARE] * (axis[1] - axis[0])
            which = int(some[solid])
            x, y, z = (float(v) for v in place)
            moment = Moment(
                float(times[frame]),
                float(depths[row, HIT_DEPTH]),
                part,
                group.names[which],
                group.specials[which],
                (x, y, z),
            )
            worst = self.worst.get(moment.special)
            if worst is None or moment.depth > worst.depth:
                self.worst[moment.special] = moment
            if row > 0:
                self.moments.append(moment)
        for frame in np.unique(flags[:, HIT_FRAME]).tolist():
            solids = some[np.unique(flags[flags[:, HIT_FRAME] == frame, HIT_SOLID])]
            self._between(group, solids, times[frame : frame + 2], segments[frame : frame + 2])

    def _between(self, group: SolidGroup, some: IntArray, times: FloatArray, segments: FloatArray) -> None:
        """Look at the middle between two times, and from there at both halves if need be."""
        middle = 0.5 * float(times[0] + times[1])
        if not times[0] < middle < times[1]:
            return
        three = np.array([times[0], middle, times[1]])
        axes = np.stack([segments[0], self._pose(middle), segments[1]])
        seen = group.seen(three, axes)
        self._scan(group, some, three, axes, seen, reach(seen))


def run_scan(
    seen: FloatArray, radii: FloatArray, ways: FloatArray, solids: Solids, bar: float
) -> tuple[IntArray, FloatArray, IntArray]:
    """Run `_body_kernels.scan` with as much memory as it needs."""
    seen, ways, stack = read_only(seen), read_only(ways), stack_of(solids)
    room = np.array([4 * len(seen) + 1, 16 * len(seen)], dtype=np.int64)
    while True:
        hits, depths = np.empty((room[HITS], 3), dtype=np.int64), np.empty((room[HITS], 2))
        flags, counts = np.empty((room[FLAGS], 3), dtype=np.int64), np.zeros(2, dtype=np.int64)
        _body_kernels.scan(seen, radii, ways, solids, bar, FINEST, stack, hits, depths, flags, counts)
        if (counts <= room).all():
            return hits[: counts[HITS]], depths[: counts[HITS]], flags[: counts[FLAGS]]
        room = np.maximum(room, counts)


def incidents(row: str, search: PenetrationSearch, special: bool) -> list[Finding]:
    """Return one finding for each obstacle and span of time in which a character is in it, or the deepest.

    Args:
        row: name of the row that they belong to.
        search: what was found.
        special: whether special obstacles are asked for, or walls.
    """
    walker, out = search.walker, []
    chosen_ones = [m for m in search.moments if m.special == special]
    for name in dict.fromkeys(m.obstacle for m in chosen_ones):
        moments = sorted((m for m in chosen_ones if m.obstacle == name), key=lambda m: m.time)
        times = np.array([m.time for m in moments])
        for run in np.split(np.arange(len(moments)), np.flatnonzero(np.diff(times) * walker.take.fps > _GAP) + 1):
            worst = max((moments[i] for i in run), key=lambda m: m.depth)
            out.append(_finding(row, walker, worst, search.bar, (float(times[run[0]]), float(times[run[-1]]))))
    nearest = search.worst.get(special)
    if not out and nearest is not None and nearest.depth > 0.0:
        out.append(_finding(row, walker, nearest, search.bar, None))
    return out


def _finding(
    row: str, walker: AuditedCharacter, moment: Moment, bar: float, span: tuple[float, float] | None
) -> Finding:
    part = walker.body.names[moment.part]
    return Finding(
        row=row,
        value=moment.depth,
        bar=bar,
        time=moment.time,
        frame=walker.frame(moment.time),
        characters=(walker.name,),
        part=part,
        obstacle=moment.obstacle,
        place=moment.place,
        span=span,
    )


def _close(solids: Solids, segments: FloatArray, radii: FloatArray, ways: FloatArray) -> IntArray:
    """Return indices of the solids whose bounding box is near that of a body over some frames."""
    margin = float(ways.max(initial=0.0))
    lows, highs = hulls(segments, radii)
    low, high = lows.min(axis=0) - margin, highs.max(axis=0) + margin
    apart = (solids.boxes[:, :3] > high).any(axis=1) | (solids.boxes[:, 3:] < low).any(axis=1)
    return np.flatnonzero(~apart).astype(np.int64)


def _near_runs(
    group: SolidGroup, times: FloatArray, segments: FloatArray, radii: FloatArray
) -> list[tuple[FloatArray, FloatArray]]:
    """Return spans of frames in which the bounding circles of mover and body may touch, with a frame on each side."""
    if group.mover is None or len(times) == 0:
        return []
    boxes = group.solids.boxes
    corners = np.maximum(np.abs(boxes[:, [LOW_X, LOW_Y]]), np.abs(boxes[:, [HIGH_X, HIGH_Y]]))
    wide = float(np.linalg.norm(corners, axis=1).max())
    low, high = hulls(segments, radii)
    middle = 0.5 * (low + high)[:, :2]
    body = 0.5 * np.linalg.norm((high - low)[:, :2], axis=-1)
    away = np.linalg.norm(middle - group.mover.pose(times)[:, :2], axis=-1)
    steps = np.abs(np.diff(away, append=away[-1:]))
    near = away < wide + body + 2.0 * np.maximum(steps, np.roll(steps, 1))
    near |= np.roll(near, 1) | np.roll(near, -1)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], near.astype(np.int8), [0]])))
    return [(times[a:b], segments[a:b]) for a, b in zip(edges[::2], edges[1::2], strict=True)]
