"""gaitway's own planners on the thesis's queries: whole bodies, and plans that end at rest (beyond table 4.2)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gaitway.behavior.heuristics import Heuristics
from gaitway.behavior.search import search
from gaitway.behavior.searcher import Searcher
from gaitway.cast.catalog import load_cast
from gaitway.core import planar
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.library.actions import ActionTable, action_table
from gaitway.library.body_discs import BodyDiscs, body_discs
from gaitway.library.reach import reaches
from gaitway.papers.queries import START, PaperQuery
from gaitway.papers.tables import Progress
from gaitway.papers.walkers import Walker
from gaitway.space.fields import WorldFields
from gaitway.space.plan import SearchResult
from gaitway.space.prepared import speed_weights
from gaitway.space.query import Query
from gaitway.space.routes import thinnest
from gaitway.tree.building.growing import Budget, diverse_tree
from gaitway.tree.moves import choose_moves
from gaitway.tree.portfolio import Portfolio
from gaitway.tree.query.tree_search import TreeSearch
from gaitway.tree.region import Region
from gaitway.world.exact import footprint_distance
from gaitway.world.world import World

NODES, STRETCH = 320_000, 1.2
"""Of the tree, which takes 8 MB with its lists, and by how much its ways may be dearer than the cheapest."""
TOLERANCE = 1.0
"""How near to a goal plans end [m], about as near as the square of a goal's cell."""
CELL = 0.14
"""Side of the cells of the distance field, which is exact near obstacles [m]."""
PLAIN, WEIGHTED, TREE, OURS = "A*", "A*, weight 2", "tree alone", "portfolio"
_TOUCH = 0.03
"""Discs keep more than this from bodies, and near a start planners make use of it [m]."""


@dataclass(frozen=True, eq=False)
class PlannerRuns:
    """What one planner did with Q queries."""

    costs: FloatArray
    """Infinite where there is no plan; (Q,)."""
    times: FloatArray
    """Of whole calls from Python [us]; (Q,)."""
    hits: BoolArray
    """Whether the plan's bodies touch an obstacle, by exact distances; (Q,)."""

    @property
    def solved(self) -> BoolArray:
        """(Q,)."""
        return np.isfinite(self.costs)


class Planners:
    """A* and the portfolio of one library.

    Attributes:
        tree_seconds: that the tree took to grow and to prepare.
        answered: how many queries of the last run the tree, the short search and the search by a field answered.
    """

    def __init__(self, who: Walker, region: Region, seed: int, nodes: int = NODES) -> None:
        """Prepare a library.

        Args:
            who: goes there, at a normal speed.
            region: of the tree.
            seed: of the tree.
            nodes: of the tree.
        """
        library = load_cast(who.name)
        self.table: ActionTable = action_table(library, weights=speed_weights(library, "normal"))
        self.discs: BodyDiscs = body_discs(library, self.table)
        self.searcher = Searcher(self.table, self.discs, reaches(library))
        self.behavior = self.table.behaviors[int(self.table.behavior[who.moves.actions[0]])]
        self.scale, self.answered = who.scale, np.zeros(3, np.int64)
        moves = choose_moves(self.table, who.moves.root, self._behaviors(who.moves.root))
        diverse_tree(moves, region, Budget(100))  # compiles
        began = time.thread_time()
        self.tree = diverse_tree(moves, region, Budget(nodes), stretch=STRETCH, seed=seed)
        self.trees = TreeSearch(self.searcher, [self.tree])
        self.tree_seconds = time.thread_time() - began
        self._radius = thinnest(self.discs)
        self._free = Heuristics.of(self.table, self.searcher.costs, names=("heading",))

    def run(self, queries: list[PaperQuery], progress: Progress) -> dict[str, PlannerRuns]:
        """All planners on all queries, by name; the first three queries are run twice, to compile."""
        names = (PLAIN, WEIGHTED, TREE, OURS)
        costs = {name: np.full(len(queries), np.inf) for name in names}
        times = {name: np.zeros(len(queries)) for name in names}
        hits = {name: np.zeros(len(queries), np.bool_) for name in names}
        for number in [*range(min(3, len(queries))), *range(len(queries))]:
            if number == 0:
                self.answered = np.zeros(3, np.int64)
            progress("whole bodies", number, len(queries))
            world = queries[number].world
            fields = WorldFields.of(world, cell=CELL * self.scale)
            query = Query(START, queries[number].world_goal, tolerance=TOLERANCE * self.scale,
                          start_behavior=self.behavior)  # fmt: skip
            portfolio = Portfolio(self.trees, fields, self._radius, self._free)
            portfolio.find(query, explain=False)  # prepares the world where a field is needed, which is shared by all
            portfolio.forget()
            portfolio.answered[:] = [0, 0, 0]
            for name, task in self._tasks(portfolio, fields, query).items():
                began = time.thread_time_ns()
                result = task()
                times[name][number] = 1e-3 * (time.thread_time_ns() - began)
                plan = None if result is None or not result.found else result.plan
                costs[name][number] = np.inf if plan is None else plan.cost
                hits[name][number] = result is not None and self._hits(result, world)
            self.answered += portfolio.answered
        return {name: PlannerRuns(costs[name], times[name], hits[name]) for name in names}

    def _behaviors(self, root: str) -> list[str]:
        """What goes on in a state, and what comes to rest from there."""
        table, state = self.table, self.table.state(root)
        ends = (table.end_state == state) | table.rest[table.end_state]
        wanted = (table.start_state == state) & ends & ~table.idle & (table.kind < 0)
        return [table.behaviors[b] for b in np.unique(table.behavior[wanted]).tolist()]

    def _tasks(
        self, portfolio: Portfolio, fields: WorldFields, query: Query
    ) -> dict[str, Callable[[], SearchResult | None]]:
        def weighted(weight: float) -> SearchResult:
            return search(self.searcher, fields, replace(query, weight=weight), explain=False)

        return {
            PLAIN: lambda: weighted(1.0),
            WEIGHTED: lambda: weighted(2.0),
            TREE: lambda: self.trees.find(fields, query),
            OURS: lambda: portfolio.find(query, explain=False),
        }

    def _hits(self, result: SearchResult, world: World) -> bool:
        """Whether a body on the way touches something: all its discs, and exact distances from footprints."""
        if not result.found or result.plan is None:
            return False
        own, actions = list[FloatArray](), dict(zip(self.table.clips, range(len(self.table)), strict=True))
        for step in result.plan.steps:
            action = actions[step.clip]
            part = self.discs.static[self.discs.static_starts[action] : self.discs.static_starts[action + 1]]
            own.append(np.column_stack([planar.transform_points(step.pose, part[:, :2]), part[:, 2]]))
        if not own:
            return False
        discs = np.concatenate(own)
        away = footprint_distance([obstacle.shape.footprint() for obstacle in world.obstacles], discs[:, :2])
        return bool((away < discs[:, 2] - _TOUCH).any())
