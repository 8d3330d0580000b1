"""A place: what stands in it, what moves in it, and the ground."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gaitway.arrays import FloatArray
from gaitway.errors import WorldError
from gaitway.world.mover import Mover
from gaitway.world.obstacle import Obstacle
from gaitway.world.terrain import Terrain

MAX_OBSTACLES = 100_000
"""More than any place has; a file that asks for more is broken or hostile."""


@dataclass(frozen=True, eq=False)
class World:
    """Bounds, obstacles, movers and terrain; heights are absolute."""

    bounds: tuple[float, float, float, float]
    """xmin, ymin, xmax, ymax [m]; nobody may leave."""
    obstacles: tuple[Obstacle, ...] = ()
    """What does not move, special obstacles among it."""
    movers: tuple[Mover, ...] = ()
    terrain: Terrain | None = None
    """None is level ground at height 0."""

    def __post_init__(self) -> None:
        x0, y0, x1, y1 = self.bounds
        if not (np.isfinite(self.bounds).all() and x0 < x1 and y0 < y1):
            raise WorldError(f"bounds {self.bounds} must be xmin, ymin, xmax, ymax with xmin < xmax and ymin < ymax")
        if len(self.obstacles) + len(self.movers) > MAX_OBSTACLES:
            raise WorldError(
                f"{len(self.obstacles) + len(self.movers)} obstacles; at most {MAX_OBSTACLES} are possible"
            )
        object.__setattr__(self, "bounds", (float(x0), float(y0), float(x1), float(y1)))
        object.__setattr__(self, "obstacles", tuple(self.obstacles))
        object.__setattr__(self, "movers", tuple(self.movers))

    def at(self, time: float) -> Snapshot:
        """The world at a time [s]. What does not move is shared, not copied."""
        return Snapshot(self, float(time), tuple(mover.at(time) for mover in self.movers))

    def ground(self, points: npt.ArrayLike) -> FloatArray:
        """Height of the terrain [m] (...) at points (..., 2), without what stands on it."""
        points = np.asarray(points, dtype=np.float64)
        return np.zeros(points.shape[:-1]) if self.terrain is None else self.terrain.height(points)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A world at one time."""

    world: World
    time: float
    """[s]."""
    moved: tuple[Obstacle, ...]
    """What the movers are at this time, in their order."""

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """Everything that stands in the world now: what never moves, then the movers."""
        return self.world.obstacles + self.moved
