"""Clips for benchmarks of planners and of a bare A*: twelve arcs of a round body among random boxes."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from gaitway.behavior.searcher import Searcher
from gaitway.bench._bare_search import TESTED
from gaitway.core.arrays import FloatArray
from gaitway.library.actions import ActionTable
from gaitway.library.body_discs import BodyDiscs
from gaitway.space.fields import WorldFields
from gaitway.space.query import Query
from gaitway.world.grid import GridSpec
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World

CELLS, CELL, RADIUS = 540, 0.14, 0.3
BINS = (0.56, 16)
"""Bins of the closed set: side [m], and number of headings in a full turn."""
ARCS = (
    *((2.0, -45.0), (2.0, 0.0), (2.0, 45.0), (3.0, -30.0), (3.0, 0.0), (3.0, 30.0)),
    *((4.0, -15.0), (4.0, 0.0), (4.0, 15.0), (2.5, -22.5), (2.5, 22.5), (3.5, 0.0)),
)
"""Length [m] and turn [degrees] of each clip."""
SPEED = 1.4
"""Speed along the arcs [m/s]."""
WALLS = (Box((45.0, 38.0), (0.6, 24.0), 2.0), Box((37.0, 50.0), (16.0, 0.6), 2.0), Box((37.0, 26.0), (16.0, 0.6), 2.0))
"""Walls of a C that is open on the left."""


def arc_searcher() -> Searcher:
    """Return a searcher for the arcs, whose cost is their length."""
    return Searcher(*clip_set(), time_weight=0.0, bins=BINS)


def trap() -> tuple[WorldFields, list[Query]]:
    """Return queries that lead out of the open side of a C and around it, to goals behind it."""
    fields = fields_of(World(bounds(), tuple(Obstacle(wall) for wall in WALLS)))
    return fields, [Query((38.0, 38.0, 0.0), (56.0 + k, 36.0 + k), tolerance=1.0) for k in range(5)]


def random_queries(rng: np.random.Generator, boxes: int, count: int) -> Iterator[tuple[WorldFields, Query]]:
    """Yield worlds with one query each: from the centre to a free goal 8 to 32 m away, among new random boxes."""
    for _ in range(count):
        world, query = random_query(rng, boxes, CELLS * CELL, (1.0, 6.0), (8.0, 32.0), 1.0, 1.0)
        yield fields_of(world), query


def random_query(
    rng: np.random.Generator, boxes: int, side: float, sizes: tuple[float, float], away: tuple[float, float],
    tolerance: float, room: float,
) -> tuple[World, Query]:  # fmt: skip
    """Return a world with random boxes, and a query from its centre. Boxes too near to start or goal are left out.

    Args:
        rng: random number generator.
        boxes: number of boxes.
        side: side of the world [m].
        sizes: least and greatest side of a box [m].
        away: least and greatest distance of the goal [m].
        tolerance: tolerance of the goal [m].
        room: free distance around start and goal [m].
    """
    middle = 0.5 * side
    at, extents = rng.uniform(0.0, side, (boxes, 2)), rng.uniform(*sizes, (boxes, 2))
    angle, far, heading = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(*away), rng.uniform(-np.pi, np.pi)
    goal = (middle + far * math.cos(angle), middle + far * math.sin(angle))
    clear = [(np.abs(at - place) > 0.5 * extents + room).any(axis=1) for place in ((middle, middle), goal)]
    return _world(side, at[clear[0] & clear[1]], extents[clear[0] & clear[1]]), Query(
        (middle, middle, heading), goal, tolerance=tolerance
    )


def random_place(
    rng: np.random.Generator, boxes: int, side: float, sizes: tuple[float, float], away: tuple[float, float],
    tolerance: float, room: float, count: int,
) -> tuple[World, list[Query]]:  # fmt: skip
    """Return a world with random boxes, and queries from starts all over it; see `random_query`."""
    at, extents = rng.uniform(0.0, side, (boxes, 2)), rng.uniform(*sizes, (boxes, 2))

    def is_free(place: FloatArray) -> bool:
        inside = bool((place > room).all() and (place < side - room).all())
        return inside and bool((np.abs(at - place) > 0.5 * extents + room).any(axis=1).all())

    queries: list[Query] = []
    while len(queries) < count:
        start, angle, far = rng.uniform(0.0, side, 2), rng.uniform(0.0, 2.0 * np.pi), rng.uniform(*away)
        goal = start + far * np.array([math.cos(angle), math.sin(angle)])
        if is_free(start) and is_free(goal):
            x, y = start.tolist()
            queries.append(
                Query((x, y, rng.uniform(-np.pi, np.pi)), (float(goal[0]), float(goal[1])), tolerance=tolerance)
            )
    return _world(side, at, extents), queries


def _world(side: float, at: FloatArray, extents: FloatArray) -> World:
    boxes = np.column_stack([at, extents]).tolist()
    return World((0.0, 0.0, side, side), tuple(Obstacle(Box((x, y), (a, b), 2.0)) for x, y, a, b in boxes))


def bounds() -> tuple[float, float, float, float]:
    return 0.0, 0.0, CELLS * CELL, CELLS * CELL


def fields_of(world: World) -> WorldFields:
    return WorldFields.of(world, cell=GridSpec((-CELL, -CELL), CELL, (CELLS + 2, CELLS + 2)))


def clip_set() -> tuple[ActionTable, BodyDiscs]:
    """Return actions and discs of a round body: the arcs, and standing still, all in one state."""
    arcs = [(0.0, 0.0), *((length, math.radians(turn)) for length, turn in ARCS)]
    poses = [_arc(length, turn, np.linspace(0.0, 1.0, 9 if length else 1)) for length, turn in arcs]
    count, lengths = len(arcs), np.array([length for length, _ in arcs])
    idle, zeros = lengths == 0.0, np.zeros(len(arcs), dtype=np.int64)
    durations = np.maximum(lengths / SPEED, 1.0)
    tested = [p[list(TESTED)] if len(p) > 1 else p for p in poses]
    discs = [np.column_stack([p[:, :2], np.full(len(p), RADIUS)]) for p in tested]
    around = np.array([[*_middle(d), float(np.hypot(*(d[:, :2] - _middle(d)).T).max()) + RADIUS] for d in discs])
    starts, sample_starts = (np.cumsum([0, *map(len, parts)]) for parts in (discs, poses))
    table = ActionTable(
        behaviors=tuple(f"clip {k}" for k in range(count)), clips=tuple(f"clip {k}" for k in range(count)), kinds=(),
        states=("go",), behavior=np.arange(count), start_state=zeros, end_state=zeros, idle=idle, quiet=idle,
        on_foot=zeros > 0,
        rest=np.array([True]), moves=np.array([p[-1] * bool(n) for p, (n, _) in zip(poses, arcs, strict=True)]),
        frames=np.round(30.0 * durations).astype(np.int64), durations=durations, costs=lengths + 0.01 * idle,
        rises=np.zeros(count), kind=zeros - 1, pass_times=np.full(count, np.nan), sample_starts=sample_starts,
        samples=np.concatenate(poses),
        sample_times=np.concatenate([np.linspace(0.0, t, len(p)) for t, p in zip(durations, poses, strict=True)]),
        follower_starts=np.arange(count + 1) * count, followers=np.tile(np.arange(count), count), spacing=0.5,
    )  # fmt: skip
    bodies = BodyDiscs(
        static_starts=starts, static=np.concatenate(discs),
        bounds=np.array([np.hypot(*d[:, :2].T).max() + RADIUS for d in discs]),
        around=around, window_starts=np.arange(count + 1), window_frames=np.column_stack([zeros, table.frames]),
        window_times=np.column_stack([np.zeros(count), durations]), window_poses=np.zeros((count, 3)),
        window_bounds=around[:, 2], window_around=around, timed_starts=starts, timed=np.concatenate(discs), margin=0.05,
        timed_margin=0.05,
    )  # fmt: skip
    for part in (table, bodies):
        for value in vars(part).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
    return table, bodies


def _arc(length: float, turn: float, share: FloatArray) -> FloatArray:
    """Return poses along an arc: x, y [m], heading [rad]; (N, 3)."""
    angle = (turn or 1e-9) * share
    radius = length / (turn or 1e-9)
    return np.column_stack([radius * np.sin(angle), radius * (1.0 - np.cos(angle)), turn * share])


def _middle(discs: FloatArray) -> FloatArray:
    middle: FloatArray = 0.5 * (discs[:, :2].min(axis=0) + discs[:, :2].max(axis=0))
    return middle
