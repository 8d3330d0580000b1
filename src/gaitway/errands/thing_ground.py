"""The ground under people who handle things: on which floor a thing is, and where in the plane of the floors that is.

People are planned in one plane, in which all floors lie side by side (see `gaitway.world.levels.floors`), and so are
their reaches. What a take says about things is brought back into the place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.take.things import MOVER
from gaitway.world.levels.floors import Floor, Floors
from gaitway.world.obstacle import Mover, Obstacle
from gaitway.world.world import World

_BESIDE = 0.8
"""How far beside a floor a thing may be that is reached from there [m]: on a wall, or on a shelf beyond its edge."""
_SUNK = 0.05
"""How far below its floor a thing may be [m]."""
_STOOD_ON, _REACHED = 1.5, 1.9
"""Area below which nobody has to stand on a top to reach what is on it [m^2], if it is at most so high over another
floor [m]."""
_HIGHEST = 2.4
"""How high over a floor a thing may be that is reached from there [m]."""
_STANCE, _EVEN = 0.35, 0.003
"""How far around somebody who handles things the ground must be level [m], and how level [m]."""


@dataclass(frozen=True, eq=False)
class ThingGround:
    """The ground of a run of errands, and how its plane lies in the place."""

    world: World
    """The plane in which people are planned; the place itself, if it has one floor."""
    floors: Floors | None = None
    """All floors; None for a place with one."""

    def into(self, at: Sequence[float]) -> FloatArray:
        """Return a point of the place (3,) where it is in the plane [m]."""
        point = np.array(at, dtype=np.float64)
        if self.floors is None:
            return point
        (dx, dy), down = self.floors.lowered(_floor_of(self.floors, *point.tolist()))
        return np.asarray(point + np.array([dx, dy, -down]))

    def out(self, at: Sequence[float]) -> FloatArray:
        """Return a point of the plane (3,) where it is in the place [m]."""
        point = np.array(at, dtype=np.float64)
        if self.floors is None:
            return point
        (dx, dy), down = self.floors.lowered(self.floors.under(float(point[0]), float(point[1])))
        return np.asarray(point - np.array([dx, dy, -down]))

    def height(self, x: float, y: float) -> float | None:
        """Return the height of the ground of the plane at a point where somebody stands [m]; None if it slopes."""
        terrain = self.world.terrain
        if terrain is None:
            return 0.0
        ways = np.arange(8) * math.tau / 8.0
        ring = np.array([x, y]) + _STANCE * np.stack([np.cos(ways), np.sin(ways)], axis=-1)
        heights = terrain.height(np.vstack([ring, 0.5 * (ring + np.array([x, y])), [[x, y]]]))
        return float(heights[-1]) if float(np.ptp(heights)) <= _EVEN else None

    def obstacle(self, name: str) -> Obstacle:
        """Return an obstacle of a name as it is seen from the floor that it stands on."""
        seen = [one for one in self.world.obstacles if one.name == name]
        standing = [one for one in seen if one.shape.heights[1] > _SUNK] or seen
        return min(standing, key=lambda one: round(one.shape.heights[1], 6))

    def mover(self, name: str) -> tuple[Mover, float]:
        """Return a mover as it is in the plane, and how far down it is there [m]."""
        moving = [one for one in self.world.movers if one.name == name]
        if self.floors is None:
            return moving[0], 0.0
        own = next(one for one in self.floors.world.movers if one.name == name)
        low = min(phase.shape.heights[0] for phase in own.phases)
        x, y = own.poses[0, :2].tolist()
        (dx, dy), down = self.floors.lowered(_floor_of(self.floors, x, y, low))
        away = [float(np.hypot(*(one.poses[0, :2] - own.poses[0, :2] - [dx, dy]))) for one in moving]
        return moving[int(np.argmin(np.round(away, 6)))], down

    def facts(self, told: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a desk tells about things and reaches, brought back into the place."""
        if self.floors is None:
            return dict(told)
        things = {name: {**row, "spans": [self._span(*span) for span in row["spans"]]}
                  for name, row in told["things"].items()}  # fmt: skip
        reaches = [[*row[:5], [round(float(v), 5) for v in self.out(row[5])], *row[6:]] for row in told["reaches"]]
        return {**told, "things": things, "reaches": reaches}

    def _span(self, time: float, who: str | None, part: str, pose: Sequence[float]) -> list[Any]:
        at: Sequence[float] = pose[:3]
        if who is None:
            at = self.out(pose[:3]).tolist()
        elif part == MOVER:
            at = [*pose[:2], pose[2] + self.mover(who)[1]]
        return [time, who, part, [round(float(v), 6) for v in (*at, *pose[3:])]]


@lru_cache(maxsize=512)
def _floor_of(floors: Floors, x: float, y: float, z: float) -> Floor:
    """Return the floor from which a thing at a point of the place is reached: the highest one under it."""
    usual = [floor for floor in floors.floors if floor.lift is None]
    for margin, most in ((0.0, _HIGHEST), (_BESIDE, _HIGHEST), (0.0, math.inf), (_BESIDE, math.inf)):
        here = {floor.number: floors.height(floor, x, y) for floor in usual if floor.covers(x, y, margin)}
        under = [number for number, height in here.items() if height - _SUNK <= z <= height + most]
        under.sort(key=lambda number: (-round(here[number], 3), number))
        for rank, number in enumerate(under):
            lower = under[rank + 1 :]
            if floors.floors[number].region.area >= _STOOD_ON or not lower or z - here[lower[0]] > _REACHED:
                return floors.floors[number]
    return floors.at(x, y, z, what="thing")
