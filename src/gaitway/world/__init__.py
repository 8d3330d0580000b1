"""Places: shapes, obstacles, terrain and movers, their grids, and exact questions about them."""

from gaitway.world.footprint import Footprint
from gaitway.world.mover import Mover, Phase
from gaitway.world.obstacle import PASSABLE, WALL, Obstacle
from gaitway.world.shapes import Box, Cylinder, Polygon, Shape, Sphere, Stairs
from gaitway.world.terrain import Terrain
from gaitway.world.world import Snapshot, World

__all__ = [
    "PASSABLE",
    "WALL",
    "Box",
    "Cylinder",
    "Footprint",
    "Mover",
    "Obstacle",
    "Phase",
    "Polygon",
    "Shape",
    "Snapshot",
    "Sphere",
    "Stairs",
    "Terrain",
    "World",
]
