from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from figures import standing
from gaitway.cast.horse.skeleton import horse_skeleton
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.cast.skateboarder.skeleton import skateboarder_skeleton
from gaitway.core import rotations
from gaitway.core.errors import GaitwayError
from gaitway.motion.formats import load_clip
from gaitway.motion.skeleton import Skeleton
from gaitway.render import BodyPart, BodyShape, Camera, figures_of
from gaitway.render.bodies.body import body_mesh, bone_shape, built_in_palette, built_in_shape, is_humanoid
from gaitway.render.bodies.figures import figure_parts
from gaitway.render.bodies.palette import TONES, palette, person_palette, study_palette
from gaitway.render.raster.mesh import box, loft, round_rod
from gaitway.render.raster.triangles import gather
from shared_data import MOCAP, needs_mocap
from strategies import skeletons

CAMERA = Camera.around([0, 0, 1.0], span=1.0)


def assert_closed(points, triangles):
    """Every edge is run along once each way, and the inside is on the inside."""
    merged = np.unique(np.round(points, 7), axis=0, return_inverse=True)[1].ravel()[triangles]
    merged = merged[(merged[:, 0] != merged[:, 1]) & (merged[:, 1] != merged[:, 2]) & (merged[:, 2] != merged[:, 0])]
    edges = np.concatenate([merged[:, [0, 1]], merged[:, [1, 2]], merged[:, [2, 0]]])
    forward = np.unique(edges, axis=0, return_counts=True)
    backward = np.unique(edges[:, ::-1], axis=0, return_counts=True)
    np.testing.assert_array_equal(forward[0], backward[0])
    np.testing.assert_array_equal(forward[1], backward[1])
    assert volume(points, triangles) > 0.0


def volume(points, triangles):
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


def skinned(clip, shape=None):
    return gather(figure_parts(figures_of(clip, [0], body=shape), CAMERA, 10_000), [], [])


def test_meshes_are_closed_and_have_the_right_volume():
    brick = box([1, 2, 3], np.eye(3), [0.5, 1.0, 1.5])
    assert volume(brick.points, brick.triangles) == pytest.approx(6.0)
    rod = round_rod([0, 0, 0], [1, 0, 0], [(0, 0.2, 0.2), (1, 0.2, 0.2)], [0, 1, 0], around=100, cap_rows=40)
    assert volume(rod.points, rod.triangles) == pytest.approx(np.pi * 0.04 + 4 / 3 * np.pi * 0.008, rel=5e-3)
    for mesh in (brick, rod):
        assert_closed(mesh.points, mesh.triangles)
        outward = np.cross(*(mesh.points[mesh.triangles[:, k]] - mesh.points[mesh.triangles[:, 0]] for k in (1, 2)))
        assert (np.einsum("ij,ij->i", outward, mesh.normals[mesh.triangles[:, 0]]) >= -1e-9).all()
        np.testing.assert_allclose(np.linalg.norm(mesh.normals, axis=1), 1.0, atol=1e-9)


def test_loft_of_a_ball_has_normals_away_from_its_middle():
    rise, turn = np.meshgrid(
        np.linspace(0, np.pi, 20)[1:-1], np.linspace(0, 2 * np.pi, 30, endpoint=False), indexing="ij"
    )
    rings = np.stack([np.sin(rise) * np.cos(turn), np.sin(rise) * np.sin(turn), -np.cos(rise)], axis=-1)
    mesh = loft(rings, [0, 0, -1], [0, 0, 1])
    assert (np.einsum("ij,ij->i", mesh.normals, mesh.points) > 0.98).all()


@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize(
    "skeleton", [person_skeleton(), horse_skeleton(), skateboarder_skeleton()], ids=lambda s: s.name
)
def test_every_piece_of_a_built_in_body_is_closed(skeleton, coarse):
    body = body_mesh(skeleton, built_in_shape(skeleton), coarse=coarse)
    for group in range(body.groups.max() + 1):
        assert_closed(body.points, body.triangles[body.groups == group])


def test_coarse_body_is_the_same_body_with_fewer_triangles():
    fine, coarse = body_mesh(person_skeleton()), body_mesh(person_skeleton(), coarse=True)
    assert len(coarse.triangles) < 0.5 * len(fine.triangles)
    assert coarse.groups.max() >= fine.groups.max() - 9  # nobody sees the lips and fingers of a small figure


def test_person_has_a_persons_measures():
    points = skinned(standing(1)).points
    height = points[:, 2].max()
    assert 1.68 < height < 1.78  # knees a little bent
    assert abs(points[:, 2].min()) < 0.004  # soles on the floor
    chest = points[(np.abs(points[:, 2] - 1.30) < 0.03) & (np.abs(points[:, 1]) < 0.19)]
    assert np.ptp(chest[:, 1]) > 1.25 * np.ptp(chest[:, 0])  # wider than deep
    head = points[points[:, 2] > height - 0.18]
    assert head[np.argmax(head[:, 0]), 1] == pytest.approx(0.0, abs=0.02)  # the nose is in the middle, ahead
    assert head[:, 0].max() > 0.11


