"""The interface of planners: a planner finds a plan for one character among others.

The table of planners is `gaitway.planners`; `docs/extending.md` shows how to add one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from gaitway.scene.characters import Character
from gaitway.space.plan import SearchResult
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.query import Query
from gaitway.space.traffic import Traffic


class Effort(Enum):
    """Effort of a planner in the search for a plan."""

    USUAL = "usual"
    """The effort that its options say."""
    LONG = "long"
    """Longer than usual: no other character is in the way, and yet no plan was found."""
    SHORT = "short"
    """Shorter than usual: the goal was given up, and any plan that ends near it will do."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PlanRequest:
    """A request to a planner: a plan of one character among others."""

    character: Character
    """The character; its options are in `character.plan`."""
    prepared: PreparedLibrary
    """Its library, prepared for the world."""
    query: Query
    """Start, goal and start time. The start, the tolerance and the goal heading may differ from the scene's."""
    traffic: Traffic
    """All movers and all characters that were planned before."""
    effort: Effort = Effort.USUAL


class Planner(Protocol):
    """A planner of scenes, made anew for each run of `plan_scene`. It may keep what it computes."""

    def prepare(self, character: Character, prepared: PreparedLibrary) -> None:
        """Compute beforehand what a character will need, such as a search tree. Called once for each character."""

    def find(self, request: PlanRequest) -> SearchResult:
        """Find a plan that ends at rest without a collision, or say why there is none.

        `SearchResult.found_by` names what found it.
        """
