"""Obstacles: a shape and its meaning to a walking character; and movers, obstacles that follow a trajectory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from gaitway.core import planar
from gaitway.core.arrays import FloatArray, owned
from gaitway.core.errors import WorldError
from gaitway.world.shapes import Shape

WALL = "wall"
"""Kind of an obstacle that no character may touch."""
PASSABLE = "passable"
"""Kind of an obstacle that is visible but blocks no character: paint, a carpet, a tree that has not fallen yet."""
WALKABLE = "walkable"
"""Kind of a mesh that is ground to walk on, wherever it is level enough."""
LEVEL_KINDS = frozenset({"platform", "bridge", "ramp", WALKABLE})
"""Kinds whose upper side is a floor on which characters walk freely, level or sloping."""
STANDABLE = frozenset({"box", "climb", "stairs"}) | LEVEL_KINDS
"""Kinds whose upper side is ground to stand on."""


@dataclass(frozen=True, eq=False)
class Obstacle:
    """A shape and its kind."""

    shape: Shape
    kind: str = WALL
    """`WALL`, `PASSABLE`, or the kind of special behaviour that alone gets past it: "jump", "duck", "crawl", "climb",
    "box", "stairs" (which the behaviours "stairs_up" and "stairs_down" pass), or any kind that a library has."""
    name: str = ""
    color: str | None = None
    """Colour in pictures as "#rrggbb"; None uses the colour of its kind."""

    def __post_init__(self) -> None:
        if not self.kind.isidentifier():
            raise WorldError(f"obstacle kind '{self.kind}' must be one word of letters, digits and _")

    @property
    def special(self) -> bool:
        """Whether it can be passed, but only by a behaviour of its kind."""
        return self.kind not in (WALL, PASSABLE)

    @property
    def standable(self) -> bool:
        """Whether its upper side is ground to stand on."""
        return self.kind in STANDABLE


MAX_KEYS = 1_000_000
"""Greatest number of keys of one trajectory."""
_SAME_PLACE = 1e-6
"""Greatest distance of the ends of a path that can be repeated without a jump [m, rad]."""


@dataclass(frozen=True, eq=False)
class MoverPhase:
    """Shape and kind of a mover from some time on."""

    start: float
    """Start time [s]; the first phase of a mover also holds for all time before."""
    shape: Shape
    """Shape in the mover's own frame."""
    kind: str = WALL
    """Kind, as in `Obstacle.kind`."""


