"""Feet and hands come to their places, smoothly, and nothing else moves more than it must."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import scipy

from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import VariationError
from gaitway.motion import Clip, clean_footskate, foot_slide, slice_frames
from gaitway.variation.sampling.constraints import (
    THESIS_OPTIONS,
    ConstraintOptions,
    constrained,
    freedoms,
)
from gaitway.variation.sampling.point_constraints import PointConstraint, contact_constraints, find_point


@pytest.fixture(scope="module")
def walk() -> Clip:
    library = load_cast("person", behaviors=["walk_forward"])
    return library.clips[library.graph["walk_forward"].clips[0]]


def shaken(clip: Clip, size: float = 0.03, seed: int = 0) -> Clip:
    """The clip with slow noise on every joint, so that its feet slide."""
    noise = np.random.default_rng(seed).normal(size=(len(clip), len(clip.skeleton), 3))
    noise = scipy.ndimage.gaussian_filter1d(noise, 4, axis=0)
    turn = rotations.from_rotation_vector(noise * size / noise.std())
    return replace(clip, rotations=rotations.normalize(rotations.multiply(clip.rotations, turn)))


def sudden(clip: Clip) -> float:
    """Greatest acceleration of a joint [m/s2]."""
    return float(np.linalg.norm(np.diff(clip.joint_positions(), 2, axis=0), axis=-1).max()) * clip.fps**2


def constraint_errors(clip: Clip, constraints: Sequence[PointConstraint]) -> FloatArray:
    """Return the distance of each point from its target, greatest over frames [m]; (number of constraints,)."""
    positions, world = clip.joint_transforms()
    out = []
    for constraint in constraints:
        joint, offset = find_point(clip.skeleton, constraint.point)
        part = slice(constraint.start, constraint.stop)
        at = positions[part, joint] + rotations.rotate(world[part, joint], offset)
        out.append(float(np.linalg.norm(at - constraint.positions, axis=-1).max()))
    return np.array(out)


def test_planted_feet_stay_and_nothing_jumps(walk: Clip) -> None:
    loose = shaken(walk)
    assert foot_slide(loose).max() > 0.05
    held = constrained(loose)
    assert foot_slide(held).max() < 5e-4
    assert held.contacts is not None and walk.contacts is not None and (held.contacts == walk.contacts).all()
    assert sudden(held) < 1.25 * sudden(loose)
    # what has no part in it does not move
    head = walk.skeleton.index("Head")
    assert np.allclose(held.rotations[:, head], loose.rotations[:, head], atol=1e-12)
    # as still as the closed form leaves them, which moves the root by filters instead
    assert foot_slide(held).max() < foot_slide(clean_footskate(loose)).max() + 5e-4


def test_knees_bend_about_their_own_axis(walk: Clip) -> None:
    loose, knee = shaken(walk), walk.skeleton.roles["left_knee"]
    moving = freedoms(walk, [walk.skeleton.roles["left_toe"]], root=False)
    assert sum(freedom.joint == knee for freedom in moving) == 1
    moving = freedoms(loose, [walk.skeleton.roles["left_toe"]], root=False)
    axes = [freedom.axis for freedom in moving if freedom.joint == knee]
    held = constrained(loose)
    change = rotations.to_rotation_vector(
        rotations.multiply(rotations.conjugate(loose.rotations[:, knee]), held.rotations[:, knee])
    )
    basis = np.array(axes)
    assert np.abs(change - change @ basis.T @ basis).max() < 1e-9
    assert np.abs(change).max() > 1e-3


def test_a_hand_reaches_its_place_and_held_frames_stay(walk: Clip) -> None:
    at = walk.joint_positions()[15, walk.skeleton.roles["left_wrist"]]
    place = PointConstraint("left_wrist", 12, 18, at + np.array([0.0, 0.0, 0.15]))
    options = ConstraintOptions(root=False, held=(2, 3))
    reached = constrained(walk, [place], options)
    assert constraint_errors(reached, [place]).max() < 1e-3
    assert rotations.angle_between(reached.rotations[:2], walk.rotations[:2]).max() < 1e-6
    assert rotations.angle_between(reached.rotations[-3:], walk.rotations[-3:]).max() < 1e-6
    assert np.array_equal(reached.root_positions, walk.root_positions)
    # it starts to move before the place counts, with no jump when it does
    away = np.linalg.norm(reached.joint_positions() - walk.joint_positions(), axis=-1).max(axis=1)
    assert 0.01 < away[10] < away[11] < away[12]


def test_out_of_reach_is_approached_not_refused(walk: Clip) -> None:
    far = PointConstraint("right_wrist", 10, 14, np.array([0.0, 0.0, 9.0]))
    near = constrained(walk, [far], ConstraintOptions(root=False))
    positions = near.joint_positions()[12]
    assert constraint_errors(near, [far])[0] < constraint_errors(walk, [far])[0] - 0.3
    elbow, wrist = (positions[walk.skeleton.roles[role]] for role in ("right_elbow", "right_wrist"))
    assert wrist[2] > elbow[2]


def test_the_least_change_is_that_of_a_general_solver(walk: Clip) -> None:
    """SciPy's SLSQP with the place as a constraint, on a few frames of one arm."""
    part = slice_frames(walk, 4, 9)
    joint, _ = find_point(walk.skeleton, "left_wrist")
    wanted = part.joint_positions()[2, joint] + np.array([0.05, 0.0, 0.08])
    place = PointConstraint("left_wrist", 2, 3, wanted)
    options = replace(THESIS_OPTIONS, smooth=20.0, of_change=True)
    moving = freedoms(part, [joint], root=False)
    weight = options.smooth * (part.fps / 60.0) ** 4

    def posed(flat: FloatArray) -> Clip:
        local = np.array(part.rotations)
        change, turns = flat.reshape(len(part), -1), dict[int, FloatArray]()
        for number, freedom in enumerate(moving):
            turns[freedom.joint] = turns.get(freedom.joint, 0.0) + change[:, number, None] * freedom.axis
        for at, turn in turns.items():
            local[:, at] = rotations.multiply(local[:, at], rotations.from_rotation_vector(turn))
        return replace(part, rotations=rotations.normalize(local))

    def cost(flat: FloatArray) -> float:
        change = flat.reshape(len(part), -1)
        return float((change**2).sum() + weight * (np.diff(change, 2, axis=0) ** 2).sum())

    def gap(flat: FloatArray) -> FloatArray:
        return np.asarray(posed(flat).joint_positions()[2, joint] - wanted)

    found = scipy.optimize.minimize(
        cost, np.zeros(len(part) * len(moving)), method="SLSQP", constraints={"type": "eq", "fun": gap},
        options={"ftol": 1e-12, "maxiter": 400},
    )  # fmt: skip
    assert found.success
    ours = constrained(part, [place], options)
    assert constraint_errors(ours, [place])[0] < 1e-5
    assert rotations.angle_between(ours.rotations, posed(found.x).rotations).max() < 2e-3


