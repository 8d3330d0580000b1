"""A tree against A* (Lau 2009, table 4.2): random queries in a large place, and a C; then gaitway's own planners.

The first rows are the thesis's experiment: its mapping, its backward search, and an A* that makes the same checks. Then
come planners that look at whole bodies, stop at the goal, and never touch anything: A*, and the tree with A* behind it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.papers.charts import Chart, Series
from gaitway.papers.contest import (
    ASTAR,
    CELL,
    CELLS,
    GOAL_CELL,
    GOAL_OVERLAP,
    WEIGHTED,
    Runs,
    contest,
    cutting,
    square_region,
)
from gaitway.papers.lau_4_numbers import TABLE_2, TABLE_2_C
from gaitway.papers.queries import START, Clutter, PaperQuery, random_queries, world_bounds
from gaitway.papers.tables import PAPERS, Claim, PaperOptions, PaperTable, Progress, kept
from gaitway.papers.walkers import NODE, Walker, nodes_of, walker
from gaitway.papers.whole_bodies import NODES, OURS, PLAIN, PlannerRuns, Planners
from gaitway.tree.building.growing import Budget, diverse_tree
from gaitway.tree.model import Tree
from gaitway.tree.region import Region
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World

QUERIES, WHOLE, ROUNDS = 1774, 500, 3
"""Number of queries, number of queries for whole bodies, and number of times that each is timed."""
QUICK, QUICK_NODES = 40, 0.1
"""Number of queries in a quick run, and share of the nodes that its trees have."""
CLUTTER = Clutter((2, 30), (0.5, 4.0))
"""Rectangles, chosen so that A* answers as many queries as in the thesis."""
RANDOM, BODIES = "random queries: % of A*'s, here/thesis", "the same, whole bodies: % of A*'s"
"""Titles of the first two parts of the table."""
SMALL, LARGE, BOUNDED = "SPST, 25 MB", "SPST, 50 MB", "stretch 1.5, 25 MB"
C_SHAPES = ((3.0, 4.0), (5.0, 8.0))
"""Half the width, and the depth, of each C-shaped obstacle [m]."""
_WALL, _NEAR = 0.6, 3.0
"""Thickness of the C's walls, and distance of start and goal from the C [m]."""


def run(progress: Progress, options: PaperOptions) -> PaperTable:
    """Run all planners on all queries."""
    who, count = walker(options.library), QUICK if options.quick else QUERIES
    region = region_of(who)
    share = QUICK_NODES if options.quick else 1.0
    trees, seconds = grow(who, region, options.seed, share, progress)
    nearest = 0.5 * (GOAL_CELL + GOAL_OVERLAP) * who.scale
    queries = random_queries(region, CLUTTER.scaled(who.scale), who.radius, nearest, count, options.seed)
    runs = contest(who, trees, queries, CELL * who.scale, 1 if options.quick else ROUNDS, progress)
    shapes = C_SHAPES[:1] if options.quick else C_SHAPES
    traps = [_trap(who, region, *shape) for shape in shapes]
    in_c = contest(who, trees, [query for pair in traps for query in pair], CELL * who.scale, ROUNDS, progress)
    planners = Planners(who, region, options.seed, round(share * NODES))
    bodies = planners.run(queries[: QUICK if options.quick else WHOLE], progress)
    cuts = max(cutting(who, queries, runs[name], CELL * who.scale) for name in (ASTAR, SMALL))
    in_words = _planners_in_words(planners, bodies)
    bodies_in_c = planners.run([forward for forward, _ in traps], progress)
    data = [*_random_data(runs), *_body_data(bodies), *_c_data(shapes, in_c, bodies_in_c)]
    claims = _claims(runs, bodies, options.quick)
    notes = [
        who.words,
        *_conditions(runs, count, seconds, share),
        f"ways of A* and SPST that cut into an obstacle by more than a cell's diagonal between checks: {cuts:.1f} %",
        in_words,
        *(claim.note for claim in claims),
    ]
    return PaperTable(
        PAPERS["lau-4.2"], tuple(_rows(data)), tuple(notes), kept(claims), _parts(data), tuple(data), _charts(data)
    )


