"""Warnings about scenes that can be loaded but are probably mistakes.

Obstacles outside the bounds, goals that several characters share, special obstacles that no behaviour can pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gaitway.library.reach import reaches
from gaitway.scene.characters import LibraryRef
from gaitway.scene.placing.free_space import Discs
from gaitway.scene.placing.placement import CharacterGroup
from gaitway.scene.problem import Problem, shown
from gaitway.scene.reading.documents import SceneEntry
from gaitway.world import Mover, Obstacle, World
from gaitway.world.levels.floors import has_levels
from gaitway.world.obstacle import LEVEL_KINDS
from gaitway.world.regions import obstruction


def warnings(world: World, origins: Sequence[SceneEntry], groups: Sequence[CharacterGroup]) -> Iterator[Problem]:
    """Yield all warnings that are found in little time.

    Args:
        world: The built world.
        origins: The entry that each of its obstacles comes from, then that of each mover and all else that moves.
        groups: The entries of `characters`.
    """
    x0, y0, x1, y1 = world.bounds
    said: set[int] = set()
    for obstacle, origin in zip(world.obstacles, origins, strict=False):
        a0, b0, a1, b1 = obstacle.shape.footprint().bounds
        if (a1 < x0 or b1 < y0 or a0 > x1 or b0 > y1) and id(origin) not in said:
            said.add(id(origin))
            yield origin.problem(text=f"lies outside bounds {shown(world.bounds)}", warning=True)
    for mover, origin in zip(world.movers, origins[len(world.obstacles) :], strict=False):
        time = _leaves(mover, world)
        if time is not None:
            text = f"leaves bounds {shown(world.bounds)} at {time:g} s"
            yield origin.problem("path", text=text, warning=True)
    yield from _shared_goals(groups)


def _leaves(mover: Mover, world: World) -> float | None:
    """Return the time of the first key [s] at which the centre of a mover is outside the bounds, or None.

    What comes in from outside, such as a train, may go out again.
    """
    x0, y0, x1, y1 = world.bounds
    x, y = mover.poses[:, 0], mover.poses[:, 1]
    outside = (x < x0) | (x > x1) | (y < y0) | (y > y1)
    if not outside.any() or (outside[0] and not outside.all()):
        return None
    return float(mover.times[np.argmax(outside)])


def _shared_goals(groups: Sequence[CharacterGroup]) -> Iterator[Problem]:
    names = [name for group in groups for name in group.names]
    discs = Discs(max((group.radius for group in groups), default=1.0))
    for group in groups:
        goal = group.item.goal
        if not isinstance(goal, tuple):
            continue
        met = discs.overlapped(goal[0], goal[1], group.radius)
        if len(group.names) > 1:
            text = f"{shown(goal)} is one goal for {len(group.names)} characters, who cannot all stand there"
            yield group.entry.problem("goal", text=f"{text}; write goal_area: ...", warning=True)
        elif met is not None:
            text = f"{shown(goal)} is {met[1]:.3g} m from the goal of '{names[met[0]]}': they cannot both stand there"
            yield group.entry.problem("goal", text=text, warning=True)
        discs.add(np.array([goal[:2]]), group.radius, group.first)


def passing_warnings(world: World, origins: Sequence[SceneEntry], libraries: Sequence[LibraryRef]) -> Iterator[Problem]:
    """Yield a warning for each special obstacle that no character's behaviours can pass.

    That is measured on the bodies of the clips. Libraries are loaded only if there are special obstacles.

    Args:
        world: The built world.
        origins: The entry that each of its obstacles comes from, then that of each mover and all else that moves.
        libraries: References to the libraries of all characters.
    """
    floors = {*LEVEL_KINDS, "stairs", "box", "climb"} if has_levels(world) else set[str]()
    things = [(obstacle, origin) for obstacle, origin in _things(world, origins) if obstacle.special]
    things = [(obstacle, origin) for obstacle, origin in things if obstacle.kind not in floors]
    if not things:
        return
    known = [(library.name, reaches(library.load())) for library in dict.fromkeys(libraries)]
    for obstacle, origin in things:
        x0, y0, x1, y1 = obstacle.shape.footprint().bounds
        ground = float(world.ground((0.5 * (x0 + x1), 0.5 * (y0 + y1))))
        reasons = [obstruction(obstacle, reach, cast, ground=ground) for cast, reach in known]
        if reasons and all(reason is not None for reason in reasons):
            yield origin.problem(text=str(reasons[0]), warning=True)


def _things(world: World, origins: Sequence[SceneEntry]) -> Iterator[tuple[Obstacle, SceneEntry]]:
    """Yield all obstacles, and movers in each of their phases, with the entry that each comes from."""
    yield from zip(world.obstacles, origins, strict=False)
    for mover, origin in zip(world.movers, origins[len(world.obstacles) :], strict=False):
        for phase in mover.phases:
            yield mover.at(max(phase.start, float(mover.times[0]))), origin
