"""The tree planner of scenes: one forest of search trees for each library and speed, and A* where trees fail.

A forest is grown when it is first needed, and shared by all characters that use it (Lau 2009, chapter 4).
"""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np

from gaitway.behavior.planner import BehaviorPlanner, prepared_search
from gaitway.scene.characters import Character
from gaitway.scene.plan_options import PlanOptions
from gaitway.space.plan import SearchResult, Status
from gaitway.space.planner import Effort, PlanRequest
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.routes import thinnest
from gaitway.tree.building.default_moves import gaits
from gaitway.tree.building.growing import Budget
from gaitway.tree.forest import Forest, grow_forest
from gaitway.tree.options import TreeOptions
from gaitway.tree.region import Region
from gaitway.tree.subgoals.chain import SubgoalChain
from gaitway.tree.subgoals.coarse import CoarsePlanner
from gaitway.tree.subgoals.legs import SubgoalLegs
from gaitway.world.regions import passable, reaches_for

FOUND_BY = "tree"
"""Name of trees in results."""
AHEAD = 6.0
"""Default distance of sub-goals, as the time that it takes to walk there [s]."""
LEAST_REACH = 5.0
"""Least default distance of sub-goals [m]."""
STRETCH = 1.2
"""Most that a node of these trees may cost, as a multiple of the least cost of its place. A path is made of many trees,
so what is dear in each is dear in all."""
_REACH_FACTOR = 1.2
"""Radius of trees as a multiple of the distance of sub-goals."""
_CELLS = 48
"""Number of cells of a region along its radius."""


class TreePlanner:
    """Plans by precomputed search trees, and by A* where they have no answer. **Mutable**: it keeps grown trees."""

    def __init__(self) -> None:
        self._fallback = BehaviorPlanner()

    def prepare(self, character: Character, prepared: PreparedLibrary) -> None:
        """Grow the trees that a character needs."""
        self._chain(_options(character.plan), prepared)

    def find(self, request: PlanRequest) -> SearchResult:
        """Find a plan in the trees, or by A* if there is none and the options allow it."""
        options, query = _options(request.character.plan), request.query
        began = time.perf_counter()
        # trees end where one stands, and know of no waiting for others
        asked = query.followed_by is None and not (request.effort is Effort.PATIENT and options.fallback)
        result = self._chain(options, request.prepared).find(query, request.traffic) if asked else None
        if result is not None:
            return replace(result, found_by=FOUND_BY)
        spent = SearchResult(Status.BUDGET, None, seconds=time.perf_counter() - began, found_by=FOUND_BY)
        if options.fallback or query.followed_by is not None:
            searched = self._fallback.find(request)
            return replace(searched, earlier=(spent, *searched.earlier))
        away = math.dist(query.start[:2], query.goal)
        reason = "no way in the trees; write fallback: true to search for one"
        return replace(spent, closest=query.start, remaining=away, reason=reason)

    @staticmethod
    def _chain(options: TreeOptions, prepared: PreparedLibrary) -> SubgoalChain:
        def make() -> SubgoalChain:
            tools = prepared_search(prepared)
            reach = options.reach or usual_reach(prepared, options.time_weight)
            forest = prepared.part(
                ("forest", options.nodes, options.reach),
                lambda: scene_forest(prepared, reach, options.nodes, options.time_weight),
            )
            legs = SubgoalLegs(tools.searcher, tools.heuristics, forest)
            coarse = CoarsePlanner(prepared.fields, thinnest(prepared.discs))
            return SubgoalChain(legs, prepared.fields, coarse, reach)

        return prepared.part((FOUND_BY, options.nodes, options.reach), make, paced=True)


def _options(options: PlanOptions) -> TreeOptions:
    return options if isinstance(options, TreeOptions) else TreeOptions()


def usual_reach(prepared: PreparedLibrary, time_weight: float) -> float:
    """Return the default distance of sub-goals for a library and speed [m]."""
    found = gaits(prepared.table, time_weight)
    return max(AHEAD * found[0].speed if found else 0.0, LEAST_REACH)


def scene_forest(prepared: PreparedLibrary, reach: float, nodes: int, time_weight: float) -> Forest:
    """Return trees for a library and speed in a world, with the special behaviours that its obstacles need.

    Args:
        prepared: the library in a world.
        reach: distance of sub-goals [m].
        nodes: number of nodes of each tree.
        time_weight: cost of a second [m/s].
    """
    table, radius = prepared.table, _REACH_FACTOR * reach
    passing = np.flatnonzero(prepared.actions.passing(prepared.fields).value >= 0)
    kinds = sorted({table.kinds[kind] for kind in table.kind[passing].tolist()})
    region = Region.disc(radius, cell=radius / _CELLS)
    return grow_forest(
        table, budget=Budget(nodes), region=region, kinds=kinds, able=_able(prepared), time_weight=time_weight,
        stretch=STRETCH,
    )  # fmt: skip


def _able(prepared: PreparedLibrary) -> list[str]:
    """Return the special behaviours that pass all obstacles of their kind; on hills there may be more."""
    specials = prepared.fields.specials
    reaches = [reach for reach in prepared.reaches if any(reaches_for(o, [reach]) for o in specials)]
    return [r.behavior for r in reaches if all(passable(o, [r]) for o in specials if reaches_for(o, [r]))]
