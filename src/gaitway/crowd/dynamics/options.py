"""Options of a simulated crowd, and the body that its people have."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Literal

from gaitway.core.errors import CrowdError

Model = Literal["orca", "social_force"]
AtGoal = Literal["leave", "stand"]


@dataclass(frozen=True)
class CrowdBody:
    """Outline of a body from above: a capsule across the trunk, whose shoulders are wider than the trunk is deep."""

    width: float = 0.437
    """Width over the shoulders [m]."""
    depth: float = 0.256
    """Depth of the trunk [m]; a body as wide as it is deep is a disc."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.width) and 0.05 <= self.depth <= self.width <= 2.0):
            raise CrowdError(
                f"a body {self.width} m wide and {self.depth} m deep; write 0.05 <= depth <= width <= 2, in metres"
            )

    @staticmethod
    def disc(radius: float) -> CrowdBody:
        """Return a round body of a radius [m]."""
        return CrowdBody(2.0 * radius, 2.0 * radius)

    @property
    def radius(self) -> float:
        """Rounding of the capsule: half the depth [m]."""
        return 0.5 * self.depth

    @property
    def half_length(self) -> float:
        """Half the length of the capsule's axis, which runs from shoulder to shoulder [m]."""
        return 0.5 * (self.width - self.depth)

    @property
    def reach(self) -> float:
        """Farthest point of the body from its middle [m]."""
        return 0.5 * self.width


@dataclass(frozen=True, kw_only=True)
class CrowdOptions:
    """How people walk among others.

    Body, headway, horizon, patience and trunk rate are fitted to experiments with people (`docs/crowd.md`).
    """

    model: Model = "orca"
    """Local dynamics: optimal reciprocal collision avoidance (van den Berg et al. 2011), or social forces (Helbing and
    Molnar 1995)."""
    body: CrowdBody = field(default_factory=CrowdBody)
    speed_mean: float = 1.34
    """Mean of the speeds at which people walk when nobody is in the way [m/s]."""
    speed_spread: float = 0.26
    """Standard deviation of these speeds [m/s]."""
    step: float = 0.05
    """Longest time step [s]; `CrowdSimulation.step` divides longer ones."""
    horizon: float = 0.7
    """How far ahead people avoid one another [s]. More makes them cautious and slow in a throng."""
    headway: float = 0.6
    """Time gap that people leave to whoever walks in front of them [s]. More lowers the flow through a door."""
    keep_side: float = 0.7
    """How strongly people step aside to the right for others who come towards them; negative for the left, 0 for
    neither. Greatest useful magnitude 1."""
    lanes: float = 0.6
    """How strongly people steer for where others walk their way, rather than against a stream; 0 for not at all."""
    patience: float = 2.736
    """Time for which people are held up before they turn their shoulders wholly and press on sideways [s]."""
    neighbors: int = 8
    """Greatest number of people that each one takes account of; those farther away than the nearest are left out."""
    sight: float = 3.0
    """Greatest distance of those people [m]."""
    sweeps: int = 2
    """Number of sweeps in which overlapping bodies are moved apart after a step."""
    trunk_turn: float = 1.4
    """Greatest angle between the way that people go and the way that their trunks face [rad]."""
    trunk_rate: float = 4.0
    """Greatest speed at which trunks turn [rad/s]."""
    agility: float = 0.0
    """Greatest acceleration of people [m/s2], for bodies whose feet must follow: they do not spring aside, and walk
    backward and sideways slower than ahead. 0 for any acceleration."""
    yield_after: float = 0.0
    """Time without progress after which people of one side of a narrow place step back for those of the other [s]; 0
    for never."""
    at_goal: AtGoal = "leave"
    """What people do at their goals: leave the simulation, or stand there in the way of others."""
    makes_way: bool = False
    """Whether those who stand at their goals step aside for whoever comes, and come back afterwards."""
    stuck_after: float = 5.0
    """Time without progress after which a person counts as stuck [s]."""
    threads: int | None = None
    """Number of threads; None for all that Numba has. The results are the same with any number."""

    def __post_init__(self) -> None:
        if self.model not in ("orca", "social_force"):
            raise CrowdError(f"no crowd model '{self.model}'; write orca or social_force")
        if self.at_goal not in ("leave", "stand"):
            raise CrowdError(f"at_goal '{self.at_goal}'; write leave or stand")
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if not (math.isfinite(value) and low <= value <= high):
                raise CrowdError(f"crowd option {name} is {value}; write a number from {low:g} to {high:g}")
        if self.threads is not None and self.threads < 1:
            raise CrowdError(f"crowd option threads is {self.threads}; write 1 or more")


_RANGES: dict[str, tuple[float, float]] = {
    "speed_mean": (0.1, 5.0),
    "speed_spread": (0.0, 2.0),
    "step": (0.005, 0.1),
    "horizon": (0.1, 10.0),
    "headway": (0.0, 5.0),
    "keep_side": (-1.0, 1.0),
    "lanes": (0.0, 2.0),
    "patience": (0.1, 60.0),
    "neighbors": (1, 24),
    "sight": (0.6, 10.0),
    "sweeps": (0, 8),
    "trunk_turn": (0.0, 1.5),
    "trunk_rate": (0.1, 10.0),
    "agility": (0.0, 50.0),
    "yield_after": (0.0, 600.0),
    "stuck_after": (0.5, 600.0),
}
assert set(_RANGES) <= {entry.name for entry in fields(CrowdOptions)}
