"""Behaviour planning for one character among random boxes and in a trap, beside the same search in plain Python."""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from gaitway import planar
from gaitway.arrays import FloatArray
from gaitway.behavior.fields import WorldFields
from gaitway.behavior.heuristics import Heuristics
from gaitway.behavior.search import Query, Searcher, search
from gaitway.bench._timing import BenchRow, BenchTable, Timing, machine
from gaitway.library.actions import ActionTable
from gaitway.library.body_discs import BodyDiscs
from gaitway.world.grid import GridSpec
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World

CELLS, CELL, RADIUS = 540, 0.14, 0.3
BINS = (0.56, 16)
"""Bins of the closed set: metres, and headings in a turn."""
QUERIES, PLAIN = 120, 3
"""Queries of each kind, and how many of them are searched in plain Python too."""
ARCS = (
    (2, -45),
    (2, 0),
    (2, 45),
    (3, -30),
    (3, 0),
    (3, 30),
    (4, -15),
    (4, 0),
    (4, 15),
    (2.5, -22.5),
    (2.5, 22.5),
    (3.5, 0),
)
"""Length [m] and turn [degrees] of each clip."""
SPEED = 1.4
"""[m/s]."""
JIT_TARGET, TRAP_TARGET = 50.0, 8.0


def run() -> BenchTable:
    """Random queries of 8 to 32 m with weights 1 and 2, and a C-shaped trap with and without estimates around it."""
    searcher = Searcher(*_clip_set(), time_weight=0.0, bins=BINS)
    rows: list[BenchRow] = []
    for boxes in (40, 120):
        queries = list(_queries(np.random.default_rng(boxes), boxes))
        for weight in (1.0, 2.0):
            rows.append(_row(searcher, [(f, replace(q, weight=weight)) for f, q in queries], f"{boxes} boxes", weight))
    rows += _trap(searcher)
    size = f"{CELLS} x {CELLS} cells of {CELL:g} m"
    title = f"behavior: {len(ARCS)} clips in {size}; median, fastest and slowest over {QUERIES} queries, whole calls"
    return BenchTable(title, tuple(rows), machine())


def _row(searcher: Searcher, queries: list[tuple[WorldFields, Query]], name: str, weight: float) -> BenchRow:
    """Times of all queries, those without a plan too: each three times after a first one; the median counts."""
    times, found = [], 0
    for fields, query in queries:
        search(searcher, fields, query)
        took = []
        for _ in range(3):
            began = time.perf_counter()
            result = search(searcher, fields, query)
            took.append(1e3 * (time.perf_counter() - began))
        times.append(sorted(took)[1])
        found += result.found
    plain = [_seconds(lambda f=f, q=q: _plain_search(searcher, f, q)) for f, q in queries[:PLAIN]]  # type: ignore[misc]
    title = (
        f"{name}, weight {weight:g}: {100 * found / len(queries):.0f} % found, p99 {np.percentile(times, 99):.3g} ms"
    )
    ours = Timing(float(np.median(times)), min(times), max(times))
    return BenchRow(title, "plain Python", ours, _timing(plain), JIT_TARGET)


