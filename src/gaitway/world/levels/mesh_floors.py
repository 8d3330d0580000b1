"""Floors of meshes: the ground that people find on walkable meshes, as sheets that overlap, and the seams between them.

`gaitway.world.levels.sheets` parts everything that can be walked on into sheets, none of which lies over itself. Here
each sheet becomes a floor with its own heights. What stands in the way on it, a wall or a drop, is the edge of the
floor. Two sheets that know the same ground are joined by a seam, on which a way goes on from one to the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import scipy
import shapely

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.errors import WorldError
from gaitway.world.grid import GridSpec
from gaitway.world.levels.sheets import Portal, Sheet, WalkableSurface
from gaitway.world.levels.slopes import FloorPart
from gaitway.world.levels.spans import Geometry, WalkLimits
from gaitway.world.obstacle import WALKABLE, Obstacle
from gaitway.world.standing import top
from gaitway.world.terrain import Terrain
from gaitway.world.world import World

WALKER = WalkLimits(radius=0.25, headroom=2.0, step=0.2, slope=math.radians(30.0))
"""What a walking person needs. Planners know how steep the ground may be for a library over a whole stride."""
_FINEST, _CELLS = 0.05, 1.5e6
"""Side of the smallest cells [m], and how many of them a large place has."""
_LEAST = 1.0
"""Area of connected ground below which it is no floor [m^2]; nobody gets anywhere on it."""
_SHRUNK = 0.75
"""Share of a cell by which the edge of a floor is drawn in, and by how much it may then be straightened."""
_TILE = 0.5
"""Side of the squares by which ground of two floors is told [m]."""
_APART, _MOST = 1.5, 5
"""Least distance of two crossings of a seam [m], and the largest number of them."""
_ROOMY, _NARROW = 1.0, 0.45
"""Distances from the nearest edge beyond which a crossing has enough room, and below which it is the only one [m]."""
_AROUND = 0.8
"""Distance within which the direction of a crossing is measured [m]."""

Crossing = tuple[float, float, float, float]


@dataclass(frozen=True, eq=False)
class Seam:
    """Ground that two floors of meshes have in common."""

    floors: tuple[int, int]
    """Numbers of the floors."""
    tiles: FloatArray
    """Squares that hold the common ground: xmin, ymin, xmax, ymax in the place [m]; (K, 4)."""
    crossings: tuple[Crossing, ...]
    """Where ways lead from the first floor to the second: x, y, heading in the place, and the distance from the nearest
    edge [m, rad, m]."""


@dataclass(frozen=True, eq=False)
class MeshFloors:
    """The floors of all walkable meshes of a place."""

    surface: WalkableSurface
    parts: tuple[FloorPart, ...]
    seams: tuple[Seam, ...]
    """Seams between these floors, by their index in `parts`."""


def walkable_meshes(world: World) -> list[Obstacle]:
    """Return the obstacles of a world whose meshes are ground to walk on."""
    return [obstacle for obstacle in world.obstacles if obstacle.kind == WALKABLE]


def mesh_geometry(world: World) -> Geometry:
    """Return the geometry of all walkable meshes of a world, and of its ground if people walk there."""
    meshes = Geometry.of_shapes([obstacle.shape for obstacle in walkable_meshes(world)])
    if not world.grounded:
        return meshes
    ground = Geometry.of_world(World(world.bounds, terrain=world.terrain))
    return Geometry(
        np.concatenate([meshes.corners, ground.corners]),
        np.concatenate([meshes.facing, ground.facing]),
        meshes.solids,
    )


def mesh_surface(world: World, limits: WalkLimits = WALKER) -> WalkableSurface:
    """Return the walkable surface of all walkable meshes of a world.

    Raises:
        WorldError: if there is no ground to walk on.
    """
    x0, y0, x1, y1 = world.bounds
    cell = max(_FINEST, math.sqrt((x1 - x0) * (y1 - y0) / _CELLS))
    return WalkableSurface.of(mesh_geometry(world), limits, cell, world.bounds, further=False)


@lru_cache(maxsize=4)
def mesh_floors(world: World) -> MeshFloors:
    """Find the floors of all walkable meshes of a world, the largest first. Those of the latest worlds are kept.

    Raises:
        WorldError: if there is no ground to walk on.
    """
    surface = mesh_surface(world)
    sizes = np.bincount(surface.parts[surface.parts >= 0]) * surface.open.spec.cell**2
    kept = [sheet for sheet in surface.sheets if sizes[_part(surface, sheet)] >= _LEAST]
    if not kept:
        raise WorldError(f"nobody can walk there: the largest ground has {sizes.max(initial=0.0):.2g} square metres")
    kept.sort(key=lambda sheet: (-sheet.area, sheet.number))
    numbers = {sheet.number: index for index, sheet in enumerate(kept)}
    names = _names(world, surface, kept)
    parts = tuple(_floor_part(surface, sheet, name) for sheet, name in zip(kept, names, strict=True))
    portals = {portal.sheets: portal for portal in surface.portals}
    seams = []
    for first, second in _sharing(surface, kept):
        tiles = _tiles(surface, first, second)
        found = portals.get((min(first.number, second.number), max(first.number, second.number)))
        ways = () if found is None else _crossings(surface, found, first.number)
        seams.append(Seam((numbers[first.number], numbers[second.number]), tiles, ways))
    return MeshFloors(surface, parts, tuple(seams))


def _part(surface: WalkableSurface, sheet: Sheet) -> int:
    """Return the connected part of the surface that the core of a sheet belongs to."""
    return int(surface.parts[sheet.spans[sheet.core][0]])


def _names(world: World, surface: WalkableSurface, sheets: Sequence[Sheet]) -> list[str]:
    """Return a name for each sheet: that of the mesh which is nearest under its middle, or of the ground."""
    meshes = walkable_meshes(world)
    names = [o.name or f"mesh {world.obstacles.index(o)}" for o in meshes]
    if len(meshes) == 1 and not world.grounded:
        return names * len(sheets)
    out = []
    for sheet in sheets:
        spans = sheet.spans[sheet.core]
        points = surface.open.points(spans[:: max(len(spans) // 50, 1)])
        away = [np.abs(nearest_heights(o, points) - points[:, 2]) for o in meshes]
        away += [np.abs(world.ground(points[:, :2]) - points[:, 2])] if world.grounded else []
        counts = np.bincount(np.argmin(np.round(away, 6), axis=0), minlength=len(away))
        out.append([*names, "ground"][int(np.argmax(counts))])
    return out


def nearest_heights(obstacle: Obstacle, points: FloatArray) -> FloatArray:
    """Return the height of an obstacle's upper side nearest to points (N, 3) [m]; minus infinity beside it; (N,)."""
    return top(obstacle.shape, points[:, :2], points[:, 2])


