"""A take of everybody in a place with everything, for tests of GLB files."""

from __future__ import annotations

from functools import cache

import numpy as np

from gaitway.cast.catalog import load_cast
from gaitway.take.model import Take
from gaitway.take.tracks import assemble, lay_track
from gaitway.world import PASSABLE, Box, Cylinder, Mover, MoverPhase, Obstacle, Polygon, Sphere, Stairs, Terrain, World


@cache
def everybody() -> Take:
    """Two people who do the same, one who comes late and ducks, a horse and a skateboarder."""
    person = load_cast("person", behaviors=["jump", "duck"])
    horse = load_cast("horse", behaviors=["gallop_forward"])
    skater = load_cast("skateboarder", behaviors=["glide_forward"])
    jump, duck = person.clips["jump"], person.clips["duck"]
    tracks = [
        lay_track("ada", [jump], (0.0, 0.0, 0.3)),
        lay_track("bob", [jump], (0.0, 3.0, 0.3)),
        lay_track("Cleo Späth", [duck], (2.0, -3.0, -0.5), start_time=0.7),
        lay_track("horse", [next(iter(horse.clips.values()))], (-4.0, 5.0, 1.0)),
        lay_track("skater", [next(iter(skater.clips.values()))], (5.0, 5.0, 2.0)),
    ]
    return assemble(tracks, fps=30.0)


def place() -> World:
    """Every kind of shape, hills, something that circles twice and something that falls."""
    x, y = np.meshgrid(np.arange(0.0, 31.0), np.arange(0.0, 25.0))
    hills = Terrain(0.1 * np.sin(0.7 * x) * np.cos(0.5 * y), 1.0, (-15.0, -12.0))
    circle = Mover.of(Sphere((0.5, 0.0), 0.4), [0.0, 3.0], [(8.0, 0.0, 0.0), (8.0, 2.0, 4.0 * np.pi)], name="ball")
    tree = Mover(
        (
            MoverPhase(0.0, Cylinder((0.0, 0.0), 0.2, 4.0), PASSABLE),
            MoverPhase(1.0, Box((2.0, 0.0), (4.0, 0.4), 0.4), "jump"),
        ),
        np.array([0.0]),
        np.array([(-8.0, -4.0, 0.7)]),
        "tree",
    )
    obstacles = (
        Obstacle(Box((12.0, 0.0), (0.3, 20.0), 2.5, 0.1)),
        Obstacle(Box((3.0, 3.0), (0.4, 2.0), 0.5), "jump", "fence"),
        Obstacle(Box((3.0, -3.0), (0.4, 2.0), 0.3, bottom=1.3), "duck", "beam"),
        Obstacle(Cylinder((-10.0, 0.0), 0.5, 2.0)),
        Obstacle(Stairs((-10.0, 5.0), 2.0, 5), "stairs"),
        Obstacle(Polygon(((-12.0, -8.0), (-8.0, -8.0), (-8.0, -5.0)), 1.0), color="#aa3311"),
    )
    return World((-15.0, -12.0, 15.0, 12.0), obstacles, (circle, tree), hills)
