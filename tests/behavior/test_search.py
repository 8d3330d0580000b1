"""The search: as cheap as its plain twin, within its bounds, the same every time, and telling about what it fails."""

from __future__ import annotations

import itertools
import math
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.audit import audit_take
from gaitway.behavior.heuristics import Heuristics
from gaitway.behavior.search import search
from gaitway.behavior.searcher import Searcher
from gaitway.cast.catalog import load_cast
from gaitway.core import planar
from gaitway.core.errors import GaitwayError, LibraryError
from gaitway.library.actions import action_table
from gaitway.library.body_discs import body_discs
from gaitway.library.reach import reaches
from gaitway.scene import load_scene
from gaitway.space.fields import WorldFields
from gaitway.space.plan import SearchResult, Status
from gaitway.space.query import Query
from gaitway.take.tracks import assemble, lay_track
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World
from search_twin import JUMPER, LATTICE, WALKER, small_discs, small_searcher, twin_cost

BOUNDS = (0.0, 0.0, 16.0, 12.0)
START, GOAL = (2.13, 6.17, 0.0), (13.13, 6.17)


def boxes(seed: int, count: int) -> World:
    rng = np.random.default_rng(seed)
    made = []
    while len(made) < count:
        center, size = rng.uniform((4.5, 0.0), (10.5, 12.0)), rng.uniform(0.3, 3.0, 2)
        made.append(Obstacle(Box(tuple(center.tolist()), tuple(size.tolist()), 1.5), name=f"box {len(made)}"))
    return World(BOUNDS, tuple(made))


def wall(
    x: float, y: float, length: float, width: float, name: str, kind: str = "wall", height: float = 2.0
) -> Obstacle:
    return Obstacle(Box((x, y), (length, width), height), kind, name)


def check_plan(searcher: Searcher, fields: WorldFields, query: Query, result: SearchResult) -> None:
    """A plan's steps hang together, obey the graph and cost what it says."""
    plan, table = result.plan, searcher.table
    assert plan is not None
    pose, time, cost = np.array(query.start), query.start_time, 0.0
    state = searcher.start_state(query.start_behavior)
    for step in plan.steps:
        action = table.clips.index(step.clip)
        behavior = table.index(step.behavior)
        assert table.behavior[action] == behavior
        states = searcher.states
        assert behavior in states.followers[states.follower_starts[state] : states.follower_starts[state + 1]]
        np.testing.assert_allclose(step.pose[:2], pose[:2], atol=1e-9)
        assert abs(float(planar.wrap_angle(step.pose[2] - pose[2]))) < 1e-9
        assert step.time == pytest.approx(time)
        pose, time = planar.compose(pose, table.moves[action]), time + table.durations[action]
        cost, state = cost + searcher.costs[action], int(states.after[behavior])
    np.testing.assert_allclose(plan.end_pose[:2], pose[:2], atol=1e-9)
    assert plan.cost == pytest.approx(cost)
    assert plan.end_time == pytest.approx(time)
    if result.found:
        assert math.hypot(pose[0] - query.goal[0], pose[1] - query.goal[1]) <= query.tolerance + 1e-6
        assert searcher.states.rest[state] >= 0


@pytest.fixture(scope="module")
def walker() -> Searcher:
    return small_searcher(WALKER)


@pytest.fixture(scope="module")
def lattice() -> Searcher:
    return small_searcher(LATTICE)


@pytest.mark.slow
@settings(max_examples=15, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10_000), count=st.integers(0, 14), weight=st.sampled_from([1.0, 1.5, 3.0]))
def test_twin_finds_the_same(walker: Searcher, seed: int, count: int, weight: float) -> None:
    fields = WorldFields.of(boxes(seed, count), cell=0.1)
    query = Query(START, GOAL, weight=weight, tolerance=0.6)
    result = search(walker, fields, query)
    twin = twin_cost(WALKER, fields, query)
    if result.expanded == 0 and not result.found:  # refused at once
        assert twin is None
    elif twin is None:
        assert result.status is Status.NO_PATH
    else:
        assert result.found
        assert result.plan is not None
        assert result.plan.cost == pytest.approx(twin[0], abs=1e-9)
        assert result.expanded == pytest.approx(twin[1], rel=0.05)
        check_plan(walker, fields, query, result)


