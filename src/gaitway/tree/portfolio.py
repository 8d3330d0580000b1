"""A portfolio of planners: the tree first, and A* if the tree has no answer.

The tree answers most queries in open places in microseconds. A short A* search with the estimates of
`obstacle_free_cost` answers many of the others. If that gets lost among obstacles, a route field guides the last
search. Each stage gives up soon, so that all together are never much slower than the best of them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from gaitway.behavior._heuristic_kernels import HeuristicArrays
from gaitway.behavior.heuristics import Heuristics
from gaitway.behavior.planner import prepared_search
from gaitway.behavior.search import search
from gaitway.behavior.searcher import Searcher
from gaitway.core.array_handle import ArrayHandle
from gaitway.space.fields import WorldFields
from gaitway.space.plan import SearchResult, Status
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.query import Query, TrafficView
from gaitway.space.routes import RouteFields, RouteMap, thinnest
from gaitway.tree.forest import Forest, grow_forest
from gaitway.tree.query.tree_search import TreeSearch

WEIGHT, LAST_WEIGHT = 1.5, 2.0
"""Weights of the short search and of the last one: a plan costs at most this many times the least."""
SHORT = 120
"""Most nodes of the search without a field."""
COARSE = 2.2
"""Factor by which bins are larger than usual at first in the last search."""
CELL = 0.7
"""Cell size of the route field, unless the world needs finer cells; that of the thesis's coarse planner [m]."""


class Portfolio:
    """Trees and searches of a library in one world. Not for several threads at once.

    Attributes:
        trees: the trees, which are asked first.
        fields: the world.
        radius: radius of a disc around the root that every body covers [m].
        answered: number of queries that each stage has answered: tree, short search, search with a route field.
    """

    def __init__(
        self, trees: TreeSearch, fields: WorldFields, radius: float = 0.0, heuristics: Heuristics | None = None
    ) -> None:
        """Prepare a world.

        Args:
            trees: trees of the library.
            fields: the world.
            radius: radius of a disc around the root that every body covers [m] (`routes.thinnest`).
            heuristics: estimates of the library in any world, whose tables are shared; None makes them.
        """
        self.trees, self.fields, self.radius, self.answered = trees, fields, radius, [0, 0, 0]
        self._searcher: Searcher = trees.searcher
        known = heuristics or Heuristics.of(self._searcher.table, self._searcher.costs, names=("heading",))
        self._free = known.routed(None)
        self._aims: dict[float, ArrayHandle[HeuristicArrays]] = {}

    @staticmethod
    def of(prepared: PreparedLibrary, forest: Forest | None = None) -> Portfolio:
        """Make the portfolio of a library in a world.

        Args:
            prepared: the library, prepared for the world.
            forest: trees of the library, with the same costs; None grows them, or takes them from the disk cache.
        """
        trees = forest or grow_forest(prepared.table, time_weight=prepared_search(prepared).searcher.time_weight)
        return Portfolio(
            TreeSearch(prepared_search(prepared).searcher, list(trees.trees.values())),
            prepared.fields,
            thinnest(prepared.discs),
            prepared_search(prepared).heuristics,
        )

    def find(self, query: Query, traffic: TrafficView | None = None, *, explain: bool = True) -> SearchResult:
        """Find a plan, or say why there is none.

        Args:
            query: the query; its weight counts if it is above those of the searches.
            traffic: other characters and movers; None for none.
            explain: whether to find out what blocks the path if there is no plan.
        """
        found = self.trees.find(self.fields, query, traffic)
        if found is not None:
            self.answered[0] += 1
            return found
        short = replace(query, weight=max(query.weight, WEIGHT), max_nodes=min(SHORT, query.max_nodes))
        aim, stage = self._aim(query), 1
        result = search(self._searcher, self.fields, short, traffic, aim, explain=False)
        if result.status is Status.NO_PATH and explain:
            result = search(self._searcher, self.fields, query, traffic, aim)
        elif result.status is Status.BUDGET:
            result, stage = self._by_field(query, traffic, explain), 2
        self.answered[stage] += 1
        return result

    def _by_field(self, query: Query, traffic: TrafficView | None, explain: bool) -> SearchResult:
        """Search with a route field, in large bins first."""
        weighted = replace(query, weight=max(query.weight, LAST_WEIGHT), coarse=max(query.coarse, COARSE))
        arrays = self._routed.arrays(query.goal, query.tolerance, query.start[:2], weighted.weight)
        result = search(self._searcher, self.fields, weighted, traffic, arrays, explain=False)
        if result.found:
            return result
        return search(
            self._searcher, self.fields, replace(weighted, coarse=query.coarse), traffic, arrays, explain=explain
        )

    def _aim(self, query: Query) -> ArrayHandle[HeuristicArrays]:
        """Return estimates without a route field, in memory that the next query uses again."""
        handle = self._aims.get(query.tolerance)
        if handle is None:
            arrays = self._free.arrays(query.goal, query.tolerance)
            handle = self._aims[query.tolerance] = ArrayHandle(arrays._replace(goal=np.array(arrays.goal)))
        goal = handle.value.goal
        goal[0], goal[1] = query.goal
        return handle

    def forget(self) -> None:
        """Forget the fields of all goals; what belongs to the world stays."""
        self._routed.forget()

    @cached_property
    def _routed(self) -> Heuristics:
        return self._free.routed(RouteFields(RouteMap.of(self.fields, self.radius, CELL, neighbors=8)))
