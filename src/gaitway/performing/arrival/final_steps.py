"""Final steps: a step or turn in place for a character that has stopped short of its goal."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from gaitway.core import planar
from gaitway.core.arrays import FloatArray
from gaitway.library.actions import path_length, stays
from gaitway.library.behavior import Library
from gaitway.library.standing import standing_behaviors
from gaitway.performing.arrival.footwork import Footworks
from gaitway.space.plan import Plan, PlanStep

TRIES = 12
"""Number of extended plans that are returned."""
_ARM = 0.6
"""Distance that counts as much as a turn of a radian [m]."""
_DEARER = 0.03
"""Distance from the goal that counts as much as another second [m]."""


def nearer(
    library: Library, plan: Plan, goal: tuple[float, float], heading: float | None, footworks: Footworks
) -> list[Plan]:
    """Return plans with one or two more steps that end at rest near a goal; the most promising ones, best first.

    Args:
        library: library of the clips in the plan.
        plan: plan that ends at rest.
        goal: wanted position at the end: x, y [m].
        heading: wanted heading at the end [rad]; None for about that of the plan.
        footworks: footwork of the library's clips; only that of clips that can be bent is added.
    """
    state = library.graph[plan.steps[-1].behavior].end if plan.steps else _first_state(library)
    ways = [] if state is None else _ways(library, state, footworks)
    if not ways:
        return []
    ends = np.array([planar.compose(plan.end_pose, move) for _, move, _ in ways])
    away = np.hypot(ends[:, 0] - goal[0], ends[:, 1] - goal[1])
    turn = np.abs(planar.wrap_angle(ends[:, 2] - (plan.end_pose[2] if heading is None else heading)))
    price = away + _ARM * turn + _DEARER * np.array([seconds for _, _, seconds in ways])
    return [_longer(library, plan, ways[k][0]) for k in np.argsort(price, kind="stable")[:TRIES]]


def _first_state(library: Library) -> str | None:
    names = standing_behaviors(library)
    return library.graph[names[0]].start if names else None


def _ways(library: Library, state: str, footworks: Footworks) -> list[tuple[tuple[str, ...], FloatArray, float]]:
    """Return one or two behaviours from a state back to it that move: names, planar move, and duration [s]."""
    graph = library.graph
    here = [b.name for b in graph.behaviors if b.start == state]
    there = [b.name for b in graph.behaviors if b.end == state]
    chains: list[tuple[str, ...]] = [(name,) for name in here if graph[name].end == state]
    chains += [pair for pair in product(here, there) if pair[1] in graph.followers(pair[0])]
    moves: dict[str, FloatArray | None] = {}
    for name in {*here, *there}:
        clip = library.clips[graph[name].clips[0]]
        work = None if stays(clip) else footworks.of(name, clip.name)
        moves[name] = None if work is None else work.path[-1]
    found: list[tuple[tuple[str, ...], FloatArray, float]] = []
    for chain in chains:
        parts = [move for name in chain if (move := moves[name]) is not None]
        if len(parts) == len(chain):
            seconds = sum(library.clips[graph[name].clips[0]].duration for name in chain)
            found.append((chain, parts[0] if len(parts) == 1 else planar.compose(parts[0], parts[1]), seconds))
    return found


def _longer(library: Library, plan: Plan, names: tuple[str, ...]) -> Plan:
    """Return the plan with behaviours appended."""
    pose, time, cost, steps = np.array(plan.end_pose), plan.end_time, plan.cost, list(plan.steps)
    for name in names:
        clip = library.clips[library.graph[name].clips[0]]
        x, y, heading = (float(v) for v in pose)
        steps.append(PlanStep(name, clip.name, (x, y, heading), time))
        path = clip.planar_path()
        pose, time = planar.compose(pose, planar.relative(path[0], path[-1])), time + clip.duration
        cost += library.graph[name].weight * path_length(clip)
    x, y, heading = (float(v) for v in pose)
    return replace(plan, steps=tuple(steps), end_pose=(x, y, heading), end_time=time, cost=cost)
