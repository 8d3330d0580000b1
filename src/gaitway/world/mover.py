"""Movers: things whose movement is known beforehand, and which may become something else on the way."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from gaitway.arrays import FloatArray, owned
from gaitway.errors import WorldError
from gaitway.world.obstacle import WALL, Obstacle
from gaitway.world.shapes import Shape


@dataclass(frozen=True, eq=False)
class Phase:
    """What a mover is from some time on."""

    start: float
    """[s]; the first phase of a mover holds for all time before its end, whatever this says."""
    shape: Shape
    """In the mover's own frame."""
    kind: str = WALL
    """As in `Obstacle.kind`."""


@dataclass(frozen=True, eq=False)
class Mover:
    """A shape that follows a trajectory: linear between keys, still before the first and after the last.

    A falling tree is one mover that stands still with three phases: passable, then a wall, then something to jump over.
    """

    phases: tuple[Phase, ...]
    """In order of time; at least one."""
    times: FloatArray
    """Times of the keys [s], increasing; (K,)."""
    poses: FloatArray
    """Planar poses (x, y, heading) at these times; headings turn by the plain difference, so 0 to 2 pi is a whole turn
    and not none; (K, 3)."""
    name: str = ""
    color: str | None = None
    """In pictures, as "#rrggbb"; None takes the colour of its kind."""

    def __post_init__(self) -> None:
        times = owned(self.times, "mover times", (None,), error=WorldError)
        poses = owned(self.poses, "mover poses", (len(times), 3), error=WorldError)
        if len(times) < 1 or (np.diff(times) <= 0.0).any():
            raise WorldError(f"mover '{self.name}': times must be one or more and increase; got {times.tolist()}")
        starts = [phase.start for phase in self.phases]
        if not starts or any(b <= a for a, b in pairwise(starts)):
            raise WorldError(f"mover '{self.name}': phases must be one or more and start one after another")
        object.__setattr__(self, "phases", tuple(self.phases))
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "poses", poses)

    @staticmethod
    def of(
        shape: Shape,
        times: npt.ArrayLike,
        poses: npt.ArrayLike,
        kind: str = WALL,
        name: str = "",
        color: str | None = None,
    ) -> Mover:
        """A mover that is the same thing all the time."""
        return Mover((Phase(-np.inf, shape, kind),), np.asarray(times), np.asarray(poses), name, color)

    def pose(self, time: npt.ArrayLike) -> FloatArray:
        """Planar pose (..., 3) at times (...) [s]."""
        time = np.asarray(time, dtype=np.float64)
        return np.stack([np.interp(time, self.times, self.poses[:, i]) for i in range(3)], axis=-1)

    def phase(self, time: float) -> Phase:
        """What it is at a time [s]."""
        return next((p for p in reversed(self.phases) if p.start <= time), self.phases[0])

    def at(self, time: float) -> Obstacle:
        """The obstacle that it is, and where, at a time [s]."""
        phase = self.phase(time)
        return Obstacle(phase.shape.placed(self.pose(time)), phase.kind, self.name, self.color)
