"""Fields of a world that searches read: distances to obstacles, parts of free space, special obstacles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy
import shapely

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import BoolArray, FloatArray, IntArray, read_only
from gaitway.space import _distance_kernels, distances
from gaitway.space._area_kernels import AreaArrays
from gaitway.space._distance_kernels import Squares
from gaitway.space.areas import NO_AREAS, AreaGrid, area_grid
from gaitway.space.plan import NOT_PASSED
from gaitway.space.slopes import steepest_passed, steepness
from gaitway.world.clearance import Components
from gaitway.world.footprint import Footprint, Outlines, drawn_geometry
from gaitway.world.grid import Bounds, GridSpec, rasterise
from gaitway.world.obstacle import PASSABLE, WALL, Mover, Obstacle
from gaitway.world.occupancy import BODY_BAND, NOTHING, Band, MaskArray, body_footprint, layer_kinds
from gaitway.world.regions import BEHAVIOR_KINDS, Reach, near, obstruction, reaches_for
from gaitway.world.world import World

CELL = 0.05
"""Cell size in worlds that are not too large for it [m]."""
MAX_CELLS = 4_000_000
"""Most cells of a grid whose cell size is chosen automatically."""
OVERHANG = 0.1
"""How far a body may lean out over the bounds [m]; its root stays inside."""
_THINNEST = 0.1
"""Least radius of a body around its root [m]."""

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
    """A world as kernels see it; all arrays are read-only."""

    squares: Squares
    """Squared distance of each cell's centre from obstacles [m^2], see `distances`; (fields, rows, columns)."""
    field_of: IntArray
    """The field for a body that passes nothing, and then the fields for bodies that pass each kind; (K + 1,)."""
    place: FloatArray
    """x and y of the lower left corner [m], cells in a metre, and the square of a cell's side [m^2]; (4,)."""
    near: MaskArray
    """Bit k where motions that pass kind k may begin; (rows, columns), or (1, 1) where nothing can be passed."""
    labels: Labels
    """Parts of free space for the root, 0 where it cannot be; (rows, columns)."""
    specials: SpecialArrays
    areas: AreaArrays
    """Ground that is dear or cheap, and rules of how to walk there."""


