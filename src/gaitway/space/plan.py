"""Plans: a character's sequence of behaviours, and how the search for it went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import overload

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip
from gaitway.space.mover_sweep import Swept

Pose = tuple[float, float, float]
"""x, y [m] and heading [rad]."""


NOT_PASSED = "no behaviour passes"
"""Begin of the name of a blocker that no behaviour of the library gets past."""


class Status(StrEnum):
    """How a search ended."""

    FOUND = "found"
    PARTIAL = "partial"
    """The budget ran out; the plan leads to the place nearest to the goal that was reached."""
    NO_PATH = "no path"
    """There is no plan: everything reachable was searched, or the goal lies in another part of free space."""
    BUDGET = "budget"
    """The budget ran out before anything useful was found."""


@dataclass(frozen=True)
class PlanStep:
    """One clip played once."""

    behavior: str
    clip: str
    pose: Pose
    """Root pose in its first frame."""
    time: float
    """Time of its first frame [s]."""
    speed: float = 1.0
    """Seconds of the clip that pass in a second."""


class LaidSteps(Sequence[PlanStep]):
    """Steps of a search, equal to a tuple of the same; the objects are made on first access."""

    def __init__(
        self, rows: FloatArray, behaviors: Sequence[str], clips: Sequence[str], speeds: FloatArray | None = None
    ) -> None:
        """Keep the rows of steps.

        Args:
            rows: x, y, heading, time and action of each step, and its speed if it is not the usual one; (N, 5) or
                (N, 6).
            behaviors: name of each action's behaviour.
            clips: name of each action's clip.
            speeds: usual speed of each action (`PreparedLibrary.speeds`); None for 1.
        """
        self.rows, self._behaviors, self._clips, self._speeds = rows, behaviors, clips, speeds

    @cached_property
    def _made(self) -> tuple[PlanStep, ...]:
        actions = self.rows[:, 4].astype(np.int64)
        speeds = np.ones(len(actions)) if self._speeds is None else self._speeds[actions]
        if self.rows.shape[1] > 5:
            speeds = speeds * self.rows[:, 5]
        return tuple(
            PlanStep(self._behaviors[action], self._clips[action], (x, y, heading), time, speed)
            for (x, y, heading, time), action, speed in zip(
                self.rows[:, :4].tolist(), actions.tolist(), speeds.tolist(), strict=True
            )
        )

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> PlanStep: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[PlanStep, ...]: ...
    def __getitem__(self, index: int | slice) -> PlanStep | tuple[PlanStep, ...]:
        return self._made[index]

    def __eq__(self, other: object) -> bool:
        return self._made == (other._made if isinstance(other, LaidSteps) else other)

    def __hash__(self) -> int:
        return hash(self._made)

    def __repr__(self) -> str:
        return repr(self._made)


@dataclass(frozen=True, eq=False)
class OwnStep:
    """A step whose clip was made for one character at one place, so that nothing else may be played there."""

    clip: Clip
    swept: Swept
    """What the step covers."""
    source: str | None = None
    """Clip of the library that it was bent from, if it may be bent once more; else None."""


@dataclass(frozen=True, init=False)
class Plan:
    """The steps of one character, from start to end."""

    steps: Sequence[PlanStep]
    end_pose: Pose
    end_time: float
    """Time at which the last step ends [s]."""
    cost: float
    """Sum of the steps' costs."""
    own: Mapping[str, OwnStep] = field(default_factory=dict, compare=False, repr=False)
    """Steps that play clips of their own, by the name of the clip."""

    def __init__(
        self, steps: Sequence[PlanStep], end_pose: Pose, end_time: float, cost: float,
        own: Mapping[str, OwnStep] = MappingProxyType({}),
    ) -> None:  # fmt: skip
        """Set all fields at once, see `SearchResult`."""
        fields = self.__dict__
        fields["steps"], fields["end_pose"], fields["end_time"], fields["cost"] = steps, end_pose, end_time, cost
        fields["own"] = own

    @property
    def behaviors(self) -> tuple[str, ...]:
        """Names of the behaviours in order."""
        return tuple(step.behavior for step in self.steps)


@dataclass(frozen=True, init=False)
class SearchResult:
    """How one search went."""

    status: Status
    plan: Plan | None
    """The plan, to the goal or part of the way; None if there is none."""
    expanded: int = 0
    """Nodes taken from the queue."""
    checks: int = 0
    """Actions tested for collisions."""
    seconds: float = 0.0
    """Time the search took [s]."""
    closest: Pose | None = None
    """The pose nearest to the goal that the search reached."""
    remaining: float = 0.0
    """Distance from there to the goal [m]."""
    blockers: dict[str, int] = field(default_factory=dict)
    """What blocked actions that would have led nearer: names of obstacles, movers and characters, "bounds",
    "no behaviour passes a jump" ..., with how often each did; the most frequent first."""
    reason: str = ""
    """One line for people."""
    found_by: str = ""
    """Method that gave this answer: "A*", "tree", or a name that a planner from outside the package chose."""
    earlier: tuple[SearchResult, ...] = ()
    """Searches for the same plan that came before and found none."""

    def __init__(
        self, status: Status, plan: Plan | None, expanded: int = 0, checks: int = 0, seconds: float = 0.0,
        closest: Pose | None = None, remaining: float = 0.0, blockers: dict[str, int] | None = None, reason: str = "",
        found_by: str = "", earlier: tuple[SearchResult, ...] = (),
    ) -> None:  # fmt: skip
        """Set all fields at once: one by one, a frozen class takes as long as the expansion of several nodes."""
        fields = self.__dict__
        fields["status"], fields["plan"], fields["expanded"], fields["checks"] = status, plan, expanded, checks
        fields["seconds"], fields["closest"], fields["remaining"] = seconds, closest, remaining
        fields["blockers"], fields["reason"] = {} if blockers is None else blockers, reason
        fields["found_by"], fields["earlier"] = found_by, earlier

    @property
    def found(self) -> bool:
        """Whether the goal was reached."""
        return self.status is Status.FOUND


def lies_in(what: str, place: Sequence[float], blocker: str) -> str:
    """Say in words that a start or a goal lies in a thing, given its name as `SearchResult.blockers` has it."""
    kind = blocker.removeprefix(f"{NOT_PASSED} ")
    thing = f"'{blocker}'" if kind == blocker else f"{kind}, which no behaviour passes"
    return f"{what} ({place[0]:g}, {place[1]:g}) is in {thing}, or too near to it"


def in_the_way(blockers: Sequence[str]) -> str:
    """Say in words what blocks a path, given names as `SearchResult.blockers` has them."""
    things = [f"'{who}'" for who in blockers if not who.startswith(NOT_PASSED)]
    words = [who for who in blockers if who.startswith(NOT_PASSED)]
    if things:
        words.append(f"{' and '.join(things)} {'is' if len(things) == 1 else 'are'} in the way")
    return "; ".join(words) or "others are in the way"
