"""What a character has under its feet, frame by frame: the ground of a world, or floors and slopes one after another.

Where floors lie above one another, a place alone does not tell on which of them a character walks. Its plan does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.world.terrain import Terrain
from gaitway.world.world import World


@dataclass(frozen=True, eq=False)
class GroundSpan:
    """Ground on which a character walks from some time on."""

    start: float
    """Time from which on it counts [s]."""
    relief: Terrain | None
    """Heights of the ground; None for those of the world's own terrain."""
    height: float
    """Height of a level floor over those [m]."""
    level: float
    """Height in the motion of the floor that lies there [m]."""


class Underfoot:
    """The ground under a motion."""

    def __init__(self, world: World, spans: Sequence[GroundSpan] = (), times: FloatArray | None = None) -> None:
        """Take the ground.

        Args:
            world: the world with its terrain, and with obstacles that characters can stand on.
            spans: ground that counts instead, in order of time; none for the world's own at all times.
            times: times of the frames of the motion [s]; (F,).
        """
        self.world = world
        self._spans = tuple(spans) or (GroundSpan(-np.inf, None, 0.0, 0.0),)
        starts = [span.start for span in self._spans]
        count = 0 if times is None else len(times)
        found = np.searchsorted(starts, np.zeros(0) if times is None else times + 1e-9, side="right") - 1
        self._span: IntArray = np.maximum(found, 0) if count else np.zeros(0, dtype=np.int64)

    @property
    def even(self) -> bool:
        """Whether all of it is level."""
        return self.world.terrain is None and all(span.relief is None for span in self._spans)

    @property
    def level(self) -> FloatArray | float:
        """Height of the floor in each frame of the motion [m]; (F,), or one number."""
        if len(self._spans) == 1:
            return self._spans[0].level
        return np.array([span.level for span in self._spans])[self._span]

    def ground(self, points: FloatArray) -> FloatArray:
        """Return the height of the ground [m] (F, ...) under points (F, ..., 2), the first axis frame by frame."""
        if len(self._spans) == 1:
            return self._height(0, points)
        out = np.empty(points.shape[:-1])
        for number in np.unique(self._span).tolist():
            rows = self._span == number
            out[rows] = self._height(number, points[rows])
        return out

    @property
    def sloping(self) -> BoolArray:
        """Whether what is under each frame is not level; (F,)."""
        slopes = [self.world.terrain is not None if span.relief is None else True for span in self._spans]
        return np.array(slopes)[self._span]

    def of_frames(self, rows: slice) -> Underfoot:
        """Return the ground under some of the frames."""
        out = Underfoot(self.world, self._spans)
        out._span = self._span[rows]
        return out

    def during(self, start: int, stop: int) -> Underfoot:
        """Return the ground in the middle of some frames, for points without a frame."""
        if len(self._spans) == 1:
            return self
        return Underfoot(self.world, [self._spans[int(self._span[(start + stop) // 2])]])

    def standing_height(self, points: FloatArray, near: FloatArray | float) -> FloatArray:
        """Return the height of the ground, or of the upper side of a thing, that is nearest to a height [m]."""
        return self.world.standing_height(points, near)

    def _height(self, number: int, points: FloatArray) -> FloatArray:
        span = self._spans[number]
        found = self.world.ground(points) if span.relief is None else span.relief.height(points)
        return found if span.height == 0.0 else found + span.height
