"""Stepping: what is out of reach is reached after a step, feet stay put in between, and steps go through nothing."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.cast.catalog import load_cast
from gaitway.core.errors import LimbError
from gaitway.handling.stepping import SteppingOptions, SteppingRoadmaps, grow_stepping
from gaitway.limbs.roadmap import RoadmapOptions, grip_mark
from gaitway.limbs.surroundings import body_around, body_gaps
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World

PERSON = load_cast("person")
OPTIONS = SteppingOptions(roadmap=RoadmapOptions(nodes=200))
NEAR, FAR, BEYOND = np.array([0.5, -0.2, 1.2]), np.array([1.25, -0.1, 1.2]), np.array([3.0, 0.0, 1.2])
WALL = Obstacle(Box((0.0, 0.75), (4.0, 0.1), 2.0), name="wall")
LOW = Obstacle(Box((0.33, 0.0), (0.08, 0.8), 0.15), name="kerb")


def place(*obstacles: Obstacle) -> World:
    return World((-5.0, -5.0, 5.0, 5.0), obstacles)


@pytest.fixture(scope="module")
def roadmaps() -> SteppingRoadmaps:
    return grow_stepping(PERSON, (0.0, 0.0, 0.0), place(WALL), OPTIONS)


def test_what_is_near_is_reached_without_a_step(roadmaps: SteppingRoadmaps) -> None:
    plan = roadmaps.reach("right", NEAR)
    assert plan.steps == ()
    assert plan.place == 0


def test_what_is_too_far_is_reached_after_steps_in_one_motion(roadmaps: SteppingRoadmaps) -> None:
    with pytest.raises(LimbError, match="beyond the arm"):
        roadmaps.roadmaps[0].reach("right", FAR)
    plan = roadmaps.reach("right", FAR)
    assert len(plan.steps) >= 1
    hand = plan.reach.stander.place(plan.reach.path[-1:]).marks[0, grip_mark("right")]
    assert np.linalg.norm(hand - FAR) < 0.005
    clip = plan.clip()
    moves = np.linalg.norm(np.diff(clip.joint_positions(), axis=0), axis=-1).max(axis=1)
    assert moves.max() * clip.fps < 4.0  # no part jumps where steps and reach join
    axes, radii, around = body_around(clip, 0.0, place(WALL))
    assert (body_gaps(axes, radii, np.arange(len(clip)) / clip.fps, around) > 0.0).all()
    feet = clip.joint_positions()[:, [clip.skeleton.roles[f"{side}_ankle"] for side in ("left", "right")]]
    begin = len(clip) - len(plan.reach.clip())
    assert np.abs(feet[begin + 1 :] - feet[-1]).max() < 1e-3  # feet stay during the reach


def test_who_has_reached_goes_back_to_rest_before_steps(roadmaps: SteppingRoadmaps) -> None:
    first = roadmaps.reach("right", NEAR)
    plan = roadmaps.reach("right", FAR, at=first.place, start=first.reach.path[-1])
    assert plan.back is not None
    assert plan.back.path[-1] == pytest.approx(roadmaps.roadmaps[0].stander.rest)
    moves = np.linalg.norm(np.diff(plan.clip().joint_positions(), axis=0), axis=-1)
    assert moves.max() * 30.0 < 4.0


def test_nobody_stands_in_a_wall_and_steps_go_through_nothing(roadmaps: SteppingRoadmaps) -> None:
    assert len(roadmaps.poses) < len(OPTIONS.poses())
    assert (roadmaps.poses[:, 1] < 0.5).all()
    kerb = grow_stepping(PERSON, (0.0, 0.0, 0.0), place(LOW), OPTIONS)
    ahead = [k for k, pose in enumerate(kerb.poses) if pose[0] > 0.5]
    assert ahead  # somebody can stand behind it
    assert all((0, k) not in kerb.steps for k in ahead)  # but feet would go through it


def test_what_is_out_of_reach_of_all_places_is_told(roadmaps: SteppingRoadmaps) -> None:
    with pytest.raises(LimbError, match=r"beyond the arm.*nor do steps help, to \d+ places around"):
        roadmaps.reach("right", BEYOND)
    with pytest.raises(LimbError, match="no place 99"):
        roadmaps.reach("right", NEAR, at=99)
    with pytest.raises(LimbError, match="lengths of steps"):
        SteppingOptions(lengths=(3.0,))


def test_the_same_seed_gives_the_same_motion(roadmaps: SteppingRoadmaps) -> None:
    again = grow_stepping(PERSON, (0.0, 0.0, 0.0), place(WALL), OPTIONS)
    one, other = (which.reach("right", FAR).clip() for which in (roadmaps, again))
    assert (one.rotations == other.rotations).all()
