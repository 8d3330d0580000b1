"""Fragments are squeezed between solids, on the side on which they pass them, or say what is in the way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.cast.catalog import load_cast
from gaitway.deform._depth_kernels import capsule_depth, plan_distance
from gaitway.deform.constraints import Contact, Continuity, MotionLimits
from gaitway.deform.fragment import Fragment
from gaitway.deform.place import SqueezePlace
from gaitway.deform.squeezing import TOLERANCE, end_pin, squeeze
from gaitway.world.exact import distance
from gaitway.world.obstacle import Mover, Obstacle
from gaitway.world.shapes import Box, Cylinder, Polygon, Shape, Sphere
from gaitway.world.world import World

BOUNDS = (-9.0, -9.0, 9.0, 9.0)
START = Continuity((0.0, 0.0, 0.0))
LESS = MotionLimits(stretch=(0.5, 2.0), bend=50.0)


@pytest.fixture(scope="module")
def walk() -> Fragment:
    return Fragment.of(load_cast("person").clips["walk_forward"])


def place_of(*shapes: Shape) -> SqueezePlace:
    return SqueezePlace(World(BOUNDS, tuple(Obstacle(shape, name=f"solid {k}") for k, shape in enumerate(shapes))))


def gate(wide: float, aside: float) -> SqueezePlace:
    return place_of(*(Cylinder((0.9, aside + side * (0.5 * wide + 0.2)), 0.2, 1.4) for side in (-1, 1)))


SHAPES = (
    Cylinder((0.2, -0.1), 0.4, 1.0),
    Box((0.0, 0.1), (0.8, 0.3), 1.2, yaw=0.4),
    Polygon(((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.7, 0.2), (0.0, 0.4)), 1.0),
)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SHAPES), st.floats(-1.5, 1.5), st.floats(-1.5, 1.5))
def test_distances_in_the_plan_are_those_of_exact_geometry(shape, x, y) -> None:
    place = place_of(shape)
    away, nx, ny = plan_distance.py_func(place.solids, 0, x, y)
    assert away == pytest.approx(float(distance(place.world, (x, y))), abs=1e-6)
    out = distance(place.world, (x + nx * (1e-4 - away), y + ny * (1e-4 - away)))
    assert away > 0.0 or float(out) > -1e-6  # the way out leads out


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from((*SHAPES, Sphere((0.1, 0.0), 0.4, 0.2))),
    st.lists(st.floats(-0.9, 0.9), min_size=4, max_size=4),
    st.lists(st.floats(0.0, 1.6), min_size=2, max_size=2),
    st.floats(0.03, 0.2),
)
def test_depths_of_capsules_are_those_of_many_balls(shape, plan, heights, radius) -> None:
    place = place_of(shape)
    (ax, ay, bx, by), (az, bz) = plan, heights
    deep, _ = capsule_depth.py_func(place.solids, 0, ax, ay, az, bx, by, bz, radius, -9.0)
    t = np.linspace(0.0, 1.0, 400)
    x, y, z = ax + t * (bx - ax), ay + t * (by - ay), az + t * (bz - az)
    if isinstance(shape, Sphere):
        square = (shape.radius + radius) ** 2 - (z - shape.bottom - shape.radius) ** 2
        balls = np.where(square > 0.0, np.sqrt(np.maximum(square, 0.0)) - np.hypot(x - 0.1, y), -9.0)
    else:
        over = np.maximum(np.maximum(-z, z - shape.heights[1]), 0.0)
        wide = np.sqrt(np.maximum(radius**2 - over**2, 0.0))
        balls = np.where(over < radius, wide - distance(place.world, np.column_stack([x, y])), -9.0)
    best = float(balls.max())
    if best > 0.0 or deep > 0.0:
        assert deep == pytest.approx(best, abs=6e-3)


@pytest.mark.parametrize(("wide", "aside"), [(0.6, 0.2), (0.5, 0.1), (0.45, 0.1), (0.42, 0.0)])
def test_a_walk_fits_through_gates(walk, wide, aside) -> None:
    found = squeeze(walk, START, gate(wide, aside))
    assert found.fits, found.reason
    assert found.depth == 0.0
    assert walk.path is not None and walk.path.limits.within(found.stretch, found.bend)
    np.testing.assert_allclose(found.path[0], [0.0, 0.0, 0.0], atol=1e-9)


@pytest.mark.parametrize("shapes", [
    (Cylinder((0.9, -0.42), 0.2, 1.4), Cylinder((0.7, 0.5), 0.25, 2.0)),
    (Box((1.2, 0.75), (3.0, 0.6), 1.2, yaw=0.2), Sphere((0.8, -0.6), 0.35, 0.9)),
    (Polygon(((0.3, 0.4), (1.6, 0.35), (1.6, 1.0), (0.9, 0.5), (0.3, 1.0)), 1.0),),
])  # fmt: skip
@pytest.mark.parametrize("name", ["walk_forward", "start_walk", "step_left"])
def test_the_kernel_agrees_with_all_capsules_tested_one_by_one(name, shapes) -> None:
    fragment, place = Fragment.of(load_cast("person").clips[name]), place_of(*shapes)
    for deform in (False, True):
        found = squeeze(fragment, Continuity((0.1, -0.1, 0.15)), place, deform=deform)
        spin = np.exp(0.15j)
        whole, root = fragment.whole(found.points), fragment.rooted(found.points)
        turn = np.exp(1j * (root[:, 2] - fragment.root[:, 2]))
        seen = spin * (
            whole[:, None, None] + turn[:, None, None] * (fragment.capsules[..., 0] + 1j * fragment.capsules[..., 1])
        )
        seen += 0.1 - 0.1j
        deep = np.zeros(len(fragment.radii))
        for i, k, s in np.ndindex(len(fragment), len(fragment.radii), len(shapes)):
            (a, b), (az, bz) = seen[i, k], fragment.capsules[i, k, :, 2]
            ends = (a.real, a.imag, az, b.real, b.imag, bz)
            deep[k] = max(deep[k], capsule_depth.py_func(place.solids, s, *ends, fragment.radii[k], TOLERANCE)[0])
        core, arms = deep[: fragment.core].max(), deep[fragment.core :].max()
        assert found.depth == pytest.approx(core if core > TOLERANCE else 0.0, abs=1e-9)
        if core <= TOLERANCE:
            assert found.narrow == pytest.approx(arms if arms > TOLERANCE else 0.0, abs=1e-9)
        np.testing.assert_allclose(found.path[:, :2] @ [1, 1j], 0.1 - 0.1j + spin * (root[:, :2] @ [1, 1j]), atol=1e-9)
        np.testing.assert_allclose(found.path[:, 2], 0.15 + root[:, 2], atol=1e-9)


def test_a_gap_that_nobody_fits_names_what_is_in_the_way(walk) -> None:
    found = squeeze(walk, START, gate(0.2, 0.0))
    assert not found.fits and "solid" in found.reason and np.isfinite(found.path).all()


@settings(max_examples=40, deadline=None)
@given(x=st.floats(0.4, 1.2), y=st.floats(-0.5, 0.5), radius=st.floats(0.05, 0.3))
def test_what_fits_is_passed_on_the_side_of_the_path_and_not_touched(x, y, radius) -> None:
    walk = Fragment.of(load_cast("person").clips["walk_forward"])
    place = place_of(Cylinder((x, y), radius, 1.2))
    found = squeeze(walk, START, place, limits=LESS)
    if found.fits and abs(y) > 0.02:
        passed = found.path[np.argmin(np.abs(found.path[:, 0] - x))]
        assert np.sign(passed[1] - y) == np.sign(-y)
    again = squeeze(walk, START, place, limits=LESS, tolerance=TOLERANCE)
    np.testing.assert_array_equal(found.path, again.path)
    if found.fits:
        assert found.depth == 0.0


def test_moving_everything_moves_the_result(walk) -> None:
    turn, away = 0.7, np.array([2.0, -1.0])
    c, s = np.cos(turn), np.sin(turn)
    here = squeeze(walk, START, gate(0.45, 0.1))
    centers = [away + np.array([c * x - s * y, s * x + c * y]) for x, y in ((0.9, -0.325), (0.9, 0.525))]
    shapes = [Cylinder((float(x), float(y)), 0.2, 1.4) for x, y in centers]
    there = squeeze(walk, Continuity((*away.tolist(), turn)), place_of(*shapes))
    moved = away + here.path[:, :2] @ np.array([[c, s], [-s, c]])
    np.testing.assert_allclose(there.path[:, :2], moved, atol=1e-5)


def test_movers_are_met_at_their_time(walk) -> None:
    crossing = Mover.of(Cylinder((0.0, 0.0), 0.2, 1.5), [0.0, 2.0], [(0.9, -3.0, 0.0), (0.9, 3.0, 0.0)], name="cart")
    place = SqueezePlace(World(BOUNDS, (), (crossing,)))
    assert squeeze(walk, START, place, time=20.0).fits
    assert squeeze(walk, START, place, time=-5.0).rounds == 0
    met = squeeze(walk, START, place, time=0.45, deform=False)
    assert not met.fits and met.blocker == "cart"


def test_a_contact_pulls_a_foot_into_its_region(walk) -> None:
    clip = walk.clip
    ankle, frame = clip.skeleton.roles["left_ankle"], len(clip) - 2
    at = clip.joint_positions()[frame, ankle, :2] - clip.root_positions[0, :2]
    low, high = (at[0] - 1.0, at[1] + 0.06), (at[0] + 1.0, at[1] + 0.2)
    found = squeeze(walk, START, place_of(), contacts=[Contact(frame, ankle, low, high)])
    assert found.fits, found.reason
    away = clip.joint_positions()[frame, ankle, :2] - clip.root_positions[frame, :2]
    turn = found.path[frame, 2] - walk.root[frame, 2]
    foot = found.path[frame, :2] + np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]) @ away
    assert foot[1] == pytest.approx(low[1], abs=0.02)


def test_a_clip_that_stays_is_only_moved() -> None:
    stand = Fragment.of(load_cast("person").clips["stand"])
    assert stand.path is None
    assert squeeze(stand, START, place_of()).fits
    assert not squeeze(stand, START, place_of(Box((0.0, 0.0), (0.3, 0.3), 1.0))).fits


@pytest.mark.parametrize("name", ["walk_forward", "stop_walk"])
def test_the_end_of_a_fragment_is_pinned_at_a_pose_also_where_it_stands_in_the_end(name: str) -> None:
    fragment = Fragment.of(load_cast("person").clips[name])
    plain = squeeze(fragment, Continuity((1.0, 2.0, 0.7)), place_of())
    x, y, heading = plain.end
    goal = (x + 0.03, y - 0.05, heading + 0.1)
    pin = end_pin(fragment, (1.0, 2.0, 0.7), goal)
    assert pin is not None
    found = squeeze(fragment, Continuity((1.0, 2.0, 0.7)), place_of(), pins=(pin,), limits=LESS)
    assert found.fits, found.reason
    np.testing.assert_allclose(found.end, goal, atol=2e-3)


def test_contradictory_contacts_are_told(walk: Fragment) -> None:
    clip = walk.clip
    joint, frame = clip.skeleton.roles["left_ankle"], len(clip) - 2
    at = clip.joint_positions()[frame, joint, :2] - clip.root_positions[0, :2]
    apart = [Contact(frame, joint, (at[0] - 1.0, at[1] + y), (at[0] + 1.0, at[1] + y + 0.02)) for y in (0.1, -0.12)]
    found = squeeze(walk, START, place_of(), contacts=apart)
    assert not found.fits and "contradicts" in found.reason and np.isfinite(found.path).all()


def test_a_fragment_of_one_place_has_no_path_and_no_explosion() -> None:
    clip = load_cast("person").clips["stand"]
    short = replace(clip, root_positions=clip.root_positions[:2], rotations=clip.rotations[:2], contacts=None)
    found = squeeze(Fragment.of(short), START, place_of(Cylinder((0.0, 0.0), 0.2, 1.4)))
    assert not found.fits and found.blocker == "solid 0" and np.isfinite(found.path).all()


def test_something_that_moves_through_a_character_is_named(walk: Fragment) -> None:
    mover = Mover.of(Box((0.0, 0.0), (2.0, 0.4), 1.5), [0.0, 1.2], [(1.0, -2.0, 0.0), (1.0, 2.0, 0.0)], name="cart")
    found = squeeze(walk, START, SqueezePlace(World(BOUNDS, (), (mover,))))
    assert not found.fits and found.blocker == "cart" and np.isfinite(found.path).all()
