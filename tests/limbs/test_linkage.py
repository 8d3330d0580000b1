"""Limbs: angles and frames are inverse, hinges are those of the rig, IK meets its targets, limits hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from figures import standing, walking
from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.core.arrays import read_only
from gaitway.core.errors import LimbError, SkeletonError
from gaitway.limbs import LIMBS, LimbLimits, find_limb, fit_limb, fit_limits, reach_posture, reach_postures, solve_limb
from gaitway.limbs import _joint_kernels as kernels
from gaitway.limbs.linkage import turned
from gaitway.limbs.reaching import swivel_of, swivel_offsets
from gaitway.motion.formats import load_clip
from gaitway.motion.limits import anatomical_angles, joint_limits
from shared_data import MOCAP, needs_mocap

WALK = load_cast("person").clips["walk_forward"]
ARM = fit_limb(WALK.skeleton, "left_arm", [WALK])
uniform = st.lists(st.floats(0.0, 1.0), min_size=8, max_size=8)


def about(axis: int, angle: float) -> np.ndarray:
    """The matrix of a turn about an axis of its own."""
    return rotations.to_matrix(rotations.from_axis_angle(np.eye(3)[axis], angle))


def swing(x: float, y: float) -> np.ndarray:
    return rotations.to_matrix(rotations.from_rotation_vector([x, y, 0.0]))


def twin_frames(base: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The three frames of a posture, written as the docstring of the kernels has them."""
    upper = base @ swing(q[0], q[1]) @ about(2, q[2])
    fore = upper @ about(1, q[3]) @ about(0, q[7]) @ about(2, q[4])
    return np.stack([upper, fore, fore @ swing(q[5], q[6]) @ about(2, q[8])])


def drawn(draws: list[float], name: str = "left_arm", side: float = 0.0, twist: float = 0.0) -> np.ndarray:
    q = np.zeros((1, 9))
    limb = find_limb(WALK.skeleton, name)
    kernels.draw_postures(limb.limits.rows, read_only(np.array([draws])), q)
    q[0, 7:] = side, twist
    return q


@settings(max_examples=80, deadline=None)
@given(uniform, st.sampled_from(LIMBS), st.floats(-0.4, 0.4), st.floats(-1.5, 1.5), st.integers(0, 10**6))
def test_kernels_agree_with_their_twin_and_angles_come_back(draws, name, side, twist, seed) -> None:
    limb, q = find_limb(WALK.skeleton, name), drawn(draws, name, side, twist)
    rng = np.random.default_rng(seed)
    base, start = rotations.to_matrix(rotations.normalize(rng.normal(size=4))), rng.normal(size=(1, 3))
    frames, points = np.empty((1, 3, 3, 3)), np.empty((1, 3, 3))
    kernels.frames_of(read_only(base[None]), read_only(start), limb.lengths, read_only(q), frames, points)
    assert frames[0] == pytest.approx(twin_frames(base, q[0]), abs=1e-12)
    bones = np.diff(points[0], axis=0)
    assert bones == pytest.approx(limb.lengths[:, None] * frames[0, :2, :, 2], abs=1e-12)
    back = np.empty((1, 9))
    kernels.angles_of(read_only(base[None]), read_only(frames), back)
    again = np.empty((1, 3, 3, 3))
    kernels.frames_of(read_only(base[None]), read_only(start), limb.lengths, read_only(back), again, points)
    assert again == pytest.approx(frames, abs=1e-7)
    if abs(q[0, 2]) < 3.0 and np.hypot(*q[0, :2]) < 3.0:  # no half turn, where two names are one posture
        assert back == pytest.approx(q, abs=1e-6)


@settings(max_examples=80, deadline=None)
@given(uniform, st.sampled_from(LIMBS), st.floats(-0.3, 0.3), st.floats(-1.0, 1.0), st.floats(-3.1, 3.1))
def test_every_reachable_target_is_met(draws, name, side, twist, swivel) -> None:
    limb, q = find_limb(WALK.skeleton, name), drawn(draws, name, side, twist)
    start, base = np.array([[0.1, 0.2, 1.4]]), rotations.to_matrix(rotations.from_yaw(0.7))[None]
    frames, points = np.empty((1, 3, 3, 3)), np.empty((1, 3, 3))
    kernels.frames_of(read_only(base), read_only(start), limb.lengths, read_only(q), frames, points)
    end = rotations.multiply(rotations.from_matrix(frames[0, 2]), rotations.conjugate(limb.turns[3]))
    given_extra = np.zeros((1, 9))
    given_extra[0, 7:] = side, twist
    found, reached = solve_limb(limb, start, base, points[:, 2], end[None], swivel, given_extra)
    assert reached.all()
    met, at = np.empty((1, 3, 3, 3)), np.empty((1, 3, 3))
    kernels.frames_of(read_only(base), read_only(start), limb.lengths, read_only(found), met, at)
    assert at[0, 2] == pytest.approx(points[0, 2], abs=1e-7)
    assert met[0, 2] == pytest.approx(frames[0, 2], abs=1e-6)
    if found[0, 3] > 0.05 and np.linalg.norm((points[0, 2] - start[0])[:2]) > 0.02:
        away = swivel_of(*at[0]) - swivel
        assert np.hypot(np.cos(away) - 1.0, np.sin(away)) < 1e-5  # the elbow is where it was asked to be


