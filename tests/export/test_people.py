"""Bodies of characters: sound meshes that stay whole however far a figure bends."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from gaitway.cast.catalog import load_cast
from gaitway.cast.horse.skeleton import horse_skeleton
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.cast.skateboarder.skeleton import skateboarder_skeleton
from gaitway.core import rotations
from gaitway.export.meshes import INDIVIDUALS, SkinnedMesh, character_mesh
from gaitway.motion.body import capsule_body
from gaitway.motion.formats import load_clip
from gaitway.motion.kinematics import forward_kinematics
from gaitway.render.bodies.human_frame import HAIRS, HEMS, LEGS, LOOKS, SLEEVES, model_pose, person_look
from shared_data import MOCAP, needs_mocap
from skinning import deformed
from strategies import skeletons

PERSON = person_skeleton()
EXTREMES = ("crawl_under", "duck", "climb_up", "jump", "cheer")


def check_sound(mesh: SkinnedMesh, joints: int) -> None:
    assert np.isfinite(mesh.points).all()
    np.testing.assert_allclose(np.linalg.norm(mesh.normals, axis=1), 1.0, atol=1e-9)
    np.testing.assert_allclose(mesh.weights.sum(axis=1, dtype=np.float64), 1.0, atol=1e-6)
    assert (mesh.weights >= 0.0).all() and mesh.joints.max() < joints
    assert (mesh.joints[mesh.weights == 0.0] == 0).all()
    assert mesh.triangles.min() == 0 and mesh.triangles.max() == len(mesh.points) - 1
    assert set(np.unique(mesh.material_of)) == set(range(len(mesh.materials)))
    assert all(0.0 <= c <= 1.0 for m in mesh.materials for c in m.color)


def check_closed_and_outward(points, mesh: SkinnedMesh) -> None:
    """Every edge is run along once each way, and the inside is on the inside."""
    welded = np.unique(points.round(6), axis=0, return_inverse=True)[1].reshape(-1)[mesh.triangles]
    whole = welded[(welded[:, 0] != welded[:, 1]) & (welded[:, 1] != welded[:, 2]) & (welded[:, 2] != welded[:, 0])]
    edges = np.concatenate([whole[:, [0, 1]], whole[:, [1, 2]], whole[:, [2, 0]]])
    ahead, back = (np.unique(e, axis=0, return_counts=True) for e in (edges, edges[:, ::-1]))
    np.testing.assert_array_equal(ahead[0], back[0])
    np.testing.assert_array_equal(ahead[1], back[1])
    assert volume(points, mesh) > 0.0
    corners = points[mesh.triangles]
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    along = np.einsum("tc,tkc->tk", flat, mesh.normals[mesh.triangles])
    assert (along > 0.0).mean() > 0.96  # corners of thin hems look aside


def volume(points, mesh: SkinnedMesh) -> float:
    a, b, c = (points[mesh.triangles[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


def edge_lengths(points, mesh: SkinnedMesh):
    return np.linalg.norm(points[mesh.triangles] - points[np.roll(mesh.triangles, 1, axis=1)], axis=2)


def outside_capsules(points, segments, radii) -> float:
    """How far the farthest point is from the nearest capsule [m]."""
    start, along = segments[:, 0], segments[:, 1] - segments[:, 0]
    share = ((points[:, None] - start) * along).sum(axis=-1) / np.maximum((along**2).sum(axis=-1), 1e-12)
    nearest = start + np.clip(share, 0.0, 1.0)[..., None] * along
    return float((np.linalg.norm(points[:, None] - nearest, axis=-1) - radii).min(axis=1).max())


@cache
def extreme_poses():
    """Joints of some frames of the cast's most bent motions."""
    clips = load_cast("person", behaviors=EXTREMES).clips
    poses = []
    for name in EXTREMES:
        positions, turns = clips[name].joint_transforms()
        poses += [(name, positions[f], turns[f]) for f in range(0, len(clips[name]), 9)]
    return poses


def people(seeds: Iterable[int], at_once: int) -> list[Any]:
    """People to check: some at once, all others with the long tests."""
    return [pytest.param(seed, marks=[] if k < at_once else [pytest.mark.slow]) for k, seed in enumerate(seeds)]


@pytest.mark.parametrize("seed", people(range(LOOKS), 8))
def test_every_person_is_sound_closed_and_faces_outward(seed):
    mesh = character_mesh(PERSON, seed)
    check_sound(mesh, len(PERSON))
    modelled = deformed(mesh, PERSON, *model_pose(PERSON))
    welded = np.unique(modelled.round(6), axis=0, return_inverse=True)[1].reshape(-1)
    assert len(np.unique(welded)) < len(mesh.points)
    check_closed_and_outward(mesh.points, mesh)
    assert 1500 <= len(mesh.triangles) <= 5200


@pytest.mark.parametrize("seed", people([0, 2, 5, 7], 1))
def test_nothing_is_left_behind_or_crushed_in_deep_bends(seed):
    mesh, capsules = character_mesh(PERSON, seed), capsule_body(PERSON)
    modelled = deformed(mesh, PERSON, *model_pose(PERSON))
    before, full = edge_lengths(modelled, mesh), volume(modelled, mesh)
    for name, positions, turns in extreme_poses():
        points = deformed(mesh, PERSON, positions, turns)
        assert 0.88 < volume(points, mesh) / full < 1.08, name
        assert (edge_lengths(points, mesh) - before).max() < 0.14, name  # the seat of somebody on all fours
        assert outside_capsules(points, capsules.segments(positions, turns), capsules.radii) < 0.10, name


