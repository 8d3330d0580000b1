"""Scenes planned by trees: for each library and speed a forest and its ways, made once and shared by all who use it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from gaitway.behavior.search import Query, Traffic
from gaitway.scene.characters import Character
from gaitway.scene.plan_options import TreeOptions
from gaitway.space.plan import SearchResult, Status
from gaitway.space.prepared import PreparedLibrary
from gaitway.space.routes import thinnest
from gaitway.tree.building.default_moves import gaits
from gaitway.tree.building.growing import Budget
from gaitway.tree.forest import Forest, grow_forest
from gaitway.tree.region import Region
from gaitway.tree.subgoals.chain import SubgoalChain
from gaitway.tree.subgoals.coarse import CoarsePlanner
from gaitway.tree.subgoals.legs import SubgoalLegs

AHEAD = 6.0
"""Sub-goals are as far as one gets in so many seconds, unless told otherwise."""
LEAST_REACH = 5.0
"""But no nearer than this [m]."""
STRETCH = 1.2
"""How many times the least cost of its place a node of these trees may cost: many of them make up a way, and what is
dear in each is dear in all."""
_ROOM = 1.2
"""How many times as far as sub-goals trees reach."""
_CELLS = 48
"""Cells of a region along its radius."""


class ScenePlanner:
    """The trees of a scene, a `behavior.crowd.Shortcut`. It grows them when they are first asked for: **mutable**."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, int, float | None], tuple[PreparedLibrary, SubgoalChain]] = {}

    def prepare(self, character: Character, prepared: PreparedLibrary) -> None:
        """Grow the trees that a character needs, if it is to be planned by tree."""
        if isinstance(character.plan, TreeOptions):
            self._chain(character.plan, prepared)

    def find(
        self, character: Character, prepared: PreparedLibrary, query: Query, traffic: Traffic
    ) -> SearchResult | None:
        """A plan from trees; None if a search is to look for one.

        Args:
            character: who; its options say whether by tree, and whether to search where there is no plan.
            prepared: its library in the scene's world.
            query: from where to where.
            traffic: everybody else.
        """
        options = character.plan
        if not isinstance(options, TreeOptions):
            return None
        result = self._chain(options, prepared).find(query, traffic)
        if result is not None:
            return replace(result, by_tree=True)
        if options.fallback:
            return None
        away = math.dist(query.start[:2], query.goal)
        reason = "no way in the trees; write fallback: true to search for one"
        return SearchResult(Status.BUDGET, None, closest=query.start, remaining=away, reason=reason)

    def _chain(self, options: TreeOptions, prepared: PreparedLibrary) -> SubgoalChain:
        key = (id(prepared), options.nodes, options.reach)
        if key not in self._made:
            reach = options.reach or usual_reach(prepared, options.time_weight)
            legs = SubgoalLegs(
                prepared.searcher,
                prepared.heuristics,
                scene_forest(prepared, reach, options.nodes, options.time_weight),
            )
            coarse = CoarsePlanner(prepared.fields, thinnest(prepared.discs))
            self._made[key] = (
                prepared,
                SubgoalChain(legs, prepared.fields, coarse, reach),
            )  # the kit stays, and so does its id
        return self._made[key][1]


def usual_reach(prepared: PreparedLibrary, time_weight: float) -> float:
    """How far ahead sub-goals are for a library and speed unless told otherwise [m]."""
    found = gaits(prepared.table, time_weight)
    return max(AHEAD * found[0].speed if found else 0.0, LEAST_REACH)


def scene_forest(prepared: PreparedLibrary, reach: float, nodes: int, time_weight: float) -> Forest:
    """Trees for a library and speed in a world, with the special behaviours that its obstacles need.

    Args:
        prepared: library and world.
        reach: how far ahead sub-goals are [m].
        nodes: of each tree.
        time_weight: cost of a second [m/s].
    """
    table, radius = prepared.table, _ROOM * reach
    passing = np.flatnonzero(prepared.searcher.passing(prepared.fields).value >= 0)
    kinds = sorted({table.kinds[kind] for kind in table.kind[passing].tolist()})
    region = Region.disc(radius, cell=radius / _CELLS)
    return grow_forest(
        table, budget=Budget(nodes), region=region, kinds=kinds, time_weight=time_weight, stretch=STRETCH
    )
