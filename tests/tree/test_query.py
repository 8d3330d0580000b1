"""What a tree answers is what testing all its nodes would answer."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.behavior.search import search
from gaitway.core import planar
from gaitway.core.errors import TreeError
from gaitway.space.fields import WorldFields
from gaitway.space.plan import Plan, Status
from gaitway.space.query import Query
from gaitway.space.traffic import Traffic
from gaitway.tree.building.growing import Budget, diverse_tree, exhaustive_tree
from gaitway.tree.model import Tree
from gaitway.tree.moves import choose_moves
from gaitway.tree.query.tree_search import BAND, TreeSearch
from gaitway.tree.region import Region
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World
from search_twin import JUMPER, WALKER, small_discs, small_searcher

NAMES = [act.name for act in WALKER if act.name != "wait"]
SEARCHER = small_searcher(WALKER)
MOVES = choose_moves(SEARCHER.table, "stand", NAMES, time_weight=0.1)
TREE = diverse_tree(MOVES, Region.disc(7.0), Budget(4_000), stretch=None)
TREES = TreeSearch(SEARCHER, [TREE])
DISCS = small_discs(WALKER)
BOUNDS = (-8.0, -8.0, 8.0, 8.0)


def random_world(seed: int, boxes: int = 8) -> WorldFields:
    rng = np.random.default_rng(seed)
    places = [p for p in rng.uniform(-7.0, 7.0, (boxes, 2)).tolist() if math.hypot(*p) > 1.6]
    sizes = rng.uniform(0.3, 1.5, (len(places), 2)).tolist()
    shapes = [Box((x, y), (a, b), 2.0) for (x, y), (a, b) in zip(places, sizes, strict=True)]
    return WorldFields.of(World(BOUNDS, tuple(Obstacle(shape) for shape in shapes)))


def free_twin(fields: WorldFields, pose: np.ndarray, action: int, start: np.ndarray) -> bool:
    own = DISCS.static[DISCS.static_starts[action] : DISCS.static_starts[action + 1]]
    leave = 0.03 if math.hypot(*(pose[:2] - start[:2])) <= 0.4 else 0.0
    room = fields.clearance(planar.transform_points(pose, own[:, :2]))
    return bool((own[:, 2] - leave <= room).all())


def all_ways(tree: Tree, fields: WorldFields, query: Query) -> list[float]:
    """Costs of all nodes at the goal that stand and whose way is free."""
    start = np.array(query.start)
    poses, free = [start], [True]
    costs, out = tree.unfold().costs, []
    for node in range(1, len(tree)):
        parent, action = int(tree.parents[node]), int(tree.moves.actions[tree.actions[node]])
        poses.append(planar.compose(poses[parent], tree.moves.table.moves[action]))
        free.append(free[parent] and free_twin(fields, poses[parent], action, start))
        rests = tree.moves.table.rest[tree.moves.table.end_state[action]]
        if free[node] and rests and math.dist(poses[node][:2], query.goal) <= query.tolerance:
            out.append(float(costs[node]))
    return out


def query_of(seed: int) -> Query:
    rng = np.random.default_rng(seed)
    angle, away = rng.uniform(-np.pi, np.pi), rng.uniform(1.0, 6.0)
    return Query(
        (0.0, 0.0, rng.uniform(-np.pi, np.pi)), (away * math.cos(angle), away * math.sin(angle)), tolerance=0.7
    )


def check_plan(plan: Plan, fields: WorldFields, query: Query) -> None:
    """Its steps follow one another, are allowed and free, and lead to the goal."""
    table, pose, when, before = SEARCHER.table, np.array(query.start), query.start_time, "stand"
    for step in plan.steps:
        action = table.clips.index(step.clip)
        np.testing.assert_allclose(step.pose[:2], pose[:2], atol=1e-9)
        assert math.cos(step.pose[2] - pose[2]) == pytest.approx(1.0)
        assert step.time == pytest.approx(when)
        assert table.states[table.start_state[action]] == before
        assert free_twin(fields, pose, action, np.array(query.start))
        pose, when = planar.compose(pose, table.moves[action]), when + table.durations[action]
        before = table.states[table.end_state[action]]
    assert before == "stand"
    assert math.dist(pose[:2], query.goal) <= query.tolerance + 1e-9
    assert plan.end_time == pytest.approx(when)
    np.testing.assert_allclose(plan.end_pose[:2], pose[:2], atol=1e-9)
    assert math.cos(plan.end_pose[2] - pose[2]) == pytest.approx(1.0)


@pytest.mark.slow
@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_the_cheapest_free_way_of_a_tree(seed: int) -> None:
    fields, query = random_world(seed), query_of(seed)
    ways, found = all_ways(TREE, fields, query), TREES.find(fields, query)
    if found is None or found.plan is None:
        assert not ways
        return
    assert min(ways) - 1e-9 <= found.plan.cost <= min(ways) + BAND + 0.01
    check_plan(found.plan, fields, query)


def test_many_at_once_are_as_one_by_one_whatever_the_threads() -> None:
    fields = random_world(3)
    queries = [query_of(seed) for seed in range(60)]
    starts, goals = np.array([q.start for q in queries]), np.array([q.goal for q in queries])
    single = [TREES.find(fields, query) for query in queries]
    for threads in (1, 2, 3):
        many = TREES.find_many(fields, starts, goals, 0.7, threads=threads)
        for one, node, cost in zip(single, many.nodes.tolist(), many.costs.tolist(), strict=True):
            plan = None if one is None else one.plan
            assert (node >= 0) == (plan is not None)
            assert plan is None or plan.cost == cost


def test_a_heading_at_the_goal() -> None:
    fields = random_world(0, 0)
    some = 0
    for seed in range(20):
        for turned in (0.0, 2.0, -2.5):
            query = replace(query_of(seed), goal_heading=turned, heading_tolerance=0.3)
            found = TREES.find(fields, query)
            if found is not None and found.plan is not None:
                off = found.plan.end_pose[2] - turned
                assert abs(math.remainder(off, math.tau)) <= 0.3 + 1e-4
                some += 1
    assert some > 20


def test_nobody_is_walked_into() -> None:
    """Somebody who stands in the way is walked around, if at all; who leaves in time is no hindrance."""
    fields, query = random_world(0, 0), Query((0.0, 0.0, 0.0), (5.0, 0.0), tolerance=0.7)
    alone = TREES.find(fields, query)
    assert alone is not None
    assert alone.plan is not None
    traffic = Traffic()
    owner = traffic.enroll("other")
    traffic.add_standing(owner, [(2.5, 0.0, 0.4)], 0.0)
    around = TREES.find(fields, query, traffic)
    if around is not None and around.plan is not None:
        assert around.plan.cost > alone.plan.cost
        for step in around.plan.steps:
            assert math.dist(step.pose[:2], (2.5, 0.0)) > 0.6
    traffic.remove(owner)
    traffic.add_standing(owner, [(2.5, 0.0, 0.4)], 0.0, 0.5)
    gone = TREES.find(fields, query, traffic)
    assert gone is not None
    assert gone.plan is not None
    assert gone.plan.steps == alone.plan.steps
    traffic.remove(owner)
    traffic.add_standing(owner, [(*alone.plan.end_pose[:2], 0.4)], 60.0)
    elsewhere = TREES.find(fields, query, traffic)
    if elsewhere is not None and elsewhere.plan is not None:  # one cannot stay where somebody stands later
        assert math.dist(elsewhere.plan.end_pose[:2], alone.plan.end_pose[:2]) >= 0.7


def test_special_moves_only_where_they_pass_something() -> None:
    searcher = small_searcher(JUMPER)
    names = [act.name for act in JUMPER if act.name != "wait"]
    moves = choose_moves(searcher.table, "stand", names, time_weight=0.1)
    trees = TreeSearch(searcher, [exhaustive_tree(moves, 5)])
    fence = Obstacle(Box((4.3, 0.0), (0.1, 15.9), 0.4), "jump")
    fields = WorldFields.of(World(BOUNDS, (fence,)), searcher.reaches)
    over = trees.find(fields, Query((-1.0, 0.0, 0.0), (5.6, 0.0), tolerance=0.6))
    assert over is not None
    assert over.plan is not None
    assert "jump" in over.plan.behaviors
    here = trees.find(fields, Query((-6.0, 0.0, 0.0), (0.0, 0.0), tolerance=0.7))
    assert here is not None
    assert here.plan is not None
    assert "jump" not in here.plan.behaviors


def test_a_goal_in_another_part_of_space_is_refused_at_once() -> None:
    sides = [((5.0, 2.0), (4.4, 0.4)), ((5.0, -2.0), (4.4, 0.4)), ((3.0, 0.0), (0.4, 4.4)), ((7.0, 0.0), (0.4, 4.4))]
    fields = WorldFields.of(World(BOUNDS, tuple(Obstacle(Box(at, size, 2.0)) for at, size in sides)))
    refused = TREES.find(fields, Query((0.0, 0.0, 0.0), (5.0, 0.0)))
    assert refused is not None
    assert refused.status is Status.NO_PATH
    assert "another part" in refused.reason
    assert not search(SEARCHER, fields, Query((0.0, 0.0, 0.0), (5.0, 0.0))).found


@pytest.mark.parametrize("goal", [(60.0, 0.0), (7.9, 7.9), (-7.9, 0.0)])
def test_goals_out_of_reach_have_no_answer(goal: tuple[float, float]) -> None:
    fields = WorldFields.of(World((-70.0, -70.0, 70.0, 70.0)))
    assert TREES.find(fields, Query((0.0, 0.0, 0.0), (goal[0] * 3.0, goal[1] * 3.0))) is None


def test_trees_that_do_not_fit() -> None:
    other = small_searcher(JUMPER)
    with pytest.raises(TreeError, match="another library"):
        TreeSearch(other, [TREE])
    with pytest.raises(TreeError, match="cost something else"):
        TreeSearch(small_searcher(WALKER, 0.7), [TREE])
    walking = choose_moves(SEARCHER.table, "walk", ["straight", "left", "right"], time_weight=0.1)
    with pytest.raises(TreeError, match="never comes to rest"):
        TreeSearch(SEARCHER, [diverse_tree(walking, Region.disc(7.0), Budget(50), stretch=None)])
    fields = random_world(0)
    with pytest.raises(TreeError, match="no tree begins after 'straight'"):
        TREES.find_many(fields, np.zeros((1, 3)), np.ones((1, 2)), behavior="straight")
    with pytest.raises(TreeError, match="must be finite"):
        TREES.find_many(fields, np.zeros((1, 3)), np.full((1, 2), np.nan))
    assert TREES.find(fields, replace(query_of(1), start_behavior="straight")) is None
