from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from figures import standing, walking
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.core import rotations
from gaitway.core.errors import SkeletonError
from gaitway.motion import CapsuleBody, Skeleton, capsule_body, capsules
from gaitway.motion.formats import load_clip
from shared_data import MOCAP, needs_mocap
from strategies import oblique, same_motion, skeletons


def test_body_of_a_person_stands_on_the_floor_and_is_as_tall_as_it_is():
    clip = standing(1, height=0.99)
    body = capsule_body(clip.skeleton)
    segments = capsules(clip, body)
    assert segments.shape == (1, len(body), 2, 3)
    low = (segments[..., 2].min(axis=-1) - body.radii).min()
    high = (segments[..., 2].max(axis=-1) + body.radii).max()
    assert low == pytest.approx(0.0, abs=0.01)
    assert high == pytest.approx(1.72, abs=0.04)


def test_body_is_symmetric_and_grows_with_the_figure():
    person = person_skeleton()
    body = capsule_body(person)
    assert {n.replace("left_", "right_") for n in body.names} <= set(body.names)
    tall = capsule_body(Skeleton(person.names, person.parents, 1.3 * person.offsets))
    np.testing.assert_allclose(tall.radii, 1.3 * body.radii)


def test_capsules_move_with_their_bones():
    clip = walking(0.5)
    other = same_motion(clip, oblique(clip.skeleton))
    # the oblique rig has the same tips and bones, and no contact points of its own
    plain = Skeleton(clip.skeleton.names, clip.skeleton.parents, clip.skeleton.offsets, tips=clip.skeleton.tips)
    np.testing.assert_allclose(capsules(other), capsules(same_motion(clip, plain)), atol=1e-9)
    ends = capsules(clip)
    lengths = np.linalg.norm(ends[:, :, 1] - ends[:, :, 0], axis=-1)
    np.testing.assert_allclose(lengths, np.broadcast_to(lengths[0], lengths.shape), atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(skeletons())
def test_anything_with_bones_has_a_body(skeleton):
    body = capsule_body(skeleton)
    assert len(body) >= 1
    assert (body.radii > 0).all()
    for joint, start, end in zip(body.joints, body.starts, body.ends, strict=True):
        assert 0 <= joint < len(skeleton)
        assert np.isfinite(start).all() and np.isfinite(end).all()


def test_segments_over_characters_and_frames():
    clip = walking(0.2)
    positions, world = clip.joint_transforms()
    body = capsule_body(clip.skeleton)
    many = body.segments(np.stack([positions] * 3), np.stack([world] * 3))
    assert many.shape == (3, len(clip), len(body), 2, 3)
    np.testing.assert_array_equal(many[1], body.segments(positions, world))


def test_flat_capsules_are_refused():
    with pytest.raises(SkeletonError, match="'thin' has no thickness"):
        CapsuleBody(np.array([0]), np.zeros((1, 3)), np.ones((1, 3)), np.array([0.0]), ("thin",))


@needs_mocap
@pytest.mark.parametrize("file", ["bvh/16_15.bvh", "bvh_accad/Female1_B03_Walk1.bvh", "bvh_max/131_01.bvh"])
def test_captured_bodies(file):
    clip = load_clip(MOCAP / file)
    body = capsule_body(clip.skeleton)
    assert {"pelvis", "chest", "head", "left_foot", "right_hand"} <= set(body.names)
    assert rotations.identity().shape == (4,)
    low = (capsules(clip, body)[..., 2].min(axis=-1) - body.radii).min(axis=1)
    assert abs(np.median(low)) < 0.06
