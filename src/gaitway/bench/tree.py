"""Benchmark of search trees: the portfolio of tree and A* beside A* alone, in random worlds and in a C.

Nothing was tuned on these worlds.

All times are those of whole calls from Python, with the field of the goal if one is needed, and with goals that cannot
be reached. Many people ask in each world, one after another, as in real use. In each round each planner answers all
queries, so that no query finds its own data in the processor's cache.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from gaitway.behavior.heuristics import Heuristics
from gaitway.behavior.search import search
from gaitway.behavior.searcher import Searcher
from gaitway.bench._arcs import CELL, CELLS, RADIUS, arc_searcher, fields_of, random_place, random_queries, trap
from gaitway.bench._timing import BenchRow, BenchTable, Timing, machine
from gaitway.cast.catalog import load_cast
from gaitway.core.arrays import FloatArray
from gaitway.library.body_discs import body_discs
from gaitway.library.reach import reaches
from gaitway.space.fields import WorldFields
from gaitway.space.movement_costs import planning_table
from gaitway.space.plan import SearchResult
from gaitway.space.query import Query
from gaitway.space.routes import thinnest
from gaitway.tree.building.growing import Budget, diverse_tree
from gaitway.tree.forest import grow_forest
from gaitway.tree.moves import choose_moves
from gaitway.tree.portfolio import Portfolio
from gaitway.tree.query.tree_search import Answers, TreeSearch
from gaitway.tree.region import Region

NODES, REACH = 250_000, 35.0
"""Number of nodes of the tree, and its reach [m]; goals are 8 to 32 m away."""
WORLDS, EACH, ROUNDS = 20, 25, 5
"""Number of random worlds, number of queries in each, and number of rounds over all queries."""
LIGHT, DENSE = 40, 120
"""Number of boxes, which cover about 9 and 25 percent of the floor."""
SEED = 20_000
OURS, PLAIN, WEIGHTED = "ours", "A*", "A*, weight 2"
MANY = 10_000
PLACES, PLACE = 6, 30.0
"""Number of worlds of each kind for the person, and their side [m]."""
Result = TypeVar("Result")
Task = Callable[[], SearchResult]
MEDIAN_TARGET, MEAN_TARGET, WEIGHTED_TARGET, TAIL_TARGET, TRAP_TARGET = 25.0, 12.0, 2.0, 2.0, 8.0


@dataclass(frozen=True, eq=False)
class _TreeRuns:
    """Times [ms] (Q,) and costs (Q,) of all queries, by planner; the cost is NaN if there is no plan."""

    times: dict[str, FloatArray]
    costs: dict[str, FloatArray]
    answered: list[int]
    """Numbers of queries that the tree, the short search and the search by a field answered; (3,)."""

    @property
    def facts(self) -> str:
        """Success and cost as text."""
        found = {name: np.isfinite(costs) for name, costs in self.costs.items()}
        both = found[OURS] & found[PLAIN]
        ratio = float((self.costs[OURS][both] / self.costs[PLAIN][both]).mean())
        shares = [100.0 * found[name].mean() for name in (OURS, PLAIN)]
        tree = 100.0 * self.answered[0] / sum(self.answered)
        return f"{tree:.0f} % by the tree, {shares[0]:.1f} % found (A* {shares[1]:.1f}), cost {ratio:.3f} of A*'s"

    def row(self, name: str, peer: str, figure: Callable[[FloatArray], float], target: float | None) -> BenchRow:
        """Return a row with one figure of ours beside that of a peer."""
        return BenchRow(name, peer, _timing(self.times[OURS], figure), _timing(self.times[peer], figure), target)


def run() -> BenchTable:
    """Run all tasks."""
    searcher = arc_searcher()
    moves = choose_moves(searcher.table, "go", time_weight=0.0)
    diverse_tree(moves, Region.disc(REACH), Budget(100))  # compiles
    began = time.thread_time()
    tree = diverse_tree(moves, Region.disc(REACH), Budget(NODES))
    trees = TreeSearch(searcher, [tree])
    seconds = time.thread_time() - began
    rows = [*_random_rows(trees), _trap_row(trees), *_person_rows(), *_many_rows(trees)]
    title = (
        f"tree: {NODES:,} nodes grown in {seconds:.1f} s, {trees.nbytes / 1e6:.1f} MB in all; {WORLDS * EACH} queries, "
        f"median of {ROUNDS} rounds each, whole calls"
    )
    return BenchTable(title, tuple(rows), machine())


def _random_rows(trees: TreeSearch) -> list[BenchRow]:
    light, dense = (_runs(trees, _places(boxes)) for boxes in (LIGHT, DENSE))
    return [
        light.row(f"light clutter, median: {light.facts}", PLAIN, _median, MEDIAN_TARGET),
        light.row("light clutter, mean", PLAIN, _mean, MEAN_TARGET),
        light.row("light clutter, median", WEIGHTED, _median, WEIGHTED_TARGET),
        light.row("light clutter, p99", WEIGHTED, _tail, None),
        dense.row(f"dense clutter, p99: {dense.facts}", WEIGHTED, _tail, TAIL_TARGET),
        dense.row("dense clutter, mean", WEIGHTED, _mean, None),
        dense.row("dense clutter, median", WEIGHTED, _median, None),
        dense.row("dense clutter, median", PLAIN, _median, None),
    ]


def _places(boxes: int) -> list[tuple[WorldFields, Query]]:
    """Return queries of 8 to 32 m from starts all over random worlds."""
    rng, out = np.random.default_rng(SEED + boxes), list[tuple[WorldFields, Query]]()
    for _ in range(WORLDS):
        world, queries = random_place(rng, boxes, CELLS * CELL, (1.0, 6.0), (8.0, 32.0), 1.0, 1.0, EACH)
        fields = fields_of(world)
        out += [(fields, query) for query in queries]
    return out


def _person_rows() -> list[BenchRow]:
    """Measure the built-in person with its whole body and all behaviours, in worlds of 30 m; goals 3 to 12 m away."""
    person = load_cast("person")
    table = planning_table(person, "normal")
    discs = body_discs(person, table)
    searcher = Searcher(table, discs, reaches(person))
    trees = TreeSearch(searcher, list(grow_forest(table).trees.values()))
    rows = []
    for boxes in (20, 60):
        rng, asked = np.random.default_rng(SEED + boxes), list[tuple[WorldFields, Query]]()
        for _ in range(PLACES):
            world, queries = random_place(rng, boxes, PLACE, (0.5, 3.0), (3.0, 12.0), 0.5, 0.8, EACH)
            fields = WorldFields.of(world, searcher.reaches)
            asked += [(fields, query) for query in queries]
        runs = _runs(trees, asked, thinnest(discs))
        rows.append(runs.row(f"person, {boxes} boxes, median: {runs.facts}", PLAIN, _median, MEDIAN_TARGET))
        rows.append(runs.row(f"person, {boxes} boxes, mean", PLAIN, _mean, MEAN_TARGET))
        rows.append(runs.row(f"person, {boxes} boxes, median", WEIGHTED, _median, WEIGHTED_TARGET))
    return rows


def _trap_row(trees: TreeSearch) -> BenchRow:
    fields, queries = trap()
    runs = _runs(trees, [(fields, query) for query in queries])
    return runs.row(f"C trap, median: {runs.facts}", WEIGHTED, _median, TRAP_TARGET)


def _many_rows(trees: TreeSearch) -> list[BenchRow]:
    """Measure thousands of queries in one world, each from another start; the tree cannot answer all of them."""
    fields, _ = next(random_queries(np.random.default_rng(SEED), LIGHT, 1))
    starts, goals = _scattered(fields, np.random.default_rng(SEED))
    asked = zip(starts[: WORLDS * EACH].tolist(), goals.tolist(), strict=False)
    theirs = np.array([_timed(_plain_task(trees.searcher, fields, start, goal))[0] for start, goal in asked])
    rows = []
    for threads in (1, 2):

        def ask_all(threads: int = threads) -> Answers:
            return trees.find_many(fields, starts, goals, 1.0, threads=threads)

        share = 100.0 * float((ask_all().nodes >= 0).mean())
        each = np.array([_wall(ask_all) / MANY for _ in range(ROUNDS)])
        name = f"{MANY:,} queries at once, on {threads}: {share:.0f} % by the tree alone; each"
        rows.append(BenchRow(name, f"{PLAIN}, mean", _timing(each, _median), _timing(theirs, _mean)))
    return rows


def _plain_task(searcher: Searcher, fields: WorldFields, start: Sequence[float], goal: Sequence[float]) -> Task:
    query = Query((start[0], start[1], start[2]), (goal[0], goal[1]), tolerance=1.0)
    return lambda: search(searcher, fields, query, explain=False)


def _scattered(fields: WorldFields, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return random starts (N, 3) in a world, and goals (N, 2) 8 to 32 m from them."""
    x0, y0, x1, y1 = fields.world.bounds
    starts = rng.uniform((x0, y0, -np.pi), (x1, y1, np.pi), (MANY, 3))
    angles, away = rng.uniform(-np.pi, np.pi, MANY), rng.uniform(8.0, 32.0, MANY)
    goals = starts[:, :2] + away[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    return starts, np.clip(goals, (x0, y0), (x1, y1))


def _runs(trees: TreeSearch, queries: Sequence[tuple[WorldFields, Query]], radius: float = RADIUS) -> _TreeRuns:
    """Run all planners on all queries, in several rounds; the first round compiles and does not count."""
    free = Heuristics.of(trees.searcher.table, trees.searcher.costs, names=("heading",))
    made = {id(fields): Portfolio(trees, fields, radius, free) for fields, _ in queries}
    portfolios = [made[id(fields)] for fields, _ in queries]
    tasks = [_tasks(portfolio, query) for portfolio, (_, query) in zip(portfolios, queries, strict=True)]
    times = {name: np.zeros((ROUNDS + 1, len(queries))) for name in tasks[0]}
    costs = {name: np.full(len(queries), np.nan) for name in tasks[0]}
    for number in range(ROUNDS + 1):
        for name, rounds in times.items():
            for k, task in enumerate(tasks):
                rounds[number, k], result = _timed(task[name])
                portfolios[k].forget()
                if result.found and result.plan is not None:
                    costs[name][k] = result.plan.cost
    answered = [sum(portfolio.answered[stage] for portfolio in made.values()) for stage in range(3)]
    return _TreeRuns({name: np.median(some[1:], axis=0) for name, some in times.items()}, costs, answered)


def _tasks(portfolio: Portfolio, query: Query) -> dict[str, Task]:
    searcher, fields = portfolio.trees.searcher, portfolio.fields
    return {
        PLAIN: lambda: search(searcher, fields, query, explain=False),
        WEIGHTED: lambda: search(searcher, fields, replace(query, weight=2.0), explain=False),
        OURS: lambda: portfolio.find(query, explain=False),
    }


def _timed(task: Callable[[], Result]) -> tuple[float, Result]:
    """Return the processor time of this thread for a task [ms], and the result of the task."""
    began = time.thread_time()
    result = task()
    return 1e3 * (time.thread_time() - began), result


def _wall(task: Callable[[], object]) -> float:
    """Return the wall time of a task [ms]; used for tasks with several threads."""
    began = time.perf_counter()
    task()
    return 1e3 * (time.perf_counter() - began)


def _timing(times: FloatArray, figure: Callable[[FloatArray], float]) -> Timing:
    return Timing(figure(times), float(times.min()), float(times.max()))


def _median(times: FloatArray) -> float:
    return float(np.median(times))


def _mean(times: FloatArray) -> float:
    return float(times.mean())


def _tail(times: FloatArray) -> float:
    return float(np.percentile(times, 99))