def _floor_part(surface: WalkableSurface, sheet: Sheet, name: str) -> FloorPart:
    """Return a sheet as a floor."""
    spec = surface.open.spec
    heights = sheet.heights
    nearest = scipy.ndimage.distance_transform_edt(np.isnan(heights), return_distances=False, return_indices=True)
    filled = np.pad(heights[tuple(nearest)], 1, mode="edge")
    x = spec.origin[0] + (sheet.window.column - 0.5) * spec.cell
    y = spec.origin[1] + (sheet.window.row - 0.5) * spec.cell
    region = _region(_walked(surface, sheet), spec, sheet)
    core = _outline(sheet.core, spec, sheet)
    return FloorPart(name, float(np.nanmin(heights)), region, core, Terrain(filled, spec.cell, (x, y)))


def _walked(surface: WalkableSurface, sheet: Sheet) -> BoolArray:
    """Return the cells of a sheet with ground, without those at a ledge: no step leads to a cell beside them."""
    rows, columns = sheet.spans.shape
    rim = np.full((rows + 2, columns + 2), -1, np.int64)
    rim[1:-1, 1:-1] = sheet.spans
    out = sheet.spans >= 0
    for side, (row, column) in enumerate(((0, 1), (1, 0), (0, -1), (-1, 0))):
        beside = rim[1 + row : 1 + row + rows, 1 + column : 1 + column + columns]
        out &= ~((beside >= 0) & (surface.open.links[sheet.spans, side] != beside))
    return np.asarray(out)


def _region(cells: BoolArray, spec: GridSpec, sheet: Sheet) -> shapely.Geometry:
    """Return the outline of cells, drawn in and straightened, so that no part of it is outside of them."""
    exact = _outline(cells, spec, sheet)
    within = exact.buffer(-_SHRUNK * spec.cell, join_style="mitre").simplify(_SHRUNK * spec.cell)
    return within if not within.is_empty else exact


def _outline(cells: BoolArray, spec: GridSpec, sheet: Sheet) -> shapely.Geometry:
    """Return the exact outline of some cells of a sheet (rows, columns), in the place."""
    rings = shapely.polygonize(_border(cells)).geoms
    inside = [ring.representative_point() for ring in rings]
    at = np.floor([(point.y, point.x) for point in inside]).astype(np.int64).reshape(-1, 2)
    chosen = [ring for ring, (row, column) in zip(rings, at, strict=True) if cells[row, column]]
    x = spec.origin[0] + sheet.window.column * spec.cell
    y = spec.origin[1] + sheet.window.row * spec.cell
    whole = shapely.MultiPolygon(chosen)
    return shapely.transform(whole, lambda points: points * spec.cell + np.array([x, y]))


