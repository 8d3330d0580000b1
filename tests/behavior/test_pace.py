"""Pace: people walk at speeds of their own, and slow down for others instead of stopping."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from gaitway.audit import audit_take
from gaitway.behavior.crowd import CrowdPlan, plan_crowd
from gaitway.behavior.starts import own_speed
from gaitway.cast.catalog import load_cast
from gaitway.library.behavior import Library
from gaitway.planning import plan_scene
from gaitway.scene import Scene, scene_from_dict
from gaitway.scene.characters import LibraryRef
from gaitway.space import prepared_actions
from gaitway.space.movement_costs import own_pace
from gaitway.space.prepared import planning_context

WALKING = [
    "stand", "wait", "start_walk", "stop_walk", "walk_forward", "walk_short", "walk_left_15", "walk_right_15",
    "jog_forward", "start_jog", "stop_jog", "turn_left_90", "turn_right_90",
]  # fmt: skip
CALM = {"start_spread": 0, "speed_spread": 0, "upper_body": False}


@pytest.fixture(scope="module")
def libraries() -> Mapping[LibraryRef, Library]:
    return {LibraryRef(): load_cast("person", behaviors=WALKING)}


def scene(characters: list[dict[str, Any]], bounds: tuple[float, ...] = (-9, -9, 9, 9), **plan: Any) -> Scene:
    given = {"gaitway": 1, "library": "person", "bounds": list(bounds), "characters": characters, "plan": plan}
    return scene_from_dict(given)


def walker(name: str, start: list[float], goal: list[float], **more: Any) -> dict[str, Any]:
    return {"name": name, "start": start, "goal": goal, **more}


def cruising_speed(crowd: CrowdPlan, library: Library, name: str) -> float:
    """Speed of the straight steps of a plan [m/s]."""
    steps = [step for step in crowd.plans[name].steps if step.behavior == "walk_forward"]
    clip = library.clips["walk_forward"]
    way = float(np.linalg.norm(np.diff(clip.root_positions[:, :2], axis=0), axis=1).sum())
    return float(np.mean([way / clip.duration * step.speed for step in steps]))


def test_own_speeds_are_drawn_by_seed_as_people_walk() -> None:
    crowd = scene(
        [{"name": "all", "count": 400, "start_area": [-8, -8, 8, 8], "goal_area": [-8, -8, 8, 8], "radius": 0.1}]
    ).characters
    shares = np.array([own_speed(character, 3) for character in crowd])
    assert abs(shares.mean() - 1.07) < 0.03 and 0.17 < shares.std() < 0.22
    assert 1.34 * shares.min() > 0.8 and 1.34 * shares.max() < 2.05
    assert [own_speed(character, 3) for character in crowd[:20]] == shares[:20].tolist()
    assert [own_speed(character, 4) for character in crowd[:20]] != shares[:20].tolist()
    hurried = np.array([own_speed(replace(character, speed="hurry"), 3) for character in crowd])
    assert 0.08 < hurried.std() < 0.12, "nobody hurries at a stroll"
    alike = scene([walker("a", [0, 0, 0], [5, 0])], speed_spread=0).characters[0]
    asked = scene([walker("a", [0, 0, 0], [5, 0], speed=1.1)]).characters[0]
    assert own_speed(alike, 1) == own_speed(asked, 1) == 1.0


def test_older_people_walk_slower() -> None:
    def shares(**more: Any) -> np.ndarray:
        group = {"name": "all", "count": 200, "start_area": [-8, -8, 8, 8], "goal_area": [-8, -8, 8, 8], "radius": 0.1}
        return np.array([own_speed(character, 3) for character in scene([{**group, **more}]).characters])

    any_age, at_72, at_90 = shares(), shares(age=72), shares(age=90)
    assert abs(at_72.mean() / any_age.mean() - 0.89) < 0.02 and abs(at_90.mean() / any_age.mean() - 0.69) < 0.02
    assert abs(shares(age=30).mean() / any_age.mean() - 0.99) < 0.02
    assert (shares(age=72, speed=1.2) == 1.0).all(), "a speed in metres per second is kept"
    crowd = scene([walker("a", [0, 0, 0], [5, 0], age=90)], speed_spread=0).characters[0]
    assert own_speed(crowd, 1) < 0.8, "age counts also where all of one age are alike"


def test_paces_of_a_crowd_spread_as_those_of_people(libraries: Mapping[LibraryRef, Library]) -> None:
    library = libraries[LibraryRef()]
    crowd = scene(
        [{"name": "all", "count": 400, "start_area": [-8, -8, 8, 8], "goal_area": [-8, -8, 8, 8], "radius": 0.1}]
    ).characters
    gait = 1.0 / own_pace(library, 1.1)[1] * 1.1
    speeds = gait * np.array([own_pace(library, "normal", own_speed(character, 3))[1] for character in crowd])
    assert 0.22 < speeds.std() < 0.27, "clamps at both ends take hardly anything off the spread of 0.26 m/s"


def test_pace_of_words_and_of_metres_in_a_second(libraries: Mapping[LibraryRef, Library]) -> None:
    library = libraries[LibraryRef()]
    assert own_pace(library, "normal") == ("normal", 1.0)
    assert own_pace(library, "normal", 1.15) == ("normal", 1.15)
    gait, pace = own_pace(library, 1.1)
    assert isinstance(gait, float) and gait * pace == pytest.approx(1.1) and 0.8 < pace < 0.85
    assert own_pace(library, 0.8)[1] == 0.72, "clips are not played slower than that"
    assert gait * own_pace(library, "slow")[1] == pytest.approx(1.0)
    hurry = own_pace(library, "hurry")
    assert hurry[0] == "normal" and gait * hurry[1] == pytest.approx(1.7), "who hurries walks"
    assert own_pace(library, "hurry", 1.4) == ("normal", 1.3), "whoever hurries more than others still walks"
    assert own_pace(library, 9.0) == (9.0, 1.0), "no gait is anywhere near"
    assert own_pace(load_cast("horse"), "normal", 1.1)[1] == pytest.approx(1.1)


@pytest.mark.parametrize("speed", [1.0, 1.34, 1.75])
def test_a_speed_in_metres_in_a_second_is_walked(libraries: Mapping[LibraryRef, Library], speed: float) -> None:
    place = scene([walker("a", [-8, 0, 0], [8, 0], speed=speed)], **CALM)
    made = plan_scene(place, libraries=libraries)
    assert cruising_speed(made.crowd, libraries[LibraryRef()], "a") == pytest.approx(speed, rel=1e-6)
    assert not audit_take(made.take, place.world).violations
    steps = made.crowd.plans["a"].steps
    clips = libraries[LibraryRef()].clips
    known = [(step, after) for step, after in pairwise(steps) if step.clip in clips]
    assert known and all(after.time - s.time == pytest.approx(clips[s.clip].duration / s.speed) for s, after in known)


def test_flights_take_as_long_as_gravity_lets_them(libraries: Mapping[LibraryRef, Library]) -> None:
    context = planning_context(scene([walker("a", [0, 0, 0], [5, 0])]).world, libraries)
    prepared = context.prepared(scene([walker("a", [0, 0, 0], [5, 0])]).characters[0], 1.2)
    speeds = dict(zip(prepared.table.clips, prepared.speeds.tolist(), strict=True))
    assert speeds["walk_forward"] == speeds["start_walk"] == 1.2
    assert speeds["jog_forward"] == speeds["stand"] == 1.0
    rows = prepared.actions.arrays.actions[:, 4] * prepared.speeds
    assert np.allclose(rows, prepared.table.durations)
    usual = context.prepared(scene([walker("a", [0, 0, 0], [5, 0])]).characters[0])
    assert np.array_equal(usual.actions.costs, prepared.actions.costs), "all prefer the same paths"
    assert usual.shared_parts is prepared.shared_parts


def crossing_plan() -> CrowdPlan:
    """Plan two people who go straight only, and whose paths cross at the same time."""
    place = scene([
        walker("first", [0, -7.2, 90], [0, 8], priority=2),
        walker("second", [-8, 0.6, 0], [7.4, 0.6]),
    ], **CALM)  # fmt: skip
    straight = load_cast("person", behaviors=["stand", "wait", "start_walk", "stop_walk", "walk_forward"])
    return plan_crowd(place, {LibraryRef(): straight}, seed=1)


def test_who_would_meet_another_slows_down(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = crossing_plan()
    speeds = [step.speed for step in slow.plans["second"].steps]
    assert slow.failed == () and {step.speed for step in slow.plans["first"].steps} == {1.0}
    assert 1.0 / prepared_actions.MOST_STRETCH - 1e-9 <= min(speeds) < 0.99
    assert slow.plans["second"].behaviors.count("stop_walk") == 1, "it does not stop on the way"
    monkeypatch.setattr(prepared_actions, "MOST_STRETCH", 1.0)
    stopped = crossing_plan()
    assert {step.speed for step in stopped.plans["second"].steps} == {1.0}
    assert len(stopped.plans["second"].steps) > len(speeds), "it has to wait"


@pytest.mark.slow
def test_slowed_steps_are_clear_of_others_as_played() -> None:
    people = [walker(f"p{k}", [-8, 1.1 * k - 4, 0], [8, 4 - 1.1 * k]) for k in range(6)]
    people += [walker(f"q{k}", [1.3 * k - 4, -8, 90], [4 - 1.3 * k, 8]) for k in range(6)]
    made = plan_scene(scene(people, upper_body=False), seed=2)
    speeds = {step.speed for plan in made.crowd.plans.values() for step in plan.steps}
    assert not made.failed and len(speeds) > 12, "paces differ, and some slow down"
    assert not audit_take(made.take, made.scene.world).violations
