"""Pruning of a graph to the edges from which motion can continue for ever (Kovar et al. 2002, section 3.4).

Strongly connected components, dead ends and sinks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Arcs:
    """Directed graph with weights, as plain arrays; several edges may join the same nodes."""

    nodes: int
    """Number of nodes."""
    tail: IntArray
    """Node that each edge leaves; (E,)."""
    head: IntArray
    """Node that each edge leads to; (E,)."""
    frames: IntArray
    """Number of frames of each edge; (E,)."""

    def part(self, edges: BoolArray) -> Arcs:
        """Return the graph with the same nodes and some of the edges."""
        return Arcs(self.nodes, self.tail[edges], self.head[edges], self.frames[edges])


@dataclass(frozen=True)
class Census:
    """Numbers of dead ends and sinks of a graph."""

    dead_ends: int
    """Number of nodes that are in no cycle: a motion there ends soon, or never returns."""
    sinks: int
    """Number of nodes in cycles from which the largest strongly connected component cannot be reached."""


def components(arcs: Arcs) -> IntArray:
    """Return the number of the strongly connected component of every node; (N,)."""
    links = scipy.sparse.coo_matrix(
        (np.ones(len(arcs.tail), dtype=np.int8), (arcs.tail, arcs.head)), shape=(arcs.nodes, arcs.nodes)
    )
    return np.asarray(
        scipy.sparse.csgraph.connected_components(links.tocsr(), directed=True, connection="strong")[1], dtype=np.int64
    )


def largest_component(arcs: Arcs) -> BoolArray:
    """Return the edges of the strongly connected component with the most frames; (E,). None if there is no cycle."""
    component = components(arcs)
    inside: BoolArray = component[arcs.tail] == component[arcs.head]
    if not inside.any():
        return inside
    frames = np.bincount(component[arcs.tail[inside]], arcs.frames[inside])
    best: BoolArray = inside & (component[arcs.tail] == np.argmax(frames))
    return best


def returning_edges(arcs: Arcs, core: BoolArray) -> BoolArray:
    """Return the edges on paths from a core of nodes back to the core; (E,).

    Args:
        arcs: Graph.
        core: Nodes of the core; they need not be connected; (N,).
    """
    forth = reachable_nodes(arcs, core)
    back = reachable_nodes(Arcs(arcs.nodes, arcs.head, arcs.tail, arcs.frames), core)
    return np.asarray(forth[arcs.tail] & back[arcs.head])


def reachable_nodes(arcs: Arcs, start: BoolArray) -> BoolArray:
    """Return the nodes that can be reached from any of some nodes, with these; (N,)."""
    return np.asarray(np.isfinite(distances_from(arcs, start)))


def distances_from(arcs: Arcs, start: BoolArray) -> FloatArray:
    """Return the least number of frames from the nearest of some nodes to every node; (N,), infinite without a path."""
    if not start.any():
        return np.full(arcs.nodes, np.inf)
    # of several edges between two nodes only the shortest counts; a sparse matrix would add them up
    order = np.lexsort((arcs.frames, arcs.head, arcs.tail))
    tail, head, frames = arcs.tail[order], arcs.head[order], arcs.frames[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (np.diff(tail) != 0) | (np.diff(head) != 0)
    links = scipy.sparse.csr_matrix((frames[first].astype(float), (tail[first], head[first])), shape=(arcs.nodes,) * 2)
    found = scipy.sparse.csgraph.dijkstra(links, indices=np.flatnonzero(start), min_only=True)
    return np.asarray(found)


def census(arcs: Arcs) -> Census:
    """Count dead ends and sinks among the nodes that have edges."""
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
    """Find the edges from which motion of the same labels can continue for ever, and the edges that connect such parts.

    Args:
        arcs: Graph.
        edge_sets: Label set of all frames of each edge; -1 if they differ, or no original frame has that set; (E,).
        count: Number of label sets.
        actions: Label sets that need not continue for ever (a jump). Their edges stay if a path leads there and back.
        passages: Whether all edges on paths between parts stay, such as slowing down to a stand. In the paper, only
            transitions and actions stay.

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
