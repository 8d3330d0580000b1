"""Options of the planner of deformable motion, as scene files have them."""

from __future__ import annotations

from typing import Literal

import numpy as np

from gaitway.deform.constraints import LEAST, MOST, MotionLimits
from gaitway.scene.fields import field
from gaitway.scene.plan_options import TIME_WEIGHT, PlanOptions, Preparation


class DeformOptions(PlanOptions):
    """Options of the planner of deformable motion (limited-horizon search, Choi et al. 2011)."""

    planner: Literal["deform"] = field("Which planner", "deform")
    weight: float = field("Factor on the estimated cost to the goal; more finds a plan sooner", 1.5, ge=1.0, le=100.0)
    time_weight: float = field("What a second costs, in metres walked", TIME_WEIGHT, unit="m/s", ge=0.0, le=100.0)
    horizon: int = field(
        "Nodes that are expanded before a character commits itself to its next clip", 60, ge=1, le=100_000
    )
    max_nodes: int = field(
        "Most nodes to expand for one character; a way longer than 8 m has more", 600, ge=1, le=10_000_000
    )
    least_stretch: float = field("Least factor on the length of a step", LEAST, gt=0.1, le=1.0)
    most_stretch: float = field("Greatest factor on the length of a step", MOST, ge=1.0, le=3.0)
    bend_deg: float = field("Greatest bend that is added to a path", 60.0, unit="degrees/s", ge=0.0, le=720.0)
    squeeze: bool = field("Whether fragments are deformed at all; false plays all clips as they are", True)
    give_way: bool = field("Whether two who meet where it is narrow pass each other by shoulders and arms", True)
    upper_body: bool = field("Whether characters look about and differ from step to step; limbs may then touch", False)

    def preparation(self) -> Preparation:
        """Return how libraries are prepared for this planner."""
        return Preparation(self.time_weight)

    def limits(self) -> MotionLimits:
        """Return how far fragments may be deformed."""
        return MotionLimits((self.least_stretch, self.most_stretch), float(np.radians(self.bend_deg)))
