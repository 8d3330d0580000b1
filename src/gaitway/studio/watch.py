"""An eye on the crowd that knows nothing of how it is planned: who meets whom, and who is in an obstacle."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
import scipy

from gaitway.core.arrays import FloatArray
from gaitway.take.evaluation import Joints
from gaitway.world.exact import footprint_distance
from gaitway.world.obstacle import WALL
from gaitway.world.world import World

SECONDS = 5.0
"""For how long something seen is told of [s]."""
RADIUS = 0.3
"""Of the disc about a root [m]."""
_LOW, _TALL = 0.2, 1.2
"""What ends below or begins above these heights is no wall to somebody's root [m]."""
_TOUCH = 1e-3
"""Discs that share less than this only touch [m]."""


class Watch:
    """Collisions of the last seconds. This class is **mutable**."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    @property
    def collisions(self) -> int:
        """How many there were."""
        return sum(count for _, count in self._seen)

    def look(self, time: float, joints: Sequence[Joints], world: World) -> None:
        """Look at one moment."""
        roots = np.concatenate([np.empty((0, 2)), *(some.positions[:, 0, :2] for some in joints)])
        self._seen.append((time, meetings(roots) + inside(roots, world)))
        while self._seen and not time - SECONDS <= self._seen[0][0] <= time:
            self._seen.popleft()


def meetings(roots: FloatArray, radius: float = RADIUS) -> int:
    """Pairs of characters whose discs meet; roots (N, 2)."""
    if len(roots) < 2:
        return 0
    return len(scipy.spatial.cKDTree(roots).query_pairs(2.0 * radius - _TOUCH, output_type="ndarray"))


def inside(roots: FloatArray, world: World) -> int:
    """Characters whose root is in the outline of a wall or the like; roots (N, 2)."""
    solid = [obstacle.shape for obstacle in world.obstacles if obstacle.kind == WALL]
    footprints = [shape.footprint() for shape in solid if shape.heights[0] < _TALL and shape.heights[1] > _LOW]
    if not footprints or not len(roots):
        return 0
    return int((footprint_distance(footprints, roots) <= 0.0).sum())
