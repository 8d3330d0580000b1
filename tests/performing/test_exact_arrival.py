"""Exact arrivals keep clear of walls and of others, or say what is in the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from gaitway.audit import audit_take
from gaitway.cast.catalog import load_cast
from gaitway.library.behavior import Library
from gaitway.performing.arrival.exact_arrival import ExactArrival, arrival_hit, exact_arrival
from gaitway.performing.synthesis import Performer, plans_to_take
from gaitway.scene import Scene, scene_from_dict
from gaitway.scene.characters import LibraryRef
from gaitway.space.plan import Plan
from gaitway.space.prepared import PreparedLibrary, planning_context
from gaitway.space.traffic import Traffic, placed_discs
from hand_plans import plan_of

WALK = ["start_walk", "walk_forward", "walk_forward", "stop_walk"]


@pytest.fixture(scope="module")
def libraries() -> Mapping[LibraryRef, Library]:
    return {LibraryRef(): load_cast("person", behaviors=["stand", "wait", *WALK])}


def place(**more: Any) -> Scene:
    people = [{"name": "ann", "start": [0, 0, 0], "goal": [5, 0]}]
    return scene_from_dict({"gaitway": 1, "library": "person", "bounds": [-8, -8, 12, 8], "characters": people, **more})


def prepare(scene: Scene, libraries: Mapping[LibraryRef, Library]) -> tuple[PreparedLibrary, Traffic, Plan]:
    """What planning a walk of ann's begins with."""
    prepared = planning_context(scene.world, libraries).prepared(scene.characters[0])
    traffic = Traffic(prepared.fields.kinds)
    traffic.enroll("ann")
    return prepared, traffic, plan_of(prepared.library, WALK)


def beyond(plan: Plan, x: float, y: float) -> tuple[float, float]:
    return plan.end_pose[0] + x, plan.end_pose[1] + y


def test_where_there_is_room_the_goal_is_met(libraries: Mapping[LibraryRef, Library]) -> None:
    scene = place()
    prepared, traffic, plan = prepare(scene, libraries)
    goal = beyond(plan, 0.2, -0.25)
    exact = exact_arrival(prepared, traffic, plan, goal, 0.1, name="ann")
    assert isinstance(exact, ExactArrival)
    np.testing.assert_allclose(exact.plan.end_pose, (*goal, 0.1), atol=1e-6)
    start = (0.0, 0.0, 0.0)
    who = Performer("ann", prepared.library, start, exact.plan, goal=goal, goal_heading=0.1, clips=exact.arrival.clips)
    assert audit_take(plans_to_take(scene.world, [who]), scene.world).ok


def test_a_wall_at_the_goal_is_named(libraries: Mapping[LibraryRef, Library]) -> None:
    free, _, plan = prepare(place(), libraries)
    x, y = beyond(plan, 0.0, 0.0)
    wall = {"box": {"center": [x, y + 0.75], "size": [6, 0.5], "height": 2.0}, "name": "wall"}
    prepared, traffic, _ = prepare(place(obstacles=[wall]), libraries)
    assert isinstance(exact_arrival(prepared, traffic, plan, (x + 0.1, y - 0.1)), ExactArrival)
    told = exact_arrival(prepared, traffic, plan, (x, y + 0.3))
    assert isinstance(told, str) and "'wall' is in the way" in told
    assert isinstance(exact_arrival(free, traffic, plan, (x, y + 0.3)), ExactArrival)


def test_somebody_beside_the_goal_is_named(libraries: Mapping[LibraryRef, Library]) -> None:
    prepared, traffic, plan = prepare(place(), libraries)
    bob = traffic.enroll("bob")
    x, y = beyond(plan, 0.0, 0.6)
    traffic.add_standing(bob, placed_discs((x, y, 0.0), prepared.standing_discs()), 0.0)
    told = exact_arrival(prepared, traffic, plan, beyond(plan, 0.0, 0.25))
    assert isinstance(told, str) and "'bob' is in the way" in told
    assert isinstance(exact_arrival(prepared, traffic, plan, beyond(plan, 0.1, -0.2)), ExactArrival)


def test_somebody_who_comes_by_later_is_named(libraries: Mapping[LibraryRef, Library]) -> None:
    prepared, traffic, plan = prepare(place(), libraries)
    bob = traffic.enroll("bob")
    x, y = beyond(plan, 0.0, 0.0)
    traffic.add_plan(
        bob, plan_of(prepared.library, WALK, (x - 2.0, y + 0.7, 0.0), 20.0), prepared.table, prepared.discs
    )
    told = exact_arrival(prepared, traffic, plan, (x, y + 0.3))
    assert isinstance(told, str) and "'bob' is in the way" in told, "who stands there would be walked over"
    made = exact_arrival(prepared, traffic, plan, (x, y - 0.2))
    assert isinstance(made, ExactArrival)
    assert arrival_hit(made, prepared.fields, traffic, prepared.standing_discs(WALK[-1])) is None


def test_whose_steps_are_bent_is_in_the_traffic_where_it_goes(libraries: Mapping[LibraryRef, Library]) -> None:
    prepared, traffic, plan = prepare(place(), libraries)
    exact = exact_arrival(prepared, traffic, plan, beyond(plan, 0.0, 0.4))
    assert isinstance(exact, ExactArrival) and exact.arrival.first > 0
    traffic.add_plan(0, exact.planned, prepared.table, prepared.discs)
    exact.add_to(traffic, 0)
    for step in exact.plan.steps:
        assert traffic.hit(step.time + 0.05, *step.pose[:2], 0.05) == "ann"
    x, y, _ = exact.plan.end_pose
    assert traffic.hit(plan.end_time - 0.05, x, y, 0.05) == "ann"
    assert traffic.hit(plan.end_time - 0.05, x, y - 0.9, 0.05) is None


def test_a_pillar_beside_the_bent_steps_is_named_though_the_goal_is_free(
    libraries: Mapping[LibraryRef, Library],
) -> None:
    prepared, traffic, plan = prepare(place(), libraries)
    exact = exact_arrival(prepared, traffic, plan, beyond(plan, 0.0, 0.3))
    assert isinstance(exact, ExactArrival)
    x, y, _ = exact.plan.steps[exact.arrival.first].pose
    assert np.hypot(exact.plan.end_pose[0] - x, exact.plan.end_pose[1] - y) > 0.9
    standing = prepared.standing_discs(WALK[-1])
    for aside, met in ((0.2, "pillar"), (1.2, None)):
        pillar = {"cylinder": {"center": [x, y + aside], "radius": 0.05, "height": 2.0}, "name": "pillar"}
        there = prepare(place(obstacles=[pillar]), libraries)[0]
        assert arrival_hit(exact, there.fields, traffic, standing) == met


def test_too_few_steps_are_told(libraries: Mapping[LibraryRef, Library]) -> None:
    prepared, traffic, _ = prepare(place(), libraries)
    told = exact_arrival(prepared, traffic, Plan((), (0.0, 0.0, 0.0), 0.0, 0.0), (0.3, 0.0))
    assert isinstance(told, str) and "too few steps" in told
