"""What the engine shows at a moment: all that a page, a test or a record needs to know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.scene.scene import Scene
from gaitway.take.poses import Joints


class StudioRoute(NamedTuple):
    """Where a character means to go."""

    points: FloatArray
    """Along the way on the ground [m]; (K, 2)."""
    labels: tuple[tuple[str, float, float], ...]
    """Behaviours, and where they begin (x, y) [m]."""
    goal: tuple[float, float] | None
    """x, y [m]."""
    seconds: float = 0.0
    """How long it takes from now on [s]."""
    cost: float | None = None
    """Of the plan, where that is known."""
    found_by: str = ""
    """What found it: "tree" or "A*", where that is known."""
    nodes: int = 0
    """Moves of a tree that were tested for it, or nodes that a search expanded."""
    milliseconds: float = 0.0
    """That it took to be found; for show, it differs from run to run."""

    @property
    def length(self) -> float:
        """Of the way [m]."""
        return float(np.hypot(*np.diff(self.points, axis=0).T).sum())


@dataclass(frozen=True)
class StudioFigures:
    """Numbers of the latest frames."""

    characters: int = 0
    arrived: int = 0
    plans_a_second: float = 0.0
    planning_ms: float = 0.0
    """For one frame."""
    evaluation_ms: float = 0.0
    """For one frame."""
    collisions: int = 0
    """Moments of the last seconds at which two discs of characters met, or a root was in an obstacle."""


@dataclass(frozen=True, eq=False)
class StudioFrame:
    """One moment."""

    number: int
    """Of the frame, from 0."""
    mode: str
    """"live" or "take"."""
    playing: bool
    time: float
    """[s]."""
    length: float
    """Of the take [s]; 0 where there is none."""
    names: tuple[str, ...]
    """Of the characters, in the order of `joints`."""
    joints: tuple[Joints, ...]
    """One for each kind of body."""
    movers: FloatArray
    """x, y [m] and heading [rad] of the world's movers; (M, 3)."""
    figures: StudioFigures
    edition: int
    """Number of edits so far: where it changes the place has to be drawn anew."""
    message: str = ""
    """What to tell the person, if anything."""


class StudioFront(Protocol):
    """Shows what the engine does. All calls come from one thread."""

    def show_place(self, scene: Scene) -> None:
        """Draw a place, anew where there was one."""

    def show(self, frame: StudioFrame) -> None:
        """Draw a moment; it may be left out where the one before is still on its way."""

    def show_selected(self, name: str, behavior: str, ahead: StudioRoute | None) -> None:
        """Tell of the character that is selected; an empty name is nobody."""

    def tell(self, message: str) -> None:
        """Say something to the person."""


class NullFront:
    """Shows nothing."""

    def show_place(self, scene: Scene) -> None:
        """Nothing."""

    def show(self, frame: StudioFrame) -> None:
        """Nothing."""

    def show_selected(self, name: str, behavior: str, ahead: StudioRoute | None) -> None:
        """Nothing."""

    def tell(self, message: str) -> None:
        """Nothing."""


class RecordingFront:
    """Keeps all that it is told.

    Attributes:
        places: scenes that were drawn.
        frames: moments that were drawn.
        selected: names that were selected.
        messages: what was said.
    """

    def __init__(self) -> None:
        self.places: list[Scene] = []
        self.frames: list[StudioFrame] = []
        self.selected: list[str] = []
        self.messages: list[str] = []

    def show_place(self, scene: Scene) -> None:
        """Keep it."""
        self.places.append(scene)

    def show(self, frame: StudioFrame) -> None:
        """Keep it."""
        self.frames.append(frame)

    def show_selected(self, name: str, behavior: str, ahead: StudioRoute | None) -> None:
        """Keep its name."""
        del behavior, ahead
        self.selected.append(name)

    def tell(self, message: str) -> None:
        """Keep it."""
        self.messages.append(message)
