"""Checks of the discs about the roots, which some planners keep clear, against walls and against one another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.audit import _solid_kernels
from gaitway.audit.bodies import AuditedCharacter
from gaitway.audit.ground import worst_of_runs
from gaitway.audit.penetration import SolidGroup, wall_groups
from gaitway.audit.report import Finding
from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.take.model import Take
from gaitway.world.shapes import Prism, Shape, Solid
from gaitway.world.world import World

_STEP = 0.02
"""Step along the path of a root [m]; a disc of 25 cm misses less than a quarter of a millimetre."""
_UNDERFOOT = 0.05
"""Height above the soles up to which obstacles are stepped on, not run into [m]."""
_TALL = 2.0
"""Height that counts for shapes without straight walls [m]."""
_BLOCK = 64
"""Number of frames for which all roots are computed at once."""


def disc_groups(world: World) -> tuple[SolidGroup, ...]:
    """Return walls as upright prisms; the body, not the disc, passes special obstacles."""
    heights = (
        [0.0] if world.terrain is None else [float(world.terrain.heights.min()), float(world.terrain.heights.max())]
    )

    def flat(shape: Shape) -> tuple[Solid, ...]:
        solids = shape.solids()
        if all(isinstance(solid, Prism) for solid in solids):
            return solids
        print_ = shape.footprint(heights[0] + _UNDERFOOT, heights[-1] + _TALL)
        return () if print_.empty else (Prism(print_, -np.inf, np.inf),)

    return wall_groups(world, flat)


def overlaps(walker: AuditedCharacter, groups: tuple[SolidGroup, ...], bar: float) -> list[Finding]:
    """Return how far a character's disc reaches into walls [m]: one finding for each span of time, or the farthest."""
    radius = float(walker.take.radii[walker.index])
    times, points, bands = _fine(walker)
    depths, names = np.full(len(times), -np.inf), np.full(len(times), "", dtype=object)
    for group in groups:
        rows = np.flatnonzero((times >= group.start) & (times < group.stop))
        seen = group.seen(times[rows], np.pad(points[rows], ((0, 0), (0, 1)))[:, None, None])[:, 0, 0, :2]
        depth, which = np.full(len(rows), -np.inf), np.zeros(len(rows), np.int64)
        _solid_kernels.disc_depths(read_only(seen), read_only(bands[rows]), radius, group.solids, depth, which)
        better = depth > depths[rows]
        depths[rows[better]] = depth[better]
        names[rows[better]] = [group.names[i] for i in which[better]]
    if not np.isfinite(depths).any():
        return []
    gap = int(np.ceil(len(times) / max(len(walker.times), 1))) * 2
    return [
        Finding(
            row="disc",
            value=max(float(depths[i]), 0.0),
            bar=bar,
            time=float(times[i]),
            frame=walker.frame(float(times[i])),
            characters=(walker.name,),
            part="disc",
            obstacle=str(names[i]),
            place=(float(points[i, 0]), float(points[i, 1]), float(bands[i, 0])),
            span=span,
        )
        for i, span in worst_of_runs(depths, times, bar, gap)
        if depths[i] > 0.0
    ]


def _fine(walker: AuditedCharacter) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return times, root positions (N, 2) and height bands (N, 2) in steps of at most `_STEP` along the path."""
    roots, times = walker.clip.root_positions[:, :2], walker.times
    steps = np.linalg.norm(np.diff(roots, axis=0), axis=1)
    parts = np.maximum(np.ceil(steps / _STEP).astype(np.int64), 1)
    first = np.repeat(np.cumsum(parts) - parts, parts)
    step = np.repeat(np.arange(len(parts)), parts)
    share = np.append(step + (np.arange(len(first)) - first) / parts[step], len(times) - 1.0)
    frames = np.arange(len(times), dtype=np.float64)
    radii = walker.body.radii[:, None]
    low = (walker.segments[..., 2] - radii).min(axis=(1, 2)) + _UNDERFOOT
    high = (walker.segments[..., 2] + radii).max(axis=(1, 2))
    fine = [np.interp(share, frames, column) for column in (times, roots[:, 0], roots[:, 1], low, high)]
    return fine[0], np.stack(fine[1:3], axis=1), np.stack(fine[3:], axis=1)


def crossings(take: Take, bar: float, progress: Callable[[int, int], None]) -> list[Finding]:
    """Return how far discs reach into one another [m]: one finding for each pair and span of time.

    Between frames roots go straight, so the smallest distance of two of them is known in closed form.
    """
    who = np.flatnonzero(np.isfinite(take.radii)) if len(take.radii) else np.empty(0, np.int64)
    if len(who) < 2:
        return []
    radii = take.radii[who]
    first, last = int(np.ceil(take.starts.min() * take.fps)), int(np.floor(take.ends.max() * take.fps))
    found: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for begin in range(first, last, _BLOCK):
        frames = np.arange(begin, min(begin + _BLOCK, last) + 1)
        paths = take.planar(frames / take.fps, who)[..., :2]
        for k in range(len(frames) - 1):
            _cross(paths[:, k], paths[:, k + 1], radii, frames[k] / take.fps, take.fps, found)
        progress(int(frames[-1]) - first, last - first)
    out = []
    for (a, b), moments in sorted(found.items()):
        times, depths = np.array([m[0] for m in moments]), np.array([m[1] for m in moments])
        for run in np.split(np.arange(len(times)), np.flatnonzero(np.diff(times) * take.fps > 2.5) + 1):
            i = int(run[np.argmax(depths[run])])
            span = (float(times[run[0]]), float(times[run[-1]]))
            names = (take.names[who[a]], take.names[who[b]])
            x, y = take.planar([times[i]], who[[a, b]])[:, 0, :2].mean(axis=0)
            frame = round(times[i] * take.fps)
            finding = Finding(
                row="disc_characters",
                value=float(depths[i]),
                bar=bar,
                time=float(times[i]),
                frame=frame,
                characters=names,
                part="disc in disc",
            )
            out.append(replace(finding, place=(float(x), float(y), 0.0), span=span))
    return out


def _cross(
    before: FloatArray, after: FloatArray, radii: FloatArray, time: float, fps: float,
    found: dict[tuple[int, int], list[tuple[float, float]]],
) -> None:  # fmt: skip
    """Note pairs whose discs overlap between two frames: roots (N, 2) at both, NaN where a character is absent."""
    there: IntArray = np.flatnonzero(np.isfinite(before).all(axis=1) & np.isfinite(after).all(axis=1))
    if len(there) < 2:
        return
    start, move = before[there], after[there] - before[there]
    reach = 2.0 * float(radii.max() + np.linalg.norm(move, axis=1).max())
    pairs = scipy.spatial.cKDTree(start).query_pairs(reach, output_type="ndarray")
    a, b = pairs[:, 0], pairs[:, 1]
    gap, closing = start[a] - start[b], move[a] - move[b]
    square = np.sum(closing**2, axis=1)
    share = np.clip(-np.sum(gap * closing, axis=1) / np.maximum(square, 1e-18), 0.0, 1.0)
    depth = radii[there[a]] + radii[there[b]] - np.linalg.norm(gap + share[:, None] * closing, axis=1)
    for p in np.flatnonzero(depth > 0.0).tolist():
        pair = (int(there[a[p]]), int(there[b[p]]))
        found.setdefault(pair, []).append((time + float(share[p]) / fps, float(depth[p])))
