"""Orders: what a person is to do next, and how it went. Whoever moves people carries them out."""

from __future__ import annotations

from dataclasses import dataclass

from gaitway.scene.errands import Handle, SeatPlace

Pose = tuple[float, float, float]
"""x, y [m] and heading [rad]."""


@dataclass(frozen=True)
class Walk:
    """Walk to a point."""

    goal: tuple[float, float]
    heading: float | None = None
    """Heading there [rad]; None for any."""
    exact: bool = False
    """Whether to stop exactly there; otherwise near it."""
    ahead: tuple[float, float] | None = None
    """Direction [rad] and distance [m] from the goal to a place with as much room as usual, where there is less right
    before a seat; None if the goal has room."""
    leaving: bool = False
    """Whether the person is gone there, and need not stop."""
    tried: int = 0
    """How often the person has found no way there."""


@dataclass(frozen=True)
class Stand:
    """Stand until a time [s]."""

    until: float


@dataclass(frozen=True)
class Hold:
    """Stand until somebody else has moved on, or a time has come [s]."""

    until: float


@dataclass(frozen=True)
class SitDown:
    """Sit down on a seat, before which the person stands; sit for some seconds, and get up."""

    seat: SeatPlace
    seconds: float
    side: str = "front"
    """Where the seat is as seen from the person, as `gaitway.sitting` has it."""


@dataclass(frozen=True)
class Reach:
    """Do something with a thing, where the person stands."""

    errand: Handle
    hand: str
    """The hand that does it; that of the getter, where a thing goes from one person to another."""


@dataclass(frozen=True)
class Step:
    """Step to a pose nearby, where there is no room to walk."""

    to: Pose


@dataclass(frozen=True)
class Gone:
    """Be gone."""


@dataclass(frozen=True)
class Finished:
    """Stand for good: everything is done."""


Order = Walk | Stand | Hold | SitDown | Reach | Step | Gone | Finished


@dataclass(frozen=True)
class Outcome:
    """How an order went."""

    time: float
    """Time at which it was carried out or given up [s]."""
    pose: Pose
    """Where the person stands then."""
    reason: str = ""
    """Why it could not be carried out; empty if it was."""
    hopeless: bool = False
    """Whether trying again is of no use: nobody else is in the way."""
    shut: str = ""
    """The door that would have to open first, by name; empty if none is in the way."""
    barred: bool = False
    """Whether it was not people who were in the way, so that trying again soon is of no use."""
