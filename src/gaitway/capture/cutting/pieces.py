"""Pieces: what lies in a take between two hubs, before and after it has been led to their poses."""

from __future__ import annotations

from dataclasses import dataclass

from gaitway.capture.cutting.hubs import Hub
from gaitway.capture.takes import PreparedTake, Special
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip


@dataclass(frozen=True, eq=False)
class Mark:
    """A frame of a take that counts as a hub's."""

    frame: int
    hub: Hub
    pose: FloatArray
    """Where the hub's pose lies in the take (x, y, heading); (3,)."""
    fit: float
    """Distance to the hub over its radius; up to 1 it is one of the hub's own."""


@dataclass(frozen=True, eq=False)
class Piece:
    """Frames of a take from one mark to another."""

    take: PreparedTake
    begin: Mark
    end: Mark
    special: Special | None = None
    """What is passed on the way."""

    @property
    def fit(self) -> float:
        """The worse of both marks'."""
        return max(self.begin.fit, self.end.fit)


@dataclass(frozen=True, eq=False)
class Snapped:
    """A clip that begins and ends in hub poses."""

    clip: Clip
    start: Hub
    end: Hub
    source: str
    """The take that it comes from."""
    fit: float
    """As of its piece."""
    frames: tuple[int, int] = (0, 0)
    """Which frames of it."""
    special: str = ""
    """Kind of obstacle that it passes, or ""."""
    pass_frame: int = 0
    """When it does."""
    made: str = ""
    """How it was made, where it is not a piece of capture."""
    mirrored: bool = False
    """Whether it is the mirror image of another."""
    raw: Clip | None = None
    """The frames that it was made of, before they were led to hubs; None where there are none."""
