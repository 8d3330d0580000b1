"""What is missing on a way that nobody can walk: the least step that would lead there."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import scipy

from gaitway.world.levels.mesh_floors import WALKER, mesh_surface
from gaitway.world.levels.spans import OpenSpans
from gaitway.world.world import World

_ANY_STEP, _ANY_SLOPE = 30.0, math.radians(60.0)
"""Highest step and steepest slope over which a way is looked for [m, rad]."""
_NEXT = 0.05
"""Steps that differ by less are one [m]."""


def least_step(
    world: World, start: npt.ArrayLike, goal: npt.ArrayLike
) -> tuple[float, tuple[float, float, float]] | None:
    """Return the least step that one must be able to take to get to a place of a walkable mesh, and where it is.

    Args:
        world: the place.
        start: x, y, z [m].
        goal: x, y, z [m].

    Returns:
        Height of the step [m], 0 if no step is in the way, and its place; None if no step up to 30 m leads there.
    """
    spans = mesh_surface(world, replace(WALKER, step=_ANY_STEP, slope=_ANY_SLOPE)).open
    first, last = spans.nearest(start), spans.nearest(goal)
    if first < 0 or last < 0:
        return None
    here = np.repeat(np.arange(len(spans)), 2)
    there = spans.links[:, :2].reshape(-1)
    here, there = here[there >= 0], there[there >= 0]
    rises = np.abs(spans.heights[here] - spans.heights[there])
    # connected with rises below a limit, for ever closer limits
    low, high = 0.0, _ANY_STEP
    if not _together(spans, here, there, first, last):
        return None
    while high - low > _NEXT:
        middle = 0.5 * (low + high)
        some = rises <= middle
        low, high = (low, middle) if _together(spans, here[some], there[some], first, last) else (middle, high)
    crossed = np.flatnonzero((rises > low) & (rises <= high))
    if high <= WALKER.step + _NEXT or not len(crossed):
        return 0.0, (0.0, 0.0, 0.0)
    # of the steps as high as that, the one nearest to the goal
    away = np.linalg.norm(spans.points(here[crossed]) - spans.points(last), axis=1)
    found = crossed[int(np.argmin(np.round(away, 6)))]
    lower = here[found] if spans.heights[here[found]] < spans.heights[there[found]] else there[found]
    x, y, z = (float(v) for v in spans.points(lower))
    return float(rises[found]), (x, y, z)


def _together(
    spans: OpenSpans, here: npt.NDArray[np.int64], there: npt.NDArray[np.int64], first: int, last: int
) -> bool:
    """Return whether two open spans are connected by links."""
    count = len(spans)
    graph = scipy.sparse.coo_array((np.ones(len(here), np.int8), (here, there)), shape=(count, count))
    _, labels = scipy.sparse.csgraph.connected_components(graph, directed=False)
    return bool(labels[first] == labels[last])
