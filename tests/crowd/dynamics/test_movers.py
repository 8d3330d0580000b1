"""People see where things go that move by themselves, and step aside."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.crowd.dynamics.movers import MoverWatch
from gaitway.crowd.dynamics.simulation import CrowdSimulation
from gaitway.crowd.throng.simulation import ThrongSimulation, throng_options
from gaitway.scene.scene import scene_from_dict
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
    watch.change_wishes(np.arange(2), places, wishes, 0.0, crowd._hash, np.ones(2, np.bool_))
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
    assert farthest < 0.6  # it did not run ahead of the cart
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
