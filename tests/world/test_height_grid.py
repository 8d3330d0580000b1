"""Height grids against dense sampling of the terrain and of what stands on it."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.world import Box, Cylinder, GridSpec, HeightGrid, Obstacle, Sphere, Stairs, Terrain, World


def samples(spec: GridSpec, each: int = 9) -> np.ndarray:
    """Points within every cell; (rows, columns, each * each, 2)."""
    steps = np.linspace(-0.5, 0.5, each) * spec.cell * (1.0 - 1e-9)
    return spec.all_centers()[:, :, None] + np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)


@settings(max_examples=20)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.2, 0.5, 1.0, 2.5]),
    st.tuples(st.floats(-3.0, 3.0), st.floats(-3.0, 3.0)),
)
def test_lowest_highest_and_steepest_are_exact(seed: int, cell: float, origin: tuple[float, float]):
    terrain = Terrain(np.random.default_rng(seed).uniform(0.0, 1.0, (4, 5)), 0.7, origin)
    spec = GridSpec((-1.0, -1.0), cell, (6, 5))
    grid = HeightGrid.of(terrain, spec)
    points = samples(spec, 33)
    heights, slopes = terrain.height(points), terrain.slopes(points)
    np.testing.assert_allclose(grid.center, terrain.height(spec.all_centers()))
    assert (grid.lowest <= heights.min(axis=-1) + 1e-9).all()
    assert (grid.highest >= heights.max(axis=-1) - 1e-9).all()
    assert (grid.slope >= slopes.max(axis=-1) - 1e-6).all()
    near = 2.0 * 0.5 * cell / 32.0 * np.tan(grid.slope) + 1e-6  # a sample is no further off, along x and along y
    np.testing.assert_array_less(heights.min(axis=-1) - grid.lowest, near)
    np.testing.assert_array_less(grid.highest - heights.max(axis=-1), near)


def test_a_plane():
    x = np.arange(6)[None, :] * np.ones((6, 1))
    grid = HeightGrid.of(Terrain(0.5 * x, 1.0), GridSpec((0.0, 0.0), 0.5, (10, 10)))
    np.testing.assert_allclose(grid.slope, np.arctan(0.5))
    np.testing.assert_allclose(grid.lowest[3], 0.25 * np.arange(10), atol=1e-12)
    np.testing.assert_allclose(grid.highest[3], 0.25 * np.arange(1, 11), atol=1e-12)


def test_level_ground():
    grid = HeightGrid.of(None, GridSpec((0.0, 0.0), 0.5, (3, 4)))
    assert not grid.center.any() and not grid.slope.any()
    assert grid.center.shape == (3, 4)
    assert not grid.lowest.flags.writeable


def test_standing_on_things():
    things = (
        Obstacle(Box((2.0, 2.0), (1.3, 0.9), 0.6, yaw=0.3), "box"),
        Obstacle(Cylinder((4.5, 2.0), 0.7, 1.2), "climb"),
        Obstacle(Stairs((4.0, 4.5), 1.5, 6), "stairs"),
        Obstacle(Sphere((1.0, 4.5), 0.5), "climb"),
    )
    terrain = Terrain.hills((0.0, 0.0, 6.0, 6.0), 0.3, 3.0, seed=1)
    spec = GridSpec((0.0, 0.0), 0.2, (30, 30))
    grid = HeightGrid.of(terrain, spec, things)
    world = World((0.0, 0.0, 6.0, 6.0), things, terrain=terrain)
    heights = world.standing_height(samples(spec))
    np.testing.assert_allclose(grid.center, world.standing_height(spec.all_centers()))
    assert (grid.lowest <= heights.min(axis=-1) + 1e-9).all()
    assert (grid.highest >= heights.max(axis=-1) - 1e-9).all()
    assert grid.lowest[10, 10] == 0.6 and grid.lowest[10, 22] == 1.2
