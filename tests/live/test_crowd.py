"""Live characters: nobody ever meets anybody, whatever happens, and they get where they are sent."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.audit import audit_take
from gaitway.core.errors import TreeError
from gaitway.live.engine import LiveEngine
from gaitway.live.playing.check import overlaps
from gaitway.live.record import LiveRecord
from gaitway.tree.forest import Forest
from gaitway.world.obstacle import WALL, Mover, MoverPhase, Obstacle
from gaitway.world.shapes import Box, Cylinder
from gaitway.world.world import World
from live_crowds import FRAME, OPEN, boxes, crowd_in, forest, prepared_in, ring


def play(crowd: LiveEngine, seconds: float, dt: float = FRAME) -> int:
    """Go on for some time; how many discs overlapped, by where the roots are in each step."""
    found = 0
    for _ in range(round(seconds / dt)):
        crowd.step(dt)
        found += len(overlaps(crowd.poses().root_positions, crowd.options.radius))
    return found


@pytest.mark.slow
@given(seed=st.integers(0, 10_000))
@settings(max_examples=4)
def test_nobody_meets_anybody_or_anything(seed: int) -> None:
    rng = np.random.default_rng(seed)
    world = boxes(seed, 4)
    crowd = crowd_in(world)
    record = LiveRecord(crowd)
    spots = np.column_stack([rng.uniform(-7.5, 7.5, (60, 2)), rng.uniform(-np.pi, np.pi, 60)])
    placed = crowd.add(spots, rng.uniform(-7.0, 7.0, (60, 2)))
    assert (placed >= 0).sum() > 20
    met = 0
    for _ in range(4):
        met += play(crowd, 1.0)
        who = rng.permutation(crowd.characters)[:5]
        crowd.set_goals(who, rng.uniform(-7.0, 7.0, (len(who), 2)))
        crowd.remove(rng.permutation(crowd.characters)[:1])
    assert met == 0
    report = audit_take(record.take(), world)
    assert not [row.name for row in report.rows if row.violations and row.decides]


def test_a_crowded_place_has_no_room_for_more() -> None:
    crowd = crowd_in()
    first = crowd.add([[0.0, 0.0, 0.0]], [[3.0, 0.0]])
    again = crowd.add([[0.1, 0.0, 0.0], [0.0, 30.0, 0.0], [2.0, 0.0, 0.0]], np.zeros((3, 2)))
    assert first.tolist() == [0]
    assert again.tolist() == [-1, -1, 1]


@pytest.mark.slow
def test_those_around_a_circle_swap_sides() -> None:
    starts, goals = ring(10, 5.0)
    crowd = crowd_in()
    crowd.add(starts, goals)
    met = 0
    for _ in range(40):
        met += play(crowd, 1.0)
        if len(crowd.arrived) == 10:
            break
    assert met == 0
    assert crowd.counts.arrivals == 10
    places = crowd.poses().root_positions[:, :2]
    assert np.hypot(*(places - goals).T).max() < crowd.options.tolerance + 1.6
    assert np.median(np.hypot(*(places - goals).T)) < crowd.options.tolerance + 0.1


def test_the_same_calls_give_the_same_motion() -> None:
    seen = []
    for _ in range(2):
        starts, goals = ring(12, 4.0)
        crowd = crowd_in(boxes(3, 2))
        crowd.add(starts, goals)
        play(crowd, 3.0)
        crowd.set_goals([0, 3], [[0.0, 0.0], [1.0, 1.0]])
        play(crowd, 3.0)
        seen.append((crowd.poses().rotations.tobytes(), crowd.joints().positions.tobytes(), crowd.counts.plans))
    assert seen[0] == seen[1]


def test_a_long_step_is_as_many_short_ones() -> None:
    starts, goals = ring(6, 4.0)
    crowd = crowd_in()
    crowd.add(starts, goals)
    crowd.step(7.3)
    assert crowd.time == pytest.approx(7.3)
    assert crowd.counts.plans > 6
    assert len(overlaps(crowd.poses().root_positions, crowd.options.radius)) == 0


def test_a_new_goal_is_taken_up_at_the_end_of_the_move() -> None:
    crowd = crowd_in()
    crowd.add([[-8.0, 0.0, 0.0]], [[8.0, 0.0]])
    play(crowd, 4.0)
    crowd.set_goals([0], [[-2.0, 7.0]])
    play(crowd, 2.0)
    end = crowd.plan(0).end_pose
    assert np.hypot(end[0] + 2.0, end[1] - 7.0) < np.hypot(8.0 - end[0], end[1])
    play(crowd, 12.0)
    assert crowd.arrived.tolist() == [0]


def test_a_plan_begins_with_what_is_played_and_ends_at_rest() -> None:
    crowd = crowd_in()
    crowd.add([[-8.0, 0.0, 0.0]], [[8.0, 0.0]])
    play(crowd, 3.0)
    plan = crowd.plan(0)
    table = crowd.prepared.table
    assert plan.steps[0].time <= crowd.time < plan.steps[1].time
    assert plan.behaviors[0] == crowd.behaviors([0])[0]
    assert table.rest[table.end_state[table.clips.index(plan.steps[-1].clip)]]


def test_a_wall_that_comes_up_is_gone_around() -> None:
    crowd = crowd_in()
    record = LiveRecord(crowd)
    crowd.add([[-8.0, 0.3, 0.0]], [[8.0, 0.0]])
    play(crowd, 3.0)
    wall = World(OPEN.bounds, (Obstacle(Box((0.0, 0.0), (0.5, 5.0), 2.0)),))
    crowd.set_world(wall)
    play(crowd, 20.0)
    assert crowd.arrived.tolist() == [0]
    report = audit_take(record.take(), wall)
    assert not [row.name for row in report.rows if row.violations and row.decides]


def test_things_that_move_are_given_way_to() -> None:
    ball = MoverPhase(0.0, Cylinder((0.0, 0.0), 0.5, 2.0), WALL)
    mover = Mover((ball,), np.array([0.0, 12.0]), np.array([[0.0, -6.0, 0.0], [0.0, 6.0, 0.0]]), "ball")
    crowd = crowd_in(World(OPEN.bounds, movers=(mover,)))
    crowd.add([[-6.0, 0.0, 0.0], [6.0, 1.0, np.pi]], [[6.0, 0.0], [-6.0, 1.0]])
    nearest = np.inf
    for _ in range(round(14.0 / FRAME)):
        crowd.step(FRAME)
        places = crowd.poses().root_positions[:, :2]
        nearest = min(nearest, float(np.hypot(*(places - mover.pose(crowd.time)[:2]).T).min()))
    assert nearest > 0.6
    assert len(crowd.arrived) == 2


def test_numbers_of_those_who_left_are_used_again() -> None:
    crowd = crowd_in()
    crowd.add([[0.0, 0.0, 0.0], [3.0, 0.0, 0.0]], [[0.0, 5.0], [3.0, 5.0]])
    crowd.remove([0])
    assert crowd.characters.tolist() == [1]
    assert crowd.add([[0.0, 0.0, 0.0]], [[0.0, 5.0]]).tolist() == [0]
    assert len(crowd) == 2


def test_there_is_room_for_as_many_as_come() -> None:
    crowd = crowd_in()
    side = np.arange(-10.0, 10.1, 2.0)
    spots = np.stack(np.meshgrid(side, side), -1).reshape(-1, 2)
    for part in np.array_split(spots, 3):
        placed = crowd.add(np.column_stack([part, np.zeros(len(part))]), part)
        assert (placed >= 0).all()
        assert play(crowd, 0.5) == 0
    assert len(crowd) == len(spots)
    assert len(crowd.arrived) == len(spots)  # who is there already need not go


def test_a_budget_holds_back_plans() -> None:
    starts, goals = ring(20, 8.0)
    crowd = crowd_in(budget=1)
    crowd.add(starts, goals)
    play(crowd, 0.2)
    counts = crowd.counts
    assert counts.plans + counts.failures == 6


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ahead": 0.0}, "ahead 0.0"),
        ({"keep": 0}, "keep 0"),
        ({"budget": 0}, "budget 0"),
        ({"budget_ms": -1.0}, "budget_ms -1.0"),
        ({"radius": float("nan")}, "radius nan"),
    ],
)
def test_options_that_cannot_be(options: dict[str, float], words: str) -> None:
    with pytest.raises(TreeError, match=words):
        crowd_in(**options)


def test_bad_input() -> None:
    crowd = crowd_in()
    crowd.add([[0.0, 0.0, 0.0]], [[1.0, 0.0]])
    with pytest.raises(TreeError, match="no character 4"):
        crowd.set_goals([4], [[0.0, 0.0]])
    with pytest.raises(TreeError, match="whole numbers"):
        crowd.remove([0.5])
    with pytest.raises(TreeError, match="one goal for each"):
        crowd.add([[5.0, 0.0, 0.0]], np.zeros((2, 2)))
    with pytest.raises(TreeError, match="finite numbers"):
        crowd.add([[np.nan, 0.0, 0.0]], [[0.0, 0.0]])
    for time in (0.0, -1.0, np.nan, np.inf, 1e6):
        with pytest.raises(TreeError, match="above 0 and at most 600"):
            crowd.step(time)
    trees = forest().trees
    with pytest.raises(TreeError, match="no tree for those who stand"):
        LiveEngine(prepared_in(OPEN), Forest({"walk": trees["walk"]}))


def test_those_in_the_way_of_something_new_plan_at_once() -> None:
    crowd = crowd_in(budget=1)
    starts = np.array([[-8.0, y, 0.0] for y in (-6.0, -3.0, 0.0, 3.0, 6.0)])
    crowd.add(starts, starts[:, :2] + (16.0, 0.0))
    play(crowd, 4.0)
    before = [crowd.plan(who).end_pose for who in crowd.characters.tolist()]
    crowd.set_world(World(OPEN.bounds, (Obstacle(Box((-1.0, 0.0), (0.5, 9.0), 2.0)),)))
    crowd.step(FRAME)
    after = [crowd.plan(who).end_pose for who in crowd.characters.tolist()]
    assert sum(a != b for a, b in zip(before, after, strict=True)) >= 3


@pytest.mark.parametrize("seconds", [3.0, 3.4, 3.8, 4.2])
def test_who_cannot_get_around_something_new_stops_before_it(seconds: float) -> None:
    crowd = crowd_in()
    crowd.add([[-9.0, 0.0, 0.0]], [[9.0, 0.0]])
    play(crowd, seconds)
    x = float(crowd.poses().root_positions[0, 0]) + 2.5
    crowd.set_world(World(OPEN.bounds, (Obstacle(Box((x + 0.5, 0.0), (1.0, 24.0), 2.0)),)))
    for _ in range(round(6.0 / FRAME)):
        crowd.step(FRAME)
        assert crowd.poses().root_positions[0, 0] < x
    crowd.set_world(OPEN)
    play(crowd, 20.0)
    assert crowd.arrived.tolist() == [0]
