"""Options of the tree planner, as scene files have them."""

from __future__ import annotations

from typing import Literal

from gaitway.scene.fields import field
from gaitway.scene.plan_options import TIME_WEIGHT, PlanOptions, Preparation


class TreeOptions(PlanOptions):
    """Options of the tree planner (precomputed search trees, and A* where they have no answer)."""

    planner: Literal["tree"] = field("Which planner", "tree")
    nodes: int = field(
        "Nodes of each tree; more find cheaper ways, and more of them, but take longer to grow", 250_000,
        ge=1_000, le=2_000_000,
    )  # fmt: skip
    reach: float | None = field(
        "How far ahead sub-goals lie on a long way; trees are as large. As far as one gets in 6 seconds unless given",
        None,
        unit="m",
        ge=3.0,
        le=50.0,
    )
    fallback: bool = field("Whether A* looks for a plan where the trees have none", True)
    time_weight: float = field(
        "What a second costs, in metres walked; 0 plans for the shortest way however long that takes", TIME_WEIGHT,
        unit="m/s", ge=0.0, le=100.0,
    )  # fmt: skip
    exact: bool = field(
        "Whether to stop at the goal exactly, within 2 cm and 2 degrees, by bending the last steps", False
    )

    def preparation(self) -> Preparation:
        """Return how libraries are prepared for this planner."""
        return Preparation(self.time_weight)

    def arrives_exactly(self) -> bool:
        """Return whether characters stop at the goal exactly, by bending the last steps of their plans."""
        return self.exact
