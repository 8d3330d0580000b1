"""Places to reach in, with targets that can be reached: an empty one, cubes, and a kitchen (Kallmann et al. 2003)."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray, read_only
from gaitway.limbs import _roadmap_kernels as kernels
from gaitway.limbs._stance_kernels import NUMBERS
from gaitway.limbs.roadmap import grip_mark
from gaitway.limbs.stance import Stander
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box
from gaitway.world.world import World

BOUNDS = (-5.0, -5.0, 5.0, 5.0)
_SPARE = 0.02
"""Gap that the posture of a target keeps [m]."""


def empty_place() -> World:
    """Return a place without things."""
    return World(BOUNDS)


def cubes() -> World:
    """Return a place with eight cubes around somebody at the origin who faces +X."""
    at = ((0.55, -0.35, 0.9), (0.6, 0.3, 1.2), (0.5, 0.0, 0.5), (0.1, -0.65, 1.3), (0.1, 0.65, 1.0), (0.7, -0.1, 1.5),
          (0.35, -0.55, 1.6), (0.4, 0.6, 0.6))  # fmt: skip
    boxes = (
        Obstacle(Box((x, y), (0.16, 0.16), 0.16, bottom=z), name=f"cube {n + 1}") for n, (x, y, z) in enumerate(at)
    )
    return World(BOUNDS, tuple(boxes))


def kitchen() -> World:
    """Return a kitchen around somebody at the origin who faces +X: worktop, cupboards, an open fridge."""
    rows = (
        ("worktop", (0.72, 0.25), (0.6, 1.0), 0.0, 0.88), ("pan", (0.6, 0.2), (0.2, 0.2), 0.88, 0.12),
        ("cupboard", (0.85, 0.25), (0.35, 1.0), 1.45, 0.7), ("board", (0.75, 0.25), (0.15, 0.9), 1.2, 0.02),
        ("fridge back", (0.95, -0.62), (0.05, 0.6), 0.0, 1.7), ("fridge left", (0.7, -0.33), (0.5, 0.04), 0.0, 1.7),
        ("fridge right", (0.7, -0.91), (0.5, 0.04), 0.0, 1.7), ("fridge top", (0.7, -0.62), (0.5, 0.6), 1.66, 0.04),
        ("shelf high", (0.75, -0.62), (0.4, 0.54), 1.3, 0.02), ("shelf low", (0.75, -0.62), (0.4, 0.54), 0.85, 0.02),
    )  # fmt: skip
    return World(
        BOUNDS,
        tuple(Obstacle(Box(at, size, tall, bottom=bottom), name=name) for name, at, size, bottom, tall in rows),
    )


def reachable_targets(stander: Stander, count: int, seed: int = 0, hand: str = "right") -> FloatArray:
    """Return places of the middle of a hand in drawn valid postures, at most `count`; (N, 3) [m]."""
    rng, found = np.random.default_rng(seed), list[FloatArray]()
    for _ in range(20):
        x = np.empty((20 * count, NUMBERS))
        kernels.draw_samples(stander.table, read_only(rng.random((len(x), kernels.DRAWS))), x)
        placed = stander.place(x, _SPARE)
        found.append(placed.marks[placed.valid, grip_mark(hand)])
        if sum(len(one) for one in found) >= count:
            break
    return np.concatenate(found)[:count]
