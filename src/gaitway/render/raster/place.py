"""A world in pictures: its things as solids, thin ones as paint, hills instead of the floor, and a camera on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import GaitwayError
from gaitway.render.bodies.mesh import Mesh, smooth_normals
from gaitway.render.bodies.palette import linear_color
from gaitway.render.plan.kinds import obstacle_color
from gaitway.render.raster.camera import Camera
from gaitway.render.raster.picture import Studio
from gaitway.render.raster.things import Paint, Patch, Solid, Trail
from gaitway.world.obstacle import PASSABLE, Obstacle
from gaitway.world.shapes import Box, Cylinder, Polygon, Shape, Sphere
from gaitway.world.surface import surface, terrain_surface
from gaitway.world.terrain import Terrain
from gaitway.world.world import World

_THIN = 0.05
"""Passable things lower than this are paint [m]."""
_LOW, _HIGH = linear_color("#9fb088"), linear_color("#d9d2b4")
"""Colours of the lowest and the highest ground."""
_MOST_CELLS = 250
"""Cells of a terrain's mesh along its longer side."""
_EDGE = "#8d8a84"


@dataclass(frozen=True, eq=False)
class Place:
    """A world prepared for pictures: what stands still is a mesh once, for all frames of a film."""

    world: World
    cutaway: float | None
    still: tuple[Solid, ...]
    paint: tuple[Paint, ...]

    @staticmethod
    def of(world: World, cutaway: float | None = None) -> Place:
        """Prepare a world.

        Args:
            world: what to show.
            cutaway: things are cut off at this height above the ground [m], and what hangs above it is left out, so
                that one sees into rooms; None shows everything.
        """
        if cutaway is not None and not cutaway > 0.0:
            raise GaitwayError(f"cutaway at {cutaway} m; write a height above 0, for example 1.2")
        solids = [_ground(world.terrain, world.bounds)] if world.terrain is not None else []
        paint: list[Paint] = [] if world.terrain is not None else [_edge(world.bounds)]
        for obstacle in world.obstacles:
            if obstacle.kind == PASSABLE and np.ptp(obstacle.shape.heights) <= _THIN and world.terrain is None:
                paint.append(_patch(obstacle))
            else:
                solids += _solids(world, obstacle, cutaway)
        return Place(world, cutaway, tuple(solids), tuple(paint))

    def solids(self, time: float = 0.0) -> list[Solid]:
        """Everything solid at a time [s]."""
        moved = self.world.at(time).moved
        return [*self.still, *(s for o in moved for s in _solids(self.world, o, self.cutaway, moves=True))]

    def studio(self, studio: Studio | None = None) -> Studio:
        """Light and floor that suit the world: hills replace the floor, and large places fade out farther off."""
        x0, y0, x1, y1 = self.world.bounds
        chosen = studio or Studio(fade=max(6.0, 0.15 * max(x1 - x0, y1 - y0)))
        return chosen if self.world.terrain is None else replace(chosen, ground=None)

    def overview(self, size: tuple[int, int], azimuth: float | None = None, elevation: float | None = None) -> Camera:
        """A camera that sees all of the bounds and what stands in them.

        Args:
            size: width and height of the picture in pixels.
            azimuth: bearing of the camera seen from the middle [rad]; None looks at the longer side, a little aslant.
            elevation: over the horizon [rad]; None looks more steeply the higher things are.
        """
        x0, y0, x1, y1 = self.world.bounds
        corners = np.array([(x, y) for x in (x0, x1) for y in (y0, y1)])
        ground = self.world.ground(corners)
        cloud = np.concatenate([np.column_stack([corners, ground + h]) for h in (0.0, 1.8)])
        cloud = np.concatenate([cloud, *(s.mesh.points for s in self.solids(0.0))])
        if azimuth is None:
            aslant = np.radians(9.0 if max(x1 - x0, y1 - y0) > 2.0 * min(x1 - x0, y1 - y0) else 16.0)
            azimuth = aslant + (-0.5 * np.pi if x1 - x0 >= y1 - y0 else 0.0)
        if elevation is None:
            tallest = float(np.ptp(cloud[:, 2])) / min(x1 - x0, y1 - y0)
            elevation = np.radians(40.0) + min(0.5 * tallest, np.radians(16.0))
        middle = np.array([0.5 * (x0 + x1), 0.5 * (y0 + y1), 0.0])
        camera = Camera.around(middle, azimuth=azimuth, elevation=elevation, field=np.radians(30.0))
        return camera.fit(cloud, size, margin=0.03)

    def on_ground(
        self, path: FloatArray, width: float, color: str | tuple[float, float, float], opacity: float
    ) -> Paint | Solid:
        """A trail along points (N, 2) [m]: paint on a level floor, a thin ribbon that follows hills."""
        trail = Trail(path, color, width, opacity)
        if self.world.terrain is None:
            return trail
        corners, triangles = trail.surface()
        points = np.column_stack([corners, self.world.ground(corners) + 0.03])
        return Solid(
            Mesh(points, np.tile([0.0, 0.0, 1.0], (len(points), 1)), triangles),
            _one_color(color, len(points)),
            smooth=True,
        )


