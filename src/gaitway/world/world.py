"""Worlds: obstacles, movers and terrain within bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import WorldError
from gaitway.world.areas import Area
from gaitway.world.doors import Door
from gaitway.world.escalators import Escalator
from gaitway.world.lifts import Lift
from gaitway.world.obstacle import Mover, Obstacle
from gaitway.world.standing import top
from gaitway.world.terrain import Terrain

MAX_OBSTACLES = 100_000
"""Greatest number of obstacles; a file that asks for more is broken or hostile."""


@dataclass(frozen=True, eq=False)
class World:
    """Bounds, obstacles, movers and terrain; heights are absolute."""

    bounds: tuple[float, float, float, float]
    """xmin, ymin, xmax, ymax [m]; characters stay inside."""
    obstacles: tuple[Obstacle, ...] = ()
    """Obstacles that do not move, special ones included."""
    movers: tuple[Mover, ...] = ()
    terrain: Terrain | None = None
    """Terrain; None is level ground at height 0."""
    grounded: bool = True
    """Whether people walk on that ground; False where walkable meshes are all that they walk on."""
    lifts: tuple[Lift, ...] = ()
    areas: tuple[Area, ...] = ()
    """Ground that people avoid or like, and rules of how they walk there."""
    doors: tuple[Door, ...] = ()
    """Doors; the leaf of each is among the movers, by its name."""
    escalators: tuple[Escalator, ...] = ()
    """Escalators; their panels are the last of the obstacles."""

    def __post_init__(self) -> None:
        x0, y0, x1, y1 = self.bounds
        if not (np.isfinite(self.bounds).all() and x0 < x1 and y0 < y1):
            raise WorldError(f"bounds {self.bounds} must be xmin, ymin, xmax, ymax with xmin < xmax and ymin < ymax")
        if len(self.obstacles) + len(self.movers) > MAX_OBSTACLES:
            raise WorldError(
                f"{len(self.obstacles) + len(self.movers)} obstacles; at most {MAX_OBSTACLES} are possible"
            )
        object.__setattr__(self, "bounds", (float(x0), float(y0), float(x1), float(y1)))
        object.__setattr__(self, "obstacles", tuple(self.obstacles))
        object.__setattr__(self, "movers", tuple(self.movers))
        object.__setattr__(self, "lifts", tuple(self.lifts))
        object.__setattr__(self, "areas", tuple(self.areas))
        object.__setattr__(self, "doors", tuple(self.doors))
        object.__setattr__(self, "escalators", tuple(self.escalators))

    def at(self, time: float) -> Snapshot:
        """Return the world at a time [s]. Obstacles that do not move are shared, not copied."""
        treads = [tread for one in self.escalators for tread in one.at(time)]
        moved = [*(mover.at(time) for mover in self.movers), *(lift.at(time) for lift in self.lifts), *treads]
        return Snapshot(self, float(time), tuple(moved))

    def ground(self, points: npt.ArrayLike) -> FloatArray:
        """Return the height of the terrain [m] (...) at points (..., 2), without obstacles."""
        points = np.asarray(points, dtype=np.float64)
        return np.zeros(points.shape[:-1]) if self.terrain is None else self.terrain.height(points)

    def standing_height(
        self, points: npt.ArrayLike, near: npt.ArrayLike | None = None, times: npt.ArrayLike | None = None
    ) -> FloatArray:
        """Return the height of the highest ground to stand on [m] (...) at points (..., 2).

        That is the terrain or, exactly, the upper side of a standable obstacle that does not move. A point on an edge
        is on top. If heights (...) are given, the ground nearest to them counts instead of the highest, and lifts
        count too: where they are at times (...) [s], or where they stand if no times are given. So do the treads of
        escalators, if times are given.
        """
        found = _standing_height(self, self.obstacles, points, near)
        if near is not None and self.lifts:
            found = _on_lifts(self.lifts, found, points, near, times)
        if near is not None and times is not None and self.escalators:
            found = _on_treads(self.escalators, found, points, near, times)
        return found

    def with_obstacle(self, obstacle: Obstacle) -> World:
        """Return a world with one more obstacle at the end; all else is shared."""
        return replace(self, obstacles=(*self.obstacles, obstacle))

    def replaced(self, index: int, obstacle: Obstacle) -> World:
        """Return a world with another obstacle in place of `obstacles[index]`; all else is shared."""
        self._check_index(index)
        return replace(self, obstacles=(*self.obstacles[:index], obstacle, *self.obstacles[index + 1 :]))

    def without(self, index: int) -> World:
        """Return a world without `obstacles[index]`; later obstacles move up by one."""
        self._check_index(index)
        return replace(self, obstacles=(*self.obstacles[:index], *self.obstacles[index + 1 :]))

    def _check_index(self, index: int) -> None:
        if not 0 <= index < len(self.obstacles):
            raise WorldError(f"no obstacle {index}; there are {len(self.obstacles)}, counted from 0")


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A world at one time."""

    world: World
    time: float
    """Time [s]."""
    moved: tuple[Obstacle, ...]
    """The movers at this time as obstacles, in their order; then the platforms of lifts and the treads of
    escalators."""

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """All obstacles at this time: those that never move, then the movers."""
        return self.world.obstacles + self.moved

    def standing_height(self, points: npt.ArrayLike) -> FloatArray:
        """Return `World.standing_height`, with the movers where they are at this time."""
        return _standing_height(self.world, self.obstacles, points)


