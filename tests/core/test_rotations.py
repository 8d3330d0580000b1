from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gaitway.core import rotations
from gaitway.core.errors import GaitwayError
from strategies import quaternions, random_rotations, vectors

ORDERS = ["".join(p) for p in permutations("xyz")]
ANGLES = st.floats(-3.0, 3.0)


def same_rotation(a, b, tolerance=1e-9):
    assert np.isfinite(a).all()
    assert np.shape(a) == np.shape(b)
    np.testing.assert_allclose(rotations.angle_between(a, b), 0.0, atol=tolerance)


@given(quaternions(), quaternions(), quaternions())
def test_group_axioms(a, b, c):
    left = rotations.multiply(rotations.multiply(a, b), c)
    same_rotation(left, rotations.multiply(a, rotations.multiply(b, c)))
    same_rotation(rotations.multiply(a, rotations.identity()), a)
    same_rotation(rotations.multiply(a, rotations.conjugate(a)), rotations.identity())


@given(quaternions(), quaternions(), vectors())
def test_a_product_rotates_like_its_factors_one_after_another(a, b, v):
    both = rotations.rotate(rotations.multiply(a, b), v)
    np.testing.assert_allclose(both, rotations.rotate(a, rotations.rotate(b, v)), atol=1e-9)
    np.testing.assert_allclose(both, rotations.to_matrix(rotations.multiply(a, b)) @ v, atol=1e-9)


@given(quaternions(unit=False), vectors())
def test_length_of_the_quaternion_does_not_matter(q, v):
    np.testing.assert_allclose(rotations.rotate(q, v), rotations.rotate(rotations.normalize(q), v), atol=1e-9)
    same_rotation(rotations.slerp(q, q, 0.5), rotations.normalize(q), 1e-7)
    np.testing.assert_allclose(rotations.to_matrix(q), rotations.to_matrix(rotations.normalize(q)), atol=1e-12)


def test_zero_quaternion_stands_for_the_identity():
    zero = np.zeros(4)
    np.testing.assert_array_equal(rotations.normalize(zero), [1, 0, 0, 0])
    np.testing.assert_array_equal(rotations.rotate(zero, [1.0, 2.0, 3.0]), [1, 2, 3])
    np.testing.assert_array_equal(rotations.to_rotation_vector(zero), [0, 0, 0])


@given(quaternions())
def test_logarithm_and_exponential_undo_each_other(q):
    vector = rotations.to_rotation_vector(q)
    assert np.linalg.norm(vector) <= np.pi + 1e-12
    same_rotation(rotations.from_rotation_vector(vector), q)


@given(vectors(1.75))
def test_exponential_then_logarithm(v):
    assume(np.linalg.norm(v) < np.pi - 1e-6)
    np.testing.assert_allclose(rotations.to_rotation_vector(rotations.from_rotation_vector(v)), v, atol=1e-9)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1), (1, -2, 3)])
def test_half_turn_has_the_axis_whose_first_component_is_positive(axis):
    unit = np.array(axis) / np.linalg.norm(axis)
    for sign in (1.0, -1.0):
        q = np.concatenate([[0.0], sign * unit])
        np.testing.assert_allclose(rotations.to_rotation_vector(q), np.pi * unit, atol=1e-12)


def test_tiny_rotations_keep_their_digits():
    v = np.array([3e-9, -2e-9, 1e-9])
    np.testing.assert_allclose(rotations.to_rotation_vector(rotations.from_rotation_vector(v)), v, rtol=1e-12)
    assert rotations.angle_between(rotations.identity(), rotations.from_rotation_vector(v)) == pytest.approx(
        np.linalg.norm(v), rel=1e-9
    )


@given(quaternions())
def test_matrix_round_trip(q):
    m = rotations.to_matrix(q)
    np.testing.assert_allclose(m @ m.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(m) == pytest.approx(1.0)
    same_rotation(rotations.from_matrix(m), q, 1e-7)


@given(st.sampled_from(ORDERS), quaternions())
def test_euler_round_trip_in_every_order(order, q):
    angles = rotations.to_euler(order, q)
    assert abs(angles[1]) <= np.pi / 2 + 1e-9
    same_rotation(rotations.from_euler(order, angles), q, 1e-6)  # near gimbal lock half of the digits are lost


@given(st.sampled_from(ORDERS), ANGLES, ANGLES, st.sampled_from([-1.0, 1.0]), st.sampled_from([0.0, 1e-13, 1e-8, 1e-5]))
def test_euler_at_and_near_gimbal_lock(order, first, third, sign, off):
    q = rotations.from_euler(order, [first, sign * (np.pi / 2 - off), third])
    same_rotation(rotations.from_euler(order, rotations.to_euler(order, q)), q, 1e-7)


@given(st.sampled_from(ORDERS), ANGLES, st.floats(-1.5, 1.5), ANGLES)
def test_euler_angles_come_back(order, first, middle, third):
    angles = np.array([first, middle, third])
    np.testing.assert_allclose(rotations.to_euler(order, rotations.from_euler(order, angles)), angles, atol=1e-7)


def test_euler_order_is_left_to_right():
    q = rotations.from_euler("zx", [np.pi / 2, np.pi / 2])
    np.testing.assert_allclose(rotations.rotate(q, [0.0, 1.0, 0.0]), [0, 0, 1], atol=1e-12)


@pytest.mark.parametrize("order", ["xyw", "xy", ""])
def test_wrong_euler_order_is_refused(order):
    with pytest.raises(GaitwayError, match="Euler order"):
        rotations.from_euler(order, [0.0, 0.0, 0.0])
    with pytest.raises(GaitwayError, match="Euler order"):
        rotations.to_euler(order, rotations.identity())


@given(quaternions(), quaternions(), st.floats(0.0, 1.0))
def test_slerp_goes_the_short_way_at_even_speed(a, b, t):
    angle = rotations.angle_between(a, b)
    here = rotations.slerp(a, b, t)
    same_rotation(rotations.slerp(a, b, 0.0), a, 1e-7)
    same_rotation(rotations.slerp(a, b, 1.0), b, 1e-7)
    assert rotations.angle_between(a, here) == pytest.approx(t * angle, abs=1e-6)
    assert rotations.angle_between(here, b) == pytest.approx((1.0 - t) * angle, abs=1e-6)
    if angle < np.pi - 1e-3:
        same_rotation(rotations.slerp(a, -b, t), here, 1e-6)


@given(vectors(), vectors())
def test_between_turns_one_direction_into_the_other(a, b):
    assume(np.linalg.norm(a) > 1e-3 and np.linalg.norm(b) > 1e-3)
    turned = rotations.rotate(rotations.between(a, b), a / np.linalg.norm(a))
    np.testing.assert_allclose(turned, b / np.linalg.norm(b), atol=1e-4)


@pytest.mark.parametrize("a", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (-3, 2, 0.5)])
def test_between_opposite_and_zero_directions(a):
    a = np.array(a, dtype=float)
    np.testing.assert_allclose(rotations.rotate(rotations.between(a, -2 * a), a), -a, atol=1e-12)
    np.testing.assert_array_equal(rotations.between(a, a * 0.0), [1, 0, 0, 0])
    same_rotation(rotations.between(a, 3.0 * a), rotations.identity())


