"""Long ways by trees: every step free at the search's own sampling, exact in time, and at rest at the goal for ever."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.behavior.heuristics import Heuristics
from gaitway.behavior.search import search
from gaitway.core import planar
from gaitway.space._traffic_kernels import end_slot, first_slot, stay_hit, traffic_hit
from gaitway.space.fields import WorldFields
from gaitway.space.plan import Plan
from gaitway.space.query import Query
from gaitway.space.traffic import Traffic, placed_discs
from gaitway.tree.building.growing import Budget, diverse_tree
from gaitway.tree.forest import Forest
from gaitway.tree.moves import choose_moves
from gaitway.tree.region import Region
from gaitway.tree.subgoals.chain import SubgoalChain
from gaitway.tree.subgoals.coarse import CoarsePlanner
from gaitway.tree.subgoals.legs import SubgoalLegs
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World
from search_twin import JUMPER, WALKER, Act, small_discs, small_reaches, small_searcher

BOUNDS = (0.0, 0.0, 40.0, 16.0)
REACH = 7.0


def legs_of(acts: tuple[Act, ...]) -> SubgoalLegs:
    searcher, names = small_searcher(acts, 1.0), [act.name for act in acts if act.name != "wait"]
    moves = {root: choose_moves(searcher.table, root, names, time_weight=1.0) for root in ("stand", "walk")}
    trees = {root: diverse_tree(some, Region.disc(8.5), Budget(20_000), stretch=1.3) for root, some in moves.items()}
    return SubgoalLegs(searcher, Heuristics.of(searcher.table, searcher.costs, names=("heading",)), Forest(trees))


LEGS, DISCS = legs_of(WALKER), small_discs(WALKER)
QUERY = Query((2.0, 8.0, 0.0), (37.0, 8.0))


def chain(*obstacles: Obstacle, legs: SubgoalLegs = LEGS) -> SubgoalChain:
    fields = WorldFields.of(World(BOUNDS, obstacles), small_reaches(JUMPER))
    return SubgoalChain(legs, fields, CoarsePlanner(fields, 0.2), REACH)


def boxes(seed: int, count: int = 14) -> tuple[Obstacle, ...]:
    rng = np.random.default_rng(seed)
    places = rng.uniform((5.0, 1.0), (34.0, 15.0), (count, 2)).tolist()
    sizes = rng.uniform(0.4, 2.0, (count, 2)).tolist()
    return tuple(Obstacle(Box((x, y), (a, b), 2.0)) for (x, y), (a, b) in zip(places, sizes, strict=True))


def check(plan: Plan, query: Query, made: SubgoalChain, traffic: Traffic | None = None) -> None:
    """All of a plan again, step by step, by the world's distances and the traffic's discs."""
    searcher = made.legs.searcher
    table, pose, time, cost = searcher.table, np.array(query.start), query.start_time, 0.0
    for step in plan.steps:
        action = table.clips.index(step.clip)
        assert step.time == pytest.approx(time, abs=1e-9)
        assert step.pose[:2] == pytest.approx(pose[:2], abs=1e-9)
        assert abs(planar.wrap_angle(step.pose[2] - pose[2])) < 1e-9
        own = DISCS.static[DISCS.static_starts[action] : DISCS.static_starts[action + 1]]
        leave = 0.03 if math.dist(pose[:2], query.start[:2]) <= 0.4 else 0.0
        if table.kind[action] < 0:
            room = made.fields.clearance(planar.transform_points(pose, own[:, :2]))
            assert (own[:, 2] - leave <= room + 1e-9).all()
        if traffic is not None:
            assert not met(traffic, step.pose, time, action)
        pose, time = planar.compose(pose, table.moves[action]), time + table.durations[action]
        cost += searcher.costs[action]
    assert plan.end_time == pytest.approx(time) and plan.cost == pytest.approx(cost)
    assert math.dist(pose[:2], query.goal) <= query.tolerance + 1e-9
    assert table.rest[table.end_state[action]]
    if traffic is not None:
        standing = placed_discs(plan.end_pose, DISCS.static[:1])
        slot = int(first_slot(plan.end_time))
        assert all(stay_hit(traffic.arrays, slot, x, y, r) < 0 for x, y, r in standing.tolist())


def met(traffic: Traffic, pose: tuple[float, float, float], time: float, action: int) -> bool:
    """Whether an action meets anybody in one of its windows."""
    for window in range(int(DISCS.window_starts[action]), int(DISCS.window_starts[action + 1])):
        begin, end = (time + DISCS.window_times[window]).tolist()
        discs = placed_discs(pose, DISCS.timed[int(DISCS.timed_starts[window]) : int(DISCS.timed_starts[window + 1])])
        for slot in range(int(first_slot(begin)), int(end_slot(end))):
            if any(traffic_hit(traffic.arrays, slot, x, y, r, -1) >= 0 for x, y, r in discs.tolist()):
                return True
    return False


def test_a_goal_within_reach_is_one_query() -> None:
    made, query = chain(), replace(QUERY, goal=(8.0, 9.0))
    result = made.find(query)
    assert result is not None and result.plan is not None and result.found
    check(result.plan, query, made)
    assert result.remaining <= 0.5 and result.expanded < 20


def test_a_distant_goal_is_got_to_over_sub_goals() -> None:
    made = chain()
    result = made.find(QUERY)
    assert result is not None and result.plan is not None
    check(result.plan, QUERY, made)
    best = search(made.legs.searcher, made.fields, QUERY)
    assert best.plan is not None and result.plan.cost < 1.1 * best.plan.cost
    assert result.plan.behaviors.count("stop") <= 3  # nobody stops at each sub-goal
    again = made.find(QUERY)
    assert again is not None and again.plan == result.plan


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.floats(1.0, 15.0))
def test_among_obstacles_all_steps_are_free(seed: int, y: float) -> None:
    made, query = chain(*boxes(seed)), replace(QUERY, goal=(37.5, y))
    result = made.find(query)
    if result is not None:
        assert result.plan is not None
        check(result.plan, query, made)
        assert search(made.legs.searcher, made.fields, replace(query, weight=2.0)).found


def test_most_queries_among_obstacles_are_answered() -> None:
    answers = [chain(*boxes(seed)).find(QUERY) is not None for seed in range(40)]
    assert sum(answers) >= 30


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_among_others_nobody_is_met(seed: int) -> None:
    rng = np.random.default_rng(seed)
    made, traffic = chain(*boxes(seed, 4)), Traffic()
    for number in range(8):
        owner, (x, y) = traffic.enroll(str(number)), rng.uniform((6.0, 2.0), (34.0, 14.0))
        begin = float(rng.uniform(0.0, 30.0))
        traffic.add_standing(owner, [(x, y, 0.4)], begin, begin + float(rng.uniform(2.0, 60.0)))
    result = made.find(QUERY, traffic)
    if result is not None:
        assert result.plan is not None
        check(result.plan, QUERY, made, traffic)


def test_one_waits_until_a_door_is_free() -> None:
    door = (Obstacle(Box((20.0, 3.4), (0.4, 6.8), 2.0)), Obstacle(Box((20.0, 12.6), (0.4, 6.8), 2.0)))
    made, traffic = chain(*door), Traffic()
    alone = made.find(QUERY)
    traffic.add_standing(traffic.enroll("porter"), [(20.0, 8.0, 0.6)], 0.0, 26.0)
    late = made.find(QUERY, traffic)
    assert alone is not None and alone.plan is not None and late is not None and late.plan is not None
    check(late.plan, QUERY, made, traffic)
    assert alone.plan.end_time < late.plan.end_time and "wait" in late.plan.behaviors


def test_nobody_stops_where_others_come_by_later() -> None:
    made, traffic, query = chain(), Traffic(), replace(QUERY, goal=(8.0, 8.0), tolerance=1.2)
    alone = made.find(query)
    assert alone is not None and alone.plan is not None
    traffic.add_standing(traffic.enroll("late"), [(*alone.plan.end_pose[:2], 0.4)], 60.0)
    elsewhere = made.find(query, traffic)
    assert elsewhere is not None and elsewhere.plan is not None
    check(elsewhere.plan, query, made, traffic)


def test_a_fence_is_jumped() -> None:
    legs = legs_of(JUMPER)
    made = chain(Obstacle(Box((20.0, 8.0), (0.2, 16.0), 0.3), "jump"), legs=legs)
    result = made.find(QUERY)
    assert result is not None and result.plan is not None and result.plan.behaviors.count("jump") == 1


def test_what_cannot_be_reached_is_refused_at_once() -> None:
    made = chain(Obstacle(Box((20.0, 8.0), (0.4, 16.4), 2.0)))
    assert made.find(QUERY) is None and made.legs.looked_at == 0
    assert chain().find(replace(QUERY, start=(2.0, 8.0, 0.0), goal=(2.0, 20.0))) is None


def test_who_stands_too_near_to_a_wall_is_left_to_the_search() -> None:
    made = chain(Obstacle(Box((2.0, 8.45), (2.0, 0.4), 2.0)))  # 25 cm from the root, a body has 30
    assert made.find(replace(QUERY, goal=(8.0, 6.0))) is None or made.legs.tested > 0
