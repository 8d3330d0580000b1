from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from figures import standing, walking
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.core import rotations
from gaitway.core.errors import SkeletonError
from gaitway.motion import Skeleton, detect_contacts, floor_height, retarget, t_pose
from gaitway.motion.anatomy import leg_length, t_pose_positions
from gaitway.motion.formats import load_clip
from shared_data import MOCAP, needs_mocap
from strategies import oblique, same_motion

LIMBS = [
    (f"{side}_{a}", f"{side}_{b}")
    for side in ("left", "right")
    for a, b in (("shoulder", "elbow"), ("elbow", "wrist"), ("hip", "knee"), ("knee", "ankle"))
]
CAPTURES = ["bvh/16_15.bvh", "bvh_accad/Female1_B03_Walk1.bvh", "bvh_max/131_01.bvh", "asfamc/02_01.amc"]


def directions(clip):
    """Unit directions of the limb bones; (F, 8, 3)."""
    positions, roles = clip.joint_positions(), clip.skeleton.roles
    bones = np.stack([positions[:, roles[b]] - positions[:, roles[a]] for a, b in LIMBS], axis=1)
    return bones / np.linalg.norm(bones, axis=-1, keepdims=True)


def scaled(skeleton: Skeleton, factor: float) -> Skeleton:
    return Skeleton(skeleton.names, skeleton.parents, skeleton.offsets * factor, skeleton.rest_rotations, name="scaled")


def test_t_pose_of_any_rig_has_straight_limbs_and_faces_forward():
    person = person_skeleton()
    np.testing.assert_allclose(t_pose(person), rotations.identity(25), atol=1e-12)
    places = t_pose_positions(oblique(person))
    np.testing.assert_allclose(places, person.rest_positions - person.rest_positions[0], atol=1e-9)


@pytest.mark.parametrize("turn", [rotations.from_yaw(2.0), rotations.from_axis_angle([0, 1, 0], np.pi / 2)])
def test_t_pose_turns_a_rig_that_faces_elsewhere_or_lies_down(turn):
    person = person_skeleton()
    rest = np.array(person.rest_rotations)
    rest[0] = rotations.multiply(turn, rest[0])
    other = Skeleton(person.names, person.parents, person.offsets, rest)
    places = t_pose_positions(other)
    np.testing.assert_allclose(places[other.roles["left_wrist"]][1], 0.72, atol=0.02)
    np.testing.assert_allclose(places[other.roles["left_ankle"]], [0, 0.09, -0.92], atol=0.02)
    assert places[other.roles["left_toe"]][0] > 0.1


def test_same_figure_with_other_axes_moves_identically():
    clip = walking(1.0)
    other = oblique(clip.skeleton)
    result = retarget(clip, other)
    np.testing.assert_allclose(result.joint_positions(), same_motion(clip, other).joint_positions(), atol=1e-9)


def test_scaled_figure_walks_scaled():
    clip = walking(2.0)
    result = retarget(clip, scaled(clip.skeleton, 1.4))
    np.testing.assert_allclose(result.joint_positions(), 1.4 * clip.joint_positions(), atol=2e-3)
    assert abs(floor_height(result)) < 1e-9


def test_stated_floor_is_kept_exactly():
    clip = standing(5)
    result = retarget(clip, scaled(clip.skeleton, 0.5), floor=0.0)
    np.testing.assert_allclose(result.joint_positions(), 0.5 * clip.joint_positions(), atol=1e-9)


def test_contacts_follow_points_of_the_same_name():
    clip = detect_contacts(walking(2.0))
    result = retarget(clip, clip.skeleton)
    np.testing.assert_array_equal(result.contacts, clip.contacts)
    bare = Skeleton(clip.skeleton.names, clip.skeleton.parents, clip.skeleton.offsets)
    assert retarget(clip, bare).contacts is None


