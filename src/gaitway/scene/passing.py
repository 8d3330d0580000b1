"""Whether those who have to pass special obstacles can: measured on the bodies of their clips."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gaitway.library.reach import reaches
from gaitway.scene.characters import LibraryRef
from gaitway.scene.documents import Entry
from gaitway.scene.problem import Problem
from gaitway.world import Obstacle, World
from gaitway.world.regions import obstruction


def passing_warnings(world: World, origins: Sequence[Entry], libraries: Sequence[LibraryRef]) -> Iterator[Problem]:
    """A warning for each special obstacle that nobody's behaviours get past.

    Generating the libraries takes seconds; it is done only if there is something special.

    Args:
        world: that was built.
        origins: where each of its obstacles, and then each mover, is written.
        libraries: of all characters.
    """
    things = [(obstacle, origin) for obstacle, origin in _things(world, origins) if obstacle.special]
    if not things:
        return
    known = [(library.name, reaches(library.load())) for library in dict.fromkeys(libraries)]
    for obstacle, origin in things:
        x0, y0, x1, y1 = obstacle.shape.footprint().bounds
        ground = float(world.ground((0.5 * (x0 + x1), 0.5 * (y0 + y1))))
        reasons = [obstruction(obstacle, reach, cast, ground=ground) for cast, reach in known]
        if reasons and all(reason is not None for reason in reasons):
            yield origin.problem(text=str(reasons[0]), warning=True)


def _things(world: World, origins: Sequence[Entry]) -> Iterator[tuple[Obstacle, Entry]]:
    """Everything that is or becomes an obstacle, with where it is written."""
    yield from zip(world.obstacles, origins, strict=False)
    for mover, origin in zip(world.movers, origins[len(world.obstacles) :], strict=True):
        for phase in mover.phases:
            yield mover.at(max(phase.start, float(mover.times[0]))), origin
