from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from figures import standing, walking
from gaitway.core import rotations
from gaitway.core.errors import SkeletonError
from gaitway.motion import RoleLimit, clamp, joint_limits, mirror, retarget, violations
from gaitway.motion.formats import load_clip
from gaitway.motion.limits import HUMAN_LIMITS, anatomical_angles
from shared_data import MOCAP, needs_mocap
from strategies import oblique, random_rotations


def bent(joint: str, axis, degrees: float):
    """A T-posing person with one joint turned."""
    clip = standing(1)
    local = rotations.identity(1, len(clip.skeleton))
    local[0, clip.skeleton.index(joint)] = rotations.from_axis_angle(axis, np.radians(degrees))
    return replace(clip, rotations=local)


def test_walking_and_standing_keep_all_limits():
    assert violations(standing(1)).max() == 0.0
    assert violations(walking(2.0)).max() == 0.0


@pytest.mark.parametrize(
    ("joint", "axis", "degrees", "over"),
    [
        ("LeftLeg", [0, 1, 0], 100, 0),  # a knee bends back
        ("LeftLeg", [0, 1, 0], -30, 22),  # and not forward
        ("RightLeg", [0, 1, 0], -30, 22),
        ("LeftLeg", [1, 0, 0], 30, 18),  # nor sideways
        ("LeftUpLeg", [0, 1, 0], -120, 0),  # a thigh goes up in front
        ("LeftUpLeg", [0, 1, 0], 80, 30),  # and not so far behind
        ("LeftUpLeg", [1, 0, 0], 80, 0),  # outward
        ("LeftUpLeg", [1, 0, 0], -80, 40),  # inward, through the other leg
        ("RightUpLeg", [1, 0, 0], -80, 0),
        ("RightUpLeg", [1, 0, 0], 80, 40),
        ("LeftForeArm", [0, 0, 1], -140, 0),  # an elbow closes forward
        ("LeftForeArm", [0, 0, 1], 40, 28),  # and not backward
        ("RightForeArm", [0, 0, 1], 140, 0),
        ("RightForeArm", [0, 0, 1], -40, 28),
        ("LeftArm", [1, 0, 0], -90, 0),  # arms hang
        ("RightArm", [1, 0, 0], 90, 0),
        ("Spine2", [0, 1, 0], 80, 0),  # a back bends forward
        ("Spine2", [0, 1, 0], -80, 40),  # less so backward
        ("LeftUpLeg", [0, 0, 1], 100, 10),  # twist: the bone's axis points down
    ],
)
def test_directions_mean_what_anatomy_says(joint, axis, degrees, over):
    clip = bent(joint, axis, degrees)
    found = violations(clip)
    assert found[0, clip.skeleton.index(joint)] == pytest.approx(over, abs=1e-6)
    assert np.delete(found[0], clip.skeleton.index(joint)).max() == pytest.approx(0.0, abs=1e-6)


def test_same_numbers_on_a_rig_with_other_axes():
    rng = np.random.default_rng(4)
    clip = standing(12)
    clip = replace(clip, rotations=rotations.multiply(clip.rotations, random_rotations(rng, 12, 25, spread=0.5)))
    other = retarget(clip, oblique(clip.skeleton))
    np.testing.assert_allclose(anatomical_angles(other), anatomical_angles(clip), atol=1e-6)


def test_mirror_images_violate_alike():
    rng = np.random.default_rng(5)
    clip = standing(12)
    clip = replace(clip, rotations=rotations.multiply(clip.rotations, random_rotations(rng, 12, 25, spread=0.6)))
    a, b = violations(clip), violations(mirror(clip))
    left, right = clip.skeleton.roles["left_hip"], clip.skeleton.roles["right_hip"]
    np.testing.assert_allclose(a[:, left], b[:, right], atol=1e-6)


def test_clamp_keeps_every_limit_and_touches_nothing_else():
    rng = np.random.default_rng(6)
    clip = standing(30)
    wild = replace(clip, rotations=rotations.multiply(clip.rotations, random_rotations(rng, 30, 25, spread=0.7)))
    assert violations(wild).max() > 20
    tame = clamp(wild)
    assert violations(tame).max() < 1e-5
    fine = walking(1.0)
    np.testing.assert_allclose(rotations.angle_between(clamp(fine).rotations, fine.rotations), 0.0, atol=1e-7)


def test_own_ranges_and_impossible_ones():
    stiff = HUMAN_LIMITS | {"left_knee": RoleLimit((0, 10), (-1, 1), (-1, 1))}
    clip = bent("LeftLeg", [0, 1, 0], 45)
    assert violations(clip, joint_limits(clip.skeleton, stiff)).max() == pytest.approx(35, abs=1e-6)
    with pytest.raises(SkeletonError, match="include 0"):
        joint_limits(clip.skeleton, {"knee": RoleLimit((10, 20), (-1, 1), (-1, 1))})


@pytest.mark.slow
@needs_mocap
def test_captured_people_keep_the_limits():
    """Apart from faults (flipped wrists, a knee solved backward) that are rarer than one frame in a hundred."""
    every = []
    for path in sorted(MOCAP.glob("bvh*/*.bvh"))[::4]:
        clip = load_clip(path)
        every.append(violations(clip)[:, sorted(clip.skeleton.roles.values())].ravel())
    over = np.concatenate(every)
    assert np.percentile(over, 99.0) == 0.0
    assert np.percentile(over, 99.9) < 10.0


@needs_mocap
@pytest.mark.parametrize("file", ["bvh/16_15.bvh", "bvh_accad/Female1_B03_Walk1.bvh", "bvh/35_01.bvh"])
def test_captured_walks_keep_the_limits(file):
    assert np.percentile(violations(load_clip(MOCAP / file)), 99.9) < 2.0