@dataclass(frozen=True, eq=False)
class WorldFields:
    """A world prepared for the bodies of a library; made by `of`."""

    world: World
    spec: GridSpec
    """Grid of the cells: the world, and a closed ring of cells around it."""
    kinds: tuple[str, ...]
    """Special kinds of obstacle that occur, movers' phases included; (K,)."""
    arrays: FieldArrays
    specials: tuple[Obstacle, ...]
    """The special obstacles in the order of `arrays.specials`."""
    parts: Components
    """Connected parts of the free space of the root; an optimistic estimate."""
    troubles: dict[int, str]
    """Special obstacles that the library cannot pass, by their index in `world.obstacles`, with the reason."""
    run_ups: dict[int, float]
    """Least distance at which a motion may begin from a special obstacle that it passes as a whole [m], by the
    obstacle's index."""
    areas: AreaGrid = NO_AREAS
    """Areas of the world over a grid."""

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
            world: world; its movers are left out, except for phases in which one rests and is a special obstacle.
            reaches: obstacles that the library can pass (`library.reach.reaches`).
            cell: side of a cell [m], or the whole grid; None takes 5 cm, or more where the world is large.
            band: heights over the ground [m] between which an obstacle blocks.
            max_slope: greatest slope of the ground [rad]; steeper ground is a wall (`slopes.steepness`). None for no
                limit.
            who: name of the library, for the reasons in messages.
        """
        spec = cell if isinstance(cell, GridSpec) else _spec(world, cell)
        outlines = [_in_the_way(world, o, band) for o in world.obstacles]
        resting = [(b, e, o) for mover in world.movers for b, e, o in resting_phases(mover) if o.special]
        kinds = tuple(kind for kind in layer_kinds(world)[1:])
        listed = [(-np.inf, np.inf, o) for o in world.obstacles if o.special] + resting
        listed.sort(key=lambda entry: kinds.index(entry[2].kind))
        troubles = {i: reason for i, o in enumerate(world.obstacles)
                    if (reason := obstruction(o, reaches, who, ground=_ground(world, o)[0])) is not None}  # fmt: skip
        passing = [kind for kind in kinds if any(o.kind == kind for o in world.obstacles)]
        layers = {kind: _layer(world, outlines, kind, spec) for kind in (WALL, *passing)}
        steep = _steep(world, passing, max_slope, spec)
        layers[WALL] = np.minimum(layers[WALL], steep.pop(WALL, layers[WALL]))
        squares = np.stack([_squares(layers, kind, steep.get(kind), world.bounds, spec) for kind in (None, *passing)])
        squares.setflags(write=False)
        closed = distances.near_squares(Outlines.of([outlines[index] for index in troubles]), spec)
        parts = _parts(np.minimum(layers[WALL], closed), world.bounds, spec)
        areas = area_grid(world.areas, world.bounds, _sides(world, outlines))
        arrays = FieldArrays(
            squares=squares,
            field_of=_whole([0, *(1 + passing.index(kind) if kind in passing else 0 for kind in kinds)]),
            place=distances.place(spec),
            near=_near(world, spec, kinds, [o for _, _, o in listed], reaches),
            labels=parts.labels,
            specials=_specials(world, kinds, listed),
            areas=areas.arrays,
        )
        return WorldFields(
            world=world,
            spec=spec,
            kinds=kinds,
            arrays=arrays,
            specials=tuple(o for _, _, o in listed),
            parts=parts,
            troubles=troubles,
            run_ups=_run_ups(world, reaches),
            areas=areas,
        )

    @cached_property
    def handle(self) -> ArrayHandle[FieldArrays]:
        """The arrays for the search kernel."""
        return ArrayHandle(self.arrays)

    def clearance(self, points: npt.ArrayLike, passing: str | None = None) -> FloatArray:
        """Return a lower bound of the distance of points (..., 2) to all obstacles [m]; 0 outside the grid."""
        field = self.arrays.field_of[0 if passing is None else 1 + self.kinds.index(passing)]
        return distances.looked_up(self.arrays.squares[field], self.spec, points)

    def roomy(self, radius: float) -> BoolArray:
        """Return the cells that may hold a point which keeps a radius [m] from obstacles; (fields, rows, columns)."""
        return distances.roomy(self.arrays.squares, radius, self.spec)

    def blame(self, points: FloatArray, passing: Iterable[str] = ()) -> list[str]:
        """Return what is nearest to each point (N, 2): an obstacle's name, "bounds", or what cannot be passed."""
        points, allowed = np.asarray(points, dtype=np.float64).reshape(-1, 2), (PASSABLE, *passing)
        obstacles = [index for index, obstacle in enumerate(self.world.obstacles) if obstacle.kind not in allowed]
        outlines = Outlines.of([self.world.obstacles[index].shape.footprint() for index in obstacles])
        (x, y), (x0, y0, x1, y1) = points.T, self.world.bounds
        away = np.maximum(np.minimum.reduce([x - x0, x1 - x, y - y0, y1 - y]), 0.0)
        which = np.full(len(points), -1)
        _distance_kernels.nearest(*outlines, read_only(points), which, away)
        return ["bounds" if k < 0 else self.label(obstacles[k]) for k in which.tolist()]

    def label(self, index: int) -> str:
        """Return the name of an obstacle in messages."""
        name = self.name(index)
        return f"{NOT_PASSED} a {self.world.obstacles[index].kind} ('{name}')" if index in self.troubles else name

    def special_name(self, which: int) -> str:
        """Return the name of one of `specials`, as `name` has it; some of them are movers that rest."""
        special = self.specials[which]
        own = (self.name(k) for k, obstacle in enumerate(self.world.obstacles) if obstacle is special)
        return next(own, special.name or special.kind)

    def name(self, index: int) -> str:
        """Return the name of an obstacle, or its kind and number if it has none."""
        obstacle = self.world.obstacles[index]
        return obstacle.name or f"{obstacle.kind} {index}"

    def passed_kind(self, behavior_kind: str) -> int:
        """Return the number of the kind of obstacle that behaviours of a kind pass, or -1 if none is here."""
        for number, kind in enumerate(self.kinds):
            if behavior_kind in BEHAVIOR_KINDS.get(kind, (kind,)):
                return number
        return -1


def resting_phases(mover: Mover) -> Iterator[tuple[float, float, Obstacle]]:
    """Return what a mover is while it rests: from when, until when [s], and the obstacle."""
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
    """Return the grid of a world: its bounds, a margin for leaning bodies, and a closed ring of cells."""
    x0, y0, x1, y1 = world.bounds
    if cell is None:
        cell = max(CELL, float(np.sqrt((x1 - x0) * (y1 - y0) / MAX_CELLS)))
    room = OVERHANG + cell
    return GridSpec.covering((x0 - room, y0 - room, x1 + room, y1 + room), cell)


def _in_the_way(world: World, obstacle: Obstacle, band: Band) -> Footprint:
    return NOTHING if obstacle.kind == PASSABLE else body_footprint(obstacle.shape, world.terrain, band, 0.0)


def _layer(world: World, outlines: Sequence[Footprint], kind: str, spec: GridSpec) -> Squares:
    """Return the squared distances from the obstacles of one kind [m^2]."""
    own = [outline for outline, obstacle in zip(outlines, world.obstacles, strict=True) if obstacle.kind == kind]
    return distances.near_squares(Outlines.of(own), spec)


