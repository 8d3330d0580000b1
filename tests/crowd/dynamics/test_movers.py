"""People see where things go that move by themselves, and step aside."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.crowd.dynamics.movers import MoverWatch, MovingWalls
from gaitway.crowd.dynamics.simulation import CrowdSimulation
from gaitway.crowd.dynamics.walls import WallHash, Walls
from gaitway.crowd.throng.simulation import ThrongSimulation, throng_options
from gaitway.scene.scene import scene_from_dict
from gaitway.world.obstacle import Mover, Obstacle
from gaitway.world.shapes import Box, Cylinder
from gaitway.world.world import World


def _with_a_cart() -> World:
    """Return a square through which a cart comes along y = 5, towards smaller x, at 1 m/s."""
    return scene_from_dict(
        {
            "gaitway": 1,
            "bounds": [0, 0, 20, 10],
            "movers": [{"box": {"size": [1.5, 1.0], "height": 1.0}, "path": [[0, 15, 5, 0], [14, 1, 5, 0]]}],
            "characters": [{"name": "a", "start": [1, 1, 0], "goal": [2, 1]}],
        }
    ).world


def test_who_stands_in_the_way_of_a_cart_steps_aside_and_others_do_not() -> None:
    crowd = CrowdSimulation(_with_a_cart())
    places, wishes = np.array([[12.0, 5.1], [12.0, 8.0]]), np.zeros((2, 2))
    watch = MoverWatch(_with_a_cart(), 0.3)
    watch.change_wishes(np.arange(2), places, np.zeros((2, 2)), wishes, 0.0, crowd._hash, np.ones(2, np.bool_))
    assert abs(wishes[0, 1]) > 0.2
    assert not wishes[1].any()


@pytest.mark.parametrize("aside", [-0.4, -0.1, 0.0, 0.1, 0.4])
@pytest.mark.parametrize("facing", [0.0, np.pi, 0.5 * np.pi])
def test_who_stands_before_a_cart_goes_out_of_its_way_by_the_nearer_side(aside: float, facing: float) -> None:
    crowd = ThrongSimulation(_with_a_cart(), throng_options(threads=1), 1)
    here = np.array([[9.0, 5.0 + aside]])
    crowd.add(here, here, headings=[facing])
    nearest, farthest = np.inf, 0.0
    for _ in range(240):
        crowd.step(0.05)
        (x, y), cart = crowd.positions[0], 15.0 - crowd.time
        nearest = min(nearest, max(abs(x - cart) - 0.75, abs(y - 5.0) - 0.5))
        farthest = max(farthest, abs(x - 9.0))
    assert nearest > 0.24  # its shoulders are out of the cart
    assert farthest < 0.75  # it did not run ahead of the cart
    if aside:
        assert np.sign(crowd.positions[0, 1] - 5.0) == np.sign(aside)


def test_who_has_a_wall_beside_steps_aside_to_the_other_side() -> None:
    world = scene_from_dict(
        {
            "gaitway": 1,
            "bounds": [0, 0, 20, 10],
            "obstacles": [{"box": {"center": [9, 6.0], "size": [8, 0.4], "height": 2.0}}],
            "movers": [{"box": {"size": [1.5, 1.0], "height": 1.0}, "path": [[0, 15, 5, 0], [14, 1, 5, 0]]}],
            "characters": [{"name": "a", "start": [1, 1, 0], "goal": [2, 1]}],
        }
    ).world
    crowd = ThrongSimulation(world, throng_options(threads=1), 1)
    crowd.add([[9.0, 5.2]], [[9.0, 5.2]])
    nearest = np.inf
    for _ in range(240):
        crowd.step(0.05)
        (x, y), cart = crowd.positions[0], 15.0 - crowd.time
        nearest = min(nearest, max(abs(x - cart) - 0.75, abs(y - 5.0) - 0.5))
    assert nearest > 0.2


def test_edges_of_what_moves_know_how_fast_they_go() -> None:
    cart = Mover.of(Box((0.0, 0.0), (2.0, 1.0), height=1.0), [0.0, 2.0], [[3.0, 3.0, 0.0], [5.0, 3.0, 1.0]])
    lamp = Obstacle(Cylinder((8.0, 3.0), 0.2, 3.0))
    world = World((0.0, 0.0, 12.0, 6.0), (lamp,), movers=(cart,))
    standing = WallHash.of(Walls.of(world).segments(), world.bounds, 1.0)
    walls = MovingWalls(world, standing, 1.0)
    now, soon = walls.at(1.0), walls.at(1.01)
    assert now.velocities == pytest.approx(100.0 * (soon.edges - now.edges)[:, :2], abs=0.02)
    assert not now.velocities[: len(standing.edges)].any() and now.velocities[-4:].any(axis=1).all()
    alone = now.moving()
    assert alone is not None and set(alone.entries.tolist()) == set(range(len(now.edges) - 4, len(now.edges)))
    assert standing.moving() is None and walls.at(3.0).moving() is None  # it has come to rest


def test_who_walks_lets_a_ball_pass_that_comes_from_the_side() -> None:
    world = scene_from_dict(
        {
            "gaitway": 1,
            "bounds": [0, 0, 20, 12],
            "movers": [{"sphere": {"radius": 0.5}, "path": [[0, 16, 6], [8, 4, 6]]}],
            "characters": [{"name": "a", "start": [1, 1, 0], "goal": [2, 1]}],
        }
    ).world
    for start in np.arange(0.5, 3.0, 0.25):
        crowd = ThrongSimulation(world, throng_options(threads=1), 1)
        crowd.add([[10.0, start]], [[10.0, 11.0]], speeds=[1.4])
        nearest = np.inf
        for _ in range(240):
            crowd.step(0.05)
            nearest = min(nearest, float(np.hypot(*(crowd.positions[0] - (16.0 - 1.5 * min(crowd.time, 8.0), 6.0)))))
        assert crowd.arrived.all()
        assert nearest > 0.5 + 0.24, start