def test_shorter_and_longer_spines_share_the_bend():
    clip = standing(1)
    local = np.array(clip.rotations)
    for name in ("Spine", "Spine1", "Spine2"):
        local[:, clip.skeleton.index(name)] = rotations.from_axis_angle([0, 1, 0], 0.2)
    clip = replace(clip, rotations=local)
    person = clip.skeleton
    keep = [j for j in range(len(person)) if person.names[j] != "Spine1"]
    place = {j: i for i, j in enumerate(keep)}
    parents = [place.get(int(person.parents[j]), place[1]) if person.parents[j] >= 0 else -1 for j in keep]
    short = Skeleton(tuple(person.names[j] for j in keep), np.array(parents), person.offsets[keep])
    bent = retarget(clip, short)
    world, whole = bent.joint_transforms()[1], clip.joint_transforms()[1]
    chest, head = short.index("Spine2"), short.index("Head")
    assert rotations.angle_between(world[0, chest], whole[0, person.index("Spine2")]) < 1e-9
    assert rotations.angle_between(world[0, head], whole[0, person.index("Head")]) < 1e-9
    lean = np.degrees(rotations.to_rotation_vector(world[0, short.index("Spine")])[1])
    assert lean == pytest.approx(np.degrees(0.3), abs=0.5)  # half of the whole bend of 0.6


def test_rig_without_clavicles_or_toes_is_served():
    person = person_skeleton()
    gone = [j for j, n in enumerate(person.names) if "Toe" in n]
    keep = [j for j in range(len(person)) if j not in gone]
    place = {j: i for i, j in enumerate(keep)}
    plain = Skeleton(
        tuple(person.names[j] for j in keep),
        np.array([place.get(int(person.parents[j]), -1) for j in keep]),
        person.offsets[keep],
    )
    clip = walking(1.0)
    there = retarget(clip, plain)
    np.testing.assert_allclose(directions(there), directions(clip), atol=1e-9)
    assert retarget(there, person).joint_positions().shape == (len(clip), 25, 3)


def test_missing_roles_are_named():
    with pytest.raises(SkeletonError, match="left_hip"):
        retarget(standing(1), Skeleton(("a",), np.array([-1]), np.zeros((1, 3))))


@needs_mocap
@pytest.mark.parametrize("file", CAPTURES)
def test_captures_to_the_person_and_back(file):
    clip = load_clip(MOCAP / file)
    person = retarget(clip, person_skeleton())
    np.testing.assert_allclose(directions(person), directions(clip), atol=1e-9)
    assert abs(floor_height(person)) < 1e-9
    head = person.joint_positions()[:, person.skeleton.index("HeadTop_End"), 2]
    assert 1.5 < np.percentile(head, 95) < 1.85
    back = retarget(person, clip.skeleton)
    np.testing.assert_allclose(directions(back), directions(clip), atol=1e-9)
    level = back.root_positions[:, :2] - clip.root_positions[:, :2]
    np.testing.assert_allclose(level, 0.0, atol=1e-9)
    height = back.root_positions[:, 2] - clip.root_positions[:, 2]
    assert np.ptp(height) < 1e-9
    assert abs(height[0] + floor_height(clip)) < 0.02


@needs_mocap
def test_two_conversions_of_one_take_agree():
    """The 3ds Max file holds the take of bvh/131_01 with hanging arms and other names."""
    a = retarget(load_clip(MOCAP / "bvh/131_01.bvh"), person_skeleton())
    b = retarget(load_clip(MOCAP / "bvh_max/131_01.bvh"), person_skeleton())
    assert abs(len(a) - len(b)) <= 1
    frames = min(len(a), len(b))
    apart = np.degrees(np.arccos(np.clip((directions(a)[:frames] * directions(b)[:frames]).sum(-1), -1, 1)))
    assert np.median(apart) < 3.0


@needs_mocap
def test_flat_feet_and_level_gaze():
    clip = load_clip(MOCAP / "bvh/16_15.bvh")
    person = retarget(clip, person_skeleton(), flat_feet=True, level_gaze=True)
    world = person.joint_transforms()[1]
    gaze = rotations.rotate(world[:, person.skeleton.roles["head"]], [1.0, 0.0, 0.0])
    assert abs(np.degrees(np.arcsin(gaze[:, 2])).mean()) < 5
    ankle = person.skeleton.roles["left_ankle"]
    speed = np.linalg.norm(np.gradient(person.joint_positions()[:, ankle], axis=0), axis=-1)
    sole = rotations.rotate(world[:, ankle], [0.0, 0.0, 1.0])[speed <= np.quantile(speed, 0.15)]
    assert np.degrees(np.arccos(sole.mean(axis=0)[2])) < 4
    assert leg_length(person.skeleton) == pytest.approx(0.85)
