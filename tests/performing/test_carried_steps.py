"""Carried steps cover and touch what plain NumPy says they do."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import pytest

from gaitway.cast.catalog import load_cast
from gaitway.core import planar
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.library.behavior import Library
from gaitway.performing.arrival.footwork import Footworks, laid
from gaitway.performing.relaxing._carried_kernels import BODY, FLAT, LEG, PROBE, WRONG, wrapped
from gaitway.performing.relaxing.carried_steps import CarriedSteps, HeldTraffic
from gaitway.scene import scene_from_dict
from gaitway.scene.characters import LibraryRef
from gaitway.space.mover_sweep import Swept
from gaitway.space.prepared import planning_context
from gaitway.space.traffic import Traffic
from hand_plans import plan_of

WALK = ["start_walk", "walk_forward", "walk_left_45", "walk_forward", "stop_walk"]


@pytest.fixture(scope="module")
def libraries() -> Mapping[LibraryRef, Library]:
    return {LibraryRef(): load_cast("person", behaviors=["stand", "wait", *dict.fromkeys(WALK)])}


@pytest.fixture(scope="module")
def walk(libraries: Mapping[LibraryRef, Library]) -> tuple[CarriedSteps, FloatArray]:
    """A walk beside a wall and past somebody who stands there for a while, with its path."""
    scene = scene_from_dict({
        "gaitway": 1, "library": "person", "bounds": [-8, -8, 16, 8],
        "obstacles": [{"box": {"center": [2.5, -0.8], "size": [2, 0.4], "height": 2}, "name": "wall"}],
        "characters": [{"name": "ann", "start": [0, 0, 0], "goal": [9, 0]}],
    })  # fmt: skip
    prepared = planning_context(scene.world, libraries).prepared(scene.characters[0])
    traffic = Traffic(prepared.fields.kinds)
    traffic.add_standing(traffic.enroll("ben"), [[3.6, 0.9, 0.25], [3.8, 1.0, 0.2]], 2.0, 6.0)
    plan, footworks = plan_of(prepared.library, WALK), Footworks(prepared.library)
    works = [work for step in plan.steps if (work := footworks.of(step.behavior, step.clip)) is not None]
    carried = CarriedSteps(prepared, HeldTraffic(traffic), plan.steps, works)
    return carried, laid(works, [step.pose for step in plan.steps]).path


def plainly_swept(carried: CarriedSteps, path: FloatArray) -> Swept:
    """What the windows cover, by whole arrays."""
    discs, windows, rows = carried.prepared.discs, carried.windows, path[carried.rows.T]
    local, roots = np.moveaxis(carried.local, 1, 0)[..., :3], np.moveaxis(carried.local, 1, 0)[..., 3:]
    carry = planar.compose(rows, local)
    away = np.linalg.norm(planar.transform_points(carry[:1], roots[1:]) - rows[1:, :, :2], axis=-1)
    turned = np.abs(planar.wrap_angle(carry[1:, :, 2] - carry[0, :, 2]))
    slack = (away[:2] + turned[:2] * discs.window_bounds[windows]).max(axis=0)
    slack += np.minimum((away[2:] + LEG * turned[2:]).max(axis=0), BODY)
    parts = [discs.timed[discs.timed_starts[w] : discs.timed_starts[w + 1]] for w in windows.tolist()]
    placed = [
        np.column_stack([planar.transform_points(move, own[:, :2]), own[:, 2] + grown])
        for move, own, grown in zip(carry[0], parts, slack, strict=True)
    ]
    around = discs.window_around[windows]
    return Swept(
        np.column_stack([planar.transform_points(carry[0], around[:, :2]), around[:, 2] + slack]),
        np.concatenate(placed),
        np.concatenate([[0], np.cumsum([len(own) for own in parts])]),
        carried.slots,
        np.full(len(windows), -1),
    )


def plainly_touching(carried: CarriedSteps, path: FloatArray) -> BoolArray:
    """Whether windows touch anything, by whole arrays."""
    swept = plainly_swept(carried, path)
    near = carried.prepared.fields.clearance(swept.discs[:, :2]) < swept.discs[:, 2]
    return np.asarray(np.logical_or.reduceat(near, swept.starts[:-1]) | carried.traffic.meetings(swept)[0])


def plainly_away(carried: CarriedSteps, path: FloatArray, free: FloatArray) -> FloatArray:
    """The directions in which windows get away from what they touch, by whole arrays; (W, 2)."""
    swept, clearance = plainly_swept(carried, path), carried.prepared.fields.clearance
    depth = swept.discs[:, 2] - clearance(swept.discs[:, :2])
    worst = [a + int(np.argmax(depth[a:b])) for a, b in pairwise(swept.starts.tolist())]
    around = clearance(swept.discs[worst, None, :2] + PROBE * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]]))
    uphill = np.column_stack([around[:, 0] - around[:, 1], around[:, 2] - around[:, 3]]) / (2.0 * PROBE)
    meets, middles = carried.traffic.meetings(swept)
    here, there = path[carried.rows[:, 0], :2], free[carried.rows[:, 0], :2]
    normals = np.where((depth[worst] > 0.0)[:, None], uphill, np.where(meets[:, None], here - middles, 0.0))
    apart = there - here
    size, away = np.hypot(*normals.T), np.hypot(*apart.T)
    wrong = (size < FLAT) | (((normals * apart).sum(axis=1) < -WRONG * size * away) & (away > PROBE))
    chosen = np.where(wrong[:, None], apart, normals)
    return np.asarray(chosen / np.maximum(np.hypot(*chosen.T), 1e-9)[:, None])


def moved(path: FloatArray, rng: np.random.Generator) -> FloatArray:
    """The path, bent and moved a little."""
    wave = np.sin(np.linspace(0.0, rng.uniform(1.0, 6.0), len(path)))[:, None]
    return path + wave * rng.normal(0.0, [0.2, 0.3, 0.2]) + rng.normal(0.0, [0.2, 0.4, 0.1])


@pytest.mark.parametrize("seed", range(12))
def test_kernels_agree_with_whole_arrays(walk: tuple[CarriedSteps, FloatArray], seed: int) -> None:
    carried, path = walk
    rng = np.random.default_rng(seed)
    path = moved(path, rng)
    expected, got = plainly_swept(carried, path), carried.swept(path)
    assert np.allclose(got.around, expected.around, rtol=0.0, atol=1e-12)
    assert np.allclose(got.discs, expected.discs, rtol=0.0, atol=1e-12)
    assert (got.starts == expected.starts).all() and (got.slots == expected.slots).all()
    blocked = carried.blocked(path)
    assert (blocked == np.flatnonzero(plainly_touching(carried, path))).all()
    free, shifts = path + rng.normal(0.0, [0.3, 0.3, 0.0]), np.array([0.02, 0.1, 0.3])
    normals, needed = carried._needed(path, free, blocked, shifts)
    assert np.allclose(normals, plainly_away(carried, path, free)[blocked], rtol=0.0, atol=1e-12)
    for window, normal, far in zip(blocked.tolist(), normals, needed.tolist(), strict=True):
        aside = [*normal, 0.0]
        clear = [f for f in shifts.tolist() if not plainly_touching(carried, path + f * np.array(aside))[window]]
        assert clear[:1] == ([] if np.isnan(far) else [far])


@pytest.mark.parametrize("angle", [0.0, 3.0, -3.0, 3.2, -3.2, 9.0, -9.0, 20.0, -20.0, np.pi, -np.pi, 3 * np.pi, 1e3])
def test_wrapped_angles_have_the_bits_of_planar_ones(angle: float) -> None:
    assert wrapped(angle) == planar.wrap_angle(angle)


def test_a_walk_touches_the_wall_and_whoever_stands_there_only_then(walk: tuple[CarriedSteps, FloatArray]) -> None:
    carried, path = walk
    assert not len(carried.blocked(path + np.array([0.0, 4.0, 0.0])))
    by_wall, by_person = (
        carried.blocked(path + np.array([0.0, -0.6, 0.0])),
        carried.blocked(path + np.array([0.0, 0.6, 0.0])),
    )
    assert len(by_wall) > 0
    assert len(by_person) > 0
    there = carried.slots[by_person]
    assert (there[:, 1] > 20).all() and (there[:, 0] < 60).all(), "nobody stands there before 2 s or after 6 s"