def solid_of(shape: Shape, color: str = "#b9b4aa") -> Solid:
    """Any shape as something to be drawn, in an sRGB colour."""
    points, triangles = surface(shape)
    return Solid(Mesh(points, smooth_normals(points, triangles), triangles), color, smooth=isinstance(shape, Sphere))


def _one_color(color: str | tuple[float, float, float], count: int) -> FloatArray:
    return np.tile(linear_color(color), (count, 1))


def _solids(world: World, obstacle: Obstacle, cutaway: float | None, moves: bool = False) -> list[Solid]:
    shape: Shape | None = obstacle.shape
    if cutaway is not None:
        ground = float(world.ground(obstacle.shape.footprint().points.mean(axis=0)))
        shape = _lowered(obstacle.shape, ground + cutaway)
    if shape is None:
        return []
    return [solid_of(shape, obstacle_color(obstacle, moves))]


def _lowered(shape: Shape, top: float) -> Shape | None:
    """What of a shape is below a height [m]; round things and meshes stay whole or go."""
    low, high = shape.heights
    if low >= top:
        return None
    if high <= top or not isinstance(shape, Box | Cylinder | Polygon):
        return shape
    return replace(shape, height=top - low)


def _patch(obstacle: Obstacle) -> Patch:
    """The upper side of a flat thing."""
    points, triangles = surface(obstacle.shape)
    corners = points[triangles]
    up = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2] > 1e-12
    return Patch(points[:, :2], triangles[up], obstacle_color(obstacle))


def _edge(bounds: tuple[float, float, float, float]) -> Trail:
    """A line around the place."""
    x0, y0, x1, y1 = bounds
    width = 0.002 * max(x1 - x0, y1 - y0) + 0.01
    line = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1], [x0, y0]])
    return Trail(line, _EDGE, width, 0.8)


def _ground(terrain: Terrain, bounds: tuple[float, float, float, float]) -> Solid:
    """Hills as a smooth sheet, greener in the valleys."""
    x0, y0, x1, y1 = bounds
    cell = max(terrain.cell, max(x1 - x0, y1 - y0) / _MOST_CELLS)
    points, triangles = terrain_surface(terrain, bounds, cell)
    height = (points[:, 2] - points[:, 2].min()) / max(float(np.ptp(points[:, 2])), 1e-6)
    colors = _LOW + (_HIGH - _LOW) * height[:, None]
    return Solid(Mesh(points, smooth_normals(points, triangles), triangles), colors, smooth=True)


def split_trails(trails: Sequence[Paint | Solid]) -> tuple[list[Solid], list[Paint]]:
    """Ribbons and paint apart."""
    solids = [t for t in trails if isinstance(t, Solid)]
    return solids, [t for t in trails if not isinstance(t, Solid)]
