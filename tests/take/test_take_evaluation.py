"""Evaluation of takes: against plain NumPy, against the clips themselves, and laws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.bench._plain_take import plain_poses
from gaitway.core import planar, rotations
from gaitway.core.errors import TakeError
from gaitway.motion import editing, forward_kinematics
from gaitway.take import Segments, Take
from gaitway.take.evaluation import frame_times
from gaitway.take.pool import build_pool
from take_makers import random_take

seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=25)


def same_rotations(a: np.ndarray, b: np.ndarray, tolerance: float = 1e-6) -> None:
    assert a.shape == b.shape
    worst = rotations.angle_between(a, b).max(initial=0.0)
    assert worst < tolerance, worst


def moments(take: Take, seed: int, count: int = 12) -> np.ndarray:
    rng = np.random.default_rng(seed)
    joins = np.concatenate([take.segments.start, take.segments.start + take.segments.blend, take.ends])
    return np.concatenate([rng.uniform(-0.5, take.duration + 0.5, count), rng.choice(joins, 4)])


@pytest.mark.slow
@few
@given(seeds)
def test_kernels_agree_with_plain_numpy(seed):
    take = random_take(seed)
    for time in moments(take, seed):
        everyone = np.arange(len(take))
        for poses, joints in zip(take.poses(time, everyone), take.joints(time, everyone), strict=True):
            root, local = plain_poses(take, poses.characters, np.full(len(poses), time))
            np.testing.assert_allclose(poses.root_positions, root, atol=1e-6)
            same_rotations(poses.rotations, local)
            positions, world = forward_kinematics(poses.skeleton, root, local)
            np.testing.assert_allclose(joints.positions, positions, atol=1e-5)
            same_rotations(joints.rotations, world, 1e-5)
            np.testing.assert_array_equal(joints.characters, poses.characters)


@few
@given(seeds)
def test_fades_that_are_not_kept_are_the_same(seed):
    take = random_take(seed)
    bare = replace(take)
    bare.__dict__["pool"] = build_pool(take, fade_bytes=0)
    assert bare.pool.kept_fades == 0
    assert take.pool.kept_fades == take.pool.fade_count
    for time in moments(take, seed):
        for a, b in zip(take.poses(time), bare.poses(time), strict=True):
            np.testing.assert_allclose(a.root_positions, b.root_positions, atol=1e-9)
            same_rotations(a.rotations, b.rotations)


def test_room_for_some_fades_goes_to_those_that_occur_most():
    take = random_take(3, characters=12, blend=True)
    whole = build_pool(take)
    used = sum(body.frames.nbytes for body in whole.bodies)
    clips = sum(body.frames.nbytes for body in build_pool(take, fade_bytes=0).bodies)
    part = build_pool(take, fade_bytes=(used - clips) // 4)
    assert 0 < part.kept_fades < whole.kept_fades == whole.fade_count


@few
@given(seeds)
def test_order_subset_and_threads_do_not_matter(seed):
    take = random_take(seed)
    rng = np.random.default_rng(seed)
    time = rng.uniform(0.0, take.duration)
    whole = {}
    for p in take.poses(time, np.arange(len(take))):
        whole |= {c: (p.root_positions[i], p.rotations[i]) for i, c in enumerate(p.characters)}
    chosen = rng.permutation(len(take))[: rng.integers(1, len(take) + 1)]
    for threads in (1, 2, 5):
        found = 0
        all_joints = take.joints(time, chosen, threads=threads)
        for poses, joints in zip(take.poses(time, chosen, threads=threads), all_joints, strict=True):
            for c, root, local in zip(poses.characters, poses.root_positions, poses.rotations, strict=True):
                np.testing.assert_array_equal(root, whole[c][0])
                np.testing.assert_array_equal(local, whole[c][1])
            np.testing.assert_allclose(joints.positions, poses.joint_transforms()[0], atol=1e-12)
            found += len(poses)
        assert found == len(chosen)


@few
@given(seeds, st.floats(-20, 20), st.floats(-20, 20), st.floats(-3, 3))
def test_moving_everything_moves_all_poses(seed, x, y, heading):
    take = replace(random_take(seed), layers=())
    move = np.round(np.array([x, y, heading]) * 2**20) / 2**20
    table = take.segments
    columns = {name: getattr(table, name) for name in Segments.__dataclass_fields__}
    moved = replace(take, segments=Segments(**{**columns, "pose": planar.compose(move, table.pose)}))
    for time in moments(take, seed, 4):
        for a, b in zip(take.poses(time), moved.poses(time), strict=True):
            wanted = planar.transform_points(move, a.root_positions[:, :2])
            np.testing.assert_allclose(wanted, b.root_positions[:, :2], atol=1e-4)
            np.testing.assert_allclose(a.root_positions[:, 2], b.root_positions[:, 2], atol=1e-9)
            turned = rotations.multiply(rotations.from_yaw(move[2]), a.rotations[:, 0])
            same_rotations(turned, b.rotations[:, 0], 1e-5)
            np.testing.assert_array_equal(a.rotations[:, 1:], b.rotations[:, 1:])


def test_at_frames_a_take_shows_its_clips_exactly():
    take = random_take(1, characters=3, layers=False, blend=False, kinds=1)
    for c in range(3):
        s = take.rows[c]
        clip = take.clips[take.segments.clip[s]]
        first = take.segments.offset[s] * clip.fps
        assert first == round(first)
        (pose,) = take.poses(take.start(c), [c])
        placed = editing.move(clip, take.segments.pose[s])
        np.testing.assert_allclose(pose.root_positions[0, :2], placed.root_positions[round(first), :2], atol=1e-12)
        np.testing.assert_array_equal(pose.rotations[0, 1:], clip.rotations[round(first), 1:])


def test_clip_is_the_poses_frame_by_frame_with_contacts():
    take = random_take(5, blend=True)
    for c in range(len(take)):
        clip = take.clip(c)
        assert clip.fps == take.fps and clip.name == take.names[c] and clip.contacts is not None
        assert clip.duration <= take.ends[c] - take.start(c) + 1e-6
        for frame in (0, len(clip) // 2, len(clip) - 1):
            (pose,) = take.poses(take.start(c) + frame / take.fps, [c], contacts=True)
            np.testing.assert_allclose(clip.root_positions[frame], pose.root_positions[0], atol=1e-9)
            same_rotations(clip.rotations[frame], pose.rotations[0], 1e-6)
            np.testing.assert_array_equal(clip.contacts[frame], pose.contacts[0])


def test_contacts_change_where_the_weight_passes_a_half():
    take = random_take(8, characters=1, blend=True, kinds=1)
    s = int(np.flatnonzero(take.segments.blend > 0)[0])
    table = take.segments
    middle = table.start[s] + 0.5 * table.blend[s]
    for time, shown in ((middle - 1e-3, s - 1), (middle + 1e-3, s)):
        clip = take.clips[table.clip[shown]]
        frame = (table.offset[shown] + table.speed[shown] * (time - table.start[shown])) * clip.fps
        below, above = (int(np.clip(near(frame), 0, len(clip) - 1)) for near in (np.floor, np.ceil))
        (pose,) = take.poses(time, [0], contacts=True)
        np.testing.assert_array_equal(pose.contacts[0], clip.contacts[below] & clip.contacts[above])


def test_a_foot_that_lifts_in_the_next_frame_rests_no_more_in_between():
    take = random_take(8, characters=1, kinds=1)
    table, clip = take.segments, take.clips[take.segments.clip[0]]
    for frame in range(min(len(clip) - 1, 12)):
        for share in (0.0, 0.2, 0.8):
            time = table.start[0] + ((frame + share) / clip.fps - table.offset[0]) / table.speed[0]
            if not table.start[0] <= time < (table.start[1] if len(table) > 1 else take.duration):
                continue
            (pose,) = take.poses(time, [0], contacts=True)
            after = clip.contacts[frame + 1] if share else clip.contacts[frame]
            np.testing.assert_array_equal(pose.contacts[0], clip.contacts[frame] & after)


def test_presence_and_holding():
    take = random_take(2)
    c = int(np.argmin(take.ends))
    after = float(take.ends[c]) + 0.25
    assert c not in take.present(after)
    assert c in take.present(float(take.ends[c])) and c in take.present(take.start(c))
    held, last = take.poses(after, [c])[0], take.poses(float(take.ends[c]), [c])[0]
    np.testing.assert_array_equal(held.rotations, last.rotations)
    assert np.isnan(take.planar([after], [c])).all()
    assert take.behavior_at(after, [c]) == (None,)
    assert take.behavior_at(take.start(c), [c]) == (take.behaviors[take.segments.behavior[take.rows[c]]],)
    assert take.poses(-100.0) == () and take.joints(1e6) == ()


def test_planar_paths_are_those_of_the_clips():
    take = random_take(6)
    for c in range(len(take)):
        clip = take.clip(c)
        times = take.start(c) + np.arange(len(clip)) / take.fps
        path = take.planar(times, [c])[0]
        np.testing.assert_allclose(path[:, :2], clip.root_positions[:, :2], atol=1e-9)
        np.testing.assert_allclose(planar.wrap_angle(path[:, 2] - clip.headings()), 0.0, atol=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: t.poses(np.nan), "time nan must be a finite"),
        (lambda t: t.poses(0.0, [99]), "no character 99"),
        (lambda t: t.poses(0.0, [-1]), "no character -1"),
        (lambda t: t.poses(0.0, [0.5]), "whole numbers"),
        (lambda t: t.clip(99), "no character 99; the take has"),
        (lambda t: t.clip(0, -3.0), "frame rate -3"),
        (lambda t: t.index("person-O"), "did you mean 'person-"),
        (lambda t: t.planar([np.inf]), "times must be finite"),
        (lambda t: t.start(-1), "no character -1"),
    ],
)
def test_wrong_questions(call, message):
    take = random_take(0)
    with pytest.raises(TakeError, match=message) as caught:
        call(take)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("end", "fps", "count"),
    [(1.0, 30.0, 31), (0.29, 100.0, 30), (0.999, 30.0, 30), (0.0, 30.0, 1), (7.0 / 30.0, 30.0, 8)],
)
def test_the_end_of_a_span_is_a_frame_of_it_however_it_is_rounded(end: float, fps: float, count: int) -> None:
    """0.29 s times 100 Hz is a little less than 29."""
    times = frame_times(2.0, 2.0 + end, fps)
    assert len(times) == count and times[0] == 2.0
