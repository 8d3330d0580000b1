"""Options that every planner understands; each planner's own options are a subclass beside its code.

The table of planners is `gaitway.planners`.
"""

from __future__ import annotations

from typing import NamedTuple

from gaitway.core.errors import PlanError, SceneError
from gaitway.planners import DEFAULT_PLANNER, planner_entry
from gaitway.scene.fields import SceneItem, field

TIME_WEIGHT = 0.5
"""Default cost of a second, in metres walked; with much less, characters dawdle and step sideways [m/s]."""

START_SPREAD = 2.0
"""Default time within which characters set off [s]: about two cycles of a walk, so that nobody walks in step."""

SPEED_SPREAD = 0.19
"""Default spread of people's speeds: 0.26 of 1.34 m/s in free walking (Weidmann 1993)."""


class Preparation(NamedTuple):
    """How a library is prepared for a planner."""

    time_weight: float = TIME_WEIGHT
    """Cost of a second [m/s]."""
    blends: bool = False
    """Whether blends of similar clips are added to the library."""
    weights: tuple[tuple[str, float], ...] = ()
    """Names of behaviours, and factors on their cost."""


class PlanOptions(SceneItem):
    """What every planner understands. A planner's own options are a subclass with a `planner` of its own."""

    planner: str = field("Which planner", DEFAULT_PLANNER)
    tolerance: float = field(
        "How near the goal is near enough; more is found sooner", 0.5, unit="m", gt=0.0, le=100.0, example=0.5
    )
    goal_heading_tolerance_deg: float = field(
        "How far the heading at the goal may be off, where a goal has one", 15.0, unit="degrees", gt=0.0, le=180.0
    )
    relax: bool = field("Whether to draw plans straight: fewer turns between the same places at the same times", True)
    max_seconds: float = field("Longest time to look for one character's plan", 60.0, unit="s", gt=0.0, le=86_400.0)

    start_spread: float = field(
        "Characters of one start time set off one after another within this time, drawn by seed; 0: all at once",
        START_SPREAD, unit="s", ge=0.0, le=60.0, example=0.0,
    )  # fmt: skip
    speed_spread: float = field(
        "Standard deviation of people's own speeds over what `speed` says, drawn by seed; 0: all are alike",
        SPEED_SPREAD, ge=0.0, le=1.0, example=0.0,
    )  # fmt: skip
    upper_body: bool = field(
        "Whether characters look where they go and at one another, stand in ways of their own, and differ from step to "
        "step; false leaves their clips as they are", True,
    )  # fmt: skip
    correct: bool = field(
        "Whether to plan with trunk and legs alone and let arms that touch something give way, so that narrow places "
        "carry more people", False,
    )  # fmt: skip

    def preparation(self) -> Preparation:
        """Return how libraries are prepared for this planner."""
        return Preparation()

    def arrives_exactly(self) -> bool:
        """Return whether characters stop at the goal exactly, by bending the last steps of their plans."""
        return False


def with_planner(options: PlanOptions, planner: str) -> PlanOptions:
    """Return the same options for another planner, as far as it has them.

    Raises:
        SceneError: if there is no such planner.
    """
    if options.planner == planner:
        return options
    try:
        model: type[PlanOptions] = planner_entry(planner).options_model()
    except PlanError as problem:
        raise SceneError(str(problem)) from None
    shared = options.model_fields_set & set(model.model_fields) - {"planner"}
    return model.model_validate({name: getattr(options, name) for name in shared})
