"""People of a plan of errands: where each stands, what was planned for each, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gaitway.errands.dispatcher import Span
from gaitway.errands.orders import Pose, SitDown, Walk
from gaitway.motion.clip import Clip
from gaitway.scene.characters import Character
from gaitway.space.plan import Plan, SearchResult
from gaitway.space.prepared import PreparedLibrary


@dataclass(frozen=True)
class Sitting:
    """How somebody sits down, sits and gets up."""

    order: SitDown
    seconds: float
    """How long [s]."""
    manner: str
    seed: int
    """Seed of all that is drawn."""
    start: float
    """When it begins [s]."""
    pose: Pose
    """Where the person stands then."""


@dataclass(frozen=True, eq=False)
class PlannedWalk:
    """One walk of a person."""

    plan: Plan
    clips: Mapping[str, Clip]
    """Clips of its own, by name."""
    exact: bool
    """Whether it ends exactly where it was to."""
    leaves: bool = False
    """Whether the person is gone at its end, in the midst of a walk."""
    sits: Sitting | None = None
    """How the person sits, if this is no walk."""


@dataclass(eq=False)
class Busy:
    """Somebody who does errands: who, when, and all walks. This class is **mutable** while plans are made."""

    character: Character
    prepared: PreparedLibrary
    owner: int
    pose: Pose
    after: str | None = None
    """The behaviour that ended last; None for somebody who has not moved."""
    walks: list[PlannedWalk] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    leaves: float | None = None
    """Time at which the person is gone [s]; None for somebody who stays."""
    seated: bool = False
    """Whether the person has just got up or handled a thing, and stands right before a seat or a table."""
    searched: list[SearchResult] = field(default_factory=list)
    """All searches for walks of this person."""
    order: Walk | None = None
    """The walk that was last ordered; None if something else was."""

    @property
    def name(self) -> str:
        """Name of the person."""
        return self.character.name

    def pose_at(self, time: float) -> tuple[float, float]:
        """Return where the person stood before the walk that begins last and not before a time [s]."""
        last = self.walks[-1].plan if self.walks else None
        began = last is not None and bool(last.steps) and last.steps[0].time >= time - 1e-9
        x, y = last.steps[0].pose[:2] if last is not None and began else self.pose[:2]
        return x, y

    def stands(self, time: float) -> bool:
        """Return whether the person is there and stands at a time [s]."""
        return self.leaves is None and (not self.walks or self.walks[-1].plan.end_time <= time)
