"""Lifts: platforms that go up and down by a timetable of their own, whether somebody waits or not.

A lift stands at each of its heights for a while, from the lowest to the highest and back, for ever. So everybody knows
where it is at any time, and plans with it come out the same whoever else rides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import shapely

from gaitway.core import planar
from gaitway.core.arrays import FloatArray, read_only
from gaitway.core.errors import WorldError
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box

THICK = 0.12
"""Thickness of a platform [m]."""
_PEAK = 1.5
"""Greatest speed of a ride as a multiple of its mean speed: it starts and stops gently."""


@dataclass(frozen=True, eq=False)
class Lift:
    """A platform that stands at several heights in turn."""

    center: tuple[float, float]
    """Middle of its floor plan: x, y [m]."""
    size: tuple[float, float]
    """Length along its own x, width along its own y [m]."""
    heights: tuple[float, ...]
    """Heights of its upper side at which it stands, increasing [m]; two or more."""
    yaw: float = 0.0
    """Turn about the vertical [rad]."""
    speed: float = 1.0
    """Greatest speed [m/s]."""
    dwell: float = 12.0
    """Time for which it stands at each height [s]."""
    start: float = 0.0
    """Time at which it comes to its lowest height [s]."""
    name: str = "lift"
    color: str | None = None
    """Colour in pictures as "#rrggbb"; None for that of platforms."""

    def __post_init__(self) -> None:
        rises = np.diff(self.heights)
        if len(self.heights) < 2 or not (rises > 0.0).all():
            raise WorldError(f"lift '{self.name}': heights {list(self.heights)}; write two or more, from low to high")
        if not (self.speed > 0.0 and self.dwell > 0.0 and math.isfinite(self.speed) and math.isfinite(self.dwell)):
            raise WorldError(
                f"lift '{self.name}' never comes: speed {self.speed:g}, dwell {self.dwell:g}; write both above 0"
            )

    @cached_property
    def stops(self) -> tuple[int, ...]:
        """Numbers of the heights at which it stands, in order, in one round."""
        count = len(self.heights)
        return (*range(count), *range(count - 2, 0, -1))

    @cached_property
    def keys(self) -> FloatArray:
        """When it comes to each stop of a round, and when it leaves it, from the beginning of the round [s]; (S, 2)."""
        time, rows = 0.0, []
        for here, there in zip(self.stops, (*self.stops[1:], self.stops[0]), strict=True):
            rows.append((time, time + self.dwell))
            time += self.dwell + _PEAK * abs(self.heights[there] - self.heights[here]) / self.speed
        return read_only(np.array(rows))

    @cached_property
    def period(self) -> float:
        """Time of one round [s]."""
        last, first = self.heights[self.stops[-1]], self.heights[self.stops[0]]
        return float(self.keys[-1, 1] + _PEAK * abs(last - first) / self.speed)

    def height(self, times: npt.ArrayLike) -> FloatArray:
        """Return the height of its upper side at times (...) [s]; [m]."""
        phase = np.mod(np.asarray(times, dtype=np.float64) - self.start, self.period)
        begins = np.append(self.keys[:, 1], self.period)
        stop = np.searchsorted(self.keys[:, 0], phase, side="right") - 1
        levels = np.array([self.heights[k] for k in (*self.stops, self.stops[0])])
        arrives = np.append(self.keys[1:, 0], self.period)
        share = np.clip((phase - begins[stop]) / (arrives[stop] - begins[stop]), 0.0, 1.0)
        out: FloatArray = levels[stop] + (levels[stop + 1] - levels[stop]) * share**2 * (3.0 - 2.0 * share)
        return out

    def moments(self, start: float, end: float, step: float) -> FloatArray:
        """Return times from one to another at which its height is to be known to draw it: no more while it stands.

        Args:
            start: first of them [s].
            end: last of them [s].
            step: greatest distance of two of them while it moves [s].
        """
        times = np.append(np.arange(start, end, step), end)
        tops = self.height(times)
        moves = np.concatenate([[True], (tops[:-1] != tops[1:]), [True]])
        out: FloatArray = times[moves[:-1] | moves[1:]]
        return out

    def stand(self, number: int, after: float) -> tuple[float, float]:
        """Return when it comes to one of its heights and when it leaves: the first stand that ends after a time [s]."""
        rounds = math.floor((after - self.start) / self.period) - 1
        while True:
            for stop, (come, leave) in zip(self.stops, self.keys.tolist(), strict=True):
                begin = self.start + rounds * self.period
                if stop == number and begin + leave > after:
                    return begin + come, begin + leave
            rounds += 1

    @cached_property
    def area(self) -> shapely.Geometry:
        """Its floor plan."""
        x, y = 0.5 * self.size[0], 0.5 * self.size[1]
        corners = np.array([(-x, -y), (x, -y), (x, y), (-x, y)])
        return shapely.Polygon(planar.transform_points((*self.center, self.yaw), corners))

    def inside(self, points: FloatArray, margin: float = 0.0) -> npt.NDArray[np.bool_]:
        """Return which points (..., 2) of the floor plan are on it, or at most a margin beside it [m]; (...)."""
        own = planar.transform_points(planar.inverse((*self.center, self.yaw)), points)
        return np.asarray((np.abs(own) <= np.array(self.size) / 2.0 + margin).all(axis=-1))

    def at(self, time: float) -> Obstacle:
        """Return the platform where it is at a time [s]."""
        top = float(self.height(time))
        return Obstacle(Box(self.center, self.size, THICK, self.yaw, top - THICK), "platform", self.name, self.color)