def region_of(who: Walker) -> Region:
    """Return the large region: 270 cells of 14 cm along each side, with the start in its centre."""
    return square_region(CELLS * CELL * who.scale, 2.0 * CELL * who.scale)


def grow(
    who: Walker, region: Region, seed: int, share: float, progress: Progress
) -> tuple[dict[str, Tree], dict[str, float]]:
    """Grow the trees, and return them and their times [s] by name."""
    recipes: dict[str, tuple[float, float | None]] = {LARGE: (50e3, None), SMALL: (25e3, None), BOUNDED: (25e3, 1.5)}
    diverse_tree(who.moves, region, Budget(10))  # compiles
    trees, seconds = {}, {}
    for done, (name, (kilobytes, stretch)) in enumerate(recipes.items()):
        progress(f"growing {name}", done, len(recipes))
        began = time.thread_time()
        budget = Budget(round(share * nodes_of(kilobytes)))
        trees[name] = diverse_tree(who.moves, region, budget, stretch=stretch, seed=seed)
        seconds[name] = time.thread_time() - began
    return trees, seconds


def _trap(who: Walker, region: Region, half: float, depth: float) -> tuple[PaperQuery, PaperQuery]:
    """Return two queries around a C: one that opens towards the start, and one that opens towards the goal.

    A* runs into the first C from the start. A tree's search runs into the second C from the goal.
    """
    pair = []
    for opens in (-1.0, 1.0):
        back = _NEAR + (depth if opens < 0.0 else 0.0)
        walls = [Box((back, 0.0), (_WALL, 2.0 * half + _WALL), 2.0)]
        walls += [Box((back + 0.5 * opens * depth, s * half), (depth + _WALL, _WALL), 2.0) for s in (-1.0, 1.0)]
        large = [Box(_times(who, b.center), _times(who, b.size), 2.0).placed(START) for b in walls]
        goal = _times(who, (2.0 * _NEAR + depth, 0.0))
        pair.append(PaperQuery(World(world_bounds(region), tuple(Obstacle(b) for b in large)), goal))
    return pair[0], pair[1]


def _times(who: Walker, point: tuple[float, float]) -> tuple[float, float]:
    return who.scale * point[0], who.scale * point[1]


def solved_by_all(runs: Mapping[str, Runs] | Mapping[str, PlannerRuns]) -> BoolArray:
    """Return whether each query is answered by all methods; (Q,)."""
    out: BoolArray = np.logical_and.reduce([one.solved for one in runs.values()])
    return out


def percent(values: FloatArray, base: FloatArray, which: BoolArray) -> float:
    """Return the mean ratio of each query's value to its base [%]; the thesis computes it in the same way."""
    ratios = values[which] / np.maximum(base[which], 1e-9)
    return 100.0 * float(ratios.mean()) if len(ratios) else float("nan")


def _random_data(runs: Mapping[str, Runs]) -> list[dict[str, Any]]:
    everybody, base = solved_by_all(runs), runs[ASTAR]
    return [
        {
            "case": RANDOM, "method": name,
            "time": percent(one.search, base.search, everybody), "time_thesis": _thesis(TABLE_2, name, "time"),
            "with_mapping": percent(one.whole, base.search, everybody),
            "faster_median": _faster(one.search, base.search, everybody),
            "checks": percent(one.checks, base.checks, everybody), "checks_thesis": _thesis(TABLE_2, name, "checks"),
            "success": one.success, "success_thesis": _thesis(TABLE_2, name, "success"),
            "cost": percent(one.costs, base.costs, everybody), "cost_thesis": _thesis(TABLE_2, name, "cost"),
        }
        for name, one in runs.items()
    ]  # fmt: skip


def _body_data(bodies: Mapping[str, PlannerRuns]) -> list[dict[str, Any]]:
    base = bodies[PLAIN]
    out = []
    for name, one in bodies.items():
        both = one.solved & base.solved
        out.append(_row(BODIES, name) | {
            "time": percent(one.times, base.times, both),
            "faster_median": _faster(one.times, base.times, both),
            "success": 100.0 * float(one.solved.mean()), "cost": percent(one.costs, base.costs, both),
        })  # fmt: skip
    return out


