"""A clip fitted to one thing of a place, and where that thing is in it."""

from __future__ import annotations

from dataclasses import dataclass

from gaitway.library.behavior import Behavior
from gaitway.motion.clip import Clip


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedClip:
    """A clip that fits one thing of a place. It begins at the origin, on ground at z = 0, and leads along +x."""

    clip: Clip
    start: str
    end: str
    """States that it begins and ends in."""
    kind: str
    """Kind of obstacle that it passes, such as "stairs_up", "box" or "escalator_up"."""
    edge: float
    """Distance of the first edge (riser, or face of a block) ahead of the start [m]."""
    last_edge: float
    """Distance of the last edge ahead of the start [m]; that of a block is the same."""
    rise: float
    """How much higher the ground is at the end than at the start [m]."""
    lift_s: float
    """Time at which the first foot leaves the ground before the first edge for the ground beyond it [s]. Until then all
    that happens is level."""
    land_s: float
    """Time from which both feet are on the ground beyond the last edge [s]. From then on all that happens is level."""
    pass_time: float
    """Time at which the root is half way between the first edge and the last [s]."""
    tread: float = 0.0
    """How far ahead of the first edge the middle of its tread would be at the start [m]: from then on it moves at the
    speed of the escalator. 0 for all that stands still."""

    @property
    def name(self) -> str:
        """Name of the clip and of its behaviour."""
        return self.clip.name

    @property
    def approach(self) -> float:
        """Length of the level part before the first edge [m]."""
        return self.edge

    @property
    def leave(self) -> float:
        """Length of the level part after the last edge [m]."""
        return float(self.clip.root_positions[-1, 0]) - self.last_edge

    @property
    def behavior(self) -> Behavior:
        """The behaviour that plays the clip."""
        return Behavior(self.name, (self.name,), self.start, self.end, self.kind, self.pass_time)
