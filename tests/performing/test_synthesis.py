"""Plans become takes: every clip where and when it was planned, everybody there until the end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gaitway.audit import audit_take
from gaitway.cast.catalog import load_cast
from gaitway.core.errors import LibraryError, TakeError
from gaitway.library.behavior import Library
from gaitway.performing.synthesis import REST, Performer, plans_to_take
from gaitway.space.plan import Plan
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World
from hand_plans import plan_of

WALK = ["start_walk", "walk_forward", "walk_left_30", "walk_forward", "stop_walk"]
FLOOR = World((-20.0, -20.0, 40.0, 40.0))


@pytest.fixture(scope="module")
def person() -> Library:
    return load_cast("person", takes=2, behaviors=["stand", "wait", *WALK])


def test_clips_lie_where_and_when_they_were_planned(person: Library) -> None:
    plan = plan_of(person, WALK, (1.0, -2.0, 2.5), 0.7)
    take = plans_to_take(FLOOR, [Performer("ann", person, (1.0, -2.0, 2.5), plan, start_time=0.7)])
    for step in plan.steps:
        np.testing.assert_allclose(take.planar(step.time, [0])[0, 0], step.pose, atol=2e-6)
        assert take.behavior_at(step.time, [0]) == (step.behavior,)
    np.testing.assert_allclose(take.planar(plan.end_time, [0])[0, 0], plan.end_pose, atol=2e-6)
    assert take.start(0) == 0.7


def test_everybody_stands_until_the_end(person: Library) -> None:
    plan = plan_of(person, WALK)
    crowd = [
        Performer("walker", person, (0.0, 0.0, 0.0), plan, seed=1),
        Performer("bystander", person, (0.0, 5.0, 1.0), seed=1),
        Performer(
            "there already", person, (0.0, 8.0, 1.0), Plan((), (0.0, 8.0, 1.0), 1.0, 0.0), start_time=1.0, seed=1
        ),
    ]
    take = plans_to_take(FLOOR, crowd, hold_until=20.0)
    np.testing.assert_array_equal(take.ends, 20.0)
    np.testing.assert_array_equal(take.starts, [0.0, 0.0, 1.0])
    ends = take.planar(20.0)[:, 0]
    for end, pose in zip(ends, (plan.end_pose, crowd[1].start, crowd[2].start), strict=True):
        assert np.hypot(*(end - pose)[:2]) < 0.05
    assert set(take.behavior_at(19.0)) <= {"stand", "wait"}
    assert audit_take(take, FLOOR).ok


def test_the_take_goes_on_a_little_after_the_last_arrival(person: Library) -> None:
    plan = plan_of(person, WALK)
    performer = Performer("ann", person, (0.0, 0.0, 0.0), plan)
    assert plans_to_take(FLOOR, [performer]).duration == pytest.approx(plan.end_time + REST)
    assert plans_to_take(FLOOR, [performer], hold_until=2.0).duration == pytest.approx(plan.end_time)


def test_who_waits_for_the_first_step_stands(person: Library) -> None:
    plan = plan_of(person, WALK, time=2.6)
    take = plans_to_take(FLOOR, [Performer("ann", person, (0.0, 0.0, 0.0), plan)])
    assert take.start(0) == 0.0
    assert set(take.behavior_at(1.3)) <= {"stand", "wait"}
    np.testing.assert_allclose(take.planar(2.6, [0])[0, 0], (0.0, 0.0, 0.0), atol=2e-6)
    assert audit_take(take, FLOOR).ok


def test_a_standing_crowd_is_not_in_step_and_comes_out_the_same_again(person: Library) -> None:
    crowd = [Performer(f"p{k}", person, (0.0, 2.0 * k, 0.0), seed=4) for k in range(6)]
    a, b = (plans_to_take(FLOOR, crowd, hold_until=12.0) for _ in range(2))
    heads = a.joints(6.0)[0].positions[:, person.skeleton.roles["head"]] - [[0.0, 2.0 * k, 0.0] for k in range(6)]
    assert len(np.unique(heads.round(5), axis=0)) == 6
    np.testing.assert_array_equal(a.segments.start, b.segments.start)
    other = plans_to_take(FLOOR, [replace(p, seed=5) for p in crowd], hold_until=12.0)
    assert not np.array_equal(a.segments.start, other.segments.start)


def test_goals_radii_and_facts_are_kept(person: Library) -> None:
    performers = [
        Performer("a", person, (0.0, 0.0, 0.0), goal=(1.0, 2.0), goal_heading=0.5, tolerance=0.4, radius=0.3),
        Performer("b", person, (0.0, 4.0, 0.0)),
    ]
    take = plans_to_take(FLOOR, performers, facts={"seed": 3, "scene_hash": "abc"})
    np.testing.assert_array_equal(take.goals[0], [1.0, 2.0, 0.5, 0.4])
    assert np.isnan(take.goals[1]).all()
    assert take.radii[0] == 0.3
    assert {"seed", "scene_hash", "planner", "versions"} < take.facts.keys()
    assert take.facts["collision"] == "body"


def test_a_plan_that_does_not_hold_together_is_refused(person: Library) -> None:
    plan = plan_of(person, WALK)
    torn = replace(plan, steps=(*plan.steps[:2], replace(plan.steps[2], pose=(9.0, 0.0, 0.0)), *plan.steps[3:]))
    late = replace(plan, end_time=plan.end_time + 0.5)
    strange = replace(plan, steps=(replace(plan.steps[0], clip="fly"), *plan.steps[1:]))
    for wrong, words in ((torn, "step 1 'walk_forward' ends"), (late, "step 4 'stop_walk'"), (strange, "clip 'fly'")):
        with pytest.raises(TakeError, match=words):
            plans_to_take(FLOOR, [Performer("ann", person, (0.0, 0.0, 0.0), wrong)])
    with pytest.raises(TakeError, match="at least one performer"):
        plans_to_take(FLOOR, [])


def test_a_plan_that_ends_in_mid_stride_is_refused(person: Library) -> None:
    plan = plan_of(person, WALK[:3])
    with pytest.raises(LibraryError, match="stand with in state 'walk'"):
        plans_to_take(FLOOR, [Performer("ann", person, (0.0, 0.0, 0.0), plan)])


def test_who_starts_on_a_platform_stands_on_it(person: Library) -> None:
    platform = Obstacle(Box((0.0, 0.0), (8.0, 8.0), height=0.4), kind="box", name="platform")
    world = FLOOR.with_obstacle(platform)
    take = plans_to_take(world, [Performer("ann", person, (0.0, 0.0, 0.0))])
    assert audit_take(take, world).ok
    assert take.poses(0.5)[0].root_positions[0, 2] > 1.2
