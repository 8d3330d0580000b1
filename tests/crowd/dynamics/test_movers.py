"""People see where things go that move by themselves, and step aside."""

from __future__ import annotations

import numpy as np

from gaitway.crowd.dynamics.movers import MoverWatch
from gaitway.crowd.dynamics.simulation import CrowdSimulation
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
    watch.change_wishes(np.arange(2), places, wishes, 0.0, crowd._hash)
    assert abs(wishes[0, 1]) > 0.2
    assert not wishes[1].any()