@dataclass(frozen=True, eq=False)
class Mover:
    """A shape that follows a trajectory: linear between keys, still before the first and after the last.

    A falling tree is one mover that stands still with three phases: passable, then a wall, then something to jump over.
    """

    phases: tuple[MoverPhase, ...]
    """Phases in order of time; at least one."""
    times: FloatArray
    """Times of the keys [s], increasing; (K,)."""
    poses: FloatArray
    """Planar poses (x, y, heading) at these times; headings turn by the plain difference, so 0 to 2 pi is a whole turn
    and not none; (K, 3)."""
    name: str = ""
    color: str | None = None
    """Colour in pictures as "#rrggbb"; None uses the colour of its kind."""

    def __post_init__(self) -> None:
        if np.size(self.times) > MAX_KEYS:
            raise WorldError(f"mover '{self.name}' has {np.size(self.times)} keys; at most {MAX_KEYS} are possible")
        times = owned(self.times, "mover times", (None,), error=WorldError)
        poses = owned(self.poses, "mover poses", (len(times), 3), error=WorldError)
        if len(times) < 1 or (np.diff(times) <= 0.0).any():
            raise WorldError(f"mover '{self.name}': times must be one or more and increase; got {times.tolist()}")
        starts = [phase.start for phase in self.phases]
        if not starts or np.isnan(starts).any() or any(b <= a for a, b in pairwise(starts)):
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
        """Return a mover with one shape and kind for all time."""
        return Mover((MoverPhase(-np.inf, shape, kind),), np.asarray(times), np.asarray(poses), name, color)

    def pose(self, time: npt.ArrayLike) -> FloatArray:
        """Return the planar pose (..., 3) at times (...) [s]."""
        time = np.asarray(time, dtype=np.float64)
        return np.stack([np.interp(time, self.times, self.poses[:, i]) for i in range(3)], axis=-1)

    def phase(self, time: float) -> MoverPhase:
        """Return the phase at a time [s]."""
        return next((p for p in reversed(self.phases) if p.start <= time), self.phases[0])

    def at(self, time: float) -> Obstacle:
        """Return the placed obstacle at a time [s]."""
        phase = self.phase(time)
        return Obstacle(phase.shape.placed(self.pose(time)), phase.kind, self.name, self.color)

    def repeated(self, until: float) -> Mover:
        """Return the mover with its path repeated until some time [s], and then to the end of that round.

        A path that turns goes on turning. Phases are not repeated: they come at their own times.

        Raises:
            WorldError: if the path does not end where it began, since nothing can jump back there.
        """
        first, last = self.poses[0], self.poses[-1]
        turn = float(last[2] - first[2])
        period = float(self.times[-1] - self.times[0])
        away = max(float(np.abs(last - first)[:2].max()), abs(float(planar.wrap_angle(turn))))
        if period <= 0.0 or away > _SAME_PLACE:
            back = ", ".join(f"{v:g}" for v in first)
            raise WorldError(f"mover '{self.name}' repeats its path but does not end where it began; end at ({back})")
        if not np.isfinite(until):
            raise WorldError(f"mover '{self.name}' repeats its path until {until}; write a time in seconds")
        rounds = max(int(np.ceil((until - self.times[0]) / period - 1e-9)), 1)
        if rounds * len(self.times) > MAX_KEYS:
            raise WorldError(f"mover '{self.name}' would repeat its path {rounds} times; end it earlier")
        number = np.arange(rounds)[:, None]
        times = (self.times[1:] + number * period).ravel()
        poses = np.tile(self.poses[1:], (rounds, 1))
        poses[:, 2] += np.repeat(number.ravel() * turn, len(self.times) - 1)
        return replace(self, times=np.append(self.times[0], times), poses=np.concatenate([first[None], poses]))

    def breaks(self, start: float, end: float) -> FloatArray:
        """Return the times [s] strictly between two at which it turns, stops, starts or changes phase; (N,)."""
        times = np.unique(np.concatenate([self.times, [phase.start for phase in self.phases[1:]]]))
        return times[(times > start) & (times < end)]

    def speeds(self, start: float = -np.inf, end: float = np.inf) -> tuple[float, float]:
        """Return the greatest speed of its origin [m/s], and greatest turning speed [rad/s], between two times [s]."""
        within = (self.times[:-1] < end) & (self.times[1:] > start)
        if not within.any():
            return 0.0, 0.0
        rates = (np.diff(self.poses, axis=0) / np.diff(self.times)[:, None])[within]
        return float(np.hypot(rates[:, 0], rates[:, 1]).max()), float(np.abs(rates[:, 2]).max())

    def fastest(self, start: float = -np.inf, end: float = np.inf) -> float:
        """Return a bound on the speed of any point of the mover [m/s] between two times [s]."""
        speed, turning = self.speeds(start, end)
        radii = [swept_radius(phase) for phase in self.phases_between(start, end)]
        return speed + turning * max(radii)

    def phases_between(self, start: float, end: float) -> tuple[MoverPhase, ...]:
        """Return all phases at times from `start` to `end` [s]."""
        return tuple(
            phase
            for number, phase in enumerate(self.phases)
            if (number == 0 or phase.start <= end)
            and (number + 1 == len(self.phases) or self.phases[number + 1].start > start)
        )


def swept_radius(phase: MoverPhase) -> float:
    """Return the distance [m] from the mover's origin to the farthest point of a phase's footprint.

    A full turn sweeps a disc of this radius.
    """
    footprint = phase.shape.footprint()
    return 0.0 if footprint.empty else float(np.linalg.norm(footprint.points, axis=1).max()) + footprint.radius