@settings(max_examples=10, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10_000), weight=st.sampled_from([1.5, 2.0, 5.0]))
def test_weight_one_is_optimal_and_weights_bound_the_cost(lattice: Searcher, seed: int, weight: float) -> None:
    fields = WorldFields.of(boxes(seed, 8), cell=0.1)
    query = Query(START, GOAL, tolerance=0.3)
    best = twin_cost(LATTICE, fields, query, blind=True)
    exact, quick = search(lattice, fields, query), search(lattice, fields, replace(query, weight=weight))
    assert exact.found == quick.found == (best is not None)
    if best is not None:
        assert exact.plan is not None
        assert quick.plan is not None
        assert exact.plan.cost == pytest.approx(best[0])
        assert best[0] - 1e-9 <= quick.plan.cost <= weight * best[0] + 1e-9


@settings(max_examples=12, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10_000))
def test_all_estimates_together_leave_the_best_plan(lattice: Searcher, seed: int) -> None:
    fields = WorldFields.of(boxes(seed, 10), cell=0.05)
    query = Query(START, GOAL, tolerance=0.3)
    heuristics = Heuristics.of(lattice.table, lattice.costs, fields, small_discs(LATTICE))
    arrays = heuristics.arrays(query.goal, query.tolerance, query.start[:2], query.weight)
    best, guided = twin_cost(LATTICE, fields, query, blind=True), search(lattice, fields, query, None, arrays)
    anytime = search(lattice, fields, replace(query, anytime=True), None, arrays)
    assert guided.found == anytime.found == (best is not None)
    if best is not None:
        assert guided.plan is not None
        assert anytime.plan is not None
        assert guided.plan.cost == pytest.approx(best[0])
        assert anytime.plan.cost == pytest.approx(best[0])
        assert guided.expanded <= best[1]