def test_body_follows_the_pose():
    clip = standing(1)
    local = np.array(clip.rotations)
    local[0, clip.skeleton.index("LeftArm")] = rotations.from_axis_angle([1, 0, 0], 1.5)
    raised = skinned(type(clip)(clip.skeleton, clip.root_positions, local, 30.0)).points
    assert raised[:, 2].max() > skinned(clip).points[:, 2].max() + 0.15


def test_trunk_stays_one_skin_when_the_spine_bends():
    clip = standing(1)
    local = np.array(clip.rotations)
    for joint in ("Spine", "Spine1", "Spine2"):
        local[0, clip.skeleton.index(joint)] = rotations.from_axis_angle([0, 1, 0], 0.4)
    body = body_mesh(clip.skeleton)
    bent = skinned(type(clip)(clip.skeleton, clip.root_positions, local, 30.0))
    trunk = bent.corners[body.groups == 0]
    sides = [
        np.linalg.norm(p[trunk] - p[np.roll(trunk, 1, axis=1)], axis=2) for p in (bent.points, skinned(clip).points)
    ]
    assert (sides[0] / sides[1]).max() < 2.0


@needs_mocap
@pytest.mark.parametrize(
    "name", ["bvh/02_01.bvh", "bvh_accad/Female1_B03_Walk1.bvh", "bvh_max/131_01.bvh", "asfamc/02_01.amc"]
)
def test_captures_get_a_persons_body(name):
    path = MOCAP / name
    clip = load_clip(path)
    assert is_humanoid(clip.skeleton)
    points = skinned(clip).points
    places = clip.joint_positions()[0]
    assert 1.3 < np.ptp(points[:, 2]) < 1.95
    assert (points.min(axis=0) > places.min(axis=0) - 0.25).all() and (
        points.max(axis=0) < places.max(axis=0) + 0.25
    ).all()


@settings(deadline=None, max_examples=30)
@given(skeletons())
def test_any_skeleton_gets_a_body(skeleton):
    body = body_mesh(skeleton)
    assert len(body.triangles) > 0 and np.isfinite(body.points).all() and np.isfinite(body.normals).all()


def test_bones_taper_and_a_lone_joint_is_a_ball():
    chain = Skeleton(("a", "b", "c"), np.array([-1, 0, 1]), np.array([[0, 0, 1.0], [0.5, 0, 0], [0.5, 0, 0]]))
    radii = [part.radii for part in bone_shape(chain).parts]
    assert len(radii) == 2 and all(r[0] > r[-1] for r in radii)
    lone = Skeleton(("a",), np.array([-1]), np.zeros((1, 3)))
    assert len(body_mesh(lone).triangles) > 20


def test_recipe_makes_boxes_and_adds_to_a_person():
    board = BodyPart("LeftHand", (0, 0, 0), (0.5, 0, 0), (0.01,), (0.1,), color="#336699", shape="box")
    alone = skinned(standing(1), BodyShape((board,)))
    assert len(alone.corners) == 12
    np.testing.assert_allclose(alone.colors[0, :3], built_in_hex("#336699"), atol=1e-6)
    both = skinned(standing(1), BodyShape((board,), person=True))
    assert len(both.corners) == 12 + len(body_mesh(person_skeleton()).triangles)


def built_in_hex(text):
    from gaitway.render.raster.colors import from_hex

    return from_hex(text)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (BodyPart("LeftHnd"), "LeftHand"),
        (BodyPart("LeftHand", end=(0, 0, 1), radii=(0.1, 0.0)), "above 0"),
        (BodyPart("LeftHand", end=(0, 0, 1), widths=(0.1,)), "as many"),
        (BodyPart("LeftHand", end=(0, 0, 1), shape="cone"), "'round' or 'box'"),
        (BodyPart("LeftHand", end=(0, 0, 1), color="blue"), "hexadecimal"),
        (BodyPart("HeadTop_End"), "has no end"),
    ],
)
def test_wrong_parts_are_refused(part, words):
    with pytest.raises(GaitwayError, match=words):
        body_mesh(person_skeleton(), BodyShape((part,)))


def test_empty_recipe_is_refused():
    with pytest.raises(GaitwayError, match="no parts"):
        body_mesh(person_skeleton(), BodyShape())


def test_palettes_differ_between_people_and_are_the_same_for_a_seed():
    shirts = np.array([person_palette(i)[0] for i in range(12)])
    apart = np.linalg.norm(shirts[:, None] - shirts[None], axis=2) + np.eye(12)
    assert apart.min() > 0.02
    np.testing.assert_array_equal(person_palette(5, 0.5), person_palette(5, 0.5))
    for rows in (person_palette(3, 1.0), study_palette(), study_palette(0.5), built_in_palette(horse_skeleton(), 2)):
        assert rows.shape == (len(TONES), 3) and rows.min() >= 0.0 and rows.max() <= 1.0


def test_left_is_warm_and_right_is_cool():
    for rows in (study_palette(), person_palette(1, side_tint=1.0)):
        for tone in ("top", "bottom"):
            left, right = rows[TONES.index(f"{tone}_left")], rows[TONES.index(f"{tone}_right")]
            assert left[0] / left[2] > 2.0 * right[0] / right[2]


def test_unknown_tone_is_refused():
    with pytest.raises(GaitwayError, match="unknown tone 'hat'"):
        palette({"hat": [0, 0, 0]})