def _border(cells: BoolArray) -> npt.NDArray[np.object_]:
    """Return the straight pieces of the border of some cells (rows, columns), in cells; they meet at their ends."""
    padded = np.pad(cells, 1)
    across = padded[:, 1:] != padded[:, :-1]  # an upright side between two cells of a row
    along = padded[1:, :] != padded[:-1, :]
    bends = np.zeros(np.add(cells.shape, 1), bool)  # corners of cells at which the border turns
    upright, level = across[1:-1], along[:, 1:-1]
    bends[:-1] |= upright
    bends[1:] |= upright
    turned = np.zeros_like(bends)
    turned[:, :-1] |= level
    turned[:, 1:] |= level
    bends &= turned
    pieces = np.concatenate([_runs(upright.T, bends.T, swapped=True), _runs(level, bends, swapped=False)])
    return np.asarray(shapely.linestrings(pieces))


def _runs(sides: BoolArray, bends: BoolArray, *, swapped: bool) -> FloatArray:
    """Return the ends (K, 2, 2) of straight runs of sides (lines, places), cut where the border turns."""
    there = np.pad(sides, ((0, 0), (1, 1)))
    lines, begins = np.nonzero(sides & (~there[:, :-2] | bends[:, :-1]))
    _, ends = np.nonzero(sides & (~there[:, 2:] | bends[:, 1:]))
    both = np.stack([np.stack([begins, lines], axis=1), np.stack([ends + 1, lines], axis=1)], axis=1)
    return (both[..., ::-1] if swapped else both).astype(np.float64)


def _sharing(surface: WalkableSurface, sheets: Sequence[Sheet]) -> Iterator[tuple[Sheet, Sheet]]:
    """Yield all pairs of sheets that know some ground in common."""
    known: IntArray = np.full(len(surface.open), -1, np.int64)
    for number, sheet in enumerate(sheets):
        own = sheet.spans[sheet.spans >= 0]
        known[own] = number
        for other in sheets[number + 1 :]:
            theirs = other.spans[other.spans >= 0]
            if (known[theirs] == number).any():
                yield sheet, other


def _tiles(surface: WalkableSurface, first: Sheet, second: Sheet) -> FloatArray:
    """Return squares that hold all ground which two sheets have in common, joined along x; (K, 4)."""
    spec = surface.open.spec
    common = np.intersect1d(first.spans[first.spans >= 0], second.spans[second.spans >= 0])
    rows, columns = np.divmod(surface.open.cells[common], spec.shape[1])
    each = max(round(_TILE / spec.cell), 1)
    squares = np.unique(np.stack([rows // each, columns // each], axis=1), axis=0)
    breaks = np.flatnonzero((np.diff(squares[:, 0]) != 0) | (np.diff(squares[:, 1]) != 1)) + 1
    out = []
    for run in np.split(squares, breaks):
        (row, low), high = run[0] * each, (run[-1, 1] + 1) * each
        x, y = spec.origin
        out.append((x + low * spec.cell, y + row * spec.cell, x + high * spec.cell, y + (row + each) * spec.cell))
    return np.array(out)


def _crossings(surface: WalkableSurface, portal: Portal, source: int) -> tuple[Crossing, ...]:
    """Return where ways lead through a portal from one of its sheets: apart from one another, with most room first."""
    pairs = portal.spans if portal.sheets[0] == source else portal.spans[:, ::-1]
    here, there = surface.open.points(pairs[:, 0])[:, :2], surface.open.points(pairs[:, 1])[:, :2]
    middle, room = 0.5 * (here + there), surface.open.edges[pairs].min(axis=1)
    order = np.argsort(-np.minimum(np.round(room, 6), _ROOMY), kind="stable")
    out: list[Crossing] = []
    for index in order.tolist():
        x, y = middle[index].tolist()
        if len(out) == _MOST or any(math.dist((x, y), other[:2]) < _APART for other in out):
            continue
        if out and room[index] < _NARROW:
            break
        near = np.linalg.norm(middle - middle[index], axis=1) <= _AROUND
        ahead = (there - here)[near].sum(axis=0)
        if np.hypot(*ahead) > 1e-6:
            out.append((x, y, math.atan2(ahead[1], ahead[0]), float(min(room[index], _ROOMY))))
    return tuple(out)
