"""Open spans: where a character can stand in a place of any geometry, cell by cell, at any number of heights.

The geometry is cut into upright columns, one for each cell of a grid. Matter fills spans of heights in each column. On
top of such a span a character can stand if the surface is not too steep and if there is head-room above. This is an
open span. Open spans beside one another are linked where a step leads from one to the other. Crude geometry does no
harm: triangles that overlap, repeat, leave cracks or lie upside down give the same spans.

This is how Recast (Mononen 2009) finds the walkable surface of a level, with exact heights in place of voxels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.core.errors import WorldError
from gaitway.world.grid import Bounds, GridSpec, rasterise_all
from gaitway.world.levels import _sheet_kernels, _span_kernels
from gaitway.world.shapes import Prism, Shape
from gaitway.world.surface import surface, terrain_surface
from gaitway.world.world import World

MAX_SPANS = 50_000_000
"""Most spans of triangles in cells that are sorted at once."""
_GAP = 1e-3
"""Distance of surfaces that count as touching [m]."""


@dataclass(frozen=True)
class WalkLimits:
    """What a character needs to stand and to step."""

    radius: float = 0.3
    """Radius of the body [m]."""
    headroom: float = 1.9
    """Least height of the space over the ground [m]."""
    step: float = 0.25
    """Greatest step up or down [m]."""
    slope: float = math.radians(35.0)
    """Greatest slope of the ground [rad]."""

    def __post_init__(self) -> None:
        for name in ("radius", "headroom", "step"):
            if not (math.isfinite(value := getattr(self, name)) and value > 0.0):
                raise WorldError(f"{name} {value:g}; write a length above 0 in metres")
        if not 0.0 < self.slope < 0.5 * math.pi:
            raise WorldError(f"slope {math.degrees(self.slope):g} degrees; write an angle between 0 and 90")


@dataclass(frozen=True, eq=False)
class Geometry:
    """What a place is made of, ready to be cut into columns."""

    corners: FloatArray
    """Corners of triangles [m]; (T, 3, 3)."""
    facing: FloatArray
    """Cosine between the upper side of each triangle and the vertical; 1 is level, 0 or less is no ground; (T,)."""
    solids: tuple[Prism, ...] = ()
    """Upright solids; nobody is inside."""

    @property
    def bounds(self) -> Bounds:
        """xmin, ymin, xmax, ymax [m].

        Raises:
            WorldError: if there is nothing.
        """
        parts = [self.corners.reshape(-1, 3)[:, :2]] if len(self.corners) else []
        parts += [np.reshape(solid.footprint.bounds, (2, 2)) for solid in self.solids]
        if not parts:
            raise WorldError("a place without any geometry has no ground; give it terrain, shapes or a mesh")
        points = np.concatenate(parts)
        (x0, y0), (x1, y1) = points.min(axis=0), points.max(axis=0)
        return float(x0), float(y0), float(x1), float(y1)

    @staticmethod
    def of_shapes(shapes: Sequence[Shape]) -> Geometry:
        """Return the geometry of shapes. Open meshes and those whose triangles face both ways have two upper sides."""
        corners, facing, solids = [np.empty((0, 3, 3))], [np.empty(0)], []
        for shape in shapes:
            solids += [solid for solid in shape.solids() if isinstance(solid, Prism)]
            vertices, triangles = surface(shape)
            corners.append(vertices[triangles])
            facing.append(_facing(corners[-1], shape.two_sided))
        return Geometry(np.concatenate(corners), np.concatenate(facing), tuple(solids))

    @staticmethod
    def of_world(world: World) -> Geometry:
        """Return the geometry of a world: its ground within the bounds, and all obstacles that stay."""
        vertices, triangles = terrain_surface(world.terrain, world.bounds)
        ground = vertices[triangles]
        rest = Geometry.of_shapes([obstacle.shape for obstacle in world.obstacles])
        return Geometry(
            np.concatenate([ground, rest.corners]), np.concatenate([_facing(ground), rest.facing]), rest.solids
        )


def _facing(corners: FloatArray, both: bool = False) -> FloatArray:
    """Return the cosine between the upper side of triangles (T, 3, 3) and the vertical; slivers get 0."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    up = normal[:, 2] / np.maximum(np.linalg.norm(normal, axis=1), 1e-30)
    return np.asarray(np.abs(up) if both else up)


