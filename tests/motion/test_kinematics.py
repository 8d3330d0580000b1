from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from gaitway.cast.person.skeleton import person_skeleton
from gaitway.core import rotations
from gaitway.core.errors import ClipError
from gaitway.motion import angular_velocities, forward_kinematics, linear_velocities, local_rotations
from gaitway.motion._kernels import forward_kinematics as kernel
from gaitway.motion._kernels import unit_quaternions
from strategies import clips, random_rotations


def twin(skeleton, roots, local):
    """Forward kinematics one joint at a time in NumPy."""
    positions, world = np.empty((*local.shape[:-1], 3)), np.empty(local.shape)
    for j, parent in enumerate(skeleton.parents):
        if parent < 0:
            positions[..., j, :], world[..., j, :] = roots, local[..., j, :]
        else:
            above = world[..., parent, :]
            positions[..., j, :] = positions[..., parent, :] + rotations.rotate(above, skeleton.offsets[j])
            world[..., j, :] = rotations.multiply(above, local[..., j, :])
    return positions, world


@settings(max_examples=40, deadline=None)
@given(clips())
def test_kernel_agrees_with_its_twin(clip):
    positions, world = clip.joint_transforms()
    expected = twin(clip.skeleton, clip.root_positions, clip.rotations)
    np.testing.assert_allclose(positions, expected[0], atol=1e-12)
    np.testing.assert_allclose(world, expected[1], atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(clips())
def test_local_rotations_undo_forward_kinematics(clip):
    local = local_rotations(clip.skeleton, clip.joint_transforms()[1])
    np.testing.assert_allclose(rotations.angle_between(local, clip.rotations), 0.0, atol=1e-7)


def test_kernel_agrees_with_its_plain_python():
    skeleton, rng = person_skeleton(), np.random.default_rng(1)
    roots, local = rng.normal(size=(2, 3)), random_rotations(rng, 2, len(skeleton))
    out, plain = [(np.empty((2, len(skeleton), 3)), np.empty((2, len(skeleton), 4))) for _ in range(2)]
    kernel(skeleton.parents, skeleton.offsets, roots, local, *out)
    kernel.py_func(skeleton.parents, skeleton.offsets, roots, local, *plain)
    np.testing.assert_array_equal(out[0], plain[0])


@pytest.mark.parametrize("batch", [(), (7,), (3, 5), (2, 0)])
def test_over_characters_and_frames(batch):
    skeleton, rng = person_skeleton(), np.random.default_rng(2)
    roots, local = rng.normal(size=(*batch, 3)), random_rotations(rng, *batch, len(skeleton))
    positions, world = forward_kinematics(skeleton, roots, local)
    expected = twin(skeleton, roots, local)
    np.testing.assert_allclose(positions, expected[0], atol=1e-12)
    np.testing.assert_allclose(world, expected[1], atol=1e-12)


def test_bones_keep_their_length_and_a_turn_of_the_root_turns_everything():
    skeleton, rng = person_skeleton(), np.random.default_rng(3)
    local = random_rotations(rng, 4, len(skeleton))
    positions = forward_kinematics(skeleton, np.zeros((4, 3)), local)[0]
    bones = np.linalg.norm(positions[:, 1:] - positions[:, skeleton.parents[1:]], axis=-1)
    np.testing.assert_allclose(bones, np.broadcast_to(np.linalg.norm(skeleton.offsets[1:], axis=-1), bones.shape))
    turn = rotations.from_yaw(0.7)
    local[:, 0] = rotations.multiply(turn, local[:, 0])
    np.testing.assert_allclose(
        forward_kinematics(skeleton, np.zeros((4, 3)), local)[0], rotations.rotate(turn, positions), atol=1e-12
    )


def test_shapes_that_do_not_fit_are_refused():
    skeleton = person_skeleton()
    with pytest.raises(ClipError, match="25 joints"):
        forward_kinematics(skeleton, np.zeros((2, 3)), rotations.identity(2, 24))
    with pytest.raises(ClipError, match="expected"):
        forward_kinematics(skeleton, np.zeros((3, 3)), rotations.identity(2, 25))


def test_velocities():
    t = np.arange(10) / 20.0
    line = np.stack([2.0 * t, t**2, 0.0 * t], axis=-1)
    np.testing.assert_allclose(linear_velocities(line, 20.0)[:, 0], 2.0)
    np.testing.assert_allclose(linear_velocities(line, 20.0)[1:-1, 1], 2.0 * t[1:-1])
    np.testing.assert_array_equal(linear_velocities(line[:1], 20.0), np.zeros((1, 3)))
    spin = angular_velocities(rotations.from_yaw(3.0 * t), 20.0)
    np.testing.assert_allclose(spin, np.tile([0.0, 0.0, 3.0], (9, 1)), atol=1e-9)


def test_rotations_of_a_clip_are_made_unit_or_refused():
    q = random_rotations(np.random.default_rng(3), 6, 4) * np.random.default_rng(4).uniform(0.9995, 1.0005, (6, 4, 1))
    unit, plain = np.empty_like(q), np.empty_like(q)
    assert unit_quaternions(q, 1e-3, unit) == unit_quaternions.py_func(q, 1e-3, plain) == -1
    np.testing.assert_allclose(unit, rotations.normalize(q), atol=1e-15)
    np.testing.assert_allclose(plain, rotations.normalize(q), atol=1e-15)
    for wrong in (0.0, 1.002, np.nan, np.inf):
        bad = q.copy()
        bad[2, 3] *= wrong / np.linalg.norm(bad[2, 3])
        assert unit_quaternions(bad, 1e-3, unit) == 11
