from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from figures import standing, walking
from gaitway.core import planar, rotations
from gaitway.core.errors import ClipError
from gaitway.motion import (
    detect_contacts,
    mirror,
    move,
    place,
    resample,
    root_path,
    slice_frames,
    slice_seconds,
    with_name,
)
from gaitway.motion.formats import load_clip
from gaitway.motion.roles import mirror_twins
from shared_data import MOCAP, needs_mocap
from strategies import clips, oblique, planar_poses, same_motion


@pytest.fixture(scope="module")
def walk():
    return detect_contacts(walking(2.0))


@settings(max_examples=30, deadline=None)
@given(clips())
def test_resampling_to_a_multiple_keeps_the_frames(clip):
    fine = resample(clip, clip.fps * 3)
    assert len(fine) == 3 * (len(clip) - 1) + 1
    np.testing.assert_allclose(fine.root_positions[::3], clip.root_positions, atol=1e-9)
    np.testing.assert_allclose(rotations.angle_between(fine.rotations[::3], clip.rotations), 0.0, atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(clips(), st.floats(1.0, 400.0))
def test_resampled_duration_is_within_a_frame(clip, fps):
    other = resample(clip, fps)
    assert other.fps == fps
    assert clip.duration - 1.0 / fps - 1e-6 < other.duration <= clip.duration + 1e-6


def test_resampling_slerps_and_takes_the_nearest_contact(walk):
    half = resample(walk, 120.0)
    middle = rotations.slerp(walk.rotations[:-1], walk.rotations[1:], 0.5)
    np.testing.assert_allclose(rotations.angle_between(half.rotations[1::2], middle), 0.0, atol=1e-7)
    np.testing.assert_array_equal(half.contacts[::2], walk.contacts)
    back = resample(half, 60.0)
    np.testing.assert_allclose(back.root_positions, walk.root_positions, atol=1e-12)
    np.testing.assert_array_equal(back.contacts, walk.contacts)


@pytest.mark.parametrize("fps", [0.0, -30.0, np.nan, np.inf])
def test_impossible_rates_are_refused(fps, walk):
    with pytest.raises(ClipError, match="Hz"):
        resample(walk, fps)


def test_slices(walk):
    part = slice_frames(walk, 10, 20)
    assert len(part) == 10
    np.testing.assert_array_equal(part.contacts, walk.contacts[10:20])
    assert len(slice_frames(walk, -5)) == 5
    seconds = slice_seconds(walk, 0.5, 1.0)
    assert seconds.duration == pytest.approx(0.5)
    np.testing.assert_array_equal(seconds.root_positions[0], walk.root_positions[30])
    with pytest.raises(ClipError, match="are none"):
        slice_frames(walk, 20, 10)
    with pytest.raises(ClipError, match="it lasts 2 s"):
        slice_seconds(walk, 3.0, 4.0)


@settings(max_examples=30, deadline=None)
@given(clips(), planar_poses())
def test_placed_clip_stands_where_it_was_told(clip, pose):
    frame = len(clip) // 2
    before, after = clip.planar_path()[frame], place(clip, pose, frame)
    now = after.planar_path()[frame]
    np.testing.assert_allclose(now[:2], pose[:2], atol=1e-9)
    ahead = rotations.rotate(clip.rotations[frame, 0], clip.skeleton.forward)
    if np.hypot(*ahead[:2]) > 1e-3:  # else it looks straight up and has no heading
        np.testing.assert_allclose(planar.wrap_angle(now[2] - pose[2]), 0.0, atol=1e-7)
    np.testing.assert_allclose(after.root_positions[:, 2], clip.root_positions[:, 2])
    back = place(after, before, frame)
    np.testing.assert_allclose(back.joint_positions(), clip.joint_positions(), atol=1e-7)


def test_moving_is_a_group_and_keeps_contacts(walk):
    a, b = [1.0, 2.0, 0.5], [-3.0, 0.2, 2.0]
    twice, once = move(move(walk, a), b), move(walk, planar.compose(b, a))
    np.testing.assert_allclose(twice.joint_positions(), once.joint_positions(), atol=1e-9)
    np.testing.assert_array_equal(twice.contacts, walk.contacts)
    with pytest.raises(ClipError, match="planar pose"):
        move(walk, [1.0, 2.0])


def test_mirror_of_a_symmetric_figure_is_exact(walk):
    mirrored = mirror(walk)
    twins = mirror_twins(walk.skeleton.names, walk.skeleton.roles)
    np.testing.assert_allclose(mirrored.joint_positions()[:, twins], walk.joint_positions() * [1, -1, 1], atol=1e-9)
    again = mirror(mirrored)
    np.testing.assert_allclose(rotations.angle_between(again.rotations, walk.rotations), 0.0, atol=1e-7)
    np.testing.assert_array_equal(again.contacts, walk.contacts)
    names = [p.name for p in walk.skeleton.contact_points]
    left, right = names.index("left_heel"), names.index("right_heel")
    np.testing.assert_array_equal(mirrored.contacts[:, left], walk.contacts[:, right])


def test_mirror_on_a_rig_with_oblique_axes(walk):
    turned = same_motion(walk, oblique(walk.skeleton, 4))
    np.testing.assert_allclose(mirror(turned).joint_positions(), mirror(walk).joint_positions(), atol=1e-9)


@needs_mocap
@pytest.mark.parametrize("file", ["bvh/16_15.bvh", "bvh_accad/Female1_B03_Walk1.bvh", "bvh_max/131_01.bvh"])
def test_mirrored_captures(file):
    clip = load_clip(MOCAP / file)
    mirrored, twins = mirror(clip), mirror_twins(clip.skeleton.names, clip.skeleton.roles)
    # as near as bones of differing length allow
    assert np.abs(mirrored.joint_positions()[:, twins] * [1, -1, 1] - clip.joint_positions()).max() < 0.05
    np.testing.assert_allclose(rotations.angle_between(mirror(mirrored).rotations, clip.rotations), 0.0, atol=1e-6)


def test_names_and_paths(walk):
    assert with_name(walk, "stroll").name == "stroll"
    np.testing.assert_array_equal(root_path(walk), walk.planar_path())
    smooth = root_path(walk, 0.5)
    np.testing.assert_allclose(smooth[[0, -1]], walk.planar_path()[[0, -1]], atol=1e-2)
    assert np.ptp(smooth[:, 1]) < 0.5 * np.ptp(walk.planar_path()[:, 1])
    single = standing(1)
    np.testing.assert_array_equal(root_path(single, 0.5), single.planar_path())


def test_one_frame_goes_through_everything():
    clip = replace(standing(1), contacts=np.zeros((1, 10), dtype=bool))
    for result in (resample(clip, 24.0), mirror(clip), place(clip, [1, 2, 3]), slice_seconds(clip), slice_frames(clip)):
        assert len(result) == 1
        assert result.contacts is not None