def test_skirts_go_with_the_legs():
    seed = next(s for s in range(LOOKS) if person_look(s).legs == "skirt")
    mesh, capsules = character_mesh(PERSON, seed), capsule_body(PERSON)
    for name, positions, turns in extreme_poses():
        points = deformed(mesh, PERSON, positions, turns)
        assert outside_capsules(points, capsules.segments(positions, turns), capsules.radii) < 0.28, name


def test_a_vertex_with_the_wrong_joint_is_noticed():
    mesh, capsules = character_mesh(PERSON, 0), capsule_body(PERSON)
    joints = np.array(mesh.joints)
    joints[mesh.joints == PERSON.index("LeftHand")] = PERSON.index("RightFoot")
    broken = SkinnedMesh(
        mesh.points, mesh.normals, mesh.uvs, joints, mesh.weights, mesh.triangles, mesh.material_of, mesh.materials
    )
    _, positions, turns = extreme_poses()[0]
    points = deformed(broken, PERSON, positions, turns)
    assert outside_capsules(points, capsules.segments(positions, turns), capsules.radii) > 0.3


def test_knees_and_elbows_keep_their_thickness():
    mesh = character_mesh(PERSON, 3)
    local = np.array(PERSON.rest_rotations)
    local[PERSON.index("LeftLeg")] = rotations.from_axis_angle([0, 1, 0], np.radians(120.0))
    positions, turns = forward_kinematics(PERSON, PERSON.offsets[0], local)
    points = deformed(mesh, PERSON, positions, turns)
    knee = positions[PERSON.index("LeftLeg")]
    thigh = positions[PERSON.index("LeftUpLeg")] - knee
    shank = positions[PERSON.index("LeftFoot")] - knee
    ahead = -(thigh / np.linalg.norm(thigh) + shank / np.linalg.norm(shank))
    ahead = ahead / np.linalg.norm(ahead)
    near = points[np.linalg.norm(points - knee, axis=1) < 0.09]
    assert ((near - knee) @ ahead).max() > 0.030  # the kneecap has not sunk in


def test_the_rest_pose_is_the_skeletons_own():
    mesh = character_mesh(PERSON, 1)
    pose = forward_kinematics(PERSON, PERSON.offsets[0], PERSON.rest_rotations)
    np.testing.assert_allclose(deformed(mesh, PERSON, *pose), mesh.points, atol=1e-6)
    assert mesh.points[:, 2].min() == pytest.approx(0.0, abs=0.004)  # soles on the floor


@pytest.mark.slow
def test_a_crowd_is_not_one_clone():
    looks = [person_look(seed) for seed in range(LOOKS)]
    for kind, choices in (("sleeves", SLEEVES), ("legs", LEGS), ("hem", HEMS), ("hair", HAIRS)):
        assert {getattr(look, kind) for look in looks} == set(choices), kind
    assert all(a != b for a, b in pairwise(looks))
    assert len(set(looks)) > 0.8 * LOOKS
    colors = {tuple(m.color for m in character_mesh(PERSON, seed).materials) for seed in range(INDIVIDUALS)}
    assert len(colors) == INDIVIDUALS


def test_the_same_seed_is_the_same_person_and_shapes_are_shared():
    first, again = character_mesh(PERSON, 3), character_mesh(PERSON, 3 + INDIVIDUALS)
    assert again.points is first.points and [m.color for m in again.materials] == [m.color for m in first.materials]
    other = character_mesh(PERSON, 3 + LOOKS)
    assert other.points is first.points and other.materials[0].color != first.materials[0].color


@pytest.mark.parametrize("skeleton", [horse_skeleton(), skateboarder_skeleton()], ids=lambda s: s.name)
def test_other_bodies_of_the_cast_are_sound(skeleton):
    mesh = character_mesh(skeleton, 2)
    check_sound(mesh, len(skeleton))
    check_closed_and_outward(mesh.points, mesh)
    assert len(mesh.triangles) < 12_000


def test_skateboarder_stands_on_a_board():
    skater = skateboarder_skeleton()
    mesh = character_mesh(skater, 1)
    board = skater.index("Board")
    deck = mesh.points[(mesh.joints[:, 0] == board) & (mesh.weights[:, 0] == 1.0)]
    assert np.ptp(deck, axis=0).max() > 0.7
    assert {"skin", "hair", "board"} <= {m.name for m in mesh.materials}


@settings(deadline=None, max_examples=25)
@given(skeletons())
def test_any_skeleton_gets_a_sound_body(skeleton):
    check_sound(character_mesh(skeleton, 5), len(skeleton))


@needs_mocap
@pytest.mark.parametrize(
    "name", ["bvh/02_01.bvh", "bvh_accad/Female1_B03_Walk1.bvh", "bvh_max/131_01.bvh", "asfamc/02_01.amc"]
)
def test_captured_people_get_a_persons_body(name):
    clip = load_clip(MOCAP / name)
    mesh, capsules = character_mesh(clip.skeleton, 1), capsule_body(clip.skeleton)
    check_sound(mesh, len(clip.skeleton))
    assert {"skin", "hair", "shoes"} <= {m.name for m in mesh.materials}
    positions, turns = clip.joint_transforms()
    for frame in (0, len(clip) // 2):
        points = deformed(mesh, clip.skeleton, positions[frame], turns[frame])
        segments = capsules.segments(positions[frame], turns[frame])
        assert outside_capsules(points, segments, capsules.radii) < 0.16