def _trap(searcher: Searcher) -> list[BenchRow]:
    """Into the open side of a C and out again: weight 2 with the distance alone, against all estimates."""
    walls = (
        Box((45.0, 38.0), (0.6, 24.0), 2.0),
        Box((37.0, 50.0), (16.0, 0.6), 2.0),
        Box((37.0, 26.0), (16.0, 0.6), 2.0),
    )
    fields = _fields(World(_bounds(), tuple(Obstacle(wall) for wall in walls)))
    query = Query((38.0, 38.0, 0.0), (60.0, 38.0), tolerance=1.0, weight=2.0)
    estimates, clever = Heuristics.of(searcher.table, searcher.costs, fields), replace(query, weight=1.5)

    def afresh(number: int) -> object:
        """To a goal that nobody has gone to before."""
        goal = (60.0 + 0.6 * number, 38.0)
        return search(searcher, fields, replace(clever, goal=goal), None, estimates.arrays(goal, 1.0, query.start[:2]))

    whole = [_seconds(lambda k=k: afresh(k)) for k in range(8)][1:]  # type: ignore[misc]
    arrays = estimates.arrays(query.goal, query.tolerance)
    blind, sighted = search(searcher, fields, query), search(searcher, fields, clever, None, arrays)
    slow = _timing([_seconds(lambda: search(searcher, fields, query)) for _ in range(7)])
    quick = _timing([_seconds(lambda: search(searcher, fields, clever, None, arrays)) for _ in range(7)])
    name = f"C trap, route and table: {sighted.expanded} nodes against {blind.expanded}"
    return [
        BenchRow(name, "gaitway, distance, weight 2", quick, slow, TRAP_TARGET),
        BenchRow("C trap, with the route's own time", "gaitway, distance, weight 2", _timing(whole), slow, TRAP_TARGET),
    ]


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
    arcs = [(0.0, 0.0), *((float(a), math.radians(b)) for a, b in ARCS)]
    poses = [_arc(length, turn, np.linspace(0.0, 1.0, 9 if length else 1)) for length, turn in arcs]
    count, lengths = len(arcs), np.array([length for length, _ in arcs])
    idle, zeros = lengths == 0.0, np.zeros(len(arcs), dtype=np.int64)
    durations = np.maximum(lengths / SPEED, 1.0)
    discs = [np.column_stack([p[:, :2], np.full(len(p), RADIUS)]) for p in poses]
    around = np.array([[*_middle(d), float(np.hypot(*(d[:, :2] - _middle(d)).T).max()) + RADIUS] for d in discs])
    starts = np.cumsum([0, *map(len, discs)])
    table = ActionTable(
        behaviors=tuple(f"clip {k}" for k in range(count)), clips=tuple(f"clip {k}" for k in range(count)), kinds=(),
        states=("go",), behavior=np.arange(count), start_state=zeros, end_state=zeros, idle=idle, quiet=idle,
        rest=np.array([True]), moves=np.array([p[-1] * bool(n) for p, (n, _) in zip(poses, arcs, strict=True)]),
        frames=np.round(30.0 * durations).astype(np.int64), durations=durations, costs=lengths + 0.01 * idle,
        rises=np.zeros(count), kind=zeros - 1, pass_times=np.full(count, np.nan), sample_starts=starts,
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


def _plain_search(searcher: Searcher, fields: WorldFields, query: Query) -> float | None:
    """The same search with lists, dictionaries and the standard heap: the cost of the plan, or None."""
    table, actions, (side, turns) = searcher.table, searcher.arrays.actions.tolist(), searcher.bins
    firsts, discs = searcher.arrays.firsts[:, 0].tolist(), searcher.arrays.static
    goal, rate = query.goal, searcher.per_metre

    def bin_of(x: float, y: float, heading: float) -> tuple[int, int, int]:
        turn = math.floor((heading + math.pi) / math.tau * turns + 0.5) % turns
        return math.floor(x / side), math.floor(y / side), turn

    def estimate(x: float, y: float) -> float:
        return max(math.hypot(x - goal[0], y - goal[1]) - query.tolerance, 0.0) * rate

    x, y, heading = query.start
    best, count = {bin_of(x, y, heading): 0.0}, 0
    queue = [(0.0, 0.0, 0, 0.0, x, y, heading)]
    while queue:
        _, _, _, cost, x, y, heading = heapq.heappop(queue)
        if best[bin_of(x, y, heading)] < cost:
            continue
        if math.hypot(x - goal[0], y - goal[1]) <= query.tolerance:
            return cost
        c, s = math.cos(heading), math.sin(heading)
        for a in range(len(table)):
            along, aside, turn, price = actions[a][:4]
            x1, y1 = x + c * along - s * aside, y + s * along + c * aside
            heading1 = heading + turn - math.tau * math.floor((heading + turn + math.pi) / math.tau)
            total, key = cost + price, bin_of(x1, y1, heading1)
            if best.get(key, math.inf) <= total:
                continue
            own = discs[firsts[a] : firsts[a + 1]]
            if (fields.clearance(planar.transform_points((x, y, heading), own[:, :2])) < own[:, 2]).any():
                continue
            best[key], count, h = total, count + 1, estimate(x1, y1)
            heapq.heappush(queue, (total + query.weight * h, h, count, total, x1, y1, heading1))
    return None


def _seconds(task: Callable[[], object]) -> float:
    began = time.perf_counter()
    task()
    return time.perf_counter() - began


def _timing(seconds: list[float]) -> Timing:
    times = 1e3 * np.array(seconds)
    return Timing(float(np.median(times)), float(times.min()), float(times.max()))
