from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from figures import standing, walking
from gaitway.core import rotations
from gaitway.core.errors import ClipError, SkeletonError
from gaitway.motion import _kernels, reach, two_bone
from gaitway.motion.anatomy import pole_direction
from gaitway.motion.ik import LEFT_ARM, LEFT_LEG, RIGHT_LEG, SOFTNESS, STRAIGHT
from gaitway.motion.kinematics import forward_kinematics
from knees import knee_angles, knee_speeds
from strategies import oblique, random_rotations, same_motion


def limb(rng, bend):
    """A limb with random bone frames and the given bend [rad]: start, middle, end, upper, lower, pole."""
    frame = random_rotations(rng)
    a, b = rng.uniform(0.2, 0.6, 2)
    start = rng.normal(size=3)
    middle = start + rotations.rotate(frame, [0.0, 0.0, -a])
    end = middle + rotations.rotate(rotations.multiply(frame, rotations.from_axis_angle([0, 1, 0], bend)), [0, 0, -b])
    pole = rotations.rotate(frame, [1.0, 0.0, 0.0])
    return start, middle, end, random_rotations(rng), random_rotations(rng), pole


def moved(start, middle, end, upper, lower, new_upper, new_lower):
    """Middle and end after the bones were turned from their old to their new rotations."""
    turn = rotations.multiply(new_upper, rotations.conjugate(upper))
    new_middle = start + rotations.rotate(turn, middle - start)
    turn = rotations.multiply(new_lower, rotations.conjugate(lower))
    return new_middle, new_middle + rotations.rotate(turn, end - middle)


def twin(start, middle, end, upper, lower, target, pole, softness, straight):
    """One limb, in plain NumPy and in other terms than the kernel: points first, rotations from them."""
    a, b = np.linalg.norm(middle - start), np.linalg.norm(end - middle)
    distance = np.linalg.norm(target - start)
    ahead = (target - start) / distance
    swing = rotations.between(end - start, target - start)
    knee = rotations.rotate(swing, middle - start)
    pole = rotations.rotate(swing, pole)
    across = knee - ahead * (knee @ ahead)
    hinge = np.cross(pole, knee)
    wanted = np.cross(ahead, hinge)
    wanted = wanted / np.linalg.norm(wanted)
    margin, along = straight * (a + b), across @ wanted
    if along < margin:
        t = max(0.0, (along + margin) / (2 * margin))
        h00, h01, h11 = 2 * t**3 - 3 * t**2 + 1, 3 * t**2 - 2 * t**3, t**3 - t**2
        side = across - along * wanted
        share = np.clip(max(along, np.linalg.norm(side) - margin) / margin, 0.0, 1.0)
        across = margin * (0.2 * h00 + h01 + 2 * h11) * wanted + (3 * share**2 - 2 * share**3) * side
    top = (a + b) * (1 - 0.05 * softness)
    soft = top - softness * (a + b)
    room = top - soft
    span = soft + room * (1 - np.exp(-(distance - soft) / room)) if distance > soft else distance
    span = max(span, abs(a - b) + 0.02 * (a + b))
    cosine = (a * a + span * span - b * b) / (2 * a * span)
    new_middle = a * (cosine * ahead + np.sqrt(max(0.0, 1 - cosine**2)) * across / np.linalg.norm(across))
    new_upper = rotations.multiply(rotations.between(knee, new_middle), rotations.multiply(swing, upper))
    shin = rotations.rotate(swing, end - middle)
    new_lower = rotations.multiply(rotations.between(shin, span * ahead - new_middle), rotations.multiply(swing, lower))
    return new_upper, new_lower


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(-0.2, 2.4), st.floats(0.05, 1.3))
def test_kernel_agrees_with_its_twin(seed, bend, share):
    rng = np.random.default_rng(seed)
    pose = limb(rng, bend)
    length = np.linalg.norm(pose[1] - pose[0]) + np.linalg.norm(pose[2] - pose[1])
    direction = rng.normal(size=3)
    target = pose[0] + share * length * direction / np.linalg.norm(direction)
    upper, lower = two_bone(*pose[:5], target, pose[5])
    expected = twin(*pose[:5], target, pose[5], SOFTNESS, STRAIGHT)
    assert rotations.angle_between(upper, expected[0]) < 1e-6
    assert rotations.angle_between(lower, expected[1]) < 1e-6


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.0, 2.4), st.floats(0.35, 0.99))
def test_target_is_reached_and_bones_keep_their_length(seed, bend, share):
    rng = np.random.default_rng(seed)
    start, middle, end, upper, lower, pole = limb(rng, bend)
    a, b = np.linalg.norm(middle - start), np.linalg.norm(end - middle)
    low = abs(a - b) + 0.03 * (a + b)
    direction = rng.normal(size=3)
    target = start + max(low, share * (a + b)) * direction / np.linalg.norm(direction)
    new_middle, new_end = moved(
        start, middle, end, upper, lower, *two_bone(start, middle, end, upper, lower, target, pole)
    )
    np.testing.assert_allclose(new_end, target, atol=1e-9)
    assert np.linalg.norm(new_middle - start) == pytest.approx(a)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.25, 2.2))
