"""Goals are met exactly: the last steps are bent, the take passes the audit, and nothing else of a plan changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.audit import audit_take
from gaitway.audit.report import Report
from gaitway.cast.catalog import load_cast
from gaitway.core import planar, rotations
from gaitway.core.errors import TakeError
from gaitway.library.behavior import Library
from gaitway.motion.clip import Clip
from gaitway.performing.arrival.bent_steps import Arrival, arrivals, meet_goal
from gaitway.performing.arrival.footwork import Footworks
from gaitway.performing.layers import layer_between
from gaitway.performing.synthesis import Performer, plans_to_take
from gaitway.space.plan import Plan
from gaitway.world.world import World
from hand_plans import plan_of

FLOOR = World((-40.0, -40.0, 40.0, 40.0))
WALKS = (
    ["start_walk", "walk_forward", "walk_left_30", "walk_forward", "stop_walk"],
    ["start_walk", "walk_left_30", "stop_walk", "turn_left_45"],
    ["start_jog", "jog_forward", "stop_jog"],
    ["start_walk", "stop_walk", "step_left", "wait"],
)
STEPS = ["step_front", "step_left", "step_right", "turn_left_45", "turn_right_45"]
RADIUS, TURN = 0.5, float(np.radians(15.0))


@pytest.fixture(scope="module")
def person() -> Library:
    return load_cast("person", behaviors=["stand", "crawl_under", *STEPS, *{name for walk in WALKS for name in walk}])


@pytest.fixture(scope="module")
def footworks(person: Library) -> Footworks:
    return Footworks(person)


def lacking(plan: Plan, away: float, direction: float, turn: float | None) -> tuple[tuple[float, float], float | None]:
    """A goal that a plan misses."""
    x, y, heading = plan.end_pose
    goal = (x + away * float(np.cos(direction)), y + away * float(np.sin(direction)))
    return goal, None if turn is None else heading + turn


def audited(library: Library, arrival: Arrival, goal: tuple[float, float], heading: float | None) -> Report:
    """The audit of bent steps as changes to the library's own clips, which are thus the measure."""
    names = [step.behavior for step in arrival.plan.steps]
    start = arrival.plan.steps[0].pose
    plain = plan_of(library, names, start, arrival.plan.steps[0].time)
    bent = Performer("ann", library, start, arrival.plan, goal=goal, goal_heading=heading, clips=arrival.clips)
    takes = [plans_to_take(FLOOR, [p]) for p in (bent, replace(bent, plan=plain, clips={}))]
    layer = layer_between(takes[1], 0, takes[1].clip(0), takes[0].clip(0), "bent")
    return audit_take(replace(takes[1], layers=(*takes[1].layers, layer)), FLOOR)


@given(
    walk=st.sampled_from(WALKS),
    away=st.floats(0.01, RADIUS),
    direction=st.floats(-np.pi, np.pi),
    turn=st.none() | st.floats(-TURN, TURN),
)
@settings(max_examples=6, deadline=None)
def test_goals_are_met_and_the_audit_finds_nothing(
    person: Library, footworks: Footworks, walk: list[str], away: float, direction: float, turn: float | None
) -> None:
    plan = plan_of(person, walk, (2.0, -1.0, 2.5))
    goal, heading = lacking(plan, away, direction, turn)
    arrival = meet_goal(person, plan, goal, heading, footworks=footworks)
    assert arrival is not None
    np.testing.assert_allclose(arrival.plan.end_pose[:2], goal, atol=1e-6)
    assert heading is None or abs(planar.wrap_angle(arrival.plan.end_pose[2] - heading)) < 1e-6
    report = audited(person, arrival, goal, heading)
    assert report.ok, report.violations


def test_only_the_last_steps_change(person: Library, footworks: Footworks) -> None:
    plan = plan_of(person, WALKS[0])
    goal, heading = lacking(plan, 0.1, 0.3, 0.05)
    arrival = meet_goal(person, plan, goal, heading, name="ann", footworks=footworks)
    assert arrival is not None and 0 < arrival.first < len(plan.steps)
    assert arrival.plan.steps[: arrival.first] == plan.steps[: arrival.first]
    assert [s.behavior for s in arrival.plan.steps] == [s.behavior for s in plan.steps]
    assert [s.time for s in arrival.plan.steps] == [s.time for s in plan.steps]
    assert arrival.plan.end_time == plan.end_time
    assert [s.clip for s in arrival.plan.steps[arrival.first :]] == list(arrival.clips)
    assert all(name.endswith(f"~ann-{k}") for k, name in enumerate(arrival.clips, arrival.first))
    ends = (plan.steps[arrival.first].clip, 0), (plan.steps[-1].clip, -1)
    for (source, frame), clip in zip(ends, (list(arrival.clips.values())[k] for k in (0, -1)), strict=True):
        off = rotations.angle_between(clip.rotations[frame, 1:], person.clips[source].rotations[frame, 1:])
        assert off.max() < 1e-6, "hub poses stay"


