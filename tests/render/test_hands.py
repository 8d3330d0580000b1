"""Fingers: joints with the usual names, in a natural curl, and meshes that follow them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from gaitway.cast.horse.skeleton import horse_skeleton
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.core import rotations
from gaitway.export.meshes import character_mesh
from gaitway.motion.formats import load_clip
from gaitway.motion.kinematics import forward_kinematics
from gaitway.motion.skeleton import Skeleton
from gaitway.render.bodies.body import body_mesh
from gaitway.render.bodies.hands import FINGERS, with_fingers
from shared_data import MOCAP, needs_mocap
from skinning import deformed

PERSON = person_skeleton()
RIG = with_fingers(PERSON)


def test_the_rig_has_the_usual_joints_after_those_of_the_skeleton() -> None:
    count = len(PERSON)
    assert RIG.names[:count] == PERSON.names and len(RIG) == count + 2 * 5 * 4
    assert set(RIG.names[count:]) == {
        f"{s}Hand{f}{k}" for s in ("Left", "Right") for f in FINGERS for k in (1, 2, 3, 4)
    }
    np.testing.assert_array_equal(RIG.parents[:count], PERSON.parents)
    np.testing.assert_array_equal(RIG.offsets[:count], PERSON.offsets)
    assert RIG.parents[RIG.index("LeftHandRing3")] == RIG.index("LeftHandRing2")
    assert dict(RIG.roles) == dict(PERSON.roles) and with_fingers(RIG) is RIG
    assert with_fingers(horse_skeleton()) is horse_skeleton()


@pytest.mark.parametrize("side", ["Left", "Right"])
def test_fingers_lie_in_front_of_the_hand_and_bend_to_the_palm(side: str) -> None:
    places, _ = forward_kinematics(RIG, RIG.offsets[0], RIG.rest_rotations)
    sign = 1.0 if side == "Left" else -1.0
    wrist = places[RIG.index(f"{side}Hand")]
    for finger in FINGERS:
        line = np.array([places[RIG.index(f"{side}Hand{finger}{k}")] for k in (1, 2, 3, 4)]) - wrist
        assert (np.diff(sign * line[:, 1]) > 0.0).all()  # outwards in a T-pose
        bones = np.diff(line, axis=0)
        bends = [np.degrees(np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b))) for a, b in pairwise(bones)]
        assert 10.0 < sum(bends) < 60.0
        assert bones[2, 2] < bones[0, 2] or finger == "Thumb"  # ever more downwards, where the palm is
    knuckles = [places[RIG.index(f"{side}Hand{finger}1")][0] for finger in FINGERS[1:]]
    assert (np.diff(knuckles) < 0.0).all()  # the index finger is next to the thumb, in front
    straight = np.array(RIG.rest_rotations)
    for joint in range(len(PERSON), len(RIG)):
        straight[joint] = rotations.identity()
    places, _ = forward_kinematics(RIG, RIG.offsets[0], straight)
    line = np.array([places[RIG.index(f"{side}HandMiddle{k}")] for k in (1, 2, 3, 4)])
    assert np.abs(np.diff(line, axis=0)[:, [0, 2]]).max() < 1e-9  # joints that are not turned stretch a finger


def test_a_finger_is_moved_by_its_own_joints_alone() -> None:
    mesh = character_mesh(RIG, 0)
    local = np.array(RIG.rest_rotations)
    joint = RIG.index("LeftHandIndex2")
    local[joint] = rotations.multiply(local[joint], rotations.from_axis_angle([1.0, 0.0, 0.0], 0.8))
    moved = np.linalg.norm(deformed(mesh, RIG, *forward_kinematics(RIG, RIG.offsets[0], local)) - mesh.points, axis=1)
    places, _ = forward_kinematics(RIG, RIG.offsets[0], RIG.rest_rotations)
    near = np.linalg.norm(mesh.points - places[joint], axis=1)
    assert (moved > 0.01).sum() > 10 and near[moved > 1e-6].max() < 0.06


def test_fingers_follow_the_hand_where_there_are_no_joints_for_them() -> None:
    plain, rigged = body_mesh(PERSON), body_mesh(RIG)
    np.testing.assert_allclose(plain.points, rigged.points, atol=1e-9)
    assert set(np.unique(plain.joints)) <= set(range(len(PERSON)))
    assert {RIG.index(f"RightHand{f}3") for f in FINGERS} <= set(np.unique(rigged.joints))


def test_a_hand_with_joints_of_its_own_keeps_them() -> None:
    wrist = PERSON.index("LeftHand")
    own = Skeleton(
        names=(*PERSON.names, "LeftMitten"),
        parents=np.append(PERSON.parents, wrist),
        offsets=np.concatenate([PERSON.offsets, [[0.0, 0.1, 0.0]]]),
    )
    names = with_fingers(own).names
    assert "RightHandIndex1" in names and "LeftHandIndex1" not in names


@needs_mocap
def test_captured_rigs_get_fingers_too() -> None:
    clip = load_clip(MOCAP / "bvh_accad/Female1_B03_Walk1.bvh")
    rig = with_fingers(clip.skeleton)
    mesh = character_mesh(rig, 1)
    pose = forward_kinematics(rig, rig.offsets[0], rig.rest_rotations)
    np.testing.assert_allclose(deformed(mesh, rig, *pose), mesh.points, atol=1e-6)
