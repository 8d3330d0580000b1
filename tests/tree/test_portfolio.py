"""The tree first and A* after it: as sure as A*, nearly as good, and within its memory."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.behavior.heuristics import Heuristics
from gaitway.behavior.search import search
from gaitway.bench._arcs import RADIUS, arc_searcher, fields_of, random_queries, trap
from gaitway.space.plan import Status
from gaitway.space.query import Query
from gaitway.tree.building.growing import Budget, diverse_tree
from gaitway.tree.moves import choose_moves
from gaitway.tree.portfolio import Portfolio
from gaitway.tree.query.tree_search import TreeSearch
from gaitway.tree.region import Region
from gaitway.world.world import World

SEARCHER = arc_searcher()


@pytest.fixture(scope="module")
def trees() -> TreeSearch:
    moves = choose_moves(SEARCHER.table, "go", time_weight=0.0)
    return TreeSearch(SEARCHER, [diverse_tree(moves, Region.disc(35.0), Budget(250_000))])


@pytest.mark.slow
@pytest.mark.parametrize(("boxes", "by_tree"), [(40, 0.85), (120, 0.3)])
def test_as_sure_and_nearly_as_good_as_a_star(trees: TreeSearch, boxes: int, by_tree: float) -> None:
    free = Heuristics.of(SEARCHER.table, SEARCHER.costs, names=("heading",))
    found, expected, ratios, answered = 0, 0, [], np.zeros(3)
    for fields, query in random_queries(np.random.default_rng(77_000 + boxes), boxes, 60):
        portfolio = Portfolio(trees, fields, RADIUS, free)
        ours, theirs = portfolio.find(query), search(SEARCHER, fields, query, explain=False)
        found, expected = found + ours.found, expected + theirs.found
        answered += portfolio.answered
        if ours.plan is not None and theirs.plan is not None and ours.found:
            ratios.append(ours.plan.cost / theirs.plan.cost)
        assert ours.found or ours.reason
    assert found >= expected
    assert np.mean(ratios) <= 1.06
    assert answered[0] >= by_tree * expected


@pytest.mark.slow
def test_a_trap_is_left_by_the_field(trees: TreeSearch) -> None:
    fields, queries = trap()
    portfolio = Portfolio(trees, fields, RADIUS)
    for query in queries:
        assert portfolio.find(query).found
    assert portfolio.answered[2] > 0


def test_memory(trees: TreeSearch) -> None:
    assert trees.nbytes <= 8e6


@pytest.mark.slow
def test_what_cannot_be(trees: TreeSearch) -> None:
    portfolio = Portfolio(trees, fields_of(World((0.0, 0.0, 75.6, 75.6))))
    outside = portfolio.find(Query((5.0, 5.0, 0.0), (200.0, 5.0)))
    assert outside.status is Status.NO_PATH
    assert "out of bounds" in outside.reason
    assert portfolio.find(Query((5.0, 5.0, 0.0), (200.0, 5.0)), explain=False).status is Status.NO_PATH


def test_a_budget_is_kept(trees: TreeSearch) -> None:
    fields, queries = trap()
    portfolio = Portfolio(trees, fields, RADIUS)
    hasty = portfolio.find(Query(queries[0].start, queries[0].goal, tolerance=1.0, max_nodes=10))
    assert not hasty.found
    assert hasty.expanded <= 40


def test_goals_by_turns_and_one_that_is_reached_already(trees: TreeSearch) -> None:
    """Estimates of one goal are not those of the next, and nobody moves who is there."""
    fields, queries = trap()
    known = Heuristics.of(SEARCHER.table, SEARCHER.costs, fields)
    known.arrays(queries[0].goal, 1.0, queries[0].start[:2], 2.0)
    portfolio = Portfolio(trees, fields, RADIUS, known)
    costs = [[plan.cost for q in some if (plan := portfolio.find(q).plan)] for some in (queries, queries[::-1])]
    assert costs[0] == costs[1][::-1]
    stays = portfolio.find(Query((30.0, 38.0, 1.0), (30.2, 38.0), tolerance=0.5))
    assert stays.plan is not None
    assert len(stays.plan.steps) == 0
