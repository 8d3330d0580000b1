"""Grids of several resolutions (Lau 2009, table 4.3): the experiment of table 4.2 over finer and finer cells."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from gaitway.papers.charts import Chart, Series
from gaitway.papers.contest import ASTAR, CELL, CELLS, GOAL_CELL, GOAL_OVERLAP, Runs, contest
from gaitway.papers.lau_4_2 import CLUTTER, QUERIES, QUICK, QUICK_NODES, SMALL, percent, region_of, solved_by_all
from gaitway.papers.lau_4_numbers import TABLE_3
from gaitway.papers.queries import random_queries
from gaitway.papers.tables import PAPERS, Claim, PaperOptions, PaperTable, Progress, kept
from gaitway.papers.walkers import NODE, nodes_of, walker
from gaitway.tree.building.growing import Budget, diverse_tree

GRIDS = (270, 540, 1080)
"""Numbers of cells along a side."""


def run(progress: Progress, options: PaperOptions) -> PaperTable:
    """Run the same queries over all grids."""
    who, count = walker(options.library), QUICK if options.quick else QUERIES
    region = region_of(who)
    nearest = 0.5 * (GOAL_CELL + GOAL_OVERLAP) * who.scale
    queries = random_queries(region, CLUTTER.scaled(who.scale), who.radius, nearest, count, options.seed)
    nodes = round((QUICK_NODES if options.quick else 1.0) * nodes_of(25e3))
    progress(f"growing {SMALL}", 0, None)
    trees = {SMALL: diverse_tree(who.moves, region, Budget(nodes), stretch=None, seed=options.seed)}
    rounds = 3 if options.quick else 1  # one stall of a busy machine weighs much in the mean of a few queries
    runs = {
        cells: contest(who, trees, queries, CELL * who.scale * CELLS / cells, rounds, progress, {ASTAR: 1.0})
        for cells in GRIDS
    }
    data = [row for cells, one in runs.items() for row in _data(cells, one)]
    small = [row for row in data if row["method"] == SMALL]
    claims = (
        Claim("finer grids take longer, by their mapping", _rises(small, "with_mapping_us"), not options.quick),
        Claim("finer grids answer more queries", _rises(small, "success")),
    )
    sides = ", ".join(f"{100.0 * CELL * CELLS / cells:.3g}" for cells in GRIDS)
    notes = (
        who.words,
        f"here/thesis; {count} queries (thesis: 1774); {nodes:,} nodes (25 MB at the thesis's {NODE} bytes); cells of "
        f"{sides} cm; the goals' cells stay as they are, since they say what success is",
        "search: mean of each query's own ratio to A*, search alone; us: mean time of queries that are answered; "
        "+ mapping: the tree's mapping and resets count too, A*'s grid is made once for all queries",
        *(claim.note for claim in claims),
    )
    return PaperTable(PAPERS["lau-4.3"], tuple(_rows(data)), notes, kept(claims), (), tuple(data), _charts(data))


def _rises(rows: list[dict[str, Any]], key: str) -> bool:
    return all(a[key] <= b[key] for a, b in pairwise(rows))


def _data(cells: int, runs: Mapping[str, Runs]) -> list[dict[str, Any]]:
    both, base = solved_by_all(runs), runs[ASTAR]
    out = []
    for name, one in runs.items():
        thesis = TABLE_3[name][cells]
        out.append({
            "grid": f"{cells}x{cells}", "method": name,
            "time": percent(one.search, base.search, both), "time_thesis": thesis["time"],
            "us": float(one.search[one.solved].mean()), "us_thesis": thesis["micro"],
            "with_mapping": percent(one.whole, base.search, both),
            "with_mapping_us": float(one.whole[one.solved].mean()),
            "success": one.success, "success_thesis": thesis["success"],
        })  # fmt: skip
    return out


def _rows(data: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "grid": row["grid"],
            "method": row["method"],
            "search, %": f"{row['time']:.3g}/{row['time_thesis']:g}",
            "us": f"{row['us']:.0f}/{row['us_thesis']:.0f}",
            "+ mapping, %": f"{row['with_mapping']:.0f}",
            "us ": f"{row['with_mapping_us']:.0f}",
            "success, %": f"{row['success']:.1f}/{row['success_thesis']:.1f}",
        }
        for row in data
    ]


def _charts(data: list[dict[str, Any]]) -> tuple[Chart, ...]:
    def series(name: str, key: str, method: str, dashed: bool = False) -> Series:
        values = tuple(row[key] for row in data if row["method"] == method)
        return Series(name, tuple(None if np.isnan(v) else v for v in values), dashed)

    places = tuple(f"{cells} x {cells}" for cells in GRIDS)
    times = [(ASTAR, "us"), (SMALL, "us"), (f"{SMALL}, with mapping", "with_mapping_us")]
    lines = [series(name, key, name.removesuffix(", with mapping")) for name, key in times]
    lines.insert(1, series("   thesis", "us_thesis", ASTAR, dashed=True))
    lines.insert(3, series("   thesis", "us_thesis", SMALL, dashed=True))
    shares = [series(ASTAR, "success", ASTAR), series("   thesis", "success_thesis", ASTAR, dashed=True),
              series(SMALL, "success", SMALL), series("   thesis", "success_thesis", SMALL, dashed=True)]  # fmt: skip
    under = "cells of the grid"
    return (
        Chart(
            name="times",
            title="Time of a query that is answered",
            places=places,
            across=under,
            up="us, logarithmic",
            series=tuple(lines),
            log=True,
        ),
        Chart(
            name="success",
            title="Queries answered",
            places=places,
            across=under,
            up="%",
            series=tuple(shares),
            zoomed=True,
        ),
    )
