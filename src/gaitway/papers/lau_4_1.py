"""Methods to grow a tree (Lau 2009, table 4.1 and figure 4.10): which trees of the same size answer the most queries.

All trees are searched by the thesis's own method: obstacles are mapped into the tree's frame, and algorithm 3 looks for
the cheapest path. The other methods choose among the paths of an exhaustive tree. All methods use its region.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from PIL import Image

from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.errors import GaitwayError
from gaitway.papers.charts import Chart, Series
from gaitway.papers.lau_4_numbers import EXHAUSTIVE, IP, PST, SIZES, SPST
from gaitway.papers.lau_4_numbers import TABLE_1 as THESIS
from gaitway.papers.queries import START, Clutter, PaperQuery, random_queries
from gaitway.papers.tables import PAPERS, Claim, PaperOptions, PaperTable, Progress, kept
from gaitway.papers.walkers import NODE, Walker, nodes_of, walker
from gaitway.render.sheets.graph_drawing import BACKDROP
from gaitway.render.sheets.tree_picture import tree_picture
from gaitway.tree.building.coverage import coverage, covered
from gaitway.tree.building.growing import Budget, diverse_tree, exhaustive_tree, pruned_tree
from gaitway.tree.model import NODE_BYTES, Tree
from gaitway.tree.thesis.backward import BackwardSearch
from gaitway.tree.thesis.baselines import BASELINES, CANDIDATES
from gaitway.tree.thesis.gridmap import EnvironmentMap, GoalMap
from gaitway.tree.thesis.mapping import MappedGrid, MappedThings

QUERIES, QUICK, FEW = 1186, 60, 1500
"""Number of queries, number of queries in a quick run, and number of candidates of the other methods in a quick run."""
CLUTTER = Clutter((1, 20), (0.5, 3.0))
"""Rectangles, chosen so that the exhaustive tree answers as many queries as that of the thesis. The thesis does not say
which rectangles it used."""
CELL, REGION_CELL, GOAL_CELL, GOAL_OVERLAP = 0.14, 0.28, 0.6, 1.4
"""Sides of the cells of the environment, of the region, of the goals, and of the squares around the goals [m]. In the
thesis environment cells have 14 to 28 cm, goals 45 to 90 cm, and squares 105 to 210 cm."""
PRUNED = (1, 2, 3, 5, 10, 30, 100)
"""Numbers of nodes per cell that are tried for the pruned tree."""
OURS, BEST_PST, _TRIED = "SPST, stretch 1.5", "original PST, best k", "original PST, tried k = "
AT = 50
"""Size of the trees whose costs are compared [KB]."""
QUANTITIES = {
    "success": "% of the queries that are answered, here/thesis",
    "seconds": "seconds to grow a tree, here/thesis",
    "density": "density (formula 4.1), here/thesis; k are thousands",
}
COSTS = f"cost at {AT} KB, % of the least, here/thesis"
"""Title of the last part of the table; `QUANTITIES` has the titles of the others."""


class _Grown(NamedTuple):
    """A tree and its measures."""

    tree: Tree
    seconds: float
    """Time to grow the tree [s]."""
    solved: BoolArray
    """Whether the tree answers each query; (Q,)."""
    costs: FloatArray
    """Cost of the path of each query; infinite if there is none; (Q,)."""

    @property
    def success(self) -> float:
        """Share of the queries that the tree answers [%]."""
        return 100.0 * float(self.solved.mean())


Results = dict[str, dict[int, _Grown]]
"""Trees and their measures, by method and then by size [KB]."""


def run(progress: Progress, options: PaperOptions) -> PaperTable:
    """Grow all trees and answer all queries."""
    who = walker(options.library)
    whole = covered(exhaustive_tree(who.moves, who.levels), REGION_CELL * who.scale)
    nearest = 0.5 * (GOAL_CELL + GOAL_OVERLAP) * who.scale
    count, sizes = (QUICK, SIZES[2:]) if options.quick else (QUERIES, SIZES)
    clutter = CLUTTER.scaled(who.scale)
    queries = random_queries(whole.region, clutter, who.radius, nearest, count, options.seed)
    small = covered(exhaustive_tree(who.moves, 2), REGION_CELL * who.scale)
    for method in _methods(who, small, 0).values():
        method(10)  # compiles everything, so that no tree's time has that in it
    methods = _methods(who, whole, options.seed, FEW if options.quick else None)
    tasks = [(name, size) for name in methods for size in sizes]
    trees, times = [whole], [0.0]
    for number, (name, size) in enumerate(tasks):
        progress(f"{name}, {size} KB", number, len(tasks))
        began = time.thread_time()
        trees.append(methods[name](nodes_of(size)))
        times.append(time.thread_time() - began)
    solved, costs = _answers(who, trees, queries, progress)
    exhaustive, *grown = (_Grown(*one) for one in zip(trees, times, solved, costs, strict=True))
    results: Results = {}
    for (name, size), one in zip(tasks, grown, strict=True):
        if name.startswith(_TRIED):
            best = results.setdefault(BEST_PST, {}).get(size)
            results[BEST_PST][size] = one if best is None else max(best, one, key=lambda g: g.success)
        else:
            results.setdefault(name, {})[size] = one
    table = _table(who, exhaustive, results, sizes, count, options.quick)

    def figure() -> Image.Image:
        return tree_sheet({name: grow(NODES) for name, grow in methods.items() if not name.startswith(_TRIED)})

    return replace(table, pictures=(("trees", figure),))


def _answers(
    who: Walker, trees: list[Tree], queries: list[PaperQuery], progress: Progress
) -> tuple[BoolArray, FloatArray]:
    """Return whether each tree answers each query, and the cost of its path; (T, Q) each.

    Obstacles are mapped once for all trees.
    """
    cell, goal, overlap = (side * who.scale for side in (CELL, GOAL_CELL, GOAL_OVERLAP))
    grid = MappedGrid(EnvironmentMap.of(trees[0], cell).spec)
    searches = [BackwardSearch(t, EnvironmentMap.of(t, cell), GoalMap.of(t, goal, overlap), grid) for t in trees]
    nodes = np.zeros((len(trees), len(queries)), np.int64)
    for number, query in enumerate(queries):
        progress("queries", number, len(queries))
        grid.map(MappedThings.of(query.world, who.moves), START, who.radius)
        for row, search in enumerate(searches):
            nodes[row, number] = search.find(query.goal).node
            search.reset()
        grid.reset()
    costs = np.stack([tree.unfold().costs[own] for tree, own in zip(trees, nodes, strict=True)])
    return nodes >= 0, np.where(nodes >= 0, costs, np.inf)


def _methods(who: Walker, whole: Tree, seed: int, most: int | None = None) -> dict[str, Callable[[int], Tree]]:
    """Return functions by the name of the method; each grows a tree with a number of nodes.

    The other methods choose from at most `most` candidates; None takes their defaults.
    """
    moves, region = who.moves, whole.region
    grown: dict[str, Callable[[int], Tree]] = {
        SPST: lambda nodes: diverse_tree(moves, region, Budget(nodes), stretch=None, seed=seed),
        OURS: lambda nodes: diverse_tree(moves, region, Budget(nodes), seed=seed),
        PST: lambda nodes: pruned_tree(moves, region, Budget(nodes), PRUNED[-1], seed=seed),
    }
    for k in PRUNED[:-1]:
        grown[f"{_TRIED}{k}"] = lambda nodes, k=k: pruned_tree(moves, region, Budget(nodes), k, seed=seed)  # type: ignore[misc]
    for name, baseline in BASELINES.items():
        few = {} if most is None else {"most": most}
        grown[name] = lambda nodes, baseline=baseline, few=few: baseline(whole, Budget(nodes), seed=seed, **few)  # type: ignore[misc]
    return grown


Numbers = dict[str, dict[str, list[float | None]]]
"""Numbers by method and then by quantity, one for each size."""


def _numbers(results: Results, exhaustive: _Grown, sizes: tuple[int, ...], everybody: BoolArray) -> Numbers:
    """Return all numbers of the table.

    Costs are those of the queries that all methods answer at 50 KB, in percent of the exhaustive tree's cost.
    """
    out: Numbers = {}
    for name, by_size in results.items():
        ratios = 100.0 * by_size[AT].costs[everybody] / exhaustive.costs[everybody]
        mean, spread = (float(ratios.mean()), float(ratios.std())) if len(ratios) else (None, None)
        out[name] = {
            "success": [by_size[s].success for s in sizes],
            "seconds": [by_size[s].seconds for s in sizes],
            "density": [coverage(by_size[s].tree, exhaustive.tree.region)[1] for s in sizes],
            "cost": [mean if s == AT else None for s in sizes],
            "spread": [spread if s == AT else None for s in sizes],
        }
    return out


def _table(
    who: Walker, exhaustive: _Grown, results: Results, sizes: tuple[int, ...], count: int, quick: bool
) -> PaperTable:
    everybody = np.logical_and.reduce([exhaustive.solved, *(by_size[AT].solved for by_size in results.values())])
    numbers = _numbers(results, exhaustive, sizes, everybody)
    data = [
        {"quantity": q, "method": name, "kilobytes": s, "nodes": nodes_of(s), "here": value,
         "thesis": _of_thesis(name, q, s)}
        for q in (*QUANTITIES, "cost", "spread")
        for name, own in numbers.items()
        for s, value in zip(sizes, own[q], strict=True)
        if value is not None
    ]  # fmt: skip
    rows = [
        {"method": _short(name)}
        | {f"{s} KB": _cell(v, _of_thesis(name, q, s)) for s, v in zip(sizes, own[q], strict=True) if v is not None}
        for q in QUANTITIES
        for name, own in numbers.items()
    ]
    at = sizes.index(AT)
    rows += [
        {"method": _short(name)}
        | {
            label: _cell(own[q][at] or 0.0, _of_thesis(name, q, AT))
            for label, q in (("mean", "cost"), ("std", "spread"))
        }
        for name, own in numbers.items()
    ]
    parts = tuple((title, len(numbers)) for title in (*QUANTITIES.values(), COSTS))
    claims = _claims(numbers, exhaustive, quick)
    notes = (
        who.words,
        f"here/thesis; {count} queries (thesis: {QUERIES}); 'KB' are the thesis's, at {NODE} bytes a node: 50 KB are "
        f"{nodes_of(50)} nodes, which take {NODE_BYTES * nodes_of(50) / 1000:g} KB here",
        f"the exhaustive tree answers {exhaustive.success:.1f} % (thesis: {EXHAUSTIVE}); costs: {everybody.sum()} "
        f"queries that all answer at {AT} KB, the exhaustive tree's being 100 (thesis: 248)",
        f"rectangles: {CLUTTER.counts[0]} to {CLUTTER.counts[1]} of {CLUTTER.sides[0]:g} to {CLUTTER.sides[1]:g} m, so "
        f"that the exhaustive tree answers as many as the thesis's; cells {CELL:g} m, goals {GOAL_CELL:g} in "
        f"{GOAL_OVERLAP:g} m; region of {len(exhaustive.tree.region)} cells of {REGION_CELL:g} m",
        "baselines are built anew from what the thesis says; Branicky et al. choose among the paths to all nodes, "
        f"Green and Kelly, and Erickson and LaValle, among {FEW if quick else CANDIDATES} of the longest",
        *(claim.note for claim in claims),
    )
    return PaperTable(PAPERS["lau-4.1"], tuple(rows), notes, kept(claims), parts, tuple(data), _charts(numbers, sizes))


def _claims(numbers: Numbers, exhaustive: _Grown, quick: bool) -> list[Claim]:
    def least(baselines: tuple[str, ...], quantity: str, sign: float, leaving: int = 0) -> bool:
        """Return whether SPST has less of a quantity than all of some baselines, or more if the sign is -1.

        The smallest `leaving` sizes are left out.
        """
        own = numbers[SPST][quantity]
        return all(
            sign * (own[k] or 0.0) < sign * (numbers[baseline][quantity][k] or 0.0)
            for baseline in baselines
            for k in range(len(own) - leaving)
        )

    most = numbers[SPST]["success"][0] or 0.0
    chosen = tuple(name for name in THESIS if name not in (SPST, PST))
    every = (PST, *chosen)
    return [
        Claim(f"SPST answers more than the {PST} and {IP} at every size", least((PST, IP), "success", -1.0), not quick),
        Claim("SPST answers more than all baselines of the thesis at every size", least(every, "success", -1.0), False),
        Claim("the largest SPST answers as many as the exhaustive tree", most >= exhaustive.success, not quick),
        Claim("SPST has the least density of the thesis's methods from 25 KB on", least(every, "density", 1.0, 2)),
        Claim("SPST is grown faster than paths are chosen", least(chosen, "seconds", 1.0), not quick),
    ]


def _of_thesis(name: str, quantity: str, size: int) -> float | None:
    """Return the number of the thesis, or None."""
    own = THESIS.get(PST if name == BEST_PST else name)
    return None if own is None else own[quantity][SIZES.index(size)]


def _short(name: str) -> str:
    """Return a shorter name, so that the numbers fit into the line."""
    return name.replace("original ", "").replace("Branicky et al.", "Branicky").replace("Erickson and", "Erickson,")


def _cell(here: float, thesis: float | None) -> str:
    return "/".join(_words(value) for value in (here, thesis) if value is not None)


def _words(value: float) -> str:
    """Return a number with about three digits."""
    if value >= 10_000.0:
        return f"{value / 1000.0:.0f}k"
    if value < 0.1:
        return f"{value:.3f}".lstrip("0")
    return f"{value:.0f}" if value >= 200.0 else f"{value:.1f}" if value >= 10.0 else f"{value:.2g}".lstrip("0")


def _charts(numbers: Numbers, sizes: tuple[int, ...]) -> tuple[Chart, ...]:
    places = tuple(f"{s} KB" for s in sizes[::-1])
    titles = {
        "success": ("success", "Queries that trees of the same size answer", "% of queries", False),
        "seconds": ("times", "Time to grow a tree", "seconds, logarithmic", True),
        "density": ("density", "How unevenly trees are spread", "density (formula 4.1), logarithmic", True),
    }
    out = []
    for quantity, (name, title, up, log) in titles.items():
        series = []
        for method, own in numbers.items():
            series.append(Series(method, tuple(own[quantity][::-1])))
            if method in THESIS:
                values = tuple(_of_thesis(method, quantity, s) for s in sizes[::-1])
                series.append(Series("   thesis", values, dashed=True))
        out.append(
            Chart(
                name=name,
                title=title,
                places=places,
                across="size of the tree, at 50 bytes a node",
                up=up,
                series=tuple(series),
                log=log,
            )
        )
    return tuple(out)


NODES = 826
"""Number of nodes of the trees of figure 4.10."""
_WIDTH, _COLUMNS = 900, 2


def tree_sheet(trees: Mapping[str, Tree]) -> Image.Image:
    """Draw trees with their names in rows of two.

    Raises:
        GaitwayError: if there is no tree.
    """
    if not trees:
        raise GaitwayError("a sheet of no trees; give one or more")
    pictures = [
        tree_picture(tree, title=name, text=f"{len(tree):,} nodes, {int(tree.depths.max())} levels", width=_WIDTH)
        for name, tree in trees.items()
    ]
    height, rows = max(picture.size[1] for picture in pictures), -(-len(pictures) // _COLUMNS)
    sheet = Image.new("RGB", (_COLUMNS * _WIDTH, rows * height), BACKDROP)
    for number, picture in enumerate(pictures):
        sheet.paste(picture, (number % _COLUMNS * _WIDTH, number // _COLUMNS * height))
    return sheet