@settings(max_examples=60, deadline=None)
@given(uniform, st.sampled_from(LIMBS))
def test_drawn_postures_keep_the_limits_and_their_middles(draws, name) -> None:
    limits = find_limb(WALK.skeleton, name).limits
    a, b = drawn(draws, name), drawn([1.0 - 0.5 * d for d in draws], name)
    assert limits.hold(np.concatenate([a, b, 0.5 * (a + b)])).all()  # convex: what is between two is within


@pytest.mark.parametrize(
    "column, far", [(0, 9.0), (1, -9.0), (2, 3.1), (3, -0.5), (3, 2.9), (4, 3.1), (5, 2.0), (6, -2.0)]
)
def test_what_is_beyond_a_limit_is_told_and_can_be_let_in(column, far) -> None:
    limits, q = find_limb(WALK.skeleton, "left_arm").limits, np.zeros((1, 9))
    assert limits.hold(q).all()
    q[0, column] = far
    assert not limits.hold(q).any()
    wider = limits.widened(q)
    assert wider.hold(q).all()
    assert wider.hold(np.zeros((1, 9))).all()


@pytest.mark.parametrize("name", LIMBS)
def test_a_posture_laid_on_a_clip_is_read_again(name) -> None:
    limb = fit_limb(WALK.skeleton, name, [WALK])
    q = limb.postures(WALK)
    same = limb.applied(WALK, q)
    assert same.rotations == pytest.approx(WALK.rotations, abs=1e-7)
    moved = np.array(q)
    moved[:, :7] += np.linspace(0.0, 0.2, len(q))[:, None]
    other = limb.applied(WALK, moved)
    assert limb.postures(other) == pytest.approx(moved, abs=1e-6)
    _, points = limb.places(WALK, moved)
    assert other.joint_positions()[:, limb.joints] == pytest.approx(points, abs=1e-6)
    rest = np.ones(len(WALK.skeleton), dtype=bool)
    rest[limb.joints] = False
    assert other.rotations[:, rest] == pytest.approx(WALK.rotations[:, rest], abs=1e-7)  # clips make lengths one


def test_both_sides_are_mirror_images() -> None:
    clip = standing()
    left, right = (find_limb(clip.skeleton, f"{side}_arm").postures(clip)[0] for side in ("left", "right"))
    assert right == pytest.approx(left * np.array([-1, 1, -1, 1, -1, -1, 1, -1, -1]), abs=1e-6)


@pytest.mark.parametrize("angle", [-0.9, -0.2, 0.5])
def test_the_hinge_of_a_turned_rig_is_found(angle) -> None:
    """A walk whose elbow bends about an axis that is turned about the bone."""
    plain = turned(find_limb(WALK.skeleton, "left_arm"), angle)
    q = np.zeros((80, 9))
    q[:, 0], q[:, 3] = -1.0, np.linspace(0.2, 1.4, 80)
    clip = plain.applied(standing(80), q)
    found = fit_limb(WALK.skeleton, "left_arm", [clip])
    assert found.fitted
    assert found.hinge == pytest.approx(angle, abs=1e-5)
    assert np.abs(found.postures(clip)[:, 7]).max() < 1e-5
    assert found.limits.rows[1, :2] == pytest.approx(find_limb(WALK.skeleton, "left_arm").limits.rows[1, :2] + angle)
    # a forearm rolls about itself as far as the audit sees it turn, however its hinge is turned
    q[:, 4] = np.linspace(-1.5, 1.5, 80)
    rolled, limits = found.applied(clip, q), joint_limits(WALK.skeleton)
    row = limits.joints.tolist().index(WALK.skeleton.roles["left_elbow"])
    assert anatomical_angles(rolled, limits)[:, row, 2] == pytest.approx(q[:, 4], abs=1e-6)
    assert np.array_equal(found.limits.rows[3], find_limb(WALK.skeleton, "left_arm").limits.rows[3])


def test_a_motion_that_does_not_bend_tells_no_hinge() -> None:
    clip = standing()
    assert not fit_limb(clip.skeleton, "left_arm", [clip]).fitted
    assert fit_limb(clip.skeleton, "left_leg", [walking()]).fitted
    assert not fit_limb(clip.skeleton, "left_arm", []).fitted