def _on_lifts(
    lifts: Iterable[Lift], found: FloatArray, points: npt.ArrayLike, near: npt.ArrayLike, times: npt.ArrayLike | None
) -> FloatArray:
    """Return heights of the ground (...), or of a platform at points (..., 2) that is nearer to heights (...) [m]."""
    flat, wanted, out = np.asarray(points, dtype=np.float64), np.asarray(near, dtype=np.float64), np.array(found)
    for lift in lifts:
        here = lift.inside(flat)
        for level in lift.heights if times is None else (lift.height(times),):
            nearer = here & (np.abs(level - wanted) < np.abs(out - wanted))
            out = np.where(nearer, level, out)
    return out


def _on_treads(
    escalators: Iterable[Escalator], found: FloatArray, points: npt.ArrayLike, near: npt.ArrayLike, times: npt.ArrayLike
) -> FloatArray:
    """Return heights of the ground (...), or of a tread at points (..., 2) that is nearer to heights (...) [m]."""
    wanted, out = np.asarray(near, dtype=np.float64), np.array(found)
    for one in escalators:
        level = one.height(points, times, wanted)
        nearer = one.inside(points) & (np.abs(level - wanted) < np.abs(out - wanted))
        out = np.where(nearer, level, out)
    return out


def _standing_height(
    world: World, obstacles: Iterable[Obstacle], points: npt.ArrayLike, near: npt.ArrayLike | None = None
) -> FloatArray:
    points = np.asarray(points, dtype=np.float64)
    flat = points.reshape(-1, 2)
    height = np.array(world.ground(flat))
    wanted = None if near is None else np.broadcast_to(near, points.shape[:-1]).reshape(-1)
    for shape in (obstacle.shape for obstacle in obstacles if obstacle.standable):
        x0, y0, x1, y1 = shape.footprint().bounds
        here = np.flatnonzero(((flat >= (x0, y0)) & (flat <= (x1, y1))).all(axis=1))
        if len(here):
            tops = top(shape, flat[here], None if wanted is None else wanted[here])
            if wanted is None:
                height[here] = np.maximum(height[here], tops)
            else:
                nearer = np.abs(tops - wanted[here]) < np.abs(height[here] - wanted[here])
                height[here] = np.where(nearer, tops, height[here])
    return height.reshape(points.shape[:-1])


def with_doors(world: World, are_open: Mapping[str, bool]) -> World:
    """Return a world in which doors are obstacles that stand, open or shut by name, and no movers any more."""
    if not world.doors:
        return world
    names = {door.name for door in world.doors}
    leaves = tuple(door.obstacle(are_open[door.name]) for door in world.doors)
    movers = tuple(mover for mover in world.movers if mover.name not in names)
    return replace(world, obstacles=(*world.obstacles, *leaves), movers=movers)


@overload
def realised(world: World, facts: Mapping[str, Any]) -> World: ...
@overload
def realised(world: World | None, facts: Mapping[str, Any]) -> World | None: ...
def realised(world: World | None, facts: Mapping[str, Any]) -> World | None:
    """Return a world whose doors move as the facts of a take tell; the world itself if they tell of none."""
    told: Mapping[str, Any] = facts.get("doors") or {}
    if world is None or not any(mover.name in told for mover in world.movers):
        return world
    return replace(world, movers=tuple(_moved(mover, told) for mover in world.movers))


def _moved(mover: Mover, told: Mapping[str, Any]) -> Mover:
    if mover.name not in told:
        return mover
    path: FloatArray = np.asarray(told[mover.name]["path"], dtype=np.float64).reshape(-1, 4)
    return replace(mover, times=path[:, 0], poses=path[:, 1:])
