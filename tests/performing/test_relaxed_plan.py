"""Plans are drawn straight where that stays free, at the same times, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gaitway.audit import audit_take
from gaitway.behavior.crowd import plan_crowd
from gaitway.behavior.member_planner import MemberPlanner, MemberPlans
from gaitway.behavior.starts import CrowdMember
from gaitway.cast.catalog import load_cast
from gaitway.library.behavior import Library
from gaitway.library.standing import standing_behaviors
from gaitway.performing.arrival.footwork import Footworks
from gaitway.performing.relaxing.carried_steps import HeldTraffic
from gaitway.performing.relaxing.relaxed_plan import RelaxedPlan, _places, _Stretch, relaxed, unrelaxed
from gaitway.performing.synthesis import Performer, plans_to_take
from gaitway.scene import Scene, scene_from_dict
from gaitway.scene.characters import LibraryRef
from gaitway.space.plan import Plan, SearchResult, Status
from gaitway.space.prepared import PreparedLibrary, planning_context
from gaitway.space.traffic import Traffic, placed_discs
from hand_plans import plan_of

TURNS = ["walk_left_15", "walk_right_15", "walk_left_30", "walk_right_30"]
WEAVE = ["start_walk", "walk_forward", *TURNS, "walk_forward", "stop_walk"]


@pytest.fixture(scope="module")
def libraries() -> Mapping[LibraryRef, Library]:
    return {LibraryRef(): load_cast("person", behaviors=["stand", "wait", *dict.fromkeys(WEAVE)])}


def place(**more: Any) -> Scene:
    people = [{"name": "ann", "start": [0, 0, 0], "goal": [9, 0]}]
    return scene_from_dict({"gaitway": 1, "library": "person", "bounds": [-8, -8, 16, 8], "characters": people, **more})


def prepare(scene: Scene, libraries: Mapping[LibraryRef, Library]) -> tuple[PreparedLibrary, Traffic, Plan]:
    prepared = planning_context(scene.world, libraries).prepared(scene.characters[0])
    traffic = Traffic(prepared.fields.kinds)
    traffic.enroll("ann")
    return prepared, traffic, plan_of(prepared.library, WEAVE)


def drawn(prepared: PreparedLibrary, traffic: Traffic, plan: Plan) -> RelaxedPlan:
    return relaxed(prepared, traffic, plan, Footworks(prepared.library), name="ann")


def turned(plan: Plan) -> float:
    """Return the sum of the turns between steps [degrees]."""
    headings = np.unwrap([*(step.pose[2] for step in plan.steps), plan.end_pose[2]])
    return float(np.degrees(np.abs(np.diff(headings)).sum()))


def test_a_weave_is_drawn_straight_at_the_same_times(libraries: Mapping[LibraryRef, Library]) -> None:
    scene = place()
    prepared, traffic, plan = prepare(scene, libraries)
    straight = drawn(prepared, traffic, plan)
    assert turned(plan) > 80.0 and turned(straight.plan) < 15.0
    assert [step.time for step in straight.plan.steps] == [step.time for step in plan.steps]
    assert straight.plan.end_time == plan.end_time
    np.testing.assert_allclose(straight.plan.steps[0].pose, plan.steps[0].pose, atol=1e-12)
    np.testing.assert_allclose(straight.plan.end_pose[:2], plan.end_pose[:2], atol=1e-5)
    clips = straight.clips()
    assert set(clips) == {step.clip for step in straight.plan.steps}
    who = Performer("ann", prepared.library, (0.0, 0.0, 0.0), straight.plan, clips=clips)
    report = audit_take(plans_to_take(scene.world, [who]), scene.world)
    assert report.ok, report


def test_an_obstacle_inside_the_weave_is_kept_clear_of(libraries: Mapping[LibraryRef, Library]) -> None:
    free, traffic, plan = prepare(place(), libraries)
    straight = drawn(free, traffic, plan)
    assert straight.swept is not None
    widest = int(np.argmax([abs(step.pose[1]) for step in plan.steps]))
    x, y, _ = plan.steps[widest].pose
    box = {"box": {"center": [x, y - np.sign(y) * 0.62], "size": [0.5, 0.1], "height": 1.0}, "name": "post"}
    prepared, traffic, _ = prepare(place(obstacles=[box]), libraries)
    assert (prepared.fields.clearance(straight.swept.discs[:, :2]) < straight.swept.discs[:, 2]).any()
    careful = drawn(prepared, traffic, plan)
    assert careful.swept is not None
    assert turned(careful.plan) < turned(plan) - 20.0  # the line leads around the post
    planned = unrelaxed(prepared, plan).swept
    assert planned is not None
    for swept in (planned, careful.swept):
        assert not (prepared.fields.clearance(swept.discs[:, :2]) < swept.discs[:, 2]).any()


def test_somebody_on_the_line_is_kept_clear_of(libraries: Mapping[LibraryRef, Library]) -> None:
    prepared, traffic, plan = prepare(place(), libraries)
    straight = drawn(prepared, traffic, plan)
    bob = traffic.enroll("bob")
    widest = int(np.argmax([abs(step.pose[1]) for step in plan.steps]))
    x, y, _ = plan.steps[widest].pose
    traffic.add_standing(bob, placed_discs((x, y - np.sign(y) * 0.75, 0.0), [(0.0, 0.0, 0.2)]), 0.0)
    planned, careful = unrelaxed(prepared, plan).swept, drawn(prepared, traffic, plan).swept
    assert straight.swept is not None and planned is not None and careful is not None
    assert traffic.met_by(straight.swept) == "bob"
    assert traffic.met_by(planned) is None and traffic.met_by(careful) is None


def test_a_stop_and_a_wait_on_the_way_move_along(libraries: Mapping[LibraryRef, Library]) -> None:
    scene = place()
    prepared, traffic, _ = prepare(scene, libraries)
    half = ["start_walk", "walk_left_30", "walk_right_15", "walk_right_30", "stop_walk"]
    plan = plan_of(prepared.library, [*half, "wait", *half])
    straight = drawn(prepared, traffic, plan)
    assert turned(straight.plan) < 0.6 * turned(plan)
    wait, there = straight.plan.steps[len(half)], plan.steps[len(half)]
    assert wait.clip == "wait" and wait.time == there.time
    assert np.hypot(*np.subtract(wait.pose[:2], there.pose[:2])) > 0.1
    who = Performer("ann", prepared.library, (0.0, 0.0, 0.0), straight.plan, clips=straight.clips())
    report = audit_take(plans_to_take(scene.world, [who]), scene.world)
    assert report.ok, report


def test_a_way_ends_in_a_straight_line_without_steps_to_the_side() -> None:
    scene = place()
    names = ["stand", "wait", *dict.fromkeys(WEAVE), "walk_left_45", "step_left", "turn_left_45"]
    prepared, traffic, _ = prepare(scene, {LibraryRef(): load_cast("person", behaviors=names)})
    walk = ["start_walk", *["walk_forward"] * 4, "walk_left_45", "stop_walk"]
    plan = plan_of(prepared.library, [*walk, "step_left", "turn_left_45"])
    goal = plan.end_pose[:2]
    footworks = Footworks(prepared.library)
    straight = relaxed(prepared, traffic, plan, footworks, name="ann", goal=goal, tolerance=0.5)
    assert len(straight.plan.steps) == len(walk)
    assert straight.plan.end_time == plan.steps[len(walk)].time
    assert np.hypot(*np.subtract(straight.plan.end_pose[:2], goal)) <= 0.5
    assert turned(straight.plan) < 30.0 < turned(plan)
    assert len(relaxed(prepared, traffic, plan, footworks, name="ann").plan.steps) == len(plan.steps)
    bob = traffic.enroll("bob")  # who stands where it would stop earlier is not stood on
    x, y, _ = straight.plan.end_pose
    traffic.add_standing(bob, placed_discs((x, y, 0.0), [(0.0, 0.0, 0.1)]), plan.end_time + 5.0)
    careful = relaxed(prepared, traffic, plan, footworks, name="ann", goal=goal, tolerance=0.5)
    assert np.hypot(*np.subtract(careful.plan.end_pose[:2], (x, y))) > 0.2


def test_a_step_that_only_just_reaches_the_goal_is_left_out() -> None:
    scene = place()
    names = ["stand", "wait", *dict.fromkeys(WEAVE), "step_front"]
    prepared, traffic, _ = prepare(scene, {LibraryRef(): load_cast("person", behaviors=names)})
    walk = ["start_walk", "walk_forward", "walk_forward", "stop_walk"]
    plan = plan_of(prepared.library, [*walk, "step_front"])
    stop, end = np.array(plan.steps[-1].pose[:2]), np.array(plan.end_pose[:2])
    goal = end + 0.4 * (end - stop) / np.hypot(*(end - stop))  # half a metre on: the stop alone is not near enough
    drawn = relaxed(
        prepared, traffic, plan, Footworks(prepared.library), name="ann", goal=(goal[0], goal[1]), tolerance=0.5
    )
    assert np.hypot(*(stop - goal)) > 0.6
    assert [step.behavior for step in drawn.plan.steps] == walk
    assert np.hypot(*np.subtract(drawn.plan.end_pose[:2], goal)) <= 0.5


def test_a_way_is_never_cut_off_where_nobody_can_stand() -> None:
    scene = place()
    aside = ["start_side_right", "side_right_walk", "side_right_walk", "stop_side_right"]
    names = ["stand", "wait", *dict.fromkeys(WEAVE), *dict.fromkeys(aside)]
    prepared, traffic, _ = prepare(scene, {LibraryRef(): load_cast("person", behaviors=names)})
    library = prepared.library
    for walk in ([], ["start_walk", "walk_forward", "stop_walk"]):
        for end in range(1, len(aside)):  # single steps ahead in a sideways walk seem to lead on
            plan = plan_of(library, [*walk, *aside])
            x, y, _ = plan.steps[len(walk) + end].pose
            straight = relaxed(
                prepared, traffic, plan, Footworks(library), name="ann", goal=(x, y), tolerance=0.5
            )  # fmt: skip
            last = library.graph[straight.plan.steps[-1].behavior].end
            assert standing_behaviors(library, last), straight.plan.behaviors


def test_nobody_takes_single_steps_before_setting_off() -> None:
    scene = place()
    names = ["stand", "wait", *dict.fromkeys(WEAVE), "step_left"]
    prepared, traffic, _ = prepare(scene, {LibraryRef(): load_cast("person", behaviors=names)})
    walk = ["start_walk", *["walk_forward"] * 4, "stop_walk"]
    plan = plan_of(prepared.library, ["step_left", *walk])
    footworks = Footworks(prepared.library)
    straight = relaxed(prepared, traffic, plan, footworks, name="ann", goal=plan.end_pose[:2], tolerance=0.1)
    assert list(straight.plan.behaviors) == walk
    assert straight.plan.steps[0].pose == pytest.approx(plan.steps[0].pose, abs=1e-9)
    assert straight.plan.steps[0].time == plan.steps[1].time and straight.plan.end_time == plan.end_time
    assert np.hypot(*np.subtract(straight.plan.end_pose[:2], plan.end_pose[:2])) <= 0.1
    assert turned(straight.plan) < 20.0
    who = Performer("ann", prepared.library, (0.0, 0.0, 0.0), straight.plan, clips=straight.clips())
    report = audit_take(plans_to_take(scene.world, [who]), scene.world)
    assert report.ok, report
    assert straight.swept is not None
    meets = Traffic(prepared.fields.kinds)
    meets.add_swept(meets.enroll("ann"), straight.swept)  # others know that it stands there until it sets off
    assert meets.comer(placed_discs((0.0, 0.0, 0.0), [(0.0, 0.0, 0.1)]), 0.0) is not None
    bob = traffic.enroll("bob")  # who comes by the start in the meantime is made way for, as planned
    traffic.add_standing(bob, placed_discs((-0.05, -0.3, 0.0), [(0.0, 0.0, 0.1)]), 0.5 * plan.steps[1].time, 60.0)
    careful = relaxed(prepared, traffic, plan, footworks, name="ann", goal=plan.end_pose[:2], tolerance=0.1)
    assert careful.plan.behaviors[0] == "step_left"


def test_single_steps_after_a_turn_in_place_are_left_out_too() -> None:
    scene = place()
    names = ["stand", "wait", *dict.fromkeys(WEAVE), "step_left", "turn_left_90"]
    prepared, traffic, _ = prepare(scene, {LibraryRef(): load_cast("person", behaviors=names)})
    walk = ["start_walk", *["walk_forward"] * 3, "stop_walk"]
    plan = plan_of(prepared.library, ["turn_left_90", "step_left", *walk])
    straight = relaxed(
        prepared, traffic, plan, Footworks(prepared.library), name="ann", goal=plan.end_pose[:2], tolerance=0.5
    )
    assert list(straight.plan.behaviors) == ["turn_left_90", *walk]
    assert straight.plan.steps[0].pose == pytest.approx(plan.steps[0].pose, abs=1e-9)
    assert straight.plan.steps[1].time == plan.steps[2].time and straight.plan.end_time == plan.end_time
    turn = plan.steps[1].time - plan.steps[0].time
    assert straight.plan.steps[1].time - straight.plan.steps[0].time == pytest.approx(turn)
    assert np.hypot(*np.subtract(straight.plan.end_pose[:2], plan.end_pose[:2])) <= 0.5
    who = Performer("ann", prepared.library, (0.0, 0.0, 0.0), straight.plan, clips=straight.clips())
    report = audit_take(plans_to_take(scene.world, [who]), scene.world)
    assert report.ok, report


@pytest.mark.parametrize("turns", [[], ["turn_left_45"], ["turn_right_90"]])
def test_a_stop_that_waits_for_nobody_becomes_a_walked_turn(turns: list[str]) -> None:
    scene = place(bounds=[-12, -12, 20, 12])
    names = ["stand", "wait", *dict.fromkeys(WEAVE), "walk_short", "walk_left_45", "walk_right_45", *turns]
    prepared, traffic, _ = prepare(scene, {LibraryRef(): load_cast("person", behaviors=names)})
    walk, start = ["walk_forward"] * 6, (-7.0, 4.0, -0.3)
    acts = ["start_walk", *walk, "stop_walk", *turns, "start_walk", *walk, "stop_walk"]
    plan = plan_of(prepared.library, acts, start)
    straight = drawn(prepared, traffic, plan)
    behaviors = straight.plan.behaviors
    assert behaviors.count("stop_walk") == 1 and behaviors.count("start_walk") == 1 and not set(turns) & {*behaviors}
    # both ends stay as they were planned
    assert straight.plan.end_time == plan.end_time and straight.plan.steps[-1].time == plan.steps[-1].time
    np.testing.assert_allclose(straight.plan.end_pose[:2], plan.end_pose[:2], atol=1e-5)
    assert min(step.speed for step in straight.plan.steps) >= 0.8
    times = [step.time for step in straight.plan.steps]
    clips = prepared.library.clips
    for step, after in zip(straight.plan.steps, times[1:], strict=False):  # nobody skips or repeats a moment
        own = clips[step.clip.partition("~")[0]].duration / step.speed
        assert step.time + own == pytest.approx(after, abs=1e-6)
    who = Performer("ann", prepared.library, start, straight.plan, clips=straight.clips())
    report = audit_take(plans_to_take(scene.world, [who]), scene.world)
    assert report.ok, report


def test_a_stop_stays_where_who_walks_on_would_meet_somebody() -> None:
    scene = place()
    names = ["stand", "wait", *dict.fromkeys(WEAVE), "walk_short"]
    prepared, traffic, _ = prepare(scene, {LibraryRef(): load_cast("person", behaviors=names)})
    walk = ["walk_forward"] * 3
    plan = plan_of(prepared.library, ["start_walk", *walk, "stop_walk", "wait", "start_walk", *walk, "stop_walk"])
    assert drawn(prepared, traffic, plan).plan.behaviors.count("stop_walk") == 2  # who waits has a reason
    plan = plan_of(prepared.library, ["start_walk", *walk, "stop_walk", "start_walk", *walk, "stop_walk"])
    assert drawn(prepared, traffic, plan).plan.behaviors.count("stop_walk") == 1
    bob, stop = traffic.enroll("bob"), plan.steps[4]
    x, y, _ = stop.pose  # somebody crosses close behind, where one who walks slower still is
    line = [(0.0, 0.2 * k, 0.15) for k in range(-12, 13)]
    traffic.add_standing(bob, placed_discs((x - 0.75, y, 0.0), line), stop.time, stop.time + 0.6)
    planned = unrelaxed(prepared, plan).swept
    assert planned is not None and traffic.met_by(planned) is None
    assert drawn(prepared, traffic, plan).plan.behaviors.count("stop_walk") == 2


def test_relax_is_an_option(libraries: Mapping[LibraryRef, Library]) -> None:
    goal = {"name": "ann", "start": [0, 0, 0], "goal": [11, -1.3]}
    on, off = (place(characters=[goal], plan={"relax": relax, "tolerance": 0.2}) for relax in (True, False))
    straight, plain = (plan_crowd(scene, libraries, seed=3) for scene in (on, off))
    assert not plain.bent and straight.bent.keys() == {"ann"}
    assert turned(straight.plans["ann"]) < turned(plain.plans["ann"])


@pytest.mark.parametrize("heading", [None, "kept"])
def test_who_is_at_the_goal_already_ends_where_the_drawn_steps_end(
    libraries: Mapping[LibraryRef, Library], heading: str | None
) -> None:
    """Nothing is bent at the end, so that the straight steps decide about the last heading if none is asked for."""
    scene = place(plan={"exact": True})
    prepared, traffic, plan = prepare(scene, libraries)
    wanted = None if heading is None else plan.end_pose[2]
    character = replace(scene.characters[0], goal=plan.end_pose[:2], goal_heading=wanted)
    member, found = CrowdMember(character, prepared, 0, 0), MemberPlans()
    result = SearchResult(Status.FOUND, plan)
    assert MemberPlanner(0, {}).arrive(member, traffic, found, plan, result)
    made = found.plans["ann"]
    assert turned(made) < turned(plan) - 60.0, "it is drawn straight"
    off = abs(made.end_pose[2] - plan.end_pose[2])
    assert off < 1e-6 if wanted is not None else off > 0.01
    assert np.hypot(*np.subtract(made.end_pose[:2], plan.end_pose[:2])) < 1e-5
    performer = Performer("ann", prepared.library, character.start, made, clips=found.clips("ann"))
    assert len(plans_to_take(scene.world, [performer])) == 1  # which checks that each step begins where one ends


def test_the_first_place_to_end_is_straight_on() -> None:
    """A way that is too long for the middle of the goal ends beyond it, and one that misses it ends at its edge."""
    path = np.column_stack([np.linspace(0.0, 3.0, 31), np.zeros(31), np.zeros(31)])
    inside = _places(path, 10, np.array([2.8, 0.1]), 0.5)
    assert inside[0] == pytest.approx([3.0, 0.0])
    beside = _places(path, 10, np.array([3.0, 1.0]), 0.5)
    assert beside[0] == pytest.approx([3.0, 0.6])


def test_a_path_that_jumps_where_steps_meet_is_not_taken(libraries: Mapping[LibraryRef, Library]) -> None:
    prepared, traffic, plan = prepare(place(), libraries)
    stretch = _Stretch(prepared, HeldTraffic(traffic), Footworks(prepared.library), plan.steps, False, plan.end_time)
    before = stretch.path
    jumping = np.array(before)
    jumping[int(stretch.knots[2]) + 1 : -1, 1] += 0.016
    assert stretch._keep(0, stretch.steps, jumping) is not None
    assert stretch.path is before
    assert stretch._keep(0, stretch.steps, np.array(before)) is None
