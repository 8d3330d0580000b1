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
from gaitway.library.actions import ActionTable
from gaitway.library.body_discs import BodyDiscs, body_discs
from gaitway.library.reach import reaches
from gaitway.papers.queries import START, PaperQuery
from gaitway.papers.tables import Progress
from gaitway.papers.walkers import Walker
from gaitway.space.fields import WorldFields
from gaitway.space.movement_costs import planning_table
from gaitway.space.plan import SearchResult
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
"""Number of nodes of the tree, which takes 8 MB with its lists, and greatest ratio of the cost of its paths to the
least cost."""
TOLERANCE = 1.0
"""Tolerance of the goal [m], about as large as the square of a goal's cell."""
CELL = 0.14
"""Side of the cells of the distance field, which is exact near obstacles [m]."""
PLAIN, WEIGHTED, TREE, OURS = "A*", "A*, weight 2", "tree alone", "portfolio"
_TOUCH = 0.03
"""Depth by which the discs of a plan may overlap an obstacle without counting as a contact [m]. Discs are larger than
bodies by more than this, and planners make use of it near a start."""


@dataclass(frozen=True, eq=False)
class PlannerRuns:
    """Results of one planner for Q queries."""

    costs: FloatArray
    """Cost of each plan; infinite if there is none; (Q,)."""
    times: FloatArray
    """Times of whole calls from Python [us]; (Q,)."""
    hits: BoolArray
    """Whether a body of each plan touches an obstacle, by exact distances; (Q,)."""

    @property
    def solved(self) -> BoolArray:
        """Whether each query was answered; (Q,)."""
        return np.isfinite(self.costs)


class Planners:
    """A* and the portfolio for one library.

    Attributes:
        tree_seconds: time to grow and to prepare the tree [s].
        answered: numbers of queries of the last run that the tree, the short search and the search by a field answered;
            (3,).
    """

    def __init__(self, who: Walker, region: Region, seed: int, nodes: int = NODES) -> None:
        """Prepare planners for a library.

        Args:
            who: character that goes to the goals, at normal speed.
            region: region of the tree.
            seed: seed of the tree.
            nodes: number of nodes of the tree.
        """
        library = load_cast(who.name)
        self.table: ActionTable = planning_table(library, "normal")
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
        """Run all planners on all queries, and return the results by name.

        The first three queries are run twice, because the first run compiles.
        """
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
        """Return the behaviours that begin in a state and end in it or at rest."""
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
        """Return whether a body of a plan touches an obstacle: all its discs, by exact distances from footprints."""
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
