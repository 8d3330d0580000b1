"""What cannot be done on steep ground is not planned there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gaitway.cast.catalog import load_cast
from gaitway.core.arrays import FloatArray
from gaitway.planning import plan_scene
from gaitway.scene import scene_from_dict
from gaitway.space.fields import WorldFields
from gaitway.space.slopes import fit_for, steepest_for, steepness
from gaitway.world.grid import GridSpec
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.terrain import Terrain
from gaitway.world.world import World

BOUNDS = (0.0, 0.0, 20.0, 10.0)


def world(function: Callable[[FloatArray], FloatArray], obstacles: tuple[Obstacle, ...] = ()) -> World:
    return World(BOUNDS, obstacles, terrain=Terrain.of(function, BOUNDS, 0.1))


def ramp(degrees: float, obstacles: tuple[Obstacle, ...] = ()) -> World:
    return world(lambda p: np.tan(np.radians(degrees)) * p[..., 0], obstacles)


def step(height: float) -> World:
    return world(lambda p: height * (p[..., 0] > 10.0))


def test_slopes_are_measured_over_a_stride_and_high_steps_are_upright() -> None:
    spec = GridSpec.covering(BOUNDS, 0.05)
    even = np.degrees(steepness(ramp(12.0).terrain, spec))[50:-50, 50:-50]
    np.testing.assert_allclose(even, 12.0, atol=0.1)
    low, high = (np.degrees(steepness(step(height).terrain, spec)).max() for height in (0.15, 0.3))
    assert 5.0 < low < 18.0 and high == 90.0
    assert not steepness(None, spec).any()


def test_nobody_crawls_on_slopes_or_jogs_over_steps() -> None:
    person = load_cast("person")
    assert fit_for(person, World(BOUNDS)) is person
    gentle, steep = (set(fit_for(person, ramp(degrees)).graph.states) for degrees in (8.0, 17.0))
    steps = set(fit_for(person, world(lambda p: 0.1 * np.floor(p[..., 0] / 2.0))).graph.states)
    assert "jog" in gentle and "crawl" not in gentle
    assert "walk" in steep and not {"jog", "crawl", "back"} & steep
    assert "walk" in steps and "jog" not in steps


@pytest.mark.parametrize(("degrees", "free"), [(12.0, True), (25.0, False)])
def test_steep_ground_is_a_wall(degrees: float, free: bool) -> None:
    person = load_cast("person", behaviors=["stand"])
    fields = WorldFields.of(ramp(degrees), max_slope=steepest_for(person))
    assert bool(fields.clearance([10.0, 5.0]) > 1.0) == free


def test_obstacles_are_passed_on_gentle_ground_only() -> None:
    fence = Obstacle(Box((10.0, 5.0), (0.2, 10.0), 0.3), "jump")
    for degrees, free in ((5.0, True), (12.0, False)):
        fields = WorldFields.of(ramp(degrees, (fence,)), max_slope=float(np.radians(18.0)))
        assert bool(fields.clearance([10.0, 5.0], "jump") > 0.5) == free


@pytest.mark.slow
def test_stairs_that_nobody_climbs_are_walls_with_a_reason() -> None:
    scene = scene_from_dict({
        "gaitway": 1, "bounds": [0, 0, 20, 6],
        "specials": [{"stairs": {"center": [10, 3], "width": 6, "steps": 6}}],
        "characters": [{"name": "ann", "start": [2, 3], "goal": [18, 3]}],
    })  # fmt: skip
    planned = plan_scene(scene)
    assert "no behaviour passes a stairs" in planned.failed["ann"].reason


@pytest.mark.parametrize(("cast", "degrees"), [("person", 18.0), ("horse", 14.0), ("skateboarder", 14.0)])
def test_wheels_and_four_legs_go_up_gentler_slopes_than_two(cast: str, degrees: float) -> None:
    assert np.degrees(steepest_for(load_cast(cast))) == pytest.approx(degrees)
