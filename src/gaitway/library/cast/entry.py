"""What the builders of the cast hand to the catalogue: a clip, and where it stands in the behaviour graph."""

from __future__ import annotations

from dataclasses import dataclass

from gaitway.errors import LibraryError
from gaitway.motion.clip import Clip

STYLE_NAMES = ("neutral", *(f"style-{number}" for number in range(1, 9)))
"""Individuals that every cast has: the mean one and eight who differ from it."""


@dataclass(frozen=True, eq=False)
class CastClip:
    """One clip of a built-in character and its place in the behaviour graph.

    Builders (`locomotion_clips`, `action_clips`, `stepping_clips`, ...) are functions of style, seed, takes and the
    behaviours asked for (None for all), and return lists of these. `catalog.load_cast` gathers entries that have the
    same `behavior` into one `Behavior` (they are its takes, so they must agree in `start`, `end` and `obstacle`) and
    keeps `clip.name`, which must be unique within the cast.

    The first frame of the clip is the hub pose of `start` and its last frame the hub pose of `end`, up to a planar
    move: when B follows A, the first frame of B replaces the last frame of A.
    """

    clip: Clip
    behavior: str
    """Name of the behaviour that this is a take of, such as "jog_left_30"."""
    start: str
    """State (hub pose) that its first frame is in, such as "stand", "walk" or "jog"."""
    end: str
    """State that its last frame is in."""
    obstacle: str | None = None
    """Kind of special obstacle that it passes ("jump", "duck", "crawl" ...), or None."""
    pass_time: float | None = None
    """Seconds from the first frame to the middle of the passage; given if and only if `obstacle` is."""

    def __post_init__(self) -> None:
        if (self.obstacle is None) != (self.pass_time is None):
            raise LibraryError(f"clip '{self.clip.name}': give obstacle and pass_time together, or neither")
        if self.pass_time is not None and not 0.0 <= self.pass_time <= self.clip.duration:
            raise LibraryError(
                f"clip '{self.clip.name}': pass_time {self.pass_time:.3g} s is outside its {self.clip.duration:.3g} s"
            )
