"""Floor that movers cover in slots of time, as groups of discs, and the covering of footprints by discs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray, read_only
from gaitway.library import _disc_kernels
from gaitway.space._traffic_kernels import FOREVER, SLOT, end_slot, first_slot
from gaitway.world.exact import footprint_distance
from gaitway.world.footprint import Footprint
from gaitway.world.obstacle import PASSABLE, Mover
from gaitway.world.occupancy import Band, body_footprint
from gaitway.world.terrain import Terrain

FARTHEST = 0.2
"""Distance within a slot beyond which a mover is placed more than once in it [m]."""
_TOUCH = 1e-6


@dataclass(frozen=True, eq=False)
class Swept:
    """Groups of discs, each there for some slots."""

    around: FloatArray
    """One disc around each group [m]; (G, 3)."""
    discs: FloatArray
    """x, y and radius [m]; (D, 3)."""
    starts: IntArray
    """First disc of each group, and D at the end; (G + 1,)."""
    slots: IntArray
    """First and end slot of each group; (G, 2)."""
    kinds: IntArray
    """Number of the special kind of each group, or -1; (G,)."""

    @staticmethod
    def standing(discs: FloatArray, first: int, end: int, kind: int) -> Swept:
        """Return one group of discs that stand still."""
        return Swept(
            enclosing(discs)[None], discs, np.array([0, len(discs)]), np.array([[first, end]]), np.array([kind])
        )

    def of(self, chosen: BoolArray) -> Swept:
        """Return some of the groups (G,)."""
        discs = np.repeat(chosen, np.diff(self.starts))
        sizes = np.diff(self.starts)[chosen]
        return Swept(
            self.around[chosen], self.discs[discs], np.append(0, np.cumsum(sizes)), self.slots[chosen],
            self.kinds[chosen],
        )  # fmt: skip

    @staticmethod
    def joined(parts: Sequence[Swept]) -> Swept:
        """Join the groups of several."""
        starts = np.cumsum([0, *(len(part.discs) for part in parts)])
        return Swept(
            np.concatenate([part.around for part in parts]),
            np.concatenate([part.discs for part in parts]),
            np.append(np.concatenate([s + p.starts[:-1] for s, p in zip(starts, parts, strict=False)]), starts[-1]),
            np.concatenate([part.slots for part in parts]),
            np.concatenate([part.kinds for part in parts]),
        )


def enclosing(discs: FloatArray) -> FloatArray:
    """Return one disc around others; (3,)."""
    out = np.zeros(3)
    _disc_kernels.enclose(read_only(discs), out)
    return out


def sweep_mover(
    mover: Mover, kinds: Sequence[str], terrain: Terrain | None, band: Band, horizon: int
) -> Iterator[Swept]:
    """Return what a mover covers in each slot until a horizon, in all phases but passable ones.

    It rests between keys in the same pose, before the first and after the last; only then it bears its special kind.
    """
    starts = [0.0, *(max(phase.start, 0.0) for phase in mover.phases[1:]), math.inf]
    known = horizon * SLOT
    for phase, begins, ends in zip(mover.phases, starts[:-1], starts[1:], strict=True):
        if phase.kind == PASSABLE or ends <= begins:
            continue
        discs = cover_footprint(body_footprint(phase.shape, terrain, band, 0.0, mover.poses))
        if not len(discs):
            continue
        kind = kinds.index(phase.kind) if phase.kind in kinds else -1
        rests = max(begins, float(mover.times[-1]))
        until = min(ends, rests, known)
        cuts = np.concatenate([[begins], mover.breaks(begins, until), [until]])
        for a, b in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
            if b > a:
                yield _piece(mover, discs, a, b, kind)
        if rests < ends and mover.times[-1] <= known:
            here = _placed(discs, mover.pose(rests)[None])[0]
            yield Swept.standing(here, int(first_slot(rests)), last_slot(ends), kind)


def last_slot(time: float) -> int:
    """Return the slot after the last one of what ends at a time, which may be infinity [s]."""
    return FOREVER if math.isinf(time) else int(end_slot(time))


def _piece(mover: Mover, discs: FloatArray, begins: float, ends: float, kind: int) -> Swept:
    """Return what a mover covers between two times without a key in between."""
    start, end = mover.pose(np.array([begins, ends]))
    move = end - start
    first, last = int(first_slot(begins)), int(end_slot(ends))
    if not move.any():
        return Swept.standing(_placed(discs, start[None])[0], first, max(last, first + 1), kind)
    borders = SLOT * np.arange(first, max(last, first + 1) + 1)
    borders[0], borders[-1] = begins, ends
    reach = float((np.hypot(discs[:, 0], discs[:, 1]) + discs[:, 2]).max())
    way = (math.hypot(move[0], move[1]) + reach * abs(move[2])) / (ends - begins)
    parts = max(math.ceil(way * SLOT / FARTHEST - _TOUCH), 1)
    shares = (np.arange(parts) + 0.5) / parts
    times = (borders[:-1, None] + np.diff(borders)[:, None] * shares).ravel()
    here = _placed(discs, mover.pose(times))
    here[..., 2] += 0.5 * way * np.repeat(np.diff(borders), parts)[:, None] / parts
    around = _placed(enclosing(discs)[None], mover.pose(times))[:, 0]
    around[:, 2] += here[:, 0, 2] - discs[0, 2]
    slots = first + np.repeat(np.arange(len(borders) - 1), parts)
    count = len(times)
    return Swept(
        around,
        here.reshape(-1, 3),
        len(discs) * np.arange(count + 1),
        np.column_stack([slots, slots + 1]),
        np.full(count, -1, dtype=np.int64),
    )


def _placed(discs: FloatArray, poses: FloatArray) -> FloatArray:
    """Return discs (D, 3) placed at poses (N, 3); (N, D, 3)."""
    c, s = np.cos(poses[:, 2:]), np.sin(poses[:, 2:])
    x, y = discs[:, 0], discs[:, 1]
    radii = np.broadcast_to(discs[:, 2], (len(poses), len(discs)))
    return np.stack([poses[:, :1] + c * x - s * y, poses[:, 1:2] + s * x + c * y, radii], axis=-1)


FINEST = 0.02
"""Smallest cell size for footprints [m]."""
_MOST_CELLS = 6000
"""Approximate most cells of a footprint; large ones get larger cells."""
_MARGIN = 3.0
"""How far discs may reach beyond the footprint [cells]."""
_HALF = float(np.sqrt(0.5))
_SHRINK = float(np.sqrt(2.0)) - 1.0


def cover_footprint(footprint: Footprint) -> FloatArray:
    """Return discs (x, y, radius) that cover a footprint, the largest first [m]; (D, 3).

    A single rounded point is covered exactly. Discs reach beyond other footprints by at most four cells, whose side is
    2 cm or, for a box of 4.3 m by 1.8 m, 4 cm.
    """
    if footprint.empty:
        return np.empty((0, 3))
    if len(footprint.points) == 1:
        return np.array([[*footprint.points[0], footprint.radius]])
    x0, y0, x1, y1 = footprint.bounds
    cell = max(FINEST, float(np.sqrt((x1 - x0) * (y1 - y0) / _MOST_CELLS)), (x1 - x0 + y1 - y0) / _MOST_CELLS)
    room = (_MARGIN + 2.0) * cell
    x, y = np.arange(x0 - room, x1 + room + cell, cell), np.arange(y0 - room, y1 + room + cell, cell)
    distances = np.maximum(footprint_distance([footprint], np.stack(np.meshgrid(x, y), axis=-1)), 0.0) / cell
    inner = np.empty_like(distances)
    _disc_kernels.inner_distances(distances <= _MARGIN, inner)
    found = _disc_kernels.cover(inner, distances <= _HALF, 1, _SHRINK, _HALF)
    found = found[np.argsort(-found[:, 2], kind="stable")]
    return np.column_stack([x[0] + cell * found[:, 1], y[0] + cell * found[:, 0], cell * found[:, 2]])
