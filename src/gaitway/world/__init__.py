"""Worlds: shapes, obstacles, terrain and movers, grids over them, and exact geometric queries."""

from gaitway.world.clearance import Clearance, Components
from gaitway.world.footprint import Footprint
from gaitway.world.grid import GridSpec, Window
from gaitway.world.height_grid import HeightGrid
from gaitway.world.obstacle import PASSABLE, WALL, Mover, MoverPhase, Obstacle
from gaitway.world.occupancy import Occupancy
from gaitway.world.shapes import Box, Cylinder, Polygon, Ramp, Shape, Sphere, Stairs
from gaitway.world.terrain import Terrain
from gaitway.world.world import Snapshot, World

__all__ = [
    "PASSABLE",
    "WALL",
    "Box",
    "Clearance",
    "Components",
    "Cylinder",
    "Footprint",
    "GridSpec",
    "HeightGrid",
    "Mover",
    "MoverPhase",
    "Obstacle",
    "Occupancy",
    "Polygon",
    "Ramp",
    "Shape",
    "Snapshot",
    "Sphere",
    "Stairs",
    "Terrain",
    "Window",
    "World",
]
