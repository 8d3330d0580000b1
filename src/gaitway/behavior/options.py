"""Options of the behaviour planner, as scene files have them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, WithJsonSchema

from gaitway.scene.fields import field, wrong
from gaitway.scene.plan_options import TIME_WEIGHT, PlanOptions, Preparation
from gaitway.scene.problem import shown

HEURISTICS = ("distance", "route", "heading")
"""All estimates of the cost to the goal, by name."""


def _heuristics(value: Any) -> Any:
    form = f"a list of {', '.join(HEURISTICS)}"
    if not isinstance(value, tuple) or not value:
        raise wrong("is not a list of heuristics", form)
    for word in value:
        if word not in HEURISTICS:
            raise wrong(f"has {shown(word)}, which is no heuristic", form)
    if len(set(value)) < len(value):
        raise wrong("has a heuristic twice", form)
    return value


class BehaviorOptions(PlanOptions):
    """Options of the behaviour planner (A* over a behaviour graph in space and time)."""

    planner: Literal["behavior"] = field("Which planner", "behavior")
    weight: float = field(
        "Factor on the estimated cost to the goal; 1 finds the best plan or nearly so, more finds one sooner",
        1.0,
        ge=1.0,
        le=100.0,
    )
    time_weight: float = field(
        "What a second costs, in metres walked; 0 plans for the shortest way however long that takes", TIME_WEIGHT,
        unit="m/s", ge=0.0, le=100.0,
    )  # fmt: skip
    max_nodes: int = field("Most nodes to expand for one character", 1_000_000, ge=1, le=1_000_000_000)
    heuristics: Annotated[
        tuple[str, ...],
        BeforeValidator(_heuristics),
        WithJsonSchema(
            {"type": "array", "items": {"enum": list(HEURISTICS)}, "minItems": 1, "maxItems": 3, "uniqueItems": True}
        ),
    ] = field(
        "Estimates of the cost to the goal, of which the largest counts: distance (straight line), route (around the "
        "obstacles), heading (turning, starting and stopping)",
        ("distance", "route", "heading"),
    )
    exact: bool = field(
        "Whether to stop at the goal exactly, within 2 cm and 2 degrees, by bending the last steps", False
    )
    blends: bool = field(
        "Whether to use blends of similar clips too: turns and steps between those that the library has", False
    )
    anytime: bool = field("Whether to improve a first plan until the time is up", False)

    def preparation(self) -> Preparation:
        """Return how libraries are prepared for this planner."""
        return Preparation(self.time_weight, self.blends)

    def arrives_exactly(self) -> bool:
        """Return whether characters stop at the goal exactly, by bending the last steps of their plans."""
        return self.exact
