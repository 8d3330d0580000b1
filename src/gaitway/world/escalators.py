"""Escalators: strips of level treads that carry whoever stands on them from one floor up or down to another.

An escalator rises along its own x axis. Its treads are level at both ends, where people step on and off, and go up or
down a slope in between. All of them move at one speed along the floor plan, for ever, so that everybody knows where
each tread is at any time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import shapely

from gaitway.core import planar
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import WorldError
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box, Ramp, Shape

DEPTH = 0.4
"""Depth of a tread [m]."""
LEVEL = 1.4
"""Length of the level part at either end [m]."""
PANEL = 0.08
"""Thickness of the panels at both sides [m]."""
LEAST_RISE = 1.0
"""Least difference in height of the floors that an escalator joins [m]."""
_BEND = 1.0
"""Radius of the curves between the level parts and the slope [m]."""
_RAIL = 0.95
"""Height of the panels over the treads [m]."""
_THICK = 0.3
"""Thickness of a tread as it is drawn [m]; more than the height of a riser."""
_SEEN = 0.003
"""How much higher than it is a tread is drawn, so that it is seen over the floor at its ends [m]."""
_UNDER = 0.02
"""How far a tread that is drawn goes down where it passes under the floor at an end [m]."""
_AT_ONCE = 1e-4
"""Way before and after a jump of a tread at which keys are set [m]."""
_COLORS = ("#767d86", "#868d96")
"""Colours of treads in turn."""


@dataclass(frozen=True)
class Escalator:
    """A strip of treads that carries people."""

    center: tuple[float, float]
    """Middle of its floor plan: x, y [m]."""
    rise: float
    """Height of its upper end over its lower one [m]."""
    width: float = 1.0
    """Width of its treads [m]."""
    yaw: float = 0.0
    """Direction in which it rises [rad]."""
    bottom: float = 0.0
    """Height of its lower end [m]."""
    down: bool = False
    """Whether it carries people down."""
    speed: float = 0.5
    """Speed of its treads along the floor plan [m/s]."""
    slope: float = math.radians(30.0)
    """How steep it is between its ends [rad]."""
    name: str = "escalator"
    color: str | None = None
    """Colour of its panels in pictures as "#rrggbb"; None for that of walls."""

    def __post_init__(self) -> None:
        if not (LEAST_RISE <= self.rise < math.inf):
            raise WorldError(f"escalator '{self.name}' rises by {self.rise:g} m; write {LEAST_RISE:g} or more")
        if not (self.speed > 0.0 and math.isfinite(self.speed)):
            raise WorldError(f"escalator '{self.name}' carries nobody: speed {self.speed:g}; write one above 0")

    @cached_property
    def length(self) -> float:
        """Length of its floor plan, from the first tread to the last [m]."""
        curves = 2.0 * _BEND * (1.0 - math.cos(self.slope))
        return 2.0 * (LEVEL + _BEND * math.sin(self.slope)) + (self.rise - curves) / math.tan(self.slope)

    @property
    def sign(self) -> float:
        """1 if its treads move as it rises, -1 if they come down."""
        return -1.0 if self.down else 1.0

    @property
    def heading(self) -> float:
        """Direction in which it carries people [rad]."""
        return float(planar.wrap_angle(self.yaw + math.pi)) if self.down else self.yaw

    @property
    def heights(self) -> tuple[float, float]:
        """Heights of its lower and of its upper end [m]."""
        return self.bottom, self.bottom + self.rise

    @property
    def outer_width(self) -> float:
        """Width with its panels [m]."""
        return self.width + 2.0 * PANEL

    @cached_property
    def area(self) -> shapely.Geometry:
        """Its floor plan, with its panels."""
        x, y = 0.5 * self.length, 0.5 * self.outer_width
        corners = np.array([(-x, -y), (x, -y), (x, y), (-x, y)])
        return shapely.Polygon(planar.transform_points((*self.center, self.yaw), corners))

    def profile(self, along: npt.ArrayLike) -> FloatArray:
        """Return the height over its lower end of a tread whose middle is so far along from there (...) [m]."""
        u = np.asarray(along, dtype=np.float64)
        u = np.minimum(u, self.length - u)  # both ends are alike: it is as far below the middle as above it
        curve, steep = _BEND * math.sin(self.slope), math.tan(self.slope)
        bent = _BEND - np.sqrt(_BEND**2 - np.clip(u - LEVEL, 0.0, curve) ** 2)
        low = bent + steep * np.maximum(u - LEVEL - curve, 0.0)
        out: FloatArray = np.where(np.asarray(along) <= 0.5 * self.length, low, self.rise - low)
        return out

    def climbed(self, ahead: npt.ArrayLike) -> FloatArray:
        """Return heights over where people step on of treads whose middles are so far ahead of there (...) [m]."""
        ahead = np.asarray(ahead, dtype=np.float64)
        return self.profile(self.length - ahead) - self.rise if self.down else self.profile(ahead)

    def along(self, points: npt.ArrayLike) -> FloatArray:
        """Return points (..., 2) of the floor plan as it lies: from its lower end, and to the left [m]; (..., 2)."""
        own = planar.transform_points(planar.inverse((*self.center, self.yaw)), points)
        return np.asarray(own + np.array([0.5 * self.length, 0.0]))

    def inside(self, points: npt.ArrayLike, margin: float = 0.0) -> npt.NDArray[np.bool_]:
        """Return which points (..., 2) of the floor plan are on its treads, or at most a margin beside them [m]."""
        own = self.along(points)
        beside = np.abs(own[..., 1]) <= 0.5 * self.width + margin
        return np.asarray(beside & (own[..., 0] >= -margin) & (own[..., 0] <= self.length + margin))

    def middle(self, along: npt.ArrayLike, times: npt.ArrayLike) -> FloatArray:
        """Return the middle of the tread that is at a distance from the lower end (...) at times (...) [m]."""
        carried = self.sign * self.speed * np.asarray(times, dtype=np.float64)
        number = np.floor((np.asarray(along) - carried) / DEPTH)
        out: FloatArray = (number + 0.5) * DEPTH + carried
        return out

    def height(self, points: npt.ArrayLike, times: npt.ArrayLike, near: npt.ArrayLike, edge: float = 0.0) -> FloatArray:
        """Return the height of the tread under points (..., 2) at times (...) [s]; [m].

        Args:
            points: x, y [m]; (..., 2).
            times: times [s]; (...).
            near: heights (...) [m]. Of the treads within `edge` of a point the one nearest to its height counts.
            edge: distance by which a foot may stand over an edge [m].
        """
        along, wanted = self.along(points)[..., 0], np.asarray(near, dtype=np.float64)
        out: FloatArray = self.bottom + self.profile(self.middle(along, times))
        for aside in (-edge, edge) if edge > 0.0 else ():
            other = self.bottom + self.profile(self.middle(along + aside, times))
            out = np.where(np.abs(other - wanted) < np.abs(out - wanted), other, out)
        return out

    def carried(self, times: npt.ArrayLike) -> FloatArray:
        """Return how far its treads have gone along the floor plan at times (...) [s]: x, y [m]; (..., 2)."""
        way = self.speed * np.asarray(times, dtype=np.float64)
        return np.asarray(way[..., None] * np.array([math.cos(self.heading), math.sin(self.heading)]))

    @cached_property
    def tread_count(self) -> int:
        """Number of treads that are drawn: enough for its whole length, and even, since their colours alternate."""
        return 2 * math.ceil(0.5 * self.length / DEPTH)

    def tread_places(self, numbers: npt.ArrayLike, times: npt.ArrayLike) -> FloatArray:
        """Return where treads (...) are drawn at times (...) [s]: the middles of their upper sides [m]; (..., 3).

        A tread that has come to the end begins anew where people step on.
        """
        ahead = np.minimum(np.mod(self._since(numbers, times), self.tread_count * DEPTH), self.length)
        ends = np.minimum(ahead, self.length - ahead) < 0.5 * DEPTH
        base = self.heights[1] if self.down else self.heights[0]
        heights = base + self.climbed(ahead) + np.where(ends, -_UNDER, _SEEN)
        own = np.stack([ahead - 0.5 * self.length, np.zeros(np.shape(ahead))], axis=-1)
        flat = planar.transform_points((*self.center, self.heading), own)
        return np.concatenate([flat, heights[..., None]], axis=-1)

    def tread_moments(self, number: int, start: float, end: float) -> FloatArray:
        """Return times from one to another [s] between which a tread is drawn along straight lines; (K,)."""
        cycle, curve = self.tread_count * DEPTH, LEVEL + _BEND * math.sin(self.slope) * np.linspace(0.0, 1.0, 6)
        jumps = np.array([0.0, 0.5 * DEPTH, self.length - 0.5 * DEPTH])  # it comes up, or goes under the floor
        knots = np.concatenate([curve, self.length - curve, [self.length], jumps - _AT_ONCE, jumps + _AT_ONCE])
        first = (knots - float(np.mod(self._since(number, start), cycle))) / self.speed
        rounds = np.arange(-1, math.ceil((end - start) * self.speed / cycle) + 3)
        times = start + (first[:, None] + rounds * cycle / self.speed).ravel()
        return np.unique(np.concatenate([[start], times[(times > start) & (times < end)], [end]]))

    def _since(self, numbers: npt.ArrayLike, times: npt.ArrayLike) -> FloatArray:
        """Return how far treads have come at times (...) [s] from where people step on, in any number of rounds [m]."""
        middle = (np.asarray(numbers) + 0.5) * DEPTH
        way: FloatArray = self.speed * np.asarray(times, dtype=np.float64)
        return (self.length - middle if self.down else middle) + way

    def tread(self, number: int) -> Obstacle:
        """Return a tread as it is drawn, with the middle of its upper side at the origin."""
        shape = Box((0.0, 0.0), (DEPTH, self.width), _THICK, self.yaw, -_THICK)
        return Obstacle(shape, "platform", self.name, _COLORS[number % len(_COLORS)])

    def at(self, time: float) -> tuple[Obstacle, ...]:
        """Return its treads where they are at a time [s]."""
        numbers = range(self.tread_count)
        made = []
        for number, (x, y, z) in zip(numbers, self.tread_places(np.array(numbers), time).tolist(), strict=True):
            tread = self.tread(number)
            made.append(replace(tread, shape=tread.shape.raised(z).placed((x, y, 0.0))))
        return tuple(made)

    def panels(self) -> tuple[Obstacle, ...]:
        """Return what of it stands still and is in the way: the panels at both sides, down to the lower floor."""
        slope = self.length - 2.0 * LEVEL
        aside = 0.5 * (self.width + PANEL)
        shapes: list[Shape] = []
        for side in (aside, -aside):

            def at(along: float, side: float = side) -> tuple[float, float]:
                place = np.array([along - 0.5 * self.length, side])
                x, y = planar.transform_points((*self.center, self.yaw), place).tolist()
                return x, y

            lower, upper = LEVEL + slope, LEVEL
            shapes += [
                Box(at(0.5 * lower), (lower, PANEL), _RAIL, self.yaw, self.bottom),
                Ramp(at(LEVEL + 0.5 * slope), slope, PANEL, self.rise, self.yaw, self.bottom + _RAIL),
                Box(at(self.length - 0.5 * upper), (upper, PANEL), self.rise + _RAIL, self.yaw, self.bottom),
            ]
        return tuple(Obstacle(shape, name=self.name, color=self.color) for shape in shapes)
