"""Doors: leaves that slide or swing when they are told to. A world holds the leaf of each as a mover that stands.

When a door moves is not known before a run, so that a take tells how its doors moved (`gaitway.world.world.realised`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import shapely

from gaitway.core.errors import WorldError
from gaitway.world.footprint import drawn_geometry
from gaitway.world.obstacle import WALL, Mover, Obstacle
from gaitway.world.shapes import Shape

Pose = tuple[float, float, float]
"""x, y [m] and heading [rad]."""
_STEPS = 24
"""Parts of a move whose hulls make up the floor that a leaf sweeps."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Door:
    """A door: a leaf with a pose in which it is shut, and one in which it is open."""

    name: str
    shape: Shape
    """The leaf in its own frame."""
    middle: tuple[float, float]
    """Middle of the doorway [m]."""
    across: float
    """Direction in which people go through it, one way or the other [rad]."""
    width: float
    """Width of the doorway [m]."""
    shut: Pose
    open: Pose
    seconds: float
    """Time that it takes to open or to shut [s]."""
    begins_open: bool = False
    """Whether it is open at the beginning."""
    color: str | None = None
    """Colour in pictures as "#rrggbb"; None for that of movers."""
    offset: tuple[float, float] = (0.0, 0.0)
    """How far it was moved from its place into the plane of the floors: x, y [m]."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.seconds) and self.seconds > 0.0):
            raise WorldError(f"door '{self.name}' takes {self.seconds} s to open; write a time above 0")

    def moved(self, offset: tuple[float, float], down: float) -> Door:
        """Return the door moved into the plane of the floors: by an offset, and down by the height of its floor [m]."""
        dx, dy = offset
        poses = [(x + dx, y + dy, yaw) for x, y, yaw in (self.shut, self.open)]
        middle = (self.middle[0] + dx, self.middle[1] + dy)
        return replace(
            self, shape=self.shape.raised(-down), middle=middle, shut=poses[0], open=poses[1], offset=(dx, dy)
        )

    def mover(self, times: Sequence[float] = (0.0,), poses: Sequence[Pose] | None = None) -> Mover:
        """Return the leaf as a mover with a path: times [s] and poses; by default it stands as at the beginning."""
        here = self.open if self.begins_open else self.shut
        return Mover.of(self.shape, times, [here] if poses is None else poses, WALL, self.name, self.color)

    def obstacle(self, is_open: bool) -> Obstacle:
        """Return the leaf where it stands, open or shut."""
        return Obstacle(self.shape.placed(self.open if is_open else self.shut), WALL, self.name, self.color)

    def pose(self, share: float) -> Pose:
        """Return the pose of the leaf at a share of its way, from 0 (shut) to 1 (open)."""
        x, y, yaw = ((1.0 - share) * a + share * b for a, b in zip(self.shut, self.open, strict=True))
        return x, y, yaw

    @cached_property
    def leaf(self) -> shapely.Geometry:
        """Floor that the leaf covers when it is shut."""
        return self._covered(0.0)

    @cached_property
    def sweep(self) -> shapely.Geometry:
        """Floor that the leaf covers anywhere between shut and open."""
        leaves = [self._covered(k / _STEPS) for k in range(_STEPS + 1)]
        pairs = pairwise(leaves)
        return shapely.union_all([shapely.union(a, b).convex_hull for a, b in pairs])

    def beside(self, along: float, away: float) -> tuple[float, float]:
        """Return a point beside the doorway: so far along it from its middle, and so far through it [m]."""
        c, s = math.cos(self.across), math.sin(self.across)
        return self.middle[0] - s * along + c * away, self.middle[1] + c * along + s * away

    def _covered(self, share: float) -> shapely.Geometry:
        return drawn_geometry(self.shape.placed(self.pose(share)).footprint())