def test_anytime_ends_with_the_best_plan(lattice: Searcher) -> None:
    fields = WorldFields.of(World(BOUNDS, (wall(8.0, 4.5, 0.4, 7.0, "wall"),)), cell=0.1)
    query = Query(START, GOAL, tolerance=0.3)
    best, improved = search(lattice, fields, query), search(lattice, fields, replace(query, anytime=True))
    assert improved.plan is not None
    assert best.plan is not None
    assert improved.plan.cost == pytest.approx(best.plan.cost)
    hasty = search(lattice, fields, replace(query, anytime=True, max_nodes=best.expanded // 4))
    assert hasty.found  # the first weight found something before the budget ran out


@settings(max_examples=12, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10_000), nodes=st.integers(1, 200), weight=st.sampled_from([1.5, 3.0]))
def test_a_search_that_goes_on_hastily_ends_within_its_larger_weight(
    lattice: Searcher, seed: int, nodes: int, weight: float
) -> None:
    fields = WorldFields.of(boxes(seed, 8), cell=0.1)
    query = Query(START, GOAL, tolerance=0.3, weight=1.0)
    best = search(lattice, fields, query)
    on = search(lattice, fields, replace(query, max_nodes=nodes), hastier=((weight, 100_000),))
    assert on.found == best.found
    if best.plan is not None:
        assert on.plan is not None
        assert best.plan.cost - 1e-9 <= on.plan.cost <= weight * best.plan.cost + 1e-9
        check_plan(lattice, fields, query, on)


def test_a_search_that_goes_on_keeps_what_it_has_found(lattice: Searcher) -> None:
    fields = WorldFields.of(boxes(3, 8), cell=0.1)
    query = Query(START, GOAL, tolerance=0.3)
    whole = search(lattice, fields, query)
    assert whole.found
    half = whole.expanded // 2
    same = search(lattice, fields, replace(query, max_nodes=half), hastier=((1.0, 100_000),))
    assert (same.plan, same.expanded, same.checks) == (whole.plan, whole.expanded, whole.checks)
    spent = search(lattice, fields, replace(query, max_nodes=10), hastier=((1.0, 10), (1.0, 5)))
    assert spent.status is not Status.FOUND
    assert spent.expanded == 25


def test_a_plan_costs_less_than_asked_for(lattice: Searcher) -> None:
    fields = WorldFields.of(boxes(3, 8), cell=0.1)
    query = Query(START, GOAL, tolerance=0.3)
    best = search(lattice, fields, query).plan
    assert best is not None
    within = search(lattice, fields, replace(query, weight=3.0, most_cost=best.cost + 0.01)).plan
    assert within is not None
    assert within.cost < best.cost + 0.01
    assert search(lattice, fields, replace(query, most_cost=best.cost - 0.01)).status is Status.NO_PATH


def test_the_same_query_gives_the_same_plan(walker: Searcher) -> None:
    fields = WorldFields.of(boxes(5, 8), cell=0.1)
    query = Query(START, GOAL, weight=1.2)
    first = search(walker, fields, query)
    search(walker, fields, Query(START, (4.0, 2.0)))  # leaves other things in memory
    again, fresh = search(walker, fields, query), search(small_searcher(WALKER), fields, query)
    assert first.plan == again.plan == fresh.plan
    assert first.expanded == again.expanded == fresh.expanded


def test_steps_are_like_a_tuple_of_steps(walker: Searcher) -> None:
    plan = search(walker, WorldFields.of(boxes(5, 8), cell=0.1), Query(START, GOAL, weight=1.2)).plan
    assert plan is not None
    made = tuple(plan.steps)
    assert len(plan.steps) == len(made) > 3
    assert plan.steps == made
    assert plan.steps != made[1:]
    assert plan.steps[-1] is made[-1]
    assert plan.steps[2:4] == made[2:4]
    assert hash(plan) == hash(replace(plan, steps=made))
    assert repr(plan.steps) == repr(made)
    assert made[0].pose == START


def test_memory_grows_while_searching() -> None:
    searcher = small_searcher(WALKER)
    memory = len(searcher.memory.states)
    fields = WorldFields.of(World((0.0, 0.0, 40.0, 40.0)), cell=0.2)
    query = Query((1.13, 1.17, 0.0), (38.0, 38.0), tolerance=0.05, max_nodes=30_000)
    grown = search(searcher, fields, query)
    assert len(searcher.memory.states) > memory
    roomy = search(searcher, fields, query)
    assert grown.plan == roomy.plan
    assert (grown.status, grown.expanded, grown.checks) == (roomy.status, roomy.expanded, roomy.checks)


def test_goal_heading(walker: Searcher) -> None:
    fields = WorldFields.of(World(BOUNDS), cell=0.1)
    for heading in (0.0, math.pi, -math.pi / 2):
        result = search(walker, fields, Query(START, GOAL, goal_heading=heading, weight=1.5))
        assert result.plan is not None
        assert abs(float(planar.wrap_angle(result.plan.end_pose[2] - heading))) <= math.radians(15.0) + 1e-6


def test_already_there(walker: Searcher) -> None:
    result = search(walker, WorldFields.of(World(BOUNDS), cell=0.1), Query(START, START[:2]))
    assert result.found
    assert result.plan is not None
    assert result.plan.steps == ()


def test_start_in_the_middle_of_walking(walker: Searcher) -> None:
    fields = WorldFields.of(World(BOUNDS), cell=0.1)
    result = search(walker, fields, Query(START, GOAL, start_behavior="straight", start_time=3.0))
    assert result.plan is not None
    assert result.plan.behaviors[0] in ("straight", "left", "right", "stop")
    assert result.plan.steps[0].time == 3.0


def test_budget_of_nodes_gives_part_of_the_way(walker: Searcher) -> None:
    fields = WorldFields.of(World(BOUNDS), cell=0.1)
    query = Query(START, GOAL, max_nodes=12, weight=2.0)
    full, part = search(walker, fields, replace(query, max_nodes=1000)), search(walker, fields, query)
    assert full.found
    if full.expanded > 12:
        assert part.status in (Status.PARTIAL, Status.BUDGET)
        assert part.expanded == 12
    few = search(walker, fields, replace(query, max_nodes=4))
    assert few.status in (Status.PARTIAL, Status.BUDGET)
    assert "budget" in few.reason
    if few.plan is not None:
        check_plan(walker, fields, query, few)
    none = search(walker, fields, replace(query, max_nodes=1))
    assert none.remaining < 11.0


def test_budget_of_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    searcher = small_searcher(WALKER)
    ticks = itertools.count()
    monkeypatch.setattr(
        sys.modules[search.__module__], "time", SimpleNamespace(perf_counter=lambda: 0.02 * next(ticks))
    )
    fields = WorldFields.of(World((0.0, 0.0, 300.0, 300.0)), cell=1.0)
    result = search(searcher, fields, Query((5.0, 5.0, 0.0), (295.0, 295.0), tolerance=0.001, max_seconds=0.05))
    assert result.status is Status.PARTIAL
    assert next(ticks) < 10  # it looked at the clock a few times and ended
    assert 0 < result.expanded < 200_000


def test_closed_door_is_named(walker: Searcher) -> None:
    memory = [wall(8.0, 2.6, 0.3, 5.2, "south"), wall(8.0, 9.4, 0.3, 5.2, "north")]
    open_door = WorldFields.of(World(BOUNDS, tuple(memory)), cell=0.05)
    assert search(walker, open_door, Query(START, GOAL)).found
    closed = WorldFields.of(World(BOUNDS, (*memory, wall(8.0, 6.0, 0.3, 1.6, "door"))), cell=0.05)
    result = search(walker, closed, Query(START, GOAL))
    assert result.status is Status.NO_PATH
    assert "another part" in result.reason
    assert next(iter(result.blockers)) == "door"
    assert result.closest is not None
    assert result.closest[0] < 8.0


def test_fence_is_jumped_only_where_it_is_cleared() -> None:
    fence = wall(8.0, 6.0, 0.2, 12.4, "fence", "jump", 0.4)
    world, jumper = World(BOUNDS, (fence,)), small_searcher(JUMPER)
    fields = WorldFields.of(world, jumper.reaches, cell=0.05)
    result = search(jumper, fields, Query(START, GOAL, weight=1.5))
    assert result.plan is not None
    check_plan(jumper, fields, Query(START, GOAL), result)
    jumps = [step for step in result.plan.steps if step.behavior == "jump"]
    assert len(jumps) == 1
    x, _, heading = jumps[0].pose
    half = 0.1 / math.cos(heading) + 0.3 * abs(math.tan(heading))
    middle = (8.0 - x) / math.cos(heading)
    assert middle - half >= 1.0
    assert middle + half <= 2.0
    too_high = WorldFields.of(World(BOUNDS, (wall(8.0, 6.0, 0.2, 12.4, "fence", "jump", 0.6),)), jumper.reaches)
    refused = search(jumper, too_high, Query(START, GOAL))
    assert refused.status is Status.NO_PATH
    assert next(iter(refused.blockers)) == "no behaviour passes a jump ('fence')"


def test_library_that_cannot_jump(walker: Searcher) -> None:
    fields = WorldFields.of(World(BOUNDS, (wall(8.0, 6.0, 0.2, 12.4, "fence", "jump", 0.4),)), cell=0.05)
    result = search(walker, fields, Query(START, GOAL))
    assert result.status is Status.NO_PATH
    assert next(iter(result.blockers)) == "no behaviour passes a jump ('fence')"


@pytest.mark.parametrize(
    ("start", "goal", "words"),
    [
        ((8.0, 6.0, 0.0), GOAL, "start (8, 6) is in 'block'"),
        (START, (8.0, 6.0), "goal (8, 6) is in 'block'"),
        ((-1.0, 6.0, 0.0), GOAL, "start (-1, 6) is out of bounds"),
        (START, (6.0, 99.0), "goal (6, 99) is out of bounds"),
    ],
)
def test_hopeless_queries(
    walker: Searcher, start: tuple[float, float, float], goal: tuple[float, float], words: str
) -> None:
    fields = WorldFields.of(World(BOUNDS, (wall(8.0, 6.0, 3.0, 3.0, "block"),)), cell=0.1)
    result = search(walker, fields, Query(start, goal))
    assert result.status is Status.NO_PATH
    assert result.plan is None
    assert result.reason.startswith(words)


def test_start_a_little_too_near_to_a_wall_is_left(walker: Searcher) -> None:
    fields = WorldFields.of(World(BOUNDS, (wall(8.0, 6.0, 0.4, 4.0, "wall"),)), cell=0.05)
    result = search(walker, fields, Query((7.42, 6.0, math.pi / 2), (3.0, 6.0)))
    assert result.found


def test_bad_queries_and_libraries() -> None:
    with pytest.raises(GaitwayError, match="finite"):
        Query((math.nan, 0.0, 0.0), GOAL)
    with pytest.raises(GaitwayError, match="weight"):
        Query(START, GOAL, weight=0.5)
    with pytest.raises(LibraryError, match="nobody can stop"):
        small_searcher(WALKER[3:6])


def test_person_jumps_and_ducks_without_touching_anything() -> None:
    names = (
        "stand wait start_walk stop_walk start_jog stop_jog walk_to_jog jog_to_walk walk_forward walk_short "
        "walk_left_15 walk_right_15 jog_forward jog_short jog_left_15 jog_right_15 hurdle jump duck"
    )
    library = load_cast("person", behaviors=names.split())
    table = action_table(library)
    searcher = Searcher(table, body_discs(library, table), reaches(library))
    scene = load_scene("fence_and_beam")
    fields = WorldFields.of(scene.world, searcher.reaches)
    query = Query((5.0, 3.5, 0.0), (35.0, 3.5), weight=1.5)
    result = search(searcher, fields, query)
    check_plan(searcher, fields, query, result)
    assert result.plan is not None
    assert next(b for b in result.plan.behaviors if b in ("hurdle", "jump", "duck")) in ("hurdle", "jump")
    assert any(b.startswith("duck") for b in result.plan.behaviors)
    clips = [library.clips[step.clip] for step in result.plan.steps]
    track = lay_track("ada", clips, query.start, behaviors=result.plan.behaviors, goal=(*query.goal, math.nan, 0.5))
    report = audit_take(assemble([track]), scene.world)
    bad = [row for row in report.rows if not row.ok]
    assert not bad, bad


def test_who_only_walks_steps_over_the_fence() -> None:
    names = (
        "stand wait start_walk stop_walk walk_forward walk_short walk_left_15 walk_right_15 "
        "step_over_left step_over_right duck"
    )
    library = load_cast("person", behaviors=names.split())
    table = action_table(library)
    searcher = Searcher(table, body_discs(library, table), reaches(library))
    scene = load_scene("fence_and_beam")
    fields = WorldFields.of(scene.world, searcher.reaches)
    query = Query((9.0, 3.5, 0.0), (19.0, 3.0), weight=1.5)
    result = search(searcher, fields, query)
    check_plan(searcher, fields, query, result)
    assert result.plan is not None
    assert sum(b.startswith("step_over") for b in result.plan.behaviors) == 1
    clips = [library.clips[step.clip] for step in result.plan.steps]
    track = lay_track("ada", clips, query.start, behaviors=result.plan.behaviors, goal=(*query.goal, math.nan, 0.5))
    report = audit_take(assemble([track]), scene.world)
    assert not [row for row in report.rows if not row.ok]
