"""Options of the planner that simulates a throng, as scene files have them."""

from __future__ import annotations

from typing import Literal

from gaitway.scene.fields import field
from gaitway.scene.plan_options import PlanOptions


class ThrongOptions(PlanOptions):
    """Options of the planner that simulates all characters of a scene as a throng of whole bodies."""

    planner: Literal["crowd"] = field("Which planner", "crowd")
    dynamics: Literal["orca", "social_force"] = field(
        "How people avoid one another: reciprocal velocity obstacles, or social forces", "orca"
    )
    keep_side: float = field(
        "How strongly people step aside to the right for others who come towards them; negative for the left", 0.7,
        ge=-1.0, le=1.0,
    )  # fmt: skip
    duration: float = field(
        "Longest time that is simulated; who has not arrived by then is named", 600.0, unit="s", gt=0.0, le=3_600.0
    )
