"""Clips become rows of degrees of freedom and come back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.core.errors import SkeletonError, VariationError
from gaitway.motion.anatomy import PARTS, joint_parts
from gaitway.motion.clip import Clip
from gaitway.motion.editing import move
from gaitway.variation.network.dofs import Dofs, Mode, smooth_vectors
from variation_takes import make_takes, small_skeleton

MODES: tuple[Mode, ...] = ("exponential", "euler")


@pytest.mark.parametrize("mode", MODES)
def test_clips_come_back(mode: Mode) -> None:
    takes = [move(take, (3.0, -1.0, 0.7)) for take in make_takes()]
    dofs = Dofs.of(takes, mode)
    for take in takes:
        again = dofs.clip(dofs.rows(take), "again", start=take.planar_path()[0], contacts=take.contacts)
        assert rotations.angle_between(again.rotations, take.rotations).max() < 3e-3
        np.testing.assert_allclose(again.root_positions, take.root_positions, atol=2e-3)
        np.testing.assert_array_equal(again.contacts, take.contacts)


@pytest.mark.parametrize("mode", MODES)
def test_where_somebody_walks_plays_no_part(mode: Mode) -> None:
    takes = make_takes()
    dofs = Dofs.of(takes, mode)
    np.testing.assert_allclose(dofs.rows(move(takes[0], (5.0, 2.0, -2.0))), dofs.rows(takes[0]), atol=1e-9)


def test_joints_that_never_move_are_left_out_and_restored() -> None:
    takes = make_takes()
    dofs = Dofs.of(takes)
    assert not any(name.startswith("Antenna") for name in dofs.names)
    assert {"height", "LeftArm.y", "Spine.z"} <= set(dofs.names)
    rows = dofs.rows(takes[0]) + 0.05
    np.testing.assert_allclose(dofs.clip(rows, "changed").rotations[:, 6], takes[0].rotations[:, 6], atol=1e-9)


@pytest.mark.parametrize("mode", MODES)
def test_angles_that_pass_half_a_turn_go_on(mode: Mode) -> None:
    angle = np.linspace(0.0, 2.0 * np.pi, 60)
    vectors = np.zeros((60, 7, 3))
    vectors[:, 2, 2] = angle
    clip = Clip(small_skeleton(), np.zeros((60, 3)), rotations.from_rotation_vector(vectors), 30.0)
    dofs = Dofs.of([clip], mode)
    rows = dofs.rows(clip)
    assert np.abs(np.diff(rows, axis=0)).max() < 0.12  # a sixtieth of a turn a frame, and no jump
    assert np.ptp(rows, axis=0).max() == pytest.approx(2.0 * np.pi, rel=1e-3)
    again = dofs.clip(rows, "again")
    assert rotations.angle_between(again.rotations, clip.rotations).max() < 1e-6


@given(st.integers(0, 10_000))
def test_smooth_vectors_mean_the_same_rotations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    walk = np.cumsum(rng.normal(0.0, 0.3, (40, 2, 3)), axis=0)
    q = rotations.from_rotation_vector(walk)
    smooth = smooth_vectors(rotations.to_rotation_vector(q))
    assert rotations.angle_between(rotations.from_rotation_vector(smooth), q).max() < 1e-6


def test_parts_of_a_body() -> None:
    person = load_cast("person", behaviors=["wave"]).skeleton
    parts = joint_parts(person)
    for joint, part in (("Hips", "lower"), ("LeftToeBase", "lower"), ("Head", "trunk"), ("LeftHand", "left_arm")):
        assert PARTS[parts[person.index(joint)]] == part
    dofs = Dofs.of(make_takes())
    columns = dofs.columns(("left_arm", "Spine"))
    assert {name for name, kept in zip(dofs.names, columns, strict=True) if kept} == {
        "LeftArm.y", "LeftForeArm.z", "Spine.z",
    }  # fmt: skip
    with pytest.raises(SkeletonError, match="joint 'LeftLeg' not in skeleton"):
        dofs.columns(("LeftLeg",))


def test_unknown_modes() -> None:
    with pytest.raises(VariationError, match="there are 'exponential' and 'euler'"):
        Dofs.of(make_takes(), "matrix")  # type: ignore[arg-type]
