"""Height grids: height and slope of the ground in each cell, with obstacles that can be stood on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely

from gaitway.core.arrays import FloatArray, owned
from gaitway.core.errors import WorldError
from gaitway.world import _height_kernels, standing
from gaitway.world.footprint import core_geometry
from gaitway.world.grid import GridSpec, filled, rasterise
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Prism, Shape
from gaitway.world.terrain import Terrain


@dataclass(frozen=True, eq=False)
class HeightGrid:
    """Heights and slopes of the ground; (rows, columns) each."""

    spec: GridSpec
    center: FloatArray
    """Height in the middle of the cell [m]."""
    lowest: FloatArray
    """Lowest height in the cell [m]; exact for terrain, a lower bound where something stands on it."""
    highest: FloatArray
    """Highest height in the cell [m]; exact for terrain, an upper bound where something stands on it."""
    slope: FloatArray
    """Steepest slope of the terrain in the cell, from level [rad]."""

    def __post_init__(self) -> None:
        for name in ("center", "lowest", "highest", "slope"):
            value = owned(getattr(self, name), f"height grid {name}", self.spec.shape, error=WorldError)
            object.__setattr__(self, name, value)

    @staticmethod
    def of(terrain: Terrain | None, spec: GridSpec, standable: Sequence[Obstacle] = ()) -> HeightGrid:
        """Compute the ground in a grid.

        Args:
            terrain: the ground; None is level at height 0.
            spec: grid of the cells.
            standable: obstacles whose upper sides count as ground where they are higher.
        """
        center = np.zeros(spec.shape)
        lowest, highest, slope = np.zeros(spec.shape), np.zeros(spec.shape), np.zeros(spec.shape)
        if terrain is not None:
            center = terrain.height(spec.all_centers())
            x, y = ((a - b) / terrain.cell for a, b in zip(spec.origin, terrain.origin, strict=True))
            _height_kernels.ground_of_cells(terrain.heights, x, y, spec.cell / terrain.cell, lowest, highest, slope)
            slope = np.arctan(slope / terrain.cell)
        for obstacle in standable:
            _step_onto(obstacle.shape, spec, center, lowest, highest)
        return HeightGrid(spec, center, lowest, highest, slope)


def _step_onto(shape: Shape, spec: GridSpec, center: FloatArray, lowest: FloatArray, highest: FloatArray) -> None:
    """Raise the ground to the top of a shape where that is higher."""
    for solid in shape.solids():
        footprint, upper = (
            (solid.footprint, solid.top) if isinstance(solid, Prism) else (shape.footprint(), shape.heights[1])
        )
        row, column = np.nonzero(filled(rasterise(footprint, spec), spec))
        highest[row, column] = np.maximum(highest[row, column], upper)
        if isinstance(solid, Prism) and len(row):
            corners = np.stack([np.stack([row + i, column + j], axis=-1) for i in (-0.5, 0.5) for j in (-0.5, 0.5)])
            away = shapely.distance(core_geometry(footprint), shapely.points(spec.centers(corners)))
            whole = (away <= footprint.radius).all(axis=0)
            lowest[row[whole], column[whole]] = np.maximum(lowest[row[whole], column[whole]], upper)
    row, column = np.nonzero(filled(rasterise(shape.footprint(), spec), spec))
    if len(row):
        heights = standing.top(shape, spec.centers(np.stack([row, column], axis=-1)))
        center[row, column] = np.maximum(center[row, column], heights)
