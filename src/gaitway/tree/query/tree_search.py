"""Queries answered from trees: a path to a goal within reach, without a search in the world (Lau 2009, section 4.5).

The thesis maps the obstacles into the frame of the tree for every query, see `tree.thesis.mapping`. Here nothing is
mapped: the few moves that a query looks at are tested where they lie in the world, as finely as the A* search tests
them, so that the answer needs no further check.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gaitway.behavior.searcher import Searcher
from gaitway.core.array_handle import ArrayHandle
from gaitway.core.arrays import FloatArray, IntArray
from gaitway.core.errors import TreeError
from gaitway.core.jit import direct
from gaitway.space._query_kernels import APART, FOUND, GOAL, START
from gaitway.space.clip_choice import ClipChoice
from gaitway.space.fields import WorldFields
from gaitway.space.plan import LaidSteps, Plan, SearchResult, Status
from gaitway.space.prepared_actions import PreparedActions
from gaitway.space.query import NO_TRAFFIC, OTHER_PART, Query, TrafficView, ask
from gaitway.tree.model import Tree
from gaitway.tree.query import _query_kernels as kernels
from gaitway.tree.query._query_kernels import TreeArrays, Work
from gaitway.tree.query.index import band_of, tree_arrays, work_for

_FOUND = Status.FOUND  # a look into an enumeration takes as long as to climb a tree
BAND = 0.5
"""Width of a band of cost: nodes in one band are tested in any order, and the best free path of the band is taken."""


class _RootedTree(NamedTuple):
    """A tree prepared for queries."""

    handle: ArrayHandle[TreeArrays]
    band: int


class Answers(NamedTuple):
    """Answers to Q queries from one tree."""

    nodes: IntArray
    """Node of the tree at each goal, or -1; (Q,)."""
    costs: FloatArray
    """Costs of the paths there; -1 if there is none; (Q,)."""


class TreeSteps(LaidSteps):
    """The path to a node of a tree; it is laid on first access."""

    def __init__(self, searcher: PreparedActions, handle: ArrayHandle[TreeArrays], node: int, query: Query) -> None:
        self._laid = searcher, handle, node, query

    def __getattr__(self, name: str) -> Any:
        if name not in ("rows", "_behaviors", "_clips", "_speeds"):
            raise AttributeError(name)
        searcher, handle, node, query = self._laid
        rows = kernels.lay(searcher.handle, handle, node, *query.start, query.start_time)
        super().__init__(rows[:-1], searcher.names, searcher.table.clips, searcher.speeds)
        return getattr(self, name)


class TreeSearch:
    """Trees of a library for queries, with memory that each query uses again. Not for several threads at once.

    Attributes:
        searcher: the library.
        clip_choice: draws the clips that are played.
        trees: trees by the state of the planner that they begin in.
    """

    def __init__(self, searcher: Searcher, trees: Sequence[Tree]) -> None:
        """Prepare trees.

        Args:
            searcher: the library.
            trees: one for each state that queries begin in.

        Raises:
            TreeError: if a tree is of another library or costs, or never comes to rest.
        """
        self.searcher, self.clip_choice = searcher, ClipChoice(searcher)
        self.trees = {root_state(searcher, tree): tree for tree in trees}
        self._rooted: Mapping[int, _RootedTree] = {
            state: _RootedTree(ArrayHandle(arrays), band_of(arrays, BAND))
            for state, tree in self.trees.items()
            for arrays in [tree_arrays(tree, searcher)]
        }
        self._find: Callable[..., tuple[int, int, float, int, int, float, float, float, float]] = direct(kernels.find)
        self._lay: Callable[..., FloatArray] = direct(kernels.lay)

    @cached_property
    def nbytes(self) -> int:
        """Memory of the trees, their lists, and what one thread writes to."""
        lists = sum(r.handle.value.starts.nbytes + r.handle.value.entries.nbytes for r in self._rooted.values())
        return sum(t.nbytes for t in self.trees.values()) + lists + sum(a.nbytes for a in self._work.value)

    def find(self, fields: WorldFields, query: Query, traffic: TrafficView | None = None) -> SearchResult | None:
        """Return the cheapest free path of the tree, or nearly so; None if it has none, whatever A* may find.

        A goal in another part of free space is refused at once.

        Args:
            fields: the world.
            query: the query; its weight and budgets do not matter.
            traffic: other characters and movers; None for none. The character never waits.
        """
        began, searcher = time.perf_counter(), self.searcher
        state = searcher.start_state(query.start_behavior)
        rooted = self._rooted.get(state)
        if rooted is None:
            return None
        busy, traffic_handle = False, NO_TRAFFIC
        if traffic is not None and len((arrays := traffic.arrays).keys) > 0:
            busy, traffic_handle = True, ArrayHandle(arrays)
        ask(searcher, query)
        code, node, cost, candidates, tested, x, y, heading, end = self._find(
            searcher.handle, fields.handle, searcher.passing(fields), traffic_handle, busy, rooted.handle, self._work,
            searcher.query, state, rooted.band,
        )  # fmt: skip
        if code == APART:
            away = math.dist(query.start[:2], query.goal)
            return SearchResult(Status.NO_PATH, None, closest=query.start, remaining=away, reason=OTHER_PART)
        if code != FOUND:
            return None
        steps: LaidSteps = TreeSteps(searcher, rooted.handle, node, query)
        if self.clip_choice.similar.any:
            rows = self._lay(searcher.handle, rooted.handle, node, *query.start, query.start_time)
            rows = self.clip_choice.draw(fields, query, rows, traffic)
            (x, y, heading, end), cost = rows[-1, :4].tolist(), self.clip_choice.cost(rows)
            steps = LaidSteps(rows[:-1], searcher.names, searcher.table.clips, searcher.speeds)
        pose, away = (x, y, heading), math.hypot(x - query.goal[0], y - query.goal[1])
        plan = Plan(steps, pose, end, cost)
        return SearchResult(
            status=_FOUND,
            plan=plan,
            expanded=candidates,
            checks=tested,
            seconds=time.perf_counter() - began,
            closest=pose,
            remaining=away,
        )

    def find_many(
        self, fields: WorldFields, starts: FloatArray, goals: FloatArray, tolerance: float = 0.5,
        behavior: str | None = None, threads: int = 1,
    ) -> Answers:  # fmt: skip
        """Answer many queries at once in one world without traffic; the answers do not depend on the number of threads.

        Args:
            fields: the world.
            starts: x, y [m], heading [rad]; (Q, 3).
            goals: x, y [m]; (Q, 2).
            tolerance: distance from a goal within which a path may end [m].
            behavior: the behaviour that has just ended; None for characters that stand.
            threads: number of threads.

        Raises:
            TreeError: if there is no tree for characters after that behaviour, or there are not as many goals as
                starts.
        """
        count, searcher = len(starts), self.searcher
        state = searcher.start_state(behavior)
        if state not in self._rooted:
            raise TreeError(f"no tree begins after '{behavior or 'standing'}'; grow one")
        if (
            starts.shape != (count, 3)
            or goals.shape != (count, 2)
            or not np.isfinite([*starts.flat, *goals.flat]).all()
        ):
            raise TreeError(f"starts {starts.shape} and goals {goals.shape} must be finite, (Q, 3) and (Q, 2)")
        ask(searcher, Query((0.0, 0.0, 0.0), (0.0, 0.0), tolerance=tolerance))
        queries: FloatArray = np.tile(searcher.query.value, (count, 1))
        queries[:, START : START + 3], queries[:, GOAL : GOAL + 2] = starts, goals
        out = Answers(np.full(count, -1), np.full(count, -1.0))
        handle, codes, rooted = searcher.passing(fields), np.zeros(count, np.int64), self._rooted[state]

        def part(number: int) -> None:
            first, end = number * count // threads, (number + 1) * count // threads
            work = ArrayHandle(work_for([rooted.handle.value]))
            kernels.find_many(
                searcher.handle, fields.handle, handle, NO_TRAFFIC, False, rooted.handle, work, queries, state,
                rooted.band,
                first, end, codes, out.nodes, out.costs,
            )  # fmt: skip

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(part, range(threads)))
        return out

    @cached_property
    def _work(self) -> ArrayHandle[Work]:
        return ArrayHandle(work_for([rooted.handle.value for rooted in self._rooted.values()]))


def root_state(searcher: PreparedActions, tree: Tree) -> int:
    """Return the planner's state at the root of a tree."""
    table = searcher.table
    root = table.state(tree.moves.root)
    before = np.flatnonzero(table.end_state == root)
    return int(searcher.states.after[table.behavior[before[0]]]) if len(before) else searcher.start_state(None)
