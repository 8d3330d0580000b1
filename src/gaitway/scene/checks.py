"""What can be loaded but is hardly meant so: things outside the bounds, goals where two would have to stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gaitway.scene.documents import Entry
from gaitway.scene.free_space import Discs
from gaitway.scene.placing import Cast
from gaitway.scene.problem import Problem, shown
from gaitway.world import Mover, World


def warnings(world: World, origins: Sequence[Entry], casts: Sequence[Cast]) -> Iterator[Problem]:
    """All warnings that cost little to find.

    Args:
        world: that was built.
        origins: where each of its obstacles, and then each mover, is written.
        casts: the entries of `characters`.
    """
    x0, y0, x1, y1 = world.bounds
    said: set[int] = set()
    for obstacle, origin in zip(world.obstacles, origins, strict=False):
        a0, b0, a1, b1 = obstacle.shape.footprint().bounds
        if (a1 < x0 or b1 < y0 or a0 > x1 or b0 > y1) and id(origin) not in said:
            said.add(id(origin))
            yield origin.problem(text=f"lies outside bounds {shown(world.bounds)}", warning=True)
    for mover, origin in zip(world.movers, origins[len(world.obstacles) :], strict=True):
        time = _leaves(mover, world)
        if time is not None:
            text = f"leaves bounds {shown(world.bounds)} at {time:g} s"
            yield origin.problem("path", text=text, warning=True)
    yield from _shared_goals(casts)


def _leaves(mover: Mover, world: World) -> float | None:
    """The first key [s] at which the middle of a mover is outside the bounds."""
    x0, y0, x1, y1 = world.bounds
    x, y = mover.poses[:, 0], mover.poses[:, 1]
    outside = (x < x0) | (x > x1) | (y < y0) | (y > y1)
    return float(mover.times[outside.argmax()]) if outside.any() else None


def _shared_goals(casts: Sequence[Cast]) -> Iterator[Problem]:
    names = [name for cast in casts for name in cast.names]
    discs = Discs(max((cast.radius for cast in casts), default=1.0))
    for cast in casts:
        goal = cast.item.goal
        if not isinstance(goal, tuple):
            continue
        met = discs.overlapped(goal[0], goal[1], cast.radius)
        if len(cast.names) > 1:
            text = f"{shown(goal)} is one goal for {len(cast.names)} characters, who cannot all stand there"
            yield cast.entry.problem("goal", text=f"{text}; write goal_area: ...", warning=True)
        elif met is not None:
            text = f"{shown(goal)} is {met[1]:.3g} m from the goal of '{names[met[0]]}': they cannot both stand there"
            yield cast.entry.problem("goal", text=text, warning=True)
        discs.add(np.array([goal[:2]]), cast.radius, cast.first)
