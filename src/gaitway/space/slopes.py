"""How steep the ground may be for each motion.

Motions are made for a level floor and put onto the ground afterwards. Up to the slopes below, joints stay within their
limits, without pops or slides (measured with the audit). A planner must not use motions on steeper ground.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import FloatArray
from gaitway.library.behavior import Library
from gaitway.world.grid import GridSpec
from gaitway.world.terrain import Terrain
from gaitway.world.world import World

WALKED = np.radians(18.0)
"""Steepest ground for two legs [rad]."""
RIDDEN = np.radians(14.0)
"""Steepest ground for four legs or wheels [rad]."""
_PASSED, _PASSED_LOW = np.radians(9.0), np.radians(1.0)
"""The steepest ground on which obstacles are jumped over, ducked under and the like, and on which they are crawled
under [rad]."""
_STATES = {"crawl": 1.0, "jog": 15.5, "back": 13.0, "side_left": 9.0, "side_right": 9.0}
"""Steepest slope of a world in which a state may occur [degrees]; other states are limited as walking is."""
_STRIDE = 0.8
"""Length over which slopes are measured [m]; a low step in it is no slope."""
_STEP, _FOOT = 0.2, 0.3
"""A rise of more than the first value within the second one is a wall, however level the ground is around it [m]."""
_LOW_STEP = 0.03
"""Height of steps above which characters walk instead of jogging [m]."""
_CELL, _CELLS = 0.1, 1e6
"""Cell size [m], or number of cells of a large world, for finding the steepest ground."""


def steepness(terrain: Terrain | None, spec: GridSpec) -> FloatArray:
    """Return how steep the ground is for walking [rad]; (rows, columns). A high step counts as vertical."""
    return _felt(terrain, spec, _STEP)


def _felt(terrain: Terrain | None, spec: GridSpec, step: float) -> FloatArray:
    """Return slopes over the length of a stride [rad]; vertical where the ground rises by more than a step at once."""
    if terrain is None:
        return np.zeros(spec.shape)
    heights = terrain.height(spec.all_centers())
    smooth = scipy.ndimage.uniform_filter(heights, _odd(_STRIDE / spec.cell), mode="nearest")
    slope = np.arctan(np.hypot(*np.gradient(smooth, spec.cell)))
    short, long = _odd(_FOOT / spec.cell), _odd(_STRIDE / spec.cell)
    at_once, all_of_it = (
        scipy.ndimage.maximum_filter(heights, window) - scipy.ndimage.minimum_filter(heights, window)
        for window in (short, long)
    )
    share = min(short / long, 0.5)  # on an even slope, of what the ground rises in a stride
    return np.where(at_once - share * all_of_it > (1.0 - share) * step, 0.5 * np.pi, slope)


def steepest_passed(kind: str) -> float:
    """Return the steepest ground on which an obstacle of a kind is passed [rad]."""
    return float(_PASSED_LOW if kind == "crawl" else _PASSED)


def steepest_for(library: Library) -> float:
    """Return the steepest ground for the body of a library [rad]."""
    roles, points = library.skeleton.roles, library.skeleton.contact_points
    return float(WALKED if {"left_knee", "right_knee"} <= set(roles) and not any(p.rolls for p in points) else RIDDEN)


def fit_for(library: Library, world: World) -> Library:
    """Return the library without behaviours that cannot be used everywhere in a world that is not level."""
    if world.terrain is None:
        return library
    x0, y0, x1, y1 = world.bounds
    cell = max(_CELL, float(np.sqrt((x1 - x0) * (y1 - y0) / _CELLS)))
    spec = GridSpec.covering(world.bounds, cell)
    walked = steepness(world.terrain, spec) <= steepest_for(library)
    here = np.degrees(_felt(world.terrain, spec, _LOW_STEP)[walked].max(initial=0.0))
    closed = {state for state, most in _STATES.items() if here > most}
    kept = tuple(b for b in library.graph.behaviors if not {b.start, b.end} & closed)
    return replace(library, graph=replace(library.graph, behaviors=kept))


def _odd(cells: float) -> int:
    """Return the odd number of cells that is nearest to a length."""
    return 2 * round(0.5 * (cells - 1.0)) + 1 if cells > 1.0 else 1
