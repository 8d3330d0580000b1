"""Companions of a group: who goes with whom, and starts beside one another."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.scene.placing.free_space import FreeSpace
from gaitway.scene.placing.placement import CharacterGroup, Placement

_RINGS = (0.95, 1.2, 1.6, 2.1)
"""Distances from the first companion at which the others start [m], the first that is free."""
_TURNS = np.radians([90.0, -90.0, 105.0, -105.0, 75.0, -75.0, 130.0, -130.0, 50.0, -50.0, 160.0, -160.0, 20.0, -20.0])
"""Directions in which they start, seen from the first one towards where they go [rad], the best first."""
_APART = 0.8
"""Least distance between starts of companions and of anybody else [m]."""


def companions_of(names: Sequence[str], number: int, size: int | None) -> tuple[str, ...]:
    """Return the names of all who go with a member of a group, its own among them; empty for somebody alone.

    Args:
        names: names of the group.
        number: number of the member.
        size: how many go together; None for everybody alone.
    """
    if size is None:
        return ()
    first = number - number % size
    together = tuple(names[first : first + size])
    return together if len(together) > 1 else ()


def gathered(group: CharacterGroup, placement: Placement, seen: FloatArray | None) -> FloatArray:
    """Return the starts of a group [m], companions beside the first of them; (N, 2).

    They are side by side as seen from where they go first. Who finds no room there starts where the placement says.

    Args:
        group: the group.
        placement: where everybody was placed.
        seen: where they go first [m]; (2,); None if that is not known.
    """
    starts = np.array(placement.starts[group.first], dtype=np.float64)
    size = group.item.companions
    if size is None:
        return starts
    space = FreeSpace(placement.world, placement.world.obstacles, group.radius)
    x0, y0, x1, y1 = placement.world.bounds
    others = [np.asarray(points)[:, :2] for first, points in placement.starts.items() if first != group.first]
    for number in range(len(starts)):
        first = number - number % size
        if number == first:
            continue
        taken = np.concatenate([np.delete(starts[:, :2], number, axis=0), *others])
        for ring in _RINGS:
            way = 0.0 if seen is None else math.atan2(seen[1] - starts[first, 1], seen[0] - starts[first, 0])
            angles = way + _TURNS
            points = starts[first, :2] + ring * np.column_stack([np.cos(angles), np.sin(angles)])
            away = np.hypot(*np.moveaxis(points[:, None] - taken[None], -1, 0)).min(axis=1)
            inside = (points > (x0 + group.radius, y0 + group.radius)).all(axis=1)
            inside &= (points < (x1 - group.radius, y1 - group.radius)).all(axis=1)
            good = np.flatnonzero((away >= _APART) & inside & space.free(points))
            if len(good):
                starts[number, :2] = points[good[0]]
                break
    return starts
