"""Bent clips of captured people: knees within their limits, and no joint that snaps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip
from gaitway.performing.relaxing.bent_well import bent_well

WALK = load_cast("person", behaviors=["walk_forward", "stand"]).clips["walk_forward"]
KNEE = WALK.skeleton.roles["left_knee"]


def turned(joint: int, axis: FloatArray, degrees: FloatArray) -> Clip:
    own = np.array(WALK.rotations)
    own[:, joint] = rotations.multiply(own[:, joint], rotations.from_axis_angle(axis, np.radians(degrees)))
    return replace(WALK, rotations=own)


def test_a_clip_is_as_good_as_itself_wherever_it_goes() -> None:
    assert bent_well([WALK, WALK], [WALK, turned(0, np.array([0.0, 0.0, 1.0]), np.linspace(0.0, 40.0, len(WALK)))])


def test_a_knee_that_bends_sideways_is_refused() -> None:
    swing = 8.0 * np.sin(np.linspace(0.0, np.pi, len(WALK)))
    assert not bent_well([WALK], [turned(KNEE, np.array([1.0, 0.0, 0.0]), swing)])


def test_a_fault_of_the_source_is_not_that_of_the_bend() -> None:
    fault = turned(KNEE, np.array([1.0, 0.0, 0.0]), 8.0 * np.sin(np.linspace(0.0, np.pi, len(WALK))))
    assert bent_well([fault], [fault])


def test_a_knee_that_snaps_is_refused() -> None:
    flexion = np.zeros(len(WALK))
    flexion[15:] = 9.0
    axis = next(a for a in np.eye(3) if bent_well([WALK], [turned(KNEE, a, np.full(len(WALK), 1.0))]))
    assert not bent_well([WALK], [turned(KNEE, axis, flexion)])
