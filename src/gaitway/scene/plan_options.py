"""Options of planners: each planner brings a model of its own, and a scene's `plan` is checked by it.

A planner adds its options with `register_options`; the scene file, the messages and the JSON Schema then know them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, WithJsonSchema

from gaitway.core.errors import SceneError
from gaitway.scene.fields import SceneItem, field, wrong
from gaitway.scene.problem import shown

DEFAULT_PLANNER = "behavior"


class PlanOptions(SceneItem):
    """What every planner understands."""

    planner: str = field("Which planner", DEFAULT_PLANNER)
    tolerance: float = field(
        "How near the goal is near enough; more is found sooner", 0.5, unit="m", gt=0.0, le=100.0, example=0.5
    )
    goal_heading_tolerance_deg: float = field(
        "How far the heading at the goal may be off, where a goal has one", 15.0, unit="degrees", gt=0.0, le=180.0
    )
    max_seconds: float = field("Longest time to look for one character's plan", 60.0, unit="s", gt=0.0, le=86_400.0)


HEURISTICS = ("distance", "route", "heading")


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
        "What a second costs, in metres walked; 0 plans for the shortest way however long that takes", 0.5,
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
        "What a second costs, in metres walked; 0 plans for the shortest way however long that takes", 0.5,
        unit="m/s", ge=0.0, le=100.0,
    )  # fmt: skip
    exact: bool = field(
        "Whether to stop at the goal exactly, within 2 cm and 2 degrees, by bending the last steps", False
    )


_MODELS: dict[str, type[PlanOptions]] = {"behavior": BehaviorOptions, "tree": TreeOptions}


def register_options(planner: str, model: type[PlanOptions]) -> None:
    """Make a planner's options known; `model.planner` must be that name."""
    _MODELS[planner] = model


def planner_names() -> tuple[str, ...]:
    """Planners whose options are known."""
    return tuple(_MODELS)


def with_planner(options: PlanOptions, planner: str) -> PlanOptions:
    """The same options for another planner, as far as it has them.

    Raises:
        SceneError: if there is no such planner.
    """
    if planner not in _MODELS:
        raise SceneError(f"{shown(planner)} is no planner that there is; write one of {', '.join(_MODELS)}")
    if options.planner == planner:
        return options
    shared = options.model_fields_set & set(_MODELS[planner].model_fields) - {"planner"}
    return _MODELS[planner].model_validate({name: getattr(options, name) for name in shared})


def options_model(planner: str) -> type[PlanOptions]:
    """The model of a planner's options."""
    return _MODELS[planner]
