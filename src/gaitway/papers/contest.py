"""Backward search in trees compared with A*: same queries, grid and checks (Lau 2009, chapters 4.7.3 and 4.7.4)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from gaitway.core import planar
from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.papers.queries import START, PaperQuery
from gaitway.papers.tables import Progress
from gaitway.papers.walkers import Walker
from gaitway.tree.model import Tree
from gaitway.tree.region import Region
from gaitway.tree.thesis.backward import BackwardSearch
from gaitway.tree.thesis.forward import ForwardSearch, goal_square
from gaitway.tree.thesis.gridmap import EnvironmentMap, GoalMap
from gaitway.tree.thesis.mapping import MappedGrid, MappedThings
from gaitway.world.exact import footprint_distance

CELLS = 270
"""Number of cells along a side of the environment gridmap in the thesis."""
CELL, GOAL_CELL, GOAL_OVERLAP = 0.14, 0.9, 2.1
"""Sides of the environment cells, of the goal cells, and of the squares around the goal cells [m]."""
ASTAR, WEIGHTED = "A*", "A*, weight 2"
WEIGHTS = {ASTAR: 1.0, WEIGHTED: 2.0}
_FINE = 0.05
"""Distance between points of a path at which `cutting` checks it again [m]."""


@dataclass(frozen=True, eq=False)
class Runs:
    """Results of one method for Q queries."""

    costs: FloatArray
    """Cost of each path; infinite if there is none; (Q,)."""
    search: FloatArray
    """Time of the search alone [us]; (Q,)."""
    whole: FloatArray
    """Time of the search with mapping before it and reset after it [us]; (Q,)."""
    checks: FloatArray
    """Number of cells that were looked up; (Q,)."""
    ways: tuple[IntArray, ...]
    """Moves of each path; an empty array if there is no path."""

    @property
    def solved(self) -> BoolArray:
        """Whether each query was answered; (Q,)."""
        return np.isfinite(self.costs)

    @property
    def success(self) -> float:
        """Share of the queries that were answered [%]."""
        return 100.0 * float(self.solved.mean())


def square_region(side: float, cell: float) -> Region:
    """Return a square region of a side [m] with cells of a side [m]; the character is in its centre."""
    count = round(side / cell)
    return Region.mask(np.ones((count, count)), (-0.5 * side, -0.5 * side), cell)


def contest(
    who: Walker, trees: Mapping[str, Tree], queries: list[PaperQuery], cell: float, rounds: int, progress: Progress,
    weights: Mapping[str, float] = WEIGHTS,
) -> dict[str, Runs]:  # fmt: skip
    """Run A* and the searches of some trees on the same queries, and return the results by name.

    Times are the medians of rounds. Each round goes through all queries, so that none finds its tree in the processor's
    cache.

    Args:
        who: character that goes to the goals.
        trees: trees by name, all in one region.
        queries: queries, all from the same start.
        cell: side of the environment's cells [m].
        rounds: number of times that each query is timed.
        progress: called with the number of the round and of the query.
        weights: weights of the A* searches, by name.
    """
    arena = _Arena(who, trees, cell, weights)
    things = [MappedThings.of(query.world, who.moves) for query in queries]
    for query, thing in zip(queries[:3], things[:3], strict=True):
        arena.times(query, thing)  # compiles
    answers = [arena.answers(query, thing) for query, thing in zip(queries, things, strict=True)]
    times = np.zeros((rounds, len(queries), len(arena.names), 2))
    for turn in range(rounds):
        for number, (query, thing) in enumerate(zip(queries, things, strict=True)):
            progress(f"round {turn + 1} of {rounds}", number, len(queries))
            times[turn, number] = arena.times(query, thing)
    search, whole = np.moveaxis(np.median(times, axis=0), -1, 0)
    out = {}
    for k, name in enumerate(arena.names):
        costs, checks, ways = zip(*(answer[k] for answer in answers), strict=True)
        out[name] = Runs(np.array(costs), search[:, k], whole[:, k], np.array(checks, np.float64), ways)
    return out


class _Arena:
    """A* and the searches of some trees, all over one grid."""

    def __init__(self, who: Walker, trees: Mapping[str, Tree], cell: float, weights: Mapping[str, float]) -> None:
        goal_cell, overlap = GOAL_CELL * who.scale, GOAL_OVERLAP * who.scale
        maps = {name: (EnvironmentMap.of(t, cell), GoalMap.of(t, goal_cell, overlap)) for name, t in trees.items()}
        environment, self.goals = next(iter(maps.values()))
        self.who, self.weights, self.grid = who, weights, MappedGrid(environment.spec)
        self.searches = [BackwardSearch(tree, *maps[name], self.grid) for name, tree in trees.items()]
        self.forward = ForwardSearch(who.moves, self.grid)
        self.names = [*weights, *trees]

    def times(self, query: PaperQuery, things: MappedThings) -> FloatArray:
        """Measure the time of the search alone, and of all that the query needs [us]; (methods, 2)."""
        square, out = goal_square(self.goals, query.goal), list[tuple[float, float]]()
        mapping = _timed(self.grid.map, things, START, self.who.radius)
        for weight in self.weights.values():
            spent = _timed(self.forward.last, square, weight)
            out.append((spent, spent))
        for search in self.searches:
            spent = _timed(search.find, query.goal)
            out.append((spent, mapping + spent + _timed(search.reset)))
        resets = _timed(self.grid.reset)
        spent_on: FloatArray = np.array(out)
        spent_on[len(self.weights) :, 1] += resets
        return spent_on

    def answers(self, query: PaperQuery, things: MappedThings) -> list[tuple[float, int, IntArray]]:
        """Return, for each method, the cost of its path, the number of cells that were looked up, and the moves."""
        square, out = goal_square(self.goals, query.goal), list[tuple[float, int, IntArray]]()
        self.grid.map(things, START, self.who.radius)
        for weight in self.weights.values():
            way = self.forward.find(square, weight)
            out.append((way.cost, way.checks, way.moves))
        for search in self.searches:
            found = search.find(query.goal)
            search.reset()
            path = search.tree.path(max(found.node, 0))
            moves = (search.tree.links[path] & 255).astype(np.int64)
            cost = float(self.who.moves.costs[moves].sum()) if found.node >= 0 else np.inf
            out.append((cost, found.checks, moves))
        self.grid.reset()
        return out


def way_points(who: Walker, way: IntArray, spacing: float = _FINE) -> FloatArray:
    """Return positions of the root along a sequence of moves, in the world [m]; (P, 2)."""
    starts, points = who.moves.points(spacing)
    pose, out = np.array(START), [np.array([START[:2]])]
    for move in way.tolist():
        out.append(planar.transform_points(pose, points[starts[move] : starts[move + 1]]))
        pose = planar.compose(pose, who.moves.table.moves[who.moves.actions[move]])
    return np.concatenate(out)


def cutting(who: Walker, queries: list[PaperQuery], runs: Runs, cell: float) -> float:
    """Return the share of paths that cut into an obstacle by more than the diagonal of a cell [%].

    A path can do this between the points that the search checks.
    """
    least, cuts = who.radius - cell * np.sqrt(2.0), list[bool]()
    for query, way in zip(queries, runs.ways, strict=True):
        if len(way):
            footprints = [obstacle.shape.footprint() for obstacle in query.world.obstacles]
            cuts.append(bool(footprint_distance(footprints, way_points(who, way)).min() < least))
    return 100.0 * float(np.mean(cuts)) if cuts else 0.0


def _timed(task: Callable[..., object], *arguments: object) -> float:
    """Measure the processor time of this thread for a call [us]."""
    began = time.thread_time_ns()
    task(*arguments)
    return 1e-3 * (time.thread_time_ns() - began)
