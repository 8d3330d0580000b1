"""Characters follow the ground: feet rest on it, nothing slides, pops or sinks in."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.audit import audit_take
from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.library.behavior import Library
from gaitway.motion.legs import legs_of
from gaitway.performing.synthesis import Performer, plans_to_take
from gaitway.performing.terrain.ground import LAYER
from gaitway.scene import load_scene
from gaitway.take.model import Take
from gaitway.world.terrain import Terrain
from gaitway.world.world import World
from hand_plans import plan_of

WALK = ["start_walk", "walk_forward", "walk_left_30", "walk_forward", "stop_walk"]
JOG = ["start_jog", "jog_forward", "jog_forward", "stop_jog"]
BOUNDS = (-30.0, -30.0, 30.0, 30.0)
ROWS = ("under_ground", "skate", "skate_found", "height", "continuity", "limits")


@pytest.fixture(scope="module")
def person() -> Library:
    return load_cast("person", behaviors=["stand", "wait", *WALK, *JOG])


def slope(degrees: float) -> World:
    """Ground that rises toward +X."""
    rise = np.tan(np.radians(degrees))
    return World(BOUNDS, terrain=Terrain.of(lambda p: rise * p[..., 0], BOUNDS, 0.5))


def across(library: Library, behaviors: list[str], headings: list[float]) -> list[Performer]:
    """One for each heading [degrees], through the middle."""
    out = []
    for degrees in headings:
        h = float(np.radians(degrees))
        start = (float(-5.0 * np.cos(h)), float(-5.0 * np.sin(h)), h)
        out.append(Performer(f"{behaviors[1]} {degrees:g}", library, start, plan_of(library, behaviors, start)))
    return out


def assert_audited(take: Take, world: World) -> None:
    report = audit_take(take, world)
    for row in ROWS:
        assert report[row].ok, report[row].cells()


@pytest.mark.parametrize("degrees", [6.0, 15.0])
def test_walkers_on_slopes_pass_the_audit(person: Library, degrees: float) -> None:
    world = slope(degrees)
    take = plans_to_take(world, across(person, WALK, [0.0, 70.0, 180.0]))
    assert [layer.name for layer in take.layers] == [LAYER] * 3
    assert_audited(take, world)


def test_toes_of_a_short_step_on_a_slope_do_not_snap() -> None:
    """They bend farther on a slope before the push-off, and come back no faster than on a level floor."""
    steps = ["start_walk", *["walk_forward"] * 3, "walk_short", "stop_walk"]
    library, world = load_cast("person", behaviors=["stand", "wait", *dict.fromkeys(steps)]), slope(12.0)
    level = plans_to_take(World(BOUNDS), across(library, steps, [0.0]))
    take = plans_to_take(world, across(library, steps, [0.0, 70.0, 180.0]))
    assert_audited(take, world)
    toes = [library.skeleton.require(f"{side}_toe")[0] for side in ("left", "right")]
    for c in range(len(take)):
        assert sudden(take, c, toes) < 1.02 * sudden(level, 0, toes)


def sudden(take: Take, character: int, joints: list[int]) -> float:
    """Return the greatest change of the turn of some joints from frame to frame [rad]."""
    own = take.clip(character, 30.0).rotations[:, joints]
    turns = rotations.to_rotation_vector(rotations.multiply(rotations.conjugate(own[:-1]), own[1:]))
    return float(np.linalg.norm(np.diff(turns, axis=0), axis=-1).max())


def test_joggers_on_slopes_pass_the_audit(person: Library) -> None:
    world = slope(10.0)
    assert_audited(plans_to_take(world, across(person, JOG, [0.0, 120.0, 180.0])), world)


def test_walkers_step_up_and_down_terraces(person: Library) -> None:
    """Feet land on the treads: none of the points that rest lies on a riser, and the audit finds nothing."""

    def terraces(points: FloatArray) -> FloatArray:
        return np.asarray(0.12 * np.floor(points[..., 0] / 1.5))

    world = World(BOUNDS, terrain=Terrain.of(terraces, BOUNDS, 0.1))
    take = plans_to_take(world, across(person, WALK, [0.0, 50.0, 180.0]))
    assert_audited(take, world)
    for c in range(len(take)):
        clip = take.clip(c)
        assert clip.contacts is not None
        resting = clip.contact_positions()[clip.contacts]
        assert np.abs(resting[:, 2] - 0.12 * np.round(resting[:, 2] / 0.12)).max() < 0.015


def test_walkers_on_bumps_pass_the_audit(person: Library) -> None:
    heights = 0.04 * np.random.default_rng(0).random((241, 241))
    world = World(BOUNDS, terrain=Terrain(heights, 0.25, BOUNDS[:2]))
    assert_audited(plans_to_take(world, across(person, WALK, [0.0, 70.0])), world)


def test_uphill_heels_rise_and_bodies_do_not_crouch(person: Library) -> None:
    world = slope(15.0)
    level, up = (plans_to_take(w, across(person, JOG, [0.0])).clip(0) for w in (World(BOUNDS), world))
    sunk = level.root_positions[:, 2] + world.ground(up.root_positions[:, :2]) - up.root_positions[:, 2]
    assert sunk.max() < 0.2


def test_walkers_across_the_hills_pass_the_audit(person: Library) -> None:
    scene = load_scene("hills")
    world = World(scene.world.bounds, terrain=scene.world.terrain)
    crowd = [
        Performer(c.name, person, c.start, plan_of(person, WALK if k % 2 else JOG, c.start))
        for k, c in enumerate(scene.characters)
        if 8.0 < c.start[1] < 28.0
    ]
    assert len(crowd) >= 4
    assert_audited(plans_to_take(world, crowd), world)


@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 10_000), height=st.floats(0.2, 3.0), heading=st.floats(-180.0, 180.0))
def test_walkers_on_random_hills_pass_the_audit(person: Library, seed: int, height: float, heading: float) -> None:
    world = World(BOUNDS, terrain=Terrain.hills(BOUNDS, height, 20.0, seed))
    assert_audited(plans_to_take(world, across(person, WALK, [heading])), world)


def test_without_following_they_would_float_and_sink(person: Library) -> None:
    world = slope(6.0)
    take = plans_to_take(World(BOUNDS), across(person, WALK, [0.0]))
    assert take.layers == ()
    report = audit_take(take, world)
    assert not report["height"].ok
    assert not report["under_ground"].ok


def test_the_plan_is_kept_and_the_root_rides_on_the_ground(person: Library) -> None:
    world, flat = slope(10.0), World(BOUNDS)
    crowd = across(person, WALK, [0.0, 90.0])
    take, level = plans_to_take(world, crowd), plans_to_take(flat, crowd)
    times = np.linspace(0.0, take.duration, 50)
    np.testing.assert_allclose(take.planar(times), level.planar(times), atol=1e-5)
    for c in range(2):
        a, b = level.clip(c).root_positions, take.clip(c).root_positions
        over = b[:, 2] - a[:, 2] - world.ground(b[:, :2])
        assert -0.12 < over.min() <= over.max() < 0.02


def test_trunks_lean_into_the_slope(person: Library) -> None:
    up, down = (plans_to_take(slope(12.0), across(person, WALK, [h])).clip(0) for h in (0.0, 180.0))
    flat = plans_to_take(World(BOUNDS), across(person, WALK, [0.0])).clip(0)
    hips, head = person.skeleton.require("hips", "head")

    def lean(clip_index: int) -> float:
        clip = (up, down, flat)[clip_index]
        line = (clip.joint_positions()[:, head] - clip.joint_positions()[:, hips])[60:120].mean(axis=0)
        return float(line[0] if clip_index != 1 else -line[0])

    assert lean(0) > lean(2) + 0.02
    assert lean(1) < lean(2) - 0.02


@pytest.mark.parametrize(
    ("cast", "behaviors"),
    [
        ("horse", ["start_gallop", "gallop_forward", "gallop_left_20", "stop_gallop"]),
        ("skateboarder", ["start", "push", "glide_left_25", "stop"]),
    ],
)
def test_horses_and_boards_follow_the_ground(cast: str, behaviors: list[str]) -> None:
    library = load_cast(cast)
    for world in (slope(8.0), World(BOUNDS, terrain=Terrain.hills(BOUNDS, 2.0, 18.0, 4))):
        assert_audited(plans_to_take(world, across(library, behaviors, [0.0, 100.0, 180.0])), world)


def test_the_legs_of_a_horse_begin_below_its_shoulders() -> None:
    skeleton = load_cast("horse", behaviors=["stand"]).skeleton
    legs = legs_of(skeleton)
    assert [skeleton.names[leg.joints[0]] for leg in legs] == [
        "LeftHindFemur", "RightHindFemur", "LeftForeHumerus", "RightForeHumerus",
    ]  # fmt: skip
    assert all(skeleton.names[leg.joints[2]].endswith("Hoof") for leg in legs)


def test_the_last_moment_is_on_the_ground_too(person: Library) -> None:
    world = slope(10.0)
    plan = plan_of(person, WALK)
    take = plans_to_take(world, [Performer("ann", person, (0.0, 0.0, 0.0), plan)], hold_until=plan.end_time + 0.517)
    last = [take.poses(take.duration - back)[0].root_positions[0, 2] for back in (0.1, 0.03, 0.01, 0.0)]
    assert all(abs(a - b) < 0.01 for a, b in pairwise(last))
