"""The whole-body solver: laws that its answers obey."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.cast.curves import fill_smoothly
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.core import rotations
from gaitway.core.errors import SkeletonError
from gaitway.motion.clip import Clip
from gaitway.motion.skeleton import ContactPoint
from gaitway.motion.whole_body_ik import Stiffness, Targets, solve_poses


def standing(frames: int) -> tuple[np.ndarray, np.ndarray]:
    return np.tile([0.0, 0.0, 1.0], (frames, 1)), rotations.identity(frames, len(person_skeleton()))


def points(*names: str) -> tuple[ContactPoint, ...]:
    by_name = {p.name: p for p in person_skeleton().contact_points}
    return tuple(by_name[n] for n in names)


def places(root: np.ndarray, local: np.ndarray, wanted: tuple[ContactPoint, ...]) -> np.ndarray:
    skeleton = person_skeleton()
    columns = [skeleton.contact_points.index(p) for p in wanted]
    return Clip(skeleton, root, local, 30.0).contact_positions()[:, columns]


EVEN = Stiffness.of(person_skeleton(), {"_End": (1e6, 1e6, 1e6)}, (1.0, 1.0, 1.0))


@pytest.mark.parametrize("in_turn", [False, True])
def test_points_reach_their_targets(in_turn: bool) -> None:
    root, local = standing(30)
    held = points("left_hand", "right_hand", "left_ball", "right_ball", "left_heel", "right_heel")
    goal = places(root, local, held)
    goal[:, 0] += np.linspace(0.0, 1.0, 30)[:, None] * [0.2, -0.3, -0.3]
    goal[:, 1] += np.linspace(0.0, 1.0, 30)[:, None] * [0.1, 0.3, -0.2]
    solved = solve_poses(person_skeleton(), root, local, Targets(held, goal, np.ones((30, 6))), EVEN, in_turn=in_turn)
    np.testing.assert_allclose(places(*solved, held), goal, atol=2e-3)  # straight arms are slow to begin to bend


def test_a_motion_that_meets_its_targets_is_left_alone() -> None:
    root, local = standing(3)
    held = points("left_ball", "right_ball")
    solved = solve_poses(
        person_skeleton(), root, local, Targets(held, places(root, local, held), np.ones((3, 2))), EVEN
    )
    np.testing.assert_allclose(solved[0], root, atol=1e-9)
    assert rotations.angle_between(solved[1], local).max() < 1e-9


def test_free_points_pull_nothing() -> None:
    root, local = standing(2)
    held = points("left_hand")
    away = places(root, local, held) + 0.5
    solved = solve_poses(person_skeleton(), root, local, Targets(held, away, np.zeros((2, 1))), EVEN)
    np.testing.assert_allclose(solved[0], root, atol=1e-12)


def test_sunken_points_come_up() -> None:
    root, local = standing(2)
    root[:, 2] -= 0.05
    sole = points("left_ball", "right_ball", "left_heel", "right_heel")
    none = Targets((), np.zeros((2, 0, 3)), np.zeros((2, 0)), sole)
    solved = solve_poses(person_skeleton(), root, local, none, EVEN)
    assert places(*solved, sole)[..., 2].min() > -0.002


def test_stiff_joints_turn_less() -> None:
    root, local = standing(1)
    held = points("left_hand")
    goal = places(root, local, held) + np.array([0.25, -0.1, 0.1])
    elbow = person_skeleton().index("LeftForeArm")
    turned = []
    for stiff in (1.0, 100.0):
        stiffness = Stiffness.of(person_skeleton(), {"ForeArm": (stiff,) * 3}, (1e4, 1e4, 1e4))
        _, q = solve_poses(person_skeleton(), root, local, Targets(held, goal, np.ones((1, 1))), stiffness)
        turned.append(float(rotations.angle_between(q[0, elbow], local[0, elbow])))
    assert turned[1] < 0.3 * turned[0]


def test_wrong_shapes_are_refused() -> None:
    root, local = standing(2)
    with pytest.raises(SkeletonError, match=r"expected \(2, 1, 3\)"):
        solve_poses(
            person_skeleton(), root, local, Targets(points("left_hand"), np.zeros((3, 1, 3)), np.ones((3, 1))), EVEN
        )


def test_filled_curve_keeps_what_is_known_and_finds_a_parabola() -> None:
    t = np.linspace(-1.0, 1.0, 41)
    curve = 3.0 - 2.0 * t + 4.0 * t**2  # no jerk at all, so it is the answer
    known = (np.arange(41) < 10) | (np.arange(41) > 30)
    filled = fill_smoothly(np.where(known, curve, 99.0), known)
    np.testing.assert_allclose(filled, curve, atol=1e-6)
    drawn = fill_smoothly(np.where(known, curve, 99.0), known, [(20, 1.0, 100.0)])
    assert abs(drawn[20] - 1.0) < abs(filled[20] - 1.0)
    np.testing.assert_array_equal(drawn[known], curve[known])


def test_round_parts_keep_their_height() -> None:
    root, local = standing(2)
    root[:, 2] -= 0.05
    sole = points("left_ball", "right_ball")
    none = Targets((), np.zeros((2, 0, 3)), np.zeros((2, 0)), sole, (0.03, 0.01))
    height = places(*solve_poses(person_skeleton(), root, local, none, EVEN), sole)[..., 2]
    assert height[:, 0].min() > 0.028
    assert height[:, 1].min() > 0.008
    with pytest.raises(SkeletonError, match="2 points of the floor have 1 heights"):
        solve_poses(person_skeleton(), root, local, Targets((), none.places, none.weights, sole, (0.0,)), EVEN)
