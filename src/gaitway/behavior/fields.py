"""What a search has to know of a world: distances to what is in the way, parts of free space, special obstacles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from gaitway.arrays import BoolArray, FloatArray, IntArray, read_only
from gaitway.world import _clearance_kernels
from gaitway.world.body_band import BODY_BAND, Band
from gaitway.world.clearance import Components
from gaitway.world.exact import footprint_distance
from gaitway.world.grid import GridSpec
from gaitway.world.mover import Mover
from gaitway.world.obstacle import PASSABLE, Obstacle
from gaitway.world.occupancy import MaskArray, Occupancy, layer_kinds
from gaitway.world.raster import rasterise
from gaitway.world.regions import BEHAVIOR_KINDS, Reach, near, obstruction
from gaitway.world.world import World

CELL = 0.05
"""Side of a cell [m] where a world is not too large for it."""
MAX_CELLS = 4_000_000
"""Cells of a grid whose side is chosen by itself."""
OVERHANG = 0.1
"""How far a body may lean out over the bounds [m]; its root, which is deeper inside, never leaves."""
_THINNEST = 0.1
"""No body is thinner around its root [m]."""

Distances = npt.NDArray[np.float32]
Labels = npt.NDArray[np.int32]


class SpecialArrays(NamedTuple):
    """Special obstacles as plain arrays, by kind; S obstacles, R rings, N points. All are read-only."""

    kind_starts: IntArray
    """First obstacle of each kind, and S at the end; (K + 1,)."""
    ring_starts: IntArray
    """First ring of each obstacle, and R at the end; (S + 1,)."""
    point_starts: IntArray
    """First point of each ring, and N at the end; (R + 1,)."""
    points: FloatArray
    """Corners of the footprints [m]; (N, 2)."""
    solids: FloatArray
    """Rounding of the footprint, bottom and top over the ground [m], time from which and until which it is there [s];
    (S, 5)."""
    circles: FloatArray
    """A circle around each footprint (x, y, radius) [m]; (S, 3)."""


class FieldArrays(NamedTuple):
    """What the search kernel sees of a world; all arrays are read-only."""

    clearances: Distances
    """Distance [m] that every point of a cell keeps at least; (fields, rows, columns)."""
    field_of: IntArray
    """Which of them holds for a body that nothing lets pass, and then for one that passes each kind; (K + 1,)."""
    place: FloatArray
    """x and y of the lower left corner [m], and cells in a metre; (3,)."""
    near: MaskArray
    """Bit k where motions that pass kind k may begin; (rows, columns), or (1, 1) where nothing can be passed."""
    labels: Labels
    """Parts of free space for the root, 0 where it cannot be; (rows, columns)."""
    specials: SpecialArrays


@dataclass(frozen=True, eq=False)
class WorldFields:
    """A world prepared for the bodies of a library; made by `of`."""

    world: World
    spec: GridSpec
    """Where the cells lie: the world and a ring of cells around it that nobody may enter."""
    kinds: tuple[str, ...]
    """Special kinds of obstacle that occur, movers' phases included; (K,)."""
    arrays: FieldArrays
    specials: tuple[Obstacle, ...]
    """The special obstacles in the order of `arrays.specials`."""
    parts: Components
    """Free space for the root by what hangs together; it errs on the hopeful side."""
    troubles: dict[int, str]
    """Special obstacles that the library cannot pass, by their index in `world.obstacles`, with the reason."""

    @staticmethod
    def of(
        world: World,
        reaches: Sequence[Reach] = (),
        cell: float | GridSpec | None = None,
        *,
        band: Band = BODY_BAND,
        max_slope: float | None = None,
        who: str = "the library",
    ) -> WorldFields:
        """Prepare a world.

        Args:
            world: its movers are left out, but for phases in which one rests and is a special obstacle.
            reaches: what the library gets past (`library.reach.reaches`).
            cell: side of a cell [m], or the whole grid; None takes 5 cm, or more where the world is large.
            band: heights over the ground [m] between which something is in the way.
            max_slope: ground that is steeper [rad] is a wall.
            who: name of the library, for the reasons.
        """
        spec = cell if isinstance(cell, GridSpec) else _spec(world, cell)
        x0, y0, x1, y1 = world.bounds
        wider = replace(world, bounds=(x0 - OVERHANG, y0 - OVERHANG, x1 + OVERHANG, y1 + OVERHANG), movers=())
        grid = Occupancy.of(wider, spec, 0.0, band=band, max_slope=max_slope)
        resting = [(b, e, o) for mover in world.movers for b, e, o in resting_phases(mover) if o.special]
        kinds = tuple(kind for kind in layer_kinds(world)[1:])
        listed = [(-np.inf, np.inf, o) for o in world.obstacles if o.special] + resting
        listed.sort(key=lambda entry: kinds.index(entry[2].kind))
        troubles = {i: reason for i, o in enumerate(world.obstacles)
                    if (reason := obstruction(o, reaches, who, ground=_ground(world, o)[0])) is not None}  # fmt: skip
        static_kinds = {o.kind for o in world.obstacles}
        passing = [kind for kind in kinds if kind in static_kinds]
        clearances = np.stack([_distances(grid, ()), *(_distances(grid, (kind,)) for kind in passing)])
        clearances.setflags(write=False)
        parts = _parts(grid, clearances[0], world, set(troubles), passing)
        arrays = FieldArrays(
            clearances=clearances,
            field_of=_whole([0, *(1 + passing.index(kind) if kind in passing else 0 for kind in kinds)]),
            place=_real([*spec.origin, 1.0 / spec.cell]),
            near=_near(world, spec, kinds, [o for _, _, o in listed], reaches),
            labels=parts.labels,
            specials=_specials(world, kinds, listed),
        )
        return WorldFields(world, spec, kinds, arrays, tuple(o for _, _, o in listed), parts, troubles)

    def clearance(self, points: npt.ArrayLike, passing: str | None = None) -> Distances:
        """Distance [m] (...) that points (..., 2) keep at least from all that is in the way; 0 beyond the grid."""
        cells = self.spec.cells(points)
        inside = self.spec.contains(cells)
        row, column = np.moveaxis(np.where(inside[..., None], cells, 0), -1, 0)
        field = self.arrays.field_of[0 if passing is None else 1 + self.kinds.index(passing)]
        return np.where(inside, self.arrays.clearances[field][row, column], np.float32(0.0))

    def blame(self, points: FloatArray, passing: Iterable[str] = ()) -> list[str]:
        """What is nearest to each of some points (N, 2): an obstacle's name, "bounds", or what cannot be passed."""
        points, allowed = np.asarray(points, dtype=np.float64).reshape(-1, 2), (PASSABLE, *passing)
        x0, y0, x1, y1 = self.world.bounds
        x, y = points.T
        names, distances = ["bounds"], [np.maximum(np.minimum.reduce([x - x0, x1 - x, y - y0, y1 - y]), 0.0)]
        for index, obstacle in enumerate(self.world.obstacles):
            if obstacle.kind in allowed:
                continue
            names.append(self.label(index))
            distances.append(footprint_distance([obstacle.shape.footprint()], points))
        return [names[k] for k in np.argmin(np.stack(distances), axis=0)]

    def label(self, index: int) -> str:
        """How a message calls an obstacle of the world."""
        obstacle = self.world.obstacles[index]
        name = obstacle.name or f"{obstacle.kind} {index}"
        return f"no behaviour passes a {obstacle.kind} ('{name}')" if index in self.troubles else name

    def passed_kind(self, behavior_kind: str) -> int:
        """Number of the kind of obstacle that behaviours of a kind pass, or -1 if none occurs here."""
        for number, kind in enumerate(self.kinds):
            if behavior_kind in BEHAVIOR_KINDS.get(kind, (kind,)):
                return number
        return -1