@dataclass(frozen=True, eq=False)
class OpenSpans:
    """Everywhere that a character can stand, as cells of a grid at heights."""

    spec: GridSpec
    limits: WalkLimits
    starts: IntArray
    """First open span of each cell, row after row; (cells + 1,)."""
    heights: FloatArray
    """Height to stand at, over the middle of the cell [m]; (N,)."""
    ceilings: FloatArray
    """Height of what is above [m], infinity under the sky; (N,)."""
    cells: IntArray
    """Cell of each, row x columns + column; (N,)."""
    links: IntArray
    """Open spans to the right (+x), above (+y), to the left and below, to which a step leads; -1 for none; (N, 4)."""
    edges: FloatArray = field(init=False)
    """Distance from the nearest edge: a wall, a drop or the end of the place [m]; (N,)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", read_only(_sheet_kernels.edge_distances(self.links) * self.spec.cell))

    def __len__(self) -> int:
        return len(self.heights)

    @cached_property
    def wide(self) -> npt.NDArray[np.uint8]:
        """1 where the whole body has room, 0 where it is too near to an edge; (N,)."""
        out: npt.NDArray[np.uint8] = (self.edges >= self.limits.radius - 1e-9).astype(np.uint8)
        out.setflags(write=False)
        return out

    def points(self, spans: npt.ArrayLike) -> FloatArray:
        """Return the middle of open spans (...) [m]; (..., 3)."""
        spans = np.asarray(spans)
        where = np.stack(np.divmod(self.cells[spans], self.spec.shape[1]), axis=-1)
        return np.concatenate([self.spec.centers(where), self.heights[spans][..., None]], axis=-1)

    @staticmethod
    def of(geometry: Geometry, limits: WalkLimits, cell: float, bounds: Bounds | None = None) -> OpenSpans:
        """Find the open spans of a place.

        Args:
            geometry: what the place is made of.
            limits: what a character needs.
            cell: side of a cell [m].
            bounds: xmin, ymin, xmax, ymax [m] of the grid; None for those of the geometry.

        Raises:
            WorldError: if there is no geometry, or too much for cells as small as that.
        """
        spec = GridSpec.covering(geometry.bounds if bounds is None else bounds, cell)
        columns, heights, flags = _solid_spans(geometry, limits, spec)
        cells = spec.shape[0] * spec.shape[1]
        starts, order = _span_kernels.sorted_by_cell(columns, heights, cells)
        merged, merged_flags = np.empty((len(order), 3)), np.empty(len(order), np.uint8)
        merged_starts, open_starts = np.empty(cells + 1, np.int64), np.empty(cells + 1, np.int64)
        _span_kernels.merged_spans(
            starts, order, heights, flags, _GAP, limits.step, merged, merged_flags, merged_starts
        )
        found = np.empty((merged_starts[-1], 2))
        _span_kernels.open_spans(merged_starts, merged, merged_flags, limits.headroom, found, open_starts)
        found = np.ascontiguousarray(found[: open_starts[-1]])
        links = np.empty((len(found), 4), np.int64)
        _span_kernels.links(open_starts, found, spec.shape, limits.step, limits.headroom, links)
        _span_kernels.mutual(links)
        where = np.repeat(np.arange(cells), np.diff(open_starts))
        return OpenSpans(
            spec=spec,
            limits=limits,
            starts=read_only(open_starts),
            heights=read_only(np.ascontiguousarray(found[:, 0])),
            ceilings=read_only(np.ascontiguousarray(found[:, 1])),
            cells=read_only(where),
            links=read_only(links),
        )

    def nearest(self, point: npt.ArrayLike) -> int:
        """Return the open span with room for the body that is nearest to a point (3,); -1 if there is none around it.

        A difference in height counts as much as one in plan. Of equally near ones the first counts.
        """
        where = np.asarray(point, dtype=np.float64)
        row, column = self.spec.cells(where[:2]).tolist()
        rows, columns = self.spec.shape
        reach = math.ceil(2.0 * self.limits.radius / self.spec.cell) + 1
        low, high = max(column - reach, 0), min(column + reach + 1, columns)
        if low >= high:
            return -1
        lines = range(max(row - reach, 0), min(row + reach + 1, rows))
        runs = [np.arange(self.starts[i * columns + low], self.starts[i * columns + high]) for i in lines]
        around = np.concatenate([np.empty(0, np.int64), *runs])
        around = around[self.wide[around] == 1]
        if not len(around):
            return -1
        away = np.linalg.norm(self.points(around) - where, axis=1)
        return int(around[np.argmin(away.round(9))])


def _solid_spans(
    geometry: Geometry, limits: WalkLimits, spec: GridSpec
) -> tuple[IntArray, FloatArray, npt.NDArray[np.uint8]]:
    """Return cell, heights (lowest, highest, over the middle) and flag of everything that fills a column."""
    walkable = (geometry.facing >= math.cos(limits.slope) - 1e-9).astype(np.uint8)
    origin, corners = np.array(spec.origin), np.ascontiguousarray(geometry.corners)
    count, room = 0, min(_about(corners, spec), MAX_SPANS)
    while True:
        spans = np.empty(room, np.int64), np.empty((room, 3)), np.empty(room, np.uint8)
        count = _span_kernels.triangle_spans(corners, walkable, origin, spec.cell, spec.shape, *spans)
        if count > MAX_SPANS:
            raise WorldError(
                f"geometry of {len(corners)} triangles fills {count:,} cells of {spec.cell:g} m; at most "
                f"{MAX_SPANS:,} are possible, so give a larger cell"
            )
        if count <= room:
            break
        room = count
    columns, heights, flags = spans[0][:count], spans[1][:count], spans[2][:count]
    fills = [_fill(solid, spec) for solid in geometry.solids]
    if not fills:
        return columns, heights, flags
    more = sum(len(cells) for cells, _ in fills)
    solid = [np.tile((bottom, top, np.nan), (len(cells), 1)) for cells, (bottom, top) in fills]
    return (
        np.concatenate([columns, *(cells for cells, _ in fills)]),
        np.concatenate([heights, *solid]),
        np.concatenate([flags, np.zeros(more, np.uint8)]),
    )


def _about(corners: FloatArray, spec: GridSpec) -> int:
    """Return about how many cells triangles (T, 3, 3) meet: half of the rectangles around them, and their rims."""
    if not len(corners):
        return 0
    size = np.ptp(corners[..., :2], axis=1) / spec.cell
    size = np.minimum(size, spec.shape[::-1])
    return int((0.6 * size.prod(axis=1) + 2.0 * size.sum(axis=1) + 4.0).sum())


def _fill(solid: Prism, spec: GridSpec) -> tuple[IntArray, tuple[float, float]]:
    """Return the cells that a solid covers, and its lowest and highest point."""
    spans, _ = rasterise_all([solid.footprint], spec)
    cells = [np.arange(first, end) + row * spec.shape[1] for row, first, end in spans]
    return np.concatenate([np.empty(0, np.int64), *cells]), (solid.bottom, solid.top)
