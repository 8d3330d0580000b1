"""Queries: from where to where a plan shall lead, for every planner."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Protocol

import numpy as np

from gaitway.core.array_handle import ArrayHandle
from gaitway.core.errors import GaitwayError
from gaitway.space._traffic_kernels import TrafficArrays, no_traffic
from gaitway.space.plan import Pose
from gaitway.space.prepared_actions import PreparedActions

NO_TRAFFIC = ArrayHandle(no_traffic())
"""Traffic of an empty world, for kernels."""
OTHER_PART = "the goal lies in another part of free space, which cannot be reached from the start"
"""Reason why there is no plan."""
CLOSE = 0.08
"""How much nearer to obstacles than during a plan a character may stand at the start [m]."""


class TrafficView(Protocol):
    """The part of traffic that a search reads."""

    @property
    def arrays(self) -> TrafficArrays:
        """Arrays for kernels."""

    @property
    def names(self) -> Sequence[str]:
        """Names of the owners, by number."""


@dataclass(frozen=True)
class Query:
    """Start and goal of a plan, and limits of the search for it."""

    start: Pose
    goal: tuple[float, float]
    """x, y [m]."""
    _: KW_ONLY
    goal_heading: float | None = None
    """Wanted heading at the goal [rad], or None for any."""
    tolerance: float = 0.5
    """Distance from the goal within which a plan may end [m]."""
    heading_tolerance: float = float(np.radians(15.0))
    """Greatest difference from the goal heading [rad]."""
    start_time: float = 0.0
    """Time at which the plan begins [s]."""
    start_behavior: str | None = None
    """The behaviour that has just ended; None for a character that stands."""
    followed_by: str | None = None
    """The behaviour that must be able to follow the plan, for a character that goes on; None: it stands there."""
    seed: int = 0
    """Seed of the choice among clips of a behaviour."""
    weight: float = 1.0
    """Factor on the estimated cost to the goal, 1 or more; the plan costs at most this many times the least cost."""
    anytime: bool = False
    """Whether to look for better plans, with less and less weight, until the budget is spent."""
    max_nodes: int = 1_000_000
    """Most nodes to expand."""
    max_seconds: float = 60.0
    """Most time that the search may take [s]."""
    most_cost: float = math.inf
    """Cost that the plan must stay below."""
    crowded: float = 0.0
    """How much nearer than usual other characters may be near the start [m]."""
    close: float = CLOSE
    """How much nearer to obstacles than during a plan the character may be at the start [m]."""
    coarse: float = 1.0
    """How many times larger than usual the bins are in which states count as the same: a plan is found sooner, or
    missed."""

    def __post_init__(self) -> None:
        numbers = (*self.start, *self.goal, self.goal_heading or 0.0, self.start_time)
        if not all(map(math.isfinite, numbers)):
            raise GaitwayError(f"start {self.start}, goal {self.goal} and times must be finite numbers")
        if not (self.tolerance >= 0.0 and self.heading_tolerance >= 0.0 and self.weight >= 1.0 and self.coarse >= 1.0):
            raise GaitwayError(
                f"tolerance {self.tolerance}, heading tolerance {self.heading_tolerance} must be 0 or more, "
                f"weight {self.weight} and coarse {self.coarse} 1 or more"
            )


def ask(actions: PreparedActions, query: Query, weight: float = 1.0, bound: float = math.inf) -> None:
    """Write a query into memory for the kernels, with the heading within half a turn of 0.

    Args:
        actions: actions of a library, with the memory that the query is written to.
        query: the query.
        weight: factor on the estimated cost to the goal.
        bound: a plan must cost less than this.
    """
    (x, y, heading), (goal_x, goal_y), turned = query.start, query.goal, query.goal_heading
    leeway = math.tau if turned is None else query.heading_tolerance
    actions.ask(
        x, y, heading - math.tau * math.floor((heading + math.pi) / math.tau), query.start_time, goal_x, goal_y,
        query.tolerance + 1e-9, turned or 0.0, leeway + 1e-9, weight, bound, query.close, query.crowded,
        1.0 / (actions.bins[0] * query.coarse), max(round(actions.bins[1] / math.sqrt(query.coarse)), 1),
        -1.0 if query.followed_by is None else actions.table.index(query.followed_by),
    )  # fmt: skip
