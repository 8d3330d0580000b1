"""A world in pictures: obstacles as solids, thin ones as paint, hills instead of the floor, and a camera on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import shapely

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import GaitwayError
from gaitway.render.plan.canvas import mixed
from gaitway.render.raster.area_paint import area_arrows, area_color
from gaitway.render.raster.camera import Camera
from gaitway.render.raster.colors import linear_color, obstacle_color
from gaitway.render.raster.drawables import Paint, Patch, Solid, Trail
from gaitway.render.raster.mesh import SurfaceMesh, smooth_normals
from gaitway.render.raster.picture import Lighting
from gaitway.world.areas import Area
from gaitway.world.obstacle import PASSABLE, Obstacle
from gaitway.world.shapes import Box, Cylinder, Polygon, Shape, Sphere
from gaitway.world.surface import surface, terrain_surface
from gaitway.world.terrain import Terrain
from gaitway.world.world import World

_THIN = 0.05
"""Height below which passable obstacles are drawn as paint [m]."""
_PLATE = 0.006
"""Thickness of what is painted on upper floors [m]."""
_LOW, _HIGH = linear_color("#9fb088"), linear_color("#d9d2b4")
"""Colours of the lowest and the highest ground."""
_MOST_CELLS = 250
"""Largest number of cells of a terrain's mesh along its longer side."""
_EDGE = "#8d8a84"
"""Colour of the line around the bounds."""


@dataclass(frozen=True, eq=False)
class Scenery:
    """A world prepared for pictures: meshes of all that stands still are made once for all frames of a film."""

    world: World
    cutaway: float | None
    """Height above the ground at which obstacles are cut off [m]."""
    still: tuple[Solid, ...]
    """Solids of all that does not move."""
    paint: tuple[Paint, ...]
    walked: float | None = None
    """Height near which people walk, where walkable meshes are all the ground [m]; None for the world's ground."""

    @staticmethod
    def of(world: World, cutaway: float | None = None) -> Scenery:
        """Prepare a world.

        Args:
            world: the world.
            cutaway: height above the ground [m] at which obstacles are cut off, to see into rooms; obstacles that hang
                above it are left out. Special obstacles and movers stay whole. None shows everything.
        """
        if cutaway is not None and not cutaway > 0.0:
            raise GaitwayError(f"cutaway at {cutaway} m; write a height above 0, for example 1.2")
        solids = [_ground(world.terrain, world.bounds)] if world.terrain is not None else []
        paint: list[Paint] = [] if world.terrain is not None else [_edge(world.bounds)]
        if world.terrain is None:
            paint += [patch for area in world.areas if not _upstairs(area) for patch in _area_paint(area, world)]
        for area in filter(_upstairs, world.areas):
            solids += _area_plates(area, world)
        for obstacle in world.obstacles:
            if obstacle.kind == PASSABLE and np.ptp(obstacle.shape.heights) <= _THIN and world.terrain is None:
                paint.append(_patch(obstacle))
            else:
                solids += _solids(world, obstacle, cutaway)
        return Scenery(world, cutaway, tuple(solids), tuple(paint))

    def floor(self, points: FloatArray) -> FloatArray:
        """Return the height of what people walk on [m] (...) at points (..., 2)."""
        return self.world.ground(points) if self.walked is None else self.world.standing_height(points, self.walked)

    def solids(self, time: float = 0.0) -> list[Solid]:
        """Return all solids at a time [s]."""
        return [*self.still, *self.moved(time)]

    def moved(self, time: float = 0.0) -> list[Solid]:
        """Return the solids of all that moves, at a time [s]."""
        moved = self.world.at(time).moved
        return [s for o in moved for s in _solids(self.world, o, self.cutaway, moves=True)]

    def lighting(self, lighting: Lighting | None = None) -> Lighting:
        """Return lighting that suits the world: hills replace the floor, and large worlds fade out farther away."""
        x0, y0, x1, y1 = self.world.bounds
        chosen = lighting or Lighting(fade=max(6.0, 0.15 * max(x1 - x0, y1 - y0)))
        return chosen if self.world.terrain is None else replace(chosen, ground=None)

    def overview(self, size: tuple[int, int], azimuth: float | None = None, elevation: float | None = None) -> Camera:
        """Return a camera that sees the whole bounds and all obstacles in them.

        Args:
            size: width and height of the picture [px].
            azimuth: bearing of the camera seen from the middle [rad]; None looks at the longer side, a little aslant.
            elevation: angle above the horizon [rad]; None looks down more steeply where obstacles are higher.
        """
        x0, y0, x1, y1 = self.world.bounds
        corners = np.array([(x, y) for x in (x0, x1) for y in (y0, y1)])
        ground = self.world.ground(corners)
        cloud = np.concatenate([np.column_stack([corners, ground + h]) for h in (0.0, 1.8)])
        placed = (solid.mesh.points for solid in self.solids(0.0))
        # a train that has not come yet may stand far outside
        inside = [p for p in placed if (p[:, :2].min(0) <= (x1, y1)).all() and (p[:, :2].max(0) >= (x0, y0)).all()]
        cloud = np.concatenate([cloud, *inside])
        if azimuth is None:
            azimuth = self.bearing()
        if elevation is None:
            tallest = float(np.ptp(cloud[:, 2])) / min(x1 - x0, y1 - y0)
            elevation = np.radians(40.0) + min(0.5 * tallest, np.radians(16.0))
        middle = np.array([0.5 * (x0 + x1), 0.5 * (y0 + y1), 0.0])
        camera = Camera.around(middle, azimuth=azimuth, elevation=elevation, field=np.radians(30.0))
        return camera.fit(cloud, size, margin=0.03)

    def bearing(self) -> float:
        """Return the usual bearing of a camera seen from the middle [rad]: at the longer side, a little aslant."""
        x0, y0, x1, y1 = self.world.bounds
        aslant = np.radians(9.0 if max(x1 - x0, y1 - y0) > 2.0 * min(x1 - x0, y1 - y0) else 16.0)
        return float(aslant + (-0.5 * np.pi if x1 - x0 >= y1 - y0 else 0.0))

    def on_ground(
        self, path: FloatArray, width: float, color: str | tuple[float, float, float], opacity: float
    ) -> Paint | Solid:
        """Return a trail along points (N, 2) [m]: paint on a level floor, a thin ribbon on hills."""
        trail = Trail(path, color, width, opacity)
        if self.world.terrain is None and self.walked is None:
            return trail
        corners, triangles = trail.surface()
        points = np.column_stack([corners, self.floor(corners) + 0.03])
        return Solid(
            SurfaceMesh(points, np.tile([0.0, 0.0, 1.0], (len(points), 1)), triangles),
            _one_color(color, len(points)),
            smooth=True,
        )


