"""Legs of a long path from the trees of a library: onward past a sub-goal, or to rest at the goal."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import NamedTuple

import numpy as np

from gaitway.behavior._heuristic_kernels import HeuristicArrays, straight_line
from gaitway.behavior.heuristics import Heuristics
from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray, read_only
from gaitway.core.jit import direct
from gaitway.space._query_kernels import GOAL, START
from gaitway.space._traffic_kernels import TrafficArrays
from gaitway.space.clip_choice import ClipChoice
from gaitway.space.fields import WorldFields
from gaitway.space.prepared_actions import PreparedActions
from gaitway.space.query import NO_TRAFFIC, Query, TrafficView, ask
from gaitway.tree.forest import Forest
from gaitway.tree.model import Tree
from gaitway.tree.query._query_kernels import CANDIDATES, NODE_BITS, NODE_MASK, Small, TreeArrays, lay
from gaitway.tree.query.index import band_of, tree_arrays, work_for
from gaitway.tree.query.tree_search import BAND, root_state
from gaitway.tree.subgoals import _leg_kernels as kernels
from gaitway.tree.subgoals._leg_kernels import CostLeft

_RANKED = 1 << 15
"""Most nodes near a sub-goal that are ranked."""
_TRIES = 200
"""Most paths that are tested for a leg: if all are blocked, a nearer sub-goal or a search is better."""


class SubgoalLeg(NamedTuple):
    """A part of a path, from one stage to the next."""

    rows: FloatArray
    """x, y [m], heading [rad], time [s], action and speed of each step, and the end as the last row; (N + 1, 6)."""
    cost: float


class _RootedLegs(NamedTuple):
    """A tree for characters in the state of its root."""

    arriving: ArrayHandle[TreeArrays]
    onward: ArrayHandle[TreeArrays]
    tags: ArrayHandle[Small]
    """Heading and the planner's state of each entry of the onward lists; (E,)."""
    band: int


