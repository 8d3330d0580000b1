"""Behaviour planning: random boxes beside a bare A*, a goal walled in, a trap, a maze, and a crowd of a hundred."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from gaitway.arrays import FloatArray
from gaitway.behavior.fields import WorldFields
from gaitway.behavior.heuristics import Heuristics
from gaitway.behavior.kits import kits
from gaitway.behavior.search import Query, Searcher, search
from gaitway.bench._bare_search import TESTED, BareSearch, BareWorld
from gaitway.bench._timing import BenchRow, BenchTable, Timing, machine
from gaitway.library.actions import ActionTable
from gaitway.library.body_discs import BodyDiscs
from gaitway.planning import plan_scene
from gaitway.scene import load_scene
from gaitway.world.grid import GridSpec
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World

CELLS, CELL, RADIUS = 540, 0.14, 0.3
BINS = (0.56, 16)
"""Bins of the closed set: metres, and headings in a turn."""
QUERIES, ROUNDS = 120, 15
"""Queries of each kind, and how often each is measured; medians leave out what else the machine does."""
ARCS = (
    *((2.0, -45.0), (2.0, 0.0), (2.0, 45.0), (3.0, -30.0), (3.0, 0.0), (3.0, 30.0)),
    *((4.0, -15.0), (4.0, 0.0), (4.0, 15.0), (2.5, -22.5), (2.5, 22.5), (3.5, 0.0)),
)
"""Length [m] and turn [degrees] of each clip."""
SPEED = 1.4
"""[m/s]."""
BARE, BLIND = "bare A*", "distance only"
CROWD, CROWD_TARGET = "fairground", 20.0
BARE_TARGET, GUIDED_TARGET = 0.5, 8.0
"""No more than twice as long as a search that checks next to nothing; eight times faster with a field's own time."""


def run() -> BenchTable:
    """All of them."""
    searcher = Searcher(*_clip_set(), time_weight=0.0, bins=BINS)
    rows: list[BenchRow] = []
    for boxes in (40, 120):
        queries = list(_queries(np.random.default_rng(boxes), boxes))
        rows += [_random_row(searcher, queries, f"{boxes} boxes", weight) for weight in (1.0, 2.0)]
    rows += [_walled_in(searcher), _trap(searcher), _maze(), _crowd()]
    size = f"{CELLS} x {CELLS} cells of {CELL:g} m"
    title = f"behavior: {len(ARCS)} clips in {size}; median, fastest and slowest of {QUERIES} queries, whole calls"
    return BenchTable(title, tuple(rows), machine())


def _random_row(searcher: Searcher, queries: Sequence[tuple[WorldFields, Query]], name: str, weight: float) -> BenchRow:
    """All queries, those without a plan too, beside the bare search over the same free space."""
    ours, theirs, found = [], [], 0
    worlds = [_bare_world(fields) for fields, _ in queries]
    bare = BareSearch(ARCS, worlds[0].bins)
    for (fields, query), world in zip(queries, worlds, strict=True):
        weighted = replace(query, weight=weight)
        ours.append(_milliseconds(lambda f=fields, q=weighted: search(searcher, f, q)))  # type: ignore[misc]
        theirs.append(_milliseconds(lambda w=world, q=weighted: _bare_way(bare, w, q)))  # type: ignore[misc]
        found += search(searcher, fields, weighted).found
    share, slow = 100.0 * found / len(queries), np.percentile(ours, 99)
    title = f"{name}, weight {weight:g}: {share:.0f} % found, p99 {slow:.2g} ms"
    return BenchRow(title, BARE, _timing(ours), _timing(theirs), BARE_TARGET)


def _walled_in(searcher: Searcher) -> BenchRow:
    """To a goal with walls all around: it lies in another part of free space, and the bare search looks everywhere."""
    walls = [((0.0, 4.0), (9.0, 0.6)), ((0.0, -4.0), (9.0, 0.6)), ((4.0, 0.0), (0.6, 9.0)), ((-4.0, 0.0), (0.6, 9.0))]
    fields = _fields(World(_bounds(), tuple(Obstacle(Box((60.0 + x, 38.0 + y), size, 2.0)) for (x, y), size in walls)))
    query, world = Query((38.0, 38.0, 0.0), (60.0, 38.0), tolerance=1.0), _bare_world(fields)
    bare = BareSearch(ARCS, world.bins)
    ours = [_milliseconds(lambda: search(searcher, fields, query))]
    theirs = [_milliseconds(lambda: _bare_way(bare, world, query), 1, time.thread_time)]
    nodes = search(searcher, fields, query).expanded
    return BenchRow(f"goal walled in: no path; {nodes} nodes to say why", BARE, _timing(ours), _timing(theirs))


def _trap(searcher: Searcher) -> BenchRow:
    """Out of the open side of a C and around it, to goals behind it."""
    walls = (
        Box((45.0, 38.0), (0.6, 24.0), 2.0),
        Box((37.0, 50.0), (16.0, 0.6), 2.0),
        Box((37.0, 26.0), (16.0, 0.6), 2.0),
    )
    fields = _fields(World(_bounds(), tuple(Obstacle(wall) for wall in walls)))
    queries = [Query((38.0, 38.0, 0.0), (56.0 + k, 36.0 + k), tolerance=1.0, weight=2.0) for k in range(5)]
    return _guided_row("C trap", searcher, fields, queries, Heuristics.of(searcher.table, searcher.costs, fields))