@needs_mocap
@pytest.mark.parametrize("file, hinge, side", [("bvh/07_01.bvh", 30.0, 0.01), ("bvh_accad/*.bvh", 0.0, 15.0)])
def test_hinges_of_captured_rigs(file, hinge, side) -> None:
    clip = load_clip(sorted(MOCAP.glob(file))[-1])
    for name, sign in (("left_arm", -1.0), ("right_arm", 1.0)):
        limb = fit_limb(clip.skeleton, name, [clip])
        assert np.degrees(limb.hinge) == pytest.approx(sign * hinge, abs=3.0)
        q = limb.postures(clip)
        assert np.degrees(np.quantile(np.abs(q[:, 7]), 0.99)) < side
        assert limb.places(clip, q)[1] == pytest.approx(clip.joint_positions()[:, limb.joints], abs=1e-6)


def test_fitted_limits_hold_their_share() -> None:
    limits = fit_limits(ARM, [WALK], 0.95)
    assert 0.6 < limits.hold(ARM.postures(WALK)).mean() < 1.0  # each of five holds its share, not all of them together
    assert fit_limits(ARM, [WALK], 1.0).hold(ARM.postures(WALK)).all()


def test_the_swivel_search_begins_where_asked_and_goes_round() -> None:
    offsets = np.sort(swivel_offsets())
    assert np.allclose(offsets[1:] + offsets[-2::-1], 0.0, atol=1e-9) or offsets[-1] == pytest.approx(np.pi)
    assert np.diff(offsets).max() < 0.6
    positions, world = WALK.joint_transforms()
    starts, bases = ARM.hanging(positions, world)
    at, end = positions[0, ARM.joints], world[0, ARM.joints[2]]
    args = (ARM, starts[0], bases[0], at[2], end)
    posture = ARM.postures(WALK)[0]
    first = reach_posture(*args, swivel=swivel_of(*at), posture=posture)
    assert first.tests == 1
    assert first.posture == pytest.approx(posture, abs=1e-6)
    seen: list[np.ndarray] = []
    other = reach_posture(
        *args, swivel=swivel_of(*at), posture=posture, valid=lambda q: seen.append(q.copy()) or len(seen) == 3
    )
    assert other.tests == 3
    assert other.swivel != first.swivel


def test_many_searches_at_once_find_what_single_ones_do() -> None:
    starts, bases = ARM.hanging(*WALK.joint_transforms())
    rng = np.random.default_rng(3)
    targets = starts + rng.uniform(-0.45, 0.45, starts.shape)
    ends = rotations.normalize(rng.normal(size=(len(starts), 4)))
    postures, found = reach_postures(ARM, starts, bases, targets, ends, 0.2)
    assert 0 < found.sum() < len(found)
    for n in range(len(starts)):
        try:
            single = reach_posture(ARM, starts[n], bases[n], targets[n], ends[n], swivel=0.2)
        except LimbError:
            assert not found[n]
        else:
            assert found[n]
            assert postures[n] == pytest.approx(single.posture, abs=1e-12)
    frames, points = ARM.places(WALK, postures)
    assert points[found, 2] == pytest.approx(targets[found], abs=1e-9)
    wanted = rotations.to_matrix(rotations.multiply(ends, ARM.turns[3]))
    assert frames[found, 2] == pytest.approx(wanted[found], abs=1e-9)
    assert ARM.limits.hold(postures[found]).all()


def test_bad_input_is_one_line() -> None:
    with pytest.raises(LimbError, match="no limb 'left_wing'; there are left_arm, right_arm, left_leg, right_leg"):
        find_limb(WALK.skeleton, "left_wing")
    horse = load_cast("horse")
    with pytest.raises(SkeletonError, match="no joint known as left_shoulder"):
        find_limb(next(iter(horse.clips.values())).skeleton, "left_arm")
    starts, bases = ARM.hanging(*WALK.joint_transforms())
    far = starts[0] + np.array([3.0, 0.0, 0.0])
    with pytest.raises(LimbError, match=r"cannot reach the target: it is 3\.00 m away, and the limb is 0\.\d\d m long"):
        reach_posture(ARM, starts[0], bases[0], far, [1.0, 0.0, 0.0, 0.0])
    near = starts[0] + np.array([0.3, 0.0, -0.2])
    with pytest.raises(LimbError, match=r"left_arm reaches the target 0\.36 m away, but every posture touches"):
        tight = replace(ARM, limits=ARM.limits.widened(np.array([np.full(9, 4.0), np.full(9, -4.0)])))
        reach_posture(tight, starts[0], bases[0], near, [1.0, 0.0, 0.0, 0.0], valid=lambda q: False)
    with pytest.raises(LimbError, match="limits of a limb need radii above 0"):
        LimbLimits(np.zeros((5, 4)))
    with pytest.raises(LimbError, match="share 2 of the frames"):
        fit_limits(ARM, [WALK], 2.0)
    with pytest.raises(LimbError, match="without clips"):
        fit_limits(ARM, [])
