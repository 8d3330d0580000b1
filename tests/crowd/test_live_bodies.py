"""Live bodies: the same kernels, a row a person, the same poses whatever the number of threads."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from gaitway.cast.person.gait.foot_roll import roll
from gaitway.core import rotations
from gaitway.core.errors import CrowdError
from gaitway.crowd.locomotion import BodyPoses, BodyState, LocomotionSpace, advance, begin_bodies, pose_bodies
from gaitway.crowd.locomotion import _feet_kernels as feet
from gaitway.crowd.locomotion.sources import IDLE_FPS
from gaitway.crowd.locomotion.space import person_space
from gaitway.motion.kinematics import forward_kinematics

DT = 1.0 / 30.0


@pytest.fixture(scope="module")
def space() -> LocomotionSpace:
    return person_space(("neutral", "style-6"))


def walked(space: LocomotionSpace, seconds: float, threads: int = 1) -> tuple[BodyState, list[BodyPoses]]:
    """Return people who walk, shuffle, go aside, turn and stand, and their poses."""
    rng = np.random.default_rng(2)
    count = 160
    speed = rng.choice([0.0, 0.08, 0.3, 0.8, 1.3, 2.6], count)
    aside = rng.choice([0.0, 0.0, 0.3], count)
    turn = rng.choice([0.0, 0.0, 0.5, -1.2], count)
    place, heading = rng.uniform(0.0, 60.0, (count, 2)), rng.uniform(-3.0, 3.0, count)
    state = begin_bodies(space, place, heading, velocities=_world(speed, aside, heading), seed=9)
    poses = []
    for _ in range(round(seconds / DT)):
        heading = heading + DT * turn
        place = place + DT * _world(speed, aside, heading)
        advance(state, place, heading, DT, close=np.full(count, 0.5), threads=threads)
        poses.append(pose_bodies(state, DT, threads=threads))
    return state, poses


def _world(forward: np.ndarray, aside: np.ndarray, heading: np.ndarray) -> np.ndarray:
    cosine, sine = np.cos(heading), np.sin(heading)
    return np.column_stack([cosine * forward - sine * aside, sine * forward + cosine * aside])


@pytest.fixture(scope="module")
def crowd(space: LocomotionSpace) -> tuple[BodyState, list[BodyPoses]]:
    return walked(space, 3.0)


def _soles(space: LocomotionSpace, poses: BodyPoses) -> np.ndarray:
    """Return heels, balls and toes of both feet [m]; (N, 6, 3)."""
    skeleton = space.rig.skeleton
    places, world = forward_kinematics(skeleton, poses.roots, poses.rotations.astype(np.float64))
    points = [skeleton.contact_points[column] for column in space.rig.columns.ravel()]
    joints = [p.joint for p in points]
    return places[:, joints] + rotations.rotate(world[:, joints], np.array([p.offset for p in points]))


def test_resting_feet_stay_where_they_are(space: LocomotionSpace, crowd: tuple[BodyState, list[BodyPoses]]) -> None:
    _, poses = crowd
    slides = []
    for one, two in pairwise(poses):
        rests = one.down & two.down
        moved = np.linalg.norm(_soles(space, two) - _soles(space, one), axis=-1)
        slides.append(moved[rests])
    every = np.concatenate(slides)
    assert len(every) > 10_000
    assert np.percentile(every, 99.5) < 1e-4
    assert every.max() < 0.01  # a leg that is too short for a moment
    assert all(np.isfinite(p.rotations).all() for p in poses)


def test_roots_follow_where_people_are(crowd: tuple[BodyState, list[BodyPoses]]) -> None:
    state, poses = crowd
    assert np.linalg.norm(poses[-1].roots[:, :2] - state.path[:, :2], axis=1).max() < 0.05


def test_any_number_of_threads_gives_the_same_bytes(
    space: LocomotionSpace, crowd: tuple[BodyState, list[BodyPoses]]
) -> None:
    again = walked(space, 1.0, threads=2)[1]
    for one, two in zip(crowd[1], again, strict=False):
        assert np.array_equal(one.rotations, two.rotations) and np.array_equal(one.roots, two.roots)


def test_who_stops_closes_the_feet_and_stands(space: LocomotionSpace) -> None:
    state = begin_bodies(space, [[0.0, 0.0]], [0.0], velocities=[[1.3, 0.0]])
    place = 0.0
    for frame in range(150):
        place += DT * 1.3 * max(1.0 - frame / 30.0, 0.0)
        advance(state, [[place, 0.0]], [0.0], DT)
        poses = pose_bodies(state, DT)
    assert poses.down.all() and state.feet[0, feet.ACTIVE] == 0.0
    soles = _soles(space, poses)[0]
    assert abs(soles[0, 0] - soles[3, 0]) < 0.2  # heels beside one another
    assert abs(soles[:, 0].mean() - place) < 0.15


def test_who_jumps_is_set_down_anew(space: LocomotionSpace) -> None:
    state = begin_bodies(space, [[0.0, 0.0], [5.0, 0.0]], [0.0, 0.0])
    advance(state, [[40.0, 3.0], [5.01, 0.0]], [1.0, 0.0], DT)
    poses = pose_bodies(state, DT)
    assert np.linalg.norm(_soles(space, poses)[0, :, :2] - [40.0, 3.0], axis=1).max() < 0.4
    assert poses.down.all()


def test_a_foot_that_is_lifted_late_swings_and_does_not_leap(space: LocomotionSpace) -> None:
    velocity = np.array([[0.5, 0.0]])
    state = begin_bodies(space, np.zeros((1, 2)), np.zeros(1), velocities=velocity, styles=np.zeros(1, np.int64))
    left, right = feet.FOOT, feet.FOOT + feet.FOOT_WIDTH
    state.feet[0, [feet.PHASE, feet.ACTIVE]] = 0.93, 1.0  # when the left foot should be about to be set down
    state.feet[0, [left + feet.SWUNG, right + feet.SWUNG]] = -1.0
    state.feet[0, left + feet.FROM_X : left + feet.FROM_X + 3] = -0.4, 0.1, 0.0
    state.feet[0, right + feet.FROM_X : right + feet.FROM_X + 3] = 0.1, -0.1, 0.0
    places, swings = [np.array([-0.4, 0.1])], []
    for k in range(30):
        advance(state, velocity * DT * (k + 1), np.zeros(1), DT)
        row = state.feet[0]
        share = max(row[left + feet.SWUNG], 0.0)
        from_, to = row[left + feet.FROM_X : left + feet.FROM_X + 2], row[left + feet.TO_X : left + feet.TO_X + 2]
        places.append(from_ + share * share * (3.0 - 2.0 * share) * (to - from_))
        swings.append(row[left + feet.SWUNG])
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert steps.max() < 0.15  # a leap is longer than 0.5 m
    assert max(swings) > 0.8
    assert swings[-1] < 0.0
    assert places[-1][0] > 0.2


def test_poses_agree_with_a_plain_twin(space: LocomotionSpace, crowd: tuple[BodyState, list[BodyPoses]]) -> None:
    """The blend of the trunk by NumPy, and feet put where `foot_roll.roll` puts them."""
    state, poses = crowd
    last, rig = poses[-1], space.rig
    joints = len(rig.skeleton)
    ankles = forward_kinematics(rig.skeleton, last.roots, last.rotations.astype(np.float64))[0][:, rig.legs[:, 2]]
    checked = 0
    for n in range(len(state)):
        row = np.zeros(4 * joints + 3)
        for corner in range(4):
            weight, cycle = state.steps[n, feet.STEP_WEIGHTS + corner], state.corners[n, corner]
            table = space.rest[state.styles[n]] if cycle == 0 else space.poses[state.styles[n], space.sources[cycle]]
            at = state.steps[n, feet.STEP_IDLE] * IDLE_FPS if cycle == 0 else state.steps[n, 0] * len(table)
            low = int(np.floor(at))
            t = at - low
            row += weight * ((1.0 - t) * table[low % len(table)] + t * table[(low + 1) % len(table)])
        spine = rig.skeleton.roles["chest"]
        turn = row[: 4 * joints].reshape(4, joints)[:, spine]
        assert last.rotations[n, spine] == pytest.approx(turn / np.linalg.norm(turn), abs=2e-5)
        for k in range(2):
            foot = state.steps[n, feet.STEP_FEET + k * feet.STEP_WIDTH :][: feet.STEP_WIDTH]
            if foot[feet.ACROSS] < 0.0 and foot[feet.PITCH] >= 0.0 and last.down[n, 3 * k] and foot[feet.LATE] == 0.0:
                x, y, yaw = foot[feet.HERE : feet.HERE + 3]
                flat = np.array([x, y, rig.feet[k, 8]])
                wanted = roll(flat, float(yaw), np.array([foot[feet.PITCH]]))[0]
                assert ankles[n, k] == pytest.approx(wanted, abs=2e-4)
                checked += 1
    assert checked > 30


@pytest.mark.parametrize(
    ("places", "headings", "dt", "words"),
    [
        (np.zeros((3, 2)), np.zeros(2), DT, "do not fit together"),
        (np.array([[0.0, np.nan], [0.0, 0.0]]), np.zeros(2), DT, "person 0 is at"),
        (np.zeros((2, 2)), np.array([0.0, np.inf]), DT, "person 1 is at"),
        (np.zeros((2, 2)), np.zeros(2), 0.0, "a time above 0"),
    ],
)
def test_wrong_input_is_said(
    space: LocomotionSpace, places: np.ndarray, headings: np.ndarray, dt: float, words: str
) -> None:
    state = begin_bodies(space, np.zeros((2, 2)), np.zeros(2))
    before = state.feet.copy()
    with pytest.raises(CrowdError, match=words):
        advance(state, places, headings, dt)
    assert np.array_equal(before, state.feet)


def test_styles_that_are_not_there_are_said(space: LocomotionSpace) -> None:
    with pytest.raises(CrowdError, match="a number below 2"):
        begin_bodies(space, np.zeros((2, 2)), np.zeros(2), styles=np.array([0, 2]))
    with pytest.raises(CrowdError, match="two finite numbers"):
        begin_bodies(space, np.zeros((2, 2)), np.zeros(2), velocities=np.zeros((2, 3)))
