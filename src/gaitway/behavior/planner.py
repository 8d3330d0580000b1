"""The behaviour planner of scenes: A* with more and more weight and nodes (Lau 2009, chapter 3)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from gaitway.behavior._heuristic_kernels import HeuristicArrays
from gaitway.behavior.heuristics import Heuristics
from gaitway.behavior.options import HEURISTICS, BehaviorOptions
from gaitway.behavior.search import search
from gaitway.behavior.searcher import Searcher
from gaitway.core.arrays import read_only
from gaitway.scene.characters import Character
from gaitway.space.clip_choice import ClipChoice
from gaitway.space.plan import SearchResult, Status
from gaitway.space.planner import Effort, PlanRequest
from gaitway.space.prepared import PreparedLibrary

TRIES = {
    Effort.USUAL: ((1.2, 8_000), (1.5, 12_000), (3.0, 10_000), (5.0, 40_000)),
    Effort.LONG: ((1.5, 200_000),),
    Effort.SHORT: ((2.0, 3_000), (5.0, 10_000)),
    Effort.BRIEF: ((1.2, 1_500), (3.0, 1_500)),
}
"""Least weight of the estimate and most nodes of searches one after another: nearly the best plan where it is found
within some milliseconds, and any plan in a dense crowd. Among others a weight of 1 hardly ever finds one soon, and with
2 people walk long ways around others who would be gone in a moment, and weave."""
IN_AREAS, IN_COMPANY = ((1.2, 30_000),), ((1.2, 10_000), (1.6, 40_000))
"""The same before all others where areas make ground dear, and of those who walk beside companions: a hasty search
would walk straight on."""
ESTIMATE_WEIGHT = 2.0
"""Weight for which estimates are made, above 1: among others, a good plan soon is better than the best plan late."""


@dataclass(frozen=True, eq=False)
class PreparedSearch:
    """A prepared library with what A* needs besides."""

    searcher: Searcher
    heuristics: Heuristics
    clip_choice: ClipChoice


def prepared_search(prepared: PreparedLibrary, heuristics: Collection[str] = HEURISTICS) -> PreparedSearch:
    """Return a library prepared for A*; it is made once and shared by all users of the prepared library.

    Args:
        prepared: the library in a world.
        heuristics: names of the estimates to use.
    """

    def make() -> PreparedSearch:
        searcher = Searcher(
            prepared.table, prepared.discs, prepared.reaches, prepared.time_weight, speeds=prepared.speeds
        )
        estimates = prepared.part(("estimates", tuple(heuristics)), lambda: Heuristics.of(
            prepared.table, searcher.costs, prepared.fields, prepared.discs, heuristics
        ), placed=True)  # fmt: skip
        return PreparedSearch(searcher, estimates, ClipChoice(searcher))

    return prepared.part(("A*", tuple(heuristics)), make, paced=True)


class BehaviorPlanner:
    """Plans by A* over the clips of a behaviour graph."""

    def prepare(self, character: Character, prepared: PreparedLibrary) -> None:
        """Prepare the character's library for A*."""
        self._prepared(character, prepared)

    def find(self, request: PlanRequest) -> SearchResult:
        """Search with more and more weight and nodes until there is a plan, or it is certain that there is none."""
        prepared, fields, options = request.prepared, request.prepared.fields, request.character.plan
        tools = self._prepared(request.character, prepared)
        query = request.query
        if isinstance(options, BehaviorOptions):
            query = replace(query, weight=options.weight, anytime=options.anytime, max_nodes=options.max_nodes)
        estimates = self.estimates(request)
        searches: list[SearchResult] = []
        tries = TRIES[request.effort]
        if request.company is not None:
            tries = (*IN_COMPANY, *tries)
        if fields.areas:
            tries = (*IN_AREAS, *tries)
        for weight, nodes in tries:
            tried = replace(query, weight=max(query.weight, weight), max_nodes=min(query.max_nodes, nodes))
            searches.append(search(tools.searcher, fields, tried, request.traffic, estimates))
            if searches[-1].status in (Status.FOUND, Status.NO_PATH):
                break
        result = replace(searches[-1], earlier=tuple(searches[:-1]))
        if result.plan is None:
            return result
        plan = tools.clip_choice.with_identical_clips(fields, query, result.plan, request.traffic)
        return replace(result, plan=plan)

    def estimates(self, request: PlanRequest) -> HeuristicArrays:
        """Return the estimates of the cost to the goal; a planner with estimates of its own adds them here.

        `gaitway.behavior.with_estimate` adds one, see `docs/extending.md`.
        """
        query, tools = request.query, self._prepared(request.character, request.prepared)
        arrays = tools.heuristics.arrays(query.goal, query.tolerance, query.start[:2], weight=ESTIMATE_WEIGHT)
        company = request.company
        if company is None:
            return arrays
        frame = read_only(np.array([company.start, company.rate, company.slower]))
        return arrays._replace(company_frame=frame, company=read_only(np.ascontiguousarray(company.places)))

    @staticmethod
    def _prepared(character: Character, prepared: PreparedLibrary) -> PreparedSearch:
        options = character.plan
        names = options.heuristics if isinstance(options, BehaviorOptions) else HEURISTICS
        return prepared_search(prepared, names)
