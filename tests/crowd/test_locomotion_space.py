"""The space of velocities: which gaits are blended where, and where they come from."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import pytest

from gaitway.cast.catalog import load_cast
from gaitway.core.errors import CrowdError
from gaitway.crowd.locomotion import LocomotionSpace, _feet_kernels, locomotion_space
from gaitway.crowd.locomotion.space import TURN_METRES, person_space
from gaitway.library.behavior import BehaviorGraph, Library


@pytest.fixture(scope="module")
def space() -> LocomotionSpace:
    return person_space(("neutral",))


def other_people(behaviors: Collection[str]) -> Library:
    """Return some behaviours of the person on a skeleton of its own, so that nobody knows whose they are."""
    person = load_cast("person")
    skeleton = replace(person.skeleton, name="somebody")
    chosen = tuple(b for b in person.graph.behaviors if b.name in behaviors)
    clips = {c: replace(person.clips[c], skeleton=skeleton) for b in chosen for c in b.clips}
    return Library("somebody", skeleton, clips, BehaviorGraph(chosen))


def inside(space: LocomotionSpace, count: int, seed: int = 3) -> np.ndarray:
    """Return random velocities within the hull; (count, 3)."""
    draws = np.random.default_rng(seed).uniform([-1.5, -1.0, -3.0], [3.5, 1.0, 3.0], (count, 3))
    return space.clamped(draws)[0]


def test_a_blend_of_cycles_has_the_velocity_that_was_asked_for(space: LocomotionSpace) -> None:
    table = dict(zip(space.names, space.velocities, strict=True))
    for velocity in inside(space, 60):
        weights = space.weights(velocity)
        assert len(weights) <= 4 and sum(weights.values()) == pytest.approx(1.0)
        assert sum(w * table[name] for name, w in weights.items()) == pytest.approx(velocity, abs=1e-6)


def test_the_kernel_finds_the_same_cycles_from_any_tetrahedron(space: LocomotionSpace) -> None:
    steps, corners = np.zeros((1, _feet_kernels.STEP_COLUMNS)), np.zeros((1, 4), dtype=np.int64)
    for velocity in inside(space, 25) * 0.999:
        wanted = space.weights(velocity)
        for cell in (0, len(space.simplices) // 2, len(space.simplices) - 1):
            found, beyond = _feet_kernels._located(
                cell, *velocity, space.simplices, space.neighbors, space.transforms, space.hull, 0, corners, steps
            )
            weights = steps[0, _feet_kernels.STEP_WEIGHTS : _feet_kernels.STEP_WEIGHTS + 4]
            got = {space.names[c]: w for c, w in zip(corners[0], weights, strict=True) if w > 1e-9}
            assert beyond == 1.0 and 0 <= found < len(space.simplices)
            assert got == pytest.approx(wanted, abs=1e-7)


def test_velocities_outside_are_scaled_down_to_the_hull_and_that_is_told(space: LocomotionSpace) -> None:
    asked = np.array([[9.0, 0.0, 0.0], [0.0, -4.0, 0.0], [0.0, 0.0, 20.0], [1.2, 0.0, 0.1]])
    held, factors = space.clamped(asked)
    assert (factors[:3] < 0.9).all() and factors[3] == 1.0
    assert held == pytest.approx(asked * factors[:, None])
    scaled = held * [1.0, 1.0, TURN_METRES]
    assert (scaled @ space.hull[:, :3].T <= space.hull[:, 3] + 1e-9).all()
    assert np.ptp(np.linalg.norm(space.clamped(held)[0] - held, axis=1)) < 1e-9


def test_the_person_has_slow_walks_steps_back_aside_and_on_the_spot(space: LocomotionSpace) -> None:
    forward, aside, turn = space.velocities.T
    straight = (np.abs(aside) < 0.1) & (np.abs(turn) < 0.1)
    for low, high in ((0.1, 0.2), (0.25, 0.45), (0.55, 0.8), (1.2, 1.5), (2.3, 3.2), (-0.5, -0.2), (-1.3, -0.7)):
        assert (straight & (forward > low) & (forward < high)).any(), (low, high)
    still = np.abs(forward) < 0.1
    for sign in (1.0, -1.0):
        assert (still & (sign * aside > 0.4)).any() and (still & (sign * turn > 2.0)).any()
    assert tuple(space.velocities[0]) == (0.0, 0.0, 0.0)


def test_strides_become_longer_and_quicker_with_speed_and_feet_overlap_when_slow(space: LocomotionSpace) -> None:
    walks = [i for i, n in enumerate(space.names) if n.endswith("m/s 0 rad/s") and 0.2 < space.velocities[i, 0] < 2.0]
    order = sorted(walks, key=lambda i: space.velocities[i, 0])
    rates = space.traits[0, order, 0]
    strides = space.velocities[order, 0] / rates
    assert (np.diff(rates) > 0.0).all() and (np.diff(strides) > 0.0).all()
    assert (space.traits[0, order, 1:3] > 0.5).all()


def test_a_library_of_the_person_keeps_its_style() -> None:
    found = locomotion_space(load_cast("person", style="style-3", behaviors=("stand", "walk_forward")))
    assert found.styles == ("style-3",)
    assert found is person_space(("style-3",))


def test_another_library_gets_what_it_lacks() -> None:
    found = locomotion_space(other_people(("stand", "walk_forward", "walk_left_45")))
    assert {"stand", "walk_forward", "walk_left_45"} <= set(found.names)
    held, factors = found.clamped(
        np.array([[0.3, 0.0, 0.0], [-0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, -0.5, 0.0], [0.0, 0.0, 1.5]])
    )
    assert (factors == 1.0).all() and np.isfinite(held).all()
    assert set(found.weights(np.array([0.65, 0.0, 0.0]))) & {"walk_forward"}


def test_the_generator_and_the_clip_give_nearly_the_same_walk(space: LocomotionSpace) -> None:
    clip = locomotion_space(other_people(("stand", "walk_forward")))
    i, j = clip.names.index("walk_forward"), space.names.index("1.37 m/s 0 rad/s")
    assert clip.velocities[i] == pytest.approx([1.35, 0.0, 0.0], abs=0.02)
    assert clip.traits[0, i, :9] == pytest.approx(space.traits[0, j, :9], abs=0.06)


def test_single_steps_of_captured_libraries_make_a_stride() -> None:
    whole = other_people(("stand", "walk_forward"))
    clip = whole.clips["walk_forward"]
    half = len(clip) // 2

    def part(name: str, rows: slice) -> object:
        return replace(
            clip, name=name, root_positions=clip.root_positions[rows], rotations=clip.rotations[rows],
            contacts=clip.contacts[rows],
        )  # fmt: skip

    walk = whole.graph["walk_forward"]
    steps = (
        replace(walk, name="step_l", clips=("step_l",), start="walk_left", end="walk_right"),
        replace(walk, name="step_r", clips=("step_r",), start="walk_right", end="walk_left"),
    )
    clips = {
        "stand": whole.clips["stand"],
        "step_l": part("step_l", slice(0, half + 1)),
        "step_r": part("step_r", slice(half, None)),
    }
    cut = Library("cut", whole.skeleton, clips, BehaviorGraph((whole.graph["stand"], *steps)))
    found, entire = locomotion_space(cut), locomotion_space(whole)
    i, j = found.names.index("step_l+step_r"), entire.names.index("walk_forward")
    assert found.velocities[i] == pytest.approx(entire.velocities[j], abs=0.01)
    assert found.traits[0, i] == pytest.approx(entire.traits[0, j], abs=0.02)


@pytest.mark.parametrize(
    ("library", "words"),
    [
        (lambda: "crowd", "write 'person'"),
        (lambda: load_cast("horse"), "only people walk along tracks"),
        (lambda: other_people(("walk_forward",)), "no clip to stand with"),
        (lambda: other_people(("stand", "jog_to_walk")), "no clip of a whole stride"),
    ],
)
def test_what_is_no_library_of_people_is_said(library: object, words: str) -> None:
    with pytest.raises(CrowdError, match=words):
        locomotion_space(library())  # type: ignore[operator]


def test_no_tetrahedron_is_flat_and_each_face_has_its_neighbour(space: LocomotionSpace) -> None:
    points = space.velocities * [1.0, 1.0, TURN_METRES]
    edges = points[space.simplices[:, :3]] - points[space.simplices[:, 3:]]
    assert np.abs(np.linalg.det(edges)).min() > 5e-4
    for cell, row in enumerate(space.neighbors):
        for corner, other in enumerate(row):
            if other >= 0:
                shared = set(np.delete(space.simplices[cell], corner))
                assert shared < set(space.simplices[other])
