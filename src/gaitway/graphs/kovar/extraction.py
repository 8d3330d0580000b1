"""Search for walks that minimise an objective, by branch and bound in windows (Kovar et al. 2002, section 4.2).

This is the general search in plain Python, for any objective. The search for walks along a path has kernels of its own
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
    """Options of the search for walks."""

    horizon_s: float = 3.3
    """Duration of the window of each search [s]."""
    keep_s: float = 1.0
    """Duration of the begin of each window that is kept; the next window begins there [s]."""
    budget: int = 10_000
    """Largest number of edges that one search examines."""
    beam: int = 3
    """Width of the beam search that finds a first bound, for each heading; 0 begins without a bound. For paths only."""
    best: int = 1
    """Number of best walks of each search, one of which is drawn."""
    tolerance: float = 1.2
    """Largest error of a drawn walk, as a multiple of the least error."""

    def __post_init__(self) -> None:
        if not (0.0 < self.keep_s <= self.horizon_s and self.budget >= 1 and self.beam >= 0 and self.best >= 1):
            raise GraphError(
                "a search needs 0 < keep_s <= horizon_s, a budget and a number of best walks of at least 1, and a "
                f"beam of at least 0; got {self}"
            )


class Objective(Protocol[State]):
    """Objective of a search. Errors must not be negative."""

    def start(self, node: int) -> State:
        """Return the state of a walk without edges."""

    def append(self, state: State, edge: int) -> tuple[float, State]:
        """Return the error that an edge adds to a walk, and the state of the longer walk."""

    def allowed(self, state: State, edge: int) -> bool:
        """Return whether an edge may follow."""

    def complete(self, state: State) -> bool:
        """Return whether the walk is complete."""


@dataclass(frozen=True)
class FoundWalk(Generic[State]):
    """Result of a search."""

    edges: tuple[int, ...]
    error: float
    states: tuple[State, ...]
    """States after each edge."""


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
    """Find the best walks from a node that are complete or have a number of frames, in order of error.

    Args:
        graph: Any motion graph.
        objective: Objective to minimise.
        node: First node.
        state: State of the walk up to the first node.
        horizon: Number of frames after which a walk is long enough.
        best: Number of walks to find.
        enough: Error below which a walk ends the search.
        budget: Largest number of edges to examine.
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
    """Find the edges of a complete walk, one window after another.

    Args:
        graph: Any motion graph.
        objective: Objective to minimise.
        node: First node.
        search: Options of the search.
        enough: Error below which the search of a window ends.
        rng: Generator that draws one of the best walks of each window; None takes the best.

    Raises:
        GraphError: If no allowed edge continues the walk.
    """
    fps = graph.corpus.fps
    horizon, keep = max(round(search.horizon_s * fps), 1), max(round(search.keep_s * fps), 1)
    state, here, out = objective.start(node), node, list[int]()
    while not objective.complete(state):
        found = best_walks(
            graph, objective, here, state, horizon=horizon, best=search.best, enough=enough, budget=search.budget
        )
        if not found:
            raise GraphError(f"no allowed edge continues the walk at node {here}; allow more, or raise the threshold")
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
    """Return the number of the walk to take, given errors in order: the first, or one that is nearly as good."""
    if rng is None:
        return 0
    good = [k for k, error in enumerate(errors) if error <= tolerance * errors[0]]
    return int(rng.choice(good))
