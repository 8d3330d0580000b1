"""What planning yields: a character's sequence of behaviours, and how the search for it went."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

Pose = tuple[float, float, float]
"""x, y [m] and heading [rad]."""


class Status(StrEnum):
    """How a search ended."""

    FOUND = "found"
    PARTIAL = "partial"
    """The budget ran out; the plan leads to the place nearest to the goal that was reached."""
    NO_PATH = "no path"
    """There is none: everything that can be reached was looked at, or the goal lies in another part of free space."""
    BUDGET = "budget"
    """The budget ran out before anything useful was found."""


@dataclass(frozen=True)
class PlanStep:
    """One clip played once."""

    behavior: str
    clip: str
    pose: Pose
    """Where the root is in its first frame."""
    time: float
    """When its first frame is shown [s]."""


@dataclass(frozen=True)
class Plan:
    """What one character does, from its start to its end."""

    steps: tuple[PlanStep, ...]
    end_pose: Pose
    end_time: float
    """When the last step is over [s]."""
    cost: float
    """Sum of the steps' costs."""

    @property
    def behaviors(self) -> tuple[str, ...]:
        """Names of the behaviours in order."""
        return tuple(step.behavior for step in self.steps)


@dataclass(frozen=True)
class SearchResult:
    """How one search went."""

    status: Status
    plan: Plan | None
    """None unless something was found, all or part of the way."""
    expanded: int = 0
    """Nodes taken from the queue."""
    checks: int = 0
    """Actions tested for collisions."""
    seconds: float = 0.0
    """Time the search took [s]."""
    closest: Pose | None = None
    """The place nearest to the goal that the search got to."""
    remaining: float = 0.0
    """Distance from there to the goal [m]."""
    blockers: dict[str, int] = field(default_factory=dict)
    """What stood in the way of actions that would have led nearer: names of obstacles, movers and characters, "bounds",
    "no behaviour passes a jump" ..., with how often; the most frequent first."""
    reason: str = ""
    """One line for people."""

    @property
    def found(self) -> bool:
        """Whether the goal was reached."""
        return self.status is Status.FOUND
