from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaitway.core import planar
from strategies import planar_poses


def same_pose(a, b):
    np.testing.assert_allclose(a[..., :2], b[..., :2], atol=1e-9)
    np.testing.assert_allclose(planar.wrap_angle(a[..., 2] - b[..., 2]), 0.0, atol=1e-9)


@given(planar_poses(), planar_poses(), planar_poses())
def test_group_axioms(a, b, c):
    same_pose(planar.compose(planar.compose(a, b), c), planar.compose(a, planar.compose(b, c)))
    same_pose(planar.compose(a, planar.inverse(a)), np.zeros(3))
    same_pose(planar.compose(planar.inverse(a), a), np.zeros(3))
    same_pose(planar.compose(a, planar.relative(a, b)), b)


@given(st.floats(-1e6, 1e6))
def test_wrapped_angle_is_in_range_and_equal(angle):
    wrapped = planar.wrap_angle(angle)
    assert -np.pi <= wrapped < np.pi
    assert np.cos(wrapped) == pytest.approx(np.cos(angle), abs=1e-6)
    assert np.sin(wrapped) == pytest.approx(np.sin(angle), abs=1e-6)


@pytest.mark.parametrize("angle", [np.pi, -np.pi, 3 * np.pi, np.nextafter(-np.pi, -4.0), -np.pi - 1e-17])
def test_ends_of_the_range(angle):
    wrapped = float(planar.wrap_angle(angle))
    assert -np.pi <= wrapped < np.pi


def test_points_go_with_the_pose():
    pose = np.array([1.0, 2.0, np.pi / 2])
    np.testing.assert_allclose(planar.transform_points(pose, [[1.0, 0.0], [0.0, 1.0]]), [[1, 3], [0, 2]], atol=1e-12)


def test_leading_axes_broadcast():
    a, b = np.zeros((4, 1, 3)), np.ones((5, 3))
    assert planar.compose(a, b).shape == (4, 5, 3)
    assert planar.inverse(a).shape == (4, 1, 3)


@given(planar_poses(), planar_poses(), st.floats(-1e6, 1e6))
def test_plain_numbers_have_the_bits_of_arrays(a, b, angle):
    assert np.array_equal(planar.composed(a.tolist(), b.tolist()), planar.compose(a, b))
    assert np.array_equal(planar.composed(a.tolist(), b.tolist()), planar.compose(a[None], b[None])[0])
    assert planar.wrapped(angle) == planar.wrap_angle(angle)
