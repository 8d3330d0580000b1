"""The behaviour planner of scenes: A* with more and more weight and nodes (Lau 2009, chapter 3)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gaitway.behavior._heuristic_kernels import HeuristicArrays
from gaitway.behavior.heuristics import Heuristics
from gaitway.behavior.options import HEURISTICS, BehaviorOptions
from gaitway.behavior.search import search
from gaitway.behavior.searcher import Searcher
from gaitway.core.arrays import read_only
from gaitway.library.actions import ActionTable
from gaitway.scene.characters import Character
from gaitway.space.clip_choice import ClipChoice
from gaitway.space.fields import WorldFields
from gaitway.space.plan import Plan, SearchResult, Status
from gaitway.space.planner import Effort, PlanRequest
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.query import Query, TrafficView

TRIES = {
    Effort.USUAL: ((1.2, 5_000), (1.5, 5_000), (3.0, 8_000), (5.0, 40_000)),
    Effort.LONG: ((1.5, 200_000),),
    Effort.SHORT: ((2.0, 3_000), (5.0, 10_000)),
    Effort.BRIEF: ((1.2, 1_500), (3.0, 1_500)),
    Effort.PATIENT: ((1.2, 1_500), (3.0, 10_000)),
    Effort.GLANCE: ((1.2, 1_000),),
}
"""Least weight of the estimate and most nodes of searches one after another: nearly the best plan where it is found
within some milliseconds, and any plan in a dense crowd. Among others a weight of 1 hardly ever finds one soon, and with
2 people walk long ways around others who would be gone in a moment, and weave."""
IN_AREAS, IN_COMPANY = ((1.2, 30_000),), ((1.2, 10_000), (1.6, 40_000))
"""The same before all others where areas make ground dear, and of those who walk beside companions: a hasty search
would walk straight on."""
_NEVER = 1e6
"""Cost of what is only done where nothing else is possible [m]."""
ESTIMATE_WEIGHT = 2.0
"""Weight for which estimates are made, above 1: among others, a good plan soon is better than the best plan late."""


@dataclass(frozen=True, eq=False)
class PreparedSearch:
    """A prepared library with what A* needs besides."""

    searcher: Searcher
    heuristics: Heuristics
    clip_choice: ClipChoice
    prepared: PreparedLibrary

    @cached_property
    def calm(self) -> Searcher:
        """The same for searches that take a faster gait than preferred only where there is no other way."""
        return self._without(self.prepared.hurried)

    @cached_property
    def patient(self) -> Searcher:
        """The same for searches that besides step aside only where there is no other way: waiting comes first."""
        return self._without(self.prepared.hurried | self.prepared.sidesteps)

    def _without(self, names: Collection[str]) -> Searcher:
        table = self.prepared.table
        avoided = np.isin(table.behavior, [table.index(name) for name in sorted(names)])
        return _searcher(self.prepared, replace(table, costs=read_only(np.where(avoided, _NEVER, table.costs))))

    def rushes(self, plan: Plan) -> bool:
        """Return whether a plan takes a faster gait than preferred, although it passes no obstacle in it."""
        graph, hurried = self.prepared.library.graph, self.prepared.hurried
        fast = {graph[name].end for name in hurried}
        names = plan.behaviors
        passes = any(graph[name].obstacle is not None and graph[name].start in fast for name in names)
        return not passes and any(name in hurried for name in names)


def prepared_search(prepared: PreparedLibrary, heuristics: Collection[str] = HEURISTICS) -> PreparedSearch:
    """Return a library prepared for A*; it is made once and shared by all users of the prepared library.

    Args:
        prepared: the library in a world.
        heuristics: names of the estimates to use.
    """

    def make() -> PreparedSearch:
        searcher = _searcher(prepared, prepared.table)
        estimates = prepared.part(("estimates", tuple(heuristics)), lambda: Heuristics.of(
            prepared.table, searcher.costs, prepared.fields, prepared.discs, heuristics
        ), placed=True)  # fmt: skip
        return PreparedSearch(searcher, estimates, ClipChoice(searcher), prepared)

    return prepared.part(("A*", tuple(heuristics)), make, paced=True)


def _find(
    searcher: Searcher, fields: WorldFields, query: Query, traffic: TrafficView | None, estimates: HeuristicArrays,
    tries: Sequence[tuple[float, int]],
) -> SearchResult:  # fmt: skip
    """Search with one weight after another, and some more nodes for each, until there is a plan, or certainly none."""
    (weight, nodes), *hastier = [(max(query.weight, w), min(query.max_nodes, n)) for w, n in tries]
    return search(searcher, fields, replace(query, weight=weight, max_nodes=nodes), traffic, estimates, hastier=hastier)


def _searcher(prepared: PreparedLibrary, table: ActionTable) -> Searcher:
    return Searcher(table, prepared.discs, prepared.reaches, prepared.time_weight, speeds=prepared.speeds)


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
        tries = TRIES[request.effort]
        if request.company is not None:
            tries = (*IN_COMPANY, *tries)
        if fields.areas:
            tries = (*IN_AREAS, *tries)
        match request.effort:
            case Effort.PATIENT:
                searcher = tools.patient
            case Effort.GLANCE:
                searcher = tools.calm
            case _:
                searcher = tools.searcher
        result = _find(searcher, fields, query, request.traffic, estimates, tries)
        plan = result.plan
        if plan is None:
            return result
        if result.status is Status.FOUND and tools.rushes(plan):
            calm = _find(tools.calm, fields, query, request.traffic, estimates, tries)
            if calm.plan is not None and calm.status is Status.FOUND and not tools.rushes(calm.plan):
                plan, result = calm.plan, replace(calm, earlier=(result,))
        plan = tools.clip_choice.with_identical_clips(fields, query, plan, request.traffic)
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