class SubgoalLegs:
    """Trees of a library for the legs of long paths, with memory that each uses again. Not for several threads at once.

    Attributes:
        searcher: the library.
        clip_choice: draws the clips that are played.
        forest: trees of the library.
        reach: least reach of the trees from their roots [m].
        per_metre: least cost of a metre in a straight line [1/m].
        looked_at: number of paths looked at since `forget`.
        tested: number of moves tested since then.
    """

    def __init__(self, searcher: PreparedActions, heuristics: Heuristics, forest: Forest) -> None:
        """Prepare trees.

        Args:
            searcher: the library.
            heuristics: estimates, of which the obstacle-free cost is used.
            forest: trees from rest, and from gaits.

        Raises:
            TreeError: if a tree is of another library or costs, or never comes to rest.
        """
        self.searcher, self.forest, self._heuristics = searcher, forest, heuristics
        self.clip_choice, self.per_metre = ClipChoice(searcher), heuristics.per_metre
        rest = {name for name, still in zip(searcher.table.states, searcher.table.rest.tolist(), strict=True) if still}
        moving = tuple(name for name in forest.roots if name not in rest) or forest.roots
        self._rooted = {root_state(searcher, tree): _rooted(searcher, tree, moving) for tree in forest.trees.values()}
        self._last: tuple[float, float, float, float] | None = None
        self.looked_at = self.tested = 0
        self.reach = min(_radius(tree.region.spec.bounds) for tree in forest.trees.values())
        self._work = ArrayHandle(work_for([rooted.arriving.value for rooted in self._rooted.values()]))
        self._ranked = ArrayHandle(np.empty((_RANKED, 2)))
        self._onward: Callable[..., tuple[int, float]] = direct(kernels.onward)
        self._arrive: Callable[..., tuple[int, float]] = direct(kernels.arrive)
        self._stops = {state: _stops(searcher, state) for state in self._rooted}
        self._stand: Callable[..., FloatArray] = direct(kernels.stand)
        self._lay: Callable[..., FloatArray] = direct(lay)

    def begins(self, behavior: str | None) -> bool:
        """Return whether a tree begins in the state that a behaviour ends in; None is at rest."""
        return self.searcher.start_state(behavior) in self._rooted

    def rests(self, behavior: str | None) -> bool:
        """Return whether a character stands after a behaviour; None is a character that stands."""
        return bool(self.searcher.arrays.states[self.searcher.start_state(behavior), 1] >= 0)

    def arrive(
        self, fields: WorldFields, query: Query, traffic: TrafficView | None, under_way: bool
    ) -> SubgoalLeg | None:
        """Find the last leg: to rest at the goal, and free for ever.

        Args:
            fields: the world.
            query: the query.
            traffic: other characters and movers; None for none.
            under_way: whether legs came before.
        """
        searcher, state = self.searcher, self.searcher.start_state(query.start_behavior)
        rooted = self._rooted[state]
        busy, traffic_handle = _handle(traffic)
        ask(searcher, query)
        node, cost = self._arrive(
            searcher.handle, fields.handle, searcher.passing(fields), traffic_handle, busy, rooted.arriving, self._work,
            searcher.query, state, under_way, rooted.band, _TRIES, self._anew(query),
        )  # fmt: skip
        return self._leg(rooted.arriving, node, cost)

    def onward(
        self, fields: WorldFields, query: Query, aim: tuple[float, float], left: CostLeft, traffic: TrafficView | None,
        under_way: bool,
    ) -> SubgoalLeg | None:  # fmt: skip
        """Find a leg past a sub-goal, which is the goal of the query; it ends in a state that a tree begins in.

        Args:
            fields: the world.
            query: the query.
            aim: point that the path leads to beyond the sub-goal: x, y [m].
            left: distances to the goal, and the largest one after the leg.
            traffic: other characters and movers; None for none.
            under_way: whether legs came before.
        """
        searcher, state = self.searcher, self.searcher.start_state(query.start_behavior)
        rooted = self._rooted[state]
        busy, traffic_handle = _handle(traffic)
        ask(searcher, query)
        node, cost = self._onward(
            searcher.handle, fields.handle, searcher.passing(fields), traffic_handle, busy, rooted.onward, rooted.tags,
            self._work, searcher.query, ArrayHandle(self._estimates(aim, query.tolerance)), self._ranked,
            ArrayHandle(left),
            state, under_way, _TRIES, self._anew(query),
        )  # fmt: skip
        return self._leg(rooted.onward, node, cost)

    def pause(
        self, fields: WorldFields, query: Query, traffic: TrafficView | None, under_way: bool, times: int
    ) -> FloatArray | None:
        """Return steps that stop, or stand still for some rounds, as `SubgoalLeg.rows`; None if they are not free.

        Args:
            fields: the world.
            query: the query.
            traffic: other characters and movers.
            under_way: whether legs came before.
            times: number of times to stand still.
        """
        searcher, state = self.searcher, self.searcher.start_state(query.start_behavior)
        busy, traffic_handle = _handle(traffic)
        ask(searcher, query)
        rest = int(searcher.arrays.states[state, 1])
        for action in self._stops[state] if rest < 0 else (rest,):
            rows = self._stand(
                searcher.handle, fields.handle, searcher.passing(fields), traffic_handle, busy, searcher.query, state,
                under_way, action, 1 if rest < 0 else times,
            )  # fmt: skip
            if len(rows) > 1:
                return rows
        return None

    def forget(self) -> None:
        """Begin another path: traffic may have changed, and counters begin at 0."""
        self._last, self.looked_at, self.tested = None, 0, 0

    def _anew(self, query: Query) -> bool:
        """Return whether a leg begins elsewhere, or at another time, than the last one; if not, blocks are known."""
        place = (*query.start, query.start_time)
        last, self._last = self._last, place
        return place != last

    def _leg(self, tree: ArrayHandle[TreeArrays], node: int, cost: float) -> SubgoalLeg | None:
        candidates, tested = self._work.value.state[CANDIDATES:].tolist()
        self.looked_at += candidates
        self.tested += tested
        if node < 0:
            return None
        start = self.searcher.query.value[START:GOAL].tolist()
        return SubgoalLeg(self._lay(self.searcher.handle, tree, node, *start), cost)

    def _estimates(self, aim: tuple[float, float], tolerance: float) -> HeuristicArrays:
        """Return the cost of reaching a place without obstacles, turning included."""
        out = straight_line(*aim, tolerance, self.per_metre)
        free = self._heuristics.obstacle_free_cost(tolerance)
        frame = read_only(np.array([free.cell, free.reach]))
        return out._replace(near_frame=frame, near=free.near, far_rates=free.rates, far=free.far)


def _rooted(searcher: PreparedActions, tree: Tree, moving: Collection[str]) -> _RootedLegs:
    arriving, onward = tree_arrays(tree, searcher), tree_arrays(tree, searcher, onward=moving)
    nodes = (onward.entries >> NODE_BITS) & NODE_MASK
    states = searcher.states.after[searcher.table.behavior[tree.moves.actions]]
    tags = (tree.headings[nodes].astype(np.int64) << kernels.TAG_BITS) | states[tree.actions[nodes]]
    return _RootedLegs(
        ArrayHandle(arriving), ArrayHandle(onward), ArrayHandle(tags.astype(np.int32)), band_of(arriving, BAND)
    )


def _stops(searcher: PreparedActions, state: int) -> tuple[int, ...]:
    """Return the ordinary actions that come to rest from a state of the planner, the shortest first."""
    states, table = searcher.states, searcher.table
    after = states.followers[states.follower_starts[state] : states.follower_starts[state + 1]]
    rests = states.rest[states.after[table.behavior]] >= 0
    found = np.flatnonzero(np.isin(table.behavior, after) & rests & (table.kind < 0))
    return tuple(found[np.argsort(table.durations[found], kind="stable")].tolist())


def _handle(traffic: TrafficView | None) -> tuple[bool, ArrayHandle[TrafficArrays]]:
    if traffic is not None and len((arrays := traffic.arrays).keys) > 0:
        return True, ArrayHandle(arrays)
    return False, NO_TRAFFIC


def _radius(bounds: tuple[float, float, float, float]) -> float:
    """Return the least distance from the root to the edge of a region [m]."""
    return float(min(math.fabs(edge) for edge in bounds))
