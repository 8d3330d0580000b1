"""Places of a crowd that are large, steep, or move: ten thousand goals, slopes, and things that come along."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.crowd.dynamics.options import CrowdOptions
from gaitway.crowd.dynamics.simulation import CrowdSimulation
from gaitway.crowd.dynamics.walls import Walls
from gaitway.space.slopes import WALKED
from gaitway.world import Box, Cylinder, Obstacle, World
from gaitway.world.obstacle import WALL, Mover, MoverPhase
from gaitway.world.terrain import Terrain

BOUNDS = (0.0, 0.0, 16.0, 10.0)


def ridge(end: float) -> World:
    """A ridge of 1.5 m across a field, from its lower side to a y [m]; its sides rise by 45 degrees."""

    def height(points: np.ndarray) -> np.ndarray:
        across = np.clip(1.5 - abs(points[..., 0] - 8.0), 0.0, 1.5)
        return across * np.clip((end - points[..., 1]) / 1.5, 0.0, 1.0)

    return World(BOUNDS, terrain=Terrain.of(height, BOUNDS, 0.1))


def test_ground_that_is_too_steep_is_walked_around() -> None:
    world = ridge(6.0)
    crowd = CrowdSimulation(world, CrowdOptions(threads=1))
    crowd.add([[2.0, 2.0], [2.0, 3.5], [14.0, 2.0]], [[14.0, 2.5], [14.0, 4.0], [2.0, 2.0]])
    assert world.terrain is not None
    seen = []
    for _ in range(500):
        crowd.step(0.05)
        seen.append(crowd.positions)
    assert crowd.arrived.all()
    tracks = np.array(seen).reshape(-1, 2)
    beside = np.array([[0.2, 0.0], [0.0, 0.2]])
    rise = [abs(world.terrain.height(tracks + d) - world.terrain.height(tracks - d)) / 0.4 for d in beside]
    assert np.arctan(np.hypot(*rise)).max() < WALKED + np.radians(12.0)  # a body's width from the foot of the slope
    assert world.terrain.height(tracks).max() < 0.3


def test_nobody_gets_over_a_ridge_without_an_end_and_that_is_said() -> None:
    crowd = CrowdSimulation(ridge(30.0), CrowdOptions(threads=1))
    crowd.add([[2.0, 5.0]], (14.0, 5.0))
    assert crowd.unreachable.all()
    crowd.step(15.0)
    assert "no way to the goal" in crowd.stuck()[0].reason


def test_a_gentle_slope_is_no_wall() -> None:
    world = World(BOUNDS, terrain=Terrain.of(lambda points: 0.2 * points[..., 0], BOUNDS, 0.5))
    assert Walls.of(world).outlines == ()


def test_somebody_steps_aside_for_what_moves() -> None:
    cart = MoverPhase(0.0, Box((0.0, 0.0), (1.0, 1.0), 2.0), WALL)
    mover = Mover((cart,), np.array([0.0, 14.0]), np.array([[1.0, 5.0, 0.0], [15.0, 5.0, 0.0]]), "cart")
    crowd = CrowdSimulation(World(BOUNDS, movers=(mover,)), CrowdOptions(threads=1, at_goal="stand"))
    crowd.add([[6.0, 5.2], [14.0, 5.1], [9.0, 2.0]], [[6.0, 5.2], [2.0, 5.1], [9.0, 8.5]])
    least, gone = np.inf, 0.0
    for _ in range(300):
        crowd.step(0.05)
        away = abs(crowd.positions - mover.pose(crowd.time)[:2]) - 0.5
        least = min(least, float(np.hypot(*np.maximum(away, 0.0).T).min()))
        gone = max(gone, float(np.hypot(*(crowd.positions[0] - (6.0, 5.2)))))
    assert gone > 0.3  # who stood in the way was pushed aside
    assert least > 0.05
    assert crowd.arrived.all()


def test_a_wall_that_moves_while_people_walk_is_heeded_at_every_step() -> None:
    crowd = CrowdSimulation(World(BOUNDS), CrowdOptions(threads=1))
    crowd.add([[1.0, 4.5], [1.0, 5.5]], (15.0, 5.0))
    for k in range(40):
        wall = Obstacle(Box((8.0, 2.0 + 0.1 * k), (0.4, 4.0), 2.0))
        crowd.set_place(World(BOUNDS, (wall,)))
        crowd.step(0.5)
        assert crowd.wall_gaps()[crowd.present].min(initial=1.0) > -0.01
    assert crowd.arrived.all()


@pytest.mark.slow
def test_ten_thousand_goals_take_no_fields_and_get_nobody_lost() -> None:
    side = 130.0
    posts = tuple(Obstacle(Cylinder((x, y), 0.5, 2.0)) for x in np.arange(5.0, side, 10.0) for y in (20.0, 60.0, 100.0))
    crowd = CrowdSimulation(World((0.0, 0.0, side, side), posts), CrowdOptions(threads=1))
    k = np.arange(10_000)
    rng = np.random.default_rng(5)
    spots = np.column_stack([1.5 + 1.27 * (k // 100), 1.5 + 1.27 * (k % 100)])
    goals = np.clip(spots + rng.uniform(-8.0, 8.0, spots.shape), 1.0, side - 1.0)
    goals = np.where((crowd.walls.depths(goals) > 0.4)[:, None], goals, spots)
    spots = np.where((crowd.walls.depths(spots) > 0.4)[:, None], spots, goals)
    free = crowd.walls.depths(goals) > 0.3
    crowd.add(spots[free], goals[free])
    assert len(crowd.router._fields) == 0
    assert len(crowd) > 9_900
    assert not crowd.unreachable.any()
    crowd.step(4.0)
    assert np.isfinite(crowd.positions).all()
    depths = crowd.overlaps()
    assert (depths > 0.01).mean() < 0.002
    assert depths.max() < 0.05
    assert 0.05 < crowd.arrived.mean() < 1.0
    assert len(crowd.router._fields) == 0
