"""Legs of people and animals, and chains of many joints that are led to a place."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.cast.horse.skeleton import horse_skeleton
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.cast.skateboarder.skeleton import skateboarder_skeleton
from gaitway.core import rotations
from gaitway.motion.ik import bend_chain
from gaitway.motion.legs import all_legs, chain_of, legs_of
from strategies import random_rotations


def test_feet_belong_to_legs_and_hands_do_not() -> None:
    skeleton = person_skeleton()
    legs = [leg for leg in legs_of(skeleton) if leg.human]
    assert [skeleton.names[leg.joints[1]] for leg in legs] == ["LeftLeg", "RightLeg"]
    for leg, side in zip(legs, ("left", "right"), strict=True):
        points = [skeleton.contact_points[c].name for c in leg.columns]
        assert points == [f"{side}_heel", f"{side}_ball", f"{side}_toe"]


def test_a_leg_on_a_board_counts_only_among_all() -> None:
    skeleton = skateboarder_skeleton()
    assert [skeleton.names[leg.joints[0]] for leg in legs_of(skeleton)] == ["RightUpLeg"]
    left = all_legs(skeleton)[-1]
    assert skeleton.names[left.joints[2]] == "LeftFoot" and left.columns == () and left.human


def test_the_chain_of_a_hoof_goes_up_to_where_the_leg_swings() -> None:
    skeleton = horse_skeleton()
    for leg in all_legs(skeleton):
        chain = chain_of(skeleton, leg)
        assert not leg.human and (chain[0], chain[-1]) == (leg.joints[0], leg.joints[2])
        assert all(skeleton.parents[below] == above for above, below in pairwise(chain))


def moved_end(points: np.ndarray, turns: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Where the end of a chain is when its joints have new world rotations; (F, 3)."""
    bones = np.diff(points, axis=1)
    local = rotations.rotate(rotations.conjugate(turns), bones)
    return points[:, 0] + rotations.rotate(new, local).sum(axis=1)


@given(st.integers(0, 1000), st.integers(3, 6))
@settings(max_examples=50, deadline=None)
def test_a_bent_chain_comes_to_what_is_near(seed: int, joints: int) -> None:
    rng = np.random.default_rng(seed)
    zigzag = np.column_stack([0.3 * (np.arange(joints + 1) % 2), np.zeros(joints + 1), -0.4 * np.arange(joints + 1)])
    points = np.repeat((zigzag + rng.uniform(-0.05, 0.05, zigzag.shape))[None], 4, axis=0)
    turns = random_rotations(rng, 4, joints)
    targets = points[:, -1] + rng.uniform(-0.04, 0.04, (4, 3))
    targets[0] = points[0, -1]
    new = bend_chain(points, turns, targets)
    np.testing.assert_allclose(moved_end(points, turns, new), targets, atol=1e-5)
    assert rotations.angle_between(new[0], turns[0]).max() < 1e-9
    assert rotations.angle_between(new, turns).max() < np.radians(20.0)


def test_a_chain_comes_as_near_as_it_can_to_what_is_too_far() -> None:
    points = np.array([[[0.0, 0.0, 0.0], [0.2, 0.0, -1.0], [0.0, 0.0, -2.0]]])
    new = bend_chain(points, rotations.identity(1, 2), np.array([[0.0, 0.0, -2.5]]), rounds=12)
    end = moved_end(points, rotations.identity(1, 2), new)[0]
    assert np.isfinite(new).all() and end[2] < -2.0
    assert np.linalg.norm(end) == pytest.approx(2.0 * np.hypot(0.2, 1.0), abs=0.05)