def test_a_bent_limb_at_its_target_is_left_alone(seed, bend):
    pose = limb(np.random.default_rng(seed), bend)
    upper, lower = two_bone(*pose[:5], pose[2], pose[5])
    assert rotations.angle_between(upper, pose[3]) < 1e-6
    assert rotations.angle_between(lower, pose[4]) < 1e-6


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.3, 2.0), st.floats(0.4, 0.95))
def test_the_limb_keeps_its_plane(seed, bend, share):
    """Moving the end along the line from the start folds the limb within the plane it bends in."""
    rng = np.random.default_rng(seed)
    start, middle, end, upper, lower, pole = limb(rng, bend)
    a, b = np.linalg.norm(middle - start), np.linalg.norm(end - middle)
    line = (end - start) / np.linalg.norm(end - start)
    target = start + line * max(share * (a + b), abs(a - b) + 0.03 * (a + b))
    new_middle, _ = moved(start, middle, end, upper, lower, *two_bone(start, middle, end, upper, lower, target, pole))
    normal = np.cross(middle - start, end - start)
    assert abs((new_middle - start) @ normal) < 1e-9 * np.linalg.norm(normal) + 1e-12
    assert (new_middle - start) @ (middle - start - line * ((middle - start) @ line)) > 0


def test_out_of_reach_stretches_softly_and_never_fully():
    start, middle, end = np.zeros(3), np.array([0.05, 0, -0.4]), np.array([0.0, 0, -0.8])
    one = rotations.identity()
    distances = np.linspace(0.7, 1.2, 400)
    targets = np.column_stack([0 * distances, 0 * distances, -distances])
    upper, lower = two_bone(start, middle, end, one, one, targets, [1.0, 0.0, 0.0])
    reached = -moved(start, middle, end, one, one, upper, lower)[1][:, 2]
    total = np.linalg.norm(middle) + np.linalg.norm(end - middle)
    assert (np.diff(reached) >= 0).all()
    assert reached[-1] < total
    assert reached[-1] > 0.9995 * total
    np.testing.assert_allclose(reached[distances < 0.995 * total], distances[distances < 0.995 * total], atol=1e-9)
    slope = np.diff(reached) / np.diff(distances)
    assert np.abs(np.diff(slope)).max() < 0.35  # one step of the sweep is a third of the soft zone


def test_a_straight_limb_bends_to_its_pole_and_does_not_flip():
    """Noise that pushes a straight knee backward and sideways must not decide where it goes when it bends."""
    rng = np.random.default_rng(5)
    one, start = rotations.identity(), np.zeros(3)
    for _ in range(200):
        middle = np.array([0.0, 0.0, -0.4]) + 0.002 * rng.normal(size=3)
        end = np.array([0.0, 0.0, -0.8])
        upper, lower = two_bone(start, middle, end, one, one, [0.0, 0.0, -0.6], [1.0, 0.0, 0.0])
        new_middle, _ = moved(start, middle, end, one, one, upper, lower)
        assert new_middle[0] > 0.9 * np.hypot(*new_middle[:2])


def test_through_straight_the_knee_moves_without_a_jump():
    angle = np.linspace(-0.06, 0.30, 200)  # from a little overstretched to bent
    middle = 0.4 * np.column_stack([np.sin(angle / 2), 0 * angle, -np.cos(angle / 2)])
    end = np.column_stack([0 * angle, 0 * angle, -0.8 * np.cos(angle / 2)])
    one = np.broadcast_to(rotations.identity(), (200, 4))
    target = end + np.array([0.03, 0.02, 0.06])
    upper, _ = two_bone(np.zeros(3), middle, end, one, one, target, [1.0, 0.0, 0.0])
    assert np.degrees(rotations.angle_between(upper[1:], upper[:-1])).max() < 1.0


