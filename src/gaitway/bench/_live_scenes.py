"""Crowds of `bench.live`: people on errands in a square with columns."""

from __future__ import annotations

import math

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.live.engine import LiveEngine
from gaitway.live.options import LiveOptions
from gaitway.scene.characters import Character, LibraryRef
from gaitway.scene.plan_options import PlanOptions
from gaitway.space.prepared import PreparedLibrary, planning_context
from gaitway.tree.forest import Forest
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Cylinder
from gaitway.world.world import World

ROOM = 8.0
"""Area of the ground for each character [m^2]."""
COLUMN = 300.0
"""Area of the ground for each column [m^2]."""
TRIP = (10.0, 30.0)
"""Shortest and longest distance of an errand [m]."""
CLEAR = 1.0
"""Least distance between goals and obstacles [m]."""
_RADIUS = 0.5
"""Radius of a column [m]."""


def prepared_person(world: World, speed: str | float = "normal") -> PreparedLibrary:
    """Return the built-in person, prepared for a world."""
    who = Character(
        name="live",
        start=(0.0, 0.0, 0.0),
        goal=(0.0, 0.0),
        goal_heading=None,
        library=LibraryRef(),
        plan=PlanOptions(),
        speed=speed,
    )
    return planning_context(world).prepared(who)


def square(characters: int, seed: int = 0) -> World:
    """Return a square with columns that is large enough for a number of characters."""
    side = math.sqrt(ROOM * characters)
    count = math.ceil(side * side / COLUMN)
    places = np.random.default_rng(seed).uniform(2.0, side - 2.0, (count, 2)).tolist()
    columns = tuple(Obstacle(Cylinder((x, y), _RADIUS, 2.5)) for x, y in places)
    return World((0.0, 0.0, side, side), columns)


class Errands:
    """Characters all over a square; each goes to a goal of its own, then to the next one."""

    def __init__(self, prepared: PreparedLibrary, forest: Forest, characters: int, seed: int = 0) -> None:
        self._rng, self._fields, side = np.random.default_rng(seed), prepared.fields, prepared.fields.world.bounds[2]
        self.crowd = LiveEngine(prepared, forest, LiveOptions(route_bytes=0, dynamics="clips"), seed=seed)
        number = math.ceil(math.sqrt(1.2 * characters))
        grid = (np.stack(np.meshgrid(np.arange(number), np.arange(number)), -1).reshape(-1, 2) + 0.5) * (side / number)
        spots = self._rng.permutation(grid)
        starts = np.column_stack([spots, self._rng.uniform(-np.pi, np.pi, len(spots))])
        while len(self.crowd) < characters and len(starts):
            missing = characters - len(self.crowd)
            self.crowd.add(starts[:missing], self._goals(starts[:missing]))
            starts = starts[missing:]

    def step(self, dt: float) -> None:
        """Go on by some time [s], and send characters that have arrived elsewhere."""
        there = self.crowd.arrived
        if len(there):
            self.crowd.set_goals(there, self._goals(self.crowd.roots(there)[0]))
        self.crowd.step(dt)

    def _goals(self, points: FloatArray) -> FloatArray:
        """Return a free goal some metres from each point (N, 2 or more), or the point itself if none is found."""
        out = points[:, :2].copy()
        for _ in range(10):
            angles, lengths = self._rng.uniform(-np.pi, np.pi, len(out)), self._rng.uniform(*TRIP, len(out))
            there = points[:, :2] + lengths[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
            free = (self._fields.clearance(there) > CLEAR) & (out == points[:, :2]).all(axis=1)
            out[free] = there[free]
            if (out != points[:, :2]).any(axis=1).all():
                break
        return out
