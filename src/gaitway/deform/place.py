"""Places to squeeze into: the solids of a world, and where its movers are in the frames of a fragment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import shapely

from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.deform import _depth_kernels
from gaitway.deform._depth_kernels import BALL, PRISM, Solids
from gaitway.world.footprint import Footprint, core_geometry
from gaitway.world.levels.floors import EDGE
from gaitway.world.obstacle import PASSABLE, Obstacle
from gaitway.world.shapes import Ball, Prism, Shape
from gaitway.world.world import World

_CLEAR = 1.0
"""Distance beyond which nothing counts as near [m]."""
_KERB = 0.06
"""Height over a floor below which feet are kept from its edge [m]."""
_TALLEST = 3.0
"""Height above which nothing is met [m]."""


@dataclass(frozen=True, eq=False)
class SqueezePlace:
    """The solids of a world, for kernels. A mesh stands for the prism over its outline."""

    world: World

    @cached_property
    def named(self) -> tuple[str, ...]:
        """Name of each solid; (S,)."""
        return tuple(name for name, _, _ in self._rows)

    @cached_property
    def solids(self) -> Solids:
        """The solids, movers after all others."""
        kinds, numbers, around, spans, edges, movers, convex = [], [], [], [], [np.empty((0, 5))], [], []
        count = 0
        for _, solid, mover in self._rows:
            if isinstance(solid, Ball):
                x, y, z = solid.center.tolist()
                rows = np.array([[x, y, x, y, 0.0]])
                kinds.append(BALL)
                numbers.append((0.0, 0.0, solid.radius, z, solid.radius))
                around.append((x, y, solid.radius))
                convex.append(1)
            else:
                rows = _edges(solid.footprint)
                kinds.append(PRISM)
                numbers.append((solid.bottom, solid.top, solid.footprint.radius, 0.0, 0.0))
                middle = solid.footprint.points.mean(axis=0)
                far = float(np.hypot(*(solid.footprint.points - middle).T).max()) + solid.footprint.radius
                around.append((float(middle[0]), float(middle[1]), far))
                convex.append(int(_is_convex(solid.footprint)))
            spans.append((count, count + len(rows)))
            edges.append(rows)
            movers.append(mover)
            count += len(rows)
        return Solids(
            read_only(np.array(kinds, dtype=np.int64)),
            read_only(np.array(numbers, dtype=np.float64).reshape(-1, 5)),
            read_only(np.array(around, dtype=np.float64).reshape(-1, 3)),
            read_only(np.array(spans, dtype=np.int64).reshape(-1, 2)),
            read_only(np.concatenate(edges)),
            read_only(np.array(movers, dtype=np.int64)),
            read_only(np.array(convex, dtype=np.int64)),
        )

    def near(self, middle: complex, reach: float) -> IntArray:
        """Return the numbers of the solids within a reach of a point [m], and of all that move; (N,)."""
        around, movers = self.solids.around, self.solids.movers
        away = np.hypot(around[:, 0] - middle.real, around[:, 1] - middle.imag) - around[:, 2]
        return np.flatnonzero((away <= reach) | (movers >= 0))

    def clearances(self, points: FloatArray) -> FloatArray:
        """Return the distance of points (..., 2) from the nearest solid that does not move, less than 0 in it [m]."""
        flat = read_only(np.ascontiguousarray(points, dtype=np.float64).reshape(-1, 2))
        out = np.empty(len(flat))
        middle = 0.5 * (flat.min(axis=0) + flat.max(axis=0))
        reach = float(np.hypot(*(flat - middle).T).max()) + _CLEAR
        _depth_kernels.clearances(self.solids, self.near(complex(*middle), reach), flat, out)
        return np.minimum(out, _CLEAR).reshape(points.shape[:-1])

    def moves(self, times: FloatArray) -> FloatArray:
        """Return x, y, cosine and sine of the heading of all movers at times (F,); (F, M, 4).

        A mover in a passable phase is far away.
        """
        out = np.empty((len(times), len(self._phases), 4))
        if not self._phases:
            return out
        for k, (number, phase) in enumerate(self._phases):
            mover = self.world.movers[number]
            poses = mover.pose(times)
            out[:, k] = np.column_stack([poses[:, :2], np.cos(poses[:, 2]), np.sin(poses[:, 2])])
            starts = [p.start for p in mover.phases[1:]]
            there = np.searchsorted(starts, times, side="right") == phase
            out[~there, k, :2] = 1e6
        return out

    @cached_property
    def _phases(self) -> list[tuple[int, int]]:
        return [
            (number, phase)
            for number, mover in enumerate(self.world.movers)
            for phase in range(len(mover.phases))
            if mover.phases[phase].kind != PASSABLE
        ]

    @cached_property
    def _rows(self) -> list[tuple[str, Prism | Ball, int]]:
        found: list[tuple[str, Prism | Ball, int]] = []
        for k, obstacle in enumerate(self.world.obstacles):
            if obstacle.kind != PASSABLE:
                found += [(_name(obstacle, k), _kerb(obstacle, solid), -1) for solid in _solids(obstacle.shape)]
        for k, (number, phase) in enumerate(self._phases):
            mover = self.world.movers[number]
            name = mover.name or f"mover {number + 1}"
            found += [(name, solid, k) for solid in _solids(mover.phases[phase].shape)]
        return found


def _name(obstacle: Obstacle, number: int) -> str:
    return obstacle.name or f"{obstacle.kind} {number + 1}"


def _kerb(obstacle: Obstacle, solid: Prism | Ball) -> Prism | Ball:
    """Return a solid, or what is left of the wall around a floor: arms and trunk may reach over the edge, feet not."""
    if isinstance(solid, Ball) or not (obstacle.name or "").startswith(EDGE):
        return solid
    return replace(solid, top=solid.bottom + _KERB)


def _solids(shape: Shape) -> Sequence[Prism | Ball]:
    solids = shape.solids()
    if all(isinstance(solid, Prism | Ball) for solid in solids):
        found = [solid for solid in solids if isinstance(solid, Prism | Ball)]
        return [solid for solid in found if isinstance(solid, Ball) or not solid.footprint.empty]
    low, high = shape.heights
    outline = shape.footprint(low, min(high, _TALLEST))
    return [] if outline.empty else [Prism(outline, low, high)]


def _edges(footprint: Footprint) -> FloatArray:
    rows = [np.empty((0, 5))]
    for ring in footprint.rings:
        x, y = ring.T
        if len(ring) > 2 and float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) < 0.0:
            x, y = x[::-1], y[::-1]
        filled = np.full(len(ring), float(len(ring) > 2))
        sides = np.column_stack([x, y, np.roll(x, -1), np.roll(y, -1), filled])
        rows.append(sides if len(ring) > 2 else sides[:1])
    return np.concatenate(rows)


def _is_convex(footprint: Footprint) -> bool:
    geometry = core_geometry(footprint)
    return bool(shapely.area(shapely.convex_hull(geometry)) - shapely.area(geometry) < 1e-9)
