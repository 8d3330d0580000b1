"""Live characters whose trees know no way search for one; fields of distances are made a few at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.audit import audit_take
from gaitway.core.array_handle import ArrayHandle
from gaitway.core.errors import TreeError
from gaitway.live.engine import LiveEngine
from gaitway.live.planning._stuck_kernels import install
from gaitway.live.planning.planner import FIELDS
from gaitway.live.planning.routes import RouteBook
from gaitway.live.playing import _playing_kernels as playing
from gaitway.live.playing.check import overlaps
from gaitway.live.record import LiveRecord
from gaitway.world.obstacle import WALL, Mover, MoverPhase, Obstacle
from gaitway.world.shapes import Box, Cylinder
from gaitway.world.world import World
from live_crowds import FRAME, OPEN, boxes, crowd_in, door, prepared_in

NARROW = door(0.8)
START, GOAL = (-1.2, 4.5, 1.57), (4.0, 4.0)


def play(crowd: LiveEngine, seconds: float) -> int:
    """Go on for some time; how many discs overlapped."""
    found = 0
    for _ in range(round(seconds / FRAME)):
        crowd.step(FRAME)
        found += len(overlaps(crowd.poses().root_positions, crowd.options.radius))
    return found


def test_a_door_that_no_tree_leads_through_is_found_by_a_search() -> None:
    without = crowd_in(NARROW, searches=0)
    without.add([START], [GOAL])
    play(without, 32.0)
    assert without.counts.searches == 0
    assert without.counts.arrivals == 0
    crowd = crowd_in(NARROW)
    record = LiveRecord(crowd)
    crowd.add([START], [GOAL])
    play(crowd, 32.0)
    assert crowd.arrived.tolist() == [0]
    assert crowd.counts.searches >= 1
    report = audit_take(record.take(), NARROW)
    assert not [row.name for row in report.rows if row.violations and row.decides]


def test_a_way_that_was_searched_for_is_played_to_its_end() -> None:
    crowd = crowd_in(NARROW)
    crowd.add([START], [GOAL])
    while crowd.counts.searches == 0:
        crowd.step(FRAME)
    table, plan = crowd.prepared.table, crowd.plan(0)
    for step, after in zip(plan.steps, plan.steps[1:], strict=False):
        action, (x, y, heading) = table.clips.index(step.clip), step.pose
        u, v, turn = table.moves[action].tolist()
        c, s = math.cos(heading), math.sin(heading)
        assert after.pose[:2] == pytest.approx((x + c * u - s * v, y + s * u + c * v))
        assert math.remainder(after.pose[2] - heading - turn, math.tau) == pytest.approx(0.0, abs=1e-9)
        assert after.time == pytest.approx(step.time + table.durations[action])
    plans = crowd.counts.plans
    play(crowd, plan.end_time - crowd.time + FRAME)
    assert crowd.counts.plans == plans
    assert math.dist(crowd.poses().root_positions[0, :2], plan.end_pose[:2]) < 0.1
    assert crowd.arrived.tolist() == [0]


@pytest.mark.slow
def test_searches_know_of_things_that_move() -> None:
    ball = MoverPhase(0.0, Cylinder((0.0, 0.0), 0.4, 2.0), WALL)
    way = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [5.0, -5.0, 0.0]])
    mover = Mover((ball,), np.array([0.0, 20.0, 24.0]), way, "ball in the door")
    crowd = crowd_in(World(NARROW.bounds, NARROW.obstacles, movers=(mover,)))
    crowd.add([START], [GOAL])
    nearest = math.inf
    for _ in range(round(90.0 / FRAME)):
        crowd.step(FRAME)
        nearest = min(nearest, math.dist(crowd.poses().root_positions[0, :2], mover.pose(crowd.time)[:2]))
    assert crowd.counts.searches > 0
    assert crowd.arrived.tolist() == [0]
    assert nearest > 0.5


def test_the_same_calls_give_the_same_searches() -> None:
    seen = []
    for _ in range(2):
        crowd = crowd_in(NARROW)
        crowd.add([(-4.0, y, 1.0) for y in (-4.0, 0.0, 4.0)], [(4.0, y) for y in (4.0, 0.0, -4.0)])
        play(crowd, 20.0)
        seen.append((crowd.joints().positions.tobytes(), crowd.counts.searches, crowd.counts.plans))
    assert seen[0] == seen[1]
    assert seen[0][1] > 0


@pytest.mark.slow
@given(seed=st.integers(0, 10_000))
@settings(max_examples=3)
def test_nobody_meets_anybody_on_ways_that_were_searched_for(seed: int) -> None:
    rng = np.random.default_rng(seed)
    crowd = crowd_in(NARROW, searches=4)
    record = LiveRecord(crowd)
    spots = np.column_stack([rng.uniform(-5.5, -0.5, 30), rng.uniform(-5.5, 5.5, 30), rng.uniform(-3.0, 3.0, 30)])
    spots[::2, 0] *= -1.0
    crowd.add(spots, spots[:, :2] * (-1.0, 1.0))
    assert play(crowd, 16.0) == 0
    assert crowd.counts.searches > 0
    report = audit_take(record.take(), NARROW)
    assert not [row.name for row in report.rows if row.violations and row.decides]


@pytest.mark.parametrize(("ahead", "taken"), [(2.0, 0), (30.0, 6)])
def test_steps_that_lead_into_somebody_are_not_taken(ahead: float, taken: int) -> None:
    world = World((-20.0, -20.0, 40.0, 20.0))
    crowd = crowd_in(world)
    crowd.add([[0.0, 0.0, 0.0], [ahead, 0.0, 0.0]], [[9.0, 0.0], [ahead, 0.0]])
    prepared, planner = crowd.prepared, crowd._parts[0].planner
    names = ["start_walk", *["walk_forward"] * 4, "stop_walk"]
    actions = np.array([prepared.table.clips.index(name) for name in names])
    actions.setflags(write=False)
    before = crowd.plan(0)
    number = install(
        prepared.actions.handle, planner.fields.handle, prepared.actions.passing(planner.fields), planner.traffic,
        False, crowd._body, ArrayHandle(crowd._crowd), ArrayHandle(crowd._live), 0, actions,
    )  # fmt: skip
    assert number == taken
    assert len(crowd.plan(0).steps) == len(before.steps) + taken
    assert (crowd._crowd.counts[0, playing.FIXED] == 1 + taken) or taken == 0


def test_searches_cannot_be_less_than_none() -> None:
    with pytest.raises(TreeError, match="searches -1"):
        crowd_in(OPEN, searches=-1)


def test_fields_of_many_goals_are_made_a_few_at_a_time() -> None:
    world = boxes(5, 3)
    crowd = crowd_in(world)
    side = np.arange(-7.0, 7.1, 2.0)
    spots = np.stack(np.meshgrid(side, side), -1).reshape(-1, 2)
    crowd.add(np.column_stack([spots, np.zeros(len(spots))]), -spots)
    goals = len({tuple(cell) for cell in crowd.goals().tolist()})
    routes = crowd._parts[0].planner.routes
    assert routes.waiting == goals > 4 * FIELDS
    play(crowd, 3 * FRAME)
    crowd.settle()
    assert routes.waiting == goals - 3 * FIELDS
    crowd.set_world(World(world.bounds, (*world.obstacles, Obstacle(Box((0.0, 0.0), (0.3, 0.3), 2.0)))))
    assert crowd._parts[0].planner.routes.waiting == goals
    play(crowd, math.ceil(goals / FIELDS) * FRAME)
    crowd.settle()
    assert crowd._parts[0].planner.routes.waiting == 0
    assert np.isfinite(crowd._parts[0].planner.routes.handle.value.lengths[:goals]).any(axis=(1, 2)).all()


def test_an_old_field_stands_until_the_new_one_is_there() -> None:
    before = RouteBook(prepared_in(boxes(5, 3)).fields)
    goals = np.array([[4.0, 4.0], [-4.0, 4.0]])
    numbers = before.numbers(goals)
    assert np.isinf(before.handle.value.lengths[numbers]).all()
    assert before.fill(1) == [numbers[0]]
    old = before.handle.value.lengths[numbers[0]].copy()
    after = RouteBook(prepared_in(boxes(6, 3)).fields, before=before)
    assert np.array_equal(after.numbers(goals), numbers)
    assert np.array_equal(after.handle.value.lengths[numbers[0]], old)
    assert sorted(after.fill(9)) == sorted(numbers.tolist())
    assert not np.array_equal(after.handle.value.lengths[numbers[0]], old)
    assert after.fill(9) == []


def test_new_goals_take_the_place_of_those_that_nobody_goes_to() -> None:
    fields = prepared_in(boxes(5, 3)).fields
    whole = RouteBook(fields)
    whole.numbers(np.array([[4.0, 4.0]]))
    book = RouteBook(fields, 3 * whole.nbytes)
    goals = np.array([[4.0, 4.0], [-4.0, 4.0], [4.0, -4.0]])
    assert book.numbers(goals).tolist() == [0, 1, 2] and book.full
    assert book.fill(9) == [0, 1, 2]
    another = np.array([[-4.0, -4.0]])
    assert book.numbers(another).tolist() == [-1]
    book.release(np.array([1]))
    assert book.numbers(goals[:1]).tolist() == [0]  # given up, and asked for again before another took its place
    assert book.numbers(another).tolist() == [2]
    assert np.isinf(book.lengths[2]).all() and book.waiting == 1
    assert book.fill(9) == [2]
    whole.numbers(another)
    whole.fill(9)
    assert np.array_equal(book.lengths[2], whole.lengths[1])
    assert book.numbers(goals[2:]).tolist() == [-1]
    again = RouteBook(fields, 3 * whole.nbytes // 2)
    again.restore(book.state(), book.lengths)
    book.release(np.array([0, 2]))
    again.release(np.array([0, 2]))
    assert book.numbers(goals[2:]).tolist() == again.numbers(goals[2:]).tolist() == [1]


def test_who_is_sent_about_for_long_never_runs_out_of_routes() -> None:
    crowd = crowd_in(boxes(5, 3), route_bytes=4 * 4 * 100 * 100)
    crowd.add([(-4.0, -4.0, 0.0)], [(4.0, 4.0)])
    most = crowd._parts[0].planner.routes._most
    assert 1 <= most < 20
    for k in range(3 * most):
        crowd.set_goals([0], [(4.0 - 0.25 * (k % 30), 4.0 - 0.25 * (k // 30))])
        crowd.step(FRAME)
        assert crowd._crowd.counts[0, playing.ROUTE] >= 0


def test_where_nothing_stands_there_are_no_fields() -> None:
    book = RouteBook(prepared_in(OPEN).fields)
    assert book.numbers(np.array([[1.0, 1.0]])).tolist() == [-1]
    assert book.waiting == 0
