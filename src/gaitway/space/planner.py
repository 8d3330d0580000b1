"""The interface of planners: a planner finds a plan for one character among others, or moves all of them at once.

The table of planners is `gaitway.planners`; `docs/extending.md` shows how to add one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, runtime_checkable

from gaitway.core.arrays import FloatArray
from gaitway.core.progress import Progress
from gaitway.library.behavior import Library
from gaitway.scene.characters import Character, LibraryRef
from gaitway.scene.scene import Scene
from gaitway.space.plan import SearchResult
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.query import Query
from gaitway.space.traffic import Traffic
from gaitway.take.model import Take


class Effort(Enum):
    """Effort of a planner in the search for a plan."""

    USUAL = "usual"
    """The effort that its options say."""
    LONG = "long"
    """Longer than usual: no other character is in the way, and yet no plan was found."""
    SHORT = "short"
    """Shorter than usual: the goal was given up, and any plan that ends near it will do."""
    BRIEF = "brief"
    """As short as possible: who finds no way soon waits a moment, and others will have moved on."""
    PATIENT = "patient"
    """Brief too, for who would rather wait until others have gone than step around them."""
    GLANCE = "glance"
    """Briefer still: there is a plan already, and only one that is better, as calm, and found at once will do."""


@dataclass(frozen=True, eq=False)
class Company:
    """Where somebody would like to be beside companions, over time."""

    start: float
    """Time of the first place [s]."""
    rate: float
    """Places in a second [1/s]."""
    places: FloatArray
    """x and y [m]; (T, 2). Nobody is waited for where there are none."""
    slower: float = 1.0
    """How many times as long as usual steps take at least."""


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
    company: Company | None = None
    """Where the character would like to be beside its companions; None for somebody alone."""


class Planner(Protocol):
    """A planner of scenes, made anew for each run of `plan_scene`. It may keep what it computes."""

    def prepare(self, character: Character, prepared: PreparedLibrary) -> None:
        """Compute beforehand what a character will need, such as a search tree. Called once for each character."""

    def find(self, request: PlanRequest) -> SearchResult:
        """Find a plan that ends at rest without a collision, or say why there is none.

        `SearchResult.found_by` names what found it.
        """


@dataclass(frozen=True, eq=False, kw_only=True)
class ScenePerformance:
    """The motion of all characters of a scene, and how each of them fared."""

    take: Take
    results: Mapping[str, SearchResult]
    """How each character fared, by name. Plans have no steps; they say where and when characters come to rest."""
    libraries: Mapping[str, Library]
    """Library of each character, by name."""
    search_seconds: float
    """Time that it took to find where everybody goes [s]."""
    motion_seconds: float
    """Time that it took to make their motion [s]."""
    remarks: tuple[str, ...] = ()
    """What could not be done for lack of something, one line each."""


@runtime_checkable
class ScenePlanner(Protocol):
    """A planner that moves all characters of a scene at once, because each depends on all others at every moment."""

    def perform(
        self,
        scene: Scene,
        libraries: Mapping[LibraryRef, Library] | None,
        *,
        seed: int,
        fps: float,
        progress: Progress,
        among: Take | None = None,
    ) -> ScenePerformance:
        """Move all characters of a scene.

        Args:
            scene: the place and the characters.
            libraries: libraries that are loaded already.
            seed: seed of all that is drawn.
            fps: rate at which the take is meant to be looked at [Hz].
            progress: called with what is being done, how much of it is done and how much there is.
            among: motion of further characters, which were planned before and give no way; left out if there are none.
        """
