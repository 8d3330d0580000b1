"""Walks that somebody asks for, found by branch and bound a window at a time (Kovar et al. 2002, section 4.2).

This is the general search, for any objective in plain Python. Following a path has compiled loops of its own
(`gaitway.graphs.kovar.following`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from gaitway.core.errors import GraphError
from gaitway.graphs.kovar.motion_graph import MotionGraph

State = TypeVar("State")


@dataclass(frozen=True)
class GraphSearch:
    """How walks are searched for."""

    horizon_s: float = 3.3
    """Each search looks so far ahead [s]."""
    keep_s: float = 1.0
    """Of what it finds so much is kept before the next search [s]."""
    budget: int = 10_000
    """Edges that one search looks at, at most."""
    beam: int = 3
    """Walks that go on together in each direction to find a first bound; 0 begins without one. Paths only."""
    best: int = 1
    """How many of the best walks of each search are kept, to draw one of them."""
    tolerance: float = 1.2
    """A walk is drawn only if its error is no more than so many times that of the best."""

    def __post_init__(self) -> None:
        if not (0.0 < self.keep_s <= self.horizon_s and self.budget >= 1 and self.beam >= 0 and self.best >= 1):
            raise GraphError(
                "a search needs 0 < keep_s <= horizon_s, a budget and a number of best walks of at least 1, and a "
                f"beam of at least 0; got {self}"
            )


class Objective(Protocol[State]):
    """What somebody asks of a walk. Errors must not be negative."""

    def start(self, node: int) -> State:
        """The state of a walk without edges."""

    def append(self, state: State, edge: int) -> tuple[float, State]:
        """The error that an edge adds to a walk, and the state of the longer walk."""

    def allowed(self, state: State, edge: int) -> bool:
        """Whether an edge may follow."""

    def complete(self, state: State) -> bool:
        """Whether nothing more is to follow."""


@dataclass(frozen=True)
class FoundWalk(Generic[State]):
    """A walk that a search found."""

    edges: tuple[int, ...]
    error: float
    states: tuple[State, ...]
    """After each edge."""


def best_walks(
    graph: MotionGraph,
    objective: Objective[State],
    node: int,
    state: State,
    *,
    horizon: int,
    best: int = 1,
    enough: float = 0.0,
    budget: float = math.inf,
) -> list[FoundWalk[State]]:
    """The best walks from a node that are complete or have a number of frames, in order of error.

    Args:
        graph: any motion graph.
        objective: what is asked for.
        node: where they begin.
        state: of the walk up to there.
        horizon: frames after which a walk is long enough.
        best: how many.
        enough: a walk with less error than this ends the search.
        budget: edges to look at, at most.
    """
    found: list[FoundWalk[State]] = []
    looked = 0

    def ways(here: int, at: State, error: float) -> Iterator[tuple[float, int, State]]:
        steps = [(objective.append(at, int(e)), int(e)) for e in graph.out_edges(here) if objective.allowed(at, int(e))]
        return iter(sorted(((error + g, e, after) for (g, after), e in steps), key=lambda step: step[:2]))

    stack = [(ways(node, state, 0.0), 0)]
    edges, states = list[int](), list[State]()
    while stack:
        step = next(stack[-1][0], None)
        bound = found[-1].error if len(found) == best else math.inf
        if step is None or step[0] >= bound or looked >= budget:
            stack.pop()
            if edges:
                edges.pop()
                states.pop()
            continue
        looked += 1
        error, edge, after = step
        frames = stack[-1][1] + int(graph.edges.frames[edge])
        if objective.complete(after) or frames >= horizon:
            found.append(FoundWalk((*edges, edge), error, (*states, after)))
            found = sorted(found, key=lambda walk: walk.error)[:best]
            if found[0].error < enough:
                break
            continue
        edges.append(edge)
        states.append(after)
        stack.append((ways(int(graph.edges.head[edge]), after, error), frames))
    return found


def extract(
    graph: MotionGraph,
    objective: Objective[State],
    node: int,
    search: GraphSearch = GraphSearch(),  # noqa: B008  (frozen)
    *,
    enough: float = 0.0,
    rng: np.random.Generator | None = None,
) -> tuple[int, ...]:
    """Edges of a complete walk, searched for a window at a time.

    Args:
        graph: any motion graph.
        objective: what is asked for.
        node: where it begins.
        search: how.
        enough: a window with less error than this is good enough.
        rng: draws among the best of each window; None takes the best.

    Raises:
        GraphError: if there is no way on.
    """
    fps = graph.corpus.fps
    horizon, keep = max(round(search.horizon_s * fps), 1), max(round(search.keep_s * fps), 1)
    state, here, out = objective.start(node), node, list[int]()
    while not objective.complete(state):
        found = best_walks(
            graph, objective, here, state, horizon=horizon, best=search.best, enough=enough, budget=search.budget
        )
        if not found:
            raise GraphError(f"there is no way on from node {here} that is allowed; allow more, or raise the threshold")
        chosen = draw_walk([walk.error for walk in found], search.tolerance, rng)
        frames = 0
        for edge, after in zip(found[chosen].edges, found[chosen].states, strict=True):
            out.append(edge)
            state, here = after, int(graph.edges.head[edge])
            frames += int(graph.edges.frames[edge])
            if frames >= keep:
                break
    return tuple(out)


def draw_walk(errors: list[float], tolerance: float, rng: np.random.Generator | None) -> int:
    """Which of walks, in order of error, to take: the first, or any that is nearly as good."""
    if rng is None:
        return 0
    good = [k for k, error in enumerate(errors) if error <= tolerance * errors[0]]
    return int(rng.choice(good))