def test_the_thesis_smooths_the_motion_itself(walk: Clip) -> None:
    loose, places = shaken(walk), contact_constraints(shaken(walk))
    literal = constrained(loose, places, THESIS_OPTIONS)
    assert np.array_equal(literal.root_positions, loose.root_positions)
    assert constraint_errors(literal, places).max() < 2e-3
    ours = constrained(loose, places)
    assert sudden(ours) < sudden(literal)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda c: constrained(replace(c, contacts=None)), "has no contacts; find them first"),
        (lambda c: constrained(c, [PointConstraint("left_tail", 0, 3, np.zeros(3))]), "no point 'left_tail'"),
        (lambda c: constrained(c, [PointConstraint("left_heel", 0, 9999, np.zeros(3))]), "ends at frame 9999"),
        (lambda c: PointConstraint("left_heel", 5, 5, np.zeros(3)), "0 <= start < stop"),
        (lambda c: PointConstraint("left_heel", 0, 2, np.full(3, np.nan)), "not finite"),
        (lambda c: PointConstraint("left_heel", 0, 2, np.zeros((3, 3))), r"expected \(2, 3\)"),
        (lambda c: ConstraintOptions(near=0.0), "must be above 0"),
    ],
)
def test_bad_places_are_refused(walk: Clip, make: object, said: str) -> None:
    with pytest.raises(VariationError, match=said):
        make(walk)  # type: ignore[operator]


def test_no_places_change_nothing(walk: Clip) -> None:
    assert constrained(walk, []) is walk


def test_toes_that_do_not_bend_in_a_clip_do_not_roll_to_hold_a_foot() -> None:
    library = load_cast("person", behaviors=["stop_walk"])
    (stop,) = library.clips.values()
    loose, toe = shaken(stop), stop.skeleton.roles["right_toe"]
    rigid = np.array(loose.rotations)
    rigid[:, toe] = stop.rotations[:, toe].mean(axis=0) / np.linalg.norm(stop.rotations[:, toe].mean(axis=0))
    held = constrained(replace(loose, rotations=rigid))
    assert rotations.angle_between(held.rotations[:, toe], rigid[:, toe]).max() < 1e-9
    assert foot_slide(held).max() < 0.2 * foot_slide(loose).max()
