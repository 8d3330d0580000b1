"""Whole-body posing: the kernel against plain NumPy, and what it is for."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.cast.person.skeleton import person_skeleton
from gaitway.core import rotations
from gaitway.core.errors import SkeletonError
from gaitway.motion.kinematics import forward_kinematics
from gaitway.motion.whole_body_ik import Stiffness, Targets, solve_poses

FIRM, FLOOR = 1e5, 1e4


def plain_step(
    given: tuple[np.ndarray, np.ndarray],
    now: tuple[np.ndarray, np.ndarray],
    targets: Targets,
    stiffness: Stiffness,
    pressed: set[int],
) -> tuple[np.ndarray, np.ndarray]:
    """One Gauss-Newton step of one frame with the whole matrix: unknowns are the root's shift and a turn a joint.

    `pressed` are the points that the floor pushes up, before and (changed in place) after the step.
    """
    skeleton = person_skeleton()
    place, turn = now
    positions, world = forward_kinematics(skeleton, place, turn)
    joints = len(skeleton)
    axes = rotations.to_matrix(world)
    away = rotations.to_rotation_vector(rotations.multiply(rotations.conjugate(given[1]), turn))
    hessian, gradient = np.zeros((3 + 3 * joints, 3 + 3 * joints)), np.zeros(3 + 3 * joints)
    hessian[range(3), range(3)] = stiffness.root
    gradient[:3] = stiffness.root * (place - given[0])
    for j in range(joints):
        at = slice(3 + 3 * j, 6 + 3 * j)
        hessian[at, at] = axes[j] @ np.diag(stiffness.joints[j]) @ axes[j].T
        gradient[at] = axes[j] @ (stiffness.joints[j] * away[j])
    floored: dict[int, tuple[float, np.ndarray]] = {}
    for k, point in enumerate((*targets.points, *targets.floor)):
        here = positions[point.joint] + axes[point.joint] @ np.array(point.offset)
        slope = np.zeros((3, 3 + 3 * joints))
        slope[:, :3] = np.eye(3)
        joint = point.joint
        while joint >= 0:
            slope[:, 3 + 3 * joint : 6 + 3 * joint] = np.cross(np.eye(3), here - positions[joint]).T
            joint = int(skeleton.parents[joint])
        held = k < len(targets.points)
        on_floor = here[2] < 0.0 or k in pressed
        weight = FIRM * targets.weights[0, k] * np.ones(3) if held else FLOOR * np.array([0, 0, float(on_floor)])
        if not held and on_floor:
            floored[k] = (here[2], slope[2])
        error = here - targets.places[0, k] if held else here
        hessian += slope.T @ (weight[:, None] * slope)
        gradient += slope.T @ (weight * error)
    change = -np.linalg.solve(hessian, gradient)
    pressed.clear()
    pressed.update(k for k, (height, slope) in floored.items() if height + slope @ change < 0.0)
    vectors = change[3:].reshape(joints, 3)
    vectors = vectors * np.minimum(1.0, 0.5 / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9))
    own = np.einsum("jki,jk->ji", axes, vectors)
    return place + change[:3], rotations.multiply(turn, rotations.from_rotation_vector(own))


def problem(frames: int, seed: int) -> tuple[np.ndarray, np.ndarray, Targets, Stiffness]:
    """A person whose feet and one hand are drawn somewhere near, with the floor in the way."""
    rng = np.random.default_rng(seed)
    skeleton = person_skeleton()
    root = np.tile([0.0, 0.0, 0.9], (frames, 1)) + 0.02 * rng.normal(size=(frames, 3))
    local = rotations.from_rotation_vector(0.15 * rng.normal(size=(frames, len(skeleton), 3)))
    names = ("left_ball", "right_ball", "left_hand")
    points = tuple(p for p in skeleton.contact_points if p.name in names)
    places = np.array([[0.1, 0.1, 0.0], [-0.1, -0.1, 0.0], [0.4, 0.3, 0.8]]) + 0.03 * rng.normal(size=(frames, 3, 3))
    places[..., 2] = np.abs(places[..., 2])
    weights = np.ones((frames, 3))
    weights[:, 2] = np.linspace(0.0, 1.0, frames)
    stiffness = Stiffness.of(skeleton, {"Spine": (3.0, 3.0, 3.0), "Leg": (4.0, 1.0, 4.0)}, (4.0, 4.0, 2.0))
    return root, local, Targets(points, places, weights, skeleton.contact_points), stiffness


@pytest.mark.parametrize("in_turn", [False, True])
def test_kernel_agrees_with_plain_steps(in_turn: bool) -> None:
    root, local, targets, stiffness = problem(4, 1)
    iterations = 5
    got_root, got_local = solve_poses(
        person_skeleton(), root, local, targets, stiffness, iterations=iterations, in_turn=in_turn
    )
    before = (root[0], local[0])
    for f in range(len(root)):
        part = Targets(targets.points, targets.places[f : f + 1], targets.weights[f : f + 1], targets.floor)
        follows = in_turn and f > 0
        now = before if follows else (root[f], local[f])
        pressed: set[int] = set()
        for _ in range((iterations + 1) // 2 if follows else iterations):
            now = plain_step((root[f], local[f]), now, part, stiffness, pressed)
        before = now
        np.testing.assert_allclose(got_root[f], now[0], atol=1e-9)
        assert rotations.angle_between(got_local[f], now[1]).max() < 1e-8


def test_points_reach_their_places_and_nothing_sinks() -> None:
    root, local, targets, stiffness = problem(6, 2)
    skeleton = person_skeleton()
    place, turn = solve_poses(skeleton, root, local, targets, stiffness, iterations=25)
    positions, world = forward_kinematics(skeleton, place, turn)
    for k, point in enumerate(targets.points[:2]):
        here = positions[:, point.joint] + rotations.rotate(world[:, point.joint], np.array(point.offset))
        assert np.linalg.norm(here - targets.places[:, k], axis=1).max() < 0.005
    lowest = [
        (positions[:, p.joint] + rotations.rotate(world[:, p.joint], np.array(p.offset)))[:, 2].min()
        for p in skeleton.contact_points
    ]
    assert min(lowest) > -0.02


def test_nothing_held_changes_nothing() -> None:
    root, local, targets, stiffness = problem(3, 3)
    free = Targets((), np.empty((3, 0, 3)), np.empty((3, 0)))
    place, turn = solve_poses(person_skeleton(), root, local, free, stiffness)
    np.testing.assert_allclose(place, root, atol=1e-12)
    assert rotations.angle_between(turn, local).max() < 1e-8
    del targets


def test_wrong_shape() -> None:
    root, local, targets, stiffness = problem(3, 3)
    with pytest.raises(SkeletonError, match=r"target places have shape \(3, 3, 3\), expected \(2, 3, 3\)"):
        solve_poses(person_skeleton(), root[:2], local[:2], targets, stiffness)
