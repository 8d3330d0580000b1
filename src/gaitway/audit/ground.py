"""Ground that a foot may stand on: the terrain, and the upper sides of obstacles that are made to be stood on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gaitway.audit import _solid_kernels
from gaitway.audit._solid_kernels import BALL, CONCAVE, TOP, Solids
from gaitway.audit.bodies import AuditedCharacter
from gaitway.audit.penetration import standing_groups
from gaitway.audit.report import Finding
from gaitway.audit.solids import stack_of
from gaitway.audit.sources import Played, Source
from gaitway.core.arrays import BoolArray, FloatArray, read_only
from gaitway.world.escalators import Escalator
from gaitway.world.world import World

_EDGE = 0.04
"""Distance by which a foot may stand over an edge [m]."""


_CARRIED = 0.1
"""Greatest height over a tread of a point that it carries [m]."""
_FAITHFUL = 0.002
"""Depth by which a part may lie lower than in the source clip [m], since frames lie between the clip's."""


class AuditGround:
    """The ground of a world, for the audit."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.groups = standing_groups(world)

    def gaps(self, points: FloatArray, times: FloatArray) -> FloatArray:
        """Return heights of points (N, 3) above the ground next to them at times (N,) [s]; [m], negative below; (N,).

        Where several grounds lie above one another, the one nearest in height counts.
        """
        gap = points[:, 2] - self.world.ground(points[:, :2])
        for group in self.groups:
            here = (times >= group.start) & (times < group.stop)
            if here.any():
                seen = group.seen(times[here], points[here][:, None, None])[:, 0, 0]
                for s in range(len(group.names)):
                    other = seen[:, 2] - tops(group.solids, s, seen)
                    nearer = np.abs(other) < np.abs(gap[here])
                    gap[here] = np.where(nearer, other, gap[here])
        for lift in self.world.lifts:
            other = points[:, 2] - lift.height(times)
            nearer = lift.inside(points[:, :2], _EDGE) & (np.abs(other) < np.abs(gap))
            gap = np.where(nearer, other, gap)
        for one in self.world.escalators:
            other = points[:, 2] - one.height(points[:, :2], times, points[:, 2], _EDGE)
            nearer = one.inside(points[:, :2], _EDGE) & (np.abs(other) < np.abs(gap))
            gap = np.where(nearer, other, gap)
        return gap

    def carriers(self, points: FloatArray, times: FloatArray) -> list[tuple[Escalator, BoolArray]]:
        """Return the escalators that carry some of points (F, ..., 3) at times (F,) [s], and which; (F, ...)."""
        when = times.reshape(-1, *[1] * (points.ndim - 2))
        out = []
        for one in self.world.escalators:
            over = points[..., 2] - one.height(points[..., :2], when, points[..., 2], _EDGE)
            on = one.inside(points[..., :2], _EDGE) & (np.abs(over) < _CARRIED)
            if on.any():
                out.append((one, on))
        return out

    def at_rest(self, track: FloatArray, times: FloatArray) -> FloatArray:
        """Return the track of a point that rests (F, 3), as seen from what carries it at times (F,) [s]; (F, 2)."""
        for one, on in self.carriers(track, times):
            if on.all():
                return np.asarray(track[:, :2] - one.carried(times))
        return track[:, :2]


def tops(solids: Solids, s: int, points: FloatArray) -> FloatArray:
    """Return the height of a solid's upper side [m] (N,) under points (N, 3); minus infinity beside it.

    Of the sides of a mesh that lie above one another, the nearest to the point counts.
    """
    out = np.full(len(points), -np.inf)
    low, high = solids.boxes[s, :2] - _EDGE, solids.boxes[s, 3:5] + _EDGE
    near = np.flatnonzero(((points[:, :2] >= low) & (points[:, :2] <= high)).all(axis=1))
    if len(near) == 0:
        return out
    if solids.kinds[s] <= CONCAVE:
        away = np.empty(len(near))
        _solid_kernels.planar_distances(solids, s, read_only(np.ascontiguousarray(points[near, :2])), away)
        out[near] = np.where(away <= _EDGE, solids.numbers[s, TOP], -np.inf)
    elif solids.kinds[s] == BALL:
        x, y, z, radius = solids.numbers[s]
        flat = (points[near, 0] - x) ** 2 + (points[near, 1] - y) ** 2
        out[near] = np.where(flat <= radius**2, z + np.sqrt(np.maximum(radius**2 - flat, 0.0)), -np.inf)
    else:
        heights, stack = np.empty(len(near)), stack_of(solids)
        assert stack is not None
        _solid_kernels.mesh_heights(solids, s, read_only(points[near]), stack, heights)
        out[near] = heights
    return out


def sunk(
    walker: AuditedCharacter, world: World, sources: dict[int, Source], bar: float, most: float
) -> tuple[list[Finding], Finding | None]:
    """Return parts of a body that are under the terrain: one finding for each span of time, or the deepest.

    What is as deep under the floor of the source clip, at the very frames that are played, is not held against the
    take, up to `most`; beyond it is the fault of the library. The second result is the deepest that is not held against
    the take, with its clip for an obstacle.
    """
    depths, shares = _depths(walker, world)
    bars = np.full(depths.shape, bar)
    excused, blamed = None, bars
    if (depths > bar).any():
        played = Played(walker.take, walker.index)
        blamed = np.maximum(bar, played.own(sources, walker.times, lambda source: source.sunk) + _FAITHFUL)
        bars = np.minimum(blamed, max(bar, most))
        own = np.where((depths > bar) & (depths <= bars), depths, 0.0)
        f, p = (int(i) for i in np.unravel_index(np.argmax(own), own.shape))
        if own[f, p] > 0.0:
            found = _sunk(walker, f, p, depths, shares, bars, None)
            excused = replace(found, obstacle=played.clip_name(found.time))
    part = np.argmax(depths - bars, axis=1)
    beyond = (depths - bars)[np.arange(len(part)), part]
    out = []
    for f, span in worst_of_runs(beyond, walker.times, 0.0):
        found, p = _sunk(walker, f, int(part[f]), depths, shares, bars, span), int(part[f])
        if bars[f, p] < depths[f, p] <= blamed[f, p]:
            clip = Played(walker.take, walker.index).clip_at(found.time)
            found = found if sources[clip].leaves_floor else replace(found, clip=walker.take.clips[clip].name)
        out.append(found)
    return out, excused


def _sunk(
    walker: AuditedCharacter, f: int, p: int, depths: FloatArray, shares: FloatArray, bars: FloatArray,
    span: tuple[float, float] | None,
) -> Finding:  # fmt: skip
    time = float(walker.times[f])
    return Finding(
        row="under_ground",
        value=float(depths[f, p]),
        bar=float(bars[f, p]),
        time=time,
        frame=walker.frame(time),
        characters=(walker.name,),
        part=walker.body.names[p],
        obstacle="ground",
        place=_on_axis(walker.segments[f, p], shares[f, p]),
        span=span,
    )


def worst_of_runs(
    values: FloatArray, times: FloatArray, bar: float, gap: int = 2
) -> list[tuple[int, tuple[float, float] | None]]:
    """Return the frame of the worst value of each run beyond the bar, and its span of time; else the worst of all."""
    beyond = np.flatnonzero(~(values <= bar))
    if len(beyond) == 0:
        return [(int(np.argmax(values)), None)] if len(values) else []
    out: list[tuple[int, tuple[float, float] | None]] = []
    for run in np.split(beyond, np.flatnonzero(np.diff(beyond) > gap) + 1):
        out.append((int(run[np.argmax(values[run])]), (float(times[run[0]]), float(times[run[-1]]))))
    return out


def _depths(walker: AuditedCharacter, world: World) -> tuple[FloatArray, FloatArray]:
    """Return how deep each capsule is under the terrain [m], and where along its axis; (F, C) each.

    Heights are taken along the axis in steps of a cell and turned into distances by the slope there.
    """
    axes, thick = walker.segments, walker.thick
    if world.terrain is None:
        under = thick - axes[..., 2]
        return under.max(axis=-1), np.argmax(under, axis=-1).astype(np.float64)
    longest = float(np.linalg.norm(axes[0, :, 1] - axes[0, :, 0], axis=-1).max())
    places = np.linspace(0.0, 1.0, int(np.clip(np.ceil(longest / world.terrain.cell), 1, 16)) + 1)
    depths, step = [], 0.5 * world.terrain.cell
    for share in places:
        points = axes[..., 0, :] + share * (axes[..., 1, :] - axes[..., 0, :])
        height = world.ground(points[..., :2])
        east = (world.ground(points[..., :2] + [step, 0.0]) - world.ground(points[..., :2] - [step, 0.0])) / (2 * step)
        north = (world.ground(points[..., :2] + [0.0, step]) - world.ground(points[..., :2] - [0.0, step])) / (2 * step)
        radii = thick[:, 0] + share * (thick[:, 1] - thick[:, 0])
        depths.append(radii - (points[..., 2] - height) / np.sqrt(1.0 + east**2 + north**2))
    all_depths = np.stack(depths)
    best = np.argmax(all_depths, axis=0)
    return np.take_along_axis(all_depths, best[None], axis=0)[0], places[best]


def _on_axis(axis: FloatArray, share: float) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in axis[0] + share * (axis[1] - axis[0]))
    return x, y, z
