"""Constraints on a motion fragment that is put into a place (Choi et al. 2011, section 3.1).

Continuity pins place and direction at the start, so that a fragment follows the one before it. Contacts ask for a body
part within a range of places and directions. Motion limits say how far a fragment may be deformed, and which of its
frames must not be. What must not be penetrated is not stated beforehand; it is found while a fragment is squeezed in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gaitway.core.errors import GaitwayError
from gaitway.space.plan import Pose

Span = tuple[int, int]
"""First frame and last frame, both included."""
LEAST, MOST = 0.9, 1.1
"""Usual least and greatest stretch (Choi et al. 2011, section 4.1)."""
BEND = float(np.radians(60.0))
"""Usual greatest bend [rad/s]: 2 degrees a frame at 30 Hz (Choi et al. 2011, section 4.1)."""


@dataclass(frozen=True)
class Continuity:
    """Place and direction of a fragment in its first frame: where the fragment before it ends."""

    pose: Pose


@dataclass(frozen=True)
class Pin:
    """A place at which the path must be in a frame; with a direction, also how the body must be turned there."""

    frame: int
    place: tuple[float, float]
    """x and y [m], in the frame of the fragment's first pose."""
    turn: float | None = None
    """How far the path is turned there, against the direction that it has by itself [rad]; None for any."""

    def __post_init__(self) -> None:
        numbers = (*self.place, 0.0 if self.turn is None else self.turn)
        if not all(map(math.isfinite, numbers)):
            raise GaitwayError(f"pin in frame {self.frame} at {self.place} is not finite; write numbers")


@dataclass(frozen=True)
class Contact:
    """Places and directions of a body part that a fragment asks for: an attractor (equation 8)."""

    frame: int
    """Frame in which the body part must be there."""
    joint: int
    """Number of the joint."""
    low: tuple[float, float]
    """Least x and y [m]."""
    high: tuple[float, float]
    """Greatest x and y [m]."""
    headings: tuple[float, float] | None = None
    """Least and greatest heading of the body in that frame [rad]; None for any."""
    reach: float = 0.5
    """Distance from the region within which it attracts [m]."""

    def __post_init__(self) -> None:
        if not all(a <= b for a, b in zip(self.low, self.high, strict=True)):
            raise GaitwayError(
                f"contact in frame {self.frame}: low {self.low} is above high {self.high}; exchange them"
            )
        if self.headings is not None and not self.headings[0] <= self.headings[1]:
            raise GaitwayError(f"contact in frame {self.frame} has headings {self.headings}; write the least first")


@dataclass(frozen=True)
class MotionLimits:
    """How a fragment may be deformed."""

    stretch: tuple[float, float] = (LEAST, MOST)
    """Least and greatest factor on the length of five frames."""
    bend: float = BEND
    """Greatest bend that is added [rad/s]."""
    rigid: tuple[Span, ...] = ()
    """Spans that keep their shape and length, such as long double stances."""
    flight: tuple[Span, ...] = ()
    """Spans in the air: they may be stretched evenly, but not bent."""

    def __post_init__(self) -> None:
        low, high = self.stretch
        if not (0.0 < low <= 1.0 <= high and math.isfinite(high)):
            raise GaitwayError(f"stretch {self.stretch}; write the least, at most 1, and the greatest, at least 1")
        if not self.bend >= 0.0:
            raise GaitwayError(f"bend {self.bend}; write 0 or more, in radians a second")
        last = -1
        for first, stop in sorted((*self.rigid, *self.flight)):
            if not last < first < stop:
                raise GaitwayError(f"span ({first}, {stop}) is empty or overlaps another one; write them apart")
            last = stop

    def within(self, stretch: tuple[float, float], bend: float) -> bool:
        """Return whether a deformation with this least and greatest stretch and this bend [rad/s] is allowed."""
        return self.stretch[0] <= stretch[0] and stretch[1] <= self.stretch[1] and bend <= self.bend
