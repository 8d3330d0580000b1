"""Small crowds of live characters for tests: a person that walks, turns and stands, and nothing else."""

from __future__ import annotations

from functools import cache

import numpy as np

from gaitway.cast.catalog import load_cast
from gaitway.core.arrays import FloatArray
from gaitway.library.behavior import Library
from gaitway.live.engine import LiveEngine
from gaitway.live.options import LiveOptions
from gaitway.live.planning.forest import live_forest
from gaitway.scene.characters import Character, LibraryRef
from gaitway.scene.plan_options import PlanOptions
from gaitway.space.prepared import PreparedLibrary, planning_context
from gaitway.tree.building.growing import Budget
from gaitway.tree.forest import Forest
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World

BEHAVIORS = (
    "wait", "start_walk", "stop_walk", "walk_forward", "walk_short", "walk_left_30", "walk_right_30", "walk_left_45",
    "walk_right_45", "turn_left_90", "turn_right_90", "turn_left_180",
)  # fmt: skip
FRAME = 1.0 / 30.0
OPEN = World((-12.0, -12.0, 12.0, 12.0))


@cache
def walker() -> Library:
    """A person with few behaviours."""
    return load_cast("person", behaviors=BEHAVIORS)


@cache
def prepared_in(world: World) -> PreparedLibrary:
    """The walker in a world."""
    who = Character(
        name="live", start=(0.0, 0.0, 0.0), goal=(0.0, 0.0), goal_heading=None, library=LibraryRef(), plan=PlanOptions()
    )
    return planning_context(world, {LibraryRef(): walker()}).prepared(who)


@cache
def forest() -> Forest:
    """Its trees."""
    return live_forest(prepared_in(OPEN).table, budget=Budget(40_000))


def crowd_in(world: World = OPEN, **options: object) -> LiveEngine:
    """Nobody yet; all on clips unless told otherwise."""
    return LiveEngine(prepared_in(world), forest(), LiveOptions(**{"dynamics": "clips", **options}))  # type: ignore[arg-type]


def boxes(seed: int, count: int, half: float = 8.0) -> World:
    """Some boxes in a square."""
    rng = np.random.default_rng(seed)
    shapes = [Box((float(x), float(y)), (float(a), float(b)), 2.0, float(yaw))
              for x, y, a, b, yaw in np.column_stack([rng.uniform(-half + 2, half - 2, (count, 2)),
              rng.uniform(0.3, 2.0, (count, 2)), rng.uniform(0.0, 3.0, count)])]  # fmt: skip
    return World((-half, -half, half, half), tuple(Obstacle(shape) for shape in shapes))


def ring(count: int, radius: float) -> tuple[FloatArray, FloatArray]:
    """Starts around a circle, facing its middle, and goals on the other side."""
    angles = np.arange(count) * 2.0 * np.pi / count
    starts = np.column_stack([radius * np.cos(angles), radius * np.sin(angles), angles + np.pi])
    return starts, -starts[:, :2]


def door(width: float, half: float = 6.0) -> World:
    """A square that a wall with a door in the middle divides."""
    middle, length = 0.5 * (half + 0.5 * width), half - 0.5 * width
    walls = tuple(Obstacle(Box((0.0, side * middle), (0.2, length), 2.0)) for side in (-1.0, 1.0))
    return World((-half, -half, half, half), walls)