def resting_phases(mover: Mover) -> Iterator[tuple[float, float, Obstacle]]:
    """What a mover is while it stays where it is: from when, until when [s], and the obstacle."""
    times = [-np.inf, *mover.times.tolist(), np.inf]
    starts = [-np.inf, *(phase.start for phase in mover.phases[1:]), np.inf]
    poses = [mover.poses[0], *mover.poses, mover.poses[-1]]
    spans: list[tuple[float, float]] = []
    for k in range(len(times) - 1):
        if np.array_equal(poses[k], poses[k + 1]):
            joined = bool(spans) and spans[-1][1] == times[k]
            spans[-1:] = [(spans[-1][0], times[k + 1])] if joined else [*spans[-1:], (times[k], times[k + 1])]
    for number, phase in enumerate(mover.phases):
        for begin, end in spans:
            low, high = max(begin, starts[number]), min(end, starts[number + 1])
            if low < high:
                middle = float(np.clip(0.0, low, high)) if np.isinf([low, high]).any() else 0.5 * (low + high)
                shape = phase.shape.placed(mover.pose(middle))
                yield low, high, Obstacle(shape, phase.kind, mover.name, mover.color)


def _spec(world: World, cell: float | None) -> GridSpec:
    """The grid of a world: its bounds, what may lean out over them, and a ring of cells that nobody may enter."""
    x0, y0, x1, y1 = world.bounds
    if cell is None:
        cell = max(CELL, float(np.sqrt((x1 - x0) * (y1 - y0) / MAX_CELLS)))
    room = OVERHANG + cell
    return GridSpec.covering((x0 - room, y0 - room, x1 + room, y1 + room), cell)


