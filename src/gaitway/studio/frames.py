"""What the engine shows in a frame, and the fronts that show it, such as the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.scene.scene import Scene
from gaitway.studio.things import StudioThing
from gaitway.take.evaluation import Joints

HIPS = 0.95
"""Usual height of roots over the ground [m], by which the floor of somebody is told."""


class StudioErrand(NamedTuple):
    """An errand of a person, as lists and timelines show it."""

    label: str
    """What it is, such as "queue counter"."""
    state: str
    """What came of it ("done", "not done", "given up"), or "now", or "to come"."""
    start: float | None = None
    end: float | None = None
    """From when to when [s]; None where that is not known yet."""
    reason: str = ""
    """Why it was not done."""


class StudioRoute(NamedTuple):
    """Where a character is about to go, and what it does there."""

    points: FloatArray
    """Points of the route; the ground is near their heights [m]; (K, 3)."""
    labels: tuple[tuple[str, float, float, float], ...]
    """Behaviours, and where they begin (x, y, z) [m]."""
    goal: tuple[float, float, float] | None
    """x, y, z [m]."""
    seconds: float = 0.0
    """Time that the route takes from now on [s]."""
    cost: float | None = None
    """Cost of the plan, where it is known."""
    found_by: str = ""
    """What found the plan: "tree" or "A*", where it is known."""
    nodes: int = 0
    """Number of moves of a tree that were tested for the plan, or of nodes that a search expanded."""
    milliseconds: float = 0.0
    """Time that it took to find the plan, for display only, since it differs from run to run [ms]."""
    errands: tuple[StudioErrand, ...] = ()
    """Errands that are over, the one that is going on, and those to come."""

    @property
    def length(self) -> float:
        """Length of the route [m]."""
        return float(np.hypot(*np.diff(self.points[:, :2], axis=0).T).sum())


@dataclass(frozen=True)
class StudioTrouble:
    """Something that is not as it should be: somebody who cannot get on, or a collision."""

    kind: Literal["stuck", "not arrived", "no room", "collision"]
    names: tuple[str, ...]
    """Who; two characters where they are in one another."""
    reason: str
    """Why, in words."""
    time: float
    """Time at which it began [s]."""
    end: float | None = None
    """Time at which it was over [s]; None if it is not, or goes on to the end of the take."""
    place: tuple[float, float, float] | None = None
    """Where; None where the characters themselves are."""


@dataclass(frozen=True)
class StudioFigures:
    """Figures of the latest frames."""

    characters: int = 0
    arrived: int = 0
    plans_a_second: float = 0.0
    planning_ms: float = 0.0
    """For one frame."""
    evaluation_ms: float = 0.0
    """For one frame."""
    collisions: int = 0
    """Number of collisions by the definition of audits, each counted once: since the live scene began, or in the whole
    take."""
    checking: bool = False
    """Whether the collisions of a take are still being looked for."""


@dataclass(frozen=True, eq=False)
class StudioFrame:
    """One frame."""

    number: int
    """Number of the frame, from 0."""
    mode: str
    """"live" or "take"."""
    playing: bool
    time: float
    """[s]."""
    length: float
    """Length of the take [s]; 0 where there is none."""
    names: tuple[str, ...]
    """Names of the characters, in the order of `joints`."""
    joints: tuple[Joints, ...]
    """Joints of the characters, one part for each library."""
    movers: FloatArray
    """x, y [m] and heading [rad] of the world's movers; (M, 3)."""
    figures: StudioFigures
    edition: int
    """Number of edits so far; when it changes the world must be drawn again."""
    message: str = ""
    """Message to the user, if any."""
    troubles: tuple[StudioTrouble, ...] = ()
    """Who cannot get on or does not arrive, and the latest collisions, each in order of time."""
    preparing: bool = False
    """Whether the scene is still being prepared, so that all stand where they start."""
    planning: str = ""
    """What is being done for the take that is planned meanwhile; "" if none is."""
    errands: Mapping[str, tuple[StudioErrand, ...]] = field(default_factory=dict)
    """All errands of a take by name, as they end; empty while the scene is lived."""
    happened: tuple[str, ...] = ()
    """Names of the events of the scene's rules that have happened, while it is lived."""
    things: tuple[StudioThing, ...] = ()
    """Things that people handle, where they are now."""


class StudioFront(Protocol):
    """Something that shows what the engine does. All calls come from one thread."""

    def show_place(self, scene: Scene) -> None:
        """Draw the world of a scene, in place of the one before."""

    def show(self, frame: StudioFrame) -> None:
        """Draw a frame; it may be left out where the frame before is still being sent."""

    def show_selected(self, name: str, behavior: str, ahead: StudioRoute | None) -> None:
        """Show the selected character; an empty name means none."""

    def tell(self, message: str) -> None:
        """Show a message to the user."""


class NullFront:
    """A front that shows nothing."""

    def show_place(self, scene: Scene) -> None:
        """Do nothing."""

    def show(self, frame: StudioFrame) -> None:
        """Do nothing."""

    def show_selected(self, name: str, behavior: str, ahead: StudioRoute | None) -> None:
        """Do nothing."""

    def tell(self, message: str) -> None:
        """Do nothing."""