def _squares(
    layers: Mapping[str, Squares], passing: str | None, steep: Squares | None, bounds: Bounds, spec: GridSpec
) -> Squares:
    """Return the squared distances from all kinds but one, and from ground on which that one cannot be passed [m^2]."""
    x0, y0, x1, y1 = bounds
    room = (x0 - OVERHANG, y0 - OVERHANG, x1 + OVERHANG, y1 + OVERHANG)
    near = [layer for kind, layer in layers.items() if kind != passing]
    return distances.squares(near if steep is None else [*near, steep], room, spec)


def _steep(world: World, passing: Sequence[str], max_slope: float | None, spec: GridSpec) -> dict[str | None, Squares]:
    """Return squared distances from ground too steep to walk on (WALL) and to pass obstacles of each kind on [m^2]."""
    if world.terrain is None or max_slope is None:
        return {}
    slope = steepness(world.terrain, spec)
    limits: dict[str | None, float] = {WALL: max_slope, **{kind: steepest_passed(kind) for kind in passing}}
    return {kind: distances.near_squares_of_cells(slope > most, spec) for kind, most in limits.items()}


def _parts(closed: Squares, bounds: Bounds, spec: GridSpec) -> Components:
    """Return the connected parts of space for the thinnest body.

    Args:
        closed: squared distance from what no body passes [m^2].
        bounds: bounds of the world.
        spec: the cells.
    """
    free = distances.roomy(closed, _THINNEST, spec)
    (x, y), (rows, columns), side = spec.origin, spec.shape, spec.cell
    across, along = y + side * (np.arange(rows) + 0.5), x + side * (np.arange(columns) + 0.5)
    x0, y0, x1, y1 = bounds
    free[(across < y0) | (across > y1)] = False
    free[:, (along < x0) | (along > x1)] = False
    labels, count = scipy.ndimage.label(free, structure=np.ones((3, 3)))
    labels.setflags(write=False)
    return Components(spec, labels, int(count))


def _sides(world: World, outlines: Sequence[Footprint]) -> list[shapely.Geometry]:
    """Return what stands where people keep to a side."""
    if not any(area.keep for area in world.areas):
        return []
    return [drawn_geometry(outline) for outline in outlines if not outline.empty]


def _ground(world: World, obstacle: Obstacle) -> tuple[float, float]:
    """Return the heights of the lowest and the highest ground under the outline of an obstacle [m]."""
    points = obstacle.shape.footprint().points
    heights = world.ground(points) if len(points) else np.zeros(1)
    return float(heights.min()), float(heights.max())


def _near(
    world: World, spec: GridSpec, kinds: Sequence[str], obstacles: Sequence[Obstacle], reaches: Sequence[Reach]
) -> MaskArray:
    """Return, for each cell, the bits of the kinds whose motions may begin there."""
    out = np.zeros(spec.shape if obstacles else (1, 1), dtype=np.uint16)
    for obstacle in obstacles:
        region = near(obstacle, reaches, ground=_ground(world, obstacle)[0])
        if region is not None:
            for row, first, end in rasterise(region.footprint, spec, max(region.farthest, 0.0)):
                out[row, first:end] |= np.uint16(1 << kinds.index(obstacle.kind))
    out.setflags(write=False)
    return out


def _run_ups(world: World, reaches: Sequence[Reach]) -> dict[int, float]:
    """Return the least distance from a special obstacle at which a motion that passes it may begin [m], by index."""
    passed = {i: near(o, reaches, ground=_ground(world, o)[0]) for i, o in enumerate(world.obstacles)
              if o.special and all(reach.edge is None for reach in reaches_for(o, reaches))}  # fmt: skip
    return {index: region.nearest for index, region in passed.items() if region is not None}


def _specials(world: World, kinds: Sequence[str], listed: Sequence[tuple[float, float, Obstacle]]) -> SpecialArrays:
    outlines = Outlines.of([obstacle.shape.footprint() for _, _, obstacle in listed])
    solids, circles = [], []
    for begin, end, obstacle in listed:
        footprint = obstacle.shape.footprint()
        low, high = _ground(world, obstacle)
        bottom, top = obstacle.shape.heights
        solids.append((footprint.radius, bottom - high, top - low, begin, end))
        middle = 0.5 * (footprint.points.min(axis=0) + footprint.points.max(axis=0))
        reach = float(np.hypot(*(footprint.points - middle).T).max()) + footprint.radius
        circles.append((*middle.tolist(), reach))
    of_kind = [kinds.index(obstacle.kind) for _, _, obstacle in listed]
    return SpecialArrays(
        kind_starts=_whole(np.searchsorted(of_kind, np.arange(len(kinds) + 1))),
        ring_starts=outlines.group_starts,
        point_starts=outlines.ring_starts,
        points=outlines.points,
        solids=_real(np.array(solids).reshape(-1, 5)),
        circles=_real(np.array(circles).reshape(-1, 3)),
    )


def _whole(values: npt.ArrayLike) -> IntArray:
    return read_only(np.array(values, dtype=np.int64))


def _real(values: npt.ArrayLike) -> FloatArray:
    return read_only(np.array(values, dtype=np.float64))
