"""Benchmark of behaviour planning: random boxes beside a bare A*, an enclosed goal, a trap, a maze, and a crowd."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from gaitway.behavior.heuristics import Heuristics
from gaitway.behavior.planner import prepared_search
from gaitway.behavior.search import search
from gaitway.behavior.searcher import Searcher
from gaitway.bench._arcs import ARCS, CELL, CELLS, RADIUS, arc_searcher, bounds, fields_of, random_queries, trap
from gaitway.bench._bare_search import BareSearch, BareWorld
from gaitway.bench._timing import BenchRow, BenchTable, Timing, machine
from gaitway.planning import plan_scene
from gaitway.scene import load_scene
from gaitway.space.fields import WorldFields
from gaitway.space.prepared import planning_context
from gaitway.space.query import Query
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World

QUERIES, ROUNDS = 120, 15
"""Number of queries of each kind, and number of times that each is measured; the median removes disturbances by other
processes."""
BARE, BLIND = "bare A*", "distance only"
CROWD, CROWD_TARGET = "fairground", 20.0
BARE_TARGET, GUIDED_TARGET = 0.5, 8.0
"""Targets: at most twice the time of a search that checks almost nothing; eight times faster than with the distance
alone, the time to compute the field included."""


def run() -> BenchTable:
    """Run all tasks."""
    library = arc_searcher()
    rows: list[BenchRow] = []
    for boxes in (40, 120):
        queries = list(random_queries(np.random.default_rng(boxes), boxes, QUERIES))
        rows += [_random_row(library, queries, f"{boxes} boxes", weight) for weight in (1.0, 2.0)]
    rows += [_walled_in(library), _trap(library), _maze(), _crowd()]
    size = f"{CELLS} x {CELLS} cells of {CELL:g} m"
    title = f"behavior: {len(ARCS)} clips in {size}; median, fastest and slowest of {QUERIES} queries, whole calls"
    return BenchTable(title, tuple(rows), machine())


def _random_row(searcher: Searcher, queries: Sequence[tuple[WorldFields, Query]], name: str, weight: float) -> BenchRow:
    """Time all queries, also those without a plan, beside the bare search over the same free space."""
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
    """Time queries to a goal with walls all around it.

    The goal lies in another part of free space, so that the bare search visits everything that it can reach.
    """
    walls = [((0.0, 4.0), (9.0, 0.6)), ((0.0, -4.0), (9.0, 0.6)), ((4.0, 0.0), (0.6, 9.0)), ((-4.0, 0.0), (0.6, 9.0))]
    fields = fields_of(World(bounds(), tuple(Obstacle(Box((60.0 + x, 38.0 + y), size, 2.0)) for (x, y), size in walls)))
    query, world = Query((38.0, 38.0, 0.0), (60.0, 38.0), tolerance=1.0), _bare_world(fields)
    bare = BareSearch(ARCS, world.bins)
    ours = [_milliseconds(lambda: search(searcher, fields, query))]
    theirs = [_milliseconds(lambda: _bare_way(bare, world, query), 1, time.thread_time)]
    nodes = search(searcher, fields, query).expanded
    return BenchRow(f"goal walled in: no path; {nodes} nodes to say why", BARE, _timing(ours), _timing(theirs))


def _trap(searcher: Searcher) -> BenchRow:
    """Time queries that lead out of the open side of a C and around it, to goals behind it."""
    fields, queries = trap()
    heuristics = Heuristics.of(searcher.table, searcher.costs, fields)
    return _guided_row("C trap", searcher, fields, [replace(query, weight=2.0) for query in queries], heuristics)


def _maze() -> BenchRow:
    """Time the ready scene, with all behaviours of a person."""
    scene = load_scene("maze")
    prepared = planning_context(scene.world).prepared(scene.characters[0])
    queries = [Query(who.start, who.goal, weight=2.0) for who in scene.characters]
    return _guided_row(
        "maze, a person",
        prepared_search(prepared).searcher,
        prepared.fields,
        queries,
        prepared_search(prepared).heuristics,
    )


def _crowd() -> BenchRow:
    """Time a hundred people in a large place: libraries, search and motion together, beside the motion's duration."""
    plan_scene(CROWD)  # compiles, and generates the library
    planned = plan_scene(CROWD)
    ours, motion = 1e3 * planned.seconds, 1e3 * planned.motion_seconds
    name = f"{CROWD}: {len(planned.scene.characters)} people planned and made, {len(planned.failed)} do not arrive"
    return BenchRow(name, "their motion", Timing(ours, ours, ours), Timing(motion, motion, motion), CROWD_TARGET)


def _guided_row(
    name: str, searcher: Searcher, fields: WorldFields, queries: Sequence[Query], heuristics: Heuristics
) -> BenchRow:
    """Time searches with estimates by table and field, a new field for each goal, beside the distance alone."""
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


def _bare_world(fields: WorldFields) -> BareWorld:
    """Return the free space for a round body, as the planner sees it."""
    distances = np.sqrt(fields.arrays.squares[0])
    return BareWorld.of(distances, RADIUS, fields.spec.cell, fields.spec.origin, max(length for length, _ in ARCS))


def _bare_way(bare: BareSearch, world: BareWorld, query: Query) -> object:
    return bare.way(world, query.start, query.goal, query.tolerance, query.weight)


def _milliseconds(
    task: Callable[[], object], rounds: int = ROUNDS, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Measure the time of a task that was run once before [ms]: the median of some rounds.

    Other processes interrupt tasks of milliseconds, so these are measured by the clock of the thread. Reading that
    clock takes too long for tasks of microseconds.
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
