"""Steps on the spot: from one standing pose to another one, with feet that stay where they are planted."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.core.errors import SittingError
from gaitway.sitting.figure import figure_of, stand_of
from gaitway.sitting.stepping import step_aside

POSES = (
    ((0.3, 0.1, 0.4), (0.0, 0.0, 0.0)), ((0.2, -0.2, 3.0), (0.1, 0.1, -0.2)), ((-0.25, 0.0, 0.0), (0.0, 0.0, 0.0)),
    ((0.0, 0.4, 1.0), (0.0, 0.0, 1.0)), ((0.5, 0.5, -2.5), (0.0, -0.3, 2.5)), ((0.0, 0.0, 0.0), (0.0, 0.0, -1.6)),
)  # fmt: skip


@pytest.mark.parametrize(("start", "end"), POSES)
def test_steps_lead_from_pose_to_pose_on_planted_feet(
    start: tuple[float, float, float], end: tuple[float, float, float]
) -> None:
    person = load_cast("person")
    clip = step_aside(person, np.array(start), np.array(end), floor=0.3)
    assert clip is not None
    path, stand = clip.planar_path(), stand_of(person)
    for frame, pose in ((0, start), (-1, end)):
        assert path[frame, :2] == pytest.approx(pose[:2], abs=1e-6)
        assert abs(math.remainder(path[frame, 2] - pose[2], math.tau)) < 1e-6
        turned = rotations.multiply(rotations.conjugate(stand.rotations[0, 1:]), clip.rotations[frame, 1:])
        assert np.abs(rotations.to_rotation_vector(turned)).max() < 1e-6  # the standing pose of the library
    assert clip.root_positions[0, 2] == pytest.approx(figure_of(person).stand.root_positions[0, 2] + 0.3)
    positions, _ = clip.joint_transforms()
    assert clip.contacts is not None
    for side in ("left", "right"):
        column = next(k for k, p in enumerate(clip.skeleton.contact_points) if p.name == f"{side}_ball")
        down = clip.contacts[1:, column] & clip.contacts[:-1, column]
        ankle = positions[:, clip.skeleton.roles[f"{side}_ankle"]]
        assert np.linalg.norm(np.diff(ankle, axis=0), axis=1)[down].max(initial=0.0) < 1e-4
    assert (clip.contacts.any(axis=1)).all()  # nobody jumps
    turns = rotations.multiply(rotations.conjugate(clip.rotations[:-1]), clip.rotations[1:])
    assert np.degrees(np.linalg.norm(rotations.to_rotation_vector(turns), axis=-1)).max() < 25.0
    assert np.linalg.norm(np.diff(clip.root_positions, axis=0), axis=1)[[0, -1]].max() * clip.fps < 0.15  # from rest


def test_who_is_there_steps_nowhere_and_who_is_far_walks() -> None:
    person = load_cast("person")
    assert step_aside(person, np.zeros(3), np.array([0.0, 0.0, math.tau])) is None
    with pytest.raises(SittingError, match="walk there"):
        step_aside(person, np.zeros(3), np.array([1.5, 0.0, 0.0]))
    with pytest.raises(SittingError, match="cannot sit"):
        step_aside(load_cast("horse"), np.zeros(3), np.array([0.2, 0.0, 0.0]))
