"""Options of live crowds, and what has happened in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from gaitway.core.errors import TreeError
from gaitway.scene.plan_options import SPEED_SPREAD

Dynamics = Literal["mixed", "clips", "crowd"]
"""How live people get past one another: by plans of clips where it is open and by local dynamics where it is dense, by
clips alone, or by local dynamics wherever there is a way on the floor."""


@dataclass(frozen=True)
class LiveOptions:
    """How live characters plan."""

    budget: int | None = None
    """Largest number of turns to plan in a step of time; None for a share of the characters, see `planner.SHARE`."""
    budget_ms: float | None = None
    """Longest time for planning in a step of time [ms]; runs then differ from machine to machine."""
    ahead: float = 6.5
    """Distance of sub-goals [m]; no farther than the trees reach."""
    reach: float = 1.0
    """Distance from a sub-goal that is near enough [m]."""
    tolerance: float = 0.5
    """Distance from a goal that is near enough [m], unless another one is given with the goal."""
    keep: int = 2
    """Number of moves of a plan that are certain to be played; all moves near the goal, and all up to a special one."""
    radius: float = 0.3
    """Radius of the disc about the root of each character; no two discs meet, nor do bodies [m]."""
    tests: int = 400
    """Largest number of moves that are tested for one sub-goal."""
    route_bytes: int = 256_000_000
    """Memory for fields of distances to goals [bytes], see `routes.RouteBook`. With 0 all characters go straight on,
    which is enough where obstacles are small."""
    retry: float = 0.4
    """Time after a failure until the next attempt [s]."""
    searches: float = 1.0
    """Amount of search in a step of time for characters that get no nearer to their goals, as a multiple of
    `stuck_characters.RATE` nodes; 0 for none."""
    speed_spread: float = SPEED_SPREAD
    """Standard deviation of people's own speeds over what their speed says, drawn by seed; 0: all are alike. They are
    one of few speeds, since each takes memory of its own."""
    dynamics: Dynamics = "clips"
    """How people get past one another, see `Dynamics`. Characters that are not people are always on clips."""
    upper_body: bool = True
    """Whether characters look where they go and at one another, and stand in ways of their own."""
    threads: int | None = None
    """Number of threads that plan side by side; None for one for each core. Results are the same with any number."""

    def __post_init__(self) -> None:
        if self.dynamics not in ("mixed", "clips", "crowd"):
            raise TreeError(f"dynamics '{self.dynamics}' of live characters; write mixed, clips or crowd")
        for name in ("ahead", "reach", "tolerance", "radius", "retry"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                raise TreeError(f"{name} {value} of live characters must be above 0")
        for name in ("route_bytes", "searches", "speed_spread"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise TreeError(f"{name} {getattr(self, name)} of live characters must be 0 or more")
        for name in ("keep", "tests", "budget", "budget_ms", "threads"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise TreeError(f"{name} {value} of live characters must be above 0")


class PlanEffort(NamedTuple):
    """Effort of the search for a plan."""

    source: str
    """Method that found the plan: "tree", "A*", or nothing yet."""
    nodes: int
    """Moves of the tree that were tested, or nodes that the search expanded."""
    milliseconds: float
    """Time that it took, for display only, since it differs from run to run [ms]. For a tree it is the mean of all
    characters that planned in the same step of time."""


@dataclass(frozen=True)
class LiveCounts:
    """Numbers of events since a crowd was made."""

    characters: int
    there: int
    """Number of characters at rest at their goals."""
    plans: int
    """Number of plans that were found."""
    failures: int
    """Number of turns to plan that found none."""
    arrivals: int
    tries: int
    """Number of sub-goals that were tried."""
    tests: int
    """Number of moves that were tested."""
    searches: int
    """Number of searches for characters that got no nearer to their goals."""
    in_throng: int
    """Number of people who are in the local dynamics now."""
    planning_ms: float
    """Time that planning took in the latest step [ms]."""
    planning_cpu_ms: float
    """Time of the processor for planning, of all threads together, without waiting for other programs [ms]."""
    planning_serial_ms: float
    """Part of it that is not shared among threads [ms]."""
    advancing_ms: float
    """Time that playing the characters took in the latest step, without poses [ms]."""
    evaluation_ms: float
    """Time that the latest poses took [ms]."""
    evaluation_cpu_ms: float
    """Time of the processor for poses [ms]."""