def _distances(grid: Occupancy, passing: tuple[str, ...]) -> Distances:
    """Distance [m] between the closed square of each cell and that of the nearest covered cell.

    That is what the middles of cells are apart from a covered set that is one cell wider all around.
    """
    covered = (grid.mask & np.uint16(0xFFFF & ~grid.bits(*passing))) != 0
    covered[[0, -1]] = True
    covered[:, [0, -1]] = True
    wider = _widened(_widened(covered).T).T
    rows, columns = covered.shape
    out = np.empty(covered.shape, dtype=np.float32)
    halves = read_only(0.5 / np.maximum(np.arange(columns + 1), 1))
    whole = (0, 0, rows, columns)
    mask: MaskArray = np.ascontiguousarray(wider, dtype=np.uint16)
    mask.setflags(write=False)
    _clearance_kernels.clearance(mask, 1, whole, whole, rows + columns, halves, grid.spec.cell, np.inf, out)
    return out


def _widened(covered: BoolArray) -> BoolArray:
    """Covered where a cell or its neighbour in the row before or after is."""
    out = covered.copy()
    out[1:] |= covered[:-1]
    out[:-1] |= covered[1:]
    return out


def _parts(grid: Occupancy, clearance: Distances, world: World, closed: set[int], passing: Sequence[str]) -> Components:
    """Parts of space for the thinnest body, to which obstacles that the library passes are no hindrance."""
    bits = np.uint16(0xFFFF & ~grid.bits(*passing))
    free = (grid.mask & bits) == 0
    for index in closed:
        for row, first, end in rasterise(world.obstacles[index].shape.footprint(), grid.spec):
            free[row, first:end] = False
    (x, y), (rows, columns), side = grid.spec.origin, grid.spec.shape, grid.spec.cell
    across, along = y + side * (np.arange(rows) + 0.5), x + side * (np.arange(columns) + 0.5)
    x0, y0, x1, y1 = world.bounds
    free[(across < y0) | (across > y1)] = False
    free[:, (along < x0) | (along > x1)] = False
    least = _THINNEST - 2.0 * np.sqrt(2.0) * side
    if least > 0.0:
        free &= (clearance >= least) | ((grid.mask & ~bits) != 0)
    labels, count = scipy.ndimage.label(free, structure=np.ones((3, 3)))
    labels.setflags(write=False)
    return Components(grid.spec, labels, int(count))


def _ground(world: World, obstacle: Obstacle) -> tuple[float, float]:
    """Lowest and highest ground under the outline of an obstacle [m]."""
    points = obstacle.shape.footprint().points
    heights = world.ground(points) if len(points) else np.zeros(1)
    return float(heights.min()), float(heights.max())


def _near(
    world: World, spec: GridSpec, kinds: Sequence[str], obstacles: Sequence[Obstacle], reaches: Sequence[Reach]
) -> MaskArray:
    """Bits of the kinds whose motions may begin in each cell."""
    out = np.zeros(spec.shape if obstacles else (1, 1), dtype=np.uint16)
    for obstacle in obstacles:
        region = near(obstacle, reaches, ground=_ground(world, obstacle)[0])
        if region is not None:
            for row, first, end in rasterise(region.footprint, spec, max(region.farthest, 0.0)):
                out[row, first:end] |= np.uint16(1 << kinds.index(obstacle.kind))
    out.setflags(write=False)
    return out


def _specials(world: World, kinds: Sequence[str], listed: Sequence[tuple[float, float, Obstacle]]) -> SpecialArrays:
    points, counts, rings, solids, circles = [np.empty((0, 2))], [0], [0], [], []
    for begin, end, obstacle in listed:
        footprint = obstacle.shape.footprint()
        low, high = _ground(world, obstacle)
        bottom, top = obstacle.shape.heights
        points.append(footprint.points)
        counts.extend(len(ring) for ring in footprint.rings)
        rings.append(len(footprint.rings))
        solids.append((footprint.radius, bottom - high, top - low, begin, end))
        middle = 0.5 * (footprint.points.min(axis=0) + footprint.points.max(axis=0))
        reach = float(np.hypot(*(footprint.points - middle).T).max()) + footprint.radius
        circles.append((*middle.tolist(), reach))
    of_kind = [kinds.index(obstacle.kind) for _, _, obstacle in listed]
    return SpecialArrays(
        kind_starts=_whole(np.searchsorted(of_kind, np.arange(len(kinds) + 1))),
        ring_starts=_whole(np.cumsum(rings)),
        point_starts=_whole(np.cumsum(counts)),
        points=_real(np.concatenate(points)),
        solids=_real(np.array(solids).reshape(-1, 5)),
        circles=_real(np.array(circles).reshape(-1, 3)),
    )


def _whole(values: npt.ArrayLike) -> IntArray:
    return read_only(np.array(values, dtype=np.int64))


def _real(values: npt.ArrayLike) -> FloatArray:
    return read_only(np.array(values, dtype=np.float64))
