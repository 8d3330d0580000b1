"""How live characters plan, and what has happened to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gaitway.core.errors import TreeError


@dataclass(frozen=True)
class LiveOptions:
    """How live characters plan."""

    budget: int | None = None
    """Most turns to plan in a step of time; None for a share of the characters, see `live.SHARE`."""
    budget_ms: float | None = None
    """Most time for planning in a step of time [ms]; runs then differ from machine to machine."""
    ahead: float = 6.5
    """How far away sub-goals are [m]; no farther than the trees reach."""
    reach: float = 1.0
    """How near to a sub-goal is near enough [m]."""
    tolerance: float = 0.5
    """How near to a goal is near enough [m], unless told with the goal."""
    keep: int = 2
    """Moves of a way that are sure to be played; all of them near the goal, and all up to a special one."""
    radius: float = 0.3
    """Of the disc about the root that no other's meets [m]; nor do their bodies."""
    tests: int = 400
    """Most moves that are tested for one sub-goal."""
    route_bytes: int = 256_000_000
    """Memory for fields of distances to goals, see `routes.RouteBook`; with 0 all go straight on, which is enough
    where things are small."""
    retry: float = 0.4
    """How long after a failure to try again [s]."""
    searches: float = 1.0
    """How much is searched in a step of time for those who get no nearer to their goals, as a multiple of
    `seeking.RATE` nodes; 0 for nothing."""

    def __post_init__(self) -> None:
        for name in ("ahead", "reach", "tolerance", "radius", "retry"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                raise TreeError(f"{name} {value} of live characters must be above 0")
        for name in ("route_bytes", "searches"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise TreeError(f"{name} {getattr(self, name)} of live characters must be 0 or more")
        for name in ("keep", "tests", "budget", "budget_ms"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise TreeError(f"{name} {value} of live characters must be above 0")


class PlanEffort(NamedTuple):
    """What it took to find a plan."""

    source: str
    """What found it: "tree", "A*", or nothing yet."""
    nodes: int
    """Moves of the tree that were tested, or nodes that the search expanded."""
    milliseconds: float
    """For show: it differs from run to run. Of a tree it is the mean of all that planned in the same step of time."""


@dataclass(frozen=True)
class LiveCounts:
    """What has happened since a crowd was made."""

    characters: int
    there: int
    """How many of them are at rest at their goals."""
    plans: int
    """Partial paths that were found."""
    failures: int
    """Turns that found none."""
    arrivals: int
    tries: int
    """Sub-goals that were looked at."""
    tests: int
    """Moves that were tested."""
    searches: int
    """For those who got no nearer to their goals."""
    planning_ms: float
    """Time that planning took in the latest step [ms]."""
    planning_cpu_ms: float
    """The same of the processor alone, without waiting for other programs [ms]."""
    advancing_ms: float
    """Time that playing took in the latest step, without poses [ms]."""
    evaluation_ms: float
    """Time that the latest poses took [ms]."""
    evaluation_cpu_ms: float
    """The same of the processor alone [ms]."""
