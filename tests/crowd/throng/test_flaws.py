"""Flaws of motion in planned throngs are found."""

from __future__ import annotations

import numpy as np

from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.crowd.locomotion.space import locomotion_space
from gaitway.crowd.throng.bodies import ThrongBodies
from gaitway.crowd.throng.flaws import FlawFinder


def test_a_leg_that_bends_too_far_and_one_that_jerks_are_found() -> None:
    bodies, frames = ThrongBodies(locomotion_space(load_cast("person"))), 6
    bodies.stand(np.arange(3), np.array([[0.0, 0.0], [3.0, 0.0], [6.0, 0.0]]), np.zeros(3), np.zeros(3, np.int64), 1)
    roots, turns = np.repeat(bodies.roots[None], frames, axis=0), np.repeat(bodies.turns[None], frames, axis=0)
    skeleton = bodies.space.rig.skeleton
    knee, ankle = skeleton.roles["left_knee"], skeleton.roles["right_ankle"]
    turns[:, 1, knee] = rotations.multiply(turns[:, 1, knee], rotations.from_rotation_vector(np.array([0.0, 0.0, 1.5])))
    turns[3, 2, ankle] = rotations.multiply(turns[3, 2, ankle], rotations.from_rotation_vector(np.array([0.6, 0, 0])))
    turns[4, 2, ankle] = rotations.multiply(turns[4, 2, ankle], rotations.from_rotation_vector(np.array([-0.6, 0, 0])))
    found = FlawFinder(skeleton, 30.0).flawed(roots, turns, frames, np.zeros(3, np.bool_))
    assert found.tolist() == [False, True, True]
