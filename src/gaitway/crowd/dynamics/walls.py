"""Walls of a crowd: exact line segments with a rounding, out of a world or given directly, in a hash of cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import shapely

from gaitway.core.arrays import FloatArray, IntArray, owned, read_only
from gaitway.core.errors import CrowdError
from gaitway.space.slopes import WALKED, steepness
from gaitway.world.exact import footprint_distance
from gaitway.world.footprint import Footprint, united
from gaitway.world.grid import Bounds, GridSpec
from gaitway.world.obstacle import PASSABLE, Obstacle
from gaitway.world.occupancy import BODY_BAND, body_footprint
from gaitway.world.world import World

HASH_CELL = 1.5
"""Side of the cells of the hashes of people and walls [m]."""
MAX_HASH_CELLS = 4_000_000
_MOMENT = 1e-3
"""Time over which it is seen how fast something goes [s]."""
_STEEP_CELL, _MAX_STEEP_CELLS = 0.2, 1_000_000
"""Side of the cells in which steep ground is found [m], and the greatest number of them."""


@dataclass(frozen=True, eq=False)
class Walls:
    """All that stands in the way: outlines within bounds."""

    bounds: Bounds
    """xmin, ymin, xmax, ymax [m]; nobody leaves them."""
    outlines: tuple[Footprint, ...]
    """Outlines of solid things; two points are a thin wall."""

    @staticmethod
    def of(world: World) -> Walls:
        """Return the walls of a world, without its movers.

        What only special behaviours pass is a wall too, and so is ground that is too steep to walk on.
        """
        return Walls(world.bounds, (*_outlines(world, world.obstacles), *_steep_outlines(world)))

    @staticmethod
    def of_segments(segments: npt.ArrayLike, bounds: Sequence[float] | None = None, margin: float = 5.0) -> Walls:
        """Return thin walls.

        Args:
            segments: x and y of both ends of each wall [m]; (S, 4).
            bounds: xmin, ymin, xmax, ymax [m]; None for those of the segments and a margin.
            margin: that margin [m].

        Raises:
            CrowdError: if a number is not finite, or there are no bounds.
        """
        rows = owned(np.asarray(segments, dtype=np.float64).reshape(-1, 4), "walls", (None, 4), error=CrowdError)
        if bounds is None:
            if not len(rows):
                raise CrowdError("a crowd without walls and bounds; write bounds: xmin, ymin, xmax, ymax in metres")
            ends = rows.reshape(-1, 2)
            low, high = ends.min(axis=0) - margin, ends.max(axis=0) + margin
            bounds = (*low.tolist(), *high.tolist())
        x0, y0, x1, y1 = (float(v) for v in bounds)
        if not (np.isfinite([x0, y0, x1, y1]).all() and x0 < x1 and y0 < y1):
            raise CrowdError(f"bounds {tuple(bounds)} of a crowd; write xmin, ymin, xmax, ymax with xmin < xmax")
        return Walls((x0, y0, x1, y1), tuple(Footprint.of_rings([row.reshape(2, 2)]) for row in rows))

    def depths(self, points: npt.ArrayLike) -> FloatArray:
        """Return the distance of points (N, 2) from walls and bounds [m]; negative inside of them."""
        points = np.asarray(points, dtype=np.float64).reshape(-1, 2)
        x0, y0, x1, y1 = self.bounds
        (x, y) = points.T
        room = np.minimum.reduce([x - x0, x1 - x, y - y0, y1 - y])
        filled = [outline for outline in self.outlines if not outline.empty]
        return np.minimum(room, footprint_distance(filled, points)) if filled and len(points) else room

    def segments(self) -> FloatArray:
        """Return all edges: x and y of the middle, direction x and y, half length, rounding [m]; (S, 6)."""
        return edges_of([*self.outlines, _frame(self.bounds)])


def mover_outlines(world: World, time: float) -> list[Footprint]:
    """Return the outlines of what moves in a world, at a time [s]."""
    return _outlines(world, world.at(time).moved)


def moving_edges(world: World, time: float) -> tuple[FloatArray, FloatArray]:
    """Return what moves in a world at a time [s].

    Returns:
        Edges as `Walls.segments` has them (S, 6), and how fast their middles go [m/s] (S, 2).
    """
    edges, velocities = [np.empty((0, 6))], [np.empty((0, 2))]
    for mover in world.movers:
        own = edges_of(_outlines(world, [mover.at(time)]))
        now, soon = mover.pose([time, time + _MOMENT])
        x, y, turn = ((soon - now) / _MOMENT).tolist()
        away = own[:, :2] - now[:2]
        edges.append(own)
        velocities.append(np.column_stack([x - turn * away[:, 1], y + turn * away[:, 0]]))
    others = edges_of(_outlines(world, world.at(time).moved[len(world.movers) :]))  # lifts and treads
    return np.concatenate([*edges, others]), np.concatenate([*velocities, np.zeros((len(others), 2))])


def edges_of(outlines: Sequence[Footprint]) -> FloatArray:
    """Return the edges of outlines as `Walls.segments` does."""
    rows = []
    for outline in outlines:
        for ring in outline.rings:
            after = np.roll(ring, -1, axis=0) if len(ring) > 2 else ring[-1:]
            before = ring if len(ring) > 2 else ring[:1]
            middle, half = 0.5 * (before + after), 0.5 * (after - before)
            length = np.hypot(*half.T)
            way = np.where(length[:, None] > 1e-9, half / np.maximum(length, 1e-9)[:, None], (1.0, 0.0))
            rows.append(np.column_stack([middle, way, length, np.full(len(length), outline.radius)]))
    return np.concatenate([np.empty((0, 6)), *rows])


@dataclass(frozen=True, eq=False)
class WallHash:
    """Edges of walls by cell; read-only arrays for the kernels."""

    place: FloatArray
    """x and y of the corner of the cells [m], cells in a metre; (3,)."""
    shape: tuple[int, int]
    """Number of cells along x and y."""
    edges: FloatArray
    """See `Walls.segments`; (S, 6)."""
    starts: IntArray
    """First entry of each cell in `entries`; (cells + 1,)."""
    entries: IntArray
    """Edges of each cell, in rising order; (E,)."""
    velocities: FloatArray
    """How fast edges go, 0 for those that stand [m/s]; (S, 2)."""

    @staticmethod
    def of(edges: FloatArray, bounds: Bounds, reach: float) -> WallHash:
        """Sort edges into all cells that they come within a reach of [m]."""
        x0, y0, x1, y1 = bounds
        cell = max(HASH_CELL, float(np.sqrt((x1 - x0) * (y1 - y0) / MAX_HASH_CELLS)))
        shape = (int((x1 - x0) / cell) + 1, int((y1 - y0) / cell) + 1)
        none = WallHash(
            place=read_only(np.array([x0, y0, 1.0 / cell])),
            shape=shape,
            edges=np.empty((0, 6)),
            starts=np.zeros(shape[0] * shape[1] + 1, np.int64),
            entries=np.empty(0, np.int64),
            velocities=np.empty((0, 2)),
        )
        return none.joined(edges, reach)

    def joined(self, edges: FloatArray, reach: float, velocities: FloatArray | None = None) -> WallHash:
        """Return these edges and more of them.

        Args:
            edges: the others; (S, 6).
            reach: they are sorted into all cells that they come within this distance of [m].
            velocities: how fast these go [m/s]; (S, 2). None if they stand.
        """
        x0, y0, cell, shape = float(self.place[0]), float(self.place[1]), 1.0 / float(self.place[2]), self.shape
        cells = [np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))]
        which = [self.entries]
        for number, (x, y, ux, uy, half, radius) in enumerate(edges.tolist(), start=len(self.edges)):
            wide = reach + radius
            dx, dy = abs(ux) * half + wide, abs(uy) * half + wide
            i = np.arange(max(int((x - dx - x0) / cell), 0), min(int(max(x + dx - x0, -cell) / cell), shape[0] - 1) + 1)
            j = np.arange(max(int((y - dy - y0) / cell), 0), min(int(max(y + dy - y0, -cell) / cell), shape[1] - 1) + 1)
            ii, jj = (a.ravel() for a in np.meshgrid(i, j, indexing="ij"))
            # a cell counts if its middle is within the reach and half a diagonal of the edge
            mx, my = x0 + (ii + 0.5) * cell - x, y0 + (jj + 0.5) * cell - y
            along = np.clip(mx * ux + my * uy, -half, half)
            near = np.hypot(mx - along * ux, my - along * uy) <= wide + 0.7072 * cell
            cells.append((ii * shape[1] + jj)[near])
            which.append(np.full(int(near.sum()), number))
        flat = np.concatenate([np.empty(0, np.int64), *cells]).astype(np.int64)
        order = np.argsort(flat, kind="stable")
        counts = np.bincount(flat, minlength=shape[0] * shape[1])
        return WallHash(
            place=self.place,
            shape=shape,
            edges=read_only(np.concatenate([self.edges, edges])),
            starts=read_only(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)),
            entries=read_only(np.concatenate([np.empty(0, np.int64), *which]).astype(np.int64)[order]),
            velocities=read_only(
                np.concatenate([self.velocities, np.zeros((len(edges), 2)) if velocities is None else velocities])
            ),
        )

    def moving(self) -> WallHash | None:
        """Return these edges without those that stand in the cells; None if all of them stand."""
        goes = np.asarray(self.velocities.any(axis=1))
        if not goes.any():
            return None
        kept = goes[self.entries]
        starts = np.concatenate([[0], np.cumsum(kept)])[self.starts]
        return replace(self, starts=read_only(starts.astype(np.int64)), entries=read_only(self.entries[kept]))


def _frame(bounds: Bounds) -> Footprint:
    x0, y0, x1, y1 = bounds
    return Footprint.of_rings([[(x0, y0), (x1, y0), (x1, y1), (x0, y1)]])


def _outlines(world: World, obstacles: Sequence[Obstacle]) -> list[Footprint]:
    solid = [obstacle for obstacle in obstacles if obstacle.kind != PASSABLE]
    found = [body_footprint(obstacle.shape, world.terrain, BODY_BAND, 0.0) for obstacle in solid]
    return [outline for outline in found if not outline.empty]


def _steep_outlines(world: World) -> list[Footprint]:
    """Return the outlines of ground that is too steep to walk on."""
    if world.terrain is None:
        return []
    x0, y0, x1, y1 = world.bounds
    cell = max(_STEEP_CELL, float(np.sqrt((x1 - x0) * (y1 - y0) / _MAX_STEEP_CELLS)))
    spec = GridSpec.covering(world.bounds, cell)
    steep = np.pad(steepness(world.terrain, spec) > WALKED, ((0, 0), (1, 1)))
    # runs of steep cells in a row, then all of them as one shape
    row, begin = np.nonzero(steep[:, 1:] & ~steep[:, :-1])
    end = np.nonzero(steep[:, :-1] & ~steep[:, 1:])[1]
    left, low = spec.origin[0] + begin * cell, spec.origin[1] + row * cell
    runs = shapely.box(left, low, spec.origin[0] + end * cell, low + cell)
    shape = shapely.simplify(united(runs), 0.5 * cell)
    parts = [part for part in shapely.get_parts(shape) if part.geom_type == "Polygon" and not part.is_empty]
    return [
        Footprint.of_rings([np.array(ring.coords)[:-1] for ring in (part.exterior, *part.interiors)]) for part in parts
    ]