def test_more_steps_are_bent_for_more(person: Library, footworks: Footworks) -> None:
    plan, found = plan_of(person, WALKS[0]), []
    for away in (0.05, 0.2, 0.4):
        arrival = meet_goal(person, plan, *lacking(plan, away, 1.0, None), footworks=footworks)
        assert arrival is not None
        found.append(len(arrival.clips))
    assert found == sorted(found) and found[0] < found[-1]


@pytest.mark.parametrize(("away", "turn"), [(0.3, None), (0.12, 0.7), (0.35, -0.2)])
def test_who_was_almost_there_takes_a_step(
    person: Library, footworks: Footworks, away: float, turn: float | None
) -> None:
    plan = Plan((), (1.0, 1.0, 0.5), 3.0, 0.0)
    goal, heading = lacking(plan, away, 0.6, turn)
    arrival = meet_goal(person, plan, goal, heading, footworks=footworks)
    assert arrival is not None and 1 <= len(arrival.plan.steps) <= 2
    assert set(arrival.plan.behaviors) <= set(STEPS)
    assert arrival.plan.steps[0].time == 3.0 and arrival.plan.steps[0].pose == (1.0, 1.0, 0.5)
    np.testing.assert_allclose(arrival.plan.end_pose[:2], goal, atol=1e-6)
    assert audited(person, arrival, goal, heading).ok


def test_who_is_there_stays_as_it_is(person: Library) -> None:
    plan = plan_of(person, WALKS[0])
    arrival = meet_goal(person, plan, plan.end_pose[:2], plan.end_pose[2])
    assert arrival is not None and arrival.plan is plan and not arrival.clips


def test_special_steps_are_never_bent(person: Library, footworks: Footworks) -> None:
    plan = plan_of(person, ["start_walk", "stop_walk", "crawl_under", "step_left"])
    for arrival in arrivals(person, plan, *lacking(plan, 0.4, 2.0, 0.1), footworks=footworks):
        assert arrival.first >= 3
    alone = load_cast("person", behaviors=["stand", "crawl_under"])
    plan = plan_of(alone, ["crawl_under"])
    assert meet_goal(alone, plan, *lacking(plan, 0.2, 0.0, None)) is None


def test_clips_that_do_not_share_their_end_poses_are_bent_too(person: Library) -> None:
    def other(clip: Clip) -> Clip:
        turned = np.array(clip.rotations)
        shoulder = clip.skeleton.roles["left_shoulder"]
        tilt = rotations.from_axis_angle([0.0, 1.0, 0.0], 0.3)
        turned[:, shoulder] = rotations.multiply(turned[:, shoulder], tilt)
        return replace(clip, rotations=turned)

    names = {"walk_forward": other}
    torn = {name: names[name](clip) if name in names else clip for name, clip in person.clips.items()}
    library = Library("torn", person.skeleton, torn, person.graph)
    plan = plan_of(library, WALKS[0])
    goal, heading = lacking(plan, 0.4, 1.0, 0.1)
    arrival = meet_goal(library, plan, goal, heading)
    assert arrival is not None
    for step, clip in zip(arrival.plan.steps[arrival.first :], arrival.clips.values(), strict=True):
        shoulder = clip.skeleton.roles["left_shoulder"]
        source = library.clips[library.graph[step.behavior].clips[0]]
        np.testing.assert_allclose(clip.rotations[:, shoulder], source.rotations[:, shoulder], atol=1e-9)
    assert audited(library, arrival, goal, heading).ok


def test_bent_clips_are_the_performers_own(person: Library, footworks: Footworks) -> None:
    plan = plan_of(person, WALKS[2])
    arrival = meet_goal(person, plan, *lacking(plan, 0.2, 1.0, None), footworks=footworks)
    assert arrival is not None
    with pytest.raises(TakeError, match="~exact-"):
        plans_to_take(FLOOR, [Performer("ann", person, plan.steps[0].pose, arrival.plan)])


@pytest.mark.parametrize(
    ("cast", "names"),
    [
        ("horse", ["start_gallop", "gallop_left_20", "stop_gallop"]),
        ("skateboarder", ["start", "glide_left_25", "push", "stop"]),
    ],
)
def test_horses_and_skateboarders_arrive(cast: str, names: list[str]) -> None:
    library = load_cast(cast)
    plan = plan_of(library, names)
    known = Footworks(library)
    for direction in (0.5, 2.0, 4.0):
        goal, heading = lacking(plan, 0.4, direction, 0.15)
        arrival = meet_goal(library, plan, goal, heading, footworks=known)
        assert arrival is not None
        np.testing.assert_allclose(arrival.plan.end_pose[:2], goal, atol=1e-6)
        report = audited(library, arrival, goal, heading)
        assert report.ok, report.violations