def test_degenerate_limbs_are_left_alone():
    one = rotations.identity()
    same = np.zeros(3)
    for points in ((same, same, same), (same, np.array([0, 0, -0.4]), same)):
        upper, lower = two_bone(*points, one, one, [0.0, 0.0, -0.5], [1.0, 0.0, 0.0])
        assert np.isfinite(upper).all()
        np.testing.assert_array_equal(lower, one)
    upper, _ = two_bone(same, [0, 0, -0.4], [0, 0, -0.8], one, one, same, [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(upper, one)
    upper, lower = two_bone(same, [0, 0, -0.4], [0, 0, -0.8], one, one, [0, 0, -0.5], [0.0, 0.0, -1.0])
    assert np.isfinite(upper).all() and np.isfinite(lower).all()


def test_kernel_agrees_with_its_plain_python():
    rng = np.random.default_rng(8)
    poses = [limb(rng, b) for b in (0.0, 0.4, 1.5)]
    points = np.array([p[:3] for p in poses])
    upper, lower, pole = (np.array([p[i] for p in poses]) for i in (3, 4, 5))
    target = points[:, 0] + 0.5 * rng.normal(size=(3, 3))
    out = [np.empty((3, 4)) for _ in range(4)]
    _kernels.two_bone(points, upper, lower, target, pole, SOFTNESS, STRAIGHT, *out[:2])
    _kernels.two_bone.py_func(points, upper, lower, target, pole, SOFTNESS, STRAIGHT, *out[2:])
    np.testing.assert_allclose(out[:2], out[2:], atol=1e-12)


@pytest.mark.parametrize("chain", [LEFT_LEG, RIGHT_LEG, LEFT_ARM])
def test_reach_on_a_rig_with_oblique_axes_moves_the_same(chain):
    plain = walking(1.0)
    turned = same_motion(plain, oblique(plain.skeleton))
    np.testing.assert_allclose(turned.joint_positions(), plain.joint_positions(), atol=1e-9)
    end = plain.skeleton.roles[chain[2]]
    targets = plain.joint_positions()[:, end] + [0.04, -0.02, 0.05]
    a, b = reach(plain, chain, targets), reach(turned, chain, targets)
    np.testing.assert_allclose(a.joint_positions()[:, end], targets, atol=1e-6)
    np.testing.assert_allclose(b.joint_positions(), a.joint_positions(), atol=1e-7)


def test_reach_changes_only_its_limb_and_keeps_the_foot_level():
    clip = standing(20)
    skeleton, before = clip.skeleton, clip.joint_transforms()
    ankle = skeleton.roles["left_ankle"]
    targets = before[0][:, ankle] + np.linspace(0, 0.1, 20)[:, None] * [1.0, 0.0, 1.0]
    after = reach(clip, LEFT_LEG, targets).joint_transforms()
    np.testing.assert_allclose(after[0][:, ankle], targets, atol=1e-9)
    np.testing.assert_allclose(rotations.angle_between(after[1][:, ankle], before[1][:, ankle]), 0.0, atol=1e-9)
    limb_joints = {skeleton.index(n) for n in ("LeftLeg", "LeftFoot", "LeftToeBase", "LeftToe_End")}
    others = [j for j in range(len(skeleton)) if j not in limb_joints]
    np.testing.assert_allclose(after[0][:, others], before[0][:, others], atol=1e-12)


def test_weight_zero_leaves_the_frame_and_half_goes_half_way():
    clip = standing(3)
    ankle = clip.skeleton.roles["left_ankle"]
    here = clip.joint_positions()[:, ankle]
    moved_clip = reach(clip, LEFT_LEG, here + np.array([0.0, 0.0, 0.1]), weights=[0.0, 0.5, 1.0])
    np.testing.assert_allclose(moved_clip.rotations[0], clip.rotations[0], atol=1e-15)
    rise = (moved_clip.joint_positions()[:, ankle] - here)[:, 2]
    np.testing.assert_allclose(rise, [0.0, 0.05, 0.1], atol=1e-9)


def test_reach_turns_the_end_on_request():
    clip = standing(2)
    ankle = clip.skeleton.roles["left_ankle"]
    wanted = np.tile(rotations.from_yaw(0.5), (2, 1))
    out = reach(clip, LEFT_LEG, clip.joint_positions()[:, ankle], end_rotations=wanted)
    np.testing.assert_allclose(rotations.angle_between(out.joint_transforms()[1][:, ankle], wanted), 0.0, atol=1e-9)


def test_wrong_targets_and_missing_roles_are_named():
    clip = standing(2)
    with pytest.raises(ClipError, match=r"\(2, 3\)"):
        reach(clip, LEFT_LEG, np.zeros((3, 3)))
    with pytest.raises(SkeletonError, match="left_flipper"):
        reach(clip, ("left_hip", "left_flipper", "left_ankle"), np.zeros((2, 3)))


def test_poles_of_knees_and_elbows():
    skeleton = standing(1).skeleton
    np.testing.assert_allclose(pole_direction(skeleton, LEFT_LEG), [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(pole_direction(skeleton, LEFT_ARM), [-1, 0, 0], atol=1e-12)


def test_figure_walks_with_moderate_knees():
    clip = walking(2.0)
    assert np.degrees(knee_speeds(clip)).max() < 700
    assert np.degrees(knee_angles(clip)).min() > 5
    assert forward_kinematics(clip.skeleton, clip.root_positions, clip.rotations)[0].shape == (len(clip), 25, 3)