def _maze() -> BenchRow:
    """The ready scene, with all the behaviours of a person."""
    scene = load_scene("maze")
    kit = kits(scene.world).of(scene.characters[0])
    queries = [Query(who.start, who.goal, weight=2.0) for who in scene.characters]
    return _guided_row("maze, a person", kit.searcher, kit.fields, queries, kit.heuristics)


def _crowd() -> BenchRow:
    """A hundred people in a large place: libraries, search and motion together, beside the length of that motion."""
    plan_scene(CROWD)  # compiles, and generates the library
    planned = plan_scene(CROWD)
    ours, motion = 1e3 * planned.seconds, 1e3 * planned.motion_seconds
    name = f"{CROWD}: {len(planned.scene.characters)} people planned and made, {len(planned.failed)} do not arrive"
    return BenchRow(name, "their motion", Timing(ours, ours, ours), Timing(motion, motion, motion), CROWD_TARGET)


def _guided_row(
    name: str, searcher: Searcher, fields: WorldFields, queries: Sequence[Query], heuristics: Heuristics
) -> BenchRow:
    """Estimates by table and field, the field computed anew for each goal, against the distance alone."""
    ours, theirs, routes, nodes, blind_nodes = [], [], [], 0, 0
    for query in queries:

        def estimates(query: Query = query) -> object:
            heuristics.forget()
            return heuristics.arrays(query.goal, query.tolerance, query.start[:2], query.weight)

        def guided(query: Query = query) -> int:
            arrays = heuristics.arrays(query.goal, query.tolerance, query.start[:2], query.weight)
            return search(searcher, fields, query, None, arrays).expanded

        def blind(query: Query = query) -> int:
            return search(searcher, fields, query).expanded

        routes.append(_milliseconds(estimates, clock=time.thread_time))
        ours.append(_milliseconds(lambda e=estimates, g=guided: (e(), g()), clock=time.thread_time))  # type: ignore[misc]
        theirs.append(_milliseconds(blind, 1, time.thread_time))
        nodes, blind_nodes = nodes + guided(), blind_nodes + blind()
    title = f"{name}, field included ({np.median(routes):.2g} ms); {nodes} nodes against {blind_nodes}"
    return BenchRow(title, BLIND, _timing(ours), _timing(theirs), GUIDED_TARGET)


def _queries(rng: np.random.Generator, boxes: int) -> Iterator[tuple[WorldFields, Query]]:
    """From the middle to a free place 8 to 32 m away, among new boxes each time."""
    side = CELLS * CELL
    middle = 0.5 * side
    for _ in range(QUERIES):
        at, sizes = rng.uniform(0.0, side, (boxes, 2)), rng.uniform(1.0, 6.0, (boxes, 2))
        angle, away, heading = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(8.0, 32.0), rng.uniform(-np.pi, np.pi)
        goal = (middle + away * math.cos(angle), middle + away * math.sin(angle))
        far = [(np.abs(at - place) > 0.5 * sizes + 1.0).any(axis=1) for place in ((middle, middle), goal)]
        boxes_here = np.column_stack([at, sizes])[far[0] & far[1]].tolist()
        world = World(_bounds(), tuple(Obstacle(Box((x, y), (a, b), 2.0)) for x, y, a, b in boxes_here))
        yield _fields(world), Query((middle, middle, heading), goal, tolerance=1.0)


def _bounds() -> tuple[float, float, float, float]:
    return 0.0, 0.0, CELLS * CELL, CELLS * CELL


def _fields(world: World) -> WorldFields:
    return WorldFields.of(world, cell=GridSpec((-CELL, -CELL), CELL, (CELLS + 2, CELLS + 2)))


def _clip_set() -> tuple[ActionTable, BodyDiscs]:
    """Arcs of a round body, and standing still, all in one state."""
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
    """Poses along an arc; (N, 3)."""
    angle = (turn or 1e-9) * share
    radius = length / (turn or 1e-9)
    return np.column_stack([radius * np.sin(angle), radius * (1.0 - np.cos(angle)), turn * share])


def _middle(discs: FloatArray) -> FloatArray:
    middle: FloatArray = 0.5 * (discs[:, :2].min(axis=0) + discs[:, :2].max(axis=0))
    return middle


def _bare_world(fields: WorldFields) -> BareWorld:
    """Free space for a round body, as the planner sees it."""
    distances = np.sqrt(fields.arrays.squares[0])
    return BareWorld.of(distances, RADIUS, fields.spec.cell, fields.spec.origin, max(length for length, _ in ARCS))


def _bare_way(bare: BareSearch, world: BareWorld, query: Query) -> object:
    return bare.way(world, query.start, query.goal, query.tolerance, query.weight)


def _milliseconds(
    task: Callable[[], object], rounds: int = ROUNDS, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Time of a task that was done once before; the median of some rounds.

    What takes milliseconds is cut off by others on a busy machine, and so better measured by the clock of the thread;
    to read that takes too long beside what takes microseconds.
    """
    task()
    times = []
    for _ in range(rounds):
        began = clock()
        task()
        times.append(1e3 * (clock() - began))
    return float(np.median(times))


def _timing(milliseconds: Sequence[float]) -> Timing:
    return Timing(float(np.median(milliseconds)), min(milliseconds), max(milliseconds))
