"""What of a motion graph can go on for ever: strongly connected parts, dead ends and sinks (Kovar et al. 2002, 3.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Arcs:
    """A directed graph with weights, as plain arrays; several edges may join the same nodes."""

    nodes: int
    """How many nodes there are."""
    tail: IntArray
    """Node that each edge leaves; (E,)."""
    head: IntArray
    """Node that it leads to; (E,)."""
    frames: IntArray
    """How many frames it has; (E,)."""

    def part(self, edges: BoolArray) -> Arcs:
        """The same nodes with some of the edges."""
        return Arcs(self.nodes, self.tail[edges], self.head[edges], self.frames[edges])


@dataclass(frozen=True)
class Census:
    """Nodes that lead nowhere, before anything is cut off."""

    dead_ends: int
    """Nodes that are part of no cycle: what goes there ends soon, or never comes back."""
    sinks: int
    """Nodes of cycles from which the largest strongly connected part cannot be reached."""


def components(arcs: Arcs) -> IntArray:
    """Number of the strongly connected component of every node; (N,)."""
    links = scipy.sparse.coo_matrix(
        (np.ones(len(arcs.tail), dtype=np.int8), (arcs.tail, arcs.head)), shape=(arcs.nodes, arcs.nodes)
    )
    return np.asarray(
        scipy.sparse.csgraph.connected_components(links.tocsr(), directed=True, connection="strong")[1], dtype=np.int64
    )


def largest_component(arcs: Arcs) -> BoolArray:
    """Edges within the strongly connected component whose edges have the most frames; (E,), none if nothing cycles."""
    component = components(arcs)
    inside: BoolArray = component[arcs.tail] == component[arcs.head]
    if not inside.any():
        return inside
    frames = np.bincount(component[arcs.tail[inside]], arcs.frames[inside])
    best: BoolArray = inside & (component[arcs.tail] == np.argmax(frames))
    return best


def returning_edges(arcs: Arcs, core: BoolArray) -> BoolArray:
    """Edges that lie on a way from a core of nodes back to it; (E,).

    Args:
        arcs: the graph.
        core: nodes that belong together, whether edges join them or not; (N,).
    """
    forth = reachable_nodes(arcs, core)
    back = reachable_nodes(Arcs(arcs.nodes, arcs.head, arcs.tail, arcs.frames), core)
    return np.asarray(forth[arcs.tail] & back[arcs.head])


def reachable_nodes(arcs: Arcs, start: BoolArray) -> BoolArray:
    """Nodes that can be come to from any of some nodes, these included; (N,)."""
    return np.asarray(np.isfinite(distances_from(arcs, start)))


def distances_from(arcs: Arcs, start: BoolArray) -> FloatArray:
    """Fewest frames from the nearest of some nodes to every node; (N,), infinite where there is no way."""
    if not start.any():
        return np.full(arcs.nodes, np.inf)
    # of several edges between two nodes only the shortest counts; matrices would add them up
    order = np.lexsort((arcs.frames, arcs.head, arcs.tail))
    tail, head, frames = arcs.tail[order], arcs.head[order], arcs.frames[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (np.diff(tail) != 0) | (np.diff(head) != 0)
    links = scipy.sparse.csr_matrix((frames[first].astype(float), (tail[first], head[first])), shape=(arcs.nodes,) * 2)
    found = scipy.sparse.csgraph.dijkstra(links, indices=np.flatnonzero(start), min_only=True)
    return np.asarray(found)


def census(arcs: Arcs) -> Census:
    """Dead ends and sinks among the nodes that have edges."""
    used = np.zeros(arcs.nodes, dtype=bool)
    used[arcs.tail] = used[arcs.head] = True
    component, core = components(arcs), largest_component(arcs)
    cyclic = np.zeros(arcs.nodes, dtype=bool)
    inside = component[arcs.tail] == component[arcs.head]
    cyclic[arcs.tail[inside]] = True
    to_core = np.zeros(arcs.nodes, dtype=bool)
    to_core[arcs.tail[core]] = True
    returns = reachable_nodes(Arcs(arcs.nodes, arcs.head, arcs.tail, arcs.frames), to_core)
    return Census(int((used & ~cyclic).sum()), int((used & cyclic & ~returns).sum()))


def lasting_edges(
    arcs: Arcs, edge_sets: IntArray, count: int, actions: Sequence[int], passages: bool = True
) -> tuple[BoolArray, list[BoolArray]]:
    """Edges that stay: those from which motion of the same labels can go on for ever, and what joins such parts.

    Args:
        arcs: the graph.
        edge_sets: the label set that all frames of an edge have, or -1 where they differ or no original has it; (E,).
        count: how many label sets there are.
        actions: sets that need not go on for ever (a jump): of these, what can be come to and left again stays.
        passages: whether all that lies on a way between parts stays (somebody slows down to stand), or, as in the
            paper, only transitions and actions do.

    Returns:
        The edges that stay (E,), and for each label set the nodes of its part (N,).
    """
    keep, parts = np.zeros(len(arcs.tail), dtype=bool), [np.zeros(arcs.nodes, dtype=bool) for _ in range(count)]
    for number in range(count):
        mine = np.flatnonzero(edge_sets == number)
        if number not in actions and len(mine):
            mine = mine[largest_component(arcs.part(edge_sets == number))]
            keep[mine] = True
            parts[number][arcs.tail[mine]] = parts[number][arcs.head[mine]] = True
    core = np.any(parts, axis=0)
    passing = ~keep & (passages | (edge_sets < 0) | np.isin(edge_sets, actions))
    joining = np.flatnonzero(passing)[returning_edges(arcs.part(passing), core)]
    keep[joining] = True
    for number in actions:
        mine = np.flatnonzero(keep & (edge_sets == number))
        parts[number][arcs.tail[mine]] = parts[number][arcs.head[mine]] = True
    return keep, parts
