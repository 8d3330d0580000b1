"""Scenes planned by trees: for each library and speed a forest and its ways, made once and shared by all who use it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from gaitway.behavior.search import Query, Traffic
from gaitway.scene.characters import Character
from gaitway.scene.plan_options import TreeOptions
from gaitway.space.plan import SearchResult, Status
from gaitway.space.prepared import Kit
from gaitway.space.routes import thinnest
from gaitway.tree.build.default_moves import gaits
from gaitway.tree.build.growing import Budget
from gaitway.tree.forest import Forest, grow_forest
from gaitway.tree.region import Region
from gaitway.tree.subgoals.chain import Journeys
from gaitway.tree.subgoals.coarse import CoarsePlanner
from gaitway.tree.subgoals.legs import Legs

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
        self._made: dict[tuple[int, int, float | None], tuple[Kit, Journeys]] = {}

    def prepare(self, character: Character, kit: Kit) -> None:
        """Grow the trees that a character needs, if it is to be planned by tree."""
        if isinstance(character.plan, TreeOptions):
            self._journeys(character.plan, kit)

    def find(self, character: Character, kit: Kit, query: Query, traffic: Traffic) -> SearchResult | None:
        """A plan from trees; None if a search is to look for one.

        Args:
            character: who; its options say whether by tree, and whether to search where there is no plan.
            kit: its library in the scene's world.
            query: from where to where.
            traffic: everybody else.
        """
        options = character.plan
        if not isinstance(options, TreeOptions):
            return None
        result = self._journeys(options, kit).find(query, traffic)
        if result is not None:
            return replace(result, by_tree=True)
        if options.fallback:
            return None
        away = math.dist(query.start[:2], query.goal)
        reason = "no way in the trees; write fallback: true to search for one"
        return SearchResult(Status.BUDGET, None, closest=query.start, remaining=away, reason=reason)

    def _journeys(self, options: TreeOptions, kit: Kit) -> Journeys:
        key = (id(kit), options.nodes, options.reach)
        if key not in self._made:
            reach = options.reach or usual_reach(kit, options.time_weight)
            legs = Legs(kit.searcher, kit.heuristics, scene_forest(kit, reach, options.nodes, options.time_weight))
            coarse = CoarsePlanner(kit.fields, thinnest(kit.discs))
            self._made[key] = kit, Journeys(legs, kit.fields, coarse, reach)  # the kit stays, and so does its id
        return self._made[key][1]


def usual_reach(kit: Kit, time_weight: float) -> float:
    """How far ahead sub-goals are for a library and speed unless told otherwise [m]."""
    found = gaits(kit.table, time_weight)
    return max(AHEAD * found[0].speed if found else 0.0, LEAST_REACH)


def scene_forest(kit: Kit, reach: float, nodes: int, time_weight: float) -> Forest:
    """Trees for a library and speed in a world, with the special behaviours that its obstacles need.

    Args:
        kit: library and world.
        reach: how far ahead sub-goals are [m].
        nodes: of each tree.
        time_weight: cost of a second [m/s].
    """
    table, radius = kit.table, _ROOM * reach
    passing = np.flatnonzero(kit.searcher.passing(kit.fields).value >= 0)
    kinds = sorted({table.kinds[kind] for kind in table.kind[passing].tolist()})
    region = Region.disc(radius, cell=radius / _CELLS)
    return grow_forest(
        table, budget=Budget(nodes), region=region, kinds=kinds, time_weight=time_weight, stretch=STRETCH
    )