def _c_data(
    shapes: Sequence[tuple[float, float]], in_c: Mapping[str, Runs], bodies: Mapping[str, PlannerRuns]
) -> list[dict[str, Any]]:
    """Return absolute values: times [us], cells and costs.

    A* has the C in front of the start; the trees have it in front of the goal.
    """
    out = []
    for number, (half, depth) in enumerate(shapes):
        case = f"C of {2 * half:g} x {depth:g} m: actual values, times in us, here/thesis"
        for name, one in in_c.items():
            at = 2 * number + (0 if name in (ASTAR, WEIGHTED) else 1)
            found = bool(one.solved[at])
            out.append(_row(case, name) | {
                "time": float(one.search[at]), "time_thesis": _thesis(TABLE_2_C, name, "time"),
                "with_mapping": float(one.whole[at]), "checks": float(one.checks[at]),
                "checks_thesis": _thesis(TABLE_2_C, name, "checks"), "success": 100.0 * found,
                "cost": float(one.costs[at]) if found else None, "cost_thesis": _thesis(TABLE_2_C, name, "cost"),
            })  # fmt: skip
        for name, planner in bodies.items():
            found = bool(planner.solved[number])
            out.append(_row(f"C of {2 * half:g} x {depth:g} m, whole bodies", name) | {
                "time": float(planner.times[number]),
                "success": 100.0 * found, "cost": float(planner.costs[number]) if found else None,
            })  # fmt: skip
    return out


def _row(case: str, method: str) -> dict[str, Any]:
    keys = ("time", "time_thesis", "with_mapping", "faster_median", "checks", "checks_thesis", "success",
            "success_thesis", "cost", "cost_thesis")  # fmt: skip
    return {"case": case, "method": method, **dict.fromkeys(keys)}


