"""The edges of a network, and the graph algorithms that a search for them needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gaitway.core.arrays import BoolArray, IntArray, owned
from gaitway.core.errors import VariationError


@dataclass(frozen=True, eq=False)
class Structure:
    """Parents of every node of a network.

    In a transition network, parents below n are in frame t, the others in frame t+1. A node's own two values are always
    its parents and are not listed.
    """

    parents: IntArray
    """Numbers of the parents, filled from the left; (nodes, most)."""
    counts: IntArray
    """Number of parents of each node; (nodes,)."""

    def __post_init__(self) -> None:
        nodes = len(np.asarray(self.counts))
        parents = owned(self.parents, "parents", (nodes, None), np.int64, VariationError)
        counts = owned(self.counts, "counts", (nodes,), np.int64, VariationError)
        if counts.size and not 0 <= counts.min() <= counts.max() <= parents.shape[1]:
            raise VariationError(f"a node has {counts.max()} parents in a table of {parents.shape[1]}")
        object.__setattr__(self, "parents", parents)
        object.__setattr__(self, "counts", counts)

    @classmethod
    def of(cls, edges: BoolArray) -> Structure:
        """Return the structure with an edge from column c to row i where `edges[i, c]`."""
        counts = edges.sum(axis=1)
        parents = np.zeros((len(edges), max(1, int(counts.max(initial=0)))), np.int64)
        for node, row in enumerate(edges):
            parents[node, : counts[node]] = np.flatnonzero(row)
        return cls(parents, counts)

    def edges(self, columns: int) -> BoolArray:
        """Return which of `columns` nodes are parents of each node; (nodes, columns)."""
        out = np.zeros((len(self.counts), columns), np.bool_)
        for node, count in enumerate(self.counts):
            out[node, self.parents[node, :count]] = True
        return out

    @property
    def edge_count(self) -> int:
        """Number of edges, without those from a node's own values."""
        return int(self.counts.sum())


def reachable(edges: BoolArray) -> BoolArray:
    """Return whether a path leads from a to b (or a is b); (m, m) by [a, b]. `edges[b, a]` is an edge from a to b.

    Raises:
        VariationError: if there is a cycle.
    """
    back = np.eye(len(edges), dtype=np.bool_)  # [b, a]
    for node in topological_order(edges):
        parents = np.flatnonzero(edges[node])
        if len(parents):
            back[node] |= back[parents].any(axis=0)
    return back.T.copy()


def topological_order(edges: BoolArray) -> IntArray:
    """Return an order in which every node comes after its parents; of several, the lowest number first.

    Raises:
        VariationError: if there is a cycle.
    """
    waiting = edges.sum(axis=1)
    order: list[int] = []
    ready = sorted(np.flatnonzero(waiting == 0).tolist(), reverse=True)
    while ready:
        node = ready.pop()
        order.append(node)
        for child in np.flatnonzero(edges[:, node]):
            waiting[child] -= 1
            if waiting[child] == 0:
                ready.append(int(child))
        ready.sort(reverse=True)
    if len(order) < len(edges):
        raise VariationError("the prior network has a cycle")
    return np.array(order, dtype=np.int64)
