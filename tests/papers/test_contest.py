"""The contest of trees and A*: ways are laid where they lead, cuts are seen, times and checks belong together."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.core import planar
from gaitway.papers.contest import ASTAR, Runs, contest, cutting, square_region, way_points
from gaitway.papers.queries import START, Clutter, PaperQuery, random_queries, world_bounds
from gaitway.papers.walkers import walker
from gaitway.tree.building.growing import Budget, diverse_tree
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World

WHO = walker("person")
REGION = square_region(14.0, 0.28)
TREES = {"tree": diverse_tree(WHO.moves, REGION, Budget(5000))}


def nothing(what: str, done: int, total: int | None) -> None:
    del what, done, total


def test_ways_end_where_their_moves_lead() -> None:
    way = np.array([0, 3, 4, 1])
    pose = np.array(START)
    for move in way.tolist():
        pose = planar.compose(pose, WHO.moves.table.moves[WHO.moves.actions[move]])
    points = way_points(WHO, way)
    assert points[0] == pytest.approx(START[:2])
    assert points[-1] == pytest.approx(pose[:2])
    assert np.linalg.norm(np.diff(points, axis=0), axis=1).max() <= 0.05 + 1e-9


def test_cuts_are_seen() -> None:
    """A thin post right on the way, between two checks."""
    way, none = np.array([0, 0]), np.empty(0, np.int64)
    middle = way_points(WHO, way)[8]
    away = Box((START[0] - 3.0, START[1]), (0.1, 0.1), 2.0)
    queries = [PaperQuery(World(world_bounds(REGION), (Obstacle(box),)), (3.0, 0.0))
               for box in (Box((float(middle[0]), float(middle[1])), (0.02, 0.02), 2.0), away, away)]  # fmt: skip
    runs = Runs(np.ones(3), np.ones(3), np.ones(3), np.ones(3), (way, way, none))
    assert cutting(WHO, queries, runs, 0.14) == 50.0


def test_answers_are_consistent() -> None:
    queries = random_queries(REGION, Clutter((1, 6), (0.5, 2.0)), WHO.radius, 1.5, 30, 2)
    runs = contest(WHO, TREES, queries, 0.14, 2, nothing)
    assert list(runs) == [ASTAR, "A*, weight 2", "tree"]
    forward, tree = runs[ASTAR], runs["tree"]
    assert (forward.solved >= tree.solved).all()
    assert (tree.whole > tree.search).all()
    assert (forward.whole == forward.search).all()
    for one in runs.values():
        costs = np.array([WHO.moves.costs[way].sum() if len(way) else np.inf for way in one.ways])
        assert np.allclose(costs[one.solved], one.costs[one.solved])
        assert (one.checks[one.solved] >= 2 * np.array([len(way) for way in one.ways])[one.solved]).all()
    both = forward.solved & tree.solved
    assert both.sum() > 15
    assert (forward.costs[both] / tree.costs[both]).mean() <= 1.001