def _rows(data: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the table as text: values here/values of the thesis. A part has only the columns with numbers."""
    columns = {"time": "search", "with_mapping": "+ mapping", "faster_median": "faster", "checks": "checks",
               "success": "success", "cost": "cost"}  # fmt: skip
    of_part = {case: [row for row in data if row["case"] == case] for case, _ in _parts(data)}
    out = []
    for row in data:
        own = {key for key in columns if any(other[key] is not None for other in of_part[row["case"]])}
        words = {columns[key]: _words(row[key], row.get(f"{key}_thesis")) for key in columns if key in own}
        out.append({"method": row["method"], **words})
    return out


def _parts(data: list[dict[str, Any]]) -> tuple[tuple[str, int], ...]:
    """Return the cases and their numbers of rows."""
    cases = [row["case"] for row in data]
    return tuple((case, cases.count(case)) for case in dict.fromkeys(cases))


def _words(here: float | None, thesis: float | None = None) -> str:
    words = "none" if here is None else _number(here)
    return words if thesis is None else f"{words}/{_number(thesis)}"


def _number(value: float) -> str:
    """Return a number with about three digits."""
    if value >= 200.0 or value == round(value):
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10.0 else f"{value:.2f}"


def _thesis(table: Mapping[str, Mapping[str, float]], name: str, quantity: str) -> float | None:
    return table[name][quantity] if name in table else None


def _faster(values: FloatArray, base: FloatArray, which: BoolArray) -> float:
    """Return the median over queries of how many times faster a method is than its base."""
    return float(np.median(base[which] / np.maximum(values[which], 1e-9))) if which.any() else float("nan")


def _conditions(runs: Mapping[str, Runs], count: int, seconds: Mapping[str, float], share: float) -> list[str]:
    side, ways = CELLS * CELL, {name: one for name, one in runs.items() if name != BOUNDED}
    mapping = float(np.mean(runs[SMALL].whole - runs[SMALL].search))
    forward, backward = (float(runs[name].search[runs[name].solved].mean()) for name in (ASTAR, SMALL))
    return [
        f"here/thesis; {count} queries (thesis: 1774), {int(solved_by_all(ways).sum())} answered by A* and both SPST "
        f"(1661); a place of {side:g} x {side:g} m, which the thesis does not say, {CELLS} x {CELLS} cells; "
        f"{CLUTTER.counts[0]} to {CLUTTER.counts[1]} rectangles of {CLUTTER.sides[0]:g} to {CLUTTER.sides[1]:g} m, so "
        "that A* answers as many as the thesis's",
        f"25 and 50 MB are the thesis's, at {NODE} bytes a node: {round(share * nodes_of(25e3)):,} and "
        f"{round(share * nodes_of(50e3)):,} nodes, here 16 bytes each; grown in {seconds[SMALL]:.1f} and "
        f"{seconds[LARGE]:.1f} s (thesis: 199 and 477)",
        "search: mean of each query's own ratio to A*, search alone, as the thesis defines it; + mapping: the tree's "
        f"mapping ({mapping:.0f} us a query) and resets count too, A* has a grid of the world that is made once; "
        "faster: how many times, at the median; checks: cells looked up",
        f"A* takes {forward:.0f} us (thesis: 104880), SPST's search {backward:.0f} us (333): both are faster here, and "
        "A* by far the most",
    ]


def _planners_in_words(planners: Planners, bodies: Mapping[str, PlannerRuns]) -> str:
    """Describe the planners of whole bodies, and which of them answered how many queries."""
    tree, short, field = planners.answered.tolist()
    hits = sum(int(one.hits.sum()) for one in bodies.values())
    return (
        f"whole bodies: {len(bodies[PLAIN].costs)} of the queries, to rest 1 m from the goal, whole calls; a tree of "
        f"{len(planners.tree):,} nodes of {len(planners.tree.moves)} moves ({planners.trees.nbytes / 1e6:.1f} MB with "
        f"lists, grown in {planners.tree_seconds:.1f} s), nothing mapped; the tree answers {tree}, a short A* {short}, "
        f"A* with a field of the ways around obstacles {field}; plans that touch anything, by exact distances: {hits}"
    )


def _claims(runs: Mapping[str, Runs], bodies: Mapping[str, PlannerRuns], quick: bool) -> list[Claim]:
    data = {row["method"]: row for row in _random_data(runs)}
    own = {row["method"]: row for row in _body_data(bodies)}
    large, small, ours, sure = data[LARGE], data[SMALL], own[OURS], not quick
    better = large["success"] >= small["success"] and large["cost"] <= small["cost"]
    as_many = ours["success"] >= own[PLAIN]["success"] - 0.5
    touched = any(one.hits.any() for one in bodies.values())
    return [
        Claim("the backward search looks up less than a tenth of A*'s cells", small["checks"] < 10.0, sure),
        Claim("the backward search alone takes less than a fifth of A*'s time", small["time"] < 20.0, sure),
        Claim("it is more than 200 times faster than A*", small["time"] < 0.5, False),
        Claim("it is faster than A* with its mapping", small["with_mapping"] < 100.0, False),
        Claim("a larger tree answers more, at less cost", better, sure),
        Claim("the portfolio answers as many queries as A*, to half a point", as_many, sure),
        Claim("the portfolio's plans cost 5 % more than A*'s at most, on average", ours["cost"] <= 105.0, sure),
        Claim("the portfolio is 25 times faster than A* at the median", ours["faster_median"] >= 25.0, sure),
        Claim("no plan of a whole body touches anything", not touched),
    ]


def _charts(data: list[dict[str, Any]]) -> tuple[Chart, ...]:
    rows = [row for row in data if row["case"] == RANDOM]
    names = tuple(row["method"] for row in rows)

    def chart(name: str, title: str, up: str, keys: tuple[str, ...], log: bool) -> Chart:
        labels = {"with_mapping": "here, with mapping"}
        series = [
            Series(labels.get(key, "thesis" if key.endswith("thesis") else "here"), tuple(row[key] for row in rows),
                   dashed=key.endswith("thesis"))
            for key in keys
        ]  # fmt: skip
        return Chart(name=name, title=title, places=names, across="", up=up, series=tuple(series), log=log, bars=True)

    return (
        chart("times", "Time of a query", "% of A*, logarithmic", ("time", "time_thesis", "with_mapping"), True),
        chart("checks", "Cells looked up", "% of A*", ("checks", "checks_thesis"), False),
        chart("success", "Queries answered", "%", ("success", "success_thesis"), False),
        chart("cost", "Cost of the ways found", "% of A*", ("cost", "cost_thesis"), False),
    )