@given(quaternions(), vectors())
def test_swing_times_twist(q, axis):
    assume(np.linalg.norm(axis) > 1e-3)
    axis = axis / np.linalg.norm(axis)
    swing, twist = rotations.swing_twist(q, axis)
    same_rotation(rotations.multiply(swing, twist), q)
    assert abs(swing[1:] @ axis) < 1e-9
    np.testing.assert_allclose(rotations.rotate(twist, axis), axis, atol=1e-9)


def test_half_turn_across_the_axis_is_all_swing():
    swing, twist = rotations.swing_twist([0.0, 1.0, 0.0, 0.0], np.array([0.0, 0.0, 1.0]))
    np.testing.assert_array_equal(twist, [1, 0, 0, 0])
    same_rotation(swing, np.array([0.0, 1.0, 0.0, 0.0]))


@given(quaternions(), st.integers(0, 10_000))
def test_mean_does_not_care_about_signs_and_follows_a_common_turn(q, seed):
    rng = np.random.default_rng(seed)
    near = random_rotations(rng, 7, spread=0.2)
    signs = rng.choice([-1.0, 1.0], 7)
    mean = rotations.mean(near)
    same_rotation(rotations.mean(near * signs[:, None]), mean, 1e-7)
    same_rotation(rotations.mean(rotations.multiply(q, near)), rotations.multiply(q, mean), 1e-7)
    same_rotation(rotations.mean(np.stack([q, -q, q])), q, 1e-7)


def test_weighted_mean_leans_to_the_heavier():
    a, b = rotations.identity(), rotations.from_yaw(1.0)
    turned = rotations.to_rotation_vector(rotations.mean(np.stack([a, b]), [1.0, 3.0]))[2]
    assert 0.6 < turned < 0.9


def test_continuous_flips_signs_only():
    rng = np.random.default_rng(3)
    q = rotations.from_yaw(np.linspace(0.0, 12.0, 40)) * rng.choice([-1.0, 1.0], (40, 1))
    smooth = rotations.continuous(q)
    same_rotation(smooth, q)
    assert (np.sum(smooth[1:] * smooth[:-1], axis=-1) > 0).all()


def test_axis_angle_takes_any_length_and_batches():
    q = rotations.from_axis_angle([0.0, 0.0, 5.0], np.linspace(0.0, 1.0, 6).reshape(2, 3))
    assert q.shape == (2, 3, 4)
    same_rotation(q, rotations.from_yaw(np.linspace(0.0, 1.0, 6).reshape(2, 3)))
    np.testing.assert_array_equal(rotations.from_axis_angle([0.0, 0.0, 0.0], 2.0), [1, 0, 0, 0])


@pytest.mark.parametrize("batch", [(), (5,), (2, 3), (0,)])
def test_all_functions_take_leading_axes(batch):
    rng = np.random.default_rng(0)
    a, b = random_rotations(rng, *batch), random_rotations(rng, *batch)
    v = rng.normal(size=(*batch, 3))
    assert rotations.multiply(a, b).shape == (*batch, 4)
    assert rotations.rotate(a, v).shape == (*batch, 3)
    assert rotations.slerp(a, b, rng.random(batch)).shape == (*batch, 4)
    assert rotations.between(v, v[..., ::-1]).shape == (*batch, 4)
    assert rotations.angle_between(a, b).shape == batch
    assert rotations.to_matrix(a).shape == (*batch, 3, 3)
    assert rotations.from_matrix(rotations.to_matrix(a)).shape == (*batch, 4)
    assert rotations.to_euler("zyx", a).shape == (*batch, 3)
    assert rotations.swing_twist(a, np.array([0.0, 0.0, 1.0]))[0].shape == (*batch, 4)