def solid_of(shape: Shape, color: str = "#b9b4aa") -> Solid:
    """Return the solid of any shape in an sRGB colour."""
    points, triangles = surface(shape)
    return Solid(
        SurfaceMesh(points, smooth_normals(points, triangles), triangles), color, smooth=isinstance(shape, Sphere)
    )


def _one_color(color: str | tuple[float, float, float], count: int) -> FloatArray:
    return np.tile(linear_color(color), (count, 1))


def _solids(world: World, obstacle: Obstacle, cutaway: float | None, moves: bool = False) -> list[Solid]:
    shape: Shape | None = obstacle.shape
    if cutaway is not None and not moves and not obstacle.special:
        middle = obstacle.shape.footprint().points.mean(axis=0)
        floor = float(world.standing_height(middle, near=obstacle.shape.heights[0]))  # things stand on upper floors too
        shape = _lowered(obstacle.shape, floor + cutaway)
    if shape is None:
        return []
    return [solid_of(shape, obstacle_color(obstacle, moves))]


def _lowered(shape: Shape, top: float) -> Shape | None:
    """Return the part of a shape below a height [m]; round shapes and meshes stay whole or are left out."""
    low, high = shape.heights
    if low >= top:
        return None
    if high <= top or not isinstance(shape, Box | Cylinder | Polygon):
        return shape
    return replace(shape, height=top - low)


def _patch(obstacle: Obstacle) -> Patch:
    """Return the upper side of a flat obstacle as paint."""
    return _top(*surface(obstacle.shape), obstacle_color(obstacle), 1.0)


def _top(points: FloatArray, triangles: IntArray, color: str, opacity: float) -> Patch:
    """Return the upper side of a surface as paint."""
    corners = points[triangles]
    up = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2] > 1e-12
    return Patch(points[:, :2], triangles[up], color, opacity)


def _area_paint(area: Area, world: World) -> list[Paint]:
    """Return an area with a meaning as paint, and its arrows."""
    color, paint = area_color(area), list[Paint]()
    for corners, arrow in _area_outlines(area, world):
        points, triangles = surface(Polygon(corners, _THIN))
        paint.append(_top(points, triangles, color, 0.7 if arrow else 0.22))
    return paint


def _area_plates(area: Area, world: World) -> list[Solid]:
    """Return an area of an upper floor and its arrows as thin plates on it: paint lies on the ground alone."""
    color, height = area_color(area), _height(area)
    pale = mixed(color, "#ffffff", 0.7)
    return [
        solid_of(Polygon(corners, _PLATE * (2.0 if arrow else 1.0), (), height), color if arrow else pale)
        for corners, arrow in _area_outlines(area, world)
    ]


def _area_outlines(area: Area, world: World) -> list[tuple[tuple[tuple[float, float], ...], bool]]:
    """Return the corners of an area's parts and of its arrows [m], and whether each is an arrow."""
    flat = [area.polygon.intersection(shapely.box(*world.bounds)), *area_arrows(area)]
    return [
        (tuple(part.exterior.coords)[:-1], number > 0)
        for number, outline in enumerate(flat)
        for part in (outline.geoms if isinstance(outline, shapely.MultiPolygon) else (outline,))
    ]


def _height(area: Area) -> float:
    """Return the height of the highest ground of an area's floor [m]."""
    return 0.0 if area.heights is None else area.heights[1]


def _upstairs(area: Area) -> bool:
    """Return whether an area is on a floor over the ground, on which nothing can be painted."""
    return _height(area) > 0.0


def _edge(bounds: tuple[float, float, float, float]) -> Trail:
    """Return a line around the bounds."""
    x0, y0, x1, y1 = bounds
    width = 0.002 * max(x1 - x0, y1 - y0) + 0.01
    line = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1], [x0, y0]])
    return Trail(line, _EDGE, width, 0.8)


def _ground(terrain: Terrain, bounds: tuple[float, float, float, float]) -> Solid:
    """Return hills as a smooth sheet, greener in the valleys."""
    x0, y0, x1, y1 = bounds
    cell = max(terrain.cell, max(x1 - x0, y1 - y0) / _MOST_CELLS)
    points, triangles = terrain_surface(terrain, bounds, cell)
    height = (points[:, 2] - points[:, 2].min()) / max(float(np.ptp(points[:, 2])), 1e-6)
    colors = _LOW + (_HIGH - _LOW) * height[:, None]
    return Solid(SurfaceMesh(points, smooth_normals(points, triangles), triangles), colors, smooth=True)


def split_trails(trails: Sequence[Paint | Solid]) -> tuple[list[Solid], list[Paint]]:
    """Split trails into ribbons and paint."""
    solids = [t for t in trails if isinstance(t, Solid)]
    return solids, [t for t in trails if not isinstance(t, Solid)]
